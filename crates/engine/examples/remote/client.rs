//! The side of the caller: a backend that has nothing but a socket.

use std::io::{self, BufReader};
use std::ops::Range;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde::Serialize;
use serde::de::DeserializeOwned;
use umbo_engine::{
    AttachedJob, Backend, BackendJob, Bookmark, Condition, Error, ErrorKind, Event, EventSource,
    Item, JobHandle, JobId, JobWatch, Ladder, Log, LogSource, Met, Outcome, Request, Result, Run,
    Scope, Size, Status, Subscription, Summary, Typed,
};

use super::protocol::{Attachment, Call, JobCall, Problem, receive, send};

/// Jobs on the other side of a socket.
#[derive(Debug, Clone)]
pub(crate) struct Remote {
    socket: Arc<PathBuf>,
}

/// A connection, between two messages.
#[derive(Debug)]
struct Connection(BufReader<UnixStream>);

impl Connection {
    fn tell<T: DeserializeOwned>(&mut self, message: &impl Serialize) -> Result<T> {
        send(self.0.get_mut(), message).map_err(unreachable)?;
        self.answer()
    }

    fn answer<T: DeserializeOwned>(&mut self) -> Result<T> {
        let answer: Result<T, Problem> = receive(&mut self.0).map_err(unreachable)?;
        answer.map_err(|Problem { kind, message, field, job }| Error::Remote {
            kind,
            message,
            field,
            job,
        })
    }
}

#[expect(clippy::needless_pass_by_value, reason = "as map_err hands it over")]
fn unreachable(error: io::Error) -> Error {
    let message = format!("the other side: {error}");
    Error::Remote { kind: ErrorKind::Internal, message, field: None, job: None }
}

impl Remote {
    pub(crate) fn new(socket: impl Into<PathBuf>) -> Self {
        Self { socket: Arc::new(socket.into()) }
    }

    fn connect(&self) -> Result<Connection> {
        let socket = UnixStream::connect(&*self.socket).map_err(unreachable)?;
        Ok(Connection(BufReader::new(socket)))
    }

    fn call<T: DeserializeOwned>(&self, call: &Call) -> Result<T> {
        self.connect()?.tell(call)
    }

    fn handle(&self, id: JobId) -> JobHandle {
        Arc::new(RemoteJob { remote: self.clone(), id })
    }
}

impl Backend for Remote {
    fn start(&self, request: &Request) -> Result<JobHandle> {
        Ok(self.handle(self.call(&Call::Start(Box::new(request.clone())))?))
    }

    fn spawn(&self, request: &Request) -> Result<Box<dyn AttachedJob>> {
        let mut connection = self.connect()?;
        let id = connection.tell(&Call::Spawn(Box::new(request.clone())))?;
        Ok(Box::new(RemoteAttached { job: self.handle(id), connection }))
    }

    fn job(&self, name: &str) -> Result<JobHandle> {
        let call = Call::Find { owner: None, name: name.into() };
        Ok(self.handle(self.call(&call)?))
    }

    fn job_of(&self, owner: &str, name: &str) -> Result<JobHandle> {
        let call = Call::Find { owner: Some(owner.into()), name: name.into() };
        Ok(self.handle(self.call(&call)?))
    }

    fn job_by_key(&self, key: &str) -> Result<Option<JobHandle>> {
        let id: Option<JobId> = self.call(&Call::FindKey(key.into()))?;
        Ok(id.map(|id| self.handle(id)))
    }

    fn jobs(&self, scope: Scope) -> Result<Vec<Summary>> {
        self.call(&Call::Jobs(scope))
    }

    fn newest_event(&self) -> Result<u64> {
        self.call(&Call::NewestEvent)
    }

    fn events(&self, after: u64, most: usize) -> Result<Vec<Item>> {
        self.call(&Call::Events { after, most })
    }

    fn subscribe(&self, after: u64) -> Result<Subscription> {
        Ok(Subscription::new(self.clone(), after))
    }

    fn drain_completed(&self, consumer: &str, owner: Option<&str>) -> Result<Vec<Summary>> {
        let owner = owner.map(str::to_owned);
        self.call(&Call::Completed { consumer: consumer.into(), owner })
    }

    fn has_pending(&self, consumer: &str, owner: Option<&str>) -> Result<bool> {
        let owner = owner.map(str::to_owned);
        self.call(&Call::Pending { consumer: consumer.into(), owner })
    }

    fn begins_in(&self, request: &Request) -> PathBuf {
        let call = Call::BeginsIn(Box::new(request.clone()));
        self.call(&call).unwrap_or_else(|_| request.cwd.clone())
    }

    fn prune(&self, age: Option<Duration>) -> Result<Vec<JobId>> {
        self.call(&Call::Prune(age))
    }
}

impl EventSource for Remote {
    fn read(&self, after: u64, most: usize) -> Result<Vec<Item>> {
        self.call(&Call::Events { after, most })
    }

    fn sleep(&self, after: u64, deadline: Instant) {
        let timeout = deadline.saturating_duration_since(Instant::now());
        let _: Result<()> = self.call(&Call::AwaitEvent { after, timeout });
    }
}

/// A job there.
#[derive(Debug, Clone)]
struct RemoteJob {
    remote: Remote,
    id: JobId,
}

impl RemoteJob {
    fn call<T: DeserializeOwned>(&self, call: JobCall) -> Result<T> {
        self.remote.call(&Call::Of(self.id.clone(), call))
    }

    fn stay<T: DeserializeOwned>(&self, call: JobCall) -> Result<(Connection, T)> {
        let mut connection = self.remote.connect()?;
        let answer = connection.tell(&Call::Of(self.id.clone(), call))?;
        Ok((connection, answer))
    }
}

impl BackendJob for RemoteJob {
    fn id(&self) -> &JobId {
        &self.id
    }

    fn handle(&self) -> JobHandle {
        Arc::new(self.clone())
    }

    fn status(&self) -> Result<Status> {
        self.call(JobCall::Status)
    }

    fn summary(&self) -> Option<Summary> {
        self.call(JobCall::Summary).ok()?
    }

    fn log(&self) -> Result<Log> {
        Ok(Log::new(self.clone()))
    }

    fn output_path(&self) -> PathBuf {
        // A path there is none here.
        let path: PathBuf = self.call(JobCall::Path).unwrap_or_default();
        Path::new("/another-machine").join(path.strip_prefix("/").unwrap_or(&path))
    }

    fn output_url(&self) -> String {
        self.call(JobCall::Url).unwrap_or_default()
    }

    fn watch(&self) -> Box<dyn JobWatch> {
        let connection = self.stay(JobCall::Watch).map(|(connection, ())| connection);
        Box::new(RemoteWatch(connection.ok()))
    }

    fn input(&self, bytes: &[u8]) -> Result<()> {
        self.call(JobCall::Input(bytes.into()))
    }

    fn typed(&self) -> Result<Typed> {
        self.call(JobCall::Typed)
    }

    fn input_after(&self, total: u64, bytes: &[u8]) -> Result<()> {
        self.call(JobCall::InputAfter(total, bytes.into()))
    }

    fn end_input(&self) -> Result<()> {
        self.call(JobCall::EndInput)
    }

    fn record_input(&self, bytes: u64, end: bool) -> Result<u64> {
        self.call(JobCall::RecordInput { bytes, end })
    }

    fn resize(&self, size: Size) -> Result<()> {
        self.call(JobCall::Resize(size))
    }

    fn stop(&self, ladder: Ladder) -> Result<Outcome> {
        self.call(JobCall::Stop(ladder))
    }

    fn wait(&self, conditions: &[Condition], timeout: Option<Duration>) -> Result<Met> {
        self.call(JobCall::Wait { conditions: conditions.to_vec(), timeout })
    }

    fn wait_event_after(&self, kind: &str, after: u64, timeout: Duration) -> Result<Option<Event>> {
        self.remote.subscribe(after)?.wait_event_of(&self.id, kind, timeout)
    }

    fn bookmark(&self, reader: &str) -> Result<Box<dyn Bookmark>> {
        let (connection, offset) = self.stay(JobCall::Bookmark(reader.into()))?;
        Ok(Box::new(RemoteBookmark { connection, offset }))
    }
}

impl LogSource for RemoteJob {
    fn length(&self) -> io::Result<u64> {
        self.call(JobCall::Length).map_err(io::Error::other)
    }

    fn omitted(&self) -> Option<Range<u64>> {
        self.call(JobCall::Omitted).ok()?
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<(u64, usize)> {
        let call = JobCall::Read { offset, most: buffer.len().min(1 << 16) };
        let (at, bytes): (u64, Vec<u8>) = self.call(call).map_err(io::Error::other)?;
        buffer[..bytes.len()].copy_from_slice(&bytes);
        Ok((at, bytes.len()))
    }

    fn runs(&self, range: Range<u64>) -> io::Result<Vec<Run>> {
        self.call(JobCall::Runs(range)).map_err(io::Error::other)
    }
}

#[derive(Debug)]
struct RemoteWatch(Option<Connection>);

impl JobWatch for RemoteWatch {
    fn sleep(&mut self, deadline: Option<Instant>) {
        let Some(Connection(lines)) = &mut self.0 else { return std::thread::yield_now() };
        let left = deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
        let left = left.map(|left| left.max(Duration::from_millis(1)));
        let _ = lines.get_ref().set_read_timeout(left);
        match receive::<()>(lines) {
            // Nothing in time. A line that came by half would be broken now; none is that long.
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            Err(_) => self.0 = None,
            Ok(()) => {}
        }
    }
}

#[derive(Debug)]
struct RemoteBookmark {
    connection: Connection,
    offset: u64,
}

impl Bookmark for RemoteBookmark {
    fn offset(&self) -> u64 {
        self.offset
    }

    fn advance(&mut self, offset: u64) -> Result<()> {
        let () = self.connection.tell(&offset)?;
        self.offset = offset;
        Ok(())
    }
}

#[derive(Debug)]
struct RemoteAttached {
    job: JobHandle,
    connection: Connection,
}

impl AttachedJob for RemoteAttached {
    fn job(&self) -> JobHandle {
        Arc::clone(&self.job)
    }

    fn wait(&mut self, timeout: Option<Duration>) -> Result<Option<Outcome>> {
        self.connection.tell(&Attachment::Wait(timeout))
    }

    fn detach(mut self: Box<Self>) -> JobHandle {
        let _: Result<()> = self.connection.tell(&Attachment::Detach);
        self.job
    }
}
