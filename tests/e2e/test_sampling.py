#!/usr/bin/env python3
"""Samples of CPU time: shares that are known, threads, tasks, children, whatever the program is."""
# ci: labels slow long
import json
import os
import shutil
import signal
import subprocess
import sys
import textwrap

from common import (BUILD, PATIENCE, SOURCE, UNITRACE, Case, end_process, main, need, need_kernel_samples, program,
                    pythons, read_until, thread_names, wait_for, wait_for_cpu)

need("burn")
BURN = program("burn")
# Percent. On cores that others use as well samples come late: who has quiet ones asks for more.
POINTS = 2 if os.environ.get("UNITRACE_LONG") else 6


need_kernel_samples()


class Sampled(Case):
    def sample(self, *words, options=(), env=None):
        """What the program says it has spent, in ms."""
        got = self.unitrace("hotspots", "-o", "run.utr", "--overwrite", *options, *words, env=env)
        self.assertEqual(got.returncode, 0, got.stderr.decode())
        self.stderr = got.stderr.decode()
        first = got.stdout.decode().splitlines()
        return json.loads(first[0]) if first and first[0].startswith("{") else {}

    def rows(self, by="function"):
        got = self.unitrace("hotspots", "--json", "--by", by, "run.utr")
        self.assertEqual(got.returncode, 0, got.stderr.decode())
        return {row["name"]: row for row in json.loads(got.stdout)}

    def query(self, sql):
        got = self.unitrace("query", "--format", "json", "run.utr", sql)
        self.assertEqual(got.returncode, 0, got.stderr.decode())
        return json.loads(got.stdout)

    def stacks(self, inner):
        """The stacks of samples in a function, or of all: names from the outside."""
        got = self.unitrace("export", "-o", "run.json", "--overwrite", "run.utr")
        self.assertEqual(got.returncode, 0, got.stderr.decode())
        trace = json.loads((self.dir / "run.json").read_text())
        frames, found = trace["stackFrames"], []
        for sample in trace["samples"]:
            names, at = [], str(sample["sf"])
            while at in frames:
                names.insert(0, frames[at]["name"])
                at = str(frames[at].get("parent"))
            if names and inner in (None, names[-1]):
                found.append(names)
        self.assertGreater(len(found), 50)
        return found

    def assertShares(self, rows, spent, key="self_share"):
        total = sum(spent.values())
        for name, ms in spent.items():
            if ms:
                self.assertAlmostEqual(rows[name][key], 100 * ms / total, delta=POINTS,
                                       msg=f"{name}: {rows}")


class Shares(Sampled):
    def test_are_those_that_were_measured(self):
        spent = self.sample(BURN, "shares", "900")
        rows = self.rows()
        self.assertShares(rows, spent, key="total_share")
        self.assertAlmostEqual(rows["main"]["total_share"], 100, delta=POINTS)

    def test_many_samples_say_what_they_cost(self):
        got = self.unitrace("hotspots", "--sampling=10000", "-o", "run.utr", BURN, "shares", "100")
        self.assertEqual(got.returncode, 0, got.stderr)
        self.assertRegex(got.stderr.decode(), r"[0-9]+ samples: reading them took [0-9.]+ [mu]?s of CPU time beside "
                         r"the program; in it, taking them took some [0-9.]+ ms \(3 us each\) to [0-9.]+ ms \(20 us")

    def test_of_tasks(self):
        spent = self.sample(BURN, "task", "long", "400", "task", "short", "200")
        rows = self.rows("task")
        total = spent["burn_half"]
        self.assertAlmostEqual(rows["long"]["self_share"], 100 * 400 / total, delta=POINTS)
        self.assertAlmostEqual(rows["short"]["self_share"], 100 * 200 / total, delta=POINTS)

    def test_of_threads(self):
        self.sample(BURN, "threads", "2", "300")
        rows = {name.split(" (")[0]: row for name, row in self.rows("thread").items()}
        self.assertAlmostEqual(rows["worker 0"]["self_share"], 50, delta=2 * POINTS)
        self.assertAlmostEqual(rows["worker 1"]["self_share"], 50, delta=2 * POINTS)

    def test_of_a_child_and_of_a_program_that_it_becomes(self):
        self.sample(BURN, "fork", "300", "exec", "300")
        rows = self.rows()
        self.assertAlmostEqual(rows["burn_half"]["self_share"], 50, delta=2 * POINTS)
        processes = self.query("select count(distinct upid) n from process where pid > 0")
        self.assertGreaterEqual(processes[0]["n"], 2)


class Threads(Sampled):
    def facts(self):
        """What is known about each thread: of those of one name, the last."""
        got = self.unitrace("export", "-o", "run.json", "--overwrite", "run.utr")
        self.assertEqual(got.returncode, 0, got.stderr.decode())
        trace = json.loads((self.dir / "run.json").read_text())
        self.counters = {}
        for e in trace["traceEvents"]:
            if e["ph"] == "C":
                self.counters.setdefault(e["name"], []).append(*e["args"].values())
        self.process = trace["otherData"]["processes"][0]
        return {e["args"]["name"]: e["args"] for e in trace["traceEvents"]
                if e["ph"] == "M" and e["name"] == "thread_name"}

    def test_ran_and_waited(self):
        self.sample(BURN, "threads", "2", "200", "sleep", "300")
        facts = self.facts()
        for name in ("worker 0", "worker 1"):
            self.assertAlmostEqual(facts[name]["cpu_ns"] / 1e6, 200, delta=40)
        main_thread = facts["burn"]
        self.assertGreater(main_thread["waiting_ns"], 300e6)
        self.assertLess(main_thread["cpu_ns"], 50e6)
        self.assertGreaterEqual(main_thread["switches"], 2)

    def test_usage_and_memory_are_rows(self):
        self.sample(BURN, "threads", "2", "200")
        self.facts()
        rows = self.process["counters"]["CPU usage: all threads"]
        self.assertAlmostEqual(rows["cpu_ns"] / 1e6, 400, delta=80)
        self.assertAlmostEqual(sum(rows["running_ns"]), rows["elapsed_ns"], delta=1e6)
        parallel = sum(n * ns for n, ns in enumerate(rows["running_ns"]))
        self.assertAlmostEqual(parallel, rows["cpu_ns"], delta=1e6)
        self.assertEqual(len([n for n in self.counters if n.startswith("CPU usage: worker")]), 2)
        self.assertGreater(min(self.counters["resident memory"]), 1e5)
        self.assertIn("minor page faults", self.counters)

    def test_that_live_a_millisecond_are_all_there(self):
        self.sample(BURN, "brief", "200", "1000")
        facts = self.facts()
        workers = [f for name, f in facts.items() if name.startswith("worker ")]
        self.assertEqual(len(workers), 200)
        for f in workers:
            self.assertGreater(f["cpu_ns"], 0.7e6)
        self.assertLess(len(self.counters), 20)


class Stacks(Sampled):
    """All of them without frame pointers."""

    def test_deep_recursion_is_whole(self):
        """Most of it lies beyond what the kernel copies, and is gone for the very last samples."""
        self.sample(BURN, "deep", "300", "300")
        stacks = self.stacks("burn_deep")
        whole = [names for names in stacks if "main" in names and names.count("recurse") == 301]
        self.assertGreater(len(whole), 0.6 * len(stacks))
        for names in stacks:
            self.assertEqual(set(names) - {"_start", "__libc_start_main", "__libc_start_call_main",
                                           "main", "recurse", "burn_deep"}, set())

    def test_deeper_ones_are_cut(self):
        self.sample(BURN, "deep", "3000", "200")
        depths = [len(names) for names in self.stacks("burn_deep")]
        self.assertLessEqual(max(depths), 1024)
        self.assertGreater(sum(d > 900 for d in depths), 0.6 * len(depths))

    def test_through_a_signal(self):
        self.sample(BURN, "signal", "200")
        for names in self.stacks("burn_handler"):
            self.assertIn("main", names)
            self.assertIn("raise", names)

    def test_by_frame_pointers_or_not_at_all(self):
        self.sample(BURN, "shares", "300", options=["--call-graph", "none"])
        self.assertEqual({len(s) for s in self.stacks("burn_half")}, {1})
        if not shutil.which("cc"):
            self.skipTest("no C compiler")
        subprocess.run(["cc", "-O1", "-D_GNU_SOURCE", "-fno-omit-frame-pointer", "-I", SOURCE / "include", "-o",
                        self.dir / "fp", SOURCE / "tests/programs/burn.c",
                        BUILD / "lib/libittnotify.a", "-lpthread", "-ldl"], check=True)
        self.sample(self.dir / "fp", "shares", "300", options=["--call-graph", "fp"])
        for names in self.stacks("burn_half"):
            self.assertIn("main", names)


class Python(Sampled):
    SCRIPT = textwrap.dedent("""
        import time

        def spin(ms, work):
            end = time.thread_time() + ms / 1000
            while time.thread_time() < end:
                work()

        def plain():
            total = 0
            for i in range(3000):
                total += i

        def generated():
            sum(i * i for i in range(2000))

        class Sorter:
            def method(self):
                sorted(range(2000), key=lambda v: -v)

        def main():
            spin(150 * SCALE, plain)
            spin(100 * SCALE, generated)
            spin(100 * SCALE, Sorter().method)

        main()
        """).replace("SCALE", "2" if os.environ.get("UNITRACE_LONG") else "1")

    def test_functions_are_between_native_ones(self):
        (self.dir / "script.py").write_text(self.SCRIPT)
        for version, path in pythons().items():
            with self.subTest(version):
                self.sample(path, "-S", "-E", "script.py")
                rows = {name.split(".")[-1]: row for name, row in self.rows().items()}
                spent = rows["main"]["total_ns"]
                self.assertGreater(rows["main"]["total_share"], 80)
                for name, share in (("plain", 300 / 7), ("generated", 200 / 7),
                                    ("method", 200 / 7)):
                    self.assertAlmostEqual(100 * rows[name]["total_ns"] / spent, share, delta=6 + 2 * POINTS,
                                           msg=name)
                # the loop of the interpreter is what the functions are made of
                self.assertLess(rows.get("_PyEval_EvalFrameDefault", {"total_share": 0})
                                ["total_share"], 25)
                lines = self.rows("line")
                self.assertTrue(any(str(row.get("file", "")).endswith("script.py") and row["line"]
                                    for row in lines.values()))

    def test_stacks_have_both(self):
        (self.dir / "script.py").write_text(self.SCRIPT)
        self.sample(sys.executable, "-S", "-E", "script.py")
        sorts = [s for s in self.stacks(None) if "Sorter.method" in s or "method" in s]
        self.assertGreater(len(sorts), 50)
        native = [s for s in sorts if "list_sort" in " ".join(s) or "builtin_sorted" in s]
        self.assertGreater(len(native), 0.5 * len(sorts), sorts[:3])


class Attached(Sampled):
    def test_all_threads_of_a_running_process(self):
        process = self.start(BURN, "threads", "2", "100000")
        self.addCleanup(end_process, process)
        wait_for(lambda: {"worker 0", "worker 1"} <= set(thread_names(process.pid)), "two workers")
        got = self.unitrace("hotspots", "-p", process.pid, "--duration", "600ms", "-o", "run.utr")
        self.assertEqual(got.returncode, 0, got.stderr.decode())
        names = {name.split(" (")[0] for name in self.rows("thread")}
        self.assertLessEqual({"worker 0", "worker 1"}, names)
        self.assertGreater(self.rows()["burn_worker"]["total_share"], 90)
        self.assertIsNone(process.poll())

    def attach(self, *words):
        """Runs until it is told to end, or has nothing to look at any more."""
        ours = self.start(UNITRACE, "hotspots", *words)
        self.addCleanup(end_process, ours)
        read_until(ours.stderr, b"Ctrl-C")
        return ours

    def finish(self, ours):
        """What it prints."""
        out, err = ours.communicate(timeout=PATIENCE)
        self.assertEqual(ours.returncode, 0, err)
        return out

    def test_ends_with_the_process(self):
        process = self.start(BURN, "lines", "1", "shares", "300", stdin=subprocess.PIPE)
        self.addCleanup(end_process, process)
        read_until(process.stdout, b"ready\n")
        ours = self.attach("-p", process.pid, "-o", "run.utr")
        out, _ = process.communicate(b"go on\n", timeout=PATIENCE)
        self.assertEqual(process.returncode, 0)
        self.assertIn(b"burn_half", self.finish(ours))
        self.assertShares(self.rows(), json.loads(out), key="total_share")

    def test_ends_with_ctrl_c(self):
        process = self.start(BURN, "threads", "1", "100000")
        self.addCleanup(end_process, process)
        ours = self.attach("-p", process.pid, "-o", "run.utr")
        wait_for_cpu(process.pid, 0.3)
        ours.send_signal(signal.SIGINT)
        self.assertIn(b"burn_worker", self.finish(ours))
        self.assertIsNone(process.poll())

    def test_everything_on_the_machine(self):
        if os.geteuid():
            self.skipTest("not here: needs root")
        process = self.start(BURN, "threads", "1", "100000")
        self.addCleanup(end_process, process)
        ours = self.attach("-a", "-o", "run.utr")
        wait_for_cpu(process.pid, 0.3)
        ours.send_signal(signal.SIGINT)
        self.finish(ours)
        self.assertIn("burn_worker", self.rows())
        found = self.query(f"select count(*) n from process where pid = {process.pid}")
        self.assertEqual(found[0]["n"], 1)

    def test_misuse(self):
        for words in (("-p", "x"), ("-p", "1", "true"), ("--duration", "1s", "true"),
                      ("-p", "999999999")):
            got = self.unitrace("hotspots", *words)
            self.assertEqual(got.returncode, 2, words)


class Without(Sampled):
    def test_the_program_is_what_it_was_alone(self):
        got = self.unitrace("--sampling", "-o", "run.utr", "sh", "-c", "echo out; exit 3")
        self.assertEqual((got.returncode, got.stdout), (3, b"out\n"), got.stderr)

    def test_misuse(self):
        for words in (("--sampling=0", "true"), ("--sampling=x", "true"), ("--by", "x", "true"),
                      ("--call-graph", "x", "true")):
            got = self.unitrace("hotspots", *words)
            self.assertEqual(got.returncode, 2, words)
            self.assertEqual(len(got.stderr.splitlines()), 2, got.stderr)

    def test_a_trace_without_samples(self):
        (self.dir / "none.json").write_text('[{"ph":"X","pid":1,"tid":1,"ts":1,"dur":1,"name":"a"}]')
        got = self.unitrace("hotspots", "none.json")
        self.assertEqual(got.returncode, 1)
        self.assertIn(b"no samples of CPU time", got.stderr)


if __name__ == "__main__":
    main()
