#!/usr/bin/env python3
"""The types of the Python package: stubs that agree with what is there, and that checkers understand."""
# ci: labels slow real
import json
import os
import pathlib
import subprocess
import unittest

import common

PACKAGE = common.BUILD / "lib/unitrace/python"
VENV = common.BUILD / "venv/bin"

RIGHT = """
import pathlib
import unitrace

trace = unitrace.open("a.json", pathlib.Path("b.json"), threads=2)
table = trace.stats(by="name,rank", window=(0.5, "1.5s"), name=["a*"], rank=3, min_dur="20us")
columns: list[str] = table.columns
for row in trace.slices("x", window=(None, 2)):
    first: object = row[0]
with unitrace.open("c.json") as other:
    rows: list[tuple[object, ...]] = trace.diff(other, limit=5).fetchall()
trace.ops(limit=3), trace.counters("mem*"), trace.flows(), trace.samples(), trace.device()
trace.kernels(sort="total"), trace.calls(), trace.query("select 1")
page: str = trace.page(window=(0, 1), title="x")
trace.show(height=300)


@unitrace.range("step", batch=3)
def work(n: int) -> str:
    return str(n)


text: str = work(3)
with unitrace.range("x"), unitrace.frame("f"), unitrace.Profiler():
    unitrace.counter("loss", 0.5)
flag: bool = unitrace.recording()
try:
    unitrace.open("d.json")
except unitrace.Error as wrong:
    code: int = wrong.code
"""

# Each is a mistake by itself.
WRONG = ("unitrace.open(3)", "unitrace.open('a').stats(by=3)", "unitrace.open('a').stats(colour='x')",
         "unitrace.open('a').slices(window=1)", "unitrace.open('a').diff('b')", "unitrace.counter('x', 'y')",
         "unitrace.nothing()", "unitrace.open('a').query()")


def has(module):
    return VENV.joinpath("python").exists() and not subprocess.run(
        [VENV / "python", "-c", f"import {module}"], capture_output=True).returncode


class Types(common.Case):
    def setUp(self):
        super().setUp()
        self.env = common.environment(MYPYPATH=str(PACKAGE), PYTHONPATH=str(PACKAGE))
        self.right = pathlib.Path(self.dir, "right.py")
        self.right.write_text(RIGHT)
        self.wrong = pathlib.Path(self.dir, "wrong.py")
        self.wrong.write_text("import unitrace\n" + "\n".join(WRONG) + "\n")

    def run_in(self, *words):
        return subprocess.run([*map(str, words)], cwd=self.dir, env=self.env, capture_output=True, text=True,
                              timeout=common.PATIENCE)

    def test_stubs_are_what_is_there(self):
        if not has("mypy"):
            self.skipTest("mypy is not installed (tools/setup.sh test)")
        allowed = pathlib.Path(self.dir, "allowed")
        # what notebooks ask for and what keyword arguments become is not seen from outside
        allowed.write_text("unitrace\\._.*\nunitrace\\.(fallback|inject|itt|ittapi|torch|op_table|pytest_plugin).*\n"
                           "unitrace\\.Trace\\.(stats|slices|diff|page)\nunitrace\\.__getattr__\n")
        # Our own modules are no stubs: others read none of them. Torch and the like are not looked through.
        settings = pathlib.Path(self.dir, "mypy.ini")
        settings.write_text("[mypy]\nignore_missing_imports = True\nfollow_imports = skip\n"
                            "[mypy-unitrace.*]\nignore_errors = True\nfollow_imports = normal\n")
        run = self.run_in(VENV / "python", "-m", "mypy.stubtest", "unitrace", "--mypy-config-file", settings, "--ignore-missing-stub",
                          "--allowlist", allowed, "--ignore-unused-allowlist")
        self.assertEqual(run.returncode, 0, run.stdout + run.stderr)

    def test_mypy_understands_them(self):
        if not has("mypy"):
            self.skipTest("mypy is not installed (tools/setup.sh test)")
        run = self.run_in(VENV / "python", "-m", "mypy", "--strict", "--python-version", "3.10", self.right)
        self.assertEqual(run.returncode, 0, run.stdout + run.stderr)
        run = self.run_in(VENV / "python", "-m", "mypy", "--python-version", "3.10", self.wrong)
        lines = {int(line.split(":")[1]) for line in run.stdout.splitlines() if "error:" in line}
        self.assertEqual(lines, set(range(2, len(WRONG) + 2)), run.stdout)

    def test_pyright_understands_them(self):
        if not has("pyright"):
            self.skipTest("pyright is not installed (tools/setup.sh test)")
        settings = pathlib.Path(self.dir, "pyrightconfig.json")
        settings.write_text(json.dumps({"extraPaths": [str(PACKAGE)], "typeCheckingMode": "strict",
                                        "pythonVersion": "3.10"}))
        self.env.setdefault("HOME", os.path.expanduser("~"))
        run = self.run_in(VENV / "python", "-m", "pyright", "--outputjson", "-p", settings, self.right)
        if not run.stdout.startswith("{"):
            self.skipTest("pyright cannot get its program: " + (run.stderr.strip() or run.stdout)[-200:])
        said = [d for d in json.loads(run.stdout)["generalDiagnostics"] if d["severity"] == "error"
                and "rule" not in d or d.get("rule", "").startswith(("reportArgument", "reportAttribute", "reportCall",
                                                                     "reportReturn", "reportAssign", "reportMissing"))]
        self.assertEqual(said, [])
        run = self.run_in(VENV / "python", "-m", "pyright", "--outputjson", "-p", settings, self.wrong)
        lines = {d["range"]["start"]["line"] for d in json.loads(run.stdout)["generalDiagnostics"]
                 if d["severity"] == "error"}
        self.assertLessEqual(set(range(1, len(WRONG) + 1)), lines, run.stdout)


if __name__ == "__main__":
    unittest.main()
