/*
 * pbuf.h - a protobuf message under construction: the wire format, nothing about schemas.
 *
 * {0} is an empty message. Strings are repaired to UTF-8, as proto2 demands of its strings. Owner:
 * the caller, who ends it with ut_pbuf_release() and may reuse it by setting len to 0.
 */
#ifndef UT_EXPORT_PBUF_H
#define UT_EXPORT_PBUF_H

#include <stddef.h>
#include <stdint.h>

struct ut_pbuf {
	unsigned char *data;
	size_t len, cap;
};

/* int32, int64, uint32, uint64, bool, enum; negative numbers are cast to uint64_t. */
void ut_pbuf_varint(struct ut_pbuf *b, uint32_t field, uint64_t value);
void ut_pbuf_fixed64(struct ut_pbuf *b, uint32_t field, uint64_t value);
void ut_pbuf_double(struct ut_pbuf *b, uint32_t field, double value);
void ut_pbuf_bytes(struct ut_pbuf *b, uint32_t field, const void *data, size_t len);
void ut_pbuf_str(struct ut_pbuf *b, uint32_t field, const char *s, size_t len);

/* A message inside: what is added until end() belongs to it. They may nest. */
size_t ut_pbuf_begin(struct ut_pbuf *b, uint32_t field);
void ut_pbuf_end(struct ut_pbuf *b, size_t mark);

void ut_pbuf_release(struct ut_pbuf *b);

/* The bare number at p, at most 10 bytes; returns its end. */
unsigned char *ut_pbuf_put(unsigned char *p, uint64_t value);

#endif
