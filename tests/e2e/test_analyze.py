#!/usr/bin/env python3
"""`unitrace analyze` on traces made here, checked by a second computation in Python: clocks,
wraps, power, bandwidth, overlaps, tables, several ranks, odd inputs, the command line."""
import csv
import gzip
import json
import math
import pathlib
import random
import re
import shutil
import statistics
import subprocess
import tempfile
import unittest

from common import BUILD, PATIENCE, skip

UNITRACE = BUILD / "bin" / "unitrace"
ACELYZER = BUILD / "bin" / "acelyzer"
WRAP = 1 << 32
F = 560.0  # MHz
PARTS = [(" DmaI", 0), (" Cmpt Prep", 1), (" Cmpt Exec", 2), (" DmaO", 3)]
DELIMITER = re.compile(r"\s*\t\s*")


def analyze(folder, *args, program=ACELYZER):
    return subprocess.run([program, *map(str, args)], cwd=folder, capture_output=True, text=True,
                          timeout=PATIENCE)


def kernels(count, start=1000.0, freq=F, zero=0.0, names=None, rank=0, seed=1, gap=20.0):
    """Slices of count kernels: copy in, preparation, execution, copy out; (name, ts, dur, TS,
    power)."""
    rnd = random.Random(seed)
    t, power, out = start, 1000 + 77 * rank, []
    for k in range(count):
        name = names[k % len(names)] if names else f"op_{k % 7}_MatMul"
        steps = (3 + rnd.random(), 8 + 4 * rnd.random(), 20 + 60 * rnd.random(), 2 + rnd.random())
        at = [t]
        for d in steps:
            at.append(at[-1] + d)
        stamps = [int((x - zero) * freq) % WRAP for x in at]
        power += int(steps[2] * 900)
        for i, (suffix, _) in enumerate(PARTS):
            out.append((name + suffix, round(at[i], 3), round(steps[i], 3), stamps, power % WRAP))
        t = at[-1] + gap
    return out


def flex(slices, rank=0, style="be", number=str, **more):
    events = []
    for i, (name, ts, dur, stamps, power) in enumerate(slices):
        attr = {"Power": number(power), **{f"TS{k + 1}": number(v) for k, v in enumerate(stamps)},
                **more}
        if " Dma" in name:
            attr["Bytes"] = str(4096 * (1 + i % 5))
        base = {"name": name, "pid": rank, "tid": 9 * 10 ** 18 + i % 4}
        if style == "be":
            events.append({"attr": attr, **base, "ph": "B", "ts": ts})
            events.append({"attr": attr, **base, "ph": "E", "ts": ts + dur})
        else:
            events.append({**base, "ph": "X", "ts": ts, "dur": dur, "args": attr})
    return events


def part_of(name):
    return next((i for suffix, i in PARTS if suffix in name), None)


def expected_times(slices, freq=F):
    """(ts, dur, wraps, times of all stamps) of each slice, as release 1.0 computes them."""
    span, epoch, out = WRAP / freq, None, []
    for name, ts, dur, stamps, _ in slices:
        s = list(stamps)
        for i in range(1, 5):
            if s[i] < s[i - 1]:
                s[i] += WRAP
        if epoch is None:
            epoch = ts - s[0] / freq
        wraps = math.floor((ts - epoch) / span)
        s = [x + wraps * WRAP for x in s]
        end, part = ts + dur, part_of(name)
        length = (s[part + 1] - s[part]) / freq
        out.append((end - length, length, wraps, [end + (x - s[part + 1]) / freq for x in s]))
    return out


class Case(unittest.TestCase):
    def setUp(self):
        self.dir = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.dir)

    def write(self, name, what):
        path = self.dir / name
        path.write_text(what if isinstance(what, str) else json.dumps(what))
        return name

    def run_ok(self, *args):
        done = analyze(self.dir, *args)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done.stdout

    def trace(self, name="o.json"):
        with open(self.dir / name, encoding="utf-8") as f:
            return json.load(f)

    def events(self, name="o.json", ph="X"):
        return [e for e in self.trace(name)["traceEvents"] if e["ph"] == ph]

    def counters(self, counter, name="o.json"):
        return sorted((e["ts"], next(iter(e["args"].values())))
                      for e in self.events(name, "C") if e["name"] == counter)

    def rows(self, name):
        with open(self.dir / name, encoding="utf-8") as f:
            return [DELIMITER.split(line.strip()) for line in f][1:]

    def near(self, a, b, by=2e-3):
        self.assertLessEqual(abs(a - b), by, f"{a} != {b}")


class Clocks(Case):
    def check(self, slices, freq=F, *more, **how):
        self.write("a.json", flex(slices, **how))
        out = self.run_ok("-i", "a.json", "--freq", f"{freq}:800", "-o", "o.json", "--keep_prep",
                          *more)
        want = sorted((ts, dur, wraps) for ts, dur, wraps, _ in expected_times(slices, freq))
        got = sorted((e["ts"], e["dur"], e["args"]["OVC"]) for e in self.events())
        self.assertEqual(len(want), len(got))
        for w, g in zip(want, got):
            self.near(w[0], g[0])
            self.near(w[1], g[1])
            self.assertEqual(w[2], g[2])
        return out

    def test_the_cycles_tell_how_long_and_the_host_gives_when(self):
        self.check(kernels(50, start=1.475e12, zero=1.475e12 - 3000))

    def test_stamps_in_hex_and_as_spans(self):
        self.check(kernels(20, zero=100.0), number=hex, style="x")

    def test_stamps_as_numbers(self):
        self.check(kernels(20, zero=100.0), number=int, style="x")

    def test_the_counter_wraps_inside_and_between_events(self):
        """One kernel every 0.9 s for ten wraps of 7.67 s."""
        self.check(kernels(90, start=5e6, gap=0.9e6))

    def test_a_wrong_frequency_is_reported(self):
        for j in range(3):
            self.write(f"job-{j}.json", flex(kernels(4, start=1e6 + 2e6 * j, seed=j)))
        out = self.run_ok("-i", "job-*.json", "--freq", "550:800", "-o", "o.json")
        found = re.search(r"use: --freq=([\d.]+)", out)
        self.assertTrue(found, out)
        self.near(float(found[1]), F, 0.01)

    def test_the_right_frequency_is_not(self):
        for j in range(3):
            self.write(f"job-{j}.json", flex(kernels(4, start=1e6 + 2e6 * j, seed=j)))
        self.assertNotIn("Recommendation", self.run_ok("-i", "job-*.json", "--freq", "560:800"))

    def test_a_shifted_job_moves_into_its_round_trip(self):
        events = flex(kernels(5, start=1000.0))
        trip = {"name": "AIU Roundtrip", "ph": "X", "pid": 0, "tid": 5, "ts": 1400.0, "dur": 1000.0}
        self.write("a.json", events + [trip])
        out = self.run_ok("-i", "a.json", "--freq", "560:800", "--flex_ts_fix", "-o", "o.json")
        self.assertIn("FREQ: job: ('a.json', 400.0) has AIU events outside", out)
        self.assertEqual({e["args"]["ts_adj"] for e in self.events() if "TS1" in e["args"]}, {400.0})

    def test_a_job_that_is_too_long_is_left_alone(self):
        trip = {"name": "AIU Roundtrip", "ph": "X", "pid": 0, "tid": 5, "ts": 1400.0, "dur": 10.0}
        self.write("a.json", flex(kernels(5)) + [trip])
        out = self.run_ok("-i", "a.json", "--freq", "560:800", "--flex_ts_fix", "-o", "o.json")
        self.assertIn("is wider than cpu range", out)
        self.assertFalse(any("ts_adj" in e["args"] for e in self.events()))


class Counters(Case):
    def setUp(self):
        super().setUp()
        self.slices = kernels(40, start=2e6)
        self.write("a.json", flex(self.slices))
        self.times = expected_times(self.slices)

    def test_power_is_charge_over_time(self):
        self.run_ok("-i", "a.json", "--freq", "560:800", "-o", "o.json")
        samples = []
        for (name, _, _, _, power), (_, dur, _, all5) in zip(self.slices, self.times):
            if " Prep" not in name and dur > 0.1:
                samples.append((all5[3], power))
        want, prev = [], None
        for t, p in sorted(samples, key=lambda x: x[0]):
            if prev and t == prev[0]:
                continue
            if prev:
                charge = p - prev[1] if p > prev[1] else WRAP + p - prev[1]
                watts = 12 * charge * (5.37 / 512) / ((t - prev[0]) * 1000)
                want.append((prev[0], 0 if watts > 100 else watts))
            prev = (t, p)
        got = self.counters("Power")
        # copies and the kernel between them share a reading: only its time may differ by noise
        self.assertGreater(len(got), 30)
        kept = [(t, w) for t, w in want if w]
        shown = [(t, w) for t, w in got if w]
        self.assertEqual(len(kept), len(shown))
        for a, b in zip(kept, shown):
            self.near(a[0], b[0])
            self.near(a[1], b[1], 0.01 * a[1])

    def test_bandwidth_is_bytes_over_the_time_of_the_copy(self):
        self.run_ok("-i", "a.json", "--freq", "560:800", "-o", "o.json", "-C", "bandwidth")
        events = flex(self.slices, style="x")
        want = []
        for e, (_, dur, _, all5) in zip(events, self.times):
            if " Dma" in e["name"]:
                start = all5[0] if " DmaI" in e["name"] else all5[3]
                want.append((int(start), round(int(e["args"]["Bytes"]) / dur, 3)))
        got = [x for x in self.counters("BW DmaI") + self.counters("BW DmaO") if x[1]]
        self.assertEqual(len(got), len(want) - 1)  # the last one is never shown
        for w, g in zip(sorted(want), sorted(got)):
            self.assertEqual(w[0], g[0])
            self.near(w[1], g[1], 0.002 * w[1])

    def test_no_counters(self):
        self.run_ok("-i", "a.json", "--freq", "560:800", "-o", "o.json", "-C")
        self.assertEqual(self.events(ph="C"), [])

    def test_preparations_are_counted_and_dropped(self):
        self.run_ok("-i", "a.json", "--freq", "560:800", "-o", "o.json")
        self.assertFalse(any("Cmpt Prep" in e["name"] for e in self.events()))
        self.assertEqual({n for _, n in self.counters("ConcurrentPreps")}, {0, 1})
        self.assertEqual(len(self.counters("ConcurrentPreps")), 80)


class Tables(Case):
    def setUp(self):
        super().setUp()
        self.slices = kernels(42, start=2e6)
        self.write("a.json", flex(self.slices))
        self.kernels = [(n, d, t, s) for (n, _, _, s, _), (t, d, _, _) in
                        zip(self.slices, expected_times(self.slices)) if "Cmpt Exec" in n]

    def test_summary(self):
        self.run_ok("-i", "a.json", "--freq", "560:800", "-o", "o.json")
        self.assertEqual(len(self.rows("o_summary.csv")), 1)
        share, total, calls, mean, median, low, high, dev, pid, name = self.rows("o_summary.csv")[0]
        d = [x[1] for x in self.kernels]
        self.assertEqual((share, calls, pid, name), ("100.00", "42", "0", "op_[N]_MatMul Cmpt Exec"))
        for got, want in ((total, sum(d)), (mean, statistics.mean(d)), (median, statistics.median(d)),
                          (low, min(d)), (high, max(d)), (dev, statistics.stdev(d))):
            self.near(float(got), want)

    def test_active(self):
        self.run_ok("-i", "a.json", "--freq", "560:800", "-o", "o.json")
        busy, elapsed, start, end, percent, _ = map(float, self.rows("o_active.csv")[0])
        first, last = self.kernels[0][2], max(t + d for _, d, t, _ in self.kernels)
        self.near(busy, sum(d for _, d, _, _ in self.kernels))
        self.near(start, first)
        self.near(end, last)
        self.near(percent, 100 * busy / elapsed, 0.01)

    def test_distances_of_stamps(self):
        self.run_ok("-i", "a.json", "--freq", "560:800", "-o", "o.json")
        row = self.rows("o_ts_analysis.csv")[0]
        gaps = [s[3] - s[2] for _, _, _, s in self.kernels]
        self.near(float(row[11]), statistics.mean(gaps))
        self.near(float(row[12]), statistics.median(gaps))
        self.near(float(row[15]), statistics.stdev(gaps))

    def log(self, cycles):
        rows = [f"op_{k}_MatMul-opCat{'Bmm' if k % 2 else 'Conv'}   {cycles[k]}" for k in range(7)]
        return "\n".join(["~~~~ Ideal/Total Cycles ~~~~", *rows, f"Total {sum(cycles)}",
                          "====== Perf Summary End ======", ""])

    def test_categories_and_utilisation(self):
        cycles = [0, 4000, 8000, 12000, 16000, 2000, 6000]
        self.write("c.log", self.log(cycles))
        self.run_ok("-i", "a.json", "-c", "c.log", "--freq", "560:800", "-o", "o.json")
        with open(self.dir / "o_categories.csv", encoding="utf-8") as f:
            rows = {r["Category"]: r for r in csv.DictReader(f)}
        for cat in ("Bmm", "Conv"):
            mine = [(d, cycles[int(n[3])]) for n, d, _, _ in self.kernels
                    if (int(n[3]) % 2 == 1) == (cat == "Bmm")]
            time, ideal = sum(d for d, _ in mine), sum(c for _, c in mine) / 800
            self.near(float(rows[cat]["Kernel_Time"]), time)
            self.near(float(rows[cat]["Ideal_Time"]), ideal)
            self.near(float(rows[cat]["PT_Util"]), ideal / time, 1e-4)
            self.assertEqual(int(rows[cat]["Calls"]), len(mine))
        self.assertEqual(int(rows["Total"]["Calls"]), 42)
        shown = [p for _, p in self.counters("PT Active") if p]
        want = [100 * cycles[int(n[3])] / 800 / d for n, d, _, _ in self.kernels if cycles[int(n[3])]]
        self.assertEqual(len(shown), len(want))
        for a, b in zip(sorted(shown), sorted(min(w, 100) for w in want)):
            self.near(a, b)

    def test_the_older_layout_counts_cycles(self):
        self.write("c.log", self.log([100] * 7))
        self.run_ok("-i", "a.json", "-c", "c.log", "--freq", "560:800", "-o", "o.json",
                    "--category_layout", "cycles")
        with open(self.dir / "o_categories.csv", encoding="utf-8") as f:
            total = [r for r in csv.DictReader(f) if r["Category"] == "Total"][0]
        cycles = sum(s[3] - s[2] for _, _, _, s in self.kernels)
        self.assertEqual(int(total["Cycles"]), cycles)
        self.assertEqual(int(total["Cycles(core)"]), int(cycles * 800 / 560))

    def test_iterations(self):
        out = self.run_ok("-i", "a.json", "--freq", "560:800", "-o", "o.json")
        found = re.search(r"ITSTATS: \[0\] avg_iteration_time=([\d.]+), iterations=(\d+)", out)
        starts = [t for _, _, t, _ in self.kernels]
        self.assertEqual(int(found[2]), 5)
        self.near(float(found[1]), (starts[35] - starts[0]) / 5, 1e-3)

    def test_no_tables(self):
        self.run_ok("-i", "a.json", "-t", "-o", "o.json")
        self.assertEqual(sorted(p.name for p in self.dir.iterdir()), ["a.json", "o.json"])


class Overlaps(Case):
    EVENTS = [{"name": n, "ph": "X", "pid": 0, "tid": 1, "ts": t, "dur": d}
              for n, t, d in (("a", 0, 10), ("b", 2, 3), ("c", 5, 10), ("d", 7, 2))]

    def tids(self):
        return {e["name"]: e["tid"] for e in self.events()}

    def test_tid(self):
        self.write("a.json", self.EVENTS)
        self.run_ok("-i", "a.json", "-o", "o.json")
        self.assertEqual(self.tids(), {"a": 1000, "b": 1000, "c": 1001, "d": 1000})

    def test_drop(self):
        self.write("a.json", self.EVENTS)
        out = self.run_ok("-i", "a.json", "-o", "o.json", "-O", "drop")
        self.assertEqual(set(self.tids()), {"a", "b", "d"})
        self.assertIn("Solving overlap conflict by dropping: {'name': 'c'", out)

    def test_async_becomes_a_pair(self):
        self.write("a.json", self.EVENTS)
        self.run_ok("-i", "a.json", "-o", "o.json", "-O", "async")
        begin, end = self.events(ph="b"), self.events(ph="e")
        self.assertEqual([(e["name"], e["ts"], e["id"]) for e in begin + end],
                         [("c", 5, 0), ("c", 15, 0)])

    def test_shift_moves_what_overlaps_by_next_to_nothing(self):
        self.write("a.json", [{"name": "a", "ph": "X", "pid": 0, "tid": 1, "ts": 0, "dur": 10.002},
                              {"name": "b", "ph": "X", "pid": 0, "tid": 1, "ts": 10, "dur": 5}])
        self.run_ok("-i", "a.json", "-o", "o.json", "-O", "shift")
        b = [e for e in self.events() if e["name"] == "b"][0]
        self.near(b["ts"], 10.004, 1e-6)
        self.near(b["dur"], 4.996, 1e-6)
        self.assertEqual(b["args"]["orig_ts"], 10)

    def test_seven_on_one_thread(self):
        self.write("a.json", [{"name": f"n{i}", "ph": "X", "pid": 0, "tid": 1, "ts": i, "dur": 10}
                              for i in range(7)])
        for more in ((), ("--compat=1.2",)):
            self.run_ok("-i", "a.json", "-o", "o.json", *more)
            self.assertEqual(sorted(self.tids().values()), list(range(1000, 1007)))


class Ranks(Case):
    def test_every_rank_has_its_own_devices_and_processes(self):
        for r in range(3):
            self.write(f"rank-{r}.json", flex(kernels(6, rank=r, seed=r), rank=r))
        self.run_ok("-i", "rank-*.json", "--freq", "560:800", "--tb", "-o", "o.json")
        trace = self.trace("o.pt.trace.json")
        self.assertEqual(sorted(d["id"] for d in trace["deviceProperties"]), [0, 1, 2])
        names = {(e["pid"], e["args"]["name"]) for e in trace["traceEvents"]
                 if e["name"] == "process_name"}
        self.assertEqual(names, {(r, f"AIU Device{r}") for r in range(3)})
        for r in range(2):  # one less than there are ids: that is how the reference counts
            one = self.trace(f"o_worker_{r}.pt.trace.json")
            self.assertEqual({e["pid"] % 1000 for e in one["traceEvents"]}, {r})
        # threads of different ranks do not share numbers
        tids = {(e["pid"], e["tid"]) for e in trace["traceEvents"] if e["ph"] == "X"}
        self.assertEqual(len({t for _, t in tids}), len(tids))

    def test_collectives_align_the_clocks(self):
        """Rank 1's device counter is far ahead; both ends of a transfer are at the same time."""
        for r, ahead in ((0, 0.0), (1, 5e5)):
            slices = kernels(4, start=1e6, rank=r)
            events = flex(slices, rank=r, style="x")
            t = [int((1e6 + 900 + x - ahead * 0) * F + ahead * F) for x in (0, 40, 41, 42, 50)]
            name = ("SenRdmaSend_1 [sync=AllReduce_all_reduce_1_s0_r1_0] DmaO" if r == 0 else
                    "SenRdmaRecv_1 [sync=AllReduce_all_reduce_1_s0_r1_0] DmaI")
            for e in events:
                for k in range(1, 6):
                    e["args"][f"TS{k}"] = str(int(e["args"][f"TS{k}"]) + int(ahead * F))
            events.append({"name": name, "ph": "X", "pid": r, "tid": 5, "ts": 1e6 + 900 + 77 * r,
                           "dur": 50.0, "args": {"CollGroup": "AllReduce_all_reduce_1",
                                                 **{f"TS{k + 1}": str(v) for k, v in enumerate(t)}}})
            self.write(f"rank-{r}.json", events)
        out = self.run_ok("-i", "rank-*.json", "--freq", "560:800", "-o", "o.json")
        self.assertIn("MP_SYNC_V2 delta_t5, dts_shifts:", out)
        ends = {e["name"][:11]: e["ts"] + e["dur"] for e in self.events() if "SenRdma" in e["name"]}
        self.near(ends["SenRdmaSend"], ends["SenRdmaRecv"])

    def test_duplicated_ranks_are_one_process(self):
        for j in range(2):
            self.write(f"rank_0-job-{j}.json", flex(kernels(3, start=1e6 + 1e4 * j, seed=j)))
        self.run_ok("-i", "rank_0-*.json", "--freq", "560:800", "-o", "o.json")
        self.assertEqual({e["pid"] for e in self.events()}, {0})
        self.assertEqual({e["args"]["jobname"] for e in self.events()},
                         {"rank_0-job-0.json", "rank_0-job-1.json"})

    def test_two_hundred_jobs_stay_apart(self):
        for j in range(200):
            self.write(f"job-{j}.json", flex(kernels(2, start=1e6 + 1e4 * j, seed=j)))
        self.run_ok("-i", "job-*.json", "--freq", "560:800", "-o", "o.json")
        jobs = {}
        for e in self.events():
            jobs.setdefault(e["args"]["jobname"], 0)
            jobs[e["args"]["jobname"]] += 1
        self.assertEqual(len(jobs), 200)
        self.assertEqual(set(jobs.values()), {6})  # without the preparations


class Odd(Case):
    """Inputs that end in a traceback elsewhere."""

    def test_nothing_in_the_file(self):
        for text in ("[]", "{}", "", '{"traceEvents":[]}', "  \n"):
            with self.subTest(text):
                self.write("a.json", text)
                self.run_ok("-i", "a.json", "-o", "o.json")
                self.assertEqual(self.trace()["traceEvents"], [])

    def test_one_event(self):
        self.write("a.json", [{"name": "x", "ph": "X", "pid": 0, "tid": 0, "ts": 5, "dur": 1}])
        self.run_ok("-i", "a.json", "-o", "o.json")
        self.assertEqual([e["name"] for e in self.events()], ["x"])

    def test_a_thousand_threads(self):
        self.write("a.json", [{"name": "AIU Roundtrip", "ph": "X", "pid": 0, "tid": 10 ** 18 + i,
                               "ts": i, "dur": 5000} for i in range(1000)])
        self.run_ok("-i", "a.json", "-o", "o.json")
        self.assertEqual(len({e["tid"] for e in self.events()}), 1000)

    def test_kernels_without_length_and_without_repetition(self):
        slices = [(f"k{i}_{i * 7919 % 10007} Cmpt Exec", 10.0 * i + 5, 0.0, [i * 9] * 5, i)
                  for i in range(3000)]
        self.write("a.json", flex(slices, style="x"))
        out = self.run_ok("-i", "a.json", "--freq", "560:800", "-o", "o.json")
        self.assertIn("iterations=0", out)
        self.assertEqual(len(self.events()), 3000)

    def test_every_phase_is_passed_on(self):
        phases = [{"name": "p", "ph": p, "pid": 0, "tid": 1, "ts": 5.0, "id": 7, "cat": "c"}
                  for p in "CitnNODPRbesfM"]
        self.write("a.json", phases)
        self.run_ok("-i", "a.json", "-o", "o.json")
        self.assertEqual(sorted(e["ph"] for e in self.trace()["traceEvents"]),
                         sorted("CitnNODPRbesfM"))

    def test_lacking_members(self):
        self.write("a.json", [{"ph": "X", "ts": 1, "dur": 1, "pid": 0, "tid": 1},
                              {"name": "a", "ph": "X", "dur": 1, "pid": 0, "tid": 1},
                              {"name": "b", "ph": "X", "ts": 1, "dur": 1, "tid": 1},
                              {"name": "c", "ph": "X", "ts": 1, "pid": 0, "tid": 1},
                              {"name": "d", "ph": "X", "ts": 1, "dur": 1, "pid": 0},
                              {"name": "e"}, 17, None, "x", [], {}])
        out = self.run_ok("-i", "a.json", "-o", "o.json")
        self.assertEqual(sorted(e["name"] for e in self.events()), ["c", "d"])
        for what in ("ts", "pid", "name"):
            self.assertIn(f"Event failed sanityCheck:  {what} is not in", out)
        self.assertIn("6 entries are no events", out)

    def test_truncated_files(self):
        text = json.dumps(flex(kernels(4)))
        for cut in (len(text) - 1, len(text) // 2, 40):
            self.write("a.json", text[:cut])
            out = self.run_ok("-i", "a.json", "--freq", "560:800", "-o", "o.json")
            self.assertIn("the file ends in the middle", out)

    def test_garbage_leaves_nothing_behind(self):
        self.write("a.json", '[{"name" "a"}]')
        done = analyze(self.dir, "-i", "a.json", "-o", "o.json")
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr, r"a\.json: offset \d+: ")
        self.assertEqual([p.name for p in self.dir.iterdir()], ["a.json"])

    def test_packed_input(self):
        text = json.dumps(flex(kernels(3))).encode()
        (self.dir / "a.json.gz").write_bytes(gzip.compress(text))
        self.run_ok("-i", "a.json.gz", "--freq", "560:800", "-o", "o.json")
        self.assertEqual(len(self.events()), 9)

    def test_stamps_that_go_backwards(self):
        bad = [("k Cmpt Exec", 10.0, 5.0, [9 * WRAP, 2, 3, 4, 5], 1)]
        self.write("a.json", flex(bad, style="x"))
        done = analyze(self.dir, "-i", "a.json", "-o", "o.json")
        self.assertEqual(done.returncode, 1)
        self.assertIn("--ignore_crit", done.stderr)
        self.run_ok("-i", "a.json", "-o", "o.json", "--ignore_crit")

    def test_our_own_output_is_not_processed_twice(self):
        self.write("a.json", flex(kernels(3)))
        self.run_ok("-i", "a.json", "-o", "o.json")
        out = self.run_ok("-i", "o.json", "-o", "p.json")
        self.assertIn("processed by acelyzer already", out)
        self.assertEqual(self.trace("p.json")["traceEvents"], [])

    def test_a_rank_without_collectives(self):
        for r in (0, 2):
            self.write(f"r{r}.json", flex([("SenRdmaSend_1 [sync=x] DmaO", 10.0, 5.0,
                                            [1, 2, 3, 4, 5], 1)], rank=r, style="x",
                                          CollGroup="AllReduce_all_reduce_1"))
        done = analyze(self.dir, "-i", "r0.json,r2.json", "-o", "o.json")
        self.assertEqual(done.returncode, 1)
        self.assertIn("Use -M option", done.stdout)
        self.run_ok("-i", "r0.json,r2.json", "-o", "o.json", "-M")

    def test_torch_without_correlation_category_or_bandwidth(self):
        x = {"ph": "X", "pid": 0, "tid": 1, "ts": 1.0, "dur": 1.0}
        trace = {"deviceProperties": [{"id": 0}, {"id": 1}], "traceEvents": [
            {**x, "name": "k", "cat": "kernel", "args": {}},
            {**x, "name": "m", "args": {"correlation": 5}},
            {**x, "name": "Memcpy (HtoD)", "cat": "gpu_memcpy", "dur": 0,
             "args": {"correlation": 1, "memory bandwidth (GB/s)": "N/A"}}]}
        self.write("a.json", trace)
        for more in ((), ("--compat=1.2",)):
            self.run_ok("-i", "a.json", "-o", "o.json", *more)
            self.assertEqual(len(self.events()), 3)
            self.assertEqual([d["id"] for d in self.trace()["deviceProperties"]], [0, 1])


class CommandLine(Case):
    def setUp(self):
        super().setUp()
        self.write("a.json", flex(kernels(3)))

    def test_the_default_output(self):
        self.run_ok("-i", "a.json")
        self.assertEqual(sorted(p.name for p in self.dir.iterdir()),
                         ["a.json", "processed_trace.json", "processed_trace_active.csv",
                          "processed_trace_summary.csv", "processed_trace_ts_analysis.csv"])

    def test_the_default_output_for_tensorboard(self):
        self.run_ok("-i", "a.json", "--tb", "-t")
        self.assertEqual(sorted(p.name for p in self.dir.iterdir()),
                         ["a.json", "processed_trace.pt.trace.json"])

    def test_names_and_spellings(self):
        for program in (ACELYZER, BUILD / "bin" / "acelyzer.py"):
            self.assertEqual(analyze(self.dir, "-i", "a.json", program=program).returncode, 0)
        self.assertEqual(analyze(self.dir, "analyze", "-i", "a.json", program=UNITRACE).returncode, 0)
        for args in (["--inp", "a.json", "--no_st"], ["--input=a.json", "-tk"], ["-ia.json", "-D0"],
                     ["-i", "a.json,", "-C", "power_ts3", "bandwidth", "-t"],
                     ["-i", "a.json", "--counter", "--freq=560"], ["-i", "*.json b.json"],
                     ["-tIRi", "a.json"]):
            with self.subTest(args):
                self.assertEqual(analyze(self.dir, *args).returncode, 0)

    def test_misuse_is_2_and_refusal_is_1(self):
        for code, args in ((2, ["-i", "a.json", "b.json"]), (2, ["-i", "a.json", "--nonsense"]),
                           (2, []), (2, ["-i", "a.json", "-O", "x"]), (2, ["-i"]),
                           (2, ["-i", "a.json", "--event_limit", "[]"]),
                           (2, ["-i", "a.json", "--event_filter", "name:("]),
                           (2, ["-i", "a.json", "--max_tid_streams", "x"]),
                           (1, ["-i", "a.json", "--freq", "0:1"]), (1, ["-i", "nothing*"]),
                           (1, ["-i", "a.json", "-P", "none.json"]),
                           (1, ["-i", "a.json", "-o", "no/such/dir/o.json"])):
            with self.subTest(args):
                done = analyze(self.dir, *args)
                self.assertEqual(done.returncode, code, done.stdout + done.stderr)

    def test_what_is_wrong_is_said(self):
        for text, args in (("unknown option '--overlp'; did you mean --overlap?",
                            ["-i", "a.json", "--overlp", "drop"]),
                           ("inputs follow -i", ["a.json"]),
                           ("a folder; name files in it", ["-i", "."]),
                           ("there is no folder no/such", ["-i", "a.json", "-o", "no/such/o.json"]),
                           ("nothing matches it", ["-i", "none*.json"])):
            with self.subTest(args):
                self.assertIn(text, analyze(self.dir, *args).stderr)

    def test_the_number_of_threads_changes_nothing(self):
        for j in range(5):
            self.write(f"j{j}.json", flex(kernels(1200, start=1e6 + 3e4 * j, seed=j)))
        texts = set()
        for n in (1, 2, 7):
            self.run_ok("-i", "j*.json", "--freq", "560:800", "-o", "o.json", "--threads", n)
            text = (self.dir / "o.json").read_text().split('"traceEvents"')[1]
            texts.add(text)
        self.assertEqual(len(texts), 1)

    def test_dumps_are_numbered(self):
        self.run_ok("-i", "a.json", "--freq", "560:800", "-o", "o.json", "-I", "-t", "-C")
        names = sorted(p.name for p in self.dir.iterdir() if p.name.startswith("o.json_"))
        self.assertEqual(names[0], "o.json_00_drop_timestamp_reversed_events")
        self.assertEqual(names[2], "o.json_02_normalize_phase1")
        raw = self.trace("o.json_09_cycle_count_to_wallclock")["traceEvents"]
        self.assertEqual(len(raw[0]["args"]["ts_all"]), 5)

    def test_a_profile_switches_stages_off(self):
        self.write("p.json", {"stages": [{"normalize_phase1": True}]})
        out = self.run_ok("-i", "a.json", "-o", "o.json", "-P", "p.json")
        self.assertIn("DAH: Skipping registration of calculate_stats : disabled in profile.", out)
        self.assertEqual(sorted(p.name for p in self.dir.iterdir()), ["a.json", "o.json", "p.json"])
        self.assertNotIn("OVC", self.events()[0]["args"])

    def test_filters_and_limits(self):
        self.run_ok("-i", "a.json", "--freq", "560:800", "-o", "o.json", "--event_filter",
                    r"name:DmaO$,args.Bytes:^\d+$")
        self.assertFalse(any("DmaO" in e["name"] for e in self.events()))
        out = self.run_ok("-i", "a.json", "--freq", "560:800", "-o", "o.json", "--event_limit",
                          '{"skip": 2, "count": 3}', "--keep_prep")
        self.assertIn("COMPAT: --event_limit", out)
        self.assertEqual(len(self.events()), 3)

    def test_patterns_are_those_of_python(self):
        names = {name for name, *_ in kernels(9)}
        for pattern in (r"op_[\d]+_M", r"(?i)MATMUL c.*?exec", r"(DmaI|DmaO)$", r"\Aop_[^0-3]_",
                        r"op_(?P<n>\d)_", r"[\w-]+ Cmpt\s\w{4}\Z", r"[ ]Dma[^\]I]", r"\bPrep\b",
                        r"op_[0-9]{1}?_", r"MatMul\.", r"[a^]", r"[^-\w ]", r"D+?ma[O-]"):
            with self.subTest(pattern):
                self.write("p.json", flex(kernels(9), style="x"))
                self.run_ok("-i", "p.json", "-o", "o.json", "--freq", "560:800", "--keep_prep",
                            "--keep_names", "--disable_tb", "--event_filter", "name:" + pattern)
                self.assertEqual({e["name"] for e in self.events()},
                                 {n for n in names if not re.search(pattern, n)})
        for pattern in (r"a(?=b)", r"(a)\1", "[a", r"\q"):
            self.assertEqual(analyze(self.dir, "-i", "a.json", "--event_filter",
                                     "name:" + pattern).returncode, 2)

    def test_the_last_pattern_of_a_key_counts(self):
        out = self.run_ok("-i", "a.json", "-o", "o.json", "--event_filter", "name:DmaO,name:DmaI,x")
        self.assertIn("FLTR: 'DmaO' does not count", out)
        self.assertIn("FLTR: key:regex pattern not found in event filter. Skipping x", out)
        self.assertIn("1 filters enabled: {'name': re.compile('DmaI')}", out)
        left = {e["name"].split()[-1] for e in self.events()}
        self.assertIn("DmaO", left)
        self.assertNotIn("DmaI", left)

    def test_only_some_phases(self):
        self.run_ok("-i", "a.json", "--freq", "560:800", "-o", "o.json", "-F", "C")
        self.assertEqual({e["ph"] for e in self.trace()["traceEvents"]} - {"M"}, {"C"})

    def test_messages_have_a_time_a_level_and_no_colour(self):
        out = self.run_ok("-i", "a.json", "-o", "o.json")
        for line in out.splitlines():
            self.assertRegex(line, r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6} +(INFO|WARNING|ERROR) ")
        self.assertEqual(self.run_ok("-i", "a.json", "-o", "o.json", "-D", "0"), "")

    def test_a_table_for_data_frames(self):
        self.run_ok("-i", "a.json", "--freq", "560:800", "-f", "pddf", "-o", "o.txt", "-t")
        lines = (self.dir / "o.txt").read_text().splitlines()
        self.assertEqual(lines[0].split()[:4], ["Rank", "Timestamp", "Duration", "Category"])
        self.assertEqual(len(lines), 10)
        self.assertIn(" 4096 ", lines[1], "sizes are text in flex traces")
        # 12 digits are printed in full, and columns are as wide as they must be
        self.write("b.json", [{"ph": "X", "name": "a", "pid": 0, "tid": 1, "ts": 1e9 + 5, "dur": 2}])
        self.run_ok("-i", "b.json", "-f", "pddf", "-o", "o.txt", "-t")
        self.assertEqual((self.dir / "o.txt").read_text().splitlines()[1].split()[:3],
                         ["0", "1000000005.0", "2.0"])
        self.write("b.json", [])
        self.run_ok("-i", "b.json", "-f", "pddf", "-o", "o.txt", "-t")
        self.assertIn("Empty DataFrame\nColumns: [Rank, Timestamp,", (self.dir / "o.txt").read_text())

    def test_perfetto_goes_out_and_comes_in(self):
        self.run_ok("-i", "a.json", "--freq", "560:800", "-f", "protobuf", "-t")
        self.run_ok("-i", "processed_trace.pftrace", "-o", "o.json", "-t")
        self.assertEqual(len(self.events()), 9)
        self.run_ok("-i", "a.json", "--freq", "560:800", "-o", "p.json", "-t")
        want = sorted(round(e["ts"], 1) for e in self.events("p.json"))
        self.assertEqual(sorted(round(e["ts"], 1) for e in self.events()), want)

    def test_verify_changes_nothing(self):
        out = self.run_ok("-i", "a.json", "-V", "-o", "o.json")
        self.assertIn("VRF: found types: {'X'}", out)
        self.assertEqual(len(self.events()), 12)
        self.assertEqual(self.events()[0]["ts"], kernels(3)[0][1])


if __name__ == "__main__":
    if not ACELYZER.exists():
        skip(f"{ACELYZER} is not built")
    unittest.main()
