//! The vocabulary as a filter of hashes: a set that has every entry and, by chance, about one in
//! two thousand other words.

/// One bit for each of 2^22 hashes.
static FILTER: &[u8] = include_bytes!("o200k.filter");
const BITS: u64 = 1 << 22;
/// How many bits stand for an entry.
const PROBES: u64 = 5;
/// Longer entries are runs of blanks and signs; they are rare, and left out.
pub(super) const LONGEST_ENTRY: usize = 128;

/// The hash of the beginning of a piece, one byte longer with each push.
#[derive(Clone, Copy)]
pub(super) struct Prefix(u64);

impl Default for Prefix {
    fn default() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }
}

impl Prefix {
    pub(super) fn push(&mut self, byte: u8) {
        self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
    }

    pub(super) fn is_entry(self) -> bool {
        self.probes().all(|bit| {
            let byte = usize::try_from(bit / 8).ok().and_then(|index| FILTER.get(index));
            byte.is_some_and(|byte| byte >> (bit % 8) & 1 == 1)
        })
    }

    /// The bits of this hash.
    fn probes(self) -> impl Iterator<Item = u64> {
        let mixed = (self.0 ^ (self.0 >> 32)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let step = (mixed >> 32) | 1;
        (0..PROBES).map(move |probe| mixed.wrapping_add(probe.wrapping_mul(step)) % BITS)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The filter of a vocabulary.
    fn filter<'t>(entries: impl Iterator<Item = &'t [u8]>) -> Vec<u8> {
        let mut filter = vec![0; usize::try_from(BITS / 8).unwrap()];
        for entry in entries.filter(|entry| (2..=LONGEST_ENTRY).contains(&entry.len())) {
            let mut prefix = Prefix::default();
            for &byte in entry {
                prefix.push(byte);
            }
            for bit in prefix.probes() {
                filter[usize::try_from(bit / 8).unwrap()] |= 1 << (bit % 8);
            }
        }
        filter
    }

    #[test]
    fn the_file_is_the_filter_of_the_vocabulary() {
        let encoder = &bpe_openai::o200k_base().bpe;
        let count = u32::try_from(encoder.num_tokens()).unwrap();
        let expected = filter((0..count).map(|token| encoder.token_bytes(token)));
        if FILTER != expected {
            let path = std::env::temp_dir().join("o200k.filter");
            std::fs::write(&path, &expected).unwrap();
            panic!("the filter differs; the right one was written to {}", path.display());
        }
    }
}
