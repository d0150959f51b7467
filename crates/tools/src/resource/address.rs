//! Addresses of resources: `umbo://jobs/<id>/output`, and ranges of it after a question mark.

use std::fmt;
use std::ops::RangeInclusive;
use std::str::FromStr;

use umbo_engine::JobId;
use umbo_view::Stream;

use super::ResourceError;

const SCHEME: &str = "umbo://jobs/";
/// The longest range that is read at once.
const LONGEST_RANGE_BYTES: u64 = 1 << 20;

/// What of which job.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Address {
    /// The job's id, the beginning of one, or its name.
    pub job: String,
    /// Which part of its output.
    pub part: Part,
    /// One of its streams; both if not given.
    pub stream: Option<Stream>,
}

/// Which part of an output.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Part {
    /// All of it, as far as a reader can take it.
    Whole,
    /// A range of bytes.
    From {
        /// The first of them.
        offset: u64,
        /// At most how many.
        limit: Option<u64>,
    },
    /// A range of lines, the first of all being 1.
    Lines(RangeInclusive<u64>),
    /// The last lines.
    Tail(u64),
}

impl Address {
    /// All that a job wrote.
    pub fn of(job: &JobId) -> Self {
        Self { job: job.to_string(), part: Part::Whole, stream: None }
    }

    /// The same from an offset on, in pieces of the same size.
    pub(super) fn from(&self, job: &JobId, offset: u64) -> Self {
        let limit = match self.part {
            Part::From { limit, .. } => limit,
            _ => None,
        };
        let part = Part::From { offset, limit };
        Self { job: job.to_string(), part, stream: self.stream }
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{SCHEME}{}/output", self.job)?;
        let mut separator = '?';
        let mut add = |f: &mut fmt::Formatter<'_>, pair: fmt::Arguments<'_>| {
            let before = std::mem::replace(&mut separator, '&');
            write!(f, "{before}{pair}")
        };
        match &self.part {
            Part::Whole => {}
            Part::From { offset, limit } => {
                add(f, format_args!("offset={offset}"))?;
                if let Some(limit) = limit {
                    add(f, format_args!("limit={limit}"))?;
                }
            }
            Part::Lines(lines) if *lines.end() == u64::MAX => {
                add(f, format_args!("lines={}-", lines.start()))?;
            }
            Part::Lines(lines) => add(f, format_args!("lines={}-{}", lines.start(), lines.end()))?,
            Part::Tail(lines) => add(f, format_args!("tail={lines}"))?,
        }
        match self.stream {
            Some(Stream::Stderr) => add(f, format_args!("stream=stderr")),
            Some(_) => add(f, format_args!("stream=stdout")),
            None => Ok(()),
        }
    }
}

impl FromStr for Address {
    type Err = ResourceError;

    fn from_str(uri: &str) -> Result<Self, ResourceError> {
        let unknown = || ResourceError::Unknown {
            uri: uri.to_owned(),
            why: "resources are umbo://jobs/<job>/output, with ?offset=&limit=, ?lines= or ?tail="
                .to_owned(),
        };
        let rest = uri.strip_prefix(SCHEME).ok_or_else(unknown)?;
        let (path, query) = rest.split_once('?').unwrap_or((rest, ""));
        let job = path.strip_suffix("/output").ok_or_else(unknown)?;
        if job.is_empty() || job.contains('/') {
            return Err(unknown());
        }
        let mut query = Query::read(query)?;
        let stream = match query.take("stream") {
            None => None,
            Some("stdout") => Some(Stream::Stdout),
            Some("stderr") => Some(Stream::Stderr),
            Some(other) => return Err(invalid("stream", other, "stdout or stderr")),
        };
        Ok(Self { job: job.to_owned(), part: query.part()?, stream })
    }
}

/// The words after the question mark.
struct Query<'a> {
    pairs: Vec<(&'a str, &'a str)>,
}

impl<'a> Query<'a> {
    fn read(query: &'a str) -> Result<Self, ResourceError> {
        let mut pairs: Vec<(&str, &str)> = Vec::new();
        for pair in query.split('&').filter(|pair| !pair.is_empty()) {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            let known = ["offset", "limit", "lines", "tail", "stream"];
            if !known.contains(&name) || pairs.iter().any(|(before, _)| *before == name) {
                return Err(invalid(
                    "uri",
                    pair,
                    "offset, limit, lines, tail and stream, each once",
                ));
            }
            pairs.push((name, value));
        }
        Ok(Self { pairs })
    }

    fn take(&mut self, name: &str) -> Option<&'a str> {
        let at = self.pairs.iter().position(|(other, _)| *other == name)?;
        Some(self.pairs.swap_remove(at).1)
    }

    fn part(&mut self) -> Result<Part, ResourceError> {
        let range = (self.take("offset"), self.take("limit"));
        let lines = self.take("lines");
        let tail = self.take("tail");
        match (range, lines, tail) {
            ((None, None), None, None) => Ok(Part::Whole),
            ((offset, limit), None, None) => Ok(Part::From {
                offset: offset.map_or(Ok(0), |given| number("offset", given, u64::MAX))?,
                limit: limit
                    .map(|given| number("limit", given, LONGEST_RANGE_BYTES))
                    .transpose()?,
            }),
            ((None, None), Some(given), None) => span(given).map(Part::Lines),
            ((None, None), None, Some(given)) => number("tail", given, u64::MAX).map(Part::Tail),
            _ => Err(invalid("uri", "several parts", "a range, lines or a tail, one of them")),
        }
    }
}

fn number(field: &'static str, given: &str, most: u64) -> Result<u64, ResourceError> {
    let accepted = match field {
        "limit" => "a number of bytes from 1 to 1048576",
        "offset" => "a number of bytes from 0 up",
        _ => "a number of lines from 1 up",
    };
    let least = u64::from(field != "offset");
    match given.parse() {
        Ok(number) if (least..=most).contains(&number) => Ok(number),
        _ => Err(invalid(field, given, accepted)),
    }
}

fn span(given: &str) -> Result<RangeInclusive<u64>, ResourceError> {
    let wrong = || invalid("lines", given, "A-B or A-, as 10-20, the first line being 1");
    let (first, last) = given.split_once('-').ok_or_else(wrong)?;
    let first: u64 = first.parse().map_err(|_| wrong())?;
    let last: u64 = if last.is_empty() { u64::MAX } else { last.parse().map_err(|_| wrong())? };
    if first == 0 || first > last {
        return Err(wrong());
    }
    Ok(first..=last)
}

fn invalid(field: &'static str, given: &str, accepted: &'static str) -> ResourceError {
    ResourceError::Invalid { field, given: given.to_owned(), accepted }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_reads_as_it_is_written() {
        for uri in [
            "umbo://jobs/01abc/output",
            "umbo://jobs/01abc/output?offset=7",
            "umbo://jobs/01abc/output?offset=7&limit=4096",
            "umbo://jobs/web/output?lines=10-20&stream=stderr",
            "umbo://jobs/web/output?lines=10-",
            "umbo://jobs/web/output?tail=5&stream=stdout",
        ] {
            assert_eq!(uri.parse::<Address>().unwrap().to_string(), uri);
        }
        let from_the_start: Address = "umbo://jobs/a/output?limit=9".parse().unwrap();
        assert_eq!(from_the_start.part, Part::From { offset: 0, limit: Some(9) });
    }

    #[test]
    fn what_leads_nowhere_says_what_would() {
        for uri in
            ["", "umbo://jobs/", "umbo://jobs//output", "umbo://jobs/a/b/output", "file:///a"]
        {
            let error = uri.parse::<Address>().unwrap_err();
            assert!(matches!(error, ResourceError::Unknown { .. }), "{error}");
        }
        for (query, field) in [
            ("offset=-1", "offset"),
            ("limit=0", "limit"),
            ("limit=1048577", "limit"),
            ("lines=0-3", "lines"),
            ("lines=5-3", "lines"),
            ("lines=5", "lines"),
            ("tail=0", "tail"),
            ("tail=x", "tail"),
            ("stream=pty", "stream"),
            ("offset=1&tail=1", "uri"),
            ("offset=1&offset=2", "uri"),
            ("from=1", "uri"),
        ] {
            let error = format!("umbo://jobs/a/output?{query}").parse::<Address>().unwrap_err();
            let ResourceError::Invalid { field: named, .. } = &error else { panic!("{error}") };
            assert_eq!(*named, field, "{query}");
        }
    }
}
