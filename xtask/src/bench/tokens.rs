//! What a model pays for a result, by client: each passes on a form of its own, and what counts is the form.

use std::fs;

use serde_json::{Value, json};

use super::mcp::{Client, umbo_server};
use crate::failure::{Done, Failure};
use crate::scratch::Scratch;
use crate::workspace::{root, say};

/// A client, by the name it gives, and what its model reads of a result.
struct Reader {
    client: &'static str,
    name: &'static str,
    form: Form,
}

/// What of a result a model reads.
#[derive(Clone, Copy)]
enum Form {
    /// The texts of a result.
    Text,
    /// The structure as JSON; the texts if there is none.
    StructureOrText,
    /// The same, after two lines of its own.
    StructureOrTextTimed,
    /// Both, one after the other.
    Both,
}

const READERS: [Reader; 11] = [
    Reader { client: "Claude Code", name: "claude-code", form: Form::StructureOrText },
    Reader { client: "Codex CLI", name: "codex-mcp-client", form: Form::StructureOrTextTimed },
    Reader { client: "VS Code", name: "Visual Studio Code", form: Form::StructureOrText },
    Reader { client: "Gemini CLI", name: "gemini-cli-mcp-client", form: Form::Text },
    Reader { client: "opencode", name: "opencode", form: Form::Text },
    Reader { client: "goose", name: "goose", form: Form::Text },
    Reader { client: "LangChain", name: "mcp", form: Form::Text },
    Reader { client: "openai-agents", name: "mcp", form: Form::Text },
    Reader { client: "pydantic-ai", name: "mcp", form: Form::StructureOrText },
    Reader { client: "LlamaIndex", name: "mcp", form: Form::Both },
    Reader { client: "one that nobody knows", name: "bench", form: Form::Text },
];

/// What is called, and the name of the column.
const CALLS: [(&str, &str); 5] = [
    ("`hello`", "echo hello"),
    ("a failure", "echo 'error: no such file' >&2; exit 2"),
    ("source code", "cat source.rs"),
    ("a log, cut", "seq 1 4000 | sed 's/^/2026-01-01 INFO request served in /'"),
    ("a server", "echo listening; exec sleep 60"),
];

/// Tokens for each client and call: as it is, and if the client were given the other form.
pub(super) fn report(scratch: &Scratch) -> Done {
    let columns: Vec<&str> = CALLS.iter().map(|(name, _)| *name).collect();
    say(format!("Tokens that a model reads ({})", umbo_view::TOKEN_METHOD));
    say(format!("| client | tools, once | {} |", columns.join(" | ")));
    say(format!("|---|---|{}", "---|".repeat(columns.len())));
    for reader in &READERS {
        let row = row(scratch, reader)?;
        say(format!("| {} | {} |", reader.client, row.join(" | ")));
    }
    say("in brackets: what it would be with structure and text for everybody\n");
    Ok(())
}

fn row(scratch: &Scratch, reader: &Reader) -> Done<Vec<String>> {
    let mut server = umbo_server(scratch, "tokens");
    let source = scratch.directory().join("source.rs");
    let own = root().join("xtask/src/bench/tokens.rs");
    fs::copy(&own, &source).map_err(Failure::at(own.display()))?;
    server.directory = Some(scratch.directory().to_owned());
    // A client that nobody knows gets everything.
    let (mut known, mut unknown) =
        (Client::start_as(&server, reader.name)?, Client::start_as(&server, "bench")?);
    let listed = known.request("tools/list", &json!({}))?;
    let mut row = vec![tokens(&listed["result"]["tools"].to_string())];
    for (_, line) in CALLS {
        let arguments = json!({"command": line, "yield": 1, "on_disconnect": "stop"});
        let params = json!({"name": "exec", "arguments": arguments});
        let own = known.request("tools/call", &params)?;
        let other = unknown.request("tools/call", &params)?;
        let [own, other] = [own, other].map(|answer| tokens(&reader.form.of(&answer["result"])));
        row.push(if own == other { own } else { format!("{own} ({other})") });
    }
    known.leave()?;
    unknown.leave()?;
    Ok(row)
}

fn tokens(text: &str) -> String {
    umbo_view::count_tokens(text).to_string()
}

impl Form {
    fn of(self, result: &Value) -> String {
        let contents = result["content"].as_array().cloned().unwrap_or_default();
        let structure = result.get("structuredContent").map(Value::to_string);
        let texts = || {
            let texts: Vec<&str> =
                contents.iter().filter_map(|content| content["text"].as_str()).collect();
            texts.join("\n\n")
        };
        match self {
            Self::Text => texts(),
            Self::StructureOrText => structure.unwrap_or_else(texts),
            Self::StructureOrTextTimed => {
                let body = structure.unwrap_or_else(texts);
                format!("Wall time: 0.0312 seconds\nOutput:\n{body}")
            }
            Self::Both => [texts(), structure.unwrap_or_default()].concat(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_form_is_what_its_client_passes_on() {
        let both = json!({
            "content": [{"type": "text", "text": "a\n"}], "structuredContent": {"output": "a\n"},
        });
        let text = json!({"content": [{"type": "text", "text": "a\n"}]});
        assert_eq!(Form::Text.of(&both), "a\n");
        assert_eq!(Form::StructureOrText.of(&both), r#"{"output":"a\n"}"#);
        assert_eq!(Form::StructureOrText.of(&text), "a\n");
        assert!(Form::StructureOrTextTimed.of(&text).ends_with("Output:\na\n"));
        assert_eq!(Form::Both.of(&both), "a\n{\"output\":\"a\\n\"}");
    }
}
