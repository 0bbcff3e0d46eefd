#!/usr/bin/env python3
"""Python programs: profiled whole and in part, with every kind of call, and otherwise unchanged."""
# ci: labels slow
import os
import pathlib
import signal
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "python"))
from python_support import PACKAGE, PATIENCE, Case, Trace, environment, main, need_python

PYTHONS = need_python()
PYTHON = next(iter(PYTHONS.values()))
PLAIN = dict(PYTHONPATH="", PYTHONDONTWRITEBYTECODE="1", PATH=os.environ["PATH"])


class PythonCase(Case):
    def write(self, name, text):
        path = self.dir / name
        path.write_text(text)
        return path

    def profile(self, text, *options, rc=0, python=PYTHON, args=(), env=None):
        """Runs a script under unitrace --python; its one timeline."""
        script = self.write("script.py", text)
        got = self.unitrace("--no-summary", "-o", "out.json", "--overwrite", *(options or ["--python"]),
                            python, script, *args, env=environment(**(env or PLAIN)))
        self.assertEqual(got.returncode, rc, got.stderr.decode())
        self.said = got.stderr.decode()
        self.printed = got.stdout.decode()
        return Trace(self.dir / "out.json")

    def functions(self, trace, cat="Python"):
        """Names of the functions of the script itself."""
        return [s.name for s in trace.spans if s.cat == cat
                and s.args.get("file", "").endswith("script.py")]


CALLS = """
import threading
def leaf():
    return 1
def numbers(n):
    for i in range(n):
        yield i
class Thing:
    def method(self):
        try:
            self.bad()
        except ValueError:
            leaf()
    def bad(self):
        raise ValueError
def deep(n):
    return leaf() if n == 0 else deep(n - 1)
def main():
    list(numbers(2))
    Thing().method()
    deep(2)
main()
"""


class Whole(PythonCase):
    def test_every_function_with_its_file_and_line(self):
        for version, python in PYTHONS.items():
            with self.subTest(version):
                trace = self.profile(CALLS, python=python)
                last = [n.rsplit(".", 1)[-1] for n in self.functions(trace)]
                self.assertEqual(last, ["<module>", "Thing", "main", "numbers", "numbers", "numbers",
                                        "method", "bad", "leaf", "deep", "deep", "deep", "leaf"])
                main_span = trace.one("main")
                self.assertEqual(main_span.args, {"file": str(self.dir / "script.py"), "line": 18})
                self.assertFalse(trace.losses)

    def test_beside_what_chooses_domains_of_libraries(self):
        for option in "--chrome-mpi-logging", "--chrome-ccl-logging", "--chrome-dnn-logging":
            trace = self.profile("def f(): pass\nf()\n", "--python", option)
            self.assertIn("f", self.functions(trace), option)

    def test_only_the_program_not_the_start_of_the_interpreter(self):
        for version, python in PYTHONS.items():
            with self.subTest(version):
                trace = self.profile("print(1)", python=python)
                first = min(trace.spans, key=lambda s: s.begin)  # behind it: threading's end
                self.assertEqual((first.name, first.args["file"]),
                                 ("<module>", str(self.dir / "script.py")))

    def test_threads_have_their_calls_and_names(self):
        for version, python in PYTHONS.items():
            with self.subTest(version):
                trace = self.profile("""
import threading
def work(): pass
threads = [threading.Thread(target=work, name=f"worker {i}") for i in range(3)]
for t in threads: t.start()
for t in threads: t.join()
""", python=python)
                spans = trace.named("work")
                self.assertEqual(len(spans), 3)
                self.assertEqual({trace.thread_names()[s.tid] for s in spans},
                                 {"worker 0", "worker 1", "worker 2"})

    def test_threads_that_are_started_without_threading(self):
        for version, python in PYTHONS.items():
            with self.subTest(version):
                trace = self.profile("""
import _thread
def work(lock): lock.release()
locks = [_thread.allocate_lock() for _ in range(3)]
for lock in locks:
    lock.acquire()
    _thread.start_new_thread(work, (lock,))
for lock in locks: lock.acquire()
""", python=python)
                self.assertEqual(len(trace.named("work")), 3)

    def test_coroutines_nest_step_by_step(self):
        trace = self.profile("""
import asyncio
async def child(n):
    await asyncio.sleep(0)
    return n
async def main():
    await asyncio.gather(child(1), child(2))
asyncio.run(main())
""")
        self.assertEqual(len(trace.named("child")), 4)
        self.assertFalse(trace.losses)

    def test_tasks_of_asyncio_are_overlapping_spans(self):
        for version, python in PYTHONS.items():
            with self.subTest(version):
                trace = self.profile("""
import asyncio
async def child(n):
    await asyncio.sleep(0.01 * n)
    return n
async def main():
    first = asyncio.create_task(child(1), name="first")
    print(await asyncio.gather(first, child(2)))
asyncio.run(main())
""", python=python)
                self.assertEqual(self.printed, "[1, 2]\n")
                tasks = [s for s in trace.overlapped if s.cat == "asyncio"
                         and not s.name.startswith("BaseEventLoop")]
                self.assertEqual(sorted(s.name for s in tasks), ["child", "child", "main"])
                first, = (s for s in tasks if s.args.get("task") == "first")
                main_task, = (s for s in tasks if s.name == "main")
                self.assertEqual(first.name, "child")
                self.assertLess(first.end, main_task.end)
                self.assertFalse(trace.losses)

    def test_watching_tasks_adds_no_calls_to_those_of_the_loop(self):
        """As many as Python's own hook counts when nobody watches."""
        program = """
import asyncio
async def child(n):
    await asyncio.sleep(0)
async def main():
    for n in range(5): await asyncio.create_task(child(n))
    await asyncio.gather(*map(child, range(5)))
"""
        counting = """
import collections, sys
counts = collections.Counter()
def count(frame, event, _):
    if event == "call" and "asyncio" in frame.f_code.co_filename:
        counts[frame.f_code.co_name] += 1
loop = asyncio.new_event_loop()
sys.setprofile(count)
loop.run_until_complete(main())
sys.setprofile(None)
for name in ("call_soon", "_call_soon", "_run", "_run_once"): print(name, counts[name])
"""
        for version, python in PYTHONS.items():
            with self.subTest(version):
                wanted = subprocess.run([python, "-c", program + counting], check=True,
                                        capture_output=True, text=True, timeout=PATIENCE).stdout
                trace = self.profile(program + """
loop = asyncio.new_event_loop()
loop.run_until_complete(main())
""", python=python)
                got = [f"{name} {sum(s.name.split('.')[-1] == name for s in trace.spans)}\n"
                       for name in ("call_soon", "_call_soon", "_run", "_run_once")]
                self.assertEqual("".join(got), wanted)

    def test_c_functions_on_request(self):
        text = "def f():\n    return len(sorted([3, 1]))\nf()\n"
        self.assertNotIn("Python C call", {s.cat for s in self.profile(text).spans})
        for version, python in PYTHONS.items():
            with self.subTest(version):
                trace = self.profile(text, "--python-c-calls", python=python)
                f = trace.one("f")
                inside = [s.name for s in trace.spans if s.cat == "Python C call"
                          and f.begin <= s.begin <= f.end]
                self.assertEqual(inside, ["builtins.sorted", "builtins.len"])

    def test_forked_children_go_on_where_their_parent_was(self):
        script = self.write("script.py", """
import os
def child(): pass
def parent():
    pid = os.fork()
    if pid == 0:
        child()
    else:
        os.waitpid(pid, 0)
parent()
""")
        got = self.unitrace("--python", "--no-summary", PYTHON, script, env=environment(**PLAIN))
        self.assertEqual(got.returncode, 0, got.stderr.decode())
        traces = self.traces()
        self.assertEqual(len(traces), 2)
        forked = next(t for t in traces if t.named("child"))
        for trace in traces:
            self.assertFalse(trace.losses)
            self.assertEqual(len(trace.named("parent")), 1)
        self.assertLessEqual(forked.one("parent").begin, forked.one("child").begin)

    def test_processes_of_multiprocessing(self):
        for way in ("fork", "spawn"):
            with self.subTest(way):
                for old in self.timelines():
                    old.unlink()
                script = self.write("script.py", f"""
import multiprocessing
def work(n): return n + 1
if __name__ == "__main__":
    with multiprocessing.get_context("{way}").Pool(2) as pool:
        print(sum(pool.map(work, range(10), chunksize=1)))
""")
                got = self.unitrace("--python", "--no-summary", PYTHON, script,
                                    env=environment(**PLAIN))
                self.assertEqual(got.stdout, b"55\n", got.stderr.decode())
                self.assertEqual(sum(len(t.named("work")) for t in self.traces()), 10)

    def test_what_was_recorded_survives_a_kill(self):
        trace = self.profile("""
import os, signal
def before(): pass
def end(): os.kill(os.getpid(), signal.SIGKILL)
for _ in range(1000): before()
end()
""", rc=-signal.SIGKILL)
        self.assertEqual(len(trace.named("before")), 1000)
        self.assertTrue(trace.one("end").unfinished)

    def test_a_name_of_any_characters(self):
        trace = self.profile('exec(compile("def été(): pass\\nété()", "<a \\\\udc80 file>", "exec"))')
        self.assertEqual(trace.one("été").args["file"], "<a \\udc80 file>")

    def test_compiling_the_same_again_and_again_does_not_grow(self):
        self.profile("""
import os
def size():
    with open("/proc/self/statm") as f:
        return int(f.read().split()[1])
def turn(n):
    for _ in range(n):
        space = {}
        exec("def again(): pass\\nagain()", space)
turn(2000)
before = size()
turn(20000)
print((size() - before) * 4)
""")
        self.assertLess(int(self.printed), 4000, "KiB grown")

    def test_a_subinterpreter_does_no_harm(self):
        for version, python in PYTHONS.items():
            with self.subTest(version):
                trace = self.profile("""
try:
    import _xxsubinterpreters as sub
except ImportError:
    import _interpreters as sub
def f(): pass
i = sub.create()
sub.run_string(i, "import json, unitrace\\ndef g(): pass\\ng()\\nwith unitrace.range('r'): pass")
sub.destroy(i)
f()
""", python=python)
                self.assertEqual(len(trace.named("f")), 1)
                self.assertFalse(trace.losses)


class Part(PythonCase):
    TEXT = """
from unitrace import Profiler
def child_function_1(): pass
def child_function_2():
    x = 1
    return x
def function_under_test():
    child_function_1()
    child_function_2()
def unseen(): pass
unseen()
profiler = Profiler()
profiler.enable()
function_under_test()
profiler.disable()
unseen()
with Profiler():
    child_function_1()
@Profiler()
def decorated(): pass
decorated()
unseen()
"""

    def test_programs_for_tenstorrents_profiler_need_no_change(self):
        text = self.TEXT.replace("from unitrace import", "from tracy import")
        self.assertEqual(self.functions(self.profile(text, "--python-partial")),
                         ["function_under_test", "child_function_1", "child_function_2",
                          "child_function_1", "decorated"])

    def test_tracys_own_command_runs_the_program(self):
        (self.dir / "s.py").write_text("import sys\ndef work():\n    return 7\n"
                                       "print(sys.argv, __name__, work())\nsys.exit(5)\n")
        for words in ([], ["--python"]):
            got = self.unitrace(*words, "-o", "run.json", "--overwrite", sys.executable, "-m", "tracy", "s.py", "a", "-b")
            self.assertEqual((got.returncode, got.stdout), (5, b"['s.py', 'a', '-b'] __main__ 7\n"), got.stderr)
            self.assertEqual(b"not recorded without --python" in got.stderr, not words)
        self.assertTrue(Trace(self.dir / "run.json").one("work"))
        got = self.unitrace("--python", "-o", "m.json", sys.executable, "-m", "tracy", "-pr", "-o", "out", "-m", "s", "x")
        self.assertEqual(got.returncode, 5, got.stderr)
        self.assertRegex(got.stdout, rb"s\.py', 'x'\] __main__ 7\n$")
        self.assertIn(b"its options -p -r -o out have no effect", got.stderr)
        (self.dir / "wrong.py").write_text("1 / 0\n")
        got = self.unitrace("-o", "w.json", sys.executable, "-m", "tracy", "wrong.py")
        self.assertEqual(got.returncode, 1)
        self.assertRegex(got.stderr, rb"Traceback[^\n]*\n  File \"[^\"]*wrong.py\", line 1, in <module>\n")

    def test_a_stand_in_that_is_run_swallows_nothing(self):
        for module, status in (("tracy", 2), ("itt", 1), ("ittapi", 1)):
            got = self.unitrace("-o", "n.json", sys.executable, "-m", module)
            self.assertEqual(got.returncode, status, (module, got.stderr))
            self.assertNotEqual(got.stderr, b"", module)

    def test_only_between_enable_and_disable(self):
        for version, python in PYTHONS.items():
            with self.subTest(version):
                trace = self.profile(self.TEXT, "--python-partial", python=python)
                self.assertEqual(self.functions(trace), [
                    "function_under_test", "child_function_1", "child_function_2",
                    "child_function_1", "decorated"])
                self.assertFalse(trace.losses)

    def test_without_partial_everything_is_there(self):
        self.assertEqual(len(self.profile(self.TEXT).named("unseen")), 3)

    def test_without_unitrace_nothing_happens(self):
        script = self.write("script.py", self.TEXT)
        got = self.run_words(PYTHON, script, env=environment(PYTHONPATH=str(PACKAGE)))
        self.assertEqual((got.returncode, got.stdout, got.stderr), (0, b"", b""))

    def test_lines(self):
        for version, python in PYTHONS.items():
            with self.subTest(version):
                trace = self.profile(self.TEXT, "--python-partial", "--python-lines", python=python)
                lines = self.functions(trace, "Python line")
                self.assertEqual(lines[:5], [
                    "function_under_test:8", "child_function_1:3", "function_under_test:9",
                    "child_function_2:5", "child_function_2:6"])
                call, line = trace.named("child_function_1")[0], trace.one("function_under_test:8")
                self.assertLessEqual(line.begin, call.begin)
                self.assertGreaterEqual(line.end, call.end)
                self.assertEqual(line.args["line"], 8)

    def test_lines_of_a_whole_program_are_refused(self):
        got = self.unitrace("--python-lines", PYTHON, "-c", "1")
        self.assertEqual(got.returncode, 2)
        self.assertIn(b"--python-partial", got.stderr)

    def test_exceptions_out_of_the_profiled_part(self):
        trace = self.profile("""
from unitrace import Profiler
def bad(): raise ValueError
try:
    with Profiler():
        bad()
except ValueError:
    pass
""", "--python-partial")
        self.assertEqual(self.functions(trace), ["bad"])
        self.assertFalse(trace.losses)


class Imports(PythonCase):
    TEXT = ("import textwrap, beside\nexec(compile('def g(): pass', 'made', 'exec'))\n"
            "def own(): beside.helper(); g()\nown()\n")

    def setUp(self):
        super().setUp()
        self.write("beside.py", "import colorsys\ndef helper(): colorsys.rgb_to_hsv(1, 0, 0)\n")

    def machinery(self, trace):
        return [s.name for s in trace.spans if s.args.get("file", "").startswith("<frozen importlib")]

    def test_the_import_system_is_left_out_unless_asked_for(self):
        for version, python in PYTHONS.items():
            with self.subTest(version):
                self.assertEqual(self.machinery(self.profile(self.TEXT, python=python)), [])
                for option in (["--python-imports"], ["--python-files", "<frozen importlib*"],
                               ["--python-modules", "importlib"]):
                    trace = self.profile(self.TEXT, *option, python=python)
                    self.assertIn("_find_and_load", self.machinery(trace), option)

    def test_bodies_of_modules_tell_what_is_imported(self):
        for version, python in PYTHONS.items():
            with self.subTest(version):
                trace = self.profile(self.TEXT, python=python)
                beside, inner = trace.one("import beside"), trace.one("import colorsys")
                self.assertEqual(beside.args["file"], str(self.dir / "beside.py"))
                self.assertTrue(beside.begin <= inner.begin <= inner.end <= beside.end)
                self.assertEqual(trace.one("import textwrap").args["line"], inner.args["line"])
                bodies = [s.args["file"] for s in trace.named("<module>")
                          if s.args["file"].endswith("script.py") or s.args["file"] == "made"]
                self.assertEqual(bodies, [str(self.dir / "script.py"), "made"])

    def test_the_table_starts_with_the_programs_own_functions(self):
        script = self.write("script.py", self.TEXT)
        got = self.unitrace("--python", "--summary-rows", 0, "-o", "out.json", PYTHON, script,
                            env=environment(**PLAIN))
        text = got.stderr.decode()
        names = [line.split("  ")[0] for line in text[text.index("\nTask ") + 1:].splitlines()[1:]]
        own = {"<module>", "own", "import beside", "helper", "g"}
        self.assertEqual(set(names[:len(own)]), own)
        self.assertTrue({"import textwrap", "import colorsys", "rgb_to_hsv"} <= set(names))

    def test_a_large_recording_is_reported_before_it_is_written(self):
        text = "def fib(n): return n if n < 2 else fib(n - 1) + fib(n - 2)\nfor _ in range({}): fib(24)"

        def said(times, *options):
            """In a format that is quickly written: nobody reads it here."""
            (self.dir / "script.py").write_text(text.format(times))
            got = self.unitrace("--python", *options, "--no-summary", "-o", "out.utr", "--overwrite", PYTHON, "script.py")
            self.assertEqual(got.returncode, 0, got.stderr)
            return got.stderr.decode()

        lines = said(5).splitlines()
        self.assertRegex(lines[0], r"^unitrace: \d+\.\d+ MiB are recorded( \(.*/s\))?; .*--python-min-duration")
        self.assertEqual(len([line for line in lines if "are recorded" in line]), 1)
        self.assertNotIn("are recorded", said(5, "--quiet"))
        self.assertNotIn("are recorded", said(5, "--keep-last", "1M"))
        self.assertNotIn("are recorded", said(1))


class Filters(PythonCase):
    def test_modules(self):
        text = "import textwrap\ntextwrap.fill('a b c')\ndef f(): pass\nf()"
        self.assertTrue(self.profile(text).named("f"))
        trace = self.profile(text, "--python-modules", "__main__")
        self.assertEqual(set(s.args["file"] for s in trace.spans), {str(self.dir / "script.py")})
        trace = self.profile(text, "--python-modules", "text*")
        self.assertEqual(set(os.path.basename(s.args["file"]) for s in trace.spans), {"textwrap.py"})
        trace = self.profile(text, "--python-exclude-modules", "textwrap,importlib")
        self.assertFalse([s for s in trace.spans if "textwrap" in s.args["file"]])
        self.assertTrue(trace.named("f"))

    def test_files(self):
        text = "import textwrap\ntextwrap.fill('a b c')\ndef f(): pass\nf()"
        trace = self.profile(text, "--python-files", "*/textwrap.py")
        self.assertEqual(set(os.path.basename(s.args["file"]) for s in trace.spans), {"textwrap.py"})
        trace = self.profile(text, "--python-exclude-files", "*script.py")
        self.assertFalse(trace.named("f"))
        for pattern in ("script.py", f"{self.dir.name}/*", "scr*", str(self.dir / "script.py")):
            trace = self.profile(text, "--python-files", pattern)
            self.assertEqual({s.args["file"] for s in trace.spans}, {str(self.dir / "script.py")})
        for pattern in ("cript.py", f"{self.dir}/x*,/script.py", "x/*,y/z"):
            self.assertTrue(self.profile(text, "--python-exclude-files", pattern).named("f"), pattern)

    def test_depth(self):
        trace = self.profile(CALLS, "--python-depth", "2")
        self.assertNotIn("deep", trace.names())
        self.assertIn("main", trace.names())

    def test_short_calls(self):
        for version, python in PYTHONS.items():
            with self.subTest(version):
                trace = self.profile("""
import time
def short(): pass
def long(): time.sleep(0.02)
def around():
    for _ in range(100): short()
    long()
around()
""", "--python-min-duration", "10ms", python=python)
                self.assertEqual(self.functions(trace), ["<module>", "around", "long"])
                self.assertFalse(trace.losses)

    def test_recording_that_starts_later_ends_only_what_it_has_begun(self):
        trace = self.profile("""
import unitrace
def inner(): pass
def deep(n):
    if n:
        deep(n - 1)
    else:
        unitrace.resume()
        inner()
def after(): pass
deep(100)
after()
""", "--python", "--start-paused")
        self.assertEqual([s.name for s in trace.spans if s.cat == "Python"][:2], ["inner", "after"])
        self.assertFalse(trace.named("deep"))
        self.assertFalse(trace.losses)


class Unchanged(PythonCase):
    """The program behaves as under plain python: same output, same traceback, same status."""

    SCRIPTS = {
        "status": "import sys; sys.exit(3)",
        "text": "import sys; sys.exit('bye')",
        "exception": "def f(): raise KeyError('x')\nf()",
        "chained": "try:\n    1 / 0\nexcept ZeroDivisionError as e:\n    raise ValueError from e",
        "syntax": "def f(:\n    pass",
        "import": "import no_such_module",
        "arguments": "import sys; print(sys.argv[1:], __name__, __file__, __spec__)",
        "path": "import sys; print(sys.path[0], len(sys.argv))",
        "abort": "import os; os.abort()",
        "signal": "import os, signal; os.kill(os.getpid(), signal.SIGTERM)",
        "thread": "import threading\nt = threading.Thread(target=lambda: 1/0); t.start(); t.join()",
        "hooks": "import sys; print(sys.getprofile(), sys.gettrace())",
        "recursion": "def f(): f()\ntry:\n    f()\nexcept RecursionError as e:\n    print(e)",
        "atexit": "import atexit; atexit.register(lambda: print('end'))",
        "generator": "def g():\n    try:\n        yield\n    finally:\n        print('closed')\n"
                     "x = g(); next(x); del x",
    }

    def plain(self, *words):
        return self.run_words(PYTHON, *words, env=environment(**PLAIN))

    def outcome(self, got):
        said = [w for w in got.stderr.decode().splitlines() if not w.startswith(("[INFO]", "unitrace: "))]
        return got.returncode, got.stdout.decode(), said

    def test_scripts(self):
        for name, text in self.SCRIPTS.items():
            with self.subTest(name):
                script = self.write("script.py", text)
                wanted = self.outcome(self.plain(script, "a", "-b"))
                got = self.unitrace("--python", "--no-summary", PYTHON, script, "a", "-b",
                                    env=environment(**PLAIN))
                self.assertEqual(self.outcome(got), wanted)
                if name not in ("status", "exception", "syntax", "arguments", "signal"):
                    continue  # python -m unitrace becomes the command above
                got = self.run_words(PYTHON, "-m", "unitrace", "--no-summary", script, "a", "-b",
                                     env=environment(**{**PLAIN, "PYTHONPATH": str(PACKAGE)}))
                self.assertEqual(self.outcome(got), wanted)

    def test_a_recursion_that_needs_no_c_stack_needs_none_with_us(self):
        for version, python in PYTHONS.items():
            with self.subTest(version):
                trace = self.profile("""
import sys, threading
sys.setrecursionlimit(10**6)
DEPTH = 50000 if sys.version_info >= (3, 11) else 400
def f(n): return 0 if n == 0 else 1 + f(n - 1)
def after(): return 1
print(f(DEPTH) == DEPTH, after())
threading.stack_size(256 * 1024)
thread = threading.Thread(target=lambda: print(f(DEPTH) == DEPTH, after()))
thread.start(); thread.join()
""", python=python)
                self.assertEqual(self.printed, "True 1\nTrue 1\n")
                self.assertEqual(len(trace.named("after")), 2)
                self.assertGreater(len(trace.named("f")), 500)
                self.assertFalse(trace.losses)

    def test_the_program_may_profile_itself(self):
        for version, python in PYTHONS.items():
            with self.subTest(version):
                trace = self.profile("""
import cProfile, pstats, sys
def f(): pass
profile = cProfile.Profile()
profile.enable()
for _ in range(10): f()
profile.disable()
print([c[0] for k, c in pstats.Stats(profile).stats.items() if k[2] == "f"])
seen = []
sys.setprofile(lambda frame, event, _: seen.append(event + frame.f_code.co_name))
f()
sys.setprofile(None)
print("callf" in seen, "returnf" in seen)
def after(): pass
after()
""", python=python)
                self.assertEqual(self.printed, "[10]\nTrue True\n")
                self.assertEqual((len(trace.named("f")), len(trace.named("after"))), (11, 1))
                self.assertFalse(trace.losses)

    def test_modules(self):
        self.write("mod.py", "import sys\nprint(sys.argv[1:], __name__, __package__)\n1 / 0")
        wanted = self.outcome(self.plain("-m", "mod", "x"))
        got = self.run_words(PYTHON, "-m", "unitrace", "--no-summary", "-m", "mod", "x",
                             env=environment(**{**PLAIN, "PYTHONPATH": str(PACKAGE)}))
        self.assertEqual(self.outcome(got), wanted)
        self.assertEqual(self.outcome(self.plain("-m", "missing"))[0], 1)

    LOCKED = {
        ("-E", "script.py", "a"): "def f(): raise KeyError(1)\nimport sys\nprint(sys.argv)\nf()",
        ("-I", "script.py"): "import sys\nprint(__file__, __spec__, sys.path[:2], sys.flags.isolated)",
        ("-S", "script.py", "-x"): "import sys\nprint(sys.argv, sys.path[0], sys.flags.no_site)",
        ("-IS", "script.py"): "def f(:",
        ("-E", "-W", "ignore", "script.py"): "import sys\nprint(sys.warnoptions)\nsys.exit('bye')",
        ("-Im", "json.tool", "--help"): "",
        ("-E", "-mscript", "a"): "import sys\nprint(sys.argv, __name__, __spec__.name)\n1 / 0",
        ("-Ec", "import sys; print(sys.argv, sys.path[0])", "b"): "",
        ("-E", "missing.py"): "",
        ("-I", "script.py", "pickle"): "import pickle\ndef f(): pass\n"
                                       "assert pickle.loads(pickle.dumps(f)) is f\n"
                                       "print(sorted(k for k in globals()))",
    }

    def test_interpreters_that_ignore_their_environment(self):
        for version, python in PYTHONS.items():
            for words, text in self.LOCKED.items():
                with self.subTest(version, words=words):
                    self.write("script.py", text)
                    wanted = self.outcome(self.run_words(python, *words, env=environment(**PLAIN)))
                    got = self.unitrace("--python", "--no-summary", "-o", "out.json", "--overwrite",
                                        python, *words, env=environment(**PLAIN))
                    self.assertEqual(self.outcome(got), wanted)
                    if "def f()" in text:
                        trace = Trace(self.dir / "out.json")
                        self.assertEqual(self.functions(trace)[0], "<module>")
                        self.assertFalse([s for s in trace.spans if "_run.py" in s.args["file"]])

    def test_usage(self):
        env = environment(PYTHONPATH=str(PACKAGE))
        for words in ([], ["-m"], ["-x", "script.py"], ["--depth"]):
            got = self.run_words(PYTHON, "-m", "unitrace", *words, env=env)
            self.assertEqual(got.returncode, 2, words)
            self.assertIn(b"usage: python -m unitrace", got.stderr)
        self.assertEqual(self.run_words(PYTHON, "-m", "unitrace", "--help", env=env).returncode, 0)

    def test_options_of_the_module(self):
        self.write("script.py", Part.TEXT)
        got = self.run_words(PYTHON, "-m", "unitrace", "-p", "-l", "-o", "out.json", "script.py",
                             env=environment(**{**PLAIN, "PYTHONPATH": str(PACKAGE)}))
        self.assertEqual(got.returncode, 0, got.stderr.decode())
        trace = Trace(self.dir / "out.json")
        self.assertIn("function_under_test:8", trace.names())
        self.assertNotIn("unseen", trace.names())

    def test_the_users_own_sitecustomize_runs(self):
        folder = self.dir / "site"
        folder.mkdir()
        (folder / "sitecustomize.py").write_text("import builtins; builtins.mine = __file__\n")
        env = {**PLAIN, "PYTHONPATH": str(folder)}
        self.profile("import sitecustomize, sys\nprint(mine, sitecustomize.__file__)\n"
                     "print([p for p in sys.path if 'inject' in p])", env=env)
        mine = folder / "sitecustomize.py"
        self.assertEqual(self.printed, f"{mine} {mine}\n[]\n")

    def test_without_one_there_is_none(self):
        done = self.plain("-c", "import sitecustomize")
        if done.returncode == 0:
            self.skipTest("not here: this interpreter has a sitecustomize of its own")
        self.profile("try:\n    import sitecustomize\nexcept ImportError as e:\n    print(e)")
        self.assertEqual(self.printed, "No module named 'sitecustomize'\n")


if __name__ == "__main__":
    main()
