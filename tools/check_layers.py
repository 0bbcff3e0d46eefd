#!/usr/bin/env python3
"""Fail if a file includes from a room that its own room may not know.

    tools/check_layers.py [--write]

Also checked, as part of the same house rules: project headers are included as "room/file.h", a
.c file includes its own header first, header guards are UT_ROOM_FILE_H, a header's name, a tag
and a typedef mean one thing. Only commands talk to the user: other rooms are given a teller (base/tell.h) or a client
(session/session_news.h). Every room has a README.md, and the house in docs/architecture.md is drawn
from those and from the table below; --write draws it again.
"""
import pathlib
import re
import sys

# room: rooms it may include. The drawing in docs/architecture.md, as data.
MAY_INCLUDE = {
    "base": [],
    "text": ["base", "model"],
    "model": ["base"],
    "wire": ["base"],
    "itt": [],
    "sdk": ["base", "itt"],
    "collect": ["base", "wire", "itt"],
    # the Python functions of a sample are read where they run
    "timer": ["base", "wire", "symbol"],
    # a backend that walks stacks does so by the tables that symbol reads
    "backend": ["base", "symbol"],
    "symbol": ["base"],
    "import": ["base", "text", "model", "wire", "symbol"],
    "analyze": ["base", "text", "model"],
    "query": ["base", "text", "model", "analyze"],
    "view": ["base", "text", "model", "analyze", "query", "draw", "metrics", "ranks", "sample"],
    "export": ["base", "text", "model", "analyze", "query", "view", "sample", "arrow"],
    "mpijob": ["base", "model", "import"],
    "clocks": ["base"],
    # ranks: what their messages prove about the clocks of hosts
    "merge": ["base", "text", "model", "import", "analyze", "clocks", "ranks", "export", "mpijob"],
    "ranks": ["base", "text", "model", "analyze", "clocks"],
    "acelyzer": ["base", "text", "model", "import", "analyze", "view", "export"],
    "ops": ["base", "text", "model", "import", "analyze", "query", "view", "export", "metrics"],
    "tt": ["base", "text", "model", "import", "view", "export", "ops"],
    "sample": ["base", "text", "model", "analyze", "symbol", "draw"],
    "metrics": ["base", "text", "model", "analyze", "symbol", "draw"],
    "category": ["base", "text", "model", "import", "analyze"],
    "draw": ["base", "text"],
    "arrow": ["base", "text"],
    "read": ["base", "text", "model", "import", "analyze", "query", "view", "export", "ops", "arrow"],
    # the stacks of samples are unwound while the program runs, from its files
    "launch": ["base", "wire", "symbol"],
    "session": ["base", "text", "model", "wire", "import", "analyze", "metrics",
                "export", "ops", "tt",
                "launch"],
    "serve": ["base"],
    "workbench": ["base", "text", "wire", "launch"],
    "site": ["base", "text", "serve", "view", "workbench"],
    "mcp": ["base", "text", "model", "import", "analyze", "query", "view", "draw", "export", "ranks"],
    "cmd": ["base", "text", "model", "wire", "import", "analyze", "query", "export", "launch",
            "mpijob", "merge", "acelyzer", "ops", "tt", "symbol", "sample", "metrics", "draw",
            "category", "ranks", "session", "serve", "view", "workbench", "site",
            "mcp"],
}
GUESTS = ["sdk", "collect", "timer", "backend"]  # live in the traced process
# Public headers (include/) that only these rooms may use. The rest know nothing of ITT or plugins.
PUBLIC = {
    # import: the values in ITT records; backend: NVTX is told as ITT
    "ittnotify.h": ["itt", "sdk", "collect", "import", "backend"],
    "unitrace/backend.h": ["collect", "backend", "import", "session", "cmd"],
    "unitrace/backend_types.h": ["collect", "backend", "import", "session", "cmd"],
    "unitrace/backend_memory.h": ["collect", "backend", "import", "session", "cmd"],
    "unitrace/backend_probe.h": ["backend", "session"],
}
# Who besides commands may use a standard stream, and what for.
SPEAKS = {
    "src/base/log.c": "the log of commands",
    "src/base/mapped.c": "last words: a file became shorter under us",
    "src/base/arena.c": "last words: no memory",
    "src/base/big.c": "last words: no memory",
    "src/base/grow.c": "last words: no memory",
    "src/base/str.c": "last words: no memory",
    "src/model/pages.c": "last words: no memory",
    "src/text/out.c": "results that were asked for with -o -",
    "src/export/out_check.c": "the same, looked at before",
}
SPEECH = re.compile(r"\b(stdout|stderr|STDOUT_FILENO|STDERR_FILENO)\b|"
                    r"\b(perror|puts|putchar|printf|vprintf)\(")
NO_CODE = re.compile(r'/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.S)
GENERATED = ["version.h"]
HEADLINE = re.compile(r"/\*[\s*]+([a-z0-9_]+\.[a-z]+) - ")
TAG = re.compile(r"^[ \t]*(?:typedef\s+)?(?:struct|enum|union)\s+(ut_\w+)\s*\{", re.M)
TYPEDEF = re.compile(r"^typedef\b[^;{]*?\b(ut_\w+)\)?(?:\(|;)", re.M)
INCLUDE = re.compile(r'\s*#\s*include\s*(["<])([^">]+)[">]')


def room_of(path):
    return path.parts[1] if len(path.parts) > 2 else "cmd"  # main.c sits with the commands


def check_include(room, kind, name):
    """What is wrong with room including name, or None."""
    if name in PUBLIC:
        if room not in PUBLIC[name] and room != "sdk":
            return f"{room} may not include the public header {name}"
        return None
    if (pathlib.Path("include") / name).is_file():
        return None
    if kind == "<" or name in GENERATED:
        return None
    other, slash, _ = name.partition("/")
    if not slash or other not in MAY_INCLUDE:
        return f'include "{name}" as "room/file.h"'
    if other != room and other not in MAY_INCLUDE[room]:
        return f"{room} may not include {other}"
    if name == "base/log.h" and room not in ("base", "cmd"):
        return f"{room} has no log: it tells whoever asked for the work (base/tell.h)"
    return None


def check_headline(path, text):
    """A file that introduces itself does so under its own name."""
    match = HEADLINE.match(text)
    if match and match[1] != path.name:
        yield f"{path}:1: the first comment calls it {match[1]}"


def speeches(path, text):
    """Lines that use a standard stream, which only commands do."""
    if room_of(path) == "cmd" or str(path) in SPEAKS:
        return
    code = NO_CODE.sub(lambda m: "\n" * m[0].count("\n"), text)
    for n, line in enumerate(code.splitlines(), 1):
        if SPEECH.search(line):
            yield f"{path}:{n}: only commands use standard streams"


def check_file(path):
    room = room_of(path)
    if room not in MAY_INCLUDE:
        yield f"{path}:1: no room '{room}' in tools/check_layers.py"
        return
    text = path.read_text(errors="replace")
    yield from check_headline(path, text)
    includes = [(n, m) for n, line in enumerate(text.splitlines(), 1)
                if (m := INCLUDE.match(line))]
    for n, match in includes:
        wrong = check_include(room, match[1], match[2])
        if wrong:
            yield f"{path}:{n}: {wrong}"
    yield from speeches(path, text)
    own = str(path.relative_to("src").with_suffix(".h"))
    if path.suffix == ".c" and path.with_suffix(".h").is_file():
        if not includes or includes[0][1][2] != own:
            yield f'{path}:{includes[0][0] if includes else 1}: include "{own}" first'
    if path.suffix == ".h":
        guard = re.sub(r"\W", "_", f"UT_{path.relative_to('src').with_suffix('')}_H".upper())
        if f"#ifndef {guard}\n#define {guard}\n" not in text:
            yield f"{path}:1: the include guard should be {guard}"


def same_names(paths):
    """Headers that a reader could take for each other: a name is used once in the house."""
    seen = {}
    for path in paths:
        if path.suffix == ".h":
            if path.name in seen:
                yield f"{path}:1: {seen[path.name]} has the same name"
            seen[path.name] = path


def same_tags(paths):
    """A tag ut_x means one thing: it is defined in one file, be it of the house or a public one."""
    seen = {}
    for path in [*paths, *sorted(pathlib.Path("include").rglob("*.h"))]:
        text = path.read_text(errors="replace")
        for match in [*TAG.finditer(text), *TYPEDEF.finditer(text)]:
            other = seen.setdefault(match[1], path)
            if other != path:
                line = text.count("\n", 0, match.start(1)) + 1
                yield f"{path}:{line}: {match[1]} means something else in {other}"


def floor(room):
    """0 for a room that knows nobody; otherwise one above the highest room it knows."""
    return max((floor(other) + 1 for other in MAY_INCLUDE[room]), default=0)


def readme(room):
    """The paragraph of a room's README.md, and the first sentence of it."""
    lines = (pathlib.Path("src") / room / "README.md").read_text().splitlines()
    return lines[2], lines[2].split(". Way in")[0]


def drawing():
    """The rooms by floors, those of the traced process in a column of their own."""
    floors = {}
    for room in MAY_INCLUDE:
        floors.setdefault(floor(room), []).append(room)
    yield "```"
    yield f"{'':9}{'in the program unitrace':60}in the traced process"
    for level in sorted(floors, reverse=True):
        inside = [r for r in floors[level] if r not in GUESTS]
        guests = [r for r in floors[level] if r in GUESTS]
        yield f"floor {level:<2} {'  '.join(inside):60}{'  '.join(guests)}".rstrip()
    yield "```"


def house():
    """What docs/architecture.md says about the rooms."""
    yield from drawing()
    yield ""
    yield "| room | what it is for | may include |"
    yield "|---|---|---|"
    for room in sorted(MAY_INCLUDE, key=lambda r: (floor(r), r)):
        known = ", ".join(MAY_INCLUDE[room]) or "libc"
        yield f"| [`src/{room}`](../src/{room}/README.md) | {readme(room)[1]} | {known} |"


def drawn(path, lines, write):
    """Complaints if the part of a document between its marks is not these lines."""
    text = pathlib.Path(path).read_text()
    begin, end = "<!-- house -->\n", "<!-- end of house -->\n"
    head, found, rest = text.partition(begin)
    old, _, tail = rest.partition(end)
    if not found:
        return [f"{path}:1: no place for the house ({begin.strip()})"]
    new = "\n".join(lines) + "\n"
    if old == new:
        return []
    if write:
        pathlib.Path(path).write_text(head + begin + new + end + tail)
        return []
    return [f"{path}:1: the house has changed: tools/check_layers.py --write"]


def check_rooms():
    """Every folder is a room, every room a folder with a README.md of one paragraph."""
    folders = {p.name for p in pathlib.Path("src").iterdir() if p.is_dir()}
    for room in sorted(folders ^ MAY_INCLUDE.keys()):
        yield f"src/{room}:1: in the table of tools/check_layers.py, or a folder, but not both"
    for path in sorted(p for p in pathlib.Path("src").rglob("*") if p.is_dir()):
        note = path / "README.md"
        if path.name != "plugin" and (not note.is_file() or len(note.read_text().splitlines()) != 3):
            yield f"{note}:1: a heading, an empty line and one paragraph about the room"


def main():
    if {"-h", "--help"} & set(sys.argv[1:]):
        print(__doc__)
        return 0
    write = "--write" in sys.argv[1:]
    wrong = list(check_rooms())
    if not wrong:
        wrong = drawn("docs/architecture.md", house(), write)
    paths = [p for p in sorted(pathlib.Path("src").rglob("*"))
             if p.suffix in (".c", ".h", ".def") and p.is_file()]
    wrong += [line for path in paths for line in check_file(path)] + list(same_names(paths))
    wrong += same_tags(paths)
    for path in sorted(pathlib.Path("tests").rglob("*.[ch]")):
        wrong += check_headline(path, path.read_text(errors="replace"))
    print(*wrong, sep="\n", end="\n" if wrong else "")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
