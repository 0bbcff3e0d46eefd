#!/usr/bin/env python3
"""Whatever ends a program: every completed record is there, and the program did not notice us."""
# ci: labels slow
import os
import signal

from common import (UNITRACE, Case, Trace, children_of, end_process, main, need, program, read_until,
                    wait_for)

need("ending", "plain", "hammer")
ENDING = program("ending")
TASKS = 5000


class CrashMatrix(Case):
    def assertComplete(self, trace, prefix="task ", open_names=("open outer", "open inner")):
        """All numbered tasks once, in order; the open ones as unfinished, around what follows."""
        self.assertEqual(trace.numbered(prefix), list(range(TASKS)))
        marked = [s.args["number"] for s in trace.spans if s.name.startswith(prefix) and
                  "number" in s.args]
        self.assertEqual(sorted(marked), list(range(0, TASKS, 100)))
        for name in open_names:
            self.assertTrue(trace.one(name).unfinished, name)
        finished = [s for s in trace.spans if s.name not in open_names and "open" not in s.name]
        self.assertFalse([s for s in finished if s.unfinished and s.name != "thread task"])
        self.assertFalse(trace.losses["dropped"] + trace.losses["torn"], trace.losses)

    def check(self, *how, traces=1, status=None):
        """The program bare and recorded: same status, same output, everything in the timeline."""
        bare = self.run_words(ENDING, *how)
        got = self.unitrace(ENDING, *how)
        self.assertSameAsBare(got, bare)
        if status is not None:
            self.assertEqual(bare.returncode, status)
        self.assertEqual(len(self.timelines()), traces)
        self.assertClean()
        return self.traces_by_name()["ending"]

    def simple(self, how, status):
        traces = self.check(how, status=status)
        self.assertEqual(len(traces), 1)
        self.assertComplete(traces[0])
        self.assertEqual(traces[0].losses["unfinished"], 2)
        return traces[0]

    def test_return(self):
        self.simple("return", 0)

    def test_exit(self):
        self.simple("exit", 42)

    def test_underscore_exit(self):
        self.simple("_exit", 43)

    def test_quick_exit(self):
        self.simple("quick_exit", 44)

    def test_abort(self):
        self.simple("abort", -signal.SIGABRT)

    def test_segmentation_fault(self):
        self.simple("segv", -signal.SIGSEGV)

    def test_sigterm(self):
        self.simple("term", -signal.SIGTERM)

    def test_sigkill(self):
        self.simple("kill", -signal.SIGKILL)

    def test_stack_overflow(self):
        self.simple("stack", -signal.SIGSEGV)

    def test_killed_by_the_kernel_at_a_limit(self):
        # As the out-of-memory killer does it: SIGKILL from the kernel in the middle of work.
        self.simple("cpu", -signal.SIGKILL)

    def test_exec_of_another_program(self):
        traces = self.check("exec", program("plain"), traces=2, status=0)
        self.assertComplete(traces[0])
        plain = self.traces_by_name()["plain"]
        self.assertEqual(plain[0].names(), ["plain work"])
        self.assertEqual(plain[0].pid, traces[0].pid)

    def test_exec_of_a_program_without_itt(self):
        bare = self.run_words(ENDING, "exec", "/bin/echo", "hello")
        got = self.unitrace(ENDING, "exec", "/bin/echo", "hello")
        self.assertSameAsBare(got, bare)
        self.assertIn(b"hello", got.stdout)
        self.assertComplete(self.trace())

    def test_fork_without_exec(self):
        traces = self.check("fork", traces=2, status=7)
        self.assertEqual(len({t.pid for t in traces}), 2)
        child, parent = sorted(traces, key=lambda t: "task 0" in t.names())
        self.assertComplete(parent)
        self.assertComplete(child, "child ", ("child open",))
        self.assertEqual(child.numbered("task "), [])
        self.assertEqual(parent.numbered("child "), [])
        self.assertEqual(child.losses["unfinished"], 1)

    def test_thread_still_running_at_exit(self):
        trace = self.check("thread", status=7)[0]
        self.assertComplete(trace)
        self.assertTrue(trace.one("thread open").unfinished)
        tasks = trace.named("thread task")
        self.assertGreater(len(tasks), 1000)
        self.assertLessEqual(sum(s.unfinished for s in tasks), 1)
        self.assertEqual(trace.thread_names()[tasks[0].tid], "for ever")

    def test_unfinished_tasks_reach_to_the_last_sign_of_life(self):
        trace = self.simple("kill", -signal.SIGKILL)
        outer, inner = trace.one("open outer"), trace.one("open inner")
        self.assertLessEqual(outer.begin, inner.begin)
        self.assertEqual(outer.end, max(s.end for s in trace.spans))
        self.assertAlmostEqual(inner.end, outer.end, delta=1)  # ns: an inner one ends first

    def test_launcher_killed_in_the_middle(self):
        """Nothing is lost: unitrace export reads what is there, during and after."""
        launcher = self.start(UNITRACE, ENDING, "wait")
        self.addCleanup(end_process, launcher)
        read_until(launcher.stdout, b"recorded")
        children = children_of(launcher.pid)
        self.assertEqual(len(children), 1)
        os.kill(launcher.pid, signal.SIGKILL)
        launcher.wait()
        self.assertEqual(self.timelines(), [])
        session, = self.dir.glob("*.session")

        refused = self.unitrace("export", session)
        self.assertNotEqual(refused.returncode, 0)
        self.assertIn(b"still recording", refused.stderr)
        live = self.unitrace("export", "--live", session)
        self.assertEqual(live.returncode, 0, live.stderr)
        self.assertComplete(self.trace())
        self.timelines()[0].unlink()

        os.kill(children[0], signal.SIGTERM)
        wait_for(lambda: self.unitrace("export", "--remove", session).returncode == 0,
                 "recording that has ended")
        trace = self.traces_by_name()["ending"][0]
        self.assertComplete(trace)
        self.assertEqual(trace.pid, children[0])
        self.assertClean()

    def test_killed_at_any_moment(self):
        """SIGKILL while two threads record: what is in the file is a prefix, without holes."""
        for recorded in (1, 10, 1000, 5000, 20000):
            with self.subTest(recorded):
                got = self.unitrace("--quiet", program("hammer"), "killed", recorded)
                self.assertEqual(got.returncode, -signal.SIGKILL, got.stderr)
                path, = self.timelines()
                trace = Trace(path)
                self.assertPrefix(trace)
                self.assertGreaterEqual(len(trace.named("hammer 0")), recorded)
                path.unlink()

    def assertPrefix(self, trace):
        self.assertFalse(trace.losses["dropped"] + trace.losses["stray_ends"], trace.losses)
        for thread in range(2):
            name = f"hammer {thread}"
            spans = sorted((s for s in trace.spans if s.name == name), key=lambda s: s.begin)
            numbers = [s.args["n"] for s in spans if "n" in s.args]
            # Only the last may lack its number: killed between begin and metadata.
            self.assertGreaterEqual(len(numbers), len(spans) - 1)
            self.assertEqual(numbers, list(range(len(numbers))))
            self.assertLessEqual(sum(s.unfinished for s in spans), 1)


if __name__ == "__main__":
    main()
