//! What a wrapper runs: `sudo`, `xargs`, `eval`, `ssh` and the others of [`crate::wrapper`].

use crate::argv;
use crate::effect::{READ, RUN, UNKNOWN};
use crate::judge::MAX_WRAPPERS;
use crate::path;
use crate::risk::Risk;
use crate::scan;
use crate::scope::Value;
use crate::shell::Shell;
use crate::walk::Walk;
use crate::word::Word;
use crate::wrapper::{self, Wrapper};

impl Walk {
    /// Unwraps one wrapper and judges what it runs.
    pub(crate) fn wrapped(
        &mut self,
        name: &str,
        wrapper: &'static Wrapper,
        args: &[Word],
        via: &[String],
    ) {
        if !self.charge(32) {
            return;
        }
        if let Some(words) = split_string(name, args) {
            self.wrapped(name, wrapper, &words, via);
            return;
        }
        let mut via = via.to_vec();
        via.push(name.to_owned());
        let inside = match argv::unwrap(wrapper, args) {
            Ok(inside) => inside,
            Err(option) => {
                self.find(wrapper.does, name, name);
                self.find(UNKNOWN, name, format!("{name} {option}"));
                if let Some(finding) = self.found.last_mut() {
                    finding.foreign = true;
                }
                return;
            }
        };
        if inside.harmless {
            self.find(READ, name, format!("{name} --version"));
            return;
        }
        let place = inside.skipped.first().and_then(|word| word.exact());
        let nowhere = name == "script" && place.is_some_and(path::is_harmless_device);
        if !(name == "exec" || wrapper.does == READ || nowhere) || inside.nothing {
            self.find_at(wrapper.does, name, name, place.map(str::to_owned));
        }
        for (variable, value) in inside.assignments.iter().chain(&inside.variables()) {
            let known = value.as_deref().map_or(Value::Any, Value::literal);
            self.assign(variable, known, value.as_deref());
        }
        if name.ends_with("ssh") && inside.value_of(&["-R", "-D", "-w"]).is_some() {
            self.find(crate::effect::LISTEN, name, format!("{name} with a tunnel"));
        }
        if inside.nothing {
            return;
        }
        match wrapper.inner {
            // What a container runs when nothing is said is its own matter.
            wrapper::Inner::Argv if inside.rest.is_empty() && starts_shell(wrapper) => {
                self.find(RUN, name, name);
            }
            wrapper::Inner::Argv if inside.rest.is_empty() => self.find(READ, name, name),
            wrapper::Inner::Argv => {
                let before = self.found.len();
                let there = match name {
                    "env" => inside.value_of(&["-C", "--chdir"]),
                    "sudo" => inside.value_of(&["-D", "--chdir"]),
                    _ => None,
                };
                self.elsewhere(there, |walk| walk.judge(inside.rest, &via));
                // A package of that name is not the program that the tables know.
                if fetches_packages(name)
                    && self.found[before..].iter().all(|it| it.does.risk == Risk::ReadOnly)
                    && inside.rest.first().and_then(Word::exact).is_none_or(|name| {
                        crate::table::find(name).is_none_or(|row| row.does.risk == Risk::ReadOnly)
                    })
                {
                    self.find(RUN, name, format!("{name} {}", inside.rest[0].text));
                }
            }
            wrapper::Inner::ArgvAndInput => self.xargs(name, &inside, &via),
            wrapper::Inner::Text => self.shell_text(name, inside.rest, &via),
            wrapper::Inner::DashC => self.dash_c(name, inside.rest, &via),
        }
    }

    /// `xargs`: the command gets arguments we do not see.
    fn xargs(&mut self, name: &str, inside: &argv::Inside<'_>, via: &[String]) {
        if inside.rest.is_empty() {
            self.find(READ, name, name);
            return;
        }
        let mut argv = inside.rest.to_vec();
        match inside.value_of(&["-I", "-J", "--replace"]) {
            Some(mark) => {
                for word in &mut argv {
                    if word.text.contains(mark) && !mark.is_empty() {
                        // `./{}` cannot begin with a dash, `{}` can.
                        let leads = word.text.starts_with(mark);
                        let text = std::mem::take(&mut word.text);
                        *word = Word::from_input(&text);
                        word.may_be_option = leads;
                    }
                }
            }
            None => argv.push(Word::from_input("…")),
        }
        self.judge(&argv, via);
    }

    /// Arguments that are joined to shell text: `eval`, `watch`, `ssh`, `parallel`.
    fn shell_text(&mut self, name: &str, rest: &[Word], via: &[String]) {
        if rest.is_empty() {
            if name != "eval" {
                self.find(RUN, name, name);
            }
            return;
        }
        let exact: Option<Vec<&str>> = rest.iter().map(Word::exact).collect();
        let likely: Vec<&str> = rest.iter().map(Word::likely).collect();
        let script = exact.as_ref().map_or_else(|| likely.join(" "), |words| words.join(" "));
        if exact.is_none() {
            self.foreign(name, format!("{name} of text only known at run time"));
        }
        if name == "parallel" {
            self.find(UNKNOWN, name, "parallel adds arguments to the text");
        }
        if via.len() > MAX_WRAPPERS {
            self.inexact("wrapped too deeply");
        } else if name == "eval" {
            self.depth += 1;
            self.script(&script);
            self.depth -= 1;
        } else {
            self.nested(&script, Shell::Posix);
        }
    }

    /// `su -c TEXT`.
    fn dash_c(&mut self, name: &str, rest: &[Word], _via: &[String]) {
        let at = rest.iter().position(|word| word.text == "-c" || word.text == "--command");
        match at.and_then(|at| rest.get(at + 1)) {
            Some(script) => self.text_of(name, script, Shell::Bash),
            None => self.find(RUN, name, name),
        }
    }

    /// A word that is the text of a script.
    pub(crate) fn text_of(&mut self, name: &str, script: &Word, shell: Shell) {
        if !script.literal {
            self.foreign(name, format!("{name} -c with text only known at run time"));
        }
        if script.literal || script.guess.is_some() {
            let text = script.likely().to_owned();
            self.nested(&text, shell);
        } else {
            // What surrounds an unknown part may be dangerous already.
            let text = script.text.clone();
            scan::dangers(self, &text);
        }
    }

    /// Code that comes from somewhere else is run.
    pub(crate) fn foreign(&mut self, name: &str, what: impl Into<String>) {
        self.find(RUN, name, what);
        if let Some(finding) = self.found.last_mut() {
            finding.foreign = true;
        }
    }
}

/// Whether the wrapper runs a shell, or what a container has for it, where nothing is said.
fn starts_shell(wrapper: &Wrapper) -> bool {
    wrapper.names.contains(" exec") || wrapper.names == "script"
}

/// Programs that `rtk` runs; its other sub-commands are its own.
const SHORTENED: &str = "git gh ls tree grep rg find diff wc cat head tail ps df du docker kubectl curl pip uv npm pnpm cargo go pytest ruff tsc mypy eslint prettier";

/// `env -S TEXT`: the words of the text take its place. Only where blanks are all that divides them.
fn split_string(name: &str, args: &[Word]) -> Option<Vec<Word>> {
    let (first, rest) = args.split_first().filter(|_| name == "env")?;
    let option = first.exact()?;
    let (text, rest) = match option.strip_prefix("--split-string=").or(option.strip_prefix("-S")) {
        Some("") => (rest.first()?.exact()?, &rest[1..]),
        Some(text) => (text, rest),
        None => return None,
    };
    let plain = |c: char| c.is_ascii_alphanumeric() || " _./=,:+-".contains(c);
    let words = text.split(' ').filter(|word| !word.is_empty()).map(Word::literal);
    text.chars().all(plain).then(|| words.chain(rest.iter().cloned()).collect())
}

/// Whether the wrapper runs what it finds in a registry.
fn fetches_packages(wrapper: &str) -> bool {
    matches!(
        wrapper,
        "npx"
            | "npm exec"
            | "npm x"
            | "pnpm exec"
            | "pnpm dlx"
            | "yarn exec"
            | "yarn dlx"
            | "bunx"
            | "bun x"
            | "uvx"
            | "uv tool run"
    )
}

/// The wrapper at the head of a command, and what follows its name.
pub(crate) fn find_wrapper<'a>(
    name: &str,
    argv: &'a [Word],
) -> Option<(&'static Wrapper, &'a [Word])> {
    let two = argv.get(1).and_then(Word::exact).map(|sub| format!("{name} {sub}"));
    if let Some(found) = two.as_deref().and_then(wrapper::find) {
        return Some((found, &argv[2..]));
    }
    let sub = argv.get(1).and_then(Word::exact);
    if name == "rtk" && !sub.is_some_and(|sub| SHORTENED.split(' ').any(|one| one == sub)) {
        return None;
    }
    wrapper::find(name).map(|found| (found, &argv[1..]))
}
