//! What a caller's commands may touch if nobody says anything, and the profiles that have a name.

use std::path::PathBuf;

use umbo_engine::sandbox::{Ask, Profile};

use super::words::SandboxWords;
use crate::error::Error;

/// A profile that extends another does so at most so many times over.
const MOST_EXTENSIONS: usize = 8;

/// The sandbox of commands about which nobody says anything.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum UsualSandbox {
    /// None, because nobody wants one: what only reads is not held to it either.
    Off,
    /// None, because nobody said anything: a command that runs unasked because it only reads is held to it.
    #[default]
    Unset,
    /// This profile where the machine can make it, else none.
    IfPossible(String),
    /// This profile; where it cannot be made nothing runs.
    Required(String),
}

/// A profile of the user's own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OwnProfile {
    /// Its name.
    pub name: String,
    /// What it extends and allows besides.
    pub words: SandboxWords,
}

/// How a caller's commands are kept in sandboxes.
#[derive(Debug, Clone, Default)]
pub struct SandboxSettings {
    /// The sandbox of commands about which nobody says anything.
    pub usual: UsualSandbox,
    /// Profiles beside those that are built in.
    pub profiles: Vec<OwnProfile>,
    /// What is allowed in every sandbox; its profile does not count.
    pub always: SandboxWords,
    /// What is asked about instead of denied: who holds the call, or whoever answers first.
    pub ask: Option<Ask>,
    /// What is hidden from every command beside the state directory.
    pub hidden: Vec<PathBuf>,
    /// The project that may be written, wherever a command runs; unless given, the one it runs in.
    pub project: Option<PathBuf>,
    /// Whether calls cannot choose another: what they are made of has no word for it.
    pub is_fixed: bool,
}

/// A profile with all that it extends, looked up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Resolved {
    /// Its name.
    pub(super) name: String,
    pub(super) base: Profile,
    /// What it allows besides, those of own profiles first.
    pub(super) own: SandboxWords,
}

impl SandboxSettings {
    /// The names of all profiles.
    pub fn names(&self) -> Vec<String> {
        let built_in = Profile::ALL.iter().map(|profile| profile.name().to_owned());
        built_in.chain(self.profiles.iter().map(|own| own.name.clone())).collect()
    }

    /// Looks a profile up.
    pub(super) fn resolve(&self, name: &str) -> Result<Resolved, Error> {
        let mut own = SandboxWords::default();
        let mut wanted = name;
        for _ in 0..MOST_EXTENSIONS {
            if let Ok(base) = wanted.parse::<Profile>() {
                return Ok(Resolved { name: name.to_owned(), base, own });
            }
            let found = self.profiles.iter().find(|own| own.name == wanted).ok_or_else(|| {
                let names = self.names().join(", ");
                Error::argument("sandbox", format!("{wanted:?} is no profile; there are {names}"))
            })?;
            own.join(&found.words);
            wanted = found.words.profile.as_deref().unwrap_or("workspace");
        }
        Err(Error::argument("sandbox", format!("the profile {name:?} extends itself")))
    }

    /// How much a profile lets out, to compare it with another: what it is made of, and whether it allows
    /// more than that.
    pub(super) fn width(&self, words: &SandboxWords) -> Result<(u8, bool), Error> {
        let Some(name) = &words.profile else { return Ok((0, words.grants())) };
        let resolved = self.resolve(name)?;
        let base = match resolved.base {
            Profile::ReadOnly => 0,
            Profile::Workspace => 1,
            Profile::WorkspaceNet => 2,
            Profile::Off => 3,
        };
        Ok((base, words.grants() || resolved.own.grants()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(own: &[(&str, &str)]) -> SandboxSettings {
        let profiles = own.iter().map(|(name, extends)| OwnProfile {
            name: (*name).to_owned(),
            words: SandboxWords {
                profile: Some((*extends).to_owned()),
                allow_host: vec![format!("{name}.example")],
                ..SandboxWords::default()
            },
        });
        SandboxSettings { profiles: profiles.collect(), ..SandboxSettings::default() }
    }

    #[test]
    fn an_own_profile_is_what_it_extends_and_more() {
        let settings = settings(&[("build", "net"), ("net", "workspace+net")]);
        let resolved = settings.resolve("build").unwrap();
        assert_eq!(resolved.base, Profile::WorkspaceNet);
        assert_eq!(resolved.own.allow_host, ["build.example", "net.example"]);
        assert_eq!(settings.width(&SandboxWords::profile("build")).unwrap(), (2, true));
    }

    #[test]
    fn a_profile_that_is_none_or_extends_itself_is_an_error() {
        let settings = settings(&[("a", "b"), ("b", "a")]);
        assert!(settings.resolve("a").unwrap_err().message.contains("extends itself"));
        assert!(settings.resolve("c").unwrap_err().message.contains("workspace+net, a, b"));
    }
}
