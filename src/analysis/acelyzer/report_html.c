/*
 * report_html.c - the report as a page: the viewer with the events of the analysis, and with what
 * the analysis has found on tabs of their own.
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "acelyzer/report_page.h"
#include "acelyzer/to_trace.h"
#include "base/str.h"
#include "model/build.h"
#include "report/one_page.h"
#include "text/out.h"
#include "view/view.h"

#define HOST_PIDS    1000   /* flex host spans are shown as rank + 1000 */
#define STAMPED_MOST 100000 /* spans; of more, stamps would be most of the page */
#define SINCE_1970   1e15   /* us: a clock that is beyond counts from then */
#define UNTIL_2262   9e15   /* us */

/* ---- the timeline --------------------------------------------------------------------------- */

/* When the first event begins, us; also how many spans there are. */
static double first_time(const struct ut_ace_table *t, size_t *spans)
{
	double first = INFINITY;

	*spans = 0;
	for (size_t i = 0; i < t->seq_count; i++) {
		const struct ut_ace_event *e = ut_ace_at(t, i);

		*spans += e->ph == 'X';
		if (e->ph != 'M' && e->ts < first)
			first = e->ts;
	}
	return isfinite(first) ? first : 0;
}

static bool is_rank(const struct ut_ace_extra *x, uint64_t number)
{
	return number <= INT32_MAX && ut_idmap_get(&x->rank_index, number);
}

/* In flex files the process is the rank; torch files have said theirs. */
static int32_t report_html_rank_of(const struct ut_ace_extra *x, const struct ut_process *p)
{
	if (p->rank >= 0)
		return p->rank;
	if (is_rank(x, p->pid))
		return (int32_t)p->pid;
	return p->pid >= HOST_PIDS && is_rank(x, p->pid - HOST_PIDS) ? (int32_t)(p->pid - HOST_PIDS)
								     : -1;
}

/* What the names of processes mean: "AIU Device3" is the device of rank 3. */
static void place_processes(const struct ut_ace_report *r, struct ut_trace *trace)
{
	static const char device[] = "AIU Device";

	for (size_t i = 0; i < trace->process_count; i++) {
		struct ut_process *p = &trace->processes[i];
		struct ut_str name = ut_strtab_get(&trace->strings, p->name);

		p->rank = report_html_rank_of(r->x, p);
		p->kind = UT_PROCESS_PROGRAM;
		if (name.len < sizeof(device) || strncmp(name.ptr, device, strlen(device)) != 0)
			continue;
		p->kind = UT_PROCESS_DEVICE;
		p->device_type = UT_DEVICE_TYPE_ACCELERATOR;
		p->api.api = UT_API_AIU;
		p->device = p->rank;
	}
	for (size_t i = 0; i < trace->track_count; i++) {
		struct ut_track *k = &trace->tracks[i];

		if (k->type == UT_TRACK_THREAD &&
		    trace->processes[k->process].kind == UT_PROCESS_DEVICE)
			k->role = UT_ROLE_QUEUE;
	}
}

static void make_store(const struct ut_ace_report *r, struct ut_store *store, double *zero)
{
	static const char no_stamps[] =
		"arguments of spans are here without cycles and readings of power, values of "
		"counters in five digits, to keep this page small; the trace that analyze writes "
		"has them in full";
	size_t spans;
	struct ut_ace_to_trace_opts how = { .zero = *zero = first_time(&r->a->table, &spans),
					    .origin = true,
					    .apart = true,
					    .all_values = true };
	struct ut_trace trace;
	struct ut_build build;

	how.no_stamps = how.coarse = spans > STAMPED_MOST;
	ut_trace_init(&trace);
	ut_build_init(&build);
	ut_ace_to_trace(r->a, &how, &trace, &build.sink);
	place_processes(r, &trace);
	if (how.zero > SINCE_1970 && how.zero < UNTIL_2262)
		trace.realtime_offset = llrint(how.zero * 1000);
	if (how.no_stamps)
		ut_trace_add_note(&trace, ut_strtab_intern_z(&trace.strings, no_stamps));
	ut_build_end_trace(&build, &trace);
	ut_build_finish(&build, store);
	ut_trace_release(&trace);
}

/* ---- what it is about ----------------------------------------------------------------------- */

/* What was read, by name, as far as a line holds it. */
static void name_inputs(const struct ut_ace_table *t, struct ut_buf *b)
{
	enum {
		MOST = 3
	};

	for (size_t i = 0; i < t->job_count && i < MOST; i++) {
		ut_buf_text(b, i ? ", " : "");
		ut_buf_add(b, t->jobs[i].base, t->jobs[i].base_len);
	}
	if (t->job_count > MOST)
		ut_buf_fmt(b, " and %zu more", t->job_count - MOST);
}

/* The youngest input: when the job was recorded, as well as files can tell. */
static void date_inputs(const struct ut_ace_table *t, struct ut_buf *b)
{
	time_t last = 0;
	struct tm when;
	char text[32];

	for (size_t i = 0; i < t->job_count; i++) {
		struct stat st;

		if (!stat(t->jobs[i].path, &st) && st.st_mtime > last)
			last = st.st_mtime;
	}
	if (last && gmtime_r(&last, &when) && strftime(text, sizeof(text), "%Y-%m-%d %H:%M", &when))
		ut_buf_fmt(b, ", written %s UTC", text);
}

static void report_html_describe(struct ut_view *v, const struct ut_ace_report *r)
{
	struct ut_buf input = { 0 }, about = { 0 };
	size_t ranks = r->x->rank_count;

	name_inputs(&r->a->table, &input);
	ut_buf_fmt(&about, "AIU job, %zu rank%s", ranks, ranks == 1 ? "" : "s");
	date_inputs(&r->a->table, &about);
	ut_view_describe(v, &(struct ut_view_about){ .input = input.len ? input.data : r->title,
						     .subtitle = about.data,
						     .first = "summary" });
	ut_buf_release(&input);
	ut_buf_release(&about);
}

uint64_t ut_ace_page_time(const struct ut_ace_page *p, int64_t ns)
{
	int64_t at = ns + p->shift;

	return ut_view_since(p->view, 0, at > 0 ? (uint64_t)at : 0);
}

void ut_ace_page_attach(const struct ut_ace_page *p, const char *name, struct ut_out *json)
{
	ut_view_attach(p->view, "analyze", "Analyze", name, json);
}

void ut_ace_report_html(struct ut_out *o, const struct ut_ace_report *r)
{
	struct ut_ace_page p = { .report = r, .view = ut_view_new() };
	struct ut_store store;
	double zero;

	make_store(r, &store, &zero);
	p.shift = llrint(fmin(fmax((r->x->zero - zero) * 1000, -9e18), 9e18));
	ut_view_lend(p.view, r->title, &store);
	ut_view_ready(p.view, r->a->table.threads);
	report_html_describe(p.view, r);
	ut_ace_page_sheets(&p);
	ut_ace_page_trust(&p);
	ut_ace_page_findings(&p);
	ut_one_page_write(p.view, UT_PAGE_SLICES, o);
	ut_view_free(p.view);
	ut_store_release(&store);
}
