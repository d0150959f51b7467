//! A session as a text for people: Markdown and HTML.

use serde_json::Value;
use umbo_model::{Block, Part};

use super::Session;
use crate::entry::EntryKind;
use crate::message::AgentMessage;

/// A piece of a document.
enum Piece {
    Heading(String),
    /// Words that are Markdown already.
    Prose(String),
    /// Words as they are, with what they are called.
    Verbatim(String, String),
}

/// The path to the leaf as Markdown.
pub fn to_markdown(session: &Session) -> String {
    let mut out = format!("# {}\n", title(session));
    for piece in pieces(session) {
        let text = match piece {
            Piece::Heading(words) => format!("\n## {words}\n"),
            Piece::Prose(words) => format!("\n{}\n", words.trim_end()),
            Piece::Verbatim(name, words) => {
                // A fence that is longer than any in the text.
                let longest = words.split(|c| c != '`').map(str::len).max().unwrap_or(0);
                let fence = "`".repeat(longest.max(2) + 1);
                format!("\n{name}\n\n{fence}\n{}\n{fence}\n", words.trim_end())
            }
        };
        out += &text;
    }
    out
}

/// The path to the leaf as one page of HTML that needs nothing else.
pub fn to_html(session: &Session) -> String {
    let title = escape(&title(session));
    let mut out = format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" \
         content=\"width=device-width\">\n<title>{title}</title>\n<style>{STYLE}</style>\n</head>\n\
         <body>\n<h1>{title}</h1>\n"
    );
    for piece in pieces(session) {
        let text = match piece {
            Piece::Heading(words) => format!("<h2>{}</h2>\n", escape(&words)),
            Piece::Prose(words) => {
                format!("<div class=\"prose\">{}</div>\n", escape(words.trim_end()))
            }
            Piece::Verbatim(name, words) => format!(
                "<details open><summary>{}</summary><pre>{}</pre></details>\n",
                escape(&name),
                escape(words.trim_end())
            ),
        };
        out += &text;
    }
    out.push_str("</body>\n</html>\n");
    out
}

const STYLE: &str = "body{max-width:50rem;margin:2rem auto;padding:0 1rem;font:1rem/1.5 sans-serif;\
                     color-scheme:light dark}.prose{white-space:pre-wrap}pre{overflow-x:auto;\
                     padding:.5rem;border:1px solid}";

fn title(session: &Session) -> String {
    session.title().map_or_else(|| format!("Session {}", session.header().id), str::to_owned)
}

fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            // Nothing that a terminal or a browser would obey.
            c if c.is_control() && c != '\n' && c != '\t' => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}

fn pieces(session: &Session) -> Vec<Piece> {
    let mut pieces = Vec::new();
    for entry in session.path_to(None).unwrap_or_default() {
        if let Some(label) = session.label(&entry.id) {
            pieces.push(Piece::Prose(format!("*Label: {label}*")));
        }
        match &entry.kind {
            EntryKind::Compaction { summary, .. } => {
                pieces.push(Piece::Heading("Summary of what came before".to_owned()));
                pieces.push(Piece::Prose(summary.clone()));
            }
            EntryKind::ModelChange { model, .. } => {
                pieces.push(Piece::Prose(format!("*Model: {model}*")));
            }
            EntryKind::Damaged => {
                pieces.push(Piece::Prose("*An entry here could not be read.*".to_owned()));
            }
            kind => {
                if let Some(message) = kind.message() {
                    add(&message, &mut pieces);
                }
            }
        }
    }
    pieces
}

fn add(message: &AgentMessage, pieces: &mut Vec<Piece>) {
    let heading = |words: &str| Piece::Heading(words.to_owned());
    match message {
        AgentMessage::User(user) | AgentMessage::Developer(user) => {
            pieces.push(heading("User"));
            pieces.extend(user.content.iter().map(part));
        }
        AgentMessage::Assistant(answer) => {
            pieces.push(Piece::Heading(format!("Assistant ({})", answer.model)));
            for block in &answer.content {
                match block {
                    Block::Text { text, .. } => pieces.push(Piece::Prose(text.clone())),
                    Block::Thinking { thinking, .. } if !thinking.is_empty() => {
                        pieces.push(Piece::Verbatim("Thinking:".to_owned(), thinking.clone()));
                    }
                    Block::ToolCall(call) => {
                        let arguments = Value::Object(call.arguments.clone());
                        let text = serde_json::to_string_pretty(&arguments).unwrap_or_default();
                        pieces.push(Piece::Verbatim(format!("Call of {}:", call.name), text));
                    }
                    _ => {}
                }
            }
            if let Some(error) = &answer.error_message {
                pieces.push(Piece::Prose(format!("*Ended: {error}*")));
            }
        }
        AgentMessage::ToolResult(result) => {
            let what = if result.is_error { "Error" } else { "Result" };
            pieces.push(Piece::Verbatim(format!("{what} of {}:", result.tool_name), result.text()));
        }
        AgentMessage::BashExecution { command, output, .. } => {
            pieces.push(Piece::Verbatim(
                "The user ran:".to_owned(),
                format!("$ {command}\n{output}"),
            ));
        }
        AgentMessage::Custom { display: false, .. } => {}
        AgentMessage::Custom { custom_type, content, .. } => {
            pieces.push(Piece::Heading(format!("Note ({custom_type})")));
            pieces.extend(content.clone().into_parts().iter().map(part));
        }
        AgentMessage::BranchSummary { summary, .. } => {
            pieces.push(heading("Summary of another branch"));
            pieces.push(Piece::Prose(summary.clone()));
        }
        AgentMessage::CompactionSummary { summary, .. } => {
            pieces.push(heading("Summary of what came before"));
            pieces.push(Piece::Prose(summary.clone()));
        }
    }
}

fn part(part: &Part) -> Piece {
    match part {
        Part::Text { text } => Piece::Prose(text.clone()),
        Part::Image { mime_type, .. } => Piece::Prose(format!("*(an image, {mime_type})*")),
    }
}
