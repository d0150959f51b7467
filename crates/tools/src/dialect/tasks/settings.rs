//! The settings of `tasks`.

use umbo_engine::OnDisconnect;

use crate::settings::{Setting, SettingDefault, SettingKind, Settings, Tightens};

const LIFETIME: &str = "tools.tasks.lifetime";

/// All of them.
pub(super) const SETTINGS: &[Setting] = &[Setting {
    key: LIFETIME,
    kind: SettingKind::Choice(&["detached", "agent"]),
    default: SettingDefault::Text("detached"),
    tightens: Tightens::Nothing,
    doc: "how long background tasks of `tasks` live: `detached` from their agent, or as long as the `agent`",
}];

/// How long background tasks live at most.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Lifetime {
    /// As long as they take.
    Detached,
    /// As long as the agent that started them.
    Agent,
}

impl Lifetime {
    pub(super) fn of(settings: &Settings) -> Self {
        match settings.text(LIFETIME) {
            Some("agent") => Self::Agent,
            _ => Self::Detached,
        }
    }

    /// What becomes of a task when its agent is gone.
    pub(super) fn on_disconnect(self) -> OnDisconnect {
        match self {
            Self::Detached => OnDisconnect::Detach,
            Self::Agent => OnDisconnect::Stop,
        }
    }
}
