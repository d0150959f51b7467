//! The same calls by the runtime that the document of `lash` became, and by umbo: where they differ,
//! one of the two is wrong, or the difference is declared here with its reason.

mod cases;
mod ours;
mod reasons;
mod theirs;

use std::error::Error;
use std::fs;
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use cases::{Case, cases};
use reasons::{REASONS, Whose};

/// How long a case may take.
const DEADLINE: Duration = Duration::from_secs(60);

/// What came of a call, as far as it can be compared.
#[derive(Debug, PartialEq)]
enum Came {
    /// It ended, or its time was over.
    Ended {
        status: String,
        exit_code: Option<i64>,
        output: String,
        has_file: bool,
    },
    Cancelled,
    /// Nothing ran, or it could not be told.
    Refused(String),
}

fn main() -> Result<ExitCode, Box<dyn Error>> {
    umbo_engine::init();
    let home = tempfile::tempdir()?;
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let cases = cases();
    let mut counts = Counts::default();
    for (number, case) in cases.iter().enumerate() {
        let project = |whose: &str| -> std::io::Result<std::path::PathBuf> {
            let root = home.path().canonicalize()?.join(format!("{number}/{whose}/project"));
            fs::create_dir_all(root.join("sub/deep"))?;
            fs::write(root.join("file"), "x")?;
            Ok(root)
        };
        let theirs = runtime.block_on(theirs::run(case, &project("a")?));
        let ours = ours::run(case, &project("b")?, &home.path().join("state"))?;
        counts.add(case, &theirs, &ours);
    }
    Ok(counts.report())
}

/// How often both said the same, and why they did not.
#[derive(Default)]
struct Counts {
    same: usize,
    explained: [usize; REASONS.len()],
    unexplained: usize,
}

impl Counts {
    fn add(&mut self, case: &Case, theirs: &Came, ours: &Came) {
        if agree(theirs, ours) {
            self.same += 1;
            return;
        }
        let found = REASONS.iter().position(|reason| reason.explains(case, theirs, ours));
        *found.map_or(&mut self.unexplained, |number| &mut self.explained[number]) += 1;
        let why = found.map_or("WITHOUT A REASON", |number| REASONS[number].why);
        let (theirs, ours) = (format!("{theirs:?}"), format!("{ours:?}"));
        println!("{case}: {why}\n  theirs: {theirs:.300}\n  ours:   {ours:.300}");
    }

    /// Says them. A difference without a reason is a failure, and so is a reason that explains nothing
    /// any more.
    fn report(&self) -> ExitCode {
        let reasons = || REASONS.iter().zip(self.explained);
        let of = |whose| -> usize {
            reasons().filter(|(reason, _)| reason.whose == whose).map(|(_, count)| count).sum()
        };
        let (declared, host) = (of(Whose::Declared), of(Whose::Host));
        let Self { same, unexplained, .. } = self;
        let calls = same + declared + host + unexplained;
        let mut is_good = *unexplained == 0;
        for (reason, _) in reasons().filter(|(_, count)| *count == 0) {
            println!("a reason that explains nothing any more: {}", reason.why);
            is_good = false;
        }
        println!(
            "{calls} calls: {same} the same, {declared} declared, {host} where the host moved on, \
             {unexplained} without a reason"
        );
        if is_good { ExitCode::SUCCESS } else { ExitCode::FAILURE }
    }
}

/// Whether both say the same. Errors have words of their own, and umbo names the file of everything
/// that is not shown as it was written.
fn agree(theirs: &Came, ours: &Came) -> bool {
    match (theirs, ours) {
        (Came::Refused(_), Came::Refused(_)) => true,
        (
            Came::Ended { status, exit_code, output, has_file },
            Came::Ended { status: s, exit_code: e, output: o, has_file: f },
        ) => (status, exit_code, output) == (s, e, o) && (*f || !has_file),
        _ => theirs == ours,
    }
}

/// Waits for a file that a case writes.
fn has_come(file: &Path) -> bool {
    file.exists()
}

/// The output without the place, which is another for each.
fn without_place(output: &str, project: &Path) -> String {
    let output = output.replace(&project.display().to_string(), "PROJECT");
    let above = project.parent().unwrap_or(project).display().to_string();
    output.replace(&above, "ABOVE")
}
