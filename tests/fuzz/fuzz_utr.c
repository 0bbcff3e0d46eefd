/*
 * fuzz_utr.c - libFuzzer target: any bytes as a saved trace.
 *
 * An input that begins with the magic is the file itself, but for what no mutation would get right:
 * magic, byte order, size, the place of the table of contents and the checksums of header and table
 * are put in order, so that the fuzzer works on what lies behind them. Others are taken as they
 * are. What opens is looked at from all sides.
 *
 * UTR_SEEDS=tests/fuzz/corpus/utr BUILD/tests/import/test_utr writes the seeds again.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../import/utr_use.h"
#include "import/importer.h"
#include "model/utr.h"
#include "model/utr_crc.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Bytes of the last page behind the end of the file: nobody may look at them. */
__attribute__((weak)) void __asan_poison_memory_region(void const volatile *p, size_t size);
__attribute__((weak)) void __asan_unpoison_memory_region(void const volatile *p, size_t size);

static void guard(const struct ut_store *s, void (*set)(void const volatile *, size_t))
{
	const size_t page = 4096;
	size_t rest = s->map_size % page ? page - s->map_size % page : 0;

	if (set)
		set((const char *)s->map + s->map_size, rest);
}

/* The sums of the sections that lie in the file: a fuzzer would never find them. */
static void put_sums(uint8_t *file, size_t size, size_t toc, size_t table)
{
	for (size_t at = toc; at < toc + table; at += sizeof(struct ut_utr_section)) {
		struct ut_utr_section s;
		uint64_t end;

		memcpy(&s, file + at, sizeof(s));
		end = ut_utr_aligned(s.offset + s.size);
		if (s.offset > size || s.size > size || end > size || end < s.offset)
			continue;
		s.crc = ut_utr_crc(0, file + s.offset, (size_t)(end - s.offset));
		memcpy(file + at, &s, sizeof(s));
	}
}

/* Room for the table where the header says that it is; sizes that do not fit stay wrong. */
static void put_in_order(uint8_t *file, size_t size)
{
	struct ut_utr_header h;
	struct ut_utr_end end;
	size_t room, table;

	memcpy(&h, file, sizeof(h));
	memcpy(h.magic, UT_UTR_MAGIC, sizeof(h.magic));
	h.order = UT_UTR_ORDER;
	h.file_size = size;
	room = (size - sizeof(h) - sizeof(end)) / sizeof(struct ut_utr_section);
	table = (h.toc_count < room ? h.toc_count : 0) * sizeof(struct ut_utr_section);
	h.toc_offset = size - sizeof(end) - table;
	h.crc = 0;
	h.crc = ut_utr_crc(0, &h, sizeof(h));
	memcpy(file, &h, sizeof(h));
	put_sums(file, size, (size_t)h.toc_offset, table);
	end.crc = ut_utr_crc(0, file + h.toc_offset, table);
	memcpy(end.mark, UT_UTR_END, sizeof(end.mark));
	memcpy(file + size - sizeof(end), &end, sizeof(end));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static int file = -1;
	static char path[64];
	uint8_t *copy = malloc(size + 1);
	struct ut_store store;

	if (file < 0) {
		file = memfd_create("utr", MFD_CLOEXEC);
		snprintf(path, sizeof(path), "/proc/self/fd/%d", file);
	}
	if (size)
		memcpy(copy, data, size);
	if (size >= sizeof(struct ut_utr_header) + sizeof(struct ut_utr_end) &&
	    !memcmp(data, UT_UTR_MAGIC, 8))
		put_in_order(copy, size);
	if (ftruncate(file, 0) || pwrite(file, copy, size, 0) != (ssize_t)size)
		abort();
	free(copy);
	if (ut_import_utr.probe((const char *)data, size) &&
	    ut_import(path, NULL, &store, NULL) == 0) {
		guard(&store, __asan_poison_memory_region);
		use_store(&store);
		guard(&store, __asan_unpoison_memory_region);
		ut_store_release(&store);
	}
	return 0;
}
