//! umbo's own selection: every runner, workspace names, and arguments that reach the task.
//!
//! The first word of an operation selects: `task`, `package/task`, `runner:task`. What the
//! project wrote itself goes before a runner's built-in commands, and what a list shows before
//! what it hides; if two are still equal, the choice is refused. The other words are arguments:
//! they are split by the quoting rules of a shell, put where the runner passes them on, and
//! quoted again, so no argument can become a command.

use umbo_text::quote;

use crate::{
    error::Error,
    project::{Project, Runner},
    select::{Selection, is_package_manager, listing},
    task::{Arguments, Invocation, Kind, Task, Visibility},
};

/// Error texts list at most so many tasks of a runner.
const MOST_LISTED: usize = 20;

/// How many near names an unknown task is answered with.
const MOST_NEAREST: usize = 5;

/// Resolves an operation given as one line: `pkg-a/test --watch`.
///
/// # Errors
/// An empty operation, an open quote, an unknown or ambiguous task.
pub fn resolve(project: &Project, op: &str) -> Result<Selection, Error> {
    let words = quote::split(op)
        .ok_or_else(|| Error::Arguments { message: format!("a quote is left open in {op:?}") })?;
    match words.split_first() {
        Some((selector, arguments)) => resolve_words(project, selector, arguments),
        None => Err(Error::Empty { message: format!("Name a task. {}", available(project)) }),
    }
}

/// Resolves an operation given as words.
///
/// # Errors
/// An empty selector, an unknown or ambiguous task.
pub fn resolve_words(
    project: &Project,
    selector: &str,
    arguments: &[String],
) -> Result<Selection, Error> {
    if project.runners.is_empty() {
        return Err(Error::NoRunners);
    }
    if selector.is_empty() {
        return Err(Error::Empty { message: format!("Name a task. {}", available(project)) });
    }
    let task = find(project, selector)?;
    let mut words = placed(task.arguments, arguments);
    let (command, argv) = match &task.invocation {
        Invocation::Argv(argv) => {
            let mut argv = argv.clone();
            if task.arguments == Arguments::Brackets {
                into_brackets(&mut argv, &mut words);
            }
            argv.extend(words);
            (quote::join(&argv), Some(argv))
        }
        Invocation::Shell(text) if words.is_empty() => (text.clone(), None),
        Invocation::Shell(text) => {
            let quoted: Vec<String> = words.iter().map(|word| quote::word(word)).collect();
            (format!("{text} {}", quoted.join(" ")), None)
        }
    };
    Ok(Selection {
        runner: task.runner.clone(),
        command,
        argv,
        directory: task.directory.clone(),
        task: Some(task.clone()),
    })
}

/// The arguments as the runner passes them on.
fn placed(how: Arguments, given: &[String]) -> Vec<String> {
    let dashes = || String::from("--");
    let own = given.strip_prefix(&[dashes()]).unwrap_or(given);
    match how {
        _ if given.is_empty() => Vec::new(),
        Arguments::Verbatim => given.to_vec(),
        Arguments::Append | Arguments::Brackets => own.to_vec(),
        Arguments::AfterDashes if own.is_empty() => Vec::new(),
        // The caller placed the dashes: what stands before them is meant for the runner.
        Arguments::AfterDashes if given.contains(&dashes()) => given.to_vec(),
        Arguments::AfterDashes => std::iter::once(dashes()).chain(given.iter().cloned()).collect(),
        Arguments::VariablesThenDashes => {
            let count = given.iter().take_while(|word| is_assignment(word)).count();
            let (variables, rest) = given.split_at(count);
            let rest = rest.strip_prefix(&[dashes()]).unwrap_or(rest);
            let separator = (!rest.is_empty()).then(dashes);
            variables.iter().cloned().chain(separator).chain(rest.iter().cloned()).collect()
        }
    }
}

/// Moves the plain words in front into brackets behind the last word of the command: further
/// words would be further tasks.
fn into_brackets(argv: &mut [String], words: &mut Vec<String>) {
    let count =
        words.iter().take_while(|word| !word.starts_with('-') && !is_assignment(word)).count();
    if let Some(name) = argv.last_mut()
        && count > 0
    {
        let plain: Vec<String> = words.drain(..count).collect();
        *name = format!("{name}[{}]", plain.join(","));
    }
}

fn is_assignment(word: &str) -> bool {
    word.split_once('=').is_some_and(|(name, _)| {
        name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
            && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
    })
}

fn find<'a>(project: &'a Project, selector: &str) -> Result<&'a Task, Error> {
    let (runner, rest) = explicit(project, selector).unzip();
    let named = runner.zip(rest).and_then(|(runner, rest)| by_name(runner, rest));
    let mut matching: Vec<&Task> =
        project.runners.iter().filter_map(|r| r.task(selector)).collect();
    matching = best(project, matching);
    if let Some(task) = named {
        // `make:all` may also be the whole name of a script.
        matching.retain(|other| other.name == selector && !std::ptr::eq(*other, task));
        matching.insert(0, task);
    }
    if matching.is_empty() && runner.is_none() {
        let tasks = project.tasks().filter(|task| is_meant(task, selector)).collect();
        matching = best(project, tasks);
    }
    match matching.as_slice() {
        [only] => Ok(only),
        [] => Err(unknown(project, runner, rest.unwrap_or(selector))),
        several => {
            let choices: Vec<String> =
                several.iter().map(|task| format!("{}:{}", task.runner, task.name)).collect();
            let message = format!(
                "`{selector}` is a task of several runners; name one: {}",
                choices.join(", ")
            );
            Err(Error::Ambiguous { message, choices })
        }
    }
}

/// `runner:task`, when there is such a runner; `pkg` stands for whoever owns `package.json`.
fn explicit<'a, 's>(project: &'a Project, selector: &'s str) -> Option<(&'a Runner, &'s str)> {
    let (id, rest) = selector.split_once(':')?;
    let is_it = |runner: &&Runner| runner.id == id || (id == "pkg" && is_package_manager(runner));
    project.runners.iter().find(is_it).map(|runner| (runner, rest))
}

fn by_name<'a>(runner: &'a Runner, name: &str) -> Option<&'a Task> {
    runner.task(name).or_else(|| {
        let mut meant = runner.named().filter(|task| is_meant(task, name));
        meant.next().filter(|_| meant.next().is_none())
    })
}

/// The same name with the separators of another runner, or by directory instead of by package.
fn is_meant(task: &Task, selector: &str) -> bool {
    let plain = |text: &str| text.replace("::", "/").replace(':', "/");
    plain(&task.name) == plain(selector)
        || (task.directory != "." && format!("{}/{}", task.directory, task.target) == selector)
}

/// The tasks that go before the others: runnable before missing, written before built in, shown
/// before hidden.
fn best<'a>(project: &Project, tasks: Vec<&'a Task>) -> Vec<&'a Task> {
    let rank = |task: &Task| {
        let is_missing = !project.runner(&task.runner).is_some_and(Runner::is_available);
        (is_missing, task.visibility == Visibility::Hidden, task.kind == Kind::Subcommand)
    };
    let Some(first) = tasks.iter().map(|task| rank(task)).min() else { return tasks };
    tasks.into_iter().filter(|task| rank(task) == first).collect()
}

fn unknown(project: &Project, runner: Option<&Runner>, name: &str) -> Error {
    let nearest = nearest(project, runner, name);
    let hint = if nearest.is_empty() { ".".to_owned() } else { umbo_text::did_you_mean(&nearest) };
    let place = runner.map(|runner| format!(" of {}", runner.id)).unwrap_or_default();
    let message = format!("There is no task `{name}`{place}{hint} {}", available(project));
    Error::Unknown { message, nearest }
}

fn nearest(project: &Project, runner: Option<&Runner>, name: &str) -> Vec<String> {
    let is_near = |task: &&Task| runner.is_none_or(|runner| task.runner == runner.id);
    let mut scored: Vec<(usize, &str)> = Vec::new();
    for task in project.tasks().filter(is_near) {
        // A name inside a package is near when its own part is.
        let names = [task.name.as_str(), &task.target];
        let distance = names.into_iter().filter_map(|other| umbo_text::distance(name, other)).min();
        let is_part = name.len() > 2 && task.name.contains(name);
        scored.extend(distance.or(is_part.then_some(usize::MAX)).map(|far| (far, &*task.name)));
    }
    scored.sort_unstable();
    scored.dedup_by(|a, b| a.1 == b.1);
    scored.into_iter().take(MOST_NEAREST).map(|(_, name)| name.to_owned()).collect()
}

fn available(project: &Project) -> String {
    let lines =
        project.runners.iter().filter(|runner| runner.listed().next().is_some()).map(|runner| {
            let names = runner.listed().map(|task| task.name.as_str());
            format!("\n  {}: {}", runner.id, listing(names, MOST_LISTED))
        });
    format!("Available tasks:{}", lines.collect::<String>())
}
