//! `umbo jobs`: what runs, and what ended.

use std::process::ExitCode;
use std::time::Duration;

use umbo_engine::{End, Status, Summary};
use umbo_ops::{Call, EndedJobs, JobsAnswer, JobsRequest, Ticket, WhoseJobs, now};

use crate::args::{JobState, Jobs};
use crate::context::{CallerWords, Context};
use crate::failure::Failure;
use crate::output::{self, Cell, Format, Stroke, Tone};
use crate::secrets;
use crate::time::show_duration;

/// A longer name is cut in the table, which has other columns too.
const LONGEST_NAME: usize = 16;
/// How many a person is shown unasked.
const AT_A_TERMINAL: usize = 50;
/// How often the list is drawn again though nothing happens: durations grow.
const REDRAW_INTERVAL: Duration = Duration::from_secs(1);
/// How long a drawing stands at least.
const STILL: Duration = Duration::from_millis(100);

pub(crate) fn run(context: &Context, args: &Jobs) -> Result<ExitCode, Failure> {
    let caller = context.observer(&CallerWords::default())?;
    let ticket = Ticket::alone();
    let call = Call::new(&caller, &ticket);
    if args.watch {
        return watch(context, &call, args);
    }
    let (answer, left_out) = list(&call, args)?;
    match context.format {
        Format::Json => output::json(&answer)?,
        Format::Text => print(&answer.summaries, left_out, args)?,
    }
    Ok(ExitCode::SUCCESS)
}

/// The jobs that are wanted, oldest first, and how many older ones there are.
fn list(call: &Call<'_>, args: &Jobs) -> Result<(JobsAnswer, usize), Failure> {
    let request = JobsRequest {
        scope: Some(WhoseJobs::All),
        ended: Some(if args.all || args.is_choosy() { EndedJobs::All } else { EndedJobs::Recent }),
        limit: None,
    };
    let mut answer = umbo_ops::jobs(call, &request)?;
    let is_wanted: Vec<bool> = answer.summaries.iter().map(|job| fits(job, args)).collect();
    let limit = match args.limit {
        Some(0) => usize::MAX,
        Some(limit) => limit,
        None if output::is_terminal() => AT_A_TERMINAL,
        None => usize::MAX,
    };
    let left_out = is_wanted.iter().filter(|wanted| **wanted).count().saturating_sub(limit);
    let mut chosen = is_wanted.iter().scan(0, |seen, wanted| {
        *seen += usize::from(*wanted);
        Some(*wanted && *seen > left_out)
    });
    let chosen: Vec<bool> = chosen.by_ref().collect();
    let mut keep = chosen.iter();
    answer.jobs.retain(|_| keep.next().copied().unwrap_or(false));
    let mut keep = chosen.iter();
    answer.summaries.retain(|_| keep.next().copied().unwrap_or(false));
    // Before anything is cut: half a secret would not be known as one.
    let masker = secrets::shared()?;
    for summary in &mut answer.summaries {
        summary.command = masker.mask_text(&summary.command);
        summary.name = summary.name.as_deref().map(|name| masker.mask_text(name));
    }
    Ok((answer, left_out))
}

fn fits(job: &Summary, args: &Jobs) -> bool {
    let state = args.state.is_none_or(|state| match (&job.status, state) {
        (Status::Created, JobState::Queued)
        | (Status::Started { .. }, JobState::Running)
        | (Status::Ended(_), JobState::Ended) => true,
        (Status::Ended(outcome), JobState::Ok) => outcome.exit_code() == Some(0),
        (Status::Ended(outcome), JobState::Failed) => outcome.exit_code() != Some(0),
        _ => false,
    });
    let name = args.name.as_ref();
    let owner = args.owner.as_ref();
    let group = args.group.as_ref();
    let newest = args.newer_than.is_none_or(|age| since(job.created_at) <= age);
    state
        && newest
        && name.is_none_or(|part| job.name.as_ref().is_some_and(|name| name.contains(part)))
        && owner.is_none_or(|owner| job.owner.as_ref() == Some(owner))
        && group.is_none_or(|group| job.group.as_ref() == Some(group))
        && args.labels.iter().all(|label| match label.split_once('=') {
            Some((name, value)) => job.labels.get(name).is_some_and(|found| found == value),
            None => job.labels.contains_key(label),
        })
}

fn print(jobs: &[Summary], left_out: usize, args: &Jobs) -> Result<(), Failure> {
    if jobs.is_empty() {
        output::talk(if args.is_choosy() {
            "no such jobs"
        } else if args.all {
            "no jobs yet; `umbo start COMMAND` makes one"
        } else {
            "no jobs now; `umbo jobs --all` has older ones, `umbo start COMMAND` makes one"
        });
        return Ok(());
    }
    let mut rows = vec![
        ["JOB", "STATE", "AGE", "TIME", "NAME", "COMMAND"]
            .map(|head| Cell::toned(head, Tone::Faint))
            .to_vec(),
    ];
    rows.extend(jobs.iter().map(row));
    output::table(&rows, output::width())?;
    if left_out > 0 {
        output::talk(format_args!("{left_out} older ones are not shown; --limit 0 shows all"));
    }
    Ok(())
}

fn row(job: &Summary) -> Vec<Cell> {
    let time = match &job.status {
        Status::Created => None,
        Status::Started { at, .. } => Some(since(*at)),
        Status::Ended(outcome) => Some(outcome.duration()),
    };
    let command = job.command.lines().next().unwrap_or_default();
    let more = if job.command.lines().count() > 1 { " …" } else { "" };
    vec![
        job.job.short().into(),
        state(job),
        Cell::toned(age(since(job.created_at)), Tone::Faint),
        time.map_or_else(String::new, show_duration).into(),
        job.name
            .as_deref()
            .map_or_else(|| "-".into(), |name| output::cut(name, LONGEST_NAME))
            .into(),
        format!("{command}{more}").into(),
    ]
}

/// The state in a word or two.
pub(super) fn state(job: &Summary) -> Cell {
    let (text, tone) = match &job.status {
        Status::Created => match job.queue_position {
            Some(place) => (format!("queued #{place}"), Tone::Faint),
            None if job.waits_for.is_some() => ("waiting".into(), Tone::Faint),
            None => ("queued".into(), Tone::Faint),
        },
        Status::Started { .. } if job.is_paused => ("paused".into(), Tone::Faint),
        Status::Started { .. } => ("running".into(), Tone::Busy),
        Status::Ended(outcome) => match (&outcome.end, outcome.exit_code(), outcome.signal()) {
            (End::TimedOut { .. }, ..) => ("timed out".into(), Tone::Bad),
            (End::Stopped { .. }, ..) => ("stopped".into(), Tone::Faint),
            (_, Some(0), _) => ("ok".into(), Tone::Good),
            (_, Some(code), _) => (format!("failed {code}"), Tone::Bad),
            (_, None, Some(signal)) => (format!("signal {signal}"), Tone::Bad),
            (End::Lost { .. }, ..) => ("lost".into(), Tone::Bad),
            (_, None, None) => ("not started".into(), Tone::Bad),
        },
    };
    Cell::toned(text, tone)
}

pub(super) fn since(micros: u64) -> Duration {
    Duration::from_micros(now().saturating_sub(micros))
}

/// How long ago, in the one unit that matters.
pub(super) fn age(age: Duration) -> String {
    match age.as_secs() {
        seconds @ 0..=59 => format!("{seconds}s"),
        seconds @ 60..=3599 => format!("{}m", seconds / 60),
        seconds @ 3600..=86_399 => format!("{}h", seconds / 3600),
        seconds => format!("{}d", seconds / 86_400),
    }
}

/// Draws the list until somebody has seen enough.
fn watch(context: &Context, call: &Call<'_>, args: &Jobs) -> Result<ExitCode, Failure> {
    if !output::is_terminal() || context.format == Format::Json {
        let way_out = "it draws on a terminal; `umbo events --follow` is for programs";
        return Err(Failure::invalid("--watch", way_out));
    }
    let mut news = context.backend.subscribe(context.backend.newest_event()?)?;
    loop {
        let (answer, left_out) = list(call, args)?;
        output::draw(&[Stroke::Control("\x1b[H\x1b[2J")]);
        print(&answer.summaries, left_out, args)?;
        news.next(REDRAW_INTERVAL)?;
        // A job that writes much is no reason to draw more often than one can read.
        std::thread::sleep(STILL);
        while news.next(Duration::ZERO)?.is_some() {}
    }
}
