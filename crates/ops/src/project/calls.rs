//! Tasks that a command calls by the name of their runner: `npm run clean` inside a script.

use std::collections::HashMap;

use umbo_command::SimpleCommand;
use umbo_recipes::{Invocation, Task};

/// The managers that run scripts by themselves at some of their own words.
const MANAGERS: [&str; 4] = ["npm", "pnpm", "yarn", "bun"];

/// These words, and the scripts that run with them.
const LIFECYCLE: [(&[&str], &[&str]); 4] = [
    (
        &["install", "i", "ci", "add"],
        &["preinstall", "install", "postinstall", "prepublish", "preprepare", "prepare"],
    ),
    (&["publish"], &["prepublishOnly", "prepack", "prepare", "postpack", "publish", "postpublish"]),
    (&["pack"], &["prepack", "prepare", "postpack"]),
    (&["version"], &["preversion", "version", "postversion"]),
];

/// Tasks by where they run, their runner's program, and a word that names them.
#[derive(Debug, Default)]
pub(super) struct Calls<'a> {
    places: HashMap<(&'a str, &'a str, &'a str), Vec<usize>>,
}

impl<'a> Calls<'a> {
    /// The tasks, each with its place.
    pub(super) fn of(tasks: impl Iterator<Item = (usize, &'a Task)>) -> Self {
        let mut calls = Self::default();
        for (place, task) in tasks {
            let Invocation::Argv(invocation) = &task.invocation else { continue };
            let [program, .., last] = invocation.as_slice() else { continue };
            for word in [last, &task.target] {
                let key = (task.directory.as_str(), program.as_str(), word.as_str());
                let places = calls.places.entry(key).or_default();
                if places.last() != Some(&place) {
                    places.push(place);
                }
            }
        }
        calls
    }

    /// The places of the tasks that a command of this directory may call. A word behind the program
    /// is enough: one task too many is no harm, one too few is.
    pub(super) fn by(&self, directory: &str, command: &SimpleCommand) -> Vec<usize> {
        let words = command.exact_prefix();
        let Some((program, words)) = words.split_first() else { return Vec::new() };
        let program = program.rsplit('/').next().unwrap_or(program);
        let hooks = if MANAGERS.contains(&program) { hooks(words) } else { Vec::new() };
        let named = words.iter().copied().chain(hooks);
        let places = named.filter_map(|word| self.places.get(&(directory, program, word)));
        places.flatten().copied().collect()
    }
}

/// The scripts that a manager runs by itself.
fn hooks(words: &[&str]) -> Vec<&'static str> {
    // A manager alone installs.
    let is_bare = words.iter().all(|word| word.starts_with('-'));
    let is_meant = |verbs: &[&str]| {
        words.iter().any(|word| verbs.contains(word)) || (is_bare && verbs.contains(&"install"))
    };
    let meant = LIFECYCLE.iter().filter(|(verbs, _)| is_meant(verbs));
    meant.flat_map(|(_, hooks)| hooks.iter().copied()).collect()
}
