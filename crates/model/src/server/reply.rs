//! What the server answers, and all the ways in which it fails to.

use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

use super::render;
use super::script::Answer;
use crate::message::WireFormat;

/// Something that a test opens when the server shall go on.
#[derive(Clone, Debug, Default)]
pub struct Gate(Arc<(Mutex<bool>, Condvar)>);

impl Gate {
    /// A closed one.
    pub fn new() -> Self {
        Self::default()
    }

    /// Lets the server go on.
    pub fn open(&self) {
        *self.0.0.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.0.1.notify_all();
    }

    /// Waits until it is open, or until the client has left.
    fn wait(&self, stream: &TcpStream) -> io::Result<()> {
        let mut is_open = self.0.0.lock().unwrap_or_else(PoisonError::into_inner);
        while !*is_open {
            let waited = self.0.1.wait_timeout(is_open, Duration::from_millis(10));
            is_open = waited.unwrap_or_else(PoisonError::into_inner).0;
            is_there(stream)?;
        }
        Ok(())
    }
}

/// An error if the client has closed the connection.
fn is_there(stream: &TcpStream) -> io::Result<()> {
    stream.set_nonblocking(true)?;
    let read = (&mut &*stream).read(&mut [0; 64]);
    stream.set_nonblocking(false)?;
    match read {
        Ok(0) => Err(io::ErrorKind::ConnectionAborted.into()),
        Err(error) if error.kind() != io::ErrorKind::WouldBlock => Err(error),
        _ => Ok(()),
    }
}

impl From<Answer> for Reply {
    fn from(answer: Answer) -> Self {
        Self::answer(answer)
    }
}

/// What may be wrong with a request, or with the vendor.
#[derive(Clone, Debug)]
pub enum Trouble {
    /// The conversation is too long.
    Overflow,
    /// Too many requests; how many seconds to wait, if the vendor says so.
    RateLimit(Option<u32>),
    /// Nothing left to spend.
    Quota,
    /// The vendor has too much to do.
    Overloaded,
    /// The vendor stumbled.
    Server,
    /// The key is wrong.
    Auth,
    /// The request is wrong.
    Invalid(String),
}

/// One reply.
#[derive(Clone, Debug)]
pub struct Reply {
    body: Body,
    headers: Vec<(String, String)>,
    /// The bytes after which the connection is cut.
    cut: Option<usize>,
    /// The bytes of a piece.
    piece: Option<usize>,
    /// The bytes after which a gate is waited for.
    gate: Option<(usize, Gate)>,
}

#[derive(Clone, Debug)]
enum Body {
    Answer(Answer),
    Failure(Trouble),
    Bytes { status: u16, kind: String, bytes: Vec<u8> },
}

impl Reply {
    fn new(body: Body) -> Self {
        Self { body, headers: Vec::new(), cut: None, piece: None, gate: None }
    }

    /// An answer, in the format of the request.
    pub fn answer(answer: Answer) -> Self {
        Self::new(Body::Answer(answer))
    }

    /// An answer that is one text.
    pub fn text(text: &str) -> Self {
        Self::answer(Answer::text(text))
    }

    /// An error, as the vendor of the format words it.
    pub fn failure(trouble: Trouble) -> Self {
        Self::new(Body::Failure(trouble))
    }

    /// An event stream of these bytes.
    pub fn stream(bytes: impl Into<Vec<u8>>) -> Self {
        Self::raw(200, "text/event-stream", bytes)
    }

    /// Any bytes with any status.
    pub fn raw(status: u16, kind: &str, bytes: impl Into<Vec<u8>>) -> Self {
        Self::new(Body::Bytes { status, kind: kind.to_owned(), bytes: bytes.into() })
    }

    pub(super) fn script_is_over() -> Self {
        Self::raw(404, "text/plain", "the script is over: there is no reply to this request")
    }

    /// With one more header.
    #[must_use]
    pub fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Cut after so many bytes of the body.
    #[must_use]
    pub fn cut_after(mut self, bytes: usize) -> Self {
        self.cut = Some(bytes);
        self
    }

    /// In pieces of so many bytes, each sent by itself.
    #[must_use]
    pub fn in_pieces(mut self, bytes: usize) -> Self {
        self.piece = Some(bytes.max(1));
        self
    }

    /// Stopping after so many bytes until a gate is opened.
    #[must_use]
    pub fn wait_after(mut self, bytes: usize, gate: &Gate) -> Self {
        self.gate = Some((bytes, gate.clone()));
        self
    }

    fn render(&self, format: WireFormat) -> (u16, String, Vec<u8>) {
        match &self.body {
            Body::Answer(answer) => {
                (200, "text/event-stream; charset=utf-8".to_owned(), answer.bytes(format))
            }
            Body::Failure(trouble) => {
                let (status, body) = render::failure(format, trouble);
                (status, "application/json".to_owned(), body.to_string().into_bytes())
            }
            Body::Bytes { status, kind, bytes } => (*status, kind.clone(), bytes.clone()),
        }
    }

    pub(super) fn send(&self, format: WireFormat, stream: &TcpStream) -> io::Result<()> {
        let (status, kind, bytes) = self.render(format);
        let mut writer = stream;
        stream.set_nodelay(true)?;
        let mut head = format!(
            "HTTP/1.1 {status} Scripted\r\ncontent-type: {kind}\r\ntransfer-encoding: chunked\r\n\
             connection: close\r\n"
        );
        let mut headers = self.headers.clone();
        if let Body::Failure(Trouble::RateLimit(Some(seconds))) = &self.body {
            headers.push(("retry-after".to_owned(), seconds.to_string()));
        }
        for (name, value) in &headers {
            head.extend([name, ": ", value, "\r\n"]);
        }
        head.push_str("\r\n");
        writer.write_all(head.as_bytes())?;
        let end = self.cut.unwrap_or(bytes.len()).min(bytes.len());
        let mut at = 0;
        loop {
            if let Some((place, gate)) = &self.gate
                && *place == at
            {
                gate.wait(stream)?;
            }
            if at == end {
                break;
            }
            let mut next = self.piece.map_or(end, |piece| (at + piece).min(end));
            if let Some((place, _)) = &self.gate
                && *place > at
            {
                next = next.min(*place);
            }
            let piece = &bytes[at..next];
            writer.write_all(format!("{:x}\r\n", piece.len()).as_bytes())?;
            writer.write_all(piece)?;
            writer.write_all(b"\r\n")?;
            at = next;
        }
        if self.cut.is_none() {
            writer.write_all(b"0\r\n\r\n")?;
        }
        Ok(())
    }
}
