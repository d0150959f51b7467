//! Tokens: how many a text costs its reader.
//!
//! By default a stated estimate: it walks the text once, the way byte-pair encoders cut it (words,
//! digits, runs of punctuation, white space), and charges each piece what encoders are seen to
//! need at worst. It leans to the high side, because a budget must hold: digits cost one each,
//! characters outside of ASCII one per byte, letters that seldom stand together cost extra. Tests
//! hold it against three real vocabularies. It never exceeds the number of bytes.
//!
//! With the feature `exact-tokens` the count comes from the o200k vocabulary instead.

/// Pairs of letters that are common in English and code, as one set of followers for each letter.
/// Encoders have learnt these; where a word has other pairs it falls into more tokens.
const COMMON_PAIRS: [u32; 26] = [
    0x1fe_bd6e, 0x116_4b15, 0x01e_ddb5, 0x11e_4959, 0x1ef_fd7f, 0x01e_7979, 0x01e_7991, 0x01a_4111,
    0x2ae_fc7f, 0x004_4010, 0x004_0111, 0x11c_c939, 0x01c_d913, 0x17c_ed7d, 0x0fe_fd7f, 0x11e_c991,
    0x010_0000, 0x17e_7d7d, 0x11e_ddd5, 0x1de_d9bd, 0x00e_f97f, 0x000_4111, 0x006_6191, 0x008_8115,
    0x04c_e840, 0x000_0010,
];

/// How [`count_tokens`] counts, for callers that state it.
pub const TOKEN_METHOD: &str =
    if cfg!(feature = "exact-tokens") { "o200k" } else { "estimate, high side" };

/// The tokens of a text: an upper estimate, or exact with the feature `exact-tokens`.
#[cfg(feature = "exact-tokens")]
pub fn count_tokens(text: &str) -> u64 {
    bpe_openai::o200k_base().count(text) as u64
}

/// The tokens of a text: an upper estimate, or exact with the feature `exact-tokens`.
#[cfg(not(feature = "exact-tokens"))]
pub fn count_tokens(text: &str) -> u64 {
    estimate_tokens(text)
}

/// The estimate, whatever [`count_tokens`] uses.
pub fn estimate_tokens(text: &str) -> u64 {
    let bytes = text.as_bytes();
    let mut tokens = 0;
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        let rest = &bytes[at..];
        let (length, cost) = match byte {
            b'A'..=b'Z' | b'a'..=b'z' => word(rest),
            b' ' | b'\t' => blanks(rest),
            b'0'..=b'9' | b'\n' | 0x80.. => (1, 1),
            _ => punctuation(rest),
        };
        tokens += cost;
        at += length;
    }
    tokens.min(bytes.len() as u64)
}

/// A run of letters: its length and cost.
fn word(bytes: &[u8]) -> (usize, u64) {
    let mut length = 1;
    let mut quarters = 4_u64;
    while let Some(&next) = bytes.get(length).filter(|next| next.is_ascii_alphabetic()) {
        let previous = bytes[length - 1];
        quarters += match (previous.is_ascii_uppercase(), next.is_ascii_uppercase()) {
            // A capital inside a word starts a new piece.
            (false, true) => 4,
            (true, true) => 3,
            _ if is_common(previous, next) => 1,
            _ => 4,
        };
        length += 1;
    }
    (length, quarters / 4)
}

fn is_common(first: u8, second: u8) -> bool {
    let row = usize::from(first.to_ascii_lowercase() - b'a');
    let column = second.to_ascii_lowercase() - b'a';
    COMMON_PAIRS[row] >> column & 1 == 1
}

/// A run of spaces or tabs; one space belongs to the word after it.
fn blanks(bytes: &[u8]) -> (usize, u64) {
    let length = bytes.iter().take_while(|&&b| b == bytes[0]).count();
    let next = bytes.get(length).copied().unwrap_or_default();
    let free = bytes[0] == b' ' && length == 1 && next.is_ascii_alphabetic();
    // The last of several spaces goes with a word or a sign, never with a number.
    let apart = u64::from(length > 1 && next.is_ascii_digit());
    (length, if free { 0 } else { 1 + apart + length as u64 / 16 })
}

/// Punctuation; the same sign many times over is cheap, the more so if it draws lines.
fn punctuation(bytes: &[u8]) -> (usize, u64) {
    let length = bytes.iter().take_while(|&&b| b == bytes[0]).count();
    let together = if b"=-_*#~.+/\\|<>!?:;,@$%^()".contains(&bytes[0]) { 4 } else { 2 };
    (length, if length < 4 { length as u64 } else { 2 + length as u64 / together })
}
