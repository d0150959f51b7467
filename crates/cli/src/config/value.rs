//! What settings hold: read from TOML, from the text of a variable or an argument, and written.

use std::fmt;
use std::path::Path;
use std::str::FromStr;

use toml_edit::{Array, Item};
use umbo_engine::Shell;
use umbo_engine::sandbox::Profile;
use umbo_gate::Mode;
use umbo_ops::SandboxArgument;
use umbo_tools::{SettingKind, SettingValue};

use crate::time::{parse_bytes, parse_duration};

/// What a setting takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Flag,
    /// A number from 1 up.
    Count,
    /// A number from 0 up.
    Number,
    /// Bytes.
    Size,
    /// A span of time.
    Span,
    /// One of a few words.
    Choice(&'static [&'static str]),
    /// A mode of the gate.
    Mode,
    /// Where an environment begins.
    Inherit,
    /// The name of a dialect.
    Dialect,
    /// A shell.
    Shell,
    /// Any program that reads lines as a shell does.
    Program,
    /// An absolute path.
    Path,
    /// Some text.
    Text,
    /// Texts.
    Texts,
    /// Patterns of variables' names.
    Patterns,
    /// Variables with their values.
    Variables,
    /// The name of a sandbox's profile.
    Profile,
    /// Profiles with what they extend and allow, each as JSON.
    Profiles,
}

/// A value.
#[derive(Clone, PartialEq, Eq)]
pub(crate) enum Value {
    Flag(bool),
    Number(u64),
    Text(String),
    List(Vec<String>),
    Variables(Vec<(String, String)>),
}

impl fmt::Debug for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Flag(flag) => flag.fmt(f),
            Self::Number(number) => number.fmt(f),
            Self::Text(text) => text.fmt(f),
            Self::List(list) => list.fmt(f),
            // Values may be secrets; names are not.
            Self::Variables(pairs) => f.debug_set().entries(pairs.iter().map(|p| &p.0)).finish(),
        }
    }
}

/// Where an environment begins, the strictest last.
const INHERIT: [&str; 3] = ["all", "core", "none"];

impl From<SettingKind> for Kind {
    fn from(kind: SettingKind) -> Self {
        match kind {
            SettingKind::Flag => Self::Flag,
            SettingKind::Count => Self::Count,
            SettingKind::Number => Self::Number,
            SettingKind::Choice(words) => Self::Choice(words),
            SettingKind::Program => Self::Program,
            SettingKind::Path => Self::Path,
            SettingKind::List => Self::Texts,
            // What is not known here is read as it stands; the dialect says what is wrong with it.
            _ => Self::Text,
        }
    }
}

impl Kind {
    /// What it takes, for who gave something else.
    pub(crate) fn accepted(self) -> String {
        match self {
            Self::Flag => "true or false".into(),
            Self::Count => "a whole number from 1 up".into(),
            Self::Number => "a whole number from 0 up".into(),
            Self::Size => "bytes from 1 up, or a size as \"64k\", \"10M\" or \"4G\"".into(),
            Self::Span => "a time as \"12h\" or \"30d\"".into(),
            Self::Shell => {
                "\"sh\", \"bash\", \"zsh\", \"fish\", \"nu\", \"nu|sh\" or a path".into()
            }
            Self::Program => "the name of a shell, as \"nu\" or \"bash\", or a path".into(),
            Self::Path => "an absolute path".into(),
            Self::Patterns => "a list of names with * and ?, as [\"AWS_*\"]".into(),
            Self::Variables => "a table of texts, as { CI = \"1\" }".into(),
            Self::Profile => {
                "\"off\", \"read-only\", \"workspace\", \"workspace+net\", or one of sandbox.profiles".into()
            }
            Self::Profiles => {
                "a table of profiles, as { build = { profile = \"workspace+net\", allow_host = [\"a.example\"] } }"
                    .into()
            }
            Self::Text => "a text".into(),
            Self::Texts => "a list of texts, as [\"read\", \"search\"]".into(),
            Self::Mode | Self::Inherit | Self::Dialect | Self::Choice(_) => {
                let words: Vec<String> =
                    self.choices().iter().map(|word| format!("{word:?}")).collect();
                words.join(", ")
            }
        }
    }

    /// The words it has to be one of; none if it is not about words.
    pub(crate) fn choices(self) -> Vec<&'static str> {
        match self {
            Self::Flag => vec!["true", "false"],
            Self::Mode => Mode::ALL.map(Mode::as_str).to_vec(),
            Self::Inherit => INHERIT.to_vec(),
            Self::Choice(words) => words.to_vec(),
            Self::Dialect => umbo_tools::dialects(),
            Self::Profile => Profile::ALL.map(Profile::name).to_vec(),
            Self::Shell | Self::Program => vec!["sh", "bash", "zsh", "fish", "nu"],
            _ => Vec::new(),
        }
    }

    /// The value in a file.
    pub(crate) fn read_toml(self, item: &Item) -> Option<Value> {
        match self {
            Self::Flag => item.as_bool().map(Value::Flag),
            Self::Count | Self::Number | Self::Size | Self::Span if item.is_integer() => {
                let number = u64::try_from(item.as_integer()?).ok()?;
                self.read_text(&number.to_string())
            }
            Self::Count | Self::Number => None,
            Self::Patterns | Self::Texts => {
                let texts: Option<Vec<String>> =
                    item.as_array()?.iter().map(|text| text.as_str().map(str::to_owned)).collect();
                let fits = |text: &String| self == Self::Texts || is_name(text);
                texts.filter(|texts| texts.iter().all(fits)).map(Value::List)
            }
            Self::Variables => {
                let pairs: Option<Vec<(String, String)>> = item
                    .as_table_like()?
                    .iter()
                    .map(|(name, value)| Some((name.to_owned(), value.as_str()?.to_owned())))
                    .collect();
                let fits =
                    |(name, value): &(String, String)| is_name(name) && !value.contains('\0');
                pairs.filter(|pairs| pairs.iter().all(fits)).map(Value::Variables)
            }
            Self::Profiles => {
                let profiles = item.as_table_like()?.iter();
                let read = |(name, item): (&str, &Item)| {
                    let text = read_profile(item)?;
                    is_profile(name).then(|| (name.to_owned(), text))
                };
                profiles.map(read).collect::<Option<_>>().map(Value::Variables)
            }
            _ => self.read_text(item.as_str()?),
        }
    }

    /// The value in a variable or an argument.
    pub(crate) fn read_text(self, text: &str) -> Option<Value> {
        let number = |number: Option<u64>| number.filter(|number| *number > 0).map(Value::Number);
        let word = |fits: bool| fits.then(|| Value::Text(text.to_owned()));
        match self {
            Self::Flag => match text {
                "true" | "1" => Some(Value::Flag(true)),
                "false" | "0" => Some(Value::Flag(false)),
                _ => None,
            },
            Self::Count => number(text.parse().ok()),
            Self::Number => text.parse().ok().map(Value::Number),
            Self::Size => number(parse_bytes(text).ok()),
            Self::Span => word(parse_duration(text).is_ok()),
            Self::Mode => Some(Value::Text(Mode::from_str(text).ok()?.to_string())),
            Self::Inherit => word(INHERIT.contains(&text)),
            Self::Choice(words) => word(words.contains(&text)),
            Self::Text => word(true),
            Self::Dialect => word(umbo_tools::dialects().contains(&text)),
            Self::Shell => word(Shell::parse(text).is_ok()),
            // Whether there is one is found out when it is wanted.
            Self::Program => word(is_program(text)),
            Self::Path => word(Path::new(text).is_absolute()),
            // A list as a file has it is one here too.
            Self::Patterns | Self::Texts if text.trim_start().starts_with('[') => {
                let list: toml_edit::Value = text.trim().parse().ok()?;
                self.read_toml(&Item::Value(list))
            }
            Self::Texts => {
                let items = text.split(',').map(str::trim).filter(|item| !item.is_empty());
                Some(Value::List(items.map(str::to_owned).collect()))
            }
            Self::Patterns => {
                let names = text.split(',').map(str::trim).filter(|name| !name.is_empty());
                let names: Vec<String> = names.map(str::to_owned).collect();
                names.iter().all(|name| is_name(name)).then_some(Value::List(names))
            }
            Self::Profile => word(is_profile(text)),
            Self::Variables | Self::Profiles => {
                text.is_empty().then(|| Value::Variables(Vec::new()))
            }
        }
    }

    /// How strict a choice is.
    pub(crate) fn strictness(self, value: &Value) -> usize {
        let Value::Text(text) = value else { return 0 };
        match self {
            Self::Inherit => INHERIT.iter().position(|word| word == text).unwrap_or(0),
            Self::Profile => match text.parse::<Profile>() {
                Ok(Profile::Off) => 0,
                Ok(Profile::WorkspaceNet) => 1,
                Ok(Profile::Workspace) => 2,
                Ok(Profile::ReadOnly) => 3,
                // Nobody knows how strict it is: what would replace it may not be stricter.
                Err(_) => 4,
            },
            Self::Mode => match Mode::from_str(text) {
                Ok(Mode::Open) | Err(_) => 0,
                Ok(Mode::Guard) => 1,
                // What it lets run it contains.
                Ok(Mode::Auto) => 2,
                Ok(Mode::AcceptEdits) => 3,
                Ok(Mode::Default) => 4,
            },
            _ => 0,
        }
    }

    /// A value as a file has it.
    pub(crate) fn to_toml(self, value: &Value) -> toml_edit::Value {
        match value {
            Value::Flag(flag) => (*flag).into(),
            Value::Number(bytes) if self == Self::Size => show_size(*bytes).into(),
            Value::Number(number) => i64::try_from(*number).unwrap_or(i64::MAX).into(),
            Value::Text(text) => text.as_str().into(),
            Value::List(list) => list.iter().map(String::as_str).collect::<Array>().into(),
            Value::Variables(pairs) => pairs
                .iter()
                .map(|(name, value)| (name.as_str(), value.as_str()))
                .collect::<toml_edit::InlineTable>()
                .into(),
        }
    }
}

impl Value {
    /// The value as a dialect takes it; a table of variables is none.
    pub(crate) fn to_setting(&self) -> Option<SettingValue> {
        match self {
            Self::Flag(flag) => Some((*flag).into()),
            Self::Number(number) => Some((*number).into()),
            Self::Text(text) => Some(text.as_str().into()),
            Self::List(list) => Some(list.clone().into()),
            Self::Variables(_) => None,
        }
    }

    /// The value for programs.
    pub(crate) fn to_json(&self) -> serde_json::Value {
        match self {
            Self::Flag(flag) => (*flag).into(),
            Self::Number(number) => (*number).into(),
            Self::Text(text) => text.as_str().into(),
            Self::List(list) => list.as_slice().into(),
            Self::Variables(pairs) => {
                pairs.iter().map(|(name, value)| (name.clone(), value.clone())).collect()
            }
        }
    }
}

/// A profile as JSON: the name of another, or a table with that and with what is allowed besides.
fn read_profile(item: &Item) -> Option<String> {
    let json: serde_json::Value = if let Some(table) = item.as_table_like() {
        let field = |(name, item): (&str, &Item)| {
            let value = match item.as_array() {
                Some(list) => {
                    list.iter().map(toml_edit::Value::as_str).collect::<Option<Vec<_>>>()?.into()
                }
                None => serde_json::Value::from(item.as_str()?),
            };
            Some((name.to_owned(), value))
        };
        table.iter().map(field).collect::<Option<serde_json::Map<_, _>>>()?.into()
    } else {
        let text = item.as_str()?;
        serde_json::from_str(text).unwrap_or_else(|_| text.into())
    };
    SandboxArgument(json.clone()).words().ok()?;
    Some(json.to_string())
}

/// Whether a profile can be called so.
fn is_profile(text: &str) -> bool {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "+-_".contains(c);
    !text.is_empty() && text.chars().all(is_plain)
}

/// Whether a variable can be called so.
pub(crate) fn is_name(text: &str) -> bool {
    !text.is_empty() && !text.contains(['=', '\0', ','])
}

/// Bytes in the largest unit that needs no fraction.
fn show_size(bytes: u64) -> String {
    let units = [("G", 1 << 30), ("M", 1 << 20), ("k", 1 << 10)];
    let fitting = units.iter().find(|(_, unit)| bytes.is_multiple_of(*unit));
    fitting.map_or_else(|| bytes.to_string(), |(name, unit)| format!("{}{name}", bytes / unit))
}

/// Whether it can be the name of a program, or its path.
fn is_program(text: &str) -> bool {
    text.contains('/') || !text.is_empty() && !text.contains(char::is_whitespace)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn toml(kind: Kind, text: &str) -> Option<Value> {
        let document = toml_edit::Document::parse(format!("x = {text}")).unwrap();
        kind.read_toml(document.get("x").unwrap())
    }

    #[test]
    fn a_value_is_of_its_kind_or_none() {
        assert_eq!(toml(Kind::Flag, "true"), Some(Value::Flag(true)));
        for (kind, wrong) in [
            (Kind::Flag, "\"true\""),
            (Kind::Flag, "1"),
            (Kind::Count, "0"),
            (Kind::Count, "-1"),
            (Kind::Count, "1.5"),
            (Kind::Count, "\"10\""),
            (Kind::Size, "\"lots\""),
            (Kind::Span, "true"),
            (Kind::Choice(&["5s", "1m"]), "\"7s\""),
            (Kind::Mode, "\"gard\""),
            (Kind::Shell, "\"cmd.exe\""),
            (Kind::Program, "\"\""),
            (Kind::Program, "\"bash -c\""),
            (Kind::Path, "\"bin/nu\""),
            (Kind::Patterns, "\"AWS_*\""),
            (Kind::Patterns, "[1]"),
            (Kind::Patterns, "[\"A=B\"]"),
            (Kind::Variables, "{ A = 1 }"),
            (Kind::Variables, "[]"),
        ] {
            assert_eq!(toml(kind, wrong), None, "{kind:?} {wrong}");
        }
        for name in ["dash", "nu|sh", "/opt/my shells/nu"] {
            assert_eq!(toml(Kind::Program, &format!("{name:?}")), Some(Value::Text(name.into())));
        }
        assert_eq!(toml(Kind::Size, "\"64k\""), Some(Value::Number(65_536)));
        assert_eq!(toml(Kind::Size, "100"), Some(Value::Number(100)));
        assert_eq!(toml(Kind::Mode, "\"accept-edits\""), Some(Value::Text("accept_edits".into())));
    }

    #[test]
    fn what_is_written_is_read_as_the_same() {
        for (kind, text) in [
            (Kind::Flag, "1"),
            (Kind::Count, "7"),
            (Kind::Size, "1536"),
            (Kind::Size, "4G"),
            (Kind::Span, "30d"),
            (Kind::Patterns, "A_*, B?"),
            (Kind::Patterns, ""),
            (Kind::Patterns, "[]"),
            (Kind::Patterns, " ['A_*', \"B?\"] "),
            (Kind::Path, "/a \"b\"\\c"),
        ] {
            let value = kind.read_text(text).unwrap();
            let written = kind.to_toml(&value).to_string();
            assert_eq!(toml(kind, &written), Some(value), "{written}");
        }
        assert_eq!(Kind::Size.to_toml(&Value::Number(1536)).as_str(), Some("1536"));
    }

    #[test]
    fn secrets_do_not_reach_debug() {
        let value = Value::Variables(vec![("TOKEN".into(), "hunter2".into())]);
        assert_eq!(format!("{value:?}"), "{\"TOKEN\"}");
    }
}
