#!/usr/bin/env python3
"""The work to pair begins with ends grows with the recording, whatever the program leaves open."""
# ci: no sanitizers
import re
import shutil

from python_support import HERE, PACKAGE, UNITRACE, Case, Trace, environment, main, need_python, skip

PYTHON = next(iter(need_python().values()))
FEW = 3000
MANY = 4 * FEW

if not shutil.which("valgrind"):
    skip("valgrind is not installed")


class Pairing(Case):
    def instructions(self, count):
        """How many it takes to export a recording with so many tasks that never end."""
        got = self.unitrace("--python", "--python-modules", "__main__", "--no-summary",
                            "--keep-session", "--spool-dir", f"s{count}", "-o", "out.json",
                            "--overwrite", PYTHON, HERE / "leaks.py", count,
                            env=environment(PYTHONPATH=str(PACKAGE)))
        self.assertEqual(got.returncode, 0, got.stderr.decode())
        session, = (self.dir / f"s{count}").iterdir()
        got = self.run_words("valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null",
                             UNITRACE, "export", "-o", f"{count}.json", session)
        if b"ASan" in got.stderr or b"Sanitizer" in got.stderr:
            self.skipTest("valgrind does not run a build with sanitizers")
        self.assertEqual(got.returncode, 0, got.stderr.decode())
        return int(re.search(rb"Collected : (\d+)", got.stderr)[1])

    def test_four_times_the_open_tasks_are_four_times_the_work(self):
        few, many = self.instructions(FEW), self.instructions(MANY)
        self.assertLess(many / few, 5, f"{few} and {many} instructions")
        trace = Trace(self.dir / f"{MANY}.json")
        spoken = [s for s in trace.overlapped if s.name == "short"]
        self.assertEqual(sorted(s.args["number"] for s in spoken), list(range(MANY)))


if __name__ == "__main__":
    main()
