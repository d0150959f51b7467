//! The signing key: 32 random bytes in a file that only its owner may read, made on first use.
//!
//! It signs approvals, trust and the audit's head. Every signature names what it is for, so that one
//! kind of file cannot be passed off as another. The key never leaves this module.

use std::fs::{File, OpenOptions};
use std::io::Read;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::Path;
use std::sync::OnceLock;

use hmac::{Hmac, KeyInit, Mac};
use rustix::fs::OFlags;
use rustix::rand::{GetRandomFlags, getrandom};
use sha2::Sha256;

use crate::confirmed::confirm_all;
use crate::digest::hex;
use crate::error::{Error, Result};
use crate::store::{make_directory, publish};

const KEY_BYTES: usize = 32;

/// The key of one user.
#[derive(Clone)]
pub struct Key {
    bytes: [u8; KEY_BYTES],
    /// For signing: most processes that read a key check no signature and make none.
    prepared: OnceLock<Hmac<Sha256>>,
}

impl std::fmt::Debug for Key {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Key")
    }
}

impl Key {
    /// The key in a directory, if there is one.
    pub(crate) fn existing(directory: &Path) -> Result<Option<Self>> {
        let path = directory.join("key");
        if path.symlink_metadata().is_err() {
            return Ok(None);
        }
        Self::read(&path).map(Some)
    }

    /// The key in umbo's configuration directory, made if there is none: the user's files count from then
    /// on as they are at that time, or as a person confirms them.
    pub fn open(config: &Path) -> Result<Self> {
        let path = config.join("key");
        if !path.exists() {
            make_directory(config)?;
            let mut fresh = [0; KEY_BYTES];
            fill(&mut fresh).map_err(Error::file("make the key", &path))?;
            match publish(&path, &fresh) {
                // Another process was first; its key counts.
                Err(Error::File { source, .. })
                    if source.kind() == std::io::ErrorKind::AlreadyExists => {}
                other => other?,
            }
            let key = Self::read(&path)?;
            confirm_all(config, &key);
            return Ok(key);
        }
        Self::read(&path)
    }

    fn read(path: &Path) -> Result<Self> {
        let mut file = open_plainly(path).map_err(Error::file("open the key", path))?;
        let wrong = |problem| Error::Key { path: path.to_owned(), problem };
        let facts = file.metadata().map_err(Error::file("read the key", path))?;
        if !facts.is_file() || facts.uid() != rustix::process::geteuid().as_raw() {
            return Err(wrong("is not a file of yours; remove it, a new one is made"));
        }
        if facts.mode() & 0o077 != 0 {
            return Err(wrong("can be read by others; remove it, a new one is made"));
        }
        let mut bytes = Vec::with_capacity(KEY_BYTES + 1);
        Read::by_ref(&mut file)
            .take(KEY_BYTES as u64 + 1)
            .read_to_end(&mut bytes)
            .map_err(Error::file("read the key", path))?;
        let damaged = || wrong("is damaged; remove it, a new one is made");
        let bytes: [u8; KEY_BYTES] = bytes.try_into().map_err(|_| damaged())?;
        Ok(Self { bytes, prepared: OnceLock::new() })
    }

    fn mac(&self, purpose: &str, parts: &[&[u8]]) -> Hmac<Sha256> {
        let prepare = || {
            // A key that is shorter than a block is one that ends in zeros.
            let mut block = hmac::digest::Key::<Hmac<Sha256>>::default();
            block[..KEY_BYTES].copy_from_slice(&self.bytes);
            Hmac::new(&block)
        };
        let mut mac = self.prepared.get_or_init(prepare).clone();
        for part in std::iter::once(purpose.as_bytes()).chain(parts.iter().copied()) {
            mac.update(&(part.len() as u64).to_be_bytes());
            mac.update(part);
        }
        mac
    }

    /// Encrypts bytes for one purpose; text that only [`Key::decrypt`] with the same key reads. Each byte is
    /// mixed with one of a keyed stream that begins elsewhere each time, and the whole is signed.
    pub fn encrypt(&self, purpose: &str, plain: &[u8]) -> Result<String> {
        let mut start = [0; KEY_BYTES];
        let failed = Error::file("draw random bytes from", "/dev/urandom");
        fill(&mut start).map_err(failed)?;
        let mut text = hex(&start);
        text.push_str(&hex(&self.mixed(purpose, &start, plain)));
        let signature = self.sign(purpose, &[text.as_bytes()]);
        text.push_str(&signature);
        Ok(text)
    }

    /// The bytes that were encrypted; `None` if the text is not what [`Key::encrypt`] made.
    pub fn decrypt(&self, purpose: &str, text: &str) -> Option<Vec<u8>> {
        let (text, signature) = text.split_at_checked(text.len().checked_sub(2 * KEY_BYTES)?)?;
        if !self.verify(purpose, &[text.as_bytes()], signature) {
            return None;
        }
        let (start, mixed) = text.split_at_checked(2 * KEY_BYTES)?;
        Some(self.mixed(purpose, &unhex(start)?, &unhex(mixed)?))
    }

    /// Bytes mixed with a keyed stream. Done twice it undoes itself.
    fn mixed(&self, purpose: &str, start: &[u8], bytes: &[u8]) -> Vec<u8> {
        let block = |number: u64| {
            let parts = [b"stream".as_slice(), start, &number.to_be_bytes()];
            self.mac(purpose, &parts).finalize().into_bytes()
        };
        let chunks = (0..).zip(bytes.chunks(KEY_BYTES));
        chunks
            .flat_map(|(number, chunk)| {
                let stream = block(number);
                chunk.iter().zip(stream).map(|(byte, other)| byte ^ other).collect::<Vec<u8>>()
            })
            .collect()
    }

    /// The signature of `bytes` for one purpose.
    pub(crate) fn sign(&self, purpose: &str, parts: &[&[u8]]) -> String {
        hex(&self.mac(purpose, parts).finalize().into_bytes())
    }

    /// Whether a signature is right. Takes the same time wherever it is wrong.
    pub(crate) fn verify(&self, purpose: &str, parts: &[&[u8]], signature: &str) -> bool {
        unhex(signature).is_some_and(|bytes| self.mac(purpose, parts).verify_slice(&bytes).is_ok())
    }
}

/// Opens a file, but no link and nothing that would make us wait.
pub(crate) fn open_plainly(path: &Path) -> std::io::Result<File> {
    let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    #[expect(clippy::cast_possible_wrap, reason = "flags are bits")]
    OpenOptions::new().read(true).custom_flags(flags.bits() as i32).open(path)
}

fn fill(bytes: &mut [u8; KEY_BYTES]) -> std::io::Result<()> {
    let mut filled = 0;
    while filled < KEY_BYTES {
        filled += getrandom(&mut bytes[filled..], GetRandomFlags::empty())?;
    }
    Ok(())
}

fn unhex(text: &str) -> Option<Vec<u8>> {
    if !text.len().is_multiple_of(2) || !text.is_ascii() {
        return None;
    }
    let nibble = |byte: u8| match byte {
        b'0'..=b'9' => Some(byte - b'0'),
        b'a'..=b'f' => Some(byte - b'a' + 10),
        _ => None,
    };
    text.as_bytes().chunks(2).map(|pair| Some(nibble(pair[0])? << 4 | nibble(pair[1])?)).collect()
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn a_key_is_made_once_for_its_owner_only() {
        let directory = tempfile::tempdir().unwrap();
        let config = directory.path().join("umbo");
        let signature = Key::open(&config).unwrap().sign("test", &[b"x"]);
        let again = Key::open(&config).unwrap();
        assert!(again.verify("test", &[b"x"], &signature));
        assert!(!again.verify("other", &[b"x"], &signature), "a purpose is part of it");
        assert!(!again.verify("test", &[b"x", b""], &signature));
        assert!(!again.verify("test", &[b"x"], "zz"));
        let mode = fs::metadata(config.join("key")).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }

    #[test]
    fn a_signature_is_what_hmac_elsewhere_makes_of_the_key() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("key");
        let bytes: Vec<u8> = (0..32).collect();
        fs::write(&path, bytes).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
        // Python's, of each part behind its length in eight bytes.
        assert_eq!(
            Key::read(&path).unwrap().sign("approval", &[b"ab", b""]),
            "bc0e72a9093e82753def2a18f574794e32b906712d0fdae2e77ef12c4b427e9f"
        );
    }

    #[test]
    fn a_key_that_others_may_read_or_that_is_a_link_is_refused() {
        let directory = tempfile::tempdir().unwrap();
        let config = directory.path();
        Key::open(config).unwrap();
        fs::set_permissions(config.join("key"), fs::Permissions::from_mode(0o644)).unwrap();
        assert!(matches!(Key::open(config), Err(Error::Key { .. })));
        fs::set_permissions(config.join("key"), fs::Permissions::from_mode(0o600)).unwrap();
        fs::rename(config.join("key"), config.join("elsewhere")).unwrap();
        std::os::unix::fs::symlink("elsewhere", config.join("key")).unwrap();
        assert!(Key::open(config).is_err());
    }

    #[test]
    fn what_is_encrypted_comes_back_with_the_same_key_and_purpose_alone() {
        let (one, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let (key, stranger) = (Key::open(one.path()).unwrap(), Key::open(other.path()).unwrap());
        for length in [0, 1, 31, 32, 33, 1000] {
            let plain: Vec<u8> = (0..length).map(|n| u8::try_from(n % 251).unwrap()).collect();
            let text = key.encrypt("a", &plain).unwrap();
            assert_eq!(key.decrypt("a", &text).as_ref(), Some(&plain));
            assert_ne!(key.encrypt("a", &plain).unwrap(), text, "no two are the same");
            assert!(length < 8 || !text.contains(&hex(&plain[..8])));
            assert_eq!(key.decrypt("b", &text), None);
            assert_eq!(stranger.decrypt("a", &text), None);
            let mut changed = text.clone().into_bytes();
            changed[70.min(text.len() - 1)] ^= 1;
            assert_eq!(key.decrypt("a", &String::from_utf8_lossy(&changed)), None);
        }
        assert_eq!(key.decrypt("a", ""), None);
        assert_eq!(key.decrypt("a", "äöü"), None);
    }
}
