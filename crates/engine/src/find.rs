//! Finding and listing jobs. What that costs depends on what is found, not on how many jobs have
//! ended: the [`catalog`] knows which there are, [`names`] what they are called, and the journal how
//! they ended.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashSet};
use std::ops::ControlFlow;

use crate::catalog::{self, Backwards};
use crate::engine::{Engine, Listed, Scope};
use crate::error::{Error, Result};
use crate::id::JobId;
use crate::job::{Job, Status, Summary};
use crate::names;
use crate::state::Record;
use crate::stray::{self, Stray};

/// So many events back is looked for the job that was started last.
const LAST_JOB_EVENTS: u64 = 8192;

/// Jobs whose ids are so many milliseconds apart may have been created in the other order.
const CREATED_TOGETHER: u128 = 60_000;
/// The bits of an id below its time.
const ULID_RANDOM_BITS: u32 = 80;

impl Engine {
    /// The job that `name` means: an id, the beginning or the end of one if it
    /// is the only one, a `--name`, or `@last`.
    pub fn job(&self, name: &str) -> Result<Job> {
        self.find(name, None)
    }

    /// As [`Engine::job`], but a name and `@last` mean jobs of this owner only: others use the same
    /// names.
    pub fn job_of(&self, owner: &str, name: &str) -> Result<Job> {
        self.find(name, Some(owner))
    }

    fn find(&self, name: &str, owner: Option<&str>) -> Result<Job> {
        if name == "@last" {
            let last = self.last_created(owner).map_or_else(|| self.last_known(owner), Ok);
            return last.map_err(|_| Error::UnknownJob(name.into()));
        }
        if let Ok(id) = name.parse::<JobId>()
            && self.state().job(&id).exists()
        {
            return Ok(Job::new(self.clone(), id));
        }
        if let Some(found) = self.find_known(name, owner)? {
            return Ok(found);
        }
        if catalog::is_behind(self.state())
            && catalog::catch_up(self.state()).is_ok()
            && let Some(found) = self.find_known(name, owner)?
        {
            return Ok(found);
        }
        let stray = Stray::find(self.state(), name);
        stray
            .map(|stray| Job::without_files(self.clone(), stray))
            .ok_or_else(|| Error::UnknownJob(name.into()))
    }

    fn find_known(&self, name: &str, owner: Option<&str>) -> Result<Option<Job>> {
        let fits = self.with_part(name)?;
        if let [only] = &fits[..] {
            return Ok(Some(Job::new(self.clone(), only.clone())));
        }
        // A name may look like the beginning of an id.
        let named = self.named(name, owner)?;
        if named.is_none() && !fits.is_empty() {
            let matches = fits.iter().map(ToString::to_string).collect();
            return Err(Error::Ambiguous { prefix: name.into(), matches });
        }
        Ok(named)
    }

    /// The jobs on disk whose id begins or ends with some characters, oldest first.
    fn with_part(&self, part: &str) -> Result<Vec<JobId>> {
        let range = JobId::beginning_with(part);
        let end = JobId::ending_with(part);
        if range.is_none() && end.is_none() {
            return Ok(Vec::new());
        }
        let is_meant = |number: u128| {
            range.as_ref().is_some_and(|range| range.contains(&number))
                || end.is_some_and(|(end, mask)| number & mask == end)
        };
        let fits = self.backwards()?.filter(|entry| is_meant(entry.number()));
        let mut fits: Vec<JobId> =
            fits.map(|entry| entry.job()).filter(|id| self.state().job(id).exists()).collect();
        fits.sort();
        fits.dedup();
        Ok(fits)
    }

    fn backwards(&self) -> Result<Backwards> {
        catalog::backwards(self.state()).map_err(Error::state(self.state_directory()))
    }

    /// The newest job with a name. A name is used again and again; one that runs is meant before those
    /// that ran.
    fn named(&self, name: &str, owner: Option<&str>) -> Result<Option<Job>> {
        let ids = self.ids_of(name)?;
        let is_named = |id: &JobId| {
            let (job, record) = self.recorded(id.clone(), owner)?;
            (record.name.as_deref() == Some(name)).then_some(job)
        };
        if ids.is_empty() {
            return Ok(None);
        }
        let living: HashSet<JobId> = self.living()?.into_iter().collect();
        let running = ids.iter().filter(|id| living.contains(*id)).filter_map(is_named);
        let mut running = running.filter(|job| !matches!(job.status(), Ok(Status::Ended(_))));
        Ok(running.next().or_else(|| ids.iter().find_map(is_named)))
    }

    /// The jobs that may have a name, the newest first.
    fn ids_of(&self, name: &str) -> Result<Vec<JobId>> {
        names::jobs(self.state(), name).or_else(|_| {
            // Where they cannot be written down, as on a read-only disk, the directories answer.
            let mut ids = self.state().job_ids()?;
            ids.reverse();
            Ok(ids)
        })
    }

    /// A job and its record, if it is on disk and this owner's.
    fn recorded(&self, id: JobId, owner: Option<&str>) -> Option<(Job, Record)> {
        let job = Job::new(self.clone(), id);
        let (record, _) = job.directory().record().ok()?;
        (owner.is_none() || record.owner.as_deref() == owner).then_some((job, record))
    }

    /// The job that was started last, by the journal: the clock, by which ids sort, may have been
    /// set back since.
    fn last_created(&self, owner: Option<&str>) -> Option<Job> {
        let mut last = None;
        let found = self.journal().ok()?.look_back(LAST_JOB_EVENTS, "created", |event| {
            last = self.recorded(event.job, owner).map(|(job, _)| job);
            if last.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        found.ok().and(last)
    }

    /// The same by the catalog, where the journal does not know it.
    fn last_known(&self, owner: Option<&str>) -> Result<Job> {
        let mut newest = self.backwards()?.filter(|entry| entry.may_be_of(owner));
        newest
            .find_map(|entry| self.recorded(entry.job(), owner))
            .map(|(job, _)| job)
            .ok_or_else(|| Error::UnknownJob("@last".into()))
    }

    /// The jobs, oldest first, and the truth about each.
    pub fn jobs(&self, scope: Scope) -> Result<Vec<Summary>> {
        let mut summaries = match scope {
            Scope::Recent => self.recent(self.listed(), &mut |_| true)?,
            Scope::All => self.summaries(self.state().job_ids()?),
        };
        summaries.extend(stray::find_all(self.state()).iter().filter_map(Stray::summary));
        Ok(summaries)
    }

    fn summaries(&self, ids: impl IntoIterator<Item = JobId>) -> Vec<Summary> {
        ids.into_iter().filter_map(|id| Job::new(self.clone(), id).summary()).collect()
    }

    /// The jobs that are wanted, oldest first: those that run or wait, and of those that ended within
    /// the time of `listed` as many as it says, the last to end first.
    pub fn recent(
        &self,
        listed: Listed,
        is_wanted: &mut dyn FnMut(&Summary) -> bool,
    ) -> Result<Vec<Summary>> {
        let mut recent = Recent::new(listed, self.clock().now());
        let living = self.living()?;
        for summary in self.summaries(living) {
            recent.add(summary, is_wanted);
        }
        let journal = self.journal()?;
        let mut is_enough = recent.is_full();
        journal
            .look_back(u64::MAX, "exited", |event| {
                is_enough = recent.is_full() || event.at < recent.oldest;
                if is_enough {
                    return ControlFlow::Break(());
                }
                if !recent.looked_at.contains_key(&event.job)
                    && let Some(summary) = Job::new(self.clone(), event.job).summary()
                {
                    recent.add(summary, is_wanted);
                }
                ControlFlow::Continue(())
            })
            .map_err(Error::file("read", self.state().events()))?;
        if !is_enough && journal.is_younger_than(recent.oldest) {
            // The journal does not reach back as far as the jobs do.
            for entry in self.backwards()? {
                if recent.is_full() {
                    break;
                }
                let id = entry.job();
                if !recent.looked_at.contains_key(&id)
                    && let Some(summary) = Job::new(self.clone(), id).summary()
                {
                    recent.add(summary, is_wanted);
                }
            }
        }
        Ok(recent.into_summaries())
    }

    /// At most `most` jobs of an owner, or of all, in the order of their ids, the newest first; where
    /// `from` is given, from that id on.
    pub fn newest(
        &self,
        owner: Option<&str>,
        from: Option<&JobId>,
        most: usize,
    ) -> Result<Vec<Summary>> {
        if let Some(name) = owner {
            let numbers = self.owned(name)?;
            Ok(self.newest_of(owner, from, most, numbers.iter().rev().copied()))
        } else {
            let numbers = self.backwards()?.map(|entry| entry.number());
            Ok(self.newest_of(None, from, most, numbers))
        }
    }

    /// The same, of jobs in about the order in which they were created, the newest first.
    fn newest_of(
        &self,
        owner: Option<&str>,
        from: Option<&JobId>,
        most: usize,
        numbers: impl Iterator<Item = u128>,
    ) -> Vec<Summary> {
        let highest = from.map_or(u128::MAX, JobId::number);
        let mut numbers = numbers.peekable();
        let mut summaries = Vec::new();
        while summaries.len() < most && numbers.peek().is_some() {
            let mut page: Vec<u128> =
                numbers.by_ref().filter(|number| *number <= highest).take(most).collect();
            // Jobs that are created at the same time come in any order.
            let lowest = page.iter().min().copied().unwrap_or(0);
            let bound = lowest.saturating_sub(CREATED_TOGETHER << ULID_RANDOM_BITS);
            while let Some(number) = numbers.next_if(|number| *number >= bound) {
                page.extend((number <= highest).then_some(number));
            }
            page.sort_unstable_by_key(|number| Reverse(*number));
            page.dedup();
            let jobs = page.into_iter().map(|id| Job::new(self.clone(), JobId::from_number(id)));
            let own = jobs
                .filter_map(|job| job.summary())
                .filter(|found| owner.is_none() || found.owner.as_deref() == owner);
            summaries.extend(own.take(most - summaries.len()));
        }
        summaries
    }
}

/// A list in the making.
pub(crate) struct Recent {
    /// Jobs that ended earlier are not listed.
    oldest: u64,
    /// At most so many that ended are.
    most: usize,
    ended: usize,
    /// What is listed, and what was looked at and is not.
    looked_at: BTreeMap<JobId, Option<Summary>>,
}

impl Recent {
    pub(crate) fn new(listed: Listed, now: u64) -> Self {
        let age = u64::try_from(listed.age.as_micros()).unwrap_or(u64::MAX);
        let oldest = now.saturating_sub(age);
        Self { oldest, most: listed.jobs, ended: 0, looked_at: BTreeMap::new() }
    }

    /// What is listed, oldest first.
    pub(crate) fn into_summaries(self) -> Vec<Summary> {
        self.looked_at.into_values().flatten().collect()
    }

    fn is_full(&self) -> bool {
        self.ended >= self.most
    }

    /// Looks at one more job; of those that ended the last to end comes first.
    pub(crate) fn add(&mut self, summary: Summary, is_wanted: &mut dyn FnMut(&Summary) -> bool) {
        let job = summary.job.clone();
        let is_ended = matches!(summary.status, Status::Ended(_));
        let is_in_time = match &summary.status {
            Status::Ended(outcome) => outcome.ended_at >= self.oldest && !self.is_full(),
            Status::Created | Status::Started { .. } => true,
        };
        let is_listed = is_in_time && is_wanted(&summary);
        self.ended += usize::from(is_listed && is_ended);
        self.looked_at.insert(job, is_listed.then_some(summary));
    }
}
