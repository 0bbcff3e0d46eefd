#!/usr/bin/env python3
"""Memory of programs: exact where each allocation is recorded, within the error that is said where they
are drawn, whatever the allocator is and however the program ends; and the program does not notice."""
# ci: labels slow
import json
import os
import pathlib
import re
import shutil
import sys
import textwrap

from common import BUILD, Case, environment, find_venv, main, need, program, without_core

need("least_calls", "memory_known", "small_handler")
KNOWN = program("memory_known")
CXX = program("memory_cxx")
LIBRARIES = pathlib.Path("/usr/lib/x86_64-linux-gnu")
ALLOCATORS = [LIBRARIES / name for name in ("libjemalloc.so.2", "libtcmalloc_minimal.so.4")]
BACKEND = BUILD / "lib" / "unitrace" / "backends" / "memory.so"


class Recorded(Case):
    def record(self, *words, each=True, options=(), rc=0, env=None):
        """Runs a program; what it said, without what we say."""
        self.got = self.unitrace("--memory=each" if each else "--memory", "--no-summary", "-o", "run.utr",
                                 "--overwrite", *options, *words, env=env, preexec_fn=without_core)
        self.assertEqual(self.got.returncode, rc, self.got.stderr.decode()[-2000:])
        return self.got.stdout.decode()

    def rows(self, by="function"):
        got = self.unitrace("memory", "--json", "--by", by, "run.utr")
        self.assertEqual(got.returncode, 0, got.stderr.decode())
        return {row["name"]: row for row in json.loads(got.stdout)}

    def plain(self, stack):
        """Without lines: those of native functions are known where there is debug info."""
        return re.sub(r":\d+", "", stack)

    def verdict(self):
        return self.unitrace("memory", "run.utr").stdout.decode().splitlines()[0]

    def query(self, sql):
        got = self.unitrace("query", "--format", "json", "run.utr", sql)
        self.assertEqual(got.returncode, 0, got.stderr.decode())
        return json.loads(got.stdout)

    def assertRow(self, row, **expected):
        self.assertEqual({key: row[key] for key in expected}, expected)


class Exact(Recorded):
    def test_blocks_are_counted_and_leaks_found(self):
        self.record(KNOWN, "blocks", "1000", "128", "17")
        self.assertRow(self.rows()["make_block"], allocated_bytes=128000, allocations=1000, peak_bytes=128000,
                       peak_blocks=1000, never_freed_bytes=17 * 128, never_freed_blocks=17)
        self.assertRegex(self.verdict(), r"^peak 1\d\d KiB at .*% from make_block, called from blocks; "
                                         r".* never freed, most from make_block, called from blocks$")
        stack = next(name for name in self.rows("stack") if name.startswith("make_block"))
        self.assertEqual(self.plain(stack), "make_block < blocks < main")
        levels = self.query("select value from counter where name = 'live memory' order by ts")
        self.assertGreaterEqual(max(level["value"] for level in levels), 136000)
        samples = self.query("select sum(weight) bytes from sample where name = 'never freed bytes'")
        self.assertEqual(samples[0]["bytes"], sum(r["never_freed_bytes"] for r in self.rows().values()))

    def test_functions_of_the_program_are_seen_whatever_their_names(self):
        self.record(program("brief"), "alloc")
        rows = {name.partition("(")[0]: row for name, row in self.rows().items()}
        self.assertRow(rows["fill_allocations"], never_freed_bytes=100000, never_freed_blocks=100)
        self.assertRow(rows["user_calloc"], never_freed_bytes=100000, never_freed_blocks=50)
        made = next(row for name, row in rows.items() if "make_allocated" in name)
        self.assertGreaterEqual(made["never_freed_bytes"], 50000)

    def test_what_is_drawn_says_how_far_it_may_be_off(self):
        self.record(KNOWN, "blocks", "20000", "128", "9000", each=False, options=("--memory=4K",))
        row = self.rows()["make_block"]
        for what in ("peak", "never_freed", "allocated"):
            self.assertGreater(row[f"{what}_error"], 0, row)
        self.assertRegex(self.verdict(), r"make_block, called from blocks; .* \(\+-[\d.]+%\) in \d+ blocks were never")

    def test_every_function_of_the_c_library(self):
        bare = self.run_words(KNOWN, "functions").stdout.decode()
        self.assertEqual(self.record(KNOWN, "functions"), bare)
        rows = self.rows()
        sizes = {"plain": 1000, "zeroed": 1000, "grown_from_nothing": 1000, "array": 1000, "on_a_boundary": 1000,
                 "on_a_line": 1024, "posix": 1000, "on_a_page": 1000, "whole_pages": 1000, "text": 11,
                 "large": 10000000, "nothing": 0}
        for i, (name, size) in enumerate(sizes.items()):
            row = max((rows[n] for n in (f"by_{name}", f"aligned_by_{name}") if n in rows),
                      key=lambda r: r["allocations"], default=None)
            self.assertIsNotNone(row, name)
            self.assertEqual((row["allocated_bytes"], row["allocations"]), (size, 1), name)
            freed = (i + (i > 1)) % 2  # of those that the program numbers, the odd ones
            self.assertEqual(row["never_freed_blocks"], 1 - freed, name)
        self.assertRow(rows["by_grown"], allocated_bytes=1010, allocations=2, never_freed_bytes=1000)

    def test_threads_hand_blocks_to_each_other(self):
        self.record(KNOWN, "threads", "7")
        self.assertRow(self.rows()["make_block"], allocated_bytes=7 * 100 * 200, allocations=700,
                       never_freed_bytes=0)
        by_thread = [row for row in self.rows("thread").values() if row["allocated_bytes"] == 20000]
        self.assertEqual(len(by_thread), 7)

    def test_a_child_has_its_own(self):
        self.record(KNOWN, "fork")
        self.assertRow(self.rows()["make_block"], allocations=100, never_freed_blocks=100)
        self.assertRow(self.rows()["child_block"], allocations=50, never_freed_bytes=15000)
        self.assertEqual(len([r for r in self.rows("process").values() if r["allocations"] >= 50]), 2)

    def test_tasks(self):
        self.record(KNOWN, "task", "load", "30", "task", "store", "50", "blocks", "10", "100", "0")
        rows = self.rows("task")
        self.assertRow(rows["load"], allocations=30, allocated_bytes=3000, never_freed_bytes=3000)
        self.assertRow(rows["store"], allocations=50, allocated_bytes=5000)
        self.assertGreaterEqual(rows["[outside any task]"]["allocations"], 11)

    def test_what_cannot_be_had(self):
        bare = self.run_words(KNOWN, "fails").stdout.decode()
        self.assertEqual(self.record(KNOWN, "fails"), bare)
        self.assertRow(self.rows()["make_block"], allocations=1, never_freed_bytes=1000)

    def test_a_deep_stack_is_whole_and_a_deeper_one_is_cut(self):
        self.record(KNOWN, "deep", "100")
        self.assertEqual(self.depth(), 100)
        self.record(KNOWN, "deep", "5000")
        self.assertGreater(self.depth(), 200)
        self.assertRow(self.rows()["make_block"], allocated_bytes=5000)
        self.assertIn("[outer frames cut]", self.frames)

    def depth(self):
        """How often descend() called itself."""
        got = self.unitrace("export", "-o", "run.json", "--overwrite", "run.utr")
        self.assertEqual(got.returncode, 0)
        trace = json.loads((self.dir / "run.json").read_text())
        at = next(s["sf"] for s in trace["samples"] if s["name"] == "allocated bytes" and s["weight"] == 5000)
        self.frames = []
        while at:
            self.frames.append(trace["stackFrames"][at]["name"])
            at = trace["stackFrames"][at].get("parent")
        return self.frames.count("descend") - 1

    def test_in_a_handler_of_a_signal(self):
        self.record(KNOWN, "signal")
        stack = next(name for name in self.rows("stack") if name.startswith("make_block"))
        self.assertRegex(self.plain(stack), "^make_block < handler < .* < signals < main$")

    def test_pauses(self):
        self.record(KNOWN, "pause", options=["--start-paused"], env=environment(PTI_ENABLE_COLLECTION="1"))
        self.assertRow(self.rows()["make_block"], allocations=40)


class Ends(Recorded):
    def test_nothing_is_lost_however_it_ends(self):
        for how, rc in (("exit", 0), ("quick", 3), ("abort", -6), ("segv", -11), ("kill", -9), ("double", -6),
                        ("exec", 0)):
            with self.subTest(how):
                bare = self.run_words(KNOWN, "end", how, preexec_fn=without_core)
                self.record(KNOWN, "end", how, rc=rc)
                self.assertEqual(bare.returncode, rc)
                self.assertEqual(self.got.stderr[:len(bare.stderr)], bare.stderr)
                self.assertRow(self.rows()["make_block"], allocations=1000,
                               never_freed_blocks=1000 - (how == "double"))


class Drawn(Recorded):
    def test_estimates_are_within_the_error_that_is_reported(self):
        wrong = 0  # by more than 1.6 times the error, three standard deviations
        for seed in range(4):
            allocated, alive = map(int, self.record(KNOWN, "churn", "400000", str(40000 + seed),
                                                    each=False).split())
            row = self.rows()["make_block"]
            self.assertGreater(row["peak_error"], 0)
            self.assertLess(row["peak_error"], 60)
            self.assertLess(abs(row["allocated_bytes"] / allocated - 1), 0.2)
            for key in ("never_freed_bytes", "peak_bytes"):
                wrong += abs(row[key] / alive - 1) > 1.6 * row["peak_error"] / 100
        self.assertLessEqual(wrong, 1)  # of 8

    def test_a_fixed_interval(self):
        allocated, _ = map(int, self.record(KNOWN, "churn", "200000", "1000", each=False,
                                            options=["--memory=4K"]).split())
        rows = self.query("select count(*) n, sum(weight) bytes from sample where name = 'allocated bytes'")
        self.assertLess(abs(rows[0]["bytes"] / allocated - 1), 0.06)

    def test_large_blocks_are_seen_exactly(self):
        self.record(KNOWN, "blocks", "5", "50000000", "2", each=False)
        self.assertRow(self.rows()["make_block"], allocated_bytes=250000000, peak_bytes=250000000,
                       never_freed_bytes=100000000)


class Allocators(Recorded):
    def can_preload(self, *libraries):
        """unitrace gets the library first: one that is built with a sanitizer does not take it."""
        for path in libraries:
            if self.unitrace("--version", env=environment(LD_PRELOAD=str(path))).returncode:
                self.skipTest("this build of unitrace has a sanitizer")

    def each_allocator(self):
        found = [path for path in ALLOCATORS if path.exists()]
        self.can_preload(*found[:1])
        if not found:
            self.skipTest("neither libjemalloc2 nor libtcmalloc-minimal4 is installed")
        for path in found:
            with self.subTest(path.name):
                yield environment(LD_PRELOAD=str(path))

    def test_the_c_functions_of_others(self):
        for env in self.each_allocator():
            bare = self.run_words(KNOWN, "fails", env=env).stdout.decode()
            self.assertEqual(self.record(KNOWN, "fails", "blocks", "100", "64", "3", "threads", "3", env=env), bare)
            self.assertEqual(self.rows()["make_block"]["never_freed_blocks"], 4)

    def check_cxx(self, env):
        bare = self.run_words(CXX, env=env)
        self.assertEqual(self.record(CXX, env=env, rc=bare.returncode), bare.stdout.decode())
        rows = {name.split("(")[0]: row for name, row in self.rows().items() if row["allocations"]}
        for name, size in (("one", 1000), ("many", 10000), ("quiet", 1000), ("quiet_many", 10000),
                           ("aligned_many", 10240), ("leaked", 1111)):
            row = rows[name]
            self.assertEqual((row["allocated_bytes"], row["allocations"]), (size, 1), name)
            self.assertEqual(row["never_freed_blocks"], name == "leaked", name)
        self.assertRow(rows["aligned"], allocations=2, never_freed_blocks=1)
        self.assertRow(rows["container"], allocations=2, never_freed_blocks=0)

    def test_operators_of_cxx(self):
        if not CXX.exists():
            self.skipTest("no C++ compiler")
        self.check_cxx(environment())
        for env in self.each_allocator():
            self.check_cxx(env)

    def test_a_checking_c_library_checks(self):
        debug = next(iter(LIBRARIES.glob("libc_malloc_debug.so*")), None)
        if not debug:
            self.skipTest("no libc_malloc_debug.so")
        self.can_preload(debug)
        env = environment(LD_PRELOAD=str(debug), MALLOC_CHECK_="3")
        bare = self.run_words(KNOWN, "end", "double", env=env, preexec_fn=without_core)
        self.record(KNOWN, "end", "double", rc=-6, env=env)
        self.assertEqual(self.got.stderr[:len(bare.stderr)], bare.stderr)
        self.assertIn(b"invalid pointer", bare.stderr)

    def compile(self, text, *options):
        compiler = shutil.which("gcc") or shutil.which("cc")
        if not compiler:
            self.skipTest("no C compiler")
        (self.dir / "a.c").write_text(textwrap.dedent(text))
        got = self.run_words(compiler, "-g", "-O1", "a.c", "-o", "a", *options)
        if got.returncode:
            self.skipTest(f"{' '.join(options)}: {got.stderr.decode()[-200:]}")
        return self.dir / "a"

    def test_sanitizers_are_left_alone(self):
        for which in ("address", "thread"):
            with self.subTest(which):
                app = self.compile("""
                    #include <stdlib.h>
                    int main(int c, char **v) { char *p = malloc(10 + c); free(p); return v[1] ? p[1] : 0; }
                    """, f"-fsanitize={which}")
                self.assertSameAsBare(self.unitrace("--memory", app), self.run_words(app))
                got, bare = self.unitrace("--memory", app, "x"), self.run_words(app, "x")
                self.assertEqual(got.returncode, bare.returncode)
                self.assertIn(b"built with a sanitizer", got.stderr)
                if which == "address":
                    self.assertIn(b"heap-use-after-free", got.stderr)

    def test_an_allocator_of_its_own_is_said(self):
        app = self.compile("""
            #include <stddef.h>
            #include <string.h>
            #include <stdio.h>
            static char room[1 << 20]; static size_t used;
            void *malloc(size_t n) { void *p = room + used; used += (n + 31) & ~15ul; return p; }
            void free(void *p) { (void)p; }
            void *calloc(size_t n, size_t m) { return memset(malloc(n * m), 0, n * m); }
            void *realloc(void *p, size_t n) { void *q = malloc(n); if (p) memcpy(q, p, n); return q; }
            int main(void) { char *p = malloc(10); strcpy(p, "hello"); puts(p); return 0; }
            """, "-rdynamic")
        got = self.unitrace("--memory", app)
        self.assertEqual((got.returncode, got.stdout), (0, b"hello\n"), got.stderr)
        self.assertIn(b"has an allocator linked into it", got.stderr)

    def test_a_program_at_a_fixed_address_has_none_of_its_own(self):
        """Where malloc's address is taken, it is a place in the program that leads to ours."""
        app = self.compile("""
            #include <stdio.h>
            #include <stdlib.h>
            int main(void) {
                void *(*volatile way)(size_t) = malloc;
                for (int i = 0; i < 100; i++)
                    *(volatile char *)way(1000) = 1;
                return puts("done") < 0;
            }
            """, "-no-pie", "-fno-pie")
        self.assertEqual(self.record(app), "done\n")
        self.assertNotIn(b"has an allocator linked into it", self.got.stderr)
        self.assertEqual(self.rows()["main"]["allocations"], 100)

    def test_a_program_with_holes(self):
        """Parts that lie apart, as patchelf leaves them: the loader tells about one at a time."""
        app = self.compile("""
            #include <stdlib.h>
            __attribute__((section(".far"), used)) static int far = 1;
            static void *volatile keep;
            __attribute__((noinline)) static void inner(void) { keep = malloc(1000); }
            __attribute__((noinline)) static void outer(void) { inner(); keep = malloc(10); }
            int main(void) { outer(); return !far; }
            """, "-no-pie", "-fno-pie", "-Wl,--section-start=.far=0x900000")
        self.record(app)
        stacks = [self.plain(name) for name in self.rows("stack")]
        self.assertIn("inner < outer < main", stacks)

    def test_static_programs_run(self):
        app = self.compile("int main(void) { return 0; }", "-static")
        self.assertEqual(self.unitrace("--memory", app).returncode, 0)


class Python(Recorded):
    SCRIPT = """
        import sys
        keep = []
        def small(n):
            return [str(i) + "x" for i in range(n)]
        def big(n):
            return bytearray(n)
        def parse():
            keep.append(small(200000))
            keep.append(big(3_000_000))
        def outer():
            parse()
        outer()
        print(len(keep))
        """

    def script(self, python, *options, env=None, each=False):
        (self.dir / "p.py").write_text(textwrap.dedent(self.SCRIPT))
        return self.record(python, *options, "p.py", env=env, each=each)

    def test_functions_and_lines(self):
        pythons = [sys.executable, *os.environ.get("UNITRACE_PYTHONS", "").split(":")]
        for python in filter(None, pythons):
            with self.subTest(python):
                self.assertEqual(self.script(os.path.realpath(python)), "2\n")
                lines = json.loads(self.unitrace("memory", "--json", "--by", "line", "run.utr").stdout)
                ours = [r for r in lines if (r["file"] or "").endswith("p.py")]
                peak = {line: sum(r["peak_bytes"] for r in ours if r["line"] == line) for line in (5, 7)}
                self.assertAlmostEqual(peak[7], 3e6, delta=2e5)
                self.assertGreater(peak[5], 5e6)
                stack = next(n for n in self.rows("stack") if n.startswith("big"))
                self.assertRegex(stack, r"^big:7 < parse:10 < outer:12 < <module>:13$")

    def test_what_modules_keep_is_said(self):
        (self.dir / "big.py").write_text("data = [str(i) + 'x' for i in range(100000)]\n")
        (self.dir / "main.py").write_text("import big\nprint(len(big.data))\n")
        self.assertEqual(self.record(os.path.realpath(sys.executable), "main.py", each=False), "100000\n")
        said = re.search(r"; ([0-9.]+)% is what importing Python modules took", self.verdict())
        self.assertGreater(float(said[1]), 60)

    def test_each_object(self):
        self.assertEqual(self.script(os.path.realpath(sys.executable), each=True), "2\n")
        small = next(r for n, r in self.rows().items() if n.startswith("small"))
        self.assertGreaterEqual(small["allocations"], 400000)

    def test_an_allocator_that_python_was_reported_to_use(self):
        env = environment(PYTHONMALLOC="malloc")
        self.assertEqual(self.script(os.path.realpath(sys.executable), env=env), "2\n")
        self.assertGreater(next(r for n, r in self.rows().items() if n.startswith("small"))["peak_bytes"], 5e6)
        self.assertIn(b"small objects of Python are not in it", self.got.stderr)

    def test_tensors(self):
        python, why = find_venv("torch")
        if why:
            self.skipTest(why)
        (self.dir / "t.py").write_text(textwrap.dedent("""
            import torch
            def make():
                return torch.ones(1000, 1000)
            def keep():
                return [make() for _ in range(8)]
            kept = keep()
            print(int(sum(t.sum() for t in kept)))
            """))
        # By default a slow machine draws so few that one of eight blocks may be missing.
        self.assertEqual(self.record(python, "t.py", each=False, options=["--memory=64K"]), "8000000\n")
        make = self.rows("line")["make"]
        self.assertEqual(make["line"], 4)
        self.assertAlmostEqual(make["allocated_bytes"], 32e6, delta=1e6)


class Guests(Recorded):
    def test_without_a_session_it_does_nothing(self):
        bare = self.run_words(KNOWN, "functions", "fails", "threads", "3")
        got = self.run_words(KNOWN, "functions", "fails", "threads", "3", env=environment(LD_PRELOAD=str(BACKEND)))
        self.assertEqual((got.returncode, got.stdout, got.stderr), (0, bare.stdout, bare.stderr))

    def test_other_programs_run_as_before(self):
        for words in (["sh", "-c", "echo $((1 + 1)); ls / | wc -l; exit 3"], ["date", "+%Y"],
                      [sys.executable, "-ISc", "import _posixsubprocess; print(_posixsubprocess.__name__)"]):
            with self.subTest(words[0]):
                self.assertSameAsBare(self.unitrace("--memory=each", *words), self.run_words(*words))

    def test_a_small_alternate_stack_is_enough(self):
        for how in ("first", "thread", "child"):
            for each in (True, False):
                with self.subTest(how, each=each):
                    self.assertEqual(self.record(program("small_handler"), how, each=each), "100\n")
        self.record(program("small_handler"), "first")
        self.assertIn("on_signal", self.rows())  # below it the stack that was left

    def test_under_a_filter_the_kernel_is_not_asked(self):
        for action in ("kill", "trap", "EFAULT"):
            with self.subTest(action):
                self.assertEqual(self.record(program("least_calls"), action, "allocs", rc=3), "alive\n")




if __name__ == "__main__":
    main()
