"""unitrace stats: every number against one that Python has computed from the same events."""
import csv
import io
import json
import math
import random
import shutil
import subprocess

from common import BUILD, UNITRACE, Case, environment, main, program, skip

if not UNITRACE.exists():
    skip(f"{UNITRACE} is not built")


def us(ns):
    """Chrome's unit, exactly: as text, since floats would round."""
    return json.loads(f"{ns // 1000}.{ns % 1000:03d}")


def span(name, ts, dur, tid=1, pid=1, cat=None):
    e = {"ph": "X", "name": name, "pid": pid, "tid": tid, "ts": us(ts), "dur": us(dur)}
    if cat:
        e["cat"] = cat
    return e


class Made:
    """A trace with the plain list of what is in it."""

    def __init__(self, seed, spans=500, pid=1, threads=2):
        self.random = random.Random(seed)
        self.pid, self.events = pid, []
        self.spans = []  # name, ts, dur, tid, cat, self, pid
        for tid in range(1, threads + 1):
            self.ts = 1000
            while len(self.spans) < spans * tid // threads:
                self.nest(tid, 0, self.random.randrange(1, 200000))
                self.ts += self.random.randrange(5000)

    def nest(self, tid, depth, dur):
        name = self.random.choice("alpha beta gamma delta".split()) + str(depth)
        cat = self.random.choice(["cpu", "gpu"])
        start, mine = self.ts, dur
        at = len(self.spans)
        self.spans.append(None)
        left = dur
        while depth < 3 and left > 10 and self.random.random() < 0.6:
            gap, length = self.random.randrange(left // 2), self.random.randrange(1, left // 2)
            self.ts += gap
            inner = self.ts
            self.nest(tid, depth + 1, length)
            self.ts = inner + length
            left -= gap + length
            mine -= length
        self.ts = start + dur
        self.spans[at] = (name, start, dur, tid, cat, mine, self.pid)
        self.events.append(span(name, start, dur, tid, self.pid, cat))

    def write(self, path):
        names = [{"ph": "M", "pid": self.pid, "name": "process_name", "args": {"name": "app"}}]
        events = self.events[:]
        self.random.shuffle(events)
        path.write_text(json.dumps({"traceEvents": names + events}))
        return path


def quantile(values, percent):
    """Nearest rank."""
    values = sorted(values)
    return values[max(1, math.ceil(len(values) * percent / 100)) - 1]


def covered(spans):
    """Time in which at least one of them was going on, per thread."""
    total, until = 0, {}
    for s in sorted(spans, key=lambda s: s[1]):
        place, start, end = (s[6], s[3]), s[1], s[1] + s[2]
        total += max(0, end - max(start, until.get(place, 0)))
        until[place] = max(end, until.get(place, 0))
    return total


def expected(spans, key):
    groups = {}
    for s in spans:
        groups.setdefault(key(s), []).append(s)
    out = {}
    for k, members in groups.items():
        durs = [s[2] for s in members]
        mean = sum(durs) / len(durs)
        out[k] = {
            "count": len(durs), "total_ns": covered(members), "self_ns": sum(s[5] for s in members),
            "mean_ns": sum(durs) // len(durs), "min_ns": min(durs), "max_ns": max(durs),
            "p50_ns": quantile(durs, 50), "p90_ns": quantile(durs, 90),
            "p99_ns": quantile(durs, 99),
            "stddev_ns": math.sqrt(sum((d - mean) ** 2 for d in durs) / len(durs))}
    return out


class Asking(Case):
    def stats(self, *words, rc=0, **options):
        got = self.unitrace("stats", *words, **options)
        self.assertEqual(got.returncode, rc, got.stderr)
        return got.stdout.decode()

    def spans(self, *words, key="name", **options):
        data = json.loads(self.stats("--json", *words, **options))
        return {row[key] if isinstance(key, str) else tuple(row[k] for k in key): row
                for row in data["spans"]}


class Stats(Asking):
    def check(self, rows, want, tolerance=0.0):
        self.assertEqual(rows.keys(), want.keys())
        for key, row in rows.items():
            for metric, value in want[key].items():
                if metric == "stddev_ns":
                    self.assertAlmostEqual(row[metric], value, delta=1e-6 * value + 0.01)
                elif metric[0] == "p":
                    self.assertLessEqual(abs(row[metric] - value), tolerance * value, (key, metric))
                else:
                    self.assertEqual(row[metric], value, (key, metric))

    def test_every_number_is_right(self):
        made = Made(1, 4000)
        path = made.write(self.dir / "a.json")
        self.check(self.spans(path), expected(made.spans, lambda s: s[0]))

    def test_quantiles_of_many_are_close(self):
        made = Made(2, 20000, threads=1)
        path = made.write(self.dir / "a.json")
        want = expected(made.spans, lambda s: s[4])
        self.assertTrue(all(w["count"] > 4096 for w in want.values()))
        self.check(self.spans(path, "--by", "category", key="category"), want, 0.004)

    def test_groups_of_every_kind(self):
        made = Made(3)
        path = made.write(self.dir / "a.json")
        self.check(self.spans("--by", "category", path, key="category"),
                   expected(made.spans, lambda s: s[4]))
        self.check(self.spans("--by", "name,thread", path, key=("name", "thread")),
                   expected(made.spans, lambda s: (s[0], f"thread {s[3]}")))
        self.check(self.spans("--by", "process", path, key="process"),
                   expected(made.spans, lambda s: "app (1)"))

    def test_several_traces_are_counted_together(self):
        mades = [Made(i, 300, pid=i + 1) for i in range(5)]
        folder = self.dir / "ranks"
        folder.mkdir()
        paths = [m.write(folder / f"rank{i}.json") for i, m in enumerate(mades)]
        want = expected([s for m in mades for s in m.spans], lambda s: s[0])
        for words in (paths, [folder], [folder / "rank*.json"], paths + [folder]):
            self.check(self.spans(*words), want)
        one = self.stats("--json", folder, "--threads", 1)
        self.assertEqual(one, self.stats("--json", *reversed(paths), "--threads", 2))

    def test_formats_and_compression_give_the_same(self):
        path = Made(4).write(self.dir / "a.json")
        plain = self.stats("--json", path)
        subprocess.run(["gzip", "-k", path], check=True)
        self.assertEqual(self.stats("--json", f"{path}.gz"), plain)
        with open(path, "rb") as f:
            self.assertEqual(self.stats("--json", "-", stdin=f), plain)
        for name in ("a.utr", "a.pftrace"):
            got = self.unitrace("export", "-o", name, path)
            self.assertEqual(got.returncode, 0, got.stderr)
            self.assertEqual(json.loads(self.stats("--json", name))["spans"],
                             json.loads(plain)["spans"], name)

    def test_overlapping_spans_share_no_moment(self):
        """Every nanosecond belongs to the span that started last of those going on."""
        r = random.Random(5)
        spans = [(f"s{r.randrange(4)}", r.randrange(2000), r.randrange(400)) for _ in range(60)]
        order = sorted(range(60), key=lambda i: (spans[i][1], -spans[i][2]))
        owner = {}
        for i in order:
            for t in range(spans[i][1], spans[i][1] + spans[i][2]):
                owner[t] = spans[i][0]
        path = self.dir / "a.json"
        path.write_text(json.dumps([span(n, t, d) for n, t, d in spans]))
        for name, row in self.spans(path).items():
            self.assertEqual(row["self_ns"], sum(o == name for o in owner.values()), name)

    def test_recursion_counts_once(self):
        r = random.Random(15)
        spans = [(f"s{r.randrange(3)}", r.randrange(2000), r.randrange(400), r.randrange(2), None,
                  0, 1) for _ in range(60)]
        path = self.dir / "a.json"
        path.write_text(json.dumps([span(*s[:4]) for s in spans]))
        for name, row in self.spans(path).items():
            mine = [s for s in spans if s[0] == name]
            self.assertEqual(row["total_ns"], covered(mine), name)
            self.assertLess(row["total_ns"], sum(s[2] for s in mine), name)
            self.assertTrue(row["min_ns"] <= row["mean_ns"] <= row["max_ns"], row)

    def test_filters_choose_what_is_counted(self):
        made = Made(6, 1000)
        path = made.write(self.dir / "a.json")
        first = min(s[1] for s in made.spans)

        def check(words, keep):
            self.check(self.spans(path, *words),
                       expected([s for s in made.spans if keep(s)], lambda s: s[0]))

        check(["--name", "alpha*", "--name", "beta0"],
              lambda s: s[0].startswith("alpha") or s[0] == "beta0")
        check(["--not-name", "*0"], lambda s: not s[0].endswith("0"))
        check(["--regex", "^(al|ga).*[12]$"], lambda s: s[0] in ("alpha1", "alpha2", "gamma1",
                                                                "gamma2"))
        check(["--cat", "gpu"], lambda s: s[4] == "gpu")
        check(["--thread", "2"], lambda s: s[3] == 2)
        check(["--min-dur", "10us", "--max-dur", "50us"], lambda s: 10000 <= s[2] <= 50000)
        check(["--from", "1ms", "--to", "2500us"],
              lambda s: s[1] + s[2] > first + 1000000 and s[1] < first + 2500000)

    def test_clipped_spans_count_only_inside(self):
        path = self.dir / "a.json"
        path.write_text(json.dumps([span("a", 0, 1000), span("b", 400, 300), span("c", 2000, 9)]))
        rows = self.spans(path, "--from", "500ns", "--to", "2us", "--clip")
        self.assertEqual({n: (r["total_ns"], r["self_ns"]) for n, r in rows.items()},
                         {"a": (500, 300), "b": (200, 200)})

    def test_async_spans_counters_and_instants(self):
        events = [{"ph": "b", "cat": "io", "id": 1, "name": "read", "pid": 1, "tid": 1, "ts": 1},
                  {"ph": "b", "cat": "io", "id": 2, "name": "read", "pid": 1, "tid": 1, "ts": 2},
                  {"ph": "e", "cat": "io", "id": 1, "name": "read", "pid": 1, "tid": 1, "ts": 5},
                  {"ph": "e", "cat": "io", "id": 2, "name": "read", "pid": 1, "tid": 1, "ts": 9},
                  {"ph": "b", "cat": "io", "id": 3, "name": "read", "pid": 1, "tid": 1, "ts": 9}]
        events += [{"ph": "i", "name": "tick", "pid": 1, "tid": 1, "ts": t} for t in range(3)]
        events += [{"ph": "C", "name": "load", "pid": 1, "ts": t, "args": {"value": v}}
                   for t, v in ((0, 10), (4, 2.5), (6, 100))]
        path = self.dir / "a.json"
        path.write_text(json.dumps(events))
        data = json.loads(self.stats("--json", path))
        read, = data["spans"]
        self.assertEqual((read["count"], read["total_ns"], read["self_ns"], read["unfinished"]),
                         (3, 11000, 0, 1))  # the open one has come to 0 ns
        self.assertIsNone(read["share"])
        self.assertEqual(data["instants"], [{"name": "tick", "count": 3}])
        load, = data["counters"]
        self.assertEqual((load["count"], load["min"], load["max"], load["last"]),
                         (3, 2.5, 100, 100))
        self.assertAlmostEqual(load["mean"], (10 * 4 + 2.5 * 2 + 100 * 3) / 9)
        self.assertIn("load", self.stats("--counters", path))
        self.assertIn("tick", self.stats("--instants", path))

    def test_csv_and_text_say_the_same_as_json(self):
        path = Made(7).write(self.dir / "a.json")
        rows = self.spans(path)
        for row in csv.DictReader(io.StringIO(self.stats("--csv", path))):
            for key, value in row.items():
                want = rows[row["name"]][key]
                self.assertEqual(value if key == "name" else float(value), want, key)
        self.assertAlmostEqual(sum(row["share"] for row in rows.values()), 100, places=2)
        text = self.stats(path, "--rows", 3).splitlines()
        self.assertEqual(len(text), 5)  # title, rows, the rest
        order = sorted(rows.values(), key=lambda r: (-r["total_ns"], r["name"]))
        self.assertEqual([line.split()[0] for line in text[1:4]], [r["name"] for r in order[:3]])
        order = sorted(rows.values(), key=lambda r: (-r["p99_ns"], r["name"]))
        text = self.stats(path, "--rows", 0, "--sort", "p99").splitlines()
        self.assertEqual([line.split()[0] for line in text[1:]], [r["name"] for r in order])
        text = self.stats(path, "--sort", "name", "--rows", 0).splitlines()
        self.assertEqual([line.split()[0] for line in text[1:]], sorted(rows))

    def test_histograms_add_up(self):
        made = Made(8, 2000)
        path = made.write(self.dir / "a.json")
        rows = self.spans(path, "--histogram", "alpha*")
        for name, row in rows.items():
            self.assertEqual("histogram" in row, name.startswith("alpha"))
            if "histogram" in row:
                self.assertEqual(sum(n for _, _, n in row["histogram"]), row["count"])
        text = self.stats(path, "--histogram", "alpha0")
        counts = [int(line.split()[4]) for line in text.splitlines()[2:]]
        self.assertEqual(sum(counts), rows["alpha0"]["count"])

    def test_misuse_and_trouble_are_distinguished(self):
        path = Made(9).write(self.dir / "a.json")
        for words in ([], ["--by", "size", path], ["--sort", "x", path], ["--from", "x", path],
                      ["--kind", "x", path], ["--json", "--csv", path], ["--regex", "(", path]):
            self.stats(*words, rc=2)
        (self.dir / "junk").write_text("junk")
        for words in (["missing.json"], ["junk"]):
            got = self.unitrace("stats", *words)
            self.assertEqual((got.returncode, len(got.stderr.splitlines())), (1, 1), got.stderr)

    def test_mpi_gives_the_same_bytes(self):
        launchers = [n for n in ("mpiexec.openmpi", "mpiexec.mpich") if shutil.which(n)]
        if not launchers:
            self.skipTest("no mpiexec")
        for i in range(7):
            Made(20 + i, 200, pid=i + 1).write(self.dir / f"r{i}.json")
        words = ["stats", "--json", "--by", "name,process", "--histogram", "*"]
        paths = sorted(self.dir.glob("r*.json"))
        serial = self.unitrace(*words, *paths)
        skipped = []
        for launcher in launchers:
            extra = ["--oversubscribe", "--allow-run-as-root"] if "openmpi" in launcher else []
            spread = self.run_words(launcher, *extra, "-n", 4, UNITRACE, *words, *paths,
                                    env=environment(ASAN_OPTIONS="detect_leaks=0"))  # MPI's own
            if b"no plugin" in spread.stderr:
                skipped.append(launcher)
                continue
            self.assertEqual(spread.returncode, 0, spread.stderr)
            self.assertEqual(spread.stdout, serial.stdout, launcher)
        if skipped:
            self.skipTest(f"no plugin was built for {', '.join(skipped)}")


class Recorded(Asking):
    """The table after a recording and every way to ask later say the same."""

    def table(self, text):
        """Rows of the table after a recording: (calls, self, share) by name."""
        lines = text[text.index("\nTask ") + 1:].split("\n\n")[0].splitlines()
        return self.columns(lines, "Calls", "Self", "Share")

    def shown(self, path):
        return self.columns(self.stats("--rows", 0, path).splitlines(), "Count", "Self", "Share")

    @staticmethod
    def columns(lines, *titles):
        """Numbers end where their titles do; times have a blank in them."""
        ends = [lines[0].index(t) + len(t) for t in titles]
        return {line.split("  ")[0]: tuple(line[:end].split("  ")[-1].strip() for end in ends)
                for line in lines[1:] if line}

    def record(self, *words):
        done = self.unitrace("-o", "run.json", "--summary-rows", 0, *words)
        self.assertEqual(done.returncode, 0, done.stderr)
        return self.table(done.stderr.decode())

    def test_shares_of_the_example_are_the_same_later(self):
        told = self.record(BUILD / "examples" / "threads")
        self.assertEqual(told["frame"][1:], ("-", "-"))
        self.assertEqual(told["picture"][1:], ("-", "-"))
        self.assertNotEqual(told["blur"][2], "-")
        for name in ("run.json", "run.utr", "run.pftrace"):
            if name != "run.json":
                self.assertEqual(self.unitrace("export", "-o", name, "run.json").returncode, 0)
            self.assertEqual(self.shown(name), told, name)
        got = self.unitrace("query", "--json", "run.json", "select name, share from slice_stats")
        for row in json.loads(got.stdout):
            share = "-" if row["share"] is None else f"{row['share']:.1f}%"
            self.assertEqual(share, told[row["name"]][2], row)

    def test_pauses_are_no_work_in_any_format(self):
        self.record("--start-paused", program("steps"),
                    *"resume task a pause sleep 2 resume task c pause".split())
        for name in ("run.json", "run.utr", "run.pftrace", "again.json"):
            if name != "run.json":
                source = "run.pftrace" if name == "again.json" else "run.json"
                self.assertEqual(self.unitrace("export", "-o", name, source).returncode, 0)
            self.assertEqual(sorted(self.spans(name)), ["a", "c"], name)
        self.assertTrue('"name":"paused"' in (self.dir / "run.json").read_text())


if __name__ == "__main__":
    main()
