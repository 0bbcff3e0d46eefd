#!/usr/bin/env python3
"""What unitrace says about programs made at random is what a tracer in pure Python says."""
import json

from python_support import HERE, Case, Trace, main, need_python

PYTHONS = need_python()
SEEDS = 60


def tree(trace, outer):
    """[(depth, name, file, line)] of the Python calls inside a span, in the order of the file."""
    found, stack = [], []
    for s in trace.spans:
        if s.tid != outer.tid or s.begin < outer.begin or s.end > outer.end or s.cat != "Python":
            continue
        while stack and stack[-1] <= s.begin:
            stack.pop()
        found.append([len(stack), s.name, s.args["file"], s.args["line"]])
        stack.append(s.end)
    return [f for f in found if f[2].startswith("<program")]


def outermost_at_zero(calls):
    """Both count from whatever called the program."""
    lowest = min((c[0] for c in calls), default=0)
    return [[c[0] - lowest, *c[1:]] for c in calls]


class Nesting(Case):
    def check(self, python, *options):
        got = self.unitrace("--python-partial", *options, "--quiet", "-o", "out.json", "--overwrite",
                            python, HERE / "nesting.py", "0", str(SEEDS), "expected.json")
        self.assertEqual(got.returncode, 0, got.stderr.decode())
        expected = json.loads((self.dir / "expected.json").read_text())
        trace = Trace(self.dir / "out.json")
        self.assertFalse(trace.losses)
        calls = 0
        for seed, wanted in expected.items():
            seen = tree(trace, trace.one(f"seed {seed}"))
            self.assertEqual(outermost_at_zero(seen), outermost_at_zero(wanted), f"seed {seed}")
            calls += len(seen)
        self.assertGreater(calls, SEEDS * 5)

    def test_every_call_is_there_and_where_it_belongs(self):
        for version, python in PYTHONS.items():
            for options in ((), ("--python-lines",), ("--python-c-calls",),
                            ("--python-lines", "--python-c-calls")):
                with self.subTest(version, options=options):
                    self.check(python, *options)


if __name__ == "__main__":
    main()
