"""What the source of the lash shell plugin says."""

import asyncio
import json
import os
import re

from checks import appears, until

COMMON = {"cmd", "workdir", "shell", "login", "allow_nonzero_exit", "max_output_tokens"}


async def check(c):
    project = c.place({"sub/x": "x", "Cargo.lock": ""})
    async with c.serve(project, environment={"SHELL": "/bin/bash"}, words=["--mode", "open"]) as s:
        listed = await s.tools()
        await definitions(c, s, listed)
        await exec_command(c, s)
        await start_command(c, s)


async def definitions(c, s, listed):
    c.holds(
        "502",
        "exec_command, start_command and write_stdin are there",
        {"exec_command", "start_command", "write_stdin"} <= set(listed),
        list(listed),
    )
    told = s.client.instructions or ""
    c.holds(
        "45", "the guidance names shell.exec and shell.start", "shell.exec" in told and "shell.start" in told, told
    )
    c.holds(
        "45",
        "and processes.list and processes.cancel",
        "processes.list" in told and "processes.cancel" in told,
        told,
    )
    c.holds("48", "and shell.write, which can be called", "shell.write" in told, told)
    c.holds("56", "headed Command Execution", "Command Execution" in told, told)
    c.holds("57", "and Git Safety", "Git Safety" in told and "destructive git" in told, told)
    for name, tool in [
        ("exec_command", "tool:exec_command"),
        ("start_command", "tool:start_command"),
        ("write_stdin", "tool:write_stdin"),
    ]:
        meta = listed[name].meta or {}
        c.holds("483", f"the id of {name} is {tool}", meta.get("umbo/id") == tool, meta)
    exec_ = listed["exec_command"]
    schema = exec_.input_schema
    c.holds("450", "exec_command takes these fields", set(schema["properties"]) == COMMON | {"timeout_ms"}, schema)
    c.holds("494", "cmd alone is required", schema["required"] == ["cmd"], schema)
    types = {
        "cmd": "string",
        "workdir": "string",
        "shell": "string",
        "login": "boolean",
        "allow_nonzero_exit": "boolean",
        "max_output_tokens": "integer",
    }
    for name, kind in types.items():
        c.holds("452", f"{name} is a {kind}", schema["properties"][name]["type"] == kind, schema)
        c.holds(
            "452",
            f"{name} of start_command is a {kind}",
            listed["start_command"].input_schema["properties"][name]["type"] == kind,
        )
    c.holds("466", "login is false unless given", schema["properties"]["login"]["default"] is False, schema)
    c.holds(
        "471",
        "allow_nonzero_exit is false unless given",
        schema["properties"]["allow_nonzero_exit"]["default"] is False,
        schema,
    )
    c.holds(
        "476", "max_output_tokens is 1 at least", schema["properties"]["max_output_tokens"]["minimum"] == 1, schema
    )
    c.holds(
        "490",
        "timeout_ms is 1 at least, 600000 unless given",
        (schema["properties"]["timeout_ms"]["minimum"], schema["properties"]["timeout_ms"]["default"])
        == (1, 600000),
        schema,
    )
    c.holds(
        "513", "start_command has no timeout_ms", set(listed["start_command"].input_schema["properties"]) == COMMON
    )
    write = listed["write_stdin"].input_schema
    c.holds(
        "529",
        "write_stdin takes process_id, chars, close_stdin",
        set(write["properties"]) == {"process_id", "chars", "close_stdin"} and write["required"] == ["process_id"],
        write,
    )
    c.holds("536", "chars is empty unless given", write["properties"]["chars"]["default"] == "", write)
    c.holds(
        "541", "close_stdin is false unless given", write["properties"]["close_stdin"]["default"] is False, write
    )
    out = exec_.output_schema
    c.holds(
        "597",
        "the result of exec has these fields",
        set(out["properties"])
        == {
            "output",
            "status",
            "done",
            "running",
            "wall_time_seconds",
            "exit_code",
            "timed_out",
            "error",
            "original_token_count",
            "full_output_path",
        },
        out,
    )
    c.holds(
        "609",
        "of which these are required",
        set(out["required"]) == {"output", "status", "done", "running", "wall_time_seconds"}
        and out["additionalProperties"] is False,
        out,
    )
    c.holds(
        "600",
        "status is completed or timed_out",
        set(out["properties"]["status"]["enum"]) == {"completed", "timed_out"},
        out,
    )
    out = listed["start_command"].output_schema
    c.holds(
        "617",
        "the result of start is a handle",
        set(out["properties"])
        == {"__handle__", "id", "process_id", "status", "done", "running"}
        == set(out["required"])
        and out["additionalProperties"] is False,
        out,
    )
    out = listed["write_stdin"].output_schema
    c.holds(
        "632",
        "the result of write has these fields",
        set(out["properties"]) == {"process_id", "status", "sequence"} == set(out["required"]),
        out,
    )
    bindings = {
        "exec_command": ("exec", ["shell", "bash"]),
        "start_command": ("start", ["long_running_command", "pty"]),
        "write_stdin": ("write", ["send_stdin", "poll_command"]),
    }
    for name, (bound, aliases) in bindings.items():
        meta = (listed[name].meta or {}).get("umbo/binding") or {}
        c.holds(
            "501",
            f"{name} is bound to shell.{bound}",
            meta.get("path") == ["shell"] and meta.get("name") == bound,
            meta,
        )
        c.holds("504", f"with the aliases {aliases}", meta.get("aliases") == aliases, meta)
        c.holds(
            "498", f"{name} has its examples", (listed[name].meta or {}).get("umbo/examples"), listed[name].meta
        )
    c.holds(
        "448",
        "the description tells of the timeout",
        "600000" in exec_.description and "timed_out" in exec_.description,
        exec_.description,
    )
    c.holds("448", "of SIGPIPE", "141" in exec_.description, exec_.description)
    c.holds("448", "of allow_nonzero_exit", "allow_nonzero_exit" in exec_.description, exec_.description)
    c.holds("448", "and of full_output_path", "full_output_path" in exec_.description, exec_.description)


async def exec_command(c, s):
    answer = await s.call("exec_command", cmd="echo out; echo err >&2; pwd")
    c.holds(
        "448",
        "a success is completed, done and not running",
        (answer["status"], answer["done"], answer["running"], answer["exit_code"]) == ("completed", True, False, 0),
        answer,
    )
    c.holds("448", "both streams are captured", answer["output"] == f"out\nerr\n{s.project}\n", answer)
    c.holds("602", "wall_time_seconds is a number", isinstance(answer["wall_time_seconds"], (int, float)), answer)
    answer = await s.call("exec_command", cmd="read x; echo closed:$?; test -t 0 || echo notty")
    c.holds("448", "stdin is closed", answer["output"] == "closed:1\nnotty\n", answer)
    answer = await s.call("exec_command", cmd="pwd", workdir="sub")
    c.holds("84", "workdir is relative to the turn's", answer["output"] == f"{s.project}/sub\n", answer)
    answer = await s.call("exec_command", cmd="pwd", workdir="")
    c.holds("86", "an empty workdir is none", answer["output"] == f"{s.project}\n", answer)
    answer = await s.call("exec_command", cmd="pwd", workdir="/usr")
    c.holds("84", "workdir may be absolute", answer["output"] == "/usr\n", answer)
    answer = await s.call("exec_command", cmd="echo $BASH_VERSION")
    c.holds("461", "the shell is the user's own", answer["output"].strip(), answer)
    answer = await s.call("exec_command", cmd="echo v$BASH_VERSION", shell="/bin/sh")
    c.holds("88", "shell chooses another", answer["output"] == "v\n", answer)
    answer = await s.call("exec_command", cmd="echo v$BASH_VERSION", shell="")
    c.holds("90", "an empty shell is none", answer["output"].strip() != "v", answer)
    answer = await s.call("exec_command", cmd="shopt -q login_shell && echo login || echo plain")
    c.holds("466", "it is no login shell", answer["output"] == "plain\n", answer)
    answer = await s.call("exec_command", cmd="shopt -q login_shell && echo login || echo plain", login=True)
    c.holds("466", "unless asked", answer["output"].endswith("login\n"), answer)
    answer = await s.call("exec_command", cmd="echo x; exit 3")
    c.holds("448", "a nonzero code fails the tool", answer.is_error, answer)
    c.holds(
        "605",
        "with its code and its output",
        (answer["exit_code"], answer["output"], answer["status"]) == (3, "x\n", "completed"),
        answer,
    )
    c.holds("606", "and an error", answer["error"], answer)
    c.holds("606", "which the text has too", "3" in answer.text and "x" in answer.text, answer)
    answer = await s.call("exec_command", cmd="echo x; exit 3", allow_nonzero_exit=True)
    c.holds("448", "allow_nonzero_exit makes it a result", not answer.is_error and answer["exit_code"] == 3, answer)
    answer = await s.call("exec_command", cmd="set -o pipefail; yes | head -1")
    c.holds("448", "141 of a pipe fails", answer.is_error and answer["exit_code"] == 141, answer)
    answer = await s.call("exec_command", cmd="echo part; sleep 30", timeout_ms=700)
    c.holds("448", "a timeout kills", (answer["status"], answer["timed_out"]) == ("timed_out", True), answer)
    c.holds("448", "has no code", "exit_code" not in (answer.value or {}), answer)
    c.holds("448", "and fails the tool", answer.is_error, answer)
    c.holds("168", "with what was written", answer["output"] == "part\n", answer)
    answer = await s.call("exec_command", cmd="sleep 30", timeout_ms=700, allow_nonzero_exit=True)
    c.holds(
        "448",
        "unless nonzero is allowed",
        not answer.is_error and answer["timed_out"] is True and answer["done"] is True,
        answer,
    )
    answer = await s.call("exec_command", cmd=r"printf '\033[31mred\033[0m\n'")
    c.holds("448", "ANSI noise is stripped", answer["output"] == "red\n", answer)
    answer = await s.call("exec_command", cmd=r"printf 'abc\rX\n'; printf 'left\033[2K\n'")
    c.holds(
        "448",
        "nothing but control sequences is removed",
        "abc" in answer["output"] and "left" in answer["output"],
        answer,
    )
    answer = await s.call("exec_command", cmd="seq 1 30000", max_output_tokens=200)
    c.holds("474", "max_output_tokens bounds the output", len(answer["output"]) < 2500, len(answer["output"]))
    c.holds(
        "607", "original_token_count says how much there was", (answer["original_token_count"] or 0) > 200, answer
    )
    path = answer["full_output_path"]
    c.holds("448", "full_output_path is there", path and os.path.isfile(path), answer)
    c.holds(
        "448", "and has the raw stream", path and open(path).read() == "".join(f"{n}\n" for n in range(1, 30001))
    )
    answer = await s.call("exec_command", cmd=f"sed -n '1p;30000p' {path}")
    c.holds("448", "and commands can read it, in their sandbox too", answer["output"] == "1\n30000\n", answer)
    state = s.project.parent / "state"
    answer = await s.call("exec_command", cmd=f"cat {state}/events {state}/jobs/*/request 2>/dev/null | wc -c")
    c.holds(
        "448",
        "and nothing else of the state",
        not s.is_contained or answer["output"].strip().startswith("0"),
        answer,
    )
    answer = await s.call("exec_command", cmd=f"echo x >> {path}", allow_nonzero_exit=True)
    c.holds("448", "but not change it", answer["exit_code"] != 0 and os.path.getsize(path) == 168894, answer)
    answer = await s.call("exec_command", cmd="seq 1 30000")
    c.holds("448", "large output names its file", answer["full_output_path"], str(answer)[:300])
    for field, value in [
        ("timeout_ms", 0),
        ("timeout_ms", -5),
        ("timeout_ms", "x"),
        ("max_output_tokens", 0),
        ("login", "yes"),
        ("allow_nonzero_exit", "maybe"),
    ]:
        answer = await s.call("exec_command", cmd="echo ran > ran", **{field: value})
        c.holds("98", f"{field} {value!r} is refused", answer.is_error and not (s.project / "ran").exists(), answer)
        c.holds("98", f"and the error names {field}", field in answer.text, answer)
    answer = await s.call("exec_command", cmd="echo ok", max_output_tokens=None)
    c.holds("98", "max_output_tokens may be null", answer["output"] == "ok\n", answer)
    answer = await s.call("exec_command")
    c.holds("82", "cmd is required", answer.is_error and "cmd" in answer.text, answer)
    answer = await s.call("exec_command", cmd=" ")
    c.differs_by("exec_command", "84", "a command of nothing is refused", answer.is_error, answer)
    answer = await s.call("exec_command", cmd="pwd", workdir=5)
    c.differs_by("exec_command", "86", "a workdir that is no string is refused", answer.is_error, answer)
    answer = await s.call("exec_command", cmd="true", workdir="nowhere")
    c.holds("192", "a workdir that is not there is an error", answer.is_error and "nowhere" in answer.text, answer)
    answer = await s.call("exec_command", cmd="true", shell="/no/such/shell")
    c.holds(
        "192", "a shell that is not there is an error", answer.is_error and "/no/such/shell" in answer.text, answer
    )
    try:
        answer = await s.call("no_such_tool")
        seen = answer.text
    except Exception as error:
        seen = str(error)
    c.holds("591", "an unknown tool is Unknown tool: NAME", "Unknown tool: no_such_tool" in seen, seen)
    # Serial: one after the other.
    await asyncio.gather(
        *(s.call("exec_command", cmd=f"echo begin >> order; sleep 0.2; echo end >> order") for _ in range(3))
    )
    c.holds(
        "506",
        "calls are serial",
        (s.project / "order").read_text() == "begin\nend\n" * 3,
        (s.project / "order").read_text(),
    )


async def start_command(c, s):
    started = await s.call("start_command", cmd="test -t 0 && echo tty > istty; cat > got; echo bye")
    c.holds(
        "449",
        "start is a handle",
        started["__handle__"] == "process" and started["id"] == started["process_id"],
        started,
    )
    c.holds(
        "241",
        "running, not done",
        (started["status"], started["done"], started["running"]) == ("running", False, True),
        started,
    )
    c.holds(
        "223",
        "its id is shell:SOMETHING where the host has none",
        re.fullmatch(r"shell:\S+", started["id"] or ""),
        started,
    )
    process = started["process_id"]
    answer = await s.call("list_process_handles")
    row = next((row for row in answer["processes"] if row["id"] == process), {})
    c.holds("449", "processes.list has it", row, answer)
    c.holds(
        "235",
        "with the descriptor shell and its command",
        row.get("descriptor", {}).get("kind") == "shell"
        and row.get("descriptor", {}).get("label", "").endswith("echo bye"),
        row,
    )
    answer = await s.call("write_stdin", process_id=process, chars="status\n")
    c.holds(
        "385",
        "write_stdin is signalled",
        answer["process_id"] == process and answer["status"] == "signalled",
        answer,
    )
    first = answer["sequence"]
    c.holds("390", "with a sequence", isinstance(first, int) and first >= 0, answer)
    answer = await s.call("write_stdin", process_id=process)
    c.holds("366", "chars may be left out", not answer.is_error and answer["sequence"] > first, answer)
    answer = await s.call("write_stdin", process_id=process, chars="more\n", close_stdin=True)
    c.holds("527", "close_stdin ends the input", not answer.is_error, answer)
    told = await ends(s, process)
    c.holds("449", "it ran in a terminal", (s.project / "istty").exists())
    c.holds(
        "345",
        "what was typed arrived, then the end",
        (s.project / "got").read_text() == "status\nmore\n",
        (s.project / "got").read_text(),
    )
    result = told.get("result", {})
    c.holds(
        "284",
        "its end is told with its handle and result",
        told.get("id") == process and result.get("exit_code") == 0 and result.get("status") == "completed",
        told,
    )
    c.holds("284", "and its output", "bye" in result.get("output", ""), told)
    answer = await s.call("write_stdin", process_id=process, chars="x")
    c.holds("393", "an ended process takes no input", answer.is_error, answer)
    answer = await s.call("write_stdin", process_id="shell:nobody", chars="x")
    c.holds("393", "an unknown process is an error", answer.is_error and "shell:nobody" in answer.text, answer)
    answer = await s.call("write_stdin", chars="x")
    c.holds("647", "process_id is required", answer.is_error and "process_id" in answer.text, answer)
    answer = await s.call("write_stdin", process_id="x", close_stdin="perhaps")
    c.holds("370", "close_stdin must be a boolean", answer.is_error and "close_stdin" in answer.text, answer)
    started = await s.call("start_command", cmd="exit 5")
    told = await ends(s, started["id"])
    c.holds(
        "449",
        "a nonzero code fails the process",
        told.get("status") == "failed" and told["result"]["exit_code"] == 5,
        told,
    )
    started = await s.call("start_command", cmd="exit 5", allow_nonzero_exit=True)
    told = await ends(s, started["id"])
    c.holds(
        "449", "unless it is allowed", told.get("status") == "completed" and told["result"]["exit_code"] == 5, told
    )
    started = await s.call("start_command", cmd="touch up; sleep 300")
    await appears(s, "exec_command", "cmd", s.project / "up")
    answer = await s.call("cancel_process", process_id=started["id"])
    c.holds("449", "processes.cancel stops it", answer["status"] == "cancelled", answer)
    again = await s.call("start_command", cmd="true", timeout_ms=5)
    c.holds("513", "start_command has no timeout", again.is_error and "timeout_ms" in again.text, again)


async def ends(s, process):
    async def told():
        await s.call("exec_command", cmd="true")
        return next((event for event in s.told if event["id"] == process), None)

    return await until(told)
