//! YAML into the tree, by `serde-saphyr`, whose own budgets stop alias bombs. Only keys carry a
//! place of their own, a value has the line of its key: placing every value would cost several
//! times the stack.

use std::fmt;

use serde::de::{Deserialize, DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_saphyr::Spanned;

use super::{Broken, Entry, Node, Value};

/// Deeper than this no manifest is, and a stack in an unoptimised build ends not far below.
const MAX_DEPTH: usize = 40;

pub(super) fn parse(text: &str) -> Result<Node, Broken> {
    if text.trim().is_empty() {
        return Ok(Node { line: 1, value: Value::Null });
    }
    // `y` and `on` are names here, not truths.
    let options = serde_saphyr::options! {
        strict_booleans: true,
        budget: serde_saphyr::budget! { max_depth: MAX_DEPTH },
    };
    serde_saphyr::from_str_with_options::<Node>(text, options).map_err(|error| {
        let line = error.location().and_then(|at| usize::try_from(at.line()).ok());
        let message = error.to_string();
        let first = message.lines().next().unwrap_or("not YAML").trim_start_matches("error: ");
        // `line 3 column 4: ` is told beside the message.
        let is_place = |head: &str| head.starts_with("line ") && head.contains(" column ");
        let placed = first.split_once(": ").filter(|(head, _)| is_place(head));
        let message = placed.map_or(first, |(_, rest)| rest).to_owned();
        Broken { line: line.filter(|line| *line > 0), message }
    })
}

impl<'de> Deserialize<'de> for Node {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Depth(0).deserialize(deserializer)
    }
}

/// How deep the value to read is. The budget counts the text; an alias can be deeper than that.
#[derive(Clone, Copy)]
struct Depth(usize);

impl Depth {
    fn below<E: Error>(self) -> Result<Self, E> {
        if self.0 >= MAX_DEPTH { Err(E::custom("nested too deeply")) } else { Ok(Self(self.0 + 1)) }
    }
}

impl<'de> DeserializeSeed<'de> for Depth {
    type Value = Node;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Node, D::Error> {
        deserializer.deserialize_any(self).map(|value| Node { line: 1, value })
    }
}

impl<'de> Visitor<'de> for Depth {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a YAML value")
    }

    fn visit_bool<E>(self, flag: bool) -> Result<Value, E> {
        Ok(Value::Bool(flag))
    }

    fn visit_i64<E>(self, number: i64) -> Result<Value, E> {
        Ok(Value::Number(number.to_string()))
    }

    fn visit_u64<E>(self, number: u64) -> Result<Value, E> {
        Ok(Value::Number(number.to_string()))
    }

    fn visit_f64<E>(self, number: f64) -> Result<Value, E> {
        Ok(Value::Number(number.to_string()))
    }

    fn visit_str<E>(self, text: &str) -> Result<Value, E> {
        Ok(Value::Text(text.to_owned()))
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_none<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_some<D: Deserializer<'de>>(self, inner: D) -> Result<Value, D::Error> {
        inner.deserialize_any(self)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut list = Vec::new();
        let below = self.below()?;
        while let Some(item) = items.next_element_seed(below)? {
            list.push(item);
        }
        Ok(Value::List(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Value, A::Error> {
        let mut entries = Vec::new();
        let below = self.below()?;
        while let Some(key) = map.next_key::<Spanned<String>>()? {
            let line = usize::try_from(key.referenced.line()).unwrap_or(0).max(1);
            let node = Node { line, ..map.next_value_seed(below)? };
            entries.push(Entry { key: key.value, line, node });
        }
        Ok(Value::Map(entries))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_know_their_line() {
        let node =
            parse("version: '3'\ntasks:\n  a:\n    cmds: [x, {task: y}]\n  1: null\n").unwrap();
        let tasks = node.entries_at(&["tasks"]);
        assert_eq!((tasks[0].key.as_str(), tasks[0].line), ("a", 3));
        assert_eq!((tasks[1].key.as_str(), tasks[1].line), ("1", 5));
        let commands = node.at(&["tasks", "a", "cmds"]).unwrap().list();
        assert_eq!(commands[1].text_at(&["task"]), Some("y"));
    }

    #[test]
    fn a_broken_text_has_its_line() {
        assert_eq!(
            parse("a: 1\nb: [1, 2\nc: 3\n").unwrap_err().line.map(|line| line >= 2),
            Some(true)
        );
    }

    #[test]
    fn merges_and_anchors_are_followed_and_bombs_are_not() {
        let node = parse("base: &b {x: 1}\nother:\n  <<: *b\n  y: 2\n").unwrap();
        assert!(node.at(&["other", "x"]).is_some());
        let level =
            |n: usize| format!("a{n}: &a{n} [{}]\n", vec![format!("*a{}", n - 1); 10].join(","));
        let bomb = format!("a0: &a0 [x,x,x,x]\n{}", (1..10).map(level).collect::<String>());
        let link = |n: usize| format!("b{n}: &b{n} [*b{}]\n", n - 1);
        let chain: Vec<String> = (1..2000).map(link).collect();
        assert!(parse(&format!("b0: &b0 [x]\n{}", chain.concat())).is_err());
        assert!(parse(&bomb).is_err());
    }
}
