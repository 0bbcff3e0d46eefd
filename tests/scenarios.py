#!/usr/bin/env python3
"""Run every test program and example under every set of unitrace options.

    tests/scenarios.py [--run] [--config FILE] [--build DIR] [--only NAME]

Builds first; --run takes what is there. The option sets are the lines of FILE (default:
tests/scenarios.txt, which explains its few rules). A scenario passes if tracing changed nothing
that the program's user can see: same exit status, same standard output; and if every JSON file it
left behind is valid. A program whose name starts with crash_ has to fail on its own as well.
"""
import argparse
import concurrent.futures
import json
import os
import pathlib
import shlex
import shutil
import subprocess
import sys
import tempfile
import time

SOURCE = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(SOURCE / "tests/e2e"))

from common import PATIENCE  # noqa: E402: it is in another folder

FOLDERS = ("tests/programs", "examples")
SKIPPED = 77
# These print what the collector tells them, or count what a timer did: their output is not compared,
# under whatever options.
UNSTEADY = {"clock_pairs", "every_call", "first_signals", "null_args", "old_copy", "signal_storm",
            "timestamps"}


class Config:
    """The option sets of a scenario file, and its two meaningful comments."""

    def __init__(self, path):
        self.sets = []
        self.exclude = set()
        self.args = {}
        for line in path.read_text().splitlines():
            line = line.strip()
            if line.startswith("#"):
                self._comment(line.lstrip("# "))
            elif line:
                self.sets.append([] if line == "-" else shlex.split(line, comments=True))

    def _comment(self, text):
        key, colon, rest = text.partition(":")
        words = shlex.split(rest) if colon and key in ("exclude", "args") else []
        if key == "exclude":
            self.exclude.update(words)
        elif key == "args" and words:
            self.args[words[0]] = words[1:]


class Result:
    """How a run ended. Death by signal n and exit status 128+n are the same to a shell."""

    def __init__(self, command):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="unitrace-scenario-"))
        try:
            done = subprocess.run(command, cwd=self.folder, stdin=subprocess.DEVNULL,
                                  capture_output=True, timeout=PATIENCE, env=environment())
        except subprocess.TimeoutExpired:
            self.status, self.out, self.err = None, b"", b""
            return
        self.status = done.returncode if done.returncode >= 0 else 128 - done.returncode
        self.out, self.err = done.stdout, done.stderr

    def clean(self):
        shutil.rmtree(self.folder, ignore_errors=True)


def environment():
    """Ours, less what an outer tracing session may have left."""
    drop = ("UT_", "PTI_", "INTEL_LIBITTNOTIFY", "LD_PRELOAD")
    return {k: v for k, v in os.environ.items() if not k.startswith(drop)}


def programs(build, config, only):
    for folder in FOLDERS:
        for path in sorted((build / folder).glob("*")):
            if not path.is_file() or path.suffix or not os.access(path, os.X_OK):
                continue
            if path.name not in config.exclude and (not only or path.name in only):
                yield path


def bad_json(folder):
    """What is wrong with the JSON files under folder, or None."""
    for path in sorted(folder.rglob("*.json")):
        try:
            json.loads(path.read_bytes())
        except ValueError as error:
            return f"{path.name} is not JSON: {error}"
    return None


class Program:
    def __init__(self, path, args):
        self.name = path.name
        self.command = [str(path), *args]
        self.bare = None
        self.skip = None  # why it cannot be compared

    def run_bare(self):
        self.bare = Result(self.command)
        self.bare.clean()
        if self.bare.status == SKIPPED:
            self.skip = "it cannot run here (status 77)"

    def difference(self, traced):
        """What tracing changed, or None."""
        if self.bare.status is None:
            return f"by itself it does not end within {PATIENCE:g} s: give it \"args:\" or \"exclude:\" it"
        if traced.status is None:
            return f"did not end within {PATIENCE:g} s"
        if self.name.startswith("crash_") and self.bare.status == 0:
            return "crash_* programs have to fail, this one does not"
        if traced.status != self.bare.status:
            return f"exit status {traced.status}, without unitrace {self.bare.status}"
        if self.name not in UNSTEADY and traced.out != self.bare.out:
            return f"standard output differs: {traced.out[:200]!r}, without {self.bare.out[:200]!r}"
        return bad_json(traced.folder)


def scenario(unitrace, program, options):
    """(passed, seconds, what went wrong)"""
    start = time.monotonic()
    traced = Result([str(unitrace), *options, *program.command])
    wrong = program.difference(traced)
    if wrong and traced.err:
        tail = traced.err.decode(errors="replace").splitlines()[-5:]
        wrong += "".join(f"\n        | {line}" for line in tail)
    traced.clean()
    return not wrong, time.monotonic() - start, wrong


def build_all(build):
    if not (build / "CMakeCache.txt").exists():
        subprocess.run(["cmake", "-S", SOURCE, "-B", build], check=True)
    subprocess.run(["cmake", "--build", build, "--parallel", str(os.cpu_count() or 1)], check=True)


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--run", action="store_true", help="do not build first")
    parser.add_argument("--config", type=pathlib.Path, default=SOURCE / "tests/scenarios.txt",
                        help="file of option sets, one per line")
    parser.add_argument("--build", type=pathlib.Path,
                        default=os.environ.get("UNITRACE_BUILD", SOURCE / "build"))
    parser.add_argument("--only", action="append", help="just this program (repeatable)")
    return parser.parse_args()


def main():
    opts = arguments()
    build = pathlib.Path(opts.build).resolve()
    config = Config(opts.config)
    if not opts.run:
        build_all(build)
    unitrace = build / "bin/unitrace"
    if not unitrace.exists():
        print(f"scenarios: {unitrace} is not built")
        return 1
    every = [Program(path, config.args.get(path.name, []))
             for path in programs(build, config, opts.only)]
    passed = failed = skipped = 0
    with concurrent.futures.ThreadPoolExecutor(min(4, os.cpu_count() or 1)) as pool:
        list(pool.map(Program.run_bare, every))
        jobs = [(p, o) for p in every for o in config.sets]
        runs = pool.map(lambda job: None if job[0].skip else scenario(unitrace, *job), jobs)
        for (program, options), run in zip(jobs, runs):
            label = f"{program.name:<24} {shlex.join(options) or '(no options)'}"
            if run is None:
                skipped += 1
                print(f"skip  {label}: {program.skip}")
            elif run[0]:
                passed += 1
                print(f"ok    {label}  {run[1]:.2f} s")
            else:
                failed += 1
                print(f"FAIL  {label}  {run[1]:.2f} s: {run[2]}")
    print(f"{passed} passed, {failed} failed" + (f", {skipped} skipped" if skipped else ""))
    if not jobs:
        return SKIPPED
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
