//! Internal URLs in commands, variables and directories: `artifact://ID` is the file with all that a
//! job wrote. The other schemes of the contract lead to things that an agent has and umbo has not;
//! they are refused, for a shell would take them for the names of files.

use std::sync::LazyLock;

use regex::{Captures, Regex};
use umbo_ops::Call;
use umbo_text::quote;

use super::error;
use crate::answer::ToolError;

/// A URL with the quotes around it, if it is all that they quote.
static URL: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let schemes = "agent|artifact|issue|local|mcp|memory|pi|pr|rule|skill";
    let url = format!(r"(?:{schemes})://[^\s'\x22`$;|&<>()]+");
    Regex::new(&format!(r"'{url}'|\x22{url}\x22|\b{url}")).ok()
});

/// How an expanded path is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Writing {
    /// As a word of a shell.
    Quoted,
    /// As it is.
    Bare,
}

/// The text with the paths that its URLs stand for.
pub(super) fn expand(call: &Call<'_>, text: &str, writing: Writing) -> Result<String, ToolError> {
    let Some(pattern) = URL.as_ref().filter(|_| text.contains("://")) else {
        return Ok(text.to_owned());
    };
    let mut problem = None;
    let expanded = pattern.replace_all(text, |found: &Captures<'_>| {
        match path(call, found[0].trim_matches(['\'', '"'])) {
            Ok(path) if writing == Writing::Quoted => quote::word(&path),
            Ok(path) => path,
            Err(error) => {
                problem.get_or_insert(error);
                String::new()
            }
        }
    });
    match problem {
        Some(problem) => Err(problem),
        None => Ok(expanded.into_owned()),
    }
}

fn path(call: &Call<'_>, url: &str) -> Result<String, ToolError> {
    let (scheme, rest) = url.split_once("://").unwrap_or((url, ""));
    if scheme != "artifact" {
        let text = format!("Unsupported internal URL: {url}. Only artifact://<id> is known here.");
        return Err(error(text));
    }
    if rest.contains("..") {
        return Err(error(format!("Path traversal is not allowed: {url}")));
    }
    let job = call.caller.backend.job(rest).ok();
    let job = job.filter(|job| job.summary().is_some());
    if let Some(job) = job {
        return Ok(call.output_file(&job).display().to_string());
    }
    let known = call.caller.backend.newest(call.caller.owner.as_deref(), None, 20)?;
    let ids: Vec<String> = known.iter().map(|job| job.job.to_string()).collect();
    let known = if ids.is_empty() { "none".to_owned() } else { ids.join(", ") };
    Err(error(format!("Artifact {rest} not found. Available: {known}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_are_found_as_words_and_in_quotes() {
        let pattern = URL.as_ref().unwrap();
        let found = |text: &str| -> Vec<String> {
            pattern.find_iter(text).map(|found| found.as_str().to_owned()).collect()
        };
        assert_eq!(found("cat artifact://3 'skill://pdf/a b'"), ["artifact://3", "skill://pdf/a"]);
        assert_eq!(found("wc \"artifact://01ab\"; x"), ["\"artifact://01ab\""]);
        assert_eq!(found("x=artifact://1;y"), ["artifact://1"]);
        assert!(found("curl https://a/b s3://c git+ssh://d myskill://x artifact://").is_empty());
    }
}
