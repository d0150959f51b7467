//! Ordinary work in a sandbox: real tools, in the profile that agents have by default, unchanged. The table
//! of `docs/sandbox.md` is this one: a row is there if the tool ran here, or is not installed here.

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use serde_json::Value;

use super::{Machine, Who, Yard, denied};

/// A tool at work.
struct Work {
    /// As the table names it.
    name: &'static str,
    /// Programs that must be there for it to be tried.
    programs: &'static [&'static str],
    files: &'static [(&'static str, &'static str)],
    line: &'static str,
    /// The last line it prints.
    last: &'static str,
}

/// What some tools try and do without: a part of the target.
const PROBES: &[(&str, &str)] = &[
    // Where a link to its store could be made.
    ("pnpm install, pnpm test", "/_tmp_"),
    // A journal beside its record of what it used when.
    ("cargo build, cargo test, with a dependency from the registry", "/.global-cache-journal"),
    // A place for programs that everybody, or this user, has.
    ("yarn install, yarn test", "/.yarn"),
];

/// A package with a dependency and a test.
const NODE: &[(&str, &str)] = &[
    (
        "package.json",
        "{\"license\": \"MIT\", \"dependencies\": {\"is-number\": \"7\"}, \"scripts\": {\"test\": \"node t.js\"}}",
    ),
    ("t.js", "console.log(require('is-number')(5))\n"),
];

const WORK: &[Work] = &[
    Work {
        name: "cargo build, cargo test, with a dependency from the registry",
        programs: &["cargo"],
        files: &[
            (
                "Cargo.toml",
                "[package]\nname = \"w\"\nversion = \"0.1.0\"\nedition = \"2021\"\n[dependencies]\nitoa = \"1\"\n",
            ),
            (
                "src/lib.rs",
                "#[test]\nfn t() { assert_eq!(itoa::Buffer::new().format(7), \"7\"); }\n",
            ),
        ],
        line: "cargo build -q && cargo test -q 2>&1 | grep -c '1 passed'",
        last: "1",
    },
    Work {
        name: "npm install, npm test",
        programs: &["npm"],
        files: NODE,
        line: "npm install --silent && npm test --silent",
        last: "true",
    },
    Work {
        name: "pnpm install, pnpm test",
        programs: &["pnpm"],
        files: NODE,
        line: "pnpm install --silent && pnpm --silent test",
        last: "true",
    },
    Work {
        name: "yarn install, yarn test",
        programs: &["yarn"],
        files: NODE,
        line: "yarn install --silent && yarn --silent test",
        last: "true",
    },
    Work {
        name: "python3 -m venv, pip install",
        programs: &["python3"],
        files: &[],
        line: "python3 -m venv v && v/bin/pip install -q six && v/bin/python -c 'import six; print(six.PY3)'",
        last: "True",
    },
    Work {
        name: "uv venv, uv pip install",
        programs: &["uv", "python3"],
        files: &[],
        line: "uv venv -q v && uv pip install -q --python v/bin/python six && v/bin/python -c 'import six; print(six.PY3)'",
        last: "True",
    },
    Work {
        name: "poetry install, poetry run",
        programs: &["poetry"],
        files: &[(
            "pyproject.toml",
            "[project]\nname = \"w\"\nversion = \"0.1.0\"\nrequires-python = \">=3.9\"\n\
             [tool.poetry]\npackage-mode = false\n",
        )],
        line: "poetry install -q --no-interaction && poetry run python -c 'import sys; print(sys.prefix != sys.base_prefix)'",
        last: "True",
    },
    Work {
        name: "pytest",
        programs: &["pytest"],
        files: &[("test_w.py", "def test_w(tmp_path):\n    (tmp_path / 'x').write_text('x')\n")],
        line: "pytest -q 2>&1 | grep -o '1 passed'",
        last: "1 passed",
    },
    Work {
        name: "go build, go test",
        programs: &["go"],
        files: &[
            ("go.mod", "module w\n\ngo 1.18\n"),
            (
                "w.go",
                "package main\n\nfunc main() { println(two()) }\n\nfunc two() int { return 2 }\n",
            ),
            (
                "w_test.go",
                "package main\n\nimport \"testing\"\n\nfunc TestTwo(t *testing.T) {\n\tif two() != 2 {\n\t\tt.Fatal()\n\t}\n}\n",
            ),
        ],
        line: "go build -o w . && go test ./... >/dev/null && ./w 2>&1",
        last: "2",
    },
    Work {
        name: "mvn compile",
        programs: &[
            "mvn",
            "javac",
            "/usr/share/maven-repo/org/apache/maven/plugins/maven-compiler-plugin",
        ],
        files: &[
            (
                "pom.xml",
                "<project><modelVersion>4.0.0</modelVersion><groupId>g</groupId><artifactId>w</artifactId>\
                 <version>1</version><properties><maven.compiler.source>8</maven.compiler.source>\
                 <maven.compiler.target>8</maven.compiler.target></properties></project>",
            ),
            (
                "src/main/java/W.java",
                "public class W { public static void main(String[] a) { System.out.println(\"built\"); } }\n",
            ),
        ],
        // From what the distribution has: there may be no repository to reach.
        line: "mvn -q -o -Dmaven.repo.local=/usr/share/maven-repo compile && java -cp target/classes W",
        last: "built",
    },
    Work {
        name: "gradle build",
        programs: &["gradle", "javac"],
        files: &[
            ("settings.gradle", "rootProject.name = 'w'\n"),
            ("build.gradle", "task hello { doLast { file('made').text = 'made\\n' } }\n"),
        ],
        line: "gradle -q --offline --no-daemon hello >log 2>&1; cat made || tail -n 20 log",
        last: "made",
    },
    Work {
        name: "make",
        programs: &["make", "cc"],
        files: &[
            ("Makefile", "w: w.c\n\t$(CC) -o w w.c\n"),
            ("w.c", "#include <stdio.h>\nint main(void) { puts(\"built\"); return 0; }\n"),
        ],
        line: "make -s && ./w",
        last: "built",
    },
    Work {
        name: "cmake, ninja",
        programs: &["cmake", "ninja", "cc"],
        files: &[
            (
                "CMakeLists.txt",
                "cmake_minimum_required(VERSION 3.10)\nproject(w C)\nadd_executable(w w.c)\n",
            ),
            ("w.c", "#include <stdio.h>\nint main(void) { puts(\"built\"); return 0; }\n"),
        ],
        line: "cmake -G Ninja -S . -B b >/dev/null && cmake --build b >/dev/null && b/w",
        last: "built",
    },
    Work {
        name: "git init, commit, branch, rebase, stash, gc",
        programs: &["git"],
        files: &[("a", "1\n")],
        line: "git init -q r && cd r && export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@example.com \
               GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@example.com && cp ../a . && git add a && \
               git commit -qm one && git checkout -qb side && echo 2 >> a && git commit -qam two && \
               git checkout -q - && echo x > b && git add b && git commit -qm three && git rebase -q side && \
               echo y >> b && git stash -q && git stash pop -q && git gc -q && git log --oneline | wc -l",
        last: "3",
    },
    Work {
        name: "git clone",
        programs: &["git"],
        files: &[],
        line: "git init -q --bare r.git && git clone -q r.git c 2>/dev/null && ls -d c/.git",
        last: "c/.git",
    },
    Work {
        name: "python3 multiprocessing and shared memory",
        programs: &["python3"],
        files: &[(
            "w.py",
            "import multiprocessing as m\nfrom multiprocessing import shared_memory as s\ndef f(x):\n    return x * x\n\
             if __name__ == '__main__':\n    b = s.SharedMemory(create=True, size=8)\n    b.unlink()\n    print(sum(m.Pool(2).map(f, range(4))))\n",
        )],
        line: "python3 w.py",
        last: "14",
    },
    Work {
        name: "sqlite3",
        programs: &["sqlite3"],
        files: &[],
        line: "sqlite3 w.db 'pragma journal_mode = wal; create table t (x); insert into t values (7); select x from t'",
        last: "7",
    },
];

/// Where programs are found: this machine's, and those that were installed for tests.
fn search_path() -> String {
    let tools = std::env::var("UMBO_TEST_TOOLS").unwrap_or_default();
    let own = std::env::var("PATH").unwrap_or_default();
    format!("{tools}/sandbox/node_modules/.bin:{tools}/sandbox/py/bin:{own}")
}

fn is_installed(program: &str) -> bool {
    std::env::split_paths(&search_path()).any(|directory| directory.join(program).exists())
}

/// Whether somebody without power over the machine can use these programs where they are installed.
fn are_open_to_all(programs: &[&str]) -> bool {
    if !rustix::process::geteuid().is_root() {
        return true;
    }
    let user = ["--reuid=65534", "--regid=65534", "--clear-groups", "--", "sh", "-c"];
    let works = |program: &&str| {
        let mut command = Command::new("setpriv");
        let line = "case $1 in /*) test -e \"$1\" ;; *) \"$1\" --version || \"$1\" version ;; esac";
        command.args(user).args([line, "sh", program]).env("PATH", search_path());
        command.stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok_and(|end| end.success())
    };
    programs.iter().all(works)
}

/// Runs a piece of work in a sandbox; its answer, or nothing if it cannot be tried here.
fn run(work: &Work, who: Who, profile: &str) -> Option<Value> {
    if !work.programs.iter().all(|program| is_installed(program)) {
        eprintln!("{}: not installed here", work.name);
        return None;
    }
    if who == Who::Ordinary && !are_open_to_all(work.programs) {
        eprintln!("{}: installed where only root can use it", work.name);
        return None;
    }
    let yard = Yard::new(who, Machine::Usual);
    for (path, text) in work.files {
        let path = yard.project().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    yard.give(&yard.project());
    let home = std::env::var("HOME").unwrap_or_default();
    let rustup = std::env::var("RUSTUP_HOME").unwrap_or_else(|_| format!("{home}/.rustup"));
    let words = ["exec", "--json", "--timeout", "300", "--sandbox", profile, work.line];
    let call = yard.umbo.call(words).current_dir(&yard.project());
    let call = call.env("PATH", search_path()).env("RUSTUP_HOME", rustup);
    // Those of whoever runs the tests lie elsewhere.
    let call = call.env("CARGO_HOME", yard.path("home/.cargo")).env("CARGO_TARGET_DIR", "target");
    let call = call.env("GRADLE_USER_HOME", yard.path("home/.gradle"));
    let answer = call.answer();
    Some(serde_json::from_slice(&answer.stdout).unwrap_or_else(|_| panic!("no JSON: {answer:?}")))
}

fn works(name: &str) {
    let work = WORK.iter().find(|work| work.name == name).unwrap();
    // An ordinary user is the rule. Root works too: where only root can use a tool, and where it is quick.
    let ordinary = run(work, Who::Ordinary, "workspace+net");
    let is_quick = ["make", "git clone", "sqlite3", "pytest"].contains(&name);
    let by_root =
        if ordinary.is_none() || is_quick { run(work, Who::Tester, "workspace+net") } else { None };
    for answer in [ordinary, by_root].iter().flatten() {
        worked(work, answer);
    }
}

/// It did what it should, and was denied nothing.
fn worked(work: &Work, answer: &Value) {
    let name = work.name;
    let last = answer["stdout"].as_str().unwrap_or_default().lines().last().map(str::to_owned);
    assert_eq!(last.as_deref(), Some(work.last), "{name}: {answer}");
    assert_eq!(answer["sandbox"]["rung"], "namespaces", "{answer}");
    let is_probe = |denial: &String| {
        PROBES.iter().any(|(work, target)| *work == name && denial.contains(target))
    };
    let denied: Vec<String> = denied(answer).into_iter().filter(|one| !is_probe(one)).collect();
    assert_eq!(denied, [""; 0], "{name}: {answer}");
}

macro_rules! work {
    ($($test:ident: $name:literal,)+) => {
        $(#[test]
        fn $test() {
            works($name);
        })+

        /// Every row has its test.
        const TESTED: &[&str] = &[$($name),+];
    };
}

work! {
    cargo_builds_and_tests: "cargo build, cargo test, with a dependency from the registry",
    npm_installs_and_tests: "npm install, npm test",
    pnpm_installs_and_tests: "pnpm install, pnpm test",
    yarn_installs_and_tests: "yarn install, yarn test",
    pip_installs_into_an_environment: "python3 -m venv, pip install",
    uv_installs_into_an_environment: "uv venv, uv pip install",
    poetry_installs_and_runs: "poetry install, poetry run",
    pytest_runs: "pytest",
    go_builds_and_tests: "go build, go test",
    maven_compiles: "mvn compile",
    gradle_builds: "gradle build",
    make_builds: "make",
    cmake_builds: "cmake, ninja",
    git_works: "git init, commit, branch, rebase, stash, gc",
    git_clones: "git clone",
    python_has_processes_and_shared_memory: "python3 multiprocessing and shared memory",
    sqlite_writes: "sqlite3",
}

/// What is tested elsewhere in this folder, and belongs into the table.
const ELSEWHERE: &[(&str, &str)] = &[
    ("an editor at a terminal (vim)", "works"),
    ("a server in the background, `umbo wait --port`", "works"),
    ("sessions, recipes", "work"),
    ("docker", "refused: the outcome names the socket that it may not connect to"),
];

#[test]
fn the_table_in_the_docs_is_this_one() {
    let names: Vec<&str> = WORK.iter().map(|work| work.name).collect();
    assert_eq!(names, TESTED);
    let rows = WORK.iter().map(|work| (work.name, "works")).chain(ELSEWHERE.iter().copied());
    let rows: Vec<String> = rows.map(|(name, result)| format!("| {name} | {result} |\n")).collect();
    let table = format!("| in the profile `workspace+net` | |\n|---|---|\n{}", rows.concat());
    let docs = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/sandbox.md"));
    let text = fs::read_to_string(&docs).unwrap_or_default();
    assert!(text.contains(&table), "put this into docs/sandbox.md:\n\n{table}");
}

#[test]
fn an_editor_writes_a_file_at_a_terminal() {
    if !is_installed("vim") {
        return;
    }
    let yard = Yard::new(Who::Tester, Machine::Usual);
    let words = ["start", "--sandbox", "workspace", "--pty", "vim -u NONE -n text"];
    let job = yard.umbo.call(words).current_dir(&yard.project()).answer().text().trim().to_owned();
    yard.umbo.wait_for(&job, "text");
    for (text, key) in [("ihello", "escape"), (":wq", "enter")] {
        yard.umbo.call(["input", &job, text, "--key", key]).answer().expect_status(0);
    }
    assert_eq!(yard.umbo.outcome(&job)["code"], 0);
    assert_eq!(fs::read_to_string(yard.project().join("text")).unwrap(), "hello\n");
}

#[test]
fn docker_is_refused_and_the_outcome_says_why() {
    let yard = Yard::new(Who::Tester, Machine::Usual);
    // As the real one: a socket outside of the project that would give power over the machine.
    let socket = yard.path("outside/docker.sock");
    let _listener = std::os::unix::net::UnixListener::bind(&socket).unwrap();
    let target = socket.display();
    let line = if is_installed("docker") {
        format!("docker -H unix://{target} ps")
    } else {
        format!("curl -s --unix-socket {target} http://d/containers/json")
    };
    let answer = yard.exec("workspace+net", &[], &line);
    assert_ne!(answer["exit_code"], 0, "{answer}");
    assert!(denied(&answer).contains(&format!("connect unix:{target}")), "{answer}");
    let said =
        yard.umbo.call(["exec", "--sandbox", "workspace", &line]).current_dir(&yard.project());
    let said = said.answer().said();
    assert!(said.contains("may not connect unix:"), "{said}");
}
