#!/usr/bin/env python3
"""Traces in notebooks: %%unitrace in a real kernel, and what cells show in a real page.

# ci: no sanitizers
"""
# ci: labels slow browser
import json
import pathlib
import shutil
import subprocess
import unittest

import common
from browser_support import MODULES

PACKAGE = common.BUILD / "lib/unitrace/python"
PYTHON = common.BUILD / "venv/bin/python"
if not (common.BUILD / "lib/libunitrace-read.so").exists():
    common.skip("built without SQLite")
if not PYTHON.exists() or subprocess.run([PYTHON, "-c", "import nbclient, nbformat, ipykernel"],
                                         capture_output=True).returncode:
    common.skip("nbclient and ipykernel are not installed (tools/setup.sh test)")
if b"as one file" not in subprocess.run([common.UNITRACE, "--version"], capture_output=True).stdout:
    common.skip("built without the viewer")
if subprocess.run([PYTHON, "-c", "import unitrace._core, unitrace._arrow"], capture_output=True,
                  env=common.environment(PYTHONPATH=str(PACKAGE))).returncode:
    common.skip("the Python package was not built for the virtual environment's Python")

CELLS = {
    "load": "%load_ext unitrace\nimport unitrace\nwith unitrace.range('too early'): pass\nx = 5",
    "first": "%%unitrace -o t\ndef work(n):\n    return sum(inner(i) for i in range(n))\n"
             "def inner(i):\n    return i * i\nwith unitrace.range('mine'):\n    y = work(x * 100)\ny",
    "state": "y, sorted({row[0] for row in t.stats()} & {'work', 'inner', 'mine', 'too early'})",
    "second": "%%unitrace\nwith unitrace.range('second'):\n    z = inner(7)",
    "others": "%%unitrace --depth 2\npass",
    "apart": "%%unitrace -n --depth 9 -o u\ndef alone():\n    print('from afar')\nalone()\nimport os; pid = os.getpid()",
    "apart state": "'pid' in globals(), [row[0] for row in u.stats(name='alone')]",
    "raises": "%%unitrace\ndef bad():\n    1 / 0\nbad()",
    "after": "z",
    "wrong": "%%unitrace -o 1x\npass",
    "help": "%%unitrace -h\npass",
    "trace": "t",
    "window": "t.show(window=(0, '500us'), height=300)",
    "table": "t.slices()",
    "unload": "%unload_ext unitrace\n'unitrace' in get_ipython().magics_manager.magics['cell']",
}


def run_cells(folder):
    """Each cell's outputs, from a kernel of its own."""
    job = folder / "job.json"
    job.write_text(json.dumps({"cells": list(CELLS.values()), "python": str(PYTHON)}))
    run = subprocess.run([PYTHON, pathlib.Path(__file__).with_name("notebook_run.py"), job], cwd=folder,
                         capture_output=True, text=True, timeout=2 * common.PATIENCE,
                         env=common.environment(PYTHONPATH=str(PACKAGE), HOME=str(folder),
                                                JUPYTER_PLATFORM_DIRS="1"))
    assert run.returncode == 0, run.stderr
    return dict(zip(CELLS, json.loads(run.stdout)))


class Notebook(common.Case):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.folder = pathlib.Path(common.tempfile.mkdtemp(prefix="ut_notebook_"))
        cls.addClassCleanup(shutil.rmtree, cls.folder, ignore_errors=True)
        cls.seen = run_cells(cls.folder)

    def html(self, cell):
        found = [o["data"]["text/html"] for o in self.seen[cell] if "text/html" in o.get("data", {})]
        self.assertTrue(found, self.seen[cell])
        return found[-1]

    def text(self, cell):
        return "".join(o.get("text", "") + o.get("data", {}).get("text/plain", "") + o.get("evalue", "")
                       for o in self.seen[cell])

    def test_a_cell_is_recorded_with_the_variables_of_the_notebook(self):
        self.assertEqual(self.text("state"), "(41541750, ['inner', 'mine', 'work'])")
        self.assertIn("41541750", self.text("first"))
        page = self.html("first")
        self.assertIn("<td style=\"text-align:left\">inner</td>", page)
        self.assertIn("<iframe sandbox=", page)

    def test_the_next_cell_has_a_trace_of_its_own(self):
        page = self.html("second").split("<iframe")[0]
        self.assertIn(">second<", page)
        self.assertNotIn(">mine<", page)

    def test_other_options_need_another_process(self):
        self.assertIn("restart it, or take -n", self.text("others"))
        self.assertEqual(self.text("apart state"), "(False, ['alone'])")
        self.assertIn("from afar", self.text("apart"))
        self.assertIn(">alone<", self.html("apart"))

    def test_an_exception_is_the_cells_own(self):
        self.assertEqual([o["ename"] for o in self.seen["raises"] if "ename" in o], ["ZeroDivisionError"])
        self.assertEqual(self.text("after"), "49")

    def test_mistakes_and_help_are_reported(self):
        self.assertIn("-o takes the name of a variable", self.text("wrong"))
        self.assertIn("in a process of its own", self.text("help"))
        self.assertEqual(self.text("unload"), "False")

    def test_nothing_is_left_behind(self):
        left = [p for p in pathlib.Path(common.tempfile.gettempdir()).glob("unitrace-notebook-*")
                if p.stat().st_mtime > self.folder.stat().st_mtime]
        self.assertEqual(left, [])

    def test_frames_draw_in_a_page(self):
        if not shutil.which("node"):
            self.skipTest("node is not installed")
        pages = []
        for cell in ("first", "trace", "window"):
            pages.append(self.folder / f"{cell}.html")
            pages[-1].write_text(f"<!doctype html><meta charset=utf-8><body>{self.html(cell)}</body>")
        out = self.folder / "seen.json"
        run = subprocess.run(["node", common.SOURCE / "tests/e2e/notebook_page.js",
                              MODULES, self.folder, out, *pages],
                             capture_output=True, text=True, timeout=2 * common.PATIENCE)
        if run.returncode == 77:
            self.skipTest(run.stderr.strip() + " (tools/setup.sh test)")
        self.assertEqual(run.returncode, 0, run.stderr)
        for page in json.loads(out.read_text()):
            self.assertEqual(page["complaints"], [])
            (frame,) = page["frames"]
            self.assertEqual((frame["reaches"], frame["origin"]), (False, "null"))
            self.assertNotIn("allow-same-origin", frame["sandbox"])
            self.assertGreater(frame["colours"], 3)
        self.assertIn("w=0,500000", frame["hash"])
        self.assertEqual(frame["tab"], "Timeline")

    def test_a_table_shows_its_first_rows(self):
        self.assertIn("<th>name</th>", self.html("table"))


if __name__ == "__main__":
    unittest.main()
