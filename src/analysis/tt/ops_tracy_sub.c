#include "tt/ops_tracy_sub.h"

#include <string.h>

#include "base/hash.h"
#include "text/csv_read.h"
#include "text/source.h"

#define LONGEST 65536u /* bytes of a line; longer ones are no markers */
#define COLUMNS 64u

/* The fields of a line that say which run of which op it is about. */
enum {
	CHIP,
	OP,
	TRACE,
	REPLAY,
	FIELDS
};

static const char *const titles[FIELDS] = { "PCIe slot", "run host ID", "trace id",
					    "trace id counter" };

struct reader {
	struct ut_tracy_sub *s;
	bool titled;
	size_t field[FIELDS]; /* UT_CSV_NO_FIELD = it has none */
};

static uint64_t hash(const struct ut_tracy_key *key)
{
	return ut_hash_bytes(key, sizeof(*key));
}

/* Values have no commas: meta data has semicolons. */
static size_t ops_tracy_sub_split(struct ut_str line, struct ut_str fields[COLUMNS])
{
	size_t n = 0;

	while (n < COLUMNS) {
		const char *comma = line.len ? memchr(line.ptr, ',', line.len) : NULL;
		struct ut_str one = { line.ptr, comma ? (size_t)(comma - line.ptr) : line.len };

		line = (struct ut_str){ one.ptr + one.len + 1, comma ? line.len - one.len - 1 : 0 };
		while (one.len && *one.ptr == ' ')
			one = (struct ut_str){ one.ptr + 1, one.len - 1 };
		while (one.len && strchr(" \r", one.ptr[one.len - 1]))
			one.len--;
		fields[n++] = one;
		if (!comma)
			break;
	}
	return n;
}

static void read_titles(struct reader *d, struct ut_str line)
{
	struct ut_str fields[COLUMNS];
	size_t n = ops_tracy_sub_split(line, fields);

	for (int i = 0; i < FIELDS; i++) {
		d->field[i] = UT_CSV_NO_FIELD;
		for (size_t k = 0; k < n; k++) {
			if (ut_str_is(fields[k], titles[i]))
				d->field[i] = k;
		}
	}
	d->titled = d->field[CHIP] != UT_CSV_NO_FIELD && d->field[OP] != UT_CSV_NO_FIELD;
}

static int64_t ops_tracy_sub_number(const struct reader *d, const struct ut_str *fields, size_t n,
				    int field)
{
	uint64_t value;

	if (d->field[field] >= n || !ut_csv_number(fields[d->field[field]], &value) ||
	    value > INT64_MAX)
		return UT_TRACY_NO_TRACE;
	return (int64_t)value;
}

static void ops_tracy_sub_read_line(struct reader *d, struct ut_str line)
{
	static const char sign[] = "\"sub_device_id\":";
	const char *at = memmem(line.ptr, line.len, sign, strlen(sign));
	const char *end = line.ptr + line.len;
	struct ut_str fields[COLUMNS], digits;
	struct ut_tracy_key key;
	uint64_t value;
	size_t n;

	if (!d->titled) {
		read_titles(d, line);
		return;
	}
	if (!at)
		return;
	for (digits = (struct ut_str){ at + strlen(sign), 0 }; digits.ptr + digits.len < end &&
							       digits.ptr[digits.len] >= '0' &&
							       digits.ptr[digits.len] <= '9';)
		digits.len++;
	n = ops_tracy_sub_split(line, fields);
	key = (struct ut_tracy_key){ .op = (uint64_t)ops_tracy_sub_number(d, fields, n, OP),
				     .device = ops_tracy_sub_number(d, fields, n, CHIP),
				     .trace = ops_tracy_sub_number(d, fields, n, TRACE),
				     .replay = ops_tracy_sub_number(d, fields, n, REPLAY) };
	if (ut_csv_number(digits, &value) && value < UINT32_MAX &&
	    !ut_idmap_get(&d->s->by_run, hash(&key)))
		ut_idmap_put(&d->s->by_run, hash(&key), (uint32_t)value + 1);
}

/* Takes the whole lines of a text; returns how many bytes that was. */
static size_t ops_tracy_sub_read_lines(struct reader *d, const char *text, size_t len)
{
	size_t done = 0;
	const char *line;

	while ((line = memchr(text + done, '\n', len - done))) {
		ops_tracy_sub_read_line(
			d, (struct ut_str){ text + done, (size_t)(line - text) - done });
		done = (size_t)(line - text) + 1;
	}
	return done;
}

void ut_tracy_sub_read(struct ut_tracy_sub *s, struct ut_arena *a, const char *path)
{
	struct reader d = { .s = s };
	char text[LONGEST];
	struct ut_source source;
	size_t len = 0;
	ssize_t got;

	ut_idmap_init(&s->by_run, a);
	if (ut_source_open(&source, path, NULL))
		return;
	while ((got = ut_source_read(&source, text + len, sizeof(text) - len, NULL)) > 0) {
		size_t done;

		len += (size_t)got;
		done = ops_tracy_sub_read_lines(&d, text, len);
		done = len - done == sizeof(text) ? len : done;
		memmove(text, text + done, len - done);
		len -= done;
	}
	ops_tracy_sub_read_line(&d, (struct ut_str){ text, len });
	ut_source_close(&source);
}

bool ut_tracy_sub_find(const struct ut_tracy_sub *s, const struct ut_tracy_key *key,
		       uint64_t *sub_device)
{
	uint32_t found = ut_idmap_get(&s->by_run, hash(key));

	*sub_device = found - 1;
	return found > 0;
}
