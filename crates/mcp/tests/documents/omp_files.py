"""What the documents of oh-my-pi say about `find` (F), `search` (G), `read` (D) and `edit` (E)."""

import os
import re

FILES = {"tools.sets": "shell,files"}


def details(answer):
    shape = answer.value or (answer.meta or {}).get("umbo/error") or {}
    return shape.get("details") or {}


def place(c):
    project = c.place(
        {
            "src/a.ts": "const needle = 1;\nconst other = 2;\n",
            "src/deep/b.ts": "export const needle = 2;\n",
            "src/c.py": "def alpha():\n    return 1\n",
            ".hidden.ts": "needle\n",
            "ignored.ts": "needle\n",
            ".gitignore": "ignored.ts\n",
            "lines.txt": "".join(f"line {n}\n" for n in range(1, 401)),
        }
    )
    for number, name in enumerate(["src/a.ts", "src/deep/b.ts", ".hidden.ts"]):
        os.utime(project / name, (1_000_000 + number, 1_000_000 + number))
    return project


async def check(c):
    async with c.serve(place(c), settings=FILES, words=["--mode", "open"]) as s:
        await find(c, s)
        await search(c, s)
        await read(c, s)
        await edit(c, s)


async def find(c, s):
    schema = (await s.tools())["find"].input_schema
    c.holds(
        "F20", "find takes paths, hidden, limit", set(schema["properties"]) == {"paths", "hidden", "limit"}, schema
    )
    answer = await s.call("find", paths=["*.ts"])
    lines = answer.text.splitlines()
    c.holds("F101", "a bare glob is recursive", {"src/a.ts", "src/deep/b.ts"} <= set(lines), answer)
    c.holds("F22", "hidden files are there", ".hidden.ts" in lines, answer)
    c.holds("F102", "ignored ones are not", "ignored.ts" not in lines, answer)
    order = [line for line in lines if line in ("src/a.ts", "src/deep/b.ts", ".hidden.ts")]
    c.holds("F87", "the most recent come first", order == [".hidden.ts", "src/deep/b.ts", "src/a.ts"], answer)
    c.holds(
        "F32",
        "details has the files and their number",
        details(answer).get("files") == lines and details(answer).get("fileCount") == len(lines),
        answer,
    )
    answer = await s.call("find", paths=["*.ts"], hidden=False)
    c.holds("F22", "hidden: false leaves them out", ".hidden.ts" not in answer.text, answer)
    answer = await s.call("find", paths=["src/*.ts"])
    c.holds("F101", "src/*.ts is not recursive", answer.text.strip() == "src/a.ts", answer)
    answer = await s.call("find", paths=["src/**/*.ts"])
    c.holds("F101", "src/**/*.ts is", set(answer.text.split()) == {"src/a.ts", "src/deep/b.ts"}, answer)
    answer = await s.call("find", paths=["src"])
    c.holds(
        "F65",
        "a directory means all below",
        set(answer.text.split()) == {"src/a.ts", "src/deep/b.ts", "src/c.py"},
        answer,
    )
    answer = await s.call("find", paths=["src/a.ts"])
    c.holds("F64", "a file is itself", answer.text.strip() == "src/a.ts", answer)
    answer = await s.call("find", paths=["*.nothing"])
    c.holds(
        "F29",
        "No files found matching pattern",
        not answer.is_error and answer.text.strip() == "No files found matching pattern",
        answer,
    )
    answer = await s.call("find", paths=["src/a.ts", "nowhere"])
    c.holds(
        "F30",
        "Skipped missing paths",
        "src/a.ts" in answer.text and "Skipped missing paths: nowhere" in answer.text,
        answer,
    )
    c.holds("F37", "and missingPaths", details(answer).get("missingPaths") == ["nowhere"], answer)
    answer = await s.call("find", paths=["nowhere"])
    c.holds("F91", "Path not found", answer.is_error and "Path not found" in answer.text, answer)
    answer = await s.call("find", paths=[""])
    c.holds(
        "F90",
        "`paths` must contain non-empty globs or paths",
        answer.is_error and "must contain non-empty globs or paths" in answer.text,
        answer,
    )
    answer = await s.call("find", paths=["/"])
    c.holds(
        "F92",
        "not from the root",
        answer.is_error and "Searching from root directory '/' is not allowed" in answer.text,
        answer,
    )
    for limit in [0, -1]:
        answer = await s.call("find", paths=["*"], limit=limit)
        c.holds(
            "F93",
            "Limit must be a positive number",
            answer.is_error and "Limit must be a positive number" in answer.text,
            answer,
        )
    answer = await s.call("find", paths=["*.ts"], limit=1.9)
    c.holds(
        "F23",
        "a limit is floored, and said",
        len(details(answer)["files"]) == 1 and details(answer).get("resultLimitReached"),
        answer,
    )


async def search(c, s):
    schema = (await s.tools())["search"].input_schema
    c.holds(
        "G20",
        "search takes these",
        set(schema["properties"]) == {"pattern", "paths", "i", "gitignore", "skip"},
        schema,
    )
    answer = await s.call("search", pattern="needle", paths=["src"])
    c.holds(
        "G32", "matches come as *ANCHOR|LINE", re.search(r"^\*1\w\w\|const needle = 1;$", answer.text, re.M), answer
    )
    c.holds(
        "G32",
        "context as a blank, ANCHOR|LINE",
        re.search(r"^ 2\w\w\|const other = 2;$", answer.text, re.M),
        answer,
    )
    c.holds("G35", "under # PATH", "# src/a.ts" in answer.text and "# src/deep/b.ts" in answer.text, answer)
    c.holds(
        "G38",
        "with counts",
        details(answer).get("matchCount") == 2 and details(answer).get("fileCount") == 2,
        answer,
    )
    answer = await s.call("search", pattern="NEEDLE", paths=["src"])
    c.holds("G46", "No matches found", not answer.is_error and answer.text.strip() == "No matches found", answer)
    answer = await s.call("search", pattern="NEEDLE", paths=["src"], i=True)
    c.holds("G24", "i ignores case", details(answer).get("matchCount") == 2, answer)
    answer = await s.call("search", pattern="needle", paths=["."])
    c.holds("G25", "ignored files are left out", "ignored.ts" not in answer.text, answer)
    c.holds("G66", "hidden ones are not", ".hidden.ts" in answer.text, answer)
    answer = await s.call("search", pattern="needle", paths=["."], gitignore=False)
    c.holds("G25", "unless gitignore is false", "# ignored.ts" in answer.text, answer)
    answer = await s.call("search", pattern="line", paths=["lines.txt"])
    c.holds(
        "G114",
        "no more than 100 are shown",
        details(answer).get("matchLimitReached") and details(answer).get("matchCount") == 100,
        details(answer),
    )
    answer = await s.call("search", pattern="line", paths=["lines.txt"], skip=390)
    c.holds("G26", "skip gives the next ones", details(answer).get("matchCount") == 10, details(answer))
    for skip in [-1]:
        answer = await s.call("search", pattern="line", paths=["lines.txt"], skip=skip)
        c.holds("G26", "a negative skip is an error", answer.is_error, answer)
    answer = await s.call("search", pattern=" needle", paths=["."])
    c.differs_by("search", "24", "a pattern is taken with its blanks", ".hidden.ts" not in answer.text, answer)
    answer = await s.call("search", pattern="", paths=["src"])
    c.holds("G22", "an empty pattern is an error", answer.is_error, answer)
    answer = await s.call("search", pattern="1;\\nconst", paths=["src/a.ts"])
    c.holds("G22", "a newline makes it many lines", not answer.is_error and "needle" in answer.text, answer)
    answer = await s.call("search", pattern="alpha(", paths=["src"])
    c.holds("G72", "parentheses that do not pair are literal", "def alpha():" in answer.text, answer)
    answer = await s.call("search", pattern="needle", paths=["src/a.ts", "nowhere"])
    c.holds("G46", "missing paths are said", "Skipped missing paths: nowhere" in answer.text, answer)
    answer = await s.call("search", pattern="needle", paths=["nowhere"])
    c.holds("G57", "if all are missing it is an error", answer.is_error, answer)


async def read(c, s):
    c.holds("D24", "read takes a path", set((await s.tools())["read"].input_schema["properties"]) == {"path"})
    answer = await s.call("read", path="lines.txt:10-11")
    c.holds(
        "D98",
        "a range has a line before and three behind",
        re.findall(r"^(\d+)\w\w\|line \d+$", answer.text, re.M) == ["9", "10", "11", "12", "13", "14"],
        answer,
    )
    answer = await s.call("read", path="lines.txt:L10-L11:raw")
    c.holds(
        "D38",
        "raw has no anchors",
        "line 10\nline 11" in answer.text and not re.search(r"^\d+\w\w\|", answer.text, re.M),
        answer,
    )
    answer = await s.call("read", path="lines.txt:10+2")
    c.holds(
        "D37",
        "a count",
        re.search(r"^10\w\w\|line 10$", answer.text, re.M) and re.search(r"^11\w\w\|line 11$", answer.text, re.M),
        answer,
    )
    answer = await s.call("read", path="lines.txt:395")
    c.holds("D35", "an open end", "line 400" in answer.text, answer)
    for selector in ["0", "5-3", "5+0"]:
        answer = await s.call("read", path=f"lines.txt:{selector}")
        c.holds("D41", f":{selector} is an error", answer.is_error, answer)
    answer = await s.call("read", path="nowhere.txt")
    c.holds("D86", "what is not there is an error", answer.is_error, answer)
    answer = await s.call("read", path="b.ts")
    c.holds(
        "D93",
        "a unique suffix is found, and said",
        "not found; resolved to" in answer.text and "src/deep/b.ts" in answer.text,
        answer,
    )
    answer = await s.call("read", path="src")
    c.holds("D87", "a directory is listed", "a.ts" in answer.text and details(answer).get("isDirectory"), answer)
    job = (await s.call("bash", command="seq 1 30000"))["details"]["meta"]["truncation"]["artifactId"]
    answer = await s.call("read", path=f"artifact://{job}:raw:1-2")
    c.holds("D82", "an artifact is read", not answer.is_error and answer.text.startswith("1\n2"), str(answer)[:300])


async def edit(c, s):
    async def anchors(path):
        answer = await s.call("read", path=f"{path}:1-400")
        return {int(n): n + h for n, h in re.findall(r"^(\d+)(\w\w)\|", answer.text, re.M)}

    (s.project / "e.txt").write_text("one\ntwo\nthree\nfour\n")
    at = await anchors("e.txt")
    answer = await s.call(
        "edit", input=f"@@ e.txt\n+ {at[1]}\n~one and a half\n- {at[2]}..{at[2]}\n= {at[4]}..{at[4]}\n~FOUR\n"
    )
    text = (s.project / "e.txt").read_text()
    c.holds(
        "E32",
        "insert, delete and replace",
        not answer.is_error and text == "one\none and a half\nthree\nFOUR\n",
        (answer, text),
    )
    c.holds("E51", "the text names the file", "e.txt" in answer.text, answer)
    c.holds(
        "E66",
        "details has the diff and the first changed line",
        details(answer).get("diff") and details(answer).get("firstChangedLine") == 2,
        answer,
    )
    answer = await s.call("edit", input=f"@@ e.txt\n= {at[4]}..{at[4]}\n~again\n")
    c.holds("E95", "an anchor that is old does not fit", answer.is_error or "Warnings" in answer.text, answer)
    answer = await s.call("edit", input="@@ new.txt\n+ BOF\n~first\n")
    c.holds(
        "E37", "a new file by BOF", not answer.is_error and (s.project / "new.txt").read_text() == "first\n", answer
    )
    answer = await s.call("edit", input="@@ e.txt\n+ EOF\n~last\n< BOF\n~zero\n")
    text = (s.project / "e.txt").read_text()
    c.holds(
        "E37",
        "BOF and EOF",
        not answer.is_error and text.startswith("zero\n") and text.endswith("last\n"),
        (answer, text),
    )
    before = (s.project / "e.txt").read_text()
    answer = await s.call("edit", input="@@ e.txt\n+ EOF\n~x\n@@ lines.txt\n- 1zz..1zz\n")
    c.holds(
        "E88",
        "of several sections all are applied, or none",
        answer.is_error and (s.project / "e.txt").read_text() == before,
        answer,
    )
    answer = await s.call("edit", input="no header\n")
    c.holds("E24", "a section begins with its path", answer.is_error, answer)
