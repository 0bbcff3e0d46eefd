#include "ops/kernel_groups.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/path.h"
#include "base/sort.h"
#include "metrics/kernel_facts.h"
#include "model/store.h"
#include "model/user_code.h"
#include "ops/trace_rows.h"
#include "ops/trace_spans.h"

#define MOST_ARGS 128u

void ut_kernel_groups_init(struct ut_kernel_groups *g, enum ut_kernel_by by)
{
	*g = (struct ut_kernel_groups){ .by = by };
	ut_strtab_init(&g->texts, &g->arena);
	ut_idmap_init(&g->by_name, &g->arena);
	ut_idmap_init(&g->by_share, &g->arena);
}

void ut_kernel_groups_release(struct ut_kernel_groups *g)
{
	free(g->groups);
	free(g->shares);
	free(g->kernels);
	ut_arena_release(&g->arena);
	*g = (struct ut_kernel_groups){ 0 };
}

/* ---- lines of Python ----------------------------------------------------------------------- */

/* Where a function or kernel says that it comes from. */
struct line {
	struct ut_str file, function;
	uint64_t number;
};

static struct ut_str kernel_groups_text_of(const struct ut_store *store, uint32_t id)
{
	return ut_strtab_get(&store->trace.strings, id);
}

/* Arguments file, line and function; false if there is no file. */
static bool line_of_args(const struct ut_store *store, uint32_t list, struct line *l)
{
	struct ut_arg args[MOST_ARGS];
	size_t count = list ? ut_arglists_get(&store->args, list, args, MOST_ARGS) : 0;

	for (size_t i = 0; i < count && i < MOST_ARGS; i++) {
		struct ut_str key = kernel_groups_text_of(store, args[i].key);

		if (ut_str_is(key, "file") && args[i].type == UT_ARG_STR)
			l->file = kernel_groups_text_of(store, args[i].value.str);
		else if (ut_str_is(key, "function") && args[i].type == UT_ARG_STR)
			l->function = kernel_groups_text_of(store, args[i].value.str);
		else if (ut_str_is(key, "line") && args[i].type == UT_ARG_U64)
			l->number = args[i].value.u64;
	}
	return l->file.len > 0;
}

/* torch.profiler: "/home/me/train.py(57): forward" */
static bool line_of_name(struct ut_str name, struct line *l)
{
	const char *mark = ut_str_find(name, "): "), *open = mark;
	uint64_t number = 0;

	while (open && open > name.ptr && *open != '(')
		open--;
	if (!mark || open == name.ptr)
		return false;
	for (const char *p = open + 1; p < mark; p++) {
		if (*p < '0' || *p > '9' || number > UINT32_MAX)
			return false;
		number = number * 10 + (uint64_t)(*p - '0');
	}
	l->file = (struct ut_str){ name.ptr, (size_t)(open - name.ptr) };
	l->number = number;
	l->function = ut_str_from(name, mark + strlen("): "));
	return true;
}

static bool frame_line(const struct ut_store *store, const struct ut_ops_span *span, struct line *l)
{
	*l = (struct line){ .function = kernel_groups_text_of(store, span->name) };
	return line_of_args(store, span->args, l) ||
	       line_of_name(kernel_groups_text_of(store, span->name), l);
}

/* The innermost function of the user's own that was going on, else the innermost of all. */
static bool python_line(const struct ut_store *store, const struct ut_ops_spans *frames,
			const struct ut_device_work *w, struct line *l)
{
	uint64_t when = ut_ops_submitted(w);
	uint32_t n = when && w->thread
			     ? ut_ops_spans_at(frames, ut_ops_thread_key(w->rank, w->thread), when)
			     : 0;
	struct line inner, found = { .number = 0 };
	bool any = false;

	for (; n; n = frames->items[n - 1].parent) {
		if (!frame_line(store, &frames->items[n - 1], &inner))
			continue;
		if (!any || !ut_is_library_file(inner.file))
			found = inner;
		any = true;
		if (!ut_is_library_file(inner.file))
			break;
	}
	*l = found;
	return any;
}

/* ---- the trace that is being read ---------------------------------------------------------- */

struct reading {
	struct ut_kernel_groups *g;
	struct ut_store *store;
	struct ut_ops_jobs jobs;
	struct ut_strtab texts; /* of the jobs */
	struct ut_ops_spans frames;
	struct ut_kernel_set set;
	uint32_t *kernel_of; /* 1 + number in g->kernels, by variant */
	uint32_t *span_of;   /* 1 + owner, by work */
	struct ut_arena arena;
};

static uint32_t kernel_groups_intern(struct reading *r, struct ut_str s)
{
	return ut_strtab_intern(&r->g->texts, s.ptr, s.len);
}

static uint32_t op_name(struct reading *r, size_t work)
{
	uint32_t span = r->span_of[work];

	for (; span; span = r->jobs.spans.items[span - 1].parent) {
		if (r->jobs.spans.items[span - 1].op)
			return kernel_groups_intern(
				r, ut_strtab_get(&r->texts, r->jobs.spans.items[span - 1].code));
	}
	return kernel_groups_intern(r, ut_str_of("(no op)"));
}

static uint32_t task_name(struct reading *r, size_t work)
{
	uint32_t span = r->span_of[work];

	for (; span; span = r->jobs.spans.items[span - 1].parent) {
		if (!r->jobs.spans.items[span - 1].op)
			return kernel_groups_intern(
				r, ut_strtab_get(&r->texts, r->jobs.spans.items[span - 1].code));
	}
	return kernel_groups_intern(r, ut_str_of("(no task)"));
}

/* What the kernel's own arguments say, unless that is a library's and somebody else is around. */
static uint32_t line_name(struct reading *r, size_t work)
{
	const struct ut_device_work *w = &r->jobs.log.works[work];
	struct line own = { .number = 0 }, enclosing;
	bool has = line_of_args(r->store, ut_kernel_row_args(r->store, w), &own);
	struct ut_buf b = { 0 };
	uint32_t id;

	if ((!has || ut_is_library_file(own.file)) &&
	    python_line(r->store, &r->frames, w, &enclosing)) {
		own = has && ut_is_library_file(enclosing.file) ? own : enclosing;
		has = true;
	}
	if (!has)
		return kernel_groups_intern(r, ut_str_of("(no line)"));
	ut_buf_add(&b, own.file.ptr, own.file.len);
	ut_buf_fmt(&b, ":%llu", (unsigned long long)own.number);
	if (own.function.len) {
		ut_buf_text(&b, " (");
		ut_buf_add(&b, own.function.ptr, own.function.len);
		ut_buf_text(&b, ")");
	}
	id = ut_strtab_intern(&r->g->texts, b.data, b.len);
	ut_buf_release(&b);
	return id;
}

static uint32_t group_name(struct reading *r, size_t work)
{
	switch (r->g->by) {
	case UT_BY_OP:
		return op_name(r, work);
	case UT_BY_TASK:
		return task_name(r, work);
	case UT_BY_LINE:
		return line_name(r, work);
	case UT_BY_KERNEL:
	case UT_KERNEL_BYS:
		break;
	}
	return kernel_groups_intern(
		r, ut_strtab_get(&r->jobs.log.strings, r->jobs.log.works[work].name));
}

/* ---- groups -------------------------------------------------------------------------------- */

static uint32_t kernel_groups_group_of(struct ut_kernel_groups *g, uint32_t name)
{
	uint32_t n = ut_idmap_get(&g->by_name, name);

	if (n)
		return n - 1;
	g->groups = ut_grow(g->groups, g->group_count + 1, &g->group_cap, sizeof(*g->groups));
	g->groups[g->group_count].name = name;
	ut_idmap_put(&g->by_name, name, (uint32_t)++g->group_count);
	return (uint32_t)g->group_count - 1;
}

static struct ut_str kernel_groups_keep(struct ut_kernel_groups *g, struct ut_str s)
{
	return (struct ut_str){ ut_arena_copy(&g->arena, s.ptr, s.len), s.len };
}

/* A copy of what the trace's own set knows, which does not live long. */
static uint32_t kernel_groups_kernel_of(struct reading *r, uint32_t variant)
{
	struct ut_kernel_groups *g = r->g;
	const struct ut_kernel_variant *v = &r->set.variants[variant];
	struct ut_classified_kernel *k;

	if (r->kernel_of[variant])
		return r->kernel_of[variant] - 1;
	g->kernels = ut_grow(g->kernels, g->kernel_count + 1, &g->kernel_cap, sizeof(*k));
	k = &g->kernels[g->kernel_count++];
	k->name = kernel_groups_intern(r, v->facts.name);
	k->blocks = v->blocks;
	k->threads = v->threads;
	k->facts = v->facts;
	k->facts.name = ut_strtab_get(&g->texts, k->name);
	k->facts.reason = kernel_groups_keep(g, v->facts.reason);
	k->facts.place = kernel_groups_keep(g, v->facts.place);
	k->bottleneck_count = v->bottleneck_count;
	k->bottlenecks = UT_NEW_N(&g->arena, struct ut_kernel_bottleneck, v->bottleneck_count);
	memcpy(k->bottlenecks, v->bottlenecks, v->bottleneck_count * sizeof(*k->bottlenecks));
	r->kernel_of[variant] = (uint32_t)g->kernel_count;
	return (uint32_t)g->kernel_count - 1;
}

static void kernel_groups_add_kernel(struct reading *r, size_t work)
{
	struct ut_kernel_groups *g = r->g;
	const struct ut_device_work *w = &r->jobs.log.works[work];
	uint32_t kernel = kernel_groups_kernel_of(r, r->set.of_work[work] - 1);
	uint32_t group = kernel_groups_group_of(g, group_name(r, work));
	uint64_t key = (uint64_t)group << 32 | kernel, time = w->end - w->start;
	uint32_t n = ut_idmap_get(&g->by_share, key);
	const struct ut_kernel_bottleneck *v = g->kernels[kernel].bottlenecks;

	if (!n) {
		g->shares =
			ut_grow(g->shares, g->share_count + 1, &g->share_cap, sizeof(*g->shares));
		g->shares[g->share_count] =
			(struct ut_kernel_share){ .group = group, .kernel = kernel };
		n = (uint32_t)++g->share_count;
		ut_idmap_put(&g->by_share, key, n);
	}
	g->shares[n - 1].launches++;
	g->shares[n - 1].total += time;
	g->groups[group].launches++;
	g->groups[group].total += time;
	g->groups[group].rules[v->rule] += time;
	g->groups[group].lost += isnan(v->loss) ? 0 : v->loss * (double)time;
	g->total += time;
}

/* Whose row each work is in. */
static void find_owners(struct reading *r)
{
	const struct ut_ops_jobs *j = &r->jobs;

	r->span_of = UT_NEW_N(&r->arena, uint32_t, j->log.work_count + 1);
	for (size_t i = 0; i < j->count; i++) {
		for (uint32_t w = j->items[i].work; w && j->items[i].span; w = j->next_work[w - 1])
			r->span_of[w - 1] = j->items[i].span;
	}
}

void ut_kernel_groups_add(struct ut_kernel_groups *g, struct ut_store *store)
{
	struct reading r = { .g = g, .store = store };

	ut_strtab_init(&r.texts, &r.arena);
	ut_ops_jobs_make(&r.jobs, store, &r.texts, false);
	ut_kernel_set_make(&r.set, store, &r.jobs.log);
	if (g->by == UT_BY_LINE)
		ut_ops_spans_python(&r.frames, store, &r.texts);
	r.kernel_of = UT_NEW_N(&r.arena, uint32_t, r.set.count + 1);
	find_owners(&r);
	for (size_t i = 0; i < r.jobs.log.work_count; i++) {
		if (r.set.of_work[i])
			kernel_groups_add_kernel(&r, i);
	}
	if (g->by == UT_BY_LINE)
		ut_ops_spans_release(&r.frames);
	ut_kernel_set_release(&r.set);
	ut_ops_jobs_release(&r.jobs);
	ut_arena_release(&r.arena);
}

/* ---- the end ------------------------------------------------------------------------------- */

static int by_group(const void *a, const void *b)
{
	const struct ut_kernel_share *x = a, *y = b;
	int order = (x->group > y->group) - (x->group < y->group);

	if (!order)
		order = (x->total < y->total) - (x->total > y->total);
	return order ? order : (x->kernel > y->kernel) - (x->kernel < y->kernel);
}

static int kernel_groups_by_total(const void *a, const void *b)
{
	const struct ut_kernel_group *x = a, *y = b;
	int order = (x->total < y->total) - (x->total > y->total);

	return order ? order : (x->name > y->name) - (x->name < y->name);
}

void ut_kernel_groups_finish(struct ut_kernel_groups *g)
{
	ut_sort(g->shares, g->share_count, sizeof(*g->shares), by_group);
	for (size_t i = g->share_count; i-- > 0;) {
		struct ut_kernel_group *group = &g->groups[g->shares[i].group];

		group->first = (uint32_t)i;
		group->count++;
	}
	for (size_t i = 0; i < g->group_count; i++) {
		struct ut_kernel_group *group = &g->groups[i];
		uint32_t k = group->first;

		for (unsigned int rule = 0; rule < UT_KERNEL_RULES; rule++) {
			if (group->rules[rule] > group->rules[group->rule])
				group->rule = (enum ut_kernel_rule)rule;
		}
		while (k + 1 < group->first + group->count &&
		       g->kernels[g->shares[k].kernel].bottlenecks->rule != group->rule)
			k++;
		group->kernel = g->shares[k].kernel;
	}
	ut_sort(g->groups, g->group_count, sizeof(*g->groups), kernel_groups_by_total);
}
