//! The crate from outside: real files, real programs beside it.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "only functions marked as tests are known to be tests"
)]
#![allow(
    clippy::format_collect,
    clippy::format_push_string,
    clippy::items_after_statements,
    clippy::default_trait_access,
    clippy::needless_for_each,
    clippy::needless_pass_by_value,
    clippy::needless_range_loop,
    clippy::semicolon_if_nothing_returned,
    reason = "texts and models are made the simplest way"
)]

mod edit;
mod find;
mod formats;
mod list;
mod oracle;
mod paths;
mod properties;
mod read;
mod search;
mod undo;
mod url;
mod write;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use tempfile::TempDir;
use umbo_files::{
    Call, Content, Edit, EditAnswer, EditRequest, Error, ReadAnswer, ReadRequest, Replacement,
    Session, TextPage, Workspace,
};

/// A project in a directory of its own, and a caller of it.
struct Project {
    _directory: TempDir,
    session: Session,
}

impl Project {
    fn new() -> Self {
        let directory = TempDir::new().unwrap();
        let session = Session::new(Workspace::new(directory.path()).unwrap());
        Self { _directory: directory, session }
    }

    /// The same with another session.
    fn with(make: impl FnOnce(Workspace) -> Session) -> Self {
        let directory = TempDir::new().unwrap();
        let session = make(Workspace::new(directory.path()).unwrap());
        Self { _directory: directory, session }
    }

    fn root(&self) -> &Path {
        self.session.workspace().project()
    }

    fn path(&self, name: &str) -> PathBuf {
        self.root().join(name)
    }

    fn put(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, content).unwrap();
        path
    }

    fn bytes(&self, name: &str) -> Vec<u8> {
        fs::read(self.path(name)).unwrap()
    }

    fn text(&self, name: &str) -> String {
        String::from_utf8(self.bytes(name)).unwrap()
    }

    fn read(&self, path: &str) -> Result<ReadAnswer, Error> {
        let request = ReadRequest { path: path.to_owned(), ..ReadRequest::default() };
        umbo_files::read(&self.session, &request, &Call::default())
    }

    fn page(&self, path: &str) -> TextPage {
        match self.read(path).unwrap().content {
            Content::Text(page) => page,
            other => panic!("{path} is no text: {other:?}"),
        }
    }

    /// The anchor of a line, as it is read now.
    fn anchor(&self, path: &str, line: u64) -> String {
        let page = self.page(path);
        let line = page.lines.iter().find(|own| own.number == line).unwrap();
        line.anchor.unwrap().to_string()
    }

    fn edit(&self, edit: Edit) -> Result<EditAnswer, Error> {
        let request = EditRequest { edit, dry_run: false, if_read: false };
        umbo_files::edit(&self.session, &request, &Call::default())
    }

    fn hashline(&self, input: &str) -> Result<EditAnswer, Error> {
        self.edit(Edit::Hashline { input: input.to_owned(), path: None })
    }

    fn replace(&self, path: &str, old: &str, new: &str) -> Result<EditAnswer, Error> {
        let edits = vec![Replacement { old: old.to_owned(), new: new.to_owned(), all: false }];
        self.edit(Edit::Replace { path: path.to_owned(), edits })
    }

    fn patch(&self, patch: &str) -> Result<EditAnswer, Error> {
        self.edit(Edit::Patch { patch: patch.to_owned(), strip: None })
    }

    /// Every file of the project with its content, to see that nothing else changed.
    fn snapshot(&self) -> Vec<(PathBuf, Vec<u8>)> {
        let mut all = Vec::new();
        collect(self.root(), &mut all);
        all.sort();
        all
    }
}

fn collect(directory: &Path, all: &mut Vec<(PathBuf, Vec<u8>)>) {
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            collect(&path, all);
        } else {
            all.push((path.clone(), fs::read(&path).unwrap_or_default()));
        }
    }
}

/// What a program prints, in a directory.
fn run(directory: &Path, program: &str, words: &[&str], input: &[u8]) -> (bool, Vec<u8>) {
    use std::io::Write;
    let mut command = Command::new(program);
    command.args(words).current_dir(directory);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().unwrap_or_else(|e| panic!("{program} is needed: {e}"));
    child.stdin.take().unwrap().write_all(input).unwrap();
    let output = child.wait_with_output().unwrap();
    (output.status.success(), output.stdout)
}
