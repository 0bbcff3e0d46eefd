/* collective.c - calls that all of a communicator make, and what is made by them. */
#include "backend/mpi/facts.h"
#include "backend/mpi/kinds.h"
#include "backend/mpi/request.h"

#define MOST_PATH 200u

/* ---- the call ------------------------------------------------------------------------------ */

void ut_mpi_collective(struct ut_mpi_call *c, enum ut_mpi_group_kind kind, ut_mpi_word handle)
{
	c->group = ut_mpi_group(kind, handle);
	if (!c->group)
		return;
	c->seq = atomic_fetch_add_explicit(&c->group->calls, 1, memory_order_relaxed);
	ut_mpi_fact_group(c, c->group);
	ut_mpi_fact_int(c, ut_mpi.key.seq, (int64_t)c->seq);
}

void ut_mpi_root(struct ut_mpi_call *c, int32_t root)
{
	int32_t world = c->group ? ut_mpi_world_rank(c->group, root) : -1;

	/* Between two groups the side of the root has no rank for it, but it knows its own. */
	if (c->group && c->group->inter && root == ut_mpi_abi.root)
		world = ut_mpi.rank;
	if (world >= 0)
		ut_mpi_fact_int(c, ut_mpi.key.root, world);
}

void ut_mpi_collected(struct ut_mpi_call *c, int64_t sent, int64_t received)
{
	if (sent)
		ut_mpi_fact_int(c, ut_mpi.key.bytes, sent);
	if (received)
		ut_mpi_fact_int(c, ut_mpi.key.received, received);
	if (c->neighbours)
		ut_mpi_neighbour_facts(c, c->group, true);
}

void ut_mpi_collective_asked(struct ut_mpi_call *c, ut_mpi_word request)
{
	const struct ut_mpi_op op = {
		.kind = UT_MPI_OP_COLLECTIVE,
		.neighbours = c->neighbours,
		.call = c->id,
		.group = c->group,
		.number = c->seq,
	};

	if (c->group)
		ut_mpi_request_new(request, &op);
}

void ut_mpi_prepare_collective(struct ut_mpi_call *c, ut_mpi_word comm)
{
	c->group = ut_mpi_comm(comm);
	if (c->group)
		ut_mpi_fact_group(c, c->group);
}

void ut_mpi_collective_prepared(struct ut_mpi_call *c, int64_t sent, int64_t received,
				ut_mpi_word request)
{
	const struct ut_mpi_op op = { .kind = UT_MPI_OP_COLLECTIVE,
				      .persistent = true,
				      .neighbours = c->neighbours,
				      .call = c->id,
				      .group = c->group,
				      .bytes = sent,
				      .received = received };

	if (c->group)
		ut_mpi_request_new(request, &op);
}

/* ---- bytes --------------------------------------------------------------------------------- */

bool ut_mpi_at_root(const struct ut_mpi_group *g, int32_t root)
{
	return g && (g->inter ? root == ut_mpi_abi.root : root == g->rank);
}

bool ut_mpi_with_root(const struct ut_mpi_group *g, int32_t root)
{
	return g && (!g->inter || (root != ut_mpi_abi.root && root != ut_mpi_abi.proc_null));
}

static int64_t count_at(struct ut_mpi_counts counts, size_t i)
{
	int64_t wide;

	if (!counts.wide)
		return ut_mpi_int_at(counts.array, i);
	memcpy(&wide, (const char *)counts.array + i * sizeof(wide), sizeof(wide));
	return wide;
}

int64_t ut_mpi_array_bytes(struct ut_mpi_counts counts, int32_t n, ut_mpi_word type)
{
	int64_t sum = 0;

	for (int32_t i = 0; counts.array && i < n; i++)
		sum += count_at(counts, (size_t)i);
	return ut_mpi_bytes(sum, type);
}

int64_t ut_mpi_types_bytes(struct ut_mpi_counts counts, int32_t n, ut_mpi_word types)
{
	int64_t sum = 0;

	/* A type may be none where nothing is moved: ut_mpi_bytes() asks for no type then. */
	for (int32_t i = 0; counts.array && i < n; i++)
		sum += ut_mpi_bytes(count_at(counts, (size_t)i),
				    ut_mpi_handle_at(types, (size_t)i));
	return sum;
}

int64_t ut_mpi_own_bytes(const struct ut_mpi_group *g, struct ut_mpi_counts counts,
			 ut_mpi_word type)
{
	return g && counts.array ? ut_mpi_bytes(count_at(counts, (size_t)g->rank), type) : 0;
}

/* ---- what is made -------------------------------------------------------------------------- */

/* A rank that is in none of the new ones gets MPI_COMM_NULL, which nothing may be asked about. */
static bool is_null(enum ut_mpi_group_kind kind, ut_mpi_word handle)
{
	const ut_mpi_word nulls[] = { ut_mpi_abi.null_comm, ut_mpi_abi.null_win,
				      ut_mpi_abi.null_file };

	return handle == nulls[kind];
}

static void send_made(struct ut_mpi_call *c, const struct ut_mpi_group *g)
{
	if (!g)
		return;
	ut_mpi_fact(c, ut_mpi.key.made, UT_VALUE_NAME, g->text);
	ut_mpi_fact_int(c, ut_mpi.key.size, g->size);
}

void ut_mpi_made_on(struct ut_mpi_call *c, enum ut_mpi_group_kind kind, ut_mpi_word handle)
{
	if (c->group && !is_null(kind, handle))
		send_made(c, ut_mpi_group_made(kind, handle, c->group, c->seq));
}

void ut_mpi_made(struct ut_mpi_call *c, ut_mpi_word handle)
{
	ut_mpi_made_on(c, UT_MPI_COMM, handle);
}

void ut_mpi_copied(struct ut_mpi_call *c, ut_mpi_word handle)
{
	if (c->group && !is_null(UT_MPI_COMM, handle))
		send_made(c, ut_mpi_group_copied(handle, c->group, c->seq));
}

/*
 * Not all of the parent take part, so its calls may not be counted: those that do count how often
 * they have met with this tag.
 */
void ut_mpi_made_by_members(struct ut_mpi_call *c, ut_mpi_word parent, int32_t tag,
			    ut_mpi_word handle)
{
	const struct ut_mpi_group *from = parent ? ut_mpi_comm(parent) : NULL;
	struct ut_mpi_group *g;
	uint64_t call;

	if (is_null(UT_MPI_COMM, handle))
		return;
	g = ut_mpi_group_made(UT_MPI_COMM, handle, from, 0);
	if (!g)
		return;
	call = ut_mpi_channel_next(ut_mpi_channel(g->id, 0, tag, UT_MPI_COUNT_MADE));
	g = ut_mpi_group_made(UT_MPI_COMM, handle, from,
			      ut_mpi_mix((uint32_t)tag, call + 1) | UINT64_C(1) << 63);
	send_made(c, g);
}

void ut_mpi_opened(struct ut_mpi_call *c, ut_mpi_word handle, const char *path)
{
	ut_mpi_made_on(c, UT_MPI_FILE, handle);
	if (path)
		ut_mpi_fact(c, ut_mpi.key.path, UT_VALUE_NAME,
			    ut_mpi.host->name(path, strnlen(path, MOST_PATH)));
}

/* ---- windows --------------------------------------------------------------------- */

void ut_mpi_about_win(struct ut_mpi_call *c, ut_mpi_word win)
{
	struct ut_mpi_group *g = ut_mpi_group(UT_MPI_WIN, win);

	if (g)
		ut_mpi_fact_group(c, g);
}

void ut_mpi_target(struct ut_mpi_call *c, ut_mpi_word win, int32_t rank)
{
	struct ut_mpi_group *g = ut_mpi_group(UT_MPI_WIN, win);

	if (!g || rank == ut_mpi_abi.proc_null)
		return;
	ut_mpi_fact_int(c, ut_mpi.key.target, ut_mpi_world_rank(g, rank));
	ut_mpi_fact_group(c, g);
}

void ut_mpi_moved(struct ut_mpi_call *c, ut_mpi_word win, int32_t rank, int64_t sent,
		  int64_t received)
{
	ut_mpi_target(c, win, rank);
	if (c->fact_count)
		ut_mpi_collected(c, sent, received);
}

void ut_mpi_moved_later(struct ut_mpi_call *c, ut_mpi_word win, int32_t rank, ut_mpi_word request)
{
	const struct ut_mpi_op op = { .kind = UT_MPI_OP_ONE_SIDED,
				      .call = c->id,
				      .peer = rank,
				      .group = ut_mpi_group(UT_MPI_WIN, win) };

	if (op.group && rank != ut_mpi_abi.proc_null)
		ut_mpi_request_new(request, &op);
}

void ut_mpi_with_group(struct ut_mpi_call *c, ut_mpi_word group)
{
	ut_mpi_fact_name(c, ut_mpi.key.ranks, ut_mpi_group_text(group));
}

void ut_mpi_locked(struct ut_mpi_call *c, int32_t type)
{
	ut_mpi_fact(c, ut_mpi.key.lock, UT_VALUE_NAME,
		    type == ut_mpi_abi.exclusive ? ut_mpi.exclusive : ut_mpi.shared);
}

void ut_mpi_file_asked(struct ut_mpi_call *c, ut_mpi_word file, ut_mpi_word request)
{
	const struct ut_mpi_op op = {
		.kind = UT_MPI_OP_FILE,
		.call = c->id,
		.group = c->group ? c->group : ut_mpi_group(UT_MPI_FILE, file),
		.number = c->group ? c->seq + 1 : 0,
	};

	if (op.group)
		ut_mpi_request_new(request, &op);
}

/* ---- neighbours ---------------------------------------------------------------------------- */

int32_t ut_mpi_neighbours_of(struct ut_mpi_call *c, bool out)
{
	c->neighbours = true;
	return ut_mpi_neighbours(c->group, out);
}

void ut_mpi_neighbour_facts(struct ut_mpi_call *c, struct ut_mpi_group *g, bool sends)
{
	ut_mpi_fact_name(c, ut_mpi.key.sources, ut_mpi_neighbours_text(g, false));
	if (sends)
		ut_mpi_fact_name(c, ut_mpi.key.destinations, ut_mpi_neighbours_text(g, true));
}

/* ---- files --------------------------------------------------------------------------------- */

void ut_mpi_file(struct ut_mpi_call *c, ut_mpi_word file, int64_t written, int64_t read)
{
	struct ut_mpi_group *g = c->group ? c->group : ut_mpi_group(UT_MPI_FILE, file);

	if (g && g != c->group)
		ut_mpi_fact_group(c, g);
	if (written)
		ut_mpi_fact_int(c, ut_mpi.key.bytes, written);
	else
		ut_mpi_fact_int(c, ut_mpi.key.received, read);
}
