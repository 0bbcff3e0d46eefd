#!/usr/bin/env python3
"""unitrace ends as the program ended, passes its streams and signals through, and always writes."""
import json
import os
import pty
import shutil
import signal
import subprocess

from common import children_of, wait_for
from launch_support import (BUILD, COLLECTOR, PATIENCE, PROBE, UNITRACE, Case, clean_env, main,
                            need)

need(UNITRACE, COLLECTOR, PROBE)


class Ending(Case):
    def export_when_ended(self, session):
        """Refused while somebody still records."""
        wait_for(lambda: self.unitrace("export", "--remove", session).returncode == 0,
                 "recording that has ended")


def wait_for_line(stream, text):
    """Reads until the program has said text: from then on it is ready for signals."""
    seen = b""
    while text not in seen:
        got = os.read(stream.fileno() if hasattr(stream, "fileno") else stream, 4096)
        if not got:
            raise AssertionError(f"ended before it said {text!r}: {seen!r}")
        seen += got
    return seen


class ProgramEnds(Case):
    def test_success(self):
        self.assertEqual(self.unitrace(PROBE).returncode, 0)
        self.assertRecorded()

    def test_exit_codes_are_passed_on(self):
        for code in (1, 2, 7, 125, 126, 127, 255):
            self.assertEqual(self.unitrace("--quiet", PROBE, "exit", code).returncode, code)

    def test_the_trace_says_how_a_failed_program_ended(self):
        for words, fact in ((("exit", 3), {"exit": 3}), (("signal", 11), {"signal": 11}), (("exit", 0), None)):
            with self.subTest(words):
                first = self.dir / f"run-{words[1]}.json"
                self.unitrace("-o", first, PROBE, *words)
                (seen,) = self.ended(first)
                if fact:
                    fact["after_last_ns"] = seen.get("after_last_ns")
                    self.assertGreater(fact["after_last_ns"], 0)
                self.assertEqual(seen, fact)
                for output in ("again.utr", "again.pftrace", "again.json", "merged.json"):
                    output = f"{words[1]}-{output}"
                    self.unitrace("merge" if "merged" in output else "export", "-o", output, first)
                    first = self.dir / output
                    (ended,) = self.ended(first)
                    self.assertEqual(ended, fact, output)

    def ended(self, trace):
        shown = trace.with_suffix(".shown.json")
        self.unitrace("export", "-o", shown, trace)
        return [p.get("ended") for p in json.loads(shown.read_text())["otherData"]["processes"]]

    def test_death_by_signal_is_seen_as_such(self):
        for sig in (signal.SIGSEGV, signal.SIGTERM, signal.SIGKILL, signal.SIGABRT,
                    signal.SIGPIPE, signal.SIGINT, signal.SIGBUS):
            with self.subTest(sig.name):
                self.assertEqual(self.unitrace(PROBE, "signal", int(sig)).returncode, -sig)
                self.assertRecorded()
                self.timelines()[0].unlink()

    def test_no_core_of_our_own(self):
        self.unitrace(PROBE, "signal", int(signal.SIGSEGV))
        self.assertEqual([f for f in self.files() if f.startswith("core")], [])

    def test_shell_sees_139(self):
        rc = subprocess.run(["sh", "-c", f"{UNITRACE} --quiet {PROBE} signal 11; exit $?"],
                            cwd=self.dir, env=clean_env(), stderr=subprocess.DEVNULL).returncode
        self.assertEqual(rc, 139)

    def test_program_without_itt(self):
        got = self.unitrace("sh", "-c", "exit 3")
        self.assertEqual(got.returncode, 3)
        self.assertIn(b"nothing was recorded: sh itself has no ITT inside", got.stderr)
        self.assertEqual(self.files(), [])

    def test_exec_of_itself_gives_two_timelines(self):
        self.assertEqual(self.unitrace(PROBE, "exec", "exit", 5).returncode, 5)
        self.assertRecorded(2)
        self.assertTrue(any("-2.json" in f for f in self.files()))


class ProgramDoesNotStart(Case):
    def test_missing_program_is_127(self):
        got = self.unitrace("./no-such-program")
        self.assertEqual(got.returncode, 127)
        self.assertEqual(got.stderr, b"unitrace: ./no-such-program: program not found\n")
        self.assertEqual(self.files(), [])

    def test_plain_file_is_126(self):
        (self.dir / "plain").write_text("text")
        got = self.unitrace("./plain")
        self.assertEqual(got.returncode, 126)
        self.assertIn(b"Permission denied", got.stderr)

    def test_missing_interpreter_is_126(self):
        script = self.dir / "script"
        script.write_text("#!/no/such/interpreter\n")
        script.chmod(0o755)
        got = self.unitrace("./script")
        self.assertEqual(got.returncode, 126)
        self.assertIn(b"interpreter is missing", got.stderr)

    def test_missing_collector_is_125(self):
        bin_dir = self.dir / "moved" / "bin"
        bin_dir.mkdir(parents=True)
        moved = shutil.copy(UNITRACE, bin_dir)
        got = subprocess.run([moved, "true"], cwd=self.dir, env=clean_env(), capture_output=True)
        self.assertEqual(got.returncode, 125)
        self.assertIn(b"the collector is missing", got.stderr)
        (self.dir / "moved" / "lib").mkdir()
        (self.dir / "moved" / "lib" / "libunitrace.so").write_text("no library")
        got = subprocess.run([moved, "true"], cwd=self.dir, env=clean_env(), capture_output=True)
        self.assertEqual(got.returncode, 125)
        self.assertIn(b"not a shared library", got.stderr)
        self.assertEqual(self.files(), ["moved"])

    def test_no_place_for_the_session_is_125(self):
        got = self.unitrace("--spool-dir", "/proc", "true")
        self.assertEqual(got.returncode, 125)
        self.assertEqual(len(got.stderr.splitlines()), 1)
        self.assertIn(b"--spool-dir", got.stderr)

    def test_misuse_is_2_with_a_suggestion(self):
        for words, hint in ((["exprot", "x"], b"did you mean 'export'?"),
                            (["--chrome-itt-loging", "x"], b"did you mean --chrome-itt-logging?"),
                            (["export", "--overwite", "x"], b"did you mean --overwrite?"),
                            (["--chrome", "x"], b"ambiguous: --chrome-itt-logging"),
                            ([], None), (["record"], b"no program"), (["info"], b"no trace given")):
            got = self.unitrace(*words)
            self.assertEqual(got.returncode, 2 if words else 0, words)
            self.assertIn(hint or b"", got.stderr)


class Streams(Case):
    def test_input_and_output_pass_unchanged(self):
        data = os.urandom(1 << 20)
        got = self.unitrace("cat", input=data)
        self.assertEqual(got.stdout, data)

    def test_nothing_of_ours_is_on_stdout(self):
        self.assertEqual(self.unitrace(PROBE, "say", "hello").stdout, b"hello\n")

    def test_quiet_is_quiet(self):
        self.assertEqual(self.unitrace("--quiet", PROBE).stderr, b"")

    def test_closed_stderr_does_not_lose_the_trace(self):
        read, write = os.pipe()
        process = subprocess.Popen([str(UNITRACE), str(PROBE), "exit", "4"], cwd=self.dir,
                                   env=clean_env(), stderr=write)
        os.close(write)
        os.close(read)
        self.assertEqual(process.wait(PATIENCE), 4)
        self.assertRecorded()

    def test_no_descriptor_leaks_into_the_program(self):
        got = self.unitrace("sh", "-c", "ls /proc/self/fd | wc -l")
        plain = subprocess.run(["sh", "-c", "ls /proc/self/fd | wc -l"], capture_output=True)
        self.assertEqual(got.stdout, plain.stdout)


class Signals(Ending):
    def test_sigterm_to_unitrace_reaches_the_program(self):
        process = self.start(PROBE, "say", "ready", "wait")
        wait_for_line(process.stdout, b"ready")
        process.terminate()
        process.communicate(timeout=PATIENCE)
        self.assertEqual(process.returncode, -signal.SIGTERM)
        self.assertRecorded()

    def test_handled_signal_is_forwarded_once(self):
        process = self.start(PROBE, "usr1", "say", "ready", "wait", "exit", "6")
        wait_for_line(process.stdout, b"ready")
        process.send_signal(signal.SIGUSR1)
        out, _ = process.communicate(timeout=PATIENCE)
        self.assertEqual(process.returncode, 6)
        self.assertEqual(out, b"got usr1\n")

    def test_interrupt_of_the_group_still_writes(self):
        process = self.start(PROBE, "say", "ready", "wait", start_new_session=True)
        wait_for_line(process.stdout, b"ready")
        os.killpg(process.pid, signal.SIGINT)
        process.communicate(timeout=PATIENCE)
        self.assertEqual(process.returncode, -signal.SIGINT)
        self.assertRecorded()

    def start_on_terminal(self, *words):
        pid, fd = pty.fork()
        if pid == 0:
            os.chdir(self.dir)
            os.execve(UNITRACE, ["unitrace", *map(str, words)], clean_env())
        self.addCleanup(os.close, fd)
        return pid, fd

    def test_ctrl_c_on_a_terminal_still_writes(self):
        pid, fd = self.start_on_terminal(PROBE, "say", "ready", "wait")
        wait_for_line(fd, b"ready")
        os.write(fd, b"\x03")
        _, status = os.waitpid(pid, 0)
        self.assertEqual(os.WTERMSIG(status), signal.SIGINT)
        self.assertRecorded()

    def test_stop_and_continue_as_one_job(self):
        process = self.start(PROBE, "say", "ready", "wait", process_group=0) \
            if "process_group" in subprocess.Popen.__init__.__code__.co_varnames else \
            self.start(PROBE, "say", "ready", "wait", preexec_fn=os.setpgrp)
        wait_for_line(process.stdout, b"ready")
        os.killpg(process.pid, signal.SIGTSTP)
        _, status = os.waitpid(process.pid, os.WUNTRACED)
        self.assertTrue(os.WIFSTOPPED(status))
        os.killpg(process.pid, signal.SIGCONT)
        os.waitpid(process.pid, os.WCONTINUED)
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=PATIENCE)
        self.assertEqual(process.returncode, -signal.SIGTERM)
        self.assertRecorded()

    def test_killed_launcher_does_not_take_the_program_along(self):
        process = self.start(PROBE, "usr1", "say", "ready", "wait")
        wait_for_line(process.stdout, b"ready")
        child, = children_of(process.pid)
        process.kill()
        process.wait()
        os.kill(child, signal.SIGUSR1)
        self.assertEqual(process.stdout.read(), b"got usr1\n")
        process.stderr.close()
        process.stdout.close()
        session = [f for f in self.files() if f.endswith(".session")]
        self.assertEqual(len(session), 1)
        self.export_when_ended(session[0])
        self.assertRecorded()


class Children(Ending):
    def test_child_that_outlives_the_program_is_waited_for(self):
        got = self.unitrace("--wait-children", "forever", PROBE, "child", "-")
        self.assertEqual(got.returncode, 0)
        paths = self.timelines()
        self.assertEqual(len(paths), 2, self.files())
        self.assertTrue(any("after" in n for p in paths for n in self.names(p)))

    def test_child_that_takes_too_long_is_left_for_export(self):
        os.mkfifo(self.dir / "pipe")
        # no pipes: the child would hold them open and we would wait for it
        with open(self.dir / "err", "wb") as err:
            process = subprocess.run([UNITRACE, "--wait-children", "0", PROBE, "child", "pipe"],
                                     cwd=self.dir, env=clean_env(), stderr=err,
                                     stdout=subprocess.DEVNULL)
        self.assertEqual(process.returncode, 0)
        self.assertEqual(len(self.timelines()), 1, self.files())
        session = [f for f in self.files() if f.endswith(".session")]
        self.assertIn("unitrace export", (self.dir / "err").read_text())
        refused = self.unitrace("export", session[0])
        self.assertEqual(refused.returncode, 1)
        self.assertIn(b"still recording", refused.stderr)
        (self.dir / "pipe").write_bytes(b"")  # the child goes on, and ends
        self.export_when_ended(session[0])
        self.assertEqual(len(self.timelines()), 2, self.files())

    def test_daemon_without_itt_does_not_hold_us_up(self):
        """It lives until a pipe is opened, which is not before we have ended."""
        os.mkfifo(self.dir / "pipe")
        process = subprocess.run([UNITRACE, "--quiet", "sh", "-c", "cat pipe & exit 2"],
                                 cwd=self.dir, env=clean_env(), stderr=subprocess.DEVNULL,
                                 stdout=subprocess.DEVNULL, timeout=PATIENCE)
        self.assertEqual(process.returncode, 2)
        (self.dir / "pipe").write_bytes(b"")


if __name__ == "__main__":
    print("testing", BUILD)
    main()
