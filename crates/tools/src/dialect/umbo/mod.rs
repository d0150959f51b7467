//! The dialect `umbo`: our own contract. Each tool is an operation: its arguments are the operation's
//! request, its structured result is the operation's answer, as `--json` prints it, less what a model
//! can do without ([`Brief`]).

mod brief;
mod files;
mod saying;
mod words;

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;
use umbo_ops::{
    Call, Count, ExecRequest, InputAnswer, InputRequest, JobAnswer, JobsAnswer, JobsRequest,
    ListedJob, OutputAnswer, OutputRequest, RecipeAnswer, RecipeRequest, StopAnswer, StopRequest,
    WaitAnswer, WaitRequest,
};

use self::brief::Brief;
use super::{Dialect, Registered};
use crate::answer::{Answer, ToolError};
use crate::completed::Completed;
use crate::guidance::Guidance;
use crate::tool::{Annotations, Tool};

pub(super) const REGISTERED: Registered = Registered {
    name: "umbo",
    job_id: Umbo::job_id,
    settings: &[],
    secrets: &[],
    open: |_| Box::new(Umbo),
};

/// As many jobs as a reader can take.
const MOST_JOBS: u64 = 50;
/// As many tasks as a reader can take.
const MOST_TASKS: usize = 50;

/// The dialect.
#[derive(Debug)]
struct Umbo;

impl Dialect for Umbo {
    fn name(&self) -> &'static str {
        REGISTERED.name
    }

    fn tells_notes(&self) -> bool {
        true
    }

    fn instructions(&self) -> String {
        include_str!("instructions.md").to_owned()
    }

    fn tools(&self) -> Vec<Tool> {
        let tools = [
            (Tool::new("exec", include_str!("exec.md"), exec).attending(), Annotations::RUNS),
            (Tool::new("output", include_str!("output.md"), output), Annotations::READS),
            (Tool::new("input", include_str!("input.md"), input), Annotations::RUNS),
            (Tool::new("wait", include_str!("wait.md"), wait), Annotations::READS),
            (Tool::new("stop", include_str!("stop.md"), stop), Annotations::STOPS),
            (Tool::new("jobs", include_str!("jobs.md"), jobs), Annotations::READS),
            (Tool::new("recipe", include_str!("recipe.md"), recipe), Annotations::RUNS),
        ];
        let shell = tools.into_iter().map(|(tool, hints)| brief::tool(tool).hints(hints));
        shell.chain(files::tools()).collect()
    }

    fn guidance(&self, tools: &[Tool]) -> Vec<Guidance> {
        let has_files = tools.iter().any(|tool| tool.name == "edit");
        let files = || Guidance::new("Files", include_str!("files.md").trim());
        has_files.then(files).into_iter().collect()
    }

    fn attach(&self, structured: &mut Value, completed: &[Completed]) {
        structured["completed"] = completed.iter().map(|told| told.event.clone()).collect();
    }
}

fn exec(call: &Call<'_>, request: ExecRequest) -> Result<Answer<Brief<JobAnswer>>, ToolError> {
    let answer = umbo_ops::exec(call, &request)?;
    let text = words::job(&answer);
    Ok(about(&answer.job.clone(), answer.truncated, answer.brief(), text))
}

fn output(
    call: &Call<'_>,
    request: OutputRequest,
) -> Result<Answer<Brief<OutputAnswer>>, ToolError> {
    let answer = umbo_ops::output(call, &request)?;
    let text = words::output(&answer);
    Ok(about(&answer.job.clone(), answer.truncated, answer.brief(), text))
}

fn input(call: &Call<'_>, request: InputRequest) -> Result<Answer<Brief<InputAnswer>>, ToolError> {
    let answer = umbo_ops::input(call, &request)?;
    let text = words::input(&answer);
    Ok(about(&answer.job.clone(), None, answer, text))
}

fn wait(call: &Call<'_>, request: WaitRequest) -> Result<Answer<Brief<WaitAnswer>>, ToolError> {
    let answer = umbo_ops::wait(call, &request)?;
    let text = words::wait(&answer);
    Ok(about(&answer.job.job.clone(), answer.job.truncated, answer.brief(), text))
}

fn stop(call: &Call<'_>, request: StopRequest) -> Result<Answer<Brief<StopAnswer>>, ToolError> {
    let answer = umbo_ops::stop(call, &request)?;
    let stopped = answer.stopped.iter().map(|job| words::job(&job.job));
    let failed = answer.failed.iter().map(|error| format!("[umbo: {error}]"));
    let lines: Vec<String> = stopped.chain(failed).collect();
    Ok(Answer::new(Brief(answer.brief()), lines.join("\n")))
}

fn jobs(call: &Call<'_>, mut request: JobsRequest) -> Result<Answer<BriefJobs>, ToolError> {
    request.limit.get_or_insert(Count(MOST_JOBS));
    let answer = umbo_ops::jobs(call, &request)?;
    let text = words::jobs(&answer);
    let JobsAnswer { jobs, omitted, .. } = answer.brief(&request);
    Ok(Answer::new(BriefJobs { jobs: jobs.into_iter().map(Brief).collect(), omitted }, text))
}

/// A list of jobs, of which each is brief; that there are none says something, too.
#[derive(Debug, Serialize, JsonSchema)]
struct BriefJobs {
    jobs: Vec<Brief<ListedJob>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    omitted: Option<usize>,
}

fn recipe(
    call: &Call<'_>,
    mut request: RecipeRequest,
) -> Result<Answer<Brief<RecipeAnswer>>, ToolError> {
    request.options.most = Some(MOST_TASKS);
    let answer = umbo_ops::recipe(call, &request)?;
    let text = match &answer {
        RecipeAnswer::List(list) => words::tasks(list, request.filter.is_some()),
        RecipeAnswer::Run(run) => words::task_run(run),
    };
    Ok(match &answer {
        RecipeAnswer::Run(run) => {
            about(&run.job.job.clone(), run.job.truncated, answer.brief(), text)
        }
        RecipeAnswer::List(_) => Answer::new(Brief(answer.brief()), text),
    })
}

/// An answer about a job.
fn about<T>(job: &str, is_cut: Option<bool>, data: T, text: String) -> Answer<Brief<T>> {
    Answer::new(Brief(data), text).of_job_id(job).cut(is_cut == Some(true))
}
