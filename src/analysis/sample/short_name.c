#include "sample/short_name.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/hash.h"
#include "base/hashtab.h"
#include "base/path.h"
#include "sample/prof.h"

#define OPERATOR  "operator"
#define ANONYMOUS "(anonymous namespace)"

static bool short_name_is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

/* Behind "operator": what it is called, such as "<<" or "()"; 0 = a word follows. */
static size_t operator_len(struct ut_str s)
{
	size_t len = 0;

	if (ut_str_has_start(s, "()") || ut_str_has_start(s, "[]"))
		return 2;
	while (len < s.len && len < 3 && strchr("<>=!+-*/%^&|~,", s.ptr[len]) && s.ptr[len])
		len++;
	/* of "operator<<int>" the second one opens arguments, of "operator<<(" it does not */
	if (len == 2 && !memcmp(s.ptr, "<<", 2) && s.len > 2 && short_name_is_word(s.ptr[2]))
		len = 1;
	return len;
}

/* Template arguments stand behind a word; "<module>" and "<lambda>" of Python do not. */
static bool opens_arguments(struct ut_str s, size_t at)
{
	return s.ptr[at] == '<' && at &&
	       (short_name_is_word(s.ptr[at - 1]) || strchr(" ])", s.ptr[at - 1]) ||
		(s.ptr[at - 1] == ':' && at > 2));
}

/* Where the bracket that opens here is closed: behind it. The end, if it never is. */
static size_t short_name_behind(struct ut_str s, size_t at, char open, char close)
{
	size_t depth = 0;

	for (; at < s.len; at++) {
		if (s.ptr[at] == open)
			depth++;
		else if (s.ptr[at] == close && s.ptr[at - 1] != '-' && !--depth)
			return at + 1;
	}
	return s.len;
}

/* One step; returns where to go on, s.len at the end of the name. *start: of the name in b. */
static size_t short_name_step(struct ut_buf *b, struct ut_str s, size_t at, size_t *start,
			      bool arguments)
{
	struct ut_str rest = { s.ptr + at, s.len - at };
	size_t end = at + 1;

	if (ut_str_has_start(rest, OPERATOR) && (!at || !short_name_is_word(s.ptr[at - 1]))) {
		struct ut_str behind_word = { rest.ptr + strlen(OPERATOR),
					      rest.len - strlen(OPERATOR) };

		end = at + strlen(OPERATOR) + operator_len(behind_word);
		if (behind_word.len && behind_word.ptr[0] == ' ') /* operator new, operator bool */
			end = at + strlen(OPERATOR) + 1;
	} else if (ut_str_has_start(rest, ANONYMOUS)) {
		end = at + strlen(ANONYMOUS);
	} else if (opens_arguments(s, at)) {
		end = short_name_behind(s, at, '<', '>');
		if (!arguments)
			return end;
	} else if (s.ptr[at] == '{') {
		end = short_name_behind(s, at, '{', '}');
	} else if (s.ptr[at] == '(' && at) {
		return s.len;
	} else if (s.ptr[at] == ' ') {
		/* what was there is the type of the result, unless it is "operator< <int>" */
		if (end < s.len && !opens_arguments(s, end))
			*start = b->len;
		return end;
	}
	ut_buf_add(b, s.ptr + at, end - at);
	return end;
}

/* Only C++ and Rust have names with parameters or arguments in them. */
static bool is_long(struct ut_str s)
{
	for (size_t i = 1; i < s.len; i++) {
		if (s.ptr[i] == '(' || opens_arguments(s, i))
			return true;
	}
	return false;
}

static void shorten(struct ut_buf *b, struct ut_str name, bool arguments)
{
	struct ut_buf made = { 0 };
	size_t start = 0;

	for (size_t at = 0; is_long(name) && name.ptr[0] != '<' && at < name.len;)
		at = short_name_step(&made, name, at, &start, arguments);
	/* Rust's "mem::<u32>" leaves colons behind */
	while (made.len > start + 2 && made.data[made.len - 1] == ':')
		made.len--;
	if (made.len > start)
		ut_buf_add(b, made.data + start, made.len - start);
	else
		ut_buf_add(b, name.ptr, name.len);
	ut_buf_release(&made);
}

void ut_short_name(struct ut_buf *b, struct ut_str name)
{
	shorten(b, name, false);
}

void ut_name_part(struct ut_buf *b, struct ut_str name, enum ut_name_part part)
{
	if (part == UT_NAME_WHOLE)
		ut_buf_add(b, name.ptr, name.len);
	else
		shorten(b, name, part == UT_NAME_ARGUMENTS);
}

/* Of the names that have this part so far: those that share it with another one get the next. */
static void part_further(const struct ut_str *names, size_t count, uint8_t *parts, uint8_t part)
{
	struct {
		size_t at, len;
		uint32_t first; /* index of the first one that is written like this */
		bool shared;
	} *made = ut_make((count + 1) * sizeof(*made));
	struct ut_hashtab known = { 0 };
	struct ut_buf b = { 0 };

	for (uint32_t i = 0; i < count; i++) {
		uint32_t hash, at, number;

		if (parts[i] != part)
			continue;
		made[i].at = b.len;
		ut_name_part(&b, names[i], (enum ut_name_part)part);
		made[i].len = b.len - made[i].at;
		hash = at = (uint32_t)ut_hash_bytes(b.data + made[i].at, made[i].len);
		while ((number = ut_hashtab_next(&known, hash, &at)) &&
		       (made[number - 1].len != made[i].len ||
			memcmp(b.data + made[number - 1].at, b.data + made[i].at, made[i].len)))
			;
		made[i].first = number ? number - 1 : i;
		if (!number)
			ut_hashtab_add(&known, hash, i + 1);
		else if (!ut_str_eq(names[number - 1], names[i]))
			made[number - 1].shared = true;
	}
	for (uint32_t i = 0; i < count; i++) {
		if (parts[i] == part && made[made[i].first].shared)
			parts[i]++;
	}
	ut_hashtab_release(&known);
	ut_buf_release(&b);
	free(made);
}

void ut_name_parts(const struct ut_str *names, size_t count, uint8_t *parts)
{
	memset(parts, UT_NAME_SHORT, count);
	part_further(names, count, parts, UT_NAME_SHORT);
	part_further(names, count, parts, UT_NAME_ARGUMENTS);
}

void ut_prof_name(struct ut_buf *b, const struct ut_prof *p, uint32_t function)
{
	ut_name_part(b, ut_prof_text(p, function),
		     p->name_parts ? (enum ut_name_part)p->name_parts[function] : UT_NAME_SHORT);
}

void ut_prof_label(struct ut_buf *b, const struct ut_prof *p, const struct ut_prof_frame *f)
{
	struct ut_str name = ut_prof_text(p, f->function);
	struct ut_str module = ut_prof_text(p, f->module);

	if (!f->function) {
		ut_buf_fmt(b, "[unknown]%s%s", f->module ? " in " : "", ut_path_base(module.ptr));
		return;
	}
	ut_prof_name(b, p, f->function);
	if (name.ptr[0] == '<' && name.ptr[name.len - 1] == '>' && f->module)
		ut_buf_fmt(b, " (%s)", ut_path_base(module.ptr));
}
