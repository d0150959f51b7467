//! This machine as a backend: the methods of [`Engine`], [`Job`] and [`Attached`] by the names of the traits.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use umbo_sandbox::{Decision, Question};

use crate::attached::{Attached, Heard};
use crate::backend::{AttachedJob, Backend, BackendJob, Bookmark, JobHandle, JobWatch};
use crate::beside::Beside;
use crate::engine::{Engine, Listed, Scope};
use crate::error::Result;
use crate::event::{Event, Item};
use crate::id::JobId;
use crate::job::{Job, Status, Summary, Typed};
use crate::log::Log;
use crate::outcome::Outcome;
use crate::repeat::Repeated;
use crate::request::{Ladder, Request, Size};
use crate::session::{Clearing, ShellSession};
use crate::subscription::Subscription;
use crate::turns::JobGroup;
use crate::wait::{Condition, Met};
use crate::wire::Reach;

impl Backend for Engine {
    fn start(&self, request: &Request) -> Result<JobHandle> {
        Ok(Arc::new(Self::start(self, request)?))
    }

    fn spawn(&self, request: &Request) -> Result<Box<dyn AttachedJob>> {
        Ok(Box::new(Self::spawn(self, request)?))
    }

    fn attend(&self, request: &Request, timeout: Duration) -> Result<Box<dyn AttachedJob>> {
        Ok(Box::new(Self::attend(self, request, timeout)?))
    }

    fn attend_beside(
        &self,
        request: &Request,
        timeout: Duration,
        beside: Option<&Arc<dyn Beside>>,
    ) -> Result<Box<dyn AttachedJob>> {
        Ok(Box::new(Self::attend_beside(self, request, timeout, beside)?))
    }

    fn run(&self, request: &Request) -> Result<(JobHandle, Outcome)> {
        let (job, outcome) = Self::run(self, request)?;
        Ok((Arc::new(job), outcome))
    }

    fn job(&self, name: &str) -> Result<JobHandle> {
        Ok(Arc::new(Self::job(self, name)?))
    }

    fn job_of(&self, owner: &str, name: &str) -> Result<JobHandle> {
        Ok(Arc::new(Self::job_of(self, owner, name)?))
    }

    fn job_by_key(&self, key: &str) -> Result<Option<JobHandle>> {
        Ok(Self::job_by_key(self, key)?.map(|job| Arc::new(job) as JobHandle))
    }

    fn jobs(&self, scope: Scope) -> Result<Vec<Summary>> {
        Self::jobs(self, scope)
    }

    fn recent(
        &self,
        listed: Listed,
        is_wanted: &mut dyn FnMut(&Summary) -> bool,
    ) -> Result<Vec<Summary>> {
        Self::recent(self, listed, is_wanted)
    }

    fn newest(
        &self,
        owner: Option<&str>,
        from: Option<&JobId>,
        most: usize,
    ) -> Result<Vec<Summary>> {
        Self::newest(self, owner, from, most)
    }

    fn ends_after(&self, after: u64) -> Result<(Vec<(JobId, u64)>, u64)> {
        Self::ends_after(self, after)
    }

    fn newest_event(&self) -> Result<u64> {
        Self::newest_event(self)
    }

    fn events(&self, after: u64, most: usize) -> Result<Vec<Item>> {
        Self::events(self, after, most)
    }

    fn subscribe(&self, after: u64) -> Result<Subscription> {
        Self::subscribe(self, after)
    }

    fn drain_completed(&self, consumer: &str, owner: Option<&str>) -> Result<Vec<Summary>> {
        Self::drain_completed(self, consumer, owner)
    }

    fn has_pending(&self, consumer: &str, owner: Option<&str>) -> Result<bool> {
        Self::has_pending(self, consumer, owner)
    }

    fn prune(&self, age: Option<Duration>) -> Result<Vec<JobId>> {
        Self::prune(self, age)
    }

    fn prunable(&self, age: Option<Duration>) -> Result<Vec<JobId>> {
        Self::prunable(self, age)
    }

    fn shell_sessions(&self) -> Result<Vec<ShellSession>> {
        Self::shell_sessions(self)
    }

    fn clear_session(&self, name: &str, clearing: Clearing) -> Result<()> {
        Self::clear_session(self, name, clearing)
    }

    fn groups(&self) -> Result<Vec<JobGroup>> {
        Self::groups(self)
    }

    fn limit_group(&self, name: &str, limit: usize) -> Result<()> {
        Self::limit_group(self, name, limit)
    }

    fn state_directory(&self) -> Option<&Path> {
        Some(Self::state_directory(self))
    }

    fn begins_in(&self, request: &Request) -> PathBuf {
        Self::begins_in(self, request)
    }
}

impl From<Engine> for Arc<dyn Backend> {
    fn from(engine: Engine) -> Self {
        Arc::new(engine)
    }
}

impl BackendJob for Job {
    fn id(&self) -> &JobId {
        Self::id(self)
    }

    fn handle(&self) -> JobHandle {
        Arc::new(self.clone())
    }

    fn status(&self) -> Result<Status> {
        Self::status(self)
    }

    fn has_ended(&self) -> bool {
        Self::has_ended(self)
    }

    fn summary(&self) -> Option<Summary> {
        Self::summary(self)
    }

    fn log(&self) -> Result<Log> {
        Self::log(self)
    }

    fn output_path(&self) -> PathBuf {
        Self::output_path(self)
    }

    fn output_url(&self) -> String {
        Self::output_url(self)
    }

    fn watch(&self) -> Box<dyn JobWatch> {
        Box::new(Self::watch(self))
    }

    fn input(&self, bytes: &[u8]) -> Result<()> {
        Self::input(self, bytes)
    }

    fn typed(&self) -> Result<Typed> {
        Self::typed(self)
    }

    fn input_after(&self, total: u64, bytes: &[u8]) -> Result<()> {
        Self::input_after(self, total, bytes)
    }

    fn end_input(&self) -> Result<()> {
        Self::end_input(self)
    }

    fn record_input(&self, bytes: u64, end: bool) -> Result<u64> {
        Self::record_input(self, bytes, end)
    }

    fn resize(&self, size: Size) -> Result<()> {
        Self::resize(self, size)
    }

    fn questions(&self) -> Result<Vec<Question>> {
        Self::questions(self)
    }

    fn decide(&self, number: u64, decision: Decision) -> Result<()> {
        Self::decide(self, number, decision)
    }

    fn pause(&self) -> Result<()> {
        Self::pause(self)
    }

    fn resume(&self) -> Result<()> {
        Self::resume(self)
    }

    fn signal(&self, number: i32, reach: Reach) -> Result<()> {
        Self::signal(self, number, reach)
    }

    fn repeat(&self) -> Result<Repeated> {
        Self::repeat(self)
    }

    fn stop(&self, ladder: Ladder) -> Result<Outcome> {
        Self::stop(self, ladder)
    }

    fn wait(&self, conditions: &[Condition], timeout: Option<Duration>) -> Result<Met> {
        Self::wait(self, conditions, timeout)
    }

    fn wait_event_after(&self, kind: &str, after: u64, timeout: Duration) -> Result<Option<Event>> {
        Self::wait_event_after(self, kind, after, timeout)
    }

    fn bookmark(&self, reader: &str) -> Result<Box<dyn Bookmark>> {
        Ok(Box::new(Self::bookmark(self, reader)?))
    }
}

impl AttachedJob for Attached {
    fn job(&self) -> JobHandle {
        Arc::new(Self::job(self).clone())
    }

    fn wait(&mut self, timeout: Option<Duration>) -> Result<Option<Outcome>> {
        Self::wait(self, timeout)
    }

    fn hear(&mut self, timeout: Option<Duration>) -> Result<Heard> {
        Self::hear(self, timeout)
    }

    fn detach(self: Box<Self>) -> JobHandle {
        Arc::new(Self::detach(*self))
    }
}
