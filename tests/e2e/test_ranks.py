"""`unitrace ranks` on recordings of real MPI programs: waits against the programs' own clocks, the
same result from files, from a merged trace and under mpiexec, and matrices against what was sent."""
# ci: labels slow mpi
import csv
import io
import json
import os

import common
import mpi_support
from common import BUILD, UNITRACE
from mpi_support import under

common.need()
if not mpi_support.libraries():
    common.skip("no MPI with mpicc and mpiexec is here (openmpi-bin libopenmpi-dev mpich libmpich-dev)")

RANKS, STEPS, LATE, EXTRA = 4, 5, 2, 100  # far more than other processes take on a busy machine


class Ranks(mpi_support.Case):
    def ranks(self, *words):
        done = self.unitrace("ranks", *words)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout.decode()

    def run_imbalance(self, lib, how="all"):
        (self.dir / "log").mkdir()
        self.record(lib, RANKS, lib.build("imbalance.c", *mpi_support.ITT), self.dir / "log", STEPS, LATE, EXTRA, how,
                    options=["--chrome-itt-logging"])
        times = [[tuple(map(int, line.split())) for line in (self.dir / f"log/{r}.log").read_text().splitlines()]
                 for r in range(RANKS)]
        return json.loads(self.ranks("--json", *self.dir.glob("imbalance*.json"))), times

    def assertNear(self, found, true, what):
        """Within 5 %; the program reads its clock a little before the call and a little behind it."""
        self.assertLess(abs(found - true), 0.05 * true + 200_000, f"{what}: {found}, true is {true}")

    @under(every=True)
    def test_waits_are_those_that_the_program_sees(self, lib):
        result, times = self.run_imbalance(lib)
        waits = [0] * RANKS
        for step in zip(*times):
            last = max(begin for begin, _ in step)
            for rank, (begin, end) in enumerate(step):
                waits[rank] += max(0, min(last, end) - begin)
        table = json.loads(self.ranks("--by", "call", "--json", *self.dir.glob("imbalance*.json")))
        found = next(row for row in table if row["call"] == "MPI_Allreduce")["wait_ns"]
        self.assertNear(found, sum(waits), "all waits")
        for rank in (0, 1, 3):
            barriers = result["ranks"][rank]["wait_ns"]
            self.assertGreater(barriers, 0.95 * waits[rank] - 200_000)
        # who is late, and in which task: the extra time is in assemble of that rank
        self.assertRegex(result["verdict"], rf"^Rank {LATE} makes 3 others wait: .* because of its task \"assemble\"")
        task = next(t for t in result["tasks"] if t["task"] == "assemble")
        self.assertEqual(task["most_rank"], LATE)
        self.assertGreater(task["most_ns"], STEPS * (EXTRA + 4) * 1_000_000)
        blamed = sum(w["wait_ns"] for w in result["waits"] if w["rank"] == LATE and w["task"] == "assemble")
        self.assertGreater(blamed, 0.5 * STEPS * EXTRA * 1_000_000)
        self.assertEqual([s["slowest"] >= 0 for s in result["steps"]], [True] * STEPS)

    @under()
    def test_a_late_sender_and_a_late_root_are_found(self, lib):
        result, times = self.run_imbalance(lib, "pair")
        true = sum(max(0, min(sent[0], got[1]) - got[0]) for sent, got in zip(times[LATE], times[LATE + 1]))
        found = sum(w["wait_ns"] for w in result["waits"] if w["why"] == "late sender")
        self.assertNear(found, true, "late sender")
        self.assertEqual([(m["from"], m["to"], m["messages"], m["sent_bytes"]) for m in result["matrix"]],
                         [(LATE, LATE + 1, STEPS, 8 * STEPS)])
        # The others meet the receiver at the end, who is late because it waited: the sender made them wait, too.
        ranks = {r["rank"]: r for r in result["ranks"]}
        self.assertGreater(ranks[LATE]["indirect_ns"], 0)
        self.assertEqual(sum(r["caused_ns"] for r in ranks.values()), sum(r["wait_ns"] for r in ranks.values()))
        for path in self.dir.glob("*.json"):
            path.unlink()
        mpi_support.shutil.rmtree(self.dir / "log")
        result, times = self.run_imbalance(lib, "bcast")
        true = sum(max(0, min(step[LATE][0], step[r][1]) - step[r][0])
                   for step in zip(*times) for r in range(RANKS) if r != LATE)
        found = sum(w["wait_ns"] for w in result["waits"] if w["call"] == "MPI_Bcast")
        self.assertNear(found, true, "late root")

    @under()
    def test_files_a_merged_trace_and_ranks_of_our_own_agree(self, lib):
        (self.dir / "log").mkdir()
        self.record(lib, RANKS, lib.build("every_call.c"), self.dir / "log")
        files = sorted(self.dir.glob("every*.json"))
        alone = self.ranks("--json", *files)
        done = self.unitrace("merge", "--quiet", "-o", "all.json", *files)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.ranks("--json", "all.json"), alone)
        if (BUILD / f"lib/unitrace/mpi/{lib.name}.so").exists():
            # MPI libraries do not tidy up: in a build with a leak checker that is none of our business
            env = {**lib.environment(),
                   "ASAN_OPTIONS": os.environ.get("ASAN_OPTIONS", "") + ":detect_leaks=0"}
            done = self.run_words(*lib.start(3), UNITRACE, "ranks", "--json", *files, env=env)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(done.stdout.decode(), alone)
        sent = {}
        for rank in range(RANKS):
            for line in (self.dir / f"log/{rank}.log").read_text().splitlines():
                words = dict(w.split("=", 1) for w in line.split()[1:] if "=" in w)
                if ("to" in words or "target" in words) and "bytes" in words:
                    key = rank, int(words.get("to", words.get("target")))
                    sent[key] = sent.get(key, 0) + int(words["bytes"])
        rows = csv.DictReader(io.StringIO(self.ranks("--matrix", "--csv", "all.json")))
        self.assertEqual({(int(r["from"]), int(r["to"])): int(r["sent_bytes"]) for r in rows
                          if int(r["sent_bytes"])}, sent)


if __name__ == "__main__":
    common.main()
