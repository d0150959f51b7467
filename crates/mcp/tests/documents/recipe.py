"""What the specification of `project.recipe` says."""

import os
import re

FAKE = '#!/bin/sh\necho "$(basename "$0") $*"\n'


async def check(c):
    def place(files):
        """A project, with runners of its own that only say how they were called."""
        project = c.place(files)
        (project / "bin").mkdir()
        for name in ["npm", "bun", "cargo", "poetry", "pdm", "uv"]:
            (project / "bin" / name).write_text(FAKE)
            (project / "bin" / name).chmod(0o755)
        return project

    def serve(project, **more):
        return c.serve(project, environment={"PATH": f"{project}/bin:{os.environ['PATH']}"}, **more)

    async def run(files, op, cwd=None):
        async with serve(place(files)) as s:
            arguments = {"op": op} | ({"cwd": cwd} if cwd is not None else {})
            return await s.call("project.recipe", **arguments)

    make = {
        "Makefile": "both:\n\t@echo out; echo err >&2\nfail:\n\t@exit 3\nwhere:\n\t@pwd\n"
        "tty:\n\t@test -t 1 && echo tty\n",
        "sub/Makefile": "inner:\n\t@pwd\n",
    }
    async with serve(place(make)) as s:
        listed = await s.tools()
        c.holds("10", "the tool is called project.recipe", "project.recipe" in listed, list(listed))
        c.holds("10", "it delegates to shell.bash, which is there", "shell.bash" in listed, list(listed))
        schema = listed["project.recipe"].input_schema
        c.holds(
            "17",
            "op is a string and required",
            schema["properties"]["op"]["type"] == "string" and schema["required"] == ["op"],
            schema,
        )
        c.holds("18", "cwd is a string and not required", schema["properties"]["cwd"]["type"] == "string", schema)
        c.holds("16", "there are no other parameters", set(schema["properties"]) == {"op", "cwd"}, schema)
        answer = await s.call("project.recipe", op="both")
        fields = {"runner", "command", "stdout", "stderr", "exit_code", "timed_out", "available_tasks"}
        c.holds("22", "the result has these fields and no others", set(answer.value) == fields, answer)
        c.holds(
            "22",
            "the declared result has these fields and no others",
            set(listed["project.recipe"].output_schema["properties"]) == fields,
            listed["project.recipe"].output_schema,
        )
        c.holds("23", "runner names the runner", answer["runner"] == "make", answer)
        c.holds("24", "command is what was executed", answer["command"] == "make both", answer)
        c.holds("25", "stdout has both streams", answer["stdout"] == "out\nerr\n", answer)
        c.holds("26", "stderr is always empty", answer["stderr"] == "", answer)
        c.holds("27", "exit_code is an integer", answer["exit_code"] == 0, answer)
        c.holds("28", "timed_out is a boolean", answer["timed_out"] is False, answer)
        c.holds(
            "29",
            "available_tasks maps runners to lists of tasks",
            answer["available_tasks"] == {"make": ["both", "fail", "where", "tty"]},
            answer,
        )
        answer = await s.call("project.recipe", op="tty")
        c.holds("25", "output comes from a terminal", answer["stdout"] == "tty\n", answer)
        answer = await s.call("project.recipe", op="fail")
        c.holds("27", "exit_code is the process's (make's own)", answer["exit_code"] == 2, answer)
        answer = await s.call("project.recipe", op="where")
        c.holds("18", "the default of cwd is the project root", answer["stdout"] == f"{s.project}\n", answer)
        answer = await s.call("project.recipe", op="inner", cwd="sub")
        c.holds("18", "cwd is relative to the root", answer["stdout"] == f"{s.project}/sub\n", answer)
        c.holds("33", "the target directory is scanned", answer["available_tasks"] == {"make": ["inner"]}, answer)
        answer = await s.call("project.recipe", op="inner", cwd=f"{s.project}/sub")
        c.holds("18", "an absolute cwd inside of the root works", answer["stdout"] == f"{s.project}/sub\n", answer)
        for op, what in [("", "empty"), (None, "not a string"), (5, "not a string"), ([], "not a string")]:
            answer = await s.call("project.recipe", op=op)
            c.holds(
                "61",
                f"op that is {what} ({op!r}) is invalid_params",
                answer.is_error and answer.code == "invalid_params",
                answer,
            )
        answer = await s.call("project.recipe")
        c.holds("61", "no op is invalid_params", answer.is_error and answer.code == "invalid_params", answer)
        for cwd in ["..", "../..", "/", "/etc", "sub/../..", "../project/../.."]:
            answer = await s.call("project.recipe", op="both", cwd=cwd)
            c.holds(
                "62", f"cwd {cwd} is invalid_params", answer.is_error and answer.code == "invalid_params", answer
            )
        os.symlink("/etc", s.project / "out")
        answer = await s.call("project.recipe", op="both", cwd="out")
        c.holds(
            "62",
            "a link that leads out is invalid_params",
            answer.is_error and answer.code == "invalid_params",
            answer,
        )
        answer = await s.call("project.recipe", op="both", cwd="nowhere")
        c.holds(
            "63",
            "a cwd that is not there is an error that says so",
            answer.is_error and "nowhere" in answer.text,
            answer,
        )
        shell = await s.call("shell.bash", command="true", cwd="nowhere")
        c.holds(
            "63",
            "and the same error as shell.bash has",
            shell.is_error and shell.code == answer.code,
            (shell, answer),
        )
        shell = await s.call("shell.bash", command="echo o; echo e >&2; exit 4")
        c.holds(
            "10",
            "shell.bash has the same result fields",
            set(shell.value) == fields - {"runner", "command", "available_tasks"},
            shell,
        )
        c.holds(
            "25",
            "shell.bash merges the streams of its terminal",
            (shell["stdout"], shell["stderr"], shell["exit_code"]) == ("o\ne\n", "", 4),
            shell,
        )
        shell = await s.call("shell.bash", command="sleep 20", timeout=1)
        c.holds("28", "timed_out says that the timeout killed it", shell["timed_out"] is True, shell)
        c.differs_by(
            "shell.bash", "28", "the code of what is killed at its timeout", shell["exit_code"] == 124, shell
        )
        shell = await s.call("shell.bash", command="seq 1 30000")
        file = re.search(r"all of it is in (\S+);", shell["stdout"])
        c.holds("25", "output that was cut says where all of it is", file, shell)
        shell = await s.call("shell.bash", command=f"sed -n '1p;30000p' {file and file[1]}")
        c.holds("25", "which shell.bash can read", shell["stdout"] == "1\n30000\n", shell)
        await s.call("shell.bash", command="echo written > made.txt")
        c.holds("69", "the shell may write files", (s.project / "made.txt").exists())

    async with serve(place({})) as s:
        answer = await s.call("project.recipe", op="test")
        c.holds(
            "60",
            "no runners is invalid_params with this message",
            answer.is_error
            and answer.code == "invalid_params"
            and answer.error.get("message") == "No project runners detected in this directory.",
            answer,
        )
        c.holds(
            "60", "and the text says so", "No project runners detected in this directory." in answer.text, answer
        )

    scripts = '{"scripts": {"test": "x", "build": "y"}}'
    poetry, pdm = (
        '[tool.poetry]\nname="a"\n[tool.poetry.scripts]\npoem = "a:b"\n',
        "[tool.pdm]\n[tool.pdm.scripts]\nplan = 'x'\n",
    )
    rows = [
        ("36", {"package.json": scripts}, "test", "npm", "npm run test", ["test", "build"]),
        ("50", {"package.json": scripts}, "build --release", "npm", "npm run build --release", ["test", "build"]),
        ("37", {"package.json": scripts, "bun.lockb": ""}, "test", "bun", "bun run test", ["test", "build"]),
        (
            "37",
            {"package.json": scripts, "bun.lock": ""},
            "build x y",
            "bun",
            "bun run build x y",
            ["test", "build"],
        ),
        ("39", {"pyproject.toml": poetry}, "poem", "poetry", "poetry run poem", ["poem"]),
        ("40", {"pyproject.toml": pdm}, "plan a", "pdm", "pdm run plan a", ["plan"]),
        ("41", {"pyproject.toml": '[tool.uv.scripts]\nray = "a:b"\n'}, "ray", "uv", "uv run ray", ["ray"]),
        (
            "41",
            {"pyproject.toml": '[tool.uv]\n[project.scripts]\nent = "a:b"\n'},
            "ent",
            "uv",
            "uv run ent",
            ["ent"],
        ),
        (
            "41",
            {"pyproject.toml": '[project.scripts]\nent = "a:b"\n', "uv.lock": ""},
            "ent",
            "uv",
            "uv run ent",
            ["ent"],
        ),
        (
            "42",
            {"Makefile": "all:\n\t@echo x\n.PHONY: all\n_under: \n\t@true\na.b-c_d: all\n\t@true\n%.o: x\n9x:\n"},
            "all",
            "make",
            "make all",
            ["all", "_under", "a.b-c_d"],
        ),
        ("46", {"package.json": scripts, "Makefile": "lint:\n\t@echo l\n"}, "lint", "make", "make lint", ["lint"]),
        (
            "47",
            {"package.json": scripts, "Makefile": "test:\n\t@echo l\n"},
            "test",
            "npm",
            "npm run test",
            ["test", "build"],
        ),
        (
            "48",
            {"package.json": scripts, "Makefile": "lint:\n\t@echo l\n"},
            "other",
            "npm",
            "npm run other",
            ["test", "build"],
        ),
        (
            "48",
            {"pyproject.toml": poetry, "Makefile": "lint:\n\t@echo l\n"},
            "pytest -q",
            "poetry",
            "poetry run pytest -q",
            ["poem"],
        ),
        ("36", {"package.json": "{}"}, "x", "npm", "npm run x", []),
    ]
    for line, files, op, runner, command, tasks in rows:
        answer = await run(files, op)
        c.holds(
            line,
            f"{op!r} with {sorted(files)} is run by {runner}",
            answer.value and answer["runner"] == runner,
            answer,
        )
        c.holds(line, f"and the command is {command!r}", answer.value and answer["command"] == command, answer)
        c.holds(
            line,
            f"and the tasks are {tasks}",
            answer.value and answer["available_tasks"].get(runner) == tasks,
            answer,
        )
        if runner != "make":
            c.holds(line, "and it was executed", answer.value and answer["stdout"] == command + "\n", answer)
    answer = await run({"Cargo.toml": "[package]\nname = 'one'\n"}, "build --release")
    c.holds("52", "cargo OP", answer.value and answer["command"] == "cargo build --release", answer)
    c.holds(
        "38",
        "cargo has its built-in subcommands",
        answer.value and {"build", "test", "check", "run"} <= set(answer["available_tasks"]["cargo"]),
        answer,
    )
    answer = await run({"package.json": scripts, "bun.lock": ""}, "test")
    c.differs_by(
        "project.recipe",
        "37",
        "bun comes first where its lock file is",
        answer.value and answer["runner"] == "bun",
        answer,
    )
    answer = await run(
        {
            "package.json": '{"scripts": {"t": "x"}}',
            "Cargo.toml": "[package]\nname='o'\n",
            "pyproject.toml": poetry,
            "Makefile": "m:\n\ttrue\n",
        },
        "t",
    )
    c.holds(
        "29",
        "all runners are in available_tasks",
        answer.value and set(answer["available_tasks"]) == {"npm", "cargo", "poetry", "make"},
        answer,
    )
    manifest = [
        ("npm", "package.json", "{}"),
        ("cargo", "Cargo.toml", "[package]\nname='o'\n"),
        ("poetry", "pyproject.toml", poetry),
        ("make", "Makefile", "m:\n\t@true\n"),
    ]
    for at, (first, _, _) in enumerate(manifest):
        answer = await run({name: text for _, name, text in manifest[at:]}, "nobodys")
        c.holds("33", f"without a match {first} comes before those below it", answer["runner"] == first, answer)
    both = '[tool.poetry]\nname="a"\n[tool.pdm]\n[tool.uv]\n'
    answer = await run({"pyproject.toml": both}, "nobodys")
    c.holds(
        "33",
        "poetry comes before pdm and uv",
        answer["runner"] == "poetry" and set(answer["available_tasks"]) == {"poetry", "pdm", "uv"},
        answer,
    )
    answer = await run({"pyproject.toml": "[tool.pdm]\n[tool.uv]\n"}, "nobodys")
    c.holds("33", "pdm comes before uv", answer["runner"] == "pdm", answer)
    answer = await run({"Makefile": "A := 1\nB = 2\nC ::= 3\nall:\n\t@true\n"}, "all")
    c.differs_by(
        "project.recipe",
        "42",
        "a variable is no target",
        answer.value and answer["available_tasks"]["make"] == ["all"],
        answer,
    )
    async with serve(place(make), settings={"tools.recipe.enabled": "false"}) as s:
        c.holds("12", "it is not there if the operator turned it off", "project.recipe" not in await s.tools())
    answer = await run({"Makefile": "all:\n\t@echo all\n"}, "  all  ")
    c.differs_by(
        "project.recipe",
        "46",
        "blanks around an operation do not count",
        answer.value and answer["command"] == "make all",
        answer,
    )
