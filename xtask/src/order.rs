//! Which functions lie together in the program: those of a start, of a supervisor and of a call over MCP, which
//! are a tenth of all of it. Scattered, each brings a page of its own into memory, and what a call runs through
//! is in no cache.
//!
//! What runs is seen by running it under `valgrind`; the supervisor that is a copy of its caller, which `valgrind` does
//! not follow, by going through it step by step. That one's functions come first: a command waits for it. Names end
//! with a hash that changes with each compiler and each dependency, so a pattern takes its place where it fits nothing
//! that did not run. The linker script made of them (`crates/cli/first.ld`) is given to the linker by
//! `crates/cli/build.rs`; names that are not there any more do no harm.

use std::collections::{HashMap, HashSet};
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::bench::mcp::{Client, umbo_server};
use crate::failure::{Done, Failure};
use crate::scratch::{Options, Scratch};
use crate::workspace::{execute, has_program, root, say};

/// The linker script.
const SCRIPT: &str = "crates/cli/first.ld";
/// Programs that umbo starts and that are not looked at.
const OTHERS: &str = "*/sh,*/bash,*/dash,*/true,*/sleep,*/git";
/// What is loaded into the program, so that it starts its supervisors under `valgrind` too.
const SHIM: &str = include_str!("order.c");
/// What goes through the copies of the program step by step.
const STEPS: &str = include_str!("order_steps.c");
/// The variable by which that finds the program.
const PROGRAM: &str = "UMBO_ORDER_PROGRAM";

/// Fewer than this ran only if something went wrong.
const FEWEST_FUNCTIONS: usize = 1000;

/// What is run from the command line, and over which state directory. Over a new one the supervisor is a program
/// that is started, not a copy, which does not work under `valgrind`: there the copy ends at once.
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
    for program in ["valgrind", "nm", "cc"] {
        if !has_program(program) {
            return Err(Failure::new(format!("{program} is needed: install it and try again")));
        }
    }
    let scratch = Scratch::open(&Options::parse(words)?)?;
    let program = scratch.umbo();
    let traces = scratch.directory().join("traces");
    fs::create_dir_all(&traces).map_err(Failure::at(traces.display()))?;
    let shim = compiled(scratch.directory(), "order.so", SHIM, &["-shared", "-fPIC"])?;
    let functions = functions(program)?;
    let mut ran = stepped(&scratch, &functions)?;
    let loaded = [("LD_PRELOAD", shim.as_path()), (PROGRAM, program)];
    let valgrind = |place: &str, others: &str| {
        let out = traces.join(place);
        [
            "--tool=callgrind".to_owned(),
            "--demangle=no".to_owned(),
            "--trace-children=yes".to_owned(),
            format!("--trace-children-skip={others}"),
            format!("--callgrind-out-file={}.%p", out.display()),
            program.display().to_string(),
        ]
    };
    for (number, (state, words)) in COMMANDS.iter().enumerate() {
        let mut command = Command::new("valgrind");
        // Its supervisors run at their own speed.
        let others = format!("{OTHERS},{}", program.display());
        command.args(valgrind(&format!("{number:02}"), &others)).envs(loaded);
        command.arg("--state-dir").arg(scratch.state(state)).args(*words);
        command.stdout(Stdio::null()).stderr(Stdio::null());
        say(words.join(" "));
        // Whatever it answers: what it ran through is what counts.
        command.status().map_err(Failure::at("valgrind"))?;
    }
    let mut server = umbo_server(&scratch, "f");
    server.words = valgrind("mcp", OTHERS).into_iter().chain(server.words).collect();
    server.program = "valgrind".into();
    server.variables.extend(loaded.map(|(name, path)| (name, path.display().to_string())));
    say("mcp");
    talk(Client::start(&server)?)?;
    ran.extend(traced(&traces)?);
    let script = script(&ran, &functions)?;
    fs::write(root().join(SCRIPT), script).map_err(Failure::at(SCRIPT))?;
    fs::remove_dir_all(&traces).map_err(Failure::at(traces.display()))?;
    scratch.prove_empty("f")
}

/// Makes a program, or a library, of a source in C.
fn compiled(directory: &Path, name: &str, source: &str, options: &[&str]) -> Done<PathBuf> {
    let (text, made) = (directory.join("order.c"), directory.join(name));
    fs::write(&text, source).map_err(Failure::at(text.display()))?;
    execute(Command::new("cc").args(options).arg("-o").arg(&made).arg(&text))?;
    Ok(made)
}

/// The functions that a supervisor runs through that is a copy of its caller, and its keeper.
fn stepped(scratch: &Scratch, functions: &Functions) -> Done<Vec<String>> {
    let stepper = compiled(scratch.directory(), "stepper", STEPS, &["-O1"])?;
    let place = scratch.directory().join("places");
    fs::create_dir(&place).map_err(Failure::at(place.display()))?;
    let exec = |mut command: Command| {
        let state = scratch.state("steps");
        command.arg("--state-dir").arg(state).args(["exec", "echo hi"]).stdout(Stdio::null());
        execute(&mut command)
    };
    // The first one makes the state directory, without which there is no copy.
    exec(Command::new(scratch.umbo()))?;
    say("step by step");
    let mut command = Command::new(stepper);
    command.arg(place.join("of")).arg(scratch.umbo());
    exec(command)?;
    let mut starts: Vec<(u64, &String)> =
        functions.iter().map(|(name, function)| (function.start, name)).collect();
    starts.sort_unstable();
    let mut ran = Vec::new();
    for file in files(&place)? {
        let text = fs::read_to_string(&file).map_err(Failure::at(file.display()))?;
        for place in text.lines().filter_map(|line| u64::from_str_radix(line, 16).ok()) {
            let behind = starts.partition_point(|(start, _)| *start <= place);
            ran.extend(behind.checked_sub(1).map(|at| starts[at].1.clone()));
        }
    }
    Ok(ran)
}

/// The files of a directory, by name.
fn files(directory: &Path) -> Done<Vec<PathBuf>> {
    let entries = fs::read_dir(directory).map_err(Failure::at(directory.display()))?;
    let mut files: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    files.sort();
    Ok(files)
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

/// The functions that ran under `valgrind`, in the order of the traces.
fn traced(traces: &Path) -> Done<Vec<String>> {
    let mut functions = Vec::new();
    for file in files(traces)? {
        let text = fs::read_to_string(&file).map_err(Failure::at(file.display()))?;
        for line in text.lines() {
            // `fn=(7) name` or `cfn=(7) name`; a name is given once.
            let named = line.strip_prefix("fn=").or_else(|| line.strip_prefix("cfn="));
            let Some((_, name)) = named.and_then(|named| named.split_once(' ')) else { continue };
            // Behind a quote is how deep it called itself.
            functions.push(name.split('\'').next().unwrap_or(name).to_owned());
        }
    }
    Ok(functions)
}

/// Where a function is in a program.
struct Function {
    start: u64,
    bytes: u64,
}

type Functions = HashMap<String, Function>;

/// All functions of a program.
fn functions(program: &Path) -> Done<Functions> {
    let listed = Command::new("nm").arg("-S").arg(program).output().map_err(Failure::at("nm"))?;
    if !listed.status.success() {
        return Err(Failure::of("nm", listed.status));
    }
    let text = String::from_utf8_lossy(&listed.stdout).into_owned();
    let found = text.lines().filter_map(|line| {
        let mut fields = line.split(' ');
        let mut number = || u64::from_str_radix(fields.next()?, 16).ok();
        let function = Function { start: number()?, bytes: number()? };
        let (kind, name) = (fields.next()?, fields.next()?);
        kind.eq_ignore_ascii_case("t").then(|| (name.to_owned(), function))
    });
    Ok(found.collect())
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

/// The linker script's text.
fn script(ran: &[String], functions: &Functions) -> Done<String> {
    let (mut all, mut hot) = (HashMap::<String, u64>::new(), HashMap::<String, u64>::new());
    for (name, function) in functions {
        *all.entry(pattern(name)).or_default() += function.bytes;
    }
    let mut seen = HashSet::new();
    let mut order: Vec<&String> = Vec::new();
    for name in ran {
        let Some(function) = functions.get(name) else { continue };
        if seen.insert(name) {
            *hot.entry(pattern(name)).or_default() += function.bytes;
            order.push(name);
        }
    }
    if order.len() < FEWEST_FUNCTIONS {
        return Err(Failure::new(format!("only {} functions were seen to run", order.len())));
    }
    let mut patterns: Vec<String> = Vec::new();
    for name in order {
        let pattern = pattern(name);
        if all[&pattern] > hot[&pattern] {
            patterns.push(name.split_inclusive(".llvm.").next().unwrap_or(name).to_owned());
        } else if patterns.last() != Some(&pattern) {
            patterns.push(pattern);
        }
    }
    say(format!("{} functions ran, {} KiB", seen.len(), hot.values().sum::<u64>() >> 10));
    let mut text = String::from(
        "/* The functions of a start and of a call, to lie together. Written by `cargo xtask order`. */\n\
         SECTIONS {\n  .text.first : {\n",
    );
    for pattern in patterns {
        let end = if pattern.ends_with(".llvm.") { "*" } else { "" };
        let _ = writeln!(text, "    *(.text.{pattern}{end})");
    }
    text.push_str("  }\n} INSERT BEFORE .text;\n");
    Ok(text)
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
