/*
 * read_args.c - the arguments of an event, and the device's stamps among them.
 */
#include "acelyzer/read_event.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "acelyzer/event_arg.h"
#include "base/grow.h"
#include "base/str.h"

/* Up to here every argument is compared with the ones before it: a key counts once. */
#define MOST_COMPARED 64

static uint32_t read_args_key_of(struct ut_ace_reader *r, struct ut_str raw, size_t place)
{
	struct ut_ace_key_cache *c = &r->keys;
	uint32_t id;

	if (place < UT_ACE_KEY_CACHE && c->text[place].len == raw.len && raw.len &&
	    !memcmp(c->text[place].ptr, raw.ptr, raw.len))
		return c->id[place];
	id = ut_ace_read_string(r, raw);
	if (place < UT_ACE_KEY_CACHE && !memchr(raw.ptr, '\\', raw.len)) {
		c->text[place] = ut_ace_str(r->table, id);
		c->id[place] = id;
	}
	return id;
}

static void set_json(struct ut_ace_reader *r, struct ut_arg *arg, struct ut_str v)
{
	struct ut_buf b = { 0 };

	ut_json_minify(v, &b);
	arg->type = UT_ARG_JSON;
	arg->value.str =
		ut_strtab_intern(&r->table->strings, b.data ? b.data : "null", b.data ? b.len : 4);
	ut_buf_release(&b);
}

static void set_number(struct ut_ace_reader *r, struct ut_arg *arg, struct ut_str v)
{
	struct ut_json_number n;

	switch (ut_json_number(v, &n)) {
	case UT_JSON_U64:
		arg->type = UT_ARG_U64;
		arg->value.u64 = n.u64;
		break;
	case UT_JSON_I64:
		arg->type = UT_ARG_I64;
		arg->value.i64 = n.i64;
		break;
	case UT_JSON_F64:
		if (isfinite(n.f64)) {
			arg->type = UT_ARG_F64;
			arg->value.f64 = n.f64;
			break;
		}
		/* fall through */
	case UT_JSON_BIG:
	case UT_JSON_NOT:
		set_json(r, arg, v);
		break;
	}
}

/* The value of a digit in any base up to 16; 255 = it is none. */
static const uint8_t digit_of[256] = {
#define NONE16  255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255
#define LETTERS 255, 10, 11, 12, 13, 14, 15, 255, 255, 255, 255, 255, 255, 255, 255, 255
	NONE16, NONE16, NONE16, 0,      1,      2,      3,      4,      5,       6,      7,
	8,      9,      255,    255,    255,    255,    255,    255,    LETTERS, NONE16, LETTERS,
	NONE16, NONE16, NONE16, NONE16, NONE16, NONE16, NONE16, NONE16, NONE16,
#undef NONE16
#undef LETTERS
};

/*
 * A whole number as text: decimal, or with 0x, 0o, 0b. Stamps are millions of different ones, so
 * they are read right here and never become strings.
 */
static bool read_stamp(struct ut_str s, int64_t *out)
{
	bool negative = s.len && *s.ptr == '-';
	const char *p = s.ptr + negative, *end = s.ptr + s.len;
	unsigned int base = 10, digit;
	uint64_t v = 0;

	if (end - p > 2 && p[0] == '0') {
		base = (p[1] | 32) == 'x'   ? 16
		       : (p[1] | 32) == 'o' ? 8
		       : (p[1] | 32) == 'b' ? 2
					    : 10;
		p += base != 10 ? 2 : 0;
	}
	if (p == end || end - p > (base == 16 ? 15 : base == 10 ? 18 : 60))
		return false;
	for (; p < end; p++) {
		digit = digit_of[(unsigned char)*p];
		if (digit >= base)
			return false;
		v = v * base + digit;
	}
	*out = negative ? -(int64_t)v : (int64_t)v;
	return v < INT64_MAX / 4;
}

/*
 * TS1..TS5 and Power as text: they go to a place of their own, not among the arguments. False if
 * the value is not such a number.
 */
static bool take_stamp(struct ut_ace_reader *r, uint32_t key, struct ut_str v)
{
	struct ut_ace_stamps *s = &r->stamps;
	int64_t value;

	if (*v.ptr != '"' || !read_stamp((struct ut_str){ v.ptr + 1, v.len - 2 }, &value))
		return false;
	s->value[key - UT_ACE_K_TS1] = value;
	s->have |= 1u << (key - UT_ACE_K_TS1);
	s->hex |= v.len > 3 && (v.ptr[2] | 32) == 'x';
	return true;
}

static struct ut_arg read_args_value_of(struct ut_ace_reader *r, uint32_t key, struct ut_str v)
{
	struct ut_arg arg = { .key = key };

	switch (*v.ptr) {
	case '"':
		arg.type = UT_ARG_STR;
		arg.value.str = ut_ace_read_string(r, (struct ut_str){ v.ptr + 1, v.len - 2 });
		break;
	case 't':
	case 'f':
		arg.type = UT_ARG_BOOL;
		arg.value.u64 = *v.ptr == 't';
		break;
	case '{':
	case '[':
	case 'n':
		set_json(r, &arg, v);
		break;
	default:
		set_number(r, &arg, v);
		break;
	}
	return arg;
}

void ut_ace_read_value(struct ut_ace_reader *r, uint32_t key, struct ut_str value)
{
	size_t n = r->arg_count, i = n > MOST_COMPARED ? n : 0;
	struct ut_arg arg;

	if (key >= UT_ACE_K_TS1 && key <= UT_ACE_K_POWER) {
		r->stamps.have &= ~(1u << (key - UT_ACE_K_TS1));
		if (take_stamp(r, key, value))
			return;
	}
	arg = read_args_value_of(r, key, value);

	while (i < n && r->args[i].key != key)
		i++;
	if (i == n) {
		r->args = ut_grow(r->args, n + 1, &r->arg_cap, sizeof(*r->args));
		r->arg_count++;
	}
	r->args[i] = arg;
}

bool ut_ace_read_object(struct ut_ace_reader *r)
{
	struct ut_json *j = &r->json;
	struct ut_str key, v;
	size_t place = 0;

	ut_json_enter(j);
	while (ut_json_next(j, &key)) {
		if (!ut_ace_step(j, &v))
			return false;
		ut_ace_read_value(r, read_args_key_of(r, key, place++), v);
	}
	return !j->trouble;
}

void ut_ace_read_args(struct ut_ace_reader *r, struct ut_str value)
{
	struct ut_json *j = &r->json;
	const char *at = j->at;
	bool fresh = j->fresh;

	if (*value.ptr != '{') {
		ut_ace_read_value(r, ut_strtab_intern_z(&r->table->strings, "args"), value);
		return;
	}
	/* The text has been stepped over once, so nothing in it can fail now. */
	j->at = value.ptr;
	ut_ace_read_object(r);
	j->at = at;
	j->fresh = fresh;
}

/* A number that is a stamp. */
static bool stamp_of(const struct ut_arg *a, int64_t *out)
{
	*out = 0;
	if (a->type == UT_ARG_I64)
		*out = a->value.i64;
	else if (a->type == UT_ARG_U64 && a->value.u64 < INT64_MAX / 4)
		*out = (int64_t)a->value.u64;
	else if (a->type == UT_ARG_F64 && fabs(a->value.f64) < 9e15)
		*out = (int64_t)a->value.f64;
	else
		return false;
	return a->type != UT_ARG_F64 || (double)*out == a->value.f64;
}

/* Stamps that came as JSON numbers, and a reading that is no whole number. */
static void take_numbers(struct ut_ace_reader *r, struct ut_ace_dev *d)
{
	struct ut_ace_stamps *s = &r->stamps;
	size_t kept = 0;

	for (size_t i = 0; i < r->arg_count; i++) {
		struct ut_arg *a = &r->args[i];

		if (a->key == UT_ACE_K_POWER && ut_ace_arg_num(r->table, a, &d->power))
			d->flags |= UT_ACE_DEV_POWER;
		if (a->key >= UT_ACE_K_TS1 && a->key <= UT_ACE_K_TS5 &&
		    stamp_of(a, &s->value[a->key - UT_ACE_K_TS1]))
			s->have |= 1u << (a->key - UT_ACE_K_TS1);
		else
			r->args[kept++] = *a;
	}
	r->arg_count = kept;
}

/* Not enough for a device event: what was text is an argument like any other, in decimal. */
static void read_args_give_back(struct ut_ace_reader *r)
{
	const struct ut_ace_stamps *s = &r->stamps;
	char text[32];

	for (unsigned int i = 0; i <= UT_ACE_STAMPS; i++) {
		if (!(s->have >> i & 1))
			continue;
		snprintf(text, sizeof(text), "%lld", (long long)s->value[i]);
		r->args = ut_grow(r->args, r->arg_count + 1, &r->arg_cap, sizeof(*r->args));
		r->args[r->arg_count++] = ut_ace_str_arg(
			UT_ACE_K_TS1 + i, ut_strtab_intern_z(&r->table->strings, text));
	}
}

void ut_ace_read_stamps(struct ut_ace_reader *r, bool span, uint32_t *dev)
{
	const unsigned int all = (1u << UT_ACE_STAMPS) - 1, power = 1u << UT_ACE_STAMPS;
	struct ut_ace_stamps *s = &r->stamps;
	struct ut_ace_dev d = { 0 };

	if (span && (s->have & all) != all)
		take_numbers(r, &d);
	if (!span || (s->have & all) != all) {
		r->part->bad_stamps += span && s->have & 1;
		read_args_give_back(r);
		return;
	}
	if (!(s->have & power) && r->arg_count)
		take_numbers(r, &d);
	memcpy(d.ts, s->value, sizeof(d.ts));
	if (s->have & power) {
		d.power = (double)s->value[UT_ACE_STAMPS];
		d.flags |= UT_ACE_DEV_POWER | UT_ACE_DEV_POWER_SHOW;
	}
	if (s->hex)
		d.flags |= UT_ACE_DEV_HEX;
	*dev = ut_ace_dev_add(r->table);
	r->table->devs[*dev] = d;
}
