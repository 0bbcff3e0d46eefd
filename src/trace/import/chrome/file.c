/*
 * file.c - what a file says about itself, and which tool's dialect it is.
 *
 * Every member of the outermost object but the events is kept as its text, so that it can be
 * written again; some of them mean something to us as well.
 */
#include <string.h>

#include "base/json_scan.h"
#include "base/str.h"
#include "import/chrome/part.h"

void ut_chrome_keep(struct ut_chrome *c, uint32_t key, struct ut_str value)
{
	struct ut_arg arg = { .key = key, .type = UT_ARG_JSON };
	uint32_t *place = ut_chrome_file_place(c, key);

	arg.value.str = ut_chrome_json(c, value, false);
	if (*place) {
		c->file.items[*place - 1] = arg;
		return;
	}
	ut_chrome_add(&c->file, arg);
	*place = (uint32_t)c->file.count;
}

/* The rank in {"rank": N, ...}. */
static void read_rank(struct ut_chrome *c, struct ut_str value)
{
	struct ut_json *j = &c->json;
	struct ut_str key, member;
	int64_t rank;

	if (*value.ptr != '{')
		return;
	j->at = value.ptr;
	ut_json_enter(j);
	while (ut_json_member(j, &key) && ut_json_skip(j, &member)) {
		if (ut_str_is(key, "rank") && ut_json_scaled(member, 0, &rank) && rank >= 0 &&
		    rank <= INT32_MAX)
			c->rank = (int32_t)rank;
	}
}

/* torch.profiler says once on which host it was. */
static void read_host(struct ut_chrome *c, struct ut_str value)
{
	struct ut_str raw = { value.ptr + 1, value.len - 2 };

	if (value.len > 2 && *value.ptr == '"')
		c->host = ut_chrome_string(c, c->values, raw);
}

bool ut_chrome_file_member(struct ut_chrome *c, uint32_t name)
{
	struct ut_json *j = &c->json;
	struct ut_str text = ut_strtab_get(&c->build.store.trace.strings, name);
	struct ut_str key = { text.ptr, text.len }, value;
	bool kept = true;

	if (!ut_json_skip(j, &value))
		return false;
	if (ut_str_is(key, "otherData"))
		kept = !ut_chrome_read_ours(c, value);
	else if (ut_str_is(key, "distributedInfo"))
		read_rank(c, value);
	else if (ut_str_is(key, "host_name"))
		read_host(c, value);
	else if (ut_str_is(key, "baseTimeNanoseconds"))
		(void)ut_json_scaled(value, 0, &c->build.store.trace.realtime_offset);
	if (ut_str_is(key, "deviceProperties") || ut_str_is(key, "schemaVersion") ||
	    ut_str_is(key, "distributedInfo"))
		c->traits |= UT_TRAIT_TORCH;
	if (ut_str_is(key, "viztracer_metadata"))
		c->traits |= UT_TRAIT_VIZTRACER;
	if (kept)
		ut_chrome_keep(c, name, value);
	j->at = value.ptr + value.len;
	j->fresh = false;
	j->trouble = UT_JSON_NONE;
	return true;
}

/* Exports of Nsight Systems call processes "Device 0" and threads after what they show. */
static bool is_nsight(const struct ut_trace *t)
{
	for (size_t i = 0; i < t->process_count; i++) {
		if (ut_str_has_start(ut_strtab_get(&t->strings, t->processes[i].pid_text),
				     "\"Device "))
			return true;
	}
	for (size_t i = 0; i < t->track_count; i++) {
		struct ut_str id = ut_strtab_get(&t->strings, t->tracks[i].id_text);

		if (ut_str_has_start(id, "\"NVTX ") || ut_str_has_start(id, "\"CUDA API "))
			return true;
	}
	return false;
}

static const char *guess_dialect(const struct ut_chrome *c)
{
	if (c->traits & UT_TRAIT_OURS)
		return "unitrace-ours";
	if (c->traits & UT_TRAIT_TORCH)
		return "torch";
	if (c->traits & UT_TRAIT_VIZTRACER)
		return "viztracer";
	if (c->traits & UT_TRAIT_ATTR)
		return "flex";
	if (c->traits & UT_TRAIT_HOST)
		return "unitrace";
	return is_nsight(&c->build.store.trace) ? "nsight" : "chrome";
}

/* A file of one rank says so once, and of one host; in the flex dialect the pid is the rank. */
static void set_ranks(struct ut_chrome *c)
{
	struct ut_trace *t = &c->build.store.trace;

	for (size_t i = 0; i < t->process_count; i++) {
		struct ut_process *p = &t->processes[i];

		p->host = p->host ? p->host : c->host;
		if (p->rank >= 0)
			continue;
		if (c->rank >= 0)
			p->rank = c->rank;
		else if (c->traits & UT_TRAIT_ATTR && !p->pid_text && p->pid <= INT32_MAX)
			p->rank = (int32_t)p->pid;
	}
}

static uint32_t place_list(struct ut_trace *t, const struct ut_chrome_args *list)
{
	uint32_t index = (uint32_t)t->arg_count;

	if (!list->count)
		return 0;
	for (size_t i = 0; i < list->count; i++)
		*ut_trace_add_arg(t, 0, UT_ARG_END) = list->items[i];
	ut_trace_close_args(t);
	return index;
}

/* Our exporter says "ns" when a trace says nothing. */
static void drop_default_unit(struct ut_chrome *c)
{
	struct ut_strtab *strings = &c->build.store.trace.strings;
	struct ut_arg *unit =
		ut_chrome_find(&c->file, ut_strtab_intern_z(strings, "displayTimeUnit"));

	if (unit && unit->value.str == ut_strtab_intern_z(strings, "\"ns\""))
		ut_chrome_remove(&c->file, unit);
}

void ut_chrome_finish_file(struct ut_chrome *c)
{
	struct ut_trace *t = &c->build.store.trace;
	struct ut_arg dialect = { .type = UT_ARG_STR };

	if (c->traits & UT_TRAIT_OURS) {
		drop_default_unit(c);
		ut_chrome_drop_labels(c);
	}
	dialect.key = ut_strtab_intern_z(&t->strings, "dialect");
	dialect.value.str =
		c->dialect ? c->dialect : ut_strtab_intern_z(&t->strings, guess_dialect(c));
	ut_chrome_add(&c->file, dialect);
	t->file_args = place_list(t, &c->file);
	t->global_args = place_list(t, &c->global);
	ut_chrome_place_facts(c);
	set_ranks(c);
}
