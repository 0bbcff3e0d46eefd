#!/usr/bin/env python3
"""import unitrace; unitrace.open(...): traces as data, beside what the command line says of them.

# ci: no sanitizers
"""
# ci: labels slow real
import csv
import gc
import io
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import threading
import time
import unittest
import warnings

import common
from read_events import ODD, events

PACKAGE = common.BUILD / "lib/unitrace/python"
if not list((PACKAGE / "unitrace").glob("_arrow*.so")):
    common.skip("the Python package was built without Python.h")
if not (common.BUILD / "lib/libunitrace-read.so").exists():
    common.skip("built without SQLite")
sys.path.insert(0, str(PACKAGE))
import unitrace  # noqa: E402


class Reading(common.Case):
    def setUp(self):
        super().setUp()
        self.path = pathlib.Path(self.dir, "t.json")
        self.path.write_text(json.dumps({"traceEvents": events()}))
        self.trace = unitrace.open(self.path)

    def tearDown(self):
        self.trace.close()
        gc.collect()
        super().tearDown()

    def said(self, *words):
        """What the command line prints, as CSV."""
        run = self.unitrace(*words)
        self.assertEqual(run.returncode, 0, run.stderr)
        return list(csv.reader(io.StringIO(run.stdout.decode(), newline="")))

    def assertLike(self, table, rows):
        """The same columns and values as a CSV of the command line."""
        self.assertEqual(table.columns, rows[0])
        got = [tuple(row) for row in table]
        self.assertEqual(len(got), len(rows) - 1)
        for mine, theirs in zip(got, rows[1:]):
            for value, text in zip(mine, theirs):
                if isinstance(value, float):
                    self.assertAlmostEqual(value, float(text), delta=abs(value) * 1e-6 + 1e-3)
                else:
                    self.assertEqual("" if value is None else str(value), text)

    def test_statistics_are_those_of_the_command_line(self):
        self.assertLike(self.trace.stats(), self.said("stats", "--csv", self.path))
        self.assertLike(self.trace.stats(by="name,process", sort="count", limit=3),
                        self.said("stats", "--csv", "--by", "name,process", "--sort", "count",
                                  "--limit", "3", self.path))
        self.assertLike(self.trace.stats(name=["inner", "pl*"], window=(0.0001, "500us")),
                        self.said("stats", "--csv", "--name", "inner", "--name", "pl*", "--from",
                                  "100us", "--to", "500us", self.path))

    def test_slices_are_the_rows_of_sql(self):
        names = self.trace.slices().columns
        sql = self.trace.query(f"select {', '.join(names)} from slice order by id").fetchall()
        mine = sorted(self.trace.slices())
        self.assertEqual(mine, sql)
        self.assertTrue(any(row[names.index("name")] == "never" for row in mine))

    def test_slices_of_a_window_and_a_name(self):
        first = self.trace.query("select min(ts) from slice").fetchall()[0][0]
        begin, end = first + 100_000, first + 200_000
        sql = self.trace.query("select id from slice where name = 'inner' and ts < "
                               f"{end} and ts + dur > {begin} order by 1").fetchall()
        mine = sorted((row[0],) for row in self.trace.slices("inner", window=("100us", "200us")))
        self.assertEqual(mine, sql)
        self.assertTrue(mine)

    def test_types_fit_all_values_of_a_column(self):
        rows = self.trace.query("select 1, null, 'x', 0.5, x'ff00' union all "
                                "select 2.5, null, 4, 7, x'01'").fetchall()
        self.assertEqual(rows, [(1.0, None, "x", 0.5, b"\xff\0"), (2.5, None, "4", 7.0, b"\x01")])
        self.assertEqual(self.trace.query("select 1 where 0").fetchall(), [])
        self.assertEqual(self.trace.query("create temp table t as select 1").columns, [])

    def test_counters_and_arrows(self):
        self.assertEqual(sum(row[2] for row in self.trace.counters()), 2 * (0 + .5 + 1 + 1.5 + 2))
        self.assertEqual(len(self.trace.flows().fetchall()), 1)

    def test_counters_of_a_window_and_a_name(self):
        first = self.trace.query("select trace_start()").fetchall()[0][0]
        got = self.trace.counters("lo*", window=(0.0001, "300us")).fetchall()
        self.assertEqual({row[0] - first for row in got}, {100_000, 200_000})
        self.assertEqual(self.trace.counters("none").fetchall(), [])
        self.assertEqual(self.trace.counters("it's").fetchall(), [])
        with self.assertRaisesRegex(unitrace.Error, "'soon' is no time"):
            self.trace.counters(window=("soon", None))

    def test_ops_are_those_of_the_command_line(self):
        made = [{"ph": "X", "cat": "cpu_op", "name": f"aten::op{i}", "pid": 1, "tid": 1, "ts": i * 100, "dur": 50,
                 "args": {"External id": i}} for i in range(5)]
        made += [{"ph": "X", "cat": "kernel", "name": f"k{i}", "pid": 0, "tid": 7, "ts": i * 100 + 20, "dur": 10 + i,
                  "args": {"External id": i, "device": 0, "stream": 7}} for i in range(5)]
        path = pathlib.Path(self.dir, "torch.json")
        path.write_text(json.dumps({"traceEvents": made}))
        run = self.unitrace("ops", "-o", self.dir / "ops", path)
        self.assertEqual(run.returncode, 0, run.stderr)
        (table,) = pathlib.Path(self.dir, "ops").rglob("*.csv")
        with table.open(newline="") as file:
            expected = list(csv.DictReader(file))
        with unitrace.open(path) as trace:
            ops = trace.ops()
            self.assertEqual(ops.columns, list(expected[0]))
            got = [dict(zip(ops.columns, row)) for row in ops]
            self.assertEqual(len(trace.ops(limit=2).fetchall()), 2)
        self.assertEqual(len(got), len(expected))
        for mine, theirs in zip(got, expected):
            for key, value in mine.items():
                if value is not None:
                    self.assertEqual(float(value) if isinstance(value, (int, float)) else value,
                                     float(theirs[key]) if isinstance(value, (int, float)) else theirs[key], key)

    def test_several_files_are_one_trace(self):
        paths = []
        for rank in range(3):
            paths.append(pathlib.Path(self.dir, f"r{rank}.json"))
            paths[-1].write_text(json.dumps({"traceEvents": events(), "distributedInfo": {"rank": rank}}))
        with unitrace.open(*paths) as trace:
            self.assertEqual(len(trace.paths), 3)
            self.assertEqual(len(trace.slices().fetchall()), 3 * 2406)
            self.assertEqual(sorted(row[0] for row in trace.query("select distinct rank from slice")), [0, 1, 2])
            self.assertEqual(len(trace.slices(rank=[0, 2]).fetchall()), 2 * 2406)
            self.assertEqual({row[0] for row in trace.stats(by="rank")}, {0, 1, 2} if isinstance(
                next(iter(trace.stats(by="rank")))[0], int) else {"0", "1", "2"})

    def test_asyncio_goes_on_meanwhile(self):
        import asyncio

        async def main():
            ticks = 0

            async def tick():
                nonlocal ticks
                while True:
                    ticks += 1
                    await asyncio.sleep(0.001)

            ticking = asyncio.create_task(tick())
            rows = await asyncio.gather(*(asyncio.to_thread(self.trace.query(sql).fetchall) for sql in (
                "select count(*) from slice", "select 1")), asyncio.to_thread(self.trace.query,
                "with recursive t(n) as (select 1 union all select n + 1 from t limit 1000000) "
                "select max(n) from t"))
            ticking.cancel()
            self.assertEqual(rows[:2], [[(2406,)], [(1,)]])
            self.assertEqual(rows[2].fetchall(), [(1000000,)])
            return ticks

        self.assertGreater(asyncio.run(main()), 3)

    def test_a_difference_is_that_of_the_command_line(self):
        other = pathlib.Path(self.dir, "other.json")
        changed = events()
        for event in changed:
            if event["name"] == "inner":
                event["dur"] = 3
        other.write_text(json.dumps(changed))
        with unitrace.open(other) as after:
            self.assertLike(self.trace.diff(after), self.said("diff", "--csv", self.path, other))

    def test_a_table_is_read_as_often_as_wanted(self):
        table = self.trace.stats()
        self.assertEqual(table.fetchall(), table.fetchall())
        self.assertIn("inner", repr(table))
        self.assertIn("<th>name</th>", table._repr_html_())
        self.assertNotIn("<script", self.trace.query("select '<script>' as a")._repr_html_())

    def test_a_table_that_lives_to_the_end_is_quiet(self):
        script = pathlib.Path(self.dir, "script.py")
        script.write_text(f"import sys\nsys.path.insert(0, {str(PACKAGE)!r})\nimport unitrace\n"
                          f"trace = unitrace.open({str(self.path)!r})\n"
                          "table = trace.slices()\nprint(table.columns[0])\n")
        got = subprocess.run([sys.executable, script], capture_output=True, text=True, check=True)
        self.assertEqual((got.stdout, got.stderr), ("id\n", ""))

    def test_streams_outlive_the_trace(self):
        rows = iter(self.trace.slices())
        next(rows)
        self.trace.close()
        self.assertEqual(sum(1 for _ in rows), 2400 + 6 - 1)
        with self.assertRaisesRegex(unitrace.Error, "closed"):
            self.trace.stats().fetchall()

    def test_errors_are_those_of_the_command_line(self):
        for ask, words in ((lambda: self.trace.query("select nme from slice"), "did you mean name"),
                           (lambda: self.trace.stats(by="colour").fetchall(), "'colour' is none of"),
                           (lambda: self.trace.stats(sort="x").fetchall(), "does not know 'x'"),
                           (lambda: self.trace.slices(colour="x").fetchall(), "colour"),
                           (lambda: unitrace.open("/nowhere.json"), "/nowhere.json: No such file"),
                           (lambda: unitrace.open(), "no trace"),
                           (lambda: unitrace.open("/bin/true"), "/bin/true")):
            with self.assertRaisesRegex(unitrace.Error, words):
                ask()

    def test_broken_files_warn_or_raise(self):
        text = self.path.read_bytes()
        for end in (0, 1, 50, len(text) // 2, len(text) - 1):
            path = pathlib.Path(self.dir, "cut.json")
            path.write_bytes(text[:end])
            with warnings.catch_warnings(record=True) as said:
                warnings.simplefilter("always")
                try:
                    with unitrace.open(path) as trace:
                        trace.stats().fetchall()
                    self.assertTrue(said, f"cut at {end}: nobody was told")
                except unitrace.Error:
                    pass

    def test_control_c_ends_a_question(self):
        endless = "with recursive t(n) as (select 1 union all select n + 1 from t) select max(n) from t"
        timer = threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT))
        timer.start()
        with self.assertRaises(KeyboardInterrupt):
            self.trace.query(endless)
        timer.join()
        self.assertEqual(self.trace.query("select 1").fetchall(), [(1,)])

    def test_threads_ask_at_the_same_time(self):
        expected = self.trace.stats().fetchall()
        wrong = []

        def ask():
            for _ in range(5):
                if self.trace.stats().fetchall() != expected:
                    wrong.append("stats")
                if len(self.trace.slices().fetchall()) != 2406:
                    wrong.append("slices")
                if self.trace.query("select count(*) from slice").fetchall() != [(2406,)]:
                    wrong.append("query")

        threads = [threading.Thread(target=ask) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(wrong, [])

    def test_the_gil_is_free_meanwhile(self):
        done, ticks = threading.Event(), 0
        worker = threading.Thread(target=lambda: (self.trace.query(
            "with recursive t(n) as (select 1 union all select n + 1 from t limit 2000000) "
            "select max(n) from t"), done.set()))
        worker.start()
        while not done.is_set():
            ticks += 1
            time.sleep(0.001)
        worker.join()
        self.assertGreater(ticks, 5)

    def test_memory_comes_back(self):
        def size():
            gc.collect()
            return int(pathlib.Path("/proc/self/statm").read_text().split()[1])

        def use():
            for _ in range(30):
                with unitrace.open(self.path) as trace:
                    trace.stats().fetchall()
                    trace.slices().fetchall()
                    trace.query("select * from slice").columns  # asked for and never read
        use()
        sizes = [size()]
        for _ in range(5):
            use()
            sizes.append(size())
        # The allocator keeps some now and then; what is lost is lost every time.
        self.assertLess(min(after - before for before, after in zip(sizes, sizes[1:])), 200, sizes)

    def test_a_page(self):
        page = self.trace.page(title="my run")
        self.assertTrue("<html" in page[:200] and page.rstrip().endswith("</html>"))
        self.assertNotEqual(page, self.trace.page())
        self.assertIn('location.hash="v=timeline&w=100000,500000"', self.trace.page(window=(0.0001, "500us")))

    def test_the_example_in_c(self):
        run = subprocess.run([common.BUILD / "examples/read", self.path], capture_output=True, text=True)
        self.assertEqual(run.returncode, 0, run.stderr)
        total = self.trace.query("select sum(dur) / 1e6 from slice where name = 'inner'").fetchall()[0][0]
        line = next(line for line in run.stdout.splitlines() if line.startswith("inner"))
        self.assertEqual(line.split(), ["inner", "1200", f"{total:.3f}", "ms"])


def interpreters():
    """Every CPython from 3.9 on that is here: on the path, or of pyenv."""
    found = {}
    for minor in range(9, 15):
        name = f"python3.{minor}"
        candidates = sorted(pathlib.Path.home().glob(f".pyenv/versions/3.{minor}.*/bin/{name}"))
        for path in [shutil.which(name), *candidates, shutil.which(name + "-dbg")]:
            if path and not subprocess.run([path, "-c", "import ctypes"], capture_output=True).returncode:
                found[str(path)] = None
    return list(found)


class Interpreters(common.Case):
    """The same in every CPython that is here, with its own checks on (-X dev), and without leaks."""

    def test_all_of_them_read(self):
        path = pathlib.Path(self.dir, "t.json")
        path.write_text(json.dumps({"traceEvents": events()}))
        checked = []
        for python in interpreters():
            run = subprocess.run([python, "-X", "dev", "-W", "error", pathlib.Path(__file__).with_name(
                "read_plain.py"), PACKAGE, path], capture_output=True, text=True, timeout=common.PATIENCE)
            self.assertEqual((run.returncode, run.stderr), (0, ""), f"{python}: {run.stdout}{run.stderr}")
            checked.append(run.stdout.split()[-1])
        if not checked:
            self.skipTest("no toolkit: no other Python is here")
        print(f"read by Python {', '.join(checked)}")


class InC(common.Case):
    def test_the_example_builds_as_its_guide_says(self):
        compiler = shutil.which("cc")
        if not compiler or not shutil.which("pkg-config"):
            self.skipTest("cc and pkg-config are not installed")
        path = pathlib.Path(self.dir, "t.json")
        path.write_text(json.dumps(events()))
        env = common.environment(PKG_CONFIG_PATH=str(common.BUILD / "generated"),
                                 LD_LIBRARY_PATH=str(common.BUILD / "lib"))
        flags = subprocess.run(["pkg-config", "--cflags", "--libs",
                                f"--define-variable=includedir={common.SOURCE / 'include'}",
                                f"--define-variable=libdir={common.BUILD / 'lib'}", "unitrace-read"],
                               capture_output=True, text=True, env=env)
        self.assertEqual(flags.returncode, 0, flags.stderr)
        for extra in ([], ["-x", "c++"] if shutil.which("c++") else []):
            # as C++ only the header has to hold: an empty program that includes it
            source = common.SOURCE / "examples/read.c"
            if extra:
                source = pathlib.Path(self.dir, "empty.cc")
                source.write_text("#include <unitrace/read.h>\n"
                                  "int main() { return unitrace_read_version() != UNITRACE_READ_VERSION; }\n")
            program = pathlib.Path(self.dir, "read" + "".join(extra[1:]))
            run = subprocess.run([compiler, "-Wall", "-Werror", *extra, source, "-x", "none", "-o", program,
                                  *flags.stdout.split()], capture_output=True, text=True)
            self.assertEqual(run.returncode, 0, run.stderr)
            run = subprocess.run([program, path], capture_output=True, text=True, env=env)
            self.assertEqual(run.returncode, 0, run.stderr)
            self.assertTrue(extra or "inner" in run.stdout, run.stdout)


class Others(common.Case):
    """Libraries that take the tables, in the virtual environment of the tests."""

    def tables(self, usual):
        """Traces that are odd in what Parquet writes differently, each as Arrow and as Parquet."""
        made = {"empty": [], "one": [{"ph": "i", "pid": 1, "tid": 1, "ts": 1, "name": "x"}],
                "same": [{"ph": "X", "pid": 1, "tid": 1, "ts": i, "dur": 1, "name": "always"} for i in range(20000)],
                "large": [{"ph": "X", "pid": i % 3, "tid": 1, "ts": i * 2, "dur": 1,
                           "name": f"name {i}" if i % 3 else "often", "cat": ("", "a", "b")[i // 1000 % 3],
                           **({"args": {"i": i}} if i % 5 == 0 else {})} for i in range(150_000)]}
        paths = [usual]
        for name, what in made.items():
            paths.append(pathlib.Path(self.dir, f"{name}.json"))
            paths[-1].write_text(json.dumps(what))
        for suffix in ("arrow", "parquet"):
            for one in paths:
                run = self.unitrace("export", "-o", one.with_suffix("." + suffix), one)
                self.assertEqual(run.returncode, 0, run.stderr)
        return [",".join(str(one.with_suffix(suffix)) for one in paths if one.stem != "empty")
                for suffix in (".arrow", ".parquet")]

    def shapes(self):
        """The odd shapes that all readers must agree about, a file each."""
        from test_all_readers import SHAPES
        folder = pathlib.Path(self.dir, "shapes")
        folder.mkdir()
        for number, (made, _) in enumerate(SHAPES.values()):
            folder.joinpath(f"{number:03}.json").write_text(json.dumps(made))
        return folder

    def lakes(self):
        """Four ranks as a folder of parts, by one process and by two under mpiexec, where there is one."""
        folder = pathlib.Path(self.dir, "ranks")
        folder.mkdir()
        for rank in range(4):
            folder.joinpath(f"r{rank}.json").write_text(json.dumps(
                {"traceEvents": events()[rank:], "distributedInfo": {"rank": rank, "world_size": 4}}))
        made = [pathlib.Path(self.dir, "alone")]
        name = "{}/rank=%r/%p.parquet"
        run = self.unitrace("export", "-o", name.format(made[0]), folder)
        self.assertEqual(run.returncode, 0, run.stderr)
        launcher = shutil.which("mpirun.openmpi") or shutil.which("mpirun.mpich")
        if launcher:
            words = ["--allow-run-as-root", "--oversubscribe"] if "openmpi" in launcher else []
            made.append(pathlib.Path(self.dir, "together"))
            run = subprocess.run([launcher, *words, "-n", "2", common.UNITRACE, "export", "-o",
                                  name.format(made[1]), folder], capture_output=True, text=True, timeout=common.PATIENCE)
            self.assertEqual(run.returncode, 0, run.stderr)
        return [folder, ",".join(map(str, made))]

    def test_they_agree(self):
        python, why = common.find_venv("pandas", "polars", "pyarrow", "duckdb")
        if why:
            self.skipTest(why)
        path = pathlib.Path(self.dir, "t.json")
        path.write_text(json.dumps(events()))
        lake, rows = self.dir / "lake", self.dir / "t.csv"
        for output in (f"{lake}/rank=%r/%p.arrow", rows):
            self.assertEqual(self.unitrace("export", "-o", output, path).returncode, 0)
        run = subprocess.run([python, "-W", "error", "-W", "ignore::UserWarning", "-W", "ignore::ResourceWarning",
                              pathlib.Path(__file__).with_name("read_others.py"),
                              PACKAGE, path, lake, rows, *self.tables(path), *self.lakes(), self.shapes()],
                             capture_output=True, text=True)
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertEqual(run.stdout.strip(), "ok")


if __name__ == "__main__":
    unittest.main()
