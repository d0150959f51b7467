//! What umbo remembers of a file it changed: a copy from before, and what it made besides the entry.
//! With it, taking the server out of a file that nobody has touched since gives the very bytes that
//! were there.

use std::fs::{self, DirBuilder, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use umbo_gate::Digest;
use umbo_tools::show_time;

use super::site::Site;
use crate::context::Context;
use crate::failure::Failure;
use crate::output;

/// How many copies of one client's file are kept.
const COPIES: usize = 10;

/// The memory of one server in one file.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Receipt {
    file: PathBuf,
    name: String,
    /// The text as umbo left it.
    after: Digest,
    /// The copy of what it was before umbo; none if it was not there, or is not known.
    before: Option<PathBuf>,
    pub(crate) made: Made,
}

/// What was made for a server besides its entry.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct Made {
    pub(crate) file: bool,
    /// The table of servers.
    pub(crate) section: bool,
    /// From the outermost in.
    pub(crate) directories: Vec<PathBuf>,
}

impl Receipt {
    /// What is remembered of a server in a file. A memory that cannot be read is none.
    pub(crate) fn load(context: &Context, site: &Site, name: &str) -> Option<Self> {
        let text = fs::read_to_string(place(context, site, name)).ok()?;
        serde_json::from_str(&text).ok()
    }

    /// Remembers a server that was put into a file. That is done and stays so, whatever happens here.
    pub(crate) fn save(&self, context: &Context, site: &Site) {
        let path = place(context, site, &self.name);
        let draft = path.with_extension("tmp");
        let saved = serde_json::to_vec(self)
            .map_err(io::Error::from)
            .and_then(|text| private(&draft, &text))
            .and_then(|()| fs::rename(&draft, &path));
        if let Err(error) = saved {
            output::talk(format_args!(
                "umbo: cannot remember this in {} ({error}): `umbo uninstall` will take out the entry \
                 and leave what was made around it",
                path.display()
            ));
        }
    }

    /// Forgets a server.
    pub(crate) fn forget(context: &Context, site: &Site, name: &str) {
        let _ = fs::remove_file(place(context, site, name));
    }

    /// For a server that is new in a file: what was made for it, and the copy from before.
    pub(crate) fn added(
        site: &Site,
        name: &str,
        after: &str,
        made: Made,
        before: Option<PathBuf>,
    ) -> Self {
        let after = Digest::of(after.as_bytes());
        Self { file: site.real.clone(), name: name.to_owned(), after, before, made }
    }

    /// For a server that was in a file and was changed. What was there before umbo is known only if
    /// nobody else has changed the file since.
    pub(crate) fn changed(old: Option<Self>, site: &Site, name: &str, after: &str) -> Self {
        let before = old.as_ref().filter(|old| old.is_untouched(site));
        let before = before.and_then(|old| old.before.clone());
        let made = old.map(|old| old.made).unwrap_or_default();
        Self::added(site, name, after, made, before)
    }

    /// Whether the file is as umbo left it.
    pub(crate) fn is_untouched(&self, site: &Site) -> bool {
        site.text.as_deref().is_some_and(|text| Digest::of(text.as_bytes()) == self.after)
    }

    /// The text from before umbo, if it is known.
    pub(crate) fn original(&self) -> Option<String> {
        fs::read_to_string(self.before.as_deref()?).ok()
    }
}

/// Copies a file to where only its owner can read it, before it is changed. Old copies go.
pub(crate) fn back_up(
    context: &Context,
    client: &str,
    site: &Site,
) -> Result<Option<PathBuf>, Failure> {
    let Some(text) = &site.text else { return Ok(None) };
    let file = site.path.file_name().unwrap_or_default().to_string_lossy();
    let kind = format!("-{client}-{}-{file}", digest(site, ""));
    let directory = context.state.join("backups");
    let path = directory.join(format!("{}{kind}", show_time(umbo_ops::now())));
    private(&path, text.as_bytes()).map_err(|error| {
        Failure::new(format!("cannot keep a copy as {}: {error}", path.display()))
    })?;
    let names = fs::read_dir(&directory)?.flatten().map(|entry| entry.file_name());
    let mut copies: Vec<_> = names.filter(|name| name.to_string_lossy().ends_with(&kind)).collect();
    copies.sort();
    for old in copies.iter().rev().skip(COPIES) {
        let _ = fs::remove_file(directory.join(old));
    }
    Ok(Some(path))
}

fn place(context: &Context, site: &Site, name: &str) -> PathBuf {
    context.state.join("installs").join(format!("{}.json", digest(site, name)))
}

/// What tells files, and servers in them, apart.
fn digest(site: &Site, name: &str) -> String {
    let key = format!("{name}\n{}", site.real.display());
    Digest::of(key.as_bytes()).as_str().chars().take(16).collect()
}

fn private(path: &Path, bytes: &[u8]) -> io::Result<()> {
    if let Some(directory) = path.parent() {
        DirBuilder::new().recursive(true).mode(0o700).create(directory)?;
    }
    let mut file =
        OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(path)?;
    file.write_all(bytes)?;
    file.sync_all()
}
