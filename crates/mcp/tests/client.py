"""The official Python SDK drives `umbo mcp` over stdio. Usage: client.py UMBO NAP [MODE]

Prints one line for each thing that was seen to work, and fails loudly at the first that does not.
"""

import asyncio
import json
import os
import sys
import time

import anyio
from mcp import Client, ClientSession, StdioServerParameters, stdio_client

UMBO, NAP = sys.argv[1], sys.argv[2]
SERVER = StdioServerParameters(command=UMBO, args=["mcp"], env=dict(os.environ))


def said(line):
    print(line, flush=True)


async def works(session, revision):
    listed = await session.list_tools()
    names = [tool.name for tool in listed.tools]
    assert names == ["exec", "output", "input", "wait", "stop", "jobs", "recipe"], names
    said(f"{revision}: lists {' '.join(names)}")

    async def call(tool, **arguments):
        result = await session.call_tool(tool, arguments)
        assert not result.is_error, result
        return result.structured_content

    answer = await call("exec", command="echo hi; exit 3")
    assert (answer["output"], answer["exit_code"]) == ("hi\n", 3), answer
    said(f"{revision}: exec {json.dumps(answer)}")

    # In the background, waited for, read in pages.
    line = "echo ready; read x; seq 1 20000"
    job = (await call("exec", command=line, background=True))["job"]
    met = await call("wait", job=job, match="ready")
    assert met["reason"] == "match", met
    await call("input", job=job, text="go\n")
    met = await call("wait", job=job)
    assert (met["reason"], met["exit_code"]) == ("exit", 0), met
    text, offset, pages = "", 0, 0
    while True:
        page = await call("output", job=job, **{"from": offset})
        text, offset, pages = text + page["output"], page["next_offset"], pages + 1
        if page["at_end"]:
            break
    assert text == "ready\n" + "".join(f"{n}\n" for n in range(1, 20001))
    said(f"{revision}: output of {len(text)} bytes in {pages} pages")

    # Progress while it runs.
    ticks = []

    async def on_progress(progress, total, message):
        ticks.append((progress, message))

    line = "for i in 1 2 3 4; do echo step $i; sleep 0.3; done"
    await session.call_tool("exec", {"command": line}, progress_callback=on_progress)
    assert ticks and any("step" in message for _, message in ticks), ticks
    assert all(a[0] < b[0] for a, b in zip(ticks, ticks[1:])), ticks
    said(f"{revision}: {len(ticks)} ticks, the last {ticks[-1]}")

    # A wrong argument is a tool's error, with its field.
    result = await session.call_tool("exec", {"comand": "x"})
    assert result.is_error and result.structured_content["error"]["field"] == "comand", result

    # Cancelled by the caller: the command goes with the call.
    with anyio.move_on_after(1):
        await session.call_tool("exec", {"command": NAP, "name": "cancelled"})
    met = await call("wait", job="cancelled", timeout=15)
    assert (met["reason"], met["state"]) == ("exit", "stopped"), met
    said(f"{revision}: cancelled {met['state']} {met.get('stopped_by')}")

    # Many at once.
    began = time.monotonic()
    answers = await asyncio.gather(*(call("exec", command=f"echo {n}") for n in range(64)))
    assert [answer["output"] for answer in answers] == [f"{n}\n" for n in range(64)]
    said(f"{revision}: 64 at once in {time.monotonic() - began:.2f} s")

    # What stays and what goes when the client leaves.
    await call("exec", command=NAP, background=True, name=f"stays-{revision}")
    await call("exec", command=NAP, **{"yield": 0.1}, name=f"goes-{revision}")


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
    if sys.argv[3:] == ["latency"]:
        async with Client(SERVER) as client:
            await latency(client)
        return
    # With the handshake, as most clients today.
    async with stdio_client(SERVER) as (read, write):
        async with ClientSession(read, write) as session:
            info = await session.initialize()
            await works(session, info.protocol_version)
    # Without it, as the newest revision has it.
    async with Client(SERVER) as client:
        await works(client, client.protocol_version)
    said("done")


asyncio.run(main())
