#!/usr/bin/env python3
"""`unitrace analyze` on what ends in a traceback elsewhere, and where nothing can be written: each
case has a result, which docs/guides/analyze.md names. Also profiles, and mpiexec."""
import os
import resource
import shutil
import signal
import subprocess
import unittest

from common import BUILD, PATIENCE, skip
from test_analyze import ACELYZER, Case, F, analyze, flex, kernels

SPAN = {"ph": "X", "pid": 0, "tid": 1, "ts": 10.0, "dur": 5.0}
STAMPS = {f"TS{k + 1}": str(100 * k + 100) for k in range(5)}


class Shapes(Case):
    def result(self, events, *more):
        self.write("a.json", events)
        out = self.run_ok("-i", "a.json", "-o", "o.json", *more)
        return self.events(), out

    def test_nested_pairs(self):
        spans, _ = self.result([{"name": n, "ph": p, "pid": 0, "tid": 1, "ts": t} for n, p, t in (
            ("a", "B", 0), ("b", "B", 2), ("b", "E", 5), ("a", "E", 9))])
        self.assertEqual(sorted((e["name"], e["ts"], e["dur"]) for e in spans),
                         [("a", 0, 9), ("b", 2, 3)])

    def test_interleaved_pairs_of_two_threads(self):
        spans, _ = self.result([{"name": n, "ph": p, "pid": 0, "tid": i, "ts": t}
                                for n, p, i, t in (("a", "B", 1, 0), ("b", "B", 2, 2),
                                                   ("a", "E", 1, 5), ("b", "E", 2, 9))])
        self.assertEqual(sorted((e["name"], e["dur"]) for e in spans), [("a", 5), ("b", 7)])

    def test_ends_and_begins_alone_are_counted(self):
        spans, out = self.result([{"name": "a", "ph": "E", "pid": 0, "tid": 1, "ts": 1},
                                  {"name": "b", "ph": "B", "pid": 0, "tid": 1, "ts": 2}])
        self.assertEqual(spans, [])
        self.assertIn("1 ends without begin, 1 begins without end", out)

    def test_processes_and_threads_that_are_text(self):
        spans, _ = self.result([{**SPAN, "name": "a", "pid": "host", "tid": "main"}])
        self.assertEqual(spans[0]["args"]["opid"], "host")
        self.assertEqual(spans[0]["args"]["otid"], "main")

    def test_stamps_that_are_incomplete_or_no_numbers(self):
        for bad in ({"TS4": None}, {"TS3": "x"}, {"TS5": []}):
            args = {k: v for k, v in {**STAMPS, **bad}.items() if v is not None}
            spans, out = self.result([{**SPAN, "name": "k Cmpt Exec", "args": args}])
            self.assertIn("1 events have TS1 but no five good stamps", out)
            self.assertEqual((spans[0]["ts"], spans[0]["pid"]), (10, 1000))  # a host event

    def test_stamps_that_would_begin_before_zero(self):
        spans, _ = self.result([{**SPAN, "name": "k DmaO", "ts": 0.1, "dur": 0.1, "args": STAMPS}])
        self.near(spans[0]["ts"] + spans[0]["dur"], 0.2)

    def test_a_kernel_without_length_gives_no_frequency(self):
        for more in ((), ("--compat=1.2",)):
            self.result([{**SPAN, "name": "k Cmpt Exec", "dur": 0, "args": STAMPS}], *more)

    def test_metadata_without_a_time(self):
        _, out = self.result([{"ph": "M", "name": "process_name", "pid": 0,
                               "args": {"name": "x"}}])
        self.assertIn("ERROR Event failed sanityCheck:  ts is not in", out)

    def test_arrows_and_collectives_together(self):
        for r in (0, 1):
            events = flex([("SenRdmaSend_1 [sync=x] DmaO", 10.0, 5.0, [1, 2, 3, 4, 5], 1)], rank=r,
                          style="x", CollGroup="AllReduce_all_reduce_1")
            self.write(f"r{r}.json", events + [
                {"ph": p, "id": 1, "name": "f", "cat": "f", "pid": r, "tid": 1, "ts": 11}
                for p in "sf"])
        self.run_ok("-i", "r0.json,r1.json", "--freq", f"{F}:800", "-o", "o.json", "--flow", "-R")
        self.assertEqual(len(self.events(ph="s")), 2)

    def test_ranks_are_in_their_order_whichever_began_first(self):
        for r, start in enumerate((10.0, 30.0, 20.0, 40.0)):
            self.write(f"r{r}.json", flex([("k_1 Cmpt Exec", start, 5.0, [1, 2, 3, 4, 5], 1)],
                                          rank=r, style="x"))
        self.run_ok("-i", "r0.json,r1.json,r2.json,r3.json", "--freq", f"{F}:800", "-o", "o.json",
                    "--flow", "-R", "--compat", "1.2")
        rows = (self.dir / "o_stats_summary.csv").read_text().splitlines()[1:]
        self.assertEqual([row.split(",")[0] for row in rows], ["0", "1", "2", "3"])

    def test_a_log_is_no_trace_but_others_are_read(self):
        self.write("b.log", "[0d:00:00.000] INFO hello\n")
        done = analyze(self.dir, "-i", "b.log", "-o", "o.json")
        self.assertEqual(done.returncode, 1)
        self.assertIn("Unrecognized file type. file: b.log", done.stdout)
        self.write("a.json", flex(kernels(2)))
        self.run_ok("-i", "a.json,b.log", "-o", "o.json")
        self.assertEqual(len(self.events()), 6)

    def test_align_with_one_collective_and_with_none(self):
        """The second kind of alignment divides by the distance of two."""
        for group in ({}, {"CollGroup": "AllReduce_all_reduce_1"}):
            for r in (0, 1):
                self.write(f"r{r}.json", flex(kernels(2, rank=r), rank=r, style="x", **group))
            self.run_ok("-i", "r0.json,r1.json", "--freq", f"{F}:800", "-S", "-o", "o.json")
            self.assertEqual(len(self.events()), 12)

    def test_names_that_are_not_found_and_names_that_are(self):
        self.write("a.json", flex(kernels(2)))
        self.run_ok("-i", "a.json,missing.json,none*.json", "-o", "o.json")
        self.assertEqual({e["args"]["jobname"] for e in self.events()}, {"a.json"})


class Outputs(Case):
    """Whatever goes wrong, nothing incomplete has the name of a result."""

    def setUp(self):
        super().setUp()
        self.write("a.json", flex(kernels(400)))

    def left(self):
        return sorted(p.name for p in self.dir.rglob("*") if p.is_file())

    def test_a_folder_that_cannot_be_written(self):
        if os.geteuid() == 0:
            self.skipTest("not here: root may write everywhere")
        (self.dir / "shut").mkdir(mode=0o500)
        done = analyze(self.dir, "-i", "a.json", "-o", "shut/o.json")
        self.assertEqual(done.returncode, 1)
        self.assertIn("shut/o", done.stderr)
        self.assertEqual(self.left(), ["a.json"])

    def test_no_folder_and_a_folder_in_place_of_the_file(self):
        (self.dir / "o.json").mkdir()
        for name in ("none/o.json", "o.json"):
            done = analyze(self.dir, "-i", "a.json", "-o", name, "-t")
            self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
            self.assertRegex(done.stderr, rf"{name}: ")
            self.assertEqual(self.left(), ["a.json"])

    def test_a_full_disk(self):
        def limit():
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 16, 1 << 16))

        for threads in ("1", "2"):
            done = subprocess.run([ACELYZER, "-i", "a.json", "-o", "o.json", "-t", "--threads",
                                   threads], cwd=self.dir, capture_output=True, text=True,
                                  preexec_fn=limit, timeout=PATIENCE)
            self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
            self.assertIn("o.json: ", done.stderr)
            self.assertEqual(self.left(), ["a.json"])


class Profiles(Case):
    def setUp(self):
        super().setUp()
        self.write("a.json", flex(kernels(3)))

    def run_with(self, names, *more):
        self.write("p.json", {"stages": [n if isinstance(n, dict) else {n: True} for n in names]})
        return self.run_ok("-i", "a.json", "--freq", f"{F}:800", "-o", "o.json", "-P", "p.json",
                           *more)

    CLOCKS = ["normalize_phase1", "normalize_phase2", "cycle_count_to_wallclock",
              "tighten_hts_by_instr_type"]

    def test_helpers_stay_if_nobody_takes_them_away(self):
        self.run_with(self.CLOCKS)
        e = self.events()[0]
        self.assertEqual(len(e["args"]["ts_all"]), 5)
        self.assertEqual(len(e["args"]["ts_dev"]), 5)
        self.run_with([*self.CLOCKS, "cleanup_copy_of_device_ts", "cycle_count_conversion_cleanup"])
        self.assertFalse({"ts_all", "ts_dev", "jobhash"} & set(self.events()[0]["args"]))

    def test_processes_get_names_from_the_stage_that_looks_at_them(self):
        self.run_with([*self.CLOCKS, "tb_refinement_intrusive"])
        self.assertEqual((self.events(ph="M"), self.trace()["deviceProperties"]), ([], []))
        self.run_with([*self.CLOCKS, "tb_refinement_lightweight"])
        self.assertEqual(len(self.events(ph="M")), 3)

    def test_samples_of_which_no_power_is_computed(self):
        self.run_with([*self.CLOCKS, "extract_power_event"])
        e = self.events(ph="C")[-1]
        self.assertEqual(e["args"]["TS_cycles"], e["ts"])

    def test_a_name_several_times(self):
        """1.2: a name alone means all of them, NAME#2 the second."""
        all_on = self.run_with(["sort_events", "assert_ts_sequence"], "--compat=1.2")
        self.assertNotIn("registration of sort_events", all_on)
        one = self.run_with(["sort_events#2"], "--compat=1.2")
        self.assertEqual(one.count("registration of sort_events"), 3)

    def test_what_was_collected_is_applied_behind_a_barrier(self):
        trip = {"name": "AIU Roundtrip", "ph": "X", "pid": 0, "tid": 5, "ts": 1400.0, "dur": 1000.0}
        self.write("a.json", flex(kernels(5, start=1000.0)) + [trip])
        fix = ["normalize_phase1", "frequency_align_collect", "frequency_align_apply"]
        for more, moved in (([], False), (["pipeline_barrier"], True)):
            out = self.run_with([*fix[:2], *more, fix[2]], "--flex_ts_fix")
            self.assertIn("FREQ: job: ('a.json', 400.0)", out)
            self.assertEqual(any("ts_adj" in e["args"] for e in self.events()), moved)
        classes = []
        for more in ([], ["pipeline_barrier#4"]):
            self.run_with([*self.CLOCKS, "event_categorizer", *more, "event_categorizer_update"],
                          "--compat=1.2")
            classes.append({e["args"]["class"] for e in self.events()})
        self.assertEqual(classes[1] - classes[0],
                         {"MAIU_PROTOCOL_SEND_DATA", "MAIU_PROTOCOL_RECV_DATA"})

    def test_order_and_unknown_names(self):
        for names in (["calculate_stats", "normalize_phase1"], ["nonsense"]):
            self.write("p.json", {"stages": [{n: True} for n in names]})
            done = analyze(self.dir, "-i", "a.json", "-P", "p.json", "--compat=1.2")
            self.assertEqual(done.returncode, 1)
            self.assertIn("is unknown or not in the order", done.stderr)

    def test_only_the_last_list_of_counters_counts(self):
        self.run_ok("-i", "a.json", "--freq", f"{F}:800", "-o", "o.json", "-C", "power_ts4", "-C",
                    "prep_queue")
        self.assertEqual({e["name"] for e in self.events(ph="C")}, {"ConcurrentPreps"})


class Mpi(Case):
    LAUNCHERS = {"openmpi": ["mpiexec.openmpi", "--allow-run-as-root", "--oversubscribe"],
                 "mpich": ["mpiexec.mpich"]}

    def test_one_rank_works_and_all_end_alike(self):
        found = {n: w for n, w in self.LAUNCHERS.items()
                 if shutil.which(w[0]) and (BUILD / f"lib/unitrace/mpi/{n}.so").exists()}
        if not found:
            self.skipTest("no MPI has both a plugin and an mpiexec here")
        for r in range(3):
            self.write(f"rank-{r}.json", flex(kernels(6, rank=r, seed=r), rank=r))
        self.run_ok("-i", "rank-*.json", "--freq", f"{F}:800", "-o", "o.json")
        serial = self.trace()["traceEvents"]
        env = {**os.environ, "ASAN_OPTIONS": "detect_leaks=0"}
        for name, words in found.items():
            with self.subTest(name):
                done = subprocess.run([*words, "-n", "3", ACELYZER, "-i", "rank-*.json", "--freq",
                                       f"{F}:800", "-o", "o.json"], cwd=self.dir, env=env,
                                      capture_output=True, text=True, timeout=PATIENCE)
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertEqual(done.stdout.count("Finishing Test parser"), 1)
                self.assertEqual(self.trace()["traceEvents"], serial)
                done = subprocess.run([*words, "-n", "3", ACELYZER, "-i", "none.json"],
                                      cwd=self.dir, env=env, capture_output=True, text=True,
                                      timeout=PATIENCE)
                self.assertEqual(done.returncode, 1)
                self.assertEqual(done.stderr.count("nothing matches it"), 1)


if __name__ == "__main__":
    if not ACELYZER.exists():
        skip(f"{ACELYZER} is not built")
    unittest.main()
