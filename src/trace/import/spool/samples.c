/*
 * samples.c - what backends saw at moments: samples with their stacks, and messages between
 * processes.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "import/spool/rows.h"
#include "import/spool/steps.h"
#include "model/sink.h"
#include "symbol/symbol.h"
#include "unitrace/backend.h"

/* Words of UT_REC_SAMPLE. */
enum {
	QUEUE_TID,
	TIME,
	STACK_REASON,
	SOURCE,
	WEIGHT,
	ADDRESSES
};

void ut_spool_backend_data_init(struct ut_spool_backend_data *t, struct ut_arena *arena)
{
	struct ut_idmap *const maps[] = {
		&t->first_more,      &t->last_more,     &t->message_of,       &t->frame_at,
		&t->site_of_stack,   &t->thread_of_tid, &t->place_of_address, &t->values_of,
		&t->symbol_of_place, &t->module_of,     &t->file_of,
	};

	for (size_t i = 0; i < sizeof(maps) / sizeof(maps[0]); i++)
		ut_idmap_init(maps[i], arena);
}

void ut_spool_backend_data_release(struct ut_spool_backend_data *t)
{
	free(t->samples.items);
	free(t->values.items);
	free(t->messages.items);
	free(t->more.items);
	free(t->frame_places.items);
	ut_spool_release_device_code(t);
	ut_spool_release_file_code(t);
}

/* ---- noted by the scan --------------------------------------------------------------------- */

void ut_spool_add_more(struct ut_spool_import *im, const struct ut_spool_rec *r)
{
	uint64_t number = ut_rec_word(r, 0);
	uint32_t before = ut_idmap_get(&im->backend_data.last_more, number), at;

	*UT_VEC_PUSH(&im->backend_data.more) = (struct ut_spool_more){ .rec = *r };
	at = (uint32_t)im->backend_data.more.count;
	if (before)
		im->backend_data.more.items[before - 1].next = at;
	else
		ut_idmap_put(&im->backend_data.first_more, number, at);
	ut_idmap_put(&im->backend_data.last_more, number, at);
}

void ut_spool_add_sample(struct ut_spool_import *im, uint32_t thread, const struct ut_spool_rec *r)
{
	uint32_t queue = ut_rec_low(r, QUEUE_TID), tid = ut_rec_high(r, QUEUE_TID);
	uint32_t other = tid ? ut_idmap_get(&im->backend_data.thread_of_tid, tid) : 0;

	*UT_VEC_PUSH(&im->backend_data.samples) =
		(struct ut_spool_sample){ .time = ut_rec_word(r, TIME),
					  .place = queue   ? queue
						   : other ? other
						   : tid   ? 0 /* has recorded nothing itself */
							   : thread,
					  .queue = queue != 0,
					  .rec = *r };
}

void ut_spool_add_message(struct ut_spool_import *im, uint32_t thread, uint64_t ticks,
			  const struct ut_spool_rec *r)
{
	uint64_t correlation = ut_rec_word(r, 2);

	if (!correlation)
		return; /* its thread sends it */
	*UT_VEC_PUSH(&im->backend_data.messages) = (struct ut_spool_message){
		.ticks = ticks,
		.rec = *r,
		.thread = thread,
		.next = ut_idmap_get(&im->backend_data.message_of, correlation),
	};
	ut_idmap_put(&im->backend_data.message_of, correlation,
		     (uint32_t)im->backend_data.messages.count);
}

/* ---- code ---------------------------------------------------------------------------------- */

static int spool_samples_by_id(const void *a, const void *b)
{
	const struct ut_spool_code *x = a, *y = b;

	return (x->id > y->id) - (x->id < y->id);
}

/* An address of the process: in which file, and in which function of it. */
static struct ut_place_in_code spool_samples_look_up(struct ut_spool_import *im, uint64_t address)
{
	struct ut_place_in_code p = { .address = address };
	char text[512];

	for (size_t i = 0; i < im->tables.mapping_count; i++) {
		const struct ut_spool_mapping *m = &im->tables.mappings[i];

		if (address < m->start || address >= m->end)
			continue;
		p.address = address - m->start + m->offset;
		p.module = ut_strtab_intern_z(&im->trace->strings, m->path);
		if (ut_symbol_name(m->path, p.address, text, sizeof(text)))
			p.function = ut_strtab_intern_z(&im->trace->strings, text);
		break;
	}
	return p;
}

/* Its places: more than one where functions are inlined. */
static void add_places(struct ut_spool_import *im, uint32_t frame,
		       const struct ut_place_in_code *places, size_t count)
{
	struct ut_spool_backend_data *t = &im->backend_data;

	*UT_VEC_PUSH(&t->frame_places) = (uint32_t)count;
	ut_idmap_put(&t->frame_at, frame, (uint32_t)t->frame_places.count);
	for (size_t i = 0; i < count; i++)
		*UT_VEC_PUSH(&t->frame_places) =
			ut_stacks_place(&im->trace->stacks, &im->trace->arena, &places[i]);
}

static void finalize_frame(struct ut_spool_import *im, const struct ut_spool_rec *r)
{
	struct ut_place_in_code places[UT_BINARY_FRAMES], p = {
		.address = ut_rec_word(r, 1),
		.function = ut_spool_string(&im->tables, ut_rec_high(r, 0)),
		.module = ut_spool_string(&im->tables, ut_rec_low(r, 2)),
		.file = ut_spool_string(&im->tables, ut_rec_high(r, 2)),
		.line = ut_rec_low(r, 3),
	};
	uint32_t symbol;

	if (p.address && !p.function && !p.module)
		p = spool_samples_look_up(im, p.address);
	if (p.module && !p.function) {
		add_places(im, ut_rec_low(r, 0), places, ut_spool_file_code(im, &p, places));
		return;
	}
	symbol = ut_spool_finalize_device_code(im, &p);
	add_places(im, ut_rec_low(r, 0), &p, 1);
	if (symbol)
		ut_idmap_put(&im->backend_data.symbol_of_place,
			     im->backend_data.frame_places
				     .items[im->backend_data.frame_places.count - 1],
			     symbol);
}

static void finalize_stack(struct ut_spool_import *im, const struct ut_spool_rec *r)
{
	uint32_t site = ut_idmap_get(&im->backend_data.site_of_stack, ut_rec_high(r, 0));
	uint32_t at = ut_idmap_get(&im->backend_data.frame_at, ut_rec_low(r, 1));
	static const uint32_t unknown[2] = { 1, 0 };
	const uint32_t *places = at ? &im->backend_data.frame_places.items[at - 1] : unknown;

	for (uint32_t i = places[0]; i; i--)
		site = ut_stacks_site(&im->trace->stacks, &im->trace->arena, site, places[i]);
	ut_idmap_put(&im->backend_data.site_of_stack, ut_rec_low(r, 0), site);
}

/* What something refers to has a smaller number, wherever in the file it is. */
void ut_spool_finalize_code(struct ut_spool_import *im)
{
	struct ut_spool_tables *t = &im->tables;

	if (t->code_count)
		qsort(t->code, t->code_count, sizeof(*t->code), spool_samples_by_id);
	for (size_t i = 0; i < t->code_count; i++) {
		if (t->code[i].rec.type == UT_REC_FRAME)
			finalize_frame(im, &t->code[i].rec);
		else
			finalize_stack(im, &t->code[i].rec);
	}
	for (uint32_t i = 1; i < t->thread_cap; i++) {
		if (t->threads[i].tid)
			ut_idmap_put(&im->backend_data.thread_of_tid, t->threads[i].tid, i);
	}
}

static uint32_t spool_samples_place_of(struct ut_spool_import *im, uint64_t address)
{
	uint32_t known = ut_idmap_get(&im->backend_data.place_of_address, address);
	struct ut_place_in_code p;

	if (known)
		return known;
	p = spool_samples_look_up(im, address);
	known = ut_stacks_place(&im->trace->stacks, &im->trace->arena, &p);
	ut_idmap_put(&im->backend_data.place_of_address, address, known);
	return known;
}

static uint32_t spool_samples_stack_of(struct ut_spool_import *im, const struct ut_spool_rec *r)
{
	uint32_t stack = ut_idmap_get(&im->backend_data.site_of_stack, ut_rec_low(r, STACK_REASON));

	for (size_t i = ADDRESSES; i < r->count; i++)
		stack = ut_stacks_site(&im->trace->stacks, &im->trace->arena, stack,
				       spool_samples_place_of(im, ut_rec_word(r, i)));
	return stack;
}

/* ---- samples ------------------------------------------------------------------------------- */

static int by_place_and_time(const void *a, const void *b)
{
	const struct ut_spool_sample *x = a, *y = b;

	if (x->queue != y->queue)
		return x->queue ? 1 : -1;
	if (x->place != y->place)
		return x->place < y->place ? -1 : 1;
	if (!x->place && ut_rec_high(&x->rec, QUEUE_TID) != ut_rec_high(&y->rec, QUEUE_TID))
		return ut_rec_high(&x->rec, QUEUE_TID) < ut_rec_high(&y->rec, QUEUE_TID) ? -1 : 1;
	if (x->time != y->time)
		return x->time < y->time ? -1 : 1;
	return (x->rec.words > y->rec.words) - (x->rec.words < y->rec.words);
}

/* A thread that somebody else has told of. */
static uint32_t silent_thread(struct ut_spool_import *im, uint32_t tid)
{
	struct ut_spool_rows *rows = ut_spool_rows_begin(im, UT_ROWS_SILENT, tid);
	uint32_t track;

	if (rows->rows.count) {
		track = rows->rows.items[0].track;
	} else {
		track = ut_trace_add_track(im->trace, im->tables.process, UT_TRACK_THREAD);
		im->trace->tracks[track].id = tid;
		im->trace->tracks[track].sort_index = (int32_t)(500 + track % 400);
		ut_spool_rows_put(rows, 0, 0, track);
	}
	ut_spool_rows_end(im, rows);
	return track;
}

static uint32_t spool_samples_track_of(struct ut_spool_import *im, const struct ut_spool_sample *s)
{
	if (s->queue)
		return ut_spool_queue_track(im, s->place, 0);
	return s->place ? ut_spool_thread_track(&im->tables, s->place)
			: silent_thread(im, ut_rec_high(&s->rec, QUEUE_TID));
}

static bool same_place(const struct ut_spool_sample *a, const struct ut_spool_sample *b)
{
	return a->queue == b->queue && a->place == b->place &&
	       (a->place || ut_rec_high(&a->rec, QUEUE_TID) == ut_rec_high(&b->rec, QUEUE_TID));
}

static void spool_samples_send_sample(struct ut_spool_import *im, const struct ut_spool_sample *s,
				      uint32_t track)
{
	uint64_t weight = ut_rec_word(&s->rec, WEIGHT);
	size_t mark = im->trace->arg_count;
	struct ut_event e = { .ts = s->time, .track = track, .kind = UT_KIND_SAMPLE };
	uint32_t stack = spool_samples_stack_of(im, &s->rec);

	e.name = ut_spool_string(&im->tables, ut_rec_low(&s->rec, SOURCE));
	e.cat = ut_spool_string(&im->tables, ut_rec_high(&s->rec, STACK_REASON));
	e.val = ut_sample_val(stack, weight);
	ut_spool_args_text(im, "symbol",
			   ut_idmap_get(&im->backend_data.symbol_of_place,
					ut_stacks_get(&im->trace->stacks, stack).place));
	if (ut_sample_weight(e.val) == UT_SAMPLE_WEIGHT_ARG)
		ut_trace_add_arg(im->trace,
				 ut_strtab_intern_z(&im->trace->strings, UT_SAMPLE_WEIGHT),
				 UT_ARG_U64)
			->value.u64 = weight;
	ut_spool_send(im, &e, mark);
}

void ut_spool_import_samples(struct ut_spool_import *im)
{
	struct ut_spool_sample *all = im->backend_data.samples.items;
	uint32_t track = 0;

	if (!im->backend_data.samples.count)
		return;
	qsort(all, im->backend_data.samples.count, sizeof(*all), by_place_and_time);
	for (size_t i = 0; i < im->backend_data.samples.count; i++) {
		if (!i || !same_place(&all[i - 1], &all[i]))
			track = spool_samples_track_of(im, &all[i]);
		if (all[i].time > im->trace->last)
			im->trace->last = all[i].time;
		spool_samples_send_sample(im, &all[i], track);
	}
}

/* ---- messages ------------------------------------------------------------------------------ */

void ut_spool_send_message(struct ut_spool_import *im, const struct ut_spool_rec *r, uint32_t track,
			   uint64_t at)
{
	uint32_t end = ut_rec_high(r, 0);
	const struct ut_event e = {
		.ts = at,
		.val = ut_rec_word(r, 1),
		.name = ut_spool_string(&im->tables, ut_rec_low(r, 0)),
		.track = track,
		.kind = end == UT_MESSAGE_SENT       ? UT_KIND_FLOW_OUT
			: end == UT_MESSAGE_RECEIVED ? UT_KIND_FLOW_IN
						     : UT_KIND_FLOW_STEP,
		.flags = UT_EV_GLOBAL_ID,
	};

	ut_sink_event(im->sink, im->trace, &e);
}

void ut_spool_send_fact_messages(struct ut_spool_import *im, const struct ut_spool_rec *r,
				 size_t first, const struct ut_event *span)
{
	for (size_t i = first; i < r->count; i += 2) {
		uint32_t type = ut_rec_high(r, i);
		struct ut_event e = { .ts = span->ts,
				      .val = ut_rec_word(r, i + 1),
				      .track = span->track,
				      .kind = UT_KIND_FLOW_OUT,
				      .flags = UT_EV_GLOBAL_ID };

		if (type != UT_VALUE_SENT && type != UT_VALUE_RECEIVED)
			continue;
		if (type == UT_VALUE_RECEIVED) {
			e.kind = UT_KIND_FLOW_IN;
			/* Inside of it: what follows may begin in the same nanosecond. */
			e.ts += span->val - (span->val != 0);
		}
		e.name = ut_spool_string(&im->tables, ut_rec_low(r, i));
		ut_sink_event(im->sink, im->trace, &e);
	}
}

/* Such an end is told with its work, which may be later or earlier: it stands where that begins. */
void ut_spool_send_messages(struct ut_spool_import *im, uint64_t correlation,
			    const struct ut_event *span)
{
	uint32_t at = correlation && im->backend_data.messages.count
			      ? ut_idmap_take(&im->backend_data.message_of, correlation)
			      : 0;

	for (; at; at = im->backend_data.messages.items[at - 1].next) {
		struct ut_spool_message *m = &im->backend_data.messages.items[at - 1];

		if (!m->sent)
			ut_spool_send_message(im, &m->rec, span->track, span->ts);
		m->sent = true;
	}
}

void ut_spool_import_messages(struct ut_spool_import *im)
{
	for (size_t i = im->backend_data.messages_done; i < im->backend_data.messages.count; i++) {
		struct ut_spool_message *m = &im->backend_data.messages.items[i];

		if (!m->sent)
			ut_spool_send_message(im, &m->rec,
					      ut_spool_thread_track(&im->tables, m->thread),
					      ut_spool_ns(&im->tables, m->ticks));
		m->sent = true;
	}
	im->backend_data.messages_done = im->backend_data.messages.count;
}
