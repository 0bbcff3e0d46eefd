/*
 * task.c - asyncio's create_task() and call_soon() with us around them. A function written in C has
 * no frame: the program's tracebacks, and what asyncio's debug mode tells about a task, stay as
 * they are.
 */
#include "core.h"

static PyObject *original, *begin, *end; /* see ut_py_watch_tasks() */
static PyObject *call_soon_original, *at_once;

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

/* args: the loop, the callback, what it is called with */
static PyObject *call_soon(PyObject *self, PyObject *const *args, Py_ssize_t count, PyObject *names)
{
	(void)self;
	if (count < 3 || (PyObject *)Py_TYPE(args[1]) != at_once)
		return PyObject_Vectorcall(call_soon_original, args, (size_t)count, names);
	Py_XDECREF(call_ours(args[1], args[2], NULL));
	Py_RETURN_NONE;
}

static PyMethodDef create_task_definition = {
	"create_task", (PyCFunction)(void (*)(void))create_task, METH_VARARGS | METH_KEYWORDS,
	"create_task(loop, coro, **kwargs)\n--\n\nSchedules a coroutine; watched by unitrace."
};

static PyMethodDef call_soon_definition = {
	"call_soon", (PyCFunction)(void (*)(void))call_soon, METH_FASTCALL | METH_KEYWORDS,
	"call_soon(loop, callback, *args, context=None)\n--\n\nSchedules a call."
};

static PyObject *method_of(PyMethodDef *definition)
{
	PyObject *function = PyCFunction_New(definition, NULL);
	PyObject *method = function ? PyInstanceMethod_New(function) : NULL;

	Py_XDECREF(function);
	return method;
}

static void task_keep(PyObject **to, PyObject *object)
{
	Py_INCREF(object);
	Py_XSETREF(*to, object);
}

PyObject *ut_py_watch_tasks(PyObject *self, PyObject *args)
{
	PyObject *o, *b, *e;

	(void)self;
	if (!PyArg_ParseTuple(args, "OOO", &o, &b, &e))
		return NULL;
	task_keep(&original, o);
	task_keep(&begin, b);
	task_keep(&end, e);
	return method_of(&create_task_definition);
}

PyObject *ut_py_watch_calls(PyObject *self, PyObject *args)
{
	PyObject *o, *type;

	(void)self;
	if (!PyArg_ParseTuple(args, "OO", &o, &type))
		return NULL;
	task_keep(&call_soon_original, o);
	task_keep(&at_once, type);
	return method_of(&call_soon_definition);
}
