"""The viewer's tabs Kernels and Ops in a headless Chromium, over HTTP and in one file: their numbers are
those of `unitrace query` and `unitrace ops` on the same trace and the same window. Skipped without the page,
node, Chromium or playwright-core."""
# ci: labels browser
import csv
import io
import json

from common import UNITRACE, main, skip
from view_support import ViewCase, unitrace

if not UNITRACE.exists():
    skip(f"{UNITRACE} is not built")

STEPS = 40
WINDOW = (1_000_000, 3_000_050)  # ns


def events():
    """Ops of three names in turn; one launches two kernels of different geometry, one copies, one only counts."""
    def span(cat, name, ts, dur, pid=100, tid=7, **args):
        return {"ph": "X", "cat": cat, "name": name, "pid": pid, "tid": tid, "ts": ts, "dur": dur, "args": args}
    for kind, said in (("process_name", {"name": "python"}), ("process_labels", {"labels": "GPU 0"})):
        yield {"ph": "M", "name": kind, "pid": 0, "tid": 0, "args": said}
    for i in range(STEPS):
        t, c = i * 100, 10 * i + 1
        yield span("cpu_op", "aten::linear", t, 30 + i % 5, **{"External id": c, "Input Dims": [[8, 16 + i % 2], [4, 16]]})
        for k in range(2):
            yield span("cuda_runtime", "cudaLaunchKernel", t + 5 + 4 * k, 2, correlation=c + k)
            yield span("kernel", "gemm", t + 20 + 12 * k, 7 + k + i % 3, pid=0, tid=1, correlation=c + k, device=0, stream=1,
                       grid=[4 + k, 1, 1], block=[128, 1, 1], **{"registers per thread": 40, "shared memory": 1024,
                                                                 "est. achieved occupancy %": 50})
        yield span("cpu_op", "aten::to", t + 50, 10)
        yield span("cuda_runtime", "cudaMemcpyAsync", t + 52, 2, correlation=c + 2)
        yield span("gpu_memcpy", "Memcpy HtoD", t + 60, 5, pid=0, tid=1, correlation=c + 2, device=0, stream=1, bytes=64)
        yield span("cpu_op", "aten::view", t + 80, 3)


def rows(text):
    return list(csv.DictReader(io.StringIO(text, newline="")))


def number(text):
    return float(text) if text not in ("", "-", None) else None


class ViewOps(ViewCase):
    script, words = "view_ops.js", [",".join(map(str, WINDOW))]

    def check_kernels(self, seen, window):
        a, b = window
        origin = 0
        cut = f"(min(ts + dur, {origin + b}) - max(ts, {origin + a}))"
        sql = (f"select name, extract_arg(arg_set_id, 'grid[0]') as g, count(*) as n, sum({cut}) as total "
               f"from slice where cat in ('kernel', 'gpu_memcpy') and ts < {origin + b} and ts + dur > {origin + a} "
               "group by 1, 2")
        asked = {(r["name"], r["g"] or ""): (int(r["n"]), float(r["total"]))
                 for r in rows(unitrace("query", "run.json", sql, "--csv", cwd=self.dir))}
        shown = {(r["name"], r["grid"].split("×")[0]): (int(r["count"]), float(r["total_ns"])) for r in rows(seen)}
        self.assertEqual(shown, asked)
        busy = sum(total for _, total in asked.values())  # one queue: nothing overlaps
        for r in rows(seen):
            self.assertAlmostEqual(float(r["share"]), float(r["total_ns"]) / busy)
            if r["name"] == "gemm":
                self.assertEqual([r["block"], r["registers"], r["shared"], r["occupancy"]], ["128×1×1", "40", "1024", "0.5"])

    def check_ops(self, seen, report):
        shown = rows(seen["ops"])
        self.assertEqual(len(shown), len(report))
        for mine, theirs in zip(shown, report):
            for key in mine.keys() & theirs.keys():
                self.assertEqual(mine[key] or "-", theirs[key], key)
        self.assertEqual(shown[0]["DEVICE KERNELS"], "2 x gemm")
        self.assertRegex(shown[0]["INPUTS"], r"^1×1×8×1[67], 1×1×4×16$")
        for r in rows(seen["byName"]):
            own = [row for row in report if row["OP CODE"] == r["name"]]
            self.assertEqual(int(r["calls"]), len(own))
            for key, column in (("host_ns", "HOST DURATION [ns]"), ("device_ns", "DEVICE KERNEL DURATION [ns]"),
                                ("gap_ns", "OP TO OP LATENCY [ns]")):
                told = [n for n in (number(row[column]) for row in own) if n is not None]
                self.assertEqual(number(r[key]), sum(told) if told else None, (r["name"], key))
            launches = [n for n in (number(row["LAUNCH LATENCY [ns]"]) for row in own) if n is not None]
            self.assertEqual(number(r["launch_ns"]), sum(launches) / len(launches) if launches else None)

    def test_kernels_and_ops_are_what_query_and_ops_say(self):
        (self.dir / "run.json").write_text(json.dumps(list(events())))
        unitrace("view", "run.json", "--save", "run.html", cwd=self.dir)
        unitrace("ops", "run.json", "-o", "out", cwd=self.dir)
        with open(self.dir / "out/profile_log_ops.csv", newline="") as file:
            report = list(csv.DictReader(file))
        part = [r for r in report if WINDOW[0] <= int(r["HOST START TS"]) < WINDOW[1]]
        for seen in self.serve_and_look(["run.json"], self.dir / "run.html"):
            self.assertEqual(seen["errors"], [])
            self.check_kernels(seen["all"]["kernels"], (0, 10**9))
            self.check_kernels(seen["part"]["kernels"], WINDOW)
            self.check_ops(seen["all"], report)
            self.check_ops(seen["part"], part)
            self.assertEqual(seen["led"], "aten::linear")


if __name__ == "__main__":
    main()
