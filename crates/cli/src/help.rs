//! The first pages a person sees: `umbo` alone has the verbs of the first five minutes, `umbo --help` all
//! of them, by what one wants to do.

use std::fmt::Write as _;

use clap::error::ErrorKind;
use clap::{Command, CommandFactory};

use crate::args::Args;

/// Every verb, by what one wants.
const GROUPS: [(&str, &[&str]); 7] = [
    ("Run", &["exec", "start", "run", "recipes", "watch"]),
    ("See", &["jobs", "top", "output", "screen", "wait", "events"]),
    (
        "Steer",
        &[
            "stop", "restart", "input", "attach", "pause", "resume", "signal", "groups", "shells",
            "prune",
        ],
    ),
    ("Files", &["read", "search", "find", "ls", "tree", "write", "edit", "undo"]),
    (
        "Decide",
        &[
            "approvals",
            "approve",
            "deny",
            "rules",
            "classify",
            "sandbox",
            "trust",
            "secrets",
            "audit",
        ],
    ),
    ("Agents", &["install", "uninstall", "mcp", "tools", "call", "agent", "models", "sessions"]),
    ("Umbo", &["tour", "doctor", "config", "completions", "man", "help"]),
];

/// The verbs of the first five minutes.
const FIRST: [&str; 12] = [
    "exec", "start", "run", "jobs", "top", "output", "wait", "stop", "approve", "install",
    "doctor", "tour",
];

/// The command line, with the verbs of its help in groups.
pub(crate) fn command() -> Command {
    let mut command = Args::command();
    command.build();
    let mut template = String::from("{about-with-newline}\n{usage-heading} {usage}\n\n");
    for (title, verbs) in GROUPS {
        let _ = writeln!(template, "{title}:");
        lines(&command, verbs, &mut template);
        template.push('\n');
    }
    template.push_str("Options:\n{options}\n\n{after-help}");
    command.help_template(template)
}

/// The same answer of the parser, from the command line with groups if it is help.
pub(crate) fn in_groups(error: clap::Error) -> clap::Error {
    if error.kind() != ErrorKind::DisplayHelp {
        return error;
    }
    command().try_get_matches().err().unwrap_or(error)
}

/// What `umbo` alone says.
pub(crate) fn first_page() -> String {
    let command = Args::command();
    let about = command.get_about().map(ToString::to_string).unwrap_or_default();
    let mut page = format!("{about}\n\n");
    lines(&command, &FIRST, &mut page);
    page.push_str("\n`umbo --help` lists all verbs, `umbo VERB --help` says more of one.");
    page
}

fn lines(command: &Command, verbs: &[&str], text: &mut String) {
    for name in verbs {
        let verb = command.find_subcommand(name);
        let about = verb.and_then(Command::get_about).map(ToString::to_string);
        let about = about.unwrap_or_else(|| "Print the help of a verb".to_owned());
        let aliases: Vec<&str> =
            verb.map(|verb| verb.get_visible_aliases().collect()).unwrap_or_default();
        let also = if aliases.is_empty() {
            String::new()
        } else {
            format!(" [or: {}]", aliases.join(" "))
        };
        let _ = writeln!(text, "  {name:11}  {about}{also}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_verb_is_in_one_group_and_fits_its_line() {
        let mut grouped: Vec<&str> = GROUPS.iter().flat_map(|(_, verbs)| *verbs).copied().collect();
        grouped.sort_unstable();
        let command = Args::command();
        let mut verbs: Vec<&str> = command.get_subcommands().map(Command::get_name).collect();
        verbs.push("help");
        verbs.sort_unstable();
        assert_eq!(grouped, verbs);
        let page = first_page();
        assert!(page.lines().count() <= 24, "{page}");
        let mut all = self::command().render_help().to_string();
        all.push_str(&page);
        for line in all.lines() {
            assert!(line.chars().count() <= 80, "{line}");
        }
    }
}
