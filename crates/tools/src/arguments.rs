//! Arguments that were checked, read by name.

use std::time::Duration;

use serde_json::{Map, Value};

/// The arguments of one call. They fit the tool's schema, and placeholders in them are the secrets
/// again that they stand for.
#[derive(Debug)]
pub(crate) struct Arguments {
    map: Map<String, Value>,
}

impl Arguments {
    pub(crate) fn new(value: Value) -> Self {
        let map = match value {
            Value::Object(map) => map,
            _ => Map::new(),
        };
        Self { map }
    }

    pub(crate) fn get(&self, name: &str) -> Option<&Value> {
        self.map.get(name).filter(|value| !value.is_null())
    }

    pub(crate) fn text(&self, name: &str) -> Option<&str> {
        self.get(name)?.as_str()
    }

    pub(crate) fn flag(&self, name: &str) -> bool {
        self.get(name).and_then(Value::as_bool).unwrap_or(false)
    }

    pub(crate) fn number(&self, name: &str) -> Option<f64> {
        self.get(name)?.as_f64()
    }

    /// A whole number from 0 up.
    pub(crate) fn count(&self, name: &str) -> Option<u64> {
        whole(self.get(name)?)
    }

    /// A number of seconds.
    pub(crate) fn seconds(&self, name: &str) -> Option<Duration> {
        Some(crate::time::seconds(self.number(name)?))
    }

    /// A list of strings.
    pub(crate) fn texts(&self, name: &str) -> Option<Vec<String>> {
        let list = self.get(name)?.as_array()?;
        Some(list.iter().filter_map(Value::as_str).map(str::to_owned).collect())
    }

    /// Names and strings.
    pub(crate) fn pairs(&self, name: &str) -> Vec<(String, String)> {
        let map = self.get(name).and_then(Value::as_object);
        map.into_iter()
            .flatten()
            .filter_map(|(name, value)| Some((name.clone(), value.as_str()?.to_owned())))
            .collect()
    }
}

/// A whole number, also if it was written as 3.0.
pub(crate) fn whole(value: &Value) -> Option<u64> {
    value.as_u64().or_else(|| {
        let number = value.as_f64().filter(|number| *number >= 0.0)?;
        Some(Duration::try_from_secs_f64(number).map_or(u64::MAX, |whole| whole.as_secs()))
    })
}
