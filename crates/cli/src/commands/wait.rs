//! `umbo wait`: until one thing is true.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::process::ExitCode;
use std::time::Instant;

use regex::bytes::Regex;
use serde::Serialize;
use umbo_engine::{Condition, Job, Met};

use super::{ended, exit_code};
use crate::args::Wait;
use crate::context::Context;
use crate::failure::{Failure, TIMED_OUT};
use crate::output::{self, Format};
use crate::secrets;
use crate::spinner::Spinner;

pub(crate) fn run(context: &Context, args: &Wait) -> Result<ExitCode, Failure> {
    let conditions = conditions(args)?;
    let jobs = args.jobs.iter().map(|name| context.job(name)).collect::<Result<Vec<_>, _>>()?;
    let deadline = args.timeout.map(|timeout| Instant::now() + timeout);
    let mut code = ExitCode::SUCCESS;
    for job in jobs {
        let left = deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
        let met = {
            let _spinner = Spinner::start(&job);
            job.wait(&conditions, left)?
        };
        code = report(context, &job, &met)?;
        if met == Met::Deadline {
            break;
        }
    }
    Ok(code)
}

fn conditions(args: &Wait) -> Result<Vec<Condition>, Failure> {
    let mut conditions = Vec::new();
    if let Some(pattern) = &args.pattern {
        let pattern = Regex::new(pattern).map_err(|error| Failure::invalid("--match", error))?;
        conditions.push(Condition::Match { pattern, from: args.from });
    }
    if let Some(port) = &args.port {
        conditions.push(Condition::Port(address(port)?));
    }
    if let Some(file) = &args.file {
        conditions.push(Condition::File(Context::directory()?.join(file)));
    }
    if let Some(quiet) = args.quiet {
        conditions.push(Condition::Quiet(quiet));
    }
    if conditions.is_empty() {
        conditions.push(Condition::Exit);
    }
    Ok(conditions)
}

fn address(text: &str) -> Result<SocketAddr, Failure> {
    text.parse::<u16>()
        .map(|port| SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), port))
        .or_else(|_| text.parse())
        .map_err(|_| {
            Failure::invalid(
                "--port",
                format_args!("{text:?} is no port; write 8080 or 127.0.0.1:8080"),
            )
        })
}

/// Says which condition was met, and returns the exit code that says it too.
fn report(context: &Context, job: &Job, met: &Met) -> Result<ExitCode, Failure> {
    let status = job.status()?;
    let outcome = job.outcome()?;
    let (reason, code) = match met {
        Met::Exit | Met::Ended => ("exit", outcome.as_ref().map_or(ExitCode::SUCCESS, exit_code)),
        Met::Match { .. } => ("match", ExitCode::SUCCESS),
        Met::Port(_) => ("port", ExitCode::SUCCESS),
        Met::File(_) => ("file", ExitCode::SUCCESS),
        Met::Quiet => ("quiet", ExitCode::SUCCESS),
        Met::Deadline => ("timeout", ExitCode::from(TIMED_OUT)),
    };
    let (offset, text) = match met {
        Met::Match { offset, text } => {
            (Some(*offset), Some(String::from_utf8_lossy(text).into_owned()))
        }
        _ => (None, None),
    };
    // Waited for something that will not come: the job ended first.
    let code =
        if *met == Met::Ended && code == ExitCode::SUCCESS { ExitCode::FAILURE } else { code };
    match context.format {
        Format::Json => output::json(&Waited {
            job: job.id().as_str(),
            reason,
            state: status.name(),
            exit_code: outcome.as_ref().and_then(umbo_engine::Outcome::exit_code),
            signal: outcome.as_ref().and_then(umbo_engine::Outcome::signal),
            offset,
            text,
        })?,
        Format::Text => {
            let detail = text.map(|text| format!(": {}", secrets::hidden(&text)));
            let detail = detail.unwrap_or_default();
            let state = outcome.as_ref().map_or_else(|| status.name().to_owned(), ended);
            output::line(format_args!("{} {reason} ({state}){detail}", job.id()))?;
        }
    }
    Ok(code)
}

#[derive(Serialize)]
struct Waited<'a> {
    job: &'a str,
    reason: &'a str,
    state: &'a str,
    exit_code: Option<i32>,
    signal: Option<i32>,
    offset: Option<u64>,
    text: Option<String>,
}
