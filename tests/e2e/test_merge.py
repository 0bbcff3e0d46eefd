"""unitrace merge: what goes in comes out, byte by byte where nothing has to change."""
import gzip
import hashlib
import json
import os
import random
import resource
import shutil
import subprocess
import sys

import common
from common import UNITRACE


def event_text(rng, i, pid):
    """One event as some tool would write it; the blanks, digits and escapes are the point."""
    ts = f"{rng.randrange(10**6)}.{rng.randrange(1000):03}"
    name = rng.choice(["matmul", "a \\\"quoted\\\" one", "\\u00fc", "ü", "x" * 60, "\\/"])
    return rng.choice([
        f'{{"ph":"X","pid":{pid},"tid":1,"ts":{ts},"dur":1.50,"name":"{name}","args":{{"n":{i}}}}}',
        f'{{"name": "{name}", "ph": "i", "s": "t", "ts": {ts}, "pid": {pid}, "tid": 2}}',
        f'{{\n  "ph": "X",\n  "args": {{\n    "dims": [[1, 2], []],\n    "f": 1.0e+03\n  }},\n'
        f'  "ts": {ts}, "pid": {pid}, "tid": 3, "dur": 0, "name": "{name}"\n}}',
        f'{{"ph":"C","pid":{pid},"ts":{ts},"name":"c","args":{{"v":-0.0,"w":1E-7}}}}',
    ])


def running_max(values):
    best = None
    for value in values:
        best = value if best is None or value is not None and value > best else best
        yield best


class Case(common.Case):
    def write(self, name, text):
        path = self.dir / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    def merge(self, *words, rc=0, **options):
        """Runs merge; the result, parsed, unless it has to fail."""
        got = self.unitrace("merge", *words, **options)
        self.said = got.stderr.decode()
        self.assertEqual(got.returncode, rc, self.said)
        if rc == 0 and (self.dir / "out.json").exists():
            return json.loads((self.dir / "out.json").read_bytes())
        return None

    def merged(self, *files, options=()):
        return self.merge("-f", "-o", "out.json", *options, *files)


class Copies(Case):
    def test_events_are_copied_byte_for_byte_and_in_order(self):
        rng = random.Random(3)
        files = []
        for n in range(5):
            events = [event_text(rng, i, 100 + n) for i in range(rng.randrange(1, 400))]
            text = '{"traceEvents": [' + " ,\n".join(events) + "]}"
            self.write(f"f{n}.json", text)
            files.append(events)
        self.merged(*(f"f{n}.json" for n in range(5)))
        text = (self.dir / "out.json").read_text()
        body = text[len('{"traceEvents":['):text.rindex('\n],"displayTimeUnit"')]
        keyed = []
        for n, events in enumerate(files):
            times = running_max([json.loads(e)["ts"] for e in events])
            keyed += [(round(t * 1000), n, i, e) for i, (t, e) in enumerate(zip(times, events))]
        keyed.sort(key=lambda k: k[:3])
        self.assertEqual(body, ",".join("\n" + e for *_, e in keyed))

    def test_compressed_files_and_standard_input_are_the_same(self):
        text = '[{"ph":"i","ts":1,"pid":1,"name":"a"},{"ph":"i","ts":2,"pid":1,"name":"b"}]'
        self.write("a.json", text)
        plain = self.merged("a.json")["traceEvents"]
        self.write("a.json.gz", gzip.compress(text.encode()))
        self.assertEqual(self.merged("a.json.gz")["traceEvents"], plain)
        if shutil.which("zstd"):
            subprocess.run(["zstd", "-q", "a.json"], cwd=self.dir, check=True)
            self.assertEqual(self.merged("a.json.zst")["traceEvents"], plain)
        got = self.merge("-f", "-o", "out.json", "-", input=gzip.compress(text.encode()))
        self.assertEqual(got["traceEvents"], plain)
        self.assertEqual(got["otherData"]["merged"][0]["file"], "stdin")

    def test_the_result_may_be_compressed_or_a_stream(self):
        self.write("a.json", '[{"ph":"i","ts":1,"pid":1}]')
        got = self.unitrace("merge", "-o", "-", "a.json")
        self.assertEqual(len(json.loads(got.stdout)["traceEvents"]), 1)
        self.merge("-o", "out.json.gz", "a.json")
        self.assertEqual(gzip.decompress((self.dir / "out.json.gz").read_bytes()), got.stdout)

    def test_more_files_than_may_be_open_at_once(self):
        for n in range(150):
            self.write(f"many/r{n}.json", "[" + ",".join(
                f'{{"ph":"i","ts":{t * 7 + n},"pid":{n},"name":"{t}"}}' for t in range(20)) + "]")
        events = self.merged("many")["traceEvents"]
        self.assertEqual(len(events), 150 * 20)
        self.assertEqual([(e["ts"], e["pid"]) for e in events],
                         sorted((e["ts"], e["pid"]) for e in events))

    def test_few_files_may_be_open(self):
        for n in range(150):
            self.write(f"d/r{n}.json", f'[{{"ph":"X","ts":{n % 7},"dur":1,"pid":{n},"name":"a"}}]')
        self.merge("-f", "-o", "out.json", "d")
        wanted = (self.dir / "out.json").read_bytes()
        self.merge("-f", "-o", "out.json", "d", preexec_fn=lambda: resource.setrlimit(
            resource.RLIMIT_NOFILE, (20, 20)))
        self.assertEqual((self.dir / "out.json").read_bytes(), wanted)

    def test_threads_change_nothing(self):
        rng = random.Random(5)
        for n in range(6):
            self.write(f"f{n}.json", "[" + ",".join(event_text(rng, i, n) for i in range(3000)) + "]")
        results = set()
        for threads in (1, 2, 5):
            self.merged(*(f"f{n}.json" for n in range(6)), options=("-j", threads))
            results.add(hashlib.sha256((self.dir / "out.json").read_bytes()).hexdigest())
        self.assertEqual(len(results), 1)


class Large(Case):
    """Of large files both ends are looked at first. Standard output cannot be taken back: there, nothing is guessed."""

    def rank(self, rank, **odd):
        """The text of 1.3 MB, with what is odd in the middle of it."""
        events = [f'{{"ph":"X","pid":{odd.get("pid", 100 + rank)},"tid":1,"ts":{1000 + 3 * i}.{rank},"dur":2,'
                  f'"name":"step","args":{{"n":{i}}}}}' for i in range(15000)]
        events.insert(0, f'{{"ph":"M","pid":{odd.get("pid", 100 + rank)},"name":"process_name",'
                         '"args":{"name":"solver"}}')
        if "middle" in odd:
            events.insert(8000, odd["middle"])
        other = {"tool": "unitrace", "processes": [
            {"pid": odd.get("pid", 100 + rank), "rank": rank, "host": odd.get("host", "node"),
             "realtime_offset_ns": 1700000000000000000 + (10**9 if "host" in odd else 0)}]}
        return '{"traceEvents":[\n' + ",\n".join(events) + '\n],"otherData":' + json.dumps(other) + "}\n"

    def check(self, *texts, options=()):
        names = [f"rank{i}.json" for i in range(len(texts))]
        for name, text in zip(names, texts):
            self.write(name, text)
        self.merged(*names, options=options)
        told = self.said
        plain = self.unitrace("merge", "-o", "-", *options, *names)
        self.assertEqual(plain.returncode, 0, plain.stderr)
        self.assertEqual((self.dir / "out.json").read_bytes(), plain.stdout)
        lines = [line for line in told.splitlines() if "events of" not in line and "replaced" not in line]
        self.assertEqual(lines, [line for line in plain.stderr.decode().splitlines() if "events of" not in line])
        return json.loads(plain.stdout)["traceEvents"]

    def test_what_the_ends_tell_is_enough(self):
        events = self.check(*(self.rank(i) for i in range(3)))
        names = {e["args"]["name"] for e in events if e.get("name") == "process_name"}
        self.assertEqual(names, {f"RANK {i} solver" for i in range(3)})
        self.check(self.rank(0, pid=7), self.rank(1, pid=7), self.rank(2, pid=7))
        self.check(self.rank(0), self.rank(1), options=("--offset", "rank1.json=12345", "--pids", "renumber"))

    def test_what_only_the_middle_tells(self):
        for middle in ('{"ph":"i","pid":101,"ts":5,"name":"of a pid of rank 1"}',
                       '{"ph":"i","pid":9,"ts":5,"name":"of a process that the ends do not know"}',
                       '{"ph":"i","pid":100,"ts":-7.5,"name":"before all others"}',
                       '{"ph":"M","pid":100,"name":"process_name","args":{"name":"another"}}',
                       '{"ph":"M","pid":100,"name":"process_sort_index","args":{"sort_index":12}}',
                       '{"ph":"b","pid":100,"ts":5,"id":77,"cat":"c","name":"paired"}',
                       '{"ph":"i","pid":100,"ts":5,"name":"trailing comma",}',
                       '{"ph":"i","pid":100,"ts":5,"name":no JSON}', '17'):
            with self.subTest(middle):
                self.check(self.rank(0, middle=middle), self.rank(1, middle=middle), self.rank(2))

    def test_hosts_and_files_of_other_shapes(self):
        self.check(self.rank(0), self.rank(1, host="other"))
        self.check(self.rank(0), self.rank(1).replace("\n", " "))
        self.check(self.rank(0), self.rank(1)[:-200000])
        self.check(self.rank(0), "[]")


class Clocks(Case):
    def ours(self, host, offset, pid, times):
        events = ",\n".join(f'{{"ph":"i","pid":{pid},"tid":1,"ts":{t},"name":"m","s":"t"}}'
                            for t in times)
        return ('{"traceEvents":[\n' + events + '\n],"otherData":{"tool":"unitrace","clock":'
                f'"CLOCK_MONOTONIC","processes":[{{"pid":{pid},"host":"{host}",'
                f'"realtime_offset_ns":{offset},"boottime_offset_ns":0}}]}}}}')

    def test_two_hosts_with_a_known_skew_line_up(self):
        """Both hosts mark the same ten moments; b was started 12345.678901 s before a."""
        moments = [5000000000 + i * 1234567 for i in range(10)]  # ns on a's clock
        skew = 12345678901000
        self.write("a.json", self.ours("a", 1700000000 * 10**9, 1,
                                       [f"{m // 1000}.{m % 1000:03}" for m in moments]))
        on_b = [m + skew for m in moments]
        self.write("b.json", self.ours("b", 1700000000 * 10**9 - skew, 2,
                                       [f"{m // 1000}.{m % 1000:03}" for m in on_b]))
        result = self.merged("a.json", "b.json")
        text = (self.dir / "out.json").read_text()
        by_pid = {pid: [line.split('"ts":')[1].split(",")[0] for line in text.splitlines()
                        if f'"pid":{pid},"tid":1' in line] for pid in (1, 2)}
        self.assertEqual(by_pid[1], by_pid[2])
        self.assertEqual(len(by_pid[1]), 10)
        offsets = {p["realtime_offset_ns"] for p in result["otherData"]["processes"]}
        self.assertEqual(len(offsets), 1)
        self.assertIn("2 files aligned to that of a.json", self.said)

    def test_no_align_and_offset(self):
        self.write("a.json", self.ours("a", 1700000000 * 10**9, 1, ["10"]))
        self.write("b.json", self.ours("b", 1700000001 * 10**9, 2, ["20"]))
        events = self.merged("a.json", "b.json", options=("--no-align",))["traceEvents"]
        self.assertEqual([e["ts"] for e in events], [10, 20])
        events = self.merged("a.json", "b.json",
                             options=("--no-align", "--offset", "b.json=-15500"))["traceEvents"]
        self.assertEqual([e["ts"] for e in events], [4.5, 10])

    def test_files_without_a_clock_are_named(self):
        self.write("a.json", self.ours("a", 1700000000 * 10**9, 1, ["10"]))
        self.write("b.json", self.ours("b", 1700000001 * 10**9, 2, ["20"]))
        self.write("c.json", '[{"ph":"i","ts":1,"pid":3}]')
        self.merged("a.json", "b.json", "c.json")
        self.assertIn("not aligned", self.said)
        self.assertIn("c.json", self.said)

    def test_torch_ranks(self):
        """Same pids, same ids, bases that differ by 2.5 us; a row per rank, arrows inside ranks."""
        def rank(n):
            return json.dumps({
                "schemaVersion": 1, "distributedInfo": {"backend": "nccl", "rank": n},
                "deviceProperties": [{"id": 0, "name": f"GPU of {n}"}],
                "baseTimeNanoseconds": 1700000000 * 10**9 + 2500 * n, "displayTimeUnit": "ms",
                "traceEvents": [
                    {"ph": "X", "pid": 77, "tid": 77, "ts": 10.5, "dur": 5, "name": "aten::mm"},
                    {"ph": "s", "id": 1, "pid": 77, "tid": 77, "ts": 11, "cat": "ac2g",
                     "name": "ac2g"},
                    {"ph": "f", "bp": "e", "id": 1, "pid": 0, "tid": 7, "ts": 20, "cat": "ac2g",
                     "name": "ac2g"},
                    {"ph": "X", "pid": 0, "tid": 7, "ts": 20, "dur": 3, "name": "kernel"},
                    {"ph": "M", "pid": 77, "tid": 0, "ts": 0, "name": "process_name",
                     "args": {"name": "python"}},
                    {"ph": "M", "pid": 0, "tid": 0, "ts": 0, "name": "process_name",
                     "args": {"name": "python"}},
                    {"ph": "M", "pid": 0, "tid": 0, "ts": 0, "name": "process_sort_index",
                     "args": {"sort_index": 5000000}},
                    {"ph": "X", "pid": "Spans", "tid": "PyTorch Profiler", "ts": 1, "dur": 30,
                     "name": "PyTorch Profiler (0)"}]})
        for n in (1, 0):
            self.write(f"rank{n}.json", rank(n))
        result = self.merged("rank0.json", "rank1.json")
        events = result["traceEvents"]
        names = {e["pid"]: e["args"]["name"] for e in events if e["name"] == "process_name"}
        self.assertEqual(sorted(names.values()), ["RANK 0 python"] * 2 + ["RANK 1 python"] * 2)
        order = {e["pid"]: e["args"]["sort_index"] for e in events
                 if e["name"] == "process_sort_index"}
        by_rank = [names.get(p, p) for p in sorted(order, key=order.get)]
        self.assertEqual([str(n).startswith("RANK 1") or "(rank 1)" in str(n) for n in by_rank],
                         [False] * 3 + [True] * 3)
        for e in events:
            if e["name"] == "ac2g" and e["ph"] == "f":
                start = [s for s in events if s["ph"] == "s" and s["id"] == e["id"]]
                self.assertEqual(len(start), 1)
                self.assertEqual(names[start[0]["pid"]], names[e["pid"]])
        kernels = sorted(e["ts"] for e in events if e["name"] == "kernel")
        self.assertEqual(kernels, [20, 22.5])
        self.assertEqual(result["baseTimeNanoseconds"], 1700000000 * 10**9)
        self.assertEqual(len(result["deviceProperties"]), 2)
        self.assertEqual(result["schemaVersion"], 1)
        self.assertEqual(result["otherData"]["merged"][1]["about"]["distributedInfo"]["rank"], 1)


class Collisions(Case):
    def test_missing_ranks_are_reported(self):
        for rank in (0, 1, 4, 7):
            self.write(f"r{rank}.json", json.dumps({
                "distributedInfo": {"rank": rank, "world_size": 10},
                "traceEvents": [{"ph": "i", "ts": 1, "pid": 0, "name": "x"}]}))
        result = self.merged("r0.json", "r1.json", "r4.json", "r7.json")
        self.assertIn("ranks: 4 of 10; missing: 2-3, 5-6, 8-9", self.said)
        names = [e["args"]["name"] for e in result["traceEvents"] if e["name"] == "process_name"]
        self.assertEqual(names, [f"RANK {r} process 0" for r in (1, 4, 7)])
        self.merged("r0.json")
        self.assertNotIn("ranks:", self.said)

    def test_no_two_files_share_a_process(self):
        rng = random.Random(9)
        for n in range(8):
            pids = [rng.choice([0, 1, 7, "7", "GPU 0", 1 << 30, -1]) for _ in range(20)]
            self.write(f"f{n}.json", json.dumps(
                [{"ph": "i", "ts": i, "pid": p, "args": {"file": n}} for i, p in enumerate(pids)]))
        events = self.merged(*(f"f{n}.json" for n in range(8)))["traceEvents"]
        owner = {}
        for e in events:
            self.assertEqual(owner.setdefault(str(e["pid"]), e["args"]["file"]), e["args"]["file"])
        self.assertIn("--pids keep", self.said)

    def test_pids_keep_and_renumber(self):
        for n in range(2):
            self.write(f"f{n}.json", '[{"ph":"i","ts":1,"pid":7},{"ph":"i","ts":1,"pid":"x"}]')
        events = self.merged("f0.json", "f1.json", options=("--pids", "keep"))["traceEvents"]
        self.assertEqual([e["pid"] for e in events], [7, "x"] * 2)
        events = self.merged("f0.json", "f1.json", options=("--pids", "renumber"))["traceEvents"]
        self.assertEqual([e["pid"] for e in events if e["ph"] == "i"], [1, 2, 3, 4])

    def test_ids_of_files_do_not_meet(self):
        for n in range(3):
            self.write(f"f{n}.json", json.dumps([
                {"ph": "b", "ts": 1, "pid": n, "id": "0x1", "cat": "c", "name": "a"},
                {"ph": "e", "ts": 2, "pid": n, "id": "0x1", "cat": "c", "name": "a"},
                {"ph": "b", "ts": 1, "pid": n, "id": "text", "cat": "c", "name": "b"},
                {"ph": "b", "ts": 1, "pid": n, "id2": {"global": "0x9"}, "cat": "c", "name": "g"},
                {"ph": "N", "ts": 1, "pid": n, "id": "0x1", "name": "object"}]))
        events = self.merged("f0.json", "f1.json", "f2.json")["traceEvents"]
        ids = {}
        for e in events:
            if e["ph"] in "be" and "id" in e:
                ids.setdefault(e["id"], set()).add(e["pid"])
        self.assertEqual(len(ids), 6)
        self.assertTrue(all(len(p) == 1 for p in ids.values()), ids)
        self.assertEqual(len({e["id2"]["global"] for e in events if "id2" in e}), 3)
        self.assertEqual({e["id"] for e in events if e["ph"] == "N"}, {"0x1"})
        events = self.merged("f0.json", "f1.json", options=("--ids", "keep"))["traceEvents"]
        self.assertEqual({e["id"] for e in events if e["ph"] == "e"}, {"0x1"})
        self.assertEqual({e["id2"]["global"] for e in events if "id2" in e}, {"0x9"})

    # Groups of spellings of one id.
    IDS = [["1", "1.0", "1e0", '"1"', '"0x1"'], ["-1", "-1.0", '"-1"'], ["1.5", "15e-1", '"1.5"'],
           ["9007199254740993", '"9007199254740993"', '"0x20000000000001"'], ["-0.25", "-25e-2"],
           ["18446744073709551615", '"0xffffffffffffffff"'], ["18446744073709551614"],
           ["36893488147419103232", "3.6893488147419103232e19"], ["0", "-0"],
           ['"text"', '"te\\u0078t"'], ['""'], ["true"], ["[1,2]"], ["-9223372036854775808"]]

    @staticmethod
    def pairing_events(pid, spellings):
        """Every place where an id can stand; the name says in which group its id is."""
        for name, id_text in spellings:
            for n, member in enumerate((f'"id":{id_text}', f'"id2":{{"local":{id_text}}}',
                                        f'"id2":{{ "global" : {id_text} }}',
                                        f'"scope":"s","id":{id_text}')):
                for ph in "se" if n else "sbVe":
                    yield (f'{{"ph":"{ph}","ts":1,"pid":{pid},"tid":1,"cat":"c","name":"{n} {name}",'
                           f'{member}}}')
            yield (f'{{"ph":"X","ts":1,"dur":1,"pid":{pid},"tid":1,"cat":"c","name":"0 {name}",'
                   f'"bind_id":{id_text},"flow_out":true}}')

    def check_apart(self, events, groups):
        """Ids that were equal in a file are, and no others, as Chrome's readers compare them."""
        def key(value):
            if isinstance(value, str):
                try:
                    return int(value, 16 if value[:2] in ("0x", "0X") else 10)
                except ValueError:
                    return value
            return value if isinstance(value, (int, float)) else json.dumps(value)

        meaning = {}
        for e in events:
            if "name" not in e or e["ph"] == "M":
                continue
            value = next(v for v in (e.get("id"), e.get("bind_id"), *e.get("id2", {}).values())
                         if v is not None)
            place, group = e["name"].split(" ")
            meaning.setdefault((e["pid"], group), set()).add(key(value))
        self.assertEqual(len(meaning), groups)
        self.assertTrue(all(len(m) == 1 for m in meaning.values()), meaning)
        self.assertEqual(len(set.union(*meaning.values())), groups, meaning)

    def test_every_kind_of_id_stays_apart_across_files_and_equal_inside_one(self):
        largest = [["9007199254740991"]]  # of those that can be moved: there is no room behind it
        for ids in (self.IDS, self.IDS + largest):
            names = []
            for n in range(3):
                texts = [t for g, same in enumerate(ids)
                         for t in self.pairing_events(n + 1, [(g, s) for s in same])]
                names.append(self.write(f"k{n}.json", "[" + ",\n".join(texts) + "]").name)
            self.check_apart(self.merged(*names)["traceEvents"], 3 * len(ids))
            self.check_apart(self.merged(*names, options=("-j", "1", "--pids", "renumber"))
                             ["traceEvents"], 3 * len(ids))

    def test_ids_that_leave_no_room_for_those_of_others_become_texts(self):
        spellings = [(0, "0"), (0, '"0x0"'), (1, str(2**53 - 1)), (2, "7"), (2, '"7"')]
        for n in range(3):
            self.write(f"w{n}.json", "[" + ",".join(self.pairing_events(n + 1, spellings)) + "]")
        self.check_apart(self.merged("w0.json", "w1.json", "w2.json")["traceEvents"], 9)

    def test_arrows_stay_in_their_file_for_our_own_reader(self):
        """Two flows with one odd id, in two files: after the merge there are still two."""
        for id_text in ("-1", "1.5", str(2**60), '"0xfffffffffffffffe"', "1.0"):
            for n in range(2):
                spans = ",".join(f'{{"ph":"X","ts":{t},"dur":5,"pid":{n + 1},"tid":1,"name":"s"}},'
                                 f'{{"ph":"{ph}","ts":{t + 1},"pid":{n + 1},"tid":1,"name":"a",'
                                 f'"cat":"c","bp":"e","id":{id_text}}}'
                                 for t, ph in ((10 + n, "s"), (30 + n, "f")))
                self.write(f"a{n}.json", f"[{spans}]")
            self.unitrace("export", "--overwrite", "--quiet", "-o", "a1.utr", "a1.json")
            for output, files in (("out.json", ("a0.json", "a1.json")),
                                  ("out.pftrace", ("a0.json", "a1.json")),
                                  ("out.utr", ("a0.json", "a1.json")),
                                  ("again.json", ("out.utr",)),
                                  ("mixed.json", ("a0.json", "a1.utr"))):
                self.merge("-f", "-o", output, *files)
                got = self.unitrace("query", "--format", "csv", output, """
                    select count(*) from flow f join slice a on a.id = f.slice_out
                    join slice b on b.id = f.slice_in join thread_track s on s.id = a.track_id
                    join thread_track t on t.id = b.track_id where s.utid = t.utid""")
                self.assertEqual(got.stdout.split()[1:], [b"2"], (id_text, output, got.stderr))


class Inputs(Case):
    def test_inputs_are_never_touched(self):
        texts = {"whole.json": '[{"ph":"i","ts":1}]', "cut.json": '{ "traceEvents":[\n{"ph":"i"',
                 "open.json": '{ "traceEvents":[\n{"ph":"i","ts":2}'}
        for name, text in texts.items():
            os.utime(self.write(name, text), (1, 1))
        self.merged(*texts)
        for name, text in texts.items():
            self.assertEqual((self.dir / name).read_text(), text)
            self.assertEqual((self.dir / name).stat().st_mtime, 1)

    def test_broken_files_are_repaired_and_told_about(self):
        self.write("a.json", b'[{"ph":"X","ts":NaN,"v":Infinity,"n":"\xff\x02"},{"ph":"i",},5,'
                             b'{"ph":"i" 3},\n{"ph":"i","ts":4,"name":"last"},{"ph":"i","na')
        events = self.merged("a.json")["traceEvents"]
        self.assertEqual(events[0], {"ph": "X", "ts": "NaN", "v": "Infinity", "n": "\ufffd\x02"})
        self.assertEqual(events[-1]["name"], "last")
        self.assertEqual(len(events), 3)
        for what in ("number that JSON does not know", "control byte", "comma", "no event",
                     "no JSON; left out", "ends inside an event"):
            self.assertIn(what, self.said)
        self.assertIn("a.json: offset ", self.said)

    def test_damaged_files_never_give_a_damaged_result(self):
        """Bytes changed, taken out, doubled: the result is strict JSON, or there is none."""
        rng = random.Random(11)
        good = ('{"traceEvents":[' + ",\n".join(event_text(rng, i, i % 3) for i in range(12)) +
                '],"otherData":{"a":[1,{"b":"c"}]},"displayTimeUnit":"ms"}').encode()
        for n in range(60):
            text = bytearray(good)
            for _ in range(rng.randrange(1, 6)):
                at = rng.randrange(len(text))
                text[at:at + rng.randrange(3)] = rng.choice(
                    [b"", b"\0", b"}", b"{", b'"', b",", b"\\", b"\xff", b"NaN", text[at:at + 9]])
            self.write(f"m{n}.json", bytes(text))
            got = self.unitrace("merge", "-f", "--skip-invalid", "-o", "out.json", f"m{n}.json",
                                *([f"m{n - 1}.json"] if n else []))
            self.assertIn(got.returncode, (0, 1), got.stderr)
            if got.returncode == 0:
                json.loads((self.dir / "out.json").read_bytes(), parse_constant=self.fail)

    def test_files_that_are_no_traces_are_left_out_or_end_it(self):
        self.write("good.json", '[{"ph":"i","ts":1}]')
        self.write("bad.json", "this is no trace")
        self.write("empty.json", "")
        self.merge("--strict", "-o", "out.json", "good.json", "bad.json", rc=1)
        self.assertIn("bad.json: offset 0: ", self.said)
        self.assertEqual(sorted(p.name for p in self.dir.iterdir()),
                         ["bad.json", "empty.json", "good.json"])
        result = self.merged("good.json", "empty.json", "bad.json")
        self.assertEqual(len(result["traceEvents"]), 1)
        self.assertIn("empty.json: empty, left out", self.said)
        self.assertRegex(self.said, "bad.json: offset 0.*; left out")
        self.assertIn("1 events of 1 file are in out.json", self.said)
        self.assertEqual(self.merged("good.json", "bad.json", options=("--skip-invalid",))
                         ["traceEvents"], result["traceEvents"])
        os.unlink(self.dir / "out.json")
        self.merge("-o", "out.json", "--skip-invalid", "empty.json", "bad.json", rc=1)
        self.assertIn("none of the 2 files is a trace", self.said)
        self.assertFalse((self.dir / "out.json").exists())

    def test_missing_files_and_misuse(self):
        self.merge("nowhere.json", rc=1)
        self.assertIn("nowhere.json", self.said)
        self.merge(rc=2)
        self.merge("--pids", "sometimes", "x.json", rc=2)
        self.write("a.json", '[{"ph":"i","ts":1}]')
        self.merge("-o", "out.json", "--offset", "b.json=5", "a.json", rc=1)
        self.assertIn("no input has this name", self.said)
        self.merge("-o", "out.json", "--offset", "a.json=soon", "a.json", rc=2)
        self.assertIn("--offset a.json=soon: 'soon' is no number", self.said)

    def test_a_result_that_cannot_be_written_is_reported_before_anything_is_read(self):
        self.write("a.json", "broken, which would be told first otherwise")
        for output, why in (("no/such/dir/out.json", "No such file"), (".", "is a directory"),
                            ("a.json/out.json", "Not a directory")):
            self.merge("-o", output, "a.json", rc=1)
            self.assertEqual(len(self.said.splitlines()), 1, self.said)
            self.assertIn(why, self.said)

    def test_a_full_disk_leaves_nothing(self):
        self.write("a.json", '[{"ph":"i","ts":1}]')
        self.merge("-o", "/dev/full", "a.json", rc=1)
        self.assertIn("/dev/full: No space left on device", self.said)

    def test_what_is_no_trace_in_a_directory_is_named(self):
        self.write("d/r0.json", '[{"ph":"i","ts":1}]')
        self.write("d/r1.json", "")
        self.write("d/notes.txt", "not our business")
        self.merge("-o", "d/out.json", "d")
        self.assertIn("no trace in d/r1.json; left out", self.said)
        self.merge("-f", "-o", "d/out.json", "d")  # nor is the last result
        self.assertIn("no trace in d/r1.json; left out", self.said)

    def test_results_replace_older_ones_but_never_an_input(self):
        self.write("a.json", '[{"ph":"i","ts":1}]')
        self.write("b.json", "no trace")
        self.write("out.json", "old")
        self.merge("--strict", "-o", "out.json", "a.json", "b.json", rc=1)
        self.assertEqual((self.dir / "out.json").read_text(), "old")
        self.assertEqual(len(self.merge("-o", "out.json", "a.json")["traceEvents"]), 1)
        self.assertIn("out.json existed and was replaced", self.said)
        self.merge("-f", "-o", "a.json", "a.json", rc=1)
        self.assertIn("one of the inputs", self.said)

    def test_the_last_result_in_a_directory_is_no_input(self):
        self.write("d/r9.json", '[{"ph":"i","ts":1,"pid":9}]')
        self.write("d/r10.json", '[{"ph":"i","ts":1,"pid":10}]')
        for _ in range(2):
            self.merge("-f", "-o", "d/all.json", "d")
            result = json.loads((self.dir / "d/all.json").read_text())
            self.assertEqual([e["pid"] for e in result["traceEvents"]], [9, 10])

    def test_globs_and_the_names_of_mergetrace(self):
        self.write("x.1.json", '[{"ph":"i","ts":1,"pid":1}]')
        self.write("x.2.json", '[{"ph":"i","ts":1,"pid":2}]')
        for link in ("mergetrace", "mergetrace.py"):
            got = self.run_words(UNITRACE.parent / link, "x.1.json", "x.2.json", "-o", link)
            self.assertEqual(got.returncode, 0, got.stderr)  # JSON, whatever its name
            json.loads((self.dir / link).read_text())
            got = self.run_words(UNITRACE.parent / link, "x.*.json", "-o", f"{link}.json")
            self.assertEqual(got.returncode, 0, got.stderr)
            self.assertEqual(len(json.loads((self.dir / f"{link}.json").read_text())
                                 ["traceEvents"]), 2)
        for start in ([sys.executable, UNITRACE.parent / "mergetrace.py"],
                      [UNITRACE.parent / "mergetrace.py"]):
            got = self.run_words(*start, "-o", "python.json", "x.1.json", "x.2.json")
            self.assertEqual(got.returncode, 0, got.stderr)
            self.assertIn(b"2 events of 2 files", got.stderr)
            got = self.run_words(*start, "--nonsense")
            self.assertEqual(got.returncode, 2, got.stderr)
            self.assertEqual(self.run_words(*start, "nowhere.json").returncode, 1)
        got = self.run_words(UNITRACE.parent / "mergetrace", "x.1.json", "x.2.json")
        self.assertEqual(got.returncode, 0, got.stderr)
        self.assertTrue((self.dir / "unitrace.all.json").exists())


    def test_scripts_of_old_names_work_with_and_without_python(self):
        commands = {"mergetrace.py": b"merge", "acelyzer.py": b"analyze",
                    "process_device_log.py": b"devlog", "process_ops_logs.py": b"ops",
                    "profile_this.py": b"profile-this"}
        for name, command in commands.items():
            (self.dir / name).symlink_to(UNITRACE.parent / name)
            for start in ([UNITRACE.parent / name], [sys.executable, UNITRACE.parent / name],
                          [sys.executable, name], [f"./{name}"]):
                got = self.run_words(*start, "--help")
                self.assertEqual(got.returncode, 0, got.stderr)
                self.assertIn(b"usage: unitrace " + command, got.stdout)
            (self.dir / name).unlink()
            shutil.copy(UNITRACE.parent / name, self.dir)
            for start in ([sys.executable, name], [f"./{name}"]):
                got = self.run_words(*start, "--help")
                self.assertEqual(got.returncode, 1)
                self.assertEqual(got.stderr.count(b"\n"), 1, got.stderr)
                self.assertIn(b"belongs beside it", got.stderr)


class Others(Case):
    def test_real_recordings_merge_into_a_trace_that_holds_what_they_held(self):
        """Two runs of a real program; the result passes every check that a trace of ours passes."""
        program = common.program("every_call")
        if not program.exists():
            self.skipTest(f"{program} is not built")
        for n in (0, 1):
            got = self.unitrace("--quiet", "-o", f"run{n}.json", program)
            self.assertEqual(got.returncode, 0, got.stderr)
        self.merged("run0.json", "run1.json")
        parts = [common.Trace(self.dir / f"run{n}.json") for n in (0, 1)]
        whole = common.Trace(self.dir / "out.json")
        self.assertEqual(sorted(whole.names()), sorted(parts[0].names() + parts[1].names()))
        self.assertEqual([p["pid"] for p in whole.processes], [p.pid for p in parts])

    def test_other_formats_go_through_the_model(self):
        self.write("a.json", '{"traceEvents":[{"ph":"X","pid":1,"tid":1,"ts":5,"dur":2,"name":"a"}],'
                             '"baseTimeNanoseconds":1700000000000000000}')
        self.write("b.json", '{"traceEvents":[{"ph":"X","pid":1,"tid":1,"ts":7,"dur":2,"name":"b"}],'
                             '"baseTimeNanoseconds":1700000000000001000}')
        self.merge("-o", "a.pftrace", "a.json")
        self.merged("a.pftrace", "b.json")
        spans = {e["name"]: e for e in json.loads((self.dir / "out.json").read_text())["traceEvents"]
                 if e["ph"] == "X"}
        self.assertEqual(sorted(spans), ["a", "b"])
        self.assertNotEqual(spans["a"]["pid"], spans["b"]["pid"])
        self.merge("-o", "x.json", "--pids", "keep", "a.pftrace", "b.json", rc=1)
        self.assertIn("Chrome JSON", self.said)


if __name__ == "__main__":
    common.need()
    common.main()
