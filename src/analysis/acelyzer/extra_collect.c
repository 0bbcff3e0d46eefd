/*
 * extra_collect.c - one look at every event of a finished run: what work it is, of which rank,
 * which kernel, which power.
 */
#include <stdlib.h>
#include <string.h>

#include "acelyzer/extra_work.h"
#include "base/grow.h"

#define TS4       3
#define HOST_PIDS 1000 /* flex host spans are shown as rank + 1000 by now */

/* What a string says, as a name and as a category; worked out once per string. */
enum word {
	KNOWN = 1,
	COMM = 2,
	STEP = 4,
	KERNEL = 8,
	COPY = 16,
	GPU = 32,
};

struct kernel_ref {
	uint32_t event, kernel;
};

struct collect {
	struct ut_ace_extra *x;
	struct ut_ace_analysis *a;
	struct ut_ace_meets *meets;
	uint8_t *words; /* by string id: enum word */
	size_t word_count;
	uint32_t *by_pid, *by_job; /* place of the rank + 1 */
	struct kernel_ref *refs;
	size_t ref_count, ref_cap;
	struct ut_idmap kernels; /* rank and name -> place + 1 */
	struct ut_ace_charges charges;
	uint32_t charge; /* the key; 0 = power is not wanted */
};

static bool extra_collect_has(struct ut_str s, const char *text)
{
	return memmem(s.ptr, s.len, text, strlen(text)) != NULL;
}

static unsigned int extra_collect_word_of(struct collect *c, uint32_t id)
{
	struct ut_str s = ut_ace_str(&c->a->table, id);
	unsigned int w = KNOWN;

	if (id < c->word_count && c->words[id])
		return c->words[id];
	if (extra_collect_has(s, "HCOLL") || extra_collect_has(s, "aiuComms") ||
	    extra_collect_has(s, "AllReduce") || extra_collect_has(s, "AllGather") ||
	    extra_collect_has(s, "ReduceScatter") || extra_collect_has(s, "(PtoP)"))
		w |= COMM;
	if (s.len > 13 && !memcmp(s.ptr, "ProfilerStep#", 13))
		w |= STEP;
	if (extra_collect_has(s, "kernel"))
		w |= KERNEL;
	if (extra_collect_has(s, "memcpy") || extra_collect_has(s, "memset"))
		w |= COPY;
	if (extra_collect_has(s, "gpu"))
		w |= GPU;
	if (id < c->word_count)
		c->words[id] = (uint8_t)w;
	return w;
}

static bool is_torch(const struct collect *c, const struct ut_ace_event *e)
{
	return c->a->table.jobs[e->job].dialect == UT_ACE_TORCH;
}

static uint32_t original(const struct ut_ace_event *e)
{
	return e->orig ? e->orig : e->name;
}

/* What the device does in a span; -1 = it is not the device. Is it a kernel? */
static int work_of(struct collect *c, const struct ut_ace_event *e, bool *kernel)
{
	const uint64_t steps =
		UT_ACE_NAME(RDMA) | UT_ACE_NAME(ANY_REDUCE) | UT_ACE_NAME(ANY_GATHER);
	static const int works[] = { UT_ACE_WORK_TRANSFER, UT_ACE_WORK_PREP, UT_ACE_WORK_COMPUTE,
				     UT_ACE_WORK_TRANSFER };
	unsigned int cat;
	uint64_t n;
	int part;

	if (is_torch(c, e) && !e->dev) {
		cat = e->flags & UT_ACE_HAS_CAT ? extra_collect_word_of(c, e->cat) : KNOWN;
		*kernel = cat & KERNEL;
		if (extra_collect_word_of(c, e->name) & COMM &&
		    (cat & (KERNEL | COPY) ||
		     extra_collect_has(ut_ace_str(&c->a->table, e->name), "aiuComms")))
			return UT_ACE_WORK_COMM;
		return cat & KERNEL ? UT_ACE_WORK_COMPUTE : cat & COPY ? UT_ACE_WORK_TRANSFER : -1;
	}
	if (!ut_ace_has_stamps(e))
		return -1;
	n = ut_ace_name_flags(&c->a->names, &c->a->table, original(e));
	*kernel = n & UT_ACE_NAME(ANY_EXEC);
	if (e->flags & UT_ACE_COLL || n & steps)
		return UT_ACE_WORK_COMM;
	part = ut_ace_name_part(n);
	return part < 0 ? UT_ACE_WORK_COMPUTE : works[part];
}

/* Torch files are of one rank each; in flex files the process is the rank. */
static uint32_t extra_collect_rank_of(struct collect *c, const struct ut_ace_event *e, int64_t less)
{
	const struct ut_ace_table *t = &c->a->table;
	bool torch = is_torch(c, e) && t->jobs[e->job].rank >= 0;
	uint32_t *at = torch ? &c->by_job[e->job] : &c->by_pid[e->pid];

	if (less)
		return ut_ace_extra_rank(
			c->x, (int64_t)((uint64_t)ut_ace_num(t, e->pid) - (uint64_t)less));
	if (!*at)
		*at = 1 +
		      ut_ace_extra_rank(c->x, torch ? t->jobs[e->job].rank : ut_ace_num(t, e->pid));
	return *at - 1;
}

/* Valid until the next new rank comes. */
static struct ut_ace_extra_rank *extra_collect_row_of(struct collect *c,
						      const struct ut_ace_event *e, int64_t less)
{
	uint32_t at = extra_collect_rank_of(c, e, less);

	return &c->x->ranks[at];
}

static void extra_collect_add_kernel(struct collect *c, uint32_t event, uint32_t rank, int work)
{
	struct ut_ace_extra *x = c->x;
	const struct ut_ace_event *e = &c->a->table.events[event];
	double dur = e->dur, before;
	uint32_t name = ut_ace_name_numbered(&c->a->names, &c->a->table, original(e));
	uint64_t key = (uint64_t)rank << 32 | name;
	uint32_t at = ut_idmap_get(&c->kernels, key);
	struct ut_ace_kernel *k;

	if (!at) {
		x->kernels = ut_grow(x->kernels, x->kernel_count + 1, &x->kernel_cap,
				     sizeof(*x->kernels));
		x->kernels[x->kernel_count] = (struct ut_ace_kernel){
			.name = name,
			.rank = rank,
			.comm = work == UT_ACE_WORK_COMM,
			.min = dur,
			.max = dur,
			.median = -1,
		};
		at = (uint32_t)++x->kernel_count;
		ut_idmap_put(&c->kernels, key, at);
	}
	k = &x->kernels[at - 1];
	k->calls++;
	k->total += dur;
	k->min = dur < k->min ? dur : k->min;
	k->max = dur > k->max ? dur : k->max;
	before = dur - k->mean;
	k->mean += before / (double)k->calls;
	k->square += before * (dur - k->mean);
	c->refs = ut_grow(c->refs, c->ref_count + 1, &c->ref_cap, sizeof(*c->refs));
	c->refs[c->ref_count++] = (struct kernel_ref){ event, at - 1 };
	x->trust.kernels++;
}

static void add_charge(struct collect *c, const struct ut_ace_event *e, uint32_t rank)
{
	const struct ut_ace_table *t = &c->a->table;
	struct ut_arg arg;
	double value;

	if (ut_ace_arg(t, e->args, c->charge, &arg) && ut_ace_arg_num(t, &arg, &value))
		ut_ace_charges_add(&c->charges,
				   (struct ut_ace_charge){
					   rank, ut_ace_extra_ns(c->x, ut_ace_end(e)), value });
}

static void extra_collect_add_work(struct collect *c, uint32_t event, int work, bool kernel)
{
	struct ut_ace_extra *x = c->x;
	const struct ut_ace_event *e = &c->a->table.events[event];
	uint32_t rank = extra_collect_rank_of(c, e, 0);
	struct ut_ace_extra_rank *r = &x->ranks[rank];
	const struct ut_ace_dev *d = ut_ace_dev_of(c->a, e);

	ut_ace_intervals_add(&r->work[work], ut_ace_extra_ns(x, e->ts),
			     ut_ace_extra_ns(x, ut_ace_end(e)));
	if (e->dev && d->flags & UT_ACE_DEV_POWER && d->flags & UT_ACE_DEV_ALL) {
		int64_t read = ut_ace_extra_ns(x, d->all[TS4]);

		r->power_end = read > r->power_end ? read : r->power_end;
	}
	if (c->charge && !e->dev)
		add_charge(c, e, rank);
	if (work == UT_ACE_WORK_COMM)
		ut_ace_meets_add(c->meets, e, rank);
	if (kernel)
		extra_collect_add_kernel(c, event, rank, work);
}

/* Spans that a profiler made for each step; the device's copies of them say nothing new. */
static void add_profiler_step(struct collect *c, const struct ut_ace_event *e)
{
	struct ut_ace_extra_rank *r;
	int64_t begin = ut_ace_extra_ns(c->x, e->ts), end = ut_ace_extra_ns(c->x, ut_ace_end(e));

	if ((e->flags & UT_ACE_HAS_CAT && extra_collect_word_of(c, e->cat) & GPU) || end <= begin)
		return;
	r = extra_collect_row_of(c, e, is_torch(c, e) ? 0 : HOST_PIDS);
	if (r->step_count &&
	    begin < r->steps[r->step_count - 1].begin + r->steps[r->step_count - 1].split.length)
		return; /* inside another one */
	r->steps = ut_grow(r->steps, r->step_count + 1, &r->step_cap, sizeof(*r->steps));
	r->steps[r->step_count++] =
		(struct ut_ace_step){ .begin = begin, .split = { .length = end - begin } };
	r->source = UT_ACE_STEPS_PROFILER;
}

static void extra_collect_add_sample(struct collect *c, const struct ut_ace_event *e)
{
	struct ut_ace_extra_rank *r;
	struct ut_arg arg;

	/* power_ts3 counts charge per cycle: no watts */
	if (e->name != UT_ACE_K_POWER || e->cat == UT_ACE_K_CAT_POWER3 ||
	    !ut_ace_arg(&c->a->table, e->args, UT_ACE_K_WATTS, &arg))
		return;
	r = extra_collect_row_of(c, e, 0);
	r->samples = ut_grow(r->samples, r->sample_count + 1, &r->sample_cap, sizeof(*r->samples));
	r->samples[r->sample_count++] = (struct ut_ace_sample){ .ts = ut_ace_extra_ns(c->x, e->ts),
								.watts = arg.value.f64 };
}

static int extra_collect_by_value(const void *p, const void *q)
{
	double a = *(const double *)p, b = *(const double *)q;

	return (a > b) - (a < b);
}

/* Steps of ranks that no profiler has told about. */
static void add_iterations(struct ut_ace_extra *x, const struct ut_ace_analysis *a)
{
	for (size_t i = 0; i < a->found.iteration_count; i++) {
		const struct ut_ace_iteration *it = &a->found.iterations[i];
		uint32_t rank = ut_ace_extra_rank(x, it->pid);
		struct ut_ace_extra_rank *r = &x->ranks[rank];
		double last = 0;

		if (it->start_count < 2 || r->step_count)
			continue;
		qsort(it->starts, it->start_count, sizeof(*it->starts), extra_collect_by_value);
		for (size_t k = 0; k < it->start_count; k++) {
			if (k && it->starts[k] <= last)
				continue;
			last = it->starts[k];
			r->steps = ut_grow(r->steps, r->step_count + 1, &r->step_cap,
					   sizeof(*r->steps));
			r->steps[r->step_count++].begin = ut_ace_extra_ns(x, last);
		}
		r->source = UT_ACE_STEPS_ITERATIONS;
	}
}

static void add_medians(struct collect *c)
{
	const struct ut_ace_found *f = &c->a->found;

	for (size_t i = 0; i < f->stat_count; i++) {
		uint64_t rank = ut_ace_extra_rank(c->x, f->stats[i].pid);
		uint32_t at = ut_idmap_get(&c->kernels, rank << 32 | f->stats[i].name);

		if (at)
			c->x->kernels[at - 1].median = f->stats[i].median;
	}
}

static void add_energy(struct collect *c)
{
	struct ut_ace_extra *x = c->x;
	size_t *at = ut_make((x->rank_count + 1) * sizeof(*at));

	for (size_t i = 0; x->has_power && i < c->ref_count; i++) {
		const struct ut_ace_event *e = &c->a->table.events[c->refs[i].event];
		struct ut_ace_kernel *k = &x->kernels[c->refs[i].kernel];
		const struct ut_ace_extra_rank *r = &x->ranks[k->rank];

		k->energy -= ut_ace_extra_joules(r, ut_ace_extra_ns(x, e->ts), &at[k->rank]);
		k->energy +=
			ut_ace_extra_joules(r, ut_ace_extra_ns(x, ut_ace_end(e)), &at[k->rank]);
	}
	free(at);
}

static void add_preps(struct collect *c)
{
	const struct ut_ace_table *t = &c->a->table;

	for (size_t i = 0; i < c->x->prep_count; i++) {
		const struct ut_ace_event *e = &t->events[c->x->preps[i]];
		int work = e->flags & UT_ACE_COLL ? UT_ACE_WORK_COMM : UT_ACE_WORK_PREP;

		ut_ace_intervals_add(&extra_collect_row_of(c, e, 0)->work[work],
				     ut_ace_extra_ns(c->x, e->ts),
				     ut_ace_extra_ns(c->x, ut_ace_end(e)));
	}
}

static void extra_collect_add_event(struct collect *c, uint32_t event)
{
	const struct ut_ace_event *e = &c->a->table.events[event];
	bool kernel = false;
	int work;

	if (e->ph == 'C')
		extra_collect_add_sample(c, e);
	if (e->ph != 'X')
		return;
	work = work_of(c, e, &kernel);
	if (work >= 0)
		extra_collect_add_work(c, event, work, kernel);
	else if (extra_collect_word_of(c, e->name) & STEP)
		add_profiler_step(c, e);
}

void ut_ace_extra_collect(struct ut_ace_extra *x, struct ut_ace_analysis *a, struct ut_ace_meets *m)
{
	struct ut_ace_table *t = &a->table;
	struct collect c = { .x = x, .a = a, .meets = m, .word_count = t->strings.count + 1u };

	c.words = ut_make(c.word_count);
	c.by_pid = ut_make((t->id_count + 1) * sizeof(*c.by_pid));
	c.by_job = ut_make((t->job_count + 1) * sizeof(*c.by_job));
	ut_idmap_init(&c.kernels, &x->arena);
	if (a->opts.counters & UT_ACE_POWER_TS4)
		c.charge = ut_strtab_intern_z(&t->strings, "charge");
	for (size_t i = 0; i < t->seq_count; i++) {
		if (t->events[t->seq[i]].ph == 'X') {
			x->zero = t->events[t->seq[i]].ts;
			break;
		}
	}
	for (size_t i = 0; i < t->seq_count; i++)
		extra_collect_add_event(&c, t->seq[i]);
	add_preps(&c);
	add_iterations(x, a);
	for (size_t i = 0; i < x->rank_count; i++) {
		for (int w = 0; w < UT_ACE_WORKS; w++)
			ut_ace_intervals_sort(&x->ranks[i].work[w]);
	}
	ut_ace_charges_finish(&c.charges, x, a);
	ut_ace_extra_sum_power(x);
	add_energy(&c);
	add_medians(&c);
	free(c.words);
	free(c.by_pid);
	free(c.by_job);
	free(c.refs);
}
