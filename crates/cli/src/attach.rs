//! The caller's terminal joined to a job's: keys go in, the log comes out. The job does not notice
//! whether anybody sits there, and survives the one who does.

use std::io::{self, IsTerminal};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use umbo_engine::{Followed, JobHandle, Size};
use umbo_ops::Attachment;

use crate::failure::Failure;
use crate::output::{self, Stream, Stroke};
use crate::secrets;
use crate::terminal::{self, Raw};

/// How often the size of the caller's terminal is compared; nothing else here is polled.
const SIZE_LOOK: Duration = Duration::from_millis(200);

/// Why it is over.
pub(crate) enum Left {
    /// The job ended.
    Ended,
    /// The person left.
    Detached,
}

/// Whether somebody sits here.
pub(crate) fn is_at_terminal() -> bool {
    io::stdin().is_terminal() && output::is_terminal()
}

/// Joins the terminals until the job ends or the detach key is typed.
pub(crate) fn sit_down(attachment: &Arc<Attachment>, detach: &[u8]) -> Result<Left, Failure> {
    let job = attachment.job();
    if !is_at_terminal() {
        return Err(Failure::new("attach needs a terminal; use `umbo input` and `umbo screen`"));
    }
    let (picture, offset) = job.redraw()?;
    let _terminal = RawTerminal::take()?;
    // Compared with what was sent, not with what it is later: a change between is one too.
    let mut size = window();
    fit(job, size);
    output::draw(&[Stroke::Control("\x1b[2J\x1b[H")]);
    output::job_bytes(Stream::Output, picture.as_bytes())?;
    let typing = {
        let (attachment, detach) = (Arc::clone(attachment), detach.to_vec());
        thread::spawn(move || type_into(&attachment, &detach))
    };
    let mut follower = job.follow(offset)?;
    loop {
        match follower.next(Some(SIZE_LOOK))? {
            Followed::Bytes { bytes, .. } => output::job_bytes(Stream::Output, &bytes)?,
            Followed::Omitted(_) | Followed::Nothing => {}
            Followed::Ended => return Ok(Left::Ended),
        }
        let now = window();
        if now != size {
            size = now;
            fit(job, size);
        }
        if typing.is_finished() {
            return Ok(Left::Detached);
        }
    }
}

/// Sends keys until the detach key comes, or the terminal is gone. Keys that the gate refuses are not
/// sent: the person is told why, and the line stays where it is.
fn type_into(attachment: &Attachment, detach: &[u8]) {
    let mut buffer = [0; 4096];
    loop {
        let typed = terminal::typed(&mut buffer);
        let leaves = !detach.is_empty() && typed.windows(detach.len()).any(|keys| keys == detach);
        if typed.is_empty() || leaves {
            return;
        }
        match attachment.send(typed) {
            Ok(()) => {}
            Err(error) if error.refusal.is_some() => {
                let said = secrets::hidden(&error.message);
                let mut strokes = vec![Stroke::Control("\r\numbo: ")];
                for line in said.lines() {
                    strokes.extend([Stroke::Text(line), Stroke::Control("\r\n")]);
                }
                output::draw(&strokes);
            }
            Err(_) => return,
        }
    }
}

/// The size of the caller's terminal.
pub(crate) fn window() -> Option<Size> {
    let (columns, rows) = output::size(Stream::Output)?;
    Some(Size { columns: columns.try_into().ok()?, rows: rows.try_into().ok()? })
}

/// Gives the job's terminal the size of this one.
fn fit(job: &JobHandle, size: Option<Size>) {
    if let Some(size) = size {
        let _ = job.resize(size);
    }
}

/// The caller's terminal, which is left as it was found.
struct RawTerminal {
    _raw: Raw,
}

impl RawTerminal {
    fn take() -> Result<Self, Failure> {
        Ok(Self { _raw: Raw::enter()? })
    }
}

impl Drop for RawTerminal {
    fn drop(&mut self) {
        // Whatever mode the program inside had chosen: main screen, visible cursor, no mouse.
        output::draw(&[Stroke::Control("\x1b[?1049l\x1b[?25h\x1b[?1000l\x1b[?2004l\x1b[0m\r\n")]);
    }
}
