#!/usr/bin/env python3
"""Workers of OpenMP are called that in every timeline, unless somebody has named them."""
import shutil
import subprocess

from common import BUILD, SOURCE, Case, kernel_samples, main

PART = r"""
#define _GNU_SOURCE
#include <ittnotify.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

void in_parallel(__itt_domain *domain, __itt_string_handle *name, const char *how)
{
#pragma omp parallel num_threads(3)
	{
		if (!strcmp(how, "named") && gettid() != getpid())
			prctl(PR_SET_NAME, "mine");
		if (!strcmp(how, "asked") && gettid() != getpid())
			__itt_thread_set_name("asked for");
		__itt_task_begin(domain, __itt_null, __itt_null, name);
#pragma omp barrier
		__itt_task_end(domain);
		if (!strcmp(how, "later") && gettid() != getpid())
			prctl(PR_SET_NAME, "mine");
	}
}
"""

PROGRAM = r"""
#include <dlfcn.h>
#include <ittnotify.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

typedef void work(__itt_domain *domain, __itt_string_handle *name, const char *how);
#ifndef LATE
work in_parallel;
#endif

static __itt_domain *domain;

static void *task(void *name)
{
	__itt_task_begin(domain, __itt_null, __itt_null, __itt_string_handle_create(name));
	__itt_task_end(domain);
	return NULL;
}

/* Whoever opens a file is killed. */
static int lock_in(void)
{
	struct sock_filter f[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat, 2, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_fallocate, 1, 0),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
	};
	struct sock_fprog p = { sizeof(f) / sizeof(f[0]), f };

	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &p);
}

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "";
	work *run;
	pthread_t own;

	domain = __itt_domain_create("workers");
	task("first");
#ifdef LATE
	void *library = dlopen(LATE, RTLD_NOW);
	void *found = library ? dlsym(library, "in_parallel") : NULL;
	if (!found)
		return fprintf(stderr, "%s\n", dlerror()), 2;
	memcpy(&run, &found, sizeof(run));
#else
	run = in_parallel;
#endif
	if (!strcmp(how, "filter") && lock_in())
		return 77;
	pthread_create(&own, NULL, task, "own");
	pthread_join(own, NULL);
	run(domain, __itt_string_handle_create("work"), how);
	puts("alive");
	return 0;
}
"""


class Workers(Case):
    def compile(self, compiler, to, text, *flags):
        if not shutil.which(compiler):
            self.skipTest(f"no {compiler}")
        source = self.dir / (to + ".c")
        source.write_text(text)
        done = subprocess.run([compiler, "-O1", "-w", "-I", SOURCE / "include", "-o", self.dir / to, source,
                               *flags], capture_output=True, cwd=self.dir, check=False)
        if done.returncode:
            self.skipTest(f"{compiler} {' '.join(map(str, flags))}: {done.stderr.decode()[-200:]}")
        return self.dir / to

    def linked(self, compiler="gcc", *flags):
        return self.compile(compiler, "app", PART + PROGRAM, "-fopenmp", BUILD / "lib" / "libittnotify.a",
                            "-ldl", "-pthread", *flags)

    def rows(self, trace, name):
        names = trace.thread_names()
        return [names[s.tid] for s in sorted(trace.named(name), key=lambda s: s.tid != trace.pid)]

    def check(self, trace, workers="app: OpenMP worker"):
        self.assertEqual(self.rows(trace, "work"), ["app", workers, workers])
        self.assertEqual(self.rows(trace, "first"), ["app"])
        self.assertEqual(self.rows(trace, "own"), ["app"])

    def test_of_gcc(self):
        self.check(self.record(self.linked()))

    def test_of_a_library_that_is_opened_after_the_first_record(self):
        part = self.compile("gcc", "libpart.so", PART, "-fopenmp", "-shared", "-fPIC",
                            BUILD / "lib" / "libittnotify.a")
        self.check(self.record(self.compile("gcc", "app", PROGRAM, f'-DLATE="{part}"',
                                            BUILD / "lib" / "libittnotify.a", "-ldl", "-pthread")))

    def test_of_a_runtime_inside_the_program(self):
        """The function's name says it, where the library's does not."""
        archive = subprocess.run(["gcc", "-print-file-name=libgomp.a"], capture_output=True, text=True,
                                 check=False).stdout
        self.check(self.record(self.compile("gcc", "app", PART + PROGRAM, "-fopenmp", "-nodefaultlibs",
                                            BUILD / "lib" / "libittnotify.a", archive.strip(), "-ldl",
                                            "-pthread", "-lgcc", "-lc")))

    def test_a_static_program_runs(self):
        app = self.linked("gcc", "-static")
        bare, got = self.run_words(app), self.unitrace(app)
        self.assertEqual((got.returncode, got.stdout), (bare.returncode, bare.stdout), got.stderr)
        self.assertEqual(got.stdout, b"alive\n")

    def test_of_llvm_unless_the_runtime_names_them(self):
        trace = self.record(self.linked("clang"))
        main_row, *workers = self.rows(trace, "work")
        for name in workers:
            self.assertRegex(name, "OpenMP worker|OMP Worker Thread")
        self.assertNotRegex(main_row, "OpenMP worker")
        self.assertEqual(self.rows(trace, "own"), ["app"])

    def test_names_of_the_program_stay(self):
        app = self.linked()
        for how, name in (("named", "mine"), ("later", "app: OpenMP worker"), ("asked", "asked for")):
            with self.subTest(how=how):
                trace = self.record(app, how)
                if how == "later":  # libgomp's threads may live as long as the program
                    self.assertTrue(set(self.rows(trace, "work")[1:]) <= {name, "mine"})
                else:
                    self.check(trace, name)
                trace.path.unlink()

    def test_with_samples_it_is_the_same_name(self):
        if not kernel_samples():
            self.skipTest("the kernel does not let us sample")
        self.check(self.record("--sampling", self.linked()))

    def test_a_program_that_has_locked_itself_in_lives(self):
        app = self.linked()
        if self.run_words(app, "filter").returncode:
            self.skipTest("no filter here")
        got = self.unitrace(app, "filter")
        self.assertEqual((got.returncode, got.stdout), (0, b"alive\n"), got.stderr)
        self.trace().one("first")


if __name__ == "__main__":
    main()
