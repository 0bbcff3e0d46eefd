#include "symbol/demangle_rust.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"

#define MOST_DEPTH 200
#define MOST_TEXT  (1u << 16)
#define HASH       17u /* "h" and 16 digits, at the end of old names */

/* ---- version 0 ------------------------------------------------------------------------------- */

struct reader {
	const char *start, *at, *end; /* start: behind "_R", which references count from */
	struct ut_buf out;
	unsigned int depth;
	uint64_t lifetimes; /* that are bound around here */
	bool bad, silent;   /* silent: read, and write nothing */
};

static void path(struct reader *r, bool in_value);
static void type(struct reader *r);
static void constant(struct reader *r);

static void demangle_rust_put(struct reader *r, const char *text, size_t len)
{
	if (r->silent || r->bad)
		return;
	if (r->out.len + len > MOST_TEXT)
		r->bad = true;
	else
		ut_buf_add(&r->out, text, len);
}

static void demangle_rust_say(struct reader *r, const char *text)
{
	demangle_rust_put(r, text, strlen(text));
}

static bool eat(struct reader *r, char c)
{
	if (r->at == r->end || *r->at != c)
		return false;
	r->at++;
	return true;
}

static char demangle_rust_next(struct reader *r)
{
	if (r->at == r->end) {
		r->bad = true;
		return '\0';
	}
	return *r->at++;
}

static bool demangle_rust_enter(struct reader *r)
{
	if (++r->depth > MOST_DEPTH)
		r->bad = true;
	return !r->bad;
}

static uint64_t decimal(struct reader *r)
{
	uint64_t n = 0;

	if (r->at == r->end || !isdigit((unsigned char)*r->at))
		r->bad = true;
	if (eat(r, '0'))
		return 0;
	while (r->at < r->end && isdigit((unsigned char)*r->at) && n < UINT32_MAX)
		n = n * 10 + (uint64_t)(*r->at++ - '0');
	return n;
}

/* "_" is 0, "0_" is 1, and so on. */
static uint64_t base62(struct reader *r)
{
	uint64_t n = 0;

	if (eat(r, '_'))
		return 0;
	while (!r->bad && !eat(r, '_')) {
		char c = demangle_rust_next(r);

		if (isdigit((unsigned char)c))
			n = n * 62 + (uint64_t)(c - '0');
		else if (c >= 'a' && c <= 'z')
			n = n * 62 + (uint64_t)(c - 'a' + 10);
		else if (c >= 'A' && c <= 'Z')
			n = n * 62 + (uint64_t)(c - 'A' + 36);
		else
			r->bad = true;
	}
	return n + 1;
}

static uint64_t optional62(struct reader *r, char tag)
{
	return eat(r, tag) ? base62(r) + 1 : 0;
}

/* A word of the name; other letters than ASCII are left in punycode. */
static struct ut_str demangle_rust_word(struct reader *r)
{
	bool puny = eat(r, 'u');
	uint64_t len = decimal(r);
	struct ut_str s = { r->at, 0 };

	(void)puny;
	eat(r, '_');
	s.ptr = r->at;
	if (r->bad || len > (uint64_t)(r->end - r->at)) {
		r->bad = true;
		return s;
	}
	s.len = (size_t)len;
	r->at += len;
	return s;
}

/* What was there before, once more. */
static void again(struct reader *r, void (*what)(struct reader *r))
{
	const char *tag = r->at - 1;
	uint64_t to = base62(r);
	const char *here = r->at;

	if (r->bad || to >= (uint64_t)(tag - r->start)) {
		r->bad = true;
		return;
	}
	if (r->silent)
		return;
	r->at = r->start + to;
	what(r);
	r->at = here;
}

static void path_as_type(struct reader *r)
{
	path(r, false);
}

static void path_as_value(struct reader *r)
{
	path(r, true);
}

static void lifetime(struct reader *r, uint64_t n)
{
	char text[2] = { 0 };

	demangle_rust_say(r, "'");
	if (!n) {
		demangle_rust_say(r, "_");
		return;
	}
	if (n > r->lifetimes) {
		r->bad = true;
		return;
	}
	text[0] = (char)('a' + (r->lifetimes - n) % 26);
	demangle_rust_say(r, text);
}

/* for<'a, 'b> around what follows. */
static uint64_t binder(struct reader *r)
{
	uint64_t count = optional62(r, 'G');

	if (count > 64) {
		r->bad = true;
		return 0;
	}
	if (count)
		demangle_rust_say(r, "for<");
	for (uint64_t i = 0; i < count; i++) {
		r->lifetimes++;
		if (i)
			demangle_rust_say(r, ", ");
		lifetime(r, 1);
	}
	if (count)
		demangle_rust_say(r, "> ");
	return count;
}

static void argument(struct reader *r)
{
	if (eat(r, 'L'))
		lifetime(r, base62(r));
	else if (eat(r, 'K'))
		constant(r);
	else
		type(r);
}

/* Things up to an "E", with commas between them; how many there were. */
static size_t demangle_rust_list(struct reader *r, void (*each)(struct reader *r))
{
	size_t count = 0;

	while (!r->bad && !eat(r, 'E')) {
		if (count++)
			demangle_rust_say(r, ", ");
		each(r);
	}
	return count;
}

/* The path of an impl says where it stands, which nobody wants to read. */
static void impl_path(struct reader *r)
{
	bool silent = r->silent;

	optional62(r, 's');
	r->silent = true;
	path(r, false);
	r->silent = silent;
}

static void nested(struct reader *r, bool in_value)
{
	char space = demangle_rust_next(r);
	uint64_t number;
	struct ut_str s;
	char text[32];

	path(r, in_value);
	number = optional62(r, 's');
	s = demangle_rust_word(r);
	if (isupper((unsigned char)space)) {
		demangle_rust_say(r, "::{");
		if (space == 'C')
			demangle_rust_say(r, "closure");
		else if (space == 'S')
			demangle_rust_say(r, "shim");
		else
			demangle_rust_put(r, &space, 1);
		if (s.len) {
			demangle_rust_say(r, ":");
			demangle_rust_put(r, s.ptr, s.len);
		}
		snprintf(text, sizeof(text), "#%" PRIu64 "}", number);
		demangle_rust_say(r, text);
	} else if (s.len) {
		demangle_rust_say(r, "::");
		demangle_rust_put(r, s.ptr, s.len);
	}
}

static void path(struct reader *r, bool in_value)
{
	struct ut_str s;
	char tag = demangle_rust_next(r);

	if (!demangle_rust_enter(r))
		return;
	switch (tag) {
	case 'C':
		optional62(r, 's');
		s = demangle_rust_word(r);
		demangle_rust_put(r, s.ptr, s.len);
		break;
	case 'N':
		nested(r, in_value);
		break;
	case 'M':
	case 'X':
	case 'Y':
		if (tag != 'Y')
			impl_path(r);
		demangle_rust_say(r, "<");
		type(r);
		if (tag != 'M') {
			demangle_rust_say(r, " as ");
			path(r, false);
		}
		demangle_rust_say(r, ">");
		break;
	case 'I':
		path(r, in_value);
		demangle_rust_say(r, in_value ? "::<" : "<");
		demangle_rust_list(r, argument);
		demangle_rust_say(r, ">");
		break;
	case 'B':
		again(r, in_value ? path_as_value : path_as_type);
		break;
	default:
		r->bad = true;
	}
	r->depth--;
}

static const char *basic(char tag)
{
	static const char *const names[26] = {
		"i8",    "bool", "char", "f64", "str",  "f32",  NULL,  "u8", "isize",
		"usize", NULL,   "i32",  "u32", "i128", "u128", "_",   NULL, NULL,
		"i16",   "u16",  "()",   "...", NULL,   "i64",  "u64", "!",
	};

	return tag >= 'a' && tag <= 'z' ? names[tag - 'a'] : NULL;
}

static void function(struct reader *r)
{
	uint64_t bound = binder(r);
	struct ut_str abi;

	if (eat(r, 'U'))
		demangle_rust_say(r, "unsafe ");
	if (eat(r, 'K')) {
		demangle_rust_say(r, "extern \"");
		if (eat(r, 'C')) {
			demangle_rust_say(r, "C");
		} else {
			abi = demangle_rust_word(r);
			for (size_t i = 0; i < abi.len; i++)
				demangle_rust_put(r, abi.ptr[i] == '_' ? "-" : &abi.ptr[i], 1);
		}
		demangle_rust_say(r, "\" ");
	}
	demangle_rust_say(r, "fn(");
	demangle_rust_list(r, type);
	demangle_rust_say(r, ")");
	if (!eat(r, 'u')) {
		demangle_rust_say(r, " -> ");
		type(r);
	}
	r->lifetimes -= bound;
}

/* A trait of "dyn", with what is said of its types: Iterator<Item = u8>. */
static void dyn_trait(struct reader *r)
{
	bool open = false;
	struct ut_str s;

	if (eat(r, 'I')) { /* its arguments and what follows share the angles */
		path(r, false);
		demangle_rust_say(r, "<");
		demangle_rust_list(r, argument);
		open = true;
	} else {
		path(r, false);
	}
	while (eat(r, 'p')) {
		demangle_rust_say(r, open ? ", " : "<");
		open = true;
		s = demangle_rust_word(r);
		demangle_rust_put(r, s.ptr, s.len);
		demangle_rust_say(r, " = ");
		type(r);
	}
	if (open)
		demangle_rust_say(r, ">");
}

static void dyn(struct reader *r)
{
	uint64_t bound, n;
	size_t count = 0;

	demangle_rust_say(r, "dyn ");
	bound = binder(r);
	while (!r->bad && !eat(r, 'E')) {
		if (count++)
			demangle_rust_say(r, " + ");
		dyn_trait(r);
	}
	r->lifetimes -= bound;
	if (!eat(r, 'L')) {
		r->bad = true;
		return;
	}
	n = base62(r);
	if (n) {
		demangle_rust_say(r, " + ");
		lifetime(r, n);
	}
}

static void reference(struct reader *r, bool mutable)
{
	uint64_t n;

	demangle_rust_say(r, "&");
	if (eat(r, 'L')) {
		n = base62(r);
		if (n) {
			lifetime(r, n);
			demangle_rust_say(r, " ");
		}
	}
	if (mutable)
		demangle_rust_say(r, "mut ");
	type(r);
}

static void array(struct reader *r, bool counted)
{
	demangle_rust_say(r, "[");
	type(r);
	if (counted) {
		demangle_rust_say(r, "; ");
		constant(r);
	}
	demangle_rust_say(r, "]");
}

static void type(struct reader *r)
{
	char tag = demangle_rust_next(r);
	const char *name = basic(tag);

	if (name) {
		demangle_rust_say(r, name);
		return;
	}
	if (!demangle_rust_enter(r))
		return;
	switch (tag) {
	case 'R':
	case 'Q':
		reference(r, tag == 'Q');
		break;
	case 'P':
	case 'O':
		demangle_rust_say(r, tag == 'P' ? "*const " : "*mut ");
		type(r);
		break;
	case 'A':
	case 'S':
		array(r, tag == 'A');
		break;
	case 'T':
		demangle_rust_say(r, "(");
		if (demangle_rust_list(r, type) == 1)
			demangle_rust_say(r, ",");
		demangle_rust_say(r, ")");
		break;
	case 'F':
		function(r);
		break;
	case 'D':
		dyn(r);
		break;
	case 'B':
		again(r, type);
		break;
	default:
		r->at -= r->bad ? 0 : 1;
		path(r, false);
	}
	r->depth--;
}

static void constant(struct reader *r)
{
	const char *digits;
	char tag = demangle_rust_next(r), text[32];
	uint64_t value = 0;
	size_t len;

	if (tag == 'B') {
		again(r, constant);
		return;
	}
	if (tag == 'p' || !basic(tag)) {
		r->bad = r->bad || tag != 'p';
		demangle_rust_say(r, "_");
		return;
	}
	if (eat(r, 'n'))
		demangle_rust_say(r, "-");
	digits = r->at;
	while (r->at < r->end && isxdigit((unsigned char)*r->at))
		r->at++;
	len = (size_t)(r->at - digits);
	if (!eat(r, '_'))
		r->bad = true;
	if (len > 16) {
		demangle_rust_say(r, "0x");
		demangle_rust_put(r, digits, len);
		return;
	}
	for (size_t i = 0; i < len; i++)
		value = value << 4 |
			(uint64_t)(isdigit((unsigned char)digits[i]) ? digits[i] - '0'
								     : digits[i] - 'a' + 10);
	if (tag == 'b')
		demangle_rust_say(r, value ? "true" : "false");
	else if (tag == 'c' && value > ' ' && value < 127)
		snprintf(text, sizeof(text), "'%c'", (char)value);
	else
		snprintf(text, sizeof(text), "%" PRIu64, value);
	if (tag != 'b')
		demangle_rust_say(r, text);
}

static char *version0(const char *name)
{
	struct reader r = { .start = name + 2, .at = name + 2, .end = name + strlen(name) };

	/* what a linker or compiler has added: ".llvm.4711" */
	r.end = r.start + strcspn(r.start, ".$");
	path(&r, true);
	if (r.at < r.end && !r.bad) { /* the crate that made it */
		r.silent = true;
		path(&r, false);
	}
	if (r.bad || r.at != r.end || !r.out.len) {
		ut_buf_release(&r.out);
		return NULL;
	}
	return r.out.data;
}

/* ---- older names ----------------------------------------------------------------------------- */

static const struct {
	const char *code, *text;
} escapes[] = {
	{ "$SP$", "@" },  { "$BP$", "*" },  { "$RF$", "&" },  { "$LT$", "<" },  { "$GT$", ">" },
	{ "$LP$", "(" },  { "$RP$", ")" },  { "$C$", "," },   { "$u20$", " " }, { "$u22$", "\"" },
	{ "$u27$", "'" }, { "$u2b$", "+" }, { "$u3b$", ";" }, { "$u5b$", "[" }, { "$u5d$", "]" },
	{ "$u7b$", "{" }, { "$u7d$", "}" }, { "$u7e$", "~" }, { "..", "::" },
};

static void unescape(struct ut_buf *b, const char *s, size_t len)
{
	const char *end = s + len;

	if (len > 1 && s[0] == '_' && s[1] == '$')
		s++;
	while (s < end) {
		size_t i = 0;

		while (i < sizeof(escapes) / sizeof(escapes[0]) &&
		       ((size_t)(end - s) < strlen(escapes[i].code) ||
			memcmp(s, escapes[i].code, strlen(escapes[i].code)) != 0))
			i++;
		if (i < sizeof(escapes) / sizeof(escapes[0])) {
			ut_buf_text(b, escapes[i].text);
			s += strlen(escapes[i].code);
		} else {
			ut_buf_char(b, *s++);
		}
	}
}

static bool is_hash(const char *s, size_t len)
{
	if (len != HASH || s[0] != 'h')
		return false;
	for (size_t i = 1; i < len; i++) {
		if (!isxdigit((unsigned char)s[i]))
			return false;
	}
	return true;
}

/* Words with their lengths, of which the last one is a hash: else it is a name of C++. */
static char *legacy(const char *name)
{
	struct ut_buf b = { 0 };
	const char *s = name + 3, *last = NULL;
	size_t last_len = 0;

	while (isdigit((unsigned char)*s)) {
		char *end;
		size_t len = strtoul(s, &end, 10);

		if (!len || len > strlen(end))
			break;
		if (last) {
			if (b.len)
				ut_buf_text(&b, "::");
			unescape(&b, last, last_len);
		}
		last = end;
		last_len = len;
		s = end + len;
	}
	if (*s == 'E' && last && is_hash(last, last_len) && b.len)
		return b.data;
	ut_buf_release(&b);
	return NULL;
}

char *ut_demangle_rust(const char *name)
{
	if (!strncmp(name, "_R", 2) && name[2])
		return version0(name);
	if (!strncmp(name, "_ZN", 3))
		return legacy(name);
	return NULL;
}
