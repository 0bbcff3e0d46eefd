#include "sample/short_name.h"

#include <ctype.h>
#include <stdbool.h>

#include "base/path.h"
#include "sample/prof.h"

#define OPERATOR  "operator"
#define ANONYMOUS "(anonymous namespace)"

static bool is_word(char c)
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
	if (len == 2 && !memcmp(s.ptr, "<<", 2) && s.len > 2 && is_word(s.ptr[2]))
		len = 1;
	return len;
}

/* Template arguments stand behind a word; "<module>" and "<lambda>" of Python do not. */
static bool opens_arguments(struct ut_str s, size_t at)
{
	return s.ptr[at] == '<' && at &&
	       (is_word(s.ptr[at - 1]) || strchr(" ])", s.ptr[at - 1]) ||
		(s.ptr[at - 1] == ':' && at > 2));
}

/* Where the bracket that opens here is closed: behind it. The end, if it never is. */
static size_t behind(struct ut_str s, size_t at, char open, char close)
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
static size_t step(struct ut_buf *b, struct ut_str s, size_t at, size_t *start)
{
	struct ut_str rest = { s.ptr + at, s.len - at };
	size_t end = at + 1;

	if (ut_str_has_start(rest, OPERATOR) && (!at || !is_word(s.ptr[at - 1]))) {
		struct ut_str behind_word = { rest.ptr + strlen(OPERATOR),
					      rest.len - strlen(OPERATOR) };

		end = at + strlen(OPERATOR) + operator_len(behind_word);
		if (behind_word.len && behind_word.ptr[0] == ' ') /* operator new, operator bool */
			end = at + strlen(OPERATOR) + 1;
	} else if (ut_str_has_start(rest, ANONYMOUS)) {
		end = at + strlen(ANONYMOUS);
	} else if (opens_arguments(s, at)) {
		return behind(s, at, '<', '>');
	} else if (s.ptr[at] == '{') {
		end = behind(s, at, '{', '}');
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

void ut_short_name(struct ut_buf *b, struct ut_str name)
{
	struct ut_buf made = { 0 };
	size_t start = 0;

	for (size_t at = 0; is_long(name) && name.ptr[0] != '<' && at < name.len;)
		at = step(&made, name, at, &start);
	/* Rust's "mem::<u32>" leaves colons behind */
	while (made.len > start + 2 && made.data[made.len - 1] == ':')
		made.len--;
	if (made.len > start)
		ut_buf_add(b, made.data + start, made.len - start);
	else
		ut_buf_add(b, name.ptr, name.len);
	ut_buf_release(&made);
}

void ut_prof_label(struct ut_buf *b, const struct ut_prof *p, const struct ut_prof_frame *f)
{
	struct ut_str name = ut_prof_text(p, f->function);
	struct ut_str module = ut_prof_text(p, f->module);

	if (!f->function) {
		ut_buf_fmt(b, "[unknown]%s%s", f->module ? " in " : "", ut_path_base(module.ptr));
		return;
	}
	ut_short_name(b, name);
	if (name.ptr[0] == '<' && name.ptr[name.len - 1] == '>' && f->module)
		ut_buf_fmt(b, " (%s)", ut_path_base(module.ptr));
}
