//! What a path can lead to besides lines and directories.

use serde::{Deserialize, Serialize};

/// Something in an archive.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct ArchiveEntry {
    /// Its name.
    pub name: String,
    /// Its size in bytes; of a directory, of all that is in it.
    pub size: u64,
    /// It is a directory.
    pub is_directory: bool,
}

/// What is in a directory of an archive.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct ArchiveListing {
    /// The directory in the archive; empty for its top.
    pub directory: String,
    /// What is in it, by name.
    pub entries: Vec<ArchiveEntry>,
    /// How many entries are not shown.
    pub left_out: usize,
}

/// An image that a model can be shown.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct ImageContent {
    /// The kind of its data, such as `image/png`.
    pub mime_type: String,
    /// Its data in base64.
    pub data: String,
    /// Its width in pixels.
    pub width: u32,
    /// Its height in pixels.
    pub height: u32,
    /// The width and height that the file has.
    pub original: (u32, u32),
    /// It was made smaller.
    pub is_resized: bool,
}

impl ArchiveListing {
    /// One entry a line, `/` behind directories.
    pub fn text(&self) -> String {
        let mut text = String::new();
        for entry in &self.entries {
            text.push_str(&entry.name);
            if entry.is_directory {
                text.push('/');
            } else if entry.size > 0 {
                text.push_str(&[" (", &crate::render::size(entry.size), ")"].concat());
            }
            text.push('\n');
        }
        if self.left_out > 0 {
            text.push_str(&["… ", &self.left_out.to_string(), " more\n"].concat());
        }
        text
    }
}
