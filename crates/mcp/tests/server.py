"""A server of the official SDK, with tools that do what servers do: answer, change, hang, die.

server.py stdio DIRECTORY | server.py http DIRECTORY
"""

import asyncio
import os
import sys
from pathlib import Path

import anyio
from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver import Image
from mcp_types import ToolAnnotations
from pydantic import BaseModel, Field

transport, directory = sys.argv[1], Path(sys.argv[2])
server = MCPServer("peer")
with open(directory / "started", "a") as file:
    file.write(f"{os.getpid()}\n")

# One pixel.
PIXEL = bytes.fromhex(
    "89504e470d0a1a0a0000000d4948445200000001000000010806000000"
    "1f15c4890000000d49444154789c6360606060000000050001a5f645400000000049454e44ae426082"
)


@server.tool(annotations=ToolAnnotations(read_only_hint=True))
def greet(name: str) -> str:
    """Greets somebody."""
    (directory / "greeted").write_text(name)
    return f"Hello, {name}! {os.environ.get('WORD', '')}"


@server.tool()
def picture() -> Image:
    """Shows a picture."""
    return Image(data=PIXEL, format="png")


@server.tool()
def fail() -> str:
    """Fails."""
    raise ValueError("on purpose")


@server.tool(name="Do it. now!")
def odd() -> str:
    """Has an odd name."""
    return "done it"


@server.tool()
def die() -> str:
    """Ends the server."""
    print("I cannot go on", file=sys.stderr, flush=True)
    os._exit(7)


@server.tool()
async def learn(context: Context) -> str:
    """Teaches the server another tool."""

    def learned() -> str:
        return "I have learned this"

    server.add_tool(learned)
    await context.session.send_tool_list_changed()
    return "ok"


@server.tool()
async def hang(context: Context) -> str:
    """Never ends."""
    try:
        await context.report_progress(1, 2, "half way")
        (directory / "hanging").touch()
        await anyio.sleep_forever()
    except asyncio.CancelledError:
        (directory / "cancelled").touch()
        raise
    return "never"


class Booking(BaseModel):
    people: int = Field(description="How many people?")
    window: bool = Field(description="At the window?")


@server.tool()
async def book(context: Context) -> str:
    """Books a table, and asks the person for it."""
    answer = await context.elicit("Book a table?", Booking)
    if answer.action != "accept":
        return f"not booked: {answer.action}"
    return f"booked for {answer.data.people}, window {answer.data.window}"


if transport == "stdio":
    server.run()
else:
    import socket

    import uvicorn

    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    print(listener.getsockname()[1], flush=True)
    config = uvicorn.Config(server.streamable_http_app(), log_level="error")
    uvicorn.Server(config).run(sockets=[listener])
