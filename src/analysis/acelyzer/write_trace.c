/*
 * write_trace.c - the trace itself, for one viewer or for TensorBoard.
 */
#include <inttypes.h>
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "acelyzer/write_event.h"
#include "acelyzer/write_output.h"
#include "base/grow.h"
#include "base/idmap.h"
#include "base/str.h"
#include "base/thread_pool.h"
#include "text/out.h"

#define TB_SUFFIX ".pt.trace.json"
#define HOST_PIDS 1000
#define BLOCK     2048 /* events of which a thread makes text at a time, some 800 KB */

/* Which events: all, or those of one rank. */
struct choice {
	bool one;
	int64_t rank;
	bool tid_numbers; /* TensorBoard's plugin reads no other tids */
};

static int64_t write_trace_rank_of(int64_t pid)
{
	return pid >= HOST_PIDS ? pid - HOST_PIDS : pid;
}

static bool chosen(const struct ut_ace_analysis *a, const struct ut_ace_event *e, struct choice c)
{
	return !c.one || (ut_ace_is_num(&a->table, e->pid) &&
			  write_trace_rank_of(ut_ace_num(&a->table, e->pid)) == c.rank);
}

static const struct ut_ace_meta *meta_of(const struct ut_ace_frame *f, const char *key)
{
	for (size_t i = 0; i < f->meta_count; i++) {
		if (!strcmp(f->meta[i].key, key))
			return &f->meta[i];
	}
	return NULL;
}

static void write_trace_put_devices(struct ut_out *o, const struct ut_ace_analysis *a,
				    struct choice c)
{
	bool any = false;

	ut_out_text(o, "[");
	for (size_t i = 0; i < a->found.device_count; i++) {
		int64_t id = ut_ace_num(&a->table, a->found.devices[i]);

		if (c.one && write_trace_rank_of(id) != c.rank)
			continue;
		ut_out_text(o, any ? ",{\"id\":" : "{\"id\":");
		ut_out_i64(o, id);
		ut_out_text(o, ",\"type\":\"AIU\",\"name\":\"AIU\",\"core\":\"PT Array\"}");
		any = true;
	}
	ut_out_text(o, "]");
}

/* The members before the events; those that the input has win. */
static void write_trace_put_head(struct ut_out *o, const struct ut_ace_analysis *a,
				 const struct ut_ace_frame *f, struct choice c)
{
	const struct ut_ace_meta *devices = c.one ? NULL : meta_of(f, "deviceProperties");
	const struct ut_ace_meta *name = c.one ? NULL : meta_of(f, "traceName");
	const struct ut_ace_meta *unit = c.one ? NULL : meta_of(f, "displayTimeUnit");

	ut_out_text(o, "{\"deviceProperties\":");
	if (devices)
		ut_out_text(o, devices->json);
	else
		write_trace_put_devices(o, a, c);
	ut_out_text(o, ",\n\"traceName\":");
	if (name)
		ut_out_text(o, name->json);
	else
		ut_out_json_str(o, f->trace_name, strlen(f->trace_name));
	ut_out_text(o, ",\n\"displayTimeUnit\":");
	if (unit)
		ut_out_text(o, unit->json);
	else
		ut_out_fmt(o, "\"%s\"", f->time_unit);
	if (f->other) {
		ut_out_text(o, ",\n\"otherData\":");
		ut_out_text(o, f->other);
	}
	for (size_t i = 0; !c.one && i < f->meta_count; i++) {
		const struct ut_ace_meta *m = &f->meta[i];

		if (m == devices || m == name || m == unit)
			continue;
		ut_out_text(o, ",\n");
		ut_out_json_str(o, m->key, strlen(m->key));
		ut_out_text(o, ":");
		ut_out_text(o, m->json);
	}
	ut_out_text(o, ",\n\"traceEvents\":[\n");
}

/* An event of seq as a line, with the comma that it needs. */
typedef void put_fn(struct ut_ace_writer *w, const struct ut_ace_event *e);

/* What the threads share that make the text and write it. */
struct texts {
	const struct ut_ace_analysis *a;
	struct choice choice;
	put_fn *put;
	struct ut_out *to;
	size_t blocks; /* of BLOCK events */
	_Atomic size_t next;
	size_t ring; /* blocks that may be ahead of what is written */
	struct block {
		struct ut_out *out;
		bool ready;
	} * slots; /* by block modulo ring */
	size_t written;
	bool writing; /* somebody is at it */
	bool any;     /* text so far */
	pthread_mutex_t lock;
	pthread_cond_t room;
};

/* The lines of one block; all begin with a comma, the writer takes the very first one away. */
static void put_block(struct ut_ace_writer *w, const struct texts *t, size_t block)
{
	const struct ut_ace_table *table = &t->a->table;
	size_t from = block * BLOCK, to = from + BLOCK;

	for (size_t i = from; i < to && i < table->seq_count; i++) {
		const struct ut_ace_event *e = ut_ace_at_dev(table, i);

		if (!chosen(t->a, e, t->choice))
			continue;
		ut_out_write(w->out, ",\n", 2);
		t->put(w, e);
	}
}

static void write_block(struct texts *t, struct block *b)
{
	size_t len, comma;
	const char *text = ut_out_data(b->out, &len);

	comma = len && !t->any ? 2 : 0;
	ut_out_write(t->to, text + comma, len - comma);
	t->any |= len > 0;
	ut_out_clear(b->out);
}

/*
 * Whoever has made the next block writes it, and those behind it that are ready by then; nobody
 * waits for that. The lock is held, but not while writing.
 */
static void write_ready(struct texts *t)
{
	struct block *b;

	if (t->writing)
		return;
	t->writing = true;
	while ((b = &t->slots[t->written % t->ring])->ready) {
		pthread_mutex_unlock(&t->lock);
		write_block(t, b);
		pthread_mutex_lock(&t->lock);
		b->ready = false;
		t->written++;
		pthread_cond_broadcast(&t->room);
	}
	t->writing = false;
}

static void make_texts(void *ctx)
{
	struct texts *t = ctx;
	struct ut_ace_writer w;
	size_t i;

	ut_ace_writer_init(&w, t->a, NULL);
	w.tid_numbers = t->choice.tid_numbers;
	while ((i = atomic_fetch_add(&t->next, 1)) < t->blocks) {
		struct block *b = &t->slots[i % t->ring];

		pthread_mutex_lock(&t->lock);
		while (i >= t->written + t->ring)
			pthread_cond_wait(&t->room, &t->lock);
		pthread_mutex_unlock(&t->lock);
		w.out = b->out;
		put_block(&w, t, i);
		pthread_mutex_lock(&t->lock);
		b->ready = true;
		write_ready(t);
		pthread_mutex_unlock(&t->lock);
	}
	ut_ace_writer_release(&w);
}

/* On one thread: straight into the file. */
static void put_serial(struct texts *t, struct ut_out *o)
{
	const struct ut_ace_table *table = &t->a->table;
	struct ut_ace_writer w;
	bool any = false;

	ut_ace_writer_init(&w, t->a, o);
	w.tid_numbers = t->choice.tid_numbers;
	for (size_t i = 0; i < table->seq_count; i++) {
		const struct ut_ace_event *e = ut_ace_at_dev(table, i);

		if (!chosen(t->a, e, t->choice))
			continue;
		if (any)
			ut_out_write(o, ",\n", 2);
		any = true;
		t->put(&w, e);
	}
	ut_ace_writer_release(&w);
}

/* The events, on as many threads as there are; the text is the same for any number of them. */
static void put_events(struct ut_out *o, const struct ut_ace_analysis *a, struct choice c,
		       put_fn *put)
{
	struct texts t = { .a = a,
			   .choice = c,
			   .put = put,
			   .to = o,
			   .lock = PTHREAD_MUTEX_INITIALIZER,
			   .room = PTHREAD_COND_INITIALIZER };
	size_t threads = a->opts.threads;

	t.blocks = (a->table.seq_count + BLOCK - 1) / BLOCK;
	if (threads < 2 || t.blocks < 2) {
		put_serial(&t, o);
		return;
	}
	t.ring = 4 * threads;
	t.slots = ut_make(t.ring * sizeof(*t.slots));
	for (size_t i = 0; i < t.ring; i++)
		t.slots[i].out = ut_out_open_memory();
	ut_thread_pool_run(threads < t.blocks ? threads : t.blocks, make_texts, &t);
	for (size_t i = 0; i < t.ring; i++)
		ut_out_abandon(t.slots[i].out);
	free(t.slots);
}

/* What the threads are called whose tids have become numbers. */
static void put_thread_names(struct ut_out *o, const struct ut_ace_analysis *a, struct choice c)
{
	const struct ut_ace_table *t = &a->table;
	struct ut_arena arena = { 0 };
	struct ut_idmap seen;

	ut_idmap_init(&seen, &arena);
	for (size_t i = 0; i < t->seq_count; i++) {
		const struct ut_ace_event *e = ut_ace_at_dev(t, i);
		uint64_t key = (uint64_t)e->pid << 32 | e->tid;
		struct ut_str name;

		if (t->ids[e->tid].kind != UT_ACE_ID_STR || !chosen(a, e, c) ||
		    !ut_ace_is_num(t, e->pid) || ut_idmap_get(&seen, key))
			continue;
		ut_idmap_put(&seen, key, 1);
		name = ut_strtab_get(&t->strings, t->ids[e->tid].str);
		ut_out_fmt(o,
			   ",\n{\"name\":\"thread_name\",\"ph\":\"M\",\"pid\":%" PRId64
			   ",\"tid\":%" PRId64 ",\"args\":{\"name\":",
			   ut_ace_num(t, e->pid), ut_ace_tid_number(e->tid));
		ut_out_json_str(o, name.ptr, name.len);
		ut_out_text(o, "}}");
	}
	ut_arena_release(&arena);
}

/*
 * The plugin counts what happens in steps: without one it takes the whole of a rank for nothing, or
 * less. Only for files with collectives, which have a distributed view.
 */
static void write_trace_put_step(struct ut_out *o, const struct ut_ace_analysis *a, struct choice c)
{
	const struct ut_ace_table *t = &a->table;
	double first = INFINITY, last = -INFINITY;
	bool texts = false;

	for (size_t i = 0; i < t->seq_count; i++) {
		const struct ut_ace_event *e = ut_ace_at_dev(t, i);
		struct ut_str name;

		if (e->ph != 'X' || !chosen(a, e, c))
			continue;
		name = ut_ace_str(t, e->name);
		if (name.len > 13 && !memcmp(name.ptr, "ProfilerStep#", 13))
			return;
		texts |= t->ids[e->tid].kind == UT_ACE_ID_STR;
		first = fmin(first, e->ts);
		last = fmax(last, e->ts + fmax(e->dur, 0));
	}
	if (texts)
		ut_out_fmt(
			o,
			",\n{\"name\":\"ProfilerStep#0\",\"cat\":\"user_annotation\",\"ph\":\"X\","
			"\"ts\":%.3f,\"dur\":%.3f,\"pid\":%" PRId64 ",\"tid\":%" PRId64
			",\"args\":{\"of\":\"all that was recorded of this rank\"}}",
			first, last - first, c.rank, ut_ace_tid_number(0));
}

static int write_choice(const struct ut_ace_analysis *a, const struct ut_ace_frame *f,
			const char *path, struct choice c, struct ut_err *err)
{
	struct ut_out *o = ut_out_open(path, UT_OUT_OVERWRITE);

	write_trace_put_head(o, a, f, c);
	put_events(o, a, c, ut_ace_put_event);
	if (c.tid_numbers)
		put_thread_names(o, a, c);
	if (c.tid_numbers && c.one)
		write_trace_put_step(o, a, c);
	ut_out_text(o, "\n]}\n");
	return ut_out_commit(o, err);
}

int ut_ace_write_trace(const struct ut_ace_analysis *a, const struct ut_ace_frame *f,
		       const char *path, struct ut_err *err)
{
	return write_choice(a, f, path, (struct choice){ 0 }, err);
}

/* How many ranks the numbers of processes stand for; -1 is the process of collective counters. */
static size_t count_ranks(const struct ut_ace_analysis *a)
{
	const struct ut_ace_table *t = &a->table;
	struct ut_arena arena = { 0 };
	struct ut_idmap seen;
	size_t n = 0;

	ut_idmap_init(&seen, &arena);
	for (size_t i = 0; i < t->seq_count; i++) {
		uint32_t pid = t->events[t->seq[i]].pid;
		uint64_t rank;

		if (!ut_ace_is_num(t, pid))
			continue;
		rank = (uint64_t)write_trace_rank_of(ut_ace_num(t, pid));
		if (!ut_idmap_get(&seen, rank)) {
			ut_idmap_put(&seen, rank, 1);
			n++;
		}
	}
	ut_arena_release(&arena);
	return n > 1 ? n - 1 : n;
}

/* out.json -> out.pt.trace.json; what does not end in .json keeps its name. */
static char *tb_name(const char *path)
{
	struct ut_buf b = { 0 };

	if (!ut_str_ends(path, ".json") || ut_str_ends(path, TB_SUFFIX))
		ut_buf_text(&b, path);
	else
		ut_buf_fmt(&b, "%.*s%s", (int)(strlen(path) - 5), path, TB_SUFFIX);
	return b.data;
}

/* The name without .pt.trace.json or its last ending. */
static size_t base_length(const char *path)
{
	const char *dot = strrchr(path, '.'), *slash = strrchr(path, '/');

	if (ut_str_ends(path, TB_SUFFIX))
		return strlen(path) - strlen(TB_SUFFIX);
	return dot && dot > path && (!slash || dot > slash + 1) ? (size_t)(dot - path)
								: strlen(path);
}

int ut_ace_write_tensorboard(const struct ut_ace_analysis *a, const struct ut_ace_frame *f,
			     const char *path, bool all, size_t *ranks, struct ut_err *err)
{
	char *name = tb_name(path);
	int rc = 0;

	*ranks = count_ranks(a);
	for (size_t r = 0; !rc && *ranks != 1 && r < *ranks; r++) {
		struct ut_buf b = { 0 };

		ut_buf_fmt(&b, "%.*s_worker_%zu" TB_SUFFIX, (int)base_length(path), path, r);
		rc = write_choice(a, f, b.data, (struct choice){ true, (int64_t)r, true }, err);
		ut_buf_release(&b);
	}
	if (!rc && all)
		rc = write_choice(a, f, name, (struct choice){ .tid_numbers = true }, err);
	free(name);
	return rc;
}

int ut_ace_write_raw(const struct ut_ace_analysis *a, const char *path, const char *trace_name,
		     struct ut_err *err)
{
	struct ut_out *o = ut_out_open(path, UT_OUT_OVERWRITE);

	ut_out_text(o, "{\"deviceProperties\":[],\"traceName\":");
	ut_out_json_str(o, trace_name, strlen(trace_name));
	ut_out_text(o, ",\"displayTimeUnit\":\"ms\",\n\"traceEvents\":[\n");
	put_events(o, a, (struct choice){ 0 }, ut_ace_put_raw);
	ut_out_text(o, "\n]}\n");
	return ut_out_commit(o, err);
}
