#include "ops/stitch.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/idmap.h"
#include "base/logger.h"
#include "base/str.h"
#include "import/load.h"
#include "model/store.h"
#include "ops/from_trace.h"
#include "ops/page_view.h"
#include "ops/report.h"
#include "ops/trace_rows.h"
#include "ops/trace_spans.h"
#include "ops/write_report.h"
#include "text/out.h"
#include "view/view.h"

#define WITH_DEVICES "HOST DURATION WITH DEVICE PROFILING [ns]"

/* What the second run knows about a span. */
struct host {
	uint64_t start, end, self;
};

/* Numbers for pairs of numbers, from 1 on, in the order in which they are asked for. */
struct numbers {
	struct ut_idmap map;
	uint32_t count;
};

struct stitch {
	struct ut_ops_report report;
	struct ut_ops_trace rows;
	struct ut_arena arena;
	/* each names what it holds by a number of the one before and another: process (name,
	 * which), kind of thread (process, name of its first span), thread (kind, which), series
	 * (thread, name of span), call (series, which) */
	struct numbers processes, kinds, threads, series, calls;
	struct host *hosts; /* per call - 1 */
	size_t host_cap;
	uint32_t start, end, time, self, with; /* columns */
	size_t joined;                         /* rows that have a host time of the second run */
	uint64_t with_ns, without_ns;          /* host time of these, in either run */
	size_t matched, alone; /* calls of the first run that the second has, has not */
	const char *example;   /* name of one that it has not */
};

static uint32_t stitch_number_of(struct numbers *n, uint32_t a, uint32_t b)
{
	uint64_t key = (uint64_t)a << 32 | b;
	uint32_t number = ut_idmap_get(&n->map, key);

	if (!number) {
		number = ++n->count;
		ut_idmap_put(&n->map, key, number);
	}
	return number;
}

/* How often something with a number has been met in this run. */
struct tally {
	uint32_t *counts;
	size_t cap;
};

static uint32_t count_up(struct tally *t, uint32_t number)
{
	t->counts = ut_grow(t->counts, (size_t)number + 1, &t->cap, sizeof(*t->counts));
	return ++t->counts[number];
}

/* One run on its way through the numbers. */
struct pass {
	struct stitch *s;
	struct tally processes, kinds, series;
};

static void pass_release(struct pass *p)
{
	free(p->processes.counts);
	free(p->kinds.counts);
	free(p->series.counts);
}

/* ---- which call is which ------------------------------------------------------------------- */

static int by_first_start(const void *pa, const void *pb, void *ctx)
{
	const struct ut_ops_spans *spans = ctx;
	uint32_t a = *(const uint32_t *)pa, b = *(const uint32_t *)pb;
	uint64_t ta = spans->items[spans->threads[a].first].start;
	uint64_t tb = spans->items[spans->threads[b].first].start;

	if (ta != tb)
		return ta < tb ? -1 : 1;
	return (a > b) - (a < b);
}

static uint32_t *threads_by_start(struct ut_ops_spans *spans)
{
	uint32_t *order = ut_make((spans->thread_count + 1) * sizeof(*order));

	for (uint32_t i = 0; i < spans->thread_count; i++)
		order[i] = i;
	qsort_r(order, spans->thread_count, sizeof(*order), by_first_start, spans);
	return order;
}

/* The processes of a trace by their numbers; processes of one name by their order. */
static uint32_t *number_processes(struct pass *p, const struct ut_store *store)
{
	const struct ut_trace *t = &store->trace;
	uint32_t *numbers = ut_make((t->process_count + 1) * sizeof(*numbers));

	for (size_t i = 0; i < t->process_count; i++) {
		struct ut_str name = ut_strtab_get(&t->strings, t->processes[i].name);
		uint32_t id = ut_strtab_intern(&p->s->rows.texts, name.ptr, name.len);

		numbers[i] = stitch_number_of(&p->s->processes, id, count_up(&p->processes, id));
	}
	return numbers;
}

/* The call of every span of a trace. */
static uint32_t *number_calls(struct pass *p, const struct ut_store *store,
			      struct ut_ops_spans *spans)
{
	uint32_t *calls = ut_make((spans->count + 1) * sizeof(*calls));
	uint32_t *processes = number_processes(p, store);
	uint32_t *order = threads_by_start(spans);
	struct stitch *s = p->s;

	for (size_t i = 0; i < spans->thread_count; i++) {
		const struct ut_ops_thread *t = &spans->threads[order[i]];
		const struct ut_ops_span *first = &spans->items[t->first];
		uint32_t process = processes[store->trace.tracks[first->track].process];
		uint32_t kind = stitch_number_of(&s->kinds, process, first->code);
		uint32_t thread = stitch_number_of(&s->threads, kind, count_up(&p->kinds, kind));

		for (size_t k = t->first; k < t->first + t->count; k++) {
			uint32_t series =
				stitch_number_of(&s->series, thread, spans->items[k].code);

			calls[k] =
				stitch_number_of(&s->calls, series, count_up(&p->series, series));
		}
	}
	free(processes);
	free(order);
	return calls;
}

/* ---- the second run ------------------------------------------------------------------------ */

static int note_hosts(void *ctx, size_t i, struct ut_store *store, struct ut_err *err)
{
	struct pass *p = ctx;
	struct stitch *s = p->s;
	struct ut_ops_spans spans;
	uint32_t *calls;

	(void)i;
	(void)err;
	ut_ops_spans_make(&spans, store, &s->rows.texts, false);
	calls = number_calls(p, store, &spans);
	s->hosts = ut_grow(s->hosts, (size_t)s->calls.count + 1, &s->host_cap, sizeof(*s->hosts));
	for (size_t k = 0; k < spans.count; k++) {
		const struct ut_ops_span *span = &spans.items[k];

		s->hosts[calls[k]] = (struct host){ span->start, span->end, span->self };
	}
	free(calls);
	ut_ops_spans_release(&spans);
	return 0;
}

/* ---- the first run ------------------------------------------------------------------------- */

static void put_host(struct stitch *s, const struct host *host, const struct ut_ops_span *span)
{
	struct ut_ops_report *r = &s->report;

	ut_ops_put_u64(r, s->start, host->start);
	ut_ops_put_u64(r, s->end, host->end);
	ut_ops_put_u64(r, s->time, host->end - host->start);
	ut_ops_put_u64(r, s->self, host->self);
	s->joined++;
	s->with_ns += span->end - span->start;
	s->without_ns += host->end - host->start;
}

/* Cells of a later part win over those that the row has. */
static void join_row(struct stitch *s, struct ut_ops_row *row, uint32_t call,
		     const struct ut_ops_span *span, uint32_t known)
{
	size_t first = s->report.cell_count;

	ut_ops_put_u64(&s->report, s->with, span->end - span->start);
	if (call <= known) {
		put_host(s, &s->hosts[call], span);
	} else if (known) {
		ut_ops_put_problem(&s->report, "the run without device profiling has no such call: "
					       "host times are those with it");
	}
	row->parts[1] = ut_ops_since(&s->report, first);
}

struct first_run {
	struct pass pass;
	uint32_t known; /* calls that the second run has */
};

static void compare_calls(struct first_run *run, const struct ut_ops_spans *spans,
			  const uint32_t *calls)
{
	struct stitch *s = run->pass.s;

	for (size_t i = 0; i < spans->count; i++) {
		if (calls[i] <= run->known) {
			s->matched++;
			continue;
		}
		if (!s->alone++)
			s->example = ut_strtab_get(&s->rows.texts, spans->items[i].code).ptr;
	}
}

static int stitch_add_rows(void *ctx, size_t i, struct ut_store *store, struct ut_err *err)
{
	struct first_run *run = ctx;
	struct stitch *s = run->pass.s;
	size_t row = s->report.row_count;
	struct ut_ops_jobs jobs;
	uint32_t *calls;

	(void)i;
	(void)err;
	ut_ops_trace_add(&s->rows, store);
	ut_ops_jobs_make(&jobs, store, &s->rows.texts, false);
	calls = number_calls(&run->pass, store, &jobs.spans);
	compare_calls(run, &jobs.spans, calls);
	for (size_t k = 0; k < jobs.count && row + k < s->report.row_count; k++) {
		uint32_t span = jobs.items[k].span;

		if (span)
			join_row(s, &s->report.rows[row + k], calls[span - 1],
				 &jobs.spans.items[span - 1], run->known);
	}
	free(calls);
	ut_ops_jobs_release(&jobs);
	return 0;
}

/* ---- reading and writing ------------------------------------------------------------------- */

static uint32_t column(struct ut_ops_report *r, const char *name)
{
	return ut_ops_column(r, &(struct ut_ops_column){ .name = name });
}

static void stitch_init(struct stitch *s)
{
	struct numbers *const all[] = { &s->processes, &s->kinds, &s->threads, &s->series,
					&s->calls };
	struct ut_ops_column with;

	*s = (struct stitch){ 0 };
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		ut_idmap_init(&all[i]->map, &s->arena);
	ut_ops_report_init(&s->report);
	ut_ops_trace_init(&s->rows, &s->report, false);
	s->start = column(&s->report, "HOST START TS");
	s->end = column(&s->report, "HOST END TS");
	s->time = column(&s->report, "HOST DURATION [ns]");
	s->self = column(&s->report, "HOST SELF DURATION [ns]");
	/* right behind the last of them */
	with = s->report.columns[s->self];
	with.name = WITH_DEVICES;
	with.sub++;
	s->with = ut_ops_column(&s->report, &with);
}

static void stitch_release(struct stitch *s)
{
	free(s->hosts);
	ut_ops_trace_release(&s->rows);
	ut_ops_report_release(&s->report);
	ut_arena_release(&s->arena);
}

static int read_run(const struct ut_logger *logger, const char *folder,
		    int (*each)(void *ctx, size_t i, struct ut_store *store, struct ut_err *err),
		    void *ctx, struct ut_err *err)
{
	const struct ut_load how = { "profile-this", ut_load_threads(0), .checked = false,
				     .logger = logger };
	struct ut_inputs in = { 0 };
	int rc = ut_inputs_find(&in, 1, &folder, logger, err);

	if (!rc)
		rc = ut_load_each(&in, &how, each, ctx, err);
	ut_inputs_release(&in);
	return rc;
}

/* *known: calls that the second run has. */
static int read_runs(struct stitch *s, const struct ut_stitch_runs *runs, uint32_t *known,
		     struct ut_err *err)
{
	struct pass second = { .s = s };
	struct first_run first = { .pass.s = s };
	int rc = runs->host ? read_run(runs->logger, runs->host, note_hosts, &second, err) : 0;

	first.known = *known = s->calls.count;
	if (!rc)
		rc = read_run(runs->logger, runs->devices, stitch_add_rows, &first, err);
	pass_release(&second);
	pass_release(&first.pass);
	return rc;
}

static int stitch_write_page(const struct ut_ops_report *r, const struct ut_stitch_runs *runs,
			     struct ut_arena *a, struct ut_err *err)
{
	const struct ut_ops_about about = { runs->devices, "two runs of one program" };
	struct ut_view *v = ut_ops_page_view(r, &about);
	bool written;
	int rc = ut_ops_page_write(v, ut_str_fmt(a, "%s.html", runs->report), runs->logger,
				   &written, err);

	ut_view_free(v);
	return rc;
}

static int write_files(struct ut_ops_report *r, const struct ut_stitch_runs *runs,
		       struct ut_arena *a, struct ut_err *err)
{
	static const struct {
		const char *suffix;
		void (*write)(const struct ut_ops_report *r, struct ut_out *out);
	} files[] = { { "csv", ut_ops_write_csv }, { "json", ut_ops_write_json } };
	int rc = 0;

	ut_ops_report_order(r);
	for (size_t i = 0; !rc && i < sizeof(files) / sizeof(files[0]); i++) {
		struct ut_out *out = ut_out_open(
			ut_str_fmt(a, "%s.%s", runs->report, files[i].suffix), UT_OUT_OVERWRITE);

		files[i].write(r, out);
		rc = ut_out_commit(out, err);
	}
	return rc ? rc : stitch_write_page(r, runs, a, err);
}

static void stitch_send_report(const struct stitch *s, uint32_t known,
			       const struct ut_logger *logger)
{
	size_t missing = known - s->matched;

	if (s->joined)
		ut_logger_log(
			logger, UT_INFO,
			"%zu rows have host times of the run without device profiling: %.3f ms "
			"together; with it, %.3f ms",
			s->joined, (double)s->without_ns / 1e6, (double)s->with_ns / 1e6);
	else
		ut_logger_log(logger, UT_WARN,
			      "host times are those with device profiling: the command marks "
			      "nothing, in either run, that could be joined");
	if (known && (s->alone || missing))
		ut_logger_log(
			logger, UT_WARN,
			"the two runs differ: %zu marked calls happened only with device "
			"profiling%s%s, "
			"%zu only without; rows that have no host time say so in column PROBLEM",
			s->alone, s->alone ? ", the first is " : "", s->alone ? s->example : "",
			missing);
}

int ut_ops_stitch(const struct ut_stitch_runs *runs, struct ut_arena *a, struct ut_err *err)
{
	struct stitch s;
	uint32_t known;
	int rc;

	stitch_init(&s);
	rc = read_runs(&s, runs, &known, err);
	if (!rc && !s.report.row_count)
		rc = ut_err_set(err, -ENODATA,
				"%s: neither ops in there nor work of devices: nothing to report; "
				"'unitrace stats' tells about tasks",
				runs->devices);
	if (!rc)
		rc = write_files(&s.report, runs, a, err);
	if (!rc)
		stitch_send_report(&s, known, runs->logger);
	stitch_release(&s);
	return rc;
}
