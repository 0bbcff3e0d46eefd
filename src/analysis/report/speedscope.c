/*
 * speedscope.c - samples as speedscope's own JSON: a profile for each thread, of stacks in order of
 * time. docs/formats/profiles.md.
 */
#include "export/exporter.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/str.h"
#include "export/store_sink.h"
#include "model/store.h"
#include "sample/sample_walk.h"
#include "text/out.h"

/* Samples of one stack that follow each other are one. */
struct timestamp {
	uint32_t stack, track;
	uint64_t weight;
};

struct speedscope {
	const struct ut_trace *trace;
	struct ut_out *out;
	struct timestamp *items; /* track by track */
	size_t count, cap;
	uint32_t *path; /* of the stack under way */
	size_t path_cap;
};

static void speedscope_take_sample(void *ctx, const struct ut_sample_seen *s)
{
	struct speedscope *p = ctx;
	struct timestamp *last = p->count ? &p->items[p->count - 1] : NULL;

	if (last && last->stack == s->stack && last->track == s->track) {
		last->weight += s->weight;
		return;
	}
	p->items = ut_grow_raw(p->items, p->count + 1, &p->cap, sizeof(*p->items));
	p->items[p->count++] = (struct timestamp){ s->stack, s->track, s->weight };
}

static void speedscope_put_text(struct speedscope *p, const char *key, struct ut_str s)
{
	ut_out_text(p->out, key);
	ut_out_json_str(p->out, s.ptr, s.len);
}

/* A frame for each place, by its number from 0; the last one is for those that have none. */
static void speedscope_put_frames(struct speedscope *p)
{
	const struct ut_strtab *strings = &p->trace->strings;

	ut_out_text(p->out, "\"shared\":{\"frames\":[");
	for (uint32_t i = 1; i <= p->trace->stacks.place_count; i++) {
		struct ut_place_in_code code = ut_stacks_get_place(&p->trace->stacks, i);
		struct ut_str module = ut_strtab_get(strings, code.module);
		struct ut_str name = code.function ? ut_strtab_get(strings, code.function)
				     : module.len  ? module
						   : ut_str_of("[unknown]");

		speedscope_put_text(p, "\n{\"name\":", name);
		/* of what has no source people want to know where it is */
		if (code.file || code.module)
			speedscope_put_text(p, ",\"file\":",
					    code.file ? ut_strtab_get(strings, code.file) : module);
		if (code.file && code.line) {
			ut_out_text(p->out, ",\"line\":");
			ut_out_u64(p->out, code.line);
		}
		ut_out_text(p->out, "},");
	}
	ut_out_text(p->out, "\n{\"name\":\"[unknown]\"}]},\n");
}

static void put_stack(struct speedscope *p, uint32_t stack)
{
	const struct ut_stacks *s = &p->trace->stacks;
	size_t depth = 0;

	for (; stack; stack = ut_stacks_get(s, stack).caller) {
		p->path = ut_grow_raw(p->path, depth + 1, &p->path_cap, sizeof(*p->path));
		p->path[depth++] = ut_stacks_get(s, stack).place;
	}
	ut_out_text(p->out, "[");
	for (size_t i = depth; i; i--) {
		uint32_t place = p->path[i - 1];

		ut_out_u64(p->out, place ? place - 1 : s->place_count);
		ut_out_text(p->out, i > 1 ? "," : "");
	}
	if (!depth)
		ut_out_u64(p->out, s->place_count);
	ut_out_text(p->out, "]");
}

static void speedscope_put_name(struct speedscope *p, uint32_t track)
{
	const struct ut_track *t = &p->trace->tracks[track];
	const struct ut_process *process = &p->trace->processes[t->process];
	struct ut_str name = ut_strtab_get(&p->trace->strings, t->name);
	struct ut_str program = ut_strtab_get(&p->trace->strings, process->name);
	struct ut_buf b = { 0 };

	if (program.len && !ut_str_eq(program, name)) {
		ut_buf_add(&b, program.ptr, program.len);
		ut_buf_text(&b, ": ");
	}
	ut_buf_add(&b, name.ptr, name.len);
	ut_buf_fmt(&b, " (%llu)", (unsigned long long)t->id);
	speedscope_put_text(p, "\"name\":", (struct ut_str){ b.data, b.len });
	ut_buf_release(&b);
}

/* One thread: [first, last) of the samples. */
static void speedscope_put_thread(struct speedscope *p, size_t first, size_t last, const char *unit)
{
	uint64_t sum = 0;

	for (size_t i = first; i < last; i++)
		sum += p->items[i].weight;
	ut_out_text(p->out, "{\"type\":\"sampled\",");
	speedscope_put_name(p, p->items[first].track);
	ut_out_fmt(p->out, ",\"unit\":\"%s\",\"startValue\":0,\"endValue\":", unit);
	ut_out_u64(p->out, sum);
	ut_out_text(p->out, ",\n\"samples\":[");
	for (size_t i = first; i < last; i++) {
		ut_out_text(p->out, i > first ? "," : "");
		put_stack(p, p->items[i].stack);
	}
	ut_out_text(p->out, "],\n\"weights\":[");
	for (size_t i = first; i < last; i++) {
		ut_out_text(p->out, i > first ? "," : "");
		ut_out_u64(p->out, p->items[i].weight);
	}
	ut_out_text(p->out, "]}");
}

static const char *unit_of(struct ut_str event)
{
	const char *unit = ut_sample_unit(event);

	return !strcmp(unit, "ns") ? "nanoseconds" : unit[0] ? unit : "none";
}

static void put_threads(struct speedscope *p, const char *unit)
{
	ut_out_text(p->out, "\"profiles\":[");
	for (size_t first = 0, last; first < p->count; first = last) {
		for (last = first + 1;
		     last < p->count && p->items[last].track == p->items[first].track;)
			last++;
		ut_out_text(p->out, first ? ",\n" : "\n");
		speedscope_put_thread(p, first, last, unit);
	}
	ut_out_text(p->out, "]}\n");
}

static void speedscope_write(struct ut_store *store, struct ut_out *out)
{
	struct speedscope p = { .trace = &store->trace, .out = out };
	struct ut_sample_walk walk = { .store = store,
				       .event = ut_sample_event(store, NULL),
				       .each = speedscope_take_sample,
				       .ctx = &p };

	if (!walk.event && store->row_count) {
		ut_out_fail(out, -ENODATA, UT_EXPORT_NO_SAMPLES);
		return;
	}
	ut_sample_walk(&walk);
	ut_out_text(out, "{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\",\n"
			 "\"exporter\":\"unitrace\",\n");
	speedscope_put_frames(&p);
	put_threads(&p, unit_of(ut_strtab_get(&store->trace.strings, walk.event)));
	free(p.items);
	free(p.path);
}

static struct ut_sink *speedscope_open(struct ut_out *out)
{
	return ut_store_sink_open(out, speedscope_write);
}

const struct ut_exporter ut_export_speedscope = {
	.name = "speedscope",
	.suffix = ".speedscope.json",
	.open = speedscope_open,
	.end_trace = ut_store_sink_end_trace,
	.close = ut_store_sink_close,
	.write = speedscope_write,
};
