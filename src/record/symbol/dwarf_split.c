/*
 * dwarf_split.c - units whose entries lie in a file of their own (.dwo, gcc -gsplit-dwarf), or in a
 * package of those (.dwp): see dwarf_parts.h.
 */
#include "symbol/dwarf_parts.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/grow.h"

#define MOST_COLUMNS 64u

/* ---- files ----------------------------------------------------------------------------------- */

static struct ut_dwarf_file *open_split(const char *path)
{
	struct ut_dwarf_file *f = ut_make(sizeof(*f));

	f->split = true;
	if (ut_elf_open(&f->own, path)) {
		if (ut_dwarf_file_open(f, &f->own, path))
			return f;
		ut_elf_close(&f->own);
	}
	free(f);
	return NULL;
}

static struct ut_dwarf_file *dwarf_split_keep(struct ut_dwarf *d, struct ut_dwarf_file *f)
{
	if (f) {
		f->next = d->splits;
		d->splits = f;
	}
	return f;
}

/* The file that a skeleton names: in the folder where it was compiled, or beside the program. */
static struct ut_dwarf_file *named_file(struct ut_dwarf *d, const struct ut_dwarf_unit *skeleton)
{
	const char *name = skeleton->dwo_name, *base = strrchr(name, '/');
	const char *program = d->program ? d->program : d->file.path;
	const char *slash = program ? strrchr(program, '/') : NULL;
	struct ut_dwarf_file *f = NULL;
	char path[PATH_MAX];

	base = base ? base + 1 : name;
	if (snprintf(path, sizeof(path), "%s%s%s", name[0] == '/' ? "" : skeleton->dir,
		     name[0] == '/' ? "" : "/", name) < (int)sizeof(path))
		f = open_split(path);
	if (!f && slash &&
	    snprintf(path, sizeof(path), "%.*s/%s", (int)(slash - program), program, base) <
		    (int)sizeof(path))
		f = open_split(path);
	return dwarf_split_keep(d, f);
}

/* PROGRAM.dwp, or that of the file of debug info. */
static struct ut_dwarf_file *package(struct ut_dwarf *d)
{
	const char *const beside[] = { d->program, d->file.path };
	char path[PATH_MAX];

	for (size_t i = 0; !d->package_tried && !d->package && i < 2; i++) {
		if (beside[i] &&
		    snprintf(path, sizeof(path), "%s.dwp", beside[i]) < (int)sizeof(path))
			d->package = dwarf_split_keep(d, open_split(path));
	}
	d->package_tried = true;
	return d->package;
}

/* ---- the index of a package ------------------------------------------------------------------ */

/* What a unit has of each section. */
struct share {
	uint64_t info, abbrev, str_offsets, rnglists;
};

struct index {
	uint32_t version, columns, units, slots;
	const uint8_t *hashes, *rows, *kinds, *offsets;
};

/* Version 2 (GNU's): 1 info, 3 abbrev, 6 str_offsets. Version 5: the same, and 8 rnglists. */
enum {
	KIND_INFO = 1,
	KIND_ABBREV = 3,
	KIND_STR_OFFSETS = 6,
	KIND_RNGLISTS = 8
};

static uint32_t number_at(const uint8_t *table, uint64_t i)
{
	uint32_t n;

	memcpy(&n, table + i * sizeof(n), sizeof(n));
	return n;
}

static bool read_index(const struct ut_elf_bytes *s, struct index *x)
{
	struct ut_bytes b = ut_dwarf_bytes(s);
	uint64_t rest;

	x->version = (uint32_t)ut_bytes_fixed(&b, 4) & 0xffff;
	x->columns = (uint32_t)ut_bytes_fixed(&b, 4);
	x->units = (uint32_t)ut_bytes_fixed(&b, 4);
	x->slots = (uint32_t)ut_bytes_fixed(&b, 4);
	if (b.bad || (x->version != 2 && x->version != 5) || !x->columns ||
	    x->columns > MOST_COLUMNS || !x->slots || x->slots & (x->slots - 1))
		return false;
	rest = (uint64_t)(b.end - b.at);
	if ((uint64_t)x->slots * 12 + (uint64_t)x->columns * 4 * (x->units + UINT64_C(1)) > rest)
		return false;
	x->hashes = b.at;
	x->rows = x->hashes + (uint64_t)x->slots * 8;
	x->kinds = x->rows + (uint64_t)x->slots * 4;
	x->offsets = x->kinds + (uint64_t)x->columns * 4;
	return true;
}

/* Which row of the index is that of an id, from 1; 0 = none. */
static uint32_t find_row(const struct index *x, uint64_t id)
{
	uint64_t mask = x->slots - 1, at = id & mask, step = ((id >> 32) & mask) | 1, hash;

	for (uint32_t tries = 0; tries < x->slots; tries++) {
		uint32_t row = number_at(x->rows, at);

		memcpy(&hash, x->hashes + at * 8, sizeof(hash));
		if (hash == id && row && row <= x->units)
			return row;
		if (!hash && !row)
			return 0;
		at = (at + step) & mask;
	}
	return 0;
}

static bool find_share(const struct ut_dwarf_file *f, uint64_t id, struct share *share)
{
	struct index x;
	uint32_t row;

	*share = (struct share){ 0 };
	if (!read_index(&f->sections[UT_DWARF_CU_INDEX], &x))
		return false;
	row = find_row(&x, id);
	for (uint32_t i = 0; row && i < x.columns; i++) {
		uint32_t kind = number_at(x.kinds, i);
		uint64_t offset = number_at(x.offsets, (uint64_t)(row - 1) * x.columns + i);

		if (kind == KIND_INFO)
			share->info = offset;
		else if (kind == KIND_ABBREV)
			share->abbrev = offset;
		else if (kind == KIND_STR_OFFSETS)
			share->str_offsets = offset;
		else if (kind == KIND_RNGLISTS && x.version == 5)
			share->rnglists = offset;
	}
	return row != 0;
}

/* ---- the way in ------------------------------------------------------------------------------ */

static struct ut_dwarf_unit *dwarf_split_finalize(struct ut_dwarf_unit *u,
						  struct ut_dwarf_unit *skeleton)
{
	u->skeleton = skeleton;
	ut_dwarf_read_root(u, 0, NULL);
	if (u->version < 5 && !u->dwo_id)
		return NULL;
	return u->dwo_id == skeleton->dwo_id ? u : NULL;
}

static struct ut_dwarf_unit *in_package(struct ut_dwarf_file *f, struct ut_dwarf_unit *skeleton)
{
	struct ut_dwarf_unit *u;
	struct share share;

	if (!find_share(f, skeleton->dwo_id, &share))
		return NULL;
	u = ut_dwarf_unit_at(f, share.info);
	if (!u || u->skeleton)
		return NULL;
	u->abbrev += share.abbrev;
	u->str_offsets = share.str_offsets;
	u->rnglists = share.rnglists;
	return dwarf_split_finalize(u, skeleton);
}

struct ut_dwarf_unit *ut_dwarf_split(struct ut_dwarf *d, struct ut_dwarf_unit *skeleton)
{
	struct ut_dwarf_file *f;

	if (skeleton->split_tried)
		return skeleton->split;
	skeleton->split_tried = true;
	if (!skeleton->dwo_id || !skeleton->dwo_name[0])
		return NULL;
	f = package(d);
	if (f)
		skeleton->split = in_package(f, skeleton);
	if (skeleton->split)
		return skeleton->split;
	f = named_file(d, skeleton);
	for (size_t i = 0; f && !skeleton->split && i < f->unit_count; i++) {
		if (!f->units[i].skeleton)
			skeleton->split = dwarf_split_finalize(&f->units[i], skeleton);
	}
	return skeleton->split;
}
