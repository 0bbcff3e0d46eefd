/*
 * protobuf.h - reads protobuf's wire format in place; knows nothing of schemas.
 *
 * A message is a piece of memory. ut_pb_next() steps through its fields and never looks outside;
 * at the first byte that makes no sense it stops and sets bad. Inline, because a trace has twenty
 * fields per event.
 */
#ifndef UT_IMPORT_PERFETTO_PROTOBUF_H
#define UT_IMPORT_PERFETTO_PROTOBUF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "the wire is, and so are we");

enum ut_pb_wire {
	UT_PB_VARINT = 0,
	UT_PB_FIXED64 = 1,
	UT_PB_BYTES = 2,
	UT_PB_FIXED32 = 5,
};

struct ut_pb {
	const unsigned char *at, *end;
	bool bad;
};

struct ut_pb_field {
	uint32_t number;
	uint8_t wire;              /* enum ut_pb_wire */
	uint64_t value;            /* the number, or the length of the bytes */
	const unsigned char *data; /* bytes */
};

/* Eight bytes of seven bits each, low ones first, as one number. */
static inline uint64_t ut_pb_squeeze(uint64_t x)
{
	x = (x & 0x007f007f007f007f) | (x & 0x7f007f007f007f00) >> 1;
	x = (x & 0x00003fff00003fff) | (x & 0x3fff00003fff0000) >> 2;
	return (x & 0x000000000fffffff) | (x & 0x0fffffff00000000) >> 4;
}

/* The number at *p; false if it has no end before end or more than 64 bits. */
static inline bool ut_pb_varint(const unsigned char **p, const unsigned char *end, uint64_t *value)
{
	const unsigned char *at = *p;
	uint64_t v = 0, stops;

	if (end - at >= 8) { /* times and uuids are long: all bytes at once */
		memcpy(&v, at, 8);
		stops = ~v & 0x8080808080808080;
		if (stops) {
			*p = at + __builtin_ctzll(stops) / 8 + 1;
			*value = ut_pb_squeeze(v & (stops ^ (stops - 1)) & 0x7f7f7f7f7f7f7f7f);
			return true;
		}
		v = 0;
	}
	for (unsigned int shift = 0; at < end && shift < 70; shift += 7) {
		unsigned char byte = *at++;

		v |= (uint64_t)(byte & 0x7f) << shift;
		if (byte < 0x80) {
			*p = at;
			*value = v;
			return shift < 63 || byte < 2;
		}
	}
	return false;
}

static inline bool ut_pb_stop(struct ut_pb *m)
{
	m->bad = true;
	m->at = m->end;
	return false;
}

/* The next field; false at the end of the message, or where it is broken (bad). */
static inline bool ut_pb_next(struct ut_pb *m, struct ut_pb_field *f)
{
	uint64_t tag;
	size_t fixed;

	if (m->at == m->end)
		return false;
	if (*m->at < 0x80)
		tag = *m->at++;
	else if (!ut_pb_varint(&m->at, m->end, &tag))
		return ut_pb_stop(m);
	if (tag < 8 || tag > UINT32_MAX)
		return ut_pb_stop(m);
	f->number = (uint32_t)(tag >> 3);
	f->wire = tag & 7;
	switch (f->wire) {
	case UT_PB_VARINT:
		if (m->at < m->end && *m->at < 0x80) {
			f->value = *m->at++;
			return true;
		}
		return ut_pb_varint(&m->at, m->end, &f->value) || ut_pb_stop(m);
	case UT_PB_BYTES:
		if (m->at < m->end && *m->at < 0x80)
			f->value = *m->at++;
		else if (!ut_pb_varint(&m->at, m->end, &f->value))
			return ut_pb_stop(m);
		if (f->value > (uint64_t)(m->end - m->at))
			return ut_pb_stop(m);
		f->data = m->at;
		m->at += f->value;
		return true;
	case UT_PB_FIXED64:
	case UT_PB_FIXED32:
		fixed = f->wire == UT_PB_FIXED64 ? 8 : 4;
		if ((size_t)(m->end - m->at) < fixed)
			return ut_pb_stop(m);
		f->value = 0;
		memcpy(&f->value, m->at, fixed);
		m->at += fixed;
		return true;
	default:
		return ut_pb_stop(m);
	}
}

/* The message in a field; an empty one if the field holds a number. */
static inline struct ut_pb ut_pb_inside(const struct ut_pb_field *f)
{
	if (f->wire != UT_PB_BYTES)
		return (struct ut_pb){ 0 };
	return (struct ut_pb){ .at = f->data, .end = f->data + f->value };
}

static inline double ut_pb_double(uint64_t bits)
{
	double value;

	memcpy(&value, &bits, sizeof(value));
	return value;
}

/*
 * The elements of a repeated number, packed or not: start with *rest = ut_pb_inside(f) and call
 * until false. wire says what packed elements are.
 */
static inline bool ut_pb_element(const struct ut_pb_field *f, struct ut_pb *rest,
				 enum ut_pb_wire wire, uint64_t *value)
{
	if (f->wire != UT_PB_BYTES) { /* not packed: once */
		if (rest->bad)
			return false;
		rest->bad = true;
		*value = f->value;
		return true;
	}
	if (wire == UT_PB_VARINT)
		return ut_pb_varint(&rest->at, rest->end, value);
	if (rest->end - rest->at < 8)
		return false;
	memcpy(value, rest->at, 8);
	rest->at += 8;
	return true;
}

#endif
