#!/usr/bin/env python3
"""pip install ./python gives a package that records under the launcher."""
import shutil
import subprocess

from python_support import SOURCE, Case, Trace, environment, main, need_python, skip

need_python()
VENV = SOURCE / "build/venv/bin/python"

if not VENV.exists() or subprocess.run([VENV, "-c", "import setuptools, pip"], check=False,
                                       capture_output=True).returncode:
    skip("build/venv has no pip and setuptools (tools/setup.sh python)")


class Install(Case):
    def test_an_installed_package_profiles(self):
        tree = self.dir / "tree"
        for folder in ("python", "include", "src/itt"):  # building leaves files beside the sources
            shutil.copytree(SOURCE / folder, tree / folder)
        site = self.dir / "site"
        got = self.run_words(VENV, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index",
                             "--no-build-isolation", "--disable-pip-version-check", "--target", site,
                             tree / "python")
        self.assertEqual(got.returncode, 0, got.stderr.decode())
        script = self.dir / "script.py"
        script.write_text("import unitrace\ndef f(): pass\nf()\nprint(unitrace.__file__)\n")
        got = self.unitrace("--python", "--quiet", "-o", "out.json", VENV, script,
                            env=environment(PYTHONPATH=str(site)))
        self.assertEqual(got.stdout.decode(), f"{site}/unitrace/__init__.py\n", got.stderr.decode())
        self.assertEqual(len(Trace(self.dir / "out.json").named("f")), 1)
        said = self.run_words(VENV, "-c", "from importlib.metadata import entry_points as e\n"
                              "print([p.value for p in e(group='pytest11')])",
                              env=environment(PYTHONPATH=str(site)))
        self.assertIn("unitrace.pytest_plugin", said.stdout.decode())


if __name__ == "__main__":
    main()
