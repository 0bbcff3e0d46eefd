/* ze_run.c - see ze_run.h. */
#include "backend/levelzero/ze_run.h"

#include <errno.h>
#include <string.h>

#include "backend/levelzero/helper.h"
#include "backend/levelzero/ze_measure.h"
#include "backend/levelzero/ze_memory.h"

#define A_FEW      64u    /* commands that are looked at in vain, in one visit */
#define TOO_MANY   16384u /* runs waiting: then the program's thread has to help */
#define MOST_TILES 8u

static _Atomic uint64_t untimed_count, dropped_count;

/* ---- telling ------------------------------------------------------------------------------- */

static size_t memory_facts(const struct ut_ze_command *c, struct ut_fact *f)
{
	static const char *const kinds[] = { "M", "H", "D", "S" };
	size_t n = 0;

	if (c->bytes)
		f[n++] = (struct ut_fact){ ut_ze.key.bytes, UT_VALUE_U64, c->bytes };
	if (c->from)
		f[n++] = (struct ut_fact){ ut_ze.key.from, UT_VALUE_NAME,
					   ut_ze_name(kinds[c->from - 1]) };
	if (c->to)
		f[n++] = (struct ut_fact){ ut_ze.key.to, UT_VALUE_NAME,
					   ut_ze_name(kinds[c->to - 1]) };
	return n;
}

static size_t kernel_facts(const struct ut_ze_command *c, struct ut_fact *f)
{
	const struct ut_ze_facts *k = c->kernel;
	const struct ut_fact numbers[] = {
		{ ut_ze.key.simd, UT_VALUE_U64, k->simd },
		{ ut_ze.key.arguments, UT_VALUE_U64, k->arguments },
		{ ut_ze.key.slm, UT_VALUE_U64, k->slm },
		{ ut_ze.key.private_bytes, UT_VALUE_U64, k->private_bytes },
		{ ut_ze.key.spill, UT_VALUE_U64, k->spill },
		{ ut_ze.key.registers, UT_VALUE_U64, k->registers },
	};
	size_t n = 0;

	if (c->shape && c->shape->grid)
		f[n++] = (struct ut_fact){ ut_ze.key.grid, UT_VALUE_NAME, c->shape->grid };
	if (c->shape && c->shape->block)
		f[n++] = (struct ut_fact){ ut_ze.key.block, UT_VALUE_NAME, c->shape->block };
	f[n++] = (struct ut_fact){ ut_ze.key.compiled, UT_VALUE_NAME,
				   k->native ? ut_ze.aot : ut_ze.jit };
	for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++) {
		if (numbers[i].value)
			f[n++] = numbers[i];
	}
	return n;
}

static size_t list_facts(const struct ut_ze_run *r, const struct ut_ze_command *c,
			 struct ut_fact *f)
{
	size_t n = c->kernel ? kernel_facts(c, f) : memory_facts(c, f);

	if (r->number > 1)
		f[n++] = (struct ut_fact){ ut_ze.key.executed, UT_VALUE_U64, r->number };
	return n;
}

/*
 * In a stream that keeps order a command does not start before the one before it has ended, also
 * when the clock has just been understood better. Commands that follow each other on an engine do
 * not overlap by as little as the clock may be wrong. How long it took is never changed.
 */
static void keep_order(struct ut_ze_run *r, uint64_t times[2])
{
	struct ut_ze_stream *s = r->stream;
	uint64_t took = times[1] - times[0];
	uint64_t doubt =
		2 * ut_ze_clock_error(&s->device->clock) + (uint64_t)(2 * s->device->clock.rate);

	if (times[0] < r->submitted)
		times[0] = r->submitted;
	if (s->ordered && times[0] < s->last_end)
		times[0] = s->last_end;
	if (times[0] < s->row->last_end && s->row->last_end - times[0] <= doubt)
		times[0] = s->row->last_end;
	times[1] = times[0] + took;
	s->last_end = s->row->last_end = times[1];
}

/* What an event said. */
struct reading {
	bool known;
	struct ze_timestamps all;
	uint32_t tile_count; /* 0 = the device is not told tile by tile */
	struct ze_timestamps tiles[MOST_TILES];
};

/* Each tile's part of a kernel, under the kernel's own name, in the row of its engine. */
static void send_tiles(struct ut_ze_run *r, const struct reading *t, struct ut_work *w,
		       struct ut_fact *facts)
{
	struct ut_ze_device *d = r->stream->device;
	size_t count = w->fact_count;

	for (uint32_t i = 0; i < t->tile_count; i++) {
		const uint64_t raw[2] = { t->tiles[i].global.start, t->tiles[i].global.end };
		uint64_t times[2];

		if (!ut_ze_clock_map(&d->clock, raw, r->submitted, times))
			continue;
		facts[count] = (struct ut_fact){ ut_ze.key.tile, UT_VALUE_U64, i };
		w->fact_count = count + 1;
		w->start = times[0] < r->submitted ? r->submitted : times[0];
		w->end = w->start + (times[1] - times[0]);
		ut_ze.host->work(w);
	}
}

/* t NULL: nobody knows when it ran. */
static void ze_run_report(struct ut_ze_run *r, const struct ut_ze_command *c,
			  const struct reading *t)
{
	struct ut_ze_device *d = r->stream->device;
	struct ut_fact facts[16];
	uint64_t times[2] = { r->submitted, r->submitted };
	struct ut_work w = { .size = sizeof(w),
			     .queue = r->stream->row ? r->stream->row->id : 0,
			     .name = c->name,
			     .kind = c->kind,
			     .thread = r->thread,
			     .queued = c->appended,
			     .submitted = r->submitted,
			     .correlation = r->correlation,
			     .facts = facts };
	uint64_t raw[2];

	if (r->silent || c->silent || !w.queue)
		return;
	w.fact_count = list_facts(r, c, facts);
	ut_ze_device_look(d);
	if (t) {
		raw[0] = t->all.global.start;
		raw[1] = t->all.global.end;
	}
	if (t && ut_ze_clock_map(&d->clock, raw, r->submitted, times)) {
		keep_order(r, times);
	} else {
		facts[w.fact_count++] =
			(struct ut_fact){ ut_ze.key.times, UT_VALUE_NAME, ut_ze.unknown };
		if (c->kind != UT_WORK_SYNC)
			atomic_fetch_add_explicit(&untimed_count, 1, memory_order_relaxed);
	}
	w.start = times[0];
	w.end = times[1];
	if (t && t->tile_count)
		send_tiles(r, t, &w, facts);
	else
		ut_ze.host->work(&w);
	if (c->query && !r->mixed)
		ut_ze_query_send(c->query, &w);
	else if (c->query)
		ut_ze_query_lost();
}

/* ---- one command --------------------------------------------------------------------------- */

static void done_with(struct ut_ze_run *r, uint32_t i)
{
	struct ut_ze_command *c = &r->commands[i];
	struct ut_ze_event *e = c->event;

	r->states[i] = UT_ZE_REPORTED;
	r->left--;
	if (c->query)
		ut_ze_query_give(c->query, r->program != NULL);
	if (!e)
		return;
	if (!e->own) {
		if (atomic_load(&e->run) == r && e->index == i)
			atomic_store(&e->run, NULL);
	} else if (!r->program) {
		ut_ze_event_give(e);
		c->event = NULL;
	}
}

static bool same_ticks(const struct ze_ticks *a, const struct ze_ticks *b)
{
	return a->start == b->start && a->end == b->end;
}

/* Tile by tile, where the device has some and the user wants to see them. */
static void read_tiles(const struct ut_ze_run *r, const struct ut_ze_command *c, struct reading *t)
{
	struct ut_ze_device *d = r->stream->device;
	uint32_t count = MOST_TILES;

	if (!ut_ze.tiles || !c->kernel || d->tile_count < 2 ||
	    !UT_ZE_HAS(zeEventQueryTimestampsExp))
		return;
	if (!UT_ZE(zeEventQueryTimestampsExp)(c->event->handle, ut_ze_handle(&d->item), &count,
					      t->tiles))
		t->tile_count = count < MOST_TILES ? count : MOST_TILES;
}

/* Timestamps from the command's own event. False: they are not there yet. */
static bool read_event(struct ut_ze_run *r, struct ut_ze_command *c, bool proven, struct reading *t)
{
	struct ut_ze_event *e = c->event;

	if (!proven && (r->blind || UT_ZE(zeEventQueryStatus)(e->handle)))
		return false;
	t->known = !UT_ZE(zeEventQueryKernelTimestamp)(e->handle, &t->all);
	/* An event that nobody has reset still says when it was signaled before. */
	if (t->known && !e->own && !proven && same_ticks(&t->all.global, &e->last))
		return false;
	e->last = t->all.global;
	if (t->known)
		read_tiles(r, c, t);
	return t->known || proven;
}

/* From where the list itself has put them. */
static bool read_slot(const struct ut_ze_run *r, const struct ut_ze_command *c, bool proven,
		      struct reading *t)
{
	const struct ut_ze_event *end = r->program ? r->program->end : NULL;

	if (!proven && (!end || r->blind || UT_ZE(zeEventQueryStatus)(end->handle)))
		return false;
	memcpy(&t->all, c->slot->at, sizeof(t->all));
	return t->known = true;
}

bool ut_ze_run_send(struct ut_ze_run *r, uint32_t i, bool proven)
{
	struct ut_ze_command *c = &r->commands[i];
	struct reading t = { 0 };

	if (r->before)
		return false;
	if (r->states[i] == UT_ZE_READING) {
		if (!ut_ze_readout_done(r->readout, proven))
			return false;
		ut_ze_readout_get(r->readout, i, &t.all);
		t.known = true;
	} else if (c->slot) {
		if (!read_slot(r, c, proven, &t))
			return false;
	} else if (c->event && !read_event(r, c, proven, &t)) {
		return false;
	}
	ze_run_report(r, c, t.known ? &t : NULL);
	done_with(r, i);
	return true;
}

void ut_ze_run_forget_event(struct ut_ze_run *r, uint32_t i)
{
	if (r->states[i] == UT_ZE_REPORTED)
		return;
	ze_run_report(r, &r->commands[i], NULL);
	if (r->program)
		r->program->blind = true;
	done_with(r, i);
}

void ut_ze_run_forget(struct ut_ze_run *r)
{
	for (uint32_t i = 0; i < r->count; i++) {
		if (r->states[i] == UT_ZE_WAITING)
			ut_ze_run_forget_event(r, i);
	}
}

void ut_ze_run_give_up(struct ut_ze_run *r)
{
	for (uint32_t i = 0; i < r->count; i++) {
		if (r->states[i] != UT_ZE_REPORTED && !ut_ze_run_send(r, i, true))
			ut_ze_run_forget_event(r, i);
	}
}

/* ---- runs ---------------------------------------------------------------------------------- */

struct ut_ze_run *ut_ze_run_new(void)
{
	struct ut_ze_run *r = ut_ze_alloc(sizeof(*r));

	if (!r)
		return NULL;
	r->commands = &r->one;
	r->states = &r->one_state;
	r->count = r->left = 1;
	return r;
}

struct ut_ze_run *ut_ze_run_of(struct ut_ze_program *p)
{
	struct ut_ze_run *r = ut_ze_alloc(sizeof(*r));
	uint8_t *states = r && p->count ? ut_ze_alloc(p->count) : NULL;

	if (!r || !states) {
		ut_ze_free(r, sizeof(*r));
		return NULL;
	}
	r->program = p;
	r->commands = p->commands;
	r->states = states;
	r->count = r->left = p->count;
	p->references++;
	return r;
}

void ut_ze_run_drop(struct ut_ze_run *r)
{
	struct ut_ze_program *p = r->program;

	if (r->readout)
		ut_ze_readout_give(r->readout);
	if (r->before)
		r->before->after = r->after;
	if (r->after)
		r->after->before = r->before;
	if (!p) {
		ut_ze_free(r, sizeof(*r));
		return;
	}
	if (p->run == r)
		p->run = r->before;
	ut_ze_free(r->states, r->count);
	ut_ze_free(r, sizeof(*r));
	ut_ze_program_drop(p);
}

/* The list is not being executed: its events can be reset, and be believed the next time. */
static void reset_events(struct ut_ze_run *r)
{
	struct ut_ze_program *p = r->program;
	bool all = true;

	for (uint32_t i = 0; i < r->count; i++) {
		const struct ut_ze_event *e = r->commands[i].event;

		if (e && e->own)
			all &= UT_ZE(zeEventHostReset)(e->handle) == ZE_SUCCESS;
	}
	if (p->end)
		all &= UT_ZE(zeEventHostReset)(p->end->handle) == ZE_SUCCESS;
	p->blind = !all;
}

/*
 * All of it is told. Events are reset all at once: until now a readout may have needed them. What a
 * readout has read it has reset, too.
 */
static void ze_run_finish(struct ut_ze_run *r)
{
	if (r->program && !r->before && !r->after && (!r->readout || r->program->blind))
		reset_events(r);
	ut_ze_run_drop(r);
}

void ut_ze_program_drop(struct ut_ze_program *p)
{
	if (--p->references)
		return;
	ut_ze_readouts_drop(p);
	for (uint32_t i = 0; i < p->count; i++) {
		struct ut_ze_command *c = &p->commands[i];

		if (c->event && c->event->own)
			ut_ze_event_give(c->event);
		if (c->slot)
			ut_ze_slot_give(p->context, c->slot);
		if (c->query)
			ut_ze_query_give(c->query, false);
	}
	if (p->end)
		ut_ze_event_give(p->end);
	ut_ze_free(p->commands, p->room * sizeof(*p->commands));
	ut_ze_free(p->resets, p->reset_room * sizeof(struct ut_ze_event *));
	ut_ze_free(p, sizeof(*p));
}

/* ---- streams ------------------------------------------------------------------------------- */

static struct ut_ze_stream *_Atomic last_stream;

struct ut_ze_stream *ut_ze_stream_last(void)
{
	return atomic_load(&last_stream);
}

void ut_ze_stream_add(struct ut_ze_stream *s)
{
	if (atomic_exchange(&s->listed, true))
		return;
	s->older = atomic_load(&last_stream);
	while (!atomic_compare_exchange_weak(&last_stream, &s->older, s))
		;
}

/* What was pushed goes to the end of the list. */
static void take_fresh(struct ut_ze_stream *s)
{
	struct ut_ze_run *r = NULL, *newest, *oldest = NULL;

	if (atomic_load_explicit(&s->fresh, memory_order_relaxed))
		r = atomic_exchange(&s->fresh, NULL);
	if (!r)
		return;
	newest = r;
	while (r) {
		struct ut_ze_run *next = r->next;

		r->next = oldest;
		oldest = r;
		r = next;
	}
	if (s->first)
		s->last->next = oldest;
	else
		s->first = oldest;
	s->last = newest;
}

/*
 * Tells what it can of a run; how often it looked in vain. Where order is kept, what follows is not
 * complete either: it might be a moment later, and would be told first.
 */
static uint32_t visit_run(struct ut_ze_run *r, bool proven, uint32_t *reported)
{
	uint32_t vain = 0, most = r->stream->ordered ? 1 : A_FEW;

	for (uint32_t i = 0; i < r->count && r->left && vain < most; i++) {
		if (r->states[i] == UT_ZE_REPORTED)
			continue;
		if (ut_ze_run_send(r, i, proven))
			(*reported)++;
		else
			vain++;
	}
	return vain;
}

uint32_t ut_ze_stream_visit(struct ut_ze_stream *s, uint64_t proven)
{
	struct ut_ze_run **p, *r, *before = NULL;
	uint32_t reported = 0, vain = 0, most = s->ordered ? 1 : A_FEW;
	int saved = errno;

	take_fresh(s);
	for (p = &s->first; (r = *p) && vain < most;) {
		vain += visit_run(r, r->order <= proven, &reported);
		if (r->left) {
			before = r;
			p = &r->next;
			continue;
		}
		*p = r->next;
		if (s->last == r)
			s->last = before;
		ze_run_finish(r);
		atomic_fetch_sub(&s->waiting, 1);
	}
	errno = saved;
	return reported;
}

void ut_ze_stream_waited(struct ut_ze_stream *s, uint64_t proven)
{
	if (!s || !atomic_load(&s->waiting) || !ut_ze_lock(UT_ZE_PATIENCE))
		return;
	(void)ut_ze_stream_visit(s, proven);
	ut_ze_unlock();
}

static void ze_run_push(struct ut_ze_stream *s, struct ut_ze_run *r)
{
	r->next = atomic_load(&s->fresh);
	while (!atomic_compare_exchange_weak(&s->fresh, &r->next, r))
		;
}

void ut_ze_run_submit(struct ut_ze_stream *s, struct ut_ze_run *r)
{
	uint32_t waiting = atomic_fetch_add(&s->waiting, 1);

	r->stream = s;
	r->order = atomic_fetch_add(&s->submitted, 1) + 1;
	for (uint32_t i = 0; i < r->count; i++) {
		struct ut_ze_event *e = r->commands[i].event;

		if (!e || e->own)
			continue;
		e->index = i;
		atomic_store(&e->stream, s);
		atomic_store(&e->run, r);
	}
	ze_run_push(s, r);
	ut_ze_helper_wake();
	if (UT_UNLIKELY(waiting > TOO_MANY) && ut_ze_try_lock()) {
		(void)ut_ze_stream_visit(s, 0);
		ut_ze_unlock();
	}
}

/* ---- a context goes ------------------------------------------------------------------------ */

static bool ze_run_is_of(const struct ut_ze_run *r, const struct ut_ze_context *c)
{
	const struct ut_ze_event *e = r->one.event;

	return r->program ? r->program->context == c : e && e->context == c;
}

/* The program has waited for all that it has submitted there; whatever is left never ran. */
void ut_ze_context_ends(struct ut_ze_context *c)
{
	for (struct ut_ze_stream *s = ut_ze_stream_last(); s; s = s->older) {
		if (!atomic_load(&s->waiting))
			continue;
		(void)ut_ze_stream_visit(s, 0);
		for (struct ut_ze_run *r = s->first; r; r = r->next) {
			if (ze_run_is_of(r, c))
				ut_ze_run_give_up(r);
		}
		(void)ut_ze_stream_visit(s, 0);
	}
}

/* ---- what is lost -------------------------------------------------------------------------- */

void ut_ze_run_losses(uint64_t *untimed, uint64_t *dropped)
{
	*untimed = atomic_exchange(&untimed_count, 0);
	*dropped = atomic_exchange(&dropped_count, 0);
}

void ut_ze_run_dropped(uint64_t commands)
{
	atomic_fetch_add(&dropped_count, commands);
}

void ut_ze_runs_forked(void)
{
	for (struct ut_ze_stream *s = ut_ze_stream_last(); s; s = s->older) {
		atomic_store(&s->fresh, NULL);
		s->first = s->last = NULL;
		atomic_store(&s->waiting, 0);
	}
	atomic_store(&untimed_count, 0);
	atomic_store(&dropped_count, 0);
}
