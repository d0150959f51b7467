//! Paths with globs: where they start, and what must match below.

use globset::{Glob, GlobBuilder};

use crate::Error;

/// A path up to the first part with a glob, and the rest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct GlobPath {
    /// What exists, as written; `.` if the first part has a glob.
    pub(crate) base: String,
    /// What must match below it.
    pub(crate) glob: Option<String>,
}

pub(crate) fn has_glob(text: &str) -> bool {
    text.contains(['*', '?', '[', '{'])
}

/// Splits before the first part that has a glob. A brace may span a `/`, so it ends the base too.
pub(crate) fn split(input: &str) -> GlobPath {
    let text = input.trim();
    if !has_glob(text) {
        return GlobPath { base: text.to_owned(), glob: None };
    }
    let at = text.find(['*', '?', '[', '{']).unwrap_or(text.len());
    match text[..at].rfind('/') {
        Some(slash) => {
            let base = if slash == 0 { "/" } else { &text[..slash] };
            GlobPath { base: base.to_owned(), glob: Some(text[slash + 1..].to_owned()) }
        }
        None => GlobPath { base: ".".to_owned(), glob: Some(text.to_owned()) },
    }
}

/// A glob of which `*` stops at `/`.
pub(crate) fn compile(field: &'static str, pattern: &str) -> Result<Glob, Error> {
    GlobBuilder::new(pattern)
        .literal_separator(true)
        .backslash_escape(true)
        .build()
        .map_err(|e| Error::bad(field, pattern, format!("this is no glob: {}", e.kind())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_split_before_its_first_glob() {
        let parts = |text: &str| {
            let path = split(text);
            (path.base, path.glob.unwrap_or_default())
        };
        assert_eq!(parts("src/*.rs"), ("src".into(), "*.rs".into()));
        assert_eq!(parts("src/**/*.rs"), ("src".into(), "**/*.rs".into()));
        assert_eq!(parts("*.rs"), (".".into(), "*.rs".into()));
        assert_eq!(parts("/*.rs"), ("/".into(), "*.rs".into()));
        assert_eq!(parts("src/lib.rs"), ("src/lib.rs".into(), String::new()));
        assert_eq!(parts("a/b{c/d,e}/f"), ("a".into(), "b{c/d,e}/f".into()));
    }
}
