/*
 * members.c - what a merged trace says about itself, behind its events.
 *
 * What all files say alike is said once; lists of devices, processes and stack frames are joined;
 * the rest is kept with the file it came from, in otherData.merged.
 */
#include <inttypes.h>
#include <string.h>

#include "base/path.h"
#include "merge/plan.h"
#include "merge/rewrite_clean.h"
#include "model/strtab.h"
#include "version.h"

static const char comma[] = ",";

static void members_put(struct ut_buf *out, struct ut_str s)
{
	ut_buf_add(out, s.ptr, s.len);
}

static void members_put_member(struct ut_buf *out, struct ut_str key, struct ut_str value)
{
	ut_buf_char(out, '"');
	members_put(out, key);
	ut_buf_text(out, "\":");
	members_put(out, value);
}

/* Walks over an array or object in JSON text, which is good. */
struct each {
	struct ut_json j;
	bool object;
	struct ut_str key, value;
};

static bool each_start(struct each *e, struct ut_str text)
{
	if (!text.len || (*text.ptr != '{' && *text.ptr != '['))
		return false;
	ut_json_init_text(&e->j, text.ptr, text.len);
	e->object = *text.ptr == '{';
	ut_json_enter(&e->j);
	return true;
}

/* For those who look at keys: only the members of an object have some. */
static bool each_member_start(struct each *e, struct ut_str text)
{
	return text.len && *text.ptr == '{' && each_start(e, text);
}

/* Releases itself at the end. */
static bool each_next(struct each *e)
{
	if ((e->object ? ut_json_member(&e->j, &e->key) : ut_json_element(&e->j)) &&
	    ut_json_skip(&e->j, &e->value))
		return true;
	ut_json_release(&e->j);
	return false;
}

/* ---- members of the outermost object --------------------------------------------------------- */

/* Do all files that are merged say the same about key? */
static bool unanimous(const struct ut_merge_plan *p, struct ut_str key, struct ut_str value)
{
	for (size_t i = 0; i < p->count; i++) {
		const struct ut_facts *f = &p->files[i].facts;
		bool found = false;

		if (p->files[i].left_out)
			continue;
		for (uint32_t k = 0; !found && k < f->member_count; k++)
			found = ut_str_eq(ut_facts_span(f, f->members[k].key), key) &&
				ut_str_eq(ut_facts_span(f, f->members[k].value), value);
		if (!found)
			return false;
	}
	return true;
}

/* These have a place of their own in the result. */
static bool handled(struct ut_str key)
{
	static const char *const keys[] = {
		"traceEvents", "otherData",        "displayTimeUnit",
		"stackFrames", "deviceProperties", "baseTimeNanoseconds"
	};

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		if (ut_str_is(key, keys[i]))
			return true;
	}
	return false;
}

static const struct ut_merge_file *first_file(const struct ut_merge_plan *p)
{
	for (size_t i = 0; i < p->count; i++) {
		if (!p->files[i].left_out)
			return &p->files[i];
	}
	return NULL;
}

/* The members of the first file that all the others have, too; a flag each. */
struct common {
	const struct ut_facts *facts; /* of the first file; NULL = there is none */
	bool *agreed;
};

static void find_common(const struct ut_merge_plan *p, struct common *c, struct ut_arena *arena)
{
	const struct ut_merge_file *first = first_file(p);

	*c = (struct common){ first ? &first->facts : NULL, NULL };
	if (!first)
		return;
	c->agreed = UT_NEW_N(arena, bool, (size_t)first->facts.member_count + 1);
	for (uint32_t k = 0; k < first->facts.member_count; k++) {
		const struct ut_facts_member *m = &first->facts.members[k];
		struct ut_str key = ut_facts_span(c->facts, m->key);

		c->agreed[k] = m->value.len && !handled(key) &&
			       unanimous(p, key, ut_facts_span(c->facts, m->value));
	}
}

static bool is_common(const struct common *c, struct ut_str key)
{
	for (uint32_t k = 0; c->facts && k < c->facts->member_count; k++) {
		if (c->agreed[k] &&
		    ut_str_eq(ut_facts_span(c->facts, c->facts->members[k].key), key))
			return true;
	}
	return false;
}

static void put_common_members(const struct common *c, struct ut_buf *out)
{
	for (uint32_t k = 0; c->facts && k < c->facts->member_count; k++) {
		if (!c->agreed[k])
			continue;
		ut_buf_text(out, comma);
		members_put_member(out, ut_facts_span(c->facts, c->facts->members[k].key),
				   ut_facts_span(c->facts, c->facts->members[k].value));
	}
}

static void put_unit(const struct ut_merge_plan *p, struct ut_buf *out)
{
	static const struct ut_str key = { "displayTimeUnit", 15 };
	const struct ut_merge_file *first = first_file(p);
	struct ut_str unit = { 0 };

	if (first)
		unit = ut_facts_member(&first->facts, key.ptr);
	if (!unit.len || !unanimous(p, key, unit))
		unit = (struct ut_str){ "\"ns\"", 4 };
	ut_buf_text(out, comma);
	members_put_member(out, key, unit);
}

/* Each device once, in the order of files. */
static void members_put_devices(const struct ut_merge_plan *p, struct ut_buf *out)
{
	struct ut_arena arena = { 0 };
	struct ut_strtab seen;
	struct each e;
	bool any = false;

	ut_strtab_init(&seen, &arena);
	for (size_t i = 0; i < p->count; i++) {
		struct ut_str list = ut_facts_member(&p->files[i].facts, "deviceProperties");

		if (!list.len || *list.ptr != '[' || !each_start(&e, list))
			continue;
		ut_buf_text(out, any ? "" : ",\"deviceProperties\":[");
		any = true;
		while (each_next(&e)) {
			uint32_t before = seen.count;

			ut_strtab_intern(&seen, e.value.ptr, e.value.len);
			if (seen.count == before)
				continue;
			ut_buf_text(out, before ? comma : "");
			members_put(out, e.value);
		}
	}
	ut_buf_text(out, any ? "]" : "");
	ut_arena_release(&arena);
}

/* One frame: its parent is named as the frames are. */
static void members_put_frame(struct ut_buf *out, struct ut_str frame, const char *prefix)
{
	struct each e;
	const char *between = "{";

	if (!prefix || !each_member_start(&e, frame)) {
		members_put(out, frame);
		return;
	}
	while (each_next(&e)) {
		ut_buf_text(out, between);
		between = comma;
		if (ut_str_is(e.key, "parent")) {
			bool quoted = *e.value.ptr == '"';

			ut_buf_fmt(out, "\"parent\":\"%s", prefix);
			ut_buf_add(out, e.value.ptr + quoted, e.value.len - 2 * quoted);
			ut_buf_char(out, '"');
		} else {
			members_put_member(out, e.key, e.value);
		}
	}
	ut_buf_text(out, *between == '{' ? "{}" : "}");
}

static void put_stack_frames(const struct ut_merge_plan *p, struct ut_buf *out)
{
	const char *between = ",\"stackFrames\":{";
	struct each e;

	for (size_t i = 0; i < p->count; i++) {
		const char *prefix = p->files[i].plan.sf_prefix;

		if (!each_member_start(&e, ut_facts_member(&p->files[i].facts, "stackFrames")))
			continue;
		while (each_next(&e)) {
			ut_buf_text(out, between);
			between = comma;
			ut_buf_fmt(out, "\"%s", prefix ? prefix : "");
			members_put(out, e.key);
			ut_buf_text(out, "\":");
			members_put_frame(out, e.value, prefix);
		}
	}
	ut_buf_text(out, between == comma ? "}" : "");
}

/* ---- otherData ------------------------------------------------------------------------------- */

static struct ut_str other_of(const struct ut_merge_file *f, const char *key)
{
	return ut_facts_inside(ut_facts_member(&f->facts, "otherData"), key);
}

static void put_pid(struct ut_buf *out, const struct ut_merge_file *f, struct ut_str value,
		    bool has_os_pid)
{
	struct ut_str pid = ut_facts_pid(value);
	const struct ut_facts_process *process = ut_facts_find(&f->facts, pid);
	const char *changed = process ? f->plan.processes[process - f->facts.processes].pid : NULL;

	ut_buf_text(out, "\"pid\":");
	if (changed)
		ut_buf_text(out, changed);
	else
		members_put(out, value);
	if (changed && *pid.ptr != '"' && !has_os_pid) {
		ut_buf_text(out, ",\"os_pid\":");
		members_put(out, pid);
	}
}

/* The offsets of a process to other clocks, after its times were moved. */
static bool put_offset(struct ut_buf *out, const struct ut_merge_plan *p,
		       const struct ut_merge_file *f, const struct each *e)
{
	int64_t value;

	if (ut_str_is(e->key, "realtime_offset_ns") && p->placed && f->placed)
		value = p->epoch;
	else if ((!ut_str_is(e->key, "realtime_offset_ns") &&
		  !ut_str_is(e->key, "boottime_offset_ns")) ||
		 !ut_json_scaled(e->value, 0, &value) || !value ||
		 __builtin_sub_overflow(value, f->plan.shift, &value))
		return false;
	ut_buf_fmt(out, "\"%.*s\":%" PRId64, (int)e->key.len, e->key.ptr, value);
	return true;
}

static void put_process(struct ut_buf *out, const struct ut_merge_plan *p,
			const struct ut_merge_file *f, struct ut_str process)
{
	const char *between = "{";
	struct each e;

	if (!each_member_start(&e, process))
		return;
	while (each_next(&e)) {
		/* what was measured was used; its times are not those of the result */
		if (ut_str_is(e.key, "host_clock") && (f->plan.shift || f->map.count))
			continue;
		ut_buf_text(out, between);
		between = comma;
		if (ut_str_is(e.key, "pid"))
			put_pid(out, f, e.value, ut_facts_inside(process, "os_pid").len > 0);
		else if (!put_offset(out, p, f, &e))
			members_put_member(out, e.key, e.value);
	}
	ut_buf_text(out, *between == '{' ? "{}" : "}");
}

static void put_processes(const struct ut_merge_plan *p, struct ut_buf *out)
{
	const char *between = "\n";
	struct each e;

	ut_buf_text(out, ",\"processes\":[");
	for (size_t i = 0; i < p->count; i++) {
		struct ut_str list = other_of(&p->files[i], "processes");

		if (p->files[i].left_out || !list.len || *list.ptr != '[' || !each_start(&e, list))
			continue;
		while (each_next(&e)) {
			if (*e.value.ptr != '{')
				continue;
			ut_buf_text(out, between);
			between = ",\n";
			put_process(out, p, &p->files[i], e.value);
		}
	}
	ut_buf_text(out, "]");
}

/* What one file alone says about itself. */
static void put_about(const struct common *c, const struct ut_merge_file *f, struct ut_buf *out)
{
	const char *between = ",\"about\":{";
	struct each e;

	for (uint32_t k = 0; k < f->facts.member_count; k++) {
		struct ut_str key = ut_facts_span(&f->facts, f->facts.members[k].key);
		struct ut_str value = ut_facts_span(&f->facts, f->facts.members[k].value);

		if (!value.len || handled(key) || is_common(c, key))
			continue;
		ut_buf_text(out, between);
		between = comma;
		members_put_member(out, key, value);
	}
	/* Of otherData, what put_processes() and put_other() do not say for all. */
	if (each_member_start(&e, ut_facts_member(&f->facts, "otherData"))) {
		while (each_next(&e)) {
			if (ut_str_is(e.key, "processes") || ut_str_is(e.key, "tool") ||
			    ut_str_is(e.key, "version") || ut_str_is(e.key, "clock"))
				continue;
			ut_buf_text(out, between);
			between = comma;
			members_put_member(out, e.key, e.value);
		}
	}
	ut_buf_text(out, between == comma ? "}" : "");
}

static void put_changed_pids(const struct ut_merge_file *f, struct ut_buf *out)
{
	const char *between = ",\"pids\":{";

	for (uint32_t i = 0; i < f->facts.process_count; i++) {
		struct ut_str pid = ut_facts_span(&f->facts, f->facts.processes[i].pid);
		const char *changed = f->plan.processes[i].pid;

		if (!changed)
			continue;
		ut_buf_text(out, between);
		between = comma;
		if (*pid.ptr == '"')
			members_put(out, pid);
		else
			ut_rewrite_string(pid,
					  out); /* a number, as keys have to be; or something odd */
		ut_buf_fmt(out, ":%s", changed);
	}
	ut_buf_text(out, between == comma ? "}" : "");
}

/* How well that is known, and what the rate of its clock was, if hosts were brought together. */
static void put_clock(const struct ut_merge_file *f, struct ut_buf *out)
{
	uint64_t error = ut_time_map_worst(&f->map);

	if (!f->map.count)
		return;
	if (error != UT_TIME_UNKNOWN)
		ut_buf_fmt(out, ",\"clock_error_ns\":%" PRIu64, error);
	ut_buf_fmt(out, ",\"drift_ppb\":%" PRId64, ut_time_map_drift(&f->map));
	for (size_t i = 0; i < f->map.count; i++)
		ut_buf_fmt(out, "%s[%" PRId64 ",%" PRId64 "]", i ? "," : ",\"clock_knots\":[",
			   f->map.knots[i].at, f->map.knots[i].add);
	ut_buf_text(out, "]");
}

static void put_file(const struct common *c, const struct ut_merge_file *f, struct ut_buf *out)
{
	const char *name = ut_path_base(f->name);

	ut_buf_text(out, "{\"file\":");
	ut_rewrite_string((struct ut_str){ name, strlen(name) }, out);
	ut_buf_fmt(out, ",\"events\":%" PRIu64 ",\"shift_ns\":%" PRId64, f->facts.events,
		   f->plan.shift);
	ut_buf_fmt(out, ",\"clock\":%s", f->placed ? "\"aligned\"" : "\"own\"");
	put_clock(f, out);
	if (f->facts.rank >= 0)
		ut_buf_fmt(out, ",\"rank\":%d", (int)f->facts.rank);
	put_changed_pids(f, out);
	if (f->plan.id_add)
		ut_buf_fmt(out, ",\"id_add\":%" PRId64, (int64_t)f->plan.id_add);
	if (f->plan.id_prefix)
		ut_buf_fmt(out, ",\"id_prefix\":\"%s\"", f->plan.id_prefix);
	put_about(c, f, out);
	ut_buf_text(out, "}");
}

void ut_merge_plan_tail(const struct ut_merge_plan *p, struct ut_buf *out)
{
	const char *between = "\n";
	bool monotonic = false, based = false, ours = false;
	struct ut_arena arena = { 0 };
	struct common common;

	find_common(p, &common, &arena);
	for (size_t i = 0; i < p->count; i++) {
		based |= ut_facts_member(&p->files[i].facts, "baseTimeNanoseconds").len > 0;
		ours |= ut_str_is(other_of(&p->files[i], "tool"), "\"unitrace\"");
	}
	ut_buf_text(out, "\n]");
	put_unit(p, out);
	if (based && p->placed)
		ut_buf_fmt(out, ",\"baseTimeNanoseconds\":%" PRId64, p->epoch);
	put_common_members(&common, out);
	members_put_devices(p, out);
	put_stack_frames(p, out);
	/* A file that none of ours went into is not ours: readers tell dialects by that. */
	ut_buf_fmt(out, ",\"otherData\":{\"tool\":\"%s\",\"version\":\"" UT_VERSION "\"",
		   ours ? "unitrace" : "unitrace merge");
	if (p->placed)
		monotonic = other_of(&p->files[p->reference], "clock").len > 0;
	if (monotonic)
		ut_buf_text(out, ",\"clock\":\"CLOCK_MONOTONIC\"");
	put_processes(p, out);
	ut_buf_text(out, ",\"merged\":[");
	for (size_t i = 0; i < p->count; i++) {
		if (p->files[i].left_out)
			continue;
		ut_buf_text(out, between);
		between = ",\n";
		put_file(&common, &p->files[i], out);
	}
	ut_buf_text(out, "]}}\n");
	ut_arena_release(&arena);
}
