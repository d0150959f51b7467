//! `umbo watch`: a command that runs again whenever files change. What runs still is stopped first, to its
//! last process.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::fs;
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use globset::{GlobBuilder, GlobMatcher};
use ignore::WalkBuilder;
use ignore::gitignore::{Gitignore, GitignoreBuilder};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::inotify::{self, CreateFlags, ReadFlags, WatchFlags};
use umbo_engine::{JobHandle, Ladder};
use umbo_ops::{Call, Ticket};

use super::exec::pass_on;
use super::{ended, start};
use crate::args::Watch;
use crate::context::{CallerWords, Context};
use crate::failure::Failure;
use crate::output::{self, Format};

/// However busy files are: after this long it runs again.
const LONGEST_DELAY: Duration = Duration::from_secs(2);
/// The exit code of a command that ctrl-c ended.
const INTERRUPTED: i32 = 130;

pub(crate) fn run(context: &Context, args: Watch) -> Result<ExitCode, Failure> {
    if context.format == Format::Json {
        let way_out =
            "it shows a command again and again; `umbo events --follow --json` tells of jobs";
        return Err(Failure::invalid("--json", way_out));
    }
    let root = Context::directory()?;
    let mut files = WatchedFiles::new(&root, &args.glob)?;
    let quiet = args.quiet;
    let caller = context.caller(&CallerWords {
        mode: args.start.mode,
        timeout: args.start.limits.timeout,
        masking: context.masking(),
        ..CallerWords::default()
    })?;
    let request = start::request(context, args.start, true)?;
    let ticket = Ticket::alone();
    let call = Call::new(&caller, &ticket);
    let current: Arc<Mutex<Option<JobHandle>>> = Arc::default();
    stop_on_ctrl_c(Arc::clone(&current));
    loop {
        let answer = umbo_ops::exec(&call, &request)?;
        let job = context.backend.job(&answer.job)?;
        *current.lock().unwrap_or_else(PoisonError::into_inner) = Some(Arc::clone(&job));
        let showing = thread::spawn({
            let job = Arc::clone(&job);
            move || show(&job)
        });
        let changed = files.next_change(quiet)?;
        if job.outcome()?.is_none() {
            job.stop(Ladder::default())?;
        }
        if let Ok(Err(failure)) = showing.join() {
            return Err(failure);
        }
        let changed = changed.strip_prefix(&root).unwrap_or(&changed);
        output::talk(format_args!("umbo: {} changed; running again", changed.display()));
    }
}

/// Shows what a job writes, and how it ended.
fn show(job: &JobHandle) -> Result<(), Failure> {
    pass_on(job)?;
    if let Some(outcome) = job.outcome()? {
        let (id, how) = (job.id(), ended(&outcome));
        output::talk(format_args!("umbo: {how} (job {id}); waiting for changes, ctrl-c ends it"));
    }
    Ok(())
}

fn stop_on_ctrl_c(current: Arc<Mutex<Option<JobHandle>>>) {
    let _ = ctrlc::set_handler(move || {
        let job = current.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(job) = job {
            let _ = job.stop(Ladder::default());
        }
        std::process::exit(INTERRUPTED);
    });
}

/// Files whose changes the kernel tells of.
struct WatchedFiles {
    root: PathBuf,
    notices: OwnedFd,
    glob: GlobMatcher,
    ignored: Gitignore,
    /// The directory of each watch.
    directories: HashMap<i32, PathBuf>,
}

impl WatchedFiles {
    fn new(root: &Path, glob: &str) -> Result<Self, Failure> {
        let name = glob.trim_start_matches("./");
        // As in .gitignore: without a slash it is about the name, wherever the file is.
        let anywhere = if name.contains('/') { name.to_owned() } else { format!("**/{name}") };
        let glob = GlobBuilder::new(&anywhere)
            .literal_separator(true)
            .build()
            .map_err(|error| Failure::invalid("GLOB", error))?
            .compile_matcher();
        let mut ignored = GitignoreBuilder::new(root);
        ignored.add(root.join(".gitignore"));
        let ignored = ignored.build().map_err(|error| Failure::invalid(".gitignore", error))?;
        let notices =
            inotify::init(CreateFlags::CLOEXEC | CreateFlags::NONBLOCK).map_err(io::Error::from)?;
        let directories = HashMap::new();
        let mut files = Self { root: root.to_owned(), notices, glob, ignored, directories };
        files.watch_below(root)?;
        Ok(files)
    }

    /// Watches a directory and those below it that git does not ignore.
    fn watch_below(&mut self, top: &Path) -> Result<(), Failure> {
        let mut below = WalkBuilder::new(top);
        below.hidden(false).filter_entry(|entry| {
            entry.file_name() != ".git" && entry.file_type().is_some_and(|kind| kind.is_dir())
        });
        let found: Vec<PathBuf> =
            below.build().flatten().map(ignore::DirEntry::into_path).collect();
        for directory in found {
            let flags = WatchFlags::CLOSE_WRITE
                | WatchFlags::CREATE
                | WatchFlags::DELETE
                | WatchFlags::MOVED_FROM
                | WatchFlags::MOVED_TO
                | WatchFlags::ONLYDIR;
            match inotify::add_watch(&self.notices, &directory, flags) {
                Ok(number) => drop(self.directories.insert(number, directory)),
                // It is gone already.
                Err(rustix::io::Errno::NOENT | rustix::io::Errno::NOTDIR) => {}
                Err(rustix::io::Errno::NOSPC) => {
                    let hint = "raise fs.inotify.max_user_watches, or watch a smaller directory";
                    return Err(Failure::new(format!("too many directories to watch; {hint}")));
                }
                Err(error) => return Err(io::Error::from(error).into()),
            }
        }
        Ok(())
    }

    /// Waits until a file that is meant has changed and all are quiet; which one it was.
    fn next_change(&mut self, quiet: Duration) -> Result<PathBuf, Failure> {
        let mut changed: Option<(PathBuf, Instant)> = None;
        loop {
            let left = changed
                .as_ref()
                .map(|(_, since)| quiet.min(LONGEST_DELAY.saturating_sub(since.elapsed())));
            let has_news = self.sleep(left)?;
            match (&changed, has_news) {
                (Some((path, _)), false) => return Ok(path.clone()),
                (Some((path, since)), true) if since.elapsed() >= LONGEST_DELAY => {
                    return Ok(path.clone());
                }
                _ => {}
            }
            if let (Some(path), None) = (self.read_notices()?, &changed) {
                changed = Some((path, Instant::now()));
            }
        }
    }

    fn sleep(&self, timeout: Option<Duration>) -> Result<bool, Failure> {
        let timeout = timeout.map(|timeout| Timespec {
            tv_sec: i64::try_from(timeout.as_secs()).unwrap_or(i64::MAX),
            tv_nsec: i64::from(timeout.subsec_nanos()),
        });
        let mut fds = [PollFd::from_borrowed_fd(self.notices.as_fd(), PollFlags::IN)];
        match poll(&mut fds, timeout.as_ref()) {
            Ok(count) => Ok(count > 0),
            Err(rustix::io::Errno::INTR) => Ok(true),
            Err(error) => Err(io::Error::from(error).into()),
        }
    }

    /// Takes all notices; the first file among them that is meant.
    fn read_notices(&mut self) -> Result<Option<PathBuf>, Failure> {
        let mut buffer = [MaybeUninit::uninit(); 4096];
        let mut reader = inotify::Reader::new(&self.notices, &mut buffer);
        let (mut first, mut fresh, mut has_overflown) = (None, Vec::new(), false);
        while let Ok(event) = reader.next() {
            has_overflown |= event.events().contains(ReadFlags::QUEUE_OVERFLOW);
            let Some(directory) = self.directories.get(&event.wd()) else { continue };
            let Some(name) = event.file_name() else { continue };
            let path = directory.join(OsStr::from_bytes(name.to_bytes()));
            let is_directory = event.events().contains(ReadFlags::ISDIR);
            if is_directory && event.events().intersects(ReadFlags::CREATE | ReadFlags::MOVED_TO) {
                fresh.push(path);
            } else if !is_directory && first.is_none() && self.is_meant(&path) {
                first = Some(path);
            }
        }
        for directory in fresh {
            self.watch_below(&directory)?;
            // What was made in it before it was watched.
            let inside = WalkBuilder::new(&directory).hidden(false).build().flatten();
            let inside = inside.map(ignore::DirEntry::into_path);
            first = first
                .or_else(|| inside.filter(|path| !path.is_dir()).find(|path| self.is_meant(path)));
        }
        // The kernel had more to tell than it could keep: something may be among it.
        Ok(first.or_else(|| has_overflown.then(|| self.root.clone())))
    }

    fn is_meant(&self, path: &Path) -> bool {
        let Ok(below) = path.strip_prefix(&self.root) else { return false };
        let is_file = fs::metadata(path).map_or(true, |meta| !meta.is_dir());
        is_file
            && self.glob.is_match(below)
            && !self.ignored.matched_path_or_any_parents(below, false).is_ignore()
    }
}
