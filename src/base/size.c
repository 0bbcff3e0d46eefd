#include "base/size.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

struct unit {
	const char *name;
	uint64_t factor;
};

#define KI UINT64_C(1024)

static const struct unit size_units[] = {
	{ "B", 1 },
	{ "K", KI },
	{ "KiB", KI },
	{ "KB", 1000 },
	{ "M", KI *KI },
	{ "MiB", KI *KI },
	{ "MB", 1000000 },
	{ "G", KI *KI *KI },
	{ "GiB", KI *KI *KI },
	{ "GB", 1000000000 },
	{ "T", KI *KI *KI *KI },
	{ "TiB", KI *KI *KI *KI },
	{ "TB", UINT64_C(1000000000000) },
	{ 0 },
};

static const struct unit time_units[] = {
	{ "ns", 1 },
	{ "us", 1000 },
	{ "ms", 1000000 },
	{ "s", 1000000000 },
	{ "sec", 1000000000 },
	{ "min", UINT64_C(60000000000) },
	{ "h", UINT64_C(3600000000000) },
	{ 0 },
};

static uint64_t find_unit(const struct unit *units, const char *name)
{
	for (; units->name; units++) {
		if (!strcasecmp(units->name, name))
			return units->factor;
	}
	return 0;
}

/* The end of a decimal number "12" or "1.5" at text; text itself if there is none. */
static const char *number_end(const char *text)
{
	const char *p = text;

	while (isdigit((unsigned char)*p))
		p++;
	if (p > text && *p == '.' && isdigit((unsigned char)p[1])) {
		p++;
		while (isdigit((unsigned char)*p))
			p++;
	}
	return p;
}

/* Whole numbers exactly; a fraction to the precision of long double, cut off. */
static int scale(const char *text, const char *end, uint64_t factor, uint64_t *out)
{
	if (memchr(text, '.', (size_t)(end - text))) {
		long double value = strtold(text, NULL) * (long double)factor;

		if (value >= 18446744073709551615.0L)
			return -ERANGE;
		*out = (uint64_t)value;
		return 0;
	}
	errno = 0;
	*out = strtoull(text, NULL, 10);
	if (errno || __builtin_mul_overflow(*out, factor, out))
		return -ERANGE;
	return 0;
}

static const char *skip_blank(const char *p)
{
	while (*p == ' ')
		p++;
	return p;
}

static int size_parse(const char *text, const struct unit *units, uint64_t bare, uint64_t *out)
{
	const char *end = number_end(text);
	const char *unit = skip_blank(end);
	uint64_t factor = *unit ? find_unit(units, unit) : bare;

	if (end == text || !factor)
		return -EINVAL;
	return scale(text, end, factor, out);
}

static int size_complain(struct ut_err *err, int code, const char *text, const char *like)
{
	if (code == -ERANGE)
		return ut_err_set(err, code, "'%s' is too large", text);
	return ut_err_set(err, code, "'%s' is not %s", text, like);
}

int ut_size_parse(const char *text, uint64_t *bytes, struct ut_err *err)
{
	int rc = size_parse(text, size_units, 1, bytes);

	return rc ? size_complain(err, rc, text, "a size such as 64M or 1.5GiB") : 0;
}

int ut_time_parse(const char *text, uint64_t *ns, struct ut_err *err)
{
	int rc = size_parse(text, time_units, 1000000000, ns);

	return rc ? size_complain(err, rc, text, "a time such as 10s, 250ms or 2min") : 0;
}

int ut_size_or_time_parse(const char *text, uint64_t *bytes, uint64_t *ns, struct ut_err *err)
{
	int rc;

	*bytes = *ns = 0;
	rc = size_parse(text, time_units, 0, ns);
	if (rc == -EINVAL)
		rc = size_parse(text, size_units, 0, bytes);
	if (rc)
		return size_complain(
			err, rc, text,
			"a size such as 64M or a time such as 10s (the unit is needed)");
	return 0;
}

/* Three digits of value in the largest unit that it reaches. */
static const char *format(char *buf, size_t size, uint64_t value, const struct unit *units)
{
	const struct unit *u = units;
	double amount;

	while (u[1].name && value >= u[1].factor)
		u++;
	amount = (double)value / (double)u->factor;
	if (u->factor == 1)
		snprintf(buf, size, "%llu %s", (unsigned long long)value, u->name);
	else
		snprintf(buf, size, "%.*f %s",
			 amount < 10    ? 2
			 : amount < 100 ? 1
					: 0,
			 amount, u->name);
	return buf;
}

const char *ut_size_text(char *buf, size_t size, uint64_t bytes)
{
	static const struct unit units[] = {
		{ "B", 1 },
		{ "KiB", KI },
		{ "MiB", KI * KI },
		{ "GiB", KI * KI * KI },
		{ "TiB", KI * KI * KI * KI },
		{ 0 },
	};

	return format(buf, size, bytes, units);
}

const char *ut_time_text(char *buf, size_t size, uint64_t ns)
{
	static const struct unit units[] = {
		{ "ns", 1 }, { "us", 1000 }, { "ms", 1000000 }, { "s", 1000000000 }, { 0 },
	};

	return format(buf, size, ns, units);
}
