//! Modes: what happens to a command no rule decides.

use serde::{Deserialize, Serialize};
use umbo_command::{Risk, SimpleCommand};

use crate::subject::{Subject, base_name};

/// How much runs without anybody being asked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// All but what only reads asks.
    #[default]
    Default,
    /// As `default`, and `mkdir touch mv cp rmdir ln chmod chown` inside the project run too.
    AcceptEdits,
    /// What only reads runs; what is not dangerous runs too where it is in a sandbox; the rest asks, and
    /// danger is pointed out.
    Auto,
    /// Only what is dangerous asks: for clients that ask for themselves.
    Guard,
    /// Only deny rules hold.
    Open,
}

impl Mode {
    /// All of them.
    pub const ALL: [Self; 5] =
        [Self::Default, Self::AcceptEdits, Self::Auto, Self::Guard, Self::Open];

    /// Its name.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Default => "default",
            Self::AcceptEdits => "accept_edits",
            Self::Auto => "auto",
            Self::Guard => "guard",
            Self::Open => "open",
        }
    }

    /// Why the command runs without asking; or why it has to be asked about.
    pub(crate) fn weigh(self, subject: &Subject<'_>) -> Result<String, String> {
        let risk = subject.risk();
        let why = || match subject.reach() {
            Some(path) => {
                format!("It changes {}, which is outside the project.", path.display())
            }
            None => subject.reading.reason.clone(),
        };
        match self {
            Self::Open => Ok("Mode open: only deny rules hold.".to_owned()),
            _ if risk == Risk::ReadOnly => Ok("It only reads.".to_owned()),
            Self::Guard if risk < Risk::Dangerous => {
                Ok("Mode guard: it is not known to be dangerous.".to_owned())
            }
            Self::AcceptEdits if is_edit(subject) || subject.edits_project_files() => {
                Ok("Mode accept_edits: it changes files of the project in an everyday way."
                    .to_owned())
            }
            Self::Auto if risk < Risk::Dangerous && subject.contained.is_some() => {
                let profile = subject.contained.unwrap_or_default();
                Ok(format!("Mode auto: it runs in the sandbox `{profile}`."))
            }
            Self::Auto if risk == Risk::Dangerous => Err(format!("Dangerous: {}", why())),
            _ => Err(why()),
        }
    }
}

impl std::fmt::Display for Mode {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.as_str())
    }
}

impl std::str::FromStr for Mode {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let dashed = text.replace('-', "_");
        Self::ALL.into_iter().find(|mode| mode.as_str() == dashed).ok_or_else(|| {
            format!("{text:?} is no mode; use default, accept_edits, auto, guard or open")
        })
    }
}

/// Programs after which another one may find a path leading elsewhere than it does now.
const MOVES_PATHS: [&str; 3] = ["mv", "cp", "ln"];

/// Whether a command only changes files of the project with the everyday tools, beyond doubt: all of
/// its words are known, all that could be paths are inside, and no part of it can redirect another.
fn is_edit(subject: &Subject<'_>) -> bool {
    if !subject.reading.exact || !subject.reading.common_fs || subject.risk() != Risk::Mutate {
        return false;
    }
    let changing: Vec<&SimpleCommand> = subject
        .located_effects
        .iter()
        .filter(|located| located.risk > Risk::ReadOnly)
        .flat_map(|located| subject.authors(located.effect))
        .collect();
    let name = |command: &SimpleCommand| {
        command.argv.first().map_or(String::new(), |word| base_name(word.likely()).to_owned())
    };
    let moves = changing.iter().any(|command| MOVES_PATHS.contains(&name(command).as_str()));
    let alone = changing.iter().all(|command| std::ptr::eq(*command, changing[0]));
    // A name with a slash could be another program of the same name.
    let plain = changing.iter().all(|command| !command.argv[0].likely().contains('/'));
    !changing.is_empty()
        && plain
        && (alone || !moves)
        && changing.iter().all(|command| stays_inside(subject, command, name(command) == "ln"))
}

fn stays_inside(subject: &Subject<'_>, command: &SimpleCommand, links: bool) -> bool {
    let Some(words): Option<Vec<&str>> =
        command.argv.iter().skip(1).map(umbo_command::Word::exact).collect()
    else {
        return false;
    };
    let operands: Vec<&str> = words
        .iter()
        .filter_map(|word| match word.strip_prefix("--").and_then(|long| long.split_once('=')) {
            Some((_, value)) => Some(value),
            None if word.starts_with('-') && !word.contains(['/', '~', '.']) => None,
            None => Some(word),
        })
        .collect();
    let inside = |text: &str| {
        !text.starts_with('-')
            && subject.candidates(text).is_some_and(|candidates| {
                candidates.certain
                    && candidates.resolved.iter().all(|path| subject.roots.in_project(path))
            })
    };
    // A copy into a directory goes through a link of its name there.
    let landing = |target: &str, source: &str| {
        let into = format!("{}/{}", target.trim_end_matches('/'), base_name(source));
        inside(&into)
    };
    operands.iter().all(|operand| inside(operand))
        && operands.iter().all(|target| operands.iter().all(|source| landing(target, source)))
        && !(links && operands.iter().any(|operand| operand.contains("..")))
}
