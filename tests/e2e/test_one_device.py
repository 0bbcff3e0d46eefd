"""What is a device: one answer of every reader, for every file of the same trace.

docs/design/018-one-meaning.md says what is right; src/trace/model/classify_store.c decides it.
"""
import csv
import json
import sqlite3
import unittest

from view_server import View

CALL = {"ph": "X", "pid": 1, "tid": 1, "cat": "cuda_runtime", "name": "cudaLaunchKernel", "ts": 2, "dur": 1,
        "args": {"correlation": 5}}
OP = {"ph": "X", "pid": 1, "tid": 1, "cat": "cpu_op", "name": "aten::mm", "ts": 1, "dur": 5, "args": {"External id": 3}}
KERNEL = {"ph": "X", "pid": 7, "tid": 7, "cat": "kernel", "name": "k", "ts": 4, "dur": 2,
          "args": {"correlation": 5, "stream": 7}}
COPY = {**KERNEL, "tid": 8, "cat": "gpu_memcpy", "name": "Memcpy HtoD", "ts": 8}
OVER = {**KERNEL, "cat": "gpu_user_annotation", "name": "step", "ts": 3, "dur": 9, "args": {}}


def named(name):
    return {"ph": "M", "pid": 7, "name": "process_name", "args": {"name": name}}


# what a trace holds, and how the device in it is called; None: there is none
SHAPES = {
    "called like one": ([named("cuda:0"), OP, CALL, KERNEL], "cuda:0"),
    "without a name": ([OP, CALL, KERNEL, COPY], "pid 7"),
    "called like a program": ([named("python3"), OP, CALL, KERNEL], "python3"),
    "with annotations over its work": ([OP, CALL, OVER, KERNEL], "pid 7"),
    "with a counter": ([OP, CALL, KERNEL, {"ph": "C", "pid": 7, "ts": 4, "name": "clock", "args": {"value": 1}}], "pid 7"),
    "kernels of something else": ([OP, {**CALL, "args": {}}, {**KERNEL, "args": {}}], None),
    "only a program": ([OP, CALL], None),
}


class OneDevice(View):
    def files(self, events):
        """The same trace in other files."""
        yield self.save(events)
        for name in ("copy.json", "copy.utr", "copy.pftrace"):
            done = self.unitrace("export", "run.json", "-o", name, "--overwrite")
            self.assertEqual(done.returncode, 0, done.stderr)
            yield self.dir / name

    def said(self, *words):
        done = self.unitrace(*words)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def check_query(self, path, device):
        rows = json.loads(self.said("query", "--format", "json", path, "select pid, kind, api from process order by pid"))
        kinds = {row["pid"]: row["kind"] for row in rows}
        self.assertEqual([pid for pid, kind in kinds.items() if kind == "device"], [7] if device else [])
        self.assertEqual([row["api"] for row in rows if row["kind"] == "device"], ["cuda"] if device else [])

    def check_sqlite(self, path, device):
        self.said("export", path, "-o", "copy.sqlite", "--overwrite")
        with sqlite3.connect(self.dir / "copy.sqlite") as db:
            found = db.execute("select pid from process where kind = 'device'").fetchall()
        self.assertEqual(found, [(7,)] if device else [])

    def check_stats(self, path, device):
        done = self.unitrace("stats", "--device", "--json", path)
        told = json.loads(done.stdout)["devices"] if done.stdout else []
        self.assertEqual([d["device"] for d in told], [device] if device else [])
        self.busy = told[0]["busy_ns"] if told else None

    def check_kernels(self, path, device):
        done = self.unitrace("kernels", "--json", path)
        names = [row["name"] for row in json.loads(done.stdout)] if done.stdout else []
        self.assertEqual(names, ["k"] if device else [])

    def check_ops(self, path, device):
        self.said("ops", path, "-o", "report", "--no-tarball")
        with (self.dir / "report/profile_log_ops.csv").open(newline="") as file:
            row = next(csv.DictReader(file))
        self.assertEqual((row["OP CODE"], row["DEVICE KERNELS"]), ("aten::mm", "k" if device else "-"))

    def check_viewer(self, path, device):
        self.cookie = None
        self.start(path.name)
        places = {p["name"]: p for p in self.ask("places") if p["kind"] in ("process", "device")}
        self.assertEqual([name for name, p in places.items() if p["kind"] == "device"], [device] if device else [])
        table = self.rows(self.ask("aggregate", scope={})["devices"])
        self.assertEqual([(d["busy"]) for d in table], [self.busy] if device else [])
        told = [f["say"] for f in self.ask("findings") if f.get("about") == "idle"]
        self.assertEqual([say.split(" is idle ")[0] for say in told], [device] if device else [])
        self.assertEqual("kernels" in json.dumps(self.ask("info").get("tools", [])), bool(device))
        self.server.kill()
        self.server.wait()

    def test_every_reader_says_the_same(self):
        for name, (events, device) in SHAPES.items():
            for path in self.files(events):
                for check in (self.check_query, self.check_sqlite, self.check_stats, self.check_kernels, self.check_ops,
                              self.check_viewer):
                    with self.subTest(name, file=path.name, reader=check.__name__):
                        check(path, device)

    def test_what_holds_both_is_a_program(self):
        """Its kernels are counted as work of a device that is called like it, its rows stay threads."""
        self.save([OP, CALL, {**KERNEL, "pid": 1}])
        self.check_query("run.json", None)
        self.check_stats("run.json", "pid 1")
        self.check_ops("run.json", "k")


if __name__ == "__main__":
    unittest.main()
