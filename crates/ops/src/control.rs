//! `pause`, `resume`, `signal`: what is done to a job that goes on.

use serde::Serialize;
use umbo_engine::{JobHandle, Reach};

use crate::call::Call;
use crate::error::Error;

/// What is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Control {
    /// All of its processes stand still.
    Pause,
    /// They go on.
    Resume,
    /// They get a signal.
    Signal(i32, Reach),
}

/// With which jobs.
#[derive(Debug, Clone)]
pub struct ControlRequest {
    /// The jobs, by whatever finds them.
    pub jobs: Vec<String>,
    /// What is done with each.
    pub control: Control,
}

/// With which jobs it was done.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct ControlAnswer {
    /// Their ids.
    pub jobs: Vec<String>,
    /// Why it was not done with the others, if there are any.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub failed: Vec<Error>,
}

/// Pauses jobs, lets them go on, or sends them a signal. All are found before anything is done; what
/// cannot be done with one keeps no other from it.
pub fn control(call: &Call<'_>, request: &ControlRequest) -> Result<ControlAnswer, Error> {
    let jobs: Vec<JobHandle> =
        request.jobs.iter().map(|name| call.job(name)).collect::<Result<_, _>>()?;
    let mut answer = ControlAnswer { jobs: Vec::new(), failed: Vec::new() };
    for job in jobs {
        let done = match request.control {
            Control::Pause => job.pause(),
            Control::Resume => job.resume(),
            Control::Signal(number, reach) => job.signal(number, reach),
        };
        match done {
            Ok(()) => answer.jobs.push(job.id().to_string()),
            Err(error) => answer.failed.push(error.into()),
        }
    }
    match answer.failed.pop() {
        Some(error) if answer.jobs.is_empty() && answer.failed.is_empty() => Err(error),
        Some(error) => {
            answer.failed.push(error);
            Ok(answer)
        }
        None => Ok(answer),
    }
}

/// Signals by name, with the numbers they have on Linux.
const SIGNALS: [(&str, i32); 31] = [
    ("HUP", 1),
    ("INT", 2),
    ("QUIT", 3),
    ("ILL", 4),
    ("TRAP", 5),
    ("ABRT", 6),
    ("BUS", 7),
    ("FPE", 8),
    ("KILL", 9),
    ("USR1", 10),
    ("SEGV", 11),
    ("USR2", 12),
    ("PIPE", 13),
    ("ALRM", 14),
    ("TERM", 15),
    ("STKFLT", 16),
    ("CHLD", 17),
    ("CONT", 18),
    ("STOP", 19),
    ("TSTP", 20),
    ("TTIN", 21),
    ("TTOU", 22),
    ("URG", 23),
    ("XCPU", 24),
    ("XFSZ", 25),
    ("VTALRM", 26),
    ("PROF", 27),
    ("WINCH", 28),
    ("IO", 29),
    ("PWR", 30),
    ("SYS", 31),
];

/// The number of a signal: `TERM`, `sigterm` or `15`.
pub fn parse_signal(text: &str) -> Result<i32, Error> {
    let upper = text.to_ascii_uppercase();
    let name = upper.strip_prefix("SIG").unwrap_or(&upper);
    let fits = |(known, number): &&(&str, i32)| *known == name || number.to_string() == name;
    SIGNALS.iter().find(fits).map(|(_, number)| *number).ok_or_else(|| {
        let accepted = "accepted: a name as TERM or SIGTERM, or a number from 1 to 31";
        Error::argument("signal", format!("{text:?} was given; {accepted}"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signals_have_the_numbers_that_kill_prints() {
        // What nobody here wrote: the list of the system's own shell.
        for (name, number) in SIGNALS {
            let script = format!("kill -l {number}");
            let said = std::process::Command::new("bash").args(["-c", &script]).output().unwrap();
            let said = String::from_utf8(said.stdout).unwrap();
            assert_eq!(said.trim(), name, "{number}");
        }
    }

    #[test]
    fn a_signal_is_a_name_or_a_number_and_nothing_else() {
        for text in ["TERM", "term", "SIGTERM", "SigTerm", "15"] {
            assert_eq!(parse_signal(text).unwrap(), 15, "{text}");
        }
        for text in ["", "0", "-9", "32", "SIG", "TERMINATE", "1 5"] {
            assert!(parse_signal(text).is_err(), "{text}");
        }
    }
}
