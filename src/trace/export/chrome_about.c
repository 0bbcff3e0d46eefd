/*
 * chrome_about.c - what a Chrome file says besides its events: metadata events, otherData, and
 * members of the file that a trace was imported from.
 */
#include "export/chrome_write.h"

#include <inttypes.h>
#include <string.h>

#include "base/hash.h"
#include "base/str.h"
#include "export/args_json.h"
#include "export/describe.h"
#include "text/out.h"
#include "version.h"

/* ---- metadata events ----------------------------------------------------------------------- */

/* Up to the bracket of the arguments. track: UINT32_MAX = the process as a whole. */
static void start_meta(struct ut_cw *c, const struct ut_trace *t, uint32_t process, uint32_t track,
		       const char *name)
{
	ut_out_text(c->out, c->any_event ? ",\n" : "\n");
	c->any_event = true;
	ut_out_text(c->out, "{\"ph\":\"M\",\"pid\":");
	ut_cw_pid(c, c->out, t, process);
	ut_out_text(c->out, ",\"tid\":");
	if (track == UINT32_MAX)
		ut_cw_pid(c, c->out, t, process);
	else
		ut_cw_tid(c, c->out, t, track);
	ut_out_text(c->out, ",\"name\":");
	ut_out_json_str(c->out, name, strlen(name));
	ut_out_text(c->out, ",\"args\":");
}

static void put_sort_index(struct ut_cw *c, int32_t sort_index)
{
	ut_out_text(c->out, "{\"sort_index\":");
	ut_out_i64(c->out, sort_index);
	ut_out_text(c->out, "}}");
}

/* Facts that belong to otherData rather than to an event of their own. */
static bool is_other(struct ut_str key, struct ut_str value)
{
	return !value.len || value.ptr[0] != '{' || ut_str_is(key, "losses") ||
	       ut_str_is(key, "args") || ut_str_is(key, "host_clock") ||
	       ut_str_is(key, UT_PROCESS_ENDED);
}

/* Host, real pid and command in one line, where viewers have only one. */
static void chrome_about_put_labels(struct ut_cw *c, const struct ut_trace *t, uint32_t index)
{
	const struct ut_process *process = &t->processes[index];
	const struct ut_cw_process *p = ut_cw_process(c, t, index);
	const struct ut_arg *os_pid = ut_cw_find(t, process->args, "os_pid", UT_ARG_JSON);
	struct ut_str host = ut_strtab_get(&t->strings, process->host);
	struct ut_str cmdline = ut_strtab_get(&t->strings, process->cmdline);
	struct ut_str text = ut_strtab_get(&t->strings, process->pid_text);
	struct ut_buf b = { 0 };

	if (ut_cw_find(t, process->args, "process_labels", UT_ARG_JSON))
		return; /* that is written with the other facts */
	if (os_pid)
		text = ut_strtab_get(&t->strings, os_pid->value.str);
	ut_buf_add(&b, host.ptr, host.len);
	if (os_pid || (text.len && !p->as_text))
		ut_buf_fmt(&b, "%spid %s", b.len ? ", " : "", text.ptr);
	else if (!p->as_text && p->pid != process->pid)
		ut_buf_fmt(&b, "%spid %" PRIu64, b.len ? ", " : "", process->pid);
	if (b.len && cmdline.len)
		ut_buf_text(&b, ", ");
	ut_buf_add(&b, cmdline.ptr, cmdline.len);
	if (b.len) {
		start_meta(c, t, index, UINT32_MAX, "process_labels");
		ut_out_text(c->out, "{\"labels\":");
		ut_out_json_str(c->out, b.data, b.len);
		ut_out_text(c->out, "}}");
	}
	ut_buf_release(&b);
}

static void put_process_meta(struct ut_cw *c, const struct ut_trace *t, uint32_t index)
{
	const struct ut_process *process = &t->processes[index];
	struct ut_buf b = { 0 };

	ut_process_title(&b, t, process);
	if (b.len || !c->foreign) { /* viewers have a name of their own for what has none */
		start_meta(c, t, index, UINT32_MAX, "process_name");
		ut_out_text(c->out, "{\"name\":");
		ut_out_json_str(c->out, b.data, b.len);
		ut_out_text(c->out, "}}");
	}
	ut_buf_release(&b);
	chrome_about_put_labels(c, t, index);
	if (process->sort_index) { /* 0 is what viewers assume anyway */
		start_meta(c, t, index, UINT32_MAX, "process_sort_index");
		put_sort_index(c, process->sort_index);
	}
	for (const struct ut_arg *a = &t->args[process->args]; a->type != UT_ARG_END; a++) {
		struct ut_str key = ut_strtab_get(&t->strings, a->key);
		struct ut_str value = ut_strtab_get(&t->strings, a->value.str);

		if (a->type != UT_ARG_JSON || is_other(key, value))
			continue;
		start_meta(c, t, index, UINT32_MAX, key.ptr);
		ut_args_json_text(c->out, value);
		ut_out_text(c->out, "}");
	}
}

/* What a row stands for, for ourselves: viewers pass over what they do not know. */
static void put_role(struct ut_cw *c, const struct ut_trace *t, const struct ut_track *track,
		     struct ut_cw_members *m)
{
	struct ut_str api = ut_api_name(&t->strings, track->api);

	if (!ut_track_is_described(track))
		return;
	ut_cw_member(m);
	ut_out_fmt(c->out, "\"role\":\"%s\"", ut_role_name(track->role));
	if (track->role != UT_ROLE_CALLS)
		return;
	ut_out_fmt(c->out, ",\"thread\":%" PRIu32, track->thread);
	if (api.len) {
		ut_out_text(c->out, ",\"api\":");
		ut_out_json_str(c->out, api.ptr, api.len);
	}
}

static void put_track_meta(struct ut_cw *c, const struct ut_trace *t, uint32_t index)
{
	const struct ut_track *track = &t->tracks[index];
	struct ut_str name = ut_strtab_get(&t->strings, track->name);
	struct ut_cw_members m = { .out = c->out, .open = "" };

	if (track->type != UT_TRACK_THREAD && track->type != UT_TRACK_LANE)
		return;
	if (name.len || track->args || ut_track_is_described(track)) {
		start_meta(c, t, track->process, index, "thread_name");
		ut_out_text(c->out, "{");
		if (name.len) {
			ut_cw_member(&m);
			ut_out_text(c->out, "\"name\":");
			ut_out_json_str(c->out, name.ptr, name.len);
		}
		put_role(c, t, track, &m);
		ut_cw_args(&m, t, track->args);
		ut_out_text(c->out, "}}");
	}
	if (track->sort_index) {
		start_meta(c, t, track->process, index, "thread_sort_index");
		put_sort_index(c, track->sort_index);
	}
}

/* ---- otherData ----------------------------------------------------------------------------- */

static void chrome_about_put_member(struct ut_out *o, const char *key, struct ut_str s)
{
	if (!s.len)
		return;
	ut_out_text(o, key);
	ut_out_json_str(o, s.ptr, s.len);
}

/* A fact about the process as a member, if there is one. */
static bool put_fact(struct ut_cw *c, const struct ut_trace *t, uint32_t process, const char *key)
{
	const struct ut_arg *a = ut_cw_find(t, t->processes[process].args, key, UT_ARG_JSON);

	if (!a)
		return false;
	ut_out_fmt(c->other, ",\"%s\":", key);
	ut_args_json_text(c->other, ut_strtab_get(&t->strings, a->value.str));
	return true;
}

/* A clock's figure: the process's own, or the trace's. */
static void put_clock(struct ut_cw *c, const struct ut_trace *t, uint32_t process, const char *key,
		      int64_t value)
{
	if (put_fact(c, t, process, key))
		return;
	ut_out_fmt(c->other, ",\"%s\":", key);
	ut_out_i64(c->other, value);
}

/* What a process stands for, unless it is a program, as most are. */
static void put_kind(struct ut_out *o, const struct ut_trace *t, const struct ut_process *process)
{
	if (!ut_process_is_described(process))
		return;
	ut_out_fmt(o, ",\"kind\":\"%s\"", ut_process_kind_name(process->kind));
	chrome_about_put_member(o, ",\"api\":", ut_api_name(&t->strings, process->api));
	if (process->device >= 0)
		ut_out_fmt(o, ",\"device\":%" PRId32, process->device);
	if (process->sub_device >= 0)
		ut_out_fmt(o, ",\"sub_device\":%" PRId32, process->sub_device);
	if (process->device_type != UT_DEVICE_TYPE_UNKNOWN)
		ut_out_fmt(o, ",\"device_type\":\"%s\"", ut_device_type_name(process->device_type));
	chrome_about_put_member(o, ",\"model\":", ut_strtab_get(&t->strings, process->model));
}

/* Categories of calls that nobody knows to be such; said once, with the first process. */
static void put_calls(struct ut_cw *c, const struct ut_trace *t)
{
	for (size_t i = 0; i < t->call_count; i++) {
		struct ut_str s = ut_strtab_get(&t->strings, t->calls[i]);

		ut_out_text(c->other, i ? "," : ",\"calls\":[");
		ut_out_json_str(c->other, s.ptr, s.len);
	}
	ut_out_text(c->other, t->call_count ? "]" : "");
}

static void put_process_other(struct ut_cw *c, const struct ut_trace *t, uint32_t index)
{
	const struct ut_process *process = &t->processes[index];
	const struct ut_cw_process *p = ut_cw_process(c, t, index);
	struct ut_out *o = c->other;

	ut_out_fmt(o, "%s\n{\"pid\":", c->any_other ? "," : "");
	ut_cw_pid(c, o, t, index);
	c->any_other = true;
	if (!put_fact(c, t, index, "os_pid")) {
		if (process->pid_text && !p->as_text) {
			ut_out_text(o, ",\"os_pid\":");
			ut_args_json_text(o, ut_strtab_get(&t->strings, process->pid_text));
		} else if (!p->as_text && p->pid != process->pid) {
			ut_out_fmt(o, ",\"os_pid\":%" PRIu64, process->pid);
		}
	}
	if (process->rank >= 0)
		ut_out_fmt(o, ",\"rank\":%d", (int)process->rank);
	chrome_about_put_member(o, ",\"name\":", ut_strtab_get(&t->strings, process->name));
	chrome_about_put_member(o, ",\"host\":", ut_strtab_get(&t->strings, process->host));
	chrome_about_put_member(o, ",\"command\":", ut_strtab_get(&t->strings, process->cmdline));
	put_kind(o, t, process);
	put_clock(c, t, index, "realtime_offset_ns", t->realtime_offset);
	put_clock(c, t, index, "boottime_offset_ns", t->boottime_offset);
	if (!put_fact(c, t, index, "clock_error_ns") && t->clock_error)
		ut_out_fmt(o, ",\"clock_error_ns\":%" PRIu64, t->clock_error);
	put_fact(c, t, index, "host_clock");
	put_fact(c, t, index, UT_PROCESS_ENDED);
}

/* What is known of the trace as a whole is said once, with its first process. */
static void put_trace_other(struct ut_cw *c, const struct ut_trace *t)
{
	struct ut_cw_members list = { .out = c->other, .open = ",\"losses\":{" };
	struct ut_cw_members args = { .out = c->other, .open = ",\"args\":{" };

	for (size_t i = 0; i < UT_LOSSES; i++) {
		if (!t->losses.all[i])
			continue;
		ut_cw_member(&list);
		ut_out_fmt(c->other, "\"%s\":%" PRIu64, ut_losses_names[i], t->losses.all[i]);
	}
	ut_cw_end_members(&list);
	ut_cw_args(&args, t, t->global_args);
	ut_cw_end_members(&args);
	put_calls(c, t);
}

bool ut_cw_is_ours(const struct ut_cw *c, const struct ut_trace *t)
{
	const struct ut_arg *dialect = ut_cw_find(t, t->file_args, "dialect", UT_ARG_STR);

	return !c->foreign || (dialect && ut_str_is(ut_strtab_get(&t->strings, dialect->value.str),
						    "unitrace-ours"));
}

/*
 * The counters of each process, as lists: index + 1 of the first and of the next; 0 ends it. Those
 * that have their name in common with an earlier one hang on that one.
 */
struct counters {
	uint32_t *first, *next, *alike;
};

static uint32_t counter_name(const struct ut_track *track)
{
	return track->base ? track->base : track->name;
}

/* Is there more to say about a counter than its events do? A series is their business. */
static bool is_reported(const struct ut_cw *c, const struct ut_trace *t,
			const struct ut_track *track)
{
	return track->type == UT_TRACK_COUNTER &&
	       (track->args || (track->unit && !track->base && ut_cw_is_ours(c, t)));
}

static struct counters list_counters(struct ut_cw *c, const struct ut_trace *t)
{
	struct counters l = { UT_NEW_N(&c->arena, uint32_t, t->process_count + 1),
			      UT_NEW_N(&c->arena, uint32_t, t->track_count + 1),
			      UT_NEW_N(&c->arena, uint32_t, t->track_count + 1) };
	struct ut_idmap latest; /* of a process and name: index + 1 */
	uint32_t *last = UT_NEW_N(&c->arena, uint32_t, t->process_count + 1);

	ut_idmap_init(&latest, &c->arena);
	for (uint32_t i = 0; i < t->track_count; i++) {
		const struct ut_track *track = &t->tracks[i];
		uint64_t key = (uint64_t)track->process << 32 | counter_name(track);
		uint32_t before;

		if (!is_reported(c, t, track))
			continue;
		before = ut_idmap_get(&latest, key);
		ut_idmap_put(&latest, key, i + 1);
		if (before) {
			l.alike[before - 1] = i + 1;
			continue;
		}
		if (last[track->process])
			l.next[last[track->process] - 1] = i + 1;
		else
			l.first[track->process] = i + 1;
		last[track->process] = i + 1;
	}
	return l;
}

static void put_counter_facts(struct ut_cw *c, const struct ut_trace *t,
			      const struct ut_track *track)
{
	struct ut_cw_members facts = { .out = c->other, .open = "{" };

	if (track->unit) {
		ut_cw_member(&facts);
		chrome_about_put_member(c->other, track->base ? "\"series\":" : "\"unit\":",
					ut_strtab_get(&t->strings, track->unit));
	}
	if (track->id_text) {
		ut_cw_member(&facts);
		ut_out_text(c->other, "\"id\":");
		ut_args_json_text(c->other, ut_strtab_get(&t->strings, track->id_text));
	}
	ut_cw_args(&facts, t, track->args);
	ut_cw_end_members(&facts);
}

/*
 * No viewer has a place for what a counter is about: "counters": {"name": {"unit": ...}}, or a list
 * of such objects where several have that name.
 */
static void put_counters_other(struct ut_cw *c, const struct ut_trace *t,
			       const struct counters *counters, uint32_t process)
{
	struct ut_cw_members list = { .out = c->other, .open = ",\"counters\":{" };

	for (uint32_t i = counters->first[process]; i; i = counters->next[i - 1]) {
		struct ut_str name = ut_strtab_get(&t->strings, counter_name(&t->tracks[i - 1]));
		bool several = counters->alike[i - 1];

		ut_cw_member(&list);
		ut_out_json_str(c->other, name.ptr, name.len);
		ut_out_text(c->other, several ? ":[" : ":");
		for (uint32_t k = i; k; k = counters->alike[k - 1]) {
			ut_out_text(c->other, k == i ? "" : ",");
			put_counter_facts(c, t, &t->tracks[k - 1]);
		}
		ut_out_text(c->other, several ? "]" : "");
	}
	ut_cw_end_members(&list);
}

/* ---- the file that a trace came from ------------------------------------------------------- */

static char *keep_text(struct ut_cw *c, struct ut_str s)
{
	return ut_arena_copy(&c->file_arena, s.ptr, s.len);
}

/* The first trace that has a member gives it to the file. */
static void put_file_member(struct ut_cw *c, struct ut_str key, struct ut_str value)
{
	uint64_t hash = ut_hash_bytes(key.ptr, key.len);

	if (ut_str_is(key, "traceEvents") || ut_idmap_get(&c->keys, hash))
		return;
	ut_idmap_put(&c->keys, hash, 1);
	if (ut_str_is(key, "displayTimeUnit")) {
		c->unit = keep_text(c, value);
	} else if (ut_str_is(key, "otherData")) {
		c->input = keep_text(c, value);
	} else {
		ut_out_text(c->top, ",");
		ut_out_json_str(c->top, key.ptr, key.len);
		ut_out_text(c->top, ":");
		ut_args_json_text(c->top, value);
	}
}

static void put_file_args(struct ut_cw *c, const struct ut_trace *t)
{
	for (const struct ut_arg *a = &t->args[t->file_args]; a->type != UT_ARG_END; a++) {
		struct ut_str key = ut_strtab_get(&t->strings, a->key);
		struct ut_str value = ut_strtab_get(&t->strings, a->value.str);

		if (a->type == UT_ARG_JSON)
			put_file_member(c, key, value);
		else if (a->type == UT_ARG_STR && ut_str_is(key, "dialect") && !c->dialect)
			c->dialect = keep_text(c, value);
	}
}

/* ---- both ---------------------------------------------------------------------------------- */

static void put_process(struct ut_cw *c, const struct ut_trace *t, const struct counters *counters,
			uint32_t process, bool first)
{
	put_process_other(c, t, process);
	if (first)
		put_trace_other(c, t);
	put_fact(c, t, process, "losses");
	put_fact(c, t, process, "args");
	put_counters_other(c, t, counters, process);
	ut_out_text(c->other, "}");
}

/* Is there a metadata event to write for the process? */
static bool is_described(const struct ut_cw *c, const struct ut_process *p)
{
	return !c->foreign || p->name || p->host || p->cmdline || p->sort_index || p->args ||
	       p->rank >= 0;
}

static bool has_events(const struct ut_cw *c, uint32_t process)
{
	return process < c->process_cap && c->processes[process].known;
}

static bool track_has_events(const struct ut_cw *c, uint32_t track)
{
	return track < c->tracks.cap && c->tracks.items[track].text;
}

/*
 * What had events comes first, in their order, then what is only described: an importer meets them
 * in that order, so that reading the file and writing it again changes nothing.
 */
void ut_cw_about_trace(struct ut_cw *c, const struct ut_trace *t)
{
	struct counters counters = list_counters(c, t);
	size_t with_events = c->order_count;

	for (size_t i = 0; i < with_events; i++)
		put_process_meta(c, t, c->order[i]);
	for (uint32_t i = 0; i < t->process_count; i++) {
		if (!has_events(c, i) && is_described(c, &t->processes[i]))
			put_process_meta(c, t, i);
	}
	for (uint32_t i = 0; i < t->track_count; i++) {
		if (track_has_events(c, i) || !c->foreign)
			put_track_meta(c, t, i);
	}
	for (uint32_t i = 0; i < t->track_count; i++) {
		if (!track_has_events(c, i) && c->foreign)
			put_track_meta(c, t, i);
	}
	for (uint32_t i = 0; i < t->process_count; i++)
		(void)ut_cw_process(c, t, i); /* also those of which nothing is known */
	for (size_t i = 0; i < c->order_count; i++)
		put_process(c, t, &counters, c->order[i], !i);
	put_file_args(c, t);
	c->own_clock |= ut_cw_is_ours(c, t);
}

void ut_cw_about_file(struct ut_cw *c)
{
	struct ut_out *o = c->out;
	size_t len;
	const char *text;

	ut_out_text(o, "\n],\"displayTimeUnit\":");
	ut_args_json_text(o, c->unit ? (struct ut_str){ c->unit, strlen(c->unit) }
				     : (struct ut_str){ "\"ns\"", 4 });
	text = ut_out_data(c->top, &len);
	ut_out_write(o, text, len);
	ut_cw_put_samples(c);
	ut_out_text(o, ",\"otherData\":{\"tool\":\"unitrace\",\"version\":\"" UT_VERSION "\"");
	if (c->own_clock || !c->pairs.traces)
		ut_out_text(o, ",\"clock\":\"CLOCK_MONOTONIC\"");
	if (c->dialect && strcmp(c->dialect, "unitrace-ours") != 0) {
		ut_out_text(o, ",\"dialect\":");
		ut_out_json_str(o, c->dialect, strlen(c->dialect));
	}
	if (c->input) {
		ut_out_text(o, ",\"input\":");
		ut_args_json_text(o, (struct ut_str){ c->input, strlen(c->input) });
	}
	ut_out_text(o, ",\"processes\":[");
	text = ut_out_data(c->other, &len);
	ut_out_write(o, text, len);
	ut_out_text(o, "]}}\n");
}
