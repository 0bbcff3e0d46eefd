/* module.c - unitrace._core: what the Python half of the package calls. */
#include "core.h"

#include <string.h>

/* What configure() was given; kept for ever. */
static struct ut_py_filter filter;
static char *own_folder;

/* A NULL-terminated copy of a list of strings; NULL with an exception, or for an empty list. */
static char **copy_list(PyObject *list)
{
	Py_ssize_t count = PySequence_Size(list);
	char **copy;

	if (count <= 0)
		return NULL;
	copy = PyMem_RawCalloc((size_t)count + 1, sizeof(*copy));
	for (Py_ssize_t i = 0; copy && i < count; i++) {
		PyObject *item = PySequence_GetItem(list, i), *keep = NULL;
		Py_ssize_t len;
		const char *text = item ? ut_py_utf8(item, &keep, &len) : NULL;

		copy[i] = text ? strdup(text) : NULL;
		Py_XDECREF(keep);
		Py_XDECREF(item);
		if (!copy[i])
			break;
	}
	return copy;
}

/* Others are left alone: their code objects have slots of their own. */
static bool is_main(void)
{
	return PyInterpreterState_Get() == PyInterpreterState_Main();
}

/* folder, files, not_files, modules, not_modules, imports, depth, min_ns */
static PyObject *module_configure(PyObject *self, PyObject *args)
{
	PyObject *files, *not_files, *modules, *not_modules;
	unsigned long long depth, min_ns;
	const char *folder;
	int imports;

	(void)self;
	if (!PyArg_ParseTuple(args, "sOOOOpKK", &folder, &files, &not_files, &modules, &not_modules,
			      &imports, &depth, &min_ns))
		return NULL;
	if (!is_main() || !ut_py_join())
		Py_RETURN_FALSE;
	filter.files = copy_list(files);
	filter.not_files = copy_list(not_files);
	filter.modules = copy_list(modules);
	filter.not_modules = copy_list(not_modules);
	filter.imports = imports;
	own_folder = strdup(folder);
	if (PyErr_Occurred() || ut_py_zone_init(&filter, own_folder) || ut_py_stack_init())
		return NULL;
	ut_py_limits.depth = depth && depth < UINT32_MAX ? (uint32_t)depth : UINT32_MAX;
	ut_py_limits.min_ticks = min_ns ? ut_py_zones->ticks(min_ns) : 0;
	Py_RETURN_TRUE;
}

static bool may_run(void)
{
	if (ut_py_zones && ut_py_extra >= 0 && is_main())
		return true;
	PyErr_SetString(PyExc_RuntimeError, "unitrace records nothing in this interpreter");
	return false;
}

/* The mode that (lines, c_calls, whole) ask for. */
static bool parse_mode(PyObject *args, unsigned int *mode)
{
	int lines = 0, c_calls = 0, whole = 0;

	if (!PyArg_ParseTuple(args, "|ppp", &lines, &c_calls, &whole))
		return false;
	*mode = UT_PY_FUNCTIONS;
	if (lines)
		*mode |= UT_PY_LINES;
	if (c_calls)
		*mode |= UT_PY_C_CALLS;
	if (whole)
		*mode |= UT_PY_WHOLE;
	return true;
}

static PyObject *hooks_threads(PyObject *self, PyObject *args)
{
	unsigned int mode;

	(void)self;
	if (!parse_mode(args, &mode))
		return NULL;
	return PyBool_FromLong(ut_py_hooks_threads(mode));
}

static PyObject *module_start(PyObject *self, PyObject *args)
{
	unsigned int mode;

	(void)self;
	if (!parse_mode(args, &mode) || !may_run() || ut_py_start(mode))
		return NULL;
	Py_RETURN_NONE;
}

static PyObject *module_stop(PyObject *self, PyObject *args)
{
	(void)self;
	(void)args;
	if (ut_py_zones && is_main() && ut_py_stop())
		return NULL;
	Py_RETURN_NONE;
}

static PyObject *on_task(PyObject *self, PyObject *function)
{
	(void)self;
	ut_py_zone_on_task(function);
	Py_RETURN_NONE;
}

static PyObject *joined(PyObject *self, PyObject *args)
{
	(void)self;
	(void)args;
	return PyBool_FromLong(ut_py_join());
}

static PyObject *rejoin(PyObject *self, PyObject *args)
{
	(void)self;
	(void)args;
	ut_py_join_again();
	ut_py_marks_again();
	return PyBool_FromLong(ut_py_join());
}

static PyObject *forked(PyObject *self, PyObject *args)
{
	(void)self;
	(void)args;
	if (ut_py_zones)
		ut_py_forked();
	Py_RETURN_NONE;
}

static PyMethodDef methods[] = {
	{ "configure", module_configure, METH_VARARGS,
	  "Sets filters and limits; False when nothing records this process." },
	{ "hooks_threads", hooks_threads, METH_VARARGS,
	  "Do new threads need thread_hook, before start() with the same arguments?" },
	{ "start", module_start, METH_VARARGS,
	  "start(lines, c_calls, whole): profiles all threads." },
	{ "stop", module_stop, METH_NOARGS, "Stops profiling." },
	{ "on_task", on_task, METH_O, "Calls this when asyncio makes its first task." },
	{ "watch_tasks", ut_py_watch_tasks, METH_VARARGS, "asyncio's create_task, watched." },
	{ "watch_calls", ut_py_watch_calls, METH_VARARGS, "asyncio's call_soon, without ours." },
	{ "joined", joined, METH_NOARGS, "Does unitrace record this process?" },
	{ "rejoin", rejoin, METH_NOARGS, "The same, looked for again where it does not." },
	{ "forked", forked, METH_NOARGS, "For os.register_at_fork(after_in_child)." },
	{ 0 },
};

static struct PyModuleDef definition = {
	PyModuleDef_HEAD_INIT, .m_name = "unitrace._core", .m_doc = "The C half of unitrace.",
	.m_size = -1,          .m_methods = methods,
};

PyMODINIT_FUNC PyInit__core(void);

PyMODINIT_FUNC PyInit__core(void)
{
	PyObject *module = PyModule_Create(&definition), *hook;

	if (!module)
		return NULL;
	hook = PyCFunction_New(&ut_py_thread_hook, NULL);
	if (!hook || PyModule_AddObject(module, "thread_hook", hook) ||
	    PyModule_AddFunctions(module, ut_py_marks)) {
		Py_DECREF(module);
		return NULL;
	}
	ut_py_join();
	return module;
}
