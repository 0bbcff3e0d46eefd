#include "export/utr_write.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "export/exporter.h"
#include "export/store_sink.h"
#include "model/device_records.h"
#include "model/pyramid_lane.h"
#include "model/store.h"
#include "model/utr.h"
#include "model/utr_crc.h"
#include "text/out.h"

#define SECTIONS (UT_UTR_IDS - 1)

/* Items that are made on the way out are collected until there are so many of them. */
#define SOME 512u

struct writer {
	struct ut_out *out;
	const struct ut_store *store;
	const struct ut_device_records *devices;
	uint64_t at; /* bytes written */
	uint32_t crc;
	struct ut_utr_section toc[SECTIONS]; /* in the order of their ids, from 1 */
	uint32_t count;
};

static void utr_write_put(struct writer *w, const void *data, size_t len)
{
	w->crc = ut_utr_crc(w->crc, data, len);
	w->at += len;
	ut_out_write(w->out, data, len);
}

static void pad(struct writer *w)
{
	static const char zeros[UT_UTR_ALIGN];

	utr_write_put(w, zeros, (size_t)(ut_utr_aligned(w->at) - w->at));
}

/* ---- sizes --------------------------------------------------------------------------------- */

static uint64_t text_size(const struct ut_strtab *t)
{
	uint64_t size = 0;

	for (uint32_t id = 1; id <= t->count; id++)
		size += ut_strtab_get(t, id).len + 1;
	return size;
}

static uint64_t word_count(const struct ut_arglists *l)
{
	return l->chunk_count ? (l->chunk_count - 1) * (uint64_t)UT_ARG_CHUNK + l->used : 0;
}

/* Items of the pyramid's sections. */
static void count_lanes(const struct ut_store *s, uint64_t *items)
{
	for (uint32_t track = 0; track < s->trace.track_count; track++) {
		const struct ut_lanes *lanes = ut_pyramid_lanes(s, track);

		for (uint32_t i = 0; i < lanes->count; i++) {
			const struct ut_lane *l = &lanes->lanes[i];

			items[UT_UTR_LANES]++;
			items[UT_UTR_NODES] += ut_lane_nodes(l->count);
			items[UT_UTR_LANE_ROWS] += l->rows ? l->count : 0;
			items[UT_UTR_LANE_ENDS] += l->ends ? l->count : 0;
		}
	}
}

/* Does any row need a reader that knows samples? */
static bool has_samples(const struct ut_store *s)
{
	for (uint32_t i = 0; i < s->types.count; i++) {
		if (s->types.items[i].kind == UT_KIND_SAMPLE)
			return true;
	}
	return s->trace.stacks.site_count;
}

/* Sections that a file may be without: the pyramid, what only samples or only devices need. */
static bool is_left_out(const struct writer *w, uint32_t id)
{
	if (ut_utr_is_pyramid(id))
		return !w->store->pyramid;
	if (ut_utr_is_devices(id))
		return !w->devices->count;
	return ut_utr_is_stacks(id) && !has_samples(w->store);
}

/* Where everything will be: the header comes first and says it. */
static uint64_t plan(struct writer *w)
{
	const struct ut_store *s = w->store;
	uint64_t items[UT_UTR_IDS] = {
		[UT_UTR_TRACE] = 1,
		[UT_UTR_TEXT] = text_size(&s->trace.strings),
		[UT_UTR_STARTS] = (uint64_t)s->trace.strings.count + 1,
		[UT_UTR_TYPES] = s->types.count,
		[UT_UTR_PROCESSES] = s->trace.process_count,
		[UT_UTR_TRACKS] = s->trace.track_count,
		[UT_UTR_ARGS] = s->trace.arg_count,
		[UT_UTR_NOTES] = s->trace.note_count,
		[UT_UTR_SHAPES] = s->args.shape_count,
		[UT_UTR_SHAPE_ARGS] = s->args.shape_arg_count,
		[UT_UTR_WORDS] = word_count(&s->args),
		[UT_UTR_ROWS] = s->row_count,
		[UT_UTR_CODE] = s->trace.stacks.place_count,
		[UT_UTR_STACKS] = s->trace.stacks.site_count,
		[UT_UTR_PROCESS_PLACES] = s->trace.process_count,
		[UT_UTR_TRACK_PLACES] = s->trace.track_count,
		[UT_UTR_CALLS] = s->trace.call_count,
		[UT_UTR_DEVICE_WORK] = w->devices->count,
		[UT_UTR_LAUNCHES] = w->devices->launch_count,
	};
	static const struct {
		uint32_t id;
		bool needed;
	} all[] = {
#define UT_UTR_NEED(name, number, text, size, need) { number, need },
		UT_UTR_LIST(UT_UTR_NEED)
#undef UT_UTR_NEED
	};
	uint64_t offset = sizeof(struct ut_utr_header);

	count_lanes(s, items);
	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++) {
		uint32_t id = all[i].id;
		uint64_t size = items[id] * ut_utr_item(id);

		if (is_left_out(w, id))
			continue;
		w->toc[w->count++] = (struct ut_utr_section){
			.id = id,
			.flags = all[i].needed ? UT_UTR_NEEDED : 0,
			.offset = offset,
			.size = size,
		};
		offset = ut_utr_aligned(offset + size);
	}
	return offset;
}

/* ---- sections ------------------------------------------------------------------------------ */

static void utr_write_put_text(struct writer *w)
{
	const struct ut_strtab *t = &w->store->trace.strings;

	for (uint32_t id = 1; id <= t->count; id++) {
		struct ut_str s = ut_strtab_get(t, id);

		utr_write_put(w, s.ptr, s.len);
		utr_write_put(w, "", 1);
	}
}

static void put_starts(struct writer *w)
{
	const struct ut_strtab *t = &w->store->trace.strings;
	uint64_t starts[SOME], at = 0;
	size_t n = 0;

	starts[n++] = 0;
	for (uint32_t id = 1; id <= t->count; id++) {
		at += ut_strtab_get(t, id).len + 1;
		if (n == SOME) {
			utr_write_put(w, starts, sizeof(starts));
			n = 0;
		}
		starts[n++] = at;
	}
	utr_write_put(w, starts, n * sizeof(*starts));
}

/* Types that existed only while the store was built stay as numbers without a meaning. */
static void put_types(struct writer *w)
{
	const struct ut_types *t = &w->store->types;

	for (uint32_t i = 0; i < t->count; i++) {
		struct ut_type type = t->items[i];

		if (type.kind >= UT_KIND_COUNT)
			type = (struct ut_type){ 0 };
		utr_write_put(w, &type, sizeof(type));
	}
}

static void utr_write_put_trace(struct writer *w)
{
	const struct ut_trace *t = &w->store->trace;
	struct ut_utr_trace saved = {
		.rows = w->store->row_count,
		.realtime_offset = t->realtime_offset,
		.boottime_offset = t->boottime_offset,
		.clock_error = t->clock_error,
		.first = t->first,
		.last = t->last,
		.global_args = t->global_args,
		.file_args = t->file_args,
	};

	memcpy(saved.losses, &t->losses, sizeof(t->losses));
	utr_write_put(w, &saved, sizeof(saved));
}

static void put_processes(struct writer *w)
{
	const struct ut_trace *t = &w->store->trace;

	for (size_t i = 0; i < t->process_count; i++) {
		const struct ut_process *p = &t->processes[i];
		const struct ut_utr_process saved = {
			.pid = p->pid,
			.pid_text = p->pid_text,
			.name = p->name,
			.host = p->host,
			.cmdline = p->cmdline,
			.rank = p->rank,
			.sort_index = p->sort_index,
			.args = p->args,
		};

		utr_write_put(w, &saved, sizeof(saved));
	}
}

static void put_tracks(struct writer *w)
{
	const struct ut_trace *t = &w->store->trace;

	for (size_t i = 0; i < t->track_count; i++) {
		const struct ut_track *k = &t->tracks[i];
		const struct ut_rows *rows = &w->store->rows[i];
		const struct ut_utr_track saved = {
			.rows = rows->count,
			.first = rows->first,
			.last = rows->last,
			.id = k->id,
			.process = k->process,
			.name = k->name,
			.unit = k->unit,
			.id_text = k->id_text,
			.args = k->args,
			.sort_index = k->sort_index,
			.type = k->type,
			.base = k->base,
		};

		utr_write_put(w, &saved, sizeof(saved));
	}
}

static void put_process_places(struct writer *w)
{
	const struct ut_trace *t = &w->store->trace;

	for (size_t i = 0; i < t->process_count; i++) {
		const struct ut_process *p = &t->processes[i];
		const struct ut_utr_process_place saved = {
			.kind = p->kind,
			.device_type = p->device_type,
			.guessed = p->guessed,
			.api = p->api.api,
			.api_text = p->api.text,
			.model = p->model,
			.device = p->device,
			.sub_device = p->sub_device,
			.title = p->title,
		};

		utr_write_put(w, &saved, sizeof(saved));
	}
}

static void put_track_places(struct writer *w)
{
	const struct ut_trace *t = &w->store->trace;

	for (size_t i = 0; i < t->track_count; i++) {
		const struct ut_track *k = &t->tracks[i];
		const struct ut_utr_track_place saved = {
			.role = k->role,
			.guessed = k->guessed,
			.api = k->api.api,
			.api_text = k->api.text,
			.thread = k->thread,
		};

		utr_write_put(w, &saved, sizeof(saved));
	}
}

static void put_words(struct writer *w)
{
	const struct ut_arglists *l = &w->store->args;

	for (size_t i = 0; i < l->chunk_count; i++) {
		uint32_t words = i + 1 == l->chunk_count ? l->used : UT_ARG_CHUNK;

		utr_write_put(w, l->chunks[i], words * sizeof(uint32_t));
	}
}

static void utr_write_put_rows(struct writer *w)
{
	const struct ut_store *s = w->store;

	for (size_t track = 0; track < s->trace.track_count; track++) {
		for (size_t i = 0; i < ut_rows_blocks(&s->rows[track]); i++) {
			const struct ut_block *b = &s->rows[track].blocks[i];

			utr_write_put(w, b->ts, b->count * sizeof(*b->ts));
			utr_write_put(w, b->val, b->count * sizeof(*b->val));
			utr_write_put(w, b->type, b->count * sizeof(*b->type));
			utr_write_put(w, b->args, b->count * sizeof(*b->args));
		}
	}
}

static void put_nodes(struct writer *w, const struct ut_lane *l)
{
	struct ut_levels levels;

	ut_lane_levels(l, &levels);
	for (unsigned int i = 0; i < levels.used; i++) {
		utr_write_put(w, levels.nodes[i], (levels.count[i] - 1) * sizeof(*l->nodes));
		utr_write_put(w, levels.last[i], sizeof(*l->nodes));
	}
}

static void put_lane(struct writer *w, uint32_t id, uint32_t track, const struct ut_lane *l)
{
	const struct ut_utr_lane saved = {
		.count = l->count,
		.track = track,
		.kind = l->kind,
		.flags = (uint8_t)((l->rows ? UT_UTR_HAS_ROWS : 0) |
				   (l->ends ? UT_UTR_HAS_ENDS : 0)),
	};

	if (id == UT_UTR_LANES)
		utr_write_put(w, &saved, sizeof(saved));
	else if (id == UT_UTR_NODES)
		put_nodes(w, l);
	else if (id == UT_UTR_LANE_ROWS && l->rows)
		utr_write_put(w, l->rows, l->count * sizeof(*l->rows));
	else if (id == UT_UTR_LANE_ENDS && l->ends)
		utr_write_put(w, l->ends, l->count * sizeof(*l->ends));
}

static void put_lanes(struct writer *w, uint32_t id)
{
	for (uint32_t track = 0; track < w->store->trace.track_count; track++) {
		const struct ut_lanes *lanes = ut_pyramid_lanes(w->store, track);

		for (uint32_t i = 0; i < lanes->count; i++)
			put_lane(w, id, track, &lanes->lanes[i]);
	}
}

static void put_device_work(struct writer *w)
{
	const struct ut_device_records *r = w->devices;

#define PUT_COLUMN(type, column, text) utr_write_put(w, r->column, r->count * sizeof(type));
	UT_DEVICE_COLUMN_LIST(PUT_COLUMN)
#undef PUT_COLUMN
}

static void put_section(struct writer *w, uint32_t id)
{
	const struct ut_store *s = w->store;

	switch ((enum ut_utr_id)id) {
	case UT_UTR_TRACE:
		utr_write_put_trace(w);
		break;
	case UT_UTR_TEXT:
		utr_write_put_text(w);
		break;
	case UT_UTR_STARTS:
		put_starts(w);
		break;
	case UT_UTR_TYPES:
		put_types(w);
		break;
	case UT_UTR_PROCESSES:
		put_processes(w);
		break;
	case UT_UTR_TRACKS:
		put_tracks(w);
		break;
	case UT_UTR_ARGS:
		utr_write_put(w, s->trace.args, s->trace.arg_count * sizeof(*s->trace.args));
		break;
	case UT_UTR_NOTES:
		utr_write_put(w, s->trace.notes, s->trace.note_count * sizeof(*s->trace.notes));
		break;
	case UT_UTR_SHAPES:
		utr_write_put(w, s->args.shapes, s->args.shape_count * sizeof(*s->args.shapes));
		break;
	case UT_UTR_SHAPE_ARGS:
		utr_write_put(w, s->args.shape_args,
			      s->args.shape_arg_count * sizeof(*s->args.shape_args));
		break;
	case UT_UTR_WORDS:
		put_words(w);
		break;
	case UT_UTR_ROWS:
		utr_write_put_rows(w);
		break;
	case UT_UTR_LANES:
	case UT_UTR_NODES:
	case UT_UTR_LANE_ROWS:
	case UT_UTR_LANE_ENDS:
		put_lanes(w, id);
		break;
	case UT_UTR_CODE:
		utr_write_put(w, s->trace.stacks.places,
			      s->trace.stacks.place_count * sizeof(*s->trace.stacks.places));
		break;
	case UT_UTR_STACKS:
		utr_write_put(w, s->trace.stacks.sites,
			      s->trace.stacks.site_count * sizeof(*s->trace.stacks.sites));
		break;
	case UT_UTR_PROCESS_PLACES:
		put_process_places(w);
		break;
	case UT_UTR_TRACK_PLACES:
		put_track_places(w);
		break;
	case UT_UTR_CALLS:
		utr_write_put(w, s->trace.calls, s->trace.call_count * sizeof(*s->trace.calls));
		break;
	case UT_UTR_DEVICE_WORK:
		put_device_work(w);
		break;
	case UT_UTR_LAUNCHES:
		utr_write_put(w, w->devices->launches,
			      w->devices->launch_count * sizeof(*w->devices->launches));
		break;
	case UT_UTR_IDS:
		break;
	}
}

/* ---- the file ------------------------------------------------------------------------------ */

static void put_header(struct writer *w, uint64_t toc_offset)
{
	struct ut_utr_header h = {
		.order = UT_UTR_ORDER,
		.major = has_samples(w->store) ? UT_UTR_MAJOR : UT_UTR_FIRST,
		.minor = w->devices->count ? UT_UTR_MINOR : UT_UTR_PLAIN,
		.toc_offset = toc_offset,
		.toc_count = w->count,
	};

	memcpy(h.magic, UT_UTR_MAGIC, sizeof(h.magic));
	h.file_size = toc_offset + w->count * sizeof(*w->toc) + sizeof(struct ut_utr_end);
	h.crc = ut_utr_crc(0, &h, sizeof(h));
	utr_write_put(w, &h, sizeof(h));
}

static void put_toc(struct writer *w)
{
	struct ut_utr_end end = { 0 };

	w->crc = 0;
	utr_write_put(w, w->toc, w->count * sizeof(*w->toc));
	end.crc = w->crc;
	memcpy(end.mark, UT_UTR_END, sizeof(end.mark));
	utr_write_put(w, &end, sizeof(end));
}

void ut_utr_write(const struct ut_store *s, struct ut_out *out)
{
	struct writer w = { .out = out, .store = s, .devices = ut_store_devices(s) };
	uint64_t toc_offset = plan(&w);

	put_header(&w, toc_offset);
	for (uint32_t i = 0; i < w.count; i++) {
		struct ut_utr_section *section = &w.toc[i];

		assert(w.at == section->offset);
		w.crc = 0;
		put_section(&w, section->id);
		assert(w.at == section->offset + section->size);
		pad(&w);
		section->crc = w.crc;
	}
	put_toc(&w);
}

/* ---- as an exporter ------------------------------------------------------------------------ */

static void utr_write(struct ut_store *store, struct ut_out *out)
{
	ut_pyramid_build(store, 0);
	ut_utr_write(store, out);
}

static struct ut_sink *utr_open(struct ut_out *out)
{
	return ut_store_sink_open(out, utr_write);
}

const struct ut_exporter ut_export_utr = {
	.name = "utr",
	.suffix = ".utr",
	.open = utr_open,
	.end_trace = ut_store_sink_end_trace,
	.close = ut_store_sink_close,
	.write = utr_write,
};
