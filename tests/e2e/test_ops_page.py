"""The page of unitrace ops in a headless Chromium: the timeline's bars, hovered over, zoomed and moved,
and nothing asked of any network. Skipped without node, Chromium or playwright-core."""
import json
import shutil
import subprocess
import unittest

from common import BUILD, SOURCE, UNITRACE, Case, main, skip

if not UNITRACE.exists():
    skip(f"{UNITRACE} is not built")

TITLES = ("Name, Start timer count [ns], Stop timer count [ns], Delta timer count [ns], Global Call Count, "
          "Call Count, Stack Size, Inputs, Outputs, Math Fidelity, Parallelization Strategy, Preferred Name, "
          "Meta Data, Type\n")
LOG = """ARCH: grayskull, CHIP_FREQ[MHz]: 1000
PCIe slot, core_x, core_y, RISC processor type, timer_id, time[cycles since reset]
0, 0, 0, BRISC, 1, 1000
0, 0, 0, BRISC, 2, 1100
0, 0, 0, BRISC, 3, 1900
0, 0, 0, BRISC, 4, 2000
"""


def span(cat, name, ts, dur, pid=100, tid=7, **args):
    return {"ph": "X", "cat": cat, "name": name, "pid": pid, "tid": tid, "ts": ts, "dur": dur, "args": args}


class Pages(Case):
    def folder_report(self):
        for name, start, stop, call, depth in (("outer", 1000, 9000, 1, 1), ("inner", 2000, 4000, 2, 2)):
            folder = self.dir / "logs/ops" / name
            folder.mkdir(parents=True)
            (folder / "profile_log_host.csv").write_text(
                f"{TITLES}{name}, {start}, {stop}, {stop - start}, {call}, 1, {depth}, , , , , , <b>m</b>, tt_dnn_device\n")
        device = self.dir / "logs/ops_device/outer/1"
        device.mkdir(parents=True)
        (device / "profile_log_device.csv").write_text(LOG)
        subprocess.run([UNITRACE, "ops", "-o", "folder"], cwd=self.dir, check=True, timeout=60, capture_output=True)
        return self.dir / "folder/profile_log_ops.html"

    def trace_report(self):
        (self.dir / "run.json").write_text(json.dumps([
            span("cpu_op", "aten::mm", 0, 10), span("cuda_runtime", "cudaLaunchKernel", 2, 3, correlation=1),
            span("kernel", "gemm", 20, 30, pid=0, tid=1, correlation=1), span("cpu_op", "aten::relu", 40, 10, tid=8)]))
        subprocess.run([UNITRACE, "ops", "run.json", "-o", "trace"], cwd=self.dir, check=True, timeout=60,
                       capture_output=True)
        return self.dir / "trace/profile_log_ops.html"

    def open(self, *pages):
        if not shutil.which("node"):
            raise unittest.SkipTest("node is not installed")
        out = self.dir / "seen.json"
        run = subprocess.run(["node", SOURCE / "tests/e2e/ops_page.js", BUILD / "node/node_modules", out,
                              *map(str, pages)], capture_output=True, text=True, timeout=240)
        if run.returncode == 77:
            raise unittest.SkipTest(run.stderr.strip() + " (tools/setup.sh node)")
        self.assertEqual(run.returncode, 0, run.stderr)
        return [json.loads(out.read_text())[str(page)] for page in pages]

    def check_use(self, seen, length):
        self.assertEqual((seen["console"], seen["outside"]), ([], []))
        self.assertEqual(seen["reset"], {"from": 0, "to": length})
        self.assertLess(seen["zoomed"]["to"] - seen["zoomed"]["from"], length / 2)
        self.assertAlmostEqual(seen["moved"]["to"], length, delta=length / 100)

    def test_ops_over_time(self):
        folder, trace = self.open(self.folder_report(), self.trace_report())
        lane, = folder["lanes"]
        self.assertEqual(lane, {"name": "host", "bars": [{"code": " outer", "from": 0, "to": 8000, "level": 0},
                                                         {"code": "  inner", "from": 1000, "to": 3000, "level": 1}]})
        self.assertEqual(folder["drawn"], 2)
        self.assertEqual(folder["hover"], "Op: outer\nCall: 1\nDuration: 0.000 s (8.000 \u00b5s)\nMeta: <b>m</b>")
        self.assertIn("outer, call 1, on the device:", folder["device"])
        self.assertIn("brisc kernel", folder["device"])
        self.assertEqual(folder["rows"], [2, 2])
        self.check_use(folder, 8000)
        self.assertEqual([(l["name"], [b["code"] for b in l["bars"]]) for l in trace["lanes"]],
                         [("thread 7", ["aten::mm"]), ("device 0", ["aten::mm"]), ("thread 8", ["aten::relu"])])
        self.check_use(trace, 50000)


if __name__ == "__main__":
    main()
