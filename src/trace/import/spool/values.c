/*
 * values.c - what backends measured: at a moment, counters of the device; over a span, arguments
 * of a span in a row of the set's own.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "import/spool/rows.h"
#include "import/spool/steps.h"
#include "model/measured.h"
#include "model/sink.h"
#include "unitrace/backend.h"

/* Words of UT_REC_VALUES. */
enum {
	SET_FIRST,
	BEGIN,
	END,
	NAME_FLAGS,
	CORRELATION,
	VALUES
};

void ut_spool_add_values(struct ut_spool_import *im, const struct ut_spool_rec *r)
{
	*UT_VEC_PUSH(&im->backend_data.values) = (struct ut_spool_values){
		.begin = ut_rec_word(r, BEGIN), .set = ut_rec_low(r, SET_FIRST), .rec = *r
	};
}

uint64_t ut_spool_values_correlation(const struct ut_spool_values *v)
{
	return ut_rec_word(&v->rec, CORRELATION);
}

bool ut_spool_values_is_sample(const struct ut_spool_values *v)
{
	return ut_rec_high(&v->rec, NAME_FLAGS) & UT_VALUES_SAMPLE;
}

bool ut_spool_values_are_of_work(const struct ut_spool_values *v)
{
	return ut_rec_word(&v->rec, END) && !ut_spool_values_is_sample(v) &&
	       !ut_rec_high(&v->rec, SET_FIRST);
}

uint64_t ut_spool_values_middle(const struct ut_spool_values *v)
{
	uint64_t end = ut_rec_word(&v->rec, END);

	return end > v->begin ? v->begin + (end - v->begin) / 2 : v->begin;
}

/* Parts of one measurement follow each other, the first one first. */
static int by_set_and_time(const void *a, const void *b)
{
	const struct ut_spool_values *x = a, *y = b;
	uint64_t x_end = ut_rec_word(&x->rec, END), y_end = ut_rec_word(&y->rec, END);

	if (x->set != y->set)
		return x->set < y->set ? -1 : 1;
	if (x->begin != y->begin)
		return x->begin < y->begin ? -1 : 1;
	if (x_end != y_end)
		return x_end > y_end ? -1 : 1;
	return (x->rec.words > y->rec.words) - (x->rec.words < y->rec.words);
}

static int by_set_and_index(const void *a, const void *b)
{
	const struct ut_spool_metric *x = a, *y = b;

	if (x->set != y->set)
		return x->set < y->set ? -1 : 1;
	return (x->index > y->index) - (x->index < y->index);
}

/* A metric of a set; NULL if its definition is lost. */
static struct ut_spool_metric *metric_of(struct ut_spool_import *im, uint32_t set, size_t index)
{
	const struct ut_spool_metric key = { .set = set, .index = (uint32_t)index };

	return im->tables.metric_count ? bsearch(&key, im->tables.metrics, im->tables.metric_count,
						 sizeof(key), by_set_and_index)
				       : NULL;
}

static bool is_measured(const struct ut_spool_metric *m, uint64_t bits)
{
	double d;

	memcpy(&d, &bits, sizeof(d));
	return m->type != UT_VALUE_F64 || !isnan(d);
}

/* What a part says: each value that was measured. Those without a definition are counted. */
typedef void value_fn(struct ut_spool_import *im, struct ut_spool_metric *m, uint64_t bits,
		      const void *ctx);

static void each_value(struct ut_spool_import *im, const struct ut_spool_values *v, value_fn *fn,
		       const void *ctx)
{
	size_t first = ut_rec_high(&v->rec, SET_FIRST);

	for (size_t i = VALUES; i < v->rec.count; i++) {
		struct ut_spool_metric *m = metric_of(im, v->set, first + i - VALUES);

		if (!m)
			im->trace->losses.unknown++;
		else if (is_measured(m, v->rec.words[i]))
			fn(im, m, v->rec.words[i], ctx);
	}
}

static uint8_t arg_type(const struct ut_spool_metric *m)
{
	static const uint8_t types[] = { UT_ARG_U64, UT_ARG_I64, UT_ARG_F64, UT_ARG_STR,
					 UT_ARG_PTR };

	return m->type < sizeof(types) ? types[m->type] : UT_ARG_U64;
}

/* "KEY[UNIT]" */
static uint32_t values_column_of(struct ut_spool_import *im, struct ut_spool_metric *m)
{
	struct ut_strtab *strings = &im->trace->strings;
	struct ut_buf text = { 0 };

	if (m->column || !m->unit)
		return m->column ? m->column : m->key;
	ut_buf_fmt(&text, "%s[%s]", ut_strtab_get(strings, m->key).ptr,
		   ut_strtab_get(strings, m->unit).ptr);
	m->column = ut_strtab_intern(strings, text.data, text.len);
	ut_buf_release(&text);
	return m->column;
}

static void add_arg(struct ut_spool_import *im, struct ut_spool_metric *m, uint64_t bits,
		    const void *ctx)
{
	const bool *columns = ctx; /* under the name of the column, with the unit */
	struct ut_arg *a = ut_trace_add_arg(im->trace, columns ? values_column_of(im, m) : m->key,
					    (enum ut_arg_type)arg_type(m));

	if (m->type == UT_VALUE_NAME)
		a->value.str = ut_spool_string(&im->tables, (uint32_t)bits);
	else
		a->value.u64 = bits;
}

/* ---- at a moment --------------------------------------------------------------------------- */

static uint32_t counter_track(struct ut_spool_import *im, struct ut_spool_metric *m)
{
	uint32_t device = ut_spool_object(&im->tables, m->set)->domain, track;
	size_t mark = im->trace->arg_count;

	if (m->track)
		return m->track - 1;
	track = ut_spool_device_track(im, device,
				      m->type == UT_VALUE_NAME ? UT_TRACK_LANE : UT_TRACK_COUNTER,
				      m->title ? m->title : m->key);
	m->track = track + 1;
	im->trace->tracks[track].unit = m->unit;
	if (m->title && m->title != m->key) {
		ut_spool_args_text(im, "key", m->key);
		ut_trace_close_args(im->trace);
		im->trace->tracks[track].args = (uint32_t)mark;
	}
	return track;
}

static void send_counter(struct ut_spool_import *im, struct ut_spool_metric *m, uint64_t bits,
			 const void *ctx)
{
	const struct ut_spool_values *v = ctx;
	struct ut_event e = { .ts = v->begin, .val = bits, .kind = UT_KIND_COUNTER };

	if (m->type == UT_VALUE_NAME) { /* no curve goes through words */
		e.kind = UT_KIND_INSTANT;
		e.val = 0;
		e.name = ut_spool_string(&im->tables, (uint32_t)bits);
		e.track = counter_track(im, m);
		ut_sink_event(im->sink, im->trace, &e);
		return;
	}
	e.name = m->title ? m->title : m->key;
	e.track = counter_track(im, m);
	e.flags = m->type == UT_VALUE_F64   ? UT_EV_DOUBLE
		  : m->type == UT_VALUE_I64 ? UT_EV_SIGNED
					    : 0;
	ut_sink_event(im->sink, im->trace, &e);
}

/* ---- over a span --------------------------------------------------------------------------- */

/* What overlaps goes to a further row of the set. */
static uint32_t set_track(struct ut_spool_import *im, uint32_t set)
{
	struct ut_spool_object o = *ut_spool_object(&im->tables, set);

	return ut_spool_device_track(im, o.domain, UT_TRACK_LANE, o.name);
}

/* The parts from v on that are one measurement; how many. */
static size_t parts_of(const struct ut_spool_values *v, size_t left)
{
	size_t n = 1;

	while (n < left && v[n].set == v->set && v[n].begin == v->begin &&
	       ut_rec_word(&v[n].rec, END) == ut_rec_word(&v->rec, END) &&
	       ut_rec_high(&v[n].rec, SET_FIRST))
		n++;
	return n;
}

static void send_span(struct ut_spool_import *im, const struct ut_spool_values *v, size_t parts,
		      struct ut_spool_rows *rows)
{
	uint64_t end = ut_rec_word(&v->rec, END);
	uint32_t name = ut_spool_string(&im->tables, ut_rec_low(&v->rec, NAME_FLAGS));
	uint64_t correlation = ut_rec_word(&v->rec, CORRELATION);
	size_t mark = im->trace->arg_count, at;
	struct ut_event e = { .ts = v->begin, .flags = UT_EV_ASIDE }; /* measured, not worked */

	end = end > v->begin ? end : v->begin;
	e.val = end - v->begin;
	at = ut_spool_rows_find(rows, v->begin, end, false);
	ut_spool_rows_put(rows, at, end, at == rows->rows.count ? set_track(im, v->set) : 0);
	e.track = rows->rows.items[at].track;
	e.name = name ? name : ut_spool_object(&im->tables, v->set)->name;
	e.cat = ut_strtab_intern_z(&im->trace->strings, "metrics");
	if (correlation)
		ut_trace_add_arg(im->trace, ut_strtab_intern_z(&im->trace->strings, "correlation"),
				 UT_ARG_U64)
			->value.u64 = correlation;
	for (size_t i = 0; i < parts; i++)
		each_value(im, &v[i], add_arg, NULL);
	ut_spool_send(im, &e, mark);
	if (end > im->trace->last)
		im->trace->last = end;
}

void ut_spool_args_values(struct ut_spool_import *im, size_t first)
{
	static const bool columns = true;
	struct ut_spool_values *v = &im->backend_data.values.items[first];
	size_t parts = parts_of(v, im->backend_data.values.count - first);

	for (size_t i = 0; i < parts; i++) {
		each_value(im, &v[i], add_arg, &columns);
		v[i].sent = true;
	}
}

/* ---- whole ----------------------------------------------------------------------------------- */

/* The columns of a set, and room for one measurement. */
struct whole {
	UT_VEC(struct ut_metric_column) columns;
	uint64_t *values;
};

static void learn_columns(struct ut_spool_import *im, uint32_t set, struct whole *w)
{
	struct ut_spool_metric *m;

	while ((m = metric_of(im, set, w->columns.count)))
		*UT_VEC_PUSH(&w->columns) =
			(struct ut_metric_column){ .name = values_column_of(im, m),
						   .type = arg_type(m) };
	w->values = calloc(w->columns.count ? w->columns.count : 1, sizeof(*w->values));
}

static size_t values_gather(struct ut_spool_import *im, const struct ut_spool_values *v,
			    size_t parts, struct whole *w)
{
	size_t count = 0;

	for (size_t p = 0; w->values && p < parts; p++) {
		size_t first = ut_rec_high(&v[p].rec, SET_FIRST);

		for (size_t i = VALUES; i < v[p].rec.count; i++) {
			size_t at = first + i - VALUES;

			if (at >= w->columns.count)
				break;
			w->values[at] = v[p].rec.words[i];
			if (w->columns.items[at].type == UT_ARG_STR)
				w->values[at] =
					ut_spool_string(&im->tables, (uint32_t)w->values[at]);
			count = at + 1 > count ? at + 1 : count;
		}
	}
	return count;
}

static void send_whole(struct ut_spool_import *im, const struct ut_spool_values *v, size_t parts,
		       struct whole *w)
{
	const struct ut_spool_object *set = ut_spool_object(&im->tables, v->set);
	uint64_t end = ut_rec_word(&v->rec, END);
	struct ut_measured m = {
		.process = ut_spool_device_process(im, set->domain),
		.set = v->set,
		.title = ut_spool_object(&im->tables, v->set)->name,
		.name = ut_spool_string(&im->tables, ut_rec_low(&v->rec, NAME_FLAGS)),
		.sample = !end || ut_spool_values_is_sample(v),
		.begin = v->begin,
		.end = end > v->begin ? end : v->begin,
		.correlation = ut_spool_values_correlation(v),
		.columns = w->columns.items,
		.column_count = w->columns.count,
		.values = w->values,
		.count = values_gather(im, v, parts, w),
	};

	im->sink->measured(im->sink, im->trace, &m);
}

static void send_set(struct ut_spool_import *im, const struct ut_spool_values *v, size_t count)
{
	struct ut_spool_rows *rows = ut_spool_rows_begin(im, UT_ROWS_SET, v->set);
	struct whole whole = { 0 };

	if (im->sink->measured)
		learn_columns(im, v->set, &whole);
	for (size_t i = 0, n; i < count; i += n) {
		n = parts_of(&v[i], count - i);
		if (v[i].begin > im->trace->last)
			im->trace->last = v[i].begin;
		if (im->sink->measured)
			send_whole(im, &v[i], n, &whole);
		if (v[i].sent)
			continue;
		if (!ut_rec_word(&v[i].rec, END) || ut_spool_values_is_sample(&v[i])) {
			for (size_t p = 0; p < n; p++)
				each_value(im, &v[i + p], send_counter, &v[i]);
		} else {
			send_span(im, &v[i], n, rows);
		}
	}
	ut_spool_rows_end(im, rows);
	free(whole.columns.items);
	free(whole.values);
}

void ut_spool_sort_values(struct ut_spool_import *im)
{
	if (im->tables.metric_count)
		qsort(im->tables.metrics, im->tables.metric_count, sizeof(*im->tables.metrics),
		      by_set_and_index);
	if (im->backend_data.values.count)
		qsort(im->backend_data.values.items, im->backend_data.values.count,
		      sizeof(*im->backend_data.values.items), by_set_and_time);
}

void ut_spool_import_values(struct ut_spool_import *im)
{
	struct ut_spool_values *all = im->backend_data.values.items;
	size_t count = im->backend_data.values.count;

	for (size_t i = 0, n; i < count; i += n) {
		for (n = 1; i + n < count && all[i + n].set == all[i].set;)
			n++;
		send_set(im, all + i, n);
	}
}
