#!/usr/bin/env python3
"""oneDNN: its primitives on every thread that works, and the kernels that it compiles."""
# ci: labels real
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "real"))
from real_support import Case, clean_env, main, need_unitrace

need_unitrace()

EXECUTE = "dnnl::primitive::execute"


class OneDnn(Case):
    def recorded(self, *options, **env):
        program = self.compile("onednn.cpp", "-ldnnl")
        printed, _ = self.record("-o", "t.json", *options, program,
                                 env=clean_env(OMP_NUM_THREADS="2", **env))
        self.assertEqual(printed, "72 64\n")
        return self.trace()

    def test_primitives_on_every_thread(self):
        trace = self.recorded()
        self.assertEqual(len({e["tid"] for e in trace.slices}), 2)
        for tid in {e["tid"] for e in trace.slices}:
            self.assertEqual(trace.paths(tid), 3 * ["convolution", "matmul"])
        self.assertEqual(trace.domains(), {EXECUTE})

    def test_level_1_is_the_calling_thread_alone(self):
        trace = self.recorded(DNNL_ITT_TASK_LEVEL="1")
        self.assertEqual({e["tid"] for e in trace.slices}, {trace.slices[0]["pid"]})
        self.assertEqual(len(trace.slices), 6)

    def test_compiled_kernels(self):
        kernels = [e for e in self.recorded().instants if e["cat"] == "jit"]
        self.assertGreater(len(kernels), 0)
        for e in kernels:
            self.assertRegex(e["name"], "^jit_")
            self.assertGreater(e["args"]["bytes"], 0)
            self.assertRegex(e["args"]["file"], r"src/cpu/x64/.*pp")

    def test_only_what_the_option_says(self):
        self.assertEqual(self.recorded("--chrome-dnn-logging").domains(), {EXECUTE})
        (self.dir / "t.json").unlink()
        # Nothing of oneCCL here: neither tasks nor compiled kernels, so no timeline at all.
        _, said = self.record("-o", "t.json", "--chrome-ccl-logging",
                              self.compile("onednn.cpp", "-ldnnl"))
        self.assertIn("No event of interest is logged", said)
        self.assertEqual(self.traces(), [])


if __name__ == "__main__":
    main()
