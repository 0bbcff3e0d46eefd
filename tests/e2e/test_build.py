#!/usr/bin/env python3
"""Configuring, setting up and installing: what is missing is left out aloud, the program does not
wait for the tests, and an installed tree works where it is put."""
# ci: no sanitizers
import re
import shutil
import subprocess
import sys
import unittest

from common import BUILD, SOURCE, Case, environment, main, need

need()
LONG = 240  # seconds; some of this takes ten where nothing else runs


def run(*words, **options):
    return subprocess.run([str(w) for w in words], capture_output=True, timeout=LONG,
                          **{"env": environment(), **options})


class Configured(Case):
    """cmake alone, which takes seconds."""

    def configure(self, *words):
        if not shutil.which("cmake"):
            raise unittest.SkipTest("cmake is not on the path")
        got = run("cmake", "-S", SOURCE, "-B", self.dir / "tree", "-G", "Unix Makefiles", *words)
        self.assertEqual(got.returncode, 0, got.stderr.decode())
        return got.stdout.decode()

    def test_without_libraries_cmake_says_what_is_left_out(self):
        said = self.configure(*(f"-DCMAKE_DISABLE_FIND_PACKAGE_{p}=ON" for p in
                                ("SQLite3", "ZLIB", "PkgConfig")),
                              "-DUT_ZSTD_LIBRARY=UT_ZSTD_LIBRARY-NOTFOUND",
                              "-DCMAKE_LIBRARY_PATH=", "-DBUILD_TESTING=OFF")
        self.assertIn("left out: the command query and SQLite files: SQLite 3.38", said)
        self.assertIn("left out: gzip: zlib is missing (Debian: zlib1g-dev)", said)

    def test_the_default_target_builds_the_program_and_ctest_the_rest(self):
        self.configure()
        rules = (self.dir / "tree/CMakeFiles/Makefile2").read_text()
        built = re.findall(r"^all: CMakeFiles/(\S+)\.dir/all$", rules, re.M)
        self.assertIn("unitrace", built)
        self.assertIn("collector", built)
        self.assertEqual([t for t in built if t.startswith(("test", "unit_"))], [])
        tests = re.findall(r"^CMakeFiles/tests\.dir/all: CMakeFiles/(\S+)\.dir/all$", rules, re.M)
        self.assertIn("tests_programs_every_call", tests)
        got = run("ctest", "-N", "-R", "e2e/build", cwd=self.dir / "tree")
        listed = re.findall(r"Test +#\d+: (\S+)", got.stdout.decode())
        self.assertEqual(listed, ["built", "e2e/build"], got.stdout.decode())


class SetUp(Case):
    """tools/setup.sh on a machine whose package manager has nothing."""

    def set_up(self, installed, commands=("cc", "make", "cmake", "pkg-config")):
        tree, tools = self.dir / "tree", self.dir / "bin"
        for folder in (tree / "tools", tools):
            folder.mkdir(parents=True)
        shutil.copy(SOURCE / "tools/setup.sh", tree / "tools")
        scripts = {name: "exit 0" for name in commands}
        scripts["dpkg-query"] = "".join(f"echo '{name} installed'\n" for name in installed)
        scripts["apt-get"] = "echo 'E: Unable to locate package'; exit 100"
        scripts["id"] = "echo 0"
        for name, text in scripts.items():
            (tools / name).write_text(f"#!/bin/sh\n{text}\n")
            (tools / name).chmod(0o755)
        for name in ("bash", "sh", "dirname", "sed", "grep", "tail", "mkdir", "cat", "rm"):
            (tools / name).symlink_to(shutil.which(name))
        return self.run_words(tree / "tools/setup.sh", "build", env={"PATH": str(tools)})

    def test_optional_packages_that_cannot_be_had_are_named_and_left_out(self):
        got = self.set_up(["libc6-dev"])
        self.assertEqual(got.returncode, 0, got.stderr.decode())
        for name in ("libsqlite3-dev", "zlib1g-dev", "libzstd-dev", "python3-dev"):
            self.assertIn(f"setup: skipped {name}: ", got.stdout.decode())

    def test_without_a_compiler_it_stops(self):
        got = self.set_up(["libc6-dev"], ["make", "cmake", "pkg-config"])
        self.assertEqual(got.returncode, 1)
        self.assertIn("could not install gcc", got.stderr.decode())


class Installed(Case):
    def install(self, prefix, **env):
        got = run("cmake", "--install", BUILD, "--prefix", prefix, env=environment(**env))
        self.assertEqual(got.returncode, 0, got.stderr.decode())
        return got.stdout.decode()

    def python(self, *words, **env):
        return self.run_words(sys.executable, "-B", *words, env=environment(**env))

    def test_python_finds_the_package_where_it_looks_under_the_prefix(self):
        if not list((BUILD / "lib/unitrace/python").glob("unitrace/_core.*.so")):
            raise unittest.SkipTest("the Python package has no extension")
        home = self.dir / "home"  # as ~/.local is for everybody
        self.install(home, PYTHONUSERBASE=str(home))
        moved = self.dir / "moved"
        home.rename(moved)
        (self.dir / "script.py").write_text("def work(): pass\nwork()\n")
        got = self.python("-m", "unitrace", "--quiet", "-o", "out.json", "script.py",
                          PYTHONUSERBASE=str(moved))
        self.assertEqual(got.returncode, 0, got.stderr.decode())
        self.assertIn('"work"', (self.dir / "out.json").read_text())

    def test_elsewhere_one_line_says_what_to_add(self):
        said = self.install(self.dir / "opt")
        path = re.search(r"export PYTHONPATH=(\S+)$", said, re.M)
        self.assertIsNotNone(path, said[-500:])
        got = self.python("-m", "unitrace", "--help", PYTHONPATH=path[1])
        self.assertEqual(got.returncode, 0, got.stderr.decode())
        self.assertFalse(list((self.dir / "opt").glob("lib*/python*")))


class Package(Case):
    """make deb."""

    def test_the_package_holds_everything_and_lintian_finds_no_error(self):
        for tool in ("dpkg-deb", "dpkg-shlibdeps", "lintian"):
            if not shutil.which(tool):
                raise unittest.SkipTest(f"{tool} is not installed")
        got = run(SOURCE / "tools/deb.sh", BUILD, self.dir, env=environment(
            DEBFULLNAME="A Tester", DEBEMAIL="tester@debian.org"))
        self.assertEqual(got.returncode, 0, got.stdout.decode() + got.stderr.decode())
        self.assertNotRegex(got.stdout.decode(), r"(?m)^E:")
        root = self.dir / "root"
        subprocess.run(["dpkg-deb", "-x", *self.dir.glob("unitrace_*.deb"), root], check=True)
        for name in ("bin/unitrace", "bin/mergetrace", "lib/libunitrace.so", "lib/libittnotify.a",
                     "include/ittnotify.h", "lib/pkgconfig/ittnotify.pc",
                     "lib/python3/dist-packages/unitrace/__main__.py",
                     "share/man/man1/unitrace.1.gz", "share/man/man1/unitrace-record.1.gz",
                     "share/bash-completion/completions/unitrace",
                     "share/doc/unitrace/copyright", "share/doc/unitrace/changelog.gz",
                     "share/doc/unitrace/changelog.Debian.gz"):
            self.assertTrue((root / "usr" / name).exists(), name)
        got = self.run_words(root / "usr/bin/unitrace", "--quiet", "-o", "out.json", "true")
        self.assertEqual(got.returncode, 0, got.stderr.decode())


class Bench(Case):
    def test_the_speed_of_every_format_can_be_measured(self):
        program = BUILD / "tests/bench/bench_export"
        if not program.exists():
            raise unittest.SkipTest("tests/bench is not built")
        got = self.run_words(program, "2000")
        self.assertEqual(got.returncode, 0, got.stderr.decode())
        self.assertIn("summary", got.stdout.decode())


if __name__ == "__main__":
    main()
