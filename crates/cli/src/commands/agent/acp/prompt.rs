//! What an editor says to the agent: texts, images, links to files and their content.

use serde::Deserialize;
use umbo_model::Part;

/// A piece of a prompt.
#[derive(Debug, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case", rename_all_fields = "camelCase")]
pub(super) enum ContentBlock {
    Text { text: String },
    Image { data: String, mime_type: String },
    Audio {},
    ResourceLink { name: String, uri: String },
    Resource { resource: Resource },
}

/// A file, with what is in it.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Resource {
    uri: String,
    mime_type: Option<String>,
    text: Option<String>,
    blob: Option<String>,
}

/// A prompt as the model reads it.
pub(super) fn parts(prompt: Vec<ContentBlock>) -> Result<Vec<Part>, String> {
    prompt.into_iter().map(part).collect()
}

fn part(block: ContentBlock) -> Result<Part, String> {
    Ok(match block {
        ContentBlock::Text { text } => Part::text(text),
        ContentBlock::Image { data, mime_type } => Part::Image { data, mime_type },
        ContentBlock::Audio {} => return Err("no model here listens to audio".to_owned()),
        ContentBlock::ResourceLink { name, uri } => {
            Part::text(format!("[@{name}]({})", path_of(&uri)))
        }
        ContentBlock::Resource { resource } => {
            let Resource { uri, mime_type, text, blob } = resource;
            let kind = mime_type.unwrap_or_default();
            match (text, blob) {
                (Some(text), _) => Part::text(format!(
                    "<file path=\"{}\">\n{}\n</file>",
                    path_of(&uri),
                    text.trim_end()
                )),
                (None, Some(data)) if kind.starts_with("image/") => {
                    Part::Image { data, mime_type: kind }
                }
                _ => return Err(format!("{uri} is neither a text nor an image")),
            }
        }
    })
}

/// The path of a file's address; other addresses as they are.
fn path_of(uri: &str) -> &str {
    uri.strip_prefix("file://").unwrap_or(uri)
}

/// A command of ours that a prompt begins with, and what stands behind it.
pub(super) fn command(parts: &[Part]) -> Option<(&str, &str)> {
    let [Part::Text { text }] = parts else { return None };
    let (word, rest) = text.trim().split_once(char::is_whitespace).unwrap_or((text.trim(), ""));
    word.strip_prefix('/').map(|word| (word, rest.trim()))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_command_is_a_word_behind_a_slash_at_the_beginning_of_the_only_text() {
        let say = |text: &str| vec![Part::text(text)];
        assert_eq!(command(&say("/compact keep the names ")), Some(("compact", "keep the names")));
        assert_eq!(command(&say("/cost")), Some(("cost", "")));
        assert_eq!(command(&say("see /etc/hosts")), None);
        assert_eq!(command(&[Part::text("/cost"), Part::text("more")]), None);
    }

    #[test]
    fn what_no_model_can_read_is_said() {
        let read = |block| parts(vec![serde_json::from_value(block).unwrap()]);
        let audio = json!({"type": "audio", "data": "", "mimeType": "audio/wav"});
        read(audio).unwrap_err();
        let blob = json!({"uri": "file:///a.bin", "blob": "AA=="});
        let problem = read(json!({"type": "resource", "resource": blob})).unwrap_err();
        assert!(problem.contains("a.bin"), "{problem}");
        let image = json!({"uri": "file:///a.png", "blob": "AA==", "mimeType": "image/png"});
        let kept = read(json!({"type": "resource", "resource": image})).unwrap();
        assert!(matches!(kept[0], Part::Image { .. }));
    }
}
