//! File operations as subjects: what a tool is about to do with paths that are already open, so that
//! where they lead is certain.

use std::path::{Path, PathBuf};

use umbo_command::{Direction, Effect, Kind, Reading, Risk};

use crate::glob;
use crate::mode::Mode;
use crate::place::Roots;
use crate::subject::{LocatedEffect, PathCandidates};

/// What a file operation does with one path, resolved and absolute.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FileEffect {
    /// Reads or lists something that its caller works on.
    Read(PathBuf),
    /// Reads or lists something elsewhere.
    ReadOutside(PathBuf),
    /// Creates or changes a file.
    Write(PathBuf),
    /// Removes a file.
    Delete(PathBuf),
    /// Fetches a web page.
    Fetch(String),
}

impl FileEffect {
    fn path(&self) -> Option<&Path> {
        match self {
            Self::Read(path) | Self::ReadOutside(path) | Self::Write(path) | Self::Delete(path) => {
                Some(path)
            }
            Self::Fetch(_) => None,
        }
    }

    fn changes(&self) -> bool {
        matches!(self, Self::Write(_) | Self::Delete(_))
    }

    fn effect(&self) -> Effect {
        let (kind, risk) = match self {
            Self::Read(_) => (Kind::Read, Risk::ReadOnly),
            // Nobody knows what is there; a rule may say that it is harmless.
            Self::ReadOutside(_) => (Kind::Read, Risk::Unknown),
            Self::Write(_) => (Kind::Write, Risk::Mutate),
            Self::Delete(_) => (Kind::Delete, Risk::Mutate),
            Self::Fetch(_) => (Kind::Network, Risk::ReadOnly),
        };
        Effect {
            kind,
            risk,
            target: Some(self.target()),
            guess: None,
            direction: matches!(self, Self::Fetch(_)).then_some(Direction::In),
            program: String::new(),
        }
    }

    fn target(&self) -> String {
        match (self.path(), self) {
            (Some(path), _) => path.display().to_string(),
            (None, Self::Fetch(url)) => url.clone(),
            (None, _) => String::new(),
        }
    }
}

/// What a file operation would do. Nothing of it is a guess.
pub(crate) fn reading(files: &[FileEffect]) -> Reading {
    let effects: Vec<Effect> = files.iter().map(FileEffect::effect).collect();
    let risk = effects.iter().map(|effect| effect.risk).fold(Risk::ReadOnly, Risk::and);
    let worst = files.iter().find(|file| file.effect().risk == risk);
    let target = worst.map(FileEffect::target).unwrap_or_default();
    let reason = match worst {
        Some(FileEffect::Write(_)) => format!("It changes {target}."),
        Some(FileEffect::Delete(_)) => format!("It removes {target}."),
        Some(FileEffect::ReadOutside(_)) => {
            format!("It reads {target}, which is outside the project.")
        }
        Some(FileEffect::Fetch(_)) => format!("It fetches {target}."),
        Some(FileEffect::Read(_)) | None => "It only reads.".to_owned(),
    };
    Reading {
        risk,
        matched: target,
        common_fs: false,
        reason,
        effects,
        commands: Vec::new(),
        exact: true,
        possible: Vec::new(),
        runs_input: false,
        scripts: Vec::new(),
        supposes: Vec::new(),
    }
}

/// The effects of such a reading, each where it certainly is.
pub(crate) fn located<'a>(
    files: &[FileEffect],
    reading: &'a Reading,
    roots: &Roots,
) -> Vec<LocatedEffect<'a>> {
    let pairs = files.iter().zip(&reading.effects);
    pairs
        .map(|(file, effect)| {
            let path = file.path().map(Path::to_owned);
            let is_outside = path.as_ref().is_some_and(|path| roots.is_outside(path));
            let risk = if file.changes() && is_outside { Risk::Dangerous } else { effect.risk };
            let place = path.map(|path| PathCandidates {
                written: vec![path.clone()],
                resolved: vec![path],
                certain: true,
            });
            LocatedEffect { effect, risk, place, guesses: Vec::new() }
        })
        .collect()
}

/// Why somebody is asked about what a mode would let through: it reads outside of the project.
pub(crate) fn asks(files: &[FileEffect], mode: Mode, roots: &Roots) -> Option<String> {
    let outside = files.iter().find_map(|file| match file {
        FileEffect::ReadOutside(path) => Some(path),
        _ => None,
    });
    outside
        .filter(|path| mode != Mode::Open && roots.is_outside(path))
        .map(|path| format!("It reads {}, which is outside the project.", path.display()))
}

/// Paths that no reader gets to see, because a rule denies or asks: for whoever walks through
/// directories and cannot ask about each file.
#[derive(Clone, Debug, Default)]
pub struct Unreadable {
    /// Patterns, each with the directory that all its matches are in.
    patterns: Vec<(PathBuf, String)>,
}

impl Unreadable {
    pub(crate) fn new(patterns: Vec<String>) -> Self {
        let with_base = |pattern: String| (PathBuf::from(glob::literal_base(&pattern)), pattern);
        Self { patterns: patterns.into_iter().map(with_base).collect() }
    }

    /// Whether a resolved path is one of them.
    pub fn covers(&self, path: &Path) -> bool {
        // Asked for every file of a tree: most are in none of these directories.
        self.patterns.iter().any(|(base, pattern)| {
            path.starts_with(base) && glob::path_matches(pattern, &path.to_string_lossy())
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_pattern_covers_is_unreadable_and_nothing_else() {
        let patterns = ["/p/secrets/**", "/c/key", "/p/**/*.pem"].map(str::to_owned).to_vec();
        let unreadable = Unreadable::new(patterns);
        for path in ["/p/secrets", "/p/secrets/a/b", "/c/key", "/p/a.pem", "/p/x/y/a.pem"] {
            assert!(unreadable.covers(Path::new(path)), "{path}");
        }
        for path in ["/p/secretsx", "/c/keys", "/c", "/q/a.pem", "/p/a.pem.txt"] {
            assert!(!unreadable.covers(Path::new(path)), "{path}");
        }
    }

    #[test]
    fn the_worst_of_several_files_is_what_is_asked_about() {
        let effects = [
            FileEffect::Read("/p/a".into()),
            FileEffect::Write("/p/[b]*".into()),
            FileEffect::Delete("/p/c".into()),
        ];
        let reading = reading(&effects);
        assert_eq!((reading.risk, reading.reason.as_str()), (Risk::Mutate, "It changes /p/[b]*."));
        let roots = Roots { project: "/p".into(), ..Roots::default() };
        let located = located(&effects, &reading, &roots);
        assert!(located.iter().all(|each| each.place.as_ref().is_some_and(|place| place.certain)));
        assert!(located.iter().all(|each| each.risk <= Risk::Mutate), "all are in the project");
        let elsewhere = Roots { project: "/q".into(), ..Roots::default() };
        let located = super::located(&effects, &reading, &elsewhere);
        assert_eq!(located[1].risk, Risk::Dangerous);
        assert_eq!(located[0].risk, Risk::ReadOnly);
    }
}
