/*
 * perf_read.c - perf.data as a store: its records in order of time.
 *
 * The kernel writes a buffer for each CPU, and perf copies them in rounds: records of one round may
 * be older than some of the round before, and never than those of the one before that. So what came
 * until the end of the last round is complete when the next one ends, and nothing else need be
 * kept.
 */
#include "import/importer.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/grow.h"
#include "base/sort.h"
#include "import/perf/perf_attr.h"
#include "import/perf/perf_features.h"
#include "import/perf/perf_file.h"
#include "import/perf/perf_maps.h"
#include "import/perf/perf_stack.h"
#include "import/perf/perf_unpack.h"
#include "import/prof/sample_build.h"
#include "text/source.h"

#define MOST_PREFIX  ((uint64_t)64 << 20) /* bytes before the records */
#define MOST_WAITING ((size_t)1 << 30)    /* bytes of records that wait for their turn */

/* A record that waits. */
struct waiting {
	uint64_t time;
	uint64_t order; /* as they came */
	const uint8_t *bytes;
};

struct reader {
	struct ut_source *source;
	const struct ut_import_opts *opts;
	struct ut_pdata_head head;
	struct ut_sample_build build;
	struct ut_pdata_attrs attrs;
	struct ut_pdata_maps maps;
	struct ut_pdata_stacks stacks;
	struct ut_pdata_unpack unpack;
	struct ut_arena arena, next_arena; /* of records that wait */
	struct waiting *waiting;
	size_t waiting_count, waiting_cap, waiting_bytes;
	uint64_t order, newest, round; /* round: the newest time before the last one ended */
	uint64_t lost;
	uint32_t *event_names; /* by attribute: string id */
	size_t event_cap;
};

/* ---- records --------------------------------------------------------------------------------- */

/* A text of a record, closed before its end; "" = it is not. */
static const char *perf_read_text_at(const uint8_t *bytes, size_t size, size_t at)
{
	return at < size && memchr(bytes + at, 0, size - at) ? (const char *)bytes + at : "";
}

static void on_map(struct reader *r, const uint8_t *b, size_t size, bool newer, uint16_t misc)
{
	size_t name_at = newer ? 64 : 32;
	const char *path = perf_read_text_at(b, size, name_at);
	struct ut_pdata_map map = { 0 };
	struct ut_pdata_module *m;
	uint32_t pid;

	if (size < name_at)
		return;
	memcpy(&pid, b, 4);
	memcpy(&map.start, b + 8, 8);
	memcpy(&map.end, b + 16, 8);
	memcpy(&map.offset, b + 24, 8);
	if (pid == UINT32_MAX) { /* the kernel's: where it begins */
		if (!strncmp(path, "[kernel", 7))
			ut_pdata_stacks_kernel(&r->stacks, map.offset);
		return;
	}
	map.end = map.end < UINT64_MAX - map.start ? map.start + map.end : UINT64_MAX;
	map.module =
		ut_pdata_module(&r->maps, ut_sample_build_text(&r->build, ut_str_of(path)), path);
	m = &r->maps.modules[map.module];
	if (newer && misc & UT_PDATA_MMAP_BUILD_ID && !m->opened && b[32] <= UT_BUILD_ID_MOST) {
		m->id.len = b[32];
		memcpy(m->id.bytes, b + 36, m->id.len);
	}
	ut_pdata_map_add(&r->maps, pid, &map);
}

static void on_comm(struct reader *r, const uint8_t *b, size_t size, uint16_t misc)
{
	struct ut_trace *t = &r->build.build.store.trace;
	uint32_t pid, tid, track, name;

	if (size < 9)
		return;
	memcpy(&pid, b, 4);
	memcpy(&tid, b + 4, 4);
	name = ut_sample_build_text(&r->build, ut_str_of(perf_read_text_at(b, size, 8)));
	track = ut_sample_build_thread(&r->build, pid, tid);
	t->tracks[track].name = name;
	if (pid == tid || !t->processes[t->tracks[track].process].name)
		t->processes[t->tracks[track].process].name = name;
	if (misc & UT_PDATA_COMM_EXEC)
		ut_pdata_map_clear(&r->maps, pid);
}

static void on_fork(struct reader *r, const uint8_t *b, size_t size)
{
	struct ut_trace *t = &r->build.build.store.trace;
	uint32_t pid, ppid, tid, ptid, parent, track;

	if (size < 16)
		return;
	memcpy(&pid, b, 4);
	memcpy(&ppid, b + 4, 4);
	memcpy(&tid, b + 8, 4);
	memcpy(&ptid, b + 12, 4);
	ut_pdata_map_fork(&r->maps, pid, ppid);
	parent = ut_sample_build_thread(&r->build, ppid, ptid);
	track = ut_sample_build_thread(&r->build, pid, tid);
	if (!t->tracks[track].name)
		t->tracks[track].name = t->tracks[parent].name;
	if (!t->processes[t->tracks[track].process].name)
		t->processes[t->tracks[track].process].name =
			t->processes[t->tracks[parent].process].name;
}

static uint32_t perf_read_event_of(struct reader *r, const struct ut_pdata_attr *a)
{
	size_t at = (size_t)(a - r->attrs.items);

	r->event_names = ut_grow(r->event_names, at + 1, &r->event_cap, sizeof(*r->event_names));
	if (!r->event_names[at]) {
		struct ut_buf name = { 0 };

		ut_pdata_event_name(a, &name);
		r->event_names[at] =
			ut_sample_build_text(&r->build, (struct ut_str){ name.data, name.len });
		ut_buf_release(&name);
	}
	return r->event_names[at];
}

static void on_sample(struct reader *r, const uint8_t *b, size_t size)
{
	struct ut_pdata_taken t;
	struct ut_sample_added a;

	if (!ut_pdata_sample(&r->attrs, b, size, &t)) {
		r->build.build.store.trace.losses.unread++;
		return;
	}
	a = (struct ut_sample_added){ .track = ut_sample_build_thread(&r->build, t.pid, t.tid),
				      .event = perf_read_event_of(r, t.attr),
				      .ts = t.time,
				      .weight = t.period };
	a.stack = ut_pdata_stack(&r->stacks, &t);
	ut_sample_build_add(&r->build, &a);
}

static void on_lost(struct reader *r, uint32_t type, const uint8_t *b, size_t size)
{
	uint64_t count;

	if (size < (type == UT_PDATA_LOST ? 16u : 8u))
		return;
	memcpy(&count, b + (type == UT_PDATA_LOST ? 8 : 0), 8);
	r->lost += count < UINT32_MAX ? count : 0;
}

static void handle(struct reader *r, const uint8_t *bytes)
{
	struct ut_pdata_record rec;
	const uint8_t *b = bytes + sizeof(rec);
	size_t size;

	memcpy(&rec, bytes, sizeof(rec));
	size = rec.size - sizeof(rec);
	switch (rec.type) {
	case UT_PDATA_MMAP:
	case UT_PDATA_MMAP2:
		on_map(r, b, size, rec.type == UT_PDATA_MMAP2, rec.misc);
		break;
	case UT_PDATA_COMM:
		on_comm(r, b, size, rec.misc);
		break;
	case UT_PDATA_FORK:
		on_fork(r, b, size);
		break;
	case UT_PDATA_SAMPLE:
		on_sample(r, b, size);
		break;
	case UT_PDATA_LOST:
	case UT_PDATA_LOST_SAMPLES:
		on_lost(r, rec.type, b, size);
		break;
	default:
		break;
	}
}

/* ---- order ----------------------------------------------------------------------------------- */

static int in_time(const void *x, const void *y)
{
	const struct waiting *a = x, *b = y;

	if (a->time != b->time)
		return a->time < b->time ? -1 : 1;
	return a->order < b->order ? -1 : a->order > b->order;
}

/* Those up to a time; the others go on waiting, in memory of their own. */
static void handle_until(struct reader *r, uint64_t time)
{
	size_t done = 0, left;

	ut_sort(r->waiting, r->waiting_count, sizeof(*r->waiting), in_time);
	while (done < r->waiting_count && r->waiting[done].time <= time)
		handle(r, r->waiting[done++].bytes);
	left = r->waiting_count - done;
	r->waiting_bytes = 0;
	for (size_t i = 0; i < left; i++) {
		struct ut_pdata_record rec;

		r->waiting[i] = r->waiting[done + i];
		memcpy(&rec, r->waiting[i].bytes, sizeof(rec));
		r->waiting[i].bytes = (const uint8_t *)ut_arena_copy(
			&r->next_arena, (const char *)r->waiting[i].bytes, rec.size);
		r->waiting_bytes += rec.size;
	}
	r->waiting_count = left;
	ut_arena_release(&r->arena);
	r->arena = r->next_arena;
	r->next_arena = (struct ut_arena){ 0 };
}

static void perf_read_hold(struct reader *r, const uint8_t *bytes,
			   const struct ut_pdata_record *rec)
{
	uint64_t time =
		ut_pdata_time(&r->attrs, rec->type, bytes + sizeof(*rec), rec->size - sizeof(*rec));

	r->newest = time > r->newest ? time : r->newest;
	r->waiting =
		ut_grow_raw(r->waiting, r->waiting_count + 1, &r->waiting_cap, sizeof(*r->waiting));
	r->waiting[r->waiting_count++] = (struct waiting){
		/* what has no time belongs where it stands */
		.time = time ? time
			     : (r->attrs.count && rec->type == UT_PDATA_SAMPLE ? r->newest : 0),
		.order = r->order++,
		.bytes = (const uint8_t *)ut_arena_copy(&r->arena, (const char *)bytes, rec->size),
	};
	r->waiting_bytes += rec->size;
	if (r->waiting_bytes > MOST_WAITING)
		handle_until(r, r->newest);
}

/* What perf adds to a pipe, or between the kernel's records. */
static void on_own(struct reader *r, const uint8_t *bytes, const struct ut_pdata_record *rec)
{
	const uint8_t *b = bytes + sizeof(*rec);
	size_t size = rec->size - sizeof(*rec);

	if (rec->type == UT_PDATA_FINISHED_ROUND) {
		handle_until(r, r->round);
		r->round = r->newest;
	} else if (rec->type == UT_PDATA_HEADER_ATTR) {
		ut_pdata_take_attr(&r->attrs, b, size);
	} else if (rec->type == UT_PDATA_EVENT_UPDATE) {
		ut_pdata_take_update(&r->attrs, b, size);
	}
}

static void on_record(void *ctx, const uint8_t *bytes)
{
	struct reader *r = ctx;
	struct ut_pdata_record rec;

	memcpy(&rec, bytes, sizeof(rec));
	if (rec.type > UT_PDATA_KERNEL_LAST)
		on_own(r, bytes, &rec);
	else
		perf_read_hold(r, bytes, &rec);
}

/* ---- the file -------------------------------------------------------------------------------- */

static bool probe_perf_data(const char *head, size_t len)
{
	return len >= 16 && !memcmp(head, UT_PDATA_MAGIC, 8);
}

/* What stands before the records: attributes, and the numbers of their samples. */
static int read_prefix(struct reader *r, struct ut_err *err)
{
	uint8_t *bytes = NULL;
	ssize_t n = ut_source_read(r->source, &r->head, 16, err);
	uint64_t rest = 0, got = 0;

	if (n == 16 && r->head.size == 16) /* a pipe: all else is in records */
		return 0;
	if (n == 16)
		n += ut_source_read(r->source, (char *)&r->head + 16, sizeof(r->head) - 16, err);
	if (n < (ssize_t)sizeof(r->head) || r->head.data.offset < sizeof(r->head) ||
	    r->head.data.offset > MOST_PREFIX)
		return ut_err_set(err, -EPROTO, "%s: offset 0: perf.data without its head",
				  r->source->path);
	rest = r->head.data.offset;
	bytes = ut_make(rest);
	memcpy(bytes, &r->head, sizeof(r->head));
	for (got = sizeof(r->head); got < rest; got += (uint64_t)n) {
		n = ut_source_read(r->source, bytes + got, rest - got, err);
		if (n <= 0)
			break;
	}
	ut_pdata_take_attrs(&r->attrs, &r->head, bytes, got);
	free(bytes);
	return n < 0 ? (int)n : 0;
}

static int read_records(struct reader *r, struct ut_err *err)
{
	uint64_t left = r->head.size == 16 ? UINT64_MAX : r->head.data.size;
	uint8_t *piece = ut_make(1u << 16);
	ssize_t n = 0;

	/* of a file that nobody has closed the size is 0: it goes on to its end */
	left = left ? left : UINT64_MAX;
	while (left && !r->unpack.bad) {
		n = ut_source_read(r->source, piece, left < 1u << 16 ? left : 1u << 16, err);
		if (n <= 0)
			break;
		left -= (uint64_t)n;
		ut_pdata_unpack_add(&r->unpack, piece, (size_t)n);
		if (r->opts->progress)
			atomic_fetch_add(r->opts->progress, (uint64_t)n);
	}
	free(piece);
	handle_until(r, UINT64_MAX);
	return n < 0 ? (int)n : 0;
}

static void perf_read_report(struct reader *r)
{
	char text[128];

	if (r->unpack.bad)
		ut_import_lost(r->opts, r->source->path, r->unpack.why);
	if (!r->lost)
		return;
	snprintf(text, sizeof(text), "%" PRIu64 " records were lost while it was recorded",
		 r->lost);
	ut_import_lost(r->opts, r->source->path, text);
}

static void perf_read_release(struct reader *r)
{
	ut_pdata_stacks_release(&r->stacks);
	ut_pdata_maps_release(&r->maps);
	ut_pdata_attrs_release(&r->attrs);
	ut_pdata_unpack_release(&r->unpack);
	ut_arena_release(&r->arena);
	free(r->waiting);
	free(r->event_names);
}

static int load_perf_data(struct ut_source *source, const struct ut_import_opts *opts,
			  struct ut_store *store, struct ut_err *err)
{
	struct reader r = { .source = source, .opts = opts };
	int rc;

	ut_sample_build_init(&r.build);
	ut_pdata_stacks_init(&r.stacks, &r.build, &r.maps);
	r.unpack = (struct ut_pdata_unpack){ .record = on_record, .ctx = &r };
	rc = read_prefix(&r, err);
	if (!rc && source->seekable && r.head.size != 16)
		ut_pdata_take_features(source, &r.head, &r.attrs, &r.maps, &r.build);
	if (!rc)
		rc = read_records(&r, err);
	if (!rc) {
		perf_read_report(&r);
		ut_sample_build_finish(&r.build, store);
	} else {
		ut_sample_build_abandon(&r.build);
	}
	perf_read_release(&r);
	return rc;
}

const struct ut_importer ut_import_perf_data = { "perf.data", probe_perf_data, load_perf_data };
