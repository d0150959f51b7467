//! Any text as a path with a selector: what is split off was at its end, and what is left has the
//! same selector only if it was there twice. Escapes are read as they are written.

#![no_main]

use libfuzzer_sys::fuzz_target;
use umbo_files::anchor::Anchor;
use umbo_files::{paths, select};

fuzz_target!(|data: &[u8]| {
    assert_eq!(paths::unescape(&paths::escape_bytes(data)).as_deref(), Some(data));
    let Ok(text) = std::str::from_utf8(data) else { return };
    if let Ok((path, selector)) = select::split(text) {
        assert!(text.starts_with(path));
        assert_eq!(path.len() == text.len(), selector == select::Selector::default());
        if let Some(range) = selector.lines {
            assert!(range.start >= 1 && range.end.is_none_or(|end| end >= range.start));
        }
    }
    if let Some(anchor) = Anchor::parse(text) {
        assert_eq!(Anchor::parse(&anchor.to_string()), Some(anchor));
    }
});
