//! `jobs`: what runs, and what ended.

use serde_json::{Value, json};
use umbo_engine::Scope;

use crate::answer::{Answer, ToolError, compact};
use crate::arguments::Arguments;
use crate::call::{Call, Whose};
use umbo_ops::report::Listed;

/// As many as a reader can take.
const LIMIT: u64 = 50;

pub(super) fn run(call: &Call<'_>, arguments: &Arguments) -> Result<Answer, ToolError> {
    let whose = match arguments.text("scope") {
        Some("all") => Whose::Everybodys,
        _ => Whose::Mine,
    };
    let scope = match arguments.text("ended") {
        Some("all") => Scope::All,
        _ => Scope::Recent,
    };
    let jobs = call.jobs(whose, scope)?;
    let limit = arguments.count("limit").unwrap_or(LIMIT);
    let limit = usize::try_from(limit).unwrap_or(usize::MAX);
    let omitted = jobs.len().saturating_sub(limit);
    let mut list = Vec::new();
    let mut lines = Vec::new();
    for summary in &jobs[omitted..] {
        let told = Listed::new(summary);
        let code = told.exit_code.map(|code| format!(" {code}")).unwrap_or_default();
        let name = told.name.map(|name| format!(" ({name})")).unwrap_or_default();
        let command = told.command.lines().next().unwrap_or_default();
        lines.push(format!("{}{name} {}{code}: {command}", told.job, told.state));
        let mut value = serde_json::to_value(&told).unwrap_or_default();
        if whose == Whose::Mine
            && let Value::Object(map) = &mut value
        {
            map.remove("owner");
        }
        list.push(compact(value));
    }
    if lines.is_empty() {
        lines.push("no jobs".to_owned());
    }
    let mut value = json!({"jobs": list});
    if omitted > 0 {
        value["omitted"] = json!(omitted);
        lines.insert(0, format!("{omitted} older ones are not listed"));
    }
    Ok(Answer::new(value, lines.join("\n")))
}
