//! Results of other servers, as a model reads them.

use rmcp::model::{CallToolResult, ContentBlock, ResourceContents};

/// As much of the texts of a result is kept.
const LONGEST_TEXT: usize = 256 << 10;

/// What newer servers may send.
const UNKNOWN: &str = "[content of a kind that is not known here]";

/// A piece of a result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RemoteContent {
    /// A text.
    Text(String),
    /// An image, in base 64.
    Image {
        /// Its type.
        mime_type: String,
        /// The image.
        data: String,
    },
}

/// What a tool answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RemoteResult {
    /// The answer.
    pub content: Vec<RemoteContent>,
    /// Whether the tool says that it failed.
    pub is_error: bool,
}

pub(super) fn read(result: CallToolResult) -> RemoteResult {
    let is_error = result.is_error == Some(true);
    let mut content: Vec<RemoteContent> = result.content.into_iter().map(piece).collect();
    if content.is_empty()
        && let Some(value) = result.structured_content
    {
        content.push(RemoteContent::Text(value.to_string()));
    }
    let mut left = LONGEST_TEXT;
    for piece in &mut content {
        if let RemoteContent::Text(text) = piece {
            cut(text, left);
            left = left.saturating_sub(text.len());
        }
    }
    RemoteResult { content, is_error }
}

fn piece(block: ContentBlock) -> RemoteContent {
    RemoteContent::Text(match block {
        ContentBlock::Text(text) => text.text,
        ContentBlock::Image(image) => {
            return RemoteContent::Image { mime_type: image.mime_type, data: image.data };
        }
        ContentBlock::Audio(audio) => {
            format!("[audio, {}, {} bytes in base 64]", audio.mime_type, audio.data.len())
        }
        ContentBlock::Resource(embedded) => match embedded.resource {
            ResourceContents::TextResourceContents { uri, text, .. } => format!("[{uri}]\n{text}"),
            ResourceContents::BlobResourceContents { uri, blob, .. } => {
                format!("[{uri}, {} bytes in base 64]", blob.len())
            }
            _ => UNKNOWN.to_owned(),
        },
        ContentBlock::ResourceLink(link) => format!("[resource {}]", link.uri),
        _ => UNKNOWN.to_owned(),
    })
}

/// Leaves the middle out of a text that is too long.
fn cut(text: &mut String, most: usize) {
    if text.len() <= most {
        return;
    }
    let head = text.floor_char_boundary(most / 2);
    let tail = text.ceil_char_boundary(text.len() - most / 2);
    let missing = tail - head;
    *text = format!("{}\n[… {missing} bytes are left out …]\n{}", &text[..head], &text[tail..]);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_texts_lose_their_middle_and_say_so() {
        let mut text = format!("begin{}end", "ü".repeat(1000));
        cut(&mut text, 101);
        assert!(text.starts_with("begin") && text.ends_with("end"), "{text}");
        assert!(text.contains("bytes are left out") && text.len() < 200, "{text}");
        let mut short = "short".to_owned();
        cut(&mut short, 5);
        assert_eq!(short, "short");
    }
}
