//! Whether options stand where they are options: before a command, whose own they would be after it.

use std::ffi::OsStr;
use std::path::Path;

use clap::{Arg, Command, CommandFactory};

use crate::args::Args;
use crate::failure::Failure;

/// Refuses a line for a shell that is followed by options of umbo's own: as words of a program they
/// would make no sense, and the person meant something else.
pub(super) fn check<Word: AsRef<OsStr>>(verb: &[&str], words: &[Word]) -> Result<(), Failure> {
    let [line, rest @ ..] = words else { return Ok(()) };
    let line = line.as_ref();
    let is_line = line.to_string_lossy().contains(char::is_whitespace);
    let mut named = rest.iter().filter(|word| word.as_ref().as_encoded_bytes().starts_with(b"--"));
    if !is_line || named.next().is_none() || Path::new(line).exists() {
        return Ok(());
    }
    let root = Args::command();
    let verb = verb.iter().try_fold(&root, |command, name| command.find_subcommand(name));
    let options: Vec<&str> = verb
        .into_iter()
        .flat_map(Command::get_arguments)
        .chain(root.get_arguments())
        .filter_map(Arg::get_long)
        .collect();
    let is_option = |word: &&OsStr| {
        let word = word.to_string_lossy();
        let name = word.strip_prefix("--").map(|word| word.split('=').next().unwrap_or(word));
        name.is_some_and(|name| options.contains(&name))
    };
    match rest.iter().map(AsRef::as_ref).find(is_option) {
        None => Ok(()),
        Some(option) => Err(Failure::invalid(
            "COMMAND",
            format_args!(
                "{} comes after it, and so would be its own; write options before the command",
                option.display()
            ),
        )),
    }
}
