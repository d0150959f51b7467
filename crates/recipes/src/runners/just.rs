//! just: recipes of the justfile, of its imports and of its modules. The text is read for places,
//! bodies and as the answer when `just` is missing; `just --dump` decides what is a recipe, what
//! is private and what parameters there are. Dumping evaluates nothing.

use std::collections::{HashMap, HashSet};

use crate::{
    detect::{Definition, Found, Scene},
    glob::joined,
    project::Problem,
    task::{Arity, Kind, Language, Parameter, Script, Task, Visibility},
    tree::{self, Format, Node, Value},
};

pub(super) const RUNNER: Definition = Definition {
    id: "just",
    label: "just",
    programs: &["just"],
    get: "cargo install just, or pipx install rust-just",
    detect,
};

/// Names in the order in which they are looked for.
const NAMES: [&str; 5] = ["justfile", "Justfile", ".justfile", "JUSTFILE", ".Justfile"];

/// A part that is known only when the recipe runs.
const COMPUTED: &str = "{{…}}";

/// More files than this from imports and modules is an attack.
const MAX_FILES: usize = 200;

fn detect(scene: &Scene<'_>) -> Option<Found> {
    let name = scene.folder.first(&NAMES)?;
    let mut found = Found::by(&name);
    let mut reading =
        Reading { scene, recipes: Vec::new(), prelude: Vec::new(), read: HashSet::new() };
    if let Err(problem) = reading.file(&name, "") {
        found.problems.push(problem);
        return Some(found);
    }
    let recipes = reading.recipes;
    found.prelude = reading.prelude;
    let arguments = ["--justfile", &name, "--dump", "--dump-format", "json"];
    let written = || recipes.iter().map(Recipe::task);
    found.tasks = match scene.ask("just", scene.folder.real_root(), &arguments) {
        None => written().collect(),
        Some(Ok(answer)) if answer.is_success => {
            match tree::parse(&String::from_utf8_lossy(&answer.stdout), Format::Json) {
                Ok(dump) => merged(&dump, &recipes),
                Err(_) => written().collect(),
            }
        }
        // A file that just refuses has no recipe that could run.
        Some(Ok(answer)) => {
            found.problems.push(complaint(&name, &answer.stderr));
            Vec::new()
        }
        Some(Err(message)) => {
            found.problems.push(Problem::new(&name, None, message));
            written().collect()
        }
    };
    Some(found)
}

fn complaint(name: &str, message: &str) -> Problem {
    let message = message.trim().trim_start_matches("error: ");
    let first = message.lines().next().unwrap_or_default();
    Problem::new(name, place(message, name), first)
}

/// The line number behind `name:` in a complaint such as `justfile:3:1`.
fn place(message: &str, name: &str) -> Option<usize> {
    let (_, rest) = message.split_once(&format!("{name}:"))?;
    let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
    digits.parse().ok()
}

/// The dumped recipes in the order of the text, with place and body from the text.
fn merged(dump: &Node, recipes: &[Recipe]) -> Vec<Task> {
    let order: HashMap<&str, (usize, &Recipe)> = recipes
        .iter()
        .enumerate()
        .map(|(at, recipe)| (recipe.path.as_str(), (at, recipe)))
        .collect();
    let mut tasks = Vec::new();
    collect(dump, "", &order, &mut tasks);
    tasks.sort_by_key(|task| order.get(task.target.as_str()).map_or(usize::MAX, |(at, _)| *at));
    tasks
}

fn collect(
    module: &Node,
    prefix: &str,
    order: &HashMap<&str, (usize, &Recipe)>,
    tasks: &mut Vec<Task>,
) {
    for entry in module.entries_at(&["recipes"]) {
        let node = &entry.node;
        let path = under(prefix, &entry.key);
        let mut task = Task::new(path.replace("::", "/"), Kind::Target, &["just", &path])
            .doc(node.text_at(&["doc"]))
            .parameters(node.get("parameters").map(parameters).unwrap_or_default());
        let depends = node.get("dependencies").map(Node::list).unwrap_or_default().iter();
        let depends = depends.filter_map(|one| one.text_at(&["recipe"]));
        task.depends = depends.map(|name| under(prefix, name).replace("::", "/")).collect();
        task.target.clone_from(&path);
        if node.get("private").is_some_and(Node::is_true) {
            task.visibility = Visibility::Internal;
        }
        // The body is the dump's: of two recipes of one name, only just knows which one counts.
        let is_program = node.get("shebang").is_some_and(Node::is_true);
        let evaluated = ["parameters", "dependencies"].iter().filter_map(|key| node.get(key));
        let (language, steps) = script(&body(node), is_program, evaluated.into_iter().any(runs));
        let task = match order.get(path.as_str()) {
            Some((_, recipe)) => {
                // The dump has computed defaults only as a tree; the text has them as written.
                for (parameter, written) in task.parameters.iter_mut().zip(&recipe.parameters) {
                    parameter.default.clone_from(&written.default);
                }
                task.source(&recipe.file, recipe.line)
            }
            None => task,
        };
        tasks.push(task.steps(language, steps));
    }
    for entry in module.entries_at(&["aliases"]) {
        let path = under(prefix, &entry.key);
        let target = under(prefix, entry.node.text_at(&["target"]).unwrap_or_default());
        let mut task = Task::new(path.replace("::", "/"), Kind::Alias, &["just", &path])
            .depends(vec![target.replace("::", "/")]);
        task.visibility = Visibility::Hidden;
        task.target = path;
        if !entry.key.starts_with('_') {
            tasks.push(task);
        }
    }
    for entry in module.entries_at(&["modules"]) {
        collect(&entry.node, &under(prefix, &entry.key), order, tasks);
    }
}

fn under(prefix: &str, name: &str) -> String {
    if prefix.is_empty() { name.to_owned() } else { format!("{prefix}::{name}") }
}

fn parameters(node: &Node) -> Vec<Parameter> {
    let parameters = node.list().iter().filter_map(|parameter| {
        let default = parameter.get("default").filter(|node| node.value != Value::Null);
        let arity = match parameter.text_at(&["kind"]) {
            Some("plus") => Arity::OneOrMore,
            Some("star") => Arity::ZeroOrMore,
            _ if default.is_some() => Arity::Optional,
            _ => Arity::Required,
        };
        Some(Parameter {
            name: parameter.text_at(&["name"])?.to_owned(),
            arity,
            default: default.map(|node| node.text().unwrap_or("(computed)").to_owned()),
            doc: parameter.text_at(&["help"]).map(str::to_owned),
        })
    });
    parameters.collect()
}

/// A body from the dump; what is neither text nor a variable becomes a placeholder.
fn body(recipe: &Node) -> Vec<String> {
    let lines = recipe.get("body").map(Node::list).unwrap_or_default().iter();
    let lines = lines.map(|line| line.list().iter().map(fragment).collect::<String>());
    lines.filter(|line| !line.is_empty()).collect()
}

fn fragment(part: &Node) -> String {
    if let Some(text) = part.text() {
        return text.to_owned();
    }
    let variable = part.list().first().map(Node::texts).unwrap_or_default();
    match variable.as_slice() {
        [kind, name] if kind == "variable" => format!("{{{{{name}}}}}"),
        _ => COMPUTED.to_owned(),
    }
}

/// Whether a value is made by a command, or goes into the environment of all.
fn runs(node: &Node) -> bool {
    let words = node.texts();
    let is_command = match words.first().map(String::as_str) {
        Some("evaluate" | "backtick") => true,
        Some("call") => words.get(1).is_some_and(|name| name == "shell"),
        _ => false,
    };
    let is_exported = node.get("export").is_some_and(Node::is_true);
    is_command
        || is_exported
        || node.list().iter().any(runs)
        || node.entries().iter().any(|entry| runs(&entry.node))
}

/// A recipe as the text has it.
struct Recipe {
    /// `module::name`.
    path: String,
    file: String,
    line: usize,
    doc: Option<String>,
    is_private: bool,
    /// Whether an attribute makes a program of its body.
    is_program: bool,
    /// Whether its first line runs commands.
    runs: bool,
    parameters: Vec<Parameter>,
    /// Names of the recipes it needs, as tasks.
    needs: Vec<String>,
    body: Vec<String>,
}

impl Recipe {
    fn task(&self) -> Task {
        let mut task = Task::new(self.path.replace("::", "/"), Kind::Target, &["just", &self.path])
            .doc(self.doc.as_deref())
            .parameters(self.parameters.clone())
            .depends(self.needs.clone());
        task.target.clone_from(&self.path);
        if self.is_private {
            task.visibility = Visibility::Internal;
        }
        let (language, steps) = script(&self.body, self.is_program, self.runs);
        task.source(&self.file, self.line).steps(language, steps)
    }
}

/// A body in the parts that run one by one, without the signs for quiet and forgiving lines, which
/// are no shell.
fn script(lines: &[String], is_program: bool, runs: bool) -> (Language, Vec<String>) {
    if is_program || lines.first().is_some_and(|line| line.starts_with("#!")) {
        return (Language::Program, vec![lines.join("\n")]);
    }
    let mut steps: Vec<String> = Vec::new();
    for line in lines {
        match steps.last_mut() {
            Some(last) if last.ends_with('\\') => {
                last.push('\n');
                last.push_str(line);
            }
            _ => steps.push(line.trim_start_matches(['@', '-']).to_owned()),
        }
    }
    steps.extend(runs.then(|| COMPUTED.to_owned()));
    (Language::Template, steps)
}

/// The text reader, over all files of the project.
struct Reading<'a> {
    scene: &'a Scene<'a>,
    recipes: Vec<Recipe>,
    prelude: Vec<Script>,
    read: HashSet<(String, String)>,
}

impl Reading<'_> {
    fn file(&mut self, file: &str, module: &str) -> Result<(), Problem> {
        if self.read.len() >= MAX_FILES || !self.read.insert((file.to_owned(), module.to_owned())) {
            return Ok(());
        }
        let Some(text) = self.scene.folder.text(file)? else { return Ok(()) };
        let directory = file.rsplit_once('/').map_or("", |(directory, _)| directory);
        let mut doc = None;
        let (mut is_private, mut is_program) = (false, false);
        let mut current: Option<usize> = None;
        let mut lines = text.lines().enumerate();
        while let Some((index, line)) = lines.next() {
            if line.starts_with([' ', '\t']) {
                if let Some(recipe) = current.and_then(|at| self.recipes.get_mut(at)) {
                    recipe.body.push(line.trim().to_owned());
                }
                continue;
            }
            if line.trim().is_empty() {
                doc = None;
                continue;
            }
            current = None;
            let mut line = line.to_owned();
            while line.ends_with('\\') {
                line.pop();
                line.push_str(lines.next().map_or("", |(_, more)| more.trim_start()));
            }
            if let Some(comment) = line.strip_prefix('#') {
                doc = Some(comment.trim().to_owned());
            } else if line.starts_with('[') {
                is_private |= line.contains("private");
                is_program |= line.contains("script");
                doc = attribute_doc(&line).or(doc);
            } else if let Some((kind, name, path)) = reference(&line) {
                self.follow(directory, module, kind, name, path)?;
                (doc, is_private, is_program) = (None, false, false);
            } else {
                if let Some((name, parameters, needs)) = header(&line) {
                    current = Some(self.recipes.len());
                    self.recipes.push(Recipe {
                        is_private: is_private || name.starts_with('_'),
                        is_program,
                        runs: evaluates(&line) || line.contains('$'),
                        path: under(module, name),
                        file: file.to_owned(),
                        line: index + 1,
                        doc: doc.take(),
                        parameters,
                        needs: needs
                            .iter()
                            .map(|need| under(module, need).replace("::", "/"))
                            .collect(),
                        body: Vec::new(),
                    });
                } else if steers(&line) {
                    let commands = line.split('`').skip(1).step_by(2);
                    let commands = commands.map(|text| Script::new(Language::Template, text));
                    self.prelude.extend(commands);
                    self.prelude.push(Script::new(Language::Other, &line));
                }
                (doc, is_private, is_program) = (None, false, false);
            }
        }
        Ok(())
    }

    fn follow(
        &mut self,
        directory: &str,
        module: &str,
        kind: Reference,
        name: &str,
        path: Option<&str>,
    ) -> Result<(), Problem> {
        let is_outside =
            |path: &str| path.starts_with(['/', '~']) || path.split('/').any(|part| part == "..");
        if let Some(path) = path.filter(|path| is_outside(path)) {
            self.prelude.push(Script::new(Language::Other, path));
            return Ok(());
        }
        let here = |path: &str| joined(directory, path.trim_start_matches("./"));
        match kind {
            Reference::Import => self.file(&here(path.unwrap_or_default()), module),
            Reference::Module => {
                let places: Vec<String> = match path {
                    Some(path) => ["", "/mod.just", "/justfile", "/.justfile"]
                        .map(|end| here(&format!("{path}{end}")))
                        .into(),
                    None => [".just", "/mod.just", "/justfile", "/Justfile", "/.justfile"]
                        .map(|end| here(&format!("{name}{end}")))
                        .into(),
                };
                match places.into_iter().find(|file| self.scene.folder.has(file)) {
                    Some(file) => self.file(&file, &under(module, name)),
                    None => Ok(()),
                }
            }
        }
    }
}

/// Whether a line runs commands to make its values.
fn evaluates(line: &str) -> bool {
    line.contains('`') || line.contains("shell(") || line.contains("shell (")
}

/// Whether a line that is no recipe decides what all recipes do: a command for a value, a variable
/// for every program, another shell.
fn steers(line: &str) -> bool {
    if evaluates(line) || line.starts_with("export ") {
        return true;
    }
    let Some(setting) = line.strip_prefix("set ") else { return false };
    let name = setting.split([' ', ':']).next().unwrap_or_default();
    match name {
        "shell" => !is_usual_shell(setting),
        "export" | "script-interpreter" | "default-script" | "working-directory" => true,
        name => name.starts_with("dotenv"),
    }
}

/// `["bash", "-euo", "pipefail", "-c"]` and its like.
fn is_usual_shell(setting: &str) -> bool {
    let words: Vec<&str> = setting.split(['\'', '"']).skip(1).step_by(2).collect();
    let Some((shell, options)) = words.split_first() else { return false };
    let is_option = |word: &&str| {
        *word == "pipefail"
            || word.strip_prefix('-').is_some_and(|rest| rest.chars().all(|c| "ceuxo".contains(c)))
    };
    matches!(*shell, "sh" | "bash" | "dash" | "zsh") && options.iter().all(is_option)
}

#[derive(Clone, Copy)]
enum Reference {
    Import,
    Module,
}

/// `import 'path'`, `mod name`, `mod name 'path'`, each perhaps with `?`.
fn reference(line: &str) -> Option<(Reference, &str, Option<&str>)> {
    let (word, rest) = line.split_once(' ')?;
    let quoted = rest.split(['\'', '"']).nth(1);
    match word.trim_end_matches('?') {
        "import" => quoted.map(|path| (Reference::Import, "", Some(path))),
        "mod" => {
            let name = rest.split_whitespace().next()?;
            is_name(name).then_some((Reference::Module, name, quoted))
        }
        _ => None,
    }
}

fn attribute_doc(line: &str) -> Option<String> {
    let (_, rest) = line.split_once("doc(")?;
    rest.split(['\'', '"']).nth(1).map(str::to_owned)
}

fn is_name(text: &str) -> bool {
    let mut chars = text.chars();
    chars.next().is_some_and(|c| c.is_ascii_alphabetic() || c == '_')
        && chars.all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-')
}

/// A recipe's first line: name, parameters and the recipes it needs.
fn header(line: &str) -> Option<(&str, Vec<Parameter>, Vec<&str>)> {
    let line = line.trim_start_matches('@');
    let (head, rest) = split_at_colon(line)?;
    if rest.starts_with('=') {
        return None;
    }
    let mut head = words(head).into_iter();
    let name = head.next()?;
    let rest = rest.split('#').next().unwrap_or(rest);
    // `(need 'with' arguments)` names its recipe first; `&&` only says when.
    let needs = words(rest).into_iter().filter(|word| *word != "&&");
    let needs = needs.filter_map(|word| word.trim_matches(['(', ')']).split_whitespace().next());
    is_name(name).then(|| (name, head.map(parameter).collect(), needs.collect()))
}

/// Splits at the colon outside quotes and parentheses.
fn split_at_colon(line: &str) -> Option<(&str, &str)> {
    let at = outside(line, |c| c == ':').next()?;
    Some((&line[..at], &line[at + 1..]))
}

fn words(text: &str) -> Vec<&str> {
    let mut words = Vec::new();
    let mut start = 0;
    for at in outside(text, char::is_whitespace).chain([text.len()]) {
        words.push(&text[start..at]);
        start = (at + 1).min(text.len());
    }
    words.retain(|word| !word.is_empty());
    words
}

/// Places of characters that stand in no quotes and no parentheses.
fn outside(text: &str, wanted: impl Fn(char) -> bool) -> impl Iterator<Item = usize> {
    let mut quote = None;
    let mut depth = 0_usize;
    text.char_indices().filter_map(move |(at, c)| {
        match (quote, c) {
            (Some(open), c) if c == open => quote = None,
            (None, '\'' | '"' | '`') => quote = Some(c),
            (None, '(') => depth += 1,
            (None, ')') => depth = depth.saturating_sub(1),
            (None, c) if depth == 0 && wanted(c) => return Some(at),
            _ => {}
        }
        None
    })
}

fn parameter(word: &str) -> Parameter {
    let (name, default) =
        word.split_once('=').map_or((word, None), |(name, value)| (name, Some(value)));
    let arity = match name.chars().next() {
        Some('+') => Arity::OneOrMore,
        Some('*') => Arity::ZeroOrMore,
        _ if default.is_some() => Arity::Optional,
        _ => Arity::Required,
    };
    Parameter {
        name: name.trim_start_matches(['+', '*', '$']).to_owned(),
        arity,
        default: default.map(|text| text.trim_matches(['\'', '"']).to_owned()),
        doc: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_first_line_gives_name_and_parameters() {
        let (name, parameters, needs) =
            header("build target='a b' +files *rest: dep (other 'x:y')").unwrap();
        assert_eq!(name, "build");
        let shapes: Vec<_> = parameters.iter().map(|p| (p.name.as_str(), p.arity)).collect();
        let expected =
            [("target", Arity::Optional), ("files", Arity::OneOrMore), ("rest", Arity::ZeroOrMore)];
        assert_eq!(shapes, expected);
        assert_eq!(parameters[0].default.as_deref(), Some("a b"));
        assert_eq!(needs, ["dep", "other"]);
        assert!(header("x := 'y'").is_none());
        assert!(header("set shell := ['a']").is_none());
    }

    #[test]
    fn a_complaint_tells_its_line() {
        assert_eq!(place("x\n ——▶ justfile:12:3\n", "justfile"), Some(12));
        assert_eq!(place("no place", "justfile"), None);
    }

    #[test]
    fn what_every_recipe_depends_on_is_told() {
        for line in [
            "v := `touch a`",
            "v := shell('touch a')",
            "export PATH := './bin'",
            "set shell := ['python3', '-c']",
            "set dotenv-load",
            "set export",
        ] {
            assert!(steers(line), "{line}");
        }
        for line in ["v := 'a'", "set shell := ['bash', '-euo', 'pipefail', '-c']", "set quiet"] {
            assert!(!steers(line), "{line}");
        }
    }

    #[test]
    fn a_private_recipe_is_known_and_cannot_be_named() {
        let text = "a x=`date`: _b\n    @echo \\\n      one\n    cat <<E\n_b:\n    rm -rf x\n\
                    [script('python3')]\nc:\n    print(1)\nimport '../x.just'\n";
        let runner = crate::detect::read("just", &[("justfile", text)]);
        assert!(runner.task("_b").is_none());
        let steps = |at: usize| &runner.tasks[at].script.as_ref().unwrap().steps;
        assert_eq!(*steps(0), ["echo \\\none", "cat <<E", COMPUTED]);
        assert_eq!(*steps(1), ["rm -rf x"]);
        assert_eq!(runner.tasks[2].script.as_ref().unwrap().language, Language::Program);
        assert_eq!(runner.prelude[0].text(), "../x.just");
    }
}
