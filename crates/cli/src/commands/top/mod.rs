//! `umbo top`: all jobs on one screen, with what they use and the end of what they write; and the questions
//! that wait for a yes. It draws again when something happens, when a key is pressed, and once a second.

mod draw;
mod usage;

use std::os::fd::{AsFd, OwnedFd};
use std::process::{Command, ExitCode};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::pipe::{PipeFlags, pipe_with};
use umbo_engine::{Ladder, Scope, Status, Summary};
use umbo_gate::ApprovalState;
use umbo_ops::{Call, OutputRequest, Ticket, now, reader};
use umbo_view::{Budget, Part};

use self::draw::Picture;
use self::usage::{Usage, Used};
use crate::args::Top;
use crate::attach;
use crate::context::{CallerWords, Context};
use crate::failure::Failure;
use crate::gate;
use crate::output::{self, Format, Stream};
use crate::pick::{Key, keys};
use crate::secrets;
use crate::terminal::{self, Raw};

/// How often it is drawn though nothing happens: numbers grow.
const REDRAW_INTERVAL: Duration = Duration::from_secs(1);
/// How long a drawing stands at least, whatever happens.
const SHORTEST_FRAME: Duration = Duration::from_millis(100);
/// How long news are waited for at once.
const LONGEST_WAIT: Duration = Duration::from_hours(1);
const ENTER: &str = "\x1b[?1049h\x1b[?25l";
const LEAVE: &str = "\x1b[?25h\x1b[?1049l";
const USUAL_SIZE: (usize, usize) = (80, 24);
/// A line of output longer than this is cut before it is drawn.
const LONGEST_LINE_BYTES: u64 = 1024;

/// A row of the list.
struct Row {
    entry: Entry,
    used: Option<Used>,
}

enum Entry {
    Job(Box<Summary>),
    /// A command that waits for a yes.
    Question {
        id: String,
        short: String,
        command: String,
        risk: String,
        why: String,
        age: Duration,
    },
}

impl Row {
    fn id(&self) -> &str {
        match &self.entry {
            Entry::Job(job) => job.job.as_str(),
            Entry::Question { id, .. } => id,
        }
    }

    fn short(&self) -> &str {
        match &self.entry {
            Entry::Job(job) => job.job.short(),
            Entry::Question { short, .. } => short,
        }
    }

    fn fits(&self, search: &str) -> bool {
        let has = |text: &str| text.to_lowercase().contains(&search.to_lowercase());
        match &self.entry {
            Entry::Job(job) => {
                has(&job.command) || job.name.as_deref().is_some_and(has) || has(job.job.as_str())
            }
            Entry::Question { id, command, .. } => has(command) || has(id),
        }
    }
}

pub(crate) fn run(context: &Context, args: &Top) -> Result<ExitCode, Failure> {
    if !attach::is_at_terminal() || context.format == Format::Json {
        let way_out = "it draws on a terminal; `umbo jobs --json` and `umbo events --follow` are for programs";
        return Err(Failure::new(format!("top: {way_out}")));
    }
    let wakes = Wakes::listen(context)?;
    let mut view = View::new(context, args)?;
    let mut screen = FullScreen::enter()?;
    let mut buffer = [0; 256];
    while !wakes.is_over() {
        view.look()?;
        view.draw()?;
        if !wakes.wait()? {
            continue;
        }
        let typed = terminal::typed(&mut buffer);
        if typed.is_empty() {
            break;
        }
        for key in keys(typed) {
            match view.press(key) {
                Next::Stay => {}
                Next::Leave => return Ok(ExitCode::SUCCESS),
                // The terminal is lent to another umbo meanwhile.
                Next::Lend(words) => {
                    drop(screen);
                    view.said = lend(context, &words);
                    screen = FullScreen::enter()?;
                }
            }
        }
    }
    drop(screen);
    Ok(ExitCode::SUCCESS)
}

/// Runs another verb at this terminal; what there is to say about it.
fn lend(context: &Context, words: &[String]) -> Option<String> {
    let program = std::env::current_exe().ok()?;
    let mut command = Command::new(program);
    command.arg("--state-dir").arg(&context.state).args(words);
    match command.status() {
        Ok(status) if status.success() => None,
        Ok(_) => Some(format!("`umbo {}` ended with an error", words.join(" "))),
        Err(error) => Some(format!("`umbo {}`: {error}", words.join(" "))),
    }
}

/// What becomes of the view after a key.
enum Next {
    Stay,
    Leave,
    Lend(Vec<String>),
}

struct View<'a> {
    context: &'a Context,
    caller: umbo_ops::Caller,
    scope: Scope,
    rows: Vec<Row>,
    usage: Usage,
    /// The id of the row that is selected: rows come and go.
    selected: Option<String>,
    search: String,
    is_searching: bool,
    said: Option<String>,
}

impl<'a> View<'a> {
    fn new(context: &'a Context, args: &Top) -> Result<Self, Failure> {
        Ok(Self {
            context,
            caller: context.observer(&CallerWords::default())?,
            scope: if args.all { Scope::All } else { Scope::Recent },
            rows: Vec::new(),
            usage: Usage::default(),
            selected: None,
            search: String::new(),
            is_searching: false,
            said: None,
        })
    }

    /// Finds out what there is: questions first, then jobs, those that live before those that ended, each
    /// with the newest first.
    fn look(&mut self) -> Result<(), Failure> {
        let masker = secrets::shared()?;
        let mut jobs = self.context.backend.jobs(self.scope)?;
        jobs.reverse();
        jobs.sort_by_key(|job| matches!(job.status, Status::Ended(_)));
        let running: Vec<(String, i32)> = jobs
            .iter()
            .filter_map(|job| match job.status {
                Status::Started { pid, .. } => Some((job.job.to_string(), pid)),
                _ => None,
            })
            .collect();
        let mut used = self.usage.look(&running);
        let mut rows = self.questions();
        rows.extend(jobs.into_iter().map(|mut job| {
            job.command = masker.mask_text(&job.command);
            job.name = job.name.as_deref().map(|name| masker.mask_text(name));
            Row { used: used.remove(job.job.as_str()), entry: Entry::Job(Box::new(job)) }
        }));
        self.rows = rows;
        Ok(())
    }

    /// Commands that wait for a yes. Where there is no place for rules, none does.
    fn questions(&self) -> Vec<Row> {
        let approvals = gate::paths(self.context).and_then(|paths| Ok(paths.approvals()?));
        let listed = approvals.and_then(|approvals| Ok(approvals.list(now())?));
        let open = listed.unwrap_or_default().into_iter().filter_map(Result::ok);
        open.filter(|approval| approval.state == ApprovalState::Open)
            .map(|approval| {
                let question = approval.question;
                let age = Duration::from_micros(now().saturating_sub(question.asked_at));
                let entry = Entry::Question {
                    short: question.short().to_owned(),
                    id: question.id,
                    command: secrets::hidden(&question.command),
                    risk: question.risk.as_str().to_owned(),
                    why: secrets::hidden(&question.why),
                    age,
                };
                Row { entry, used: None }
            })
            .collect()
    }

    fn shown(&self) -> Vec<&Row> {
        self.rows.iter().filter(|row| row.fits(&self.search)).collect()
    }

    fn place(&self, shown: &[&Row]) -> usize {
        let wanted = self.selected.as_deref();
        shown.iter().position(|row| Some(row.id()) == wanted).unwrap_or(0)
    }

    fn draw(&self) -> Result<(), Failure> {
        let size = output::size(Stream::Output).unwrap_or(USUAL_SIZE);
        let shown = self.shown();
        let selected = self.place(&shown);
        let height = draw::tail_height(size.1, shown.len());
        let tail = shown.get(selected).map_or_else(Vec::new, |row| self.tail(row, height));
        let picture = Picture {
            size,
            rows: &shown,
            selected,
            tail: &tail,
            said: self.said.as_deref(),
            search: (&self.search, self.is_searching),
        };
        Ok(output::frame(&draw::frame(&picture))?)
    }

    /// The last lines of a job's output.
    fn tail(&self, row: &Row, height: usize) -> Vec<String> {
        let Entry::Job(job) = &row.entry else { return Vec::new() };
        let ticket = Ticket::alone();
        let call = Call::new(&self.caller, &ticket);
        let request = OutputRequest { job: job.job.to_string(), ..OutputRequest::default() };
        let lines = height as u64;
        let budget = Budget { lines, line_bytes: LONGEST_LINE_BYTES, ..Budget::UNLIMITED };
        let Ok(handle) = call.job(job.job.as_str()) else { return Vec::new() };
        let page =
            reader(&call, &handle, &request).and_then(|reader| Ok(reader.tail(lines, &budget)?));
        let parts = page.map(|page| page.parts).unwrap_or_default();
        let text: String = parts
            .into_iter()
            .filter_map(|part| match part {
                Part::Text { text, .. } => Some(text),
                _ => None,
            })
            .collect();
        text.lines().map(|line| umbo_view::visible_line(line).into_owned()).collect()
    }

    fn press(&mut self, key: Key) -> Next {
        self.said = None;
        if self.is_searching {
            return self.type_search(key);
        }
        match key {
            Key::Up | Key::Letter('k') => self.step(-1),
            Key::Down | Key::Letter('j') => self.step(1),
            Key::Letter('/') => self.is_searching = true,
            Key::Letter('q') => return Next::Leave,
            // Escape first shows all again.
            Key::Leave if self.search.is_empty() => return Next::Leave,
            Key::Leave => self.search.clear(),
            Key::Enter => return self.enter(),
            Key::Letter('a') => return self.approve(),
            Key::Letter('x') => self.stop(),
            Key::Letter('p') => self.pause(),
            _ => {}
        }
        Next::Stay
    }

    fn type_search(&mut self, key: Key) -> Next {
        match key {
            Key::Letter(letter) => self.search.push(letter),
            Key::Erase => drop(self.search.pop()),
            Key::EraseWord | Key::EraseLine => self.search.clear(),
            Key::Enter | Key::Up | Key::Down => self.is_searching = false,
            Key::Leave => {
                self.search.clear();
                self.is_searching = false;
            }
        }
        Next::Stay
    }

    fn step(&mut self, by: isize) {
        let shown = self.shown();
        let last = shown.len().saturating_sub(1);
        let place = self.place(&shown).saturating_add_signed(by).min(last);
        self.selected = shown.get(place).map(|row| row.id().to_owned());
    }

    /// The row that is selected.
    fn row(&self) -> Option<&Row> {
        let shown = self.shown();
        shown.get(self.place(&shown)).copied()
    }

    fn enter(&mut self) -> Next {
        let Some(Row { entry: Entry::Job(job), .. }) = self.row() else { return self.approve() };
        let is_live = !matches!(job.status, Status::Ended(_));
        let verb = if job.terminal.is_some() && is_live { "attach" } else { "output" };
        let mut words = vec![verb.to_owned(), job.job.to_string()];
        if verb == "output" && is_live {
            // It has no terminal to sit at.
            words.push("--follow".to_owned());
        }
        Next::Lend(words)
    }

    fn approve(&mut self) -> Next {
        let question = match self.row() {
            Some(Row { entry: Entry::Question { id, .. }, .. }) => Some(id.clone()),
            // The one that waits longest.
            _ => self.rows.iter().find_map(|row| match &row.entry {
                Entry::Question { id, .. } => Some(id.clone()),
                Entry::Job(_) => None,
            }),
        };
        let Some(id) = question else {
            self.said = Some("nothing waits for a yes".to_owned());
            return Next::Stay;
        };
        Next::Lend(vec!["approve".to_owned(), id])
    }

    fn stop(&mut self) {
        let Some(Row { entry: Entry::Job(job), .. }) = self.row() else { return };
        let (id, short) = (job.job.to_string(), job.job.short().to_owned());
        if matches!(job.status, Status::Ended(_)) {
            self.said = Some(format!("{short} has ended"));
            return;
        }
        self.said = Some(format!("stopping {short}"));
        let backend = Arc::clone(&self.context.backend);
        // Its grace is no reason to stand still here.
        thread::spawn(move || backend.job(&id).and_then(|job| job.stop(Ladder::default())));
    }

    fn pause(&mut self) {
        let Some(Row { entry: Entry::Job(job), .. }) = self.row() else { return };
        let (is_paused, short) = (job.is_paused, job.job.short().to_owned());
        let handle = self.context.backend.job(job.job.as_str());
        let done = handle.and_then(|job| if is_paused { job.resume() } else { job.pause() });
        self.said = Some(match done {
            Ok(()) if is_paused => format!("{short} goes on"),
            Ok(()) => format!("{short} is paused"),
            Err(error) => error.to_string(),
        });
    }
}

/// The whole terminal, for as long as this lives.
struct FullScreen {
    _raw: Raw,
}

impl FullScreen {
    fn enter() -> Result<Self, Failure> {
        let raw = Raw::enter()?;
        output::frame(ENTER)?;
        Ok(Self { _raw: raw })
    }
}

impl Drop for FullScreen {
    fn drop(&mut self) {
        let _ = output::frame(LEAVE);
    }
}

/// What there is to wake up for besides keys.
struct Wakes {
    news: OwnedFd,
    is_over: Arc<AtomicBool>,
}

impl Wakes {
    /// Hears of events from a thread of its own, and of the wish that this process ends.
    fn listen(context: &Context) -> Result<Self, Failure> {
        let (news, bell) =
            pipe_with(PipeFlags::CLOEXEC | PipeFlags::NONBLOCK).map_err(std::io::Error::from)?;
        let bell = Arc::new(bell);
        let is_over = Arc::new(AtomicBool::new(false));
        let (over, ring) = (Arc::clone(&is_over), Arc::clone(&bell));
        let _ = ctrlc::set_handler(move || {
            over.store(true, Ordering::Relaxed);
            let _ = rustix::io::write(&*ring, b".");
        });
        let mut events = context.backend.subscribe(context.backend.newest_event()?)?;
        thread::spawn(move || {
            while let Ok(event) = events.next(LONGEST_WAIT) {
                if event.is_some() {
                    let _ = rustix::io::write(&*bell, b".");
                    // A job that writes much is no reason to draw more often than one can read.
                    thread::sleep(SHORTEST_FRAME);
                }
            }
        });
        Ok(Self { news, is_over })
    }

    fn is_over(&self) -> bool {
        self.is_over.load(Ordering::Relaxed)
    }

    /// Waits for a key, an event, or the time to draw again. Whether a key was pressed.
    fn wait(&self) -> Result<bool, Failure> {
        let timeout =
            Timespec { tv_sec: i64::try_from(REDRAW_INTERVAL.as_secs()).unwrap_or(1), tv_nsec: 0 };
        let stdin = rustix::stdio::stdin();
        let mut fds = [
            PollFd::from_borrowed_fd(stdin.as_fd(), PollFlags::IN),
            PollFd::from_borrowed_fd(self.news.as_fd(), PollFlags::IN),
        ];
        match poll(&mut fds, Some(&timeout)) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(std::io::Error::from(error).into()),
        }
        let is_typed = !fds[0].revents().is_empty();
        let _ = rustix::io::read(&self.news, &mut [0_u8; 64]);
        Ok(is_typed)
    }
}
