//! make: a static reading of the makefile and of what it includes. Asking make itself
//! (`make -pn`) would run the project's `$(shell …)` lines, so it is never asked.
//!
//! What make runs by itself to read its file counts for every task: see `expansion`.
//!
//! With any `.PHONY`, the phony targets are the tasks, documented file targets are marked, and
//! the other file targets are hidden. Without one, or with a computed one, every target is a
//! task. Pattern rules, targets made of variables and special targets are left out.

mod expansion;
mod line;

use std::collections::{HashMap, HashSet};

use crate::{
    detect::{Definition, Found, Scene},
    glob,
    task::{Arguments, Kind, Language, Script, Task, Visibility},
};

use line::{Directive, Rule};

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
    rules.makefiles.insert(name.clone());
    let mut open = vec![name];
    let mut read = HashSet::new();
    while let Some(file) = open.pop() {
        if read.contains(&file) {
            continue;
        }
        let text = found.take(scene.folder.text(&file));
        let Some(text) = text.filter(|_| read.len() < MAX_INCLUDES) else {
            // Make would look elsewhere for it, or make it by some rule.
            found.beside(format!("include {file}"));
            continue;
        };
        let included = rules.read(&file, &text);
        read.insert(file);
        // The first include is read first, so it goes on the stack last.
        for name in included.iter().rev() {
            match files(scene, name) {
                Some(files) => open.extend(files),
                None => found.beside(format!("include {name}")),
            }
        }
    }
    rules.finish(&mut found);
    Some(found)
}

/// The files an include names; a pattern may name several. `None` when it cannot be told or lies
/// outside of the project.
fn files(scene: &Scene<'_>, name: &str) -> Option<Vec<String>> {
    let name = name.trim_start_matches("./");
    if name.starts_with(['/', '~'])
        || name.split('/').any(|part| part == "..")
        || name.contains('$')
    {
        return None;
    }
    let (directory, pattern) = name.rsplit_once('/').unwrap_or(("", name));
    if !pattern.contains(['*', '?', '[']) {
        return Some(vec![name.to_owned()]);
    }
    let names = scene.folder.list(directory).into_iter().rev();
    let matching = names.filter(|entry| !entry.is_directory && glob::matches(pattern, &entry.text));
    Some(matching.map(|entry| glob::joined(directory, &entry.text)).collect())
}

#[derive(Default)]
struct Rules {
    targets: Vec<Target>,
    places: HashMap<String, usize>,
    phony: HashSet<String>,
    has_phony: bool,
    /// Whether make computes a part of the phony names: then none can be told to be a file.
    is_computed: bool,
    /// The files make reads: it makes them anew first if a rule says how.
    makefiles: HashSet<String>,
    prelude: Vec<Script>,
}

struct Target {
    name: String,
    file: String,
    line: usize,
    doc: Option<String>,
    prerequisites: Vec<String>,
    recipe: Vec<String>,
}

impl Rules {
    /// Reads one file's rules and returns the names it includes.
    fn read(&mut self, file: &str, text: &str) -> Vec<String> {
        let mut included = Vec::new();
        let mut above: Option<String> = None;
        let mut current: Option<Vec<usize>> = None;
        let mut defines = 0_usize;
        let mut prefix = '\t';
        for (line, raw) in line::logical(text) {
            let is_recipe = raw.starts_with(prefix);
            // After anything but a rule, make reads such a line like any other.
            if let Some(targets) = current.as_deref().filter(|_| is_recipe && defines == 0) {
                self.add_recipe(targets, &line::recipe(&raw, prefix));
                continue;
            }
            let text = line::joined(&raw);
            let trimmed = text.trim();
            if let Some(comment) = trimmed.strip_prefix("##") {
                above = Some(comment.trim_start_matches('#').trim().to_owned());
                continue;
            }
            if trimmed.is_empty() || trimmed.starts_with('#') {
                above = None;
                continue;
            }
            let (code, _) = line::uncommented(trimmed);
            self.prelude.extend(expansion::commands(code));
            let directive = line::directive(trimmed);
            if defines > 0 {
                match directive {
                    Directive::Define(_) if !is_recipe => defines += 1,
                    Directive::End if !is_recipe => defines -= 1,
                    _ => {}
                }
                continue;
            }
            match directive {
                Directive::Prefix(value) => prefix = value.chars().next().unwrap_or('\t'),
                Directive::Conditional => {}
                Directive::Define(name) => {
                    self.assign(name);
                    defines = 1;
                    current = None;
                }
                Directive::Include(names) => {
                    let names = line::words(names);
                    self.makefiles.extend(names.iter().map(|name| plain_path(name)));
                    included.extend(names.into_iter().map(str::to_owned));
                    current = None;
                }
                Directive::Harmless | Directive::End => current = None,
                Directive::Beside => {
                    self.beside(code);
                    current = None;
                }
                Directive::Assign(name) => {
                    self.assign(name);
                    current = None;
                }
                Directive::Rule(rule) => {
                    current = Some(self.add(file, line, &rule, above.take()));
                }
            }
            above = None;
        }
        included
    }

    fn beside(&mut self, what: &str) {
        self.prelude.push(Script::new(Language::Other, what));
    }

    /// Some variables decide what all recipes mean.
    fn assign(&mut self, name: &str) {
        if expansion::steers(name) {
            self.beside(name);
        }
    }

    fn add_recipe(&mut self, targets: &[usize], line: &str) {
        if line.is_empty() {
            return;
        }
        for target in targets {
            if let Some(target) = self.targets.get_mut(*target) {
                target.recipe.push(line.to_owned());
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
        let prerequisites = line::words(rule.prerequisites);
        if rule.targets.contains(&".PHONY") {
            self.has_phony = true;
            self.is_computed |= rule.prerequisites.contains('$');
            self.phony.extend(prerequisites.into_iter().map(str::to_owned));
            return Vec::new();
        }
        let doc = rule.doc.map(str::to_owned).or(above).filter(|doc| !doc.is_empty());
        let mut current = Vec::new();
        for name in &rule.targets {
            if !line::is_plain(name) {
                // It may be the name of any task, or change how all recipes run.
                if name.contains(['$', '*', '?', '[']) || expansion::SPECIAL.contains(name) {
                    self.beside(name);
                }
                continue;
            }
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
            let real = prerequisites.iter().filter(|name| !matches!(**name, "|" | ".WAIT"));
            target.prerequisites.extend(real.map(ToString::to_string));
            current.push(at);
        }
        if let Some(recipe) = rule.recipe {
            self.add_recipe(&current, &line::recipe(recipe.trim_start(), '\t'));
        }
        current
    }

    fn finish(mut self, found: &mut Found) {
        for target in &self.targets {
            if self.makefiles.contains(&plain_path(&target.name)) {
                let steps = target.recipe.clone();
                self.prelude.push(Script { language: Language::Make, steps });
            }
        }
        found.prelude.append(&mut self.prelude);
        found.tasks = self
            .targets
            .into_iter()
            .map(|target| {
                let is_phony = self.phony.contains(&target.name);
                let is_file = self.has_phony && !is_phony && !self.is_computed;
                let doc = target
                    .doc
                    .map(|doc| if is_file { format!("{doc} (file target)") } else { doc });
                let mut task = Task::new(&target.name, Kind::Target, &["make", &target.name])
                    .arguments(Arguments::Verbatim)
                    .source(&target.file, target.line)
                    .doc(doc.as_deref())
                    .depends(target.prerequisites);
                if is_file && doc.is_none() {
                    task.visibility = Visibility::Hidden;
                }
                // Without a recipe of its own, a file may be made by a rule of make's.
                if target.recipe.is_empty() && !is_phony {
                    task
                } else {
                    task.steps(Language::Make, target.recipe)
                }
            })
            .collect();
    }
}

fn plain_path(name: &str) -> String {
    name.trim_start_matches("./").to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Found {
        let mut rules = Rules::default();
        rules.makefiles.insert("Makefile".to_owned());
        rules.read("Makefile", text);
        let mut found = Found::by("Makefile");
        rules.finish(&mut found);
        found
    }

    fn tasks(text: &str) -> Vec<Task> {
        found(text).tasks
    }

    fn prelude(text: &str) -> Vec<String> {
        found(text).prelude.iter().map(Script::text).collect()
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
        assert_eq!(shown[0].script.as_ref().unwrap().text(), "cc -o x");
        assert_eq!(shown[0].depends, ["out.o"]);
        assert_eq!(shown[1].script.as_ref().unwrap().text(), "./run");
        assert_eq!(shown[2].doc.as_deref(), Some("The archive (file target)"));
        assert_eq!(shown[1].source.as_ref().unwrap().line, 5);
    }

    #[test]
    fn recipes_in_branches_and_with_another_prefix_are_read() {
        let text = "a:\nifdef X\n\techo x\nelse\n\techo y\nendif\n\techo z\n.RECIPEPREFIX = >\nb:\n> echo b\n";
        let tasks = tasks(text);
        assert_eq!(tasks[0].script.as_ref().unwrap().text(), "echo x\necho y\necho z");
        assert_eq!(tasks[1].script.as_ref().unwrap().text(), "echo b");
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

    #[test]
    fn the_words_of_a_function_are_no_targets() {
        assert_eq!(names("x-$(shell touch a b):\n\techo\nall: $(shell ls c) d\n"), ["all"]);
        assert_eq!(tasks("all: $(shell ls c) d\n")[0].depends, ["$(shell ls c)", "d"]);
    }

    #[test]
    fn what_make_runs_to_read_its_file_is_told() {
        for (text, told) in [
            ("A := $(shell touch a)\n", "touch a"),
            ("A = ${shell touch a}\n", "touch a"),
            ("A != touch a\n", "touch a"),
            ("ifeq ($(shell touch a),)\nendif\n", "touch a"),
            ("x-$(shell touch a): y\n", "touch a"),
            ("x: $(if a,$(shell touch a))\n", "touch a"),
            ("define A\nB := $(shell touch a)\nendef\n", "touch a"),
            ("A := b\n\tB := $(shell touch a)\n", "touch a"),
            ("x: A = $(shell touch a)\n", "touch a"),
            ("Makefile: x\n\ttouch a\n", "touch a"),
        ] {
            assert!(
                prelude(text).iter().any(|script| script == told),
                "{text}: {:?}",
                prelude(text)
            );
        }
        for text in [
            "$(eval x: ; touch a)\n",
            "A := $(file >a,b)\n",
            "A := $(call shell,touch a)\n",
            "A := $(call $(F),touch a)\n",
            "$(RULES)\n",
            "$(NAME):\n\ttouch a\n",
            "export PATH := ./bin:$(PATH)\n",
            "x: PATH = ./bin\n",
            "x: export A = b\n",
            "SHELL = python3\n",
            ".SHELLFLAGS := -ic\n",
            "define SHELL\npython3\nendef\n",
            ".ONESHELL:\n",
            ".RECIPEPREFIX = $(P)\n",
            "load evil.so\n",
            "*: \n\ttouch a\n",
        ] {
            assert!(!prelude(text).is_empty(), "{text}");
        }
    }

    #[test]
    fn what_only_a_recipe_runs_is_not_told_of_all() {
        let text = "A := $(patsubst %.c,%.o,$(wildcard *.c)) $(B)\nifdef X\nendif\n\
                    all: $(A) ## Doc $(shell x)\n\techo $(shell touch a)\n$(info hello)\n\
                    # $(shell touch a)\n%.o: %.c\n\t$(CC) $(shell x)\n";
        assert!(prelude(text).is_empty(), "{:?}", prelude(text));
    }

    #[test]
    fn a_continued_line_stays_two_lines_for_the_shell() {
        let tasks = tasks("a:\n\t# no \\\n\trm -rf x\n\t@echo 'y' \\\n\t  z\n");
        let script = tasks[0].script.as_ref().unwrap();
        assert_eq!(script.steps, ["# no \\\nrm -rf x", "echo 'y' \\\n  z"]);
    }

    #[test]
    fn a_phony_target_without_a_recipe_runs_nothing_itself() {
        let tasks = tasks(".PHONY: all\nall: b\nb:\n");
        assert!(tasks[0].script.as_ref().unwrap().steps.is_empty());
        assert!(tasks[1].script.is_none());
    }
}
