//! Any text as an edit of anchors and as a patch: it is understood or refused, and a refusal says a
//! line of the input. What it does to a file is all or nothing.

#![no_main]

use libfuzzer_sys::fuzz_target;
use umbo_files::Error;
use umbo_files::edit::parse;

fuzz_target!(|data: &[u8]| {
    let Ok(text) = std::str::from_utf8(data) else { return };
    for parsed in [parse::hashline(text), parse::patch(text)] {
        match parsed {
            Ok(files) => assert!(files > 0),
            Err(Error::BadEdit { line, .. }) => assert!(line <= text.split('\n').count() + 1),
            Err(other) => panic!("{other}"),
        }
    }
});
