//! Any text as a file of rules: it is refused with a line that exists, or it is obeyed; and whatever it
//! allows, what is built in stays denied.

#![no_main]

use std::path::Path;
use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use umbo_command::{Shell, read};
use umbo_gate::{Decision, Error, Mode, Policy, Roots, Subject, Trust, decide};

static BUILTIN: LazyLock<Policy> = LazyLock::new(|| {
    let roots = Roots::new(Path::new("/p")).home(Some(Path::new("/h")));
    Policy::new(roots)
});

fn decision(policy: &Policy, command: &str, mode: Mode) -> Decision {
    let reading = read(command, Shell::Bash);
    let subject = Subject::new(command, &reading, Path::new("/p"), policy.roots());
    decide(&subject, policy, mode, &[]).verdict.decision()
}

fuzz_target!(|data: &[u8]| {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let path = Path::new("rules.toml");
    for trust in [Trust::Trusted, Trust::Untrusted] {
        match BUILTIN.clone().project(path, text, trust) {
            Err(Error::Rules { line, problem, .. }) => {
                assert!(line <= text.lines().count() + 1, "line {line}");
                assert!(!problem.is_empty());
            }
            Err(error) => panic!("{error}"),
            Ok(policy) => {
                for mode in Mode::ALL {
                    assert_eq!(decision(&policy, "rm -rf /", mode), Decision::Deny);
                    let loose = decision(&policy, "git push --force", mode);
                    let strict = decision(&BUILTIN, "git push --force", mode);
                    assert!(
                        trust == Trust::Trusted || loose >= strict,
                        "an untrusted file loosens"
                    );
                    decision(&policy, "cat a/b | grep x > ../y", mode);
                }
            }
        }
    }
});
