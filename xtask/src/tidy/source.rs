//! What a source file must not be or have. Every file is formatted by rustfmt, so the shape of
//! the lines is enough to find functions: a signature, and the closing brace at its indent.

use super::{Allowed, Finding, What};

const FILE_LINES: usize = 600;
const FUNCTION_LINES: usize = 100;
/// The only places for unsafe code and for what depends on the system; and the example that exports a
/// symbol.
const SYSTEM: [&str; 3] =
    ["crates/engine/src/sys/", "crates/sandbox/src/sys/", "crates/engine/examples/plugin.rs"];

// In halves, so that this table does not find itself.
const WORDS: [&str; 3] = [concat!("TO", "DO"), concat!("FIX", "ME"), concat!("X", "XX")];
const CALLS: [&str; 4] = [
    concat!("db", "g!"),
    concat!("to", "do!"),
    concat!("unimple", "mented!"),
    concat!("#[ig", "nore"),
];
const NAP: &str = concat!("thread::sl", "eep");
const SYSTEM_CONDITION: &str = concat!("target", "_os");
const UNSAFE: &str = concat!("uns", "afe");
const MACHINE: [&str; 3] = [concat!("/wo", "rk/"), concat!("/ro", "ot/"), concat!("/ho", "me/")];

/// Everything about one source file.
pub(super) fn check(file: &str, text: &str, allowed: &[Allowed]) -> Vec<Finding> {
    let lines: Vec<&str> = text.lines().collect();
    let production = if is_test_file(file) { 0 } else { production_lines(&lines) };
    let mut findings = lengths(file, &lines[..production], allowed);
    findings.extend(words(file, &lines, production, allowed));
    if !SYSTEM.iter().any(|place| file.starts_with(place)) {
        findings.extend(system(file, &lines));
    }
    findings
}

fn is_test_file(file: &str) -> bool {
    ["/tests/", "/benches/", "/tests.rs"].iter().any(|part| file.contains(part))
}

/// How many lines come before the tests at the end of a file.
fn production_lines(lines: &[&str]) -> usize {
    let is_tests = |pair: &[&str]| pair[0] == "#[cfg(test)]" && pair[1].starts_with("mod ");
    lines.windows(2).position(is_tests).unwrap_or(lines.len())
}

fn is_allowed(allowed: &[Allowed], file: &str, what: &What<'_>) -> bool {
    allowed.iter().any(|entry| entry.file == file && entry.what == *what)
}

fn lengths(file: &str, lines: &[&str], allowed: &[Allowed]) -> Vec<Finding> {
    let mut findings = Vec::new();
    if lines.len() > FILE_LINES && !is_allowed(allowed, file, &What::File) {
        let what = format!("{} lines; a file has at most {FILE_LINES}", lines.len());
        findings.push(Finding::new(file, 0, what));
    }
    for function in functions(lines) {
        let is_allowed = || is_allowed(allowed, file, &What::Function(function.name));
        if function.length > FUNCTION_LINES && !is_allowed() {
            let what = format!(
                "fn {} has {} lines; a function has at most {FUNCTION_LINES}",
                function.name, function.length
            );
            findings.push(Finding::new(file, function.line, what));
        }
    }
    findings
}

struct Function<'a> {
    name: &'a str,
    line: usize,
    length: usize,
}

fn functions<'a>(lines: &[&'a str]) -> Vec<Function<'a>> {
    let mut found = Vec::new();
    for (start, line) in lines.iter().enumerate() {
        let Some(name) = function_name(line) else { continue };
        let indent = indent(line);
        // One line is all of it, or a declaration.
        let end = if line.ends_with(['}', ';']) {
            Some(start)
        } else {
            (start + 1..lines.len()).find(|at| {
                let line = lines[*at];
                self::indent(line) == indent && (line.trim() == "}" || line.ends_with(';'))
            })
        };
        let length = end.map_or(lines.len(), |end| end + 1) - start;
        found.push(Function { name, line: start + 1, length });
    }
    found
}

/// The name of the function whose signature begins on this line.
fn function_name(line: &str) -> Option<&str> {
    let (before, after) = line.split_once("fn ")?;
    let is_qualifier = |word: &str| {
        ["const", "async", UNSAFE, "extern", "\"C\""].contains(&word) || word.starts_with("pub")
    };
    let in_scope = |word: &str| word.ends_with(')') && !word.contains('(');
    before.split_whitespace().all(|word| is_qualifier(word) || in_scope(word)).then_some(())?;
    let end = after.find(|c: char| !c.is_alphanumeric() && c != '_')?;
    (end > 0).then(|| &after[..end])
}

fn indent(line: &str) -> usize {
    line.len() - line.trim_start().len()
}

fn words(file: &str, lines: &[&str], production: usize, allowed: &[Allowed]) -> Vec<Finding> {
    let mut findings = Vec::new();
    let is_free = |word: &&str| !is_allowed(allowed, file, &What::Word(word));
    for (number, line) in lines.iter().enumerate() {
        let mut add = |what: String| findings.push(Finding::new(file, number + 1, what));
        for word in WORDS.into_iter().filter(is_free).filter(|word| has_word(line, word)) {
            add(format!("{word}: do it now, or file it where others see it"));
        }
        for call in CALLS.into_iter().filter(is_free).filter(|call| line.contains(*call)) {
            add(format!("{call} must not stay"));
        }
        if number >= production && line.contains(NAP) {
            add(format!("{NAP} in a test: wait for an event or a condition"));
        }
    }
    findings
}

fn system(file: &str, lines: &[&str]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (number, line) in lines.iter().enumerate() {
        let code = line.split("//").next().unwrap_or_default();
        let is_unsafe = ["{", "fn", "impl", "extern", "trait"]
            .iter()
            .any(|next| code.contains(&format!("{UNSAFE} {next}")));
        if is_unsafe || code.contains(&format!("{UNSAFE}(")) {
            let what = format!("{UNSAFE} outside {}", SYSTEM.join(" and "));
            findings.push(Finding::new(file, number + 1, what));
        }
        if has_word(code, SYSTEM_CONDITION) {
            let what = format!("{SYSTEM_CONDITION} outside {}", SYSTEM.join(" and "));
            findings.push(Finding::new(file, number + 1, what));
        }
    }
    findings
}

/// Paths that exist only where somebody once built this.
pub(super) fn machine_paths(file: &str, text: &str) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (number, line) in text.lines().enumerate() {
        for path in MACHINE {
            let is_start = |at: usize| {
                let before = line[..at].chars().next_back();
                !before.is_some_and(|c| c.is_alphanumeric() || "._-/~}$".contains(c))
            };
            if line.match_indices(path).any(|(at, _)| is_start(at)) {
                let what = format!("{path}… is a path of one machine");
                findings.push(Finding::new(file, number + 1, what));
            }
        }
    }
    findings
}

fn has_word(line: &str, word: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    line.match_indices(word).any(|(at, _)| {
        !line[..at].ends_with(is_part) && !line[at + word.len()..].starts_with(is_part)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(file: &str, text: &str) -> Vec<String> {
        check(file, text, &[]).iter().map(ToString::to_string).collect()
    }

    fn function_of(lines: usize) -> String {
        format!(
            "impl A {{\n    pub(crate) fn long(\n{}    }}\n}}\n",
            "        x();\n".repeat(lines - 2)
        )
    }

    #[test]
    fn a_function_is_measured_from_its_signature_to_its_closing_brace() {
        assert_eq!(found("crates/a/src/a.rs", &function_of(100)), [""; 0]);
        assert_eq!(
            found("crates/a/src/a.rs", &function_of(101)),
            ["crates/a/src/a.rs:2: fn long has 101 lines; a function has at most 100"]
        );
    }

    #[test]
    fn what_is_harmless_can_be_allowed_by_name() {
        let file = "crates/a/src/a.rs";
        let word = Allowed { file, what: What::Word(CALLS[3]), reason: "no test" };
        assert_eq!(check(file, CALLS[3], &[word]), []);
        let long = Allowed { file, what: What::File, reason: "a flat table" };
        assert_eq!(check(file, &"\n".repeat(601), &[long]), []);
        let allowed = [Allowed { file, what: What::Function("long"), reason: "a flat table" }];
        assert!(allowed.iter().all(|entry| !entry.reason.is_empty()));
        assert_eq!(check(file, &function_of(101), &allowed), []);
    }

    #[test]
    fn declarations_and_one_liners_have_no_body_to_measure() {
        let lines =
            ["trait T {", "    fn a(&self);", "    fn b(", "    ) -> X;", "    fn c() {}", "}"];
        let lengths: Vec<_> = functions(&lines).iter().map(|f| (f.name, f.length)).collect();
        assert_eq!(lengths, [("a", 1), ("b", 2), ("c", 1)]);
    }

    #[test]
    fn only_signatures_are_functions() {
        assert_eq!(function_name("pub(in crate::a) const fn f<T>("), Some("f"));
        assert_eq!(function_name("    async fn g() {"), Some("g"));
        assert_eq!(function_name("let f: fn (u8) = g;"), None);
        assert_eq!(function_name("/// the fn of it"), None);
    }

    #[test]
    fn a_file_is_measured_without_its_tests() {
        let tests = format!("#[cfg(test)]\nmod tests {{\n{}}}\n", "    // line\n".repeat(50));
        assert_eq!(found("xtask/src/a.rs", &format!("{}{tests}", "\n".repeat(600))), [""; 0]);
        assert_eq!(
            found("xtask/src/a.rs", &"\n".repeat(601)),
            ["xtask/src/a.rs: 601 lines; a file has at most 600"]
        );
        assert_eq!(found("crates/a/tests/all.rs", &"\n".repeat(601)), [""; 0]);
    }

    #[test]
    fn words_that_must_not_stay_are_found_and_longer_words_are_not() {
        for word in WORDS.into_iter().chain(CALLS) {
            assert_eq!(found("crates/a/src/a.rs", &format!("// {word} (x)")).len(), 1, "{word}");
        }
        assert_eq!(found("crates/a/src/a.rs", &format!("mkstemp({0}{0})", WORDS[2])), [""; 0]);
    }

    #[test]
    fn a_nap_is_a_finding_in_tests_only() {
        let nap = format!("    std::{NAP}(x);");
        assert_eq!(found("crates/a/src/a.rs", &nap), [""; 0]);
        assert_eq!(found("crates/a/tests/a.rs", &nap).len(), 1);
        assert_eq!(
            found("crates/a/src/a.rs", &format!("#[cfg(test)]\nmod t {{\n{nap}\n}}")).len(),
            1
        );
    }

    #[test]
    fn what_touches_the_system_lives_in_one_place() {
        let text = format!("{UNSAFE} {{ x() }}\n#[cfg({SYSTEM_CONDITION} = \"linux\")]\n");
        assert_eq!(found("crates/engine/src/log.rs", &text).len(), 2);
        assert_eq!(found("crates/engine/src/sys/pty.rs", &text), [""; 0]);
        assert_eq!(found("crates/sandbox/src/sys/seccomp.rs", &text), [""; 0]);
        let harmless = format!("// {UNSAFE} {{\nlet kind = \"{UNSAFE}\"; // {UNSAFE}_code\n");
        assert_eq!(found("crates/engine/src/log.rs", &harmless), [""; 0]);
    }

    #[test]
    fn a_path_of_one_machine_is_found_where_it_begins() {
        let [first, ..] = MACHINE;
        assert_eq!(machine_paths("a.md", &format!("see `{first}main`")).len(), 1);
        assert_eq!(machine_paths("a.md", &format!("https://example.org{first}a ~{first}")), []);
    }
}
