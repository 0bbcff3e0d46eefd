#!/usr/bin/env python3
"""Traces made at random: Perfetto's trace_processor and our query find the same slices and arrows,
in the JSON and in the .pftrace that we make of it."""
# ci: labels slow real long
import json
import os
import random
import unittest

import common
import perfetto_oracle

common.need()

SEEDS = 40 if os.environ.get("UNITRACE_LONG") == "1" else 4
SLICES = "select name, ts, dur from slice where dur > 0 order by ts, dur desc, name"
ARROWS = ("select o.name as a, i.name as b from flow join slice o on o.id = slice_out "
          "join slice i on i.id = slice_in order by 1, 2")


class Maker:
    """Spans that nest, async spans that nest in their id, arrows between spans."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.events, self.spans = [], []
        for pid in (1, 2):
            for tid in (10 * pid + 1, 10 * pid + 2):
                self.fill((pid, tid), self.random.randint(0, 5), 60, 0)
        for number in range(self.random.randint(0, 5)):
            self.add_async(number)
        for number in range(self.random.randint(0, 8)):
            self.add_arrow(number)
        self.events.sort(key=lambda e: e["ts"])

    def add(self, place, phase, ts, **more):
        self.events.append({"ph": phase, "pid": place[0], "tid": place[1], "ts": ts, **more})

    def add_span(self, place, at, length, depth):
        who = {"name": f"s{len(self.spans)}", "cat": "c"}
        self.spans.append((place, at, at + length))
        if self.random.random() < 0.6:
            self.add(place, "X", at, dur=length, **who)
            self.fill(place, at + 1, at + length - 1, depth + 1)
        else:
            self.add(place, "B", at, **who)
            self.fill(place, at + 1, at + length - 1, depth + 1)
            self.add(place, "E", at + length, **(who if self.random.random() < 0.5 else {}))

    def fill(self, place, at, end, depth):
        while at < end and depth < 4:
            length = self.random.randint(1, end - at)
            if self.random.random() < 0.7:
                self.add_span(place, at, length, depth)
            at += length + self.random.randint(1, 4)

    def add_async(self, number):
        pid, at = self.random.choice((1, 2)), self.random.randint(0, 50)
        place, more = (pid, 10 * pid + 1), {"id": hex(number + 1), "cat": "async"}
        self.add(place, "b", at, name=f"a{number}", **more)
        if self.random.random() < 0.5:
            self.add(place, "b", at + 1, name=f"inner{number}", **more)
            self.add(place, "e", at + 3, name=f"inner{number}", **more)
        self.add(place, "e", at + self.random.randint(4, 20), name=f"a{number}", **more)

    def add_arrow(self, number):
        (source, out, _), (target, into, _) = sorted(self.random.choices(self.spans, k=2),
                                                     key=lambda s: s[1])
        if out == into:
            return
        more = {"id": number + 1, "name": "f", "cat": "flow"}
        self.add(source, "s", out + 0.5, **more)
        bound = {"bp": "e"} if self.random.random() < 0.7 else {}
        self.add(target, "f", into + 0.5, **more, **bound)


def from_zero(rows):
    first = min((ts for _, ts, _ in rows), default=0)
    return [(name, ts - first, dur) for name, ts, dur in rows]


@unittest.skipIf(perfetto_oracle.missing(), perfetto_oracle.missing())
class Random(common.Case):
    def ours(self, path, sql):
        got = self.unitrace("query", "--json", path, sql)
        self.assertEqual(got.returncode, 0, got.stderr)
        return [tuple(row.values()) for row in json.loads(got.stdout)]

    def test_all_agree(self):
        for seed in range(SEEDS):
            path = self.dir / f"{seed}.json"
            path.write_text(json.dumps({"traceEvents": Maker(seed).events}))
            perfetto = path.with_suffix(".pftrace")
            self.assertEqual(self.unitrace("export", "-o", perfetto, path).returncode, 0)
            slices, arrows = perfetto_oracle.ask(path, SLICES, ARROWS)
            self.assertGreater(len(slices), 5)
            for file in (path, perfetto):
                with self.subTest(file=file.name):
                    self.assertEqual(from_zero(self.ours(file, SLICES)), from_zero(slices))
                    self.assertEqual(self.ours(file, ARROWS), arrows)
            again = perfetto_oracle.ask(perfetto, SLICES, ARROWS)
            self.assertEqual((from_zero(again[0]), again[1]), (from_zero(slices), arrows), seed)


if __name__ == "__main__":
    common.main()
