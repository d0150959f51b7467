//! Job ids: ULIDs in lower case, so that names in a directory sort by time.

use std::fmt;
use std::ops::RangeInclusive;
use std::str::FromStr;
use std::time::{SystemTime, UNIX_EPOCH};

use rustix::rand::{GetRandomFlags, getrandom};
use serde::{Deserialize, Serialize};
use ulid::Ulid;

use crate::error::Error;

/// How many characters an id has.
const LENGTH: usize = 26;
/// How many bits a character stands for.
const BITS: usize = 5;
/// The characters, by what they stand for.
const ALPHABET: &[u8; 1 << BITS] = b"0123456789abcdefghjkmnpqrstvwxyz";
/// What they stand for, by the characters; anything else has no value.
const VALUES: [u8; 256] = {
    let mut values = [NO_VALUE; 256];
    let mut value = 0;
    while value < ALPHABET.len() {
        #[expect(clippy::cast_possible_truncation, reason = "there are 32")]
        {
            values[ALPHABET[value] as usize] = value as u8;
        }
        value += 1;
    }
    values
};
const NO_VALUE: u8 = u8::MAX;
/// Fewer last characters of an id name no job.
const SHORTEST_END: usize = 4;

/// The name of a job, for ever.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct JobId(String);

impl JobId {
    /// A new id, later than all before it on this machine's clock.
    pub fn generate() -> Self {
        // The crate has a generator of its own for such bits, which takes longer to begin than a process needs for
        // its one job.
        let mut bits = [0; 16];
        let filled = getrandom(&mut bits, GetRandomFlags::empty());
        let since = SystemTime::now().duration_since(UNIX_EPOCH);
        let ulid = match (filled, since.map(|since| u64::try_from(since.as_millis()))) {
            (Ok(16), Ok(Ok(now))) => Ulid::from_parts(now, u128::from_ne_bytes(bits)),
            _ => Ulid::generate(),
        };
        Self::from_number(ulid.into())
    }

    /// The id with this number.
    pub(crate) fn from_number(number: u128) -> Self {
        let mut text = [b'0'; LENGTH];
        let mut left = number;
        for character in text.iter_mut().rev() {
            *character = ALPHABET[usize::try_from(left & 31).unwrap_or(0)];
            left >>= BITS;
        }
        Self(String::from_utf8_lossy(&text).into_owned())
    }

    /// The numbers of the ids that begin with some characters; `None` if none can.
    pub(crate) fn beginning_with(prefix: &str) -> Option<RangeInclusive<u128>> {
        let missing = LENGTH.checked_sub(prefix.len()).filter(|_| !prefix.is_empty())?;
        let bound = |fill: &str| {
            let text = prefix.to_ascii_lowercase() + &fill.repeat(missing);
            Some(text.parse::<Self>().ok()?.number())
        };
        Some(bound("0")?..=bound("z")?)
    }

    /// The last bits of the numbers of ids that end with some characters, and a mask for them; `None`
    /// if none can, or if so few name no job.
    pub(crate) fn ending_with(suffix: &str) -> Option<(u128, u128)> {
        let missing = LENGTH.checked_sub(suffix.len()).filter(|_| suffix.len() >= SHORTEST_END)?;
        let text = "0".repeat(missing) + &suffix.to_ascii_lowercase();
        let bits = u32::try_from(suffix.len() * BITS).ok()?;
        let mask = 1_u128.checked_shl(bits).map_or(u128::MAX, |bit| bit - 1);
        Some((text.parse::<Self>().ok()?.number(), mask))
    }

    /// The id that these bytes are, exactly as it is written.
    pub(crate) fn exact(text: &[u8]) -> Option<Self> {
        // A number of 128 bits in characters of 5: the first one stands for 3.
        let fits = text.len() == LENGTH && text[0] <= b'7';
        let is_exact = fits && text.iter().all(|character| value(*character).is_some());
        is_exact.then(|| Self(String::from_utf8_lossy(text).into_owned()))
    }

    /// Its number: ids sort as their numbers do.
    pub(crate) fn number(&self) -> u128 {
        let values = self.0.bytes().filter_map(value);
        values.fold(0, |number, value| number << BITS | u128::from(value))
    }

    /// Its 26 characters.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Its last six characters, by which a person or a model calls it: one of a billion, and
    /// accepted wherever an id is.
    pub fn short(&self) -> &str {
        &self.0[self.0.len() - 6..]
    }

    /// When it was made, in milliseconds since 1970.
    pub fn made_at_ms(&self) -> u64 {
        Ulid::from(self.number()).timestamp_ms()
    }
}

/// What a character of an id stands for.
fn value(character: u8) -> Option<u8> {
    Some(VALUES[usize::from(character)]).filter(|value| *value != NO_VALUE)
}

impl FromStr for JobId {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        if let Some(id) = Self::exact(text.as_bytes()) {
            return Ok(id);
        }
        let lower = text.to_ascii_lowercase();
        match Ulid::from_string(&lower) {
            // The crate forgives look-alike letters; a directory name must be exact.
            Ok(ulid) if ulid.to_string().eq_ignore_ascii_case(&lower) => Ok(Self(lower)),
            _ => Err(Error::invalid("job", format!("{text:?} is not a job id (26 characters)"))),
        }
    }
}

impl TryFrom<String> for JobId {
    type Error = Error;

    fn try_from(text: String) -> Result<Self, Error> {
        text.parse()
    }
}

impl From<JobId> for String {
    fn from(id: JobId) -> Self {
        id.0
    }
}

impl fmt::Display for JobId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for JobId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_lower_case_ulids_that_parse_back() {
        let id = JobId::generate();
        assert_eq!(id.as_str().len(), 26);
        assert_eq!(id.as_str(), id.as_str().to_ascii_lowercase());
        assert_eq!(id.as_str().parse::<JobId>().unwrap(), id);
        assert!(id.made_at_ms() > 1_600_000_000_000);
    }

    #[test]
    fn the_ids_with_a_beginning_are_a_range_of_numbers() {
        let id = JobId::generate();
        assert_eq!(JobId::from_number(id.number()), id);
        for length in 1..=26 {
            let prefix = &id.as_str()[..length];
            assert!(JobId::beginning_with(prefix).unwrap().contains(&id.number()), "{prefix}");
            assert_eq!(
                JobId::beginning_with(prefix),
                JobId::beginning_with(&prefix.to_ascii_uppercase())
            );
        }
        let range = JobId::beginning_with("01hx7").unwrap();
        assert_eq!(JobId::from_number(*range.start()).as_str(), "01hx7000000000000000000000");
        assert_eq!(JobId::from_number(*range.end()).as_str(), "01hx7zzzzzzzzzzzzzzzzzzzzz");
        for text in ["", "web", "8", "01hx7z8k9m2n3p4q5r6s7t8v9w0", "\u{e9}", "01-"] {
            assert!(JobId::beginning_with(text).is_none(), "{text}");
        }
    }

    #[test]
    fn what_is_not_a_ulid_is_refused() {
        for text in
            ["", "x", "../../etc", "01hx7z8k9m2n3p4q5r6s7t8v9", "oooooooooooooooooooooooooo"]
        {
            assert!(text.parse::<JobId>().is_err(), "{text}");
        }
    }
}
