#include "merge/rewrite.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/grow.h"
#include "base/json_scan.h"
#include "import/json_id.h"
#include "merge/rewrite_number.h"

#define FRAME_EVENTS 8192u
#define PATCHES      9

/* One place in an event where other text goes. Text lies in room, or outlives the event. */
struct patch {
	struct ut_str old; /* len 0: text is put in here */
	const char *text;
	size_t len;
};

struct patches {
	struct patch items[PATCHES];
	size_t count;
	char room[PATCHES][UT_REWRITE_ROOM];
};

/* Kept in the order of the text; the members of an event come in any. */
static void add_patch(struct patches *p, struct ut_str old, const char *text, size_t len)
{
	size_t i = p->count++;

	for (; i && p->items[i - 1].old.ptr > old.ptr; i--)
		p->items[i] = p->items[i - 1];
	p->items[i] = (struct patch){ old, text, len };
}

/* A number in the patches' own room, written by the caller; nothing happens for 0. */
static void rewrite_add_number(struct patches *p, struct ut_str old, size_t len)
{
	if (len)
		add_patch(p, old, p->room[p->count], len);
}

/* ---- what changes in an event -------------------------------------------------------------- */

/* Where clocks run differently, lengths do as well: the end is moved as far as it has to be. */
static void patch_length(struct patches *p, const struct ut_time_map *map, int64_t begin,
			 int64_t added, struct ut_str dur)
{
	int64_t ns, end, change, length;

	if (!ut_rewrite_ns(dur, &ns) || __builtin_add_overflow(begin, ns, &end))
		return;
	change = ut_time_map_add(map, end) - added;
	if (change && (ns < 0 || ns + change >= 0))
		rewrite_add_number(p, dur,
				   ut_rewrite_shift(p->room[p->count], dur, change, &length));
}

static void patch_time(struct patches *p, struct ut_rewrite *r,
		       const struct ut_rewrite_walk_event *e)
{
	int64_t shift = r->plan->shift, ns;
	struct ut_str ts = e->ts;

	if (r->plan->map) {
		if (!ut_rewrite_ns(ts, &ns))
			return;
		shift = ut_time_map_add(r->plan->map, ns);
		if (e->dur.len)
			patch_length(p, r->plan->map, ns, shift, e->dur);
	}
	if (shift) {
		size_t len = ut_rewrite_shift(p->room[p->count], ts, shift, &ns);

		if (!len)
			return;
		rewrite_add_number(p, ts, len);
	} else if (!ut_rewrite_ns(ts, &ns)) {
		return;
	}
	r->key = ns > r->key ? ns : r->key;
}

/* In front of the text of a string. */
static void patch_prefix(struct patches *p, struct ut_str string, const char *prefix)
{
	add_patch(p, (struct ut_str){ string.ptr + 1, 0 }, prefix, strlen(prefix));
}

static void patch_id(struct patches *p, const struct ut_rewrite_plan *plan, struct ut_str id)
{
	uint64_t value;
	char *room = p->room[p->count];

	if (!id.len)
		return;
	if (!plan->id_all && ut_rewrite_id(id, &value)) {
		if (plan->id_add)
			rewrite_add_number(p, id, ut_rewrite_add(room, id, plan->id_add));
	} else if (plan->id_prefix) {
		if (*id.ptr == '"' && !ut_id_number(id, &value))
			patch_prefix(p, id, plan->id_prefix);
		else
			rewrite_add_number(p, id, ut_rewrite_own(room, id, plan->id_prefix));
	}
}

/* The name of a stack frame, which is a text in the table of them, may be a number here. */
static void patch_frame(struct patches *p, struct ut_str sf, const char *prefix)
{
	char *room = p->room[p->count];
	int len;

	if (*sf.ptr == '"') {
		patch_prefix(p, sf, prefix);
		return;
	}
	len = snprintf(room, UT_REWRITE_ROOM, "\"%s%.*s\"", prefix, (int)sf.len, sf.ptr);
	if (len > 0 && len < UT_REWRITE_ROOM && ut_json_digit(*sf.ptr))
		add_patch(p, sf, room, (size_t)len);
}

static void patch_id2(struct patches *p, const struct ut_rewrite_plan *plan, struct ut_str id2)
{
	patch_id(p, plan, ut_id_inside(id2, "local"));
	patch_id(p, plan, ut_id_inside(id2, "global"));
}

/* An event without a pid gets one only if it has to be told from those of other files. */
static void patch_pid(struct patches *p, const struct ut_rewrite_walk_event *e, const char *pid)
{
	struct ut_str front = { e->text.ptr + 1, 0 };
	size_t i = p->count;

	if (e->pid.len) {
		add_patch(p, e->pid, pid, strlen(pid));
	} else {
		int len = snprintf(p->room[i], sizeof(p->room[i]), "\"pid\":%s%s", pid,
				   memchr(e->text.ptr, ':', e->text.len) ? "," : "");

		if (len > 0 && len < UT_REWRITE_ROOM)
			add_patch(p, front, p->room[i], (size_t)len);
	}
}

static void patch_metadata(struct patches *p, const struct ut_rewrite_walk_event *e,
			   const struct ut_rewrite_process *change)
{
	struct ut_str old;
	size_t i = p->count;
	int len;

	if (change->name && ut_str_is(e->name, "\"process_name\"")) {
		old = ut_facts_inside(e->args, "name");
		if (old.len)
			add_patch(p, old, change->name, strlen(change->name));
	} else if (change->sorted && ut_str_is(e->name, "\"process_sort_index\"")) {
		old = ut_facts_inside(e->args, "sort_index");
		len = snprintf(p->room[i], sizeof(p->room[i]), "%" PRId64, change->sort_index);
		if (old.len && len > 0)
			add_patch(p, old, p->room[i], (size_t)len);
	}
}

static const struct ut_rewrite_process *change_of(struct ut_rewrite *r, struct ut_str value)
{
	struct ut_str pid = ut_facts_pid(value);
	uint32_t *known = ut_facts_recall(&r->recent, pid);
	const struct ut_facts_process *p;

	if (known && *known)
		return &r->plan->processes[*known - 1];
	p = ut_facts_find(r->facts, pid);
	if (!p)
		return NULL;
	if (known)
		*known = (uint32_t)(p - r->facts->processes) + 1;
	return &r->plan->processes[p - r->facts->processes];
}

static void patch_event(struct patches *p, struct ut_rewrite *r,
			const struct ut_rewrite_walk_event *e)
{
	const struct ut_rewrite_plan *plan = r->plan;

	p->count = 0;
	patch_time(p, r, e);
	if (plan->processes) {
		const struct ut_rewrite_process *change = change_of(r, e->pid);

		if (change && change->pid)
			patch_pid(p, e, change->pid);
		if (change && e->ph.len == 3 && e->ph.ptr[1] == 'M')
			patch_metadata(p, e, change);
	}
	if (plan->id_add || plan->id_prefix) {
		if (ut_facts_pairs(e->ph) && !ut_id_is_global(e->ph, e->id, e->id2)) {
			patch_id(p, plan, e->id);
			if (e->id2.len)
				patch_id2(p, plan, e->id2);
		}
		patch_id(p, plan, e->bind_id);
	}
	if (plan->sf_prefix && e->sf.len)
		patch_frame(p, e->sf, plan->sf_prefix);
}

/* ---- frames -------------------------------------------------------------------------------- */

void ut_frame_release(struct ut_frame *f)
{
	free(f->text);
	free(f->keys);
	free(f->ends);
	*f = (struct ut_frame){ 0 };
}

/* Room for one more event of len bytes, and where it goes; ",\n" is there already. */
static char *frame_reserve(struct ut_frame *f, size_t len)
{
	if (f->cap - f->len < len + 2)
		f->text = ut_grow(f->text, f->len + len + 2, &f->cap, 1);
	if (f->count == f->key_cap)
		f->keys = ut_grow(f->keys, f->count + 1, &f->key_cap, sizeof(*f->keys));
	if (f->count == f->end_cap)
		f->ends = ut_grow(f->ends, f->count + 1, &f->end_cap, sizeof(*f->ends));
	memcpy(f->text + f->len, ",\n", 2);
	return f->text + f->len + 2;
}

static void frame_close_event(struct ut_frame *f, const char *end, int64_t key)
{
	f->len = (size_t)(end - f->text);
	f->keys[f->count] = key;
	f->ends[f->count++] = f->len;
}

static char *rewrite_copy(char *to, const char *from, size_t len)
{
	memcpy(to, from, len);
	return to + len;
}

static void put_event(struct ut_rewrite *r, struct ut_frame *f,
		      const struct ut_rewrite_walk_event *e)
{
	const char *from = e->text.ptr, *end = from + e->text.len;
	struct patches p;
	size_t room = e->text.len;
	char *to;

	patch_event(&p, r, e);
	for (size_t i = 0; i < p.count; i++)
		room += p.items[i].len;
	to = frame_reserve(f, room);
	for (size_t i = 0; i < p.count; i++) {
		const struct patch *patch = &p.items[i];

		to = rewrite_copy(to, from, (size_t)(patch->old.ptr - from));
		to = rewrite_copy(to, patch->text, patch->len);
		from = patch->old.ptr + patch->old.len;
	}
	to = rewrite_copy(to, from, (size_t)(end - from));
	frame_close_event(f, to, r->key);
}

/* Metadata that the file does not have, in front of everything else. */
static void put_missing(struct ut_rewrite *r, struct ut_frame *f)
{
	for (uint32_t i = 0; r->plan->processes && i < r->facts->process_count; i++) {
		const struct ut_facts_process *p = &r->facts->processes[i];
		const struct ut_rewrite_process *change = &r->plan->processes[i];
		struct ut_str old = ut_facts_span(r->facts, p->pid);
		int len = change->pid ? (int)strlen(change->pid) : (int)old.len;
		const char *pid = change->pid ? change->pid : old.ptr;
		size_t room = 128 + (size_t)len + (change->name ? strlen(change->name) : 0);
		char *to;

		if (change->name && !p->named) {
			to = frame_reserve(f, room);
			to += snprintf(
				to, room,
				"{\"ph\":\"M\",\"pid\":%.*s,\"tid\":0,\"name\":\"process_name\","
				"\"args\":{\"name\":%s}}",
				len, pid, change->name);
			frame_close_event(f, to, r->key);
		}
		if (change->sorted && !p->sorted) {
			to = frame_reserve(f, room);
			to += snprintf(to, room,
				       "{\"ph\":\"M\",\"pid\":%.*s,\"tid\":0,\"name\":\"process_"
				       "sort_index\","
				       "\"args\":{\"sort_index\":%" PRId64 "}}",
				       len, pid, change->sort_index);
			frame_close_event(f, to, r->key);
		}
	}
}

/* ---- the file ------------------------------------------------------------------------------ */

int ut_rewrite_open(struct ut_rewrite *r, const char *path, const struct ut_facts *facts,
		    const struct ut_rewrite_plan *plan, struct ut_err *err)
{
	int rc;

	*r = (struct ut_rewrite){ .facts = facts, .plan = plan, .key = INT64_MIN };
	rc = ut_rewrite_walk_open(&r->walk, path, err);
	r->walk.trusted = facts->clean;
	return rc;
}

void ut_rewrite_close(struct ut_rewrite *r)
{
	ut_rewrite_walk_close(&r->walk);
}

static int check_unchanged(struct ut_rewrite *r, struct ut_err *err)
{
	struct stat st;

	if (fstat(r->walk.source.fd, &st))
		return ut_err_set(err, -errno, "%s: %s", r->walk.source.path, strerror(errno));
	if ((uint64_t)st.st_size != r->facts->size ||
	    (uint64_t)st.st_mtim.tv_sec * 1000000000u + (uint64_t)st.st_mtim.tv_nsec !=
		    r->facts->mtime)
		return ut_err_set(err, -EBUSY,
				  "%s: changed while it was being read; wait until its writer is "
				  "done",
				  r->walk.source.path);
	return 0;
}

/* What was guessed, and turns out to be otherwise, before the end of the file says more. */
static bool is_surprised(const struct ut_rewrite *r)
{
	const struct ut_facts *seen = r->seen, *guessed = r->facts;

	return seen->process_count > guessed->process_count || seen->samples ||
	       (seen->id_first <= seen->id_last && guessed->id_first > guessed->id_last) ||
	       (seen->id_texts && !guessed->id_texts) || !ut_rewrite_walk_was_clean(&r->walk);
}

static int end_file(struct ut_rewrite *r, struct ut_err *err)
{
	r->ended = true;
	if (r->seen)
		ut_facts_finish(r->seen, &r->walk);
	return check_unchanged(r, err);
}

int ut_rewrite_next(struct ut_rewrite *r, struct ut_frame *frame, struct ut_err *err)
{
	enum ut_rewrite_walk_item item;

	frame->len = 0;
	frame->count = 0;
	if (r->ended)
		return 0;
	if (!r->started)
		put_missing(r, frame);
	r->started = true;
	while (frame->len < UT_FRAME_BYTES && frame->count < FRAME_EVENTS) {
		item = ut_rewrite_walk_next(&r->walk, err);
		if (item == UT_ITEM_ERROR)
			return err && err->code ? err->code : -EPROTO;
		if (item == UT_ITEM_END) {
			int rc = end_file(r, err);

			if (rc)
				return rc;
			break;
		}
		if (r->seen)
			ut_facts_note(r->seen, &r->seen_recent, &r->walk, item == UT_ITEM_EVENT);
		if (item == UT_ITEM_EVENT)
			put_event(r, frame, &r->walk.event);
	}
	if (r->seen && is_surprised(r))
		return ut_err_set(err, -EAGAIN, "%s: not what its ends look like",
				  r->walk.source.path);
	return frame->count > 0;
}
