#!/usr/bin/env python3
"""Fail if a file includes from a room that its own room may not know.

Also checked, as part of the same house rules: project headers are included as "room/file.h", a
.c file includes its own header first, and header guards are UT_ROOM_FILE_H.
"""
import pathlib
import re
import sys

# room: rooms it may include. The drawing in docs/architecture.md, as data.
MAY_INCLUDE = {
    "base": [],
    "text": ["base"],
    "model": ["base", "text"],
    "wire": ["base", "model"],
    "itt": [],
    "sdk": ["itt"],
    "collect": ["base", "model", "wire", "itt"],
    "backend": ["base"],
    "import": ["base", "text", "model", "wire"],
    "analyze": ["base", "text", "model"],
    "query": ["base", "text", "model", "analyze"],
    "export": ["base", "text", "model", "analyze", "query"],
    "mpijob": ["base"],
    "merge": ["base", "text", "model", "import", "export", "mpijob"],
    "acelyzer": ["base", "text", "model", "import", "export"],
    "ops": ["base", "text", "model", "import", "analyze", "query", "export"],
    "tt": ["base", "text", "model", "import", "export", "ops"],
    "launch": ["base", "wire"],
    "session": ["base", "text", "model", "wire", "import", "analyze", "export", "launch"],
    "serve": ["base", "text", "model", "import", "analyze", "export", "launch"],
    "cmd": ["base", "text", "model", "wire", "import", "analyze", "query", "export", "launch",
            "mpijob", "merge", "acelyzer", "ops", "tt", "session", "serve"],
}
# Public headers (include/) that only these rooms may use. The rest know nothing of ITT or plugins.
PUBLIC = {
    # import: the values in ITT records; backend: NVTX is told as ITT
    "ittnotify.h": ["itt", "sdk", "collect", "import", "backend"],
    "unitrace/backend.h": ["collect", "backend", "import", "session", "cmd"],
    "unitrace/backend_types.h": ["collect", "backend", "import", "session", "cmd"],
}
GENERATED = ["version.h"]
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
    return None


def check_file(path):
    room = room_of(path)
    if room not in MAY_INCLUDE:
        yield f"{path}:1: no room '{room}' in tools/check_layers.py"
        return
    text = path.read_text(errors="replace")
    includes = [(n, m) for n, line in enumerate(text.splitlines(), 1)
                if (m := INCLUDE.match(line))]
    for n, match in includes:
        wrong = check_include(room, match[1], match[2])
        if wrong:
            yield f"{path}:{n}: {wrong}"
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


def main():
    paths = [p for p in sorted(pathlib.Path("src").rglob("*"))
             if p.suffix in (".c", ".h", ".def") and p.is_file()]
    wrong = [line for path in paths for line in check_file(path)] + list(same_names(paths))
    print(*wrong, sep="\n", end="\n" if wrong else "")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
