"""What the documents of oh-my-pi say about `bash` (T, R), `job` (J), `recipe` (P) and secrets (S)."""

import asyncio
import os
import re

import omp_files
from checks import appears, until

OPEN = ["--mode", "open"]


def details(answer):
    """Errors have it beside the result, for their schema has no place."""
    shape = answer.value or (answer.meta or {}).get("umbo/error") or {}
    return shape.get("details") or {}


async def check(c):
    await bash(c)
    await background(c)
    await jobs(c)
    await interceptor(c)
    await recipe(c)
    await secrets(c)
    await settings(c)
    await omp_files.check(c)


async def bash(c):
    project = c.place({"sub/x": "x", "file": "x"})
    async with c.serve(project, words=OPEN) as s:
        listed = await s.tools()
        c.holds("T1", "bash, job are there", {"bash", "job"} <= set(listed), list(listed))
        schema = listed["bash"].input_schema
        c.holds(
            "T20",
            "bash takes these",
            {"command", "env", "timeout", "cwd", "pty", "async"} <= set(schema["properties"])
            and schema["required"] == ["command"],
            schema,
        )
        c.holds("R13", "and head and tail", {"head", "tail"} <= set(schema["properties"]), schema)
        for name, kind in {
            "command": "string",
            "env": "object",
            "timeout": "number",
            "cwd": "string",
            "pty": "boolean",
            "async": "boolean",
        }.items():
            c.holds("T22", f"{name} is a {kind}", schema["properties"][name]["type"] == kind, schema)
        answer = await s.call("bash", command="echo out; echo err >&2")
        c.holds("T30", "one text block", [block["type"] for block in answer["content"]] == ["text"], answer)
        c.holds(
            "T46", "both streams merged, in order", answer["content"][0]["text"].rstrip("\n") == "out\nerr", answer
        )
        c.holds(
            "T34",
            "the effective timeout is told",
            details(answer).get("timeoutSeconds") == 300 and "requestedTimeoutSeconds" not in details(answer),
            answer,
        )
        answer = await s.call("bash", command="true")
        c.holds("T33", "nothing is (no output)", answer.text == "(no output)", answer)
        answer = await s.call("bash", command="echo x; exit 7")
        c.holds("T46", "a nonzero code is an error", answer.is_error, answer)
        c.holds(
            "T46",
            "with the output and Command exited with code N",
            answer.text.startswith("x") and answer.text.rstrip().endswith("Command exited with code 7"),
            answer,
        )
        answer = await s.call("bash", command="cd sub && pwd")
        c.holds("T22", "a leading cd becomes cwd", answer.text.strip() == f"{project}/sub", answer)
        answer = await s.call("bash", command="cd sub && pwd", cwd=".")
        c.holds("T22", "and stays where cwd was given", answer.text.strip() == f"{project}/sub", answer)
        answer = await s.call("bash", command="cd nowhere && pwd")
        c.holds(
            "T119",
            "of a place that is not there: Working directory does not exist",
            answer.is_error and "Working directory does not exist: " in answer.text,
            answer,
        )
        answer = await s.call("bash", command="pwd", cwd="sub")
        c.holds("T25", "cwd is relative", answer.text.strip() == f"{project}/sub", answer)
        answer = await s.call("bash", command="pwd", cwd="nowhere")
        c.holds(
            "T119",
            "cwd that is not there",
            answer.is_error and re.search(r"Working directory does not exist: .*nowhere", answer.text),
            answer,
        )
        answer = await s.call("bash", command="pwd", cwd="file")
        c.holds(
            "T119",
            "cwd that is a file",
            answer.is_error and re.search(r"Working directory is not a directory: .*file", answer.text),
            answer,
        )
        answer = await s.call("bash", command='echo "$A|$B"', env={"A": "x y", "B": "$HOME"})
        c.holds("T23", "env is given as it is", answer.text.strip() == "x y|$HOME", answer)
        for key in ["1A", "A-B", "", "A B"]:
            answer = await s.call("bash", command="true", env={key: "x"})
            c.holds(
                "T116",
                f"Invalid bash env name: {key}",
                answer.is_error and f"Invalid bash env name: {key}" in answer.text,
                answer,
            )
        for asked, told in [(0.5, 1), (-3, 1), (7200, 3600), (5000, 3600)]:
            answer = await s.call("bash", command="echo a", timeout=asked)
            c.holds("T59", f"a timeout of {asked} is {told}", details(answer).get("timeoutSeconds") == told, answer)
            c.holds(
                "T35",
                "and what was asked for is told",
                details(answer).get("requestedTimeoutSeconds") == asked,
                answer,
            )
            c.holds(
                "T59",
                "with a notice",
                str(told) in answer.text and len(answer.text.strip().splitlines()) > 1,
                answer,
            )
        answer = await s.call("bash", command="echo part; sleep 30", timeout=1)
        c.holds(
            "T131",
            "a timeout is an error with what was written",
            answer.is_error and "part" in answer.text and "timed out after 1 second" in answer.text,
            answer,
        )
        answer = await s.call("bash", command="kill -9 $$")
        c.holds("T130", "a signal is an error", answer.is_error, answer)
        answer = await s.call("bash", command="test -t 1 && echo tty || echo none", pty=True)
        c.holds("T146", "without a UI pty is ignored", answer.text.strip() == "none", answer)
        answer = await s.call("bash", command="seq 1 50", head=3)
        c.holds(
            "R192",
            "head keeps the first lines",
            answer.text.strip().splitlines()[:3] == ["1", "2", "3"] and "\n4\n" not in answer.text,
            answer,
        )
        answer = await s.call("bash", command="seq 1 50", tail=2)
        c.holds(
            "R192",
            "tail the last",
            "49\n50" in answer.text and "48" not in answer.text.split("49")[0].replace("[umbo", ""),
            answer,
        )
        answer = await s.call("bash", command="seq 1 50", head=10, tail=2)
        c.holds(
            "R192",
            "head, then tail",
            "9\n10" in answer.text and "50" not in re.sub(r"\[.*?\]", "", answer.text),
            answer,
        )
        line = "x" * 40000
        answer = await s.call("bash", command="head -c 40000 /dev/zero | tr '\\0' x; echo")
        c.holds("T113", "no line is cut below 50 KB", line in answer.text, len(answer.text))
        answer = await s.call("bash", command="seq 1 9000")
        c.holds(
            "R176",
            "no cap of lines below 50 KB",
            "\n2500\n" in answer.text and answer.text.startswith("1\n"),
            len(answer.text),
        )
        answer = await s.call("bash", command="seq 1 30000")
        cut = (details(answer).get("meta") or {}).get("truncation") or {}
        c.holds(
            "T113",
            "above 50 KB the tail is kept",
            "\n30000" in answer.text and "\n1\n2\n" not in answer.text and 45_000 < len(answer.text) < 56_000,
            len(answer.text),
        )
        c.holds(
            "R202",
            "truncation has a direction, what by, and counts",
            cut.get("direction") == "tail"
            and cut.get("truncatedBy") == "bytes"
            and cut.get("totalBytes") == 168894
            and cut.get("totalLines") == 30000
            and cut.get("outputLines")
            and cut.get("outputBytes"),
            cut,
        )
        c.holds("R204", "and the range that is shown", (cut.get("shownRange") or {}).get("end") == 30000, cut)
        artifact = cut.get("artifactId")
        c.holds("T36", "and an artifact", artifact, cut)
        c.holds("R208", "which the text names", f"artifact://{artifact}" in answer.text, answer.text[-300:])
        answer = await s.call("bash", command=f"head -2 artifact://{artifact}")
        c.holds("T55", "and commands can read", answer.text.strip() == "1\n2", answer)
        answer = await s.call("bash", command="echo 'artifact://nothing-such'; cat artifact://nothing-such")
        c.holds("T126", "an artifact that is not there is an error", answer.is_error, answer)
        answer = await s.call("bash", command="cat skill://one")
        c.differs_by("bash", "T126", "other internal URLs are refused", answer.is_error, answer)
        answer = await s.call("bash", command="echo $PAGER $GIT_PAGER $GIT_EDITOR $EDITOR $GIT_TERMINAL_PROMPT $CI")
        c.holds("R139", "unattended defaults", answer.text.strip() == "cat cat true true 0 1", answer)
        answer = await s.call("bash", command="echo $EDITOR", env={"EDITOR": "vi"})
        c.holds("T148", "which env overrides", answer.text.strip() == "vi", answer)
        answer = await s.call("bash", command=5)
        c.holds("T22", "a command must be a string", answer.is_error and "command" in answer.text, answer)
        answer = await s.call("bash", command="")
        c.differs_by("bash", "T22", "a command of nothing is refused", answer.is_error, answer)
        await asyncio.gather(
            *(s.call("bash", command="echo begin >> order; sleep 0.2; echo end >> order") for _ in range(3))
        )
        c.holds(
            "T136",
            "calls are exclusive",
            (project / "order").read_text() == "begin\nend\n" * 3,
            (project / "order").read_text(),
        )


async def background(c):
    project = c.place()
    async with c.serve(project, words=OPEN) as s:
        answer = await s.call(
            "bash", command="while ! test -e go; do sleep 0.05; done; echo fin; exit 3", async_=True
        )
        state = details(answer).get("async") or {}
        job = state.get("jobId")
        c.holds(
            "T39",
            "details.async is running, jobId, bash",
            state == {"state": "running", "jobId": job, "type": "bash"} and job,
            answer,
        )
        c.holds(
            "T38",
            "the text is Background job ID started: LABEL",
            f"Background job {job} started: while" in answer.text,
            answer,
        )
        c.holds("T102", "with how to follow it", "poll" in answer.text and "list" in answer.text, answer)
        (project / "go").write_text("")

        async def is_told():
            await s.call("bash", command="true")
            return s.told

        told = await until(is_told)
        c.holds(
            "T43",
            "its completion has details.async failed",
            told[0]["details"]["async"] == {"state": "failed", "jobId": job, "type": "bash"},
            told,
        )
        c.holds(
            "T43",
            "and the final text",
            "fin" in told[0]["content"][0]["text"]
            and "Command exited with code 3" in told[0]["content"][0]["text"],
            told,
        )
        answer = await s.call("bash", command="true")
        c.holds("J12", "told once", len(s.told) == 1, s.told)
    async with c.serve(c.place(), words=OPEN, settings={"tools.omp.bash.auto_background.threshold_ms": 300}) as s:
        answer = await s.call("bash", command="echo early; sleep 5; echo late")
        c.holds(
            "T62",
            "after the threshold it becomes a job",
            (details(answer).get("async") or {}).get("state") == "running",
            answer,
        )
        c.holds("T38", "with a preview", "early" in answer.text, answer)
        answer = await s.call("bash", command="echo quick")
        c.holds(
            "T62",
            "what is quicker is inline",
            answer.text.strip() == "quick" and "async" not in details(answer),
            answer,
        )
    async with c.serve(c.place(), words=OPEN, settings={"tools.omp.async.enabled": "false"}) as s:
        listed = await s.tools()
        c.holds(
            "T27",
            "async is there only where it is enabled",
            "async" not in listed["bash"].input_schema["properties"],
            listed["bash"].input_schema,
        )
        answer = await s.call("bash", command="true", async_=True)
        c.holds(
            "T117",
            "Async bash execution is disabled",
            answer.is_error and "Async bash execution is disabled" in answer.text,
            answer,
        )
    async with c.serve(
        c.place(),
        words=OPEN,
        settings={"tools.omp.async.enabled": "false", "tools.omp.bash.auto_background.enabled": "false"},
    ) as s:
        c.holds("J49", "without background jobs there is no job tool", "job" not in await s.tools())


async def jobs(c):
    project = c.place()
    async with c.serve(project, words=OPEN, settings={"tools.omp.async.poll_wait_duration": "5s"}) as s:
        schema = (await s.tools())["job"].input_schema
        c.holds(
            "J20", "job takes poll, cancel, list", set(schema["properties"]) == {"poll", "cancel", "list"}, schema
        )
        answer = await s.call("job")
        c.holds(
            "J62", "nothing to wait for", answer.text.strip() == "No running background jobs to wait for.", answer
        )
        answer = await s.call("job", poll=["nobody", "else"])
        c.holds(
            "J62",
            "No matching jobs found for IDs",
            "No matching jobs found for IDs: nobody, else" in answer.text and not answer.is_error,
            answer,
        )
        answer = await s.call("job", list=True)
        c.holds(
            "J129",
            "an empty list is a normal result",
            not answer.is_error and details(answer).get("jobs") == [],
            answer,
        )
        answer = await s.call("job", list=True, poll=["x"])
        c.holds("J22", "list cannot be combined with poll", answer.is_error, answer)
        answer = await s.call("job", list=True, cancel=["x"])
        c.holds("J22", "nor with cancel", answer.is_error, answer)
        start = lambda command: s.call("bash", command=command, async_=True)
        one = details(await start("while ! test -e one; do sleep 0.05; done; echo first"))["async"]["jobId"]
        two = details(await start("while ! test -e two; do sleep 0.05; done; echo second; exit 2"))["async"][
            "jobId"
        ]
        answer = await s.call("job", list=True)
        rows = {row["id"]: row for row in details(answer)["jobs"]}
        c.holds(
            "J30",
            "a snapshot has these fields",
            {"id", "type", "status", "label", "durationMs"} <= set(rows[one])
            and rows[one]["type"] == "bash"
            and rows[one]["status"] == "running",
            rows,
        )
        c.holds("J28", "## Still Running (2)", "## Still Running (2)" in answer.text, answer)
        c.holds("J39", "no cancelled unless asked", "cancelled" not in details(answer), answer)
        (project / "one").write_text("")
        answer = await s.call("job", poll=[one, two, "nobody"])
        rows = {row["id"]: row for row in details(answer)["jobs"]}
        c.holds(
            "J133",
            "it waits for the first, not for all",
            rows[one]["status"] == "completed" and rows[two]["status"] == "running",
            answer,
        )
        c.holds(
            "J27",
            "## Completed (1) and ## Still Running (1)",
            "## Completed (1)" in answer.text and "## Still Running (1)" in answer.text,
            answer,
        )
        c.holds("J37", "with its resultText", "first" in rows[one].get("resultText", ""), rows)
        c.holds("J20", "ids that are missing are dropped", "nobody" not in rows, rows)
        await s.call("bash", command="true")
        c.holds(
            "J74",
            "what was polled is not told again",
            all(event["details"]["async"]["jobId"] != one for event in s.told),
            s.told,
        )
        answer = await s.call("job", poll=[one])
        c.holds(
            "J64",
            "polling one that ended answers at once",
            details(answer)["jobs"][0]["status"] == "completed",
            answer,
        )
        (project / "two").write_text("")
        answer = await s.call("job", poll=[two])
        rows = {row["id"]: row for row in details(answer)["jobs"]}
        c.holds("J20", "one that failed has failed", rows[two]["status"] == "failed", answer)
        c.holds(
            "J128",
            "a failure is reported, not thrown",
            not answer.is_error
            and "Command exited with code 2" in (rows[two].get("errorText") or rows[two].get("resultText") or ""),
            rows,
        )
        three = details(await start("touch three; sleep 300"))["async"]["jobId"]
        await appears(s, "bash", "command", project / "three")
        answer = await s.call("job", cancel=[three, one, "nobody"])
        got = {row["id"]: row["status"] for row in details(answer)["cancelled"]}
        c.holds(
            "J51",
            "cancelled, already_completed, not_found",
            got == {three: "cancelled", one: "already_completed", "nobody": "not_found"},
            answer,
        )
        c.holds("J26", "## Cancelled (3)", "## Cancelled (" in answer.text, answer)
        answer = await s.call("job", list=True)
        rows = {row["id"]: row for row in details(answer)["jobs"]}
        c.holds("J138", "its status stays cancelled", rows[three]["status"] == "cancelled", rows)
        c.holds("J45", "what ended is listed, within retention", {one, two, three} <= set(rows), rows)
        four = details(await start("sleep 300"))["async"]["jobId"]
        answer = await s.call("job")
        c.holds(
            "J20",
            "without arguments all that run are watched",
            [row["id"] for row in details(answer)["jobs"]] == [four],
            answer,
        )
        c.holds(
            "J75",
            "a wait that is over is no error",
            not answer.is_error and details(answer)["jobs"][0]["status"] == "running",
            answer,
        )
        await s.call("job", cancel=[four])
    async with c.serve(c.place(), words=OPEN, settings={"tools.omp.async.max_jobs": "2"}) as s:
        answers = [await s.call("bash", command="sleep 300", async_=True) for _ in range(3)]
        c.holds("J116", "no more than max_jobs", not answers[1].is_error and answers[2].is_error, answers[2])
        await s.call("job", cancel=[details(answer)["async"]["jobId"] for answer in answers[:2]])


async def interceptor(c):
    project = c.place({"a.txt": "x\n"})
    rows = [
        ("cat a.txt", "read"),
        ("head -3 a.txt", "read"),
        ("tail a.txt", "read"),
        ("grep x a.txt", "search"),
        ("rg x", "search"),
        ("find . -name '*.txt'", "find"),
        ("sed -i s/x/y/ a.txt", "edit"),
        ("perl -i -pe s/x/y/ a.txt", "edit"),
        ("echo hi > b.txt", "write"),
        ("printf hi > b.txt", "write"),
        ("cat > b.txt <<EOF\nx\nEOF", "write"),
    ]
    async with c.serve(project, words=OPEN, settings={"tools.beside": "read,search,find,edit,write"}) as s:
        for command, tool in rows:
            answer = await s.call("bash", command=command)
            c.holds(
                "T139", f"{command!r} is blocked for {tool}", answer.is_error and "Blocked: " in answer.text, answer
            )
            c.holds(
                "R46",
                "with the tool and the command",
                f"`{tool}`" in answer.text and command.splitlines()[0] in answer.text,
                answer,
            )
        answer = await s.call("bash", command="cd . && cat a.txt")
        c.holds("T56", "the command behind a cd too", answer.is_error and "Blocked: " in answer.text, answer)
        for command in ["ls", "echo hi", "git log | head -3", "find . -delete -maxdepth 0 -empty"]:
            answer = await s.call("bash", command=command)
            c.holds("T139", f"{command!r} is not blocked", "Blocked: " not in answer.text, answer)
    async with c.serve(project, words=OPEN) as s:
        answer = await s.call("bash", command="cat a.txt")
        c.holds("T138", "without the tool nothing is blocked", answer.text.strip() == "x", answer)
    async with c.serve(project, words=OPEN, settings={"tools.sets": "shell,files"}) as s:
        answer = await s.call("bash", command="cat a.txt")
        c.holds("T138", "with our own file tools it is", answer.is_error and "Blocked: " in answer.text, answer)
    async with c.serve(
        project, words=OPEN, settings={"tools.beside": "read", "tools.omp.bash_interceptor.enabled": "false"}
    ) as s:
        answer = await s.call("bash", command="cat a.txt")
        c.holds("T56", "it can be turned off", answer.text.strip() == "x", answer)
    (project.parent / "config").mkdir(exist_ok=True)
    (project.parent / "config" / "config.toml").write_text(
        '[tools.omp.bash_interceptor]\nrules = ["^\\\\s*curl\\\\b => fetch: Use fetch.", "( => fetch: never"]\n'
    )
    async with c.serve(project, words=OPEN, settings={"tools.beside": "fetch"}) as s:
        answer = await s.call("bash", command="curl http://x")
        c.holds(
            "R36", "rules come from the settings", answer.is_error and "Blocked: Use fetch." in answer.text, answer
        )
        answer = await s.call("bash", command="echo ok")
        c.holds("R43", "a rule that cannot be read is skipped", answer.text.strip() == "ok", answer)


async def recipe(c):
    fake = '#!/bin/sh\necho "$(basename "$0") $*"\n'

    def place(files):
        project = c.place(files)
        (project / "bin").mkdir()
        for name in ["bun", "pnpm", "yarn", "npm"]:
            (project / "bin" / name).write_text(fake)
            (project / "bin" / name).chmod(0o755)
        return project

    def serve(project, **more):
        return c.serve(project, words=OPEN, environment={"PATH": f"{project}/bin:{os.environ['PATH']}"}, **more)

    scripts = '{"name": "root", "scripts": {"test": "x", "build": "y"}}'
    async with serve(
        place(
            {
                "package.json": scripts,
                "package-lock.json": "{}",
                "Makefile": "lint: ## Lints it\n\t@echo linted\nfails:\n\t@exit 4\n.PHONY: lint fails test\ntest:\n\t@echo makes\n",
            }
        )
    ) as s:
        tool = (await s.tools()).get("recipe")
        c.holds("P60", "recipe is there", tool)
        c.holds(
            "P20",
            "it takes op alone",
            set(tool.input_schema["properties"]) == {"op"} and tool.input_schema["required"] == ["op"],
            tool.input_schema,
        )
        c.holds(
            "P114",
            "its description lists the tasks with their commands",
            "npm run" in tool.description and "lint" in tool.description,
            tool.description,
        )
        answer = await s.call("recipe", op="lint")
        c.holds("P45", "one runner has it: it runs", answer.text.strip() == "linted", answer)
        c.holds("P51", "the result is that of bash", details(answer).get("timeoutSeconds") == 300, answer)
        answer = await s.call("recipe", op="build --release x")
        c.holds("P43", "the tail is appended as it is", answer.text.strip() == "npm run build --release x", answer)
        answer = await s.call("recipe", op="test")
        c.holds(
            "P46",
            "several have it: <runner>:<task>",
            answer.is_error and "pkg:test" in answer.text and "make:test" in answer.text,
            answer,
        )
        answer = await s.call("recipe", op="make:test")
        c.holds("P44", "a runner can be named", answer.text.strip() == "makes", answer)
        answer = await s.call("recipe", op="pkg:test --watch")
        c.holds("P44", "pkg too", answer.text.strip() == "npm run test --watch", answer)
        for op, what in [
            ("", "empty"),
            ("   ", "blank"),
            ("nothing", "unknown"),
            ("make:nothing", "unknown to its runner"),
            ("make:", "without a task"),
        ]:
            answer = await s.call("recipe", op=op)
            c.holds("P67", f"an op that is {what} is an error", answer.is_error, answer)
            c.holds("P139", "with the tasks there are", "lint" in answer.text, answer)
        answer = await s.call("recipe", op="fails")
        c.holds(
            "P56",
            "a failure ends with the code",
            answer.is_error and re.search(r"Command exited with code \d+$", answer.text.rstrip()),
            answer,
        )
        answer = await s.call("recipe", op="  lint  ")
        c.holds("P41", "blanks in front are ignored", answer.text.strip() == "linted", answer)
    for lock, prefix in [
        ("bun.lock", "bun run"),
        ("bun.lockb", "bun run"),
        ("pnpm-lock.yaml", "pnpm run"),
        ("yarn.lock", "yarn run"),
        ("package-lock.json", "npm run"),
        ("npm-shrinkwrap.json", "npm run"),
        (None, "bun run"),
    ]:
        files = {"package.json": scripts} | ({lock: "{}"} if lock else {})
        async with serve(place(files)) as s:
            answer = await s.call("recipe", op="test")
            c.holds(
                "P121",
                f"{lock}: {prefix}",
                (answer.text or "").strip() in (f"{prefix} test", f"{prefix.split()[0]} test"),
                answer,
            )
    workspace = {
        "package.json": '{"workspaces": ["packages/*"], "scripts": {"all": "x"}}',
        "packages/a/package.json": '{"name": "pkg-a", "scripts": {"test": "x"}}',
        "packages/b/package.json": '{"scripts": {"test": "x"}}',
        "package-lock.json": "",
    }
    project = place(workspace)
    (project / "bin" / "npm").write_text('#!/bin/sh\necho "npm $*"; pwd\n')
    async with serve(project) as s:
        answer = await s.call("recipe", op="pkg-a/test")
        c.holds(
            "P118",
            "a workspace script is NAME/SCRIPT and runs there",
            answer.text.strip() == f"npm run test\n{project}/packages/a",
            answer,
        )
        answer = await s.call("recipe", op="packages/b/test")
        c.holds(
            "P118",
            "one without a name has its directory's",
            answer.text.strip() == f"npm run test\n{project}/packages/b",
            answer,
        )
        answer = await s.call("recipe", op="test")
        c.holds("P118", "and is not there without it", answer.is_error, answer)
    async with serve(c.place()) as s:
        c.holds("P79", "without tasks there is no recipe", "recipe" not in await s.tools())
    async with serve(place({"package.json": scripts}), settings={"tools.omp.recipe.enabled": "false"}) as s:
        c.holds("P78", "nor where it is turned off", "recipe" not in await s.tools())
    async with serve(c.place({"Makefile": "all: out.o\n\t@echo a\nout.o:\n\t@echo o\n"})) as s:
        description = (await s.tools())["recipe"].description
        c.holds(
            "P129",
            "without .PHONY all targets are there",
            "all" in description and "out.o" in description,
            description,
        )
    async with serve(
        c.place({"Makefile": ".PHONY: all\nall:\n\t@echo a\nout.o:\n\t@echo o\nbin: ## the program\n\t@echo b\n"})
    ) as s:
        description = (await s.tools())["recipe"].description
        c.holds(
            "P129",
            "with it, files without words are not",
            "out.o" not in description and "all" in description,
            description,
        )
        c.holds("P130", "and those with words are file targets", "(file target)" in description, description)
    async with serve(c.place({"Makefile": "".join(f"t{n:02}:\n\t@true\n" for n in range(30))})) as s:
        description = (await s.tools())["recipe"].description
        c.holds(
            "P99",
            "no more than 20 tasks of a runner are listed",
            "t19" in description and "t20" not in description,
            description,
        )
        c.holds("P99", "though all can be run", not (await s.call("recipe", op="t29")).is_error)


async def secrets(c):
    project = c.place()
    home = project.parent
    (home / ".omp" / "agent").mkdir(parents=True)
    (home / ".omp" / "agent" / "secrets.yml").write_text(
        '- type: plain\n  content: sk-proj-abc123def456\n- type: plain\n  content: hunter2hunter2\n  mode: replace\n  replacement: "********"\n- type: regex\n  content: "AKIA[0-9A-Z]{16}"\n- type: regex\n  content: "api[_-]?key\\\\s*=\\\\s*\\\\w+"\n  flags: "i"\n- type: regex\n  content: "/bearer\\\\s+[a-zA-Z0-9._~+\\\\/=-]+/i"\n- type: regex\n  content: "postgres://[^\\\\s]+"\n  mode: replace\n  replacement: "postgres://***"\n'
    )
    (project / ".omp").mkdir()
    (project / ".omp" / "secrets.yml").write_text("- type: plain\n  content: project-only-secret\n")
    async with c.serve(
        project, words=OPEN, environment={"MY_API_TOKEN": "tok-12345678-abcd", "SHORT_KEY": "short"}
    ) as s:

        async def seen(text):
            (project / "text").write_text(text + "\n")
            return (await s.call("bash", command="cat text")).text.strip()

        shape = r"#[A-Z0-9]{4}#"
        text = await seen("a sk-proj-abc123def456 b")
        c.holds(
            "S43", "a plain secret of the user's file is a placeholder", re.fullmatch(f"a {shape} b", text), text
        )
        again = await seen("sk-proj-abc123def456")
        c.holds("S22", "which is deterministic", again in text, (again, text))
        answer = await s.call("bash", command=f"printf %s '{again}' | wc -c")
        c.holds("S24", "and is restored in arguments", answer.text.strip() == "20", answer)
        text = await seen("x hunter2hunter2 y")
        c.holds("S31", "replace mode has its replacement", text == "x ******** y", text)
        text = await seen("AKIAABCDEFGHIJKLMNOP")
        c.holds("S70", "a regex", re.fullmatch(shape, text), text)
        text = await seen("API_KEY = abcdef")
        c.holds("S74", "with flags", re.fullmatch(shape, text), text)
        text = await seen("Bearer abc.def/ghi==")
        c.holds("S78", "as a literal", re.fullmatch(shape, text), text)
        text = await seen("postgres://u:p@h/db and AKIAABCDEFGHIJKLMNOP AKIAABCDEFGHIJKLMNOQ")
        c.holds(
            "S92",
            "a regex that replaces; all matches",
            re.fullmatch(r"postgres://\*\*\* and #\w{4}# #\w{4}#", text),
            text,
        )
        text = await seen("project-only-secret")
        c.holds("S38", "the project's file counts", re.fullmatch(shape, text), text)
        text = await seen("tok-12345678-abcd short")
        c.holds(
            "S17",
            "values of variables with such names, of 8 characters and more",
            re.fullmatch(f"{shape} short", text),
            text,
        )
        if s.is_contained:
            answer = await s.call("bash", command="echo v$MY_API_TOKEN")
            c.differs_by(
                "bash", "S17", "commands in a sandbox have no such variables", answer.text.strip() == "v", answer
            )


async def settings(c):
    project = c.place()
    async with c.serve(project, words=OPEN, settings={"tools.omp.shell.session": "true"}) as s:
        await s.call("bash", command="export KEPT=5; f() { echo in f; }")
        answer = await s.call("bash", command="echo $KEPT; f")
        c.holds("R88", "a session keeps its shell, where that is set", answer.text.strip() == "5\nin f", answer)
    async with c.serve(project, words=OPEN, settings={"tools.omp.shell.prefix": "env PREFIXED=1"}) as s:
        answer = await s.call("bash", command="printenv PREFIXED")
        c.holds("R116", "a prefix stands in front", answer.text.strip() == "1", answer)
    (project.parent / ".bashrc").write_text("hello() { echo from rc; }\nalias hi='echo aliased'\n")
    async with c.serve(
        project, words=OPEN, environment={"SHELL": "/bin/bash"}, settings={"tools.omp.shell.snapshot": "true"}
    ) as s:
        answer = await s.call("bash", command="hello; hi")
        c.holds("R104", "a snapshot has functions and aliases", answer.text.strip() == "from rc\naliased", answer)
    async with c.serve(project, words=OPEN) as s:
        answer = await s.call("bash", command="export KEPT=5")
        answer = await s.call("bash", command="echo k$KEPT")
        c.differs_by(
            "bash", "R88", "unless it is set, every command has a fresh shell", answer.text.strip() == "k", answer
        )
