#!/usr/bin/env python3
"""One meaning: every reader says the same about every odd shape, and what a small model says.

SHAPES is the list: a name, a few Chrome events, and what `validate` has to find in them. Model
works out spans and arrows from the events, on its own. Each method in READERS asks one reader, of
the file itself or of a copy in another format; a new reader or shape is one entry.
docs/design/018-one-meaning.md says what is right.
"""
# ci: labels slow
# ci: no sanitizers
# Thousands of short runs, each slow to start with one.
import collections
import csv
import io
import json
import sqlite3

from common import UNITRACE, Case, main, skip

if not UNITRACE.exists():
    skip(f"{UNITRACE} is not built")


def event(ph, ts, name=None, tid=1, pid=1, cat="c", **more):
    named = {} if name is None else {"name": name}
    return {"ph": ph, "ts": ts, "pid": pid, "tid": tid, "cat": cat, **named, **more}


def x(name, ts, dur, tid=1, **more):
    return event("X", ts, name, tid, dur=dur, **more)


def begin(ts, name, id=1, **more):
    return event("b", ts, name, id=id, **more)


def end(ts, name=None, id=1, **more):
    return event("e", ts, name, id=id, **more)


def flow(ph, ts, tid=1, id=1, name="fl", **more):
    return event(ph, ts, name, tid, id=id, **more)


def into(ts, tid=2, **more):
    return flow("f", ts, tid, bp="e", **more)


SOURCE = [x("source", 0, 10), flow("s", 5)]
HUGE = str(2 ** 64 - 1)

SHAPES = {  # name: (events, what validate finds)
    # async spans
    "nested async": ([begin(0, "o"), begin(1, "i"), end(2, "i"), end(3, "o")], set()),
    "nested async of one name": ([begin(0, "o"), begin(1, "o"), end(2, "o"), end(5, "o")], set()),
    "nested async, ends without names": ([begin(0, "o"), begin(1, "i"), end(2), end(3)], set()),
    "async, one after the other": ([begin(0, "o"), end(1, "o"), begin(2, "o"), end(5, "o")], set()),
    "async, crossed": ([begin(0, "o"), begin(1, "i"), end(2, "o"), end(3, "i")],
                       {"implicit-end", "async-no-begin"}),
    "async, end of another name": ([begin(0, "o"), end(2, "z"), begin(3, "p", 2), end(9, "p", 2)],
                                   {"async-no-end", "async-no-begin"}),
    "async, never ended": ([begin(0, "o"), begin(1, "p", 2), end(9, "p", 2)], {"async-no-end"}),
    "async, two categories": ([begin(0, "o"), begin(1, "p", cat="d"), end(5, "o"),
                               end(9, "p", cat="d")], set()),
    "async into another process": ([begin(0, "o"), end(3, "o", pid=2)], set()),
    "async of one id in two processes": ([begin(0, "o"), begin(1, "o", pid=2), end(4, "o"),
                                          end(9, "o", pid=2)], set()),
    "async, local id of two processes": (
        [event("b", 0, "o", id2={"local": "0x1"}), event("e", 5, "o", pid=2, id2={"local": "0x1"})],
        {"async-no-end", "async-no-begin"}),
    "async, global id of two processes": (
        [event("b", 0, "o", id2={"global": "0x1"}),
         event("e", 5, "o", pid=2, id2={"global": "0x1"})], set()),
    "async, text and huge ids": ([begin(0, "o", "text"), begin(1, "p", HUGE), end(4, "p", HUGE),
                                  end(9, "o", "text")], set()),
    "async, arguments of both": ([begin(0, "o", args={"a": 1, "b": 1}),
                                  end(2, "o", args={"b": 2, "c": 3})], set()),
    "async, arguments of the end": ([begin(0, "o"), end(2, "o", args={"b": 2})], set()),
    "async with a moment": ([begin(0, "o"), event("n", 1, "m", id=1), end(2, "o")], set()),
    "legacy async": ([event("S", 0, "o", id=1), event("T", 1, "o", id=1, args={"step": "x"}),
                      event("F", 2, "o", id=1, args={"b": 2})], set()),
    "async of no length": ([begin(1, "o"), end(1, "o")], set()),
    # flows
    "flow to the enclosing": ([*SOURCE, x("p", 20, 100, 2), into(30)], set()),
    "flow to the next": ([*SOURCE, x("p", 20, 100, 2), flow("f", 30, 2), x("n", 40, 5, 2)], set()),
    "flow to one that begins then": ([*SOURCE, flow("f", 40, 2), x("n", 40, 5, 2)], set()),
    "flow to the outer of two that begin then": (
        [*SOURCE, flow("f", 40, 2), x("in", 40, 5, 2), x("out", 40, 50, 2)], set()),
    "flow to no next": ([*SOURCE, x("p", 20, 100, 2), flow("f", 30, 2)], {"flow-no-slice"}),
    "flow to the end of a child": ([*SOURCE, x("p", 20, 100, 2), x("ch", 25, 5, 2), into(30)],
                                   set()),
    "flow from the end of its span": ([x("source", 0, 10), flow("s", 10), x("p", 20, 9, 2),
                                       into(25)], set()),
    "flow between two siblings": ([x("source", 0, 10), x("b", 10, 10), flow("s", 10),
                                   x("p", 20, 9, 2), into(25)], set()),
    "flow into a span of no length": ([*SOURCE, x("z", 30, 0, 2), into(30)], set()),
    "flows of two names": ([*SOURCE, flow("s", 6, name="gl"), x("p", 20, 9, 2), into(25),
                            x("q", 20, 9, 3), into(26, 3, name="gl")], set()),
    "flows of two categories": ([*SOURCE, flow("s", 6, cat="d"), x("p", 20, 9, 2), into(25),
                                 x("q", 20, 9, 3), into(26, 3, cat="d")], set()),
    "flow that changes its name": ([*SOURCE, x("p", 20, 9, 2), into(25, name="gl")],
                                   {"flow-no-end", "flow-no-start"}),
    "flow to one that waits": ([x("wait", 0, 100, 2), x("source", 50, 10), flow("s", 55), into(90)],
                               set()),
    "flow back in time": ([x("p", 0, 9, 2), into(5), x("source", 50, 10), flow("s", 55)],
                          {"flow-backwards"}),
    "two starts": ([*SOURCE, x("b", 20, 10), flow("s", 25), x("p", 40, 9, 2), into(45)],
                   {"flow-second-start"}),
    "a number used again": ([*SOURCE, x("p", 12, 3, 2), into(13), x("b", 20, 10), flow("s", 25),
                             x("q", 40, 9, 2), into(45)], set()),
    "two ends": ([*SOURCE, x("p", 12, 3, 2), into(13), x("q", 40, 9, 2), into(45)], set()),
    "steps": ([*SOURCE, x("m", 12, 3, 2), flow("t", 13, 2), x("o", 20, 3, 3), flow("t", 21, 3),
               x("q", 40, 9, 2), into(45)], set()),
    "a step alone": ([x("m", 12, 3, 2), flow("t", 13, 2)], {"flow-lone-step"}),
    "a start alone": (SOURCE, {"flow-no-end"}),
    "flow from nowhere in particular": ([flow("s", 5), x("p", 40, 9, 2), into(45)],
                                        {"flow-no-slice"}),
    "flow of huge and of text ids": ([x("source", 0, 10), flow("s", 5, id=HUGE),
                                      flow("s", 6, id="text"), x("p", 20, 9, 2),
                                      into(21, id=HUGE), x("q", 30, 9, 2), into(31, id="text")],
                                     set()),
    # begins and ends
    "never ended, around a span": ([event("B", 0, "o"), x("c", 5, 10)], {"unfinished"}),
    "never ended, around a pair with names": ([event("B", 0, "o"), event("B", 5, "c"),
                                               event("E", 15, "c")], {"unfinished"}),
    "never ended, around a pair without": ([event("B", 0, "o"), event("B", 5, "c"),
                                            event("E", 15)], {"unfinished"}),
    "never ended, alone": ([event("B", 7, "o")], {"unfinished"}),
    "crossed names": ([event("B", 0, "a"), event("B", 1, "b"), event("E", 2, "a"),
                       event("E", 3, "b")], {"implicit-end", "stray-end"}),
    "end of another name": ([event("B", 0, "a"), event("E", 2, "z"), x("y", 10, 1)],
                            {"unfinished", "stray-end"}),
    "end of nothing": ([event("E", 2, "z"), x("y", 10, 1)], {"stray-end"}),
    "spans of no length": ([x("a", 0, 0), x("b", 0, 0), x("c", 5, 0)], set()),
    "spans that begin together": ([x("small", 0, 5), x("large", 0, 9)], set()),
    "siblings that overlap": ([x("a", 0, 10), x("b", 5, 10)], {"overlap"}),
    "siblings that overlap by rounding": ([x("a", 0, 10), x("b", 9.5, 10)], {"overlap-slight"}),
    # everything else stays out of the way
    "instants of all scopes": ([x("a", 0, 10), event("i", 1, "t", s="t"), event("i", 2, "p", s="p"),
                                event("i", 3, "g", s="g"), event("I", 4, "old")], set()),
    "counters": ([x("a", 0, 10), event("C", 1, "n", args={"r": 1, "w": 2}),
                  event("C", 2, "n", id="7", args={"r": 3})], set()),
}


# ---- what is right ----------------------------------------------------------------------------

def fits(one, other):
    return not one or not other or one == other


class Span:
    def __init__(self, e, end=None, unfinished=False, args=None):
        self.event, self.name, self.args = e, e.get("name", ""), dict(args or e.get("args", {}))
        self.ts, self.end, self.unfinished = e["ts"], end, unfinished
        self.stack = e["pid"], e.get("id", str(e.get("id2"))) if e["ph"] in "bS" else e["tid"]

    def close(self, stack, end, args=None):
        """Ends it and all that is inside it."""
        while True:
            span = stack.pop()
            span.end = end
            if span is self:
                self.args.update(args or {})
                return

    def key(self):
        return (self.name, round(self.ts * 1000), round((self.end - self.ts) * 1000),
                self.unfinished)


class Model:
    def __init__(self, events):
        order = sorted(events, key=lambda e: e["ts"])
        self.spans = self.threads(order) + self.asyncs(order)
        self.arrows = self.connect([e for e in order if e["ph"] in "stf"])

    @staticmethod
    def threads(order):
        spans, stacks, last = [], collections.defaultdict(list), collections.Counter()
        for e in order:
            thread = e["pid"], e["tid"]
            if e["ph"] not in "XBEiIstf":
                continue
            last[thread] = max(last[thread], e["ts"] + e.get("dur", 0))
            if e["ph"] == "X":
                spans.append(Span(e, e["ts"] + e["dur"]))
            elif e["ph"] == "B":
                spans.append(Span(e))
                stacks[thread].append(spans[-1])
            elif e["ph"] == "E":
                found = [s for s in stacks[thread] if fits(s.name, e.get("name"))]
                if found:
                    found[-1].close(stacks[thread], e["ts"], e.get("args"))
        for thread, stack in stacks.items():
            for span in stack:
                span.end, span.unfinished = last[thread], True
        return spans

    @staticmethod
    def asyncs(order):
        spans, stacks, last = [], collections.defaultdict(list), collections.Counter()
        for e in order:
            local = e.get("id2", {}).get("local")
            id = str(e.get("id", local or e.get("id2", {}).get("global")))
            stack = stacks[e["cat"], id, e["pid"] if local else None]
            lane = e["pid"], e["cat"]
            if e["ph"] in "bS":
                spans.append(Span(e))
                stack.append(spans[-1])
            elif e["ph"] in "eF":
                found = [s for s in stack if fits(s.name, e.get("name"))]
                own = [s for s in found if s.event["pid"] == e["pid"]]
                if found:
                    span = (own or found)[-1]
                    lane = span.event["pid"], e["cat"]
                    mine = [s for s in stack if s.event["pid"] == lane[0]]
                    stack[:] = [s for s in stack if s not in mine[mine.index(span):]]
                    span.close(mine, e["ts"], e.get("args"))
            elif e["ph"] not in "nTp":
                continue
            last[lane] = max(last[lane], e["ts"])
        for span in spans:
            if span.end is None:
                span.end = last[span.event["pid"], span.event["cat"]]
                span.unfinished = True
        return spans

    def slice_of(self, e):
        thread = [s for s in self.spans if s.event["ph"] in "XB" and
                  (s.event["pid"], s.event["tid"]) == (e["pid"], e["tid"])]
        thread.sort(key=lambda s: (s.ts, -s.end))
        if e["ph"] == "f" and e.get("bp") != "e":
            return next((s for s in thread if s.ts >= e["ts"]), None)
        around = [s for s in thread if s.ts <= e["ts"] <= s.end]
        return around[-1] if around else None

    def connect(self, ends):
        arrows, flows = set(), collections.defaultdict(list)
        for e in sorted(ends, key=lambda e: (e["ts"], "stf".index(e["ph"]))):
            flows[e["cat"], e["name"], str(e["id"])].append(e)
        for flow in flows.values():
            starts = [e for e in flow if e["ph"] == "s"]
            source, under_way = starts[0] if len(starts) == 1 else None, False
            for e in flow:
                if e["ph"] == "s":
                    source, under_way = source if under_way else e, True
                elif source:
                    arrows.add((self.slice_of(source), self.slice_of(e)))
                    source, under_way = (e, True) if e["ph"] == "t" else (source, False)
        return {(a.name, b.name) for a, b in arrows if a and b}

    def keys(self):
        return sorted(s.key() for s in self.spans)

    def totals(self):
        """How many, how long, how many never ended; what is inside its like is counted once."""
        totals = {}
        for span in self.spans:
            name, _, dur, unfinished = span.key()
            count, total, open_ones = totals.get(name, (0, 0, 0))
            inside = any(s is not span and (s.name, s.stack) == (name, span.stack) and
                         s.ts <= span.ts and span.end <= s.end for s in self.spans)
            totals[name] = count + 1, total + (0 if inside else dur), open_ones + unfinished
        return totals


# ---- what the readers say ---------------------------------------------------------------------

# One query asks for everything: most of the time is that of starting a process.
EVERYTHING = """
select 'span', name, ts, dur, unfinished from slice where not instant
union all select 'arrow', o.name, i.name, null, null
from flow join slice o on o.id = slice_out join slice i on i.id = slice_in
union all select 'args', name, args, null, null from slice where args is not null and not instant"""
TOTALS = " union all select 'total', name, count, total, unfinished from slice_stats"
OURS = {"tid", "ended_in_pid", "id_text", "id2", "step"}  # what an importer tells in arguments


class AllReaders(Case):
    def write(self, events):
        path = self.dir / "shape.json"
        path.write_text(json.dumps(events))
        return path

    def copy(self, source, name, command="export"):
        got = self.unitrace(command, source, "-o", self.dir / name, "--overwrite")
        self.assertEqual(got.returncode, 0, got.stderr)
        return self.dir / name

    def ask(self, path):
        """{kind of row: rows}; a database has no totals."""
        if path.suffix == ".sqlite":
            with sqlite3.connect(path) as db:
                rows = db.execute(EVERYTHING).fetchall()
        else:
            got = self.unitrace("query", "--format", "json", path, EVERYTHING + TOTALS)
            self.assertEqual(got.returncode, 0, got.stderr)
            rows = [tuple(row.values()) for row in json.loads(got.stdout)]
        answers = collections.defaultdict(list)
        for kind, *row in rows:
            answers[kind].append(tuple(row))
        return answers

    def files(self, path):
        """The same trace in other files; from each, all has to come back."""
        json_copy = self.copy(path, "copy.json")
        utr = self.copy(path, "copy.utr")
        perfetto = self.copy(path, "copy.pftrace")
        yield from (path, json_copy, utr, perfetto)
        yield self.copy(path, "kept.json", "filter")
        yield self.copy(path, "kept.utr", "filter")
        yield self.copy(path, "kept.pftrace", "filter")
        yield self.copy(path, "copy.sqlite")
        yield self.copy(utr, "from_utr.json")
        yield self.copy(perfetto, "from_perfetto.json")

    def check_spans(self, path, model, answers):
        rows = [(name or "", ts, dur, bool(open_one))
                for name, ts, dur, open_one in answers["span"]]
        self.assertEqual(sorted(rows), model.keys())

    def check_arrows(self, path, model, answers):
        self.assertEqual({row[:2] for row in answers["arrow"]}, self.drawable(path, model))

    def drawable(self, path, model):
        """Perfetto takes flows in order of time: what comes back from there has no others."""
        if "pftrace" not in path.name and "perfetto" not in path.name:
            return model.arrows
        spans = {s.name: s for s in model.spans}
        if "out" in spans:  # a flow has a time there, not a span: the inner one is as good
            return {("source", "in")}
        return {(a, b) for a, b in model.arrows if spans[b].end >= spans[a].ts}

    def check_args(self, path, model, answers):
        want = {s.name: s.args for s in model.spans if set(s.args) - OURS}
        got = {name: json.loads(args) for name, args, *_ in answers["args"]}
        got = {n: {k: v for k, v in a.items() if k not in OURS | {"unfinished", "implicit_end"}}
               for n, a in got.items()}
        self.assertEqual({n: a for n, a in got.items() if a}, want)

    def check_stats(self, path, model, _answers):
        rows = json.loads(self.unitrace("stats", "--json", path).stdout)["spans"]
        self.assertEqual({r["name"]: (r["count"], r["total_ns"], r["unfinished"]) for r in rows},
                         model.totals())
        for r in rows:
            self.assertTrue(r["min_ns"] <= r["mean_ns"] <= r["max_ns"], r)

    def check_slice_stats(self, path, model, answers):
        self.assertEqual({name: tuple(rest) for name, *rest in answers["total"]}, model.totals())

    def check_csv(self, path, model):
        text = self.copy(path, "copy.csv").read_text()
        rows = [r for r in csv.DictReader(io.StringIO(text)) if r["kind"] == "span"]
        got = sorted((r["name"], int(r["ts_ns"]), int(r["dur_ns"]), "unfinished" in r["flags"])
                     for r in rows)
        self.assertEqual(got, sorted(s.key() for s in model.spans if s.event["ph"] in "XB"))

    def check_findings(self, path, want):
        report, = json.loads(self.unitrace("validate", "--json", path).stdout)
        self.assertEqual({f["id"] for f in report["findings"]}, want)

    def test_every_reader_says_the_same(self):
        for name, (events, findings) in SHAPES.items():
            path, model = self.write(events), Model(events)
            with self.subTest(name, reader="validate"):
                self.check_findings(path, findings)
            with self.subTest(name, reader="csv"):
                self.check_csv(path, model)
            for file in self.files(path):
                checks = [self.check_spans, self.check_arrows, self.check_args]
                if file.suffix != ".sqlite":
                    checks += [self.check_stats, self.check_slice_stats]
                answers = self.ask(file)
                for check in checks:
                    with self.subTest(name, reader=check.__name__, file=file.name):
                        check(file, model, answers)

    def test_the_model_itself(self):
        model = Model(SHAPES["nested async"][0])
        self.assertEqual(model.keys(), [("i", 1000, 1000, False), ("o", 0, 3000, False)])
        model = Model(SHAPES["flow to the next"][0])
        self.assertEqual(model.arrows, {("source", "n")})
        model = Model(SHAPES["never ended, around a span"][0])
        self.assertIn(("o", 0, 15000, True), model.keys())


if __name__ == "__main__":
    main()
