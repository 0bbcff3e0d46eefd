/* reader.c - see reader.h and state.h: the scan, and the steps in order. */
#include "import/spool/reader.h"

#include <errno.h>
#include <inttypes.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "base/grow.h"
#include "base/str.h"
#include "import/cpu/cpu_read.h"
#include "import/cpu/jit_code.h"
#include "import/spool/steps.h"
#include "ittnotify.h"
#include "model/sink.h"
#include "wire/control.h"
#include "wire/process.h"

/* ---- definitions --------------------------------------------------------------------------- */

void ut_spool_scan_definition(struct ut_spool_import *im, const struct ut_spool_rec *r)
{
	if (r->kind != UT_WORD_LONG || ut_spool_tables_define(&im->tables, r))
		return;
	if (r->type == UT_REC_JIT_METHOD)
		*UT_VEC_PUSH(&im->notes) =
			(struct ut_spool_note){ ut_rec_word(r, 1), 0, *r, false };
	else
		im->trace->losses.unknown++;
}

static void scan_definitions(struct ut_spool_import *im)
{
	struct ut_chunk_view view;
	struct ut_spool_rec r;
	size_t offset = 0;

	while (ut_spool_next_chunk(&im->map, &offset, &view)) {
		struct ut_spool_walk w = { .pos = view.begin,
					   .end = view.end,
					   .ticks = im->map.header->start.ticks };

		if (view.kind != UT_CHUNK_META)
			continue;
		while (ut_spool_walk_next(&w, &r))
			ut_spool_scan_definition(im, &r);
		im->trace->losses.torn += w.torn;
	}
}

/* ---- records ------------------------------------------------------------------------------- */

static void name_lock(struct ut_spool_import *im, uint64_t ticks, const struct ut_spool_rec *r)
{
	struct ut_str type =
		ut_strtab_get(&im->trace->strings, ut_spool_string(&im->tables, ut_rec_low(r, 1)));
	struct ut_str name =
		ut_strtab_get(&im->trace->strings, ut_spool_string(&im->tables, ut_rec_high(r, 1)));
	struct ut_spool_group lock = { .key = ut_rec_word(r, 0) << 1, .ticks = ticks };
	char text[512];

	snprintf(text, sizeof(text), "wait %.*s%s%.*s", type.len > 200 ? 200 : (int)type.len,
		 type.ptr, type.len && name.len ? " " : "", name.len > 200 ? 200 : (int)name.len,
		 name.ptr);
	lock.name = ut_strtab_intern_z(&im->trace->strings, text);
	ut_spool_add_group(im, &lock);
}

static void reader_add_group(struct ut_spool_import *im, uint64_t ticks,
			     const struct ut_spool_rec *r)
{
	struct ut_spool_group g = { .key = ut_spool_id(r, 1, 2),
				    .ticks = ticks,
				    .parent = ut_spool_id(r, 2, 2),
				    .name = ut_spool_string(&im->tables, ut_rec_high(r, 0)) };

	if (g.key && g.name)
		ut_spool_add_group(im, &g);
}

/* TBB says so what the user calls a node of a flow graph. */
static void rename_group(struct ut_spool_import *im, uint64_t ticks, const struct ut_spool_rec *r)
{
	struct ut_spool_group g = { .key = ut_spool_id(r, 1, 1), .ticks = ticks };
	size_t len = ut_rec_low(r, 4);
	const char *name = ut_rec_bytes(r, 5, &len);

	if (!g.key || !len || ut_spool_string(&im->tables, ut_rec_high(r, 0)) != im->object_name)
		return;
	g.name = ut_strtab_intern(&im->trace->strings, name, len);
	ut_spool_amend_group(im, &g);
}

/* "head is a child of tail", or the other way round. */
static void add_child(struct ut_spool_import *im, uint64_t ticks, const struct ut_spool_rec *r)
{
	uint64_t head = ut_spool_id(r, 1, 2), tail = ut_spool_id(r, 2, 2);
	struct ut_spool_group g = { .key = head, .ticks = ticks, .parent = tail };

	if (ut_rec_high(r, 0) == __itt_relation_is_parent_of) {
		g.key = tail;
		g.parent = head;
	} else if (ut_rec_high(r, 0) != __itt_relation_is_child_of) {
		return;
	}
	if (g.key && g.parent)
		ut_spool_amend_group(im, &g);
}

static void want(struct ut_spool_import *im, uint64_t id)
{
	if (id)
		ut_idmap_put(&im->wanted, id, 1);
	im->joined = true;
}

/* What has to be known before the threads are read. */
void ut_spool_scan_long(struct ut_spool_import *im, uint32_t thread, uint64_t ticks,
			const struct ut_spool_rec *r)
{
	switch ((int)r->type) {
	case UT_REC_TASK_GROUP:
		reader_add_group(im, ticks, r);
		break;
	case UT_REC_SYNC_CREATE:
		name_lock(im, ticks, r);
		break;
	case UT_REC_RELATION:
		want(im, ut_spool_id(r, 1, 2));
		want(im, ut_spool_id(r, 2, 2));
		add_child(im, ticks, r);
		break;
	case UT_REC_META_STR:
		rename_group(im, ticks, r);
		break;
	case UT_REC_STITCH:
		im->joined = true;
		break;
	case UT_REC_WORK:
	case UT_REC_CALL:
	case UT_REC_DEVICE_COUNTER:
		ut_spool_add_work(im, r);
		break;
	case UT_REC_CALL_BEGIN:
		ut_spool_add_submit(im, thread, ticks, r);
		break;
	case UT_REC_FACTS:
		ut_spool_add_more(im, r);
		break;
	case UT_REC_SAMPLE:
		ut_spool_add_sample(im, thread, r);
		break;
	case UT_REC_VALUES:
		ut_spool_add_values(im, r);
		break;
	case UT_REC_MESSAGE:
		ut_spool_add_message(im, thread, ticks, r);
		break;
	case UT_REC_ALLOCATED:
		im->memory.any = true;
		break;
	case UT_REC_OVERLAPPED_BEGIN:
	case UT_REC_OVERLAPPED_END:
	case UT_REC_OVERLAPPED_BEGIN_CLOCK:
	case UT_REC_OVERLAPPED_END_CLOCK:
	case UT_REC_TASK_BEGIN_CLOCK:
	case UT_REC_TASK_END_CLOCK:
	case UT_REC_REGION_BEGIN:
	case UT_REC_REGION_END:
	case UT_REC_FRAME_BEGIN:
	case UT_REC_FRAME_END:
	case UT_REC_FRAME_SUBMIT:
	case UT_REC_MARK:
	case UT_REC_MARK_OFF:
	case UT_REC_PAUSE:
	case UT_REC_RESUME:
	case UT_REC_DETACH:
	case UT_REC_HEAP:
		im->detached |= r->type == UT_REC_DETACH;
		*UT_VEC_PUSH(&im->notes) = (struct ut_spool_note){ ticks, thread, *r, false };
		break;
	default:
		if (r->type >= UT_REC_COUNT)
			im->trace->losses.unknown++;
		break;
	}
}

/* Threads are numbered from 1 on: a number that the file has no room for is garbage. */
static struct ut_spool_part *reader_add_part(struct ut_spool_import *im, struct ut_spool_walk *w,
					     const struct ut_spool_rec *r)
{
	struct ut_spool_part *part;

	if (ut_rec_low(r, 1) > im->tables.most) {
		w->torn++;
		return NULL;
	}
	part = UT_VEC_PUSH(&im->parts);
	*part = (struct ut_spool_part){ .thread = ut_rec_low(r, 1),
					.number = ut_rec_high(r, 1),
					.ticks = w->ticks,
					.begin = w->pos,
					.end = w->end };
	return part;
}

static void scan_data(struct ut_spool_import *im, const struct ut_chunk_view *view)
{
	struct ut_spool_walk w = { .pos = view->begin, .end = view->end };
	struct ut_spool_part *part = NULL;
	struct ut_spool_rec r;

	while (ut_spool_walk_next(&w, &r)) {
		if (r.kind == UT_WORD_LONG && r.type == UT_REC_THREAD) {
			if (part)
				part->end = r.words - 1;
			part = reader_add_part(im, &w, &r);
		} else if (part && r.kind == UT_WORD_LONG) {
			ut_spool_scan_long(im, part->thread, w.ticks, &r);
		}
		if (part && w.ticks > im->last)
			im->last = w.ticks;
	}
	im->trace->losses.torn += w.torn;
	ut_spool_forget(view->begin, view->end);
}

static int reader_by_thread(const void *a, const void *b)
{
	const struct ut_spool_part *x = a, *y = b;

	if (x->thread != y->thread)
		return x->thread < y->thread ? -1 : 1;
	if (x->number != y->number)
		return x->number < y->number ? -1 : 1;
	if (x->ticks != y->ticks)
		return x->ticks < y->ticks ? -1 : 1;
	return (x->begin > y->begin) - (x->begin < y->begin);
}

void ut_spool_sort_parts(struct ut_spool_import *im)
{
	if (im->parts.count)
		qsort(im->parts.items, im->parts.count, sizeof(*im->parts.items), reader_by_thread);
}

static void scan_records(struct ut_spool_import *im)
{
	struct ut_chunk_view view;
	size_t offset = 0;

	while (ut_spool_next_chunk(&im->map, &offset, &view))
		if (view.kind == UT_CHUNK_DATA)
			scan_data(im, &view);
	ut_spool_sort_parts(im);
}

/* ---- the clock ----------------------------------------------------------------------------- */

static bool same_boot(const struct ut_spool_header *h, const char *boot_id)
{
	return boot_id[0] && !strncmp(h->boot_id, boot_id, sizeof(h->boot_id));
}

static void launcher_pairs(const struct ut_spool_import *im, const char *path,
			   struct ut_clock_map *to)
{
	char dir[4096];
	struct ut_control *c;
	struct ut_clock_pair last;
	uint32_t seq;

	if (snprintf(dir, sizeof(dir), "%s", path) >= (int)sizeof(dir))
		return;
	c = ut_control_map(dirname(dir));
	if (!c)
		return;
	if (same_boot(im->map.header, c->boot_id)) {
		seq = atomic_load(&c->last_seq);
		last = c->last;
		ut_clock_map_add(to, &c->start);
		if (!(seq & 1) && atomic_load(&c->last_seq) == seq)
			ut_clock_map_add(to, &last);
	}
	ut_control_close(c);
}

/*
 * How far a pair is ahead of a map that has its rate; 0 when that is no more than clocks drift
 * apart in the time between.
 */
static int64_t ahead(const struct ut_clock_map *map, const struct ut_clock_pair *pair)
{
	const uint64_t most = 100000000; /* ns, and a five hundredth of what lies between */
	uint64_t expected = ut_clock_map_ns(map, pair->ticks);
	uint64_t first = map->pairs[0].mono, last = map->pairs[map->count - 1].mono;
	uint64_t between = expected > last ? expected - last : 0;
	uint64_t apart = pair->mono > expected ? pair->mono - expected : expected - pair->mono;

	if (expected < first)
		between = first - expected;
	if (apart <= most + between / 500 || apart > INT64_MAX) /* no clock is so far away */
		return 0;
	return pair->mono > expected ? (int64_t)apart : -(int64_t)apart;
}

/* A process in a time namespace of its own has clocks that are set otherwise than the launcher's,
 * which all processes of a session have in common. */
static void set_back(struct ut_clock_map *own, int64_t by)
{
	for (size_t i = 0; i < own->count; i++) {
		int64_t mono = (int64_t)own->pairs[i].mono; /* the map takes no larger ones */

		if (by > 0)
			mono -= by < mono ? by : mono;
		else
			mono -= by > mono - INT64_MAX ? by : mono - INT64_MAX;
		own->pairs[i].mono = (uint64_t)mono;
	}
}

/*
 * The collector looked at the clocks at its start and now and then; the launcher before and
 * after. If both died early, this machine's clocks still run as they did, until the next boot
 * (or until it slept, or if we are in another time namespace: then they say something else).
 */
void ut_spool_finalize_clock(struct ut_spool_import *im, const char *path)
{
	const struct ut_spool_header *h = im->map.header;
	struct ut_clock_map launcher = { .count = 0 }, *own = &im->tables.clock;
	struct ut_clock_pair now;
	int64_t by = 0;
	char boot_id[40];

	launcher_pairs(im, path, &launcher);
	ut_clock_map_finish(own, 0);
	ut_clock_map_finish(&launcher, own->rate);
	if (launcher.count && launcher.rate > 0)
		by = ahead(&launcher, &h->start);
	set_back(own, by);
	for (size_t i = 0; i < launcher.count; i++)
		ut_clock_map_add(own, &launcher.pairs[i]);
	ut_process_boot_id(boot_id);
	if (same_boot(h, boot_id) && h->clock_source == (uint32_t)ut_clock_source()) {
		ut_clock_pair_take(ut_clock_source(), &now);
		ut_clock_map_finish(own, 0);
		if (!(own->rate > 0) || !ahead(own, &now))
			ut_clock_map_add(own, &now);
	}
	ut_clock_map_finish(own, 1.0);
	im->trace->realtime_offset = (int64_t)(h->start.real - h->start.mono + (uint64_t)by);
	im->trace->boottime_offset = (int64_t)(h->start.boot - h->start.mono);
	im->trace->clock_error = h->start.error;
}

void ut_spool_clock_go_on(struct ut_spool_import *im, const struct ut_clock_pair *now)
{
	struct ut_clock_map *own = &im->tables.clock;

	if (ahead(own, now))
		return;
	/* The first pair stays: looks may be milliseconds apart, and a rate of such a time is worth
	   little for what a thread that slept has written long before. */
	ut_clock_map_add(own, now);
	ut_clock_map_finish(own, 1.0);
}

/* ---- the whole ----------------------------------------------------------------------------- */

static uint32_t add_program(struct ut_trace *trace, const struct ut_spool_header *h)
{
	return ut_trace_add_program(trace, &(struct ut_trace_program){
						   .pid = h->pid,
						   .rank = h->rank,
						   .name = UT_STR_FIELD(h->name),
						   .host = UT_STR_FIELD(h->host),
						   .cmdline = UT_STR_FIELD(h->cmdline),
					   });
}

static uint32_t cut_note(struct ut_trace *trace, uint32_t count)
{
	char text[128];

	snprintf(text, sizeof(text), "%" PRIu32 " %s too long to record and %s cut", count,
		 count == 1 ? "name or argument was" : "names and arguments were",
		 count == 1 ? "is" : "are");
	return ut_strtab_intern_z(&trace->strings, text);
}

static void add_losses(struct ut_trace *trace, const struct ut_spool_header *h)
{
	trace->losses.dropped += atomic_load(&h->dropped);
	trace->losses.overwritten += atomic_load(&h->overwritten);
	trace->losses.ignored += atomic_load(&h->ignored);
	if (atomic_load(&h->cut))
		ut_trace_add_note(trace, cut_note(trace, atomic_load(&h->cut)));
}

/* Why a process stopped recording before it ended. */
static void note_end(struct ut_trace *trace, const struct ut_spool_header *h)
{
	uint32_t status = atomic_load(&h->status);
	char text[256];

	if (!status || status == EFBIG) /* a limit on the size is what the user has asked for */
		return;
	if (status == UT_SPOOL_SANDBOX)
		snprintf(text, sizeof(text),
			 "restricted its own system calls (seccomp); recorded until then");
	else if (status == UT_SPOOL_RESERVE)
		snprintf(text, sizeof(text),
			 "recording ended early, before the disk became full; --disk-reserve, "
			 "--spool-dir and --max-size choose how much is recorded where");
	else
		snprintf(text, sizeof(text), "recording ended early: %s", strerror((int)status));
	ut_trace_add_note(trace, ut_strtab_intern_z(&trace->strings, text));
}

void ut_spool_import_init(struct ut_spool_import *im)
{
	ut_spool_tables_init(&im->tables, im->trace, add_program(im->trace, im->map.header),
			     &im->map);
	ut_idmap_init(&im->wanted, &im->trace->arena);
	ut_idmap_init(&im->last_group, &im->trace->arena);
	ut_idmap_init(&im->overlap_tracks, &im->trace->arena);
	ut_idmap_init(&im->flow_of_call, &im->trace->arena);
	ut_idmap_init(&im->works_of_call, &im->trace->arena);
	ut_idmap_init(&im->task_of_call, &im->trace->arena);
	ut_idmap_init(&im->zone_of_call, &im->trace->arena);
	ut_idmap_init(&im->sycl.at, &im->trace->arena);
	ut_idmap_init(&im->sycl.of_call, &im->trace->arena);
	ut_idmap_init(&im->readable, &im->trace->arena);
	ut_spool_backend_data_init(&im->backend_data, &im->trace->arena);
	im->object_name = ut_strtab_intern_z(&im->trace->strings, "object_name");
}

void ut_spool_import_release(struct ut_spool_import *im)
{
	free(im->parts.items);
	free(im->notes.items);
	free(im->metas.items);
	free(im->late.items);
	free(im->places.items);
	free(im->sycl.items.items);
	free(im->references.items);
	free(im->flows.items);
	free(im->works.items);
	free(im->submits.items);
	ut_spool_backend_data_release(&im->backend_data);
	ut_spool_memory_release(&im->memory);
	free(im->groups.items);
	ut_spool_tables_release(&im->tables);
	ut_spool_unmap(&im->map);
}

/*
 * The launcher has seen how long the process lived. What happened after recording stopped or lost
 * records nobody knows, so the last record counts then.
 */
static void finalize_end(struct ut_spool_import *im)
{
	const struct ut_spool_header *h = im->map.header;
	uint64_t seen = atomic_load(&h->seen_ticks);

	if (!seen || atomic_load(&h->status) || atomic_load(&h->dropped) || im->detached)
		return;
	im->end_seen = atomic_load(&h->ended) != 0;
	im->lived_after = im->last && seen > im->last ? seen - im->last : 0;
	im->last = seen > im->last ? seen : im->last;
}

/*
 * How the process ended, if it failed, or others may wait for it; and how long it lived after its
 * last record, unless what had not ended says so. That is a difference, which stays true when
 * clocks of hosts are brought together.
 */
static void report_end(struct ut_spool_import *im)
{
	uint32_t ended = atomic_load(&im->map.header->ended);
	int status = (int)(ended & ~UT_SPOOL_ENDED);
	bool is_rank = im->trace->processes[im->tables.process].rank >= 0;
	uint64_t after = 0;

	if (!(ended & UT_SPOOL_ENDED) || (!status && !is_rank))
		return;
	if (im->end_seen && !im->trace->losses.unfinished)
		after = ut_spool_ns(&im->tables, im->last) -
			ut_spool_ns(&im->tables, im->last - im->lived_after);
	ut_process_add_end(im->trace, im->tables.process, status, after);
}

void ut_spool_count_unfinished(struct ut_spool_import *im, uint64_t count)
{
	im->trace->losses.unfinished += count;
	im->trace->losses.seen_ends += im->end_seen ? count : 0;
}

static void reader_scan(struct ut_spool_import *im, const char *path)
{
	scan_definitions(im);
	ut_spool_finalize_code(im);
	ut_spool_finalize_clock(im, path);
	ut_spool_clock_fact(im->trace, im->tables.process, path);
	scan_records(im);
	finalize_end(im);
}

static void reader_run(struct ut_spool_import *im)
{
	ut_spool_sort_groups(im);
	im->trace->first = ut_spool_ns(&im->tables, im->map.header->start.ticks);
	im->trace->last = im->last ? ut_spool_ns(&im->tables, im->last) : im->trace->first;
	ut_spool_import_submits(im);
	ut_spool_import_threads(im);
	ut_spool_import_cross(im);
	ut_spool_prepare_measured(im);
	ut_spool_import_devices(im);
	ut_spool_import_values(im);
	ut_spool_import_samples(im);
	ut_spool_import_messages(im);
	ut_spool_import_memory(im);
	report_end(im);
}

/* What compilers have told of code that they made. Lines are told by where they end. */
static void take_jit(struct ut_spool_import *im, struct ut_jit_code *jit)
{
	for (size_t i = 0; i < im->notes.count; i++) {
		const struct ut_spool_rec *r = &im->notes.items[i].rec;
		uint64_t address = ut_rec_word(r, 2), size = ut_rec_word(r, 3);
		uint32_t lines = ut_rec_high(r, 0);

		if (r->type != UT_REC_JIT_METHOD || size > UINT64_MAX - address)
			continue;
		for (uint32_t k = 0; k < lines && 6 + k < r->count; k++)
			ut_jit_code_add_line(jit,
					     &(struct ut_jit_line){ address + ut_rec_low(r, 6 + k),
								    ut_rec_high(r, 6 + k), 0 });
		ut_jit_code_add(jit,
				&(struct ut_jit_function){
					.start = address,
					.end = address + size,
					.time = ut_spool_ns(&im->tables, im->notes.items[i].ticks),
					.name = ut_spool_string(&im->tables, ut_rec_low(r, 4)),
					.file = ut_spool_string(&im->tables, ut_rec_low(r, 5)),
					.lines_end = true });
	}
}

/* When the process had switched itself off: it has no samples then, though some were taken. */
static void report_switches(const struct ut_spool_import *im, struct ut_cpu *cpu)
{
	const struct ut_spool_header *h = im->map.header;

	ut_cpu_switched(cpu, UT_CPU_BY_PROCESS, h->start.mono, !h->began_off);
	for (size_t i = 0; i < im->notes.count; i++) {
		const struct ut_spool_note *n = &im->notes.items[i];

		if (h->one_switch && n->rec.type != UT_REC_DETACH)
			continue; /* the session's own switches say when */
		if (n->rec.type == UT_REC_PAUSE || n->rec.type == UT_REC_RESUME ||
		    n->rec.type == UT_REC_DETACH)
			ut_cpu_switched(cpu, UT_CPU_BY_PROCESS, ut_spool_ns(&im->tables, n->ticks),
					n->rec.type == UT_REC_RESUME);
	}
}

static int open_cpu(struct ut_spool_import *im, struct ut_cpu *cpu, const char *path)
{
	struct ut_jit_code jit;
	int rc;

	ut_jit_code_init(&jit, im->trace);
	take_jit(im, &jit);
	rc = ut_cpu_open(cpu, path, im->trace, &jit, NULL);
	ut_jit_code_release(&jit);
	return rc;
}

int ut_import_spool(const char *path, struct ut_trace *trace, struct ut_sink *sink,
		    struct ut_err *err)
{
	struct ut_spool_import im = { .path = path, .trace = trace, .sink = sink };
	struct ut_cpu cpu = { .trace = NULL };
	char cpu_path[4096];
	int rc;

	if (ut_str_ends(path, UT_CPU_SUFFIX))
		return ut_import_cpu(path, trace, sink, err);
	rc = ut_spool_map(&im.map, path, err);
	if (rc)
		return rc;
	ut_spool_import_init(&im);
	add_losses(trace, im.map.header);
	note_end(trace, im.map.header);
	reader_scan(&im, path);
	if (ut_cpu_beside(path, im.map.header->pid, im.map.header->start.mono, cpu_path) &&
	    !open_cpu(&im, &cpu, cpu_path))
		im.sink = ut_cpu_sink(&cpu, sink);
	reader_run(&im);
	if (im.sink != sink) {
		report_switches(&im, &cpu);
		ut_cpu_send(&cpu, im.tables.process, sink);
	}
	ut_cpu_close(&cpu);
	ut_spool_import_release(&im);
	return 0;
}
