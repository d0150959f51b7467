//! `package.json` and its workspaces, shared by the four package managers. One manager owns a
//! folder: the lock file decides, then the `packageManager` field, then npm. The scripts are the
//! same whoever runs them; only the command differs.

use std::collections::{HashMap, HashSet};

use crate::{
    detect::{Found, Scene},
    glob,
    project::Problem,
    task::{Arguments, Kind, Language, Task},
    tree::{Format, Node},
};

/// The manifest.
const MANIFEST: &str = "package.json";

/// Lock files in the order in which they decide.
const LOCKS: [(&str, &str); 6] = [
    ("bun.lock", "bun"),
    ("bun.lockb", "bun"),
    ("pnpm-lock.yaml", "pnpm"),
    ("yarn.lock", "yarn"),
    ("package-lock.json", "npm"),
    ("npm-shrinkwrap.json", "npm"),
];

/// The programs that can run a `package.json`.
const MANAGERS: [&str; 4] = ["npm", "bun", "pnpm", "yarn"];

/// What this manager offers, if the folder is its own.
pub(crate) fn detect(scene: &Scene<'_>, manager: &str) -> Option<Found> {
    let folder = scene.folder;
    if !folder.has(MANIFEST) {
        return None;
    }
    let lock = LOCKS.iter().find(|(file, _)| folder.has(file));
    let root = folder.tree(MANIFEST, Format::Json);
    let named = root.as_ref().ok().and_then(|node| declared(node.as_deref()?));
    let owner = lock.map(|(_, manager)| *manager).or(named).unwrap_or("npm");
    if owner != manager {
        return None;
    }
    let mut found = Found::by(MANIFEST);
    found.evidence.extend(lock.map(|(file, _)| (*file).to_owned()));
    let others = MANAGERS.iter().filter(|other| **other != manager);
    found.alternatives =
        others.filter(|name| folder.program(name).is_some()).map(ToString::to_string).collect();
    let Some(root) = found.take(root) else { return Some(found) };
    if !root.is_map() {
        found.problems.push(Problem::new(MANIFEST, Some(root.line), "is not an object"));
        return Some(found);
    }
    settings(scene, &mut found);
    let tasks = scripts(&mut found, manager, MANIFEST, &root);
    found.tasks = tasks;
    workspaces(scene, &mut found, manager, &root);
    Some(found)
}

/// Files of the project that tell a manager how to run scripts, and the words that matter there.
const SETTINGS: [(&str, &[&str]); 8] = [
    (".npmrc", &["script-shell", "node-options", "shell-emulator"]),
    ("pnpm-workspace.yaml", &["scriptShell", "shellEmulator", "pnpmfile", "configDependencies"]),
    (".pnpmfile.cjs", &[""]),
    (".pnpmfile.mjs", &[""]),
    (".yarnrc", &["yarn-path", "script-shell"]),
    (".yarnrc.yml", &["yarnPath", "plugins", "injectEnvironmentFiles"]),
    ("bunfig.toml", &["preload", "run", "shell"]),
    (".env", &["PATH", "export ", "NODE_OPTIONS", "BASH_ENV", "ENV", "LD_"]),
];

/// Another shell, or code of the project inside of the manager itself.
fn settings(scene: &Scene<'_>, found: &mut Found) {
    for (file, words) in SETTINGS {
        let Some(text) = found.take(scene.folder.text(file)) else { continue };
        let lines = || text.lines().map(|line| line.trim().trim_start_matches('['));
        // Only the word is kept: what it is set to may be a secret.
        let said = words.iter().filter(|word| lines().any(|line| line.starts_with(**word)));
        for word in said {
            found.beside(format!("{file}: {word}"));
        }
    }
}

/// The manager of the `packageManager` field: `pnpm@9.1.0+sha512…`.
fn declared(node: &Node) -> Option<&'static str> {
    let field = node.text_at(&["packageManager"])?;
    let name = field.split('@').next()?;
    MANAGERS.into_iter().find(|manager| *manager == name)
}

fn scripts(found: &mut Found, manager: &str, file: &str, manifest: &Node) -> Vec<Task> {
    let Some(scripts) = manifest.get("scripts") else { return Vec::new() };
    if !scripts.is_map() {
        found.problems.push(Problem::new(file, Some(scripts.line), "`scripts` is not an object"));
        return Vec::new();
    }
    let names: HashSet<&str> = scripts.entries().iter().map(|entry| entry.key.as_str()).collect();
    // Of two equal keys the last counts, as for every reader of JSON.
    let last: HashMap<&str, usize> =
        scripts.entries().iter().enumerate().map(|(at, entry)| (entry.key.as_str(), at)).collect();
    let mut tasks = Vec::new();
    for (at, entry) in scripts.entries().iter().enumerate() {
        let name = entry.key.as_str();
        if last.get(name) != Some(&at) {
            continue;
        }
        let Some(text) = entry.node.text() else {
            let message = format!("script `{name}` is not a text");
            found.problems.push(Problem::new(file, Some(entry.line), message));
            continue;
        };
        let hooks = [format!("pre{name}"), format!("post{name}")];
        let hooks = hooks.into_iter().filter(|hook| names.contains(hook.as_str())).collect();
        let task = Task::new(name, Kind::Script, &[manager, "run", name])
            .arguments(if manager == "npm" { Arguments::AfterDashes } else { Arguments::Append })
            .source(file, entry.line)
            .script(Language::Shell, text)
            .depends(hooks);
        tasks.push(task);
    }
    tasks
}

fn workspaces(scene: &Scene<'_>, found: &mut Found, manager: &str, root: &Node) {
    let (file, patterns) = patterns(scene, found, manager, root);
    if patterns.is_empty() {
        return;
    }
    let limits = &scene.options.limits;
    let (directories, problems) =
        glob::packages(scene.folder, limits, file, &patterns, &[MANIFEST]);
    found.problems.extend(problems);
    let mut taken = HashSet::new();
    for directory in directories {
        let file = format!("{directory}/{MANIFEST}");
        let Some(manifest) = found.take(scene.folder.tree(&file, Format::Json)) else { continue };
        let name = manifest.text_at(&["name"]).filter(|name| !name.is_empty());
        // Two packages of one name would hide each other; the directory tells them apart.
        let name = name.filter(|name| taken.insert((*name).to_owned())).unwrap_or(&directory);
        for mut task in scripts(found, manager, &file, &manifest) {
            for hook in &mut task.depends {
                *hook = format!("{name}/{hook}");
            }
            found.tasks.push(task.within(name, &directory));
        }
    }
}

fn patterns(
    scene: &Scene<'_>,
    found: &mut Found,
    manager: &str,
    root: &Node,
) -> (&'static str, Vec<String>) {
    const PNPM: &str = "pnpm-workspace.yaml";
    if manager == "pnpm"
        && let Some(node) = found.take(scene.folder.tree(PNPM, Format::Yaml))
        && let Some(packages) = node.get("packages")
    {
        found.evidence.push(PNPM.to_owned());
        return (PNPM, packages.texts());
    }
    let workspaces = root.get("workspaces");
    let patterns = workspaces.map(|node| node.get("packages").unwrap_or(node).texts());
    (MANIFEST, patterns.unwrap_or_default())
}
