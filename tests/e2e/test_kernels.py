"""What kernels are bound by: the same in the table, in JSON and in the page; of recordings with the fake
CUPTI; of traces that were made to be slow or odd."""
import base64
import json
import re
import subprocess
import zlib

from common import PATIENCE, SOURCE, UNITRACE, Case, environment, main, program, skip
from device_support import backend

if not UNITRACE.exists():
    skip(f"{UNITRACE} is not built")
MODEL = SOURCE / "tests/golden/inputs/kernels/model.json"
RULES = re.findall(r'^\tX\([A-Z_0-9]+, "([a-z_0-9]+)",', (SOURCE / "src/analysis/metrics/bottleneck.h").read_text(), re.M)


def unitrace(*args, check=True):
    return subprocess.run([UNITRACE, *args], capture_output=True, text=True, timeout=PATIENCE, check=check)


def kernels(*args):
    return json.loads(unitrace("kernels", "--json", *args).stdout)


class Kernels(Case):
    def test_all_ways_to_add_up_have_the_same_total(self):
        whole = {by: kernels("--by", by, MODEL) for by in ("kernel", "op", "task", "line")}
        totals = {by: (sum(r["total_ns"] for r in rows), sum(r["launches"] for r in rows)) for by, rows in whole.items()}
        self.assertEqual(len(set(totals.values())), 1, totals)
        events = json.loads(MODEL.read_text())["traceEvents"]
        spans = [e for e in events if e.get("cat") == "kernel" and e["ph"] == "X"]
        self.assertEqual(totals["kernel"], (round(1000 * sum(e["dur"] for e in spans)), len(spans)))

    def test_evidence_is_what_was_recorded(self):
        rows = {r["name"]: r for r in kernels(MODEL)}
        self.assertEqual(rows["copy(float4*)"]["evidence"]["dram"], {"value": 80.9, "unit": "%"})
        self.assertEqual(rows["copy(float4*)"]["verdict"], "dram")
        self.assertEqual(rows["gather(float*)"]["evidence"]["load_sectors"]["value"], 32)
        self.assertEqual(rows["chase(int*)"]["evidence"]["stall"]["value"], 90)
        self.assertEqual(rows["counted(float*)"]["evidence"]["dram"]["value"], 72)  # the mean of 70 .. 74
        for row in rows.values():
            self.assertIn(row["verdict"], RULES)
            self.assertTrue(row["advice"])

    def test_the_page_carries_the_same_verdicts(self):
        if "as one file" not in unitrace("--version").stdout:
            self.skipTest("built without the page")
        page = self.dir / "page.html"
        unitrace("export", "-o", page, MODEL)
        found = re.search(r'class="sheet" data-tool="kernels" data-name="verdicts">([^<]*)<', page.read_text())
        sheet = json.loads(zlib.decompress(base64.b64decode(found[1])))
        shown = {(k["name"], k["verdict"], k["why"]) for k in sheet["kernels"]}
        told = {(r["name"], r["verdict"], r["why"]) for r in kernels(MODEL)}
        self.assertEqual(shown - told, set())
        self.assertEqual([t for t in told - shown if t[1] != "unknown" or "most used" in t[2]], [])

    def test_every_kernel_with_a_grid_of_its_own_takes_no_longer(self):
        """Variants have a limit; what finds no room is not judged, and nothing hangs."""
        events = [{"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": 10 * i, "dur": 5,
                   "args": {"grid": [i + 1, 1, 1], "block": [32, 1, 1], "correlation": i + 1}} for i in range(70000)]
        path = self.dir / "many.json"
        path.write_text(json.dumps({"traceEvents": events, "schemaVersion": 1, "deviceProperties": []}))
        rows = kernels(path)
        self.assertEqual([r["name"] for r in rows], ["k"])
        self.assertEqual(rows[0]["launches"], 65536)

    def test_odd_arguments_are_no_facts(self):
        odd = [None, "x", "", [], {}, "0x0x0", [0, 0, 0], -5, 1e308, "NaN", True, [1, "a"], "9" * 60]
        events = [{"ph": "X", "cat": "kernel", "name": f"k{i}", "pid": 0, "tid": 7, "ts": 10 * i, "dur": 5,
                   "args": {"grid": v, "block": v, "registers": v, "shared memory": v, "occupancy %": v,
                            "blocks per SM": v, "dram__throughput.avg.pct_of_peak_sustained_elapsed[%]": v,
                            "correlation": i + 1}} for i, v in enumerate(odd)]
        path = self.dir / "odd.json"
        path.write_text(json.dumps({"traceEvents": events, "schemaVersion": 1, "deviceProperties": []}))
        for by in ("kernel", "op", "task", "line"):
            self.assertEqual(sum(r["launches"] for r in kernels("--by", by, path)), len(odd))

    def test_groups_name_their_kernel_by_the_word_that_says_most(self):
        named = {"void at::native::(anonymous namespace)::cunn_SoftMax<float, 4>(float*, at::X<int>)": "cunn_SoftMax",
                 "void (anonymous namespace)::elementwise<at::native::(anonymous namespace)::F>(int)": "elementwise",
                 "gather(float*)": "gather"}
        for i, (name, short) in enumerate(named.items()):
            events = [{"ph": "X", "cat": "kernel", "name": n, "pid": 0, "tid": 7, "ts": 50 * k, "dur": dur,
                       "args": {"correlation": k + 1}} for k, (n, dur) in enumerate(((name, 40), ("other", 1)))]
            path = self.dir / f"{i}.json"
            path.write_text(json.dumps({"traceEvents": events, "schemaVersion": 1, "deviceProperties": []}))
            self.assertIn(f"({short})\n", unitrace("kernels", "--by", "op", path).stdout)

    def test_a_recording_of_cuda_is_evaluated(self):
        cuda, cupti = backend("cuda"), program("libfake_cupti.so")
        if not cuda.exists() or not cupti.exists():
            self.skipTest("built without the backend for CUDA")
        done = self.unitrace("--chrome-kernel-logging", program("fake_cuda"), cuda, cupti, 10,
                             env=environment(UNITRACE_CUPTI=str(cupti)))
        self.assertEqual(done.returncode, 0, done.stderr)
        path, = self.timelines()
        rows = {r["name"]: r for r in kernels(path)}
        self.assertEqual(rows["relu"]["launches"], 8)
        self.assertIn(rows["relu"]["verdict"], RULES)


if __name__ == "__main__":
    main()
