//! From words and settings about sandboxes to what the operations take.

use umbo_gate::{Mode, project_of};
use umbo_ops::{SandboxArgument, SandboxSettings, SandboxWords, UsualSandbox};

use crate::args::Sandbox;
use crate::config::SandboxSetting;
use crate::context::{Context, WorksFor};

/// The profile that commands get in mode `auto` though nobody set one: what it runs unasked it contains.
const AUTO_PROFILE: &str = "workspace+net";

/// How the commands of a caller are kept in sandboxes, in a mode of the gate.
pub(crate) fn settings(
    context: &Context,
    works_for: WorksFor,
    mode: Option<Mode>,
) -> SandboxSettings {
    let (given, is_agent) = match works_for {
        WorksFor::Person => (&context.settings.exec.sandbox, false),
        WorksFor::Agent => (&context.settings.tools.sandbox, true),
    };
    let shared = &context.settings.sandbox;
    SandboxSettings {
        usual: usual(given, is_agent, mode),
        profiles: shared.profiles.clone(),
        always: shared.always.clone(),
        ask: Some(shared.ask).filter(|ask| ask.writes || ask.hosts),
        hidden: Context::config_directory().into_iter().collect(),
        // Who names the directory of a command would else name what it may write.
        project: context.place().ok().filter(|_| is_agent).map(|here| project_of(&here)),
        is_fixed: false,
    }
}

fn usual(given: &SandboxSetting, is_agent: bool, mode: Option<Mode>) -> UsualSandbox {
    let profile = given.profile.clone();
    match (given.is_said, profile.as_str()) {
        (true, "off") => UsualSandbox::Off,
        (true, _) => UsualSandbox::Required(profile),
        (false, _) if is_agent => UsualSandbox::IfPossible(profile),
        (false, _) if mode == Some(Mode::Auto) => UsualSandbox::IfPossible(AUTO_PROFILE.to_owned()),
        (false, _) => UsualSandbox::Unset,
    }
}

impl Sandbox {
    /// What the words say, if they say anything.
    pub(crate) fn argument(&self) -> Option<SandboxArgument> {
        let words = SandboxWords {
            profile: self.profile.clone(),
            allow_write: self.allow_write.clone(),
            allow_read: self.allow_read.clone(),
            allow_host: self.allow_host.clone(),
        };
        (!words.is_empty()).then(|| SandboxArgument::from(&words))
    }
}
