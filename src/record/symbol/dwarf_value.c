/* dwarf_value.c - abbreviations, and the values of attributes: see dwarf_parts.h. */
#include "symbol/dwarf_parts.h"

#include <stdlib.h>

#include "base/grow.h"
#include "symbol/dwarf_forms.h"

#define MOST_SPECS (1u << 22)
#define CHANGING   UINT32_MAX /* the size is not the same for all */

/* How values of a form are written. */
enum how {
	UNKNOWN,
	NOTHING, /* the form says it all */
	FIXED,   /* so many bytes */
	ADDRESS, /* as many as an address has */
	OFFSET,  /* as many as an offset has */
	LEB,
	TEXT,
	COUNTED, /* a length of so many bytes, then the bytes; 0 = the length is a LEB */
	ANOTHER, /* the form itself comes first */
};

struct writing {
	uint8_t how, size;
};

static struct writing how_written(uint16_t form)
{
	static const struct writing usual[] = {
		[FORM_ADDR] = { ADDRESS, 0 },     [FORM_BLOCK2] = { COUNTED, 2 },
		[FORM_BLOCK4] = { COUNTED, 4 },   [FORM_DATA2] = { FIXED, 2 },
		[FORM_DATA4] = { FIXED, 4 },      [FORM_DATA8] = { FIXED, 8 },
		[FORM_STRING] = { TEXT, 0 },      [FORM_BLOCK] = { COUNTED, 0 },
		[FORM_BLOCK1] = { COUNTED, 1 },   [FORM_DATA1] = { FIXED, 1 },
		[FORM_FLAG] = { FIXED, 1 },       [FORM_SDATA] = { LEB, 0 },
		[FORM_STRP] = { OFFSET, 0 },      [FORM_UDATA] = { LEB, 0 },
		[FORM_REF_ADDR] = { OFFSET, 0 },  [FORM_REF1] = { FIXED, 1 },
		[FORM_REF2] = { FIXED, 2 },       [FORM_REF4] = { FIXED, 4 },
		[FORM_REF8] = { FIXED, 8 },       [FORM_REF_UDATA] = { LEB, 0 },
		[FORM_INDIRECT] = { ANOTHER, 0 }, [FORM_SEC_OFFSET] = { OFFSET, 0 },
		[FORM_EXPRLOC] = { COUNTED, 0 },  [FORM_FLAG_PRESENT] = { NOTHING, 0 },
		[FORM_STRX] = { LEB, 0 },         [FORM_ADDRX] = { LEB, 0 },
		[FORM_REF_SUP4] = { FIXED, 4 },   [FORM_STRP_SUP] = { OFFSET, 0 },
		[FORM_DATA16] = { FIXED, 16 },    [FORM_LINE_STRP] = { OFFSET, 0 },
		[FORM_REF_SIG8] = { FIXED, 8 },   [FORM_IMPLICIT_CONST] = { NOTHING, 0 },
		[FORM_LOCLISTX] = { LEB, 0 },     [FORM_RNGLISTX] = { LEB, 0 },
		[FORM_REF_SUP8] = { FIXED, 8 },   [FORM_STRX1] = { FIXED, 1 },
		[FORM_STRX2] = { FIXED, 2 },      [FORM_STRX3] = { FIXED, 3 },
		[FORM_STRX4] = { FIXED, 4 },      [FORM_ADDRX1] = { FIXED, 1 },
		[FORM_ADDRX2] = { FIXED, 2 },     [FORM_ADDRX3] = { FIXED, 3 },
		[FORM_ADDRX4] = { FIXED, 4 },
	};

	if (form < sizeof(usual) / sizeof(usual[0]))
		return usual[form];
	if (form == FORM_GNU_ADDR_INDEX || form == FORM_GNU_STR_INDEX)
		return (struct writing){ LEB, 0 };
	if (form == FORM_GNU_REF_ALT || form == FORM_GNU_STRP_ALT)
		return (struct writing){ OFFSET, 0 };
	return (struct writing){ UNKNOWN, 0 };
}

/* Version 2 wrote the offset of an entry elsewhere like an address. */
static unsigned int offset_size(const struct ut_dwarf_unit *u, uint16_t form)
{
	return form == FORM_REF_ADDR && u->version == 2 ? u->address_size : u->offset_size;
}

/* ---- abbreviations ----------------------------------------------------------------------------*/

/* Bytes of a value of this form, in this unit; CHANGING = that depends. */
static uint32_t dwarf_value_size_of(const struct ut_dwarf_unit *u, uint16_t form)
{
	struct writing w = how_written(form);

	switch (w.how) {
	case NOTHING:
		return 0;
	case FIXED:
		return w.size;
	case ADDRESS:
		return u->address_size;
	case OFFSET:
		return offset_size(u, form);
	default:
		return CHANGING;
	}
}

static void take_spec(struct ut_dwarf_abbrevs *a, struct ut_dwarf_abbrev *to,
		      const struct ut_dwarf_unit *u, const struct ut_dwarf_spec *spec)
{
	uint32_t size = dwarf_value_size_of(u, spec->form);

	a->specs = ut_grow_raw(a->specs, a->spec_count + 1, &a->spec_cap, sizeof(*a->specs));
	a->specs[a->spec_count++] = *spec;
	to->count++;
	if (size == CHANGING || to->fixed == CHANGING)
		to->fixed = CHANGING;
	else
		to->fixed += size;
}

/* One of them; false: that was the last. */
static bool take_abbrev(struct ut_dwarf_abbrevs *a, struct ut_bytes *b,
			const struct ut_dwarf_unit *u)
{
	struct ut_dwarf_abbrev abbrev = { .code = ut_bytes_uleb(b),
					  .first = (uint32_t)a->spec_count };

	if (b->bad || !abbrev.code)
		return false;
	abbrev.tag = (uint16_t)ut_bytes_uleb(b);
	abbrev.children = ut_bytes_fixed(b, 1) != 0;
	while (!b->bad && a->spec_count < MOST_SPECS) {
		uint64_t attr = ut_bytes_uleb(b), form = ut_bytes_uleb(b);
		struct ut_dwarf_spec spec = { (uint16_t)attr, (uint16_t)form, 0 };

		if (form == FORM_IMPLICIT_CONST)
			spec.constant = ut_bytes_sleb(b);
		if (!attr && !form)
			break;
		take_spec(a, &abbrev, u, &spec);
	}
	if (b->bad)
		return false;
	a->items = ut_grow_raw(a->items, a->count + 1, &a->cap, sizeof(*a->items));
	a->items[a->count++] = abbrev;
	a->dense = a->dense && abbrev.code == a->count;
	return a->spec_count < MOST_SPECS;
}

static int by_code(const void *x, const void *y)
{
	const struct ut_dwarf_abbrev *a = x, *b = y;

	return (a->code > b->code) - (a->code < b->code);
}

const struct ut_dwarf_abbrevs *ut_dwarf_abbrevs(const struct ut_dwarf_unit *u)
{
	struct ut_dwarf_file *f = u->file;
	const struct ut_elf_bytes *s = &f->sections[UT_DWARF_ABBREV];
	/* sizes of values are part of the table */
	uint64_t key = u->abbrev << 8 | (uint64_t)u->address_size << 4 | u->offset_size;
	uint32_t known = ut_idmap_get(&f->abbrev_at, key);
	struct ut_dwarf_abbrevs *a;
	struct ut_bytes b;

	if (known)
		return f->abbrevs[known - 1];
	if (u->abbrev >= s->size)
		return NULL;
	f->abbrevs = ut_grow(f->abbrevs, f->abbrev_count + 1, &f->abbrev_cap,
			     sizeof(struct ut_dwarf_abbrevs *));
	a = f->abbrevs[f->abbrev_count++] = ut_make(sizeof(*a));
	a->dense = true;
	ut_idmap_put(&f->abbrev_at, key, (uint32_t)f->abbrev_count);
	b = (struct ut_bytes){ s->data + u->abbrev, s->data + s->size, false };
	while (take_abbrev(a, &b, u))
		;
	if (!a->dense && a->count)
		qsort(a->items, a->count, sizeof(*a->items), by_code);
	return a;
}

const struct ut_dwarf_abbrev *ut_dwarf_abbrev(const struct ut_dwarf_abbrevs *a, uint64_t code)
{
	const struct ut_dwarf_abbrev key = { .code = code };

	if (a->dense)
		return code - 1 < a->count ? &a->items[code - 1] : NULL;
	return a->count ? bsearch(&key, a->items, a->count, sizeof(key), by_code) : NULL;
}

/* ---- values ---------------------------------------------------------------------------------- */

/* A form that comes with its value: not again, and not one that says it all. */
static uint16_t take_form(struct ut_bytes *b)
{
	uint64_t form = ut_bytes_uleb(b);

	if (form == FORM_INDIRECT || form == FORM_IMPLICIT_CONST || form > UINT16_MAX)
		b->bad = true;
	return b->bad ? 0 : (uint16_t)form;
}

static void skip_text(struct ut_bytes *b)
{
	const uint8_t *end = b->bad ? NULL : memchr(b->at, 0, (size_t)(b->end - b->at));

	if (end)
		b->at = end + 1;
	else
		b->bad = true;
}

void ut_dwarf_skip(struct ut_bytes *b, const struct ut_dwarf_unit *u, uint16_t form)
{
	struct writing w = how_written(form);

	if (w.how == ANOTHER) {
		form = take_form(b);
		w = how_written(form);
	}
	switch (w.how) {
	case NOTHING:
		break;
	case FIXED:
		ut_bytes_skip(b, w.size);
		break;
	case ADDRESS:
		ut_bytes_skip(b, u->address_size);
		break;
	case OFFSET:
		ut_bytes_skip(b, offset_size(u, form));
		break;
	case LEB:
		ut_bytes_uleb(b);
		break;
	case TEXT:
		skip_text(b);
		break;
	case COUNTED:
		ut_bytes_skip(b, w.size ? ut_bytes_fixed(b, w.size) : ut_bytes_uleb(b));
		break;
	default:
		b->bad = true;
	}
}

struct ut_dwarf_value ut_dwarf_value(struct ut_bytes *b, const struct ut_dwarf_unit *u,
				     const struct ut_dwarf_spec *spec)
{
	struct ut_dwarf_value v = { .form = spec->form };
	struct writing w;

	if (v.form == FORM_IMPLICIT_CONST) {
		v.number = (uint64_t)spec->constant;
		return v;
	}
	if (v.form == FORM_INDIRECT)
		v.form = take_form(b);
	w = how_written(v.form);
	v.bytes = b->at;
	if (w.how == FIXED && w.size <= 8)
		v.number = ut_bytes_fixed(b, w.size);
	else if (w.how == ADDRESS)
		v.number = ut_bytes_fixed(b, u->address_size);
	else if (w.how == OFFSET)
		v.number = ut_bytes_fixed(b, offset_size(u, v.form));
	else if (v.form == FORM_SDATA)
		v.number = (uint64_t)ut_bytes_sleb(b);
	else if (w.how == LEB)
		v.number = ut_bytes_uleb(b);
	else
		ut_dwarf_skip(b, u, v.form);
	if (b->bad)
		v = (struct ut_dwarf_value){ 0 };
	return v;
}

/* ---- texts ----------------------------------------------------------------------------------- */

static const char *dwarf_value_text_at(const struct ut_elf_bytes *s, uint64_t offset)
{
	if (offset >= s->size || !memchr(s->data + offset, 0, s->size - offset))
		return "";
	return (const char *)s->data + offset;
}

/* The offset at an index of a table of them. */
static bool offset_at(const struct ut_dwarf_unit *u, const struct ut_elf_bytes *s, uint64_t base,
		      uint64_t index, uint64_t *offset)
{
	struct ut_bytes b = ut_dwarf_bytes(s);

	if (index > s->size || base > s->size)
		return false;
	ut_bytes_skip(&b, base + index * u->offset_size);
	*offset = ut_bytes_fixed(&b, u->offset_size);
	return !b.bad;
}

static const char *indexed_text(const struct ut_dwarf_unit *u, uint64_t index)
{
	uint64_t offset;

	if (!offset_at(u, &u->file->sections[UT_DWARF_STR_OFFSETS], u->str_offsets, index, &offset))
		return "";
	return dwarf_value_text_at(&u->file->sections[UT_DWARF_STR], offset);
}

const char *ut_dwarf_text(const struct ut_dwarf_unit *u, const struct ut_dwarf_value *v)
{
	struct ut_dwarf_file *other;

	switch (v->form) {
	case FORM_STRING:
		return (const char *)v->bytes;
	case FORM_STRP:
		return dwarf_value_text_at(&u->file->sections[UT_DWARF_STR], v->number);
	case FORM_LINE_STRP:
		return dwarf_value_text_at(&u->file->sections[UT_DWARF_LINE_STR], v->number);
	case FORM_STRX:
	case FORM_STRX1:
	case FORM_STRX2:
	case FORM_STRX3:
	case FORM_STRX4:
	case FORM_GNU_STR_INDEX:
		return indexed_text(u, v->number);
	case FORM_STRP_SUP:
	case FORM_GNU_STRP_ALT:
		other = ut_dwarf_other(u->file);
		return other ? dwarf_value_text_at(&other->sections[UT_DWARF_STR], v->number) : "";
	default:
		return "";
	}
}

/* ---- addresses and references ---------------------------------------------------------------- */

/* Addresses are in the program's own file, even those of split units. */
bool ut_dwarf_address_at(const struct ut_dwarf_unit *u, uint64_t index, uint64_t *at)
{
	const struct ut_dwarf_unit *own = u->skeleton ? u->skeleton : u;
	const struct ut_elf_bytes *s = &own->file->sections[UT_DWARF_ADDR];
	struct ut_bytes b = ut_dwarf_bytes(s);

	if (index > s->size || own->addr > s->size)
		return false;
	ut_bytes_skip(&b, own->addr + index * own->address_size);
	*at = ut_bytes_fixed(&b, own->address_size);
	return !b.bad;
}

bool ut_dwarf_address(const struct ut_dwarf_unit *u, const struct ut_dwarf_value *v, uint64_t *at)
{
	switch (v->form) {
	case FORM_ADDR:
		*at = v->number;
		return true;
	case FORM_ADDRX:
	case FORM_ADDRX1:
	case FORM_ADDRX2:
	case FORM_ADDRX3:
	case FORM_ADDRX4:
	case FORM_GNU_ADDR_INDEX:
		return ut_dwarf_address_at(u, v->number, at);
	default:
		return false;
	}
}

bool ut_dwarf_is_constant(uint16_t form)
{
	return form == FORM_DATA1 || form == FORM_DATA2 || form == FORM_DATA4 ||
	       form == FORM_DATA8 || form == FORM_UDATA || form == FORM_SDATA ||
	       form == FORM_IMPLICIT_CONST;
}

bool ut_dwarf_target(struct ut_dwarf_unit *u, const struct ut_dwarf_value *v,
		     struct ut_dwarf_unit **unit, uint64_t *offset)
{
	struct ut_dwarf_file *other;

	*unit = NULL;
	switch (v->form) {
	case FORM_REF1:
	case FORM_REF2:
	case FORM_REF4:
	case FORM_REF8:
	case FORM_REF_UDATA:
		*unit = u;
		*offset = u->offset + v->number;
		break;
	case FORM_REF_ADDR:
		*offset = v->number;
		*unit = u->skeleton ? u : ut_dwarf_unit_at(u->file, v->number);
		break;
	case FORM_REF_SUP4:
	case FORM_REF_SUP8:
	case FORM_GNU_REF_ALT:
		other = ut_dwarf_other(u->file);
		*offset = v->number;
		*unit = other ? ut_dwarf_unit_at(other, v->number) : NULL;
		break;
	default:
		break;
	}
	return *unit != NULL;
}
