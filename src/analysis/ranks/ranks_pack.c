/* ranks_pack.c - see ranks_pack.h. Memory as it lies, with strings in front that are renumbered. */
#include "ranks/ranks_pack.h"

#include <errno.h>
#include <stdlib.h>

#include "base/grow.h"

static const char magic[8] = "UTRANKS7";

struct head {
	char magic[8];
	uint64_t strings, ranks, silent, origins;
	int64_t world;
};

struct rank_head {
	int64_t realtime;
	uint64_t start, stop, first, last, end, in_since, beside_since, calls, shapes, mores, ends,
		shifts, tops, colls, opens, posts, made, measured;
	int32_t rank;
	uint32_t host, program, origin, clock_id, reference, in_task, beside, ended;
	uint32_t lossy, end_known, left, reserved;
};

/* ---- writing ------------------------------------------------------------------------------- */

static void ranks_pack_put(struct ut_buf *b, const void *data, size_t size, size_t count)
{
	if (count)
		ut_buf_add(b, data, size * count);
}

void ut_ranks_pack(const struct ut_ranks *r, struct ut_buf *out)
{
	struct head head = { .strings = r->strings.count,
			     .ranks = r->count,
			     .silent = r->silent_count,
			     .origins = r->origins,
			     .world = r->world };

	memcpy(head.magic, magic, sizeof(magic));
	ranks_pack_put(out, &head, sizeof(head), 1);
	for (uint32_t i = 1; i <= r->strings.count; i++) {
		struct ut_str s = ut_strtab_get(&r->strings, i);
		uint64_t len = s.len;

		ranks_pack_put(out, &len, sizeof(len), 1);
		ranks_pack_put(out, s.ptr, 1, s.len);
	}
	for (size_t i = 0; i < r->count; i++) {
		const struct ut_rank *one = &r->items[i];
		const struct rank_head h = { .realtime = one->realtime,
					     .start = one->start,
					     .stop = one->stop,
					     .first = one->first,
					     .last = one->last,
					     .end = one->end,
					     .in_since = one->in_since,
					     .beside_since = one->beside_since,
					     .calls = one->call_count,
					     .shapes = one->shape_count,
					     .mores = one->more_count,
					     .ends = one->end_count,
					     .shifts = one->shift_count,
					     .tops = one->top_count,
					     .colls = one->coll_count,
					     .opens = one->open_count,
					     .posts = one->post_count,
					     .made = one->made_count,
					     .measured = one->measured_count,
					     .rank = one->rank,
					     .host = one->host,
					     .program = one->program,
					     .origin = one->origin,
					     .clock_id = one->clock_id,
					     .reference = one->reference,
					     .in_task = one->in_task,
					     .beside = one->beside,
					     .ended = one->ended,
					     .lossy = one->lossy,
					     .end_known = one->end_known,
					     .left = one->left };

		ranks_pack_put(out, &h, sizeof(h), 1);
		ranks_pack_put(out, one->calls, sizeof(*one->calls), one->call_count);
		ranks_pack_put(out, one->shapes, sizeof(*one->shapes), one->shape_count);
		ranks_pack_put(out, one->mores, sizeof(*one->mores), one->more_count);
		ranks_pack_put(out, one->ends, sizeof(*one->ends), one->end_count);
		ranks_pack_put(out, one->shifts, sizeof(*one->shifts), one->shift_count);
		ranks_pack_put(out, one->tops, sizeof(*one->tops), one->top_count);
		ranks_pack_put(out, one->colls, sizeof(*one->colls), one->coll_count);
		ranks_pack_put(out, one->opens, sizeof(*one->opens), one->open_count);
		ranks_pack_put(out, one->posts, sizeof(*one->posts), one->post_count);
		ranks_pack_put(out, one->made, sizeof(*one->made), one->made_count);
		ranks_pack_put(out, one->measured, sizeof(*one->measured), one->measured_count);
	}
	ranks_pack_put(out, r->silent, sizeof(*r->silent), r->silent_count);
}

/* ---- reading ------------------------------------------------------------------------------- */

struct input {
	const char *at, *end;
	uint32_t *strings; /* ours, by their number */
	uint64_t count;
	bool bad;
};

static void ranks_pack_get(struct input *in, void *to, size_t size)
{
	if ((size_t)(in->end - in->at) < size) {
		in->bad = true;
		memset(to, 0, size);
		return;
	}
	memcpy(to, in->at, size);
	in->at += size;
}

/* count items of this size; NULL: there are none, or not that many. */
static void *get_list(struct input *in, uint64_t count, size_t size, size_t *cap)
{
	void *items;

	*cap = 0;
	if (!count)
		return NULL;
	if (count > (uint64_t)(in->end - in->at) / size) {
		in->bad = true;
		return NULL;
	}
	items = ut_grow_raw(NULL, (size_t)count, cap, size);
	ranks_pack_get(in, items, (size_t)count * size);
	return items;
}

static uint32_t ranks_pack_string(struct input *in, uint32_t number)
{
	if (number > in->count)
		in->bad = true;
	return number && number <= in->count ? in->strings[number] : 0;
}

static void get_strings(struct input *in, struct ut_ranks *r)
{
	for (uint64_t i = 1; !in->bad && i <= in->count; i++) {
		uint64_t len;

		ranks_pack_get(in, &len, sizeof(len));
		if (len > (uint64_t)(in->end - in->at)) {
			in->bad = true;
			return;
		}
		in->strings[i] = ut_strtab_intern(&r->strings, in->at, (size_t)len);
		in->at += len;
	}
}

/* Any other byte than 0 and 1 in a bool is undefined behaviour once it is read as one. */
static void check_bool(struct input *in, const bool *value)
{
	uint8_t byte;

	memcpy(&byte, value, 1);
	in->bad = in->bad || byte > 1;
}

static void rename_all(struct input *in, struct ut_rank *one)
{
	one->host = ranks_pack_string(in, one->host);
	one->program = ranks_pack_string(in, one->program);
	one->clock_id = ranks_pack_string(in, one->clock_id);
	one->reference = ranks_pack_string(in, one->reference);
	one->in_task = ranks_pack_string(in, one->in_task);
	one->beside = ranks_pack_string(in, one->beside);
	one->ended = ranks_pack_string(in, one->ended);
	for (size_t i = 0; i < one->open_count; i++) {
		in->bad = in->bad || one->opens[i].call >= one->call_count;
		one->opens[i].peers = ranks_pack_string(in, one->opens[i].peers);
	}
	for (size_t i = 0; i < one->post_count; i++)
		in->bad = in->bad || one->posts[i].call >= one->call_count;
	for (size_t i = 0; i < one->made_count; i++)
		one->made[i].group = ranks_pack_string(in, one->made[i].group);
	for (size_t i = 0; i < one->call_count; i++) {
		const struct ut_rank_call *c = &one->calls[i];

		in->bad = in->bad || c->shape >= one->shape_count || c->more > one->more_count ||
			  c->end < c->begin;
	}
	for (size_t i = 0; i < one->shape_count; i++) {
		struct ut_rank_shape *s = &one->shapes[i];

		s->name = ranks_pack_string(in, s->name);
		s->group = ranks_pack_string(in, s->group);
		s->task = ranks_pack_string(in, s->task);
		in->bad = in->bad || s->use >= UT_RANK_USES || s->meets >= UT_RANK_USES;
		check_bool(in, &s->side);
		check_bool(in, &s->firm);
	}
	for (size_t i = 0; i < one->more_count; i++)
		in->bad = in->bad || one->mores[i].link || one->mores[i].wait;
	for (size_t i = 0; i < one->end_count; i++) {
		check_bool(in, &one->ends[i].received);
		check_bool(in, &one->ends[i].finalized);
		in->bad =
			in->bad || one->ends[i].call >= one->call_count ||
			one->ends[i].soft >= UT_RANK_SOFTS ||
			(one->ends[i].finalized && (one->ends[i].soft != UT_RANK_DONE ||
						    one->ends[i].partner_call >= one->call_count));
	}
	for (size_t i = 0; i < one->coll_count; i++) {
		struct ut_rank_coll *c = &one->colls[i];

		in->bad = in->bad || c->call >= one->call_count;
		c->library = ranks_pack_string(in, c->library);
		c->comm = ranks_pack_string(in, c->comm);
	}
	for (size_t i = 0; i < one->shift_count; i++)
		one->shifts[i].task = ranks_pack_string(in, one->shifts[i].task);
	for (size_t i = 0; i < one->top_count; i++)
		one->tops[i].task = ranks_pack_string(in, one->tops[i].task);
}

static void get_rank(struct input *in, struct ut_ranks *r)
{
	struct rank_head h;
	struct ut_rank *one;

	ranks_pack_get(in, &h, sizeof(h));
	if (in->bad)
		return;
	one = ut_ranks_new(r, h.rank);
	one->host = h.host;
	one->program = h.program;
	one->origin = h.origin + r->origins;
	one->clock_id = h.clock_id;
	one->reference = h.reference;
	one->realtime = h.realtime;
	one->start = h.start;
	one->stop = h.stop;
	one->first = h.first;
	one->last = h.last;
	one->end = h.end;
	one->in_since = h.in_since;
	one->beside_since = h.beside_since;
	one->beside = h.beside;
	one->in_task = h.in_task;
	one->ended = h.ended;
	one->lossy = h.lossy;
	one->end_known = h.end_known;
	one->left = h.left;
	one->calls = get_list(in, h.calls, sizeof(*one->calls), &one->call_cap);
	one->call_count = one->calls ? (size_t)h.calls : 0;
	one->shapes = get_list(in, h.shapes, sizeof(*one->shapes), &one->shape_cap);
	one->shape_count = one->shapes ? (size_t)h.shapes : 0;
	one->mores = get_list(in, h.mores, sizeof(*one->mores), &one->more_cap);
	one->more_count = one->mores ? (size_t)h.mores : 0;
	one->ends = get_list(in, h.ends, sizeof(*one->ends), &one->end_cap);
	one->end_count = one->ends ? (size_t)h.ends : 0;
	one->shifts = get_list(in, h.shifts, sizeof(*one->shifts), &one->shift_cap);
	one->shift_count = one->shifts ? (size_t)h.shifts : 0;
	one->tops = get_list(in, h.tops, sizeof(*one->tops), &one->top_cap);
	one->top_count = one->tops ? (size_t)h.tops : 0;
	one->colls = get_list(in, h.colls, sizeof(*one->colls), &one->coll_cap);
	one->coll_count = one->colls ? (size_t)h.colls : 0;
	one->opens = get_list(in, h.opens, sizeof(*one->opens), &one->open_cap);
	one->open_count = one->opens ? (size_t)h.opens : 0;
	one->posts = get_list(in, h.posts, sizeof(*one->posts), &one->post_cap);
	one->post_count = one->posts ? (size_t)h.posts : 0;
	one->made = get_list(in, h.made, sizeof(*one->made), &one->made_cap);
	one->made_count = one->made ? (size_t)h.made : 0;
	one->measured = get_list(in, h.measured, sizeof(*one->measured), &one->measured_cap);
	one->measured_count = one->measured ? (size_t)h.measured : 0;
	rename_all(in, one);
}

int ut_ranks_unpack(struct ut_ranks *r, const char *data, size_t len, struct ut_err *err)
{
	struct input in = { .at = data, .end = data + len };
	struct head head;

	ranks_pack_get(&in, &head, sizeof(head));
	if (in.bad || memcmp(head.magic, magic, sizeof(magic)) != 0 || head.strings > len ||
	    head.ranks > len)
		return ut_err_set(err, -EPROTO,
				  "the ranks of this job do not understand each other");
	in.count = head.strings;
	in.strings = ut_make(((size_t)head.strings + 1) * sizeof(*in.strings));
	get_strings(&in, r);
	for (uint64_t i = 0; !in.bad && i < head.ranks; i++)
		get_rank(&in, r);
	for (uint64_t i = 0; !in.bad && i < head.silent; i++) {
		struct ut_rank_silent s;

		ranks_pack_get(&in, &s, sizeof(s));
		s.task = ranks_pack_string(&in, s.task);
		*ut_ranks_add_silent(r) = s;
	}
	r->origins += (uint32_t)head.origins;
	r->world = head.world > r->world ? head.world : r->world;
	free(in.strings);
	return in.bad ? ut_err_set(err, -EPROTO,
				   "the ranks of this job do not understand each other")
		      : 0;
}
