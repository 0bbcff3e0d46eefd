/* test_read_split.c - tests src/analysis/acelyzer/read_split.c: what several threads read is what
 * one reads.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "acelyzer/read_input.h"
#include "support/unit.h"

#define EVENTS 60000 /* of some 170 bytes: pieces are 4 MiB and more */

/* Event i of a list; what it writes has no comma. */
typedef void put_fn(FILE *f, int i);

static void put_span(FILE *f, int i)
{
	fprintf(f,
		"{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"k_%d\",\"pid\":0,\"tid\":%d,"
		"\"ts\":%d.25,\"dur\":3,\"args\":{\"correlation\":%d,\"note\":\"%040d\"}}",
		i % 700, i % 3, 4 * i, i, i);
}

/* A string that looks as if an event started in it. */
static void put_decoy(FILE *f, int i)
{
	fprintf(f,
		"{\"args\":{\"note\":\"},{'ph':'X'},\\n{\\\"ph\\\":\\\"X\\\",\\\"ts\\\":1},{},{\"},"
		"\"name\":\"k_%d %080d\",\"ph\":\"X\",\"pid\":0,\"tid\":1,\"ts\":%d,\"dur\":1}",
		i % 7, i, 4 * i);
}

static void put_pair(FILE *f, int i)
{
	static const char form[] = "{\"attr\":{\"TS1\":\"0x%x\",\"TS2\":\"0x%x\",\"TS3\":\"0x%x\","
				   "\"TS4\":\"0x%x\",\"TS5\":\"0x%x\"},\"name\":\"k_%d Cmpt "
				   "Exec\",\"ph\":\"%c\",\"pid\":0,\"tid\":1,\"ts\":%d}";
	unsigned int x = (unsigned int)i;

	fprintf(f, form, x, x + 1, x + 2, x + 3, x + 4, i % 50, 'B', 4 * i);
	fprintf(f, ",\n");
	fprintf(f, form, x, x + 1, x + 2, x + 3, x + 4, i % 50, 'E', 4 * i + 2);
}

/* Begins in the first half, ends in the second one. */
static void put_distant_pair(FILE *f, int i)
{
	fprintf(f, "{\"name\":\"k\",\"ph\":\"%c\",\"pid\":0,\"tid\":%d,\"ts\":%d,\"n\":\"%0100d\"}",
		i < EVENTS / 2 ? 'B' : 'E', i % (EVENTS / 2), i, i);
}

static void put_no_event(FILE *f, int i)
{
	if (i % 1000)
		put_span(f, i);
	else
		fprintf(f, "%d", i);
}

static struct ut_ace_part read_file(const char *path, enum ut_ace_release release,
				    unsigned int threads)
{
	struct ut_ace_part p;
	struct ut_err err = { 0 };

	assert_int_equal(ut_ace_read(&p, path, release, threads, &err), 0);
	return p;
}

static void same_string(const struct ut_ace_part *x, uint32_t a, const struct ut_ace_part *y,
			uint32_t b)
{
	assert_string_equal(ut_ace_str(&x->table, a).ptr, ut_ace_str(&y->table, b).ptr);
}

static void same_arguments(const struct ut_ace_part *x, uint32_t a, const struct ut_ace_part *y,
			   uint32_t b)
{
	struct ut_arg one[8], two[8];
	size_t n = ut_arglists_get(&x->table.lists, a, one, 8);

	assert_int_equal(n, ut_arglists_get(&y->table.lists, b, two, 8));
	for (size_t i = 0; i < n && i < 8; i++) {
		same_string(x, one[i].key, y, two[i].key);
		assert_int_equal(one[i].type, two[i].type);
		if (one[i].type == UT_ARG_STR)
			same_string(x, one[i].value.str, y, two[i].value.str);
		else
			assert_int_equal(one[i].value.u64, two[i].value.u64);
	}
}

static void same_event(const struct ut_ace_part *x, const struct ut_ace_part *y, size_t i)
{
	const struct ut_ace_event *a = &x->table.events[i], *b = &y->table.events[i];

	assert_true(a->ts == b->ts && a->dur == b->dur);
	assert_int_equal(a->flags, b->flags);
	assert_int_equal(a->ph, b->ph);
	assert_int_equal(x->table.ids[a->pid].num, y->table.ids[b->pid].num);
	assert_int_equal(x->table.ids[a->tid].num, y->table.ids[b->tid].num);
	assert_memory_equal(&x->table.devs[a->dev], &y->table.devs[b->dev],
			    sizeof(struct ut_ace_dev));
	same_string(x, a->name, y, b->name);
	same_string(x, a->cat, y, b->cat);
	same_arguments(x, a->args, y, b->args);
	same_arguments(x, a->extra, y, b->extra);
}

/* Head and tail are what stands around the events. */
static void check(const char *head, put_fn *put, const char *tail)
{
	char path[] = "/tmp/unitrace-test-XXXXXX.json";
	FILE *f = fdopen(mkstemps(path, 5), "w");
	struct ut_ace_part one, many;

	assert_non_null(f);
	fputs(head, f);
	for (int i = 0; i < EVENTS; i++) {
		fputs(i ? ",\n" : "", f);
		put(f, i);
	}
	fputs(tail, f);
	fclose(f);
	one = read_file(path, UT_ACE_1_0, 1);
	many = read_file(path, UT_ACE_1_0, 3);
	unlink(path);
	assert_int_equal(one.table.event_count, many.table.event_count);
	for (size_t i = 0; i < one.table.event_count; i++)
		same_event(&one, &many, i);
	assert_int_equal(one.not_events, many.not_events);
	assert_int_equal(one.stray_ends, many.stray_ends);
	assert_int_equal(one.open_begins, many.open_begins);
	assert_int_equal(one.cut_at, many.cut_at);
	assert_int_equal(one.dialect, many.dialect);
	assert_int_equal(one.rank, many.rank);
	assert_int_equal(one.meta_count, many.meta_count);
	ut_ace_part_release(&one);
	ut_ace_part_release(&many);
}

static void spans_of_a_list_and_of_an_object(void **state)
{
	(void)state;
	check("[", put_span, "]");
	check("{\"deviceProperties\":[],\"traceEvents\":[", put_span,
	      "],\"distributedInfo\":{\"rank\":3},\"more\":1}");
}

static void pairs_stay_together(void **state)
{
	(void)state;
	check("[", put_pair, "]");
}

static void begins_and_ends_in_different_pieces_find_each_other(void **state)
{
	(void)state;
	check("[", put_distant_pair, "]");
}

static void a_cut_that_was_a_wrong_guess_does_no_harm(void **state)
{
	(void)state;
	check("[", put_decoy, "]");
}

static void what_is_no_event_is_counted_and_a_cut_file_is_reported(void **state)
{
	(void)state;
	check("[", put_no_event, "]");
	check("[", put_span, "");
}

UT_TESTS(read_split)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(spans_of_a_list_and_of_an_object),
		cmocka_unit_test(pairs_stay_together),
		cmocka_unit_test(begins_and_ends_in_different_pieces_find_each_other),
		cmocka_unit_test(a_cut_that_was_a_wrong_guess_does_no_harm),
		cmocka_unit_test(what_is_no_event_is_counted_and_a_cut_file_is_reported),
	};

	return cmocka_run_group_tests_name("acelyzer/read_split", tests, NULL, NULL);
}
