/*
 * test_python_layout.c - tests src/record/symbol/python_layout.h on the tables that interpreters
 * carry: of 3.13.18 and 3.14.10 (Debian, x86-64) word for word; of the release candidate of 3.15
 * the order is that of its build for WebAssembly, the values are made up.
 */
#include "symbol/python_layout.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "support/unit.h"

#define STATE       UINT64_C(0x10000)
#define INTERPRETER UINT64_C(0x20000)
#define THREADS     UINT64_C(0x30000) /* two of them */
#define THREAD_ROOM UINT64_C(0x1000)
#define TID         4711u

static const uint64_t table_313[] = {
	0,    283408, 608, 632, 194984, 7272, 7264, 7344, 7400, 7656, 7640, 7648, 16, 7752, 0,
	7768, 7760,   312, 0,   8,      16,   72,   152,  160,  232,  32,   80,   8,  0,    56,
	72,   70,     208, 112, 120,    128,  136,  68,   52,   96,   104,  200,  16, 8,    416,
	24,   88,     168, 32,  24,     16,   40,   24,   16,   48,   32,   40,   24,
};
static const uint64_t table_314[] = {
	0,   316616, 784,  808,  225864, 7280, 7272, 7344, 7360, 7408, 7688, 7672, 7680, 16, 7784,
	0,   7800,   7792, 7992, 0,      832,  0,    8,    16,   72,   152,  160,  232,  32, 88,
	8,   0,      56,   80,   74,     64,   0,    216,  112,  120,  128,  136,  68,   52, 96,
	104, 208,    0,    16,   8,      416,  24,   88,   168,  40,   32,   16,   40,
};
static const uint64_t table_315[] = {
	0,   316616, 912,  928,  225864, 7280, 7272, 7344, 7360, 7408, 7688, 7672, 7680, 16,  7784,
	0,   7800,   7792, 7992, 0,      896,  0,    8,    16,   80,   88,   96,   104,  184, 192,
	264, 32,     40,   48,   144,    280,  0,    88,   8,    0,    56,   80,   74,   64,  0,
	216, 112,    120,  128,  136,    68,   52,   96,   104,  208,  0,    16,   8,    416, 24,
};

/* A process with nothing but an interpreter of two threads. */
struct process {
	uint64_t table[80];
	uint64_t interpreters, threads, next, native; /* offsets */
};

static bool is_at(uint64_t address, uint64_t place, uint64_t value, uint64_t *to)
{
	if (address == place)
		*to = value;
	return address == place;
}

static bool read_process(void *ctx, uint64_t address, void *to, size_t len)
{
	const struct process *p = ctx;
	uint64_t word = 0;

	if (address == STATE && len == sizeof(p->table)) {
		memcpy(to, p->table, len);
		return true;
	}
	if (len != sizeof(word))
		return false;
	if (!is_at(address, STATE + p->interpreters, INTERPRETER, &word) &&
	    !is_at(address, INTERPRETER + p->threads, THREADS, &word) &&
	    !is_at(address, THREADS + p->next, THREADS + THREAD_ROOM, &word) &&
	    !is_at(address, THREADS + p->native, TID + 1, &word) &&
	    !is_at(address, THREADS + THREAD_ROOM + p->native, TID, &word) && address < STATE)
		return false;
	memcpy(to, &word, sizeof(word));
	return true;
}

static bool lay_out(struct process *p, uint64_t version, const uint64_t *words, size_t count,
		    struct ut_python_layout *l)
{
	const struct ut_python_memory m = { read_process, p };

	memcpy(&p->table[0], "xdebugpy", 8);
	p->table[1] = version;
	memcpy(&p->table[2], words, count * sizeof(*words));
	return ut_python_layout(&m, STATE, (uint32_t)(version >> 16), TID, l);
}

static void check_common(const struct ut_python_layout *l)
{
	assert_int_equal(l->code, 0);
	assert_int_equal(l->previous, 8);
	assert_int_equal(l->instr, 56);
	assert_int_equal(l->file, 112);
	assert_int_equal(l->name, 128); /* the qualified one */
	assert_int_equal(l->lines, 136);
	assert_int_equal(l->first_line, 68);
}

static void version_313_describes_where_everything_is(void **state)
{
	struct process p = { .interpreters = 632, .threads = 7344, .next = 8, .native = 160 };
	struct ut_python_layout l;

	(void)state;
	assert_true(lay_out(&p, 0x030d12f0, table_313, sizeof(table_313) / 8, &l));
	check_common(&l);
	assert_int_equal(l.version, 0x030d);
	assert_int_equal(l.frame, 72);
	assert_int_equal(l.owner, 70);
	assert_int_equal(l.bytecode, 200);
}

static void version_314_has_a_longer_table(void **state)
{
	struct process p = { .interpreters = 808, .threads = 7344, .next = 8, .native = 160 };
	struct ut_python_layout l;

	(void)state;
	assert_true(lay_out(&p, 0x030e0af0, table_314, sizeof(table_314) / 8, &l));
	check_common(&l);
	assert_int_equal(l.version, 0x030e);
	assert_int_equal(l.frame, 72);
	assert_int_equal(l.owner, 74);
	assert_int_equal(l.bytecode, 208);
	assert_int_equal(l.next_interpreter, 7272);
}

static void version_315_has_a_longer_one_still(void **state)
{
	struct process p = { .interpreters = 928, .threads = 7344, .next = 8, .native = 192 };
	struct ut_python_layout l;

	(void)state;
	assert_true(lay_out(&p, 0x030f00c1, table_315, sizeof(table_315) / 8, &l));
	check_common(&l);
	assert_int_equal(l.version, 0x030f);
	assert_int_equal(l.frame, 80);
	assert_int_equal(l.owner, 74);
	assert_int_equal(l.bytecode, 208);
}

/* A thread that nobody knows: no form fits, whatever the words say. */
static void what_does_not_lead_to_the_thread_is_not_believed(void **state)
{
	struct process p = { .interpreters = 808, .threads = 7344, .next = 8, .native = 168 };
	struct ut_python_layout l;

	(void)state;
	assert_false(lay_out(&p, 0x030e0af0, table_314, sizeof(table_314) / 8, &l));
}

static void versions_are_read(void **state)
{
	(void)state;
	assert_int_equal(ut_python_version("3.11.2 (main, Feb  5 2026)"), 0x030b);
	assert_int_equal(ut_python_version("3.9.2"), 0x0309);
	assert_int_equal(ut_python_version("?"), 0);
}

UT_TESTS(python_layout)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(version_313_describes_where_everything_is),
		cmocka_unit_test(version_314_has_a_longer_table),
		cmocka_unit_test(version_315_has_a_longer_one_still),
		cmocka_unit_test(what_does_not_lead_to_the_thread_is_not_believed),
		cmocka_unit_test(versions_are_read),
	};

	return cmocka_run_group_tests_name("symbol/python_layout", tests, NULL, NULL);
}
