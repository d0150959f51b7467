//! Which commands somebody is asked about, by the classifier and the modes of the document. What the
//! gate finds out beyond that counts too: the stricter of the two decides.

use umbo_command::Risk;
use umbo_command::tasks::classify;
use umbo_gate::Mode;

/// Why somebody is asked about a command; `None` if the mode lets it run, or has no word on it.
pub(super) fn reason(command: &str, mode: Mode) -> Option<String> {
    let found = classify(command);
    let runs = match mode {
        // Every command, whatever it was found to be.
        Mode::Default => false,
        Mode::AcceptEdits => found.risk == Risk::ReadOnly || found.is_common_fs,
        Mode::Auto => found.risk == Risk::ReadOnly,
        // Not of the document.
        Mode::Guard | Mode::Open => true,
    };
    if runs {
        return None;
    }
    Some(match (found.risk, found.matched.as_str()) {
        (Risk::Dangerous, prefix) => format!("Dangerous: {prefix}"),
        (risk, _) => format!("Mode {mode} asks; the command is {risk}."),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mode_lets_run_what_the_document_says() {
        for (command, asks_in) in [
            ("ls -la | wc -l", &[Mode::Default][..]),
            ("mkdir x", &[Mode::Default, Mode::Auto]),
            ("make", &[Mode::Default, Mode::AcceptEdits, Mode::Auto]),
            ("ls; ls", &[Mode::Default, Mode::AcceptEdits, Mode::Auto]),
            ("ls || ls", &[Mode::Default, Mode::AcceptEdits, Mode::Auto]),
            ("ls > x", &[Mode::Default, Mode::AcceptEdits, Mode::Auto]),
            ("wc -l < x", &[Mode::Default, Mode::AcceptEdits, Mode::Auto]),
        ] {
            for mode in Mode::ALL {
                let asks = reason(command, mode).is_some();
                assert_eq!(asks, asks_in.contains(&mode), "{command} in {mode}");
            }
        }
        assert_eq!(reason("ls && rm -rf x", Mode::Auto).as_deref(), Some("Dangerous: rm -rf"));
    }
}
