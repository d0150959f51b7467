//! What may happen: for each job what it does, what its caller was told, and how often it ran.

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use umbo_engine::{End, Error, LostReason, Outcome};

use super::chaos::Chaos;
use super::is_excused;
use super::report::Report;
use super::seed::Seed;
use crate::failure::{Done, Failure};
use crate::scratch::Scratch;

/// What a job does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// Prints a little and exits with a code.
    Short(u8),
    /// Prints line after line for a while.
    Lines(u16),
    /// Prints much at once.
    Flood(u32),
    /// Leaves descendants behind, in sessions of their own.
    Leaves,
    /// Is given to a process that may be killed.
    Client,
}

impl Kind {
    pub(super) fn choose(seed: &mut Seed) -> Self {
        let small = |number: u64| u8::try_from(number).unwrap_or(0);
        match seed.below(10) {
            0..=3 => Self::Short(small(seed.below(4))),
            4..=5 => Self::Lines(u16::try_from(seed.below(200)).unwrap_or(0)),
            6 => Self::Flood(u32::try_from(seed.below(400_000)).unwrap_or(0)),
            7 => Self::Leaves,
            _ => Self::Client,
        }
    }
}

/// A job of the model.
#[derive(Debug, Clone)]
pub(super) struct Job {
    number: usize,
    kind: Kind,
    /// A byte is added to this file whenever the command runs.
    mark: PathBuf,
    began: Instant,
    ended: Option<Instant>,
    told: Option<Told>,
    /// Whether its supervisor was killed or stopped on purpose.
    is_hit: bool,
}

/// What its caller was told.
#[derive(Debug, Clone)]
enum Told {
    Ended { id: String, outcome: Box<Outcome>, output: Option<Vec<u8>> },
    Failed(String),
    Client(Option<i32>),
}

impl Job {
    /// Its command line.
    pub(super) fn line(&self) -> String {
        let mark = format!("printf x >> {}; ", self.mark.display());
        mark + &match self.kind {
            Kind::Short(code) => format!("echo job {}; exit {code}", self.number),
            Kind::Lines(count) => format!(
                "n=0; while [ $n -lt {count} ]; do n=$((n + 1)); echo line $n; sleep 0.005; done"
            ),
            Kind::Flood(bytes) => format!("head -c {bytes} /dev/zero"),
            Kind::Leaves => {
                "(setsid sleep 300 &) ; setsid sh -c 'sleep 300 & sleep 300' & echo left".into()
            }
            Kind::Client => "echo begun; sleep 0.1; echo done".into(),
        }
    }

    /// All it prints, if nothing comes between.
    fn output(&self) -> Vec<u8> {
        match self.kind {
            Kind::Short(_) => format!("job {}\n", self.number).into_bytes(),
            Kind::Lines(count) => {
                let mut text = String::new();
                for number in 1..=count {
                    text.push_str("line ");
                    text.push_str(&number.to_string());
                    text.push('\n');
                }
                text.into_bytes()
            }
            Kind::Flood(bytes) => vec![0; usize::try_from(bytes).unwrap_or(0)],
            Kind::Leaves => b"left\n".to_vec(),
            Kind::Client => b"begun\ndone\n".to_vec(),
        }
    }

    fn code(&self) -> i32 {
        match self.kind {
            Kind::Short(code) => code.into(),
            _ => 0,
        }
    }

    pub(super) fn is_hit(&self) -> bool {
        self.is_hit
    }

    fn id(&self) -> Option<&str> {
        match &self.told {
            Some(Told::Ended { id, .. }) => Some(id),
            _ => None,
        }
    }

    pub(super) fn time(&self) -> (Instant, Instant) {
        (self.began, self.ended.unwrap_or_else(Instant::now))
    }

    /// How often its command ran.
    fn runs(&self) -> usize {
        fs::read(&self.mark).map_or(0, |bytes| bytes.len())
    }

    /// What is wrong with it.
    fn problem(&self, chaos: &Chaos<'_>) -> Option<String> {
        let runs = self.runs();
        if runs > 1 {
            return Some(format!("its command ran {runs} times"));
        }
        match self.told.as_ref()? {
            Told::Failed(_) if is_excused(self, chaos) && runs == 0 => None,
            Told::Failed(error) => {
                Some(format!("its caller was told: {error} (it ran {runs} times)"))
            }
            // One that lived to tell of a good end has seen it run.
            Told::Client(Some(0)) if runs != 1 => {
                Some(format!("its client saw it end, but it ran {runs} times"))
            }
            Told::Client(_) => None,
            Told::Ended { outcome, output, .. } => {
                self.wrong(outcome, output.as_deref(), runs, is_excused(self, chaos))
            }
        }
    }

    fn wrong(
        &self,
        outcome: &Outcome,
        output: Option<&[u8]>,
        runs: usize,
        is_excused: bool,
    ) -> Option<String> {
        let whole = self.output();
        let kept = output.unwrap_or_default();
        if outcome.contained_by.is_none() {
            return Some(format!("not proven empty: {outcome:?}"));
        }
        match &outcome.end {
            End::Exited { code } if *code == self.code() => {
                let is_whole = kept == whole;
                let is_cut = outcome.dropped_bytes > 0
                    && whole.starts_with(kept)
                    && outcome.total_bytes + outcome.dropped_bytes == whole.len() as u64;
                if runs != 1 {
                    return Some(format!("it exited, but ran {runs} times"));
                }
                (!is_whole && !is_cut).then(|| {
                    format!("{} bytes of {} were kept: {outcome:?}", kept.len(), whole.len())
                })
            }
            End::Lost { reason: LostReason::SupervisorKilled } if is_excused => {
                // What was kept is what it wrote first.
                (!whole.starts_with(kept)).then(|| format!("other bytes were kept: {outcome:?}"))
            }
            End::FailedToStart { .. } if is_excused && runs == 0 => None,
            _ => Some(format!("it ended otherwise: {outcome:?}")),
        }
    }
}

/// All jobs.
pub(super) struct Model {
    marks: PathBuf,
    jobs: Mutex<Vec<Job>>,
}

impl Model {
    pub(super) fn new(directory: &Path) -> Done<Self> {
        let marks = directory.join("marks");
        fs::create_dir_all(&marks).map_err(Failure::at(marks.display()))?;
        Ok(Self { marks, jobs: Mutex::default() })
    }

    fn jobs(&self) -> std::sync::MutexGuard<'_, Vec<Job>> {
        self.jobs.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn count(&self) -> usize {
        self.jobs().len()
    }

    pub(super) fn begin(&self, kind: Kind) -> Job {
        let mut jobs = self.jobs();
        let number = jobs.len();
        let mark = self.marks.join(number.to_string());
        let job = Job {
            number,
            kind,
            mark,
            began: Instant::now(),
            ended: None,
            told: None,
            is_hit: false,
        };
        jobs.push(job.clone());
        job
    }

    fn told(&self, job: &Job, told: Told, is_hit: bool) {
        if let Some(known) = self.jobs().get_mut(job.number) {
            known.ended = Some(Instant::now());
            known.told = Some(told);
            known.is_hit = is_hit;
        }
    }

    pub(super) fn end(
        &self,
        job: &Job,
        handle: &umbo_engine::Job,
        outcome: Outcome,
        chaos: &Chaos<'_>,
    ) {
        let mut bytes = Vec::new();
        let output = handle.log().ok().and_then(|mut log| log.read_to_end(&mut bytes).ok());
        let output = output.map(|_| bytes);
        let id = handle.id().to_string();
        // Asked now: clients keep fewer jobs than this run starts, and delete the oldest.
        let is_hit = chaos.has_killed(&id);
        self.told(job, Told::Ended { id, outcome: Box::new(outcome), output }, is_hit);
    }

    pub(super) fn failed(&self, job: &Job, error: &Error) {
        self.told(job, Told::Failed(error.to_string()), false);
    }

    pub(super) fn end_client(&self, job: &Job, code: Option<i32>) {
        self.told(job, Told::Client(code), false);
    }

    /// Tells the report what is wrong.
    pub(super) fn judge(&self, report: &mut Report, chaos: &Chaos<'_>) {
        for job in self.jobs().iter() {
            report.jobs += 1;
            if let Some(problem) = job.problem(chaos) {
                let id = job.id().unwrap_or("no id");
                report.wrong(format!("{id} ({:?}): {problem}", job.kind));
            }
        }
    }
}

/// Gives a job to a client process, which may be killed. Its exit code, if it lived.
pub(super) fn client(scratch: &Scratch, state: &str, job: &Job, seed: &mut Seed) -> Option<i32> {
    let mut command = Command::new(scratch.umbo());
    command
        .args(["--state-dir".as_ref(), scratch.state(state).as_os_str()])
        .args(["exec", "--json", &job.line()])
        .env("UMBO_MODE", "open")
        .current_dir(scratch.directory())
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    let mut child = command.spawn().ok()?;
    // Some are killed here, others by the chaos, most of them live.
    if seed.below(3) == 0 {
        thread::sleep(Duration::from_millis(seed.below(150)));
        let _ = child.kill();
    }
    child.wait().ok()?.code()
}
