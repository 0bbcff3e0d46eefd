#!/usr/bin/env python3
"""What threads did: ran, spun, waited and for what; how many at once; how even regions are."""
import json
import os
import pathlib
import shutil
import subprocess
import textwrap

from common import Case, main, need, need_kernel_samples, program

need("waits", "burn")
MS = 150

need_kernel_samples()


def may_look_into_the_kernel():
    level = int(pathlib.Path("/proc/sys/kernel/perf_event_paranoid").read_text())
    return os.geteuid() == 0 or level <= 1


class Threads(Case):
    def run_it(self, *words, options=("--threads",), env=None):
        got = self.unitrace("hotspots", *options, "-o", "run.utr", "--overwrite", *words, env=env)
        self.assertEqual(got.returncode, 0, got.stderr.decode())
        self.stderr = got.stderr.decode()
        return got.stdout.decode()

    def table(self, what, key="name"):
        got = self.unitrace("hotspots", f"--threads={what}", "--json", "run.utr")
        self.assertEqual(got.returncode, 0, got.stderr.decode())
        return json.loads(got.stdout)

    def by_name(self, what):
        return {row["name"]: row for row in self.table(what)}

    def test_what_was_waited_for_and_that_it_is_in_the_timeline(self):
        if not may_look_into_the_kernel():
            self.skipTest("not here: kernel.perf_event_paranoid keeps the kernel to itself")
        self.run_it(program("waits"), str(MS))
        waits = {}
        for row in self.table("waits"):
            waits.setdefault(row["kind"], []).append(row)
        longest = {kind: max(r["longest_ns"] for r in rows) / 1e6 for kind, rows in waits.items()}
        for kind in ("sleep", "pipe", "poll", "lock", "thread to end"):
            self.assertGreaterEqual(longest[f"waiting: {kind}"], 0.9 * MS, longest)
        lock = max(waits["waiting: lock"], key=lambda r: r["longest_ns"])
        self.assertEqual((lock["name"], lock["caller"]), ("pthread_mutex_lock", "wants"))
        sleepers = {r["caller"] for r in waits["waiting: sleep"]}
        self.assertLessEqual({"main", "holds"}, sleepers)
        got = self.unitrace("query", "--format", "json", "run.utr",
                            "select t.name row, s.name, max(s.dur) dur from slice s "
                            "join track t on t.id = s.track_id group by 1, 2")
        rows = {(r["row"].split(" (")[0], r["name"]): r["dur"] / 1e6 for r in json.loads(got.stdout)}
        self.assertGreaterEqual(rows["wanter", "waiting: lock"], 0.9 * MS)
        self.assertGreaterEqual(rows["holder", "waiting: sleep"], 0.9 * MS)

    def test_spinning_is_not_working(self):
        self.run_it(program("waits"), str(MS))
        rows = self.by_name("threads")
        spinner = rows["spinner"]
        if may_look_into_the_kernel():  # where sched_yield() spends its time
            self.assertGreater(spinner["spinning_ns"], 0.7 * spinner["cpu_ns"], spinner)
        self.assertAlmostEqual(spinner["spinning_ns"] + spinner["working_ns"], spinner["cpu_ns"],
                               delta=2)
        self.run_it(program("burn"), "threads", "2", str(MS))
        for name in ("worker 0", "worker 1"):
            row = self.by_name("threads")[name]
            self.assertEqual(row["spinning_ns"], 0)
            self.assertAlmostEqual(row["working_ns"] / 1e6, MS, delta=0.2 * MS)
            self.assertGreaterEqual(row["switches"], 0)

    def test_cpus_at_once_add_up(self):
        text = self.run_it(program("burn"), "threads", "2", str(MS), "sleep", str(MS))
        self.assertIn("CPUs were busy on average", text.splitlines()[0] + text.splitlines()[1])
        cpus = self.table("cpus", key="cpus")
        elapsed = sum(r["elapsed_ns"] for r in cpus)
        ran = sum(r["cpus"] * r["elapsed_ns"] for r in cpus)
        threads = sum(r["cpu_ns"] for r in self.table("threads"))
        self.assertAlmostEqual(ran, threads, delta=0.02 * threads)
        self.assertAlmostEqual(sum(r["share"] for r in cpus), 100, delta=0.1)
        self.assertGreaterEqual(elapsed, MS * 1e6)

    def test_regions_of_openmp(self):
        compiler = shutil.which("cc")
        (self.dir / "app.c").write_text(textwrap.dedent("""
            #include <omp.h>
            #include <stdio.h>
            #include <time.h>
            static double even_ms[4], uneven_ms[4];
            static double cpu_ms(void)
            { struct timespec t; clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t); return t.tv_sec * 1e3 + t.tv_nsec / 1e6; }
            __attribute__((noinline)) static void work(double ms, double *spent)
            {
                double begin = cpu_ms(), now = begin;
                for (volatile unsigned long x = 1; now < begin + ms; now = cpu_ms())
                    for (long n = 20000; n--;) x = x * 3 + 1;
                spent[omp_get_thread_num()] += now - begin;
            }
            __attribute__((noinline)) void even(void)
            {
            #pragma omp parallel for schedule(static, 1)
                for (int i = 0; i < 4; i++) work(24, even_ms);
            }
            __attribute__((noinline)) void uneven(void)
            {
            #pragma omp parallel for schedule(static, 1)
                for (int i = 0; i < 4; i++) work(i ? 6 : 48, uneven_ms);
            }
            static void print(const char *name, const double *ms, const char *end)
            { printf("\\"%s\\":[%f,%f,%f,%f]%s", name, ms[0], ms[1], ms[2], ms[3], end); }
            int main(void)
            {
                for (int i = 0; i < 4; i++) { even(); uneven(); }
                printf("{"); print("even", even_ms, ","); print("uneven", uneven_ms, "}\\n");
            }
            """))
        if not compiler or subprocess.run([compiler, "-O1", "-fopenmp", "-o", "app", "app.c"],
                                          cwd=self.dir, capture_output=True,
                                          check=False).returncode:
            self.skipTest("no C compiler with OpenMP")
        out = self.run_it("./app", env={"OMP_NUM_THREADS": "4", "OMP_WAIT_POLICY": "passive"})
        rows = {r["name"].split(".")[0]: r for r in self.table("regions")}
        self.assertEqual((rows["even"]["threads"], rows["uneven"]["threads"]), (4, 4))
        # 100 %, and 66 ms of 4 times 48: what the threads themselves have measured. The kernel hands the time until
        # the next sample from thread to thread at a switch, which is some samples of a hundred.
        for name, ms in json.loads(out.splitlines()[0]).items():
            balance = 100 * sum(ms) / (4 * max(ms))
            self.assertAlmostEqual(rows[name]["balance"], balance, delta=0.12 * balance, msg=name)
        names = [r["name"] for r in self.table("threads")]
        self.assertEqual(names.count("app: OpenMP worker"), 3)
        self.assertIn("app", names)

    def test_misuse(self):
        got = self.unitrace("hotspots", "--threads=x", "true")
        self.assertEqual(got.returncode, 2)
        got = self.unitrace("hotspots", "--threads=cpus", "--sort", "name", "true")
        self.assertEqual(got.returncode, 2)
        (self.dir / "none.json").write_text('[{"ph":"i","pid":1,"tid":1,"ts":1,"name":"a","s":"t"}]')
        got = self.unitrace("hotspots", "--threads", "none.json")
        self.assertEqual(got.returncode, 1)


if __name__ == "__main__":
    main()
