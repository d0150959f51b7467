//! Finds the lines of each program in `looks.txt`, so that no process has to read all of it.

use std::collections::{BTreeMap, BTreeSet};
use std::error::Error;
use std::fmt::Write as _;
use std::path::Path;
use std::{env, fs};

#[path = "src/table/lines.rs"]
mod lines;

const TEXT: &str = "src/table/looks.txt";

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed={TEXT}");
    println!("cargo::rerun-if-changed=src/table/lines.rs");
    let text = fs::read_to_string(TEXT)?;
    let mut programs: BTreeMap<&str, BTreeSet<usize>> = BTreeMap::new();
    let lines = text.lines().map(str::trim);
    let lines: Vec<&str> =
        lines.filter(|line| !line.is_empty() && !line.starts_with('#')).collect();
    for (at, line) in lines.iter().enumerate() {
        let (head, _, _) =
            lines::head(line).ok_or_else(|| format!("{TEXT}: not a line: {line}"))?;
        for name in head.split(", ") {
            programs.entry(lines::program(name)).or_default().insert(at);
        }
    }
    let (names, places): (Vec<_>, Vec<_>) = programs.into_iter().unzip();
    let places: Vec<Vec<_>> = places.into_iter().map(Vec::from_iter).collect();
    let mut made = String::new();
    writeln!(
        made,
        "/// All lines.\npub(super) static LINES: [&str; {}] = {lines:?};",
        lines.len()
    )?;
    writeln!(made, "/// All programs, sorted.\nstatic PROGRAMS: [&str; COUNT] = {names:?};")?;
    writeln!(made, "/// Which lines each of them has.\nstatic PLACES: [&[usize]; COUNT] = [")?;
    for place in &places {
        writeln!(made, "    &{place:?},")?;
    }
    writeln!(
        made,
        "];\n/// How many there are.\npub(super) const COUNT: usize = {};",
        names.len()
    )?;
    fs::write(Path::new(&env::var("OUT_DIR")?).join("looks.rs"), made)?;
    Ok(())
}
