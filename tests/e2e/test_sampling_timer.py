#!/usr/bin/env python3
"""Samples where the kernel refuses them: the program samples itself, and nobody else notices."""
# ci: labels slow long
import errno
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import textwrap
import time

from common import BUILD, SOURCE, UNITRACE, Case, main, need, program, pythons, read_until, skip

need("burn", "deny_perf", "least_calls", "small_handler", "timer_guest", "sandboxed")
BURN, DENY, GUEST = program("burn"), program("deny_perf"), program("timer_guest")
POINTS = 2 if os.environ.get("UNITRACE_LONG") else 8  # 250 samples a second are few

if subprocess.run([DENY, "1", "true"], check=False).returncode == 77:
    skip("not here: the kernel has no seccomp filters")


class Timed(Case):
    def sample(self, *words, code=errno.EPERM, options=(), rc=0):
        got = self.run_words(DENY, code, UNITRACE, "hotspots", "-o", "run.utr", "--overwrite",
                             *options, *words)
        self.stderr = got.stderr.decode()
        self.assertEqual(got.returncode, rc, self.stderr)
        self.stdout = got.stdout.decode()
        first = self.stdout.splitlines()
        return json.loads(first[0]) if first and first[0].startswith("{") else {}

    def rows(self, by="function"):
        got = self.unitrace("hotspots", "--json", "--by", by, "run.utr")
        self.assertEqual(got.returncode, 0, got.stderr.decode())
        return {row["name"]: row for row in json.loads(got.stdout)}

    def folded(self):
        got = self.unitrace("hotspots", "--folded", "run.utr")
        self.assertEqual(got.returncode, 0, got.stderr.decode())
        return got.stdout.decode().splitlines()

    def longest(self):
        """The most time that a single sample stands for, percent of all: where others have the core the kernel's tick
        meets the program seldom, and a sample stands for all the time since the last one."""
        got = self.unitrace("query", "--format", "json", "run.utr",
                            "select 100.0 * max(weight) / sum(weight) share from sample where name like 'cpu-%'")
        self.assertEqual(got.returncode, 0, got.stderr.decode())
        return json.loads(got.stdout)[0]["share"]

    def assertSaid(self, *words):
        said = [line for line in self.stderr.splitlines() if "samples itself with timers" in line]
        self.assertEqual(len(said), 1, self.stderr)
        for word in words:
            self.assertIn(word, said[0])


class Refused(Timed):
    def test_shares_are_those_that_were_measured(self):
        spent = self.sample(BURN, "shares", "1200", "deep", "200", "200")
        self.assertSaid("Operation not permitted")
        rows, total, points = self.rows(), sum(spent.values()), POINTS + self.longest()
        for name in ("burn_half", "burn_third", "burn_rest", "burn_deep"):
            self.assertAlmostEqual(rows[name]["total_share"], 100 * spent[name] / total,
                                   delta=points, msg=name)
        self.assertAlmostEqual(rows["main"]["total_share"], 100, delta=points)
        self.assertAlmostEqual(rows["main"]["total_ns"] / 1e6, total, delta=0.1 * total)

    def test_says_how_to_allow_more(self):
        for code, words in ((errno.EACCES, ("Permission denied",)),
                            (errno.ENOSYS, ("CONFIG_PERF_EVENTS",))):
            self.sample(BURN, "shares", "60", code=code)
            self.assertSaid(*words)
        self.sample(BURN, "shares", "60")
        self.assertSaid("seccomp" if paranoid() <= 2 else "perf_event_paranoid")

    def test_threads_and_children(self):
        self.sample(BURN, "threads", "2", "250", "fork", "250", "exec", "250")
        threads = {name.split(" (")[0]: row for name, row in self.rows("thread").items()}
        for name in ("worker 0", "worker 1"):
            self.assertAlmostEqual(threads[name]["self_share"], 25, delta=POINTS + self.longest())
        self.assertAlmostEqual(self.rows()["burn_half"]["total_share"], 25, delta=POINTS + self.longest())
        got = self.unitrace("query", "--format", "json", "run.utr",
                            "select count(distinct upid) n from process where pid > 0")
        self.assertEqual(json.loads(got.stdout)[0]["n"], 3)

    def test_threads_know_how_long_they_ran(self):
        self.sample(BURN, "threads", "2", "300", "sleep", "200")
        got = self.unitrace("export", "-o", "run.json", "--overwrite", "run.utr")
        self.assertEqual(got.returncode, 0, got.stderr.decode())
        trace = json.loads((self.dir / "run.json").read_text())
        facts = {e["args"]["name"]: e["args"] for e in trace["traceEvents"]
                 if e["ph"] == "M" and e["name"] == "thread_name"}
        for name in ("worker 0", "worker 1"):
            self.assertAlmostEqual(facts[name]["cpu_ns"] / 1e6, 300, delta=120)
        self.assertGreater(facts["burn"]["waiting_ns"], 200e6)

    def test_python_functions_are_there(self):
        (self.dir / "script.py").write_text(textwrap.dedent("""
            import time
            def inner():
                return sum(i * i for i in range(20000))
            def outer():
                end = time.thread_time() + 0.35
                while time.thread_time() < end:
                    inner()
            outer()
            """))
        for version, path in pythons().items():
            with self.subTest(version):
                self.sample(path, "-S", "-E", "script.py")
                rows = self.rows()
                # The start of Python is in it, too, and takes its share on a busy machine.
                self.assertGreater(rows["outer"]["total_share"], 60)
                self.assertGreater(rows["inner"]["total_share"], 0.9 * rows["outer"]["total_share"] - self.longest())
                # The loop itself is left where it has just been entered.
                loop = sum(int(line.rpartition(" ")[2]) for line in self.folded()
                           if "_PyEval_EvalFrameDefault" in line)
                self.assertLess(loop, 0.1 * sum(row["self_ns"] for row in rows.values()))

    def test_names_of_python_are_those_of_its_sources(self):
        """What modules run while they are imported is gone at once, and its memory used again."""
        (self.dir / "script.py").write_text("import json, re, asyncio, email, http.client, xml.dom.minidom, unittest, "
                                            "decimal, multiprocessing, concurrent.futures, logging.config\n")
        for version, path in pythons().items():
            with self.subTest(version):
                seen = set()
                for _ in range(3):
                    self.sample(path, "-E", "script.py")
                    got = self.unitrace("hotspots", "--json", "--by", "line", "run.utr")
                    rows = json.loads(got.stdout)
                    seen |= {(r["file"], r["name"].rpartition(".")[2]) for r in rows if r["file"] == r["module"]}
                self.assertTrue(seen)
                scripts = {file for file, _ in seen if file and not file.startswith("<")}
                self.assertEqual([f for f in scripts if not os.path.isfile(self.dir / f)], [])
                known = {f: set(re.findall(r"\w+", (self.dir / f).read_text(errors="replace"))) for f in scripts}
                self.assertEqual([(f, name) for f, name in seen
                                  if f in known and not name.startswith("<") and name not in known[f]], [])

    def held(self, *words):
        """Samples a program while the launcher stands still, but for a moment now and then."""
        command = [DENY, str(errno.EPERM), UNITRACE, "hotspots", "-o", "run.utr", *words]
        with subprocess.Popen(command, cwd=self.dir, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE) as launcher:
            read_until(launcher.stdout, b"ready\n")  # the program cannot start without the launcher
            while launcher.poll() is None:
                for sig, pause in ((signal.SIGSTOP, 0.06), (signal.SIGCONT, 0.02)):
                    launcher.send_signal(sig)
                    time.sleep(pause)  # what is tested: a launcher that stands still for so long
            self.assertEqual(launcher.returncode, 0, launcher.stderr.read())

    def test_python_functions_are_those_of_the_moment(self):
        """However late the launcher comes to look: most of the time nothing of it runs then."""
        (self.dir / "script.py").write_text(textwrap.dedent("""
            import time
            def inner(end):
                while time.thread_time() < end:
                    for i in range(1000):
                        pass
            def outer():
                for i in range(60):
                    inner(time.thread_time() + 0.008)
                    time.sleep(0.02)
            print("ready", flush=True)
            outer()
            """))
        self.held(sys.executable, "-S", "-E", "script.py")
        rows = self.rows()
        samples = [line.rpartition(" ") for line in self.folded() if ";outer" in line]
        missing = sum(int(ns) for stack, _, ns in samples if ";inner" not in stack)
        share = 100 * missing / sum(int(ns) for _, _, ns in samples)
        print(f"{share:.1f} % of the time without its function",
              file=sys.stderr)
        self.assertGreater(rows["outer"]["total_ns"], 0.25e9)
        self.assertLess(share, 5)

    def test_deep_python_stacks_are_whole(self):
        """More functions than a sample has room for."""
        (self.dir / "script.py").write_text(textwrap.dedent("""
            import time
            def burn(end):
                while time.thread_time() < end:
                    pass
            def down(n):
                return down(n - 1) if n else burn(time.thread_time() + 0.5)
            def begin():
                down(300)
            begin()
            """))
        self.sample(sys.executable, "-S", "-E", "script.py")
        deep = [line for line in self.folded() if ";burn" in line]
        self.assertGreater(len(deep), 0)
        for line in deep:
            self.assertEqual(line.split(";").count("down"), 301, line)
            self.assertIn(";begin;down;", line)

    def test_who_cannot_load_the_library_is_reported(self):
        compiler = shutil.which("cc")
        self.sample("env", "-i", BURN, "shares", "30")
        self.assertIn("no samples of env: it was too short, or it dropped LD_PRELOAD", self.stderr)
        if not compiler:
            self.skipTest("no C compiler")
        got = subprocess.run([compiler, "-static", "-O1", "-D_GNU_SOURCE", "-I",
                              SOURCE / "include", "-o", self.dir / "still",
                              SOURCE / "tests/programs/burn.c", BUILD / "lib/libittnotify.a"],
                             capture_output=True, check=False)
        if got.returncode:
            self.skipTest("no static C library")
        self.sample(self.dir / "still", "shares", "30")
        self.assertIn("no samples of still: it is statically linked", self.stderr)

    def test_attaching_needs_the_kernel(self):
        got = self.run_words(DENY, errno.EPERM, UNITRACE, "hotspots", "-p", os.getpid())
        self.assertEqual(got.returncode, 125)
        self.assertIn(b"the kernel does not let us look at that process", got.stderr)


class Guest(Timed):
    """What a program finds under timers is what it finds alone."""

    def check(self, *words, guest=GUEST):
        bare = self.run_words(guest, *words)
        self.sample(guest, *words, rc=bare.returncode)
        self.assertTrue(self.stdout.startswith(bare.stdout.decode()), self.stdout)
        self.assertGreater(bare.stdout.count(b"\n"), 0)

    def test_its_signals(self):
        self.check("signal")

    def test_its_coroutines_and_small_stacks(self):
        self.check("small", "threads")
        self.assertIn("on_coroutine", self.rows())

    def test_its_children_and_calls(self):
        self.check("fork", "calls", "spawn")

    def test_its_sandbox(self):
        """The kernel would kill it for what a timer or a file needs."""
        got = self.run_words(DENY, errno.EPERM, UNITRACE, "--sampling", "-o", "run.utr",
                             program("sandboxed"), "all")
        bare = self.run_words(program("sandboxed"), "all")
        self.assertEqual((got.returncode, got.stdout), (bare.returncode, bare.stdout), got.stderr)

    def test_a_filter_that_lets_no_handler_return(self):
        """Neither killed by it nor led astray by its answers, and sampled until then."""
        for action in ("kill", "trap", "ENOSYS", "EINVAL", "EFAULT"):
            for what in ("burn", "child", "threads", "all", "twice"):
                with self.subTest(action=action, what=what):
                    got = self.unitrace("--sampling", "--sampling-by", "timer", "-o", "run.utr",
                                        program("least_calls"), action, what)
                    self.assertEqual((got.returncode, got.stdout[:6]), (3, b"alive\n"), got.stderr)

    def test_handlers_on_small_alternate_stacks(self):
        """There is no room for a second signal, and little for the one that comes first."""
        for how in ("burn", "first", "thread", "child"):
            with self.subTest(how):
                got = self.unitrace("--sampling", "--sampling-by", "timer", "-o", "run.utr",
                                    program("small_handler"), how)
                self.assertEqual((got.returncode, got.stdout), (0, b"100\n"), got.stderr)

    def test_asked_for_by_name(self):
        got = self.unitrace("hotspots", "--sampling-by", "timer", "-o", "run.utr", BURN, "shares",
                            "200")
        self.assertEqual(got.returncode, 0, got.stderr)
        self.assertNotIn(b"refuses", got.stderr)
        self.assertIn("burn_half", self.rows())
        for words in (("--sampling-by", "x", "true"), ("--sampling-by", "timer", "-p", "1")):
            got = self.unitrace("hotspots", *words)
            self.assertEqual(got.returncode, 2, words)

    def test_nothing_is_left_behind(self):
        self.sample(BURN, "fork", "60")
        self.assertEqual([p.name for p in self.dir.iterdir()], ["run.utr"])


def paranoid():
    with open("/proc/sys/kernel/perf_event_paranoid", encoding="ascii") as f:
        return int(f.read())


if __name__ == "__main__":
    main()
