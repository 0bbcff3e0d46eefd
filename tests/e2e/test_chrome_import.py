"""Chrome JSON in, Chrome JSON out: what Python's json reads of both must be the same trace.

Thousands of generated files (tests/gen/trace_gen.py), legal and broken, go through
tests/stress/chrome_echo, many per process. UNITRACE_LONG=1: ten times as many, and a file of more
than 4 GB through a pipe.
"""
# ci: labels slow long
import collections
import decimal
import gzip
import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile
import unittest

from common import BUILD, SOURCE, UNITRACE, environment, skip

sys.path.insert(0, str(SOURCE / "tests" / "gen"))
import trace_gen  # noqa: E402

ECHO = BUILD / "tests" / "stress" / "chrome_echo"
LONG = os.environ.get("UNITRACE_LONG") == "1"
COUNT = 10000 if LONG else 1000
MEMBERS = {"ph", "name", "cat", "ts", "pid", "tid", "args", "attr"}  # of every event
MORE = {"X": {"dur"}, "C": {"id"}, "f": {"id", "id2", "scope", "bp"},
        **dict.fromkeys("iIR", {"s"}), **dict.fromkeys("stbneSTpFNOD", {"id", "id2", "scope"})}
PHASES = {"S": "b", "T": "n", "p": "n", "F": "e", "I": "i", "R": "i"}


class Num(float):
    """A float that remembers its text."""

    def __new__(cls, text):
        self = super().__new__(cls, text)
        self.text = text
        return self


def load(text):
    return json.loads(text, parse_float=Num)


def load_any(text):
    """The events and the other members of a file of any legal shape."""
    try:
        whole = load(text)
    except json.JSONDecodeError:
        return [load(line) for line in text.split("\n") if line.strip()], {}
    if isinstance(whole, list):
        return whole, {}
    if "traceEvents" not in whole:
        return [whole], {}
    return whole.pop("traceEvents"), whole


def to_ns(value):
    exact = decimal.Decimal(value.text if isinstance(value, Num) else value) * 1000
    return int(exact.quantize(decimal.Decimal(1), rounding=decimal.ROUND_HALF_UP))


def plain(value):
    """5.0 and 5 are the same number, to JSON and to us."""
    if isinstance(value, dict):
        return {k: plain(v) for k, v in value.items()}
    if isinstance(value, list):
        return [plain(v) for v in value]
    if isinstance(value, float):
        return int(value) if value.is_integer() and abs(value) < 2 ** 64 else float(value)
    return value


def key(value):
    return json.dumps(plain(value), sort_keys=True)


def ident(value):
    """Numbers are the same in every spelling."""
    text = str(value)
    try:
        return int(text, 16) if text.startswith("0x") and len(text) <= 18 else int(text)
    except ValueError:
        return text


def owner(e):
    """What two events of one flow, async instance or object have in common."""
    id2 = e.get("id2", {})
    if "local" in id2:
        number, local = ident(id2["local"]), key(e.get("pid"))
    else:
        number, local = ident(id2.get("global", e.get("id"))), None
    return e.get("cat") or "", e.get("scope"), local, number


def arguments(e):
    args = {**e.get("args", {}), **e.get("attr", {})}
    known = MEMBERS | MORE.get(e["ph"], set())
    for k, v in e.items():
        if k not in known and k not in args:
            args[k] = v
    return args


def same(a, b):
    """Are they on the same track?"""
    return a.get("ph") not in ("M", None) and (a.get("pid"), a.get("tid")) == (b.get("pid"),
                                                                              b.get("tid"))


def join_neighbours(events):
    """A begin whose end comes next is a span, whatever else overlaps it."""
    out = []
    for e in events:
        b = out[-1] if out else {}
        if e.get("ph") == "E" and b.get("ph") == "B" and e.get("name") and \
                e["name"] == b.get("name") and same(e, b) and to_ns(e["ts"]) >= to_ns(b["ts"]):
            out[-1] = {**b, "ph": "X", "args": {**arguments(b), **arguments(e)}, "attr": {},
                       "dur": decimal.Decimal(to_ns(e["ts"]) - to_ns(b["ts"])) / 1000}
        else:
            out.append(e)
    return out


class Canon:
    """A trace, reduced to what must survive."""

    def __init__(self, text):
        events, self.members = load_any(text)
        self.rows = collections.Counter()
        self.groups = collections.defaultdict(list)
        self.meta = {}
        starts = [to_ns(e["ts"]) for e in events if e.get("ph") not in ("M", None)]
        self.shift = max(0, -min(starts, default=0))
        open_ = collections.defaultdict(list)
        events = join_neighbours(events)
        for e in sorted((e for e in events if e.get("ph") in ("B", "E")),
                        key=lambda e: to_ns(e["ts"])):
            self.pair(e, open_)
        for begin in (b for stack in open_.values() for b in stack):
            last = max(to_ns(e["ts"]) + to_ns(e.get("dur", 0)) for e in events if same(e, begin))
            self.add({**begin, "ph": "X", "dur": decimal.Decimal(last - to_ns(begin["ts"])) / 1000,
                      "args": {**arguments(begin), "unfinished": True}})
        for e in events:
            if e.get("ph") and e["ph"] not in "BE":
                self.add(e)

    def row(self, *parts):
        self.rows[key(list(parts))] += 1

    def pair(self, e, open_):
        stack = open_[key([e.get("pid"), e.get("tid")])]
        if e["ph"] == "B":
            stack.append(e)
            return
        if not stack:
            return  # an end without a begin
        begin = stack.pop()
        self.add({**begin, "ph": "X", "dur": decimal.Decimal(to_ns(e["ts"]) -
                                                            to_ns(begin["ts"])) / 1000,
                  "args": {**arguments(begin), **arguments(e)}})

    def add(self, e):
        ph = PHASES.get(e["ph"], e["ph"])
        if ph == "M":
            self.add_meta(e)
            return
        args, cat = arguments(e), e.get("cat") or ""
        place = [e.get("pid", 0), e.get("tid", 0)]
        ts = to_ns(e["ts"]) + self.shift
        if ph == "X":
            self.row("X", place, ts, to_ns(e.get("dur", 0)), e.get("name", ""), cat, args)
        elif ph == "i":
            self.row("i", place, ts, e.get("name", ""), cat, e.get("s", "t"), args)
        elif ph == "P":
            self.row("i", place, ts, e.get("name", ""), cat, "t", {**args, "ph": "P"})
        elif ph == "C" and not e.get("args"):
            self.row("i", place, ts, e.get("name", ""), cat, "t", {**args, "ph": "C"})
        elif ph == "C":
            for k, v in e.get("args", {}).items():
                if isinstance(v, (int, float)) and not isinstance(v, bool):
                    self.row("C", e["pid"], ts, e["name"], cat, e.get("id"), k,
                             float(v) if isinstance(v, int) and v >= 2 ** 64 else v)
        else:
            self.add_grouped(ph, e, ts, args)

    def add_grouped(self, ph, e, ts, args):
        name, cat = e.get("name", ""), e.get("cat") or ""
        if ph in "stf" and not cat:
            cat = "flow"
        if ph in "bne" and not cat:
            cat = "async"
        tid = e.get("tid", e.get("pid")) if ph in "bne" else e.get("tid", 0)
        bp = e.get("bp") if ph == "f" else None
        pid = e.get("pid")
        if ph == "e" and "ended_in_pid" in args:  # paired across processes: told by an argument
            pid = args["ended_in_pid"]
            args = {k: v for k, v in args.items() if k != "ended_in_pid"}
        family = "flow" if ph in "stf" else "async" if ph in "bne" else "object"
        flow = [name] if family == "flow" else []  # flows of two names are two flows
        self.groups[key([family, *owner({**e, "cat": cat}), *flow])].append(
            key([ph, pid, tid, ts, name, cat, bp, args]))

    def add_meta(self, e):
        name, args = e["name"], e.get("args", {})
        place = [e.get("pid", 0), e.get("tid", 0)] if name.startswith("thread_") else [e.get("pid", 0)]
        if name == "thread_name":  # what else is known of a thread comes with its name
            self.meta.update((key([k, *place]), key(v)) for k, v in args.items() if k != "name")
        if name in ("process_name", "process_sort_index", "thread_name", "thread_sort_index"):
            args = args.get("name" if name.endswith("_name") else "sort_index")
            if not args:
                return  # no name is not a new one
        self.meta[key([name, *place])] = key(args)

    def known(self):
        """All of it, in a form that can be compared."""
        groups = collections.Counter(key(sorted(g)) for g in self.groups.values())
        return {"rows": self.rows, "groups": groups, "meta": self.meta,
                "members": {k: key(v) for k, v in self.members.items()}}


class Echo:
    """Runs files through chrome_echo and gives (head, text) for each."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)

    def write(self, name, data):
        path = self.folder / name
        path.write_bytes(data if isinstance(data, bytes) else data.encode("utf-8", "surrogatepass"))
        return path

    def run(self, paths, threads=1):
        lines = "".join(f"{threads} {p}\n" for p in paths)
        done = subprocess.run([ECHO], input=lines.encode(), stdout=subprocess.PIPE, check=False,
                              env=environment())
        if done.returncode:
            raise AssertionError(f"chrome_echo ended with {done.returncode}")
        out, results = done.stdout, []
        for _ in paths:
            line, _, out = out.partition(b"\n")
            head = json.loads(line)
            results.append((head, out[:head["bytes"]]))
            out = out[head["bytes"]:]
        return results


def members_of_output(members):
    """What our exporter adds is not part of the comparison."""
    other = members.pop("otherData")
    if "input" in other:
        members["otherData"] = other["input"]
    return members


class ChromeImport(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.echo = Echo(folder.name)

    def compare(self, name, text, out):
        want = Canon(text)
        got = Canon(out.decode())
        got.members = members_of_output(got.members)
        want.members.setdefault("displayTimeUnit", "ns")
        want, got = want.known(), got.known()
        for part in want:
            if want[part] != got[part]:
                self.fail(f"{name}: {part}\nonly in the file:  {diff(want[part], got[part])}\n"
                          f"only in our file: {diff(got[part], want[part])}")

    def test_what_python_reads_is_what_we_read(self):
        for first in range(0, COUNT, 500):
            seeds = range(first, min(COUNT, first + 500))
            texts = [trace_gen.trace(seed, 20) for seed in seeds]
            paths = [self.echo.write(f"{s}.json", t) for s, t in zip(seeds, texts)]
            for seed, text, (head, out) in zip(seeds, texts, self.echo.run(paths)):
                self.assertEqual(head["rc"], 0, (seed, head))
                quiet = [w for w in head["warnings"] if "below zero" not in w]
                self.assertEqual(quiet, [], seed)
                self.compare(f"seed {seed}", text, out)
                self.assertTrue(head["stable"], f"seed {seed}: reading our file changes it")

    def test_broken_files_give_a_valid_file_or_one_clear_line(self):
        for first in range(0, COUNT, 500):
            seeds = range(first, min(COUNT, first + 500))
            paths, files = [], []
            for seed in seeds:
                r = random.Random(seed)
                data = trace_gen.mutate(r, trace_gen.trace(seed, 8).encode())
                paths.append(self.echo.write(f"{seed}.bad.json", data))
                files.append(data)
            for seed, data, (head, out) in zip(seeds, files, self.echo.run(paths)):
                strict = is_strict(data)
                if head["rc"]:
                    self.assertRegex(head["error"], r"bad\.json: ", seed)
                    self.assertNotIn("\n", head["error"], seed)
                    self.assertFalse(strict, f"seed {seed}: Python reads it: {head}")
                    continue
                self.assertTrue(is_strict(out), f"seed {seed}: our file is no JSON")
                Canon(out.decode())
                if strict and not head["warnings"] and can_read(data):
                    self.compare(f"seed {seed}", data.decode(), out)
                self.assertTrue(head["stable"], f"seed {seed}: reading our file changes it")
                for warning in head["warnings"]:
                    self.assertRegex(warning, r"^offset \d+: |^times below zero", seed)

    def test_a_cut_keeps_every_event_before_it(self):
        events = [{"ph": "X", "name": f"n{i}", "pid": 1, "tid": 2, "ts": i, "dur": 1,
                   "args": {"i": i, "deep": [[i], {"a": "\u00e9"}]}} for i in range(20)]
        texts = [json.dumps(e) for e in events]
        for head, sep in ((b'{"traceEvents":[', b",\n"), (b"[", b","), (b"", b"\n")):
            whole = head + sep.join(t.encode() for t in texts)
            ends, at = [], len(head)
            for t in texts:
                ends.append(at + len(t))
                at = ends[-1] + len(sep)
            cuts = range(len(head) + 1, len(whole), 1 if LONG else 7)
            paths = [self.echo.write(f"cut{n}", whole[:n]) for n in cuts]
            for cut, (answer, out) in zip(cuts, self.echo.run(paths)):
                complete = sum(end <= cut for end in ends)
                if not complete and not head:
                    continue  # not even one event: nothing tells that it is a trace
                self.assertEqual(answer["rc"], 0, (cut, answer))
                names = [e["name"] for e in json.loads(out)["traceEvents"] if e["ph"] == "X"]
                self.assertEqual(names, [f"n{i}" for i in range(complete)], cut)
                if head:
                    self.assertEqual(len(answer["warnings"]), 1, answer)

    def test_parts_read_by_threads_are_what_one_thread_reads(self):
        gen = trace_gen.Gen(7)
        gen.negative = False
        events = gen.events(4000)
        text = "[" + ",\n".join(json.dumps(e) for e in events) + "]"
        lists = [{"ph": "X", "name": "nested", "ts": i, "dur": 0.5, "pid": 1, "tid": 1,
                  "args": {"list": [{"name": "no event", "ph": "X"}, {"ph": "X", "ts": 5}] * 40}}
                 for i in range(8000)]
        tricky = '{"traceEvents":[' + ",\n".join(json.dumps(e) for e in lists) + '],"x":1}'
        big = "[" + ",\n".join([text[1:-1]] * 24) + "]"
        paths = [self.echo.write("big", big), self.echo.write("tricky", tricky)]
        one = self.echo.run(paths)
        for threads in (2, 5):
            for (_, want), (head, got) in zip(one, self.echo.run(paths, threads)):
                self.assertEqual(head["rc"], 0, head)
                self.assertTrue(want == got, f"{threads} threads read something else")


class RealTraces(unittest.TestCase):
    """Files that other tools have written, where they are at hand."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.echo = Echo(folder.name)

    def test_files_of_other_tools_come_through(self):
        shared = SOURCE.parent / "shared" / "data"
        paths = [p for p in sorted(shared.glob("**/*.json")) if is_trace(p)]
        if not paths:
            self.skipTest("no toolkit: the reference data is not here (UNITRACE_SHARED)")
        for path, (head, out) in zip(paths, self.echo.run(paths)):
            self.assertEqual(head["rc"], 0, (path, head))
            self.assertTrue(head["stable"], f"{path}: reading our file changes it")
            want, got = Canon(path.read_text()), Canon(out.decode())
            self.assertEqual(diff(want.rows, got.rows), [], path)
            self.assertEqual(diff(got.rows, want.rows), [], path)

    def test_our_own_recordings_come_back_as_they_were(self):
        hello = BUILD / "examples" / "threads"
        if not UNITRACE.exists() or not hello.exists():
            self.skipTest(f"{UNITRACE} or {hello} is not built")
        out = self.echo.folder / "run.json"
        subprocess.run([UNITRACE, "--quiet", "-o", out, hello], check=True, env=environment(),
                       stdout=subprocess.DEVNULL)
        (head, text), = self.echo.run([out])
        self.assertEqual((head["rc"], head["warnings"], head["stable"]), (0, [], True))
        self.assertEqual(sorted(line.rstrip(",") for line in out.read_text().split("\n")),
                         sorted(line.rstrip(",") for line in text.decode().split("\n")))


class CommandLine(unittest.TestCase):
    """What users see: one line, an exit status, no file."""

    def setUp(self):
        if not UNITRACE.exists():
            self.skipTest(f"{UNITRACE} is not built")
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def export(self, *args, **more):
        return subprocess.run([UNITRACE, "export", "--quiet", "-f", "chrome", "-o",
                               self.folder / "out.json", *args], env=environment(),
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False, **more)

    def events(self):
        return json.loads((self.folder / "out.json").read_text())["traceEvents"]

    def test_hopeless_input_is_one_line_and_no_file(self):
        for name, data in (("a.json", b'{"a" 1}'), ("b.json", b"[{]"), ("c.json", b"{}"),
                           ("d.json.gz", gzip.compress(b"[{}]" * 5000)[:40] + b"x" * 90)):
            path = self.folder / name
            path.write_bytes(data)
            done = self.export(path)
            self.assertEqual(done.returncode, 1, name)
            self.assertEqual(done.stderr.count(b"\n"), 1, done.stderr)
            self.assertIn(name.encode() + b": offset ", done.stderr)
            self.assertFalse((self.folder / "out.json").exists())

    def test_compressed_and_piped_input_is_read(self):
        text = trace_gen.trace(5, 200).encode()
        (self.folder / "a.json").write_bytes(text)
        (self.folder / "a.json.gz").write_bytes(gzip.compress(text[:500]) + gzip.compress(text[500:]))
        self.assertEqual(self.export(self.folder / "a.json").returncode, 0)
        want = self.events()
        for args, more in (((self.folder / "a.json.gz",), {}), (("-",), {"input": text}),
                           (("-",), {"input": gzip.compress(text)})):
            done = self.export("--overwrite", *args, **more)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(self.events(), want)

    def test_cut_compressed_input_gives_what_is_there(self):
        events = ",\n".join('{"ph":"X","name":"%d","pid":1,"tid":1,"ts":%d,"dur":1}' % (i, i)
                            for i in range(20000))
        packed = gzip.compress(f"[{events}]".encode())
        (self.folder / "a.json.gz").write_bytes(packed[:len(packed) // 2])
        done = self.export(self.folder / "a.json.gz")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(b"compressed data ends too early", done.stderr)
        names = [e["name"] for e in self.events() if e["ph"] == "X"]
        self.assertGreater(len(names), 5000)
        self.assertEqual(names, [str(i) for i in range(len(names))])

    def test_frames_of_samples_may_have_any_size(self):
        """A recording of each allocation of a Python program has more than 64 MiB of them."""
        wide = "x" * (64 << 10)
        frames = {str(i): {"name": f"f{i}", "category": wide, **({"parent": str(i - 1)} if i % 40 else {})}
                  for i in range(1, 1101)}
        samples = [{"pid": 1, "tid": 1, "ts": i, "name": "CPU time", "cat": "cpu", "sf": str(i), "weight": 1000}
                   for i in (1, 39, 40, 600, 1100)]
        whole = {"samples": samples, "traceEvents": [{"ph": "X", "name": "last", "pid": 1, "tid": 1, "ts": 1,
                                                      "dur": 5000}]}
        path = self.folder / "big.json"
        stacks = {1: ["f1"], 39: [f"f{i}" for i in range(1, 40)], 40: ["f40"],
                  600: [f"f{i}" for i in range(600, 601)], 1100: [f"f{i}" for i in range(1080, 1101)]}
        for made in ({"stackFrames": frames, **whole}, {**whole, "stackFrames": frames}):
            text = json.dumps(made)
            self.assertGreater(len(text), 68 << 20)
            path.write_text(text)
            got = subprocess.run([UNITRACE, "export", "-f", "folded", "-o", "-", path], env=environment(),
                                 capture_output=True, check=False)
            self.assertEqual((got.returncode, got.stderr), (0, b""))
            found = sorted(line.rpartition(b" ")[0].decode().split(";") for line in got.stdout.splitlines())
            self.assertEqual([[n for n in s if n in frames or n[:1] == "f"] for s in found],
                             sorted(stacks.values()))
        # without their end, what stands before is there; frames of nothing are told to be left out
        path.write_text(text[:-(5 << 20)])
        self.assertEqual(self.export(path).returncode, 0)
        self.assertIn("last", [e["name"] for e in self.events()])
        del made["samples"]
        path.write_text(json.dumps(made))
        got = self.export("--overwrite", path)
        self.assertEqual(got.returncode, 0)
        self.assertIn(b"more than 64 MiB; left out", got.stderr)

    def test_a_file_of_more_than_4_gb(self):
        """Offsets beyond 32 bits: most of the file is blanks, sent through a pipe."""
        size = (4 << 30) + (1 << 20) if LONG else 40 << 20
        first = b'[{"ph":"X","name":"first","pid":1,"tid":1,"ts":1,"dur":1},'
        last = b'{"ph":"X","name":"last","pid":1,"tid":1,"ts":3,"dur":1},,{"ph":"X","na'
        with subprocess.Popen([UNITRACE, "export", "--quiet", "-f", "chrome", "-o",
                               self.folder / "out.json", "-"], stdin=subprocess.PIPE,
                              stderr=subprocess.PIPE, env=environment()) as p:
            p.stdin.write(first)
            for _ in range(size >> 20):
                p.stdin.write(b" " * (1 << 20))
            p.stdin.write(last)
            p.stdin.close()
            said = p.stderr.read().decode()
            self.assertEqual(p.wait(), 0, said)
        self.assertEqual([e["name"] for e in self.events() if e["ph"] == "X"], ["first", "last"])
        at = len(first) + (size >> 20 << 20)
        self.assertIn(f"offset {at + last.index(b',,') + 1}: a comma", said)
        self.assertIn(f"offset {at + last.rindex(b'{')}: the file ends inside an event", said)


def is_trace(path):
    if path.stat().st_size > 20 << 20:
        return False
    try:
        value = json.loads(path.read_text())
    except (ValueError, UnicodeDecodeError):
        return False
    if isinstance(value, dict):
        return isinstance(value.get("traceEvents"), list)
    return isinstance(value, list) and bool(value) and isinstance(value[0], dict) and \
        "ph" in value[0]


def is_strict(data):
    try:
        value = json.loads(data.decode(), parse_constant=lambda _: 1 / 0)
    except (ValueError, ZeroDivisionError, RecursionError):
        return False
    if isinstance(value, list):
        return not value or any(isinstance(e, dict) and e.get("ph") for e in value)
    return isinstance(value, dict) and isinstance(value.get("traceEvents"), list)


def can_read(data):
    """Does this test understand every event of the file?"""
    try:
        Canon(data.decode())
    except (AttributeError, KeyError, TypeError, ValueError, decimal.InvalidOperation):
        return False
    return True


def diff(a, b):
    if isinstance(a, collections.Counter):
        return list((a - b).elements())[:5]
    return {k: v for k, v in a.items() if b.get(k) != v}


if __name__ == "__main__":
    if not ECHO.exists():
        skip(f"{ECHO} is not built")
    unittest.main()
