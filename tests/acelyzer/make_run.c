#include "make_run.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "acelyzer/file_merge.h"
#include "acelyzer/write_event.h"
#include "text/out.h"

#define MOST_FILES 16

struct ut_ace_opts make_opts(void)
{
	return (struct ut_ace_opts){
		.soc = 1000,
		.core = 1100,
		.counters = UT_ACE_POWER_TS4 | UT_ACE_COLL_BW | UT_ACE_PREP_QUEUE | UT_ACE_RCU_UTIL,
		.tid_streams = 5,
		.stats = true,
		.refine = true,
		.keep_phases = "",
		.limit = { .count = INT64_MAX, .ts_end = 1e300, .free_types = "M" },
		.threads = 1,
	};
}

void make_run(struct ut_ace_analysis *a, const struct ut_ace_opts *opts, const char *const *texts)
{
	struct ut_ace_part parts[MOST_FILES];
	struct ut_err err = { 0 };
	size_t n = 0;

	for (; texts[n]; n++) {
		char path[] = "dir/job-0.json";

		path[8] = (char)('a' + n);
		assert_true(n < MOST_FILES);
		assert_int_equal(ut_ace_read_text(&parts[n], path, texts[n], strlen(texts[n]),
						  opts->release, &err),
				 0);
		ut_ace_finalize(&parts[n], opts->release);
	}
	ut_ace_init(a, opts);
	ut_ace_merge(&a->table, parts, n);
	for (size_t i = 0; i < n; i++)
		ut_ace_part_release(&parts[i]);
}

char *event_text(const struct ut_ace_analysis *a, size_t i)
{
	struct ut_out *o = ut_out_open_memory();
	struct ut_ace_writer w;
	char *text;
	size_t len;

	assert_true(i < a->table.seq_count);
	ut_ace_writer_init(&w, a, o);
	ut_ace_put_event(&w, &a->table.events[a->table.seq[i]]);
	text = strndup(ut_out_data(o, &len), 1u << 20);
	text[len] = '\0';
	ut_ace_writer_release(&w);
	ut_out_abandon(o);
	return text;
}

const char *said(const struct ut_ace_analysis *a, const char *text)
{
	for (size_t i = a->messages.count; i--;) {
		if (strstr(a->messages.items[i].text, text))
			return a->messages.items[i].text;
	}
	return NULL;
}
