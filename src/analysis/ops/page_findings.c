#include "ops/page_findings.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/grow.h"
#include "base/size.h"
#include "base/str.h"
#include "ops/page_trace.h"
#include "ops/report.h"
#include "text/csv_read.h"
#include "text/out.h"
#include "view/view.h"

#define WAITING_BAD   0.5 /* share of a device's time between ops: more than all ops together */
#define COMPILING_BAD 0.2 /* share of the host's time */
#define TEXT_MOST     120 /* bytes of a name or reason in a sentence */
#define TIME_ROOM     32

/* All calls of one op. */
struct total {
	uint64_t calls, ns;
};

struct facts {
	const struct ut_ops_report *r;
	const struct ut_ops_page_trace *t;
	const struct ut_view *view;
	struct ut_out *out;
	size_t written;
	struct ut_arena arena;
	struct ut_str *texts;
	size_t code, host, kernel, gap, cached, problem; /* places of columns */
	struct ut_strtab codes;                          /* ids are those of totals */
	struct total *totals;
	size_t total_cap;
	uint64_t host_ns, device_ns, gap_ns;
	uint64_t longest_gap, compiled, compiled_ns;
	size_t waits; /* the row before which the device waited longest, plus 1 */
	size_t first_compiled, first_problem;
};

/* ---- reading ------------------------------------------------------------------------------- */

static struct ut_str ops_page_findings_code_of(const struct facts *f)
{
	struct ut_str code = f->texts[f->code];

	while (code.len && *code.ptr == ' ')
		code = (struct ut_str){ code.ptr + 1, code.len - 1 };
	return code.len ? code : (struct ut_str){ "op", 2 };
}

static void ops_page_findings_add_row(struct facts *f, size_t row)
{
	uint64_t ns = 0, host = 0;

	ut_ops_row_texts(f->r, row, f->texts);
	if (ut_csv_number(f->texts[f->host], &host))
		f->host_ns += host;
	if (ut_csv_number(f->texts[f->kernel], &ns)) {
		uint32_t id = ut_strtab_intern(&f->codes, ops_page_findings_code_of(f).ptr,
					       ops_page_findings_code_of(f).len);

		f->totals = ut_grow(f->totals, (size_t)id + 1, &f->total_cap, sizeof(*f->totals));
		f->totals[id].calls++;
		f->totals[id].ns += ns;
		f->device_ns += ns;
	}
	if (ut_csv_number(f->texts[f->gap], &ns)) {
		f->gap_ns += ns;
		if (ns > f->longest_gap) {
			f->longest_gap = ns;
			f->waits = row + 1;
		}
	}
	if (ut_str_is(f->texts[f->cached], "False")) {
		f->compiled++;
		f->compiled_ns += host;
		f->first_compiled = f->first_compiled ? f->first_compiled : row + 1;
	}
	if (!f->first_problem && f->texts[f->problem].len)
		f->first_problem = row + 1;
}

/* ---- writing ------------------------------------------------------------------------------- */

struct finding {
	const char *tone;
	struct ut_buf say, why;
	uint64_t gain; /* ns; 0 = not known */
	size_t row;    /* to be seen there, plus 1; 0 = nowhere */
};

/* Half as much again as the op, on its device if it has been there. */
static void put_range(const struct facts *f, size_t row, struct ut_out *out)
{
	const struct ut_ops_times *t = &f->t->times[row];
	uint64_t from = t->on_device ? t->device : t->host;
	uint64_t ns = t->on_device ? t->device_ns : t->host_ns;
	uint64_t start;

	if (!t->on_device && !t->on_host) {
		ut_out_text(out, ",\"tab\":\"ops\",\"range\":[0,0]");
		return;
	}
	start = ut_view_since(f->view, 0, from);
	ns += ns < 100 ? 100 : 0;
	ut_out_fmt(out, ",\"range\":[%" PRIu64 ",%" PRIu64 "]", start > ns / 2 ? start - ns / 2 : 0,
		   start + ns + ns / 2);
}

static void ops_page_findings_put_finding(struct facts *f, struct finding *of)
{
	ut_out_text(f->out, f->written++ ? ",{\"tone\":\"" : "{\"tone\":\"");
	ut_out_text(f->out, of->tone);
	ut_out_text(f->out, "\",\"say\":");
	ut_out_json_str(f->out, of->say.data, of->say.len);
	ut_out_text(f->out, ",\"why\":");
	ut_out_json_str(f->out, of->why.data, of->why.len);
	if (of->gain)
		ut_out_fmt(f->out, ",\"gain\":%" PRIu64, of->gain);
	if (of->row)
		put_range(f, of->row - 1, f->out);
	ut_out_text(f->out, "}");
	ut_buf_release(&of->say);
	ut_buf_release(&of->why);
}

static int ops_page_findings_cut(struct ut_str s)
{
	return s.len < TEXT_MOST ? (int)s.len : TEXT_MOST;
}

/* As the page writes it. */
static const char *ops_page_findings_time_of(uint64_t ns, char *text)
{
	char *micro;

	ut_time_text(text, TIME_ROOM - 1, ns);
	micro = strstr(text, " us");
	if (micro)
		memcpy(micro, " \302\265s", 5);
	return text;
}

static void find_waiting(struct facts *f)
{
	double share = (double)f->gap_ns / ((double)(f->gap_ns + f->device_ns) + 1e-9);
	struct finding of = { .tone = "bad", .gain = f->gap_ns, .row = f->waits };
	char a[TIME_ROOM], b[TIME_ROOM], c[TIME_ROOM];
	struct ut_str name;

	if (!f->waits || !f->device_ns || share < WAITING_BAD)
		return;
	ut_ops_row_texts(f->r, f->waits - 1, f->texts);
	name = ops_page_findings_code_of(f);
	ut_buf_fmt(&of.say, "Devices wait %.1f %% of their time for the next op.", share * 100);
	ut_buf_fmt(&of.why,
		   "Kernels take %s, the time between ops %s; the longest, %s, is before %.*s. "
		   "The host hands ops over too slowly: record them once and replay them "
		   "(a trace of Metal, a graph of CUDA), or let each op do more.",
		   ops_page_findings_time_of(f->device_ns, a),
		   ops_page_findings_time_of(f->gap_ns, b),
		   ops_page_findings_time_of(f->longest_gap, c), ops_page_findings_cut(name),
		   name.ptr);
	ops_page_findings_put_finding(f, &of);
}

static void find_compiling(struct facts *f)
{
	double share = (double)f->compiled_ns / ((double)f->host_ns + 1e-9);
	struct finding of = { .tone = "warn", .gain = f->compiled_ns, .row = f->first_compiled };
	char a[TIME_ROOM], b[TIME_ROOM];

	if (!f->compiled || share < COMPILING_BAD)
		return;
	ut_buf_fmt(&of.say, "%" PRIu64 " op%s had to compile: %.0f %% of the host's time.",
		   f->compiled, f->compiled == 1 ? "" : "s", share * 100);
	ut_buf_fmt(&of.why,
		   "They take %s of %s, and are not in the program cache. Switch the cache on, run "
		   "the model once before you measure, and keep shapes the same.",
		   ops_page_findings_time_of(f->compiled_ns, a),
		   ops_page_findings_time_of(f->host_ns, b));
	ops_page_findings_put_finding(f, &of);
}

static void find_missing(struct facts *f)
{
	struct finding of = { .tone = "warn" };

	if (!f->r->missing)
		return;
	ut_buf_fmt(&of.say, "%zu op%s ran on a device, but %s no device times.", f->r->missing,
		   f->r->missing == 1 ? "" : "s", f->r->missing == 1 ? "has" : "have");
	ut_buf_text(&of.why, "Their times are left open, and no sum has them. Run the program with "
			     "TT_METAL_DEVICE_PROFILER=1, and read the profiler's buffer before it "
			     "is full.");
	ops_page_findings_put_finding(f, &of);
}

static void find_problems(struct facts *f)
{
	struct finding of = { .tone = "warn", .row = f->first_problem };
	struct ut_str why;

	if (!f->r->problems || !f->first_problem)
		return;
	ut_ops_row_texts(f->r, f->first_problem - 1, f->texts);
	why = f->texts[f->problem];
	ut_buf_fmt(&of.say, "%zu of %zu rows are not whole.", f->r->problems, f->r->row_count);
	ut_buf_fmt(&of.why, "The first, %.*s: %.*s. Column PROBLEM says it for each of them.",
		   ops_page_findings_cut(ops_page_findings_code_of(f)),
		   ops_page_findings_code_of(f).ptr, ops_page_findings_cut(why), why.ptr);
	ops_page_findings_put_finding(f, &of);
}

static void find_heaviest(struct facts *f)
{
	struct finding of = { .tone = "" };
	uint32_t best = 0;
	struct ut_str name;
	char a[TIME_ROOM];

	for (uint32_t i = 1; i <= f->codes.count; i++)
		best = !best || f->totals[i].ns > f->totals[best].ns ? i : best;
	if (!best || !f->totals[best].ns)
		return;
	name = ut_strtab_get(&f->codes, best);
	ut_buf_fmt(&of.say, "%.*s takes %.0f %% of the time in kernels.",
		   ops_page_findings_cut(name), name.ptr,
		   100. * (double)f->totals[best].ns / (double)f->device_ns);
	ut_buf_fmt(&of.why, "%" PRIu64 " call%s, %s.", f->totals[best].calls,
		   f->totals[best].calls == 1 ? "" : "s",
		   ops_page_findings_time_of(f->totals[best].ns, a));
	ops_page_findings_put_finding(f, &of);
}

void ut_ops_page_findings_write(const struct ut_ops_report *r, const struct ut_ops_page_trace *t,
				const struct ut_view *v, struct ut_out *out)
{
	struct facts f = { .r = r,
			   .t = t,
			   .view = v,
			   .out = out,
			   .code = ut_ops_place_of(r, "OP CODE"),
			   .host = ut_ops_place_of(r, "HOST DURATION [ns]"),
			   .kernel = ut_ops_place_of(r, "DEVICE KERNEL DURATION [ns]"),
			   .gap = ut_ops_place_of(r, "OP TO OP LATENCY [ns]"),
			   .cached = ut_ops_place_of(r, "PROGRAM CACHE HIT"),
			   .problem = ut_ops_place_of(r, "PROBLEM") };

	f.texts = UT_NEW_N(&f.arena, struct ut_str, r->shown + 1);
	ut_strtab_init(&f.codes, &f.arena);
	for (size_t i = 0; i < r->row_count; i++)
		ops_page_findings_add_row(&f, i);
	ut_out_text(out, "[");
	find_waiting(&f);
	find_compiling(&f);
	find_missing(&f);
	find_problems(&f);
	find_heaviest(&f);
	ut_out_text(out, "]");
	free(f.totals);
	ut_arena_release(&f.arena);
}
