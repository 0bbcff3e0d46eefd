#!/usr/bin/env python3
"""`unitrace analyze --json`, `--verify`: numbers against a second computation in Python, exit
statuses, and `unitrace diff` on what analyze writes. The page: test_analyze_page.py."""
import collections
import json
import pathlib
import random
import shutil
import subprocess
import tempfile
import unittest

from common import BUILD, PATIENCE, skip

UNITRACE = BUILD / "bin" / "unitrace"
F = 560  # cycles of the device per us
SUFFIX = {"transfer": " DmaI", "prep": " Cmpt Prep", "compute": " Cmpt Exec", "comm": " DmaO"}
FIRST = {" DmaI": 0, " Cmpt Prep": 1, " Cmpt Exec": 2, " DmaO": 3}
ORDER = ["compute", "comm", "transfer", "prep"]
KEYS = {"compute": "compute_us", "comm": "communication_exposed_us",
        "transfer": "transfer_exposed_us", "prep": "prep_exposed_us", "idle": "idle_us"}


def analyze(folder, *args):
    return subprocess.run([UNITRACE, "analyze", *map(str, args)], cwd=folder, capture_output=True,
                          text=True, timeout=PATIENCE)


def span(name, rank, begin, end, **more):
    """A device span; times in whole us, so that cycles are exact."""
    first = next(i for suffix, i in FIRST.items() if suffix in name)
    stamps = {f"TS{i + 1}": str((begin if i <= first else end) * F) for i in range(5)}
    return {"name": name, "ph": "X", "pid": rank, "tid": 100 + first, "ts": begin,
            "dur": end - begin, "args": {**stamps, **more}}


def random_work(rank, seed):
    """(kind, begin, end) of a rank: anything may overlap anything."""
    rnd, work = random.Random(seed * 100 + rank), []
    for _ in range(40):
        begin = 1000 + rnd.randrange(2000)
        work.append((rnd.choice(ORDER), begin, begin + 1 + rnd.randrange(60)))
    return work


def spans_of(work, rank):
    for i, (kind, begin, end) in enumerate(work):
        if kind == "comm":
            yield span(f"SenRdmaSend_{i} [sync=s{i}] DmaO", rank, begin, end,
                       CollGroup=f"AllReduce_all_reduce_{i}", Peer=str(1 - rank % 2))
        else:
            yield span(f"op_{i}{SUFFIX[kind]}", rank, begin, end)


def split(work):
    """Microsecond by microsecond: what counts there."""
    parts, whole = collections.Counter(), collections.Counter()
    begin, end = min(w[1] for w in work), max(w[2] for w in work)
    for t in range(begin, end):
        on = {kind for kind, b, e in work if b <= t < e}
        parts[next((kind for kind in ORDER if kind in on), "idle")] += 1
        whole.update(on)
    return end - begin, parts, whole


def iterations(slow=0):
    """Two ranks, 12 steps of four kernels and a collective; rank 1 is slower by slow us. Power
    rises by the same amount from kernel to kernel of 40 us."""
    for rank in (0, 1):
        power = 1000
        for step in range(12):
            at = 5000 + 250 * step
            for k, name in enumerate(("alpha", "beta", "gamma", "delta")):
                end = at + 40 + (slow if rank and k == 0 else 0)
                power += 6_000_000
                yield span(f"{name}_{k} Cmpt Exec", rank, at, end, Power=str(power))
                at = end
            yield span(f"SenRdmaSend_{7 + rank} [sync=s] DmaO", rank, at, 5200 + 250 * step,
                       CollGroup="AllReduce_all_reduce_1", Peer=str(1 - rank))


class Report(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="ut_report_"))
        self.addCleanup(shutil.rmtree, self.folder)

    def write(self, events, name="in.json"):
        (self.folder / name).write_text(json.dumps(list(events)))

    def report(self, *args, status=0):
        run = analyze(self.folder, "-i", "in.json", "-o", "out.json", "--freq", f"{F}:800", "-M",
                      "-D", "1", *args)
        self.assertEqual(run.returncode, status, run.stdout + run.stderr)
        return run

    def summary(self, *args):
        self.report("--json", "s.json", *args)
        return json.loads((self.folder / "s.json").read_text())

    def test_parts_agree_with_counting_microseconds(self):
        for seed in range(3):
            work = {rank: random_work(rank, seed) for rank in range(4)}
            self.write(e for rank in work for e in spans_of(work[rank], rank))
            got = self.summary()
            self.assertEqual([r["rank"] for r in got["ranks"]], [0, 1, 2, 3])
            for row in got["ranks"]:
                length, parts, whole = split(work[row["rank"]])
                self.assertEqual(row["length_us"], length)
                for kind, key in KEYS.items():
                    self.assertEqual(row[key], parts[kind], (seed, row["rank"], kind))
                self.assertEqual(row["communication_us"], whole["comm"])
                self.assertEqual(row["communication_hidden_us"], whole["comm"] - parts["comm"])
                self.assertEqual(row["transfer_us"], whole["transfer"])
                self.assertEqual(row["prep_us"], whole["prep"])
                self.assertEqual(row["busy_us"], length - parts["idle"])
            self.assertEqual(got["verify"]["trust_percent"], 100)

    def test_steps_add_up_and_tell_the_slow_rank(self):
        self.write(iterations(slow=10))
        got = self.summary()
        self.assertEqual({r["step_source"] for r in got["ranks"]}, {"iterations"})
        self.assertEqual([r["step_count"] for r in got["ranks"]], [12, 12])
        for step in got["steps"]:
            self.assertAlmostEqual(sum(step[key] for key in KEYS.values()), step["length_us"], 6)
        steps = [s for s in got["steps"] if s["first"] < 11]
        self.assertEqual({s["length_us"] for s in steps}, {250})
        self.assertEqual({(s["rank"], s["compute_us"], s["communication_exposed_us"], s["idle_us"])
                          for s in steps}, {(0, 160, 40, 50), (1, 170, 30, 50)})
        quick, slow = got["ranks"]
        self.assertEqual((quick["straggler"], slow["straggler"]), (False, True))
        self.assertEqual(slow["step_excess_us"], 5)
        self.assertEqual(slow["late_in_collectives"],
                         {"seen": 12, "last": 12, "mean_late_us": 10, "max_late_us": 10,
                          "total_late_us": 120})
        self.assertEqual(quick["late_in_collectives"]["last"], 0)
        (coll,) = got["collectives"]
        self.assertEqual((coll["count"], coll["ranks"], coll["last_rank"], coll["last_count"],
                          coll["mean_late_us"]), (12, 2, 1, 12, 10))
        self.assertEqual([len(r["late_us"]) for r in got["late_heat"]["rows"]], [12, 12])
        self.assertEqual({x for x in got["late_heat"]["rows"][1]["late_us"]}, {10})

    def test_energy_of_kernels(self):
        self.write(iterations())
        got = self.summary()
        # 12 V, charge units as release 1.0 counts them; within a step 40 us lie between readings,
        # between steps 90 us more
        watts = 12 * 6_000_000 * (5.37 / 512) / 1000 / 40
        first = watts * 40 / (250 - 120)
        by_name = {k["name"]: k for k in got["kernels"] if k["rank"] == 0}
        self.assertEqual(set(by_name), {f"{n}_[N] Cmpt Exec"
                                        for n in ("alpha", "beta", "gamma", "delta")})
        self.assertAlmostEqual(by_name["beta_[N] Cmpt Exec"]["energy_j"], 12 * watts * 40e-6, 9)
        self.assertAlmostEqual(by_name["alpha_[N] Cmpt Exec"]["energy_j"], 11 * first * 40e-6, 9)
        self.assertAlmostEqual(by_name["beta_[N] Cmpt Exec"]["power_w"], watts, 6)
        whole = got["ranks"][0]["energy_j"]
        self.assertAlmostEqual(whole, 47 * watts * 40e-6, 9)
        self.assertAlmostEqual(by_name["beta_[N] Cmpt Exec"]["energy_percent"],
                               100 * 12 / 47, 2)
        self.assertAlmostEqual(sum(s["energy_j"] for s in got["steps"] if s["rank"] == 0), whole, 9)

    def test_energy_of_torch_kernels(self):
        """Newer torch traces have the readings as "charge", the stamps as "cycles_ts"."""
        wrap, charge, events = 1 << 32, (1 << 32) - 5000, []
        for k in range(6):
            charge = (charge + 30000 * (1 + k % 2)) % wrap
            events.append({"ph": "X", "cat": "kernel", "name": f"k{k % 2}", "pid": 0, "tid": 1,
                           "ts": 1000 + 100 * k, "dur": 100,
                           "args": {"correlation": k + 1, "charge": charge,
                                    "cycles_ts": [56000 * k + n for n in range(5)]}})
        trace = {"deviceProperties": [{"id": 0, "name": "AIU"}], "distributedInfo": {"rank": 0},
                 "traceEvents": events}
        (self.folder / "t.json").write_text(json.dumps(trace))
        self.assertEqual(analyze(self.folder, "-i", "t.json", "-o", "o.json", "--json", "r.json"
                                 ).returncode, 0)
        report = json.loads((self.folder / "r.json").read_text())
        joules = [12 * 30000 * (1 + k % 2) * 5.37 / 512 / 1000 * 1e-6 for k in range(6)]
        # the first reading is where counting begins
        self.assertAlmostEqual(report["ranks"][0]["energy_j"], sum(joules[1:]), places=9)
        energy = {k["name"]: k["energy_j"] for k in report["kernels"]}
        self.assertAlmostEqual(energy["k1"], joules[1] + joules[3] + joules[5], places=9)
        self.assertAlmostEqual(energy["k0"], joules[2] + joules[4], places=9)
        shown = json.loads((self.folder / "o.json").read_text())["traceEvents"]
        for before, after in zip(events, (e for e in shown if e["ph"] == "X")):
            self.assertEqual(before["args"]["cycles_ts"], after["args"]["cycles_ts"])
            self.assertEqual(before["args"]["charge"], after["args"]["charge"])

    def test_without_power_says_so(self):
        self.write(e for e in iterations())
        got = self.summary("-C", "prep_queue")
        self.assertFalse(got["power"]["known"])
        self.assertIn("no power samples", got["power"]["why"])
        self.assertIsNone(got["kernels"][0]["energy_j"])

    def test_verify_gives_and_strict_fails(self):
        events = list(iterations())
        self.write(events)
        run = self.report("--verify=strict")
        self.assertRegex(run.stdout, r"trust: 100\.0 % of the device time \(\d")
        self.assertTrue((self.folder / "out.json").exists())
        self.report("--verify=strict:100")
        # a begin without an end is something lost, whatever the rest looks like
        self.write(events + [{"name": "x", "ph": "B", "pid": 0, "tid": 1, "ts": 1}])
        run = self.report("--verify=report")
        self.assertRegex(run.stdout, r"error +1 .*begins without an end were left out")
        self.report("--verify=strict", status=1)
        # every tenth span is three times as long by the host's clock
        for e in events[::10]:
            e["ts"] -= 2 * e["dur"]
            e["dur"] *= 3
        self.write(events)
        run = self.report("--verify=strict", status=1)
        self.assertRegex(run.stdout, r"warning +12 .*length differs between host and cycles")
        self.report("--verify=strict:50")
        got = self.summary()
        cycles = [int(e["args"]["TS5"]) - int(e["args"]["TS1"]) for e in events]
        self.assertAlmostEqual(got["verify"]["trust_percent"],
                               100 - 100 * sum(cycles[::10]) / sum(cycles), 6)
        self.report("--verify=sometimes", status=2)
        self.report("--verify=strict:101", status=2)

    def test_verify_alone_changes_nothing(self):
        self.write(iterations())
        run = self.report("-V")
        self.assertIn("trust: 100.0 %", run.stdout)
        events = json.loads((self.folder / "out.json").read_text())["traceEvents"]
        self.assertEqual(sorted((e["name"], e["ts"]) for e in events),
                         sorted((e["name"], e["ts"]) for e in iterations()))
        other = self.report("--verify")
        self.assertEqual(other.stdout.splitlines()[-1], run.stdout.splitlines()[-1])

    def test_a_wrong_frequency_is_seen(self):
        self.write(iterations())
        run = analyze(self.folder, "-i", "in.json", "--freq", "500:800", "-M", "--verify=strict",
                      "--json", "s.json")
        self.assertEqual(run.returncode, 1)
        verify = json.loads((self.folder / "s.json").read_text())["verify"]
        self.assertEqual([c["given_mhz"] for c in verify["clocks"]], [500, 500])
        for clock in verify["clocks"]:
            self.assertAlmostEqual(clock["detected_mhz"], F, 3)
        self.assertEqual(verify["trust_percent"], 0)
        self.assertIn("frequency_off", {i["key"] for i in verify["issues"]})

    def test_stages_and_missing_ranks(self):
        events = [e for e in iterations() if e["pid"] == 0]
        self.write(events + [span("p Cmpt Prep", 0, 4000, 4010)])
        verify = self.summary()["verify"]
        now = verify["events_read"]
        self.assertEqual(now, len(events) + 1)
        for stage in verify["stages"]:
            self.assertEqual(stage["before"], now)
            now += stage["added"] - stage["dropped"]
        self.assertEqual(now, verify["events_kept"])
        self.assertEqual(verify["missing_ranks"], [1])

    def test_names_of_files(self):
        self.write(iterations())
        run = self.report("--json")
        self.assertEqual(run.stderr, "")
        self.assertTrue((self.folder / "out_report.json").exists())
        run = self.report("--json", "-", "--verify=report")
        self.assertEqual(json.loads(run.stdout)["schema"], "unitrace.analyze/1")
        self.assertIn("trust: ", run.stderr)
        self.report("--json=no/such/folder/x.json", status=1)
        self.assertFalse((self.folder / "no").exists())
        help_text = analyze(self.folder, "--h").stdout
        self.assertIn("--html", help_text)

    def test_empty_and_odd_inputs_have_reports(self):
        for text in ("[]", '[{"name":"i","ph":"i","pid":0,"tid":0,"ts":1,"s":"g"}]',
                     '{"deviceProperties":[{"id":0}],"traceEvents":[]}'):
            (self.folder / "in.json").write_text(text)
            got = self.summary("--verify=report")
            self.assertEqual(got["ranks"], [])
            self.assertEqual(got["verify"]["errors"], 0)

    def test_diff_compares_what_analyze_writes(self):
        self.write(iterations())
        self.report()
        (self.folder / "out.json").rename(self.folder / "before.json")
        self.write(iterations(slow=10))
        self.report()
        run = subprocess.run([UNITRACE, "diff", "before.json", "out.json", "--cat", "kernel",
                              "--json"], cwd=self.folder, capture_output=True, text=True,
                             timeout=PATIENCE)
        self.assertEqual(run.returncode, 0, run.stderr)
        text = subprocess.run([UNITRACE, "diff", "before.json", "out.json", "--cat", "kernel",
                               "--fail-if", "max>20%"], cwd=self.folder, capture_output=True,
                              text=True, timeout=PATIENCE)
        self.assertEqual(text.returncode, 3, text.stdout + text.stderr)
        self.assertRegex(text.stdout, r"alpha Cmpt Exec +24 +24 +960\.0 us +1\.080 ms +\+120\.0 us")
        self.assertRegex(text.stdout, r"FAILED max>20%: alpha Cmpt Exec")
        self.assertNotRegex(text.stdout, r"FAILED.*beta")


if __name__ == "__main__":
    if not UNITRACE.exists():
        skip(f"{UNITRACE} is not built")
    unittest.main(verbosity=2)
