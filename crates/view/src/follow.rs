//! Following a log that grows.
//!
//! A [`Follower`] is a cursor and nothing else: it can be stored and made again. Whoever waits for
//! the log to grow (this crate never waits) asks it for what is new. Increments are whole lines,
//! sanitised and masked; a secret that is only half there yet is masked as far as it is there.

use std::io;

use crate::budget::Budget;
use crate::reader::Reader;
use crate::select::Page;
use crate::source::Source;

/// A cursor in a log that grows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Follower {
    offset: u64,
}

impl Follower {
    /// Follows from `offset`: zero, or the `next_offset` of an earlier page.
    pub fn new(offset: u64) -> Self {
        Self { offset }
    }

    /// Where the next increment starts.
    pub fn offset(&self) -> u64 {
        self.offset
    }

    /// What is new, as much as the budget holds. Ask again until the page is at the end or holds
    /// nothing; while the log is open, a last line without an end waits for it.
    pub fn next<S: Source>(&mut self, reader: &Reader<'_, S>, budget: &Budget) -> io::Result<Page> {
        let page = reader.page(self.offset, budget)?;
        self.offset = page.next_offset;
        Ok(page)
    }
}
