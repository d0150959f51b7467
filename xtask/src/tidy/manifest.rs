//! Manifests: each dependency is pinned once and has its reason, the lock does not grow unnoticed,
//! and arrows between crates point down only.

use super::Finding;

/// Which of our crates each of our crates may use.
const ARROWS: &[(&str, Below)] = &[
    ("umbo-text", Below::Only(&[])),
    ("umbo-sandbox", Below::Only(&[])),
    ("umbo-engine", Below::Only(&["umbo-sandbox", "umbo-text"])),
    ("umbo-view", Below::Only(&[])),
    ("umbo-command", Below::Only(&[])),
    ("umbo-recipes", Below::Only(&["umbo-text"])),
    ("umbo-files", Below::Only(&["umbo-text"])),
    ("umbo-gate", Below::Only(&["umbo-command", "umbo-text"])),
    (
        "umbo-ops",
        Below::Only(&[
            "umbo-recipes",
            "umbo-files",
            "umbo-gate",
            "umbo-view",
            "umbo-command",
            "umbo-sandbox",
            "umbo-engine",
            "umbo-text",
        ]),
    ),
    (
        "umbo-tools",
        Below::Only(&[
            "umbo-ops",
            "umbo-recipes",
            "umbo-gate",
            "umbo-view",
            "umbo-command",
            "umbo-engine",
            "umbo-text",
        ]),
    ),
    ("umbo-server", Below::Only(&[])),
    ("umbo-mcp", Below::Only(&["umbo-server", "umbo-tools"])),
    ("umbo-model", Below::Only(&["umbo-model"])),
    ("umbo-agent", Below::Only(&["umbo-model", "umbo-tools"])),
    ("umbo", Below::Any),
    ("xtask", Below::Any),
];

enum Below {
    Only(&'static [&'static str]),
    Any,
}

/// Everything about one manifest.
pub(super) fn check(file: &str, text: &str) -> Vec<Finding> {
    if text.lines().any(|line| line == "[workspace]") {
        pins(file, text)
    } else {
        let mut findings = written_once(file, text);
        findings.extend(arrows(file, text));
        findings
    }
}

/// A line of a table of dependencies, with the comment above it.
struct Entry<'a> {
    line: usize,
    name: &'a str,
    text: String,
    has_reason: bool,
}

fn entries<'a>(text: &'a str, is_wanted: impl Fn(&str) -> bool) -> Vec<Entry<'a>> {
    let mut found: Vec<Entry<'a>> = Vec::new();
    let (mut inside, mut comment, mut open) = (false, false, 0);
    for (number, line) in text.lines().enumerate() {
        if line.starts_with('[') && open == 0 {
            inside = is_wanted(line.trim_matches(['[', ']']));
            comment = false;
            continue;
        }
        let (code, reason) = split_comment(line);
        if inside && open > 0 {
            if let Some(entry) = found.last_mut() {
                entry.text.push_str(code);
                entry.has_reason |= reason;
            }
        } else if inside && let Some((name, rest)) = code.split_once(['=', '.']) {
            let (name, text) = (name.trim(), rest.to_owned());
            found.push(Entry { line: number + 1, name, text, has_reason: reason || comment });
        }
        comment = code.trim().is_empty() && reason;
        open += code.matches(['[', '{']).count();
        open = open.saturating_sub(code.matches([']', '}']).count());
    }
    found
}

/// The line without its comment, and whether there was one. No string here has a `#`.
fn split_comment(line: &str) -> (&str, bool) {
    match line.split_once('#') {
        Some((code, comment)) => (code, !comment.trim().is_empty()),
        None => (line, false),
    }
}

fn pins(file: &str, text: &str) -> Vec<Finding> {
    let mut findings = Vec::new();
    for entry in entries(text, |table| table == "workspace.dependencies") {
        if entry.text.contains("path =") {
            continue;
        }
        if !entry.text.contains("\"=") {
            let what = format!("{} is not pinned: write \"=1.2.3\"", entry.name);
            findings.push(Finding::new(file, entry.line, what));
        }
        if !entry.has_reason {
            let what = format!("{} has no reason: say in a comment what it is for", entry.name);
            findings.push(Finding::new(file, entry.line, what));
        }
    }
    findings
}

fn is_dependencies(table: &str) -> bool {
    table.ends_with("dependencies")
}

/// Versions stand in the workspace's manifest and nowhere else.
fn written_once(file: &str, text: &str) -> Vec<Finding> {
    entries(text, is_dependencies)
        .into_iter()
        .filter(|entry| !entry.text.contains("workspace = true"))
        .map(|entry| {
            let what = format!("{}: write `{0}.workspace = true`", entry.name);
            Finding::new(file, entry.line, what)
        })
        .collect()
}

fn arrows(file: &str, text: &str) -> Vec<Finding> {
    let name = text.lines().find_map(|line| line.strip_prefix("name = "));
    let name = name.unwrap_or_default().trim_matches('"');
    let Some((_, below)) = ARROWS.iter().find(|(known, _)| *known == name) else {
        let what = format!("{name:?} is not in the table of directions (xtask/src/tidy)");
        return vec![Finding::new(file, 0, what)];
    };
    let Below::Only(below) = below else { return Vec::new() };
    entries(text, is_dependencies)
        .into_iter()
        .filter(|entry| entry.name == "umbo" || entry.name.starts_with("umbo-"))
        .filter(|entry| !below.contains(&entry.name))
        .map(|entry| {
            let what = format!("{name} must not use {}: arrows point down only", entry.name);
            Finding::new(file, entry.line, what)
        })
        .collect()
}

/// The number of packages is a decision, not an accident.
pub(super) fn lock_growth(lock: &str, budget: &str, file: &str) -> Option<Finding> {
    let packages = lock.lines().filter(|line| *line == "[[package]]").count();
    let budget = match budget.trim().parse::<usize>() {
        Ok(budget) => budget,
        Err(error) => return Some(Finding::new(file, 0, error.to_string())),
    };
    (packages > budget).then(|| {
        let what = format!(
            "Cargo.lock has {packages} packages, the budget is {budget}; if they are worth it, \
             raise the number here in the same commit"
        );
        Finding::new(file, 0, what)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<String> {
        check("Cargo.toml", text).iter().map(|finding| finding.what.clone()).collect()
    }

    #[test]
    fn a_dependency_is_pinned_and_has_its_reason() {
        let good = "[workspace]\n[workspace.dependencies]\numbo-view = { path = \"crates/view\" }\n\
                    a = \"=1.0.0\" # why\n# why, above\nb = { version = \"=2.0.0\", features = [\n\
                    \"x\",\n] }\n[profile.dev]\ndebug = 1\n";
        assert_eq!(found(good), [""; 0]);
        let bad = "[workspace]\n[workspace.dependencies]\na = \"1.0\" # why\nb = \"=2.0.0\"\n";
        assert_eq!(
            found(bad),
            [
                "a is not pinned: write \"=1.2.3\"",
                "b has no reason: say in a comment what it is for"
            ]
        );
    }

    #[test]
    fn versions_are_written_in_the_workspace_only() {
        let text = "[package]\nname = \"umbo\"\n[dependencies]\na.workspace = true\nb = \"1\"\n\
                    c = { workspace = true, features = [] }\n[features]\nd = []\n";
        assert_eq!(found(text), ["b: write `b.workspace = true`"]);
    }

    #[test]
    fn an_arrow_that_points_up_is_found() {
        let gate = |below: &str| {
            format!(
                "[package]\nname = \"umbo-gate\"\n[dev-dependencies]\n{below}.workspace = true\n"
            )
        };
        assert_eq!(found(&gate("umbo-command")), [""; 0]);
        let what = "umbo-gate must not use umbo-engine: arrows point down only";
        assert_eq!(found(&gate("umbo-engine")), [what]);
    }

    #[test]
    fn a_new_crate_must_be_given_its_place() {
        let what = "\"umbo-new\" is not in the table of directions (xtask/src/tidy)";
        assert_eq!(found("[package]\nname = \"umbo-new\"\n"), [what]);
    }

    #[test]
    fn the_lock_grows_only_on_purpose() {
        let lock = "[[package]]\nname = \"a\"\n[[package]]\nname = \"b\"\n";
        assert_eq!(lock_growth(lock, "2\n", "budget"), None);
        let what = lock_growth(lock, "1\n", "budget").map(|finding| finding.what);
        assert!(what.is_some_and(|what| what.contains("has 2 packages, the budget is 1")));
    }
}
