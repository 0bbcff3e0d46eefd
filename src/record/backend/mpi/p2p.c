/* p2p.c - messages between two ranks: sent, received, probed for, prepared and started. */
#include "backend/mpi/facts.h"
#include "backend/mpi/kinds.h"
#include "backend/mpi/request.h"

/* ---- send ---------------------------------------------------------------------------------- */

/* The next message of its channel. */
static struct ut_mpi_ends next_sent(const struct ut_mpi_group *g, int32_t to, int32_t tag)
{
	uint64_t key = ut_mpi_channel(g->queue.comm, to, tag, UT_MPI_COUNT_SENT);

	return (struct ut_mpi_ends){ .comm = g->id,
				     .from = g->rank,
				     .to = to,
				     .tag = tag,
				     .number = ut_mpi_channel_next(key) };
}

static void send_facts(struct ut_mpi_call *c, const struct ut_mpi_group *g, int32_t to, int32_t tag)
{
	ut_mpi_fact_int(c, ut_mpi.key.to, ut_mpi_world_rank(g, to));
	ut_mpi_fact_int(c, ut_mpi.key.tag, tag);
}

void ut_mpi_send(struct ut_mpi_call *c, ut_mpi_word comm, int32_t to, int32_t tag)
{
	c->group = ut_mpi_comm(comm);
	c->to_somebody = c->group && to != ut_mpi_abi.proc_null;
	if (!c->to_somebody)
		return;
	c->sent = next_sent(c->group, to, tag);
	send_facts(c, c->group, to, tag);
	ut_mpi_fact_group(c, c->group);
}

void ut_mpi_sent(struct ut_mpi_call *c, int64_t bytes)
{
	if (!c->to_somebody)
		return;
	ut_mpi_message(c, UT_MESSAGE_SENT, &c->sent, 0);
	ut_mpi_fact_int(c, ut_mpi.key.bytes, bytes);
}

/* Numbers of requests of sends, from 1 on. */
static uint64_t next_request(void)
{
	static _Atomic uint64_t last;

	return atomic_fetch_add_explicit(&last, 1, memory_order_relaxed) + 1;
}

void ut_mpi_send_asked(struct ut_mpi_call *c, ut_mpi_word request)
{
	struct ut_mpi_op op = { .kind = UT_MPI_OP_SEND, .call = c->id, .group = c->group };

	if (!c->to_somebody)
		return;
	op.number = next_request();
	ut_mpi_fact_int(c, ut_mpi.key.request, (int64_t)op.number);
	ut_mpi_request_new(request, &op);
}

/* ---- receive ------------------------------------------------------------------------------- */

static int32_t source_of(int32_t from)
{
	return from == ut_mpi_abi.any_source ? UT_MPI_ANY : from;
}

static int32_t tag_of(int32_t tag)
{
	return tag == ut_mpi_abi.any_tag ? UT_MPI_ANY : tag;
}

/* A receive is posted; op becomes what is known about it. */
static void post(struct ut_mpi_op *op, struct ut_mpi_group *g, bool blocking)
{
	op->group = g;
	if (op->peer == ut_mpi_abi.proc_null) {
		op->kind = UT_MPI_OP_NONE;
		return;
	}
	op->kind = UT_MPI_OP_RECEIVE;
	ut_mpi_match_post(&g->queue, source_of(op->peer), tag_of(op->tag), blocking, &op->ticket);
}

void ut_mpi_awaited(struct ut_mpi_call *c, const struct ut_mpi_op *op)
{
	if (op->peer != ut_mpi_abi.any_source)
		ut_mpi_fact_int(c, ut_mpi.key.from, ut_mpi_world_rank(op->group, op->peer));
	if (op->tag != ut_mpi_abi.any_tag)
		ut_mpi_fact_int(c, c->to_somebody ? ut_mpi.key.from_tag : ut_mpi.key.tag, op->tag);
	if (!c->to_somebody)
		ut_mpi_fact_group(c, op->group);
}

void ut_mpi_receive(struct ut_mpi_call *c, ut_mpi_word comm, int32_t from, int32_t tag,
		    bool blocking)
{
	struct ut_mpi_group *g = ut_mpi_comm(comm);

	c->op = (struct ut_mpi_op){ .call = c->id, .peer = from, .tag = tag };
	if (g)
		post(&c->op, g, blocking);
	if (c->op.kind && blocking && ut_mpi_match_may_wait(&c->op.ticket))
		c->correlation = ut_mpi_correlation();
	if (c->op.kind && blocking)
		ut_mpi_awaited(c, &c->op);
}

void ut_mpi_received(struct ut_mpi_call *c)
{
	if (c->op.kind == UT_MPI_OP_RECEIVE)
		ut_mpi_take(c, &c->op, c->status);
	ut_mpi_receive_facts(c);
}

/* Which message it is about, although it is no end of it. */
static void message_fact(struct ut_mpi_call *c, const struct ut_mpi_group *g, int32_t from,
			 int32_t tag, uint64_t number)
{
	const struct ut_mpi_ends ends = {
		.comm = g->id, .from = from, .to = g->rank, .tag = tag, .number = number
	};

	if (number != UT_MPI_NO_NUMBER)
		ut_mpi_fact_int(c, ut_mpi.key.message, (int64_t)ut_mpi_message_number(&ends));
}

void ut_mpi_receive_asked(struct ut_mpi_call *c, int64_t bytes, ut_mpi_word request)
{
	if (c->op.kind == UT_MPI_OP_NONE)
		return;
	ut_mpi_request_new(request, &c->op);
	ut_mpi_awaited(c, &c->op);
	if (!c->to_somebody)
		message_fact(c, c->op.group, c->op.peer, c->op.tag, c->op.ticket.number);
	(void)bytes;
}

/* ---- probe --------------------------------------------------------------------------------- */

void ut_mpi_probe(struct ut_mpi_call *c, ut_mpi_word comm, int32_t from, int32_t tag)
{
	const struct ut_mpi_op op = { .peer = from, .tag = tag, .group = ut_mpi_comm(comm) };

	if (op.group && from != ut_mpi_abi.proc_null)
		ut_mpi_awaited(c, &op);
}

/* Returns the communicator; NULL if nothing was found, or nothing that anybody sends. */
static struct ut_mpi_group *found(struct ut_mpi_call *c, ut_mpi_word comm)
{
	struct ut_mpi_group *g = ut_mpi_comm(comm);
	int32_t from = ut_mpi_status_source(c->status);

	if (!g || from == ut_mpi_abi.proc_null)
		return NULL;
	if (!ut_mpi_has_said(c, ut_mpi.key.from))
		ut_mpi_fact_int(c, ut_mpi.key.from, ut_mpi_world_rank(g, from));
	if (!ut_mpi_has_said(c, ut_mpi.key.tag))
		ut_mpi_fact_int(c, ut_mpi.key.tag, ut_mpi_status_tag(c->status));
	ut_mpi_fact_int(c, ut_mpi.key.bytes, ut_mpi_status_bytes(c->status));
	if (!ut_mpi_has_said(c, g->key))
		ut_mpi_fact_group(c, g);
	return g;
}

/* It is still to be received: it has the number that the next receive gets. */
void ut_mpi_probed(struct ut_mpi_call *c, ut_mpi_word comm)
{
	struct ut_mpi_group *g = found(c, comm);
	int32_t from = ut_mpi_status_source(c->status), tag = ut_mpi_status_tag(c->status);

	if (g)
		message_fact(c, g, from, tag, ut_mpi_match_peek(&g->queue, from, tag));
}

/* The number of a message whose receive was complete before it was known, if it ever is. */
static _Thread_local uint64_t number_found;

static void keep_number(const struct ut_mpi_matched *m)
{
	if (!m->correlation)
		number_found = m->number;
	else
		ut_mpi_deliver(m);
}

/* From here on the message belongs to its handle: it is as good as received. */
void ut_mpi_matched(struct ut_mpi_call *c, ut_mpi_word comm, ut_mpi_word message)
{
	struct ut_mpi_op op = { .kind = UT_MPI_OP_MATCHED, .group = found(c, comm) };
	struct ut_mpi_matched got;

	op.peer = ut_mpi_status_source(c->status);
	op.tag = ut_mpi_status_tag(c->status);
	if (!op.group)
		return;
	got = (struct ut_mpi_matched){ .source = op.peer, .tag = op.tag };
	ut_mpi_match_post(&op.group->queue, op.peer, op.tag, true, &op.ticket);
	number_found = UT_MPI_NO_NUMBER;
	ut_mpi_match_done(&op.ticket, &got, keep_number);
	op.number = number_found;
	message_fact(c, op.group, op.peer, op.tag, op.number);
	ut_mpi_message_new(message, &op);
}

void ut_mpi_take_message(struct ut_mpi_call *c, ut_mpi_word message)
{
	ut_mpi_message_take(message, &c->op);
	if (c->op.kind == UT_MPI_OP_MATCHED)
		ut_mpi_awaited(c, &c->op);
}

void ut_mpi_took_message(struct ut_mpi_call *c)
{
	if (c->op.kind == UT_MPI_OP_MATCHED)
		ut_mpi_take(c, &c->op, c->status);
	ut_mpi_receive_facts(c);
}

void ut_mpi_take_asked(struct ut_mpi_call *c, ut_mpi_word request)
{
	if (c->op.kind == UT_MPI_OP_MATCHED)
		ut_mpi_request_new(request, &c->op);
}

/* ---- prepared ------------------------------------------------------------------------------ */

void ut_mpi_prepare_peer(struct ut_mpi_call *c, ut_mpi_word comm, int32_t peer, int32_t tag)
{
	c->op = (struct ut_mpi_op){
		.call = c->id, .peer = peer, .tag = tag, .group = ut_mpi_comm(comm)
	};
	ut_mpi_begin(c);
}

/* Partitioned ones find each other when they are prepared. */
static uint64_t part_number(const struct ut_mpi_op *op, enum ut_mpi_count what)
{
	return ut_mpi_channel_next(ut_mpi_channel(op->group->queue.comm, op->peer, op->tag, what));
}

void ut_mpi_prepared(struct ut_mpi_call *c, enum ut_mpi_op_kind kind, int64_t bytes,
		     ut_mpi_word request)
{
	struct ut_mpi_op *op = &c->op;
	bool sends = kind == UT_MPI_OP_SEND || kind == UT_MPI_OP_PART_SEND;

	if (!op->group || op->peer == ut_mpi_abi.proc_null)
		return;
	op->kind = (uint8_t)kind;
	op->persistent = true;
	op->bytes = bytes;
	if (kind == UT_MPI_OP_PART_SEND)
		op->number = part_number(op, UT_MPI_COUNT_PART_SENT);
	else if (kind == UT_MPI_OP_PART_RECEIVE)
		op->number = part_number(op, UT_MPI_COUNT_PART_RECEIVED);
	if (op->peer != ut_mpi_abi.any_source)
		ut_mpi_fact_int(c, sends ? ut_mpi.key.to : ut_mpi.key.from,
				ut_mpi_world_rank(op->group, op->peer));
	if (op->tag != ut_mpi_abi.any_tag)
		ut_mpi_fact_int(c, ut_mpi.key.tag, op->tag);
	ut_mpi_fact_group(c, op->group);
	ut_mpi_request_new(request, op);
}

void ut_mpi_parts_prepared(struct ut_mpi_call *c, enum ut_mpi_op_kind kind, int32_t parts,
			   int64_t bytes, ut_mpi_word request)
{
	c->op.parts = parts;
	ut_mpi_prepared(c, kind, parts * bytes, request);
}

/* ---- started ------------------------------------------------------------------------------- */

static void start_one(struct ut_mpi_call *c, struct ut_mpi_request *r)
{
	struct ut_mpi_op *op = &r->op;
	struct ut_mpi_ends ends;

	switch (op->kind) {
	case UT_MPI_OP_SEND:
		ends = next_sent(op->group, op->peer, op->tag);
		ut_mpi_message(c, UT_MESSAGE_SENT, &ends, 0);
		send_facts(c, op->group, op->peer, op->tag);
		ut_mpi_fact_int(c, ut_mpi.key.bytes, op->bytes);
		ut_mpi_fact_group(c, op->group);
		op->number = next_request();
		ut_mpi_fact_int(c, ut_mpi.key.request, (int64_t)op->number);
		break;
	case UT_MPI_OP_PART_SEND:
		atomic_store(&r->ready, 0);
		ut_mpi_part_message(c, UT_MESSAGE_SENT, op);
		send_facts(c, op->group, op->peer, op->tag);
		ut_mpi_fact_int(c, ut_mpi.key.bytes, op->bytes);
		ut_mpi_fact_group(c, op->group);
		break;
	case UT_MPI_OP_RECEIVE:
		post(op, op->group, false);
		if (op->kind == UT_MPI_OP_RECEIVE)
			message_fact(c, op->group, op->peer, op->tag, op->ticket.number);
		break;
	case UT_MPI_OP_COLLECTIVE:
		op->number = atomic_fetch_add(&op->group->calls, 1);
		ut_mpi_fact_group(c, op->group);
		ut_mpi_fact_int(c, ut_mpi.key.seq, (int64_t)op->number);
		ut_mpi_fact(c, ut_mpi.key.collective, UT_VALUE_NAME, ut_mpi.names[op->call]);
		ut_mpi_fact_int(c, ut_mpi.key.bytes, op->bytes);
		ut_mpi_fact_int(c, ut_mpi.key.received, op->received);
		if (op->neighbours)
			ut_mpi_neighbour_facts(c, op->group, true);
		break;
	default:
		break;
	}
	op->active = true;
}

/* Each has a record of its own inside the one that starts several. */
void ut_mpi_start(struct ut_mpi_call *c, size_t count, ut_mpi_word requests)
{
	ut_mpi_begin(c);
	if (count == 1) {
		struct ut_mpi_request *r = ut_mpi_request_find(ut_mpi_handle_at(requests, 0));

		if (r)
			start_one(c, r);
		return;
	}
	for (size_t i = 0; i < count; i++) {
		struct ut_mpi_request *r = ut_mpi_request_find(ut_mpi_handle_at(requests, i));

		if (!r || r->op.kind == UT_MPI_OP_NONE)
			continue;
		ut_mpi.host->call_begin(ut_mpi.api, ut_mpi.names[UT_MPI_Start], 0);
		c->fact_count = 0;
		start_one(c, r);
		ut_mpi.host->call_end(ut_mpi.api, c->facts, c->fact_count);
	}
	c->fact_count = 0;
	ut_mpi_fact_int(c, ut_mpi.key.requests, (int64_t)count);
}

void ut_mpi_part(struct ut_mpi_call *c, ut_mpi_word request)
{
	struct ut_mpi_request *r = ut_mpi_request_find(request);

	if (!r || !r->op.group)
		return;
	if (r->op.kind == UT_MPI_OP_PART_SEND)
		ut_mpi_fact_int(c, ut_mpi.key.to, ut_mpi_world_rank(r->op.group, r->op.peer));
	else if (r->op.kind == UT_MPI_OP_PART_RECEIVE)
		ut_mpi_fact_int(c, ut_mpi.key.from, ut_mpi_world_rank(r->op.group, r->op.peer));
}

void ut_mpi_ready(struct ut_mpi_call *c, ut_mpi_word request, int32_t parts)
{
	struct ut_mpi_request *r = ut_mpi_request_find(request);
	struct ut_mpi_ends ends;

	ut_mpi_part(c, request);
	if (!r || !r->op.group || r->op.kind != UT_MPI_OP_PART_SEND || !r->op.starts ||
	    atomic_fetch_add(&r->ready, parts) + parts != r->op.parts)
		return;
	ut_mpi_part_ends(UT_MESSAGE_SENT, &r->op, &ends);
	ends.number--; /* the message that was started last */
	if (r->op.number != UT_MPI_NO_NUMBER)
		ut_mpi_fact_int(c, ut_mpi.key.message, (int64_t)ut_mpi_message_number(&ends));
}
