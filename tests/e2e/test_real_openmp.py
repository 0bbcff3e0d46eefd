#!/usr/bin/env python3
"""LLVM's OpenMP runtime: parallel regions as frames, how evenly they ran, the names of threads.

libomp 13 carries a static part of 2015 and crashes under a collector that takes its frames; there
the program has to run as if nobody looked.
"""
# ci: labels real
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "real"))
from real_support import BUILD, HERE, Case, main, need_unitrace

need_unitrace()

# Where the parallel regions begin: part of their names.
LINES = [n for n, text in enumerate((HERE / "openmp.c").read_text().splitlines(), 1)
         if text.startswith("#pragma omp parallel")]
BUILDS = (BUILD, HERE.parents[1] / "build")


def runtime(version):
    """The folder of a libomp: unpacked by tools/setup.sh test, or installed."""
    below = f"usr/lib/llvm-{version}/lib"
    for folder in (*(b / f"packages/libomp5-{version}" / below for b in BUILDS),
                   pathlib.Path("/") / below):
        if (folder / "libomp.so.5").exists():
            return folder
    return None


class OpenMp(Case):
    def recorded(self, version, *options):
        folder = runtime(version)
        if not folder:
            self.skipTest(f"libomp {version} is not installed (tools/setup.sh test)")
        program = self.compile("openmp.c", "-fopenmp", f"-Wl,-rpath,{folder}", compiler="clang-14")
        linked = self.run_in("ldd", program).stdout.decode()
        self.assertIn(f"{folder}/libomp.so.5", linked)
        printed, _ = self.record("-o", "t.json", *options, program)
        self.assertEqual(printed, "1498500 2\n")
        return self.trace()

    def check_regions(self, trace):
        regions = [e for e in trace.slices if e["cat"] == "OpenMP"]
        self.assertEqual([e["name"] for e in regions],
                         [f"main$omp$parallel:2@openmp.c:{line}:1"
                          for line in 3 * LINES[:1] + LINES[1:]])
        self.assertEqual({trace.threads[e["tid"]] for e in regions}, {"OpenMP"})
        for e in regions[:3]:
            self.assertEqual((e["args"]["schedule"], e["args"]["iterations"], e["args"]["line"]),
                             ("static", 1000, LINES[0]))
        uneven = regions[3]
        self.assertGreaterEqual(uneven["dur"], 30_000_000)
        # Alone on two cores it is 29 ms; both threads on one core can hide it.
        self.assertGreater(uneven["args"]["imbalance_ns"], 0)
        self.assertLess(uneven["args"]["imbalance_ns"], 2 * uneven["dur"])
        self.assertEqual([e for e in trace.instants if e["name"].startswith("omp_metadata")], [])

    def check_threads(self, trace):
        self.assertIn("OMP Primary Thread #0", trace.threads.values())
        version, = [e for e in trace.instants if e["cat"] == "mark"]
        self.assertTrue(version["name"].startswith("OMP RTL Version"), version)

    def test_regions_of_libomp_14(self):
        trace = self.recorded(14)
        self.check_regions(trace)
        self.check_threads(trace)

    def test_regions_of_libomp_19(self):
        trace = self.recorded(19)
        self.check_regions(trace)
        self.check_threads(trace)

    def test_libomp_13_survives(self):
        trace = self.recorded(13)
        self.check_threads(trace)
        self.assertEqual(trace.slices, [])

    def test_barriers_and_locks_when_asked_for(self):
        trace = self.recorded(14, "--itt-groups", "sync")
        self.check_regions(trace)
        waits = {e["name"] for e in trace.slices if e["cat"] == "sync"}
        self.assertTrue(any(n.startswith("wait OMP Join Barrier") for n in waits), waits)
        workers = [n for n in trace.threads.values() if n.startswith("OMP Worker Thread #")]
        self.assertEqual(len(workers), 1, trace.threads)


if __name__ == "__main__":
    main()
