//! A model server on loopback that says what a script tells it, in all four wire formats.
//!
//! For tests, of this crate and of others. It answers byte for byte as the vendors document, checks
//! each request against their documented rules ([`check_request`]) and refuses it as they do, and
//! can fail in all the ways they fail: with errors of every class, garbage, streams that are cut or
//! that stop in the middle. Threads and plain sockets: no runtime is needed to use it.

mod check;
mod render;
mod reply;
mod script;

use std::collections::VecDeque;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::client::{Endpoint, Secret};
use crate::message::WireFormat;

pub use check::check_request;
pub use reply::{Gate, Reply, Trouble};
pub use script::{Answer, Say};

/// The most bytes of a request that is read.
const LONGEST_REQUEST_BYTES: usize = 64 << 20;

/// A request as it arrived.
#[derive(Clone, Debug)]
pub struct Received {
    /// The format that its path belongs to.
    pub format: Option<WireFormat>,
    /// Path and query.
    pub path: String,
    /// The headers, names in lower case.
    pub headers: Vec<(String, String)>,
    /// The body as it came.
    pub text: String,
    /// The body, or null if it was no JSON.
    pub body: Value,
}

impl Received {
    /// The value of a header.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }
}

type Script = Box<dyn FnMut(&Received) -> Reply + Send>;

struct Shared {
    script: Mutex<Script>,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    requests: Vec<Received>,
    /// How many clients left before their answer was complete.
    hangups: usize,
    is_over: bool,
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The server. It ends when it is dropped.
pub struct ModelServer {
    address: SocketAddr,
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

impl ModelServer {
    /// A server that asks a function what to answer.
    pub fn start(script: impl FnMut(&Received) -> Reply + Send + 'static) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        let address = listener.local_addr()?;
        let shared = Arc::new(Shared {
            script: Mutex::new(Box::new(script)),
            state: Mutex::default(),
            changed: Condvar::new(),
        });
        let server = shared.clone();
        let thread = std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                if server.state().is_over {
                    break;
                }
                let server = server.clone();
                std::thread::spawn(move || serve(&server, &stream));
            }
        });
        Ok(Self { address, shared, thread: Some(thread) })
    }

    /// A server that answers these in order, and then that its script is over.
    pub fn scripted(replies: impl IntoIterator<Item = Reply>) -> io::Result<Self> {
        let mut replies: VecDeque<Reply> = replies.into_iter().collect();
        Self::start(move |_| replies.pop_front().unwrap_or_else(Reply::script_is_over))
    }

    /// The address, without a path.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// How a client of this crate reaches it.
    pub fn endpoint(&self, format: WireFormat) -> Endpoint {
        let path = match format {
            WireFormat::Responses | WireFormat::Chat => "/v1",
            WireFormat::Anthropic | WireFormat::Gemini => "",
        };
        Endpoint {
            base_url: format!("{}{path}", self.url()),
            key: Some(Secret::new("test-key")),
            headers: Vec::new(),
        }
    }

    /// The requests so far, in the order in which they came.
    pub fn requests(&self) -> Vec<Received> {
        self.shared.state().requests.clone()
    }

    /// Waits until as many requests have come, or the deadline has passed.
    pub fn wait_for_requests(&self, count: usize, timeout: Duration) -> bool {
        self.wait(timeout, |state| state.requests.len() >= count)
    }

    /// Waits until as many clients have left before their end, or the deadline has passed.
    pub fn wait_for_hangups(&self, count: usize, timeout: Duration) -> bool {
        self.wait(timeout, |state| state.hangups >= count)
    }

    fn wait(&self, timeout: Duration, is_true: impl Fn(&State) -> bool) -> bool {
        let deadline = Instant::now() + timeout;
        let mut state = self.shared.state();
        while !is_true(&state) {
            let Some(left) = deadline.checked_duration_since(Instant::now()) else { return false };
            let waited = self.shared.changed.wait_timeout(state, left);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        true
    }
}

impl Drop for ModelServer {
    fn drop(&mut self) {
        self.shared.state().is_over = true;
        // One more connection, so that the loop looks.
        let _ = TcpStream::connect(self.address);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn serve(server: &Shared, stream: &TcpStream) {
    let Ok(received) = receive(stream) else { return };
    let reply = match check_request(&received) {
        Ok(()) => {
            let mut script = server.script.lock().unwrap_or_else(PoisonError::into_inner);
            script(&received)
        }
        Err(problem) => Reply::failure(Trouble::Invalid(problem)),
    };
    let format = received.format.unwrap_or(WireFormat::Chat);
    server.state().requests.push(received);
    server.changed.notify_all();
    if reply.send(format, stream).is_err() {
        server.state().hangups += 1;
        server.changed.notify_all();
    }
}

fn receive(stream: &TcpStream) -> io::Result<Received> {
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    reader.read_line(&mut line)?;
    let path = line.split_whitespace().nth(1).unwrap_or_default().to_owned();
    let mut headers = Vec::new();
    loop {
        line.clear();
        if reader.read_line(&mut line)? == 0 || line.trim_end().is_empty() {
            break;
        }
        if let Some((name, value)) = line.split_once(':') {
            headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
        }
    }
    let header = |name: &str| headers.iter().find(|(known, _)| known == name).map(|(_, v)| v);
    if header("expect").is_some() {
        let mut writer = stream;
        writer.write_all(b"HTTP/1.1 100 Continue\r\n\r\n")?;
    }
    let length = header("content-length").and_then(|length| length.parse().ok()).unwrap_or(0_usize);
    let mut body = vec![0; length.min(LONGEST_REQUEST_BYTES)];
    reader.read_exact(&mut body)?;
    let text = String::from_utf8_lossy(&body).into_owned();
    let body = serde_json::from_str(&text).unwrap_or_default();
    let format = format_of(path.split('?').next().unwrap_or_default());
    Ok(Received { format, path, headers, text, body })
}

fn format_of(path: &str) -> Option<WireFormat> {
    if path.ends_with("/messages") {
        Some(WireFormat::Anthropic)
    } else if path.ends_with("/responses") {
        Some(WireFormat::Responses)
    } else if path.ends_with("/chat/completions") {
        Some(WireFormat::Chat)
    } else if path.ends_with(":streamGenerateContent") {
        Some(WireFormat::Gemini)
    } else {
        None
    }
}
