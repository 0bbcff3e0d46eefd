/* dwarf_file.c - sections and units of a file with debug info: see dwarf_parts.h. */
#include "symbol/dwarf_parts.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/grow.h"

#define MOST_UNITS (1u << 22)

/* ---- sections -------------------------------------------------------------------------------- */

static void load_sections(struct ut_dwarf_file *f)
{
	static const struct {
		const char *name;
		bool split;
	} list[] = {
#define UT_DWARF_SECTION_ROW(section, name, split) { name, split },
		UT_DWARF_SECTION_LIST(UT_DWARF_SECTION_ROW)
#undef UT_DWARF_SECTION_ROW
	};
	char name[64];

	for (size_t i = 0; i < UT_DWARF_SECTIONS; i++) {
		snprintf(name, sizeof(name), "%s%s", list[i].name,
			 f->split && list[i].split ? ".dwo" : "");
		ut_elf_load(f->elf, name, &f->sections[i]);
	}
}

/* ---- roots of units -------------------------------------------------------------------------- */

/*
 * Bases of tables of split units: behind the head of the table, where version 5 has one. The
 * program's own units tell theirs.
 */
static void set_bases(struct ut_dwarf_unit *u)
{
	unsigned int wide = u->offset_size == 8 ? 8 : 0;

	if (u->version >= 5 && u->file->split) {
		u->str_offsets += 8u + wide;
		u->rnglists += 12u + wide;
		u->ranges_are_based = true;
	}
}

static void root_attribute(struct ut_dwarf_unit *u, uint16_t attr, const struct ut_dwarf_value *v,
			   struct ut_dwarf_extent *extent, struct ut_dwarf_value texts[2])
{
	switch (attr) {
	case DW_AT_LOW_PC:
		extent->low = *v;
		break;
	case DW_AT_HIGH_PC:
		extent->high = *v;
		break;
	case DW_AT_RANGES:
		extent->ranges = *v;
		break;
	case DW_AT_STMT_LIST:
		u->line_program = v->number;
		u->has_lines = true;
		break;
	case DW_AT_STR_OFFSETS_BASE:
		u->str_offsets = v->number;
		break;
	case DW_AT_ADDR_BASE:
	case DW_AT_GNU_ADDR_BASE:
		u->addr = v->number;
		break;
	case DW_AT_RNGLISTS_BASE:
		u->rnglists = v->number;
		u->ranges_are_based = true;
		break;
	case DW_AT_GNU_RANGES_BASE:
		u->ranges_base = v->number;
		break;
	case DW_AT_GNU_DWO_ID:
		u->dwo_id = v->number;
		break;
	case DW_AT_COMP_DIR:
		texts[0] = *v;
		break;
	case DW_AT_DWO_NAME:
	case DW_AT_GNU_DWO_NAME:
		texts[1] = *v;
		break;
	default:
		break;
	}
}

/* Texts and addresses are found once all bases are known. */
void ut_dwarf_read_root(struct ut_dwarf_unit *u, uint32_t number, struct ut_dwarf_ranges *ranges)
{
	const struct ut_dwarf_abbrevs *abbrevs = ut_dwarf_abbrevs(u);
	struct ut_bytes b = { u->first, u->end, false };
	const struct ut_dwarf_abbrev *a =
		abbrevs ? ut_dwarf_abbrev(abbrevs, ut_bytes_uleb(&b)) : NULL;
	struct ut_dwarf_value texts[2] = { { 0 } };
	struct ut_dwarf_extent extent = { .low = { 0 } };

	set_bases(u);
	for (uint32_t i = 0; a && i < a->count && !b.bad; i++) {
		const struct ut_dwarf_spec *spec = &abbrevs->specs[a->first + i];
		struct ut_dwarf_value v = ut_dwarf_value(&b, u, spec);

		root_attribute(u, spec->attr, &v, &extent, texts);
	}
	u->dir = ut_dwarf_text(u, &texts[0]);
	u->dwo_name = ut_dwarf_text(u, &texts[1]);
	if (!ut_dwarf_address(u, &extent.low, &u->low_pc))
		u->low_pc = 0;
	if (ranges)
		ut_dwarf_extent(u, &extent, number, 0, ranges);
}

/* ---- units ----------------------------------------------------------------------------------- */

/* The head of a unit; false: it cannot be read. b is behind the unit in any case. */
static bool take_unit(struct ut_dwarf_file *f, struct ut_bytes *b, struct ut_dwarf_unit *u)
{
	const uint8_t *start = b->at;
	struct ut_bytes in;
	uint64_t len = ut_bytes_fixed(b, 4);

	*u = (struct ut_dwarf_unit){ .file = f, .offset_size = 4 };
	u->offset = (uint64_t)(start - f->sections[UT_DWARF_INFO].data);
	if (len == UINT32_MAX) {
		len = ut_bytes_fixed(b, 8);
		u->offset_size = 8;
	}
	in = *b;
	ut_bytes_skip(b, len);
	if (b->bad)
		return false;
	in.end = u->end = b->at;
	u->version = (uint16_t)ut_bytes_fixed(&in, 2);
	if (u->version >= 5) {
		u->type = (uint8_t)ut_bytes_fixed(&in, 1);
		u->address_size = (uint8_t)ut_bytes_fixed(&in, 1);
		u->abbrev = ut_bytes_fixed(&in, u->offset_size);
		if (u->type == DW_UT_SKELETON || u->type == DW_UT_SPLIT)
			u->dwo_id = ut_bytes_fixed(&in, 8);
	} else {
		u->abbrev = ut_bytes_fixed(&in, u->offset_size);
		u->address_size = (uint8_t)ut_bytes_fixed(&in, 1);
	}
	u->first = in.at;
	/* 1, 3: full and partial units; those of types have no code */
	return !in.bad && u->version >= 2 && u->version <= 5 && u->address_size <= 8 &&
	       u->address_size && u->type != 2 && u->type != 6;
}

static void list_units(struct ut_dwarf_file *f)
{
	const struct ut_elf_bytes *info = &f->sections[UT_DWARF_INFO];
	struct ut_bytes b = ut_dwarf_bytes(info);
	struct ut_dwarf_unit u;

	while (b.at < b.end && !b.bad && f->unit_count < MOST_UNITS) {
		if (!take_unit(f, &b, &u))
			continue;
		f->units = ut_grow(f->units, f->unit_count + 1, &f->unit_cap, sizeof(*f->units));
		f->units[f->unit_count++] = u;
	}
}

struct ut_dwarf_unit *ut_dwarf_unit_at(struct ut_dwarf_file *f, uint64_t offset)
{
	size_t low = 0, high = f->unit_count;
	struct ut_dwarf_unit *u;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (f->units[mid].offset <= offset)
			low = mid + 1;
		else
			high = mid;
	}
	if (!low)
		return NULL;
	u = &f->units[low - 1];
	return offset < (uint64_t)(u->end - f->sections[UT_DWARF_INFO].data) ? u : NULL;
}

/* ---- a file ---------------------------------------------------------------------------------- */

bool ut_dwarf_file_open(struct ut_dwarf_file *f, const struct ut_elf *elf, const char *path)
{
	f->elf = elf;
	f->path = path ? strdup(path) : NULL;
	load_sections(f);
	if (!f->sections[UT_DWARF_INFO].size || !f->sections[UT_DWARF_ABBREV].size) {
		ut_dwarf_file_close(f);
		return false;
	}
	list_units(f);
	return true;
}

static void free_unit(struct ut_dwarf_unit *u)
{
	free(u->lines);
	free(u->files);
	free(u->functions);
	free(u->pieces.items);
}

void ut_dwarf_file_close(struct ut_dwarf_file *f)
{
	for (size_t i = 0; i < f->unit_count; i++)
		free_unit(&f->units[i]);
	free(f->units);
	for (size_t i = 0; i < f->abbrev_count; i++) {
		free(f->abbrevs[i]->items);
		free(f->abbrevs[i]->specs);
		free(f->abbrevs[i]);
	}
	free(f->abbrevs);
	ut_idmap_release(&f->abbrev_at);
	for (size_t i = 0; i < UT_DWARF_SECTIONS; i++)
		ut_elf_unload(&f->sections[i]);
	if (f->other) {
		ut_dwarf_file_close(f->other);
		free(f->other);
	}
	ut_elf_close(&f->own);
	free(f->path);
	*f = (struct ut_dwarf_file){ 0 };
}

/* ---- what dwz has moved ---------------------------------------------------------------------- */

/* "NAME\0" and a build id. */
static bool other_path(const struct ut_dwarf_file *f, char *path, size_t size,
		       struct ut_build_id *id)
{
	struct ut_elf_bytes link;
	const char *name, *slash = f->path ? strrchr(f->path, '/') : NULL;
	size_t len;
	bool ok;

	if (!ut_elf_load(f->elf, ".gnu_debugaltlink", &link))
		return false;
	name = (const char *)link.data;
	len = strnlen(name, link.size);
	ok = len && len < link.size;
	id->len = 0;
	if (ok) {
		id->len = link.size - len - 1 < UT_BUILD_ID_MOST ? (uint32_t)(link.size - len - 1)
								 : UT_BUILD_ID_MOST;
		memcpy(id->bytes, name + len + 1, id->len);
		ok = snprintf(path, size, "%.*s%s%s",
			      name[0] == '/' || !slash ? 0 : (int)(slash - f->path),
			      f->path ? f->path : "", name[0] == '/' || !slash ? "" : "/",
			      name) < (int)size;
	}
	ut_elf_unload(&link);
	return ok;
}

struct ut_dwarf_file *ut_dwarf_other(struct ut_dwarf_file *f)
{
	struct ut_build_id wanted, found;
	struct ut_dwarf_file *other;
	char path[4096];

	if (f->other_tried)
		return f->other;
	f->other_tried = true;
	if (!other_path(f, path, sizeof(path), &wanted))
		return NULL;
	other = ut_make(sizeof(*other));
	if (ut_elf_open(&other->own, path)) {
		found = ut_elf_build_id(&other->own);
		if (found.len == wanted.len && !memcmp(found.bytes, wanted.bytes, found.len) &&
		    ut_dwarf_file_open(other, &other->own, path)) {
			other->other_tried = true; /* it has none of its own */
			return f->other = other;
		}
	}
	ut_elf_close(&other->own);
	free(other);
	return NULL;
}
