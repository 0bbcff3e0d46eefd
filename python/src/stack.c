/*
 * stack.c - the calls that are open on each thread.
 *
 * The interpreter tells of every begin and every end, but not always of both: profiling may be
 * switched on in the middle of a function, and greenlets leave a stack behind. So each end is
 * matched with its begin by the code object; what is not there is not ended.
 */
#include "core.h"

#include <frameobject.h>
#include <pthread.h>
#include <string.h>

#define NAME_TRIES 64

struct call {
	const void *key;
	uint64_t zone; /* 0 = not recorded */
	uint64_t mark; /* of its begin */
	uint64_t line; /* zone of the line that runs; 0 = none */
	uint32_t serial;
};

struct thread {
	uint32_t depth, cap;
	uint32_t name_tries; /* how often its name was looked for */
	uint32_t serials;    /* calls so far */
	const char *half;    /* of its C stack, which grows down; NULL = unknown */
	struct call *calls;
	struct thread *next, **link; /* in threads */
};

bool ut_py_ready = true;
struct ut_py_limits ut_py_limits = { .depth = UINT32_MAX };

static uint32_t unready; /* calls that have to end before the program begins */
static _Thread_local struct thread *me;
static pthread_key_t key_of_threads;

/* All that we know. The interpreter's lock is not held when a thread ends. */
static struct thread *threads;
static pthread_mutex_t threads_lock = PTHREAD_MUTEX_INITIALIZER;

static void put_on_list(struct thread *t)
{
	t->next = threads;
	t->link = &threads;
	if (threads)
		threads->link = &t->next;
	threads = t;
}

static void thread_ends(void *p)
{
	struct thread *t = p;

	me = NULL; /* others may still run Python while the thread ends */
	pthread_mutex_lock(&threads_lock);
	*t->link = t->next;
	if (t->next)
		t->next->link = t->link;
	pthread_mutex_unlock(&threads_lock);
	free(t->calls);
	free(t);
}

int ut_py_stack_init(void)
{
	static bool done;

	if (!done && pthread_key_create(&key_of_threads, thread_ends)) {
		PyErr_SetString(PyExc_RuntimeError, "no thread-local storage is left");
		return -1;
	}
	done = true;
	return 0;
}

/* What threading.Thread calls it. Python tells the kernel only from 3.14 on. */
static void look_for_name(struct thread *t)
{
	PyObject *type, *value, *traceback, *active = NULL, *ident = NULL, *thread, *name = NULL;
	PyObject *modules = PyImport_GetModuleDict(); /* borrowed */
	PyObject *module = modules ? PyDict_GetItemString(modules, "threading") : NULL;
	const char *text;

	t->name_tries++;
	if (!module)
		return;
	PyErr_Fetch(&type, &value, &traceback);
	active = PyObject_GetAttrString(module, "_active");
	ident = PyLong_FromUnsignedLong(PyThread_get_thread_ident());
	thread = active && ident && PyDict_Check(active) ? PyDict_GetItem(active, ident) : NULL;
	if (thread)
		name = PyObject_GetAttrString(thread, "_name");
	text = name && PyUnicode_Check(name) ? PyUnicode_AsUTF8(name) : NULL;
	if (text) {
		t->name_tries = NAME_TRIES;
		if (strcmp(text, "MainThread") != 0)
			ut_py_name_thread(text);
	}
	Py_XDECREF(active);
	Py_XDECREF(ident);
	Py_XDECREF(name);
	PyErr_Clear();
	PyErr_Restore(type, value, traceback);
}

static const char *half_of_stack(void)
{
	pthread_attr_t attr;
	void *low = NULL;
	size_t size = 0;

	if (pthread_getattr_np(pthread_self(), &attr))
		return NULL;
	if (pthread_attr_getstack(&attr, &low, &size))
		low = NULL;
	pthread_attr_destroy(&attr);
	return low ? (const char *)low + size / 2 : NULL;
}

bool ut_py_is_deep(void)
{
	return me && (const char *)__builtin_frame_address(0) < me->half;
}

static struct thread *new_thread(void)
{
	struct thread *t = calloc(1, sizeof(*t));

	if (t && pthread_setspecific(key_of_threads, t)) {
		free(t);
		t = NULL;
	}
	me = t;
	if (t) {
		t->half = half_of_stack();
		pthread_mutex_lock(&threads_lock);
		put_on_list(t);
		pthread_mutex_unlock(&threads_lock);
	}
	return t;
}

static bool stack_make_room(struct thread *t)
{
	uint32_t cap = t->cap ? t->cap * 2 : 64;
	struct call *calls = realloc(t->calls, cap * sizeof(*calls));

	if (!calls)
		return false;
	t->calls = calls;
	t->cap = cap;
	return true;
}

static __attribute__((noinline)) struct thread *stack_prepare(struct thread *t)
{
	if (!t)
		t = new_thread();
	if (!t || (t->depth == t->cap && !stack_make_room(t)))
		return NULL;
	if (t->name_tries < NAME_TRIES)
		look_for_name(t);
	return t;
}

struct ut_py_place ut_py_enter_at(const void *key, uint64_t zone)
{
	struct thread *t = me;
	struct call *c;

	if (!t || t->depth == t->cap || t->name_tries < NAME_TRIES) {
		t = stack_prepare(t);
		if (!t)
			return (struct ut_py_place){ 0 };
	}
	c = &t->calls[t->depth++];
	c->key = key;
	c->line = 0;
	c->serial = t->serials++;
	c->mark = t->depth <= ut_py_limits.depth ? ut_py_zones->begin(zone) : 0;
	c->zone = c->mark ? zone : 0;
	return (struct ut_py_place){ t->depth, c->serial };
}

void ut_py_enter(const void *key, uint64_t zone)
{
	(void)ut_py_enter_at(key, zone);
}

static inline void close_call(struct call *c)
{
	if (c->line)
		ut_py_zones->end(c->line);
	if (!c->zone)
		return;
	if (ut_py_limits.min_ticks && ut_py_zones->drop(c->zone, c->mark, ut_py_limits.min_ticks))
		return;
	ut_py_zones->end(c->zone);
}

/* Which call ends: the innermost, unless the interpreter has left something out. */
static uint32_t stack_find(const struct thread *t, const void *key)
{
	uint32_t n = t->depth;

	while (n && t->calls[n - 1].key != key)
		n--;
	return n;
}

bool ut_py_leave_top(const void *key)
{
	struct thread *t = me;

	if (!t || !t->depth || t->calls[t->depth - 1].key != key)
		return false;
	close_call(&t->calls[--t->depth]);
	return true;
}

void ut_py_leave(const void *key)
{
	struct thread *t = me;
	uint32_t to;

	if (!t || ut_py_leave_top(key))
		return;
	to = stack_find(t, key);
	while (to && t->depth >= to)
		close_call(&t->calls[--t->depth]);
}

void ut_py_leave_at(struct ut_py_place place)
{
	struct thread *t = me;

	if (!t || !place.at || place.at > t->depth || t->calls[place.at - 1].serial != place.serial)
		return;
	while (t->depth >= place.at)
		close_call(&t->calls[--t->depth]);
}

void ut_py_step(const void *key, uint64_t line_zone)
{
	struct thread *t = me;
	struct call *c;

	if (!t || !t->depth)
		return;
	c = &t->calls[t->depth - 1];
	if (c->key != key || !c->zone)
		return;
	if (c->line)
		ut_py_zones->end(c->line);
	c->line = line_zone && ut_py_zones->begin(line_zone) ? line_zone : 0;
}

bool ut_py_is_search(PyCodeObject *code)
{
	PyObject *file = code->co_filename;
	const char *text = PyUnicode_Check(file) ? PyUnicode_AsUTF8(file) : NULL;

	if (!text)
		PyErr_Clear();
	return text && ut_py_is_import_system(text);
}

bool ut_py_wait_slow(bool begins, PyCodeObject *code)
{
	if (!unready && begins && !ut_py_is_search(code))
		ut_py_ready = true;
	else if (begins)
		unready++;
	else if (unready)
		unready--;
	return !ut_py_ready;
}

void ut_py_wait_for_all(void)
{
	PyFrameObject *frame = PyThreadState_GetFrame(PyThreadState_Get()), *back;

	ut_py_ready = false;
	for (unready = 0; frame; frame = back) {
		unready++;
		back = PyFrame_GetBack(frame);
		Py_DECREF(frame);
	}
}

uint32_t ut_py_depth(void)
{
	return me ? me->depth : 0;
}

bool ut_py_is_open_elsewhere(const void *key)
{
	bool found = false;

	pthread_mutex_lock(&threads_lock);
	for (const struct thread *t = threads; t && !found; t = t->next) {
		if (t != me)
			found = key ? stack_find(t, key) : t->depth;
	}
	pthread_mutex_unlock(&threads_lock);
	return found;
}

void ut_py_leave_all(void)
{
	while (me && me->depth)
		close_call(&me->calls[--me->depth]);
}

void ut_py_forked(void)
{
	/* The other threads are not there; one of them may have held the lock. */
	pthread_mutex_init(&threads_lock, NULL);
	threads = NULL;
	if (me)
		put_on_list(me);
	for (uint32_t i = 0; me && i < me->depth; i++) {
		struct call *c = &me->calls[i];

		if (c->zone)
			c->mark = ut_py_zones->begin(c->zone);
		if (!c->mark)
			c->zone = 0;
		if (c->line && !ut_py_zones->begin(c->line))
			c->line = 0;
	}
}
