//! The set `files` of the dialect `umbo`: each tool is an operation over files.

use std::fmt::Write as _;

use serde::Serialize;
use umbo_ops::Call;
use umbo_ops::files::{
    self, Content, EditAnswer, EditRequest, FindAnswer, FindRequest, ReadAnswer, ReadRequest,
    SearchAnswer, SearchRequest, TreeAnswer, TreeRequest, UndoAnswer, UndoRequest, WriteAnswer,
    WriteRequest,
};

use super::brief::{self, Brief};
use crate::answer::{Answer, ToolError};
use crate::tool::{Annotations, Tool};

/// As many changes as a reader can take.
const MOST_CHANGES: u64 = 20;

pub(super) fn tools() -> impl Iterator<Item = Tool> {
    let tools = [
        (Tool::new("read", include_str!("read.md"), read), Annotations::READS),
        (Tool::new("search", include_str!("search.md"), search), Annotations::READS),
        (Tool::new("find", include_str!("find.md"), find), Annotations::READS),
        (Tool::new("tree", include_str!("tree.md"), tree), Annotations::READS),
        (Tool::new("write", include_str!("write.md"), write), Annotations::CHANGES),
        (Tool::new("edit", include_str!("edit.md"), edit).serial(), Annotations::CHANGES),
        (Tool::new("undo", include_str!("undo.md"), undo).serial(), Annotations::CHANGES),
    ];
    tools.into_iter().map(|(tool, hints)| brief::tool(tool).hints(hints).for_files())
}

fn read(call: &Call<'_>, request: ReadRequest) -> Result<Answer<Brief<ReadAnswer>>, ToolError> {
    let answer = files::read(call, &request)?;
    let text = with_line(answer.text.clone(), read_line(&answer));
    let image = match &answer.content {
        Content::Image(image) => Some((image.mime_type.clone(), image.data.clone())),
        _ => None,
    };
    let answer = Answer::new(Brief(answer), text);
    Ok(match image {
        Some((mime_type, data)) => answer.with_image(mime_type, data),
        None => answer,
    })
}

/// What is to be known beside the lines.
fn read_line(answer: &ReadAnswer) -> String {
    let mut said = Vec::new();
    if let Some(found_by) = &answer.found_by {
        said.push(format!("{} (found by {})", answer.path, word(found_by)));
    }
    if let Some(next) = answer.next_line {
        let total = answer.total_lines.map(|lines| format!(" of {lines}")).unwrap_or_default();
        said.push(format!("{} lines{total}; go on with :{next}", next - 1));
    }
    if let Some(encoding) = &answer.encoding {
        said.push(format!("encoding {}", word(encoding)));
    }
    if let Some(ending) = &answer.line_ending {
        said.push(format!("line endings {}", word(ending)));
    }
    if !answer.clamped_lines.is_empty() {
        said.push(format!("{} long lines were cut", answer.clamped_lines.len()));
    }
    said.extend(answer.notes.iter().map(|note| note.trim_matches(['[', ']']).to_owned()));
    said.join("; ")
}

/// A value of few words, as answers write it.
fn word(value: &impl Serialize) -> String {
    let value = serde_json::to_value(value).unwrap_or_default();
    value.as_str().unwrap_or_default().to_owned()
}

fn search(
    call: &Call<'_>,
    request: SearchRequest,
) -> Result<Answer<Brief<SearchAnswer>>, ToolError> {
    let answer = files::search(call, &request)?;
    let mut said = Vec::new();
    if let Some(next) = answer.next_skip {
        let (matches, files) = (answer.total_matches, answer.total_files);
        said.push(format!("{matches} matches in {files} files; go on with skip {next}"));
    }
    if let Some(pattern) = &answer.repaired_pattern {
        said.push(format!("searched for {pattern}"));
    }
    said.extend(unfinished(&answer.missing, answer.stopped));
    let text = with_line(answer.text.clone(), said.join("; "));
    Ok(Answer::new(Brief(answer), text))
}

/// What was not looked at.
fn unfinished(missing: &[String], stopped: Option<&str>) -> Vec<String> {
    let mut said = Vec::new();
    if !missing.is_empty() {
        said.push(format!("not found: {}", missing.join(", ")));
    }
    said.extend(stopped.map(|why| format!("not everything was looked at: {why}")));
    said
}

fn find(call: &Call<'_>, request: FindRequest) -> Result<Answer<Brief<FindAnswer>>, ToolError> {
    let answer = files::find(call, &request)?;
    let mut text: String = answer.files.iter().flat_map(|path| [path.as_str(), "\n"]).collect();
    if text.is_empty() {
        text.push_str("No files found\n");
    }
    let mut said = Vec::new();
    let shown = answer.files.len() as u64;
    if answer.total > shown {
        said.push(format!("the newest {shown} of {}", answer.total));
    }
    said.extend(unfinished(&answer.missing, answer.stopped));
    let text = with_line(text, said.join("; "));
    Ok(Answer::new(Brief(answer), text))
}

fn tree(call: &Call<'_>, request: TreeRequest) -> Result<Answer<Brief<TreeAnswer>>, ToolError> {
    let answer = files::tree(call, &request)?;
    let text = answer.text.clone();
    Ok(Answer::new(Brief(answer), text))
}

fn write(call: &Call<'_>, request: WriteRequest) -> Result<Answer<Brief<WriteAnswer>>, ToolError> {
    let answer = files::write(call, &request)?;
    let verb = match (answer.dry_run, answer.op) {
        (true, _) => "would write",
        (false, "create") => "created",
        (false, _) => "replaced",
    };
    let (lines, bytes) = (answer.lines, answer.bytes);
    let mut said = vec![format!("{verb} {}: {lines} lines, {bytes} bytes", answer.path)];
    said.extend(changed(answer.change.as_deref(), &answer.warnings));
    let text = with_line(answer.diff.clone(), said.join("; "));
    Ok(Answer::new(Brief(answer), text))
}

fn edit(call: &Call<'_>, request: EditRequest) -> Result<Answer<Brief<EditAnswer>>, ToolError> {
    let answer = files::edit(call, &request)?;
    let mut text = String::new();
    let mut said = Vec::new();
    for file in &answer.files {
        text.push_str(&file.diff);
        let from = file.from.as_ref().map(|from| format!(" from {from}")).unwrap_or_default();
        let (path, op) = (&file.path, file.op);
        said.push(format!("{op} {path}{from} +{} -{}", file.added, file.removed));
    }
    if answer.dry_run {
        said.push("nothing was changed yet".to_owned());
    }
    said.extend(changed(answer.change.as_deref(), &answer.warnings));
    let text = with_line(text, said.join("; "));
    Ok(Answer::new(Brief(answer), text))
}

/// How a change is undone, and what its caller should know.
fn changed(change: Option<&str>, warnings: &[String]) -> Vec<String> {
    let undo = change.map(|change| format!("change {change}"));
    undo.into_iter().chain(warnings.iter().cloned()).collect()
}

fn undo(call: &Call<'_>, mut request: UndoRequest) -> Result<Answer<Brief<UndoAnswer>>, ToolError> {
    request.limit.get_or_insert(umbo_ops::Count(MOST_CHANGES));
    let answer = files::undo(call, &request)?;
    let mut text = String::new();
    for change in answer.changes.iter().flatten() {
        let (id, time, kind) = (&change.change, &change.time, word(&change.kind));
        let _ = writeln!(text, "{id} {time} {kind} {}", change.files.join(" "));
    }
    answer.files.iter().for_each(|file| text.push_str(&file.diff));
    let line = match (&answer.changes, answer.total) {
        (Some(listed), Some(total)) => format!("{} of {total} changes", listed.len()),
        _ if answer.dry_run => format!("not undone yet: {}", answer.undone.join(" ")),
        _ => {
            let change = answer.change.as_ref().map(|change| format!("; change {change}"));
            format!("undone: {}{}", answer.undone.join(" "), change.unwrap_or_default())
        }
    };
    let text = with_line(text, line);
    Ok(Answer::new(Brief(answer), text))
}

/// A text, and a line of ours after it if there is something to say.
fn with_line(mut text: String, line: String) -> String {
    if line.is_empty() {
        return text;
    }
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
    let _ = write!(text, "[umbo: {line}]");
    text
}
