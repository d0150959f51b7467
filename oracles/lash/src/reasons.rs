//! Why a call may end differently.

use serde_json::Value;

use crate::Came;
use crate::cases::Case;

/// Whose difference it is.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Whose {
    /// It is declared in the contract, by the line of the document.
    Declared,
    /// The host took a step after its document, or has something that the document has not.
    Host,
}

pub(crate) struct Reason {
    pub(crate) whose: Whose,
    pub(crate) why: &'static str,
    /// Whether it is about this call.
    applies: fn(&Case) -> bool,
    /// Whether what differs is what it says.
    differs: fn(&Came, &Came) -> bool,
}

impl Reason {
    pub(crate) fn explains(&self, case: &Case, theirs: &Came, ours: &Came) -> bool {
        (self.applies)(case) && (self.differs)(theirs, ours)
    }
}

const fn declared(
    why: &'static str,
    applies: fn(&Case) -> bool,
    differs: fn(&Came, &Came) -> bool,
) -> Reason {
    Reason { whose: Whose::Declared, why, applies, differs }
}

const fn host(
    why: &'static str,
    applies: fn(&Case) -> bool,
    differs: fn(&Came, &Came) -> bool,
) -> Reason {
    Reason { whose: Whose::Host, why, applies, differs }
}

pub(crate) const REASONS: [Reason; 13] = [
    declared(
        "what ends processes by force is asked about (the gate)",
        |case| line(case).starts_with("kill -KILL"),
        |_, ours| matches!(ours, Came::Refused(why) if why.starts_with("approval required")),
    ),
    declared(
        "a command of nothing is refused (84)",
        |case| case.arguments["cmd"].as_str().is_some_and(|line| line.trim().is_empty()),
        ours_refuses,
    ),
    declared(
        "a field of a wrong type is refused, and nothing runs (86-98)",
        has_wrong_field,
        ours_refuses,
    ),
    declared(
        "null is not given, for the timeout too (86-98)",
        |case| case.arguments.get("timeout_ms") == Some(&Value::Null),
        |theirs, ours| matches!((theirs, ours), (Came::Refused(_), Came::Ended { .. })),
    ),
    declared(
        "of output that does not fit, the beginning, the end and the errors are kept (98, 474)",
        |case| {
            let line = line(case);
            case.arguments["max_output_tokens"] == 100
                || line == "seq 1 200000"
                || line.starts_with("head -c 40000")
        },
        ends_the_same,
    ),
    declared(
        "a field that the schema does not have is refused (86-98)",
        |case| case.arguments["unknown"] == 1,
        ours_refuses,
    ),
    declared(
        "a directory that is none is refused (84); the host goes to the home directory",
        |case| {
            let is_none = |place: &str| case.arguments["workdir"] == place;
            is_start(case) && ["nowhere", "file"].into_iter().any(is_none)
        },
        ours_refuses,
    ),
    host(
        "a signal is the code 128 + n; the library that the host waits with has another number",
        |case| line(case).starts_with("kill -"),
        |theirs, ours| match (theirs, ours) {
            (Came::Ended { status: a, .. }, Came::Ended { status: b, exit_code, .. }) => {
                a == b && exit_code.is_some_and(|code| code > 128)
            }
            _ => false,
        },
    ),
    host(
        "a sequence that chooses letters is taken out whole; the host leaves its last letter",
        |case| line(case).contains(r"\033(B"),
        ends_the_same,
    ),
    host(
        "a shell that is named is known by the path it was found at",
        |case| case.arguments["shell"] == "bash",
        ends_the_same,
    ),
    host(
        "the document has login for every shell; the host has it for those it knows",
        |case| case.arguments["login"] == true,
        |_, ours| matches!(ours, Came::Ended { exit_code: Some(0), .. }),
    ),
    host(
        "the host has since put a line before the command, which turns the echo off",
        |case| is_start(case) && line(case).starts_with("no-such"),
        ends_the_same,
    ),
    host(
        "the terminal library of the host sends the end of a line before the end of the input",
        |case| case.typed.iter().any(|typed| typed["close_stdin"] == true),
        ends_the_same,
    ),
];

fn line(case: &Case) -> &str {
    case.arguments["cmd"].as_str().unwrap_or_default()
}

fn is_start(case: &Case) -> bool {
    case.tool == "start_command"
}

fn has_wrong_field(case: &Case) -> bool {
    let is_wrong = |field: &str| match &case.arguments[field] {
        Value::Null => false,
        Value::Bool(_) => field != "login",
        Value::String(_) => !["workdir", "shell"].contains(&field),
        Value::Number(number) => {
            ["workdir", "shell"].contains(&field)
                || number.as_u64().is_none_or(|number| number == 0)
        }
        _ => true,
    };
    ["login", "workdir", "shell", "max_output_tokens", "timeout_ms"].into_iter().any(is_wrong)
}

fn ours_refuses(theirs: &Came, ours: &Came) -> bool {
    matches!((theirs, ours), (Came::Ended { .. }, Came::Refused(_)))
}

/// Only the output is another.
fn ends_the_same(theirs: &Came, ours: &Came) -> bool {
    match (theirs, ours) {
        (
            Came::Ended { status, exit_code, .. },
            Came::Ended { status: our_status, exit_code: our_code, .. },
        ) => (status, exit_code) == (our_status, our_code),
        _ => false,
    }
}
