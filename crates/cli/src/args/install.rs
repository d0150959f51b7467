//! The words of `umbo install` and `umbo uninstall`.

use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use umbo_gate::Mode;

use crate::install::Client;
use crate::install::clients::{ANY, CLIENTS};
use crate::install::server::parse_name;

/// A client by its name.
pub(super) fn client() -> impl TypedValueParser<Value = &'static Client> {
    named(CLIENTS.iter().collect())
}

/// The same, or `any`.
pub(super) fn any_client() -> impl TypedValueParser<Value = &'static Client> {
    named(CLIENTS.iter().chain([&ANY]).collect())
}

fn named(clients: Vec<&'static Client>) -> impl TypedValueParser<Value = &'static Client> {
    PossibleValuesParser::new(clients.iter().map(|client| client.name)).try_map(move |name| {
        let found = clients.iter().find(|client| client.name == name);
        found.copied().ok_or("there is no such client")
    })
}

#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of the command line")]
pub(crate) struct Install {
    /// The client; without one, they are listed
    #[arg(value_name = "CLIENT", value_parser = client())]
    pub(crate) client: Option<&'static Client>,
    /// Into the settings of this project, not into yours
    #[arg(long, requires = "client")]
    pub(crate) project: bool,
    /// What the client calls the server
    #[arg(long, value_name = "NAME", default_value = "umbo", value_parser = parse_name)]
    pub(crate) name: String,
    /// Whose names, fields and answers the tools have, as in `umbo mcp`
    #[arg(long, value_name = "NAME", requires = "client")]
    pub(crate) dialect: Option<String>,
    /// What runs unasked, as in `umbo mcp`
    #[arg(long, value_name = "MODE", requires = "client")]
    pub(crate) mode: Option<Mode>,
    /// Do not ask
    #[arg(long, short, requires = "client", conflicts_with = "print")]
    pub(crate) yes: bool,
    /// Only show what would change
    #[arg(long, requires = "client")]
    pub(crate) print: bool,
    /// Change nothing: let the client start its servers, and say what umbo's really gets
    #[arg(long, requires = "client", conflicts_with_all = ["print", "yes", "dialect", "mode"])]
    pub(crate) check: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Uninstall {
    /// The client
    #[arg(value_name = "CLIENT", value_parser = client())]
    pub(crate) client: &'static Client,
    /// Out of the settings of this project, not out of yours
    #[arg(long)]
    pub(crate) project: bool,
    /// What the client calls the server
    #[arg(long, value_name = "NAME", default_value = "umbo", value_parser = parse_name)]
    pub(crate) name: String,
    /// Do not ask
    #[arg(long, short, conflicts_with = "print")]
    pub(crate) yes: bool,
    /// Only show what would change
    #[arg(long)]
    pub(crate) print: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Doctor {
    /// Say why this client does not see umbo: its program, its settings, and what it starts
    #[arg(long, value_name = "CLIENT", value_parser = client())]
    pub(crate) client: Option<&'static Client>,
}
