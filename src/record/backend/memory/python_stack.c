/*
 * python_stack.c - which Python functions run on this thread, read from the interpreter's own
 * frames (symbol/python_frames.h). They are this thread's, so nobody changes them meanwhile; memory
 * is asked about before it is read nevertheless, since what is known of them is known from headers
 * of versions.
 */
#include <dlfcn.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "backend/memory/alloc_python.h"
#include "backend/memory/alloc_watch.h"
#include "backend/memory/python_parts.h"
#include "backend/memory/stack_numbers.h"
#include "backend/own_stack.h"
#include "base/readable.h"
#include "symbol/python_frames.h"
#include "symbol/python_lines.h"

#define PAGE        4096u
#define PAGES       16u /* that one look remembers */
#define MOST_PYTHON 128u
#define MOST_TEXT   1024u
#define MOST_LINES  (256u << 10)
#define MOST_TRIES  2000u
#define SLOT_BITS   12u
#define ENOUGH      500u

static struct {
	const struct ut_host *host;
	uint64_t state; /* address of the interpreter's state */
	uint32_t version;
	void *(*this_thread)(void); /* PyGILState_GetThisThreadState() */
	struct ut_python_layout layout;
	_Atomic int ready;      /* the layout is known */
	_Atomic uint32_t right; /* so many stacks were what they should be: see is_trusted() */
	_Atomic uint32_t tries;
} p;

/* ---- memory -------------------------------------------------------------------------------- */

/*
 * Frames and code of a thread that runs are there, if they are where we look for them. When many
 * stacks have had a function with a name and a file for each call of the interpreter's loop, they
 * are, and memory need not be asked about any more.
 */
static bool is_trusted(void)
{
	return atomic_load_explicit(&p.right, memory_order_relaxed) >= ENOUGH;
}

/* Pages that are there, as far as one look has asked. */
struct pages {
	uintptr_t known[PAGES];
	unsigned int next;
};

static bool python_stack_is_known(struct pages *pages, uintptr_t page)
{
	for (unsigned int i = 0; i < PAGES; i++) {
		if (pages->known[i] == page)
			return true;
	}
	if (!ut_readable(page, 1))
		return false;
	pages->known[pages->next++ % PAGES] = page;
	return true;
}

static bool read_here(void *ctx, uint64_t address, void *to, size_t len)
{
	uintptr_t page = address & ~(uintptr_t)(PAGE - 1), end = address + len;

	if (address < PAGE || end < address || end > UINTPTR_MAX / 2)
		return false;
	for (; page < end && !is_trusted(); page += PAGE) {
		if (!python_stack_is_known(ctx, page))
			return false;
	}
	memcpy(to, (const void *)(uintptr_t)address, len);
	return true;
}

/* ---- functions ----------------------------------------------------------------------------- */

/* What a code object is known by: an address may be used again. */
struct code {
	uint64_t address;
	uint64_t file, name, lines; /* addresses of objects */
	uint32_t first_line;
};

static bool look_at_code(const struct ut_python_memory *m, uint64_t address, struct code *c)
{
	c->address = address;
	return ut_python_u64(m, address + p.layout.file, &c->file) &&
	       ut_python_u64(m, address + p.layout.name, &c->name) &&
	       ut_python_u64(m, address + p.layout.lines, &c->lines) &&
	       ut_python_bytes(m, address + p.layout.first_line, &c->first_line,
			       sizeof(c->first_line));
}

/* The table lies in a bytes object of the code, which lives as long. */
static uint32_t python_stack_line_of(const struct ut_python_memory *m, const struct code *c,
				     uint64_t at)
{
	uintptr_t table = c->lines + p.layout.bytes;
	uint64_t len;

	if (at == UINT64_MAX || !ut_python_u64(m, table - 16, &len) || len > MOST_LINES ||
	    (!is_trusted() && !ut_readable(table, len)))
		return c->first_line;
	return ut_python_line(p.layout.version, (const uint8_t *)table, len, c->first_line, at);
}

static uint32_t python_stack_text(const struct ut_python_memory *m, uint64_t object)
{
	char to[MOST_TEXT];
	size_t len = ut_python_text(&p.layout, m, object, to, sizeof(to));

	return len ? p.host->name(to, len) : 0;
}

static uint32_t make_frame(const struct ut_python_memory *m, const struct code *c, uint64_t at)
{
	struct ut_code code = { .size = sizeof(code) };

	code.function = python_stack_text(m, c->name);
	code.file = code.module = python_stack_text(m, c->file);
	code.line = python_stack_line_of(m, c, at);
	return code.function && code.file ? p.host->frame(&code) : 0;
}

/* The number of a function's line; 0 = it cannot be told. */
static uint32_t frame_of(const struct ut_python_memory *m, const struct ut_python_seen *seen)
{
	static struct ut_stack_slot slots[1u << SLOT_BITS];
	struct ut_stack_slot *slot;
	struct code c;
	uint64_t key;
	uint32_t number;

	if (!look_at_code(m, seen->code, &c))
		return 0;
	key = ut_stack_mix(ut_stack_mix(c.address, c.file), c.name);
	key = ut_stack_mix(ut_stack_mix(key, c.lines), seen->at + c.first_line);
	slot = &slots[key >> (64 - SLOT_BITS)];
	number = ut_stack_recall(slot, key);
	if (!number) {
		number = make_frame(m, &c, seen->at);
		ut_stack_remember(slot, key, number);
	}
	return number;
}

/* ---- the stack ----------------------------------------------------------------------------- */

/* The Python functions of a thread, innermost first. */
struct python_stack {
	uint32_t frames[MOST_PYTHON];
	bool first[MOST_PYTHON]; /* the outermost one of its call of the loop */
	size_t count, calls;
};

static bool python_stack_is_ready(const struct ut_python_memory *m)
{
	if (atomic_load_explicit(&p.ready, memory_order_acquire))
		return true;
	/* It starts like any program: for a while there is nothing to see. */
	if (atomic_fetch_add(&p.tries, 1) >= MOST_TRIES ||
	    !ut_python_layout(m, p.state, p.version, (uint32_t)syscall(SYS_gettid), &p.layout))
		return false;
	atomic_store_explicit(&p.ready, 1, memory_order_release);
	return true;
}

static void take_frames(const struct ut_python_memory *m, uint64_t thread, struct python_stack *s)
{
	uint64_t frame = ut_python_innermost(&p.layout, m, thread);
	struct ut_python_seen seen;

	s->count = s->calls = 0;
	for (size_t i = 0; frame && i < 2u * MOST_PYTHON && s->count < MOST_PYTHON; i++) {
		uint32_t number;

		if (!ut_python_see(&p.layout, m, frame, &seen))
			break;
		number = seen.code ? frame_of(m, &seen) : 0;
		if (number) {
			s->frames[s->count] = number;
			s->first[s->count++] = seen.first;
		} else if (s->count) {
			s->first[s->count - 1] = true;
		}
		frame = seen.previous;
	}
	if (s->count)
		s->first[s->count - 1] = true;
	for (size_t i = 0; i < s->count; i++)
		s->calls += s->first[i];
}

static size_t count_marked(const uint64_t *frames, size_t count)
{
	size_t marked = 0;

	for (size_t i = 0; i < count; i++)
		marked += (frames[i] & UT_OWN_STACK_MARKED) != 0;
	return marked;
}

/* Being woven. */
struct weave {
	const struct python_stack *python;
	size_t at; /* the next Python function */
	uint64_t out[UT_MEMORY_DEEPEST];
	size_t count;
	bool cut;
};

static void python_stack_put(struct weave *w, uint64_t frame)
{
	if (w->count < UT_MEMORY_DEEPEST)
		w->out[w->count++] = frame;
	else
		w->cut = true;
}

/* The functions of one call of the loop. */
static void python_stack_put_call(struct weave *w, bool leave_out)
{
	while (w->at < w->python->count) {
		size_t i = w->at++;

		if (!leave_out)
			python_stack_put(w, UT_STACK_NUMBERED | w->python->frames[i]);
		if (w->python->first[i])
			return;
	}
}

static size_t weave(struct weave *w, uint64_t *frames, size_t count, size_t most, bool *cut)
{
	size_t loops = count_marked(frames, count);

	/* Where the whole stack is there, the outer calls are the ones that fit. */
	for (size_t i = loops; !*cut && i < w->python->calls; i++)
		python_stack_put_call(w, true);
	for (size_t i = 0; i < count; i++) {
		bool loop = frames[i] & UT_OWN_STACK_MARKED;

		if (loop && w->at < w->python->count && (*cut || loops <= w->python->calls))
			python_stack_put_call(w, false);
		else
			python_stack_put(w, frames[i]);
		loops -= loop;
	}
	count = w->count < most ? w->count : most;
	*cut |= w->cut || w->count > most;
	memcpy(frames, w->out, count * sizeof(*frames));
	return count;
}

/* Apart from what follows, whose tables only calls that need them shall pay for. */
static __attribute__((noinline)) size_t look_and_weave(uint64_t *frames, size_t count, size_t most,
						       bool *cut)
{
	struct pages pages = { .next = 0 };
	const struct ut_python_memory m = { read_here, &pages };
	struct python_stack python;
	struct weave w;
	void *thread;

	/* what is not trusted yet is asked of the kernel */
	if ((!is_trusted() && p.host->locked_in()) || !python_stack_is_ready(&m))
		return count;
	thread = p.this_thread();
	if (!thread)
		return count;
	take_frames(&m, (uint64_t)(uintptr_t)thread, &python);
	if (!*cut && python.calls == count_marked(frames, count))
		atomic_fetch_add_explicit(&p.right, 1, memory_order_relaxed);
	w.python = &python;
	w.at = w.count = 0;
	w.cut = false;
	return weave(&w, frames, count, most, cut);
}

size_t ut_python_weave(uint64_t *frames, size_t count, size_t most, bool *cut)
{
	if (!p.this_thread || !count_marked(frames, count))
		return count;
	return look_and_weave(frames, count, most, cut);
}

/* ---- finding it ---------------------------------------------------------------------------- */

void ut_python_find(const struct ut_host *host)
{
	void *loop = dlsym(RTLD_DEFAULT, "_PyEval_EvalFrameDefault");
	void *state = dlsym(RTLD_DEFAULT, "_PyRuntime");
	void *thread = dlsym(RTLD_DEFAULT, "PyGILState_GetThisThreadState");
	void *version = dlsym(RTLD_DEFAULT, "Py_GetVersion");
	const char *(*get_version)(void);

	if (!loop || !state || !thread || !version)
		return;
	memcpy(&get_version, &version, sizeof(version));
	p.host = host;
	p.state = (uint64_t)(uintptr_t)state;
	p.version = ut_python_version(get_version());
	ut_own_stack_mark(loop);
	memcpy(&p.this_thread, &thread, sizeof(thread));
}
