/*
 * nccl_events.c - what NCCL has begun, from its begin to its end.
 *
 * Events lie in a ring. A handle is a place in it and how often that was taken, so a stale one does
 * no harm. An operation that NCCL has submitted stays where it is until the ring comes round, for
 * kernels and the proxy thread name it as their parent later; it ends with the last of them.
 *
 * No lock, no malloc: starts, states and stops may come from any thread.
 */
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "backend/nccl/nccl.h"
#include "backend/nccl/nccl_abi.h"

#define PLACES     8192u
#define MOST_TRIES 64u
#define MOST_FACTS 20u
/* Numbers of ours, that no other runtime has. */
#define CORRELATION UINT64_C(0x4e43434c00000000)

enum {
	FREE,
	OPEN,
	SUBMITTED, /* an operation: what is done for it may still come */
	DONE,
};

/* What a step of the proxy thread waits for. */
enum {
	WAIT_NONE,
	WAIT_GPU,
	WAIT_PEER,
	WAIT_NET,
	WAIT_FLUSH,
	WAITS
};

static const char *const wait_names[WAITS] = { "", "gpu_wait_ns", "peer_wait_ns", "net_wait_ns",
					       "flush_wait_ns" };

struct place {
	_Atomic uint64_t word; /* times it was taken << 2 | FREE, OPEN, SUBMITTED, DONE */
	struct ut_nccl_comm *comm;
	uint64_t parent, correlation;
	uint64_t begin, stopped;
	uint32_t type, thread;
	/* calls and operations */
	uint64_t count, seq, in, out;
	uint32_t func, datatype, algorithm, protocol; /* names */
	uint32_t call;                                /* name, of events that are calls */
	int32_t root, peer;
	uint32_t channels, warps;
	/* of an operation: what is done for it */
	_Atomic uint32_t kernels, proxies;
	/* of what is done */
	uint32_t channel;
	int32_t steps, chunk;
	uint32_t waiting; /* what for, and since when */
	bool captured, is_send;
	_Atomic uint64_t first, last; /* of an operation, ns; 0 = nothing yet */
	_Atomic uint64_t bytes;
	uint64_t timer, timer_end, progress, state_since;
	uint64_t waits[WAITS];
};

static struct place places[PLACES];
static _Atomic uint64_t cursor, lost;

/* ---- places -------------------------------------------------------------------------------- */

static uint64_t handle_of(const struct place *p, uint64_t times)
{
	return times << 16 | (uint64_t)(p - places) << 1 | 1;
}

/* The place that a handle means, if it is still that, in a state of those bits. */
static struct place *nccl_events_place_of(uint64_t handle, unsigned int states)
{
	struct place *p = &places[handle >> 1 & (PLACES - 1)];
	uint64_t word = atomic_load_explicit(&p->word, memory_order_acquire);

	if (!(handle & 1) || word >> 2 != handle >> 16 || !(1u << (word & 3) & states))
		return NULL;
	return p;
}

#define IS_OPEN  (1u << OPEN)
#define IS_KNOWN (1u << OPEN | 1u << SUBMITTED | 1u << DONE)

static void send_operation(struct place *p);

/* Who gets here first tells of it. */
static void nccl_events_finish(struct place *p)
{
	uint64_t word = atomic_load(&p->word);

	if ((word & 3) == SUBMITTED &&
	    atomic_compare_exchange_strong(&p->word, &word, (word & ~UINT64_C(3)) | DONE))
		send_operation(p);
}

static struct place *take_place(uint64_t *handle)
{
	for (unsigned int i = 0; i < MOST_TRIES; i++) {
		struct place *p = &places[atomic_fetch_add(&cursor, 1) % PLACES];
		uint64_t word;

		nccl_events_finish(p);
		word = atomic_load(&p->word);
		if ((word & 3) == OPEN || (word & 3) == SUBMITTED)
			continue;
		if (!atomic_compare_exchange_strong(&p->word, &word, ((word >> 2) + 1) << 2 | OPEN))
			continue;
		*handle = handle_of(p, (word >> 2) + 1);
		return p;
	}
	if (!atomic_fetch_add(&lost, 1))
		ut_nccl_host->note("NCCL does so much at once that some of it is not recorded");
	return NULL;
}

static uint32_t thread_id(void)
{
	static _Thread_local uint32_t id;

	if (!id)
		id = (uint32_t)syscall(SYS_gettid);
	return id;
}

/* ---- facts --------------------------------------------------------------------------------- */

struct facts {
	struct ut_fact items[MOST_FACTS];
	size_t count;
};

static uint32_t nccl_events_name_of(const char *text)
{
	return text && text[0] ? ut_nccl_host->name(text, strlen(text)) : 0;
}

static void nccl_events_add(struct facts *f, const char *key, uint32_t type, uint64_t value)
{
	if (f->count < MOST_FACTS)
		f->items[f->count++] = (struct ut_fact){ nccl_events_name_of(key), type, value };
}

static void nccl_events_add_name(struct facts *f, const char *key, uint32_t name)
{
	if (name)
		nccl_events_add(f, key, UT_VALUE_NAME, name);
}

static void nccl_events_add_number(struct facts *f, const char *key, uint64_t value)
{
	if (value)
		nccl_events_add(f, key, UT_VALUE_U64, value);
}

static void add_operation(struct facts *f, const struct place *p)
{
	nccl_events_add_name(f, "comm", atomic_load(&p->comm->name));
	nccl_events_add_number(f, "ranks", (uint64_t)(p->comm->ranks > 0 ? p->comm->ranks : 0));
	if (p->seq)
		nccl_events_add(f, "seq", UT_VALUE_U64, p->seq - 1);
	nccl_events_add_number(f, "bytes", p->in);
	nccl_events_add_number(f, "received", p->out);
	nccl_events_add_number(f, "count", p->count);
	nccl_events_add_name(f, "datatype", p->datatype);
	if (p->root >= 0)
		nccl_events_add(f, "root", UT_VALUE_I64, (uint64_t)(int64_t)p->root);
	if (p->peer >= 0)
		nccl_events_add(f, "peer", UT_VALUE_I64, (uint64_t)(int64_t)p->peer);
	nccl_events_add_name(f, "algorithm", p->algorithm);
	nccl_events_add_name(f, "protocol", p->protocol);
	nccl_events_add_number(f, "channels", p->channels);
	nccl_events_add_number(f, "warps", p->warps);
	if (p->captured)
		nccl_events_add(f, "captured", UT_VALUE_U64, 1);
}

/* The first number in "ncclFloat32", "ncclBfloat16", "ncclFloat8e4m3" is bits. */
static uint64_t element_size(const char *datatype)
{
	uint64_t bits = 0;

	for (; datatype && *datatype; datatype++) {
		if (*datatype >= '0' && *datatype <= '9')
			bits = bits * 10 + (uint64_t)(*datatype - '0');
		else if (bits)
			break;
	}
	return bits / 8;
}

/* Counts are those of one rank's part where ranks have parts. */
static void find_bytes(struct place *p, const struct ut_nccl_event *e)
{
	uint64_t one = e->count * element_size(e->datatype);
	uint64_t all = one * (uint64_t)(p->comm->ranks > 0 ? p->comm->ranks : 1);
	const char *func = e->func ? e->func : "";
	bool takes = !strcmp(func, "ReduceScatter") || !strcmp(func, "AlltoAll") ||
		     !strcmp(func, "Scatter");
	bool gives =
		!strcmp(func, "AllGather") || !strcmp(func, "AlltoAll") || !strcmp(func, "Gather");

	p->in = !strcmp(func, "Recv") ? 0 : takes ? all : one;
	p->out = !strcmp(func, "Send") ? 0 : gives ? all : one;
}

/* ---- what is told -------------------------------------------------------------------------- */

/* "ncclAllReduce" */
static uint32_t call_name(uint32_t func, const char *text)
{
	char name[64] = "nccl";
	size_t len = text ? strlen(text) : 0;

	if (!len || len > sizeof(name) - 5)
		return func;
	memcpy(name + 4, text, len);
	return ut_nccl_host->name(name, len + 4);
}

static void send_call(const struct place *p)
{
	struct facts f = { 0 };

	add_operation(&f, p);
	ut_nccl_host->call(ut_nccl_api(), &(struct ut_work){ .size = sizeof(struct ut_work),
							     .name = p->call,
							     .thread = p->thread,
							     .start = p->begin,
							     .end = p->stopped,
							     .correlation = p->correlation,
							     .facts = f.items,
							     .fact_count = f.count });
}

static void send_work(const struct place *p, uint32_t row, uint32_t name, struct facts *f)
{
	ut_nccl_host->work(&(struct ut_work){ .size = sizeof(struct ut_work),
					      .queue = row,
					      .name = name,
					      .kind = UT_WORK_OTHER,
					      .thread = p->thread,
					      .start = p->begin,
					      .end = p->stopped > p->begin ? p->stopped : p->begin,
					      .correlation = p->correlation,
					      .facts = f->items,
					      .fact_count = f->count });
}

/* From when something was done for it first until the last of that; if NCCL tells nothing of it,
 * there is only the call. */
static void send_operation(struct place *p)
{
	struct place shown = { .thread = p->thread, .correlation = p->correlation };
	struct facts f = { 0 };

	shown.begin = atomic_load(&p->first);
	shown.stopped = atomic_load(&p->last);
	if (!shown.begin || !shown.stopped)
		return;
	add_operation(&f, p);
	send_work(&shown, ut_nccl_row_of(p->comm), p->func, &f);
}

/* ---- operations ---------------------------------------------------------------------------- */

static void lower(_Atomic uint64_t *to, uint64_t value)
{
	uint64_t old = atomic_load(to);

	while ((!old || value < old) && !atomic_compare_exchange_weak(to, &old, value))
		;
}

static void raise(_Atomic uint64_t *to, uint64_t value)
{
	uint64_t old = atomic_load(to);

	while (value > old && !atomic_compare_exchange_weak(to, &old, value))
		;
}

/* Has all been done that will be? Only kernels are counted beforehand. */
static void finish_if_done(struct place *p)
{
	if (p->comm->kernels && p->channels && atomic_load(&p->kernels) >= p->channels &&
	    !atomic_load(&p->proxies))
		nccl_events_finish(p);
}

static void start_operation(struct place *p, const struct ut_nccl_event *e)
{
	const struct place *call = nccl_events_place_of(e->parent, IS_KNOWN);

	p->func = nccl_events_name_of(e->func);
	p->datatype = nccl_events_name_of(e->datatype);
	p->algorithm = nccl_events_name_of(e->algorithm);
	p->protocol = nccl_events_name_of(e->protocol);
	p->count = e->count;
	p->seq = e->seq;
	p->root = e->root;
	p->peer = e->peer;
	p->channels = e->channels;
	p->warps = e->warps;
	p->captured = e->captured;
	find_bytes(p, e);
	/* Where there is no event of the call, the operation's own is the call. */
	if (call && call->type & (NCCL_COLL_API | NCCL_P2P_API))
		p->correlation = call->correlation;
	else
		p->call = call_name(p->func, e->func);
}

static void stop_operation(struct place *p)
{
	uint64_t word = atomic_load(&p->word);

	if (p->call)
		send_call(p);
	if (p->type & (NCCL_COLL_API | NCCL_P2P_API)) {
		atomic_store(&p->word, (word & ~UINT64_C(3)) | DONE);
		return;
	}
	atomic_store(&p->word, (word & ~UINT64_C(3)) | SUBMITTED);
	finish_if_done(p);
}

/* ---- kernels ------------------------------------------------------------------------------- */

/*
 * The GPU's clock in ours. NCCL's thread looks now and then, so what it tells of is over: the least
 * that it ever came late is as near as we get.
 */
static uint64_t gpu_time(struct ut_nccl_comm *c, uint64_t timer, uint64_t now)
{
	int64_t offset = (int64_t)now - (int64_t)timer, old = atomic_load(&c->gpu_offset);

	while ((!old || offset < old) &&
	       !atomic_compare_exchange_weak(&c->gpu_offset, &old, offset))
		;
	return timer + (uint64_t)(old && old < offset ? old : offset);
}

static void stop_kernel(struct place *p)
{
	struct place *operation = nccl_events_place_of(p->parent, IS_KNOWN);
	struct facts f = { 0 };
	uint32_t name = operation ? operation->func : nccl_events_name_of("kernel");

	if (p->timer && p->timer_end >= p->timer) {
		uint64_t end = gpu_time(p->comm, p->timer_end, p->stopped);

		p->begin = end - (p->timer_end - p->timer);
		p->stopped = end;
	}
	if (operation) {
		p->correlation = operation->correlation;
		lower(&operation->first, p->begin);
		raise(&operation->last, p->stopped);
	}
	nccl_events_add(&f, "channel", UT_VALUE_U64, p->channel);
	send_work(p, ut_nccl_channel_row(p->comm, UT_NCCL_KERNELS, p->channel), name, &f);
	if (!operation)
		return;
	atomic_fetch_add(&operation->kernels, 1);
	finish_if_done(operation);
}

/* ---- the proxy thread ---------------------------------------------------------------------- */

static void start_proxy(struct place *p, const struct ut_nccl_event *e)
{
	struct place *operation = nccl_events_place_of(e->parent, IS_KNOWN);

	p->steps = e->steps;
	p->chunk = e->chunk;
	if (!operation)
		return;
	p->correlation = operation->correlation;
	lower(&operation->first, p->begin);
	atomic_fetch_add(&operation->proxies, 1);
}

static void stop_proxy(struct place *p)
{
	struct place *operation = nccl_events_place_of(p->parent, IS_KNOWN);
	struct facts f = { 0 };

	if (p->peer >= 0)
		nccl_events_add(&f, "peer", UT_VALUE_I64, (uint64_t)(int64_t)p->peer);
	nccl_events_add(&f, "channel", UT_VALUE_U64, p->channel);
	nccl_events_add_number(&f, "bytes", atomic_load(&p->bytes));
	nccl_events_add_number(&f, "steps", (uint64_t)(p->steps > 0 ? p->steps : 0));
	nccl_events_add_number(&f, "chunk_bytes", (uint64_t)(p->chunk > 0 ? p->chunk : 0));
	if (p->progress)
		nccl_events_add_number(&f, "queued_ns", p->progress - p->begin);
	nccl_events_add_name(&f, "operation", operation ? operation->func : 0);
	send_work(p,
		  ut_nccl_channel_row(p->comm, p->is_send ? UT_NCCL_SENDS : UT_NCCL_RECEIVES,
				      p->channel),
		  nccl_events_name_of(p->is_send ? "send" : "receive"), &f);
	if (!operation)
		return;
	raise(&operation->last, p->stopped);
	atomic_fetch_sub(&operation->proxies, 1);
	finish_if_done(operation);
}

static void start_step(struct place *p, const struct ut_nccl_event *e)
{
	const struct place *op = nccl_events_place_of(e->parent, IS_KNOWN);

	p->steps = e->steps;
	p->state_since = p->begin;
	if (!op || op->type != NCCL_PROXY_OP)
		return;
	p->correlation = op->correlation;
	p->channel = op->channel;
	p->is_send = op->is_send;
	p->peer = op->peer;
}

static void step_waits(struct place *p, uint32_t wait, uint64_t now)
{
	p->waits[p->waiting] += now - p->state_since;
	p->waiting = wait;
	p->state_since = now;
}

static void stop_step(struct place *p)
{
	struct place *op = nccl_events_place_of(p->parent, IS_KNOWN);
	uint64_t bytes = atomic_load(&p->bytes);
	struct facts f = { 0 };

	step_waits(p, WAIT_NONE, p->stopped);
	nccl_events_add(&f, "step", UT_VALUE_I64, (uint64_t)(int64_t)p->steps);
	nccl_events_add_number(&f, "bytes", bytes);
	if (p->peer >= 0)
		nccl_events_add(&f, "peer", UT_VALUE_I64, (uint64_t)(int64_t)p->peer);
	for (uint32_t i = WAIT_GPU; i < WAITS; i++)
		nccl_events_add_number(&f, wait_names[i], p->waits[i]);
	if (op && op->type == NCCL_PROXY_OP)
		atomic_fetch_add(&op->bytes, bytes);
	send_work(p,
		  ut_nccl_channel_row(p->comm, p->is_send ? UT_NCCL_SENDS : UT_NCCL_RECEIVES,
				      p->channel),
		  nccl_events_name_of(p->is_send ? "send step" : "receive step"), &f);
}

/* ---- what NCCL tells ----------------------------------------------------------------------- */

/* Everything but the word. */
static void nccl_events_clear(struct place *p)
{
	memset((char *)p + sizeof(p->word), 0, sizeof(*p) - sizeof(p->word));
}

uint64_t ut_nccl_start(struct ut_nccl_comm *comm, const struct ut_nccl_event *e)
{
	static _Atomic uint64_t numbers;
	uint64_t handle = 0;
	struct place *p;

	if (!ut_nccl_host->on() || !(p = take_place(&handle)))
		return 0;
	nccl_events_clear(p);
	p->comm = comm;
	p->parent = e->parent;
	p->begin = ut_nccl_host->now();
	p->type = e->type;
	p->thread = thread_id();
	p->channel = e->channel;
	p->is_send = e->is_send;
	p->peer = e->peer;
	p->timer = e->timer;
	if (e->type & (NCCL_COLL | NCCL_P2P | NCCL_COLL_API | NCCL_P2P_API)) {
		p->correlation = CORRELATION + atomic_fetch_add(&numbers, 1);
		start_operation(p, e);
	} else if (e->type == NCCL_PROXY_OP) {
		start_proxy(p, e);
	} else if (e->type == NCCL_PROXY_STEP) {
		start_step(p, e);
	}
	return handle;
}

void ut_nccl_state(uint64_t handle, int state, uint64_t value)
{
	static const uint8_t waits[] = {
		[NCCL_STEP_SEND_GPU_WAIT] = WAIT_GPU,   [NCCL_STEP_SEND_WAIT] = WAIT_NET,
		[NCCL_STEP_RECV_WAIT] = WAIT_NET,       [NCCL_STEP_RECV_FLUSH_WAIT] = WAIT_FLUSH,
		[NCCL_STEP_RECV_GPU_WAIT] = WAIT_GPU,   [NCCL_STEP_SEND_PEER_WAIT] = WAIT_PEER,
		[NCCL_KERNEL_CHANNEL_STOP] = WAIT_NONE,
	};
	struct place *p = nccl_events_place_of(handle, IS_OPEN);

	if (!p || state < 0 || (size_t)state >= sizeof(waits))
		return;
	if (p->type == NCCL_KERNEL_CHANNEL && state == NCCL_KERNEL_CHANNEL_STOP) {
		p->timer_end = value;
	} else if (p->type == NCCL_PROXY_OP) {
		raise(&p->bytes, state <= NCCL_OP_RECV_DONE ? value : 0);
		if (state == NCCL_OP_IN_PROGRESS && !p->progress)
			p->progress = ut_nccl_host->now();
	} else if (p->type == NCCL_PROXY_STEP && waits[state]) {
		raise(&p->bytes, value);
		step_waits(p, waits[state], ut_nccl_host->now());
	}
}

void ut_nccl_stop(uint64_t handle)
{
	struct place *p = nccl_events_place_of(handle, IS_OPEN);

	if (!p)
		return;
	p->stopped = ut_nccl_host->now();
	if (p->type & (NCCL_COLL | NCCL_P2P | NCCL_COLL_API | NCCL_P2P_API)) {
		stop_operation(p);
		return;
	}
	if (p->type == NCCL_KERNEL_CHANNEL)
		stop_kernel(p);
	else if (p->type == NCCL_PROXY_OP)
		stop_proxy(p);
	else if (p->type == NCCL_PROXY_STEP)
		stop_step(p);
	atomic_store(&p->word, (handle >> 16) << 2 | DONE);
}

void ut_nccl_finish(const struct ut_nccl_comm *comm)
{
	for (size_t i = 0; i < PLACES; i++) {
		if (!comm || places[i].comm == comm)
			nccl_events_finish(&places[i]);
	}
}
