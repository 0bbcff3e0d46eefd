/*
 * pass_stats.c - how often each kernel ran and how long: the figures of the summary, active and
 * ts_analysis files.
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "acelyzer/stage.h"
#include "base/grow.h"
#include "base/thread_pool.h"
#include "text/shortest.h"

#define SERIES 5 /* the duration and the four distances between stamps */

/* The kernels of one name and process. */
struct group {
	uint32_t name, pid;
	size_t count, from; /* their values are values[SERIES][from..from + count) */
};

struct groups {
	struct group *items;
	size_t count, cap;
	struct ut_idmap index; /* name and process -> place in items + 1 */
};

static bool counts(struct ut_ace_analysis *a, const struct ut_ace_event *e)
{
	return ut_ace_has_stamps(e) && ut_ace_flags_of(a, e) & UT_ACE_NAME(ANY_EXEC);
}

static struct group *pass_stats_group_of(struct ut_ace_analysis *a, struct groups *g,
					 const struct ut_ace_event *e)
{
	uint32_t name = ut_ace_name_numbered(&a->names, &a->table, e->name);
	uint64_t key = (uint64_t)e->pid << 32 | name;
	uint32_t at = ut_idmap_get(&g->index, key);

	if (!at) {
		g->items = ut_grow(g->items, g->count + 1, &g->cap, sizeof(*g->items));
		g->items[g->count].name = name;
		g->items[g->count].pid = e->pid;
		at = (uint32_t)++g->count;
		ut_idmap_put(&g->index, key, at);
	}
	return &g->items[at - 1];
}

static int pass_stats_by_value(const void *x, const void *y)
{
	double a = *(const double *)x, b = *(const double *)y;

	return (a > b) - (a < b);
}

static double middle_of(double a, double b, double c)
{
	if (a > b) {
		double x = a;

		a = b;
		b = x;
	}
	if (c <= a)
		return a;
	return c < b ? c : b;
}

/* Moves what is below the pivot to v[low..end], the rest behind it. Returns the end. */
static size_t pass_stats_split(double *v, size_t low, size_t high)
{
	double pivot = middle_of(v[low], v[low + (high - low) / 2], v[high]);
	size_t i = low, j = high;

	for (;;) {
		double x;

		while (v[i] < pivot)
			i++;
		while (v[j] > pivot)
			j--;
		if (i >= j)
			return j;
		x = v[i];
		v[i++] = v[j];
		v[j--] = x;
	}
}

/* Moves the k-th smallest to v[k], smaller ones before it. */
static void select_kth(double *v, size_t n, size_t k)
{
	size_t low = 0, high = n - 1;

	for (int rounds = 0; low < high; rounds++) {
		size_t end;

		if (rounds == 100) { /* an order that defeats the choice of pivots */
			qsort(v + low, high - low + 1, sizeof(*v), pass_stats_by_value);
			return;
		}
		end = pass_stats_split(v, low, high);
		if (k <= end)
			high = end;
		else
			low = end + 1;
	}
}

static double median_of(double *v, size_t n)
{
	double upper, lower;

	select_kth(v, n, n / 2);
	upper = lower = v[n / 2];
	if (n % 2 == 0) {
		lower = v[0];
		for (size_t i = 1; i < n / 2; i++)
			lower = v[i] > lower ? v[i] : lower;
	}
	return (lower + upper) / 2;
}

/* mean, median, min, max, standard deviation of a sample. Reorders the values. */
static void figures(double *v, size_t n, double out[5], double *total)
{
	double sum = 0, square = 0, mean, min = v[0], max = v[0];

	for (size_t i = 0; i < n; i++) {
		sum += v[i];
		min = v[i] < min ? v[i] : min;
		max = v[i] > max ? v[i] : max;
	}
	mean = sum / (double)n;
	for (size_t i = 0; i < n; i++)
		square += (v[i] - mean) * (v[i] - mean);
	out[0] = mean;
	out[1] = median_of(v, n);
	out[2] = min;
	out[3] = max;
	out[4] = n > 1 ? sqrt(square / (double)(n - 1)) : 0;
	*total = sum;
}

/* The kernels in their order, and the group of each. */
struct kernels {
	uint32_t *events, *groups;
	size_t count, cap;
};

static void list_kernels(struct ut_ace_analysis *a, struct groups *g, struct kernels *k)
{
	struct ut_ace_table *t = &a->table;
	size_t cap = 0;

	for (size_t i = 0; i < t->seq_count; i++) {
		struct group *group;

		if (!counts(a, ut_ace_at(t, i)))
			continue;
		k->events = ut_grow(k->events, k->count + 1, &k->cap, sizeof(*k->events));
		k->groups = ut_grow(k->groups, k->count + 1, &cap, sizeof(*k->groups));
		group = pass_stats_group_of(a, g, ut_ace_at(t, i));
		group->count++;
		k->events[k->count] = t->seq[i];
		k->groups[k->count++] = (uint32_t)(group - g->items);
	}
}

/* Values of all groups, group after group. */
static void pass_stats_collect(struct ut_ace_analysis *a, struct groups *g, const struct kernels *k,
			       double *values[SERIES])
{
	struct ut_ace_table *t = &a->table;
	size_t *at = ut_make((g->count + 1) * sizeof(*at));

	for (int s = 0; s < SERIES; s++)
		values[s] = ut_make((k->count + 1) * sizeof(double));
	for (size_t i = 0, from = 0; i < g->count; i++) {
		g->items[i].from = at[i] = from;
		from += g->items[i].count;
	}
	for (size_t i = 0; i < k->count; i++) {
		const struct ut_ace_event *e = ut_ace_listed_dev(t, k->events, k->count, i);
		const struct ut_ace_dev *d = ut_ace_dev_of(a, e);
		size_t place = at[k->groups[i]]++;

		values[0][place] = e->dur;
		for (int s = 1; s < SERIES; s++)
			values[s][place] = (double)(d->ts[s] - d->ts[s - 1]);
	}
	free(at);
}

/* What the figures of all groups are made of. */
struct making {
	struct ut_ace_analysis *a;
	const struct group *groups;
	double **values; /* SERIES */
};

static void make_stat(void *ctx, size_t i)
{
	const struct making *m = ctx;
	const struct group *g = &m->groups[i];
	struct ut_ace_stat *s = &m->a->found.stats[i];
	double five[5], unused;

	s->name = g->name;
	s->pid = ut_ace_num(&m->a->table, g->pid);
	s->calls = g->count;
	s->order = i;
	figures(m->values[0] + g->from, g->count, five, &s->total);
	s->mean = five[0];
	s->median = five[1];
	s->min = five[2];
	s->max = five[3];
	s->stdev = five[4];
	for (int k = 1; k < SERIES; k++)
		figures(m->values[k] + g->from, g->count, s->gap[k - 1], &unused);
}

static int pass_stats_by_total(const void *x, const void *y)
{
	const struct ut_ace_stat *a = x, *b = y;

	if (a->pid != b->pid)
		return a->pid < b->pid ? -1 : 1;
	if (a->total != b->total)
		return a->total > b->total ? -1 : 1;
	return a->order < b->order ? -1 : 1;
}

/* Shares, and one line per process. */
static void add_active(struct ut_ace_analysis *a, size_t from, size_t to)
{
	struct ut_ace_found *f = &a->found;
	struct ut_ace_active *act;
	double total = 0;

	for (size_t i = from; i < to; i++)
		total += f->stats[i].total;
	for (size_t i = from; i < to; i++)
		f->stats[i].share = total > 0 ? f->stats[i].total / total * 100 : 0;
	f->active = ut_grow(f->active, f->active_count + 1, &f->active_cap, sizeof(*f->active));
	act = &f->active[f->active_count++];
	act->pid = f->stats[from].pid;
	act->kernels = total;
	act->start = 1e30;
}

static int by_pid(const void *x, const void *y)
{
	int64_t pid = *(const int64_t *)x;
	const struct ut_ace_active *act = y;

	return (pid > act->pid) - (pid < act->pid);
}

/* The line of each process: several ids that are no numbers share one. */
static struct ut_ace_active **map_active(struct ut_ace_analysis *a)
{
	struct ut_ace_table *t = &a->table;
	struct ut_ace_found *f = &a->found;
	struct ut_ace_active **of = ut_make(t->id_count * sizeof(struct ut_ace_active *));

	for (uint32_t id = 0; f->active_count && id < t->id_count; id++) {
		int64_t pid = ut_ace_num(t, id);

		of[id] = bsearch(&pid, f->active, f->active_count, sizeof(*f->active), by_pid);
	}
	return of;
}

static void find_ranges(struct ut_ace_analysis *a, const struct kernels *k)
{
	struct ut_ace_table *t = &a->table;
	struct ut_ace_found *f = &a->found;
	struct ut_ace_active **of = map_active(a);

	for (size_t i = 0; i < k->count; i++) {
		const struct ut_ace_event *e = ut_ace_listed(t, k->events, k->count, i);
		struct ut_ace_active *act = of[e->pid];

		act->start = e->ts < act->start ? e->ts : act->start;
		act->end = ut_ace_end(e) > act->end ? ut_ace_end(e) : act->end;
	}
	for (size_t i = 0; i < f->active_count; i++) {
		struct ut_ace_active *act = &f->active[i];

		act->percent =
			act->end > act->start ? act->kernels / (act->end - act->start) * 100 : 0;
	}
	free(of);
}

/* How busy the arrays of a rank were: mean of the counter over the kernels that used them. */
struct util {
	uint32_t pid;
	double mean, matmul, other; /* %, us, us */
};

struct utils {
	struct util *items;
	size_t count, cap;
	uint32_t *of; /* id of the process -> place in items + 1 */
};

static struct util *util_of(struct utils *u, uint32_t pid)
{
	if (!u->of[pid]) {
		u->items = ut_grow(u->items, u->count + 1, &u->cap, sizeof(*u->items));
		u->items[u->count].pid = pid;
		u->of[pid] = (uint32_t)++u->count;
	}
	return &u->items[u->of[pid] - 1];
}

static void add_util(struct ut_ace_analysis *a, struct utils *u, struct ut_ace_event *e)
{
	struct util *r = util_of(u, e->pid);
	struct ut_arg arg = { 0 };
	double percent = ut_ace_arg(&a->table, e->args, UT_ACE_K_PERCENT, &arg) ? arg.value.f64 : 0;

	if (percent > 0) {
		r->matmul += e->dur;
		r->mean += r->matmul > 0 ? (percent - r->mean) * (e->dur / r->matmul) : 0;
	} else {
		r->other += e->dur;
	}
	if (ut_is_zero(percent))
		e->flags |= UT_ACE_DROP;
	e->flags &= ~(uint32_t)UT_ACE_HAS_DUR;
	e->dur = 0;
}

static void say_utils(struct ut_ace_analysis *a, const struct utils *u)
{
	for (size_t i = 0; i < u->count; i++) {
		const struct util *r = &u->items[i];
		double total = r->matmul + r->other, share = total > 0 ? r->matmul / total : 0;
		char n[6][UT_SHORTEST_ROOM];

		ut_ace_say(&a->messages, UT_ACE_INFO,
			   "UTL: pid=%" PRId64
			   ": avg_mm_util=%s, avg_util=%s, t_mm=%s, t_sf=%s, ratio_mm/sf=%s:%s",
			   ut_ace_num(&a->table, r->pid), ut_shortest(n[0], ut_round(r->mean, 3)),
			   ut_shortest(n[1], ut_round(r->mean * share, 3)),
			   ut_shortest(n[2], r->matmul), ut_shortest(n[3], r->other),
			   ut_shortest(n[4], ut_round(share * 100, 2)),
			   ut_shortest(n[5], ut_round((1 - share) * 100, 2)));
	}
}

/* The counter PT Active has served its purpose where it is 0. */
static void collect_utils(struct ut_ace_analysis *a)
{
	struct ut_ace_table *t = &a->table;
	struct utils u = { 0 };

	if (!a->logs.count)
		return;
	u.of = ut_make(t->id_count * sizeof(*u.of));
	for (size_t i = 0; i < t->seq_count; i++) {
		struct ut_ace_event *e = ut_ace_at(t, i);

		if (e->ph == 'C' && e->name == UT_ACE_K_C_PT && e->flags & UT_ACE_HAS_DUR)
			add_util(a, &u, e);
	}
	ut_ace_seq_sweep(t);
	say_utils(a, &u);
	free(u.items);
	free(u.of);
}

int ut_ace_pass_stats(struct ut_ace_analysis *a)
{
	struct ut_ace_found *f = &a->found;
	struct groups g = { 0 };
	struct kernels k = { 0 };
	double *values[SERIES];
	struct making making = { .a = a, .values = values };

	ut_idmap_init(&g.index, &a->table.arena);
	list_kernels(a, &g, &k);
	pass_stats_collect(a, &g, &k, values);
	making.groups = g.items;
	f->stats = ut_grow(f->stats, g.count, &f->stat_cap, sizeof(*f->stats));
	f->stat_count = g.count;
	ut_thread_pool_each(a->opts.threads, g.count, make_stat, &making);
	if (f->stat_count)
		qsort(f->stats, f->stat_count, sizeof(*f->stats), pass_stats_by_total);
	for (size_t i = 0, end; i < f->stat_count; i = end) {
		for (end = i; end < f->stat_count && f->stats[end].pid == f->stats[i].pid; end++)
			;
		add_active(a, i, end);
	}
	find_ranges(a, &k);
	collect_utils(a);
	for (int s = 0; s < SERIES; s++)
		free(values[s]);
	free(k.events);
	free(k.groups);
	free(g.items);
	f->has_stats = true;
	return 0;
}

static int pass_stats_by_rank(const void *a, const void *b)
{
	const struct ut_ace_comm *x = a, *y = b;

	return (x->pid > y->pid) - (x->pid < y->pid);
}

/* -R: how much of its time a rank computed. Processes as the output shows them. */
int ut_ace_pass_stats_v2(struct ut_ace_analysis *a)
{
	struct ut_ace_table *t = &a->table;
	struct ut_ace_found *f = &a->found;
	uint32_t *of = ut_make(t->id_count * sizeof(*of));

	for (size_t i = 0; i < t->seq_count; i++) {
		const struct ut_ace_event *e = ut_ace_at(t, i);
		struct ut_ace_comm *c;
		double end = ut_ace_end(e);

		if (e->ph != 'X' || !(ut_ace_flags_of(a, e) & UT_ACE_NAME(ANY_EXEC)))
			continue;
		if (!of[e->pid]) {
			f->comm =
				ut_grow(f->comm, f->comm_count + 1, &f->comm_cap, sizeof(*f->comm));
			f->comm[f->comm_count].pid = ut_ace_num(t, e->pid);
			f->comm[f->comm_count].start = e->ts;
			f->comm[f->comm_count].end = end;
			of[e->pid] = (uint32_t)++f->comm_count;
		}
		c = &f->comm[of[e->pid] - 1];
		c->start = e->ts < c->start ? e->ts : c->start;
		c->end = end > c->end ? end : c->end;
		c->compute += e->dur;
	}
	free(of);
	/* Release 1.0 has them as the ranks began, and its results are compared byte by byte. */
	if (a->opts.release >= UT_ACE_1_2 && f->comm_count)
		qsort(f->comm, f->comm_count, sizeof(*f->comm), pass_stats_by_rank);
	f->has_comm = true;
	return 0;
}
