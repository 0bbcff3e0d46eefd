#include "view/search_query.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <regex.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/regex.h"
#include "view/arguments.h"
#include "view/ask.h"

#define NS_MOST 1.8e19 /* what fits into 64 bits, and more than any clock says */

enum field {
	NAME,
	CAT,
	TRACK,
	THREAD,
	DEV,
	RANK,
	DUR,
	SELF,
	ARG
};

enum how {
	PART,  /* letters of either case, anywhere */
	EXACT, /* all of it */
	REGEX,
	NUMBER, /* in [low, high], or around it if an edge is left out */
};

struct ut_search_query_test {
	enum field field;
	enum how how;
	bool want;
	struct ut_str text; /* PART in small letters */
	struct ut_str key;  /* of ARG */
	regex_t regex;
	double low, high;
	bool above, below; /* low or high itself is not in */
};

/* ---- words ---------------------------------------------------------------------------------- */

static bool is_blank(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}

static bool search_query_is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '.';
}

/* Behind what follows "FIELD:" or stands alone: quoted, between slashes, up to a blank. */
static size_t value_end(struct ut_str s, size_t at)
{
	size_t i = at;

	if (s.ptr[i] == '"') {
		for (i++; i < s.len && s.ptr[i] != '"'; i++)
			;
		return i < s.len ? i + 1 : i;
	}
	if (s.ptr[i] == '/') {
		for (i++; i < s.len && s.ptr[i] != '/'; i++)
			i += s.ptr[i] == '\\';
		if (i < s.len && i > at + 1)
			return i + 1;
		i = at;
	}
	while (i < s.len && !is_blank(s.ptr[i]))
		i++;
	return i;
}

/* The next word from *at on; false at the end. */
static bool next_word(struct ut_str s, size_t *at, struct ut_str *word)
{
	size_t i = *at, field;

	while (i < s.len && is_blank(s.ptr[i]))
		i++;
	if (i >= s.len)
		return false;
	word->ptr = s.ptr + i;
	field = i + (s.ptr[i] == '-');
	while (field < s.len && search_query_is_word(s.ptr[field]))
		field++;
	if (field < s.len && s.ptr[field] == ':' && field > i && field + 1 < s.len &&
	    !is_blank(s.ptr[field + 1]))
		field++;
	else
		field = i + (s.ptr[i] == '-' && i + 1 < s.len && !is_blank(s.ptr[i + 1]));
	*at = value_end(s, field);
	word->len = (size_t)(s.ptr + *at - word->ptr);
	return true;
}

/* ---- tests ---------------------------------------------------------------------------------- */

static int text_test(struct ut_search_query *w, struct ut_search_query_test *t, struct ut_str value,
		     struct ut_err *err)
{
	char *low;

	if (value.len > 1 && value.ptr[0] == '/' && value.ptr[value.len - 1] == '/') {
		struct ut_buf pattern = { 0 };
		int rc;

		ut_buf_text(&pattern, "(?i)");
		ut_buf_add(&pattern, value.ptr + 1, value.len - 2);
		rc = ut_regex(&t->regex, pattern.data, pattern.len, NULL);
		ut_buf_release(&pattern);
		if (rc)
			return ut_err_set(err, -EINVAL, "%.*s is no regular expression",
					  (int)(value.len < 200 ? value.len : 200), value.ptr);
		t->how = REGEX;
		return 0;
	}
	if (value.ptr[0] == '"') {
		size_t end = value.len > 1 && value.ptr[value.len - 1] == '"' ? value.len - 1
									      : value.len;

		t->how = EXACT;
		t->text = (struct ut_str){ value.ptr + 1, end - 1 };
		return 0;
	}
	low = ut_arena_copy(&w->arena, value.ptr, value.len);
	for (size_t i = 0; i < value.len; i++)
		low[i] = (char)tolower((unsigned char)low[i]);
	t->how = PART;
	t->text = (struct ut_str){ low, value.len };
	return 0;
}

static int search_query_read_number(struct ut_str word, bool timed, double *to, struct ut_err *err)
{
	static const struct {
		const char *unit;
		double ns;
	} units[] = { { "", 1 },
		      { "ns", 1 },
		      { "us", 1e3 },
		      { "\xc2\xb5s", 1e3 },
		      { "\xce\xbcs", 1e3 },
		      { "ms", 1e6 },
		      { "s", 1e9 } };
	char text[64], *end;

	if (word.len && word.len < sizeof(text) &&
	    (isdigit((unsigned char)word.ptr[0]) || word.ptr[0] == '.')) {
		memcpy(text, word.ptr, word.len);
		text[word.len] = '\0';
		*to = strtod(text, &end);
		end += strspn(end, " ");
		for (size_t i = 0; i < sizeof(units) / sizeof(units[0]) && end != text; i++) {
			if (strcasecmp(end, units[i].unit) != 0 || (i && !timed))
				continue;
			*to *= units[i].ns;
			return 0;
		}
	}
	return ut_err_set(err, -EINVAL,
			  timed ? "%.*s is no time; write 40us or 1.5ms" : "%.*s is no number",
			  (int)(word.len < 200 ? word.len : 200), word.ptr);
}

/* "A..B", each of which may be left out. */
static int range_test(struct ut_search_query_test *t, struct ut_str word, const char *dots,
		      bool timed, struct ut_err *err)
{
	struct ut_str low = { word.ptr, (size_t)(dots - word.ptr) };
	struct ut_str high = { dots + 2, word.len - low.len - 2 };
	int rc = low.len ? search_query_read_number(low, timed, &t->low, err) : 0;

	if (!rc && high.len)
		rc = search_query_read_number(high, timed, &t->high, err);
	return rc;
}

static int number_test(struct ut_search_query_test *t, struct ut_str word, bool timed,
		       struct ut_err *err)
{
	const char *dots = memmem(word.ptr, word.len, "..", 2);
	char op = word.ptr[0];
	bool equal;
	double limit;
	int rc;

	t->how = NUMBER;
	t->low = -INFINITY;
	t->high = INFINITY;
	if (dots)
		return range_test(t, word, dots, timed, err);
	if (op == '<' || op == '>' || op == '=') {
		word.ptr++;
		word.len--;
	}
	equal = (op == '<' || op == '>') && word.len && word.ptr[0] == '=';
	word.ptr += equal;
	word.len -= equal;
	rc = search_query_read_number(word, timed, &limit, err);
	if (op != '<')
		t->low = limit;
	if (op != '>')
		t->high = limit;
	t->above = op == '>' && !equal;
	t->below = op == '<' && !equal;
	return rc;
}

/* False if there is no such field: aten::mul is a name. */
static bool find_field(struct ut_search_query_test *t, struct ut_str field)
{
	static const char *const fields[] = { "name", "cat",  "track", "thread",
					      "dev",  "rank", "dur",   "self" };

	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
		if (ut_ask_is(field, fields[i])) {
			t->field = (enum field)i;
			return true;
		}
	}
	t->field = ARG;
	if (ut_ask_is(field, "line"))
		t->key = field;
	else if (field.len > 4 && !memcmp(field.ptr, "arg.", 4))
		t->key = (struct ut_str){ field.ptr + 4, field.len - 4 };
	else
		return false;
	return true;
}

static uint64_t whole_ns(double ns)
{
	return ns < NS_MOST ? (uint64_t)ns : UINT64_MAX;
}

/* What a test of a length leaves of [least, most]; false if it is no such piece. */
static bool cut_lengths(uint64_t *least, uint64_t *most, const struct ut_search_query_test *t)
{
	double low = t->low, high = t->high;
	bool above = t->above, below = t->below;

	if (!t->want && !isinf(low) && !isinf(high))
		return false; /* what lies on either side */
	if (!t->want && isinf(low)) {
		low = high;
		above = !below;
		high = INFINITY;
	} else if (!t->want) {
		high = low;
		below = !above;
		low = -INFINITY;
	}
	low = above ? floor(low) + 1 : ceil(low);
	high = below ? ceil(high) - 1 : floor(high);
	if (low > 0 && whole_ns(low) > *least)
		*least = whole_ns(low);
	if (high < 0) { /* nothing is that short */
		*least = 1;
		*most = 0;
	} else if (whole_ns(high) < *most) {
		*most = whole_ns(high);
	}
	return true;
}

static int search_query_add_word(struct ut_search_query *w, struct ut_str word, struct ut_err *err)
{
	struct ut_search_query_test t = { .field = NAME, .want = true };
	size_t colon = 0;
	int rc;

	if (word.len > 1 && word.ptr[0] == '-') {
		t.want = false;
		word = (struct ut_str){ word.ptr + 1, word.len - 1 };
	}
	while (colon < word.len && search_query_is_word(word.ptr[colon]))
		colon++;
	if (colon && colon + 1 < word.len && word.ptr[colon] == ':' &&
	    islower((unsigned char)word.ptr[0]) &&
	    find_field(&t, (struct ut_str){ word.ptr, colon }))
		word = (struct ut_str){ word.ptr + colon + 1, word.len - colon - 1 };
	else
		t.field = NAME;
	if (t.field == RANK || t.field == DUR || t.field == SELF)
		rc = number_test(&t, word, t.field != RANK, err);
	else
		rc = text_test(w, &t, word, err);
	if (rc)
		return rc;
	w->by_place |= t.field >= TRACK && t.field <= RANK;
	w->by_event |= t.field == DUR || t.field == ARG;
	w->by_self |= t.field == SELF;
	w->by_more |=
		t.field == ARG || (t.field == DUR && !cut_lengths(&w->shortest, &w->longest, &t));
	w->self_odd |= t.field == SELF && !cut_lengths(&w->self_least, &w->self_most, &t);
	w->tests = ut_grow(w->tests, w->count + 1, &w->cap, sizeof(*w->tests));
	w->tests[w->count++] = t;
	return 0;
}

static int add_words(struct ut_search_query *w, struct ut_str query, struct ut_err *err)
{
	struct ut_str copy = { ut_arena_copy(&w->arena, query.ptr ? query.ptr : "", query.len),
			       query.len };
	struct ut_str word;
	size_t at = 0;
	int rc = 0;

	while (!rc && next_word(copy, &at, &word))
		rc = search_query_add_word(w, word, err);
	return rc;
}

/* ---- matching ------------------------------------------------------------------------------- */

static bool has_part(struct ut_str s, struct ut_str part)
{
	if (!part.len)
		return true;
	for (size_t i = 0; i + part.len <= s.len; i++) {
		size_t n = 0;

		while (n < part.len &&
		       tolower((unsigned char)s.ptr[i + n]) == (unsigned char)part.ptr[n])
			n++;
		if (n == part.len)
			return true;
	}
	return false;
}

static bool matches_text(const struct ut_search_query_test *t, struct ut_str s)
{
	bool found;

	if (t->how == REGEX)
		found = !regexec(&t->regex, s.ptr ? s.ptr : "", 0, NULL, 0);
	else if (t->how == EXACT)
		found = s.len == t->text.len && (!s.len || !memcmp(s.ptr, t->text.ptr, s.len));
	else
		found = has_part(s, t->text);
	return found == t->want;
}

static bool matches_number(const struct ut_search_query_test *t, double value)
{
	bool found = (t->above ? value > t->low : value >= t->low) &&
		     (t->below ? value < t->high : value <= t->high);

	return found == t->want;
}

static bool matches_type(const struct ut_search_query *w, const struct ut_view *v, uint32_t type)
{
	for (size_t i = 0; i < w->count; i++) {
		const struct ut_search_query_test *t = &w->tests[i];

		if (t->field == NAME && !matches_text(t, ut_view_type_name(v, type)))
			return false;
		if (t->field == CAT && !matches_text(t, ut_view_type_cat(v, type)))
			return false;
	}
	return true;
}

static bool matches_thread(const struct ut_search_query_test *t, const struct ut_view_place *p)
{
	struct ut_buf b = { 0 };
	bool found;

	if (p->kind == UT_PLACE_THREAD) {
		ut_buf_add(&b, p->name.ptr, p->name.len);
		ut_buf_char(&b, ' ');
		ut_buf_add(&b, p->sub.ptr ? p->sub.ptr : "", p->sub.len);
	}
	found = matches_text(t, (struct ut_str){ b.data ? b.data : "", b.len });
	ut_buf_release(&b);
	return found;
}

static bool matches_place(const struct ut_search_query *w, const struct ut_view *v, uint32_t place)
{
	const struct ut_view_place *p = &v->places[place];
	uint32_t device = ut_view_device_of(v, place);
	const struct ut_str none = { "", 0 };

	for (size_t i = 0; i < w->count; i++) {
		const struct ut_search_query_test *t = &w->tests[i];

		if (t->field == TRACK && !matches_text(t, p->name))
			return false;
		if (t->field == THREAD && !matches_thread(t, p))
			return false;
		if (t->field == DEV &&
		    !matches_text(t, device == UT_NO_PLACE ? none : v->places[device].name))
			return false;
		if (t->field == RANK && !matches_number(t, p->rank))
			return false;
	}
	return true;
}

static bool matches_argument(const struct ut_search_query_test *t, const struct ut_view_row *row)
{
	struct ut_buf b = { 0 };
	bool found;

	ut_view_args_text(row, t->key, &b);
	found = matches_text(t, (struct ut_str){ b.data ? b.data : "", b.len });
	ut_buf_release(&b);
	return found;
}

bool ut_search_query_row(const struct ut_search_query *w, const struct ut_view_row *row)
{
	for (size_t i = 0; i < w->count; i++) {
		const struct ut_search_query_test *t = &w->tests[i];

		if (t->field == DUR && !matches_number(t, (double)(row->end - row->start)))
			return false;
		if (t->field == ARG && !matches_argument(t, row))
			return false;
	}
	return true;
}

bool ut_search_query_self(const struct ut_search_query *w, uint64_t self)
{
	for (size_t i = 0; i < w->count; i++) {
		if (w->tests[i].field == SELF && !matches_number(&w->tests[i], (double)self))
			return false;
	}
	return true;
}

/* ---- one answer per type and per track ------------------------------------------------------ */

static void mark_types(struct ut_search_query *w, const struct ut_view *v)
{
	w->types = ut_make((size_t)v->type_count + 1);
	for (uint32_t i = 0; i < v->type_count; i++)
		w->types[i] = v->classes[i] != UT_CLASS_NONE && matches_type(w, v, i);
}

static void mark_tracks(struct ut_search_query *w, const struct ut_view *v,
			const struct ut_ask_scope *scope)
{
	w->tracks = ut_make((size_t)v->track_count + 1);
	if (!scope->has_tracks)
		memset(w->tracks, 1, v->track_count);
	for (size_t i = 0; i < scope->track_count; i++) {
		if (scope->tracks[i] < v->track_count)
			w->tracks[scope->tracks[i]] = 1;
	}
	for (uint32_t i = 0; i < v->track_count; i++) {
		uint32_t place = v->tracks[i].place;

		w->tracks[i] &=
			place != UT_NO_PLACE && (!w->by_place || matches_place(w, v, place));
	}
}

static int search_query_finish(struct ut_search_query *w, const struct ut_view *v,
			       const struct ut_ask_scope *scope, int rc, struct ut_err *err)
{
	if (!rc)
		rc = add_words(w, scope->query, err);
	if (rc) {
		ut_search_query_release(w);
		return rc;
	}
	mark_types(w, v);
	mark_tracks(w, v, scope);
	return 0;
}

int ut_search_query_init(struct ut_search_query *w, const struct ut_view *v, struct ut_str query,
			 const struct ut_ask_scope *scope, struct ut_err *err)
{
	*w = (struct ut_search_query){ .longest = UINT64_MAX, .self_most = UINT64_MAX };
	return search_query_finish(w, v, scope, add_words(w, query, err), err);
}

int ut_search_query_init_name(struct ut_search_query *w, const struct ut_view *v,
			      struct ut_str name, const struct ut_ask_scope *scope,
			      struct ut_err *err)
{
	*w = (struct ut_search_query){ .longest = UINT64_MAX, .self_most = UINT64_MAX };
	w->tests = ut_grow(NULL, 1, &w->cap, sizeof(*w->tests));
	w->tests[w->count++] = (struct ut_search_query_test){
		.field = NAME,
		.how = EXACT,
		.want = true,
		.text = { ut_arena_copy(&w->arena, name.ptr ? name.ptr : "", name.len), name.len },
	};
	return search_query_finish(w, v, scope, 0, err);
}

void ut_search_query_release(struct ut_search_query *w)
{
	for (size_t i = 0; i < w->count; i++) {
		if (w->tests[i].how == REGEX)
			regfree(&w->tests[i].regex);
	}
	free(w->tests);
	free(w->types);
	free(w->tracks);
	ut_arena_release(&w->arena);
	*w = (struct ut_search_query){ 0 };
}
