"""Usage: checks.py UMBO DIALECT

Calls dialects of `umbo mcp` through the official Python SDK and holds what comes back against the
documents the dialects were written from, line by line.

Each check says the line of the document and what it says there; one that is declared to differ must
stand in the contract's `differs:` with that line.
"""

import asyncio
import contextlib
import importlib
import os
import pathlib
import re
import sys
import tempfile

from mcp import Client, StdioServerParameters
from mcp_types import Implementation

CONTRACTS = pathlib.Path(__file__).resolve().parents[3] / "tools" / "contracts"


class Result:
    """What came of a call: the texts, what is structured, and whether it is an error."""

    def __init__(self, result):
        self.is_error = result.is_error
        self.value = result.structured_content
        self.texts = [content.text for content in result.content if content.type == "text"]
        self.meta = result.meta

    @property
    def error(self):
        """What an error has for programs."""
        return ((self.meta or {}).get("umbo/error") or {}).get("error") or {}

    @property
    def code(self):
        return self.error if isinstance(self.error, str) else self.error.get("code")

    @property
    def completed(self):
        """What ended meanwhile and was told with this result."""
        return (self.meta or {}).get("umbo/completed") or []

    @property
    def text(self):
        return self.texts[0]

    def __getitem__(self, name):
        return (self.value or {}).get(name)

    def __repr__(self):
        return f"is_error={self.is_error} value={self.value} texts={self.texts} meta={self.meta}"


class Session:
    """A connection to a server."""

    def __init__(self, client, project):
        self.client, self.project = client, project
        # Whatever was told of jobs that ended, in order.
        self.told = []
        # Whether commands are known to run in a sandbox: not every machine can make one.
        self.is_contained = False

    async def call(self, tool, meta=None, **arguments):
        arguments = {name.rstrip("_"): value for name, value in arguments.items()}
        result = Result(await self.client.call_tool(tool, arguments, meta=meta))
        self.told += result.completed
        self.is_contained |= any("commands run in the sandbox" in text for text in result.texts)
        return result

    async def tools(self):
        return {tool.name: tool for tool in (await self.client.list_tools()).tools}


class Checks:
    """Checks of one dialect, counted."""

    def __init__(self, umbo, dialect):
        self.umbo, self.dialect = umbo, dialect
        self.held, self.declared, self.failed = 0, 0, []
        self.places = contextlib.ExitStack()
        self.differs = {}
        for path in sorted((CONTRACTS / dialect).glob("*.yaml")):
            self.differs[path.stem] = declared_lines(path.read_text())

    def holds(self, line, sentence, truth, seen=None):
        if truth:
            self.held += 1
        else:
            self.failed.append(f"{line}: {sentence}\n    seen: {seen!r:.600}")

    def differs_by(self, tool, line, sentence, truth, seen=None):
        """Ours is another on purpose, and the contract says so by this line."""
        if line not in self.differs[tool]:
            self.failed.append(f"{line}: {sentence}\n    the contract of {tool} declares no such line")
        elif truth:
            self.declared += 1
        else:
            self.failed.append(f"{line}: {sentence}\n    not as declared: {seen!r:.600}")

    def place(self, files=()):
        """A project with these files."""
        home = pathlib.Path(self.places.enter_context(tempfile.TemporaryDirectory())).resolve()
        project = home / "project"
        project.mkdir()
        (project / ".git").mkdir()
        for name, text in dict(files).items():
            (project / name).parent.mkdir(parents=True, exist_ok=True)
            (project / name).write_text(text)
        return project

    @contextlib.asynccontextmanager
    async def serve(self, project, settings=(), environment=(), words=(), mode="legacy", info="checks"):
        home = project.parent
        variables = {
            **os.environ,
            "HOME": str(home),
            "UMBO_STATE_DIR": str(home / "state"),
            "UMBO_CONFIG_DIR": str(home / "config"),
            **dict(environment),
        }
        for name, value in dict(settings).items():
            variables["UMBO_" + name.upper().replace(".", "_")] = str(value)
        arguments = ["mcp", "--dialect", self.dialect, *words]
        server = StdioServerParameters(command=self.umbo, args=arguments, env=variables, cwd=str(project))
        info = Implementation(name=info, version="1")
        async with Client(server, mode=mode, client_info=info, cache=None) as client:
            yield Session(client, project)

    def report(self):
        for failure in self.failed:
            print("FAILED", failure)
        made = self.held + self.declared + len(self.failed)
        print(
            f"{self.dialect}: {made} checks, {self.held} hold, {self.declared} differ as declared, "
            f"{len(self.failed)} do not hold"
        )
        self.places.close()
        return not self.failed


def declared_lines(text):
    """The keys of `differs:`, taken apart: every line that is named or in a range."""
    lines, inside = set(), False
    for row in text.splitlines():
        if not row.startswith(" "):
            inside = row == "differs:"
        elif inside and (found := re.match(r"  ([^:]+): ", row)):
            for part in found[1].split(", "):
                if ends := re.fullmatch(r"([A-Z]?)(\d+)-(\d+)", part):
                    lines.update(f"{ends[1]}{n}" for n in range(int(ends[2]), int(ends[3]) + 1))
                else:
                    lines.add(part)
    return lines


async def until(look):
    """Looks again and again until there is something."""
    async with asyncio.timeout(60):
        while not (found := await look()):
            pass
        return found


async def appears(session, tool, field, path):
    """Waits in a command of the session itself for a file that another one makes."""
    line = f"while ! test -e {path.name}; do sleep 0.05; done"
    await session.call(tool, **{field: line})


def main():
    umbo, dialect = sys.argv[1:]
    checks = Checks(umbo, dialect)
    asyncio.run(importlib.import_module(dialect).check(checks))
    sys.exit(0 if checks.report() else 1)


if __name__ == "__main__":
    main()
