/*
 * event_text.c - the members of one event, in whatever order they come.
 *
 * Nothing is changed but the event under construction and tables where reading twice does no harm:
 * when the window ends inside the event it is read again from its start.
 */
#include "import/chrome/event_text.h"

#include <math.h>
#include <string.h>

#include "import/chrome/step.h"

/* The members that have a meaning; all others are kept as arguments. */
enum member {
	OTHER,
	PH,
	NAME,
	CAT,
	TS,
	DUR,
	PID,
	TID,
	ID,
	ID2,
	SCOPE,
	ARGS,
	ATTR,
	REACH,
	BP,
	BIND_ID,
	FLOW_IN,
	FLOW_OUT,
};

static const struct {
	char text[9];
	uint8_t member;
} members[] = {
	{ "ph", PH },
	{ "name", NAME },
	{ "cat", CAT },
	{ "ts", TS },
	{ "dur", DUR },
	{ "pid", PID },
	{ "tid", TID },
	{ "id", ID },
	{ "id2", ID2 },
	{ "scope", SCOPE },
	{ "args", ARGS },
	{ "attr", ATTR },
	{ "s", REACH },
	{ "bp", BP },
	{ "bind_id", BIND_ID },
	{ "flow_in", FLOW_IN },
	{ "flow_out", FLOW_OUT },
};

uint8_t ut_chrome_member(struct ut_str key)
{
	for (size_t i = 0; i < sizeof(members) / sizeof(*members); i++) {
		if (ut_str_is(key, members[i].text))
			return members[i].member;
	}
	return OTHER;
}

static struct ut_str event_text_unquoted(struct ut_str value)
{
	if (value.len >= 2 && *value.ptr == '"') {
		value.ptr++;
		value.len -= 2;
	}
	return value;
}

/* ---- values -------------------------------------------------------------------------------- */

/* A time, also as text in quotes. *has says whether it could be read. */
static inline bool read_time(struct ut_json *j, int64_t *ns, bool *has)
{
	struct ut_str text;
	const char *end = ut_json_ns(j->at, ns);

	if (end) {
		j->at = end;
		*has = true;
		return true;
	}
	if (!ut_json_skip(j, &text))
		return false;
	*has = ut_json_scaled(event_text_unquoted(text), 3, ns);
	return true;
}

/* Is the text a whole number in any spelling? 7.0 is 7. */
static bool event_text_is_whole(struct ut_str text, uint64_t *number)
{
	static const double two53 = 9007199254740992.0;
	struct ut_json_number n;
	enum ut_json_type type = ut_json_number((struct ut_str){ text.ptr, text.len }, &n);

	*number = n.u64;
	if (type != UT_JSON_F64)
		return type == UT_JSON_U64;
	if (signbit(n.f64) || !(n.f64 < two53))
		return false;
	*number = (uint64_t)n.f64;
	return (double)*number == n.f64;
}

/* Anything but a plain whole number. */
static bool read_odd_ref(struct ut_chrome *c, struct ut_chrome_ref *ref)
{
	struct ut_str text;
	uint32_t strict;

	if (!ut_json_skip(&c->json, &text))
		return false;
	strict = ut_chrome_json(c, text, false);
	ref->number = 0;
	if (*text.ptr == '"' ||
	    !event_text_is_whole(ut_strtab_get(&c->build.store.trace.strings, strict),
				 &ref->number)) {
		ref->number = 0;
		ref->text = strict;
	}
	return true;
}

bool ut_chrome_read_ref(struct ut_chrome *c, struct ut_chrome_ref *ref)
{
	struct ut_json *j = &c->json;
	const char *end;

	*ref = (struct ut_chrome_ref){ .given = true };
	end = ut_json_whole(j->at, &ref->number);
	if (!end)
		return read_odd_ref(c, ref);
	j->at = end;
	return true;
}

static bool read_phase(struct ut_chrome *c)
{
	struct ut_json *j = &c->json;
	struct ut_str text;

	if (j->at[0] == '"' && (unsigned char)j->at[1] > ' ' && j->at[2] == '"' &&
	    j->at + 2 < j->end && j->at[1] != '\\' && j->at[1] != '"') {
		c->event.phase = j->at[1];
		j->at += 3;
		return true;
	}
	if (!ut_json_skip(j, &text))
		return false;
	c->event.phase = '?';
	c->event.long_phase = text;
	return true;
}

/* A name or category: a string, or whatever else stands there (but null), as text. */
static inline bool read_string(struct ut_chrome *c, uint32_t *id)
{
	struct ut_json *j = &c->json;
	struct ut_str text;

	if (*j->at == '"') {
		if (!ut_json_text(j, &text))
			return false;
		*id = ut_chrome_string(c, c->names, text);
		return true;
	}
	if (!ut_json_skip(j, &text))
		return false;
	*id = *text.ptr == 'n' ? 0 : ut_chrome_json(c, text, false);
	return true;
}

/* The first letter of a short string. */
static bool read_letter(struct ut_json *j, char *letter)
{
	struct ut_str text;

	if (!ut_json_skip(j, &text))
		return false;
	*letter = text.len >= 3 && *text.ptr == '"' ? text.ptr[1] : 0;
	return true;
}

static bool read_flag(struct ut_json *j, bool *flag)
{
	struct ut_str text;

	if (!ut_json_skip(j, &text))
		return false;
	*flag = *text.ptr == 't' || (*text.ptr >= '1' && *text.ptr <= '9');
	return true;
}

static bool read_args(struct ut_chrome *c, enum member member)
{
	struct ut_json *j = &c->json;
	const char *start = j->at;

	if (*start != '{')
		return ut_chrome_value(c, &c->extra, c->words[UT_WORD_ARGS]);
	if (c->event.args_from == member) /* the same member again: the later one counts */
		c->args.count = c->args.seen = 0;
	c->event.args_from = (uint8_t)member;
	if (!ut_chrome_members(c, &c->args))
		return false;
	c->event.args = (struct ut_str){ start, (size_t)(j->at - start) };
	return true;
}

/* ---- members ------------------------------------------------------------------------------- */

static bool read_rare(struct ut_chrome *c, enum member member, uint32_t key)
{
	struct ut_chrome_event *e = &c->event;
	struct ut_json *j = &c->json;
	char letter;

	switch (member) {
	case ID:
		return ut_json_skip(j, &e->id);
	case ID2:
		return ut_json_skip(j, &e->id2);
	case SCOPE:
		return ut_json_skip(j, &e->scope);
	case BIND_ID:
		return ut_json_skip(j, &e->bind);
	case REACH:
		return read_letter(j, &e->reach);
	case BP:
		if (!read_letter(j, &letter))
			return false;
		e->enclosing = letter == 'e';
		return true;
	case FLOW_IN:
		return read_flag(j, &e->flow_in);
	case FLOW_OUT:
		return read_flag(j, &e->flow_out);
	case ATTR:
		c->traits |= UT_TRAIT_ATTR;
		return read_args(c, ATTR);
	case PH:
	case NAME:
	case CAT:
	case TS:
	case DUR:
	case PID:
	case TID:
	case ARGS:
	case OTHER:
		break;
	}
	return ut_chrome_value(c, &c->extra, key);
}

static inline bool event_text_read_member(struct ut_chrome *c, enum member member, uint32_t key)
{
	struct ut_chrome_event *e = &c->event;

	switch (member) {
	case PH:
		return read_phase(c);
	case NAME:
		return read_string(c, &e->name);
	case CAT:
		return read_string(c, &e->cat);
	case TS:
		return read_time(&c->json, &e->ts, &e->has_ts);
	case DUR:
		return read_time(&c->json, &e->dur, &e->has_dur);
	case PID:
		return ut_chrome_read_ref(c, &e->pid);
	case TID:
		return ut_chrome_read_ref(c, &e->tid);
	case ARGS:
		return read_args(c, ARGS);
	case ID:
	case ID2:
	case SCOPE:
	case BIND_ID:
	case REACH:
	case BP:
	case FLOW_IN:
	case FLOW_OUT:
	case ATTR:
	case OTHER:
		break;
	}
	return read_rare(c, member, key);
}

bool ut_chrome_read_event(struct ut_chrome *c)
{
	struct ut_json *j = &c->json;
	const struct ut_chrome_step *step = &c->steps[UT_STEP_EVENT];

	c->event = (struct ut_chrome_event){ .start = j->at };
	c->args.count = c->extra.count = 0;
	c->args.seen = c->extra.seen = 0;
	ut_json_enter(j);
	while ((step = ut_chrome_step(c, step))) {
		if (!event_text_read_member(c, (enum member)step->member, step->key))
			return false;
	}
	return !j->trouble;
}
