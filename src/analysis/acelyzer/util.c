#include "acelyzer/util.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"

void ut_ace_sums_init(struct ut_ace_sums *s, struct ut_arena *arena)
{
	(void)arena;
	*s = (struct ut_ace_sums){ 0 };
}

static struct ut_ace_sum_line *add_line(struct ut_ace_sum_group *g, uint32_t cat)
{
	g->lines = ut_grow(g->lines, g->count + 1, &g->cap, sizeof(*g->lines));
	g->lines[g->count].cat = cat;
	return &g->lines[g->count++];
}

/* A few categories at most: a list is enough. */
static struct ut_ace_sum_line *util_line_of(struct ut_ace_sum_group *g, uint32_t cat)
{
	for (size_t i = 0; i < g->count; i++) {
		if (g->lines[i].cat == cat)
			return &g->lines[i];
	}
	return add_line(g, cat);
}

static struct ut_ace_sum_group *util_group_of(struct ut_ace_sums *s, struct ut_ace_table *t,
					      uint32_t pid, struct ut_ace_sum_key key)
{
	struct ut_ace_sum_group *g;

	for (size_t i = 0; i < s->count; i++) {
		size_t at = (s->last + i) % s->count;

		g = &s->groups[at];
		if (g->pid == pid && g->log == key.log && g->table == key.table) {
			s->last = at;
			return g;
		}
	}
	s->groups = ut_grow(s->groups, s->count + 1, &s->cap, sizeof(*s->groups));
	s->last = s->count;
	g = &s->groups[s->count++];
	*g = (struct ut_ace_sum_group){ .pid = pid, .log = key.log, .table = key.table };
	util_line_of(g, ut_strtab_intern_z(&t->strings, "Total"));
	util_line_of(g, ut_strtab_intern_z(&t->strings, "StcdpHbm"));
	for (size_t i = 0; key.cats && i < key.cats->count; i++)
		util_line_of(g, key.cats->cats[i]);
	return g;
}

static void util_add(struct ut_ace_sum *to, const struct ut_ace_sum *from)
{
	to->time += from->time;
	to->ideal += from->ideal;
	to->cycles += from->cycles;
	to->calls += from->calls;
}

void ut_ace_sums_add(struct ut_ace_sums *s, struct ut_ace_table *t, uint32_t pid,
		     struct ut_ace_sum_key key, const struct ut_ace_sum *from)
{
	struct ut_ace_sum_group *g = util_group_of(s, t, pid, key);

	util_add(&util_line_of(g, key.cat)->sum, from);
	util_add(&g->lines[0].sum, from);
}

static int util_by_name(const char *x, const char *y)
{
	return x && y ? strcmp(x, y) : 0;
}

/* By log, process, phase and time; lines of one time stay in their order. */
static int util_by_time(const void *x, const void *y)
{
	const struct ut_ace_category *a = x, *b = y;
	int phase = util_by_name(a->phase, b->phase);

	if (a->log != b->log)
		return a->log < b->log ? -1 : 1;
	if (a->pid != b->pid)
		return a->pid < b->pid ? -1 : 1;
	if (phase)
		return phase;
	if (a->time != b->time)
		return a->time < b->time ? -1 : 1;
	return a->order < b->order ? -1 : 1;
}

/* Release 1.0 puts the first process' total at the end of the table. */
static void move_total(struct ut_ace_category *rows, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct ut_ace_category total = rows[i];

		if (!ut_str_is(total.name, "Total"))
			continue;
		memmove(rows + i, rows + i + 1, (n - i - 1) * sizeof(*rows));
		rows[n - 1] = total;
		return;
	}
}

static void list_rows(struct ut_ace_analysis *a, const struct ut_ace_sums *s)
{
	struct ut_ace_found *f = &a->found;

	for (size_t i = 0; i < s->count; i++) {
		const struct ut_ace_sum_group *g = &s->groups[i];

		for (size_t k = 0; k < g->count; k++) {
			const struct ut_ace_sum *sum = &g->lines[k].sum;

			f->categories = ut_grow(f->categories, f->category_count + 1,
						&f->category_cap, sizeof(*f->categories));
			f->categories[f->category_count] = (struct ut_ace_category){
				.order = f->category_count,
				.pid = ut_ace_num(&a->table, g->pid),
				.log = g->log,
				.phase = a->opts.release < UT_ACE_1_2 ? NULL
					 : g->table                   ? g->table->phase
								      : "UNKN",
				.name = ut_ace_str(&a->table, g->lines[k].cat),
				.time = sum->time,
				.ideal = sum->ideal,
				.calls = sum->calls,
				.cycles = sum->cycles,
				.total = k == 0,
				.group_time = g->lines[0].sum.time,
				.group_ideal = g->lines[0].sum.ideal,
				.group_cycles = g->lines[0].sum.cycles,
			};
			f->category_count++;
		}
	}
}

void ut_ace_sums_table(struct ut_ace_analysis *a, struct ut_ace_sums *s)
{
	struct ut_ace_found *f = &a->found;
	size_t n;

	list_rows(a, s);
	n = f->category_count;
	if (n)
		qsort(f->categories, n, sizeof(*f->categories), util_by_time);
	for (size_t i = 0, k; a->opts.release < UT_ACE_1_2 && i < n; i = k) {
		for (k = i; k < n && f->categories[k].log == f->categories[i].log; k++)
			;
		move_total(f->categories + i, k - i);
	}
}

void ut_ace_sums_release(struct ut_ace_sums *s)
{
	for (size_t i = 0; i < s->count; i++)
		free(s->groups[i].lines);
	free(s->groups);
	*s = (struct ut_ace_sums){ 0 };
}

static struct ut_ace_event *add_percent(struct ut_ace_analysis *a, uint32_t pid, double ts,
					double percent)
{
	struct ut_arg arg = ut_ace_num_arg(UT_ACE_K_PERCENT, percent);

	return ut_ace_add_counter(a, pid, ts, UT_ACE_K_C_PT, &arg);
}

/* One counter for a job; an end is shown only when the next begins later. */
static void util_report(struct ut_ace_analysis *a, struct ut_ace_autopilot *p,
			struct ut_ace_autopilot_job *j, bool final)
{
	double percent = j->busy > 0 ? j->ideal / j->busy * 100 : 0, start = j->start;
	bool overlaps = start <= p->last_end && p->last_end > 0;

	j->done = true;
	if (overlaps && j->end < p->last_end) {
		ut_ace_say(&a->messages, UT_ACE_WARN,
			   "UTL: Counter embedding detected. Dropping embedded event.This is not "
			   "technically possible and indicates a problem with the trace file.");
		return;
	}
	if (percent > 100) {
		p->over++;
		percent = 101;
	}
	if (overlaps)
		start = p->last_end;
	else if (p->last_end > 0)
		add_percent(a, j->pid, p->last_end, 0);
	add_percent(a, j->pid, start, percent);
	if (final)
		add_percent(a, j->pid, j->end, 0);
	p->last_end = j->end;
}

void ut_ace_autopilot_add(struct ut_ace_analysis *a, struct ut_ace_autopilot *p, uint32_t event,
			  uint32_t job, double ideal)
{
	const struct ut_ace_event *e = &a->table.events[event];
	uint32_t at = ut_idmap_get(&p->index, job), before;
	struct ut_ace_autopilot_job *j;
	double end = ut_ace_end(e);
	uint32_t pid = e->pid;

	if (!p->current.arena)
		ut_idmap_init(&p->current, &a->table.arena);
	if (!at || p->jobs[at - 1].done) {
		p->jobs = ut_grow(p->jobs, p->count + 1, &p->cap, sizeof(*p->jobs));
		p->jobs[p->count++] = (struct ut_ace_autopilot_job){ .pid = pid,
								     .job = job,
								     .start = e->ts,
								     .end = end,
								     .busy = e->dur,
								     .ideal = ideal };
		at = (uint32_t)p->count;
		ut_idmap_put(&p->index, job, at);
	} else {
		j = &p->jobs[at - 1];
		j->start = e->ts < j->start ? e->ts : j->start;
		j->end = end > j->end ? end : j->end;
		j->busy += e->dur;
		if (j->busy > j->end - j->start)
			j->busy = j->end - j->start;
	}
	before = ut_idmap_get(&p->current, pid);
	ut_idmap_put(&p->current, pid, at);
	if (before && before != at && !p->jobs[before - 1].done)
		util_report(a, p, &p->jobs[before - 1], false);
}

void ut_ace_autopilot_end(struct ut_ace_analysis *a, struct ut_ace_autopilot *p)
{
	for (size_t i = 0; i < p->count; i++) {
		if (!p->jobs[i].done)
			util_report(a, p, &p->jobs[i], true);
	}
	free(p->jobs);
	p->jobs = NULL;
	p->count = p->cap = 0;
}
