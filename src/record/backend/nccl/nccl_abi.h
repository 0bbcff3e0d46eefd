/*
 * nccl_abi.h - NCCL's interface for profilers, versions 1 to 5 (NCCL 2.23 to 2.28 and those that
 * still take them), as far as we use it. Names are ours, layouts are NCCL's.
 *
 * NCCL loads the library that NCCL_PROFILER_PLUGIN names and looks for the newest of the symbols
 * ncclProfiler_v1, _v2, ... that it knows. init() is called for each communicator, start() when
 * something begins, stop() when it ends; what a start() returns is the handle that state(), stop()
 * and, as their parent, events below are called with. The end of a collective operation means only
 * that it was submitted: events of its kernels and of the proxy thread come later, and name it as
 * their parent all the same.
 */
/* limits: one interface, in five versions */
#ifndef UT_BACKEND_NCCL_NCCL_ABI_H
#define UT_BACKEND_NCCL_NCCL_ABI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define NCCL_OK 0

/* Bits of the mask of events, and types of events. */
enum nccl_event_type {
	NCCL_GROUP = 1 << 0,
	NCCL_COLL = 1 << 1,
	NCCL_P2P = 1 << 2,
	NCCL_PROXY_OP = 1 << 3,
	NCCL_PROXY_STEP = 1 << 4,
	NCCL_PROXY_CTRL = 1 << 5,
	NCCL_KERNEL_CHANNEL = 1 << 6, /* since version 3 */
	NCCL_NET_PLUGIN = 1 << 7,
	NCCL_GROUP_API = 1 << 8, /* since version 5 */
	NCCL_COLL_API = 1 << 9,
	NCCL_P2P_API = 1 << 10,
	NCCL_KERNEL_LAUNCH = 1 << 11,
};

enum nccl_state {
	/* of proxy operations; up to version 3 */
	NCCL_OP_SEND_POSTED = 0,
	NCCL_OP_RECV_DONE = 7,
	/* of steps */
	NCCL_STEP_SEND_GPU_WAIT = 8,
	NCCL_STEP_SEND_WAIT = 9,
	NCCL_STEP_RECV_WAIT = 10,
	NCCL_STEP_RECV_FLUSH_WAIT = 11,
	NCCL_STEP_RECV_GPU_WAIT = 12,
	NCCL_OP_IN_PROGRESS = 19, /* since version 4 */
	NCCL_STEP_SEND_PEER_WAIT = 20,
	NCCL_KERNEL_CHANNEL_STOP = 22,
};

/* ---- what begins --------------------------------------------------------------------------- */

struct nccl_proxy_op {
	pid_t pid; /* of the process that it is for: with PXN, another one */
	uint8_t channel;
	int peer, steps, chunk_size, is_send;
};

struct nccl_kernel_channel {
	uint8_t channel;
	uint64_t timer; /* of the GPU, ns; since version 4 */
};

/* What all versions begin with; the type had 8 bits before version 5. */
#define NCCL_EVENT_HEAD(width)                                                                     \
	width type;                                                                                \
	void *parent;                                                                              \
	int rank

struct nccl_event_v1 {
	NCCL_EVENT_HEAD(uint8_t);
	union {
		struct {
			const char *name;
			uint64_t comm, seq;
			uint8_t func;
			const void *send;
			void *recv;
			size_t count;
			int root;
			uint8_t datatype;
			uint32_t op;
			size_t traffic;
			uint8_t channels, warps, algorithm, protocol;
			int is_collnet, is_nvls;
		} coll;
		struct {
			const char *name;
			uint64_t comm;
			uint8_t func;
			void *buffer;
			uint8_t datatype;
			size_t count;
			int peer;
		} p2p;
		struct nccl_proxy_op proxy_op;
		int step;
	};
};

struct nccl_event_v2 {
	NCCL_EVENT_HEAD(uint8_t);
	union {
		struct {
			const char *name;
			uint64_t comm, seq;
			const char *func;
			const void *send;
			void *recv;
			size_t count;
			int root;
			const char *datatype;
			size_t traffic; /* gone in version 3 */
			uint8_t channels, warps;
			const char *algorithm, *protocol;
		} coll;
		struct nccl_p2p_v2 {
			const char *name;
			uint64_t comm;
			const char *func;
			void *buffer;
			const char *datatype;
			size_t count;
			int peer;
		} p2p;
		struct nccl_proxy_op proxy_op;
		int step;
	};
};

struct nccl_event_v3 {
	NCCL_EVENT_HEAD(uint8_t);
	union {
		struct {
			const char *name;
			uint64_t comm, seq;
			const char *func;
			const void *send;
			void *recv;
			size_t count;
			int root;
			const char *datatype;
			uint8_t channels, warps;
			const char *algorithm, *protocol;
		} coll;
		struct nccl_p2p_v2 p2p;
		struct nccl_proxy_op proxy_op;
		int step;
		uint8_t kernel_channel;
	};
};

struct nccl_coll_v4 {
	uint64_t seq;
	const char *func;
	const void *send;
	void *recv;
	size_t count;
	int root;
	const char *datatype;
	uint8_t channels, warps;
	const char *algorithm, *protocol;
};

struct nccl_p2p_v4 {
	const char *func;
	void *buffer;
	const char *datatype;
	size_t count;
	int peer;
	uint8_t channels;
};

struct nccl_event_v4 {
	NCCL_EVENT_HEAD(uint8_t);
	union {
		struct nccl_coll_v4 coll;
		struct nccl_p2p_v4 p2p;
		struct nccl_proxy_op proxy_op;
		int step;
		struct nccl_kernel_channel kernel_channel;
	};
};

struct nccl_event_v5 {
	NCCL_EVENT_HEAD(uint64_t);
	union {
		struct {
			const char *func;
			size_t count;
			const char *datatype;
			int root;
			void *stream;
			bool captured;
		} coll_api;
		struct {
			const char *func;
			size_t count;
			const char *datatype;
			void *stream;
			bool captured;
		} p2p_api;
		/* behind them, the group that version 4 had as parent */
		struct nccl_coll_v4 coll;
		struct nccl_p2p_v4 p2p;
		struct nccl_proxy_op proxy_op;
		int step;
		struct nccl_kernel_channel kernel_channel;
	};
};

_Static_assert(offsetof(struct nccl_event_v4, coll) == 24, "the union is aligned");
_Static_assert(offsetof(struct nccl_event_v5, coll) == 24, "in all versions alike");
_Static_assert(sizeof(struct nccl_coll_v4) == 80, "what version 5 adds lies behind it");

/* ---- what happens to it -------------------------------------------------------------------- */

union nccl_state_v1 { /* to 3 */
	struct {
		size_t bytes; /* so far */
		int steps;
	} proxy_op;
	int appended;
};

union nccl_state_v4 { /* and 5 */
	size_t step_bytes;
	int appended;
	uint64_t kernel_timer;
};

/* ---- the plugin ---------------------------------------------------------------------------- */

typedef void nccl_log(int level, unsigned long flags, const char *file, int line, const char *fmt,
		      ...);

#define NCCL_PROFILER(version, state_type, ...)                                                    \
	struct nccl_profiler_v##version {                                                          \
		const char *name;                                                                  \
		int (*init)(void **context, __VA_ARGS__);                                          \
		int (*start)(void *context, void **handle, struct nccl_event_v##version *event);   \
		int (*stop)(void *handle);                                                         \
		int (*state)(void *handle, int state, union state_type *args);                     \
		int (*finalize)(void *context);                                                    \
	}

NCCL_PROFILER(1, nccl_state_v1, int *mask);
NCCL_PROFILER(2, nccl_state_v1, int *mask);
NCCL_PROFILER(3, nccl_state_v1, int *mask);
NCCL_PROFILER(4, nccl_state_v4, int *mask, const char *name, uint64_t comm, int nodes, int ranks,
	      int rank, nccl_log *log);
NCCL_PROFILER(5, nccl_state_v4, uint64_t comm, int *mask, const char *name, int nodes, int ranks,
	      int rank, nccl_log *log);

#endif
