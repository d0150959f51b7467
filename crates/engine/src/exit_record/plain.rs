//! The text of an exit record: JSON, as `serde` has it. Of most jobs there is only the usual to say, and that is
//! written and read here as what it is, a few numbers between fixed words; whoever waits for a job waits for
//! both. A record with anything else, or that another program wrote, goes through `serde`.

use std::io;

use crate::decimal;
use crate::id::JobId;
use crate::outcome::{Containment, Drained, End, Outcome, Usage};

/// The words between the parts of a usual record.
const VERSION: &str = r#"{"v":"#;
const JOB: &str = r#","job":""#;
const EXITED: &str = r#"","state":"exited","code":"#;
const DRAINED: &str = r#","drained":"eof","started_at":"#;
const ENDED_AT: &str = r#","ended_at":"#;
const CONTAINED_BY_CGROUP: &str = r#","contained_by":"cgroup""#;
const CONTAINED_BY_SUBREAPER: &str = r#","contained_by":"subreaper""#;
const USER: &str = r#","usage":{"user_us":"#;
const SYSTEM: &str = r#","system_us":"#;
const PEAK: &str = r#","peak_bytes":"#;
const TREE_PEAK: &str = r#","tree_peak_bytes":"#;
const TOTAL: &str = r#"},"total_bytes":"#;
const OMITTED: &str = r#","omitted_bytes":"#;
const END: &str = "}";
/// A number that is not known.
const NULL: &str = "null";

/// The text of a record.
pub(crate) fn text(outcome: &Outcome) -> io::Result<Vec<u8>> {
    let mut text = Vec::with_capacity(512);
    if write_usual(outcome, &mut text).is_none() {
        text.clear();
        serde_json::to_writer(&mut text, outcome)?;
    }
    Ok(text)
}

/// What a text says.
pub(crate) fn parse(text: &[u8]) -> io::Result<Outcome> {
    match read_usual(text) {
        Some(outcome) => Ok(outcome),
        None => Ok(serde_json::from_slice(text)?),
    }
}

/// `None` if there is more to say, or something else.
fn write_usual(outcome: &Outcome, to: &mut Vec<u8>) -> Option<()> {
    // All of its fields, so that none is forgotten.
    let Outcome {
        v,
        job,
        end: End::Exited { code },
        limit: None,
        drained: Drained::Eof,
        started_at: Some(started_at),
        ended_at,
        leaked,
        more_leaked: 0,
        contained_by: Some(contained_by),
        usage: Usage { user_us, system_us, peak_bytes, tree_peak_bytes },
        total_bytes,
        omitted_bytes,
        dropped_bytes: 0,
        sandbox: None,
        denied,
        more_denied: 0,
        notes,
    } = outcome
    else {
        return None;
    };
    if !(leaked.is_empty() && denied.is_empty() && notes.is_empty()) {
        return None;
    }
    let contained_by = match contained_by {
        Containment::Cgroup => CONTAINED_BY_CGROUP,
        Containment::Subreaper => CONTAINED_BY_SUBREAPER,
        Containment::Tag | Containment::Namespace => return None,
    };
    put(to, VERSION, u64::from(*v));
    to.extend_from_slice(JOB.as_bytes());
    to.extend_from_slice(job.as_str().as_bytes());
    to.extend_from_slice(EXITED.as_bytes());
    decimal::append_signed(to, *code);
    put(to, DRAINED, *started_at);
    put(to, ENDED_AT, *ended_at);
    to.extend_from_slice(contained_by.as_bytes());
    put(to, USER, *user_us);
    put(to, SYSTEM, *system_us);
    for (word, peak) in [(PEAK, peak_bytes), (TREE_PEAK, tree_peak_bytes)] {
        if let Some(bytes) = peak {
            put(to, word, *bytes);
        } else {
            to.extend_from_slice(word.as_bytes());
            to.extend_from_slice(NULL.as_bytes());
        }
    }
    put(to, TOTAL, *total_bytes);
    put(to, OMITTED, *omitted_bytes);
    to.extend_from_slice(END.as_bytes());
    Some(())
}

/// A word and a number behind it.
fn put(to: &mut Vec<u8>, word: &str, number: u64) {
    to.extend_from_slice(word.as_bytes());
    decimal::append(to, number);
}

/// `None` if it is not written as above to the byte.
fn read_usual(text: &[u8]) -> Option<Outcome> {
    let mut text = text;
    let from = &mut text;
    let v = number(from, VERSION)?.try_into().ok()?;
    word(from, JOB)?;
    let (job, rest) = from.split_at_checked(26)?;
    let job = JobId::exact(job)?;
    *from = rest;
    word(from, EXITED)?;
    let is_negative = word(from, "-").is_some();
    let code = i64::try_from(number(from, "")?).ok().filter(|code| *code > 0 || !is_negative)?;
    let code = i32::try_from(if is_negative { -code } else { code }).ok()?;
    let started_at = Some(number(from, DRAINED)?);
    let ended_at = number(from, ENDED_AT)?;
    let contained_by = match word(from, CONTAINED_BY_CGROUP) {
        Some(()) => Containment::Cgroup,
        None => word(from, CONTAINED_BY_SUBREAPER).map(|()| Containment::Subreaper)?,
    };
    let (user_us, system_us) = (number(from, USER)?, number(from, SYSTEM)?);
    let mut usage = Usage { user_us, system_us, peak_bytes: None, tree_peak_bytes: None };
    optional(from, PEAK, &mut usage.peak_bytes)?;
    optional(from, TREE_PEAK, &mut usage.tree_peak_bytes)?;
    let (total_bytes, omitted_bytes) = (number(from, TOTAL)?, number(from, OMITTED)?);
    word(from, END)?;
    from.is_empty().then(|| Outcome {
        v,
        job,
        end: End::Exited { code },
        limit: None,
        drained: Drained::Eof,
        started_at,
        ended_at,
        leaked: Vec::new(),
        more_leaked: 0,
        contained_by: Some(contained_by),
        usage,
        total_bytes,
        omitted_bytes,
        dropped_bytes: 0,
        sandbox: None,
        denied: Vec::new(),
        more_denied: 0,
        notes: Vec::new(),
    })
}

/// Takes a word off the front.
fn word(from: &mut &[u8], word: &str) -> Option<()> {
    *from = from.strip_prefix(word.as_bytes())?;
    Some(())
}

/// Takes a word and the number behind it, or that it is not known, into `place`.
fn optional(from: &mut &[u8], before: &str, place: &mut Option<u64>) -> Option<()> {
    word(from, before)?;
    if word(from, NULL).is_none() {
        *place = Some(number(from, "")?);
    }
    Some(())
}

/// Takes a word and the number behind it.
fn number(from: &mut &[u8], before: &str) -> Option<u64> {
    word(from, before)?;
    let mut number = 0_u64;
    let mut digits = 0;
    for digit in from.iter().map_while(|byte| byte.checked_sub(b'0').filter(|digit| *digit < 10)) {
        number = number.checked_mul(10)?.checked_add(u64::from(digit))?;
        digits += 1;
    }
    // Nothing is no number, and with a zero in front it would be another text.
    if digits == 0 || (digits > 1 && from[0] == b'0') {
        return None;
    }
    *from = &from[digits..];
    Some(number)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::outcome::Limit;

    /// Usual ones, and some that are not.
    fn outcome() -> impl Strategy<Value = Outcome> {
        let times = any::<(Option<u64>, u64, u64, u64)>();
        let bytes = any::<(Option<u64>, Option<u64>, u64, u64)>();
        let how = (any::<i32>(), any::<[bool; 6]>(), 0..4usize, 0..3u64);
        (any::<u128>(), times, bytes, how).prop_map(|(number, times, bytes, how)| {
            let (code, [ran, is_eof, is_limited, has_notes, is_usual, _], contained, dropped) = how;
            let mut outcome = Outcome {
                v: 1,
                job: JobId::from_number(number),
                end: End::Exited { code },
                limit: None,
                drained: Drained::Eof,
                started_at: Some(times.1),
                ended_at: times.1,
                leaked: Vec::new(),
                more_leaked: 0,
                contained_by: Containment::ALL.get(contained).copied(),
                usage: Usage {
                    user_us: times.2,
                    system_us: times.3,
                    peak_bytes: bytes.0,
                    tree_peak_bytes: bytes.1,
                },
                total_bytes: bytes.2,
                omitted_bytes: bytes.3,
                dropped_bytes: 0,
                sandbox: None,
                denied: Vec::new(),
                more_denied: 0,
                notes: Vec::new(),
            };
            if !is_usual {
                outcome.started_at = times.0;
                outcome.dropped_bytes = dropped;
                outcome.limit = is_limited.then_some(Limit::Wall);
                outcome.drained = if is_eof { Drained::Eof } else { Drained::Quiet };
                outcome.notes = if has_notes { vec!["\"".into()] } else { Vec::new() };
                outcome.end =
                    if ran { outcome.end } else { End::FailedToStart { why: "}".into() } };
            }
            outcome
        })
    }

    proptest! {
        #[test]
        fn a_record_is_what_serde_writes_and_reads(outcome in outcome()) {
            let written = text(&outcome).unwrap();
            prop_assert_eq!(
                String::from_utf8_lossy(&written),
                serde_json::to_string(&outcome).unwrap()
            );
            prop_assert_eq!(parse(&written).unwrap(), outcome);
        }

        #[test]
        fn a_record_that_was_damaged_is_read_as_serde_does(
            outcome in outcome(), at: prop::sample::Index, byte: u8
        ) {
            let mut damaged = text(&outcome).unwrap();
            let at = at.index(damaged.len());
            damaged[at] = byte;
            prop_assert_eq!(parse(&damaged).ok(), serde_json::from_slice(&damaged).ok());
        }
    }

    #[test]
    fn what_has_no_text_of_its_own_is_none() {
        for text in ["", "{", "{}", "null", r#"{"v":1,"job":"#] {
            assert!(parse(text.as_bytes()).is_err());
        }
    }
}
