/*
 * single.c - single events: what is known about one, and the next one.
 */
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/path.h"
#include "model/user_code.h"
#include "text/out.h"
#include "view/answers.h"
#include "view/arguments.h"
#include "view/arrow_list.h"
#include "view/ask.h"
#include "view/matches.h"
#include "view/visit.h"

#define ARROWS_MOST  64u
#define EFFECTS_MOST 8u
#define PARENTS_MOST 512u
#define WALK_ROWS    2000000u

/* ---- roles ---------------------------------------------------------------------------------- */

/* "^word": only at the beginning; "^word$": nothing else. */
static bool says(struct ut_str text, const char *word)
{
	size_t len = strlen(word);
	bool start = word[0] == '^', end = word[len - 1] == '$';

	word += start;
	len -= (size_t)start + end;
	if (text.len < len || (end && text.len != len))
		return false;
	for (size_t i = 0; i + len <= text.len && (!i || !start); i++) {
		if (!strncasecmp(text.ptr + i, word, len))
			return true;
	}
	return false;
}

static bool single_is_call(struct ut_str name)
{
	static const char *const prefixes[] = { "cuda", "cu", "cl", "ze", "hip" };

	for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++) {
		size_t len = strlen(prefixes[i]);

		if (name.len > len && !memcmp(name.ptr, prefixes[i], len) &&
		    isupper((unsigned char)name.ptr[len]))
			return true;
	}
	return false;
}

/* What part an event plays between a line of Python and a kernel, by its category. */
static const char *role_of(struct ut_str cat, struct ut_str name)
{
	static const struct {
		const char *word, *role;
	} roles[] = {
		{ "python", "Python" },   { "^py$", "Python" },     { "^tt_dnn", "Op" },
		{ "^pytorch$", "Op" },    { "^torch_", "Op" },      { "kernel", "Kernel" },
		{ "gpu_", "Kernel" },     { "memcpy", "Kernel" },   { "memset", "Kernel" },
		{ "device", "Kernel" },   { "runtime", "Call" },    { "driver", "Call" },
		{ "^call", "Call" },      { "api", "Call" },        { "opencl", "Call" },
		{ "levelzero", "Call" },  { "level_zero", "Call" }, { "level-zero", "Call" },
		{ "level zero", "Call" }, { "cpu_op", "Op" },       { "^op$", "Op" },
		{ "operator", "Op" },     { "aten", "Op" },         { "mpi", "Message" },
		{ "message", "Message" }, { "comm", "Message" },
	};

	for (size_t i = 0; i < sizeof(roles) / sizeof(roles[0]); i++) {
		if (says(cat, roles[i].word))
			return roles[i].role;
	}
	return single_is_call(name) ? "Call" : "Task";
}

/* ---- what is around ------------------------------------------------------------------------- */

/* The span of a lane that covers a stretch of time, and comes before a row; false if none does. */
static bool covering(struct ut_view *v, const struct ut_view_track *t, uint32_t lane,
		     const struct ut_view_row *of, struct ut_view_row *found)
{
	uint64_t at = ut_lane_seek(t->trace->store, t->local, lane, ut_view_ts(t, of->start));

	for (uint64_t i = at ? at - 1 : 0; i < at + 2; i++) {
		struct ut_entry e;

		if (ut_lane_entry(t->trace->store, t->local, lane, i, &e) && e.row < of->row &&
		    ut_view_row(v, t, e.row, found) && found->start <= of->start &&
		    found->end >= of->end && v->classes[found->type] == UT_CLASS_WORK)
			return true;
	}
	return false;
}

/* Rows of spans of a track around a stretch of time, the innermost first. */
static size_t enclosing_spans(struct ut_view *v, const struct ut_view_track *t,
			      const struct ut_view_row *of, struct ut_view_row *found, size_t most)
{
	uint32_t lane = t->lanes->count;
	size_t count = 0;

	while (lane-- && count < most) {
		if (t->lanes->lanes[lane].kind == UT_LANE_SPANS &&
		    covering(v, t, lane, of, &found[count]))
			count++;
	}
	return count;
}

static size_t parents_of(struct ut_view *v, const struct ut_view_row *row,
			 struct ut_view_row *parents, size_t most)
{
	if (v->classes[row->type] == UT_CLASS_ASYNC)
		return 0;
	return enclosing_spans(v, row->track, row, parents, most);
}

/* Calls that are told of afterwards have a row of their own: the thread that made them, or NULL. */
static const struct ut_view_track *caller_of(struct ut_view *v, const struct ut_view_track *t)
{
	const struct ut_view_place *own = t->place != UT_NO_PLACE ? &v->places[t->place] : NULL;

	for (uint32_t i = own && own->calls ? own->parent : v->place_count; i < v->place_count;
	     i++) {
		const struct ut_view_place *p = &v->places[i];

		if (p->tid == own->calls && p->parent == own->parent && p->track != UT_NO_TRACK &&
		    v->tracks[p->track].trace == t->trace)
			return &v->tracks[p->track];
	}
	return NULL;
}

/* What is around an event: on its own row, then, of a call, on that of its thread. */
static size_t enclosing(struct ut_view *v, const struct ut_view_row *row, struct ut_view_row *found,
			size_t most)
{
	const struct ut_view_track *thread = caller_of(v, row->track);
	struct ut_view_row when = *row;
	size_t count = parents_of(v, row, found, most);

	if (!thread)
		return count;
	when.row = UINT64_MAX;
	when.end = when.start; /* clocks of two sources agree to a microsecond, not to the end */
	return count + enclosing_spans(v, thread, &when, found + count, most - count);
}

struct self {
	uint64_t row, self;
};

static void note_self(void *ctx, const struct ut_visit *visit)
{
	struct self *s = ctx;

	if (visit->row->row == s->row)
		s->self = visit->self;
}

/* A long one by its lanes: what is directly in it lies on the next one. */
static uint64_t self_by_lanes(const struct ut_view_row *row)
{
	const struct ut_view_track *t = row->track;
	const struct ut_picture window = { .t0 = ut_view_ts(t, row->start),
					   .t1 = ut_view_ts(t, row->end),
					   .pixels = 1 };
	struct ut_cell cell = { 0 };
	uint64_t entry, length = row->end - row->start;
	uint32_t lane = ut_view_lane(t, row->row, &entry);

	if (lane + 1 < t->lanes->count && t->lanes->lanes[lane + 1].kind == UT_LANE_SPANS)
		ut_pyramid_window(t->trace->store, t->local, lane + 1, &window, &cell);
	return cell.busy < length ? length - cell.busy : 0;
}

uint64_t ut_view_self(struct ut_view *v, const struct ut_view_row *row)
{
	uint32_t track = (uint32_t)(row->track - v->tracks);
	struct ut_ask_range range = { row->start, row->end };
	struct ut_ask_scope scope = { .ranges = &range,
				      .range_count = 1,
				      .has_ranges = true,
				      .tracks = &track,
				      .track_count = 1,
				      .has_tracks = true };
	uint64_t rows = ut_rows_find(row->track->rows, ut_view_ts(row->track, row->end)) - row->row;
	struct self self = { .row = row->row };
	struct ut_search_query query;

	if (v->classes[row->type] != UT_CLASS_WORK)
		return 0;
	if (rows <= 1 || row->end == row->start)
		return row->end - row->start;
	if (rows > WALK_ROWS)
		return self_by_lanes(row);
	if (ut_search_query_init(&query, v, (struct ut_str){ "", 0 }, &scope, NULL))
		return 0;
	ut_view_walk(v, &scope, &query, note_self, &self);
	ut_search_query_release(&query);
	return self.self;
}

/* ---- detail --------------------------------------------------------------------------------- */

/* "net.py:14": where a function says that it is. */
static void single_put_line(struct ut_out *out, const struct ut_view_row *row)
{
	struct ut_buf file = { 0 }, line = { 0 };

	if (ut_view_args_text(row, ut_str_of("file"), &file) &&
	    ut_view_args_text(row, ut_str_of("line"), &line)) {
		struct ut_buf at = { 0 };

		ut_buf_fmt(&at, "%s:%.*s", ut_path_base(file.data), (int)line.len, line.data);
		ut_out_text(out, ",\"at\":");
		ut_out_json_str(out, at.data, at.len);
		ut_buf_release(&at);
	}
	ut_buf_release(&file);
	ut_buf_release(&line);
}

static void put_role(struct ut_out *out, const struct ut_view *v, const struct ut_view_row *row)
{
	const char *role = role_of(ut_view_type_cat(v, row->type), ut_view_type_name(v, row->type));

	ut_put_ref(out, v, row, 1);
	ut_out_fmt(out, ",\"role\":\"%s\"", role);
	if (!strcmp(role, "Python"))
		single_put_line(out, row);
	ut_out_text(out, "}");
}

/* Python's own code and that of packages is passed over if there is some of the user's around. */
static bool single_is_library(const struct ut_view_row *row)
{
	struct ut_buf file = { 0 };
	bool is = ut_view_args_text(row, ut_str_of("file"), &file) &&
		  ut_is_library_file((struct ut_str){ file.data, file.len });

	ut_buf_release(&file);
	return is;
}

/* Of those around an event the innermost of each role, the outermost first. */
static size_t put_causes(struct ut_view *v, const struct ut_view_row *row, struct ut_out *out)
{
	static const char *const all[] = { "Python", "Kernel", "Call", "Op", "Message", "Task" };
	struct ut_view_row found[PARENTS_MOST];
	size_t count = enclosing(v, row, found, PARENTS_MOST), chosen[6], n = 0;

	for (size_t r = 0; r < 6; r++)
		chosen[r] = SIZE_MAX;
	for (size_t i = 0; i < count; i++) {
		const char *role = role_of(ut_view_type_cat(v, found[i].type),
					   ut_view_type_name(v, found[i].type));

		for (size_t r = 0; r < 6; r++) {
			if (strcmp(role, all[r]) != 0)
				continue;
			if (chosen[r] == SIZE_MAX ||
			    (r == 0 && single_is_library(&found[chosen[0]]) &&
			     !single_is_library(&found[i])))
				chosen[r] = i;
		}
	}
	for (size_t i = count; i--;) {
		bool is = false;

		for (size_t r = 0; r < 6; r++)
			is |= chosen[r] == i;
		if (!is)
			continue;
		ut_out_text(out, n++ ? "," : "");
		put_role(out, v, &found[i]);
	}
	return n;
}

/* What led to an event and what it led to: around its cause, the cause, itself, its effects. */
static void put_chain(struct ut_view *v, const struct ut_view_row *row, struct ut_out *out)
{
	uint64_t id = ut_view_id(v, row->track, row->row), effects[EFFECTS_MOST], cause;
	size_t before = ut_view_arrows_of(v, id, false, &cause, 1);
	size_t after = ut_view_arrows_of(v, id, true, effects, EFFECTS_MOST), led;
	struct ut_view_row other;

	ut_out_text(out, ",\"chain\":[");
	if (before && ut_view_find(v, cause, &other)) {
		led = put_causes(v, &other, out);
		ut_out_text(out, led ? "," : "");
		put_role(out, v, &other);
		led++;
	} else {
		led = put_causes(v, row, out);
	}
	if (led || after) {
		ut_out_text(out, led ? "," : "");
		put_role(out, v, row);
	}
	for (size_t i = 0; i < after; i++) {
		if (!ut_view_find(v, effects[i], &other))
			continue;
		ut_out_text(out, ",");
		put_role(out, v, &other);
	}
	ut_out_text(out, "]");
}

static void put_arrows(struct ut_view *v, uint64_t id, bool leaving, struct ut_out *out)
{
	uint64_t others[ARROWS_MOST];
	size_t count = ut_view_arrows_of(v, id, leaving, others, ARROWS_MOST);
	struct ut_view_row row;

	ut_out_text(out, leaving ? ",\"after\":[" : ",\"before\":[");
	for (size_t i = 0; i < count; i++) {
		if (!ut_view_find(v, others[i], &row))
			continue;
		ut_out_text(out, i ? "," : "");
		ut_put_ref(out, v, &row, 0);
	}
	ut_out_text(out, "]");
}

static void put_args(const struct ut_view_row *row, struct ut_out *out)
{
	struct ut_view_args args = { 0 };
	struct ut_str key;

	ut_view_args_get(&args, row);
	ut_out_text(out, ",\"args\":[");
	for (size_t i = 0; i < args.count;) {
		struct ut_buf text = { 0 };

		ut_out_text(out, i ? ",[" : "[");
		i += ut_view_args_next(&args, i, &key, &text);
		ut_out_json_str(out, key.ptr, key.len);
		ut_out_text(out, ",");
		ut_out_json_str(out, text.data ? text.data : "", text.len);
		ut_out_text(out, "]");
		ut_buf_release(&text);
	}
	ut_out_text(out, "]");
	free(args.items);
}

static void put_parents(struct ut_view *v, const struct ut_view_row *row, struct ut_out *out)
{
	struct ut_view_row parents[PARENTS_MOST];
	size_t count = parents_of(v, row, parents, PARENTS_MOST);

	ut_out_text(out, ",\"parents\":[");
	for (size_t i = count; i--;) {
		ut_out_text(out, i + 1 < count ? "," : "");
		ut_put_ref(out, v, &parents[i], 0);
	}
	ut_out_text(out, "]");
}

/* How many have the name, and which of them this is, in order of time. */
static void put_same(struct ut_view *v, const struct ut_view_row *row, struct ut_out *out)
{
	const struct ut_ask_scope all = { 0 };
	struct ut_search_query query;
	struct ut_view_matches matches = { 0 };
	struct ut_view_matches_ask ask = { .scope = &all, .query = &query, .lengths = true };

	ask.here = (struct ut_view_match){ row->start, ut_view_id(v, row->track, row->row) };
	if (!ut_search_query_init_name(&query, v, ut_view_type_name(v, row->type), &all, NULL)) {
		ut_view_matches_find(&matches, v, &ask);
		ut_search_query_release(&query);
	}
	ut_out_fmt(out, ",\"nth\":%llu,\"ofName\":%llu,\"ofNameTotal\":%llu",
		   (unsigned long long)matches.before + 1, (unsigned long long)matches.count,
		   (unsigned long long)matches.total);
	ut_view_matches_release(&matches);
}

int ut_answer_detail(struct ut_view *v, const struct ut_ask *a, struct ut_out *out,
		     struct ut_err *err)
{
	struct ut_view_row row;
	uint64_t entry;
	uint32_t lane;
	bool mark;

	(void)err;
	if (!ut_view_find(v, a->id, &row)) {
		ut_out_text(out, "null");
		return 0;
	}
	lane = ut_view_lane(row.track, row.row, &entry);
	mark = v->classes[row.type] == UT_CLASS_MARK || v->classes[row.type] == UT_CLASS_SAMPLE;
	ut_put_ref(out, v, &row, 1);
	ut_out_fmt(out, ",\"track\":%u,\"lane\":%u,\"depth\":%u,\"type\":%u,\"kind\":\"%s\"",
		   (unsigned int)(row.track - v->tracks), lane, lane, row.type,
		   mark ? "mark" : "span");
	ut_out_text(out, ",\"self\":");
	if (v->classes[row.type] == UT_CLASS_WORK)
		ut_out_u64(out, ut_view_self(v, &row));
	else
		ut_out_text(out, "null");
	ut_out_fmt(out, ",\"unfinished\":%s",
		   ut_view_type_flags(v, row.type) & UT_EV_UNFINISHED && !mark ? "true" : "false");
	put_args(&row, out);
	put_parents(v, &row, out);
	put_chain(v, &row, out);
	put_arrows(v, a->id, false, out);
	put_arrows(v, a->id, true, out);
	put_same(v, &row, out);
	ut_out_text(out, "}");
	return 0;
}

/* ---- at and step ---------------------------------------------------------------------------- */

/* The event of a lane at a time, or the nearest one not further away than slack. */
int ut_answer_at(struct ut_view *v, const struct ut_ask *a, struct ut_out *out, struct ut_err *err)
{
	const struct ut_view_track *t = a->track < v->track_count ? &v->tracks[a->track] : NULL;
	uint32_t lane = a->lane < UINT32_MAX ? (uint32_t)a->lane : UINT32_MAX;
	double from = a->t - a->slack, away = INFINITY;
	struct ut_view_row row, best;

	(void)err;
	if (!t || lane >= t->lanes->count || t->lanes->lanes[lane].kind == UT_LANE_COUNTER) {
		ut_out_text(out, "null");
		return 0;
	}
	for (uint64_t i = ut_lane_seek(t->trace->store, t->local, lane,
				       ut_view_ts(t, from > 0 ? (uint64_t)from : 0));
	     i < t->lanes->lanes[lane].count; i++) {
		struct ut_entry e;
		double distance;

		if (!ut_lane_entry(t->trace->store, t->local, lane, i, &e) ||
		    !ut_view_row(v, t, e.row, &row))
			break;
		distance = fmax(0, fmax((double)row.start - a->t, a->t - (double)row.end));
		if ((double)row.start > a->t + a->slack || distance > away)
			break;
		if (distance > a->slack)
			continue;
		best = row;
		away = distance;
	}
	if (away < INFINITY)
		ut_put_ref(out, v, &best, 0);
	else
		ut_out_text(out, "null");
	return 0;
}

static bool step_name(struct ut_view *v, const struct ut_view_row *row, int by, uint64_t *id)
{
	const struct ut_ask_scope all = { 0 };
	struct ut_search_query query;
	struct ut_view_matches matches;
	struct ut_view_matches_ask ask = { .scope = &all, .query = &query };
	bool found;

	ask.here = (struct ut_view_match){ row->start, ut_view_id(v, row->track, row->row) };
	if (ut_search_query_init_name(&query, v, ut_view_type_name(v, row->type), &all, NULL))
		return false;
	ut_view_matches_find(&matches, v, &ask);
	found = by > 0 ? matches.has_next : matches.has_previous;
	*id = by > 0 ? matches.next.id : matches.previous.id;
	ut_view_matches_release(&matches);
	ut_search_query_release(&query);
	return found;
}

static bool step_track(const struct ut_view *v, const struct ut_view_row *row, int by, uint64_t *id)
{
	const struct ut_view_track *t = row->track;
	uint64_t entry;
	uint32_t lane = ut_view_lane(t, row->row, &entry);
	struct ut_entry e;

	if (lane >= t->lanes->count || (by < 0 && !entry) ||
	    !ut_lane_entry(t->trace->store, t->local, lane, by > 0 ? entry + 1 : entry - 1, &e))
		return false;
	*id = ut_view_id(v, t, e.row);
	return true;
}

int ut_answer_step(struct ut_view *v, const struct ut_ask *a, struct ut_out *out,
		   struct ut_err *err)
{
	struct ut_view_row row;
	uint64_t id = 0;
	bool found = false;

	(void)err;
	if (ut_view_find(v, a->id, &row)) {
		if (ut_ask_is(a->along, "flow"))
			found = ut_view_arrows_of(v, a->id, a->by > 0, &id, 1) > 0;
		else if (ut_ask_is(a->along, "name"))
			found = step_name(v, &row, a->by, &id);
		else
			found = step_track(v, &row, a->by, &id);
	}
	if (found)
		ut_out_u64(out, id);
	else
		ut_out_text(out, "null");
	return 0;
}
