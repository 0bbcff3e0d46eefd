#include "tt/read_log.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "text/source.h"
#include "tt/log_columns.h"
#include "tt/read_log_build.h"

#define CHUNK    (1u << 20)
#define MAX_LINE (1u << 20)

struct reader {
	struct ut_tt_log *log;
	const struct ut_tt_read_opts *opts;
	const char *path;
	struct ut_tt_build build;
	struct ut_tt_columns columns;
	struct ut_str fields[UT_TT_MAX_FIELDS];
	uint64_t line; /* number of the one that is being read */
	bool ready;    /* the columns are known */
	bool usual;    /* and the first ones are in the order that they have always had */
	/* rows of one lane follow each other: the text that named the last one, and its lane */
	char place[128];
	size_t place_len;
	uint32_t lane;
	struct ut_err *err;
};

static int bad(struct reader *r, const char *what, struct ut_str f)
{
	int shown = f.len < 40 ? (int)f.len : 40;

	return ut_err_set(r->err, -EINVAL, "%s:%" PRIu64 ": %s '%.*s'", r->path, r->line, what,
			  shown, f.ptr);
}

static int too_short(struct reader *r, int n)
{
	return ut_err_set(r->err, -EINVAL,
			  "%s:%" PRIu64 ": %d fields where %d are needed; is the log cut?", r->path,
			  r->line, n, r->columns.count);
}

static bool to_u64(struct ut_str f, uint64_t *value)
{
	uint64_t v = 0;

	if (!f.len || f.len > 20)
		return false;
	for (size_t i = 0; i < f.len; i++) {
		unsigned int digit = (unsigned int)(unsigned char)f.ptr[i] - '0';

		if (digit > 9 || v > (UINT64_MAX - digit) / 10)
			return false;
		v = v * 10 + digit;
	}
	*value = v;
	return true;
}

static bool to_i64(struct ut_str f, int64_t min, int64_t max, int64_t *value)
{
	bool minus = f.len && f.ptr[0] == '-';
	uint64_t v;

	if (!to_u64((struct ut_str){ f.ptr + minus, f.len - minus }, &v) || v > INT64_MAX)
		return false;
	*value = minus ? -(int64_t)v : (int64_t)v;
	return *value >= min && *value <= max;
}

/* ---- a row --------------------------------------------------------------------------------- */

static struct ut_str field(const struct reader *r, const struct ut_str *fields,
			   enum ut_tt_column column, int count)
{
	int at = r->columns.at[column];

	return at >= 0 && at < count ? fields[at] : (struct ut_str){ "", 0 };
}

static int find_lane(struct reader *r, const char *line)
{
	const struct ut_str *f = r->fields;
	const int *at = r->columns.at;
	struct ut_tt_place place;
	int64_t chip, x, y;
	size_t len = (size_t)(f[at[UT_TT_TIMER]].ptr - line);

	/* only where the four columns stand in front of the timer, as they always have */
	if (len && len == r->place_len && !memcmp(line, r->place, len))
		return 0;
	if (!to_i64(f[at[UT_TT_CHIP]], 0, INT32_MAX, &chip))
		return bad(r, "not a chip number:", f[at[UT_TT_CHIP]]);
	if (!to_i64(f[at[UT_TT_X]], INT16_MIN, INT16_MAX, &x))
		return bad(r, "not a core's x:", f[at[UT_TT_X]]);
	if (!to_i64(f[at[UT_TT_Y]], INT16_MIN, INT16_MAX, &y))
		return bad(r, "not a core's y:", f[at[UT_TT_Y]]);
	if (!f[at[UT_TT_RISC]].len)
		return bad(r, "no RISC in row", f[at[UT_TT_RISC]]);
	place = (struct ut_tt_place){ .chip = (int32_t)chip, .x = (int32_t)x, .y = (int32_t)y };
	place.risc = f[at[UT_TT_RISC]];
	r->lane = ut_tt_build_lane(&r->build, &place);
	if (r->lane == UINT32_MAX)
		return bad(r, "more than 256 kinds of RISC, the last one", place.risc);
	r->place_len = 0;
	if (len < sizeof(r->place) && at[UT_TT_CHIP] < at[UT_TT_TIMER] &&
	    at[UT_TT_X] < at[UT_TT_TIMER] && at[UT_TT_Y] < at[UT_TT_TIMER] &&
	    at[UT_TT_RISC] < at[UT_TT_TIMER]) {
		memcpy(r->place, line, len);
		r->place_len = len;
	}
	return 0;
}

static uint8_t phase_of(struct ut_str f)
{
	static const struct {
		const char *name;
		enum ut_tt_phase phase;
	} phases[] = {
		{ "ZONE_START", UT_TT_START }, { "ZONE_END", UT_TT_END },
		{ "ZONE_TOTAL", UT_TT_TOTAL }, { "TS_DATA", UT_TT_DATA },
		{ "TS_EVENT", UT_TT_EVENT },   { "begin", UT_TT_START },
		{ "end", UT_TT_END },          { "sum", UT_TT_TOTAL },
	};

	for (size_t i = 0; i < sizeof(phases) / sizeof(phases[0]); i++) {
		if (ut_str_is(f, phases[i].name))
			return (uint8_t)phases[i].phase;
	}
	return UT_TT_OTHER;
}

/* A number that may be missing; `none` stands for it then. */
static int optional(struct reader *r, struct ut_str f, int64_t none, int64_t *value)
{
	*value = none;
	if (f.len && !to_i64(f, INT64_MIN + 1, INT64_MAX, value))
		return bad(r, "not a whole number:", f);
	return 0;
}

static uint32_t read_log_intern(struct reader *r, struct ut_str f)
{
	return ut_strtab_intern(&r->log->strings, f.ptr, f.len);
}

/* All fields of a row whose mark has not been seen yet. */
static int make_mark(struct reader *r, const char *line, size_t len, struct ut_tt_mark *m)
{
	struct ut_str f[UT_TT_MAX_FIELDS], type;
	int n = ut_tt_split(line, len, f, r->columns.most);
	int64_t run, host;

	if (n < r->columns.count)
		return too_short(r, n);
	*m = (struct ut_tt_mark){ .phase = UT_TT_OTHER };
	if (!to_i64(f[r->columns.at[UT_TT_TIMER]], INT64_MIN + 1, INT64_MAX, &m->id))
		return bad(r, "not a timer number:", f[r->columns.at[UT_TT_TIMER]]);
	if (optional(r, field(r, f, UT_TT_RUN, n), 0, &run) ||
	    optional(r, field(r, f, UT_TT_HOST, n), r->columns.at[UT_TT_HOST] < 0 ? run : 0,
		     &host) ||
	    optional(r, field(r, f, UT_TT_TRACE, n), -1, &m->trace) ||
	    optional(r, field(r, f, UT_TT_REPLAY, n), -1, &m->replay) ||
	    optional(r, field(r, f, UT_TT_LINE, n), 0, &m->line))
		return -EINVAL;
	m->run = (uint64_t)run;
	m->host = (uint64_t)host;
	type = field(r, f, UT_TT_TYPE, n);
	m->phase = phase_of(type);
	m->type = read_log_intern(r, type);
	m->zone = read_log_intern(r, field(r, f, UT_TT_ZONE, n));
	m->file = read_log_intern(r, field(r, f, UT_TT_FILE, n));
	m->meta = read_log_intern(r, field(r, f, UT_TT_META, n));
	return 0;
}

static int find_mark(struct reader *r, const char *line, size_t len, const struct ut_tt_key *key,
		     uint32_t *mark)
{
	struct ut_tt_mark made;
	int rc;

	*mark = ut_tt_build_find(&r->build, key);
	if (*mark != UINT32_MAX)
		return 0;
	rc = make_mark(r, line, len, &made);
	if (!rc)
		*mark = ut_tt_build_mark(&r->build, key, &made);
	return rc;
}

static int read_log_add_row(struct reader *r, const struct ut_tt_row *row)
{
	if (ut_tt_build_row(&r->build, r->lane, row, r->line))
		return 0;
	return ut_err_set(r->err, -EFBIG, "%s:%" PRIu64 ": more than 4294967294 rows", r->path,
			  r->line);
}

/*
 * What identifies a mark: the timer and every field behind those that differ from row to row, as
 * they are written. In an order of columns that nobody has written so far: the whole line.
 */
static int read_log_read_row(struct reader *r, const char *line, size_t len)
{
	int lead = r->columns.lead;
	int n = ut_tt_split(line, len, r->fields, lead + 1);
	const int *at = r->columns.at;
	struct ut_tt_row row = { 0 };
	struct ut_tt_key key;
	const char *tail;
	int rc;

	if (n < lead)
		return too_short(r, n);
	if (!to_u64(r->fields[at[UT_TT_TIME]], &row.ts))
		return bad(r, "not a time in cycles:", r->fields[at[UT_TT_TIME]]);
	if (at[UT_TT_VALUE] >= 0 && r->fields[at[UT_TT_VALUE]].len &&
	    !to_u64(r->fields[at[UT_TT_VALUE]], &row.data))
		return bad(r, "not a value:", r->fields[at[UT_TT_VALUE]]);
	tail = r->columns.mixed ? line : r->fields[lead - 1].ptr + r->fields[lead - 1].len;
	key.timer = r->fields[at[UT_TT_TIMER]];
	key.tail = (struct ut_str){ tail, (size_t)(line + len - tail) };
	rc = find_mark(r, line, len, &key, &row.mark);
	/* last, since a lane that was found must have a row */
	if (!rc)
		rc = find_lane(r, line);
	return rc ? rc : read_log_add_row(r, &row);
}

/* A plain number up to a comma or the end; NULL if it is anything else. Empty is 0. */
static const char *plain_number(const char *p, const char *end, uint64_t *value)
{
	const char *first = p;

	for (*value = 0; p < end && *p >= '0' && *p <= '9'; p++)
		*value = *value * 10 + (uint64_t)(*p - '0');
	return p - first < 20 && (p == end || *p == ',') ? p : NULL;
}

static const char *next_field(const char *p, const char *end)
{
	if (p == end)
		return NULL;
	for (p++; p < end && *p == ' '; p++)
		;
	return p;
}

/*
 * Nearly all rows: the lane of the row before, the usual columns, plain numbers. False, and nothing
 * has happened, where that is not so.
 */
static bool read_usual_row(struct reader *r, const char *line, size_t len, int *rc)
{
	const char *end = line + len, *timer = line + r->place_len, *p, *stop;
	struct ut_tt_row row = { 0 };
	struct ut_tt_key key;
	uint64_t id;

	if (!r->usual || !r->place_len || len <= r->place_len ||
	    memcmp(line, r->place, r->place_len))
		return false;
	stop = plain_number(timer, end, &id);
	p = stop && stop > timer ? next_field(stop, end) : NULL;
	if (!p)
		return false;
	key.timer = (struct ut_str){ timer, (size_t)(stop - timer) };
	stop = plain_number(p, end, &row.ts);
	if (!stop || stop == p)
		return false;
	if (r->columns.at[UT_TT_VALUE] >= 0) {
		p = next_field(stop, end);
		stop = p ? plain_number(p, end, &row.data) : NULL;
		if (!stop)
			return false;
	}
	key.tail = (struct ut_str){ stop, (size_t)(end - stop) };
	*rc = find_mark(r, line, len, &key, &row.mark);
	if (!*rc)
		*rc = read_log_add_row(r, &row);
	return true;
}

/* ---- the first lines ----------------------------------------------------------------------- */

static void read_log_finalize(struct reader *r)
{
	struct ut_tt_log *log = r->log;

	log->zones = r->columns.at[UT_TT_ZONE] >= 0;
	for (int i = 0; i < UT_TT_COLUMNS; i++)
		log->has[i] = r->columns.at[i] >= 0;
	if (r->opts->arch)
		log->arch = ut_arena_copy(&log->arena, r->opts->arch, strlen(r->opts->arch));
	if (r->opts->mhz)
		log->mhz = r->opts->mhz;
	log->arch_guessed = !log->arch;
	log->mhz_guessed = !log->mhz;
	log->arch = log->arch ? log->arch : UT_TT_OLD_ARCH;
	log->mhz = log->mhz ? log->mhz : UT_TT_OLD_MHZ;
	r->usual = r->columns.at[UT_TT_VALUE] < 0 || r->columns.at[UT_TT_VALUE] == UT_TT_VALUE;
	for (int i = 0; i < UT_TT_VALUE; i++)
		r->usual = r->usual && r->columns.at[i] == i;
	r->ready = true;
}

/* A line before the first row: the chip, the columns, or the first row already. */
static int read_start(struct reader *r, const char *line, size_t len)
{
	int n = ut_tt_split(line, len, r->fields, UT_TT_MAX_FIELDS);
	const char *missing = NULL;

	if (ut_tt_is_header(r->fields, n)) {
		if (!ut_tt_columns_named(&r->columns, r->fields, n, &missing))
			return ut_err_set(r->err, -EINVAL, "%s:%" PRIu64 ": no column '%s'",
					  r->path, r->line, missing);
		read_log_finalize(r);
		return 0;
	}
	if (!r->log->arch && ut_tt_first_line(r->log, line, len))
		return 0;
	if (!ut_tt_columns_guess(&r->columns, r->fields, n))
		return ut_err_set(r->err, -EINVAL,
				  "%s:%" PRIu64 ": not a device log: neither 'ARCH: ...', nor the "
				  "names of its columns, nor a row",
				  r->path, r->line);
	read_log_finalize(r);
	return read_log_read_row(r, line, len);
}

/*
 * The first lines again, where logs were put one behind the other. False if it is not one of them.
 * Other columns than before would need another reader.
 */
static bool read_again(struct reader *r, const char *line, size_t len, int *rc)
{
	struct ut_tt_log first = { 0 };
	struct ut_tt_columns columns;
	const char *missing = NULL;
	int n = ut_tt_split(line, len, r->fields, UT_TT_MAX_FIELDS);

	*rc = 0;
	if (ut_tt_is_header(r->fields, n)) {
		if (!ut_tt_columns_named(&columns, r->fields, n, &missing) ||
		    memcmp(columns.at, r->columns.at, sizeof(columns.at)))
			*rc = ut_err_set(r->err, -EINVAL,
					 "%s:%" PRIu64 ": from here on there are other columns; "
					 "analyse the parts apart",
					 r->path, r->line);
		return true;
	}
	if (!ut_tt_first_line(&first, line, len))
		return false;
	ut_arena_release(&first.arena);
	return true;
}

static int read_log_read_line(struct reader *r, const char *line, size_t len)
{
	int rc;

	r->line++;
	if (len && line[len - 1] == '\r')
		len--;
	if (!len)
		return 0;
	if (read_usual_row(r, line, len, &rc))
		return rc;
	if (r->ready && strchr("ACP", *line) && read_again(r, line, len, &rc))
		return rc;
	return r->ready ? read_log_read_row(r, line, len) : read_start(r, line, len);
}

/* ---- the bytes ----------------------------------------------------------------------------- */

/* Lines that are complete; returns where the rest begins, NULL on failure. */
static const char *read_log_read_lines(struct reader *r, const char *p, const char *end, int *rc)
{
	const char *newline;

	while ((newline = memchr(p, '\n', (size_t)(end - p)))) {
		*rc = read_log_read_line(r, p, (size_t)(newline - p));
		if (*rc)
			return NULL;
		p = newline + 1;
	}
	return p;
}

/* Without its end, a line that makes no sense is one that was cut: the rest of the log is good. */
static int read_last_line(struct reader *r, const char *line, size_t len)
{
	int rc = read_log_read_line(r, line, len);

	if (rc == -EINVAL && r->build.row_count) {
		r->log->doubts.cut_line = r->line;
		*r->err = (struct ut_err){ 0 };
		rc = 0;
	}
	return rc;
}

static int read_log_read_all(struct reader *r, ut_tt_read_fn read, void *ctx)
{
	size_t cap = CHUNK + MAX_LINE, held = 0;
	char *buf = malloc(cap);
	int rc = 0;

	if (!buf)
		abort();
	for (;;) {
		ssize_t got = read(ctx, buf + held, CHUNK, r->err);
		const char *rest;

		if (got <= 0) {
			rc = (int)got;
			break;
		}
		rest = read_log_read_lines(r, buf, buf + held + got, &rc);
		if (rc)
			break;
		held = (size_t)(buf + held + got - rest);
		if (held > MAX_LINE) {
			rc = ut_err_set(r->err, -EINVAL, "%s:%" PRIu64 ": line of over 1 MiB",
					r->path, r->line + 1);
			break;
		}
		memmove(buf, rest, held);
	}
	if (!rc && held)
		rc = read_last_line(r, buf, held);
	free(buf);
	return rc;
}

int ut_tt_read(struct ut_tt_log *log, const char *path, ut_tt_read_fn read, void *ctx,
	       const struct ut_tt_read_opts *opts, struct ut_err *err)
{
	struct reader r = { .log = log, .opts = opts, .path = path, .err = err };
	int rc;

	ut_tt_build_init(&r.build, log);
	rc = read_log_read_all(&r, read, ctx);
	if (!rc && !r.ready)
		rc = ut_err_set(err, -EINVAL, "%s: empty: no names of columns and no rows", path);
	if (!rc && !r.build.row_count)
		rc = ut_err_set(err, -EINVAL, "%s:%" PRIu64 ": no rows", path, r.line);
	if (!rc)
		ut_tt_build_finish(&r.build);
	ut_tt_build_release(&r.build);
	return rc;
}

static ssize_t read_log_read_source(void *ctx, void *to, size_t len, struct ut_err *err)
{
	return ut_source_read(ctx, to, len, err);
}

int ut_tt_read_file(struct ut_tt_log *log, const char *path, const struct ut_tt_read_opts *opts,
		    struct ut_err *err)
{
	struct ut_source source;
	int rc = ut_source_open(&source, path, err);

	if (rc)
		return rc;
	rc = ut_tt_read(log, path, read_log_read_source, &source, opts, err);
	log->doubts.cut_packed = !rc && source.cut;
	ut_source_close(&source);
	return rc;
}
