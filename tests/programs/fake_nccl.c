/*
 * fake_nccl.c - calls a plugin for NCCL's profiler as NCCL does, without NCCL or a GPU.
 *
 * fake_nccl VERSION COUNT: two communicators' worth of init, then COUNT times an allreduce of 1,024
 * floats in a task "step", with its kernels on two channels and a send and a receive of the proxy
 * thread in two steps each; then a send to rank 1, an allgather that nothing more is told of, and
 * ends in odd orders. The plugin is what NCCL_PROFILER_PLUGIN names. The GPU's clock is a day
 * ahead, and a kernel takes KERNEL ns on it. FAKE_NCCL_STORM=1: many threads at once, more events
 * than any plugin can keep. FAKE_NCCL_RANK, FAKE_NCCL_RANKS: which one it plays, how late
 * (FAKE_NCCL_LATE us).
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "backend/nccl/nccl_abi.h"
#include "ittnotify.h"

#define KERNEL   200000u
#define DAY      86400000000000u
#define CHANNELS 2u
#define STEPS    2
#define COMM     0xfeedbeefu

/* One version of the plugin's interface, and what it calls an event. */
struct plugin {
	int version;
	const void *table;
	void *context;
	int mask;
};

static int ranks = 2, rank;

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void wait_until(uint64_t time)
{
	while (now() < time)
		;
}

static void silent(int level, unsigned long flags, const char *file, int line, const char *fmt, ...)
{
	(void)level, (void)flags, (void)file, (void)line, (void)fmt;
}

#define TABLE(n) ((const struct nccl_profiler_v##n *)p->table)
#define EACH(do)                                                                                   \
	switch (p->version) {                                                                      \
	case 1:                                                                                    \
		do                                                                                 \
			(1);                                                                       \
		break;                                                                             \
	case 2:                                                                                    \
		do                                                                                 \
			(2);                                                                       \
		break;                                                                             \
	case 3:                                                                                    \
		do                                                                                 \
			(3);                                                                       \
		break;                                                                             \
	case 4:                                                                                    \
		do                                                                                 \
			(4);                                                                       \
		break;                                                                             \
	default:                                                                                   \
		do                                                                                 \
			(5);                                                                       \
	}

static int open_plugin(struct plugin *p)
{
	const char *path = getenv("NCCL_PROFILER_PLUGIN");
	void *library = path ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : NULL;
	char symbol[32];

	if (!library) {
		fprintf(stderr, "no plugin\n");
		return 2;
	}
	snprintf(symbol, sizeof(symbol), "ncclProfiler_v%d", p->version);
	p->table = dlsym(library, symbol);
	return p->table ? 0 : 3;
}

static int init(struct plugin *p)
{
	switch (p->version) {
	case 1:
		return TABLE(1)->init(&p->context, &p->mask);
	case 2:
		return TABLE(2)->init(&p->context, &p->mask);
	case 3:
		return TABLE(3)->init(&p->context, &p->mask);
	case 4:
		return TABLE(4)->init(&p->context, &p->mask, "default_pg", COMM, 1, ranks, rank,
				      silent);
	default:
		return TABLE(5)->init(&p->context, COMM, &p->mask, "default_pg", 1, ranks, rank,
				      silent);
	}
}

static void stop(struct plugin *p, void *handle)
{
	if (!handle)
		return; /* as NCCL does */
#define STOP(n) TABLE(n)->stop(handle)
	EACH(STOP)
}

static void finalize(struct plugin *p)
{
#define FINALIZE(n) TABLE(n)->finalize(p->context)
	EACH(FINALIZE)
}

static void state(struct plugin *p, void *handle, int what, uint64_t value)
{
	union nccl_state_v1 old = { .proxy_op = { (size_t)value, 1 } };
	union nccl_state_v4 new = { .kernel_timer = value };

	if (!handle)
		return;
	if (p->version < 4)
		TABLE(1)->state(handle, what, &old);
	else
		TABLE(4)->state(handle, what, &new);
}

/* ---- begins -------------------------------------------------------------------------------- */

static void *start_coll(struct plugin *p, const char *func, size_t count, uint64_t seq,
			void *parent)
{
	void *handle = NULL;
	const struct nccl_coll_v4 coll = { seq,           func,     NULL, NULL,   count, 0,
					   "ncclFloat32", CHANNELS, 16,   "RING", "LL" };
	struct nccl_event_v1 v1 = { .type = NCCL_COLL,
				    .coll = { "default_pg", COMM, seq, 4, NULL, NULL, count, 0, 7,
					      0, 0, CHANNELS, 16, 1, 0, 0, 0 } };
	struct nccl_event_v2 v2 = { .type = NCCL_COLL,
				    .coll = { "default_pg", COMM, seq, func, NULL, NULL, count, 0,
					      "ncclFloat32", 0, CHANNELS, 16, "RING", "LL" } };
	struct nccl_event_v3 v3 = { .type = NCCL_COLL,
				    .coll = { "default_pg", COMM, seq, func, NULL, NULL, count, 0,
					      "ncclFloat32", CHANNELS, 16, "RING", "LL" } };
	struct nccl_event_v4 v4 = { .type = NCCL_COLL, .coll = coll };
	struct nccl_event_v5 v5 = { .type = NCCL_COLL, .parent = parent, .coll = coll };

	v1.coll.func = strcmp(func, "AllReduce") ? 2 : 4;
	switch (p->version) {
	case 1:
		TABLE(1)->start(p->context, &handle, &v1);
		break;
	case 2:
		TABLE(2)->start(p->context, &handle, &v2);
		break;
	case 3:
		TABLE(3)->start(p->context, &handle, &v3);
		break;
	case 4:
		TABLE(4)->start(p->context, &handle, &v4);
		break;
	default:
		TABLE(5)->start(p->context, &handle, &v5);
	}
	return handle;
}

static void *start_call(struct plugin *p, const char *func, size_t count)
{
	void *handle = NULL;
	struct nccl_event_v5 e = { .type = NCCL_COLL_API,
				   .coll_api = { func, count, "ncclFloat32", 0, NULL, false } };

	if (p->version >= 5 && p->mask & NCCL_COLL_API)
		TABLE(5)->start(p->context, &handle, &e);
	return handle;
}

/* Events that all versions describe alike. */
#define START_LIKE(n)                                                                              \
	do {                                                                                       \
		struct nccl_event_v##n e = { .type = (uint8_t)type, .parent = parent };            \
                                                                                                   \
		memcpy(&e.proxy_op, what, size);                                                   \
		TABLE(n)->start(p->context, &handle, &e);                                          \
	} while (0)

static void *start_like(struct plugin *p, int type, void *parent, const void *what, size_t size)
{
	void *handle = NULL;

	EACH(START_LIKE)
	return handle;
}

static void *start_send(struct plugin *p)
{
	void *handle = NULL;
	const struct nccl_p2p_v4 p2p = { "Send", NULL, "ncclInt8", 100, 1, 1 };
	struct nccl_event_v4 v4 = { .type = NCCL_P2P, .p2p = p2p };
	struct nccl_event_v5 v5 = { .type = NCCL_P2P, .p2p = p2p };

	if (p->version == 4)
		TABLE(4)->start(p->context, &handle, &v4);
	else if (p->version >= 5)
		TABLE(5)->start(p->context, &handle, &v5);
	return handle;
}

/* ---- what is done for an operation --------------------------------------------------------- */

struct job {
	struct plugin *plugin;
	void *parent;
	pid_t pid;
};

static void kernels(struct plugin *p, void *parent)
{
	void *channels[CHANNELS] = { NULL };
	struct nccl_kernel_channel begin = { 0, now() + DAY };

	if (p->version < 3 || !(p->mask & NCCL_KERNEL_CHANNEL))
		return;
	for (uint8_t i = 0; i < CHANNELS; i++) {
		begin.channel = i;
		channels[i] = start_like(p, NCCL_KERNEL_CHANNEL, parent, &begin, sizeof(begin));
	}
	wait_until(begin.timer - DAY + KERNEL);
	for (uint8_t i = 0; i < CHANNELS; i++) {
		if (p->version > 3)
			state(p, channels[i], NCCL_KERNEL_CHANNEL_STOP, begin.timer + KERNEL);
		stop(p, channels[i]);
	}
}

static void steps(struct plugin *p, void *op, int is_send)
{
	for (int i = 0; i < STEPS; i++) {
		void *handle = start_like(p, NCCL_PROXY_STEP, op, &i, sizeof(i));

		state(p, handle, is_send ? NCCL_STEP_SEND_GPU_WAIT : NCCL_STEP_RECV_WAIT, 0);
		wait_until(now() + 20000);
		if (is_send && p->version > 3)
			state(p, handle, NCCL_STEP_SEND_PEER_WAIT, 2048);
		state(p, handle, is_send ? NCCL_STEP_SEND_WAIT : NCCL_STEP_RECV_GPU_WAIT, 2048);
		wait_until(now() + 10000);
		stop(p, handle);
	}
}

static void *proxy(void *arg)
{
	const struct job *job = arg;
	struct plugin *p = job->plugin;

	for (int is_send = 0; is_send < 2; is_send++) {
		struct nccl_proxy_op op = { job->pid, (uint8_t)is_send, 1, STEPS, 2048, is_send };
		void *handle = start_like(p, NCCL_PROXY_OP, job->parent, &op, sizeof(op));

		if (p->version > 3)
			state(p, handle, NCCL_OP_IN_PROGRESS, 0);
		else
			state(p, handle, 2 + 4 * !is_send, 4096);
		steps(p, handle, is_send);
		stop(p, handle);
	}
	return NULL;
}

/* ---- the program --------------------------------------------------------------------------- */

static void allreduce(struct plugin *p, uint64_t seq)
{
	void *call = start_call(p, "AllReduce", 1024), *coll;
	struct job job = { p, NULL, getpid() };
	pthread_t thread;

	stop(p, call);
	coll = start_coll(p, "AllReduce", 1024, seq, call);
	stop(p, coll);
	/* NCCL names it as the parent although it has been stopped. */
	job.parent = coll;
	pthread_create(&thread, NULL, proxy, &job);
	kernels(p, coll);
	pthread_join(thread, NULL);
}

static void odd(struct plugin *p)
{
	struct job foreign = { p, (void *)0x7f0000000000, 1 };
	void *send = start_send(p), *gather;

	if (send) {
		struct nccl_kernel_channel k = { 0, now() + DAY };
		void *handle = start_like(p, NCCL_KERNEL_CHANNEL, send, &k, sizeof(k));

		state(p, handle, NCCL_KERNEL_CHANNEL_STOP, k.timer + 1000);
		stop(p, handle);
		stop(p, send);
	}
	proxy(&foreign); /* of another process: its parent means nothing here */
	gather = start_coll(p, "AllGather", 512, 0, NULL);
	stop(p, gather);
	stop(p, gather);
	state(p, gather, NCCL_STEP_SEND_WAIT, 1);
	stop(p, (void *)0x123456789abcdef);
	stop(p, (void *)1);
}

static void *storm(void *arg)
{
	struct plugin *p = arg;
	void *open[20000];
	uint8_t channel = 1;
	int none = 0;

	for (size_t i = 0; i < sizeof(open) / sizeof(*open); i++)
		open[i] = i % 2 ? start_like(p, NCCL_PROXY_STEP, open[i - 1], &none, sizeof(none))
				: start_like(p, NCCL_KERNEL_CHANNEL, &channel, &channel, 1);
	for (size_t i = sizeof(open) / sizeof(*open); i > 0; i--)
		stop(p, open[i - 1]);
	return NULL;
}

static void storms(struct plugin *p)
{
	pthread_t threads[4];

	for (int i = 0; i < 4; i++)
		pthread_create(&threads[i], NULL, storm, p);
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
}

static int number(const char *variable, int usual)
{
	const char *text = getenv(variable);

	return text ? atoi(text) : usual;
}

int main(int argc, char **argv)
{
	struct plugin p = { .version = argc > 1 ? atoi(argv[1]) : 5 };
	int count = argc > 2 ? atoi(argv[2]) : 3, rc;
	__itt_domain *domain = __itt_domain_create("fake.nccl");
	__itt_string_handle *step = __itt_string_handle_create("step");

	rank = number("FAKE_NCCL_RANK", 0);
	ranks = number("FAKE_NCCL_RANKS", 2);
	rc = open_plugin(&p);
	if (rc)
		return rc;
	if (init(&p) || !p.context || !p.mask) {
		printf("without %d\n", p.mask);
		return 0;
	}
	for (int i = 0; i < count; i++) {
		__itt_task_begin(domain, __itt_null, __itt_null, step);
		allreduce(&p, (uint64_t)i);
		__itt_task_end(domain);
	}
	odd(&p);
	if (getenv("FAKE_NCCL_STORM"))
		storms(&p);
	finalize(&p);
	printf("mask %d\n", p.mask);
	return 0;
}
