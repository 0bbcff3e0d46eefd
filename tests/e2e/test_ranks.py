"""`unitrace ranks` on recordings of real MPI programs: waits against the programs' own clocks, the
same result from files, from a merged trace and under mpiexec, and matrices against what was sent."""
# ci: labels slow mpi long
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

# tests/mpi/late.c: why the others wait for rank 0, and in which calls.
SENDER, RECEIVER, COLLECTIVE = "late sender", "late receiver", "late to collective"
SHAPES = {
    "probe": (SENDER, "Probe"), "iprobe": (SENDER, "Iprobe"), "mprobe": (SENDER, "Mprobe"),
    "improbe": (SENDER, "Improbe"), "persistent": (SENDER, "Wait"), "test": (SENDER, "Test"),
    "testany": (SENDER, "Testany"), "testall": (SENDER, "Testall"), "testsome": (SENDER, "Testsome"),
    "waitany": (SENDER, "Waitany"), "waitsome": (SENDER, "Waitsome"), "spin": (SENDER, "Test Wait Iprobe"),
    "parts": (SENDER, "Wait"), "exchange": (SENDER, "Sendrecv"), "ssend": (RECEIVER, "Ssend"),
    "isend": (RECEIVER, "Wait"), "irecv": (RECEIVER, "Wait"), "itest": (RECEIVER, "Test"),
    "iall": (RECEIVER, "Waitall"), "start": (RECEIVER, "Wait"), "origin": ("late origin", "Win_wait"),
    "target": ("late target", "Win_start Win_complete"), "lock": ("lock held", "Win_lock Win_flush Win_unlock"),
    "busy": ("late target", "Win_lock Win_flush Win_unlock"), "fence": (COLLECTIVE, "Win_fence"),
    "open": (COLLECTIVE, "File_open"), "write_all": (COLLECTIVE, "File_write_at_all"),
    "view": (COLLECTIVE, "File_set_view"), "close": (COLLECTIVE, "File_close"), "ibarrier": (COLLECTIVE, "Test"),
    "iallreduce": (COLLECTIVE, "Wait"), "split": (COLLECTIVE, "Comm_split"), "dup": (COLLECTIVE, "Comm_dup"),
    "neighbours": (COLLECTIVE, "Neighbor_allgather"), "ineighbours": (COLLECTIVE, "Wait"), "io": (None, ""),
    "finalize": (COLLECTIVE, "Finalize"),
}


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

    def seen(self, rank, word):
        """What a rank wrote about a shape: (call, begin, end) in order."""
        lines = (line.split() for line in (self.dir / f"log/{rank}.log").read_text().splitlines())
        return [(name, int(begin), int(end)) for w, name, begin, end in lines if w == word]

    def true_wait(self, word):
        """How long the others were in their calls before rank 0 came."""
        came = [(begin, end) for name, begin, end in self.seen(0, word) if name == "late"]
        return sum(min(until, end) - begin for rank in (1, 2) for _, begin, end in self.seen(rank, word)
                   for since, until in came if begin < until and end > since)

    def spent(self, word):
        """How long the others were in these calls. Rank 0 may be late by more than it knows, on a busy machine."""
        return sum(end - begin for rank in (1, 2) for _, begin, end in self.seen(rank, word))

    @under(every=True)
    def test_every_call_that_can_wait_is_seen_to_wait_for_the_late_rank(self, lib):
        (self.dir / "log").mkdir()
        self.record(lib, 3, lib.build("late.c", *mpi_support.ITT), EXTRA, self.dir / "log", *SHAPES,
                    options=["--chrome-itt-logging"])
        result = json.loads(self.ranks("--json", *self.dir.glob("late*.json")))
        for word, (why, names) in SHAPES.items():
            calls = {f"MPI_{name}" for name in names.split()}
            found = {}
            for w in result["waits"]:
                if w["rank"] == 0 and w["task"] == word and w["call"] in calls:
                    found[w["why"]] = found.get(w["why"], 0) + w["wait_ns"]
            true = self.true_wait(word)
            # Some libraries let nobody wait: these must not be said to. Others are blamed on calls in part.
            if true < 0.5 * EXTRA * 1_000_000:
                self.assertLess(sum(found.values()), true + 0.3 * EXTRA * 1_000_000, (word, found))
                continue
            self.assertGreater(found.get(why, 0), 0.6 * true, (word, found, true))
            self.assertLess(sum(found.values()), 1.1 * self.spent(word) + 20_000_000, (word, found, true))
        waited = {word for word in SHAPES if self.true_wait(word) >= 0.5 * EXTRA * 1_000_000}
        self.assertGreater(len(waited), len(SHAPES) - 8, f"the program itself did not wait: {set(SHAPES) - waited}")
        self.assertRegex(result["verdict"], "^Rank 0 makes 2 others wait")
        self.assertEqual(result["backwards"], 0)
        # Only what was sent or put was moved; each end of a message is there.
        self.assertEqual(result["single_ends"], 0)

    @under(every=True)
    def test_time_in_files_and_bytes_of_files_have_columns_of_their_own(self, lib):
        (self.dir / "log").mkdir()
        self.record(lib, 3, lib.build("late.c", *mpi_support.ITT), 1, self.dir / "log", "io")
        result = json.loads(self.ranks("--json", *self.dir.glob("late*.json")))
        much = 4 << 20
        true = sum(end - begin for rank in range(3) for call, begin, end in self.seen(rank, "io")
                   if call != "MPI_Finalize")
        self.assertGreater(sum(row["file_ns"] for row in result["ranks"]), 0.5 * true)
        for row in result["ranks"]:
            self.assertEqual((row["written_bytes"], row["read_bytes"]), (much + much // 4, much // 2))
            self.assertEqual((row["sent_bytes"], row["messages"]), (0, 0))
            self.assertGreater(row["file_ns"], 0)
            self.assertGreaterEqual(row["in_calls_ns"], row["file_ns"] + row["wait_ns"] + row["transfer_ns"])
        calls = {c["call"]: c for c in result["calls"]}
        self.assertEqual(calls["MPI_File_read_at"]["read_bytes"], 3 * much // 2)
        self.assertEqual(calls["MPI_File_read_at"]["received_bytes"], 0)
        self.assertEqual(calls["MPI_Wait"]["transfer_ns"], 0)
        text = self.ranks("--by", "rank", *self.dir.glob("late*.json"))
        self.assertRegex(text, r"Files +Written +Read\n")

    @under()
    def test_what_mpi_says_about_itself_is_counted_apart(self, lib):
        """tests/mpi/internal.c calls the hooks as Intel MPI does, and says for how long it was idle."""
        self.record(lib, 2, lib.build("internal.c", "-ldl"), self.dir)
        files = sorted(self.dir.glob("internal*.json"))
        result = json.loads(self.ranks("--json", *files))
        for row in result["ranks"]:
            true = int((self.dir / f"{row['rank']}.idle").read_text())
            self.assertGreater(row["idle_ns"], 0.5 * true)
            self.assertLess(row["idle_ns"], row["in_calls_ns"])
        self.assertNotIn("MPI_Internal::Device", {c["call"] for c in result["calls"] if c["transfer_ns"]})
        trace = self.traces("internal*.json")[0]
        idle = [s for s in trace.spans if s.name == "MPI_Internal::Idle"]
        self.assertEqual([s.args for s in idle], [{}] * len(idle))
        device = [s for s in trace.spans if s.name == "MPI_Internal::Device"]
        self.assertEqual([s.args for s in device], [{"mpi_counter": i, "bytes": 64, "received": 32} for i in range(2)])
        reduce = next(s for s in trace.spans if s.name == "MPI_Allreduce")
        self.assertTrue(reduce.begin <= idle[0].begin <= idle[0].end <= reduce.end)
        self.assertIn("MPI itself was idle for", self.ranks(*files))

    @under("intel", every=True)
    def test_intel_mpi_says_when_it_is_idle(self, lib):
        (self.dir / "log").mkdir()
        self.record(lib, 2, lib.build("late.c", *mpi_support.ITT), 20, self.dir / "log", "iallreduce")
        result = json.loads(self.ranks("--json", *self.dir.glob("late*.json")))
        self.assertGreater(sum(row["idle_ns"] for row in result["ranks"]), 0)
        self.assertIn("MPI_Internal::Idle", {c["call"] for c in result["calls"]})

    @under(every=True)
    def test_one_sided_transfers_go_where_the_data_goes(self, lib):
        self.record(lib, 2, lib.build("one_sided.c"))
        files = list(self.dir.glob("one_sided*.json"))
        rows = list(csv.DictReader(io.StringIO(self.ranks("--matrix", "--csv", *files))))
        self.assertEqual({(int(r["from"]), int(r["to"])): (int(r["messages"]), int(r["sent_bytes"])) for r in rows},
                         {(0, 1): (5, 1000 + 2000 + 3000 + 8 + 8), (1, 0): (4, 100 + 200 + 8 + 8)})
        result = json.loads(self.ranks("--json", *files))
        self.assertEqual([r["messages"] for r in result["ranks"]], [7, 0])
        self.assertEqual(result["ranks"][0]["received_bytes"], 100 + 200 + 8 + 8)

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
                if "target" in words and "received" in words: # what is got comes from there
                    key = int(words["target"]), rank
                    sent[key] = sent.get(key, 0) + int(words["received"])
        rows = csv.DictReader(io.StringIO(self.ranks("--matrix", "--csv", "all.json")))
        self.assertEqual({(int(r["from"]), int(r["to"])): int(r["sent_bytes"]) for r in rows
                          if int(r["sent_bytes"])}, sent)

    def stand_still(self, lib, how):
        """A job that stands still until its processes are killed: what `ranks` says, as text and as JSON."""
        (self.dir / "log").mkdir()
        alone = ["-disable-auto-cleanup"] if lib.name == "mpich" else []  # or it kills launchers that are writing
        self.run_words(*lib.start(RANKS), *alone, UNITRACE, "--chrome-mpi-logging", "--chrome-itt-logging",
                       "--no-summary", lib.build("stuck.c", *mpi_support.ITT), how, self.dir / "log", 2,
                       env=lib.environment())
        recorded = {path.name.split(".")[-2] for path in self.dir.glob("stuck*.json")}
        for session in self.dir.glob("*.session"):  # of launchers that were killed with the others
            spools = [path.name.split("-")[0] for path in session.glob("*.spool")]
            done = self.unitrace("export", "-o", f"late-{session.name}.json", session)
            late = self.dir / f"late-{session.name}.json"
            if done.returncode or not spools:
                continue
            rank = str(common.Trace(late).processes[0]["rank"])
            if rank in recorded:
                late.unlink()
            recorded.add(rank)
        files = sorted(self.dir.glob("*.json"))
        self.assertEqual(len(files), RANKS, files)
        return files, json.loads(self.ranks("--json", *files))

    def assertStuck(self, lib, how, pattern):
        files, result = self.stand_still(lib, how)
        self.assertRegex(result["verdict"], pattern)
        self.assertNotIn("hardly", result["verdict"])
        pop = {row["metric"]: row["value"] for row in result["efficiency"]}
        self.assertLess(pop["parallel_efficiency"], 50)
        return files, result

    @under()
    def test_a_rank_that_never_came_is_named_and_where_it_was(self, lib):
        files, result = self.assertStuck(
            lib, "task", r"^Rank 1 never came to MPI_Allreduce \(seq 2 on MPI_COMM_WORLD\), in which 3 others waited up to "
            r"the end, for [0-9.]+ m?s: it was in its task \"parse\" for ")
        # A launcher that was killed, too, has seen its rank for a part of the time only.
        for row in result["ranks"]:
            if row["rank"] != 1:
                self.assertGreater(row["wait_ns"], 0.5 * row["total_ns"], row)
        waits = sum(row["wait_ns"] for row in result["ranks"])
        self.assertGreater(result["ranks"][1]["caused_ns"], 0.9 * waits)
        row = next(c for c in result["collectives"] if c["unfinished"])
        self.assertEqual((row["collective"], row["unfinished"], row["late_rank"]), ("allreduce", 1, 1))
        for name in ("all.json", "all.utr", "all.pftrace"):
            done = self.unitrace("merge", "--quiet", "-o", name, *files)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(json.loads(self.ranks("--json", name))["verdict"], result["verdict"], name)
        three = json.loads(self.ranks("--json", *[f for f in files if common.Trace(f).processes[0]["rank"] != 1]))
        self.assertRegex(three["verdict"], r"^3 ranks waited in MPI_Allreduce .* for ranks that are not here: rank 1\.")

    @under(first=os.environ.get("UNITRACE_LONG") != "1")  # they differ in what `ranks` says, not in the MPI
    def test_other_ways_to_stand_still_are_distinguished(self, lib):
        for how, pattern in {
                "exit": r"^Rank 1 never came to MPI_Allreduce .*: its process had ended: exit status 3",
                "leave": r"^Rank 1 never came to MPI_Allreduce .*: its process had ended: exit status 0, without MPI_Final",
                "chain": r"it was in MPI_Recv \(on MPI_COMM_WORLD\) for [0-9.]+ m?s, waiting for rank 2, which was in its "
                         r"task \"read_input\"",
                "deadlock": r"waiting for rank [01], which was in MPI_Recv .*, waiting for rank [01]: a deadlock",
                "operation": r"^Ranks make different calls as seq 2 on MPI_COMM_WORLD: .*MPI_Barrier",
                "half": r"MPI_Barrier \(seq 0 on comm [0-9a-f]+\) for [0-9.]+ m?s, waiting for rank 3, which was in its task",
                "poll": r"^Rank \d waited in MPI_Test \(on MPI_COMM_WORLD\) up to the end, for [0-9.]+ m?s, for rank 1: it was "
                        r"in its task \"read_input\"",
                "probe": r"^Rank \d waited in MPI_Iprobe \(on MPI_COMM_WORLD\) up to the end, for [0-9.]+ m?s, for rank 1: it "
                         r"was in its task \"read_input\"",
                "poll barrier": r"^Rank 1 never came to MPI_Ibarrier \(seq 2 on MPI_COMM_WORLD\), in which 3 others waited up "
                                r"to the end, for [0-9.]+ m?s: it was in its task \"read_input\"",
                "several": r"MPI_Waitall.* rank 1(: it|, which) was in its task \"read_input\"",
                "any": r"MPI_Recv \(on MPI_COMM_WORLD\) .* a message from any rank; all others were in calls, too: a deadlock",
                "window": r"it was in MPI_Win_wait \(on win [0-9a-f]+\) for [0-9.]+ m?s, waiting for rank 1, which was in its "
                          r"task \"read_input\"",
                "lock": r"^Rank \d waited in MPI_Win_(un)?lock \(on win [0-9a-f]+\) up to the end, for [0-9.]+ m?s, for "
                        r"rank 1: it was in its task \"read_input\"",
                "overlapped": r"^Rank 1 never came to MPI_Allreduce .*: it was in \"read_ahead\" \(overlapped, or of another "
                              r"thread\) for ",
                "request": r"it was in MPI_Wait \(on MPI_COMM_WORLD\) for [0-9.]+ m?s, waiting for rank 1, which was in",
                "later": r"^Rank 1 never came to MPI_Iallreduce \(seq 2 on MPI_COMM_WORLD\)"}.items():
            with self.subTest(how=how):
                self.assertStuck(lib, how, pattern)
            for path in self.dir.iterdir():
                mpi_support.shutil.rmtree(path) if path.is_dir() else path.unlink()


if __name__ == "__main__":
    common.main()
