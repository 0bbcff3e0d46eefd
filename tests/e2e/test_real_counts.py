#!/usr/bin/env python3
"""Programs of the other tests, counted by a shim of its own: all that they say is in the timeline."""
# ci: labels slow real
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "real"))
from count_support import CountCase
from real_support import HERE, clean_env, main, missing_module, need_unitrace, venv

need_unitrace()

FLOW_PRINTS = "graph 46970\nloop 5000050000\ngroup 45\npipeline 90\n"


class Counts(CountCase):
    def flow(self, *options):
        program = self.compile("tbb_flow.cpp", "-std=c++17", "-ltbb", "-pthread")
        printed, said = self.count(program, options=options)
        self.assertEqual(printed, FLOW_PRINTS)
        return said, [self.trace()]

    def test_tasks_of_tbb(self):
        # Its regions are begun again and again while they are open: one span each.
        said, traces = self.flow()
        self.assertGreater(said.of("task_begin").total(), 80)
        self.check_tasks(said, traces)

    def test_the_shim_counts_what_the_timeline_does_not_hold(self):
        said, traces = self.flow("--itt-domains", "tbb.flow")
        self.assertGreater(said.of("task_begin")["tbb", "tbb_parallel_for"], 0)
        with self.assertRaises(AssertionError):
            self.check_tasks(said, traces)

    def test_frames_of_openmp(self):
        said, _ = self.counted(self.compile("openmp.c", "-fopenmp", compiler="clang-14"),
                               prints="1498500 2")
        self.assertEqual(said.of("frame_submit_v3").total(), 10)

    def test_primitives_and_kernels_of_onednn(self):
        said, _ = self.counted(self.compile("onednn.cpp", "-ldnnl"), prints="72 64",
                               env=clean_env(OMP_NUM_THREADS="2"))
        self.assertEqual(said.of("task_begin").total(), 12)
        self.assertGreater(said.of("jit_load").total(), 0)

    def test_operators_of_pytorch(self):
        try:
            folder = venv()
        except SystemExit:  # for a whole file; the others of this one need no Python
            self.skipTest("no virtual environment (tools/setup.sh test)")
        reason = missing_module(folder, "torch")
        if reason:
            self.skipTest(reason)
        said, _ = self.counted(folder / "python", HERE / "pytorch/sample.py",
                               env=clean_env(OMP_NUM_THREADS="2", PYTHONWARNINGS="ignore"))
        self.assertEqual(said.of("task_begin")["PyTorch", "aten::conv2d"], 3)


if __name__ == "__main__":
    main()
