"""A long Chrome trace through a pipe: no part of it is ever on disk, and memory stays below half.

UNITRACE_LONG=1: more than 4 GB. The peak is asked of the kernel while the program runs, because the
usage that wait4() reports begins with the memory of the process that forked it.
"""
# ci: labels fast long
# ci: no sanitizers
import json
import os
import pathlib
import subprocess
import sys
import time
import unittest

from common import UNITRACE, environment, skip

LONG = os.environ.get("UNITRACE_LONG") == "1"
SIZE = (4 << 30) + (64 << 20) if LONG else 64 << 20
EVENTS = [{"ph": "X", "name": f"kernel_{i % 50}", "cat": "kernel", "pid": i % 4, "tid": i % 7,
           "ts": 1700000000000 + i * 1.5, "dur": 1.25,
           "args": {"correlation": str(i), "grid": [i, 1, 1]}} for i in range(20000)]


def peak(pid):
    """Bytes; 0 if the process is gone."""
    try:
        for line in pathlib.Path(f"/proc/{pid}/status").read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) << 10
    except OSError:
        pass
    return 0


class Memory(unittest.TestCase):
    def test_memory_is_less_than_half_of_the_text(self):
        part = (",\n".join(json.dumps(e) for e in EVENTS) + ",\n").encode()
        count, most = SIZE // len(part) + 1, 0
        with subprocess.Popen([UNITRACE, "stats", "-"], stdin=subprocess.PIPE, env=environment(),
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE) as p:
            p.stdin.write(b"[")
            for _ in range(count):
                p.stdin.write(part)
                most = max(most, peak(p.pid))
            p.stdin.write(b"{}]")
            p.stdin.close()
            while p.poll() is None:
                most = max(most, peak(p.pid))
                time.sleep(0.01)
            table, said = p.stdout.read().decode(), p.stderr.read().decode()
        self.assertEqual((p.returncode, said), (0, ""))
        self.assertIn(f" {400 * count} ", table)
        if LONG:
            print(f"{SIZE >> 20} MiB of text: {most >> 20} MiB of memory", file=sys.stderr)
        self.assertGreater(most, 0)
        self.assertLess(most, SIZE // 2)


if __name__ == "__main__":
    if not UNITRACE.exists():
        skip(f"{UNITRACE} is not built")
    unittest.main()
