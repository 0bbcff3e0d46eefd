/* comm.c - see comm.h. */
#include "backend/mpi/comm.h"

#include <string.h>

#include "backend/mpi/channel.h"

static struct ut_handle_table tables[3];
static _Atomic uint64_t last_comm;

static const void *as_pointer(ut_mpi_word handle)
{
	return (const void *)handle;
}

#define AT(variable) ((ut_mpi_word)(void *)&(variable))

/* ---- members ------------------------------------------------------------------------------- */

/* The ranks in the world of all in the group, as far as they have one. Frees the group. */
static void read_members(struct ut_mpi_group *g, ut_mpi_word group)
{
	int32_t count = 0, *ranks, *world;
	bool same = true;

	ut_mpi.ask.Group_size(group, AT(count));
	g->peers = count;
	g->members = ut_mpi_mix((uint64_t)count, 0);
	g->world = NULL;
	ranks = count > 0 ? ut_guest_alloc(2 * (size_t)count * sizeof(*ranks)) : NULL;
	if (ranks) {
		world = ranks + count;
		for (int32_t i = 0; i < count; i++)
			ranks[i] = i;
		ut_mpi.ask.Group_translate_ranks(group, (ut_mpi_word)count, (ut_mpi_word)ranks,
						 ut_mpi.world_group, (ut_mpi_word)world);
		for (int32_t i = 0; i < count; i++) {
			world[i] = world[i] >= 0 && world[i] < ut_mpi.size ? world[i] : -1;
			same = same && world[i] == i;
			g->members = ut_mpi_mix(g->members, (uint32_t)world[i]);
		}
		g->world = same ? NULL : world;
	}
	ut_mpi.ask.Group_free(AT(group));
}

static void read_comm(struct ut_mpi_group *g, ut_mpi_word comm)
{
	ut_mpi_word group = 0;
	int32_t inter = 0;
	uint64_t ours;

	ut_mpi.ask.Comm_rank(comm, AT(g->rank));
	ut_mpi.ask.Comm_size(comm, AT(g->size));
	ut_mpi.ask.Comm_test_inter(comm, AT(inter));
	g->inter = inter;
	ut_mpi.ask.Comm_group(comm, AT(group));
	read_members(g, group);
	if (!inter)
		return;
	/* Those on the other side call us "the other side": the name must not depend on it. */
	ours = g->members;
	ut_mpi.ask.Comm_remote_group(comm, AT(group));
	read_members(g, group);
	g->members = ours ^ g->members;
}

static void read_group(struct ut_mpi_group *g, enum ut_mpi_group_kind kind, ut_mpi_word handle)
{
	ut_mpi_word group = 0;

	if (kind == UT_MPI_COMM) {
		read_comm(g, handle);
		return;
	}
	if (kind == UT_MPI_WIN)
		ut_mpi.ask.Win_get_group(handle, AT(group));
	else
		ut_mpi.ask.File_get_group(handle, AT(group));
	ut_mpi.ask.Group_rank(group, AT(g->rank));
	read_members(g, group);
	g->size = g->peers;
}

void ut_mpi_groups_init(void)
{
	for (size_t i = 0; i < 3; i++)
		tables[i].size = sizeof(struct ut_mpi_group);
}

int32_t ut_mpi_world_rank(const struct ut_mpi_group *g, int32_t rank)
{
	if (rank < 0 || rank >= g->peers)
		return -1;
	return g->world ? g->world[rank] : rank;
}

/* ---- names --------------------------------------------------------------------------------- */

static uint32_t hex_name(const char *what, uint64_t id)
{
	char text[32];
	size_t len = strlen(what);

	memcpy(text, what, len);
	for (int digit = 11; digit >= 0; digit--)
		text[len++] = "0123456789abcdef"[id >> 4 * digit & 15];
	return ut_mpi.host->name(text, len);
}

static void set_name(struct ut_mpi_group *g, enum ut_mpi_group_kind kind, ut_mpi_word handle)
{
	static const char world[] = "MPI_COMM_WORLD";

	if (kind == UT_MPI_COMM && handle == ut_mpi_abi.world) {
		g->text = ut_mpi.host->name(world, sizeof(world) - 1);
		g->key = ut_mpi.key.comm;
	} else if (kind == UT_MPI_COMM) {
		g->text = hex_name("comm ", g->id);
		g->key = ut_mpi.key.comm;
	} else if (kind == UT_MPI_WIN) {
		g->text = hex_name("win ", g->id);
		g->key = ut_mpi.key.win;
	} else {
		g->text = hex_name("file ", g->id);
		g->key = ut_mpi.key.file;
	}
}

/* ---- the table ----------------------------------------------------------------------------- */

/* Empty, under its handle. What was there before has ended, or the program is wrong. */
static struct ut_mpi_group *fresh(enum ut_mpi_group_kind kind, ut_mpi_word handle)
{
	struct ut_mpi_group *g = ut_handle_item_of(&tables[kind], as_pointer(handle));

	if (!g)
		return NULL;
	g->in = g->out = -1;
	g->in_text = g->out_text = 0;
	atomic_store(&g->calls, 0);
	ut_mpi_match_reset(&g->queue);
	g->queue.comm = atomic_fetch_add(&last_comm, 1) + 1;
	g->queue.shared = ut_mpi.threads;
	return g;
}

struct ut_mpi_group *ut_mpi_group_made(enum ut_mpi_group_kind kind, ut_mpi_word handle,
				       const struct ut_mpi_group *parent, uint64_t call)
{
	struct ut_mpi_group *g = fresh(kind, handle);

	if (!g)
		return NULL;
	read_group(g, kind, handle);
	g->id = ut_mpi_mix(ut_mpi_mix(parent ? parent->id : ut_mpi.job, call), g->members);
	set_name(g, kind, handle);
	return g;
}

struct ut_mpi_group *ut_mpi_group_copied(ut_mpi_word handle, const struct ut_mpi_group *parent,
					 uint64_t call)
{
	struct ut_mpi_group *g = fresh(UT_MPI_COMM, handle);

	if (!g)
		return NULL;
	g->rank = parent->rank;
	g->size = parent->size;
	g->peers = parent->peers;
	g->inter = parent->inter;
	g->world = parent->world;
	g->members = parent->members;
	g->id = ut_mpi_mix(ut_mpi_mix(parent->id, call), g->members);
	set_name(g, UT_MPI_COMM, handle);
	return g;
}

/* One that was made where we did not see it, such as the world, is known by its members. */
struct ut_mpi_group *ut_mpi_group(enum ut_mpi_group_kind kind, ut_mpi_word handle)
{
	struct ut_mpi_group *g = ut_handle_find(&tables[kind], as_pointer(handle));

	if (UT_LIKELY(g && g->id))
		return g;
	return ut_mpi_group_made(kind, handle, NULL, 0);
}

void ut_mpi_group_gone(enum ut_mpi_group_kind kind, ut_mpi_word handle)
{
	struct ut_mpi_group *g = ut_handle_find(&tables[kind], as_pointer(handle));

	if (g)
		g->id = 0;
}

/* ---- lists of ranks ------------------------------------------------------------------------ */

#define MOST_LISTED 256

/* Ranks of the world as a text, each once, in order. Reorders them; those below 0 are nobody. */
static uint32_t list_text(int32_t *ranks, int32_t count)
{
	char text[MOST_LISTED * 11], digits[11];
	size_t len = 0;

	for (int32_t i = 1; i < count; i++) {
		int32_t r = ranks[i], k = i;

		for (; k && ranks[k - 1] > r; k--)
			ranks[k] = ranks[k - 1];
		ranks[k] = r;
	}
	for (int32_t i = 0; i < count; i++) {
		size_t n = sizeof(digits);

		if (ranks[i] < 0 || (i && ranks[i] == ranks[i - 1]))
			continue;
		for (int32_t r = ranks[i]; n == sizeof(digits) || r; r /= 10)
			digits[--n] = (char)('0' + r % 10);
		if (len)
			text[len++] = ',';
		memcpy(text + len, digits + n, sizeof(digits) - n);
		len += sizeof(digits) - n;
	}
	return len ? ut_mpi.host->name(text, len) : 0;
}

uint32_t ut_mpi_group_text(ut_mpi_word group)
{
	int32_t count = 0, ranks[MOST_LISTED], world[MOST_LISTED];

	ut_mpi.ask.Group_size(group, AT(count));
	if (count <= 0 || count > MOST_LISTED)
		return 0;
	for (int32_t i = 0; i < count; i++)
		ranks[i] = i;
	ut_mpi.ask.Group_translate_ranks(group, (ut_mpi_word)count, (ut_mpi_word)ranks,
					 ut_mpi.world_group, (ut_mpi_word)world);
	return list_text(world, count);
}

/* ---- neighbours ---------------------------------------------------------------------------- */

static void count_neighbours(struct ut_mpi_group *g, int32_t kind)
{
	const ut_mpi_word comm = (ut_mpi_word)g->item.handle;
	int32_t dimensions = 0, weighted;

	if (kind == ut_mpi_abi.cart) {
		ut_mpi.ask.Cartdim_get(comm, AT(dimensions));
		g->in = g->out = 2 * dimensions;
	} else if (kind == ut_mpi_abi.graph) {
		ut_mpi.ask.Graph_neighbors_count(comm, (ut_mpi_word)g->rank, AT(g->in));
		g->out = g->in;
	} else if (kind == ut_mpi_abi.dist_graph) {
		ut_mpi.ask.Dist_graph_neighbors_count(comm, AT(g->in), AT(g->out), AT(weighted));
	}
}

static void list_neighbours(struct ut_mpi_group *g, int32_t kind)
{
	const ut_mpi_word comm = (ut_mpi_word)g->item.handle;
	int32_t in[MOST_LISTED], out[MOST_LISTED], weights[2][MOST_LISTED];

	if (g->in < 0 || g->in > MOST_LISTED || g->out < 0 || g->out > MOST_LISTED)
		return;
	memset(in, -1, sizeof(in)); /* what a call that fails leaves is no rank */
	memset(out, -1, sizeof(out));
	if (kind == ut_mpi_abi.cart) {
		for (int32_t i = 0; i < g->in / 2; i++)
			ut_mpi.ask.Cart_shift(comm, (ut_mpi_word)i, 1, AT(in[2 * i]),
					      AT(in[2 * i + 1]));
		memcpy(out, in, sizeof(out));
	} else if (kind == ut_mpi_abi.graph) {
		ut_mpi.ask.Graph_neighbors(comm, (ut_mpi_word)g->rank, (ut_mpi_word)g->in,
					   AT(in[0]));
		memcpy(out, in, sizeof(out));
	} else if (kind == ut_mpi_abi.dist_graph) {
		ut_mpi.ask.Dist_graph_neighbors(comm, (ut_mpi_word)g->in, AT(in[0]),
						AT(weights[0][0]), (ut_mpi_word)g->out, AT(out[0]),
						AT(weights[1][0]));
	} else {
		return;
	}
	for (int32_t i = 0; i < g->in; i++)
		in[i] = ut_mpi_world_rank(g, in[i]);
	for (int32_t i = 0; i < g->out; i++)
		out[i] = ut_mpi_world_rank(g, out[i]);
	g->in_text = list_text(in, g->in);
	g->out_text = list_text(out, g->out);
}

static void read_neighbours(struct ut_mpi_group *g)
{
	int32_t kind = 0;

	g->in = g->out = 0;
	ut_mpi.ask.Topo_test((ut_mpi_word)g->item.handle, AT(kind));
	count_neighbours(g, kind);
	list_neighbours(g, kind);
}

int32_t ut_mpi_neighbours(struct ut_mpi_group *g, bool out)
{
	if (g->in < 0)
		read_neighbours(g);
	return out ? g->out : g->in;
}

uint32_t ut_mpi_neighbours_text(struct ut_mpi_group *g, bool out)
{
	return out ? g->out_text : g->in_text;
}
