//! The book: pages that are made from the code, and the build of all of them.

use std::fs;
use std::process::Command;

use crate::ci;
use crate::failure::{Done, Failure};
use crate::workspace::{cargo, execute, has_program, root, say};

const MDBOOK: &str = "0.5.4";
/// The variable that makes the tests of the documents write what they would compare.
const WRITE: &str = "UMBO_WRITE_DOCUMENTS";

/// Writes the pages that come from the code, then builds the book.
pub(crate) fn run() -> Done {
    ci::have_nextest()?;
    let words = ["nextest", "run", "-p", "umbo", "--features", "umbo/failpoints", "-E"];
    let write = [&words[..], &["test(the_pages_of_the_dialects)"]].concat();
    execute(cargo(&write).env(WRITE, "1"))?;
    if !has_program("mdbook") {
        execute(&mut cargo(&["install", "mdbook", "--locked", "--version", MDBOOK]))?;
    }
    execute(Command::new("mdbook").args(["build", "docs"]).current_dir(root()))?;
    say("the book is in target/book");
    Ok(())
}

/// Writes a page of the manual for every verb.
pub(crate) fn man(directory: &str) -> Done {
    fs::create_dir_all(directory).map_err(Failure::at(directory))?;
    execute(&mut cargo(&["run", "--quiet", "--package", "umbo", "--", "man", directory]))
}

/// Packs every crate as it would be published.
pub(crate) fn packages() -> Done {
    let words = ["package", "--workspace", "--exclude", "xtask", "--no-verify", "--allow-dirty"];
    execute(cargo(&words).arg("--quiet"))
}
