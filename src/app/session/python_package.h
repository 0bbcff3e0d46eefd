/*
 * python_package.h - the package for Python programs gets into every interpreter of the session:
 * `unitrace record --python` profiles them, and without it they find `import itt` and
 * `import unitrace` behind everything that is installed for them.
 *
 * The entry point is PYTHONPATH: a folder in front of it holds a sitecustomize.py that starts the
 * profiler and then does what the user's own would have done. What to record is said in a file of
 * the session directory, which children and their children find through UT_SESSION.
 */
#ifndef UT_SESSION_PYTHON_PACKAGE_H
#define UT_SESSION_PYTHON_PACKAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/opt.h"
#include "launch/run.h"

struct ut_arena;

struct ut_python_opts {
	bool on, partial, lines, c_calls, imports;
	uint64_t depth;  /* 0 = no limit */
	uint64_t min_ns; /* shorter calls are not kept */
	struct ut_opt_list files, not_files, modules, not_modules;
	const char *tests; /* folder for a trace of each test; NULL = none is wanted */
};

/* Writes the rows of the option table to rows[] and says how many there are. */
size_t ut_python_rows(struct ut_python_opts *o, struct ut_opt *rows, size_t most);

void ut_python_release(struct ut_python_opts *o);

/* Any of the options asks for Python; lines go with a part of the program only. */
int ut_python_check(struct ut_python_opts *o, struct ut_err *err) UT_MUST_CHECK;

/* What the program's environment gets. */
struct ut_python_vars {
	struct ut_launch_var items[2];
	size_t count;
};

/* Injects the profiler into the program that is about to start; texts live in the arena. */
int ut_python_open(const struct ut_python_opts *o, struct ut_arena *a, const char *library,
		   const char *session_dir, struct ut_python_vars *vars,
		   struct ut_err *err) UT_MUST_CHECK;

/*
 * The program's words, or others that do the same: a Python that is told to ignore its environment
 * or its site (-E, -I, -S) is not reached by that, so it gets our runner as its script.
 * Closed by NULL; what is new is in the arena.
 */
const char *const *ut_python_argv(const struct ut_python_opts *o, struct ut_arena *a,
				  const char *library, const char *const *argv);

#endif
