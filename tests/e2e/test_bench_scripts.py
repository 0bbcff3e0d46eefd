"""Every benchmark of tests/bench runs, at its smallest size: on a machine that has nothing but the build, and beside
the tools of others where they are. Figures mean nothing here; that they are printed does.
"""
# ci: no sanitizers
# ci: labels slow
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

from common import BUILD, PATIENCE, SOURCE, environment, main, need
from script_support import bare_environment

need()
BENCHES = SOURCE / "tests/bench"
VENV = BUILD / "venv/bin/python"
TINY = {"UNITRACE_BENCH_SCALE": "tiny"}
SKIPPED = 77

# A line that each prints when it has measured.
FIGURES = {
    "bench_analyze": r"twice the slices take [\d.]+ and [\d.]+ x the time",
    "bench_devlog": r"1280 rows, .*\n(?:.*\n)+reading and analysing .* M rows/s",
    "bench_export": r"chrome +[\d.]+ M events/s(?:.*\n)+summary +[\d.]+ M events/s",
    "bench_json": r"torch: 1 MB of text\n(?:.*\n)+import / bare scanner: [\d.]+ of its speed",
    "bench_levelzero": r"a kernel in an immediate list .*\n +bare +[\d.]+ us",
    "bench_live": r"1000 tasks/s for 2 s: lag|the machine is too busy",
    "bench_memory": r"nothing else +[\d.]+(?:.*\n)+at a million allocations a second it is [-\d.]+ % at most",
    "bench_merge": r"merge +[\d.]+ MB/s per core(?:.*\n)+5 files of 2 kB: [\d.]+ ms CPU per file",
    "bench_metrics": r"six metrics of every row +[\d.]+ s, \d+ MB; \d+ MB/s",
    "bench_mpi": r"pingpong .*\n(?:.*\n)*the most is -?\d+ ns above the bare call",
    "bench_opencl": r"work and every call +[\d.]+ us a command(?:.*\n)+dearest: ",
    "bench_ops": r"300 ops, logs of 2026: .* k ops/s\n300 ops, a trace: .* k ops/s",
    "bench_perfetto": r"overlapping +\d+ MB/s +[\d.]+ M spans/s",
    "bench_pyramid": r"64 tracks, 192 lanes: build [\d.]+ M rows/s",
    "bench_python": r"unitrace, Python calls +fib +[\d.]+ +mix +[\d.]+\n",
    "bench_query": r"10000 slices; .*\n(?:.*\n)+.* select count, total, name from slice_stats",
    "bench_ranks": r"merge: 2 files, .* MB/s\nranks: 2 files, .* MB/s",
    "bench_read": r"DataFrame of 2,000 rows .*\n(?:.*\n)+ +unitrace +[\d.]+ s",
    "bench_report": r"analyze reports: 200 slices, .* x[\d.]+ with; the page",
    "bench_sampling": r"eight busy threads: .*\n(?:.*\n)+1000 samples \(from \d+\): [\d.]+ s of CPU time",
    "bench_scale": r"2 ranks x 0.002 M events, 1 of them distinct: [\d.]+ bytes/event(?:.*\n)+ +the same with dd ",
    "bench_serve": r"nobody looks: (\d+) tasks in 1 s, \1 in the result\n(?:.*\n)*2 look: .* 0 lost;",
    "bench_spool": r"private +\d+ KiB bare(?:.*\n)+ +perfetto +[\d.]+ \+ [\d.]+ s CPU",
    "bench_stats": r"by name +[\d.]+ ns a row",
    "bench_symbolise": r"1000 samples, 20 places in \d+ libraries: [\d.]+ s",
    "bench_task": r"recording +[\d.]+ ns(?:.*\n)+spool bytes per pair: [\d.]+",
    "bench_utr": r"10000 strings, .*\n +write +\d+ MB/s",
    "bench_view": r"1,000 slices in 1 files, 192 lanes(?:.*\n)+memory: \d+ MiB",
    "bench_view_ask": r"a window: [\d.]+ ms.*\nsearch function 7",
    "bench_view_page": r"1,000 slices, saved as .utr in 1 files:\n +unitrace +picture +[\d.]+ s",
}
# What has to be skipped where there is neither build/venv nor Node, and what is left out of others.
NEEDS_PYTHON, NEEDS_NODE, NEEDS_MPI = "bench_read", "bench_view_page", "bench_mpi"
MAY_SKIP = {NEEDS_PYTHON, NEEDS_NODE, NEEDS_MPI, "bench_levelzero", "bench_memory", "bench_opencl", "bench_query",
            "bench_sampling", "bench_serve", "bench_view", "bench_live"}
LEFT_OUT = {"bench_memory": "heaptrack", "bench_ranks": "memory of ranks", "bench_sampling": "perf",
            "bench_serve": "pages in Chromium", "bench_task": "instructions per pair"}


def run(*words, env):
    done = subprocess.run([str(w) for w in words], cwd=SOURCE, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, timeout=2 * PATIENCE, check=False)
    return done.returncode, done.stdout


class Figures(unittest.TestCase):
    def check(self, name, output):
        self.assertRegex(output, FIGURES[name])
        self.assertNotRegex(output, r"Traceback|\b(nan|inf)\b")


class Bare(Figures):
    """make bench on a machine without build/venv, Node, perf, valgrind, MPI and viztracer."""

    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix="ut_bench_scripts_")
        cls.addClassCleanup(folder.cleanup)
        cls.env = bare_environment(folder.name, **TINY)
        cls.status, cls.output = run("tools/bench.sh", cls.env["UNITRACE_BUILD"], env=cls.env)
        parts = re.split(r"^== (\w+)\n", cls.output, flags=re.M)[1:]
        cls.outputs = dict(zip(parts[::2], parts[1::2]))
        cls.skipped = {name for name, text in cls.outputs.items() if f"bench: {name} is skipped" in text}

    def test_it_ends_well_and_counts(self):
        self.assertEqual(self.status, 0, self.output[-3000:])
        ran, skipped = len(self.outputs) - len(self.skipped), len(self.skipped)
        self.assertEqual(self.output.splitlines()[-1], f"{ran} ran, {skipped} skipped, 0 failed")

    def test_every_benchmark_is_run_and_known_here(self):
        files = {path.stem for path in BENCHES.glob("bench_*.*")}
        self.assertEqual(set(self.outputs), files)
        self.assertEqual(set(FIGURES), files)

    def test_each_prints_its_figures(self):
        for name in sorted(set(self.outputs) - self.skipped):
            with self.subTest(name):
                self.check(name, self.outputs[name])

    def test_what_is_missing_is_skipped_with_a_reason(self):
        self.assertLessEqual({NEEDS_PYTHON, NEEDS_NODE, NEEDS_MPI}, self.skipped)
        self.assertLessEqual(self.skipped, MAY_SKIP)
        for name in self.skipped:
            self.assertRegex(self.outputs[name], r"(?m)^SKIP: .+$")

    def test_rows_without_a_tool_are_left_out_aloud(self):
        for name, what in LEFT_OUT.items():
            if name not in self.skipped:
                with self.subTest(name):
                    self.assertIn(f"left out: {what}", self.outputs[name])
        self.assertRegex(self.outputs["bench_python"], r"viztracer, Python calls +missing: ")


class Status(unittest.TestCase):
    """The statuses that tools/bench.sh adds up."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="ut_bench_tree_")
        self.addCleanup(folder.cleanup)
        self.tree = pathlib.Path(folder.name)
        (self.tree / "tools").mkdir()
        (self.tree / "tests/bench").mkdir(parents=True)
        shutil.copy(SOURCE / "tools/bench.sh", self.tree / "tools")
        for name, status in (("good", 0), ("lacks", 77), ("breaks", 3)):
            (self.tree / f"tests/bench/bench_{name}.sh").write_text(f"echo {name} ran\nexit {status}\n")

    def bench(self, *words):
        return run(self.tree / "tools/bench.sh", self.tree, *words, env=environment())

    def test_ran_skipped_and_failed_are_counted(self):
        status, output = self.bench()
        self.assertEqual((status, output.splitlines()[-1]), (1, "1 ran, 1 skipped, 1 failed"))
        self.assertIn("bench: skipped: bench_lacks\nbench: failed: bench_breaks\n", output)

    def test_some_by_name(self):
        status, output = self.bench("bench_good", "bench_lacks")
        self.assertEqual((status, output.splitlines()[-1]), (0, "1 ran, 1 skipped, 0 failed"))
        self.assertEqual(self.bench("bench_nothing")[0], 2)


class Complete(Figures):
    """Beside what is installed here."""

    def bench(self, name, *words):
        status, output = run(sys.executable, "-B", BENCHES / f"{name}.py", *words,
                             env=environment(UNITRACE_BUILD=str(BUILD), **TINY))
        if status == SKIPPED:
            self.skipTest(output.strip().splitlines()[-1])
        self.assertEqual(status, 0, output[-3000:])
        return output

    def test_readers_in_python(self):
        self.check("bench_read", self.bench("bench_read"))

    def test_instructions(self):
        if not shutil.which("valgrind"):
            self.skipTest("valgrind is not installed")
        self.assertRegex(self.bench("bench_task"), r"instructions per pair \(callgrind\)\n +recording +[\d.]+\n")

    def test_sampling_beside_perf(self):
        if not shutil.which("perf"):
            self.skipTest("perf is not installed")
        self.assertRegex(self.bench("bench_sampling", "budget"), r"perf record -g, 1 kHz +[-+\d.]+% in the program|"
                         r"left out: perf record -g, 1 kHz")

    def test_ranks(self):
        output = self.bench("bench_ranks")
        self.check("bench_ranks", output)
        if shutil.which("mpiexec.openmpi") or shutil.which("mpiexec.mpich"):
            self.assertRegex(output, r"ranks under mpiexec -n 2: equal to the byte|left out: memory of ranks")

    def test_calls_of_mpi(self):
        self.check("bench_mpi", self.bench("bench_mpi"))

    def test_two_builds_beside_each_other(self):
        output = self.bench("before_after", BUILD, BUILD)
        self.assertRegex(output, r"^row +before +after +ratio\n")
        self.assertNotIn("Traceback", output)
        for row in ("recording, fresh pages (ns)", "spool to JSON", "JSON to stats", "analyze, torch", "device log", "merge"):
            self.assertRegex(output, rf"(?m)^{re.escape(row)} +[\d.]+ +[\d.]+ +[\d.]+$")

    def test_sizes_have_names(self):
        status, output = run(sys.executable, "-B", BENCHES / "bench_ops.py", env=environment(UNITRACE_BENCH_SCALE="small"))
        self.assertEqual((status, output), (1, "UNITRACE_BENCH_SCALE=small: expected one of full, tiny\n"))


if __name__ == "__main__":
    os.environ.pop("ROUNDS", None)
    main()
