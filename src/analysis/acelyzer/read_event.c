/*
 * read_event.c - one event: its members in any order, begins paired with their ends.
 */
#include "acelyzer/read_event.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/str.h"

#define MOST_EXTRA 32 /* further members of an event that are kept */
#define MOST_DEEP  64 /* open begins of a thread that an end is compared with */

enum field {
	NAME,
	PH,
	TS,
	DUR,
	PID,
	TID,
	CAT,
	ARGS,
	ATTR,
	FIELDS,
};

/* An event as text. */
struct raw {
	struct ut_str field[FIELDS]; /* at = NULL: not there */
	struct ut_str key[MOST_EXTRA], value[MOST_EXTRA];
	size_t extra;
	bool args_read; /* the arguments are in the reader already */
};

static enum field field_of(struct ut_str key)
{
	switch (key.len) {
	case 2:
		if (!memcmp(key.ptr, "ph", 2))
			return PH;
		return memcmp(key.ptr, "ts", 2) ? FIELDS : TS;
	case 3:
		if (!memcmp(key.ptr, "pid", 3))
			return PID;
		if (!memcmp(key.ptr, "tid", 3))
			return TID;
		if (!memcmp(key.ptr, "dur", 3))
			return DUR;
		return memcmp(key.ptr, "cat", 3) ? FIELDS : CAT;
	case 4:
		if (!memcmp(key.ptr, "name", 4))
			return NAME;
		if (!memcmp(key.ptr, "args", 4))
			return ARGS;
		return memcmp(key.ptr, "attr", 4) ? FIELDS : ATTR;
	default:
		return FIELDS;
	}
}

/*
 * Steps over the members. Arguments usually come first and are most of the text: they are read on
 * the way, unless the event before was a begin; then this one is its end, and nobody asks for its
 * arguments.
 */
static bool read_event_scan(struct ut_ace_reader *r, struct raw *raw)
{
	struct ut_json *j = &r->json;
	struct ut_str key, value;
	enum field f;
	int lists = 0;

	for (int i = 0; i < FIELDS; i++)
		raw->field[i].ptr = NULL;
	raw->extra = 0;
	raw->args_read = false;
	r->arg_count = 0;
	r->stamps.have = 0;
	r->stamps.hex = false;
	ut_json_enter(j);
	while (ut_json_next(j, &key)) {
		f = field_of(key);
		lists += f == ARGS || f == ATTR;
		if ((f == ARGS || f == ATTR) && *j->at == '{' && !r->last_begin && lists == 1) {
			value.ptr = j->at;
			if (!ut_ace_read_object(r))
				return false;
			value.len = (size_t)(j->at - value.ptr);
			raw->args_read = true;
		} else if (!ut_ace_step(j, &value)) {
			return false;
		}
		if (f != FIELDS) {
			raw->field[f] = value;
		} else if (raw->extra < MOST_EXTRA) {
			raw->key[raw->extra] = key;
			raw->value[raw->extra++] = value;
		}
	}
	raw->args_read &= lists == 1; /* of several the order counts: read them again later */
	return !j->trouble;
}

uint32_t ut_ace_read_string(struct ut_ace_reader *r, struct ut_str raw)
{
	size_t len;

	if (!memchr(raw.ptr, '\\', raw.len))
		return ut_strtab_intern(&r->table->strings, raw.ptr, raw.len);
	r->text = ut_grow(r->text, raw.len + 1, &r->text_cap, 1);
	len = ut_json_decode(raw, r->text);
	return ut_strtab_intern(&r->table->strings, r->text, len);
}

static bool is_string(struct ut_str v)
{
	return v.ptr && *v.ptr == '"';
}

static struct ut_str inside(struct ut_str v)
{
	return (struct ut_str){ v.ptr + 1, v.len - 2 };
}

/* A number, or text that is one. */
static bool read_double(struct ut_str v, double *out)
{
	static const double power[] = { 1,    1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8, 1e9,
					1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18 };
	struct ut_json_decimal d;
	struct ut_json_number n;

	if (is_string(v))
		v = inside(v);
	else if (ut_json_decimal(v.ptr, &d) == v.ptr + v.len && d.digits < UINT64_C(1) << 53) {
		*out = (double)d.digits / power[d.decimals];
		*out = d.negative ? -*out : *out;
		return true;
	}
	return v.len && ut_json_number(v, &n) != UT_JSON_NOT && (*out = n.f64, isfinite(n.f64));
}

/* What int() makes of text: blanks around, a sign, digits. */
static bool read_int_text(struct ut_str v, int64_t *out)
{
	char text[32], *end;

	while (v.len && (*v.ptr == ' ' || *v.ptr == '\t')) {
		v.ptr++;
		v.len--;
	}
	while (v.len && (v.ptr[v.len - 1] == ' ' || v.ptr[v.len - 1] == '\t'))
		v.len--;
	if (!v.len || v.len > 18)
		return false;
	memcpy(text, v.ptr, v.len);
	text[v.len] = 0;
	*out = strtoll(text, &end, 10);
	return !*end && end != text;
}

/* An id that is text, or some other value that is kept as proper JSON. */
static struct ut_ace_id text_id(struct ut_ace_reader *r, struct ut_str v, bool raw)
{
	struct ut_ace_id id = { .kind = raw ? UT_ACE_ID_RAW : UT_ACE_ID_STR };
	struct ut_buf b = { 0 };

	if (!raw) {
		id.str = ut_ace_read_string(r, inside(v));
		return id;
	}
	ut_json_minify(v, &b);
	id.str = ut_strtab_intern_z(&r->table->strings, b.data ? b.data : "null");
	ut_buf_release(&b);
	return id;
}

/* A whole number of up to 20 digits; false if it is none or does not fit. */
static bool read_event_read_whole(struct ut_str v, struct ut_ace_id *id)
{
	bool negative = v.len && *v.ptr == '-';
	uint64_t n = 0;

	if (v.len <= negative || v.len > 20)
		return false;
	for (size_t i = negative; i < v.len; i++) {
		if (v.ptr[i] < '0' || v.ptr[i] > '9' ||
		    __builtin_mul_overflow(n, UINT64_C(10), &n) ||
		    __builtin_add_overflow(n, (uint64_t)(v.ptr[i] - '0'), &n))
			return false;
	}
	if (negative && n > INT64_MAX)
		return false;
	id->num = (int64_t)(negative ? 0 - n : n);
	id->kind = n > INT64_MAX ? UT_ACE_ID_U64 : UT_ACE_ID_INT;
	return true;
}

static uint32_t make_id(struct ut_ace_reader *r, struct ut_str v, bool span)
{
	struct ut_ace_id id = { .kind = UT_ACE_ID_INT };
	struct ut_json_number n;

	if (is_string(v)) {
		if (!span || !read_int_text(inside(v), &id.num))
			id = text_id(r, v, false);
	} else if (!read_event_read_whole(v, &id)) {
		/* the whole part of a fraction, as int() takes it */
		if (span && ut_json_number(v, &n) == UT_JSON_F64 && fabs(n.f64) < 9e18)
			id.num = (int64_t)n.f64;
		else
			id = text_id(r, v, true);
	}
	return ut_ace_id_add(r->table, &id);
}

/*
 * A process or thread id; those of spans are made numbers where that is possible. There are few
 * different ones in a file, so their texts are remembered.
 */
static uint32_t read_id(struct ut_ace_reader *r, struct ut_str v, bool span)
{
	struct ut_ace_id_cache *c;
	size_t slot;

	if (!v.ptr || !v.len)
		return 0;
	if (v.len > sizeof(c->text) || !span)
		return make_id(r, v, span);
	slot = (v.len * 7 + (unsigned char)v.ptr[v.len - 1] +
		(unsigned char)v.ptr[v.len / 2] * 3u) %
	       UT_ACE_ID_CACHE;
	c = &r->ids[slot];
	if (c->len != v.len || memcmp(c->text, v.ptr, v.len) != 0) {
		c->id = make_id(r, v, span);
		c->len = (uint32_t)v.len;
		memcpy(c->text, v.ptr, v.len);
	}
	return c->id;
}

static void read_extra(struct ut_ace_reader *r, const struct raw *raw, struct ut_ace_event *e)
{
	if (!raw->extra)
		return;
	r->arg_count = 0;
	for (size_t i = 0; i < raw->extra; i++)
		ut_ace_read_value(r, ut_ace_read_string(r, raw->key[i]), raw->value[i]);
	e->extra = ut_arglists_add(&r->table->lists, r->args, r->arg_count);
}

static void read_arguments(struct ut_ace_reader *r, const struct raw *raw, struct ut_ace_event *e)
{
	if (!raw->args_read) {
		r->arg_count = 0;
		r->stamps.have = 0;
		if (raw->field[ARGS].ptr)
			ut_ace_read_args(r, raw->field[ARGS]);
		if (raw->field[ATTR].ptr)
			ut_ace_read_args(r, raw->field[ATTR]);
	}
	if (raw->field[ATTR].ptr)
		e->flags |= UT_ACE_IN_ATTR;
	e->flags |= UT_ACE_HAS_ARGS;
	if (r->stamps.have || r->arg_count)
		ut_ace_read_stamps(r, e->ph == 'X' || e->ph == 'B', &e->dev);
	for (size_t i = 0; i < r->arg_count; i++) {
		switch (r->args[i].key) {
		case UT_ACE_K_COLL_GROUP:
			e->flags |= UT_ACE_COLL;
			break;
		case UT_ACE_K_EXTERNAL_ID:
		case UT_ACE_K_PYTHON_ID:
			e->flags |= UT_ACE_TORCH_ID;
			break;
		case UT_ACE_K_CORRELATION:
			e->flags |= UT_ACE_CORR;
			break;
		default:
			break;
		}
	}
	e->args = ut_arglists_add(&r->table->lists, r->args, r->arg_count);
}

static void read_event_fill(struct ut_ace_reader *r, const struct raw *raw, struct ut_ace_event *e,
			    bool span)
{
	const struct ut_str *f = raw->field;

	if (is_string(f[NAME]))
		e->name = ut_ace_read_string(r, inside(f[NAME]));
	else
		e->flags |= UT_ACE_NO_NAME;
	if (!f[TS].ptr || !read_double(f[TS], &e->ts))
		e->flags |= UT_ACE_NO_TS;
	if (f[DUR].ptr && read_double(f[DUR], &e->dur))
		e->flags |= UT_ACE_HAS_DUR;
	e->pid = read_id(r, f[PID], span);
	e->tid = read_id(r, f[TID], span);
	if (!e->pid)
		e->flags |= UT_ACE_NO_PID;
	if (is_string(f[CAT])) {
		e->cat = ut_ace_read_string(r, inside(f[CAT]));
		e->flags |= UT_ACE_HAS_CAT;
	}
	if (span)
		e->flags |= UT_ACE_HAS_JOB;
	if (span || f[ARGS].ptr)
		read_arguments(r, raw, e);
	read_extra(r, raw, e);
}

static uint64_t thread_key(uint32_t pid, uint32_t tid)
{
	return (uint64_t)pid << 32 | tid;
}

/* link of an open B is the one around it + 1. */
static void push_begin(struct ut_ace_reader *r, struct ut_ace_event *e)
{
	uint64_t key = thread_key(e->pid, e->tid);
	uint32_t at = (uint32_t)(r->table->event_count - 1);

	e->flags |= UT_ACE_OPEN | UT_ACE_WAS_BE;
	e->link = ut_idmap_get(&r->open, key);
	ut_idmap_put(&r->open, key, at + 1);
	r->last_begin = at + 1;
}

/* The B that an E with this name closes; 0 = none. Takes it out of the list of its thread. */
static uint32_t pop_begin(struct ut_ace_reader *r, uint64_t key, uint32_t name)
{
	struct ut_ace_event *events = r->table->events;
	uint32_t top = ut_idmap_get(&r->open, key), at = top, before = 0;

	for (int i = 0; at && name && events[at - 1].name != name && i < MOST_DEEP; i++) {
		before = at;
		at = events[at - 1].link;
	}
	if (!at || (name && events[at - 1].name != name))
		return 0;
	if (before)
		events[before - 1].link = events[at - 1].link;
	else if (events[at - 1].link)
		ut_idmap_put(&r->open, key, events[at - 1].link);
	else
		ut_idmap_take(&r->open, key);
	return at;
}

static void read_event_close_span(struct ut_ace_reader *r, struct ut_ace_event *e, double end)
{
	e->ph = 'X';
	e->dur = end - e->ts;
	e->flags = (e->flags & ~(uint32_t)UT_ACE_OPEN) | UT_ACE_HAS_DUR;
	if (e->dur < 0) {
		r->part->negative++;
		e->flags |= UT_ACE_DROP;
	} else if (e->dur <= 1e-9) {
		r->part->zero++;
		if (r->release < UT_ACE_1_2)
			e->flags |= UT_ACE_DROP;
		else if (e->dev && r->table->devs[e->dev].ts[0] != r->table->devs[e->dev].ts[4])
			r->part->zero_busy++;
	}
}

/* Is the text that name, without a need to look it up? */
static bool read_event_is_name(const struct ut_ace_reader *r, uint32_t name, struct ut_str text)
{
	struct ut_str s = ut_ace_str(r->table, name);

	return s.len && is_string(text) && text.len == s.len + 2 &&
	       !memcmp(text.ptr + 1, s.ptr, s.len) && !memchr(s.ptr, '\\', s.len);
}

/*
 * An E right behind a B of the same name closes it, whatever thread it names: that is how these
 * traces are written. Otherwise it closes the innermost B of its thread with its name.
 */
static void end_span(struct ut_ace_reader *r, const struct raw *raw)
{
	struct ut_ace_event *events = r->table->events;
	uint32_t last = r->last_begin, name = 0, at = 0;
	uint64_t key = 0;
	double ts;

	if (last && read_event_is_name(r, events[last - 1].name, raw->field[NAME]))
		name = events[last - 1].name;
	else if (is_string(raw->field[NAME]))
		name = ut_ace_read_string(r, inside(raw->field[NAME]));
	if (last && name && events[last - 1].name == name) {
		key = thread_key(events[last - 1].pid, events[last - 1].tid);
		at = pop_begin(r, key, name);
	} else {
		key = thread_key(read_id(r, raw->field[PID], true),
				 read_id(r, raw->field[TID], true));
		at = pop_begin(r, key, name);
	}
	r->last_begin = 0;
	if (!at || !raw->field[TS].ptr || !read_double(raw->field[TS], &ts))
		r->part->stray_ends++;
	else
		read_event_close_span(r, &r->table->events[at - 1], ts);
}

/* Remembers the B from start to the cursor; its time must be the last member. */
static void keep_same(struct ut_ace_reader *r, const char *start, const struct raw *raw)
{
	struct ut_ace_same *s = &r->same;
	const struct ut_str *ts = &raw->field[TS];

	s->len = 0;
	if (!ts->ptr || is_string(*ts) || ts->ptr + ts->len + 1 != r->json.at ||
	    raw->field[PH].ptr > ts->ptr || ts->ptr - start > (ptrdiff_t)sizeof(s->text))
		return;
	s->len = (size_t)(ts->ptr - start);
	s->ph = (size_t)(raw->field[PH].ptr + 1 - start);
	memcpy(s->text, start, s->len);
}

/* The E of the B before, if it is the same but for phase and time. */
static bool end_same(struct ut_ace_reader *r)
{
	const struct ut_ace_same *s = &r->same;
	struct ut_ace_event *e;
	struct ut_json *j = &r->json;
	struct ut_json_decimal d;
	struct ut_str ts = { j->at + s->len, 0 };
	const char *end;
	double v;

	if (!s->len || (size_t)(j->end - j->at) <= s->len + 32 || j->at[s->ph] != 'E' ||
	    memcmp(j->at, s->text, s->ph) != 0 ||
	    memcmp(j->at + s->ph + 1, s->text + s->ph + 1, s->len - s->ph - 1) != 0)
		return false;
	end = ut_json_decimal(ts.ptr, &d);
	if (!end || *end != '}' || end >= j->end)
		return false;
	ts.len = (size_t)(end - ts.ptr);
	if (!read_double(ts, &v))
		return false;
	e = &r->table->events[r->last_begin - 1];
	pop_begin(r, thread_key(e->pid, e->tid), e->name);
	read_event_close_span(r, e, v);
	r->last_begin = 0;
	j->at = end + 1;
	j->fresh = false;
	return true;
}

/* Spans of odd lengths. */
static void check_length(struct ut_ace_reader *r, struct ut_ace_event *e)
{
	if (!(e->flags & UT_ACE_HAS_DUR)) {
		r->part->no_length++;
		e->flags |= UT_ACE_HAS_DUR;
	}
	if (e->dur < 0 && r->release >= UT_ACE_1_2) {
		r->part->negative++;
		e->flags |= UT_ACE_DROP;
	} else if (e->dur <= 1e-9 && e->dur >= -1e-9) {
		r->part->zero++;
		if (e->dev && r->table->devs[e->dev].ts[0] != r->table->devs[e->dev].ts[4])
			r->part->zero_busy++;
	}
}

bool ut_ace_read_event(struct ut_ace_reader *r)
{
	const char *start = r->json.at;
	struct ut_str ph;
	struct ut_ace_event *e;
	struct raw raw;
	bool span;

	if (*r->json.at != '{') {
		r->part->not_events++;
		return ut_json_skip(&r->json, NULL);
	}
	if (r->last_begin && end_same(r))
		return true;
	if (!read_event_scan(r, &raw))
		return false;
	ph = raw.field[PH];
	if (!is_string(ph) || ph.len != 3 || !isalpha((unsigned char)ph.ptr[1])) {
		r->part->not_events++;
		return true;
	}
	if (ph.ptr[1] == 'E') {
		end_span(r, &raw);
		return true;
	}
	span = ph.ptr[1] == 'X' || ph.ptr[1] == 'B';
	e = ut_ace_event_add(r->table);
	e->ph = ph.ptr[1];
	read_event_fill(r, &raw, e, span);
	r->last_begin = 0;
	if (e->ph == 'B') {
		push_begin(r, e);
		keep_same(r, start, &raw);
	}
	if (e->ph == 'X')
		check_length(r, e);
	return true;
}
