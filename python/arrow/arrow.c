/*
 * arrow.c - the two things about Arrow streams that Python cannot do by itself: hand one over as a
 * capsule that frees it if nobody takes it, and turn rows into tuples quickly.
 *
 * Built once for all interpreters (stable ABI). A stream is named by its address, of a struct that
 * belongs to the caller.
 */
#define PY_SSIZE_T_CLEAN
#define Py_LIMITED_API 0x03090000
#include <Python.h>

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "unitrace/arrow.h"

/* ---- capsules ------------------------------------------------------------------------------ */

static const char stream_name[] = "arrow_array_stream";

static void free_capsule(PyObject *capsule)
{
	struct ArrowArrayStream *stream = PyCapsule_GetPointer(capsule, stream_name);

	if (!stream) {
		PyErr_Clear();
		return;
	}
	if (stream->release)
		stream->release(stream);
	free(stream);
}

static struct ArrowArrayStream *stream_at(PyObject *address)
{
	struct ArrowArrayStream *stream = PyLong_AsVoidPtr(address);

	if (!stream && !PyErr_Occurred())
		PyErr_SetString(PyExc_ValueError, "no stream");
	if (stream && !stream->release) {
		PyErr_SetString(PyExc_ValueError, "the stream was read already");
		return NULL;
	}
	return stream;
}

static PyObject *capsule(PyObject *self, PyObject *address)
{
	struct ArrowArrayStream *from = stream_at(address), *stream;
	PyObject *made;

	(void)self;
	if (!from)
		return NULL;
	stream = malloc(sizeof(*stream));
	if (!stream)
		return PyErr_NoMemory();
	*stream = *from;
	from->release = NULL; /* moved */
	made = PyCapsule_New(stream, stream_name, free_capsule);
	if (!made) {
		stream->release(stream);
		free(stream);
	}
	return made;
}

static PyObject *release(PyObject *self, PyObject *address)
{
	struct ArrowArrayStream *stream = PyLong_AsVoidPtr(address);

	(void)self;
	if (PyErr_Occurred())
		return NULL;
	if (stream && stream->release)
		stream->release(stream);
	Py_RETURN_NONE;
}

/* ---- values -------------------------------------------------------------------------------- */

static bool is_null(const struct ArrowArray *a, int64_t row)
{
	const uint8_t *valid = a->buffers[0];

	row += a->offset;
	return valid && !(valid[row / 8] >> (row % 8) & 1);
}

static PyObject *text_value(const struct ArrowArray *a, int64_t row, char format)
{
	const char *bytes = a->buffers[2];
	bool is_long = format == 'U' || format == 'Z';
	int64_t from, to;

	row += a->offset;
	from = is_long ? ((const int64_t *)a->buffers[1])[row]
		       : ((const int32_t *)a->buffers[1])[row];
	to = is_long ? ((const int64_t *)a->buffers[1])[row + 1]
		     : ((const int32_t *)a->buffers[1])[row + 1];
	if (format == 'z' || format == 'Z')
		return PyBytes_FromStringAndSize(bytes + from, (Py_ssize_t)(to - from));
	return PyUnicode_DecodeUTF8(bytes + from, (Py_ssize_t)(to - from), "replace");
}

/* The words of a dictionary as objects, made when they are first met: names repeat. */
struct words {
	PyObject **items;
	int64_t count;
};

static PyObject *word_value(const struct ArrowArray *a, int64_t row, struct words *words)
{
	int32_t number = ((const int32_t *)a->buffers[1])[row + a->offset];

	if (number < 0 || number >= words->count) {
		PyErr_SetString(PyExc_ValueError, "a word that is not in its list");
		return NULL;
	}
	if (!words->items[number])
		words->items[number] = text_value(a->dictionary, number, 'u');
	Py_XINCREF(words->items[number]);
	return words->items[number];
}

static PyObject *value(const struct ArrowArray *a, int64_t row, const struct ArrowSchema *schema,
		       struct words *words)
{
	if (is_null(a, row))
		Py_RETURN_NONE;
	if (schema->dictionary)
		return word_value(a, row, words);
	switch (schema->format[0]) {
	case 'l':
		return PyLong_FromLongLong(((const int64_t *)a->buffers[1])[row + a->offset]);
	case 'i':
		return PyLong_FromLong(((const int32_t *)a->buffers[1])[row + a->offset]);
	case 'g':
		return PyFloat_FromDouble(((const double *)a->buffers[1])[row + a->offset]);
	default:
		return text_value(a, row, schema->format[0]);
	}
}

/* ---- rows ---------------------------------------------------------------------------------- */

static void forget_words(struct words *words, int64_t columns)
{
	for (int64_t c = 0; words && c < columns; c++) {
		for (int64_t i = 0; i < words[c].count; i++)
			Py_XDECREF(words[c].items[i]);
		free(words[c].items);
	}
	free(words);
}

static struct words *make_words(const struct ArrowArray *batch)
{
	struct words *words = calloc((size_t)batch->n_children + 1, sizeof(*words));

	for (int64_t c = 0; words && c < batch->n_children; c++) {
		const struct ArrowArray *list = batch->children[c]->dictionary;

		if (!list)
			continue;
		words[c].items = calloc((size_t)list->length + 1, sizeof(*words[c].items));
		words[c].count = words[c].items ? list->length : 0;
	}
	return words;
}

static PyObject *row_of(const struct ArrowArray *batch, const struct ArrowSchema *schema,
			struct words *words, int64_t row)
{
	PyObject *tuple = PyTuple_New((Py_ssize_t)batch->n_children);

	for (int64_t c = 0; tuple && c < batch->n_children; c++) {
		PyObject *v = value(batch->children[c], row, schema->children[c], &words[c]);

		if (!v || PyTuple_SetItem(tuple, (Py_ssize_t)c, v)) {
			Py_DECREF(tuple);
			return NULL;
		}
	}
	return tuple;
}

static PyObject *rows_of(const struct ArrowArray *batch, const struct ArrowSchema *schema)
{
	struct words *words = make_words(batch);
	PyObject *list = words ? PyList_New((Py_ssize_t)batch->length) : PyErr_NoMemory();

	for (int64_t row = 0; list && row < batch->length; row++) {
		PyObject *tuple = row_of(batch, schema, words, row);

		if (!tuple || PyList_SetItem(list, (Py_ssize_t)row, tuple)) {
			Py_DECREF(list);
			list = NULL;
		}
	}
	forget_words(words, batch->n_children);
	return list;
}

static PyObject *failed(struct ArrowArrayStream *stream, int rc)
{
	const char *text = stream->get_last_error(stream);

	return PyErr_Format(PyExc_OSError, "%s", text ? text : strerror(rc));
}

/* The rows of the next batch as a list of tuples; None at the end. */
static PyObject *next_rows(PyObject *self, PyObject *address)
{
	struct ArrowArrayStream *stream = stream_at(address);
	struct ArrowSchema schema;
	struct ArrowArray batch;
	PyObject *list = NULL;
	int rc;

	(void)self;
	if (!stream)
		return NULL;
	Py_BEGIN_ALLOW_THREADS rc = stream->get_next(stream, &batch);
	Py_END_ALLOW_THREADS if (rc) return failed(stream, rc);
	if (!batch.release)
		Py_RETURN_NONE;
	rc = stream->get_schema(stream, &schema);
	if (rc) {
		failed(stream, rc);
	} else {
		list = rows_of(&batch, &schema);
		schema.release(&schema);
	}
	batch.release(&batch);
	return list;
}

/* [(name, format of Arrow)] */
static PyObject *columns(PyObject *self, PyObject *address)
{
	struct ArrowArrayStream *stream = stream_at(address);
	struct ArrowSchema schema;
	PyObject *list;
	int rc;

	(void)self;
	if (!stream)
		return NULL;
	rc = stream->get_schema(stream, &schema);
	if (rc)
		return failed(stream, rc);
	list = PyList_New((Py_ssize_t)schema.n_children);
	for (int64_t i = 0; list && i < schema.n_children; i++) {
		const struct ArrowSchema *c = schema.children[i];
		PyObject *pair = Py_BuildValue("ss", c->name, c->dictionary ? "u" : c->format);

		if (!pair || PyList_SetItem(list, (Py_ssize_t)i, pair)) {
			Py_DECREF(list);
			list = NULL;
		}
	}
	schema.release(&schema);
	return list;
}

static PyMethodDef methods[] = {
	{ "capsule", capsule, METH_O, "The stream as a capsule, which takes it over." },
	{ "release", release, METH_O, "Lets go of a stream; nothing if somebody has done so." },
	{ "next_rows", next_rows, METH_O, "The next rows as tuples; None at the end." },
	{ "columns", columns, METH_O, "Names and formats of the columns." },
	{ NULL, NULL, 0, NULL },
};

static struct PyModuleDef module = {
	PyModuleDef_HEAD_INIT, "unitrace._arrow", NULL, 0, methods, NULL, NULL, NULL, NULL
};

PyMODINIT_FUNC PyInit__arrow(void);

PyMODINIT_FUNC PyInit__arrow(void)
{
	return PyModule_Create(&module);
}
