/*
 * value.c - JSON values as arguments.
 *
 * Numbers, strings and booleans are themselves, strings that are numbers are stored as such
 * (UT_ARG_TEXT, UT_ARG_PTR); short lists of them are arrays; everything else
 * (objects, nested lists, null, numbers of more than 64 bits) is kept as its text.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/grow.h"
#include "base/json_quoted.h"
#include "import/chrome/step.h"

#define ARRAY_MOST  16u  /* elements; longer lists are kept as text */
#define DOUBLE_MOST 256u /* arguments among which doubles are looked for */

/* Takes an argument out, with all elements if it is an array. */
void ut_chrome_remove(struct ut_chrome_args *args, struct ut_arg *arg)
{
	struct ut_arg *end = args->items + args->count, *next = arg + 1;

	while (next < end && next[-1].flags & UT_ARG_MORE)
		next++;
	memmove(arg, next, (size_t)(end - next) * sizeof(*arg));
	args->count -= (size_t)(next - arg);
}

struct ut_arg *ut_chrome_find(struct ut_chrome_args *args, uint32_t key)
{
	for (size_t i = 0; i < args->count; i++) {
		if (args->items[i].key == key)
			return &args->items[i];
	}
	return NULL;
}

/* Nobody writes that many by hand: what follows would take too long, and matters to nobody. */
bool ut_chrome_has(struct ut_chrome_args *args, uint32_t key)
{
	return args->count < DOUBLE_MOST && ut_chrome_find(args, key);
}

/* Of two members with the same key the later one counts, as for other readers of JSON. */
static void remove_double(struct ut_chrome_args *args, uint32_t key)
{
	if (ut_chrome_has(args, key))
		ut_chrome_remove(args, ut_chrome_find(args, key));
}

static inline struct ut_arg *append(struct ut_chrome_args *to)
{
	if (to->count == to->cap)
		to->items = ut_grow(to->items, to->count + 1, &to->cap, sizeof(*to->items));
	return &to->items[to->count++];
}

uint32_t ut_chrome_text_of(struct ut_chrome *c, const struct ut_arg *arg)
{
	char text[24];

	if (arg->flags & UT_ARG_ARRAY)
		return 0;
	if (arg->type == UT_ARG_STR || arg->type == UT_ARG_JSON)
		return arg->value.str;
	if (arg->type != UT_ARG_U64 && arg->type != UT_ARG_PTR)
		return 0;
	snprintf(text, sizeof(text), arg->type == UT_ARG_PTR ? "0x%" PRIx64 : "%" PRIu64,
		 arg->value.u64);
	return ut_strtab_intern_z(&c->build.store.trace.strings, text);
}

void ut_chrome_add(struct ut_chrome_args *to, struct ut_arg arg)
{
	*append(to) = arg;
}

/*
 * A double. Whole ones become whole numbers: JSON makes no difference between 5 and 5.0, and
 * writers leave the .0 away. What JSON cannot say is the text that we would write for it.
 */
void ut_chrome_double(struct ut_chrome *c, double value, struct ut_arg *arg)
{
	static const double two63 = 9223372036854775808.0;

	if (isnan(value) || isinf(value)) {
		arg->type = UT_ARG_STR;
		arg->value.str =
			ut_strtab_intern_z(&c->build.store.trace.strings, isnan(value) ? "NaN"
									  : value < 0  ? "-Infinity"
										      : "Infinity");
	} else if (value >= 0 && value < 2 * two63 && (double)(uint64_t)value == value &&
		   !signbit(value)) {
		arg->type = UT_ARG_U64;
		arg->value.u64 = (uint64_t)value;
	} else if (value < 0 && value >= -two63 && (double)(int64_t)value == value) {
		arg->type = UT_ARG_I64;
		arg->value.i64 = (int64_t)value;
	} else {
		arg->type = UT_ARG_F64;
		arg->value.f64 = value;
	}
}

/* What the decimal number is as an argument; false if it needs a closer look. */
static inline bool from_decimal(struct ut_chrome *c, const struct ut_json_decimal *d,
				struct ut_arg *arg)
{
	static const double power[] = { 1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8, 1e9,
					1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18 };
	double value;

	if (!d->point && !d->negative) {
		arg->type = UT_ARG_U64;
		arg->value.u64 = d->digits;
	} else if (!d->point && d->digits) {
		arg->type = UT_ARG_I64;
		arg->value.i64 = -(int64_t)d->digits;
	} else if (d->digits <= UINT64_C(1) << 53) {
		/* both are exact, so the quotient is the nearest */
		value = (double)d->digits / power[d->decimals];
		ut_chrome_double(c, d->negative ? -value : value, arg);
	} else {
		return false;
	}
	return true;
}

static void from_text(struct ut_chrome *c, struct ut_str text, struct ut_arg *arg)
{
	arg->type = UT_ARG_JSON;
	arg->value.str = ut_chrome_json(c, text, false);
}

static void from_number(struct ut_chrome *c, struct ut_str text, struct ut_arg *arg)
{
	struct ut_json_number n;

	switch (ut_json_number(text, &n)) {
	case UT_JSON_U64:
		arg->type = UT_ARG_U64;
		arg->value.u64 = n.u64;
		break;
	case UT_JSON_I64:
		arg->type = UT_ARG_I64;
		arg->value.i64 = n.i64;
		break;
	case UT_JSON_F64:
		if (isinf(n.f64) && ut_json_strict_number(text))
			from_text(c, text, arg); /* 1e400 is no infinity */
		else
			ut_chrome_double(c, n.f64, arg);
		break;
	case UT_JSON_BIG:
	case UT_JSON_NOT:
		from_text(c, text, arg);
		break;
	}
}

/* Numbers of an unusual kind, true, false, null. */
static bool read_word(struct ut_chrome *c, struct ut_arg *arg)
{
	struct ut_str text;

	if (!ut_json_skip(&c->json, &text))
		return false;
	if (*text.ptr == 't' || *text.ptr == 'f') {
		arg->type = UT_ARG_BOOL;
		arg->value.u64 = *text.ptr == 't';
	} else if (*text.ptr == 'n' && text.len == 4) {
		arg->type = UT_ARG_JSON;
		arg->value.str = c->words[UT_WORD_NULL];
	} else {
		from_number(c, text, arg);
	}
	return true;
}

/* A text that is a number; false: it is something else, and the cursor stays. */
static inline bool read_digits(struct ut_json *j, struct ut_arg *arg)
{
	const char *behind = ut_json_quoted(j->at + 1, j->end, &arg->value.u64);

	if (behind) {
		arg->type = UT_ARG_U64;
		arg->flags |= UT_ARG_TEXT;
	} else {
		arg->type = UT_ARG_PTR;
		behind = ut_json_quoted_hex(j->at + 1, j->end, &arg->value.u64);
	}
	if (behind)
		j->at = behind;
	return behind;
}

/* A value that is neither object nor list. */
static inline bool read_scalar(struct ut_chrome *c, struct ut_arg *arg)
{
	struct ut_json *j = &c->json;
	struct ut_json_decimal d;
	struct ut_str raw;
	const char *end;

	if (*j->at == '"') {
		if (ut_json_digit(j->at[1]) && read_digits(j, arg))
			return true;
		if (!ut_json_text(j, &raw))
			return false;
		arg->type = UT_ARG_STR;
		arg->value.str = ut_chrome_string(c, c->values, raw);
		return true;
	}
	end = ut_json_small(j->at, &d.digits);
	if (end) {
		arg->type = UT_ARG_U64;
		arg->value.u64 = d.digits;
		j->at = end;
		return true;
	}
	end = ut_json_decimal(j->at, &d);
	if (!end || !from_decimal(c, &d, arg))
		return read_word(c, arg);
	j->at = end;
	return true;
}

static bool value_read_text(struct ut_chrome *c, struct ut_arg *arg)
{
	struct ut_str text;

	c->json.plain = true;
	if (!ut_json_skip(&c->json, &text))
		return false;
	arg->type = UT_ARG_JSON;
	arg->value.str = ut_chrome_json(c, text, c->json.plain);
	return true;
}

/*
 * A short list of scalars, one argument per element. False with UT_JSON_NONE: it is something else
 * and the cursor is back where it was.
 */
static bool read_array(struct ut_chrome *c, struct ut_chrome_args *to, uint32_t key)
{
	struct ut_json *j = &c->json;
	const char *start = j->at;
	size_t first = to->count;
	struct ut_arg *arg;

	ut_json_enter(j);
	while (ut_json_item(j)) {
		if (*j->at == '[' || *j->at == '{' || *j->at == 'n' ||
		    to->count - first == ARRAY_MOST)
			goto other;
		arg = append(to);
		*arg = (struct ut_arg){ .key = key, .flags = UT_ARG_ARRAY | UT_ARG_MORE };
		if (!read_scalar(c, arg))
			return false;
		if (arg->type == UT_ARG_JSON)
			goto other;
	}
	if (j->trouble)
		return false;
	if (to->count > first) {
		to->items[to->count - 1].flags &= (uint8_t)~UT_ARG_MORE;
		return true;
	}
other:
	to->count = first;
	j->at = start;
	j->fresh = false;
	return false;
}

bool ut_chrome_value(struct ut_chrome *c, struct ut_chrome_args *to, uint32_t key)
{
	struct ut_json *j = &c->json;
	const uint64_t bit = UINT64_C(1) << key % 64;
	struct ut_arg *arg;

	if (to->seen & bit)
		remove_double(to, key);
	to->seen |= bit;
	if (*j->at == '[') {
		if (read_array(c, to, key))
			return true;
		if (j->trouble)
			return false;
	}
	arg = append(to);
	*arg = (struct ut_arg){ .key = key };
	if (*j->at == '[' || *j->at == '{')
		return value_read_text(c, arg);
	return read_scalar(c, arg);
}

/* All members of the object at the cursor. */
bool ut_chrome_members(struct ut_chrome *c, struct ut_chrome_args *to)
{
	struct ut_json *j = &c->json;
	const struct ut_chrome_step *step = &c->steps[UT_STEP_ARGS];

	ut_json_enter(j);
	while ((step = ut_chrome_step(c, step))) {
		if (!ut_chrome_value(c, to, step->key))
			return false;
	}
	return !j->trouble;
}
