//! Server-sent events: lines to events, with limits.
//!
//! Follows the WHATWG rules: lines end with LF, CR or CRLF, a byte order mark at the start is
//! skipped, comments and unknown fields are ignored, an event without data is none. What is longer
//! than the limits ends the stream instead of memory.

/// The longest line that is read.
pub const LONGEST_LINE_BYTES: usize = 8 << 20;
/// The most data that one event may have.
pub const LONGEST_EVENT_BYTES: usize = 16 << 20;

/// One event of a stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SseEvent {
    /// The value of its `event` field.
    pub name: Option<String>,
    /// The values of its `data` fields, joined by line breaks.
    pub data: String,
}

/// A line or an event is over the limit; nothing after it is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{what} of the event stream is longer than {limit} bytes")]
pub struct SseTooLong {
    /// What is too long.
    pub what: &'static str,
    /// The limit.
    pub limit: usize,
}

/// Cuts bytes into events.
#[derive(Debug, Default)]
pub struct SseSplitter {
    line: Vec<u8>,
    /// The last byte was a CR that ended a line: an LF right behind it belongs to it.
    after_cr: bool,
    has_begun: bool,
    name: Option<String>,
    data: Option<String>,
    is_dead: bool,
}

impl SseSplitter {
    /// Nothing read yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Reads more bytes and hands each event that they complete to `sink`.
    pub fn feed(
        &mut self,
        mut bytes: &[u8],
        mut sink: impl FnMut(SseEvent),
    ) -> Result<(), SseTooLong> {
        while !bytes.is_empty() && !self.is_dead {
            if self.after_cr {
                self.after_cr = false;
                if bytes[0] == b'\n' {
                    bytes = &bytes[1..];
                    continue;
                }
            }
            let end = bytes.iter().position(|byte| matches!(byte, b'\n' | b'\r'));
            let piece = &bytes[..end.unwrap_or(bytes.len())];
            if self.line.len() + piece.len() > LONGEST_LINE_BYTES {
                return Err(self.die("a line", LONGEST_LINE_BYTES));
            }
            self.line.extend_from_slice(piece);
            let Some(end) = end else { break };
            self.after_cr = bytes[end] == b'\r';
            bytes = &bytes[end + 1..];
            let line = std::mem::take(&mut self.line);
            if let Some(event) = self.line(&line)? {
                sink(event);
            }
            // Keep the memory of the line, unless it was a giant.
            self.line = line;
            self.line.clear();
            self.line.shrink_to(64 << 10);
        }
        Ok(())
    }

    /// The event that the end of the stream leaves without its empty line: vendors forget it.
    pub fn finish(&mut self) -> Option<SseEvent> {
        if self.is_dead {
            return None;
        }
        self.is_dead = true;
        let line = std::mem::take(&mut self.line);
        let event = self.line(&line).ok().flatten();
        event.or_else(|| self.dispatch())
    }

    fn die(&mut self, what: &'static str, limit: usize) -> SseTooLong {
        *self = Self { is_dead: true, ..Self::default() };
        SseTooLong { what, limit }
    }

    fn line(&mut self, mut line: &[u8]) -> Result<Option<SseEvent>, SseTooLong> {
        if !self.has_begun {
            self.has_begun = true;
            line = line.strip_prefix("\u{feff}".as_bytes()).unwrap_or(line);
        }
        if line.is_empty() {
            return Ok(self.dispatch());
        }
        let colon = line.iter().position(|&byte| byte == b':');
        let (field, value) = match colon {
            Some(at) => (&line[..at], &line[at + 1..]),
            None => (line, &line[line.len()..]),
        };
        let value = value.strip_prefix(b" ").unwrap_or(value);
        match field {
            b"event" => self.name = Some(String::from_utf8_lossy(value).into_owned()),
            b"data" => {
                let length = self.data.as_ref().map_or(0, String::len);
                if length + value.len() > LONGEST_EVENT_BYTES {
                    return Err(self.die("an event", LONGEST_EVENT_BYTES));
                }
                let text = String::from_utf8_lossy(value);
                match &mut self.data {
                    Some(data) => {
                        data.push('\n');
                        data.push_str(&text);
                    }
                    None => self.data = Some(text.into_owned()),
                }
            }
            _ => {}
        }
        Ok(None)
    }

    fn dispatch(&mut self) -> Option<SseEvent> {
        let name = self.name.take();
        self.data.take().map(|data| SseEvent { name, data })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split(pieces: &[&[u8]]) -> Vec<(Option<String>, String)> {
        let mut splitter = SseSplitter::new();
        let mut events = Vec::new();
        for piece in pieces {
            splitter.feed(piece, |event| events.push((event.name, event.data))).unwrap();
        }
        events.extend(splitter.finish().map(|event| (event.name, event.data)));
        events
    }

    fn data(text: &str) -> (Option<String>, String) {
        (None, text.to_owned())
    }

    #[test]
    fn all_three_line_ends_end_a_line_wherever_the_bytes_are_cut() {
        let text = b"data: a\r\n\r\ndata:b\r\rdata:  c\n\n";
        let whole = [data("a"), data("b"), data(" c")];
        assert_eq!(split(&[text]), whole);
        for at in 0..=text.len() {
            assert_eq!(split(&[&text[..at], &text[at..]]), whole, "cut at {at}");
        }
        let bytes: Vec<&[u8]> = text.chunks(1).collect();
        assert_eq!(split(&bytes), whole);
    }

    #[test]
    fn comments_unknown_fields_and_events_without_data_are_nothing() {
        assert_eq!(split(&[b": ping\n\nevent: x\n\nid: 4\nretry: 9\n\ndata\n\n"]), [data("")]);
    }

    #[test]
    fn lines_of_data_are_joined_and_a_name_is_for_one_event() {
        let events = split(&[b"\xef\xbb\xbfevent: a\ndata: 1\ndata: 2\n\ndata: 3\n\n"]);
        assert_eq!(events, [(Some("a".to_owned()), "1\n2".to_owned()), data("3")]);
    }

    #[test]
    fn the_last_event_counts_without_its_empty_line() {
        assert_eq!(split(&[b"data: a\n\ndata: b"]), [data("a"), data("b")]);
        assert_eq!(split(&[b"data: a\n\ndata: b\n"]), [data("a"), data("b")]);
    }

    #[test]
    fn a_line_without_end_ends_the_stream_and_not_the_memory() {
        let mut splitter = SseSplitter::new();
        let piece = vec![b'x'; 1 << 20];
        let mut result = Ok(());
        let mut fed = 0;
        while result.is_ok() {
            result = splitter.feed(&piece, |_| panic!("there is no event"));
            fed += piece.len();
            assert!(fed <= LONGEST_LINE_BYTES + piece.len());
        }
        assert_eq!(splitter.feed(b"\n\ndata: a\n\n", |_| panic!("it is dead")), Ok(()));
    }

    #[test]
    fn an_event_of_many_lines_ends_the_stream_and_not_the_memory() {
        let mut splitter = SseSplitter::new();
        let mut line = b"data: ".to_vec();
        line.extend(vec![b'x'; 1 << 20]);
        line.push(b'\n');
        let fed = (0..100).take_while(|_| splitter.feed(&line, |_| ()).is_ok()).count();
        assert_eq!(fed, (LONGEST_EVENT_BYTES >> 20) - 1, "line breaks count too");
    }
}
