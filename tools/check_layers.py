#!/usr/bin/env python3
"""Fail if a file includes from a module that its own one may not know.

    tools/check_layers.py [--write]

Also checked, as part of the same rules: project headers are included as "module/file.h", a
.c file includes its own header first, header guards are UT_MODULE_FILE_H, a header's name, a tag
and a typedef mean one thing. Only commands talk to the user: other modules are given a logger (base/logger.h) or a client
(session/session_event.h). Every module has a README.md. docs/architecture.md is drawn from those and from the list of
modules, src/modules; --write draws it again.
"""
import pathlib
import re
import sys

GROUPS = ["base", "record", "trace", "analysis", "app"]  # a module may know its own and those before


def read_modules(text):
    """src/modules: (group, modules that it may include) of each module, in order."""
    modules = {}
    for line in text.splitlines():
        if line and line[0] != "#":
            path, _, known = line.partition(":")
            group, _, name = path.rpartition("/")
            modules[name] = (group or "base", known.split())
    return modules


MODULES = read_modules(pathlib.Path("src/modules").read_text())
MAY_INCLUDE = {name: known for name, (_, known) in MODULES.items()}
GUESTS = ["sdk", "collect", "timer", "backend"]  # live in the traced process
# Public headers (include/) that only these modules may use. The rest know nothing of ITT or plugins.
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
    "src/trace/model/pages.c": "last words: no memory",
    "src/trace/text/out.c": "results that were asked for with -o -",
    "src/trace/export/out_check.c": "the same, looked at before",
}
SPEECH = re.compile(r"\b(stdout|stderr|STDOUT_FILENO|STDERR_FILENO)\b|"
                    r"\b(perror|puts|putchar|printf|vprintf)\(")
NO_CODE = re.compile(r'/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.S)
GENERATED = ["version.h"]
HEADLINE = re.compile(r"/\*[\s*]+([a-z0-9_]+\.[a-z]+) - ")
TAG = re.compile(r"^[ \t]*(?:typedef\s+)?(?:struct|enum|union)\s+(ut_\w+)\s*\{", re.M)
TYPEDEF = re.compile(r"^typedef\b[^;{]*?\b(ut_\w+)\)?(?:\(|;)", re.M)
INCLUDE = re.compile(r'\s*#\s*include\s*(["<])([^">]+)[">]')


def module_of(path):
    """src/base/str.c, src/trace/model/event.h; main.c sits with the commands."""
    if path.parts[1] == "base":
        return "base"
    return path.parts[2] if len(path.parts) > 3 else "cmd"


def folder(module):
    group = MODULES[module][0]
    return f"src/{module}" if group == module else f"src/{group}/{module}"


def check_include(module, kind, name):
    """What is wrong with module including name, or None."""
    if name in PUBLIC:
        if module not in PUBLIC[name] and module != "sdk":
            return f"{module} may not include the public header {name}"
        return None
    if (pathlib.Path("include") / name).is_file():
        return None
    if kind == "<" or name in GENERATED:
        return None
    other, slash, _ = name.partition("/")
    if not slash or other not in MAY_INCLUDE:
        return f'include "{name}" as "module/file.h"'
    if other != module and other not in MAY_INCLUDE[module]:
        return f"{module} may not include {other}"
    if name == "base/log.h" and module not in ("base", "cmd"):
        return f"{module} has no log: it tells whoever asked for the work (base/logger.h)"
    return None


def check_headline(path, text):
    """A file that introduces itself does so under its own name."""
    match = HEADLINE.match(text)
    if match and match[1] != path.name:
        yield f"{path}:1: the first comment calls it {match[1]}"


def speeches(path, text):
    """Lines that use a standard stream, which only commands do."""
    if module_of(path) == "cmd" or str(path) in SPEAKS:
        return
    code = NO_CODE.sub(lambda m: "\n" * m[0].count("\n"), text)
    for n, line in enumerate(code.splitlines(), 1):
        if SPEECH.search(line):
            yield f"{path}:{n}: only commands use standard streams"


def check_file(path):
    module = module_of(path)
    if module not in MAY_INCLUDE:
        yield f"{path}:1: no module '{module}' in src/modules"
        return
    text = path.read_text(errors="replace")
    yield from check_headline(path, text)
    includes = [(n, m) for n, line in enumerate(text.splitlines(), 1)
                if (m := INCLUDE.match(line))]
    for n, match in includes:
        wrong = check_include(module, match[1], match[2])
        if wrong:
            yield f"{path}:{n}: {wrong}"
    yield from speeches(path, text)
    root = "src" if module == "base" else "src/" + MODULES[module][0]
    own = str(path.relative_to(root).with_suffix(".h"))
    if path.suffix == ".c" and path.with_suffix(".h").is_file():
        if not includes or includes[0][1][2] != own:
            yield f'{path}:{includes[0][0] if includes else 1}: include "{own}" first'
    if path.suffix == ".h":
        guard = re.sub(r"\W", "_", f"UT_{path.relative_to(root).with_suffix('')}_H".upper())
        if f"#ifndef {guard}\n#define {guard}\n" not in text:
            yield f"{path}:1: the include guard should be {guard}"


def same_names(paths):
    """Headers that a reader could take for each other: a name is used once in the project."""
    seen = {}
    for path in paths:
        if path.suffix == ".h":
            if path.name in seen:
                yield f"{path}:1: {seen[path.name]} has the same name"
            seen[path.name] = path


def same_tags(paths):
    """A tag ut_x means one thing: it is defined in one file, be it of the project or a public one."""
    seen = {}
    for path in [*paths, *sorted(pathlib.Path("include").rglob("*.h"))]:
        text = path.read_text(errors="replace")
        for match in [*TAG.finditer(text), *TYPEDEF.finditer(text)]:
            other = seen.setdefault(match[1], path)
            if other != path:
                line = text.count("\n", 0, match.start(1)) + 1
                yield f"{path}:{line}: {match[1]} means something else in {other}"


def readme(module):
    """The first sentence of a module's README.md."""
    return pathlib.Path(folder(module), "README.md").read_text().splitlines()[2].split(". Way in")[0]


def drawing():
    """The groups with their modules, the highest first; those of the traced process are marked."""
    width = max(map(len, GROUPS))
    yield "```"
    for group in reversed(GROUPS):
        names = [f"({m})" if m in GUESTS else m for m, (of, _) in MODULES.items() if of == group]
        yield f"src/{group:{width}}  {'  '.join(names)}"
    yield "```"


def architecture():
    """What docs/architecture.md says about the modules."""
    yield from drawing()
    yield ""
    yield "| module | what it is for | may include |"
    yield "|---|---|---|"
    for module, (_, known) in MODULES.items():
        path = folder(module)
        yield f"| [`{path}`](../{path}/README.md) | {readme(module)} | {', '.join(known) or 'libc'} |"


def drawn(path, lines, write):
    """Complaints if the part of a document between its marks is not these lines."""
    text = pathlib.Path(path).read_text()
    begin, end = "<!-- modules -->\n", "<!-- end of modules -->\n"
    head, found, rest = text.partition(begin)
    old, _, tail = rest.partition(end)
    if not found:
        return [f"{path}:1: no place for the drawing ({begin.strip()})"]
    new = "\n".join(lines) + "\n"
    if old == new:
        return []
    if write:
        pathlib.Path(path).write_text(head + begin + new + end + tail)
        return []
    return [f"{path}:1: the modules have changed: tools/check_layers.py --write"]


def check_modules():
    """The list is that of the folders, and a module knows only lower ones; each folder has a README.md."""
    for module, (group, known) in MODULES.items():
        for other in known:
            if other not in MODULES:
                yield f"src/modules:1: {module} may include {other}, which is no module"
            elif list(MODULES).index(other) >= list(MODULES).index(module):
                yield f"src/modules:1: {module} may include {other}, which comes later"
        if group not in GROUPS:
            yield f"src/modules:1: {module} is in no group of {', '.join(GROUPS)}"
    groups = [group for group, _ in MODULES.values()]
    if groups != sorted(groups, key=GROUPS.index):
        yield f"src/modules:1: the groups are not in the order {', '.join(GROUPS)}"
    listed = {folder(module) for module in MODULES}
    found = {str(p) for p in pathlib.Path("src").glob("*/*") if p.is_dir() and p.parts[1] != "base"} | {"src/base"}
    for path in sorted(listed ^ found):
        yield f"{path}:1: in src/modules, or a folder, but not both"
    for path in sorted(p for p in pathlib.Path("src").rglob("*") if p.is_dir()):
        note = path / "README.md"
        if len(path.parts) > 2 and path.name != "plugin" and (
                not note.is_file() or len(note.read_text().splitlines()) != 3):
            yield f"{note}:1: a heading, an empty line and one paragraph about the module"


def main():
    if {"-h", "--help"} & set(sys.argv[1:]):
        print(__doc__)
        return 0
    write = "--write" in sys.argv[1:]
    wrong = list(check_modules())
    if not wrong:
        wrong = drawn("docs/architecture.md", architecture(), write)
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
