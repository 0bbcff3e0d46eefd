/*
 * firefox.c - samples as a processed profile of the Firefox Profiler (profiler.firefox.com): JSON,
 * tables of columns for each thread. Written in an older version of the format, which every newer
 * reader brings up to its own. docs/formats/profiles.md.
 */
#include "export/exporter.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/path.h"
#include "base/str.h"
#include "export/store_sink.h"
#include "model/store.h"
#include "sample/sample_walk.h"
#include "sample/whose.h"
#include "text/out.h"

#define VERSION_PROCESSED "44"
#define VERSION_GECKO     "24"

/* Whose code, its name there, its colour there. */
#define CATEGORY_LIST(X)                                                                           \
	X(OTHER, "Other", "grey")                                                                  \
	X(PROGRAM, "Program", "orange")                                                            \
	X(PYTHON, "Python", "green")                                                               \
	X(LIBRARY, "Libraries", "blue")                                                            \
	X(KERNEL, "Kernel", "darkgrey")

enum category {
#define CATEGORY_ENUM(category, name, colour) CATEGORY_##category,
	CATEGORY_LIST(CATEGORY_ENUM)
#undef CATEGORY_ENUM
};

struct timestamp {
	uint32_t track, stack;
	uint64_t ts, weight;
};

/* Numbers of one thread for things of the trace, in the order of their first use. */
struct numbers {
	uint32_t *of;    /* by number of the trace: plus 1; of another thread if it is too large */
	uint32_t *items; /* by number here */
	size_t count, cap;
};

struct firefox {
	const struct ut_trace *trace;
	struct ut_out *out;
	struct timestamp *samples; /* track by track */
	size_t count, cap;
	uint64_t first;                       /* ts */
	bool time;                            /* weights are ns */
	struct numbers stacks, places, texts; /* of the thread under way */
};

/* ---- numbers --------------------------------------------------------------------------------- */

static bool firefox_has(const struct numbers *n, uint32_t thing)
{
	uint32_t number = n->of[thing];

	return number && number <= n->count && n->items[number - 1] == thing;
}

static uint32_t firefox_number_of(struct numbers *n, uint32_t thing)
{
	if (!firefox_has(n, thing)) {
		n->items = ut_grow_raw(n->items, n->count + 1, &n->cap, sizeof(*n->items));
		n->items[n->count++] = thing;
		n->of[thing] = (uint32_t)n->count;
	}
	return n->of[thing] - 1;
}

/* A stack and all that it was called from, callers first. */
static void add_stack(struct firefox *f, uint32_t stack)
{
	const struct ut_stacks *s = &f->trace->stacks;
	uint32_t *path = NULL;
	size_t depth = 0, cap = 0;

	for (; stack && !firefox_has(&f->stacks, stack); stack = ut_stacks_get(s, stack).caller) {
		path = ut_grow_raw(path, depth + 1, &cap, sizeof(*path));
		path[depth++] = stack;
	}
	while (depth) {
		stack = path[--depth];
		firefox_number_of(&f->stacks, stack);
		firefox_number_of(&f->places, ut_stacks_get(s, stack).place);
	}
	free(path);
}

static void firefox_take_sample(void *ctx, const struct ut_sample_seen *s)
{
	struct firefox *f = ctx;

	f->samples = ut_grow_raw(f->samples, f->count + 1, &f->cap, sizeof(*f->samples));
	f->samples[f->count++] = (struct timestamp){ s->track, s->stack, s->ts, s->weight };
	f->first = s->ts < f->first ? s->ts : f->first;
}

/* ---- columns --------------------------------------------------------------------------------- */

/* "key":[value of 0, value of 1, ...] */
static void firefox_put_column(struct firefox *f, const char *key, size_t count,
			       void (*value)(struct firefox *f, size_t i))
{
	ut_out_fmt(f->out, ",\"%s\":[", key);
	for (size_t i = 0; i < count; i++) {
		ut_out_text(f->out, i ? "," : "");
		value(f, i);
	}
	ut_out_text(f->out, "]");
}

static void put_length(struct firefox *f, const char *table, size_t count)
{
	ut_out_fmt(f->out, ",\n\"%s\":{\"length\":%zu", table, count);
}

static void put_null(struct firefox *f, size_t i)
{
	(void)i;
	ut_out_text(f->out, "null");
}

static void put_zero(struct firefox *f, size_t i)
{
	(void)i;
	ut_out_text(f->out, "0");
}

static void put_minus(struct firefox *f, size_t i)
{
	(void)i;
	ut_out_text(f->out, "-1");
}

static void put_false(struct firefox *f, size_t i)
{
	(void)i;
	ut_out_text(f->out, "false");
}

static void put_self(struct firefox *f, size_t i)
{
	ut_out_u64(f->out, i);
}

static struct ut_place_in_code firefox_place(const struct firefox *f, size_t i)
{
	return ut_stacks_get_place(&f->trace->stacks, f->places.items[i]);
}

static void put_or_null(struct firefox *f, uint64_t value)
{
	if (value)
		ut_out_u64(f->out, value);
	else
		ut_out_text(f->out, "null");
}

static void put_ms(struct firefox *f, uint64_t ns)
{
	ut_out_fmt(f->out, "%" PRIu64 ".%06" PRIu64, ns / 1000000, ns % 1000000);
}

/* ---- frames and functions: one of each for a place ------------------------------------------- */

static struct ut_str firefox_text(const struct firefox *f, uint32_t string)
{
	return ut_strtab_get(&f->trace->strings, string);
}

static enum category category_of(const struct firefox *f, size_t i)
{
	struct ut_place_in_code code = firefox_place(f, i);
	struct ut_str module = firefox_text(f, code.module), file = firefox_text(f, code.file);

	if (!module.len)
		return CATEGORY_OTHER;
	if (ut_str_has_start(module, "[kernel"))
		return CATEGORY_KERNEL;
	if (ut_path_is_library(module) || ut_path_is_library(file))
		return code.module == code.file ? CATEGORY_PYTHON : CATEGORY_LIBRARY;
	return CATEGORY_PROGRAM;
}

static void put_category(struct firefox *f, size_t i)
{
	ut_out_u64(f->out, category_of(f, i));
}

static void firefox_put_line(struct firefox *f, size_t i)
{
	put_or_null(f, firefox_place(f, i).line);
}

static void firefox_put_name(struct firefox *f, size_t i)
{
	struct ut_place_in_code code = firefox_place(f, i);

	ut_out_u64(f->out,
		   firefox_number_of(&f->texts, code.function ? code.function : code.module));
}

static void put_file(struct firefox *f, size_t i)
{
	struct ut_place_in_code code = firefox_place(f, i);
	uint32_t file = code.file ? code.file : code.module;

	if (file)
		ut_out_u64(f->out, firefox_number_of(&f->texts, file));
	else
		ut_out_text(f->out, "null");
}

static void firefox_put_frames(struct firefox *f)
{
	size_t count = f->places.count;

	put_length(f, "frameTable", count);
	firefox_put_column(f, "address", count, put_minus);
	firefox_put_column(f, "inlineDepth", count, put_zero);
	firefox_put_column(f, "category", count, put_category);
	firefox_put_column(f, "subcategory", count, put_zero);
	firefox_put_column(f, "func", count, put_self);
	firefox_put_column(f, "nativeSymbol", count, put_null);
	firefox_put_column(f, "innerWindowID", count, put_zero);
	firefox_put_column(f, "implementation", count, put_null);
	firefox_put_column(f, "line", count, firefox_put_line);
	firefox_put_column(f, "column", count, put_null);
	ut_out_text(f->out, "}");
	put_length(f, "funcTable", count);
	firefox_put_column(f, "name", count, firefox_put_name);
	firefox_put_column(f, "isJS", count, put_false);
	firefox_put_column(f, "relevantForJS", count, put_false);
	firefox_put_column(f, "resource", count, put_minus);
	firefox_put_column(f, "fileName", count, put_file);
	firefox_put_column(f, "lineNumber", count, put_null);
	firefox_put_column(f, "columnNumber", count, put_null);
	ut_out_text(f->out, "}");
}

/* ---- stacks and samples ---------------------------------------------------------------------- */

static void put_prefix(struct firefox *f, size_t i)
{
	uint32_t caller = ut_stacks_get(&f->trace->stacks, f->stacks.items[i]).caller;

	if (caller)
		ut_out_u64(f->out, firefox_number_of(&f->stacks, caller));
	else
		ut_out_text(f->out, "null");
}

static uint32_t frame_of(struct firefox *f, size_t i)
{
	return firefox_number_of(&f->places,
				 ut_stacks_get(&f->trace->stacks, f->stacks.items[i]).place);
}

static void firefox_put_frame(struct firefox *f, size_t i)
{
	ut_out_u64(f->out, frame_of(f, i));
}

static void put_stack_category(struct firefox *f, size_t i)
{
	put_category(f, frame_of(f, i));
}

static void put_stacks(struct firefox *f)
{
	size_t count = f->stacks.count;

	put_length(f, "stackTable", count);
	firefox_put_column(f, "prefix", count, put_prefix);
	firefox_put_column(f, "frame", count, firefox_put_frame);
	firefox_put_column(f, "category", count, put_stack_category);
	firefox_put_column(f, "subcategory", count, put_zero);
	ut_out_text(f->out, "}");
}

/* Of the samples [first, last). */
static void firefox_put_samples(struct firefox *f, size_t first, size_t last)
{
	put_length(f, "samples", last - first);
	ut_out_fmt(f->out, ",\"weightType\":\"%s\",\"stack\":[",
		   f->time ? "tracing-ms" : "samples");
	for (size_t i = first; i < last; i++) {
		ut_out_text(f->out, i > first ? "," : "");
		if (f->samples[i].stack)
			ut_out_u64(f->out, firefox_number_of(&f->stacks, f->samples[i].stack));
		else
			ut_out_text(f->out, "null");
	}
	ut_out_text(f->out, "],\"time\":[");
	for (size_t i = first; i < last; i++) {
		ut_out_text(f->out, i > first ? "," : "");
		put_ms(f, f->samples[i].ts - f->first);
	}
	ut_out_text(f->out, "],\"weight\":[");
	for (size_t i = first; i < last; i++) {
		ut_out_text(f->out, i > first ? "," : "");
		if (f->time)
			put_ms(f, f->samples[i].weight);
		else
			ut_out_u64(f->out, f->samples[i].weight);
	}
	/* time of a CPU: what the graph of a thread is made of */
	ut_out_text(f->out, f->time ? "],\"threadCPUDelta\":[" : "");
	for (size_t i = first; f->time && i < last; i++) {
		ut_out_text(f->out, i > first ? "," : "");
		ut_out_u64(f->out, f->samples[i].weight);
	}
	ut_out_text(f->out, "]}");
}

static void firefox_put_text(struct firefox *f, size_t i)
{
	struct ut_str s = firefox_text(f, f->texts.items[i]);

	ut_out_json_str(f->out, s.len ? s.ptr : "[unknown]", s.len ? s.len : 9);
}

/* ---- threads --------------------------------------------------------------------------------- */

static void put_about(struct firefox *f, uint32_t track, uint64_t last)
{
	const struct ut_track *t = &f->trace->tracks[track];
	const struct ut_process *process = &f->trace->processes[t->process];
	struct ut_str name = firefox_text(f, t->name), program = firefox_text(f, process->name);
	bool first = t->id == process->pid;

	/* the first thread of a process is found by this name */
	ut_out_text(f->out, "{\"name\":");
	ut_out_json_str(f->out, first || !name.len ? "GeckoMain" : name.ptr,
			first || !name.len ? 9 : name.len);
	ut_out_text(f->out, ",\"processName\":");
	ut_out_json_str(f->out, program.ptr, program.len);
	ut_out_fmt(f->out,
		   ",\"isMainThread\":%s,\"processType\":\"default\",\"pid\":\"%" PRIu64
		   "\",\"tid\":%" PRIu64
		   ",\"processStartupTime\":0,\"processShutdownTime\":null,\"registerTime\":0,"
		   "\"unregisterTime\":",
		   first ? "true" : "false", process->pid, t->id);
	put_ms(f, last - f->first);
	ut_out_text(f->out, ",\"pausedRanges\":[],\"showMarkersInTimeline\":false,\n"
			    "\"markers\":{\"length\":0,\"category\":[],\"data\":[],\"endTime\":[],"
			    "\"name\":[],\"phase\":[],\"startTime\":[]},\n"
			    "\"nativeSymbols\":{\"length\":0,\"address\":[],\"functionSize\":[],"
			    "\"libIndex\":[],\"name\":[]},\n"
			    "\"resourceTable\":{\"length\":0,\"lib\":[],\"name\":[],\"host\":[],"
			    "\"type\":[]}");
}

static void firefox_put_thread(struct firefox *f, size_t first, size_t last)
{
	f->stacks.count = f->places.count = f->texts.count = 0;
	for (size_t i = first; i < last; i++)
		add_stack(f, f->samples[i].stack);
	put_about(f, f->samples[first].track, f->samples[last - 1].ts);
	firefox_put_samples(f, first, last);
	put_stacks(f);
	firefox_put_frames(f);
	ut_out_text(f->out, ",\n\"stringArray\":[");
	for (size_t i = 0; i < f->texts.count; i++) {
		ut_out_text(f->out, i ? "," : "");
		firefox_put_text(f, i);
	}
	ut_out_text(f->out, "]}");
}

/* ---- the file -------------------------------------------------------------------------------- */

static void put_meta(struct firefox *f, uint32_t event)
{
	static const struct {
		const char *name, *colour;
	} categories[] = {
#define CATEGORY_ROW(category, name, colour) { name, colour },
		CATEGORY_LIST(CATEGORY_ROW)
#undef CATEGORY_ROW
	};
	uint64_t start = f->trace->realtime_offset
				 ? (uint64_t)((int64_t)f->first + f->trace->realtime_offset)
				 : 0;
	struct ut_str program = f->trace->process_count
					? firefox_text(f, f->trace->processes[0].name)
					: (struct ut_str){ "", 0 };

	(void)event;
	ut_out_text(f->out, "{\"meta\":{\"interval\":1,\"startTime\":");
	put_ms(f, start);
	ut_out_text(f->out, ",\"product\":");
	ut_out_json_str(f->out, program.len ? program.ptr : "unitrace",
			program.len ? program.len : 8);
	ut_out_text(
		f->out,
		",\"importedFrom\":\"unitrace\",\"processType\":0,\"stackwalk\":1,"
		"\"debug\":false,\"version\":" VERSION_GECKO
		",\"preprocessedProfileVersion\":" VERSION_PROCESSED
		",\"symbolicated\":true,\"sourceCodeIsNotOnSearchfox\":true,"
		"\"usesOnlyOneStackType\":true,\"doesNotUseFrameImplementation\":true,"
		"\"sampleUnits\":{\"time\":\"ms\",\"eventDelay\":\"ms\",\"threadCPUDelta\":\"ns\"},"
		"\"markerSchema\":[],\"extensions\":{\"length\":0,\"baseURL\":[],\"id\":[],"
		"\"name\":[]},\n\"categories\":[");
	for (size_t i = 0; i < sizeof(categories) / sizeof(categories[0]); i++)
		ut_out_fmt(f->out,
			   "%s{\"name\":\"%s\",\"color\":\"%s\",\"subcategories\":[\"Other\"]}",
			   i ? "," : "", categories[i].name, categories[i].colour);
	ut_out_text(f->out,
		    "]},\n\"libs\":[],\"pages\":[],\"counters\":[],\"profilerOverhead\":[],\n"
		    "\"threads\":[");
}

static void put_all(struct firefox *f, uint32_t event)
{
	size_t places = f->trace->stacks.place_count + 1, stacks = f->trace->stacks.site_count + 1;

	f->places.of = ut_make(places * sizeof(*f->places.of));
	f->stacks.of = ut_make(stacks * sizeof(*f->stacks.of));
	f->texts.of = ut_make(((size_t)f->trace->strings.count + 1) * sizeof(*f->texts.of));
	put_meta(f, event);
	for (size_t first = 0, last; first < f->count; first = last) {
		for (last = first + 1;
		     last < f->count && f->samples[last].track == f->samples[first].track;)
			last++;
		ut_out_text(f->out, first ? ",\n" : "\n");
		firefox_put_thread(f, first, last);
	}
	ut_out_text(f->out, "]}\n");
	free(f->places.of);
	free(f->places.items);
	free(f->stacks.of);
	free(f->stacks.items);
	free(f->texts.of);
	free(f->texts.items);
}

static void firefox_write(struct ut_store *store, struct ut_out *out)
{
	struct firefox f = { .trace = &store->trace, .out = out, .first = UINT64_MAX };
	struct ut_sample_walk walk = { .store = store,
				       .event = ut_sample_event(store, NULL),
				       .each = firefox_take_sample,
				       .ctx = &f };

	if (!walk.event && store->row_count) {
		ut_out_fail(out, -ENODATA, UT_EXPORT_NO_SAMPLES);
		return;
	}
	f.time = !strcmp(ut_sample_unit(firefox_text(&f, walk.event)), "ns");
	ut_sample_walk(&walk);
	put_all(&f, walk.event);
	free(f.samples);
}

static struct ut_sink *firefox_open(struct ut_out *out)
{
	return ut_store_sink_open(out, firefox_write);
}

const struct ut_exporter ut_export_firefox = {
	.name = "firefox",
	.suffix = ".firefox.json",
	.open = firefox_open,
	.end_trace = ut_store_sink_end_trace,
	.close = ut_store_sink_close,
	.write = firefox_write,
};
