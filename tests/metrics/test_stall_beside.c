/* test_stall_beside.c - tests src/analysis/metrics/stall_beside.h: which folders beside a trace are
 * looked into, and what is said where nothing is found.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

#include "base/path.h"
#include "metrics/stall_beside.h"
#include "metrics/stall_report.h"
#include "support/unit.h"

static struct ut_arena arena;
static char folder[] = "/tmp/ut_beside_XXXXXX";

static const char *at(const char *name)
{
	return ut_path_join(&arena, folder, name);
}

/* Folders on the way are made. */
static void write_file(const char *name, const char *text)
{
	const char *path = at(name);
	FILE *f;

	assert_int_equal(ut_path_mkdirs(ut_path_dir(&arena, path), NULL), 0);
	f = fopen(path, "w");
	assert_non_null(f);
	assert_true(fputs(text, f) >= 0);
	fclose(f);
}

static const char dump[] = "//.kernel foo\n"
			   "        mov (16|M0) r1 r2 {Compacted} // $13\n"
			   "        sync.nop null {Compacted,$5.dst} // $15\n";

/* Code of foo whose first instruction is this one. */
static const char *sass(const char *first)
{
	return ut_str_fmt(&arena,
			  "\t.section\t.text.foo,\"ax\",@progbits\nfoo:\n.text.foo:\n"
			  "        /*0000*/ %s ; /* 0x0000000000007981 */\n"
			  "                      /* 0x000e220000000000 */\n"
			  "        /*0010*/ EXIT ; /* 0x0000000000007982 */\n"
			  "                        /* 0x000e620000000000 */\n",
			  first);
}

static int find(struct ut_stall_result *r, const char *module, const char *trace,
		struct ut_err *err)
{
	static const struct ut_str titles[] = { { "Active[Events]", 14 },
						{ "WaitStall[Events]", 17 },
						{ "OtherStall[Events]", 18 } };
	static const uint64_t address, counts[3] = { 1, 20, 0 };
	const struct ut_stall_samples s = { .kernel = { "foo", 3 },
					    .reasons = titles,
					    .reason_count = 3,
					    .addresses = &address,
					    .counts = counts,
					    .row_count = 1,
					    .module = ut_str_of(module) };
	const struct ut_stall_opts opts = { .top = 10, .no_files = true };

	*err = (struct ut_err){ 0 };
	return ut_stall_find_beside(r, &s, &opts, trace, err);
}

static void finds(const char *module, const char *trace, const char *assembly, const char *text)
{
	struct ut_stall_result r;
	struct ut_err err;

	if (find(&r, module, trace, &err))
		fail_msg("%s", err.text);
	assert_string_equal(r.assembly.ptr, at(assembly));
	assert_non_null(ut_str_find(r.instructions[0].place.text, text));
	assert_int_equal(r.instructions[0].samples, 21);
	ut_stall_release(&r);
}

static void lacks(const char *module, const char *trace, const char *word)
{
	struct ut_stall_result r;
	struct ut_err err;

	assert_int_equal(find(&r, module, trace, &err), -ENOENT);
	assert_non_null(strstr(err.text, word));
}

static void nothing_is_there(void **state)
{
	(void)state;
	write_file("a/x.json", "");
	lacks("", at("a/x.json"), "put NAME.modules.PID there");
	lacks("00f1", at("a/x.json"), "00f1.cubin");
	lacks("00f1", at("a/none.json"), "came from none"); /* not even the trace */
	write_file("a/x.modules.1/00f2.cubin.sass", sass("NOP"));
	lacks("00f1", at("a/x.json"), "00f1.cubin"); /* a module of another name */
	write_file("a/x.modules.1/00f1.cubin", "no ELF");
	lacks("00f1", at("a/x.json"), "no code of foo");
}

static void modules_are_distinguished(void **state)
{
	(void)state;
	write_file("b/x.json", "");
	write_file("b/x.modules.1/00f1.cubin.sass", sass("S2R R0, SR_TID.X"));
	write_file("b/x.modules.2/00f2.sass", sass("MOV R1, R2"));
	finds("00f1", at("b/x.json"), "b/x.modules.1/00f1.cubin.sass", "S2R");
	finds("00f2", at("b/x.json"), "b/x.modules.2/00f2.sass", "MOV");
	finds("", at("b/x.json"), "b/x.modules.1/00f1.cubin.sass", "S2R"); /* not known: any */
	finds("00f2", at("b"), "b/x.modules.2/00f2.sass", "MOV");          /* a folder of traces */
}

static void folders_have_many_names(void **state)
{
	(void)state;
	write_file("c/x.json", "");
	write_file("c/modules/00f1.sass", sass("MOV R1, R2"));
	finds("00f1", at("c/x.json"), "c/modules/00f1.sass", "MOV");
	write_file("d/x.json", "");
	write_file("d/any/foo.asm", dump);
	write_file("d/.hidden/foo.asm", dump);
	finds("", at("d/x.json"), "d/any/foo.asm.ip", "mov");
	write_file("e/x.json", "");
	write_file("e/foo.asm", dump);
	finds("", at("e/x.json"), "e/foo.asm.ip", "mov"); /* beside it itself */
}

static int make(void **state)
{
	(void)state;
	return mkdtemp(folder) ? 0 : -1;
}

static int clear(void **state)
{
	(void)state;
	ut_arena_release(&arena);
	return ut_path_remove_tree(folder, NULL);
}

UT_TESTS(stall_beside)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_is_there),
		cmocka_unit_test(modules_are_distinguished),
		cmocka_unit_test(folders_have_many_names),
	};

	return cmocka_run_group_tests(tests, make, clear);
}
