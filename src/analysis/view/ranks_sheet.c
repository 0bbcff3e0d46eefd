/*
 * ranks_sheet.c - see ranks_sheet.h. Rows of tables are those that the command prints, cell by
 * cell. Ranks have a clock of their own making; whatever is to be seen in the timeline is put back
 * onto that of the rank's trace.
 */
#include "view/ranks_sheet.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/sort.h"
#include "ranks/ranks_map.h"
#include "ranks/ranks_table.h"
#include "text/cells.h"
#include "text/out.h"
#include "text/table_report.h"
#include "view/attached.h"
#include "view/sheet.h"
#include "view/view.h"
#include "view/view_parts.h"

#define MOST_SLICES UINT64_C(20000000) /* of which ranks can be asked while somebody waits */
#define MOST_ROWS   5000u              /* of a table */
#define MOST_PLACES 32u                /* of a picture: ranks, or neighbours taken together */
#define PIECES      60u                /* of the time of a run */

/* Where a rank's times were before they were brought onto one clock. */
struct home {
	int32_t rank;
	uint32_t trace;
	uint64_t start, stop;
};

struct job {
	struct ut_view *view;
	struct ut_ranks ranks;
	struct ut_rank_view tables;
	struct home *homes; /* by rank, as the ranks are */
};

/* ---- times ---------------------------------------------------------------------------------- */

static int ranks_sheet_by_rank(const void *a, const void *b)
{
	const struct home *x = a, *y = b;

	return (x->rank > y->rank) - (x->rank < y->rank);
}

static void remember_homes(struct job *j)
{
	j->homes = ut_make((j->ranks.count + 1) * sizeof(*j->homes));
	for (size_t i = 0; i < j->ranks.count; i++) {
		const struct ut_rank *r = &j->ranks.items[i];

		j->homes[i] = (struct home){ r->rank, r->origin, r->start, r->stop };
	}
	ut_sort(j->homes, j->ranks.count, sizeof(*j->homes), ranks_sheet_by_rank);
}

/* A time of the job's clock as one of the view, where this rank's slices lie. */
static uint64_t seen_at(const struct job *j, uint32_t rank, uint64_t time)
{
	const struct ut_rank *r = &j->ranks.items[rank];
	const struct home *h = &j->homes[rank];
	long double own = h->start;

	if (r->stop > r->start)
		own += ((long double)time - (long double)r->start) *
		       (long double)(h->stop - h->start) / (long double)(r->stop - r->start);
	return ut_view_since(j->view, h->trace, own > 0 ? (uint64_t)(own + 0.5L) : 0);
}

/* ---- tables --------------------------------------------------------------------------------- */

static const char *const types[] = {
	[UT_REPORT_ANY] = "text",    [UT_REPORT_TEXT] = "name",     [UT_REPORT_WORD] = "text",
	[UT_REPORT_COUNT] = "count", [UT_REPORT_NUMBER] = "number", [UT_REPORT_TIME] = "time",
	[UT_REPORT_BYTES] = "bytes", [UT_REPORT_SHARE] = "share",
};

/* A column that people are not shown on a terminal is called as programs call it. */
static void columns_of(const struct ut_report_table *t, struct ut_sheet_column *out)
{
	for (size_t i = 0; i < t->count; i++) {
		const struct ut_report_column *c = &t->columns[i];

		out[i] = (struct ut_sheet_column){ .key = c->key,
						   .title = c->title ? c->title : c->key,
						   .type = types[c->type],
						   .wide = !c->title };
	}
}

struct filling {
	struct ut_sheet sheet;
	const struct ut_report_table *table;
	uint64_t left;
};

static void ranks_sheet_put_cell(struct ut_sheet *s, const struct ut_report_cell *c,
				 enum ut_report_type type)
{
	if (c->type == UT_CELL_U64)
		ut_sheet_u64(s, c->u64);
	else if (c->type == UT_CELL_I64)
		ut_sheet_i64(s, c->i64);
	else if (c->type == UT_CELL_REAL)
		ut_sheet_double(s, c->real / (type == UT_REPORT_SHARE ? 100 : 1));
	else if (c->type == UT_CELL_TEXT)
		ut_sheet_text(s, c->text);
	else
		ut_sheet_null(s);
}

static void ranks_sheet_take_row(void *ctx, const struct ut_report_cell *cells)
{
	struct filling *f = ctx;

	if (f->sheet.rows == MOST_ROWS) {
		f->left++;
		return;
	}
	for (size_t i = 0; i < f->table->count; i++)
		ranks_sheet_put_cell(&f->sheet, &cells[i], f->table->columns[i].type);
}

static void put_table(const struct job *j, enum ut_rank_table table, struct ut_out *out)
{
	struct filling f = { .table = ut_rank_table_columns(table) };
	const struct ut_report_opts opts = { .format = UT_REPORT_CALL,
					     .row = ranks_sheet_take_row,
					     .ctx = &f };
	struct ut_sheet_column *columns = ut_make(f.table->count * sizeof(*columns));

	columns_of(f.table, columns);
	ut_sheet_init(&f.sheet, columns, f.table->count);
	ut_rank_table_print(out, &j->tables, table, &opts);
	ut_out_fmt(out, ",\"%s\":", ut_rank_table_member(table));
	ut_sheet_write(&f.sheet, f.left, out);
	free(columns);
}

/* ---- where to look -------------------------------------------------------------------------- */

static int32_t ranks_sheet_number_of(const struct job *j, uint32_t rank)
{
	return j->ranks.items[rank].rank;
}

static void put_range(const struct job *j, uint32_t rank, uint64_t begin, uint64_t end,
		      struct ut_out *out)
{
	ut_out_fmt(out, "[%" PRId32 ",%" PRIu64 ",%" PRIu64 "]", ranks_sheet_number_of(j, rank),
		   seen_at(j, rank, begin), seen_at(j, rank, end));
}

/* Of each row of waits: who waited longest, in which call. */
static void put_waits_at(const struct job *j, struct ut_out *out)
{
	const struct ut_rank_sums *s = &j->tables.sums;

	ut_out_text(out, ",\"waits_at\":[");
	for (size_t i = 0; i < s->wait_count && i < MOST_ROWS; i++) {
		const struct ut_rank_wait *w = &s->waits[i];

		ut_out_text(out, i ? "," : "");
		put_range(j, w->longest_rank, w->begin, w->end, out);
	}
	ut_out_text(out, "]");
}

static void put_steps_at(const struct job *j, struct ut_out *out)
{
	const struct ut_rank_path *p = &j->tables.path;

	ut_out_text(out, ",\"steps_at\":[");
	for (size_t i = 0; i < p->step_count && i < MOST_ROWS; i++) {
		ut_out_text(out, i ? "," : "");
		put_range(j, p->steps[i].slowest, p->steps[i].begin, p->steps[i].end, out);
	}
	ut_out_text(out, "]");
}

/* ---- pictures ------------------------------------------------------------------------------- */

/* "3", or "0-3" where neighbours share a place. */
static void put_places(const struct job *j, uint32_t each, struct ut_out *out)
{
	ut_out_text(out, "\"places\":[");
	for (size_t i = 0; i < j->ranks.count; i += each) {
		size_t last = i + each < j->ranks.count ? i + each - 1 : j->ranks.count - 1;

		ut_out_fmt(out, "%s\"%" PRId32, i ? "," : "",
			   ranks_sheet_number_of(j, (uint32_t)i));
		if (last > i)
			ut_out_fmt(out, "-%" PRId32, ranks_sheet_number_of(j, (uint32_t)last));
		ut_out_text(out, "\"");
	}
	ut_out_text(out, "]");
}

static void put_numbers(struct ut_out *out, const char *key, const uint64_t *of, size_t count)
{
	ut_out_fmt(out, ",\"%s\":[", key);
	for (size_t i = 0; i < count; i++)
		ut_out_fmt(out, "%s%" PRIu64, i ? "," : "", of[i]);
	ut_out_text(out, "]");
}

static void put_course(const struct job *j, struct ut_out *out)
{
	static const char *const kinds[UT_RANK_SPENT] = { "useful", "wait", "transfer", "other" };
	struct ut_rank_course c;

	ut_ranks_course(&j->ranks, PIECES, MOST_PLACES, &c);
	ut_out_fmt(out, ",\"course\":{\"each\":%" PRIu32 ",", c.each);
	put_places(j, c.each, out);
	ut_out_text(out, ",\"edges\":[");
	for (size_t i = 0; i <= c.pieces; i++)
		ut_out_fmt(out, "%s%" PRIu64, i ? "," : "",
			   seen_at(j, 0, ut_rank_course_edge(&c, i)));
	ut_out_text(out, "]");
	for (int i = 0; i < UT_RANK_SPENT; i++)
		put_numbers(out, kinds[i], c.time[i], c.places * c.pieces);
	put_numbers(out, "least", c.least, c.pieces);
	put_numbers(out, "most", c.most, c.pieces);
	ut_out_text(out, ",\"mean\":[");
	for (size_t i = 0; i < c.pieces; i++)
		ut_out_fmt(out, "%s%.0f", i ? "," : "", c.mean[i]);
	ut_out_text(out, "],\"most_rank\":[");
	for (size_t i = 0; i < c.pieces; i++)
		ut_out_fmt(out, "%s%" PRId32, i ? "," : "",
			   ranks_sheet_number_of(j, c.most_rank[i]));
	ut_out_text(out, "]}");
	ut_rank_course_release(&c);
}

static void put_field(const struct job *j, const struct ut_rank_field *f, struct ut_out *out)
{
	ut_out_fmt(out,
		   "{\"from\":%" PRIu32 ",\"to\":%" PRIu32 ",\"messages\":%" PRIu64
		   ",\"bytes\":%" PRIu64 ",\"wait\":%" PRIu64 ",\"waiting\":%" PRIu64,
		   f->from, f->to, f->messages, f->bytes, f->wait, f->waiting);
	if (f->longest) {
		ut_out_fmt(out,
			   ",\"for\":%" PRId32 ",\"at\":", ranks_sheet_number_of(j, f->waited_for));
		put_range(j, f->waiter, f->begin, f->end, out);
	}
	ut_out_text(out, "}");
}

static void put_map(const struct job *j, struct ut_out *out)
{
	struct ut_rank_map m;

	ut_ranks_map(&j->ranks, &j->tables.sums, MOST_PLACES, &m);
	ut_out_fmt(out, ",\"map\":{\"each\":%" PRIu32 ",", m.each);
	put_places(j, m.each, out);
	ut_out_text(out, ",\"fields\":[");
	for (size_t i = 0; i < m.count; i++) {
		ut_out_text(out, i ? "," : "");
		put_field(j, &m.fields[i], out);
	}
	ut_out_text(out, "]}");
	ut_rank_map_release(&m);
}

/* ---- sentences ------------------------------------------------------------------------------ */

static void put_sentence(const struct job *j, const char *key,
			 void (*say)(const struct ut_rank_view *, struct ut_buf *),
			 struct ut_out *out)
{
	struct ut_buf text = { 0 };

	say(&j->tables, &text);
	ut_buf_char(&text, '.');
	ut_out_text(out, key);
	ut_out_json_str(out, text.data, text.len);
	ut_buf_release(&text);
}

/* What to know before the numbers are believed. */
static void put_doubts(const struct ut_ranks *r, struct ut_out *out)
{
	char time[UT_CELL_TIME];
	struct ut_buf text = { 0 };
	const char *between = "";

	ut_out_text(out, ",\"doubts\":[");
	if (r->world > (int64_t)r->count) {
		ut_buf_fmt(&text, "%zu of %" PRId64 " ranks are here; what others do is not known.",
			   r->count, r->world);
		ut_out_json_str(out, text.data, text.len);
		between = ",";
	}
	if (r->backwards) {
		text.len = 0;
		ut_buf_fmt(&text,
			   "%" PRIu64 " of %" PRIu64
			   " messages arrive before they were sent, by up to %s: the clocks of the "
			   "hosts are apart.",
			   r->backwards, r->messages, ut_cell_time(time, r->most_backwards));
		ut_out_text(out, between);
		ut_out_json_str(out, text.data, text.len);
	}
	ut_out_text(out, "]");
	ut_buf_release(&text);
}

/* ---- the sheet ------------------------------------------------------------------------------ */

static int ranks_sheet_gather(struct job *j, struct ut_err *err)
{
	struct ut_view *v = j->view;
	int rc = 0;

	if (v->slices > MOST_SLICES)
		return ut_err_set(err, -1,
				  "There are %" PRIu64 " slices here, too many to wait for in a "
				  "page: unitrace ranks has no limit.",
				  v->slices);
	for (size_t i = 0; !rc && i < v->trace_count; i++)
		rc = ut_ranks_add(&j->ranks, v->traces[i].store, err);
	if (!rc)
		remember_homes(j);
	return rc ? rc : ut_ranks_finalize(&j->ranks, v->threads ? v->threads : 1, err);
}

static void put_job(const struct job *j, struct ut_out *out)
{
	put_sentence(j, "{\"verdict\":", ut_rank_summary_text, out);
	put_sentence(j, ",\"say\":", ut_rank_efficiency, out);
	put_doubts(&j->ranks, out);
	ut_out_fmt(out, ",\"unfinished\":%s", ut_ranks_ended(&j->ranks) ? "false" : "true");
	ut_out_fmt(out, ",\"whole\":%s",
		   j->ranks.world > (int64_t)j->ranks.count ? "false" : "true");
	ut_out_fmt(out, ",\"run\":%" PRIu64 ",\"total\":%" PRIu64 ",\"wait\":%" PRIu64,
		   j->tables.pop.run, j->tables.sums.all.total, j->tables.sums.all.wait[0]);
	for (int i = 0; i < UT_RANK_TABLES; i++)
		put_table(j, (enum ut_rank_table)i, out);
	put_waits_at(j, out);
	put_steps_at(j, out);
	put_course(j, out);
	put_map(j, out);
	ut_out_text(out, "}");
}

static void ranks_sheet_make(struct ut_view *v, struct ut_out *out)
{
	struct job j = { .view = v };
	struct ut_err err = { 0 };

	ut_ranks_init(&j.ranks);
	if (ranks_sheet_gather(&j, &err)) {
		ut_out_text(out, "{\"nothing\":");
		ut_out_json_str(out, err.text, strlen(err.text));
		ut_out_text(out, "}");
	} else {
		ut_rank_view_make(&j.tables, &j.ranks, ut_str_of(""));
		put_job(&j, out);
		ut_rank_view_release(&j.tables);
	}
	free(j.homes);
	ut_ranks_release(&j.ranks);
}

static bool has_calls(const struct ut_view *v)
{
	for (size_t i = 0; i < v->trace_count; i++) {
		if (ut_ranks_any(v->traces[i].store))
			return true;
	}
	return false;
}

/* Ranks of AIU jobs have tabs of their own, by rules of their own (acelyzer). */
static bool is_aiu_job(const struct ut_view *v)
{
	for (size_t i = 0; i < v->trace_count; i++) {
		const struct ut_trace *t = &v->traces[i].store->trace;

		for (uint32_t p = 0; p < t->process_count; p++) {
			if (t->processes[p].api.api == UT_API_AIU)
				return true;
		}
	}
	return false;
}

void ut_view_attach_ranks(struct ut_view *v)
{
	if (is_aiu_job(v))
		return;
	if (v->rank_count > 1 || has_calls(v))
		ut_view_attach_later(v, UT_RANKS_TOOL, "Ranks", UT_RANKS_TOOL, ranks_sheet_make);
}
