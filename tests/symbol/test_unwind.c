/* test_unwind.c - tests src/record/symbol/unwind.h on the stack of this program itself. */
#include "symbol/unwind.h"

#include <execinfo.h>
#include <fcntl.h>
#include <inttypes.h>
#include <link.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <ucontext.h>
#include <unistd.h>

#include <cmocka.h>

#include "support/unit.h"

#define MOST 64

#if defined(__x86_64__)

/* ---- the files of this process ------------------------------------------------------------- */

struct part {
	uint64_t start, end, offset;
	struct ut_unwind *unwind;
};

static struct part parts[128];
static size_t part_count;

static void find_parts(void)
{
	FILE *f = fopen("/proc/self/maps", "r");
	char line[4352], rights[8], path[4096];
	uint64_t start, end, offset;

	assert_non_null(f);
	while (fgets(line, sizeof(line), f) && part_count < 128) {
		struct ut_unwind *u;
		int fd;

		if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %7s %" SCNx64 " %*s %*s %4095s", &start,
			   &end, rights, &offset, path) != 5 ||
		    rights[2] != 'x' || path[0] != '/')
			continue;
		u = calloc(1, sizeof(*u));
		fd = open(path, O_RDONLY | O_CLOEXEC);
		assert_true(fd >= 0 && ut_unwind_open(u, fd));
		parts[part_count++] = (struct part){ start, end, offset, u };
	}
	fclose(f);
}

static void close_parts(void)
{
	for (size_t i = 0; i < part_count; i++) {
		ut_unwind_close(parts[i].unwind);
		free(parts[i].unwind);
	}
	part_count = 0;
}

static bool read_word(void *ctx, uint64_t address, uint64_t *word)
{
	(void)ctx;
	memcpy(word, (const void *)(uintptr_t)address, sizeof(*word));
	return true;
}

static const struct part *part_of(uint64_t address)
{
	for (size_t i = 0; i < part_count; i++) {
		if (address >= parts[i].start && address < parts[i].end)
			return &parts[i];
	}
	return NULL;
}

/* Addresses outwards from these registers, without the first. */
static size_t walk(struct ut_unwind_regs regs, uint64_t *frames, enum ut_unwind_step *how)
{
	const struct ut_unwind_memory memory = { read_word, NULL };
	bool exact = true;
	size_t count = 0;

	while (count < MOST) {
		uint64_t at = regs.r[UT_REG_IP] - !exact;
		const struct part *p = part_of(at);
		struct ut_unwind_row row;

		*how = UT_STEP_LOST;
		if (!p || !ut_unwind_row(p->unwind, at - p->start + p->offset, &row))
			break;
		exact = row.signal;
		*how = ut_unwind_step(p->unwind, &row, &regs, &memory);
		if (*how != UT_STEP_CALLER)
			break;
		frames[count++] = regs.r[UT_REG_IP];
	}
	return count;
}

static struct ut_unwind_regs regs_of(const ucontext_t *c)
{
	static const int order[UT_REGS] = { REG_RAX, REG_RDX, REG_RCX, REG_RBX, REG_RSI, REG_RDI,
					    REG_RBP, REG_RSP, REG_R8,  REG_R9,  REG_R10, REG_R11,
					    REG_R12, REG_R13, REG_R14, REG_R15, REG_RIP };
	struct ut_unwind_regs regs;

	for (size_t i = 0; i < UT_REGS; i++)
		regs.r[i] = (uint64_t)c->uc_mcontext.gregs[order[i]];
	return regs;
}

/* ---- the claims ---------------------------------------------------------------------------- */

static uint64_t ours[MOST];
static void *theirs[MOST];
static size_t our_count, their_count;
static enum ut_unwind_step ended;

/* backtrace() begins with look() itself, under a sanitizer with its stand-in; we with the caller.
 */
#ifdef __has_feature /* clang */
#if __has_feature(address_sanitizer)
#define __SANITIZE_ADDRESS__ 1
#endif
#endif
#ifdef __SANITIZE_ADDRESS__
#define BEFORE 2
#else
#define BEFORE 1
#endif

static void __attribute__((noinline)) look(void)
{
	ucontext_t here;

	getcontext(&here);
	our_count = walk(regs_of(&here), ours, &ended);
	their_count = (size_t)backtrace(theirs, MOST);
}

static int __attribute__((noinline)) nested(int depth)
{
	volatile char *room = __builtin_alloca((size_t)(64 + 16 * (depth % 2))); /* needs rbp */

	room[0] = (char)depth;
	if (depth)
		room[1] = (char)nested(depth - 1);
	else
		look();
	return room[0];
}

static void the_stack_is_that_of_backtrace(void **state)
{
	(void)state;
	nested(7);
	assert_int_equal(ended, UT_STEP_END);
	assert_int_equal(our_count + BEFORE, their_count);
	for (size_t i = 0; i < our_count; i++)
		assert_int_equal(ours[i], (uint64_t)(uintptr_t)theirs[i + BEFORE]);
}

static void handler(int sig)
{
	(void)sig;
	look();
}

static void a_signal_is_walked_through(void **state)
{
	struct sigaction act = { .sa_handler = handler };
	struct sigaction old;

	(void)state;
	sigaction(SIGUSR1, &act, &old);
	raise(SIGUSR1);
	sigaction(SIGUSR1, &old, NULL);
	assert_int_equal(ended, UT_STEP_END);
	assert_int_equal(our_count + BEFORE, their_count);
	for (size_t i = 0; i < our_count; i++)
		assert_int_equal(ours[i], (uint64_t)(uintptr_t)theirs[i + BEFORE]);
}

static int descending(const void *a, const void *b)
{
	if (!our_count)
		look();
	return *(const int *)b - *(const int *)a;
}

static void a_library_in_between_is_no_obstacle(void **state)
{
	int numbers[] = { 1, 2, 3 };

	(void)state;
	our_count = 0;
	qsort(numbers, 3, sizeof(int), descending);
	assert_int_equal(ended, UT_STEP_END);
	assert_int_equal(our_count + BEFORE, their_count);
}

/* The rows of a file, and of what the loader has made of it, at many addresses. */
static int compare_rows(struct dl_phdr_info *info, size_t size, void *ctx)
{
	uintptr_t low = UINTPTR_MAX, high = 0, hdr = 0;
	struct ut_unwind loaded;

	(void)size;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const Elf64_Phdr *p = &info->dlpi_phdr[i];
		uintptr_t start = info->dlpi_addr + p->p_vaddr;

		if (p->p_type == PT_GNU_EH_FRAME)
			hdr = start;
		if (p->p_type == PT_LOAD && start < low)
			low = start;
		if (p->p_type == PT_LOAD && start + p->p_memsz > high)
			high = start + p->p_memsz;
	}
	if (!ut_unwind_loaded(&loaded, low, high, hdr))
		return 0;
	for (uintptr_t at = low; at < high; at += 61) {
		const struct part *p = part_of(at);
		struct ut_unwind_row mine, theirs_too;
		bool there;

		if (!p)
			continue;
		there = ut_unwind_row(p->unwind, at - p->start + p->offset, &mine);
		assert_int_equal(ut_unwind_row(&loaded, at - low, &theirs_too), there);
		if (there) {
			assert_memory_equal(&mine, &theirs_too, sizeof(mine));
			++*(size_t *)ctx;
		}
	}
	return 0;
}

static void what_is_loaded_has_the_rows_of_its_file(void **state)
{
	size_t compared = 0;

	(void)state;
	dl_iterate_phdr(compare_rows, &compared);
	assert_true(compared > 1000);
}

/* Any bytes may be in a file: flipped ones must not lead outside of it. */
static void damage_is_no_row_or_some_row(void **state)
{
	struct ut_unwind_row row;
	struct ut_unwind u;
	FILE *f = fopen("/proc/self/exe", "r");
	unsigned char *bytes;
	size_t size;

	(void)state;
	assert_non_null(f);
	fseek(f, 0, SEEK_END);
	size = (size_t)ftell(f);
	rewind(f);
	bytes = malloc(size);
	assert_int_equal(fread(bytes, 1, size, f), size);
	fclose(f);
	srand(1);
	for (int round = 0; round < 300; round++) {
		size_t at = (size_t)rand() % size;
		unsigned char old = bytes[at];

		bytes[at] ^= (unsigned char)(1 + rand() % 255);
		if (ut_unwind_open_memory(&u, bytes, round % 3 ? size : (size_t)rand() % size)) {
			for (uint64_t offset = 0; offset < size; offset += 997)
				(void)ut_unwind_row(&u, offset, &row);
			ut_unwind_close(&u);
		}
		bytes[at] = old;
	}
	free(bytes);
}

/* ---- files without a table ----------------------------------------------------------------- */

static char *read_self(size_t *size)
{
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	struct stat st;
	char *bytes;

	assert_true(fd >= 0);
	assert_int_equal(fstat(fd, &st), 0);
	*size = (size_t)st.st_size;
	bytes = malloc(*size);
	assert_int_equal(read(fd, bytes, *size), *size);
	close(fd);
	return bytes;
}

static int file_of(const char *bytes, size_t size)
{
	int fd = memfd_create("unwind", MFD_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, bytes, size), size);
	return fd;
}

/* As linkers leave static programs: the table's segment is not there. */
static void hide_table(char *bytes)
{
	Elf64_Ehdr *h = (Elf64_Ehdr *)bytes;
	Elf64_Phdr *p = (Elf64_Phdr *)(bytes + h->e_phoff);

	for (size_t i = 0; i < h->e_phnum; i++) {
		if (p[i].p_type == PT_GNU_EH_FRAME)
			p[i].p_type = PT_NULL;
	}
}

static void a_table_that_is_missing_is_made(void **state)
{
	struct ut_unwind with, without;
	size_t size;
	char *bytes = read_self(&size);

	(void)state;
	assert_true(ut_unwind_open(&with, file_of(bytes, size)));
	hide_table(bytes);
	assert_true(ut_unwind_open(&without, file_of(bytes, size)));
	assert_true(with.count > 10);
	assert_int_equal(without.count, with.count);
	for (size_t i = 0; i < with.count; i++) {
		uint64_t address = with.hdr + (uint64_t)(int64_t)with.table[2 * i] + 1, offset;
		struct ut_unwind_row one, two;
		bool found;

		assert_true(ut_unwind_to_offset(&with, address, &offset));
		found = ut_unwind_row(&with, offset, &one);
		assert_int_equal(ut_unwind_row(&without, offset, &two), found);
		if (found)
			assert_memory_equal(&one, &two, sizeof(one));
	}
	ut_unwind_close(&with);
	ut_unwind_close(&without);
	free(bytes);
}

/* Any byte of the sections and of .eh_frame may be wrong. */
static void damage_is_survived_without_a_table_too(void **state)
{
	size_t size;
	char *bytes = read_self(&size), *copy = malloc(size);
	Elf64_Ehdr *h = (Elf64_Ehdr *)bytes;
	uint32_t seed = 1;

	(void)state;
	hide_table(bytes);
	for (int round = 0; round < 300; round++) {
		struct ut_unwind u;
		struct ut_unwind_row row;
		size_t from = round % 3 ? 0 : h->e_shoff;

		memcpy(copy, bytes, size);
		for (int i = 0; i < 20; i++) {
			seed = seed * 1103515245u + 12345u;
			copy[from + (seed >> 8) % (size - from)] = (char)(seed >> 3);
		}
		memcpy(copy, bytes, sizeof(Elf64_Ehdr));
		if (!ut_unwind_open(&u, file_of(copy, size)))
			continue;
		for (uint64_t offset = 0; offset < size; offset += 997)
			(void)ut_unwind_row(&u, offset, &row);
		ut_unwind_close(&u);
	}
	free(copy);
	free(bytes);
}

/*
 * As compilers do it with -freorder-blocks-and-partition: the function begins in one place and goes
 * on in another, which has no name here. A jump to the start of another function is a call of it.
 */
__asm__(".text\n"
	".type in_pieces, @function\n"
	"in_pieces: .cfi_startproc\n"
	"	test %edi, %edi\n"
	"	je .Lelsewhere_1\n"
	"	cmp $7, %edi\n"
	"	jne .Lelsewhere_2\n"
	"	jmp not_a_piece\n"
	"	.cfi_endproc\n"
	".size in_pieces, .-in_pieces\n"
	".type not_a_piece, @function\n"
	"not_a_piece: .cfi_startproc\n"
	"	mov $1, %eax\n"
	"	ret\n"
	"	.cfi_endproc\n"
	".size not_a_piece, .-not_a_piece\n"
	".section .text.elsewhere, \"ax\"\n"
	"piece: .cfi_startproc\n"
	"	nop\n"
	".Lelsewhere_1:\n"
	"	mov $2, %eax\n"
	"	ret\n"
	".Lelsewhere_2:\n"
	"	mov $3, %eax\n"
	"	ret\n"
	"	.cfi_endproc\n"
	".text\n");

int in_pieces(int way);
extern const char piece[], not_a_piece[];

static void a_function_in_pieces_is_found_whole(void **state)
{
	const uint64_t start = (uint64_t)(uintptr_t)in_pieces;
	const struct part *p = part_of(start);
	struct ut_unwind_piece pieces[4];

	(void)state;
	assert_int_equal(in_pieces(0), 2);
	assert_int_equal(in_pieces(7), 1);
	assert_int_equal(in_pieces(8), 3);
	assert_non_null(p);
	assert_int_equal(ut_unwind_pieces(p->unwind, start - p->start + p->offset, pieces, 4), 2);
	assert_int_equal(pieces[0].start, start - p->start + p->offset);
	assert_int_equal(pieces[1].start, (uintptr_t)piece - p->start + p->offset);
	assert_true(pieces[1].size >= 13);
	/* and whoever has one piece only */
	assert_int_equal(ut_unwind_pieces(p->unwind, (uintptr_t)not_a_piece - p->start + p->offset,
					  pieces, 4),
			 1);
	assert_int_equal(ut_unwind_pieces(p->unwind, UINT64_MAX / 2, pieces, 4), 0);
}

static int open_all(void **state)
{
	void *warm[2];

	(void)state;
	backtrace(warm, 2); /* loads a library at its first use */
	find_parts();
	return 0;
}

static int close_all(void **state)
{
	(void)state;
	close_parts();
	return 0;
}

UT_TESTS(unwind)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_stack_is_that_of_backtrace),
		cmocka_unit_test(a_signal_is_walked_through),
		cmocka_unit_test(a_library_in_between_is_no_obstacle),
		cmocka_unit_test(what_is_loaded_has_the_rows_of_its_file),
		cmocka_unit_test(a_function_in_pieces_is_found_whole),
		cmocka_unit_test(damage_is_no_row_or_some_row),
		cmocka_unit_test(a_table_that_is_missing_is_made),
		cmocka_unit_test(damage_is_survived_without_a_table_too),
	};

	return cmocka_run_group_tests_name("symbol/unwind", tests, open_all, close_all);
}

#else

UT_TESTS(unwind)
{
	puts("SKIP: unwinding is for x86-64");
	return 77;
}

#endif
