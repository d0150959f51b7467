"""What the design specification of the Meerkat shell tool says."""

import glob
import json
import os
import re

from checks import appears, until

ON = {"tools.shell.enabled": "true", "tools.shell.shell": "sh"}
OPEN = ["--mode", "open"]


async def ends(s, job):
    async def look():
        answer = await s.call("shell_job_status", job_id=job)
        return answer if answer["status"]["status"] != "running" else None

    return await until(look)


async def check(c):
    async with c.serve(c.place()) as s:
        c.holds("469", "it is disabled unless it is enabled", await s.tools() == {}, await s.tools())
    project = c.place({"sub/x": "x"})
    async with c.serve(
        project,
        settings=ON,
        words=OPEN,
        environment={"AN_ORDINARY_NAME": "seen", "MY_API_TOKEN": "tok-12345678-abcd", "PWD": "/nowhere"},
    ) as s:
        await definitions(c, await s.tools())
        await synchronous(c, s)
        await background(c, s)
        await errors(c, s)
    await configured(c)
    await blocked(c)


async def definitions(c, listed):
    c.holds(
        "218",
        "there are four tools",
        set(listed) == {"shell", "shell_job_status", "shell_jobs", "shell_job_cancel"},
        list(listed),
    )
    schema = listed["shell"].input_schema
    c.holds(
        "230",
        "shell takes these",
        set(schema["properties"]) == {"command", "working_dir", "timeout_secs", "background"},
        schema,
    )
    types = {"command": "string", "working_dir": "string", "timeout_secs": "integer", "background": "boolean"}
    for name, kind in types.items():
        c.holds("230", f"{name} is a {kind}", schema["properties"][name]["type"] == kind, schema)
    c.holds(
        "247",
        "background is false unless given",
        schema["properties"]["background"].get("default") is False,
        schema,
    )
    c.holds("250", "command is required", schema["required"] == ["command"], schema)
    for name in ["shell_job_status", "shell_job_cancel"]:
        schema = listed[name].input_schema
        c.holds(
            "286",
            f"{name} takes a job_id, which is required",
            set(schema["properties"]) == {"job_id"} and schema["required"] == ["job_id"],
            schema,
        )
    c.holds(
        "322",
        "shell_jobs takes nothing",
        listed["shell_jobs"].input_schema.get("properties", {}) == {},
        listed["shell_jobs"].input_schema,
    )


async def synchronous(c, s):
    answer = await s.call("shell", command="echo out; echo err >&2; exit 3")
    c.holds(
        "256",
        "a synchronous result has these fields",
        set(answer.value) == {"exit_code", "stdout", "stderr", "timed_out", "duration_secs"},
        answer,
    )
    c.holds(
        "256",
        "with the streams apart",
        (answer["exit_code"], answer["stdout"], answer["stderr"], answer["timed_out"])
        == (3, "out\n", "err\n", False),
        answer,
    )
    c.holds("256", "a code is no error", not answer.is_error, answer)
    c.holds("261", "duration_secs is a number", isinstance(answer["duration_secs"], float), answer)
    c.holds("256", "the text is the same JSON", json.loads(answer.text) == answer.value, answer)
    answer = await s.call("shell", command="echo part; sleep 30", timeout_secs=1)
    c.holds("260", "a timeout is timed_out", answer["timed_out"] is True and answer["stdout"] == "part\n", answer)
    answer = await s.call("shell", command="pwd; echo $PWD")
    c.holds("397", "PWD is the working directory", answer["stdout"] == f"{s.project}\n{s.project}\n", answer)
    answer = await s.call("shell", command="pwd; printenv PWD", working_dir="sub")
    c.holds(
        "236", "working_dir is relative to the root, PWD too", answer["stdout"] == f"{s.project}/sub\n" * 2, answer
    )
    answer = await s.call("shell", command="echo $AN_ORDINARY_NAME")
    c.holds("387", "the environment is inherited", answer["stdout"] == "seen\n", answer)
    if s.is_contained:
        answer = await s.call("shell", command="echo v$MY_API_TOKEN")
        c.differs_by("shell", "387", "but for secrets, in a sandbox", answer["stdout"] == "v\n", answer)


async def background(c, s):
    started = await s.call(
        "shell", command="while ! test -e go; do sleep 0.05; done; echo done; exit 4", background=True
    )
    job = started["job_id"] or ""
    c.holds(
        "268",
        "a background result has these fields",
        set(started.value) == {"job_id", "status", "message"},
        started,
    )
    c.holds("114", "an id is job_ and a ULID in lower case", re.fullmatch(r"job_[0-9a-hjkmnp-tv-z]{26}", job), job)
    c.holds("271", "status is running", started["status"] == "running", started)
    c.holds(
        "272",
        "the message names the command",
        started["message"]
        == "Command 'while ! test -e go; do sleep 0.05; done; echo done; exit 4' started in background",
        started,
    )
    answer = await s.call("shell_job_status", job_id=job)
    c.holds(
        "302",
        "a status has these fields",
        set(answer.value) == {"id", "command", "working_dir", "timeout_secs", "status"},
        answer,
    )
    c.holds(
        "126",
        "a running one has its start",
        answer["status"] == {"status": "running", "started_at_unix": answer["status"].get("started_at_unix")}
        and isinstance(answer["status"]["started_at_unix"], int),
        answer,
    )
    c.holds("305", "working_dir is the directory", answer["working_dir"] == str(s.project), answer)
    c.holds("306", "timeout_secs is the default", answer["timeout_secs"] == 30, answer)
    listed = await s.call("shell_jobs")
    rows = json.loads(listed.text)
    c.holds("333", "the list is an array", isinstance(rows, list), listed)
    row = next((row for row in rows if row["id"] == job), {})
    c.holds(
        "335",
        "a row has these fields",
        set(row) == {"id", "command", "status", "started_at_unix"} and row["status"] == "running",
        row,
    )
    (s.project / "go").write_text("")
    answer = await ends(s, job)
    status = answer["status"]
    c.holds(
        "132",
        "an ended one is completed, whatever its code",
        (status["status"], status["exit_code"], status["stdout"], status["stderr"])
        == ("completed", 4, "done\n", ""),
        answer,
    )
    c.holds(
        "132",
        "with these fields",
        set(status) == {"status", "exit_code", "stdout", "stderr", "duration_secs"},
        answer,
    )
    started = await s.call("shell", command="echo part; echo e >&2; sleep 60", background=True, timeout_secs=1)
    answer = await ends(s, started["job_id"])
    status = answer["status"]
    c.holds(
        "146",
        "a timeout has the partial output",
        (status["status"], status["stdout"], status["stderr"]) == ("timed_out", "part\n", "e\n")
        and set(status) == {"status", "stdout", "stderr", "duration_secs"},
        answer,
    )
    started = await s.call("shell", command="touch up; exec sleep 300", background=True)
    await appears(s, "shell", "command", s.project / "up")
    cancelled = await s.call("shell_job_cancel", job_id=started["job_id"])
    c.holds(
        "366",
        "cancel says cancelled",
        cancelled.value == {"job_id": started["job_id"], "status": "cancelled"},
        cancelled,
    )
    answer = await ends(s, started["job_id"])
    c.holds(
        "153",
        "and the job is cancelled, with its duration alone",
        set(answer["status"]) == {"status", "duration_secs"} and answer["status"]["status"] == "cancelled",
        answer,
    )
    again = await s.call("shell_job_cancel", job_id=started["job_id"])
    c.holds(
        "531",
        "a job that is not running cannot be cancelled",
        again.is_error and "not running" in again.text,
        again,
    )
    started = await s.call(
        "shell", command="trap '' TERM; touch stubborn; while :; do sleep 1; done", background=True
    )
    await appears(s, "shell", "command", s.project / "stubborn")
    cancelled = await s.call("shell_job_cancel", job_id=started["job_id"])
    c.holds("457", "who ignores TERM is killed", cancelled["status"] == "cancelled", cancelled)
    # Completion events.
    started, told = await s.call("shell", command="echo told", background=True), s.told

    async def is_told():
        await s.call("shell", command="true")
        return any(event["data"]["job_id"] == started["job_id"] for event in told)

    await until(is_told)
    event = next(event for event in told if event["data"]["job_id"] == started["job_id"])
    c.holds(
        "419",
        "a completion is an event with data",
        event["event_type"] == "shell_job_completed" and set(event["data"]) == {"job_id", "command", "result"},
        event,
    )
    c.holds(
        "424",
        "with the result",
        event["data"]["result"]["status"] == "completed" and event["data"]["result"]["stdout"] == "told\n",
        event,
    )
    c.holds(
        "451",
        "a cancelled job sends one too",
        any(event["data"]["result"]["status"] == "cancelled" for event in told),
        told,
    )
    c.holds(
        "406", "and so does one that was looked at", any(event["data"]["job_id"] == job for event in told), told
    )
    count = sum(event["data"]["job_id"] == started["job_id"] for event in told)
    c.holds("410", "once", count == 1, told)


async def errors(c, s):
    def shaped(answer):
        shape = (answer.meta or {}).get("umbo/error") or answer.value or {}
        return set(shape) >= {"error", "message"} and isinstance(shape["error"], str)

    answer = await s.call("shell_job_status", job_id="job_01hx7z8k9m2n3p4q5r6s7t8v9w")
    c.holds(
        "528",
        "an unknown job: Job not found: ID",
        answer.is_error and "Job not found: job_01hx7z8k9m2n3p4q5r6s7t8v9w" in answer.text,
        answer,
    )
    c.holds("540", "an error has a code and a message", shaped(answer), answer)
    answer = await s.call("shell_job_cancel", job_id="job_01hx7z8k9m2n3p4q5r6s7t8v9w")
    c.holds("376", "the same for a cancel", answer.is_error and "Job not found" in answer.text, answer)
    for place in ["..", "../../../etc", "/etc", "/"]:
        answer = await s.call("shell", command="pwd", working_dir=place)
        c.holds(
            "477",
            f"working_dir {place} is outside",
            answer.is_error and f"Working directory '{place}' is outside project root" in answer.text,
            answer,
        )
        c.holds("540", "with a code and a message", shaped(answer), answer)
    answer = await s.call("shell", command="pwd", working_dir="nowhere")
    c.holds(
        "525",
        "Working directory not found: PATH",
        answer.is_error and "Working directory not found: " in answer.text,
        answer,
    )
    answer = await s.call("shell")
    c.holds("250", "no command is an error", answer.is_error and shaped(answer), answer)
    answer = await s.call("shell", command="true", timeout_secs="x")
    c.holds("239", "a timeout that is no number is an error", answer.is_error and shaped(answer), answer)
    answer = await s.call("shell", command="echo t", timeout_secs=0)
    c.differs_by("shell", "240", "a timeout of 0 is none", answer["stdout"] == "t\n", answer)
    answer = await s.call("shell", command="")
    c.differs_by("shell", "233", "a command of nothing is refused", answer.is_error, answer)


async def configured(c):
    async with c.serve(
        c.place(),
        settings=ON | {"tools.sandbox": "off"},
        words=OPEN,
        environment={"MY_API_TOKEN": "tok-12345678-abcd"},
    ) as s:
        answer = await s.call("shell", command="printf %s $MY_API_TOKEN | wc -c")
        c.holds("387", "without a sandbox all of it is", answer["stdout"].strip() == "17", answer)
    # Project, user, defaults.
    project = c.place({".umbo/config.toml": ""})
    config = project.parent / "config"
    config.mkdir()
    (config / "config.toml").write_text('[tools.shell]\nenabled = true\ndefault_timeout_secs = 60\nshell = "sh"\n')
    async with c.serve(project, words=OPEN) as s:
        job = (await s.call("shell", command="true", background=True))["job_id"]
        answer = await s.call("shell_job_status", job_id=job)
        c.holds("94", "the user's file says how long", answer["timeout_secs"] == 60, answer)
        job = (await s.call("shell", command="true", background=True, timeout_secs=7))["job_id"]
        answer = await s.call("shell_job_status", job_id=job)
        c.holds("101", "the call comes first", answer["timeout_secs"] == 7, answer)
    (project / ".umbo" / "config.toml").write_text("[tools.shell]\ndefault_timeout_secs = 20\n")
    async with c.serve(project, words=OPEN) as s:
        job = (await s.call("shell", command="true", background=True))["job_id"]
        answer = await s.call("shell_job_status", job_id=job)
        c.holds("102", "the project's file before the user's", answer["timeout_secs"] == 20, answer)
    async with c.serve(c.place(), settings=ON | {"tools.shell.restrict_to_project": "false"}, words=OPEN) as s:
        answer = await s.call("shell", command="pwd", working_dir="/usr")
        c.holds("82", "restrict_to_project can be turned off", answer["stdout"] == "/usr\n", answer)
    async with c.serve(c.place(), settings=ON | {"tools.shell.shell": "no-such-shell"}, words=OPEN) as s:
        answer = await s.call("shell", command="true")
        c.holds(
            "516",
            "a shell that is not there",
            answer.is_error
            and "Shell not installed: no-such-shell. Install from https://nushell.sh" in answer.text,
            answer,
        )
    nu = nushell()
    async with c.serve(
        c.place(), settings={"tools.shell.enabled": "true", "tools.shell.shell_path": nu}, words=OPEN
    ) as s:
        answer = await s.call("shell", command="[1 2 3] | math sum")
        c.holds("56", "it is nu -c", answer["stdout"].strip() == "6", answer)
    async with c.serve(
        c.place(), settings={"tools.shell.enabled": "true"}, words=OPEN, environment={"PATH": "/usr/bin:/bin"}
    ) as s:
        answer = await s.call("shell", command="echo $0")
        c.holds("85", "without nu it is /bin/sh", "sh" in (answer["stdout"] or ""), answer)
    async with c.serve(c.place(), settings=ON | {"tools.shell.max_concurrent_processes": "2"}, words=OPEN) as s:
        answers = [await s.call("shell", command="sleep 300", background=True) for _ in range(3)]
        c.holds(
            "213",
            "no more than max_concurrent_processes",
            not answers[0].is_error and not answers[1].is_error and answers[2].is_error,
            answers,
        )
        for answer in answers[:2]:
            await s.call("shell_job_cancel", job_id=answer["job_id"])
    async with c.serve(c.place(), settings=ON | {"tools.shell.max_completed_jobs": "2"}, words=OPEN) as s:
        for number in range(4):
            await ends(s, (await s.call("shell", command=f"echo {number}", background=True))["job_id"])
        rows = json.loads((await s.call("shell_jobs")).text)
        c.holds("207", "no more than max_completed_jobs are kept", len(rows) == 2, rows)
    async with c.serve(c.place(), settings=ON | {"tools.shell.completed_job_ttl_secs": "1"}, words=OPEN) as s:
        await ends(s, (await s.call("shell", command="true", background=True))["job_id"])

        async def is_gone():
            return json.loads((await s.call("shell_jobs")).text) == []

        await until(is_gone)
        c.holds("210", "nor longer than completed_job_ttl_secs", True)


def nushell():
    tools = os.environ.get("UMBO_TEST_TOOLS", "")
    return glob.glob(f"{tools}/node_modules/@nushell/*/bin/nu")[0]


async def blocked(c):
    async with c.serve(c.place(), settings=ON, words=OPEN) as s:
        for command, pattern in [
            ("rm -rf /", "rm -rf /"),
            ("rm -rf /tmp/x", "rm -rf /"),
            ("rm -rf ~", "rm -rf ~"),
            ("rm -rf ~/x", "rm -rf ~"),
            ("echo x > /dev/sda", "> /dev/sd"),
            ("dd if=/dev/zero of=x count=1", "dd if="),
        ]:
            answer = await s.call("shell", command=command)
            c.holds("497", f"{command!r} is blocked", answer.is_error, answer)
            c.holds(
                "519",
                f"with Command blocked: contains '{pattern}'",
                f"Command blocked: contains '{pattern}'" in answer.text,
                answer,
            )
        answer = await s.call("shell", command="echo 'rm -rf /'")
        c.differs_by("shell", "500", "a text that merely contains it runs", not answer.is_error, answer)
