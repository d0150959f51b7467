"""The official Python SDK drives `umbo mcp`, on standard input or over HTTP.

Usage: client.py stdio UMBO NAP [latency]
       client.py http URL NAP, with the token in UMBO_MCP_TOKEN

Prints one line for each thing that was seen to work, and fails loudly at the first that does not.
"""

import asyncio
import json
import os
import sys
import time

import anyio
import httpx2
from mcp import Client, MCPError, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client
from mcp_types import ElicitResult

TRANSPORT, TARGET, NAP = sys.argv[1:4]


def server():
    if TRANSPORT == "stdio":
        return StdioServerParameters(command=TARGET, args=["mcp"], env=dict(os.environ))
    headers = {"Authorization": f"Bearer {os.environ['UMBO_MCP_TOKEN']}"}
    return streamable_http_client(TARGET, http_client=httpx2.AsyncClient(headers=headers, timeout=60))


def said(line):
    print(line, flush=True)


class Person:
    """Answers what it is asked, as it was told to."""

    def __init__(self):
        self.answers, self.asked = [], []

    async def __call__(self, context, params):
        self.asked.append(params)
        action, content = self.answers.pop(0)
        return ElicitResult(action=action, content=content)


class Ears:
    """What the server says unasked."""

    def __init__(self):
        self.heard, self.bell = [], anyio.Event()

    async def __call__(self, message):
        method = getattr(message, "method", None)
        if method is not None:
            self.heard.append(message)
            self.bell.set()
            self.bell = anyio.Event()

    async def until(self, fits):
        with anyio.fail_after(20):
            while True:
                for message in self.heard:
                    if fits(message):
                        return message
                await self.bell.wait()


async def works(session, label, person, ears):
    listed = await session.list_tools()
    names = [tool.name for tool in listed.tools]
    assert names == ["exec", "output", "input", "wait", "stop", "jobs", "recipe"], names
    said(f"{label}: lists {' '.join(names)}")

    async def call(tool, **arguments):
        result = await session.call_tool(tool, arguments)
        assert not result.is_error, result
        return result.structured_content

    answer = await call("exec", command="echo hi; exit 3")
    assert (answer["output"], answer["exit_code"]) == ("hi\n", 3), answer
    said(f"{label}: exec {json.dumps(answer)}")

    # In the background, waited for, read in pages.
    line = "echo ready; read x; seq 1 20000"
    job = (await call("exec", command=line, background=True))["job"]
    met = await call("wait", job=job, match="ready")
    assert met["reason"] == "match", met
    await resources(session, label, job, call, ears)
    met = await call("wait", job=job)
    assert (met["reason"], met["exit_code"]) == ("exit", 0), met
    text, offset, pages = "", 0, 0
    while True:
        page = await call("output", job=job, **{"from": offset})
        text, offset, pages = text + page["output"], page["next_offset"], pages + 1
        if page["at_end"]:
            break
    whole = "ready\n" + "".join(f"{n}\n" for n in range(1, 20001))
    assert text == whole
    said(f"{label}: output of {len(text)} bytes in {pages} pages")
    uri, text, pages = f"umbo://jobs/{job}/output?offset=0&limit=65536", "", 0
    while uri is not None:
        contents = (await session.read_resource(uri)).contents[0]
        text, pages = text + contents.text, pages + 1
        uri = contents.meta["umbo"].get("next")
    assert text == whole, len(text)
    said(f"{label}: the same as a resource in {pages} ranges")

    # Progress while it runs.
    ticks = []

    async def on_progress(progress, total, message):
        ticks.append((progress, message))

    line = "for i in 1 2 3 4; do echo step $i; sleep 0.3; done"
    await session.call_tool("exec", {"command": line}, progress_callback=on_progress)
    assert ticks and any("step" in message for _, message in ticks), ticks
    assert all(a[0] < b[0] for a, b in zip(ticks, ticks[1:])), ticks
    said(f"{label}: {len(ticks)} ticks, the last {ticks[-1]}")

    # A wrong argument is a tool's error, with its field.
    result = await session.call_tool("exec", {"comand": "x"})
    assert result.is_error and result.structured_content["error"]["field"] == "comand", result

    await approvals(session, label, person)

    # Cancelled by the caller: the command goes with the call.
    with anyio.move_on_after(1):
        await session.call_tool("exec", {"command": NAP, "name": f"cancelled-{label}"})
    met = await call("wait", job=f"cancelled-{label}", timeout=15)
    assert (met["reason"], met["state"]) == ("exit", "stopped"), met
    said(f"{label}: cancelled {met['state']} {met.get('stopped_by')}")

    # Many at once.
    began = time.monotonic()
    answers = await asyncio.gather(*(call("exec", command=f"echo {n}") for n in range(64)))
    assert [answer["output"] for answer in answers] == [f"{n}\n" for n in range(64)]
    said(f"{label}: 64 at once in {time.monotonic() - began:.2f} s")

    # What stays and what goes when the client leaves.
    await call("exec", command=NAP, background=True, name=f"stays-{label}")
    await call("exec", command=NAP, **{"yield": 0.1}, on_disconnect="stop", name=f"goes-{label}")


async def resources(session, label, job, call, ears):
    """The output of a running job: listed, read, subscribed to."""
    templates = (await session.list_resource_templates()).resource_templates
    assert any("{?offset,limit,stream}" in template.uri_template for template in templates), templates
    uri = f"umbo://jobs/{job}/output"
    listed = [str(resource.uri) for resource in (await session.list_resources()).resources]
    assert uri in listed, listed
    read = (await session.read_resource(uri)).contents[0]
    assert (read.text, read.meta["umbo"]["state"]) == ("ready\n", "started"), read
    try:
        await session.read_resource("umbo://jobs/nothing/output")
        raise AssertionError("there is no such job")
    except MCPError as error:
        assert error.error.code in (-32002, -32602), error.error

    is_update = lambda message: (
        message.method == "notifications/resources/updated" and str(message.params.uri) == uri
    )
    if session.protocol_version < "2026-07-28":
        await session.subscribe_resource(uri)
        await call("input", job=job, text="go\n")
        await ears.until(is_update)
        await session.unsubscribe_resource(uri)
        await session.set_logging_level("info")
        line = f"while ! test -e go-{label}; do sleep 0.05; done; exit 4"
        told = (await call("exec", command=line, background=True))["job"]
        open(f"go-{label}", "w").close()
        is_told = lambda message: (
            message.method == "notifications/message"
            and message.params.data["completed"]["job"] == told
        )
        message = await ears.until(is_told)
        assert (message.params.level, message.params.logger) == ("warning", "umbo.jobs"), message
        await ears.until(lambda message: message.method == "notifications/resources/list_changed")
    else:
        async with session.listen(resources_list_changed=True, resource_subscriptions=[uri]) as heard:
            assert heard.honored.resource_subscriptions == [uri], heard.honored
            await call("input", job=job, text="go\n")
            await call("exec", command="echo another")
            kinds = set()
            with anyio.fail_after(20):
                async for event in heard:
                    kinds.add(type(event).__name__)
                    if kinds == {"ResourceUpdated", "ResourcesListChanged"}:
                        break
    said(f"{label}: resources are listed, read and told of")


async def approvals(session, label, person):
    """A dangerous command runs when the person says so, and not when it does not."""
    for decision in ["once", "deny", "cancel"]:
        victim = f"victim-{decision}-{label}"
        os.makedirs(victim)
        content = {"decision": decision, "reason": "it is precious"}
        person.answers = [("cancel", None) if decision == "cancel" else ("accept", content)]
        result = await session.call_tool("exec", {"command": f"rm -rf {victim}"})
        form = person.asked[-1]
        assert f"rm -rf {victim}" in form.message and "dangerous" in form.message, form
        assert os.path.isdir(victim) == (decision != "once"), decision
        if decision == "once":
            assert result.structured_content["exit_code"] == 0, result
            continue
        error = result.structured_content["error"]
        if decision == "deny":
            assert error["code"] == "denied" and "it is precious" in error["message"], error
        else:
            assert error["code"] == "approval_required" and error["answer_with"], error
    assert len(person.asked) == 3, person.asked
    said(f"{label}: asked, and did what it was told")


async def latency(session):
    async def once():
        began = time.perf_counter()
        await session.call_tool("exec", {"command": "echo hi"})
        return (time.perf_counter() - began) * 1000

    async def bare():
        began = time.perf_counter()
        process = await asyncio.create_subprocess_exec(
            "sh", "-c", "echo hi", stdout=asyncio.subprocess.PIPE
        )
        await process.communicate()
        return (time.perf_counter() - began) * 1000

    ours, theirs = [], []
    for _ in range(200):
        ours.append(await once())
        theirs.append(await bare())
    middle = lambda times: sorted(times)[len(times) // 2]
    said(f"latency: umbo {middle(ours):.2f} ms, sh -c {middle(theirs):.2f} ms")


async def main():
    if sys.argv[4:] == ["latency"]:
        async with Client(server()) as client:
            await latency(client)
        return
    # With the handshake, as most clients today; without it, as the newest revision has it.
    for mode in ["legacy", "auto"]:
        person, ears = Person(), Ears()
        connection = Client(
            server(), mode=mode, elicitation_callback=person, message_handler=ears, cache=None
        )
        async with connection as client:
            await works(client, f"{TRANSPORT}-{client.protocol_version}", person, ears)
        # Without anybody to ask.
        async with Client(server(), mode=mode) as client:
            result = await client.call_tool("exec", {"command": "rm -rf nothing"})
            error = result.structured_content["error"]
            assert result.is_error and error["code"] == "approval_required", error
    said("done")


asyncio.run(main())
