/*
 * values.c - what backends measured: at a moment, counters of the device; over a span, arguments
 * of a span in a row of the set's own.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "import/spool/state.h"
#include "model/sink.h"
#include "unitrace/backend.h"

/* Words of UT_REC_VALUES. */
enum {
	SET_FIRST,
	BEGIN,
	END,
	NAME,
	CORRELATION,
	VALUES
};

void ut_spool_add_values(struct ut_spool_import *im, const struct ut_spool_rec *r)
{
	*UT_VEC_PUSH(&im->told.values) =
		(struct ut_spool_values){ ut_rec_word(r, BEGIN), ut_rec_low(r, SET_FIRST), *r };
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

static void add_arg(struct ut_spool_import *im, struct ut_spool_metric *m, uint64_t bits,
		    const void *ctx)
{
	static const uint8_t types[] = { UT_ARG_U64, UT_ARG_I64, UT_ARG_F64, UT_ARG_STR,
					 UT_ARG_PTR };
	struct ut_arg *a = ut_trace_add_arg(im->trace, m->key,
					    m->type < sizeof(types) ? types[m->type] : UT_ARG_U64);

	(void)ctx;
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

/* The rows of a set: what overlaps goes to the next. */
struct set_rows {
	UT_VEC(struct {
		uint32_t track;
		uint64_t end;
	})
	rows;
};

static uint32_t row_for(struct ut_spool_import *im, struct set_rows *s, uint32_t set,
			uint64_t begin, uint64_t end)
{
	struct ut_spool_object o = *ut_spool_object(&im->tables, set);
	size_t at = 0;

	while (at < s->rows.count && s->rows.items[at].end > begin)
		at++;
	if (at == s->rows.count) {
		uint32_t track = ut_spool_device_track(im, o.domain, UT_TRACK_LANE, o.name);

		UT_VEC_PUSH(&s->rows)->track = track;
	}
	s->rows.items[at].end = end;
	return s->rows.items[at].track;
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
		      struct set_rows *rows)
{
	uint64_t end = ut_rec_word(&v->rec, END);
	uint32_t name = ut_spool_string(&im->tables, ut_rec_low(&v->rec, NAME));
	uint64_t correlation = ut_rec_word(&v->rec, CORRELATION);
	size_t mark = im->trace->arg_count;
	struct ut_event e = { .ts = v->begin, .flags = UT_EV_ASIDE }; /* measured, not worked */

	end = end > v->begin ? end : v->begin;
	e.val = end - v->begin;
	e.track = row_for(im, rows, v->set, v->begin, end);
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

static void send_set(struct ut_spool_import *im, const struct ut_spool_values *v, size_t count)
{
	struct set_rows rows = { 0 };

	for (size_t i = 0, n = 1; i < count; i += n, n = 1) {
		if (v[i].begin > im->trace->last)
			im->trace->last = v[i].begin;
		if (!ut_rec_word(&v[i].rec, END)) {
			each_value(im, &v[i], send_counter, &v[i]);
		} else {
			n = parts_of(&v[i], count - i);
			send_span(im, &v[i], n, &rows);
		}
	}
	free(rows.rows.items);
}

void ut_spool_import_values(struct ut_spool_import *im)
{
	struct ut_spool_values *all = im->told.values.items;
	size_t count = im->told.values.count;

	if (im->tables.metric_count)
		qsort(im->tables.metrics, im->tables.metric_count, sizeof(*im->tables.metrics),
		      by_set_and_index);
	if (count)
		qsort(all, count, sizeof(*all), by_set_and_time);
	for (size_t i = 0, n; i < count; i += n) {
		for (n = 1; i + n < count && all[i + n].set == all[i].set;)
			n++;
		send_set(im, all + i, n);
	}
}
