#include "import/json_id.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/json_scan.h"

#define TWO_64     18446744073709551616.0
#define MOST_WHOLE 1e29 /* more digits have no room */

/* ---- numbers ------------------------------------------------------------------------------- */

struct ut_json_span ut_id_digits(struct ut_json_span id, bool *hex)
{
	*hex = false;
	if (id.len >= 2 && *id.at == '"') {
		id = (struct ut_json_span){ id.at + 1, id.len - 2 };
		*hex = id.len > 2 && id.at[0] == '0' && (id.at[1] | 32) == 'x';
	}
	return *hex ? (struct ut_json_span){ id.at + 2, id.len - 2 } : id;
}

/* What a character is worth as a digit; 16 and more: it is none. */
static unsigned int digit_of(char c)
{
	char low = (char)(c | 32);

	if (ut_json_digit(c))
		return (unsigned int)(c - '0');
	return low >= 'a' && low <= 'f' ? (unsigned int)(low - 'a' + 10) : 16;
}

static bool number_in_string(struct ut_json_span id, uint64_t *number)
{
	bool hex;
	struct ut_json_span digits = ut_id_digits(id, &hex);
	unsigned int base = hex ? 16 : 10;
	uint64_t value = 0;

	for (size_t i = 0; i < digits.len; i++) {
		unsigned int digit = digit_of(digits.at[i]);

		if (digit >= base || __builtin_mul_overflow(value, base, &value) ||
		    __builtin_add_overflow(value, digit, &value))
			return false;
	}
	*number = value;
	return digits.len > 0;
}

bool ut_id_number(struct ut_json_span id, uint64_t *number)
{
	struct ut_json_number n;
	enum ut_json_type type;

	if (*id.at == '"')
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

size_t ut_id_spell(struct ut_json_span id, char room[UT_ID_ROOM])
{
	struct ut_json_number n;
	enum ut_json_type type = *id.at == '"' ? UT_JSON_NOT : ut_json_number(id, &n);

	if (type == UT_JSON_NOT || (type == UT_JSON_F64 && !isfinite(n.f64)))
		return 0;
	if (type != UT_JSON_F64 && id.len < UT_ID_ROOM) /* all its digits, also of large ones */
		snprintf(room, UT_ID_ROOM, "%.*s", (int)id.len, id.at);
	else if (fabs(n.f64) < MOST_WHOLE && !(floor(n.f64) < n.f64))
		snprintf(room, UT_ID_ROOM, "%.0f", n.f64);
	else
		ut_double_digits(room, n.f64);
	return strlen(room);
}

/* ---- id2 ----------------------------------------------------------------------------------- */

static const char *blanks(const char *p, const char *end)
{
	while (p < end && (unsigned char)*p <= ' ')
		p++;
	return p;
}

static const char *behind_string(const char *p, const char *end)
{
	for (p++; p < end && *p != '"'; p++)
		p += *p == '\\';
	return p < end ? p + 1 : end;
}

/* Behind a value of any kind. */
static const char *behind(const char *p, const char *end)
{
	size_t depth = 0;

	while (p < end && (depth || (*p != ',' && *p != '}' && (unsigned char)*p > ' '))) {
		depth += *p == '{' || *p == '[';
		depth -= *p == '}' || *p == ']';
		p = *p == '"' ? behind_string(p, end) : p + 1;
	}
	return p;
}

struct ut_json_span ut_id_inside(struct ut_json_span id2, const char *key)
{
	const char *p = id2.at, *end = p + id2.len;
	struct ut_json_span found = { NULL, 0 };

	if (!id2.len || *p != '{')
		return found;
	for (p = blanks(p + 1, end); p < end && *p == '"'; p = blanks(p + 1, end)) {
		const char *name = p + 1, *close = behind_string(p, end), *value;

		p = blanks(close, end);
		if (p == end || *p != ':')
			break;
		value = blanks(p + 1, end);
		p = behind(value, end);
		if ((size_t)(close - 1 - name) == strlen(key) && !memcmp(name, key, strlen(key)))
			found = (struct ut_json_span){ value, (size_t)(p - value) };
		p = blanks(p, end);
		if (p == end || *p != ',')
			break;
	}
	return found;
}

bool ut_id_is_global(struct ut_json_span phase, struct ut_json_span id, struct ut_json_span id2)
{
	struct ut_json_span same;
	uint64_t number;

	if (!id2.len || !id.len || phase.len != 3 || !strchr("stf", phase.at[1]))
		return false;
	same = ut_id_inside(id2, "global");
	return same.len == id.len && !memcmp(same.at, id.at, id.len) && ut_id_number(id, &number) &&
	       number >> 48 && !(number >> 63);
}
