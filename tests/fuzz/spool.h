/*
 * spool.h - any bytes as a spool file, for the targets that read one.
 *
 * An input that starts with the magic is the file itself. Everything else is laid out into one,
 * because a real file is mostly zeros: first 64 bytes that go into the header behind its version,
 * then any number of
 *
 *	u16 length << 2 | kind     kind: 1 data chunk, 2 META chunk, 3 both are in doubt
 *	length bytes               the words of the chunk
 *
 * each of which becomes a chunk of the smallest size that holds it.
 */
#ifndef TESTS_FUZZ_SPOOL_H
#define TESTS_FUZZ_SPOOL_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "wire/spool.h"

static int file = -1;
static char path[64];

static void put(size_t at, const void *bytes, size_t len)
{
	if (len && pwrite(file, bytes, len, (off_t)at) != (ssize_t)len)
		abort();
}

static size_t take(const uint8_t **data, size_t *size, void *to, size_t len)
{
	len = len < *size ? len : *size;
	if (len)
		memcpy(to, *data, len);
	*data += len;
	*size -= len;
	return len;
}

static size_t put_chunk(size_t at, const uint8_t **data, size_t *size)
{
	uint16_t what = 0;
	size_t len;
	struct ut_chunk chunk = { .magic = UT_CHUNK_MAGIC };

	take(data, size, &what, sizeof(what));
	len = (size_t)(what >> 2) < *size ? (size_t)(what >> 2) : *size;
	chunk.kind = what & 3;
	chunk.bytes =
		(uint32_t)((sizeof(chunk) + len + UT_CHUNK_UNIT - 1) & ~(UT_CHUNK_UNIT - 1ul));
	put(at, &chunk, sizeof(chunk));
	put(at + sizeof(chunk), *data, len);
	*data += len;
	*size -= len;
	return at + chunk.bytes;
}

static void lay_out(const uint8_t *data, size_t size)
{
	struct ut_spool_header header = { .magic = UT_SPOOL_MAGIC, .version = UT_SPOOL_VERSION };
	size_t at = UT_CHUNK_UNIT;

	take(&data, &size, &header.pid, 64);
	while (size)
		at = put_chunk(at, &data, &size);
	if (ftruncate(file, (off_t)at))
		abort();
	header.next = at;
	put(0, &header, sizeof(header));
}

/* Makes it the file of path. */
static void write_spool(const uint8_t *data, size_t size)
{
	if (file < 0) {
		file = memfd_create("spool", MFD_CLOEXEC);
		snprintf(path, sizeof(path), "/proc/self/fd/%d", file);
	}
	if (ftruncate(file, 0))
		abort();
	if (size >= 8 && !memcmp(data, UT_SPOOL_MAGIC, 8))
		put(0, data, size);
	else
		lay_out(data, size);
}

#endif
