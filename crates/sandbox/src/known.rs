//! What is known of ordinary machines: where secrets lie, which caches tools write, and which files of
//! a project run later without anybody starting them.

/// Below the home directory: secrets, and what would act as the user elsewhere.
pub const SECRETS_IN_HOME: &[&str] = &[
    ".ssh",
    ".gnupg",
    ".aws",
    ".azure",
    ".config/gcloud",
    ".config/doctl",
    ".config/hcloud",
    ".oci",
    ".kube",
    ".docker/config.json",
    ".config/containers/auth.json",
    ".config/gh/hosts.yml",
    ".config/glab-cli",
    ".config/hub",
    ".netrc",
    ".pgpass",
    ".my.cnf",
    ".git-credentials",
    ".config/git/credentials",
    ".terraform.d/credentials.tfrc.json",
    ".vault-token",
    ".password-store",
    ".local/share/keyrings",
    ".config/op",
    ".config/rclone",
    ".cargo/credentials",
    ".cargo/credentials.toml",
    ".pypirc",
    ".gem/credentials",
    ".nuget/NuGet/NuGet.Config",
    // Browsers.
    ".mozilla",
    ".config/google-chrome",
    ".config/chromium",
    ".config/BraveSoftware",
    ".config/microsoft-edge",
    ".config/vivaldi",
    ".config/opera",
    ".thunderbird",
    ".var/app",
    "snap/firefox",
    // What was typed before, passwords among it.
    ".bash_history",
    ".zsh_history",
    ".python_history",
    ".psql_history",
    ".mysql_history",
    ".node_repl_history",
    ".local/share/fish/fish_history",
];

/// Below the home directory: other agents, their keys, settings and conversations.
pub(crate) const AGENTS_IN_HOME: &[&str] = &[
    ".claude",
    ".claude.json",
    ".codex",
    ".gemini",
    ".config/goose",
    ".cursor",
    ".continue",
    ".aider.conf.yml",
    ".config/opencode",
    ".local/share/opencode",
];

/// Anywhere: secrets of the system, for a job that runs as root.
pub(crate) const SECRETS_OF_SYSTEM: &[&str] = &[
    "/etc/shadow",
    "/etc/gshadow",
    "/etc/sudoers.d",
    "/etc/ssh/ssh_host_rsa_key",
    "/etc/ssh/ssh_host_ecdsa_key",
    "/etc/ssh/ssh_host_ed25519_key",
    "/etc/ssl/private",
    "/etc/kubernetes",
    "/var/lib/docker",
    "/var/lib/containerd",
    "/var/lib/kubelet",
];

/// Below the home directory: what tools fill again by themselves. Written by a build, never run by
/// anything but a build.
pub(crate) const CACHES_IN_HOME: &[&str] = &[
    ".cache",
    ".cargo/registry",
    ".cargo/git",
    ".cargo/.package-cache",
    ".cargo/.package-cache-mutate",
    ".cargo/.global-cache",
    ".npm",
    ".local/share/pnpm/store",
    ".yarn/berry/cache",
    ".bun/install/cache",
    "go/pkg",
    ".m2/repository",
    ".gradle/caches",
    ".gradle/wrapper",
    ".gradle/daemon",
    ".gradle/native",
    ".gradle/notifications",
    ".gradle/.tmp",
    ".gradle/jdks",
    ".gradle/workers",
    ".nuget/packages",
    ".ivy2/cache",
    ".sbt/boot",
    ".cabal/packages",
    ".stack",
    ".hex",
];

/// The caches that a program needs to find; where it is installed, missing ones are made.
pub(crate) const CACHES_OF_PROGRAMS: &[(&str, &[&str])] = &[
    ("cargo", &[".cargo/registry", ".cargo/git"]),
    ("npm", &[".npm"]),
    ("pnpm", &[".local/share/pnpm/store"]),
    ("yarn", &[".yarn/berry/cache"]),
    ("go", &["go/pkg"]),
    ("mvn", &[".m2/repository"]),
    (
        "gradle",
        &[
            ".gradle/caches",
            ".gradle/wrapper",
            ".gradle/daemon",
            ".gradle/native",
            ".gradle/notifications",
            ".gradle/.tmp",
            ".gradle/workers",
        ],
    ),
    ("dotnet", &[".nuget/packages"]),
];

/// Variables with which users move the caches of tools, and what of the directory is one; all of it, if
/// nothing is named.
pub(crate) const CACHES_OF_VARIABLES: &[(&str, &[&str])] = &[
    ("XDG_CACHE_HOME", &[]),
    (
        "CARGO_HOME",
        &["registry", "git", ".package-cache", ".package-cache-mutate", ".global-cache"],
    ),
    ("CARGO_TARGET_DIR", &[]),
    ("GOCACHE", &[]),
    ("GOMODCACHE", &[]),
    ("GOPATH", &["pkg"]),
    ("npm_config_cache", &[]),
    ("YARN_CACHE_FOLDER", &[]),
    ("PIP_CACHE_DIR", &[]),
    ("UV_CACHE_DIR", &[]),
    ("POETRY_CACHE_DIR", &[]),
    (
        "GRADLE_USER_HOME",
        &["caches", "wrapper", "daemon", "native", "notifications", ".tmp", "workers"],
    ),
    ("CCACHE_DIR", &[]),
    ("SCCACHE_DIR", &[]),
];

/// Files that cargo locks; missing ones are made empty where it has its directory.
pub(crate) const LOCKS_OF_CARGO: &[&str] =
    &[".cargo/.package-cache", ".cargo/.package-cache-mutate", ".cargo/.global-cache"];

/// In a project: what runs or decides later, outside of the sandbox.
pub(crate) const PROTECTED_IN_PROJECT: &[&str] = &[
    ".umbo",
    ".envrc",
    ".vscode",
    ".idea",
    ".zed",
    ".fleet",
    ".nvim.lua",
    ".exrc",
    ".claude",
    ".codex",
    ".cursor",
    ".gemini",
    ".agents",
    ".goose",
    ".continue",
    ".windsurf",
    ".mcp.json",
    ".devcontainer",
];

/// In a repository's own directory.
pub(crate) const PROTECTED_IN_GIT: &[&str] =
    &["hooks", "config", "config.worktree", "info/attributes"];

/// Variables that act as the user elsewhere, or lead to something that does.
pub(crate) const VARIABLES_DROPPED: &[&str] = &[
    "SSH_AUTH_SOCK",
    "SSH_AGENT_PID",
    "GPG_AGENT_INFO",
    "DBUS_SESSION_BUS_ADDRESS",
    "XDG_RUNTIME_DIR",
    "DOCKER_HOST",
    "KUBECONFIG",
    "WAYLAND_DISPLAY",
    "DISPLAY",
    "XAUTHORITY",
    "AWS_ACCESS_KEY_ID",
    "AWS_SECRET_ACCESS_KEY",
    "AWS_SESSION_TOKEN",
    "GOOGLE_APPLICATION_CREDENTIALS",
    "*_TOKEN",
    "*_SECRET",
    "*_SECRET_KEY",
    "*_PASSWORD",
    "*_API_KEY",
    "*_APIKEY",
    "*_PRIVATE_KEY",
    "*_CREDENTIALS",
    "PGPASSWORD",
    "MYSQL_PWD",
];
