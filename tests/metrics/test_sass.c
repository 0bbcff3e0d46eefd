/*
 * test_sass.c - tests src/analysis/metrics/sass_*.h and cubin.h: registers, control bits, blocks,
 * and what instructions of NVIDIA's devices wait for.
 */
#include <elf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/arena.h"
#include "base/path.h"
#include "metrics/cubin.h"
#include "metrics/sass_code.h"
#include "metrics/sass_regs.h"
#include "metrics/stall_code.h"
#include "metrics/stall_report.h"
#include "support/unit.h"
#include "text/out.h"

static struct ut_arena arena;
static char folder[] = "/tmp/ut_sass_XXXXXX";

/* ---- registers ----------------------------------------------------------------------------- */

static void is_set(const struct ut_sass_set *set, const char *want, const char *text)
{
	struct ut_buf b = { 0 };

	ut_sass_set_text(&b, set);
	if (strcmp(b.data ? b.data : "", want))
		fail_msg("%s: %s, not %s", text, b.data ? b.data : "", want);
	ut_buf_release(&b);
}

static void registers_are_read_and_written(void **state)
{
	static const struct {
		const char *text, *writes, *reads;
	} cases[] = {
		{ "LDG.E R7, desc[UR4][R6.64] ;", "R7", "R6-R7, UR4" },
		{ "LDG.E.128 R8, desc[UR4][R6.64+0x10] ;", "R8-R11", "R6-R7, UR4" },
		{ "STG.E.64 desc[UR4][R2.64], R18 ;", "", "R2-R3, R18-R19, UR4" },
		{ "@!P0 BRA `(.L_x_61) ;", "", "P0" },
		{ "IMAD.WIDE.U32 R8, R7, 0x4, R4 ;", "R8-R9", "R4, R7" },
		{ "ISETP.GE.AND P0, PT, R2, 0x1, PT ;", "P0", "R2" },
		{ "PLOP3.LUT P0, PT, P1, PT, PT, 0x80, 0x0 ;", "P0", "P1" },
		{ "IADD3 R13, P0, RZ, -R10, RZ ;", "R13, P0", "R10" },
		{ "IADD3.X R5, R3, R7, RZ, P0, !PT ;", "R5", "R3, R7, P0" },
		{ "IADD3 R6, P1, P2, R4, R5, RZ ;", "R6, P1-P2", "R4-R5" },
		{ "LOP3.LUT P0, RZ, R3, 0xff, RZ, 0xc0, !PT ;", "P0", "R3" },
		{ "SHFL.BFLY PT, R5, R4, 0x10, 0x1f ;", "R5", "R4" },
		{ "VOTE.ANY R3, PT, P2 ;", "R3", "P2" },
		{ "SEL R0, R1, R2, P0 ;", "R0", "R1-R2, P0" },
		{ "DFMA R4, R6, R8, R10 ;", "R4-R5", "R6-R11" },
		{ "LDS.128 R12, [R16+0x60] ;", "R12-R15", "R16" },
		{ "STS [R7], R24 ;", "", "R7, R24" },
		{ "S2R R0, SR_TID.X ;", "R0", "" },
		{ "ULDC.64 UR8, c[0x0][0x208] ;", "UR8-UR9", "" },
		{ "LDC R11, c[0x0][R11+0x210] ;", "R11", "R11" },
		{ "HMMA.16816.F32 R4, R8, R12, R4 ;", "R4-R7", "R4-R15" },
		{ "ATOMG.E.ADD.STRONG.GPU PT, R5, desc[UR4][R2.64], R7 ;", "R5", "R2-R3, R7, UR4" },
		{ "RED.E.ADD.F32 desc[UR4][R2.64], R5 ;", "", "R2-R3, R5, UR4" },
		{ "CS2R R4, SRZ ;", "R4-R5", "" },
		{ "FADD R0, |R5|, -R0.reuse ;", "R0", "R0, R5" },
		{ "SYNCS.PHASECHK.TRANS64.TRYWAIT P1, [UR4], R3 ;", "P1", "R3, UR4" },
		{ "LDGSTS.E [R5], desc[UR4][R2.64] ;", "", "R2-R3, R5, UR4" },
		{ "UIADD3 UR4, UR4, 0x1, URZ ;", "UR4", "UR4" },
		{ "R2UR UP0, UR4, R3 ;", "UR4, UP0", "R3" },
		{ "EXIT ;", "", "" },
		{ "BAR.SYNC.DEFER_BLOCKING 0x0 ;", "", "" },
		{ "R999 R1R2 RZ4 P9 ;", "", "" },
		{ "", "", "" },
		{ "@", "", "" },
		{ "@P3", "", "P3" },
	};
	struct ut_sass_regs r;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		ut_sass_regs(&r, ut_str_of(cases[i].text));
		is_set(&r.writes, cases[i].writes, cases[i].text);
		is_set(&r.reads, cases[i].reads, cases[i].text);
	}
}

static void kinds_are_known_by_their_opcode(void **state)
{
	(void)state;
	assert_int_equal(ut_sass_class(ut_str_of("@P0 LDG.E.64 R0, [R2] ;")), UT_SASS_GLOBAL);
	assert_int_equal(ut_sass_class(ut_str_of("LDS R0, [R2] ;")), UT_SASS_SHARED);
	assert_int_equal(ut_sass_class(ut_str_of("FFMA R0, R1, R2, R3 ;")), UT_SASS_ALU);
	assert_true(ut_sass_class(ut_str_of("HGMMA.64x128x16.F32 R24, gdesc[UR4] ;")) &
		    UT_SASS_MATRIX);
	assert_int_equal(ut_sass_class(ut_str_of("LDGX R0 ;")), UT_SASS_ALU);
}

/* Seen in code of our own for sm_90: LDG.E R7 sets scoreboard 2, IMAD.WIDE waits for it. */
static void control_bits_are_in_the_high_word(void **state)
{
	const uint64_t load[2] = { 0x0000000406077981, 0x000ea4000c1e1900 };
	const uint64_t use[2] = { 0x0000000407087825, 0x004fcc00078e0004 };
	const uint64_t both[2] = { 0x0000000404137981, 0x00016e000c1e1900 };
	struct ut_sass_control c = ut_sass_control(load);

	(void)state;
	assert_int_equal(c.stall, 2);
	assert_int_equal(c.write, 2);
	assert_int_equal(c.read, UT_SASS_NO_SCOREBOARD);
	assert_int_equal(c.wait, 0);
	c = ut_sass_control(use);
	assert_int_equal(c.stall, 6);
	assert_int_equal(c.wait, 1 << 2);
	assert_int_equal(c.write, UT_SASS_NO_SCOREBOARD);
	c = ut_sass_control(both);
	assert_int_equal(c.write, 5);
	assert_int_equal(c.read, 0);
}

/* ---- code ---------------------------------------------------------------------------------- */

/* An instruction as nvdisasm -hex prints it: opcode bits do not matter here, control bits do. */
static void put(struct ut_buf *b, unsigned int address, const char *text, unsigned int wait,
		unsigned int write, unsigned int read)
{
	uint64_t control = 1u | 1u << 4 | write << 5 | read << 8 | wait << 11;

	ut_buf_fmt(b, "        /*%04x*/ %40s ;   /* 0x%016llx */\n", address, text, 0x7981ull);
	ut_buf_fmt(b, "                                  /* 0x%016llx */\n",
		   (unsigned long long)(control << 41));
}

#define NO UT_SASS_NO_SCOREBOARD

/*
 * Two loads on one scoreboard, one on another, a loop back to the wait, a branch round one load:
 * 000 LDG R4 (SB0)  010 LDS R6 (SB1)  020 @P0 BRA out  030 LDG R5 (SB0)
 * out: 040 FADD R7, R4, R6 (waits SB0, SB1)  050 STG reads R7 (SB2)  060 MOV R7 waits SB2
 * 070 @P1 BRA out  080 EXIT  090 BRA self
 */
static void make_code(struct ut_buf *b)
{
	ut_buf_text(b, "\t.section\t.text._Z5otherPi,\"ax\",@progbits\n");
	put(b, 0, "NOP", 0, NO, NO);
	ut_buf_text(b, "\t.section\t.text._Z4mineiPf,\"ax\",@progbits\n_Z4mineiPf:\n"
		       "\t//## File \"/src/k.cu\", line 7\n");
	put(b, 0x00, "LDG.E R4, desc[UR4][R2.64]", 0, 0, NO);
	ut_buf_text(b, "\t//## File \"/inc/a.hpp\", line 3 inlined at \"/inc/b.hpp\", line 4\n"
		       "\t//## File \"/inc/b.hpp\", line 4 inlined at \"/src/k.cu\", line 8\n"
		       "\t//## File \"/src/k.cu\", line 8\n");
	put(b, 0x10, "LDS R6, [R3]", 0, 1, NO);
	put(b, 0x20, "@P0 BRA `(.L_x_1)", 0, NO, NO);
	put(b, 0x30, "LDG.E R5, desc[UR4][R2.64]", 0, 0, NO);
	ut_buf_text(b, ".L_x_1:\n\t//## File \"/src/k.cu\", line 9\n");
	put(b, 0x40, "FADD R7, R4, R6", 3, NO, NO);
	put(b, 0x50, "STG.E desc[UR4][R2.64], R7", 0, NO, 2);
	put(b, 0x60, "MOV R7, R8", 4, NO, NO);
	put(b, 0x70, "@P1 BRA `(.L_x_1)", 0, NO, NO);
	put(b, 0x80, "EXIT", 0, NO, NO);
	ut_buf_text(b, ".L_x_2:\n");
	put(b, 0x90, "BRA `(.L_x_2)", 0, NO, NO);
}

static void write_file(const char *name, struct ut_buf *b)
{
	FILE *f = fopen(ut_path_join(&arena, folder, name), "w");

	assert_non_null(f);
	assert_int_equal(fwrite(b->data, 1, b->len, f), b->len);
	fclose(f);
	ut_buf_release(b);
}

static void blocks_end_at_labels_and_jumps(void **state)
{
	struct ut_buf b = { 0 };
	struct ut_kernel_code c;

	(void)state;
	make_code(&b);
	ut_code_init(&c, &arena);
	assert_int_equal(ut_sass_read(&c, (struct ut_str){ b.data, b.len }, ut_str_of("_Z4mineiPf"),
				      "x.sass", NULL),
			 0);
	assert_int_equal(c.count, 10);
	assert_int_equal(c.block_count, 5);
	assert_int_equal(c.blocks[2].first, 4);
	assert_int_equal(c.blocks[2].pred_count, 3); /* fallen into, jumped to, looped */
	assert_int_equal(c.blocks[4].pred_count, 1); /* itself: nothing falls through EXIT */
	assert_int_equal(c.ins[0].line, 7);
	assert_string_equal(c.files[c.ins[1].file].ptr, "/inc/a.hpp");
	assert_int_equal(c.ins[1].line, 3);
	assert_string_equal(c.files[c.ins[1].call_file].ptr, "/src/k.cu");
	assert_int_equal(c.ins[1].call_line, 8);
	assert_int_equal(c.ins[5].call_line, 0);
	assert_true(ut_str_is(c.ins[4].text, "FADD R7, R4, R6 ;"));
	ut_code_release(&c);
	ut_buf_release(&b);
}

static void a_function_that_is_not_there_is_refused(void **state)
{
	struct ut_buf b = { 0 };
	struct ut_kernel_code c;
	struct ut_err err = { 0 };

	(void)state;
	make_code(&b);
	ut_code_init(&c, &arena);
	assert_true(ut_sass_read(&c, (struct ut_str){ b.data, b.len }, ut_str_of("_Z4"), "x.sass",
				 &err) < 0);
	assert_non_null(strstr(err.text, "x.sass"));
	ut_code_release(&c);
	ut_buf_release(&b);
}

/* ---- causes -------------------------------------------------------------------------------- */

static const struct ut_str titles[] = { { "Active[Events]", 14 },
					{ "LongScoreboardStall[Events]", 27 },
					{ "ShortScoreboardStall[Events]", 28 },
					{ "DrainStall[Events]", 18 },
					{ "WaitStall[Events]", 17 },
					{ "NotSelectedStall[Events]", 24 },
					{ "OtherStall[Events]", 18 } };
enum {
	ACTIVE,
	LONG,
	SHORT,
	DRAIN,
	WAIT,
	NOT_SELECTED,
	OTHER,
	TITLES
};

/* One sample of one reason at one address. */
static void find_one(struct ut_stall_result *r, uint64_t address, size_t reason)
{
	uint64_t counts[TITLES] = { 0 };
	struct ut_stall_samples s = { .kernel = ut_str_of("mine(int, float*)"),
				      .reasons = titles,
				      .reason_count = TITLES,
				      .addresses = &address,
				      .counts = counts,
				      .row_count = 1 };
	struct ut_stall_opts opts = { .code = folder, .top = 3 };
	struct ut_err err = { 0 };

	counts[reason] = 100;
	if (ut_stall_find(r, &s, &opts, &err))
		fail_msg("%s", err.text);
}

static void one_cause(uint64_t address, size_t reason, uint64_t want, const char *through)
{
	struct ut_stall_result r;

	find_one(&r, address, reason);
	assert_int_equal(r.maker, UT_STALL_NVIDIA);
	assert_int_equal(r.finding_count, 1);
	assert_int_equal(r.findings[0].cause_count, 1);
	assert_int_equal(r.findings[0].causes[0].place.address, want);
	assert_string_equal(r.findings[0].causes[0].through.ptr, through);
	ut_stall_release(&r);
}

static void scoreboards_lead_to_the_load_whose_register_is_read(void **state)
{
	struct ut_buf b = { 0 };

	(void)state;
	make_code(&b);
	write_file("code.sass", &b);
	one_cause(0x40, LONG, 0x00, "scoreboard 0, R4");
	one_cause(0x40, SHORT, 0x10, "scoreboard 1, R6");
	one_cause(0x60, SHORT, 0x50, "scoreboard 2, R7"); /* the operand has to be read first */
	one_cause(0x50, WAIT, 0x40, "R7");
	one_cause(0x90, DRAIN, 0x50, ""); /* behind EXIT: the store before it */
}

static void what_runs_is_no_stall(void **state)
{
	struct ut_stall_result r;

	(void)state;
	find_one(&r, 0x40, NOT_SELECTED);
	assert_int_equal(r.finding_count, 0);
	assert_int_equal(r.samples, 100);
	assert_int_equal(r.stalls, 0);
	ut_stall_release(&r);
	find_one(&r, 0x40, ACTIVE);
	assert_int_equal(r.stalls, 0);
	ut_stall_release(&r);
}

static void reasons_have_nvidias_words(void **state)
{
	struct ut_stall_result r;
	struct ut_out *out = ut_out_open_memory();
	const char *text;
	size_t len;

	(void)state;
	find_one(&r, 0x40, LONG);
	assert_true(ut_str_is(r.reasons[LONG], "long_scoreboard"));
	assert_non_null(ut_stall_advice(r.maker, r.reasons[LONG]));
	assert_non_null(ut_stall_advice(r.maker, r.reasons[OTHER]));
	ut_stall_text(out, &r);
	text = ut_out_data(out, &len);
	assert_non_null(strstr(text, "\nLong Scoreboard Stalls: \n"));
	assert_non_null(strstr(text, "\n  /* [00000040] */ FADD R7, R4, R6 ;\n  Line 9:\n"
				     "  File: /src/k.cu\n"
				     "  Control: waits SB0, waits SB1, 1 cycle\n"
				     "  Samples: 100 (100.0 %)\n"));
	assert_non_null(strstr(text, "    Through: scoreboard 0, R4\n"));
	ut_out_abandon(out);
	ut_stall_release(&r);
}

/* cuobjdump's text: no labels, targets are addresses; and no encoding: registers must do. */
static void without_encoding_registers_are_followed(void **state)
{
	struct ut_buf b = { 0 };

	(void)state;
	unlink(ut_path_join(&arena, folder, "code.sass"));
	ut_buf_text(&b, "\t\tFunction : _Z4mineiPf\n"
			"        /*0000*/  LDG.E R4, desc[UR4][R2.64] ;\n"
			"        /*0010*/  @P0 BRA 0x30 ;\n"
			"        /*0020*/  LDG.E R4, desc[UR4][R8.64] ;\n"
			"        /*0030*/  FADD R7, R4, R4 ;\n"
			"        /*0040*/  EXIT ;\n");
	write_file("plain.sass", &b);
	{
		struct ut_stall_result r;

		find_one(&r, 0x30, LONG);
		assert_int_equal(r.findings[0].cause_count, 2);
		assert_int_equal(r.findings[0].causes[0].place.address, 0x20);
		assert_int_equal(r.findings[0].causes[1].place.address, 0);
		assert_string_equal(r.findings[0].causes[0].through.ptr, "R4");
		ut_stall_release(&r);
	}
	unlink(ut_path_join(&arena, folder, "plain.sass"));
}

/* ---- cubins -------------------------------------------------------------------------------- */

struct cubin {
	Elf64_Ehdr e;
	Elf64_Shdr sections[2];
	Elf64_Sym symbols[4];
	char names[32];
};

static struct cubin make_cubin(void)
{
	struct cubin c = { .names = "\0_Z4mineiPf\0part\0_Z5otherPi" };

	memcpy(c.e.e_ident, ELFMAG, SELFMAG);
	c.e.e_ident[EI_CLASS] = ELFCLASS64;
	c.e.e_ident[EI_DATA] = ELFDATA2LSB;
	c.e.e_machine = 190;
	c.e.e_shoff = offsetof(struct cubin, sections);
	c.e.e_shentsize = sizeof(Elf64_Shdr);
	c.e.e_shnum = 2;
	c.sections[0] = (Elf64_Shdr){ .sh_type = SHT_SYMTAB,
				      .sh_link = 1,
				      .sh_offset = offsetof(struct cubin, symbols),
				      .sh_size = sizeof(c.symbols) };
	c.sections[1] = (Elf64_Shdr){ .sh_type = SHT_STRTAB,
				      .sh_offset = offsetof(struct cubin, names),
				      .sh_size = sizeof(c.names) };
	c.symbols[1] = (Elf64_Sym){ .st_name = 1, .st_info = STT_FUNC, .st_size = 256 };
	c.symbols[2] =
		(Elf64_Sym){ .st_name = 12, .st_info = STT_FUNC, .st_value = 128, .st_size = 128 };
	c.symbols[3] = (Elf64_Sym){ .st_name = 17, .st_info = STT_FUNC, .st_size = 256 };
	return c;
}

static void functions_of_a_cubin_are_listed(void **state)
{
	struct cubin c = make_cubin();
	struct ut_str bytes = { (const char *)&c, sizeof(c) };
	struct ut_cubin_function f;
	uint32_t at = 0;

	(void)state;
	assert_true(ut_cubin_is(bytes));
	assert_true(ut_cubin_next(bytes, &at, &f));
	assert_true(ut_str_is(f.name, "_Z4mineiPf"));
	assert_int_equal(f.symbol, 1);
	assert_true(ut_cubin_next(bytes, &at, &f));
	assert_true(ut_str_is(f.name, "_Z5otherPi"));
	assert_int_equal(f.symbol, 3);
	assert_false(ut_cubin_next(bytes, &at, &f));
}

static void damaged_cubins_have_no_functions(void **state)
{
	struct cubin c = make_cubin();
	struct ut_cubin_function f;
	uint32_t at = 0;

	(void)state;
	for (size_t len = 0; len < sizeof(c); len += 7) {
		char *copy = malloc(len + 1);

		memcpy(copy, &c, len);
		at = 0;
		while (ut_cubin_next((struct ut_str){ copy, len }, &at, &f))
			assert_true(f.name.ptr + f.name.len < copy + len);
		free(copy);
	}
	c.e.e_machine = EM_X86_64;
	assert_false(ut_cubin_is((struct ut_str){ (const char *)&c, sizeof(c) }));
	c = make_cubin();
	c.sections[0].sh_offset = UINT64_MAX - 8;
	at = 0;
	assert_false(ut_cubin_next((struct ut_str){ (const char *)&c, sizeof(c) }, &at, &f));
}

/* The tool is a script here: what matters is how it is asked and what comes of its answer. */
static void a_cubin_is_read_through_the_tool(void **state)
{
	struct cubin c = make_cubin();
	struct ut_buf b = { 0 };
	const char *tool = ut_path_join(&arena, folder, "tool.sh");

	(void)state;
	ut_buf_add(&b, (const char *)&c, sizeof(c));
	write_file("b3a1f00d.cubin", &b);
	ut_buf_text(&b, "#!/bin/sh\n[ \"$*\" = \"-c -hex -gi -fun 1 ");
	ut_buf_fmt(&b, "%s/b3a1f00d.cubin\" ] || exit 3\ncat <<E\n", folder);
	make_code(&b);
	ut_buf_text(&b, "E\n");
	for (char *p = b.data; (p = strchr(p, '`')); p++)
		*p = ' '; /* the shell would run what is in it */
	write_file("tool.sh", &b);
	assert_int_equal(system(ut_str_fmt(&arena, "chmod +x %s", tool)), 0);
	setenv("UNITRACE_NVDISASM", tool, 1);
	one_cause(0x40, LONG, 0x00, "scoreboard 0, R4");
	setenv("UNITRACE_NVDISASM", "/bin/false", 1);
	{
		struct ut_stall_samples s = { .kernel = ut_str_of("_Z4mineiPf") };
		struct ut_stall_opts opts = { .code = folder, .top = 3 };
		struct ut_stall_result r;
		struct ut_err err = { 0 };

		assert_true(ut_stall_find(&r, &s, &opts, &err) < 0);
		assert_non_null(strstr(err.text, "/bin/false"));
		err = (struct ut_err){ 0 };
		s.kernel = ut_str_of("nobody");
		assert_true(ut_stall_find(&r, &s, &opts, &err) < 0);
		assert_non_null(strstr(err.text, "no code of nobody"));
	}
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

UT_TESTS(sass)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(registers_are_read_and_written),
		cmocka_unit_test(kinds_are_known_by_their_opcode),
		cmocka_unit_test(control_bits_are_in_the_high_word),
		cmocka_unit_test(blocks_end_at_labels_and_jumps),
		cmocka_unit_test(a_function_that_is_not_there_is_refused),
		cmocka_unit_test(scoreboards_lead_to_the_load_whose_register_is_read),
		cmocka_unit_test(what_runs_is_no_stall),
		cmocka_unit_test(reasons_have_nvidias_words),
		cmocka_unit_test(without_encoding_registers_are_followed),
		cmocka_unit_test(functions_of_a_cubin_are_listed),
		cmocka_unit_test(damaged_cubins_have_no_functions),
		cmocka_unit_test(a_cubin_is_read_through_the_tool),
	};

	return cmocka_run_group_tests_name("metrics/sass", tests, setup, teardown);
}
