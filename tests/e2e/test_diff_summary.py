"""unitrace diff of two summaries of analyze: figures of the run, of ranks and kernels, and rules
about them."""
import json

from common import UNITRACE, Case, main, skip

if not UNITRACE.exists():
    skip(f"{UNITRACE} is not built")


def trace(path, slow=0, more=(), ranks=2, power=6000000):
    """Ranks with 12 steps of four kernels and a collective; the kernel "mm" takes slow us more."""
    events = []

    def span(name, rank, begin, end, part, **args):
        stamps = {f"TS{i + 1}": str((begin if i <= part else end) * 560) for i in range(5)}
        events.append({"name": name, "ph": "X", "pid": rank, "tid": part, "ts": begin,
                       "dur": end - begin, "args": {**stamps, **args}})
    for rank in range(ranks):
        count = 1000
        for step in range(12):
            at = 5000 + 300 * step
            for name in ("mm", "add", "mul", *more):
                end = at + 40 + (slow if name == "mm" else 0)
                count += power
                span(f"{name} Cmpt Exec", rank, at, end, 2, **({"Power": str(count)} if power else {}))
                at = end
            span(f"SenRdmaSend_{rank} [sync=s] DmaO", rank, at, at + 30, 3,
                 CollGroup="AllReduce_all_reduce_1", Peer=str(1 - rank))
    path.write_text(json.dumps(events))
    return path


class Summaries(Case):
    def summary(self, name, **how):
        trace(self.dir / f"{name}_in.json", **how)
        got = self.unitrace("analyze", "-i", self.dir / f"{name}_in.json", "--freq", "560:800", "-M",
                            "-D", "0", "-o", self.dir / f"{name}.json", "--json",
                            self.dir / f"{name}_report.json")
        self.assertEqual(got.returncode, 0, got.stderr)
        return self.dir / f"{name}_report.json"

    def diff(self, *words, rc=0):
        got = self.unitrace("diff", *words)
        self.assertEqual(got.returncode, rc, got.stderr + got.stdout)
        return (got.stdout + got.stderr).decode()

    def rows(self, *words, rc=0):
        data = json.loads(self.diff("--json", *words, rc=rc))
        self.assertEqual(data["schema"], "unitrace.analyze-diff/1")
        return data, {(r["name"], r["rank"]): r for r in data["rows"]}

    def test_figures_of_run_and_kernels(self):
        a, b = self.summary("a"), self.summary("b", slow=20, more=["fresh"])
        _, rows = self.rows(a, b)
        run, mm = rows["run", None]["figures"], rows["mm Cmpt Exec", None]["figures"]
        self.assertEqual(run["compute"]["before"], 2 * 12 * 120)
        self.assertEqual(run["compute"]["change"], 2 * 12 * 60)
        self.assertEqual(run["compute"]["percent"], 50)
        self.assertEqual(run["exposed"]["change"], 0)
        self.assertEqual(run["busy"]["unit"], "%")
        self.assertGreater(run["busy"]["change"], 5)
        self.assertGreater(run["step"]["before"], 0)
        self.assertEqual(run["trust"]["before"], 100)
        self.assertEqual((mm["count"]["before"], mm["count"]["change"]), (24, 0))
        self.assertEqual(mm["total"]["change"], 24 * 20)
        self.assertEqual(mm["mean"]["percent"], 50)
        self.assertGreater(mm["power"]["before"], 0)
        self.assertEqual(rows["fresh Cmpt Exec", None]["state"], "new")
        _, back = self.rows(b, a)
        self.assertEqual(back["fresh Cmpt Exec", None]["state"], "vanished")

    def test_figures_are_those_of_the_summary(self):
        a = self.summary("a", slow=3)
        totals = json.loads(a.read_text())["totals"]
        _, rows = self.rows("--by", "name,rank", a, a)
        run = rows["run", None]["figures"]
        for figure, key in (("length", "longest_rank_us"), ("idle", "idle_us"),
                            ("communication", "communication_us"), ("energy", "energy_j")):
            self.assertEqual(run[figure]["before"], totals[key])
        for r in json.loads(a.read_text())["ranks"]:
            got = rows[f"rank {r['rank']}", r["rank"]]["figures"]
            self.assertEqual(got["step"]["after"], r["step_mean_us"])
            self.assertEqual(got["exposed"]["after"], r["communication_exposed_us"])
        for k in json.loads(a.read_text())["kernels"]:
            got = rows[k["name"], k["rank"]]["figures"]
            self.assertEqual([got[f]["before"] for f in ("count", "total", "p50", "energy", "power")],
                             [k[f] for f in ("calls", "total_us", "median_us", "energy_j", "power_w")])
        self.assertTrue(all(f["change"] == 0 for r in rows.values() for f in r["figures"].values()))

    def test_tables_for_people(self):
        a, b = self.summary("a"), self.summary("b", slow=20)
        text = self.diff(a, b, "--rows", "1")
        self.assertRegex(text, r"run +exposed +720\.0 us +720\.0 us +0 ns +\+0\.0%")
        self.assertRegex(text, r"mm Cmpt Exec +24 +24 +960\.0 us +1\.440 ms +\+480\.0 us +\+50\.0%")
        self.assertIn("... and 2 more; --rows 0 shows them", text)
        self.assertRegex(self.diff(a, b, "--by", "name,rank"), r"rank 1 +compute +1\.440 ms")

    def test_rules(self):
        a, b = self.summary("a"), self.summary("b", slow=20, more=["fresh"])
        for rule, met in (("step>100%", False), ("compute>49%", True), ("compute>1.4ms", True),
                          ("compute>1.5ms", False), ("exposed!=0", False), ("busy>5", True),
                          ("busy>90", False), ("count!=0", True), ("name~^mm:mean>49%", True),
                          ("name~^add:total!=0", False), ("new", True), ("vanished", False),
                          ("name~^run$:energy>1%", True), ("power<-100", False),
                          ("total<0us", False), ("step_p50>100%,compute>1%", True)):
            with self.subTest(rule):
                self.diff(a, b, "--fail-if", rule, rc=3 if met else 0)
        self.assertIn("FAILED name~^mm:mean>49%: mm Cmpt Exec: 40.00 us -> 60.00 us",
                      self.diff(a, b, "--fail-if", "name~^mm:mean>49%", rc=3))
        data, _ = self.rows(a, b, "--fail-if", "new", rc=3)
        self.assertEqual([f["name"] for f in data["failures"]], ["fresh Cmpt Exec"])

    def test_what_is_not_known_does_not_change(self):
        a, b = self.summary("a", power=0), self.summary("b")
        self.assertIsNone(self.rows(a, b)[1]["run", None]["figures"]["energy"]["before"])
        self.assertIn("nothing was compared for --fail-if 'energy!=0'",
                      self.diff(a, b, "--fail-if", "energy!=0,power!=0", rc=1))
        self.assertRegex(self.diff(a, b), r"run +energy +- +[\d.]+ J +- +-")

    def test_summaries_of_nothing(self):
        (self.dir / "e.json").write_text("[]")
        self.unitrace("analyze", "-i", self.dir / "e.json", "-o", self.dir / "o.json", "--json",
                      self.dir / "e_report.json")
        self.assertRegex(self.diff(self.dir / "e_report.json", self.dir / "e_report.json"), "run +length")

    def test_rows_that_are_rare_can_be_left_out(self):
        a = self.summary("a")
        self.assertEqual(len(self.rows(a, a, "--min-count", "25")[0]["rows"]), 1)

    def test_what_cannot_be_compared(self):
        a = self.summary("a")
        self.assertIn("not with traces", self.diff(a, self.dir / "a.json", rc=2))
        self.assertIn("two at a time", self.diff(a, a, "--against", a, rc=2))
        self.assertIn("names and ranks only", self.diff(a, a, "--by", "thread", rc=2))
        self.assertIn("not on summaries", self.diff(a, a, "--name", "mm", rc=2))
        self.assertIn("no condition", self.diff(a, a, "--fail-if", "steps>3%", rc=2))
        self.assertIn("no condition", self.diff(a, a, "--fail-if", "step>3", rc=2))
        cut = self.dir / "cut.json"
        cut.write_bytes(a.read_bytes()[:700])
        self.assertIn("offset", self.diff(cut, a, rc=1))
        other = self.dir / "other.json"
        other.write_text('{ "schema" : "unitrace.analyze/99" }')
        self.assertIn("schema", self.diff(other, a, rc=1))


if __name__ == "__main__":
    main()
