/*
 * ours.c - the otherData that our own exporter writes: processes, clocks, losses.
 *
 * A file may hold several recordings, each with its clock and losses; those of the first are the
 * trace's, those of later ones are kept with their process and written again from there. The value
 * has been read once when we come here, so that reading it again cannot fail.
 */
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "import/chrome/part.h"
#include "model/classify.h"

/* The next member of the object that the cursor is in. fresh: it has just been entered. */
static bool next_member(struct ut_chrome *c, bool *fresh, struct ut_str *key, struct ut_str *value)
{
	struct ut_json *j = &c->json;

	j->fresh = *fresh;
	*fresh = false;
	return ut_json_member(j, key) && ut_json_skip(j, value);
}

/* Puts the cursor into the object. */
static bool open_object(struct ut_chrome *c, struct ut_str value)
{
	if (!value.len || *value.ptr != '{')
		return false;
	c->json.at = value.ptr;
	ut_json_enter(&c->json);
	return true;
}

static struct ut_str find_member(struct ut_chrome *c, struct ut_str object, const char *name)
{
	struct ut_str key, value;
	bool fresh = true;

	if (!open_object(c, object))
		return (struct ut_str){ NULL, 0 };
	while (next_member(c, &fresh, &key, &value)) {
		if (ut_str_is(key, name))
			return value;
	}
	return (struct ut_str){ NULL, 0 };
}

static uint32_t chrome_ours_string_of(struct ut_chrome *c, struct ut_str value)
{
	if (value.len < 2 || *value.ptr != '"')
		return 0;
	return ut_chrome_string(c, c->values, (struct ut_str){ value.ptr + 1, value.len - 2 });
}

static int64_t signed_of(struct ut_str value)
{
	int64_t n;

	return ut_json_scaled(value, 0, &n) ? n : 0;
}

static void keep_fact(struct ut_chrome *c, uint32_t process, struct ut_str key, struct ut_str value)
{
	struct ut_arg arg = { .key = ut_chrome_string(c, c->names, key), .type = UT_ARG_JSON };

	arg.value.str = ut_chrome_json(c, value, false);
	ut_chrome_fact(c, false, process, arg);
}

static void read_losses(struct ut_chrome *c, struct ut_str object)
{
	struct ut_losses *l = &c->build.store.trace.losses;
	struct ut_str key, value;
	bool fresh = true;

	if (!open_object(c, object))
		return;
	while (next_member(c, &fresh, &key, &value)) {
		uint64_t *count = ut_losses_called(l, key.ptr, key.len);

		if (count)
			*count += (uint64_t)signed_of(value);
	}
}

/* The facts of one counter: {"unit": ..., or "series": ..., "id": ..., what else is known of it} */
static void read_counter(struct ut_chrome *c, uint32_t process, uint32_t name, struct ut_str facts)
{
	struct ut_trace *t = &c->build.store.trace;
	const uint32_t own[] = { ut_strtab_intern_z(&t->strings, "unit"),
				 ut_strtab_intern_z(&t->strings, "series"), c->words[UT_WORD_ID] };
	uint32_t unit = chrome_ours_string_of(c, find_member(c, facts, "unit"));
	uint32_t series = unit ? unit : chrome_ours_string_of(c, find_member(c, facts, "series"));
	struct ut_str id = find_member(c, facts, "id");
	const uint32_t known[3] = { name, series, id.len ? ut_chrome_json(c, id, false) : 0 };
	uint32_t track = ut_chrome_counter(c, process, known);

	if (unit && !known[2]) { /* no series: the name alone tells which counter it is */
		t->tracks[track].name = name;
		t->tracks[track].base = 0;
	}
	c->args.count = c->args.seen = 0;
	c->json.at = facts.ptr;
	if (!ut_chrome_members(c, &c->args))
		return;
	for (size_t i = 0; i < c->args.count; i++) {
		uint32_t key = c->args.items[i].key;

		if (key != own[0] && key != own[1] && key != own[2])
			ut_chrome_fact(c, true, track, c->args.items[i]);
	}
}

/* The elements of a list that are objects, one after the other; at: NULL = from its start. */
static bool next_object(struct ut_chrome *c, struct ut_str list, const char *at,
			struct ut_str *object)
{
	struct ut_json *j = &c->json;

	j->at = at ? at : list.ptr;
	if (!at)
		ut_json_enter(j);
	j->fresh = !at;
	while (ut_json_element(j) && ut_json_skip(j, object)) {
		if (*object->ptr == '{')
			return true;
	}
	j->trouble = UT_JSON_NONE;
	return false;
}

/* "counters": {"NAME": what is known of it, or a list if several have that name} */
static void read_counters(struct ut_chrome *c, uint32_t process, struct ut_str object)
{
	struct ut_str key, value, one;
	bool fresh = true;

	if (!open_object(c, object))
		return;
	while (next_member(c, &fresh, &key, &value)) {
		uint32_t name = ut_chrome_string(c, c->names, key);

		if (*value.ptr == '{')
			read_counter(c, process, name, value);
		for (const char *at = NULL; *value.ptr == '[' && next_object(c, value, at, &one);
		     at = one.ptr + one.len)
			read_counter(c, process, name, one);
		c->json.at = value.ptr + value.len;
	}
}

/* What is said of the recording as a whole comes with its first process. */
static bool chrome_ours_read_whole(struct ut_chrome *c, struct ut_str key, struct ut_str value)
{
	struct ut_trace *t = &c->build.store.trace;
	const char *next = value.ptr + value.len;

	if (ut_str_is(key, "realtime_offset_ns")) {
		t->realtime_offset = signed_of(value);
	} else if (ut_str_is(key, "boottime_offset_ns")) {
		t->boottime_offset = signed_of(value);
	} else if (ut_str_is(key, "clock_error_ns")) {
		t->clock_error = (uint64_t)signed_of(value);
	} else if (ut_str_is(key, "losses")) {
		read_losses(c, value);
	} else if (ut_str_is(key, "args") && *value.ptr == '{') {
		c->json.at = value.ptr;
		(void)ut_chrome_members(c, &c->global);
	} else {
		return false;
	}
	c->json.at = next;
	return true;
}

/* The same of a later recording, unless it is nothing new. */
static bool chrome_ours_is_known(const struct ut_chrome *c, struct ut_str key, struct ut_str value)
{
	const struct ut_trace *t = &c->build.store.trace;

	return (ut_str_is(key, "realtime_offset_ns") && signed_of(value) == t->realtime_offset) ||
	       (ut_str_is(key, "boottime_offset_ns") && signed_of(value) == t->boottime_offset) ||
	       (ut_str_is(key, "clock_error_ns") && (uint64_t)signed_of(value) == t->clock_error);
}

static struct ut_str chrome_ours_text_of(struct ut_chrome *c, struct ut_str value)
{
	return ut_strtab_get(&c->build.store.trace.strings, chrome_ours_string_of(c, value));
}

/* A number that is not negative; -1 = it is none. */
static int32_t chrome_ours_number_of(struct ut_str value)
{
	int64_t n = signed_of(value);

	return n >= 0 && n <= INT32_MAX ? (int32_t)n : -1;
}

/* What the process stands for. A kind of a later version is none that we know. */
static bool read_kind(struct ut_chrome *c, struct ut_process *p, struct ut_str key,
		      struct ut_str value)
{
	struct ut_strtab *strings = &c->build.store.trace.strings;

	if (ut_str_is(key, "kind")) {
		p->kind = (uint8_t)ut_process_kind_called(chrome_ours_text_of(c, value));
		p->kind = p->kind == UT_PROCESS_UNKNOWN ? UT_PROCESS_OTHER : p->kind;
	} else if (ut_str_is(key, "api")) {
		p->api = ut_api_called(strings, chrome_ours_text_of(c, value));
	} else if (ut_str_is(key, "device")) {
		p->device = chrome_ours_number_of(value);
	} else if (ut_str_is(key, "sub_device")) {
		p->sub_device = chrome_ours_number_of(value);
	} else if (ut_str_is(key, "device_type")) {
		p->device_type = (uint8_t)ut_device_type_called(chrome_ours_text_of(c, value));
	} else if (ut_str_is(key, "model")) {
		p->model = chrome_ours_string_of(c, value);
	} else {
		return false;
	}
	return true;
}

/* "calls": [categories] */
static void read_calls(struct ut_chrome *c, struct ut_str list)
{
	struct ut_json *j = &c->json;
	struct ut_str value;

	if (!list.len || *list.ptr != '[')
		return;
	j->at = list.ptr;
	ut_json_enter(j);
	while (ut_json_element(j) && ut_json_skip(j, &value))
		ut_classify_add_calls(&c->build.store.trace, chrome_ours_string_of(c, value));
	j->trouble = UT_JSON_NONE;
}

/*
 * Does what a process says under this key go for the whole recording? The exporter says that with
 * the first process of its table, whose own losses and arguments would stand there a second time.
 */
static bool is_for_all(uint32_t at, uint32_t first, struct ut_str key)
{
	return at + 1 == first || (!at && (ut_str_is(key, "losses") || ut_str_is(key, "args")));
}

/* first: index + 1 of the process that speaks for the recording; 0 = this one will. */
static void read_process(struct ut_chrome *c, struct ut_str object, uint32_t *first)
{
	struct ut_trace *t = &c->build.store.trace;
	struct ut_str key, value = find_member(c, object, "pid");
	struct ut_chrome_ref pid;
	bool fresh = true;
	uint32_t at;

	if (!value.len)
		return;
	c->json.at = value.ptr;
	if (!ut_chrome_read_ref(c, &pid))
		return;
	at = ut_chrome_process(c, pid);
	*first = *first ? *first : at + 1;
	open_object(c, object);
	while (next_member(c, &fresh, &key, &value)) {
		if (ut_str_is(key, "name"))
			t->processes[at].name = chrome_ours_string_of(c, value);
		else if (ut_str_is(key, "host"))
			t->processes[at].host = chrome_ours_string_of(c, value);
		else if (ut_str_is(key, "command"))
			t->processes[at].cmdline = chrome_ours_string_of(c, value);
		else if (ut_str_is(key, "rank"))
			t->processes[at].rank = (int32_t)signed_of(value);
		else if (ut_str_is(key, "counters"))
			read_counters(c, at, value);
		else if (ut_str_is(key, "calls"))
			read_calls(c, value);
		else if (!ut_str_is(key, "pid") && !read_kind(c, &t->processes[at], key, value) &&
			 !(is_for_all(at, *first, key) ? chrome_ours_read_whole(c, key, value)
						       : chrome_ours_is_known(c, key, value)))
			keep_fact(c, at, key, value);
		c->json.at = value.ptr + value.len;
	}
}

static void read_processes(struct ut_chrome *c, struct ut_str list)
{
	struct ut_str value;
	uint32_t first = 0;

	if (!list.len || *list.ptr != '[')
		return;
	for (const char *at = NULL; next_object(c, list, at, &value); at = value.ptr + value.len)
		read_process(c, value, &first);
}

bool ut_chrome_read_ours(struct ut_chrome *c, struct ut_str value)
{
	struct ut_str tool = find_member(c, value, "tool");
	struct ut_str input;

	if (!ut_str_is(tool, "\"unitrace\""))
		return false;
	c->traits |= UT_TRAIT_OURS;
	c->dialect = chrome_ours_string_of(c, find_member(c, value, "dialect"));
	if (!*ut_strtab_get(&c->build.store.trace.strings, c->dialect).ptr)
		c->dialect = 0; /* written by nobody, and no word that could be written again */
	input = find_member(c, value, "input");
	if (input.len)
		ut_chrome_keep(c, ut_strtab_intern_z(&c->build.store.trace.strings, "otherData"),
			       input);
	read_processes(c, find_member(c, value, "processes"));
	return true;
}

/* ---- labels -------------------------------------------------------------------------------- */

/* What the exporter makes of host, pid and command; see put_process_meta() there. */
static void chrome_ours_put_labels(struct ut_chrome *c, const struct ut_process *p, uint32_t os_pid)
{
	struct ut_strtab *strings = &c->build.store.trace.strings;
	struct ut_str host = ut_strtab_get(strings, p->host);
	struct ut_str pid = ut_strtab_get(strings, os_pid);
	struct ut_str command = ut_strtab_get(strings, p->cmdline);

	c->text.len = 0;
	ut_buf_add(&c->text, host.ptr, host.len);
	if (pid.len)
		ut_buf_fmt(&c->text, "%spid %s", c->text.len ? ", " : "", pid.ptr);
	if (c->text.len && command.len)
		ut_buf_text(&c->text, ", ");
	ut_buf_add(&c->text, command.ptr, command.len);
}

/* Is the fact {"labels": what we would write anyway}? */
static bool is_made(struct ut_chrome *c, const struct ut_chrome_fact *f, uint32_t os_pid)
{
	static const char before[] = "{\"labels\":\"", after[] = "\"}";
	const size_t frame = strlen(before) + strlen(after);
	struct ut_trace *t = &c->build.store.trace;
	struct ut_str s = ut_strtab_get(&t->strings, f->arg.value.str);
	char *text;
	size_t len;
	bool same;

	if (s.len < frame || !ut_str_has_start(s, before))
		return false;
	text = ut_make(s.len);
	len = ut_json_decode((struct ut_str){ s.ptr + strlen(before), s.len - frame }, text);
	chrome_ours_put_labels(c, &t->processes[f->index], os_pid);
	same = len && len == c->text.len && !memcmp(text, c->text.data, len);
	free(text);
	return same;
}

void ut_chrome_drop_labels(struct ut_chrome *c)
{
	const struct ut_trace *t = &c->build.store.trace;
	uint32_t key = ut_strtab_intern_z(&c->build.store.trace.strings, "os_pid");
	uint32_t *os_pids = ut_make((t->process_count + 1) * sizeof(*os_pids));
	size_t n = 0;

	for (size_t i = 0; i < c->fact_count; i++) {
		if (!c->facts[i].track && c->facts[i].arg.key == key)
			os_pids[c->facts[i].index] = c->facts[i].arg.value.str;
	}
	for (size_t i = 0; i < c->fact_count; i++) {
		const struct ut_chrome_fact *f = &c->facts[i];

		if (f->track || f->arg.key != c->words[UT_WORD_PROCESS_LABELS] ||
		    !is_made(c, f, os_pids[f->index]))
			c->facts[n++] = *f;
	}
	c->fact_count = n;
	free(os_pids);
}
