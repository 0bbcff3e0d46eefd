/*
 * chrome.c - Chrome's trace-event JSON, in every shape that tools write it.
 *
 * The events may come as a list, as a member "traceEvents" of an object (wherever that stands), or
 * one by one, each an object of its own; several of these may follow each other. What is broken is
 * repaired where only one repair is possible and left out otherwise; each kind of it is told once,
 * with the place of the first and how many there were. A file without a single event that could
 * be read, but with damage, is refused.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/json_scan.h"
#include "import/chrome/part.h"
#include "text/source.h"

#define LOOK_AHEAD (4u << 20)  /* bytes of an object before it is clear that it is no event */
#define FIRST_LOOK (16u << 10) /* bytes in which most files show what they are */

/* ---- is it one? ---------------------------------------------------------------------------- */

static bool probe_chrome(const char *head, size_t len)
{
	size_t i = len >= 3 && !memcmp(head, "\xef\xbb\xbf", 3) ? 3 : 0;

	while (i < len && strchr(" \t\r\n,", head[i]) && head[i])
		i++;
	if (i == len)
		return len == UT_SOURCE_HEAD; /* more may follow */
	if (head[i] != '{' && head[i] != '[')
		return false;
	/* a list or object of something follows; binary formats may start with these bytes, too */
	for (i++; i < len && strchr(" \t\r\n,", head[i]) && head[i];)
		i++;
	return i == len || strchr("{}[]\"", head[i]) || !head[i];
}

/* ---- from the top -------------------------------------------------------------------------- */

static enum ut_chrome_walk trouble(const struct ut_chrome *c)
{
	return c->json.trouble == UT_JSON_FAILED  ? UT_WALK_FAILED
	       : c->json.trouble == UT_JSON_SHORT ? UT_WALK_END
						  : UT_WALK_LOST;
}

/* The next byte that counts; 0 at the end of the input. */
static char peek(struct ut_json *j)
{
	char byte;

	ut_json_mark(j);
	do
		byte = ut_json_peek(j);
	while (!byte && ut_json_again(j));
	return byte;
}

/* A byte order mark at the start; was there one? */
static bool skip_mark(struct ut_json *j)
{
	(void)peek(j);
	if (j->end - j->at < 3 || memcmp(j->at, "\xef\xbb\xbf", 3) != 0)
		return false;
	j->at += 3;
	return true;
}

enum shape {
	SHAPE_EVENT,  /* has a "ph" */
	SHAPE_OBJECT, /* has "traceEvents", or is too large for an event */
	SHAPE_NEITHER,
	SHAPE_UNCLEAR, /* the window ends too early, or the text is broken */
};

static enum shape chrome_shape_of(struct ut_json *j)
{
	const char *start = j->at;
	struct ut_str key;

	ut_json_enter(j);
	while (ut_json_member(j, &key)) {
		if (ut_str_is(key, "traceEvents"))
			return SHAPE_OBJECT;
		if (ut_str_is(key, "ph") && *j->at == '"')
			return SHAPE_EVENT;
		if (j->at - start > LOOK_AHEAD)
			return SHAPE_OBJECT;
		if (!ut_json_skip(j, NULL))
			break;
	}
	if (j->trouble == UT_JSON_SHORT && j->at - start > LOOK_AHEAD)
		return SHAPE_OBJECT;
	return j->trouble ? SHAPE_UNCLEAR : SHAPE_NEITHER;
}

/* Looks ahead from the bracket of an object; the cursor stays. */
static enum shape look_ahead(struct ut_json *j)
{
	struct ut_json_note repairs[UT_JSON_REPAIRS];
	enum shape shape;

	memcpy(repairs, j->repairs, sizeof(repairs)); /* they are found again */
	ut_json_mark(j);
	do
		shape = chrome_shape_of(j);
	while (shape == SHAPE_UNCLEAR && ut_json_again(j));
	memcpy(j->repairs, repairs, sizeof(repairs));
	j->at = j->mark;
	j->fresh = j->mark_fresh;
	return shape;
}

/* A directory may hold many files: this look takes neither tables nor a large window. */
bool ut_chrome_is_trace(struct ut_source *source)
{
	struct ut_chrome_input input = { .source = source };
	enum shape shape = SHAPE_NEITHER;
	struct ut_json j;
	char byte;

	ut_json_init_window(&j, ut_chrome_read_input, &input, FIRST_LOOK);
	skip_mark(&j);
	byte = peek(&j);
	if (byte == '[') {
		ut_json_enter(&j);
		byte = peek(&j);
	}
	if (byte == '{')
		shape = look_ahead(&j);
	ut_json_release(&j);
	return shape == SHAPE_EVENT || shape == SHAPE_OBJECT;
}

static enum ut_chrome_walk chrome_read_list(struct ut_chrome *c, const struct ut_import_opts *opts)
{
	if (ut_chrome_can_split(c, opts))
		return ut_chrome_split(c, opts->threads);
	return ut_chrome_list(c);
}

/*
 * Is the trouble a value too large for the window? Then its parts are read one by one; but for
 * frames they go to nowhere.
 */
static bool pass_big(struct ut_chrome *c, uint32_t name)
{
	struct ut_json *j = &c->json;
	bool object = *j->mark == '{', ok;
	struct ut_str key;

	if (j->trouble != UT_JSON_BAD || (size_t)(j->end - j->mark) < UT_JSON_MOST ||
	    (!object && *j->mark != '['))
		return false;
	if (object && name == ut_strtab_intern_z(&c->build.store.trace.strings, "stackFrames"))
		return ut_chrome_big_frames(c);
	ut_chrome_note(c, UT_ODD_TOO_BIG, ut_json_offset(j, j->mark));
	j->at = j->mark;
	ut_json_enter(j);
	do {
		ut_json_mark(j);
		do
			ok = (object ? ut_json_member(j, &key) : ut_json_element(j)) &&
			     ut_json_skip(j, NULL);
		while (!ok && ut_json_again(j));
	} while (ok);
	j->fresh = false;
	return j->trouble == UT_JSON_NONE;
}

/* To the next member; false as ut_json_member(). */
static bool next_member(struct ut_chrome *c, uint32_t *name)
{
	struct ut_json *j = &c->json;
	struct ut_str key;
	bool ok;

	ut_json_mark(j);
	do
		ok = ut_json_member(j, &key);
	while (!ok && ut_json_again(j));
	if (ok)
		*name = ut_chrome_string(c, c->names, key);
	return ok;
}

/* The outermost object, from its bracket on. */
static enum ut_chrome_walk read_object(struct ut_chrome *c, const struct ut_import_opts *opts)
{
	struct ut_json *j = &c->json;
	uint32_t events = ut_strtab_intern_z(&c->build.store.trace.strings, "traceEvents");
	uint32_t samples = ut_strtab_intern_z(&c->build.store.trace.strings, "samples");
	enum ut_chrome_walk walk;
	uint32_t name;

	ut_json_enter(j);
	while (next_member(c, &name)) {
		if (name == samples && peek(j) == '[') {
			ut_json_enter(j);
			c->in_samples = true;
			walk = ut_chrome_list(c);
			c->in_samples = false;
			if (walk != UT_WALK_CLOSED)
				return walk;
			j->fresh = false;
		} else if (name == events && peek(j) == '[') {
			c->lists++;
			ut_json_enter(j);
			walk = chrome_read_list(c, opts);
			if (walk != UT_WALK_CLOSED)
				return walk;
			j->fresh = false;
		} else if (ut_json_hold(j, NULL)) {
			if (!ut_chrome_file_member(c, name))
				return trouble(c);
		} else if (!pass_big(c, name)) {
			return trouble(c);
		}
	}
	return j->trouble ? trouble(c) : UT_WALK_CLOSED;
}

static enum ut_chrome_walk chrome_read_value(struct ut_chrome *c, const struct ut_import_opts *opts)
{
	struct ut_json *j = &c->json;
	enum ut_chrome_walk walk;
	enum shape shape;

	if (*j->at == '[') {
		c->lists++;
		ut_json_enter(j);
		return chrome_read_list(c, opts);
	}
	shape = look_ahead(j);
	if (shape == SHAPE_EVENT || (shape == SHAPE_UNCLEAR && c->events)) {
		c->loose = true;
		walk = ut_chrome_list(c);
		c->loose = false;
		return walk;
	}
	return read_object(c, opts);
}

/* Value after value; after damage, events are looked for further on. */
static enum ut_chrome_walk chrome_read_all(struct ut_chrome *c, const struct ut_import_opts *opts)
{
	struct ut_json *j = &c->json;
	enum ut_chrome_walk walk = UT_WALK_CLOSED;
	char byte;

	for (;;) {
		byte = peek(j);
		if (!byte && j->trouble != UT_JSON_BAD)
			return j->trouble == UT_JSON_FAILED ? UT_WALK_FAILED : UT_WALK_CLOSED;
		c->any |= byte != 0;
		if (!byte) { /* blanks, more than the window holds */
			walk = UT_WALK_LOST;
		} else if (byte == '{' || byte == '[') {
			walk = chrome_read_value(c, opts);
		} else if (byte == ',') { /* the start of a list is missing */
			j->at++;
			continue;
		} else {
			ut_json_stop(j, j->at, "text that is no JSON");
			walk = UT_WALK_LOST;
		}
		if (walk == UT_WALK_CLOSED)
			continue;
		if (walk != UT_WALK_LOST)
			return walk;
		ut_chrome_note_damage(c);
		if (!ut_chrome_recover(j))
			return j->trouble >= UT_JSON_FAILED ? UT_WALK_FAILED : UT_WALK_LOST;
	}
}

/* ---- the end ------------------------------------------------------------------------------- */

static void chrome_say(const struct ut_import_opts *opts, const char *path,
		       const struct ut_json_note *n, bool lost, const char *text)
{
	char line[512];
	int len = snprintf(line, sizeof(line), "offset %" PRIu64 ": %s", n->first, text);

	if (n->count > 1 && len > 0 && (size_t)len < sizeof(line))
		snprintf(line + len, sizeof(line) - (size_t)len, " (%" PRIu64 " of them in all)",
			 n->count);
	if (lost)
		ut_import_lost(opts, path, line);
	else
		opts->warn(opts->ctx, path, line);
}

static void warn_all(const struct ut_chrome *c, const char *path, const struct ut_import_opts *opts)
{
	static const char *const repairs[] = {
#define REPAIR_TEXT(kind, text) text "; repaired",
		UT_JSON_REPAIR_LIST(REPAIR_TEXT)
#undef REPAIR_TEXT
	};
	static const struct {
		bool lost;
		const char *text;
	} odds[] = {
#define ODD(kind, lost, text) { lost, text },
		UT_CHROME_ODD_LIST(ODD)
#undef ODD
	};
	char text[256];

	if (!opts->warn)
		return;
	for (size_t i = 0; i < UT_JSON_REPAIRS; i++) {
		if (c->json.repairs[i].count)
			chrome_say(opts, path, &c->json.repairs[i], false, repairs[i]);
	}
	for (size_t i = 0; i < UT_CHROME_ODDS; i++) {
		snprintf(text, sizeof(text), "%s", odds[i].text);
		if (i == UT_ODD_DAMAGED)
			snprintf(text, sizeof(text), "%s: %s", odds[i].text, c->odd_why);
		if (c->odd[i].count)
			chrome_say(opts, path, &c->odd[i], odds[i].lost, text);
	}
	if (c->first < 0) {
		snprintf(text, sizeof(text),
			 "times below zero: everything is moved by %" PRIu64 " ns",
			 0 - (uint64_t)c->first);
		opts->warn(opts->ctx, path, text);
	}
}

/* Times start at 0 at the earliest. */
static void shift_times(struct ut_chrome *c)
{
	struct ut_build *b = &c->build;
	uint64_t by = 0 - (uint64_t)c->first;

	if (!by)
		return;
	for (size_t t = 0; t < b->row_cap; t++) {
		for (size_t n = 0; n < b->rows[t].block_count; n++) {
			struct ut_build_block *block = &b->rows[t].blocks[n];

			for (uint32_t i = 0; i < block->count; i++)
				block->ts[i] += by;
		}
		b->rows[t].out_of_time = true; /* they were compared as they were */
	}
	if (b->store.trace.realtime_offset)
		b->store.trace.realtime_offset -= (int64_t)by;
}

/* Nothing but damage, or nothing at all. */
static int chrome_check(struct ut_chrome *c, enum ut_chrome_walk walk, const char *path,
			struct ut_err *err)
{
	struct ut_json *j = &c->json;

	if (walk == UT_WALK_FAILED)
		return ut_json_error(j, path, err);
	if (c->events)
		return 0;
	if (c->odd[UT_ODD_DAMAGED].count)
		return ut_err_set(err, -EPROTO, "%s: offset %" PRIu64 ": %s", path,
				  c->odd[UT_ODD_DAMAGED].first, c->odd_why);
	if (walk == UT_WALK_LOST)
		return ut_err_set(err, -EPROTO, "%s: offset %" PRIu64 ": %s", path, j->where,
				  j->why ? j->why : "no JSON");
	if (!c->any)
		return ut_err_set(err, -EPROTO,
				  "%s: offset 0: nothing but blanks; this is no trace", path);
	if (!c->lists)
		return ut_err_set(err, -EPROTO,
				  "%s: offset %" PRIu64
				  ": JSON without \"traceEvents\" and without events; this is no "
				  "trace",
				  path, ut_json_offset(j, j->at));
	return 0;
}

static int load_chrome(struct ut_source *source, const struct ut_import_opts *opts,
		       struct ut_store *store, struct ut_err *err)
{
	struct ut_chrome_input input = { .source = source, .progress = opts->progress };
	enum ut_chrome_walk walk;
	struct ut_chrome c;
	int rc;

	*store = (struct ut_store){ 0 };
	ut_chrome_init(&c, &input);
	if (skip_mark(&c.json))
		ut_chrome_note(&c, UT_ODD_BOM, ut_json_offset(&c.json, c.json.at) - 3);
	walk = chrome_read_all(&c, opts);
	rc = chrome_check(&c, walk, source->path, err);
	if (!rc) {
		if (source->cut)
			ut_chrome_note(&c, UT_ODD_PACKED, input.offset);
		if (walk == UT_WALK_END && !c.odd[UT_ODD_CUT].count &&
		    !c.odd[UT_ODD_UNCLOSED].count)
			ut_chrome_note(&c, UT_ODD_UNCLOSED, ut_json_offset(&c.json, c.json.end));
		ut_chrome_finalize_samples(&c);
		ut_chrome_finish_file(&c);
		shift_times(&c);
		if (c.traits & UT_TRAIT_OURS && !c.dialect)
			ut_chrome_take_local_ids(&c);
		ut_chrome_part_ids(&c.build);
		ut_chrome_join_async(&c.build);
		warn_all(&c, source->path, opts);
		c.build.ends_first = c.complete;
		c.build.begins_only = !c.complete;
		ut_build_finish(&c.build, store);
	}
	ut_chrome_release(&c);
	return rc;
}

const struct ut_importer ut_import_chrome = {
	.name = "chrome",
	.probe = probe_chrome,
	.load = load_chrome,
};
