#include "export/table.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "analyze/summary.h"
#include "base/str.h"
#include "export/out.h"
#include "export/utf8.h"

#define NAME_COLUMNS   48
#define DOMAIN_COLUMNS 28
#define TIME_COLUMNS   9
#define ELLIPSIS       "\xe2\x80\xa6" /* one column */

/* A name made fit for a terminal: no control characters, no bad UTF-8, not too wide. */
struct cell {
	char text[NAME_COLUMNS * 4 + 4];
	size_t len, columns;
};

static size_t count_chars(struct ut_str s)
{
	size_t n = 0;
	bool ok;

	for (size_t i = 0; i < s.len; n++)
		i += ut_utf8_step(s.ptr + i, s.len - i, &ok);
	return n;
}

/* C0 and C1 controls: a name must not move the cursor or set the title. */
static bool is_control(const char *s, size_t n)
{
	unsigned char first = (unsigned char)s[0];

	return (n == 1 && (first < 0x20 || first == 0x7f)) ||
	       (n == 2 && first == 0xc2 && (unsigned char)s[1] < 0xa0);
}

static void add_char(struct cell *c, const char *s, size_t n)
{
	memcpy(c->text + c->len, s, n);
	c->len += n;
	c->columns++;
}

/* A name that is too wide loses its middle: both ends tell more. */
static void make_cell(struct cell *c, struct ut_str s, size_t max)
{
	size_t total = count_chars(s), at = 0, n;
	size_t head = total > max ? max / 2 : total;
	size_t tail = total > max ? total - (max - max / 2 - 1) : total;
	bool ok;

	*c = (struct cell){ 0 };
	for (size_t i = 0; i < s.len; i += n, at++) {
		n = ut_utf8_step(s.ptr + i, s.len - i, &ok);
		if (at == head && at < tail)
			add_char(c, ELLIPSIS, strlen(ELLIPSIS));
		if (at >= head && at < tail)
			continue;
		if (!ok)
			add_char(c, UT_UTF8_BAD, 3);
		else if (is_control(s.ptr + i, n))
			add_char(c, "?", 1);
		else
			add_char(c, s.ptr + i, n);
	}
}

static void put_cell(struct ut_out *o, struct ut_str s, size_t columns, size_t max)
{
	struct cell c;

	make_cell(&c, s, max);
	ut_out_write(o, c.text, c.len);
	for (size_t i = c.columns; i < columns; i++)
		ut_out_text(o, " ");
}

static size_t widest(const struct ut_summary *s, size_t rows, bool domains, size_t max)
{
	size_t columns = 0;

	for (size_t i = 0; i < rows; i++) {
		uint32_t id = domains ? s->rows[i].cat : s->rows[i].name;
		size_t n = count_chars(ut_strtab_get(&s->strings, id));

		columns = n > columns ? n : columns;
	}
	return columns < max ? columns : max;
}

/* Four digits and a unit: "12.34 ms". */
static void put_time(struct ut_out *o, uint64_t ns)
{
	static const char *const units[] = { "us", "ms", "s" };
	double value = (double)ns / 1000;
	size_t unit = 0;
	int places = 0;
	char text[40];

	if (ns < 1000) {
		snprintf(text, sizeof(text), "%" PRIu64 " ns", ns);
	} else {
		/* 999.95 and more would be printed as 1000.0 */
		for (; value >= 999.95 && unit < 2; unit++)
			value /= 1000;
		for (double limit = 999.95; places < 3 && value < limit; limit /= 10)
			places++;
		snprintf(text, sizeof(text), "%.*f %s", places, value, units[unit]);
	}
	ut_out_fmt(o, "  %*s", TIME_COLUMNS, text);
}

static double share(const struct ut_summary *s, uint64_t self)
{
	return s->self_total ? 100.0 * (double)self / (double)s->self_total : 0.0;
}

struct layout {
	size_t name, domain; /* columns; domain 0 = nobody has one */
	int calls;
};

static void put_header(struct ut_out *o, const struct layout *l)
{
	ut_out_fmt(o, "%-*s", (int)l->name, "Task");
	if (l->domain)
		ut_out_fmt(o, "  %-*s", (int)l->domain, "Domain");
	ut_out_fmt(o, "  %*s", l->calls, "Calls");
	ut_out_fmt(o, "  %*s  %*s  %*s  %*s  %*s   Share\n", TIME_COLUMNS, "Total", TIME_COLUMNS,
		   "Self", TIME_COLUMNS, "Average", TIME_COLUMNS, "Min", TIME_COLUMNS, "Max");
}

static void put_row(struct ut_out *o, const struct ut_summary *s, const struct layout *l,
		    const struct ut_summary_row *row)
{
	put_cell(o, ut_strtab_get(&s->strings, row->name), l->name, NAME_COLUMNS);
	if (l->domain) {
		ut_out_text(o, "  ");
		put_cell(o, ut_strtab_get(&s->strings, row->cat), l->domain, DOMAIN_COLUMNS);
	}
	ut_out_fmt(o, "  %*" PRIu64, l->calls, row->calls);
	put_time(o, row->total);
	if (row->on_thread)
		put_time(o, row->self);
	else
		ut_out_fmt(o, "  %*s", TIME_COLUMNS, "-");
	put_time(o, row->total / row->calls);
	put_time(o, row->min);
	put_time(o, row->max);
	if (row->on_thread)
		ut_out_fmt(o, "  %5.1f%%\n", share(s, row->self));
	else
		ut_out_fmt(o, "  %6s\n", "-");
}

static void put_rest(struct ut_out *o, const struct ut_summary *s, size_t shown)
{
	uint64_t self = 0;

	for (size_t i = shown; i < s->count; i++)
		self += s->rows[i].self;
	ut_out_fmt(o, "... and %zu more, %.1f%% of the time\n", s->count - shown, share(s, self));
}

void ut_table_text(struct ut_out *o, const struct ut_summary *s, size_t limit)
{
	size_t rows = limit && limit < s->count ? limit : s->count;
	struct layout l = {
		.name = widest(s, rows, false, NAME_COLUMNS),
		.domain = widest(s, rows, true, DOMAIN_COLUMNS),
		.calls = (int)strlen("Calls"),
	};

	if (!s->count) {
		ut_out_text(o, "no tasks\n");
		return;
	}
	l.name = l.name > strlen("Task") ? l.name : strlen("Task");
	if (l.domain)
		l.domain = l.domain > strlen("Domain") ? l.domain : strlen("Domain");
	for (size_t i = 0; i < rows; i++) {
		int digits = snprintf(NULL, 0, "%" PRIu64, s->rows[i].calls);

		l.calls = digits > l.calls ? digits : l.calls;
	}
	put_header(o, &l);
	for (size_t i = 0; i < rows; i++)
		put_row(o, s, &l, &s->rows[i]);
	if (rows < s->count)
		put_rest(o, s, rows);
}

/* RFC 4180: quoted always, quotes doubled. NULs, which many readers stop at, are replaced too. */
static void put_csv_str(struct ut_out *o, struct ut_str s)
{
	size_t n;
	bool ok;

	ut_out_text(o, "\"");
	for (size_t i = 0; i < s.len; i += n) {
		n = ut_utf8_step(s.ptr + i, s.len - i, &ok);
		if (!ok || !s.ptr[i])
			ut_out_text(o, UT_UTF8_BAD);
		else
			ut_out_write(o, s.ptr + i, n);
		if (s.ptr[i] == '"')
			ut_out_text(o, "\"");
	}
	ut_out_text(o, "\"");
}

void ut_table_csv(struct ut_out *o, const struct ut_summary *s)
{
	ut_out_text(o, "task,domain,calls,total_ns,self_ns,average_ns,min_ns,max_ns,share\n");
	for (size_t i = 0; i < s->count; i++) {
		const struct ut_summary_row *row = &s->rows[i];

		put_csv_str(o, ut_strtab_get(&s->strings, row->name));
		ut_out_text(o, ",");
		put_csv_str(o, ut_strtab_get(&s->strings, row->cat));
		ut_out_fmt(o,
			   ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64,
			   row->calls, row->total, row->self, row->total / row->calls, row->min,
			   row->max);
		ut_out_fmt(o, ",%.4f\n", share(s, row->self));
	}
}

static void put_json_row(struct ut_out *o, const struct ut_summary *s,
			 const struct ut_summary_row *row)
{
	struct ut_str name = ut_strtab_get(&s->strings, row->name);
	struct ut_str cat = ut_strtab_get(&s->strings, row->cat);

	ut_out_text(o, "{\"task\":");
	ut_out_json_str(o, name.ptr, name.len);
	ut_out_text(o, ",\"domain\":");
	ut_out_json_str(o, cat.ptr, cat.len);
	ut_out_fmt(o, ",\"calls\":%" PRIu64 ",\"total_ns\":%" PRIu64 ",\"self_ns\":%" PRIu64,
		   row->calls, row->total, row->self);
	ut_out_fmt(o, ",\"average_ns\":%" PRIu64 ",\"min_ns\":%" PRIu64 ",\"max_ns\":%" PRIu64,
		   row->total / row->calls, row->min, row->max);
	ut_out_fmt(o, ",\"share\":%.4f}", share(s, row->self));
}

void ut_table_json(struct ut_out *o, const struct ut_summary *s)
{
	ut_out_fmt(o, "{\"self_total_ns\":%" PRIu64 ",\"tasks\":[", s->self_total);
	for (size_t i = 0; i < s->count; i++) {
		ut_out_text(o, i ? ",\n" : "\n");
		put_json_row(o, s, &s->rows[i]);
	}
	ut_out_text(o, "\n]}\n");
}

static bool is_ccl(const struct ut_summary *s, const struct ut_summary_row *row)
{
	return ut_str_starts(ut_strtab_get(&s->strings, row->cat).ptr, "oneCCL") ||
	       ut_str_starts(ut_strtab_get(&s->strings, row->name).ptr, "oneCCL");
}

/* "oneCCL::allreduce": domain and name, unless the name has it all. */
static void make_ccl_cell(struct cell *c, const struct ut_summary *s,
			  const struct ut_summary_row *row)
{
	struct ut_str cat = ut_strtab_get(&s->strings, row->cat);
	struct ut_str name = ut_strtab_get(&s->strings, row->name);
	struct ut_buf b = { 0 };

	if (cat.len && !ut_str_starts(name.ptr, "oneCCL")) {
		ut_buf_add(&b, cat.ptr, cat.len);
		ut_buf_text(&b, "::");
	}
	ut_buf_add(&b, name.ptr, name.len);
	make_cell(c, (struct ut_str){ b.data, b.len }, NAME_COLUMNS);
	ut_buf_release(&b);
}

/* Widths are those of Intel's tool: scripts cut its columns. */
static void put_ccl_row(struct ut_out *o, const struct ut_summary_row *row, uint64_t total)
{
	ut_out_fmt(o, ", %12" PRIu64 ", %20" PRIu64, row->calls, row->total);
	ut_out_fmt(o, ", %12f", total ? 100.0 * (double)row->total / (double)total : 0.0);
	ut_out_fmt(o, ", %20" PRIu64 ", %20" PRIu64 ", %20" PRIu64 "\n", row->total / row->calls,
		   row->min, row->max);
}

static void put_ccl_head(struct ut_out *o, uint32_t pid, int32_t rank)
{
	static const char stars[] =
		"************************************************************\n";

	ut_out_fmt(o, "%s*  Process ID : %" PRIu32, stars, pid);
	if (rank >= 0)
		ut_out_fmt(o, " | Rank ID : %" PRId32, rank);
	ut_out_fmt(o, "\n%s", stars);
}

void ut_table_ccl(struct ut_out *o, const struct ut_summary *s, uint32_t pid, int32_t rank)
{
	size_t columns = strlen("Function"), count = 0;
	uint64_t total = 0;
	struct cell c;

	for (size_t i = 0; i < s->count; i++) {
		if (!is_ccl(s, &s->rows[i]))
			continue;
		make_ccl_cell(&c, s, &s->rows[i]);
		columns = c.columns > columns ? c.columns : columns;
		total += s->rows[i].total;
		count++;
	}
	if (!count)
		return;
	put_ccl_head(o, pid, rank);
	ut_out_fmt(o, "%*s, %12s, %20s, %12s, %20s, %20s, %20s\n", (int)columns, "Function",
		   "Calls", "Time (ns)", "Time (%)", "Average (ns)", "Min (ns)", "Max (ns)");
	for (size_t i = 0; i < s->count; i++) {
		if (!is_ccl(s, &s->rows[i]))
			continue;
		make_ccl_cell(&c, s, &s->rows[i]);
		ut_out_fmt(o, "%*s", (int)(columns - c.columns), "");
		ut_out_write(o, c.text, c.len);
		put_ccl_row(o, &s->rows[i], total);
	}
}
