//! All files of an edit in memory, until everything is known to fit.

use std::path::PathBuf;

use super::hashline;
use super::patch::{self, FilePatch, Patched};
use super::replace::{self, Replacement};
use super::{EditedFile, FileOp};
use crate::change::FileChange;
use crate::guard::AccessKind;
use crate::paths::{Before, Target};
use crate::text::{Document, Encoding, NotText};
use crate::{Error, Session, diff, notebook};

pub(super) struct Batch<'a> {
    session: &'a Session,
    files: Vec<Loaded>,
    warnings: Vec<String>,
}

/// A file that the edit touches.
struct Loaded {
    target: Target,
    before: Option<Before>,
    document: Document,
    old: String,
    /// `None` is deleted.
    new: Option<String>,
    /// The JSON of a notebook, of which the texts are made.
    notebook: Option<String>,
    /// The new text with its line endings, where the edit says which.
    exact: Option<String>,
    mode: Option<u32>,
    moved_from: Option<String>,
}

/// What a batch comes to.
pub(super) type Outcome = (Vec<FileChange>, Vec<EditedFile>, Vec<String>);

impl<'a> Batch<'a> {
    pub(super) fn new(session: &'a Session) -> Self {
        Self { session, files: Vec::new(), warnings: Vec::new() }
    }

    pub(super) fn hashline(&mut self, input: &str, path: Option<&str>) -> Result<(), Error> {
        let parsed = hashline::parse(input, path)?;
        self.warnings.extend(parsed.warnings);
        let mut done: Vec<PathBuf> = Vec::new();
        for mut section in parsed.sections {
            let at = self.load(&section.path, AccessKind::Write)?;
            let (target, is_missing) = (&self.files[at].target, self.files[at].before.is_none());
            let (shown, real) = (target.shown.clone(), target.real.clone());
            if done.contains(&real) {
                let problem = format!("two sections name {shown} in different ways; use one path");
                return Err(Error::bad_edit(0, problem));
            }
            if is_missing && !hashline::creates(&section.ops) {
                return Err(Error::NotFound { path: section.path, nearest: Vec::new() });
            }
            for op in &mut section.ops {
                if !op.payload.is_empty() {
                    let restored = self.session.restore(&real, op.payload.join("\n"))?;
                    op.payload = restored.split('\n').map(str::to_owned).collect();
                }
            }
            let seen = self.session.seen.get(&real);
            let old = &self.files[at].old;
            let new = hashline::apply(&shown, old, &section.ops, seen.as_ref(), &mut self.warnings);
            let new = new.map_err(|error| self.masked(&real, error))?;
            self.files[at].new = Some(new);
            done.push(real);
        }
        Ok(())
    }

    pub(super) fn replace(&mut self, path: &str, edits: &[Replacement]) -> Result<(), Error> {
        if edits.is_empty() {
            return Err(Error::bad("edits", "[]", "at least one replacement is needed"));
        }
        let at = self.load(path, AccessKind::Write)?;
        let creates = edits.first().is_some_and(|edit| edit.old.is_empty());
        if self.files[at].before.is_none() && !creates {
            return Err(Error::NotFound { path: path.to_owned(), nearest: Vec::new() });
        }
        let real = self.files[at].target.real.clone();
        let mut restored = Vec::new();
        for edit in edits {
            restored.push(Replacement {
                old: self.session.restore(&real, edit.old.clone())?,
                new: self.session.restore(&real, edit.new.clone())?,
                all: edit.all,
            });
        }
        let file = &mut self.files[at];
        let new = replace::apply(&file.target.shown, &file.old, &restored, &mut self.warnings)?;
        file.new = Some(new);
        Ok(())
    }

    pub(super) fn patch(&mut self, text: &str, strip: Option<usize>) -> Result<(), Error> {
        let project = self.session.workspace.project().to_path_buf();
        let text = self.session.restore(&project, text.to_owned())?;
        for file in patch::parse(&text, strip)? {
            match file {
                FilePatch::Create { path, text, mode, replaces } => {
                    let at = self.load(&path, AccessKind::Write)?;
                    let file = &mut self.files[at];
                    if file.before.is_some() && !replaces && file.new.is_some() {
                        return Err(Error::Exists { path: file.target.shown.clone() });
                    }
                    file.document = Document::empty();
                    file.set(Patched::Exact(text));
                    file.mode = mode.or(file.mode);
                }
                FilePatch::Delete { path, hunks } => {
                    let at = self.load_existing(&path, AccessKind::Delete)?;
                    let file = &mut self.files[at];
                    patch::deletes_all(&file.target.shown, &file.current(), &hunks)?;
                    file.new = None;
                }
                FilePatch::Update { path, to, hunks, mode } => {
                    self.update(&path, to, &hunks, mode)?;
                }
            }
        }
        Ok(())
    }

    fn update(
        &mut self,
        path: &str,
        to: Option<String>,
        hunks: &patch::Hunks,
        mode: Option<u32>,
    ) -> Result<(), Error> {
        let kind = if to.is_some() { AccessKind::Delete } else { AccessKind::Write };
        let from = self.load_existing(path, kind)?;
        let source = &self.files[from];
        let shown = source.target.shown.clone();
        let patched = hunks.apply(&shown, &source.exact_text(), &mut self.warnings)?;
        let source_mode = mode.or(source.mode);
        let Some(to) = to else {
            self.files[from].set(patched);
            self.files[from].mode = source_mode;
            return Ok(());
        };
        let target = self.load(&to, AccessKind::Write)?;
        if target == from {
            self.files[from].set(patched);
            return Ok(());
        }
        let document = std::mem::replace(&mut self.files[from].document, Document::empty());
        self.files[from].new = None;
        let file = &mut self.files[target];
        file.document = document;
        file.set(patched);
        file.mode = source_mode;
        file.moved_from = Some(shown);
        Ok(())
    }

    fn load_existing(&mut self, path: &str, kind: AccessKind) -> Result<usize, Error> {
        let at = self.load(path, kind)?;
        let file = &self.files[at];
        // Deleted or not there, and not made by this edit either.
        if file.new.is_none() {
            return Err(Error::NotFound { path: path.to_owned(), nearest: Vec::new() });
        }
        Ok(at)
    }

    /// The file of a path, once for all its edits.
    fn load(&mut self, path: &str, kind: AccessKind) -> Result<usize, Error> {
        let target = self.session.target(path, kind)?;
        if let Some(at) = self.files.iter().position(|file| file.target.real == target.real) {
            return Ok(at);
        }
        let before = target.read()?;
        let document = match &before {
            None => Document::empty(),
            Some(before) => {
                Document::parse(&before.bytes).map_err(|problem| Error::Unreadable {
                    path: target.shown.clone(),
                    problem: match problem {
                        NotText::Binary => "it is no text that can be edited".to_owned(),
                        NotText::Lossy => {
                            "its UTF-16 is damaged, so an edit would change more".to_owned()
                        }
                    },
                })?
            }
        };
        // A notebook is edited as the text that `read` shows of it.
        let notebook = match target.real.extension() {
            Some(ending) if ending == "ipynb" && before.is_some() => Some(document.text()),
            _ => None,
        };
        let old = match &notebook {
            Some(json) => notebook::to_text(json)
                .map_err(|problem| Error::Unreadable { path: target.shown.clone(), problem })?,
            None => document.text(),
        };
        let new = before.is_some().then(|| old.clone());
        let mode = before.as_ref().map(|before| before.mode);
        let moved_from = None;
        self.files.push(Loaded {
            target,
            before,
            document,
            old,
            new,
            notebook,
            exact: None,
            mode,
            moved_from,
        });
        Ok(self.files.len() - 1)
    }

    /// An error's fresh lines go to the reader too.
    fn masked(&self, path: &std::path::Path, error: Error) -> Error {
        match error {
            Error::StaleAnchors { path: shown, context } => {
                let lines = context.split('\n').map(str::to_owned).collect();
                Error::StaleAnchors {
                    path: shown,
                    context: self.session.mask(path, lines).join("\n"),
                }
            }
            other => other,
        }
    }

    /// That every file was read, and that nobody changed it since.
    pub(super) fn is_as_read(&self) -> Result<(), Error> {
        for file in &self.files {
            let Some(before) = &file.before else { continue };
            let seen = self.session.seen.get(&file.target.real);
            let seen = seen.ok_or(Error::NotRead { path: file.target.shown.clone() })?;
            crate::write::is_as_seen(self.session, &file.target, before, &seen)?;
        }
        Ok(())
    }

    /// What is to be done; an error if a file would stay as it is.
    pub(super) fn finish(self) -> Result<Outcome, Error> {
        let (mut changes, mut files) = (Vec::new(), Vec::new());
        let mut warnings = self.warnings;
        for file in self.files {
            let bytes = file.bytes()?;
            let is_same = match (&bytes, &file.before) {
                (Some(bytes), Some(before)) => {
                    *bytes == before.bytes && file.mode.is_none_or(|mode| mode == before.mode)
                }
                (None, None) => true,
                _ => false,
            };
            if is_same {
                return Err(Error::NoChange { path: file.target.shown });
            }
            if file.document.encoding == Encoding::Windows1252 {
                let path = &file.target.shown;
                warnings.push(format!("{path} is not UTF-8; it was written as windows-1252"));
            }
            let is_source = file.new.is_none();
            files.push((is_source, file.answer(self.session)));
            changes.push(FileChange {
                target: file.target,
                before: file.before,
                after: bytes,
                mode: file.mode,
                seen_text: file.new,
            });
        }
        // A moved file is told once, at its new place.
        let moved: Vec<String> = files
            .iter()
            .filter_map(|(_, file)| match &file.op {
                FileOp::MoveFrom(from) => Some(from.clone()),
                _ => None,
            })
            .collect();
        files.retain(|(is_source, file)| !(*is_source && moved.contains(&file.path)));
        Ok((changes, files.into_iter().map(|(_, file)| file).collect(), warnings))
    }
}

impl Loaded {
    /// The text after the edits so far.
    fn current(&self) -> String {
        self.new.clone().unwrap_or_default()
    }

    /// The same with line endings.
    fn exact_text(&self) -> String {
        match (&self.exact, &self.new) {
            (Some(exact), _) => exact.clone(),
            _ if self.notebook.is_some() => self.current(),
            (None, Some(new)) if *new != self.old => new.clone(),
            _ => self.document.exact_text(),
        }
    }

    fn set(&mut self, patched: Patched) {
        (self.new, self.exact) = match patched {
            Patched::Exact(text) => (Some(text.replace("\r\n", "\n")), Some(text)),
            Patched::Plain(text) => (Some(text), None),
        };
    }

    fn bytes(&self) -> Result<Option<Vec<u8>>, Error> {
        let Some(new) = &self.new else { return Ok(None) };
        let unreadable = |problem| Error::Unreadable { path: self.target.shown.clone(), problem };
        let bytes = match &self.exact {
            _ if self.notebook.is_some() => {
                let json = self.notebook.as_deref().unwrap_or_default();
                let json = notebook::with_text(json, new).map_err(unreadable)?;
                self.document.with_text(&json)
            }
            Some(exact) => self.document.with_exact_text(exact),
            None => self.document.with_text(new),
        };
        let bytes = bytes.map_err(|character| Error::Unreadable {
            path: self.target.shown.clone(),
            problem: format!("its encoding, windows-1252, has no {character:?}"),
        })?;
        Ok(Some(bytes))
    }

    fn answer(&self, session: &Session) -> EditedFile {
        let new = self.new.as_deref().unwrap_or_default();
        let (first_changed_line, added, removed) = diff::counts(&self.old, new);
        let shown = diff::unified(&self.target.shown, &self.old, new);
        let lines = shown.split('\n').map(str::to_owned).collect();
        let op = match (&self.moved_from, &self.before, &self.new) {
            (Some(from), ..) => FileOp::MoveFrom(from.clone()),
            (_, _, None) => FileOp::Delete,
            (_, None, _) => FileOp::Create,
            _ => FileOp::Update,
        };
        EditedFile {
            path: self.target.shown.clone(),
            op,
            diff: session.mask(&self.target.real, lines).join("\n"),
            first_changed_line,
            added,
            removed,
        }
    }
}
