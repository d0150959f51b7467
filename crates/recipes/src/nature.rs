//! How long a task may take and whether it ends by itself, guessed from its name and its script.
//! Words only; a guess here changes a default and never what runs.

use crate::task::{Kind, Lifetime, Script, Task, TimeoutClass};

/// Name words that mean a server or a watcher.
const LIVING_NAMES: [&str; 10] =
    ["dev", "start", "serve", "server", "watch", "preview", "storybook", "daemon", "up", "live"];

/// Name words that mean the task ends, whatever else is in the name: `build:dev`, `test-server`.
const ENDING_NAMES: [&str; 15] = [
    "build", "test", "lint", "check", "format", "fmt", "clean", "stop", "install", "deploy",
    "release", "publish", "compile", "bundle", "setup",
];

/// Programs that stay, alone or with the word that makes them stay.
const LIVING_COMMANDS: [&str; 42] = [
    "vite",
    "vite dev",
    "vite serve",
    "vite preview",
    "next dev",
    "next start",
    "nuxt dev",
    "nuxt start",
    "nodemon",
    "ts-node-dev",
    "tsx watch",
    "webpack serve",
    "webpack-dev-server",
    "react-scripts start",
    "vue-cli-service serve",
    "ng serve",
    "astro dev",
    "remix dev",
    "svelte-kit dev",
    "gatsby develop",
    "parcel serve",
    "http-server",
    "live-server",
    "serve",
    "json-server",
    "browser-sync start",
    "storybook dev",
    "start-storybook",
    "pm2 start",
    "docusaurus start",
    "vitepress dev",
    "wrangler dev",
    "expo start",
    "flask run",
    "uvicorn",
    "gunicorn",
    "hypercorn",
    "mkdocs serve",
    "rails server",
    "cargo watch",
    "air",
    "watchexec",
];

/// Words anywhere in a script that keep it running.
const LIVING_WORDS: [&str; 8] =
    ["--watch", "--watchAll", "--hot", "runserver", "http.server", "bacon", "--reload", "-watch"];

const QUICK_NAMES: [&str; 9] =
    ["fmt", "format", "clean", "help", "list", "version", "stop", "down", "env"];

const LONG_NAMES: [&str; 17] = [
    "build",
    "test",
    "tests",
    "bench",
    "install",
    "release",
    "deploy",
    "publish",
    "ci",
    "e2e",
    "compile",
    "package",
    "verify",
    "integration",
    "coverage",
    "all",
    "docker",
];

/// Sets the timeout class and the lifetime of a finished task.
pub(crate) fn classify(task: &mut Task) {
    let words: Vec<String> = words_of_name(&task.target);
    let script = task.script.as_ref().map(Script::text).unwrap_or_default();
    task.lifetime = if is_long_lived(task.kind, &words, &script) {
        Lifetime::LongLived
    } else {
        Lifetime::Finite
    };
    let has = |names: &[&str]| words.iter().any(|word| names.contains(&word.as_str()));
    task.timeout = match task.lifetime {
        Lifetime::LongLived => TimeoutClass::Unbounded,
        Lifetime::Finite if has(&LONG_NAMES) || task.kind == Kind::Test => TimeoutClass::Long,
        Lifetime::Finite if has(&QUICK_NAMES) => TimeoutClass::Quick,
        Lifetime::Finite => TimeoutClass::Normal,
    };
}

fn words_of_name(name: &str) -> Vec<String> {
    let parts = name.split(|c: char| !c.is_ascii_alphanumeric()).filter(|part| !part.is_empty());
    parts.map(str::to_ascii_lowercase).collect()
}

fn is_long_lived(kind: Kind, words: &[String], script: &str) -> bool {
    if kind == Kind::Service {
        return true;
    }
    if kind == Kind::Subcommand {
        return false;
    }
    let has = |names: &[&str]| words.iter().any(|word| names.contains(&word.as_str()));
    // A script is read only as far as a person would write one by hand.
    let script = script.get(..4096).unwrap_or(script);
    let stays = script_stays(script);
    if has(&["watch"]) || stays {
        return true;
    }
    has(&LIVING_NAMES) && !has(&ENDING_NAMES)
}

fn script_stays(script: &str) -> bool {
    script.split(['\n', ';', '|', '&']).any(|command| {
        let words: Vec<&str> =
            command.split_whitespace().map(|word| word.trim_matches(['"', '\''])).collect();
        let is_word = |known: &&str| words.contains(known);
        if LIVING_WORDS.iter().any(is_word) || words.windows(2).any(|pair| pair == ["tail", "-f"]) {
            return true;
        }
        // Launchers and assignments in front do not change what stays.
        let skipped = words.iter().skip_while(|word| {
            word.contains('=')
                || matches!(
                    **word,
                    "npx"
                        | "bunx"
                        | "exec"
                        | "yarn"
                        | "pnpm"
                        | "cross-env"
                        | "poetry"
                        | "uv"
                        | "run"
                        | "python"
                        | "python3"
                        | "-m"
                        | "env"
                )
        });
        let rest: Vec<&str> = skipped.copied().collect();
        let Some(first) = rest.first() else { return false };
        let first = first.rsplit('/').next().unwrap_or(first);
        let second = rest.get(1).copied().filter(|word| !word.starts_with('-'));
        let name = second.map_or_else(|| first.to_owned(), |second| format!("{first} {second}"));
        let takes_a_file = matches!(
            first,
            "nodemon"
                | "uvicorn"
                | "gunicorn"
                | "hypercorn"
                | "serve"
                | "http-server"
                | "live-server"
                | "json-server"
                | "ts-node-dev"
                | "watchexec"
                | "air"
        );
        LIVING_COMMANDS.contains(&name.as_str())
            || (takes_a_file && LIVING_COMMANDS.contains(&first))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::task::Language;

    fn task(name: &str, script: &str) -> Task {
        let mut task =
            Task::new(name, Kind::Script, &["npm", "run", name]).script(Language::Shell, script);
        classify(&mut task);
        task
    }

    #[test]
    fn servers_and_watchers_are_long_lived() {
        let living = [
            ("dev", "vite"),
            ("start", "node server.js"),
            ("web", "next dev -p 3000"),
            ("x", "NODE_ENV=x npx nodemon app.js"),
            ("test:watch", "jest"),
            ("t", "jest --watch"),
            ("api", "uvicorn app:main"),
            ("logs", "tail -f x.log"),
            ("s", "cd a && vite --host"),
            ("m", "python manage.py runserver"),
        ];
        for (name, script) in living {
            let task = task(name, script);
            assert_eq!(task.lifetime, Lifetime::LongLived, "{name}: {script}");
            assert_eq!(task.timeout.seconds(), None);
        }
    }

    #[test]
    fn builds_and_tests_end() {
        let ending = [
            ("build", "vite build"),
            ("build:dev", "tsc"),
            ("test", "vitest run"),
            ("lint", "eslint ."),
            ("typecheck", "tsc --noEmit"),
            ("prebuild", "rm -rf dist"),
        ];
        for (name, script) in ending {
            assert_eq!(task(name, script).lifetime, Lifetime::Finite, "{name}: {script}");
        }
        assert_eq!(task("test", "x").timeout, TimeoutClass::Long);
        assert_eq!(task("fmt", "x").timeout, TimeoutClass::Quick);
    }
}
