"""The official Python SDK reads, searches, edits and undoes through `umbo mcp --tools files`.

Usage: files.py UMBO, in an empty directory

Prints one line for each thing that was seen to work, and fails loudly at the first that does not.
"""

import asyncio
import base64
import os
import struct
import sys
import zlib

from mcp import Client, StdioServerParameters

UMBO = sys.argv[1]


def said(line):
    print(line, flush=True)


def png():
    """One red pixel, by hand."""
    def chunk(kind, data):
        body = kind + data
        return struct.pack(">I", len(data)) + body + struct.pack(">I", zlib.crc32(body))

    header = struct.pack(">IIBBBBB", 1, 1, 8, 2, 0, 0, 0)
    pixels = zlib.compress(b"\x00\xff\x00\x00")
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", pixels) + chunk(b"IEND", b"")


async def main():
    os.makedirs("work/src")
    os.chdir("work")
    with open("src/a.py", "w", newline="") as file:
        file.write("one\r\ntwo\r\nthree\r\n")
    with open("dot.png", "wb") as file:
        file.write(png())
    parameters = StdioServerParameters(
        command=UMBO, args=["mcp", "--tools", "files"], env=dict(os.environ), cwd=os.getcwd()
    )
    async with Client(parameters) as session:
        tools = [tool.name for tool in (await session.list_tools()).tools]
        assert tools == ["read", "search", "find", "tree", "write", "edit", "undo"], tools

        async def call(tool, fails=False, **arguments):
            result = await session.call_tool(tool, arguments)
            assert bool(result.is_error) == fails, result
            return result

        read = await call("read", path="src/a.py")
        lines = read.content[0].text.splitlines()
        anchors = [line.split("|")[0] for line in lines[:3]]
        assert [line.split("|")[1] for line in lines[:3]] == ["one", "two", "three"], lines
        said(f"read with anchors {anchors}")

        edit = await call("edit", input=f"@@ src/a.py\n= {anchors[1]}..{anchors[1]}\n~TWO\n")
        with open("src/a.py", "rb") as file:
            assert file.read() == b"one\r\nTWO\r\nthree\r\n"
        assert "-two\n+TWO" in edit.content[0].text, edit
        said("edited by an anchor; line endings kept")

        found = await call("search", pattern="TWO|one", paths=["src"])
        assert found.structured_content["total_matches"] == 2, found
        stale = await call("edit", fails=True, input=f"@@ src/a.py\n- {anchors[1]}..{anchors[1]}\n")
        assert "changed since its lines were read" in stale.content[0].text, stale
        said("a stale anchor is refused")

        with open("src/a.py", "a") as file:
            file.write("somebody else\n")
        refused = await call("write", fails=True, path="src/a.py", content="mine\n")
        assert "+somebody else" in refused.content[0].text, refused
        said("a file that somebody changed is not overwritten")

        await call("write", path="new/b.txt", content="b\n")
        listed = await call("undo", list=True)
        kinds = [change["kind"] for change in listed.structured_content["changes"]]
        assert kinds == ["write", "edit"], listed
        await call("undo")
        assert not os.path.exists("new/b.txt")
        refused = await call("undo", fails=True)
        assert "changed again since" in refused.content[0].text, refused
        await call("undo", force=True)
        with open("src/a.py", "rb") as file:
            assert file.read() == b"one\r\ntwo\r\nthree\r\n"
        said("undone, the last first")

        image = await call("read", path="dot.png")
        assert image.content[1].type == "image" and image.content[1].mime_type == "image/png", image
        assert base64.b64decode(image.content[1].data) == png()
        said("an image is an image")
    said("done")


asyncio.run(main())
