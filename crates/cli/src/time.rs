//! Times and durations as people write and read them.

use std::time::Duration;

use jiff::{Span, SpanRelativeTo, Timestamp};

#[cfg(test)]
use umbo_ops::show_time;

/// A thousand years: what a longer duration means.
const LONGEST_DURATION: Duration = Duration::from_hours(1000 * 365 * 24);

/// Reads `30`, `1.5s`, `250ms`, `2m`, `1h30m`, `1d`.
pub(crate) fn parse_duration(text: &str) -> Result<Duration, String> {
    let wrong =
        || format!("{text:?} is no duration; write seconds (30, 1.5s) or 250ms, 2m, 1h30m, 1d");
    let trimmed = text.trim();
    let is_number = trimmed.chars().all(|c| c.is_ascii_digit() || c == '.');
    let span = if is_number {
        let seconds: f64 = trimmed.parse().map_err(|_| wrong())?;
        Duration::try_from_secs_f64(seconds).map_err(|_| wrong())?
    } else {
        let span: Span = trimmed.parse().map_err(|_| wrong())?;
        let span = span.to_duration(SpanRelativeTo::days_are_24_hours()).map_err(|_| wrong())?;
        Duration::try_from(span).map_err(|_| wrong())?
    };
    // Longer than any machine runs; far below what a clock can be advanced by.
    Ok(span.min(LONGEST_DURATION))
}

/// A time limit that somebody gave.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TimeLimit {
    /// Explicitly none.
    None,
    After(Duration),
}

impl TimeLimit {
    /// What holds: what was given, else the default.
    pub(crate) fn or(given: Option<Self>, default: Option<Duration>) -> Option<Duration> {
        match given {
            Some(Self::None) => None,
            Some(Self::After(span)) => Some(span),
            None => default,
        }
    }
}

/// Reads a duration, or `none`.
pub(crate) fn parse_limit(text: &str) -> Result<TimeLimit, String> {
    if text == "none" {
        return Ok(TimeLimit::None);
    }
    let span = parse_duration(text)?;
    Ok(if span.is_zero() { TimeLimit::None } else { TimeLimit::After(span) })
}

/// A duration in the two units that matter.
pub(crate) fn show_duration(duration: Duration) -> String {
    let seconds = duration.as_secs();
    match seconds {
        0 if duration.as_millis() < 1000 => format!("{}ms", duration.as_millis()),
        0..=9 => format!("{:.1}s", duration.as_secs_f64()),
        10..=59 => format!("{seconds}s"),
        60..=3599 => format!("{}m{:02}s", seconds / 60, seconds % 60),
        3600..=86_399 => format!("{}h{:02}m", seconds / 3600, seconds % 3600 / 60),
        _ => format!("{}d{:02}h", seconds / 86_400, seconds % 86_400 / 3600),
    }
}

/// 1st, 2nd, 3rd, 4th, …
pub(crate) fn ordinal(number: usize) -> String {
    let ending = match (number % 10, number % 100) {
        (_, 11..=13) => "th",
        (1, _) => "st",
        (2, _) => "nd",
        (3, _) => "rd",
        _ => "th",
    };
    format!("{number}{ending}")
}

/// Reads a time, as microseconds since 1970: RFC 3339, or how long ago it was.
pub(crate) fn parse_time(text: &str) -> Result<u64, String> {
    if let Ok(ago) = parse_duration(text) {
        let ago = u64::try_from(ago.as_micros()).unwrap_or(u64::MAX);
        return Ok(umbo_ops::now().saturating_sub(ago));
    }
    let time = text.parse::<Timestamp>().map(Timestamp::as_microsecond);
    time.ok().and_then(|micros| u64::try_from(micros).ok()).ok_or_else(|| {
        format!("{text:?} is no time; write 2026-01-31T12:00:00Z, or how long ago it was, as 5m")
    })
}

/// Reads `120x40`.
pub(crate) fn parse_size(text: &str) -> Result<umbo_engine::Size, String> {
    text.split_once('x')
        .and_then(|(columns, rows)| Some((columns.parse().ok()?, rows.parse().ok()?)))
        .filter(|(columns, rows)| *columns > 0 && *rows > 0)
        .map(|(columns, rows)| umbo_engine::Size { columns, rows })
        .ok_or_else(|| format!("{text:?} is no size; write COLUMNSxROWS, as 120x40"))
}

/// Reads `64k`, `10M`, `1.5G`, or plain bytes.
pub(crate) fn parse_bytes(text: &str) -> Result<u64, String> {
    let wrong = || format!("{text:?} is no size; write bytes, or 64k, 10M, 1.5G");
    let trimmed = text.trim().trim_end_matches("iB").trim_end_matches(['B', 'b']);
    let end = trimmed.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(trimmed.len());
    let number: f64 = trimmed[..end].parse().map_err(|_| wrong())?;
    let unit = match trimmed[end..].to_ascii_lowercase().as_str() {
        "" => 1.0,
        "k" => 1024.0,
        "m" => 1024.0 * 1024.0,
        "g" => 1024.0 * 1024.0 * 1024.0,
        _ => return Err(wrong()),
    };
    let bytes = number * unit;
    if (0.0..=9.0e18).contains(&bytes) {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "the range was checked on the line above"
        )]
        let whole = bytes as u64;
        Ok(whole)
    } else {
        Err(wrong())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_read_like_a_person_writes_them() {
        for (text, millis) in [
            ("30", 30_000),
            ("1.5s", 1500),
            ("2m", 120_000),
            ("250ms", 250),
            ("1h30m", 5_400_000),
            ("0", 0),
            ("1d 2h", 93_600_000),
            ("5 minutes", 300_000),
            (" 5 ", 5000),
        ] {
            assert_eq!(parse_duration(text), Ok(Duration::from_millis(millis)), "{text}");
        }
        for text in [
            "",
            "x",
            "-1",
            "1y",
            "1..5",
            "s",
            "1e999",
            "nan",
            "-5m",
            "5m ago",
            "99999999999999999999999",
        ] {
            assert!(parse_duration(text).is_err(), "{text}");
        }
    }

    #[test]
    fn ordinals_end_as_they_are_spoken() {
        let spoken = [1, 2, 3, 4, 11, 12, 13, 21, 102, 113].map(ordinal);
        let expected =
            ["1st", "2nd", "3rd", "4th", "11th", "12th", "13th", "21st", "102nd", "113th"];
        assert_eq!(spoken, expected);
    }

    #[test]
    fn a_time_that_was_shown_can_be_given() {
        for micros in [0, 951_782_400_000_000, 1_763_179_201_000_250, 1_709_164_799_999_999] {
            assert_eq!(parse_time(&show_time(micros)), Ok(micros));
        }
        for text in ["", "yesterday", "2026-13-01T00:00:00Z", "2026-01-01", "2026-01-01T25:00:00Z"]
        {
            assert!(parse_time(text).is_err(), "{text}");
        }
    }

    #[test]
    fn sizes_have_both_numbers_and_bytes_have_units() {
        assert_eq!(parse_size("120x40").unwrap().columns, 120);
        for text in ["", "80", "0x24", "80x", "x24", "80x24x2", "99999x1"] {
            assert!(parse_size(text).is_err(), "{text}");
        }
        assert_eq!(parse_bytes("64k"), Ok(65_536));
        assert_eq!(parse_bytes("1.5MiB"), Ok(1_572_864));
        assert!(parse_bytes("lots").is_err());
    }
}
