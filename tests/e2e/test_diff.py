"""unitrace diff: what has changed, how sure that is, and what a CI job gets to know."""
import json
import random

from common import UNITRACE, Case, main, skip

if not UNITRACE.exists():
    skip(f"{UNITRACE} is not built")


def make(path, seed, factor=1.0, count=400, extra=()):
    """Spans "hot", which last factor times as long, and "cold", which do not; extra names once."""
    r = random.Random(seed)
    ts, events = 1000.0, []
    for _ in range(count):
        for name, length in (("hot", r.gauss(100, 10) * factor), ("cold", r.gauss(50, 5))):
            events.append({"ph": "X", "name": name, "pid": 1, "tid": 1, "ts": round(ts, 3),
                           "dur": round(max(length, 1), 3)})
            ts += length + 10
    for name in extra:
        events.append({"ph": "X", "name": name, "pid": 1, "tid": 1, "ts": round(ts, 3), "dur": 5})
        ts += 10
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(events))
    return path


class Diff(Case):
    def diff(self, *words, rc=0):
        got = self.unitrace("diff", *words)
        self.assertEqual(got.returncode, rc, got.stderr + got.stdout)
        return got.stdout.decode()

    def rows(self, *words, rc=0):
        data = json.loads(self.diff("--json", *words, rc=rc))
        return data, {r["name"]: r for r in data["rows"]}

    def test_one_run_on_each_side(self):
        a = make(self.dir / "a.json", 1)
        b = make(self.dir / "b.json", 2, factor=1.2, extra=["fresh"])
        data, rows = self.rows(a, b)
        self.assertEqual((data["test"], list(rows)), ("none", ["hot", "cold", "fresh"]))
        self.assertEqual(rows["hot"]["calls"], "far apart")
        self.assertEqual(rows["cold"]["calls"], "alike")
        self.assertEqual(rows["fresh"]["state"], "new")
        self.assertIsNone(rows["fresh"]["before"])
        ratio = rows["hot"]["after"]["p50_ns"] / rows["hot"]["before"]["p50_ns"]
        self.assertAlmostEqual(ratio, 1.2, delta=0.03)
        self.assertEqual(rows["hot"]["after"]["count"], 400)
        text = self.diff(a, b)
        self.assertRegex(text, r"(?m)^hot +400 +400 .*\+\d+\.\d%  longer in 9\d% of pairs$")
        self.assertRegex(text, r"(?m)^cold .*  alike$")
        self.assertRegex(text, r"(?m)^fresh .* new$")
        self.assertIn("compare several (--against)", text)
        self.assertRegex(self.diff(b, a), r"(?m)^hot .*  shorter in 9\d% of pairs$")

    def test_the_same_run_is_no_change(self):
        a = make(self.dir / "a.json", 1)
        _, rows = self.rows(a, a, "--fail-if", "p50!=0,total!=0,count!=0,new,vanished")
        self.assertEqual({r["calls"] for r in rows.values()}, {"alike"})

    def test_one_run_each_is_never_sure(self):
        """Two runs of one program, of which one was on a warmer machine."""
        a = make(self.dir / "a.json", 1, count=4000)
        b = make(self.dir / "b.json", 2, factor=1.02, count=4000)
        text = self.diff(a, b) + self.diff(a, b, "--json")
        for word in ("sure", "likely", "verdict", '"p"', "p="):
            self.assertNotIn(word, text)
        self.diff(a, b, "--fail-if", "p50>1%")  # 2 % in a spread of 10 %: the calls are alike
        c = make(self.dir / "c.json", 3, factor=1.06, count=4000)
        self.diff(a, c, "--fail-if", "p50>1%", rc=3)
        self.diff(a, c, "--fail-if", "p50>1%", "--confidence", "sure")  # not far apart
        # runs of a side that differ as much say that it is nothing
        runs = [make(self.dir / f"r{i}.json", 10 + i, factor=1 + 0.03 * i) for i in range(4)]
        _, rows = self.rows(runs[0], runs[3], "--against", runs[1], runs[2])
        self.assertEqual(rows["hot"]["verdict"], "noise")

    def test_several_runs_are_compared_as_runs(self):
        old = [make(self.dir / f"old{i}.json", i) for i in range(4)]
        new = [make(self.dir / f"new{i}.json", 10 + i, factor=1.1) for i in range(4)]
        data, rows = self.rows(*old, "--against", *new)
        self.assertEqual((data["runs_before"], data["runs_after"], data["test"]), (4, 4, "welch"))
        self.assertEqual(rows["hot"]["verdict"], "sure")
        self.assertEqual(rows["cold"]["verdict"], "noise")
        self.assertEqual(rows["hot"]["before"]["count"], 400)  # per run
        self.rows(*old, "--against", new[0])
        self.diff(*old[:2], "--against", rc=2)
        self.diff("--against", *new, rc=2)

    def test_a_directory_is_one_run_of_many_ranks(self):
        for rank in range(3):
            make(self.dir / "before" / f"rank{rank}.json", rank)
            make(self.dir / "after" / f"rank{rank}.json", 10 + rank, factor=1.3)
        data, rows = self.rows("before", "after")
        self.assertEqual((data["runs_before"], data["test"]), (1, "none"))
        self.assertEqual(rows["hot"]["after"]["count"], 1200)
        data, _ = self.rows("before/*.json", "after/*.json")
        self.assertEqual((data["runs_before"], data["runs_after"]), (1, 1))

    def test_rules_set_the_exit_status(self):
        a = make(self.dir / "a.json", 1, extra=["gone"])
        b = make(self.dir / "b.json", 2, factor=1.2, extra=["fresh"])
        for rules, broken in (("p50>5%", True), ("p50>30%", False), ("total>1ms", True),
                              ("count!=0", True), ("name~hot:count!=0", False), ("new", True),
                              ("vanished", True), ("name~^f:new", True), ("name~^g:new", False),
                              ("name~^(hot|cold)$:mean>10us,p99>90%", True),
                              ("p90<-5%", False), ("name~cold:p50!=0%", False)):
            text = self.diff(a, b, "--fail-if", rules, rc=3 if broken else 0)
            self.assertEqual("FAILED" in text, broken, rules)
        text = self.diff(a, b, "--fail-if", "p50>5%", rc=3)
        self.assertRegex(text, r"(?m)^FAILED p50>5%: hot: \d.* us -> \d.* us, far apart$")
        data, _ = self.rows(a, b, "--fail-if", "p50>5%", "--fail-if", "new", rc=3)
        self.assertEqual(data["failures"], [{"name": "hot", "rule": "p50>5%"},
                                            {"name": "fresh", "rule": "new"}])
        # what is not sure enough does not fail; what is asked for with less confidence does
        self.diff(a, b, "--fail-if", "name~cold:mean!=0", "--confidence", "noise", rc=3)
        self.diff(b, a, "--fail-if", "p50>5%", "--confidence", "noise")

    def test_a_gate_that_compared_nothing_fails(self):
        a = make(self.dir / "a.json", 1)
        other = make(self.dir / "other.json", 1, count=0, extra=["elsewhere"])
        empty = make(self.dir / "empty.json", 1, count=0)
        for words, why in (([a, empty, "p50>5%"], "the run after has no spans"),
                           ([empty, a, "p50>5%"], "the run before has no spans"),
                           ([empty, empty, "p50>5%"], "both runs have no spans"),
                           ([a, other, "p50>5%"], "no name is on both sides"),
                           ([a, other, "total>10%"], "no name is on both sides"),
                           ([other, a, "name~elsewhere:self>10%"], "no name is on both sides"),
                           ([a, a, "p50>5%,name~hott:p50>5%"], "'name~hott:p50>5%': it fits no name"),
                           ([a, a, "name~hott:vanished"], "'name~hott:vanished': it fits no name"),
                           ([a, a, "p50>5%", "--name", "hott"], "both runs have no spans")):
            with self.subTest(why):
                got = self.unitrace("diff", *words[:2], "--fail-if", *words[2:])
                self.assertEqual(got.returncode, 1, got.stdout + got.stderr)
                self.assertIn("nothing was compared", got.stderr.decode())
                self.assertIn(why, got.stderr.decode())
        both = make(self.dir / "both.json", 1, extra=["elsewhere"])
        got = self.unitrace("diff", both, other, "--fail-if", "name~hot:p50>5%")
        self.assertEqual(got.returncode, 1)
        self.assertIn(b"no name that it fits has this, measured, on both sides", got.stderr)
        self.diff(a, a, "--fail-if", "name~hott:new")  # it may never have been there
        self.diff(empty, a, "--fail-if", "new", rc=3)
        self.diff(a, other, "--fail-if", "total>1us", rc=3)  # what is new has grown from 0
        got = self.unitrace("diff", a, other)
        self.assertEqual(got.returncode, 0)
        self.assertIn(b"no name is on both sides", got.stderr)

    def test_samples_are_compared_by_another_command(self):
        stacks = "main;work 10\n"
        for name in ("a.folded", "b.folded"):
            (self.dir / name).write_text(stacks)
        got = self.unitrace("diff", "a.folded", "b.folded")
        self.assertIn(b"'unitrace hotspots --diff' compares samples", got.stderr)

    def test_rows_and_counts_are_limited(self):
        a = make(self.dir / "a.json", 1, extra=["x", "y"])
        b = make(self.dir / "b.json", 2)
        self.assertEqual(len(self.diff(a, b, "--rows", 2).splitlines()), 5)
        self.assertEqual(set(self.rows(a, b, "--min-count", 10)[1]), {"hot", "cold"})
        self.assertEqual(set(self.rows(a, b, "--name", "hot")[1]), {"hot"})

    def test_misuse_and_trouble_are_distinguished(self):
        a = make(self.dir / "a.json", 1)
        for words in ([], [a], [a, a, a], [a, a, "--fail-if", "p50>5"],
                      [a, a, "--confidence", "x"], [a, a, "--by", "x"]):
            self.diff(*words, rc=2)
        self.diff(a, "missing.json", rc=1)


if __name__ == "__main__":
    main()
