//! Settings of dialects, as data: a dialect declares in its folder which there are, what they take,
//! what holds if nobody says anything, and what tightens them. Whoever reads a configuration reads
//! it by these declarations, and hands the values over by their keys.

use std::collections::BTreeMap;

use crate::schema::nearest;

/// One setting of a dialect.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Setting {
    /// Its place in a configuration, with dots between: `tools.omp.async.enabled`.
    pub key: &'static str,
    /// What it takes.
    pub kind: SettingKind,
    /// What holds if nobody says anything.
    pub default: SettingDefault,
    /// What a project that nobody trusts may say.
    pub tightens: Tightens,
    /// What it means, in a line.
    pub doc: &'static str,
}

/// What a setting takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum SettingKind {
    /// True or false.
    Flag,
    /// A whole number from 1 up.
    Count,
    /// A whole number from 0 up.
    Number,
    /// One of these words.
    Choice(&'static [&'static str]),
    /// A program that reads lines as a shell does: a name or a path.
    Program,
    /// An absolute path.
    Path,
    /// Some text.
    Text,
    /// A list of texts.
    List,
}

/// What holds if nobody says anything.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SettingDefault {
    /// Nothing.
    Nothing,
    /// This, as a variable would say it.
    Text(&'static str),
    /// What holds for another setting of the configuration; without one, this text.
    As(&'static str, &'static str),
}

/// What a project that nobody trusts may say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tightens {
    /// Nothing at all: no value is stricter than another.
    Nothing,
    /// A lower number.
    Lower,
    /// This one of the two.
    Only(bool),
    /// A choice that leaves less.
    Stricter,
    /// More of them, beside those that are there.
    More,
}

/// The value of a setting.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum SettingValue {
    /// True or false.
    Flag(bool),
    /// A number.
    Number(u64),
    /// A word, a path or a text.
    Text(String),
    /// A list of texts.
    List(Vec<String>),
}

impl std::fmt::Display for SettingValue {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Flag(flag) => write!(f, "{flag}"),
            Self::Number(number) => write!(f, "{number}"),
            Self::Text(text) => write!(f, "{text:?}"),
            Self::List(list) => write!(f, "{list:?}"),
        }
    }
}

impl From<bool> for SettingValue {
    fn from(flag: bool) -> Self {
        Self::Flag(flag)
    }
}

impl From<u64> for SettingValue {
    fn from(number: u64) -> Self {
        Self::Number(number)
    }
}

impl From<&str> for SettingValue {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<String> for SettingValue {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<Vec<String>> for SettingValue {
    fn from(list: Vec<String>) -> Self {
        Self::List(list)
    }
}

/// Why a setting does not count.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SettingError {
    /// No dialect has it.
    #[error("no dialect has the setting {key:?}{}", umbo_text::did_you_mean(.nearest))]
    Unknown {
        /// The key that was given.
        key: String,
        /// The one that was probably meant.
        nearest: Option<String>,
    },
    /// Its value is of another kind.
    #[error("{key}: {given} was given; accepted: {accepted}")]
    Wrong {
        /// The setting.
        key: &'static str,
        /// What was given.
        given: String,
        /// What is accepted.
        accepted: String,
    },
}

impl SettingKind {
    /// The value of a text that says it.
    pub fn read(self, text: &str) -> Option<SettingValue> {
        match self {
            Self::Flag => match text {
                "true" | "1" => Some(SettingValue::Flag(true)),
                "false" | "0" => Some(SettingValue::Flag(false)),
                _ => None,
            },
            Self::Count => text.parse().ok().filter(|number| *number > 0).map(SettingValue::Number),
            Self::Number => text.parse().ok().map(SettingValue::Number),
            Self::List => {
                let items = text.split(',').map(str::trim).filter(|item| !item.is_empty());
                Some(SettingValue::List(items.map(str::to_owned).collect()))
            }
            _ => Some(SettingValue::from(text)).filter(|value| self.fits(value)),
        }
    }

    /// What it takes, in words.
    pub fn accepted(self) -> String {
        match self {
            Self::Flag => "true or false".to_owned(),
            Self::Count => "a whole number from 1 up".to_owned(),
            Self::Number => "a whole number from 0 up".to_owned(),
            Self::Choice(words) => {
                words.iter().map(|word| format!("{word:?}")).collect::<Vec<_>>().join(", ")
            }
            Self::Program => "the name of a shell, as \"nu\" or \"bash\", or a path".to_owned(),
            Self::Path => "an absolute path".to_owned(),
            Self::Text => "a text".to_owned(),
            Self::List => "a list of texts".to_owned(),
        }
    }

    /// Whether a value is of this kind.
    pub fn fits(self, value: &SettingValue) -> bool {
        match (self, value) {
            (Self::Flag, SettingValue::Flag(_))
            | (Self::List, SettingValue::List(_))
            | (Self::Number, SettingValue::Number(_))
            | (Self::Text, SettingValue::Text(_)) => true,
            (Self::Count, SettingValue::Number(number)) => *number > 0,
            (Self::Choice(words), SettingValue::Text(text)) => words.contains(&text.as_str()),
            (Self::Program, SettingValue::Text(text)) => {
                text.contains('/') || !text.is_empty() && !text.contains(char::is_whitespace)
            }
            (Self::Path, SettingValue::Text(text)) => std::path::Path::new(text).is_absolute(),
            _ => false,
        }
    }
}

/// The values of settings: what was said, and for the rest what holds by default.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Settings {
    said: BTreeMap<&'static str, SettingValue>,
    defaults: BTreeMap<&'static str, SettingValue>,
}

impl Settings {
    /// What holds of these settings if nobody says anything.
    pub fn of(declared: &[Setting]) -> Self {
        let default = |setting: &Setting| {
            let (SettingDefault::Text(text) | SettingDefault::As(_, text)) = setting.default else {
                return None;
            };
            Some((setting.key, setting.kind.read(text)?))
        };
        Self { said: BTreeMap::new(), defaults: declared.iter().filter_map(default).collect() }
    }

    /// With a value that somebody gave. It must be one of `declared`.
    pub fn set(
        &mut self,
        declared: &[Setting],
        key: &str,
        value: SettingValue,
    ) -> Result<(), SettingError> {
        let Some(setting) = declared.iter().find(|setting| setting.key == key) else {
            let keys: Vec<&str> = declared.iter().map(|setting| setting.key).collect();
            let nearest = nearest(key, &keys).map(str::to_owned);
            return Err(SettingError::Unknown { key: key.to_owned(), nearest });
        };
        if !setting.kind.fits(&value) {
            let (key, accepted) = (setting.key, setting.kind.accepted());
            return Err(SettingError::Wrong { key, given: value.to_string(), accepted });
        }
        self.said.insert(setting.key, value);
        Ok(())
    }

    /// Whether somebody gave a value to it.
    pub fn is_said(&self, key: &str) -> bool {
        self.said.contains_key(key)
    }

    /// The value that holds.
    pub fn get(&self, key: &str) -> Option<&SettingValue> {
        self.said.get(key).or_else(|| self.defaults.get(key))
    }

    /// A flag; false if it is not set.
    pub fn flag(&self, key: &str) -> bool {
        matches!(self.get(key), Some(SettingValue::Flag(true)))
    }

    /// A number.
    pub fn number(&self, key: &str) -> Option<u64> {
        match self.get(key) {
            Some(SettingValue::Number(number)) => Some(*number),
            _ => None,
        }
    }

    /// A number of things; as many as there can be if it is not set.
    pub fn count(&self, key: &str) -> usize {
        let number = self.number(key).and_then(|number| usize::try_from(number).ok());
        number.unwrap_or(usize::MAX)
    }

    /// A text.
    pub fn text(&self, key: &str) -> Option<&str> {
        match self.get(key) {
            Some(SettingValue::Text(text)) => Some(text),
            _ => None,
        }
    }

    /// A list; empty if it is not set.
    pub fn list(&self, key: &str) -> &[String] {
        match self.get(key) {
            Some(SettingValue::List(list)) => list,
            _ => &[],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DECLARED: [Setting; 3] = [
        Setting {
            key: "tools.x.enabled",
            kind: SettingKind::Flag,
            default: SettingDefault::Text("true"),
            tightens: Tightens::Only(false),
            doc: "whether there is x",
        },
        Setting {
            key: "tools.x.most",
            kind: SettingKind::Count,
            default: SettingDefault::As("max_running", "10"),
            tightens: Tightens::Lower,
            doc: "how many",
        },
        Setting {
            key: "tools.x.wait",
            kind: SettingKind::Choice(&["5s", "1m"]),
            default: SettingDefault::Nothing,
            tightens: Tightens::Nothing,
            doc: "how long",
        },
    ];

    #[test]
    fn what_was_said_counts_and_the_default_otherwise() {
        let mut settings = Settings::of(&DECLARED);
        assert!(settings.flag("tools.x.enabled") && !settings.is_said("tools.x.enabled"));
        assert_eq!((settings.count("tools.x.most"), settings.text("tools.x.wait")), (10, None));
        settings.set(&DECLARED, "tools.x.most", 3.into()).unwrap();
        settings.set(&DECLARED, "tools.x.wait", "1m".into()).unwrap();
        assert_eq!(settings.count("tools.x.most"), 3);
        assert!(settings.is_said("tools.x.wait"));
    }

    #[test]
    fn a_wrong_key_or_value_is_refused_with_the_way_out() {
        let mut settings = Settings::of(&DECLARED);
        let mut wrong = |key, value| settings.set(&DECLARED, key, value).unwrap_err().to_string();
        assert_eq!(
            wrong("tools.x.enabeld", true.into()),
            "no dialect has the setting \"tools.x.enabeld\"; did you mean `tools.x.enabled`?"
        );
        assert_eq!(
            wrong("tools.x.wait", "7s".into()),
            "tools.x.wait: \"7s\" was given; accepted: \"5s\", \"1m\""
        );
        assert!(wrong("tools.x.most", 0.into()).ends_with("accepted: a whole number from 1 up"));
    }
}
