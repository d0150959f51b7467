//! The same calls by the runtime that the document of `lash` became, and by umbo: where they differ,
//! one of the two is wrong, or the difference is declared here with its reason.

mod cases;
mod ours;
mod theirs;

use std::error::Error;
use std::fs;
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use cases::{Case, cases, declared};

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
    let (mut same, mut unexplained) = (0, 0);
    for (number, case) in cases.iter().enumerate() {
        let project = |whose: &str| -> std::io::Result<std::path::PathBuf> {
            let root = home.path().canonicalize()?.join(format!("{number}/{whose}/project"));
            fs::create_dir_all(root.join("sub/deep"))?;
            fs::write(root.join("file"), "x")?;
            Ok(root)
        };
        let theirs = runtime.block_on(theirs::run(case, &project("a")?));
        let ours = ours::run(case, &project("b")?, &home.path().join("state"))?;
        if agree(&theirs, &ours) {
            same += 1;
        } else if let Some(reason) = declared(case) {
            println!("{case}: {reason}");
        } else {
            unexplained += 1;
            println!("{case}\n  theirs: {theirs:.300?}\n  ours:   {ours:.300?}");
        }
    }
    println!("{same} of {} are the same, {unexplained} differ without a reason", cases.len());
    Ok(if unexplained == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
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
    output.replace(&project.display().to_string(), "PROJECT")
}
