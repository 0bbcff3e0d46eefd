#!/usr/bin/env python3
"""Python programs in which more goes on: threads in the middle of calls, debuggers, coverage."""
import os
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from common import to_ns
from test_python import PACKAGE, PYTHON, PYTHONS, PythonCase, environment, main


class EachPython(PythonCase):
    def each(self, check, text, *options):
        """Profiles a script with every interpreter: check(version, trace)."""
        for version, python in PYTHONS.items():
            with self.subTest(version):
                trace = self.profile(text, *options, python=python)
                check(tuple(map(int, version.split("."))), trace)

    def tree(self, trace, file="script.py"):
        """[(depth, name)] of a file's functions and lines and of the C functions that they call."""
        spans = sorted((s for s in trace.spans if s.cat.startswith("Python")
                        and s.args.get("file", file).endswith(file)),
                       key=lambda s: (s.begin, -s.end))
        around, found = [], []
        for span in spans:
            while around and span.begin >= around[-1].end:
                around.pop()
            found.append((len(around), span.name.rsplit(".", 1)[-1]))
            around.append(span)
        return found


class OtherThreads(EachPython):
    TEXT = """
import threading
import unitrace
start, inside, go_on, outside = (threading.Barrier(2) for _ in range(4))
def outer(n):
    if n:
        outer(n - 1)
        return
    inside.wait()
    go_on.wait()
    unseen()
    if BAD: raise ValueError
def unseen(): pass
def run():
    for _ in range(3):
        start.wait()
        try:
            outer(1)
        except ValueError:
            pass
        outside.wait()
worker = threading.Thread(target=run, name="worker")
worker.start()
profiler = unitrace.Profiler()
for _ in range(3):
    profiler.enable()
    start.wait()
    inside.wait()
    profiler.disable()
    go_on.wait()
    outside.wait()
    unitrace.marker("pause")
worker.join()
"""

    def test_calls_that_are_open_when_profiling_stops_end_when_they_end(self):
        def check(_, trace):
            calls = [s for s in trace.spans if s.name == "outer"]
            pauses = [to_ns(e["ts"]) for e in trace.instants if e["name"] == "pause"]
            self.assertEqual((len(calls), len(pauses)), (6, 3))
            self.assertFalse([s for s in calls if any(s.begin < p < s.end for p in pauses)])
            self.assertFalse([s for s in calls if s.unfinished])
            self.assertFalse(trace.named("unseen"))
            self.assertFalse(trace.losses)
        for bad in ("False", "True"):
            self.each(check, self.TEXT.replace("BAD", bad), "--python-partial")


class OtherTools(EachPython):
    TRACED = """
import sys
from unitrace import Profiler
seen = []
def mine(frame, event, arg):
    if frame.f_code.co_name == "f": seen.append(event)
    return mine
def f():
    return len("abc")
sys.{install}(mine)
with Profiler():
    f()
print(sys.{look}() is mine, "call" in seen, "return" in seen)
sys.{install}(None)
"""

    def test_a_debugger_or_coverage_keeps_its_place_and_functions_are_recorded(self):
        for install, look, options in (("settrace", "gettrace", ()),
                                       ("settrace", "gettrace", ("--python-lines",)),
                                       ("setprofile", "getprofile", ("--python-c-calls",))):
            def check(version, trace):
                self.assertEqual(self.printed, "True True True\n")
                self.assertIn((0, "f"), self.tree(trace))
                left_out = version < (3, 12) and options  # pylint: disable=cell-var-from-loop
                self.assertEqual("another tool" in self.said, bool(left_out), self.said)
            self.each(check, self.TRACED.format(install=install, look=look), "--python-partial",
                      *options)

    def test_what_the_program_gives_threading_is_kept(self):
        def check(*_):
            self.assertEqual(self.printed, "True True\n")
        self.each(check, """
import threading
from unitrace import Profiler
def mine(frame, event, arg): pass
def f(): pass
threading.settrace(mine); threading.setprofile(mine)
with Profiler(): f()
print(threading._trace_hook is mine, threading._profile_hook is mine)
""", "--python-partial", "--python-lines", "--python-c-calls")


class Coroutines(EachPython):
    def test_tasks_of_a_programs_own_making(self):
        def check(version, trace):
            self.assertEqual(self.printed, "1\n2\n")
            tasks = [s.name for s in trace.overlapped if s.cat == "asyncio"]
            self.assertEqual(tasks.count("eager"), 1)
            self.assertEqual(tasks.count("odd"), 1)
        self.each(check, """
import asyncio
async def eager(): return 1
async def odd(): return 2
def result_of(coroutine):
    try:
        coroutine.send(None)
    except StopIteration as end:
        return end.value
class Odd(asyncio.Future):
    def set_name(self, _): pass
def make_future(loop, coroutine, **_):
    future = Odd(loop=loop)
    loop.call_soon(future.set_result, result_of(coroutine))
    return future
async def main():
    loop = asyncio.get_running_loop()
    loop.set_task_factory(getattr(asyncio, "eager_task_factory", None))
    print(await loop.create_task(eager()))
    loop.set_task_factory(make_future)
    print(await loop.create_task(odd()))
    loop.set_task_factory(None)
asyncio.run(main())
""")

    def test_a_task_that_is_refused_has_the_same_traceback(self):
        text = """
import asyncio
async def nothing(): pass
asyncio.run(nothing())
asyncio.new_event_loop().create_task(5)
"""
        for version, python in PYTHONS.items():
            with self.subTest(version):
                script = self.write("script.py", text)
                wanted = self.run_words(python, "-X", "dev", script)
                got = self.unitrace("--python", "--no-summary", "--quiet", python, "-X", "dev", script)
                self.assertEqual((got.returncode, got.stderr.decode()), (1, wanted.stderr.decode()))

    def test_decorators_last_as_long_as_what_they_decorate(self):
        def check(_, trace):
            self.assertEqual(self.printed, "3\n[1, 2]\n")
            self.assertEqual([len(trace.named(n)) for n in ("coroutine", "numbers", "inner")], [2, 3, 4])
            for name, inside in (("whole", "coroutine"), ("all", "numbers")):
                around = [s for s in trace.spans + trace.overlapped if s.name == name]
                self.assertEqual(len(around), 1)
                self.assertGreaterEqual(around[0].end, trace.named(inside)[-1].begin)
            self.assertFalse(trace.losses)
        self.each(check, """
import asyncio, unitrace
def inner(): pass
@unitrace.range("whole")
@unitrace.Profiler()
async def coroutine():
    inner()
    await asyncio.sleep(0)
    inner()
    return 3
@unitrace.range("all")
@unitrace.Profiler()
def numbers():
    inner()
    yield 1
    inner()
    yield 2
print(asyncio.run(coroutine()))
print(list(numbers()))
""", "--python-partial")


class LinesAndCCalls(EachPython):
    def test_together_and_nothing_of_ours(self):
        def check(_, trace):
            self.assertEqual(self.tree(trace), [(0, "f"), (1, "f:4"), (2, "len"), (1, "f:5")])
            files = {os.path.basename(s.args.get("file", "script.py")) for s in trace.spans}
            self.assertEqual(files, {"script.py"})
        self.each(check, """
from unitrace import Profiler
def f():
    n = len("abc")
    return n
with Profiler():
    f()
""", "--python-partial", "--python-lines", "--python-c-calls")

    def test_c_calls_of_what_is_left_out_are_left_out(self):
        def check(_, trace):
            self.assertEqual(self.tree(trace)[-4:],
                             [(1, "f"), (2, "sorted"), (3, "key"), (3, "key")])
        self.write("low.py", "def low(x):\n    return sorted([x])\n")
        self.each(check, """
import low
def key(x):
    return low.low(x)
def f():
    sorted([2, 1], key=key)
f()
""", "--python-c-calls", "--python-modules", "__main__")

    def test_the_interpreters_start_calls_nothing(self):
        def check(_, trace):
            first = min(trace.spans, key=lambda s: s.begin)
            self.assertEqual((first.name, first.args.get("file")),
                             ("<module>", str(self.dir / "script.py")))
        self.each(check, "def f(): pass\nf()\n", "--python-c-calls")


class Processes(PythonCase):
    def test_the_first_that_has_something_to_show_gets_the_name(self):
        inner = "import unitrace\nwith unitrace.range('inner'): pass"
        trace = self.profile(f"import subprocess, sys\nsubprocess.run([sys.executable, '-c', {inner!r}])\n",
                             "--python-partial")
        trace.one("inner")
        self.assertEqual([p.name for p in self.timelines()], ["out.json"])


class Operators(PythonCase):
    def table(self):
        return self.run_words(PYTHON, "-m", "unitrace.op_table", "out.json",
                              env=environment(PYTHONPATH=str(PACKAGE)))

    def test_a_trace_without_any_is_reported(self):
        self.profile("def f(): pass\nf()\n")
        got = self.table()
        self.assertEqual(got.returncode, 0)
        self.assertIn(b"out.json: no operators of PyTorch; record them with", got.stderr)

    def test_what_libraries_and_python_do_inside_is_the_operators_own_time(self):
        trace = self.profile("""
import unitrace
def python():
    with unitrace.range("aten::inner", domain="PyTorch"): pass
with unitrace.range("aten::outer", domain="PyTorch"):
    with unitrace.range("convolution", domain="dnnl"):
        python()
""")
        got = self.table()
        self.assertEqual(got.stderr, b"")
        rows = {w[0]: w[1:] for w in map(str.split, got.stdout.decode().splitlines()) if w}
        outer, inner = trace.one("aten::outer"), trace.one("aten::inner")
        for name, own, total in (("aten::outer", outer.ns - inner.ns, outer.ns),
                                 ("aten::inner", inner.ns, inner.ns)):
            self.assertEqual(rows[name][0], "1")
            self.assertAlmostEqual(float(rows[name][1]) * 1e6, own, delta=501)
            self.assertAlmostEqual(float(rows[name][2]) * 1e6, total, delta=501)

    def test_operators_inside_their_like_count_once(self):
        trace = self.profile("""
import time, unitrace
with unitrace.range("aten::to", domain="PyTorch"):
    with unitrace.range("aten::to", domain="PyTorch"):
        time.sleep(0.002)
""")
        rows = {w[0]: w[1:] for w in map(str.split, self.table().stdout.decode().splitlines()) if w}
        outer = max(s.ns for s in trace.named("aten::to"))
        self.assertEqual(rows["aten::to"][0], "2")
        for column in (1, 2):  # self and total
            self.assertAlmostEqual(float(rows["aten::to"][column]) * 1e6, outer, delta=501)


if __name__ == "__main__":
    main()
