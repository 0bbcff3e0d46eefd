#include "view/advice.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "analyze/device_summary.h"
#include "analyze/stats.h"
#include "base/size.h"
#include "base/sort.h"
#include "metrics/kernel_facts.h"
#include "metrics/kernel_measures.h"
#include "model/store.h"
#include "ranks/ranks_open.h"
#include "ranks/ranks_table.h"
#include "sample/short_name.h"
#include "text/cells.h"
#include "text/out.h"
#include "view/attached.h"
#include "view/ranks_sheet.h"
#include "view/view.h"
#include "view/view_kernels.h"
#include "view/view_parts.h"

#define MOST_SLICES UINT64_C(2000000) /* somebody waits for the page */
#define MOST        3u
#define NAME_MOST   80u
#define BRIEF_FROM  40u
#define LITTLE      0.02 /* of the ranks' time: ranks_summary.c judges by the same */
#define MUCH        0.1
#define MOSTLY      0.5 /* of the kernels' time */
#define BY_PYTHON   0.3 /* of the time: then it is what keeps the host */

struct advice {
	bool bad, first; /* of a job that did not end, whatever else there is */
	struct ut_buf say, why;
	uint64_t gain; /* ns, at most */
	uint64_t range[2];
	const char *tab; /* NULL = the timeline */
	const char *about;
	struct ut_str query;
	size_t order;
};

struct advices {
	struct ut_view *view;
	struct ut_arena arena; /* queries */
	struct advice list[MOST];
	size_t count;
};

static struct advice *advice_add(struct advices *a, bool bad)
{
	struct advice *n = &a->list[a->count];

	*n = (struct advice){ .bad = bad, .order = a->count };
	a->count++;
	return n;
}

static double advice_part(uint64_t a, uint64_t b)
{
	return b ? (double)a / (double)b : 0;
}

static void put_time(struct ut_buf *b, uint64_t ns)
{
	char text[32];

	ut_buf_text(b, ut_time_text(text, sizeof(text), ns));
}

/* ---- devices -------------------------------------------------------------------------------- */

/* What is known about the devices of one trace. */
struct devices {
	size_t trace;
	const struct ut_store *store;
	const struct ut_device_log *log;
	const struct ut_kernel_set *kernels;
	struct ut_device_summary summary;
};

static void look_at_devices(struct devices *d, struct ut_view *v, size_t trace)
{
	const struct ut_view_kernels *k = ut_view_kernels_take(v, trace);

	*d = (struct devices){ .trace = trace, .store = v->traces[trace].store };
	d->log = &k->log;
	d->kernels = &k->set;
	ut_device_summary_make(&d->summary, d->log);
}

static void forget_devices(struct devices *d, struct ut_view *v)
{
	ut_device_summary_release(&d->summary);
	ut_view_kernels_drop(v, d->trace);
}

static bool was_paused(const struct ut_device_log *log, uint64_t from, uint64_t to)
{
	for (size_t i = 0; i < log->pause_count; i++) {
		if (log->pauses[i].start < to && log->pauses[i].end > from)
			return true;
	}
	return false;
}

/* Where a device did nothing for longest; both 0 = nowhere. */
static void longest_gap(const struct devices *d, uint32_t device, uint64_t gap[2])
{
	uint64_t end = 0;

	gap[0] = gap[1] = 0;
	for (size_t i = 0; i < d->log->work_count; i++) {
		const struct ut_device_work *w = &d->log->works[i];

		if (w->device != device || w->kind > UT_DEVICE_FILL)
			continue;
		if (end && w->start > end && w->start - end > gap[1] - gap[0] &&
		    !was_paused(d->log, end, w->start)) {
			gap[0] = end;
			gap[1] = w->start;
		}
		end = w->end > end ? w->end : end;
	}
}

/* Time that Python spends by itself, not in what it calls. */
static uint64_t python_time(const struct ut_store *store, unsigned int threads)
{
	struct ut_stats s;
	uint64_t time = 0;

	ut_stats_init(&s, 1u << UT_BY_CATEGORY);
	ut_stats_add(&s, store, NULL, threads);
	for (size_t i = 1; i <= s.group_count; i++) {
		struct ut_str cat = ut_strtab_get(&s.strings, s.groups[i].key[UT_BY_CATEGORY]);

		if (ut_classify_python(cat) == UT_PYTHON_FUNCTION)
			time += (uint64_t)s.groups[i].self;
	}
	ut_stats_release(&s);
	return time;
}

/* The rank that all of a trace belongs to; -1 = none, or several. */
static int32_t advice_rank_of(const struct ut_view *v, size_t trace)
{
	int32_t rank = -1;

	for (uint32_t i = 0; i < v->track_count; i++) {
		const struct ut_view_track *t = &v->tracks[i];
		int32_t own = t->place < v->place_count ? v->places[t->place].rank : -1;

		if (t->trace != &v->traces[trace] || own < 0)
			continue;
		if (rank >= 0 && rank != own)
			return -1;
		rank = own;
	}
	return rank;
}

static const char *advice_file_of(const struct ut_view *v, size_t trace)
{
	const char *path = v->traces[trace].path ? v->traces[trace].path : "";
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

/* Traces of several ranks have a device of the same name each. */
static void say_whose(struct ut_buf *b, const struct ut_view *v, size_t trace)
{
	int32_t rank = advice_rank_of(v, trace);

	if (v->trace_count < 2)
		return;
	if (rank >= 0) {
		ut_buf_fmt(b, " of rank %" PRId32, rank);
	} else {
		ut_buf_text(b, " of ");
		ut_cell_name(b, advice_file_of(v, trace), strlen(advice_file_of(v, trace)),
			     NAME_MOST);
	}
}

static void say_command(struct ut_buf *b, const struct ut_view *v, size_t trace)
{
	ut_buf_text(b, " (unitrace stats --device");
	if (v->trace_count > 1) {
		ut_buf_text(b, " ");
		ut_cell_name(b, advice_file_of(v, trace), strlen(advice_file_of(v, trace)),
			     NAME_MOST);
	}
	ut_buf_text(b, ").");
}

/* How much of the idle time has this reason: once, if it is all of it. */
static void say_because(struct ut_buf *say, double idle, uint64_t ns, uint64_t window,
			const char *why)
{
	double share = 100 * advice_part(ns, window);

	if (idle - share < 0.05)
		ut_buf_fmt(say, ", %s.", why);
	else
		ut_buf_fmt(say, ", %.1f %% %s.", share, why);
}

/* whose: " of rank 1", or nothing */
static void say_idle(struct advice *n, const struct ut_device_use *u, struct ut_str device,
		     const char *whose, bool by_python)
{
	double idle = 100 * advice_part(u->window - u->busy, u->window);

	if (u->limiter == UT_LIMITER_HOST)
		ut_buf_fmt(&n->say, "Host-bound%s: launch work earlier, or more of it at once; ",
			   by_python ? " by Python" : "");
	else if (u->limiter == UT_LIMITER_WAITS)
		ut_buf_text(&n->say, "Latency-bound: launch fewer and larger kernels, or let them "
				     "overlap; ");
	else
		ut_buf_text(&n->say, "Keep the device busy; ");
	ut_cell_name(&n->say, device.ptr, device.len, NAME_MOST);
	ut_buf_fmt(&n->say, "%s is idle %.1f %% of the time", whose, idle);
	if (u->limiter == UT_LIMITER_HOST)
		say_because(&n->say, idle, u->starved, u->window,
			    "because the host had not launched what came next");
	else if (u->limiter == UT_LIMITER_WAITS)
		say_because(&n->say, idle, u->delayed, u->window,
			    "though the host had launched what came next");
	else
		ut_buf_text(&n->say, ".");
}

static void advise_idle(struct advices *a, const struct devices *d, const struct ut_device_use *u)
{
	const struct ut_device_info *info = &d->log->devices[u->device];
	struct advice *n = advice_add(a, true);
	uint64_t python = python_time(d->store, a->view->threads), gap[2];
	struct ut_buf whose = { 0 };

	say_whose(&whose, a->view, d->trace);
	say_idle(n, u, ut_strtab_get(&d->log->strings, info->name), whose.data ? whose.data : "",
		 advice_part(python, u->window) >= BY_PYTHON);
	ut_buf_release(&whose);
	longest_gap(d, u->device, gap);
	n->gain = u->window - u->busy;
	n->about = "idle";
	ut_buf_text(&n->why, "It is busy for ");
	put_time(&n->why, u->busy);
	ut_buf_text(&n->why, " of ");
	put_time(&n->why, u->window);
	if (python) {
		ut_buf_text(&n->why, "; Python code takes ");
		put_time(&n->why, python);
		ut_buf_text(&n->why, " by itself");
	}
	if (gap[1] > gap[0]) {
		ut_buf_text(&n->why, "; the longest gap is ");
		put_time(&n->why, gap[1] - gap[0]);
		n->range[0] = ut_view_since(a->view, d->trace, gap[0]);
		n->range[1] = ut_view_since(a->view, d->trace, gap[1]);
	}
	say_command(&n->why, a->view, d->trace);
}

/* Between kernels whose counters are read there is reading, which is nobody's fault. */
static void advise_measured(struct advices *a, const struct ut_device_use *u)
{
	struct advice *n = advice_add(a, false);

	n->about = "idle";
	ut_buf_text(&n->say, "How busy the device is, this run cannot tell: counters were read "
			     "between kernels.");
	ut_buf_text(&n->why, "It computes for ");
	put_time(&n->why, u->busy);
	ut_buf_text(&n->why, " of ");
	put_time(&n->why, u->window);
	ut_buf_text(&n->why,
		    "; a run without metrics of each kernel (-q) tells what it waits for.");
}

/* ---- kernels -------------------------------------------------------------------------------- */

/* What stands in front of the sentence: the rest is told by what is behind it. */
static const char *const bound_words[UT_KERNEL_RULES] = {
	[UT_BOUND_LAUNCH] = "Launch-bound",  [UT_BOUND_ACCESS] = "Memory-bound",
	[UT_BOUND_DRAM] = "Memory-bound",    [UT_BOUND_L1] = "Memory-bound",
	[UT_BOUND_L2] = "Memory-bound",      [UT_BOUND_SPILL] = "Memory-bound",
	[UT_BOUND_TENSOR] = "Compute-bound", [UT_BOUND_NO_TENSOR] = "Compute-bound",
	[UT_BOUND_FP64] = "Compute-bound",   [UT_BOUND_FMA] = "Compute-bound",
	[UT_BOUND_ALU] = "Compute-bound",    [UT_BOUND_COMPUTE] = "Compute-bound",
	[UT_BOUND_FP16] = "Compute-bound",   [UT_BOUND_SPECIAL] = "Compute-bound",
	[UT_BOUND_ISSUE] = "Compute-bound",  [UT_BOUND_DIVERGENCE] = "Compute-bound",
	[UT_BOUND_SHARED] = "Memory-bound",  [UT_BOUND_CONFLICTS] = "Memory-bound",
	[UT_BOUND_ATOMICS] = "Memory-bound", [UT_BOUND_MEMORY_WAIT] = "Stalled",
	[UT_BOUND_LATENCY] = "Stalled",      [UT_BOUND_STALL] = "Stalled",
};

static const char *bound_word(enum ut_kernel_rule rule)
{
	return bound_words[rule] ? bound_words[rule] : "Device-bound";
}

/* What could be won of a kernel at most. */
static double loss_of(const struct ut_kernel_variant *k)
{
	double loss = k->bottlenecks->loss;

	if (k->bottlenecks->rule >= UT_BOUND_NOTHING)
		return 0;
	return isfinite(loss) ? loss * (double)k->total : 0;
}

/* The one that talks to other ranks longest; all of them take *total. */
static const struct ut_kernel_variant *longest_collective(const struct ut_kernel_set *s,
							  uint64_t *total)
{
	const struct ut_kernel_variant *longest = NULL;

	*total = 0;
	for (size_t i = 0; i < s->count; i++) {
		const struct ut_kernel_variant *k = &s->variants[i];

		if (k->bottlenecks->rule != UT_BOUND_RANKS)
			continue;
		*total += k->total;
		if (!longest || k->total > longest->total)
			longest = k;
	}
	return longest;
}

static const struct ut_kernel_variant *worst_kernel(const struct ut_kernel_set *s)
{
	const struct ut_kernel_variant *worst = NULL;

	for (size_t i = 0; i < s->count; i++) {
		const struct ut_kernel_variant *k = &s->variants[i];

		if (k->bottlenecks->rule >= UT_BOUND_NOTHING ||
		    advice_part(k->total, s->total) < LITTLE)
			continue;
		if (!worst || loss_of(k) > loss_of(worst) ||
		    (loss_of(k) == loss_of(worst) && k->total > worst->total))
			worst = k;
	}
	return worst;
}

/* A query that means this name: one with quotes cannot be asked for by them. */
static struct ut_str query_of(struct ut_arena *a, struct ut_str name)
{
	const char *text;

	if (!name.len || memchr(name.ptr, '"', name.len))
		return (struct ut_str){ "", 0 };
	text = ut_str_fmt(a, "\"%.*s\"", (int)(name.len < 500 ? name.len : 0), name.ptr);
	return name.len < 500 ? ut_str_of(text) : (struct ut_str){ "", 0 };
}

/* As people say it: a kernel's arguments of templates would be the whole sentence. */
static void say_kernel(struct ut_buf *b, struct ut_str name)
{
	struct ut_buf brief = { 0 };

	if (name.len > BRIEF_FROM)
		ut_short_name(&brief, name);
	else
		ut_buf_add(&brief, name.ptr, name.len);
	ut_cell_name(b, brief.data, brief.len, NAME_MOST);
	ut_buf_release(&brief);
}

/* True: kernels wait for other ranks, and what else they do matters little. */
static bool advise_collective(struct advices *a, const struct devices *d, bool bad)
{
	uint64_t total;
	const struct ut_kernel_variant *k = longest_collective(d->kernels, &total);
	struct advice *n;

	if (advice_part(total, d->kernels->total) < MOSTLY)
		return false;
	n = advice_add(a, bad);
	n->tab = ut_ranks_any(d->store) ? UT_RANKS_TOOL : "kernels";
	ut_buf_fmt(&n->say,
		   "Communication-bound: %.1f %% of the kernels' time is moving data between "
		   "ranks, most of it in ",
		   100 * advice_part(total, d->kernels->total));
	say_kernel(&n->say, k->facts.name);
	ut_buf_text(&n->say, ".");
	ut_buf_text(&n->why, "such a kernel takes as long as the last rank is late: ");
	ut_buf_text(&n->why, a->view->rank_count > 1 ? "look for the one that others wait for"
						     : "record all ranks to see who it is");
	ut_buf_text(&n->why, " (unitrace ranks)");
	return true;
}

/* first: nothing that is known costs more. */
static void advise_kernel(struct advices *a, const struct devices *d, bool first)
{
	const struct ut_kernel_variant *k = worst_kernel(d->kernels);
	struct advice *n;

	if (!k)
		return;
	n = advice_add(a, first);
	n->gain = (uint64_t)loss_of(k);
	n->tab = ut_kernel_measures_any(d->store) ? "metrics" : "kernels";
	n->query = query_of(&a->arena, k->facts.name);
	ut_buf_text(&n->say, first ? bound_word(k->bottlenecks->rule) : "");
	ut_buf_text(&n->say, first ? ": make " : "Make ");
	say_kernel(&n->say, k->facts.name);
	ut_buf_fmt(&n->say, " faster, %.1f %% of the kernels' time: %s.",
		   100 * advice_part(k->total, d->kernels->total), k->bottlenecks->sentence);
	ut_buf_text(&n->why, k->bottlenecks->advice ? k->bottlenecks->advice : "");
	ut_buf_text(&n->why, " (unitrace kernels)");
}

/* ---- ranks ---------------------------------------------------------------------------------- */

static void say_ranks(struct advices *a, const struct ut_rank_view *v)
{
	uint64_t wait = v->sums.all.wait[0];
	double share = advice_part(wait, v->sums.all.total);
	struct ut_buf stopped = { 0 };
	struct advice *n;
	bool ended;
	size_t at;

	ut_ranks_unfinished(v->ranks, &stopped);
	ended = !stopped.len;
	ut_buf_release(&stopped);
	if (v->ranks->count < 2 || (share < LITTLE && ended))
		return;
	n = advice_add(a, share >= MUCH || !ended);
	n->first = !ended;
	n->gain = wait / v->ranks->count;
	n->tab = UT_RANKS_TOOL;
	n->about = "ranks";
	if (ended)
		ut_buf_text(&n->say, "Imbalance, even out the work of ranks: ");
	at = n->say.len;
	ut_rank_summary_text(v, &n->say);
	if (at && n->say.data[at] == 'R') /* "Rank 5 makes ...", "Ranks wait ..." */
		n->say.data[at] = 'r';
	ut_buf_text(&n->say, ".");
	ut_rank_efficiency(v, &n->why);
	ut_buf_text(&n->why, " (unitrace ranks).");
}

static void advise_ranks(struct advices *a)
{
	struct ut_rank_view tables = { 0 };
	struct ut_ranks r;
	int rc = 0;

	ut_ranks_init(&r);
	for (size_t i = 0; !rc && i < a->view->trace_count; i++)
		rc = ut_ranks_add(&r, a->view->traces[i].store, NULL);
	if (!rc && r.count > 1)
		rc = ut_ranks_finalize(&r, a->view->threads ? a->view->threads : 1, NULL);
	if (!rc && r.count > 1) {
		ut_rank_view_make(&tables, &r, ut_str_of(""));
		say_ranks(a, &tables);
		ut_rank_view_release(&tables);
	}
	ut_ranks_release(&r);
}

/* ---- all of it ------------------------------------------------------------------------------ */

/* The device that is idle longest, of all traces; UINT64_MAX: there is none. */
static uint64_t idle_of(const struct ut_device_summary *s, const struct ut_device_use **use)
{
	uint64_t most = 0;

	*use = NULL;
	for (size_t i = 0; i < s->use_count; i++) {
		if (!*use || s->uses[i].window - s->uses[i].busy > most) {
			*use = &s->uses[i];
			most = s->uses[i].window - s->uses[i].busy;
		}
	}
	return most;
}

/* Of several traces the one whose device waits longest speaks for all. */
static size_t worst_trace(struct ut_view *v)
{
	size_t worst = 0;
	uint64_t most = 0;

	for (size_t i = 0; v->trace_count > 1 && i < v->trace_count; i++) {
		const struct ut_device_use *use;
		struct devices d;
		uint64_t idle;

		look_at_devices(&d, v, i);
		idle = idle_of(&d.summary, &use);
		if (use && idle >= most) {
			most = idle;
			worst = i;
		}
		forget_devices(&d, v);
	}
	return worst;
}

static void advise_devices(struct advices *a)
{
	const struct ut_device_use *use;
	struct devices d;

	look_at_devices(&d, a->view, worst_trace(a->view));
	idle_of(&d.summary, &use);
	if (use) {
		bool device_bound = use->limiter == UT_LIMITER_DEVICE;

		bool counted = ut_kernel_measures_counted(d.store);

		if (!device_bound && counted)
			advise_measured(a, use);
		else if (!device_bound)
			advise_idle(a, &d, use);
		if (!advise_collective(a, &d, device_bound))
			advise_kernel(a, &d, device_bound || counted);
	}
	forget_devices(&d, a->view);
}

static int by_weight(const void *a, const void *b)
{
	const struct advice *x = a, *y = b;

	if (x->first != y->first)
		return x->first ? -1 : 1;
	if (x->bad != y->bad)
		return x->bad ? -1 : 1;
	if (x->gain != y->gain)
		return x->gain > y->gain ? -1 : 1;
	return x->order < y->order ? -1 : x->order > y->order;
}

static void put_advice(struct ut_out *out, const struct advice *n)
{
	ut_out_fmt(out, "{\"tone\":\"%s\",\"say\":", n->bad ? "bad" : "warn");
	ut_out_json_str(out, n->say.data, n->say.len);
	ut_out_text(out, ",\"why\":");
	ut_out_json_str(out, n->why.data, n->why.len);
	if (n->gain)
		ut_out_fmt(out, ",\"gain\":%" PRIu64, n->gain);
	if (n->range[1] > n->range[0])
		ut_out_fmt(out, ",\"range\":[%" PRIu64 ",%" PRIu64 "]", n->range[0], n->range[1]);
	if (n->about)
		ut_out_fmt(out, ",\"about\":\"%s\"", n->about);
	if (n->tab)
		ut_out_fmt(out, ",\"tab\":\"%s\"", n->tab);
	if (n->query.len) {
		ut_out_text(out, ",\"query\":");
		ut_out_json_str(out, n->query.ptr, n->query.len);
	}
	ut_out_text(out, "}");
}

static bool has_devices(const struct ut_view *v)
{
	for (size_t i = 0; i < v->trace_count; i++) {
		const struct ut_trace *t = &v->traces[i].store->trace;

		for (uint32_t n = 0; n < t->process_count; n++) {
			if (ut_is_device(t, n) &&
			    !ut_api_traits(t->processes[n].api.api)->own_pages)
				return true;
		}
	}
	return false;
}

static bool has_ranks(const struct ut_view *v)
{
	for (size_t i = 0; v->rank_count > 1 && i < v->trace_count; i++) {
		if (ut_ranks_any(v->traces[i].store))
			return true;
	}
	return false;
}

static void advice_make(struct ut_view *v, struct ut_out *out)
{
	struct advices a = { .view = v };

	if (v->slices <= MOST_SLICES) {
		if (has_devices(v))
			advise_devices(&a);
		if (has_ranks(v))
			advise_ranks(&a);
	}
	ut_sort(a.list, a.count, sizeof(a.list[0]), by_weight);
	ut_out_text(out, "[");
	for (size_t i = 0; i < a.count; i++) {
		ut_out_text(out, i ? "," : "");
		put_advice(out, &a.list[i]);
		ut_buf_release(&a.list[i].say);
		ut_buf_release(&a.list[i].why);
	}
	ut_out_text(out, "]");
	ut_arena_release(&a.arena);
}

void ut_view_attach_advice(struct ut_view *v)
{
	if (has_devices(v) || has_ranks(v))
		ut_view_attach_later(v, "advice", "What to do first", "findings", advice_make);
}
