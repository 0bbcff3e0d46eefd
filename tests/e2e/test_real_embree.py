#!/usr/bin/env python3
"""embree's bvh_builder: ten million TBB tasks in half a minute, from all threads at once.

The whole of it only with UNITRACE_LONG=1, which also prints what tracing cost; otherwise the
program is interrupted as soon as it has shown some work.
"""
# ci: labels real long
import os
import pathlib
import pty
import re
import resource
import signal
import subprocess
import sys
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "real"))
from real_support import LONG, PATIENCE, UNITRACE, Case, clean_env, command, main, need_unitrace

need_unitrace()
BUILDER = command("bvh_builder")
TASKS = 10_000_000 # of a whole run, a little more


def cpu():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


class Embree(Case):
    def read_until(self, terminal, text):
        seen = b""
        while text not in seen:
            got = os.read(terminal, 4096)
            self.assertTrue(got, seen)
            seen += got

    def test_interrupted_after_the_first_tree(self):
        terminal, end = pty.openpty() # or its output comes in blocks
        program = subprocess.Popen([UNITRACE, "--max-size", "128M", "-o", "t.json", BUILDER],
                                   cwd=self.dir, env=clean_env(), stdout=end,
                                   stderr=subprocess.PIPE, start_new_session=True)
        os.close(end)
        self.read_until(terminal, b"[DONE]")
        os.killpg(program.pid, signal.SIGINT)
        _, said = program.communicate(timeout=PATIENCE)
        os.close(terminal)
        self.assertEqual(program.returncode, -signal.SIGINT, said)
        trace = self.trace()
        self.assertEqual(trace.domains(), {"tbb"})
        names = trace.names()
        self.assertGreater(names["tbb_custom"], 1000, names)
        self.assertEqual({e["args"]["parent"] for e in trace.named("tbb_custom")}, {"tbb_custom"})
        self.assertGreaterEqual(len({e["tid"] for e in trace.slices}), min(2, os.cpu_count()))
        self.assertLessEqual(set(trace.threads.values()), {"bvh_builder", "TBB Worker Thread"})
        losses = trace.other["processes"][0].get("losses", {})
        self.assertLessEqual(set(losses), {"unfinished", "seen_ends"}, losses)

    @unittest.skipUnless(LONG, "long: takes minutes")
    def test_whole(self):
        start, used = time.monotonic(), cpu()
        got = self.run_in(BUILDER, timeout=1200)
        self.assertEqual(got.returncode, 0)
        bare = time.monotonic() - start, cpu() - used
        start, used = time.monotonic(), cpu()
        _, said = self.record("-o", "t.json", "--spool-dir", self.dir, "--keep-session", BUILDER,
                              timeout=2400)
        traced = time.monotonic() - start, cpu() - used
        spool = sum(p.stat().st_blocks * 512 for p in self.dir.rglob("*.spool"))
        size = (self.dir / "t.json").stat().st_size
        calls = int(re.search(r"^tbb_custom +tbb +(\d+)", said, re.M)[1])
        session, = self.dir.glob("*.session")
        start, used = time.monotonic(), cpu()
        self.record("export", "-o", "again.json", session, timeout=1200)
        again = time.monotonic() - start, cpu() - used
        print(f"tasks {calls}; spool {spool / 1e6:.0f} MB, {spool / calls:.0f} B a task; "
              f"JSON {size / 1e6:.0f} MB; wall/CPU s: bare {bare[0]:.1f}/{bare[1]:.1f}, "
              f"traced and exported {traced[0]:.1f}/{traced[1]:.1f}, "
              f"export alone {again[0]:.1f}/{again[1]:.1f}", file=sys.stderr)
        self.assertGreater(calls, TASKS)
        self.assertEqual((self.dir / "again.json").stat().st_size, size)


if __name__ == "__main__":
    main()
