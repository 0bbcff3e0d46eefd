#include "tt/durations.h"

#include <stdlib.h>

#include "base/grow.h"

/* Rows in order of time. */
struct series {
	const uint32_t *rows;
	size_t count;
};

struct run {
	struct ut_tt_analysis *a;
	const struct ut_tt_log *log;
	uint32_t round_zone; /* string id of BRISC-FW; UINT32_MAX = none */
	uint32_t wanted[UT_TT_ACROSS_KINDS];
	/* per core, for rules that look at each core of an op */
	uint32_t *stamp, *start, *end, *order;
	uint32_t stamps;
	/* medians of the scopes of a chip, per rule */
	double *medians[UT_TT_MAX_RULES];
	size_t median_count[UT_TT_MAX_RULES], median_cap[UT_TT_MAX_RULES];
};

bool ut_tt_begins_launch(const struct ut_tt_log *log, uint32_t row)
{
	const struct ut_tt_row *r = &log->rows[row];

	return log->marks[r->mark].id == 1 && ut_tt_is(log, ut_tt_risc_of(log, r)->name, "BRISC");
}

/* ---- durations ----------------------------------------------------------------------------- */

static int64_t cycles_between(uint64_t start, uint64_t end)
{
	uint64_t cycles = end >= start ? end - start : start - end;

	cycles = cycles < INT64_MAX ? cycles : INT64_MAX;
	return end >= start ? (int64_t)cycles : -(int64_t)cycles;
}

/* Sums of a hostile log may be anything, but not undefined. */
static int64_t plus(int64_t a, int64_t b)
{
	return (int64_t)((uint64_t)a + (uint64_t)b);
}

static struct ut_tt_span *durations_add_span(struct ut_tt_analysis *a, uint32_t start, uint32_t end)
{
	struct ut_tt_span *s;

	a->spans = ut_grow(a->spans, a->span_count + 1, &a->span_cap, sizeof(*a->spans));
	s = &a->spans[a->span_count++];
	*s = (struct ut_tt_span){ .start = start, .end = end };
	s->start_round = s->end_round = UT_TT_NO_ROW;
	if (start != UT_TT_NO_ROW)
		s->cycles = cycles_between(a->log->rows[start].ts, a->log->rows[end].ts);
	return s;
}

static bool is_round(const struct run *r, uint32_t row)
{
	const struct ut_tt_mark *m = &r->log->marks[r->log->rows[row].mark];

	return m->zone == r->round_zone && m->phase == UT_TT_START;
}

static void adjacent(struct run *r, struct series s, uint32_t bit)
{
	uint32_t start = UT_TT_NO_ROW, start_round = UT_TT_NO_ROW, round = UT_TT_NO_ROW;

	for (size_t i = 0; i < s.count; i++) {
		uint32_t row = s.rows[i];

		if (is_round(r, row))
			round = row;
		/* where a marker is both, every second one ends */
		if (start != UT_TT_NO_ROW && ut_tt_ends(r->log, row) & bit) {
			struct ut_tt_span *span = durations_add_span(r->a, start, row);

			span->start_round = start_round;
			span->end_round = round;
			start = UT_TT_NO_ROW;
		} else if (ut_tt_starts(r->log, row) & bit) {
			start = row;
			start_round = round;
		}
	}
}

static void first_last(struct run *r, struct series s, uint32_t bit)
{
	size_t start = 0, end = s.count;

	while (start < s.count && !(ut_tt_starts(r->log, s.rows[start]) & bit))
		start++;
	while (end > start + 1 && !(ut_tt_ends(r->log, s.rows[end - 1]) & bit))
		end--;
	if (start < s.count && end > start + 1)
		durations_add_span(r->a, s.rows[start], s.rows[end - 1]);
}

static void each_launch(struct run *r, struct series s, uint32_t bit)
{
	size_t begin = 0;

	while (begin < s.count && !ut_tt_begins_launch(r->log, s.rows[begin]))
		begin++;
	while (begin < s.count) {
		size_t end = begin + 1;

		while (end < s.count && !ut_tt_begins_launch(r->log, s.rows[end]))
			end++;
		first_last(r, (struct series){ s.rows + begin, end - begin }, bit);
		begin = end;
	}
}

static void each_core(struct run *r, struct series s, uint32_t bit)
{
	uint32_t cores = 0;

	r->stamps++;
	for (size_t i = 0; i < s.count; i++) {
		uint32_t row = s.rows[i], core = r->log->lanes[r->log->rows[row].lane].core;

		if (r->stamp[core] != r->stamps) {
			r->stamp[core] = r->stamps;
			r->start[core] = r->end[core] = UT_TT_NO_ROW;
			r->order[cores++] = core;
		}
		if (r->start[core] != UT_TT_NO_ROW) {
			if (ut_tt_ends(r->log, row) & bit)
				r->end[core] = row;
		} else if (ut_tt_starts(r->log, row) & bit) {
			r->start[core] = row;
		}
	}
	for (uint32_t i = 0; i < cores; i++) {
		uint32_t core = r->order[i];

		if (r->end[core] != UT_TT_NO_ROW)
			durations_add_span(r->a, r->start[core], r->end[core]);
	}
}

static void sum(struct run *r, struct series s, uint32_t bit)
{
	uint64_t total = 0;

	for (size_t i = 0; i < s.count; i++) {
		if (ut_tt_starts(r->log, s.rows[i]) & bit)
			total += r->log->rows[s.rows[i]].data;
	}
	if (total)
		durations_add_span(r->a, UT_TT_NO_ROW, UT_TT_NO_ROW)->cycles =
			cycles_between(0, total);
}

/* ---- statistics ---------------------------------------------------------------------------- */

static int by_double(const void *pa, const void *pb)
{
	double a = *(const double *)pa, b = *(const double *)pb;

	return (a > b) - (a < b);
}

static double median(double *values, size_t n)
{
	qsort(values, n, sizeof(*values), by_double);
	return n % 2 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
}

static struct ut_tt_stats spans_stats(const struct ut_tt_span *spans, size_t n)
{
	struct ut_tt_stats st = { .count = n, .first = spans[0].cycles };
	double *values = ut_make(n * sizeof(*values));

	st.min = st.max = st.first;
	for (size_t i = 0; i < n; i++) {
		int64_t v = spans[i].cycles;

		st.sum = plus(st.sum, v);
		st.max = v > st.max ? v : st.max;
		st.min = v < st.min ? v : st.min;
		values[i] = (double)v;
	}
	st.average = (double)st.sum / (double)n;
	st.median = median(values, n);
	free(values);
	return st;
}

/* A scope's result joins those of its chip. */
static void summarize(struct run *r, struct ut_tt_stats *all, uint32_t rule,
		      const struct ut_tt_stats *st)
{
	size_t n = r->median_count[rule]++;

	r->medians[rule] = ut_grow(r->medians[rule], n + 1, &r->median_cap[rule], sizeof(double));
	r->medians[rule][n] = st->median;
	all->min = !all->count || st->min < all->min ? st->min : all->min;
	all->max = !all->count || st->max > all->max ? st->max : all->max;
	all->count += st->count;
	all->sum = plus(all->sum, st->sum);
}

static void finish_summary(struct run *r, struct ut_tt_stats *summary)
{
	for (size_t i = 0; i < r->a->setup.count; i++) {
		if (r->median_count[i]) {
			summary[i].average = (double)summary[i].sum / (double)summary[i].count;
			summary[i].median = median(r->medians[i], r->median_count[i]);
		}
		r->median_count[i] = 0;
	}
}

/* ---- scopes -------------------------------------------------------------------------------- */

static void apply(struct run *r, struct series s, const struct ut_tt_rule *rule, uint32_t bit)
{
	switch (rule->type) {
	case UT_TT_ADJACENT:
		adjacent(r, s, bit);
		break;
	case UT_TT_SESSION:
	case UT_TT_OP:
		first_last(r, s, bit);
		break;
	case UT_TT_LAUNCH:
		each_launch(r, s, bit);
		break;
	case UT_TT_OP_CORE:
		each_core(r, s, bit);
		break;
	case UT_TT_SUM:
		sum(r, s, bit);
		break;
	case UT_TT_EVENT_LIST:
		break;
	}
}

/* Rules that some marker of the log begins, by what they look across. */
static void find_wanted(struct run *r)
{
	const struct ut_tt_setup *setup = &r->a->setup;
	uint32_t begun = 0;

	for (size_t i = 0; i < r->log->mark_count; i++)
		begun |= r->log->marks[i].starts;
	for (uint32_t i = 0; i < setup->count; i++)
		r->wanted[setup->rules[i]->across] |= begun & 1u << i;
}

/* Rules that nothing here begins need not be tried. */
static uint32_t worth(const struct run *r, struct series s, uint32_t wanted)
{
	uint32_t bits = 0;

	for (size_t i = 0; i < s.count && (bits & wanted) != wanted; i++)
		bits |= ut_tt_starts(r->log, s.rows[i]);
	return bits & wanted;
}

static struct ut_tt_scope durations_look(struct run *r, struct series s, enum ut_tt_across across,
					 struct ut_tt_stats *summary)
{
	struct ut_tt_analysis *a = r->a;
	struct ut_tt_scope scope = { .result = a->result_count };
	uint32_t bits = worth(r, s, r->wanted[across]);

	for (size_t i = 0; i < a->setup.count; i++) {
		uint32_t number = a->setup.by_name[i];
		const struct ut_tt_rule *rule = a->setup.rules[number];
		size_t before = a->span_count;
		struct ut_tt_result *result;

		if (!(bits & 1u << number))
			continue;
		apply(r, s, rule, 1u << number);
		if (a->span_count == before)
			continue;
		a->results = ut_grow(a->results, a->result_count + 1, &a->result_cap,
				     sizeof(*a->results));
		result = &a->results[a->result_count++];
		*result = (struct ut_tt_result){ .rule = number, .span = before };
		result->stats = spans_stats(a->spans + before, a->span_count - before);
		summarize(r, &summary[number], number, &result->stats);
	}
	scope.count = a->result_count - scope.result;
	return scope;
}

/* ---- ops ----------------------------------------------------------------------------------- */

static struct series op_series(const struct ut_tt_ops *ops, size_t op)
{
	return (struct series){ ops->rows + ops->first[op], ops->first[op + 1] - ops->first[op] };
}

static void look_at_ops(struct run *r, struct ut_tt_chip_results *c)
{
	c->op_scopes = ut_make((c->ops.count + 1) * sizeof(*c->op_scopes));
	for (size_t i = 0; i < c->ops.count; i++)
		c->op_scopes[i] =
			durations_look(r, op_series(&c->ops, i), UT_TT_ACROSS_OPS, c->summary);
	for (size_t i = 0; i < c->dispatch_count; i++) {
		const struct ut_tt_dispatch_op *o = &c->dispatch_ops[i];
		const struct ut_tt_dispatch *d = &r->a->dispatch[o->dispatch];

		d->scopes[o->op] = durations_look(r, op_series(&d->ops, o->op),
						  UT_TT_ACROSS_DISPATCH, c->summary);
	}
}

static void find_dispatch(struct ut_tt_analysis *a, struct ut_tt_log *log)
{
	ut_tt_ops_find_dispatch(log);
	for (uint32_t i = 0; i < log->core_count; i++) {
		struct ut_tt_dispatch *d;

		if (!log->cores[i].dispatch)
			continue;
		a->dispatch = ut_grow(a->dispatch, a->dispatch_count + 1, &a->dispatch_cap,
				      sizeof(*a->dispatch));
		d = &a->dispatch[a->dispatch_count++];
		d->core = i;
		ut_tt_ops_of_dispatch(log, &log->cores[i], &d->ops);
		d->scopes = ut_make((d->ops.count + 1) * sizeof(*d->scopes));
	}
}

struct timed_op {
	uint64_t ts;
	struct ut_tt_dispatch_op op;
};

static int durations_by_time(const void *pa, const void *pb)
{
	const struct timed_op *a = pa, *b = pb;

	if (a->ts != b->ts)
		return a->ts < b->ts ? -1 : 1;
	if (a->op.dispatch != b->op.dispatch)
		return a->op.dispatch < b->op.dispatch ? -1 : 1;
	return (a->op.op > b->op.op) - (a->op.op < b->op.op);
}

/* dispatch cores are in the order of cores, so a chip's lie together from *next on */
static void list_dispatch(struct ut_tt_analysis *a, uint32_t chip, size_t *next)
{
	struct ut_tt_chip_results *c = &a->chips[chip];
	struct timed_op *list = NULL;
	size_t cap = 0, n = 0;

	for (; *next < a->dispatch_count; ++*next) {
		const struct ut_tt_dispatch *d = &a->dispatch[*next];

		if (a->log->cores[d->core].chip != chip)
			break;
		for (uint32_t i = 0; i < d->ops.count; i++) {
			list = ut_grow(list, n + 1, &cap, sizeof(*list));
			list[n].ts = a->log->rows[d->ops.rows[d->ops.first[i]]].ts;
			list[n].op.dispatch = (uint32_t)*next;
			list[n++].op.op = i;
		}
	}
	if (n)
		qsort(list, n, sizeof(*list), durations_by_time);
	c->dispatch_ops = ut_make((n + 1) * sizeof(*c->dispatch_ops));
	c->dispatch_count = n;
	for (size_t i = 0; i < n; i++)
		c->dispatch_ops[i] = list[i].op;
	free(list);
}

/* ---- all ----------------------------------------------------------------------------------- */

static void run_init(struct run *r, struct ut_tt_analysis *a, struct ut_tt_log *log)
{
	size_t cores = log->core_count + 1;

	*r = (struct run){ .a = a, .log = log, .round_zone = UINT32_MAX };
	if (log->zones)
		r->round_zone = ut_strtab_intern_z(&log->strings, "BRISC-FW");
	r->stamp = ut_make(cores * 4 * sizeof(*r->stamp));
	r->start = r->stamp + cores;
	r->end = r->start + cores;
	r->order = r->end + cores;
	find_wanted(r);
}

static void run_release(struct run *r)
{
	free(r->stamp);
	for (size_t i = 0; i < UT_TT_MAX_RULES; i++)
		free(r->medians[i]);
}

void ut_tt_analyze(struct ut_tt_analysis *a, struct ut_tt_log *log, const struct ut_tt_setup *setup)
{
	bool ops = log->zones && setup->detect_ops;
	size_t next = 0;
	struct run r;

	*a = (struct ut_tt_analysis){ .log = log, .setup = *setup };
	a->cores = ut_make((log->core_count + 1) * sizeof(*a->cores));
	a->chips = ut_make((log->chip_count + 1) * sizeof(*a->chips));
	if (ops)
		find_dispatch(a, log);
	ut_tt_setup_bind(setup, log);
	run_init(&r, a, log);
	for (uint32_t i = 0; i < log->chip_count; i++) {
		const struct ut_tt_chip *chip = &log->chips[i];
		struct ut_tt_chip_results *c = &a->chips[i];
		const uint32_t *rows = log->by_chip + chip->first;

		list_dispatch(a, i, &next);
		if (ops)
			ut_tt_ops_find(log, rows, chip->count, false, &c->ops);
		for (uint32_t k = chip->core; k < chip->core + chip->core_count; k++) {
			const struct ut_tt_core *core = &log->cores[k];
			struct series s = { log->by_core + core->first, core->count };

			a->cores[k] = durations_look(&r, s, UT_TT_ACROSS_CORE, c->summary);
		}
		c->device = durations_look(&r, (struct series){ rows, chip->count },
					   UT_TT_ACROSS_DEVICE, c->summary);
		look_at_ops(&r, c);
		finish_summary(&r, c->summary);
	}
	run_release(&r);
}

void ut_tt_analysis_release(struct ut_tt_analysis *a)
{
	for (size_t i = 0; a->chips && i < a->log->chip_count; i++) {
		ut_tt_ops_release(&a->chips[i].ops);
		free(a->chips[i].op_scopes);
		free(a->chips[i].dispatch_ops);
	}
	for (size_t i = 0; i < a->dispatch_count; i++) {
		ut_tt_ops_release(&a->dispatch[i].ops);
		free(a->dispatch[i].scopes);
	}
	free(a->spans);
	free(a->results);
	free(a->cores);
	free(a->chips);
	free(a->dispatch);
	*a = (struct ut_tt_analysis){ 0 };
}
