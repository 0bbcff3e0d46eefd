/*
 * ranks_coll_read.c - collective operations of other libraries than MPI, from what traces have of
 * them: kernels of NCCL, also in files of torch.profiler, which says their sizes; operations of
 * gloo there and in our recordings; what our NCCL plugin has recorded; tasks of oneCCL.
 *
 * Such an operation runs beside the program, so what else was going on decides how much of it
 * counts: on a device other kernels, on the host what the main thread does. Where NCCL's plugin
 * was, kernels of NCCL are not looked at: it knows more about the same thing.
 */
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/sort.h"
#include "model/classify.h"
#include "ranks/coll_kind.h"
#include "ranks/ranks_coll_parts.h"
#include "ranks/ranks_sum.h"

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

struct ut_coll_row_type {
	uint8_t kind, coll; /* enum ut_coll_kind */
	bool open;          /* it has not ended */
	bool beside;        /* on a thread that does nothing else for the program */
	const char *library;
};

static const char *const key_texts[] = {
#define KEY(key, text) text,
	UT_COLL_KEY_LIST(KEY)
#undef KEY
};

/* ---- what there is ------------------------------------------------------------------------- */

static struct ut_coll_row_type plain_type(const struct ut_trace *t, const struct ut_type *type)
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
		return (struct ut_coll_row_type){ .kind = ROW_ON_HOST,
						  .coll = (uint8_t)coll,
						  .beside = beside,
						  .library = library };
	/* oneCCL's call is over when the operation has begun; it goes on in an event. */
	if (ut_str_is(name, "oneCCL::COLL"))
		return (struct ut_coll_row_type){ .kind = ROW_REST };
	if (ut_str_is(name, "record_param_comms"))
		return (struct ut_coll_row_type){ .kind = ROW_PARAMS };
	if (ut_str_has_start(name, "nccl:") || ut_rank_is_library(cat, name))
		return (struct ut_coll_row_type){ 0 };
	return (struct ut_coll_row_type){ .kind = ROW_TASK };
}

static struct ut_coll_row_type ranks_coll_read_type_of(const struct ut_trace *trace,
						       const struct ut_type *t)
{
	struct ut_category c;
	enum ut_coll_kind coll = UT_COLL_NONE;

	if (t->kind != UT_KIND_SPAN || t->flags & UT_EV_NOT_WORK)
		return (struct ut_coll_row_type){ 0 };
	c = ut_classify_category(trace, t->cat);
	if (c.use == UT_CATEGORY_PLAIN)
		return plain_type(trace, t);
	if (c.use != UT_CATEGORY_WORK)
		return (struct ut_coll_row_type){ 0 };
	if (ut_coll_is_nccl(ut_strtab_get(&trace->strings, t->name), &coll))
		return (struct ut_coll_row_type){ .kind = ROW_ON_DEVICE,
						  .coll = (uint8_t)coll,
						  .library = "NCCL" };
	return (struct ut_coll_row_type){ .kind = c.work == UT_DEVICE_KERNEL ? ROW_COMPUTES
									     : ROW_NOTHING };
}

/* On the rows of NCCL's plugin an operation has the name that NCCL gives it. */
static struct ut_coll_row_type plugin_type(const struct ut_coll_reader *rd, uint32_t number)
{
	const struct ut_type *t = ut_store_type(rd->store, number);
	enum ut_coll_kind coll = ut_coll_called(ut_strtab_get(&rd->store->trace.strings, t->name));

	if (t->kind != UT_KIND_SPAN || !coll)
		return (struct ut_coll_row_type){ 0 };
	return (struct ut_coll_row_type){ .kind = ROW_ON_DEVICE,
					  .coll = (uint8_t)coll,
					  .open = t->flags & UT_EV_UNFINISHED,
					  .library = "NCCL" };
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
static bool look_at_types(struct ut_coll_reader *rd)
{
	const struct ut_store *s = rd->store;
	bool any = false;

	ut_rank_find_keys(&s->trace.strings, key_texts, (uint32_t *)&rd->keys,
			  sizeof(key_texts) / sizeof(*key_texts));
	rd->types = ut_make(((size_t)s->types.count + 1) * sizeof(*rd->types));
	for (uint32_t i = 0; i < s->types.count; i++) {
		rd->types[i] = ranks_coll_read_type_of(&s->trace, &s->types.items[i]);
		rd->types[i].open = s->types.items[i].flags & UT_EV_UNFINISHED;
		any = any || rd->types[i].library;
	}
	return any || has_plugin(s);
}

bool ut_ranks_any_colls(const struct ut_store *store)
{
	for (uint32_t i = 0; i < store->types.count; i++) {
		if (ranks_coll_read_type_of(&store->trace, &store->types.items[i]).library)
			return true;
	}
	return has_plugin(store);
}

/* ---- rows ---------------------------------------------------------------------------------- */

static void add_busy(struct ut_coll_reader *rd, uint64_t begin, uint64_t end)
{
	rd->busy = ut_grow(rd->busy, rd->busy_count + 1, &rd->busy_cap, sizeof(*rd->busy));
	rd->busy[rd->busy_count++] = (struct ut_coll_piece){ begin, end };
}

static struct ut_coll_found *add_found(struct ut_coll_found **list, size_t *count, size_t *cap)
{
	*list = ut_grow(*list, *count + 1, cap, sizeof(**list));
	return &(*list)[(*count)++];
}

static void ranks_coll_read_take_row(struct ut_coll_reader *rd, const struct ut_event *e,
				     struct ut_coll_row_type type)
{
	bool params = type.kind == ROW_PARAMS;
	struct ut_coll_found *f =
		params ? add_found(&rd->params, &rd->params_count, &rd->params_cap)
		       : add_found(&rd->found, &rd->found_count, &rd->found_cap);

	*f = (struct ut_coll_found){ .begin = e->ts,
				     .end = ut_event_end(e),
				     .root = -1,
				     .track = e->track,
				     .coll = type.coll,
				     .on_device = type.kind == ROW_ON_DEVICE,
				     .open = type.open,
				     .library = type.library };
	if (e->args)
		ut_coll_take_facts(rd, f, e->args);
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

static void extend(struct ut_coll_reader *rd, const struct ut_event *e, bool open)
{
	struct ut_coll_found *last = rd->found_count ? &rd->found[rd->found_count - 1] : NULL;

	if (last && last->track == e->track && ut_event_end(e) > last->end)
		last->end = ut_event_end(e);
	if (last && last->track == e->track)
		last->open = last->open || open;
}

static void read_operations(struct ut_coll_reader *rd, uint32_t track)
{
	const struct ut_trace *t = &rd->store->trace;
	const struct ut_rows *rows = &rd->store->rows[track];
	bool plugin = t->processes[t->tracks[track].process].api.api == UT_API_NCCL;

	for (size_t b = 0; b < ut_rows_blocks(rows); b++) {
		const struct ut_block *block = &rows->blocks[b];

		for (uint32_t i = 0; i < block->count; i++) {
			uint32_t number =
				block->type[i] < rd->store->types.count ? block->type[i] : 0;
			struct ut_coll_row_type type =
				plugin ? plugin_type(rd, number) : rd->types[number];
			struct ut_event e;

			if (!type.library && type.kind != ROW_PARAMS && type.kind != ROW_REST &&
			    type.kind != ROW_COMPUTES)
				continue;
			e = ut_block_event(rd->store, track, block, i);
			if (type.kind == ROW_REST)
				extend(rd, &e, type.open);
			else if (type.kind == ROW_COMPUTES)
				add_busy(rd, e.ts, ut_event_end(&e));
			else if (type.kind != ROW_ON_DEVICE || plugin || !rd->plugin)
				ranks_coll_read_take_row(rd, &e, type);
		}
	}
}

/* What the main thread does: tasks with nothing inside of them. Around a wait there may be one. */
static void read_main(struct ut_coll_reader *rd, uint32_t track)
{
	const struct ut_rows *rows = &rd->store->rows[track];
	struct ut_coll_piece last = { 0 };

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
			last = (struct ut_coll_piece){ e.ts, ut_event_end(&e) };
			if (rd->types[number].kind != ROW_TASK)
				last.end = 0;
		}
	}
	if (last.end)
		add_busy(rd, last.begin, last.end);
}

/* ---- a rank -------------------------------------------------------------------------------- */

/* Processes of one rank: its program and the devices that worked for it. */
static bool ranks_coll_read_is_of(const struct ut_trace *t, uint32_t track, int32_t rank)
{
	return t->processes[t->tracks[track].process].rank == rank;
}

/* How many rows of a kind a track has; none, if operations of others run on it. */
static uint64_t ranks_coll_read_count_rows(const struct ut_coll_reader *rd, uint32_t track,
					   enum row_kind kind)
{
	const struct ut_rows *rows = &rd->store->rows[track];
	uint64_t count = 0;

	for (size_t b = 0; b < ut_rows_blocks(rows); b++) {
		const struct ut_block *block = &rows->blocks[b];

		for (uint32_t i = 0; i < block->count; i++) {
			struct ut_coll_row_type type = { 0 };

			if (block->type[i] < rd->store->types.count)
				type = rd->types[block->type[i]];
			if (type.beside)
				return 0;
			count += type.kind == kind;
		}
	}
	return count;
}

/* Tasks are looked for on the host: what a library does for an operation has rows of its own. */
static bool may_have(const struct ut_trace *t, uint32_t track, enum row_kind kind)
{
	return kind != ROW_TASK || t->processes[t->tracks[track].process].kind != UT_PROCESS_DEVICE;
}

/* The row of the rank that has the most rows of a kind; UINT32_MAX: none has one. */
static uint32_t busiest(const struct ut_coll_reader *rd, int32_t rank, enum row_kind kind)
{
	const struct ut_trace *t = &rd->store->trace;
	uint32_t best = UINT32_MAX;
	uint64_t most = 0;

	for (uint32_t i = 0; i < t->track_count; i++) {
		uint64_t count = ranks_coll_read_is_of(t, i, rank) && may_have(t, i, kind)
					 ? ranks_coll_read_count_rows(rd, i, kind)
					 : 0;

		best = count > most ? i : best;
		most = count > most ? count : most;
	}
	return best;
}

/* The thread that the rank's program began with, if it has tasks; UINT32_MAX: it has none. */
static uint32_t first_thread(const struct ut_coll_reader *rd, int32_t rank)
{
	const struct ut_trace *t = &rd->store->trace;

	for (uint32_t i = 0; i < t->track_count; i++) {
		if (ranks_coll_read_is_of(t, i, rank) && may_have(t, i, ROW_TASK) &&
		    t->tracks[i].id == t->processes[t->tracks[i].process].pid &&
		    ranks_coll_read_count_rows(rd, i, ROW_TASK))
			return i;
	}
	return UINT32_MAX;
}

/*
 * What a rank is in: a kernel; while its device computes none, what the program's first thread
 * does; while that waits, what the busiest one does, such as that of PyTorch's backward pass.
 */
static void read_tasks(struct ut_coll_reader *rd, size_t at, int32_t rank, uint32_t host,
		       bool device)
{
	uint32_t rows[UT_RANK_ROWS] = { UINT32_MAX, UINT32_MAX, host };

	if (device) {
		rows[0] = busiest(rd, rank, ROW_COMPUTES);
		rows[1] = first_thread(rd, rank);
	}
	if (rows[1] == host)
		rows[1] = UINT32_MAX;
	ut_ranks_read_tasks(rd->ranks, rd->store, at, rows);
}

static void find_range(struct ut_rank *one, bool mpi)
{
	if (!mpi)
		one->start = UINT64_MAX;
	for (size_t i = 0; !mpi && i < one->top_count; i++) {
		one->start = one->tops[i].begin < one->start ? one->tops[i].begin : one->start;
		one->stop = one->tops[i].end > one->stop ? one->tops[i].end : one->stop;
	}
	for (size_t i = 0; i < one->coll_count; i++) {
		uint64_t end = one->calls[one->colls[i].call].end;

		one->start = one->colls[i].came < one->start ? one->colls[i].came : one->start;
		one->stop = end > one->stop ? end : one->stop;
	}
	if ((one->open_count || one->in_task || one->ended) && one->end > one->stop)
		one->stop = one->end;
}

static size_t new_rank(struct ut_coll_reader *rd, int32_t rank)
{
	const struct ut_trace *t = &rd->store->trace;
	struct ut_rank *one = ut_ranks_new(rd->ranks, rank);

	one->origin = rd->ranks->origins;
	one->realtime = t->realtime_offset;
	one->first = t->first;
	one->last = t->last;
	one->lossy = t->losses.dropped || t->losses.overwritten || t->losses.unread;
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

static bool on_device(const struct ut_coll_reader *rd)
{
	for (size_t i = 0; i < rd->found_count; i++) {
		if (rd->found[i].on_device)
			return true;
	}
	return false;
}

static void read_rank(struct ut_coll_reader *rd, int32_t rank, size_t from)
{
	const struct ut_trace *t = &rd->store->trace;
	uint32_t host;
	size_t at = from;
	bool device;

	rd->found_count = rd->params_count = rd->busy_count = 0;
	rd->plugin = false;
	for (uint32_t i = 0; i < t->process_count; i++)
		rd->plugin = rd->plugin || (t->processes[i].rank == rank &&
					    t->processes[i].api.api == UT_API_NCCL);
	for (uint32_t i = 0; i < t->track_count; i++) {
		if (ranks_coll_read_is_of(t, i, rank))
			read_operations(rd, i);
	}
	if (!rd->found_count)
		return;
	host = busiest(rd, rank, ROW_TASK);
	device = on_device(rd);
	if (!device && host != UINT32_MAX)
		read_main(rd, host);
	while (at < rd->ranks->count && rd->ranks->items[at].rank != rank)
		at++;
	if (at < rd->ranks->count) {
		ut_coll_add_calls(rd, &rd->ranks->items[at]);
		find_range(&rd->ranks->items[at], true);
		return;
	}
	at = new_rank(rd, rank);
	read_tasks(rd, at, rank, host, device);
	ut_coll_add_calls(rd, &rd->ranks->items[at]);
	find_range(&rd->ranks->items[at], false);
}

static int ranks_coll_read_by_number(const void *a, const void *b)
{
	const int32_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

void ut_ranks_add_colls(struct ut_ranks *r, const struct ut_store *store, size_t from)
{
	const struct ut_trace *t = &store->trace;
	struct ut_coll_reader rd = { .ranks = r, .store = store };
	int32_t *ranks = ut_make((t->process_count + 1) * sizeof(*ranks));

	if (look_at_types(&rd)) {
		for (uint32_t i = 0; i < t->process_count; i++)
			ranks[i] = t->processes[i].rank;
		ut_sort(ranks, t->process_count, sizeof(*ranks), ranks_coll_read_by_number);
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
