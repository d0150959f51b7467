//! What a person sees of an agent's work: lines that are finished, and the live area below.

use std::collections::VecDeque;
use std::fmt::Write as _;

use serde_json::Value;
use umbo_agent::{AgentEvent, AgentMessage, Phase, Task, TaskStatus};
use umbo_gate::{Question, ShownInput};
use umbo_model::{BlockStart, Event as ModelEvent, ToolCall, ToolResult};

use super::choice::Choice;
use super::editor::Editor;
use super::lines::{Line, Look, Markdown, width};
use super::screen::Live;
use super::worker::Standing;

/// How many lines of a command that is asked about are shown in place.
const MOST_ASKED_LINES: usize = 20;
/// A question has so many rows even where there is hardly a screen; so many of them are its end.
const LEAST_ASKED_ROWS: usize = 6;
const LAST_ASKED_ROWS: usize = 3;
/// As many lines of a result are shown: half of them from its end, where failures say why.
const SHOWN_RESULT_LINES: usize = 8;
/// As many lines of a running command.
const SHOWN_TAIL_LINES: usize = 3;
/// As many lines of what can be completed.
const SHOWN_HINT_LINES: usize = 4;
/// As much of the task that is being done.
const SHOWN_TASK: usize = 30;
/// As much of a call's arguments.
const SHOWN_ARGUMENTS: usize = 160;

/// A call that runs.
struct Running {
    call: ToolCall,
    tail: String,
}

/// Everything that is shown.
#[derive(Default)]
pub(super) struct View {
    /// Lines that go into the scrollback with the next frame.
    pub(super) finished: Vec<Line>,
    blocks: Vec<BlockStart>,
    /// The line of the answer that is not whole yet.
    open_line: String,
    markdown: Markdown,
    /// How much was thought in this turn, in characters.
    thought: usize,
    pub(super) shows_thinking: bool,
    running: Vec<Running>,
    pub(super) is_busy: bool,
    pub(super) standing: Standing,
    pub(super) questions: VecDeque<Question>,
    /// What the model asks.
    pub(super) choices: VecDeque<Choice>,
    pub(super) todos: Vec<Phase>,
    /// What waits to be delivered.
    pub(super) queued: usize,
    hint: Option<String>,
}

impl View {
    /// A line of umbo's own.
    pub(super) fn note(&mut self, text: &str) {
        for line in text.lines() {
            self.finished.push(Line::new(Look::Dim, line));
        }
    }

    /// Something small that is shown until the next key.
    pub(super) fn hint(&mut self, text: Option<String>) {
        self.hint = text;
    }

    /// Whether something that is shown changes by itself.
    pub(super) fn has_countdown(&self) -> bool {
        self.choices.front().is_some_and(|choice| choice.deadline.is_some())
    }

    /// Takes an event in.
    pub(super) fn take(&mut self, event: &AgentEvent) {
        match event {
            AgentEvent::TurnStart { .. } => {
                self.blocks.clear();
                self.thought = 0;
            }
            AgentEvent::Model(event) => self.take_model(event),
            AgentEvent::AnswerLost(failure) => {
                self.end_line();
                self.note(&format!("the answer was lost: {}", failure.message));
            }
            AgentEvent::Message { message, .. } => self.take_message(message),
            AgentEvent::ToolStart { call, .. } => {
                self.running.push(Running { call: call.clone(), tail: String::new() });
            }
            AgentEvent::ToolProgress { call_id, text } => {
                if let Some(running) = self.running.iter_mut().find(|each| each.call.id == *call_id)
                {
                    running.tail.clone_from(text);
                }
            }
            AgentEvent::Retry { wait, failure } => {
                self.end_line();
                self.note(&format!("again in {:.1} s: {}", wait.as_secs_f64(), failure.message));
            }
            AgentEvent::Fallback { model } => self.note(&format!("from now on {model}")),
            AgentEvent::CompactionStart { .. } => self.note("summarising the conversation …"),
            AgentEvent::CompactionEnd { before, after } => {
                self.note(&format!("summarised: {before} tokens are now {after}"));
            }
            AgentEvent::CompactionFailed { problem } => {
                self.note(&format!("not summarised: {problem}"));
            }
            AgentEvent::Rewound { report } => {
                self.note("back at the checkpoint; what stays of what came since:");
                self.note(report);
            }
            AgentEvent::Todos(phases) => self.todos.clone_from(phases),
            AgentEvent::Sleeping { running } => {
                self.note(&format!("waiting for {running} jobs; you will see when one ends"));
            }
        }
    }

    fn take_model(&mut self, event: &ModelEvent) {
        match event {
            ModelEvent::BlockStart { index, block } => {
                self.end_line();
                if self.blocks.len() <= *index {
                    self.blocks.resize(index + 1, BlockStart::Opaque);
                }
                self.blocks[*index] = block.clone();
            }
            ModelEvent::Delta { index, text } => match self.blocks.get(*index) {
                Some(BlockStart::Text { .. }) => self.take_text(text),
                Some(BlockStart::Thinking) => {
                    self.thought += text.chars().count();
                    if self.shows_thinking {
                        self.take_text(text);
                    }
                }
                _ => {}
            },
            ModelEvent::BlockEnd { index, .. } => {
                self.end_line();
                if matches!(self.blocks.get(*index), Some(BlockStart::Thinking)) {
                    self.note(&format!("· thought, {} characters (ctrl-t shows it)", self.thought));
                }
            }
            _ => {}
        }
    }

    fn take_text(&mut self, text: &str) {
        self.open_line.push_str(text);
        while let Some(end) = self.open_line.find('\n') {
            let line: String = self.open_line.drain(..=end).collect();
            let lines = self.markdown.line(line.trim_end_matches(['\n', '\r']));
            self.finished.extend(lines);
        }
    }

    fn end_line(&mut self) {
        if !self.open_line.is_empty() {
            let line = std::mem::take(&mut self.open_line);
            let lines = self.markdown.line(&line);
            self.finished.extend(lines);
        }
        let kept_back = self.markdown.finish();
        self.finished.extend(kept_back);
    }

    /// A message of a session that goes on, as it was shown then.
    pub(super) fn replay(&mut self, message: &AgentMessage) {
        if let AgentMessage::Assistant(answer) = message {
            self.take_text(&answer.text());
        }
        self.take_message(message);
    }

    fn take_message(&mut self, message: &AgentMessage) {
        match message {
            AgentMessage::User(user) => {
                self.end_line();
                self.finished.push(Line::default());
                let texts: Vec<&str> =
                    user.content.iter().filter_map(|part| part.as_text()).collect();
                for (at, line) in texts.join("\n").lines().enumerate() {
                    let mark = if at == 0 { "> " } else { "  " };
                    self.finished.push(Line::new(Look::Accent, mark).and(Look::Bold, line));
                }
            }
            AgentMessage::Assistant(_) => {
                self.end_line();
                self.markdown = Markdown::default();
            }
            AgentMessage::ToolResult(result) => self.take_result(result),
            AgentMessage::Custom { content, display: true, .. } => {
                self.end_line();
                for part in content.clone().into_parts() {
                    self.note(part.as_text().unwrap_or_default());
                }
            }
            _ => {}
        }
    }

    fn take_result(&mut self, result: &ToolResult) {
        let place = self.running.iter().position(|each| each.call.id == result.tool_call_id);
        let title = match place.map(|place| self.running.remove(place)) {
            Some(running) => title(&running.call),
            None => Line::new(Look::Bold, result.tool_name.clone()),
        };
        let (mark, look) = if result.is_error { ("x ", Look::Bad) } else { ("- ", Look::Good) };
        self.finished.push(Line::new(look, mark).then(title));
        let text = result.text();
        let all: Vec<&str> = text.trim_end().lines().collect();
        // One line less would not be worth a line that says so.
        if all.len() <= SHOWN_RESULT_LINES + 1 {
            self.finished.extend(all.iter().map(|line| change(line)));
            return;
        }
        let half = SHOWN_RESULT_LINES / 2;
        self.finished.extend(all[..half].iter().map(|line| change(line)));
        self.note(&format!("  … {} lines more", all.len() - SHOWN_RESULT_LINES));
        self.finished.extend(all[all.len() - half..].iter().map(|line| change(line)));
    }

    /// What is drawn below, for a terminal of this size.
    pub(super) fn live(&self, editor: &Editor, (columns, rows): (usize, usize)) -> Live {
        let mut lines: Vec<Line> = Vec::new();
        let kept_back = self.markdown.kept_back();
        lines.extend(kept_back.iter().flat_map(|line| line.wrap(columns)));
        if !self.open_line.is_empty() {
            lines.extend(self.markdown.look(&self.open_line).wrap(columns));
        }
        for running in &self.running {
            let line = Line::new(Look::Accent, "* ").then(title(&running.call));
            lines.extend(line.wrap(columns).into_iter().take(2));
            let tail: Vec<&str> = running.tail.lines().collect();
            for line in &tail[tail.len().saturating_sub(SHOWN_TAIL_LINES)..] {
                lines.extend(
                    Line::new(Look::Dim, format!("  {line}")).wrap(columns).into_iter().take(1),
                );
            }
        }
        let (input, cursor) = typed(editor, columns, (rows / 3).max(3));
        let status = self.status(editor, columns);
        // What is taller than the screen could not be drawn over.
        let room = rows.saturating_sub(input.len() + status.len() + 1).max(LEAST_ASKED_ROWS);
        let asked = match (self.questions.front(), self.choices.front()) {
            (Some(question), _) => ask(question),
            (None, Some(choice)) => choice.lines(),
            (None, None) => Vec::new(),
        };
        let asked = shorten(asked.iter().flat_map(|line| line.wrap(columns)).collect(), room);
        // A third of the screen at most, and of that the end.
        let most = (rows / 3).max(4).min(room - asked.len());
        if lines.len() > most {
            lines.drain(..lines.len() - most);
        }
        lines.extend(asked);
        lines.extend(status);
        let before = lines.len();
        lines.extend(input);
        Live { cursor: (before + cursor.0, cursor.1), lines }
    }

    /// How the todo list stands, if anything of it is open.
    fn todo(&self) -> Option<String> {
        let tasks = || self.todos.iter().flat_map(|phase| &phase.tasks);
        let is_open =
            |task: &&Task| matches!(task.status, TaskStatus::Pending | TaskStatus::InProgress);
        let next = tasks()
            .find(|task| task.status == TaskStatus::InProgress)
            .or_else(|| tasks().find(is_open))?;
        let (all, open) = (tasks().count(), tasks().filter(is_open).count());
        let content = crate::output::cut(&next.content, SHOWN_TASK);
        Some(format!("todo {}/{all}: {content}", all - open))
    }

    fn status(&self, editor: &Editor, columns: usize) -> Vec<Line> {
        let text = if let Some(wanted) = editor.search() {
            format!("history: {wanted}")
        } else if let Some(hint) = &self.hint {
            let mut lines = Line::new(Look::Dim, hint.replace('\n', " ")).wrap(columns);
            let more = lines.len().saturating_sub(SHOWN_HINT_LINES);
            if more > 0 {
                lines.truncate(SHOWN_HINT_LINES - 1);
                lines.push(Line::new(Look::Dim, "… and more: type on"));
            }
            return lines;
        } else {
            let standing = &self.standing;
            let percent = (standing.tokens * 100).checked_div(standing.window).unwrap_or(0);
            let mut text = format!("{} · {percent} % full · ${:.2}", standing.model, standing.cost);
            if self.is_busy {
                text = format!("working, esc interrupts · {text}");
                if self.thought > 0 {
                    text = format!("{text} · thinking {}", self.thought);
                }
            }
            if let Some(todo) = self.todo() {
                text = format!("{todo} · {text}");
            }
            if self.queued > 0 {
                text = format!("{} queued · {text}", self.queued);
            }
            text
        };
        // As many of its pieces as fit.
        let mut text = text.replace('\n', " ");
        while width(&text) > columns
            && let Some(end) = text.rfind(" · ")
        {
            text.truncate(end);
        }
        let line = Line::new(Look::Dim, text);
        vec![line.wrap(columns).into_iter().next().unwrap_or_default()]
    }
}

/// A call in a line.
fn title(call: &ToolCall) -> Line {
    // Most calls are about one thing; that is what one wants to read.
    let main = ["command", "cmd", "path", "file_path", "pattern", "query"]
        .iter()
        .find_map(|name| call.arguments.get(*name)?.as_str().map(str::to_owned));
    let words = main.unwrap_or_else(|| Value::Object(call.arguments.clone()).to_string());
    let words = crate::output::cut(&words.replace('\n', " "), SHOWN_ARGUMENTS);
    Line::new(Look::Bold, &call.name).and(Look::Plain, format!(" {words}"))
}

/// A question, and the keys that answer it.
fn ask(question: &Question) -> Vec<Line> {
    let mut lines = vec![Line::new(Look::Bold, "May this run?")];
    for line in question.command.lines().take(MOST_ASKED_LINES) {
        lines.push(Line::new(Look::Code, format!("  {line}")));
    }
    let unseen = question.command.lines().count().saturating_sub(MOST_ASKED_LINES);
    if unseen > 0 {
        let id = &question.id;
        let text = format!("  … and {unseen} more lines: `umbo approve {id}` shows all of them");
        lines.push(Line::new(Look::Bad, text));
    }
    lines.extend(input_lines(question));
    if !question.sets.is_empty() {
        lines.push(Line::new(Look::Dim, format!("setting {}", question.sets.join(" "))));
    }
    lines.push(Line::new(
        Look::Dim,
        format!("in {}; {}; {}", question.cwd, question.risk, question.why),
    ));
    let mut keys = String::from("y yes · ");
    if question.run.is_some() && !question.prefixes.is_empty() {
        let prefixes: Vec<String> = question.prefixes.iter().map(|words| words.join(" ")).collect();
        let _ = write!(keys, "a always in this session ({}) · ", prefixes.join(", "));
    }
    keys.push_str("n no");
    lines.push(Line::new(Look::Accent, keys));
    lines
}

/// As many of the lines of a question as fit: its beginning, and the keys at its end.
fn shorten(mut lines: Vec<Line>, room: usize) -> Vec<Line> {
    if lines.len() > room {
        let end = lines.split_off(lines.len() - LAST_ASKED_ROWS);
        let kept = room - LAST_ASKED_ROWS - 1;
        let unseen = lines.len() - kept;
        lines.truncate(kept);
        lines.push(Line::new(Look::Bad, format!("… {unseen} lines do not fit here")));
        lines.extend(end);
    }
    lines
}

/// What a command would be given or change, for whoever decides.
fn input_lines(question: &Question) -> Vec<Line> {
    let cut = |text: &str| {
        let mut lines: Vec<Line> = text.lines().take(MOST_ASKED_LINES).map(change).collect();
        let unseen = text.lines().count().saturating_sub(MOST_ASKED_LINES);
        if unseen > 0 {
            let id = &question.id;
            let more =
                format!("  … and {unseen} more lines: `umbo approve {id}` shows all of them");
            lines.push(Line::new(Look::Bad, more));
        }
        lines
    };
    match &question.input {
        None => Vec::new(),
        Some(ShownInput::Typed { job }) => {
            vec![Line::new(Look::Dim, format!("typed into job {job}"))]
        }
        Some(ShownInput::Change { diff }) => cut(diff),
        Some(ShownInput::Input { bytes, text }) => {
            let given = format!("given {bytes} bytes on its standard input");
            let mut lines = vec![Line::new(Look::Dim, given)];
            lines.extend(text.iter().flat_map(|text| cut(text)));
            lines
        }
    }
}

/// A line that may be one of a diff.
fn change(line: &str) -> Line {
    let look = match line.chars().next() {
        Some('+') => Look::Good,
        Some('-') => Look::Bad,
        _ => Look::Dim,
    };
    Line::new(Look::Dim, "  ").and(look, line)
}

/// The text that is being typed, wrapped, and where the cursor is in it; the part around the cursor
/// if it is long.
fn typed(editor: &Editor, columns: usize, rows: usize) -> (Vec<Line>, (usize, usize)) {
    let columns = columns.max(4);
    let mut lines = vec![String::from("> ")];
    let mut cursor = (0, 2);
    for (at, c) in editor.text().char_indices().chain([(editor.text().len(), ' ')]) {
        let wide = if c == '\n' || c == '\t' { 1 } else { width(&c.to_string()) };
        let mut last = lines.len() - 1;
        if width(&lines[last]) + wide > columns - 1 {
            lines.push(String::from("  "));
            last += 1;
        }
        if at == editor.cursor() {
            cursor = (last, width(&lines[last]));
        }
        match c {
            '\n' => lines.push(String::from("  ")),
            '\t' => lines[last].push(' '),
            _ if at < editor.text().len() => lines[last].push(c),
            _ => {}
        }
    }
    let first = cursor.0.saturating_sub(rows - 1).min(lines.len().saturating_sub(rows));
    let shown = lines.into_iter().skip(first).take(rows);
    let line = |text: String| Line::new(Look::Plain, text);
    (shown.map(line).collect(), (cursor.0 - first, cursor.1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands::agent::terminal::keys::Key;

    #[test]
    fn a_question_is_never_taller_than_its_room_and_keeps_its_keys() {
        let lines = |count: usize| -> Vec<Line> {
            (0..count).map(|at| Line::new(Look::Plain, format!("line {at} of it"))).collect()
        };
        for count in 0..40 {
            for room in LEAST_ASKED_ROWS..30 {
                let shown = shorten(lines(count), room);
                assert!(shown.len() <= room, "{count} {room}");
                assert_eq!(shown.first(), lines(count).first());
                assert_eq!(shown.last(), lines(count).last());
                let is_said = shown.iter().any(|line| line.render(false).contains("do not fit"));
                assert_eq!(is_said, count > room, "{count} {room}");
            }
        }
    }

    #[test]
    fn the_cursor_is_where_the_next_character_would_be() {
        for text in
            ["", "short", "a line\nand another", "日本語日本語日本語日本語", &"x".repeat(200)]
        {
            for columns in [10, 11, 80] {
                let editor = Editor::new(Vec::new(), text.to_owned());
                let (lines, (row, column)) = typed(&editor, columns, 5);
                assert!(
                    lines.len() <= 5 && row < lines.len() && column < columns,
                    "{text} {columns}"
                );
                assert!(lines.iter().all(|line| line.width() <= columns), "{text} {columns}");
            }
        }
        let mut editor = Editor::new(Vec::new(), "abc".into());
        editor.press(&Key::Left);
        assert_eq!(typed(&editor, 80, 5).1, (0, 4));
    }
}
