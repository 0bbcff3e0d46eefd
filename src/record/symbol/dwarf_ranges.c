/* dwarf_ranges.c - which addresses belong to what: see dwarf_parts.h. */
#include "symbol/dwarf_parts.h"

#include <stdlib.h>

#include "base/grow.h"
#include "symbol/dwarf_forms.h"

#define MOST_RANGES (1u << 24)

/* Entries of a list of version 5. */
enum {
	LIST_END,
	LIST_BASE_INDEX,
	LIST_START_END_INDEX,
	LIST_START_INDEX,
	LIST_OFFSETS,
	LIST_BASE,
	LIST_START_END,
	LIST_START,
};

/* ---- ranges of an entry ---------------------------------------------------------------------- */

struct adding {
	struct ut_dwarf_ranges *to;
	uint32_t what, depth;
};

/* Code that the linker has left out is at 0, or at the very end. */
static void dwarf_ranges_add(struct adding *a, uint64_t low, uint64_t high)
{
	struct ut_dwarf_ranges *r = a->to;

	if (!low || low >= high || low >= UINT64_MAX - 1 || r->count == MOST_RANGES)
		return;
	r->items = ut_grow_raw(r->items, r->count + 1, &r->cap, sizeof(*r->items));
	r->items[r->count++] = (struct ut_dwarf_range){ low, high, a->what, a->depth };
}

/* Pairs of addresses from a base on; the greatest address is followed by another base. */
static void old_list(struct adding *a, const struct ut_dwarf_unit *u, uint64_t offset)
{
	const struct ut_dwarf_unit *own = u->skeleton ? u->skeleton : u;
	const struct ut_elf_bytes *s = &own->file->sections[UT_DWARF_RANGES];
	uint64_t base = own->low_pc, last = UINT64_MAX >> (64 - 8 * u->address_size);
	struct ut_bytes b = ut_dwarf_bytes(s);

	ut_bytes_skip(&b, offset);
	while (!b.bad) {
		uint64_t low = ut_bytes_fixed(&b, u->address_size);
		uint64_t high = ut_bytes_fixed(&b, u->address_size);

		if (b.bad || (!low && !high))
			break;
		if (low == last)
			base = high;
		else
			dwarf_ranges_add(a, base + low, base + high);
	}
}

/* Where a list of version 5 starts. */
static bool list_start(const struct ut_dwarf_unit *u, const struct ut_dwarf_value *v,
		       struct ut_bytes *b)
{
	const struct ut_elf_bytes *s = &u->file->sections[UT_DWARF_RNGLISTS];
	uint64_t offset = v->number;

	*b = ut_dwarf_bytes(s);
	if (v->form == FORM_RNGLISTX) {
		struct ut_bytes table = *b;

		if (offset > s->size || u->rnglists > s->size)
			return false;
		ut_bytes_skip(&table, u->rnglists + offset * u->offset_size);
		offset = u->rnglists + ut_bytes_fixed(&table, u->offset_size);
		if (table.bad)
			return false;
	}
	ut_bytes_skip(b, offset);
	return !b->bad;
}

static uint64_t indexed(const struct ut_dwarf_unit *u, struct ut_bytes *b)
{
	uint64_t at = 0, index = ut_bytes_uleb(b);

	if (!b->bad && !ut_dwarf_address_at(u, index, &at))
		b->bad = true;
	return at;
}

static void new_list(struct adding *a, const struct ut_dwarf_unit *u,
		     const struct ut_dwarf_value *v)
{
	uint64_t base = u->skeleton ? u->skeleton->low_pc : u->low_pc, low, high;
	struct ut_bytes b;
	bool more = list_start(u, v, &b);

	while (more && !b.bad) {
		low = high = 0;
		switch (ut_bytes_fixed(&b, 1)) {
		case LIST_BASE_INDEX:
			base = indexed(u, &b);
			break;
		case LIST_BASE:
			base = ut_bytes_fixed(&b, u->address_size);
			break;
		case LIST_START_END_INDEX:
			low = indexed(u, &b);
			high = indexed(u, &b);
			break;
		case LIST_START_INDEX:
			low = indexed(u, &b);
			high = low + ut_bytes_uleb(&b);
			break;
		case LIST_OFFSETS:
			low = base + ut_bytes_uleb(&b);
			high = base + ut_bytes_uleb(&b);
			break;
		case LIST_START_END:
			low = ut_bytes_fixed(&b, u->address_size);
			high = ut_bytes_fixed(&b, u->address_size);
			break;
		case LIST_START:
			low = ut_bytes_fixed(&b, u->address_size);
			high = low + ut_bytes_uleb(&b);
			break;
		default:
			more = false;
		}
		if (!b.bad)
			dwarf_ranges_add(a, low, high);
	}
}

void ut_dwarf_extent(struct ut_dwarf_unit *u, const struct ut_dwarf_extent *e, uint32_t what,
		     uint32_t depth, struct ut_dwarf_ranges *to)
{
	struct adding a = { to, what, depth };
	uint64_t low, high;

	if (e->ranges.form) {
		if (u->version >= 5)
			new_list(&a, u, &e->ranges);
		else
			old_list(&a, u,
				 e->ranges.number + (u->skeleton ? u->skeleton->ranges_base : 0));
		return;
	}
	if (!e->high.form || !ut_dwarf_address(u, &e->low, &low))
		return;
	if (ut_dwarf_is_constant(e->high.form))
		dwarf_ranges_add(&a, low, low + e->high.number);
	else if (ut_dwarf_address(u, &e->high, &high))
		dwarf_ranges_add(&a, low, high);
}

/* ---- pieces ---------------------------------------------------------------------------------- */

/* Outer ones first. */
static int in_order(const void *x, const void *y)
{
	const struct ut_dwarf_range *a = x, *b = y;

	if (a->low != b->low)
		return a->low < b->low ? -1 : 1;
	if (a->depth != b->depth)
		return a->depth < b->depth ? -1 : 1;
	if (a->high != b->high)
		return a->high > b->high ? -1 : 1;
	return (a->what > b->what) - (a->what < b->what);
}

static void dwarf_ranges_put(struct ut_dwarf_pieces *p, uint64_t start, uint32_t what)
{
	if (p->count && p->items[p->count - 1].start == start) {
		p->items[p->count - 1].what = what;
		return;
	}
	if (p->count && p->items[p->count - 1].what == what)
		return;
	p->items = ut_grow_raw(p->items, p->count + 1, &p->cap, sizeof(*p->items));
	p->items[p->count++] = (struct ut_dwarf_piece){ start, what };
}

/* Of those that are open, ends all that end until then; what is around them goes on. */
static size_t end_until(struct ut_dwarf_pieces *p, const struct ut_dwarf_range **open, size_t depth,
			uint64_t until)
{
	while (depth && open[depth - 1]->high <= until) {
		uint64_t end = open[depth - 1]->high;

		while (depth && open[depth - 1]->high <= end)
			depth--;
		dwarf_ranges_put(p, end, depth ? open[depth - 1]->what : 0);
	}
	return depth;
}

void ut_dwarf_flatten(struct ut_dwarf_ranges *ranges, struct ut_dwarf_pieces *to)
{
	const struct ut_dwarf_range **open = NULL;
	size_t depth = 0, cap = 0;

	if (ranges->count)
		qsort(ranges->items, ranges->count, sizeof(*ranges->items), in_order);
	for (size_t i = 0; i < ranges->count; i++) {
		const struct ut_dwarf_range *r = &ranges->items[i];

		depth = end_until(to, open, depth, r->low);
		open = ut_grow_raw(open, depth + 1, &cap, sizeof(struct ut_dwarf_range *));
		open[depth++] = r;
		dwarf_ranges_put(to, r->low, r->what);
	}
	end_until(to, open, depth, UINT64_MAX);
	free(open);
	free(ranges->items);
	*ranges = (struct ut_dwarf_ranges){ 0 };
}

uint32_t ut_dwarf_piece_at(const struct ut_dwarf_pieces *p, uint64_t address)
{
	size_t low = 0, high = p->count;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (p->items[mid].start <= address)
			low = mid + 1;
		else
			high = mid;
	}
	return low ? p->items[low - 1].what : 0;
}
