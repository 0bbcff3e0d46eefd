/* dwarf_functions.c - the functions of a unit, those inlined among them: see dwarf_parts.h. */
#include "symbol/dwarf_parts.h"

#include <stdlib.h>

#include "base/grow.h"

#define MOST_DEPTH     1024u
#define MOST_FUNCTIONS (1u << 24)
#define MOST_HOPS      16u /* from an entry to the one that has the name */

struct walk {
	struct ut_dwarf_unit *unit;
	const struct ut_dwarf_abbrevs *abbrevs;
	struct ut_bytes b;
	struct ut_dwarf_ranges ranges;
	uint32_t enclosing[MOST_DEPTH]; /* the function that entries of this depth are in, from 1 */
	uint32_t depth;
};

static void skip_values(struct walk *w, const struct ut_dwarf_abbrev *a)
{
	if (a->fixed != UINT32_MAX) {
		ut_bytes_skip(&w->b, a->fixed);
		return;
	}
	for (uint32_t i = 0; i < a->count && !w->b.bad; i++)
		ut_dwarf_skip(&w->b, w->unit, w->abbrevs->specs[a->first + i].form);
}

/* A function, if it has code; returns the one that entries inside are in. */
static uint32_t take_function(struct walk *w, const struct ut_dwarf_abbrev *a, uint64_t entry)
{
	struct ut_dwarf_unit *u = w->unit;
	struct ut_dwarf_extent extent = { .low = { 0 } };
	struct ut_dwarf_function f = { .entry = entry,
				       .inlined = a->tag == DW_TAG_INLINED,
				       .parent = w->enclosing[w->depth] };
	size_t before = w->ranges.count;

	for (uint32_t i = 0; i < a->count && !w->b.bad; i++) {
		const struct ut_dwarf_spec *spec = &w->abbrevs->specs[a->first + i];

		switch (spec->attr) {
		case DW_AT_LOW_PC:
			extent.low = ut_dwarf_value(&w->b, u, spec);
			break;
		case DW_AT_HIGH_PC:
			extent.high = ut_dwarf_value(&w->b, u, spec);
			break;
		case DW_AT_RANGES:
			extent.ranges = ut_dwarf_value(&w->b, u, spec);
			break;
		case DW_AT_CALL_FILE:
			f.call_file = (uint32_t)ut_dwarf_value(&w->b, u, spec).number;
			break;
		case DW_AT_CALL_LINE:
			f.call_line = (uint32_t)ut_dwarf_value(&w->b, u, spec).number;
			break;
		default:
			ut_dwarf_skip(&w->b, u, spec->form);
		}
	}
	if (w->b.bad || u->function_count >= MOST_FUNCTIONS)
		return 0;
	ut_dwarf_extent(u, &extent, (uint32_t)u->function_count + 1, w->depth, &w->ranges);
	if (w->ranges.count == before)
		return 0; /* nothing but a description of one */
	if (!f.inlined)
		f.parent = 0; /* one inside another is a function of its own */
	u->functions = ut_grow_raw(u->functions, u->function_count + 1, &u->function_cap,
				   sizeof(*u->functions));
	u->functions[u->function_count++] = f;
	return (uint32_t)u->function_count;
}

static void take_entry(struct walk *w, const uint8_t *at, uint64_t code)
{
	const struct ut_dwarf_abbrev *a = ut_dwarf_abbrev(w->abbrevs, code);
	uint32_t inside = w->enclosing[w->depth];

	if (!a) {
		w->b.bad = true;
		return;
	}
	if (a->tag == DW_TAG_FUNCTION || a->tag == DW_TAG_INLINED)
		inside = take_function(
			w, a, (uint64_t)(at - w->unit->file->sections[UT_DWARF_INFO].data));
	else
		skip_values(w, a);
	if (!a->children)
		return;
	if (w->depth + 1 >= MOST_DEPTH)
		w->b.bad = true;
	else
		w->enclosing[++w->depth] = inside;
}

void ut_dwarf_read_functions(struct ut_dwarf_unit *u)
{
	struct walk *w = ut_make(sizeof(*w));

	w->unit = u;
	w->abbrevs = ut_dwarf_abbrevs(u);
	w->b = (struct ut_bytes){ u->first, u->end, !w->abbrevs };
	while (!w->b.bad && w->b.at < w->b.end) {
		const uint8_t *at = w->b.at;
		uint64_t code = ut_bytes_uleb(&w->b);

		if (code)
			take_entry(w, at, code);
		else if (w->depth)
			w->depth--;
	}
	ut_dwarf_flatten(&w->ranges, &u->pieces);
	free(w);
}

/* ---- names ----------------------------------------------------------------------------------- */

struct naming {
	struct ut_dwarf_unit *unit;
	uint64_t entry;
	const char *linkage, *plain;
};

/* What one entry says; false: it refers to no other. */
static bool dwarf_functions_look(struct naming *n)
{
	struct ut_dwarf_unit *u = n->unit;
	const struct ut_elf_bytes *info = &u->file->sections[UT_DWARF_INFO];
	const struct ut_dwarf_abbrevs *abbrevs = ut_dwarf_abbrevs(u);
	struct ut_bytes b = { info->data, u->end, false };
	const struct ut_dwarf_abbrev *a;
	struct ut_dwarf_value target = { 0 };

	ut_bytes_skip(&b, n->entry);
	if (b.bad || b.at < u->first || !abbrevs)
		return false;
	a = ut_dwarf_abbrev(abbrevs, ut_bytes_uleb(&b));
	for (uint32_t i = 0; a && i < a->count && !b.bad; i++) {
		const struct ut_dwarf_spec *spec = &abbrevs->specs[a->first + i];
		struct ut_dwarf_value v = ut_dwarf_value(&b, u, spec);

		if (spec->attr == DW_AT_LINKAGE_NAME || spec->attr == DW_AT_MIPS_LINKAGE_NAME)
			n->linkage = ut_dwarf_text(u, &v);
		else if (spec->attr == DW_AT_NAME && !n->plain)
			n->plain = ut_dwarf_text(u, &v);
		else if (spec->attr == DW_AT_ABSTRACT_ORIGIN || spec->attr == DW_AT_SPECIFICATION)
			target = v;
	}
	return target.form && ut_dwarf_target(u, &target, &n->unit, &n->entry);
}

const char *ut_dwarf_function_name(struct ut_dwarf_unit *u, struct ut_dwarf_function *f)
{
	struct naming n = { .unit = u, .entry = f->entry };

	if (f->named)
		return f->name;
	for (unsigned int hops = 0; hops < MOST_HOPS && !n.linkage && dwarf_functions_look(&n);
	     hops++)
		;
	f->named = true;
	f->name = n.linkage && n.linkage[0] ? n.linkage : n.plain && n.plain[0] ? n.plain : NULL;
	return f->name;
}
