//! Any bytes as a command, in any shell: no panic, an end, no danger in front of it goes unseen, and no
//! text, however often it is repeated, costs more than its length allows.

#![no_main]

use libfuzzer_sys::fuzz_target;
use umbo_command::{Risk, Shell, read};

const SHELLS: [Shell; 6] =
    [Shell::Posix, Shell::Bash, Shell::Zsh, Shell::Nu, Shell::Fish, Shell::PowerShell];

/// How long a text is made by repeating it.
const LONG_BYTES: usize = 16 * 1024;
/// What a text of that length may cost, with what one step may go over the bound.
const MOST_STEPS: usize = 700_000;

fuzz_target!(|data: &[u8]| {
    let text = String::from_utf8_lossy(data);
    for shell in SHELLS {
        let reading = read(&text, shell);
        assert!(reading.exact || reading.risk >= Risk::Unknown, "{shell:?}: inexact and certain");
        assert!(!reading.reason.is_empty(), "{shell:?}: no reason");
        for separator in ["\n", "; "] {
            let worse = read(&format!("rm -rf x{separator}{text}"), shell);
            assert!(worse.risk >= Risk::Unknown, "{shell:?}: a danger in front is not seen");
        }
    }
    // One text in eight: a long one takes as long as hundreds of short ones.
    if data.iter().fold(0_u8, |sum, byte| sum.wrapping_add(*byte)).is_multiple_of(8) {
        let long = text.repeat(LONG_BYTES / text.len().max(1));
        let steps = umbo_command::steps(&long, Shell::Bash);
        assert!(steps <= MOST_STEPS, "{steps} steps for {} bytes", long.len());
    }
    let _ = umbo_command::tasks::classify(&text);
    let words: Vec<&str> = text.split_whitespace().collect();
    let _ = umbo_command::prefix(&words);
});
