#define UT_LOG_MODULE "metrics"
#include "metrics/roofline_device.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "base/logger.h"

#define MOST_DIGITS 63u

static const char *const files[] = {
#define UNIT(unit, key, title, file)   file,
#define LEVEL(level, key, title, file) file,
	UT_ROOF_UNIT_LIST(UNIT) UT_ROOF_LEVEL_LIST(LEVEL)
#undef UNIT
#undef LEVEL
};

struct line {
	const char *file;
	unsigned int number;
	struct ut_str key, value;
};

static struct ut_str roofline_device_next_line(struct ut_str *rest)
{
	const char *end = memchr(rest->ptr, '\n', rest->len);
	struct ut_str line = { rest->ptr, end ? (size_t)(end - rest->ptr) : rest->len };
	size_t step = line.len + (end != NULL);

	rest->ptr += step;
	rest->len -= step;
	return line;
}

static struct ut_str roofline_device_unquoted(struct ut_str s)
{
	if (s.len >= 2 && s.ptr[0] == '"' && s.ptr[s.len - 1] == '"')
		return (struct ut_str){ s.ptr + 1, s.len - 2 };
	return s;
}

static int roofline_device_split(struct line *l, struct ut_str text, struct ut_err *err)
{
	const char *comma = memchr(text.ptr, ',', text.len);

	if (!comma)
		return ut_err_set(err, -EINVAL,
				  "%s:%u: a line is KEY,VALUE, such as FP32_GFLOPS,60000", l->file,
				  l->number);
	l->key = ut_str_trim((struct ut_str){ text.ptr, (size_t)(comma - text.ptr) });
	l->value = ut_str_trim(
		(struct ut_str){ comma + 1, (size_t)(text.ptr + text.len - (comma + 1)) });
	l->key = roofline_device_unquoted(l->key);
	l->value = roofline_device_unquoted(l->value);
	return 0;
}

static bool roofline_device_number_of(struct ut_str text, double *value)
{
	char copy[MOST_DIGITS + 1], *end;

	if (!text.len || text.len > MOST_DIGITS)
		return false;
	memcpy(copy, text.ptr, text.len);
	copy[text.len] = '\0';
	*value = strtod(copy, &end);
	return !*end && isfinite(*value) && *value > 0;
}

static bool is_key(struct ut_str key, const char *name, const char *unit)
{
	return key.len == strlen(name) + strlen(unit) && ut_str_has_start(key, name) &&
	       ut_str_has_end(key, unit);
}

/* FP16_XMX_GFLOPS is FP16_TENSOR_GFLOPS, as Intel says it. */
static bool is_xmx(struct ut_str key, const char *file)
{
	size_t len = strlen(file) - strlen("TENSOR");

	return strlen(file) > strlen("_TENSOR") && ut_str_has_end(ut_str_of(file), "_TENSOR") &&
	       key.len == len + strlen("XMX_GFLOPS") && !memcmp(key.ptr, file, len) &&
	       ut_str_has_end(key, "XMX_GFLOPS");
}

static unsigned int roofline_device_part_of(struct ut_roof_device *d, struct ut_str key)
{
	for (unsigned int p = 0; p < UT_ROOF_PARTS; p++) {
		if (ut_roof_is_level(p)) {
			if (is_key(key, files[p], "_BW_in_GB_per_sec"))
				return p;
		} else if (is_key(key, files[p], "_GFLOPS")) {
			return p;
		} else if (is_xmx(key, files[p])) {
			d->says_xmx = true;
			return p;
		}
	}
	return UT_ROOF_NONE;
}

static int roofline_device_take(struct ut_roof_device *d, struct ut_arena *a, const struct line *l,
				const struct ut_logger *logger, struct ut_err *err)
{
	unsigned int part = roofline_device_part_of(d, l->key);
	double value;

	if (ut_str_is(l->key, "PlatformName")) {
		d->name = (struct ut_str){ ut_arena_copy(a, l->value.ptr, l->value.len),
					   l->value.len };
		return 0;
	}
	if (part == UT_ROOF_NONE) {
		ut_logger_log(logger, UT_WARN, "%s:%u: nobody knows the key %.*s", l->file,
			      l->number, (int)(l->key.len < 60 ? l->key.len : 60), l->key.ptr);
		return 0;
	}
	if (!roofline_device_number_of(l->value, &value))
		return ut_err_set(err, -EINVAL, "%s:%u: %.*s is no number above 0: '%.*s'", l->file,
				  l->number, (int)l->key.len, l->key.ptr,
				  (int)(l->value.len < 40 ? l->value.len : 40), l->value.ptr);
	d->peak[part] = value * 1e9;
	return 0;
}

int ut_roof_device_read(struct ut_roof_device *d, struct ut_arena *a, const char *name,
			struct ut_str text, const struct ut_logger *logger, struct ut_err *err)
{
	struct line l = { .file = name };
	bool any = false;
	int rc = 0;

	*d = (struct ut_roof_device){ .name = ut_str_of("") };
	while (text.len && !rc) {
		struct ut_str line = ut_str_trim(roofline_device_next_line(&text));

		l.number++;
		if (!line.len || line.ptr[0] == '#')
			continue;
		rc = roofline_device_split(&l, line, err);
		if (!rc)
			rc = roofline_device_take(d, a, &l, logger, err);
	}
	for (unsigned int p = 0; p < UT_ROOF_PARTS; p++)
		any = any || d->peak[p] > 0;
	if (!rc && !any)
		return ut_err_set(err, -EINVAL,
				  "%s: no peak of a device in it, such as FP32_GFLOPS,60000", name);
	return rc;
}
