//! Files for agents: list, tree, search, find, read, write, edit and undo, confined to a project.
//!
//! A [`Session`] has the [`Workspace`] (roots, working directory, policy), a [`Guard`] that decides
//! about accesses and masks text, the lines its caller has [`Seen`], and the store for undo. Every
//! operation is a function of a session, a typed request and a [`Call`] (cancellation, deadline,
//! name), and gives a typed answer. The library blocks, prints nothing and reads no environment.

pub mod anchor;
mod call;
mod change;
mod diff;
pub mod edit;
mod error;
mod find;
mod glob;
mod guard;
mod list;
mod notebook;
pub mod paths;
mod read;
pub mod render;
mod scope;
mod search;
mod seen;
pub mod select;
mod text;
mod tree;
mod undo;
mod walk;
#[cfg(feature = "web")]
mod web;
mod workspace;
mod write;

pub use call::{Call, Stop, StopReason};
pub use edit::{Edit, EditAnswer, EditRequest, EditedFile, FileOp, Replacement, edit};
pub use error::Error;
pub use find::{FindAnswer, FindKind, FindRequest, FoundFile, find};
pub use guard::{Access, AccessKind, Decision, Guard, InsideOnly, Place};
pub use list::{Entry, EntryKind, ListAnswer, ListRequest, Order, list};
pub use read::{
    ArchiveEntry, ArchiveListing, Content, ImageContent, LineStyle, MOST_BYTES, MOST_LINES,
    ReadAnswer, ReadRequest, TextLine, TextPage, TextSource, read,
};
pub use search::{FileMatches, MatchLine, SearchAnswer, SearchOutput, SearchRequest, search};
pub use seen::Seen;
pub use text::{Encoding, LineEnding};
pub use tree::{TreeAnswer, TreeNode, TreeRequest, tree};
pub use undo::{
    Change, ChangeKind, ChangedFile, ChangesAnswer, ChangesRequest, Kept, UndoAnswer, UndoRequest,
    UndoStore, UndoWhat, UndoneFile, changes, undo,
};
#[cfg(feature = "web")]
pub use web::WebPolicy;
pub use workspace::{Policy, Resource, Resources, Session, Workspace};
pub use write::{Overwrite, WriteAnswer, WriteRequest, write};
