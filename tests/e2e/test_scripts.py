"""Every script of tools/ starts: it prints its header with --help, or does a small job. What the larger ones do is
checked where they are used (make deb, make dist, tools/ci.sh and so on).
"""
# ci: no sanitizers
import json
import os
import pathlib
import shutil
import subprocess
import sys
import unittest

import common
from common import BUILD, PATIENCE, SOURCE, environment, main
from script_support import bare_build, bare_path

TOOLS = SOURCE / "tools"
SKIPPED = 77
# --help prints the header. Those that do not have it are started by a test below.
WITH_HELP = {"bench.sh", "check_docs.py", "ci.sh", "deb.sh", "demo.sh", "dist.sh", "fuzz.py", "gen_spool_table.py", "pictures.js",
             "pictures.sh", "release_check.sh", "setup.sh", "skipped.py", "test.sh", "version.sh", "web.sh"}
WITH_A_JOB = {"check_layers.py", "check_limits.py", "check_words.py", "fetch_packages.py", "fresh.sh"}
INTERPRETERS = {".py": [sys.executable, "-B"], ".sh": ["bash"], ".js": ["node"]}


class Case(common.Case):
    def tool(self, name, *words, **options):
        """Exit status and what it said, on both streams."""
        options.setdefault("env", environment())
        done = subprocess.run([*INTERPRETERS[pathlib.Path(name).suffix], str(TOOLS / name), *map(str, words)], cwd=SOURCE,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              timeout=PATIENCE, check=False, **options)
        self.assertNotIn("Traceback", done.stdout)
        return done.returncode, done.stdout


class Help(Case):
    def test_every_tool_is_started_by_a_test(self):
        found = {path.name for path in TOOLS.iterdir() if path.suffix in INTERPRETERS}
        self.assertEqual(found - WITH_HELP - WITH_A_JOB, set(), "give it --help and add it to the lists here")

    def header(self, name):
        """The first line of the comment or docstring at the top, without its marks."""
        lines = (TOOLS / name).read_text().splitlines()
        first = next(line for line in lines if not line.startswith("#!"))
        return first.lstrip("/#\" ").rstrip("\"")

    def test_help_is_the_header(self):
        for name in sorted(WITH_HELP):
            if not (TOOLS / name).exists() or not shutil.which(INTERPRETERS[pathlib.Path(name).suffix][0]):
                continue
            with self.subTest(name):
                status, said = self.tool(name, "--help")
                self.assertEqual(status, 0, said)
                self.assertIn(self.header(name).split(".")[0], said)
                self.assertNotIn("set -", said)


class Jobs(Case):
    def small_build(self):
        """What a demo needs, and nothing that it would write into."""
        build = self.dir / "small"
        build.mkdir()
        for part in ("bin", "lib", "share", "examples", "generated"):
            if (BUILD / part).exists():
                (build / part).symlink_to(BUILD / part)
        return build

    def test_checks_of_the_sources(self):
        """Whether they find something is for tools/ci.sh."""
        for name in ("check_layers.py", "check_limits.py", "check_words.py"):
            status, said = self.tool(name)
            self.assertIn(status, (0, 1), said)
            self.assertEqual(bool(said), bool(status))

    def test_demo(self):
        if not (BUILD / "examples/threads").exists():
            self.skipTest("the examples are not built")
        status, said = self.tool("demo.sh", self.small_build())
        self.assertEqual(status, 0, said)
        trace, = (self.dir / "small/demo").glob("threads*.json")
        self.assertIn(trace.name, said)
        status, said = self.tool("demo.sh", self.dir)
        self.assertEqual(status, 1)
        self.assertRegex(said, r"^demo: .*/bin/unitrace is not built\n$")

    def test_a_release_needs_the_page(self):
        status, said = self.tool("dist.sh", self.small_build())
        self.assertEqual(status, 1)
        self.assertRegex(said, r"^dist: .*app.js.gz is not built")

    def test_packages_that_are_there_are_not_fetched(self):
        listed = self.dir / "package-lock.json"
        listed.write_text('{"packages": {"node_modules/left-pad": {"version": "1.3.0", "integrity": "sha512-AAAA"}}}')
        (self.dir / "there").mkdir()
        shutil.copy(listed, self.dir / "there")
        self.assertEqual(self.tool("fetch_packages.py", listed, self.dir / "there"), (0, ""))

    def test_a_bare_machine_needs_debootstrap(self):
        without = bare_path(self.dir, missing=("debootstrap",))
        status, said = self.tool("fresh.sh", "true", env=environment(PATH=str(without)))
        self.assertEqual(status, SKIPPED, said)
        self.assertRegex(said, r"needs (root|the package debootstrap)")

    def test_pictures_need_a_browser(self):
        status, said = self.tool("pictures.sh", bare_build(self.dir))
        self.assertEqual((status, said.count("\n")), (SKIPPED, 1), said)
        self.assertTrue(said.startswith("SKIP: "), said)

    def test_fuzzing_keeps_books(self):
        target = self.dir / "tests/fuzz/fuzz_played"
        target.parent.mkdir(parents=True)
        target.write_text("#!/bin/sh\necho '#5 DONE cov: 7 ft: 9 corp: 3/30b'\necho 'stat::number_of_executed_units: 5'\n"
                          "exit ${PLAYED_STATUS:-0}\n")
        target.chmod(0o755)
        status, said = self.tool("fuzz.py", self.dir, "--seconds", "0.1")
        self.assertEqual(status, 0, said)
        book = json.loads((self.dir / "fuzzed.json").read_text())["fuzz_played"]
        self.assertEqual((book["executions"], book["edges"], book["inputs"], book["findings"]), (5, 7, 3, 0))
        status, said = self.tool("fuzz.py", self.dir, "--seconds", "0.1", env=environment(PLAYED_STATUS="1"))
        self.assertEqual(status, 1)
        self.assertIn("fuzz_played: exit status 1", said)
        self.assertIn("| `fuzz_played` | 0.0 | 10 | 7 | 3 | 1 |", self.tool("fuzz.py", self.dir, "--table")[1])
        self.assertEqual(self.tool("fuzz.py", self.dir / "tests")[0], 1)

    def test_the_table_of_records(self):
        status, said = self.tool("gen_spool_table.py")
        self.assertEqual(status, 0, said)
        self.assertRegex(said, r"(?m)^\| +\d+ \|.*`?THREAD`?")
        self.assertEqual(self.tool("gen_spool_table.py", "--nonsense")[0], 1)


if __name__ == "__main__":
    os.environ.pop("MAKEFLAGS", None)
    main()
