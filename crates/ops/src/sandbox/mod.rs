//! What a command may touch: what its caller asks for, what a rule, a setting or its reading says, made into
//! one plan that the supervisor builds.
//!
//! Approval is not isolation: a command that somebody allowed stays in its sandbox, and whoever asks for a
//! wider one is asked about. A command that runs unasked because it was read as one that only reads runs
//! where it can do nothing else, so a wrong reading does no harm and is found.

mod explain;
mod lent;
mod place;
mod propose;
mod services;
mod settings;
mod words;

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use umbo_command::Effect;
use umbo_engine::Outcome;
use umbo_engine::sandbox::{Network, Operation, Plan, Plans, Policy, Profile, Rung};
use umbo_gate::Grounds;

use self::place::Place;
use self::settings::Resolved;
use crate::error::Error;

pub use self::explain::{SandboxAnswer, TryAnswer, sandbox_explain, sandbox_try};
pub use self::propose::Proposal;
pub use self::settings::{OwnProfile, SandboxSettings, UsualSandbox};
pub use self::words::{SandboxArgument, SandboxWords};

pub(crate) use self::propose::propose;

/// The name of the profile that a command is held to because it was read as one that only reads.
const VERDICT: &str = "read-only (verdict)";

/// The sandboxes of a caller's commands.
#[derive(Debug)]
pub(crate) struct Sandboxes {
    settings: SandboxSettings,
    place: Place,
    plans: Plans,
    /// How sandboxes are enforced here, from when somebody needs to know on.
    rung: OnceLock<Option<Rung>>,
    /// Whether the caller knows that its commands are in one.
    is_told: AtomicBool,
}

/// The sandbox of a command, before the gate was asked.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Wanted {
    /// What its caller says.
    said: Option<SandboxWords>,
    /// What holds if nobody says anything.
    usual: Option<SandboxWords>,
    /// The profile it would run in, if in one.
    pub(crate) contained: Option<String>,
    /// Why its caller has to be asked about it: it wants out.
    pub(crate) leaves: Option<String>,
}

impl Wanted {
    /// Of a request that brings its plan.
    pub(crate) fn planned(plan: &Plan) -> Self {
        Self { contained: Some(plan.profile.clone()), ..Self::default() }
    }

    /// All of it, as an approval is bound to it.
    pub(crate) fn binding(&self) -> String {
        let words = self.said.as_ref().or(self.usual.as_ref());
        words.map(|words| format!("{words:?}")).unwrap_or_default()
    }
}

/// The sandbox of a command.
#[derive(Debug, Clone)]
pub(crate) struct Chosen {
    /// What it may touch; without a plan, what its caller may.
    pub(crate) plan: Option<Plan>,
    /// Who chose it, for a person to read.
    pub(crate) by: String,
}

impl Sandboxes {
    pub(crate) fn new(
        settings: SandboxSettings,
        state: Option<PathBuf>,
        environment: &[(OsString, OsString)],
    ) -> Self {
        let variable = |name: &str| {
            let found = environment.iter().find(|(variable, _)| variable == name);
            found.map(|(_, value)| value.as_os_str()).filter(|value| !value.is_empty())
        };
        let place = Place {
            home: variable("HOME").map(PathBuf::from).filter(|home| home.is_absolute()),
            search_path: std::env::split_paths(variable("PATH").unwrap_or(OsStr::new("")))
                .collect(),
            variables: Policy::cache_variables()
                .filter_map(|name| Some((name.to_owned(), PathBuf::from(variable(name)?))))
                .collect(),
            services: services::variables()
                .filter_map(|name| Some((name, variable(name)?.to_str()?.to_owned())))
                .collect(),
            state,
            hidden: settings.hidden.clone(),
            project: settings.project.clone(),
        };
        Self {
            settings,
            place,
            plans: Plans::default(),
            rung: OnceLock::new(),
            is_told: AtomicBool::new(false),
        }
    }

    /// The project that a command in a directory works on.
    pub(crate) fn project(&self, directory: &Path) -> PathBuf {
        self.place.project(directory)
    }

    /// Whether this machine makes sandboxes that ordinary work does not notice.
    fn are_possible(&self) -> bool {
        let rung = self.rung.get_or_init(umbo_engine::sandbox_rung);
        matches!(rung, Some(Rung::Namespaces | Rung::SharedProcesses))
    }

    /// What holds if nobody says anything.
    fn usual(&self) -> Option<SandboxWords> {
        match &self.settings.usual {
            UsualSandbox::Off | UsualSandbox::Unset => None,
            UsualSandbox::Required(name) => Some(name),
            UsualSandbox::IfPossible(name) => {
                // A project that is a home or a machine cannot be opened without its secrets.
                let is_project = self.place.project.as_deref().is_none_or(|p| self.place.fits(p));
                Some(name).filter(|_| is_project && self.are_possible())
            }
        }
        .filter(|name| *name != Profile::Off.name())
        .map(SandboxWords::profile)
    }

    /// The sandbox that a command would get, and whether its caller wants more than is usual.
    pub(crate) fn wanted(&self, said: Option<&SandboxWords>) -> Result<Wanted, Error> {
        let usual = self.usual();
        let said = said.filter(|words| !words.is_empty()).map(|words| SandboxWords {
            profile: words.profile.clone().or_else(|| {
                let usual = usual.as_ref().and_then(|usual| usual.profile.clone());
                Some(usual.unwrap_or_else(|| Profile::Workspace.name().to_owned()))
            }),
            ..words.clone()
        });
        let leaves = match (&said, &usual) {
            (Some(said), Some(usual)) => self.leaves(said, usual)?,
            _ => None,
        };
        let words = said.as_ref().or(usual.as_ref());
        let name = words.and_then(|words| words.profile.clone());
        let contained = match name {
            Some(name) if self.settings.resolve(&name)?.base != Profile::Off => Some(name),
            _ => None,
        };
        Ok(Wanted { said, usual, contained, leaves })
    }

    /// Why words ask for more than is usual, if they do.
    fn leaves(&self, said: &SandboxWords, usual: &SandboxWords) -> Result<Option<String>, Error> {
        let (width, grants) = self.settings.width(said)?;
        let usual_width = self.settings.width(usual)?.0;
        let name = |words: &SandboxWords| words.profile.clone().unwrap_or_default();
        let (wants, has) = (name(said), name(usual));
        if width > usual_width {
            let what =
                if width == 3 { "without a sandbox".into() } else { format!("in `{wants}`") };
            return Ok(Some(format!("It asks to run {what} instead of in the sandbox `{has}`.")));
        }
        if grants && wants != has {
            return Ok(Some(format!(
                "It asks to run in `{wants}`, which allows more than `{has}`."
            )));
        }
        Ok(said.grants().then(|| {
            format!("It asks for more than the sandbox `{has}` allows: {}.", said.describe_grants())
        }))
    }

    /// The sandbox of a command that was let through.
    pub(crate) fn choose(
        &self,
        wanted: &Wanted,
        grounds: &Grounds,
        directory: &Path,
    ) -> Result<Chosen, Error> {
        if let Some(said) = &wanted.said {
            return self.made("the call", said, Strictness::Named, directory);
        }
        if let Some((by, words)) = self.of_rules(grounds, wanted.usual.as_ref())? {
            return self.made(&by, &words, Strictness::Listed, directory);
        }
        match (&grounds.only_reads, &wanted.usual) {
            (Some(effects), _) if self.holds_to_reading() => {
                let plan = self.only_reading(effects, directory)?;
                Ok(Chosen { plan: Some(plan), by: "its reading: it only reads".to_owned() })
            }
            (_, Some(usual)) => self.made("the settings", usual, Strictness::Listed, directory),
            (_, None) => Ok(Chosen { plan: None, by: "the settings".to_owned() }),
        }
    }

    fn holds_to_reading(&self) -> bool {
        self.settings.usual != UsualSandbox::Off && self.are_possible()
    }

    /// What rules say together: the widest profile with all that is allowed besides; what may only tighten
    /// counts last.
    fn of_rules(
        &self,
        grounds: &Grounds,
        usual: Option<&SandboxWords>,
    ) -> Result<Option<(String, SandboxWords)>, Error> {
        let mut found: Option<(String, SandboxWords)> = None;
        let in_rule = |source: &str, error: Error| {
            Error::argument("sandbox", format!("{} (in the rule {source})", error.message))
        };
        for (source, rule) in grounds.rules.iter().filter(|(_, rule)| !rule.only_tightens) {
            let words = SandboxWords::from(rule);
            let width = self.settings.width(&words).map_err(|error| in_rule(source, error))?.0;
            match &mut found {
                None => found = Some((source.clone(), words)),
                Some((by, before)) => {
                    if width > self.settings.width(before)?.0 {
                        by.clone_from(source);
                        before.profile.clone_from(&words.profile);
                    }
                    before.join(&words);
                }
            }
        }
        for (source, rule) in grounds.rules.iter().filter(|(_, rule)| rule.only_tightens) {
            let words = SandboxWords::profile(&rule.profile);
            let width = self.settings.width(&words).map_err(|error| in_rule(source, error))?.0;
            let holds = found.as_ref().map(|(_, words)| words).or(usual);
            let is_tighter = match holds {
                Some(holds) => width < self.settings.width(holds)?.0,
                None => true,
            };
            if is_tighter {
                found = Some((source.clone(), words));
            }
        }
        Ok(found)
    }

    /// The plan of some words, whoever says them; none for no sandbox.
    fn plan_of(&self, words: &SandboxWords, directory: &Path) -> Result<Option<Plan>, Error> {
        Ok(self.made("", words, Strictness::Named, directory)?.plan)
    }

    fn made(
        &self,
        by: &str,
        words: &SandboxWords,
        strictness: Strictness,
        directory: &Path,
    ) -> Result<Chosen, Error> {
        let name = words.profile.as_deref().unwrap_or(Profile::Workspace.name());
        let Resolved { name, base, own } = self.settings.resolve(name)?;
        let around = self.place.surroundings(directory)?;
        let Some(mut policy) = Policy::of(base, &around).map_err(wrong)? else {
            return Ok(Chosen { plan: None, by: by.to_owned() });
        };
        policy.profile = name;
        self.allow(&mut policy, &own, Strictness::Listed, directory)?;
        self.allow(&mut policy, words, strictness, directory)?;
        let mut always = self.settings.always.clone();
        if matches!(policy.network, Network::Public | Network::On) {
            always.allow_host.clear();
        }
        self.allow(&mut policy, &always, Strictness::Listed, directory)?;
        policy.ask = self.settings.ask;
        policy.show.extend(self.lent(directory));
        Ok(Chosen { plan: Some(self.plans.plan(policy).map_err(wrong)?), by: by.to_owned() })
    }

    fn allow(
        &self,
        policy: &mut Policy,
        words: &SandboxWords,
        strictness: Strictness,
        directory: &Path,
    ) -> Result<(), Error> {
        let path = |path: &Path| self.place.absolute(path, directory);
        // What a file lists for every machine may be missing on this one.
        let is_missed =
            |path: &Path| strictness == Strictness::Named || std::fs::metadata(path).is_ok();
        for path in words.allow_write.iter().map(|one| path(one)).filter(|path| is_missed(path)) {
            policy.allow_write(&path).map_err(wrong)?;
        }
        for path in words.allow_read.iter().map(|one| path(one)).filter(|path| is_missed(path)) {
            policy.allow_read(&path).map_err(wrong)?;
        }
        words.allow_host.iter().try_for_each(|host| policy.allow_host(host)).map_err(wrong)
    }

    /// A sandbox in which nothing can be done but what the effects of a reading name.
    fn only_reading(&self, effects: &[Effect], directory: &Path) -> Result<Plan, Error> {
        let around = self.place.surroundings(directory)?;
        let policy = Policy::of(Profile::ReadOnly, &around).map_err(wrong)?;
        let mut policy = policy.ok_or_else(|| Error::argument("sandbox", "there is none"))?;
        VERDICT.clone_into(&mut policy.profile);
        policy.show.extend(self.lent(directory));
        let reached =
            services::reached(effects, self.place.home.as_deref(), |name| self.place.service(name));
        reached.sockets.iter().for_each(|socket| policy.allow_connect(socket));
        policy.keep_variables = reached.variables.iter().map(ToString::to_string).collect();
        for path in reached.credentials.iter().filter(|path| path.exists()) {
            policy.allow_read(path).map_err(wrong)?;
        }
        if reached.has_port {
            policy.network = Network::On;
            return self.plans.plan(policy).map_err(wrong);
        }
        for effect in effects.iter().filter(|effect| propose::is_network(effect.kind)) {
            if !propose::is_proxied(effect) {
                // Its reading says that it reaches something, and there is no other way for it.
                policy.network = Network::On;
                break;
            }
            let is_listed =
                propose::host(effect).is_some_and(|host| policy.allow_host(&host).is_ok());
            if !is_listed {
                policy.network = Network::Public;
                break;
            }
        }
        self.plans.plan(policy).map_err(wrong)
    }

    /// What a caller has to know about the sandbox of its command: once, that there is one; and that a
    /// reading was wrong.
    pub(crate) fn notes(&self, chosen: &Chosen, outcome: &Outcome) -> Vec<String> {
        let mut notes = Vec::new();
        let is_usual = matches!(self.settings.usual, UsualSandbox::IfPossible(_));
        if let Some(plan) = &chosen.plan
            && is_usual
            && !self.is_told.swap(true, Ordering::Relaxed)
        {
            let network = match &plan.network {
                Network::Off => "no network",
                Network::Hosts(_) => "listed hosts",
                Network::Public => "public hosts",
                Network::On => "the network",
            };
            let is_own = |path: &&PathBuf| {
                self.place.state.as_ref().is_some_and(|state| path.starts_with(state))
            };
            let project = plan.show.iter().find(|path| !is_own(path));
            let project = project.filter(|_| !plan.write.is_empty());
            let project = project.map(|path| path.display().to_string());
            let way_out = if self.settings.is_fixed {
                "a person changes that, by the setting `tools.sandbox`"
            } else {
                "`sandbox: \"off\"` asks a person to let one out"
            };
            notes.push(format!(
                "commands run in the sandbox {}: they write {}, caches and /tmp, and reach {network}; {way_out}",
                plan.profile,
                project.unwrap_or_else(|| "nothing".to_owned())
            ));
        }
        if misread(outcome) {
            notes.push(
                "it was read as a command that only reads, and tried more; that is recorded as a misreading"
                    .to_owned(),
            );
        }
        notes
    }
}

/// Whether what a grant names has to be there.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Strictness {
    /// It was named for this command.
    Named,
    /// It is listed for every command.
    Listed,
}

/// Whether a command tried something that its reading had ruled out.
pub(crate) fn misread(outcome: &Outcome) -> bool {
    outcome.sandbox.as_ref().is_some_and(|report| report.profile == VERDICT)
        && outcome.denied.iter().any(|denied| denied.operation != Operation::Read)
}

fn wrong(error: umbo_engine::sandbox::Error) -> Error {
    Error::argument("sandbox", error)
}
