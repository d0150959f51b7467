//! The shells whose text we may be handed.

use serde::{Deserialize, Serialize};

/// The language a command is written in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Shell {
    /// `sh`: only what means the same in dash, busybox and bash is read exactly.
    Posix,
    /// GNU bash.
    #[default]
    Bash,
    /// zsh, read with the bash grammar; what zsh alone gives another meaning is unknown.
    Zsh,
    /// Nushell: a read-only subset.
    Nu,
    /// fish: only plain commands joined by pipes, `;`, `and`, `&&`.
    Fish,
    /// PowerShell: only a handful of plain cmdlets.
    PowerShell,
}

impl Shell {
    /// The shell a program name stands for, so that `zsh -c` is read as zsh.
    pub fn named(program: &str) -> Option<Self> {
        Some(match program {
            "sh" | "dash" | "ash" | "ksh" | "mksh" | "busybox" => Self::Posix,
            "bash" | "rbash" => Self::Bash,
            "zsh" => Self::Zsh,
            "nu" => Self::Nu,
            "fish" => Self::Fish,
            "pwsh" | "powershell" => Self::PowerShell,
            _ => return None,
        })
    }

    /// Whether the shell is read with the POSIX and bash grammar.
    pub fn is_posix_like(self) -> bool {
        matches!(self, Self::Posix | Self::Bash | Self::Zsh)
    }
}
