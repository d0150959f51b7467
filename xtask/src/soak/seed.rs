//! Choices that can be made again: a stream of numbers from one (splitmix64).

use std::fmt;
use std::time::{SystemTime, UNIX_EPOCH};

/// A stream of choices.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Seed(u64);

impl Seed {
    pub(crate) fn new(number: u64) -> Self {
        Self(number)
    }

    /// One that nobody has chosen.
    pub(super) fn now() -> Self {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Self(u64::from(since.subsec_nanos()) ^ (since.as_secs() << 20))
    }

    /// A stream of its own for a worker.
    pub(super) fn fork(self, number: u64) -> Self {
        let mut fork = Self(self.0 ^ number.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        fork.next();
        fork
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `bound`.
    pub(super) fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound.max(1)
    }

    /// One of several.
    pub(super) fn of<T: Copy>(&mut self, choices: &[T]) -> Option<T> {
        let number = usize::try_from(self.below(choices.len() as u64)).ok()?;
        choices.get(number).copied()
    }
}

impl fmt::Display for Seed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_seed_makes_the_same_choices() {
        let choices = |mut seed: Seed| -> Vec<u64> { (0..20).map(|_| seed.below(100)).collect() };
        assert_eq!(choices(Seed::new(7)), choices(Seed::new(7)));
        assert_ne!(choices(Seed::new(7)), choices(Seed::new(8)));
        assert_ne!(choices(Seed::new(7).fork(1)), choices(Seed::new(7).fork(2)));
        assert_eq!(Seed::new(7).fork(3).to_string(), Seed::new(7).fork(3).to_string());
    }
}
