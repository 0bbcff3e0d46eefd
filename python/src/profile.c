/*
 * profile.c - lines and C calls up to Python 3.11: PyEval_SetProfile and PyEval_SetTrace; and
 * calls, where frame.c cannot have them.
 *
 * These hooks belong to a thread. Threads that run already get theirs at the start; new ones
 * through threading.setprofile(), whose Python function puts the C one in its own place. Where
 * somebody else's hook is, a debugger's or coverage's, it stays.
 */
#include "core.h"

#if !UT_PY_MONITORING

#include <frameobject.h>
#include <string.h>

static bool running;
static unsigned int mode;

static int on_event(PyObject *self, PyFrameObject *frame, int what, PyObject *arg);
static int on_c_event(PyObject *self, PyFrameObject *frame, int what, PyObject *arg);

static PyObject *thread_hook(PyObject *self, PyObject *args);

static bool is_free(Py_tracefunc hook, PyObject *object)
{
	return !hook || hook == on_event || hook == on_c_event ||
	       (object && PyCFunction_Check(object) &&
		PyCFunction_GET_FUNCTION(object) == thread_hook);
}

/* Whoever traces lines is told of calls, too, but not of those of C functions. */
static int set_hooks(PyThreadState *thread, bool on)
{
	Py_tracefunc tracer = on && mode & UT_PY_LINES ? on_event : NULL, profiler = NULL;
	int rc = 0;

	if (on && !tracer)
		profiler = on_event;
	else if (on && mode & UT_PY_C_CALLS)
		profiler = on_c_event;
	if (thread->c_tracefunc != tracer && is_free(thread->c_tracefunc, thread->c_traceobj))
		rc = _PyEval_SetTrace(thread, tracer, NULL);
	if (!rc && thread->c_profilefunc != profiler &&
	    is_free(thread->c_profilefunc, thread->c_profileobj))
		rc = _PyEval_SetProfile(thread, profiler, NULL);
	return rc;
}

/*
 * Profiling has been switched off by another thread: what is open here is ended when it ends.
 * Calls that come meanwhile are counted, so that a recursive function is not ended too early.
 */
static void py_profile_drain(PyFrameObject *frame, int what)
{
	PyCodeObject *code = PyFrame_GetCode(frame);

	if (what == PyTrace_CALL && ut_py_depth())
		ut_py_enter(code, 0);
	else if (what == PyTrace_RETURN)
		ut_py_leave(code);
	Py_DECREF(code);
	if (!ut_py_depth())
		(void)set_hooks(PyThreadState_Get(), false);
}

static void on_line(PyCodeObject *code, PyFrameObject *frame)
{
	struct ut_py_code *info = ut_py_code(code);

	if (info && info->zone)
		ut_py_step(code, ut_py_line(code, info, PyFrame_GetLineNumber(frame)));
}

/* Do filters leave this function's code in, and so what it calls? */
static bool py_profile_is_wanted(PyFrameObject *frame)
{
	PyCodeObject *code = PyFrame_GetCode(frame);
	const struct ut_py_code *info = ut_py_code(code);

	Py_DECREF(code);
	return info && info->zone;
}

static void on_c_call(PyFrameObject *caller, int what, PyObject *function)
{
	uint64_t zone;

	if (!(mode & UT_PY_C_CALLS) || !ut_py_ready || !PyCFunction_Check(function) ||
	    !py_profile_is_wanted(caller))
		return;
	if (what != PyTrace_C_CALL) {
		ut_py_leave(((PyCFunctionObject *)function)->m_ml);
		return;
	}
	zone = ut_py_c_function(function);
	if (zone)
		ut_py_enter(((PyCFunctionObject *)function)->m_ml, zone);
}

/* What filters leave out is nowhere on the stack: it is not looked for. */
static void py_profile_leave(PyCodeObject *code)
{
	const struct ut_py_code *info;

	if (ut_py_leave_top(code))
		return;
	info = ut_py_code(code);
	if (info && info->zone)
		ut_py_leave(code);
}

static int on_event(PyObject *self, PyFrameObject *frame, int what, PyObject *arg)
{
	struct ut_py_code *info;
	PyCodeObject *code;

	(void)self;
	if (__builtin_expect(!running, 0)) {
		py_profile_drain(frame, what);
		return 0;
	}
	if (what >= PyTrace_C_CALL && what <= PyTrace_C_RETURN) {
		on_c_call(frame, what, arg);
		return 0;
	}
	code = PyFrame_GetCode(frame);
	if ((what == PyTrace_CALL || what == PyTrace_RETURN) &&
	    ut_py_wait(what == PyTrace_CALL, code)) {
		Py_DECREF(code);
		return 0;
	}
	if (what == PyTrace_CALL) {
		info = ut_py_code(code);
		if (info && info->zone)
			ut_py_enter(code, info->zone);
	} else if (what == PyTrace_RETURN) {
		py_profile_leave(code);
	} else if (what == PyTrace_LINE) {
		on_line(code, frame);
	}
	Py_DECREF(code);
	return 0;
}

static int on_c_event(PyObject *self, PyFrameObject *frame, int what, PyObject *arg)
{
	(void)self;
	if (running && what >= PyTrace_C_CALL && what <= PyTrace_C_RETURN)
		on_c_call(frame, what, arg);
	return 0;
}

/* The Python function: called once on each new thread, for the first event there. */
static PyObject *thread_hook(PyObject *self, PyObject *args)
{
	PyObject *frame, *event, *arg;

	if (!PyArg_ParseTuple(args, "O!UO", &PyFrame_Type, &frame, &event, &arg))
		return NULL;
	if (!running)
		Py_RETURN_NONE;
	if (set_hooks(PyThreadState_Get(), true) < 0)
		return NULL;
	if (PyUnicode_CompareWithASCIIString(event, "call") == 0)
		on_event(self, (PyFrameObject *)frame, PyTrace_CALL, Py_None);
	Py_RETURN_NONE;
}

PyMethodDef ut_py_thread_hook = { "thread_hook", thread_hook, METH_VARARGS,
				  "For threading.setprofile() and threading.settrace()." };

bool ut_py_hooks_threads(unsigned int how)
{
	return how & (UT_PY_LINES | UT_PY_C_CALLS) || !ut_py_frames_free();
}

int ut_py_start(unsigned int how)
{
	PyInterpreterState *interpreter = PyInterpreterState_Get();
	PyThreadState *own = PyThreadState_Get();

	if (running)
		return 0;
	if (!ut_py_hooks_threads(how)) {
		ut_py_frames_start(how & UT_PY_WHOLE);
		return 0;
	}
	if (how & UT_PY_WHOLE)
		ut_py_wait_for_all();
	mode = how;
	running = true;
	for (PyThreadState *t = PyInterpreterState_ThreadHead(interpreter); t;
	     t = PyThreadState_Next(t)) {
		if (t != own && set_hooks(t, true) < 0)
			return -1;
	}
	return set_hooks(own, true); /* last: it sees what we call ourselves */
}

int ut_py_stop(void)
{
	int rc;

	if (ut_py_frames_stop()) {
		ut_py_leave_all();
		return 0;
	}
	if (!running)
		return 0;
	rc = set_hooks(PyThreadState_Get(), false);
	running = false;
	ut_py_leave_all();
	return rc;
}

#endif
