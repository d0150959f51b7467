//! `tree`: a directory and what is below it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use umbo_files::{Order, TreeNode};

use super::access::{self, Named};
use super::is_zero;
use super::list::WantedOrder;
use crate::call::Call;
use crate::error::Error;
use crate::values::Count;

/// Which directory, and how deep.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TreeRequest {
    /// The directory; the working directory unless given.
    #[schemars(description = "[.]")]
    pub path: Option<String>,
    /// How deep; 1 is the entries of the directory itself.
    #[schemars(description = "1: only its entries [2]", range(min = 1))]
    pub depth: Option<Count>,
    /// At most so many entries of each directory below the first.
    #[schemars(description = "Most of each directory below [12]")]
    pub per_directory: Option<Count>,
    /// The order; newest first unless given.
    #[schemars(description = "[newest]")]
    pub order: Option<WantedOrder>,
    /// Without names that begin with a dot.
    #[serde(default)]
    #[schemars(description = "Without names that begin with a dot")]
    pub no_hidden: bool,
    /// Also what `.gitignore` excludes.
    #[serde(default)]
    #[schemars(description = "Also what .gitignore excludes")]
    pub ignored: bool,
    /// At most so many entries in all.
    #[schemars(description = "[1000]", range(min = 1))]
    pub limit: Option<Count>,
}

/// The tree below a directory.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct TreeAnswer {
    /// The directory.
    pub path: String,
    /// How many entries are shown, at every depth.
    pub shown: usize,
    /// How many entries of the directory itself are not shown.
    #[serde(skip_serializing_if = "is_zero")]
    pub left_out: usize,
    /// The tree: two spaces a level, `/` behind directories, sizes and links.
    pub text: String,
    /// The same for whoever draws it otherwise.
    #[serde(skip)]
    #[schemars(skip)]
    pub children: Vec<TreeNode>,
}

/// Shows the tree below a directory.
pub fn tree(call: &Call<'_>, request: &TreeRequest) -> Result<TreeAnswer, Error> {
    let path = request.path.clone().unwrap_or_else(|| ".".to_owned());
    let usual = umbo_files::TreeRequest::default();
    let wanted = umbo_files::TreeRequest {
        path: path.clone(),
        depth: request.depth.map_or(usual.depth, Count::to_usize),
        per_directory: request.per_directory.map_or(usual.per_directory, Count::to_usize),
        limit: request.limit.map_or(usual.limit, Count::to_usize),
        hidden: !request.no_hidden,
        gitignore: !request.ignored,
        order: request.order.map_or(Order::Newest, Order::from),
    };
    let named = Named { verb: "tree", paths: &[path], content: "" };
    let found =
        access::look(call, named, |session, call| umbo_files::tree(session, &wanted, call))?;
    Ok(TreeAnswer {
        text: found.text(),
        path: found.path,
        shown: found.shown,
        left_out: found.left_out,
        children: found.children,
    })
}
