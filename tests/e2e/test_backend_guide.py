"""The example of docs/guides/backends.md is compiled and used, and the template minds a pause."""
import os
import pathlib
import re
import shutil
import sys

import common
from common import program
from device_support import DeviceTrace, backend, need_backend

SOURCE = pathlib.Path(os.environ.get("UNITRACE_SOURCE", pathlib.Path(__file__).parents[2]))

RUNTIME = r"""
import ctypes, sys
mine = ctypes.CDLL(sys.argv[1])
run = ctypes.CFUNCTYPE(None)(lambda: print("ran"))
mine.mineToolEnters()
for _ in range(3):
    mine.mineToolLaunch(run)
"""


class Guide(common.Case):
    def build(self):
        compiler = shutil.which("cc")
        guide = SOURCE / "docs" / "guides" / "backends.md"
        if not compiler or not guide.exists():
            self.skipTest("no C compiler" if not compiler else f"{guide} is missing")
        (self.dir / "mine.c").write_text(re.search(r"```c\n(.*?)```", guide.read_text(), re.S)[1])
        lib = self.dir / "lib"
        (lib / "unitrace" / "backends").mkdir(parents=True)
        (lib / "libunitrace.so").symlink_to(common.BUILD / "lib" / "libunitrace.so")
        made = lib / "unitrace" / "backends" / "mine.so"
        done = self.run_words(compiler, "-std=c17", "-Wall", "-Wextra", "-Werror", "-shared",
                              "-fPIC", "-fvisibility=hidden", f"-I{SOURCE / 'include'}", "mine.c",
                              "-o", made)
        self.assertEqual(done.returncode, 0, done.stderr)
        return made

    def test_the_example_compiles_and_records(self):
        made = self.build()
        words = sys.executable, "-c", RUNTIME, made
        self.assertEqual(self.run_words(*words).stdout, b"ran\n" * 3)
        got = DeviceTrace(self.record(*words))
        self.assertEqual(got.names(), ["kernel"] * 3)
        self.assertEqual(list(got.devices.values()), ["DEVICE [My device] 0 #0"])
        self.assertEqual(len(got.submissions()), 3)

    def test_the_template_minds_a_pause(self):
        done = self.unitrace("--start-paused", program("null_device"), backend("null"), 8)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.timelines(), [])


if __name__ == "__main__":
    need_backend("null")
    common.main()
