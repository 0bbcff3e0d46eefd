"""Version 2 of the backend contract, through the null backend and programs that use it: options by
key, metrics and facts of any number, messages between ranks, samples, old and new plugins."""
# ci: labels slow real
import collections
import json
import os
import pathlib
import shutil
import sqlite3

import common
import perfetto_oracle
from common import program
from device_support import backend, need_backend

NULL = backend("null")
SOURCE = pathlib.Path(os.environ.get("UNITRACE_SOURCE", pathlib.Path(__file__).parents[2]))
RATE = 100_000


def stacks_of(trace):
    """(time, what, why, weight, names from the innermost on) of every sample of a Chrome file."""
    frames = trace.get("stackFrames", {})

    def stack(number):
        names = []
        while number:
            frame = frames[number]
            names.append((frame["name"], frame.get("category"), frame.get("address"),
                          frame.get("file"), frame.get("line")))
            number = frame.get("parent")
        return tuple(names)

    return sorted((s["ts"], s.get("name"), s.get("cat"), s["weight"], stack(s.get("sf")))
                  for s in trace.get("samples", []))


class Contract(common.Case):
    def do(self, *words, output="run.json", options=(), **env):
        """Records null_contract; the one file that was written."""
        before = set(self.dir.iterdir())
        done = self.unitrace("-o", output, *options, program("null_contract"), NULL, *words,
                             env=common.environment(**env))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(b"errno kept", done.stdout)
        self.said = done.stderr.decode()
        made = [p for p in set(self.dir.iterdir()) - before if p.suffix == pathlib.Path(output).suffix]
        self.assertEqual(len(made), 1, done.stderr)
        return made[0]

    def export(self, name, *files):
        done = self.unitrace("export", "-o", name, *files)
        self.assertEqual(done.returncode, 0, done.stderr)
        return self.dir / name

    def load(self, path):
        return json.loads(path.read_text())

    # ---- options

    def test_an_option_reaches_the_backend_by_its_key(self):
        self.do("facts", 1, options=["--backend-option", "null.say=first",
                                     "--backend-option", "null.say=a = b, c",
                                     "--backend-option", "other.say=nobody"])
        self.assertIn("a = b, c", self.said)
        self.assertNotIn("first", self.said)
        self.assertNotIn("nobody", self.said)

    def test_what_is_no_option_is_refused_before_the_program_runs(self):
        for text in ("say", "null.say", "null=1", ".say=1", "null.=1", "nu ll.say=1", ""):
            done = self.unitrace("--backend-option", text, "true")
            self.assertEqual(done.returncode, 125, text)
            self.assertIn(b"--backend-option", done.stderr, text)

    # ---- facts and metrics

    def test_every_fact_arrives_however_many_there_are(self):
        for count in (0, 1, 24, 25, 500, 501, 1700):
            trace = self.load(self.do("facts", count, output=f"facts{count}.json"))
            work = [e for e in trace["traceEvents"] if e.get("name") == "facts"]
            self.assertEqual(len(work), 1)
            facts = {k: v for k, v in work[0].get("args", {}).items() if k.startswith("fact_")}
            self.assertEqual(facts, {f"fact_{n}": 3 * n for n in range(count)})

    def test_a_hundred_metrics_are_counters_and_arguments_of_spans(self):
        trace = self.load(self.do("metrics", 3))
        counters = collections.defaultdict(list)
        for e in trace["traceEvents"]:
            if e["ph"] == "C":
                counters[e["name"]].append(next(iter(e["args"].values())))
        self.assertEqual(dict(counters),
                         {f"Metric {n}": [n, 1000 + n, 2000 + n] for n in range(100)})
        spans = [e for e in trace["traceEvents"] if e.get("name") == "measured"]
        self.assertEqual([s["dur"] for s in spans], [0.5] * 3)
        for turn, span in enumerate(spans):
            for n in range(100):
                self.assertEqual(span["args"][f"null.metric_{n}"], 1000 * turn + n)
        told = [p["counters"] for p in trace["otherData"]["processes"] if "counters" in p]
        self.assertEqual(told[0]["Metric 8"], {"unit": "byte", "key": "null.metric_8"})

    # ---- messages

    def ranks(self, suffix, more=()):
        """The files of a sender and a receiver of messages 1 (bound to work) and 2 (to a call)."""
        return [self.do("send", 1, "send", 2, *more, output=f"r0{suffix}", PMI_RANK="0"),
                self.do("receive", 1, "receive", 2, *more, output=f"r1{suffix}", PMI_RANK="1")]

    def test_a_merge_has_one_arrow_for_each_message_between_ranks(self):
        for suffix in (".json", ".utr", ".pftrace"):
            for more in ((), ("samples", 20)):  # those cannot be merged as text
                with self.subTest(suffix=suffix, more=more):
                    files = self.ranks(suffix, more)
                    for to in (".json", ".utr", ".pftrace"):
                        done = self.unitrace("merge", "--overwrite", "-o", f"all{to}", *files)
                        self.assertEqual(done.returncode, 0, done.stderr)
                        self.check_merged(self.dir / f"all{to}", 40 if more else 0)
                    for f in files:
                        f.unlink()

    def check_merged(self, path, samples):
        done = self.unitrace("query", path, "--format", "csv", """
            SELECT o.rank, o.name, i.rank, i.name FROM flow f
            JOIN slice o ON o.id = f.slice_out JOIN slice i ON i.id = f.slice_in
            UNION ALL SELECT 9, 'samples', count(*), 'all' FROM sample ORDER BY 1, 2""")
        self.assertEqual(done.stdout.decode().split()[1:],
                         ["0,nullSend,1,nullReceive", "0,transfer,1,transfer", f"9,samples,{samples},all"],
                         (path, done.stderr))
        done = self.unitrace("validate", path)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_messages_of_two_runs_do_not_meet_other_flows(self):
        """A file that is no part of the job keeps numbers of its own."""
        other = self.dir / "other.json"
        other.write_text(json.dumps({"traceEvents": [
            {"ph": "X", "pid": 1, "tid": 1, "ts": 0, "dur": 9, "name": "a"},
            {"ph": "s", "pid": 1, "tid": 1, "ts": 1, "name": "n", "cat": "c",
             "id": "0x1", "id2": {"global": "0x1"}},
            {"ph": "f", "bp": "e", "pid": 1, "tid": 1, "ts": 2, "name": "n", "cat": "c",
             "id": "0x1", "id2": {"global": "0x1"}}]}))
        copy = self.dir / "copy.json"
        copy.write_text(other.read_text())
        done = self.unitrace("merge", "-o", "all.json", other, copy)
        self.assertEqual(done.returncode, 0, done.stderr)
        ids = [e["id"] for e in self.load(self.dir / "all.json")["traceEvents"]
               if e["ph"] in "sf"]
        self.assertEqual(sorted(collections.Counter(ids).values()), [2, 2])

    def test_one_end_of_a_message_is_nothing_to_complain_about(self):
        done = self.unitrace("validate", self.do("send", 1, "send", 2))
        self.assertIn(b"nothing to complain about", done.stdout)

    # ---- samples

    def test_a_second_of_samples_is_there_to_the_last(self):
        trace = self.load(self.do("samples", RATE))
        samples = trace["samples"]
        self.assertEqual(len(samples), RATE)
        self.assertEqual(trace["otherData"]["processes"][0].get("losses"), None)
        by_why = collections.Counter((s["cat"], s["weight"]) for s in samples)
        expected = collections.Counter((("memory", "barrier", "issued")[n % 3], 1 + n % 4)
                                       for n in range(RATE))
        self.assertEqual(by_why, expected)
        self.assertEqual(len({(s["pid"], s["tid"]) for s in samples}), 2)
        depths = collections.Counter(len(s[4]) for s in stacks_of(trace))
        self.assertEqual(depths, {d: RATE // 8 for d in range(1, 9)})
        span = samples[-1]["ts"] - samples[0]["ts"]
        self.assertGreater(span, 0.9e6)

    def test_samples_survive_every_format_and_reader(self):
        first = self.do("samples", 400, "here", 0)
        wanted = stacks_of(self.load(first))
        self.assertEqual(len(wanted), 401)
        self.assertEqual(wanted[-1][3], 1 << 40)
        self.assertEqual(wanted[-1][4][0][0], "main")
        path = first
        for n, suffix in enumerate((".utr", ".pftrace", ".json", ".pftrace", ".utr", ".json",
                                    ".json.gz", ".pftrace.gz", ".utr", ".json")):
            path = self.export(f"turn{n}{suffix}", path)
            if suffix == ".json":
                self.assertEqual(stacks_of(self.load(path)), wanted, path)
            done = self.unitrace("validate", path)
            self.assertEqual(done.returncode, 0, done.stdout)
            done = self.unitrace("info", path)
            self.assertRegex(done.stdout.decode(), r"sample +401\b")
            done = self.unitrace("query", path, "--format", "csv", """
                WITH RECURSIVE up(id, weight) AS (
                    SELECT callsite_id, weight FROM sample WHERE name = 'null cycles'
                    UNION ALL SELECT c.parent_id, up.weight FROM up
                    JOIN stack_profile_callsite c ON c.id = up.id WHERE c.parent_id IS NOT NULL)
                SELECT f.name, sum(weight) FROM up JOIN stack_profile_callsite c ON c.id = up.id
                JOIN stack_profile_frame f ON f.id = c.frame_id GROUP BY 1 ORDER BY 2 DESC""")
            rows = [line.split(",") for line in done.stdout.decode().split()[1:]]
            sums = {("main" if i == 0 else f"f{i - 1}"):
                    sum(1 + n % 4 for n in range(400) if n % 8 >= i) for i in range(8)}
            self.assertEqual({name: int(weight) for name, weight in rows}, sums, path)

    def test_a_part_of_the_time_has_a_part_of_the_samples(self):
        path = self.do("samples", 1000, output="run.utr")
        for kept in ("part.utr", "part.json", "part.pftrace"):
            done = self.unitrace("filter", "--from", "0.25s", "--to", "0.5s", "-o", kept, path)
            self.assertEqual(done.returncode, 0, done.stderr)
            done = self.unitrace("query", kept, "--format", "csv", "SELECT count(*), count(callsite_id) FROM sample")
            count, with_stack = done.stdout.decode().split()[1].split(",")
            self.assertEqual(count, with_stack)
            self.assertAlmostEqual(int(count), 250, delta=2)

    def test_a_database_has_the_samples_and_their_stacks(self):
        path = self.export("run.sqlite", self.do("samples", 200))
        with sqlite3.connect(path) as db:
            self.assertEqual(db.execute("SELECT count(*), count(callsite_id) FROM sample")
                             .fetchone(), (200, 200))
            self.assertEqual(db.execute("SELECT count(*), max(depth) FROM stack_profile_callsite")
                             .fetchone(), (8, 7))
            self.assertEqual(db.execute("SELECT name FROM stack_profile_mapping").fetchall(),
                             [("null.bin",)])
            self.assertEqual(db.execute("SELECT count(*) FROM perf_sample").fetchone(), (200,))

    def test_csv_and_head_show_weight_and_stack(self):
        path = self.do("samples", 8, output="run.utr")
        text = self.export("run.csv", path).read_text()
        self.assertIn('"{""stack"":""main;f0;f1""}"', text)
        self.assertIn('main;f0;f1', self.unitrace("head", path).stdout.decode())

    def test_perfetto_agrees_about_the_stacks(self):
        why = perfetto_oracle.missing()
        if why:
            self.skipTest(why)
        path = self.export("run.pftrace", self.do("samples", 400))
        samples, frames = perfetto_oracle.ask(
            path, "SELECT count(*) n, count(callsite_id) c FROM perf_sample",
            """SELECT f.name AS name, m.name AS module, c.depth AS depth, count(*) AS n
               FROM perf_sample s JOIN stack_profile_callsite c ON c.id = s.callsite_id
               JOIN stack_profile_frame f ON f.id = c.frame_id
               JOIN stack_profile_mapping m ON m.id = f.mapping GROUP BY 1, 2, 3 ORDER BY 3""")
        self.assertEqual([tuple(r) for r in samples], [(400, 400)])
        names = ["main"] + [f"f{n}" for n in range(7)]
        self.assertEqual([(r[0], r[1].lstrip("/"), r[2], r[3]) for r in frames],
                         [(name, "null.bin", depth, 50) for depth, name in enumerate(names)])

    def test_samples_of_other_tools_are_read(self):
        (self.dir / "other.json").write_text(json.dumps({
            "traceEvents": [{"ph": "X", "pid": 7, "tid": 9, "ts": 1, "dur": 50, "name": "work"}],
            "samples": [
                {"cpu": 0, "tid": 9, "ts": 10.5, "name": "cycles:HG", "sf": 3, "weight": 2},
                {"cpu": 1, "tid": 9, "ts": 11, "name": "cycles:HG", "sf": "9"},
                {"tid": 8, "ts": 12, "name": "cycles:HG"},
                {"tid": 8, "name": "no time"}, 17],
            "stackFrames": {"1": {"category": "libc", "name": "start"},
                            "3": {"category": "app", "name": "main", "parent": 1},
                            "9": {"category": "app", "name": "loop", "parent": "9"}}}))
        trace = self.load(self.export("ours.json", "other.json"))
        got = [(s["pid"], s["tid"], s["ts"], s["weight"]) for s in trace["samples"]]
        self.assertEqual(got[:2], [(7, 9, 10.5, 2), (7, 9, 11.0, 1)])
        self.assertEqual(len(got), 3)
        self.assertEqual([[n[0] for n in s[4]] for s in stacks_of(trace)],
                         [["main", "start"], ["loop"], []])
        self.assertEqual(trace["samples"][0]["args"], {"cpu": 0})


class Versions(common.Case):
    """Plugins and collectors of different ages."""

    def build(self, source, *flags):
        compiler = shutil.which("cc")
        if not compiler:
            self.skipTest("no C compiler")
        lib = self.dir / "lib"
        (lib / "unitrace" / "backends").mkdir(parents=True, exist_ok=True)
        if not (lib / "libunitrace.so").exists():
            (lib / "libunitrace.so").symlink_to(common.BUILD / "lib" / "libunitrace.so")
        made = lib / "unitrace" / "backends" / "aged.so"
        done = self.run_words(compiler, "-std=gnu17", "-Wall", "-Wextra", "-Werror", "-shared",
                              "-fPIC", "-fvisibility=hidden", f"-I{SOURCE / 'include'}", *flags,
                              SOURCE / "tests" / "programs" / "plugins" / source, "-o", made)
        self.assertEqual(done.returncode, 0, done.stderr)
        return made

    def run_aged(self, made, *, rc=b"0"):
        done = self.unitrace("-o", "run.json", "--chrome-kernel-logging", program("null_device"),
                             made, 3)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stdout.split(), [rc], done.stderr)
        path = self.dir / "run.json"
        events = json.loads(path.read_text())["traceEvents"] if path.exists() else []
        return [e for e in events if e.get("name") == "aged work"], done.stderr.decode()

    def test_a_plugin_of_version_1_records_as_it_did(self):
        work, said = self.run_aged(self.build("aged_v1.c"))
        self.assertEqual([w["args"]["number"] for w in work], [1, 2, 3])
        self.assertEqual([w["dur"] for w in work], [0.1] * 3)
        self.assertIn("aged backend of version 1", said)

    def test_a_newer_version_is_refused_in_one_line(self):
        work, said = self.run_aged(self.build("aged.c", "-DVERSION=3"),
                                   rc=b"-2")
        self.assertEqual(work, [])
        lines = [line for line in said.splitlines() if "aged" in line and "version" in line]
        self.assertEqual(len(lines), 1, said)
        self.assertIn("version 3", lines[0])
        self.assertIn("this collector's 2", lines[0])

    def test_structs_of_a_newer_plugin_are_taken_as_far_as_they_are_known(self):
        work, said = self.run_aged(self.build("aged.c", "-DVERSION=2",
                                              "-DLONGER=1"))
        self.assertEqual(len(work), 3)
        self.assertEqual(said.count("what is new in it is not recorded"), 1, said)

    def test_what_a_newer_plugin_leaves_at_zero_is_nothing_to_tell(self):
        work, said = self.run_aged(self.build("aged.c", "-DVERSION=2",
                                              "-DLONGER=0"))
        self.assertEqual(len(work), 3)
        self.assertNotIn("what is new", said)

    def test_a_struct_that_is_too_short_is_counted_and_told(self):
        work, said = self.run_aged(self.build("aged.c", "-DVERSION=2",
                                              "-DSHORTER"))
        self.assertEqual(work, [])
        self.assertEqual(said.count("too old for it and is not recorded"), 1, said)

    def test_a_plugin_finds_out_what_an_older_collector_lacks(self):
        """The null backend with a host that ends before the members of version 2."""
        compiler = shutil.which("cc")
        if not compiler:
            self.skipTest("no C compiler")
        (self.dir / "old.c").write_text("""
            #define _GNU_SOURCE
            #include "%s"
            static uint32_t old_name(const char *t, size_t n) { (void)t; (void)n; return 1; }
            static uint32_t old_device(const struct ut_device *d) { (void)d; return 1; }
            static uint32_t old_queue(uint32_t d, const char *n, uint64_t i)
            { (void)d; (void)n; (void)i; return 1; }
            int main(void)
            {
                static struct ut_host old = { .version = 2,
                    .size = offsetof(struct ut_host, option), .name = old_name,
                    .device = old_device, .queue = old_queue };
                return unitrace_backend.start(&old) ||
                       unitrace_null_do("metrics", 1) != -ENOSYS;
            }""" % (SOURCE / "src/record/backend/null/null.c"))
        done = self.run_words(compiler, f"-I{SOURCE / 'include'}", "old.c", "-o", "old", "-ldl")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.run_words(self.dir / "old").returncode, 0)


if __name__ == "__main__":
    need_backend("null")
    common.need("null_device", "null_contract")
    common.main()
