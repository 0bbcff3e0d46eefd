#!/usr/bin/env python3
"""A Python program under plain unitrace finds `import itt` and `import unitrace`, and nothing else
of it has changed."""
import json
import pathlib
import shutil
import subprocess

from python_support import PACKAGE, PATIENCE, Case, Trace, environment, main, need_python

PYTHON = next(iter(need_python().values()))

# The recipe of Intel's guide: paused at first, a few batches are collected.
SAMPLE = """\
import itt
domain = itt.domain_create("batches")
for batch in range(4):
    if batch == 1:
        itt.resume()
    itt.task_begin(domain, "batch %d" % batch)
    itt.task_end(domain)
    if batch == 2:
        itt.pause()
"""


class Door(Case):
    def python(self, text, *options, flags=(), **env):
        """What the program printed, and its timeline."""
        script = self.dir / "script.py"
        script.write_text(text)
        return self.unitrace("--quiet", "--overwrite", "-o", "out.json", *options, PYTHON, *flags,
                             script, env=environment(**env))

    def printed(self, text, *options, **more):
        got = self.python(text, *options, **more)
        self.assertEqual((got.returncode, got.stderr), (0, b""))
        return got.stdout.decode()

    def test_itt_is_found_where_no_package_is_installed(self):
        self.printed(SAMPLE, "--conditional-collection")
        names = [s.name for s in Trace(self.dir / "out.json").spans if s.cat == "batches"]
        self.assertEqual(names, ["batch 1", "batch 2"])

    def test_an_itt_of_the_users_own_comes_first(self):
        own = self.dir / "own"
        own.mkdir()
        (own / "itt.py").write_text("pass\n")
        said = self.printed("import itt; print(itt.__file__)\n", PYTHONPATH=str(own))
        self.assertEqual(said, f"{own}/itt.py\n")

    def test_an_itt_in_site_packages_comes_first(self):
        env = self.dir / "env"
        subprocess.run([PYTHON, "-m", "venv", "--without-pip", env], check=True, timeout=PATIENCE)
        (site,) = env.glob("lib/python*/site-packages")
        (site / "itt.py").write_text("pass\n")
        got = self.unitrace("--quiet", "-o", "out.json", env / "bin/python", "-c",
                            "import itt; print(itt.__file__)")
        self.assertEqual(got.stdout.decode(), f"{site}/itt.py\n", got.stderr.decode())

    def test_the_path_is_that_of_plain_python_with_ours_behind(self):
        text = "import json, sys; print(json.dumps([sys.path, sorted(sys.modules)]))\n"
        path, modules = json.loads(self.printed(text, PYTHONPATH="/first:/second"))
        plain = self.run_words(PYTHON, self.dir / "script.py",
                               env=environment(PYTHONPATH="/first:/second"))
        plain_path, plain_modules = json.loads(plain.stdout)
        self.assertEqual(path, [*plain_path, str(PACKAGE), str(PACKAGE / "fallback")])
        self.assertEqual(modules, plain_modules)

    def test_the_users_sitecustomize_runs_as_before(self):
        own = self.dir / "own"
        own.mkdir()
        (own / "sitecustomize.py").write_text("import sys; sys.own = __file__\n")
        said = self.printed("import sys, sitecustomize as s; print(sys.own, s.__file__)\n",
                            PYTHONPATH=str(own))
        self.assertEqual(said.split(), [f"{own}/sitecustomize.py"] * 2)

    def test_functions_are_recorded_only_when_asked_for(self):
        text = "import unitrace\ndef f(): pass\nf()\nwith unitrace.range('mark'): pass\n"
        self.printed(text)
        self.assertEqual([s.name for s in Trace(self.dir / "out.json").spans], ["mark"])
        self.printed(text, "--python")
        self.assertEqual(len(Trace(self.dir / "out.json").named("f")), 1)

    def test_an_interpreter_that_ignores_its_environment_is_left_alone(self):
        for flag in ("-I", "-E"):
            got = self.python("import itt\n", flags=[flag])
            self.assertEqual(got.returncode, 1)
            self.assertIn(b"No module named 'itt'", got.stderr)

    def test_a_python_without_the_c_half_says_so_and_still_switches(self):
        tree = self.dir / "tree"  # an installation for other interpreters
        shutil.copytree(PACKAGE.parents[2] / "bin", tree / "bin", symlinks=True)
        shutil.copytree(PACKAGE, tree / "lib/unitrace/python",
                        ignore=shutil.ignore_patterns("_core.*", "__pycache__"))
        shutil.copy(PACKAGE.parents[1] / "libunitrace.so", tree / "lib")
        script = self.dir / "script.py"
        script.write_text("import itt, os\nitt.resume()\nprint(os.environ['PTI_ENABLE_COLLECTION'])\n"
                          "itt.pause()\nprint(os.environ['PTI_ENABLE_COLLECTION'])\n")
        got = self.run_words(pathlib.Path(tree / "bin/unitrace"), "--quiet", "-o", "out.json",
                             "--conditional-collection", PYTHON, "-B", script)
        self.assertEqual((got.returncode, got.stdout), (0, b"1\n0\n"))
        self.assertRegex(got.stderr.decode(), r"marks of Python \S+ are not recorded: the package is "
                         r"not built for it; pip install")


if __name__ == "__main__":
    main()
