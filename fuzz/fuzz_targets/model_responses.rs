//! Any bytes as a stream of OpenAI Responses: see `model/mod.rs`.

#![no_main]

mod model;

use libfuzzer_sys::fuzz_target;
use umbo_model::WireFormat;

fuzz_target!(|data: &[u8]| model::check(WireFormat::Responses, data));
