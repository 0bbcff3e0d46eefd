#include "tt/log_columns.h"

#include <string.h>
#include <strings.h>

/* Every name that a column has had, over the years. */
static const struct {
	const char *name;
	enum ut_tt_column column;
} names[] = {
	{ "PCIe slot", UT_TT_CHIP },
	{ "core_x", UT_TT_X },
	{ "core_y", UT_TT_Y },
	{ "RISC processor type", UT_TT_RISC },
	{ "timer_id", UT_TT_TIMER },
	{ "time[cycles since reset]", UT_TT_TIME },
	{ "stat value", UT_TT_VALUE },
	{ "data", UT_TT_VALUE },
	{ "run ID", UT_TT_RUN },
	{ "run host ID", UT_TT_HOST },
	{ "trace id", UT_TT_TRACE },
	{ "trace id counter", UT_TT_REPLAY },
	{ "trace id count", UT_TT_REPLAY },
	{ "zone name", UT_TT_ZONE },
	{ "zone phase", UT_TT_TYPE },
	{ "type", UT_TT_TYPE },
	{ "source line", UT_TT_LINE },
	{ "source file", UT_TT_FILE },
	{ "meta data", UT_TT_META },
};

#define NAMES (sizeof(names) / sizeof(names[0]))

/* The layouts by their number of fields; the six columns that all have come first. */
#define SIX UT_TT_CHIP, UT_TT_X, UT_TT_Y, UT_TT_RISC, UT_TT_TIMER, UT_TT_TIME, UT_TT_VALUE
#define END UT_TT_COLUMNS

static const enum ut_tt_column layouts[][16] = {
	{ UT_TT_CHIP, UT_TT_X, UT_TT_Y, UT_TT_RISC, UT_TT_TIMER, UT_TT_TIME, END },
	{ SIX, UT_TT_RUN, UT_TT_ZONE, UT_TT_TYPE, UT_TT_LINE, UT_TT_FILE, END },
	{ SIX, UT_TT_RUN, UT_TT_HOST, UT_TT_ZONE, UT_TT_TYPE, UT_TT_LINE, UT_TT_FILE, END },
	{ SIX, UT_TT_HOST, UT_TT_ZONE, UT_TT_TYPE, UT_TT_LINE, UT_TT_FILE, UT_TT_META, END },
	{ SIX, UT_TT_RUN, UT_TT_HOST, UT_TT_ZONE, UT_TT_TYPE, UT_TT_LINE, UT_TT_FILE, UT_TT_META,
	  END },
	{ SIX, UT_TT_HOST, UT_TT_TRACE, UT_TT_REPLAY, UT_TT_ZONE, UT_TT_TYPE, UT_TT_LINE,
	  UT_TT_FILE, UT_TT_META, END },
};

static struct ut_str trimmed(const char *p, const char *end)
{
	while (p < end && (*p == ' ' || *p == '\t'))
		p++;
	while (end > p && (end[-1] == ' ' || end[-1] == '\t' || end[-1] == '\r'))
		end--;
	return (struct ut_str){ p, (size_t)(end - p) };
}

/* Where the field at p ends: at a comma, or at the end. A quoted one ends after its quote. */
static const char *field_end(const char *p, const char *end)
{
	const char *comma;

	if (p < end && *p == '"') {
		const char *quote = memchr(p + 1, '"', (size_t)(end - p - 1));

		p = quote ? quote : p;
	}
	comma = memchr(p, ',', (size_t)(end - p));
	return comma ? comma : end;
}

static struct ut_str log_columns_unquoted(struct ut_str f)
{
	if (f.len >= 2 && f.ptr[0] == '"' && f.ptr[f.len - 1] == '"')
		return (struct ut_str){ f.ptr + 1, f.len - 2 };
	return f;
}

int ut_tt_split(const char *line, size_t len, struct ut_str *fields, int max)
{
	const char *p = line, *end = line + len;
	int n = 0;

	while (n < max) {
		const char *stop = n + 1 == max ? end : field_end(p, end);

		fields[n++] = log_columns_unquoted(trimmed(p, stop));
		if (stop == end)
			break;
		p = stop + 1;
	}
	return n;
}

static bool log_columns_is_name(struct ut_str f, const char *name)
{
	return f.len == strlen(name) && !strncasecmp(f.ptr, name, f.len);
}

bool ut_tt_is_header(const struct ut_str *fields, int count)
{
	for (int i = 0; i < count; i++) {
		if (log_columns_is_name(fields[i], "core_x"))
			return true;
	}
	return false;
}

/* total: how many columns there are, known or not. */
static void log_columns_measure(struct ut_tt_columns *c, int total)
{
	/* only meta data has been seen to hold commas */
	c->most = c->at[UT_TT_META] == total - 1 ? total : UT_TT_MAX_FIELDS;
	c->count = 0;
	c->lead = 0;
	for (int i = 0; i < UT_TT_COLUMNS; i++) {
		/* texts at the end of a row may be missing */
		if (i != UT_TT_META && i != UT_TT_FILE && c->at[i] >= c->count)
			c->count = c->at[i] + 1;
		if (i <= UT_TT_VALUE && c->at[i] >= c->lead)
			c->lead = c->at[i] + 1;
	}
	c->mixed = false;
	for (int i = UT_TT_VALUE + 1; i < UT_TT_COLUMNS; i++)
		c->mixed = c->mixed || (c->at[i] >= 0 && c->at[i] < c->lead);
}

static void none(struct ut_tt_columns *c)
{
	for (int i = 0; i < UT_TT_COLUMNS; i++)
		c->at[i] = -1;
}

bool ut_tt_columns_named(struct ut_tt_columns *c, const struct ut_str *fields, int count,
			 const char **missing)
{
	none(c);
	for (int i = 0; i < count; i++) {
		for (size_t k = 0; k < NAMES; k++) {
			if (log_columns_is_name(fields[i], names[k].name) &&
			    c->at[names[k].column] < 0)
				c->at[names[k].column] = i;
		}
	}
	for (size_t k = 0; k < NAMES; k++) {
		if (names[k].column <= UT_TT_TIME && c->at[names[k].column] < 0) {
			*missing = names[k].name;
			return false;
		}
	}
	if (c->at[UT_TT_ZONE] >= 0 && c->at[UT_TT_TYPE] < 0) {
		*missing = "type";
		return false;
	}
	log_columns_measure(c, count);
	return true;
}

static bool is_type(struct ut_str f)
{
	return f.len > 3 &&
	       (!memcmp(f.ptr, "ZONE_", f.len < 5 ? f.len : 5) || !memcmp(f.ptr, "TS_", 3));
}

bool ut_tt_columns_guess(struct ut_tt_columns *c, const struct ut_str *fields, int count)
{
	for (size_t k = 0; k < sizeof(layouts) / sizeof(layouts[0]); k++) {
		int n = 0;

		none(c);
		while (layouts[k][n] != END) {
			c->at[layouts[k][n]] = n;
			n++;
		}
		/* two layouts have 13 columns; only one of them has the type in the tenth */
		if (n == count && (n != 13 || is_type(fields[9]) == (c->at[UT_TT_TYPE] == 9))) {
			log_columns_measure(c, count);
			return true;
		}
	}
	return false;
}

/* ---- the line about the chip --------------------------------------------------------------- */

/* What stands behind the last colon of a field. */
static struct ut_str after_colon(struct ut_str f)
{
	const char *colon = memrchr(f.ptr, ':', f.len);

	return colon ? trimmed(colon + 1, f.ptr + f.len) : f;
}

static bool to_number(struct ut_str f, uint64_t max, uint64_t *value)
{
	*value = 0;
	for (size_t i = 0; i < f.len; i++) {
		if (f.ptr[i] < '0' || f.ptr[i] > '9' || *value > max)
			return false;
		*value = *value * 10 + (uint64_t)(f.ptr[i] - '0');
	}
	return f.len && *value <= max;
}

bool ut_tt_first_line(struct ut_tt_log *log, const char *line, size_t len)
{
	struct ut_str fields[4], arch;
	uint64_t value;
	int n;

	/* The number in this form was never right; what is behind it was not read. */
	if (memmem(line, len, "Chip clock is at ", 17)) {
		log->arch = UT_TT_OLD_ARCH;
		log->mhz = UT_TT_OLD_MHZ;
		return true;
	}
	if (!memmem(line, len, "ARCH", 4))
		return false;
	n = ut_tt_split(line, len, fields, 4);
	arch = after_colon(fields[0]);
	log->arch = ut_arena_copy(&log->arena, arch.ptr, arch.len);
	if (n > 1 && to_number(after_colon(fields[1]), 1000000, &value))
		log->mhz = value;
	if (n > 2 && to_number(after_colon(fields[2]), INT32_MAX, &value))
		log->max_cores = (int64_t)value;
	return true;
}
