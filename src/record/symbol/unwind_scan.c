/*
 * unwind_scan.c - files that have .eh_frame but no table of it, as static programs do: the
 * descriptions are gone through once, and the table is made here.
 */
#include "symbol/unwind.h"

#include <stdlib.h>

#include "base/grow.h"
#include "base/sort.h"
#include "symbol/unwind_bytes.h"

#define MOST_BYTES    (UINT64_C(256) << 20)
#define MOST_SECTIONS 4096u

/* The section that is gone through. */
struct frames {
	uint8_t *bytes;
	uint64_t address, size;
	/* how addresses are encoded in descriptions of the same kind as the last one */
	uint64_t kind;
	uint8_t encoding;
};

struct pair {
	int32_t start, description;
};

/* ---- finding it ---------------------------------------------------------------------------- */

static bool is_named(const struct ut_unwind *u, const Elf64_Shdr *names, const Elf64_Shdr *s)
{
	static const char wanted[] = ".eh_frame";
	char name[sizeof(wanted)];

	return s->sh_name < names->sh_size && s->sh_name < UINT64_MAX - names->sh_offset &&
	       ut_unwind_read(u, names->sh_offset + s->sh_name, name, sizeof(name)) ==
		       sizeof(name) &&
	       !memcmp(name, wanted, sizeof(wanted));
}

static bool find_section(const struct ut_unwind *u, const Elf64_Ehdr *h, Elf64_Shdr *found)
{
	Elf64_Shdr names;

	if (h->e_shentsize != sizeof(*found) || h->e_shnum > MOST_SECTIONS ||
	    h->e_shoff > u->size || h->e_shstrndx >= h->e_shnum ||
	    ut_unwind_read(u, h->e_shoff + h->e_shstrndx * sizeof(names), &names, sizeof(names)) !=
		    sizeof(names))
		return false;
	for (size_t i = 0; i < h->e_shnum; i++) {
		if (ut_unwind_read(u, h->e_shoff + i * sizeof(*found), found, sizeof(*found)) ==
			    sizeof(*found) &&
		    (found->sh_flags & SHF_ALLOC) && found->sh_type != SHT_NOBITS &&
		    is_named(u, &names, found))
			return true;
	}
	return false;
}

/* ---- going through it ---------------------------------------------------------------------- */

static unsigned int pointer_bytes(uint8_t encoding)
{
	switch (encoding & 0x07) {
	case 0x02:
		return 2;
	case 0x03:
		return 4;
	default:
		return 8;
	}
}

/* How descriptions of this kind write addresses: the letter R of what they have in common. */
static uint8_t find_encoding(const struct frames *f, uint64_t at)
{
	struct ut_bytes b = { .at = f->bytes + at, .end = f->bytes + f->size };
	uint64_t len = ut_bytes_fixed(&b, 4);
	uint8_t version, encoding = 0;
	const char *letters;

	if (b.bad || len > (uint64_t)(b.end - b.at))
		return 0xff;
	b.end = b.at + len;
	ut_bytes_skip(&b, 4);
	version = (uint8_t)ut_bytes_fixed(&b, 1);
	letters = (const char *)b.at;
	if (b.bad || !memchr(letters, '\0', (size_t)(b.end - b.at)))
		return 0xff;
	ut_bytes_skip(&b, strlen(letters) + 1);
	ut_bytes_uleb(&b);
	ut_bytes_sleb(&b);
	if (version == 1)
		ut_bytes_skip(&b, 1);
	else
		ut_bytes_uleb(&b);
	if (letters[0] != 'z')
		return letters[0] ? 0xff : 0;
	ut_bytes_uleb(&b);
	for (const char *l = letters + 1; *l && !b.bad; l++) {
		if (*l == 'R')
			encoding = (uint8_t)ut_bytes_fixed(&b, 1);
		else if (*l == 'P')
			ut_bytes_skip(&b, pointer_bytes((uint8_t)ut_bytes_fixed(&b, 1)));
		else if (*l == 'L')
			ut_bytes_skip(&b, 1);
		else if (*l != 'S' && *l != 'B')
			return 0xff;
	}
	return b.bad ? 0xff : encoding;
}

/* The address of the function that the description at an offset is of. */
static bool find_start(struct frames *f, uint64_t at, uint64_t *start)
{
	struct ut_bytes b = { .at = f->bytes + at + 4, .end = f->bytes + f->size };
	uint64_t back = ut_bytes_fixed(&b, 4), value;
	unsigned int size;

	if (b.bad || !back || back > at + 4)
		return false;
	if (f->kind != at + 4 - back + 1) {
		f->kind = at + 4 - back + 1;
		f->encoding = find_encoding(f, at + 4 - back);
	}
	if (f->encoding == 0xff || f->encoding & 0x60)
		return false;
	size = pointer_bytes(f->encoding);
	value = f->encoding & 0x08 ? (uint64_t)ut_bytes_signed(&b, size) : ut_bytes_fixed(&b, size);
	*start = value + (f->encoding & 0x10 ? f->address + at + 8 : 0);
	return !b.bad;
}

static int unwind_scan_by_start(const void *a, const void *b)
{
	const struct pair *x = a, *y = b;

	return (x->start > y->start) - (x->start < y->start);
}

static struct pair *go_through(struct frames *f, size_t *count)
{
	struct pair *pairs = NULL;
	size_t cap = 0;
	uint32_t len;

	*count = 0;
	for (uint64_t at = 0; f->size - at >= 8; at += (uint64_t)len + 4) {
		uint64_t start;
		int64_t away;

		memcpy(&len, f->bytes + at, sizeof(len));
		if (!len || len == UINT32_MAX || len > f->size - at - 4)
			break;
		if (!find_start(f, at, &start))
			continue; /* what descriptions have in common is none itself */
		away = (int64_t)(start - f->address);
		if (away < INT32_MIN || away > INT32_MAX || at > INT32_MAX)
			continue;
		pairs = ut_grow_raw(pairs, *count + 1, &cap, sizeof(*pairs));
		pairs[(*count)++] = (struct pair){ (int32_t)away, (int32_t)at };
	}
	ut_sort(pairs, *count, sizeof(*pairs), unwind_scan_by_start);
	return pairs;
}

void ut_unwind_scan(struct ut_unwind *u)
{
	struct frames f = { .bytes = NULL };
	Elf64_Shdr section;
	struct pair *pairs;
	Elf64_Ehdr h;
	size_t count;

	if (ut_unwind_read(u, 0, &h, sizeof(h)) != sizeof(h) || h.e_machine != EM_X86_64 ||
	    !find_section(u, &h, &section) || section.sh_size > MOST_BYTES || !section.sh_size)
		return;
	f.address = section.sh_addr;
	f.bytes = malloc(section.sh_size);
	if (!f.bytes)
		return;
	f.size = ut_unwind_read(u, section.sh_offset, f.bytes, section.sh_size);
	pairs = go_through(&f, &count);
	u->own_table = (int32_t *)pairs;
	u->table = u->own_table;
	u->count = count;
	u->hdr = f.address;
	free(f.bytes);
}
