"""What the tests of OpenCL share: a program of ours run bare and recorded, and a pretended vendor."""
import re

import common
from common import program
from device_support import DeviceTrace

KERNELS, CALLS, WORK = "--chrome-kernel-logging", "--chrome-call-logging", "--chrome-device-logging"
FAKE = program("libfake_opencl.so")
NEAR = 200_000  # ns; by how much the two clocks may seem to disagree while little is known


class Case(common.Case):
    PROGRAM = "opencl_work"

    def bare(self, *words, env=None):
        done = self.run_words(*words, env=env)
        if done.returncode == 77:
            self.skipTest(done.stdout.decode().strip())
        return done

    def enqueued(self, done):
        return int(re.search(rb"^enqueued (\d+)$", done.stdout, re.M)[1])

    def injections(self):
        """The ways in that the loader of this machine has."""
        done = self.unitrace(KERNELS, "--debug", "launch", "true")
        return ["icd"] if b"OpenCL injection: vendor" in done.stderr else ["icd", "layer"]

    def record_way(self, way, count=10, options=(KERNELS,), env=None):
        """Runs one way of using OpenCL, bare and recorded: (device timeline, commands queued)."""
        words = program(self.PROGRAM), way, count
        bare = self.bare(*words, env=env)
        for old in self.timelines():
            old.unlink()
        done = self.unitrace(*options, *words, env=env)
        self.assertEqual(done.returncode, bare.returncode, done.stderr)
        self.assertEqual(done.stdout, bare.stdout)
        self.said = done.stderr.decode()
        return DeviceTrace(self.trace()), self.enqueued(done)


class FakeCase(Case):
    """With the vendor of libfake_opencl.c as the only one."""

    def setUp(self):
        super().setUp()
        vendors = self.dir / "vendors"
        vendors.mkdir()
        (vendors / "fake.icd").write_text(f"{FAKE}\n")
        self.env = common.environment(OCL_ICD_VENDORS=f"{vendors}/", OPENCL_TEST_PLATFORM="0")
        self.env.pop("OCL_ICD_FILENAMES", None)
