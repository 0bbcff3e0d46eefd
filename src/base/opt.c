#include "base/opt.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/str.h"

#define HELP_COLUMN 34 /* where the explanations start */
#define HELP_WIDTH  100

void ut_opt_list_add(struct ut_opt_list *list, const char *item)
{
	const char **items = realloc(list->items, (list->count + 1) * sizeof(*items));

	if (!items)
		abort();
	items[list->count++] = item;
	list->items = items;
}

void ut_opt_list_release(struct ut_opt_list *list)
{
	free(list->items);
	*list = (struct ut_opt_list){ 0 };
}

bool ut_opt_has_value(const struct ut_opt *o)
{
	return o->type != UT_OPT_FLAG && o->type != UT_OPT_HEADING && o->arg && !o->optional;
}

struct ut_opt *ut_opt_copy(struct ut_arena *a, const struct ut_opt *table, size_t count)
{
	struct ut_opt *copy = UT_NEW_N(a, struct ut_opt, count);

	memcpy(copy, table, count * sizeof(*copy));
	return copy;
}

/* Two names of one thing: a prefix that fits both is not ambiguous. */
static bool same_target(const struct ut_opt *a, const struct ut_opt *b)
{
	return a->type == b->type && a->dst.ctx == b->dst.ctx && a->call == b->call && a->dst.ctx;
}

static bool is_exact(const struct ut_opt *o, const char *name, size_t len)
{
	return o->name && !strncmp(o->name, name, len) && !o->name[len];
}

static const struct ut_opt *find_exact(const struct ut_opt *table, const char *name, size_t len)
{
	for (; table->type; table++) {
		if (is_exact(table, name, len))
			return table;
	}
	return NULL;
}

static void complain_ambiguous(const struct ut_opt *table, const char *name, size_t len,
			       struct ut_err *err)
{
	struct ut_buf names = { 0 };

	for (; table->type; table++) {
		if (table->name && !table->hidden && !strncmp(table->name, name, len))
			ut_buf_fmt(&names, "%s --%s", names.len ? "," : "", table->name);
	}
	ut_err_set(err, -EINVAL, "option '--%.*s' is ambiguous:%s", (int)len, name, names.data);
	ut_buf_release(&names);
}

static void complain_unknown(const struct ut_opt *table, const char *word, const char *name,
			     struct ut_err *err)
{
	const struct ut_opt *meant = NULL;
	unsigned int distance = 99;
	char typed[64];

	snprintf(typed, sizeof(typed), "%.*s", (int)strcspn(name, "="), name);
	for (; table->type; table++) {
		if (table->name && !table->hidden && ut_str_closer(typed, table->name, &distance))
			meant = table;
	}
	if (meant)
		ut_err_set(err, -EINVAL, "unknown option '%s'; did you mean --%s?", word,
			   meant->name);
	else
		ut_err_set(err, -EINVAL, "unknown option '%s'", word);
}

/* Both return NULL with *err set if word is no option, or not clearly one. */
static const struct ut_opt *find_long(const struct ut_opt *table, const char *word,
				      struct ut_err *err)
{
	const char *name = word + 2;
	size_t len = strcspn(name, "=");
	const struct ut_opt *found = find_exact(table, name, len);

	if (found)
		return found;
	for (const struct ut_opt *o = table; len && o->type; o++) {
		if (!o->name || o->hidden || strncmp(o->name, name, len))
			continue;
		if (found && !same_target(found, o)) {
			complain_ambiguous(table, name, len, err);
			return NULL;
		}
		found = o;
	}
	if (!found)
		complain_unknown(table, word, name, err);
	return found;
}

/* -vvv: how often a letter is said; 0 if it is not alone. */
static size_t times_said(const char *word)
{
	size_t n = strspn(word + 1, (const char[]){ word[1], '\0' });

	return word[1] != '-' && !word[1 + n] ? n : 0;
}

static const struct ut_opt *find_short(const struct ut_opt *table, const char *word,
				       struct ut_err *err)
{
	/* -output is a slip for --output, not -o with the value "utput". */
	bool is_slip = word[2] && find_exact(table, word + 1, strcspn(word + 1, "="));

	for (const struct ut_opt *o = table; !is_slip && o->type; o++) {
		if (o->letter && o->letter == word[1] &&
		    (!word[2] || ut_opt_has_value(o) ||
		     (o->type == UT_OPT_CALL && times_said(word))))
			return o;
	}
	complain_unknown(table, word, word + 1, err);
	return NULL;
}

static int parse_u64(const char *text, uint64_t min, uint64_t max, uint64_t *out)
{
	char *end;

	if (!isdigit((unsigned char)text[0]))
		return -EINVAL;
	errno = 0;
	*out = strtoull(text, &end, 10);
	return *end || errno || *out < min || *out > max ? -EINVAL : 0;
}

static int store_u64(const struct ut_opt *o, const char *value, struct ut_err *err)
{
	uint64_t number;

	if (parse_u64(value, o->min, o->max, &number)) {
		if (o->max == UINT64_MAX)
			return ut_err_set(err, -EINVAL,
					  "--%s takes a whole number from %llu, not '%s'", o->name,
					  (unsigned long long)o->min, value);
		return ut_err_set(err, -EINVAL,
				  "--%s takes a whole number from %llu to %llu, not '%s'", o->name,
				  (unsigned long long)o->min, (unsigned long long)o->max, value);
	}
	*o->dst.u64 = number;
	return 0;
}

static int store_call(const struct ut_opt *o, const char *value, struct ut_err *err)
{
	struct ut_err inner = { 0 };
	int rc = o->call(o->dst.ctx, value, &inner);

	if (rc < 0)
		ut_err_set(err, rc, "--%s: %s", o->name, inner.text);
	return rc < 0 ? rc : 0;
}

static int store(const struct ut_opt *o, const char *value, struct ut_err *err)
{
	switch (o->type) {
	case UT_OPT_FLAG:
		*o->dst.flag = true;
		return 0;
	case UT_OPT_STR:
		*o->dst.str = value;
		return 0;
	case UT_OPT_U64:
		return store_u64(o, value, err);
	case UT_OPT_LIST:
		ut_opt_list_add(o->dst.list, value);
		return 0;
	case UT_OPT_CALL:
		return store_call(o, value, err);
	case UT_OPT_END:
	case UT_OPT_HEADING:
		break;
	}
	return -EINVAL;
}

/* The value glued to the word itself: --name=value, -ovalue, -o=value. NULL if none. */
static const char *glued_value(const char *word)
{
	const char *eq;

	if (word[1] != '-')
		return !word[2] ? NULL : word[2] == '=' ? word + 3 : word + 2;
	eq = strchr(word, '=');
	return eq ? eq + 1 : NULL;
}

int ut_opt_parse(const struct ut_opt *table, int argc, const char *const *argv, struct ut_err *err)
{
	int i = 0;

	while (i < argc && argv[i][0] == '-' && argv[i][1]) {
		const char *word = argv[i++];
		const char *value = glued_value(word);
		const struct ut_opt *o;
		int rc;

		if (!strcmp(word, "--"))
			break;
		o = word[1] == '-' ? find_long(table, word, err) : find_short(table, word, err);
		if (!o)
			return -EINVAL;
		if (o->type == UT_OPT_CALL && !ut_opt_has_value(o) && times_said(word) > 1) {
			for (size_t n = times_said(word); n > 1; n--)
				(void)store_call(o, NULL, err);
			value = NULL;
		}
		if (!ut_opt_has_value(o) && value && !o->optional)
			return ut_err_set(err, -EINVAL, "--%s takes no value", o->name);
		if (ut_opt_has_value(o) && !value) {
			if (i == argc)
				return ut_err_set(err, -EINVAL, "--%s needs a value: %s", o->name,
						  o->arg);
			value = argv[i++];
		}
		rc = store(o, value, err);
		if (rc)
			return rc;
	}
	return i;
}

/* Text in a column of its own: words are wrapped at HELP_WIDTH. at = the current column. */
static void wrap(FILE *to, const char *text, int at)
{
	if (at >= HELP_COLUMN) {
		fputc('\n', to);
		at = 0;
	}
	fprintf(to, "%*s", HELP_COLUMN - at, "");
	at = HELP_COLUMN;
	while (*text) {
		int len = (int)strcspn(text, " ");

		if (at > HELP_COLUMN && at + 1 + len > HELP_WIDTH) {
			fprintf(to, "\n%*s", HELP_COLUMN, "");
			at = HELP_COLUMN;
		}
		at += fprintf(to, "%s%.*s", at > HELP_COLUMN ? " " : "", len, text);
		text += len;
		text += *text == ' ';
	}
	fputc('\n', to);
}

void ut_opt_help(FILE *to, const struct ut_opt *table)
{
	for (const struct ut_opt *o = table; o->type; o++) {
		int at;

		if (o->hidden)
			continue;
		if (o->type == UT_OPT_HEADING) {
			fprintf(to, "%s%s:\n", o == table ? "" : "\n", o->help);
			continue;
		}
		at = o->letter ? fprintf(to, "  -%c, ", o->letter) : fprintf(to, "      ");
		at += fprintf(to, "--%s", o->name);
		if (ut_opt_has_value(o))
			at += fprintf(to, " %s", o->arg);
		else if (o->optional)
			at += fprintf(to, "[=%s]", o->arg);
		wrap(to, o->help, at);
	}
}
