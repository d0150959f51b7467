//! `umbo groups`: jobs of which only so many run at once.

use std::process::ExitCode;

use serde::Serialize;
use umbo_engine::{Scope, Status};

use crate::args::Groups;
use crate::context::Context;
use crate::failure::Failure;
use crate::gate;
use crate::output::{self, Cell, Tone};

#[derive(Serialize)]
struct Listed {
    name: String,
    limit: usize,
    running: usize,
    queued: usize,
}

pub(crate) fn run(context: &Context, args: &Groups) -> Result<ExitCode, Failure> {
    if let (Some(group), Some(limit)) = (&args.group, args.limit) {
        let limited = context.backend.limit_group(group, limit);
        limited.map_err(|error| Failure::about(error, "group", "GROUP"))?;
    }
    let jobs = context.backend.jobs(Scope::Recent)?;
    let mut groups = context.backend.groups()?;
    groups.retain(|group| args.group.as_ref().is_none_or(|wanted| group.name == *wanted));
    let listed: Vec<Listed> = groups
        .into_iter()
        .map(|group| {
            let of_group = |status: fn(&Status) -> bool| {
                let is_one = |job: &&umbo_engine::Summary| {
                    job.group.as_ref() == Some(&group.name) && status(&job.status)
                };
                jobs.iter().filter(is_one).count()
            };
            let running = of_group(|status| matches!(status, Status::Started { .. }));
            let queued = of_group(|status| matches!(status, Status::Created));
            Listed { name: group.name.clone(), limit: group.limit, running, queued }
        })
        .collect();
    gate::answer(context.format, &listed, || {
        if listed.is_empty() {
            let no = args
                .group
                .as_ref()
                .map_or("no groups".to_owned(), |name| format!("no group {name:?}"));
            output::talk(format_args!("{no}; `umbo start --group NAME COMMAND` makes one"));
            return Ok(());
        }
        let head = ["GROUP", "LIMIT", "RUNNING", "QUEUED"];
        let mut rows = vec![head.map(|head| Cell::toned(head, Tone::Faint)).to_vec()];
        rows.extend(listed.iter().map(|group| {
            let counts = [group.limit, group.running, group.queued].map(|count| count.to_string());
            std::iter::once(group.name.clone()).chain(counts).map(Cell::from).collect()
        }));
        output::table(&rows, output::width())
    })?;
    Ok(ExitCode::SUCCESS)
}
