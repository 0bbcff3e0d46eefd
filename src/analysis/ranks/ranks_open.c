/*
 * ranks_open.c - see ranks_open.h.
 *
 * A call that never ended waited for somebody who never came: for a member of the communicator that
 * did not make the same collective call, for the sender or the receiver of a message. Who is
 * followed from one to the next is found at last, or they wait for each other.
 */
#include "ranks/ranks_open.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/grow.h"
#include "ranks/ranks_parts.h"
#include "text/cells.h"

#define STOPPED UINT64_C(500000000) /* ns in which ranks of a job are stopped that is killed */

#define MOST_CHAIN 8u     /* ranks that are named one after the other */
#define MOST_NAME  200u   /* bytes of a task */
#define SURELY_BIG 65536u /* bytes: the receiver has to be there before they are sent */

/* ---- who came ------------------------------------------------------------------------------ */

/* The open collective calls of a job: who came to each, and who is a member of its group. */
struct roll {
	const struct ut_ranks *ranks;
	uint32_t *slots;  /* by meeting: number of the open one, plus 1 */
	uint32_t *groups; /* by string: number of the group, plus 1 */
	uint32_t open_count, group_count;
	uint32_t *came; /* [open * ranks + rank]: its call there, plus 1 */
	bool *member;   /* [group * ranks + rank] */
};

static uint32_t link_of(const struct ut_rank *one, const struct ut_rank_open *o)
{
	const struct ut_rank_call *c = &one->calls[o->call];

	return ut_rank_shape(one, c)->use == UT_RANK_POST ? 0 : ut_rank_more(one, c)->link;
}

/* All ranks are members of the world, and come to MPI_Finalize; of others those that have made it,
 * or a call on it. */
static bool is_world(const struct ut_ranks *r, uint32_t group)
{
	struct ut_str name = ut_strtab_get(&r->strings, group);

	return ut_str_is(name, "MPI_COMM_WORLD") || ut_rank_use_of(name) == UT_RANK_FINALIZE;
}

static void number_open(struct roll *roll)
{
	const struct ut_ranks *r = roll->ranks;

	for (size_t i = 0; i < r->count; i++) {
		const struct ut_rank *one = &r->items[i];

		for (size_t k = 0; k < one->open_count; k++) {
			uint32_t link = link_of(one, &one->opens[k]), group;

			if (!link || roll->slots[link])
				continue;
			roll->slots[link] = ++roll->open_count;
			group = r->meetings[link - 1].group;
			if (!roll->groups[group])
				roll->groups[group] = ++roll->group_count;
		}
	}
}

static void call_rank(struct roll *roll, size_t rank)
{
	const struct ut_ranks *r = roll->ranks;
	const struct ut_rank *one = &r->items[rank];
	uint32_t slot;

	for (size_t i = 0; one->more_count && i < one->call_count; i++) {
		const struct ut_rank_call *c = &one->calls[i];
		const struct ut_rank_more *more = ut_rank_more(one, c);

		slot = roll->groups[ut_rank_shape(one, c)->group];
		if (slot && more->seq)
			roll->member[(slot - 1) * r->count + rank] = true;
		slot = more->link ? roll->slots[more->link] : 0;
		if (slot && !ut_rank_completes(ut_rank_shape(one, c)->use))
			roll->came[(slot - 1) * r->count + rank] = (uint32_t)i + 1;
	}
	for (size_t i = 0; i < one->made_count; i++) {
		slot = roll->groups[one->made[i].group];
		if (slot)
			roll->member[(slot - 1) * r->count + rank] = true;
	}
	/* A group of another library says how many it has: mostly all. */
	for (size_t i = 0; i < one->coll_count; i++) {
		const struct ut_rank_call *c = &one->calls[one->colls[i].call];

		slot = roll->groups[ut_rank_shape(one, c)->group];
		for (size_t k = 0; slot && one->colls[i].size >= r->count && k < r->count; k++)
			roll->member[(slot - 1) * r->count + k] = true;
	}
}

static void call_roll(const struct ut_ranks *r, struct roll *roll)
{
	*roll = (struct roll){ .ranks = r };
	roll->slots = ut_make((r->meeting_count + 2) * sizeof(*roll->slots));
	roll->groups = ut_make((r->strings.count + 2) * sizeof(*roll->groups));
	number_open(roll);
	roll->came = ut_make(((size_t)roll->open_count * r->count + 1) * sizeof(*roll->came));
	roll->member = ut_make((size_t)roll->group_count * r->count + 1);
	for (size_t i = 0; roll->open_count && i < r->count; i++)
		call_rank(roll, i);
	for (uint32_t g = 1; g <= r->strings.count; g++) {
		for (size_t i = 0; roll->groups[g] && is_world(r, g) && i < r->count; i++)
			roll->member[(roll->groups[g] - 1) * r->count + i] = true;
	}
}

static void release_roll(struct roll *roll)
{
	free(roll->slots);
	free(roll->groups);
	free(roll->came);
	free(roll->member);
}

static bool is_absent(const struct roll *roll, uint32_t link, uint32_t rank)
{
	const struct ut_ranks *r = roll->ranks;
	uint32_t slot = roll->slots[link], group = roll->groups[r->meetings[link - 1].group];

	return roll->member[(group - 1) * r->count + rank] &&
	       !roll->came[(slot - 1) * r->count + rank];
}

/* ---- who is waited for ---------------------------------------------------------------------- */

static bool is_window_wait(const struct ut_ranks *r, const struct ut_rank_shape *is)
{
	return ut_rank_epoch_of(ut_strtab_get(&r->strings, is->name)) == UT_RANK_EPOCH_WAIT;
}

static uint32_t with_number(const struct ut_ranks *r, int32_t number)
{
	uint32_t found = number >= 0 ? ut_ranks_find(r, number) : UT_RANK_NOBODY;

	return found == UT_RANK_NOBODY ? UT_RANK_ABSENT : found;
}

static uint32_t not_finalized(const struct ut_ranks *r)
{
	for (uint32_t i = 0; i < r->count; i++) {
		if (!ut_rank_finalize(&r->items[i]))
			return i;
	}
	return r->world > (int64_t)r->count ? UT_RANK_ABSENT : UT_RANK_NOBODY;
}

/* Was the message of a send or receive sent and received? */
static bool has_partner(const struct ut_rank *one, uint32_t call, bool received)
{
	for (size_t i = one->end_count; i-- > 0 && one->ends[i].call >= call;) {
		const struct ut_rank_end *e = &one->ends[i];

		if (e->call == call && e->received == received &&
		    (e->soft == UT_RANK_NOT_SOFT || e->soft == UT_RANK_POSTED))
			return e->partner != UT_RANK_NOBODY;
	}
	return true; /* it is not known which message it is */
}

/* Of several sends and receives: the first receive of what nobody has sent; else a large send. */
static uint32_t awaited_posts(const struct ut_ranks *r, const struct ut_rank *one,
			      enum ut_rank_why *why)
{
	uint32_t found = UT_RANK_ABSENT;

	for (size_t i = 0; i < one->post_count; i++) {
		const struct ut_rank_post *p = &one->posts[i];
		const struct ut_rank_shape *is = ut_rank_shape(one, &one->calls[p->call]);

		if (is->to < 0 && !has_partner(one, p->call, true)) {
			*why = UT_RANK_LATE_SENDER;
			return with_number(r, p->peer);
		}
		if (is->to >= 0 && is->sent >= SURELY_BIG && found == UT_RANK_ABSENT &&
		    !has_partner(one, p->call, false)) {
			*why = UT_RANK_LATE_RECEIVER;
			found = with_number(r, p->peer);
		}
	}
	return found;
}

/* Did this rank do what an open call about a window waits for? */
static bool has_come(const struct ut_rank *one, uint32_t call, uint32_t rank)
{
	for (size_t i = one->end_count; i-- > 0 && one->ends[i].call >= call;) {
		const struct ut_rank_end *e = &one->ends[i];

		if (e->call == call && e->received && e->soft == UT_RANK_TOKEN &&
		    e->partner == rank)
			return true;
	}
	return false;
}

/* Of those that opened a window, or to whom it was opened: the first that has not come. */
static uint32_t awaited_peer(const struct ut_ranks *r, const struct ut_rank *one,
			     const struct ut_rank_open *o)
{
	struct ut_str s = ut_strtab_get(&r->strings, o->peers);
	uint32_t any = UT_RANK_ABSENT;
	int32_t number = 0;

	for (size_t i = 0; o->peers && i <= s.len; i++) {
		char c = i < s.len ? s.ptr[i] : ',';
		uint32_t rank;

		if (c >= '0' && c <= '9' && number <= (int32_t)UT_RANK_MOST / 10) {
			number = 10 * number + (c - '0');
			continue;
		}
		rank = number == one->rank ? UT_RANK_ABSENT : with_number(r, number);
		if (rank != UT_RANK_ABSENT && !has_come(one, o->call, rank))
			return rank;
		any = any == UT_RANK_ABSENT ? rank : any;
		number = 0;
	}
	return any;
}

/* The outermost open call of the main thread, or of another one; NULL: there is none. */
static const struct ut_rank_open *open_call(const struct ut_rank *one)
{
	for (size_t i = 0; i < one->open_count; i++) {
		if (!ut_rank_shape(one, &one->calls[one->opens[i].call])->side)
			return &one->opens[i];
	}
	return one->open_count ? &one->opens[0] : NULL;
}

/* The rank that an open call waits for that is no collective one; NOBODY: for none; ABSENT also
 * where it is not recorded. */
static uint32_t awaited_alone(const struct ut_ranks *r, uint32_t rank, const struct ut_rank_open *o,
			      enum ut_rank_why *why)
{
	const struct ut_rank *one = &r->items[rank];
	const struct ut_rank_shape *is = ut_rank_shape(one, &one->calls[o->call]);
	uint32_t holder;

	switch (is->use) {
	case UT_RANK_FINALIZE:
		return not_finalized(r);
	case UT_RANK_SEND:
		*why = UT_RANK_LATE_RECEIVER;
		return with_number(r, is->to);
	case UT_RANK_ONE_SIDED:
		holder = ut_ranks_lock_holder(r, rank, o->call);
		if (holder != UT_RANK_NOBODY) {
			*why = UT_RANK_LOCKED;
			return holder;
		}
		*why = is_window_wait(r, is) ? UT_RANK_LATE_ORIGIN : UT_RANK_LATE_TARGET;
		if (is->to < 0 && r->count == 2 && r->world <= 2)
			return 1 - rank;
		if (o->peers)
			return awaited_peer(r, one, o);
		return is->to == one->rank ? UT_RANK_ABSENT : with_number(r, is->to);
	case UT_RANK_RECEIVE:
	case UT_RANK_EXCHANGE:
	case UT_RANK_WAIT:
		*why = UT_RANK_LATE_SENDER;
		if (o->from < 0 && r->count == 2 && r->world <= 2)
			return 1 - rank;
		if (is->use == UT_RANK_WAIT && o->from < 0 && is->to < 0)
			return awaited_posts(r, one, why);
		return with_number(r, o->from >= 0 ? o->from : is->to);
	case UT_RANK_POST:
	case UT_RANK_FILE:
	case UT_RANK_WAIT_FILE:
	case UT_RANK_IDLE:
	case UT_RANK_OTHER:
		return UT_RANK_NOBODY;
	case UT_RANK_INIT:
		*why = UT_RANK_COLLECTIVE;
		return r->silent_count ? UT_RANK_ABSENT : UT_RANK_NOBODY;
	default:
		return UT_RANK_ABSENT;
	}
}

/* Does it wait in a call of which it is not recorded for whom? */
static bool is_vague(const struct ut_ranks *r, uint32_t rank)
{
	const struct ut_rank *one = &r->items[rank];
	const struct ut_rank_open *o = open_call(one);
	const struct ut_rank_shape *is = o ? ut_rank_shape(one, &one->calls[o->call]) : NULL;
	enum ut_rank_why why;

	return o && !link_of(one, o) && o->from < 0 && (is->to < 0 || is->to == one->rank) &&
	       !o->peers && awaited_alone(r, rank, o, &why) == UT_RANK_ABSENT;
}

/*
 * The first member before this rank that never came; ABSENT: it is not here; NOBODY: all came. One
 * that waits for nobody knows whom says less than the next.
 */
static uint32_t first_absent(const struct roll *roll, uint32_t link, size_t before)
{
	const struct ut_ranks *r = roll->ranks;
	uint32_t vague = UT_RANK_NOBODY;

	for (uint32_t i = 0; i < r->count && i < before; i++) {
		if (!is_absent(roll, link, i))
			continue;
		if (!is_vague(r, i))
			return i;
		vague = vague == UT_RANK_NOBODY ? i : vague;
	}
	if (vague != UT_RANK_NOBODY)
		return vague;
	if (r->world > (int64_t)r->count && is_world(r, r->meetings[link - 1].group))
		return UT_RANK_ABSENT;
	return UT_RANK_NOBODY;
}

/* The first rank that made another call there than this one; NOBODY: there is none. */
static uint32_t first_other(const struct roll *roll, uint32_t link, const struct ut_rank_shape *is)
{
	const struct ut_ranks *r = roll->ranks;
	const uint32_t *came = &roll->came[(size_t)(roll->slots[link] - 1) * r->count];

	for (uint32_t i = 0; i < r->count; i++) {
		const struct ut_rank *one = &r->items[i];
		const struct ut_rank_shape *other =
			came[i] ? ut_rank_shape(one, &one->calls[came[i] - 1]) : is;

		if (other->name != is->name || other->root != is->root)
			return i;
	}
	return UT_RANK_NOBODY;
}

/* All have begun it: the first member that is in no call to go on with it; NOBODY: all are. */
static uint32_t first_away(const struct roll *roll, uint32_t link)
{
	const struct ut_ranks *r = roll->ranks;
	uint32_t group = roll->groups[r->meetings[link - 1].group];

	for (uint32_t i = 0; i < r->count; i++) {
		if (roll->member[(group - 1) * r->count + i] && !open_call(&r->items[i]))
			return i;
	}
	return UT_RANK_NOBODY;
}

static uint32_t in_collective(const struct roll *roll, uint32_t rank, uint32_t link,
			      const struct ut_rank_shape *is)
{
	const struct ut_ranks *r = roll->ranks;
	const struct ut_rank_meeting *m = &r->meetings[link - 1];
	bool rooted = is->meets == UT_RANK_FROM_ROOT || is->meets == UT_RANK_TO_ROOT;
	uint32_t found;

	if (rooted && m->root != UT_RANK_NOBODY && m->root != rank &&
	    is_absent(roll, link, m->root))
		return m->root;
	if (rooted && m->root == UT_RANK_NOBODY && is->root >= 0)
		return UT_RANK_ABSENT;
	if (m->mixed)
		return first_other(roll, link, is);
	found = first_absent(roll, link, is->meets == UT_RANK_SCAN ? rank : r->count);
	return found == UT_RANK_NOBODY && ut_rank_completes(is->use) ? first_away(roll, link)
								     : found;
}

/* The rank that an open call waits for; NOBODY: for none, ABSENT: for one that is not here. */
static uint32_t awaited(const struct roll *roll, uint32_t rank, const struct ut_rank_open *o,
			enum ut_rank_why *why)
{
	const struct ut_rank *one = &roll->ranks->items[rank];
	uint32_t link = link_of(one, o);

	*why = UT_RANK_COLLECTIVE;
	if (link)
		return in_collective(roll, rank, link, ut_rank_shape(one, &one->calls[o->call]));
	return awaited_alone(roll->ranks, rank, o, why);
}

void ut_ranks_wait_open(struct ut_ranks *r)
{
	struct roll roll;
	size_t open = 0;

	for (size_t i = 0; i < r->count; i++)
		open += r->items[i].open_count;
	if (!open)
		return;
	call_roll(r, &roll);
	for (uint32_t i = 0; i < r->count; i++) {
		struct ut_rank *one = &r->items[i];

		for (size_t k = 0; k < one->open_count; k++) {
			const struct ut_rank_open *o = &one->opens[k];
			enum ut_rank_why why;
			uint32_t rank = awaited(&roll, i, o, &why), link = link_of(one, o);

			if (link) {
				r->meetings[link - 1].open = true;
				r->meetings[link - 1].absent =
					rank < r->count ? rank : UT_RANK_NOBODY;
			}
			if (rank != UT_RANK_NOBODY)
				ut_rank_waited(one, o->call, one->calls[o->call].end, rank, why);
		}
	}
	release_roll(&roll);
}

/* ---- where a rank was ----------------------------------------------------------------------- */

static void add_time(struct ut_buf *out, uint64_t time)
{
	char text[UT_CELL_TIME];

	ut_buf_text(out, ut_cell_time(text, time));
}

static void ranks_open_add_name(struct ut_buf *out, struct ut_str name)
{
	ut_buf_fmt(out, "%.*s", (int)(name.len < MOST_NAME ? name.len : MOST_NAME), name.ptr);
}

/* "MPI_Allreduce (seq 1 on MPI_COMM_WORLD)"; name: another one, unless 0. */
static void add_call_as(const struct ut_ranks *r, uint32_t rank, uint32_t call, uint32_t name,
			struct ut_buf *out)
{
	const struct ut_rank *one = &r->items[rank];
	const struct ut_rank_call *c = &one->calls[call];
	const struct ut_rank_shape *is = ut_rank_shape(one, c);
	struct ut_str group = ut_strtab_get(&r->strings, is->group);
	uint64_t seq = ut_rank_more(one, c)->seq;

	for (size_t i = 0; i < one->coll_count; i++) {
		if (one->colls[i].call == call)
			group = ut_strtab_get(&r->strings, one->colls[i].comm);
	}
	ranks_open_add_name(out, ut_strtab_get(&r->strings, name ? name : is->name));
	if ((!seq && !group.len) || is->use == UT_RANK_FINALIZE) /* it has no group but the job */
		return;
	ut_buf_text(out, " (");
	if (seq)
		ut_buf_fmt(out, "seq %" PRIu64, seq - 1);
	if (group.len) {
		ut_buf_text(out, seq ? " on " : "on ");
		ranks_open_add_name(out, group);
	}
	ut_buf_text(out, ")");
}

/* Whom a rank waits for in its open call; NOBODY: for none. */
static uint32_t waits_for(const struct ut_ranks *r, uint32_t rank)
{
	const struct ut_rank *one = &r->items[rank];
	const struct ut_rank_open *o = open_call(one);
	const struct ut_rank_more *more = o ? ut_rank_more(one, &one->calls[o->call]) : NULL;

	return more && more->wait ? more->waited_for : UT_RANK_NOBODY;
}

/*
 * Did its process end by itself, before the one that waits for it? A trace says how it ended, but
 * not always when: what had not ended lasts that long, all else proves nothing. How the process of
 * the one that waits ended may not be known, and all may have been killed together.
 */
static bool ended_before(const struct ut_ranks *r, const struct ut_rank *one,
			 const struct ut_rank *waiter, uint64_t since)
{
	struct ut_str how = ut_strtab_get(&r->strings, one->ended);
	bool exited = ut_str_has_start(how, "exit");
	bool known = one->end_known || one->open_count || one->in_task;
	bool stopped = ut_str_has_start(how, "signal 2 ") || ut_str_has_start(how, "signal 15 ");

	if (one->left)
		return true;
	if (!one->ended)
		return false;
	if (one->ended == waiter->ended)
		return known ? one->end < since : exited;
	if (exited)
		return true;
	/* whoever stops a job stops its ranks one after the other, and not all in the same way */
	if (stopped || (!waiter->ended && ut_str_has_start(how, "signal 9 ")))
		return known && one->end + STOPPED < waiter->end;
	return true; /* it crashed, or was killed alone */
}

static void ranks_open_add_call(const struct ut_ranks *r, uint32_t rank, uint32_t call,
				struct ut_buf *out)
{
	add_call_as(r, rank, call, 0, out);
}

static void add_last_call(const struct ut_ranks *r, uint32_t rank, uint64_t until, const char *who,
			  struct ut_buf *out)
{
	const struct ut_rank *one = &r->items[rank];
	size_t last = one->call_count;

	while (last && ut_rank_shape(one, &one->calls[last - 1])->side)
		last--;
	if (!last) {
		ut_buf_fmt(out, "%s had made no call", who);
		return;
	}
	if (ut_rank_shape(one, &one->calls[last - 1])->use == UT_RANK_FINALIZE) {
		ut_buf_fmt(out, "%s had gone on to MPI_Finalize", who);
		return;
	}
	ut_buf_fmt(out, "%s was in no task; its last call, ", who);
	ranks_open_add_call(r, rank, (uint32_t)last - 1, out);
	ut_buf_text(out, ", had ended ");
	add_time(out, until > one->calls[last - 1].end ? until - one->calls[last - 1].end : 0);
	ut_buf_text(out, " before the end");
}

/* Where a rank was that somebody waited for: "it was in ...", or "which was in ...". */
static void ranks_open_add_place(const struct ut_ranks *r, uint32_t rank, uint32_t waiter,
				 bool first, struct ut_buf *out)
{
	const char *who = first ? "it" : "which";
	const struct ut_rank *one = &r->items[rank], *other = &r->items[waiter];
	const struct ut_rank_open *o = open_call(one);
	const struct ut_rank_open *wait = open_call(other);
	uint64_t since = wait ? other->calls[wait->call].begin : 0;
	bool gone = ended_before(r, one, other, since);

	if (gone) {
		ut_buf_fmt(out, "%s process had ended: ", first ? "its" : "whose");
		if (one->left)
			ut_buf_text(out, "exit status 0, without MPI_Finalize");
		else
			ranks_open_add_name(out, ut_strtab_get(&r->strings, one->ended));
		if (!o && !one->in_task)
			return;
		ut_buf_text(out, "; before that ");
		who = "it";
	}
	if (o) {
		ut_buf_fmt(out, "%s was in ", who);
		ranks_open_add_call(r, rank, o->call, out);
		if (ut_rank_time(&one->calls[o->call])) {
			ut_buf_text(out, " for ");
			add_time(out, ut_rank_time(&one->calls[o->call]));
		}
	} else if (one->in_task) {
		ut_buf_fmt(out, "%s was in its task \"", who);
		ranks_open_add_name(out, ut_strtab_get(&r->strings, one->in_task));
		ut_buf_text(out, "\" for ");
		add_time(out, one->end > one->in_since ? one->end - one->in_since : 0);
	} else if (one->beside) {
		ut_buf_fmt(out, "%s was in \"", who);
		ranks_open_add_name(out, ut_strtab_get(&r->strings, one->beside));
		ut_buf_text(out, "\" (overlapped, or of another thread) for ");
		add_time(out, one->end > one->beside_since ? one->end - one->beside_since : 0);
	} else {
		add_last_call(r, rank, other->end > one->end ? other->end : one->end, who, out);
	}
	if (!gone && !o && one->ended && !other->ended) {
		ut_buf_text(out, " (its process ended with ");
		ranks_open_add_name(out, ut_strtab_get(&r->strings, one->ended));
		ut_buf_text(out, ")");
	}
}

/* A rank that was in no call, while that one waited for somebody; NOBODY: all were. */
static uint32_t first_outside(const struct ut_ranks *r, uint32_t waiter)
{
	for (uint32_t i = 0; i < r->count; i++) {
		if (i != waiter && !open_call(&r->items[i]))
			return i;
	}
	return UT_RANK_NOBODY;
}

/* Whom a rank waited for that is not here, or of whom it is not recorded who it is. */
static void add_absent(const struct ut_ranks *r, uint32_t rank, const struct ut_rank_open *o,
		       struct ut_buf *out)
{
	const struct ut_rank_shape *is =
		ut_rank_shape(&r->items[rank], &r->items[rank].calls[o->call]);
	int32_t number = o->from >= 0 ? o->from : is->to;
	uint32_t outside;

	if (!is_vague(r, rank)) {
		if (number >= 0)
			ut_buf_fmt(out, "rank %" PRId32 ", of which there is no trace here",
				   number);
		else
			ut_buf_text(out, "a rank that is not here");
		return;
	}
	ut_buf_text(out, is->use == UT_RANK_RECEIVE ||
					 ut_rank_is_poll(ut_strtab_get(&r->strings, is->name))
				 ? "a message from any rank"
				 : "one that is not recorded");
	outside = first_outside(r, rank);
	if (r->world != (int64_t)r->count || r->count < 2)
		return;
	if (outside == UT_RANK_NOBODY) {
		ut_buf_text(out, "; all others were in calls, too: a deadlock");
		return;
	}
	ut_buf_fmt(out, "; rank %" PRId32 " was in no call: ", r->items[outside].rank);
	ranks_open_add_place(r, outside, rank, true, out);
}

/* The same, and whom it waited for there, and where that one was, until one waits for nobody. */
static void add_chain(const struct ut_ranks *r, uint32_t rank, uint32_t waiter, struct ut_buf *out)
{
	bool *seen = ut_make(r->count + 1);
	unsigned int named = 0;

	ut_buf_text(out, ": ");
	for (;;) {
		uint32_t next = waits_for(r, rank);

		seen[waiter] = true;
		ranks_open_add_place(r, rank, waiter, !named, out);
		if (next == UT_RANK_NOBODY || seen[rank] || ++named == MOST_CHAIN)
			break;
		if (next == UT_RANK_ABSENT) {
			ut_buf_text(out, ", waiting for ");
			add_absent(r, rank, open_call(&r->items[rank]), out);
			break;
		}
		ut_buf_fmt(out, ", waiting for rank %" PRId32, r->items[next].rank);
		if (seen[next] || next == rank) {
			ut_buf_text(out, ": a deadlock");
			break;
		}
		ut_buf_text(out, ", ");
		waiter = rank;
		rank = next;
	}
	free(seen);
}

/* ---- sentences ------------------------------------------------------------------------------ */

/* An open call of a job, with others like it. */
struct halt {
	uint32_t rank; /* index: who waited */
	const struct ut_rank_open *open;
	uint32_t waiters; /* in the same operation */
	uint64_t longest;
};

static uint64_t wait_of(const struct ut_rank *one, const struct ut_rank_open *o)
{
	return ut_rank_more(one, &one->calls[o->call])->wait;
}

static bool is_init(const struct ut_rank *one, const struct ut_rank_open *o)
{
	return ut_rank_shape(one, &one->calls[o->call])->use == UT_RANK_INIT;
}

/* The calls of MPI_Init that have not ended, if no other has: some ranks have not come to it. */
static void find_init(const struct ut_ranks *r, struct halt *h)
{
	for (uint32_t i = 0; i < r->count; i++) {
		const struct ut_rank *one = &r->items[i];
		const struct ut_rank_open *o = open_call(one);
		uint64_t time = o ? ut_rank_time(&one->calls[o->call]) : 0;

		if (!o || !is_init(one, o))
			continue;
		h->waiters++;
		if (h->open && time <= h->longest)
			continue;
		h->rank = i;
		h->open = o;
		h->longest = time;
	}
}

/* The operation that most ranks waited in, and of those the longest. */
static bool find_halt(const struct ut_ranks *r, struct halt *best)
{
	struct halt *of_meeting = ut_make((r->meeting_count + 1) * sizeof(*of_meeting));

	*best = (struct halt){ 0 };
	for (uint32_t i = 0; i < r->count; i++) {
		const struct ut_rank *one = &r->items[i];

		for (size_t k = 0; k < one->open_count; k++) {
			const struct ut_rank_open *o = &one->opens[k];
			uint32_t link = link_of(one, o);
			struct halt single = { 0 }, *h = link ? &of_meeting[link - 1] : &single;
			uint64_t time = ut_rank_time(&one->calls[o->call]);

			if ((!link && !wait_of(one, o)) || is_init(one, o))
				continue;
			if (!h->open || time > h->longest) {
				h->rank = i;
				h->open = o;
				h->longest = time;
			}
			h->waiters++;
			if (h->waiters > best->waiters ||
			    (h->waiters == best->waiters && h->longest > best->longest))
				*best = *h;
		}
	}
	free(of_meeting);
	if (!best->open)
		find_init(r, best);
	return best->open;
}

/* Of a meeting: the first that came, and one that made another call there. */
static void add_mixed(const struct ut_ranks *r, const struct halt *h, uint32_t link,
		      struct ut_buf *out)
{
	const struct ut_rank *one = &r->items[h->rank];
	const struct ut_rank_shape *is = ut_rank_shape(one, &one->calls[h->open->call]);
	struct ut_str group = ut_strtab_get(&r->strings, is->group);
	struct roll roll;
	uint32_t other, came;

	ut_buf_fmt(out, "Ranks make different calls as seq %" PRIu64 " on ",
		   ut_rank_more(one, &one->calls[h->open->call])->seq - 1);
	ranks_open_add_name(out, group);
	ut_buf_fmt(out, ": rank %" PRId32 " ", one->rank);
	ranks_open_add_name(out, ut_strtab_get(&r->strings, is->name));
	if (is->root >= 0)
		ut_buf_fmt(out, " with root %" PRId32, is->root);
	call_roll(r, &roll);
	other = first_other(&roll, link, is);
	if (other != UT_RANK_NOBODY) {
		const struct ut_rank *two = &r->items[other];

		came = roll.came[(size_t)(roll.slots[link] - 1) * r->count + other];
		is = ut_rank_shape(two, &two->calls[came - 1]);
		ut_buf_fmt(out, ", rank %" PRId32 " ", two->rank);
		ranks_open_add_name(out, ut_strtab_get(&r->strings, is->name));
		if (is->root >= 0)
			ut_buf_fmt(out, " with root %" PRId32, is->root);
	}
	release_roll(&roll);
	ut_buf_fmt(out, "; %" PRIu32 " rank%s waited there up to the end, for ", h->waiters,
		   h->waiters == 1 ? "" : "s");
	add_time(out, h->longest);
}

/* Nothing is known of how long a call lasted that is the last record of a process. */
static void add_length(const struct halt *h, struct ut_buf *out)
{
	if (!h->longest) {
		ut_buf_text(out, " (how long is not known)");
		return;
	}
	ut_buf_text(out, ", for ");
	add_time(out, h->longest);
}

static void add_waiters(const struct halt *h, struct ut_buf *out)
{
	ut_buf_fmt(out, ", in which %" PRIu32 " other%s waited up to the end", h->waiters,
		   h->waiters == 1 ? "" : "s");
	add_length(h, out);
}

/* Numbers of the world's ranks that are not here: the first, and how many more. */
static void add_missing(const struct ut_ranks *r, struct ut_buf *out)
{
	int32_t first = 0;
	int64_t more = r->world - (int64_t)r->count - 1;

	while (ut_ranks_find(r, first) != UT_RANK_NOBODY)
		first++;
	ut_buf_fmt(out, "rank %" PRId32, first);
	if (more > 0)
		ut_buf_fmt(out, " and %" PRId64 " more", more);
}

static void add_meeting(const struct ut_ranks *r, const struct halt *h, uint32_t link,
			struct ut_buf *out)
{
	const struct ut_rank *one = &r->items[h->rank];
	uint32_t late, absent = 0;
	struct roll roll;

	call_roll(r, &roll);
	for (uint32_t i = 0; i < r->count; i++)
		absent += is_absent(&roll, link, i);
	late = in_collective(&roll, h->rank, link, ut_rank_shape(one, &one->calls[h->open->call]));
	release_roll(&roll);
	if (absent && late < r->count) {
		ut_buf_fmt(out, "Rank %" PRId32, r->items[late].rank);
		if (absent > 1)
			ut_buf_fmt(out, " (and %" PRIu32 " more)", absent - 1);
		ut_buf_text(out, " never came to ");
		add_call_as(r, h->rank, h->open->call, r->meetings[link - 1].name, out);
		add_waiters(h, out);
		add_chain(r, late, h->rank, out);
	} else if (late == UT_RANK_ABSENT) {
		ut_buf_fmt(out, "%" PRIu32 " rank%s waited in ", h->waiters,
			   h->waiters == 1 ? "" : "s");
		ranks_open_add_call(r, h->rank, h->open->call, out);
		ut_buf_text(out, " up to the end");
		add_length(h, out);
		ut_buf_text(out, ", for ranks that are not here: ");
		add_missing(r, out);
	} else {
		ut_buf_fmt(out, "%" PRIu32 " rank%s had not left ", h->waiters,
			   h->waiters == 1 ? "" : "s");
		ranks_open_add_call(r, h->rank, h->open->call, out);
		ut_buf_text(out, " when the recording ended, ");
		add_time(out, h->longest);
		ut_buf_text(out, " after it began; all that are known to be members had come");
		if (late < r->count) {
			ut_buf_fmt(out, ", but rank %" PRId32 " was in no call",
				   r->items[late].rank);
			add_chain(r, late, h->rank, out);
		}
	}
}

static void add_single(const struct ut_ranks *r, const struct halt *h, struct ut_buf *out)
{
	const struct ut_rank *one = &r->items[h->rank];
	uint32_t late = ut_rank_more(one, &one->calls[h->open->call])->waited_for;

	ut_buf_fmt(out, "Rank %" PRId32 " waited in ", one->rank);
	ranks_open_add_call(r, h->rank, h->open->call, out);
	ut_buf_text(out, " up to the end");
	add_length(h, out);
	if (late < r->count) {
		ut_buf_fmt(out, ", for rank %" PRId32, r->items[late].rank);
		add_chain(r, late, h->rank, out);
	} else {
		ut_buf_text(out, ", for ");
		add_absent(r, h->rank, h->open, out);
	}
}

static void add_init(const struct ut_ranks *r, const struct halt *h, struct ut_buf *out)
{
	const struct ut_rank_silent *s = r->silent;

	if (!r->silent_count) {
		ut_buf_fmt(out, "%" PRIu32 " rank%s had not left ", h->waiters,
			   h->waiters == 1 ? "" : "s");
		ranks_open_add_call(r, h->rank, h->open->call, out);
		ut_buf_text(out, " when the recording ended, ");
		add_time(out, h->longest);
		ut_buf_text(out, " after it began; there may be others that never came");
		return;
	}
	ut_buf_fmt(out, "Rank %" PRId32, s->rank);
	if (r->silent_count > 1)
		ut_buf_fmt(out, " (and %zu more)", r->silent_count - 1);
	ut_buf_text(out, " never came to ");
	ranks_open_add_call(r, h->rank, h->open->call, out);
	add_waiters(h, out);
	if (!s->task) {
		ut_buf_text(out, ": it was in no task");
		return;
	}
	ut_buf_text(out, ": it was in its task \"");
	ranks_open_add_name(out, ut_strtab_get(&r->strings, s->task));
	ut_buf_text(out, "\" for ");
	add_time(out, s->time);
}

/* How many processes failed, or, unless failed, never left a task; *first: one of these. */
static uint32_t count_ends(const struct ut_ranks *r, bool failed, const struct ut_rank **first)
{
	uint32_t count = 0;

	for (size_t i = r->count; i-- > 0;) {
		const struct ut_rank *one = &r->items[i];

		if (failed ? !one->ended : !ut_rank_in_task(one))
			continue;
		*first = one;
		count++;
	}
	return count;
}

/* No call is open: how the processes ended, or where they were, if not as they should. */
static void add_ends(const struct ut_ranks *r, struct ut_buf *out)
{
	const struct ut_rank *one = NULL;
	uint32_t count = count_ends(r, true, &one);

	if (count) {
		ut_buf_fmt(out, "The process of rank %" PRId32, one->rank);
		if (count > 1)
			ut_buf_fmt(out, " and those of %" PRIu32 " more", count - 1);
		ut_buf_text(out, " did not end well: ");
		ranks_open_add_name(out, ut_strtab_get(&r->strings, one->ended));
		if (one->in_task) {
			ut_buf_text(out, ", in its task \"");
			ranks_open_add_name(out, ut_strtab_get(&r->strings, one->in_task));
			ut_buf_text(out, "\"");
		}
		return;
	}
	count = count_ends(r, false, &one);
	if (!count)
		return;
	ut_buf_fmt(out, "Rank %" PRId32, one->rank);
	if (count > 1)
		ut_buf_fmt(out, " (and %" PRIu32 " more)", count - 1);
	ut_buf_text(out, " never left its task \"");
	ranks_open_add_name(out, ut_strtab_get(&r->strings, one->in_task));
	ut_buf_text(out, "\", in which it was for ");
	add_time(out, one->end > one->in_since ? one->end - one->in_since : 0);
}

void ut_ranks_unfinished(const struct ut_ranks *r, struct ut_buf *out)
{
	struct halt h;
	uint32_t link;

	if (!find_halt(r, &h)) {
		add_ends(r, out);
		return;
	}
	link = link_of(&r->items[h.rank], h.open);
	if (is_init(&r->items[h.rank], h.open))
		add_init(r, &h, out);
	else if (link && r->meetings[link - 1].mixed)
		add_mixed(r, &h, link, out);
	else if (link)
		add_meeting(r, &h, link, out);
	else
		add_single(r, &h, out);
}
