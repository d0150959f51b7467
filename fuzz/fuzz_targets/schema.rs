//! Any JSON as a schema and any JSON as a value: the check ends, and what it says fits on a screen.

#![no_main]

use libfuzzer_sys::fuzz_target;
use serde_json::Value;
use umbo_tools::check;

fuzz_target!(|data: &[u8]| {
    // Two documents, one after the other.
    let mut documents = serde_json::Deserializer::from_slice(data).into_iter::<Value>();
    let (Some(Ok(schema)), Some(Ok(value))) = (documents.next(), documents.next()) else { return };
    if let Err(problem) = check(&schema, &value) {
        let said = problem.to_string();
        assert!(said.contains("accepted"), "{said}");
        assert!(problem.given.chars().count() <= 300, "{} given", problem.given.len());
    }
    // Whatever the schema, a value fits the schema that lists it.
    let listing = serde_json::json!({"enum": [value.clone()]});
    assert_eq!(check(&listing, &value), Ok(()));
});
