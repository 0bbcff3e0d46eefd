/*
 * bytes.h - for fuzz targets: the input as a stream that comes in pieces, and what must hold.
 */
#ifndef UT_TESTS_FUZZ_BYTES_H
#define UT_TESTS_FUZZ_BYTES_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

struct ut_err;

struct bytes {
	const uint8_t *data;
	size_t left, step;
};

static inline void need(bool holds, const char *what)
{
	if (holds)
		return;
	fprintf(stderr, "broken: %s\n", what);
	abort();
}

static inline ssize_t read_bytes(void *ctx, void *to, size_t len, struct ut_err *err)
{
	struct bytes *b = ctx;

	(void)err;
	len = len < b->step ? len : b->step;
	len = len < b->left ? len : b->left;
	if (len)
		memcpy(to, b->data, len);
	b->data += len;
	b->left -= len;
	return (ssize_t)len;
}

#endif
