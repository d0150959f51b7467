//! `list`: the entries of a directory.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use umbo_files::{Entry, EntryKind, Order};

use super::access::{self, Named};
use super::{is_zero, time};
use crate::call::Call;
use crate::error::Error;
use crate::values::Count;

/// Which directory to list.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ListRequest {
    /// The directory; the working directory unless given.
    pub path: Option<String>,
    /// The order: `name` unless given.
    pub order: Option<WantedOrder>,
    /// Without names that begin with a dot.
    #[serde(default)]
    pub no_hidden: bool,
    /// Without what `.gitignore` excludes.
    #[serde(default)]
    pub no_ignored: bool,
    /// At most so many entries.
    pub limit: Option<Count>,
    /// Without so many of the first.
    pub skip: Option<Count>,
}

/// The order of entries.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline, description = "")]
pub enum WantedOrder {
    /// By name.
    #[schemars(description = "")]
    Name,
    /// Newest first.
    #[schemars(description = "")]
    Newest,
    /// Largest first.
    #[schemars(description = "")]
    Largest,
}

impl From<WantedOrder> for Order {
    fn from(order: WantedOrder) -> Self {
        match order {
            WantedOrder::Name => Self::Name,
            WantedOrder::Newest => Self::Newest,
            WantedOrder::Largest => Self::Largest,
        }
    }
}

/// The entries of a directory.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct ListAnswer {
    /// The directory.
    pub path: String,
    /// Its entries.
    pub entries: Vec<ListedEntry>,
    /// How many there are in all.
    pub total: usize,
    /// How many come behind these.
    #[serde(skip_serializing_if = "is_zero")]
    pub left_out: usize,
}

/// One entry.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct ListedEntry {
    /// Its name; what is no text is escaped.
    pub name: String,
    /// `file`, `directory`, `link`, `pipe`, `socket` or `device`.
    #[schemars(with = "String")]
    pub kind: EntryKind,
    /// Its size in bytes.
    pub size: u64,
    /// When its content was changed.
    pub modified: String,
    /// What a link points at.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target: Option<String>,
}

impl ListedEntry {
    fn new(entry: Entry) -> Self {
        let Entry { name, kind, size, modified, target } = entry;
        Self { name, kind, size, modified: time(modified), target }
    }
}

/// Lists a directory.
pub fn list(call: &Call<'_>, request: &ListRequest) -> Result<ListAnswer, Error> {
    let path = request.path.clone().unwrap_or_else(|| ".".to_owned());
    let usual = umbo_files::ListRequest::default();
    let wanted = umbo_files::ListRequest {
        path: path.clone(),
        hidden: !request.no_hidden,
        gitignore: request.no_ignored,
        order: request.order.map_or(Order::Name, Order::from),
        limit: request.limit.map_or(usual.limit, Count::to_usize),
        skip: request.skip.map_or(0, Count::to_usize),
    };
    let named = Named { verb: "list", paths: &[path], content: "" };
    let found =
        access::look(call, named, |session, call| umbo_files::list(session, &wanted, call))?;
    Ok(ListAnswer {
        path: found.path,
        entries: found.entries.into_iter().map(ListedEntry::new).collect(),
        total: found.total,
        left_out: found.left_out,
    })
}
