/* test_sample_stacks.c - samples as the page asks for them (src/analysis/view/sample_stacks.h): of
 * all, of a stretch of time, of a thread; code is read only where it may be, and only what is
 * called like source. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "analyze/make_store.h"
#include "base/str.h"
#include "sample/make_samples.h"
#include "support/unit.h"
#include "text/out.h"
#include "view/view.h"

static char folder[] = "/tmp/ut_stacks_XXXXXX";

/* Samples at 1000 and 2000 on one thread, at 2500 on another; frames name files of the folder. */
static struct ut_view *make_view(bool code)
{
	struct ut_view *v = ut_view_new();
	struct ut_store store;
	struct maker m;
	char stack[256];
	uint32_t main_thread, worker;

	make_start(&m);
	main_thread = make_track(&m, UT_TRACK_THREAD, 1, "main");
	worker = make_track(&m, UT_TRACK_THREAD, 2, "worker");
	make_span(&m, main_thread, "pack", 500, 1000);
	snprintf(stack, sizeof(stack), "main@/app;sort@/app:%s/sort.c:2", folder);
	make_sample(&m, main_thread, 1000, stack, 10);
	make_sample(&m, main_thread, 2000, "main@/app", 20);
	snprintf(stack, sizeof(stack), "steal@/app:%s/id_rsa:2", folder);
	make_sample(&m, worker, 2500, stack, 40);
	make_finish(&m, &store);
	ut_view_add(v, "run.utr", &store);
	ut_view_ready(v, 1);
	if (code)
		ut_view_allow_code(v);
	return v;
}

static char *ask(struct ut_view *v, const char *method, const char *question)
{
	struct ut_out *out = ut_out_open_memory();
	struct ut_err err = { 0 };
	enum ut_answer kind;
	const char *data;
	char *copy;
	size_t len;

	assert_int_equal(ut_view_ask(v, method, ut_str_of(question), out, &kind, &err), 0);
	data = ut_out_data(out, &len);
	copy = calloc(1, len + 1);
	memcpy(copy, data, len);
	ut_out_abandon(out);
	return copy;
}

static void assert_has(const char *text, const char *part)
{
	if (!strstr(text, part))
		fail_msg("no '%s' in %s", part, text);
}

static void assert_lacks(const char *text, const char *part)
{
	if (strstr(text, part))
		fail_msg("'%s' in %s", part, text);
}

static void the_whole_is_a_tree(void **state)
{
	struct ut_view *v = make_view(false);
	char *got = ask(v, "stacks", "{\"scope\":{}}");

	(void)state;
	assert_has(got, "\"event\":\"cpu-clock\",\"events\":[\"cpu-clock\"],\"unit\":\"ns\"");
	assert_has(got, "\"weight\":70,\"samples\":3,\"span\":1500");
	assert_has(got, "\"self\":[0,20,10,40]");
	assert_has(got, "\"parent\":[0,0,1,0]");
	assert_has(got, "\"verdict\":[{");
	assert_null(strchr(got, '\n')); /* an answer is a line */
	free(got);
	ut_view_free(v);
}

static void ranges_and_tracks_narrow_it(void **state)
{
	struct ut_view *v = make_view(false);
	/* the view begins at 500 */
	char *early = ask(v, "stacks", "{\"scope\":{\"ranges\":[[0,501]]}}");
	char *edges = ask(v, "stacks", "{\"scope\":{\"ranges\":[[500,501],[1500,2000]]}}");
	char *one = ask(v, "stacks", "{\"scope\":{\"tracks\":[1]}}");
	char *none = ask(v, "stacks", "{\"scope\":{\"tracks\":[77]}}");

	(void)state;
	assert_has(early, "\"weight\":10,\"samples\":1");
	assert_has(edges, "\"weight\":30,\"samples\":2,\"span\":1000");
	assert_has(one, "\"weight\":40,\"samples\":1");
	assert_has(none, "\"weight\":0,\"samples\":0");
	free(early);
	free(edges);
	free(one);
	free(none);
	ut_view_free(v);
}

#define SORT  "{\"scope\":{},\"name\":\"sort\",\"module\":\"/app\",\"kind\":\"source\"}"
#define STEAL "{\"scope\":{},\"name\":\"steal\",\"module\":\"/app\",\"kind\":\"source\"}"

static void source_is_shown_to_who_may_see_it(void **state)
{
	struct ut_view *ours = make_view(true), *theirs = make_view(false);
	char *shown = ask(ours, "annotate", SORT), *hidden = ask(theirs, "annotate", SORT);

	(void)state;
	assert_has(shown, "\"self_ns\":10");
	assert_has(shown, "swap them");
	assert_has(shown, "before it"); /* lines around */
	assert_has(hidden, "\"self_ns\":10");
	assert_lacks(hidden, "swap them");
	free(shown);
	free(hidden);
	ut_view_free(ours);
	ut_view_free(theirs);
}

static void what_is_not_called_like_source_is_not_read(void **state)
{
	struct ut_view *v = make_view(true);
	char *one = ask(v, "annotate", STEAL);
	char *all = ask(v, "sheet", "{\"tool\":\"hotspots\",\"name\":\"code\"}");

	(void)state;
	assert_has(one, "\"self_ns\":40");
	assert_lacks(one, "secret");
	assert_has(all, "swap them");
	assert_lacks(all, "secret");
	free(one);
	free(all);
	ut_view_free(v);
}

static void what_nobody_ran_has_no_code(void **state)
{
	struct ut_view *v = make_view(true);
	char *got =
		ask(v, "annotate",
		    "{\"scope\":{},\"name\":\"other\",\"module\":\"/app\",\"kind\":\"assembly\"}");

	(void)state;
	assert_has(got, "{\"rows\":[],\"notes\":[\"no sample has a function 'other'");
	free(got);
	got = ask(v, "annotate", "{}");
	assert_has(got, "\"rows\":[]");
	free(got);
	ut_view_free(v);
}

static void write_file(const char *name, const char *text)
{
	char path[256];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	f = fopen(path, "w");
	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

static int make_folder(void **state)
{
	(void)state;
	assert_non_null(mkdtemp(folder));
	write_file("sort.c", "before it\nswap them\nbehind it\n");
	write_file("id_rsa", "first\nsecret\n");
	return 0;
}

static int remove_folder(void **state)
{
	static const char *const names[] = { "sort.c", "id_rsa", "" };
	char path[256];

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		snprintf(path, sizeof(path), "%s/%s", folder, names[i]);
		remove(path);
	}
	return 0;
}

UT_TESTS(sample_stacks)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_whole_is_a_tree),
		cmocka_unit_test(ranges_and_tracks_narrow_it),
		cmocka_unit_test(source_is_shown_to_who_may_see_it),
		cmocka_unit_test(what_is_not_called_like_source_is_not_read),
		cmocka_unit_test(what_nobody_ran_has_no_code),
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
