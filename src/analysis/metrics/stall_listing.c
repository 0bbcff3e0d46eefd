/*
 * stall_listing.c - source and assembly of a kernel with the samples that each line took.
 */
#include <inttypes.h>

#include "base/arena.h"
#include "base/path.h"
#include "metrics/stall_parts.h"
#include "text/out.h"
#include "text/source_lines.h"
#include "text/table_report.h"

#define CONTEXT_LINES 3u /* lines shown before and behind one with samples */

enum {
	KERNEL,
	SHARE,
	SAMPLES,
	REASON,
	PART,
	COUNTED
};

#define COUNTED_COLUMNS                                                                            \
	[KERNEL] = { .key = "kernel",                                                              \
		     .title = "kernel",                                                            \
		     .type = UT_REPORT_TEXT,                                                       \
		     .readers = UT_FOR_PROGRAMS },                                                 \
	[SHARE] = { .key = "share", .title = "share", .unit = "%", .type = UT_REPORT_SHARE },      \
	[SAMPLES] = { .key = "samples", .title = "samples", .type = UT_REPORT_COUNT },             \
	[REASON] = { .key = "reason", .title = "waits most for", .type = UT_REPORT_WORD },         \
	[PART] = {                                                                                 \
		.key = "reason_share", .title = "of them", .unit = "%", .type = UT_REPORT_SHARE    \
	}

/* People read the name of the file and the line at once; programs take them apart. */
#define PLACE_COLUMNS(at)                                                                          \
	[(at)] = { .key = "file",                                                                  \
		   .title = "file",                                                                \
		   .type = UT_REPORT_TEXT,                                                         \
		   .readers = UT_FOR_PROGRAMS },                                                   \
	[(at) + 1] = { .key = "line",                                                              \
		       .title = "line",                                                            \
		       .type = UT_REPORT_COUNT,                                                    \
		       .readers = UT_FOR_PROGRAMS },                                               \
	[(at) + 2] = { .key = "place",                                                             \
		       .title = "line",                                                            \
		       .type = UT_REPORT_TEXT,                                                     \
		       .readers = UT_FOR_PEOPLE,                                                   \
		       .if_any = true }

enum {
	SOURCE_PLACE = COUNTED,
	SOURCE_TEXT = COUNTED + 3,
	SOURCE_COLUMNS
};

enum {
	ASSEMBLY_PLACE = COUNTED,
	ASSEMBLY_ADDRESS = COUNTED + 3,
	ASSEMBLY_TEXT,
	ASSEMBLY_COLUMNS
};

static const struct ut_report_column source_columns[SOURCE_COLUMNS] = {
	COUNTED_COLUMNS,
	PLACE_COLUMNS(SOURCE_PLACE),
	[SOURCE_TEXT] = { .key = "source", .title = "source", .type = UT_REPORT_TEXT },
};

static const struct ut_report_column assembly_columns[ASSEMBLY_COLUMNS] = {
	COUNTED_COLUMNS,
	PLACE_COLUMNS(ASSEMBLY_PLACE),
	[ASSEMBLY_ADDRESS] = { .key = "address",
			       .title = "address",
			       .type = UT_REPORT_COUNT,
			       .readers = UT_FOR_PROGRAMS },
	[ASSEMBLY_TEXT] = { .key = "instruction", .title = "instruction", .type = UT_REPORT_TEXT },
};

static const struct ut_report_table source_table = { .columns = source_columns,
						     .count = SOURCE_COLUMNS };
static const struct ut_report_table assembly_table = { .columns = assembly_columns,
						       .count = ASSEMBLY_COLUMNS };

static void put_counts(struct ut_report_cell *cells, const struct ut_stall_result *r,
		       const struct ut_stall_share *s)
{
	for (size_t i = 0; i < COUNTED; i++)
		cells[i] = ut_report_none();
	cells[KERNEL] = ut_report_str(r->kernel);
	if (!s || !s->samples)
		return;
	cells[SHARE] = ut_report_real(100 * s->share);
	cells[SAMPLES] = ut_report_u64(s->samples);
	if (s->reason == UT_STALL_NO_REASON)
		return;
	cells[REASON] = ut_report_str(r->reasons[s->reason]);
	cells[PART] = ut_report_real(100 * (double)s->main / (double)s->samples);
}

/* "chase.cu:12", in the buffer until the next one. */
static void stall_listing_put_place(struct ut_report_cell *cells, const struct ut_stall_place *p,
				    struct ut_buf *scratch)
{
	bool known = p->file.len && p->line;

	cells[0] = p->file.len ? ut_report_str(p->file) : ut_report_none();
	cells[1] = p->line ? ut_report_u64(p->line) : ut_report_none();
	cells[2] = ut_report_none();
	if (!known)
		return;
	scratch->len = 0;
	ut_buf_fmt(scratch, "%s:%u", ut_path_base(p->file.ptr), p->line);
	cells[2] = ut_report_str((struct ut_str){ scratch->data, scratch->len });
}

/* ---- source -------------------------------------------------------------------------------- */

struct listing {
	struct ut_report *report;
	const struct ut_stall_result *result;
	struct ut_buf scratch;
};

static void stall_listing_put_line(struct listing *l, const struct ut_stall_share *s,
				   struct ut_stall_place place)
{
	struct ut_report_cell cells[SOURCE_COLUMNS];

	put_counts(cells, l->result, s);
	stall_listing_put_place(cells + SOURCE_PLACE, &place, &l->scratch);
	cells[SOURCE_TEXT] = ut_report_str(place.source);
	ut_report_add(l->report, cells);
}

/* "Line 40:  c[i] = a[i];" of a dump, without what the column beside it says. */
static struct ut_str only_source(struct ut_str s)
{
	const char *colon = ut_str_has_start(s, "Line") ? memchr(s.ptr, ':', s.len) : NULL;

	return colon ? ut_str_trim(
			       (struct ut_str){ colon + 1, s.len - (size_t)(colon + 1 - s.ptr) })
		     : s;
}

/* Lines without samples between two that have some, so that both can be read in their place. */
static void put_between(struct listing *l, const struct ut_source_file *f, uint32_t from,
			uint32_t to)
{
	for (uint32_t n = from; n < to && n <= f->count; n++)
		stall_listing_put_line(l, NULL,
				       (struct ut_stall_place){ .file = f->path,
								.line = n,
								.source = f->lines[n - 1] });
}

static void put_source(struct listing *l)
{
	const struct ut_stall_result *r = l->result;
	struct ut_arena arena = { 0 };
	struct ut_source_lines lines = { .arena = &arena };
	bool context = ut_report_for_people(l->report);
	uint32_t shown = 0; /* the next line of this file that was not shown */

	for (size_t i = 0; i < r->line_count; i++) {
		struct ut_stall_place p = r->lines[i].place;
		const struct ut_source_file *f = ut_source_lines_file(&lines, p.file);
		bool same = i && ut_str_eq(r->lines[i - 1].place.file, p.file);
		bool last =
			i + 1 == r->line_count || !ut_str_eq(r->lines[i + 1].place.file, p.file);
		uint32_t next = last ? UINT32_MAX : r->lines[i + 1].place.line;

		if (!same)
			shown = 1;
		if (context)
			put_between(l, f,
				    p.line > shown + CONTEXT_LINES ? p.line - CONTEXT_LINES : shown,
				    p.line);
		p.source = f->count && p.line <= f->count ? f->lines[p.line - 1]
							  : only_source(p.source);
		stall_listing_put_line(l, &r->lines[i], p);
		shown = next - p.line <= CONTEXT_LINES ? next : p.line + CONTEXT_LINES + 1;
		if (context)
			put_between(l, f, p.line + 1, shown);
	}
	ut_source_lines_release(&lines);
	ut_arena_release(&arena);
}

/* ---- assembly ------------------------------------------------------------------------------ */

static void put_assembly(struct listing *l)
{
	for (size_t i = 0; i < l->result->instruction_count; i++) {
		const struct ut_stall_share *s = &l->result->instructions[i];
		struct ut_report_cell cells[ASSEMBLY_COLUMNS];

		put_counts(cells, l->result, s);
		cells[ASSEMBLY_ADDRESS] = ut_report_u64(s->place.address);
		cells[ASSEMBLY_TEXT] = ut_report_str(s->place.text);
		stall_listing_put_place(cells + ASSEMBLY_PLACE, &s->place, &l->scratch);
		ut_report_add(l->report, cells);
	}
}

/* ---- all of it ----------------------------------------------------------------------------- */

struct ut_report *ut_stall_listing_start(struct ut_out *out, const struct ut_report_opts *opts,
					 enum ut_stall_listing what)
{
	return ut_report_start(out, opts,
			       what == UT_STALL_SOURCE ? &source_table : &assembly_table);
}

void ut_stall_listing_add(struct ut_report *report, const struct ut_stall_result *r,
			  enum ut_stall_listing what)
{
	struct listing l = { report, r, { 0 } };

	(what == UT_STALL_SOURCE ? put_source : put_assembly)(&l);
	ut_buf_release(&l.scratch);
}

void ut_stall_listing_head(struct ut_out *out, const struct ut_stall_result *r,
			   enum ut_stall_listing what)
{
	ut_out_fmt(out, "%s of %.*s\n", what == UT_STALL_SOURCE ? "Source" : "Assembly",
		   (int)r->kernel.len, r->kernel.ptr);
	ut_out_fmt(out, "%.*s, %" PRIu64 " samples, %" PRIu64 " of them stalls\n",
		   (int)r->assembly.len, r->assembly.ptr, r->samples, r->stalls);
	if (what == UT_STALL_SOURCE && !r->line_count)
		ut_out_text(out, r->maker == UT_STALL_INTEL
					 ? "no lines: compile with -gline-tables-only\n"
					 : "no lines: compile with -lineinfo\n");
	ut_out_text(out, "\n");
}
