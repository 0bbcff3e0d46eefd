"""Commands under mpiexec: the ranks share the work, and the result is that of one process.

Each test runs under every MPI that has both a plugin in the build and an mpiexec on this machine.
"""
# ci: labels slow mpi
import functools
import json
import os
import random
import re
import shutil
import subprocess

import common
from common import BUILD, UNITRACE

RANKS = 4
LAUNCHERS = {"openmpi": "mpiexec.openmpi", "mpich": "mpiexec.mpich"}


def found():
    return [name for name, launcher in LAUNCHERS.items()
            if shutil.which(launcher) and (BUILD / f"lib/unitrace/mpi/{name}.so").exists()]


def launch(name, ranks=RANKS):
    """The words that start a command on several ranks, also as root and on few cores."""
    more = ["--allow-run-as-root", "--oversubscribe"] if name == "openmpi" else []
    return [LAUNCHERS[name], *more, "-n", str(ranks)]


def environment():
    """MPI libraries do not tidy up: in a build with a leak checker that is none of our business."""
    asan = os.environ.get("ASAN_OPTIONS", "")
    return common.environment(ASAN_OPTIONS=f"{asan}:detect_leaks=0")


def make_trace(path, rank, events):
    rng = random.Random(rank)
    rows = [{"ph": "M", "pid": 4000 + rank % 2, "tid": 0, "name": "process_name",
             "args": {"name": "solver"}}]
    ts = 0.0
    for i in range(events):
        ts = round(ts + rng.random() * 5, 3)
        rows.append({"ph": "X", "pid": 4000 + rank % 2, "tid": rng.randrange(3), "ts": ts,
                     "dur": round(rng.random() * 4, 3), "name": rng.choice("abcdef"),
                     "args": {"i": i}})
        if i % 10 == 0:
            rows += [{"ph": p, "pid": 4000, "tid": 1, "ts": ts, "id": i, "name": "f", "cat": "f"}
                     for p in "sf"]
    path.write_text(json.dumps({
        "distributedInfo": {"rank": rank}, "baseTimeNanoseconds": 1700000000 * 10**9 + rank * 777,
        "traceEvents": rows}))


def under_every_mpi(test):
    """The test, once per MPI, with its name."""
    @functools.wraps(test)
    def run(self):
        if not found():
            self.skipTest("no MPI has both a plugin and an mpiexec here")
        for name in found():
            with self.subTest(mpi=name):
                test(self, name)
            for path in self.dir.iterdir():
                path.unlink()
    return run


class Case(common.Case):
    def make_traces(self, count=7):
        for rank in range(count):
            make_trace(self.dir / f"rank{rank}.json", rank, 300 * (1 + rank % 3))

    def under(self, name, *words, ranks=RANKS, **options):
        return self.run_words(*launch(name, ranks), UNITRACE, *words, env=environment(), **options)

    def assertNothingLeft(self, *names):
        here = {p.name for p in self.dir.iterdir() if not re.fullmatch(r"rank\d+\.json", p.name)}
        self.assertEqual(here, set(names))


class Merge(Case):
    @under_every_mpi
    def test_the_bytes_are_those_of_one_process(self, name):
        self.make_traces()
        self.assertEqual(self.unitrace("merge", "-o", "serial.json", ".").returncode, 0)
        wanted = (self.dir / "serial.json").read_bytes()
        os.unlink(self.dir / "serial.json")
        for ranks in (2, RANKS):
            got = self.under(name, "merge", "-f", "-o", "all.json", ".", ranks=ranks)
            self.assertEqual(got.returncode, 0, got.stderr)
            self.assertEqual((self.dir / "all.json").read_bytes(), wanted)
            self.assertNothingLeft("all.json")

    @under_every_mpi
    def test_more_ranks_than_files(self, name):
        self.make_traces(2)
        self.assertEqual(self.unitrace("merge", "-o", "serial.json", "rank0.json",
                                       "rank1.json").returncode, 0)
        got = self.under(name, "merge", "-f", "-o", "all.json", "rank0.json", "rank1.json")
        self.assertEqual(got.returncode, 0, got.stderr)
        self.assertEqual((self.dir / "all.json").read_bytes(),
                         (self.dir / "serial.json").read_bytes())

    @under_every_mpi
    def test_every_rank_writes_its_part(self, name):
        """Events enough for many cuts; many of them, of several files, at the same time."""
        for rank in range(5):
            rng = random.Random(rank)
            rows = [f'{{"ph":"X","pid":{rank},"tid":1,"ts":{i // 900 * 900},"dur":1,'
                    f'"name":"{"n" * rng.randrange(200)}"}}' for i in range(3000)]
            (self.dir / f"rank{rank}.json").write_text("[" + ",\n".join(rows) + "]")
        for output in ("all.json", "all.json.gz"):
            self.assertEqual(self.unitrace("merge", "-f", "-o", output, ".").returncode, 0)
            wanted = (self.dir / output).read_bytes()
            os.unlink(self.dir / output)
            got = self.under(name, "merge", "-f", "-o", output, ".")
            self.assertEqual(got.returncode, 0, got.stderr)
            self.assertIn(b"15000 events of 5 files", got.stderr)
            self.assertEqual((self.dir / output).read_bytes(), wanted)
            self.assertNothingLeft(output)
            os.unlink(self.dir / output)

    @under_every_mpi
    def test_an_error_on_one_rank_ends_all_with_one_line(self, name):
        self.make_traces()
        (self.dir / "rank5.json").write_text("this is no trace at all" * 100)
        got = self.under(name, "merge", "--strict", "-o", "all.json", ".", "rank5.json")
        self.assertEqual(got.returncode, 1, got.stderr)
        lines = [l for l in got.stderr.decode().splitlines() if l.startswith("unitrace: ")]
        self.assertEqual(len(lines), 1, lines)
        self.assertIn("rank5.json: offset 0", lines[0])
        self.assertNothingLeft()

    @under_every_mpi
    def test_files_that_are_no_traces_are_left_out_as_by_one_process(self, name):
        self.make_traces()
        for rank in (0, 5):
            (self.dir / f"rank{rank}.json").write_text("this is no trace at all" * 100)
        files = [f"rank{n}.json" for n in range(7)]
        self.assertEqual(self.unitrace("merge", "-o", "serial.json", *files).returncode, 0)
        got = self.under(name, "merge", "-o", "all.json", *files)
        self.assertEqual(got.returncode, 0, got.stderr)
        self.assertEqual((self.dir / "all.json").read_bytes(),
                         (self.dir / "serial.json").read_bytes())
        said = got.stderr.decode()
        for rank in (0, 5):
            self.assertRegex(said, f"rank{rank}.json: offset 0: .*; left out")
        self.assertIn(" of 5 files are in all.json", said)

    @under_every_mpi
    def test_misuse_and_missing_files_are_reported_once(self, name):
        for words, status in ((("--pids", "never", "x.json"), 2), (("nowhere.json",), 1), ((), 2)):
            got = self.under(name, "merge", *words)
            self.assertEqual(got.returncode, status, got.stderr)
            said = [l for l in got.stderr.decode().splitlines()
                    if l.startswith("unitrace: ") and "usage" not in l]
            self.assertEqual(len(said), 1, said)

    @under_every_mpi
    def test_ranks_with_different_words_are_refused(self, name):
        self.make_traces(2)
        words = launch(name, 1)
        got = self.run_words(*words, UNITRACE, "merge", "-o", "x.json", "rank0.json", ":", "-n",
                             "1", UNITRACE, "merge", "-o", "y.json", "rank1.json",
                             env=environment())
        self.assertEqual(got.returncode, 1, got.stderr)
        self.assertIn(b"different arguments", got.stderr)
        self.assertNothingLeft()
        got = self.run_words(*words, UNITRACE, "merge", "--no-mpi", "-o", "x.json", "rank0.json",
                             ":", "-n", "1", UNITRACE, "merge", "--no-mpi", "-o", "y.json",
                             "rank1.json", env=environment())
        self.assertEqual(got.returncode, 0, got.stderr)
        self.assertNothingLeft("x.json", "y.json")

    @under_every_mpi
    def test_other_formats_are_merged_by_rank_0(self, name):
        self.make_traces(3)
        got = self.under(name, "merge", "-f", "-o", "all.pftrace", ".", ranks=2)
        self.assertEqual(got.returncode, 0, got.stderr)
        self.assertTrue((self.dir / "all.pftrace").stat().st_size > 1000)


class Stats(Case):
    @under_every_mpi
    def test_the_tables_are_those_of_one_process(self, name):
        self.make_traces()
        for words in (("stats", "."), ("stats", "--json", ".")):
            serial = self.unitrace(*words)
            self.assertEqual(serial.returncode, 0, serial.stderr)
            for ranks in (2, RANKS):
                got = self.under(name, *words, ranks=ranks)
                self.assertEqual(got.returncode, 0, got.stderr)
                self.assertEqual(got.stdout, serial.stdout)


class WithoutPlugin(Case):
    """The program alone, in a folder without plugins: rank 0 works, the others say nothing."""

    def test_rank_0_does_it_all_with_one_warning(self):
        self.make_traces(3)
        (self.dir / "bare/bin").mkdir(parents=True)
        shutil.copy(UNITRACE, self.dir / "bare/bin/unitrace")
        bare = self.dir / "bare/bin/unitrace"
        self.addCleanup(shutil.rmtree, self.dir / "bare", ignore_errors=True)
        for rank in range(RANKS):
            for variables in ({"PMI_RANK": str(rank), "PMI_SIZE": str(RANKS)},
                              {"OMPI_COMM_WORLD_RANK": str(rank), "OMPI_COMM_WORLD_SIZE": "4"},
                              {"SLURM_PROCID": str(rank), "SLURM_STEP_NUM_TASKS": "4"}):
                got = self.run_words(bare, "merge", "-f", "-o", "all.json", "rank0.json",
                                     "rank1.json", env=common.environment(**variables))
                self.assertEqual(got.returncode, 0, got.stderr)
                warnings = got.stderr.decode().count("no plugin for this MPI")
                self.assertEqual(warnings, 1 if rank == 0 else 0, got.stderr)
                self.assertEqual((self.dir / "all.json").exists(), rank == 0)
                if rank == 0:
                    os.unlink(self.dir / "all.json")

    def test_the_program_itself_needs_no_mpi(self):
        got = subprocess.run(["ldd", UNITRACE], capture_output=True, text=True)
        self.assertNotRegex(got.stdout, r"libmpi|libmpich|libopen-")


if __name__ == "__main__":
    common.need()
    common.main()
