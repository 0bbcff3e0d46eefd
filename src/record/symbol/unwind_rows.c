/*
 * unwind_rows.c - what .eh_frame says about a function: a description of it (FDE), what it has in
 * common with others (CIE), and small programs that say, address by address, where the registers of
 * the caller are. (DWARF 5, 6.4; the System V ABI for the encodings.)
 */
#include "symbol/unwind.h"

#include "symbol/unwind_bytes.h"

#define MOST_BYTES  65536u
#define MOST_DEEP   8u
#define MOST_OFFSET (INT32_MAX >> UT_RULE_BITS)

enum {
	ENCODING_OMIT = 0xff,
};

/* A record of .eh_frame. */
struct record {
	const uint8_t *bytes;
	uint64_t address; /* of the first byte behind its length */
	struct ut_bytes b;
};

struct cie {
	uint64_t code_align;
	int64_t data_align;
	uint64_t ra;
	uint8_t encoding; /* of addresses in the descriptions */
	bool augmented, signal;
	struct ut_bytes program;
	uint64_t address; /* of the first byte of program.at */
	const uint8_t *start;
};

/* While a program runs. */
struct machine {
	const struct ut_unwind *u;
	const struct cie *cie;
	struct ut_unwind_row row, initial;
	struct ut_unwind_row saved[MOST_DEEP];
	size_t depth;
	uint64_t at, pc; /* where the program is; what is asked for */
	/* where the bytes come from: address of base */
	const uint8_t *base;
	uint64_t address;
	bool done, bad;
};

/* The record at an address: its length, then its bytes. */
static bool unwind_rows_load(const struct ut_unwind *u, uint64_t address, unsigned int which,
			     struct record *r)
{
	uint64_t offset;
	size_t len = 0;

	if (!ut_unwind_to_offset(u, address, &offset))
		return false;
	r->bytes = u->record(u, offset, which, &len);
	if (!r->bytes || len < 8 || len > MOST_BYTES) /* 64-bit ones: nobody writes them */
		return false;
	r->address = address + 4;
	r->b = (struct ut_bytes){ .at = r->bytes + 4, .end = r->bytes + len };
	return true;
}

static uint64_t address_of(const struct record *r)
{
	return r->address + (uint64_t)(r->b.at - r->bytes) - 4;
}

/* A pointer in one of the encodings that make sense in a file. */
static uint64_t encoded(struct record *r, uint8_t encoding)
{
	uint64_t here = address_of(r), value;

	switch (encoding & 0x0f) {
	case 0x00: /* as large as an address */
	case 0x04:
	case 0x0c:
		value = ut_bytes_fixed(&r->b, 8);
		break;
	case 0x02:
		value = ut_bytes_fixed(&r->b, 2);
		break;
	case 0x03:
		value = ut_bytes_fixed(&r->b, 4);
		break;
	case 0x0a:
		value = (uint64_t)ut_bytes_signed(&r->b, 2);
		break;
	case 0x0b:
		value = (uint64_t)ut_bytes_signed(&r->b, 4);
		break;
	case 0x01:
		value = ut_bytes_uleb(&r->b);
		break;
	case 0x09:
		value = (uint64_t)ut_bytes_sleb(&r->b);
		break;
	default:
		r->b.bad = true;
		return 0;
	}
	switch (encoding & 0x70) {
	case 0x00:
		return value;
	case 0x10:
		return value + here;
	default:
		r->b.bad = true;
		return 0;
	}
}

/* "zPLR": which data follow. */
static void read_augmentation(struct record *r, const char *letters, struct cie *c)
{
	const uint8_t *end;
	uint64_t len = ut_bytes_uleb(&r->b);

	if (r->b.bad || len > (uint64_t)(r->b.end - r->b.at)) {
		r->b.bad = true;
		return;
	}
	end = r->b.at + len;
	for (const char *l = letters + 1; *l && !r->b.bad; l++) {
		if (*l == 'R')
			c->encoding = (uint8_t)ut_bytes_fixed(&r->b, 1);
		else if (*l == 'P') /* a function for exceptions: only how long it is matters */
			encoded(r, (uint8_t)ut_bytes_fixed(&r->b, 1) & 0x0f);
		else if (*l == 'L')
			ut_bytes_skip(&r->b, 1);
		else if (*l == 'S')
			c->signal = true;
		else
			break; /* of this letter and those behind it the length is not known */
	}
	r->b.at = end;
}

static bool read_cie(const struct ut_unwind *u, uint64_t address, struct record *r, struct cie *c)
{
	const char *letters;
	const uint8_t *nul;
	uint64_t version;

	*c = (struct cie){ .encoding = 0 };
	if (!unwind_rows_load(u, address, 1, r) || ut_bytes_fixed(&r->b, 4) != 0)
		return false;
	version = ut_bytes_fixed(&r->b, 1);
	nul = r->b.bad ? NULL : memchr(r->b.at, '\0', (size_t)(r->b.end - r->b.at));
	if (!nul || (version != 1 && version != 3))
		return false;
	letters = (const char *)r->b.at;
	r->b.at = nul + 1;
	c->code_align = ut_bytes_uleb(&r->b);
	c->data_align = ut_bytes_sleb(&r->b);
	c->ra = version == 1 ? ut_bytes_fixed(&r->b, 1) : ut_bytes_uleb(&r->b);
	if (letters[0] == 'z') {
		c->augmented = true;
		read_augmentation(r, letters, c);
	} else if (letters[0]) {
		return false;
	}
	c->program = r->b;
	c->start = r->b.at;
	c->address = address_of(r);
	return !r->b.bad && c->ra == UT_REG_IP;
}

/* ---- the programs -------------------------------------------------------------------------- */

static void unwind_rows_set(struct machine *m, uint64_t reg, enum ut_unwind_rule rule,
			    int64_t offset)
{
	if (offset < -MOST_OFFSET || offset > MOST_OFFSET)
		m->bad = true;
	else if (reg < UT_REGS) /* vector registers and the like do not matter to us */
		m->row.rules[reg] = (int32_t)rule | (int32_t)((uint32_t)offset << UT_RULE_BITS);
}

static void set_cfa(struct machine *m, uint64_t reg, int64_t offset)
{
	if (reg >= UT_REGS || offset < INT32_MIN || offset > INT32_MAX) {
		m->bad = true;
		return;
	}
	m->row.cfa_reg = (uint8_t)reg;
	m->row.cfa_offset = (int32_t)offset;
}

/* An expression stays in the file: where it is there, from the start of the table. */
static int64_t expression(struct machine *m, struct ut_bytes *b)
{
	uint64_t address = m->address + (uint64_t)(b->at - m->base);

	ut_bytes_skip(b, ut_bytes_uleb(b));
	return (int64_t)(address - m->u->hdr);
}

static void unwind_rows_advance(struct machine *m, uint64_t delta)
{
	m->at += delta * m->cie->code_align;
	m->done = m->at > m->pc;
}

static void unwind_rows_remember(struct machine *m)
{
	if (m->depth < MOST_DEEP)
		m->saved[m->depth++] = m->row;
	else
		m->bad = true;
}

static void recall(struct machine *m)
{
	if (m->depth)
		m->row = m->saved[--m->depth];
	else
		m->bad = true;
}

static void restore(struct machine *m, uint64_t reg)
{
	if (reg < UT_REGS)
		m->row.rules[reg] = m->initial.rules[reg];
}

/* Instructions whose code has no operand in it. False: not known. */
static bool extended(struct machine *m, struct ut_bytes *b, uint8_t op)
{
	int64_t align = m->cie->data_align;
	uint64_t reg;

	switch (op) {
	case 0x00: /* nop */
		return true;
	case 0x02: /* advance_loc1, 2, 4 */
		unwind_rows_advance(m, ut_bytes_fixed(b, 1));
		return true;
	case 0x03:
		unwind_rows_advance(m, ut_bytes_fixed(b, 2));
		return true;
	case 0x04:
		unwind_rows_advance(m, ut_bytes_fixed(b, 4));
		return true;
	case 0x05: /* offset_extended */
		reg = ut_bytes_uleb(b);
		unwind_rows_set(m, reg, UT_RULE_AT, (int64_t)ut_bytes_uleb(b) * align);
		return true;
	case 0x06: /* restore_extended */
		restore(m, ut_bytes_uleb(b));
		return true;
	case 0x07: /* undefined */
		unwind_rows_set(m, ut_bytes_uleb(b), UT_RULE_UNDEFINED, 0);
		return true;
	case 0x08: /* same_value */
		unwind_rows_set(m, ut_bytes_uleb(b), UT_RULE_SAME, 0);
		return true;
	case 0x09: /* register */
		reg = ut_bytes_uleb(b);
		unwind_rows_set(m, reg, UT_RULE_REG, (int64_t)(ut_bytes_uleb(b) & 0xff));
		return true;
	case 0x0a:
		unwind_rows_remember(m);
		return true;
	case 0x0b:
		recall(m);
		return true;
	case 0x11: /* offset_extended_sf */
		reg = ut_bytes_uleb(b);
		unwind_rows_set(m, reg, UT_RULE_AT, ut_bytes_sleb(b) * align);
		return true;
	case 0x14: /* val_offset, _sf */
		reg = ut_bytes_uleb(b);
		unwind_rows_set(m, reg, UT_RULE_IS, (int64_t)ut_bytes_uleb(b) * align);
		return true;
	case 0x15:
		reg = ut_bytes_uleb(b);
		unwind_rows_set(m, reg, UT_RULE_IS, ut_bytes_sleb(b) * align);
		return true;
	case 0x10: /* expression, val_expression */
		reg = ut_bytes_uleb(b);
		unwind_rows_set(m, reg, UT_RULE_AT_EXPR, expression(m, b));
		return true;
	case 0x16:
		reg = ut_bytes_uleb(b);
		unwind_rows_set(m, reg, UT_RULE_EXPR, expression(m, b));
		return true;
	case 0x2e: /* GNU_args_size: for exceptions */
		ut_bytes_uleb(b);
		return true;
	case 0x2f: /* GNU_negative_offset_extended */
		reg = ut_bytes_uleb(b);
		unwind_rows_set(m, reg, UT_RULE_AT, -(int64_t)ut_bytes_uleb(b) * align);
		return true;
	default:
		return false;
	}
}

/* Where the frame is. False: something else. */
static bool about_cfa(struct machine *m, struct ut_bytes *b, uint8_t op)
{
	int64_t align = m->cie->data_align;
	uint64_t reg;

	switch (op) {
	case 0x0c: /* def_cfa, _sf */
		reg = ut_bytes_uleb(b);
		set_cfa(m, reg, (int64_t)ut_bytes_uleb(b));
		return true;
	case 0x12:
		reg = ut_bytes_uleb(b);
		set_cfa(m, reg, ut_bytes_sleb(b) * align);
		return true;
	case 0x0d: /* def_cfa_register */
		set_cfa(m, ut_bytes_uleb(b), m->row.cfa_offset);
		return true;
	case 0x0e: /* def_cfa_offset, _sf */
		set_cfa(m, m->row.cfa_reg, (int64_t)ut_bytes_uleb(b));
		return true;
	case 0x13:
		set_cfa(m, m->row.cfa_reg, ut_bytes_sleb(b) * align);
		return true;
	case 0x0f: /* def_cfa_expression */
		m->row.cfa_offset = (int32_t)expression(m, b);
		m->row.cfa_reg = UT_REGS;
		return true;
	default:
		return false;
	}
}

static void unwind_rows_run(struct machine *m, struct ut_bytes b)
{
	while (b.at < b.end && !b.bad && !m->done && !m->bad) {
		uint8_t op = (uint8_t)ut_bytes_fixed(&b, 1), low = op & 0x3f;

		if (op >> 6 == 1)
			unwind_rows_advance(m, low);
		else if (op >> 6 == 2)
			unwind_rows_set(m, low, UT_RULE_AT,
					(int64_t)ut_bytes_uleb(&b) * m->cie->data_align);
		else if (op >> 6 == 3)
			restore(m, low);
		else if (!about_cfa(m, &b, op) && !extended(m, &b, op))
			m->bad = true;
	}
	m->bad |= b.bad;
}

bool ut_unwind_describe(const struct ut_unwind *u, uint64_t fde, uint64_t pc,
			struct ut_unwind_row *row)
{
	struct record own, common;
	struct machine m = { .u = u, .pc = pc };
	struct cie cie;
	uint64_t back, size;

	if (!unwind_rows_load(u, fde, 0, &own))
		return false;
	back = ut_bytes_fixed(&own.b, 4);
	if (!back || back > own.address || !read_cie(u, own.address - back, &common, &cie))
		return false;
	m.at = encoded(&own, cie.encoding);
	size = encoded(&own, cie.encoding & 0x0f);
	if (own.b.bad || pc < m.at || pc - m.at >= size)
		return false;
	if (cie.augmented)
		ut_bytes_skip(&own.b, ut_bytes_uleb(&own.b));
	m.cie = &cie;
	m.row.cfa_reg = UT_REGS + 1; /* none yet */
	m.base = cie.start;
	m.address = cie.address;
	unwind_rows_run(&m, cie.program);
	m.initial = m.row;
	m.base = own.b.at;
	m.address = address_of(&own);
	if (!m.done && !own.b.bad)
		unwind_rows_run(&m, own.b);
	*row = m.row;
	row->signal = cie.signal;
	return !m.bad && !own.b.bad && row->cfa_reg <= UT_REGS;
}
