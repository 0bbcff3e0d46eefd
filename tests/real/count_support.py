"""Counts that are not ours to get wrong: what a program said, before the collector heard it.

count.c is built and loaded in the collector's place; it counts each call and passes it on. A test
then compares its counts with the timelines of the same run: all that was said is there, under its
name and in its domain, and nothing else.
"""
import collections
import struct
import sys

from real_support import COLLECTOR, HERE, UNITRACE, Case, missing_module, skip, venv

SLOT = struct.Struct("<QQ1008s")  # struct slot of count.c
SOURCE = HERE.parents[1]
PACKAGES = HERE / "packages"
TASKS = ("task_begin", "task_begin_ex")
ASYNCS = ("task_begin_overlapped", "task_begin_overlapped_ex", "region_begin")
FRAMES = ("frame_begin_v3", "frame_submit_v3")
ELSEWHERE = {"event", "OpenMP", "OpenCL", "kernel"}  # not tasks: checked apart, or of the backend


def packages():
    """The folder of programs of tools/setup.sh real."""
    return venv("venv-real", "real")


def real_python(module):
    """The python that has a package of tools/setup.sh real; the file is skipped without."""
    folder = packages()
    reason = missing_module(folder, module)
    if reason:
        skip(f"long: {reason} (tools/setup.sh real)")
    return folder / "python"


def keys(events):
    return collections.Counter((e["cat"], e["name"]) for e in events)


class Said:
    """What the shim counted, all processes together."""

    def __init__(self, paths):
        self.calls = {}
        for path in paths:
            for used, count, text in SLOT.iter_unpack(path.read_bytes()):
                if used:
                    function, domain, name = text.decode().split("\0")[:3]
                    counts = self.calls.setdefault(function, collections.Counter())
                    counts[domain, name] += count

    def of(self, *functions):
        """(domain, name) of every call to one of the functions, counted."""
        return sum((self.calls.get(f, collections.Counter()) for f in functions),
                   collections.Counter())

    def __str__(self):
        return ", ".join(f"{f} {c.total()}" for f, c in sorted(self.calls.items()))


class CountCase(Case):
    def count(self, *words, before=(), options=(), env=None):
        """Runs a program under unitrace, the shim in between: what it printed, what it said."""
        shim = self.compile("count.c", "-std=c17", "-D_GNU_SOURCE", "-shared", "-fPIC",
                            "-fvisibility=hidden", f"-I{SOURCE}/include", f"-I{SOURCE}/src/record", "-ldl",
                            compiler="gcc")
        got = self.run_in(
            *before, UNITRACE, "-o", "t.json", *options, "env", f"INTEL_LIBITTNOTIFY64={shim}",
            f"INTEL_JIT_PROFILER64={shim}", f"UT_COUNT_COLLECTOR={COLLECTOR}",
            f"UT_COUNT_INTO={self.dir}/count.", *words, env=env)
        self.assertEqual(got.returncode, 0, got.stderr.decode(errors="replace"))
        said = Said(self.dir.glob("count.*"))
        print(f"said: {said}", file=sys.stderr)
        return got.stdout.decode(), said

    def counted(self, *words, prints=None, **how):
        """The same; and everything that was said is in the timelines, which are handed back."""
        printed, said = self.count(*words, **how)
        # The last line: oneCCL writes its warnings there, too.
        self.assertEqual(printed.splitlines()[-1:], [prints] if prints else [])
        traces = self.traces()
        for trace in traces:
            self.check(trace)
            self.assertEqual([p["losses"] for p in trace.other["processes"] if "losses" in p], [])
        self.check_tasks(said, traces)
        self.check_asyncs(said, traces)
        self.check_frames(said, traces)
        self.check_events(said, traces)
        self.check_compiled(said, traces)
        self.check_metadata(said, traces)
        return said, traces

    def check_tasks(self, said, traces):
        self.assertEqual(keys(e for t in traces for e in t.slices if e["cat"] not in ELSEWHERE),
                         said.of(*TASKS))

    def check_asyncs(self, said, traces):
        self.assertEqual(keys(e for t in traces for e in t.events
                              if e["ph"] == "b" and e["cat"] != "event"), said.of(*ASYNCS))

    def check_frames(self, said, traces):
        """Those of libomp, the only ones here; the one that ends a region is no second slice."""
        self.assertEqual(collections.Counter(e["name"] for t in traces for e in t.slices
                                             if e["cat"] == "OpenMP"),
                         collections.Counter(domain for domain, _ in said.of(*FRAMES).elements()
                                             if "$omp$barrier" not in domain))

    def check_events(self, said, traces):
        found = [e for t in traces for e in t.events if e["ph"] in "Xb" and e["cat"] == "event"]
        self.assertEqual(len(found), said.of("event_start").total())

    def check_compiled(self, said, traces):
        self.assertEqual(keys(e for t in traces for e in t.instants if e["cat"] == "jit"),
                         collections.Counter(("jit", n) for _, n in said.of("jit_load").elements()))

    def check_metadata(self, said, traces):
        """Arguments of what they were added to, key by key; libomp's have names of ours."""
        added = collections.Counter(
            {key: n for key, n in said.of("metadata_add", "metadata_str_add").items()
             if key[0] != "OMP Metadata"})
        found = collections.Counter((e["cat"], name) for t in traces for e in t.events
                                    if e["ph"] in "Xb" for name in e.get("args", {}))
        self.assertEqual({key: found[key] for key in added}, dict(added))
