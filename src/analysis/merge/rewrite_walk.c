#include "merge/rewrite_walk.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/json_scan.h"
#include "import/chrome/part.h"
#include "merge/rewrite_again.h"
#include "merge/rewrite_clean.h"
#include "merge/rewrite_scan.h"

#define DECIDE_BYTES (4u << 20) /* an object that shows no "ph" by then is no event */

/* A merge has many files open at once: together they should still fit into a cache. */
#define WINDOW (64u << 10)

enum place {
	AT_TOP,    /* between the values of the file; there is one, or one per line */
	IN_OBJECT, /* between the members of the object around the events */
	IN_ARRAY,  /* between events */
	AT_END,
};

/* ---- one event ----------------------------------------------------------------------------- */

/* The object at the cursor. */
static bool read_members(struct ut_json *j, struct ut_rewrite_walk_event *e)
{
	const char *start = j->at;
	struct ut_str key;

	*e = (struct ut_rewrite_walk_event){ 0 };
	ut_json_enter(j);
	while (ut_json_member(j, &key)) {
		if (!ut_json_skip(j, ut_rewrite_walk_member(e, key.ptr, key.len)))
			return false;
	}
	if (j->trouble)
		return false;
	e->text = (struct ut_str){ start, (size_t)(j->at - start) };
	return true;
}

/* The event at p, quickly if it is as it should be; what follows behind it, or NULL. */
static inline const char *rewrite_walk_scan(struct ut_rewrite_walk *w, const char *p)
{
	const char *after = w->trusted ? ut_scan_again(p, w->json.end, &w->event) : NULL;

	return after ? after : ut_scan_event(p, w->json.end, &w->keys, &w->event);
}

static bool read_event(struct ut_rewrite_walk *w)
{
	struct ut_json *j = &w->json;
	const char *after = rewrite_walk_scan(w, j->at);

	w->strict = after != NULL;
	if (!after)
		return read_members(j, &w->event);
	j->at = after;
	j->fresh = false;
	return true;
}

bool ut_rewrite_walk_read(struct ut_str text, struct ut_rewrite_walk_event *event)
{
	struct ut_json j;
	struct ut_rewrite_walk_event found;
	bool ok;

	ut_json_init_text(&j, text.ptr, text.len);
	ok = ut_json_peek(&j) == '{' && read_members(&j, &found);
	if (ok) {
		struct ut_str *spans[] = { &found.text,    &found.ph,  &found.ts,   &found.pid,
					   &found.id,      &found.id2, &found.name, &found.args,
					   &found.bind_id, &found.sf };

		for (size_t i = 0; i < sizeof(spans) / sizeof(spans[0]); i++) {
			if (spans[i]->ptr)
				spans[i]->ptr = text.ptr + (spans[i]->ptr - j.buf);
		}
		*event = found;
	}
	ut_json_release(&j);
	return ok;
}

static uint64_t repairs(const struct ut_json *j)
{
	uint64_t n = 0;

	for (size_t i = 0; i < UT_JSON_REPAIRS; i++)
		n += j->repairs[i].count;
	return n;
}

/* Copied as it is, or repaired and read again. */
static enum ut_rewrite_walk_item hand_out(struct ut_rewrite_walk *w, uint64_t repairs_before)
{
	bool as_is = w->strict || repairs(&w->json) == repairs_before;
	size_t len;

	w->events++;
	if (w->trusted || (as_is && ut_rewrite_is_clean(w->event.text)))
		return UT_ITEM_EVENT;
	w->repaired++;
	ut_rewrite_clean(w->event.text, &w->clean);
	len = w->clean.len;
	ut_buf_add(&w->clean, "\"\"\"\"\"\"\"\"", 8); /* as behind a window: see rewrite_number.h */
	ut_rewrite_walk_read((struct ut_str){ w->clean.data, len }, &w->event);
	return UT_ITEM_EVENT;
}

/* ---- what is wrong ------------------------------------------------------------------------- */

static void rewrite_walk_note(struct ut_json_note *n, uint64_t offset)
{
	if (!n->count++)
		n->first = offset;
}

/* The input ends in the middle of something, or at its end. */
static enum ut_rewrite_walk_item end_of_input(struct ut_rewrite_walk *w)
{
	struct ut_json *j = &w->json;
	const char *p = j->mark;

	while (p < j->end && (*p == ',' || (unsigned char)*p <= ' '))
		p++;
	if (p < j->end)
		rewrite_walk_note(&w->odd[UT_REWRITE_CUT], ut_json_offset(j, p));
	else if (w->place != AT_TOP)
		rewrite_walk_note(&w->odd[UT_REWRITE_UNCLOSED], ut_json_offset(j, p));
	w->place = AT_END;
	return UT_ITEM_END;
}

/*
 * The reader stopped. What is no JSON is left out up to the next event; if there is none, the file
 * ends there.
 */
static enum ut_rewrite_walk_item trouble(struct ut_rewrite_walk *w, struct ut_err *err)
{
	struct ut_json *j = &w->json;

	if (j->trouble == UT_JSON_SHORT)
		return end_of_input(w);
	if (j->trouble == UT_JSON_BAD) {
		if (!w->odd[UT_REWRITE_DAMAGED].count)
			snprintf(w->why, sizeof(w->why), "%s", j->why ? j->why : "no JSON");
		rewrite_walk_note(&w->odd[UT_REWRITE_DAMAGED], j->where);
		w->place = w->place == IN_ARRAY ? IN_ARRAY : AT_TOP;
		if (!ut_chrome_recover(j))
			w->place = AT_END;
	}
	if (j->trouble < UT_JSON_FAILED)
		return UT_ITEM_END;
	ut_json_error(j, w->source.path, err);
	return UT_ITEM_ERROR;
}

/* ---- the file ------------------------------------------------------------------------------ */

static ssize_t rewrite_walk_read_source(void *ctx, void *to, size_t len, struct ut_err *err)
{
	return ut_source_read(ctx, to, len, err);
}

int ut_rewrite_walk_open(struct ut_rewrite_walk *w, const char *path, struct ut_err *err)
{
	int rc;

	*w = (struct ut_rewrite_walk){ .place = AT_TOP };
	rc = ut_source_open(&w->source, path, err);
	if (rc)
		return rc;
	ut_json_init_window(&w->json, rewrite_walk_read_source, &w->source, WINDOW);
	return 0;
}

void ut_rewrite_walk_close(struct ut_rewrite_walk *w)
{
	if (w->json.buf) {
		ut_json_release(&w->json);
		ut_source_close(&w->source);
	}
	ut_buf_release(&w->clean);
	ut_buf_release(&w->key_text);
}

/* The next element of the array: an event, or something that is none and is left out. */
static bool read_element(struct ut_rewrite_walk *w)
{
	struct ut_json *j = &w->json;

	if (!ut_json_element(j))
		return false;
	if (*j->at == '{')
		return read_event(w);
	w->event.text.ptr = NULL;
	return ut_json_skip(j, NULL);
}

/* The usual case: a comma, and an event that may be copied as it is. */
static bool read_quickly(struct ut_rewrite_walk *w)
{
	struct ut_json *j = &w->json;
	const char *p = j->at, *after;

	if (j->fresh || *p++ != ',')
		return false;
	while (*p == '\n' || *p == ' ')
		p++;
	after = *p == '{' && p < j->end ? rewrite_walk_scan(w, p) : NULL;
	if (!after || !(w->trusted || ut_rewrite_is_clean(w->event.text)))
		return false;
	j->at = after;
	w->events++;
	return true;
}

/* UT_ITEM_END: of the array, not of the file. */
static enum ut_rewrite_walk_item next_in_array(struct ut_rewrite_walk *w, struct ut_err *err)
{
	struct ut_json *j = &w->json;

	for (;;) {
		uint64_t before;
		bool got;

		ut_json_mark(j);
		if (read_quickly(w))
			return UT_ITEM_EVENT;
		before = repairs(j);
		do
			got = read_element(w);
		while (!got && ut_json_again(j));
		if (!got && j->trouble)
			return trouble(w, err);
		if (!got) {
			w->place = w->in_object ? IN_OBJECT : AT_TOP;
			return UT_ITEM_END;
		}
		if (w->event.text.ptr)
			return hand_out(w, before);
		rewrite_walk_note(&w->odd[UT_REWRITE_STRANGE], ut_json_offset(j, j->mark));
	}
}

/* Samples are not copied as text: it is enough to know that there are some. */
static bool is_samples(const struct ut_rewrite_walk *w)
{
	return ut_str_is(w->key, "samples");
}

/* Is the trouble a value too large for the window? Then it goes by in parts. */
static bool pass_large(struct ut_rewrite_walk *w)
{
	struct ut_json *j = &w->json;
	bool object = *j->mark == '{', got;
	struct ut_str key;

	if (j->trouble != UT_JSON_BAD || (size_t)(j->end - j->mark) < UT_JSON_MOST ||
	    (!object && *j->mark != '['))
		return false;
	if (!is_samples(w))
		rewrite_walk_note(&w->odd[UT_REWRITE_LARGE], ut_json_offset(j, j->mark));
	j->at = j->mark;
	ut_json_enter(j);
	do {
		ut_json_mark(j);
		do
			got = (object ? ut_json_member(j, &key) : ut_json_element(j)) &&
			      ut_json_skip(j, NULL);
		while (!got && ut_json_again(j));
	} while (got);
	j->fresh = false;
	w->value = (struct ut_str){ 0 };
	return j->trouble == UT_JSON_NONE;
}

/* To the next member's value. The key is kept, because the window moves on. */
static bool next_key(struct ut_rewrite_walk *w)
{
	struct ut_json *j = &w->json;
	struct ut_str key;
	bool got;

	ut_json_mark(j);
	do
		got = ut_json_member(j, &key);
	while (!got && ut_json_again(j));
	if (!got)
		return false;
	ut_rewrite_clean((struct ut_str){ key.ptr - 1, key.len + 2 }, &w->key_text);
	w->key = (struct ut_str){ w->key_text.data + 1, w->key_text.len - 2 };
	return true;
}

static enum ut_rewrite_walk_item next_in_object(struct ut_rewrite_walk *w, struct ut_err *err)
{
	struct ut_json *j = &w->json;

	if (!next_key(w)) {
		if (j->trouble)
			return trouble(w, err);
		w->place = AT_TOP;
		return UT_ITEM_END;
	}
	w->value = (struct ut_str){ 0 };
	if (ut_str_is(w->key, "traceEvents") && *j->at == '[') {
		ut_json_enter(j);
		w->lists++;
		w->place = IN_ARRAY;
		w->in_object = true;
		return UT_ITEM_END;
	}
	if (ut_json_hold(j, NULL) ? !ut_json_skip(j, &w->value) : !pass_large(w))
		return trouble(w, err);
	if (w->value.len > UT_REWRITE_VALUE_MOST || is_samples(w)) {
		if (!is_samples(w))
			rewrite_walk_note(&w->odd[UT_REWRITE_LARGE], ut_json_offset(j, j->mark));
		w->value.len = 0;
	}
	return UT_ITEM_MEMBER;
}

/* Is the object at the mark an event of its own? True: yes or no is known, in *event. */
static bool decide(struct ut_json *j, bool *event)
{
	struct ut_str key;

	*event = false;
	if (!ut_json_peek(j))
		return false;
	ut_json_enter(j);
	while (ut_json_member(j, &key)) {
		*event = ut_str_is(key, "ph");
		if (*event || ut_str_is(key, "traceEvents"))
			return true;
		if (!ut_json_skip(j, NULL))
			return j->end - j->mark >= DECIDE_BYTES;
	}
	return !j->trouble;
}

static enum ut_rewrite_walk_item next_object(struct ut_rewrite_walk *w, struct ut_err *err)
{
	struct ut_json *j = &w->json;
	uint64_t before = repairs(j);
	bool known, event, got;

	ut_json_mark(j);
	do
		known = decide(j, &event);
	while (!known && ut_json_again(j));
	if (!known && (j->trouble == UT_JSON_FAILED || w->events))
		return trouble(w, err); /* among events, it can only be one */
	j->at = j->mark;
	j->fresh = j->mark_fresh;
	j->trouble = UT_JSON_NONE;
	if (!event) {
		ut_json_enter(j);
		w->place = IN_OBJECT;
		return UT_ITEM_END;
	}
	do
		got = ut_json_peek(j) && read_event(w);
	while (!got && ut_json_again(j));
	return got ? hand_out(w, before) : trouble(w, err);
}

/* The next byte that counts, between the values of the file; 0 at its end. */
static char peek_top(struct ut_rewrite_walk *w)
{
	static const char bom[] = "\xef\xbb\xbf";
	struct ut_json *j = &w->json;
	char c;

	ut_json_mark(j);
	do
		c = ut_json_peek(j);
	while (!c && ut_json_again(j));
	if (c == bom[0] && !ut_json_offset(j, j->at) && !strncmp(j->at, bom, 3)) {
		j->at += 3;
		c = ut_json_peek(j);
	}
	return c;
}

/* UT_ITEM_END: of this value; w->place says whether there may be more. */
static enum ut_rewrite_walk_item next_at_top(struct ut_rewrite_walk *w, struct ut_err *err)
{
	struct ut_json *j = &w->json;
	char c = peek_top(w);

	if (!c)
		return trouble(w, err);
	if (c == '{')
		return next_object(w, err);
	if (c == '[') {
		ut_json_enter(j);
		w->lists++;
		w->place = IN_ARRAY;
		w->in_object = false;
		return UT_ITEM_END;
	}
	/* A list whose start is missing, or lines of events that end with commas. */
	if (c == ',' || (w->events && (c == ']' || c == '}'))) {
		j->at++;
		return UT_ITEM_END;
	}
	ut_json_stop(j, j->at, "text that is no JSON");
	return trouble(w, err);
}

/* The end of the file. One without an event that could be read, but with damage, is refused. */
static enum ut_rewrite_walk_item rewrite_walk_evaluate(const struct ut_rewrite_walk *w,
						       struct ut_err *err)
{
	const struct ut_json_note *damaged = &w->odd[UT_REWRITE_DAMAGED];

	if (w->events || (w->lists && !damaged->count))
		return UT_ITEM_END;
	if (damaged->count)
		ut_err_set(err, -EPROTO, "%s: offset %" PRIu64 ": %s", w->source.path,
			   damaged->first, w->why);
	else
		ut_err_set(err, -EPROTO,
			   "%s: JSON without \"traceEvents\" and without events; this is no trace",
			   w->source.path);
	return UT_ITEM_ERROR;
}

enum ut_rewrite_walk_item ut_rewrite_walk_next(struct ut_rewrite_walk *w, struct ut_err *err)
{
	enum ut_rewrite_walk_item item = UT_ITEM_END;

	while (item == UT_ITEM_END && w->place != AT_END) {
		if (w->place == IN_ARRAY)
			item = next_in_array(w, err);
		else if (w->place == IN_OBJECT)
			item = next_in_object(w, err);
		else
			item = next_at_top(w, err);
	}
	return item == UT_ITEM_END ? rewrite_walk_evaluate(w, err) : item;
}

bool ut_rewrite_walk_was_clean(const struct ut_rewrite_walk *w)
{
	uint64_t n = w->repaired + repairs(&w->json) + w->source.cut;

	for (size_t i = 0; i < UT_REWRITE_ODDS; i++)
		n += i == UT_REWRITE_LARGE ? 0 : w->odd[i].count;
	return !n;
}

/* ---- what is told -------------------------------------------------------------------------- */

struct report_sink {
	void (*report)(void *ctx, const char *text);
	void *ctx;
};

static void rewrite_walk_say(const struct report_sink *t, const struct ut_json_note *n,
			     const char *text)
{
	char line[320], more[48] = "";

	if (!n->count)
		return;
	if (n->count > 1)
		snprintf(more, sizeof(more), " (%" PRIu64 " of them in all)", n->count);
	snprintf(line, sizeof(line), "offset %" PRIu64 ": %s%s", n->first, text, more);
	t->report(t->ctx, line);
}

void ut_rewrite_walk_report(const struct ut_rewrite_walk *w,
			    void (*report)(void *ctx, const char *text), void *ctx)
{
	static const char *const repaired[] = {
#define REPAIR_TEXT(kind, text) text "; repaired",
		UT_JSON_REPAIR_LIST(REPAIR_TEXT)
#undef REPAIR_TEXT
	};
	static const char *const odd[] = {
#define ODD_TEXT(kind, text) text,
		UT_REWRITE_ODD_LIST(ODD_TEXT)
#undef ODD_TEXT
	};
	struct report_sink t = { report, ctx };
	char text[200];

	for (size_t i = 0; i < UT_JSON_REPAIRS; i++)
		rewrite_walk_say(&t, &w->json.repairs[i], repaired[i]);
	for (size_t i = 0; i < UT_REWRITE_ODDS; i++) {
		snprintf(text, sizeof(text), "%s%s", odd[i], i == UT_REWRITE_DAMAGED ? w->why : "");
		rewrite_walk_say(&t, &w->odd[i], text);
	}
	if (w->source.cut)
		report(ctx,
		       "the compressed data ends too early; what it holds up to there is kept");
}
