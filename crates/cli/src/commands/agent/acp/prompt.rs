//! What an editor says to the agent: texts, images, links to files and their content.

use agent_client_protocol::v1::schema::{ContentBlock, EmbeddedResourceResource};
use umbo_model::Part;

/// A prompt as the model reads it.
pub(super) fn parts(prompt: Vec<ContentBlock>) -> Result<Vec<Part>, String> {
    prompt.into_iter().map(part).collect()
}

fn part(block: ContentBlock) -> Result<Part, String> {
    Ok(match block {
        ContentBlock::Text(text) => Part::text(text.text),
        ContentBlock::Image(image) => Part::Image { data: image.data, mime_type: image.mime_type },
        ContentBlock::ResourceLink(link) => {
            Part::text(format!("[@{}]({})", link.name, path_of(&link.uri)))
        }
        ContentBlock::Resource(resource) => match resource.resource {
            EmbeddedResourceResource::TextResourceContents(content) => Part::text(format!(
                "<file path=\"{}\">\n{}\n</file>",
                path_of(&content.uri),
                content.text.trim_end()
            )),
            EmbeddedResourceResource::BlobResourceContents(content) => {
                let kind = content.mime_type.unwrap_or_default();
                if !kind.starts_with("image/") {
                    return Err(format!("{}: a prompt takes texts and images", content.uri));
                }
                Part::Image { data: content.blob, mime_type: kind }
            }
            _ => return Err("a prompt takes texts and images".to_owned()),
        },
        _ => return Err("a prompt takes texts, images and files".to_owned()),
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
    use super::*;

    #[test]
    fn a_command_is_a_word_behind_a_slash_at_the_beginning_of_the_only_text() {
        let say = |text: &str| vec![Part::text(text)];
        assert_eq!(command(&say("/compact keep the names ")), Some(("compact", "keep the names")));
        assert_eq!(command(&say("/cost")), Some(("cost", "")));
        assert_eq!(command(&say("see /etc/hosts")), None);
        assert_eq!(command(&[Part::text("/cost"), Part::text("more")]), None);
    }
}
