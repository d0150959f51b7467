//! The clients umbo can be put into, as data: a client is one row here and nothing anywhere else.

use super::check::Starter;
use super::format::{Format, Grammar};
use super::server::{Field, Server};

/// A program that starts servers of the Model Context Protocol, and where it reads of them.
#[derive(Debug)]
pub(crate) struct Client {
    /// Its name on the command line.
    pub(crate) name: &'static str,
    /// What people call it.
    pub(crate) title: &'static str,
    /// Whether it is started from a desktop, where `PATH` is not that of a shell.
    pub(crate) is_desktop: bool,
    /// Programs that show that it is on this machine.
    pub(crate) programs: &'static [&'static str],
    /// The directory of a person's own files: the first of these that can be told. `$NAME` is a
    /// variable that may be missing, `~` the home, `~config` what the XDG standard says.
    pub(crate) homes: &'static [&'static str],
    /// The files it reads there. A new server goes into the first that exists.
    pub(crate) user: &'static [&'static str],
    /// The files it reads in a project; none if it has nothing of the kind.
    pub(crate) project: &'static [&'static str],
    /// The table of servers in them.
    pub(crate) section: &'static str,
    pub(crate) format: Format,
    /// What it wants to know of a server.
    pub(crate) shape: fn(&Server) -> Vec<(&'static str, Field)>,
    /// What a person has to know after putting a server into a project.
    pub(crate) project_note: &'static str,
    /// How it is made to start its servers, if it can be without a model.
    pub(crate) starter: Option<Starter>,
}

/// All of them, by name.
pub(crate) static CLIENTS: &[Client] = &[
    Client {
        name: "claude-code",
        title: "Claude Code",
        is_desktop: false,
        programs: &["claude"],
        homes: &["$CLAUDE_CONFIG_DIR", "~"],
        user: &[".claude.json"],
        project: &[".mcp.json"],
        section: "mcpServers",
        format: Format::Json(Grammar::Strict),
        shape: typed,
        project_note: "It asks before it starts a project's server.",
        starter: Some(Starter { words: &["claude", "mcp", "list"], input: &[] }),
    },
    Client {
        name: "codex",
        title: "Codex",
        is_desktop: false,
        programs: &["codex"],
        homes: &["$CODEX_HOME", "~/.codex"],
        user: &["config.toml"],
        project: &[".codex/config.toml"],
        section: "mcp_servers",
        format: Format::Toml,
        shape: codex,
        project_note: "It reads this file only in a project that it trusts.",
        starter: Some(CODEX_STARTER),
    },
    Client {
        name: "cursor",
        title: "Cursor",
        is_desktop: true,
        programs: &["cursor", "cursor-agent"],
        homes: &["~/.cursor"],
        user: &["mcp.json"],
        project: &[".cursor/mcp.json"],
        section: "mcpServers",
        format: Format::Json(Grammar::Lenient),
        shape: plain,
        project_note: "It starts a project's server once that is switched on in its settings.",
        starter: None,
    },
    Client {
        name: "gemini",
        title: "Gemini CLI",
        is_desktop: false,
        programs: &["gemini"],
        homes: &["$GEMINI_CLI_HOME/.gemini", "~/.gemini"],
        user: &["settings.json"],
        project: &[".gemini/settings.json"],
        section: "mcpServers",
        format: Format::Json(Grammar::Comments),
        shape: plain,
        project_note: "It starts servers only in a folder that it trusts.",
        starter: Some(Starter { words: &["gemini", "mcp", "list"], input: &[] }),
    },
    Client {
        name: "goose",
        title: "goose",
        is_desktop: false,
        programs: &["goose"],
        homes: &["$GOOSE_PATH_ROOT/config", "~config/goose"],
        user: &["config.yaml"],
        project: &[],
        section: "extensions",
        format: Format::Yaml,
        shape: goose,
        project_note: "",
        starter: None,
    },
    Client {
        name: "opencode",
        title: "opencode",
        is_desktop: false,
        programs: &["opencode"],
        homes: &["~config/opencode"],
        user: &["opencode.jsonc", "opencode.json"],
        project: &[
            "opencode.json",
            "opencode.jsonc",
            ".opencode/opencode.json",
            ".opencode/opencode.jsonc",
        ],
        section: "mcp",
        format: Format::Json(Grammar::Lenient),
        shape: opencode,
        project_note: "",
        starter: Some(Starter { words: &["opencode", "mcp", "list"], input: &[] }),
    },
    Client {
        name: "vscode",
        title: "VS Code",
        is_desktop: true,
        programs: &["code"],
        homes: &[
            "$VSCODE_PORTABLE/user-data/User",
            "$VSCODE_APPDATA/Code/User",
            "~config/Code/User",
        ],
        user: &["mcp.json"],
        project: &[".vscode/mcp.json"],
        section: "servers",
        format: Format::Json(Grammar::Lenient),
        shape: typed,
        project_note: "It asks before it starts a project's server.",
        starter: None,
    },
    Client {
        name: "zed",
        title: "Zed",
        is_desktop: true,
        programs: &["zed", "zeditor"],
        homes: &["~config/zed"],
        user: &["settings.json"],
        project: &[".zed/settings.json"],
        section: "context_servers",
        format: Format::Json(Grammar::Lenient),
        shape: plain,
        project_note: "It starts a project's server once the worktree is trusted.",
        starter: None,
    },
];

/// What most clients take: for who has another one.
pub(crate) static ANY: Client = Client {
    name: "any",
    title: "an MCP client",
    is_desktop: false,
    programs: &[],
    homes: &[],
    user: &[],
    project: &[],
    section: "mcpServers",
    format: Format::Json(Grammar::Strict),
    shape: plain,
    project_note: "",
    starter: None,
};

fn plain(server: &Server) -> Vec<(&'static str, Field)> {
    vec![
        ("command", Field::Text(server.command.clone())),
        ("args", Field::List(server.arguments.clone())),
    ]
}

/// It starts servers with a few variables of its own choice, and lets nobody but a person at its terminal
/// allow their tools. Without the first, a server keeps its jobs where the person's own umbo does not
/// look; the second is what umbo's gate is for.
fn codex(server: &Server) -> Vec<(&'static str, Field)> {
    let mut fields = plain(server);
    fields.push(("env_vars", Field::List(PASSED_VARIABLES.map(str::to_owned).to_vec())));
    fields.push(("default_tools_approval_mode", Field::Text("approve".to_owned())));
    fields
}

/// Where umbo keeps its files, and where the tools that commands run have theirs.
const PASSED_VARIABLES: [&str; 20] = [
    "UMBO_STATE_DIR",
    "UMBO_CONFIG_DIR",
    "XDG_STATE_HOME",
    "XDG_CONFIG_HOME",
    "XDG_DATA_HOME",
    "XDG_CACHE_HOME",
    "XDG_RUNTIME_DIR",
    "SSH_AUTH_SOCK",
    "DBUS_SESSION_BUS_ADDRESS",
    "CARGO_HOME",
    "RUSTUP_HOME",
    "GOPATH",
    "JAVA_HOME",
    "NVM_DIR",
    "PYENV_ROOT",
    "VIRTUAL_ENV",
    "http_proxy",
    "https_proxy",
    "HTTPS_PROXY",
    "NO_PROXY",
];

/// Its server for editors tells how its own servers are, for which it starts them.
const CODEX_STARTER: Starter = Starter {
    words: &["codex", "app-server"],
    input: &[
        r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"clientInfo":{"name":"umbo","title":"umbo","version":"1"},"capabilities":{}}}"#,
        r#"{"jsonrpc":"2.0","method":"initialized"}"#,
        r#"{"jsonrpc":"2.0","id":2,"method":"mcpServerStatus/list","params":{}}"#,
    ],
};

fn typed(server: &Server) -> Vec<(&'static str, Field)> {
    let mut fields = vec![("type", Field::Text("stdio".to_owned()))];
    fields.extend(plain(server));
    fields
}

/// The command is one list with its arguments.
fn opencode(server: &Server) -> Vec<(&'static str, Field)> {
    let words = std::iter::once(&server.command).chain(&server.arguments).cloned();
    vec![
        ("type", Field::Text("local".to_owned())),
        ("command", Field::List(words.collect())),
        ("enabled", Field::Flag(true)),
    ]
}

/// The time limit is the one that goose gives every extension; an answer of umbo takes far less.
fn goose(server: &Server) -> Vec<(&'static str, Field)> {
    vec![
        ("enabled", Field::Flag(true)),
        ("type", Field::Text("stdio".to_owned())),
        ("name", Field::Text(server.name.clone())),
        ("cmd", Field::Text(server.command.clone())),
        ("args", Field::List(server.arguments.clone())),
        ("timeout", Field::Number(300)),
    ]
}
