//! A directory and what is below it, to a depth.

use std::fmt::Write as _;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::guard::AccessKind;
use crate::list::{Entry, EntryKind, Listing, Order};
use crate::{Call, Error, Session, paths};

/// Asks for the tree below a directory.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct TreeRequest {
    /// The directory.
    pub path: String,
    /// How deep; 1 is the entries of the directory itself.
    pub depth: usize,
    /// At most so many entries of each directory below the first.
    pub per_directory: usize,
    /// At most so many entries in all.
    pub limit: usize,
    /// With names that begin with a dot.
    pub hidden: bool,
    /// Without what `.gitignore` excludes.
    pub gitignore: bool,
    /// In which order.
    pub order: Order,
}

impl Default for TreeRequest {
    fn default() -> Self {
        Self {
            path: ".".to_owned(),
            depth: 2,
            per_directory: 12,
            limit: 1000,
            hidden: true,
            gitignore: true,
            order: Order::Newest,
        }
    }
}

/// An entry with what is below it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct TreeNode {
    /// The entry.
    #[serde(flatten)]
    pub entry: Entry,
    /// What is in it.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub children: Vec<TreeNode>,
    /// How many entries of it are not shown; `None` below the depth, where nobody looked.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub left_out: Option<usize>,
    /// Why it could not be looked into.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub problem: Option<String>,
}

/// The tree below a directory.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct TreeAnswer {
    /// The directory.
    pub path: String,
    /// What is in it.
    pub children: Vec<TreeNode>,
    /// How many entries of the directory itself are not shown.
    pub left_out: usize,
    /// How many entries are shown, at every depth.
    pub shown: usize,
}

/// Shows the tree below a directory.
pub fn tree(session: &Session, request: &TreeRequest, call: &Call) -> Result<TreeAnswer, Error> {
    let located = session.locate(&request.path, AccessKind::List)?;
    if !located.is_directory() {
        let is = paths::kind_name(located.kind());
        return Err(Error::WrongKind { path: located.shown, is, wanted: "directory" });
    }
    let mut growth = Growth { session, request, call, room: request.limit };
    let top = growth.level(&located.real, request.limit)?;
    let (mut children, left_out) = (top.nodes, top.left_out);
    growth.deepen(&mut children, &located.real, 1)?;
    Ok(TreeAnswer { path: located.shown, children, left_out, shown: request.limit - growth.room })
}

struct Growth<'a> {
    session: &'a Session,
    request: &'a TreeRequest,
    call: &'a Call,
    /// How many more entries fit.
    room: usize,
}

struct Level {
    nodes: Vec<TreeNode>,
    left_out: usize,
}

impl Growth<'_> {
    fn level(&mut self, directory: &Path, most: usize) -> Result<Level, Error> {
        let listing = Listing {
            hidden: self.request.hidden,
            gitignore: self.request.gitignore,
            order: self.request.order,
            skip: 0,
            limit: most.min(self.room),
        };
        let page = listing.page(self.session, directory, self.call)?;
        let node =
            |(_, entry)| TreeNode { entry, children: Vec::new(), left_out: None, problem: None };
        let nodes: Vec<TreeNode> = page.entries.into_iter().map(node).collect();
        self.room -= nodes.len();
        let left_out = page.total.saturating_sub(nodes.len());
        Ok(Level { nodes, left_out })
    }

    /// Level by level, so that a limit cuts what is deep before what is near.
    fn deepen(
        &mut self,
        nodes: &mut [TreeNode],
        directory: &Path,
        depth: usize,
    ) -> Result<(), Error> {
        if depth >= self.request.depth {
            return Ok(());
        }
        let mut filled = Vec::new();
        for node in nodes.iter_mut().filter(|node| node.entry.kind == EntryKind::Directory) {
            self.call.stop.check()?;
            let Some(name) = name_of(&node.entry) else { continue };
            // What a repository keeps for itself is no part of the project.
            if self.request.gitignore && name.as_os_str() == ".git" {
                continue;
            }
            let below = directory.join(name);
            match self.level(&below, self.request.per_directory) {
                Ok(level) => {
                    node.left_out = Some(level.left_out).filter(|count| *count > 0);
                    node.children = level.nodes;
                    filled.push((node, below));
                }
                Err(stopped @ Error::Stopped { .. }) => return Err(stopped),
                Err(error) => node.problem = Some(error.to_string()),
            }
        }
        for (node, below) in filled {
            self.deepen(&mut node.children, &below, depth + 1)?;
        }
        Ok(())
    }
}

/// The name on disk of an entry whose name may be escaped.
fn name_of(entry: &Entry) -> Option<std::path::PathBuf> {
    use std::os::unix::ffi::OsStringExt;
    if !entry.name.contains('\\') {
        return Some(entry.name.clone().into());
    }
    let bytes = paths::unescape(&entry.name)?;
    let escaped = std::ffi::OsString::from_vec(bytes);
    // A plain name may have a backslash too; only names that are no plain text are escaped.
    let is_escaped = paths::shown(Path::new(&escaped)) == entry.name;
    Some(if is_escaped { escaped.into() } else { entry.name.clone().into() })
}

impl TreeAnswer {
    /// The tree as text: two spaces a level, `/` behind directories, sizes and links.
    pub fn text(&self) -> String {
        let mut text = format!("{}/\n", self.path.trim_end_matches('/'));
        if self.children.is_empty() && self.left_out == 0 {
            text.push_str("  (empty directory)\n");
        }
        push_level(&mut text, &self.children, self.left_out, 1);
        text
    }
}

fn push_level(text: &mut String, nodes: &[TreeNode], left_out: usize, depth: usize) {
    let indent = "  ".repeat(depth);
    for node in nodes {
        let entry = &node.entry;
        let line = match (&entry.kind, &entry.target) {
            (EntryKind::Directory, _) => format!("{indent}{}/", entry.name),
            (_, Some(target)) => format!("{indent}{} -> {target}", entry.name),
            (EntryKind::File, None) => {
                format!("{indent}{}  {}", entry.name, crate::render::size(entry.size))
            }
            (kind, None) => format!("{indent}{}  ({kind:?})", entry.name).to_lowercase(),
        };
        text.push_str(&line);
        if let Some(problem) = &node.problem {
            let _ = write!(text, "  ({problem})");
        }
        text.push('\n');
        push_level(text, &node.children, node.left_out.unwrap_or_default(), depth + 1);
    }
    if left_out > 0 {
        let _ = writeln!(text, "{indent}… {left_out} more");
    }
}
