#!/usr/bin/env python3
"""Switching the recording on and off: by the program, by its variable, by name, by size."""
import os
import subprocess
import sys
import textwrap
import unittest

from common import (PATIENCE, UNITRACE, Case, Trace, end_process, environment, main, need, program,
                    read_until)

need("steps", "hammer", "flight", "threads_many", "libmarks.so")
STEPS = program("steps")
ON = {"PTI_ENABLE_COLLECTION": "1"}


def words(text):
    return text.split()


class Conditional(Case):
    """--start-paused and its old name."""

    def steps(self, text, option="--start-paused", **env):
        got = self.unitrace(*([option] if option else []), STEPS, *words(text),
                            env=environment(**env))
        self.assertEqual(got.returncode, 0, got.stderr)
        self.stderr = got.stderr.decode()
        paths = self.timelines()
        trace = Trace(paths[0]) if paths else None
        for path in paths:
            path.unlink()
        return trace

    def names(self, text, *more, **env):
        trace = self.steps(text, *more, **env)
        return trace.names() if trace else []

    def test_starts_paused(self):
        self.assertEqual(self.names("task a task b"), [])

    def test_resume_and_pause(self):
        text = "task a resume task b pause task c resume task d"
        self.assertEqual(self.names(text), ["b", "d"])
        self.assertEqual(self.names(text, "--conditional-collection"), ["b", "d"])

    def test_pause_and_resume_are_shown(self):
        trace = self.steps("resume task a pause sleep 2 task b resume task c pause")
        found = [e["name"] for e in trace.instants if e["cat"] == "control"]
        self.assertEqual(found, ["collection resumed", "collection paused"] * 2)
        paused = trace.pauses()[-1]
        self.assertEqual(paused.cat, "control")
        self.assertGreaterEqual(paused.ns, 2000000)
        self.assertTrue(trace.one("a").end <= paused.begin <= paused.end <= trace.one("c").begin)

    def test_setenv(self):
        self.assertEqual(self.names("task a setenv 1 task b setenv 0 task c setenv yes task d"),
                         ["b", "d"])

    def test_setenv_without_overwriting(self):
        self.assertEqual(self.names("setenv 0 keepenv 1 task a unsetenv keepenv 1 task b"), ["b"])

    def test_putenv(self):
        self.assertEqual(self.names("task a putenv 1 task b putenv 0 task c"), ["b"])

    def test_unsetenv(self):
        self.assertEqual(self.names("setenv 1 task a unsetenv task b setenv 1 task c"), ["a", "c"])

    def test_clearenv(self):
        self.assertEqual(self.names("setenv 1 task a clearenv task b"), ["a"])

    def test_variable_set_before_the_first_mark(self):
        self.assertEqual(self.names("setenv 1 task a"), ["a"])

    def test_variable_set_before_the_start(self):
        self.assertEqual(self.names("task a pause task b", **ON), ["a"])
        self.assertEqual(self.names("task a", PTI_ENABLE_COLLECTION="0"), [])
        self.assertEqual(self.names("task a setenv 0 task b", **ON), ["a"])

    def test_pause_is_stronger_than_the_variable(self):
        self.assertEqual(self.names("task a pause setenv 1 task b resume task c", **ON),
                         ["a", "c"])

    def test_resume_is_stronger_than_the_variable(self):
        self.assertEqual(self.names("setenv 0 task a resume task b"), ["b"])

    def test_no_effect_without_the_option(self):
        self.assertEqual(self.names("task a pause task b resume task c setenv 0 task d "
                                    "unsetenv task e clearenv task f", None), list("abcdef"))
        self.assertEqual(self.names("task a", None, PTI_ENABLE_COLLECTION="0"), ["a"])

    def test_pause_in_another_thread_counts_for_all(self):
        self.assertEqual(self.names("resume task a thread task b pause task c"), ["a", "b"])

    # Tasks that are open when the switch moves

    def test_task_begun_before_a_pause_ends_where_it_ended(self):
        trace = self.steps("resume begin a sleep 1 pause sleep 5 end resume task b")
        a, paused = trace.one("a"), trace.pauses()[-1]
        self.assertFalse(a.unfinished)
        self.assertGreaterEqual(a.ns, 6000000)
        self.assertTrue(paused.begin <= a.end <= paused.end)
        self.assertFalse(trace.losses, trace.losses)

    def test_task_begun_in_a_pause_is_not_made_up(self):
        trace = self.steps("resume task a pause begin b resume end task c")
        self.assertEqual(trace.names(), ["a", "c"])
        self.assertFalse(trace.losses, trace.losses)

    def test_nested_tasks_across_pauses(self):
        trace = self.steps("resume begin A pause begin B resume begin C end end end task D "
                           "begin E pause end resume")
        self.assertEqual(sorted(trace.names()), list("ACDE"))
        a, c, d = trace.one("A"), trace.one("C"), trace.one("D")
        self.assertTrue(a.begin <= c.begin <= c.end <= a.end <= d.begin)
        self.assertFalse(trace.losses, trace.losses)

    def test_nested_tasks_of_two_domains_across_a_pause(self):
        trace = self.steps("resume begin A other B pause otherend begin C resume end end task D")
        self.assertEqual(sorted(trace.names()), list("ABD"))
        self.assertTrue(trace.one("B").end <= trace.one("A").end)
        self.assertFalse(trace.losses, trace.losses)

    def test_deep_nesting_across_a_pause(self):
        begins = " ".join(f"begin d{i}" for i in range(60))
        trace = self.steps(f"resume {begins} pause {'end ' * 30} resume {'end ' * 30} task after")
        self.assertEqual(len(trace.named("after")), 1)
        self.assertEqual(len([n for n in trace.names() if n[0] == "d"]), 60)
        self.assertFalse(trace.losses, trace.losses)

    def test_paused_for_ever_leaves_open_tasks_unfinished(self):
        trace = self.steps("resume begin a task b pause task c")
        self.assertTrue(trace.one("a").unfinished)
        self.assertEqual(trace.losses["unfinished"], 1)
        self.assertLessEqual(trace.one("b").end, trace.one("a").end)

    def test_the_end_of_an_overlapped_task_is_taken_in_a_pause(self):
        trace = self.steps("resume overlap 1 sleep 1 pause overlapend 1 sleep 5 resume task a")
        span = trace.over("1")
        self.assertFalse(span.unfinished)
        self.assertLessEqual(span.end, trace.pauses()[-1].end)

    def test_overlapped_tasks_across_a_pause_are_not_made_up(self):
        trace = self.steps("resume overlap 1 pause overlapend 1 sleep 5 overlap 1 resume "
                           "task a overlapend 1")
        self.assertLess(trace.over("1").begin, trace.pauses()[-1].begin + 1)
        self.assertLess(trace.over("1").end, trace.pauses()[-1].end - 4_900_000)  # it slept after that

    def test_legacy_events_across_a_pause_are_not_made_up(self):
        trace = self.steps("resume event e pause eventend e sleep 5 event e resume task a "
                           "eventend e")
        for span in trace.named("e"):
            self.assertLess(span.end, trace.pauses()[-1].end - 4_900_000)  # it slept after that

    def test_the_end_of_an_overlapped_task_begun_in_a_pause_is_no_stray(self):
        trace = self.steps("resume task a pause overlap 1 resume overlapend 1 task b")
        self.assertFalse([s for s in trace.overlapped if s.name == "1"])

    # Children

    def test_child_inherits_the_switch_and_has_its_own(self):
        got = self.unitrace("--start-paused", STEPS, *words(
            "resume task a fork task child pause task no"))
        self.assertEqual(got.returncode, 0, got.stderr)
        self.assertEqual(sorted(t.names() for t in self.traces()), [["a", "joined"], ["child"]])

    def test_child_of_a_paused_process_is_paused(self):
        got = self.unitrace("--start-paused", STEPS, *words("task a fork task b resume task c"))
        self.assertEqual(got.returncode, 0, got.stderr)
        names = [t.names() for t in self.traces()]
        self.assertIn(["c"], names)
        self.assertNotIn("joined", sum(names, []))

    def test_python_environ(self):
        script = textwrap.dedent(f"""
            import ctypes, os
            marks = ctypes.CDLL({str(program("libmarks.so"))!r})
            def mark(name):
                marks.marks_begin(name)
                marks.marks_end()
            mark(b"a")
            os.environ["PTI_ENABLE_COLLECTION"] = "1"
            mark(b"b")
            os.environ["PTI_ENABLE_COLLECTION"] = "0"
            mark(b"c")
            os.environ["PTI_ENABLE_COLLECTION"] = "1"
            mark(b"d")
            del os.environ["PTI_ENABLE_COLLECTION"]
            mark(b"e")
            marks.marks_resume()
            mark(b"f")
            marks.marks_pause()
            os.putenv("PTI_ENABLE_COLLECTION", "1")
            mark(b"g")
        """)
        trace = self.record("--conditional-collection", sys.executable, "-B", "-c", script)
        self.assertEqual(trace.names(), ["b", "d", "f"])

    def test_python_subprocess_keeps_its_environment(self):
        """The collector is preloaded for the variable's sake: nobody else may notice."""
        script = "import os; print(os.environ.get('LD_PRELOAD'), os.environ.get('X'), flush=True); " \
                 "os.environ['X'] = '2'; os.system('echo $X')"
        got = self.unitrace("--start-paused", sys.executable, "-B", "-c", script,
                            env=environment(X="1"))
        self.assertEqual(got.stdout.split()[-2:], [b"1", b"2"])


class ForGood(Case):
    def test_detach(self):
        trace = self.record(STEPS, *words("task a begin open detach task b resume task c"))
        self.assertEqual(trace.names(), ["a", "open"])
        self.assertTrue(trace.one("open").unfinished)

    def test_detach_reaches_forked_children(self):
        got = self.unitrace(STEPS, *words("task a detach fork task b"))
        self.assertEqual(got.returncode, 0)
        self.assertEqual(self.trace().names(), ["a"])

    def test_detach_as_the_first_call(self):
        got = self.unitrace(STEPS, *words("detach task a"))
        self.assertEqual(got.returncode, 0)
        self.assertEqual([t.names() for t in self.traces()], [[]] * len(self.traces()))

    def test_ignored_thread(self):
        trace = self.record(STEPS, *words("task a thread task b ignore task c event d"))
        self.assertEqual(trace.names(), ["a", "b"])
        self.assertEqual(trace.losses["ignored"], 3)

    def test_ignored_thread_keeps_quiet_after_fork(self):
        got = self.unitrace(STEPS, *words("task a ignore fork task b"))
        self.assertEqual(got.returncode, 0)
        self.assertEqual(sum((t.names() for t in self.traces()), []), ["a"])


class Named(Case):
    """--session, --pause, --resume, --stop from another process."""

    def setUp(self):
        super().setUp()
        self.name = f"e2e-{os.getpid()}-{self._testMethodName}"[:64]

    def begin(self, text, *options):
        process = self.start(UNITRACE, *options, "--session", self.name, STEPS, *words(text),
                             stdin=subprocess.PIPE)
        self.addCleanup(end_process, process)
        return process

    def tell(self, what, name=None, rc=0):
        got = self.unitrace(f"--{what}", name or self.name)
        self.assertEqual((got.returncode, got.stdout), (rc, b""))
        return got.stderr.decode().strip()

    def go_on(self, process):
        process.stdin.write(b"\n")
        process.stdin.flush()

    def finish(self, process):
        out, err = process.communicate(timeout=PATIENCE)
        self.assertEqual(process.returncode, 0, err)
        return err.decode()

    def test_pause_and_resume(self):
        p = self.begin("task a say 1 wait task b say 2 wait task c")
        read_until(p.stdout, b"1\n")
        self.assertEqual(self.tell("pause"), f"[INFO] Session {self.name} is paused")
        self.go_on(p)
        read_until(p.stdout, b"2\n")
        self.assertEqual(self.tell("resume"), f"[INFO] Session {self.name} is resumed")
        self.go_on(p)
        self.finish(p)
        self.assertEqual(self.trace().names(), ["a", "c"])

    def test_open_tasks_across_a_pause_from_outside(self):
        p = self.begin("begin a say 1 wait end begin b say 2 wait end task c")
        read_until(p.stdout, b"1\n")
        self.tell("pause")
        self.go_on(p)
        read_until(p.stdout, b"2\n")
        self.tell("resume")
        self.go_on(p)
        self.finish(p)
        trace = self.trace()
        self.assertEqual(trace.names(), ["a", "c"])
        self.assertFalse(trace.one("a").unfinished)
        self.assertLessEqual(trace.one("a").end, trace.one("c").begin)
        self.assertFalse(trace.losses, trace.losses)

    def test_stop_is_for_ever_and_the_program_goes_on(self):
        p = self.begin("task a say 1 wait task b say 2 wait task c say end")
        read_until(p.stdout, b"1\n")
        self.assertEqual(self.tell("stop"), f"[INFO] Session {self.name} is stopped and can no "
                         "longer be paused or resumed")
        self.go_on(p)
        read_until(p.stdout, b"2\n")
        self.assertEqual(self.tell("resume"), f"[WARNING] Session {self.name} is already stopped")
        self.go_on(p)
        self.finish(p)
        self.assertEqual(self.trace().names(), ["a"])

    def test_start_paused(self):
        p = self.begin("task a say 1 wait task b", "--start-paused")
        read_until(p.stdout, b"1\n")
        self.tell("resume")
        self.go_on(p)
        self.finish(p)
        self.assertEqual(self.trace().names(), ["b"])

    def test_the_name_alone_decides(self):
        p = self.begin("task a pause task b setenv 0 task c resume task d")
        self.finish(p)
        self.assertEqual(self.trace().names(), list("abcd"))

    def test_one_name_for_two_programs(self):
        first = self.begin("task a say 1 wait task b say 2 wait task c")
        read_until(first.stdout, b"1\n")
        second = self.begin("task d say 1 wait task e say 2 wait task f")
        read_until(second.stdout, b"1\n")
        self.tell("pause")
        for p in (first, second):
            self.go_on(p)
            read_until(p.stdout, b"2\n")
        self.tell("resume")
        for p in (first, second):
            self.go_on(p)
        self.finish(first)
        self.assertIn("was not stopped before reusing", self.finish(second))
        self.assertEqual(sorted(t.names() for t in self.traces()), [["a", "c"], ["d", "f"]])

    def test_the_second_program_of_a_stopped_session_records_nothing(self):
        first = self.begin("task a say 1 wait")
        read_until(first.stdout, b"1\n")
        self.tell("stop")
        self.finish(self.begin("task b"))
        self.go_on(first)
        self.finish(first)
        self.assertNotIn("b", sum((t.names() for t in self.traces()), []))

    def test_a_name_is_free_again_when_nobody_uses_it(self):
        p = self.begin("task a say 1 wait")
        read_until(p.stdout, b"1\n")
        self.tell("stop")
        self.go_on(p)
        self.finish(p)
        self.assertIn(f"no session named '{self.name}' is running", self.tell("pause", rc=1))
        for path in self.timelines():
            path.unlink()
        self.finish(self.begin("task b"))
        self.assertEqual(self.trace().names(), ["b"])
        self.assertFalse([n for n in os.listdir("/dev/shm") if self.name in n])

    def test_unknown_name(self):
        self.assertIn("no session named 'nobody-uses-this' is running",
                      self.tell("pause", "nobody-uses-this", rc=1))

    def test_children_obey_too(self):
        p = self.begin("task a fork task b say 1 wait task c say 2 wait task d")
        read_until(p.stdout, b"1\n")
        self.tell("pause")
        self.go_on(p)
        read_until(p.stdout, b"2\n")
        self.tell("resume")
        self.go_on(p)
        self.finish(p)
        self.assertEqual(sorted(t.names() for t in self.traces()), [["a", "joined"], ["b", "d"]])


class Limits(Case):
    def spool_bytes(self):
        return sum(p.stat().st_blocks * 512 for p in self.dir.glob("*.session/*.spool"))

    def check_tail(self, trace, last):
        """What is left of each thread is its end, without a hole."""
        for name in ("hammer 0", "hammer 1"):
            numbers = sorted(s.args["n"] for s in trace.named(name) if "n" in s.args)
            if numbers:
                self.assertEqual(numbers, list(range(numbers[0], last)), name)
        return numbers

    def test_flight_recorder_by_size(self):
        got = self.unitrace("--keep-last", "2M", "--keep-session", program("hammer"), 200000)
        self.assertEqual(got.returncode, 0, got.stderr)
        trace = self.trace()
        self.check_tail(trace, 200000)
        self.assertGreater(trace.losses["overwritten"], 0)
        self.assertEqual(trace.losses["dropped"], 0)
        self.assertLess(len(trace.spans), 200000)
        self.assertGreater(len(trace.spans), 5000)
        self.assertIn(b"flight recorder", got.stderr)
        # without a limit it would be 20 MB; a thread that is stopped while it hands a chunk on lets
        # the others take new ones meanwhile
        self.assertLess(self.spool_bytes(), 12 << 20)
        self.assertEqual({s.cat for s in trace.spans}, {"hammer"})

    def test_flight_recorder_by_time(self):
        """Everything of the last 10 ms is there; what is left of earlier times may have holes, and
        nothing is paired across one."""
        trace = self.record("--keep-last", "10ms", program("flight"), 60000)
        self.assertEqual(trace.losses["dropped"], 0)
        last = max(s.end for s in trace.spans)
        for name in ("outer 0", "outer 1"):
            spans = [s for s in trace.named(name) if "n" in s.args]
            numbers = [s.args["n"] for s in spans if s.begin > last - 10000000]
            self.assertEqual(numbers, list(range(60000 - len(numbers), 60000)))
            for a, b in zip(spans, spans[1:]):
                lost = b.args["n"] - a.args["n"] - 1
                self.assertGreaterEqual(b.begin - a.end, lost * 10, (a, b))

    def test_flight_recorder_keeps_everything_that_fits(self):
        trace = self.record("--keep-last", "64M", program("hammer"), 2000)
        self.assertEqual(len(trace.spans), 4000)
        self.assertFalse(trace.losses)

    def test_flight_recorder_with_a_task_that_began_long_ago(self):
        trace = self.record("--keep-last", "1M", STEPS, "begin", "outer", "many", 100000, "end",
                            "task", "last")
        self.assertEqual(trace.numbered("many ")[-1], 99999)
        trace.one("last")
        outer = trace.named("outer")
        self.assertTrue(not outer or not outer[0].unfinished)

    def test_flight_recorder_of_many_threads(self):
        trace = self.record("--keep-last", "1M", program("threads_many"))
        self.assertEqual(trace.losses["dropped"], 0)

    def test_max_size(self):
        got = self.unitrace("--max-size", "1M", "--keep-session", program("hammer"), 200000)
        self.assertEqual(got.returncode, 0, got.stderr)
        trace = self.trace()
        self.assertGreater(len(trace.spans), 1000)
        self.assertGreater(trace.losses["dropped"], 0)
        (spool,) = self.dir.glob("*.session/*.spool")  # its size: ext4 counts a block of its own, too
        self.assertLessEqual(spool.stat().st_size, 1 << 20)
        self.assertGreater(spool.stat().st_size, 1 << 19)
        for name in ("hammer 0", "hammer 1"):
            numbers = sorted(s.args["n"] for s in trace.named(name) if "n" in s.args)
            self.assertEqual(numbers, list(range(len(numbers))))
        self.assertIn(b"unitrace: ", got.stderr)

    def test_paused_costs_no_room(self):
        got = self.unitrace("--start-paused", "--keep-session", program("hammer"), 200000)
        self.assertEqual(got.returncode, 0, got.stderr)
        self.assertLessEqual(self.spool_bytes(), 1 << 20)


if __name__ == "__main__":
    main()
