"""OpenCL programs that nobody here wrote: recorded whole, with the results that they have without us.

What is not installed is skipped aloud. The first run on a machine compiles their kernels.
"""
# ci: labels slow real long
import collections
import os
import shutil
import subprocess
import unittest

import common
from common import program
from device_support import DeviceTrace, need_backend
from opencl_support import KERNELS, NEAR


class Real(common.Case):
    def need(self, name):
        found = shutil.which(name)
        if not found:
            self.skipTest(f"{name} is not installed")
        works = self.run_words(program("opencl_work"), "gemm")
        if works.returncode == 77:
            self.skipTest(works.stdout.decode().strip())
        return found

    def run_long(self, *words):
        """Kernels are compiled at the first run."""
        return subprocess.run([str(w) for w in words], cwd=self.dir, env=common.environment(), capture_output=True,
                              timeout=2 * common.PATIENCE)

    def record_real(self, *words):
        done = self.run_long(common.UNITRACE, KERNELS, *words)
        self.assertEqual(done.returncode, 0, done.stderr[-1000:])
        got = DeviceTrace(self.trace())
        self.assertNotIn(b"commands are missing", done.stderr)
        pairs = got.submissions()
        self.assertEqual(len(pairs), len(got.work))
        self.assertEqual(len(got.calls), len(got.work))
        for call, work in pairs:
            self.assertLessEqual(call.begin - NEAR, work.args["queued"])
            self.assertLessEqual(work.args["queued"], call.end + NEAR)
            self.assertLessEqual(work.args["queued"], work.begin)
        return got, done

    def test_clpeak(self):
        got, done = self.record_real(self.need("clpeak"), "--kernel-latency")
        self.assertIn(b"Kernel launch latency", done.stdout)
        self.assertGreater(len(got.work), 1000)

    def test_ffmpeg_filters(self):
        words = (self.need("ffmpeg"), "-v", "error", "-f", "lavfi", "-i",
                 "testsrc=duration=1:size=320x240:rate=10", "-init_hw_device", "opencl=ocl",
                 "-filter_hw_device", "ocl", "-vf", "format=yuv420p,hwupload,avgblur_opencl,"
                 "unsharp_opencl,hwdownload,format=yuv420p", "-f", "framemd5", "-")
        bare = self.run_long(*words)
        if bare.returncode:
            self.skipTest(f"ffmpeg cannot use OpenCL here: {bare.stderr[-200:]}")
        got, done = self.record_real(*words)
        self.assertEqual(done.stdout, bare.stdout)
        count = collections.Counter(got.names())
        self.assertEqual((count["clEnqueueWriteImage"], count["clEnqueueReadImage"]), (30, 30))

    def test_pyopencl(self):
        python = self.need("/usr/bin/python3")
        script = ("import numpy as np, pyopencl as cl, pyopencl.array as a\n"
                  "c = cl.create_some_context(interactive=False)\n"
                  "q = cl.CommandQueue(c)\n"
                  "x = a.to_device(q, np.arange(1000, dtype=np.float32))\n"
                  "print((x * 2 + 1).get().sum())\n")
        bare = self.run_long(python, "-c", script)
        if bare.returncode:
            self.skipTest(f"no pyopencl: {bare.stderr.decode().splitlines()[-1:]}")
        got, done = self.record_real(python, "-c", script)
        self.assertEqual(done.stdout, bare.stdout)
        self.assertGreaterEqual(len(got.work), 3)

    def test_clfft(self):
        got, done = self.record_real(self.need("clFFT-client"), "-x", "64", "-y", "64")
        self.assertIn(b"PASS", done.stdout)
        self.assertTrue(any("fft" in name for name in got.names()))

    def test_clblast(self):
        words = (self.need("clblast_test_xaxpy"), "-platform", "0", "-device", "0", "-precision",
                 "32")
        got, done = self.record_real(*words)
        self.assertNotIn(b"FAILED", done.stdout)
        self.assertTrue(any(name.startswith("Xaxpy") for name in got.names()))

    @unittest.skipUnless(os.environ.get("UNITRACE_LONG"), "long: compiles for a minute")
    def test_hashcat(self):
        (self.dir / "hash").write_text("5f4dcc3b5aa765d61d8327deb882cf99\n")
        (self.dir / "words").write_text("foo\npassword\nbar\n")
        got, done = self.record_real(self.need("hashcat"), "-m", "0", "-a", "0", "--force",
                                     "--potfile-disable", "--self-test-disable", "--quiet", "hash",
                                     "words")
        self.assertIn(b":password", done.stdout)
        self.assertTrue(any(name.startswith("m00000") for name in got.names()))


if __name__ == "__main__":
    need_backend("opencl")
    common.need("opencl_work")
    common.main()
