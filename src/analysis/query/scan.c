#include "query/scan.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "query/owner.h"
#include "query/scan_parts.h"

void ut_scan_init(struct ut_scan *s, struct ut_traces *traces, uint32_t kinds)
{
	*s = (struct ut_scan){ .traces = traces, .kinds = kinds };
	s->pass = ut_make((traces->count + 1) * sizeof(*s->pass));
	ut_scan_clear(s);
}

static void forget_passes(struct ut_scan *s)
{
	for (size_t i = 0; i < s->traces->count; i++) {
		free(s->pass[i]);
		s->pass[i] = NULL;
	}
}

void ut_scan_clear(struct ut_scan *s)
{
	for (size_t i = 0; i < s->count; i++)
		ut_match_release(&s->conditions[i].match);
	if (s->on_types)
		forget_passes(s);
	ut_scan_end_merge(s);
	ut_scan_end_groups(s);
	s->count = 0;
	s->on_types = s->on_rows = false;
	s->ts_low = s->row_low = 0;
	s->ts_high = s->row_high = UINT64_MAX;
	s->list = NULL;
	s->first_track = 0;
	s->track_count = (uint32_t)s->traces->track_count;
}

void ut_scan_release(struct ut_scan *s)
{
	ut_scan_clear(s);
	forget_passes(s);
	free(s->pass);
	*s = (struct ut_scan){ 0 };
}

/* ---- conditions that say where to look ----------------------------------------------------- */

static void nowhere(struct ut_scan *s)
{
	s->track_count = 0;
}

static void only_tracks(struct ut_scan *s, const uint32_t *list, uint32_t first, uint32_t count)
{
	s->list = list;
	s->first_track = first;
	s->track_count = count;
}

static bool visits(const struct ut_scan *s, uint32_t track)
{
	if (!s->list)
		return track >= s->first_track && track - s->first_track < s->track_count;
	for (uint32_t i = 0; i < s->track_count; i++) {
		if (s->list[i] == track)
			return true;
	}
	return false;
}

static void narrow_to_track(struct ut_scan *s, uint32_t track)
{
	if (visits(s, track))
		only_tracks(s, NULL, track, 1);
	else
		nowhere(s);
}

static void narrow_to_rows(struct ut_scan *s, uint64_t low, uint64_t high)
{
	s->row_low = low > s->row_low ? low : s->row_low;
	s->row_high = high < s->row_high ? high : s->row_high;
}

/* One row. */
static void narrow_to_id(struct ut_scan *s, int64_t id)
{
	struct ut_place p;

	if (id < 0 || !ut_traces_find(s->traces, (uint64_t)id, &p)) {
		nowhere(s);
		return;
	}
	narrow_to_track(s, (uint32_t)(p.track - s->traces->tracks));
	narrow_to_rows(s, p.row, p.row + 1);
}

static void narrow_to_owner(struct ut_scan *s, int64_t set)
{
	uint64_t id;

	narrow_to_id(s, ut_owner_find(s->traces, set, &id) ? ut_datum_clamp(id) : -1);
}

/* Children lie behind their parent and begin before it ends. */
static void narrow_to_children(struct ut_scan *s, int64_t parent)
{
	struct ut_place p;
	uint64_t end;

	if (parent < 0 || !ut_traces_find(s->traces, (uint64_t)parent, &p)) {
		nowhere(s);
		return;
	}
	end = ut_place_end(s->traces, &p);
	narrow_to_track(s, (uint32_t)(p.track - s->traces->tracks));
	narrow_to_rows(s, p.row + 1,
		       end == UINT64_MAX ? UINT64_MAX : ut_traces_lower(p.track, end + 1));
}

static void narrow_to_ts(struct ut_scan *s, int64_t low, int64_t high)
{
	uint64_t to = high == INT64_MAX ? UINT64_MAX : (uint64_t)high; /* see ut_datum_clamp() */

	if (low > high || high < 0) {
		nowhere(s);
		return;
	}
	if (low > 0 && (uint64_t)low > s->ts_low)
		s->ts_low = (uint64_t)low;
	s->ts_high = to < s->ts_high ? to : s->ts_high;
}

/* Does a row fulfil the condition just by where it lies? */
static bool ordered_by_place(enum ut_field f)
{
	return f == UT_FIELD_ID || f == UT_FIELD_ARG_SET || f == UT_FIELD_TS;
}

static void narrow_by_row(struct ut_scan *s, enum ut_field field, int64_t low, int64_t high)
{
	if (low > high)
		nowhere(s);
	else if (field == UT_FIELD_ID)
		narrow_to_id(s, low);
	else if (field == UT_FIELD_ARG_SET)
		narrow_to_owner(s, low);
	else if (field == UT_FIELD_PARENT)
		narrow_to_children(s, low);
	else if (field == UT_FIELD_TS)
		narrow_to_ts(s, low, high);
	s->on_rows |= !ordered_by_place(field);
}

/* The ids are checked again, track by track; this only saves the looking. */
static void narrow_by_track(struct ut_scan *s, enum ut_field field, const struct ut_match *match)
{
	const struct ut_traces *t = s->traces;
	int64_t low, high;

	if (match->op != UT_OP_EQ || s->track_count < t->track_count)
		return;
	ut_match_range(match, &low, &high);
	if (field == UT_FIELD_TRACK || field == UT_FIELD_UTID) {
		if (low < 0 || low > high || (uint64_t)low >= t->track_count)
			nowhere(s);
		else
			only_tracks(s, NULL, (uint32_t)low, 1);
	} else if (field == UT_FIELD_UPID) {
		if (low < 0 || low > high || (uint64_t)low >= t->process_count)
			nowhere(s);
		else
			only_tracks(s, t->by_process + t->processes[low].first, 0,
				    t->processes[low].count);
	} else if (field == UT_FIELD_TRACE) {
		if (low < 0 || low > high || (uint64_t)low >= t->count)
			nowhere(s);
		else
			only_tracks(s, NULL, t->traces[low].first_track,
				    (uint32_t)t->traces[low].store->trace.track_count);
	}
}

void ut_scan_add(struct ut_scan *s, enum ut_field field, struct ut_match *match)
{
	struct ut_scan_condition *c = &s->conditions[s->count++];

	*c = (struct ut_scan_condition){ .field = field, .match = *match };
	*match = (struct ut_match){ 0 };
	switch (ut_field_level(field)) {
	case UT_LEVEL_ROW:
		ut_match_range(&c->match, &c->low, &c->high);
		narrow_by_row(s, field, c->low, c->high);
		break;
	case UT_LEVEL_TYPE:
		if (!s->on_types)
			forget_passes(s);
		s->on_types = true;
		break;
	case UT_LEVEL_TRACK:
		narrow_by_track(s, field, &c->match);
		break;
	}
}

/* ---- tracks and types ---------------------------------------------------------------------- */

static bool type_passes(const struct ut_scan *s, const struct ut_qtrace *trace, uint32_t type)
{
	uint8_t kind = ut_store_type(trace->store, type)->kind;

	if (kind >= UT_KIND_COUNT || !(s->kinds >> kind & 1))
		return false;
	for (size_t i = 0; i < s->count; i++) {
		const struct ut_scan_condition *c = &s->conditions[i];
		struct ut_datum cell;

		if (ut_field_level(c->field) != UT_LEVEL_TYPE)
			continue;
		cell = ut_field_of_type(trace, type, c->field);
		if (!ut_match_datum(&c->match, &cell))
			return false;
	}
	return true;
}

const uint8_t *ut_scan_passes(struct ut_scan *s, uint32_t trace)
{
	const struct ut_qtrace *q = &s->traces->traces[trace];
	uint32_t types = q->store->types.count;

	if (!s->pass[trace]) {
		s->pass[trace] = ut_make(types + 1);
		for (uint32_t i = 0; i < types; i++)
			s->pass[trace][i] = type_passes(s, q, i);
	}
	return s->pass[trace];
}

static bool track_passes(const struct ut_scan *s, const struct ut_qtrack *track)
{
	for (size_t i = 0; i < s->count; i++) {
		const struct ut_scan_condition *c = &s->conditions[i];
		struct ut_datum cell;

		if (ut_field_level(c->field) != UT_LEVEL_TRACK)
			continue;
		cell = ut_field_of_track(s->traces, track, c->field);
		if (!ut_match_datum(&c->match, &cell))
			return false;
	}
	return true;
}

/* The rows of a track that can be wanted: [*low, *high). */
static void rows_in_time(const struct ut_scan *s, const struct ut_qtrack *track, uint64_t *low,
			 uint64_t *high)
{
	uint64_t count = track->rows->count;

	*low = s->ts_low ? ut_traces_lower(track, s->ts_low) : 0;
	*high = s->ts_high < UINT64_MAX ? ut_traces_lower(track, s->ts_high + 1) : count;
	*low = s->row_low > *low ? s->row_low : *low;
	*high = s->row_high < *high ? s->row_high : *high;
}

/* The next track with rows that can be wanted; false if there is none. */
bool ut_scan_next_track(struct ut_scan *s, uint32_t *track, uint64_t *low, uint64_t *high)
{
	while (s->track_at < s->track_count) {
		uint32_t at = s->list ? s->list[s->track_at] : s->first_track + s->track_at;
		const struct ut_qtrack *k = &s->traces->tracks[at];

		s->track_at++;
		if (!k->rows->count || k->rows->last < s->ts_low || !track_passes(s, k))
			continue;
		rows_in_time(s, k, low, high);
		if (*low < *high) {
			*track = at;
			return true;
		}
	}
	return false;
}

/* ---- rows ---------------------------------------------------------------------------------- */

bool ut_scan_row_passes(const struct ut_scan *s, const struct ut_place *p)
{
	for (size_t i = 0; i < s->count; i++) {
		const struct ut_scan_condition *c = &s->conditions[i];
		int64_t value;

		if (ut_field_level(c->field) != UT_LEVEL_ROW || ordered_by_place(c->field))
			continue;
		value = ut_field_of_row(s->traces, p, c->field);
		if (value < c->low || value > c->high)
			return false;
	}
	return true;
}

static void pick_by_row(struct ut_scan *s)
{
	struct ut_place p = s->at;
	uint64_t first = p.row - p.i;
	uint32_t n = 0;

	for (uint32_t k = 0; k < s->picked_count; k++) {
		p.i = s->picked[k];
		p.row = first + p.i;
		s->picked[n] = s->picked[k];
		n += ut_scan_row_passes(s, &p);
	}
	s->picked_count = n;
}

/* The wanted ones among the next rows of the track. */
static void pick(struct ut_scan *s)
{
	uint32_t track = (uint32_t)(s->at.track - s->traces->tracks), n = 0;
	const uint8_t *pass = ut_scan_passes(s, s->at.track->trace);
	uint32_t types = s->at.trace->store->types.count, from, to;

	ut_traces_place(s->traces, track, s->row_next, &s->at);
	from = s->at.i;
	to = s->at.block->count - from < UT_SCAN_BATCH ? s->at.block->count : from + UT_SCAN_BATCH;
	if (to - from > s->row_end - s->row_next)
		to = from + (uint32_t)(s->row_end - s->row_next);
	s->row_next += to - from;
	for (uint32_t i = from; i < to; i++) {
		uint32_t type = s->at.block->type[i];

		s->picked[n] = (uint16_t)i;
		n += pass[type < types ? type : 0];
	}
	s->picked_count = n;
	s->picked_at = 0;
	if (n && s->on_rows)
		pick_by_row(s);
}

void ut_scan_start(struct ut_scan *s)
{
	ut_scan_end_merge(s);
	ut_scan_end_groups(s);
	ut_scan_rewind(s);
}

void ut_scan_rewind(struct ut_scan *s)
{
	s->track_at = 0;
	s->row_next = s->row_end = 0;
	s->picked_at = s->picked_count = 0;
}

static int next_batch(struct ut_scan *s)
{
	do {
		uint32_t track;

		if (s->traces->stop)
			return -EINTR;
		if (s->row_next >= s->row_end) {
			if (!ut_scan_next_track(s, &track, &s->row_next, &s->row_end))
				return 0;
			ut_traces_place(s->traces, track, s->row_next, &s->at);
		}
		pick(s);
	} while (!s->picked_count);
	return 1;
}

int ut_scan_step(struct ut_scan *s)
{
	if (s->picked_at == s->picked_count) {
		int rc = next_batch(s);

		if (rc <= 0)
			return rc;
	}
	s->at.row += s->picked[s->picked_at];
	s->at.row -= s->at.i;
	s->at.i = s->picked[s->picked_at++];
	return 1;
}

int ut_scan_next(struct ut_scan *s)
{
	if (s->groups)
		return ut_scan_next_grouped(s);
	return s->merge ? ut_scan_next_merged(s) : ut_scan_step(s);
}
