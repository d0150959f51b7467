//! What a command would be allowed, and what it needs: `umbo sandbox explain` and `umbo sandbox try`.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use serde::Serialize;
use umbo_engine::Outcome;
use umbo_engine::sandbox::{Network, Operation, Plan, Profile, Rung, Tell};
use umbo_gate::{Decision, Mode};

use super::propose::{Proposal, propose};
use super::words::{SandboxArgument, SandboxWords};
use crate::answer::JobAnswer;
use crate::call::Call;
use crate::error::Error;
use crate::exec::{ExecRequest, answer};

/// What a command would be allowed.
#[derive(Debug, Serialize)]
pub struct SandboxAnswer {
    /// What the gate says: `allow`, `ask` or `deny`.
    pub decision: Decision,
    /// The profile; none if it would run without a sandbox.
    pub profile: Option<String>,
    /// Who chose that.
    pub by: String,
    /// How it would be enforced; none if it cannot be.
    pub rung: Option<Rung>,
    /// What it could write, beside a `/tmp` of its own.
    pub write: Vec<PathBuf>,
    /// What stays read-only inside of that.
    pub protect: Vec<PathBuf>,
    /// What it could neither read nor list.
    pub hide: Vec<PathBuf>,
    /// What it could reach: `nothing`, `public hosts`, `everything`, or a list.
    pub network: String,
    /// Sockets of services that it could connect to, or directories of them.
    pub connect: Vec<PathBuf>,
    /// Variables it would not get; names, with `*`.
    pub drop_variables: Vec<String>,
    /// The smallest sandbox that it needs, as far as its text says.
    pub proposal: Proposal,
}

/// How a command fared in a sandbox, and the smallest one that would do.
#[derive(Debug, Serialize)]
pub struct TryAnswer {
    /// How it ended.
    #[serde(flatten)]
    pub job: JobAnswer,
    /// The sandbox that it needs, by what it did.
    pub needs: SandboxWords,
    /// What no sandbox lets do.
    pub cannot: Vec<String>,
    /// A rule that gives it that.
    pub rule: Option<String>,
}

/// Says what a command would be allowed, without running it.
pub fn sandbox_explain(call: &Call<'_>, request: &ExecRequest) -> Result<SandboxAnswer, Error> {
    let words = request.sandbox.as_ref().map(SandboxArgument::words).transpose()?;
    let wanted_request = request.prepare(call)?;
    let call = call.sandboxed(words.as_ref());
    let considered = call.consider(&wanted_request)?;
    let plan = considered.chosen.plan;
    let line = considered.command;
    let directory = considered.directory;
    let home = call.caller.variable("HOME").map(PathBuf::from);
    let reading = umbo_gate::read_in(
        &line,
        umbo_command::Shell::Bash,
        umbo_command::Given::default(),
        &directory,
        home.as_deref(),
    );
    let project = call.caller.sandboxes.project(&directory);
    let proposal = propose(&reading, &project, |target| Some(directory.join(target)));
    let list =
        |get: fn(&Plan) -> &Vec<PathBuf>| plan.as_ref().map(get).cloned().unwrap_or_default();
    Ok(SandboxAnswer {
        decision: considered.decision,
        profile: plan.as_ref().map(|plan| plan.profile.clone()),
        by: considered.chosen.by,
        rung: umbo_engine::sandbox_rung(),
        write: list(|plan| &plan.write),
        protect: list(|plan| &plan.protect).into_iter().filter(|path| path.exists()).collect(),
        hide: list(|plan| &plan.hide),
        connect: list(|plan| &plan.connect),
        network: plan.as_ref().map_or("everything".to_owned(), |plan| network(&plan.network)),
        drop_variables: plan.map(|plan| plan.drop_variables).unwrap_or_default(),
        proposal,
    })
}

fn network(network: &Network) -> String {
    match network {
        Network::Off => "nothing".to_owned(),
        Network::Public => "public hosts".to_owned(),
        Network::On => "everything".to_owned(),
        Network::Hosts(rules) => {
            rules.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
        }
    }
}

/// Runs a command in a sandbox that watches everything, and says which one it needs.
pub fn sandbox_try(call: &Call<'_>, request: &ExecRequest) -> Result<TryAnswer, Error> {
    let said = request.sandbox.as_ref().map(SandboxArgument::words).transpose()?;
    let mut words = said.unwrap_or_default();
    words.profile.get_or_insert_with(|| Profile::WorkspaceNet.name().to_owned());
    let mut wanted = request.prepare(call)?;
    let directory = call.caller.backend.begins_in(&wanted);
    let sandboxes = &call.caller.sandboxes;
    let mut plan = sandboxes.plan_of(&words, &directory)?.ok_or_else(|| {
        Error::argument("sandbox", "off has nothing to watch; try it in a profile")
    })?;
    plan.tell = Tell::Everything;
    let caches =
        sandboxes.plan_of(&SandboxWords::profile(Profile::Workspace.name()), &directory)?;
    wanted.sandbox = Some(plan);
    let wait = call.allowed_wait(request.wait.map(|wait| wait.0));
    let ran = call.run(&wanted, wait)?;
    let job = answer(call, &ran, request.max_output_tokens, request.options.output)?;
    let (needs, cannot) = match &job.outcome {
        Some(outcome) => needs(outcome, &caches.map(|plan| plan.write).unwrap_or_default()),
        None => (words, vec!["it still runs".to_owned()]),
    };
    let rule = rule(call, &wanted, &needs);
    Ok(TryAnswer { job, needs, cannot, rule })
}

/// The smallest sandbox in which a command could have done what it did and tried. `workspace` is what that
/// profile lets write.
fn needs(outcome: &Outcome, workspace: &[PathBuf]) -> (SandboxWords, Vec<String>) {
    let (mut write, mut read) = (BTreeSet::new(), BTreeSet::new());
    let (mut hosts, mut cannot) = (BTreeSet::new(), Vec::new());
    let report = outcome.sandbox.as_ref();
    let changed = report.map(|report| report.wrote.as_slice()).unwrap_or_default();
    let is_covered = |path: &Path| workspace.iter().any(|above| path.starts_with(above));
    write.extend(changed.iter().filter(|path| !is_covered(path)).cloned());
    for request in report.map(|report| report.requests.as_slice()).unwrap_or_default() {
        hosts.insert(request.host.clone());
    }
    for denied in &outcome.denied {
        let path = PathBuf::from(&denied.target);
        match denied.operation {
            Operation::Read => {
                read.insert(path);
            }
            Operation::Connect => {
                let host = denied.target.rsplit_once(':').map_or(&*denied.target, |(host, _)| host);
                if denied.target.starts_with("unix:") || host.parse::<std::net::IpAddr>().is_ok() {
                    cannot.push(format!("connect {}", denied.target));
                } else {
                    hosts.insert(host.to_owned());
                }
            }
            Operation::Execute => cannot.push(format!("execute {}", denied.target)),
            // What is not there yet cannot be granted; its directory can.
            Operation::Create | Operation::Delete | Operation::Rename => {
                write.extend(
                    path.ancestors().skip(1).find(|above| above.is_dir()).map(Path::to_owned),
                );
            }
            Operation::Write | Operation::Change => {
                write.insert(path);
            }
        }
    }
    let profile = match (!changed.is_empty() || !write.is_empty(), hosts.is_empty()) {
        (false, _) => Profile::ReadOnly,
        (true, true) => Profile::Workspace,
        (true, false) => Profile::WorkspaceNet,
    };
    let words = SandboxWords {
        profile: Some(profile.name().to_owned()),
        allow_write: write.into_iter().collect(),
        allow_read: read.into_iter().collect(),
        allow_host: hosts.into_iter().collect(),
    };
    (words, cannot)
}

/// The rule that gives a command this sandbox, if its words can be the beginning of one.
fn rule(call: &Call<'_>, request: &umbo_engine::Request, needs: &SandboxWords) -> Option<String> {
    let command = call.consider(request).ok()?.command;
    let reading = umbo_command::read(&command, umbo_command::Shell::Bash);
    let suggested = umbo_gate::suggest(&reading)?;
    let sandbox = serde_json::to_value(needs).ok()?;
    let fields = sandbox.as_object()?.iter().map(|(name, value)| format!("{name} = {value}"));
    let table = fields.collect::<Vec<_>>().join(", ");
    Some(suggested.toml.replace("\nargv", &format!("\nsandbox = {{ {table} }}\nargv")))
}

impl Call<'_> {
    /// What would become of a request. Nothing is recorded, nobody is asked.
    pub(crate) fn consider(&self, request: &umbo_engine::Request) -> Result<Considered, Error> {
        let sandboxes = &self.caller.sandboxes;
        let directory = self.caller.backend.begins_in(request);
        let wanted = sandboxes.wanted(self.sandbox_words())?;
        let (explanation, grounds, command) =
            self.caller.gate.explain(request, &directory, wanted.contained.as_deref())?;
        let leaves = wanted.leaves.is_some()
            && self.caller.gate.mode() != Mode::Open
            && explanation.decided_by.is_none();
        let decision = match explanation.verdict.decision() {
            Decision::Allow if leaves => Decision::Ask,
            decision => decision,
        };
        let chosen = sandboxes.choose(&wanted, &grounds, &directory)?;
        Ok(Considered { decision, chosen, command, directory })
    }
}

/// What would become of a request.
pub(crate) struct Considered {
    pub(crate) decision: Decision,
    pub(crate) chosen: super::Chosen,
    pub(crate) command: String,
    pub(crate) directory: PathBuf,
}
