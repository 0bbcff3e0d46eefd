/* test_jit_code.c - tests src/trace/import/cpu/jit_code.h: who was at an address, and when. */
#include "import/cpu/jit_code.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "model/trace.h"
#include "support/unit.h"

static struct ut_trace trace;
static struct ut_jit_code jit;

static const char *function_at(uint64_t address, uint64_t time)
{
	struct ut_place_in_code code;

	if (!ut_jit_code_find(&jit, address, time, &code))
		return "";
	return ut_strtab_get(&trace.strings, code.function).ptr;
}

static void read_map(const char *text)
{
	ut_jit_code_read_map(&jit, text, strlen(text));
}

static void lines_of_a_map_are_functions(void **state)
{
	(void)state;
	read_map("1000 10 one\n0x2000 20 a name with blanks\n3000 1 cut");
	assert_string_equal(function_at(0xfff, 0), "");
	assert_string_equal(function_at(0x1000, 0), "one");
	assert_string_equal(function_at(0x100f, 0), "one");
	assert_string_equal(function_at(0x1010, 0), "");
	assert_string_equal(function_at(0x201f, 0), "a name with blanks");
	assert_string_equal(function_at(0x3000, 0), "");
}

static void what_is_no_line_of_a_map_is_left_out(void **state)
{
	(void)state;
	read_map("\n\nx\n10\n10 \n10 10\n10 10 \n10 0 empty\nffffffffffffffff 10 far\n"
		 "0 ffffffffffffffff all\n11111111111111111 1 long\n20 8 good\n");
	assert_int_equal(jit.count, 1);
	assert_string_equal(function_at(0x20, 0), "good");
}

static void the_last_one_reported_is_there(void **state)
{
	(void)state;
	read_map("1000 100 old\n1040 10 new\n1000 20 newest\n");
	assert_string_equal(function_at(0x1000, 0), "newest");
	assert_string_equal(function_at(0x1030, 0), "old");
	assert_string_equal(function_at(0x1045, 0), "new");
	assert_string_equal(function_at(0x1060, 0), "old");
}

static uint32_t text(const char *s)
{
	return ut_strtab_intern_z(&trace.strings, s);
}

static void who_was_there_at_a_time_is_found(void **state)
{
	struct ut_place_in_code code;

	(void)state;
	ut_jit_code_add(&jit, &(struct ut_jit_function){
				      .start = 100, .end = 200, .time = 10, .name = text("a") });
	ut_jit_code_add(&jit, &(struct ut_jit_function){
				      .start = 150, .end = 250, .time = 20, .name = text("b") });
	assert_string_equal(function_at(160, 5), "a"); /* told a little late */
	assert_string_equal(function_at(160, 10), "a");
	assert_string_equal(function_at(160, 19), "a");
	assert_string_equal(function_at(160, 20), "b");
	assert_string_equal(function_at(120, 30), "a");
	assert_int_equal(ut_jit_code_find(&jit, 120, 30, &code), 1);
	assert_int_equal(ut_jit_code_find(&jit, 160, 30, &code), 2);
}

static void lines_of_itt_say_where_they_end(void **state)
{
	struct ut_place_in_code code;

	(void)state;
	ut_jit_code_add_line(&jit, &(struct ut_jit_line){ 104, 7, 0 });
	ut_jit_code_add_line(&jit, &(struct ut_jit_line){ 110, 9, 0 });
	ut_jit_code_add(&jit, &(struct ut_jit_function){ .start = 100,
							 .end = 120,
							 .name = text("f"),
							 .file = text("f.src"),
							 .lines_end = true });
	assert_int_equal(ut_jit_code_find(&jit, 100, 0, &code), 1);
	assert_int_equal(code.line, 7);
	assert_string_equal(ut_strtab_get(&trace.strings, code.file).ptr, "f.src");
	ut_jit_code_find(&jit, 103, 0, &code);
	assert_int_equal(code.line, 7);
	ut_jit_code_find(&jit, 104, 0, &code);
	assert_int_equal(code.line, 9);
	ut_jit_code_find(&jit, 110, 0, &code);
	assert_int_equal(code.line, 0);
}

static void names_of_v8_are_function_file_and_line(void **state)
{
	static const struct {
		const char *text, *function, *file;
		uint32_t line;
	} cases[] = {
		{ "JS:*fib /srv/app.js:3:14", "fib", "/srv/app.js", 3 },
		{ "LazyCompile:~go file:///a b/x.mjs:12:1", "go file:///a", "b/x.mjs", 12 },
		{ "JS:^ /srv/app.js:3:14", "JS:^ /srv/app.js:3:14", "", 0 },
		{ "JS:*fib native", "JS:*fib native", "", 0 },
		{ "Builtin:ArrayMap", "Builtin:ArrayMap", "", 0 },
		{ "JS:", "JS:", "", 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct ut_jit_function f = { .start = i * 16, .end = i * 16 + 16 };
		struct ut_place_in_code code;

		f.text = cases[i].text;
		f.text_len = strlen(f.text);
		ut_jit_code_add(&jit, &f);
		assert_int_equal(ut_jit_code_find(&jit, i * 16, 0, &code), 1);
		assert_string_equal(ut_strtab_get(&trace.strings, code.function).ptr,
				    cases[i].function);
		assert_string_equal(ut_strtab_get(&trace.strings, code.file).ptr, cases[i].file);
		assert_int_equal(code.line, cases[i].line);
	}
}

/* ---- jitdump ------------------------------------------------------------------------------- */

static struct {
	char bytes[4096];
	size_t len;
} dump;

static void put(const void *bytes, size_t len)
{
	memcpy(dump.bytes + dump.len, bytes, len);
	dump.len += len;
}

static void put32(uint32_t value)
{
	put(&value, sizeof(value));
}

static void put64(uint64_t value)
{
	put(&value, sizeof(value));
}

static void put_header(uint64_t flags)
{
	dump.len = 0;
	put32(0x4a695444);
	put32(1);
	put32(40);
	put32(62);
	put32(0);
	put32(4711);
	put64(0);
	put64(flags);
}

static void put_load(uint64_t time, uint64_t address, const char *name)
{
	put32(0);
	put32((uint32_t)(16 + 40 + strlen(name) + 1 + 4));
	put64(time);
	put32(4711);
	put32(4711);
	put64(address);
	put64(address);
	put64(4);
	put64(1);
	put(name, strlen(name) + 1);
	put32(0);
}

static void put_move(uint64_t time, uint64_t from, uint64_t to)
{
	put32(1);
	put32(16 + 48);
	put64(time);
	put32(4711);
	put32(4711);
	put64(to);
	put64(from);
	put64(to);
	put64(4);
	put64(1);
}

static void put_lines(uint64_t address)
{
	put32(2);
	put32(16 + 16 + 16 + 2 + 16 + 2);
	put64(0);
	put64(address);
	put64(2);
	put64(address);
	put32(5);
	put32(0);
	put("f", 2);
	put64(address + 2);
	put32(6);
	put32(0);
	put("\xff", 2);
}

static void records_of_a_dump_are_functions(void **state)
{
	struct ut_place_in_code code;

	(void)state;
	put_header(0);
	put_lines(0x1000);
	put_load(10, 0x1000, "first");
	put_load(20, 0x1000, "second");
	put_move(30, 0x1000, 0x2000);
	ut_jit_code_read_dump(&jit, dump.bytes, dump.len);
	assert_string_equal(function_at(0x1001, 15), "first");
	assert_string_equal(function_at(0x1001, 25), "second");
	assert_string_equal(function_at(0x2001, 35), "second");
	ut_jit_code_find(&jit, 0x1003, 15, &code);
	assert_int_equal(code.line, 6);
	assert_string_equal(ut_strtab_get(&trace.strings, code.file).ptr, "f");
}

/* Every beginning of a sound file, and each byte of it changed, is read without harm. */
static void a_dump_that_is_cut_or_damaged_is_read_as_far_as_it_goes(void **state)
{
	char *copy;

	(void)state;
	put_header(1);
	put_lines(0x1000);
	put_load(10, 0x1000, "first");
	put_move(30, 0x1000, 0x2000);
	for (size_t len = 0; len <= dump.len; len++) {
		copy = malloc(len + !len);
		memcpy(copy, dump.bytes, len);
		ut_jit_code_read_dump(&jit, copy, len);
		(void)function_at(0x1001, 0);
		ut_jit_code_release(&jit);
		ut_jit_code_init(&jit, &trace);
		free(copy);
	}
	for (size_t i = 0; i < dump.len; i++) {
		copy = malloc(dump.len);
		memcpy(copy, dump.bytes, dump.len);
		copy[i] = (char)(copy[i] ^ 0xff);
		ut_jit_code_read_dump(&jit, copy, dump.len);
		(void)function_at(0x1001, 0);
		ut_jit_code_release(&jit);
		ut_jit_code_init(&jit, &trace);
		free(copy);
	}
}

static int set_up(void **state)
{
	(void)state;
	ut_trace_init(&trace);
	ut_jit_code_init(&jit, &trace);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	ut_jit_code_release(&jit);
	ut_trace_release(&trace);
	return 0;
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

UT_TESTS(jit_code)
{
	const struct CMUnitTest tests[] = {
		TEST(lines_of_a_map_are_functions),
		TEST(what_is_no_line_of_a_map_is_left_out),
		TEST(the_last_one_reported_is_there),
		TEST(who_was_there_at_a_time_is_found),
		TEST(lines_of_itt_say_where_they_end),
		TEST(names_of_v8_are_function_file_and_line),
		TEST(records_of_a_dump_are_functions),
		TEST(a_dump_that_is_cut_or_damaged_is_read_as_far_as_it_goes),
	};

	return cmocka_run_group_tests_name("import/jit_code", tests, NULL, NULL);
}
