//! Which sessions there are, without reading them whole.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use crate::entry::{EntryKind, Header};
use crate::message::AgentMessage;

/// What is read of the beginning and of the end of a file.
const GLANCE_BYTES: u64 = 64 << 10;

/// A session in a list.
#[derive(Clone, Debug)]
pub struct SessionInfo {
    /// The file.
    pub path: PathBuf,
    /// The name of the session; taken from the file's name if the header is damaged.
    pub id: String,
    /// The directory it is about.
    pub cwd: String,
    /// What it is called.
    pub title: Option<String>,
    /// The first thing that the user said.
    pub first_prompt: Option<String>,
    /// When it was last written.
    pub modified: SystemTime,
    /// Its size in bytes.
    pub bytes: u64,
}

/// The directory for the sessions of a project. Other directories have other names.
pub fn session_directory(root: &Path, cwd: &str) -> PathBuf {
    let word: String = cwd
        .trim_start_matches('/')
        .chars()
        .map(|c| if c.is_alphanumeric() || c == '.' || c == '_' { c } else { '-' })
        .collect();
    let hash = cwd.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    let start: String = word.chars().rev().take(80).collect::<Vec<_>>().into_iter().rev().collect();
    root.join(format!("{start}-{:08x}", hash & 0xffff_ffff))
}

/// The sessions in a directory, the last one written first. What cannot be read is left out.
pub fn list(directory: &Path) -> io::Result<Vec<SessionInfo>> {
    let mut sessions = Vec::new();
    let entries = match directory.read_dir() {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(sessions),
        Err(error) => return Err(error),
    };
    for entry in entries.flatten() {
        let path = entry.path();
        if path.extension().is_some_and(|extension| extension == "jsonl")
            && let Ok(info) = glance(&path)
        {
            sessions.push(info);
        }
    }
    sessions.sort_by(|a, b| b.modified.cmp(&a.modified).then_with(|| b.path.cmp(&a.path)));
    Ok(sessions)
}

fn glance(path: &Path) -> io::Result<SessionInfo> {
    let mut file = File::open(path)?;
    let about = file.metadata()?;
    let bytes = about.len();
    let mut start = Vec::new();
    (&mut file).take(GLANCE_BYTES).read_to_end(&mut start)?;
    let mut end = Vec::new();
    if bytes > GLANCE_BYTES {
        file.seek(SeekFrom::Start(bytes - GLANCE_BYTES))?;
        file.read_to_end(&mut end)?;
    }
    let stem = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
    let id = stem.rsplit_once('_').map_or(stem.as_str(), |(_, id)| id).to_owned();
    let mut info = SessionInfo {
        path: path.to_owned(),
        id,
        cwd: String::new(),
        title: None,
        first_prompt: None,
        modified: about.modified()?,
        bytes,
    };
    let lines = start.split(|&byte| byte == b'\n').chain(end.split(|&byte| byte == b'\n'));
    for line in lines {
        if line.starts_with(b"{\"type\":\"session\"") {
            if let Ok(header) = serde_json::from_slice::<Header>(line) {
                info.id = header.id;
                info.cwd = header.cwd;
                info.title = header.title.or(info.title);
            }
            continue;
        }
        let is_title = line.starts_with(b"{\"type\":\"title\"");
        let may_be_prompt =
            info.first_prompt.is_none() && line.starts_with(b"{\"type\":\"message\"");
        if !is_title && !may_be_prompt {
            continue;
        }
        match serde_json::from_slice::<EntryKind>(line) {
            Ok(EntryKind::Title { title }) if !title.is_empty() => info.title = Some(title),
            Ok(EntryKind::Message { message: AgentMessage::User(user) }) => {
                let text = user.content.iter().find_map(|part| part.as_text());
                info.first_prompt = text.map(|text| text.chars().take(200).collect());
            }
            _ => {}
        }
    }
    Ok(info)
}
