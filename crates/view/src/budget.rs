//! Budgets: how much a reader can take, in tokens, bytes and lines at once.

use crate::part::Notices;
use crate::tokens::count_tokens;

/// The most a view or a page may hold, its notices included. All limits hold at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Budget {
    /// Tokens, as [`count_tokens`] counts them.
    pub tokens: u64,
    /// Bytes of UTF-8.
    pub bytes: u64,
    /// Lines.
    pub lines: u64,
    /// Bytes of one line; the rest of it is cut and told.
    pub line_bytes: u64,
}

impl Default for Budget {
    fn default() -> Self {
        Self { tokens: 2_000, bytes: 50 * 1024, lines: 2_000, line_bytes: 2 * 1024 }
    }
}

impl Budget {
    /// No limit but the one on lines' lengths, which is lifted too.
    pub const UNLIMITED: Self =
        Self { tokens: u64::MAX, bytes: u64::MAX, lines: u64::MAX, line_bytes: u64::MAX };

    /// How much of the budget may go into notices.
    pub(crate) fn notices(&self) -> Notices {
        if self.bytes >= 1_024 && self.tokens >= 512 && self.lines >= 4 {
            Notices::Told
        } else if self.bytes >= 128 && self.tokens >= 96 && self.lines >= 3 {
            Notices::Short
        } else if self.bytes >= 48 && self.tokens >= 24 && self.lines >= 3 {
            Notices::Dots
        } else {
            Notices::Silent
        }
    }

    /// The longest line that is sure to fit into `percent` of the budget with its line end.
    pub(crate) fn longest_line(&self, percent: u64) -> usize {
        // In less room than a notice takes, one whole line is worth more than pieces of several.
        let is_small = matches!(self.notices(), Notices::Dots | Notices::Silent);
        let percent = if is_small { 100 } else { percent };
        let part = |whole: u64| (whole / 100).saturating_mul(percent) + whole % 100 * percent / 100;
        // No text has more tokens than bytes.
        let room = part(self.bytes).min(part(self.tokens)).saturating_sub(self.told());
        usize::try_from(room.min(self.line_bytes)).unwrap_or(usize::MAX)
    }

    /// Room for a line's end, the notice of its clamping, and its part of the view's own notices.
    fn told(&self) -> u64 {
        match self.notices() {
            Notices::Told => 128,
            Notices::Short => 24,
            Notices::Dots => 8,
            Notices::Silent => 1,
        }
    }
}

/// What some text takes of a budget.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Cost {
    pub(crate) tokens: u64,
    pub(crate) bytes: u64,
    pub(crate) lines: u64,
}

impl Cost {
    /// The cost of `text` with its line ends.
    pub(crate) fn of(text: &str) -> Self {
        Self {
            tokens: count_tokens(text),
            bytes: text.len() as u64,
            lines: memchr::memchr_iter(b'\n', text.as_bytes()).count() as u64,
        }
    }

    /// The cost of `text` in what `budget` limits: tokens take longest to count.
    pub(crate) fn within(text: &str, budget: &Budget) -> Self {
        if budget.tokens < u64::MAX {
            return Self::of(text);
        }
        let lines = memchr::memchr_iter(b'\n', text.as_bytes()).count() as u64;
        Self { tokens: 0, bytes: text.len() as u64, lines }
    }

    pub(crate) fn plus(self, other: Self) -> Self {
        Self {
            tokens: self.tokens.saturating_add(other.tokens),
            bytes: self.bytes.saturating_add(other.bytes),
            lines: self.lines.saturating_add(other.lines),
        }
    }

    /// The cost of `times` such things.
    pub(crate) fn times(self, times: u64) -> Self {
        Self { tokens: self.tokens * times, bytes: self.bytes * times, lines: self.lines * times }
    }
}

/// What is left of a budget.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Meter {
    left: Cost,
}

impl Meter {
    pub(crate) fn new(budget: &Budget) -> Self {
        let left = Cost { tokens: budget.tokens, bytes: budget.bytes, lines: budget.lines };
        Self { left }
    }

    /// A meter over `percent` of what is left here.
    pub(crate) fn share(&self, percent: u64) -> Self {
        let part = |whole: u64| (whole / 100).saturating_mul(percent) + whole % 100 * percent / 100;
        Self {
            left: Cost {
                tokens: part(self.left.tokens),
                bytes: part(self.left.bytes),
                lines: part(self.left.lines),
            },
        }
    }

    pub(crate) fn fits(&self, cost: Cost) -> bool {
        cost.tokens <= self.left.tokens
            && cost.bytes <= self.left.bytes
            && cost.lines <= self.left.lines
    }

    /// Takes `cost` if it fits.
    pub(crate) fn take(&mut self, cost: Cost) -> bool {
        let fits = self.fits(cost);
        if fits {
            self.spend(cost);
        }
        fits
    }

    /// Gives back what was taken and not needed.
    pub(crate) fn give_back(&mut self, cost: Cost) {
        self.left = self.left.plus(cost);
    }

    /// Takes `cost`, down to nothing.
    pub(crate) fn spend(&mut self, cost: Cost) {
        self.left.tokens = self.left.tokens.saturating_sub(cost.tokens);
        self.left.bytes = self.left.bytes.saturating_sub(cost.bytes);
        self.left.lines = self.left.lines.saturating_sub(cost.lines);
    }
}
