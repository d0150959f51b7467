//! make: a static reading of the makefile and of what it includes. Asking make itself
//! (`make -pn`) would run the project's `$(shell …)` lines, so it is never asked.
//!
//! With any `.PHONY`, the phony targets are the tasks, documented file targets are marked, and
//! the other file targets are hidden. Without one, or with a computed one, every target is a
//! task. Pattern rules, targets made of variables and special targets are left out.

use std::collections::{HashMap, HashSet};

use crate::{
    detect::{Definition, Found, Scene},
    glob,
    task::{Arguments, Kind, Language, Task, Visibility},
};

pub(super) const RUNNER: Definition = Definition {
    id: "make",
    label: "Make",
    programs: &["make", "gmake"],
    get: "install make from the system's packages (apt-get install make)",
    detect,
};

/// Names in the order in which make looks for them.
const NAMES: [&str; 3] = ["GNUmakefile", "makefile", "Makefile"];

/// Deeper includes than this are a loop by another name.
const MAX_INCLUDES: usize = 64;

fn detect(scene: &Scene<'_>) -> Option<Found> {
    let name = scene.folder.first(&NAMES)?;
    let mut found = Found::by(&name);
    let others = NAMES.iter().filter(|other| **other != name && scene.folder.has(other));
    found.evidence.extend(others.map(ToString::to_string));
    let mut rules = Rules::default();
    let mut open = vec![name];
    let mut read = HashSet::new();
    while let Some(file) = open.pop() {
        if read.len() >= MAX_INCLUDES || !read.insert(file.clone()) {
            continue;
        }
        if let Some(text) = found.take(scene.folder.text(&file)) {
            let included = rules.read(&file, &text);
            // The first include is read first, so it goes on the stack last.
            open.extend(included.iter().rev().flat_map(|name| files(scene, name)));
        }
    }
    found.tasks = rules.into_tasks();
    Some(found)
}

/// The files an include names; a pattern may name several.
fn files(scene: &Scene<'_>, name: &str) -> Vec<String> {
    let name = name.trim_start_matches("./");
    if name.starts_with('/') || name.split('/').any(|part| part == "..") || name.contains('$') {
        return Vec::new();
    }
    let (directory, pattern) = name.rsplit_once('/').unwrap_or(("", name));
    if !pattern.contains(['*', '?', '[']) {
        return vec![name.to_owned()];
    }
    let names = scene.folder.list(directory).into_iter().rev();
    let matching = names.filter(|entry| !entry.is_directory && glob::matches(pattern, &entry.text));
    matching.map(|entry| glob::joined(directory, &entry.text)).collect()
}

#[derive(Default)]
struct Rules {
    targets: Vec<Target>,
    places: HashMap<String, usize>,
    phony: HashSet<String>,
    has_phony: bool,
    /// Whether make computes a part of the phony names: then none can be told to be a file.
    is_computed: bool,
}

struct Target {
    name: String,
    file: String,
    line: usize,
    doc: Option<String>,
    prerequisites: Vec<String>,
    recipe: Vec<String>,
}

/// A rule line taken apart.
struct Rule<'a> {
    targets: Vec<&'a str>,
    prerequisites: &'a str,
    recipe: Option<&'a str>,
    doc: Option<&'a str>,
}

impl Rules {
    /// Reads one file's rules and returns the names it includes.
    fn read(&mut self, file: &str, text: &str) -> Vec<String> {
        let mut included = Vec::new();
        let mut above: Option<String> = None;
        let mut current: Vec<usize> = Vec::new();
        let mut in_define = false;
        let mut prefix = '\t';
        for (line, text) in logical_lines(text) {
            let trimmed = text.trim();
            if in_define {
                in_define = trimmed.split_whitespace().next() != Some("endef");
                continue;
            }
            // Without a target of ours it is the recipe of one that was left out.
            if let Some(recipe) = text.strip_prefix(prefix) {
                self.add_recipe(&current, recipe);
                continue;
            }
            if let Some(comment) = trimmed.strip_prefix("##") {
                above = Some(comment.trim_start_matches('#').trim().to_owned());
                continue;
            }
            if trimmed.is_empty() || trimmed.starts_with('#') {
                above = None;
                continue;
            }
            if let Some(value) = trimmed.strip_prefix(".RECIPEPREFIX") {
                let value = value.trim_start_matches([' ', ':', '?']).strip_prefix('=');
                prefix = value.and_then(|value| value.trim().chars().next()).unwrap_or('\t');
                continue;
            }
            match directive(trimmed) {
                Directive::Define => {
                    in_define = true;
                    current.clear();
                }
                Directive::Include(names) => {
                    included.extend(names.split_whitespace().map(str::to_owned));
                    current.clear();
                }
                Directive::Conditional => {}
                Directive::Other => current.clear(),
                Directive::None => {
                    current = match rule(trimmed) {
                        Some(rule) => self.add(file, line, &rule, above.take()),
                        None => Vec::new(),
                    };
                }
            }
            above = None;
        }
        included
    }

    fn add_recipe(&mut self, targets: &[usize], line: &str) {
        let line = line.trim_start_matches(['@', '-', '+', ' ', '\t']).replace("$$", "$");
        if line.is_empty() {
            return;
        }
        for target in targets {
            if let Some(target) = self.targets.get_mut(*target) {
                target.recipe.push(line.clone());
            }
        }
    }

    fn add(
        &mut self,
        file: &str,
        line: usize,
        rule: &Rule<'_>,
        above: Option<String>,
    ) -> Vec<usize> {
        if rule.targets.contains(&".PHONY") {
            self.has_phony = true;
            self.is_computed |= rule.prerequisites.contains('$');
            let names = rule.prerequisites.split_whitespace().map(str::to_owned);
            self.phony.extend(names);
            return Vec::new();
        }
        let doc = rule.doc.map(str::to_owned).or(above).filter(|doc| !doc.is_empty());
        let mut current = Vec::new();
        for name in rule.targets.iter().filter(|name| is_plain(name)) {
            let at = *self.places.entry((*name).to_owned()).or_insert_with(|| {
                self.targets.push(Target {
                    name: (*name).to_owned(),
                    file: file.to_owned(),
                    line,
                    doc: None,
                    prerequisites: Vec::new(),
                    recipe: Vec::new(),
                });
                self.targets.len() - 1
            });
            let target = &mut self.targets[at];
            target.doc = target.doc.take().or_else(|| doc.clone());
            let prerequisites = rule.prerequisites.split_whitespace();
            let real = prerequisites.filter(|name| *name != "|" && is_plain(name));
            target.prerequisites.extend(real.map(str::to_owned));
            current.push(at);
        }
        if let Some(recipe) = rule.recipe {
            self.add_recipe(&current, recipe.trim());
        }
        current
    }

    fn into_tasks(self) -> Vec<Task> {
        let known: HashSet<&String> = self.targets.iter().map(|target| &target.name).collect();
        let tasks = self.targets.iter().map(|target| {
            let is_phony = self.phony.contains(&target.name);
            let is_file = self.has_phony && !is_phony && !self.is_computed;
            let doc = target
                .doc
                .as_ref()
                .map(|doc| if is_file { format!("{doc} (file target)") } else { doc.clone() });
            let depends = target.prerequisites.iter().filter(|name| known.contains(name));
            let mut task = Task::new(&target.name, Kind::Target, &["make", &target.name])
                .arguments(Arguments::Verbatim)
                .source(&target.file, target.line)
                .doc(doc.as_deref())
                .depends(depends.cloned().collect());
            if is_file && doc.is_none() {
                task.visibility = Visibility::Hidden;
            }
            if target.recipe.is_empty() {
                task
            } else {
                task.script(Language::Make, target.recipe.join("\n"))
            }
        });
        tasks.collect()
    }
}

/// The lines with continuations joined, each with the number of its first line.
fn logical_lines(text: &str) -> Vec<(usize, String)> {
    let mut lines: Vec<(usize, String)> = Vec::new();
    let mut is_open = false;
    for (index, line) in text.lines().enumerate() {
        let backslashes = line.chars().rev().take_while(|c| *c == '\\').count();
        let continues = backslashes % 2 == 1;
        let line = if continues { &line[..line.len() - 1] } else { line };
        match lines.last_mut() {
            Some((_, last)) if is_open => {
                last.push(' ');
                last.push_str(line.trim_start());
            }
            _ => lines.push((index + 1, line.to_owned())),
        }
        is_open = continues;
    }
    lines
}

enum Directive<'a> {
    Include(&'a str),
    Define,
    Conditional,
    Other,
    None,
}

fn directive(line: &str) -> Directive<'_> {
    let (word, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    // `include:` or `define =` is a rule or a variable of that name.
    let is_plain = !rest.trim_start().starts_with([':', '=', '?', '+']);
    match word {
        "include" | "-include" | "sinclude" if is_plain => {
            Directive::Include(rest.split('#').next().unwrap_or(rest))
        }
        "define" if is_plain => Directive::Define,
        "override" if rest.trim_start().starts_with("define") => Directive::Define,
        "ifeq" | "ifneq" | "ifdef" | "ifndef" | "else" | "endif" if is_plain => {
            Directive::Conditional
        }
        "export" | "unexport" | "override" | "vpath" | "undefine" | "private" | "load"
            if is_plain =>
        {
            Directive::Other
        }
        _ => Directive::None,
    }
}

/// A rule line, or nothing when the line assigns a variable.
fn rule(line: &str) -> Option<Rule<'_>> {
    let (line, doc) = uncommented(line);
    let colon = top_level(line, ':')?;
    if top_level(line, '=').is_some_and(|equals| equals < colon) {
        return None;
    }
    let rest = line[colon..].trim_start_matches(':');
    // `A := b` and its longer forms.
    if rest.starts_with('=') {
        return None;
    }
    let (rest, recipe) = match top_level(rest, ';') {
        Some(at) => (&rest[..at], Some(&rest[at + 1..])),
        None => (rest, None),
    };
    // `target: VAR = value` gives a variable to a target that is written elsewhere.
    if top_level(rest, '=').is_some() {
        return None;
    }
    // A static pattern rule names its pattern behind a second colon.
    let prerequisites = top_level(rest, ':').map_or(rest, |at| &rest[at + 1..]);
    let head = line[..colon].trim_end().trim_end_matches('&');
    Some(Rule { targets: head.split_whitespace().collect(), prerequisites, recipe, doc })
}

/// Where a character stands outside `$( )` and `${ }`.
fn top_level(text: &str, wanted: char) -> Option<usize> {
    let mut depth = 0_usize;
    let mut before = ' ';
    for (at, c) in text.char_indices() {
        match c {
            '(' | '{' if before == '$' || depth > 0 => depth += 1,
            ')' | '}' => depth = depth.saturating_sub(1),
            c if c == wanted && depth == 0 && before != '\\' => return Some(at),
            _ => {}
        }
        before = c;
    }
    None
}

/// The line without its comment, and the comment if it is a doc (`## …`).
fn uncommented(line: &str) -> (&str, Option<&str>) {
    match top_level(line, '#') {
        Some(at) => {
            let doc = line[at..].strip_prefix("##").map(|doc| doc.trim_start_matches('#').trim());
            (&line[..at], doc)
        }
        None => (line, None),
    }
}

/// Whether a word is a target someone could ask for by name.
fn is_plain(name: &str) -> bool {
    let is_special = name.starts_with('.') && !name.contains('/');
    !is_special && !name.contains(['%', '$', '(', ')', '\\', '"', '\'', '=', '*', '`'])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tasks(text: &str) -> Vec<Task> {
        let mut rules = Rules::default();
        rules.read("Makefile", text);
        rules.into_tasks()
    }

    fn names(text: &str) -> Vec<String> {
        tasks(text).into_iter().map(|task| task.name).collect()
    }

    #[test]
    fn variables_patterns_and_special_targets_are_no_tasks() {
        let text = "A := b\nB ::= c\nC:=d\nD?=e\nE = f: g\n%.o: %.c\n\tcc\n$(OBJ): x\n.SUFFIXES:\n\
                    all: A = 1\nfoo.o: foo.c\nexport X := y\ndefine Z\nbad: rule\nendef\nreal :: dep\n";
        assert_eq!(names(text), ["foo.o", "real"]);
    }

    #[test]
    fn phony_hides_undocumented_files_and_marks_documented_ones() {
        let text = ".PHONY: build \\\n  test\nbuild: out.o ## Build it\n\t@cc -o x\ntest:; ./run\nout.o: a.c\n\tcc\n\
                    ## The archive\nout.tar:\n\ttar c\n";
        let tasks = tasks(text);
        let shown: Vec<_> =
            tasks.iter().filter(|task| task.visibility == Visibility::Listed).collect();
        let names: Vec<_> = shown.iter().map(|task| task.name.as_str()).collect();
        assert_eq!(names, ["build", "test", "out.tar"]);
        assert_eq!(shown[0].doc.as_deref(), Some("Build it"));
        assert_eq!(shown[0].script.as_ref().unwrap().text, "cc -o x");
        assert_eq!(shown[0].depends, ["out.o"]);
        assert_eq!(shown[1].script.as_ref().unwrap().text, "./run");
        assert_eq!(shown[2].doc.as_deref(), Some("The archive (file target)"));
        assert_eq!(shown[1].source.as_ref().unwrap().line, 5);
    }

    #[test]
    fn recipes_in_branches_and_with_another_prefix_are_read() {
        let text = "a:\nifdef X\n\techo x\nelse\n\techo y\nendif\n\techo z\n.RECIPEPREFIX = >\nb:\n> echo b\n";
        let tasks = tasks(text);
        assert_eq!(tasks[0].script.as_ref().unwrap().text, "echo x\necho y\necho z");
        assert_eq!(tasks[1].script.as_ref().unwrap().text, "echo b");
    }

    #[test]
    fn recipes_of_targets_that_are_left_out_are_no_rules() {
        let text =
            "$(X):\n\tgit clone https://x\n%.o:\n\t@echo a: b\n.PHONY: y\n\tz: w\nlast:\n\tq\n";
        assert_eq!(names(text), ["last"]);
    }

    #[test]
    fn computed_phony_names_hide_nothing() {
        let tasks = tasks(".PHONY: a $(OTHERS)\na:\n\tx\nb:\n\tx\n");
        assert!(tasks.iter().all(|task| task.visibility == Visibility::Listed));
    }

    #[test]
    fn a_colon_inside_a_variable_is_no_rule() {
        assert_eq!(names("$(foreach a,b:c,d)\nx: $(A:.c=.o)\n\ty\n"), ["x"]);
    }
}
