//! `umbo models`: which models can be asked from here, and whether they answer.

use std::process::ExitCode;

use serde_json::json;
use umbo_model::{Client, Event, Message, Model, ModelPrice, Request};

use crate::args::Models as Words;
use crate::context::Context;
use crate::failure::Failure;
use crate::models::Models;
use crate::output::{self, Format};
use crate::spinner::Working;

/// As much as a model may say when it is only asked whether it is there.
const CHECK_TOKENS: u64 = 64;

pub(crate) fn run(context: &Context, words: &Words) -> Result<ExitCode, Failure> {
    let models = Models::load()?;
    let wanted = |name: &str| words.word.as_deref().is_none_or(|word| name.contains(word));
    let listed: Vec<(&Model, &ModelPrice)> = models
        .catalogue
        .iter()
        .filter(|(model, _)| wanted(&name_of(model)))
        .filter(|(model, _)| !words.check || models.is_reachable(model))
        .collect();
    if words.check {
        return check(context, &models, &listed);
    }
    let mut rows =
        vec![["MODEL", "WINDOW", "OUTPUT", "$/M IN", "$/M OUT", "KEY"].map(str::to_owned).to_vec()];
    for (model, price) in listed {
        let is_reachable = models.is_reachable(model);
        if context.format == Format::Json {
            output::json(&json!({
                "model": name_of(model), "api": model.api.word(), "window": model.window,
                "max_output": model.max_output, "price": price, "reachable": is_reachable,
            }))?;
        }
        let key = if is_reachable { "yes" } else { "no" };
        rows.push(vec![
            name_of(model),
            model.window.to_string(),
            model.max_output.to_string(),
            price.input.to_string(),
            price.output.to_string(),
            key.to_owned(),
        ]);
    }
    if context.format == Format::Text {
        output::table(&rows, output::width())?;
    }
    Ok(ExitCode::SUCCESS)
}

fn name_of(model: &Model) -> String {
    format!("{}/{}", model.provider, model.id)
}

/// Asks each one once.
fn check(
    context: &Context,
    models: &Models,
    listed: &[(&Model, &ModelPrice)],
) -> Result<ExitCode, Failure> {
    if listed.is_empty() {
        return Err(Failure::new("there is no key for any of these models"));
    }
    let runtime = super::agent::runtime()?;
    let mut is_well = true;
    for (model, _) in listed {
        let name = name_of(model);
        let answered = {
            let _working = Working::on(format!("asking {name}"));
            runtime.block_on(ask(models, &name))?
        };
        is_well &= answered.is_none();
        match context.format {
            Format::Json => output::json(&json!({
                "model": name, "answers": answered.is_none(), "problem": answered,
            }))?,
            Format::Text => {
                output::line(format_args!("{name}  {}", answered.as_deref().unwrap_or("answers")))?;
            }
        }
    }
    Ok(if is_well { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// What is wrong with a model, if anything is.
async fn ask(models: &Models, name: &str) -> Result<Option<String>, Failure> {
    let candidate = models.candidate(name)?;
    let options = Models::client_options(&candidate.endpoint);
    let client = Client::new(&options).map_err(Failure::new)?;
    let mut request = Request::new(candidate.model, vec![Message::user("Say ok.")]);
    request.max_output = Some(CHECK_TOKENS);
    let mut stream = client.stream(&candidate.endpoint, &request).map_err(Failure::new)?;
    while let Some(event) = stream.next().await {
        match event {
            Event::End { .. } => return Ok(None),
            Event::Error(failure) => return Ok(Some(failure.message)),
            _ => {}
        }
    }
    Ok(Some("the stream ended early".to_owned()))
}
