//! The well-known shapes of tokens, as a table.
//!
//! Each format names the literals it starts with, so that one pass finds every candidate, and the
//! pattern that must match from there. If the pattern has a group, only the group is the secret.

use std::sync::OnceLock;

use regex::Regex;

use super::MaskError;

/// One well-known shape.
#[derive(Debug)]
pub(super) struct Format {
    pub(super) id: &'static str,
    pub(super) starts: &'static [&'static str],
    pub(super) pattern: &'static str,
    /// Whether the start may stand inside a word.
    pub(super) anywhere: bool,
    /// Whether only text with a digit in it is taken for a secret.
    pub(super) digit: bool,
    /// How far the secret may go on after its start.
    pub(super) extent: Extent,
}

/// Over so many lines a format of [`Extent::Lines`] goes.
pub(super) const MOST_LINES: usize = 4;

/// What ends a format at the latest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Extent {
    /// White space.
    Word,
    /// The end of the line.
    Line,
    /// The end of the fourth line.
    Lines,
    /// The end of a private key.
    Block,
}

const fn token(id: &'static str, starts: &'static [&'static str], pattern: &'static str) -> Format {
    Format { id, starts, pattern, anywhere: false, digit: false, extent: Extent::Word }
}

const fn setting(
    id: &'static str,
    starts: &'static [&'static str],
    pattern: &'static str,
) -> Format {
    Format { id, starts, pattern, anywhere: true, digit: false, extent: Extent::Line }
}

/// The table. The order decides nothing; every format that matches is masked.
pub(super) const FORMATS: &[Format] = &[
    token("aws-access-key", &["AKIA", "ASIA", "ABIA", "ACCA"], r"A[KSBC][ICA]A[A-Z2-7]{16}\b"),
    token("github-token", &["ghp_", "gho_", "ghu_", "ghs_", "ghr_"], r"gh[pousr]_[A-Za-z0-9]{36,}"),
    token("github-fine-grained", &["github_pat_"], r"github_pat_[A-Za-z0-9_]{22,}"),
    token(
        "gitlab-token",
        &["glpat-", "gldt-", "glrt-", "glcbt-", "glptt-", "glft-", "glsoat-", "glimt-", "glagent-"],
        r"gl[a-z]{2,5}-[A-Za-z0-9_.=-]{20,}",
    ),
    token(
        "slack-token",
        &["xoxb-", "xoxp-", "xoxa-", "xoxr-", "xoxs-", "xoxe", "xapp-"],
        r"x(?:ox[abeprs]|app)[.-][A-Za-z0-9.-]{10,}",
    ),
    token(
        "slack-webhook",
        &["hooks.slack.com/"],
        r"hooks\.slack\.com/(?:services|workflows|triggers)/([A-Za-z0-9+/_-]{20,})",
    ),
    token(
        "stripe-key",
        &["sk_live_", "sk_test_", "rk_live_", "rk_test_", "whsec_"],
        r"(?:[sr]k_(?:live|test)|whsec)_[A-Za-z0-9+/=]{16,}",
    ),
    token("google-api-key", &["AIza"], r"AIza[A-Za-z0-9_-]{35}"),
    token("google-oauth", &["ya29.", "GOCSPX-"], r"(?:ya29\.|GOCSPX-)[A-Za-z0-9._-]{20,}"),
    token("anthropic-key", &["sk-ant-"], r"sk-ant-[A-Za-z0-9_-]{20,}"),
    Format {
        id: "openai-key",
        starts: &["sk-"],
        pattern: r"sk-[A-Za-z0-9_-]{20,}",
        anywhere: false,
        // Names of packages and style classes start like this too.
        digit: true,
        extent: Extent::Word,
    },
    token("groq-xai-key", &["gsk_", "xai-"], r"(?:gsk_|xai-)[A-Za-z0-9]{32,}"),
    token("hugging-face-token", &["hf_"], r"hf_[A-Za-z0-9]{30,}"),
    token("npm-token", &["npm_"], r"npm_[A-Za-z0-9]{36,}"),
    token("pypi-token", &["pypi-"], r"pypi-[A-Za-z0-9_-]{50,}"),
    token("docker-token", &["dckr_pat_", "dckr_oat_"], r"dckr_[op]at_[A-Za-z0-9_-]{20,}"),
    token("sendgrid-key", &["SG."], r"SG\.[A-Za-z0-9_-]{16,64}\.[A-Za-z0-9_-]{16,64}"),
    token("twilio-key", &["SK", "AC"], r"(?:SK|AC)[0-9a-f]{32}\b"),
    token("digitalocean-token", &["dop_v1_", "doo_v1_", "dor_v1_"], r"do[opr]_v1_[a-f0-9]{64}"),
    token("vault-token", &["hvs.", "hvb.", "hvr."], r"hv[sbr]\.[A-Za-z0-9_-]{24,}"),
    token("age-key", &["AGE-SECRET-KEY-1"], r"AGE-SECRET-KEY-1[A-Z0-9]{40,80}"),
    token("jwt", &["eyJ"], r"eyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{4,}\.[A-Za-z0-9_-]*"),
    token("bearer", &["Bearer ", "bearer ", "BEARER "], r"(?i:bearer) ([A-Za-z0-9._~+/=-]{20,})"),
    Format {
        id: "authorization-header",
        starts: &["uthorization:", "UTHORIZATION:"],
        pattern: r"(?i:uthorization:[ \t]*(?:basic|bearer|token|apikey)[ \t]+)([A-Za-z0-9._~+/=-]{6,})",
        anywhere: true,
        digit: false,
        extent: Extent::Line,
    },
    Format {
        id: "url-password",
        starts: &["://"],
        pattern: r#"://[^\s/?#:@"'<>]*:([^\s/?#@"'<>]+)@"#,
        anywhere: true,
        digit: false,
        extent: Extent::Word,
    },
    setting(
        "dotenv",
        &[
            "SECRET",
            "TOKEN",
            "PASSWORD",
            "PASSWD",
            "PASSPHRASE",
            "CREDENTIAL",
            "API_KEY",
            "APIKEY",
            "PRIVATE_KEY",
            "ACCESS_KEY",
        ],
        // A value of its own: no reference to another one, no place, no number alone.
        r#"[A-Z]+(?:_[A-Z0-9_]*)?=(?:"([^"$\n]{8,})"|'([^'$\n]{8,})'|([A-Za-z0-9+_=!@%^*:.#~-][^\s"'$`(){}<>;|&]{7,}))"#,
    ),
    setting(
        "npmrc",
        &["_authToken", "_auth", "_password"],
        r#"_(?:authToken|auth|password)[ \t]*=[ \t]*"?([A-Za-z0-9+/=_.-]{8,})"#,
    ),
    Format {
        id: "netrc",
        starts: &["machine ", "default "],
        pattern: r"(?:machine[ \t]+\S+|default)\s+(?:(?:login|account)[ \t]+\S+\s+){1,2}password[ \t]+(\S+)",
        anywhere: false,
        digit: false,
        extent: Extent::Lines,
    },
    setting(
        "kubeconfig",
        &["client-key-data:", "token:", "id-token:", "refresh-token:", "access-token:"],
        r#"(?:client-key-data|(?:id-|refresh-|access-)?token):[ \t]*["']?([A-Za-z0-9+/=_.-]{20,})"#,
    ),
    setting(
        "docker-config",
        &["\"auth\"", "\"identitytoken\"", "\"registrytoken\""],
        r#""(?:auth|identitytoken|registrytoken)"[ \t]*:[ \t]*"([A-Za-z0-9+/=_.-]{8,})""#,
    ),
    setting(
        "aws-secret-key",
        &[
            "secret_access_key",
            "SecretAccessKey",
            "secretAccessKey",
            "SECRET_ACCESS_KEY",
            "session_token",
            "SessionToken",
            "sessionToken",
        ],
        r#"(?:(?i:secret_?access_?key)|(?i:session_?token))["']?[ \t]*[:=][ \t]*["']?([A-Za-z0-9/+=]{40,})"#,
    ),
    Format {
        id: "private-key",
        starts: &["-----BEGIN "],
        // The end is optional: a block whose end is not in sight is a key all the same.
        pattern: concat!(
            r"-----BEGIN (?:[A-Z0-9]{1,12} ){0,3}PRIVATE KEY(?: BLOCK)?-----",
            r#"(?:[\s"',+]|\\[nr])*"#,
            r"(?:(?:Proc-Type|DEK-Info|Comment|Version): ?[^\n]*\s+)*",
            r#"(?:[A-Za-z0-9+/=]{16,}(?:[\s"',+]|\\[nr])*)*"#,
            r#"(?:[A-Za-z0-9+/=]+\z|[A-Za-z0-9+/=]*(?:[\s"',+]|\\[nr])*"#,
            r"-----END (?:[A-Z0-9]{1,12} ){0,3}PRIVATE KEY(?: BLOCK)?-----)?",
        ),
        anywhere: true,
        digit: false,
        extent: Extent::Block,
    },
];

/// The patterns, each compiled when text first has a candidate for it: most text has none.
static COMPILED: [OnceLock<Option<Regex>>; FORMATS.len()] =
    [const { OnceLock::new() }; FORMATS.len()];

/// The pattern of the format at `index` of the table, anchored.
pub(super) fn compiled(index: usize) -> Option<&'static Regex> {
    let compile = || Regex::new(&format!(r"\A(?:{})", FORMATS[index].pattern)).ok();
    COMPILED[index].get_or_init(compile).as_ref()
}

/// The formats to look for, by their place in the table, but for the ones named in `without`.
pub(super) fn chosen(without: &[String]) -> Result<Vec<usize>, MaskError> {
    if let Some(unknown) = without.iter().find(|id| FORMATS.iter().all(|f| f.id != id.as_str())) {
        return Err(MaskError::UnknownFormat { id: unknown.clone() });
    }
    let wanted = |&index: &usize| !without.iter().any(|id| id == FORMATS[index].id);
    Ok((0..FORMATS.len()).filter(wanted).collect())
}

/// The names of all well-known formats.
pub fn format_names() -> impl Iterator<Item = &'static str> {
    FORMATS.iter().map(|format| format.id)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pattern_compiles_and_starts_as_its_literals_say() {
        for (index, format) in FORMATS.iter().enumerate() {
            assert!(compiled(index).is_some(), "{}", format.id);
        }
    }
}
