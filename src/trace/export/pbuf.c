#include "export/pbuf.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/utf8.h"

enum wire {
	WIRE_VARINT = 0,
	WIRE_FIXED64 = 1,
	WIRE_BYTES = 2,
};

#define MAX_VARINT 10

unsigned char *ut_pbuf_put(unsigned char *p, uint64_t value)
{
	for (; value >= 0x80; value >>= 7)
		*p++ = (unsigned char)(value | 0x80);
	*p++ = (unsigned char)value;
	return p;
}

static unsigned char *pbuf_reserve(struct ut_pbuf *b, size_t n)
{
	if (b->cap - b->len < n)
		b->data = ut_grow(b->data, b->len + n, &b->cap, 1);
	return b->data + b->len;
}

static unsigned char *put_tag(struct ut_pbuf *b, uint32_t field, enum wire wire, size_t room)
{
	unsigned char *p = pbuf_reserve(b, MAX_VARINT + room);

	if (field < 16) { /* what is written most */
		*p = (unsigned char)(field << 3 | wire);
		return p + 1;
	}
	return ut_pbuf_put(p, (uint64_t)field << 3 | wire);
}

void ut_pbuf_varint(struct ut_pbuf *b, uint32_t field, uint64_t value)
{
	unsigned char *p = put_tag(b, field, WIRE_VARINT, MAX_VARINT);

	b->len = (size_t)(ut_pbuf_put(p, value) - b->data);
}

/* The wire is little-endian, and so are we (digits.h insists). */
void ut_pbuf_fixed64(struct ut_pbuf *b, uint32_t field, uint64_t value)
{
	unsigned char *p = put_tag(b, field, WIRE_FIXED64, sizeof(value));

	memcpy(p, &value, sizeof(value));
	b->len = (size_t)(p + sizeof(value) - b->data);
}

void ut_pbuf_double(struct ut_pbuf *b, uint32_t field, double value)
{
	uint64_t bits;

	memcpy(&bits, &value, sizeof(bits));
	ut_pbuf_fixed64(b, field, bits);
}

void ut_pbuf_bytes(struct ut_pbuf *b, uint32_t field, const void *data, size_t len)
{
	unsigned char *p = ut_pbuf_put(put_tag(b, field, WIRE_BYTES, MAX_VARINT + len), len);

	if (len)
		memcpy(p, data, len);
	b->len = (size_t)(p + len - b->data);
}

void ut_pbuf_str(struct ut_pbuf *b, uint32_t field, const char *s, size_t len)
{
	size_t mark;

	if (ut_utf8_valid(s, len)) {
		ut_pbuf_bytes(b, field, s, len);
		return;
	}
	mark = ut_pbuf_begin(b, field);
	b->len += ut_utf8_copy((char *)pbuf_reserve(b, len * 3), s, len);
	ut_pbuf_end(b, mark);
}

size_t ut_pbuf_begin(struct ut_pbuf *b, uint32_t field)
{
	unsigned char *p = put_tag(b, field, WIRE_BYTES, 1);

	/* One byte for the length is enough for most messages; end() makes room for more. */
	b->len = (size_t)(p + 1 - b->data);
	return b->len;
}

void ut_pbuf_end(struct ut_pbuf *b, size_t mark)
{
	size_t len = b->len - mark, more;
	unsigned char text[MAX_VARINT];

	more = (size_t)(ut_pbuf_put(text, len) - text) - 1;
	if (more) {
		pbuf_reserve(b, more);
		memmove(b->data + mark + more, b->data + mark, len);
		b->len += more;
	}
	memcpy(b->data + mark - 1, text, more + 1);
}

void ut_pbuf_release(struct ut_pbuf *b)
{
	free(b->data);
	*b = (struct ut_pbuf){ 0 };
}
