/*
 * marks.c - ITT from Python.
 *
 * The module is a static part of its own, as small as can be: a table of the functions that it
 * calls, which the collector fills in. Handles are numbers for the Python half of the package,
 * 0 when nothing records; each function does nothing then.
 */
#include "core.h"

#include <string.h>

#define INTEL_NO_MACRO_BODY
#include "itt/abi.h"

/* name, group */
#define FUNCTIONS(X)                                                                               \
	X(domain_create, structure)                                                                \
	X(string_handle_create, structure)                                                         \
	X(task_begin, structure)                                                                   \
	X(task_end, structure)                                                                     \
	X(task_begin_overlapped, structure)                                                        \
	X(task_end_overlapped, structure)                                                          \
	X(id_create, structure)                                                                    \
	X(id_destroy, structure)                                                                   \
	X(frame_begin_v3, structure)                                                               \
	X(frame_end_v3, structure)                                                                 \
	X(marker, structure)                                                                       \
	X(metadata_add, structure)                                                                 \
	X(metadata_str_add, structure)                                                             \
	X(counter_create_typed, counter)                                                           \
	X(counter_set_value, counter)                                                              \
	X(event_create, mark)                                                                      \
	X(event_start, mark)                                                                       \
	X(event_end, mark)                                                                         \
	X(thread_set_name, thread)                                                                 \
	X(pause, control)                                                                          \
	X(resume, control)                                                                         \
	X(detach, control)

static struct {
#define MEMBER(name, group) __typeof__(__itt_##name) *name;
	FUNCTIONS(MEMBER)
#undef MEMBER
} itt;

static __itt_api_info list[] = {
#define ENTRY(name, group)                                                                         \
	{ "__itt_" #name, (void **)(void *)&itt.name, NULL, NULL, __itt_group_##group },
	FUNCTIONS(ENTRY)
#undef ENTRY
		{ 0 },
};

static __itt_global self = {
	.magic = ITT_MAGIC,
	.version_major = 3,
	.version_minor = 25,
	.version_build = UT_ITT_BUILD,
	.api_list_ptr = list,
};

static bool shake_hands(void)
{
	__itt_api_init_t *init;
	void *address;

	if (!ut_py_join())
		return false;
	address = ut_py_symbol("__itt_api_init");
	if (!address)
		return false;
	memcpy(&init, &address, sizeof(init));
	init(&self, __itt_group_all);
	return true;
}

static int state; /* 0 = not tried */

void ut_py_marks_again(void)
{
	state = state > 0;
}

static bool ready(void)
{
	if (!state)
		state = shake_hands() ? 1 : -1;
	return state > 0;
}

/* ---- arguments ----------------------------------------------------------------------------- */

static bool arguments_are(Py_ssize_t count, Py_ssize_t expected)
{
	if (count == expected)
		return true;
	PyErr_Format(PyExc_TypeError, "%zd arguments expected, not %zd", expected, count);
	return false;
}

/* A handle that we gave out, or 0. */
static void *pointer(PyObject *number)
{
	return PyLong_AsVoidPtr(number);
}

static __itt_id id_of(PyObject *number)
{
	return (__itt_id){ PyLong_AsUnsignedLongLongMask(number), 0, 0 };
}

static PyObject *done(void)
{
	if (PyErr_Occurred())
		return NULL;
	Py_RETURN_NONE;
}

/* ---- names --------------------------------------------------------------------------------- */

static PyObject *domain(PyObject *module, PyObject *name)
{
	PyObject *keep;
	Py_ssize_t len;
	const char *text = ut_py_utf8(name, &keep, &len);
	void *made = NULL;

	(void)module;
	if (!text)
		return NULL;
	if (ready() && itt.domain_create)
		made = itt.domain_create(text);
	Py_XDECREF(keep);
	return PyLong_FromVoidPtr(made);
}

static PyObject *handle(PyObject *module, PyObject *name)
{
	PyObject *keep;
	Py_ssize_t len;
	const char *text = ut_py_utf8(name, &keep, &len);
	void *made = NULL;

	(void)module;
	if (!text)
		return NULL;
	if (ready() && itt.string_handle_create)
		made = itt.string_handle_create(text);
	Py_XDECREF(keep);
	return PyLong_FromVoidPtr(made);
}

void ut_py_name_thread(const char *name)
{
	if (ready() && itt.thread_set_name)
		itt.thread_set_name(name);
}

static PyObject *thread_name(PyObject *module, PyObject *name)
{
	PyObject *keep;
	Py_ssize_t len;
	const char *text = ut_py_utf8(name, &keep, &len);

	(void)module;
	if (!text)
		return NULL;
	ut_py_name_thread(text);
	Py_XDECREF(keep);
	Py_RETURN_NONE;
}

/* ---- spans --------------------------------------------------------------------------------- */

/* domain, name, id, parent */
static PyObject *task_begin(PyObject *module, PyObject *const *args, Py_ssize_t count)
{
	const __itt_domain *d;

	(void)module;
	if (!arguments_are(count, 4))
		return NULL;
	d = pointer(args[0]);
	if (d && itt.task_begin)
		itt.task_begin(d, id_of(args[2]), id_of(args[3]), pointer(args[1]));
	return done();
}

static PyObject *task_end(PyObject *module, PyObject *number)
{
	const __itt_domain *d = pointer(number);

	(void)module;
	if (d && itt.task_end)
		itt.task_end(d);
	return done();
}

/* domain, name, id, parent */
static PyObject *overlapped_begin(PyObject *module, PyObject *const *args, Py_ssize_t count)
{
	const __itt_domain *d;

	(void)module;
	if (!arguments_are(count, 4))
		return NULL;
	d = pointer(args[0]);
	if (d && itt.task_begin_overlapped)
		itt.task_begin_overlapped(d, id_of(args[2]), id_of(args[3]), pointer(args[1]));
	return done();
}

/* Functions of a domain and an id. */
static PyObject *with_id(PyObject *const *args, Py_ssize_t count,
			 void (*function)(const __itt_domain *, __itt_id))
{
	const __itt_domain *d;

	if (!arguments_are(count, 2))
		return NULL;
	d = pointer(args[0]);
	if (d && function)
		function(d, id_of(args[1]));
	return done();
}

static PyObject *overlapped_end(PyObject *module, PyObject *const *args, Py_ssize_t count)
{
	(void)module;
	return with_id(args, count, itt.task_end_overlapped);
}

static PyObject *id_create(PyObject *module, PyObject *const *args, Py_ssize_t count)
{
	(void)module;
	return with_id(args, count, itt.id_create);
}

static PyObject *id_destroy(PyObject *module, PyObject *const *args, Py_ssize_t count)
{
	(void)module;
	return with_id(args, count, itt.id_destroy);
}

static PyObject *frame(PyObject *const *args, Py_ssize_t count,
		       void (*function)(const __itt_domain *, __itt_id *))
{
	const __itt_domain *d;
	__itt_id id;

	if (!arguments_are(count, 2))
		return NULL;
	d = pointer(args[0]);
	id = id_of(args[1]);
	if (d && function)
		function(d, id.d1 ? &id : NULL);
	return done();
}

static PyObject *frame_begin(PyObject *module, PyObject *const *args, Py_ssize_t count)
{
	(void)module;
	return frame(args, count, itt.frame_begin_v3);
}

static PyObject *frame_end(PyObject *module, PyObject *const *args, Py_ssize_t count)
{
	(void)module;
	return frame(args, count, itt.frame_end_v3);
}

static PyObject *event(PyObject *module, PyObject *name)
{
	PyObject *keep;
	Py_ssize_t len;
	const char *text = ut_py_utf8(name, &keep, &len);
	int made = 0;

	(void)module;
	if (!text)
		return NULL;
	if (ready() && itt.event_create)
		made = itt.event_create(text, (int)len);
	Py_XDECREF(keep);
	return PyLong_FromLong(made);
}

static PyObject *event_start(PyObject *module, PyObject *number)
{
	long e = PyLong_AsLong(number);

	(void)module;
	if (e > 0 && itt.event_start)
		itt.event_start((__itt_event)e);
	return done();
}

static PyObject *event_end(PyObject *module, PyObject *number)
{
	long e = PyLong_AsLong(number);

	(void)module;
	if (e > 0 && itt.event_end)
		itt.event_end((__itt_event)e);
	return done();
}

/* ---- moments, numbers, arguments ----------------------------------------------------------- */

/* domain, name, whole process? */
static PyObject *marker(PyObject *module, PyObject *const *args, Py_ssize_t count)
{
	const __itt_domain *d;
	__itt_scope scope;

	(void)module;
	if (!arguments_are(count, 3))
		return NULL;
	d = pointer(args[0]);
	scope = PyObject_IsTrue(args[2]) ? __itt_scope_track_group : __itt_scope_track;
	if (d && itt.marker)
		itt.marker(d, __itt_null, pointer(args[1]), scope);
	return done();
}

/* name, domain */
static PyObject *counter(PyObject *module, PyObject *const *args, Py_ssize_t count)
{
	PyObject *keep_name = NULL, *keep_domain = NULL;
	const char *name, *in = NULL;
	__itt_counter made = NULL;
	Py_ssize_t len;

	(void)module;
	if (!arguments_are(count, 2))
		return NULL;
	name = ut_py_utf8(args[0], &keep_name, &len);
	if (name)
		in = ut_py_utf8(args[1], &keep_domain, &len);
	if (in && ready() && itt.counter_create_typed)
		made = itt.counter_create_typed(name, in, __itt_metadata_double);
	Py_XDECREF(keep_name);
	Py_XDECREF(keep_domain);
	return in ? PyLong_FromVoidPtr(made) : NULL;
}

static PyObject *counter_set(PyObject *module, PyObject *const *args, Py_ssize_t count)
{
	__itt_counter made;
	double value;

	(void)module;
	if (!arguments_are(count, 2))
		return NULL;
	made = pointer(args[0]);
	value = PyFloat_AsDouble(args[1]);
	if (made && itt.counter_set_value && !PyErr_Occurred())
		itt.counter_set_value(made, &value);
	return done();
}

static void marks_put_value(const __itt_domain *d, __itt_id id, __itt_string_handle *key,
			    PyObject *value)
{
	long long whole;
	double real;
	const char *text;
	PyObject *keep;
	Py_ssize_t len;
	int overflow = 0;

	if (PyLong_Check(value)) {
		whole = PyLong_AsLongLongAndOverflow(value, &overflow);
		if (!overflow && itt.metadata_add) {
			itt.metadata_add(d, id, key, __itt_metadata_s64, 1, &whole);
			return;
		}
	}
	if (PyFloat_Check(value) || PyLong_Check(value)) {
		real = PyFloat_AsDouble(value);
		if (itt.metadata_add && !PyErr_Occurred())
			itt.metadata_add(d, id, key, __itt_metadata_double, 1, &real);
		return;
	}
	text = ut_py_utf8(value, &keep, &len);
	if (text && itt.metadata_str_add)
		itt.metadata_str_add(d, id, key, text, (size_t)len);
	Py_XDECREF(keep);
}

/* domain, id, key, value: a number or a string. Id 0 = the task that is open. */
static PyObject *metadata(PyObject *module, PyObject *const *args, Py_ssize_t count)
{
	const __itt_domain *d;

	(void)module;
	if (!arguments_are(count, 4))
		return NULL;
	d = pointer(args[0]);
	if (d)
		marks_put_value(d, id_of(args[1]), pointer(args[2]), args[3]);
	return done();
}

/* ---- control ------------------------------------------------------------------------------- */

static PyObject *control(void (*const *function)(void))
{
	if (ready() && *function)
		(*function)();
	Py_RETURN_NONE;
}

static PyObject *pause_now(PyObject *module, PyObject *args)
{
	(void)module;
	(void)args;
	return control(&itt.pause);
}

static PyObject *resume_now(PyObject *module, PyObject *args)
{
	(void)module;
	(void)args;
	return control(&itt.resume);
}

static PyObject *detach_now(PyObject *module, PyObject *args)
{
	(void)module;
	(void)args;
	return control(&itt.detach);
}

#define FAST(name)                                                                                 \
	{                                                                                          \
#name, (PyCFunction)(void (*)(void))(name), METH_FASTCALL, NULL                    \
	}

PyMethodDef ut_py_marks[] = {
	{ "domain", domain, METH_O, NULL },
	{ "handle", handle, METH_O, NULL },
	{ "thread_name", thread_name, METH_O, NULL },
	FAST(task_begin),
	{ "task_end", task_end, METH_O, NULL },
	FAST(overlapped_begin),
	FAST(overlapped_end),
	FAST(id_create),
	FAST(id_destroy),
	FAST(frame_begin),
	FAST(frame_end),
	{ "event", event, METH_O, NULL },
	{ "event_start", event_start, METH_O, NULL },
	{ "event_end", event_end, METH_O, NULL },
	FAST(marker),
	FAST(counter),
	FAST(counter_set),
	FAST(metadata),
	{ "pause", pause_now, METH_NOARGS, NULL },
	{ "resume", resume_now, METH_NOARGS, NULL },
	{ "detach", detach_now, METH_NOARGS, NULL },
	{ 0 },
};
