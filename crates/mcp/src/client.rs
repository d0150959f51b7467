//! What is known of clients by the names they give: what of a result reaches their model, and how
//! long they wait. Each row was seen with the real client.

use std::time::Duration;

use rmcp::RoleServer;
use rmcp::service::RequestContext;

use crate::cancellation::OnCancel;

/// How a server treats its clients.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct ClientOptions {
    /// What becomes of the command of a call that is cancelled.
    pub on_cancel: OnCancel,
    /// Whether the person in front of a client that can show forms is asked by one.
    pub elicitation: bool,
    /// Whether results have something structured beside their text.
    pub structure: Structure,
}

/// Whether results have something structured beside their text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Structure {
    /// For clients that do not show it to their model instead of the text, as far as that is known by
    /// their names.
    #[default]
    ByClient,
    /// For all.
    Always,
    /// For none: what is known by the name of its library alone may well show it to a model.
    Never,
}

impl Default for ClientOptions {
    fn default() -> Self {
        Self { on_cancel: OnCancel::default(), elicitation: true, structure: Structure::default() }
    }
}

/// What a client does with results.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Client {
    /// How the name it gives begins.
    name: &'static str,
    pub(crate) reads: Reads,
    /// Whether it takes links to resources in a result. Some fail on them.
    pub(crate) takes_links: bool,
    /// Whether it holds arguments against the schema itself, and tells its model of a field that does not
    /// exist without its name. It is not told that others are refused, so that the call comes through and
    /// the answer says what is wrong.
    pub(crate) checks_fields: bool,
    /// How long it waits for a result, where that is less than the usual minute.
    gives_up_after: Option<Duration>,
}

/// What of a result reaches the model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reads {
    /// The text, if there is one; what is structured is for programs.
    Text,
    /// What is structured, as JSON, instead of the text: there, every quote and line end of an output
    /// is escaped. It is given none, and then shows the text.
    StructureFirst,
}

const KNOWN: [Client; 6] = [
    Client { name: "claude-code", reads: Reads::StructureFirst, ..UNKNOWN },
    Client { name: "codex-mcp-client", reads: Reads::StructureFirst, ..UNKNOWN },
    Client {
        name: "Visual Studio Code",
        reads: Reads::StructureFirst,
        takes_links: true,
        ..UNKNOWN
    },
    Client { name: "gemini-cli-mcp-client", checks_fields: true, ..UNKNOWN },
    Client { name: "mcp-inspector", takes_links: true, ..UNKNOWN },
    // What the Python SDK calls itself unless it is told better: frameworks for agents, of which one
    // gives up after 5 s.
    Client { name: "mcp", gives_up_after: Some(Duration::from_secs(5)), ..UNKNOWN },
];

impl Client {
    /// How long a call may take so that its answer is in time.
    pub(crate) fn longest_wait(self) -> Option<Duration> {
        self.gives_up_after.map(|limit| limit.mul_f64(SHARE_OF_ITS_TIME))
    }

    /// The same, with what was said of all clients.
    pub(crate) fn with(self, options: ClientOptions) -> Self {
        let reads = match options.structure {
            Structure::ByClient => self.reads,
            Structure::Always => Reads::Text,
            Structure::Never => Reads::StructureFirst,
        };
        Self { reads, ..self }
    }
}

/// The rest is for the answer's way back, on a busy machine.
const SHARE_OF_ITS_TIME: f64 = 0.8;

const UNKNOWN: Client = Client {
    name: "",
    reads: Reads::Text,
    takes_links: false,
    checks_fields: false,
    gives_up_after: None,
};

/// What is known of the client that gives itself this name.
pub(crate) fn named(name: &str) -> Client {
    let is_it = |client: &&Client| {
        name.strip_prefix(client.name).is_some_and(|rest| {
            !rest.starts_with(|next: char| next.is_alphanumeric() || next == '-')
        })
    };
    KNOWN.iter().find(is_it).copied().unwrap_or(UNKNOWN)
}

/// What is known of the client that sent a request, and what was said of all clients.
pub(crate) fn of(context: &RequestContext<RoleServer>, options: ClientOptions) -> Client {
    let client = context.client_info().map_or(UNKNOWN, |client| named(&client.name));
    client.with(options)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_client_is_known_by_its_whole_name() {
        assert_eq!(named("claude-code").reads, Reads::StructureFirst);
        assert_eq!(named("claude-code/2.1").reads, Reads::StructureFirst);
        assert_eq!(named("claude-codec"), UNKNOWN);
        assert_eq!(named("mcp").longest_wait(), Some(Duration::from_secs(4)));
        assert_eq!(named("mcp-client-of-mine"), UNKNOWN);
        assert_eq!(named(""), UNKNOWN);
    }
}
