//! The side where the jobs run.

use std::io::{self, BufReader};
use std::os::unix::net::{UnixListener, UnixStream};
use std::thread;
use std::time::{Duration, Instant};

use serde::Serialize;
use umbo_engine::{Backend, BackendJob, Engine, Environment, JobId, Request, Result};

use crate::protocol::{Attachment, Call, JobCall, Problem, receive, send};

/// How often a watcher is told to look though nothing may have happened.
const LOOK_AGAIN: Duration = Duration::from_secs(1);

pub(crate) fn serve(socket: &str, state: &str) -> Result<(), Box<dyn std::error::Error>> {
    let engine = Engine::builder(state).open()?;
    let listener = UnixListener::bind(socket)?;
    for connection in listener.incoming() {
        let (engine, connection) = (engine.clone(), connection?);
        thread::spawn(move || {
            // A client that went away needs no answer.
            let _ = answer(&engine, &connection);
        });
    }
    Ok(())
}

fn answer(backend: &dyn Backend, connection: &UnixStream) -> io::Result<()> {
    let mut lines = BufReader::new(connection);
    let id = |job: umbo_engine::JobHandle| job.id().clone();
    match receive(&mut lines)? {
        Call::Start(request) => tell(connection, backend.start(&here(*request)).map(id)),
        Call::Spawn(request) => attach(backend, &here(*request), connection, &mut lines),
        Call::Find { owner: None, name } => tell(connection, backend.job(&name).map(id)),
        Call::Find { owner: Some(owner), name } => {
            tell(connection, backend.job_of(&owner, &name).map(id))
        }
        Call::FindKey(key) => tell(connection, backend.job_by_key(&key).map(|job| job.map(id))),
        Call::Jobs(scope) => tell(connection, backend.jobs(scope)),
        Call::NewestEvent => tell(connection, backend.newest_event()),
        Call::Events { after, most } => tell(connection, backend.events(after, most)),
        Call::AwaitEvent { after, timeout } => {
            let next = backend.subscribe(after).and_then(|mut events| events.next(timeout));
            tell(connection, next.map(|_| ()))
        }
        Call::Completed { consumer, owner } => {
            tell(connection, backend.drain_completed(&consumer, owner.as_deref()))
        }
        Call::Pending { consumer, owner } => {
            tell(connection, backend.has_pending(&consumer, owner.as_deref()))
        }
        Call::BeginsIn(request) => tell(connection, Ok(backend.begins_in(&request))),
        Call::Prune(age) => tell(connection, backend.prune(age)),
        Call::Of(job, call) => match of_job(backend, &job) {
            Ok(job) => answer_of(&*job, call, connection, &mut lines),
            Err(error) => tell(connection, Err::<(), _>(error)),
        },
    }
}

/// A request as it runs here: what its command starts from is the environment of this machine.
fn here(mut request: Request) -> Request {
    request.env.base = Environment::inherit().base;
    request
}

fn of_job(backend: &dyn Backend, id: &JobId) -> Result<umbo_engine::JobHandle> {
    backend.job(id.as_str())
}

fn answer_of(
    job: &dyn BackendJob,
    call: JobCall,
    connection: &UnixStream,
    lines: &mut BufReader<&UnixStream>,
) -> io::Result<()> {
    match call {
        JobCall::Status => tell(connection, job.status()),
        JobCall::Summary => tell(connection, Ok(job.summary())),
        JobCall::Path => tell(connection, Ok(job.output_path())),
        JobCall::Url => tell(connection, Ok(job.output_url())),
        JobCall::Length => tell(connection, job.log().and_then(|log| read(log.length()))),
        JobCall::Omitted => tell(connection, job.log().map(|log| log.omitted())),
        JobCall::Read { offset, most } => {
            let mut bytes = vec![0; most];
            let found = job.log().and_then(|log| read(log.read_at(offset, &mut bytes)));
            tell(
                connection,
                found.map(|(at, count)| {
                    bytes.truncate(count);
                    (at, bytes)
                }),
            )
        }
        JobCall::Runs(range) => tell(connection, job.log().and_then(|log| read(log.runs(range)))),
        JobCall::Watch => watch(job, connection),
        JobCall::Input(bytes) => tell(connection, job.input(&bytes)),
        JobCall::Typed => tell(connection, job.typed()),
        JobCall::InputAfter(total, bytes) => tell(connection, job.input_after(total, &bytes)),
        JobCall::EndInput => tell(connection, job.end_input()),
        JobCall::RecordInput { bytes, end } => tell(connection, job.record_input(bytes, end)),
        JobCall::Resize(size) => tell(connection, job.resize(size)),
        JobCall::Stop(ladder) => tell(connection, job.stop(ladder)),
        JobCall::Wait { conditions, timeout } => tell(connection, job.wait(&conditions, timeout)),
        JobCall::Bookmark(reader) => match job.bookmark(&reader) {
            Ok(mut bookmark) => {
                tell(connection, Ok(bookmark.offset()))?;
                loop {
                    let offset = receive(lines)?;
                    tell(connection, bookmark.advance(offset))?;
                }
            }
            Err(error) => tell(connection, Err::<u64, _>(error)),
        },
    }
}

fn attach(
    backend: &dyn Backend,
    request: &Request,
    connection: &UnixStream,
    lines: &mut BufReader<&UnixStream>,
) -> io::Result<()> {
    let mut attached = match backend.spawn(request) {
        Ok(attached) => attached,
        Err(error) => return tell(connection, Err::<(), _>(error)),
    };
    tell(connection, Ok(attached.job().id().clone()))?;
    loop {
        // The end of the connection drops the attachment: a disconnection.
        match receive(lines)? {
            Attachment::Wait(timeout) => tell(connection, attached.wait(timeout))?,
            Attachment::Detach => {
                attached.detach();
                return tell(connection, Ok(()));
            }
        }
    }
}

fn watch(job: &dyn BackendJob, connection: &UnixStream) -> io::Result<()> {
    let mut watch = job.watch();
    tell(connection, Ok(()))?;
    while !matches!(job.outcome(), Ok(Some(_)) | Err(_)) {
        watch.sleep(Some(Instant::now() + LOOK_AGAIN));
        send(connection, &())?;
    }
    Ok(())
}

fn read<T>(result: io::Result<T>) -> Result<T> {
    let failed =
        |source| umbo_engine::Error::File { action: "read", path: "output".into(), source };
    result.map_err(failed)
}

fn tell<T: Serialize>(connection: &UnixStream, result: Result<T>) -> io::Result<()> {
    let told = result.map_err(|error| Problem {
        kind: error.kind(),
        message: error.to_string(),
        field: error.field().map(str::to_owned),
        job: error.job().map(str::to_owned),
    });
    send(connection, &told)
}
