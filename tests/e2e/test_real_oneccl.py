#!/usr/bin/env python3
"""oneCCL on Intel MPI: its API as tasks, its steps as events, on two ranks."""
# ci: labels mpi real
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "real"))
from count_support import CountCase, packages
from real_support import clean_env, main, need_unitrace, skip

need_unitrace()
BIN = packages()
LIB = BIN.parent / "lib"
for needed, package in ((BIN / "mpiexec.hydra", "impi-devel"), (LIB / "libmpi.so.12", "impi-devel"),
                        (LIB / "libccl.so.1", "oneccl-devel")):
    if not needed.exists():
        skip(f"long: {package} is not installed (tools/setup.sh real)")

RANKS = (BIN / "mpiexec.hydra", "-n", 2)


class OneCcl(CountCase):
    def words(self):
        # Without the linker's own checks: libccl needs the compiler's runtime, beside it.
        program = self.compile("oneccl.cpp", "-std=c++17", f"-I{BIN.parent}/include",
                               LIB / "libccl.so.1", LIB / "libmpi.so.12",
                               "-Wl,--allow-shlib-undefined")
        return f"LD_LIBRARY_PATH={LIB}", program

    def check_ranks(self, *words, **how):
        env = clean_env(I_MPI_ROOT=str(BIN.parent), I_MPI_FABRICS="shm", CCL_ATL_TRANSPORT="mpi",
                        CCL_ITT_LEVEL="1", CCL_LOG_LEVEL="error",
                        CCL_ZE_ENABLE="0")  # it wants more of a loader than Debian 12 has
        said, traces = self.counted(*words, prints="3", env=env, **how)
        self.assertEqual(len(traces), 2)
        for trace in traces:
            self.assertEqual(trace.names("oneCCL::API"),
                             {"allreduce": 10, "bcast": 10, "barrier": 1})
        self.assertGreater(said.of("event_start").total(), 0)

    def test_under_one_unitrace(self):
        library, program = self.words()
        self.check_ranks(library, *RANKS, program)

    def test_under_one_unitrace_per_rank(self):
        self.check_ranks(*self.words(), before=RANKS)


if __name__ == "__main__":
    main()
