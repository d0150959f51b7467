//! Walking through a log unit by unit, forwards or backwards, reading only as far as asked.

use std::collections::VecDeque;
use std::io;
use std::ops::Range;

use crate::minimize::Folder;
use crate::reader::{Reader, Unit};
use crate::slab::BLOCK;
use crate::source::Source;

/// The first read of a walk; later ones are larger, because the walk turned out to be long.
const FIRST_STEP: u64 = 4 * 1024;

/// One step of a walk.
#[derive(Debug)]
pub(crate) enum Step {
    Unit(Unit),
    /// Bytes that the log did not keep.
    Gap(Range<u64>),
}

/// Which way to walk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Direction {
    Forwards,
    Backwards,
}

/// A walk over the units of a reader's scope.
#[derive(Debug)]
pub(crate) struct Walk<'r, 'm, S> {
    reader: &'r Reader<'m, S>,
    direction: Direction,
    longest: usize,
    /// What is still to be read.
    left: Range<u64>,
    step: u64,
    ready: VecDeque<Step>,
    folder: Option<Folder>,
    read: u64,
}

impl<'r, 'm, S: Source> Walk<'r, 'm, S> {
    /// A walk over `range`, whose ends are borders or ends of the scope.
    pub(crate) fn new(
        reader: &'r Reader<'m, S>,
        direction: Direction,
        range: Range<u64>,
        longest: usize,
    ) -> Self {
        let ready = VecDeque::new();
        Self {
            reader,
            direction,
            longest,
            left: range,
            step: FIRST_STEP,
            ready,
            folder: None,
            read: 0,
        }
    }

    /// Folds the noise of known tools on the way.
    pub(crate) fn folding(mut self) -> Self {
        self.folder = Some(Folder::new(self.direction == Direction::Backwards));
        self
    }

    /// Bytes of the log that were read so far.
    pub(crate) fn read(&self) -> u64 {
        self.read
    }

    /// The next step, or nothing at the end.
    pub(crate) fn next(&mut self) -> io::Result<Option<Step>> {
        loop {
            if let Some(step) = self.ready.pop_front() {
                return Ok(Some(step));
            }
            if self.left.start >= self.left.end {
                let rest = self.folder.as_mut().map(Folder::finish).unwrap_or_default();
                self.ready.extend(rest.into_iter().map(Step::Unit));
                return Ok(self.ready.pop_front());
            }
            match self.direction {
                Direction::Forwards => self.read_forwards()?,
                Direction::Backwards => self.read_backwards()?,
            }
            self.step = (self.step * 4).min(BLOCK);
        }
    }

    fn read_forwards(&mut self) -> io::Result<()> {
        let at = self.left.start;
        let span = self.reader.scope.span(at);
        if at < span.start {
            let end = span.start.min(self.left.end);
            self.push_gap(at..end);
            self.left.start = end;
            return Ok(());
        }
        let stop = span.end.min(self.left.end);
        let target = (at + self.step).min(stop);
        let to = self.reader.scope.border_after(&span, target)?.min(stop);
        let units = self.reader.units(&span, at..to, self.longest)?;
        self.read += to - at;
        self.left.start = to;
        for unit in units {
            self.push_unit(unit);
        }
        Ok(())
    }

    fn read_backwards(&mut self) -> io::Result<()> {
        let at = self.left.end;
        let span = self.reader.scope.span_before(at);
        if at > span.end {
            let start = span.end.max(self.left.start);
            self.push_gap(start..at);
            self.left.end = start;
            return Ok(());
        }
        let stop = span.start.max(self.left.start);
        let target = at.saturating_sub(self.step).max(stop);
        let from = self.reader.scope.border_before(&span, target)?.max(stop);
        let units = self.reader.units(&span, from..at, self.longest)?;
        self.read += at - from;
        self.left.end = from;
        for unit in units.into_iter().rev() {
            self.push_unit(unit);
        }
        Ok(())
    }

    fn push_unit(&mut self, unit: Unit) {
        match &mut self.folder {
            Some(folder) => self.ready.extend(folder.push(unit).into_iter().map(Step::Unit)),
            None => self.ready.push_back(Step::Unit(unit)),
        }
    }

    fn push_gap(&mut self, range: Range<u64>) {
        if let Some(folder) = &mut self.folder {
            self.ready.extend(folder.finish().into_iter().map(Step::Unit));
        }
        self.ready.push_back(Step::Gap(range));
    }
}
