//! FNV-1a: a hash that is stored or named, and so must be the same in every build. It tells apart
//! what is different by accident, not what somebody made alike on purpose.

/// A hash in the making.
pub(crate) struct Fnv(u64);

impl Fnv {
    pub(crate) fn new() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }

    /// Takes more bytes in.
    pub(crate) fn add(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
    }

    /// As text: 16 hexadecimal digits.
    pub(crate) fn hex(&self) -> String {
        format!("{:016x}", self.0)
    }

    /// The hash of some bytes.
    pub(crate) fn number(bytes: &[u8]) -> u64 {
        let mut hash = Self::new();
        hash.add(bytes);
        hash.0
    }

    /// The hash of some bytes, as text.
    pub(crate) fn of(bytes: &[u8]) -> String {
        let mut hash = Self::new();
        hash.add(bytes);
        hash.hex()
    }
}
