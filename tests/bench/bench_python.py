"""What profiling a Python program costs, beside other profilers, in one run.

Every figure is a ratio: CPU time of the workload with the profiler on to that without, both in the
same process; the median of several processes, in mixed order, so that a busy machine hurts everybody
alike. Only recording is measured, not the writing of results afterwards.

    UNITRACE_PYTHONS=python3.11:python3.12 python3 tests/bench/bench_python.py

measures several interpreters; each needs the extension in the build (UT_PYTHONS) and, to be compared,
viztracer and pyinstrument. What is missing is said.
"""
import collections
import os
import pathlib
import random
import statistics
import subprocess
import sys
import tempfile
import time

import harness
from harness import UNITRACE

ROUNDS = harness.size(5, 1, "ROUNDS")
WORKLOADS = ("fib", "mix")

# ---- in the measured process ------------------------------------------------------------------


def fib(n):
    return n if n < 2 else fib(n - 1) + fib(n - 2)


def make_mix():
    """Pure Python work of the standard library: tokens, syntax trees, diffs, JSON, text."""
    import argparse
    import ast
    import difflib
    import io
    import json.encoder
    import pprint
    import textwrap
    import tokenize
    text = pathlib.Path(argparse.__file__).read_text()
    small = text[:30000]
    tree = ast.parse(small[:small.rindex("\nclass ")])
    lines = text.splitlines()[:230]
    other = [w.replace("self", "this") if i % 7 == 0 else w for i, w in enumerate(lines) if i % 11]
    data = [{"id": i, "name": f"n{i}", "v": [i * .5, None, True, {"k": "x" * (i % 9)}]}
            for i in range(120)]
    encode = json.encoder.JSONEncoder(indent=1).encode  # with indent it is the one in Python

    def mix():
        for _ in range(harness.size(3, 1)):
            sum(len(t.string) for t in
                tokenize.generate_tokens(io.StringIO(small[:12000]).readline))
            ast.unparse(tree)
            "\n".join(difflib.unified_diff(lines, other))
            encode(data)
            pprint.pformat(data[:15])
            textwrap.fill(small[:3000], 60)
    return mix


def zone_handler():
    """A line handler in Python that does what Tenstorrent's does: names a zone per line."""
    zones, stack = [], []

    def handler(frame, event, _):
        code = frame.f_code
        if event == "call":
            stack.append("call")
            zones.append((time.perf_counter_ns(), code.co_filename, f"PY_FUNC_{code.co_name}",
                          frame.f_lineno))
        elif event == "line":
            if stack and stack[-1] == "line":
                zones.append(time.perf_counter_ns())
            else:
                stack.append("line")
            zones.append((time.perf_counter_ns(), code.co_filename, f"PY_LINE_{code.co_name}",
                          frame.f_lineno))
        elif event == "return":
            while stack and stack.pop() == "line":
                zones.append(time.perf_counter_ns())
            zones.append(time.perf_counter_ns())
        return handler
    return lambda: sys.settrace(handler), lambda: (sys.settrace(None), zones.clear())


def switches(way):
    """(on, off) of a profiler."""
    if way.startswith("unitrace"):
        import unitrace
        profiler = unitrace.Profiler()
        assert unitrace.recording()
        return profiler.enable, profiler.disable
    if way.startswith("viztracer"):
        from viztracer import VizTracer
        tracer = VizTracer(verbose=0, tracer_entries=4_000_000,
                           ignore_c_function="C calls" not in way)
        return tracer.start, lambda: (tracer.stop(), tracer.clear())
    if way == "cProfile":
        import cProfile
        profile = cProfile.Profile()
        return profile.enable, profile.disable
    if way == "pyinstrument":
        from pyinstrument import Profiler
        profiler = Profiler()
        return profiler.start, profiler.stop
    if way.startswith("settrace"):
        return zone_handler()
    return (lambda: None), (lambda: None)


def measure(way, workload):
    import gc
    run = make_mix() if workload == "mix" else lambda: fib(harness.size(26, 12) if "line" not in way else harness.size(22, 12))
    on, off = switches(way)

    def timed(on, off):
        start = time.thread_time_ns()
        on()
        run()
        off()
        return time.thread_time_ns() - start

    run()
    gc.collect()
    gc.disable()
    none = [timed(lambda: None, lambda: None) for _ in range(2)]
    # Once: a second time some profilers use the memory of the first again, and others go on.
    with_it = timed(on, off)
    none.append(timed(lambda: None, lambda: None))
    print(with_it / min(none))


# ---- outside ----------------------------------------------------------------------------------

WAYS = {
    "none": [],
    "unitrace, Python calls": ["--python-partial"],
    "unitrace, a module left out": ["--python-partial", "--python-exclude-modules", "__main__"],
    "unitrace, Python and C calls": ["--python-partial", "--python-c-calls"],
    "viztracer, Python calls": [],
    "viztracer, Python and C calls": [],
    "cProfile": [],
    "pyinstrument": [],
    "unitrace, lines": ["--python-partial", "--python-lines"],
    "settrace, lines, zones in Python": [],
}


def command(python, way, workload):
    words = [python, __file__, "--measure", way, workload]
    if way.startswith("unitrace"):
        return [UNITRACE, "--quiet", "--overwrite", "-o", "out.pftrace", *WAYS[way], *words]
    return words


def version_of(python):
    done = subprocess.run([python, "-c", "import sys; print('%d.%d' % sys.version_info[:2])"],
                          capture_output=True, text=True, check=False)
    return done.stdout.strip()


def measure_all(python, folder):
    ratios, missing = collections.defaultdict(list), {}
    for _ in range(ROUNDS):
        cells = [(way, workload) for way in WAYS for workload in WORKLOADS if way not in missing]
        random.shuffle(cells)
        for way, workload in cells:
            done = subprocess.run([str(w) for w in command(python, way, workload)], cwd=folder,
                                  capture_output=True, text=True, check=False)
            if done.returncode:
                missing[way] = (done.stderr.strip().splitlines() or ["?"])[-1]
            else:
                ratios[way, workload].append(float(done.stdout))
    return ratios, missing


def report(version, ratios, missing):
    print(f"Python {version}: CPU time, profiled to not profiled, median of {ROUNDS}")
    for way in WAYS:
        if way in missing:
            print(f"  {way:34} missing: {missing[way]}")
            continue
        cells = [f"{workload} {statistics.median(ratios[way, workload]):6.2f}" for workload in WORKLOADS]
        print(f"  {way:34} {'   '.join(cells)}")


def compare(ratios, missing):
    """Added cost, ours to theirs."""
    pairs = [("unitrace, Python calls", "viztracer, Python calls"),
             ("unitrace, Python and C calls", "viztracer, Python and C calls"),
             ("unitrace, Python calls", "cProfile"),
             ("unitrace, lines", "settrace, lines, zones in Python")]
    for ours, theirs in pairs:
        if ours in missing or theirs in missing:
            continue
        shares = [(statistics.median(ratios[ours, w]) - 1) / (statistics.median(ratios[theirs, w]) - 1)
                  for w in WORKLOADS]
        cells = "   ".join(f"{w} {s:6.2f}" for w, s in zip(WORKLOADS, shares))
        print(f"  added cost of {ours} / {theirs}: {cells}")


def main():
    harness.need()
    pythons = os.environ.get("UNITRACE_PYTHONS", sys.executable).split(":")
    with tempfile.TemporaryDirectory() as folder:
        for python in pythons:
            ratios, missing = measure_all(python, folder)
            report(version_of(python), ratios, missing)
            compare(ratios, missing)
    return 0


if __name__ == "__main__":
    if sys.argv[1:2] == ["--measure"]:
        sys.path.pop(0)
        measure(*sys.argv[2:])
    else:
        sys.exit(main())
