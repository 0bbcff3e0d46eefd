/*
 * monitor.c - calls and lines from Python 3.12 on: sys.monitoring, with callbacks in C.
 *
 * The events are those of the whole interpreter, so threads need no care. Code that filters leave
 * out answers DISABLE: its events are switched off at their place and cost nothing from then on.
 *
 * When profiling is switched off, other threads may be in the middle of calls, which have to be
 * ended when they end. We linger then: begins and ends go on, and are switched off at every place
 * but those of functions that are still open.
 */
#include "core.h"

#if UT_PY_MONITORING

#include <string.h>

static PyObject *monitoring; /* sys.monitoring */
static PyObject *disable;
static long tool = -1; /* our number; -1 = not running */
static bool lingering;

/* ---- callbacks ----------------------------------------------------------------------------- */

static PyObject *skip(void)
{
	return Py_NewRef(disable);
}

/* A begin or an end, after profiling was switched off. Calls inside one that is open are counted,
 * so that a recursive function is not ended too early. */
static PyObject *linger(PyCodeObject *code, bool begins)
{
	if (!ut_py_depth())
		return ut_py_is_open_elsewhere(code) ? Py_NewRef(Py_None) : skip();
	if (begins)
		ut_py_enter(code, 0);
	else
		ut_py_leave(code);
	Py_RETURN_NONE;
}

/* PY_START, PY_RESUME */
static PyObject *on_start(PyObject *self, PyObject *const *args, Py_ssize_t count)
{
	PyCodeObject *code = (PyCodeObject *)args[0];
	struct ut_py_code *info = ut_py_code(code);

	(void)self;
	(void)count;
	if (__builtin_expect(lingering, 0))
		return linger(code, true);
	if (ut_py_wait(true, code))
		Py_RETURN_NONE;
	if (!info || !info->zone)
		return skip();
	ut_py_enter(code, info->zone);
	Py_RETURN_NONE;
}

/* PY_RETURN, PY_YIELD */
static PyObject *on_return(PyObject *self, PyObject *const *args, Py_ssize_t count)
{
	PyCodeObject *code = (PyCodeObject *)args[0];
	const struct ut_py_code *info;

	(void)self;
	(void)count;
	if (ut_py_wait(false, code) || ut_py_leave_top(code))
		Py_RETURN_NONE;
	if (lingering)
		return linger(code, false);
	info = ut_py_code(code);
	if (!info || !info->zone)
		return skip();
	ut_py_leave(code);
	Py_RETURN_NONE;
}

/* PY_THROW: like a resume; but neither this nor an unwind can be switched off at its place. */
static PyObject *on_throw(PyObject *self, PyObject *const *args, Py_ssize_t count)
{
	PyCodeObject *code = (PyCodeObject *)args[0];
	struct ut_py_code *info = ut_py_code(code);

	(void)self;
	(void)count;
	if (ut_py_wait(true, code))
		Py_RETURN_NONE;
	if (lingering && !ut_py_depth())
		Py_RETURN_NONE;
	if (info && info->zone)
		ut_py_enter(code, lingering ? 0 : info->zone);
	Py_RETURN_NONE;
}

static PyObject *on_unwind(PyObject *self, PyObject *const *args, Py_ssize_t count)
{
	(void)self;
	(void)count;
	if (!ut_py_wait(false, (PyCodeObject *)args[0]))
		ut_py_leave(args[0]);
	Py_RETURN_NONE;
}

static PyObject *on_line(PyObject *self, PyObject *const *args, Py_ssize_t count)
{
	PyCodeObject *code = (PyCodeObject *)args[0];
	struct ut_py_code *info = ut_py_code(code);
	long line = PyLong_AsLong(args[1]);

	(void)self;
	(void)count;
	if (!info || !info->zone)
		return skip();
	ut_py_step(code, ut_py_line(code, info, (int)line));
	Py_RETURN_NONE;
}

static const void *c_key(PyObject *function)
{
	if (PyCFunction_Check(function))
		return ((PyCFunctionObject *)function)->m_ml;
	if (Py_IS_TYPE(function, &PyMethodDescr_Type))
		return ((PyMethodDescrObject *)function)->d_method;
	return NULL;
}

/* Do filters leave the caller in, and so what it calls? */
static bool is_wanted(PyObject *caller)
{
	const struct ut_py_code *info = ut_py_ready ? ut_py_code((PyCodeObject *)caller) : NULL;

	return info && info->zone;
}

static PyObject *on_call(PyObject *self, PyObject *const *args, Py_ssize_t count)
{
	const void *key = c_key(args[2]);
	uint64_t zone = key && is_wanted(args[0]) ? ut_py_c_function(args[2]) : 0;

	(void)self;
	(void)count;
	if (zone)
		ut_py_enter(key, zone);
	Py_RETURN_NONE;
}

static PyObject *on_c_return(PyObject *self, PyObject *const *args, Py_ssize_t count)
{
	const void *key = c_key(args[2]);

	(void)self;
	(void)count;
	if (key && is_wanted(args[0]))
		ut_py_leave(key);
	Py_RETURN_NONE;
}

/* ---- on and off ---------------------------------------------------------------------------- */

#define FAST(name, function)                                                                       \
	{                                                                                          \
		name, (PyCFunction)(void (*)(void))(function), METH_FASTCALL, NULL                 \
	}

/* The events that we listen to, and when. */
static struct {
	const char *event;
	unsigned int mode; /* 0 = always */
	bool counts;       /* C_RETURN and C_RAISE come with CALL and are not asked for */
	PyMethodDef callback;
} events[] = {
	{ "PY_START", 0, true, FAST("on_start", on_start) },
	{ "PY_RESUME", 0, true, FAST("on_resume", on_start) },
	{ "PY_THROW", 0, true, FAST("on_throw", on_throw) },
	{ "PY_RETURN", 0, true, FAST("on_return", on_return) },
	{ "PY_YIELD", 0, true, FAST("on_yield", on_return) },
	{ "PY_UNWIND", 0, true, FAST("on_unwind", on_unwind) },
	{ "LINE", UT_PY_LINES, true, FAST("on_line", on_line) },
	{ "CALL", UT_PY_C_CALLS, true, FAST("on_call", on_call) },
	{ "C_RETURN", UT_PY_C_CALLS, false, FAST("on_c_return", on_c_return) },
	{ "C_RAISE", UT_PY_C_CALLS, false, FAST("on_c_raise", on_c_return) },
};

/* The value of sys.monitoring.events.NAME; -1 with an exception. */
static long event_bit(const char *name)
{
	PyObject *all = PyObject_GetAttrString(monitoring, "events"), *bit;
	long value = -1;

	bit = all ? PyObject_GetAttrString(all, name) : NULL;
	if (bit)
		value = PyLong_AsLong(bit);
	Py_XDECREF(bit);
	Py_XDECREF(all);
	return value;
}

/* Calls sys.monitoring.NAME(...). 0, or -1 with an exception. */
static int call(const char *name, PyObject *args)
{
	PyObject *function = PyObject_GetAttrString(monitoring, name), *result = NULL;

	if (function && args)
		result = PyObject_CallObject(function, args);
	Py_XDECREF(function);
	Py_XDECREF(args);
	Py_XDECREF(result);
	return result ? 0 : -1;
}

/* 2 is for cProfile and its like; somebody may use the others. */
static int take_tool(void)
{
	static const long numbers[] = { 3, 4, 2 };

	for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++) {
		if (!call("use_tool_id", Py_BuildValue("(ls)", numbers[i], "unitrace"))) {
			tool = numbers[i];
			return 0;
		}
		if (!PyErr_ExceptionMatches(PyExc_ValueError))
			return -1;
		PyErr_Clear();
	}
	PyErr_SetString(PyExc_RuntimeError, "other tools use all of sys.monitoring");
	return -1;
}

static int listen(unsigned int mode)
{
	long set = 0;

	for (size_t i = 0; i < sizeof(events) / sizeof(*events); i++) {
		PyObject *function;
		long bit = event_bit(events[i].event);

		if (bit < 0)
			return -1;
		if (events[i].mode && !(mode & events[i].mode))
			continue;
		function = PyCFunction_New(&events[i].callback, NULL);
		if (!function ||
		    call("register_callback", Py_BuildValue("(llN)", tool, bit, function)))
			return -1;
		if (events[i].counts)
			set |= bit;
	}
	return call("set_events", Py_BuildValue("(ll)", tool, set));
}

/* Gives everything back. 0, or -1 with an exception. */
static int release(void)
{
	int rc = call("set_events", Py_BuildValue("(ll)", tool, 0L));

	for (size_t i = 0; i < sizeof(events) / sizeof(*events); i++)
		rc |= call("register_callback",
			   Py_BuildValue("(llO)", tool, event_bit(events[i].event), Py_None));
	rc |= call("free_tool_id", Py_BuildValue("(l)", tool));
	tool = -1;
	lingering = false;
	return rc ? -1 : 0;
}

int ut_py_start(unsigned int mode)
{
	if (tool >= 0 && !lingering)
		return 0;
	if (!monitoring) {
		monitoring = PySys_GetObject("monitoring"); /* borrowed */
		if (!monitoring) {
			PyErr_SetString(PyExc_RuntimeError, "sys.monitoring is missing");
			return -1;
		}
		Py_INCREF(monitoring);
		disable = PyObject_GetAttrString(monitoring, "DISABLE");
	}
	if (!disable || (lingering ? call("restart_events", PyTuple_New(0)) : take_tool()))
		return -1;
	lingering = false;
	if (mode & UT_PY_WHOLE)
		ut_py_wait_for_all();
	if (listen(mode)) {
		PyObject *type, *value, *traceback;

		PyErr_Fetch(&type, &value, &traceback);
		(void)release();
		PyErr_Restore(type, value, traceback);
		return -1;
	}
	return 0;
}

int ut_py_stop(void)
{
	if (tool < 0 || lingering)
		return 0;
	lingering = ut_py_is_open_elsewhere(NULL);
	ut_py_leave_all();
	return lingering ? listen(UT_PY_FUNCTIONS) : release();
}

static PyObject *no_hook(PyObject *self, PyObject *args)
{
	(void)self;
	(void)args;
	Py_RETURN_NONE;
}

bool ut_py_hooks_threads(unsigned int mode)
{
	(void)mode;
	return false;
}

PyMethodDef ut_py_thread_hook = { "thread_hook", no_hook, METH_VARARGS,
				  "Not needed: sys.monitoring sees every thread." };

#endif
