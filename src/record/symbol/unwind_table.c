/*
 * unwind_table.c - which description belongs to an address: the table that linkers put in front of
 * .eh_frame. Nothing here allocates, and what is mapped is read without a system call: it works in
 * somebody else's process, too.
 */
#include "symbol/unwind.h"

#include <string.h>
#include <unistd.h>

/* The one form of the table that linkers write: 4-byte numbers, from its own start. */
#define TABLE_ENCODING 0x3b

bool ut_unwind_to_offset(const struct ut_unwind *u, uint64_t address, uint64_t *offset)
{
	for (size_t i = 0; i < u->part_count; i++) {
		const struct ut_unwind_part *p = &u->parts[i];

		if (address >= p->address && address - p->address < p->size) {
			*offset = address - p->address + p->offset;
			return true;
		}
	}
	return false;
}

bool ut_unwind_to_address(const struct ut_unwind *u, uint64_t offset, uint64_t *address)
{
	for (size_t i = 0; i < u->part_count; i++) {
		const struct ut_unwind_part *p = &u->parts[i];

		if (offset >= p->offset && offset - p->offset < p->size) {
			*address = offset - p->offset + p->address;
			return true;
		}
	}
	return false;
}

/* Of what is mapped into this process no call is made. */
size_t ut_unwind_read(const struct ut_unwind *u, uint64_t offset, void *buf, size_t len)
{
	ssize_t n;

	if (offset >= u->size)
		return 0;
	len = len < u->size - offset ? len : (size_t)(u->size - offset);
	if (u->base) {
		memcpy(buf, u->base + offset, len);
		return len;
	}
	n = pread(u->fd, buf, len, (off_t)offset);
	return n > 0 ? (size_t)n : 0;
}

/* ---- opening ------------------------------------------------------------------------------- */

/* Version, how three numbers are encoded, where .eh_frame is, how many pairs follow. */
size_t ut_unwind_pairs(const uint8_t head[UT_UNWIND_HEAD])
{
	uint32_t count;

	if (head[0] != 1 || head[2] != 0x03 || head[3] != TABLE_ENCODING ||
	    (head[1] & 0x0f) != 0x0b)
		return 0;
	memcpy(&count, head + 8, sizeof(count));
	return count;
}

const uint8_t *ut_unwind_in_place(const struct ut_unwind *u, uint64_t offset, unsigned int which,
				  size_t *len)
{
	uint32_t said;

	(void)which;
	if (offset >= u->size || u->size - offset < sizeof(said))
		return NULL;
	memcpy(&said, u->base + offset, sizeof(said));
	*len = said + sizeof(said);
	return *len <= u->size - offset ? u->base + offset : NULL;
}

bool ut_unwind_loaded(struct ut_unwind *u, uintptr_t start, uintptr_t end, uintptr_t hdr)
{
#if defined(__x86_64__)
	uint64_t size = end - start;

	*u = (struct ut_unwind){ .fd = -1,
				 .base = (const uint8_t *)start,
				 .size = size,
				 .record = ut_unwind_in_place,
				 .parts = { { 0, size, start } },
				 .part_count = 1,
				 .hdr = hdr };
	if (hdr < start || hdr > end || end - hdr < UT_UNWIND_HEAD)
		return false;
	u->count = ut_unwind_pairs((const uint8_t *)hdr);
	u->table = (const int32_t *)(hdr + UT_UNWIND_HEAD);
	return u->count && u->count <= (end - hdr - UT_UNWIND_HEAD) / 8;
#else
	(void)u, (void)start, (void)end, (void)hdr;
	return false;
#endif
}

/* ---- looking up ---------------------------------------------------------------------------- */

/* The last function that starts at or before the address; count = none does. */
static size_t unwind_table_find(const struct ut_unwind *u, uint64_t address)
{
	int64_t at = (int64_t)(address - u->hdr);
	size_t low = 0, high = u->count;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (u->table[2 * mid] <= at)
			low = mid + 1;
		else
			high = mid;
	}
	return low ? low - 1 : u->count;
}

bool ut_unwind_row(struct ut_unwind *u, uint64_t offset, struct ut_unwind_row *row)
{
	uint64_t address;
	size_t at;

	if (!u->count || !ut_unwind_to_address(u, offset, &address))
		return false;
	at = unwind_table_find(u, address);
	return at < u->count &&
	       ut_unwind_describe(u, u->hdr + (uint64_t)(int64_t)u->table[2 * at + 1], address,
				  row);
}

bool ut_unwind_start(const struct ut_unwind *u, uint64_t offset, uint64_t *start)
{
	uint64_t address;
	size_t at;

	if (!u->count || !ut_unwind_to_address(u, offset, &address))
		return false;
	at = unwind_table_find(u, address);
	return at < u->count &&
	       ut_unwind_to_offset(u, u->hdr + (uint64_t)(int64_t)u->table[2 * at], start);
}

bool ut_unwind_function(const struct ut_unwind *u, uint64_t offset, uint64_t *start, uint64_t *size)
{
	uint64_t address, end;
	size_t at;

	if (!u->count || !ut_unwind_to_address(u, offset, &address))
		return false;
	at = unwind_table_find(u, address);
	if (at >= u->count ||
	    !ut_unwind_to_offset(u, u->hdr + (uint64_t)(int64_t)u->table[2 * at], start))
		return false;
	if (at + 1 == u->count ||
	    !ut_unwind_to_offset(u, u->hdr + (uint64_t)(int64_t)u->table[2 * at + 2], &end))
		end = offset + 1; /* the last one: at least so far */
	*size = end - *start;
	return end > *start;
}
