/* request.c - see request.h. */
#include "backend/mpi/request.h"

#include <errno.h>
#include <sys/mman.h>

#include "backend/mpi/facts.h"
#include "backend/mpi/kinds.h"

static struct ut_handle_table requests, messages;

/* ---- tables -------------------------------------------------------------------------------- */

void ut_mpi_requests_init(void)
{
	requests.size = messages.size = sizeof(struct ut_mpi_request);
}

static void request_set(struct ut_handle_table *t, ut_mpi_word handle, const struct ut_mpi_op *op)
{
	struct ut_mpi_request *r = ut_handle_item_of(t, (const void *)handle);

	if (!r)
		return;
	r->op = *op;
	r->op.active = !op->persistent;
	atomic_fetch_add_explicit(&r->serial, 1, memory_order_release);
}

void ut_mpi_request_new(ut_mpi_word handle, const struct ut_mpi_op *op)
{
	if (handle != ut_mpi_abi.null_request)
		request_set(&requests, handle, op);
}

struct ut_mpi_request *ut_mpi_request_find(ut_mpi_word handle)
{
	return ut_handle_find(&requests, (const void *)handle);
}

void ut_mpi_message_new(ut_mpi_word handle, const struct ut_mpi_op *op)
{
	request_set(&messages, handle, op);
}

void ut_mpi_message_take(ut_mpi_word handle, struct ut_mpi_op *op)
{
	struct ut_mpi_request *r = ut_handle_find(&messages, (const void *)handle);

	op->kind = UT_MPI_OP_NONE;
	if (!r)
		return;
	*op = r->op;
	r->op.kind = UT_MPI_OP_NONE;
}

/* ---- messages ------------------------------------------------------------------------------ */

static void send_received(const struct ut_mpi_group *g, const struct ut_mpi_matched *m)
{
	const struct ut_mpi_ends ends = {
		.comm = g->id, .from = m->source, .to = g->rank, .tag = m->tag, .number = m->number
	};

	ut_mpi_message(m->call, UT_MESSAGE_RECEIVED, &ends, m->correlation);
}

void ut_mpi_deliver(const struct ut_mpi_matched *m)
{
	send_received(m->context, m);
}

void ut_mpi_part_ends(enum ut_message_end end, const struct ut_mpi_op *op, struct ut_mpi_ends *ends)
{
	const struct ut_mpi_group *g = op->group;
	bool sends = end == UT_MESSAGE_SENT;

	*ends = (struct ut_mpi_ends){
		.comm = ut_mpi_mix(g->id, op->number),
		.from = sends ? g->rank : op->peer,
		.to = sends ? op->peer : g->rank,
		.tag = op->tag,
		.number = op->number == UT_MPI_NO_NUMBER ? op->number : op->starts,
	};
}

void ut_mpi_part_message(struct ut_mpi_call *c, enum ut_message_end end, struct ut_mpi_op *op)
{
	struct ut_mpi_ends ends;

	ut_mpi_part_ends(end, op, &ends);
	op->starts++;
	ut_mpi_message(c, end, &ends, c->correlation);
}

static void request_note(struct ut_mpi_call *c, struct ut_mpi_group *g, int32_t from, int32_t tag)
{
	c->messages++;
	c->from_group = g;
	c->from = from;
	c->from_tag = tag;
}

static bool was_cancelled(ut_mpi_word status)
{
	int32_t flag = 0;

	return !ut_mpi.ask.Test_cancelled(status, (ut_mpi_word)(void *)&flag) && flag;
}

/* Those posted behind it in its channel get one number less. */
static void undo(struct ut_mpi_op *op)
{
	uint64_t number = ut_mpi_match_undo(&op->ticket, ut_mpi_deliver);
	struct ut_handle_item *i = atomic_load(&requests.last);

	for (; number != UT_MPI_NO_NUMBER && i; i = i->all) {
		struct ut_mpi_op *other = &((struct ut_mpi_request *)i)->op;

		if (other->active && other->kind == UT_MPI_OP_RECEIVE &&
		    other->ticket.queue == op->ticket.queue &&
		    other->ticket.source == op->ticket.source &&
		    other->ticket.tag == op->ticket.tag &&
		    other->ticket.number != UT_MPI_NO_NUMBER && other->ticket.number > number)
			other->ticket.number--;
	}
}

static void take_receive(struct ut_mpi_call *c, struct ut_mpi_op *op, ut_mpi_word status)
{
	struct ut_mpi_matched got = { .source = ut_mpi_status_source(status),
				      .tag = ut_mpi_status_tag(status),
				      .correlation = c->correlation,
				      .context = op->group,
				      .call = c };

	if (op->cancelled && was_cancelled(status)) {
		undo(op);
		return;
	}
	ut_mpi_match_done(&op->ticket, &got, ut_mpi_deliver);
	request_note(c, op->group, got.source, got.tag);
	c->received += (uint64_t)ut_mpi_status_bytes(status);
}

static void take_matched(struct ut_mpi_call *c, struct ut_mpi_op *op, ut_mpi_word status)
{
	send_received(op->group, &(struct ut_mpi_matched){ .source = op->peer,
							   .tag = op->tag,
							   .number = op->number,
							   .correlation = c->correlation,
							   .call = c });
	request_note(c, op->group, op->peer, op->tag);
	c->received += (uint64_t)ut_mpi_status_bytes(status);
}

static void take_collective(struct ut_mpi_call *c, const struct ut_mpi_op *op)
{
	if (c->group)
		return; /* one is told */
	c->group = op->group;
	ut_mpi_fact_group(c, op->group);
	ut_mpi_fact_int(c, ut_mpi.key.seq, (int64_t)op->number);
	ut_mpi_fact(c, ut_mpi.key.collective, UT_VALUE_NAME, ut_mpi.names[op->call]);
	if (op->neighbours)
		ut_mpi_neighbour_facts(c, op->group, false);
}

static void take_send(struct ut_mpi_call *c, const struct ut_mpi_op *op)
{
	if (!c->sends || op->number < c->first_request)
		c->first_request = op->number;
	if (!c->sends || op->number > c->last_request)
		c->last_request = op->number;
	c->sends++;
}

/* number: of the collective call that has begun it, plus 1. */
static void take_file(struct ut_mpi_call *c, const struct ut_mpi_op *op)
{
	if (c->group)
		return;
	c->group = op->group;
	ut_mpi_fact_group(c, op->group);
	if (!op->number)
		return;
	ut_mpi_fact_int(c, ut_mpi.key.seq, (int64_t)op->number - 1);
	ut_mpi_fact(c, ut_mpi.key.collective, UT_VALUE_NAME, ut_mpi.names[op->call]);
}

static void take_one_sided(struct ut_mpi_call *c, const struct ut_mpi_op *op)
{
	if (c->group)
		return;
	c->group = op->group;
	ut_mpi_fact_int(c, ut_mpi.key.target, ut_mpi_world_rank(op->group, op->peer));
	ut_mpi_fact_group(c, op->group);
}

void ut_mpi_take(struct ut_mpi_call *c, struct ut_mpi_op *op, ut_mpi_word status)
{
	switch (op->kind) {
	case UT_MPI_OP_RECEIVE:
		take_receive(c, op, status);
		break;
	case UT_MPI_OP_MATCHED:
		take_matched(c, op, status);
		break;
	case UT_MPI_OP_COLLECTIVE:
		take_collective(c, op);
		break;
	case UT_MPI_OP_SEND:
		take_send(c, op);
		break;
	case UT_MPI_OP_FILE:
		take_file(c, op);
		break;
	case UT_MPI_OP_ONE_SIDED:
		take_one_sided(c, op);
		break;
	case UT_MPI_OP_PART_RECEIVE:
		ut_mpi_part_message(c, UT_MESSAGE_RECEIVED, op);
		request_note(c, op->group, op->peer, op->tag);
		c->received += (uint64_t)op->bytes;
		break;
	default:
		break;
	}
}

void ut_mpi_receive_facts(struct ut_mpi_call *c)
{
	uint32_t tag = c->to_somebody ? ut_mpi.key.from_tag : ut_mpi.key.tag;

	if (c->sends)
		ut_mpi_fact_int(c, ut_mpi.key.request, (int64_t)c->first_request);
	if (c->sends > 1)
		ut_mpi_fact_int(c, ut_mpi.key.last_request, (int64_t)c->last_request);
	if (!c->messages)
		return;
	if (c->messages > 1)
		ut_mpi_fact_int(c, ut_mpi.key.messages, c->messages);
	if (c->messages == 1 && !ut_mpi_has_said(c, ut_mpi.key.from))
		ut_mpi_fact_int(c, ut_mpi.key.from, ut_mpi_world_rank(c->from_group, c->from));
	if (c->messages == 1 && !ut_mpi_has_said(c, tag))
		ut_mpi_fact_int(c, tag, c->from_tag);
	ut_mpi_fact_int(c, c->to_somebody ? ut_mpi.key.received : ut_mpi.key.bytes,
			(int64_t)c->received);
	if (!c->to_somebody && !ut_mpi_has_said(c, c->from_group->key))
		ut_mpi_fact_group(c, c->from_group);
}

/* ---- calls that complete requests ---------------------------------------------------------- */

/* Memory for so many, kept by the thread. */
static bool request_make_room(struct ut_mpi_call *c, size_t count, ut_mpi_word *statuses)
{
	size_t seen = count * sizeof(*c->seen), size = seen + count * UT_MPI_STATUS_BYTES;
	struct ut_mpi_thread *t = &ut_mpi_me;
	int saved = errno;
	char *more;

	c->seen = c->few;
	*statuses = (ut_mpi_word)c->own;
	if (count <= UT_MPI_FEW)
		return true;
	if (t->spare_size < size) {
		more = mmap(NULL, 2 * size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
			    0);
		errno = saved;
		if (more == MAP_FAILED)
			return false;
		if (t->spare)
			munmap(t->spare, t->spare_size);
		t->spare = more;
		t->spare_size = 2 * size;
	}
	c->seen = (struct ut_mpi_seen *)(void *)t->spare;
	*statuses = (ut_mpi_word)(t->spare + seen);
	return true;
}

/* A copy: as soon as MPI has completed it, another thread may get the same handle. */
static struct ut_mpi_request *request_look_at(struct ut_mpi_call *c, size_t i, ut_mpi_word handle)
{
	struct ut_mpi_request *r = ut_mpi_request_find(handle);

	c->seen[i].request = r && r->op.active ? r : NULL;
	if (!c->seen[i].request)
		return NULL;
	c->seen[i].serial = atomic_load_explicit(&r->serial, memory_order_acquire);
	c->seen[i].op = r->op;
	if (r->op.kind == UT_MPI_OP_RECEIVE && ut_mpi_match_may_wait(&r->op.ticket) &&
	    !c->correlation)
		c->correlation = ut_mpi_correlation();
	return r;
}

/* What a call waits for, if that is one thing. */
static void send_awaited(struct ut_mpi_call *c)
{
	const struct ut_mpi_op *op = NULL;
	size_t active = 0;

	for (size_t i = 0; i < c->count; i++) {
		if (!c->seen[i].request)
			continue;
		active++;
		op = &c->seen[i].op;
	}
	if (c->count > 1 && active != 1)
		return;
	switch (op ? op->kind : UT_MPI_OP_NONE) {
	case UT_MPI_OP_RECEIVE:
	case UT_MPI_OP_MATCHED:
	case UT_MPI_OP_PART_RECEIVE:
		ut_mpi_awaited(c, op);
		break;
	case UT_MPI_OP_COLLECTIVE:
		take_collective(c, op);
		break;
	case UT_MPI_OP_FILE:
		take_file(c, op);
		break;
	case UT_MPI_OP_ONE_SIDED:
		take_one_sided(c, op);
		break;
	default:
		break;
	}
}

void ut_mpi_polled(struct ut_mpi_call *c)
{
	if (!c->probes) {
		send_awaited(c);
		return;
	}
	c->op.group = ut_mpi_comm(c->comm);
	if (c->op.group && c->op.peer != ut_mpi_abi.proc_null)
		ut_mpi_awaited(c, &c->op);
}

ut_mpi_word ut_mpi_look(struct ut_mpi_call *c, int64_t count, ut_mpi_word array,
			ut_mpi_word statuses)
{
	ut_mpi_word own;
	bool any = false, asks = false;

	c->group = NULL;
	if (count > 0 && request_make_room(c, (size_t)count, &own)) {
		c->count = (size_t)count;
		for (size_t i = 0; i < c->count; i++) {
			const struct ut_mpi_request *r =
				request_look_at(c, i, ut_mpi_handle_at(array, i));

			any = any || r;
			/* what came is in statuses only */
			asks = asks || (r && (r->op.kind == UT_MPI_OP_RECEIVE ||
					      r->op.kind == UT_MPI_OP_MATCHED));
		}
		if (asks && statuses == ut_mpi_abi.ignore)
			statuses = own;
	}
	c->count = any ? c->count : 0;
	c->status = statuses;
	if (!c->poll)
		send_awaited(c);
	return statuses;
}

/* Request i is complete; status is the index of its status. */
void ut_mpi_complete(struct ut_mpi_call *c, size_t i, size_t status)
{
	struct ut_mpi_seen *s = &c->seen[i];

	if (i >= c->count || !s->request)
		return;
	ut_mpi_take(c, &s->op, c->status + status * ut_mpi_abi.status);
	if (atomic_load_explicit(&s->request->serial, memory_order_acquire) != s->serial)
		return; /* another thread has the handle */
	s->request->op.active = false;
	s->request->op.starts = s->op.starts;
	if (!s->op.persistent)
		s->request->op.kind = UT_MPI_OP_NONE;
}

void ut_mpi_completed(struct ut_mpi_call *c)
{
	ut_mpi_receive_facts(c);
}

void ut_mpi_complete_all(struct ut_mpi_call *c)
{
	for (size_t i = 0; i < c->count; i++)
		ut_mpi_complete(c, i, i);
	ut_mpi_receive_facts(c);
}

void ut_mpi_complete_some(struct ut_mpi_call *c, ut_mpi_word count, ut_mpi_word indices)
{
	int32_t n = ut_mpi_int_at(count, 0);

	for (int32_t i = 0; i < n; i++)
		ut_mpi_complete(c, (size_t)ut_mpi_int_at(indices, (size_t)i), (size_t)i);
	ut_mpi_receive_facts(c);
}

void ut_mpi_cancel(ut_mpi_word request)
{
	struct ut_mpi_request *r = ut_mpi_request_find(request);

	if (r)
		r->op.cancelled = true;
}

/* Nobody will know what a receive got; sends that are freed complete by themselves. */
void ut_mpi_forget(ut_mpi_word request)
{
	struct ut_mpi_request *r = ut_mpi_request_find(request);

	if (!r)
		return;
	if (r->op.active && r->op.kind == UT_MPI_OP_RECEIVE && ut_mpi_match_may_wait(&r->op.ticket))
		ut_mpi_match_undo(&r->op.ticket, ut_mpi_deliver);
	r->op.active = false;
	r->op.kind = UT_MPI_OP_NONE;
}
