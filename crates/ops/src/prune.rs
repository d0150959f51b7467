//! `prune`: ended jobs leave the disk.

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::audit_writer::record_missed_ends;
use crate::call::Call;
use crate::error::Error;
use crate::values::Seconds;

/// Which jobs to delete.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PruneRequest {
    /// Only jobs that ended longer ago than this.
    pub older_than: Option<Seconds>,
    /// Whether they are only told, and stay.
    #[serde(default)]
    pub dry_run: bool,
}

/// Which jobs were deleted.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct PruneAnswer {
    /// Their ids; of those that would be, if they were only to be told.
    pub removed: Vec<String>,
}

/// Deletes ended jobs.
pub fn prune(call: &Call<'_>, request: &PruneRequest) -> Result<PruneAnswer, Error> {
    let age = request.older_than.map_or(Duration::ZERO, |age| age.0);
    if request.dry_run {
        let found = call.caller.backend.prunable(Some(age))?;
        return Ok(PruneAnswer { removed: found.iter().map(ToString::to_string).collect() });
    }
    // The audit holds the hash of what a job wrote, which goes with the job.
    call.caller.gate.flush_audit();
    if let Ok(audit) = call.caller.gate.audit() {
        let _ = record_missed_ends(&audit, &*call.caller.backend);
    }
    let removed = call.caller.backend.prune(Some(age))?;
    call.caller.sandboxes.return_lent();
    Ok(PruneAnswer { removed: removed.iter().map(ToString::to_string).collect() })
}
