//! Masking text that arrives in chunks.
//!
//! Text is let through as soon as no later chunk could make it part of a secret; the rest is held
//! back, as far as the longest secret reaches. The result is the same for every chunking. With
//! patterns of the user in play whole lines are held, because a pattern may look at all of its
//! line; a line longer than [`LINE`] is then cut there.

use std::fmt;
use std::sync::Arc;

use super::find::{Before, Edge, Finder};
use super::{Known, Masker, Match};

/// The longest line that a pattern sees as a whole.
const LINE: usize = 64 * 1024;

/// Masks a stream of sanitised text.
pub struct MaskStream<'m> {
    masker: &'m Masker,
    /// What is looked for, the same from beginning to end.
    known: Arc<Known>,
    held: String,
    /// What was let through last.
    before: Before,
}

impl<'m> MaskStream<'m> {
    /// A stream that masks what `masker` knows.
    pub fn new(masker: &'m Masker) -> Self {
        Self { masker, known: masker.known(), held: String::new(), before: Before::default() }
    }

    /// Takes a chunk, and gives what can be let through.
    pub fn push(&mut self, text: &str) -> String {
        let mut out = String::new();
        let mut rest = text;
        let ends_line = text.contains('\n');
        while !rest.is_empty() {
            // In steps of bounded size at fixed places, so that chunks do not matter.
            let end = rest.find('\n').map_or(rest.len(), |at| at + 1);
            let line = self.held.len() - self.held.rfind('\n').map_or(0, |at| at + 1);
            let room = rest.ceil_char_boundary(LINE.saturating_sub(line).max(1));
            let take = if self.finder().has_patterns() { end.min(room) } else { rest.len() };
            self.held.push_str(&rest[..take]);
            rest = &rest[take..];
            let full = self.finder().has_patterns() && line + take >= LINE;
            // A line that is held for the patterns is not looked at again for each piece of it.
            if full || (rest.is_empty() && (ends_line || !self.finder().has_patterns())) {
                self.release(full, &mut out);
            }
        }
        out
    }

    /// Ends the stream: gives what was held back.
    pub fn finish(&mut self) -> String {
        let held = std::mem::take(&mut self.held);
        let matches = self.matches(&held);
        self.before = Before::default();
        Masker::apply(&held, &matches)
    }

    fn finder(&self) -> &Finder {
        &self.known.finder
    }

    fn matches(&self, text: &str) -> Vec<Match> {
        let hits = self.finder().hits(text, self.before, Edge::default());
        self.masker.settle(&self.known, text, hits)
    }

    /// Lets through what is decided. With `full`, a line that is cut here counts as a line.
    fn release(&mut self, full: bool, out: &mut String) {
        let mut end = self.finder().undecided(&self.held, self.before);
        if self.finder().has_patterns() && !full {
            end = self.held[..end].rfind('\n').map_or(0, |at| at + 1);
        }
        let matches = self.matches(&self.held);
        for (index, found) in matches.iter().enumerate().rev() {
            // A secret is let through as a whole, with the ones that overlap it, and with what says that
            // it is one.
            let next = matches.get(index + 1);
            let holds = next.is_some_and(|next| next.joined && next.range.start == end);
            if found.context < end && (end < found.range.end || holds) {
                end = found.context;
            }
        }
        let end = self.held.floor_char_boundary(end);
        let ready = matches.iter().take_while(|found| found.range.end <= end).count();
        out.push_str(&Masker::apply(&self.held[..end], &matches[..ready]));
        self.before = self.before.then(&self.held[..end]);
        self.held.drain(..end);
    }
}

impl fmt::Debug for MaskStream<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // What is held back may be half a secret.
        f.debug_struct("MaskStream").field("held", &self.held.len()).finish_non_exhaustive()
    }
}
