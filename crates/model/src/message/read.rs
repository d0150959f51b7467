//! Reading parts and blocks from JSON without keeping them twice.
//!
//! serde reads an enum with a tag inside by keeping all fields until it has seen the tag. A session has
//! tens of thousands of such blocks, so they are read as one flat list of fields, of which each kind
//! takes those that it has.

use std::fmt;

use serde::de::{SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value};

use super::{Block, Part, ToolCall};

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "camelCase")]
enum PartKind {
    Text,
    Image,
}

/// The fields of all parts.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct FlatPart {
    #[serde(rename = "type")]
    kind: PartKind,
    text: Option<String>,
    data: Option<String>,
    mime_type: Option<String>,
}

impl TryFrom<FlatPart> for Part {
    type Error = MissingField;

    fn try_from(flat: FlatPart) -> Result<Self, MissingField> {
        Ok(match flat.kind {
            PartKind::Text => Self::Text { text: need("text", flat.text)? },
            PartKind::Image => Self::Image {
                data: need("data", flat.data)?,
                mime_type: need("mimeType", flat.mime_type)?,
            },
        })
    }
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "camelCase")]
enum BlockKind {
    Text,
    Thinking,
    ToolCall,
    Opaque,
}

/// The fields of all blocks.
#[derive(Deserialize)]
pub(super) struct FlatBlock {
    #[serde(rename = "type")]
    kind: BlockKind,
    text: Option<String>,
    #[serde(default)]
    refusal: bool,
    thinking: Option<String>,
    id: Option<String>,
    name: Option<String>,
    #[serde(default)]
    arguments: Map<String, Value>,
    malformed: Option<String>,
    opaque: Option<Value>,
    value: Option<Value>,
}

impl TryFrom<FlatBlock> for Block {
    type Error = MissingField;

    fn try_from(flat: FlatBlock) -> Result<Self, MissingField> {
        let opaque = flat.opaque;
        Ok(match flat.kind {
            BlockKind::Text => {
                Self::Text { text: need("text", flat.text)?, refusal: flat.refusal, opaque }
            }
            BlockKind::Thinking => {
                Self::Thinking { thinking: need("thinking", flat.thinking)?, opaque }
            }
            BlockKind::ToolCall => Self::ToolCall(ToolCall {
                id: need("id", flat.id)?,
                name: need("name", flat.name)?,
                arguments: flat.arguments,
                malformed: flat.malformed,
                opaque,
            }),
            BlockKind::Opaque => Self::Opaque { value: flat.value.unwrap_or_default() },
        })
    }
}

#[derive(Debug, thiserror::Error)]
#[error("missing field `{0}`")]
pub(super) struct MissingField(&'static str);

fn need<T>(name: &'static str, field: Option<T>) -> Result<T, MissingField> {
    field.ok_or(MissingField(name))
}

/// Content is a list of parts, or one string.
pub(super) fn parts<'de, D: Deserializer<'de>>(source: D) -> Result<Vec<Part>, D::Error> {
    struct Content;

    impl<'de> Visitor<'de> for Content {
        type Value = Vec<Part>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a text or a list of parts")
        }

        fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
            Ok(vec![Part::text(text)])
        }

        fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
            let mut parts = Vec::new();
            while let Some(part) = list.next_element()? {
                parts.push(part);
            }
            Ok(parts)
        }
    }

    source.deserialize_any(Content)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn parts_and_blocks_are_read_wherever_their_kind_stands_and_what_is_missing_is_named() {
        let blocks = [
            (json!({"text": "a", "type": "text", "new": [1]}), Ok(Block::text("a"))),
            (json!({"type": "toolCall", "id": "1"}), Err("name")),
            (json!({"type": "thinking"}), Err("thinking")),
            (json!({"type": "more"}), Err("more")),
            (json!({"text": "a"}), Err("type")),
        ];
        for (value, wanted) in blocks {
            match (serde_json::from_value::<Block>(value.clone()), wanted) {
                (Ok(block), Ok(wanted)) => assert_eq!(block, wanted),
                (Err(error), Err(word)) => assert!(error.to_string().contains(word), "{error}"),
                other => panic!("{value}: {other:?}"),
            }
        }
        let image = json!({"type": "image", "data": "AA==", "mimeType": "image/png"});
        let part: Part = serde_json::from_value(image.clone()).unwrap();
        assert_eq!(serde_json::to_value(&part).unwrap(), image);
        let all = [
            Block::Text { text: "no".into(), refusal: true, opaque: Some(json!({"a": 1})) },
            Block::Thinking { thinking: String::new(), opaque: Some(json!("signature")) },
            Block::Opaque { value: json!(null) },
            Block::ToolCall(ToolCall {
                id: "1".into(),
                name: "exec".into(),
                arguments: Map::from_iter([("type".to_owned(), json!("text"))]),
                malformed: Some("{".into()),
                opaque: None,
            }),
        ];
        for block in all {
            let text = serde_json::to_string(&block).unwrap();
            assert_eq!(serde_json::from_str::<Block>(&text).unwrap(), block, "{text}");
        }
    }
}
