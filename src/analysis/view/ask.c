#include "view/ask.h"

#include <errno.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/json.h"

/* More than any screen has, and less than what would hurt. */
#define LANES_MOST  8192u
#define RANGES_MOST 4096u
#define TRACKS_MOST (1u << 20)
#define KEYS_MOST   16u
#define TIME_MOST   4611686018427387904.0 /* 2^62 */
#define EXACT       9007199254740992.0    /* 2^53: numbers of the page are whole up to here */

enum what {
	REAL,
	TIME, /* ns, cut to what a 64-bit number holds with room for a sum */
	COUNT,
	SIGN,
	FLAG,
	TEXT,
	LANES,
	RANGES,
	TRACKS,
	SCOPE,
	NOTE,
	FROM
};

struct member {
	const char *name;
	enum what what;
	size_t at;
};

#define AT(name, what)                                                                             \
	{                                                                                          \
#name, what, offsetof(struct ut_ask, name)                                         \
	}
#define IN(part, name, what)                                                                       \
	{                                                                                          \
#name, what, offsetof(struct ut_ask, part.name)                                    \
	}

static const struct member asked[] = {
	AT(t0, TIME),     AT(t1, TIME),        AT(t, TIME),       AT(slack, TIME),
	AT(low, REAL),    AT(high, REAL),      AT(pixels, COUNT), AT(first, COUNT),
	AT(limit, COUNT), AT(id, COUNT),       AT(from, FROM),    AT(track, COUNT),
	AT(lane, COUNT),  AT(bins, COUNT),     AT(nodes, COUNT),  AT(by, SIGN),
	AT(self, FLAG),   AT(log, FLAG),       AT(gone, FLAG),    AT(along, TEXT),
	AT(query, TEXT),  AT(name, TEXT),      AT(group, TEXT),   AT(argument, TEXT),
	AT(kind, TEXT),   AT(text, TEXT),      AT(lanes, LANES),  { "tracks", TRACKS, 0 },
	AT(scope, SCOPE), { "note", NOTE, 0 }, AT(tool, TEXT),    AT(event, TEXT),
	AT(module, TEXT), { NULL, REAL, 0 },
};

static const struct member of_scope[] = {
	{ "ranges", RANGES, 0 },
	{ "tracks", TRACKS, 0 },
	IN(scope, query, TEXT),
	{ NULL, REAL, 0 },
};

static const struct member of_note[] = {
	IN(note, id, TEXT), IN(note, text, TEXT), IN(note, t0, REAL),
	IN(note, t1, REAL), { NULL, REAL, 0 },
};

struct reader {
	struct ut_json j;
	struct ut_ask *ask;
	bool bad; /* JSON, but not what is asked like this */
};

/* ---- values --------------------------------------------------------------------------------- */

static bool ask_read_number(struct reader *r, double *to)
{
	struct ut_json_number n;
	struct ut_str span;

	if (!ut_json_skip(&r->j, &span))
		return false;
	if (ut_json_number(span, &n) == UT_JSON_NOT || !isfinite(n.f64)) {
		r->bad = true;
		return false;
	}
	*to = n.f64;
	return true;
}

static bool read_time(struct reader *r, double *to)
{
	if (!ask_read_number(r, to))
		return false;
	*to = fmax(-TIME_MOST, fmin(*to, TIME_MOST));
	return true;
}

static bool read_count(struct reader *r, uint64_t *to)
{
	double value;

	if (!ask_read_number(r, &value))
		return false;
	*to = value <= 0 ? 0 : value >= EXACT ? (uint64_t)EXACT : (uint64_t)value;
	return true;
}

static bool read_u32(struct reader *r, uint32_t *to)
{
	uint64_t value;

	if (!read_count(r, &value))
		return false;
	*to = value < UINT32_MAX ? (uint32_t)value : UINT32_MAX;
	return true;
}

static bool ask_read_text(struct reader *r, struct ut_str *to)
{
	struct ut_str raw;
	char *text;

	if (ut_json_peek(&r->j) != '"')
		r->bad = true;
	if (r->bad || !ut_json_string(&r->j, &raw))
		return false;
	text = ut_arena_alloc(&r->ask->arena, raw.len + 1, 1);
	to->len = ut_json_decode(raw, text);
	to->ptr = text;
	return true;
}

static bool read_flag(struct reader *r, bool *to)
{
	struct ut_str span;

	if (!ut_json_skip(&r->j, &span))
		return false;
	*to = span.len == 4 && !memcmp(span.ptr, "true", 4);
	r->bad |= !*to && (span.len != 5 || memcmp(span.ptr, "false", 5) != 0);
	return !r->bad;
}

static bool skip(struct reader *r)
{
	return ut_json_skip(&r->j, NULL);
}

/* Into an array; false if the value is none. */
static bool ask_enter(struct reader *r, char bracket)
{
	if (ut_json_peek(&r->j) != bracket) {
		r->bad = true;
		return false;
	}
	ut_json_enter(&r->j);
	return true;
}

static bool ended(const struct reader *r)
{
	return !r->bad && r->j.trouble == UT_JSON_NONE;
}

/* ---- lists ---------------------------------------------------------------------------------- */

/* [a, b] */
static bool read_pair(struct reader *r, double pair[2])
{
	if (!ask_enter(r, '['))
		return false;
	for (int i = 0; i < 2; i++) {
		if (!ut_json_element(&r->j)) {
			r->bad |= r->j.trouble == UT_JSON_NONE;
			return false;
		}
		if (!ask_read_number(r, &pair[i]))
			return false;
	}
	if (ut_json_element(&r->j))
		r->bad = true;
	return ended(r);
}

static uint32_t to_u32(double value)
{
	return value >= 0 && value < UINT32_MAX ? (uint32_t)value : UINT32_MAX;
}

static bool read_lanes(struct reader *r)
{
	struct ut_ask *a = r->ask;
	double pair[2];

	if (!ask_enter(r, '['))
		return false;
	while (ut_json_element(&r->j)) {
		r->bad |= a->lane_count == LANES_MOST;
		if (r->bad || !read_pair(r, pair))
			return false;
		a->lanes = ut_grow(a->lanes, a->lane_count + 1, &a->lane_cap, sizeof(*a->lanes));
		a->lanes[a->lane_count++] =
			(struct ut_ask_lane){ to_u32(pair[0]), to_u32(pair[1]) };
	}
	return ended(r);
}

static uint64_t to_time(double value)
{
	return value <= 0 ? 0 : value >= EXACT ? (uint64_t)EXACT : (uint64_t)ceil(value);
}

/* Whole ns: what begins inside of the fraction of one is not in the range. */
static bool read_ranges(struct reader *r)
{
	struct ut_ask_scope *s = &r->ask->scope;
	double pair[2];

	s->has_ranges = true;
	if (!ask_enter(r, '['))
		return false;
	while (ut_json_element(&r->j)) {
		uint64_t before = s->range_count ? s->ranges[s->range_count - 1].to : 0;
		struct ut_ask_range range;

		r->bad |= s->range_count == RANGES_MOST;
		if (r->bad || !read_pair(r, pair))
			return false;
		range = (struct ut_ask_range){ to_time(pair[0]), to_time(pair[1]) };
		if (range.from < before) {
			r->bad = true;
			return false;
		}
		if (range.to <= range.from)
			continue;
		s->ranges =
			ut_grow(s->ranges, s->range_count + 1, &s->range_cap, sizeof(*s->ranges));
		s->ranges[s->range_count++] = range;
	}
	return ended(r);
}

static bool read_tracks(struct reader *r)
{
	struct ut_ask_scope *s = &r->ask->scope;

	s->has_tracks = true;
	if (!ask_enter(r, '['))
		return false;
	while (ut_json_element(&r->j)) {
		r->bad |= s->track_count == TRACKS_MOST;
		s->tracks =
			ut_grow(s->tracks, s->track_count + 1, &s->track_cap, sizeof(*s->tracks));
		if (r->bad || !read_u32(r, &s->tracks[s->track_count++]))
			return false;
	}
	return ended(r);
}

/* ---- objects -------------------------------------------------------------------------------- */

static bool read_object(struct reader *r, const struct member *members);

static bool read_keys(struct reader *r)
{
	struct ut_ask *a = r->ask;

	ut_json_enter(&r->j);
	while (ut_json_element(&r->j)) {
		r->bad |= a->key_count == KEYS_MOST;
		a->keys = ut_grow(a->keys, a->key_count + 1, &a->key_cap, sizeof(*a->keys));
		if (r->bad || !ask_read_text(r, &a->keys[a->key_count++]))
			return false;
	}
	return ended(r);
}

/* Which way; or, of a table, by what. */
static bool read_sign(struct reader *r, int *to)
{
	double value;

	if (ut_json_peek(&r->j) == '[')
		return read_keys(r);
	if (!ask_read_number(r, &value))
		return false;
	*to = value < 0 ? -1 : 1;
	return true;
}

static bool read_from(struct reader *r)
{
	if (ut_json_peek(&r->j) == 'n') /* null: from nowhere */
		return skip(r);
	r->ask->has_from = true;
	return read_count(r, &r->ask->from);
}

static bool ask_read_value(struct reader *r, const struct member *m)
{
	void *to = (char *)r->ask + m->at;

	switch (m->what) {
	case REAL:
		return ask_read_number(r, to);
	case TIME:
		return read_time(r, to);
	case COUNT:
		return read_count(r, to);
	case SIGN:
		return read_sign(r, to);
	case FLAG:
		return read_flag(r, to);
	case TEXT:
		return ask_read_text(r, to);
	case LANES:
		return read_lanes(r);
	case RANGES:
		return read_ranges(r);
	case TRACKS:
		return read_tracks(r);
	case SCOPE:
		return read_object(r, of_scope);
	case NOTE:
		return read_object(r, of_note);
	case FROM:
		break;
	}
	return read_from(r);
}

static bool read_object(struct reader *r, const struct member *members)
{
	struct ut_str key;

	if (!ask_enter(r, '{'))
		return false;
	while (ut_json_member(&r->j, &key)) {
		const struct member *m = members;

		while (m->name && (strlen(m->name) != key.len || memcmp(m->name, key.ptr, key.len)))
			m++;
		if (m->name ? !ask_read_value(r, m) : !skip(r))
			return false;
	}
	return ended(r);
}

int ut_ask_read(struct ut_ask *a, const char *json, size_t len, struct ut_err *err)
{
	struct reader r = { .ask = a };
	bool read;

	*a = (struct ut_ask){ .low = NAN, .high = NAN, .by = 1 };
	ut_json_init_text(&r.j, json, len);
	read = read_object(&r, asked) && !ut_json_peek(&r.j);
	ut_json_release(&r.j);
	if (read)
		return 0;
	ut_ask_release(a);
	return ut_err_set(err, -EINVAL, "this is not how the question is asked");
}

void ut_ask_release(struct ut_ask *a)
{
	free(a->lanes);
	free(a->keys);
	free(a->scope.ranges);
	free(a->scope.tracks);
	ut_arena_release(&a->arena);
	*a = (struct ut_ask){ 0 };
}
