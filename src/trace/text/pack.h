/*
 * pack.h - bytes on their way into a file: as they are, or compressed on the fly.
 */
#ifndef UT_TEXT_PACK_H
#define UT_TEXT_PACK_H

#include <stdbool.h>
#include <stddef.h>

enum ut_pack_type {
	UT_PACK_NONE,
	UT_PACK_GZIP, /* name.gz */
	UT_PACK_ZSTD, /* name.zst */
};

struct ut_pack;

/* What the end of a file name asks for. */
enum ut_pack_type ut_pack_by_name(const char *path);

/* 0, or -ENOTSUP when this build has no such library, -ENOMEM when the library fails. */
int ut_pack_new(struct ut_pack **pack, enum ut_pack_type type);
void ut_pack_free(struct ut_pack *pack); /* NULL is fine */

/* Sends len bytes towards fd. last = also finishes the stream. 0 or a negative errno. */
int ut_pack_write(struct ut_pack *pack, int fd, const void *data, size_t len, bool last);

#endif
