//! What a person can choose for a session: what runs unasked, the model, how much it thinks.

use serde_json::{Value, json};
use umbo_gate::Mode;
use umbo_model::Effort;

use super::super::setup::{OFF, Prepared, effort_of};
use crate::context::Context;

pub(super) const MODE: &str = "mode";
pub(super) const MODEL: &str = "model";
pub(super) const EFFORT: &str = "effort";

/// The modes, in the older form of the protocol.
pub(super) fn modes(prepared: &Prepared, context: &Context) -> Value {
    let mode = |mode: Mode| {
        let (name, about) = words(mode);
        json!({"id": mode.as_str(), "name": name, "description": about})
    };
    json!({"currentModeId": prepared.mode(context).as_str(), "availableModes": Mode::ALL.map(mode)})
}

/// All that can be chosen.
pub(super) fn options(prepared: &Prepared, context: &Context) -> Value {
    let plain = |word: &str| json!({"value": word, "name": word});
    let gate_modes = Mode::ALL.map(|mode| {
        let (name, about) = words(mode);
        json!({"value": mode.as_str(), "name": name, "description": about})
    });
    let mut models = prepared.reachable_models();
    if !models.contains(&prepared.model) {
        models.insert(0, prepared.model.clone());
    }
    let models: Vec<Value> = models.iter().map(|name| plain(name)).collect();
    let mut options = vec![
        json!({
            "id": MODE, "name": "Mode", "description": "What runs without asking",
            "category": "mode", "type": "select", "options": gate_modes,
            "currentValue": prepared.mode(context).as_str(),
        }),
        json!({
            "id": MODEL, "name": "Model", "category": "model", "type": "select",
            "options": models, "currentValue": prepared.model,
        }),
    ];
    let efforts = prepared.agent.model().map(|candidate| candidate.model.efforts.clone());
    let mut levels: Vec<&str> =
        efforts.unwrap_or_default().iter().map(|effort| effort.word()).collect();
    if !levels.is_empty() {
        levels.insert(0, OFF);
        let now = prepared.agent.setup().effort.map_or(OFF, Effort::word);
        if !levels.contains(&now) {
            levels.push(now);
        }
        let levels: Vec<Value> = levels.into_iter().map(plain).collect();
        options.push(json!({
            "id": EFFORT, "name": "Thinking", "category": "thought_level", "type": "select",
            "options": levels, "currentValue": now,
        }));
    }
    Value::Array(options)
}

/// The name of a mode, and what it means.
fn words(mode: Mode) -> (&'static str, &'static str) {
    match mode {
        Mode::Default => ("Ask", "Commands that only read run, all others ask"),
        Mode::AcceptEdits => {
            ("Accept edits", "Everyday changes to files of the project run too, all others ask")
        }
        Mode::Auto => ("Auto", "What is not dangerous runs in a sandbox, the rest asks"),
        Mode::Guard => ("Guard", "Only dangerous commands ask"),
        Mode::Open => ("Open", "Nothing asks; deny rules still hold"),
    }
}

/// Chooses something; the problem, if it cannot be.
pub(super) fn choose(
    prepared: &mut Prepared,
    context: &Context,
    option: &str,
    value: &str,
) -> Result<(), String> {
    match option {
        MODE => {
            let mode = Mode::ALL.into_iter().find(|mode| mode.as_str() == value);
            let Some(mode) = mode else {
                let known = Mode::ALL.map(Mode::as_str).join(", ");
                return Err(format!("mode: {value:?} was given; accepted: {known}"));
            };
            prepared.set_mode(context, mode).map_err(|failure| failure.to_string())
        }
        MODEL => prepared.set_model(context, value).map_err(|failure| failure.to_string()),
        EFFORT => {
            let effort = effort_of(value).ok_or_else(|| {
                format!("effort: {value:?} was given; accepted: off, and what the model lists")
            })?;
            prepared.set_effort(effort).map_err(|failure| failure.to_string())
        }
        other => {
            Err(format!("configId: there is no {other:?}; there are {MODE}, {MODEL}, {EFFORT}"))
        }
    }
}
