//! What a command does to the world, one effect at a time.

use serde::{Deserialize, Serialize};

use crate::risk::Risk;

/// The nature of an effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// Looks at something.
    Read,
    /// Creates or changes something.
    Write,
    /// Removes something.
    Delete,
    /// Empties or extends a file by redirection.
    Overwrite,
    /// Talks to another machine.
    Network,
    /// Acts as another user.
    Privilege,
    /// Signals or ends processes.
    Signal,
    /// Brings software onto the machine, or removes it.
    Install,
    /// Controls services, schedules or the machine's settings.
    Service,
    /// Rewrites or discards version-control history or uncommitted work.
    HistoryRewrite,
    /// Makes something visible to others.
    Publish,
    /// Reads, writes or sends secrets.
    Credential,
    /// Works on disks and devices.
    Device,
    /// Runs code that is not in the command: builds, scripts, project tasks.
    Execute,
    /// The text does not say.
    Unknown,
}

/// Which way data goes over the network.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Direction {
    /// Asks and receives.
    In,
    /// Sends.
    Out,
}

/// One effect, with its target where the text names it.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Effect {
    /// What is done.
    pub kind: Kind,
    /// How bad it is.
    pub risk: Risk,
    /// The path, host, package or process, when it is literal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<String>,
    /// For a path that is only known at run time: what it most likely is, as far as the text says.
    /// Good enough to raise a verdict, never to lower it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub guess: Option<String>,
    /// For [`Kind::Network`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub direction: Option<Direction>,
    /// The program that does it.
    pub program: String,
}

/// What a row of the tables says a program does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Does {
    pub(crate) kind: Kind,
    pub(crate) risk: Risk,
    pub(crate) direction: Option<Direction>,
    /// Continues the sentence "`git push -f` …".
    pub(crate) phrase: &'static str,
}

const fn does(kind: Kind, risk: Risk, phrase: &'static str) -> Does {
    Does { kind, risk, direction: None, phrase }
}

const fn net(direction: Direction, risk: Risk, phrase: &'static str) -> Does {
    Does { kind: Kind::Network, risk, direction: Some(direction), phrase }
}

pub(crate) const READ: Does = does(Kind::Read, Risk::ReadOnly, "only reads");
pub(crate) const WRITE: Does = does(Kind::Write, Risk::Mutate, "writes or changes something");
pub(crate) const DELETE: Does = does(Kind::Delete, Risk::Mutate, "removes something");
pub(crate) const DESTROY: Does =
    does(Kind::Delete, Risk::Dangerous, "removes things without a way back");
pub(crate) const OVERWRITE: Does = does(Kind::Overwrite, Risk::Mutate, "writes to a file");
pub(crate) const FETCH: Does = net(Direction::In, Risk::ReadOnly, "asks another machine");
pub(crate) const SYNC: Does = net(Direction::In, Risk::Mutate, "brings data from another machine");
pub(crate) const SEND: Does = net(Direction::Out, Risk::Mutate, "sends data to another machine");
pub(crate) const UPLOAD: Does =
    net(Direction::Out, Risk::Dangerous, "sends local data to another machine");
pub(crate) const LISTEN: Does =
    net(Direction::In, Risk::Dangerous, "lets other machines reach this one");
pub(crate) const SERVE: Does =
    net(Direction::In, Risk::Mutate, "listens to programs of this machine alone");
pub(crate) const PRIVILEGE: Does =
    does(Kind::Privilege, Risk::Dangerous, "runs with the rights of another user");
pub(crate) const SIGNAL: Does = does(Kind::Signal, Risk::Mutate, "signals a process");
pub(crate) const KILL: Does = does(Kind::Signal, Risk::Dangerous, "ends processes by force");
pub(crate) const INSTALL: Does = does(Kind::Install, Risk::Mutate, "installs or removes packages");
pub(crate) const SYSTEM_INSTALL: Does =
    does(Kind::Install, Risk::Dangerous, "changes the software of the whole machine");
pub(crate) const SERVICE: Does =
    does(Kind::Service, Risk::Dangerous, "changes services or settings of the machine");
pub(crate) const REWRITE: Does =
    does(Kind::HistoryRewrite, Risk::Dangerous, "discards work or rewrites history");
pub(crate) const PUBLISH: Does = does(Kind::Publish, Risk::Mutate, "publishes to others");
pub(crate) const RELEASE: Does =
    does(Kind::Publish, Risk::Dangerous, "publishes to others and cannot be taken back");
pub(crate) const REMOTE: Does =
    does(Kind::Publish, Risk::Dangerous, "changes or destroys something shared or remote");
pub(crate) const SECRET: Does = does(Kind::Credential, Risk::Dangerous, "handles secrets");
pub(crate) const DEVICE: Does = does(Kind::Device, Risk::Dangerous, "works on disks or devices");
pub(crate) const BUILD: Does =
    does(Kind::Execute, Risk::Mutate, "builds or runs code of the project");
pub(crate) const RUN: Does = does(Kind::Execute, Risk::Unknown, "runs code that is not shown");
pub(crate) const UNKNOWN: Does = does(Kind::Unknown, Risk::Unknown, "is not understood");
