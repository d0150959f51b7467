//! Every setting there is, as data: its name, what it takes, its default, what tightens it, and what
//! it means. Those of a dialect are declared in its folder; they are listed here by where they stand.
//! The variable of a setting follows from its name.

use std::sync::LazyLock;

use umbo_tools::{Setting, SettingDefault};

use super::value::Kind;

pub(crate) use umbo_tools::Tightens;

/// One setting.
#[derive(Debug)]
pub(crate) struct Key {
    /// Its place in a file, with dots between.
    pub(crate) name: &'static str,
    pub(crate) kind: Kind,
    pub(crate) preset: Preset,
    pub(crate) tightens: Tightens,
    pub(crate) meaning: &'static str,
}

/// What holds if nobody says anything.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Preset {
    /// Nothing.
    Nothing,
    /// This, as a variable would say it.
    Text(&'static str),
    /// What holds for another setting.
    As(&'static str),
}

impl Key {
    /// The variable that sets it; a whole table has none.
    pub(crate) fn variable(&self) -> Option<String> {
        let name = || format!("UMBO_{}", self.name.replace('.', "_").to_ascii_uppercase());
        (!matches!(self.kind, Kind::Variables | Kind::Profiles)).then(name)
    }
}

/// The setting of a name.
pub(crate) fn find(name: &str) -> Option<&'static Key> {
    KEYS.iter().find(|key| key.name == name)
}

const fn key(
    name: &'static str,
    kind: Kind,
    preset: Preset,
    tightens: Tightens,
    meaning: &'static str,
) -> Key {
    Key { name, kind, preset, tightens, meaning }
}

/// All of them, in the order in which they are shown.
pub(crate) static KEYS: LazyLock<Vec<Key>> = LazyLock::new(|| {
    let dialects = umbo_tools::dialect_settings().map(Key::from);
    before_dialects()
        .into_iter()
        .chain(of_clients())
        .chain(dialects)
        .chain(of_sandboxes())
        .chain(file_keys())
        .chain(after_dialects())
        .chain(of_agent())
        .collect()
});

impl From<&Setting> for Key {
    fn from(setting: &Setting) -> Self {
        let preset = match setting.default {
            SettingDefault::Nothing => Preset::Nothing,
            SettingDefault::Text(text) => Preset::Text(text),
            SettingDefault::As(other, _) => Preset::As(other),
        };
        key(setting.key, Kind::from(setting.kind), preset, setting.tightens, setting.doc)
    }
}

fn before_dialects() -> [Key; 11] {
    [
        key(
            "max_running",
            Kind::Count,
            Preset::Text("10"),
            Tightens::Lower,
            "how many jobs run at once, and how many inside of each; the others wait in line",
        ),
        key(
            "exec.mode",
            Kind::Mode,
            Preset::Text("open"),
            Tightens::Stricter,
            "the gate's mode for `exec`, `start`, `run` and `call`",
        ),
        key(
            "exec.sandbox",
            Kind::Profile,
            Preset::Text("off"),
            Tightens::Stricter,
            "what commands of `exec`, `start`, `run` and `call` may touch: a profile",
        ),
        key(
            "exec.shell",
            Kind::Shell,
            Preset::Text("sh"),
            Tightens::Nothing,
            "what reads the lines of `exec` and `start`",
        ),
        key(
            "exec.timeout_secs",
            Kind::Count,
            Preset::Nothing,
            Tightens::Lower,
            "the time limit of `exec`, `start` and `run`; `--timeout none` lifts it",
        ),
        key(
            "tools.mode",
            Kind::Mode,
            Preset::Text("guard"),
            Tightens::Stricter,
            "the gate's mode for agents, who come in by `mcp`",
        ),
        key(
            "tools.sandbox",
            Kind::Profile,
            Preset::Text("workspace+net"),
            Tightens::Stricter,
            "what an agent's commands may touch: a profile; unless set, only where this machine can enforce it",
        ),
        key(
            "tools.dialect",
            Kind::Dialect,
            Preset::Text("umbo"),
            Tightens::Nothing,
            "whose tools `mcp`, `call` and `tools` have",
        ),
        key(
            "tools.sets",
            Kind::Texts,
            Preset::Text("shell"),
            Tightens::Nothing,
            "which of them `mcp` and `tools` have: `shell`, `files`",
        ),
        key(
            "tools.beside",
            Kind::Texts,
            Preset::Text(""),
            Tightens::More,
            "tools that an agent has from elsewhere: where one does better, `omp` points to it",
        ),
        key(
            "tools.yield_secs",
            Kind::Count,
            Preset::Text("40"),
            Tightens::Nothing,
            "how long a call waits for its command; less for a client that gives up sooner",
        ),
    ]
}

fn of_clients() -> [Key; 3] {
    [
        key(
            "mcp.on_cancel",
            Kind::Choice(&["reason", "stop", "keep"]),
            Preset::Text("reason"),
            Tightens::Nothing,
            "the command of a cancelled call: `reason` stops it unless the client's own timeout struck",
        ),
        key(
            "mcp.elicitation",
            Kind::Flag,
            Preset::Text("true"),
            Tightens::Nothing,
            "whether the person in front of a client is asked by a form, where the client has forms",
        ),
        key(
            "mcp.structure",
            Kind::Choice(&["client", "always", "never"]),
            Preset::Text("client"),
            Tightens::Nothing,
            "whether results have structure beside their text: `client` leaves it out where a model would read it instead",
        ),
    ]
}

fn of_sandboxes() -> [Key; 6] {
    [
        key(
            "sandbox.profiles",
            Kind::Profiles,
            Preset::Text(""),
            Tightens::Nothing,
            "own profiles: a table of tables with `profile` (the one it extends), `allow_write`, `allow_read`, `allow_host`",
        ),
        key(
            "sandbox.allow_write",
            Kind::Texts,
            Preset::Text(""),
            Tightens::Nothing,
            "paths that may be written in every sandbox",
        ),
        key(
            "sandbox.allow_read",
            Kind::Texts,
            Preset::Text(""),
            Tightens::Nothing,
            "paths that are shown in every sandbox though they would be hidden",
        ),
        key(
            "sandbox.allow_host",
            Kind::Texts,
            Preset::Text(""),
            Tightens::Nothing,
            "hosts that may be reached from every sandbox that reaches only listed ones",
        ),
        key(
            "sandbox.ask",
            Kind::Choice(&["nothing", "writes", "hosts", "all"]),
            Preset::Text("nothing"),
            Tightens::Nothing,
            "what a sandbox asks about instead of denying it: the client, or `umbo approvals`",
        ),
        key(
            "sandbox.ask_secs",
            Kind::Count,
            Preset::Text("30"),
            Tightens::Lower,
            "how long such a question waits for an answer",
        ),
    ]
}

fn file_keys() -> [Key; 6] {
    [
        key(
            "files.roots",
            Kind::Texts,
            Preset::Text(""),
            Tightens::Nothing,
            "directories beside the project whose files are read and changed as its own",
        ),
        key(
            "files.hidden",
            Kind::Texts,
            Preset::Text(""),
            Tightens::More,
            "globs of files that no file tool shows, beside keys and other secrets",
        ),
        key(
            "files.protected",
            Kind::Texts,
            Preset::Text(""),
            Tightens::More,
            "globs of files that no file tool changes, beside `.umbo` and the settings of agents",
        ),
        key(
            "files.undo_bytes",
            Kind::Size,
            Preset::Text("256M"),
            Tightens::Nothing,
            "how much old content is kept for `undo`",
        ),
        key(
            "files.web",
            Kind::Flag,
            Preset::Text("false"),
            Tightens::Only(false),
            "whether `read` fetches web pages",
        ),
        key(
            "files.web_private",
            Kind::Flag,
            Preset::Text("false"),
            Tightens::Only(false),
            "also from private and local addresses",
        ),
    ]
}

fn after_dialects() -> [Key; 12] {
    [
        key(
            "output.tokens",
            Kind::Count,
            Preset::Text("2000"),
            Tightens::Lower,
            "how many tokens of output an answer has",
        ),
        key("output.bytes", Kind::Size, Preset::Text("50k"), Tightens::Lower, "how many bytes"),
        key("output.lines", Kind::Count, Preset::Text("2000"), Tightens::Lower, "how many lines"),
        key(
            "output.minimize",
            Kind::Flag,
            Preset::Text("false"),
            Tightens::Nothing,
            "whether the noise of known tools is folded",
        ),
        key(
            "environment.inherit",
            Kind::Inherit,
            Preset::Text("all"),
            Tightens::Stricter,
            "which variables commands get: `all`, `core` (PATH, HOME, LANG, …) or `none`",
        ),
        key(
            "environment.exclude",
            Kind::Patterns,
            Preset::Text(""),
            Tightens::More,
            "less these: names with `*` and `?`",
        ),
        key(
            "environment.include",
            Kind::Patterns,
            Preset::Text(""),
            Tightens::Nothing,
            "but these in any case",
        ),
        key(
            "environment.set",
            Kind::Variables,
            Preset::Text(""),
            Tightens::Nothing,
            "and these with values of their own: a table",
        ),
        key(
            "retention.jobs",
            Kind::Count,
            Preset::Text("2000"),
            Tightens::Nothing,
            "how many ended jobs stay on disk",
        ),
        key(
            "retention.bytes",
            Kind::Size,
            Preset::Text("4G"),
            Tightens::Nothing,
            "how much room they take",
        ),
        key(
            "retention.age",
            Kind::Span,
            Preset::Nothing,
            Tightens::Nothing,
            "how long they stay, as `30d`",
        ),
        key(
            "retention.audit_bytes",
            Kind::Size,
            Preset::Text("64M"),
            Tightens::Nothing,
            "how much room the audit takes; its oldest records go first",
        ),
    ]
}

fn of_agent() -> [Key; 11] {
    [
        key(
            "agent.model",
            Kind::Text,
            Preset::Nothing,
            Tightens::Nothing,
            "the model of `agent`, as `anthropic/NAME`; else one of a vendor whose key is set",
        ),
        key(
            "agent.fallback",
            Kind::Texts,
            Preset::Text(""),
            Tightens::Nothing,
            "models that are asked if that one cannot answer, in order",
        ),
        key(
            "agent.larger_model",
            Kind::Text,
            Preset::Nothing,
            Tightens::Nothing,
            "the model with a larger window that is asked when the conversation does not fit",
        ),
        key(
            "agent.dialect",
            Kind::Dialect,
            Preset::Nothing,
            Tightens::Nothing,
            "whose tools `agent` has; else those its model knows",
        ),
        key(
            "agent.mode",
            Kind::Mode,
            Preset::As("tools.mode"),
            Tightens::Stricter,
            "the gate's mode for `agent`",
        ),
        key(
            "agent.effort",
            Kind::Choice(&["off", "minimal", "low", "medium", "high", "xhigh", "max"]),
            Preset::Text("medium"),
            Tightens::Nothing,
            "how much a model that can think does",
        ),
        key(
            "agent.max_turns",
            Kind::Count,
            Preset::Nothing,
            Tightens::Lower,
            "how many answers of the model a prompt may take",
        ),
        key(
            "agent.max_tokens",
            Kind::Count,
            Preset::Nothing,
            Tightens::Lower,
            "how many tokens an agent may read and write",
        ),
        key(
            "agent.max_cents",
            Kind::Count,
            Preset::Nothing,
            Tightens::Lower,
            "how many cents it may cost",
        ),
        key(
            "agent.timeout_secs",
            Kind::Count,
            Preset::Nothing,
            Tightens::Lower,
            "how long a prompt may take",
        ),
        key(
            "agent.ask_timeout_secs",
            Kind::Count,
            Preset::Text("30"),
            Tightens::Nothing,
            "how long a question of the model waits for an answer before what it recommends is taken; 0 is for ever",
        ),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_defaults_are_values() {
        for (index, key) in KEYS.iter().enumerate() {
            assert!(!KEYS[..index].iter().any(|other| other.name == key.name), "{}", key.name);
            match key.preset {
                Preset::Nothing => {}
                Preset::Text(text) => assert!(key.kind.read_text(text).is_some(), "{}", key.name),
                Preset::As(other) => assert_eq!(find(other).unwrap().kind, key.kind),
            }
            let is_table = |other: &Key| other.name.starts_with(&format!("{}.", key.name));
            assert!(!KEYS.iter().any(is_table), "{} is a value and a table", key.name);
        }
    }

    #[test]
    fn the_documents_list_every_setting() {
        let row = |key: &Key| {
            let preset = match key.preset {
                Preset::Nothing | Preset::Text("") => "–".to_owned(),
                Preset::Text(text) | Preset::As(text) => format!("`{text}`"),
            };
            format!("| `{}` | {preset} | {} |\n", key.name, key.meaning)
        };
        let rows: String = KEYS.iter().map(row).collect();
        let table = format!("| setting | default | what it is |\n|---|---|---|\n{rows}");
        let readme = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/configuration.md");
        let readme = std::fs::read_to_string(readme).unwrap();
        assert!(readme.contains(&table), "put this into docs/configuration.md:\n\n{table}");
    }
}
