//! Sessions: an append-only tree of entries in one file, and the place in it where the conversation
//! goes on.
//!
//! A file is JSON lines: a header, then entries, each with the name of the entry before it. Nothing
//! is ever rewritten. An entry is in the file before [`Session::append`] returns, so what is shown
//! to anybody is already kept. Opening reads only names and places ([`load`]); what an entry says is
//! parsed when it is needed, so a long history costs little until it is read. A line that cannot be
//! read costs that line and is reported ([`Damage`]); the header is not needed for anything else.

mod export;
mod fork;
mod list;
mod load;

use std::collections::HashMap;
use std::fs::{File, OpenOptions, TryLockError};
use std::hash::{BuildHasher, RandomState};
use std::io::{self, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};

use crate::entry::{self, Entry, EntryKind, Header, SESSION_VERSION, moves_leaf};
use crate::message::AgentMessage;

pub use export::{to_html, to_markdown};
pub use list::{SessionInfo, list, session_directory};

/// What can go wrong with a session.
#[derive(Debug, thiserror::Error)]
pub enum SessionError {
    /// The file cannot be read or written.
    #[error("could not {what} session {path}")]
    Io {
        /// What was tried.
        what: &'static str,
        /// The file.
        path: PathBuf,
        /// Why it failed.
        #[source]
        source: io::Error,
    },
    /// Another process is writing it.
    #[error("session {path} is in use by another process: close it there, or fork it")]
    InUse {
        /// The file.
        path: PathBuf,
    },
    /// The session was opened for reading.
    #[error("session {path} was opened for reading only")]
    ReadOnly {
        /// The file.
        path: PathBuf,
    },
    /// There is no such entry.
    #[error("there is no entry {0:?} in this session")]
    NoEntry(String),
    /// An entry cannot be written as JSON.
    #[error("an entry cannot be written as JSON")]
    Json(#[from] serde_json::Error),
}

/// Something in a session file that could not be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Damage {
    /// The line, counted from 1.
    pub line: usize,
    /// What is wrong with it.
    pub what: String,
}

/// Whether entries that matter wait for the disk, or only for the system.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Durability {
    /// Prompts, answers with calls and starts of tools survive a power cut.
    #[default]
    Disk,
    /// All survives the death of every process, and nothing a power cut.
    Process,
}

/// Where an entry is.
#[derive(Debug)]
struct Slot {
    id: String,
    /// The number of the entry before it.
    parent: Option<usize>,
    name: Name,
    /// Its line in the text.
    range: Range<usize>,
}

/// What kind an entry is, as far as the tree needs to know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Name {
    /// A message, or something that becomes one.
    Message,
    Compaction,
    /// Other entries on the path.
    State,
    /// A remark beside the path.
    Remark,
    Damaged,
}

impl Name {
    fn of(word: &str) -> Self {
        match word {
            "message" | "custom_message" | "branch_summary" => Self::Message,
            "compaction" => Self::Compaction,
            other if moves_leaf(other) => Self::State,
            _ => Self::Remark,
        }
    }
}

/// A tool that was about to be called.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolStarted {
    /// The name under which the tool does it once.
    pub key: String,
    /// The tool.
    pub tool: String,
}

/// A session.
#[derive(Debug)]
pub struct Session {
    path: Option<PathBuf>,
    file: Option<File>,
    durability: Durability,
    header: Header,
    title: Option<String>,
    /// The whole file.
    text: Vec<u8>,
    slots: Vec<Slot>,
    by_id: HashMap<String, usize>,
    leaf: Option<usize>,
    labels: HashMap<usize, String>,
    /// Results that are left out, with the tokens that this saves.
    pruned: HashMap<usize, u64>,
    /// By the name of the call.
    started: HashMap<String, ToolStarted>,
    damage: Vec<Damage>,
    /// The last write failed or the last line has no end: a line must be ended first.
    is_torn: bool,
    random: RandomState,
}

impl Session {
    /// A new session in a directory, which is made if it is not there.
    pub fn create(
        directory: &Path,
        cwd: &str,
        parent_session: Option<String>,
    ) -> Result<Self, SessionError> {
        let mut session = Self::in_memory(cwd);
        session.header.parent_session = parent_session;
        let stamp = session.header.timestamp.replace([':', '.'], "-");
        let path = directory.join(format!("{stamp}_{}.jsonl", session.header.id));
        let failed = |what| {
            let path = path.clone();
            move |source| SessionError::Io { what, path, source }
        };
        std::fs::create_dir_all(directory).map_err(failed("make the directory of"))?;
        let mut options = OpenOptions::new();
        options.read(true).append(true).create_new(true);
        let mut file = options.open(&path).map_err(failed("create"))?;
        lock(&file, &path)?;
        let line = header_line(&session.header)?;
        file.write_all(line.as_bytes()).map_err(failed("write"))?;
        file.sync_all().map_err(failed("save"))?;
        if let Ok(directory) = File::open(directory) {
            // The name is on disk too; where directories cannot be saved, the system does it.
            let _ = directory.sync_all();
        }
        session.text = line.into_bytes();
        session.path = Some(path);
        session.file = Some(file);
        Ok(session)
    }

    /// A session that is kept nowhere.
    pub fn in_memory(cwd: &str) -> Self {
        let header = Header {
            version: SESSION_VERSION,
            id: ulid::Ulid::generate().to_string().to_lowercase(),
            timestamp: entry::now(),
            cwd: cwd.to_owned(),
            title: None,
            parent_session: None,
        };
        Self::empty(header)
    }

    fn empty(header: Header) -> Self {
        Self {
            path: None,
            file: None,
            durability: Durability::default(),
            header,
            title: None,
            text: Vec::new(),
            slots: Vec::new(),
            by_id: HashMap::new(),
            leaf: None,
            labels: HashMap::new(),
            pruned: HashMap::new(),
            started: HashMap::new(),
            damage: Vec::new(),
            is_torn: false,
            random: RandomState::new(),
        }
    }

    /// Opens a session to go on with it. Nobody else may write it meanwhile.
    pub fn open(path: &Path) -> Result<Self, SessionError> {
        let failed = |source| SessionError::Io { what: "open", path: path.to_owned(), source };
        let file = OpenOptions::new().read(true).append(true).open(path).map_err(failed)?;
        lock(&file, path)?;
        let mut session = load::load(path, &file)?;
        session.file = Some(file);
        Ok(session)
    }

    /// Opens a session to look at it, also while another process writes it.
    pub fn open_read_only(path: &Path) -> Result<Self, SessionError> {
        let failed = |source| SessionError::Io { what: "open", path: path.to_owned(), source };
        load::load(path, &File::open(path).map_err(failed)?)
    }

    /// Chooses what entries wait for.
    pub fn set_durability(&mut self, durability: Durability) {
        self.durability = durability;
    }

    /// The header.
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// The file, if there is one.
    pub fn path(&self) -> Option<&Path> {
        self.path.as_deref()
    }

    /// What the session is called.
    pub fn title(&self) -> Option<&str> {
        self.title.as_deref().or(self.header.title.as_deref())
    }

    /// What could not be read.
    pub fn damage(&self) -> &[Damage] {
        &self.damage
    }

    /// How many entries there are.
    pub fn len(&self) -> usize {
        self.slots.len()
    }

    /// Whether there is no entry.
    pub fn is_empty(&self) -> bool {
        self.slots.is_empty()
    }

    /// The entry behind which the conversation goes on.
    pub fn leaf(&self) -> Option<&str> {
        self.leaf.map(|at| self.slots[at].id.as_str())
    }

    /// The name that was given to an entry.
    pub fn label(&self, id: &str) -> Option<&str> {
        self.labels.get(self.by_id.get(id)?).map(String::as_str)
    }

    /// What is known of a call that was about to be made.
    pub fn tool_started(&self, call_id: &str) -> Option<&ToolStarted> {
        self.started.get(call_id)
    }

    /// Adds an entry behind the leaf. It is in the file when this returns.
    pub fn append(&mut self, kind: EntryKind) -> Result<String, SessionError> {
        let id = self.new_id();
        let parent = self.leaf.map(|at| self.slots[at].id.clone());
        let entry = Entry { id: id.clone(), parent, timestamp: entry::now(), kind };
        let line = entry::line(&entry)?;
        self.write(&line, entry.kind.must_reach_disk())?;
        let start = self.text.len();
        self.text.extend_from_slice(line.as_bytes());
        let range = start..self.text.len() - 1;
        let slot =
            Slot { id: entry.id, parent: self.leaf, name: Name::of(entry.kind.name()), range };
        self.add(slot, &entry.kind);
        Ok(id)
    }

    fn write(&mut self, line: &str, must_reach_disk: bool) -> Result<(), SessionError> {
        let Some(path) = &self.path else { return Ok(()) };
        let Some(file) = &mut self.file else {
            return Err(SessionError::ReadOnly { path: path.clone() });
        };
        let failed = |what| {
            let path = path.clone();
            move |source| SessionError::Io { what, path, source }
        };
        let whole = if self.is_torn { format!("\n{line}") } else { line.to_owned() };
        // Until it is all there, the line may be torn.
        self.is_torn = true;
        file.write_all(whole.as_bytes()).map_err(failed("write"))?;
        self.is_torn = false;
        if must_reach_disk && self.durability == Durability::Disk {
            file.sync_data().map_err(failed("save"))?;
        }
        Ok(())
    }

    /// Takes an entry into the tree.
    fn add(&mut self, slot: Slot, kind: &EntryKind) {
        let at = self.slots.len();
        match kind {
            EntryKind::Leaf { target_id } => {
                self.leaf = target_id.as_ref().and_then(|id| self.by_id.get(id)).copied();
            }
            EntryKind::Label { target_id, label } => {
                if let Some(&target) = self.by_id.get(target_id) {
                    match label {
                        Some(label) => self.labels.insert(target, label.clone()),
                        None => self.labels.remove(&target),
                    };
                }
            }
            EntryKind::Title { title } => self.title = Some(title.clone()),
            EntryKind::ToolStart { tool_call_id, tool_name, key } => {
                let started = ToolStarted { key: key.clone(), tool: tool_name.clone() };
                self.started.insert(tool_call_id.clone(), started);
            }
            EntryKind::ToolPruned { target_id, tokens } => {
                if let Some(&target) = self.by_id.get(target_id) {
                    self.pruned.insert(target, *tokens);
                }
            }
            _ => self.leaf = Some(at),
        }
        self.by_id.insert(slot.id.clone(), at);
        self.slots.push(slot);
    }

    /// Eight digits that no entry has yet.
    fn new_id(&self) -> String {
        let mut number = self.random.hash_one((entry::now(), self.slots.len(), &self.header.id));
        loop {
            let id = format!("{:08x}", number & 0xffff_ffff);
            if !self.by_id.contains_key(&id) {
                return id;
            }
            number = self.random.hash_one(number);
        }
    }

    fn index(&self, id: &str) -> Result<usize, SessionError> {
        self.by_id.get(id).copied().ok_or_else(|| SessionError::NoEntry(id.to_owned()))
    }

    /// Goes on behind another entry; kept like everything else.
    pub fn branch(&mut self, id: &str) -> Result<(), SessionError> {
        self.index(id)?;
        self.append(EntryKind::Leaf { target_id: Some(id.to_owned()) })?;
        Ok(())
    }

    /// Goes on before the first entry: the next one is another beginning.
    pub fn reset_leaf(&mut self) -> Result<(), SessionError> {
        self.append(EntryKind::Leaf { target_id: None })?;
        Ok(())
    }

    /// Goes on behind another entry, or at the beginning, with a summary of what is left.
    pub fn branch_with_summary(
        &mut self,
        id: Option<&str>,
        summary: &str,
        details: Option<serde_json::Value>,
    ) -> Result<String, SessionError> {
        let left_id = self.leaf().map(str::to_owned);
        match id {
            Some(id) => self.branch(id)?,
            None => self.reset_leaf()?,
        }
        self.append(EntryKind::BranchSummary {
            from_id: id.unwrap_or("root").to_owned(),
            summary: summary.to_owned(),
            left_id,
            details,
            from_extension: None,
        })
    }

    /// Gives an entry a name, or takes it away.
    pub fn set_label(&mut self, id: &str, label: Option<&str>) -> Result<(), SessionError> {
        self.index(id)?;
        let label = label.map(str::to_owned);
        self.append(EntryKind::Label { target_id: id.to_owned(), label })?;
        Ok(())
    }

    /// One entry.
    pub fn entry(&self, id: &str) -> Option<Entry> {
        Some(self.parse(*self.by_id.get(id)?))
    }

    /// All entries, in the order in which they were written.
    pub fn entries(&self) -> impl Iterator<Item = Entry> {
        (0..self.slots.len()).map(|at| self.parse(at))
    }

    /// The entries whose line has one of these words, in the order in which they were written.
    pub(crate) fn entries_with(&self, words: &[&str]) -> impl Iterator<Item = Entry> {
        let has = |at: &usize| {
            let line = self.line(*at);
            let is_in =
                |word: &&str| line.windows(word.len()).any(|piece| piece == word.as_bytes());
            words.iter().any(is_in)
        };
        (0..self.slots.len()).filter(has).map(|at| self.parse(at))
    }

    /// The entries from the beginning to an entry, or to the leaf.
    pub fn path_to(&self, id: Option<&str>) -> Result<Vec<Entry>, SessionError> {
        let at = id.map(|id| self.index(id)).transpose()?.or(self.leaf);
        Ok(self.way(at).into_iter().map(|at| self.parse(at)).collect())
    }

    /// The same, each with its name alone.
    pub(crate) fn contents_to(&self, id: &str) -> Result<Vec<(String, EntryKind)>, SessionError> {
        let at = self.index(id)?;
        Ok(self.way(Some(at)).into_iter().map(|at| self.content(at)).collect())
    }

    /// The numbers of the entries from the beginning to one.
    fn way(&self, mut at: Option<usize>) -> Vec<usize> {
        let mut way = Vec::new();
        while let Some(number) = at {
            way.push(number);
            at = self.slots[number].parent;
        }
        way.reverse();
        way
    }

    /// The entries of which this is the one before; `None` asks for the beginnings.
    pub fn children(&self, id: Option<&str>) -> Result<Vec<String>, SessionError> {
        let parent = id.map(|id| self.index(id)).transpose()?;
        let is_child = |slot: &&Slot| slot.parent == parent && slot.name != Name::Remark;
        Ok(self.slots.iter().filter(is_child).map(|slot| slot.id.clone()).collect())
    }

    /// Whether the output of a result is left out, and the tokens that this saves.
    pub(crate) fn pruned(&self, id: &str) -> Option<u64> {
        self.pruned.get(self.by_id.get(id)?).copied()
    }

    /// The entries that a model may read from the last compaction on, without parsing what is before.
    pub(crate) fn recent(&self) -> Vec<(String, EntryKind)> {
        let leaf = self.leaf;
        let way = self.way(leaf);
        let last = way.iter().rposition(|&at| self.slots[at].name == Name::Compaction);
        let first = last.map_or(0, |last| match self.content(way[last]).1 {
            EntryKind::Compaction { first_kept_entry_id, .. } => way
                .iter()
                .position(|&at| self.slots[at].id == first_kept_entry_id)
                .unwrap_or(last)
                .min(last),
            _ => last,
        });
        // State before it counts too; messages do not.
        let is_needed =
            |&(place, at): &(usize, usize)| place >= first || self.slots[at].name == Name::State;
        way.into_iter().enumerate().filter(is_needed).map(|(_, at)| self.content(at)).collect()
    }

    /// The entries from a number on, if each stands on the path behind the one before it, and none
    /// of them changes what is before it. Remarks about calls and names are passed over.
    pub(crate) fn appended(&self, from: usize) -> Option<Vec<(String, EntryKind)>> {
        let mut new = Vec::new();
        let mut last = self.leaf;
        for at in (from..self.slots.len()).rev() {
            let slot = &self.slots[at];
            match slot.name {
                Name::Compaction | Name::Damaged => return None,
                Name::Remark => match self.content(at).1 {
                    EntryKind::Leaf { .. } | EntryKind::ToolPruned { .. } => return None,
                    _ => {}
                },
                _ if last == Some(at) => {
                    last = slot.parent;
                    new.push(self.content(at));
                }
                _ => return None,
            }
        }
        new.reverse();
        Some(new)
    }

    /// The model of the last answer on the way to an entry, or to the leaf.
    pub(crate) fn last_model(&self, id: Option<&str>) -> Result<Option<String>, SessionError> {
        let mut at = id.map(|id| self.index(id)).transpose()?.or(self.leaf);
        while let Some(number) = at {
            let slot = &self.slots[number];
            if slot.name == Name::Message
                && let EntryKind::Message { message: AgentMessage::Assistant(answer) } =
                    self.content(number).1
                && !answer.model.is_empty()
            {
                return Ok(Some(format!("{}/{}", answer.provider, answer.model)));
            }
            at = slot.parent;
        }
        Ok(None)
    }

    fn line(&self, at: usize) -> &[u8] {
        &self.text[self.slots[at].range.clone()]
    }

    /// An entry's name and what it is, without the rest.
    fn content(&self, at: usize) -> (String, EntryKind) {
        let slot = &self.slots[at];
        let kind = match slot.name {
            Name::Damaged => EntryKind::Damaged,
            _ => load::parse_kind(self.line(at)),
        };
        (slot.id.clone(), kind)
    }

    fn parse(&self, at: usize) -> Entry {
        let slot = &self.slots[at];
        let parent = slot.parent.map(|at| self.slots[at].id.clone());
        let (timestamp, kind) = match slot.name {
            Name::Damaged => (String::new(), EntryKind::Damaged),
            _ => load::parse(self.line(at)),
        };
        Entry { id: slot.id.clone(), parent, timestamp, kind }
    }
}

fn header_line(header: &Header) -> Result<String, serde_json::Error> {
    let body = serde_json::to_string(header)?;
    Ok(format!("{{\"type\":\"session\",{}\n", body.trim_start_matches('{')))
}

fn lock(file: &File, path: &Path) -> Result<(), SessionError> {
    match file.try_lock() {
        Ok(()) => Ok(()),
        Err(TryLockError::WouldBlock) => Err(SessionError::InUse { path: path.to_owned() }),
        Err(TryLockError::Error(source)) => {
            Err(SessionError::Io { what: "lock", path: path.to_owned(), source })
        }
    }
}
