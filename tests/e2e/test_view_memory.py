"""The viewer's memory hierarchy in a headless Chromium, over HTTP and in one file, of an NVIDIA and an Intel device:
its figures are those of the metrics in the trace, what is bad is red with a reason, what was not measured is said with
how to measure it. Skipped without the page, node, Chromium or playwright-core."""
# ci: labels slow browser
import collections
import csv
import io
import json
import unittest

from common import SOURCE, UNITRACE, main, skip
from view_support import ViewCase, unitrace

if not UNITRACE.exists():
    skip(f"{UNITRACE} is not built")

DEVICE = 1 << 30 | 1
H200 = SOURCE / "tests/golden/inputs/h200"
HOSTILE = "<img src=x onerror=alert(1)>(float*)"
# as -q -g Roofline and ComputeBasic write them
COPY = {"GpuTime[ns]": 132000, "dram__bytes_read.sum[bytes]": 246800000, "dram__bytes_write.sum[bytes]": 246100000,
        "lts__t_sectors_srcunit_tex.sum[sectors]": 16000000, "lts__t_sectors_srcunit_tex_op_read.sum[sectors]": 8100000,
        "lts__t_sectors_srcunit_tex_op_write.sum[sectors]": 7900000, "lts__t_sector_hit_rate.pct[%]": 48.5,
        "l1tex__t_bytes.sum[bytes]": 520000000, "l1tex__t_sector_hit_rate.pct[%]": 4.0,
        "l1tex__data_pipe_lsu_wavefronts_mem_shared.sum[cycles]": 1000000,
        "dram__throughput.avg.pct_of_peak_sustained_elapsed[%]": 80.9,
        "sm__cycles_active.avg.pct_of_peak_sustained_elapsed[%]": 97.0,
        "sm__warps_active.avg.pct_of_peak_sustained_active[%]": 93.4}
OTHER = {**COPY, "dram__bytes_read.sum[bytes]": 253200000}
GAMMA = {"dram__bytes_read.sum[bytes]": 2500000, "dram__bytes_write.sum[bytes]": 1300000}
TRITON = {"GpuTime[ns]": 544000, "XVE_ACTIVE[%]": 67.7, "XVE_STALL[%]": 31.1, "XVE_THREADS_OCCUPANCY_ALL[%]": 97.3,
          "L3_BYTE_READ[bytes]": 67728000, "L3_BYTE_WRITE[bytes]": 133443200,
          "GPU_MEMORY_BYTE_READ[bytes]": 2284800, "GPU_MEMORY_BYTE_WRITE[bytes]": 870400}
LINKS = {"pcie__read_bytes.sum": 400000, "pcie__write_bytes.sum": 100000, "nvlrx__bytes.sum": 0, "nvltx__bytes.sum": 0}


def trace(device, kernels, links=None):
    """Kernels one after the other, and counters every 20 us."""
    events, at = [{"ph": "X", "name": "step", "pid": 300, "tid": 300, "ts": 1000, "dur": 3000, "cat": "train"}], 1010
    for name, grid, dur, args in kernels:
        events.append({"ph": "X", "name": name, "pid": DEVICE, "tid": DEVICE + 1, "ts": at, "dur": dur, "cat": "kernel",
                       "args": {"grid": grid, "block": "512x1x1", "registers": 32, **args}})
        at += dur + 10
    for name, value in (links or {}).items():
        events += [{"ph": "C", "name": name, "pid": DEVICE, "tid": DEVICE, "ts": 1000 + 20 * i, "args": {"bytes": value}}
                   for i in range((at - 1000) // 20)]
    about = {"counters": {name: {"unit": "bytes"} for name in links}} if links else {}
    return {"traceEvents": events, "otherData": {"tool": "unitrace", "version": "0.0.9", "clock": "CLOCK_MONOTONIC", "processes": [
        {"pid": 300, "name": "python", "host": "box"},
        {"pid": DEVICE, "os_pid": 300, "name": device, "host": "box", **about}]}}


def levels(kernel):
    return {r["level"]: {k: float(v) if v and k != "level" else None for k, v in r.items()}
            for r in csv.DictReader(io.StringIO(kernel["levels"]))}


class Memory(ViewCase):
    script = "view_memory.js"

    def check_level(self, seen, read, written, both, ns):
        for key, wanted in (("read", read), ("written", written), ("bytes", both), ("rate", both / ns)):
            if wanted is None:
                self.assertIsNone(seen[key], key)
            else:
                self.assertAlmostEqual(seen[key], wanted, delta=wanted * 1e-9, msg=key)

    def check_h200(self, seen):
        self.assertEqual((seen["errors"], seen["axe"], seen["width"]), ([], [], 420))
        self.assertEqual(seen["cards"], ["Memory hierarchy", "Kernels", "Levels of memory"])  # what chooses lies below what is chosen
        self.assertIn("L12", seen["heads"])  # both ways
        self.assertTrue(all(h.endswith("1") for h in seen["heads"] if h.startswith(("read", "write"))), seen["heads"])
        copy, gamma, bare = seen["kernels"]["copy(float4*)"], seen["kernels"]["gamma(float*)"], seen["kernels"][HOSTILE]
        got = levels(copy)
        self.check_level(got["HBM"], 250000000, 246100000, 496100000, 132000)  # of two launches, on average
        self.check_level(got["L2"], 8100000 * 32, 7900000 * 32, 16000000 * 32, 132000)
        self.check_level(got["L1"], None, None, 520000000, 132000)
        self.check_level(got["Shared"], None, None, 128000000, 132000)
        self.assertAlmostEqual(got["HBM"]["used"], 0.809)  # as the device says
        self.assertAlmostEqual(got["L2"]["used"], 512000000 / 132000 / 9829)  # against the device file
        self.assertEqual((got["L2"]["hits"], got["L1"]["hits"], got["HBM"]["hits"]), (0.485, 0.04, None))
        self.assertEqual(copy["Bandwidth"], ["3.939 TB/s", "969.7 GB/s", "1.964 TB/s", "1.915 TB/s", "1.894 TB/s", "1.864 TB/s"])
        self.assertEqual(copy["Total size"], ["1.040 GB", "256.0 MB", "518.4 MB", "505.6 MB", "500.0 MB", "492.2 MB"])
        self.assertEqual(copy["% of maximum"], ["12.2 %", "2.9 %", "20.0 %", "19.5 %", "41.0 %", "40.4 %"])
        self.assertEqual((len(copy["bad"]), copy["missing"]), (1, []))
        self.assertIn("HBM", copy["bad"][0])
        self.assertIn("bound by DRAM", copy["why"][0])
        self.assertTrue(any("25.00 GB/s" in b for b in copy["boxes"]), copy["boxes"])  # PCIe: 500 kB every 20 us
        self.assertIn("97.0 %", copy["engine"])
        self.check_level(levels(gamma)["HBM"], 2500000, 1300000, 3800000, 40000)  # without GpuTime: the slice's own
        self.assertEqual(gamma["Bandwidth"][:4], ["–", "–", "–", "62.50 GB/s"])  # one arrow where L2 is not known
        self.assertIn("16 blocks", " ".join(gamma["why"]))
        self.assertRegex(gamma["missing"][0], "L2, L1, Shared.*-q -g Memory.*-q -g Roofline")
        self.assertEqual(set(bare["Bandwidth"]), {"–"})
        self.assertIn("not measured", bare["label"])

    def test_figures_are_those_of_the_trace(self):
        path = self.dir / "h200.json"
        path.write_text(json.dumps(trace("DEVICE [NVIDIA H200] cuda:0 #0", [
            ("copy(float4*)", "1056x1x1", 132, COPY), ("copy(float4*)", "1056x1x1", 132, OTHER),
            ("gamma(float*)", "16x1x1", 40, GAMMA), (HOSTILE, "2640x1x1", 90, {})], LINKS)))
        unitrace("view", path, "--save", self.dir / "h200.html")
        for seen in self.serve_and_look([path], self.dir / "h200.html"):
            self.check_h200(seen)

    def test_a_recording_of_an_h200_shows_the_figures_of_its_table(self):
        """Recorded on one with -q -g Memory: six kernels, twenty launches each, and the CSV file beside it."""
        if "zst" not in unitrace("--version"):
            raise unittest.SkipTest("built without zstd")
        sums = collections.defaultdict(collections.Counter)
        for row in csv.DictReader((H200 / "memory.csv").read_text().splitlines()[1:]):
            sums[row["Kernel"].split("[SIMD")[0]].update({k: float(v) for k, v in row.items() if k.endswith(("[bytes]", "[ns]", "[sectors]"))})
        unitrace("view", H200 / "memory.utr.zst", "--save", self.dir / "real.html")
        seen = self.look((self.dir / "real.html").as_uri())[0]
        self.assertEqual((seen["errors"], set(seen["kernels"])), ([], set(sums)))
        for name, of in sums.items():
            got = levels(seen["kernels"][name])
            self.assertAlmostEqual(got["HBM"]["read"], of["dram__bytes_read.sum[bytes]"] / 20, delta=0.5, msg=name)
            self.assertAlmostEqual(got["HBM"]["written"], of["dram__bytes_write.sum[bytes]"] / 20, delta=0.5, msg=name)
            self.assertAlmostEqual(got["L2"]["bytes"], of["lts__t_bytes.sum[bytes]"] / 20, delta=0.5, msg=name)
            self.assertAlmostEqual(got["L1"]["bytes"], of["l1tex__t_bytes.sum[bytes]"] / 20, delta=0.5, msg=name)
            both = of["dram__bytes_read.sum[bytes]"] + of["dram__bytes_write.sum[bytes]"]
            self.assertAlmostEqual(got["HBM"]["rate"], both / of["GpuTime[ns]"], delta=1e-3 * both / of["GpuTime[ns]"], msg=name)

    def test_metrics_of_two_runs_stand_beside_each_other(self):
        for name, read, dur in (("before", 246800000, 132), ("after", 250000000, 140)):
            (self.dir / f"{name}.json").write_text(json.dumps(trace("DEVICE [NVIDIA H200] cuda:0 #0", [
                ("copy(float4*)", "1056x1x1", dur, {**COPY, "dram__bytes_read.sum[bytes]": read})])))
        unitrace("view", "--compare", self.dir / "before.json", self.dir / "after.json", "--save", self.dir / "two.html")
        seen = self.look((self.dir / "two.html").as_uri())[0]
        self.assertEqual(seen["errors"], [])
        row = next(csv.DictReader(io.StringIO(seen["two"]["Metrics"])))
        key = "dram__bytes_read.sum[bytes]"
        self.assertEqual((row["kernel"], float(row[key + ".a"]), float(row[key + ".b"]), float(row[key + ".diff"])),
                         ("copy(float4*)", 246800000, 250000000, 3200000))
        self.assertEqual((float(row["time.a_ns"]), float(row["time.b_ns"]), float(row["time.diff_ns"])), (132000, 140000, 8000))
        device = next(csv.DictReader(io.StringIO(seen["two"]["Devices"])))
        self.assertEqual((float(device["busy.a_ns"]), float(device["busy.diff_ns"])), (132000, 8000))

    def test_intels_hierarchy_is_drawn_as_it_is(self):
        path = self.dir / "pvc.json"
        path.write_text(json.dumps(trace("DEVICE [Intel(R) Data Center GPU Max 1550] L0 #0",
                                         [("triton_fused_0_0d1d2d3d4d", "32768x1x1", 544, TRITON)])))
        unitrace("view", path, "--save", self.dir / "pvc.html")
        seen = self.look((self.dir / "pvc.html").as_uri())[0]
        self.assertEqual((seen["errors"], seen["axe"]), ([], []))
        kernel = seen["kernels"]["triton_fused_0_0d1d2d3d4d"]
        self.assertEqual(list(levels(kernel)), ["HBM", "L3", "L1", "SLM"])
        self.assertEqual(kernel["Bandwidth"], ["–", "–", "124.5 GB/s", "245.3 GB/s", "4.200 GB/s", "1.600 GB/s"])
        self.assertTrue({"67.7 %", "31.1 % ⚑", "1.2 %", "97.3 %"} <= set(kernel["engine"]), kernel["engine"])
        self.assertIn("wait 31.1 % of the time", kernel["why"][0])
        self.assertRegex(kernel["missing"][0], "L1, SLM.*-q -g ComputeBasic")


if __name__ == "__main__":
    main()
