"""MPI programs nobody here wrote, unchanged: LAMMPS, the HPC Challenge, Intel's MPI benchmarks.

Their results are those of a run without us, and what they did to each other is found in the traces.
Packages: tools/setup.sh real. What is not here is skipped aloud.
"""
# ci: labels slow mpi real long
import json
import os
import re
import shutil

import common
import mpi_support
from common import BUILD
from mpi_support import mpi_spans

common.need()
if os.environ.get("UNITRACE_LONG") != "1":
    common.skip("long: a minute of HPC programs")
RANKS = 4
MELT = """units lj
atom_style atomic
lattice fcc 0.8442
region box block 0 8 0 8 0 8
create_box 1 box
create_atoms 1 box
mass 1 1.0
velocity all create 1.44 87287 loop geom
pair_style lj/cut 2.5
pair_coeff 1 1 1.0 1.0 2.5
neighbor 0.3 bin
neigh_modify delay 0 every 20 check no
fix 1 all nve
thermo 20
run 100
"""


class Hpc(mpi_support.Case):
    def library(self, name):
        found = [lib for lib in mpi_support.libraries(every=True) if lib.name == name]
        if not found:
            self.skipTest(f"no {name} is here")
        found[0].env["OMP_NUM_THREADS"] = "1"
        return found[0]

    def both(self, name, *words):
        """What a program prints on its own, and recorded."""
        lib = self.library(name)
        alone = self.run_words(*lib.start(RANKS), *words, env=lib.environment())
        self.assertEqual(alone.returncode, 0, alone.stderr)
        return alone.stdout.decode(), self.record(lib, RANKS, *words).stdout.decode()

    def check_ranks(self):
        done = self.unitrace("ranks", "--json", *self.dir.glob("*.json"))
        self.assertEqual(done.returncode, 0, done.stderr)
        result = json.loads(done.stdout)
        self.assertEqual([r["rank"] for r in result["ranks"]], list(range(RANKS)))
        self.assertEqual((result["single_ends"], result["backwards"]), (0, 0))
        return result

    def test_lammps(self):
        if not shutil.which("lmp"):
            self.skipTest("lmp is not here (lammps)")
        (self.dir / "in.melt").write_text(MELT)
        def table(text):
            return re.search(r"^Step .*?(?=^Loop)", text, re.S | re.M)[0]

        alone, recorded = self.both("openmpi", "lmp", "-in", "in.melt", "-log", "none")
        self.assertEqual(table(recorded), table(alone))
        result = self.check_ranks()
        self.assertGreater(result["messages"], 1000)

    def test_hpcc(self):
        if not shutil.which("hpcc"):
            self.skipTest("hpcc is not here (hpcc)")
        shutil.copy("/usr/share/doc/hpcc/examples/_hpccinf.txt", self.dir / "hpccinf.txt")
        self.record(self.library("openmpi"), RANKS, "hpcc")
        said = (self.dir / "hpccoutf.txt").read_text()
        self.assertIn("0 tests completed and failed residual checks", said)
        self.assertIn("Success=1", said)
        self.assertNotIn("FAILED", said)
        self.assertEqual(set(re.findall(r"Found (\d+) errors", said)), {"0"})
        self.check_ranks()

    def test_intel_benchmarks(self):
        for program in "IMB-MPI1", "IMB-NBC", "IMB-RMA":
            path = BUILD / "venv-real/bin" / program
            if not path.exists():
                self.skipTest("Intel's benchmarks are not here (impi-devel)")
            alone, recorded = self.both("intel", path, "-msglog", "0:4", "-iter", "10", "-npmin", "4")
            named = re.compile(r"^# Benchmarking (.*?) *$", re.M)
            self.assertEqual(named.findall(recorded), named.findall(alone))
            self.assertIn("All processes entering MPI_Finalize", recorded)
            self.check_ranks()
            for trace in self.traces().values():
                self.assertGreater(len(mpi_spans(trace)), 1000)
            for file in self.dir.glob("*.json"):
                file.unlink()


if not any((shutil.which("lmp"), shutil.which("hpcc"), (BUILD / "venv-real/bin/IMB-MPI1").exists())):
    common.skip("long: no HPC program is here: lmp, hpcc, IMB-MPI1 (tools/setup.sh real)")

if __name__ == "__main__":
    common.main()
