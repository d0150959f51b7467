//! Any bytes as a stream of Gemini: see `model/mod.rs`.

#![no_main]

mod model;

use libfuzzer_sys::fuzz_target;
use umbo_model::WireFormat;

fuzz_target!(|data: &[u8]| model::check(WireFormat::Gemini, data));
