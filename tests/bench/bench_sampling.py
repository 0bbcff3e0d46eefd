"""What sampling CPU time costs, beside perf, samply, py-spy and scalene, in one run; and how fast
samples get names.

    python3 tests/bench/bench_sampling.py [threads|budget|python|read]...

Recording: CPU time of a program that does fixed work on eight threads, under each tool, to that
alone, in mixed order, medians; and what the tool itself takes beside it, while the program runs.
Reading: a million samples of PyTorch (a recording of some seconds, its samples repeated) until they
are a report. What is missing is said. Without words all is measured but "budget", which is the part
of "threads" that the budget is about: 1 kHz, beside perf record -g.
"""
import pathlib
import random
import re
import resource
import shutil
import statistics
import struct
import subprocess
import sys
import tempfile
import time

import harness
from harness import BUILD, PROGRAMS, UNITRACE

BUSY = PROGRAMS / "busy_threads"
ROUNDS = harness.size(5, 1, "ROUNDS")
WORK = str(harness.size(4000, 40, "WORK"))
SAMPLES = harness.size(1_000_000, 1000)
PYTHON_WORK = f"""
import resource
def inner(n):
    return sum(i * i for i in range(n))
def outer():
    total = 0
    for i in range({harness.size(1500, 50)}):
        total += inner(2000)
        for k in range(4000):
            total += k
    return total
outer()
r = resource.getrusage(resource.RUSAGE_SELF)
print(r.ru_utime * 1e3, r.ru_stime * 1e3)
"""
TORCH = """
import torch
x = torch.rand(64, 64)
with torch.autograd.profiler.emit_itt():
    for i in range(4000):
        y = torch.relu(x @ x).sum(); z = torch.nn.functional.softmax(x, 0) + y
"""


def cpu_of_children():
    r = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (r.ru_utime + r.ru_stime) * 1e3


def run(words, folder):
    """CPU time of the program and of the tool beside it, ms."""
    before = cpu_of_children()
    got = subprocess.run(list(map(str, words)), cwd=folder, capture_output=True, check=False)
    both = cpu_of_children() - before
    said = re.findall(rb"^([0-9.]+) ([0-9.]+)$", got.stdout, re.M)
    if got.returncode or not said:
        raise RuntimeError(f"{words}: {got.stderr.decode()[-300:]}")
    program = sum(map(float, said[-1]))
    if words and words[0] == UNITRACE:  # what comes after the program is no cost of recording
        reading = re.search(rb"reading them took ([0-9.]+) (ns|us|ms|s) of CPU", got.stderr)
        if not reading:
            raise RuntimeError(f"{words}: --debug=session does not report the cost of reading")
        both = program + float(reading[1]) * {b"ns": 1e-6, b"us": 1e-3, b"ms": 1, b"s": 1e3}[reading[2]]
    return program, both - program


def compare(title, ways, command, folder):
    """Prints what each way adds to the program's CPU time, and takes itself; its added share."""
    got = {way: [] for way in ways}
    for _ in range(ROUNDS):
        for way in random.sample(list(got), len(got)):
            try:
                got[way].append(run([*ways[way], *command], folder))
            except RuntimeError as e:
                if "unitrace" in way or way == "alone":
                    raise
                harness.left_out(way, f"it failed: {str(e)[-80:]}")
                del got[way]
    bare = statistics.median(p for p, _ in got["alone"])
    print(f"{title}: {bare:.0f} ms of CPU time alone, median of {ROUNDS}")
    added = {}
    for way, pairs in got.items():
        program = statistics.median(p for p, _ in pairs) / bare - 1
        beside = statistics.median(b for _, b in pairs) / bare if way != "alone" else 0
        added[way] = program + beside
        if way != "alone":
            print(f"  {way:34} {100 * program:+6.2f}% in the program {100 * beside:+6.2f}% beside "
                  f"{100 * added[way]:+6.2f}% together")
    return added


def ours(hz, *more):
    return [UNITRACE, "--debug=session", f"--sampling={hz}", *more, "--no-summary", "-o", "ours.utr",
            "--overwrite"]


def tool(name, where):
    """A tool of others: installed, or in the tests' environment."""
    found = shutil.which(name) or shutil.which(name, path=str(BUILD / "venv/bin"))
    if not found:
        harness.left_out(name, f"not installed: {where}")
    return found


def record(folder):
    ways = {"alone": [], "unitrace, 1 kHz": ours(1000), "unitrace, 10 kHz": ours(10000),
            "unitrace, 1 kHz, timers": ours(1000, "--sampling-by", "timer"),
            "unitrace, 1 kHz, waits": ours(1000, "--sampling-waits")}
    perf = tool("perf", "linux-perf")
    if perf:
        base = [perf, "record", "-q", "-B", "-N", "-o", "perf.data"]
        ways["perf record -g, 1 kHz"] = [*base, "-F", "1000", "-g"]
        ways["perf record --call-graph dwarf, 1 kHz"] = [*base, "-F", "1000", "--call-graph", "dwarf"]
        ways["perf record -g, 10 kHz"] = [*base, "-F", "10000", "-g"]
    samply = tool("samply", "Debian from forky on")
    if samply:
        ways["samply record, 1 kHz"] = [samply, "record", "--save-only", "-r", "1000", "-o", "samply.json", "--"]
    added = compare("eight busy threads", ways, [BUSY, "8", WORK], folder)
    if perf:
        print(f"  to perf record -g at 1 kHz: "
              f"{added['unitrace, 1 kHz'] / max(added['perf record -g, 1 kHz'], 1e-3):.2f}x")


def record_budget(folder):
    ways = {"alone": [], "unitrace, 1 kHz": ours(1000)}
    perf = tool("perf", "linux-perf")
    if perf:
        ways["perf record -g, 1 kHz"] = [perf, "record", "-q", "-B", "-N", "-o", "perf.data", "-F", "1000", "-g"]
    compare("eight busy threads", ways, [BUSY, "8", WORK], folder)


def record_python(folder):
    script = pathlib.Path(folder) / "work.py"
    script.write_text(PYTHON_WORK)
    ways = {"alone": [], "unitrace, 1 kHz": ours(1000), "unitrace, 100 Hz": ours(100)}
    spy = tool("py-spy", "PyPI")
    if spy:
        for hz in (100, 1000):
            ways[f"py-spy record, {hz} Hz"] = [spy, "record", "-r", hz, "-o", "spy.raw", "-f", "raw",
                                               "--"]
    compare("a Python program", ways, [sys.executable, script], folder)
    scalene = tool("scalene", "PyPI")
    if scalene:  # it takes the script's name, and runs it in its own process
        with_it = [scalene, "run", "--cpu-only", "-o", "scalene.json"]
        compare("the same, under scalene (100 Hz)", {"alone": [sys.executable], "scalene": with_it}, [script], folder)


HEAD = struct.Struct("<II")
SAMPLE = 6


def repeat_samples(path, wanted):
    """The samples of a file, repeated until there are so many. How many there were."""
    data = path.read_bytes()
    at = struct.unpack_from("<I", data, 12)[0]
    samples = []
    while at + 8 <= len(data):
        kind, size = HEAD.unpack_from(data, at)
        if size < 8 or at + size > len(data):
            break
        if kind == SAMPLE:
            samples.append(data[at:at + size])
        at += size
    last = max(struct.unpack_from("<Q", s, 8)[0] for s in samples)
    first = min(struct.unpack_from("<Q", s, 8)[0] for s in samples)
    with open(path, "ab") as f:
        for turn in range(1, wanted // len(samples) + 1):
            shift = turn * (last - first + 1000)
            f.write(b"".join(s[:8] + struct.pack("<Q", struct.unpack_from("<Q", s, 8)[0] + shift)
                             + s[16:] for s in samples))
    return len(samples)


def read(folder):
    if harness.TINY:  # PyTorch alone takes seconds to start
        program = [BUSY, "1", "400"]
    else:
        python = BUILD / "venv/bin/python"
        if not python.exists() or subprocess.run([python, "-c", "import torch"], capture_output=True,
                                                 check=False).returncode:
            harness.left_out("reading", "PyTorch is not in build/venv: tools/setup.sh test")
            return
        program = [python, "train.py"]
        (pathlib.Path(folder) / "train.py").write_text(TORCH)
    subprocess.run([UNITRACE, "--sampling=2000", "--keep-session", "--quiet", "-o", "t.utr", *program],
                   cwd=folder, check=True, capture_output=True)
    session = next(pathlib.Path(folder).glob("*.session"))
    cpu = max(session.glob("*.cpu"), key=lambda p: p.stat().st_size)
    before = repeat_samples(cpu, SAMPLES)
    start, used = time.monotonic(), cpu_of_children()
    got = subprocess.run([UNITRACE, "hotspots", session], cwd=folder, capture_output=True, check=False)
    took, used = time.monotonic() - start, cpu_of_children() - used
    if got.returncode:
        raise RuntimeError(got.stderr.decode())
    print(f"{SAMPLES} samples (from {before}): {used / 1e3:.2f} s of CPU time, "
          f"{took:.2f} s elapsed until the report is there; at most 3 s are wanted")


PARTS = {"threads": record, "budget": record_budget, "python": record_python, "read": read}


def main():
    parts = sys.argv[1:] or [part for part in PARTS if part != "budget"]
    if not set(parts) <= set(PARTS):
        print(__doc__)
        return 2
    harness.need(BUSY)
    with tempfile.TemporaryDirectory() as folder:
        try:
            run(ours(1000) + [BUSY, "1", "10"], folder)
        except RuntimeError as e:
            harness.skip(f"sampling does not work here: {str(e)[-200:]}")
        for part in parts:
            PARTS[part](folder)
    return 0


if __name__ == "__main__":
    sys.exit(main())
