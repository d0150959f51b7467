//! `umbo audit`: what was decided, and whether the record of it is whole.

use std::collections::VecDeque;
use std::process::ExitCode;

use serde_json::json;
use umbo_gate::{Event, Record, Report};

use umbo_ops::show_time;

use crate::args::{Audit, AuditShow};
use crate::context::Context;
use crate::failure::Failure;
use crate::gate;
use crate::output::{self, Format};
use crate::spinner::Working;

pub(crate) fn run(context: &Context, args: &Audit) -> Result<ExitCode, Failure> {
    match args {
        Audit::Show(args) => show(context, args),
        Audit::Verify => verify(context),
        Audit::Export => export(context),
    }
}

/// The audit, with the ends of jobs that nobody was there to record.
fn settled(context: &Context) -> Result<umbo_gate::Audit, Failure> {
    let audit = gate::paths(context)?.audit()?;
    // Where nothing can be written, what is there can still be read.
    let _ = umbo_ops::record_missed_ends(&audit, &*context.backend);
    Ok(audit)
}

fn show(context: &Context, args: &AuditShow) -> Result<ExitCode, Failure> {
    let mut last: VecDeque<Record> = VecDeque::new();
    let report = settled(context)?.read(|record| {
        if last.len() == args.last {
            last.pop_front();
        }
        if args.last > 0 {
            last.push_back(record);
        }
        Ok(())
    })?;
    match context.format {
        Format::Json => output::json(&last)?,
        Format::Text => {
            let rows: Vec<Vec<String>> = last.iter().map(row).collect();
            output::table(&rows, output::width())?;
        }
    }
    Ok(warn(&report))
}

fn row(record: &Record) -> Vec<String> {
    let (what, text) = match &record.event {
        Event::Verdict { command, decision, by, .. } => {
            (decision.to_string(), format!("{command}  ({by})"))
        }
        Event::Answer { approval, answer, by } => {
            ("answer".into(), format!("{approval}: {answer}  ({by})"))
        }
        Event::Outcome { job, state, exit_code, .. } => {
            let code = exit_code.map(|code| format!(" {code}")).unwrap_or_default();
            ("outcome".into(), format!("job {job}: {state}{code}"))
        }
        Event::Started { job, verdict } => {
            let by = verdict.map(|seq| format!("  (by record {seq})")).unwrap_or_default();
            ("started".into(), format!("job {job}{by}"))
        }
        Event::Confirmed { files } => {
            let names: Vec<&str> = files.iter().map(|(name, _)| name.as_str()).collect();
            ("confirmed".into(), names.join(" "))
        }
        Event::Trust { project, files } => {
            ("trust".into(), format!("{project}: {} files", files.len()))
        }
        Event::Repaired { bytes, .. } => ("repaired".into(), format!("{bytes} bytes taken away")),
        Event::Gap { expected, found } => {
            ("gap".into(), format!("broke off at {found} of {expected}"))
        }
        Event::NoHead { found } => ("no head".into(), format!("after record {found}")),
    };
    vec![record.seq.to_string(), show_time(record.at), what, text]
}

fn verify(context: &Context) -> Result<ExitCode, Failure> {
    let audit = settled(context)?;
    let report = {
        let _working = Working::on("reading the audit");
        audit.verify()?
    };
    gate::answer(context.format, &report, || {
        let verdict = if report.sound { "sound" } else { "BROKEN" };
        output::line(format_args!("{verdict}: {} records, head {}", report.records, report.head))?;
        for note in &report.notes {
            output::line(format_args!("note: {note}"))?;
        }
        for finding in &report.findings {
            let path = audit.path().display();
            output::line(format_args!("{path}:{}: {}", finding.line, finding.problem))?;
        }
        Ok(())
    })?;
    Ok(if report.sound { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// One record a line, as stored; then the head, which is worth keeping where this user cannot write.
fn export(context: &Context) -> Result<ExitCode, Failure> {
    let mut failed = None;
    let report = settled(context)?.read(|record| {
        if failed.is_none() {
            failed = output::json(&record).err();
        }
        Ok(())
    })?;
    if let Some(failure) = failed {
        return Err(failure);
    }
    output::json(&json!({ "seq": report.seq, "head": report.head, "sound": report.sound }))?;
    Ok(warn(&report))
}

fn warn(report: &Report) -> ExitCode {
    if report.sound {
        return ExitCode::SUCCESS;
    }
    output::talk("umbo: the audit is broken; `umbo audit verify` says where");
    ExitCode::FAILURE
}
