//! The options of a program in one line.
//!
//! A spec is a list of words, as a manual would have them:
//!
//! - `abn:w:u;` are letters: `-a` and `-b` alone, `-n` and `-w` with a value, `-u` with one that may be
//!   written to it (`-u3`) but is never the next word;
//! - `--all`, `--lines=`, `--color?` are the same as words;
//! - `-name=` is a word behind one dash;
//! - `--*` is any word that begins with two dashes: everything such a program takes is a parameter;
//! - `@` instead of `=` or `:` says that the value must be the name of a format (`-o json`): elsewhere
//!   the same option names a file.

/// What an option takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Takes {
    /// Nothing.
    Nothing,
    /// A value: written to it or the next word.
    Value,
    /// A value that is written to it, or none.
    Attached,
    /// The name of a format.
    Format,
}

fn takes(mark: Option<char>) -> Takes {
    match mark {
        Some('=' | ':') => Takes::Value,
        Some('?' | ';') => Takes::Attached,
        Some('@') => Takes::Format,
        _ => Takes::Nothing,
    }
}

/// What a spec says about an option; nothing if it does not know it.
pub(crate) fn find(spec: &str, option: &str) -> Option<Takes> {
    let letter = match option.as_bytes() {
        [b'-', letter] if !b"-:;@".contains(letter) => Some(*letter),
        _ => None,
    };
    spec.split_ascii_whitespace().find_map(|word| {
        let mut bytes = word.bytes();
        if !word.starts_with('-') {
            let letter = letter?;
            return bytes.any(|byte| byte == letter).then(|| takes(bytes.next().map(char::from)));
        }
        match word.strip_prefix(option) {
            Some("") => Some(Takes::Nothing),
            Some(mark @ ("=" | "?" | "@")) => Some(takes(mark.chars().next())),
            _ if word == "--*" && option.starts_with("--") => Some(Takes::Attached),
            _ => None,
        }
    })
}

/// Whether a text is the name of an output format, not of a file.
pub(crate) fn is_format(text: &str) -> bool {
    const FORMATS: &str = "json jsonc json-compact jsonl ndjson json-stream yaml yml table text tsv csv wide name id ids none list plain toml xml flat short long full tree dot md markdown html raw auto value pretty simple human default line lines column columns box quiet verbose compact expanded summary cat export short-iso short-precise short-monotonic short-unix short-full with-unit json-pretty json-sse github junit sarif grouped oneline keys jsonpretty never no";
    // Some write it as `-o=json`.
    let text = text.strip_prefix('=').unwrap_or(text);
    let head = text.split(['=', ':', ',']).next().unwrap_or(text);
    FORMATS.split(' ').any(|format| format == text)
        || matches!(
            head,
            "custom-columns" | "jsonpath" | "go-template" | "template" | "value" | "csv" | "table"
        ) && head.len() < text.len()
}

#[cfg(test)]
mod tests {
    use super::{Takes, find, is_format};

    #[test]
    fn letters_and_words_are_found_with_what_they_take() {
        let spec = "abn:u;o@ --all --lines= --color? -name= --output@";
        assert_eq!(find(spec, "-a"), Some(Takes::Nothing));
        assert_eq!(find(spec, "-n"), Some(Takes::Value));
        assert_eq!(find(spec, "-u"), Some(Takes::Attached));
        assert_eq!(find(spec, "-o"), Some(Takes::Format));
        assert_eq!(find(spec, "--all"), Some(Takes::Nothing));
        assert_eq!(find(spec, "--lines"), Some(Takes::Value));
        assert_eq!(find(spec, "--color"), Some(Takes::Attached));
        assert_eq!(find(spec, "--output"), Some(Takes::Format));
        assert_eq!(find(spec, "-name"), Some(Takes::Value));
        for unknown in ["-c", "-:", "--al", "-nam", "-ab", "-", "--"] {
            assert_eq!(find(spec, unknown), None, "{unknown}");
        }
    }

    #[test]
    fn a_format_is_a_name_and_no_path() {
        assert!(
            is_format("json") && is_format("custom-columns=A:.a") && is_format("jsonpath={.x}")
        );
        assert!(!is_format("out.json") && !is_format("/tmp/x") && !is_format("a/json"));
    }
}
