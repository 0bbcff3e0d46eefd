#include "merge/rewrite_facts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/grow.h"
#include "base/hash.h"
#include "base/json_scan.h"
#include "import/json_id.h"
#include "merge/rewrite_clean.h"
#include "merge/rewrite_number.h"
#include "merge/rewrite_walk.h"

#define MOST_MEMBERS 1024
#define TEXT_MOST    (1u << 30) /* what one file may say about itself, all in all */

static struct ut_facts_text rewrite_facts_keep(struct ut_facts *f, struct ut_str s)
{
	struct ut_facts_text t = { (uint32_t)f->text.len, (uint32_t)s.len };

	if (s.len > TEXT_MOST - f->text.len)
		return (struct ut_facts_text){ 0 };
	ut_buf_add(&f->text, s.ptr, s.len);
	return t;
}

/* ---- JSON values at hand ------------------------------------------------------------------- */

/* Without its quotes; empty if it is no string. */
static struct ut_str rewrite_facts_unquoted(struct ut_str s)
{
	if (s.len < 2 || *s.ptr != '"')
		return (struct ut_str){ "", 0 };
	return (struct ut_str){ s.ptr + 1, s.len - 2 };
}

static bool whole_number(struct ut_str s, int64_t *value)
{
	return s.len && ut_json_scaled(s, 0, value);
}

struct ut_str ut_facts_inside(struct ut_str object, const char *key)
{
	struct ut_str found = { 0 }, name, value;
	struct ut_json j;

	if (!object.len || *object.ptr != '{')
		return found;
	ut_json_init_text(&j, object.ptr, object.len);
	ut_json_enter(&j);
	while (ut_json_member(&j, &name) && ut_json_skip(&j, &value)) {
		if (!ut_str_is(name, key))
			continue;
		found = (struct ut_str){ object.ptr + (value.ptr - j.buf), value.len };
		break;
	}
	ut_json_release(&j);
	return found;
}

struct ut_str ut_facts_member(const struct ut_facts *f, const char *key)
{
	for (uint32_t i = 0; i < f->member_count; i++) {
		if (ut_str_is(ut_facts_span(f, f->members[i].key), key))
			return ut_facts_span(f, f->members[i].value);
	}
	return (struct ut_str){ 0 };
}

/* ---- processes ----------------------------------------------------------------------------- */

struct ut_str ut_facts_pid(struct ut_str value)
{
	static const char none[9] = "0";
	struct ut_str inner;
	size_t digits = 0;

	if (!value.len)
		return (struct ut_str){ none, 1 };
	if (*value.ptr != '"')
		return value;
	inner = rewrite_facts_unquoted(value);
	while (digits < inner.len && ut_json_digit(inner.ptr[digits]))
		digits++;
	return inner.len && digits == inner.len ? inner : value;
}

static uint32_t rewrite_facts_hash_of(struct ut_str pid)
{
	return (uint32_t)ut_hash_bytes(pid.ptr, pid.len);
}

struct ut_facts_process *ut_facts_find(const struct ut_facts *f, struct ut_str pid)
{
	uint32_t hash = rewrite_facts_hash_of(pid), at = hash, n;

	while ((n = ut_hashtab_next(&f->by_pid, hash, &at))) {
		if (ut_str_eq(ut_facts_span(f, f->processes[n - 1].pid), pid))
			return &f->processes[n - 1];
	}
	return NULL;
}

static struct ut_facts_process *process_of(struct ut_facts *f, struct ut_str pid)
{
	struct ut_facts_process *p = ut_facts_find(f, pid);

	if (p)
		return p;
	f->processes = ut_grow(f->processes, f->process_count + 1, &f->process_cap, sizeof(*p));
	p = &f->processes[f->process_count++];
	*p = (struct ut_facts_process){ .pid = rewrite_facts_keep(f, pid), .rank = -1 };
	ut_hashtab_add(&f->by_pid, rewrite_facts_hash_of(pid), f->process_count);
	return p;
}

/* "RANK 3 solver": the way in which we and Intel's tool name the processes of a job. */
static int32_t rank_in_name(struct ut_str name)
{
	int32_t rank = 0;
	size_t i = 5;

	if (name.len < 7 || !ut_str_has_start(name, "RANK "))
		return -1;
	for (; i < name.len && ut_json_digit(name.ptr[i]) && i < 13; i++)
		rank = rank * 10 + (name.ptr[i] - '0');
	return i > 5 && i < name.len && name.ptr[i] == ' ' ? rank : -1;
}

static void note_metadata(struct ut_facts *f, struct ut_facts_process *p,
			  const struct ut_rewrite_walk_event *e)
{
	struct ut_str name = rewrite_facts_unquoted(e->name);

	if (ut_str_is(name, "process_name")) {
		struct ut_str title = rewrite_facts_unquoted(ut_facts_inside(e->args, "name"));

		if (!p->named || !ut_str_eq(ut_facts_span(f, p->name), title))
			p->name = rewrite_facts_keep(f, title);
		p->named = true;
		p->rank = p->rank < 0 ? rank_in_name(title) : p->rank;
	} else if (ut_str_is(name, "process_sort_index")) {
		p->sorted = whole_number(ut_facts_inside(e->args, "sort_index"), &p->sort_index);
	}
}

/* ---- events -------------------------------------------------------------------------------- */

bool ut_facts_pairs(struct ut_str ph)
{
	return ph.len == 3 && memchr("stfbneSTFpvV", ph.ptr[1], 12);
}

static void note_id(struct ut_facts *f, struct ut_str id)
{
	uint64_t value;

	if (!id.len)
		return;
	if (!ut_rewrite_id(id, &value)) {
		f->id_texts = true;
		return;
	}
	f->id_first = value < f->id_first ? value : f->id_first;
	f->id_last = value > f->id_last ? value : f->id_last;
}

static void note_ids(struct ut_facts *f, const struct ut_rewrite_walk_event *e)
{
	if (ut_id_is_global(e->ph, e->id, e->id2))
		return; /* it stays what it is */
	note_id(f, e->id);
	if (e->id2.len) {
		note_id(f, ut_id_inside(e->id2, "local"));
		note_id(f, ut_id_inside(e->id2, "global"));
	}
}

static struct ut_facts_process *process_of_event(struct ut_facts *f, struct ut_facts_recent *recent,
						 struct ut_str value)
{
	struct ut_str pid = ut_facts_pid(value);
	uint32_t *known = ut_facts_recall(recent, pid);
	struct ut_facts_process *p;

	if (known && *known)
		return &f->processes[*known - 1];
	p = process_of(f, pid);
	if (known)
		*known = (uint32_t)(p - f->processes) + 1;
	return p;
}

static void note_event(struct ut_facts *f, struct ut_facts_recent *recent,
		       const struct ut_rewrite_walk_event *e)
{
	struct ut_facts_process *p = process_of_event(f, recent, e->pid);
	int64_t ns;

	f->events++;
	if (ut_rewrite_ns(e->ts, &ns)) {
		f->first = ns < f->first ? ns : f->first;
		f->last = ns > f->last ? ns : f->last;
	}
	if (e->ph.len == 3 && e->ph.ptr[1] == 'M')
		note_metadata(f, p, e);
	else if (ut_facts_pairs(e->ph))
		note_ids(f, e);
	note_id(f, e->bind_id);
}

/* ---- what the file says about itself ------------------------------------------------------- */

static void note_member(struct ut_facts *f, struct ut_str key, struct ut_str value)
{
	struct ut_facts_member *m;
	struct ut_buf text = { 0 };

	if (f->member_count == MOST_MEMBERS)
		return;
	f->members = ut_grow(f->members, f->member_count + 1, &f->member_cap, sizeof(*m));
	m = &f->members[f->member_count++];
	ut_rewrite_clean(value, &text);
	m->key = rewrite_facts_keep(f, key);
	m->value = rewrite_facts_keep(f, (struct ut_str){ text.data, text.len });
	ut_buf_release(&text);
}

/* One of otherData.processes, as our own exporter writes them. */
static void note_process(struct ut_facts *f, struct ut_str object)
{
	struct ut_str pid = ut_facts_inside(object, "pid");
	struct ut_facts_process *p = pid.len ? ut_facts_find(f, ut_facts_pid(pid)) : NULL;
	int64_t number;

	if (!p)
		return;
	p->placed = whole_number(ut_facts_inside(object, "realtime_offset_ns"), &p->realtime) &&
		    p->realtime;
	if (whole_number(ut_facts_inside(object, "rank"), &number) && number >= 0 &&
	    number < INT32_MAX)
		p->rank = (int32_t)number;
	p->host = rewrite_facts_keep(f, rewrite_facts_unquoted(ut_facts_inside(object, "host")));
}

static void note_processes(struct ut_facts *f)
{
	struct ut_str list = ut_facts_inside(ut_facts_member(f, "otherData"), "processes");
	struct ut_str item;
	struct ut_json j;

	if (!list.len || *list.ptr != '[')
		return;
	ut_json_init_text(&j, list.ptr,
			  list.len); /* copies: rewrite_facts_keep() moves the facts' text */
	ut_json_enter(&j);
	while (ut_json_element(&j) && ut_json_skip(&j, &item))
		note_process(f, item);
	ut_json_release(&j);
}

static void note_clock_and_rank(struct ut_facts *f)
{
	static const char key[] = "baseTimeNanoseconds";
	struct ut_str base = ut_facts_member(f, key);
	int64_t rank;

	if (!base.len)
		base = ut_facts_inside(ut_facts_member(f, "viztracer_metadata"), key);
	f->placed = whole_number(base, &f->base) && f->base > 0;
	if (whole_number(ut_facts_inside(ut_facts_member(f, "distributedInfo"), "rank"), &rank) &&
	    rank >= 0 && rank < INT32_MAX)
		f->rank = (int32_t)rank;
}

/* ---- the file ------------------------------------------------------------------------------ */

struct logger {
	const struct ut_facts_opts *opts;
	const char *path;
};

static void rewrite_facts_report(void *ctx, const char *text)
{
	const struct logger *t = ctx;

	if (t->opts->warn)
		t->opts->warn(t->opts->ctx, t->path, text);
}

static int rewrite_facts_walk(struct ut_facts *f, struct ut_rewrite_walk *w,
			      const struct ut_facts_opts *opts, struct ut_err *err)
{
	struct ut_facts_recent recent = { 0 };
	enum ut_rewrite_walk_item item;
	uint64_t reported = 0;

	while ((item = ut_rewrite_walk_next(w, err)) < UT_ITEM_END) {
		ut_facts_note(f, &recent, w, item == UT_ITEM_EVENT);
		if (opts->progress && w->source.taken - reported >= 1u << 20) {
			atomic_fetch_add(opts->progress, w->source.taken - reported);
			reported = w->source.taken;
		}
	}
	if (opts->progress)
		atomic_fetch_add(opts->progress, w->source.taken - reported);
	return item == UT_ITEM_ERROR ? (err && err->code ? err->code : -EPROTO) : 0;
}

void ut_facts_start(struct ut_facts *f)
{
	*f = (struct ut_facts){ .first = INT64_MAX, .last = INT64_MIN, .rank = -1 };
	f->id_first = UINT64_MAX;
}

void ut_facts_note(struct ut_facts *f, struct ut_facts_recent *recent,
		   const struct ut_rewrite_walk *w, bool event)
{
	if (event)
		note_event(f, recent, &w->event);
	else if (ut_str_is(w->key, "samples"))
		f->samples = true;
	else
		note_member(f, w->key, w->value);
}

void ut_facts_finish(struct ut_facts *f, const struct ut_rewrite_walk *w)
{
	struct stat st;

	f->clean = ut_rewrite_walk_was_clean(w);
	f->bytes = w->source.at;
	if (!fstat(w->source.fd, &st)) {
		f->size = (uint64_t)st.st_size;
		f->mtime = (uint64_t)st.st_mtim.tv_sec * 1000000000u + (uint64_t)st.st_mtim.tv_nsec;
	}
	note_processes(f);
	note_clock_and_rank(f);
}

int ut_facts_read(struct ut_facts *f, const char *path, const struct ut_facts_opts *opts,
		  struct ut_err *err)
{
	struct logger logger = { opts, path };
	struct ut_err why = { 0 };
	struct ut_rewrite_walk w;
	int rc;

	ut_facts_start(f);
	rc = ut_rewrite_walk_open(&w, path, &why);
	if (!rc) {
		rc = rewrite_facts_walk(f, &w, opts, &why);
		if (!rc)
			ut_rewrite_walk_report(&w, rewrite_facts_report, &logger);
		ut_facts_finish(f, &w);
	}
	ut_rewrite_walk_close(&w);
	if (rc) {
		ut_facts_release(f);
		return ut_err_set(err, rc, "%s", why.text);
	}
	return 0;
}

void ut_facts_release(struct ut_facts *f)
{
	ut_buf_release(&f->text);
	free(f->processes);
	ut_hashtab_release(&f->by_pid);
	free(f->members);
	*f = (struct ut_facts){ 0 };
}

/* ---- for other ranks ----------------------------------------------------------------------- */

/* The parts that are arrays, in a fixed order. */
#define PART_COUNT 3

static void parts_of(struct ut_facts *f, struct ut_buf parts[PART_COUNT])
{
	parts[0] = (struct ut_buf){ f->text.data, f->text.len, 0 };
	parts[1] = (struct ut_buf){ (char *)f->processes, f->process_count * sizeof(*f->processes),
				    0 };
	parts[2] = (struct ut_buf){ (char *)f->members, f->member_count * sizeof(*f->members), 0 };
}

void ut_facts_pack(const struct ut_facts *f, struct ut_buf *out)
{
	struct ut_facts flat = *f;
	struct ut_buf parts[PART_COUNT];

	parts_of(&flat, parts);
	ut_buf_add(out, (const char *)&flat, sizeof(flat));
	for (size_t i = 0; i < PART_COUNT; i++)
		ut_buf_add(out, parts[i].data, parts[i].len);
}

static void *rewrite_facts_take(const char **at, const char *end, size_t len)
{
	void *copy;

	if ((size_t)(end - *at) < len)
		return NULL;
	copy = ut_make(len + 1);
	memcpy(copy, *at, len);
	*at += len;
	return copy;
}

int ut_facts_unpack(struct ut_facts *f, const char **at, const char *end)
{
	struct ut_buf parts[PART_COUNT];
	struct ut_facts flat;

	*f = (struct ut_facts){ 0 };
	if ((size_t)(end - *at) < sizeof(flat))
		return -EPROTO;
	memcpy(&flat, *at, sizeof(flat));
	*at += sizeof(flat);
	parts_of(&flat, parts);
	flat.text = (struct ut_buf){ rewrite_facts_take(at, end, parts[0].len), parts[0].len,
				     parts[0].len };
	flat.processes = rewrite_facts_take(at, end, parts[1].len);
	flat.members = rewrite_facts_take(at, end, parts[2].len);
	flat.process_cap = flat.process_count;
	flat.member_cap = flat.member_count;
	flat.by_pid = (struct ut_hashtab){ 0 };
	if (!flat.text.data || !flat.processes || !flat.members) {
		ut_facts_release(&flat);
		return -EPROTO;
	}
	for (uint32_t i = 0; i < flat.process_count; i++)
		ut_hashtab_add(&flat.by_pid,
			       rewrite_facts_hash_of(ut_facts_span(&flat, flat.processes[i].pid)),
			       i + 1);
	*f = flat;
	return 0;
}
