/*
 * device.c - what devices did, told by backends: one process per device, one track per queue,
 * and arrows from the calls that submitted the work.
 *
 * Work is told when it is complete, in no particular order. It is kept as a place in the file and
 * sorted, so that a million kernels take 40 MB here.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "import/spool/live_state.h"
#include "import/spool/rows.h"
#include "import/spool/steps.h"
#include "model/classify.h"
#include "model/sink.h"
#include "symbol/demangle.h"
#include "unitrace/backend.h"

/* Flows between tasks are numbered from 1: these must not meet them. */
#define FIRST_FLOW (UINT64_C(1) << 40)

/* Words of UT_REC_WORK, and of UT_REC_CALL. */
enum {
	QUEUE_NAME,
	KIND_TID,
	QUEUED,
	SUBMITTED,
	START,
	END,
	CORRELATION,
	FACTS
};
enum {
	CALL_NAME,
	CALL_TID,
	CALL_START,
	CALL_END,
	CALL_CORRELATION,
	CALL_FACTS
};

/* ---- noted by the scan --------------------------------------------------------------------- */

/* Whoever reads the calls has to know them as such, before the first of them. */
static void note_api(struct ut_spool_import *im, const struct ut_spool_rec *r)
{
	uint32_t api = ut_rec_low(r, CALL_NAME);
	uint32_t *seen = &im->apis_seen[api % (sizeof(im->apis_seen) / sizeof(*im->apis_seen))];

	if (*seen == api)
		return;
	*seen = api;
	if (ut_str_is(ut_strtab_get(&im->trace->strings, ut_spool_string(&im->tables, api)),
		      "SYCL"))
		im->sycl.api = api;
	ut_classify_add_calls(im->trace, ut_spool_string(&im->tables, api));
}

void ut_spool_add_work(struct ut_spool_import *im, const struct ut_spool_rec *r)
{
	struct ut_spool_work *w = UT_VEC_PUSH(&im->works);

	*w = (struct ut_spool_work){ .rec = *r };
	if (r->type == UT_REC_DEVICE_COUNTER) {
		w->place = ut_rec_low(r, 0);
		w->start = w->end = ut_rec_word(r, 1);
	} else if (r->type == UT_REC_CALL) {
		note_api(im, r);
		w->place = ut_rec_low(r, CALL_TID);
		w->start = ut_rec_word(r, CALL_START);
		w->end = ut_rec_word(r, CALL_END);
		w->end = w->end > w->start ? w->end : w->start;
	} else {
		w->place = ut_rec_low(r, QUEUE_NAME);
		w->start = ut_rec_word(r, START);
		w->end = ut_rec_word(r, END) > w->start ? ut_rec_word(r, END) : w->start;
	}
}

void ut_spool_add_submit(struct ut_spool_import *im, uint32_t thread, uint64_t ticks,
			 const struct ut_spool_rec *r)
{
	note_api(im, r);
	if (ut_rec_word(r, 1))
		*UT_VEC_PUSH(&im->submits) = (struct ut_spool_submit){
			.correlation = ut_rec_word(r, 1), .ticks = ticks, .thread = thread
		};
}

/* ---- order and arrows ---------------------------------------------------------------------- */

static int by_place_and_time(const void *a, const void *b)
{
	const struct ut_spool_work *x = a, *y = b;

	if (x->rec.type != y->rec.type)
		return x->rec.type < y->rec.type ? -1 : 1;
	if (x->place != y->place)
		return x->place < y->place ? -1 : 1;
	if (x->rec.type == UT_REC_DEVICE_COUNTER &&
	    ut_rec_high(&x->rec, 0) != ut_rec_high(&y->rec, 0))
		return ut_rec_high(&x->rec, 0) < ut_rec_high(&y->rec, 0) ? -1 : 1;
	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	if (x->end != y->end)
		return x->end < y->end ? 1 : -1;
	return (x->rec.words > y->rec.words) - (x->rec.words < y->rec.words);
}

/* The first of a kind at a place, or behind. */
static size_t spool_device_first_of(const struct ut_spool_import *im, enum ut_rec type,
				    uint32_t place)
{
	size_t lo = 0, hi = im->works.count;

	while (lo < hi) {
		const struct ut_spool_work *w = &im->works.items[(lo + hi) / 2];

		if (w->rec.type < type || (w->rec.type == type && w->place < place))
			lo = (lo + hi) / 2 + 1;
		else
			hi = (lo + hi) / 2;
	}
	return lo;
}

size_t ut_spool_calls_of(struct ut_spool_import *im, uint32_t tid, struct ut_spool_work **calls)
{
	size_t first = spool_device_first_of(im, UT_REC_CALL, tid), end = first;

	while (end < im->works.count && im->works.items[end].rec.type == UT_REC_CALL &&
	       im->works.items[end].place == tid)
		end++;
	*calls = im->works.items + first;
	return end - first;
}

/* Numbers for the arrows of a call, one for each piece of work; how many there are. */
static uint32_t number_arrows(struct ut_spool_import *im, uint64_t correlation)
{
	uint32_t works = correlation ? ut_idmap_get(&im->works_of_call, correlation) : 0;

	if (!works || ut_idmap_get(&im->flow_of_call, correlation))
		return 0; /* or another call has them */
	ut_idmap_put(&im->flow_of_call, correlation, (uint32_t)im->device_flows + 1);
	im->device_flows += works;
	return works;
}

/* Calls that were recorded as they happened, on their threads. */
static void point_from_submits(struct ut_spool_import *im)
{
	for (size_t i = 0; i < im->submits.count; i++) {
		const struct ut_spool_submit *s = &im->submits.items[i];
		uint32_t works = number_arrows(im, s->correlation);

		if (works)
			ut_idmap_take(&im->works_of_call, s->correlation);
		for (uint32_t n = 0; n < works; n++)
			*UT_VEC_PUSH(&im->flows) =
				(struct ut_spool_flow){ .begin = s->ticks,
							.thread = s->thread,
							.out = true,
							.relation = UT_RELATION_SUBMITS,
							.number =
								FIRST_FLOW + im->device_flows - n };
	}
}

/* Calls that were told of afterwards: of those with one number, the outermost comes first. */
static void point_from_calls(struct ut_spool_import *im)
{
	for (size_t i = spool_device_first_of(im, UT_REC_CALL, 0); i < im->works.count; i++) {
		const struct ut_spool_rec *r = &im->works.items[i].rec;

		if (r->type != UT_REC_CALL)
			break;
		(void)number_arrows(im, ut_rec_word(r, CALL_CORRELATION));
	}
}

/* A call from which work came gets arrows; both ends know the number of the call. */
void ut_spool_import_submits(struct ut_spool_import *im)
{
	if (!im->works.count)
		return;
	qsort(im->works.items, im->works.count, sizeof(*im->works.items), by_place_and_time);
	if (im->live)
		return; /* arrows are drawn when both ends are known */
	for (size_t i = 0; i < im->works.count; i++) {
		uint64_t correlation = ut_rec_word(&im->works.items[i].rec, CORRELATION);

		if (correlation && im->works.items[i].rec.type == UT_REC_WORK)
			ut_idmap_put(&im->works_of_call, correlation,
				     ut_idmap_get(&im->works_of_call, correlation) + 1);
	}
	point_from_submits(im);
	point_from_calls(im);
}

/* ---- tracks -------------------------------------------------------------------------------- */

/* The device's process; it is said to belong to the process that uses it. */
static uint32_t device_process(struct ut_spool_import *im, uint32_t device)
{
	struct ut_trace *t = im->trace;
	struct ut_spool_object *o = ut_spool_object(&im->tables, device);
	struct ut_process *p, *own;
	struct ut_str name, label;
	char text[600];

	if (o->track)
		return o->track - 1;
	name = ut_strtab_get(&t->strings, o->name);
	label = ut_strtab_get(&t->strings, o->domain);
	snprintf(text, sizeof(text), "DEVICE [%.*s]%s%.*s #%u",
		 name.len > 200 ? 200 : (int)name.len, name.ptr, label.len ? " " : "",
		 label.len > 200 ? 200 : (int)label.len, label.ptr, o->kind);
	o->track = 1 + ut_trace_add_process(t, t->processes[im->tables.process].pid);
	p = &t->processes[o->track - 1];
	own = &t->processes[im->tables.process];
	p->name = ut_strtab_intern_z(&t->strings, text);
	p->host = own->host;
	p->rank = own->rank;
	p->sort_index = own->sort_index;
	p->kind = UT_PROCESS_DEVICE;
	p->model = o->name;
	p->device = (int32_t)o->kind;
	p->api = ut_api_called(&t->strings, ut_strtab_get(&t->strings, o->api));
	ut_classify_label(p, label);
	return o->track - 1;
}

uint32_t ut_spool_device_process(struct ut_spool_import *im, uint32_t device)
{
	return device == UT_DEVICE_PROCESS ? im->tables.process : device_process(im, device);
}

uint32_t ut_spool_device_track(struct ut_spool_import *im, uint32_t device, enum ut_track_type type,
			       uint32_t name)
{
	uint32_t process = ut_spool_device_process(im, device);
	uint32_t track = ut_trace_add_track(im->trace, process, type);

	im->trace->tracks[track].name = name;
	im->trace->tracks[track].id = track;
	im->trace->tracks[track].sort_index = (int32_t)track;
	return track;
}

static uint32_t add_queue(struct ut_spool_import *im, const struct ut_spool_object *queue,
			  uint32_t name)
{
	uint32_t track = ut_spool_device_track(im, queue->domain, UT_TRACK_LANE, name);

	im->trace->tracks[track].role = queue->side ? UT_ROLE_SIDE : UT_ROLE_QUEUE;
	return track;
}

uint32_t ut_spool_queue_track(struct ut_spool_import *im, uint32_t queue, size_t row)
{
	struct ut_spool_object *object = ut_spool_object(&im->tables, queue), o = *object;
	bool known = o.type == UT_REC_QUEUE && object != &im->tables.spare_object;
	struct ut_str name;
	char text[600];

	if (!known) /* a damaged recording: what that object has is no row for work */
		o = (struct ut_spool_object){ 0 };
	if (!row && o.track)
		return o.track - 1;
	if (!row) {
		uint32_t track = add_queue(im, &o, o.name);

		if (known)
			ut_spool_object(&im->tables, queue)->track = track + 1;
		return track;
	}
	name = ut_strtab_get(&im->trace->strings, o.name);
	snprintf(text, sizeof(text), "%.*s (%zu)", name.len > 500 ? 500 : (int)name.len, name.ptr,
		 row + 1);
	return add_queue(im, &o, ut_strtab_intern_z(&im->trace->strings, text));
}

/* ---- arguments ----------------------------------------------------------------------------- */

static void spool_device_add_number(struct ut_spool_import *im, const char *key, uint64_t value)
{
	if (value)
		ut_trace_add_arg(im->trace, ut_strtab_intern_z(&im->trace->strings, key),
				 UT_ARG_U64)
			->value.u64 = value;
}

static void add_more_facts(struct ut_spool_import *im, uint64_t number)
{
	uint32_t at = ut_idmap_take(&im->backend_data.first_more, number);

	for (; at; at = im->backend_data.more.items[at - 1].next)
		ut_spool_args_facts(im, &im->backend_data.more.items[at - 1].rec, 1);
}

void ut_spool_args_facts(struct ut_spool_import *im, const struct ut_spool_rec *r, size_t first)
{
	static const uint8_t types[] = { UT_ARG_U64, UT_ARG_I64, UT_ARG_F64, UT_ARG_STR,
					 UT_ARG_PTR };

	/* A value of 0 at the end was not stored. */
	for (size_t i = first; i < r->count; i += 2) {
		uint32_t type = ut_rec_high(r, i);
		struct ut_arg *a;

		if (type == UT_FACT_MORE)
			add_more_facts(im, ut_rec_word(r, i + 1));
		if (type == UT_VALUE_SENT || type == UT_VALUE_RECEIVED)
			continue; /* ut_spool_send_fact_messages() */
		if (type >= sizeof(types)) {
			im->trace->losses.unknown += type != UT_FACT_MORE;
			continue;
		}
		a = ut_trace_add_arg(im->trace, ut_spool_string(&im->tables, ut_rec_low(r, i)),
				     (enum ut_arg_type)types[type]);
		if (type == UT_VALUE_NAME)
			a->value.str = ut_spool_string(&im->tables, ut_rec_low(r, i + 1));
		else
			a->value.u64 = ut_rec_word(r, i + 1);
	}
}

static void add_work_args(struct ut_spool_import *im, const struct ut_spool_rec *r)
{
	uint32_t task = ut_idmap_get(&im->task_of_call, ut_rec_word(r, CORRELATION));
	uint32_t zone = ut_idmap_get(&im->zone_of_call, ut_rec_word(r, CORRELATION));

	ut_spool_args_text(im, "task", task);
	if (zone) {
		ut_spool_args_text(im, "function", ut_spool_string(&im->tables, zone));
		ut_spool_args_source(im, zone);
	}
	ut_spool_args_command(im, ut_rec_word(r, CORRELATION), zone);
	spool_device_add_number(im, "thread", ut_rec_high(r, KIND_TID));
	spool_device_add_number(im, "correlation", ut_rec_word(r, CORRELATION));
	spool_device_add_number(im, "queued", ut_rec_word(r, QUEUED));
	spool_device_add_number(im, "submitted", ut_rec_word(r, SUBMITTED));
	ut_spool_args_facts(im, r, FACTS);
}

/* ---- sending ------------------------------------------------------------------------------- */

/* The name without C++'s mangling; each is looked at once. A kernel of SYCL's has the name of the
 * type that it is made from. */
uint32_t ut_spool_readable(struct ut_spool_import *im, uint32_t name)
{
	static const char type[] = "typeinfo name for ";
	uint32_t known = ut_idmap_get(&im->readable, name);
	const char *given, *shown;
	char *text;

	if (known)
		return known;
	given = ut_strtab_get(&im->trace->strings, name).ptr;
	text = ut_demangle(given);
	shown = text ? text : given;
	if (!strncmp(shown, type, strlen(type)))
		shown += strlen(type);
	known = shown != given ? ut_strtab_intern_z(&im->trace->strings, shown) : name;
	free(text);
	if (name && known)
		ut_idmap_put(&im->readable, name, known);
	return known;
}

/* One end of an arrow, bound to the span before it. */
void ut_spool_send_arrow(struct ut_spool_import *im, const struct ut_event *span, enum ut_kind kind,
			 uint32_t number)
{
	const struct ut_event e = { .ts = span->ts,
				    .val = FIRST_FLOW + number,
				    .track = span->track,
				    .cat = span->cat,
				    .kind = (uint8_t)kind,
				    .name = ut_strtab_intern_z(&im->trace->strings, "submits") };

	ut_sink_event(im->sink, im->trace, &e);
}

/*
 * A part of a kernel that ran on one tile of a device is called so, as Intel's unitrace does. It is
 * the last fact that says it, whose value is not stored if it is 0.
 */
static uint32_t tile_name(struct ut_spool_import *im, const struct ut_spool_rec *r, uint32_t name)
{
	struct ut_strtab *strings = &im->trace->strings;
	size_t last = r->count > FACTS ? (r->count - 1 - FACTS) / 2 * 2 + FACTS : 0;
	struct ut_buf text = { 0 };
	uint32_t key = last ? ut_spool_string(&im->tables, ut_rec_low(r, last)) : 0;

	if (!ut_str_is(ut_strtab_get(strings, key), "tile"))
		return name;
	ut_buf_fmt(&text, "Tile #%" PRIu64 ": %s", ut_rec_word(r, last + 1),
		   ut_strtab_get(strings, name).ptr);
	name = ut_strtab_intern_z(strings, text.data);
	ut_buf_release(&text);
	return name;
}

static void send_work(struct ut_spool_import *im, const struct ut_spool_work *w, uint32_t track)
{
	uint32_t kind = ut_rec_low(&w->rec, KIND_TID);
	uint64_t correlation = ut_rec_word(&w->rec, CORRELATION);
	uint32_t flow = ut_idmap_get(&im->flow_of_call, correlation);
	size_t mark = im->trace->arg_count;
	struct ut_event e = { .ts = w->start, .val = w->end - w->start, .track = track };

	e.name = ut_spool_readable(im,
				   ut_spool_string(&im->tables, ut_rec_high(&w->rec, QUEUE_NAME)));
	if (kind == UT_WORK_KERNEL)
		e.name = tile_name(im, &w->rec, e.name);
	e.cat = ut_strtab_intern_z(
		&im->trace->strings,
		ut_device_kind_name(kind < UT_WORK_OTHER ? (uint8_t)kind : UT_DEVICE_OTHER));
	e.flags = kind == UT_WORK_SYNC ? UT_EV_ASIDE : 0; /* who waits does not work */
	add_work_args(im, &w->rec);
	ut_spool_args_measured(im, w, e.name, mark);
	ut_spool_send(im, &e, mark);
	ut_spool_send_messages(im, correlation, &e);
	ut_spool_send_fact_messages(im, &w->rec, FACTS, &e);
	if (im->live)
		ut_spool_live_work(im, correlation, &e);
	ut_spool_send_fact_messages(im, &w->rec, FACTS, &e);
	if (!flow)
		return;
	ut_spool_send_arrow(im, &e, UT_KIND_FLOW_IN, flow);
	ut_idmap_put(&im->flow_of_call, correlation, flow + 1);
}

static size_t send_queue(struct ut_spool_import *im, const struct ut_spool_work *all, size_t count)
{
	struct ut_spool_rows *rows = ut_spool_rows_begin(im, UT_ROWS_QUEUE, all[0].place);
	size_t n = 0;

	for (; n < count && all[n].place == all[0].place && all[n].rec.type == UT_REC_WORK; n++) {
		size_t at = ut_spool_rows_find(rows, all[n].start, all[n].end, false);

		ut_spool_rows_put(
			rows, at, all[n].end,
			at == rows->rows.count ? ut_spool_queue_track(im, all[n].place, at) : 0);
		send_work(im, &all[n], rows->rows.items[at].track);
	}
	ut_spool_rows_end(im, rows);
	return n;
}

/* The runtime that calls of this category are made to. */
static struct ut_api_id call_api(struct ut_spool_import *im, uint32_t category)
{
	struct ut_category c = ut_classify_category(im->trace, category);

	return c.use == UT_CATEGORY_CALL ? c.api : (struct ut_api_id){ 0 };
}

/* A row for a thread's calls. */
static uint32_t call_track(struct ut_spool_import *im, const struct ut_spool_work *w, size_t row)
{
	uint32_t api = ut_spool_string(&im->tables, ut_rec_low(&w->rec, CALL_NAME));
	struct ut_str s = ut_strtab_get(&im->trace->strings, api);
	uint32_t track;
	char text[600];

	snprintf(text, sizeof(text), "%.*s calls of thread %" PRIu32,
		 s.len > 400 ? 400 : (int)s.len, s.ptr, w->place);
	if (row)
		snprintf(text + strlen(text), sizeof(text) - strlen(text), " (%zu)", row + 1);
	track = ut_spool_add_lane(&im->tables, UT_TRACK_LANE,
				  ut_strtab_intern_z(&im->trace->strings, text));
	im->trace->tracks[track].role = UT_ROLE_CALLS;
	im->trace->tracks[track].thread = w->place;
	im->trace->tracks[track].api = call_api(im, api);
	return track;
}

/* Of the calls with one number, the first that is sent has the arrows of all work. */
static void send_call(struct ut_spool_import *im, const struct ut_spool_work *w, uint32_t track)
{
	const struct ut_spool_rec *r = &w->rec;
	uint64_t correlation = ut_rec_word(r, CALL_CORRELATION);
	uint32_t works = correlation ? ut_idmap_take(&im->works_of_call, correlation) : 0;
	size_t mark = im->trace->arg_count;
	struct ut_event e = { .ts = w->start, .val = w->end - w->start, .track = track };

	e.name = ut_spool_string(&im->tables, ut_rec_high(r, CALL_NAME));
	e.cat = ut_spool_string(&im->tables, ut_rec_low(r, CALL_NAME));
	ut_spool_args_text(im, "task", w->task);
	spool_device_add_number(im, "correlation", correlation);
	ut_spool_args_facts(im, r, CALL_FACTS);
	ut_spool_send(im, &e, mark);
	ut_spool_send_messages(im, correlation, &e);
	ut_spool_send_fact_messages(im, r, CALL_FACTS, &e);
	if (im->live)
		ut_spool_live_call(im, correlation, &e);
	ut_spool_send_fact_messages(im, r, CALL_FACTS, &e);
	/* Work is sent after the calls and takes the same numbers, one by one. */
	for (uint32_t n = 0; n < works; n++)
		ut_spool_send_arrow(im, &e, UT_KIND_FLOW_OUT,
				    ut_idmap_get(&im->flow_of_call, correlation) + n);
}

/* Calls nest; those that overlap instead, for whatever reason, get rows of their own. */
static size_t send_calls(struct ut_spool_import *im, const struct ut_spool_work *all, size_t count)
{
	struct ut_spool_rows *rows = ut_spool_rows_begin(im, UT_ROWS_CALLS, all[0].place);
	size_t n = 0;

	for (; n < count && all[n].place == all[0].place && all[n].rec.type == UT_REC_CALL; n++) {
		size_t at = ut_spool_rows_find(rows, all[n].start, all[n].end, true);

		ut_spool_rows_put(rows, at, all[n].end,
				  at == rows->rows.count ? call_track(im, &all[n], at) : 0);
		send_call(im, &all[n], rows->rows.items[at].track);
	}
	ut_spool_rows_end(im, rows);
	return n;
}

static size_t send_counter(struct ut_spool_import *im, const struct ut_spool_work *all,
			   size_t count)
{
	uint32_t number = ut_rec_high(&all[0].rec, 0);
	uint32_t name = ut_spool_string(&im->tables, number);
	uint64_t of = (uint64_t)all[0].place << 32 | number;
	struct ut_spool_rows *rows = ut_spool_rows_begin(im, UT_ROWS_COUNTER, of);
	uint32_t track;
	size_t n = 0;

	if (!rows->rows.count)
		ut_spool_rows_put(rows, 0, 0,
				  ut_spool_device_track(im, all[0].place, UT_TRACK_COUNTER, name));
	track = rows->rows.items[0].track;
	ut_spool_rows_end(im, rows);

	for (; n < count && all[n].place == all[0].place && ut_rec_high(&all[n].rec, 0) == number;
	     n++) {
		const struct ut_event e = { .ts = all[n].start,
					    .val = ut_rec_word(&all[n].rec, 2),
					    .name = name,
					    .track = track,
					    .kind = UT_KIND_COUNTER,
					    .flags = UT_EV_DOUBLE };

		ut_sink_event(im->sink, im->trace, &e);
	}
	return n;
}

/* Devices that were told of and have done nothing that was recorded. */
static void name_silent_devices(struct ut_spool_import *im)
{
	for (uint32_t i = 0; i < im->tables.object_cap; i++) {
		if (im->tables.objects[i].type == UT_REC_DEVICE)
			(void)device_process(im, i);
	}
}

void ut_spool_import_devices(struct ut_spool_import *im)
{
	struct ut_spool_work *all = im->works.items;

	for (size_t i = 0; i < im->works.count;) {
		if (all[i].end > im->trace->last)
			im->trace->last = all[i].end;
		if (all[i].rec.type == UT_REC_WORK)
			i += send_queue(im, &all[i], im->works.count - i);
		else if (all[i].rec.type == UT_REC_CALL)
			i += send_calls(im, &all[i], im->works.count - i);
		else
			i += send_counter(im, &all[i], im->works.count - i);
	}
	name_silent_devices(im);
}
