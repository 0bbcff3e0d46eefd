#!/usr/bin/env python3
"""Runs the libFuzzer targets for a given CPU time, and goes on where the last run stopped.

    tools/fuzz.py TREE [--seconds N] [--upto N] [--table] [TARGET...]

TREE is a build folder with UT_FUZZ=ON. --seconds is the CPU time for all targets together. --upto
gives each target what it lacks of that many CPU seconds, counting all runs so far. The corpus
(TREE/corpus), what was found (TREE/found) and the books (TREE/fuzzed.json) are kept. --table prints
the books as a table for docs/testing.md.
"""
import argparse
import json
import os
import pathlib
import re
import resource
import subprocess
import sys

SLICE = 60  # seconds of the clock; a machine that is busy gives less CPU time than that
CORPUS = pathlib.Path("tests/fuzz/corpus")


def cpu_of_children():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


class Books:
    """What each target has had so far."""

    def __init__(self, tree):
        self.path = tree / "fuzzed.json"
        self.by_target = json.loads(self.path.read_text()) if self.path.exists() else {}

    def of(self, name):
        return self.by_target.setdefault(
            name, {"cpu": 0.0, "executions": 0, "edges": 0, "inputs": 0, "findings": 0})

    def save(self):
        new = self.path.with_suffix(".new")
        new.write_text(json.dumps(self.by_target, indent=1))
        os.replace(new, self.path)


def seeds(name):
    return [str(d) for d in (CORPUS / name, CORPUS / name.removeprefix("fuzz_")) if d.is_dir()]


def run_slice(tree, target, seconds):
    """One run of a target: its exit status, its output, its CPU time."""
    corpus, found = tree / "corpus" / target.name, tree / "found"
    corpus.mkdir(parents=True, exist_ok=True)
    found.mkdir(exist_ok=True)
    before = cpu_of_children()
    done = subprocess.run(
        [str(target), f"-max_total_time={seconds}", "-timeout=20", "-rss_limit_mb=2048",
         "-print_final_stats=1", f"-artifact_prefix={found}/{target.name}-", str(corpus),
         *seeds(target.name)],
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, errors="replace", check=False)
    return done.returncode, done.stdout, cpu_of_children() - before


def note(book, output, cpu, status):
    book["cpu"] += cpu
    units = re.findall(r"stat::number_of_executed_units:\s*(\d+)", output)
    book["executions"] += int(units[-1]) if units else 0
    edges = re.findall(r"\bcov: (\d+)", output)
    if edges:
        book["edges"] = int(edges[-1])
    corpus = re.findall(r"\bcorp: (\d+)", output)
    if corpus:
        book["inputs"] = int(corpus[-1])
    if status:
        book["findings"] += 1


def fuzz(tree, target, books, cpu_wanted):
    """False if the target found something."""
    book, had = books.of(target.name), 0.0
    while had < cpu_wanted:
        left = max(1, min(SLICE, round(cpu_wanted - had)))
        status, output, cpu = run_slice(tree, target, left)
        note(book, output, cpu, status)
        books.save()
        had += max(cpu, 0.5)
        if status:
            print(output[-6000:])
            print(f"{target.name}: exit status {status}; what did it is in {tree / 'found'}")
            return False
    print(f"{target.name}: {had:.0f} CPU seconds, {book['executions']} executions so far, "
          f"{book['edges']} edges", flush=True)
    return True


def table(books):
    print("| target | CPU minutes | executions | edges | inputs kept | findings |")
    print("|---|---:|---:|---:|---:|---:|")
    for name, b in sorted(books.by_target.items()):
        print(f"| `{name}` | {b['cpu'] / 60:.1f} | {b['executions']:,} | {b['edges']:,} "
              f"| {b['inputs']:,} | {b['findings']} |")


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("tree", type=pathlib.Path)
    options.add_argument("targets", nargs="*")
    options.add_argument("--seconds", type=float, default=60)
    options.add_argument("--upto", type=float)
    options.add_argument("--table", action="store_true")
    o = options.parse_intermixed_args()
    books = Books(o.tree)
    if o.table:
        table(books)
        return 0
    targets = [t for t in sorted((o.tree / "tests/fuzz").glob("fuzz_*"))
               if os.access(t, os.X_OK) and t.is_file() and (not o.targets or t.name in o.targets)]
    if not targets:
        print(f"no fuzz targets in {o.tree}", file=sys.stderr)
        return 1
    good = True
    for target in targets:
        wanted = o.seconds / len(targets) if o.upto is None else o.upto - books.of(target.name)["cpu"]
        good = fuzz(o.tree, target, books, wanted) and good
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
