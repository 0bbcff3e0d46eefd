#!/usr/bin/env python3
"""Recordings and results leave a part of the disk free, and say so."""
# ci: labels slow
import fcntl
import os
import shutil
import subprocess
import termios
import threading

from common import PATIENCE, UNITRACE, Case, Trace, environment, is_root, main, need, program, terminal

need("hammer", "plain")
HAMMER, PLAIN = program("hammer"), program("plain")
MANY = 400000  # 2 threads, 7 words each time: some 45 MB
MIB = 1 << 20
RESERVE = b"recording ended early, before the disk became full"


class SmallDisk(Case):
    """A file system of 64 MiB."""

    def setUp(self):
        super().setUp()
        if not is_root():
            self.skipTest("not here: mounting a small disk needs root")
        self.disk = self.dir / "disk"
        self.disk.mkdir()
        mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64m", "tmpfs", self.disk], capture_output=True)
        if mounted.returncode:
            self.skipTest(f"not here: cannot mount: {mounted.stderr}")
        self.addCleanup(subprocess.run, ["umount", "-l", self.disk])

    def free(self):
        fs = os.statvfs(self.disk)
        return fs.f_bavail * fs.f_frsize

    def fill(self, leave):
        with open(self.disk / "fill", "wb") as f:
            os.posix_fallocate(f.fileno(), 0, self.free() - leave)

    def hammer(self, *options, cwd=None):
        got = self.unitrace("--no-summary", *options, HAMMER, str(MANY), cwd=cwd or self.dir)
        self.assertEqual(got.stdout, b"going\n", got.stderr)
        return got

    def assertCounted(self, path, rc=0):
        """What was recorded is there, what was not is counted."""
        trace = Trace(path)
        found = sum(len(trace.named(f"hammer {i}")) for i in (0, 1))
        self.assertGreater(found, 100)
        self.assertLess(found, 2 * MANY)
        self.assertGreaterEqual(trace.losses["dropped"], 2 * MANY - found)

    def test_recording_ends_and_the_program_goes_on(self):
        got = self.hammer("--spool-dir", self.disk, "--keep-session", "-o", "run.json")
        self.assertEqual(got.returncode, 0, got.stderr)
        self.assertIn(RESERVE, got.stderr)
        self.assertIn(b"--disk-reserve", got.stderr)
        self.assertIn(b"went missing (disk full or down to its reserve", got.stderr)
        self.assertGreaterEqual(self.free(), 64 * MIB // 20)
        self.assertLess(self.free(), 63 * MIB)
        self.assertCounted(self.dir / "run.json")

    def test_results_on_the_same_disk_have_room(self):
        got = self.hammer("-o", "run.json", cwd=self.disk)
        self.assertEqual(got.returncode, 0, got.stderr)
        self.assertIn(RESERVE, got.stderr)
        self.assertGreaterEqual(self.free(), 64 * MIB // 20)
        self.assertCounted(self.disk / "run.json")
        self.assertEqual([p.name for p in self.disk.iterdir()], ["run.json"])

    def test_a_size_or_a_share_can_be_chosen(self):
        for reserve, least in (("40M", 40 * MIB), ("75%", 48 * MIB)):
            with self.subTest(reserve):
                got = self.hammer("--spool-dir", self.disk, "--keep-session", "--disk-reserve", reserve,
                                  "-o", f"{least}.json.zst")
                self.assertIn(RESERVE, got.stderr)
                self.assertGreaterEqual(self.free(), least)
                for session in self.disk.iterdir():
                    shutil.rmtree(session)

    def test_none_fills_the_disk(self):
        self.fill(leave=6 * MIB)
        got = self.hammer("--spool-dir", self.disk, "--disk-reserve", "0", "-o", "run.json")
        self.assertEqual(got.returncode, 0, got.stderr)
        self.assertIn(b"recording ended early: No space left on device", got.stderr)
        self.assertNotIn(b"nearly full", got.stderr)

    def test_a_nearly_full_disk_is_said_at_once_and_takes_a_small_recording(self):
        self.fill(leave=2 * MIB)
        got = self.unitrace("--spool-dir", self.disk, "-o", "run.json", PLAIN, "hello")
        self.assertEqual(got.returncode, 0, got.stderr)
        self.assertTrue(got.stderr.startswith(b"unitrace: warning: the disk is nearly full: "), got.stderr)
        self.assertIn(b"--disk-reserve SIZE|PERCENT changes that", got.stderr)
        self.assertEqual(Trace(self.dir / "run.json").names(), ["plain work"])
        got = self.hammer("--spool-dir", self.disk, "--keep-session", "-o", "more.json")
        self.assertIn(RESERVE, got.stderr)
        self.assertGreaterEqual(self.free(), 2 * MIB * 3 // 4 - 100000)

    def test_a_reserve_that_leaves_nothing_is_said_at_once(self):
        got = self.hammer("--spool-dir", self.disk, "--disk-reserve", "1G", "-o", "run.json")
        self.assertTrue(got.stderr.startswith(b"unitrace: warning: almost nothing can be recorded: "), got.stderr)
        self.assertIn(b"--disk-reserve keeps 1.00 GiB free", got.stderr)
        self.assertIn(b"went missing", got.stderr)

    def test_results_keep_it_and_the_recording_stays(self):
        """Recorded elsewhere; then exported, when there is room."""
        got = self.hammer("--spool-dir", self.dir, "-o", self.disk / "run.json")
        self.assertNotEqual(got.returncode, 0, got.stderr)
        self.assertIn(b"run.json: not written: less than 3.20 MiB would be left on the disk", got.stderr)
        self.assertIn(b"--disk-reserve", got.stderr)
        self.assertIn(b"the recording is kept; try again with", got.stderr)
        self.assertEqual(list(self.disk.iterdir()), [])
        session, = self.dir.glob("*.session")
        got = self.unitrace("export", "--disk-reserve", "60M", "-o", self.disk / "late.json", session)
        self.assertEqual(got.returncode, 1, got.stderr)
        self.assertIn(b"late.json: not written", got.stderr)
        self.assertGreaterEqual(self.free(), 60 * MIB)
        got = self.unitrace("export", "-o", self.disk / "late.json.zst", session)
        self.assertEqual(got.returncode, 0, got.stderr)

    def test_samples_keep_it_too(self):
        got = self.unitrace("--sampling", "--spool-dir", self.disk, "--disk-reserve", "1G", "-o", "run.json",
                            HAMMER, str(MANY))
        self.assertEqual(got.returncode, 0, got.stderr)
        self.assertIn(b"almost nothing can be recorded", got.stderr)
        self.assertIn(b"samples could not be written: the disk came down to its reserve (--disk-reserve)", got.stderr)


class Shown(Case):
    """The size so far, on a terminal."""

    def shown(self, stdout):
        ours, theirs = terminal(120)
        seen = []

        def read():
            try:
                while data := os.read(ours, 65536):
                    seen.append(data)
            except OSError:  # the other end is closed
                pass

        reader = threading.Thread(target=read)
        reader.start()
        run = subprocess.Popen([UNITRACE, "--no-summary", "-o", self.dir / "run.json.zst", "sh", "-c",
                                f"{HAMMER} {MANY // 4} && sleep 2.5 && echo $(({MANY} + 1))"],
                               cwd=self.dir, env=environment(TERM="xterm"), stdin=theirs, stdout=stdout or theirs,
                               stderr=theirs, start_new_session=True,
                               preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0))
        os.close(theirs)
        out, _ = run.communicate(timeout=PATIENCE)
        reader.join()
        os.close(ours)
        self.assertEqual(run.returncode, 0)
        return out, b"".join(seen)

    def test_size_and_rate_where_the_program_prints_elsewhere(self):
        out, seen = self.shown(subprocess.PIPE)
        self.assertEqual(out, b"going\n%d\n" % (MANY + 1))
        self.assertRegex(seen, rb"unitrace: recording: \d\S* MiB in \d\S* s, \d\S* .?B/s")
        self.assertLess(seen.rindex(b"recording: "), seen.index(b"Timeline is stored"))

    def test_nothing_is_mixed_into_what_the_program_prints_on_the_same_terminal(self):
        _, seen = self.shown(None)
        self.assertNotIn(b"unitrace: recording: ", seen)
        self.assertRegex(seen, rb"(?m)^%d\r?$" % (MANY + 1))


class Options(Case):
    def test_what_is_no_reserve_is_refused(self):
        for text in ("much", "101%", "-1%", "%", ""):
            with self.subTest(text):
                got = self.unitrace("--disk-reserve", text, PLAIN)
                self.assertEqual(got.returncode, 2, got.stderr)
                self.assertIn(b"--disk-reserve", got.stderr)

    def test_every_command_that_records_takes_it(self):
        for command in ("record", "hotspots", "memory", "export"):
            with self.subTest(command):
                self.assertIn(b"--disk-reserve", self.unitrace(command, "--help").stdout)


if __name__ == "__main__":
    main()
