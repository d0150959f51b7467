//! Which functions lie together in the program: those of a start, of a supervisor and of a call over MCP, which
//! are a tenth of all of it. Scattered, each brings a page of its own into memory, and what a call runs through
//! is in no cache.
//!
//! What runs is seen by running it (`order.c`): each function once in each process. Those of a supervisor come before
//! those of its caller, for a command waits for it. The linker script made of them (`crates/cli/first.ld`) is given
//! to the linker by `crates/cli/build.rs`; names that are not there any more do no harm.
//!
//! Names end with a hash that changes with each compiler and each dependency, so a pattern takes its place where it
//! fits nothing that did not run. It is another one in the static program too, which also has the functions of the C
//! library, each known by its file there: so both are run.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::bench::mcp::{Client, umbo_server};
use crate::dist;
use crate::failure::{Done, Failure};
use crate::scratch::{Options, Scratch};
use crate::workspace::{execute, has_program, root, say};

/// The linker script.
const SCRIPT: &str = "crates/cli/first.ld";
/// What sees the functions.
const WATCH: &str = include_str!("order.c");
/// Fewer than this ran only if something went wrong.
const FEWEST_FUNCTIONS: usize = 1000;

/// What is run from the command line, and over which state directory. Over a new one the supervisor is a program
/// that is started, not a copy.
const COMMANDS: [(&str, &[&str]); 13] = [
    ("a", &["exec", "true"]),
    ("a", &["exec", "true"]),
    ("b", &["exec", "echo hi"]),
    ("c", &["exec", "ls / | head -3; false"]),
    ("d", &["exec", "--json", "echo hi >&2"]),
    ("e", &["start", "--name", "nap", "sleep 60"]),
    ("e", &["jobs"]),
    ("e", &["output", "nap"]),
    ("e", &["wait", "nap", "--timeout", "0.1"]),
    ("e", &["stop", "nap"]),
    ("e", &["jobs", "--all", "--json"]),
    ("e", &["output", "@last"]),
    ("e", &["--version"]),
];

pub(crate) fn run(words: &[&str]) -> Done {
    if !cfg!(target_arch = "x86_64") {
        return Err(Failure::new("what sees the functions knows the breakpoints of x86-64 only"));
    }
    for program in ["nm", "cc"] {
        if !has_program(program) {
            return Err(Failure::new(format!("{program} is needed: install it and try again")));
        }
    }
    let scratch = Scratch::open(&Options::parse(words)?)?;
    let watch = scratch.directory().join("watch");
    let source = scratch.directory().join("order.c");
    fs::write(&source, WATCH).map_err(Failure::at(source.display()))?;
    execute(Command::new("cc").args(["-O1", "-o"]).arg(&watch).arg(&source))?;
    let mut lists = Vec::new();
    for (number, program) in [scratch.umbo().to_owned(), dist::build()?].iter().enumerate() {
        say(program.display());
        let functions = functions(program)?;
        let seen =
            Seen { scratch: &scratch, watch: &watch, program, functions: &functions, number };
        lists.push(lines(&seen.ran()?, &functions)?);
    }
    fs::write(root().join(SCRIPT), script(&lists)).map_err(Failure::at(SCRIPT))
}

/// One program, and what sees its functions run.
struct Seen<'a> {
    scratch: &'a Scratch,
    watch: &'a Path,
    program: &'a Path,
    functions: &'a Functions,
    number: usize,
}

impl Seen<'_> {
    /// The functions that run, those first that shall lie first.
    fn ran(&self) -> Done<Vec<u64>> {
        let place = self.scratch.directory().join(format!("ran-{}", self.number));
        fs::create_dir(&place).map_err(Failure::at(place.display()))?;
        let listed: Vec<String> = self.functions.keys().map(|start| format!("{start:x}")).collect();
        let list = place.join("functions");
        fs::write(&list, listed.join("\n")).map_err(Failure::at(list.display()))?;
        let state = |name: &str| format!("{name}-{}", self.number);
        let mut ran = Vec::new();
        for (number, (name, words)) in COMMANDS.iter().enumerate() {
            let directory = place.join(format!("{number:02}"));
            fs::create_dir(&directory).map_err(Failure::at(directory.display()))?;
            let mut command = Command::new(self.watch);
            command.arg(&list).arg(directory.join("of")).arg(self.program);
            command.arg("--state-dir").arg(self.scratch.state(&state(name))).args(*words);
            command.stdout(Stdio::null()).stderr(Stdio::null());
            // Whatever it answers: what it ran through is what counts.
            command.status().map_err(Failure::at(self.watch.display()))?;
            ran.extend(Self::written(&directory)?);
        }
        let directory = place.join("mcp");
        fs::create_dir(&directory).map_err(Failure::at(directory.display()))?;
        let mut server = umbo_server(self.scratch, &state("f"));
        let before = [list, directory.join("of"), self.program.to_owned()];
        let before = before.iter().map(|path| path.display().to_string());
        server.words = before.chain(server.words).collect();
        self.watch.clone_into(&mut server.program);
        talk(Client::start(&server)?)?;
        ran.extend(Self::written(&directory)?);
        self.scratch.prove_empty(&state("f"))?;
        Ok(ran)
    }

    /// The functions that processes ran through, those of the last process first.
    fn written(directory: &Path) -> Done<Vec<u64>> {
        let entries = fs::read_dir(directory).map_err(Failure::at(directory.display()))?;
        let mut files: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
        files.sort_unstable_by(|one, other| other.cmp(one));
        let mut ran = Vec::new();
        for file in files {
            let text = fs::read_to_string(&file).map_err(Failure::at(file.display()))?;
            ran.extend(text.lines().filter_map(|line| u64::from_str_radix(line, 16).ok()));
        }
        Ok(ran)
    }
}

/// A short session of a client.
fn talk(mut client: Client) -> Done {
    client.request("tools/list", &json!({}))?;
    let mut call = |name: &str, arguments: Value| {
        client.request("tools/call", &json!({"name": name, "arguments": arguments}))
    };
    for line in ["echo hi", "echo hi", "echo hi", "ls -la /; pwd", "cd /tmp && echo a | cat; false"]
    {
        call("exec", json!({"command": line}))?;
    }
    call("exec", json!({"command": "seq 5000"}))?;
    call("exec", json!({"command": "sleep 60", "background": true, "name": "nap2"}))?;
    call("output", json!({"job": "nap2"}))?;
    call("jobs", json!({}))?;
    call("wait", json!({"job": "nap2", "timeout": 0.1}))?;
    call("stop", json!({"job": "nap2"}))?;
    call("exec", json!({"command": "no_such_program"}))?;
    client.request("ping", &json!({}))?;
    client.request("resources/list", &json!({}))?;
    client.leave()
}

/// A name of a function of a program, and how long that is.
struct Named {
    name: String,
    bytes: u64,
}

/// By where they are: those that are alike become one, and the linker knows it by one of their names.
type Functions = BTreeMap<u64, Vec<Named>>;

/// All functions of a program.
fn functions(program: &Path) -> Done<Functions> {
    let listed = symbols(program)?;
    let mut functions = Functions::new();
    for (start, named) in listed.lines().filter_map(symbol) {
        functions.entry(start).or_default().push(named);
    }
    Ok(functions)
}

/// What a program or a library has, as `nm` lists it.
fn symbols(file: &Path) -> Done<String> {
    let mut command = Command::new("nm");
    command.args(["-S", "--defined-only"]).arg(file).stderr(Stdio::null());
    let listed = command.output().map_err(Failure::at("nm"))?;
    if !listed.status.success() {
        return Err(Failure::of("nm", listed.status));
    }
    Ok(String::from_utf8_lossy(&listed.stdout).into_owned())
}

/// A function in such a list.
fn symbol(line: &str) -> Option<(u64, Named)> {
    let mut fields = line.split(' ');
    let mut number = || u64::from_str_radix(fields.next()?, 16).ok();
    let (start, bytes) = (number()?, number()?);
    let (kind, name) = (fields.next()?, fields.next()?.to_owned());
    matches!(kind, "t" | "T" | "w" | "W" | "i").then_some((start, Named { name, bytes }))
}

/// The files of the C library, by the names and sizes of the functions in them.
fn library() -> Done<HashMap<(String, u64), String>> {
    let asked = Command::new("cc").arg("-print-file-name=libc.a").output();
    let path = asked.map_err(Failure::at("cc"))?.stdout;
    let listed = symbols(Path::new(String::from_utf8_lossy(&path).trim()))?;
    let mut files = HashMap::new();
    let mut file = "";
    for line in listed.lines() {
        if let Some(name) = line.strip_suffix(".o:") {
            file = name;
        } else if let Some((_, named)) = symbol(line) {
            files.insert((named.name, named.bytes), file.to_owned());
        }
    }
    Ok(files)
}

/// What is the same in a function's name whatever compiled it.
fn pattern(name: &str) -> String {
    let name = name.split(".llvm.").next().unwrap_or(name);
    // `_ZN…17h0123456789abcdefE`
    if let Some(stem) = name.strip_suffix('E').and_then(|name| name.get(..name.len() - 16))
        && stem.ends_with("17h")
    {
        return format!("{stem}*");
    }
    if !name.starts_with("_R") {
        return name.to_owned();
    }
    // `Cs0123456789a_` before the name of a crate.
    let mut pattern = String::new();
    let mut rest = name;
    while let Some((before, behind)) = rest.split_once("Cs") {
        pattern.push_str(before);
        pattern.push_str("Cs");
        let hash = behind.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(0);
        rest = behind;
        if (8..=13).contains(&hash) && behind[hash..].starts_with('_') {
            pattern.push('*');
            rest = &behind[hash..];
        }
    }
    format!("{pattern}{rest}*")
}

/// The linker's names of functions that ran, in their order.
fn lines(ran: &[u64], functions: &Functions) -> Done<Vec<String>> {
    let library = library()?;
    let mut seen = HashSet::new();
    let order = ran.iter().filter(|place| seen.insert(**place));
    let order: Vec<&Vec<Named>> = order.filter_map(|place| functions.get(place)).collect();
    if order.len() < FEWEST_FUNCTIONS {
        return Err(Failure::new(format!("only {} functions were seen to run", order.len())));
    }
    let bytes: u64 = order.iter().filter_map(|names| Some(names.first()?.bytes)).sum();
    say(format!("{} functions ran, {} KiB", order.len(), bytes >> 10));
    let all = counted(functions.values());
    let hot = counted(order.iter().copied());
    let line = |Named { name, bytes }: &Named| {
        if let Some(file) = library.get(&(name.clone(), *bytes)) {
            return format!("*libc.a:{file}.o(.text .text.*)");
        }
        let pattern = pattern(name);
        let sections = if all[&pattern] == hot[&pattern] {
            pattern
        } else {
            let exact = name.split_inclusive(".llvm.").next().unwrap_or(name);
            format!("{exact}{}", if exact.ends_with(".llvm.") { "*" } else { "" })
        };
        // The second one is for what is marked as cold, as all is that grows something.
        format!("*(.text.{sections} .text.unlikely.{sections})")
    };
    Ok(order.into_iter().flatten().map(line).collect())
}

/// How many names fit each pattern.
fn counted<'a>(functions: impl Iterator<Item = &'a Vec<Named>>) -> HashMap<String, usize> {
    let mut count = HashMap::new();
    for named in functions.flatten() {
        *count.entry(pattern(&named.name)).or_default() += 1;
    }
    count
}

/// The linker script's text: of each program the first, of each the second, and so on.
fn script(lists: &[Vec<String>]) -> String {
    let mut text = String::from(
        "/* The functions of a start and of a call, to lie together. Written by `cargo xtask order`. */\n\
         SECTIONS {\n  .text.first : {\n",
    );
    let mut seen = HashSet::new();
    for at in 0..lists.iter().map(Vec::len).max().unwrap_or(0) {
        for line in lists.iter().filter_map(|list| list.get(at)) {
            if seen.insert(line) {
                let _ = writeln!(text, "    {line}");
            }
        }
    }
    text.push_str("  }\n} INSERT BEFORE .text;\n");
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_of_a_name_has_no_hash() {
        assert_eq!(
            pattern("_ZN11umbo_engine4init17h651241c25e6573b9E.llvm.3643936799275306673"),
            "_ZN11umbo_engine4init17h*"
        );
        assert_eq!(
            pattern("_RNvNtCsjrHSEGnQ3l9_3std2rt19lang_start_internal"),
            "_RNvNtCs*_3std2rt19lang_start_internal*"
        );
        assert_eq!(pattern("_RNvCs_3std"), "_RNvCs_3std*");
        assert_eq!(pattern("memcpy"), "memcpy");
    }
}
