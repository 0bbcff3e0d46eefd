/*
 * pprof.c - samples as a profile of pprof's: protobuf, usually packed with gzip. The field numbers
 * are those of profile.proto; docs/formats/profiles.md says what becomes what.
 */
#include "export/exporter.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/hash.h"
#include "base/hashtab.h"
#include "export/pbuf.h"
#include "export/store_sink.h"
#include "model/store.h"
#include "sample/sample_walk.h"
#include "text/out.h"

enum profile {
	SAMPLE_TYPE = 1,
	SAMPLE = 2,
	MAPPING = 3,
	LOCATION = 4,
	FUNCTION = 5,
	STRING_TABLE = 6,
	TIME_NANOS = 9,
	DURATION_NANOS = 10,
	PERIOD_TYPE = 11,
	PERIOD = 12,
	DEFAULT_SAMPLE_TYPE = 14,
};

enum {
	TYPE_TYPE = 1,
	TYPE_UNIT = 2
};
enum {
	SAMPLE_LOCATION = 1,
	SAMPLE_VALUE = 2,
	SAMPLE_LABEL = 3
};
enum {
	LABEL_KEY = 1,
	LABEL_STR = 2,
	LABEL_NUM = 3
};
enum {
	MAPPING_ID = 1,
	MAPPING_FILE = 5,
	MAPPING_HAS_FUNCTIONS = 7
};
enum {
	LOCATION_ID = 1,
	LOCATION_MAPPING = 2,
	LOCATION_ADDRESS = 3,
	LOCATION_LINE = 4
};
enum {
	LINE_FUNCTION = 1,
	LINE_LINE = 2
};
enum {
	FUNCTION_ID = 1,
	FUNCTION_NAME = 2,
	FUNCTION_SYSTEM_NAME = 3,
	FUNCTION_FILE = 4
};

/* Samples of one stack, thread and task. */
struct group {
	uint32_t stack, track, task;
	uint64_t count, weight;
};

/* A function is known by its name and file. */
struct function {
	uint32_t name, file;
};

struct pprof {
	const struct ut_store *store;
	const struct ut_trace *trace;
	struct ut_out *out;
	struct ut_pbuf b;
	uint32_t *strings; /* by id in the trace: index in the table, plus 1 */
	uint32_t string_count;
	struct ut_pbuf texts; /* the table itself, written last */
	struct group *groups;
	size_t group_count, group_cap;
	struct ut_hashtab group_by_key;
	uint32_t *location; /* by stack: the innermost location, plus 1 */
	uint32_t location_count;
	uint32_t *mapping; /* by id of its string, plus 1 */
	uint32_t mapping_count;
	struct function *functions;
	size_t function_count, function_cap;
	struct ut_hashtab function_by_key;
	uint64_t first, last;
	bool plain; /* the weights are numbers of samples themselves */
};

/* ---- strings --------------------------------------------------------------------------------- */

static uint32_t report_pprof_add_text(struct pprof *p, const char *s, size_t len)
{
	ut_pbuf_str(&p->texts, STRING_TABLE, s, len);
	return p->string_count++;
}

static uint32_t report_pprof_add_word(struct pprof *p, const char *word)
{
	return report_pprof_add_text(p, word, strlen(word));
}

static uint32_t report_pprof_text(struct pprof *p, uint32_t string)
{
	struct ut_str s;

	if (!string || string > p->trace->strings.count)
		return 0;
	if (!p->strings[string]) {
		s = ut_strtab_get(&p->trace->strings, string);
		p->strings[string] = report_pprof_add_text(p, s.ptr, s.len) + 1;
	}
	return p->strings[string] - 1;
}

/* What has been written so far goes to the file: messages at the top may come in any order. */
static void report_pprof_flush(struct pprof *p)
{
	ut_out_write(p->out, p->b.data, p->b.len);
	p->b.len = 0;
}

/* ---- samples --------------------------------------------------------------------------------- */

static void report_pprof_take_sample(void *ctx, const struct ut_sample_seen *s)
{
	struct pprof *p = ctx;
	const uint32_t key[3] = { s->stack, s->track, s->task };
	uint32_t hash = (uint32_t)ut_hash_bytes(key, sizeof(key)), at = hash, number;

	while ((number = ut_hashtab_next(&p->group_by_key, hash, &at)) &&
	       memcmp(&p->groups[number - 1], key, sizeof(key)) != 0)
		;
	if (!number) {
		p->groups =
			ut_grow(p->groups, p->group_count + 1, &p->group_cap, sizeof(*p->groups));
		memcpy(&p->groups[p->group_count], key, sizeof(key));
		number = (uint32_t)++p->group_count;
		ut_hashtab_add(&p->group_by_key, hash, number);
	}
	p->groups[number - 1].count++;
	p->groups[number - 1].weight += s->weight;
	p->first = s->ts < p->first ? s->ts : p->first;
	p->last = s->ts > p->last ? s->ts : p->last;
}

/* ---- functions, mappings, locations
 * ------------------------------------------------------------*/

static uint32_t function_of(struct pprof *p, const struct ut_place_in_code *code)
{
	const struct function key = { code->function, code->file };
	uint32_t hash = (uint32_t)ut_hash_bytes(&key, sizeof(key)), at = hash, number;
	size_t mark;

	while ((number = ut_hashtab_next(&p->function_by_key, hash, &at)) &&
	       memcmp(&p->functions[number - 1], &key, sizeof(key)) != 0)
		;
	if (number)
		return number;
	p->functions = ut_grow(p->functions, p->function_count + 1, &p->function_cap,
			       sizeof(*p->functions));
	p->functions[p->function_count] = key;
	number = (uint32_t)++p->function_count;
	ut_hashtab_add(&p->function_by_key, hash, number);
	mark = ut_pbuf_begin(&p->b, FUNCTION);
	ut_pbuf_varint(&p->b, FUNCTION_ID, number);
	ut_pbuf_varint(&p->b, FUNCTION_NAME, report_pprof_text(p, key.name));
	ut_pbuf_varint(&p->b, FUNCTION_SYSTEM_NAME, report_pprof_text(p, key.name));
	ut_pbuf_varint(&p->b, FUNCTION_FILE, report_pprof_text(p, key.file));
	ut_pbuf_end(&p->b, mark);
	return number;
}

static uint32_t mapping_of(struct pprof *p, uint32_t module)
{
	size_t mark;

	if (!module || module > p->trace->strings.count)
		return 0;
	if (!p->mapping[module]) {
		p->mapping[module] = ++p->mapping_count;
		mark = ut_pbuf_begin(&p->b, MAPPING);
		ut_pbuf_varint(&p->b, MAPPING_ID, p->mapping_count);
		ut_pbuf_varint(&p->b, MAPPING_FILE, report_pprof_text(p, module));
		ut_pbuf_varint(&p->b, MAPPING_HAS_FUNCTIONS, 1);
		ut_pbuf_end(&p->b, mark);
	}
	return p->mapping[module];
}

/* Is a frame inlined into the one that called it? They are at one address, then. */
static bool is_inlined(const struct ut_stacks *s, uint32_t stack)
{
	uint32_t caller = ut_stacks_get(s, stack).caller;
	struct ut_place_in_code a = ut_stacks_innermost(s, stack);
	struct ut_place_in_code b = ut_stacks_innermost(s, caller);

	return caller && a.address && a.address == b.address && a.module == b.module;
}

/* The place of a stack, with all that is inlined there; the stack that it was called from. */
static uint32_t put_location(struct pprof *p, uint32_t stack)
{
	const struct ut_stacks *s = &p->trace->stacks;
	struct ut_place_in_code code = ut_stacks_innermost(s, stack);
	uint32_t mapping = mapping_of(p, code.module), inner = stack;
	size_t mark, line;
	bool more;

	for (bool again = true; again; inner = ut_stacks_get(s, inner).caller) {
		struct ut_place_in_code at = ut_stacks_innermost(s, inner);

		function_of(p, &at); /* it has to be written before, not inside */
		again = is_inlined(s, inner);
	}
	mark = ut_pbuf_begin(&p->b, LOCATION);
	ut_pbuf_varint(&p->b, LOCATION_ID, ++p->location_count);
	if (mapping)
		ut_pbuf_varint(&p->b, LOCATION_MAPPING, mapping);
	ut_pbuf_varint(&p->b, LOCATION_ADDRESS, code.address);
	do {
		struct ut_place_in_code at = ut_stacks_innermost(s, stack);

		line = ut_pbuf_begin(&p->b, LOCATION_LINE);
		ut_pbuf_varint(&p->b, LINE_FUNCTION, function_of(p, &at));
		if (at.line)
			ut_pbuf_varint(&p->b, LINE_LINE, at.line);
		ut_pbuf_end(&p->b, line);
		more = is_inlined(s, stack);
		stack = ut_stacks_get(s, stack).caller;
	} while (more);
	ut_pbuf_end(&p->b, mark);
	return stack;
}

/* Locations of a stack, the innermost first. A place that several stacks share is written for each:
 * what is inlined there may differ. */
static void put_stack(struct pprof *p, uint32_t stack, struct ut_pbuf *ids)
{
	unsigned char number[10];

	ids->len = 0;
	while (stack) {
		uint32_t caller = stack;

		if (!p->location[stack]) {
			caller = put_location(p, stack);
			p->location[stack] = p->location_count;
		} else {
			do {
				bool more = is_inlined(&p->trace->stacks, caller);

				caller = ut_stacks_get(&p->trace->stacks, caller).caller;
				if (!more)
					break;
			} while (caller);
		}
		ids->data = ut_grow_raw(ids->data, ids->len + sizeof(number), &ids->cap, 1);
		ids->len =
			(size_t)(ut_pbuf_put(ids->data + ids->len, p->location[stack]) - ids->data);
		stack = caller;
	}
}

/* ---- the file -------------------------------------------------------------------------------- */

static void put_label(struct pprof *p, uint32_t key, uint32_t value, uint64_t number)
{
	size_t mark = ut_pbuf_begin(&p->b, SAMPLE_LABEL);

	ut_pbuf_varint(&p->b, LABEL_KEY, key);
	if (value)
		ut_pbuf_varint(&p->b, LABEL_STR, value);
	else
		ut_pbuf_varint(&p->b, LABEL_NUM, number);
	ut_pbuf_end(&p->b, mark);
}

struct words {
	uint32_t thread, thread_id, pid, process, task;
};

static void report_pprof_put_group(struct pprof *p, const struct group *g, const struct words *w,
				   struct ut_pbuf *ids)
{
	const struct ut_track *t = &p->trace->tracks[g->track];
	const struct ut_process *process = &p->trace->processes[t->process];
	unsigned char values[20], *end;
	size_t mark;

	put_stack(p, g->stack, ids);
	mark = ut_pbuf_begin(&p->b, SAMPLE);
	ut_pbuf_bytes(&p->b, SAMPLE_LOCATION, ids->data, ids->len);
	end = ut_pbuf_put(p->plain ? values : ut_pbuf_put(values, g->count), g->weight);
	ut_pbuf_bytes(&p->b, SAMPLE_VALUE, values, (size_t)(end - values));
	if (t->name)
		put_label(p, w->thread, report_pprof_text(p, t->name), 0);
	put_label(p, w->thread_id, 0, t->id);
	if (process->name)
		put_label(p, w->process, report_pprof_text(p, process->name), 0);
	put_label(p, w->pid, 0, process->pid);
	if (g->task)
		put_label(p, w->task, report_pprof_text(p, g->task), 0);
	ut_pbuf_end(&p->b, mark);
	report_pprof_flush(p);
}

static void put_type(struct pprof *p, uint32_t field, uint32_t type, uint32_t unit)
{
	size_t mark = ut_pbuf_begin(&p->b, field);

	ut_pbuf_varint(&p->b, TYPE_TYPE, type);
	ut_pbuf_varint(&p->b, TYPE_UNIT, unit);
	ut_pbuf_end(&p->b, mark);
}

/* What was counted: samples, and what they weigh. */
static void report_pprof_put_head(struct pprof *p, uint32_t event)
{
	struct ut_str name = ut_strtab_get(&p->trace->strings, event);
	const char *unit = ut_sample_unit(name);
	bool time = !strcmp(unit, "ns");
	uint32_t samples = report_pprof_add_word(p, "samples"),
		 count = report_pprof_add_word(p, "count");
	uint32_t type = ut_sample_is_cpu_time(name) ? report_pprof_add_word(p, "cpu")
						    : report_pprof_text(p, event);
	uint32_t units = time      ? report_pprof_add_word(p, "nanoseconds")
			 : unit[0] ? report_pprof_add_word(p, unit)
				   : count;

	p->plain = ut_str_is(name, "samples");
	if (!p->plain)
		put_type(p, SAMPLE_TYPE, samples, count);
	put_type(p, SAMPLE_TYPE, type, units);
	put_type(p, PERIOD_TYPE, type, units);
	ut_pbuf_varint(&p->b, DEFAULT_SAMPLE_TYPE, type);
	if (p->trace->realtime_offset)
		ut_pbuf_varint(&p->b, TIME_NANOS,
			       (uint64_t)((int64_t)p->first + p->trace->realtime_offset));
	ut_pbuf_varint(&p->b, DURATION_NANOS, p->last > p->first ? p->last - p->first : 0);
}

/* The usual weight of a sample, which is how far they are apart. */
static uint64_t period_of(const struct pprof *p)
{
	uint64_t count = 0, weight = 0;

	for (size_t i = 0; i < p->group_count; i++) {
		count += p->groups[i].count;
		weight += p->groups[i].weight;
	}
	return count ? (weight + count / 2) / count : 0;
}

/* Readers take the first mapping for the program: it is where the heaviest stack begins. */
static void put_program(struct pprof *p)
{
	const struct ut_stacks *s = &p->trace->stacks;
	uint64_t most = 0;
	uint32_t stack = 0;

	for (size_t i = 0; i < p->group_count; i++) {
		if (p->groups[i].weight >= most && p->groups[i].stack) {
			most = p->groups[i].weight;
			stack = p->groups[i].stack;
		}
	}
	while (stack && ut_stacks_get(s, stack).caller)
		stack = ut_stacks_get(s, stack).caller;
	mapping_of(p, ut_stacks_innermost(s, stack).module);
}

static void put_all(struct pprof *p, uint32_t event)
{
	struct ut_pbuf ids = { 0 };
	struct words w;

	report_pprof_add_word(p, ""); /* the first of the table is nothing */
	report_pprof_put_head(p, event);
	ut_pbuf_varint(&p->b, PERIOD, period_of(p));
	w.thread = report_pprof_add_word(p, "thread");
	w.thread_id = report_pprof_add_word(p, "thread_id");
	w.process = report_pprof_add_word(p, "process");
	w.pid = report_pprof_add_word(p, "pid");
	w.task = report_pprof_add_word(p, "task");
	put_program(p);
	for (size_t i = 0; i < p->group_count; i++)
		report_pprof_put_group(p, &p->groups[i], &w, &ids);
	report_pprof_flush(p);
	ut_out_write(p->out, p->texts.data, p->texts.len);
	ut_pbuf_release(&ids);
}

static void pprof_write(struct ut_store *store, struct ut_out *out)
{
	struct pprof p = {
		.store = store, .trace = &store->trace, .out = out, .first = UINT64_MAX
	};
	struct ut_sample_walk walk = { .store = store,
				       .event = ut_sample_event(store, NULL),
				       .each = report_pprof_take_sample,
				       .ctx = &p };
	size_t strings = (size_t)p.trace->strings.count + 1;

	if (!walk.event && store->row_count) {
		ut_out_fail(out, -ENODATA, UT_EXPORT_NO_SAMPLES);
		return;
	}
	p.strings = ut_make(strings * sizeof(*p.strings));
	p.mapping = ut_make(strings * sizeof(*p.mapping));
	p.location = ut_make((p.trace->stacks.site_count + 1) * sizeof(*p.location));
	ut_sample_walk(&walk);
	put_all(&p, walk.event);
	ut_pbuf_release(&p.b);
	ut_pbuf_release(&p.texts);
	ut_hashtab_release(&p.group_by_key);
	ut_hashtab_release(&p.function_by_key);
	free(p.strings);
	free(p.mapping);
	free(p.location);
	free(p.groups);
	free(p.functions);
}

static struct ut_sink *pprof_open(struct ut_out *out)
{
	return ut_store_sink_open(out, pprof_write);
}

const struct ut_exporter ut_export_pprof = {
	.name = "pprof",
	.suffix = ".pb.gz",
	.open = pprof_open,
	.end_trace = ut_store_sink_end_trace,
	.close = ut_store_sink_close,
	.write = pprof_write,
};
