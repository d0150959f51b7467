//! SHA-256 as text, over bytes or over a list of fields that cannot run into each other.

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

/// A SHA-256 in lower-case hex.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Digest(String);

impl Digest {
    /// The digest of some bytes.
    pub fn of(bytes: &[u8]) -> Self {
        Self(hex(&Sha256::digest(bytes)))
    }

    /// The digest of what a reader gives.
    pub fn of_reader(mut reader: impl std::io::Read) -> std::io::Result<Self> {
        let mut hash = Sha256::new();
        // Most of what is read is short: a larger buffer would take longer to clear than to fill.
        let mut few = [0; 512];
        loop {
            match take_part(&mut hash, &mut reader, &mut few)? {
                0 => break,
                count if count < few.len() => {}
                _ => {
                    take_rest(&mut hash, &mut reader)?;
                    break;
                }
            }
        }
        Ok(Self(hex(&hash.finalize())))
    }

    /// The digest before anything: 64 zeros.
    pub fn zero() -> Self {
        Self("0".repeat(64))
    }

    /// Its 64 characters.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl std::fmt::Display for Digest {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

/// Adds what one reading gives; how much that was.
fn take_part(
    hash: &mut Sha256,
    reader: &mut impl std::io::Read,
    buffer: &mut [u8],
) -> std::io::Result<usize> {
    loop {
        match reader.read(buffer) {
            Ok(count) => {
                hash.update(buffer.get(..count).unwrap_or_default());
                return Ok(count);
            }
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

#[inline(never)]
fn take_rest(hash: &mut Sha256, reader: &mut impl std::io::Read) -> std::io::Result<()> {
    let mut buffer = [0; 16 << 10];
    while take_part(hash, reader, &mut buffer)? > 0 {}
    Ok(())
}

/// A digest over fields, each with its length in front, so that no two lists look the same.
#[derive(Default)]
pub(crate) struct Fields(Sha256);

impl Fields {
    pub(crate) fn add(&mut self, field: impl AsRef<[u8]>) -> &mut Self {
        let field = field.as_ref();
        self.0.update((field.len() as u64).to_be_bytes());
        self.0.update(field);
        self
    }

    pub(crate) fn finish(self) -> Digest {
        Digest(hex(&self.0.finalize()))
    }
}

pub(crate) fn hex(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let digit = |value: u8| DIGITS[usize::from(value & 15)];
    let mut text = Vec::with_capacity(2 * bytes.len());
    for byte in bytes {
        text.extend_from_slice(&[digit(byte >> 4), digit(*byte)]);
    }
    String::from_utf8(text).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_sha_256() {
        let empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
        assert_eq!(Digest::of(b"").as_str(), empty);
        for length in [0, 3, 511, 512, 513, 1024, 17_000, 40_000] {
            let bytes = vec![b'x'; length];
            assert_eq!(Digest::of_reader(&bytes[..]).unwrap(), Digest::of(&bytes));
        }
    }

    #[test]
    fn fields_do_not_run_into_each_other() {
        let of = |fields: &[&str]| {
            let mut digest = Fields::default();
            for field in fields {
                digest.add(field);
            }
            digest.finish()
        };
        assert_ne!(of(&["ab", "c"]), of(&["a", "bc"]));
        assert_ne!(of(&["a"]), of(&["a", ""]));
    }
}
