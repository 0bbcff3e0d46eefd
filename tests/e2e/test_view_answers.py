"""unitrace view: every question answered, numbers as stats, query and diff have them."""
import json
import signal
import struct
import unittest

from common import PATIENCE
from view_server import View, torch_trace, trace


class Answers(View):
    def test_a_failed_program_is_the_first_finding(self):
        ends = [{"pid": 100, "ended": {"exit": 3}}, {"pid": 200, "ended": {"signal": 11}}, {"pid": 300}]
        (self.dir / "run.json").write_text(json.dumps({
            "traceEvents": [{"ph": "X", "pid": p["pid"], "tid": 1, "ts": 1, "dur": 5, "name": "w"} for p in ends],
            "otherData": {"tool": "unitrace", "processes": [{**p, "name": "solver"} for p in ends]}}))
        self.start("run.json")
        said = "solver (100) failed: exit status 3, solver (200) failed: signal 11 (Segmentation fault)."
        self.assertEqual(self.ask("info")["failed"], said)
        first = self.ask("findings", scope={})[0]
        self.assertEqual((first["tone"], first["say"]), ("bad", said))

    def test_a_job_that_stood_still_is_no_imbalance(self):
        """What is said first is who never came; who waits for it does not "work longer"."""
        for rank in range(2):
            allreduce = {"comm": "MPI_COMM_WORLD", "seq": 0, "bytes": 8, "unfinished": True}
            last = ("MPI_Allreduce", "MPI", 2000, 900000, allreduce) if rank else ("read", "app", 2000, 700000, {"unfinished": True})
            calls = [("MPI_Init", "MPI", 0, 1000, {"rank": rank, "size": 2}), last]
            (self.dir / f"run.{rank}.json").write_text(json.dumps({
                "traceEvents": [{"ph": "X", "pid": 10 + rank, "tid": 1, "ts": b, "dur": d, "name": n, "cat": c, "args": a}
                                for n, c, b, d, a in calls],
                "otherData": {"tool": "unitrace", "processes": [{"pid": 10 + rank, "rank": rank, "name": "cg", "host": "node"}]}}))
        self.start("run.0.json", "run.1.json")
        said = [f["say"] for f in self.ask("findings", scope={})]
        self.assertFalse([s for s in said if "works" in s], said)
        first = self.ask("sheet", tool="advice", name="findings")[0]
        self.assertRegex(first["say"], r"^Rank 0 never came to MPI_Allreduce .*: it was in its task \"read\" for ")
        self.assertEqual((first["tone"], first["tab"]), ("bad", "ranks"))

    def test_a_counter_without_a_value_for_a_while(self):
        """That time counts nowhere; a counter that never has a value has no row."""
        values = {"usage": [(0, 100), (10, "NaN"), (30, 50), (50, "NaN")], "never": [(5, "NaN")]}
        self.save([{"ph": "X", "pid": 1, "tid": 1, "ts": 0, "dur": 100, "name": "work"},
                   *({"ph": "C", "pid": 1, "ts": ts, "name": name, "args": {"%": v}}
                     for name, of in values.items() for ts, v in of)])
        self.start("run.json")
        told = {r["name"]: r for r in json.loads(self.unitrace("stats", "--json", "run.json").stdout)["counters"]}
        row, = self.rows(self.ask("aggregate", scope={})["counters"])
        want = told["usage %"]
        self.assertEqual((row["samples"], row["min"], row["max"], row["last"]), (2, 50, 100, 50))
        self.assertAlmostEqual(row["mean"], want["mean"])
        self.assertIsNone(told["never %"]["mean"])
        self.assertEqual(self.rows(self.ask("aggregate", scope={"ranges": [[12000, 28000]]})["counters"]), [])

    def test_every_question_has_an_answer(self):
        self.save(trace())
        self.start("run.json")
        info = self.ask("info")
        self.assertEqual(info["files"], ["run.json"])
        self.assertEqual(info["ranks"], 0)
        places = self.ask("places")
        self.assertEqual([p["name"] for p in places if p["kind"] == "process"], ["train.py"] * 2)
        self.assertEqual({p["kind"] for p in places}, {"process", "thread", "counter"})
        self.assertEqual(sum(lane["count"] for p in places for lane in p["lanes"]
                             if lane["kind"] in ("spans", "overlap", "async")), info["slices"])
        names = self.ask("types", first=0)["names"]
        self.assertIn("step", names)
        self.assertEqual(self.ask("types", first=1 << 40)["names"], [])
        lanes = [[p["track"], i] for p in places for i in range(len(p["lanes"]))] + [[999, 0], [0, 99]]
        window = self.ask("window", t0=0, t1=info["span"], pixels=500, lanes=lanes)
        magic, count, items, values = struct.unpack_from("<IIII", window)
        self.assertEqual((magic, count), (0x31575455, len(lanes)))
        self.assertEqual(len(window), 40 + items * 21 + (count + 1) * 8 + values * 12)
        self.assertEqual(values, 1000)
        flows = self.ask("flows", t0=0, t1=info["span"], limit=7)
        self.assertEqual(len(flows["from"]["t"]), 7)
        self.assertGreater(flows["more"], 0)
        found = self.ask("search", query='"step"', limit=3, scope={})
        self.assertEqual((found["count"], len(found["list"])), (1200, 3))
        first = self.ask("find", query='"step"', **{"from": None}, by=1, scope={})
        self.assertEqual(first["nth"], 1)
        last = self.ask("find", query='"step"', **{"from": first["id"]}, by=-1, scope={})
        self.assertEqual(last["nth"], 1200)
        detail = self.ask("detail", id=first["id"])
        self.assertEqual((detail["name"], detail["nth"], detail["ofName"]), ("step", 1, 1200))
        self.assertEqual(dict(detail["args"])["s"], "x<b>")
        self.assertIsNone(self.ask("detail", id=1 << 50))
        there = self.ask("at", track=detail["track"], lane=detail["lane"], t=detail["t"] + 1, slack=0)
        self.assertEqual(there["id"], first["id"])
        for along in ("name", "track"):
            self.assertIsInstance(self.ask("step", id=first["id"], by=1, along=along), int)
        self.ask("step", id=first["id"], by=-1, along="flow")
        self.assertTrue(self.ask("aggregate", scope={"ranges": [[0, 10 ** 6]]})["slices"]["rows"])
        self.assertEqual(self.ask("list", scope={}, limit=5)["rows"], 5)
        spread = self.ask("distribution", scope={}, name="step", self=False, log=False, bins=10,
                          group="track")
        self.assertEqual(sum(sum(g["counts"]) for g in spread["groups"]), 1200)
        for kind in ("top-down", "bottom-up", "time-order", "callers", "callees"):
            self.assertEqual(self.ask("tree", scope={}, kind=kind, name="deep", nodes=9)["parent"][0], -1)
        self.assertIn("slice", self.ask("words"))
        self.assertEqual(self.post("nothing", "{}")[0].status, 404)
        for query in ("dur:>x", "rank:a", "/(/"):
            answer, body = self.post("search", json.dumps({"query": query, "limit": 1, "scope": {}}))
            self.assertEqual(answer.status, 400)
            self.assertIn(b" is no ", body)

    def test_numbers_are_those_of_stats_and_query(self):
        """Also where spans overlap, call themselves or are async."""
        self.save(trace(overlap=True))
        self.start("run.json")
        span = self.ask("info")["span"]
        for from_, to in ((0, span + 1), (span // 4, span // 2), (span // 3, span // 3 + 50000)):
            told = json.loads(self.unitrace("stats", "--json", "--from", f"{from_}ns", "--to", f"{to}ns",
                                            "--clip", "-n", "1000", "run.json").stdout)
            area = self.ask("aggregate", scope={"ranges": [[from_, to]]})
            rows = {r["name"]: r for r in self.rows(area["slices"])}
            for want in told["spans"]:
                got = rows[want["name"]]
                self.assertEqual(got["self"] is None, want["share"] is None)  # a dash, not a zero
                self.assertEqual((got["count"], got["total"], got["self"] or 0, got["min"], got["max"]),
                                 (want["count"], want["total_ns"], want["self_ns"], want["min_ns"],
                                  want["max_ns"]), (want, from_, to))
                self.assertEqual(int(got["mean"]), want["mean_ns"])
            self.assertEqual(set(rows) - {"mark"}, {s["name"] for s in told["spans"]})
            counters = self.rows(area["counters"])
            self.assertAlmostEqual(min(c["min"] for c in counters), told["counters"][0]["min"])
            self.assertAlmostEqual(max(c["max"] for c in counters), told["counters"][0]["max"])
        told = json.loads(self.unitrace("stats", "--json", "-n", "1000", "run.json").stdout)
        for want in told["spans"]:
            got = self.ask("distribution", scope={}, name=want["name"], self=False, log=True, bins=5,
                           group="none")
            self.assertEqual((got["count"], got["p50"], got["p90"], got["p99"]),
                             (want["count"], want["p50_ns"], want["p90_ns"], want["p99_ns"]))
        sql = "select name, count(*) n, sum(dur) d from slice where dur > 0 group by 1 order by 1"
        told = json.loads(self.unitrace("query", "--json", "run.json", sql).stdout)
        told = told if isinstance(told, list) else told["rows"]
        table = self.rows(self.ask("sql", text=sql))
        self.assertEqual(table, told)
        for bad in ("selec", "select * from nowhere", "attach 'x' as y", "create table main.t(a)",
                    "pragma journal_mode=off"):
            self.post("sql", json.dumps({"text": bad}))
        self.assertEqual(self.rows(self.ask("sql", text=sql)), told)
        self.assertFalse([p for p in self.dir.iterdir() if p.name not in ("run.json",)])

    def test_devices_are_busy_as_stats_says(self):
        """What lies over a device's work is none, and a device is not called like its program."""
        self.save(torch_trace())
        self.start("run.json")
        told = json.loads(self.unitrace("stats", "--device", "--json", "run.json").stdout)["devices"]
        area = self.ask("aggregate", scope={})
        devices = {r["name"]: r for r in self.rows(area["devices"])}
        self.assertEqual({d["device"]: d["busy_ns"] for d in told},
                         {name: d["busy"] for name, d in devices.items()})
        self.assertEqual(set(devices), {"GPU 0", "GPU 1"})
        queues = {r["name"]: r["busy"] for r in self.rows(area["threads"]) if r["name"].startswith("GPU 0")}
        self.assertEqual(sum(queues.values()) - devices["GPU 0"]["busy"], devices["GPU 0"]["overlap"])
        findings = self.ask("findings", scope={})
        self.assertRegex(findings[0]["say"], r"^GPU [01] is idle ")
        self.assertTrue(findings[-1]["say"].startswith("train.py(3): step has the most self time"), findings)
        only = self.ask("findings", scope={"query": "cat:Trace"})  # asked for, it is told
        self.assertTrue(only[-1]["say"].startswith("PyTorch Profiler (0) has the most"), only)
        names = [e["args"]["name"] for e in json.loads(
            self.unitrace("export", "-f", "chrome", "-o", "-", "run.json").stdout)["traceEvents"]
            if e["name"] == "process_name"]
        self.assertEqual(names, ["python3"] * 4)

    def test_notes_lie_beside_the_trace(self):
        self.save(trace())
        kept = self.dir / "run.json.notes.json"
        self.start("run.json")
        self.assertEqual(self.ask("notes"), [])
        self.assertFalse(kept.exists())
        note = {"id": "n1", "t0": 5, "t1": 9.5, "text": "slow <b>\u202e\0\n"}
        self.assertEqual(self.ask("note", note=note, gone=False), [note])
        self.assertEqual(json.loads(kept.read_text()), [note])
        changed = {**note, "text": "fast"}
        self.assertEqual(self.ask("note", note=changed, gone=False), [changed])
        self.server.send_signal(signal.SIGINT)
        self.server.wait(PATIENCE)
        self.cookie = None
        self.start("run.json")
        self.assertEqual(self.ask("notes"), [changed])
        self.assertEqual(self.ask("note", note=changed, gone=True), [])
        kept.write_text("my own file")
        self.assertEqual(self.post("note", json.dumps({"note": note, "gone": False}))[0].status, 400)
        self.assertEqual(kept.read_text(), "my own file")

    def test_traces_of_one_clock_are_shown_together(self):
        day = 1.7e15  # us since 1970
        for rank in (0, 1):
            self.save([{"ph": "M", "pid": rank, "name": "process_name", "args": {"name": f"rank{rank}"}},
                       {"ph": "X", "pid": rank, "tid": 1, "ts": day + rank * 1000, "dur": 10,
                        "name": f"work {rank}"}], f"r{rank}.json")
        self.start("r0.json", "r1.json")
        info = self.ask("info")
        self.assertEqual(info["title"], "r0.json and 1 more")
        self.assertEqual(info["span"], 1010000)
        self.assertEqual(info["start"], str(1700000000 * 10 ** 9))
        found = self.ask("search", query="work", limit=9, scope={})["list"]
        self.assertEqual([(f["name"], f["t"]) for f in found], [("work 0", 0), ("work 1", 1000000)])
        self.assertEqual(self.rows(self.ask("sql", text="select count(*) n from slice")), [{"n": 2}])

    def test_how_much_a_thread_ran_stands_below_it(self):
        facts = {8: {"cpu_ns": 300, "waiting_ns": 500, "ready_ns": 200}, 9: {"cpu_ns": 400}, 10: {}}
        events = [{"ph": "M", "pid": 7, "tid": tid, "name": "thread_name", "args": {"name": "worker", **told}}
                  for tid, told in facts.items()]
        events += [{"ph": "X", "pid": 7, "tid": tid, "name": "task", "ts": 0, "dur": 1} for tid in facts]
        events += [{"ph": "C", "pid": 7, "tid": 7, "name": name, "ts": 0, "args": {"value": 5}}
                   for name in ("free memory", "CPU usage: worker (9)", "CPU usage: worker (8)",
                                "CPU usage: all threads", "CPU usage: gone (77)")]
        self.save(events, "threads.json")
        self.start("threads.json")
        below = [(p["name"], p.get("tid"), p.get("cpu")) for p in self.ask("places") if p["kind"] != "process"]
        self.assertEqual(below, [("worker", 8, 0.3), ("CPU usage: worker (8)", None, None),
                                 ("worker", 9, 0.4), ("CPU usage: worker (9)", None, None),
                                 ("worker", 10, None), ("free memory", None, None),
                                 ("CPU usage: all threads", None, None), ("CPU usage: gone (77)", None, None)])

    def test_messages_between_traces_are_arrows(self):
        day = 1.7e15
        for rank, kind in ((0, "s"), (1, "f")):
            self.save([{"ph": "X", "pid": rank, "tid": 1, "ts": day + rank * 50, "dur": 10,
                        "name": "receive" if rank else "send"},
                       {"ph": kind, "bp": "e", "pid": rank, "tid": 1, "ts": day + rank * 50 + 1, "name": "m",
                        "cat": "m", "id": "0x1230000000077", "id2": {"global": "0x1230000000077"}},
                       {"ph": kind, "bp": "e", "pid": rank, "tid": 1, "ts": day + rank * 50 + 2, "name": "m",
                        "cat": "m", "id": "0x88"}], f"m{rank}.json")
        self.start("m0.json", "m1.json")
        flows = self.ask("flows", t0=0, t1=1e6, limit=9)
        self.assertEqual((flows["from"]["t"], flows["to"]["t"]), ([5000], [50000]))
        sent = self.ask("search", query="send", limit=1, scope={})["list"][0]
        self.assertEqual([r["name"] for r in self.ask("detail", id=sent["id"])["after"]], ["receive"])


class Compare(View):
    def runs(self):
        """Two runs: the second has other lengths, a name that is new, and lacks one."""
        self.save(trace(5), "before.json")
        after = [e for e in trace(6) if e["name"] != "deep"]
        after.append({"ph": "X", "pid": 100, "tid": 1, "ts": 20000, "dur": 7, "name": "<b>new</b>"})
        self.save(after, "after.json")

    def test_two_runs_differ_as_diff_says(self):
        self.runs()
        self.start("--compare", "before.json", "after.json")
        self.assertEqual(self.ask("info")["before"], "before.json")
        self.assertNotIn("before", self.ask("before/info"))
        self.assertEqual(self.post("before/before/info", "{}")[0].status, 404)
        done = self.unitrace("diff", "--json", "before.json", "after.json")
        rows = json.loads(done.stdout)["rows"]
        self.assertEqual({r["state"] for r in rows}, {"both", "new", "vanished"})
        for side, where in (("before", "before/"), ("after", "")):
            got = {r["name"]: r for r in self.rows(self.ask(where + "aggregate", scope={})["slices"])
                   if r["self"] is not None}
            for row in rows:
                if not row.get(side):
                    self.assertNotIn(row["name"], got)
                    continue
                said = got.pop(row["name"])
                for key in ("count", "total", "self", "mean", "min", "max"):
                    want = row[side]["count" if key == "count" else key + "_ns"]
                    self.assertAlmostEqual(said[key], want, delta=1, msg=f"{row['name']} {key}")
                spread = self.ask(where + "distribution", scope={}, name=row["name"], bins=9, log=True)
                for key in ("p50", "p90", "p99"):
                    self.assertEqual(spread[key], row[side][key + "_ns"], row["name"])
            self.assertEqual(set(got), set())

    def test_a_run_that_cannot_be_read_is_reported(self):
        self.save(trace())
        done = self.unitrace("view", "--no-browser", "--compare", "nowhere.json", "run.json")
        self.assertEqual(done.returncode, 1)
        self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)
        self.assertIn(b"nowhere.json", done.stderr)

    def test_both_are_in_a_page(self):
        self.runs()
        done = self.unitrace("view", "--save", "both.html", "--compare", "before.json", "after.json")
        self.assertEqual(done.returncode, 0, done.stderr)
        text = (self.dir / "both.html").read_text()
        self.assertIn('id="trace"', text)
        self.assertIn('id="before"', text)


if __name__ == "__main__":
    unittest.main()
