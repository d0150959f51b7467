//! What is hidden from file tools, and what they do not change, unless somebody says otherwise.

/// In a project, at any depth: what decides what agents may do, or runs without anybody starting it.
pub(super) const PROTECTED: &[&str] = &[
    ".umbo",
    ".mcp.json",
    ".envrc",
    "**/.claude/settings.json",
    "**/.claude/settings.local.json",
    "**/.claude/hooks",
    "**/.codex/config.toml",
    "**/.codex/hooks.json",
    "**/.cursor/mcp.json",
    "**/.cursor/hooks.json",
    "**/.gemini/settings.json",
    "**/.vscode/mcp.json",
    "**/.vscode/tasks.json",
    "**/.zed/settings.json",
    "**/.zed/tasks.json",
    "**/.goose/config.yaml",
    "**/.continue/config.json",
    "**/.continue/config.yaml",
    "**/.opencode/opencode.json",
    "**/.windsurf/mcp_config.json",
    "**/.git/config",
    "**/.git/hooks",
];

/// Below the home directory: the settings of agents, and what a shell runs at its start.
pub(super) const PROTECTED_AT_HOME: &[&str] = &[
    ".bashrc",
    ".bash_profile",
    ".profile",
    ".zshrc",
    ".zshenv",
    ".zprofile",
    ".config/fish",
    ".gitconfig",
    ".config/git/config",
    ".config/opencode",
    ".config/zed/settings.json",
    ".codeium/windsurf/mcp_config.json",
];

/// Below the home directory: keys and conversations of agents, beside the secrets that are hidden from
/// sandboxes too. Their settings can be read.
pub(super) const HIDDEN_OF_AGENTS: &[&str] = &[
    ".claude.json",
    ".claude/.credentials.json",
    ".codex/auth.json",
    ".gemini/oauth_creds.json",
    ".config/goose/secrets.yaml",
    ".local/share/opencode/auth.json",
];

/// Anywhere: secrets of the system, for who runs as root, and private keys by their usual names.
pub(super) const HIDDEN: &[&str] = &[
    "/etc/shadow",
    "/etc/gshadow",
    "/etc/ssl/private",
    "/etc/ssh/ssh_host_*_key",
    "id_rsa",
    "id_ecdsa",
    "id_ed25519",
];
