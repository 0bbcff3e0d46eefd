"""GPU analyses started as the page does it, without a GPU: a fake CUPTI plays what a device does. A real one:
tests/device/test_serve.py."""
import collections
import csv
import os

import common
from code_support import nvdisasm
from common import SOURCE, program
from device_support import backend, need_backend
from serve_gpu import GpuRuns, column
from serve_support import Server

need_backend("cuda")
common.need("fake_cuda")
CUPTI = program("libfake_cupti.so")
if found := nvdisasm():
    os.environ["UNITRACE_NVDISASM"] = str(found)
H200 = SOURCE / "tests/golden/inputs/h200"
READ, WRITTEN = "dram__bytes_read.sum[bytes]", "dram__bytes_write.sum[bytes]"


class Fake(GpuRuns):
    chosen = "matmul"

    def what(self):
        env = {"UNITRACE_CUPTI": CUPTI, "FAKE_CUPTI_LONG": 1, "FAKE_CUPTI_CUBIN": SOURCE / "tests/data/cuda/kernels.cubin"}
        return {"application": str(program("fake_cuda")), "arguments": [str(backend("cuda")), str(CUPTI), "10"],
                "environment": [{"name": k, "value": str(v)} for k, v in env.items()]}

    def test_gpu_offload(self):
        self.check_offload()

    def test_gpu_compute_hotspots_of_chosen_kernels(self):
        self.check_hotspots()

    def test_metrics_over_time(self):
        self.check_metrics_over_time()

    def test_stalls(self):
        self.check_stalls()

    def test_roofline(self):
        self.check_roofline()

    def test_where_counters_are_not_shown_it_is_said(self):
        for analysis, function in (("gpu-hotspots", "RangeProfilerEnable"), ("gpu-metrics", "PmSamplingEnable"),
                                   ("stalls", "PCSamplingEnable"), ("roofline", "RangeProfilerEnable")):
            what = self.what()
            what["environment"].append({"name": "FAKE_CUPTI_REFUSE", "value": f"{function}:35"})
            name = self.do("POST", "/projects/p/runs", {"what": "launch", **what, "analysis": analysis})["result"]
            got = self.wait_for("p", name)
            self.assertEqual(got["state"], "ready")
            self.assertRegex(got["trouble"], "no hardware metrics: .*ERR_NVGPUCTRPERM")


class Recorded(Server):
    def test_a_recording_of_an_h200_has_the_figures_of_its_table(self):
        """Uploaded, and asked through the server as the page does; the picture itself: test_view_memory.py."""
        if b"zst" not in self.unitrace("--version").stdout:
            self.skipTest("built without zstd")
        sums, launches = collections.defaultdict(collections.Counter), collections.Counter()
        for row in csv.DictReader((H200 / "memory.csv").read_text().splitlines()[1:]):
            kernel = row["Kernel"].split("[SIMD")[0]
            launches[kernel] += 1
            sums[kernel].update({key: float(row[key]) for key in (READ, WRITTEN)})
        self.start()
        self.project()
        name = self.do("POST", "/projects/p/results?file=memory.utr.zst", (H200 / "memory.utr.zst").read_bytes())["result"]
        self.until(lambda i: "read" not in i, lambda: self.ask("p", name, "info"))
        table = self.ask("p", name, "sheet", tool="metrics", name="metrics")["kernels"]
        kernels = column(table, "kernel")
        self.assertEqual(set(kernels), set(sums))
        for key in (READ, WRITTEN):
            for kernel, value in zip(kernels, column(table, key)):
                self.assertAlmostEqual(value, sums[kernel][key] / launches[kernel], delta=0.5, msg=f"{kernel} {key}")


if __name__ == "__main__":
    common.main()
