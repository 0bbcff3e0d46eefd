"""unitrace roofline: the example of Intel's tool gives Intel's numbers, pictures hold what they say, an
application is run once for each group of metrics, and a device is measured by the program for that."""
import json
import os
import pathlib
import shutil
import subprocess
import unittest
from xml.etree import ElementTree

from common import SOURCE, UNITRACE, Case, main, program, skip
from device_support import backend

if not UNITRACE.exists():
    skip(f"{UNITRACE} is not built")

SHARED = pathlib.Path(os.environ.get("UNITRACE_SHARED", SOURCE.resolve().parent / "shared"))
EXAMPLE = SHARED / "data/unitrace/roofline"
INPUTS = SOURCE / "tests/golden/inputs/roofline"
CHIP, GPU = INPUTS / "chip.csv", INPUTS / "gpu.csv"
SVG = "{http://www.w3.org/2000/svg}"

# Stands in for a recorder: notes how it was called, leaves the metrics of its group where -o says.
RECORDER = """#!/bin/sh
echo "$@" >>"$CALLS"
while [ "$1" != -o ]; do [ "$1" = --group ] && group=$2; shift; done
out=$2; shift 2
[ "$group" = none ] || cp "$INPUTS/$group" "${out%.json}.metrics.$$.csv"
for word in "$@"; do echo "<$word>" >>"$CALLS"; done
exit ${STATUS:-0}
"""
# Stands in for nvcc: the "program" that it makes prints a device file.
NVCC = """#!/bin/sh
while [ $# -gt 0 ]; do case "$1" in *.cu) grep -q 'A roof is' "$1" || exit 9;; -o) out=$2;; esac; shift; done
printf '#!/bin/sh\\necho PlatformName,Fake\\necho FP32_GFLOPS,%s\\n' "$PEAK" >"$out"
chmod +x "$out"
"""


class Roofline(Case):
    def run_it(self, *words, status=0, **env):
        done = subprocess.run([UNITRACE, "roofline", *map(str, words)], capture_output=True, text=True, cwd=self.dir,
                              env={**os.environ, **{k: str(v) for k, v in env.items()}})
        if status is not None:
            self.assertEqual(done.returncode, status, done.stderr)
        return done

    def kernels(self, *words, **env):
        return json.loads(self.run_it(*words, "--json", **env).stdout)

    def script(self, name, text):
        path = self.dir / name
        path.write_text(text)
        path.chmod(0o755)
        return path

    # ---- numbers ----

    @unittest.skipUnless(EXAMPLE.exists(), "no toolkit: the reference data is not here (UNITRACE_SHARED)")
    def test_the_example_gives_the_numbers_of_the_original(self):
        flops, bytes_ = EXAMPLE / "gemm_fp16_flops.1799853", EXAMPLE / "gemm_fp16_bytes.1799860"
        device = EXAMPLE / "PVC_1tile.csv"
        for compute, memory in ((flops, bytes_), (bytes_, flops)):
            gemm, test = self.kernels("--compute", compute, "--memory", memory, "--device", device)
            self.assertTrue(gemm["kernel"].startswith("hgemm_nocopy_nn_64x40_4x8[SIMD16"))
            self.assertAlmostEqual(gemm["share"], 94.25, places=2)
            self.assertAlmostEqual(gemm["rate_gflops"], 227013.6, places=1)
            self.assertAlmostEqual(gemm["intensity"]["dram"], 1060.3, places=1)
            self.assertAlmostEqual(gemm["intensity"]["l3"], 156.9, places=1)
            self.assertEqual((gemm["kind"], gemm["bound"]), ("compute", "fp16_tensor"))
            self.assertAlmostEqual(gemm["reached"], 100 * 227013.6 / 314000, places=2)
            self.assertEqual(test["unit"], None)
        lines = self.run_it(flops, bytes_, "--device", device, "--original").stdout.splitlines()
        self.assertEqual(lines[3:8], ["FP16_total TFlop : 512000000", "FP16_XMX_total TFlop : 2097152000000",
                                      "BF16_XMX_total TFlop : 0", "FP32_total Tflop : 518553600",
                                      "FP64_total Tflop : 0"])
        self.assertAlmostEqual(float(lines[9].rsplit(" ", 1)[1]), 214062.69, places=2)
        row = lines[1].split(" , ")
        self.assertEqual(float(row[8]), 2097152000000)
        self.assertEqual(row[0], "hgemmnocopynnxxSIMD")
        self.assertEqual(row[3], "compute")
        self.assertAlmostEqual(float(row[9]), 227013.6, places=1)

    def test_old_and_new_layout_say_the_same(self):
        new = {k["kernel"]: k for k in self.kernels(INPUTS / "flops.csv", INPUTS / "bytes.csv", "--device", GPU)}
        old = self.kernels(INPUTS / "old.flops", INPUTS / "old.bytes", "--device", GPU)
        self.assertEqual(len(old), 3)  # the old one has no place for a name with a comma
        for kernel in old:
            kernel.pop("share"), new[kernel["kernel"]].pop("share")
            self.assertEqual(kernel, new[kernel["kernel"]])

    def test_tiles_work_at_once_and_samples_follow_each_other(self):
        head = "\n=== Device #0 Metrics ===\n\n"
        (self.dir / "tiles.csv").write_text(
            head + "Kernel,GlobalInstanceId,SubDeviceId,GpuTime[ns],GPU_MEMORY_BYTE_READ[bytes]\n"
            '"k[SIMD16 {1; 1; 1} {1; 1; 1}]",1,0,1000000,40000000\n"k[SIMD16 {1; 1; 1} {1; 1; 1}]",1,1,800000,40000000\n\n'
            '"k[SIMD16 {1; 1; 1} {1; 1; 1}]",2,0,1000000,0\n\n')
        (self.dir / "samples.csv").write_text(
            head + "Kernel, GlobalInstanceId, GpuTime[ns], dram__bytes_read.sum[bytes], QueryBeginTime[ns]\n"
            '"k", 1, 500000, 40000000, 1\n"k", 1, 500000, 30000000, 2\n\n"k", 2, 1000000, 10000000, 3\n\n')
        for name in ("tiles.csv", "samples.csv"):
            kernel, = self.kernels(name, "--device", GPU)
            self.assertEqual((kernel["instances"], kernel["time_ns"], kernel["bytes"]["dram"], kernel["reached"]),
                             (2, 2000000, 80000000, 40), name)

    # ---- pictures ----

    def test_pictures_hold_what_they_say(self):
        for name in ("roof.svg", "roof.pdf", "roof.png"):
            done = self.run_it(INPUTS / "run.metrics.12.csv", "--device", CHIP, "--output", name, status=None)
            if "cairo" in done.stderr and done.returncode:
                self.skipTest("no cairo: PDF and PNG are not written")
        root = ElementTree.parse(self.dir / "roof.svg").getroot()
        texts = ["".join(t.itertext()) for t in root.iter(f"{SVG}text")]
        self.assertIn("saxpy", texts)
        self.assertTrue(any("16 TFLOP/s" in t for t in texts), texts)
        notes = [t.text for d in root.iter(f"{SVG}circle") for t in d.iter(f"{SVG}title")]
        self.assertTrue(any("nvjet_hsh_128x256 (16.7 % of the time) is compute bound" in n for n in notes), notes)
        self.assertEqual((self.dir / "roof.png").read_bytes()[:8], b"\x89PNG\r\n\x1a\n")
        if shutil.which("pdftotext"):
            text = subprocess.run(["pdftotext", self.dir / "roof.pdf", "-"], capture_output=True, text=True).stdout
            self.assertIn("Arithmetic intensity", text)
            self.assertIn("nvjet_hsh_128x256", text)

    # ---- an application ----

    def test_an_application_runs_once_for_each_group(self):
        recorder, calls = self.script("recorder", RECORDER), self.dir / "calls"
        common = {"CALLS": calls, "INPUTS": INPUTS, "TMPDIR": self.dir / "tmp"}
        (self.dir / "tmp").mkdir()
        two = self.kernels("--app", "./app 'a b' --x", "--device", GPU, "--unitrace", recorder, "--groups",
                           "bytes.csv,flops.csv", **common)
        self.assertEqual([k["bound"] for k in two], ["dram", "fp16_tensor", "fp64", None])
        lines = calls.read_text().splitlines()
        self.assertEqual([line for line in lines if line[0] == "<"], ["<./app>", "<a b>", "<--x>"] * 2)
        self.assertEqual([line.split()[:3] for line in lines if line[0] != "<"],
                         [["-q", "--group", "bytes.csv"], ["-q", "--group", "flops.csv"]])
        calls.unlink()
        one = self.kernels("--app", "app", "--device", CHIP, "--unitrace", recorder, "--groups", "run.metrics.12.csv",
                           **common)
        self.assertEqual(len(one), 4)
        self.assertEqual(len(calls.read_text().splitlines()), 2)
        self.assertEqual(list((self.dir / "tmp").iterdir()), [], "nothing is left behind")

    def test_our_recorder_measures_an_application(self):
        cuda, cupti, app = backend("cuda"), program("libfake_cupti.so"), program("fake_cuda")
        if not (cuda.exists() and cupti.exists() and app.exists()):
            self.skipTest("the CUDA backend or its fake is not built")
        (self.dir / "tmp").mkdir()
        done = self.run_it("--app", f"{app} {cuda} {cupti} 4", "--device", "h200", "--json", UNITRACE_CUPTI=cupti,
                           TMPDIR=self.dir / "tmp")
        found = json.loads(done.stdout[done.stdout.index("[{"):])
        self.assertEqual(sorted((k["kernel"].split("[")[0].split("(")[0], k["instances"]) for k in found),
                         [("matmul", 2), ("relu", 2)])
        self.assertEqual(sum(k["time_ns"] for k in found), 1000 + 1001 + 1002 + 1003)
        self.assertTrue(all(k["bytes"]["dram"] > 0 and k["flop"]["fp32"] > 0 for k in found))
        self.assertEqual([p.name for p in self.dir.iterdir()], ["tmp"], "nothing is left where the program ran")
        self.assertEqual(list((self.dir / "tmp").iterdir()), [])

    def test_groups_follow_the_device(self):
        recorder, calls = self.script("recorder", RECORDER), self.dir / "calls"
        for device, groups in ((GPU, ["ComputeBasic", "VectorEngine138"]), (CHIP, ["Roofline"])):
            calls.write_text("")
            self.run_it("--app", "app", "--device", device, "--unitrace", recorder, status=1, CALLS=calls, INPUTS="/nowhere")
            self.assertEqual([line.split()[2] for line in calls.read_text().splitlines() if line[0] == "-"], groups)

    def test_an_application_that_fails_is_reported_and_what_it_left_is_taken(self):
        recorder = self.script("recorder", RECORDER)
        common = {"CALLS": self.dir / "calls", "INPUTS": INPUTS, "STATUS": 3}
        done = self.run_it("--app", "app", "--device", CHIP, "--unitrace", recorder, "--groups", "run.metrics.12.csv",
                           **common)
        self.assertIn("ended with status 3", done.stderr)
        self.assertIn("4 kernels", done.stdout)
        done = self.run_it("--app", "app", "--device", CHIP, "--unitrace", recorder, "--groups", "none", status=1, **common)
        self.assertIn("no such file of metrics", done.stderr)
        done = self.run_it("--app", "app", "--device", CHIP, "--unitrace", "./missing", status=1)
        self.assertIn("./missing", done.stderr)

    # ---- a device ----

    def test_a_device_is_measured_by_the_program_for_that(self):
        self.script("nvcc", NVCC)
        path = f"{self.dir}:{os.environ['PATH']}"
        self.run_it("--measure-device", "--output", "mine.csv", PATH=path, PEAK=1234)
        self.assertEqual((self.dir / "mine.csv").read_text(), "PlatformName,Fake\nFP32_GFLOPS,1234\n")
        done = self.run_it("--measure-device", "--output", "other.csv", status=1, PATH=path, PEAK="much")
        self.assertIn("no number", done.stderr)
        self.assertFalse((self.dir / "other.csv").exists())
        self.script("nvcc", "#!/bin/sh\nexit 1\n")
        done = self.run_it("--measure-device", status=1, PATH=path)
        self.assertIn("could not build", done.stderr)


if __name__ == "__main__":
    main()
