/*
 * ranks_coll_read.c - collective operations of other libraries than MPI, from what traces have of
 * them: kernels of NCCL, also in files of torch.profiler, which says their sizes; operations of
 * gloo there and in our recordings; what our NCCL plugin has recorded; tasks of oneCCL.
 *
 * Such an operation runs beside the program, so what else was going on decides how much of it
 * counts: on a device other kernels, on the host what the main thread does. Where NCCL's plugin
 * was, kernels of NCCL are not looked at: it knows more about the same thing.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/hashtab.h"
#include "base/sort.h"
#include "model/classify.h"
#include "model/store.h"
#include "ranks/coll_kind.h"
#include "ranks/ranks_parts.h"
#include "ranks/ranks_sum.h"

#define MOST_ARGS 64u

/* What rows of a type are. */
enum row_kind {
	ROW_NOTHING,
	ROW_ON_HOST,   /* an operation, on a thread */
	ROW_ON_DEVICE, /* an operation, on a queue */
	ROW_PARAMS,    /* what a program says about the operation that it begins */
	ROW_REST,      /* an operation, from when somebody waits for it */
	ROW_COMPUTES,  /* a kernel that is none of that */
	ROW_TASK,
};

struct row_type {
	uint8_t kind, coll; /* enum ut_coll_kind */
	bool beside;        /* on a thread that does nothing else for the program */
	const char *library;
};

#define KEY_LIST(X)                                                                                \
	X(collective, "Collective name")                                                           \
	X(in, "In msg nelems")                                                                     \
	X(out, "Out msg nelems")                                                                   \
	X(dtype, "dtype")                                                                          \
	X(group, "Process Group Name")                                                             \
	X(group_text, "Process Group Description")                                                 \
	X(group_size, "Group size")                                                                \
	X(order, "Seq")                                                                            \
	X(external, "External id")                                                                 \
	X(dims, "Input Dims")                                                                      \
	X(types, "Input type")                                                                     \
	X(bytes, "bytes")                                                                          \
	X(received, "received")                                                                    \
	X(comm, "comm")                                                                            \
	X(seq, "seq")                                                                              \
	X(ranks, "ranks")                                                                          \
	X(root, "root_rank")                                                                       \
	X(send_size, "send_size")                                                                  \
	X(recv_size, "recv_size")

struct keys {
#define KEY(key, text) uint32_t key;
	KEY_LIST(KEY)
#undef KEY
};

static const char *const key_texts[] = {
#define KEY(key, text) text,
	KEY_LIST(KEY)
#undef KEY
};

/* One operation, as it is found. */
struct found {
	uint64_t begin, end;
	uint64_t in, out; /* bytes */
	uint64_t seq;     /* plus 1; 0 = not said */
	uint64_t external;
	uint32_t group, group_text; /* strings of the ranks' */
	uint32_t size, track;
	int32_t root;
	uint8_t coll;
	bool on_device;
	const char *library;
};

struct piece {
	uint64_t begin, end;
};

struct reader {
	struct ut_ranks *ranks;
	const struct ut_store *store;
	struct keys keys;
	struct row_type *types;
	struct found *found; /* of one rank */
	size_t found_count, found_cap;
	struct found *params; /* operations that the program has begun, by external id */
	size_t params_count, params_cap;
	struct piece *busy; /* when the rank computed: sorted, apart */
	size_t busy_count, busy_cap;
	bool plugin; /* NCCL's plugin was there */
};

/* ---- what there is ------------------------------------------------------------------------- */

static struct row_type plain_type(const struct ut_trace *t, const struct ut_type *type)
{
	struct ut_str name = ut_strtab_get(&t->strings, type->name);
	struct ut_str cat = ut_strtab_get(&t->strings, type->cat);
	enum ut_coll_kind coll = UT_COLL_NONE;
	const char *library = ut_coll_library(name, &coll);
	bool beside = library;

	if (!library && ut_str_has_start(cat, "oneCCL")) {
		coll = ut_coll_called(name);
		library = coll ? "oneCCL" : NULL;
	}
	if (library)
		return (struct row_type){ ROW_ON_HOST, (uint8_t)coll, beside, library };
	/* oneCCL's call is over when the operation has begun; it goes on in an event. */
	if (ut_str_is(name, "oneCCL::COLL"))
		return (struct row_type){ .kind = ROW_REST };
	if (ut_str_is(name, "record_param_comms"))
		return (struct row_type){ .kind = ROW_PARAMS };
	if (ut_str_has_start(name, "nccl:") || ut_rank_is_library(cat, name))
		return (struct row_type){ 0 };
	return (struct row_type){ .kind = ROW_TASK };
}

static struct row_type type_of(const struct ut_trace *trace, const struct ut_type *t)
{
	struct ut_category c;
	enum ut_coll_kind coll = UT_COLL_NONE;

	if (t->kind != UT_KIND_SPAN || t->flags & UT_EV_NOT_WORK)
		return (struct row_type){ 0 };
	c = ut_classify_category(trace, t->cat);
	if (c.use == UT_CATEGORY_PLAIN)
		return plain_type(trace, t);
	if (c.use != UT_CATEGORY_WORK)
		return (struct row_type){ 0 };
	if (ut_coll_is_nccl(ut_strtab_get(&trace->strings, t->name), &coll))
		return (struct row_type){ ROW_ON_DEVICE, (uint8_t)coll, false, "NCCL" };
	return (struct row_type){ .kind = c.work == UT_DEVICE_KERNEL ? ROW_COMPUTES : ROW_NOTHING };
}

/* On the rows of NCCL's plugin an operation has the name that NCCL gives it. */
static struct row_type plugin_type(const struct reader *rd, uint32_t number)
{
	const struct ut_type *t = ut_store_type(rd->store, number);
	enum ut_coll_kind coll = ut_coll_called(ut_strtab_get(&rd->store->trace.strings, t->name));

	if (t->kind != UT_KIND_SPAN || !coll)
		return (struct row_type){ 0 };
	return (struct row_type){ ROW_ON_DEVICE, (uint8_t)coll, false, "NCCL" };
}

static bool has_plugin(const struct ut_store *store)
{
	for (uint32_t i = 0; i < store->trace.process_count; i++) {
		if (store->trace.processes[i].api.api == UT_API_NCCL)
			return true;
	}
	return false;
}

/* False: there is nothing of it. */
static bool look_at_types(struct reader *rd)
{
	const struct ut_store *s = rd->store;
	bool any = false;

	ut_rank_find_keys(&s->trace.strings, key_texts, (uint32_t *)&rd->keys,
			  sizeof(key_texts) / sizeof(*key_texts));
	rd->types = ut_make(((size_t)s->types.count + 1) * sizeof(*rd->types));
	for (uint32_t i = 0; i < s->types.count; i++) {
		rd->types[i] = type_of(&s->trace, &s->types.items[i]);
		any = any || rd->types[i].library;
	}
	return any || has_plugin(s);
}

bool ut_ranks_any_colls(const struct ut_store *store)
{
	for (uint32_t i = 0; i < store->types.count; i++) {
		if (type_of(&store->trace, &store->types.items[i]).library)
			return true;
	}
	return has_plugin(store);
}

/* ---- facts --------------------------------------------------------------------------------- */

static uint32_t text(struct reader *rd, const struct ut_arg *a)
{
	struct ut_str s;
	char digits[24];

	if (a->type == UT_ARG_STR) {
		s = ut_strtab_get(&rd->store->trace.strings, a->value.str);
	} else if (a->type == UT_ARG_U64) {
		s.ptr = digits;
		s.len = (size_t)snprintf(digits, sizeof(digits), "%llu",
					 (unsigned long long)a->value.u64);
	} else {
		return 0;
	}
	return ut_strtab_intern(&rd->ranks->strings, s.ptr, s.len);
}

/* How many elements tensors of these dimensions have: "[[2,3],[4]]" is 10. */
static uint64_t elements(struct ut_str dims)
{
	uint64_t all = 0, one = 1, number = 0;
	bool digits = false;

	for (size_t i = 0; i < dims.len; i++) {
		char c = dims.ptr[i];

		if (c >= '0' && c <= '9') {
			number = number * 10 + (uint64_t)(c - '0');
			digits = true;
			continue;
		}
		if (digits && __builtin_mul_overflow(one, number, &one))
			return 0;
		if (c == ']' && digits) {
			all += one;
			one = 1;
		}
		if (c == '[')
			one = 1;
		digits = digits && c != ']' && c != ',';
		number = 0;
	}
	return all;
}

struct shape {
	uint64_t in, out; /* elements */
	uint32_t size;    /* of one; 0 = unknown */
	bool said;        /* in and out are */
};

static void take_size(struct reader *rd, struct shape *s, const struct ut_arg *a)
{
	struct ut_str said = ut_strtab_get(&rd->store->trace.strings, a->value.str);

	if (a->key == rd->keys.dtype || (a->key == rd->keys.types && !s->size))
		s->size = ut_coll_element(said);
	else if (a->key == rd->keys.dims && !s->said)
		s->in = elements(said);
}

static void take_number(struct reader *rd, struct found *f, struct shape *s, const struct ut_arg *a)
{
	const struct keys *k = &rd->keys;

	if (a->key == k->in || a->key == k->out) {
		s->in = s->said ? s->in : 0;
		s->said = true;
		*(a->key == k->in ? &s->in : &s->out) = a->value.u64;
	} else if (a->key == k->group_size || a->key == k->ranks) {
		f->size = (uint32_t)a->value.u64;
	} else if (a->key == k->order || a->key == k->seq) {
		f->seq = a->value.u64 + 1;
	} else if (a->key == k->external) {
		f->external = a->value.u64;
	} else if (a->key == k->bytes || a->key == k->send_size) {
		f->in = a->value.u64;
	} else if (a->key == k->received || a->key == k->recv_size) {
		f->out = a->value.u64;
	} else if (a->key == k->root) {
		f->root = (int32_t)a->value.i64;
	}
}

static void take_facts(struct reader *rd, struct found *f, uint32_t list)
{
	const struct keys *k = &rd->keys;
	struct ut_arg args[MOST_ARGS];
	size_t n = ut_arglists_get(&rd->store->args, list, args, MOST_ARGS);
	struct shape shape = { 0 };

	for (size_t i = 0; i < n && i < MOST_ARGS; i++) {
		const struct ut_arg *a = &args[i];

		if (a->key == k->group || a->key == k->comm)
			f->group = text(rd, a);
		else if (a->key == k->group_text)
			f->group_text = text(rd, a);
		else if (a->key == k->collective && a->type == UT_ARG_STR)
			f->coll = (uint8_t)ut_coll_called(
				ut_strtab_get(&rd->store->trace.strings, a->value.str));
		else if (a->type == UT_ARG_U64 || a->type == UT_ARG_I64)
			take_number(rd, f, &shape, a);
		else if (a->type == UT_ARG_STR || a->type == UT_ARG_JSON)
			take_size(rd, &shape, a);
	}
	if (shape.size && (shape.in || shape.out)) {
		f->in = shape.in * shape.size;
		f->out = shape.out * shape.size;
	}
}

/* ---- rows ---------------------------------------------------------------------------------- */

static void add_busy(struct reader *rd, uint64_t begin, uint64_t end)
{
	rd->busy = ut_grow(rd->busy, rd->busy_count + 1, &rd->busy_cap, sizeof(*rd->busy));
	rd->busy[rd->busy_count++] = (struct piece){ begin, end };
}

static struct found *add_found(struct found **list, size_t *count, size_t *cap)
{
	*list = ut_grow(*list, *count + 1, cap, sizeof(**list));
	return &(*list)[(*count)++];
}

static void take_row(struct reader *rd, const struct ut_event *e, struct row_type type)
{
	bool params = type.kind == ROW_PARAMS;
	struct found *f = params ? add_found(&rd->params, &rd->params_count, &rd->params_cap)
				 : add_found(&rd->found, &rd->found_count, &rd->found_cap);

	*f = (struct found){ .begin = e->ts,
			     .end = ut_event_end(e),
			     .root = -1,
			     .track = e->track,
			     .coll = type.coll,
			     .on_device = type.kind == ROW_ON_DEVICE,
			     .library = type.library };
	if (e->args)
		take_facts(rd, f, e->args);
	/* Steps inside of an operation are the operation's; others that nobody can name are not
	 * looked at. */
	if (params)
		return;
	/* Of what the plugin tells, operations say their communicator. */
	if (!f->coll || (f->on_device && rd->plugin && !f->group) ||
	    (rd->found_count > 1 && !f->on_device && f[-1].track == f->track &&
	     f[-1].library == f->library && f[-1].end >= f->end))
		rd->found_count--;
}

static void extend(struct reader *rd, const struct ut_event *e)
{
	struct found *last = rd->found_count ? &rd->found[rd->found_count - 1] : NULL;

	if (last && last->track == e->track && ut_event_end(e) > last->end)
		last->end = ut_event_end(e);
}

static void read_operations(struct reader *rd, uint32_t track)
{
	const struct ut_trace *t = &rd->store->trace;
	const struct ut_rows *rows = &rd->store->rows[track];
	bool plugin = t->processes[t->tracks[track].process].api.api == UT_API_NCCL;

	for (size_t b = 0; b < ut_rows_blocks(rows); b++) {
		const struct ut_block *block = &rows->blocks[b];

		for (uint32_t i = 0; i < block->count; i++) {
			uint32_t number =
				block->type[i] < rd->store->types.count ? block->type[i] : 0;
			struct row_type type = plugin ? plugin_type(rd, number) : rd->types[number];
			struct ut_event e;

			if (!type.library && type.kind != ROW_PARAMS && type.kind != ROW_REST &&
			    type.kind != ROW_COMPUTES)
				continue;
			e = ut_block_event(rd->store, track, block, i);
			if (type.kind == ROW_REST)
				extend(rd, &e);
			else if (type.kind == ROW_COMPUTES)
				add_busy(rd, e.ts, ut_event_end(&e));
			else if (type.kind != ROW_ON_DEVICE || plugin || !rd->plugin)
				take_row(rd, &e, type);
		}
	}
}

/* What the main thread does: tasks with nothing inside of them. Around a wait there may be one. */
static void read_main(struct reader *rd, uint32_t track)
{
	const struct ut_rows *rows = &rd->store->rows[track];
	struct piece last = { 0 };

	for (size_t b = 0; b < ut_rows_blocks(rows); b++) {
		const struct ut_block *block = &rows->blocks[b];

		for (uint32_t i = 0; i < block->count; i++) {
			uint32_t number =
				block->type[i] < rd->store->types.count ? block->type[i] : 0;
			struct ut_event e;

			if (ut_store_type(rd->store, number)->kind != UT_KIND_SPAN)
				continue;
			e = ut_block_event(rd->store, track, block, i);
			if (last.end && e.ts >= last.end)
				add_busy(rd, last.begin, last.end);
			last = (struct piece){ e.ts, ut_event_end(&e) };
			if (rd->types[number].kind != ROW_TASK)
				last.end = 0;
		}
	}
	if (last.end)
		add_busy(rd, last.begin, last.end);
}

static int by_piece(const void *a, const void *b)
{
	const struct piece *x = a, *y = b;

	return (x->begin > y->begin) - (x->begin < y->begin);
}

static void join_busy(struct reader *rd)
{
	size_t kept = 0;

	ut_sort(rd->busy, rd->busy_count, sizeof(*rd->busy), by_piece);
	for (size_t i = 0; i < rd->busy_count; i++) {
		struct piece p = rd->busy[i];

		if (kept && rd->busy[kept - 1].end >= p.begin) {
			if (p.end > rd->busy[kept - 1].end)
				rd->busy[kept - 1].end = p.end;
		} else {
			rd->busy[kept++] = p;
		}
	}
	rd->busy_count = kept;
}

/* ---- operations become calls --------------------------------------------------------------- */

static int by_begin(const void *a, const void *b)
{
	const struct found *x = a, *y = b;

	if (x->begin != y->begin)
		return x->begin < y->begin ? -1 : 1;
	return (x->end > y->end) - (x->end < y->end);
}

static int by_external(const void *a, const void *b)
{
	const struct found *x = a, *y = b;

	return (x->external > y->external) - (x->external < y->external);
}

/* Kernels in older files of torch.profiler say nothing: what began them does. */
static void take_params(struct reader *rd, struct found *f)
{
	const struct found *p;

	if (!f->external || f->in || f->out || !rd->params_count)
		return;
	p = bsearch(f, rd->params, rd->params_count, sizeof(*rd->params), by_external);
	if (!p)
		return;
	f->in = p->in;
	f->out = p->out;
	f->size = f->size ? f->size : p->size;
	f->group = f->group ? f->group : p->group;
	f->group_text = f->group_text ? f->group_text : p->group_text;
	f->seq = f->seq ? f->seq : p->seq;
	f->coll = p->coll ? p->coll : f->coll;
}

/* How much of it nothing was computed in, and since when that was so until its end. */
static uint64_t exposed(const struct reader *rd, const struct found *f, uint64_t *since)
{
	uint64_t hidden = 0;
	size_t lo = 0, hi = rd->busy_count;

	while (lo < hi) {
		size_t mid = (lo + hi) / 2;

		if (rd->busy[mid].end <= f->begin)
			lo = mid + 1;
		else
			hi = mid;
	}
	*since = f->begin;
	for (; lo < rd->busy_count && rd->busy[lo].begin < f->end; lo++) {
		uint64_t begin = rd->busy[lo].begin > f->begin ? rd->busy[lo].begin : f->begin;
		uint64_t end = rd->busy[lo].end < f->end ? rd->busy[lo].end : f->end;

		hidden += end - begin;
		*since = end;
	}
	return f->end - f->begin - hidden;
}

/*
 * Operations of one group come in one order in all ranks. Where no number is said, those of a kind
 * are counted; another kind, or a group that nobody tells apart, cannot disturb that.
 */
static void give_number(struct reader *rd, struct found *f, struct ut_rank_call *c,
			struct ut_rank_keys *seen, uint64_t **counts, size_t *cap)
{
	struct ut_strtab *strings = &rd->ranks->strings;
	struct ut_str group = ut_strtab_get(strings, f->group);
	struct ut_buf key = { 0 };
	size_t row;

	ut_buf_fmt(&key, "%s %.*s %s", f->library, (int)group.len, group.ptr,
		   f->seq ? "" : ut_coll_names[f->coll]);
	/* NCCL counts the operations of each kind for itself. */
	if (f->seq && rd->plugin)
		ut_buf_text(&key, ut_coll_names[f->coll]);
	c->group = ut_strtab_intern(strings, key.data, key.len);
	ut_buf_release(&key);
	c->firm = f->seq && ut_coll_uses[f->coll] == UT_RANK_ALL;
	row = ut_rank_keys_row(seen, c->group, 0, 0, 0);
	*counts = ut_grow(*counts, row + 1, cap, sizeof(**counts));
	c->seq = f->seq ? f->seq : ++(*counts)[row];
}

static void add_call(struct reader *rd, struct ut_rank *one, const struct found *f, bool main,
		     uint64_t *free_from)
{
	struct ut_strtab *strings = &rd->ranks->strings;
	struct ut_rank_coll *coll;
	struct ut_rank_call *c;
	uint64_t since, shown = exposed(rd, f, &since);
	uint32_t comm = f->group_text ? f->group_text : f->group;
	char name[64];

	one->calls = ut_grow(one->calls, one->call_count + 1, &one->call_cap, sizeof(*one->calls));
	one->colls = ut_grow(one->colls, one->coll_count + 1, &one->coll_cap, sizeof(*one->colls));
	c = &one->calls[one->call_count];
	coll = &one->colls[one->coll_count++];
	*coll = (struct ut_rank_coll){ f->begin,
				       shown,
				       (uint32_t)one->call_count++,
				       ut_strtab_intern_z(strings, f->library),
				       comm,
				       f->size };
	snprintf(name, sizeof(name), "%s %s", f->library, ut_coll_names[f->coll]);
	since = since > *free_from ? since : *free_from;
	*c = (struct ut_rank_call){ .begin = f->begin,
				    .end = f->end,
				    .sent = f->in,
				    .received = f->out,
				    .name = ut_strtab_intern_z(strings, name),
				    .to = -1,
				    .root = f->root,
				    .use = ut_coll_uses[f->coll],
				    .meets = ut_coll_uses[f->coll],
				    .side = !main || since >= f->end,
				    .waited_for = UT_RANK_NOBODY };
	if (c->side)
		return;
	c->begin = since;
	*free_from = f->end;
}

static void add_calls(struct reader *rd, struct ut_rank *one, bool main)
{
	struct ut_rank_keys seen = { 0 };
	uint64_t *counts = NULL, free_from = 0;
	size_t cap = 0;

	ut_sort(rd->params, rd->params_count, sizeof(*rd->params), by_external);
	ut_sort(rd->found, rd->found_count, sizeof(*rd->found), by_begin);
	join_busy(rd);
	for (size_t i = 0; i < rd->found_count; i++) {
		struct found *f = &rd->found[i];

		take_params(rd, f);
		if (f->size > 1 && ut_coll_uses[f->coll] != UT_RANK_OTHER &&
		    (int64_t)f->size > rd->ranks->world)
			rd->ranks->world = f->size;
		add_call(rd, one, f, main, &free_from);
		give_number(rd, f, &one->calls[one->call_count - 1], &seen, &counts, &cap);
	}
	ut_rank_keys_release(&seen);
	free(counts);
	ut_rank_order_calls(one);
}

/* ---- a rank -------------------------------------------------------------------------------- */

/* Processes of one rank: its program and the devices that worked for it. */
static bool is_of(const struct ut_trace *t, uint32_t track, int32_t rank)
{
	return t->processes[t->tracks[track].process].rank == rank;
}

/* How many rows of a kind a track has; none, if operations of others run on it. */
static uint64_t count_rows(const struct reader *rd, uint32_t track, enum row_kind kind)
{
	const struct ut_rows *rows = &rd->store->rows[track];
	uint64_t count = 0;

	for (size_t b = 0; b < ut_rows_blocks(rows); b++) {
		const struct ut_block *block = &rows->blocks[b];

		for (uint32_t i = 0; i < block->count; i++) {
			struct row_type type = { 0 };

			if (block->type[i] < rd->store->types.count)
				type = rd->types[block->type[i]];
			if (type.beside)
				return 0;
			count += type.kind == kind;
		}
	}
	return count;
}

/* The row of the rank that has the most rows of a kind; UINT32_MAX: none has one. */
static uint32_t busiest(const struct reader *rd, int32_t rank, enum row_kind kind)
{
	const struct ut_trace *t = &rd->store->trace;
	uint32_t best = UINT32_MAX;
	uint64_t most = 0;

	for (uint32_t i = 0; i < t->track_count; i++) {
		uint64_t count = is_of(t, i, rank) ? count_rows(rd, i, kind) : 0;

		best = count > most ? i : best;
		most = count > most ? count : most;
	}
	return best;
}

static void find_range(struct ut_rank *one)
{
	one->start = UINT64_MAX;
	for (size_t i = 0; i < one->top_count; i++) {
		one->start = one->tops[i].begin < one->start ? one->tops[i].begin : one->start;
		one->stop = one->tops[i].end > one->stop ? one->tops[i].end : one->stop;
	}
	for (size_t i = 0; i < one->coll_count; i++) {
		uint64_t end = one->calls[one->colls[i].call].end;

		one->start = one->colls[i].came < one->start ? one->colls[i].came : one->start;
		one->stop = end > one->stop ? end : one->stop;
	}
}

static size_t new_rank(struct reader *rd, int32_t rank)
{
	const struct ut_trace *t = &rd->store->trace;
	struct ut_rank *one = ut_ranks_new(rd->ranks, rank);

	one->origin = rd->ranks->origins;
	one->realtime = t->realtime_offset;
	one->first = t->first;
	one->last = t->last;
	for (size_t i = t->process_count; i-- > 0;) {
		struct ut_str host = ut_strtab_get(&t->strings, t->processes[i].host);
		struct ut_str name = ut_strtab_get(&t->strings, t->processes[i].name);

		if (t->processes[i].rank != rank || t->processes[i].kind == UT_PROCESS_DEVICE)
			continue;
		one->host = ut_strtab_intern(&rd->ranks->strings, host.ptr, host.len);
		one->program = ut_strtab_intern(&rd->ranks->strings, name.ptr, name.len);
	}
	return rd->ranks->count - 1;
}

static bool on_device(const struct reader *rd)
{
	for (size_t i = 0; i < rd->found_count; i++) {
		if (rd->found[i].on_device)
			return true;
	}
	return false;
}

static void read_rank(struct reader *rd, int32_t rank, size_t from)
{
	const struct ut_trace *t = &rd->store->trace;
	uint32_t main;
	size_t at = from;
	bool device;

	rd->found_count = rd->params_count = rd->busy_count = 0;
	rd->plugin = false;
	for (uint32_t i = 0; i < t->process_count; i++)
		rd->plugin = rd->plugin || (t->processes[i].rank == rank &&
					    t->processes[i].api.api == UT_API_NCCL);
	for (uint32_t i = 0; i < t->track_count; i++) {
		if (is_of(t, i, rank))
			read_operations(rd, i);
	}
	if (!rd->found_count)
		return;
	device = on_device(rd);
	main = busiest(rd, rank, device ? ROW_COMPUTES : ROW_TASK);
	if (device && main == UINT32_MAX)
		main = busiest(rd, rank, ROW_TASK);
	else if (!device && main != UINT32_MAX)
		read_main(rd, main);
	while (at < rd->ranks->count && rd->ranks->items[at].rank != rank)
		at++;
	if (at < rd->ranks->count) {
		add_calls(rd, &rd->ranks->items[at], false);
		return;
	}
	at = new_rank(rd, rank);
	if (main != UINT32_MAX)
		ut_ranks_read_tasks(rd->ranks, rd->store, at, main, device);
	add_calls(rd, &rd->ranks->items[at], true);
	find_range(&rd->ranks->items[at]);
}

static int by_number(const void *a, const void *b)
{
	const int32_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

void ut_ranks_add_colls(struct ut_ranks *r, const struct ut_store *store, size_t from)
{
	const struct ut_trace *t = &store->trace;
	struct reader rd = { .ranks = r, .store = store };
	int32_t *ranks = ut_make((t->process_count + 1) * sizeof(*ranks));

	if (look_at_types(&rd)) {
		for (uint32_t i = 0; i < t->process_count; i++)
			ranks[i] = t->processes[i].rank;
		ut_sort(ranks, t->process_count, sizeof(*ranks), by_number);
		for (uint32_t i = 0; i < t->process_count; i++) {
			if (!i || ranks[i] != ranks[i - 1])
				read_rank(&rd, ranks[i], from);
		}
	}
	free(ranks);
	free(rd.types);
	free(rd.found);
	free(rd.params);
	free(rd.busy);
}

uint64_t ut_rank_came(const struct ut_rank *r, uint32_t call)
{
	size_t lo = 0, hi = r->coll_count;

	while (lo < hi) {
		size_t mid = (lo + hi) / 2;

		if (r->colls[mid].call < call)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < r->coll_count && r->colls[lo].call == call ? r->colls[lo].came
							       : r->calls[call].begin;
}
