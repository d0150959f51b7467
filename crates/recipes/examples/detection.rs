//! How long detection takes: a workspace of 200 packages for each kind of workspace, and a
//! `package.json` of ten megabytes, cold and warm, without external tools.
//!
//! Run it with `cargo run --release -p umbo-recipes --example detection`.

#![expect(clippy::print_stdout, reason = "an example prints")]

use std::{
    path::Path,
    time::{Duration, Instant},
};

use umbo_recipes::{Asking, Cache, Options, detect};

type Failure = Box<dyn std::error::Error>;

/// Packages in a workspace.
const PACKAGES: usize = 200;

/// Detections of each sort; the median is printed.
const ROUNDS: usize = 15;

fn main() -> Result<(), Failure> {
    println!(
        "{:<24} {:>6} {:>12} {:>14} {:>12}",
        "folder", "tasks", "cold", "warm (memory)", "warm (disk)"
    );
    row("npm, 200 packages", npm)?;
    row("cargo, 200 packages", cargo)?;
    row("uv, 200 packages", uv)?;
    row("go, 200 modules", go)?;
    row("all four together", |root| {
        npm(root)?;
        cargo(root)?;
        uv(root)?;
        go(root)
    })?;
    row("package.json of 10 MB", huge)
}

fn row(name: &str, fill: impl Fn(&Path) -> Result<(), Failure>) -> Result<(), Failure> {
    let folder = tempfile::tempdir()?;
    fill(folder.path())?;
    let store = tempfile::tempdir()?;
    let options = Options { asking: Asking::Never, ..Options::default() };
    let look = |cache: Option<&Cache>| detect(folder.path(), &options, cache);
    let cold = median(|| look(None).map(drop))?;
    let memory = Cache::in_memory();
    look(Some(&memory))?;
    let warm = median(|| look(Some(&memory)).map(drop))?;
    look(Some(&Cache::in_directory(store.path())))?;
    let disk = median(|| look(Some(&Cache::in_directory(store.path()))).map(drop))?;
    let tasks = look(None)?.tasks().count();
    println!("{name:<24} {tasks:>6} {cold:>12.1?} {warm:>14.1?} {disk:>12.1?}");
    Ok(())
}

fn median(mut work: impl FnMut() -> Result<(), umbo_recipes::Error>) -> Result<Duration, Failure> {
    let mut times = Vec::new();
    for _ in 0..ROUNDS {
        let start = Instant::now();
        work()?;
        times.push(start.elapsed());
    }
    times.sort();
    Ok(times[ROUNDS / 2])
}

fn write(root: &Path, name: &str, text: &str) -> Result<(), Failure> {
    let path = root.join(name);
    if let Some(parent) = path.parent() {
        std::fs::create_dir_all(parent)?;
    }
    Ok(std::fs::write(path, text)?)
}

fn npm(root: &Path) -> Result<(), Failure> {
    write(root, "package.json", r#"{"workspaces": ["packages/*"], "scripts": {"build": "x"}}"#)?;
    for n in 0..PACKAGES {
        let text = format!(
            r#"{{"name": "pkg-{n}", "scripts": {{"build": "tsc", "test": "vitest", "dev": "vite", "lint": "eslint ."}}, "dependencies": {{"react": "1.0.0"}}}}"#
        );
        write(root, &format!("packages/p{n}/package.json"), &text)?;
    }
    Ok(())
}

fn cargo(root: &Path) -> Result<(), Failure> {
    write(root, "Cargo.toml", "[workspace]\nmembers = [\"crates/*\"]\n")?;
    for n in 0..PACKAGES {
        let text = format!("[package]\nname = \"c{n}\"\nversion = \"0.1.0\"\nedition = \"2024\"\n");
        write(root, &format!("crates/c{n}/Cargo.toml"), &text)?;
        write(root, &format!("crates/c{n}/src/main.rs"), "fn main() {}\n")?;
        write(root, &format!("crates/c{n}/tests/it.rs"), "")?;
    }
    Ok(())
}

fn uv(root: &Path) -> Result<(), Failure> {
    write(root, "pyproject.toml", "[tool.uv.workspace]\nmembers = ['libs/*']\n")?;
    for n in 0..PACKAGES {
        let text = format!("[project]\nname = 'u{n}'\n[project.scripts]\nrun{n} = 'a:b'\n");
        write(root, &format!("libs/u{n}/pyproject.toml"), &text)?;
    }
    Ok(())
}

fn go(root: &Path) -> Result<(), Failure> {
    let uses: Vec<String> = (0..PACKAGES).map(|n| format!("\t./mods/m{n}\n")).collect();
    write(root, "go.work", &format!("go 1.21\nuse (\n{})\n", uses.concat()))?;
    for n in 0..PACKAGES {
        write(root, &format!("mods/m{n}/go.mod"), &format!("module x.org/m{n}\n"))?;
        write(root, &format!("mods/m{n}/main.go"), "package main\n")?;
    }
    Ok(())
}

fn huge(root: &Path) -> Result<(), Failure> {
    let filler = format!("{{\"{}\": [1, 2, null]}}", "x".repeat(80));
    let text = format!(
        "{{\"scripts\": {{\"t\": \"x\"}}, \"x\": [{}]}}",
        vec![filler; 100_000].join(",\n")
    );
    write(root, "package.json", &text)
}
