//! Detection: every runner looks at the folder at the same time, each on its own thread, and what
//! they find is cleaned, classified and put in order. Nothing a folder holds makes detection fail:
//! a broken manifest becomes a problem of its runner.

use std::{
    collections::HashSet,
    ffi::OsStr,
    path::Path,
    sync::atomic::{AtomicBool, Ordering},
    thread::Builder,
};

use crate::{
    ask::{self, Answer},
    cache::{self, Cache, Snapshot},
    error::Error,
    folder::Folder,
    nature,
    options::{Asking, Options},
    project::{Problem, Program, Project, Runner, is_unsafe_to_show},
    runners::RUNNERS,
    task::{Invocation, Language, Script, Task},
};

/// The longest doc line that is kept.
const MAX_DOC: usize = 300;

/// The most parts of a prelude that are kept.
const MAX_PRELUDE: usize = 200;

/// What the table knows about a runner.
pub(crate) struct Definition {
    pub(crate) id: &'static str,
    pub(crate) label: &'static str,
    /// Names its program may have, the usual one first; a name with `/` is a file of the project.
    pub(crate) programs: &'static [&'static str],
    /// How to get the program.
    pub(crate) get: &'static str,
    /// Looks at the folder; `None` when there is nothing of this runner.
    pub(crate) detect: fn(&Scene<'_>) -> Option<Found>,
}

/// What a runner found.
#[derive(Debug, Default)]
pub(crate) struct Found {
    pub(crate) evidence: Vec<String>,
    pub(crate) alternatives: Vec<String>,
    pub(crate) tasks: Vec<Task>,
    pub(crate) prelude: Vec<Script>,
    pub(crate) problems: Vec<Problem>,
}

/// What a runner may look at.
pub(crate) struct Scene<'a> {
    pub(crate) folder: &'a Folder<'a>,
    pub(crate) options: &'a Options,
    /// Set when a tool did not answer in time: such a result must not be kept.
    is_unsettled: AtomicBool,
}

impl Found {
    /// A runner given away by this manifest.
    pub(crate) fn by(manifest: &str) -> Self {
        Self { evidence: vec![manifest.to_owned()], ..Self::default() }
    }

    /// Notes something beside a task's script that nobody can read from here.
    pub(crate) fn beside(&mut self, what: impl Into<String>) {
        self.prelude.push(Script::new(Language::Other, what));
    }

    /// The value, or its problem noted.
    pub(crate) fn take<T>(&mut self, result: Result<Option<T>, Problem>) -> Option<T> {
        result.unwrap_or_else(|problem| {
            self.problems.push(problem);
            None
        })
    }
}

impl Scene<'_> {
    /// Asks a program of the path. `None` when asking is off, or it is missing, or it lies in the
    /// project itself: that would be code of the project.
    pub(crate) fn ask<S: AsRef<OsStr>>(
        &self,
        program: &str,
        from: &Path,
        args: &[S],
    ) -> Option<Result<Answer, String>> {
        let Asking::Within(within) = self.options.asking else { return None };
        let path = self.folder.program(program)?;
        if path.canonicalize().ok()?.starts_with(self.folder.real_root()) {
            return None;
        }
        let answer = ask::ask(self.options, within, from, &path, args);
        if answer.is_err() {
            self.is_unsettled.store(true, Ordering::Relaxed);
        }
        Some(answer.map_err(|error| format!("`{program}` {error}")))
    }
}

/// Which runners the folder has and what they offer.
///
/// With a cache, the kept answer is given as long as every file it rests on is unchanged.
///
/// # Errors
/// Only when the folder itself cannot be opened.
pub fn detect(root: &Path, options: &Options, cache: Option<&Cache>) -> Result<Project, Error> {
    let folder = Folder::open(root, options)
        .map_err(|source| Error::Folder { path: root.to_owned(), source })?;
    let key = cache.map(|_| cache::key(folder.real_root(), options));
    if let (Some(cache), Some(key)) = (cache, &key)
        && let Some(project) = cache.recall(key, &folder)
    {
        return Ok(project);
    }
    let scene = Scene { folder: &folder, options, is_unsettled: AtomicBool::new(false) };
    let project = Project { runners: look(&scene) };
    let is_settled = !scene.is_unsettled.into_inner();
    if let (Some(cache), Some(key), true) = (cache, &key, is_settled) {
        cache.keep(key, Snapshot { looks: folder.into_looks(), project: project.clone() });
    }
    Ok(project)
}

fn look(scene: &Scene<'_>) -> Vec<Runner> {
    std::thread::scope(|scope| {
        let spawned = RUNNERS.iter().map(|definition| {
            let thread = Builder::new().spawn_scoped(scope, move || run_one(definition, scene));
            (definition, thread)
        });
        let threads: Vec<_> = spawned.collect();
        let joined = threads.into_iter().map(|(definition, thread)| match thread {
            // A fault of ours in one runner is told, and takes no other runner with it.
            Ok(thread) => thread.join().unwrap_or_else(|_| Some(fallen(definition))),
            // A machine out of threads still gets its answer, only later.
            Err(_) => run_one(definition, scene),
        });
        joined.flatten().collect()
    })
}

fn fallen(definition: &Definition) -> Runner {
    let message = "reading this runner's files failed inside umbo; please report it";
    Runner {
        id: definition.id.to_owned(),
        label: definition.label.to_owned(),
        program: missing(definition),
        evidence: Vec::new(),
        alternatives: Vec::new(),
        tasks: Vec::new(),
        prelude: Vec::new(),
        problems: vec![Problem::new(definition.id, None, message)],
    }
}

fn missing(definition: &Definition) -> Program {
    Program::Missing {
        name: definition.programs.first().map_or("", |name| name).to_owned(),
        get: definition.get.to_owned(),
    }
}

fn run_one(definition: &Definition, scene: &Scene<'_>) -> Option<Runner> {
    let mut found = (definition.detect)(scene)?;
    let present = |name: &&'static str| Some((*name, scene.folder.program(name)?));
    let (name, program) = match definition.programs.iter().find_map(present) {
        Some((name, path)) => (Some(name), Program::Found(path.to_string_lossy().into_owned())),
        None => (None, missing(definition)),
    };
    let manifest = found.evidence.first().cloned().unwrap_or_default();
    let tasks = cleaned(&manifest, scene.options.limits.tasks, found.tasks, &mut found.problems);
    let tasks = tasks.into_iter().map(|mut task| {
        definition.id.clone_into(&mut task.runner);
        nature::classify(&mut task);
        // The program may be installed under its other name.
        if let (Invocation::Argv(argv), Some(name)) = (&mut task.invocation, name)
            && argv.first().map(String::as_str) == definition.programs.first().copied()
        {
            name.clone_into(&mut argv[0]);
        }
        task
    });
    Some(Runner {
        id: definition.id.to_owned(),
        label: definition.label.to_owned(),
        program,
        evidence: found.evidence,
        alternatives: found.alternatives,
        tasks: tasks.collect(),
        prelude: shortened(found.prelude),
        problems: found.problems,
    })
}

/// Drops what no operation could name safely, and every second task of one name.
fn cleaned(
    manifest: &str,
    limit: usize,
    tasks: Vec<Task>,
    problems: &mut Vec<Problem>,
) -> Vec<Task> {
    let mut names = HashSet::new();
    let mut kept = Vec::new();
    for mut task in tasks {
        let place = task.source.as_ref();
        let file = place.map_or(manifest, |source| source.file.as_str());
        let line = place.map(|source| source.line);
        if kept.len() >= limit {
            let message = format!("only the first {limit} tasks are read");
            problems.push(Problem::new(file, line, message));
            break;
        }
        if let Some(fault) = fault_of(&task.name).or_else(|| fault_of(&task.target)) {
            let message = format!("task {:?} was left out: its name {fault}", task.name);
            problems.push(Problem::new(file, line, message));
            continue;
        }
        task.doc = task.doc.as_deref().and_then(one_line);
        if names.insert(task.name.clone()) {
            kept.push(task);
        }
    }
    kept
}

/// A prelude nobody can read is as bad as one that goes on after its first parts.
fn shortened(mut prelude: Vec<Script>) -> Vec<Script> {
    if prelude.len() > MAX_PRELUDE {
        prelude.truncate(MAX_PRELUDE);
        prelude.push(Script::new(Language::Other, "and more"));
    }
    prelude
}

/// Why a name cannot be used. A leading dash would be read as an option of the runner.
fn fault_of(name: &str) -> Option<&'static str> {
    if name.is_empty() {
        Some("is empty")
    } else if name.starts_with('-') {
        Some("starts with a dash")
    } else if name.len() > 500 {
        Some("is too long")
    } else if name.chars().any(is_unsafe_to_show) {
        Some("holds control characters")
    } else {
        None
    }
}

fn one_line(doc: &str) -> Option<String> {
    let line = doc.trim().lines().next()?.trim();
    let clean: String = line.chars().filter(|c| !is_unsafe_to_show(*c)).take(MAX_DOC).collect();
    (!clean.is_empty()).then_some(clean)
}

/// What one runner finds in a folder of these files, by reading alone: for the runners' tests.
#[cfg(test)]
pub(crate) fn read(id: &str, files: &[(&str, &str)]) -> Runner {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in files {
        let path = folder.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    let options = Options { asking: Asking::Never, ..Options::default() };
    let project = detect(folder.path(), &options, None).unwrap();
    project.runner(id).cloned().unwrap_or_else(|| panic!("{id} was not detected: {project:?}"))
}
