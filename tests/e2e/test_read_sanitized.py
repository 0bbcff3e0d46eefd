#!/usr/bin/env python3
"""The library behind `import unitrace` under AddressSanitizer, in a plain Python: no bad access, and no memory of
ours is left."""
# ci: only sanitizers
import json
import os
import pathlib
import re
import shutil
import subprocess

import common
from read_events import events

PACKAGE = common.BUILD / "lib/unitrace/python"
CACHE = (common.BUILD / "CMakeCache.txt").read_text()
if not re.search(r"^UT_SANITIZE:\w+=.*address", CACHE, re.M):
    common.skip("built without AddressSanitizer")
if not list((PACKAGE / "unitrace").glob("_arrow*.so")) or not (common.BUILD / "lib/libunitrace-read.so").exists():
    common.skip("the Python package was built without Python.h or SQLite")


def runtime():
    """The library that a program without sanitizers has to load first."""
    compiler = re.search(r"^CMAKE_C_COMPILER:\w+=(.*)$", CACHE, re.M)[1]
    for name in ("libclang_rt.asan-x86_64.so", "libasan.so"):
        path = subprocess.check_output([compiler, f"-print-file-name={name}"], text=True).strip()
        if os.path.isabs(path) and os.path.exists(path):
            return path
    return common.skip("the sanitizer has no library to load first")


class Sanitized(common.Case):
    def test_nothing_is_touched_or_left(self):
        path = pathlib.Path(self.dir, "t.json")
        path.write_text(json.dumps({"traceEvents": events()}))
        env = {k: v for k, v in os.environ.items() if k != "LSAN_OPTIONS"}
        env.update(LD_PRELOAD=runtime(), PYTHONMALLOC="malloc",
                   ASAN_OPTIONS="detect_leaks=1:fast_unwind_on_malloc=0", UBSAN_OPTIONS="print_stacktrace=1")
        run = subprocess.run([shutil.which("python3", path="/usr/bin") or "python3",
                              pathlib.Path(__file__).with_name("read_plain.py"), PACKAGE, path],
                             capture_output=True, text=True, timeout=common.PATIENCE, env=env, check=False)
        self.assertRegex(run.stdout, r"^3\.\d+")
        self.assertNotIn("ERROR: AddressSanitizer", run.stderr)
        self.assertNotIn("runtime error", run.stderr)
        left = [part for part in run.stderr.split("\n\n") if "leak of" in part and "/src/" in part]
        self.assertEqual(left, [])  # Python leaves some of its own


if __name__ == "__main__":
    common.main()
