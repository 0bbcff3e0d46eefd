/*
 * zone.c - which zone a piece of code is.
 *
 * The answer is kept where it is found fastest: in a slot of the code object itself. The same
 * function may be compiled many times (exec in a loop), so zones are also known by file, name and
 * line; memory does not grow with the number of code objects. A program that invents new names for
 * ever (a file name for each piece of generated code) gets one zone for all that come late.
 */
#include "core.h"

#include <fnmatch.h>
#include <string.h>

#define FUNCTIONS   "Python"
#define LINES       "Python line"
#define C_FUNCTIONS "Python C call"
#define MOST_LINES  100000
#define MOST_ZONES  (1 << 18)
#define LATE        "(one of too many functions)"
#define C_SLOTS     4096u /* power of two */

Py_ssize_t ut_py_extra = -1;
struct ut_py_recent ut_py_recent[UT_PY_RECENT];

static struct ut_py_filter filter;
static const char *own_folder;
static PyObject *on_task; /* see ut_py_zone_on_task() */
static PyObject *known;   /* {(file, name, line): zone} */

static void free_code(void *p)
{
	struct ut_py_code *info = p;
	struct ut_py_recent *r;

	if (!info)
		return;
	r = ut_py_recent_slot(info->code);
	if (r->code == info->code)
		*r = (struct ut_py_recent){ 0 };
	PyMem_RawFree(info->lines);
	PyMem_RawFree(info);
}

int ut_py_zone_init(const struct ut_py_filter *f, const char *folder)
{
	filter = *f;
	own_folder = folder;
	if (!known)
		known = PyDict_New();
	if (ut_py_extra < 0)
#if UT_PY_MONITORING
		ut_py_extra = PyUnstable_Eval_RequestCodeExtraIndex(free_code);
#else
		ut_py_extra = _PyEval_RequestCodeExtraIndex(free_code);
#endif
	if (known && ut_py_extra < 0)
		PyErr_SetString(PyExc_RuntimeError, "no room for one more tool in code objects");
	return known && ut_py_extra >= 0 ? 0 : -1;
}

/* ---- filters ------------------------------------------------------------------------------- */

/* "model.py" and "nn/x.py" stand for the end of a path, "/srv/..." and "<frozen ..." for all of
 * it. */
static bool is_like(const char *file, const char *pattern)
{
	if (!fnmatch(pattern, file, 0))
		return true;
	if (pattern[0] == '/')
		return false;
	for (const char *slash = strchr(file, '/'); slash; slash = strchr(slash + 1, '/')) {
		if (!fnmatch(pattern, slash + 1, 0))
			return true;
	}
	return false;
}

static bool fits_file(char **patterns, const char *file)
{
	for (; *patterns; patterns++) {
		if (is_like(file, *patterns))
			return true;
	}
	return false;
}

/* "torch" stands for torch and everything below it, "torch.*" only for the latter. */
static bool fits_module(char **names, const char *module)
{
	for (; *names; names++) {
		size_t len = strlen(*names);

		if (!strncmp(*names, module, len) && (!module[len] || module[len] == '.'))
			return true;
		if (!fnmatch(*names, module, 0))
			return true;
	}
	return false;
}

/* __name__ of the globals of the code in question: by default those of the frame that runs. */
static const char *module_name(PyObject *globals)
{
	PyObject *name;
	const char *text;

	if (!globals)
		globals = PyEval_GetGlobals(); /* borrowed */
	name = globals ? PyDict_GetItemString(globals, "__name__") : NULL;
	text = name && PyUnicode_Check(name) ? PyUnicode_AsUTF8(name) : NULL;
	PyErr_Clear();
	return text ? text : "";
}

bool ut_py_is_import_system(const char *file)
{
	return !strncmp(file, "<frozen importlib", 17) || !strcmp(file, "<frozen zipimport>");
}

/* A dozen of its functions for each module that is imported say nothing about the program. */
static bool is_folded(const char *file, PyObject *globals)
{
	if (filter.imports || !ut_py_is_import_system(file))
		return false;
	return !(filter.files && fits_file(filter.files, file)) &&
	       !(filter.modules && fits_module(filter.modules, module_name(globals)));
}

static bool zone_is_wanted(const char *file, PyObject *globals)
{
	const char *module;

	if (is_folded(file, globals))
		return false;
	if (own_folder && !strncmp(file, own_folder, strlen(own_folder)))
		return false;
	if (filter.not_files && fits_file(filter.not_files, file))
		return false;
	if (filter.files && filter.files[0] && !fits_file(filter.files, file))
		return false;
	if (!filter.modules && !filter.not_modules)
		return true;
	module = module_name(globals);
	if (filter.not_modules && fits_module(filter.not_modules, module))
		return false;
	return !filter.modules || !filter.modules[0] || fits_module(filter.modules, module);
}

static bool zone_is_called(PyCodeObject *code, const char *name)
{
	return PyUnicode_CompareWithASCIIString(code->co_name, name) == 0;
}

static bool ends_with(const char *file, size_t len, const char *tail)
{
	size_t n = strlen(tail);

	return len >= n && !memcmp(file + len - n, tail, n);
}

/*
 * Does this function only begin or end ranges of ITT or NVTX? A range that began in it goes on when
 * it returns, and would have to be drawn beside all functions instead of around those that it is
 * about.
 */
static bool only_marks(PyCodeObject *code, const char *file, size_t len)
{
	static const struct {
		const char *file;
		bool all; /* of its functions; else only what a with statement calls */
	} marks[] = {
		{ "/torch/profiler/itt.py", true },
		{ "/torch/cuda/nvtx.py", true },
		{ "/torch/autograd/profiler.py", false },
		{ "/nvtx/nvtx.py", false },
		{ "/contextlib.py", false },
	};

	for (size_t i = 0; i < sizeof(marks) / sizeof(*marks); i++) {
		if (ends_with(file, len, marks[i].file))
			return marks[i].all || zone_is_called(code, "__enter__") ||
			       zone_is_called(code, "__exit__");
	}
	return strstr(file, "-packages/ittapi/"); /* installed; not a program in such a folder */
}

/* ---- texts --------------------------------------------------------------------------------- */

const char *ut_py_utf8(PyObject *text, PyObject **keep, Py_ssize_t *len)
{
	const char *s = PyUnicode_AsUTF8AndSize(text, len);

	*keep = NULL;
	if (s || !PyUnicode_Check(text))
		return s;
	PyErr_Clear();
	*keep = PyUnicode_AsEncodedString(text, "utf-8", "backslashreplace");
	if (*keep) {
		*len = PyBytes_GET_SIZE(*keep);
		return PyBytes_AS_STRING(*keep);
	}
	PyErr_Clear();
	*len = 1;
	return "?";
}

static PyObject *code_name(PyCodeObject *code)
{
#if PY_VERSION_HEX >= 0x030b0000
	return code->co_qualname;
#else
	return code->co_name;
#endif
}

/* A text among globals; borrowed, NULL if there is none. */
static PyObject *zone_text_of(PyObject *globals, const char *name)
{
	PyObject *text = PyDict_GetItemString(globals, name);

	return text && PyUnicode_Check(text) ? text : NULL;
}

/*
 * The body of a module runs when it is imported, and is called after that: hundreds of <module>
 * would not tell what they are. What runs as __main__ stays <module>, as does code of exec().
 * Returns a new reference.
 */
static PyObject *shown_name(PyCodeObject *code, PyObject *globals)
{
	PyObject *name = code_name(code), *module = NULL, *file = NULL;

	if (!globals)
		globals = PyEval_GetGlobals(); /* borrowed */
	if (globals && zone_is_called(code, "<module>")) {
		module = zone_text_of(globals, "__name__");
		file = zone_text_of(globals, "__file__");
	}
	if (module && file && !PyUnicode_Compare(file, code->co_filename) &&
	    PyUnicode_CompareWithASCIIString(module, "__main__") != 0)
		return PyUnicode_FromFormat("import %U", module);
	Py_INCREF(name);
	return name;
}

/* ---- zones --------------------------------------------------------------------------------- */

static uint64_t define(const char *domain, PyObject *name, PyObject *file, int line)
{
	struct ut_zone zone = { .domain = domain, .line = line > 0 ? (uint32_t)line : 0 };
	PyObject *keep_name, *keep_file;
	Py_ssize_t len;
	uint64_t number;

	zone.name = ut_py_utf8(name, &keep_name, &len);
	zone.name_len = (size_t)len;
	zone.file = ut_py_utf8(file, &keep_file, &len);
	zone.file_len = (size_t)len;
	number = ut_py_zones->define(&zone);
	Py_XDECREF(keep_name);
	Py_XDECREF(keep_file);
	return number;
}

static uint64_t define_late(void)
{
	static const struct ut_zone late = {
		.domain = FUNCTIONS, .name = LATE, .name_len = sizeof(LATE) - 1, .file = ""
	};
	static uint64_t zone;

	if (!zone)
		zone = ut_py_zones->define(&late);
	return zone;
}

/* The zone of a name at a line; domain is one of ours and known by its address. */
static uint64_t zone_find(const char *domain, PyObject *name, PyObject *file, int line)
{
	PyObject *key = Py_BuildValue("(nOOi)", (Py_ssize_t)(intptr_t)domain, file, name, line);
	PyObject *found = key ? PyDict_GetItemWithError(known, key) : NULL; /* borrowed */
	uint64_t zone = 0;

	if (found) {
		zone = PyLong_AsUnsignedLongLong(found);
	} else if (PyDict_GET_SIZE(known) >= MOST_ZONES) {
		zone = define_late();
	} else if (key && !PyErr_Occurred()) {
		zone = define(domain, name, file, line);
		found = PyLong_FromUnsignedLongLong(zone);
		if (found)
			PyDict_SetItem(known, key, found);
		Py_XDECREF(found);
	}
	Py_XDECREF(key);
	PyErr_Clear();
	return zone;
}

void ut_py_zone_on_task(PyObject *function)
{
	Py_XINCREF(function);
	Py_XSETREF(on_task, function);
}

/* The interpreter calls no profiler while one runs, so that a Python function may be called here.
 */
static void look_for_asyncio(PyCodeObject *code, const char *file, size_t len)
{
	PyObject *function = on_task, *result;

	if (!function || !ends_with(file, len, "asyncio/base_events.py") ||
	    !zone_is_called(code, "create_task"))
		return;
	on_task = NULL;
	result = PyObject_CallObject(function, NULL);
	Py_XDECREF(result);
	Py_DECREF(function);
	PyErr_Clear();
}

static uint64_t zone_of(PyCodeObject *code, PyObject *globals)
{
	PyObject *keep;
	Py_ssize_t len;
	const char *file = ut_py_utf8(code->co_filename, &keep, &len);
	bool wanted = zone_is_wanted(file, globals) && !only_marks(code, file, (size_t)len);
	PyObject *name;
	uint64_t zone;

	look_for_asyncio(code, file, (size_t)len);
	Py_XDECREF(keep);
	name = wanted ? shown_name(code, globals) : NULL;
	PyErr_Clear();
	if (!name)
		return 0;
	zone = zone_find(FUNCTIONS, name, code->co_filename, code->co_firstlineno);
	Py_DECREF(name);
	return zone;
}

static struct ut_py_code *make_code(PyCodeObject *code, PyObject *globals)
{
	struct ut_py_code *info = PyMem_RawCalloc(1, sizeof(*info));
	PyObject *type, *value, *traceback;
	int rc;

	if (!info)
		return NULL;
	PyErr_Fetch(&type, &value, &traceback);
	info->code = code;
	info->first_line = code->co_firstlineno;
	info->zone = zone_of(code, globals);
#if UT_PY_MONITORING
	rc = PyUnstable_Code_SetExtra((PyObject *)code, ut_py_extra, info);
#else
	rc = _PyCode_SetExtra((PyObject *)code, ut_py_extra, info);
#endif
	if (rc < 0) {
		free_code(info);
		info = NULL;
	}
	PyErr_Restore(type, value, traceback);
	return info;
}

struct ut_py_code *ut_py_code_slow(PyCodeObject *code, PyObject *globals)
{
	struct ut_py_code *info;
	void *found = NULL;

#if UT_PY_MONITORING
	PyUnstable_Code_GetExtra((PyObject *)code, ut_py_extra, &found);
#else
	_PyCode_GetExtra((PyObject *)code, ut_py_extra, &found);
#endif
	info = found ? found : make_code(code, globals);
	if (info)
		*ut_py_recent_slot(code) = (struct ut_py_recent){ code, info };
	return info;
}

static bool zone_make_room(struct ut_py_code *info, int at)
{
	int count = (at + 16) & ~15;
	uint64_t *lines = PyMem_RawRealloc(info->lines, (size_t)count * sizeof(*lines));

	if (!lines)
		return false;
	memset(lines + info->line_count, 0, (size_t)(count - info->line_count) * sizeof(*lines));
	info->lines = lines;
	info->line_count = count;
	return true;
}

uint64_t ut_py_line_slow(PyCodeObject *code, struct ut_py_code *info, int line)
{
	PyObject *type, *value, *traceback, *name;
	int at = line - info->first_line;
	uint64_t zone = 0;

	if (at < 0 || at >= MOST_LINES || (at >= info->line_count && !zone_make_room(info, at)))
		return 0;
	PyErr_Fetch(&type, &value, &traceback);
	name = PyUnicode_FromFormat("%U:%d", code_name(code), line);
	if (name)
		zone = zone_find(LINES, name, code->co_filename, line);
	Py_XDECREF(name);
	info->lines[at] = zone;
	PyErr_Restore(type, value, traceback);
	return zone;
}

/* ---- C functions --------------------------------------------------------------------------- */

/* Who a method belongs to: its module, its type, or the type that it is called on. */
static const char *owner_of(PyObject *function)
{
	PyObject *self;

	if (Py_IS_TYPE(function, &PyMethodDescr_Type))
		return PyDescr_TYPE(function)->tp_name;
	self = PyCFunction_GET_SELF(function);
	if (!self)
		return "";
	if (PyModule_Check(self))
		return PyModule_GetName(self);
	return PyType_Check(self) ? ((PyTypeObject *)self)->tp_name : Py_TYPE(self)->tp_name;
}

static uint64_t define_c(PyObject *function, const char *text)
{
	PyObject *type, *value, *traceback, *name, *file;
	const char *owner;
	uint64_t zone = 0;

	PyErr_Fetch(&type, &value, &traceback);
	owner = owner_of(function);
	PyErr_Clear();
	name = owner && owner[0] ? PyUnicode_FromFormat("%s.%s", owner, text)
				 : PyUnicode_FromString(text);
	file = PyUnicode_FromString("");
	if (name && file)
		zone = zone_find(C_FUNCTIONS, name, file, 0);
	Py_XDECREF(name);
	Py_XDECREF(file);
	PyErr_Restore(type, value, traceback);
	return zone;
}

/*
 * By the address of its definition. Most are static; one that was freed and made again elsewhere
 * under another name is told apart by the address of the name. When the table is full the rest is
 * looked up by name each time.
 */
uint64_t ut_py_c_function(PyObject *function)
{
	static struct {
		const PyMethodDef *def;
		const char *name;
		uint64_t zone;
	} table[C_SLOTS];
	static uint32_t used;
	const PyMethodDef *def;
	uint32_t at;

	if (PyCFunction_Check(function))
		def = ((PyCFunctionObject *)function)->m_ml;
	else if (Py_IS_TYPE(function, &PyMethodDescr_Type))
		def = ((PyMethodDescrObject *)function)->d_method;
	else
		return 0;
	at = (uint32_t)((uintptr_t)def >> 4) * 2654435761u >> 20;
	while (table[at].def && (table[at].def != def || table[at].name != def->ml_name))
		at = (at + 1) & (C_SLOTS - 1);
	if (table[at].def)
		return table[at].zone;
	if (used >= C_SLOTS / 2)
		return define_c(function, def->ml_name);
	used++;
	table[at].zone = define_c(function, def->ml_name);
	table[at].name = def->ml_name;
	table[at].def = def;
	return table[at].zone;
}
