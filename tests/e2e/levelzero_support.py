"""What the tests of Level Zero share: programs of ours on the simulated driver, and what that says."""
import collections
import ctypes.util
import re

import common
from device_support import DeviceTrace, need_backend

KERNELS, CALLS, WORK = "--chrome-kernel-logging", "--chrome-call-logging", "--chrome-device-logging"
FOLDER = common.BUILD / "tests" / "levelzero"
DRIVER = FOLDER / "libze_simulated.so"
TICK = 80  # ns, of the simulated clock
NEAR = 20_000  # ns; by how much a time may be off beside what the recording says itself

Done = collections.namedtuple("Done", "kind device engine begin end name")


def need_levelzero():
    need_backend("levelzero")
    if not DRIVER.exists():
        common.skip("the simulated driver is not built (libze-dev is missing)")
    if not ctypes.util.find_library("ze_loader"):
        common.skip("libze_loader.so.1 is not installed (libze1)")


class Case(common.Case):
    def environment(self, simulated="", **more):
        self.log = self.dir / "sim.log"
        self.log.unlink(missing_ok=True)
        more.setdefault("ZE_ENABLE_ALT_DRIVERS", str(DRIVER))
        return common.environment(ZE_SIMULATED=f"log={self.log} {simulated}", **more)

    def bare(self, program, *words, simulated="", **more):
        return self.run_words(FOLDER / program, *words, env=self.environment(simulated, **more))

    def submitted(self, done):
        return int(re.findall(rb"^submitted (\d+)$", done.stdout, re.M)[-1])

    def record_way(self, way, count=10, options=(KERNELS,), program="ze_work", simulated="",
                   **more):
        """One way of using Level Zero, bare and recorded: (device timeline, commands submitted)."""
        bare = self.bare(program, way, count, simulated=simulated, **more)
        for old in self.timelines():
            old.unlink()
        done = self.unitrace(*options, FOLDER / program, way, count,
                             env=self.environment(simulated, **more))
        self.said = done.stderr.decode()
        self.assertEqual(done.returncode, bare.returncode, self.said)
        self.assertEqual(done.stdout, bare.stdout)
        self.assertNotIn("simulated driver:", self.said)
        traces = self.traces()
        got = DeviceTrace(traces[0]) if len(traces) == 1 else traces
        return got, self.submitted(done)

    def done_by_the_driver(self, *kinds):
        """What the driver has done, with its exact times."""
        kinds = kinds or ("kernel", "copy", "fill", "barrier", "stamp")
        done = []
        for line in self.log.read_text().splitlines():
            words = line.split(maxsplit=6)
            if words[0] == "WORK" and words[1] in kinds:
                done.append(Done(words[1], words[2], words[3], int(words[4]), int(words[5]),
                                 words[6]))
        return sorted(done, key=lambda d: d.begin)

    def assertNothingLeft(self):
        left = [line for line in self.log.read_text().splitlines() if line.startswith("LEFT")]
        self.assertEqual(set(left), {"LEFT 0"})

    def near(self, got):
        """ns. A pair of clocks is read within microseconds, unless the thread is interrupted then: the
        recording says how long that took."""
        return NEAR + max(got.trace.values("clock error (ns)"))

    def assertAsDone(self, got, kinds=("kernel", "copy", "fill")):
        """Each piece of work is what the driver did, in its order, at its time, as long as it took."""
        near = self.near(got)
        done = self.done_by_the_driver(*kinds)
        work = [s for s in got.work if s.cat in kinds]
        self.assertEqual([s.name.split("(")[0] for s in work],
                         [d.name.replace("_Z5saxpyPfS_f", "saxpy") for d in done])
        for s, d in zip(work, done):
            self.assertLessEqual(abs(s.ns - (d.end - d.begin)), TICK, (s, d))
            self.assertLessEqual(abs(s.begin - d.begin), near, (s, d))
