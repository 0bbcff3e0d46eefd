/* rank_use.c - see rank_use.h. */
#include "ranks/rank_use.h"

#include <string.h>

struct use {
	const char *name; /* without MPI_ */
	enum ut_rank_use use;
};

static const struct use uses[] = {
	{ "Send", UT_RANK_SEND },
	{ "Bsend", UT_RANK_SEND },
	{ "Ssend", UT_RANK_SEND },
	{ "Rsend", UT_RANK_SEND },
	{ "Recv", UT_RANK_RECEIVE },
	{ "Mrecv", UT_RANK_RECEIVE },
	{ "Probe", UT_RANK_RECEIVE },
	{ "Mprobe", UT_RANK_RECEIVE },
	{ "Sendrecv", UT_RANK_EXCHANGE },
	{ "Sendrecv_replace", UT_RANK_EXCHANGE },
	{ "Isend", UT_RANK_POST },
	{ "Ibsend", UT_RANK_POST },
	{ "Issend", UT_RANK_POST },
	{ "Irsend", UT_RANK_POST },
	{ "Irecv", UT_RANK_POST },
	{ "Imrecv", UT_RANK_POST },
	{ "Isendrecv", UT_RANK_POST },
	{ "Isendrecv_replace", UT_RANK_POST },
	{ "Start", UT_RANK_POST },
	{ "Startall", UT_RANK_POST },
	{ "Pready", UT_RANK_POST },
	{ "Pready_range", UT_RANK_POST },
	{ "Pready_list", UT_RANK_POST },
	{ "Wait", UT_RANK_WAIT },
	{ "Waitall", UT_RANK_WAIT },
	{ "Waitany", UT_RANK_WAIT },
	{ "Waitsome", UT_RANK_WAIT },
	{ "Test", UT_RANK_WAIT },
	{ "Testall", UT_RANK_WAIT },
	{ "Testany", UT_RANK_WAIT },
	{ "Testsome", UT_RANK_WAIT },
	{ "Iprobe", UT_RANK_WAIT },
	{ "Improbe", UT_RANK_WAIT },
	{ "Parrived", UT_RANK_WAIT },
	{ "Request_get_status", UT_RANK_WAIT },
	{ "Request_get_status_all", UT_RANK_WAIT },
	{ "Request_get_status_any", UT_RANK_WAIT },
	{ "Request_get_status_some", UT_RANK_WAIT },
	{ "Bcast", UT_RANK_FROM_ROOT },
	{ "Scatter", UT_RANK_FROM_ROOT },
	{ "Scatterv", UT_RANK_FROM_ROOT },
	{ "Reduce", UT_RANK_TO_ROOT },
	{ "Gather", UT_RANK_TO_ROOT },
	{ "Gatherv", UT_RANK_TO_ROOT },
	{ "Scan", UT_RANK_SCAN },
	{ "Exscan", UT_RANK_SCAN },
	{ "Barrier", UT_RANK_ALL },
	{ "Allreduce", UT_RANK_ALL },
	{ "Allgather", UT_RANK_ALL },
	{ "Allgatherv", UT_RANK_ALL },
	{ "Alltoall", UT_RANK_ALL },
	{ "Alltoallv", UT_RANK_ALL },
	{ "Alltoallw", UT_RANK_ALL },
	{ "Reduce_scatter", UT_RANK_ALL },
	{ "Reduce_scatter_block", UT_RANK_ALL },
	{ "Comm_dup", UT_RANK_ALL },
	{ "Comm_dup_with_info", UT_RANK_ALL },
	{ "Comm_create", UT_RANK_ALL },
	{ "Comm_split", UT_RANK_ALL },
	{ "Comm_split_type", UT_RANK_ALL },
	{ "Intercomm_merge", UT_RANK_ALL },
	{ "Cart_create", UT_RANK_ALL },
	{ "Cart_sub", UT_RANK_ALL },
	{ "Graph_create", UT_RANK_ALL },
	{ "Dist_graph_create", UT_RANK_ALL },
	{ "Dist_graph_create_adjacent", UT_RANK_ALL },
	{ "Comm_disconnect", UT_RANK_ALL },
	{ "Comm_spawn", UT_RANK_ALL },
	{ "Comm_spawn_multiple", UT_RANK_ALL },
	{ "Comm_accept", UT_RANK_ALL },
	{ "Comm_connect", UT_RANK_ALL },
	{ "Win_create", UT_RANK_ALL },
	{ "Win_allocate", UT_RANK_ALL },
	{ "Win_allocate_shared", UT_RANK_ALL },
	{ "Win_create_dynamic", UT_RANK_ALL },
	{ "Win_free", UT_RANK_ALL },
	{ "Win_fence", UT_RANK_ALL },
	{ "Internal::Idle", UT_RANK_IDLE },
	{ "Init", UT_RANK_INIT },
	{ "Init_thread", UT_RANK_INIT },
	{ "Finalize", UT_RANK_FINALIZE },
};

/* What takes part in memory of others, and what touches files, by how their names begin. */
static const struct use starts[] = {
	{ "Win_", UT_RANK_ONE_SIDED },
	{ "Put", UT_RANK_ONE_SIDED },
	{ "Get", UT_RANK_ONE_SIDED },
	{ "Rput", UT_RANK_ONE_SIDED },
	{ "Rget", UT_RANK_ONE_SIDED },
	{ "Accumulate", UT_RANK_ONE_SIDED },
	{ "Raccumulate", UT_RANK_ONE_SIDED },
	{ "Fetch_and_op", UT_RANK_ONE_SIDED },
	{ "Compare_and_swap", UT_RANK_ONE_SIDED },
	{ "File_", UT_RANK_FILE },
	{ "Neighbor_", UT_RANK_NEIGHBOURS },
};

static const struct {
	const char *name;
	enum ut_rank_epoch epoch;
} epochs[] = {
	{ "Win_post", UT_RANK_EPOCH_POST },         { "Win_start", UT_RANK_EPOCH_START },
	{ "Win_complete", UT_RANK_EPOCH_COMPLETE }, { "Win_wait", UT_RANK_EPOCH_WAIT },
	{ "Win_test", UT_RANK_EPOCH_WAIT },         { "Win_lock", UT_RANK_EPOCH_LOCK },
	{ "Win_unlock", UT_RANK_EPOCH_UNLOCK },     { "Win_flush", UT_RANK_EPOCH_FLUSH },
	{ "Win_lock_all", UT_RANK_EPOCH_LOCK },     { "Win_unlock_all", UT_RANK_EPOCH_UNLOCK },
	{ "Win_flush_local", UT_RANK_EPOCH_FLUSH },
};

static enum ut_rank_use rank_use_listed(struct ut_str name)
{
	for (size_t i = 0; i < sizeof(uses) / sizeof(*uses); i++) {
		if (ut_str_is(name, uses[i].name))
			return uses[i].use;
	}
	return UT_RANK_OTHER;
}

static struct ut_str bare(struct ut_str name)
{
	if (ut_str_has_start(name, "MPI_"))
		name = (struct ut_str){ name.ptr + 4, name.len - 4 };
	if (ut_str_has_end(name, "_c"))
		name.len -= 2;
	return name;
}

enum ut_rank_epoch ut_rank_epoch_of(struct ut_str name)
{
	name = bare(name);
	for (size_t i = 0; i < sizeof(epochs) / sizeof(*epochs); i++) {
		if (ut_str_is(name, epochs[i].name))
			return epochs[i].epoch;
	}
	return UT_RANK_NO_EPOCH;
}

bool ut_rank_meets_loosely(struct ut_str name)
{
	static const char *const whole[] = { "open",     "close",         "set_size",
					     "set_view", "set_atomicity", "set_info",
					     "sync",     "preallocate",   "seek_shared" };
	static const char *const ends[] = { "_all", "_all_begin", "_ordered", "_ordered_begin" };

	name = bare(name);
	if (ut_str_is(name, "Finalize") || ut_str_has_start(name, "Comm_idup"))
		return true;
	if (!ut_str_has_start(name, "File_"))
		return false;
	name = (struct ut_str){ name.ptr + 5, name.len - 5 };
	for (size_t i = 0; i < sizeof(whole) / sizeof(*whole); i++) {
		if (ut_str_is(name, whole[i]))
			return true;
	}
	for (size_t i = 0; i < sizeof(ends) / sizeof(*ends); i++) {
		if (ut_str_has_end(name, ends[i]))
			return true;
	}
	return false;
}

bool ut_rank_is_poll(struct ut_str name)
{
	static const char *const polls[] = { "Test",   "Testany", "Testall",  "Testsome",
					     "Iprobe", "Improbe", "Parrived", "Win_test" };

	name = bare(name);
	for (size_t i = 0; i < sizeof(polls) / sizeof(*polls); i++) {
		if (ut_str_is(name, polls[i]))
			return true;
	}
	return ut_str_has_start(name, "Request_get_status");
}

/* "Allreduce" of "Iallreduce", in room; empty if it is no such name. */
static struct ut_str begun(struct ut_str name, char room[64])
{
	if (name.len < 2 || name.len >= 64 || name.ptr[0] != 'I' || name.ptr[1] < 'a' ||
	    name.ptr[1] > 'z')
		return (struct ut_str){ "", 0 };
	memcpy(room, name.ptr + 1, name.len - 1);
	room[0] = (char)(room[0] - 'a' + 'A');
	return (struct ut_str){ room, name.len - 1 };
}

enum ut_rank_use ut_rank_meets(struct ut_str name)
{
	enum ut_rank_use use;
	char room[64];

	name = bare(name);
	if (ut_str_has_end(name, "_init"))
		name.len -= 5;
	use = rank_use_listed(name);
	if (use == UT_RANK_OTHER)
		use = rank_use_listed(begun(name, room));
	return ut_rank_is_collective((uint8_t)use) ? use : UT_RANK_OTHER;
}

/*
 * What has no counts of its own for each pair of ranks: with those some may get nothing from some,
 * and not wait for them.
 */
bool ut_rank_is_firm(struct ut_str name, bool moves)
{
	static const char *const all[] = { "Allreduce", "Allgather",      "Alltoall",
					   "Bcast",     "Reduce",         "Gather",
					   "Scatter",   "Reduce_scatter", "Reduce_scatter_block" };
	static const char *const always[] = { "Barrier", "Comm_dup", "Comm_split" };
	struct ut_str base = bare(name);
	char room[64];

	if (ut_str_has_end(base, "_init"))
		base.len -= 5;
	if (rank_use_listed(base) == UT_RANK_OTHER)
		base = begun(base, room);
	for (size_t i = 0; i < sizeof(always) / sizeof(*always); i++) {
		if (ut_str_is(base, always[i]))
			return true;
	}
	for (size_t i = 0; moves && i < sizeof(all) / sizeof(*all); i++) {
		if (ut_str_is(base, all[i]))
			return true;
	}
	return false;
}

enum ut_rank_use ut_rank_use_of(struct ut_str name)
{
	struct ut_str base = bare(name), collective;
	enum ut_rank_use use = rank_use_listed(base);
	char room[64];

	if (use != UT_RANK_OTHER)
		return use;
	collective = begun(base, room);
	if (rank_use_listed(collective) != UT_RANK_OTHER ||
	    ut_str_has_start(collective, "Neighbor_") || ut_str_has_start(base, "Comm_idup"))
		return UT_RANK_POST;
	for (size_t i = 0; i < sizeof(starts) / sizeof(*starts); i++) {
		if (ut_str_has_start(base, starts[i].name))
			return starts[i].use;
	}
	return UT_RANK_OTHER;
}

enum ut_rank_use ut_rank_meets_of(struct ut_str name)
{
	return ut_rank_meets_loosely(name) ? UT_RANK_ALL : ut_rank_meets(name);
}
