//! Poetry, PDM, uv, Hatch, tox, nox and Invoke, really run.

use crate::harness::{Folder, healthy, names, need};

const MODULE: &str = "import os, sys\n\ndef main():\n    print('MODULE', os.path.basename(os.getcwd()), sys.argv[1:])\n";

#[test]
fn poetry_runs_its_scripts() {
    need("poetry");
    let folder = Folder::new(&[
        (
            "pyproject.toml",
            "[tool.poetry]\nname = 'x'\nversion = '1'\ndescription = ''\nauthors = []\npackages = [{include = 'x'}]\n\n[tool.poetry.dependencies]\npython = '>=3.8'\n\n\
             [tool.poetry.scripts]\nhello = 'x.main:main'\n",
        ),
        ("x/__init__.py", ""),
        ("x/main.py", MODULE),
    ]);
    let project = folder.detect();
    let runner = healthy(&project, "poetry");
    assert_eq!(names(runner), ["hello"]);
    assert_eq!(runner.tasks[0].source.as_ref().unwrap().line, 12);
    let output = folder.run(&project, "hello --flag 'a b'");
    assert!(output.contains("['--flag', 'a b']"), "{output}");
}

#[test]
fn pdm_runs_commands_shell_lines_and_compositions() {
    need("pdm");
    let folder = Folder::new(&[(
        "pyproject.toml",
        "[project]\nname = 'x'\nversion = '1'\nrequires-python = '>=3.8'\n\n[tool.pdm]\ndistribution = false\n\n[tool.pdm.scripts]\n_.env_file = '.env'\n\
         hello = 'echo hello'\nlong = {shell = 'echo shell && echo line', help = 'A shell line'}\nwords = {cmd = ['echo', 'a b']}\nboth = {composite = ['hello one', 'long']}\n",
    )]);
    let project = folder.detect();
    let runner = healthy(&project, "pdm");
    assert_eq!(names(runner), ["hello", "long", "words", "both"]);
    assert_eq!(runner.task("long").unwrap().doc.as_deref(), Some("A shell line"));
    assert_eq!(runner.task("words").unwrap().script.as_ref().unwrap().text(), "echo 'a b'");
    assert_eq!(runner.task("both").unwrap().depends, ["hello", "long"]);
    assert!(folder.run(&project, "hello --flag").contains("hello --flag"));
    assert!(folder.run(&project, "long").contains("line"));
    assert!(folder.run(&project, "both").contains("hello one"));
}

#[test]
fn uv_runs_entry_points_of_the_project_and_of_its_members() {
    need("uv");
    let manifest = |name: &str, module: &str, rest: &str| {
        format!(
            "[project]\nname = '{name}'\nversion = '1'\nrequires-python = '>=3.8'\n\n[project.scripts]\n{name}-run = '{module}:main'\n\n[build-system]\nrequires = ['uv_build']\nbuild-backend = 'uv_build'\n{rest}"
        )
    };
    let folder = Folder::new(&[
        (
            "pyproject.toml",
            &manifest(
                "root",
                "root",
                "\n[tool.uv.workspace]\nmembers = ['packages/*']\nexclude = ['packages/old']\n",
            ),
        ),
        ("src/root/__init__.py", MODULE),
        ("packages/a/pyproject.toml", &manifest("member", "member", "")),
        ("packages/a/src/member/__init__.py", MODULE),
        ("packages/old/pyproject.toml", &manifest("old", "old", "")),
    ]);
    let project = folder.detect();
    let runner = healthy(&project, "uv");
    assert_eq!(names(runner), ["root-run", "member/member-run"]);
    let output = folder.run(&project, "root-run --flag");
    assert!(output.contains("['--flag']"), "{output}");
    let output = folder.run(&project, "member/member-run");
    assert!(output.contains("MODULE a []"), "{output}");
}

#[test]
fn hatch_runs_scripts_of_its_environments() {
    need("hatch");
    let folder = Folder::new(&[(
        "pyproject.toml",
        "[project]\nname = 'x'\nversion = '1'\n[tool.hatch.envs.default]\nskip-install = true\n[tool.hatch.envs.default.scripts]\nhello = 'echo hello {args}'\n\
         [tool.hatch.envs.style]\nskip-install = true\n[tool.hatch.envs.style.scripts]\ncheck = ['echo one', 'echo two']\n",
    )]);
    let project = folder.detect();
    let runner = healthy(&project, "hatch");
    assert_eq!(names(runner), ["hello", "style:check"]);
    assert!(folder.run(&project, "hello --flag").contains("hello --flag"));
    assert!(folder.run(&project, "style:check").contains("two"));
}

#[test]
fn tox_runs_environments_with_arguments() {
    need("tox");
    let folder = Folder::new(&[(
        "tox.ini",
        "[tox]\nno_package = true\nenv_list = unit\n\n[testenv]\ncommands = python -c \"import sys; print('UNIT', sys.argv[1:])\" {posargs}\n\n\
         [testenv:style]\ndescription = Check style\ncommands = python -c \"print('STYLE')\"\n",
    )]);
    let project = folder.detect();
    let runner = healthy(&project, "tox");
    assert_eq!(names(runner), ["style", "unit"]);
    assert_eq!(runner.task("style").unwrap().doc.as_deref(), Some("Check style"));
    let output = folder.run(&project, "unit --flag");
    assert!(output.contains("UNIT ['--flag']"), "{output}");
    assert!(folder.run(&project, "style").contains("STYLE"));
}

#[test]
fn nox_runs_sessions_with_arguments() {
    need("nox");
    let folder = Folder::new(&[(
        "noxfile.py",
        "import nox\n\n@nox.session(venv_backend='none')\ndef unit(session):\n    \"\"\"Unit tests.\"\"\"\n    session.run('echo', 'UNIT', *session.posargs, external=True)\n\n\
         @nox.session(venv_backend='none', name='two-words')\ndef other(session):\n    session.run('echo', 'OTHER', external=True)\n",
    )]);
    let project = folder.detect();
    let runner = healthy(&project, "nox");
    assert_eq!(names(runner), ["unit", "two-words"]);
    assert!(folder.run(&project, "unit --flag").contains("UNIT --flag"));
    assert!(folder.run(&project, "two-words").contains("OTHER"));
}

#[test]
fn invoke_runs_tasks_with_arguments() {
    need("invoke");
    let folder = Folder::new(&[(
        "tasks.py",
        "from invoke import task\n\n@task\ndef say_hello(c, name='nobody'):\n    \"\"\"Say hello.\"\"\"\n    print('HELLO', name)\n",
    )]);
    let project = folder.detect();
    let runner = healthy(&project, "invoke");
    assert_eq!(names(runner), ["say-hello"]);
    assert_eq!(runner.tasks[0].parameters[0].name, "name");
    assert!(folder.run(&project, "say-hello --name 'a b'").contains("HELLO a b"));
}
