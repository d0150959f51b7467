//! A sign of life for a person who waits: one line on standard error that is drawn over again.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use umbo_engine::{Followed, JobHandle};
use umbo_ops::{JobLog, now};
use umbo_view::mask::Masker;
use umbo_view::{Progress, Reader, Tick, visible_line};

use crate::failure::Failure;
use crate::output::{self, Stream, Stroke};
use crate::secrets;
use crate::time::show_duration;

/// How often the line moves though nothing is written.
const REDRAW_INTERVAL: Duration = Duration::from_millis(200);
const FRAMES: [char; 4] = ['|', '/', '-', '\\'];
/// Work that is done sooner needs no sign of life.
const WORTH_A_LINE: Duration = Duration::from_secs(1);

/// Draws until it is dropped.
pub(crate) struct Spinner {
    is_over: Arc<AtomicBool>,
    drawing: Option<JoinHandle<()>>,
}

impl Spinner {
    /// A spinner for a job, if a person is there to see it.
    pub(crate) fn start(job: &JobHandle) -> Self {
        let is_over = Arc::new(AtomicBool::new(false));
        let drawing = output::is_error_terminal().then(|| {
            let (job, is_over) = (job.clone(), Arc::clone(&is_over));
            thread::spawn(move || {
                // Nothing depends on it: what goes wrong ends the drawing and no more.
                let _ = secrets::shared().and_then(|masker| draw(&job, masker, &is_over));
            })
        });
        Self { is_over, drawing }
    }
}

impl Drop for Spinner {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
        if let Some(drawing) = self.drawing.take() {
            let _ = drawing.join();
            output::draw(&[Stroke::Control("\r\x1b[K")]);
        }
    }
}

/// The same for work of umbo's own: what it does and since when, once that takes over a second.
pub(crate) struct Working {
    done: Option<Sender<()>>,
    drawing: Option<JoinHandle<()>>,
}

impl Working {
    /// Begins to wait, if a person is there to see it.
    pub(crate) fn on(what: impl Into<String>) -> Self {
        let (done, is_done) = mpsc::channel();
        let what = what.into();
        let drawing = output::is_error_terminal().then(|| {
            thread::spawn(move || {
                let begun = Instant::now();
                let mut left = WORTH_A_LINE;
                for frame in FRAMES.iter().cycle() {
                    if is_done.recv_timeout(left) != Err(RecvTimeoutError::Timeout) {
                        break;
                    }
                    left = REDRAW_INTERVAL;
                    let elapsed = begun.elapsed().as_secs();
                    show_line(&format!("{frame} {what}, {elapsed} s"));
                }
                if begun.elapsed() >= WORTH_A_LINE {
                    output::draw(&[Stroke::Control("\r\x1b[K")]);
                }
            })
        });
        Self { done: Some(done), drawing }
    }
}

impl Drop for Working {
    fn drop(&mut self) {
        drop(self.done.take());
        if let Some(drawing) = self.drawing.take() {
            let _ = drawing.join();
        }
    }
}

fn draw(job: &JobHandle, masker: &Masker, is_over: &AtomicBool) -> Result<(), Failure> {
    let started = job.summary().and_then(|summary| summary.started_at()).unwrap_or_else(now);
    let mut progress = Progress::new(started, 1);
    let mut follower = job.follow(job.log()?.length()?)?;
    let mut tick = progress.last_tick(&Reader::new(JobLog::open(job)?).mask(masker), now())?;
    for frame in FRAMES.iter().cycle() {
        if is_over.load(Ordering::Relaxed) {
            break;
        }
        show(*frame, &tick);
        let ended = follower.next(Some(REDRAW_INTERVAL))? == Followed::Ended;
        let reader = Reader::new(JobLog::open(job)?).mask(masker);
        match progress.tick(&reader, now())? {
            Some(fresh) => tick = fresh,
            None => tick.elapsed = now().saturating_sub(started),
        }
        if ended {
            break;
        }
    }
    Ok(())
}

fn show(frame: char, tick: &Tick) {
    let elapsed = show_duration(Duration::from_micros(tick.elapsed));
    let last = tick.lines.last().map(String::as_str).unwrap_or_default();
    show_line(&format!("{frame} {elapsed}, {} bytes  {last}", tick.bytes));
}

/// Draws a line over the one before.
fn show_line(text: &str) {
    let width = output::size(Stream::Errors).map_or(80, |(columns, _)| columns.max(20));
    let cut = output::cut(&visible_line(text), width - 1);
    output::draw(&[Stroke::Control("\r\x1b[K"), Stroke::Text(&cut)]);
}
