//! Variables: which may change what runs, and what is known about their values.

use crate::hash::HashMap;

use crate::path;

/// What is known about a variable, over all places of the text that set it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Value {
    /// One of these.
    OneOf(Vec<String>),
    /// A number.
    Number,
    /// One word that does not begin with `-`: the name of an object, a date.
    Name,
    /// Text that does not begin with `-`: paths below a known one. A word of it may.
    Tame,
    /// Anything.
    Any,
}

impl Value {
    pub(crate) fn literal(text: &str) -> Self {
        Self::OneOf(vec![text.to_owned()])
    }

    /// Either of two values.
    pub(crate) fn or(self, other: Self) -> Self {
        match (self, other) {
            (Self::Any, _) | (_, Self::Any) => Self::Any,
            (Self::OneOf(mut one), Self::OneOf(two)) => {
                for text in two {
                    if !one.contains(&text) {
                        one.push(text);
                    }
                }
                if one.len() > 32 { Self::Any } else { Self::OneOf(one) }
            }
            (one, two) if one.is_number() && two.is_number() => Self::Number,
            (one, two) if one.is_name() && two.is_name() => Self::Name,
            (one, two) if !one.may_be_option() && !two.may_be_option() => Self::Tame,
            _ => Self::Any,
        }
    }

    /// Whether the value, or a word of it, could begin with `-` or be replaced by file names.
    pub(crate) fn may_be_option(&self) -> bool {
        match self {
            Self::OneOf(texts) => texts
                .iter()
                .flat_map(|text| text.split_whitespace())
                .any(|word| word.starts_with(['-', '*', '?', '['])),
            Self::Number | Self::Name | Self::Tame => false,
            Self::Any => true,
        }
    }

    /// Whether a word of it could, when the shell takes it apart at blanks.
    pub(crate) fn may_split_into_option(&self) -> bool {
        *self == Self::Tame || self.may_be_option()
    }

    /// Whether it is one word that does not begin with `-`.
    fn is_name(&self) -> bool {
        match self {
            Self::OneOf(texts) => {
                !self.may_be_option() && texts.iter().all(|text| !text.contains([' ', '\t', '\n']))
            }
            Self::Number | Self::Name => true,
            Self::Tame | Self::Any => false,
        }
    }

    /// Whether arithmetic on it can only compute.
    pub(crate) fn is_number(&self) -> bool {
        match self {
            Self::Number => true,
            Self::OneOf(texts) => texts.iter().all(|text| {
                let digits = text.strip_prefix('-').unwrap_or(text);
                digits.bytes().all(|b| b.is_ascii_digit())
            }),
            Self::Name | Self::Tame | Self::Any => false,
        }
    }

    /// The value to believe when only a guess is needed.
    pub(crate) fn guess(&self) -> Option<&str> {
        match self {
            Self::OneOf(texts) => texts.last().map(String::as_str),
            _ => None,
        }
    }
}

/// The variables of a text.
#[derive(Clone, Debug, Default)]
pub(crate) struct Variables {
    values: HashMap<String, Value>,
}

impl Variables {
    pub(crate) fn set(&mut self, name: &str, value: Value) {
        let joined = match self.values.remove(name) {
            Some(old) => old.or(value),
            None => value,
        };
        self.values.insert(name.to_owned(), joined);
    }

    pub(crate) fn get(&self, name: &str) -> Option<&Value> {
        self.values.get(name)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.values.is_empty()
    }
}

/// Names that change what programs do, with everything that begins or ends like them.
const EXACT: &[&str] = &[
    "PATH",
    "IFS",
    "ENV",
    "CDPATH",
    "PS0",
    "PS1",
    "PS2",
    "PS3",
    "PS4",
    "HOME",
    "SHELL",
    "SHELLOPTS",
    "BROWSER",
    "EDITOR",
    "VISUAL",
    "FCEDIT",
    "PAGER",
    "CC",
    "CXX",
    "LD",
    "AR",
    "AS",
    "CPP",
    "CFLAGS",
    "CXXFLAGS",
    "LDFLAGS",
    "CPPFLAGS",
    "GLOBIGNORE",
    "FIGNORE",
    "EXECIGNORE",
    "HISTFILE",
    "HOSTALIASES",
    "INPUTRC",
    "MAIL",
    "MAILCHECK",
    "OPTIND",
    "TMPDIR",
    "USER",
    "LOGNAME",
    "PWD",
    "OLDPWD",
    "TERMINFO",
    "TERMCAP",
    "DISPLAY",
    "WGETRC",
    "CURL_HOME",
    "KUBECONFIG",
    "CLASSPATH",
    "http_proxy",
    "https_proxy",
    "all_proxy",
    "ALL_PROXY",
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "CARGO",
    "RUSTC",
    "RUSTFMT",
    "RUSTFLAGS",
    "RUSTDOC",
    "LINGUAS",
    "fpath",
    "FPATH",
    "module_path",
    "ZDOTDIR",
    "NULLCMD",
    "READNULLCMD",
    "REPORTTIME",
    "_",
    "UID",
    "EUID",
    "PPID",
    "FUNCNEST",
    "command_not_found_handle",
    "TIMEFORMAT",
    "POSIXLY_CORRECT",
    "GOFLAGS",
    "GOROOT",
    "GOBIN",
    "MAKEFLAGS",
    "MFLAGS",
    "SUDO_ASKPASS",
    "SSH_ASKPASS",
    "SSH_AUTH_SOCK",
    "DBUS_SESSION_BUS_ADDRESS",
    "LOCALDOMAIN",
    "SSLKEYLOGFILE",
    "DEBUGINFOD_URLS",
    "MTR_PACKET",
];

const STARTS: &[&str] = &[
    "LD_",
    "DYLD_",
    "BASH",
    "GIT_",
    "LESS",
    "MAN",
    "PERL",
    "PYTHON",
    "RUBY",
    "NODE_",
    "NPM_",
    "npm_",
    "CARGO_",
    "RUSTUP_",
    "RUSTC_",
    "JAVA_",
    "_JAVA",
    "JDK_",
    "MALLOC_",
    "GLIBC_",
    "OPENSSL_",
    "SSL_",
    "PG",
    "MYSQL_",
    "DOCKER_",
    "KUBE",
    "AWS_",
    "XDG_",
    "SYSTEMD_",
    "FZF_",
    "BAT_",
    "GPG",
    "GNUPG",
    "GCONV",
    "LOCPATH",
    "NLSPATH",
    "RIPGREP_",
    "GREP_",
    "TAR_",
    "ZIP",
    "UNZIP",
    "GZIP",
    "PIP_",
    "UV_",
    "POETRY_",
    "YARN_",
    "PNPM_",
    "BUN_",
    "TF_",
    "HELM_",
    "GH_",
    "CLOUDSDK_",
    "AZURE_",
    "SSH_",
    "DIFF_",
    "JQ_",
    "SQLITE_",
    "REDISCLI_",
    "AWK",
    "GAWK",
    "ZSH",
    "HIST",
    "PROMPT",
    "LUA_",
    "R_",
    "PHP",
    "COMPOSER_",
    "BUNDLE_",
    "GEM_",
    "MAVEN_",
    "GRADLE_",
    "DOTNET_",
    "COREHOST_",
    "COR_",
    "ELECTRON_",
    "DENO_",
    "ERL_",
    "RSYNC_",
    "CURL_",
    "GROFF",
    "ANSIBLE_",
    "PKG_CONFIG_",
    "PIPENV_",
    "CONTAINER",
    "XZ_",
    "BZIP",
    "GOENV",
    "GOTOOLCHAIN",
    "GOPROXY",
    "GOCACHE",
    "GOMODCACHE",
    "GOVCS",
    "GOINSECURE",
];

/// Variables that are numbers to a shell: what is assigned to them is evaluated.
const EVALUATED: &[&str] = &[
    "RANDOM",
    "SRANDOM",
    "SECONDS",
    "LINENO",
    "HISTCMD",
    "EPOCHSECONDS",
    "BASHPID",
    "COLUMNS",
    "LINES",
    "SHLVL",
    "ERRNO",
    "KEYTIMEOUT",
    "LISTMAX",
    "TMOUT",
    "TTYIDLE",
    "ARGC",
    "SAVEHIST",
];

/// Whether the shell evaluates what is assigned to the variable.
pub(crate) fn is_evaluated(name: &str) -> bool {
    EVALUATED.contains(&name)
}

const ENDS: &[&str] = &[
    "PATH",
    "_PAGER",
    "PAGER",
    "EDITOR",
    "_OPTIONS",
    "_OPTS",
    "_OPT",
    "_CONFIG",
    "_CONFIG_FILE",
    "RC",
    "_HOME",
    "_WRAPPER",
    "_COMMAND",
    "_SHELL",
    "_PROGRAM",
    "_ASKPASS",
    "_PRELOAD",
    "_CMD",
    "_EXEC",
];

/// Names that look like the above and are harmless.
const HARMLESS: &[&str] = &[
    "PYTHONUNBUFFERED",
    "PYTHONDONTWRITEBYTECODE",
    "PYTHONIOENCODING",
    "PYTHONUTF8",
    "PYTHONHASHSEED",
    "NODE_ENV",
    "GIT_TERMINAL_PROMPT",
    "GIT_OPTIONAL_LOCKS",
    "GIT_AUTHOR_NAME",
    "GIT_AUTHOR_EMAIL",
    "GIT_AUTHOR_DATE",
    "GIT_COMMITTER_NAME",
    "GIT_COMMITTER_EMAIL",
    "GIT_COMMITTER_DATE",
    "AWS_PROFILE",
    "AWS_REGION",
    "AWS_DEFAULT_REGION",
    "AWS_PAGER",
    "PGPASSWORD",
    "PGUSER",
    "PGHOST",
    "PGPORT",
    "PGDATABASE",
    "MYSQL_PWD",
    "MANWIDTH",
    "CARGO_TERM_COLOR",
    "CARGO_INCREMENTAL",
    "MANPAGER",
    "GH_PAGER",
    "GIT_PAGER",
    "SYSTEMD_PAGER",
    "SYSTEMD_COLORS",
    "LESSCHARSET",
    "GH_FORCE_TTY",
    "DOCKER_BUILDKIT",
    "BAT_STYLE",
    "BAT_THEME",
    "SSL_VERIFY",
    "NPM_CONFIG_LOGLEVEL",
    "ZIPCODE",
    "NODE_NO_WARNINGS",
];

/// Whether setting the variable can change which code later commands run.
pub(crate) fn changes_what_runs(name: &str, value: Option<&str>) -> bool {
    if name.ends_with("PAGER") {
        return !matches!(value, Some("cat" | ""));
    }
    if HARMLESS.contains(&name) {
        return false;
    }
    EXACT.contains(&name)
        || STARTS.iter().any(|start| name.starts_with(start))
        || ENDS.iter().any(|end| name.ends_with(end) && name.len() > end.len())
}

/// Whether zsh looks up in it what commands mean.
pub(crate) fn is_zsh_table(name: &str) -> bool {
    const TABLES: &str = "path cdpath manpath argv status functions aliases galiases saliases commands builtins options modules nameddirs userdirs dirstack parameters widgets keymaps reswords patchars";
    name.ends_with("_functions")
        || TABLES.split(' ').any(|table| table == name || name.strip_prefix("dis_") == Some(table))
}

/// Whether it is the name of a variable and nothing else.
pub(crate) fn is_name(text: &str) -> bool {
    let mut bytes = text.bytes();
    bytes.next().is_some_and(|b| b.is_ascii_alphabetic() || b == b'_')
        && bytes.all(|b| b.is_ascii_alphanumeric() || b == b'_')
}

/// Whether printing the variable shows a secret.
pub(crate) fn is_secret(name: &str) -> bool {
    path::is_secret_name(name)
}

#[cfg(test)]
mod tests {
    use super::{Value, changes_what_runs};

    #[test]
    fn a_pager_may_only_become_cat() {
        assert!(!changes_what_runs("GIT_PAGER", Some("cat")));
        assert!(changes_what_runs("GIT_PAGER", Some("sh -c id")));
        assert!(changes_what_runs("PAGER", None));
    }

    #[test]
    fn names_of_ones_own_are_harmless() {
        for name in ["x", "count", "DIR", "BASE_URL", "FILES", "RUST_LOG", "LC_ALL", "TZ"] {
            assert!(!changes_what_runs(name, None), "{name}");
        }
        for name in [
            "PATH",
            "LD_PRELOAD",
            "BASH_ENV",
            "GIT_SSH_COMMAND",
            "PYTHONPATH",
            "IFS",
            "PROMPT_COMMAND",
        ] {
            assert!(changes_what_runs(name, None), "{name}");
        }
    }

    #[test]
    fn a_value_that_may_hold_a_dash_may_be_an_option() {
        assert!(Value::literal("a -o b").may_be_option());
        assert!(!Value::literal("a").or(Value::literal("b")).may_be_option());
        assert!(!Value::literal("a").or(Value::Number).may_be_option());
        assert!(Value::literal("a").or(Value::Any).may_be_option());
    }
}
