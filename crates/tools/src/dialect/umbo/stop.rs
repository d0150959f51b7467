//! `stop`: the whole tree, to the last process.

use std::thread;
use std::time::Duration;

use serde_json::{Value, json};
use umbo_engine::{Job, Ladder, Status};

use super::standing;
use umbo_ops::ErrorCode;

use crate::answer::{Answer, ToolError};
use crate::arguments::Arguments;
use crate::call::Call;

const GRACE: Duration = Duration::from_secs(5);

pub(super) fn run(call: &Call<'_>, arguments: &Arguments) -> Result<Answer, ToolError> {
    let names = match arguments.get("job") {
        Some(Value::String(name)) => vec![name.clone()],
        _ => arguments.texts("job").unwrap_or_default(),
    };
    // All are found before any is stopped.
    let jobs = names.iter().map(|name| call.job(name)).collect::<Result<Vec<_>, _>>()?;
    let ladder = if arguments.flag("kill") {
        Ladder::KILL
    } else {
        let grace = arguments.seconds("grace").unwrap_or(GRACE);
        Ladder { interrupt: None, terminate: Some(grace) }
    };
    // Side by side: the graces of several jobs pass together.
    let climbs: Vec<_> = jobs
        .into_iter()
        .map(|job| thread::spawn(move || (was_over(&job), job.stop(ladder), job)))
        .collect();
    let mut stopped = Vec::new();
    let mut lines = Vec::new();
    for climb in climbs {
        let (was_over, result, job) = climb
            .join()
            .map_err(|_| ToolError::new(ErrorCode::Internal, "a stop did not come to its end"))?;
        result?;
        let mut answer = standing(call, &job)?;
        for name in ["output", "truncated", "artifact", "full_output_path"] {
            if let Value::Object(map) = &mut answer.structured {
                map.remove(name);
            }
        }
        if was_over {
            answer.structured["already_ended"] = json!(true);
        }
        stopped.push(answer.structured);
        lines.push(answer.text);
    }
    Ok(Answer::new(json!({"stopped": stopped}), lines.join("\n")))
}

fn was_over(job: &Job) -> bool {
    matches!(job.status(), Ok(Status::Ended(_)))
}
