#include "launch/cpu/python.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/path.h"
#include "base/str.h"
#include "launch/cpu/perf.h"
#include "launch/cpu/remote.h"
#include "symbol/elf_file.h"
#include "symbol/python_frames.h"
#include "symbol/python_lines.h"
#include "symbol/unwind.h"
#include "wire/timer_ring.h"

#define STATE        "_PyRuntime"
#define LOOP         "_PyEval_EvalFrameDefault"
#define MOST_TEXT    4096u
#define MOST_LINES   (256u << 10)
#define MOST_THREADS 65536u
#define MOST_TRIES   2000u
#define MOST_LOOKS   4
#define MOST_COUNT   (1u << 22) /* references to an object */
#define FOR_EVER     900000000u /* from which on the number says that it stays */
#define PLAIN_LENGTH 16u        /* where a text says how long it is: behind the head of an object */
#define TID_IN_GLIBC 720u       /* of struct pthread, on x86-64 */

/* ---- the file ------------------------------------------------------------------------------ */

struct finding {
	struct ut_python *p;
	uint64_t bias;
};

static void found_symbol(void *ctx, const char *name, const Elf64_Sym *s)
{
	struct finding *f = ctx;
	struct ut_python *p = f->p;

	if (!strcmp(name, STATE)) {
		p->state = f->bias + s->st_value;
	} else if (!strcmp(name, "PyCode_Type")) {
		p->code_type = f->bias + s->st_value;
	} else if (!strcmp(name, "PyUnicode_Type")) {
		p->text_type = f->bias + s->st_value;
	} else if (ut_str_starts(name, LOOP) && s->st_size && p->loop_count < UT_PYTHON_LOOPS) {
		p->loops[p->loop_count].start = f->bias + s->st_value;
		p->loops[p->loop_count++].end = f->bias + s->st_value + s->st_size;
	}
}

/* "libpython3.11.so.1.0", "python3.9" */
static uint32_t version_of(const char *path)
{
	const char *at = strstr(ut_path_base(path), "python3.");
	unsigned int minor;

	return at && sscanf(at, "python3.%u", &minor) == 1 && minor < 256 ? 0x0300u + minor : 0;
}

struct ut_python *ut_python_new(const struct ut_elf *file, const char *path, uint64_t bias)
{
	struct ut_python *p = ut_make(sizeof(*p));
	struct finding f = { p, bias };

	ut_elf_symbols(file, found_symbol, &f);
	p->layout.version = version_of(path);
	if (p->state && p->loop_count)
		return p;
	ut_python_free(p);
	return NULL;
}

void ut_python_find_pieces(struct ut_python *p, const struct ut_unwind *u, uint64_t bias)
{
	struct ut_unwind_piece pieces[UT_PYTHON_LOOPS];
	uint64_t offset, address;
	size_t count = 0;

	if (ut_unwind_to_offset(u, p->loops[0].start - bias, &offset))
		count = ut_unwind_pieces(u, offset, pieces, UT_PYTHON_LOOPS);
	for (size_t i = 1; i < count && p->loop_count < UT_PYTHON_LOOPS; i++) {
		if (!ut_unwind_to_address(u, pieces[i].start, &address) ||
		    ut_python_is_loop(p, address + bias))
			continue;
		p->loops[p->loop_count].start = address + bias;
		p->loops[p->loop_count++].end = address + bias + pieces[i].size;
	}
}

void ut_python_free(struct ut_python *p)
{
	if (!p)
		return;
	free(p->codes);
	free(p->threads);
	ut_idmap_release(&p->code_at);
	ut_idmap_release(&p->thread_at);
	ut_arena_release(&p->arena);
	free(p);
}

/* ---- objects ------------------------------------------------------------------------------- */

static bool read_remote(void *ctx, uint64_t address, void *to, size_t len)
{
	return ut_remote_read(ctx, address, to, len);
}

static struct ut_python_memory memory_of(struct ut_remote *r)
{
	return (struct ut_python_memory){ read_remote, r };
}

/*
 * How often somebody refers to an object, or that it is for ever (a large number since 3.11; 3.14
 * has flags in the highest 16 bits). What has been freed has an address there.
 */
static bool is_count(uint64_t word)
{
	uint32_t count = (uint32_t)word;

	return !(word >> 32 & 0xffff) && count && (count < MOST_COUNT || count > FOR_EVER);
}

/*
 * Does an object of that type lie there? What has been freed may be anything by now. Builds without
 * the GIL have longer heads, which nobody knows here: of them all is believed.
 */
static bool is_object(const struct ut_python *p, struct ut_remote *r, uint64_t at, uint64_t type)
{
	uint64_t head[2];

	if (!type || p->layout.length > PLAIN_LENGTH)
		return true;
	return ut_remote_read(r, at, head, sizeof(head)) && is_count(head[0]) && head[1] == type;
}

static const char *python_text_of(struct ut_python *p, struct ut_remote *r, uint64_t object)
{
	const struct ut_python_memory m = memory_of(r);
	char text[MOST_TEXT];
	size_t len = is_object(p, r, object, p->text_type)
			     ? ut_python_text(&p->layout, &m, object, text, sizeof(text))
			     : 0;

	return len ? ut_arena_copy(&p->arena, text, len) : NULL;
}

static void python_read_lines(struct ut_python *p, struct ut_remote *r, uint64_t object,
			      struct ut_python_code *c)
{
	uint8_t *lines;
	uint64_t len;

	if (!ut_remote_u64(r, object + p->layout.bytes - 16, &len) || !len || len > MOST_LINES)
		return;
	lines = ut_arena_alloc(&p->arena, 1, len);
	if (!ut_remote_read(r, object + p->layout.bytes, lines, len))
		return;
	c->lines = lines;
	c->line_bytes = len;
}

static struct ut_python_code *slot_for(struct ut_python *p, uint64_t address)
{
	uint32_t at = ut_idmap_get(&p->code_at, address);

	if (!at) {
		p->codes = ut_grow(p->codes, p->code_count + 1, &p->code_cap, sizeof(*p->codes));
		at = (uint32_t)++p->code_count;
		p->codes[at - 1] = (struct ut_python_code){ .address = address };
		ut_idmap_put(&p->code_at, address, at);
	}
	return &p->codes[at - 1];
}

/* Is it there, now as before? */
static bool is_still(const struct ut_python *p, struct ut_remote *r, uint64_t address,
		     uint64_t check)
{
	const struct ut_python_memory m = memory_of(r);
	uint64_t now;

	ut_remote_forget(r, r->pid);
	return is_object(p, r, address, p->code_type) &&
	       ut_python_fingerprint(&p->layout, &m, address, &now) && now == check;
}

/* Names of a code object. False: it went away meanwhile, or there is none. */
static bool read_code(struct ut_python *p, struct ut_remote *r, struct ut_python_code *c,
		      uint64_t check)
{
	uint64_t file, name, lines;

	if (!ut_remote_u64(r, c->address + p->layout.file, &file) ||
	    !ut_remote_u64(r, c->address + p->layout.name, &name) ||
	    !ut_remote_u64(r, c->address + p->layout.lines, &lines) ||
	    !ut_remote_read(r, c->address + p->layout.first_line, &c->first_line,
			    sizeof(c->first_line)))
		return false;
	if (file == name) /* a frame that the interpreter makes for itself, as around __init__ */
		return false;
	c->check = check;
	c->file = python_text_of(p, r, file);
	c->name = python_text_of(p, r, name);
	python_read_lines(p, r, lines, c);
	if (c->file && c->name && is_still(p, r, c->address, check))
		return true;
	c->name = NULL;
	return false;
}

/*
 * The index of what is known about a code object; UT_PYTHON_UNKNOWN: it cannot be told. told: what
 * it was known by at the time of the sample; 0 = nobody has looked. Code is freed and other code
 * comes to lie in its place, above all while modules are imported: an address alone says nothing.
 */
static uint32_t python_code_of(struct ut_python *p, struct ut_remote *r, uint64_t address,
			       uint64_t reported)
{
	const struct ut_python_memory m = memory_of(r);
	struct ut_python_code *c = slot_for(p, address);
	uint64_t check;

	if (reported && c->name && c->check == reported)
		return (uint32_t)(c - p->codes);
	if (!is_object(p, r, address, p->code_type) ||
	    !ut_python_fingerprint(&p->layout, &m, address, &check) ||
	    (reported && check != reported))
		return UT_PYTHON_UNKNOWN; /* it is gone by now */
	if (c->name && c->check == check)
		return (uint32_t)(c - p->codes);
	if (c->name) { /* another one at the same place: the old number keeps its names */
		ut_idmap_take(&p->code_at, address);
		c = slot_for(p, address);
	}
	return read_code(p, r, c, check) ? (uint32_t)(c - p->codes) : UT_PYTHON_UNKNOWN;
}

/* ---- threads ------------------------------------------------------------------------------- */

/* The kernel's number of a thread; older versions only know that of the C library. */
static bool has_tid(const struct ut_python *p, struct ut_remote *r, uint64_t thread, uint32_t tid)
{
	uint64_t id;
	uint32_t number;

	if (p->layout.native_id)
		return ut_remote_u64(r, thread + p->layout.native_id, &id) && id == tid;
	return ut_remote_u64(r, thread + p->layout.thread_id, &id) && id &&
	       ut_remote_read(r, id + TID_IN_GLIBC, &number, sizeof(number)) && number == tid;
}

static uint64_t search(const struct ut_python *p, struct ut_remote *r, uint32_t tid)
{
	uint64_t interpreter, thread;

	if (!ut_remote_u64(r, p->state + p->layout.interpreters, &interpreter))
		return 0;
	for (unsigned int i = 0, n = 0; interpreter && i < 64; i++) {
		if (!ut_remote_u64(r, interpreter + p->layout.threads, &thread))
			return 0;
		for (; thread && n < MOST_THREADS; n++) {
			if (has_tid(p, r, thread, tid))
				return thread;
			if (!ut_remote_u64(r, thread + p->layout.next_thread, &thread))
				return 0;
		}
		if (!ut_remote_u64(r, interpreter + p->layout.next_interpreter, &interpreter))
			return 0;
	}
	return 0;
}

static uint64_t thread_of(struct ut_python *p, struct ut_remote *r, uint32_t tid)
{
	uint32_t at = ut_idmap_get(&p->thread_at, tid);
	uint64_t thread;

	if (at && has_tid(p, r, p->threads[at - 1], tid))
		return p->threads[at - 1];
	thread = search(p, r, tid);
	if (thread && !at) {
		p->threads = ut_grow(p->threads, p->thread_count + 1, &p->thread_cap,
				     sizeof(*p->threads));
		at = (uint32_t)++p->thread_count;
		ut_idmap_put(&p->thread_at, tid, at);
	}
	if (thread)
		p->threads[at - 1] = thread;
	return thread;
}

/* ---- frames -------------------------------------------------------------------------------- */

static uint32_t python_line_of(const struct ut_python *p, struct ut_python_code *c, uint64_t at)
{
	uint32_t number = (uint32_t)at / 2 % UT_PYTHON_KNOWN;

	if (at == UINT64_MAX) /* it has not begun */
		return c->first_line;
	if (!c->known[number].line || c->known[number].at != at) {
		c->known[number].line = ut_python_line(p->layout.version, c->lines, c->line_bytes,
						       c->first_line, at);
		c->known[number].at = (uint32_t)at;
	}
	return c->known[number].line;
}

/* Takes one frame. False: it is no function, but what entered the loop. */
static bool take_frame(struct ut_python *p, struct ut_remote *r, const struct ut_python_seen *seen,
		       uint64_t reported, struct ut_python_frame *out)
{
	if (!seen->code)
		return false;
	*out = (struct ut_python_frame){ .code = python_code_of(p, r, seen->code, reported),
					 .first = seen->first };
	if (out->code != UT_PYTHON_UNKNOWN)
		out->line = python_line_of(p, &p->codes[out->code], seen->at);
	return true;
}

static bool python_is_ready(struct ut_python *p, struct ut_remote *r, uint32_t tid)
{
	const struct ut_python_memory m = memory_of(r);

	/* It starts like any program: for a while there is nothing to see. */
	if (!p->ready && p->tries++ < MOST_TRIES)
		p->ready = ut_python_layout(&m, p->state, p->layout.version, tid, &p->layout);
	return p->ready;
}

/* Where the frames of a stack are put. */
struct frames {
	struct ut_python_frame *at;
	size_t count, most;
};

static void python_put(struct ut_python *p, struct ut_remote *r, const struct ut_python_seen *seen,
		       uint64_t reported, struct frames *to)
{
	if (take_frame(p, r, seen, reported, &to->at[to->count]))
		to->count++;
	else if (to->count)
		to->at[to->count - 1].first = true;
}

/* From this frame outwards, as they are in the process now. False: one cannot be read. */
static bool python_walk(struct ut_python *p, struct ut_remote *r, uint64_t frame, struct frames *to)
{
	const struct ut_python_memory m = memory_of(r);
	struct ut_python_seen seen;

	for (size_t i = 0; frame && i < 2 * to->most && to->count < to->most; i++) {
		if (!ut_python_see(&p->layout, &m, frame, &seen))
			return false;
		python_put(p, r, &seen, 0, to);
		frame = seen.previous;
	}
	if (to->count)
		to->at[to->count - 1].first = true;
	return true;
}

/*
 * As it is in the process now. It runs meanwhile: a frame may have gone between the look at who
 * points to it and the look at itself. Then the next look mostly finds all of them in one state.
 */
static void take_now(struct ut_python *p, struct ut_remote *r, const struct ut_perf_sample *sample,
		     struct frames *to)
{
	const struct ut_python_memory m = memory_of(r);
	uint64_t thread = thread_of(p, r, sample->tid);

	for (int look = 0; thread && look < MOST_LOOKS; look++) {
		if (python_walk(p, r, ut_python_innermost(&p->layout, &m, thread), to))
			return;
		to->count = 0;
		ut_remote_forget(r, r->pid);
	}
}

/* As it was. Outer frames that did not fit are still there, as those of the native stack are. */
static void take_reported(struct ut_python *p, struct ut_remote *r,
			  const struct ut_perf_sample *sample, struct frames *to)
{
	const struct ut_timer_python *reported = sample->python;

	for (size_t i = 0; i < reported->count && i < UT_TIMER_PYTHON && to->count < to->most;
	     i++) {
		const struct ut_timer_call *c = &reported->calls[i];
		const struct ut_python_seen seen = { .code = c->code,
						     .at = c->at == UINT32_MAX ? UINT64_MAX : c->at,
						     .first = c->first };

		python_put(p, r, &seen, c->check ? c->check : UINT64_MAX, to);
	}
	python_walk(p, r, reported->rest, to);
}

size_t ut_python_stack(struct ut_python *p, struct ut_remote *r,
		       const struct ut_perf_sample *sample, struct ut_python_frame *frames,
		       size_t most)
{
	struct frames to = { frames, 0, most };

	if (!python_is_ready(p, r, sample->tid))
		return 0;
	if (sample->python)
		take_reported(p, r, sample, &to);
	else
		take_now(p, r, sample, &to);
	return to.count;
}
