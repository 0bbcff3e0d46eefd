/* cpu_read.c - see cpu_read.h: the file, record by record. */
#include "import/cpu/cpu_read.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/grow.h"
#include "base/mapped.h"
#include "import/cpu/cpu_names.h"
#include "import/cpu/jit_code.h"
#include "model/trace.h"
#include "wire/process.h"

#define MOST_DEPTH 1024u /* of stacks: as the launcher has them */

/* The file while it is read. */
struct reader {
	struct ut_cpu *c;
	const char *at, *end;
	struct ut_cpu_names names;
	struct ut_jit_code *jit;
	/* By number, as the file has them: what they stand for may depend on the time. */
	struct raw_place {
		uint64_t address;
		bool changes; /* several functions have been there, one after the other */
	} * raw_places;
	struct raw_stack {
		uint32_t caller, place;
		bool changes;
	} * raw_stacks;
	size_t raw_place_cap, raw_stack_cap;
	/* a place may be in several functions that are inlined into each other */
	struct span {
		uint32_t first, count;
	} * places; /* by number: which of the frames */
	size_t place_count, place_cap;
	uint32_t *frames; /* places of the trace, the innermost of each first */
	size_t frame_count, frame_cap;
	uint32_t *stacks;
	size_t stack_count, stack_cap;
	struct ut_cpu_named named; /* names of the next place */
	struct ut_place_in_code named_code;
};

/* ---- records ------------------------------------------------------------------------------- */

static struct ut_cpu_life *life_of(struct ut_cpu *c, uint32_t tid)
{
	uint32_t at = ut_idmap_get(&c->life_of_tid, tid);

	if (!at) {
		c->lives = ut_grow(c->lives, c->life_count + 1, &c->life_cap, sizeof(*c->lives));
		c->lives[c->life_count] = (struct ut_cpu_life){ .tid = tid };
		at = (uint32_t)++c->life_count;
		ut_idmap_put(&c->life_of_tid, tid, at);
	}
	return &c->lives[at - 1];
}

static void see(struct ut_cpu *c, uint64_t time)
{
	c->last = time > c->last ? time : c->last;
}

/* A text of a record; "" if it is not closed before its end. *at is behind it then. */
static const char *cpu_read_text(const char **at, const char *end)
{
	const char *s = *at, *stop = s < end ? memchr(s, '\0', (size_t)(end - s)) : NULL;

	*at = stop ? stop + 1 : end;
	return stop ? s : "";
}

static void on_thread(struct reader *r, const char *at, const char *end)
{
	struct ut_cpu_thread rec;
	struct ut_cpu_life *life;
	const char *name;

	memcpy(&rec, at, sizeof(rec));
	at += sizeof(rec);
	name = cpu_read_text(&at, end);
	life = life_of(r->c, rec.tid);
	if (!life->born)
		life->born = rec.time;
	if (name[0] && rec.time >= life->named)
		life->name = ut_strtab_intern_z(&r->c->trace->strings, name);
	life->named = rec.time > life->named ? rec.time : life->named;
	see(r->c, rec.time);
}

static void on_gone(struct reader *r, const char *at)
{
	struct ut_cpu_thread rec;

	memcpy(&rec, at, sizeof(rec));
	life_of(r->c, rec.tid)->gone = rec.time;
	see(r->c, rec.time);
}

static void on_module(struct reader *r, const char *at, const char *end)
{
	struct ut_cpu_module_rec rec;

	memcpy(&rec, at, sizeof(rec));
	at += sizeof(rec);
	ut_cpu_names_add(&r->names, &rec, cpu_read_text(&at, end));
}

static void cpu_read_add_place(struct reader *r, const struct ut_place_in_code *frames,
			       size_t count)
{
	struct ut_trace *t = r->c->trace;

	r->places = ut_grow_raw(r->places, r->place_count + 1, &r->place_cap, sizeof(*r->places));
	r->places[r->place_count++] = (struct span){ (uint32_t)r->frame_count, (uint32_t)count };
	r->frames =
		ut_grow_raw(r->frames, r->frame_count + count, &r->frame_cap, sizeof(*r->frames));
	for (size_t i = 0; i < count; i++)
		r->frames[r->frame_count++] = ut_stacks_place(&t->stacks, &t->arena, &frames[i]);
}

/* Records of a place come before the sample that was there first: its time is that of the place. */
static uint64_t time_of_next(const struct reader *r)
{
	struct ut_cpu_rec_head head;
	struct ut_cpu_sample sample;
	size_t most = 2 * MOST_DEPTH; /* a place and a stack for each call of one sample */

	for (const char *at = r->at; most-- && (size_t)(r->end - at) >= sizeof(head);
	     at += head.size) {
		memcpy(&head, at, sizeof(head));
		if (head.size < sizeof(head) || head.size > (size_t)(r->end - at))
			break;
		if (head.type != UT_CPU_SAMPLE || head.size < sizeof(head) + sizeof(sample))
			continue;
		memcpy(&sample, at + sizeof(head), sizeof(sample));
		return sample.time;
	}
	return UINT64_MAX;
}

/* Is it code that was made at run time, and does somebody tell what it is? */
static size_t find_jit(struct reader *r, const struct ut_cpu_place *rec,
		       struct ut_place_in_code *code)
{
	uint32_t kind = ut_cpu_names_kind(&r->names, rec->module);

	if (!r->jit->count || (kind != UT_CPU_MODULE_ANONYMOUS && kind != UT_CPU_MODULE_UNKNOWN))
		return 0;
	return ut_jit_code_find(r->jit, rec->at, time_of_next(r), code);
}

static void note_place(struct reader *r, uint64_t address, bool changes)
{
	r->raw_places = ut_grow_raw(r->raw_places, r->place_count + 1, &r->raw_place_cap,
				    sizeof(*r->raw_places));
	r->raw_places[r->place_count] = (struct raw_place){ address, changes };
}

/* Numbers come one after the other: others are damage. */
static void on_place(struct reader *r, const char *at)
{
	struct ut_place_in_code frames[UT_BINARY_FRAMES];
	struct ut_cpu_place rec;
	size_t functions = 0;

	memcpy(&rec, at, sizeof(rec));
	if (rec.id != r->place_count + 1) {
		r->c->trace->losses.unread++;
		return;
	}
	functions = r->named.place != rec.id ? find_jit(r, &rec, frames) : 0;
	note_place(r, rec.at, functions > 1);
	if (r->named.place == rec.id)
		cpu_read_add_place(r, &r->named_code, 1);
	else
		cpu_read_add_place(r, frames,
				   functions ? 1 : ut_cpu_names_find(&r->names, &rec, frames));
}

/* Of the place that comes next. */
static void on_named(struct reader *r, const char *at, const char *end)
{
	struct ut_strtab *strings = &r->c->trace->strings;

	memcpy(&r->named, at, sizeof(r->named));
	at += sizeof(r->named);
	r->named_code = (struct ut_place_in_code){ .line = r->named.line };
	r->named_code.function = ut_strtab_intern_z(strings, cpu_read_text(&at, end));
	r->named_code.file = r->named_code.module =
		ut_strtab_intern_z(strings, cpu_read_text(&at, end));
}

static uint32_t cpu_read_stack_of(const struct reader *r, uint32_t number)
{
	return number - 1 < r->stack_count ? r->stacks[number - 1] : 0;
}

static void note_stack(struct reader *r, const struct ut_cpu_stack *rec)
{
	bool caller = rec->caller - 1 < r->stack_count;

	r->raw_stacks = ut_grow_raw(r->raw_stacks, r->stack_count + 1, &r->raw_stack_cap,
				    sizeof(*r->raw_stacks));
	r->raw_stacks[r->stack_count] = (struct raw_stack){
		.caller = caller ? rec->caller : 0,
		.place = rec->place,
		.changes = r->raw_places[rec->place - 1].changes ||
			   (caller && r->raw_stacks[rec->caller - 1].changes),
	};
}

/* The functions at a place, called from that stack; several if some are inlined. */
static uint32_t add_frames(struct reader *r, uint32_t stack, uint32_t place)
{
	const struct span span = r->places[place - 1];
	struct ut_trace *t = r->c->trace;

	for (uint32_t i = span.count; i; i--)
		stack = ut_stacks_site(&t->stacks, &t->arena, stack, r->frames[span.first + i - 1]);
	return stack;
}

/* The stack as it was at a time, where that matters. */
static uint32_t stack_then(struct reader *r, uint32_t number, uint64_t time, size_t depth)
{
	struct ut_trace *t = r->c->trace;
	struct ut_place_in_code code;
	struct raw_stack raw;
	uint32_t caller;

	if (number - 1 >= r->stack_count || !r->raw_stacks[number - 1].changes ||
	    depth == MOST_DEPTH)
		return cpu_read_stack_of(r, number);
	raw = r->raw_stacks[number - 1];
	caller = stack_then(r, raw.caller, time, depth + 1);
	if (!r->raw_places[raw.place - 1].changes ||
	    !ut_jit_code_find(r->jit, r->raw_places[raw.place - 1].address, time, &code))
		return add_frames(r, caller, raw.place);
	return ut_stacks_site(&t->stacks, &t->arena, caller,
			      ut_stacks_place(&t->stacks, &t->arena, &code));
}

static void on_stack(struct reader *r, const char *at)
{
	struct ut_cpu_stack rec;
	uint32_t stack;

	memcpy(&rec, at, sizeof(rec));
	if (rec.id != r->stack_count + 1 || rec.place - 1 >= r->place_count) {
		r->c->trace->losses.unread++;
		return;
	}
	note_stack(r, &rec);
	stack = add_frames(r, cpu_read_stack_of(r, rec.caller), rec.place);
	r->stacks = ut_grow_raw(r->stacks, r->stack_count + 1, &r->stack_cap, sizeof(*r->stacks));
	r->stacks[r->stack_count++] = stack;
}

static void on_sample(struct reader *r, const char *at)
{
	struct ut_cpu *c = r->c;
	struct ut_cpu_sample rec;

	memcpy(&rec, at, sizeof(rec));
	c->samples =
		ut_grow_raw(c->samples, c->sample_count + 1, &c->sample_cap, sizeof(*c->samples));
	c->samples[c->sample_count++] =
		(struct ut_cpu_timestamp){ .time = rec.time,
					   .tid = rec.tid,
					   .stack = stack_then(r, rec.stack, rec.time, 0),
					   .weight = rec.weight };
	see(c, rec.time);
}

static void on_wait(struct reader *r, const char *at)
{
	struct ut_cpu *c = r->c;
	struct ut_cpu_sample rec;

	memcpy(&rec, at, sizeof(rec));
	c->waits = ut_grow_raw(c->waits, c->wait_count + 1, &c->wait_cap, sizeof(*c->waits));
	c->waits[c->wait_count++] =
		(struct ut_cpu_timestamp){ .time = rec.time,
					   .tid = rec.tid,
					   .stack = stack_then(r, rec.stack, rec.time, 0),
					   .weight = rec.weight };
	see(c, rec.time);
}

static void on_switch(struct reader *r, const char *at)
{
	struct ut_cpu *c = r->c;
	struct ut_cpu_switch_rec rec;

	memcpy(&rec, at, sizeof(rec));
	c->turns = ut_grow_raw(c->turns, c->turn_count + 1, &c->turn_cap, sizeof(*c->turns));
	c->turns[c->turn_count++] = (struct ut_cpu_turn){ rec.time, rec.tid, rec.how };
	see(c, rec.time);
}

/*
 * Both only grow: the last one counts. What was seen of the process after it had begun to run
 * another program is that one's.
 */
static void on_times(struct reader *r, const char *at)
{
	struct ut_cpu_times rec;
	struct ut_cpu_life *life;

	memcpy(&rec, at, sizeof(rec));
	if (r->c->header.end && rec.time > r->c->header.end)
		return;
	life = life_of(r->c, rec.tid);
	life->ran = rec.ran > life->ran ? rec.ran : life->ran;
	life->ready = rec.ready > life->ready ? rec.ready : life->ready;
	see(r->c, rec.time);
}

static void on_look(struct reader *r, const char *at, const char *end)
{
	struct ut_cpu_thread rec;
	const char *function;

	memcpy(&rec, at, sizeof(rec));
	at += sizeof(rec);
	function = cpu_read_text(&at, end);
	if (rec.tid != r->c->header.pid)
		return;
	r->c->looks++;
	if (function[0])
		r->c->waits_at[ut_wait_of_kernel(function)]++;
	see(r->c, rec.time);
}

static void on_rest(struct reader *r, const char *at)
{
	struct ut_cpu_rest_rec rec;

	memcpy(&rec, at, sizeof(rec));
	if (rec.which >= UT_CPU_RESTS)
		return;
	r->c->rest[rec.which].count += rec.count;
	r->c->rest[rec.which].ran += rec.ran;
	r->c->rest[rec.which].time = rec.time;
	see(r->c, rec.time);
}

static void on_ended(struct reader *r, const char *at)
{
	struct ut_cpu_count rec;

	memcpy(&rec, at, sizeof(rec));
	r->c->ended = (int)rec.count;
}

static void on_counter(struct reader *r, const char *at)
{
	struct ut_cpu *c = r->c;

	c->counters = ut_grow_raw(c->counters, c->counter_count + 1, &c->counter_cap,
				  sizeof(*c->counters));
	memcpy(&c->counters[c->counter_count], at, sizeof(*c->counters));
	if (c->counters[c->counter_count].which < UT_CPU_COUNTERS)
		c->counter_count++;
}

static void on_lost(struct reader *r, const char *at)
{
	struct ut_cpu_count rec;

	memcpy(&rec, at, sizeof(rec));
	r->c->lost += rec.count;
}

static void on_control(struct reader *r, const char *at)
{
	struct ut_cpu_count rec;

	memcpy(&rec, at, sizeof(rec));
	ut_cpu_switched(r->c, UT_CPU_BY_SESSION, rec.time, rec.count != 0);
	see(r->c, rec.time);
}

/* How much of each record is always there. */
static size_t cpu_read_least(uint32_t type)
{
	switch (type) {
	case UT_CPU_THREAD:
	case UT_CPU_GONE:
	case UT_CPU_LOOK:
		return sizeof(struct ut_cpu_thread);
	case UT_CPU_MODULE:
		return sizeof(struct ut_cpu_module_rec);
	case UT_CPU_PLACE:
		return sizeof(struct ut_cpu_place);
	case UT_CPU_STACK:
		return sizeof(struct ut_cpu_stack);
	case UT_CPU_SAMPLE:
	case UT_CPU_WAIT:
		return sizeof(struct ut_cpu_sample);
	case UT_CPU_SWITCH:
		return sizeof(struct ut_cpu_switch_rec);
	case UT_CPU_TIMES:
		return sizeof(struct ut_cpu_times);
	case UT_CPU_REST:
		return sizeof(struct ut_cpu_rest_rec);
	case UT_CPU_COUNTER:
		return sizeof(struct ut_cpu_counter_rec);
	case UT_CPU_NAMED:
		return sizeof(struct ut_cpu_named);
	case UT_CPU_LOST:
	case UT_CPU_CONTROL:
	case UT_CPU_ENDED:
		return sizeof(struct ut_cpu_count);
	default:
		return 0;
	}
}

static void on_record(struct reader *r, uint32_t type, const char *at, const char *end)
{
	switch (type) {
	case UT_CPU_THREAD:
		on_thread(r, at, end);
		break;
	case UT_CPU_GONE:
		on_gone(r, at);
		break;
	case UT_CPU_MODULE:
		on_module(r, at, end);
		break;
	case UT_CPU_PLACE:
		on_place(r, at);
		break;
	case UT_CPU_NAMED:
		on_named(r, at, end);
		break;
	case UT_CPU_STACK:
		on_stack(r, at);
		break;
	case UT_CPU_SAMPLE:
		on_sample(r, at);
		break;
	case UT_CPU_WAIT:
		on_wait(r, at);
		break;
	case UT_CPU_SWITCH:
		on_switch(r, at);
		break;
	case UT_CPU_TIMES:
		on_times(r, at);
		break;
	case UT_CPU_COUNTER:
		on_counter(r, at);
		break;
	case UT_CPU_LOOK:
		on_look(r, at, end);
		break;
	case UT_CPU_REST:
		on_rest(r, at);
		break;
	case UT_CPU_LOST:
		on_lost(r, at);
		break;
	case UT_CPU_CONTROL:
		on_control(r, at);
		break;
	case UT_CPU_ENDED:
		on_ended(r, at);
		break;
	default:
		r->c->trace->losses.unknown++;
		break;
	}
}

static void read_records(struct reader *r)
{
	struct ut_cpu_rec_head head;

	while ((size_t)(r->end - r->at) >= sizeof(head)) {
		memcpy(&head, r->at, sizeof(head));
		if (head.size < sizeof(head) || head.size % 8 ||
		    head.size > (size_t)(r->end - r->at)) {
			r->c->trace->losses.torn++;
			return;
		}
		if (head.size - sizeof(head) >= cpu_read_least(head.type))
			on_record(r, head.type, r->at + sizeof(head), r->at + head.size);
		else
			r->c->trace->losses.torn++;
		r->at += head.size;
	}
}

/* ---- order --------------------------------------------------------------------------------- */

static int cpu_read_by_thread(const void *a, const void *b)
{
	const struct ut_cpu_timestamp *x = a, *y = b;

	if (x->tid != y->tid)
		return x->tid < y->tid ? -1 : 1;
	return (x->time > y->time) - (x->time < y->time);
}

static int by_thread_too(const void *a, const void *b)
{
	const struct ut_cpu_turn *x = a, *y = b;

	if (x->tid != y->tid)
		return x->tid < y->tid ? -1 : 1;
	return (x->time > y->time) - (x->time < y->time);
}

/* Samples and turns, a thread after the other; which of them each thread has. */
static void cpu_read_finalize(struct ut_cpu *c)
{
	if (c->sample_count)
		qsort(c->samples, c->sample_count, sizeof(*c->samples), cpu_read_by_thread);
	if (c->turn_count)
		qsort(c->turns, c->turn_count, sizeof(*c->turns), by_thread_too);
	for (size_t i = 0; i < c->sample_count; i++) {
		struct ut_cpu_life *life = life_of(c, c->samples[i].tid);

		if (life->first_sample == life->last_sample)
			life->first_sample = life->next_sample = (uint32_t)i;
		life->last_sample = (uint32_t)i + 1;
	}
	if (c->wait_count)
		qsort(c->waits, c->wait_count, sizeof(*c->waits), cpu_read_by_thread);
	for (size_t i = 0; i < c->wait_count; i++) {
		struct ut_cpu_life *life = life_of(c, c->waits[i].tid);

		if (life->first_wait == life->last_wait)
			life->first_wait = (uint32_t)i;
		life->last_wait = (uint32_t)i + 1;
	}
	for (size_t i = 0; i < c->turn_count; i++) {
		struct ut_cpu_life *life = life_of(c, c->turns[i].tid);

		if (life->first_turn == life->last_turn)
			life->first_turn = (uint32_t)i;
		life->last_turn = (uint32_t)i + 1;
	}
}

/* ---- the file ------------------------------------------------------------------------------ */

static int cpu_read_check(const struct ut_cpu_header *h, const char *path, struct ut_err *err)
{
	if (memcmp(h->magic, UT_CPU_MAGIC, sizeof(h->magic)) != 0)
		return ut_err_set(err, -EPROTO, "%s: no file of samples", path);
	if (h->version != UT_CPU_VERSION || h->bytes < sizeof(*h) || h->bytes % 8)
		return ut_err_set(err, -EPROTO, "%s: samples of version %u, which is not known",
				  path, h->version);
	return 0;
}

static int map_file(const char *path, void **map, size_t *size, struct ut_err *err)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK), rc = 0;
	struct stat st;

	*map = MAP_FAILED;
	if (fd < 0)
		return ut_err_set(err, -errno, "%s: %s", path, strerror(errno));
	if (fstat(fd, &st) || !S_ISREG(st.st_mode) ||
	    st.st_size < (off_t)sizeof(struct ut_cpu_header)) {
		rc = ut_err_set(err, -EPROTO, "%s: no file of samples", path);
	} else {
		*size = (size_t)st.st_size;
		*map = mmap(NULL, *size, PROT_READ, MAP_PRIVATE, fd, 0);
		if (*map == MAP_FAILED)
			rc = ut_err_set(err, -errno, "%s: %s", path, strerror(errno));
	}
	close(fd);
	return rc;
}

int ut_cpu_open(struct ut_cpu *c, const char *path, struct ut_trace *trace, struct ut_jit_code *jit,
		struct ut_err *err)
{
	struct ut_jit_code own = { .trace = trace };
	struct reader r = { .c = c, .names.names.trace = trace, .jit = jit ? jit : &own };
	char dir[4096], boot_id[40];
	size_t size = 0;
	void *map;
	int rc;

	*c = (struct ut_cpu){ .trace = trace };
	rc = map_file(path, &map, &size, err);
	if (rc)
		return rc;
	ut_mapped_add(map, size, path);
	memcpy(&c->header, map, sizeof(c->header));
	rc = cpu_read_check(&c->header, path, err);
	if (!rc && c->header.bytes <= size) {
		c->first = c->last = c->header.start;
		snprintf(dir, sizeof(dir), "%s", path);
		r.names.dir = dirname(dir);
		ut_process_boot_id(boot_id);
		r.names.same_boot = !strncmp(boot_id, c->header.boot_id, sizeof(boot_id));
		ut_jit_code_open(r.jit, path);
		r.at = (const char *)map + c->header.bytes;
		r.end = (const char *)map + size;
		read_records(&r);
		/* what /proc tells is known some time after it happened */
		if (!(c->header.flags & UT_CPU_TIMED))
			see(c, c->header.end);
		cpu_read_finalize(c);
	}
	ut_cpu_names_release(&r.names);
	ut_jit_code_release(&own);
	free(r.raw_places);
	free(r.raw_stacks);
	free(r.places);
	free(r.frames);
	free(r.stacks);
	ut_mapped_remove(map);
	munmap(map, size);
	return rc;
}

void ut_cpu_close(struct ut_cpu *c)
{
	for (size_t i = 0; i < c->life_count; i++)
		free(c->lives[i].open);
	free(c->lives);
	free(c->samples);
	free(c->turns);
	free(c->waits);
	free(c->counters);
	free(c->switches);
	free(c->pauses);
	ut_idmap_release(&c->life_of_tid);
	ut_idmap_release(&c->life_of_track);
	*c = (struct ut_cpu){ 0 };
}
