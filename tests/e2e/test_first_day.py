"""What somebody meets who has just installed unitrace: wrong words, no words, the terminal."""
import json
import os
import re
import select
import shutil
import subprocess
import tempfile
import threading
import time
import unittest

from common import (BUILD, COLLECTOR, PATIENCE, SOURCE, UNITRACE, Case, environment, need, program,
                    terminal)

STEPS = program("steps")
need("steps")

TRACE = {"traceEvents": [{"ph": "X", "pid": 1, "tid": 1, "ts": 1, "dur": 2, "name": "work"}]}


class Day(Case):
    def setUp(self):
        super().setUp()
        self.state = tempfile.mkdtemp(prefix="ut_state_")
        self.addCleanup(shutil.rmtree, self.state, ignore_errors=True)
        self.bin = self.dir / "bin"
        self.env = environment(XDG_STATE_HOME=self.state, TERM="xterm",
                               PATH=f"{self.bin}:{os.environ['PATH']}")
        self.env.pop("NO_COLOR", None)

    def say(self, *words, rc=0, **options):
        """stdout and the lines of stderr."""
        options.setdefault("env", self.env)
        got = self.unitrace(*words, stdin=subprocess.DEVNULL, **options)
        self.assertEqual(got.returncode, rc, got.stderr.decode(errors="replace")[-2000:])
        return got.stdout.decode(), got.stderr.decode().splitlines()

    def program(self, name, text="echo ran\n"):
        """A program of this name, found before all others."""
        self.bin.mkdir(exist_ok=True)
        path = self.bin / name
        path.write_text("#!/bin/sh\n" + text)
        path.chmod(0o755)
        return path

    def trace_file(self, name="run.json"):
        (self.dir / name).write_text(json.dumps(TRACE))
        return name

    def on_terminal(self, *words, feed=(), env=None, stdin=None):
        """Runs it with a terminal as its streams; feed: (text to wait for, what to do then)."""
        ours, theirs = terminal()
        process = subprocess.Popen([str(w) for w in (UNITRACE, *words)], cwd=self.dir,
                                   env=env or self.env, stdin=stdin or theirs, stdout=theirs,
                                   stderr=theirs, start_new_session=True)
        os.close(theirs)
        seen, answers, end = b"", list(feed), time.monotonic() + PATIENCE
        while time.monotonic() < end:
            if answers and answers[0][0] in seen:
                what = answers.pop(0)[1]
                if callable(what):
                    what()
                else:
                    os.write(ours, what)
            if not select.select([ours], [], [], 0.2)[0]:
                continue
            try:
                part = os.read(ours, 65536)
            except OSError:  # the other side is closed
                part = b""
            if not part:
                break
            seen += part
        os.close(ours)
        process.wait(PATIENCE)
        return process.returncode, seen.decode(errors="replace").replace("\r\n", "\n")


class FirstWord(Day):
    def test_a_command_but_for_a_letter_with_a_trace_behind_it_is_not_recorded(self):
        trace = self.trace_file()
        for name, command in (("stat", "stats"), ("convert", "export"), ("querys", "query"),
                              ("valid", "validate"), ("inf", "info"), ("diff3", "diff")):
            with self.subTest(name):
                self.program(name)
                out, lines = self.say(name, trace, rc=2)
                self.assertEqual(out, "")
                self.assertEqual(lines, [
                    f"unitrace: {name} is a program; did you mean 'unitrace {command} {trace}'? "
                    f"To record the program: unitrace -- {name} {trace}"])

    def test_it_can_be_forced(self):
        trace = self.trace_file()
        path = self.program("stat")
        for words in (("--", "stat", trace), ("record", "stat", trace),
                      ("record", "--", "stat", trace), (path, trace), ("--quiet", "stat", trace)):
            with self.subTest(words):
                self.assertEqual(self.say(*words)[0], "ran\n")
        (self.dir / "stat").write_text("#!/bin/sh\necho ran here\n")
        (self.dir / "stat").chmod(0o755)
        self.assertEqual(self.say("./stat", trace)[0], "ran here\n")

    def test_on_a_terminal_the_user_is_asked(self):
        trace = self.trace_file()
        self.program("stat")
        for answer, rc, told in ((b"y\n", 0, "work"), (b"n\n", 0, "ran\n"), (b"\x04", 2, "")):
            with self.subTest(answer):
                status, seen = self.on_terminal("stat", trace, feed=[(b"[y/n] ", answer)])
                self.assertIn("did you mean 'unitrace stats run.json'? [y/n]", seen)
                self.assertEqual(status, rc, seen)
                self.assertIn(told, seen.split("[y/n]")[1])

    def test_programs_are_recorded_as_ever(self):
        trace = self.trace_file()
        (self.dir / "settings.json").write_text('{"size": 3}')
        for name in ("python", "ls", "make", "cat", "cmp", "top", "sort", "find", "ops2", "headless",
                     "run", "check", "reporter", "stats2", "querys", "stat", "merger"):
            self.program(name)
        for words in (("python", "train.py"), ("ls",), ("make",), ("cat", trace),
                      ("cmp", trace, trace), ("top",), ("sort", trace), ("find", "."), ("run",),
                      ("check",), ("run", trace), ("stat", "/etc/passwd"), ("querys",),
                      ("stats2", "settings.json"), ("merger", "out.json"), ("reporter", "x.json")):
            with self.subTest(words):
                self.assertEqual(self.say(*words)[0], "ran\n")

    def test_a_trace_is_not_a_program(self):
        trace = self.trace_file()
        for name in (trace, f"./{trace}", self.dir / trace):
            self.assertEqual(self.say(name, rc=2)[1],
                             [f"unitrace: {name} is a trace, not a program; try: unitrace stats "
                              f"{name}"])

    def test_names_of_other_tools_are_understood_where_there_is_no_such_program(self):
        for name, command in (("statt", "stats"), ("validat", "validate"), ("exp", "export")):
            self.assertEqual(self.say(name, "x", rc=2)[1],
                             [f"unitrace: {name} is neither a command nor a program; did you mean "
                              f"'{command}'?"])


class NoFile(Day):
    def record(self, *words, **options):
        options.setdefault("env", self.env)
        got = self.unitrace("--no-summary", *words, **options)
        self.assertEqual(got.returncode, 0, got.stderr)
        return re.findall(r"Timeline is stored in (\S+)", got.stderr.decode())

    def taken(self, *words, **options):
        """The line that says what was taken, without its start."""
        out, lines = self.say(*words, **options)
        start = "unitrace: no trace given: taking the last recording, "
        self.assertTrue(lines and lines[0].startswith(start), lines)
        return out, lines[0][len(start):]

    def test_commands_take_the_last_recording(self):
        self.record(STEPS, "task", "old")
        path, = self.record(STEPS, "task", "new")
        for words in (("stats",), ("stats", "--json"), ("info",), ("head",), ("validate",),
                      ("query", "select name from slice"), ("export", "-o", "-", "-f", "csv"),
                      ("filter", "-o", "-")):
            with self.subTest(words):
                out, name = self.taken(*words)
                self.assertEqual(name, path)
                self.assertIn(path if words[0] in ("info", "validate") else "new", out)
                self.assertNotIn("old", out)

    def test_without_a_recording_one_line_says_what_to_do(self):
        for command in ("stats", "info", "head", "validate", "export", "filter", "query"):
            with self.subTest(command):
                out, lines = self.say(command, rc=2)
                self.assertEqual((out, lines), ("", [
                    "unitrace: no trace given, and no recording was made in this directory; name "
                    "a trace, or record a program: unitrace PROGRAM"]))

    def test_each_directory_has_its_own(self):
        here, there = self.dir / "here", self.dir / "there"
        here.mkdir(), there.mkdir()
        path, = self.record(STEPS, "task", "a", cwd=here)
        self.record(STEPS, "task", "b", cwd=there)
        out, name = self.taken("stats", cwd=here)
        self.assertEqual(name, path)
        self.assertIn("a", out)
        self.say("stats", cwd=self.dir, rc=2)

    def test_results_elsewhere_are_found_from_both_places(self):
        (self.dir / "out").mkdir()
        self.record("-o", "out/run.json", STEPS, "task", "a")
        self.assertEqual(self.taken("stats")[1], "out/run.json")
        self.assertEqual(self.taken("stats", cwd=self.dir / "out")[1], "run.json")

    def test_all_processes_of_a_recording_are_taken(self):
        paths = self.record(STEPS, *"task a fork task b".split())
        self.assertEqual(len(paths), 2)
        out, name = self.taken("stats")
        self.assertTrue(name.endswith(" and 1 more"), name)
        self.assertTrue({"a", "b"} <= {line.split()[0] for line in out.splitlines()}, out)
        self.say("head", rc=2)

    def test_ranks_of_a_job_belong_together(self):
        script = "for r in 0 1; do for run in $RUNS; do PMI_RANK=$r PMI_SIZE=2 " \
                 f"{UNITRACE} --quiet {STEPS} task r$r || exit 1; done; done"
        for runs in ("1", "1 2"):  # a rank that comes again begins a new recording
            subprocess.run(["sh", "-c", script], cwd=self.dir, check=True, timeout=PATIENCE,
                           env={**self.env, "RUNS": runs})
            out, name = self.taken("stats", "--csv")
            self.assertIn("r1", out)
            if runs == "1":
                self.assertIn("and 1 more", name)
                self.assertIn("r0", out)

    def test_a_recording_that_is_gone_is_reported(self):
        path, = self.record(STEPS, "task", "a")
        os.unlink(self.dir / path)
        line, = self.say("stats", rc=2)[1]
        self.assertIn(f"the last recording made here, {path}, is gone", line)

    def test_formats_that_no_command_reads_are_not_taken(self):
        self.record("-f", "csv,perfetto", STEPS, "task", "a")
        self.assertTrue(self.taken("stats")[1].endswith(".pftrace"))

    def test_only_the_state_directory_is_written(self):
        home = self.dir / "home"
        home.mkdir()
        env = {**self.env, "HOME": str(home)}
        self.record(STEPS, "task", "a", env=env)
        self.assertEqual(os.listdir(home), [])
        self.assertEqual(os.listdir(self.state), ["unitrace"])
        del env["XDG_STATE_HOME"]
        self.record(STEPS, "task", "a", env=env)
        self.assertEqual([str(p.relative_to(home)) for p in home.rglob("*") if p.is_file()],
                         [".local/state/unitrace/recordings"])

    def test_recording_does_not_need_a_place_for_notes(self):
        blocked = self.dir / "file"
        blocked.write_text("")
        for env in ({**self.env, "XDG_STATE_HOME": str(blocked)},
                    {k: v for k, v in self.env.items() if k not in ("HOME", "XDG_STATE_HOME")}):
            got = self.unitrace("--no-summary", "--quiet", STEPS, "task", "a", env=env)
            self.assertEqual((got.returncode, got.stderr), (0, b""))
            self.say("stats", env=env, rc=2)

    def test_notes_that_are_damaged_are_as_good_as_none(self):
        path, = self.record(STEPS, "task", "a")
        notes = os.path.join(self.state, "unitrace", "recordings")
        with open(notes, "rb") as f:
            good = f.read()
        for n in range(len(good)):
            with open(notes, "wb") as f:
                f.write(good[:n])
            self.say("stats", rc=2)
        for bad in (b"\0" * 100, b"x" * 5000, os.urandom(3000), b"\0\0nonsense\0\0",
                    f"\0{self.dir}\0no number\0\0".encode(), b"z" * (2 << 20)):
            with open(notes, "wb") as f:
                f.write(bad)
            self.say("stats", rc=2)
            again, = self.record(STEPS, "task", "a")
            self.assertEqual(self.taken("stats")[1], again)

    def test_notes_behind_a_link_are_not_touched(self):
        other = self.dir / "precious"
        other.write_text("keep me")
        notes = os.path.join(self.state, "unitrace", "recordings")
        os.mkdir(os.path.dirname(notes))
        os.symlink(other, notes)
        self.record(STEPS, "task", "a")
        self.assertEqual(other.read_text(), "keep me")
        self.say("stats", rc=2)
        os.unlink(notes)
        self.record(STEPS, "task", "a")
        self.assertEqual(os.stat(notes).st_mode & 0o777, 0o600)

    def test_notes_stay_small(self):
        for n in range(70):
            place = self.dir / str(n)
            place.mkdir()
            self.record("-o", "r.json", STEPS, "task", "a", cwd=place)
        notes = os.path.join(self.state, "unitrace", "recordings")
        self.assertLess(os.path.getsize(notes), 70 * 2 * (len(str(self.dir)) + 16))
        self.say("stats", cwd=self.dir / "0", rc=2)
        self.taken("stats", cwd=self.dir / "69")


class Words(Day):
    def test_h_alone_explains_itself(self):
        for words in (("-h",), ("record", "-h")):
            out, lines = self.say(*words)
            self.assertEqual(lines, [])
            self.assertIn("usage: unitrace", out)
            self.assertIn("-h before a program is --host-timing", out)
        self.assertIn("no program to record", self.say("-h", "-d", rc=2)[1][0])

    def test_a_session_that_is_not_there_is_an_error(self):
        for option in ("--pause", "--resume", "--stop"):
            out, lines = self.say(option, "nosuch", rc=1)
            self.assertEqual((out, len(lines)), ("", 1))
            self.assertTrue(lines[0].startswith("unitrace: no session named 'nosuch' is running"))

    def test_sessions_that_are_there_are_listed(self):
        name = f"ut-first-{os.getpid()}"
        out, _ = self.say("--session", name, "--quiet", "sh", "-c",
                          f"{UNITRACE} --pause nosuch 2>&1; echo $?")
        self.assertIn("no session named 'nosuch' is running; these are: ", out)
        self.assertIn(name, out.splitlines()[0].split(": ")[2].split(", "))
        self.assertEqual(out.splitlines()[1], "1")

    def test_version_gives_what_this_build_can_do(self):
        out, _ = self.say("--version")
        lines = {line.split()[0]: line.split(None, 1)[1] for line in out.splitlines()}
        entries = len(re.findall(r"^ITT_FN", (SOURCE / "src/record/itt/api.def").read_text(), re.M))
        self.assertEqual(lines["marks"], f"ITT ({entries} functions)")
        for name, title in (("cuda", "CUDA"), ("opencl", "OpenCL")):
            built = (COLLECTOR.parent / "unitrace/backends" / f"{name}.so").exists()
            self.assertEqual(title in lines.get("devices", ""), built)
        for name, title in (("mpich", "MPICH"), ("openmpi", "Open MPI")):
            built = (COLLECTOR.parent / "unitrace/mpi" / f"{name}.so").exists()
            self.assertEqual(title in lines.get("MPI", ""), built)
        for path in (COLLECTOR.parent / "unitrace/python/unitrace").glob("_core.cpython-3*"):
            self.assertIn("3." + re.match(r"_core\.cpython-3(\d+)", path.name)[1], lines["Python"])
        self.assertEqual("sqlite" in lines["writes"], "SQL" in lines)
        self.assertNotIn("null", out)

    def test_version_names_the_viewer_only_where_it_works(self):
        self.trace_file()
        got = self.unitrace("view", "--save", "page.html", "run.json", env=self.env)
        out, _ = self.say("--version")
        lines = {line.split()[0]: line.split(None, 1)[1] for line in out.splitlines()}
        works = got.returncode == 0
        self.assertEqual("html" in lines["writes"].split(", "), works, got.stderr)
        self.assertEqual("as one file" in lines.get("view", ""), works, got.stderr)
        self.assertEqual("the viewer's page" in out, not works)
        if not works:
            self.assertIn(b"built without the viewer's page", got.stderr)
            self.assertFalse((self.dir / "page.html").exists())

    def test_help_names_every_format_that_can_be_written(self):
        writes = re.search(r"writes +(.*)", self.say("--version")[0])[1].split(", ")
        formats = [w for w in writes if not w.startswith(".")]
        self.assertGreaterEqual(len(formats), 4)
        for words in (("--help",), ("help", "export"), ("help", "filter"), ("help", "merge")):
            text = " ".join(self.say(*words)[0].split())
            about = text.split("--format FORMAT")[1][:160]
            for name in formats:
                self.assertIn(name, about, words)

    def test_messages_start_alike(self):
        self.trace_file()
        (self.dir / "bad.json").write_text("no json")
        for words in (("stats", "bad.json"), ("info", "nosuch.json"), ("validate", "nosuch.json"),
                      ("merge", "nosuch.json"), ("diff", "run.json", "nosuch.json"),
                      ("filter", "-o", "x.json", "nosuch.json"), ("export", "nosuch.json"),
                      ("head", "nosuch.json"), ("query", "nosuch.json", "select 1"),
                      ("query", "run.json", "select nothing from slice")):
            with self.subTest(words):
                got = self.unitrace(*words, env=self.env)
                self.assertEqual(got.returncode, 1)
                for line in got.stderr.decode().splitlines():
                    self.assertTrue(line.startswith("unitrace: "), line)
                    self.assertFalse(line.startswith(f"unitrace: {words[0]}: "), line)


class Generated(Day):
    def complete(self, *words):
        line = " ".join(f"'{w}'" for w in words)
        script = f". bash/unitrace; COMP_WORDS=({line}); COMP_CWORD={len(words) - 1}; " \
                 "_unitrace; printf '%s\\n' \"${COMPREPLY[@]}\""
        got = subprocess.run(["bash", "--norc", "-c", script], cwd=self.dir, env=self.env,
                             capture_output=True, text=True)
        self.assertEqual(got.stderr, "")
        return got.stdout.split()

    def test_bash_offers_our_commands_first(self):
        self.say("--generate", "bash", "bash")
        self.program("statistic-of-somebody")
        self.program("zz-program")
        self.assertEqual(self.complete("unitrace", "stat"), ["stats"])
        everything = self.complete("unitrace", "")
        self.assertEqual(everything[0], "record")
        self.assertIn("query", everything)
        self.assertLess(len(everything), 40)  # not every program of the machine
        self.assertIn("zz-program", self.complete("unitrace", "zz-"))
        self.assertIn("zz-program", self.complete("unitrace", "record", "zz-"))

    def test_every_name_of_the_program_has_a_page(self):
        self.say("--generate", "man", "man")
        links = [p.name for p in (BUILD / "bin").iterdir()
                 if p.is_symlink() and os.readlink(p) == "unitrace"]
        self.assertIn("acelyzer", links)
        for name in links:
            for page in {name, name.removesuffix(".py")}:
                text = (self.dir / "man" / f"{page}.1").read_text()
                target = re.fullmatch(r"\.so man1/(unitrace-[a-z-]+\.1)\n", text)
                self.assertTrue(target, text)
                self.assertIn(name, (self.dir / "man" / target[1]).read_text().replace("\\-", "-"))


class Terminal(Day):
    """Standard input gives half of a trace, then nothing for long enough, then the rest."""

    def slowly(self, until, **env):
        """until: when the rest comes, as on_terminal() is told. Its end is missing: a warning."""
        text = json.dumps(TRACE).encode()
        reader, writer = os.pipe()

        def finish():
            os.write(writer, text[40:-2])
            os.close(writer)

        os.write(writer, text[:40])
        if until is None:
            timer = threading.Timer(1.5, finish)
            timer.start()
        try:
            return self.on_terminal("stats", "-", env={**self.env, **env}, stdin=reader,
                                    feed=[(until, finish)] if until else [])
        finally:
            os.close(reader)

    def test_a_message_takes_the_place_of_the_progress(self):
        rc, seen = self.slowly(b"unitrace: stats: ")
        self.assertEqual(rc, 0, seen)
        self.assertIn("\r\033[Kunitrace: stats: ", seen)
        warning = seen.index("unitrace: warning: ")
        self.assertTrue(seen[:warning].endswith("\r\033[K"), repr(seen))
        self.assertNotIn("0 ns left", seen)

    def test_a_dumb_terminal_gets_text_only(self):
        for term in ("dumb", ""):
            rc, seen = self.slowly(None, TERM=term)
            self.assertEqual(rc, 0, seen)
            self.assertIn("unitrace: warning: ", seen)
            self.assertNotIn("\033", seen)
            self.assertNotIn("\r", seen)

    def test_colours_can_be_switched_off(self):
        words = ("analyze", "-i", "nosuch.json", "-o", "out.json")
        rc, seen = self.on_terminal(*words)
        self.assertIn("\033[9", seen)
        for env in ({"NO_COLOR": "1"}, {"TERM": "dumb"}, {"TERM": ""}):
            again, plain = self.on_terminal(*words, env={**self.env, **env})
            self.assertEqual(again, rc)
            self.assertNotIn("\033", plain)
        self.assertIn("\033[9", self.on_terminal(*words, env={**self.env, "NO_COLOR": ""})[1])


if __name__ == "__main__":
    unittest.main()
