#include "metrics/stall_report.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/sort.h"
#include "metrics/sass_code.h"
#include "metrics/stall_parts.h"

#define UT_LOG_MODULE "metrics"
#include "base/logger.h"

/* NVIDIA's devices have many reasons: what has fewer of all samples is no finding of a top N. */
#define LEAST 0.005

/* Of all searches of a report together; a real kernel needs some thousands. */
#define STEPS ((uint64_t)1 << 28)

/* ---- reasons ------------------------------------------------------------------------------- */

static struct ut_str without_end(struct ut_str s, const char *end)
{
	if (ut_str_has_end(s, end))
		s.len -= strlen(end);
	return s;
}

static struct ut_str without_start(struct ut_str s, const char *start)
{
	if (ut_str_has_start(s, start))
		s = (struct ut_str){ s.ptr + strlen(start), s.len - strlen(start) };
	return s;
}

/* "SbidStall[Events]" -> "Sbid", "smsp__pcsamp_warps_issue_stalled_wait" -> "wait" */
static struct ut_str short_reason(struct ut_str title)
{
	const char *unit = title.len ? memchr(title.ptr, '[', title.len) : NULL;

	if (unit)
		title.len = (size_t)(unit - title.ptr);
	title = without_end(ut_str_trim(title), "Stall");
	title = without_start(without_start(title, "smsp__pcsamp_"), "warps_issue_");
	return without_start(without_start(title, "stalled_"), "stall_");
}

/* NVIDIA's own word: "LongScoreboard" -> "long_scoreboard", "dispatch_stall" -> "dispatch" */
static struct ut_str snake(struct ut_arena *a, struct ut_str s)
{
	struct ut_buf b = { 0 };
	size_t len;

	for (size_t i = 0; i < s.len; i++) {
		bool upper = s.ptr[i] >= 'A' && s.ptr[i] <= 'Z';

		if (upper && i && s.ptr[i - 1] != '_')
			ut_buf_char(&b, '_');
		ut_buf_char(&b, upper ? (char)(s.ptr[i] - 'A' + 'a') : s.ptr[i]);
	}
	len = b.len;
	return without_end((struct ut_str){ ut_buf_take(&b, a), len }, "_stall");
}

/*
 * Warps that issue, those that could while another one did, and those counted a second time because
 * nobody did, are no stalls.
 */
static bool is_stall(struct ut_str reason)
{
	return !ut_str_is(reason, "Active") && !ut_str_is(reason, "active") &&
	       !ut_str_is(reason, "selected") && !ut_str_is(reason, "not_selected") &&
	       !ut_str_has_end(reason, "_not_issued");
}

static bool is_sample(struct ut_str reason)
{
	return !ut_str_has_end(reason, "_not_issued");
}

/* ---- rows ---------------------------------------------------------------------------------- */

/* Rows by address, those of the same one added up. */
struct rows {
	const struct ut_stall_samples *samples;
	uint64_t *addresses, *counts;
	uint32_t *ins; /* UT_CODE_NONE: no instruction there */
	size_t count;
};

struct order {
	uint64_t address;
	size_t row;
};

static int by_address(const void *a, const void *b)
{
	const struct order *x = a, *y = b;

	return (x->address > y->address) - (x->address < y->address);
}

static void sort_rows(struct rows *r, struct ut_arena *a, const struct ut_stall_samples *samples)
{
	size_t n = samples->row_count, width = samples->reason_count;
	struct order *order = UT_NEW_N(a, struct order, n + 1);

	r->samples = samples;
	r->addresses = UT_NEW_N(a, uint64_t, n + 1);
	r->counts = UT_NEW_N(a, uint64_t, (n + 1) * (width ? width : 1));
	r->ins = UT_NEW_N(a, uint32_t, n + 1);
	for (size_t i = 0; i < n; i++)
		order[i] = (struct order){ samples->addresses[i], i };
	ut_sort(order, n, sizeof(*order), by_address);
	for (size_t i = 0; i < n; i++) {
		const uint64_t *from = samples->counts + order[i].row * width;
		uint64_t *to;

		if (!r->count || r->addresses[r->count - 1] != order[i].address)
			r->addresses[r->count++] = order[i].address;
		to = r->counts + (r->count - 1) * width;
		for (size_t k = 0; k < width; k++)
			to[k] += from[k];
	}
}

/* ---- places -------------------------------------------------------------------------------- */

/* "waits SB2, writes SB0, 4 cycles" */
static struct ut_str control_text(struct ut_arena *a, const struct ut_code_ins *i)
{
	struct ut_sass_control control = ut_sass_control(i->encoding);
	struct ut_buf b = { 0 };
	size_t len;

	if (!i->encoding[1])
		return (struct ut_str){ "", 0 };
	for (unsigned int k = 0; k < UT_SASS_SCOREBOARDS; k++) {
		if (control.wait >> k & 1)
			ut_buf_fmt(&b, "waits SB%u, ", k);
	}
	if (control.write < UT_SASS_SCOREBOARDS)
		ut_buf_fmt(&b, "writes SB%u, ", control.write);
	if (control.read < UT_SASS_SCOREBOARDS)
		ut_buf_fmt(&b, "reads SB%u, ", control.read);
	ut_buf_fmt(&b, "%u cycle%s", control.stall, control.stall == 1 ? "" : "s");
	len = b.len;
	return (struct ut_str){ ut_buf_take(&b, a), len };
}

/* What a dump says in a remark, for code that has only numbers. */
static struct ut_str source_text(struct ut_stall_code *c, const struct ut_code_ins *i)
{
	struct ut_str line = { "", 0 };

	if (i->source.len || !i->line || c->result->maker == UT_STALL_INTEL)
		return i->source;
	if (!c->opts->readable || c->opts->readable(c->code.files[i->file]))
		line = ut_str_trim(ut_source_line(&c->lines, c->code.files[i->file], i->line));
	return ut_str_of(ut_str_fmt(&c->result->arena, "Line %u:%s%.*s", i->line,
				    line.len ? "  " : "", (int)line.len, line.len ? line.ptr : ""));
}

struct ut_stall_place ut_stall_place(struct ut_stall_code *c, uint32_t ins)
{
	const struct ut_code_ins *i = &c->code.ins[ins];
	struct ut_arena *a = &c->result->arena;
	struct ut_stall_place p = { .address = i->address, .line = i->line };

	p.text = ut_str_of(ut_str_fmt(a, "/* [%08" PRIX64 "] */ %.*s", i->address, (int)i->text.len,
				      i->text.ptr));
	p.control = control_text(a, i);
	p.source = source_text(c, i);
	p.file = c->code.files[i->file];
	if (i->call_file)
		p.call = ut_str_of(
			ut_str_fmt(a, "%s:%u", c->code.files[i->call_file].ptr, i->call_line));
	return p;
}

void ut_stall_add(struct ut_stall_found *f, uint32_t ins, struct ut_str through)
{
	struct ut_arena *a = &f->code->result->arena;

	for (size_t i = 0; i < f->count; i++) {
		if (f->ins[i] == ins)
			return;
	}
	if (f->count == UT_STALL_MOST_CAUSES) {
		f->others++;
		return;
	}
	f->ins[f->count] = ins;
	f->through[f->count++] =
		(struct ut_str){ ut_arena_copy(a, through.ptr, through.len), through.len };
}

/* ---- findings ------------------------------------------------------------------------------ */

/* What comes to the one at ins last stands first; what a loop brings round follows. */
static uint64_t distance(uint32_t ins, uint32_t cause)
{
	return cause < ins ? ins - cause : (uint64_t)UINT32_MAX + 1 + ins - cause;
}

static void put_causes(struct ut_stall_code *c, struct ut_stall_finding *f, uint32_t ins,
		       struct ut_stall_found *found)
{
	struct ut_stall_cause *causes =
		UT_NEW_N(&c->result->arena, struct ut_stall_cause, found->count + 1);

	for (size_t i = 0; i < found->count; i++) {
		size_t nearest = i;
		uint32_t swap;
		struct ut_str through;

		for (size_t k = i + 1; k < found->count; k++) {
			if (distance(ins, found->ins[k]) < distance(ins, found->ins[nearest]))
				nearest = k;
		}
		swap = found->ins[i];
		through = found->through[i];
		causes[i] = (struct ut_stall_cause){ ut_stall_place(c, found->ins[nearest]),
						     found->through[nearest] };
		found->ins[nearest] = swap;
		found->through[nearest] = through;
	}
	f->causes = causes;
	f->cause_count = found->count;
	f->others = found->others;
}

static void add_finding(struct ut_stall_code *c, const struct rows *rows, size_t row, size_t reason)
{
	struct ut_stall_result *r = c->result;
	struct ut_stall_found found = { .code = c };
	struct ut_stall_finding *f = &r->findings[r->finding_count++];
	uint32_t ins = rows->ins[row];

	*f = (struct ut_stall_finding){
		.reason = reason,
		.count = rows->counts[row * r->reason_count + reason],
		.place = ut_stall_place(c, ins),
	};
	f->share = r->samples ? (double)f->count / (double)r->samples : 0;
	(r->maker == UT_STALL_NVIDIA ? ut_stall_sass_causes
				     : ut_stall_asm_causes)(c, ins, r->reasons[reason], &found);
	put_causes(c, f, ins, &found);
}

struct top {
	uint64_t count;
	size_t row;
};

static int stall_report_by_count(const void *a, const void *b)
{
	const struct top *x = a, *y = b;
	int order = (x->count < y->count) - (x->count > y->count);

	return order ? order : (x->row > y->row) - (x->row < y->row);
}

static void find_of_reason(struct ut_stall_code *c, const struct rows *rows, size_t reason,
			   struct top *top)
{
	size_t n = 0, width = c->result->reason_count;

	for (size_t i = 0; i < rows->count; i++) {
		uint64_t count = rows->counts[i * width + reason];

		if (count && rows->ins[i] != UT_CODE_NONE)
			top[n++] = (struct top){ count, i };
	}
	ut_sort(top, n, sizeof(*top), stall_report_by_count);
	for (size_t i = 0; i < n && i < c->opts->top; i++) {
		if (c->result->maker == UT_STALL_NVIDIA && c->opts->top != UT_STALL_TOP_ALL &&
		    (double)top[i].count < LEAST * (double)c->result->samples)
			break;
		add_finding(c, rows, top[i].row, reason);
	}
}

/* The order of reasons in the report: Intel's is fixed, the scoreboard first. */
static void order_reasons(const struct ut_stall_result *r, const uint64_t *totals, size_t *order)
{
	for (size_t i = 0; i < r->reason_count; i++) {
		size_t at = i;
		bool first = r->maker == UT_STALL_INTEL && ut_str_is(r->reasons[i], "Sbid");

		while (at &&
		       (r->maker == UT_STALL_INTEL ? first : totals[order[at - 1]] < totals[i])) {
			order[at] = order[at - 1];
			at--;
		}
		order[at] = i;
	}
}

static void find_all(struct ut_stall_code *c, const struct rows *rows)
{
	struct ut_stall_result *r = c->result;
	struct top *top = UT_NEW_N(&r->arena, struct top, rows->count + 1);
	uint64_t *totals = UT_NEW_N(&r->arena, uint64_t, r->reason_count + 1);
	size_t *order = UT_NEW_N(&r->arena, size_t, r->reason_count + 1), most = 0;

	for (size_t i = 0; i < rows->count; i++) {
		for (size_t k = 0; k < r->reason_count; k++)
			totals[k] += rows->counts[i * r->reason_count + k];
	}
	r->totals = totals;
	order_reasons(r, totals, order);
	most = rows->count < r->top ? rows->count : (size_t)r->top;
	r->findings = UT_NEW_N(&r->arena, struct ut_stall_finding, r->reason_count * most + 1);
	for (size_t i = 0; i < r->reason_count; i++) {
		if (is_stall(r->reasons[order[i]]))
			find_of_reason(c, rows, order[i], top);
	}
}

/* ---- shares -------------------------------------------------------------------------------- */

static void count_row(const struct ut_stall_result *r, const uint64_t *counts,
		      struct ut_stall_share *s)
{
	s->reason = UT_STALL_NO_REASON;
	for (size_t k = 0; k < r->reason_count; k++) {
		bool stall = is_stall(r->reasons[k]);

		s->samples += is_sample(r->reasons[k]) ? counts[k] : 0;
		s->stalls += stall ? counts[k] : 0;
		if (stall && counts[k] > s->main) {
			s->main = counts[k];
			s->reason = k;
		}
	}
	s->share = r->samples ? (double)s->samples / (double)r->samples : 0;
}

/* All samples, and which rows have an instruction. */
static void count_all(struct ut_stall_code *c, struct rows *rows)
{
	struct ut_stall_result *r = c->result;

	for (size_t i = 0; i < rows->count; i++) {
		struct ut_stall_share s = { 0 };

		count_row(r, rows->counts + i * r->reason_count, &s);
		r->samples += s.samples;
		r->stalls += s.stalls;
		rows->ins[i] = ut_code_at(&c->code, rows->addresses[i]);
		r->lost += rows->ins[i] == UT_CODE_NONE ? s.samples : 0;
	}
}

static void share_instructions(struct ut_stall_code *c, const struct rows *rows)
{
	struct ut_stall_result *r = c->result;

	r->instructions = UT_NEW_N(&r->arena, struct ut_stall_share, (size_t)c->code.count + 1);
	r->instruction_count = c->code.count;
	for (uint32_t i = 0; i < c->code.count; i++) {
		r->instructions[i].place = ut_stall_place(c, i);
		r->instructions[i].reason = UT_STALL_NO_REASON;
		r->instructions[i].instructions = 1;
	}
	for (size_t i = 0; i < rows->count; i++) {
		if (rows->ins[i] != UT_CODE_NONE)
			count_row(r, rows->counts + i * r->reason_count,
				  &r->instructions[rows->ins[i]]);
	}
}

struct line_row {
	uint32_t file, line;
	size_t row;
};

static int by_line(const void *a, const void *b)
{
	const struct line_row *x = a, *y = b;
	int order = (x->file > y->file) - (x->file < y->file);

	if (!order)
		order = (x->line > y->line) - (x->line < y->line);
	return order ? order : (x->row > y->row) - (x->row < y->row);
}

static void share_lines(struct ut_stall_code *c, const struct rows *rows)
{
	struct ut_stall_result *r = c->result;
	struct line_row *order = UT_NEW_N(&r->arena, struct line_row, rows->count + 1);
	uint64_t *sum = UT_NEW_N(&r->arena, uint64_t, r->reason_count + 1);
	size_t n = 0;

	for (size_t i = 0; i < rows->count; i++) {
		const struct ut_code_ins *ins = c->code.ins + rows->ins[i];

		if (rows->ins[i] != UT_CODE_NONE && ins->line)
			order[n++] = (struct line_row){ ins->file, ins->line, i };
	}
	ut_sort(order, n, sizeof(*order), by_line);
	r->lines = UT_NEW_N(&r->arena, struct ut_stall_share, n + 1);
	for (size_t i = 0, from = 0; i < n; i++) {
		struct ut_stall_share *s = &r->lines[r->line_count];

		for (size_t k = 0; k < r->reason_count; k++)
			sum[k] += rows->counts[order[i].row * r->reason_count + k];
		if (i + 1 < n && order[i + 1].file == order[i].file &&
		    order[i + 1].line == order[i].line)
			continue;
		s->place = ut_stall_place(c, rows->ins[order[from].row]);
		s->instructions = (uint32_t)(i + 1 - from);
		count_row(r, sum, s);
		r->line_count += s->samples ? 1 : 0;
		memset(sum, 0, r->reason_count * sizeof(*sum));
		from = i + 1;
	}
}

/* ---- all of it ----------------------------------------------------------------------------- */

static void name_reasons(struct ut_stall_result *r, const struct ut_stall_samples *samples)
{
	struct ut_str *reasons = UT_NEW_N(&r->arena, struct ut_str, samples->reason_count + 1);

	for (size_t i = 0; i < samples->reason_count; i++) {
		struct ut_str s = short_reason(samples->reasons[i]);

		reasons[i] =
			r->maker == UT_STALL_NVIDIA
				? snake(&r->arena, s)
				: (struct ut_str){ ut_arena_copy(&r->arena, s.ptr, s.len), s.len };
	}
	r->reasons = reasons;
	r->reason_count = samples->reason_count;
}

int ut_stall_find(struct ut_stall_result *r, const struct ut_stall_samples *samples,
		  const struct ut_stall_opts *opts, struct ut_err *err)
{
	struct ut_stall_code c = { .result = r, .opts = opts, .lines.arena = &r->arena };
	struct rows rows = { 0 };
	int rc;

	*r = (struct ut_stall_result){ .top = opts->top };
	r->kernel =
		(struct ut_str){ ut_arena_copy(&r->arena, samples->kernel.ptr, samples->kernel.len),
				 samples->kernel.len };
	ut_code_init(&c.code, &r->arena);
	rc = ut_stall_is_sass(opts->code) ? ut_stall_open_sass(&c, samples, err)
					  : ut_stall_open_asm(&c, r->kernel, err);
	if (!rc) {
		ut_code_walk_init(&c.walk, &c.code, STEPS);
		name_reasons(r, samples);
		sort_rows(&rows, &r->arena, samples);
		count_all(&c, &rows);
		find_all(&c, &rows);
		share_instructions(&c, &rows);
		share_lines(&c, &rows);
		if (r->lost)
			ut_logger_log(
				opts->logger, UT_WARN,
				"%.*s: %" PRIu64 " of %" PRIu64
				" samples lie at no instruction of %.*s; is it the code that ran?",
				(int)r->kernel.len, r->kernel.ptr, r->lost, r->samples,
				(int)r->assembly.len, r->assembly.ptr);
		if (!c.walk.left)
			ut_logger_log(
				opts->logger, UT_WARN,
				"%.*s: not all causes were searched for, the code is too large",
				(int)r->kernel.len, r->kernel.ptr);
	}
	ut_code_release(&c.code);
	ut_source_lines_release(&c.lines);
	if (rc)
		ut_stall_release(r);
	return rc;
}

void ut_stall_release(struct ut_stall_result *r)
{
	ut_arena_release(&r->arena);
	*r = (struct ut_stall_result){ 0 };
}
