//! Numbers as requests have them: lenient about how they are written, exact about what they mean. And times as answers
//! have them.

use std::borrow::Cow;
use std::time::Duration;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use umbo_gate::show_time;

/// No span of time is longer: a clock can be advanced by it.
const LONGEST_SPAN: Duration = Duration::from_hours(100 * 365 * 24);

/// A span of time, written as a number of seconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Seconds(pub Duration);

/// A whole number from 0 up, also if it is written as 3.0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Count(pub u64);

/// A time in microseconds since 1970, shown as RFC 3339. It is written out only where it is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Time(pub u64);

impl Serialize for Time {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&show_time(self.0))
    }
}

impl Seconds {
    /// So many seconds; none if they are negative.
    pub fn new(seconds: f64) -> Option<Self> {
        if seconds.is_nan() || seconds < 0.0 {
            return None;
        }
        let span = Duration::try_from_secs_f64(seconds).unwrap_or(LONGEST_SPAN);
        Some(Self(span.min(LONGEST_SPAN)))
    }

    /// As a time limit: 0 is none.
    pub fn limit(self) -> Option<Duration> {
        Some(self.0).filter(|span| !span.is_zero())
    }
}

impl Count {
    /// The number, as lengths are counted.
    pub fn to_usize(self) -> usize {
        usize::try_from(self.0).unwrap_or(usize::MAX)
    }
}

impl<'de> Deserialize<'de> for Seconds {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let number = f64::deserialize(deserializer)?;
        Self::new(number).ok_or_else(|| {
            de::Error::custom(format!("{number} was given; accepted: seconds from 0 up"))
        })
    }
}

impl Serialize for Seconds {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_f64(self.0.as_secs_f64())
    }
}

impl<'de> Deserialize<'de> for Count {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let number = serde_json::Number::deserialize(deserializer)?;
        let whole = || {
            let number = number.as_f64().filter(|number| *number >= 0.0)?;
            Some(Duration::try_from_secs_f64(number).map_or(u64::MAX, |span| span.as_secs()))
        };
        number.as_u64().or_else(whole).map(Self).ok_or_else(|| {
            de::Error::custom(format!("{number} was given; accepted: a whole number from 0 up"))
        })
    }
}

impl Serialize for Count {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_u64(self.0)
    }
}

impl JsonSchema for Seconds {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Seconds".into()
    }

    fn json_schema(_generator: &mut SchemaGenerator) -> Schema {
        json_schema!({"type": "number", "minimum": 0})
    }
}

impl JsonSchema for Count {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Count".into()
    }

    fn json_schema(_generator: &mut SchemaGenerator) -> Schema {
        json_schema!({"type": "integer", "minimum": 0})
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{from_value, json};

    use super::*;

    #[test]
    fn numbers_are_taken_however_they_are_written() {
        assert_eq!(from_value::<Count>(json!(3.0)).unwrap(), Count(3));
        assert_eq!(from_value::<Count>(json!(1e300)).unwrap(), Count(u64::MAX));
        assert!(from_value::<Count>(json!(-1)).is_err());
        assert_eq!(from_value::<Seconds>(json!(1)).unwrap().0, Duration::from_secs(1));
        assert_eq!(from_value::<Seconds>(json!(1e300)).unwrap().0, LONGEST_SPAN);
        assert!(from_value::<Seconds>(json!(-0.5)).is_err());
    }
}
