#!/usr/bin/env python3
"""pip install . gives the program and the package, which find each other and record."""
# ci: no sanitizers
import os
import pathlib
import re
import shutil
import subprocess
import tarfile
import tempfile
import unittest

from python_support import BUILD, PATIENCE, SOURCE, Case, Trace, environment, main, need_python, skip

PYTHON = next(iter(need_python().values()))

if subprocess.run([PYTHON, "-m", "pip", "--version"], check=False, capture_output=True).returncode:
    skip(f"{PYTHON} has no pip")

SCRIPT = """\
import itt, unitrace
def work():
    with unitrace.range("marked"):
        pass
work()
print(unitrace.__file__)
"""


class Install(Case):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.root = tempfile.TemporaryDirectory(prefix="unitrace-install-")
        cls.addClassCleanup(cls.root.cleanup)
        env = pathlib.Path(cls.root.name).resolve() / "env"
        # What has been built is taken, so that only the wheel is made.
        subprocess.run([PYTHON, "-m", "pip", "install", "--quiet", "--no-index", "--no-deps",
                        "--no-build-isolation", "--disable-pip-version-check", "--ignore-installed",
                        "--no-warn-script-location", "--config-settings", f"build={BUILD}",
                        "--prefix", env, SOURCE], check=True, timeout=2 * PATIENCE, env=environment())
        # Debian puts a folder "local" between.
        cls.site = next(env.rglob("*-packages"))
        cls.bin = next(env.rglob("unitrace.1")).parents[3] / "bin"

    def setUp(self):
        super().setUp()
        self.script = self.dir / "script.py"
        self.script.write_text(SCRIPT)

    def env(self):
        return environment(PYTHONPATH=str(self.site), PATH=f"{self.bin}:{os.environ['PATH']}")

    def check(self, got):
        self.assertEqual(got.returncode, 0, got.stderr.decode())
        self.assertEqual(got.stdout.decode(), f"{self.site}/unitrace/__init__.py\n")
        return Trace(self.dir / "out.json")

    def test_python_m_unitrace_records_with_the_installed_program(self):
        trace = self.check(self.run_words(PYTHON, "-B", "-m", "unitrace", "--quiet", "-o", "out.json",
                                          self.script, env=self.env()))
        self.assertEqual(len(trace.named("work")), 1)
        self.assertEqual(len(trace.named("marked")), 1)

    def test_the_installed_program_records_and_lets_the_package_in(self):
        trace = self.check(self.run_words("unitrace", "--quiet", "-o", "out.json", PYTHON, "-B",
                                          self.script, env=self.env()))
        self.assertEqual(len(trace.named("marked")), 1)
        self.assertFalse(trace.named("work"))

    def test_other_names_of_the_program_are_there(self):
        for name, command in (("mergetrace", "merge"), ("acelyzer", "analyze")):
            got = self.run_words(name, "--help", env=self.env())
            self.assertEqual(got.returncode, 0, got.stderr.decode())
            self.assertTrue(got.stdout.decode().startswith(f"usage: unitrace {command} "))

    def test_c_programs_link_the_library_that_reads_traces(self):
        if not (shutil.which("pkg-config") and shutil.which("cc")):
            self.skipTest("no pkg-config, or no compiler")
        found, = self.bin.parent.rglob("unitrace-read.pc")
        (self.dir / "use.c").write_text("#include <unitrace/read.h>\n#include <stdio.h>\n"
                                        "int main(void) { return unitrace_read_version() != UNITRACE_READ_VERSION; }\n")
        flags = subprocess.run(["pkg-config", "--cflags", "--libs", "unitrace-read"], check=True, text=True,
                               env=environment(PKG_CONFIG_PATH=str(found.parent)), capture_output=True).stdout
        subprocess.run(["cc", "use.c", "-o", "use", *flags.split()], cwd=self.dir, check=True)
        got = self.run_words(self.dir / "use", env=environment(LD_LIBRARY_PATH=str(found.parents[1])))
        self.assertEqual(got.returncode, 0, got.stderr)

    def test_pytest_finds_the_plugin(self):
        said = self.run_words(PYTHON, "-c", "from importlib.metadata import entry_points as e\n"
                              "print([p.value for p in e(group='pytest11')])", env=self.env())
        self.assertIn("unitrace.pytest_plugin", said.stdout.decode())

    def test_every_place_names_the_same_version(self):
        wanted = re.search(r"(?m)^  VERSION (\S+)", (SOURCE / "CMakeLists.txt").read_text())[1]
        got = self.run_words(PYTHON, "-c", "import unitrace, importlib.metadata as m\n"
                             "print(unitrace.__version__, m.version('unitrace'))", env=self.env())
        self.assertEqual(got.stdout.decode().split(), [wanted, wanted], got.stderr.decode())
        got = self.run_words("unitrace", "--version", env=self.env())
        self.assertEqual(got.stdout.decode().split()[:2], ["unitrace", wanted])

    def test_the_viewers_page_comes_along_where_it_is_built(self):
        view = re.compile(rb"(?m)^  view .*$")
        got = self.run_words("unitrace", "--version", env=self.env())
        self.assertEqual(view.findall(got.stdout), view.findall(self.unitrace("--version").stdout))


class Source(Case):
    def test_a_source_package_holds_what_a_wheel_needs(self):
        got = self.run_words(PYTHON, "-c", f"import sys; sys.path[:0] = [{str(SOURCE / 'python')!r}]\n"
                             f"import build_wheel; print(build_wheel.build_sdist({str(self.dir)!r}))")
        if b"not a git repository" in got.stderr:
            raise unittest.SkipTest("not a clone")
        self.assertEqual(got.returncode, 0, got.stderr.decode())
        with tarfile.open(self.dir / got.stdout.decode().strip()) as tar:
            names = {name.partition("/")[2] for name in tar.getnames()}
        self.assertEqual({"PKG-INFO", "pyproject.toml", "python/build_wheel.py", "CMakeLists.txt",
                          "LICENSE"} - names, set())
        if (SOURCE / "build/web/app.js.gz").exists():
            self.assertEqual({f"web/dist/{name}.gz" for name in ("app.js", "app.css", "workbench.js", "workbench.css", "module.wasm")} - names,
                             set())


if __name__ == "__main__":
    main()
