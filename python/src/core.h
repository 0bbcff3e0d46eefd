/*
 * core.h - the parts of unitrace._core, the C half of the Python package.
 *
 *   host.c     finds the collector that the launcher put into this process
 *   zone.c     which zone a code object, a line or a C function is; what filters leave out
 *   stack.c    what is running on each thread
 *   frame.c    calls, up to Python 3.11: a function around the interpreter's own
 *   profile.c  lines and calls of C functions, up to Python 3.11: SetProfile and SetTrace
 *   monitor.c  events from sys.monitoring, from Python 3.12 on
 *   task.c     tasks of asyncio
 *   marks.c    the ITT functions
 *   module.c   what Python sees
 *
 * Everything here runs with the interpreter's lock held, but for the end of a thread. A guest: no
 * printing, and an exception that is under way stays as it is.
 */
#ifndef UT_PYTHON_CORE_H
#define UT_PYTHON_CORE_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdbool.h>
#include <stdint.h>

#include "unitrace/zones.h"

#define UT_PY_MONITORING (PY_VERSION_HEX >= 0x030c0000)

/* ---- host.c -------------------------------------------------------------------------------- */

/* The collector's functions; NULL when nothing records this process. */
extern const struct ut_zones *ut_py_zones;

/* Looks for the collector, once. False if there is none. */
bool ut_py_join(void);

/* A session has come where there was none when we looked, as in the kernel of a notebook. */
void ut_py_join_again(void);
void ut_py_marks_again(void);

/* The address of a function that the collector exports; NULL if it has none. */
void *ut_py_symbol(const char *name);

/* ---- zone.c -------------------------------------------------------------------------------- */

/* What is known about a code object. It is freed with the object. */
struct ut_py_code {
	const PyCodeObject *code;
	uint64_t zone; /* 0 = filters leave it out */
	int first_line;
	int line_count;  /* of lines[] */
	uint64_t *lines; /* zone of each line, 0 = not asked for yet; NULL before the first */
};

/* What filters look at: patterns for files, names of modules. Each list ends with NULL. */
struct ut_py_filter {
	char **files, **not_files;
	char **modules, **not_modules;
	bool imports; /* also the import system, which else only those lists can ask for */
};

/* Is it a file of the import system? */
bool ut_py_is_import_system(const char *file);

/* Takes the filter over: it is used for every code object that comes from now on. */
int ut_py_zone_init(const struct ut_py_filter *filter, const char *own_folder);

/* Is called, once, when asyncio makes its first task. Takes its own reference. */
void ut_py_zone_on_task(PyObject *function);

/* NULL without memory. The first time it defines the zone. globals NULL: the frame that runs has
 * them. */
struct ut_py_code *ut_py_code_slow(PyCodeObject *code, PyObject *globals);
uint64_t ut_py_line_slow(PyCodeObject *code, struct ut_py_code *info, int line);
/* The zone of a builtin function or method; 0 for something else. */
uint64_t ut_py_c_function(PyObject *function);

/* UTF-8 of any string, also of one with lone surrogates, as long as *keep is there, to which the
 * caller takes a reference. NULL with an exception: it is no string. */
const char *ut_py_utf8(PyObject *text, PyObject **keep, Py_ssize_t *len);

extern Py_ssize_t ut_py_extra; /* index of our slot in a code object */

/* What was looked for last, by the address of the code object; zone.c clears what is freed. */
#define UT_PY_RECENT 4096u

struct ut_py_recent {
	const PyCodeObject *code;
	struct ut_py_code *info;
};

extern struct ut_py_recent ut_py_recent[UT_PY_RECENT];

static inline struct ut_py_recent *ut_py_recent_slot(const PyCodeObject *code)
{
	return &ut_py_recent[((uintptr_t)code >> 4) % UT_PY_RECENT];
}

static inline struct ut_py_code *ut_py_code_in(PyCodeObject *code, PyObject *globals)
{
	const struct ut_py_recent *r = ut_py_recent_slot(code);

	return __builtin_expect(r->code == code, 1) ? r->info : ut_py_code_slow(code, globals);
}

static inline struct ut_py_code *ut_py_code(PyCodeObject *code)
{
	return ut_py_code_in(code, NULL);
}

static inline uint64_t ut_py_line(PyCodeObject *code, struct ut_py_code *info, int line)
{
	int at = line - info->first_line;

	if (info->lines && at >= 0 && at < info->line_count && info->lines[at])
		return info->lines[at];
	return ut_py_line_slow(code, info, line);
}

/* ---- stack.c ------------------------------------------------------------------------------- */

struct ut_py_limits {
	uint32_t depth;     /* deeper calls are not recorded */
	uint64_t min_ticks; /* shorter ones are not kept */
};

extern struct ut_py_limits ut_py_limits;

/* A function begins, a line of it begins, it ends. key tells one function from another. */
void ut_py_enter(const void *key, uint64_t zone);
void ut_py_step(const void *key, uint64_t line_zone);
void ut_py_leave(const void *key);

/* The same if it is the innermost call; else false, and nothing has happened. */
bool ut_py_leave_top(const void *key);

/*
 * A whole program is profiled from its first call on: what still runs of the interpreter's own
 * start, in whose middle we are switched on, does not belong to it, nor the search for the
 * program's file that follows. Begins and ends are told here first, and true means: not yet.
 */
extern bool ut_py_ready;
bool ut_py_wait_slow(bool begins, PyCodeObject *code);

static inline bool ut_py_wait(bool begins, PyCodeObject *code)
{
	return __builtin_expect(!ut_py_ready, 0) && ut_py_wait_slow(begins, code);
}

/* Waits for the end of all that runs now. */
void ut_py_wait_for_all(void);

/* Is it the import system, looking for the program? */
bool ut_py_is_search(PyCodeObject *code);

/*
 * For who knows both ends of a call: the first gives its place on the stack, the second ends it
 * with what is still open inside, if it is there still.
 */
struct ut_py_place {
	uint32_t at; /* 0 = nowhere */
	uint32_t serial;
};

struct ut_py_place ut_py_enter_at(const void *key, uint64_t zone);
void ut_py_leave_at(struct ut_py_place place);

/* Is half of this thread's C stack used up? */
bool ut_py_is_deep(void);

/* How many calls of this thread are open. */
uint32_t ut_py_depth(void);
/* Has another thread such a call open? NULL: any call. */
bool ut_py_is_open_elsewhere(const void *key);
/* Ends everything that this thread has open. */
void ut_py_leave_all(void);
/* After fork: what was open goes on in the recording of the child. */
void ut_py_forked(void);
int ut_py_stack_init(void);

/* ---- frame.c, up to 3.11 ------------------------------------------------------------------- */

/* Is this way free? */
bool ut_py_frames_free(void);
/* Calls of Python functions on all threads; whole: from the program's first on. */
void ut_py_frames_start(bool whole);
/* False if it was not running. */
bool ut_py_frames_stop(void);

/* ---- profile.c or monitor.c ---------------------------------------------------------------- */

enum ut_py_mode {
	UT_PY_FUNCTIONS = 0,
	UT_PY_LINES = 1 << 0,
	UT_PY_C_CALLS = 1 << 1,
	UT_PY_WHOLE = 1 << 2,
};

/* On all threads; UT_PY_WHOLE: after what runs now. 0, or -1 with an exception. */
int ut_py_start(unsigned int mode);
int ut_py_stop(void);

/* The function that threading.setprofile() gets, and whether it has to, before such a start. */
extern PyMethodDef ut_py_thread_hook;
bool ut_py_hooks_threads(unsigned int mode);

/* ---- task.c -------------------------------------------------------------------------------- */

/* (create_task, begin, end): a method that does what create_task does, with span = begin(coroutine)
 * before and end(task or None, span) after it. */
PyObject *ut_py_watch_tasks(PyObject *self, PyObject *args);

/* (call_soon, type): a method that does what call_soon does, except that a callback of this type is
 * called at once, without a turn of the loop that would show up among the program's calls. */
PyObject *ut_py_watch_calls(PyObject *self, PyObject *args);

/* ---- marks.c ------------------------------------------------------------------------------- */

extern PyMethodDef ut_py_marks[];

/* Called by stack.c for a thread that has just come. */
void ut_py_name_thread(const char *name);

#endif
