/* single_events.c - records that are one event by themselves. */
#include <string.h>

#include "import/spool/steps.h"
#include "ittnotify.h"
#include "model/sink.h"
#include "wire/spool_ops.h"

static uint8_t counter_flags(uint32_t type)
{
	switch (type) {
	case __itt_metadata_s64:
	case __itt_metadata_s32:
	case __itt_metadata_s16:
		return UT_EV_SIGNED;
	case __itt_metadata_float:
	case __itt_metadata_double:
		return UT_EV_DOUBLE;
	default:
		return 0;
	}
}

static void send_counter(struct ut_spool_import *im, uint64_t ticks, const struct ut_spool_rec *r)
{
	struct ut_spool_object *o = ut_spool_object(&im->tables, ut_rec_low(r, 0));
	struct ut_event e = { .kind = UT_KIND_COUNTER, .val = ut_rec_word(r, 1) };

	if (o->type != UT_REC_COUNTER_DEF)
		return;
	e.flags = counter_flags(ut_rec_high(r, 0));
	e.track = ut_spool_counter_track(&im->tables, o);
	e.name = im->trace->tracks[e.track].name;
	e.cat = o->domain;
	e.ts = r->type == UT_REC_COUNTER_CLOCK
		       ? ut_spool_clock_ns(&im->tables, ut_rec_low(r, 2), ut_rec_word(r, 3))
		       : ut_spool_ns(&im->tables, ticks);
	ut_sink_event(im->sink, im->trace, &e);
}

static void send_marker(struct ut_spool_import *im, uint32_t track, uint64_t ticks,
			const struct ut_spool_rec *r)
{
	size_t mark = im->trace->arg_count;
	struct ut_event e = { .kind = UT_KIND_INSTANT, .track = track };
	uint32_t scope = ut_rec_low(r, 4);

	e.cat = ut_spool_domain(&im->tables, ut_rec_low(r, 0));
	e.name = ut_spool_string(&im->tables, ut_rec_high(r, 0));
	e.ts = ut_rec_low(r, 5)
		       ? ut_spool_clock_ns(&im->tables, ut_rec_low(r, 5), ut_rec_word(r, 6))
		       : ut_spool_ns(&im->tables, ticks);
	if (scope == __itt_scope_global)
		e.flags = UT_EV_SCOPE_GLOBAL;
	else if (scope == __itt_scope_track_group)
		e.flags = UT_EV_SCOPE_PROCESS;
	ut_spool_args_id(im, "id", r, 1, 1);
	ut_spool_send(im, &e, mark);
}

static void add_axis(struct ut_spool_import *im, const char *key, uint32_t type,
		     const uint64_t *values, size_t count)
{
	uint32_t name = ut_strtab_intern_z(&im->trace->strings, key);
	uint8_t flags = counter_flags(type);

	for (size_t i = 0; i < count; i++) {
		struct ut_arg *a = ut_trace_add_arg(im->trace, name,
						    flags & UT_EV_DOUBLE   ? UT_ARG_F64
						    : flags & UT_EV_SIGNED ? UT_ARG_I64
									   : UT_ARG_U64);

		a->value.u64 = values[i];
		a->flags = UT_ARG_ARRAY | (i + 1 < count ? UT_ARG_MORE : 0);
	}
}

static void send_histogram(struct ut_spool_import *im, uint32_t track, uint64_t ticks,
			   const struct ut_spool_rec *r)
{
	const struct ut_spool_object *o = ut_spool_object(&im->tables, ut_rec_low(r, 0));
	size_t mark = im->trace->arg_count, count = ut_rec_high(r, 0);
	struct ut_event e = { .kind = UT_KIND_INSTANT, .track = track };

	if (o->type != UT_REC_HISTOGRAM_DEF || r->count < 1 || count > (r->count - 1) / 2)
		return;
	e.ts = ut_spool_ns(&im->tables, ticks);
	e.name = o->name;
	e.cat = o->domain;
	add_axis(im, "x", o->kind & 255, r->words + 1, count);
	add_axis(im, "y", o->kind >> 8, r->words + 1 + count, count);
	ut_spool_send(im, &e, mark);
}

static void send_module(struct ut_spool_import *im, uint32_t track, uint64_t ticks,
			const struct ut_spool_rec *r)
{
	size_t mark = im->trace->arg_count, len = ut_rec_high(r, 2);
	const char *path = ut_rec_bytes(r, 3, &len);
	struct ut_strtab *strings = &im->trace->strings;
	struct ut_event e = { .kind = UT_KIND_INSTANT, .track = track };

	e.ts = ut_spool_ns(&im->tables, ticks);
	e.cat = ut_strtab_intern_z(strings, "module");
	e.name = ut_strtab_intern_z(strings, ut_rec_low(r, 2) == UT_MODULE_LOAD ? "module load"
										: "module unload");
	ut_trace_add_arg(im->trace, ut_strtab_intern_z(strings, "start"), UT_ARG_PTR)->value.u64 =
		ut_rec_word(r, 0);
	ut_trace_add_arg(im->trace, ut_strtab_intern_z(strings, "end"), UT_ARG_PTR)->value.u64 =
		ut_rec_word(r, 1);
	ut_spool_args_text(im, "path", ut_strtab_intern(strings, path, len));
	ut_spool_send(im, &e, mark);
}

/* What the third word counts is not the same for all of them. */
static const char *hint_unit(uint32_t op)
{
	switch (op) {
	case UT_HINT_SUPPRESS_PUSH:
		return "mask";
	case UT_HINT_AGGREGATE:
	case UT_HINT_SAVE_ARRAY:
		return "count";
	case UT_HINT_DISABLE_PUSH:
	case UT_HINT_PT_REGION:
		return "number";
	default:
		return "bytes";
	}
}

static void send_hint(struct ut_spool_import *im, uint32_t track, uint64_t ticks,
		      const struct ut_spool_rec *r)
{
	static const char *const names[UT_HINT_COUNT] = {
#define UT_HINT_NAME(op, text) text,
		UT_HINT_LIST(UT_HINT_NAME)
#undef UT_HINT_NAME
	};
	size_t mark = im->trace->arg_count;
	struct ut_strtab *strings = &im->trace->strings;
	struct ut_event e = { .kind = UT_KIND_INSTANT, .track = track };
	uint32_t op = ut_rec_low(r, 0), name = ut_spool_string(&im->tables, ut_rec_high(r, 0));

	e.ts = ut_spool_ns(&im->tables, ticks);
	e.cat = ut_strtab_intern_z(strings, "hint");
	e.name = ut_strtab_intern_z(strings, op < UT_HINT_COUNT ? names[op] : "unknown");
	if (name)
		ut_spool_args_text(im, "name", name);
	if (ut_rec_word(r, 1))
		ut_trace_add_arg(im->trace, ut_strtab_intern_z(strings, "address"), UT_ARG_PTR)
			->value.u64 = ut_rec_word(r, 1);
	if (ut_rec_word(r, 2))
		ut_trace_add_arg(im->trace, ut_strtab_intern_z(strings, hint_unit(op)), UT_ARG_U64)
			->value.u64 = ut_rec_word(r, 2);
	ut_spool_send(im, &e, mark);
}

void ut_spool_send_single_event(struct ut_spool_import *im, uint32_t track, uint64_t ticks,
				const struct ut_spool_rec *r)
{
	if (r->type == UT_REC_MARKER)
		send_marker(im, track, ticks, r);
	else if (r->type == UT_REC_HISTOGRAM)
		send_histogram(im, track, ticks, r);
	else if (r->type == UT_REC_MODULE)
		send_module(im, track, ticks, r);
	else if (r->type == UT_REC_HINT)
		send_hint(im, track, ticks, r);
	else
		send_counter(im, ticks, r);
}

uint64_t ut_spool_next_instance(struct ut_spool_import *im)
{
	return ++im->instances;
}

uint32_t ut_spool_overlap_track(struct ut_spool_import *im, uint32_t track)
{
	uint32_t found = ut_idmap_get(&im->overlap_tracks, track + 1u);

	if (!found) {
		found = 1 + ut_spool_add_lane(&im->tables, UT_TRACK_ASYNC,
					      im->trace->tracks[track].name);
		ut_idmap_put(&im->overlap_tracks, track + 1u, found);
	}
	return found - 1;
}
