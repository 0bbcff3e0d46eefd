#!/usr/bin/env python3
"""A run that leaves nothing says why, and what to try; it never guesses."""
import json
import os
import shutil
import stat
import subprocess
import textwrap

from launch_support import BUILD, COLLECTOR, PROBE, UNITRACE, Case, clean_env, main, need

need(UNITRACE, COLLECTOR, PROBE)
STEPS = BUILD / "tests" / "programs" / "steps"
SOURCE = os.path.join(os.environ.get("UNITRACE_SOURCE", "."), "")


class Nothing(Case):
    def said(self, *words, **options):
        """The line that says why; there is exactly one."""
        got = self.unitrace(*words, **options)
        lines = [l for l in got.stderr.decode().splitlines() if "nothing was recorded" in l]
        self.assertEqual(len(lines), 1, got.stderr)
        self.assertEqual(self.timelines(), [])
        return lines[0]

    def compiled(self, text, *flags):
        """A program of ours, with the static part of ITT in it."""
        source, made = self.dir / "made.c", self.dir / "made"
        source.write_text(textwrap.dedent(text))
        done = subprocess.run(["cc", "-I", SOURCE + "include", "-o", made, source,
                               BUILD / "lib" / "libittnotify.a", "-ldl", "-lpthread", *flags],
                              capture_output=True)
        if done.returncode:
            self.skipTest(f"cannot compile: {done.stderr[:200]}")
        return made

    MARKS = """
        #include <ittnotify.h>
        #include <stdlib.h>
        int main(int argc, char **argv)
        {
                if (argc > 1)
                        clearenv();
                __itt_domain *d = __itt_domain_create("made");
                __itt_task_begin(d, __itt_null, __itt_null, __itt_string_handle_create("t"));
                __itt_task_end(d);
        }
        """

    def test_python_is_reported_of_its_option(self):
        self.assertIn("--python records", self.said("python3", "-c", "1"))
        script = self.dir / "script"
        script.write_text("#!/usr/bin/env python3\n1\n")
        script.chmod(0o755)
        self.assertIn("--python records", self.said("./script"))

    def test_programs_without_itt(self):
        self.assertIn("true itself has no ITT inside", self.said("true"))

    def test_never_resumed(self):
        said = self.said("--start-paused", PROBE)
        self.assertIn("--start-paused", said)
        self.assertIn("never called __itt_resume()", said)

    def test_a_named_session_that_is_paused(self):
        said = self.said("--session", f"nothing{os.getpid()}", "--start-paused", PROBE)
        self.assertIn("is paused; 'unitrace --resume nothing", said)

    def test_a_domain_filter_names_the_domains_that_it_kept_out(self):
        said = self.said("--itt-domains", "lunch.*", PROBE, "task", "other.domain", "t")
        self.assertIn("its domains are: launch.probe, other.domain", said)
        said = self.said("--itt-exclude-domains", "*", PROBE)
        self.assertIn("its domains are: launch.probe", said)

    def test_names_of_domains_are_escaped(self):
        said = self.said("--itt-domains", "x", PROBE, "task", "a\x1b[31m", "t")
        self.assertNotIn("\x1b", said)

    def test_a_filter_that_lets_some_through_is_not_blamed(self):
        got = self.unitrace("--itt-domains", "launch.*", PROBE, "task", "other", "t")
        self.assertNotIn(b"other", got.stderr)
        self.assertRecorded()

    def test_cleared_environment(self):
        self.assertIn("clears the environment", self.said("env", "-i", PROBE))
        self.assertIn("clears the environment", self.said("env", "-", PROBE))

    def test_environment_cleared_by_the_program_itself(self):
        self.assertIn("it clears its environment first", self.said(self.compiled(self.MARKS), "x"))

    def test_static_programs(self):
        made = self.compiled("int main(void) { return 0; }", "-static")
        self.assertIn("made is statically linked", self.said(made))

    def test_setuid_programs(self):
        made = self.dir / "raised"
        shutil.copy(PROBE, made)
        made.chmod(0o755 | stat.S_ISUID)
        if os.getuid():
            self.skipTest("not here: only root can make a program that is another user's")
        os.chown(made, 65534, 65534)
        made.chmod(0o755 | stat.S_ISUID)
        self.dir.chmod(0o755)
        got = self.unitrace(made)
        if self.timelines():
            self.skipTest("not here: set-user-id has no effect")
        self.assertIn(b"runs with rights of its own", got.stderr)

    def test_children_that_are_not_followed(self):
        said = self.said("--follow-child-process", "0", "sh", "-c", f"{PROBE}; true")
        self.assertIn("--follow-child-process 0 keeps them out", said)

    def test_no_device(self):
        got = self.unitrace("-d", "true")
        self.assertIn(b"no runtime of a device that unitrace knows", got.stderr)

    def test_marks_without_the_device_that_was_asked_for(self):
        for options in (("-d",), ("-q",), ("--chrome-kernel-logging",)):
            got = self.unitrace(*options, STEPS, "task", "x")
            self.assertEqual((got.returncode, len(self.timelines())), (0, 1))
            self.assertIn(b"warning: no work of a device was recorded", got.stderr)
            self.timelines()[0].unlink()
        self.assertNotIn(b"device", self.unitrace(STEPS, "task", "x").stderr)

    def test_a_read_only_session_is_not_blamed_on_the_program(self):
        inner = f"mount --bind {self.dir} {self.dir} && " \
                f"mount -o remount,ro,bind {self.dir} && exec {PROBE}"
        words = ["unshare", "-rm", "sh", "-c", inner]
        if subprocess.run(words, cwd=self.dir, capture_output=True, env=clean_env()).returncode:
            self.skipTest("not here: no namespaces")
        said = self.said(*words)
        self.assertIn("could only read", said)
        self.assertIn("read-only mount", said)

    def test_a_rank_that_is_left_out_says_that(self):
        env = clean_env(PMI_RANK="2", PMI_SIZE="4")
        said = self.said("-d", "--ranks-to-sample", "1,3", "true", env=env)
        self.assertIn("rank 2, which --ranks-to-sample leaves out", said)
        self.assertNotIn("has no ITT inside", said)

    def test_quiet_is_quiet(self):
        self.assertEqual(self.unitrace("--quiet", "true").stderr, b"")


class Filters(Case):
    """stats and filter say which condition has left nothing."""

    CASES = (("--name blurr", "--name blurr (did you mean 'blur'?)"),
             ("--thread workr", "--thread workr (did you mean 'worker'?)"),
             ("--cat imgg", "--cat imgg (did you mean 'img'?)"),
             ("--from 5s", "--from 5s (the trace is 29.0 us long)"),
             ("--pid 77", "--pid 77"), ("--min-dur 1s", "--min-dur 1s"),
             ("--name blur --from 15us", "--name blur, --from 15us together, although each alone fits some"),
             ("--regex zz --name blendd", "--name blendd (did you mean 'blend'?), --regex zz"))

    def test_which_condition(self):
        events = [{"ph": "M", "name": "thread_name", "pid": 1, "tid": 2, "args": {"name": "worker"}},
                  {"ph": "X", "name": "blur", "cat": "img", "pid": 1, "tid": 2, "ts": 1, "dur": 10},
                  {"ph": "X", "name": "blend", "cat": "img", "pid": 1, "tid": 2, "ts": 20,
                   "dur": 10},
                  {"ph": "s", "name": "arrow", "cat": "f", "id": 1, "pid": 1, "tid": 2, "ts": 5},
                  {"ph": "f", "name": "arrow", "cat": "f", "id": 1, "pid": 1, "tid": 2, "ts": 25}]
        (self.dir / "t.json").write_text(json.dumps(events))
        for options, says in self.CASES:
            for words in (["stats"], ["filter", "--quiet", "--overwrite", "-o", "x.json"]):
                got = self.unitrace(*words, *options.split(), "t.json")
                self.assertEqual((got.returncode, got.stderr.decode()),
                                 (0, f"unitrace: warning: no event fits {says}\n"), words)

    def test_what_fits_is_not_blamed(self):
        (self.dir / "t.json").write_text("[]")
        self.assertEqual(self.unitrace("stats", "--name", "x", "t.json").stderr, b"")


if __name__ == "__main__":
    main()
