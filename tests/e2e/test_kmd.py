#!/usr/bin/env python3
"""--chrome-kmd-logging: what a script for bpftrace prints is in the timeline, and the program runs as
without it, whatever becomes of bpftrace.

A bpftrace that pretends is first in PATH: it starts its command, as the real one does when all probes
are in place, prints what the test wants, and ends with its command. The real one is tried, too, where
it may run.
"""
import os
import shutil
import subprocess
import time

import common

common.need()
HELLO = common.BUILD / "examples" / "hello"

PRETENDED = """#!/bin/sh
# bpftrace -q -o FILE -c COMMAND SCRIPT
[ "$1 $2 $4" = "-q -o -c" ] || exit 9
. "$6"
$5
"""


class Kmd(common.Case):
    def setUp(self):
        super().setUp()
        self.bin = self.dir / "bin"
        self.bin.mkdir()
        pretended = self.bin / "bpftrace"
        pretended.write_text(PRETENDED)
        pretended.chmod(0o755)
        self.env = common.environment(PATH=f"{self.bin}:{os.environ['PATH']}")

    def script(self, text):
        path = self.dir / "script.bt"
        path.write_text(text)
        return path

    def watch(self, lines, *words, clock=time.CLOCK_BOOTTIME):
        """Records words while the script prints the lines; {now} is the time."""
        now = time.clock_gettime_ns(clock)
        text = "".join(line.format(now=now) + "\n" for line in lines)
        (self.dir / "lines").write_text(text)
        script = self.script(f'cat "{self.dir}/lines" > "$3"\n')
        return self.unitrace("--chrome-kmd-logging", script, *words, env=self.env), now

    def kernel(self, trace):
        return sorted((s for s in trace.spans if s.cat == "os_op"), key=lambda s: s.begin)

    def test_events_are_in_the_programs_timeline(self):
        mono = time.clock_gettime_ns(time.CLOCK_MONOTONIC)
        done, now = self.watch(["77,i915_gem_execbuffer,{now},2500,ring 0, \"x\"", "78,fence wait,{now},10"],
                               HELLO)
        self.assertEqual(done.returncode, 0, done.stderr)
        trace, = self.traces()
        first, second = sorted(self.kernel(trace), key=lambda s: s.tid)
        self.assertEqual((first.name, first.tid, first.ns, first.args),
                         ("i915_gem_execbuffer", 77, 2500, {"data": 'ring 0, "x"'}))
        self.assertEqual((second.name, second.tid, second.ns, second.args), ("fence wait", 78, 10, {}))
        after = time.clock_gettime_ns(time.CLOCK_MONOTONIC)
        self.assertTrue(mono - 1_000_000 <= first.begin <= after, (mono, first.begin, after))
        names = [e["args"]["name"] for e in trace.meta if e["name"] == "process_name"]
        self.assertTrue([n for n in names if n.startswith("HOST-OS-KMD<")], names)
        self.assertTrue(trace.named("greet") or [s for s in trace.spans if s.cat != "os_op"])

    def test_a_clock_that_leaves_sleep_out_is_recognised(self):
        done, now = self.watch(["1,a,{now},5"], HELLO, clock=time.CLOCK_MONOTONIC)
        event, = self.kernel(self.traces()[0])
        self.assertEqual(event.begin, now)

    def test_a_program_without_a_timeline_gets_a_file_of_its_own(self):
        done, _ = self.watch(["77,ioctl,{now},2500"], "true")
        self.assertEqual(done.returncode, 0)
        path, = self.dir.glob("oskmd.*.json")
        self.assertIn(f"KMD profiling data are stored in {path.name}".encode(), done.stderr)
        self.assertEqual([s.name for s in self.kernel(common.Trace(path))], ["ioctl"])
        self.assertNotIn(b"nothing was recorded", done.stderr)

    def test_lines_that_are_no_events_are_counted(self):
        done, _ = self.watch(["Attaching 3 probes...", "1,ok,{now},5", "", "x,y", "1,,{now},5",
                              "2,ok,{now},", "99999999999999999999999,n,1,1", "3,ok,{now},7,a,b"], HELLO)
        self.assertEqual(sorted(s.tid for s in self.kernel(self.traces()[0])), [1, 3])
        self.assertIn(b"TID,EVENT,START,DURATION[,DATA]: 5", done.stderr)

    def test_a_script_that_bpftrace_refuses(self):
        script = self.script('echo "script.bt:1: ERROR: no such probe" >&2; exit 1\n')
        done = self.unitrace("--chrome-kmd-logging", script, HELLO, env=self.env)
        self.assertEqual(done.returncode, 0)
        self.assertIn(b"nothing of the system is recorded", done.stderr)
        self.assertIn(b"ERROR: no such probe", done.stderr)
        self.assertEqual(len(self.traces()), 1)

    def test_no_bpftrace(self):
        (self.bin / "bpftrace").unlink()
        if shutil.which("bpftrace"):
            self.env["PATH"] = str(self.bin)
        done = self.unitrace("--chrome-kmd-logging", self.script(""), HELLO, env=self.env)
        self.assertEqual(done.returncode, 0)
        self.assertIn(b"bpftrace is not installed", done.stderr)

    def test_the_status_is_the_programs_and_nothing_is_left(self):
        done, _ = self.watch(["1,a,{now},5"], "/bin/sh", "-c", "exit 3")
        self.assertEqual(done.returncode, 3)
        self.assertEqual([p for p in self.dir.iterdir() if p.name.endswith(".session")], [])

    def test_the_real_one(self):
        real = shutil.which("bpftrace")
        if not real:
            self.skipTest("bpftrace is not installed")
        can = subprocess.run([real, "-e", "BEGIN { exit(); }"], capture_output=True, timeout=common.PATIENCE,
                             check=False)
        if can.returncode:
            self.skipTest("not here: bpftrace may not run: " + can.stderr.decode()[-200:])
        script = self.script('interval:ms:5 { printf("%d,tick,%lld,%lld,x\\n", tid, nsecs, 1000); }')
        before = time.clock_gettime_ns(time.CLOCK_MONOTONIC)
        done = self.unitrace("--chrome-kmd-logging", script, "sleep", "0.3")
        after = time.clock_gettime_ns(time.CLOCK_MONOTONIC)
        self.assertEqual(done.returncode, 0, done.stderr)
        path, = self.dir.glob("oskmd.*.json")
        ticks = self.kernel(common.Trace(path))
        self.assertGreater(len(ticks), 10)
        for tick in ticks:
            self.assertEqual((tick.name, tick.ns), ("tick", 1000))
            self.assertTrue(before <= tick.begin <= after, (before, tick.begin, after))


if __name__ == "__main__":
    common.main()
