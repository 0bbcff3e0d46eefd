"""What the tests of the launcher share: where things are, running unitrace in a fresh folder."""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

from common import BUILD, COLLECTOR, PATIENCE, PROGRAMS, UNITRACE, main

__all__ = ["BUILD", "COLLECTOR", "PATIENCE", "PROBE", "UNITRACE", "Case", "clean_env", "main", "need"]
PROBE = PROGRAMS / "launch_probe"
RANKS = ("PMI_RANK", "PMIX_RANK", "OMPI_COMM_WORLD_RANK", "MV2_COMM_WORLD_RANK", "SLURM_PROCID")


def need(*paths):
    """Skip the whole file, aloud, when something is not built."""
    for path in paths:
        if not path.exists():
            print(f"SKIP: {path} is not built")
            sys.exit(77)


def clean_env(**more):
    drop = RANKS + ("LD_PRELOAD", "INTEL_LIBITTNOTIFY64", "INTEL_JIT_PROFILER64",
                    "PTI_ENABLE_COLLECTION", "UT_SESSION")
    env = {k: v for k, v in os.environ.items() if k not in drop}
    env.update(more)
    return env


class Case(unittest.TestCase):
    """A test in a folder of its own, which is removed afterwards."""

    def setUp(self):
        self.dir = pathlib.Path(tempfile.mkdtemp(prefix="ut_e2e_"))
        self.addCleanup(shutil.rmtree, self.dir, ignore_errors=True)

    def start(self, *words, env=None, **options):
        process = subprocess.Popen([str(UNITRACE), *map(str, words)], cwd=self.dir,
                                   env=env or clean_env(), stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, **options)
        self.addCleanup(self.end, process)
        return process

    @staticmethod
    def end(process):
        """Whatever a failed test has left."""
        if process.poll() is None:
            process.terminate()
            process.wait()
        process.stdout.close()
        process.stderr.close()

    def unitrace(self, *words, env=None, **options):
        return subprocess.run([str(UNITRACE), *map(str, words)], cwd=self.dir,
                              env=env or clean_env(), capture_output=True, timeout=PATIENCE,
                              **options)

    def files(self):
        return sorted(p.name for p in self.dir.iterdir())

    def timelines(self, where=None):
        return sorted((where or self.dir).glob("*.json"))

    def names(self, path):
        """The names of the slices in a timeline."""
        events = json.loads(path.read_text())["traceEvents"]
        return [e["name"] for e in events if e["ph"] in "XB"]

    def assertRecorded(self, count=1):
        """So many timelines, each with the probe's task, and nothing else left over."""
        paths = self.timelines()
        self.assertEqual(len(paths), count, self.files())
        for path in paths:
            self.assertTrue(any("work" in n for n in self.names(path)), path)
        self.assertEqual([f for f in self.files() if not f.endswith(".json")], [])
