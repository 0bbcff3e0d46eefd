#!/usr/bin/env python3
"""A server that is profiled for long needs no more memory than one that is profiled for a while."""
import json

from python_support import HERE, Case, environment, main, need_python

PYTHONS = need_python()
SECONDS = 3
MOST_KIB = 1024  # of what comes and goes


class Growth(Case):
    def serve(self, python):
        """Samples of a run with the flight recorder: [seconds, requests, private KiB, all KiB]."""
        got = self.unitrace("--python", "--keep-last", "4M", "--no-summary", "-o", "out.json",
                            "--overwrite", python, HERE / "server.py", SECONDS, 1, "samples.json",
                            env=environment())
        self.assertEqual(got.returncode, 0, got.stderr.decode())
        return json.loads((self.dir / "samples.json").read_text())

    def test_memory_stays_as_it_was_after_the_first_third(self):
        for version, python in PYTHONS.items():
            with self.subTest(version):
                samples = self.serve(python)
                _, served, early, _ = samples[len(samples) // 3]
                _, served_in_all, late, _ = samples[-1]
                self.assertGreater(served_in_all, served + 100)
                self.assertLess(late - early, MOST_KIB,
                                f"for {served_in_all - served} requests; {samples[::10]}")


if __name__ == "__main__":
    main()
