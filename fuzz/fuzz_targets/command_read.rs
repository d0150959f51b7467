//! Any bytes as a command, in any shell: no panic, an end, and no danger in front of it goes unseen.

#![no_main]

use libfuzzer_sys::fuzz_target;
use umbo_command::{Risk, Shell, read};

const SHELLS: [Shell; 6] =
    [Shell::Posix, Shell::Bash, Shell::Zsh, Shell::Nu, Shell::Fish, Shell::PowerShell];

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
    let _ = umbo_command::tasks::classify(&text);
    let words: Vec<&str> = text.split_whitespace().collect();
    let _ = umbo_command::prefix(&words);
});
