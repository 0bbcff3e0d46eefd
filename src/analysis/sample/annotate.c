#define UT_LOG_MODULE "sample"
#include "sample/annotate.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/grow.h"
#include "base/idmap.h"
#include "base/logger.h"
#include "base/path.h"
#include "base/str.h"
#include "sample/call_tree.h"
#include "sample/hot_summary.h"
#include "sample/hotspots.h"
#include "sample/short_name.h"
#include "sample/table_parts.h"
#include "symbol/binary.h"
#include "symbol/demangle.h"
#include "symbol/disassemble.h"
#include "text/out.h"
#include "text/source_lines.h"
#include "text/table_report.h"

#define CONTEXT_LINES 3u /* lines shown before and behind one with samples */
#define TEXT_WIDTH    100u

enum {
	SELF,
	SELF_SHARE,
	TOTAL,
	TOTAL_SHARE,
	KIND,
	FILE_NAME,
	LINE,
	ADDRESS,
	TEXT,
	COLUMNS
};

#define COLUMN_LIST(weight, unit_)                                                                 \
	{                                                                                          \
		[SELF] = { .key = "self", .title = "Self", .unit = unit_, .type = weight },        \
		[SELF_SHARE] = { .key = "self_share",                                              \
				 .title = "Self %",                                                \
				 .unit = "%",                                                      \
				 .type = UT_REPORT_SHARE },                                        \
		[TOTAL] = { .key = "total",                                                        \
			    .title = "Total",                                                      \
			    .unit = unit_,                                                         \
			    .type = weight,                                                        \
			    .if_any = true },                                                      \
		[TOTAL_SHARE] = { .key = "total_share",                                            \
				  .title = "Total %",                                              \
				  .unit = "%",                                                     \
				  .type = UT_REPORT_SHARE,                                         \
				  .if_any = true },                                                \
		[KIND] = { .key = "kind", .type = UT_REPORT_WORD, .readers = UT_FOR_PROGRAMS },    \
		[FILE_NAME] = { .key = "file",                                                     \
				.type = UT_REPORT_TEXT,                                            \
				.readers = UT_FOR_PROGRAMS },                                      \
		[LINE] = { .key = "line",                                                          \
			   .title = "Line",                                                        \
			   .type = UT_REPORT_COUNT,                                                \
			   .if_any = true },                                                       \
		[ADDRESS] = { .key = "address",                                                    \
			      .title = "Address",                                                  \
			      .type = UT_REPORT_TEXT,                                              \
			      .if_any = true },                                                    \
		[TEXT] = {                                                                         \
			.key = "text", .title = "Code", .type = UT_REPORT_TEXT, .most = TEXT_WIDTH \
		},                                                                                 \
	}

static const struct ut_report_column columns[UT_HOT_UNITS][COLUMNS] = {
	COLUMN_LIST(UT_REPORT_TIME, "ns"),
	COLUMN_LIST(UT_REPORT_BYTES, "bytes"),
	COLUMN_LIST(UT_REPORT_COUNT, NULL),
};

struct annotating {
	const struct ut_prof *p;
	const struct ut_annotate_opts *opts;
	struct ut_prof_frame function; /* name and module */
	uint64_t self, total;          /* of all of it */
	struct ut_arena arena;
	struct ut_source_lines sources;
	struct ut_report *report;
	struct ut_out *out;
	bool people;
};

/* ---- rows ---------------------------------------------------------------------------------- */

static void put_weights(const struct annotating *a, struct ut_report_cell *cells, uint64_t self,
			uint64_t total, bool has_total)
{
	for (size_t i = 0; i < COLUMNS; i++)
		cells[i] = ut_report_none();
	if (self || (!a->people && (total || has_total))) {
		cells[SELF] = ut_report_u64(self);
		cells[SELF_SHARE] = ut_report_real(ut_hot_share(self, a->p->weight));
	}
	if (has_total && total) {
		cells[TOTAL] = ut_report_u64(total);
		cells[TOTAL_SHARE] = ut_report_real(ut_hot_share(total, a->p->weight));
	}
}

/* Tabs of source would be told as such. */
static struct ut_str without_tabs(struct annotating *a, struct ut_str s)
{
	struct ut_buf b = { 0 };
	char *text;

	for (size_t i = 0; i < s.len; i++) {
		if (s.ptr[i] == '\t')
			ut_buf_text(&b, "    ");
		else
			ut_buf_char(&b, s.ptr[i]);
	}
	text = ut_buf_take(&b, &a->arena);
	return ut_str_of(text);
}

/* Lines that there are; 0 = the file is not here, or nobody may see it. */
static uint32_t line_count(struct annotating *a, struct ut_str file)
{
	if (a->opts->readable && !a->opts->readable(file))
		return 0;
	return ut_source_lines_file(&a->sources, file)->count;
}

static void annotate_put_line(struct annotating *a, struct ut_str file, uint32_t line,
			      const struct ut_hot_row *r)
{
	struct ut_report_cell cells[COLUMNS];

	put_weights(a, cells, r ? r->self : 0, r ? r->total : 0, r != NULL);
	cells[KIND] = ut_report_text("line");
	cells[FILE_NAME] = ut_report_str(file);
	cells[LINE] = ut_report_u64(line);
	cells[TEXT] = ut_report_text("");
	if (line_count(a, file))
		cells[TEXT] =
			ut_report_str(without_tabs(a, ut_source_line(&a->sources, file, line)));
	ut_report_add(a->report, cells);
}

/* ---- lines --------------------------------------------------------------------------------- */

static int in_file_order(const void *x, const void *y, void *ctx)
{
	const struct ut_hot_row *a = x, *b = y;
	const struct ut_prof *p = ctx;
	int order = ut_str_cmp(ut_prof_text(p, a->frame.file), ut_prof_text(p, b->frame.file));

	if (order)
		return order;
	return (a->frame.line > b->frame.line) - (a->frame.line < b->frame.line);
}

/* The rows of the function, in the order of its source. Returns how many. */
static size_t lines_of(struct annotating *a, struct ut_hotspots *h)
{
	size_t kept = 0;

	ut_hotspots_init(h, a->p, UT_HOT_BY_LINE);
	for (size_t i = 0; i < h->count; i++) {
		const struct ut_prof_frame *f = &h->rows[i].frame;

		if (f->function == a->function.function && f->module == a->function.module &&
		    f->file && f->line)
			h->rows[kept++] = h->rows[i];
	}
	if (kept)
		qsort_r(h->rows, kept, sizeof(*h->rows), in_file_order, (void *)(uintptr_t)a->p);
	return kept;
}

static void put_context(struct annotating *a, struct ut_str file, uint32_t from, uint32_t to)
{
	uint32_t count = a->people || a->opts->context ? line_count(a, file) : 0;

	for (uint32_t n = from; n < to && n <= count; n++)
		annotate_put_line(a, file, n, NULL);
}

/* Is there a gap worth leaving between two lines that are shown? */
static uint32_t shown_from(uint32_t line, uint32_t next)
{
	uint32_t from = line > CONTEXT_LINES ? line - CONTEXT_LINES : 1;

	return from > next ? from : next;
}

static size_t put_lines(struct annotating *a)
{
	struct ut_hotspots h;
	size_t count = lines_of(a, &h);
	uint32_t next = 1; /* the next line of this file that was not shown */

	for (size_t i = 0; i < count; i++) {
		const struct ut_prof_frame *f = &h.rows[i].frame;
		struct ut_str file = ut_prof_text(a->p, f->file);
		bool last = i + 1 == count || h.rows[i + 1].frame.file != f->file;

		if (!i || h.rows[i - 1].frame.file != f->file) {
			next = 1;
			if (!line_count(a, file))
				ut_logger_log(a->opts->logger, UT_WARN, "%s is not here: no source",
					      file.ptr);
		} else {
			put_context(a, file, next,
				    next + CONTEXT_LINES < f->line ? next + CONTEXT_LINES
								   : f->line);
			next = next + CONTEXT_LINES < f->line ? next + CONTEXT_LINES : f->line;
		}
		put_context(a, file, shown_from(f->line, next), f->line);
		annotate_put_line(a, file, f->line, &h.rows[i]);
		next = f->line + 1;
		if (last)
			put_context(a, file, next, next + CONTEXT_LINES);
	}
	ut_hotspots_release(&h);
	return count;
}

/* ---- instructions -------------------------------------------------------------------------- */

struct spent {
	uint64_t address, self;
};

struct code {
	struct annotating *a;
	struct ut_binary *binary;
	struct spent *items; /* by address */
	size_t count, cap;
	size_t next;      /* the first one that has no instruction yet */
	const char *file; /* of the instruction before */
	uint32_t line;
};

/* The function whose code an innermost frame is in: those inlined into it have its address. */
static uint32_t real_function(const struct ut_prof *p, uint32_t node)
{
	const struct ut_prof_frame *f = ut_prof_frame_of(p, node);
	uint32_t parent = p->nodes[node].parent;

	while (parent && ut_prof_frame_of(p, parent)->address == f->address &&
	       ut_prof_frame_of(p, parent)->module == f->module) {
		node = parent;
		parent = p->nodes[node].parent;
	}
	return node;
}

static int by_address(const void *x, const void *y)
{
	const struct spent *a = x, *b = y;

	return (a->address > b->address) - (a->address < b->address);
}

static void annotate_gather(struct code *c)
{
	const struct ut_prof *p = c->a->p;
	size_t kept = 0;

	for (uint32_t i = 1; i < p->node_count; i++) {
		const struct ut_prof_frame *f;

		if (!p->nodes[i].self)
			continue;
		f = ut_prof_frame_of(p, real_function(p, i));
		if (f->function != c->a->function.function || f->module != c->a->function.module ||
		    !f->address)
			continue;
		c->items = ut_grow(c->items, c->count + 1, &c->cap, sizeof(*c->items));
		c->items[c->count++] = (struct spent){ f->address, p->nodes[i].self };
	}
	if (c->count)
		qsort(c->items, c->count, sizeof(*c->items), by_address);
	for (size_t i = 0; i < c->count; i++) {
		if (kept && c->items[kept - 1].address == c->items[i].address)
			c->items[kept - 1].self += c->items[i].self;
		else
			c->items[kept++] = c->items[i];
	}
	c->count = kept;
}

static void put_instruction(void *ctx, const struct ut_instruction *i)
{
	struct code *c = ctx;
	struct ut_report_cell cells[COLUMNS];
	struct ut_binary_frame frames[UT_BINARY_FRAMES];
	uint64_t self = 0;
	char address[32];
	bool known = ut_binary_find(c->binary, i->at, frames) && frames[0].file;

	while (c->next < c->count && c->items[c->next].address < i->at + i->size)
		self += c->items[c->next++].self;
	put_weights(c->a, cells, self, 0, false);
	snprintf(address, sizeof(address), "%" PRIx64, i->at);
	cells[KIND] = ut_report_text("instruction");
	cells[ADDRESS] = ut_report_text(address);
	cells[TEXT] = ut_report_text(i->text);
	/* people see where a line begins */
	if (known && (!c->a->people || frames[0].line != c->line || frames[0].file != c->file)) {
		cells[FILE_NAME] = ut_report_text(frames[0].file);
		cells[LINE] = ut_report_u64(frames[0].line);
	}
	c->line = known ? frames[0].line : 0;
	c->file = known ? frames[0].file : NULL;
	ut_report_add(c->a->report, cells);
}

/* Is the function that was recorded still there? */
static bool is_the_same(const struct code *c, uint64_t address)
{
	struct ut_str name = ut_prof_text(c->a->p, c->a->function.function);
	struct ut_binary_frame frames[UT_BINARY_FRAMES];
	size_t count = ut_binary_find(c->binary, address, frames);
	const char *found = count ? frames[count - 1].function : NULL;
	char *people = found ? ut_demangle(found) : NULL;
	bool same = found && !strncmp(people ? people : found, name.ptr, name.len);

	free(people);
	return same;
}

static int annotate_put_code(struct annotating *a, struct ut_err *err)
{
	struct ut_str path = ut_prof_text(a->p, a->function.module);
	struct code c = { .a = a };
	struct ut_binary_body body;
	int rc = ut_disassemble_check(err);

	if (rc)
		return rc;
	annotate_gather(&c);
	c.binary = c.count ? ut_binary_open(path.ptr, NULL) : NULL;
	if (!c.count)
		rc = ut_err_set(err, -ENODATA,
				"no code of its own: it is inlined, or no machine code");
	else if (!c.binary || !is_the_same(&c, c.items[0].address))
		rc = ut_err_set(err, -ENODATA, "%s is not the file that was recorded", path.ptr);
	else if (!ut_binary_body(c.binary, c.items[0].address, &body))
		rc = ut_err_set(err, -ENODATA, "%s does not tell where the function ends",
				path.ptr);
	else
		rc = ut_disassemble(&(struct ut_machine_code){ body.bytes, body.size, body.offset,
							       ut_binary_machine(c.binary) },
				    put_instruction, &c, err);
	free(c.items);
	return rc;
}

/* ---- the way in ---------------------------------------------------------------------------- */

static bool is_asked(const struct annotating *a, const struct ut_prof_frame *f)
{
	const struct ut_annotate_opts *o = a->opts;

	if (!o->module)
		return ut_prof_matches(a->p, f->function, o->function);
	return ut_str_is(ut_prof_text(a->p, f->function), o->function) &&
	       ut_str_is(ut_prof_text(a->p, f->module), o->module);
}

/* The heaviest function that fits, by its total. */
static bool annotate_choose(struct annotating *a)
{
	struct ut_hotspots h;
	uint64_t most = 0;

	ut_hotspots_init(&h, a->p, UT_HOT_BY_FUNCTION);
	for (size_t i = 0; i < h.count; i++) {
		const struct ut_hot_row *r = &h.rows[i];

		if (!r->frame.function || r->total <= most || !is_asked(a, &r->frame))
			continue;
		most = a->total = r->total;
		a->self = r->self;
		a->function = r->frame;
	}
	ut_hotspots_release(&h);
	return most > 0;
}

static void annotate_put_head(struct annotating *a)
{
	struct ut_buf b = { 0 };
	struct ut_str module = ut_prof_text(a->p, a->function.module);

	if (!a->people)
		return;
	ut_prof_name(&b, a->p, a->function.function);
	ut_buf_fmt(&b, " in %s: ", module.len ? ut_path_base(module.ptr) : "an unknown file");
	ut_prof_amount(a->p, a->self, &b);
	ut_buf_fmt(&b, " itself (%.1f%%), ", ut_hot_share(a->self, a->p->weight));
	ut_prof_amount(a->p, a->total, &b);
	ut_buf_fmt(&b, " with what it calls (%.1f%%)\n\n", ut_hot_share(a->total, a->p->weight));
	ut_out_write(a->out, b.data, b.len);
	ut_buf_release(&b);
}

/* One table; where there is no source, assembly has to do. */
static int annotate_put_parts(struct annotating *a, struct ut_err *err)
{
	size_t lines = a->opts->source ? put_lines(a) : 0;
	struct ut_err why = { 0 };
	int rc;

	if (lines && !a->opts->assembly)
		return 0;
	if (!lines && a->opts->source)
		ut_logger_log(a->opts->logger, UT_WARN,
			      "no lines are known of it: was it compiled with -g?");
	rc = annotate_put_code(a, &why);
	if (rc && lines) {
		ut_logger_log(a->opts->logger, UT_WARN, "no assembly: %s", why.text);
		return 0;
	}
	return rc ? ut_err_set(err, rc, "%s", why.text) : 0;
}

int ut_annotate_print(struct ut_out *out, const struct ut_prof *p,
		      const struct ut_annotate_opts *opts, const struct ut_report_opts *report,
		      struct ut_err *err)
{
	const struct ut_report_table table = { columns[ut_hot_unit(p)], COLUMNS, .ruled = true };
	struct annotating a = { .p = p, .opts = opts, .out = out };
	int rc = 0;

	a.sources.arena = &a.arena;
	a.people = report->format == UT_REPORT_TABLE;
	if (!annotate_choose(&a)) {
		rc = ut_err_set(err, -ENOENT, "no sample has a function '%s' on its stack",
				opts->function);
	} else {
		annotate_put_head(&a);
		a.report = ut_report_start(out, report, &table);
		rc = annotate_put_parts(&a, err);
		ut_report_finish(a.report);
	}
	ut_source_lines_release(&a.sources);
	ut_arena_release(&a.arena);
	return rc;
}
