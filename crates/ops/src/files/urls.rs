//! URLs of umbo's own that `read` takes: `artifact://JOB` and `umbo://jobs/JOB/output` are what a job
//! wrote.

use std::sync::Arc;

use umbo_engine::Backend;
use umbo_files::{Resource, Resources};

/// Finds jobs by their URLs.
pub(super) struct JobUrls {
    backend: Arc<dyn Backend>,
}

impl JobUrls {
    pub(super) fn new(backend: Arc<dyn Backend>) -> Self {
        Self { backend }
    }
}

/// The job that a URL names; `None` for a scheme that is not ours.
fn job_of(url: &str) -> Option<Result<&str, String>> {
    if let Some(job) = url.strip_prefix("artifact://") {
        return Some(Ok(job));
    }
    let rest = url.strip_prefix("umbo://")?;
    let job = rest.strip_prefix("jobs/").and_then(|rest| rest.strip_suffix("/output"));
    Some(job.ok_or_else(|| "umbo:// URLs are of the form umbo://jobs/JOB/output".to_owned()))
}

impl Resources for JobUrls {
    fn resolve(&self, url: &str) -> Result<Option<Resource>, String> {
        let Some(job) = job_of(url) else { return Ok(None) };
        let job = job?;
        let found = self.backend.job(job).map_err(|error| error.to_string())?;
        Ok(Some(Resource::File(found.output_path())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_name_jobs() {
        assert_eq!(job_of("artifact://01ab"), Some(Ok("01ab")));
        assert_eq!(job_of("umbo://jobs/01ab/output"), Some(Ok("01ab")));
        assert!(job_of("umbo://jobs/01ab").is_some_and(|named| named.is_err()));
        assert_eq!(job_of("skill://x"), None);
    }
}
