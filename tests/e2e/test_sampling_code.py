#!/usr/bin/env python3
"""Samples of code of every kind: languages, libraries that are gone, stripped files, the kernel,
code that is made at run time. Each program spends known shares of its CPU time in its functions, by
its own clock, and in pieces of many samples: pieces as short as the time between two of them would
meet samples always at the same place."""
# ci: labels slow real long
import json
import os
import pathlib
import shutil
import subprocess
import textwrap

from common import Case, main, need, need_kernel_samples, program

need("jitted")
POINTS = 2 if os.environ.get("UNITRACE_LONG") else 6
SECONDS = 1.0 if os.environ.get("UNITRACE_LONG") else 0.4

need_kernel_samples()


class Sampled(Case):
    def compiler(self, *names):
        for name in names:
            found = shutil.which(name) or shutil.which(name, path=os.path.expanduser("~/.cargo/bin"))
            if found:
                return found
        return self.skipTest(f"no {names[0]}")

    def build(self, *words):
        got = subprocess.run(list(map(str, words)), cwd=self.dir, capture_output=True, check=False)
        self.assertEqual(got.returncode, 0, got.stderr.decode())

    def write(self, name, text):
        (self.dir / name).write_text(textwrap.dedent(text))
        return name

    def sample(self, *words, options=(), env=None):
        got = self.unitrace("hotspots", "-o", "run.utr", "--overwrite", *options, *words, env=env)
        self.assertEqual(got.returncode, 0, got.stderr.decode())
        first = got.stdout.decode().splitlines()
        return json.loads(first[0]) if first and first[0].startswith("{") else {}

    def rows(self, by="function"):
        got = self.unitrace("hotspots", "--json", "--by", by, "run.utr")
        self.assertEqual(got.returncode, 0, got.stderr.decode())
        return json.loads(got.stdout)

    def total(self, rows, word):
        """The largest share of a function with this word in its name."""
        return max((r["total_share"] for r in rows if word in r["name"]), default=0)

    def assertShares(self, half="burn_half", third="burn_third", rest="burn_rest", caller="main"):
        rows = self.rows()
        outer = self.total(rows, caller)
        self.assertGreater(outer, 80, rows)
        for name, share in ((half, 50), (third, 30), (rest, 20)):
            self.assertAlmostEqual(100 * self.total(rows, name) / outer, share, delta=POINTS,
                                   msg=f"{name}: {rows[:12]}")

    def stacks(self, inner):
        got = self.unitrace("export", "-o", "run.json", "--overwrite", "run.utr")
        self.assertEqual(got.returncode, 0, got.stderr.decode())
        trace = json.loads((self.dir / "run.json").read_text())
        frames, found = trace["stackFrames"], []
        for sample in trace["samples"]:
            names, at = [], str(sample["sf"])
            while at in frames:
                names.insert(0, frames[at]["name"])
                at = str(frames[at].get("parent"))
            if inner in names:
                found.append(names)
        return found


C = """
    #include <stdint.h>
    #include <time.h>
    #define BURN(name) __attribute__((noinline)) void name(uint64_t n) \\
    { volatile uint64_t x = 1; while (n--) x = x * 6364136223846793005u + 1; }
    BURN(burn_half) BURN(burn_third) BURN(burn_rest)
    """
# What calls functions of n rounds, f(n), for so many ms of CPU time; in C++ as well.
SPEND = """
    #include <stdint.h>
    #include <time.h>
    static double cpu_ms(void)
    { struct timespec t; clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t); return t.tv_sec * 1e3 + t.tv_nsec / 1e6; }
    static void spend(void (*f)(uint64_t), double ms)
    { double end = cpu_ms() + ms; while (cpu_ms() < end) f(20000); }
    """
PIECES = 5
MS = SECONDS * 1000 / PIECES


def body(half, third, rest):
    """Of main(), in C and C++."""
    return (f"for (int i = 0; i < {PIECES}; i++) {{ spend({half}, {0.5 * MS}); spend({third}, {0.3 * MS}); "
            f"spend({rest}, {0.2 * MS}); }}")


MAIN = SPEND + f"int main(void) {{ {body('burn_half', 'burn_third', 'burn_rest')} return 0; }}\n"


class Native(Sampled):
    def test_c_without_frame_pointers_or_symbols_but_separate_debug(self):
        cc = self.compiler("cc")
        objcopy = self.compiler("objcopy")
        self.write("app.c", C + MAIN)
        self.build(cc, "-O2", "-g", "-fomit-frame-pointer", "-Wl,--build-id", "-o", "app", "app.c")
        self.build(objcopy, "--only-keep-debug", "app", "app.debug")
        self.build(objcopy, "--strip-all", "--add-gnu-debuglink=app.debug", "app")
        self.sample("./app")
        self.assertShares()
        (self.dir / "app.debug").unlink()
        self.sample("./app")  # where functions start is told by what unwinding needs
        rows = [r for r in self.rows() if r["name"].startswith("app+0x") and r["self_share"] > 5]
        self.assertEqual(len(rows), 3, rows)

    def test_cpp_templates(self):
        cxx = self.compiler("c++")
        self.write("app.cc", SPEND + """
            namespace work {
            template <typename T, int N> struct Burner {
                static __attribute__((noinline)) void run(uint64_t n)
                { volatile T x = N; while (n--) x = x * 6364136223846793005u + 1; }
            };
            }
            int main() { """ + body(*(f"work::Burner<uint64_t, {n}>::run" for n in (2, 3, 5))) + " }\n")
        self.build(cxx, "-O2", "-o", "app", "app.cc")
        self.sample("./app")
        self.assertShares(*(f"work::Burner<unsigned long, {n}>::run" for n in (2, 3, 5)))

    def test_fortran(self):
        fortran = self.compiler("gfortran")
        text = "".join(f"""
            subroutine {name}(n)
              integer(8), intent(in) :: n
              integer(8) :: i
              integer(8), volatile :: x
              x = 1
              do i = 1, n
                x = x * 5 + 1
              end do
            end subroutine
            """ for name in ("burn_half", "burn_third", "burn_rest"))
        self.write("app.f90", text + f"""
            subroutine spend(f, ms)
              external :: f
              real(8), intent(in) :: ms
              real(8) :: start, now
              call cpu_time(start)
              now = start
              do while (now - start < ms / 1000)
                call f(20000_8)
                call cpu_time(now)
              end do
            end subroutine
            program app
              external :: burn_half, burn_third, burn_rest
              integer :: i
              do i = 1, {PIECES}
                call spend(burn_half, {0.5 * MS}d0)
                call spend(burn_third, {0.3 * MS}d0)
                call spend(burn_rest, {0.2 * MS}d0)
              end do
            end program
            """)
        self.build(fortran, "-O1", "-o", "app", "app.f90")
        self.sample("./app")
        self.assertShares()

    def test_rust(self):
        rustc = self.compiler("rustc")
        functions = "".join(f"""
            #[inline(never)]
            fn {name}(n: u64) {{
                let mut x: u64 = 1;
                for _ in 0..n {{ x = black_box(x.wrapping_mul(6364136223846793005).wrapping_add({own})); }}
                black_box(x);
            }}
            """ for own, name in enumerate(("burn_half", "burn_third", "burn_rest")))  # the same ones become one
        # not std::hint::black_box, which Debian 12's compiler does not have
        self.write("app.rs", "fn black_box(x: u64) -> u64 { unsafe { std::ptr::read_volatile(&x) } }" + functions + f"""
            #[repr(C)]
            struct Timespec {{ s: i64, ns: i64 }}
            extern "C" {{ fn clock_gettime(clock: i32, t: *mut Timespec) -> i32; }}
            fn cpu_ms() -> f64 {{
                let mut t = Timespec {{ s: 0, ns: 0 }};
                unsafe {{ clock_gettime(3, &mut t); }} // CLOCK_THREAD_CPUTIME_ID
                t.s as f64 * 1e3 + t.ns as f64 / 1e6
            }}
            fn spend(f: fn(u64), ms: f64) {{
                let end = cpu_ms() + ms;
                while cpu_ms() < end {{ f(20000); }}
            }}
            fn main() {{
                for _ in 0..{PIECES} {{
                    spend(burn_half, {0.5 * MS:f}); spend(burn_third, {0.3 * MS:f}); spend(burn_rest, {0.2 * MS:f});
                }}
            }}
            """)
        self.build(rustc, "-O", "-o", "app", "app.rs")
        self.sample("./app")
        self.assertShares()

    def test_go(self):
        go = self.compiler("go")
        functions = "".join(f"""
            //go:noinline
            func {name}(n int) {{ x := uint64(1); for i := 0; i < n; i++ {{ x = x*6364136223846793005 + 1; sink = x }} }}
            """ for name in ("burn_half", "burn_third", "burn_rest"))
        self.write("app.go", "package main\nimport \"syscall\"\nvar sink uint64\n" + textwrap.dedent(functions) +
                   "func cpu() float64 { var r syscall.Rusage; syscall.Getrusage(syscall.RUSAGE_SELF, &r); "
                   "return float64(r.Utime.Nano() + r.Stime.Nano()) / 1e6 }\n"
                   "func spend(f func(int), ms float64) { end := cpu() + ms; for cpu() < end { f(20000) } }\n"
                   f"func main() {{ for i := 0; i < {PIECES}; i++ {{ spend(burn_half, {0.5 * MS}); "
                   f"spend(burn_third, {0.3 * MS}); spend(burn_rest, {0.2 * MS}) }} }}\n")
        subprocess.run([go, "build", "-o", "app", "app.go"], cwd=self.dir, check=True,
                       env=dict(os.environ, GOCACHE=str(self.dir / "cache"), GO111MODULE="off"))
        self.sample("./app")
        self.assertShares("main.burn_half", "main.burn_third", "main.burn_rest", "main.main")

    def test_a_library_that_was_opened_and_is_gone(self):
        cc = self.compiler("cc")
        self.write("lib.c", C)
        self.write("app.c", SPEND + """
            #include <dlfcn.h>
            #include <unistd.h>
            int main(void)
            {
                void *lib = dlopen("./libwork.so", RTLD_NOW);
                void (*half)(uint64_t) = dlsym(lib, "burn_half");
                void (*third)(uint64_t) = dlsym(lib, "burn_third");
                void (*rest)(uint64_t) = dlsym(lib, "burn_rest");
                unlink("libwork.so");
                """ + body("half", "third", "rest") + """
                return 0;
            }
            """)
        self.build(cc, "-O2", "-shared", "-fPIC", "-Wl,--build-id", "-o", "libwork.so", "lib.c")
        self.build(cc, "-O2", "-o", "app", "app.c", "-ldl")
        self.sample("./app")
        self.assertShares()
        self.assertFalse((self.dir / "libwork.so").exists())

    def test_static_programs(self):
        cc = self.compiler("cc")
        self.write("app.c", C + MAIN)
        if subprocess.run([cc, "-O2", "-static", "-o", "app", "app.c"], cwd=self.dir,
                          capture_output=True, check=False).returncode:
            self.skipTest("no static C library")
        self.sample("./app")
        self.assertShares()


class AsOthersSay(Sampled):
    def test_shares_are_those_of_perf(self):
        """perf counts the same event of the same program, in a run of its own."""
        perf = self.compiler("perf")
        cc = self.compiler("cc")
        self.write("app.c", C + MAIN)
        self.build(cc, "-O2", "-o", "app", "app.c")
        got = subprocess.run([perf, "record", "-q", "-e", "cpu-clock", "-F", "1000", "-o",
                              "perf.data", "./app"], cwd=self.dir, capture_output=True,
                             check=False)
        if got.returncode:
            self.skipTest(f"not here: perf cannot record: {got.stderr.decode()[-100:]}")
        got = subprocess.run([perf, "report", "-i", "perf.data", "--stdio", "--sort", "sym"],
                             cwd=self.dir, capture_output=True, check=True)
        theirs = {words[2]: float(words[0][:-1]) for line in got.stdout.decode().splitlines()
                  if len(words := line.split()) == 3 and words[0].endswith("%")}
        self.sample("./app", options=["--sampling-event", "cpu-clock"])
        ours = {r["name"]: r["self_share"] for r in self.rows()}
        for name in ("burn_half", "burn_third", "burn_rest"):
            self.assertAlmostEqual(ours[name], theirs[name], delta=POINTS, msg=f"{ours} {theirs}")


class Kernel(Sampled):
    def test_vdso(self):
        cc = self.compiler("cc")
        self.write("app.c", f"""
            #include <time.h>
            int main(void)
            {{
                struct timespec t;
                long sum = 0;
                for (long i = 0; i < {int(SECONDS * 15000000)}; i++)
                {{ clock_gettime(CLOCK_MONOTONIC, &t); sum += t.tv_nsec; }}
                return sum == 1;
            }}
            """)
        self.build(cc, "-O2", "-o", "app", "app.c")
        self.sample("./app")
        rows = self.rows()
        self.assertGreater(self.total(rows, "vdso_clock_gettime") or
                           self.total(rows, "clock_gettime"), 80, rows)
        self.assertGreater(self.total(rows, "main"), 90, rows)

    def test_calls_of_the_kernel(self):
        cc = self.compiler("cc")
        if os.geteuid() and int(pathlib.Path("/proc/sys/kernel/perf_event_paranoid").read_text()) > 1:
            self.skipTest("not here: kernel.perf_event_paranoid keeps the kernel to itself")
        self.write("app.c", f"""
            #include <fcntl.h>
            #include <unistd.h>
            static char buf[65536];
            __attribute__((noinline)) static int in_kernel(int fd)
            {{ return read(fd, buf, sizeof(buf)) > 0; }}
            int main(void)
            {{
                int fd = open("/dev/urandom", O_RDONLY), n = 0;
                for (int i = 0; i < {int(SECONDS * 5000)}; i++) n += in_kernel(fd);
                return n == 1;
            }}
            """)
        self.build(cc, "-O1", "-o", "app", "app.c")
        self.sample("./app")
        rows = self.rows("module")
        kernel = next(r for r in rows if r["name"] == "[kernel]")
        self.assertGreater(kernel["self_share"], 80, rows)
        whole = [s for s in self.stacks("in_kernel") if "main" in s and s.index("main") <
                 s.index("in_kernel") < len(s) - 2]
        self.assertGreater(len(whole), 50)
        if os.geteuid() == 0:  # kallsyms has addresses
            self.assertTrue(any("urandom" in n or "random" in n for s in whole for n in s))


class MadeAtRunTime(Sampled):
    JITTED = program("jitted")

    def longest(self):
        """The most time that a single sample stands for, percent of all."""
        got = self.unitrace("query", "--format", "json", "run.utr",
                            "select 100.0 * max(weight) / sum(weight) share from sample where name like 'cpu-%'")
        self.assertEqual(got.returncode, 0, got.stderr.decode())
        return json.loads(got.stdout)[0]["share"]

    def check(self, way, *options, points=POINTS):
        spent = self.sample(self.JITTED, way, int(SECONDS * 1000), options=options)
        total, rows = sum(spent.values()), self.rows()
        if way == "map":  # has no times: the last function at an address is all of them
            spent["made_again"] += spent.pop("made_one")
        for name, ms in spent.items():
            self.assertAlmostEqual(self.total(rows, name), 100 * ms / total, delta=points + self.longest(),
                                   msg=f"{way} {name}: {rows[:6]}")
        self.assertGreater(self.total(rows, "main"), 90)
        self.assertEqual([r["name"] for r in rows if r["name"] == "[unknown]"], [])

    def test_a_map(self):
        self.check("map")

    def test_a_dump(self):
        self.check("dump")
        lines = [(r["file"], r["line"]) for r in self.rows("line") if r["name"] == "made_two"]
        self.assertIn(("made.src", 12), lines)

    def test_itt(self):
        self.check("itt")
        lines = [(r["file"], r["line"]) for r in self.rows("line") if r["name"] == "made_two"]
        self.assertIn(("made.src", 12), lines)

    def test_under_timers(self):
        """The kernel looks at timers when its tick meets the program. Where others have the core that is seldom, and a
        sample stands for all the time since the last one: of a function's piece it may take that much, or give it."""
        self.check("dump", "--sampling-by", "timer", points=4)

    def test_javascript(self):
        node = self.compiler("node")
        self.write("app.js", f"""
            function burn_half(n) {{ let s = 0; for (let i = 0; i < n; i++) s = (s * 31 + i) | 0; return s; }}
            function burn_rest(n) {{ let s = 0; for (let i = 0; i < n; i++) s = (s * 31 + i) | 0; return s; }}
            let end = process.cpuUsage().user + {int(SECONDS * 1e6)}, t = 0;
            while (process.cpuUsage().user < end) {{ t += burn_half(3e6); t += burn_rest(1e6); }}
            """)
        for option in ("--perf-basic-prof", "--perf-prof"):
            self.sample(node, option, "app.js", env={"TMPDIR": str(self.dir)})
            rows = self.rows()
            half, rest = self.total(rows, "burn_half"), self.total(rows, "burn_rest")
            self.assertGreater(half, 20, rows[:8])
            self.assertAlmostEqual(half / (half + rest), 0.75, delta=0.12)
        for leftover in pathlib.Path("/tmp").glob("perf-*.map"):
            if leftover.stat().st_uid == os.geteuid() and not pathlib.Path(
                    f"/proc/{leftover.stem[5:]}").exists():
                leftover.unlink()


if __name__ == "__main__":
    main()
