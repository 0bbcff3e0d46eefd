/* test_stall_report.c - tests src/analysis/metrics/stall_report.h with shader dumps: files, causes,
 * texts.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

#include "base/path.h"
#include "metrics/stall_report.h"
#include "support/unit.h"
#include "text/out.h"
#include "text/table_report.h"

#define STARS                                                                                      \
	"****************************************************************************************" \
	"***"                                                                                      \
	"****\n"
#define EQUALS                                                                                     \
	"========================================================================================" \
	"==="                                                                                      \
	"====\n"

static struct ut_arena arena;
static char folder[] = "/tmp/ut_stall_XXXXXX";

static void write_dump(const char *name, const char *text)
{
	FILE *f = fopen(ut_path_join(&arena, folder, name), "w");

	assert_non_null(f);
	assert_true(fputs(text, f) >= 0);
	fclose(f);
}

static const struct ut_str titles[] = {
	{ "Active[Events]", 14 },
	{ "ControlStall[Events]", 20 },
	{ "SbidStall[Events]", 17 },
	{ "OtherStall[Events]", 18 },
};

struct row {
	uint64_t address, counts[4];
};

static int find(struct ut_stall_result *r, const char *kernel, const struct row *rows, size_t n,
		struct ut_stall_opts opts, struct ut_err *err)
{
	uint64_t addresses[16], counts[64];
	struct ut_stall_samples s = {
		.kernel = ut_str_of(kernel),
		.reasons = titles,
		.reason_count = 4,
		.addresses = addresses,
		.counts = counts,
		.row_count = n,
	};

	for (size_t i = 0; i < n; i++) {
		addresses[i] = rows[i].address;
		for (size_t k = 0; k < 4; k++)
			counts[4 * i + k] = rows[i].counts[k];
	}
	opts.code = opts.code ? opts.code : folder;
	return ut_stall_find(r, &s, &opts, err);
}

static void must_find(struct ut_stall_result *r, const char *kernel, const struct row *rows,
		      size_t n, uint64_t top)
{
	struct ut_err err = { 0 };

	if (find(r, kernel, rows, n, (struct ut_stall_opts){ .top = top, .no_files = true }, &err))
		fail_msg("%s", err.text);
}

static const char *text_of(struct ut_out *out)
{
	size_t len;

	return ut_out_data(out, &len);
}

static void is_text(const struct ut_stall_result *r, const char *want)
{
	struct ut_out *out = ut_out_open_memory();

	ut_stall_text(out, r);
	assert_string_equal(text_of(out), want);
	ut_out_abandon(out);
}

static const char simple[] = "//.kernel foo\n"
			     "// File: /src/k.cl\n"
			     "// Line 12:  x = a[i];\n"
			     "        mov (16|M0) r1 r2 {Compacted} // $13\n"
			     "        load.ugm.d32.a64 (32|M0)  r18:2 [r14:4] {I@1,$5} // $14\n"
			     "// Line 13:  y = x + 1;\n"
			     "        sync.nop null {Compacted,$5.dst} // $15\n"
			     "        add (16|M0) r3 r18 {F@1} // $16\n";

static void the_report_is_the_one_of_the_original(void **state)
{
	const struct row rows[] = { { 0x18, { 1, 0, 70, 0 } }, { 0x20, { 9, 2, 0, 5 } } };
	struct ut_stall_result r;
	char *want = ut_str_fmt(
		&arena,
		"Kernel: foo\nAssembly with instruction addresses: %s/one.asm.ip\n"
		"\nReport of Top 10 Stalls of Each Type\n" STARS "Sbid Stalls: \n"
		"\nInstruction\n"
		"  /* [00000018] */         sync.nop null {Compacted,$5.dst} // $15\n"
		"  Line 13:  y = x + 1;\n  File: /src/k.cl\n"
		"is stalled potentially by\n  instruction\n"
		"    /* [00000008] */         load.ugm.d32.a64 (32|M0)  r18:2 [r14:4] {I@1,$5} "
		"// $14\n"
		"    Line 12:  x = a[i];\n    File: /src/k.cl\n" STARS "Control Stalls: \n"
		"\nInstruction\n"
		"  /* [00000020] */         add (16|M0) r3 r18 {F@1} // $16\n"
		"  Line 13:  y = x + 1;\n  File: /src/k.cl\nis stalled\n" STARS "Other Stalls: \n"
		"\nInstruction\n"
		"  /* [00000020] */         add (16|M0) r3 r18 {F@1} // $16\n"
		"  Line 13:  y = x + 1;\n  File: /src/k.cl\nis stalled\n" EQUALS,
		folder);

	(void)state;
	write_dump("one.asm", simple);
	must_find(&r, "foo", rows, 2, 10);
	is_text(&r, want);
	assert_int_equal(r.samples, 87);
	assert_int_equal(r.stalls, 77);
	assert_int_equal(r.finding_count, 3);
	assert_true(ut_str_is(r.findings[0].causes[0].through, "$5.dst"));
	ut_stall_release(&r);
}

static void nothing_that_waits_leaves_the_heading(void **state)
{
	const struct row rows[] = { { 0x18, { 1, 0, 0, 0 } } };
	struct ut_stall_result r;

	(void)state;
	write_dump("one.asm", simple);
	must_find(&r, "foo", rows, 1, UT_STALL_TOP_ALL);
	is_text(&r, ut_str_fmt(&arena,
			       "Kernel: foo\nAssembly with instruction addresses: %s/one.asm.ip\n"
			       "\nReport of Stalls of Each Type\n" STARS "Sbid Stalls: \n" EQUALS,
			       folder));
	ut_stall_release(&r);
}

static void the_top_are_chosen_by_count(void **state)
{
	const struct row rows[] = { { 0, { 0, 0, 3, 0 } },
				    { 8, { 0, 0, 5, 0 } },
				    { 0x18, { 0, 0, 9, 0 } },
				    { 0x18, { 0, 0, 1, 0 } },
				    { 0x99, { 4, 0, 1000, 0 } } };
	struct ut_stall_result r;

	(void)state;
	write_dump("one.asm", simple);
	must_find(&r, "foo", rows, 5, 2);
	assert_int_equal(r.finding_count, 2);
	assert_int_equal(r.findings[0].count, 10); /* two rows of one address */
	assert_int_equal(r.findings[0].place.address, 0x18);
	assert_int_equal(r.findings[1].place.address, 8);
	assert_int_equal(r.lost, 1004);
	ut_stall_release(&r);
}

/* The token is taken on both ways to the wait; one way has waited for it before. */
static const char branches[] = "//.kernel both\n"
			       "// B0: Preds:{},  Succs:{B1, B2, B3}\n"
			       "load r1 {$1} // $1\n"
			       "// B1: Preds:{B0},  Succs:{B4}\n"
			       "load r2 {$1} // $2\n"
			       "// B2: Preds:{B0},  Succs:{B4}\n"
			       "mov r9 r9 // $3\n"
			       "// B3: Preds:{B0},  Succs:{B4}\n"
			       "sync.nop null {$1.dst} // $4\n"
			       "// B4: Preds:{B1, B2, B3},  Succs:{}\n"
			       "add r3 r1 {$1.dst} // $5\n";

static void all_ways_to_a_wait_are_followed(void **state)
{
	const struct row rows[] = { { 0x40, { 0, 0, 3, 0 } } };
	struct ut_stall_result r;
	const struct ut_stall_finding *f;

	(void)state;
	write_dump("two.asm", branches);
	must_find(&r, "both", rows, 1, 10);
	f = &r.findings[0];
	assert_int_equal(f->cause_count, 2);
	assert_int_equal(f->causes[0].place.address, 0x10);
	assert_int_equal(f->causes[1].place.address, 0);
	ut_stall_release(&r);
}

/* What the original never ends on: a token that nobody takes, in a loop. */
static const char endless[] = "//.kernel round\n"
			      "// B0: Preds:{B1},  Succs:{B1}\n"
			      "add r3 r1 {$7.dst} // $1\n"
			      "// B1: Preds:{B0, B1},  Succs:{B0, B1}\n"
			      "mov r9 r9 // $2\n";

static void a_loop_without_the_token_ends(void **state)
{
	const struct row rows[] = { { 0, { 0, 0, 3, 0 } } };
	struct ut_stall_result r;

	(void)state;
	write_dump("three.asm", endless);
	must_find(&r, "round", rows, 1, 10);
	assert_int_equal(r.findings[0].cause_count, 0);
	ut_stall_release(&r);
}

static const char taken[] = "//.kernel again\n"
			    "// B0: Preds:{B0},  Succs:{B0}\n"
			    "math r1 {$2} // $1\n"
			    "dpas r1 {$2} // $2\n";

static void a_token_that_is_taken_again_is_waited_for(void **state)
{
	const struct row rows[] = { { 0x10, { 0, 0, 3, 0 } }, { 0, { 0, 0, 2, 0 } } };
	struct ut_stall_result r;

	(void)state;
	write_dump("four.asm", taken);
	must_find(&r, "again", rows, 2, 10);
	assert_int_equal(r.findings[0].cause_count, 1);
	assert_int_equal(r.findings[0].causes[0].place.address, 0);
	assert_true(ut_str_is(r.findings[0].causes[0].through, "$2"));
	assert_int_equal(r.findings[1].causes[0].place.address, 0x10); /* round the loop */
	ut_stall_release(&r);
}

static const char sent[] = "//.kernel sent\n"
			   "// B0: Preds:{B0},  Succs:{B0}\n"
			   "load r1 {$2} // $1\n"
			   "store r1 {$2} // $2\n";

/* As the original has it. */
static void messages_do_not_wait_for_the_token_that_they_take(void **state)
{
	const struct row rows[] = { { 0x10, { 0, 0, 3, 0 } } };
	struct ut_stall_result r;

	(void)state;
	write_dump("five.asm", sent);
	must_find(&r, "sent", rows, 1, 10);
	assert_int_equal(r.findings[0].cause_count, 0);
	ut_stall_release(&r);
}

static void mangled_kernels_are_found_and_the_last_wins(void **state)
{
	const struct row rows[] = { { 0, { 0, 0, 3, 0 } } };
	struct ut_stall_result r;

	(void)state;
	write_dump("m1.asm", "//.kernel _ZTSZ4mainEUlvE_\nmov r1 // $1\n");
	write_dump("m2.asm", "//.kernel _ZTSZ4mainEUlvE_\nmov r2 // $1\n");
	must_find(&r, "main::{lambda()#1}", rows, 1, 10);
	assert_true(ut_str_has_end(r.assembly, "/m2.asm.ip"));
	ut_stall_release(&r);
	write_dump("longer.asm", "//.kernel _ZTSZ4mainEUlvE_\nmov r3 // $1\n");
	must_find(&r, "main::{lambda()#1}", rows, 1, 10);
	assert_true(ut_str_has_end(r.assembly, "/longer.asm.ip"));
	ut_stall_release(&r);
}

static void a_missing_kernel_is_an_error_with_its_name(void **state)
{
	struct ut_stall_result r;
	struct ut_err err = { 0 };

	(void)state;
	assert_true(find(&r, "nobody", NULL, 0, (struct ut_stall_opts){ .top = 10 }, &err) < 0);
	assert_string_equal(err.text, "Not found .asm file for nobody");
	err = (struct ut_err){ 0 };
	assert_true(find(&r, "x", NULL, 0, (struct ut_stall_opts){ .code = "/no/such" }, &err) < 0);
	assert_non_null(strstr(err.text, "/no/such"));
}

static void dumps_with_addresses_are_written_once(void **state)
{
	const struct row rows[] = { { 0x18, { 1, 0, 70, 0 } } };
	struct ut_stall_result r;
	const char *ip = ut_path_join(&arena, folder, "one.asm.ip");

	(void)state;
	write_dump("one.asm", simple);
	assert_int_equal(find(&r, "foo", rows, 1, (struct ut_stall_opts){ .top = 1 }, NULL), 0);
	assert_true(ut_path_exists(ip));
	ut_stall_release(&r);
	assert_int_equal(
		find(&r, "foo", rows, 1, (struct ut_stall_opts){ .code = ip, .top = 1 }, NULL), 0);
	assert_string_equal(r.assembly.ptr, ip);
	assert_int_equal(r.findings[0].cause_count, 1);
	ut_stall_release(&r);
}

static void a_demangler_of_the_user_is_asked(void **state)
{
	const struct row rows[] = { { 0, { 0, 0, 3, 0 } } };
	struct ut_stall_result r;
	struct ut_stall_opts opts = { .demangler = "echo", .top = 1, .no_files = true };

	(void)state;
	write_dump("m1.asm", "//.kernel odd_name\nmov r1 // $1\n");
	assert_int_equal(find(&r, "odd_name", rows, 1, opts, NULL), 0);
	ut_stall_release(&r);
	opts.demangler = "/no/such/program";
	assert_int_equal(find(&r, "odd_name", rows, 1, opts, NULL), 0);
	ut_stall_release(&r);
}

static void shares_are_of_all_samples(void **state)
{
	const struct row rows[] = { { 0, { 2, 8, 0, 0 } },
				    { 8, { 0, 0, 10, 0 } },
				    { 0x18, { 5, 1, 64, 10 } } };
	struct ut_stall_result r;

	(void)state;
	write_dump("one.asm", simple);
	must_find(&r, "foo", rows, 3, 10);
	assert_int_equal(r.samples, 100);
	assert_int_equal(r.instruction_count, 4);
	assert_int_equal(r.instructions[2].samples, 80);
	assert_true(r.instructions[2].share > 0.79 && r.instructions[2].share < 0.81);
	assert_int_equal(r.instructions[3].reason, UT_STALL_NO_REASON);
	assert_int_equal(r.line_count, 2);
	assert_int_equal(r.lines[0].place.line, 12);
	assert_int_equal(r.lines[0].samples, 20);
	assert_int_equal(r.lines[0].main, 10);
	assert_true(ut_str_is(r.reasons[r.lines[0].reason], "Sbid"));
	assert_int_equal(r.lines[1].stalls, 75);
	ut_stall_release(&r);
}

static void listings_show_what_takes_the_samples(void **state)
{
	const struct row rows[] = { { 0x18, { 25, 0, 75, 0 } } };
	struct ut_out *out = ut_out_open_memory();
	struct ut_report_opts how = { .format = UT_REPORT_CSV };
	struct ut_report *report;
	struct ut_stall_result r;

	(void)state;
	write_dump("one.asm", simple);
	must_find(&r, "foo", rows, 1, 10);
	report = ut_stall_listing_start(out, &how, UT_STALL_SOURCE);
	ut_stall_listing_add(report, &r, UT_STALL_SOURCE);
	ut_report_finish(report);
	assert_string_equal(text_of(out),
			    "kernel,share,samples,reason,reason_share,file,line,source\n"
			    "\"foo\",100.0000,100,Sbid,75.0000,\"/src/k.cl\",13,\"y = x + 1;\"\n");
	ut_out_clear(out);
	report = ut_stall_listing_start(out, &how, UT_STALL_ASSEMBLY);
	ut_stall_listing_add(report, &r, UT_STALL_ASSEMBLY);
	ut_report_finish(report);
	assert_non_null(
		strstr(text_of(out), "\n\"foo\",100.0000,100,Sbid,75.0000,\"/src/k.cl\",13,24,"));
	assert_non_null(strstr(text_of(out), "\n\"foo\",,,,,\"/src/k.cl\",13,32,"));
	ut_out_clear(out);
	ut_stall_listing_head(out, &r, UT_STALL_SOURCE);
	assert_non_null(strstr(text_of(out), "Source of foo\n"));
	assert_non_null(strstr(text_of(out), "one.asm.ip, 100 samples, 75 of them stalls\n"));
	ut_stall_release(&r);
	ut_out_abandon(out);
}

static void json_says_the_same(void **state)
{
	const struct row rows[] = { { 0x18, { 25, 0, 75, 0 } } };
	struct ut_out *out = ut_out_open_memory();
	struct ut_stall_result r;
	const char *json;

	(void)state;
	write_dump("one.asm", simple);
	must_find(&r, "foo", rows, 1, 10);
	ut_stall_json(out, &r);
	json = text_of(out);
	assert_non_null(strstr(json, "{\"kernel\":\"foo\""));
	assert_non_null(strstr(json, "{\"reason\":\"Sbid\",\"samples\":75,\"share\":0.75,"));
	assert_non_null(strstr(json, "\"line\":12,"));
	assert_non_null(strstr(json, "\"through\":\"$5.dst\""));
	ut_stall_release(&r);
	ut_out_abandon(out);
}

static int setup(void **state)
{
	(void)state;
	return mkdtemp(folder) ? 0 : -1;
}

static int teardown(void **state)
{
	int rc = ut_path_remove_tree(folder, NULL);

	(void)state;
	ut_arena_release(&arena);
	return rc;
}

UT_TESTS(stall_report)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_report_is_the_one_of_the_original),
		cmocka_unit_test(nothing_that_waits_leaves_the_heading),
		cmocka_unit_test(the_top_are_chosen_by_count),
		cmocka_unit_test(all_ways_to_a_wait_are_followed),
		cmocka_unit_test(a_loop_without_the_token_ends),
		cmocka_unit_test(a_token_that_is_taken_again_is_waited_for),
		cmocka_unit_test(messages_do_not_wait_for_the_token_that_they_take),
		cmocka_unit_test(mangled_kernels_are_found_and_the_last_wins),
		cmocka_unit_test(a_missing_kernel_is_an_error_with_its_name),
		cmocka_unit_test(dumps_with_addresses_are_written_once),
		cmocka_unit_test(a_demangler_of_the_user_is_asked),
		cmocka_unit_test(shares_are_of_all_samples),
		cmocka_unit_test(listings_show_what_takes_the_samples),
		cmocka_unit_test(json_says_the_same),
	};

	return cmocka_run_group_tests_name("metrics/stall_report", tests, setup, teardown);
}
