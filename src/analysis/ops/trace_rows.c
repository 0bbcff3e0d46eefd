#include "ops/trace_rows.h"

#include <stdlib.h>

#include "base/grow.h"
#include "model/store.h"
#include "ops/trace_flows.h"

/* ---- who submitted what -------------------------------------------------------------------- */

/* While rows are made. */
struct making {
	struct ut_ops_jobs *j;
	struct ut_store *store;
	struct ut_strtab *texts;
	struct ut_arena arena;
	uint32_t *first_work;  /* per span, plus 1 */
	uint32_t *first_child; /* per span, plus 1 */
	struct ut_idmap children;
	struct ut_idmap names; /* string of the log -> text */
	struct ut_ops_flows flows;
};

/* By the arrow that ends where the work begins. */
static uint32_t submitter_by_flow(struct making *m, const struct ut_device_work *w)
{
	const struct ut_ops_flow_end *from;

	if (!m->flows.made)
		ut_ops_flows_make(&m->flows, m->store);
	from = ut_ops_flows_to(&m->flows, w->queue, w->start);
	return from ? ut_ops_spans_at(&m->j->spans, ut_ops_thread_of(&m->store->trace, from->track),
				      from->ts)
		    : 0;
}

/* The span in which work was submitted, plus 1; 0 = unknown. */
static uint32_t submitter(struct making *m, const struct ut_device_work *w)
{
	uint64_t when = ut_ops_submitted(w);
	uint32_t span =
		when && w->thread
			? ut_ops_spans_at(&m->j->spans, ut_ops_thread_key(w->rank, w->thread), when)
			: 0;

	if (!span && w->external)
		span = ut_ops_spans_external(&m->j->spans, m->store, w->external);
	return span ? span : submitter_by_flow(m, w);
}

static bool is_work(const struct ut_device_work *w)
{
	return w->kind != UT_DEVICE_SYNC;
}

static void add_orphan(struct ut_ops_jobs *j, uint32_t work)
{
	const struct ut_device_work *w = &j->log.works[work];
	uint64_t when = ut_ops_submitted(w);

	j->items = ut_grow_raw(j->items, j->count + 1, &j->cap, sizeof(*j->items));
	j->items[j->count++] =
		(struct ut_ops_job){ .when = when ? when : w->start, .work = work + 1 };
}

/* From the last to the first, so that the lists are in order of start. */
static void join_works(struct making *m)
{
	struct ut_ops_jobs *j = m->j;

	for (size_t i = j->log.work_count; i-- > 0;) {
		uint32_t span = is_work(&j->log.works[i]) ? submitter(m, &j->log.works[i]) : 0;
		uint32_t *first;

		if (!span) {
			if (is_work(&j->log.works[i]))
				add_orphan(j, (uint32_t)i);
			continue;
		}
		first = &m->first_work[j->spans.items[span - 1].owner];
		j->next_work[i] = *first;
		*first = (uint32_t)i + 1;
	}
}

/* ---- calls inside an op -------------------------------------------------------------------- */

static void add_child(struct making *m, uint32_t owner, uint32_t name, uint64_t ns)
{
	uint64_t key = (uint64_t)owner << 32 | name;
	uint32_t n = ut_idmap_get(&m->children, key);
	struct ut_ops_jobs *j = m->j;

	if (!n) {
		j->children = ut_grow_raw(j->children, j->child_count + 1, &j->child_cap,
					  sizeof(*j->children));
		n = (uint32_t)++j->child_count;
		j->children[n - 1] =
			(struct ut_ops_child){ .name = name, .next = m->first_child[owner] };
		m->first_child[owner] = n;
		ut_idmap_put(&m->children, key, n);
	}
	j->children[n - 1].count++;
	j->children[n - 1].total += ns;
}

/* What lies in an op counts for its row; a task outside of ops counts for nobody. */
static void add_spans(struct making *m)
{
	const struct ut_ops_span *spans = m->j->spans.items;

	for (size_t i = 0; i < m->j->spans.count; i++) {
		const struct ut_ops_span *span = &spans[i];

		if (span->parent)
			add_child(m, spans[span->parent - 1].owner, span->code,
				  span->end - span->start);
	}
}

static uint32_t own_text(struct making *m, uint32_t name)
{
	uint32_t own = ut_idmap_get(&m->names, name);
	struct ut_str text;

	if (own)
		return own;
	text = ut_strtab_get(&m->j->log.strings, name);
	own = ut_strtab_intern(m->texts, text.ptr, text.len);
	if (own)
		ut_idmap_put(&m->names, name, own);
	return own;
}

static void add_calls(struct making *m)
{
	const struct ut_device_log *log = &m->j->log;

	for (size_t i = 0; i < log->each_count; i++) {
		const struct ut_device_call *c = &log->each_call[i];
		uint32_t span = ut_ops_spans_at(&m->j->spans, ut_ops_thread_key(c->rank, c->thread),
						c->start);
		uint32_t name = span ? own_text(m, c->name) : 0;

		if (name)
			add_child(m, m->j->spans.items[span - 1].owner, name, c->end - c->start);
	}
}

/* ---- rows ---------------------------------------------------------------------------------- */

static int trace_rows_compare(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

static int trace_rows_by_time(const void *a, const void *b)
{
	const struct ut_ops_job *x = a, *y = b;
	int order = trace_rows_compare(x->when, y->when);

	order = order ? order : trace_rows_compare(x->span, y->span);
	return order ? order : trace_rows_compare(x->work, y->work);
}

static void add_jobs(struct making *m)
{
	struct ut_ops_jobs *j = m->j;

	for (size_t i = 0; i < j->spans.count; i++) {
		const struct ut_ops_span *span = &j->spans.items[i];

		if (span->owner != i || (!span->op && !m->first_work[i]))
			continue;
		j->items = ut_grow_raw(j->items, j->count + 1, &j->cap, sizeof(*j->items));
		j->items[j->count++] = (struct ut_ops_job){ .when = span->start,
							    .span = (uint32_t)i + 1,
							    .work = m->first_work[i],
							    .child = m->first_child[i] };
	}
	if (j->count)
		qsort(j->items, j->count, sizeof(*j->items), trace_rows_by_time);
}

/* A row and where it begins on its device. */
struct turn {
	uint32_t device, job;
	uint64_t from;
};

static int by_device(const void *a, const void *b)
{
	const struct turn *x = a, *y = b;
	int order = trace_rows_compare(x->device, y->device);

	order = order ? order : trace_rows_compare(x->from, y->from);
	return order ? order : trace_rows_compare(x->job, y->job);
}

static void trace_rows_find_ends(struct ut_ops_jobs *j, struct ut_ops_job *job)
{
	job->from = j->log.works[job->work - 1].start;
	for (uint32_t w = job->work; w; w = j->next_work[w - 1]) {
		uint64_t end = j->log.works[w - 1].end;

		job->to = end > job->to ? end : job->to;
	}
}

/*
 * Rows of a device in the order of their first start: from the end of all before to the start. The
 * first has 0; one that begins before the others have ended has none.
 */
static void find_gaps(struct ut_ops_jobs *j)
{
	struct turn *turns = ut_make((j->count + 1) * sizeof(*turns));
	uint64_t last = 0;
	size_t n = 0;

	for (size_t i = 0; i < j->count; i++) {
		if (!j->items[i].work)
			continue;
		trace_rows_find_ends(j, &j->items[i]);
		turns[n++] = (struct turn){ .device = j->log.works[j->items[i].work - 1].device,
					    .job = (uint32_t)i,
					    .from = j->items[i].from };
	}
	if (n)
		qsort(turns, n, sizeof(*turns), by_device);
	for (size_t i = 0; i < n; i++) {
		struct ut_ops_job *job = &j->items[turns[i].job];

		if (!i || turns[i].device != turns[i - 1].device)
			last = job->from;
		job->has_gap = job->from >= last;
		job->gap = job->has_gap ? job->from - last : 0;
		last = job->to > last ? job->to : last;
	}
	free(turns);
}

void ut_ops_jobs_make(struct ut_ops_jobs *j, struct ut_store *store, struct ut_strtab *texts,
		      bool nested)
{
	struct making m = { .j = j, .store = store, .texts = texts };

	*j = (struct ut_ops_jobs){ 0 };
	ut_ops_spans_make(&j->spans, store, texts, nested);
	ut_device_log_init(&j->log, true);
	ut_device_log_store(&j->log, store);
	ut_device_log_finish(&j->log);
	j->next_work = ut_make((j->log.work_count + 1) * sizeof(*j->next_work));
	m.first_work = ut_make((j->spans.count + 1) * sizeof(*m.first_work));
	m.first_child = ut_make((j->spans.count + 1) * sizeof(*m.first_child));
	ut_idmap_init(&m.children, &m.arena);
	ut_idmap_init(&m.names, &m.arena);
	join_works(&m);
	add_spans(&m);
	add_calls(&m);
	add_jobs(&m);
	find_gaps(j);
	free(m.first_work);
	free(m.first_child);
	ut_ops_flows_release(&m.flows);
	ut_arena_release(&m.arena);
}

void ut_ops_jobs_release(struct ut_ops_jobs *j)
{
	ut_ops_spans_release(&j->spans);
	ut_device_log_release(&j->log);
	free(j->next_work);
	free(j->children);
	free(j->items);
}
