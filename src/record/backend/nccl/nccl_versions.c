/*
 * nccl_versions.c - what NCCL calls: five versions of one interface, each a thin translation.
 *
 * Nothing here fails. Events that nobody wants get no handle, and NCCL does not ask about them
 * again.
 */
#include <string.h>
#include <unistd.h>

#include "backend/nccl/nccl.h"
#include "backend/nccl/nccl_abi.h"

#define EXPORT __attribute__((visibility("default")))

#define KNOWN_V1 (NCCL_COLL | NCCL_P2P | NCCL_PROXY_OP | NCCL_PROXY_STEP)
#define KNOWN_V3 (KNOWN_V1 | NCCL_KERNEL_CHANNEL)
#define KNOWN_V5 (KNOWN_V3 | NCCL_COLL_API | NCCL_P2P_API)

/* ---- communicators ------------------------------------------------------------------------- */

/*
 * Nothing is wanted, or there is no place left: no context, and no event of it will be told. The
 * mask is one for all communicators, so it stays. An error would make NCCL complain to the user.
 */
static struct ut_nccl_comm *init(void **context, int *mask, int known)
{
	int wanted = ut_nccl_mask() & known;
	struct ut_nccl_comm *c = wanted ? ut_nccl_comm_new() : NULL;

	*context = c;
	*mask = wanted;
	if (c)
		c->kernels = wanted & NCCL_KERNEL_CHANNEL;
	return c;
}

static int init_v1(void **context, int *mask)
{
	init(context, mask, KNOWN_V1);
	return NCCL_OK;
}

static int init_v3(void **context, int *mask)
{
	init(context, mask, KNOWN_V3);
	return NCCL_OK;
}

static int name_comm(struct ut_nccl_comm *c, const char *name, uint64_t comm, int ranks, int rank)
{
	if (!c)
		return NCCL_OK;
	c->ranks = ranks;
	c->rank = rank;
	ut_nccl_comm_name(c, name, comm);
	return NCCL_OK;
}

/* limits: NCCL's prototype, NOLINTNEXTLINE(readability-function-size) */
static int init_v4(void **context, int *mask, const char *name, uint64_t comm, int nodes, int ranks,
		   int rank, nccl_log *log)
{
	(void)nodes;
	(void)log;
	return name_comm(init(context, mask, KNOWN_V3), name, comm, ranks, rank);
}

/* limits: NCCL's prototype, NOLINTNEXTLINE(readability-function-size) */
static int init_v5(void **context, uint64_t comm, int *mask, const char *name, int nodes, int ranks,
		   int rank, nccl_log *log)
{
	(void)nodes;
	(void)log;
	return name_comm(init(context, mask, KNOWN_V5), name, comm, ranks, rank);
}

static int nccl_versions_finalize(void *context)
{
	if (context)
		ut_nccl_finish(context);
	return NCCL_OK;
}

/* ---- begins -------------------------------------------------------------------------------- */

/* What all versions have in common: descriptions differ, these names do not. */
static uint64_t nccl_versions_number_of(void *handle)
{
	return (uint64_t)(uintptr_t)handle;
}

/* What is not known gets no handle. */
static int nccl_versions_begin(void *context, void **handle, const struct ut_nccl_event *e,
			       bool known)
{
	*handle = (void *)(uintptr_t)(context && known ? ut_nccl_start(context, e) : 0);
	return NCCL_OK;
}

/* Of another process (PXN), the parent is none that we know. */
static void take_proxy_op(struct ut_nccl_event *to, const struct nccl_proxy_op *from)
{
	to->channel = from->channel;
	to->peer = from->peer;
	to->steps = from->steps;
	to->chunk = from->chunk_size;
	to->is_send = from->is_send;
	if (from->pid != getpid())
		to->parent = 0;
}

/* What the proxy does looks the same in all versions. False: it is something else. */
static bool take_proxy(struct ut_nccl_event *to, const struct nccl_proxy_op *op, int step)
{
	if (to->type == NCCL_PROXY_OP)
		take_proxy_op(to, op);
	else if (to->type == NCCL_PROXY_STEP)
		to->steps = step;
	else
		return false;
	return true;
}

#define TAKE_HEAD(event, from)                                                                     \
	struct ut_nccl_event event = { .type = (uint32_t)(from)->type,                             \
				       .parent = nccl_versions_number_of((from)->parent),          \
				       .root = -1,                                                 \
				       .peer = -1 }

static bool is_rooted(const char *func)
{
	return func && (!strcmp(func, "Broadcast") || !strcmp(func, "Reduce") ||
			!strcmp(func, "Gather") || !strcmp(func, "Scatter"));
}

#define TAKE_COLL(event, from)                                                                     \
	do {                                                                                       \
		(event)->func = (from)->func;                                                      \
		(event)->datatype = (from)->datatype;                                              \
		(event)->count = (from)->count;                                                    \
		(event)->seq = (from)->seq + 1;                                                    \
		(event)->algorithm = (from)->algorithm;                                            \
		(event)->protocol = (from)->protocol;                                              \
		(event)->channels = (from)->channels;                                              \
		(event)->warps = (from)->warps;                                                    \
		(event)->root = is_rooted((from)->func) ? (from)->root : -1;                       \
	} while (0)

#define TAKE_P2P(event, from)                                                                      \
	do {                                                                                       \
		(event)->func = (from)->func;                                                      \
		(event)->datatype = (from)->datatype;                                              \
		(event)->count = (from)->count;                                                    \
		(event)->peer = (from)->peer;                                                      \
	} while (0)

/* Numbers of version 1, as NCCL 2.23 had them. */
static const char *const funcs_v1[] = { "Broadcast", "Reduce",   "AllGather", "ReduceScatter",
					"AllReduce", "SendRecv", "Send",      "Recv" };
static const char *const types_v1[] = { "ncclInt8",    "ncclUint8",   "ncclInt32",   "ncclUint32",
					"ncclInt64",   "ncclUint64",  "ncclFloat16", "ncclFloat32",
					"ncclFloat64", "ncclBfloat16" };
static const char *const algorithms_v1[] = {
	"TREE", "RING", "COLLNET_DIRECT", "COLLNET_CHAIN", "NVLS", "NVLS_TREE", "PAT"
};
static const char *const protocols_v1[] = { "LL", "LL128", "SIMPLE" };

#define WORD(list, number)                                                                         \
	((size_t)(number) < sizeof(list) / sizeof(*(list)) ? (list)[number] : NULL)

static int start_v1(void *context, void **handle, struct nccl_event_v1 *from)
{
	TAKE_HEAD(e, from);
	bool known = true;

	if (from->type == NCCL_COLL) {
		ut_nccl_comm_name(context, from->coll.name, from->coll.comm);
		e.func = WORD(funcs_v1, from->coll.func);
		e.datatype = WORD(types_v1, from->coll.datatype);
		e.count = from->coll.count;
		e.seq = from->coll.seq + 1;
		e.algorithm = WORD(algorithms_v1, from->coll.algorithm);
		e.protocol = WORD(protocols_v1, from->coll.protocol);
		e.channels = from->coll.channels;
		e.warps = from->coll.warps;
		e.root = is_rooted(e.func) ? from->coll.root : -1;
	} else if (from->type == NCCL_P2P) {
		ut_nccl_comm_name(context, from->p2p.name, from->p2p.comm);
		e.func = WORD(funcs_v1, from->p2p.func);
		e.datatype = WORD(types_v1, from->p2p.datatype);
		e.count = from->p2p.count;
		e.peer = from->p2p.peer;
	} else {
		known = take_proxy(&e, &from->proxy_op, from->step);
	}
	return nccl_versions_begin(context, handle, &e, known);
}

/* Versions 2 and 3 put the name of the communicator into each event. */
#define TAKE_NAMED(context, event, from)                                                           \
	do {                                                                                       \
		if ((from)->type == NCCL_COLL) {                                                   \
			ut_nccl_comm_name(context, (from)->coll.name, (from)->coll.comm);          \
			TAKE_COLL(event, &(from)->coll);                                           \
		} else if ((from)->type == NCCL_P2P) {                                             \
			ut_nccl_comm_name(context, (from)->p2p.name, (from)->p2p.comm);            \
			TAKE_P2P(event, &(from)->p2p);                                             \
		}                                                                                  \
	} while (0)

static bool is_named(uint32_t type)
{
	return type == NCCL_COLL || type == NCCL_P2P;
}

static int start_v2(void *context, void **handle, struct nccl_event_v2 *from)
{
	TAKE_HEAD(e, from);

	TAKE_NAMED(context, &e, from);
	return nccl_versions_begin(context, handle, &e,
				   is_named(e.type) || take_proxy(&e, &from->proxy_op, from->step));
}

static int start_v3(void *context, void **handle, struct nccl_event_v3 *from)
{
	TAKE_HEAD(e, from);
	bool kernel = from->type == NCCL_KERNEL_CHANNEL;

	TAKE_NAMED(context, &e, from);
	if (kernel)
		e.channel = from->kernel_channel;
	return nccl_versions_begin(context, handle, &e,
				   kernel || is_named(e.type) ||
					   take_proxy(&e, &from->proxy_op, from->step));
}

/* The parts that versions 4 and 5 have in common; which one it is, the type says. */
struct parts_v4 {
	const struct nccl_coll_v4 *coll;
	const struct nccl_p2p_v4 *p2p;
	const struct nccl_proxy_op *proxy_op;
	const struct nccl_kernel_channel *kernel;
	int step;
};

#define PARTS_V4(from)                                                                             \
	(&(struct parts_v4){ &(from)->coll, &(from)->p2p, &(from)->proxy_op,                       \
			     &(from)->kernel_channel, (from)->step })

static bool take_v4(struct ut_nccl_event *e, const struct parts_v4 *from)
{
	if (e->type == NCCL_COLL) {
		TAKE_COLL(e, from->coll);
	} else if (e->type == NCCL_P2P) {
		TAKE_P2P(e, from->p2p);
		e->channels = from->p2p->channels;
	} else if (e->type == NCCL_KERNEL_CHANNEL) {
		e->channel = from->kernel->channel;
		e->timer = from->kernel->timer;
	} else {
		return take_proxy(e, from->proxy_op, from->step);
	}
	return true;
}

static int start_v4(void *context, void **handle, struct nccl_event_v4 *from)
{
	TAKE_HEAD(e, from);

	return nccl_versions_begin(context, handle, &e, take_v4(&e, PARTS_V4(from)));
}

/* What version 5 has beyond version 4: the calls themselves. */
static bool take_api(struct ut_nccl_event *e, const struct nccl_event_v5 *from)
{
	if (from->type == NCCL_COLL_API) {
		e->func = from->coll_api.func;
		e->datatype = from->coll_api.datatype;
		e->count = from->coll_api.count;
		e->root = is_rooted(e->func) ? from->coll_api.root : -1;
		e->captured = from->coll_api.captured;
		return true;
	}
	if (from->type == NCCL_P2P_API) {
		e->func = from->p2p_api.func;
		e->datatype = from->p2p_api.datatype;
		e->count = from->p2p_api.count;
		e->captured = from->p2p_api.captured;
		return true;
	}
	return false;
}

static int start_v5(void *context, void **handle, struct nccl_event_v5 *from)
{
	TAKE_HEAD(e, from);

	return nccl_versions_begin(context, handle, &e,
				   take_v4(&e, PARTS_V4(from)) || take_api(&e, from));
}

/* ---- states and ends ----------------------------------------------------------------------- */

static int nccl_versions_stop(void *handle)
{
	ut_nccl_stop(nccl_versions_number_of(handle));
	return NCCL_OK;
}

static int state_v1(void *handle, int state, union nccl_state_v1 *args)
{
	ut_nccl_state(nccl_versions_number_of(handle), state,
		      args && state <= NCCL_OP_RECV_DONE ? args->proxy_op.bytes : 0);
	return NCCL_OK;
}

static int state_v4(void *handle, int state, union nccl_state_v4 *args)
{
	uint64_t value = 0;

	if (args && state == NCCL_KERNEL_CHANNEL_STOP)
		value = args->kernel_timer;
	else if (args && ((state >= NCCL_STEP_SEND_GPU_WAIT && state <= NCCL_STEP_RECV_GPU_WAIT) ||
			  state == NCCL_STEP_SEND_PEER_WAIT))
		value = args->step_bytes;
	ut_nccl_state(nccl_versions_number_of(handle), state, value);
	return NCCL_OK;
}

/* ---- what NCCL looks for ------------------------------------------------------------------- */

EXPORT const struct nccl_profiler_v1 ncclProfiler_v1 = { "unitrace", init_v1,
							 start_v1,   nccl_versions_stop,
							 state_v1,   nccl_versions_finalize };
EXPORT const struct nccl_profiler_v2 ncclProfiler_v2 = { "unitrace", init_v1,
							 start_v2,   nccl_versions_stop,
							 state_v1,   nccl_versions_finalize };
EXPORT const struct nccl_profiler_v3 ncclProfiler_v3 = { "unitrace", init_v3,
							 start_v3,   nccl_versions_stop,
							 state_v1,   nccl_versions_finalize };
EXPORT const struct nccl_profiler_v4 ncclProfiler_v4 = { "unitrace", init_v4,
							 start_v4,   nccl_versions_stop,
							 state_v4,   nccl_versions_finalize };
EXPORT const struct nccl_profiler_v5 ncclProfiler_v5 = { "unitrace", init_v5,
							 start_v5,   nccl_versions_stop,
							 state_v4,   nccl_versions_finalize };
