#include "read/read_options.h"

#include <errno.h>
#include <string.h>

#include "analyze/filter_options.h"
#include "base/opt.h"
#include "base/str.h"

static const struct ut_opt *read_options_make_table(struct ut_read_options *o)
{
	const struct ut_opt own[] = {
		ut_opt_str(0, "by", "WHAT", &o->by, ""),
		ut_opt_str(0, "sort", "COLUMN", &o->sort, ""),
		ut_opt_u64(0, "limit", "N", &o->limit, ""),
		ut_opt_u64(0, "min-count", "N", &o->min_count, ""),
		ut_opt_u64(0, "max-slices", "N", &o->max_slices, ""),
		ut_opt_str(0, "title", "TEXT", &o->title, ""),
	};

	return ut_filter_table(&o->arena, own, sizeof(own) / sizeof(own[0]), &o->events);
}

/* "min_dur=20us" is "--min-dur=20us" to the command line. */
static const char *as_word(struct ut_arena *a, const char *option)
{
	char *word = ut_str_fmt(a, "--%s", option);

	for (char *c = word; *c && *c != '='; c++) {
		if (*c == '_')
			*c = '-';
	}
	return word;
}

int ut_read_options_parse(struct ut_read_options *o, const char *const *options, struct ut_err *err)
{
	size_t count = 0;
	const char **words;
	int rc;

	o->by = "name";
	while (options && options[count])
		count++;
	words = UT_NEW_N(&o->arena, const char *, count + 1);
	for (size_t i = 0; i < count; i++) {
		if (!strchr(options[i], '='))
			return ut_err_set(err, -EINVAL, "'%s' is no option: KEY=VALUE", options[i]);
		words[i] = as_word(&o->arena, options[i]);
	}
	rc = ut_opt_parse(read_options_make_table(o), (int)count, words, err);
	return rc < 0 ? rc : ut_filter_init(&o->filter, &o->events, err);
}

void ut_read_options_release(struct ut_read_options *o)
{
	if (o->filter.opts)
		ut_filter_release(&o->filter);
	ut_filter_opts_release(&o->events);
	ut_arena_release(&o->arena);
}
