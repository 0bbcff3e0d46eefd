#include "sample/hot_summary.h"

#include <fnmatch.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/path.h"
#include "base/size.h"
#include "model/stacks.h"
#include "sample/call_tree.h"
#include "sample/hotspots.h"
#include "sample/prof.h"
#include "sample/short_name.h"
#include "sample/whose.h"
#include "text/cells.h"

#define LEAST_SHARE 5.0  /* percent that a cause has to take to be worth a line */
#define OWN_SHARE   10.0 /* that must be the program's own before others are blamed on it */
#define CLEAR_SHARE 20.0 /* from which on a function of the program comes before any cause */
#define MOST_SHARE  50.0 /* from which on a cause comes before any function */
#define MOST_UP     1024u

#define LEAST_NONE    UINT64_C(20000000) /* ns without a sample that few samples do not explain */
#define LEAST_SAMPLES 20u                /* fewer say nothing of shares */

/*
 * Causes that have names. A sample counts if a function on its stack fits one of the patterns, or
 * if it ended in a module that does.
 */
static const struct cause {
	const char *say, *why;
	const char *functions[8];
	const char *modules[4];
} causes[] = {
	{ "is spent importing Python modules",
	  "a longer run, or --from TIME, shows the work itself",
	  { "_find_and_load", "PyImport_ImportModuleLevelObject" },
	  { NULL } },
	{ "is spent in the OpenMP runtime, where threads mostly wait for each other",
	  "fewer threads (OMP_NUM_THREADS), larger pieces of work, or OMP_WAIT_POLICY=passive",
	  { NULL },
	  { "libgomp*", "libiomp5*", "libomp*" } },
	{ "is spent in Python's garbage collector",
	  "gc.freeze() after the start, a higher gc.set_threshold(), or fewer objects that live "
	  "long",
	  { "gc_collect_main", "gc_collect_region", "_PyGC_Collect*", "PyGC_Collect" },
	  { NULL } },
	{ "is spent making memory present that was never touched before (page faults)",
	  "keep memory and use it again, or allocate it in larger pieces",
	  { "asm_exc_page_fault", "exc_page_fault", "do_user_addr_fault" },
	  { NULL } },
	{ "is spent in malloc() and free()",
	  "allocate less often, or keep what was allocated",
	  { "malloc", "free", "calloc", "realloc", "operator new*", "operator delete*", "cfree" },
	  { "libjemalloc*", "libtcmalloc*", "libmimalloc*" } },
	{ "is spent waiting for locks",
	  "hold them shorter, or have more of them",
	  { "pthread_mutex_lock", "___pthread_mutex_lock", "__lll_lock_wait*", "futex_wait*",
	    "pthread_spin_lock", "native_queued_spin_lock_slowpath" },
	  { NULL } },
};

#define MOST_CAUSES (UT_HOT_SUMMARY_MAX - 1u) /* lines with the function before them */
#define CAUSES      (sizeof(causes) / sizeof(causes[0]))
#define IMPORTS     0 /* the first of them */

static double hot_summary_share(uint64_t part, const struct ut_prof *p)
{
	return p->weight ? 100.0 * (double)part / (double)p->weight : 0;
}

/* "cycles" of "cycles events". */
static size_t plain_len(struct ut_str event)
{
	return ut_str_has_end(event, UT_SAMPLE_EVENTS) ? event.len - strlen(UT_SAMPLE_EVENTS)
						       : event.len;
}

void ut_prof_amount(const struct ut_prof *p, uint64_t weight, struct ut_buf *b)
{
	const char *unit = ut_prof_unit(p);
	struct ut_str event = ut_prof_text(p, p->event);
	char text[32];

	if (!strcmp(unit, "ns"))
		ut_buf_text(b, ut_time_text(text, sizeof(text), weight));
	else if (!strcmp(unit, "bytes"))
		ut_buf_text(b, ut_size_text(text, sizeof(text), weight));
	else
		ut_buf_fmt(b, "%" PRIu64 " %.*s", weight, (int)plain_len(event), event.ptr);
}

static void hot_summary_add_name(struct ut_buf *b, const struct ut_prof *p,
				 const struct ut_prof_frame *f)
{
	struct ut_buf shorter = { 0 };

	ut_prof_label(&shorter, p, f);
	ut_cell_name(b, shorter.data, shorter.len, 80);
	ut_buf_release(&shorter);
}

/* ---- causes -------------------------------------------------------------------------------- */

struct tally {
	const struct ut_prof *p;
	uint8_t *of_function; /* by function: bits of causes by its name */
	uint8_t *of_module;   /* the same by its module */
	uint32_t open[CAUSES];
	uint64_t weight[CAUSES];
};

static bool hot_summary_fits(const char *const *patterns, size_t count, const char *text)
{
	for (size_t i = 0; i < count && patterns[i]; i++) {
		if (!fnmatch(patterns[i], text, 0))
			return true;
	}
	return false;
}

static void classify(struct tally *t)
{
	for (size_t f = 0; f < t->p->function_count; f++) {
		const struct ut_prof_frame *fn = &t->p->functions[f];
		const char *name = ut_prof_text(t->p, fn->function).ptr;
		const char *module = ut_path_base(ut_prof_text(t->p, fn->module).ptr);

		for (size_t i = 0; i < CAUSES; i++) {
			if (hot_summary_fits(causes[i].functions, 8, name))
				t->of_function[f] |= (uint8_t)(1u << i);
			if (hot_summary_fits(causes[i].modules, 4, module))
				t->of_module[f] |= (uint8_t)(1u << i);
		}
	}
}

static void hot_summary_enter(void *ctx, uint32_t node)
{
	struct tally *t = ctx;
	uint32_t function = ut_prof_function(t->p, node);

	for (size_t i = 0; i < CAUSES; i++) {
		if (t->of_function[function] & 1u << i)
			t->open[i]++;
		if (t->open[i] || t->of_module[function] & 1u << i)
			t->weight[i] += t->p->nodes[node].self;
	}
}

static void hot_summary_leave(void *ctx, uint32_t node)
{
	struct tally *t = ctx;
	uint32_t function = ut_prof_function(t->p, node);

	for (size_t i = 0; i < CAUSES; i++) {
		if (t->of_function[function] & 1u << i)
			t->open[i]--;
	}
}

static void add_cause(struct ut_hot_summary *v, const struct ut_prof *p, const struct cause *c,
		      uint64_t weight)
{
	struct ut_hot_summary_line *l = &v->lines[v->count++];

	ut_buf_fmt(&l->say, "%.1f%% (", hot_summary_share(weight, p));
	ut_prof_amount(p, weight, &l->say);
	ut_buf_fmt(&l->say, ") %s", c->say);
	ut_buf_text(&l->why, c->why);
	l->weight = weight;
}

static void count_causes(struct tally *t)
{
	t->of_function = ut_make(t->p->function_count + 1);
	t->of_module = ut_make(t->p->function_count + 1);
	classify(t);
	ut_prof_walk(t->p, hot_summary_enter, hot_summary_leave, t);
	free(t->of_function);
	free(t->of_module);
}

/* The heaviest first. */
static void add_causes(struct ut_hot_summary *v, const struct ut_prof *p, uint64_t weight[CAUSES])
{
	while (v->count < MOST_CAUSES) {
		size_t most = 0;

		for (size_t i = 1; i < CAUSES; i++)
			most = weight[i] > weight[most] ? i : most;
		if (hot_summary_share(weight[most], p) < LEAST_SHARE)
			break;
		add_cause(v, p, &causes[most], weight[most]);
		weight[most] = 0;
	}
}

/* ---- what takes most ----------------------------------------------------------------------- */

/* What a caller calls where that is not the function itself, but what has called it. */
struct between {
	size_t way; /* a function; SIZE_MAX = it is called at once */
	uint64_t votes;
	uint64_t time; /* of that way, once it is known */
};

/* Of one function's time: which line, what was called, who has called it. */
struct about {
	const struct ut_prof *p;
	bool (*own)(const struct ut_prof *p, const struct ut_prof_frame *f);
	struct ut_prof_frame function;
	uint32_t *inside; /* own frames that are around, outermost first: nodes */
	size_t depth, cap;
	uint64_t *callee, *caller; /* by function: time */
	struct between *between;   /* by function that is a caller */
	bool again;                /* ways are known: only their time is counted */
	uint64_t *line;            /* by frame */
};

static bool is_it(const struct about *a, uint32_t node)
{
	const struct ut_prof_frame *f = ut_prof_frame_of(a->p, node);

	return f->function == a->function.function && f->module == a->function.module;
}

/* The next function outwards that is not this one, rather one of the program's own. */
static uint32_t caller_of(const struct about *a, uint32_t node)
{
	uint32_t nearest = 0;

	for (unsigned int up = 0; up < MOST_UP && (node = a->p->nodes[node].parent); up++) {
		if (is_it(a, node))
			continue;
		if (!nearest)
			nearest = node;
		if (ut_prof_is_own(a->p, ut_prof_frame_of(a->p, node)))
			return node;
	}
	return nearest;
}

/* What the caller has called to come to the node; SIZE_MAX: the function itself. Interpreters are
 * no way: their callers are scripts. */
static size_t way_of(const struct about *a, uint32_t node, uint32_t caller)
{
	size_t way = SIZE_MAX;

	for (uint32_t n = a->p->nodes[node].parent; n != caller; n = a->p->nodes[n].parent) {
		if (!is_it(a, n) && !ut_prof_is_interpreter(a->p, ut_prof_frame_of(a->p, n)))
			way = ut_prof_function(a->p, n);
	}
	return way;
}

/* If most of a caller's time has one way, it is this one (Boyer and Moore). */
static void vote(struct between *b, size_t way, uint64_t time)
{
	if (b->way == way) {
		b->votes += time;
	} else if (b->votes >= time) {
		b->votes -= time;
	} else {
		b->way = way;
		b->votes = time - b->votes;
	}
}

static void enter_own(void *ctx, uint32_t node)
{
	struct about *a = ctx;
	const struct ut_prof_node *n = &a->p->nodes[node];
	uint32_t at, caller;

	if (!a->own || a->own(a->p, ut_prof_frame_of(a->p, node))) {
		a->inside = ut_grow_raw(a->inside, a->depth + 1, &a->cap, sizeof(*a->inside));
		a->inside[a->depth++] = node;
	}
	if (!a->depth || !n->self || !is_it(a, a->inside[a->depth - 1]))
		return;
	at = a->inside[a->depth - 1];
	caller = caller_of(a, at);
	if (caller) {
		struct between *b = &a->between[ut_prof_function(a->p, caller)];
		size_t way = way_of(a, at, caller);

		if (!a->again)
			vote(b, way, n->self);
		else if (b->way == way)
			b->time += n->self;
	}
	if (a->again)
		return;
	a->line[a->p->nodes[at].frame] += n->self;
	if (at != node)
		a->callee[ut_prof_function(a->p, node)] += n->self;
	if (caller)
		a->caller[ut_prof_function(a->p, caller)] += n->self;
}

static void leave_own(void *ctx, uint32_t node)
{
	struct about *a = ctx;

	if (a->depth && a->inside[a->depth - 1] == node)
		a->depth--;
}

static size_t heaviest(const uint64_t *weights, size_t count)
{
	size_t most = 0;

	for (size_t i = 1; i < count; i++)
		most = weights[i] > weights[most] ? i : most;
	return most;
}

static void say_line(struct ut_buf *b, const struct about *a)
{
	const struct ut_prof_frame *f = &a->p->frames[heaviest(a->line, a->p->frame_count)];
	struct ut_str file = ut_prof_text(a->p, f->file);

	if (!f->file || !f->line)
		return;
	ut_buf_text(b, " (");
	ut_cell_name(b, ut_path_base(file.ptr), strlen(ut_path_base(file.ptr)), 40);
	ut_buf_fmt(b, ":%" PRIu32 ")", f->line);
}

/* "libgomp.so.1+0x1dfd0": a function that is known by its place only. */
static bool is_nameless(const struct ut_prof *p, const struct ut_prof_frame *f)
{
	const char *module = ut_path_base(ut_prof_text(p, f->module).ptr);
	struct ut_str name = ut_prof_text(p, f->function);

	return f->module && ut_str_has_start(name, module) &&
	       ut_str_starts(name.ptr + strlen(module), "+0x");
}

static uint64_t sum_of_module(const struct about *a, uint32_t module)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < a->p->function_count; i++)
		sum += a->p->functions[i].module == module ? a->callee[i] : 0;
	return sum;
}

/* Of functions without names, the file tells more. */
static void say_callee(struct ut_buf *b, const struct about *a, uint64_t weight)
{
	size_t callee = heaviest(a->callee, a->p->function_count);
	const struct ut_prof_frame *f = &a->p->functions[callee];
	bool nameless = is_nameless(a->p, f);
	uint64_t part = nameless ? sum_of_module(a, f->module) : a->callee[callee];

	if (part * 4 <= weight)
		return;
	ut_buf_fmt(b, "%.0f%% of that in ", 100.0 * (double)part / (double)weight);
	if (nameless)
		ut_buf_text(b, ut_path_base(ut_prof_text(a->p, f->module).ptr));
	else
		hot_summary_add_name(b, a->p, f);
}

static void say_why(struct ut_buf *b, const struct about *a, uint64_t weight)
{
	size_t caller = heaviest(a->caller, a->p->function_count);
	const struct between *way = &a->between[caller];

	say_callee(b, a, weight);
	if (a->caller[caller]) {
		ut_buf_fmt(b, "%s%scalled from ", b->len ? ", " : "",
			   a->caller[caller] * 10 > weight * 9 ? "" : "most of it ");
		hot_summary_add_name(b, a->p, &a->p->functions[caller]);
		if (way->way != SIZE_MAX && way->time > a->caller[caller] / 2) {
			ut_buf_text(b, " through ");
			hot_summary_add_name(b, a->p, &a->p->functions[way->way]);
		}
	}
}

static void say_top(struct ut_hot_summary_line *l, struct about *a, const struct ut_hot_row *top)
{
	const struct ut_prof *p = a->p;
	bool time = ut_sample_is_cpu_time(ut_prof_text(p, p->event));

	a->function = top->frame;
	a->callee = ut_make((p->function_count + 1) * sizeof(*a->callee));
	a->caller = ut_make((p->function_count + 1) * sizeof(*a->caller));
	a->between = ut_make((p->function_count + 1) * sizeof(*a->between));
	a->line = ut_make((p->frame_count + 1) * sizeof(*a->line));
	ut_prof_walk(p, enter_own, leave_own, a);
	a->again = true;
	ut_prof_walk(p, enter_own, leave_own, a);
	hot_summary_add_name(&l->say, p, &top->frame);
	say_line(&l->say, a);
	ut_buf_fmt(&l->say, " takes %.1f%% of ", hot_summary_share(top->self, p));
	ut_prof_amount(p, p->weight, &l->say);
	ut_buf_text(&l->say, time ? " of CPU time" : "");
	say_why(&l->why, a, top->self);
	l->weight = top->self;
	l->function = top->frame.function;
	free(a->callee);
	free(a->caller);
	free(a->between);
	free(a->line);
	free(a->inside);
}

/* ---- what is not known --------------------------------------------------------------------- */

bool ut_prof_is_too_few(const struct ut_prof *p)
{
	struct ut_str event = ut_prof_text(p, p->event);

	/* samples of profiles that are called "cpu" have been added up: how many there were is lost
	 */
	return ut_sample_is_cpu_time(event) && !ut_str_is(event, "cpu") &&
	       p->samples < LEAST_SAMPLES;
}

/* What threads did instead of running, if it was most of what they did. */
static void say_did(struct ut_buf *b, const struct ut_prof *p)
{
	const struct ut_prof_did *d = &p->did;
	uint64_t all = d->ran + d->waited + d->ready;
	const char *name, *colon;
	size_t most = 0;

	if (!d->known || d->waited <= all / 2)
		return;
	for (size_t i = 1; i < UT_PROF_WAITS; i++)
		most = d->waits[i].ns > d->waits[most].ns ? i : most;
	ut_buf_fmt(b, "its threads waited %.1f%% of their time",
		   100.0 * (double)d->waited / (double)all);
	if (!d->waits[most].ns && !d->mostly)
		return;
	name = ut_prof_text(p, d->waits[most].ns ? d->waits[most].name : d->mostly).ptr;
	colon = strstr(name, ": "); /* "waiting: sleep" */
	name = colon ? colon + 2 : name;
	if (d->waits[most].ns)
		ut_buf_fmt(b, " (%s %.1f%%)", name,
			   100.0 * (double)d->waits[most].ns / (double)all);
	else
		ut_buf_fmt(b, ", mostly for: %s", name);
}

static void add_too_few(struct ut_hot_summary *v, const struct ut_prof *p)
{
	struct ut_hot_summary_line *l = &v->lines[v->count++];
	char time[32];

	l->is_unseen = true;
	ut_buf_fmt(&l->say, "too few samples to say what takes the time: %" PRIu64 " in ",
		   p->samples);
	ut_prof_amount(p, p->weight, &l->say);
	ut_buf_text(&l->say, " of CPU time");
	if (p->elapsed)
		ut_buf_fmt(&l->say, ", of a run of %s",
			   ut_time_text(time, sizeof(time), p->elapsed));
	say_did(&l->why, p);
	if (!l->why.len)
		ut_buf_text(&l->why, "a longer run or a higher rate (--sampling=HZ) has more");
	l->weight = p->weight;
}

/* CPU time that nobody has looked at: first if it is much. */
static void add_none(struct ut_hot_summary *v, const struct ut_prof *p)
{
	struct ut_hot_summary_line l = { .weight = p->none, .is_unseen = true };
	bool most = hot_summary_share(p->none, p) >= MOST_SHARE && !ut_prof_is_too_few(p);
	bool much = hot_summary_share(p->none, p) >= CLEAR_SHARE && p->none > p->did.waited / 20;
	size_t at = most || much ? 0 : v->count;

	if (hot_summary_share(p->none, p) < LEAST_SHARE || v->count == UT_HOT_SUMMARY_MAX)
		return;
	ut_buf_fmt(&l.say, "%.1f%% of the CPU time (", hot_summary_share(p->none, p));
	ut_prof_amount(p, p->none, &l.say);
	ut_buf_text(&l.say, ") has no sample");
	ut_buf_text(&l.why,
		    "threads and processes that ended before their first or next one; a higher "
		    "rate (--sampling=HZ) sees more of them");
	memmove(&v->lines[at + 1], &v->lines[at], (v->count - at) * sizeof(l));
	v->lines[at] = l;
	v->count++;
}

/* The first row that is a function. */
static const struct ut_hot_row *first_function(const struct ut_hotspots *h)
{
	for (size_t i = 0; i < h->count; i++) {
		const struct ut_prof_frame *f = &h->rows[i].frame;

		if ((f->function || f->module) && !ut_prof_is_import(h->profile, f) &&
		    !ut_prof_is_none(h->profile, f))
			return &h->rows[i];
	}
	return NULL;
}

/*
 * What of the program's own code; if too little of it is known, whatever takes most. A short run
 * spends most of its time importing: work is what is left of it.
 */
static void add_top(struct ut_hot_summary *v, const struct ut_prof *p, uint64_t imports)
{
	struct about a = { .p = p, .own = ut_prof_is_own_or_import };
	const struct ut_hot_row *top;
	struct ut_hotspots h;

	ut_hotspots_init(&h, p, UT_HOT_BY_OWN);
	top = first_function(&h);
	if (!top || 100 * (double)top->self < OWN_SHARE * (double)(p->weight - p->none - imports)) {
		ut_hotspots_release(&h);
		ut_hotspots_init(&h, p, UT_HOT_BY_FUNCTION);
		top = first_function(&h);
		a.own = NULL;
	}
	if (top)
		say_top(&v->lines[v->count++], &a, top);
	ut_hotspots_release(&h);
}

/* Imports are no work: a longer run has the same. */
static bool comes_first(const struct ut_hot_summary_line *cause,
			const struct ut_hot_summary_line *own, const struct ut_prof *p)
{
	return cause->weight > own->weight && (hot_summary_share(own->weight, p) < CLEAR_SHARE ||
					       (hot_summary_share(cause->weight, p) > MOST_SHARE &&
						!strstr(cause->say.data, causes[IMPORTS].say)));
}

/* What is small beside a cause is not what to look at first. */
static void put_first(struct ut_hot_summary *v, const struct ut_prof *p)
{
	struct ut_hot_summary_line own = v->lines[0];
	size_t i = 0;

	for (; i + 1 < v->count && comes_first(&v->lines[i + 1], &own, p); i++)
		v->lines[i] = v->lines[i + 1];
	v->lines[i] = own;
}

void ut_hot_summary_init(struct ut_hot_summary *v, const struct ut_prof *p)
{
	struct tally t = { .p = p };

	*v = (struct ut_hot_summary){ .count = 0 };
	if (!p->weight)
		return;
	if (ut_prof_is_too_few(p)) {
		add_too_few(v, p);
		if (p->none >= LEAST_NONE)
			add_none(v, p);
		return;
	}
	count_causes(&t);
	add_top(v, p, t.weight[IMPORTS]);
	if (v->count) {
		add_causes(v, p, t.weight);
		put_first(v, p);
	}
	add_none(v, p);
}

void ut_hot_summary_release(struct ut_hot_summary *v)
{
	for (size_t i = 0; i < v->count; i++) {
		ut_buf_release(&v->lines[i].say);
		ut_buf_release(&v->lines[i].why);
	}
	*v = (struct ut_hot_summary){ 0 };
}
