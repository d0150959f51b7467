//! Between the network and a reader: order is kept, deltas of a slow reader grow together, and
//! when too much waits, the network waits too.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;

use crate::event::Event;

/// The most bytes that wait for a reader before the writer waits.
const MOST_WAITING_BYTES: usize = 1 << 20;
/// The most events that wait for a reader before the writer waits.
const MOST_WAITING_EVENTS: usize = 4096;
/// A delta that has grown to this is not added to.
const LONGEST_DELTA_BYTES: usize = 64 << 10;

/// Two ends of one queue.
pub fn event_buffer() -> (EventWriter, EventReader) {
    let shared = Arc::new(Shared::default());
    (EventWriter { shared: shared.clone() }, EventReader { shared })
}

#[derive(Debug, Default)]
struct Shared {
    queue: Mutex<Queue>,
    readable: Notify,
    writable: Notify,
}

#[derive(Debug, Default)]
struct Queue {
    events: VecDeque<Event>,
    bytes: usize,
    is_closed: bool,
    is_unread: bool,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Where events are put in.
#[derive(Debug)]
pub struct EventWriter {
    shared: Arc<Shared>,
}

impl EventWriter {
    /// Puts an event in. Waits while too much is unread; `false` if nobody reads any more.
    pub async fn send(&self, event: Event) -> bool {
        loop {
            {
                let mut queue = self.shared.lock();
                if queue.is_unread {
                    return false;
                }
                if queue.bytes < MOST_WAITING_BYTES && queue.events.len() < MOST_WAITING_EVENTS {
                    queue.add(event);
                    drop(queue);
                    self.shared.readable.notify_one();
                    return true;
                }
            }
            self.shared.writable.notified().await;
        }
    }
}

impl Drop for EventWriter {
    fn drop(&mut self) {
        self.shared.lock().is_closed = true;
        self.shared.readable.notify_one();
    }
}

impl Queue {
    fn add(&mut self, event: Event) {
        if let Event::Delta { index, text } = &event {
            self.bytes += text.len();
            if let Some(Event::Delta { index: last, text: grown }) = self.events.back_mut()
                && last == index
                && grown.len() < LONGEST_DELTA_BYTES
            {
                grown.push_str(text);
                return;
            }
        }
        self.events.push_back(event);
    }
}

/// Where events come out.
#[derive(Debug)]
pub struct EventReader {
    shared: Arc<Shared>,
}

impl EventReader {
    /// The next event; `None` when the writer is gone and all was read.
    pub async fn next(&mut self) -> Option<Event> {
        loop {
            {
                let mut queue = self.shared.lock();
                if let Some(event) = queue.events.pop_front() {
                    if let Event::Delta { text, .. } = &event {
                        queue.bytes = queue.bytes.saturating_sub(text.len());
                    }
                    drop(queue);
                    self.shared.writable.notify_one();
                    return Some(event);
                }
                if queue.is_closed {
                    return None;
                }
            }
            self.shared.readable.notified().await;
        }
    }

    /// How many events wait to be read.
    pub fn waiting(&self) -> usize {
        self.shared.lock().events.len()
    }
}

impl Drop for EventReader {
    fn drop(&mut self) {
        let mut queue = self.shared.lock();
        queue.is_unread = true;
        queue.events.clear();
        drop(queue);
        self.shared.writable.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::{BlockStart, StopReason};

    fn delta(index: usize, text: &str) -> Event {
        Event::Delta { index, text: text.to_owned() }
    }

    #[tokio::test]
    async fn deltas_of_one_block_grow_together_while_nobody_reads_and_order_is_kept() {
        let (writer, mut reader) = event_buffer();
        let text = Event::BlockStart { index: 0, block: BlockStart::Text { refusal: false } };
        let call = Event::BlockStart { index: 1, block: BlockStart::Thinking };
        for event in [text.clone(), delta(0, "a"), delta(0, "b"), call.clone(), delta(1, "x")] {
            assert!(writer.send(event).await);
        }
        for event in [delta(0, "c"), delta(0, "d"), delta(1, "y")] {
            assert!(writer.send(event).await);
        }
        let end = Event::End { reason: StopReason::Stop, detail: None };
        writer.send(end.clone()).await;
        drop(writer);
        let expected =
            [text, delta(0, "ab"), call, delta(1, "x"), delta(0, "cd"), delta(1, "y"), end];
        for event in expected {
            assert_eq!(reader.next().await, Some(event));
        }
        assert_eq!(reader.next().await, None);
    }

    #[tokio::test]
    async fn a_reader_that_sleeps_holds_the_writer_and_not_the_memory() {
        let (writer, mut reader) = event_buffer();
        let piece = "x".repeat(1000);
        let total = 20 * MOST_WAITING_BYTES / piece.len();
        let expected = total * piece.len();
        let task = tokio::spawn(async move {
            for _ in 0..total {
                assert!(writer.send(delta(0, &piece)).await);
            }
        });
        let mut read = 0;
        let mut most = 0;
        while let Some(event) = reader.next().await {
            most = most.max(reader.shared.lock().bytes);
            let Event::Delta { text, .. } = event else { panic!("only deltas were sent") };
            assert!(text.len() < LONGEST_DELTA_BYTES + 1000);
            read += text.len();
        }
        task.await.unwrap();
        assert_eq!(read, expected);
        assert!(most <= MOST_WAITING_BYTES + 1000, "{most} bytes waited");
    }

    #[tokio::test]
    async fn a_reader_that_left_frees_a_writer_that_waits() {
        let (writer, reader) = event_buffer();
        let task = tokio::spawn(async move {
            let mut sent = 0;
            while writer.send(delta(0, &"x".repeat(1000))).await {
                sent += 1;
            }
            sent
        });
        while reader.shared.lock().bytes < MOST_WAITING_BYTES {
            tokio::task::yield_now().await;
        }
        drop(reader);
        assert!(task.await.unwrap() >= MOST_WAITING_BYTES / 1000);
    }
}
