//! How bad a command can be, and how verdicts combine.
//!
//! The three grades `read_only < mutate < dangerous` are certain; `unknown` says that the text does
//! not tell. A whole is as bad as its worst part, and for that maximum `unknown` stands between
//! `mutate` and `dangerous`: not knowing is worse than a change that is understood, and a danger that
//! is certain is never hidden by a part that is not.

use serde::{Deserialize, Serialize};

/// The verdict on a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Risk {
    /// Changes nothing outside the process: it looks, computes and prints.
    ReadOnly,
    /// Changes something in the everyday way: files, the repository, installed packages.
    Mutate,
    /// The text does not say what would happen.
    Unknown,
    /// Loses work or data, takes privilege, reads secrets, or reaches beyond the machine for good.
    Dangerous,
}

impl Risk {
    /// The verdict on two things that both happen.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        self.max(other)
    }

    /// The name used in files and messages.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::ReadOnly => "read_only",
            Self::Mutate => "mutate",
            Self::Unknown => "unknown",
            Self::Dangerous => "dangerous",
        }
    }
}

impl std::fmt::Display for Risk {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::Risk;

    #[test]
    fn danger_beats_not_knowing_and_not_knowing_beats_change() {
        assert_eq!(Risk::Dangerous.and(Risk::Unknown), Risk::Dangerous);
        assert_eq!(Risk::Unknown.and(Risk::Mutate), Risk::Unknown);
        assert_eq!(Risk::Mutate.and(Risk::ReadOnly), Risk::Mutate);
    }
}
