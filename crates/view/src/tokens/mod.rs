//! Tokens: how many a text costs its reader.
//!
//! By default a stated estimate of what the o200k vocabulary makes of a text. The text is cut into
//! pieces as that encoder cuts it (words with the sign before them, up to three digits, runs of
//! punctuation, white space), and each piece is covered by the longest entries of the vocabulary,
//! from the left. Which words are entries is known from a filter of their hashes (`o200k.filter`,
//! 512 KiB), so that nothing has to be loaded. Byte-pair merging covers some words differently;
//! over a whole text the two agree within a few percent. The estimate never exceeds the number of
//! bytes.
//!
//! With the feature `exact-tokens` the count comes from the real encoder instead.

mod filter;
mod pieces;

use filter::Prefix;
use pieces::Pieces;

/// How [`count_tokens`] counts, for callers that state it.
pub const TOKEN_METHOD: &str =
    if cfg!(feature = "exact-tokens") { "o200k" } else { "estimate of o200k" };

/// The tokens of a text: an estimate, or exact with the feature `exact-tokens`.
#[cfg(feature = "exact-tokens")]
pub fn count_tokens(text: &str) -> u64 {
    bpe_openai::o200k_base().count(text) as u64
}

/// The tokens of a text: an estimate, or exact with the feature `exact-tokens`.
#[cfg(not(feature = "exact-tokens"))]
pub fn count_tokens(text: &str) -> u64 {
    estimate_tokens(text)
}

/// The estimate, whatever [`count_tokens`] uses.
pub fn estimate_tokens(text: &str) -> u64 {
    Pieces::new(text).map(|piece| cover(piece.as_bytes())).sum()
}

/// A longer entry is looked for so many bytes further, or twice as far as the one that was found:
/// entries for runs of a sign double.
const LOOK_AHEAD: usize = 8;

/// How many entries of the vocabulary cover a piece, each as long as can be.
fn cover(mut piece: &[u8]) -> u64 {
    let mut tokens = 0;
    while !piece.is_empty() {
        let mut prefix = Prefix::default();
        // Any single byte is an entry.
        let mut longest = 1;
        for (index, &byte) in piece.iter().take(filter::LONGEST_ENTRY).enumerate() {
            prefix.push(byte);
            if index > 0 && prefix.is_entry() {
                longest = index + 1;
            } else if index > longest + longest.max(LOOK_AHEAD) {
                break;
            }
        }
        piece = &piece[longest..];
        tokens += 1;
    }
    tokens
}
