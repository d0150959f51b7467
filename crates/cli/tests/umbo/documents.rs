//! The documents say what is so: their examples, links, anchors, and the pages made from the code.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;
use umbo_ops::ErrorCode;

use crate::harness::Umbo;

/// With this variable, pages that are made from the code are written instead of compared.
const WRITE: &str = "UMBO_WRITE_DOCUMENTS";
const DIALECTS: [&str; 8] =
    ["umbo", "claude-code", "codex", "lash", "meerkat", "omp", "recipe", "tasks"];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

fn read(file: impl AsRef<Path>) -> String {
    let path = root().join(file);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The README and all pages, by their paths from the root.
fn pages() -> Vec<PathBuf> {
    let mut pages = vec![PathBuf::from("README.md")];
    for directory in ["docs", "docs/dialects"] {
        let entries = fs::read_dir(root().join(directory)).unwrap().map(|entry| entry.unwrap());
        let names = entries.map(|entry| Path::new(directory).join(entry.file_name()));
        pages.extend(names.filter(|name| name.extension().is_some_and(|end| end == "md")));
    }
    pages.sort();
    pages
}

/// The blocks of a language in a page.
fn blocks(page: &str, language: &str) -> Vec<String> {
    let begin = format!("```{language}\n");
    page.split(&begin)
        .skip(1)
        .map(|rest| rest.split("```").next().unwrap_or_default().to_owned())
        .collect()
}

/// The anchors that its headings have.
fn anchors(page: &str) -> BTreeSet<String> {
    let headings = page.lines().filter(|line| line.starts_with('#'));
    headings
        .map(|line| {
            let text = line.trim_start_matches('#').trim().to_lowercase();
            let kept = text.chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
            kept.map(|c| if c == ' ' { '-' } else { c }).collect()
        })
        .collect()
}

#[test]
fn every_example_names_verbs_and_options_that_there_are() {
    let umbo = Umbo::new();
    let mut count = 0;
    for page in pages() {
        for line in blocks(&read(&page), "console").iter().flat_map(|block| block.lines()) {
            // Several on a line are several; what is quoted is the command's own.
            let Some(line) = line.strip_prefix("$ umbo ") else { continue };
            let line = line.split("  #").next().unwrap_or(line);
            for example in line.split("; umbo ") {
                let example = example.split(" '").next().unwrap_or(example);
                let words: Vec<&str> = example.split_whitespace().collect();
                let names: Vec<&str> = words
                    .iter()
                    .take_while(|word| word.starts_with(|c: char| c.is_ascii_lowercase()))
                    .copied()
                    .collect();
                // A verb, and perhaps one below it.
                let help = (1..=names.len().min(2))
                    .rev()
                    .map(|length| umbo.call([&names[..length], &["--help"]].concat()).answer())
                    .find(|answer| answer.status == 0)
                    .unwrap_or_else(|| panic!("{}: umbo {example}", page.display()))
                    .text();
                // What follows the dashes is another program's.
                let own = words.iter().take_while(|word| **word != "--");
                for option in own.filter(|word| word.starts_with("--")) {
                    let name = option.split('=').next().unwrap();
                    let is_there = help
                        .split(|c: char| c.is_whitespace() || ",=[".contains(c))
                        .any(|word| word == name);
                    assert!(is_there, "{}: umbo {example}: no {name} in:\n{help}", page.display());
                }
                count += 1;
            }
        }
    }
    assert!(count > 60, "{count}");
}

#[test]
fn every_link_leads_somewhere_and_every_page_is_in_the_book() {
    let summary = read("docs/SUMMARY.md");
    for page in pages() {
        let text = read(&page);
        let directory = page.parent().unwrap();
        for link in text.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
            if link.contains("://") {
                continue;
            }
            let (file, anchor) = link.split_once('#').unwrap_or((link, ""));
            let target = if file.is_empty() { page.clone() } else { directory.join(file) };
            assert!(root().join(&target).exists(), "{}: {link}", page.display());
            if !anchor.is_empty() {
                assert!(anchors(&read(&target)).contains(anchor), "{}: {link}", page.display());
            }
        }
        if let Ok(name) = page.strip_prefix("docs") {
            let name = name.to_str().unwrap();
            let is_listed = name == "SUMMARY.md" || summary.contains(&format!("]({name})"));
            assert!(is_listed, "docs/SUMMARY.md does not have {name}");
        }
    }
}

#[test]
fn every_error_and_every_finding_has_its_place() {
    let anchors = anchors(&read("docs/troubleshooting.md"));
    for code in ErrorCode::ALL {
        assert!(anchors.contains(code.as_str()), "docs/troubleshooting.md: ### {code}");
    }
    let umbo = Umbo::new();
    for findings in [
        umbo.call(["doctor", "--json"]).answer(),
        umbo.call(["doctor", "--client", "zed", "--json"]).answer(),
    ] {
        let findings: Value = serde_json::from_slice(&findings.stdout).unwrap();
        for finding in findings.as_array().unwrap() {
            let name = finding["name"].as_str().unwrap();
            let name = if name.starts_with("shell ") { "shell" } else { name };
            let anchor = name.to_lowercase().replace(' ', "-");
            assert!(anchors.contains(&anchor), "docs/troubleshooting.md: ### {name}");
        }
    }
}

#[test]
fn the_rules_and_secrets_of_the_documents_count_as_they_stand() {
    let page = read("docs/rules.md");
    let umbo = Umbo::new();
    let settings = umbo.path().join("home/.config/umbo");
    fs::create_dir_all(&settings).unwrap();
    fs::write(settings.join("rules.toml"), blocks(&page, "toml").concat()).unwrap();
    fs::write(settings.join("secrets.yml"), blocks(&page, "yaml").concat()).unwrap();
    let checked = umbo.call(["rules", "check"]).answer();
    assert_eq!(checked.status, 0, "{checked:?}");
    let denied = umbo.call(["rules", "explain", "--json", "git push origin main"]).json();
    assert_eq!(denied["verdict"], "deny", "{denied}");
    let checked = umbo.call(["secrets", "check"]).answer();
    assert_eq!(checked.status, 0, "{checked:?}");
}

#[test]
fn every_test_that_the_security_page_names_is_there() {
    let mut tests = String::new();
    for directory in ["crates/cli", "crates/gate/tests"] {
        gather(&root().join(directory), &mut tests);
    }
    let page = read("docs/security.md");
    let rows = page.lines().filter(|line| line.starts_with("| ") && line.matches('|').count() == 3);
    let named = rows
        .filter_map(|row| row.split('|').nth(2))
        .flat_map(|cell| cell.split('`').skip(1).step_by(2));
    let mut count = 0;
    for name in named.filter(|name| !name.starts_with('p')) {
        assert!(tests.contains(&format!("fn {name}()")), "{name}");
        count += 1;
    }
    assert!(count > 25, "{count}");
}

/// The text of all sources below a directory.
fn gather(directory: &Path, text: &mut String) {
    for entry in fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path()) {
        if entry.is_dir() {
            gather(&entry, text);
        } else if entry.extension().is_some_and(|end| end == "rs") {
            text.push_str(&fs::read_to_string(&entry).unwrap());
        }
    }
}

#[test]
fn the_pages_of_the_dialects_are_those_of_the_code() {
    let umbo = Umbo::new();
    for dialect in DIALECTS {
        let words = ["tools", "--dialect", dialect, "--tools", "shell,files", "--json", "--full"];
        // One dialect is off unless it is turned on.
        let tools = umbo.call(words).env("UMBO_TOOLS_SHELL_ENABLED", "true").json();
        let page = dialect_page(dialect, tools.as_array().unwrap());
        let file = format!("docs/dialects/{dialect}.md");
        if std::env::var_os(WRITE).is_some() {
            fs::create_dir_all(root().join("docs/dialects")).unwrap();
            fs::write(root().join(&file), page).unwrap();
        } else {
            assert!(read(&file) == page, "{file} is old: `cargo xtask docs` writes it");
        }
    }
}

fn dialect_page(dialect: &str, tools: &[Value]) -> String {
    let mut page = format!(
        "# {dialect}\n\n`umbo mcp --dialect {dialect}`. Made from the code by `cargo xtask docs`; the contract is in \
         `crates/tools/contracts/{dialect}`.\n"
    );
    for tool in tools {
        let name = tool["name"].as_str().unwrap();
        write!(page, "\n## {name}\n\n{}\n", plain(tool["description"].as_str().unwrap())).unwrap();
        fields(&mut page, "argument", &tool["inputSchema"]);
        fields(&mut page, "answer", &tool["outputSchema"]);
        let contract = root().join(format!("crates/tools/contracts/{dialect}/{name}.yaml"));
        if let Ok(contract) = fs::read_to_string(contract) {
            differences(&mut page, &contract);
        }
    }
    page
}

/// A table of the fields of a schema.
fn fields(page: &mut String, what: &str, schema: &Value) {
    let Some(properties) = schema["properties"].as_object().filter(|all| !all.is_empty()) else {
        return;
    };
    let required = |name: &str| {
        schema["required"].as_array().is_some_and(|names| names.iter().any(|one| one == name))
    };
    write!(page, "\n| {what} | type | |\n|---|---|---|\n").unwrap();
    for (name, field) in properties {
        let star = if required(name) { " *" } else { "" };
        let mut words = plain(field["description"].as_str().unwrap_or_default());
        if let Some(preset) = field.get("default").filter(|preset| !preset.is_null()) {
            write!(words, " [{preset}]").unwrap();
        }
        writeln!(page, "| `{name}`{star} | {} | {} |", kind(field), words.trim()).unwrap();
    }
}

/// The type of a field, in a word.
fn kind(field: &Value) -> String {
    if let Some(words) = field["enum"].as_array() {
        let words: Vec<&str> = words.iter().filter_map(Value::as_str).collect();
        return format!("`{}`", words.join("` `"));
    }
    match &field["type"] {
        Value::String(word) if word == "array" => format!("list of {}", kind(&field["items"])),
        Value::String(word) => word.clone(),
        Value::Array(words) => {
            let words = words.iter().filter_map(Value::as_str).filter(|word| *word != "null");
            words.collect::<Vec<_>>().join(" or ")
        }
        _ => "any".to_owned(),
    }
}

/// What a table can hold.
fn plain(text: &str) -> String {
    let one_line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    one_line.replace('|', "\\|").replace('<', "&lt;")
}

/// Where a tool is not as the document that it follows.
fn differences(page: &mut String, contract: &str) {
    let lines = contract.lines().skip_while(|line| *line != "differs:").skip(1);
    let lines: Vec<&str> = lines.take_while(|line| line.starts_with(' ')).collect();
    if lines.is_empty() {
        return;
    }
    page.push_str("\nDifferent from its document, by line:\n\n");
    for line in lines {
        match line.strip_prefix("  ").filter(|rest| !rest.starts_with(' ')) {
            Some(entry) => writeln!(page, "- {}", plain(entry)).unwrap(),
            None => writeln!(page, "  {}", plain(line)).unwrap(),
        }
    }
}

#[test]
fn the_readme_is_short_and_each_of_its_proofs_is_there() {
    let page = read("README.md");
    let words = page.split_whitespace().count();
    assert!(words < 1200, "README.md has {words} words");
    let mut tests = String::new();
    gather(&root().join("crates/cli/tests"), &mut tests);
    let rows = page.lines().skip_while(|line| !line.starts_with("| | umbo |")).skip(2);
    let mut count = 0;
    for row in rows.take_while(|line| line.starts_with('|')) {
        let own = row.split('|').nth(2).unwrap();
        let names: Vec<&str> = own.split('`').skip(1).step_by(2).collect();
        assert!(!names.is_empty(), "no test proves {row}");
        for name in names {
            assert!(tests.contains(&format!("fn {name}()")), "{name}");
            count += 1;
        }
    }
    assert!(count > 8, "{count}");
}

#[test]
fn the_way_in_names_every_crate() {
    let page = read("CONTRIBUTING.md");
    for entry in fs::read_dir(root().join("crates")).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        assert!(page.contains(&format!("| `crates/{name}` |")), "CONTRIBUTING.md: crates/{name}");
    }
}

#[test]
fn every_variable_that_umbo_knows_is_in_the_reference() {
    let page = read("docs/reference.md");
    let mut sources = String::new();
    for entry in fs::read_dir(root().join("crates")).unwrap() {
        gather(&entry.unwrap().path().join("src"), &mut sources);
    }
    let mut count = 0;
    for name in sources.split("\"UMBO_").skip(1).filter_map(|rest| rest.split('"').next()) {
        let is_name = !name.is_empty() && name.chars().all(|c| c.is_ascii_uppercase() || c == '_');
        // The shells that complete use the first, tests alone the others.
        if !is_name || ["COMPLETE", "FAILPOINT", "KEY"].contains(&name) {
            continue;
        }
        assert!(page.contains(&format!("`UMBO_{name}`")), "docs/reference.md: UMBO_{name}");
        count += 1;
    }
    assert!(count > 10, "{count}");
}

#[test]
fn every_verb_has_a_page_of_the_manual() {
    let umbo = Umbo::new();
    let directory = umbo.path().join("man");
    umbo.call(["man", directory.to_str().unwrap()]).run();
    let verbs = umbo.verbs();
    for verb in &verbs {
        let page = fs::read_to_string(directory.join(format!("umbo-{verb}.1"))).unwrap();
        assert!(page.contains(".SH SYNOPSIS"), "{verb}: {page}");
    }
    assert!(verbs.len() > 45, "{verbs:?}");
}
