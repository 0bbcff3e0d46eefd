/*
 * inflate.h - packets that lie compressed inside of a packet.
 */
#ifndef UT_IMPORT_PERFETTO_INFLATE_H
#define UT_IMPORT_PERFETTO_INFLATE_H

#include <stddef.h>

/* What one packet may grow to. Perfetto makes them from less than 512 KiB. */
#define UT_PF_UNPACKED_MOST ((size_t)64 << 20)

struct ut_pf_unpacked {
	unsigned char *data; /* malloc'ed, kept for the next */
	size_t len, cap;
};

/* 0, or a negative errno: -EPROTO for damaged data, -E2BIG for too much of it, -ENOTSUP when this
 * build has no such library. */
int ut_pf_inflate(struct ut_pf_unpacked *to, const unsigned char *data, size_t len);
int ut_pf_unzstd(struct ut_pf_unpacked *to, const unsigned char *data, size_t len);

#endif
