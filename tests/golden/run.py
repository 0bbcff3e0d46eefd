#!/usr/bin/env python3
"""Golden cases: what a command prints, how it ends and what it writes, byte by byte.

    run.py [--update] [--list] [-j N] [COMMAND[/CASE] ...]

A case is a folder COMMAND/CASE with

    cmd         lines for a shell, run in order in a fresh folder that holds a copy of in/ and nothing
                else; a line that starts with # is a note; a backslash at the end goes on
    in/         the inputs; a link to a folder below inputs/ where cases share them
    needs       optional: words that `unitrace --version` must print, else the case is skipped aloud
    expected/   stdout, stderr (none: empty), status, and below files/ every file that the lines wrote
                (of those that are the same as another or as an input, its name)

Of several lines, each one's output follows a line "$ LINE", and status has a line for each. What is
not text is compared decoded (decode.py). The version of the build, the folder of the run and the
time at the start of a line become @VERSION@, @HERE@ and @TIME@. --update writes what happens now over expected/ and tells what has changed: the
review is `git diff`. Exit status: 0, 1 if something differs, 77 if nothing could be run.
"""
import argparse
import concurrent.futures
import difflib
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
import decode  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "e2e"))

from common import PATIENCE  # noqa: E402: it is in another folder

BUILD = pathlib.Path(os.environ.get("UNITRACE_BUILD", HERE.parents[1] / "build")).resolve()
KEPT = ("ASAN_OPTIONS", "UBSAN_OPTIONS", "TSAN_OPTIONS", "LSAN_OPTIONS", "TMPDIR")
TWIN = 100  # bytes; of files that are longer and the same, the first is kept
DIFF_LINES, LINE_WIDTH = 40, 200


def version():
    done = subprocess.run([BUILD / "bin/unitrace", "--version"], capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{BUILD}/bin/unitrace --version: {done.stderr}")
    return done.stdout


def environment(home):
    """Nothing of the caller's that could show in an output."""
    env = {key: os.environ[key] for key in KEPT if key in os.environ}
    python = pathlib.Path(sys.executable).parent
    env.update(PATH=f"{BUILD}/bin:{python}:/usr/local/bin:/usr/bin:/bin", TZ="UTC", LC_ALL="C",
               HOME=str(home), XDG_STATE_HOME=str(home), UNITRACE_BUILD=str(BUILD),
               UNITRACE_GOLDEN=str(HERE))
    return env


def lines_of(cmd):
    text = cmd.read_text().replace("\\\n", "")
    return [line for line in text.splitlines() if line.strip() and not line.startswith("#")]


class Words:
    """Puts names in the place of what differs between machines and releases."""

    def __init__(self, said, folder):
        number = re.escape(said.split()[1]).encode()
        self.version = re.compile(rb'(unitrace |"version":"|"version": "|^)' + number + rb"(?![\d.])", re.M)
        self.stamp = re.compile(rb"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}(?= )", re.M)
        self.folders = sorted({os.fsencode(folder), os.fsencode(os.path.realpath(folder))}, key=len)

    def __call__(self, data):
        for folder in reversed(self.folders):
            data = data.replace(folder, b"@HERE@")
        return self.version.sub(rb"\1@VERSION@", self.stamp.sub(b"@TIME@", data))


def snapshot(folder):
    """Every file and empty folder below: path to what lies there."""
    found = {}
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        if path.is_symlink():
            found[name] = b"link to " + os.fsencode(os.readlink(path)) + b"\n"
        elif path.is_file():
            found[name] = path.read_bytes()
        elif not any(path.iterdir()):
            found[name + "/EMPTY"] = b""
    return found


def run_lines(case, folder, home):
    """Runs each line of cmd; of a stream on which none said anything, nothing is told."""
    lines, statuses = lines_of(case / "cmd"), ""
    said, told = {"stdout": b"", "stderr": b""}, set()
    for line in lines:
        done = subprocess.run(["sh", "-c", line], cwd=folder, env=environment(home),
                              stdin=subprocess.DEVNULL, capture_output=True, timeout=PATIENCE)
        for stream, text in (("stdout", done.stdout), ("stderr", done.stderr)):
            if len(lines) > 1:
                said[stream] += b"$ " + os.fsencode(line) + b"\n"
            said[stream] += text
            if text:
                told.add(stream)
        statuses += f"{done.returncode}\n"
    return {**{stream: said[stream] for stream in told}, "status": statuses.encode()}


def run_case(case, said):
    """What happens: name below expected/ to bytes."""
    with tempfile.TemporaryDirectory(prefix="ut_golden_") as tmp:
        folder, home = pathlib.Path(tmp, "here"), pathlib.Path(tmp, "home")
        home.mkdir()
        folder.mkdir()
        if (case / "in").exists():
            shutil.copytree(case / "in", folder / "in", symlinks=True)
        before = snapshot(folder)
        got, after = run_lines(case, folder, home), snapshot(folder)
        words = Words(said, folder)
        seen = {data: name for name, data in before.items() if len(data) > TWIN}
        for name, data in after.items():
            if before.get(name) == data:
                continue
            twin = seen.get(data)
            if len(data) > TWIN:
                seen.setdefault(data, name)
            if not twin:
                name, data = decode.decode(name, data, words)
            got[f"files/{name}"] = f"the same bytes as {twin}\n".encode() if twin else data
        for name in before.keys() - after.keys():
            got[f"files/{name}.REMOVED"] = b""
        return {name: words(data) for name, data in got.items()}


def expected(case):
    return snapshot(case / "expected") if (case / "expected").exists() else {}


def shown(text):
    return [line if len(line) <= LINE_WIDTH else line[:LINE_WIDTH] + f"... ({len(line)} characters)"
            for line in text.decode(errors="backslashreplace").splitlines()]


def around_first_difference(old, new):
    """Of a long line, the part in which the two differ."""
    at = next((i for i, (a, b) in enumerate(zip(old, new)) if a != b), min(len(old), len(new)))
    first = max(0, at - LINE_WIDTH // 2)
    return [f"  from byte {first} on:", "-" + old[first:first + LINE_WIDTH],
            "+" + new[first:first + LINE_WIDTH]]


def difference(name, old, new):
    if old is None:
        return [f"{name}: was not written before"]
    if new is None:
        return [f"{name}: is not written any more"]
    before, now = (text.decode(errors="backslashreplace").splitlines() for text in (old, new))
    for a, b in zip(before, now):
        if a != b and max(len(a), len(b)) > LINE_WIDTH:
            return [f"{name}:", *around_first_difference(a, b)]
        if a != b:
            break
    lines = list(difflib.unified_diff(shown(old), shown(new), f"expected/{name}", f"now/{name}",
                                      lineterm="", n=2))
    if not lines:
        lines = [f"{name}: differs in the ends of lines"]
    return lines[:DIFF_LINES] + ([f"... {len(lines) - DIFF_LINES} more"] if len(lines) > DIFF_LINES
                                 else [])


def compare(case, got):
    old = expected(case)
    told = []
    for name in sorted(old.keys() | got.keys()):
        if old.get(name) != got.get(name):
            told += difference(name, old.get(name), got.get(name))
    return told


def write(case, got):
    shutil.rmtree(case / "expected", ignore_errors=True)
    for name, data in got.items():
        path = case / "expected" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)


def missing(case, said):
    path = case / "needs"
    words = path.read_text().split() if path.exists() else []
    return [word for word in words if word not in said.replace(",", " ").split()]


def find(names):
    cases = sorted(path.parent for path in HERE.glob("*/*/cmd"))
    if not names:
        return cases
    wanted = [c for c in cases if {c.parent.name, f"{c.parent.name}/{c.name}"} & set(names)]
    unknown = [n for n in names if not any(n in (c.parent.name, f"{c.parent.name}/{c.name}")
                                           for c in wanted)]
    if unknown:
        sys.exit(f"no such case: {', '.join(unknown)}")
    return wanted


def one(case, said, update):
    """A word for what happened, and the lines to print."""
    name = f"{case.parent.name}/{case.name}"
    lacks = missing(case, said)
    if lacks:
        return "skipped", [f"SKIP {name}: this build has no {', '.join(lacks)}"]
    got = run_case(case, said)
    told = compare(case, got)
    if not told:
        return "same", []
    if update:
        new = not (case / "expected").exists()
        write(case, got)
        return "changed", [f"NEW {name}: {', '.join(sorted(got))}"] if new else [f"CHANGED {name}", *told]
    return "changed", [f"DIFFERS {name} (tests/golden/{name}/cmd)", *told]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--update", action="store_true", help="write expected/ anew")
    parser.add_argument("--list", action="store_true", help="list the cases")
    parser.add_argument("-j", type=int, default=min(4, os.cpu_count() or 1), help="cases at a time")
    parser.add_argument("cases", nargs="*", metavar="COMMAND[/CASE]")
    args = parser.parse_args()
    cases = find(args.cases)
    if args.list:
        print("\n".join(f"{c.parent.name}/{c.name}" for c in cases))
        return 0
    if not (BUILD / "bin/unitrace").exists():
        print(f"SKIP: {BUILD}/bin/unitrace is not built")
        return 77
    said, count = version(), {"same": 0, "changed": 0, "skipped": 0}
    with concurrent.futures.ThreadPoolExecutor(args.j) as pool:
        for what, lines in pool.map(lambda case: one(case, said, args.update), cases):
            count[what] += 1
            if lines:
                print("\n".join(lines), flush=True)
    print(f"{len(cases)} cases: {count['same']} as expected, {count['changed']} "
          f"{'written anew' if args.update else 'differ'}, {count['skipped']} skipped")
    if count["skipped"] == len(cases):
        return 77
    return 1 if count["changed"] and not args.update else 0


if __name__ == "__main__":
    sys.exit(main())
