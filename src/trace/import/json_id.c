#include "import/json_id.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/json_piece.h"
#include "base/json_scan.h"

#define TWO_64     18446744073709551616.0
#define MOST_WHOLE 1e29 /* more digits have no room */

/* ---- numbers ------------------------------------------------------------------------------- */

struct ut_str ut_id_digits(struct ut_str id, bool *hex)
{
	*hex = false;
	if (id.len >= 2 && *id.ptr == '"') {
		id = (struct ut_str){ id.ptr + 1, id.len - 2 };
		*hex = id.len > 2 && id.ptr[0] == '0' && (id.ptr[1] | 32) == 'x';
	}
	return *hex ? (struct ut_str){ id.ptr + 2, id.len - 2 } : id;
}

/* What a character is worth as a digit; 16 and more: it is none. */
static unsigned int digit_of(char c)
{
	unsigned int decimal = (unsigned int)(unsigned char)c - '0';
	unsigned int letter = (unsigned int)(unsigned char)(c | 32) - 'a';

	if (decimal < 10)
		return decimal;
	return letter < 6 ? letter + 10 : 16;
}

/* Up to 16 digits, which cannot overflow. Flows of large jobs have two of them each. */
static bool hex_number(struct ut_str digits, uint64_t *number)
{
	uint64_t value = 0;
	unsigned int all = 0;

	for (size_t i = 0; i < digits.len; i++) {
		unsigned int digit = digit_of(digits.ptr[i]);

		all |= digit;
		value = value << 4 | digit;
	}
	*number = value;
	return digits.len && all < 16;
}

static bool number_in_string(struct ut_str id, uint64_t *number)
{
	bool hex;
	struct ut_str digits = ut_id_digits(id, &hex);
	unsigned int base = hex ? 16 : 10;
	uint64_t value = 0;

	if (hex && digits.len <= 16)
		return hex_number(digits, number);
	for (size_t i = 0; i < digits.len; i++) {
		unsigned int digit = digit_of(digits.ptr[i]);

		if (digit >= base || __builtin_mul_overflow(value, base, &value) ||
		    __builtin_add_overflow(value, digit, &value))
			return false;
	}
	*number = value;
	return digits.len > 0;
}

bool ut_id_number(struct ut_str id, uint64_t *number)
{
	struct ut_json_number n;
	enum ut_json_type type;

	if (*id.ptr == '"')
		return number_in_string(id, number);
	type = ut_json_number(id, &n);
	if (type == UT_JSON_U64) {
		*number = n.u64;
		return true;
	}
	if (type != UT_JSON_F64 || !(n.f64 >= 0 && n.f64 < TWO_64) || floor(n.f64) < n.f64)
		return false;
	*number = (uint64_t)n.f64;
	return true;
}

size_t ut_id_spell(struct ut_str id, char room[UT_ID_ROOM])
{
	struct ut_json_number n;
	enum ut_json_type type = *id.ptr == '"' ? UT_JSON_NOT : ut_json_number(id, &n);

	if (type == UT_JSON_NOT || (type == UT_JSON_F64 && !isfinite(n.f64)))
		return 0;
	if (type != UT_JSON_F64 && id.len < UT_ID_ROOM) /* all its digits, also of large ones */
		snprintf(room, UT_ID_ROOM, "%.*s", (int)id.len, id.ptr);
	else if (fabs(n.f64) < MOST_WHOLE && !(floor(n.f64) < n.f64))
		snprintf(room, UT_ID_ROOM, "%.0f", n.f64);
	else
		ut_double_digits(room, n.f64);
	return strlen(room);
}

/* ---- id2 ----------------------------------------------------------------------------------- */

/* A value without the blanks behind it. */
static struct ut_str trimmed(const char *from, const char *to)
{
	while (to > from && (unsigned char)to[-1] <= ' ')
		to--;
	return (struct ut_str){ from, (size_t)(to - from) };
}

struct ut_str ut_id_inside(struct ut_str id2, const char *key)
{
	const char *p = id2.ptr, *end = p + id2.len;
	struct ut_str found = { NULL, 0 };

	if (!id2.len || *p != '{')
		return found;
	for (p = ut_json_behind_blanks(p + 1, end); p < end && *p == '"';
	     p = ut_json_behind_blanks(p + 1, end)) {
		const char *close = ut_json_closing_quote(p, end), *value;
		struct ut_str name = { p + 1, (size_t)(close - p - 1) };

		p = ut_json_behind_blanks(close + (close < end), end);
		if (p == end || *p != ':')
			break;
		value = ut_json_behind_blanks(p + 1, end);
		p = ut_json_behind_value(value, end);
		if (ut_str_is(name, key))
			found = trimmed(value, p);
		if (p == end || *p != ',')
			break;
	}
	return found;
}

bool ut_id_is_global(struct ut_str phase, struct ut_str id, struct ut_str id2)
{
	struct ut_str same;
	uint64_t number;

	if (!id2.len || !id.len || phase.len != 3 ||
	    (phase.ptr[1] != 's' && phase.ptr[1] != 't' && phase.ptr[1] != 'f'))
		return false;
	same = ut_id_inside(id2, "global");
	return ut_str_eq(same, id) && ut_id_number(id, &number) && number >> 48 && !(number >> 63);
}
