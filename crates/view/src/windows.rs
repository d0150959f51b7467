//! The window around a line that looks like an error: context, the error's block, context.

use std::io;
use std::ops::Range;

use crate::detect::Finding;
use crate::reader::{Reader, Unit};
use crate::rule::Block;
use crate::source::Source;
use crate::survey::Place;
use crate::walk::{Direction, Step, Walk};

/// The most lines that one error is followed for.
const LONGEST_BLOCK: usize = 200;

/// The lines of an error.
#[derive(Debug, Default)]
pub(crate) struct Window {
    /// Lines before it, the nearest last.
    pub(crate) before: Vec<Unit>,
    /// The line that gives it away.
    pub(crate) key: Vec<Unit>,
    /// The lines that belong to it.
    pub(crate) block: Vec<Unit>,
    /// Lines after it.
    pub(crate) after: Vec<Unit>,
}

impl Window {
    /// Reads the window of the error at `place`, inside `within`.
    pub(crate) fn read<S: Source>(
        reader: &Reader<'_, S>,
        place: &Place,
        finding: Finding,
        within: Range<u64>,
        longest: usize,
        context: usize,
    ) -> io::Result<Self> {
        let mut window = Self::default();
        let before = within.start.min(place.start)..place.start;
        let mut back = Walk::new(reader, Direction::Backwards, before, longest);
        while window.before.len() < context
            && let Some(Step::Unit(unit)) = back.next()?
        {
            window.before.push(unit);
        }
        window.before.reverse();
        let mut walk = Walk::new(reader, Direction::Forwards, place.start..within.end, longest);
        let mut block = finding.block();
        let mut is_in_block = block != Block::Line;
        while let Some(Step::Unit(unit)) = walk.next()? {
            if unit.range.start < place.end {
                window.key.push(unit);
                continue;
            }
            if is_in_block {
                let goes_on = belongs(block, &unit.text) && window.block.len() < LONGEST_BLOCK;
                // The line that ends a traceback says what went wrong.
                if goes_on || block == Block::Indented {
                    window.block.push(unit);
                }
                if goes_on {
                    continue;
                }
                is_in_block = false;
                if block == Block::Indented {
                    block = Block::Line;
                    continue;
                }
                break;
            }
            if window.after.len() >= context || finding.block() == Block::Paragraph {
                break;
            }
            window.after.push(unit);
        }
        Ok(window)
    }

    /// All its lines, in order.
    pub(crate) fn into_units(self) -> impl Iterator<Item = Unit> {
        self.before.into_iter().chain(self.key).chain(self.block).chain(self.after)
    }
}

/// Whether a line after an error still belongs to it.
fn belongs(block: Block, line: &str) -> bool {
    let is_blank = line.trim().is_empty();
    match block {
        Block::Line => false,
        Block::Paragraph => !is_blank,
        Block::Indented => is_blank || line.starts_with([' ', '\t', '|', '>', '│']),
    }
}
