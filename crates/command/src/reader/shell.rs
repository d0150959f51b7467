//! Shells run as programs: `bash -c TEXT`, `sh FILE`, `… | sh`.

use crate::effect::{Does, Kind, READ};
use crate::judge::{MAX_WRAPPERS, is_process};
use crate::risk::Risk;
use crate::shell::Shell;
use crate::walk::{Input, Walk};
use crate::word::Word;

/// What the options of a shell say.
#[derive(Default)]
struct Invocation<'a> {
    text: bool,
    checks_only: bool,
    reads_input: bool,
    operands: &'a [Word],
}

impl Walk {
    /// Judges a shell that is run as a program.
    pub(crate) fn shell_program(
        &mut self,
        name: &str,
        shell: Shell,
        argv: &[Word],
        via: &[String],
    ) {
        if argv.len() == 2 && matches!(argv[1].exact(), Some("--version" | "--help")) {
            self.find(READ, name, format!("{name} {}", argv[1].text));
            return;
        }
        if via.len() >= MAX_WRAPPERS {
            self.inexact("wrapped too deeply");
        }
        let Some(call) = invocation(&argv[1..]) else {
            self.foreign(name, format!("{name} with unusual options"));
            return;
        };
        // Letters mean other things to other shells; only `-c TEXT` is shared.
        let shared = argv.get(1).is_some_and(|word| word.text == "-c") && argv.len() == 3;
        if !shell.is_posix_like() && !shared {
            self.foreign(name, format!("{name} with unusual options"));
            return;
        }
        match call.operands.first() {
            Some(script) if call.text => self.text_of(name, script, shell),
            Some(_) if call.checks_only => self.find(READ, name, format!("{name} -n")),
            Some(file) if !call.reads_input => self.script_file(name, file),
            None if call.text => self.find(READ, name, name),
            _ => self.script_from_input(name, shell),
        }
    }

    fn script_file(&mut self, name: &str, file: &Word) {
        let what = format!("{name} {}", file.text);
        if is_process(file)
            || !file.literal
            || file.text.starts_with("/dev/")
            || file.text.starts_with("/proc/")
        {
            self.foreign(name, what);
        } else {
            self.find(crate::effect::RUN, name, what);
            let shell = Shell::named(name).unwrap_or_default();
            let file = file.text.clone();
            self.run_file(&file, shell);
        }
    }

    /// A file is run as a script: what is in it, where that is known, can only make it worse.
    pub(crate) fn run_file(&mut self, file: &str, shell: Shell) {
        let resolved = self.directory.resolve(file);
        for name in [Some(file), resolved.as_deref()].into_iter().flatten() {
            if !self.scripts.iter().any(|one| one == name) {
                self.scripts.push(name.to_owned());
            }
        }
        let from_there = resolved.as_deref().and_then(|name| self.files.get(name));
        let text = from_there.or_else(|| self.files.get(file));
        if let Some(text) = text.map(str::to_owned)
            && !self.probing
            && self.depth < crate::lexer::MAX_DEPTH / 2
        {
            self.nested(&text, shell);
            crate::scan::dangers(self, &text);
        }
    }

    /// The shell runs what it finds on its standard input.
    pub(crate) fn script_from_input(&mut self, name: &str, shell: Shell) {
        self.runs_input = true;
        match self.take_input() {
            Input::Text(script) | Input::Likely(script) => {
                // The text is what echo prints, give or take its escapes: good for a warning only.
                self.foreign(name, format!("… | {name}"));
                self.nested(&script, shell);
            }
            Input::Decoded => {
                let does = Does {
                    kind: Kind::Execute,
                    risk: Risk::Dangerous,
                    direction: None,
                    phrase: "runs code that was hidden by an encoding",
                };
                self.find(does, name, format!("… | {name}"));
            }
            Input::Inherited | Input::Other => self.foreign(name, format!("… | {name}")),
        }
    }
}

/// Takes the options of a shell off; `None` when one of them is not known.
fn invocation(args: &[Word]) -> Option<Invocation<'_>> {
    let mut call = Invocation::default();
    let mut at = 0;
    while let Some(word) = args.get(at) {
        let text = word.text.as_str();
        if !word.literal {
            if word.may_be_option && !call.text {
                return None;
            }
            break;
        }
        match text {
            "--" | "-" => {
                at += 1;
                break;
            }
            "-o" | "+o" | "-O" | "+O" => {
                args.get(at + 1)?.exact()?;
                at += 2;
            }
            "--login" | "--noprofile" | "--norc" | "--posix" | "--restricted" => at += 1,
            _ if text.starts_with("--") => return None,
            _ if text.starts_with(['-', '+']) && text.len() > 1 => {
                for letter in text[1..].chars() {
                    match letter {
                        'c' => call.text = true,
                        // `+n` switches it off.
                        'n' => call.checks_only = text.starts_with('-'),
                        's' => call.reads_input = true,
                        'e' | 'u' | 'x' | 'l' | 'i' | 'v' | 'f' | 'p' | 'm' | 'h' | 'b' | 'a'
                        | 'E' | 'B' | 'T' => {}
                        'o' | 'O' => at += 1,
                        _ => return None,
                    }
                }
                at += 1;
            }
            _ => break,
        }
    }
    call.operands = args.get(at..).unwrap_or(&[]);
    Some(call)
}
