//! Programs that run a command for each thing they show or find: `fzf --preview`, `fd --exec`.

use crate::argv::Options;
use crate::effect::{READ, RUN, UNKNOWN};
use crate::row::Row;
use crate::walk::Walk;
use crate::word::Word;

/// What `fzf --bind` calls its actions that run something.
const RUNS: [&str; 17] = [
    "execute",
    "execute-silent",
    "become",
    "reload",
    "reload-sync",
    "transform",
    "preview",
    "change-preview",
    "transform-query",
    "transform-prompt",
    "transform-header",
    "transform-search",
    "transform-border-label",
    "transform-preview-label",
    "bg-transform",
    "transform-list-label",
    "transform-input-label",
];

impl Walk {
    /// `fzf`: its options, and the commands in their values.
    pub(super) fn fzf(&mut self, row: &'static Row, name: &str, args: &[Word]) {
        self.plain(row, name, args);
        let options = Options::of(row, args);
        for value in options.all_values_of("--preview") {
            self.run_for_each(name, &value);
        }
        for value in options.all_values_of("--bind") {
            let Some(text) = value.exact() else {
                self.find(UNKNOWN, name, format!("{name} --bind"));
                continue;
            };
            self.bindings(name, text);
        }
    }

    /// `key:action(command),key:action:command`.
    fn bindings(&mut self, name: &str, text: &str) {
        for action in RUNS {
            for (at, _) in text.match_indices(action) {
                let rest = &text[at + action.len()..];
                let begins = text[..at].ends_with([':', '+', ',']);
                let Some(open) = rest.chars().next().filter(|_| begins) else { continue };
                if open.is_ascii_alphanumeric() || matches!(open, '-' | ',' | '+') {
                    continue;
                }
                let close = match open {
                    '(' => ')',
                    '[' => ']',
                    '{' => '}',
                    '<' => '>',
                    other => other,
                };
                let inside = &rest[open.len_utf8()..];
                let end = if open == ':' { None } else { inside.rfind(close) };
                let command = &inside[..end.unwrap_or(inside.len())];
                self.run_for_each(name, &Word::literal(command));
            }
        }
    }

    /// A command in which `{}` stands for what was chosen.
    fn run_for_each(&mut self, name: &str, command: &Word) {
        let Some(text) = command.exact() else {
            self.find(RUN, name, format!("{name} with a command only known at run time"));
            return;
        };
        let mut script = String::with_capacity(text.len());
        let mut rest = text;
        while let Some(at) = rest.find('{') {
            script.push_str(&rest[..at]);
            let inside = rest[at + 1..].find('}').map(|end| &rest[at + 1..at + 1 + end]);
            let plain = |c: char| c.is_ascii_alphanumeric() || "+*.-".contains(c);
            if let Some(inside) = inside.filter(|inside| inside.chars().all(plain)) {
                script.push_str("\"$CHOSEN\"");
                rest = &rest[at + inside.len() + 2..];
            } else {
                script.push('{');
                rest = &rest[at + 1..];
            }
        }
        script.push_str(rest);
        self.nested(&script, crate::shell::Shell::Posix);
        self.find(READ, name, name);
    }

    /// `fd`: after `-x` and `-X` comes a command for what is found.
    pub(super) fn fd(&mut self, row: &'static Row, name: &str, args: &[Word]) {
        let runs =
            |word: &Word| matches!(word.text.as_str(), "-x" | "--exec" | "-X" | "--exec-batch");
        let Some(at) = args.iter().position(|word| word.literal && runs(word)) else {
            self.plain(row, name, args);
            return;
        };
        self.plain(row, name, &args[..at]);
        let mut command: Vec<Word> =
            args[at + 1..].iter().take_while(|word| word.text != ";").cloned().collect();
        let mut placed = false;
        for word in &mut command {
            if word.text.contains('{') {
                placed = true;
                let text = std::mem::take(&mut word.text);
                *word = Word::from_input(&text);
                word.may_be_option = false;
                word.may_split = false;
            }
        }
        if !placed {
            // What it finds begins with `./` or with the path it was given.
            let mut found = Word::from_input("{}");
            found.may_be_option = false;
            command.push(found);
        }
        if args.get(at + 1).is_none() {
            self.find(UNKNOWN, name, format!("{name} --exec"));
        } else {
            self.judge(&command, &[format!("{name} --exec")]);
        }
    }
}
