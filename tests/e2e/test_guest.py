#!/usr/bin/env python3
"""The collector is a guest: what broke programs or recordings once, a test each."""
# ci: labels slow
import errno
import os
import pathlib
import resource
import shutil
import signal
import time
import unittest

from common import (PATIENCE, UNITRACE, Case, environment, is_root, main, need, program,
                    to_ns)

need("every_call", "first_signals", "fork_first", "least_calls", "many_names", "sandboxed",
     "small_handler", "small_stack", "strange_clock", "wrappers", "libintruder.so")


class Names(Case):
    """Names cost the same however many there are: 400,000 took seven minutes once."""
    COUNT = 400000

    def check(self, trace):
        self.assertEqual(sum(n.startswith("name ") for n in trace.names()), self.COUNT // 1000)
        trace.one("name 399000")
        self.assertFalse(trace.losses)

    def test_made_before_the_first_task(self):
        self.check(self.record(program("many_names"), self.COUNT))

    def test_made_after_it(self):
        self.check(self.record(program("many_names"), self.COUNT, "late"))

    def test_inherited_by_a_forked_child(self):
        got = self.unitrace(program("many_names"), self.COUNT, "fork")
        self.assertEqual((got.returncode, got.stdout), (0, b"same\n"), got.stderr)
        parent, child = sorted(self.traces(), key=lambda t: len(t.spans))
        self.assertEqual(parent.names(), ["parent"])
        self.check(child)

    def test_asked_for_again_is_the_same_handle(self):
        for how in ("", "late"):
            got = self.unitrace("--quiet", program("many_names"), 5000, how)
            self.assertEqual(got.stdout, b"same\n")


class Reentry(Case):
    def test_functions_in_front_of_the_c_library_may_record(self):
        trace = self.record(program("wrappers"))
        self.assertEqual(len(trace.named("work")), 200000)
        self.assertEqual(trace.losses["torn"], 0)

    def test_handlers_are_heard_while_the_collector_is_loaded(self):
        for _ in range(5):
            got = self.unitrace(program("first_signals"))
            self.assertEqual(got.returncode, 0, got.stderr)
            trace = self.trace()
            self.assertEqual(len(trace.named("tick")), int(got.stdout))
            self.assertEqual(len(trace.named("work")), 2000)
            self.assertFalse(trace.losses)
            trace.path.unlink()


class Clocks(Case):
    """Times are the machine's and the launcher's, whatever the program takes for its own."""

    def check(self, *words):
        before = time.clock_gettime_ns(time.CLOCK_MONOTONIC)
        got = self.unitrace(*words, program("strange_clock"))
        after = time.clock_gettime_ns(time.CLOCK_MONOTONIC)
        if b"unshare" in got.stderr:
            self.skipTest("not here: " + got.stderr.decode().strip())
        self.assertEqual((got.returncode, got.stdout), (0, b"done\n"), got.stderr)
        trace = self.trace()
        naps = trace.named("nap")
        self.assertEqual(len(naps), 4)
        for nap in naps:
            self.assertGreaterEqual(nap.ns, 99_000_000)
            self.assertTrue(before <= nap.begin <= nap.end <= after, (before, nap.begin, after))
        self.assertLessEqual(sum(n.ns for n in naps), after - before)
        shown = to_ns(naps[0].event["ts"]) + int(trace.processes[0]["realtime_offset_ns"])
        self.assertLess(abs(shown - time.time_ns()), PATIENCE * 1_000_000_000)

    def test_of_the_programs_own(self):
        self.check()

    @unittest.skipUnless(shutil.which("unshare"), "unshare is not installed")
    def test_of_a_time_namespace(self):
        for seconds in ("86400", "-1"):
            with self.subTest(seconds):
                self.check("unshare", "--time", "--monotonic", seconds, "--boottime", seconds,
                           "--fork")
                for path in self.timelines():
                    path.unlink()


class Little(Case):
    """Programs that leave little room."""

    def test_a_page_is_enough_of_a_stack(self):
        trace = self.record(program("small_stack"))
        self.assertEqual(len(trace.named("work")), 100001)
        self.assertEqual(sum(n.startswith("n") for n in trace.names()), 3000)
        self.assertFalse(trace.losses)

    def test_an_environment_too_long_for_ours_does_not_keep_a_program_from_running(self):
        def run(length):
            env = {f"V{i:04d}": "x" * 994 for i in range(length // 1000)}
            env.update(XDG_STATE_HOME=os.environ["XDG_STATE_HOME"], LAST="x" * (length % 1000))
            try:
                return self.unitrace("/bin/echo", "ran", env=env)
            except OSError as error:
                self.assertEqual(error.errno, errno.E2BIG)
                return None
        low, high, last = 100000, 8 << 20, None  # nowhere are more than 6 MiB possible
        while high - low > 1:
            middle = (low + high) // 2
            got = run(middle)
            low, high, last = (middle, high, got) if got else (low, middle, last)
        self.assertEqual((last.returncode, last.stdout), (0, b"ran\n"), last.stderr)
        self.assertIn(b"is not recorded: with our variables", last.stderr)

    def test_a_limit_of_cpu_time_is_the_programs_and_not_that_of_the_writing_behind_it(self):
        limits = r"sed -n 's/^Max cpu time *\([^ ]*\).*/\1/p'"
        got = self.unitrace("--quiet", "sh", "-c", f"{limits} /proc/$$/limits /proc/$PPID/limits",
                            preexec_fn=lambda: resource.setrlimit(
                                resource.RLIMIT_CPU, (1000, resource.RLIM_INFINITY)))
        self.assertEqual(got.stdout.split(), [b"1000", b"unlimited"])


    def test_a_small_alternate_stack_is_enough_for_the_first_call(self):
        for how, others in (("first", []), ("thread", ["before"]), ("child", [])):
            with self.subTest(how):
                bare = self.run_words(program("small_handler"), how)
                self.assertEqual((bare.returncode, bare.stdout), (0, b"100\n"), bare.stderr)
                got = self.unitrace(program("small_handler"), how)
                self.assertEqual((got.returncode, got.stdout), (0, b"100\n"), got.stderr)
                trace = max(self.traces(), key=lambda t: len(t.spans))
                self.assertEqual(sorted(set(trace.names())),
                                 sorted(["between", *others, *(f"handled {i:02}" for i in range(100))]))
                self.assertEqual(len(trace.named("between")), 100 * 500)
                self.assertFalse(trace.losses)
                for path in self.timelines():
                    path.unlink()


class Forks(Case):
    """Children that are forked while other threads make the first calls: none hangs, none has
    signals blocked, and those of fork() are recorded."""

    def check(self, how):
        got = self.unitrace("--max-size", "50M", program("fork_first"), how)
        self.assertEqual((got.returncode, got.stdout), (0, b"hung 0, blocked 0, killed 0\n"), got.stderr)
        recorded = sum(len(t.named("in child")) for t in self.traces())
        for path in self.timelines():
            path.unlink()
        return recorded

    def test_by_the_c_library(self):
        for _ in range(3):
            self.assertEqual(self.check("fork"), 30)

    def test_by_the_system_call(self):
        for _ in range(3):  # those forked while a thread loads the collector cannot
            self.assertLessEqual(self.check("raw"), 30)

    def test_in_a_handler(self):
        self.assertEqual(self.check("handler"), 30)

    def test_while_names_are_made(self):
        self.assertEqual(self.check("names"), 30)

    def test_in_a_constructor(self):
        self.assertEqual(self.check("early"), 30)


class Sandboxes(Case):
    def test_the_fewest_system_calls_are_enough(self):
        """Those of docs/security.md, and none where the filter answers in the kernel's place."""
        for action in ("kill", "trap", "ENOSYS", "EINVAL", "EFAULT", "EPERM"):
            for what in ("", "child", "names", "threads"):
                with self.subTest(action=action, what=what):
                    bare = self.run_words(program("least_calls"), action, what)
                    if bare.returncode == 77:
                        self.skipTest(bare.stderr.decode())
                    self.assertEqual((bare.returncode, bare.stdout), (3, b"alive\n"))
                    got = self.unitrace(program("least_calls"), action, what)
                    self.assertEqual((got.returncode, got.stdout), (3, b"alive\n"), got.stderr)
                    self.assertRegex(got.stderr, rb"seccomp|recording ended early|could not record")
                    trace = max(self.traces(), key=lambda t: len(t.spans))
                    self.assertEqual(len(trace.named("before")), 1000)
                    for path in self.timelines():
                        path.unlink()

    def test_a_program_that_locks_itself_in_lives_and_keeps_what_it_recorded(self):
        for call in ("openat", "fallocate", "ftruncate", "madvise", "all"):
            self.check(call)

    def test_so_does_one_that_closes_its_descriptors_before(self):
        for call in ("openat", "madvise"):
            self.check(call, "closed")

    def check(self, *words):
        with self.subTest(words):
            bare = self.run_words(program("sandboxed"), *words)
            if bare.returncode == 77:
                self.skipTest(bare.stdout.decode())
            self.assertEqual((bare.returncode, bare.stdout), (3, b"alive\n"))
            got = self.unitrace(program("sandboxed"), *words)
            self.assertEqual((got.returncode, got.stdout), (3, b"alive\n"), got.stderr)
            self.assertIn(b"restricted its own system calls (seccomp)", got.stderr)
            trace = self.trace()
            self.assertEqual(len(trace.named("before")), 20000)
            recorded = len(trace.named("after"))
            self.assertGreater(recorded, 0)
            # The task that was open when the room ended has an unfinished begin.
            unfinished = sum(s.unfinished for s in trace.named("after"))
            made = 2 * (100000 + 10 + 10)
            self.assertEqual(trace.losses["dropped"] + 2 * recorded - unfinished, made)
            trace.path.unlink()


@unittest.skipUnless(shutil.which("unshare"), "unshare is not installed")
class NoProc(Case):
    """Without /proc a program is recorded all the same."""

    def run_without(self, *words):
        got = self.run_words("unshare", *(() if is_root() else ("-r",)), "-m", "sh", "-c",
                             'mount -t tmpfs none /proc && exec "$@"', "sh", UNITRACE, *words)
        if b"unshare" in got.stderr or b"mount" in got.stderr:
            self.skipTest("not here: " + got.stderr.decode().strip())
        return got

    def test_it_is_recorded(self):
        for options in ((), ("--sampling",), ("--sampling", "--sampling-by", "timer"), ("--memory",)):
            with self.subTest(options):
                got = self.run_without(*options, program("many_names"), 3, "fork")
                self.assertEqual((got.returncode, got.stdout), (0, b"same\n"), got.stderr)
                traces = self.traces()
                self.assertEqual(sum(len(t.named("parent")) for t in traces), 1)
                self.assertEqual(sum(len(t.processes) for t in traces), 2)
                self.assertTrue(all("many_names" in p["command"] for t in traces for p in t.processes))
                for path in self.timelines():
                    path.unlink()

    def test_ranks_are_known(self):
        got = self.run_without("env", "PMI_RANK=3", "PMI_SIZE=4", program("many_names"), 3)
        self.assertEqual(got.returncode, 0, got.stderr)
        self.assertEqual(self.trace().processes[0]["rank"], 3)


@unittest.skipUnless(is_root(), "not here: only root can make a program of another user's rights")
class Rights(Case):
    """A program that runs with other rights than its caller loads no library of the caller's."""

    def setUp(self):
        super().setUp()
        self.path = self.dir / "every_call"
        shutil.copy(program("every_call"), self.path)
        os.chown(self.path, 65534, 65534)
        self.path.chmod(0o4755)
        self.dir.chmod(0o755)

    def run_with(self, library):
        got = self.run_words(self.path, env=environment(INTEL_LIBITTNOTIFY64=str(library),
                                                        INTEL_JIT_PROFILER64=str(library)))
        self.assertEqual(got.returncode, 0, got.stderr)
        return got

    def test_neither_as_a_collector_nor_for_jit_code(self):
        library = self.dir / "libintruder.so"
        shutil.copy(program("libintruder.so"), library)
        library.chmod(0o755)
        self.path.chmod(0o755)
        self.assertIn(b"intruder as 0", self.run_with(library).stderr)
        self.path.chmod(0o4755)
        if os.statvfs(self.dir).f_flag & os.ST_NOSUID:
            self.skipTest("not here: programs of other rights are not possible")
        self.assertNotIn(b"intruder", self.run_with(library).stderr)

    def test_under_the_recorder_it_runs_as_alone(self):
        bare = self.run_words(self.path)
        got = self.unitrace(self.path)
        self.assertEqual((got.returncode, got.stdout), (bare.returncode, bare.stdout))
        self.assertEqual(self.timelines(), [])


class Words(Case):
    """What is said when something of ours was taken away fits what happened."""

    def test_a_session_that_was_removed_is_not_called_kept(self):
        got = self.unitrace("sh", "-c", f"'{program('every_call')}'; rm -rf \"$UT_SESSION\"")
        self.assertEqual(got.returncode, 125, got.stderr)
        self.assertIn(b"the recording is lost: somebody has removed", got.stderr)
        self.assertNotIn(b"is kept", got.stderr)

    def test_its_removal_does_not_hide_the_programs_status(self):
        got = self.unitrace("sh", "-c", 'rm -rf "$UT_SESSION"; exit 9')
        self.assertEqual(got.returncode, 9, got.stderr)

    def test_a_long_command_line_says_that_it_is_cut(self):
        trace = self.record(program("every_call"), "x" * 5000)
        self.assertTrue(trace.processes[0]["command"].endswith("xxx..."))
        trace.path.unlink()
        trace = self.record(program("every_call"), "x" * 50)
        self.assertTrue(trace.processes[0]["command"].endswith("xxx"))


class Disk(Case):
    def test_a_child_with_little_to_say_takes_little_room(self):
        got = self.unitrace("--keep-session", "--quiet", program("many_names"), 5, "fork")
        self.assertEqual(got.returncode, 0, got.stderr)
        session, = self.dir.glob("*.session")
        sizes = [p.stat().st_blocks * 512 for p in pathlib.Path(session).glob("*.spool")]
        self.assertEqual(len(sizes), 2)
        self.assertLessEqual(max(sizes), 128 << 10)


if __name__ == "__main__":
    main()
