//! Paths that a terminal opens at a click (OSC 8), where it knows how.

use std::env;
use std::fmt::Write as _;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// Terminals that say who they are, by `TERM_PROGRAM` and by `TERM`.
const PROGRAMS: [&str; 6] = ["iTerm.app", "WezTerm", "vscode", "ghostty", "Hyper", "rio"];
const TERMS: [&str; 7] =
    ["xterm-kitty", "xterm-ghostty", "alacritty", "foot", "wezterm", "contour", "rio"];
/// Terminals that only leave a variable behind.
const TRACES: [&str; 4] = ["WT_SESSION", "KONSOLE_VERSION", "KITTY_WINDOW_ID", "DOMTERM"];
/// Since this version, the library behind GNOME's terminal and many others knows links.
const FIRST_VTE: u32 = 5000;

/// Whether paths on standard output are links.
pub(crate) fn has_links() -> bool {
    super::is_terminal()
        && !anstyle_query::no_color()
        && knows_links(|name| env::var_os(name)?.into_string().ok())
}

fn knows_links(variable: impl Fn(&str) -> Option<String>) -> bool {
    let term = variable("TERM").unwrap_or_default();
    if term.is_empty() || term == "dumb" {
        return false;
    }
    if let Some(wish) = variable("FORCE_HYPERLINK") {
        return wish != "0";
    }
    let vte = variable("VTE_VERSION").and_then(|version| version.parse::<u32>().ok());
    let program = variable("TERM_PROGRAM").unwrap_or_default();
    vte.is_some_and(|version| version >= FIRST_VTE)
        || PROGRAMS.contains(&program.as_str())
        || TERMS.iter().any(|known| term.split('-').next() == Some(known) || term == *known)
        || TRACES.iter().any(|name| variable(name).is_some())
}

/// A text, already made visible, as a link to a file of this machine.
pub(super) fn linked(path: &Path, text: &str) -> String {
    let host = rustix::system::uname().nodename().to_string_lossy().into_owned();
    let url = escaped(host.as_bytes()) + &escaped(path.as_os_str().as_bytes());
    format!("\x1b]8;;file://{url}\x1b\\{text}\x1b]8;;\x1b\\")
}

/// Bytes in a URL: whatever could mean anything to a terminal is a number.
fn escaped(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut url, byte| {
        if byte.is_ascii_alphanumeric() || b"/-._~".contains(byte) {
            url.push(char::from(*byte));
        } else {
            let _ = write!(url, "%{byte:02X}");
        }
        url
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn terminals_that_know_links_are_told_from_the_others() {
        let knows = |set: &[(&str, &str)]| {
            knows_links(|name| {
                let found = set.iter().find(|(known, _)| *known == name);
                found.map(|(_, value)| (*value).to_owned())
            })
        };
        assert!(knows(&[("TERM", "xterm-256color"), ("VTE_VERSION", "7006")]));
        assert!(knows(&[("TERM", "xterm-kitty")]));
        assert!(knows(&[("TERM", "foot-extra")]));
        assert!(knows(&[("TERM", "xterm-256color"), ("TERM_PROGRAM", "WezTerm")]));
        assert!(knows(&[("TERM", "xterm-256color"), ("WT_SESSION", "1")]));
        assert!(knows(&[("TERM", "xterm"), ("FORCE_HYPERLINK", "1")]));
        assert!(!knows(&[("TERM", "xterm-256color")]));
        assert!(!knows(&[("TERM", "xterm-256color"), ("VTE_VERSION", "4205")]));
        assert!(!knows(&[("TERM", "xterm-kitty"), ("FORCE_HYPERLINK", "0")]));
        assert!(!knows(&[("TERM", "dumb"), ("FORCE_HYPERLINK", "1")]));
        assert!(!knows(&[("VTE_VERSION", "7006")]));
    }

    #[test]
    fn no_byte_of_a_path_ends_the_link() {
        let link = linked(Path::new("/a b/\u{1b}\\;ü"), "text");
        let (url, rest) = link.strip_prefix("\x1b]8;;").unwrap().split_once("\x1b\\").unwrap();
        assert!(url.starts_with("file://"), "{url}");
        assert!(url.ends_with("/a%20b/%1B%5C%3B%C3%BC"), "{url}");
        assert_eq!(rest, "text\x1b]8;;\x1b\\");
    }
}
