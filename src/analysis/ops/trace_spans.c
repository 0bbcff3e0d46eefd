#include "ops/trace_spans.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/str.h"
#include "model/classify.h"
#include "model/store.h"
#include "query/nest.h"

#define MOST_SPANS (UINT32_MAX - 1)
#define MOST_ARGS  64u

enum role {
	NOTHING,
	TASK,
	OP,
};

/* What the trace's types mean, found out once. */
struct kind {
	enum role role;
	uint32_t code;
};

struct walk {
	struct ut_ops_spans *s;
	const struct ut_store *store;
	const struct kind *kinds;
	bool nested;
};

/* ---- what a type means --------------------------------------------------------------------- */

static bool is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

/* "aten::mm", "torchvision::nms"; not "autograd::engine::evaluate_function: ..." */
static bool names_op(const char *name)
{
	size_t n = 0;

	while (is_letter(name[n]) || (n && name[n] >= '0' && name[n] <= '9'))
		n++;
	return n && name[n] == ':' && name[n + 1] == ':' && is_letter(name[n + 2]) &&
	       !ut_str_starts(name, "autograd::") && !ut_str_starts(name, "torch::");
}

static bool is_one_of(const char *text, const char *const *list)
{
	for (; *list; list++) {
		if (!strcmp(text, *list))
			return true;
	}
	return false;
}

static enum role role_of(const struct ut_trace *t, const struct ut_type *type)
{
	static const char *const marks[] = { "cpu_op", "PyTorch", NULL };
	const char *name = ut_strtab_get(&t->strings, type->name).ptr;
	const char *cat = ut_strtab_get(&t->strings, type->cat).ptr;
	struct ut_category c = ut_classify_category(t, type->cat);

	if (c.use == UT_CATEGORY_CALL || c.use == UT_CATEGORY_TOOL ||
	    (c.use == UT_CATEGORY_WORK && (c.anywhere || c.work == UT_DEVICE_BY_NAME)))
		return NOTHING;
	if (ut_str_starts(name, "aten::") || (is_one_of(cat, marks) && names_op(name)))
		return OP;
	return *name ? TASK : NOTHING;
}

/* A function of Python, or a line where lines were recorded. */
static struct kind python_kind_of(const struct ut_store *store, const struct ut_type *type,
				  struct ut_strtab *strings)
{
	enum ut_python_kind python =
		ut_classify_python(ut_strtab_get(&store->trace.strings, type->cat));
	struct ut_str name = ut_strtab_get(&store->trace.strings, type->name);
	struct kind k = { 0 };

	if (type->kind != UT_KIND_SPAN ||
	    (python != UT_PYTHON_FUNCTION && python != UT_PYTHON_LINE))
		return k;
	k.role = TASK;
	k.code = ut_strtab_intern(strings, name.ptr, name.len);
	return k;
}

static struct kind trace_spans_kind_of(const struct ut_store *store, const struct ut_type *type,
				       struct ut_strtab *strings)
{
	struct ut_str name = ut_strtab_get(&store->trace.strings, type->name);
	struct kind k = { 0 };

	if (type->kind != UT_KIND_SPAN || type->flags & UT_EV_NOT_WORK)
		return k;
	k.role = role_of(&store->trace, type);
	if (k.role == OP) { /* emit_nvtx: "aten::mm, seq = 3, sizes = [[2, 3], [3, 4]]" */
		const char *comma = memmem(name.ptr, name.len, ", ", 2);

		name.len = comma ? (size_t)(comma - name.ptr) : name.len;
	}
	if (k.role != NOTHING)
		k.code = ut_strtab_intern(strings, name.ptr, name.len);
	return k;
}

static struct kind *kinds_of(const struct ut_store *store, struct ut_strtab *strings, bool python)
{
	struct kind *kinds = ut_make((store->types.count + 1) * sizeof(*kinds));

	for (uint32_t i = 0; i < store->types.count; i++)
		kinds[i] = (python ? python_kind_of
				   : trace_spans_kind_of)(store, ut_store_type(store, i), strings);
	return kinds;
}

/* ---- the spans of a thread ----------------------------------------------------------------- */

static const struct kind *kind_at(const struct walk *w, uint32_t type)
{
	return &w->kinds[type < w->store->types.count ? type : 0];
}

static uint32_t owner_of(const struct walk *w, const struct ut_ops_span *span, uint32_t own)
{
	const struct ut_ops_span *enclosing = span->parent ? &w->s->items[span->parent - 1] : NULL;

	if (!enclosing || !w->s->items[enclosing->owner].op || (span->op && w->nested))
		return own;
	return enclosing->owner;
}

static uint32_t trace_spans_add_span(struct walk *w, struct ut_ops_span span)
{
	struct ut_ops_spans *s = w->s;
	uint32_t own = (uint32_t)s->count;

	if (span.parent) {
		const struct ut_ops_span *enclosing = &s->items[span.parent - 1];

		span.depth = enclosing->depth + enclosing->op;
	}
	s->items = ut_grow_raw(s->items, s->count + 1, &s->cap, sizeof(span));
	s->items[s->count++] = span;
	s->items[own].owner = owner_of(w, &s->items[own], own);
	return own + 1;
}

static void trace_spans_add_rows(struct walk *w, uint32_t track, const struct ut_nest *nest,
				 uint32_t *near)
{
	const struct ut_rows *rows = &w->store->rows[track];
	uint64_t row = 0;

	for (size_t k = 0; k < ut_rows_blocks(rows); k++) {
		const struct ut_block *b = &rows->blocks[k];

		for (uint32_t i = 0; i < b->count; i++, row++) {
			const struct kind *kind = kind_at(w, b->type[i]);
			struct ut_event e = ut_block_event(w->store, track, b, i);

			near[row] = nest->parent[row] ? near[nest->parent[row] - 1] : 0;
			if (kind->role == NOTHING || w->s->count == MOST_SPANS)
				continue;
			near[row] = trace_spans_add_span(
				w, (struct ut_ops_span){ .start = e.ts,
							 .end = ut_event_end(&e),
							 .self = nest->self[row],
							 .code = kind->code,
							 .name = e.name,
							 .args = e.args,
							 .track = track,
							 .parent = near[row],
							 .op = kind->role == OP });
		}
	}
}

static bool has_spans(const struct walk *w, const struct ut_rows *rows)
{
	for (size_t k = 0; k < ut_rows_blocks(rows); k++) {
		const struct ut_block *b = &rows->blocks[k];

		for (uint32_t i = 0; i < b->count; i++) {
			if (kind_at(w, b->type[i])->role != NOTHING)
				return true;
		}
	}
	return false;
}

uint64_t ut_ops_thread_of(const struct ut_trace *t, uint32_t track)
{
	return ut_ops_thread_key(t->processes[t->tracks[track].process].rank, t->tracks[track].id);
}

static void trace_spans_add_track(struct walk *w, uint32_t track)
{
	const struct ut_rows *rows = &w->store->rows[track];
	struct ut_ops_spans *s = w->s;
	uint64_t id = ut_ops_thread_of(&w->store->trace, track);
	struct ut_ops_thread *thread;
	struct ut_nest nest = { 0 };
	uint32_t *near;

	s->threads = ut_grow(s->threads, s->thread_count + 1, &s->thread_cap, sizeof(*thread));
	thread = &s->threads[s->thread_count++];
	*thread = (struct ut_ops_thread){ .first = s->count,
					  .next = ut_idmap_get(&s->by_thread, id) };
	ut_idmap_put(&s->by_thread, id, (uint32_t)s->thread_count);
	near = ut_make((rows->count + 1) * sizeof(*near));
	ut_nest_make(&nest, w->store, rows, true);
	trace_spans_add_rows(w, track, &nest, near);
	thread->count = s->count - thread->first;
	ut_nest_release(&nest);
	free(near);
}

/* Devices are processes of their own, and their queues may look like threads. */
static bool is_thread(const struct ut_trace *t, const struct ut_track *track)
{
	return track->type == UT_TRACK_THREAD && !ut_is_device(t, track->process);
}

static void trace_spans_make(struct ut_ops_spans *s, const struct ut_store *store,
			     struct kind *kinds, bool nested)
{
	struct walk w = { .s = s, .store = store, .kinds = kinds, .nested = nested };

	*s = (struct ut_ops_spans){ 0 };
	ut_idmap_init(&s->by_thread, &s->arena);
	ut_idmap_init(&s->by_external, &s->arena);
	for (uint32_t i = 0; i < store->trace.track_count; i++) {
		if (is_thread(&store->trace, &store->trace.tracks[i]) &&
		    has_spans(&w, &store->rows[i]))
			trace_spans_add_track(&w, i);
	}
	free(kinds);
}

void ut_ops_spans_make(struct ut_ops_spans *s, const struct ut_store *store,
		       struct ut_strtab *strings, bool nested)
{
	trace_spans_make(s, store, kinds_of(store, strings, false), nested);
}

void ut_ops_spans_python(struct ut_ops_spans *s, const struct ut_store *store,
			 struct ut_strtab *strings)
{
	trace_spans_make(s, store, kinds_of(store, strings, true), false);
}

void ut_ops_spans_release(struct ut_ops_spans *s)
{
	free(s->items);
	free(s->threads);
	ut_arena_release(&s->arena);
}

/* ---- asking -------------------------------------------------------------------------------- */

/* The last one that has begun, or what is around it and not yet over. */
static uint32_t span_at(const struct ut_ops_spans *s, const struct ut_ops_thread *t, uint64_t ts)
{
	size_t lo = t->first, hi = t->first + t->count;
	uint32_t n;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (s->items[mid].start <= ts)
			lo = mid + 1;
		else
			hi = mid;
	}
	n = lo > t->first ? (uint32_t)lo : 0;
	while (n && s->items[n - 1].end < ts)
		n = s->items[n - 1].parent;
	return n;
}

uint32_t ut_ops_spans_at(const struct ut_ops_spans *s, uint64_t thread, uint64_t ts)
{
	uint32_t n = 0;

	for (uint32_t t = ut_idmap_get(&s->by_thread, thread); t && !n; t = s->threads[t - 1].next)
		n = span_at(s, &s->threads[t - 1], ts);
	return n;
}

static bool external_of(const struct ut_store *store, uint32_t list, uint64_t *external)
{
	struct ut_arg args[MOST_ARGS];
	size_t count = ut_arglists_get(&store->args, list, args, MOST_ARGS);

	for (size_t i = 0; i < count && i < MOST_ARGS; i++) {
		const char *key = ut_strtab_get(&store->trace.strings, args[i].key).ptr;

		if (strcmp(key, "External id") != 0 && strcmp(key, "external id") != 0)
			continue;
		*external = args[i].value.u64;
		return args[i].type == UT_ARG_U64;
	}
	return false;
}

uint32_t ut_ops_spans_external(struct ut_ops_spans *s, const struct ut_store *store,
			       uint64_t external)
{
	for (size_t i = 0; i < s->count && !s->has_external; i++) {
		uint64_t number;

		if (s->items[i].args && external_of(store, s->items[i].args, &number))
			ut_idmap_put(&s->by_external, number, (uint32_t)i + 1);
	}
	s->has_external = true;
	return ut_idmap_get(&s->by_external, external);
}
