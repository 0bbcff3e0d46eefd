/*
 * task.c - asyncio's create_task() with us around it. A function written in C has no frame: the
 * program's tracebacks, and what asyncio's debug mode tells about a task, stay as they are.
 */
#include "core.h"

static PyObject *original, *begin, *end; /* see ut_py_watch_tasks() */

/* What goes wrong in ours is not the program's business. */
static PyObject *call_ours(PyObject *function, PyObject *a, PyObject *b)
{
	PyObject *type, *value, *traceback, *result;

	PyErr_Fetch(&type, &value, &traceback);
	result = PyObject_CallFunctionObjArgs(function, a, b, NULL);
	PyErr_Clear();
	PyErr_Restore(type, value, traceback);
	return result;
}

/* args: the loop, the coroutine, ... */
static PyObject *create_task(PyObject *self, PyObject *args, PyObject *kwargs)
{
	PyObject *coroutine = PyTuple_GET_SIZE(args) > 1 ? PyTuple_GET_ITEM(args, 1) : NULL;
	PyObject *span, *task;

	(void)self;
	if (!coroutine && kwargs)
		coroutine = PyDict_GetItemString(kwargs, "coro"); /* borrowed */
	span = call_ours(begin, coroutine ? coroutine : Py_None, NULL);
	task = PyObject_Call(original, args, kwargs);
	if (span) {
		Py_XDECREF(call_ours(end, task ? task : Py_None, span));
		Py_DECREF(span);
	}
	return task;
}

static PyMethodDef definition = {
	"create_task", (PyCFunction)(void (*)(void))create_task, METH_VARARGS | METH_KEYWORDS,
	"create_task(loop, coro, **kwargs)\n--\n\nSchedules a coroutine; watched by unitrace."
};

PyObject *ut_py_watch_tasks(PyObject *self, PyObject *args)
{
	PyObject *function, *method, *o, *b, *e;

	(void)self;
	if (!PyArg_ParseTuple(args, "OOO", &o, &b, &e))
		return NULL;
	Py_INCREF(o);
	Py_XSETREF(original, o);
	Py_INCREF(b);
	Py_XSETREF(begin, b);
	Py_INCREF(e);
	Py_XSETREF(end, e);
	function = PyCFunction_New(&definition, NULL);
	method = function ? PyInstanceMethod_New(function) : NULL;
	Py_XDECREF(function);
	return method;
}
