//! `umbo trust`: a person vouches for a project's `.umbo` files.

use std::process::ExitCode;

use serde::Serialize;
use umbo_gate::{Digest, Event, FileState, FileTrust, Snapshot, project_of};

use crate::args::Trust;
use crate::context::Context;
use crate::failure::Failure;
use crate::gate;
use crate::output;

#[derive(Serialize)]
struct Standing {
    project: String,
    files: Vec<FileTrust>,
}

pub(crate) fn run(context: &Context, args: &Trust) -> Result<ExitCode, Failure> {
    if args.show {
        gate::only_outside_jobs("trust")?;
    } else {
        gate::only_for_a_person("trust")?;
    }
    let project = project_of(&Context::directory()?);
    let store = gate::paths(context)?.trust()?;
    let snapshot = Snapshot::read(&project)?;
    if !args.show {
        let files = store.file_states(&project, &snapshot)?;
        if snapshot.digests().next().is_none() {
            return Err(Failure::new(format!("{} has no .umbo files", project.display())));
        }
        for file in files.iter().filter(|file| file.state != FileState::Trusted) {
            output::talk(format_args!("{:8} .umbo/{}", name(file.state), file.file));
        }
        let question = format!("Trust these files of {} as they are now?", project.display());
        if !gate::confirm(&question)? {
            return Err(Failure::new("nothing was trusted"));
        }
        // The snapshot from before the question: what was changed while it was read is not trusted.
        let now = umbo_ops::now();
        store.pin(&project, &snapshot, now)?;
        let files: Vec<(String, Digest)> =
            snapshot.digests().map(|(name, digest)| (name.to_owned(), digest)).collect();
        let event = Event::Trust { project: project.display().to_string(), files };
        gate::paths(context)?.audit()?.append(&event, now)?;
    }
    let files = store.file_states(&project, &Snapshot::read(&project)?)?;
    let standing = Standing { project: project.display().to_string(), files };
    gate::answer(context.format, &standing, || show(&standing))?;
    Ok(ExitCode::SUCCESS)
}

fn show(standing: &Standing) -> Result<(), Failure> {
    output::line(&standing.project)?;
    let rows: Vec<Vec<String>> = standing
        .files
        .iter()
        .map(|file| {
            let path = format!(".umbo/{}", file.file);
            vec![name(file.state).to_owned(), path, file.meaning.to_owned()]
        })
        .collect();
    if rows.is_empty() {
        return output::line("no .umbo files");
    }
    output::wrapped(&rows)
}

fn name(state: FileState) -> &'static str {
    match state {
        FileState::Trusted => "trusted",
        FileState::Changed => "changed",
        FileState::New => "new",
        FileState::Missing => "missing",
        FileState::Unfit => "unfit",
    }
}
