/*
 * pass_util.c - how busy the arrays of the device were: ideal time of a kernel over the time it
 * took, and sums per category.
 *
 * A log may hold several tables with the same kernels. Which one a job ran with is found by its
 * sequence of kernels: release 1.0 compares the first 25 with those of the table, release 1.2
 * takes the table that is most alike.
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "acelyzer/stage.h"
#include "acelyzer/util.h"
#include "base/grow.h"
#include "base/str.h"
#include "text/shortest.h"

#define EQUAL_KERNELS 25  /* release 1.0 */
#define JOB_KERNELS   30  /* release 1.2 */
#define TABLE_KERNELS 500 /* release 1.2 */
#define MOST_LINES    10  /* of a kind; the rest is counted */

/* The kernels of one job, or of one launch of a torch job. */
struct job {
	uint32_t first[JOB_KERNELS];
	size_t count;
	double time;
	const struct ut_ace_ideal *table; /* NULL = none fits */
	bool known;
};

struct ut_ace_util {
	struct job *jobs;
	size_t count, cap;
	struct ut_idmap index; /* file and launch -> place in jobs + 1 */
	struct ut_ace_sums sums;
	struct ut_ace_autopilot autopilot;
	uint64_t over, no_table, other, uncertain; /* spans and jobs */
	uint64_t unprinted;                        /* spans of jobs without a fingerprint */
	struct ut_buf unsure;                      /* the first uncertain jobs, and why */
};

/* The log of a rank; NULL if there is none for it. */
static struct ut_ace_complog *log_of(struct ut_ace_analysis *a, uint32_t pid)
{
	int64_t rank = ut_ace_num(&a->table, pid);

	if (a->logs.count == 1)
		return &a->logs.items[0];
	return rank >= 0 && (uint64_t)rank < a->logs.count ? &a->logs.items[rank] : NULL;
}

static uint32_t job_number(struct ut_ace_analysis *a, const struct ut_ace_event *e)
{
	struct ut_ace_util *u = a->util;
	uint64_t key = (uint64_t)e->job << 40;
	struct ut_arg arg;
	double launch;
	uint32_t at;

	if (a->opts.release >= UT_ACE_1_2 && e->flags & UT_ACE_CORR &&
	    ut_ace_arg(&a->table, e->args, UT_ACE_K_CORRELATION, &arg) &&
	    ut_ace_arg_num(&a->table, &arg, &launch) && launch >= 0 && launch < 1e12)
		key |= (uint64_t)launch + 1;
	at = ut_idmap_get(&u->index, key);
	if (!at) {
		u->jobs = ut_grow(u->jobs, u->count + 1, &u->cap, sizeof(*u->jobs));
		at = (uint32_t)++u->count;
		ut_idmap_put(&u->index, key, at);
	}
	return at - 1;
}

/* The kernel that the table knows: the name with a number put back, and the usual ending. */
static uint32_t pass_util_kernel_of(struct ut_ace_analysis *a, const struct ut_ace_event *e)
{
	struct ut_ace_table *t = &a->table;
	const struct ut_ace_complog *log = log_of(a, e->pid);
	struct ut_str s = ut_ace_str(t, e->name);
	const char *n = memmem(s.ptr, s.len, "[N]", 3);
	struct ut_buf b = { 0 };
	struct ut_arg arg;
	double idx;
	uint32_t id;

	if (a->opts.release >= UT_ACE_1_2 && log && log->autopilot)
		return ut_strtab_intern_z(&t->strings, "Total Cmpt Exec");
	if (!n && ut_ace_flags_of(a, e) & UT_ACE_NAME(END_EXEC))
		return e->name;
	if (n && ut_ace_arg(t, e->args, UT_ACE_K_FN_IDX, &arg) && ut_ace_arg_num(t, &arg, &idx)) {
		ut_buf_add(&b, s.ptr, (size_t)(n - s.ptr));
		ut_buf_fmt(&b, "%.0f", idx);
		ut_buf_add(&b, n + 3, (size_t)(s.ptr + s.len - n - 3));
	} else {
		ut_buf_add(&b, s.ptr, s.len);
	}
	if (b.len < 9 || memcmp(b.data + b.len - 9, "Cmpt Exec", 9))
		ut_buf_text(&b, " Cmpt Exec");
	id = ut_strtab_intern(&t->strings, b.data, b.len);
	ut_buf_release(&b);
	return id;
}

static bool counts(struct ut_ace_analysis *a, const struct ut_ace_event *e)
{
	return e->ph == 'X' && ut_ace_is_device(a, e) && ut_ace_is_kernel(a, e);
}

static bool begins_with(const struct ut_ace_ideal *t, const struct job *j)
{
	size_t n = j->count < EQUAL_KERNELS ? j->count : EQUAL_KERNELS;
	size_t m = t->kernel_count < EQUAL_KERNELS ? t->kernel_count : EQUAL_KERNELS;

	return n == m && !memcmp(t->kernels, j->first, n * sizeof(*j->first));
}

/* Do the job's first kernels stand somewhere in the table, one behind the other? */
static bool pass_util_contains(const struct ut_ace_ideal *t, const struct job *j)
{
	size_t n = j->count < JOB_KERNELS ? j->count : JOB_KERNELS, border[JOB_KERNELS + 1] = { 0 };
	size_t m = t->kernel_count < TABLE_KERNELS ? t->kernel_count : TABLE_KERNELS;

	for (size_t i = 1, k = 0; i < n; i++) {
		while (k && j->first[i] != j->first[k])
			k = border[k];
		k += j->first[i] == j->first[k];
		border[i + 1] = k;
	}
	for (size_t i = 0, k = 0; i < m; i++) {
		while (k && t->kernels[i] != j->first[k])
			k = border[k];
		k += t->kernels[i] == j->first[k];
		if (k == n)
			return true;
	}
	return !n;
}

static double likeness(const struct ut_ace_ideal *t, const struct job *j)
{
	double like = pass_util_contains(t, j) ? 0.5 : 0.25;

	if (j->count > t->kernel_count || t->time > j->time || !t->kernel_count)
		return 0;
	like += 0.5 * ((double)j->count / (double)t->kernel_count);
	if (ut_is_zero(j->time))
		return like + 0.5;
	return like + 0.5 * (t->time / j->time);
}

/* In the words of the reference: the likeness, or how many tables are as good. */
static void add_unsure(struct ut_ace_util *u, const struct job *j, double like, size_t tables)
{
	if (u->uncertain++ >= MOST_LINES)
		return;
	ut_buf_fmt(&u->unsure, "%s'%zu:", u->uncertain > 1 ? ", " : "", (size_t)(j - u->jobs) + 1);
	if (like < 0.8)
		ut_buf_fmt(&u->unsure, like > 0 ? "%.2g'" : "%.1f'", like);
	else
		ut_buf_fmt(&u->unsure, "mm=%zu'", tables);
}

static void match_like(struct ut_ace_util *u, const struct ut_ace_complog *log, struct job *j)
{
	double best = -1, second = -1;

	for (size_t i = 0; i < log->table_count; i++) {
		double like = likeness(&log->tables[i], j);

		if (like > best) {
			second = best;
			best = like;
			j->table = &log->tables[i];
		} else if (like > second) {
			second = like;
		}
	}
	if (log->table_count && (best < 0.8 || (second >= 0 && best - second <= 0.2)))
		add_unsure(u, j, best, log->table_count);
}

static void match(struct ut_ace_analysis *a, struct job *j, const struct ut_ace_complog *log)
{
	j->known = true;
	if (!log)
		return;
	if (log->single) {
		j->table = &log->tables[0];
	} else if (a->opts.release >= UT_ACE_1_2) {
		match_like(a->util, log, j);
	} else {
		for (size_t i = 0; i < log->table_count && !j->table; i++) {
			if (begins_with(&log->tables[i], j))
				j->table = &log->tables[i];
		}
	}
}

static void make_state(struct ut_ace_analysis *a)
{
	if (a->util)
		return;
	a->util = UT_NEW(&a->table.arena, struct ut_ace_util);
	ut_idmap_init(&a->util->index, &a->table.arena);
	ut_ace_sums_init(&a->util->sums, &a->table.arena);
	ut_idmap_init(&a->util->autopilot.index, &a->table.arena);
}

int ut_ace_pass_fingerprints(struct ut_ace_analysis *a)
{
	struct ut_ace_table *t = &a->table;

	make_state(a);
	for (size_t i = 0; i < t->seq_count; i++) {
		const struct ut_ace_event *e = ut_ace_at(t, i);
		uint32_t kernel, number;
		struct job *j;

		if (!counts(a, e))
			continue;
		kernel = pass_util_kernel_of(a, e);
		number = job_number(a, e);
		j = &a->util->jobs[number];
		if (j->count < JOB_KERNELS)
			j->first[j->count] = kernel;
		j->count++;
		j->time += e->dur;
	}
	return 0;
}

static void pass_util_add_counter(struct ut_ace_analysis *a, const struct ut_ace_event *from,
				  double ts, double percent, bool with_dur)
{
	struct ut_arg arg = ut_ace_num_arg(UT_ACE_K_PERCENT, percent);
	double dur = from->dur;
	struct ut_ace_event *e = ut_ace_add_counter(a, from->pid, ts, UT_ACE_K_C_PT, &arg);

	if (with_dur) {
		e->dur = dur;
		e->flags |= UT_ACE_HAS_DUR;
	}
}

static void say_over(struct ut_ace_analysis *a, const struct ut_ace_event *e, double ideal)
{
	char *event, want[UT_SHORTEST_ROOM], got[UT_SHORTEST_ROOM];

	if (a->util->over++ >= MOST_LINES)
		return;
	event = ut_ace_describe(a, e);
	if (a->opts.release >= UT_ACE_1_2)
		ut_ace_say(&a->messages, UT_ACE_WARN,
			   "UTL: Event with +100%% utilization. This could indicate a problem with "
			   "table fingerprinting:  (pid, utilization, event) %" PRId64 ", %s, %s",
			   ut_ace_num(&a->table, e->pid), ut_shortest(want, ideal / e->dur * 100),
			   event);
	else
		ut_ace_say(&a->messages, UT_ACE_WARN,
			   "UTL: Event with +100%% utilization. This could indicate a problem with "
			   "table fingerprinting: (pid, ideal, observed, event) %" PRId64
			   " %s %s %s",
			   ut_ace_num(&a->table, e->pid), ut_shortest(want, ideal),
			   ut_shortest(got, e->dur), event);
	free(event);
}

static double ideal_of(struct ut_ace_analysis *a, const struct ut_ace_complog *log,
		       const struct job *j, uint32_t kernel)
{
	uint32_t place;

	if (!j->table) {
		a->util->no_table += log && log->table_count;
		return 0;
	}
	place = ut_idmap_get(&j->table->place, kernel);
	return place ? j->table->cycles[place - 1] * (1 / a->opts.core) : 0;
}

/* The category of a kernel, whose time is added to it. */
static uint32_t add_sum(struct ut_ace_analysis *a, const struct ut_ace_event *e,
			const struct job *j, uint32_t kernel, double ideal)
{
	struct ut_ace_complog *log = log_of(a, e->pid);
	const struct ut_ace_catmap *cats = !log                           ? NULL
					   : a->opts.release < UT_ACE_1_2 ? &log->cats
					   : j->table                     ? j->table->cats
									  : &log->cats;
	uint32_t cat = cats ? ut_idmap_get(&cats->map, kernel) : 0;
	const struct ut_ace_dev *d = ut_ace_dev_of(a, e);
	struct ut_ace_sum add = { .time = e->dur, .ideal = ideal, .calls = 1 };

	if (e->dev)
		add.cycles = (double)(d->ts[3] - d->ts[2]);
	if (!cat) {
		a->util->other++;
		cat = ut_strtab_intern_z(&a->table.strings, "other");
	}
	if (a->opts.release >= UT_ACE_1_2 && ideal > e->dur)
		add.ideal = 0;
	ut_ace_sums_add(
		&a->util->sums, &a->table, e->pid,
		(struct ut_ace_sum_key){ .log = log ? (uint32_t)(log - a->logs.items) : 0,
					 .table = a->opts.release >= UT_ACE_1_2 ? j->table : NULL,
					 .cats = cats,
					 .cat = cat },
		&add);
	return cat;
}

static void show_category(struct ut_ace_analysis *a, struct ut_ace_event *e, uint32_t cat)
{
	struct ut_arg arg = ut_ace_str_arg(UT_ACE_K_USER_CAT, cat);

	if (e->flags & UT_ACE_HAS_CAT) {
		e->args = ut_ace_arg_set(&a->table, e->args, &arg);
	} else {
		e->cat = cat;
		e->flags |= UT_ACE_HAS_CAT;
	}
}

/* 100 % is all there is; release 1.2 shows 101 for what is above. */
static double shown_percent(const struct ut_ace_analysis *a, double util)
{
	if (util <= 1)
		return util * 100;
	return a->opts.release >= UT_ACE_1_2 ? 101 : 100;
}

static void use(struct ut_ace_analysis *a, uint32_t at)
{
	struct ut_ace_table *t = &a->table;
	uint32_t kernel = pass_util_kernel_of(a, &t->events[at]),
		 number = job_number(a, &t->events[at]);
	struct ut_ace_complog *log = log_of(a, t->events[at].pid);
	struct job *j = &a->util->jobs[number];
	struct ut_ace_event *e = &t->events[at];
	double ideal, util;
	struct ut_arg arg;

	if (!j->count) { /* the profile leaves fingerprints out */
		a->util->unprinted++;
		return;
	}
	if (!j->known)
		match(a, j, log);
	ideal = ideal_of(a, log, j, kernel);
	util = ut_is_zero(e->dur) ? 0 : fabs(ideal / e->dur);
	if (util > 0)
		e->flags |= UT_ACE_CORE_USED;
	if (util > 0 && a->opts.release >= UT_ACE_1_2) {
		arg = ut_ace_num_arg(UT_ACE_K_PT_ACTIVE, util);
		e->args = ut_ace_arg_set(t, e->args, &arg);
	}
	show_category(a, e, add_sum(a, e, j, kernel, ideal));
	if (a->opts.release >= UT_ACE_1_2 && log && log->autopilot) {
		ut_ace_autopilot_add(a, &a->util->autopilot, at, number, ideal);
		return;
	}
	if (util > 1)
		say_over(a, e, ideal);
	pass_util_add_counter(a, &t->events[at], t->events[at].ts, shown_percent(a, util), true);
	if (util > 0)
		pass_util_add_counter(a, &t->events[at], ut_ace_end(&t->events[at]), 0, false);
}

static void say_tables(struct ut_ace_analysis *a, const struct ut_ace_complog *log)
{
	static const char rest[] =
		"tables with ideal cycles have been detected. Utilization results should be "
		"inspected carefully!!!!";

	if (a->opts.release >= UT_ACE_1_2)
		ut_ace_say(&a->messages, UT_ACE_WARN, "UTL: %zu/%zu unique %s", log->table_count,
			   log->started, rest);
	else
		ut_ace_say(&a->messages, UT_ACE_WARN, "UTL: %zu %s", log->started, rest);
}

static void say_totals(struct ut_ace_analysis *a)
{
	const struct ut_ace_util *u = a->util;

	for (size_t i = 0; i < a->logs.count; i++) {
		if (a->logs.items[i].started > 1)
			say_tables(a, &a->logs.items[i]);
	}
	a->issues[UT_ACE_ISSUE_OVER_100] += u->over;
	a->issues[UT_ACE_ISSUE_NO_TABLE] += u->no_table;
	a->issues[UT_ACE_ISSUE_UNSURE_TABLE] += u->uncertain;
	a->issues[UT_ACE_ISSUE_NO_CATEGORY] += u->other;
	if (u->over)
		ut_ace_say(&a->messages, UT_ACE_WARN,
			   "UTL: Encountered %" PRIu64 " Events with >100%% utilization", u->over);
	if (u->unprinted)
		ut_ace_say(&a->messages, UT_ACE_WARN,
			   "UTL: No matching fingerprint for %" PRIu64
			   " Events. Unable to find a matching Ideal-cycles table.",
			   u->unprinted);
	if (u->no_table)
		ut_ace_say(&a->messages, UT_ACE_WARN,
			   "UTL: No matching Ideal Cycles table found for %" PRIu64
			   " Events. This might indicate a wrong frequency setting.",
			   u->no_table);
	if (u->uncertain)
		ut_ace_say(&a->messages, UT_ACE_WARN,
			   "UTL: Detected uncertain Ideal Cycles table match for %" PRIu64
			   " jobs: {%s%s}",
			   u->uncertain, u->unsure.data, u->uncertain > MOST_LINES ? ", ..." : "");
	if (u->other)
		ut_ace_say(&a->messages, UT_ACE_WARN,
			   "UTL: Found %" PRIu64 " Events without a matching kernel category and "
			   "accounted for 'other'",
			   u->other);
}

void ut_ace_end_util(struct ut_ace_analysis *a)
{
	if (!a->util)
		return;
	ut_ace_sums_release(&a->util->sums);
	free(a->util->autopilot.jobs);
	free(a->util->jobs);
	ut_buf_release(&a->util->unsure);
	a->util = NULL;
}

int ut_ace_pass_utilization(struct ut_ace_analysis *a)
{
	struct ut_ace_table *t = &a->table;
	size_t n = t->seq_count;

	make_state(a);
	for (size_t i = 0; i < n; i++) {
		if (counts(a, ut_ace_at(t, i)))
			use(a, t->seq[i]);
	}
	ut_ace_autopilot_end(a, &a->util->autopilot);
	a->util->over += a->util->autopilot.over;
	say_totals(a);
	ut_ace_sums_table(a, &a->util->sums);
	ut_ace_end_util(a);
	return 0;
}
