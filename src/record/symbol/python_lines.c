#include "symbol/python_lines.h"

/* 3.9: pairs of bytes, how many bytes of code and how many lines further. */
static int64_t by_pairs(const uint8_t *t, size_t len, int64_t line, uint64_t at)
{
	uint64_t address = 0;

	for (size_t i = 0; i + 1 < len; i += 2) {
		address += t[i];
		if (address > at)
			break;
		line += (int8_t)t[i + 1];
	}
	return line;
}

/* 3.10: pairs, how many bytes of code this entry is for and how its line differs from the last. */
static int64_t by_ranges(const uint8_t *t, size_t len, int64_t line, uint64_t at)
{
	uint64_t end = 0;

	for (size_t i = 0; i + 1 < len; i += 2) {
		int8_t delta = (int8_t)t[i + 1];

		end += t[i];
		if (delta != -128) /* no line at all */
			line += delta;
		if (end > at)
			break;
	}
	return line;
}

/* Six bits at a time, lowest first; bit 6 says that there are more. */
static int64_t varint(const uint8_t *t, size_t len, size_t *i)
{
	uint64_t value = 0;

	for (unsigned int shift = 0; *i < len && shift < 60; shift += 6) {
		uint8_t byte = t[(*i)++];

		value |= (uint64_t)(byte & 63) << shift;
		if (!(byte & 64))
			break;
	}
	return (int64_t)value;
}

/* Bit 0 is the sign. */
static int64_t signed_varint(const uint8_t *t, size_t len, size_t *i)
{
	int64_t value = varint(t, len, i);

	return value & 1 ? -(value >> 1) : value >> 1;
}

/*
 * From 3.11 on: entries that begin with a byte whose highest bit is set. It says how many
 * instructions the entry is for (bits 0 to 2) and its kind: 15 = no line, 14 and 13 = the line as a
 * number, 12 to 10 = so many lines further, below = the same line.
 */
static int64_t by_entries(const uint8_t *t, size_t len, int64_t line, uint64_t at)
{
	uint64_t end = 0;
	size_t i = 0;

	while (i < len) {
		uint8_t first = t[i++];
		unsigned int kind = first >> 3 & 15;

		end += 2 * ((first & 7u) + 1);
		if (kind == 13 || kind == 14)
			line += signed_varint(t, len, &i);
		else if (kind >= 10 && kind <= 12)
			line += (int64_t)kind - 10;
		if (end > at)
			break;
		while (i < len && !(t[i] & 128))
			i++;
	}
	return line;
}

uint32_t ut_python_line(uint32_t version, const uint8_t *table, size_t len, uint32_t first,
			uint64_t at)
{
	int64_t line = version < 0x030a   ? by_pairs(table, len, first, at)
		       : version < 0x030b ? by_ranges(table, len, first, at)
					  : by_entries(table, len, first, at);

	return line > 0 && line <= INT32_MAX ? (uint32_t)line : first;
}
