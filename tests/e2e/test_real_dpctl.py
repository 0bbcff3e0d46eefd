#!/usr/bin/env python3
"""dpctl and dpnp on Intel's OpenCL for CPUs: the TBB inside, the commands on the device, and what the
SYCL runtime says about them (--chrome-sycl-logging)."""
# ci: labels slow real
import collections
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "real"))
from count_support import PACKAGES, CountCase, packages, real_python
from real_support import UNITRACE, Case, main, missing_module, need_unitrace, skip

need_unitrace()
PYTHON = real_python("dpctl")
VENDOR = packages().parent / "lib/libintelocl.so"
if not VENDOR.exists():
    skip("long: intel-opencl-rt is not installed (tools/setup.sh real)")
SYCL, KERNELS = "--chrome-sycl-logging", "--chrome-kernel-logging"
GROUP = "DPCTLQueue_SubmitRange"  # the runtime knows no better name of a kernel made from source


class Dpctl(CountCase):
    def run_kernels(self, *options):
        return self.counted(f"OCL_ICD_FILENAMES={VENDOR}", PYTHON, PACKAGES / "sycl.py",
                            options=options, prints="3200000")

    def test_the_runtime_speaks_through_tbb(self):
        said, _ = self.run_kernels()
        self.assertGreaterEqual(said.of("task_begin")["tbb", "tbb_parallel_for"], 5)

    def test_kernels_beside_it(self):
        said, (trace,) = self.run_kernels(KERNELS)
        self.assertGreaterEqual(said.of("task_begin")["tbb", "tbb_parallel_for"], 5)
        self.assertEqual(trace.names("kernel"), {"twice": 5})
        self.assertEqual(trace.names("OpenCL")["clEnqueueNDRangeKernel"], 5)


class Sycl(Case):
    """What XPTI tells, from the runtime itself; the program does not notice."""

    def record(self, script, *options):
        got = self.run_in(UNITRACE, *options, "-o", "t.json", "env",
                          f"OCL_ICD_FILENAMES={VENDOR}", PYTHON, PACKAGES / script)
        self.assertEqual(got.returncode, 0, got.stderr.decode(errors="replace"))
        trace, = self.traces()
        self.check(trace)
        return got.stdout.decode().splitlines()[-1], trace

    def of(self, trace, cat):
        return sorted((e for e in trace.slices if e["cat"] == cat),
                      key=lambda e: (e["ts"], -e["dur"]))

    def around(self, trace, call):
        return [e["name"] for e in self.of(trace, "SYCL")
                if e["tid"] == call["tid"] and e["ts"] <= call["ts"]
                and call["ts"] + call["dur"] <= e["ts"] + e["dur"]]

    def test_kernels_know_their_command_group(self):
        printed, trace = self.record("sycl.py", SYCL, KERNELS)
        self.assertEqual(printed, "3200000")
        groups = [e for e in self.of(trace, "SYCL") if e["name"] == GROUP]
        kernels = self.of(trace, "kernel")
        self.assertEqual((len(groups), len(kernels)), (5, 5))
        self.assertEqual([k["args"]["command group"] for k in kernels], [GROUP] * 5)
        self.assertEqual([k["args"]["node"] for k in kernels], [g["args"]["node"] for g in groups])
        launches = [e for e in self.of(trace, "OpenCL") if e["name"] == "clEnqueueNDRangeKernel"]
        self.assertEqual([self.around(trace, e) for e in launches], [[GROUP]] * 5)

    def test_memory_and_waits_of_dpctl(self):
        _, trace = self.record("sycl.py", SYCL)
        alloc, = [e for e in self.of(trace, "SYCL") if e["args"].get("bytes") == 400_000]
        free = [e for e in self.of(trace, "SYCL") if e["name"] == "free"
                and e["args"].get("address") == alloc["args"]["address"]]
        self.assertEqual(len(free), 1)
        waited = [e for e in self.of(trace, "SYCL") if e["name"] == "event.wait"]
        nodes = [e["args"]["node"] for e in self.of(trace, "SYCL") if e["name"] == GROUP]
        self.assertEqual(list(dict.fromkeys(e["args"].get("node") for e in waited)), nodes)

    def test_the_graph_of_dpnp(self):
        if missing_module(packages(), "dpnp"):
            self.skipTest("long: dpnp is not installed (tools/setup.sh real)")
        printed, trace = self.record("dpnp_graph.py", SYCL, KERNELS)
        self.assertEqual(printed, "999000")
        names = collections.Counter(e["name"] for e in self.of(trace, "SYCL"))
        self.assertEqual(names["barrier"], 1)
        self.assertGreaterEqual(names["edge create"], 4)
        self.assertGreaterEqual(names["buffer create"], 1)
        self.assertFalse([n for n in names if "typeinfo" in n or "[" in n])
        created = {e["args"]["node"]: e["args"]["command"] for e in self.of(trace, "SYCL")
                   if e["name"] == "node create"}
        for e in self.of(trace, "SYCL"):
            if e["name"] == "edge create":
                self.assertIn(e["args"]["from node"], created)
                self.assertIn(e["args"]["to node"], created)
        # every piece of work, also copies, came from a node that was announced
        work = self.of(trace, "kernel") + self.of(trace, "copy")
        self.assertGreaterEqual(len(work), 5)
        for e in work:
            self.assertEqual(created[e["args"]["node"]], e["args"]["command group"])

    def test_every_call_below_it_ends(self):
        _, trace = self.record("sycl.py", SYCL)
        calls = collections.Counter(e["name"] for e in self.of(trace, "UR"))
        self.assertEqual(sum(calls[n] for n in calls if n.startswith("urEnqueueKernelLaunch")), 5)
        self.assertFalse([e for e in self.of(trace, "UR") if e.get("args", {}).get("unfinished")])


if __name__ == "__main__":
    main()
