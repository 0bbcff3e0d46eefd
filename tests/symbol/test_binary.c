/*
 * test_binary.c - tests src/record/symbol/binary.h: a small program, compiled in every way that
 * debug info is kept in, has at the label "spot" the same functions and lines.
 */
#include "symbol/binary.h"

#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "support/unit.h"
#include "symbol/debug_file.h"
#include "symbol/elf_file.h"

static char dir[64];

/* One function to a line, so that the numbers below are those of lines. */
static const char source[] = "int seen;\n"
			     "static inline __attribute__((always_inline)) void inner(int x)\n"
			     "{\n"
			     "\tseen += x;\n"
			     "\t__asm__ volatile(\".globl spot\\nspot: nop\");\n" /* line 5 */
			     "}\n"
			     "static inline __attribute__((always_inline)) void middle(int x)\n"
			     "{\n"
			     "\tinner(x + 1);\n" /* line 9 */
			     "}\n"
			     "__attribute__((noinline)) void outer(int x)\n"
			     "{\n"
			     "\tmiddle(x);\n" /* line 13 */
			     "}\n"
			     "int main(int argc, char **argv)\n"
			     "{\n"
			     "\t(void)argv;\n"
			     "\touter(argc);\n"
			     "\treturn seen != argc + 1;\n"
			     "}\n";

static bool run(const char *command)
{
	char line[1024];

	snprintf(line, sizeof(line), "cd %s && { %s; } >/dev/null 2>&1", dir, command);
	return system(line) == 0; /* NOLINT(cert-env33-c): a compiler is what we test with */
}

static int make_folder(void **state)
{
	char path[128];
	FILE *f;

	(void)state;
	snprintf(dir, sizeof(dir), "/tmp/ut_binary_XXXXXX");
	if (!mkdtemp(dir))
		return -1;
	snprintf(path, sizeof(path), "%s/app.c", dir);
	f = fopen(path, "w");
	if (!f || fputs(source, f) < 0 || fclose(f))
		return -1;
	return 0;
}

static int remove_folder(void **state)
{
	(void)state;
	return run("rm -rf * .debug") && !rmdir(dir) ? 0 : -1;
}

struct spot {
	uint64_t address;
};

static void see(void *ctx, const char *name, const Elf64_Sym *s)
{
	if (!strcmp(name, "spot"))
		((struct spot *)ctx)->address = s->st_value;
}

/* Where the label is, from the program as the compiler made it. */
static uint64_t spot_of(const char *path)
{
	struct spot spot = { 0 };
	uint64_t offset = 0;
	struct ut_elf e;

	assert_true(ut_elf_open(&e, path));
	ut_elf_symbols(&e, see, &spot);
	assert_true(ut_elf_offset(&e, spot.address, &offset));
	ut_elf_close(&e);
	return offset;
}

static const char *base(const char *path)
{
	const char *slash = path ? strrchr(path, '/') : NULL;

	return slash ? slash + 1 : path;
}

static void check(const char *path, uint64_t offset)
{
	struct ut_binary *code = ut_binary_open(path, NULL);
	struct ut_binary_frame f[UT_BINARY_FRAMES];

	assert_non_null(code);
	assert_true(ut_binary_has_lines(code));
	assert_int_equal(ut_binary_find(code, offset, f), 3);
	assert_string_equal(f[0].function, "inner");
	assert_int_equal(f[0].line, 5);
	assert_string_equal(f[1].function, "middle");
	assert_int_equal(f[1].line, 9);
	assert_string_equal(f[2].function, "outer");
	assert_int_equal(f[2].line, 13);
	for (size_t i = 0; i < 3; i++)
		assert_string_equal(base(f[i].file), "app.c");
}

/* Each in a file of its own: a build id that is the same would be the same file. */
static const struct way {
	const char *name, *compile;
	const char *after; /* what is done to the program, if that can be done */
} ways[] = {
	{ "v2", "cc -O2 -gdwarf-2", "true" },
	{ "v3", "cc -O2 -gdwarf-3", "true" },
	{ "v4", "cc -O2 -gdwarf-4", "true" },
	{ "v5", "cc -O2 -gdwarf-5", "true" },
	{ "zlib", "cc -O2 -g -gz=zlib", "true" },
	{ "old", "cc -O2 -gdwarf-4", "objcopy --compress-debug-sections=zlib-gnu old" },
	{ "split4", "cc -O2 -gdwarf-4 -gsplit-dwarf", "true" },
	{ "split5", "cc -O2 -gdwarf-5 -gsplit-dwarf", "true" },
	{ "packed4", "cc -O2 -gdwarf-4 -gsplit-dwarf",
	  "timeout 20 dwp -e packed4 -o packed4.dwp && rm *.dwo" },
	/* llvm-dwp 14 never ends with what gcc makes of version 5 */
	{ "packed5", "clang -O2 -gdwarf-5 -gsplit-dwarf",
	  "timeout 20 llvm-dwp -e packed5 -o packed5.dwp && rm *.dwo" },
	{ "linked", "cc -O2 -g",
	  "objcopy --only-keep-debug linked l.debug && strip linked && "
	  "objcopy --add-gnu-debuglink=l.debug linked" },
	{ "hidden", "cc -O2 -g",
	  "mkdir .debug && objcopy --only-keep-debug hidden .debug/h.debug && strip hidden && "
	  "cd .debug && objcopy --add-gnu-debuglink=h.debug ../hidden" },
	{ "byid", "cc -O2 -g -Wl,--build-id=0xabcdef0123456789",
	  "mkdir -p dbg/.build-id/ab && "
	  "objcopy --only-keep-debug byid dbg/.build-id/ab/cdef0123456789.debug && strip byid" },
	{ "dwz", "cc -O2 -g -gdwarf-4",
	  "cc -O2 -g -gdwarf-4 -DTWO -o dwz2 app.c && dwz -m both.dwz -r dwz dwz2" },
	{ "clang4", "clang -O2 -gdwarf-4", "true" },
	{ "clang5", "clang -O2 -gdwarf-5", "true" },
	{ "clangsplit", "clang -O2 -gdwarf-5 -gsplit-dwarf", "true" },
	{ "noaranges", "cc -O2 -g", "objcopy -R .debug_aranges noaranges" },
};

static void lines_are_found_however_they_are_kept(void **state)
{
	char command[512], path[128];
	size_t tried = 0;

	(void)state;
	if (!run("cc --version"))
		skip();
	snprintf(path, sizeof(path), "%s/dbg", dir);
	ut_debug_file_look_in(strdup(path));
	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
		const struct way *w = &ways[i];
		uint64_t offset;

		snprintf(command, sizeof(command), "%s -Wl,--build-id -o %s app.c", w->compile,
			 w->name);
		if (strstr(w->compile, "--build-id"))
			snprintf(command, sizeof(command), "%s -o %s app.c", w->compile, w->name);
		snprintf(path, sizeof(path), "%s/%s", dir, w->name);
		if (!run(command))
			continue; /* another compiler, or none */
		offset = spot_of(path);
		if (!run(w->after)) {
			print_message("%s: left out, a tool is missing\n", w->name);
			continue;
		}
		check(path, offset);
		tried++;
	}
	assert_true(tried >= 6);
}

static void a_file_is_opened_once_by_its_build_id(void **state)
{
	char path[128], copy[128];
	struct ut_binary *first, *second;
	struct ut_build_id id = { .len = 2, .bytes = { 1, 2 } };

	(void)state;
	if (!run("cc -O2 -g -Wl,--build-id -o one app.c && cp one two"))
		skip();
	snprintf(path, sizeof(path), "%s/one", dir);
	snprintf(copy, sizeof(copy), "%s/two", dir);
	first = ut_binary_open(path, NULL);
	second = ut_binary_open(copy, NULL);
	assert_ptr_equal(first, second);
	assert_null(ut_binary_open(path, &id)); /* it is another one now */
	assert_null(ut_binary_open("/nowhere", NULL));
	assert_null(ut_binary_open("/etc/passwd", NULL));
}

static void the_code_of_a_function_is_found(void **state)
{
	struct ut_binary_body body;
	struct ut_binary *code;
	char path[128];
	uint64_t offset;

	(void)state;
	if (!run("cc -O2 -g -Wl,--build-id=0x0101 -o body app.c"))
		skip();
	snprintf(path, sizeof(path), "%s/body", dir);
	offset = spot_of(path);
	code = ut_binary_open(path, NULL);
	assert_true(ut_binary_body(code, offset, &body));
	assert_true(offset >= body.offset && offset < body.offset + body.size);
	assert_int_equal(ut_binary_machine(code), EM_X86_64);
	assert_false(ut_binary_body(code, UINT64_MAX, &body));
}

static void the_kernels_library_has_names(void **state)
{
	struct ut_binary_frame f[UT_BINARY_FRAMES];

	(void)state;
	assert_non_null(ut_binary_vdso());
	assert_non_null(ut_binary_kernel());
	(void)ut_binary_find(ut_binary_kernel(), 1, f); /* nobody is there */
	(void)ut_binary_find(ut_binary_vdso(), UINT64_MAX, f);
}

UT_TESTS(binary)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines_are_found_however_they_are_kept),
		cmocka_unit_test(a_file_is_opened_once_by_its_build_id),
		cmocka_unit_test(the_code_of_a_function_is_found),
		cmocka_unit_test(the_kernels_library_has_names),
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
