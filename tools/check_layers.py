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
    "model": ["base"],
    "wire": ["base", "model"],
    "itt": [],
    "sdk": ["itt"],
    "collect": ["base", "model", "wire", "itt"],
    "backend": ["base"],
    "import": ["base", "model", "wire"],
    "export": ["base", "model", "analyze", "query"],
    "analyze": ["base", "model"],
    "query": ["base", "model", "analyze"],
    "aiu": ["base", "model", "import", "export"],
    "ttdev": ["base", "model", "import", "export"],
    "ttops": ["base", "model", "import", "analyze", "query", "export", "ttdev"],
    "launch": ["base", "wire"],
    "spread": ["base"],
    "serve": ["base", "model", "import", "analyze", "export", "launch"],
    "cmd": ["base", "model", "wire", "import", "analyze", "query", "export", "launch", "spread",
            "serve", "aiu", "ttdev", "ttops"],
}
# Public headers (include/) that only these rooms may use. The rest know nothing of ITT or plugins.
PUBLIC = {
    # import: the values in ITT records; backend: NVTX is told as ITT
    "ittnotify.h": ["itt", "sdk", "collect", "import", "backend"],
    "unitrace/backend.h": ["collect", "backend", "import", "cmd"],
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
    own = f"{room}/{path.stem}.h"
    if path.suffix == ".c" and path.with_suffix(".h").is_file():
        if not includes or includes[0][1][2] != own:
            yield f'{path}:{includes[0][0] if includes else 1}: include "{own}" first'
    if path.suffix == ".h":
        guard = f"UT_{room}_{path.stem}_H".upper().replace("-", "_")
        if f"#ifndef {guard}\n#define {guard}\n" not in text:
            yield f"{path}:1: the include guard should be {guard}"


def main():
    bad = 0
    for path in sorted(pathlib.Path("src").rglob("*")):
        if path.suffix in (".c", ".h", ".def") and path.is_file():
            for line in check_file(path):
                print(line)
                bad = 1
    return bad


if __name__ == "__main__":
    sys.exit(main())
