/*
 * list.c - event after event, over whatever lies between them.
 */
#include <stdio.h>
#include <string.h>

#include "base/json_scan.h"
#include "import/chrome/part.h"

#define LOOK_BACK 64u  /* bytes in front of a place that are kept while looking for events */
#define LOOK_ON   128u /* bytes behind it that tell whether it is one */

/* ---- after damage -------------------------------------------------------------------------- */

/* Does an object start at p whose first key is one of an event? Looks a little past the end. */
bool ut_chrome_looks_like_event(const char *p, const char *end)
{
	static const char *const keys[] = { "\"ph\"",  "\"name\"", "\"cat\"",  "\"pid\"",
					    "\"tid\"", "\"ts\"",   "\"args\"", "\"id\"",
					    "\"dur\"", "\"s\"",    "\"bp\"",   "\"tts\"" };

	if (*p != '{')
		return false;
	for (p++; p < end && (unsigned char)*p <= ' ';)
		p++;
	for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++) {
		if (!strncmp(p, keys[i], strlen(keys[i])))
			return true;
	}
	return false;
}

/* Is p where a value may start: behind a comma, a bracket or on a line of its own? */
static bool may_start(const struct ut_json *j, const char *p)
{
	const char *back = p;

	while (back > j->buf && (unsigned char)back[-1] <= ' ')
		back--;
	return back == j->buf || strchr(",}[", back[-1]) || memchr(back, '\n', (size_t)(p - back));
}

/* Too much of nothing: what lies before it can still be had. */
static bool chrome_list_give_up(struct ut_json *j, uint64_t lost_at)
{
	j->trouble = UT_JSON_ENDLESS;
	j->why = "no event in more than 256 MiB from here on; 'head -c OFFSET' keeps what lies "
		 "before it";
	j->where = lost_at;
	return false;
}

/* Looks from the cursor on: an event, the place from which it cannot be told yet, or NULL. */
static const char *find_event(const struct ut_json *j, bool *sure)
{
	const char *p = j->at;

	*sure = false;
	for (; p < j->end && (p = memchr(p, '{', (size_t)(j->end - p))); p++) {
		if (!j->eof && (size_t)(j->end - p) < LOOK_ON)
			return p;
		*sure = may_start(j, p) && ut_chrome_looks_like_event(p, j->end);
		if (*sure)
			return p;
	}
	return NULL;
}

/* Goes on where the trouble was; the cursor is then in front of an event. */
bool ut_chrome_recover(struct ut_json *j)
{
	uint64_t from = j->where, lost_at = ut_json_offset(j, j->mark);
	const char *p;
	bool sure;

	j->at = j->mark < j->end ? j->mark + 1 : j->end;
	if ((size_t)(j->end - j->mark) >= UT_JSON_MOST)
		j->at = j->end; /* all of it was one value */
	else if (from > ut_json_offset(j, j->at) && from <= ut_json_offset(j, j->end))
		j->at = j->buf + (from - j->base);
	for (;;) {
		p = find_event(j, &sure);
		if (sure) {
			j->at = p;
			j->fresh = true; /* no comma is missed */
			ut_json_mark(j);
			return true;
		}
		if (j->eof)
			return false;
		/* what lies behind p has been seen; a little of it tells what p is */
		p = p ? p : j->end;
		from = ut_json_offset(j, p);
		if (from - lost_at > UT_JSON_BARREN)
			return chrome_list_give_up(j, lost_at);
		j->at = (size_t)(p - j->buf) > LOOK_BACK ? p - LOOK_BACK : j->buf;
		ut_json_mark(j);
		j->trouble = UT_JSON_SHORT;
		if (!ut_json_again(j))
			return false;
		j->at = j->buf + (from - j->base);
	}
}

/* ---- the list ------------------------------------------------------------------------------ */

/* To the next event of a list without brackets: lines of JSON, or a list whose start is missing. */
static bool next_loose(struct ut_chrome *c)
{
	struct ut_json *j = &c->json;
	char byte = ut_json_peek(j);

	for (; byte == ',' || byte == ']'; byte = ut_json_peek(j)) {
		if (!c->odd[UT_ODD_NO_LIST].count)
			ut_chrome_note(c, UT_ODD_NO_LIST, ut_json_offset(j, j->at));
		j->at++;
	}
	return byte == '{';
}

/* What lies at the cursor is one element; *stop: it is not ours. */
static bool read_element(struct ut_chrome *c, bool *stop)
{
	struct ut_json *j = &c->json;

	c->event.start = NULL;
	if (!(c->loose ? next_loose(c) : ut_json_element(j)))
		return false;
	*stop = ut_json_offset(j, j->at) >= c->stop;
	if (*stop)
		return true;
	c->event.start = j->at;
	return *j->at == '{' ? ut_chrome_read_event(c) : ut_json_skip(j, NULL);
}

void ut_chrome_note_damage(struct ut_chrome *c)
{
	struct ut_json_note *note = &c->odd[UT_ODD_DAMAGED];

	if (note->next == c->json.where + 1)
		return; /* who called us could not go on there, either */
	note->next = c->json.where + 1;
	if (!note->count)
		snprintf(c->odd_why, sizeof(c->odd_why), "%s", c->json.why ? c->json.why : "");
	ut_chrome_note(c, UT_ODD_DAMAGED, c->json.where);
}

/* The input ended before the list did. */
static enum ut_chrome_walk end_of_input(struct ut_chrome *c)
{
	if (!c->event.start && c->loose)
		return UT_WALK_CLOSED; /* nothing is missing where there are no brackets */
	if (c->event.start)
		ut_chrome_note(c, UT_ODD_CUT, ut_json_offset(&c->json, c->event.start));
	else
		ut_chrome_note(c, UT_ODD_UNCLOSED, ut_json_offset(&c->json, c->json.end));
	return UT_WALK_END;
}

static enum ut_chrome_walk walk_list(struct ut_chrome *c)
{
	struct ut_json *j = &c->json;

	for (;;) {
		bool stop = false, ok;

		ut_json_mark(j);
		do
			ok = read_element(c, &stop);
		while (!ok && ut_json_again(j));
		if (stop)
			return UT_WALK_STOP;
		if (ok && *c->event.start == '{') {
			ut_chrome_take_event(c);
			continue;
		}
		if (ok) {
			ut_chrome_note(c, UT_ODD_NO_EVENT, ut_json_offset(j, c->event.start));
			continue;
		}
		switch ((enum ut_json_trouble)j->trouble) {
		case UT_JSON_NONE:
			return UT_WALK_CLOSED;
		case UT_JSON_FAILED:
		case UT_JSON_ENDLESS:
			return UT_WALK_FAILED;
		case UT_JSON_SHORT:
			return end_of_input(c);
		case UT_JSON_BAD:
			ut_chrome_note_damage(c);
			if (!ut_chrome_recover(j))
				return j->trouble >= UT_JSON_FAILED ? UT_WALK_FAILED : UT_WALK_LOST;
		}
	}
}

enum ut_chrome_walk ut_chrome_list(struct ut_chrome *c)
{
	enum ut_chrome_walk walk = walk_list(c);

	ut_chrome_flush(c);
	return walk;
}
