#include "metrics/metrics_csv.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define UT_LOG_MODULE "metrics"
#include "base/arena.h"
#include "base/grow.h"
#include "base/hash.h"
#include "base/idmap.h"
#include "base/json.h"
#include "base/json_digits.h"
#include "base/logger.h"
#include "base/path.h"
#include "metrics/metrics_lines.h"
#include "model/strtab.h"

enum where {
	BEFORE, /* nothing but empty lines so far: a header needs no banner */
	OUTSIDE,
	BANNER, /* behind one: the header comes next */
	ROWS,
};

struct ut_metrics_file {
	struct ut_lines lines;
	const struct ut_logger *logger;
	struct ut_arena arena;
	struct ut_strtab kernels;
	enum where where;
	bool is_old;                              /* the banner is that of the older form */
	uint64_t device;                          /* of the banner, or of the file's name */
	const struct ut_metrics_section *section; /* the last one */
	const struct ut_metrics_section **sections;
	size_t section_count, section_cap;
	/* the row that was read last */
	struct ut_metrics_row row;
	struct ut_str name; /* as in the file: in memory that is read over */
	char *last;         /* a copy of it, to compare the next one with */
	size_t last_len, last_cap;
	struct ut_str rest;    /* behind the name and its comma */
	struct ut_str *fields; /* of the rest; count 0 = not split yet */
	size_t field_count, field_cap;
	bool is_apart;              /* an empty line came between */
	struct ut_idmap lines_seen; /* OLD: by their hash */
};

/* ---- titles --------------------------------------------------------------------------------- */

/* "NAME[%]" and "NAME[percent]" are the same: recordings have both. */
static bool is_title(struct ut_str column, struct ut_str title)
{
	static const char percent[] = "[percent]", sign[] = "[%]";

	if (ut_str_eq(column, title))
		return true;
	if (ut_str_has_end(column, percent) && ut_str_has_end(title, sign)) {
		column.len -= strlen(percent);
		title.len -= strlen(sign);
	} else if (ut_str_has_end(column, sign) && ut_str_has_end(title, percent)) {
		column.len -= strlen(sign);
		title.len -= strlen(percent);
	} else {
		return false;
	}
	return ut_str_eq(column, title);
}

size_t ut_metrics_column(const struct ut_metrics_section *s, struct ut_str title)
{
	/* the first is the kernel's name, whatever the others are called */
	for (size_t i = 1; i < s->count; i++) {
		if (is_title(s->columns[i], title))
			return i;
	}
	return UT_METRICS_NONE;
}

struct ut_str ut_metrics_unit(struct ut_str title)
{
	const char *open = title.len ? memrchr(title.ptr, '[', title.len) : NULL;

	if (!open || title.ptr[title.len - 1] != ']')
		return (struct ut_str){ "", 0 };
	return (struct ut_str){ open + 1, (size_t)(title.ptr + title.len - 2 - open) };
}

static bool is_header(struct ut_str line)
{
	return ut_str_has_start(ut_str_trim(line), "Kernel,");
}

/* Titles in the arena; an empty one at the end stands for nothing. */
static void read_titles(struct ut_metrics_file *f, struct ut_metrics_section *s, struct ut_str line)
{
	const char *p = ut_arena_copy(&f->arena, line.ptr, line.len), *end = p + line.len;
	struct ut_str *titles;
	size_t most = 1;

	for (size_t i = 0; i < line.len; i++)
		most += p[i] == ',';
	titles = UT_NEW_N(&f->arena, struct ut_str, most);
	while (p <= end) {
		const char *comma = p < end ? memchr(p, ',', (size_t)(end - p)) : NULL;
		const char *stop = comma ? comma : end;

		titles[s->count++] = ut_str_trim((struct ut_str){ p, (size_t)(stop - p) });
		p = stop + 1;
	}
	if (s->count > 1 && !titles[s->count - 1].len)
		s->count--;
	s->columns = titles;
}

static bool has_title(const struct ut_metrics_section *s, size_t at, const char *title)
{
	return at < s->count && ut_str_is(s->columns[at], title);
}

static void find_layout(struct ut_metrics_file *f, struct ut_metrics_section *s)
{
	if (ut_metrics_column(s, ut_str_of("OtherStall[Events]")) != UT_METRICS_NONE) {
		s->layout = UT_METRICS_STALL;
		s->first = has_title(s, 1, "IP[Address]") ? 2 : 1;
	} else if (has_title(s, 1, "Device")) {
		s->layout = UT_METRICS_OLD;
		s->first = has_title(s, 2, "SubDeviceId") ? 3 : 2;
	} else {
		s->first = has_title(s, 1, "GlobalInstanceId") ? 2 : 1;
		if (has_title(s, s->first, "SubDeviceId"))
			s->first++;
		s->layout = s->first == 3 || f->is_old ? UT_METRICS_QUERY : UT_METRICS_TIME;
	}
}

static bool same_titles(const struct ut_metrics_section *a, const struct ut_metrics_section *b)
{
	if (a->count != b->count || a->device != b->device || a->layout != b->layout)
		return false;
	for (size_t i = 0; i < a->count; i++) {
		if (!ut_str_eq(a->columns[i], b->columns[i]))
			return false;
	}
	return true;
}

static int read_header(struct ut_metrics_file *f, struct ut_str line, struct ut_err *err)
{
	struct ut_metrics_section *s = UT_NEW(&f->arena, struct ut_metrics_section);

	s->device = f->device;
	s->line = f->lines.line;
	read_titles(f, s, line);
	find_layout(f, s);
	if (s->first >= s->count)
		return ut_err_set(err, -EINVAL, "%s:%" PRIu64 ": the header names no metric",
				  f->lines.source.path, s->line);
	f->where = ROWS;
	f->is_apart = true;
	if (f->section && same_titles(f->section, s))
		return 0; /* the older form has one for each kernel */
	s->number = (uint32_t)f->section_count;
	f->sections = ut_grow(f->sections, f->section_count + 1, &f->section_cap,
			      sizeof(struct ut_metrics_section *));
	f->section = f->sections[f->section_count++] = s;
	return 0;
}

/* "=== Device #0 Metrics ===", "== Kernel Metrics ==", or the end of metrics. */
static void read_banner(struct ut_metrics_file *f, struct ut_str line)
{
	struct ut_str text = ut_str_trim(line);
	const char *number = memchr(text.ptr, '#', text.len);

	f->where = OUTSIDE;
	if (!memmem(text.ptr, text.len, "Metrics ==", strlen("Metrics ==")))
		return;
	f->where = BANNER;
	f->is_old = !number;
	f->device = 0;
	for (; number && isdigit((unsigned char)number[1]) && f->device < UINT32_MAX; number++)
		f->device = f->device * 10 + (uint64_t)(number[1] - '0');
}

/* ---- rows ----------------------------------------------------------------------------------- */

static int bad_row(const struct ut_metrics_file *f, struct ut_err *err, const char *what)
{
	return ut_err_set(err, -EINVAL, "%s:%" PRIu64 ": %s", f->lines.source.path, f->row.line,
			  what);
}

/*
 * A name without quotes ends where as many fields are left as there are columns: it may hold
 * commas itself. NULL: there are too few.
 */
static const char *plain_end(const struct ut_metrics_file *f, struct ut_str line)
{
	const char *p = line.ptr + line.len;
	size_t left = f->section->count - 1;

	if (line.len && p[-1] == ',')
		p--; /* some writers end a line with one */
	while (left && p > line.ptr) {
		p = memrchr(line.ptr, ',', (size_t)(p - line.ptr));
		if (!p)
			return NULL;
		left--;
	}
	return left ? NULL : p;
}

/* Takes the name off the line. */
static int take_name(struct ut_metrics_file *f, struct ut_str line, struct ut_err *err)
{
	const char *end = line.ptr + line.len, *close;

	while (line.len && (*line.ptr == ' ' || *line.ptr == '\t'))
		line = (struct ut_str){ line.ptr + 1, line.len - 1 };
	if (*line.ptr == '"' && (close = ut_lines_quote(line))) {
		f->name = (struct ut_str){ line.ptr + 1, (size_t)(close - line.ptr - 1) };
		close++;
	} else {
		close = plain_end(f, line);
		if (!close)
			return bad_row(f, err, "fewer fields than the header has columns");
		f->name = ut_str_trim((struct ut_str){ line.ptr, (size_t)(close - line.ptr) });
	}
	if (close == end)
		return bad_row(f, err, "a kernel's name and nothing else");
	f->rest = (struct ut_str){ close + 1, (size_t)(end - close - 1) };
	return 0;
}

/* The number of the name; "" in it is a quote. */
static uint32_t metrics_csv_intern(struct ut_metrics_file *f)
{
	struct ut_str name = f->name;
	struct ut_buf plain = { 0 };
	uint32_t id;

	if (!memmem(name.ptr, name.len, "\"\"", 2)) {
		id = ut_strtab_intern(&f->kernels, name.ptr, name.len);
	} else {
		for (size_t i = 0; i < name.len; i++) {
			ut_buf_char(&plain, name.ptr[i]);
			i += name.ptr[i] == '"' && i + 1 < name.len && name.ptr[i + 1] == '"';
		}
		id = ut_strtab_intern(&f->kernels, plain.data, plain.len);
		ut_buf_release(&plain);
	}
	return id ? id : ut_strtab_intern(&f->kernels, "?", 1); /* nobody has no name */
}

static void find_kernel(struct ut_metrics_file *f)
{
	if (f->row.kernel && ut_str_eq(f->name, (struct ut_str){ f->last, f->last_len }))
		return;
	f->row.kernel = metrics_csv_intern(f);
	f->last = ut_grow_raw(f->last, f->name.len + 1, &f->last_cap, 1);
	memcpy(f->last, f->name.ptr, f->name.len);
	f->last_len = f->name.len;
}

static unsigned int hex_digit(char c)
{
	return (unsigned int)(c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10);
}

/* A whole number of a field before the metrics. */
static int take_id(struct ut_metrics_file *f, const char **at, unsigned int base, uint64_t *value,
		   struct ut_err *err)
{
	const char *p = *at, *end = f->rest.ptr + f->rest.len, *first;
	uint64_t v = 0;

	while (p < end && *p == ' ')
		p++;
	for (first = p; p < end && isxdigit((unsigned char)*p); p++) {
		uint64_t digit = hex_digit(*p);

		if (digit >= base || v > (UINT64_MAX - digit) / base)
			break;
		v = v * base + digit;
	}
	while (p < end && *p == ' ')
		p++;
	if (p == first || (p < end && *p != ','))
		return bad_row(f, err,
			       base == 16 ? "the address of an instruction is no hex number"
					  : "the number of an instance or device is none");
	*value = v;
	*at = p < end ? p + 1 : end;
	return 0;
}

static int take_ids(struct ut_metrics_file *f, struct ut_err *err)
{
	const struct ut_metrics_section *s = f->section;
	struct ut_metrics_row *row = &f->row;
	const char *at = f->rest.ptr;
	uint64_t *const ids[] = { s->layout == UT_METRICS_OLD ? &row->device : &row->instance,
				  &row->sub_device };
	int rc = 0;

	if (s->layout == UT_METRICS_STALL)
		return s->first == 2 ? take_id(f, &at, 16, &row->address, err) : 0;
	for (size_t i = 0; i + 1 < s->first && i < 2 && !rc; i++)
		rc = take_id(f, &at, 10, ids[i], err);
	if (!rc && row->device > UINT32_MAX)
		rc = bad_row(f, err, "no device has such a number");
	return rc;
}

/*
 * An instance begins behind an empty line, and where another name or number comes; in the older
 * form, which has no numbers, also where a tile comes that it has already.
 */
static void count_group(struct ut_metrics_file *f, const struct ut_metrics_row *last)
{
	bool again = f->section->layout == UT_METRICS_OLD && f->row.sub_device <= last->sub_device;

	if (f->is_apart || f->row.kernel != last->kernel || f->row.instance != last->instance ||
	    again)
		f->row.group++;
	f->is_apart = false;
}

/* Older releases print some rows more than once. */
static bool is_repeated(struct ut_metrics_file *f, struct ut_str line)
{
	uint64_t hash;

	if (f->section->layout != UT_METRICS_OLD)
		return false;
	line = ut_str_trim(line);
	hash = ut_hash_bytes(line.ptr, line.len);
	if (ut_idmap_get(&f->lines_seen, hash))
		return true;
	ut_idmap_put(&f->lines_seen, hash, 1);
	return false;
}

static int metrics_csv_read_row(struct ut_metrics_file *f, struct ut_str line, struct ut_err *err)
{
	const struct ut_metrics_row last = f->row;
	int rc;

	f->row.section = f->section;
	f->row.line = f->lines.line;
	f->row.device = f->section->device;
	f->row.instance = f->row.sub_device = f->row.address = 0;
	f->field_count = 0;
	rc = take_name(f, line, err);
	if (rc)
		return rc;
	find_kernel(f);
	rc = take_ids(f, err);
	if (!rc) {
		f->row.is_repeated = is_repeated(f, line);
		count_group(f, &last);
	}
	return rc;
}

/* ---- fields --------------------------------------------------------------------------------- */

static int metrics_csv_split(struct ut_metrics_file *f, struct ut_err *err)
{
	const char *p = f->rest.ptr, *end = p + f->rest.len;
	size_t want = f->section->count - 1;
	char said[96];

	f->fields = ut_grow_raw(f->fields, want + 1, &f->field_cap, sizeof(*f->fields));
	while (f->field_count <= want) {
		const char *begin = p;

		while (p < end && *p != ',')
			p++;
		f->fields[f->field_count++] = (struct ut_str){ begin, (size_t)(p - begin) };
		if (p++ >= end)
			break;
	}
	/* one that is empty, at the end of a line, is none */
	if (f->field_count == want + 1 && p >= end && !ut_str_trim(f->fields[want]).len)
		f->field_count--;
	if (f->field_count == want)
		return 0;
	snprintf(said, sizeof(said), "%s fields than the header in line %" PRIu64 " has columns",
		 f->field_count < want ? "fewer" : "more", f->section->line);
	f->field_count = 0;
	return bad_row(f, err, said);
}

int ut_metrics_field(struct ut_metrics_file *f, size_t column, struct ut_str *field,
		     struct ut_err *err)
{
	int rc = f->field_count ? 0 : metrics_csv_split(f, err);

	if (rc)
		return rc;
	*field = ut_str_trim(f->fields[column - 1]);
	return 0;
}

static int odd_value(const struct ut_metrics_file *f, size_t column, struct ut_str field,
		     double *value, struct ut_err *err)
{
	struct ut_str title = f->section->columns[column];
	struct ut_json_number number;

	*value = NAN;
	if (!field.len)
		return 0;
	if (ut_json_number(field, &number) == UT_JSON_NOT)
		return ut_err_set(err, -EINVAL, "%s:%" PRIu64 ": %.*s is no number: %.*s",
				  f->lines.source.path, f->row.line,
				  (int)(title.len < 100 ? title.len : 100), title.ptr,
				  (int)(field.len < 40 ? field.len : 40), field.ptr);
	*value = number.f64;
	return 0;
}

int ut_metrics_value(struct ut_metrics_file *f, size_t column, double *value, struct ut_err *err)
{
	static const double tens[] = { 1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9 };
	struct ut_json_decimal d = { 0 };
	struct ut_str field;
	const char *end;
	int rc = ut_metrics_field(f, column, &field, err);

	if (rc)
		return rc;
	end = field.len ? ut_json_decimal(field.ptr, &d) : NULL;
	if (end != field.ptr + field.len || d.digits > (UINT64_C(1) << 53) || d.decimals > 9)
		return odd_value(f, column, field, value, err);
	*value = (double)d.digits / tens[d.decimals];
	if (d.negative)
		*value = -*value;
	return 0;
}

/* ---- the file ------------------------------------------------------------------------------- */

static bool is_banner(struct ut_str line)
{
	return ut_str_has_start(ut_str_trim(line), "==");
}

/* What a line means where we are: 1 if it is a row. */
static int metrics_csv_take_line(struct ut_metrics_file *f, struct ut_str line, struct ut_err *err)
{
	int rc;

	if (!ut_str_trim(line).len) {
		f->is_apart = true;
		return 0;
	}
	if (is_banner(line)) {
		read_banner(f, line);
		return 0;
	}
	if (f->where == OUTSIDE)
		return 0;
	if (is_header(line))
		return read_header(f, line, err);
	if (f->where != ROWS) {
		f->where = f->where == BEFORE ? OUTSIDE : f->where;
		return 0;
	}
	rc = metrics_csv_read_row(f, line, err);
	return rc ? rc : 1;
}

/* A run that was killed leaves half a line: what is whole counts. */
static bool was_cut(const struct ut_metrics_file *f)
{
	if (f->lines.is_whole)
		return false;
	ut_logger_log(f->logger, UT_WARN,
		      "%s:%" PRIu64 ": the last line is cut off, it is left out",
		      f->lines.source.path, f->lines.line);
	return true;
}

int ut_metrics_next(struct ut_metrics_file *f, struct ut_metrics_row *row, struct ut_err *err)
{
	struct ut_err why = { 0 };
	struct ut_str line;
	int rc;

	while ((rc = ut_lines_next(&f->lines, &line, err)) == 1) {
		rc = metrics_csv_take_line(f, line, &why);
		if (rc == 1 && !f->lines.is_whole)
			rc = metrics_csv_split(f, &why) ? -EINVAL : 1;
		if (rc < 0 && was_cut(f))
			return 0;
		if (rc < 0)
			return ut_err_set(err, why.code, "%s", why.text);
		if (rc == 1) {
			*row = f->row;
			return 1;
		}
	}
	return rc;
}

/* Of "metrics_1.csv": files of one device have no banner. */
static uint64_t metrics_csv_device_of(const char *path)
{
	unsigned int device;

	return sscanf(ut_path_base(path), "metrics_%9u.", &device) == 1 ? device : 0;
}

/* On to the first header. */
static int find_first(struct ut_metrics_file *f, struct ut_err *err)
{
	const char *path = f->lines.source.path;
	struct ut_str line;
	int rc = 0;

	while (!f->section && (rc = ut_lines_next(&f->lines, &line, err)) == 1) {
		rc = metrics_csv_take_line(f, line, err);
		if (rc < 0)
			return rc;
	}
	if (rc < 0 || f->section)
		return rc < 0 ? rc : 0;
	if (!f->lines.line)
		return ut_err_set(err, -ENODATA, "File %s is empty", path);
	return ut_err_set(err, -EINVAL,
			  "%s: no metrics in it: no line 'Kernel,...' behind '=== Device #N "
			  "Metrics ==='",
			  path);
}

int ut_metrics_open(struct ut_metrics_file **file, const char *path, const struct ut_logger *logger,
		    struct ut_err *err)
{
	struct ut_metrics_file *f = ut_make(sizeof(*f));
	int rc = ut_lines_open(&f->lines, path, err);

	*file = NULL;
	if (rc) {
		free(f);
		return rc;
	}
	f->logger = logger;
	f->device = metrics_csv_device_of(path);
	ut_strtab_init(&f->kernels, &f->arena);
	rc = find_first(f, err);
	if (rc)
		ut_metrics_close(f);
	else
		*file = f;
	return rc;
}

void ut_metrics_close(struct ut_metrics_file *f)
{
	if (!f)
		return;
	ut_lines_close(&f->lines);
	free(f->fields);
	free(f->sections);
	free(f->last);
	ut_idmap_release(&f->lines_seen);
	ut_arena_release(&f->arena);
	free(f);
}

const struct ut_metrics_section *ut_metrics_section(const struct ut_metrics_file *f, size_t number)
{
	return number < f->section_count ? f->sections[number] : NULL;
}

struct ut_str ut_metrics_kernel(const struct ut_metrics_file *f, uint32_t kernel)
{
	return ut_strtab_get(&f->kernels, kernel);
}

uint32_t ut_metrics_kernels(const struct ut_metrics_file *f)
{
	return f->kernels.count;
}
