/*
 * compat_frame.c - tables as the data-frame library of the reference prints them: the categories,
 * and all spans for -f pddf.
 *
 * Columns are right-aligned. A column of floats has six decimals, less the zeros that all of its
 * values end with; very large or small ones turn the whole column to powers of ten.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "acelyzer/class.h"
#include "acelyzer/write_output.h"
#include "base/grow.h"
#include "base/str.h"
#include "text/out.h"
#include "text/shortest.h"

#define DIGITS 6
#define CELL   64

enum type {
	TEXT,
	WHOLE,
	FLOAT,
};

struct column {
	const char *title;
	const double *numbers; /* WHOLE, FLOAT */
	const char **texts;    /* TEXT */
	enum type type;
	/* how floats are printed */
	int decimals;
	int width;
	bool powers;
};

static int trailing_zeros(const char *s)
{
	int n = 0;

	for (size_t len = strlen(s); len && s[len - 1] == '0'; len--)
		n++;
	return n;
}

/* Decimals that the column needs, or powers of ten. */
static void compat_frame_evaluate(struct column *c, size_t rows)
{
	bool large = false, small = false;
	int zeros = DIGITS - 1, longest = 0;
	char cell[400];

	for (size_t i = 0; i < rows; i++) {
		double v = fabs(c->numbers[i]);
		int n = snprintf(cell, sizeof(cell), "%.*f", DIGITS, c->numbers[i]);

		large |= v > 1e6;
		small |= v > 0 && v < 1e-6;
		longest = n > longest ? n : longest;
		if (trailing_zeros(cell) < zeros)
			zeros = trailing_zeros(cell);
	}
	c->powers = small || (longest - zeros > DIGITS + 6 && large);
	c->decimals = c->powers ? DIGITS : DIGITS - zeros;
}

static int compat_frame_put_cell(char *buf, size_t size, const struct column *c, size_t row)
{
	switch (c->type) {
	case TEXT:
		return snprintf(buf, size, "%s", c->texts[row]);
	case WHOLE:
		return snprintf(buf, size, "%.0f", c->numbers[row]);
	case FLOAT:
		break;
	}
	return snprintf(buf, size, c->powers ? "%.*e" : "%.*f", c->decimals, c->numbers[row]);
}

/* What stands for a table without rows. */
static void put_no_rows(struct ut_out *o, const struct column *columns, size_t n)
{
	ut_out_text(o, "Empty DataFrame\nColumns: [");
	for (size_t k = 0; k < n; k++)
		ut_out_fmt(o, "%s%s", k ? ", " : "", columns[k].title);
	ut_out_text(o, "]\nIndex: []");
}

/* Rows of columns, with a line of titles. */
static void put_table(struct ut_out *o, struct column *columns, size_t n, size_t rows)
{
	if (!rows) {
		put_no_rows(o, columns, n);
		return;
	}
	for (size_t k = 0; k < n; k++) {
		struct column *c = &columns[k];
		int width = (int)strlen(c->title) + (c->type != TEXT);

		if (c->type == FLOAT)
			compat_frame_evaluate(c, rows);
		for (size_t i = 0; i < rows; i++) {
			char cell[CELL];
			int len = compat_frame_put_cell(cell, sizeof(cell), c, i);

			width = len > width ? len : width;
		}
		c->width = width;
		ut_out_fmt(o, "%s%*s", k ? " " : "", width, c->title);
	}
	for (size_t i = 0; i < rows; i++) {
		ut_out_text(o, "\n");
		for (size_t k = 0; k < n; k++) {
			const struct column *c = &columns[k];
			char cell[CELL];

			compat_frame_put_cell(cell, sizeof(cell), c, i);
			ut_out_fmt(o, "%s%*s", k ? " " : "", c->width,
				   c->type == TEXT ? c->texts[i] : cell);
		}
	}
}

/* The columns of the table of categories as numbers. */
enum {
	PID,
	TIME,
	FRAC_TIME,
	CALLS,
	IDEAL_TIME,
	IDEAL_CYC,
	FRAC_IDEAL,
	PT_UTIL,
	CYCLES,
	FRAC_CYCLE,
	CYCLES_CORE,
	NUMBERS,
};

struct categories {
	size_t rows;
	double *number[NUMBERS];
	bool whole[NUMBERS]; /* nothing but a whole 0: the column has no point */
	const char **names, **phases;
};

static double compat_frame_share(double part, double all, bool *zero)
{
	*zero = ut_is_zero(all);
	return *zero ? 0 : ut_round(part / all, 4);
}

static void compat_frame_fill(struct ut_ace_analysis *a, struct categories *t, size_t i,
			      const struct ut_ace_category *c)
{
	double core = trunc(c->cycles * a->opts.core / a->opts.soc);
	double cyc = trunc(c->ideal / (1 / a->opts.core));
	bool zero[4];

	t->names[i] = c->name.ptr;
	t->phases[i] = c->phase;
	t->number[PID][i] = (double)c->pid;
	t->number[TIME][i] = c->time;
	t->number[CALLS][i] = (double)c->calls;
	t->number[IDEAL_TIME][i] = ut_round(c->ideal, 4);
	t->number[IDEAL_CYC][i] = cyc;
	t->number[CYCLES][i] = c->cycles;
	t->number[CYCLES_CORE][i] = core;
	t->number[FRAC_TIME][i] = compat_frame_share(c->time, c->group_time, &zero[0]);
	t->number[FRAC_IDEAL][i] = compat_frame_share(c->ideal, c->group_ideal, &zero[1]);
	t->number[FRAC_CYCLE][i] = compat_frame_share(c->cycles, c->group_cycles, &zero[2]);
	t->whole[FRAC_TIME] &= zero[0];
	t->whole[FRAC_IDEAL] &= zero[1];
	t->whole[FRAC_CYCLE] &= zero[2];
	t->number[PT_UTIL][i] = compat_frame_share(c->ideal, c->time, &zero[3]);
	t->whole[PT_UTIL] &= zero[3];
}

/* One column of the file. */
struct shown {
	const char *title;
	int number; /* -1 = category, -2 = phase */
	bool whole;
};

static const struct shown by_time[] = {
	{ "Pid", PID, true },
	{ "Phase", -2, false },
	{ "Category", -1, false },
	{ "Kernel_Time", TIME, false },
	{ "Frac_Time", FRAC_TIME, false },
	{ "Calls", CALLS, true },
	{ "Ideal_Time", IDEAL_TIME, false },
	{ "Ideal_Cyc", IDEAL_CYC, true },
	{ "Frac_Ideal", FRAC_IDEAL, false },
	{ "PT_Util", PT_UTIL, false },
};

static const struct shown by_cycles[] = {
	{ "Pid", PID, true },
	{ "Category", -1, false },
	{ "Cycles", CYCLES, true },
	{ "Frac_Cycle", FRAC_CYCLE, false },
	{ "Calls", CALLS, true },
	{ "Cycles(core)", CYCLES_CORE, true },
	{ "Ideal_Cyc", IDEAL_CYC, true },
	{ "Frac_Ideal", FRAC_IDEAL, false },
	{ "PT_Util", PT_UTIL, false },
};

static size_t compat_frame_make_columns(const struct ut_ace_analysis *a, const struct categories *t,
					enum ut_ace_layout layout, struct column *columns)
{
	const struct shown *s = layout == UT_ACE_LAYOUT_CYCLES ? by_cycles : by_time;
	size_t n = layout == UT_ACE_LAYOUT_CYCLES ? sizeof(by_cycles) / sizeof(*s)
						  : sizeof(by_time) / sizeof(*s);
	size_t count = 0;

	for (size_t i = 0; i < n; i++) {
		struct column *c = &columns[count];

		if (s[i].number == -2 && a->opts.release < UT_ACE_1_2)
			continue;
		*c = (struct column){ .title = s[i].title };
		if (s[i].number >= 0) {
			c->type = s[i].whole || t->whole[s[i].number] ? WHOLE : FLOAT;
			c->numbers = t->number[s[i].number];
		} else {
			c->texts = s[i].number == -1 ? t->names : t->phases;
		}
		count++;
	}
	return count;
}

static void put_csv(struct ut_out *o, const struct column *columns, size_t n, size_t rows)
{
	for (size_t k = 0; k < n; k++)
		ut_out_fmt(o, "%s%s", k ? "," : "", columns[k].title);
	ut_out_text(o, "\n");
	for (size_t i = 0; i < rows; i++) {
		for (size_t k = 0; k < n; k++) {
			const struct column *c = &columns[k];
			char text[UT_SHORTEST_ROOM];

			ut_out_text(o, k ? "," : "");
			if (c->type == TEXT)
				ut_out_text(o, c->texts[i]);
			else if (c->type == WHOLE)
				ut_out_fmt(o, "%.0f", c->numbers[i]);
			else
				ut_out_text(o, ut_shortest(text, c->numbers[i]));
		}
		ut_out_text(o, "\n");
	}
}

static void make_categories(struct ut_ace_analysis *a, struct categories *t,
			    enum ut_ace_layout layout)
{
	const struct ut_ace_found *f = &a->found;
	size_t n = f->category_count;
	/* Logs of several ranks have one file name: release 1.0 keeps the last one's table. */
	uint32_t last = n ? f->categories[n - 1].log : 0;

	for (int k = 0; k < NUMBERS; k++) {
		t->number[k] = ut_make((n + 1) * sizeof(double));
		t->whole[k] = k == FRAC_TIME || k == FRAC_IDEAL || k == FRAC_CYCLE || k == PT_UTIL;
	}
	t->names = ut_make((n + 1) * sizeof(*t->names));
	t->phases = ut_make((n + 1) * sizeof(*t->phases));
	for (size_t i = 0; i < n; i++) {
		if (a->opts.release >= UT_ACE_1_2 || f->categories[i].log == last)
			compat_frame_fill(a, t, t->rows++, &f->categories[i]);
	}
	for (size_t i = 0; layout == UT_ACE_LAYOUT_CYCLES && i < t->rows; i++) {
		double core = t->number[CYCLES_CORE][i];

		t->number[PT_UTIL][i] = core > 0 ? ut_round(t->number[IDEAL_CYC][i] / core, 4) : 0;
		t->whole[PT_UTIL] = false;
	}
}

static int write_one(struct ut_ace_analysis *a, char *name, struct column *columns, size_t n,
		     size_t rows, struct ut_err *err)
{
	bool csv = strcmp(name + strlen(name) - 4, ".csv") == 0;
	struct ut_out *o = ut_out_open(name, UT_OUT_OVERWRITE);
	int rc;

	if (csv) {
		put_csv(o, columns, n, rows);
	} else {
		put_table(o, columns, n, rows);
		ut_out_text(o, "\n");
	}
	rc = ut_out_commit(o, err);
	if (!rc)
		ut_ace_say(&a->messages, UT_ACE_INFO, "UTL: category table(s) created as %s: %s",
			   csv ? "CSV" : "TXT", name);
	free(name);
	return rc;
}

int ut_ace_write_categories(struct ut_ace_analysis *a, const char *output,
			    enum ut_ace_layout layout, struct ut_err *err)
{
	struct categories t = { 0 };
	struct column columns[sizeof(by_time) / sizeof(by_time[0])];
	size_t n;
	int rc;

	make_categories(a, &t, layout);
	n = compat_frame_make_columns(a, &t, layout, columns);
	rc = write_one(a, ut_ace_side_name(output, "categories", "csv"), columns, n, t.rows, err);
	if (!rc)
		rc = write_one(a, ut_ace_side_name(output, "categories", "txt"), columns, n, t.rows,
			       err);
	for (int k = 0; k < NUMBERS; k++)
		free(t.number[k]);
	free(t.names);
	free(t.phases);
	return rc;
}

/* -f pddf. */
struct spans {
	double *number[5];    /* rank, ts, dur, size, use */
	const char **text[5]; /* category, name, class, job, size */
	bool text_size;       /* flex has sizes as text: then the column is one of texts */
	size_t rows;
};

static double compat_frame_number_of(const struct ut_ace_analysis *a, const struct ut_ace_event *e,
				     uint32_t key)
{
	struct ut_arg arg;
	double v;

	return ut_ace_arg(&a->table, e->args, key, &arg) && ut_ace_arg_num(&a->table, &arg, &v) ? v
												: 0;
}

/* The size of a transfer: 0.0 where there is none, else what the trace says. */
static void fill_size(const struct ut_ace_analysis *a, struct spans *s,
		      const struct ut_ace_event *e, size_t i)
{
	struct ut_arg arg;

	s->number[3][i] = compat_frame_number_of(a, e, UT_ACE_K_BYTES_LOW);
	s->text[4][i] = "0.0";
	if (ut_ace_arg(&a->table, e->args, UT_ACE_K_BYTES_LOW, &arg) && arg.type == UT_ARG_STR) {
		s->text[4][i] = ut_ace_str(&a->table, arg.value.str).ptr;
		s->text_size = true;
	}
}

static const char *job_of(const struct ut_ace_analysis *a, const struct ut_ace_event *e,
			  struct ut_arena *m)
{
	const struct ut_ace_job *job = &a->table.jobs[e->job];

	if (!(e->flags & UT_ACE_JOBNAME))
		return "Unknown";
	if (!a->forgot_all)
		return job->base;
	return ut_str_fmt(m, "%s(%" PRIu32 ")", job->base, e->job + 1);
}

static void fill_span(const struct ut_ace_analysis *a, struct spans *s,
		      const struct ut_ace_event *e, struct ut_arena *m)
{
	size_t i = s->rows++;

	s->number[0][i] = e->flags & UT_ACE_SHOW_RANK ? (double)a->table.jobs[e->job].rank : 0;
	s->number[1][i] = e->ts;
	s->number[2][i] = e->dur;
	fill_size(a, s, e, i);
	s->number[4][i] = compat_frame_number_of(a, e, UT_ACE_K_PT_ACTIVE);
	s->text[0][i] = e->flags & UT_ACE_HAS_CAT ? ut_ace_str(&a->table, e->cat).ptr : "";
	s->text[1][i] = ut_ace_str(&a->table, e->name).ptr;
	s->text[2][i] = e->flags & UT_ACE_SHOW_CLASS ? ut_ace_class_name(e->cls) : "UNKNOWN";
	s->text[3][i] = job_of(a, e, m);
}

int ut_ace_write_frame(const struct ut_ace_analysis *a, const char *path, struct ut_err *err)
{
	struct ut_out *o = ut_out_open(path, UT_OUT_OVERWRITE);
	struct ut_arena arena = { 0 };
	struct spans s = { 0 };
	size_t n = a->table.seq_count;

	for (int k = 0; k < 5; k++)
		s.number[k] = UT_NEW_N(&arena, double, n + 1);
	for (int k = 0; k < 5; k++)
		s.text[k] = UT_NEW_N(&arena, const char *, n + 1);
	for (size_t i = 0; i < n; i++) {
		if (a->table.events[a->table.seq[i]].ph == 'X')
			fill_span(a, &s, &a->table.events[a->table.seq[i]], &arena);
	}
	{
		struct column columns[] = {
			{ .title = "Rank", .type = WHOLE, .numbers = s.number[0] },
			{ .title = "Timestamp", .type = FLOAT, .numbers = s.number[1] },
			{ .title = "Duration", .type = FLOAT, .numbers = s.number[2] },
			{ .title = "Category", .texts = s.text[0] },
			{ .title = "Event Name", .texts = s.text[1] },
			{ .title = "Event CLass", .texts = s.text[2] },
			{ .title = "Job", .texts = s.text[3] },
			{ .title = "Size",
			  .type = s.text_size ? TEXT : FLOAT,
			  .numbers = s.number[3],
			  .texts = s.text[4] },
			{ .title = "PT_Active", .type = FLOAT, .numbers = s.number[4] },
		};

		put_table(o, columns, sizeof(columns) / sizeof(columns[0]), s.rows);
	}
	ut_arena_release(&arena);
	return ut_out_commit(o, err);
}
