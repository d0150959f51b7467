//! The book: pages that are made from the code, and the build of all of them.

use std::fs;
use std::path::Path;
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
    let pages = check_links(&root().join("target/book"))?;
    say(format!(
        "the book is in target/book: {pages} pages, and every link in them leads somewhere"
    ));
    Ok(())
}

/// Looks for links of the built book that lead nowhere; how many pages there are.
fn check_links(book: &Path) -> Done<usize> {
    let mut pages = Vec::new();
    let mut places = vec![book.to_owned()];
    while let Some(place) = places.pop() {
        for entry in fs::read_dir(&place).map_err(Failure::at("the book"))?.flatten() {
            let path = entry.path();
            if path.is_dir() {
                places.push(path);
            } else if path.extension().is_some_and(|end| end == "html") {
                pages.push(path);
            }
        }
    }
    let mut broken = Vec::new();
    for page in &pages {
        // It is shown at addresses that are not known.
        if page.file_name().is_some_and(|name| name == "404.html") {
            continue;
        }
        let text = fs::read_to_string(page).map_err(Failure::at("a page"))?;
        for link in links(&text) {
            let (file, anchor) = link.split_once('#').unwrap_or((link, ""));
            let target = match file {
                "" => page.clone(),
                file => page.parent().unwrap_or(book).join(file),
            };
            // What leaves the book leads into the repository, where its pages are.
            let below =
                page.strip_prefix(book).ok().and_then(Path::parent).unwrap_or(Path::new(""));
            let is_outside =
                file.starts_with("../") && root().join("docs").join(below).join(file).exists();
            let is_inside = target.exists() && (anchor.is_empty() || has_anchor(&target, anchor));
            let is_there = is_outside || is_inside;
            if !is_there {
                broken.push(format!("{}: {link}", page.display()));
            }
        }
    }
    if broken.is_empty() { Ok(pages.len()) } else { Err(Failure::new(broken.join("\n"))) }
}

/// The links and pictures of a page that are in the book.
fn links(page: &str) -> impl Iterator<Item = &str> {
    let ends = page.split("href=\"").skip(1).chain(page.split("src=\"").skip(1));
    ends.filter_map(|rest| rest.split('"').next())
        .filter(|link| !link.contains("://") && !link.starts_with("data:") && !link.is_empty())
}

fn has_anchor(page: &Path, anchor: &str) -> bool {
    let text = fs::read_to_string(page).unwrap_or_default();
    text.contains(&format!("id=\"{anchor}\"")) || text.contains(&format!("name=\"{anchor}\""))
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
