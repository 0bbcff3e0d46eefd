/*
 * names.c - processes of several files in one: pids that are unique, names that tell ranks
 * apart, ranks in order.
 *
 * The same pid in two files is taken for two processes: GPUs are process 0, 1, ... in the files of
 * all ranks, containers start to count at 1, hosts know nothing of each other. Who knows better
 * says --pids keep.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "merge/plan.h"

#define NEW_PIDS  (UINT64_C(1) << 30) /* no system gives out such; some viewers keep an int32 */
#define NO_RANK   INT32_MAX
#define RANK_WORD "RANK "

/* A process of a file. */
struct entry {
	struct ut_merge_file *file;
	const struct ut_facts_process *process;
	struct ut_rewrite_process *change;
	struct ut_str pid, name;
	int32_t rank;
};

struct entries {
	struct entry *items; /* in the order of files */
	struct entry **sorted;
	size_t count;
	bool rank_once; /* no two files have the same rank */
};

static int32_t merge_names_rank_of(const struct ut_merge_file *f, const struct ut_facts_process *p)
{
	int32_t rank = p->rank >= 0 ? p->rank : f->facts.rank;

	return rank >= 0 ? rank : NO_RANK;
}

static void merge_names_collect(struct ut_merge_plan *p, struct entries *all)
{
	size_t count = 0;

	for (size_t i = 0; i < p->count; i++)
		count += p->files[i].left_out ? 0 : p->files[i].facts.process_count;
	all->items = ut_make((count + 1) * sizeof(*all->items));
	all->sorted = ut_make((count + 1) * sizeof(struct entry *));
	for (size_t i = 0; i < p->count; i++) {
		struct ut_merge_file *f = &p->files[i];

		if (f->left_out)
			continue;
		f->plan.processes = UT_NEW_N(&p->arena, struct ut_rewrite_process,
					     (size_t)f->facts.process_count + 1);
		for (uint32_t k = 0; k < f->facts.process_count; k++) {
			const struct ut_facts_process *process = &f->facts.processes[k];

			all->items[all->count++] = (struct entry){
				.file = f,
				.process = process,
				.change = &f->plan.processes[k],
				.pid = ut_facts_span(&f->facts, process->pid),
				.name = ut_facts_span(&f->facts, process->name),
				.rank = merge_names_rank_of(f, process),
			};
		}
	}
}

static void sort_entries(struct entries *all, int (*order)(const void *, const void *))
{
	for (size_t i = 0; i < all->count; i++)
		all->sorted[i] = &all->items[i];
	if (all->count)
		qsort(all->sorted, all->count, sizeof(struct entry *), order);
}

/* ---- pids ---------------------------------------------------------------------------------- */

static int by_pid(const void *a, const void *b)
{
	const struct entry *x = *(struct entry *const *)a, *y = *(struct entry *const *)b;
	int order = ut_str_cmp(x->pid, y->pid);

	return order ? order : x < y ? -1 : 1;
}

static bool pid_in_use(const struct entries *all, const char *text)
{
	struct entry wanted = { .pid = { text, strlen(text) } };
	size_t low = 0, high = all->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		int order = ut_str_cmp(wanted.pid, all->sorted[middle]->pid);

		if (!order)
			return true;
		if (order < 0)
			high = middle;
		else
			low = middle + 1;
	}
	return false;
}

static const char *free_number(struct ut_merge_plan *p, const struct entries *all, uint64_t *next)
{
	const char *text;

	do
		text = ut_str_fmt(&p->arena, "%" PRIu64, (*next)++);
	while (pid_in_use(all, text));
	return text;
}

/* A pid that is text is what viewers show as the name: "Spans" becomes "Spans (rank 1)". */
static const char *free_text(struct ut_merge_plan *p, const struct entries *all,
			     const struct entry *e)
{
	int len = (int)e->pid.len - 1;
	const char *text = NULL;

	if (e->rank != NO_RANK && all->rank_once)
		text = ut_str_fmt(&p->arena, "%.*s (rank %d)\"", len, e->pid.ptr, (int)e->rank);
	for (size_t i = (size_t)(e->file - p->files) + 1; !text || pid_in_use(all, text); i++)
		text = ut_str_fmt(&p->arena, "%.*s (file %zu)\"", len, e->pid.ptr, i);
	return text;
}

static int by_file_rank(const void *a, const void *b)
{
	const struct ut_merge_file *x = *(struct ut_merge_file *const *)a;
	const struct ut_merge_file *y = *(struct ut_merge_file *const *)b;

	return (x->facts.rank > y->facts.rank) - (x->facts.rank < y->facts.rank);
}

static bool ranks_occur_once(const struct ut_merge_plan *p)
{
	struct ut_merge_file **files = ut_make((p->count + 1) * sizeof(struct ut_merge_file *));
	bool once = true;

	for (size_t i = 0; i < p->count; i++)
		files[i] = &p->files[i];
	qsort(files, p->count, sizeof(struct ut_merge_file *), by_file_rank);
	for (size_t i = 1; i < p->count; i++)
		once &= files[i]->facts.rank != files[i - 1]->facts.rank;
	free(files);
	return once;
}

static void give_pids(struct ut_merge_plan *p, struct entries *all)
{
	uint64_t next = NEW_PIDS;
	bool *taken = ut_make(all->count + 1);

	all->rank_once = ranks_occur_once(p);
	sort_entries(all, by_pid);
	for (size_t i = 1; i < all->count; i++)
		taken[all->sorted[i] - all->items] =
			!ut_str_cmp(all->sorted[i]->pid, all->sorted[i - 1]->pid);
	for (size_t i = 0; i < all->count; i++) {
		struct entry *e = &all->items[i];

		if (!taken[i])
			continue;
		e->change->pid =
			*e->pid.ptr == '"' ? free_text(p, all, e) : free_number(p, all, &next);
		p->new_pids++;
	}
	free(taken);
}

/* From 1 on. Text that was a pid lives on as a name. */
static void renumber(struct ut_merge_plan *p, struct entries *all)
{
	for (size_t i = 0; i < all->count; i++) {
		struct entry *e = &all->items[i];

		e->change->pid = ut_str_fmt(&p->arena, "%zu", i + 1);
		if (*e->pid.ptr == '"' && !e->process->named)
			e->change->name =
				ut_str_fmt(&p->arena, "%.*s", (int)e->pid.len, e->pid.ptr);
		p->new_pids++;
	}
}

/* ---- names and order ----------------------------------------------------------------------- */

static int merge_names_by_name(const void *a, const void *b)
{
	const struct entry *x = *(struct entry *const *)a, *y = *(struct entry *const *)b;
	int order = ut_str_cmp(x->name, y->name);

	return order ? order : x < y ? -1 : 1;
}

static void label(struct ut_merge_plan *p, struct entry *e)
{
	bool labelled = e->name.len > strlen(RANK_WORD) &&
			!memcmp(e->name.ptr, RANK_WORD, strlen(RANK_WORD));

	if (e->rank == NO_RANK || labelled)
		return;
	if (e->name.len)
		e->change->name = ut_str_fmt(&p->arena, "\"" RANK_WORD "%d %.*s\"", (int)e->rank,
					     (int)e->name.len, e->name.ptr);
	else if (e->change->pid && *e->pid.ptr >= '0' && *e->pid.ptr <= '9') /* whose was it? */
		e->change->name = ut_str_fmt(&p->arena, "\"" RANK_WORD "%d process %.*s\"",
					     (int)e->rank, (int)e->pid.len, e->pid.ptr);
}

/* Names that occur in several files get the rank in front. */
static void distinguish_ranks(struct ut_merge_plan *p, struct entries *all)
{
	sort_entries(all, merge_names_by_name);
	for (size_t first = 0, end; first < all->count; first = end) {
		bool several = false;

		for (end = first; end < all->count; end++) {
			if (ut_str_cmp(all->sorted[end]->name, all->sorted[first]->name))
				break;
			several |= all->sorted[end]->file != all->sorted[first]->file;
		}
		for (size_t i = first; several && i < end; i++)
			label(p, all->sorted[i]);
	}
}

static int merge_names_by_rank(const void *a, const void *b)
{
	const struct entry *x = *(struct entry *const *)a, *y = *(struct entry *const *)b;
	int64_t sx = x->process->sorted ? x->process->sort_index : 0;
	int64_t sy = y->process->sorted ? y->process->sort_index : 0;

	if (x->rank != y->rank)
		return x->rank < y->rank ? -1 : 1;
	if (x->file != y->file)
		return x->file < y->file ? -1 : 1;
	if (sx != sy)
		return sx < sy ? -1 : 1;
	return x < y ? -1 : 1;
}

/* Rank by rank, and inside a rank as its file had it. Without two ranks the files decide. */
static void order_by_rank(struct entries *all)
{
	sort_entries(all, merge_names_by_rank);
	if (all->count < 2 || all->sorted[0]->rank == NO_RANK ||
	    all->sorted[0]->rank == all->sorted[all->count - 1]->rank)
		return;
	for (size_t i = 0; i < all->count; i++) {
		all->sorted[i]->change->sorted = true;
		all->sorted[i]->change->sort_index = (int64_t)i;
	}
}

void ut_merge_processes(struct ut_merge_plan *p, enum ut_merge_numbers mode)
{
	struct entries all = { 0 };

	merge_names_collect(p, &all);
	if (mode == UT_MERGE_AUTO)
		give_pids(p, &all);
	else if (mode == UT_MERGE_RENUMBER)
		renumber(p, &all);
	if (p->count > 1 && mode != UT_MERGE_KEEP) {
		distinguish_ranks(p, &all);
		order_by_rank(&all);
	}
	free(all.items);
	free(all.sorted);
}
