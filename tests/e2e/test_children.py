#!/usr/bin/env python3
"""Children of every kind get a timeline each; hard circumstances cost records, never the program."""
# ci: labels slow
import os
import shutil
import signal
import subprocess
import sys
import textwrap
import unittest

from common import (BUILD, UNITRACE, Case, Trace, environment, is_root, main, need, program,
                    wait_for)

need("family", "plain", "libmarks.so")
FAMILY, PLAIN = program("family"), program("plain")
HUNDRED, TWO_HUNDRED = list(range(100)), list(range(200))
MANY = 80000


class Children(Case):
    def run_family(self, *words, options=(), **more):
        """Bare and recorded alike; gives the timelines by name of the program."""
        self.bare = self.run_words(FAMILY, *words, **more)
        self.got = self.unitrace(*options, FAMILY, *words, **more)
        self.assertSameAsBare(self.got, self.bare)
        self.assertEqual(self.bare.returncode, 0, self.bare.stderr)
        return self.traces_by_name()

    def parent_of(self, traces):
        """The timeline with all tasks of the parent and, apart from those, only its own."""
        parent, = [t for t in traces["family"] if t.numbered("parent ")]
        return parent

    def assertPrefix(self, traces, prefix, numbers):
        """Exactly one timeline has these tasks, and no others."""
        found, = [t for t in traces if t.numbered(prefix)]
        self.assertEqual(found.numbered(prefix), numbers)
        self.assertEqual(len(found.spans), len(numbers), found)
        self.assertFalse(found.losses, found.losses)

    def test_fork(self):
        traces = self.run_family("fork")["family"]
        self.assertEqual(len(traces), 5)
        self.assertEqual(len({t.pid for t in traces}), 5)
        for child in ("child0 ", "child1 ", "child2 ", "grandchild "):
            self.assertPrefix(traces, child, HUNDRED)
        self.assertPrefix(traces, "parent ", list(range(300)))
        self.assertClean()

    def check_exec(self, how):
        traces = self.run_family(how, PLAIN)
        self.assertEqual(sorted(traces), ["family", "plain"])
        self.assertPrefix(traces["family"], "parent ", TWO_HUNDRED)
        self.assertEqual(traces["plain"][0].names(), ["plain work"])
        self.assertNotEqual(traces["plain"][0].pid, traces["family"][0].pid)

    def test_vfork_and_exec(self):
        self.check_exec("vfork")

    def test_posix_spawn(self):
        self.check_exec("spawn")

    def test_system(self):
        self.check_exec("system")

    def test_raw_clone(self):
        traces = self.run_family("clone")["family"]
        self.assertEqual(len(traces), 2)
        self.assertPrefix(traces, "cloned ", HUNDRED)
        self.assertPrefix(traces, "parent ", TWO_HUNDRED)

    def test_fork_while_another_thread_records(self):
        traces = self.run_family("threadfork")["family"]
        children = [t for t in traces if not t.numbered("parent ")]
        self.assertEqual(len(children), 10)
        for child in children:
            self.assertEqual(child.numbered("forked "), HUNDRED)
            self.assertEqual(len(child.spans), 100)
        self.assertEqual(self.parent_of({"family": traces}).numbered("parent "), TWO_HUNDRED)

    def test_daemon_that_outlives_the_program(self):
        traces = self.run_family("daemon")["family"]
        self.assertEqual(len(traces), 2)
        self.assertPrefix(traces, "daemon ", HUNDRED)
        self.assertPrefix(traces, "parent ", TWO_HUNDRED)

    def test_daemon_that_is_not_waited_for(self):
        os.mkfifo(self.dir / "pipe")
        got = self.unitrace("--wait-children", "0", FAMILY, "daemon", self.dir / "pipe")
        self.assertEqual((got.returncode, got.stdout), (0, b"done\n"), got.stderr)
        self.assertPrefix(self.traces(), "parent ", TWO_HUNDRED)
        self.assertIn(b"unitrace export", got.stderr)
        session, = self.dir.glob("*.session")
        self.assertIn(b"still recording", self.unitrace("export", session).stderr)
        (self.dir / "pipe").write_bytes(b"")  # the daemon goes on, and ends
        wait_for(lambda: self.unitrace("export", "--remove", session).returncode == 0,
                 "end of the daemon")
        self.assertPrefix(self.traces_by_name()["family"], "daemon ", HUNDRED)

    def test_exec_of_itself(self):
        got = self.unitrace(FAMILY, "again")
        self.assertEqual(got.returncode, 0, got.stderr)
        names = sorted(p.name for p in self.timelines())
        pid = self.traces()[0].pid
        self.assertEqual(names, sorted([f"family.{pid}.json", f"family.{pid}-2.json",
                                        f"family.{pid}-3.json"]))
        numbers = [len(t.numbered("parent ")) for t in self.traces_by_name()["family"]]
        self.assertEqual(sorted(numbers), [100, 100, 200])

    def test_exec_of_proc_self_exe_keeps_the_name(self):
        got = self.unitrace(FAMILY, "again", env=environment(FAMILY_EXE="1"))
        self.assertEqual(got.returncode, 0, got.stderr)
        self.assertEqual(list(self.traces_by_name()), ["family"])

    def test_shell_script(self):
        script = self.dir / "script.sh"
        script.write_text(f"{PLAIN} one\n{PLAIN} two | cat\n({PLAIN} three) &\nwait\nexit 5\n")
        got = self.unitrace("sh", script)
        self.assertEqual(got.returncode, 5)
        self.assertEqual(sorted(got.stdout.split()), [b"one", b"three", b"two"])
        traces = self.traces_by_name()
        self.assertEqual([t.names() for t in traces.pop("plain")], [["plain work"]] * 3)
        self.assertEqual(traces, {})

    def test_script_has_its_own_name(self):
        script = self.dir / "my_script"
        script.write_text(f"#!{sys.executable} -B\nimport ctypes\n"
                          f"ctypes.CDLL('{program('libmarks.so')}').marks_begin(b'x')\n")
        script.chmod(0o755)
        self.assertEqual(self.unitrace(script).returncode, 0)
        self.assertEqual(list(self.traces_by_name()), ["my_script"])

    def test_rank_is_in_the_name(self):
        got = self.unitrace(FAMILY, "fork", env=environment(PMI_RANK="7"))
        self.assertEqual(got.returncode, 0)
        for path in self.timelines():
            self.assertRegex(path.name, r"^family\.\d+\.7\.json$")
            self.assertEqual(Trace(path).processes[0]["rank"], 7)

    def test_ranks_of_children(self):
        """One unitrace above the ranks: each child says which it is."""
        script = f"for r in 0 1 2; do PMI_RANK=$r {PLAIN} & done; wait"
        self.assertEqual(self.unitrace("sh", "-c", script).returncode, 0)
        ranks = sorted(int(p.name.split(".")[2]) for p in self.timelines())
        self.assertEqual(ranks, [0, 1, 2])

    def test_children_are_left_out_on_request(self):
        for how in ("fork", "clone", "spawn", "system"):
            with self.subTest(how):
                got = self.unitrace("--follow-child-process", 0, FAMILY, how, PLAIN)
                self.assertEqual(got.returncode, 0, got.stderr)
                trace = self.trace()
                self.assertEqual(trace.process_name, "family")
                self.assertEqual(len(trace.spans), len(trace.numbered("parent ")))
                trace.path.unlink()
        self.assertClean()

    def test_child_without_environment_is_left_alone(self):
        traces = self.run_family("env", PLAIN)
        self.assertEqual(list(traces), ["family"])
        self.assertPrefix(traces["family"], "parent ", TWO_HUNDRED)

    def test_many_short_processes(self):
        script = f"for i in $(seq 60); do {PLAIN} & done; wait"
        self.assertEqual(self.unitrace("--quiet", "sh", "-c", script).returncode, 0)
        self.assertEqual(len(self.traces_by_name()["plain"]), 60)


class Python(Case):
    """Python's multiprocessing, both ways to start; through our ittapi package if it is there."""

    SCRIPT = """
        import ctypes, multiprocessing, os, sys
        marks = ctypes.CDLL({library!r})

        def mark(name):
            marks.marks_begin(name.encode())
            marks.marks_end()

        def work(i):
            for k in range(10):
                mark(f"item {{i * 10 + k}}")
            return os.getpid()

        if __name__ == "__main__":
            multiprocessing.set_start_method(sys.argv[1])
            mark("before pool")
            with multiprocessing.Pool(2) as pool:
                pids = pool.map(work, range(20), chunksize=1)
                pool.close()
                pool.join()
            mark("after pool")
            print(len(set(pids)) <= 2)
    """

    def check(self, how):
        script = self.dir / "pool.py"
        script.write_text(textwrap.dedent(self.SCRIPT.format(library=str(program("libmarks.so")))))
        got = self.unitrace("--quiet", sys.executable, "-B", script, how)
        self.assertEqual((got.returncode, got.stdout), (0, b"True\n"), got.stderr)
        traces = self.traces()
        self.assertEqual(len({t.pid for t in traces}), len(traces))
        items = sorted(n for t in traces for n in t.numbered("item "))
        self.assertEqual(items, list(range(200)))
        parent, = [t for t in traces if "before pool" in t.names()]
        self.assertEqual(parent.names(), ["before pool", "after pool"])

    def test_multiprocessing_fork(self):
        self.check("fork")

    def test_multiprocessing_spawn(self):
        self.check("spawn")

    def test_multiprocessing_forkserver(self):
        self.check("forkserver")

    def test_ittapi_package(self):
        python = BUILD / "venv" / "bin" / "python"
        if not python.exists() or subprocess.run([python, "-c", "import ittapi"],
                                                 stderr=subprocess.DEVNULL).returncode:
            self.skipTest("no ittapi package in the build's venv")
        got = self.unitrace("--quiet", python, "-c", textwrap.dedent("""
            import ittapi, os
            with ittapi.task("in parent"):
                pass
            if not os.fork():
                with ittapi.task("in child"):
                    pass
                os._exit(0)
            os.wait()
        """))
        self.assertEqual(got.returncode, 0, got.stderr)
        self.assertEqual(sorted(t.names() for t in self.traces()), [["in child"], ["in parent"]])


class HardTimes(Children):
    """Everything of Children again is not wanted here: see load_tests."""

    def losing(self, *words, options=(), **more):
        traces = self.run_family(*words, options=options, **more)
        parent = self.parent_of(traces)
        return parent, len(parent.named("many"))

    def assertTold(self, trace, kept, wanted):
        """What is missing was counted and said."""
        self.assertLess(kept, wanted)
        self.assertGreater(trace.losses["dropped"], 0)
        self.assertIn(b"unitrace: ", self.got.stderr[len(self.bare.stderr):])

    def test_all_descriptors_closed(self):
        parent, many = self.losing("close")
        self.assertEqual(many, 2 * MANY)
        self.assertEqual(parent.numbered("parent "), TWO_HUNDRED)

    def test_descriptors_closed_before_the_first_mark(self):
        parent, many = self.losing("late-close")
        self.assertEqual((many, parent.numbered("parent ")), (2 * MANY, HUNDRED))

    def test_chdir(self):
        traces = self.run_family("chdir")["family"]
        self.assertEqual(len(traces), 5)
        self.assertPrefix(traces, "grandchild ", HUNDRED)

    @unittest.skipUnless(is_root(), "not here: chroot needs root")
    def test_chroot(self):
        (self.dir / "jail").mkdir()
        parent, many = self.losing("chroot", self.dir / "jail")
        self.assertEqual((many, parent.numbered("parent ")), (MANY, TWO_HUNDRED))

    @unittest.skipUnless(is_root() and shutil.which("unshare"), "not here: unshare needs root")
    def test_own_pid_namespace(self):
        """Two processes with the same number: nothing is mixed up."""
        got = self.unitrace("sh", "-c", f"unshare -pf {PLAIN}; unshare -pf {PLAIN}")
        self.assertEqual(got.returncode, 0, got.stderr)
        names = sorted(p.name for p in self.timelines())
        self.assertEqual(names, ["plain.1-2.json", "plain.1.json"])
        self.assertEqual([t.names() for t in self.traces()], [["plain work"]] * 2)

    @unittest.skipUnless(is_root() and shutil.which("unshare"), "not here: unshare needs root")
    def test_process_one_has_a_child_that_is_process_one(self):
        words = ("unshare", "-pf", "--mount-proc")
        if self.run_words(*words, "true").returncode:
            self.skipTest("not here: unshare --mount-proc does not work")
        got = self.unitrace(*words, FAMILY, "newpid")
        self.assertEqual((got.returncode, got.stdout), (0, b"done\n"), got.stderr)
        self.assertPrefix(self.traces(), "namespaced ", HUNDRED)

    def test_few_descriptors(self):
        parent, many = self.losing("nofile")
        self.assertEqual((many, parent.numbered("parent ")), (MANY, TWO_HUNDRED))

    def test_no_descriptor_for_the_first_mark(self):
        self.bare = self.run_words(FAMILY, "late-nofile")
        self.got = self.unitrace(FAMILY, "late-nofile")
        self.assertSameAsBare(self.got, self.bare)

    def test_small_files_only(self):
        """RLIMIT_FSIZE sends SIGXFSZ: the program must not get one because of us."""
        parent, many = self.losing("fsize")
        self.assertEqual(parent.numbered("parent ")[:100], HUNDRED)

    def test_small_files_only_before_the_first_mark(self):
        self.bare = self.run_words(FAMILY, "late-fsize")
        self.got = self.unitrace(FAMILY, "late-fsize")
        self.assertSameAsBare(self.got, self.bare)

    def test_no_more_address_space(self):
        parent, many = self.losing("as")
        self.assertEqual(parent.numbered("parent ")[:100], HUNDRED)
        self.assertTold(parent, many, MANY)

    def test_no_address_space_for_the_first_mark(self):
        self.bare = self.run_words(FAMILY, "late-as")
        self.got = self.unitrace(FAMILY, "late-as")
        self.assertSameAsBare(self.got, self.bare)

    def test_a_process_without_descriptors_is_not_said_to_have_no_marks(self):
        got = self.unitrace(FAMILY, "late-nofile")
        self.assertNotIn(b"used ITT", got.stderr)

    @unittest.skipUnless(is_root(), "not here: mounting a small disk needs root")
    def test_full_disk(self):
        disk = self.dir / "disk"
        disk.mkdir()
        mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", disk],
                                 capture_output=True)
        if mounted.returncode:
            self.skipTest(f"not here: cannot mount: {mounted.stderr}")
        self.addCleanup(subprocess.run, ["umount", "-l", disk])
        parent, many = self.losing("close", options=("--spool-dir", disk))
        self.assertEqual(parent.numbered("parent ")[:100], HUNDRED)
        self.assertGreater(many, 1000)
        self.assertTold(parent, many, 2 * MANY)
        self.assertEqual(list(disk.iterdir()), [])

    @unittest.skipUnless(is_root(), "not here: mounting a small disk needs root")
    def test_disk_with_no_room_at_all(self):
        disk = self.dir / "disk"
        disk.mkdir()
        mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", disk],
                                 capture_output=True)
        if mounted.returncode:
            self.skipTest(f"not here: cannot mount: {mounted.stderr}")
        self.addCleanup(subprocess.run, ["umount", "-l", disk])
        self.bare = self.run_words(FAMILY, "close")
        self.got = self.unitrace("--spool-dir", disk, FAMILY, "close")
        self.assertSameAsBare(self.got, self.bare)

    @unittest.skipUnless(is_root(), "not here: needs another user")
    def test_program_that_gives_up_its_rights(self):
        """A child of another user cannot write to the session: it runs as if alone."""
        self.dir.chmod(0o755)
        plain = shutil.copy(PLAIN, self.dir)  # the build may lie where nobody may look
        got = self.unitrace(sys.executable, "-B", "-c", textwrap.dedent(f"""
            import os, subprocess
            def other(): os.setgid(65534); os.setuid(65534)
            print(subprocess.run(["{plain}", "hello"], preexec_fn=other).returncode, flush=True)
        """))
        self.assertEqual((got.returncode, got.stdout), (0, b"hello\n0\n"), got.stderr)


def load_tests(loader, _tests, _pattern):
    suite = unittest.TestSuite()
    for case in (Children, Python):
        suite.addTests(loader.loadTestsFromTestCase(case))
    own = [n for n in loader.getTestCaseNames(HardTimes) if n in vars(HardTimes)]
    suite.addTests(map(HardTimes, own))
    return suite


if __name__ == "__main__":
    main()
