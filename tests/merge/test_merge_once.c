/* test_merge_once.c - tests when ut_merge_once() of src/analysis/merge/merge_text.h is enough */
#include "merge/merge_text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "mpijob/mpijob.h"
#include "support/unit.h"

#define FILES  2
#define EVENTS 20000

struct place {
	char folder[32], paths[FILES][64], output[64];
};

static void write_file(const char *path, int rank, const char *middle)
{
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	fprintf(f,
		"{\"traceEvents\":[\n{\"ph\":\"M\",\"pid\":%d,\"name\":\"process_name\","
		"\"args\":{\"name\":\"a\"}}",
		rank);
	for (int i = 0; i < EVENTS; i++) {
		fprintf(f,
			",\n{\"ph\":\"X\",\"pid\":%d,\"tid\":1,\"ts\":%d,\"dur\":1,\"name\":"
			"\"step\"}",
			rank, 10 + i);
		if (i == EVENTS / 2 && middle)
			fprintf(f, ",\n%s", middle);
	}
	fprintf(f, "\n]}\n");
	assert_int_equal(fclose(f), 0);
}

static void make_place(struct place *p, const char *middle)
{
	strcpy(p->folder, "/tmp/ut_once_XXXXXX");
	assert_non_null(mkdtemp(p->folder));
	snprintf(p->output, sizeof(p->output), "%s/out.json", p->folder);
	for (int i = 0; i < FILES; i++) {
		snprintf(p->paths[i], sizeof(p->paths[i]), "%s/%d.json", p->folder, i);
		write_file(p->paths[i], i, middle);
	}
}

static void remove_place(const struct place *p)
{
	for (int i = 0; i < FILES; i++)
		unlink(p->paths[i]);
	unlink(p->output);
	rmdir(p->folder);
}

/* Was one look enough? Without a result nothing is left, in memory and on disk. */
static bool merged_once(const char *middle, const char *output)
{
	struct ut_mpijob job = { .ranks = 1 };
	struct ut_progress progress = { 0 };
	struct ut_merge_file files[FILES] = { { 0 } };
	uint64_t sizes[FILES];
	struct ut_merge m = { .quiet = true,
			      .threads = 2,
			      .job = &job,
			      .files = files,
			      .count = FILES,
			      .sizes = sizes,
			      .progress = &progress };
	struct place p;
	struct stat st;
	bool once;

	make_place(&p, middle);
	m.output = output ? output : p.output;
	for (int i = 0; i < FILES; i++) {
		assert_int_equal(stat(p.paths[i], &st), 0);
		sizes[i] = (uint64_t)st.st_size;
		files[i].path = files[i].name = p.paths[i];
	}
	once = ut_merge_once(&m);
	assert_int_equal(!access(p.output, F_OK), once);
	if (once)
		assert_int_equal(m.events, FILES * (EVENTS + 1 + (middle != NULL)));
	for (int i = 0; i < FILES; i++) {
		assert_int_equal(files[i].facts.events != 0, once);
		ut_facts_release(&files[i].facts);
	}
	remove_place(&p);
	return once;
}

static void one_look_is_enough_if_the_ends_suffice(void **state)
{
	(void)state;
	assert_true(merged_once(NULL, NULL));
}

static void surprises_in_the_middle_need_two(void **state)
{
	(void)state;
	assert_false(merged_once("{\"ph\":\"i\",\"pid\":7,\"ts\":5,\"name\":\"new\"}", NULL));
	assert_false(merged_once("{\"ph\":\"b\",\"pid\":0,\"ts\":5,\"id\":3,\"cat\":\"c\","
				 "\"name\":\"pairs\"}",
				 NULL));
	assert_false(merged_once("{\"ph\":\"i\",\"pid\":0,\"ts\":5,\"name\":\"comma\",}", NULL));
	assert_false(merged_once("17", NULL));
}

static void what_cannot_be_taken_back_is_not_guessed_at(void **state)
{
	(void)state;
	assert_false(merged_once(NULL, "-"));
	assert_false(merged_once(NULL, "/dev/null"));
}

UT_TESTS(merge_once)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_look_is_enough_if_the_ends_suffice),
		cmocka_unit_test(surprises_in_the_middle_need_two),
		cmocka_unit_test(what_cannot_be_taken_back_is_not_guessed_at),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
