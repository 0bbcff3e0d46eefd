#include "symbol/line_program.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "symbol/dwarf_forms.h"
#include "symbol/unwind_bytes.h"

#define MOST_ROWS  (1u << 26) /* of one program */
#define MOST_NAMES (1u << 20)
#define MOST_KINDS 64u

enum {
	OP_COPY = 1,
	OP_ADVANCE_PC = 2,
	OP_ADVANCE_LINE = 3,
	OP_SET_FILE = 4,
	OP_CONST_ADD_PC = 8,
	OP_FIXED_ADVANCE_PC = 9,
	EXT_END = 1,
	EXT_SET_ADDRESS = 2,
	EXT_DEFINE_FILE = 3,
};

/* What a table of version 5 tells of an entry. */
enum {
	CONTENT_PATH = 1,
	CONTENT_DIR = 2,
};

/* ---- tables of names ------------------------------------------------------------------------- */

static const char *line_program_take_text(struct ut_bytes *b)
{
	const char *text = (const char *)b->at;
	const uint8_t *end = b->bad ? NULL : memchr(b->at, 0, (size_t)(b->end - b->at));

	if (!end) {
		b->bad = true;
		return "";
	}
	b->at = end + 1;
	return text;
}

static const char *line_program_text_at(const uint8_t *section, uint64_t size, uint64_t offset)
{
	if (offset >= size || !memchr(section + offset, 0, size - offset))
		return "";
	return (const char *)section + offset;
}

static void add_dir(struct ut_line_head *h, const char *name)
{
	h->dirs = ut_grow(h->dirs, h->dir_count + 1, &h->dir_cap, sizeof(*h->dirs));
	h->dirs[h->dir_count++] = name;
}

static void line_program_add_file(struct ut_line_head *h, const char *name, uint64_t dir)
{
	h->files = ut_grow(h->files, h->file_count + 1, &h->file_cap, sizeof(*h->files));
	h->files[h->file_count++] =
		(struct ut_line_file){ name, dir < UINT32_MAX ? (uint32_t)dir : UINT32_MAX };
}

/* Name, directory, when it was changed, its size. */
static void take_old_file(struct ut_line_head *h, struct ut_bytes *b, const char *name)
{
	uint64_t dir = ut_bytes_uleb(b);

	ut_bytes_uleb(b);
	ut_bytes_uleb(b);
	if (!b->bad)
		line_program_add_file(h, name, dir);
}

static void take_old_tables(struct ut_line_head *h, struct ut_bytes *b)
{
	const char *text;

	add_dir(h, NULL);
	while (!b->bad && *(text = line_program_take_text(b)) && h->dir_count < MOST_NAMES)
		add_dir(h, text);
	line_program_add_file(h, NULL, 0);
	while (!b->bad && *(text = line_program_take_text(b)) && h->file_count < MOST_NAMES)
		take_old_file(h, b, text);
}

struct kind {
	uint64_t content, form;
};

struct named {
	const char *text;
	uint64_t number;
};

/* A value of these forms: a text, a number, or something to step over. */
static struct named take_form(struct ut_bytes *b, uint64_t form, const struct ut_line_sections *s,
			      unsigned int offset_size)
{
	struct named v = { 0 };

	switch (form) {
	case FORM_STRING:
		v.text = line_program_take_text(b);
		break;
	case FORM_LINE_STRP:
		v.text = line_program_text_at(s->line_str, s->line_str_size,
					      ut_bytes_fixed(b, offset_size));
		break;
	case FORM_STRP:
		v.text = line_program_text_at(s->str, s->str_size, ut_bytes_fixed(b, offset_size));
		break;
	case FORM_DATA1:
		v.number = ut_bytes_fixed(b, 1);
		break;
	case FORM_DATA2:
		v.number = ut_bytes_fixed(b, 2);
		break;
	case FORM_DATA4:
		v.number = ut_bytes_fixed(b, 4);
		break;
	case FORM_DATA8:
		v.number = ut_bytes_fixed(b, 8);
		break;
	case FORM_UDATA:
		v.number = ut_bytes_uleb(b);
		break;
	case FORM_DATA16:
		ut_bytes_skip(b, 16);
		break;
	case FORM_BLOCK:
		ut_bytes_skip(b, ut_bytes_uleb(b));
		break;
	case FORM_BLOCK1:
		ut_bytes_skip(b, ut_bytes_fixed(b, 1));
		break;
	case FORM_BLOCK2:
		ut_bytes_skip(b, ut_bytes_fixed(b, 2));
		break;
	case FORM_BLOCK4:
		ut_bytes_skip(b, ut_bytes_fixed(b, 4));
		break;
	default:
		b->bad = true;
	}
	return v;
}

/* A table of version 5: what is told of each entry, how many there are, the entries. */
static void take_table(struct ut_line_head *h, struct ut_bytes *b, const struct ut_line_sections *s,
		       unsigned int offset_size, bool files)
{
	struct kind kinds[MOST_KINDS];
	uint64_t count, kind_count = ut_bytes_fixed(b, 1);

	if (kind_count > MOST_KINDS) {
		b->bad = true;
		return;
	}
	for (uint64_t i = 0; i < kind_count; i++) {
		kinds[i].content = ut_bytes_uleb(b);
		kinds[i].form = ut_bytes_uleb(b);
	}
	count = ut_bytes_uleb(b);
	/* each takes a byte at least */
	if (count > MOST_NAMES || (count && !kind_count) || count > (uint64_t)(b->end - b->at))
		b->bad = true;
	for (uint64_t i = 0; i < count && !b->bad; i++) {
		const char *name = "";
		uint64_t dir = 0;

		for (uint64_t k = 0; k < kind_count; k++) {
			struct named v = take_form(b, kinds[k].form, s, offset_size);

			if (kinds[k].content == CONTENT_PATH && v.text)
				name = v.text;
			else if (kinds[k].content == CONTENT_DIR)
				dir = v.number;
		}
		if (files)
			line_program_add_file(h, name, dir);
		else
			add_dir(h, name);
	}
}

/* ---- the head -------------------------------------------------------------------------------- */

static unsigned int take_length(struct ut_bytes *b, uint64_t *len)
{
	*len = ut_bytes_fixed(b, 4);
	if (*len != UINT32_MAX)
		return 4;
	*len = ut_bytes_fixed(b, 8);
	return 8;
}

static bool take_numbers(struct ut_line_head *h, struct ut_bytes *b)
{
	h->min_instruction = (uint8_t)ut_bytes_fixed(b, 1);
	h->max_operations = h->version >= 4 ? (uint8_t)ut_bytes_fixed(b, 1) : 1;
	ut_bytes_fixed(b, 1); /* whether lines are statements at first */
	h->line_base = (int8_t)ut_bytes_fixed(b, 1);
	h->line_range = (uint8_t)ut_bytes_fixed(b, 1);
	h->opcode_base = (uint8_t)ut_bytes_fixed(b, 1);
	for (unsigned int i = 1; i < h->opcode_base; i++)
		h->lengths[i] = (uint8_t)ut_bytes_fixed(b, 1);
	return !b->bad && h->line_range && h->opcode_base;
}

bool ut_line_head(struct ut_line_head *h, const struct ut_line_sections *s, uint64_t offset,
		  uint64_t *next)
{
	struct ut_bytes b = { s->line + (offset < s->line_size ? offset : s->line_size),
			      s->line + s->line_size, false };
	unsigned int offset_size;
	uint64_t len;

	*h = (struct ut_line_head){ 0 };
	*next = 0;
	offset_size = take_length(&b, &len);
	if (b.bad || len > (uint64_t)(b.end - b.at))
		return false;
	h->end = b.end = b.at + len;
	*next = (uint64_t)(h->end - s->line);
	h->version = (uint16_t)ut_bytes_fixed(&b, 2);
	if (h->version < 2 || h->version > 5)
		return false;
	h->address_size = 8;
	if (h->version == 5) {
		h->address_size = (uint8_t)ut_bytes_fixed(&b, 1);
		ut_bytes_fixed(&b, 1);
	}
	len = ut_bytes_fixed(&b, offset_size);
	if (b.bad || len > (uint64_t)(b.end - b.at))
		return false;
	h->program = b.at + len;
	if (!take_numbers(h, &b))
		return false;
	if (h->version == 5) {
		take_table(h, &b, s, offset_size, false);
		take_table(h, &b, s, offset_size, true);
	} else {
		take_old_tables(h, &b);
	}
	return !b.bad;
}

void ut_line_head_release(struct ut_line_head *h)
{
	free(h->dirs);
	free(h->files);
	*h = (struct ut_line_head){ 0 };
}

/* ---- the program ----------------------------------------------------------------------------- */

struct machine {
	const struct ut_line_head *h;
	const struct ut_line_rows *rows;
	uint64_t address;
	uint64_t file, line;
	uint32_t operation; /* of machines that have several in an instruction */
	uint32_t count;     /* rows so far */
};

static void restart(struct machine *m)
{
	m->address = 0;
	m->operation = 0;
	m->file = m->line = 1;
}

static void line_program_put_row(struct machine *m, bool end)
{
	const struct ut_line_row row = {
		.address = m->address,
		.file = m->file < UINT32_MAX ? (uint32_t)m->file : UINT32_MAX,
		.line = m->line < UINT32_MAX ? (uint32_t)m->line : 0,
		.end = end,
	};

	m->count++;
	m->rows->row(m->rows->ctx, &row);
}

static void line_program_advance(struct machine *m, uint64_t operations)
{
	unsigned int most = m->h->max_operations;

	if (most > 1) {
		operations += m->operation;
		m->operation = (uint32_t)(operations % most);
		operations /= most;
	}
	m->address += operations * m->h->min_instruction;
}

static void extended(struct machine *m, struct ut_bytes *b)
{
	uint64_t len = ut_bytes_uleb(b);
	struct ut_bytes in = *b;
	uint64_t op;

	if (b->bad || !len || len > (uint64_t)(b->end - b->at)) {
		b->bad = true;
		return;
	}
	in.end = b->at + len;
	b->at += len;
	op = ut_bytes_fixed(&in, 1);
	if (op == EXT_END) {
		line_program_put_row(m, true);
		restart(m);
	} else if (op == EXT_SET_ADDRESS) {
		if (m->rows->set)
			m->rows->set(m->rows->ctx, in.at);
		m->address = ut_bytes_fixed(&in, len - 1 < 8 ? (unsigned int)len - 1 : 8);
		m->operation = 0;
	} /* files that a program defines (EXT_DEFINE_FILE) are gone since version 5; nobody wrote
	     them before, either */
}

static void standard(struct machine *m, struct ut_bytes *b, unsigned int op)
{
	switch (op) {
	case OP_COPY:
		line_program_put_row(m, false);
		break;
	case OP_ADVANCE_PC:
		line_program_advance(m, ut_bytes_uleb(b));
		break;
	case OP_ADVANCE_LINE:
		m->line += (uint64_t)ut_bytes_sleb(b);
		break;
	case OP_SET_FILE:
		m->file = ut_bytes_uleb(b);
		break;
	case OP_CONST_ADD_PC:
		line_program_advance(m, (255u - m->h->opcode_base) / m->h->line_range);
		break;
	case OP_FIXED_ADVANCE_PC:
		m->address += ut_bytes_fixed(b, 2);
		m->operation = 0;
		break;
	default:
		for (unsigned int i = 0; i < m->h->lengths[op]; i++)
			ut_bytes_uleb(b);
	}
}

void ut_line_run(const struct ut_line_head *h, const struct ut_line_rows *rows)
{
	struct ut_bytes b = { h->program, h->end, false };
	struct machine m = { .h = h, .rows = rows };

	restart(&m);
	while (b.at < b.end && !b.bad && m.count < MOST_ROWS) {
		unsigned int op = (unsigned int)ut_bytes_fixed(&b, 1);

		if (op >= h->opcode_base) {
			op -= h->opcode_base;
			line_program_advance(&m, op / h->line_range);
			m.line += (uint64_t)(int64_t)(h->line_base + (int)(op % h->line_range));
			line_program_put_row(&m, false);
		} else if (!op) {
			extended(&m, &b);
		} else {
			standard(&m, &b, op);
		}
	}
}
