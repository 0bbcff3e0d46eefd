#include "symbol/elf_unpack.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "symbol/elf_file.h"
#if UT_HAVE_ZLIB
#define ZLIB_CONST
#include <zlib.h>
#endif
#if UT_HAVE_ZSTD
#include <zstd.h>
#endif

/* No section of debug info is larger; nor does anybody compress so well. */
#define MOST_BYTES (UINT64_C(1) << 33)
#define MOST_RATIO 4096u

#ifndef ELFCOMPRESS_ZSTD
#define ELFCOMPRESS_ZSTD 2
#endif

#if UT_HAVE_ZLIB
static bool inflate_all(const uint8_t *from, uint64_t len, uint8_t *to, uint64_t size)
{
	z_stream z = { .next_in = from, .next_out = to };
	int rc = inflateInit(&z);

	while (rc == Z_OK && (len || z.avail_in)) {
		if (!z.avail_in) {
			z.avail_in = len < UINT32_MAX ? (uInt)len : UINT32_MAX;
			len -= z.avail_in;
		}
		if (!z.avail_out) {
			z.avail_out = size < UINT32_MAX ? (uInt)size : UINT32_MAX;
			size -= z.avail_out;
		}
		rc = inflate(&z, Z_NO_FLUSH);
	}
	inflateEnd(&z);
	return rc == Z_STREAM_END && !size && !z.avail_out;
}
#endif

static bool elf_unpack_unpack(uint32_t how, const uint8_t *from, uint64_t len, uint8_t *to,
			      uint64_t size)
{
#if UT_HAVE_ZLIB
	if (how == ELFCOMPRESS_ZLIB)
		return inflate_all(from, len, to, size);
#endif
#if UT_HAVE_ZSTD
	if (how == ELFCOMPRESS_ZSTD)
		return ZSTD_decompress(to, size, from, len) == size;
#endif
	(void)how;
	(void)from;
	(void)len;
	(void)to;
	(void)size;
	return false;
}

static bool load_packed(uint32_t how, const uint8_t *from, uint64_t len, uint64_t size,
			struct ut_elf_bytes *to)
{
	if (!size || size > MOST_BYTES || size / MOST_RATIO > len)
		return false;
	to->unpacked = malloc(size);
	if (!to->unpacked)
		return false;
	if (!elf_unpack_unpack(how, from, len, to->unpacked, size)) {
		free(to->unpacked);
		*to = (struct ut_elf_bytes){ 0 };
		return false;
	}
	to->data = to->unpacked;
	to->size = size;
	return true;
}

/* What tools made before there was a flag: ".zdebug_info", "ZLIB", the size from its high byte. */
static bool load_old(const struct ut_elf *e, const char *name, struct ut_elf_bytes *to)
{
	const Elf64_Shdr *s;
	const uint8_t *from;
	uint64_t size = 0;
	char old[64];

	snprintf(old, sizeof(old), ".z%s", name + 1);
	s = ut_elf_section(e, old);
	if (!s || s->sh_size < 12)
		return false;
	from = (const uint8_t *)e->base + s->sh_offset;
	if (memcmp(from, "ZLIB", 4) != 0)
		return false;
	for (int i = 4; i < 12; i++)
		size = size << 8 | from[i];
	return load_packed(ELFCOMPRESS_ZLIB, from + 12, s->sh_size - 12, size, to);
}

bool ut_elf_load(const struct ut_elf *e, const char *name, struct ut_elf_bytes *to)
{
	const Elf64_Shdr *s = ut_elf_section(e, name);
	const uint8_t *from;
	Elf64_Chdr c;

	*to = (struct ut_elf_bytes){ 0 };
	if (!s)
		return load_old(e, name, to);
	from = (const uint8_t *)e->base + s->sh_offset;
	if (!(s->sh_flags & SHF_COMPRESSED)) {
		*to = (struct ut_elf_bytes){ .data = from, .size = s->sh_size };
		return true;
	}
	if (s->sh_size < sizeof(c))
		return false;
	memcpy(&c, from, sizeof(c));
	return load_packed(c.ch_type, from + sizeof(c), s->sh_size - sizeof(c), c.ch_size, to);
}

void ut_elf_unload(struct ut_elf_bytes *bytes)
{
	free(bytes->unpacked);
	*bytes = (struct ut_elf_bytes){ 0 };
}
