//! The beginning of a JSON document, made a whole one: arguments of a call while they come.

use serde_json::Value;

/// Deeper documents are not completed: `serde_json` would not read them either.
const DEEPEST: usize = 127;

/// What a beginning of a JSON document says so far: strings and containers that are open are closed,
/// and what cannot be known yet (half a number, half a key) is left out. `None` if it says nothing
/// yet or is no JSON.
pub fn complete_json(start: &str) -> Option<Value> {
    if let Ok(value) = serde_json::from_str(start) {
        return Some(value);
    }
    let mut scan = Scan::default();
    for (at, byte) in start.bytes().enumerate() {
        scan.step(at, byte)?;
    }
    // The end of the text may be good, or only what came before the last piece.
    let whole = scan.close(start, start.len());
    whole.or_else(|| scan.close(start, scan.safe))
}

/// What is open at a place of the text.
#[derive(Default)]
struct Scan {
    /// The closing brackets that are missing, the innermost last.
    open: Vec<u8>,
    in_string: bool,
    /// The start of an escape sequence that is not complete.
    escape: Option<usize>,
    /// Behind the last value that was complete, or behind an opening bracket.
    safe: usize,
    /// What was open there.
    safe_depth: usize,
}

impl Scan {
    fn step(&mut self, at: usize, byte: u8) -> Option<()> {
        if self.in_string {
            self.in_string(at, byte);
            return Some(());
        }
        match byte {
            b'"' => self.in_string = true,
            b'{' | b'[' => {
                (self.open.len() < DEEPEST).then_some(())?;
                self.open.push(if byte == b'{' { b'}' } else { b']' });
                self.mark(at + 1);
            }
            b'}' | b']' => {
                (self.open.pop() == Some(byte)).then_some(())?;
                self.mark(at + 1);
            }
            b',' => self.mark(at),
            _ => {}
        }
        Some(())
    }

    fn in_string(&mut self, at: usize, byte: u8) {
        match self.escape {
            Some(start) if at == start + 1 && byte != b'u' => self.escape = None,
            Some(start) if at == start + 5 => self.escape = None,
            None if byte == b'\\' => self.escape = Some(at),
            None if byte == b'"' => self.in_string = false,
            _ => {}
        }
    }

    fn mark(&mut self, at: usize) {
        self.safe = at;
        self.safe_depth = self.open.len();
    }

    /// The text up to a place with all that is open closed, if that is a document.
    fn close(&self, start: &str, end: usize) -> Option<Value> {
        let is_safe = end == self.safe;
        let depth = if is_safe { self.safe_depth } else { self.open.len() };
        let end = if is_safe { end } else { self.escape.unwrap_or(end) };
        let closers = self.open.get(..depth)?.iter().rev();
        let mut text = start[..end].to_owned();
        if !is_safe && self.in_string {
            text.push('"');
        }
        text.extend(closers.map(|&byte| char::from(byte)));
        let value = serde_json::from_str(&text);
        // Half a surrogate pair is complete as an escape and wrong as a character.
        match value {
            Ok(value) => Some(value),
            Err(_) if !is_safe && self.in_string => {
                let cut = start[..end].rfind("\\u").filter(|&at| end - at == 6)?;
                let mut text = start[..cut].to_owned();
                text.push('"');
                text.extend(self.open.iter().rev().map(|&byte| char::from(byte)));
                serde_json::from_str(&text).ok()
            }
            Err(_) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    #[test]
    fn a_beginning_says_what_is_known() {
        let cases = [
            (r#"{"command": "ls -"#, json!({"command": "ls -"})),
            (r#"{"command": "a\"#, json!({"command": "a"})),
            (r#"{"command": "a\u00"#, json!({"command": "a"})),
            (r#"{"command": "a\ud83d"#, json!({"command": "a"})),
            (r#"{"a": 1, "b"#, json!({"a": 1})),
            (r#"{"a": 1, "b":"#, json!({"a": 1})),
            (r#"{"a": 1, "b": tr"#, json!({"a": 1})),
            (r#"{"a": [1, {"b": "c"#, json!({"a": [1, {"b": "c"}]})),
            (r#"{"a": [1, "#, json!({"a": [1]})),
            (r#"{"a": {}"#, json!({"a": {}})),
            ("{", json!({})),
        ];
        for (start, value) in cases {
            assert_eq!(complete_json(start), Some(value), "{start}");
        }
        assert_eq!(complete_json(""), None);
        assert_eq!(complete_json("no"), None);
        assert_eq!(complete_json("{]"), None);
        assert_eq!(complete_json(&"[".repeat(100_000)), None);
    }

    fn value() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            any::<String>().prop_map(Value::from),
        ];
        leaf.prop_recursive(4, 24, 4, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                prop::collection::btree_map(any::<String>(), inner, 0..4)
                    .prop_map(|map| Value::Object(map.into_iter().collect())),
            ]
        })
    }

    /// Whether all that `part` says is also in `whole`, as far as it was cut.
    fn is_beginning(part: &Value, whole: &Value) -> bool {
        match (part, whole) {
            (Value::String(part), Value::String(whole)) => whole.starts_with(part.as_str()),
            (Value::Array(part), Value::Array(whole)) => {
                part.len() <= whole.len()
                    && part.iter().zip(whole).all(|(part, whole)| is_beginning(part, whole))
            }
            (Value::Object(part), Value::Object(whole)) => part
                .iter()
                .all(|(key, part)| whole.get(key).is_some_and(|whole| is_beginning(part, whole))),
            // The text may end in the middle of a number.
            (Value::Number(part), Value::Number(whole)) => {
                whole.to_string().starts_with(&part.to_string())
            }
            _ => part == whole,
        }
    }

    proptest! {
        #[test]
        fn every_beginning_of_an_object_is_a_beginning_of_its_value(
            map in prop::collection::btree_map(any::<String>(), value(), 0..4),
        ) {
            let whole = Value::Object(map.into_iter().collect());
            let text = whole.to_string();
            for (at, _) in text.char_indices().skip(1) {
                let part = complete_json(&text[..at]);
                prop_assert!(part.is_some(), "nothing in {:?}", &text[..at]);
                prop_assert!(is_beginning(&part.unwrap(), &whole), "{:?}", &text[..at]);
            }
            prop_assert_eq!(complete_json(&text), Some(whole));
        }

        #[test]
        fn no_text_is_too_strange(text in any::<String>()) {
            let _ = complete_json(&text);
        }
    }
}
