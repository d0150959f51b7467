//! Tools about the conversation itself: `checkpoint`, `rewind`, the todo list, and `ask`.

use std::sync::Arc;
use std::time::Duration;

use serde::Deserialize;
use serde_json::{Value, json};
use umbo_model::{ToolCall, ToolInput, ToolSpec};

use crate::ask::{self, ASK, Asker};
use crate::job_tools::JobTools;
use crate::todo::{Phase, Task, TaskStatus, show_todos};
use crate::tools::{BoxFuture, Effect, Invocation, Recovery, ToolOutput, Tools};

/// The tool that makes a checkpoint.
pub const CHECKPOINT: &str = "checkpoint";
/// The tool that goes back to it.
pub const REWIND: &str = "rewind";

/// How long a person has to answer, unless something else is said.
const ASK_TIMEOUT: Duration = Duration::from_secs(30);

/// How the model knows a todo list.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TodoStyle {
    /// `todo`: phases with tasks.
    #[default]
    Phases,
    /// `TodoWrite`, as Claude models know it.
    TodoWrite,
    /// `update_plan`, as GPT models know it.
    UpdatePlan,
}

impl TodoStyle {
    /// The one that belongs to a dialect.
    pub fn of_dialect(dialect: &str) -> Self {
        match dialect {
            "claude-code" => Self::TodoWrite,
            "codex" => Self::UpdatePlan,
            _ => Self::Phases,
        }
    }

    fn tool(self) -> &'static str {
        match self {
            Self::Phases => "todo",
            Self::TodoWrite => "TodoWrite",
            Self::UpdatePlan => "update_plan",
        }
    }

    fn schema(self) -> Value {
        let status = |words: &[&str]| json!({"type": "string", "enum": words});
        let list = |field: &str, item: &str, properties: Value| {
            let required = [item, "status"];
            json!({
                "type": "object",
                "properties": {field: {
                    "type": "array",
                    "items": {"type": "object", "properties": properties, "required": required},
                }},
                "required": [field],
            })
        };
        let usual = ["pending", "in_progress", "completed"];
        let text = json!({"type": "string"});
        match self {
            Self::Phases => {
                let all = ["pending", "in_progress", "completed", "abandoned"];
                let task = json!({"content": text, "status": status(&all)});
                let tasks = list("tasks", "content", task);
                let mut phase = tasks;
                phase["properties"]["name"] = text;
                phase["required"] = json!(["name", "tasks"]);
                json!({
                    "type": "object",
                    "properties": {"phases": {"type": "array", "items": phase}},
                    "required": ["phases"],
                })
            }
            Self::TodoWrite => {
                let active =
                    json!({"type": "string", "description": "What is shown while it is done"});
                let task = json!({"content": text, "status": status(&usual), "activeForm": active});
                list("todos", "content", task)
            }
            Self::UpdatePlan => {
                let mut schema =
                    list("plan", "step", json!({"step": text, "status": status(&usual)}));
                schema["properties"]["explanation"] = text;
                schema
            }
        }
    }

    /// The list that a call gives.
    fn read(self, arguments: &Value) -> Result<Vec<Phase>, serde_json::Error> {
        #[derive(Deserialize)]
        struct Item {
            #[serde(alias = "step")]
            content: String,
            status: TaskStatus,
        }
        let field = match self {
            Self::Phases => return serde_json::from_value(arguments["phases"].clone()),
            Self::TodoWrite => "todos",
            Self::UpdatePlan => "plan",
        };
        let items: Vec<Item> = serde_json::from_value(arguments[field].clone())?;
        let task = |Item { content, status }| Task { id: None, content, status };
        let tasks: Vec<Task> = items.into_iter().map(task).collect();
        let name = String::new();
        Ok(if tasks.is_empty() { Vec::new() } else { vec![Phase { id: None, name, tasks }] })
    }
}

/// The tools about the conversation, for one agent.
pub struct SessionTools {
    jobs: Arc<JobTools>,
    todo: TodoStyle,
    asker: Option<Arc<dyn Asker>>,
    ask_timeout: Option<Duration>,
}

impl SessionTools {
    /// For an agent with these tools for jobs and files.
    pub fn new(jobs: Arc<JobTools>) -> Self {
        Self { jobs, todo: TodoStyle::default(), asker: None, ask_timeout: Some(ASK_TIMEOUT) }
    }

    /// With the todo list that the model knows.
    #[must_use]
    pub fn todo_style(mut self, style: TodoStyle) -> Self {
        self.todo = style;
        self
    }

    /// With somebody who asks the user; without, there is no `ask`.
    #[must_use]
    pub fn asker(mut self, asker: Option<Arc<dyn Asker>>) -> Self {
        self.asker = asker;
        self
    }

    /// With another time to answer; nothing is as long as it takes.
    #[must_use]
    pub fn ask_timeout(mut self, timeout: Option<Duration>) -> Self {
        self.ask_timeout = timeout;
        self
    }

    async fn run(self: Arc<Self>, invocation: Invocation) -> ToolOutput {
        match invocation.call.name.as_str() {
            CHECKPOINT => self.make_checkpoint(invocation).await,
            REWIND => self.rewind(invocation).await,
            ASK => match self.asker.clone() {
                Some(asker) => ask::run(asker, self.ask_timeout, invocation).await,
                None => ToolOutput::error("Ask tool requires interactive mode"),
            },
            _ => self.keep_todos(&invocation.call),
        }
    }

    async fn make_checkpoint(&self, invocation: Invocation) -> ToolOutput {
        if invocation.checkpoint.is_some() {
            return ToolOutput::error("Checkpoint already active.");
        }
        let goal = text(&invocation.call, "goal");
        let toolset = Arc::clone(self.jobs.toolset());
        let looked = tokio::task::spawn_blocking(move || toolset.newest_change()).await;
        // Where no changes are kept, there is nothing to restore by.
        let files = looked.ok().and_then(Result::ok);
        let said = format!(
            "Checkpoint created.\nGoal: {goal}\nRun your investigation, then call rewind with a \
             concise report."
        );
        ToolOutput {
            details: Some(json!({"goal": goal, "startedAt": crate::entry::now()})),
            effects: vec![Effect::Checkpoint { goal, files }],
            ..ToolOutput::text(said)
        }
    }

    async fn rewind(&self, invocation: Invocation) -> ToolOutput {
        let Some(checkpoint) = invocation.checkpoint else {
            return ToolOutput::error("No active checkpoint.");
        };
        if checkpoint.entry.is_empty() {
            return ToolOutput::error(
                "The checkpoint was made in this same answer: there is nothing to rewind yet.",
            );
        }
        let mut report = text(&invocation.call, "report").trim().to_owned();
        if report.is_empty() {
            return ToolOutput::error("Report cannot be empty.");
        }
        let mut said = String::from("Rewind requested.\nReport captured for context replacement.");
        let mut details = json!({"report": report, "rewound": true});
        if invocation.call.arguments.get("restore_files") == Some(&Value::Bool(true)) {
            let restored = match self.restore(checkpoint.files, &invocation.call).await {
                Ok(restored) => restored,
                // Nothing is cut if the files are not as the model wants them.
                Err(problem) => return ToolOutput::error(format!("Not rewound: {problem}")),
            };
            let line = if restored.is_empty() {
                "No file was changed by file tools since the checkpoint.".to_owned()
            } else {
                format!("Restored: {}", restored.join(", "))
            };
            details["restoredFiles"] = json!(restored);
            said = format!("{said}\n{line}");
            report = format!("{report}\n\n{line}");
        }
        let effects = vec![Effect::Rewind { report }];
        ToolOutput { details: Some(details), effects, ..ToolOutput::text(said) }
    }

    /// Gives files the content they had at a checkpoint.
    async fn restore(&self, mark: Option<String>, call: &ToolCall) -> Result<Vec<String>, String> {
        let Some(mark) = mark else {
            return Err("no changes of files are kept here, so none can be taken back".to_owned());
        };
        let toolset = Arc::clone(self.jobs.toolset());
        let ticket = self.jobs.asking_ticket(&call.id);
        let work = tokio::task::spawn_blocking(move || toolset.restore_files(&mark, &ticket));
        work.await.map_err(|error| format!("the tool itself failed: {error}"))?
    }

    fn keep_todos(&self, call: &ToolCall) -> ToolOutput {
        match self.todo.read(&Value::Object(call.arguments.clone())) {
            Ok(phases) => ToolOutput {
                details: Some(json!({"phases": phases})),
                effects: vec![Effect::Todos(phases.clone())],
                ..ToolOutput::text(show_todos(&phases))
            },
            Err(error) => ToolOutput::error(error.to_string()),
        }
    }

    fn schema(&self, tool: &str) -> Option<Value> {
        let text = |words: &str| json!({"type": "string", "description": words});
        Some(match tool {
            CHECKPOINT => json!({
                "type": "object",
                "properties": {"goal": text("What you want to find out")},
                "required": ["goal"],
            }),
            REWIND => json!({
                "type": "object",
                "properties": {
                    "report": text("All that you need to know from here on"),
                    "restore_files": {
                        "type": "boolean",
                        "description": "Also take back what file tools changed since [false]",
                    },
                },
                "required": ["report"],
            }),
            ASK if self.asker.is_some() => ask::schema(),
            tool if tool == self.todo.tool() => self.todo.schema(),
            _ => return None,
        })
    }
}

fn text(call: &ToolCall, name: &str) -> String {
    call.arguments.get(name).and_then(Value::as_str).unwrap_or_default().to_owned()
}

impl Tools for SessionTools {
    fn specs(&self) -> Vec<ToolSpec> {
        let words = [
            (CHECKPOINT, include_str!("words/checkpoint.md")),
            (REWIND, include_str!("words/rewind.md")),
            (self.todo.tool(), include_str!("words/todo.md")),
            (ASK, include_str!("words/ask.md")),
        ];
        let spec = |(name, words): (&str, &str)| {
            let input = ToolInput::Schema(self.schema(name)?);
            Some(ToolSpec {
                name: name.to_owned(),
                description: words.trim_end().to_owned(),
                input,
            })
        };
        words.into_iter().filter_map(spec).collect()
    }

    fn is_parallel(&self, _: &str) -> bool {
        false
    }

    fn check(&self, call: &ToolCall) -> Result<(), String> {
        let Some(schema) = self.schema(&call.name) else { return Ok(()) };
        umbo_tools::check(&schema, &Value::Object(call.arguments.clone()))
            .map_err(|problem| problem.to_string())
    }

    fn call(self: Arc<Self>, invocation: Invocation) -> BoxFuture<ToolOutput> {
        Box::pin(self.run(invocation))
    }

    /// What they do to the session is done with their result: without one, nothing was done. Files that
    /// were restored can be told by looking.
    fn recover(self: Arc<Self>, call: ToolCall, _key: String) -> BoxFuture<Recovery> {
        let is_rewind = call.name == REWIND;
        Box::pin(async move { if is_rewind { Recovery::Unknown } else { Recovery::NotStarted } })
    }
}

impl std::fmt::Debug for SessionTools {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SessionTools").field("todo", &self.todo).finish_non_exhaustive()
    }
}
