#!/usr/bin/env python3
"""Two and 64 threads mark as fast as they can: every record is there, and memory stays flat.

About 2 million events each; UNITRACE_STRESS=1 makes it 100 million."""
# ci: no sanitizers
import os
import subprocess

from launch_support import BUILD, COLLECTOR, PATIENCE, UNITRACE, Case, clean_env, main, need

STRESS = BUILD / "tests" / "stress" / "stress"
CHECK = BUILD / "tests" / "stress" / "stress_check"
EVENTS = 100_000_000 if os.environ.get("UNITRACE_STRESS") == "1" else 2_000_000
LIMIT = 24 * PATIENCE if EVENTS > 10_000_000 else PATIENCE  # s
MIB = 1024  # KiB


def memory(output):
    """[(private, total) in KiB, ...] at a tenth, half and the end."""
    return [tuple(map(int, line.split())) for line in output.decode().splitlines()]


class Stress(Case):
    def bare(self, threads, pairs):
        done = subprocess.run([STRESS, str(threads), str(pairs)], env=clean_env(),
                              capture_output=True, timeout=LIMIT, check=True)
        return memory(done.stdout)

    def traced(self, threads, pairs):
        done = subprocess.run(
            [UNITRACE, "--keep-session", "--spool-dir", self.dir, "--quiet", "--no-summary",
             "-f", "perfetto", STRESS, str(threads), str(pairs)],
            cwd=self.dir, env=clean_env(), capture_output=True, timeout=LIMIT)
        self.assertEqual(done.returncode, 0, done.stderr)
        return memory(done.stdout)

    def session(self):
        """The folder that holds the spool."""
        spools = list(self.dir.rglob("*.spool"))
        self.assertEqual(len(spools), 1, self.files())
        return spools[0].parent

    def stress(self, threads):
        pairs = EVENTS // 2 // threads
        bare = self.bare(threads, 1000)[-1]
        tenth, half, end = self.traced(threads, pairs)
        check = subprocess.run([CHECK, self.session(), str(threads), str(pairs)],
                               capture_output=True, timeout=LIMIT, text=True)
        self.assertEqual(check.returncode, 0, check.stdout + check.stderr)
        tasks, size = int(check.stdout.split()[0]), int(check.stdout.split()[2])
        print(f"\n  {threads} threads: {tasks} tasks, {size / tasks:.1f} bytes each; private memory "
              f"{end[0] - bare[0]} KiB more than bare, total {tenth[1]} {half[1]} {end[1]} KiB")
        self.assertEqual(tasks, pairs * threads)
        self.assertLessEqual(end[0] - bare[0], 32 * MIB)
        # Each thread has a chunk of 256 KiB in memory, the kernel perhaps as much around it.
        for at in (tenth, half, end):
            self.assertLessEqual(at[1] - bare[1], 24 * MIB + threads * MIB // 2,
                                 "total memory grows with the run")
        self.assertLessEqual(size, 24 * tasks + (threads + 8) * 256 * 1024)

    def test_2_threads_lose_nothing_and_stay_small(self):
        self.stress(2)

    def test_64_threads_lose_nothing_and_stay_small(self):
        self.stress(64)


if __name__ == "__main__":
    need(UNITRACE, COLLECTOR, STRESS, CHECK)
    main()
