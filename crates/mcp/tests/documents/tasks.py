"""What the documentation of the Go package `shell` says."""

import re

from checks import appears, until


async def ended(s, task):
    async def look():
        answer = await s.call("task_output", task_id=task)
        return answer if answer["status"] != "running" else None

    return await until(look)


async def check(c):
    project = c.place({"a.txt": "needle\nhay\n", "sub/b.go": "package needle\n"})
    async with c.serve(project, words=["--mode", "open"], settings={"tools.sets": "shell,files"}) as s:
        listed = await s.tools()
        c.holds(
            "4", "Bash, Ls, Grep, Tree are the tools", {"Bash", "Ls", "Grep", "Tree"} <= set(listed), list(listed)
        )
        c.holds(
            "86",
            "task_list, task_output, task_stop are there",
            {"task_list", "task_output", "task_stop"} <= set(listed),
            list(listed),
        )
        c.holds("58", "every tool has a description", all(tool.description for tool in listed.values()))
        c.holds(
            "59",
            "every tool has a schema of an object",
            all(tool.input_schema["type"] == "object" for tool in listed.values()),
        )
        answer = await s.call("Bash", command="echo $0; pwd")
        c.holds("50", "Bash runs /bin/sh", answer["output"].splitlines()[0].endswith("sh"), answer)
        c.holds("50", "in the workdir", answer["output"].splitlines()[1] == str(project), answer)
        answer = await s.call("Bash", command="readlink /proc/$$/exe; readlink -f /bin/sh")
        lines = answer["output"].splitlines()
        c.holds("50", "the very /bin/sh", lines[0] == lines[1], answer)
        await s.call("Bash", command="X=5; export X; cd sub")
        answer = await s.call("Bash", command="echo x$X; pwd")
        c.holds("50", "no state persists", answer["output"] == f"x\n{project}\n", answer)
        answer = await s.call("Bash", command="echo out; echo err >&2")
        c.holds("191", "output is stdout and stderr together", answer["output"] == "out\nerr\n", answer)
        started = await s.call(
            "Bash",
            command="while ! test -e go; do sleep 0.05; done; echo fin",
            run_in_background=True,
            description="waits",
        )
        task = started["task_id"]
        c.holds(
            "51",
            "with run_in_background it answers at once with a task id",
            started.value["status"] == "running",
            started,
        )
        c.holds("44", "an id is b and eight characters of base 36", re.fullmatch("b[0-9a-z]{8}", task), task)
        c.holds("44", "the id is in the text", task in started.text, started)
        answer = await s.call("task_list")
        rows = {row["id"]: row for row in answer["tasks"]}
        c.holds("175", "task_list has it", task in rows, answer)
        row = rows[task]
        c.holds("90", "with its command", row["command"].endswith("echo fin"), row)
        c.holds("91", "with its description", row["description"] == "waits", row)
        c.holds("108", "running", row["status"] == "running", row)
        c.holds("95", "with its start", "started_at" in row, row)
        c.holds("99", "with its agent", row["agent_id"], row)
        c.differs_by("task_list", "93", "a running task has no exit code", "exit_code" not in row, row)
        c.differs_by("task_list", "96", "nor an end", "completed_at" not in row, row)
        answer = await s.call("task_output", task_id=task)
        c.holds("191", "a running task can be read", answer["status"] == "running", answer)
        (project / "go").write_text("")
        answer = await ended(s, task)
        c.holds("106", "code 0 is completed", (answer["status"], answer["exit_code"]) == ("completed", 0), answer)
        c.holds("94", "its output is there", answer["output"] == "fin\n", answer)
        c.holds("96", "and when it ended", answer.value.get("completed_at"), answer)
        again = await s.call("task_stop", task_id=task)
        c.holds(
            "206",
            "task_stop of a finished task is a no-op message",
            not again.is_error and "completed" in again["message"],
            again,
        )
        answer = await s.call("task_output", task_id=task)
        c.holds("206", "and it stays completed", answer["status"] == "completed", answer)
        failed = (await s.call("Bash", command="echo bad; exit 7", run_in_background=True))["task_id"]
        answer = await ended(s, failed)
        c.holds(
            "106",
            "another code is failed",
            (answer["status"], answer["exit_code"], answer["output"]) == ("failed", 7, "bad\n"),
            answer,
        )
        victim = (await s.call("Bash", command="touch up; sleep 300", run_in_background=True))["task_id"]
        await appears(s, "Bash", "command", project / "up")
        answer = await s.call("task_stop", task_id=victim)
        c.holds(
            "206",
            "task_stop terminates a running task",
            not answer.is_error and answer["status"] == "killed",
            answer,
        )
        answer = await ended(s, victim)
        c.holds("106", "which is killed then", answer["status"] == "killed", answer)
        answer = await s.call("task_stop", task_id="bzzzzzzzz")
        c.holds("147", "an unknown task is a no-op", not answer.is_error, answer)
        answer = await s.call("task_output", task_id="bzzzzzzzz")
        c.holds("138", "an unknown task has no output: an error", answer.is_error, answer)
        answer = await s.call("task_output")
        c.holds("201", "an id is required", answer.is_error and "task_id" in answer.text, answer)
        first = (await s.call("Bash", command="while ! test -e one; do sleep 0.05; done", run_in_background=True))[
            "task_id"
        ]
        second = (await s.call("Bash", command="while ! test -e two; do sleep 0.05; done", run_in_background=True))[
            "task_id"
        ]
        answer = await s.call("task_list")
        ids = [row["id"] for row in answer["tasks"]]
        c.holds(
            "144",
            "the list is in order of the starts",
            ids.index(first) < ids.index(second)
            and ids
            == sorted(ids, key=[r["id"] for r in sorted(answer["tasks"], key=lambda r: r["started_at"])].index),
            ids,
        )
        (project / "two").write_text("")
        await told(s, [second])
        (project / "one").write_text("")
        await told(s, [first])
        c.holds("134", "completions come in order of completion", ids_of(s.told)[-2:] == [second, first], s.told)
        three = [
            (await s.call("Bash", command=f"echo out {number}", run_in_background=True))["task_id"]
            for number in range(3)
        ]
        await told(s, three)
        c.holds("107", "and each once", len(set(ids_of(s.told))) == len(s.told), s.told)
        snapshot = s.told[-3:]
        c.holds(
            "101",
            "what is drained is a snapshot with output",
            all(
                {
                    "id",
                    "command",
                    "status",
                    "exit_code",
                    "output",
                    "started_at",
                    "completed_at",
                    "agent_id",
                    "description",
                }
                <= set(t)
                for t in snapshot
            ),
            snapshot,
        )
        answer = await s.call("Bash", command="exit 9")
        c.holds("106", "a foreground code is told", answer.value["exit_code"] == 9 and "9" in answer.text, answer)
        answer = await s.call("Ls", path="sub")
        c.holds("5", "Ls lists a directory", [e["name"] for e in answer["entries"]] == ["b.go"], answer)
        answer = await s.call("Tree")
        c.holds("5", "Tree shows what is below", "b.go" in answer["tree"], answer)
        answer = await s.call("Grep", pattern="need.e")
        c.holds(
            "5",
            "Grep is a regex search across files",
            answer["matches"] == 2 and "sub/b.go:1:package needle" in answer["output"],
            answer,
        )
        answer = await s.call("Grep", pattern="[")
        c.holds("5", "a bad regex is an error", answer.is_error, answer)
        # A task survives the call that made it.
        answer = await s.call("Bash", command="sleep 0.3; echo late", run_in_background=True)
        answer = await ended(s, answer["task_id"])
        c.holds("74", "a task survives the call that made it", answer["output"] == "late\n", answer)
        answer = await s.call("Bash", command="sleep 20", timeout=500)
        c.holds("60", "a timeout ends a foreground command", answer.is_error and answer.value is not None, answer)
        many = [(await s.call("Bash", command="true", run_in_background=True))["task_id"] for _ in range(12)]
        c.holds("44", "ids use the whole alphabet", len(set("".join(i[1:] for i in many))) > 20, many)

    # Lives as long as the agent, where that is chosen.
    project = c.place()
    async with c.serve(project, words=["--mode", "open"], settings={"tools.tasks.lifetime": "agent"}) as s:
        await s.call("Bash", command="touch up; sleep 300", run_in_background=True)
        await appears(s, "Bash", "command", project / "up")
    async with c.serve(project, words=["--mode", "open"]) as s:
        jobs = await s.call("Bash", command=f"pgrep -f 'touch up; sleep 30[0]' || echo none")
        c.holds("106", "the root context ends its tasks", jobs["output"] == "none\n", jobs)

    await classified(c)


def ids_of(told):
    return [event["id"] for event in told]


async def told(s, tasks):
    """Calls until the ends of these tasks were told."""

    async def look():
        await s.call("Bash", command="true")
        return set(tasks) <= set(ids_of(s.told))

    await until(look)


async def classified(c):
    """What the document's classifier makes of commands, by mode."""

    def code(answer):
        return ((answer.value or {}).get("error") or {}).get("code")

    project = c.place({"a.txt": "x"})
    rows = [
        # default asks for all
        ("169", "default", "ls", True),
        ("169", "default", "mkdir d1", True),
        ("169", "default", "make x", True),
        # auto: read-only runs, the rest asks
        ("169", "auto", "ls", False),
        ("169", "auto", "cat a.txt", False),
        ("169", "auto", "mkdir d2", True),
        ("169", "auto", "rm -rf d2", True),
        ("169", "auto", "unknown-thing", True),
        ("155", "auto", "ls | cat", False),
        ("155", "auto", "ls && cat a.txt", False),
        ("155", "auto", "ls && mkdir d3", True),
        ("155", "auto", "ls && rm -rf x", True),
        ("155", "auto", "cat a.txt | sh", True),
        ("156", "auto", "ls; ls", True),
        ("156", "auto", "ls || ls", True),
        ("156", "auto", "ls > out", True),
        ("156", "auto", "ls >> out", True),
        ("156", "auto", "cat < a.txt", True),
        ("157", "auto", "FOO=1 ls", False),
        ("157", "auto", "FOO=1 BAR=2 cat a.txt", False),
        ("151", "default", "touch t1", True),
        ("151", "accept_edits", "touch t2", False),
        ("151", "accept_edits", "mkdir m", False),
        ("151", "accept_edits", "cp a.txt b.txt", False),
        ("151", "accept_edits", "mv b.txt c.txt", False),
        ("151", "accept_edits", "ln a.txt l.txt", False),
        ("151", "accept_edits", "chmod 600 a.txt", False),
        ("151", "accept_edits", "rmdir m", False),
        ("151", "accept_edits", "rm a.txt", True),
        ("151", "accept_edits", "make x", True),
    ]
    for mode in ["default", "auto", "accept_edits"]:
        async with c.serve(project, words=["--mode", mode]) as s:
            for line, its, command, asks in rows:
                if its == mode:
                    answer = await s.call("Bash", command=command)
                    asked = answer.is_error and ("approv" in answer.text)
                    c.holds(line, f"{mode}: {command!r} {'asks' if asks else 'runs'}", asked == asks, answer)
