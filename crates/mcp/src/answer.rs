//! The catalogue and the answers of tools, as the protocol has them.

use std::sync::Arc;

use rmcp::model::{
    CallToolResult, ContentBlock, JsonObject, MetaObject, ProtocolVersion, Resource, Tool,
    ToolAnnotations,
};
use serde_json::{Value, json};
use umbo_tools::resource::MIME_TYPE;
use umbo_tools::{Hints, ToolResult, Toolset};

use crate::client::{Client, Reads};

/// What does not depend on who calls.
#[derive(Debug)]
pub(crate) struct Catalogue {
    tools: Vec<Tool>,
    pub(crate) instructions: String,
}

impl Catalogue {
    pub(crate) fn new(tools: &Toolset) -> Self {
        let listed = tools.tools().iter().map(listed).collect();
        Self { tools: listed, instructions: tools.instructions() }
    }

    /// The tools as they are listed for a client: one that is given nothing structured is promised
    /// nothing structured.
    pub(crate) fn tools_for(&self, client: Client) -> Vec<Tool> {
        let mut tools = self.tools.clone();
        for tool in &mut tools {
            if client.reads == Reads::StructureFirst {
                tool.output_schema = None;
            }
            if client.checks_fields {
                Arc::make_mut(&mut tool.input_schema).remove("additionalProperties");
            }
        }
        tools
    }

    pub(crate) fn tool(&self, name: &str) -> Option<&Tool> {
        self.tools.iter().find(|tool| tool.name == name)
    }
}

fn listed(tool: &umbo_tools::Tool) -> Tool {
    // Only hints that differ from what a client assumes: every byte of the list is paid for.
    let told = Hints::from(tool.annotations);
    let mut hints = ToolAnnotations::new();
    hints.read_only_hint = told.read_only_hint;
    hints.destructive_hint = told.destructive_hint;
    hints.idempotent_hint = told.idempotent_hint;
    hints.open_world_hint = told.open_world_hint;
    let mut listed = Tool::new(tool.name, tool.description.clone(), object(&tool.input_schema))
        .with_annotations(hints);
    if let Some(schema) = &tool.output_schema {
        listed = listed.with_raw_output_schema(Arc::new(object(schema)));
    }
    listed.meta = beside(tool);
    listed
}

/// What a contract says of a tool that the protocol has no field for.
fn beside(tool: &umbo_tools::Tool) -> Option<MetaObject> {
    let mut meta = JsonObject::new();
    if let Some(id) = tool.id {
        meta.insert("umbo/id".to_owned(), json!(id));
    }
    if let Some(binding) = &tool.binding {
        meta.insert("umbo/binding".to_owned(), json!(binding));
    }
    if !tool.examples.is_empty() {
        meta.insert("umbo/examples".to_owned(), json!(tool.examples));
    }
    (!meta.is_empty()).then_some(MetaObject(meta))
}

fn object(schema: &Value) -> JsonObject {
    schema.as_object().cloned().unwrap_or_default()
}

/// A result, for a client that speaks `revision`.
pub(crate) fn answer(
    result: ToolResult,
    revision: Option<&ProtocolVersion>,
    client: Client,
) -> CallToolResult {
    let meta = meta(&result);
    let rest = rest(&result);
    let mut content = vec![ContentBlock::text(result.text)];
    content.extend(
        result.images.into_iter().map(|image| ContentBlock::image(image.data, image.mime_type)),
    );
    let (messages, told): (Vec<_>, Vec<_>) =
        result.completed.into_iter().partition(|told| told.is_message);
    content.extend(messages.into_iter().map(|message| ContentBlock::text(message.sentence)));
    if !told.is_empty() || !result.notes.is_empty() {
        // Each has a line of its own, for what a job ended with may have several.
        let told = told.into_iter().map(|told| told.sentence);
        let told = result.notes.into_iter().chain(told).map(|told| format!("[umbo: {told}]"));
        content.push(ContentBlock::text(told.collect::<Vec<_>>().join("\n")));
    }
    // Revisions before do not have links.
    if client.takes_links
        && revision.is_some_and(|revision| *revision >= ProtocolVersion::V_2025_06_18)
    {
        content.extend(rest.map(ContentBlock::ResourceLink));
    }
    let mut answer = if result.is_error {
        CallToolResult::error(content)
    } else {
        CallToolResult::success(content)
    };
    if client.reads == Reads::Text && result.fits_schema {
        // What is there is held against the tool's schema by clients, in errors too. Older revisions
        // know only objects here.
        answer.structured_content = Some(match result.structured {
            object @ Value::Object(_) => object,
            other => json!({"result": other}),
        });
    }
    answer.meta = meta;
    answer
}

/// What programs are told beside the answer: an error that the tool's schema has no place for, and
/// jobs that ended, in the words of the dialect.
fn meta(result: &ToolResult) -> Option<MetaObject> {
    let mut meta = JsonObject::new();
    if result.is_error && result.structured_content().is_none() {
        meta.insert("umbo/error".to_owned(), result.structured.clone());
    }
    if !result.completed.is_empty() {
        let events = result.completed.iter().map(|told| told.event.clone()).collect();
        meta.insert("umbo/completed".to_owned(), events);
    }
    (!meta.is_empty()).then_some(MetaObject(meta))
}

/// Where to read an output of which a part was left out.
fn rest(result: &ToolResult) -> Option<Resource> {
    let job = result.job.as_ref().filter(|_| result.is_cut)?;
    let uri = format!("umbo://jobs/{job}/output");
    Some(Resource::new(uri, job).with_mime_type(MIME_TYPE))
}
