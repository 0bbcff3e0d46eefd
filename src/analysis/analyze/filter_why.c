#include "analyze/filter_why.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "analyze/filter.h"
#include "base/size.h"
#include "base/str.h"
#include "model/event.h"
#include "text/cells.h"

#define NAME_COLUMNS  60
#define MOST_COMPARED 100000u /* names; enough for a hint */

/* Is there a span of the length in the window? Other rows only have a moment. */
static bool wants_row(const struct ut_filter_view *v, const struct ut_block *b, uint32_t i)
{
	const struct ut_type *type = &v->store->types.items[b->type[i]];

	if (type->kind == UT_KIND_SPAN)
		return ut_filter_wants_span(v, b->ts[i], b->ts[i] + b->val[i]);
	return !v->min_dur && v->max_dur == UINT64_MAX && ut_filter_wants_timestamp(v, b->ts[i]);
}

static bool any_row(const struct ut_filter_view *v)
{
	const struct ut_store *s = v->store;

	for (size_t t = 0; t < s->trace.track_count; t++) {
		for (size_t n = 0; n < ut_rows_blocks(&s->rows[t]); n++) {
			const struct ut_block *b = &s->rows[t].blocks[n];

			for (uint32_t i = 0; i < b->count; i++) {
				if (b->type[i] < s->types.count && wants_row(v, b, i))
					return true;
			}
		}
	}
	return false;
}

static bool is_flow(uint8_t kind)
{
	return kind == UT_KIND_FLOW_OUT || kind == UT_KIND_FLOW_IN || kind == UT_KIND_FLOW_STEP;
}

/* Is there a type, a track and a row that these conditions let through? */
static bool filter_why_fits(const struct ut_filter_opts *opts, const struct ut_store *s)
{
	bool named = opts->names.count || opts->regexes.count || opts->cats.count;
	bool type = false, track = false, rows;
	struct ut_filter_view v;
	struct ut_filter f;

	if (ut_filter_init(&f, opts, NULL))
		return true;
	if (ut_filter_is_open(&f)) {
		ut_filter_release(&f);
		return true;
	}
	ut_filter_view_init(&v, &f, s);
	/* Flows have no name of their own: the filter keeps them for the sake of their spans. */
	for (uint32_t i = 0; !type && i < s->types.count; i++)
		type = v.types[i] && !(named && is_flow(s->types.items[i].kind));
	for (size_t i = 0; i < s->trace.track_count; i++) {
		track |= v.tracks[i] != 0;
		type |= (v.tracks[i] & UT_FILTER_COUNTER) && s->rows[i].count;
	}
	rows = v.rows ? any_row(&v) : true;
	ut_filter_view_release(&v);
	ut_filter_release(&f);
	return type && track && rows;
}

static void filter_why_add(struct ut_buf *b, const char *option, const char *value)
{
	ut_buf_fmt(b, "%s--%s ", b->len ? ", " : "", option);
	ut_cell_name(b, value, strlen(value), NAME_COLUMNS);
}

static void add_nearest(struct ut_buf *b, const char *nearest)
{
	if (!nearest)
		return;
	ut_buf_text(b, " (did you mean '");
	ut_cell_name(b, nearest, strlen(nearest), NAME_COLUMNS);
	ut_buf_text(b, "'?)");
}

static const char *nearest_of(const struct ut_store *s, const char *word, bool category)
{
	const char *best = NULL;
	unsigned int distance = 99;

	for (uint32_t i = 0; i < s->types.count && i < MOST_COMPARED; i++) {
		const struct ut_type *t = &s->types.items[i];
		const char *name =
			ut_strtab_get(&s->trace.strings, category ? t->cat : t->name).ptr;

		if (ut_str_closer(word, name, &distance))
			best = name;
	}
	return best;
}

const char *ut_filter_nearest(const struct ut_store *s, const char *word)
{
	return nearest_of(s, word, false);
}

static const char *nearest_track(const struct ut_store *s, const char *word)
{
	const char *best = NULL;
	unsigned int distance = 99;

	for (size_t i = 0; i < s->trace.track_count && i < MOST_COMPARED; i++) {
		const char *name = ut_strtab_get(&s->trace.strings, s->trace.tracks[i].name).ptr;

		if (ut_str_closer(word, name, &distance))
			best = name;
	}
	return best;
}

/* One is enough of names and regular expressions. */
static void why_names(struct ut_buf *b, const struct ut_filter_opts *o, const struct ut_store *s)
{
	const struct ut_filter_opts one = { .names = o->names, .regexes = o->regexes };

	if (filter_why_fits(&one, s))
		return;
	for (size_t i = 0; i < o->names.count; i++) {
		filter_why_add(b, "name", o->names.items[i]);
		add_nearest(b, nearest_of(s, o->names.items[i], false));
	}
	for (size_t i = 0; i < o->regexes.count; i++)
		filter_why_add(b, "regex", o->regexes.items[i]);
}

static void why_list(struct ut_buf *b, const char *option, const struct ut_opt_list *list,
		     const struct ut_filter_opts *alone, const struct ut_store *s)
{
	bool category = alone->cats.count != 0, track = alone->tracks.count != 0;

	if (!list->count || filter_why_fits(alone, s))
		return;
	for (size_t i = 0; i < list->count; i++) {
		filter_why_add(b, option, list->items[i]);
		if (category || track)
			add_nearest(b, category ? nearest_of(s, list->items[i], true)
						: nearest_track(s, list->items[i]));
	}
}

static void why_length(struct ut_buf *b, const struct ut_filter_opts *o, const struct ut_store *s)
{
	const struct ut_filter_opts one = { .min_dur = o->min_dur, .max_dur = o->max_dur };

	if ((!o->min_dur && !o->max_dur) || filter_why_fits(&one, s))
		return;
	if (o->min_dur)
		filter_why_add(b, "min-dur", o->min_dur);
	if (o->max_dur)
		filter_why_add(b, "max-dur", o->max_dur);
}

static void why_window(struct ut_buf *b, const struct ut_filter_opts *o, const struct ut_store *s)
{
	const struct ut_filter_opts one = { .from = o->from, .to = o->to };
	char length[32];

	if ((!o->from && !o->to) || filter_why_fits(&one, s))
		return;
	if (o->from)
		filter_why_add(b, "from", o->from);
	if (o->to)
		filter_why_add(b, "to", o->to);
	ut_buf_fmt(b, " (the trace is %s long)",
		   ut_time_text(length, sizeof(length), s->trace.last - s->trace.first));
}

/* All that was asked for, as it was written. */
static size_t add_all(struct ut_buf *b, const struct ut_filter_opts *o)
{
	const struct {
		const char *option;
		const struct ut_opt_list *list;
	} lists[] = { { "name", &o->names },    { "not-name", &o->not_names },
		      { "regex", &o->regexes }, { "cat", &o->cats },
		      { "thread", &o->tracks }, { "pid", &o->pids },
		      { "rank", &o->ranks },    { "kind", &o->kinds } };
	const struct {
		const char *option, *value;
	} values[] = { { "from", o->from },
		       { "to", o->to },
		       { "min-dur", o->min_dur },
		       { "max-dur", o->max_dur } };
	size_t given = 0;

	for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++) {
		for (size_t k = 0; k < lists[i].list->count; k++)
			filter_why_add(b, lists[i].option, lists[i].list->items[k]);
		given += lists[i].list->count != 0;
	}
	for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
		if (values[i].value)
			filter_why_add(b, values[i].option, values[i].value);
		given += values[i].value != NULL;
	}
	return given;
}

void ut_filter_why(struct ut_buf *b, const struct ut_filter_opts *o, const struct ut_store *s)
{
	size_t before = b->len;

	why_names(b, o, s);
	why_list(b, "cat", &o->cats, &(struct ut_filter_opts){ .cats = o->cats }, s);
	why_list(b, "thread", &o->tracks, &(struct ut_filter_opts){ .tracks = o->tracks }, s);
	why_list(b, "pid", &o->pids, &(struct ut_filter_opts){ .pids = o->pids }, s);
	why_list(b, "rank", &o->ranks, &(struct ut_filter_opts){ .ranks = o->ranks }, s);
	why_list(b, "kind", &o->kinds, &(struct ut_filter_opts){ .kinds = o->kinds }, s);
	why_window(b, o, s);
	why_length(b, o, s);
	if (b->len == before && add_all(b, o) > 1)
		ut_buf_text(b, " together, although each alone fits some");
	else if (o->kinds.count && b->len > before && filter_why_fits(o, s))
		ut_buf_text(b, " by itself: flows come with the spans that they join");
}
