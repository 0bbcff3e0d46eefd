/*
 * schema_ini.c - rules as people write them: "[CATEGORY.SUB if equals to|starts with|...]", then a
 * name on each line. Names may hold any sign but a line's end; lines that begin with # are remarks.
 */
#include "category/schema.h"

#include <errno.h>

#include "base/hash.h"
#include "base/hashtab.h"

#define UT_LOG_MODULE "category"
#include "base/logger.h"

struct ini {
	struct ut_schema *schema;
	const char *name; /* of the file */
	const struct ut_logger *logger;
	struct ut_err *err;
	size_t line;
	bool inside;            /* of a section */
	struct ut_rule section; /* kind and category of its names */
	struct ut_str *headers; /* of the sections so far: each may be there once */
	size_t header_count;
	struct ut_hashtab by_header;
};

/* Up to the first mark, which is left out of both; without one all of it. */
static struct ut_str schema_ini_before(struct ut_str s, const char *mark, struct ut_str *behind)
{
	const char *at = s.len ? memmem(s.ptr, s.len, mark, strlen(mark)) : NULL;

	*behind = (struct ut_str){ "", 0 };
	if (!at)
		return s;
	behind->ptr = at + strlen(mark);
	behind->len = s.len - (size_t)(behind->ptr - s.ptr);
	s.len = (size_t)(at - s.ptr);
	return s;
}

/* Blanks do not count: "starts  with" is "startswith". */
static bool same_words(struct ut_str said, const char *words)
{
	size_t i = 0;

	for (; *words; words++) {
		if (*words == ' ')
			continue;
		while (i < said.len && (said.ptr[i] == ' ' || said.ptr[i] == '\t'))
			i++;
		if (i >= said.len || said.ptr[i++] != *words)
			return false;
	}
	return i == said.len;
}

static enum ut_rule_kind schema_ini_kind_of(const struct ini *ini, struct ut_str verb)
{
	static const char *const words[] = {
#define UT_RULE_WORDS(kind, text) [UT_RULE_##kind] = (text),
		UT_RULE_LIST(UT_RULE_WORDS)
#undef UT_RULE_WORDS
	};

	for (size_t i = 0; i < UT_RULES; i++) {
		if (same_words(verb, words[i]))
			return (enum ut_rule_kind)i;
	}
	ut_logger_log(
		ini->logger, UT_WARN,
		"%s:%zu: '%.*s' is no condition (equals to, starts with, ends with, contains, "
		"matches); taken for 'starts with'",
		ini->name, ini->line, (int)(verb.len < 60 ? verb.len : 60), verb.ptr);
	return UT_RULE_STARTS;
}

static bool is_new(struct ini *ini, struct ut_str header)
{
	uint32_t hash = (uint32_t)ut_hash_bytes(header.ptr, header.len), at = hash, number;

	while ((number = ut_hashtab_next(&ini->by_header, hash, &at)))
		if (ut_str_eq(ini->headers[number - 1], header))
			return false;
	ini->headers[ini->header_count++] = header;
	ut_hashtab_add(&ini->by_header, hash, (uint32_t)ini->header_count);
	return true;
}

/* What stands behind the last ] is passed over, as the original does. */
static int read_header(struct ini *ini, struct ut_str line)
{
	const char *end = memrchr(line.ptr, ']', line.len);
	struct ut_str header = { line.ptr + 1, end ? (size_t)(end - line.ptr) - 1 : 0 }, verb, sub;

	if (!end)
		return ut_err_set(ini->err, -EINVAL, "%s:%zu: a section without its closing ]",
				  ini->name, ini->line);
	if (!is_new(ini, header))
		return ut_err_set(ini->err, -EINVAL, "%s:%zu: the section [%.*s] is there twice",
				  ini->name, ini->line, (int)(header.len < 200 ? header.len : 200),
				  header.ptr);
	ini->section.category =
		ut_str_trim(schema_ini_before(schema_ini_before(header, " if ", &verb), ".", &sub));
	if (!ini->section.category.len)
		return ut_err_set(ini->err, -EINVAL, "%s:%zu: a section without a category",
				  ini->name, ini->line);
	ini->section.kind = schema_ini_kind_of(ini, ut_str_trim(verb));
	ini->inside = true;
	return 0;
}

static int read_name(struct ini *ini, struct ut_str line)
{
	struct ut_rule rule = ini->section;
	struct ut_err why = { 0 };

	if (!ini->inside)
		return ut_err_set(ini->err, -EINVAL,
				  "%s:%zu: a name before the first section, such as "
				  "[matmul if starts with]",
				  ini->name, ini->line);
	rule.text = line;
	if (ut_schema_add(ini->schema, &rule, &why))
		return ut_err_set(ini->err, -EINVAL, "%s:%zu: %s", ini->name, ini->line, why.text);
	return 0;
}

static size_t count_headers(struct ut_str text)
{
	size_t n = 0;

	for (size_t i = 0; i < text.len; i++)
		n += text.ptr[i] == '[';
	return n;
}

/*
 * A text that is all of a name in one section and the beginning of names in another is one rule in
 * the original, and the later section has it. So here, and it is told.
 */
static void join_repeated(struct ini *ini)
{
	struct ut_schema *s = ini->schema;
	struct ut_hashtab by_text = { .arena = &s->arena };
	struct ut_str first = { 0 };
	size_t kept = 0, others = 0;

	for (size_t i = 0; i < s->count; i++) {
		struct ut_rule rule = s->rules[i];
		uint32_t hash = (uint32_t)ut_hash_bytes(rule.text.ptr, rule.text.len), at = hash;
		uint32_t number = 0;
		bool joins = rule.kind == UT_RULE_EQUALS || rule.kind == UT_RULE_STARTS;

		while (joins && (number = ut_hashtab_next(&by_text, hash, &at)) &&
		       !ut_str_eq(s->rules[number - 1].text, rule.text))
			;
		if (!number) {
			s->rules[kept++] = rule;
			if (joins)
				ut_hashtab_add(&by_text, hash, (uint32_t)kept);
			continue;
		}
		if (s->rules[number - 1].kind != rule.kind ||
		    !ut_str_eq(s->rules[number - 1].category, rule.category)) {
			others++;
			first = first.ptr ? first : rule.text;
		}
		s->rules[number - 1] = rule;
	}
	s->count = kept;
	if (others)
		ut_logger_log(ini->logger, UT_WARN,
			      "%s: '%.*s' is in two sections: the later one counts (%zu such)",
			      ini->name, (int)(first.len < 200 ? first.len : 200), first.ptr,
			      others);
	ut_hashtab_release(&by_text);
}

int ut_schema_read_ini(struct ut_schema *s, const char *name, struct ut_str text,
		       const struct ut_logger *logger, struct ut_err *err)
{
	struct ini ini = { .schema = s, .name = name, .logger = logger, .err = err };
	int rc = 0;

	ini.by_header.arena = &s->arena;
	ini.headers = UT_NEW_N(&s->arena, struct ut_str, count_headers(text) + 1);
	while (!rc && text.len) {
		struct ut_str line = ut_str_trim(schema_ini_before(text, "\n", &text));

		ini.line++;
		if (!line.len || line.ptr[0] == '#')
			continue;
		rc = line.ptr[0] == '[' && line.len > 1 ? read_header(&ini, line)
							: read_name(&ini, line);
	}
	if (!rc)
		join_repeated(&ini);
	if (!rc && !s->count)
		rc = ut_err_set(err, -EINVAL,
				"%s: no rule in it; a section is [CATEGORY if starts "
				"with], names follow, one a line",
				name);
	return rc;
}
