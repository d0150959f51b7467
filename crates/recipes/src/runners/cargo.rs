//! Cargo: the built-in subcommands, the aliases of `.cargo/config.toml`, and every binary,
//! example and test of the workspace. The targets come from `cargo metadata`; when that cannot be
//! asked they are inferred from the manifests and the layout by Cargo's own rules. The inference
//! always runs, because it notes the files a cached answer rests on.

use std::{collections::HashSet, ffi::OsStr, path::Path};

use crate::{
    ask::Answer,
    detect::{Definition, Found, Scene},
    glob::{self, joined},
    project::Problem,
    task::{Arguments, Kind, Language, Task, Visibility},
    tree::{self, Format, Node},
};

pub(super) const RUNNER: Definition = Definition {
    id: "cargo",
    label: "Cargo",
    programs: &["cargo"],
    get: "install Rust with rustup (https://rustup.rs)",
    detect,
};

const MANIFEST: &str = "Cargo.toml";

/// The everyday subcommands, with what they do.
const EVERYDAY: [(&str, &str); 10] = [
    ("build", "Compile the package"),
    ("check", "Find errors without building"),
    ("test", "Run the tests"),
    ("run", "Run the binary"),
    ("bench", "Run the benchmarks"),
    ("clippy", "Lint"),
    ("fmt", "Format the sources"),
    ("doc", "Build the documentation"),
    ("clean", "Remove what was built"),
    ("update", "Update the lock file"),
];

/// The other built-in subcommands: known by name, too many for a list.
const OTHERS: [&str; 26] = [
    "add",
    "config",
    "fetch",
    "fix",
    "generate-lockfile",
    "help",
    "info",
    "init",
    "install",
    "locate-project",
    "login",
    "logout",
    "metadata",
    "new",
    "owner",
    "package",
    "pkgid",
    "publish",
    "remove",
    "report",
    "rustc",
    "rustdoc",
    "search",
    "tree",
    "uninstall",
    "vendor",
];

/// A package and its targets.
#[derive(Debug, Default)]
struct Package {
    name: String,
    /// Relative to the project; `.` for the root and for packages outside it.
    directory: String,
    targets: Vec<Target>,
}

#[derive(Debug)]
struct Target {
    kind: Kind,
    name: String,
    source: Option<String>,
    features: Vec<String>,
}

fn detect(scene: &Scene<'_>) -> Option<Found> {
    if !scene.folder.has(MANIFEST) {
        return None;
    }
    let mut found = Found::by(MANIFEST);
    let root = found.take(scene.folder.tree(MANIFEST, Format::Toml));
    let mut packages = Vec::new();
    if let Some(root) = root {
        packages = inferred(scene, &mut found, &root);
        packages = metadata(scene, &mut found, packages);
    }
    let has_bin = packages.iter().flat_map(|package| &package.targets).any(|t| t.kind == Kind::Bin);
    found.tasks = subcommands(has_bin);
    aliases(scene, &mut found);
    let is_workspace = packages.len() > 1;
    for package in &packages {
        let tasks = package.targets.iter().map(|target| task(package, target, is_workspace));
        found.tasks.extend(tasks);
    }
    Some(found)
}

fn subcommands(has_bin: bool) -> Vec<Task> {
    let everyday = EVERYDAY.iter().map(|(name, doc)| {
        let mut task = Task::new(*name, Kind::Subcommand, &["cargo", name]).doc(Some(doc));
        if *name == "run" && !has_bin {
            task.visibility = Visibility::Hidden;
        }
        task
    });
    let others = OTHERS.iter().map(|name| {
        let mut task = Task::new(*name, Kind::Subcommand, &["cargo", name]);
        task.visibility = Visibility::Hidden;
        task
    });
    everyday.chain(others).map(|task| task.arguments(Arguments::Verbatim)).collect()
}

fn aliases(scene: &Scene<'_>, found: &mut Found) {
    let Some(file) = scene.folder.first(&[".cargo/config.toml", ".cargo/config"]) else { return };
    let Some(config) = found.take(scene.folder.tree(&file, Format::Toml)) else { return };
    for entry in config.entries_at(&["alias"]) {
        let name = entry.key.as_str();
        let text = format!("cargo {}", entry.node.texts().join(" "));
        let task = Task::new(name, Kind::Alias, &["cargo", name])
            .arguments(Arguments::Verbatim)
            .source(&file, entry.line)
            .script(Language::Shell, text);
        found.tasks.push(task);
    }
}

fn task(package: &Package, target: &Target, is_workspace: bool) -> Task {
    let (verb, flag, word, arguments) = match target.kind {
        Kind::Example => ("run", "--example", "example", Arguments::AfterDashes),
        Kind::Test => ("test", "--test", "test", Arguments::Verbatim),
        _ => ("run", "--bin", "bin", Arguments::AfterDashes),
    };
    let mut argv = vec!["cargo", verb];
    if is_workspace {
        argv.extend(["--package", &package.name]);
    }
    let features = target.features.join(",");
    if !features.is_empty() {
        argv.extend(["--features", &features]);
    }
    argv.extend([flag, &target.name]);
    let mut task = Task::new(format!("{word}/{}", target.name), target.kind, &argv);
    if is_workspace {
        task = task.within(&package.name, &package.directory);
    }
    target.name.clone_into(&mut task.target);
    let task = task.arguments(arguments);
    match &target.source {
        Some(file) => task.source(file, 1),
        None => task,
    }
}

/// What `cargo metadata` says, if it can be asked; a workspace it refuses has nothing to run.
///
/// Cargo is asked from the root directory: in the project, a `rust-toolchain.toml` may name a
/// toolchain of the project's own, and answering would run it.
fn metadata(scene: &Scene<'_>, found: &mut Found, inferred: Vec<Package>) -> Vec<Package> {
    let manifest = scene.folder.real_root().join(MANIFEST);
    let arguments = ["metadata", "--no-deps", "--format-version=1", "--offline", "--manifest-path"];
    let arguments: Vec<&OsStr> =
        arguments.iter().map(OsStr::new).chain([manifest.as_os_str()]).collect();
    let has_toolchain = scene.folder.first(&["rust-toolchain.toml", "rust-toolchain"]).is_some();
    match scene.ask("cargo", Path::new("/"), &arguments) {
        None => inferred,
        Some(Ok(answer)) if answer.is_success => {
            let text = String::from_utf8_lossy(&answer.stdout);
            let Ok(node) = tree::parse(&text, Format::Json) else { return inferred };
            let packages = node.get("packages").map(Node::list).unwrap_or_default();
            packages.iter().filter_map(|package| described(scene, package)).collect()
        }
        // The project's own toolchain may read what the usual one refuses.
        Some(Ok(_)) if has_toolchain => inferred,
        Some(Ok(answer)) => {
            found.problems.push(complaint(&answer));
            Vec::new()
        }
        Some(Err(message)) => {
            found.problems.push(Problem::new(MANIFEST, None, message));
            inferred
        }
    }
}

fn complaint(answer: &Answer) -> Problem {
    let lines = answer.stderr.lines().map(str::trim).filter(|line| !line.is_empty());
    let message: Vec<&str> = lines.take(6).collect();
    Problem::new(MANIFEST, None, format!("cargo metadata: {}", message.join(" ")))
}

fn described(scene: &Scene<'_>, package: &Node) -> Option<Package> {
    let name = package.text_at(&["name"])?.to_owned();
    let manifest = Path::new(package.text_at(&["manifest_path"])?);
    let directory = manifest.parent().and_then(|path| scene.folder.relative(path));
    let directory = directory.filter(|path| !path.is_empty()).unwrap_or_else(|| String::from("."));
    let targets = package.get("targets")?.list().iter().filter_map(|target| {
        let kinds = target.get("kind")?.texts();
        let kind = match kinds.first()?.as_str() {
            "bin" => Kind::Bin,
            "example" => Kind::Example,
            "test" => Kind::Test,
            _ => return None,
        };
        let is_runnable = kind != Kind::Example
            || target.get("crate_types").is_some_and(|types| types.texts() == ["bin"]);
        let source =
            target.text_at(&["src_path"]).and_then(|path| scene.folder.relative(Path::new(path)));
        let features = target.get("required-features").map(Node::texts).unwrap_or_default();
        let name = target.text_at(&["name"])?.to_owned();
        is_runnable.then_some(Target { kind, name, source, features })
    });
    Some(Package { targets: targets.collect(), name, directory })
}

/// The packages by the manifests alone.
fn inferred(scene: &Scene<'_>, found: &mut Found, root: &Node) -> Vec<Package> {
    let mut packages: Vec<Package> = package(scene, root, ".").into_iter().collect();
    let Some(workspace) = root.get("workspace") else { return packages };
    let mut patterns = workspace.get("members").map(Node::texts).unwrap_or_default();
    let excluded = workspace.get("exclude").map(Node::texts).unwrap_or_default();
    patterns.extend(excluded.iter().map(|pattern| format!("!{pattern}")));
    let limits = &scene.options.limits;
    let (directories, problems) =
        glob::packages(scene.folder, limits, MANIFEST, &patterns, &[MANIFEST]);
    found.problems.extend(problems);
    for directory in directories {
        let file = format!("{directory}/{MANIFEST}");
        let Some(member) = found.take(scene.folder.tree(&file, Format::Toml)) else { continue };
        packages.extend(package(scene, &member, &directory));
    }
    packages
}

fn package(scene: &Scene<'_>, manifest: &Node, directory: &str) -> Option<Package> {
    let name = manifest.text_at(&["package", "name"])?.to_owned();
    let mut targets = Vec::new();
    let main = joined(directory, "src/main.rs");
    if is_automatic(manifest, "autobins") && scene.folder.has(&main) {
        targets.push(Target {
            kind: Kind::Bin,
            name: name.clone(),
            source: Some(main),
            features: Vec::new(),
        });
    }
    for (kind, table, auto, place) in [
        (Kind::Bin, "bin", "autobins", "src/bin"),
        (Kind::Example, "example", "autoexamples", "examples"),
        (Kind::Test, "test", "autotests", "tests"),
    ] {
        for declared in manifest.get(table).map(Node::list).unwrap_or_default() {
            let Some(name) = declared.text_at(&["name"]) else { continue };
            let source = declared.text_at(&["path"]).map(|path| joined(directory, path));
            let features = declared.get("required-features").map(Node::texts).unwrap_or_default();
            // A declared target replaces the one found at the same path or under the same name.
            targets.retain(|t: &Target| {
                t.kind != kind || (t.name != name && (t.source.is_none() || t.source != source))
            });
            targets.push(Target { kind, name: name.to_owned(), source, features });
        }
        if is_automatic(manifest, auto) {
            discover(scene, &mut targets, kind, &joined(directory, place));
        }
    }
    Some(Package { name, directory: directory.to_owned(), targets })
}

fn is_automatic(manifest: &Node, switch: &str) -> bool {
    manifest.at(&["package", switch]).is_none_or(Node::is_true)
}

/// `place/x.rs` and `place/x/main.rs` are targets named `x`.
fn discover(scene: &Scene<'_>, targets: &mut Vec<Target>, kind: Kind, place: &str) {
    let of_kind = targets.iter().filter(|target| target.kind == kind);
    let mut known: HashSet<String> = of_kind
        .flat_map(|target| [Some(target.name.clone()), target.source.clone()])
        .flatten()
        .collect();
    for entry in scene.folder.list(place) {
        let (name, source) = if entry.is_directory {
            let main = format!("{place}/{}/main.rs", entry.text);
            if !scene.folder.has(&main) {
                continue;
            }
            (entry.text.clone(), main)
        } else if let Some(name) = entry.text.strip_suffix(".rs") {
            (name.to_owned(), format!("{place}/{}", entry.text))
        } else {
            continue;
        };
        if !known.contains(&source) && known.insert(name.clone()) {
            targets.push(Target { kind, name, source: Some(source), features: Vec::new() });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::detect::read;

    #[test]
    fn declared_targets_replace_discovered_ones() {
        let text = "[package]\nname = \"p\"\nautotests = false\n[[bin]]\nname = \"renamed\"\npath = \"src/main.rs\"\n";
        let files = [
            ("Cargo.toml", text),
            ("src/main.rs", ""),
            ("src/bin/two/main.rs", ""),
            ("tests/a.rs", ""),
        ];
        let runner = read("cargo", &files);
        let targets = runner.tasks.iter().filter(|task| task.kind != Kind::Subcommand);
        let names: Vec<_> = targets.map(|task| task.name.as_str()).collect();
        assert_eq!(names, ["bin/renamed", "bin/two"]);
    }
}
