#!/usr/bin/env python3
"""A runtime that nobody has heard of: its devices, calls and work are counted and shown like those
of any other, and what they are is kept by every format and by every command that writes one."""
# ci: labels fast real
import json
import pathlib
import re
import shutil
import sys

import common
import perfetto_oracle
from common import UNITRACE, program
from device_support import DeviceTrace, backend, need_backend

SOURCE = pathlib.Path(__file__).parents[2]
OLD = SOURCE / "tests" / "import" / "old"

RUNTIME = r"""
import ctypes, sys
mine = ctypes.CDLL(sys.argv[1])
run = ctypes.CFUNCTYPE(None)(lambda: None)
mine.mineToolEnters()
for _ in range(3):
    mine.mineToolLaunch(run)
"""

# As we write it, but no name says what anything is.
PLACES = {"traceEvents": [
    {"ph": "M", "name": "process_name", "pid": 1, "args": {"name": "app"}},
    {"ph": "M", "name": "process_name", "pid": 2, "args": {"name": "thing"}},
    {"ph": "M", "name": "thread_name", "pid": 2, "tid": 1, "args": {"name": "a", "role": "queue"}},
    {"ph": "M", "name": "thread_name", "pid": 2, "tid": 2, "args": {"name": "b", "role": "side"}},
    {"ph": "M", "name": "thread_name", "pid": 1, "tid": 3,
     "args": {"name": "c", "thread": 77, "role": "calls", "api": "Quantum, 3"}},
    {"ph": "M", "name": "thread_name", "pid": 1, "tid": 4, "args": {"name": "d", "role": "boss"}},
    {"ph": "X", "pid": 1, "tid": 1, "ts": 0, "dur": 90, "name": "aten::mm", "cat": "PyTorch"},
    {"ph": "X", "pid": 1, "tid": 3, "ts": 10, "dur": 5, "name": "launch", "cat": "Quantum, 3",
     "args": {"correlation": 1}},
    {"ph": "X", "pid": 1, "tid": 4, "ts": 1, "dur": 1, "name": "idle", "cat": "x"},
    {"ph": "X", "pid": 2, "tid": 1, "ts": 20, "dur": 30, "name": "gemm", "cat": "kernel",
     "args": {"correlation": 1, "thread": 1}},
    {"ph": "X", "pid": 2, "tid": 2, "ts": 60, "dur": 5, "name": "flush", "cat": "other"}],
    "otherData": {"tool": "unitrace", "processes": [
        {"pid": 1, "name": "app", "calls": ["Quantum, 3"]},
        {"pid": 2, "name": "thing", "kind": "device", "api": "Quantum, 3", "device": 4,
         "sub_device": 1, "device_type": "accelerator", "model": "Q-4"}]}}

PROCESSES = ("select name, kind, api, device, sub_device, device_type, model from process "
             "order by name")
TRACKS = "select name, role, api, device, of_thread from track where name <> '' order by name"


class Traces(common.Case):
    def ask(self, trace, sql):
        got = self.unitrace("query", "--json", trace, sql)
        self.assertEqual(got.returncode, 0, got.stderr)
        return [tuple(row.values()) for row in json.loads(got.stdout)]

    def good(self, *words):
        got = self.unitrace(*words)
        self.assertEqual(got.returncode, 0, got.stderr)
        return got.stdout.decode()

    def copies(self, trace):
        """The trace in every format, and through every command that writes another."""
        yield trace
        for name in "copy.json", "copy.utr", "copy.pftrace":
            self.good("export", "--quiet", "-o", name, trace)
            yield self.dir / name
            again = f"again-{name}.json"
            self.good("export", "--quiet", "-o", again, name)
            yield self.dir / again
        self.good("merge", "--quiet", "-o", "text.json", "copy.json")
        self.good("merge", "--quiet", "-o", "model.json", "copy.utr")
        self.good("merge", "--quiet", "-o", "model.pftrace", "copy.json")
        self.good("filter", "--quiet", "-o", "part.json", "--min-dur", "0", trace)
        yield from (self.dir / n for n in ("text.json", "model.json", "model.pftrace", "part.json"))


class Places(Traces):
    def test_metadata_alone_says_what_everything_is(self):
        path = self.dir / "places.json"
        path.write_text(json.dumps(PLACES))
        for copy in self.copies(path):
            with self.subTest(copy.name):
                self.assertEqual(self.ask(copy, PROCESSES), [
                    ("app", "program", None, None, None, None, None),
                    ("thing", "device", "Quantum, 3", 4, 1, "accelerator", "Q-4")])
                self.assertEqual(self.ask(copy, TRACKS), [
                    ("a", "queue", "Quantum, 3", 4, None), ("b", "side", "Quantum, 3", 4, None),
                    ("c", "calls", "Quantum, 3", None, 77), ("d", "thread", None, None, None)])
                table = json.loads(self.good("stats", "--device", "--json", copy))
                self.assertEqual([(r["backend"], r["name"], r["calls"]) for r in table["host"]],
                                 [("Quantum, 3", "launch", 1)])
                self.assertEqual([(r["backend"], r["name"], r["calls"]) for r in table["device"]],
                                 [("Quantum, 3", "gemm", 1)])
                self.good("ops", "-o", "ops", copy)
                text = (self.dir / "ops" / "profile_log_ops.csv").read_text()
                head, row = (line.split(",") for line in text.splitlines()[:2])
                cells = dict(zip(head, row))
                self.assertEqual((cells["OP CODE"], cells["DEVICE ID"], cells["DEVICE ARCH"],
                                  cells["DEVICE KERNELS"]), ("aten::mm", "4", "Q-4", "gemm"))
                shutil.rmtree(self.dir / "ops")

    def test_a_role_that_nobody_knows_stays_an_argument(self):
        path = self.dir / "places.json"
        path.write_text(json.dumps(PLACES))
        self.good("export", "--quiet", "-o", "copy.json", path)
        names = {e["args"]["name"]: e["args"] for e in json.loads(
            (self.dir / "copy.json").read_text())["traceEvents"] if e["name"] == "thread_name"}
        self.assertEqual(names["d"], {"name": "d", "role": "boss"})
        self.assertEqual(names["c"], {"name": "c", "role": "calls", "thread": 77,
                                      "api": "Quantum, 3"})

    def mine(self):
        compiler = shutil.which("cc")
        guide = SOURCE / "docs" / "guides" / "backends.md"
        if not compiler or not guide.exists():
            self.skipTest("no C compiler" if not compiler else f"{guide} is missing")
        (self.dir / "mine.c").write_text(re.search(r"```c\n(.*?)```", guide.read_text(), re.S)[1])
        made = self.dir / "lib" / "unitrace" / "backends" / "mine.so"
        made.parent.mkdir(parents=True)
        (self.dir / "lib" / "libunitrace.so").symlink_to(common.BUILD / "lib" / "libunitrace.so")
        done = self.run_words(compiler, "-std=c17", "-shared", "-fPIC", "-fvisibility=hidden",
                              f"-I{SOURCE / 'include'}", "mine.c", "-o", made)
        self.assertEqual(done.returncode, 0, done.stderr)
        return sys.executable, "-c", RUNTIME, made

    def test_a_new_backend_is_counted_without_a_change_to_any_analysis(self):
        words = self.mine()
        got = self.unitrace("-h", "-d", "-o", "run.json", *words)
        self.assertEqual(got.returncode, 0, got.stderr)
        tables = (got.stdout + got.stderr).decode()
        self.assertEqual(tables.count("== MINE Backend =="), 2)
        self.assertRegex(tables, r"mineLaunch, +3,")
        self.assertRegex(tables, r'"kernel", +3,')
        for copy in self.copies(self.dir / "run.json"):
            with self.subTest(copy.name):
                self.assertEqual(self.ask(copy, "select kind, api, device, model from process "
                                                "where kind <> 'program'"),
                                 [("device", "MINE", 0, "My device")])
                self.assertEqual(self.ask(copy, "select role, api from track where name = 'queue 0'"),
                                 [("queue", "MINE")])
                table = json.loads(self.good("stats", "--device", "--json", copy))
                self.assertEqual([(r["backend"], r["calls"]) for r in table["host"] + table["device"]],
                                 [("MINE", 3), ("MINE", 3)])
                self.assertIn("DEVICE [My device] 0 #0: ", self.good("stats", "--device", copy))

    def test_all_other_readers_pass_over_it(self):
        if perfetto_oracle.missing():
            self.skipTest(perfetto_oracle.missing())
        need_backend("null")
        self.record("-o", "run.json", program("null_device"), backend("null"), 8)
        plain = json.loads((self.dir / "run.json").read_text())
        said = 0
        for event in plain["traceEvents"]:
            if event["name"] == "thread_name":
                said += event["args"].pop("role", None) is not None
        for process in plain["otherData"]["processes"]:
            for key in "kind", "api", "device", "model":
                said += process.pop(key, None) is not None
        self.assertGreater(said, 4)
        (self.dir / "plain.json").write_text(json.dumps(plain))
        asked = ("select name, ts, dur, track_id from slice order by 1, 2, 3",
                 "select tid, name, upid from thread order by 1, 2",
                 "select pid, name from process order by 1, 2")
        self.assertEqual(perfetto_oracle.ask(self.dir / "run.json", *asked),
                         perfetto_oracle.ask(self.dir / "plain.json", *asked))

    def test_a_saved_trace_of_version_1_0_is_read(self):
        path = OLD / "devices_1_0.utr"
        self.assertEqual(path.read_bytes()[12:16], b"\1\0\0\0")
        for copy in self.copies(path):
            with self.subTest(copy.name):
                self.assertEqual(
                    self.ask(copy, "select kind, api, device, model from process order by 1"),
                    [("device", "cuda", 0, "NVIDIA H200"), ("program", None, None, None)])
                self.assertEqual(self.ask(copy, "select role, of_thread from track order by 1, 2"),
                                 [("calls", 77), ("queue", None), ("side", None), ("thread", None)])
                table = json.loads(self.good("stats", "--device", "--json", copy))
                self.assertEqual([(r["backend"], r["name"]) for r in table["device"]],
                                 [("CUDA", "gemm")])

    def test_what_was_guessed_from_names_is_not_written(self):
        self.good("export", "--quiet", "-o", "copy.json", OLD / "devices_1_0.utr")
        text = (self.dir / "copy.json").read_text()
        self.assertNotIn('"role"', text)
        self.assertNotIn('"kind"', text)

    def test_recordings_say_it_themselves(self):
        need_backend("null")
        got = DeviceTrace(self.record("-o", "run.json", program("null_device"), backend("null"), 8))
        self.assertEqual(list(got.devices.values()), ["DEVICE [Null device] null #0"])
        device, = self.ask(self.dir / "run.json",
                           "select api, device, model from process where kind = 'device'")
        self.assertEqual(device, ("null", 0, "Null device"))


DEMO = SOURCE / "tests" / "e2e" / "demo_api"
WORK = ("select name, kind, api, device, task, grid_x, grid_y, grid_z, block_x, registers, bytes "
        "from device_work order by ts")


class Registered(Traces):
    """A made-up runtime with queues, kernels, copies and a metric. Beside its backend it has one
    line in src/base/api_list.h, and nothing else of the program knows it."""

    def setUp(self):
        super().setUp()
        compiler = shutil.which("cc")
        if not compiler:
            self.skipTest("no C compiler")
        # A place of installation of its own, with one backend more.
        (self.dir / "bin").mkdir()
        (self.dir / "lib" / "unitrace" / "backends").mkdir(parents=True)
        shutil.copy(UNITRACE, self.dir / "bin" / "unitrace")
        shutil.copy(common.BUILD / "lib" / "libunitrace.so", self.dir / "lib")
        includes = f"-I{SOURCE / 'include'}", f"-I{DEMO}"
        library = "-shared", "-fPIC", "-fvisibility=hidden"
        for words in (
                (*library, DEMO / "backend.c", "-o", "lib/unitrace/backends/demo.so"),
                (*library[:2], DEMO / "libdemo.c", "-o", "libdemo.so"),
                (DEMO / "app.c", "-o", "app", "libdemo.so", f"-Wl,-rpath,{self.dir}",
                 common.BUILD / "lib" / "libittnotify.a", "-ldl", "-lpthread")):
            done = self.run_words(compiler, "-std=gnu17", "-Wall", "-Wextra", "-Werror", *includes,
                                  *words)
            self.assertEqual(done.returncode, 0, done.stderr)

    def test_one_line_of_the_program_knows_it(self):
        found = [(path.name, line.strip()) for path in sorted((SOURCE / "src").rglob("*.[ch]"))
                 for line in path.read_text(errors="replace").splitlines()
                 if re.search(r'UT_API_DEMO|"[Dd]emo"|DEMO_TOOL', line)]
        self.assertEqual([name for name, _ in found], ["api_list.h"], found)

    def test_all_that_it_did_is_recorded_and_read_by_everything(self):
        got = self.run_words(self.dir / "bin" / "unitrace", "-h", "-d", "-s", "-v", "-o", "run.json",
                             "./app", env=common.environment(DEMO_TOOL_LIBRARIES="/users/own.so"))
        self.assertEqual(got.returncode, 0, got.stderr)
        tables = (got.stdout + got.stderr).decode()
        self.assertEqual(tables.count("== Demo Backend =="), 3, tables)
        self.assertRegex(tables, r"demoLaunch, +6,")
        # 16 threads in step, and the properties of kernels: as its line says
        self.assertRegex(tables, r'"gemm\[SIMD16 \{8; 2; 1\} \{64; 1; 1\}\]", +3,')
        self.assertRegex(tables, r'"relu\[SIMD16 \{4; 1; 1\} \{64; 1; 1\}\]", +unknown, +16,')
        for copy in self.copies(self.dir / "run.json"):
            with self.subTest(copy.name):
                self.assertEqual(sorted(self.ask(copy, WORK), key=str), sorted([
                    ("copy", "copy", "demo", 0, "step", None, None, None, None, None, 4096),
                    ("gemm", "kernel", "demo", 0, "step", 8, 2, 1, 64, 24, None),
                    ("relu", "kernel", "demo", 0, "step", 4, 1, 1, 64, 24, None)] * 3, key=str))
                self.assertEqual(self.ask(copy, "select count(*), sum(submitted >= queued and "
                                                "ts > submitted) from device_work"), [(9, 9)])
                self.assertEqual(self.ask(copy, "select count(*) from flow"), [(9,)])
                self.assertEqual(self.ask(copy, "select distinct name, value from counter "
                                                "where value > 0"), [("Active lanes", 75.0)])
                table = json.loads(self.good("stats", "--device", "--json", copy))
                self.assertEqual(
                    sorted((r["backend"], r["name"], r["calls"]) for r in table["host"]),
                    [("Demo", "demoCopy", 3), ("Demo", "demoLaunch", 6), ("Demo", "demoWait", 3)])
                self.assertEqual(
                    sorted((r["backend"], r["name"], r["calls"]) for r in table["device"]),
                    [("Demo", "copy", 3), ("Demo", "gemm", 3), ("Demo", "relu", 3)])
                kernels = json.loads(self.good("kernels", "--json", copy))
                self.assertIn("gemm", json.dumps(kernels))

    def test_the_list_of_devices_has_it(self):
        got = self.run_words(self.dir / "bin" / "unitrace", "--device-list")
        self.assertEqual(got.returncode, 0, got.stderr)
        self.assertIn("Demo 1", got.stdout.decode())


if __name__ == "__main__":
    if not UNITRACE.exists():
        common.skip(f"{UNITRACE} is not built")
    common.main()
