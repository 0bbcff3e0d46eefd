#include "metrics/stall_asm.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/grow.h"
#include "base/hash.h"
#include "base/hashtab.h"
#include "metrics/stall_code.h"
#include "text/out.h"

bool ut_asm_line(struct ut_str *rest, struct ut_str *line)
{
	const char *end;

	if (!rest->len)
		return false;
	end = memchr(rest->ptr, '\n', rest->len);
	line->ptr = rest->ptr;
	line->len = end ? (size_t)(end - rest->ptr) : rest->len;
	rest->ptr += line->len + (end ? 1 : 0);
	rest->len -= line->len + (end ? 1 : 0);
	if (line->len && line->ptr[line->len - 1] == '\r')
		line->len--;
	return true;
}

struct ut_str ut_asm_kernel(struct ut_str line)
{
	struct ut_str name = { "", 0 };

	if (!ut_str_has_start(line, "//.kernel"))
		return name;
	name = ut_str_trim(ut_str_from(line, line.ptr + strlen("//.kernel")));
	for (size_t i = 0; i < name.len; i++) {
		if (name.ptr[i] == ' ' || name.ptr[i] == '\t')
			name.len = i;
	}
	return name;
}

static bool is_instruction(struct ut_str line)
{
	return !ut_str_has_start(line, "//") && ut_str_find(line, "//");
}

static uint64_t stall_asm_size_of(struct ut_str line)
{
	return ut_str_find(line, "Compacted") ? 8 : 16;
}

static void print_address(char to[32], uint64_t address)
{
	snprintf(to, 32, "/* [%08" PRIX64 "] */ ", address);
}

static bool has_address(struct ut_str line, uint64_t address)
{
	char front[32];

	print_address(front, address);
	return ut_str_has_start(line, front);
}

bool ut_asm_addressed(struct ut_str text)
{
	struct ut_str line;
	uint64_t address = 0;

	while (ut_asm_line(&text, &line)) {
		if (!is_instruction(line))
			continue;
		if (!has_address(line, address))
			return false;
		address += stall_asm_size_of(line);
	}
	return true;
}

void ut_asm_write(struct ut_out *out, struct ut_str text)
{
	struct ut_str line;
	uint64_t address = 0;

	while (text.len) {
		const char *start = text.ptr;

		ut_asm_line(&text, &line);
		if (is_instruction(line)) {
			char front[32];

			print_address(front, address);
			if (!ut_str_has_start(line, front))
				ut_out_text(out, front);
			address += stall_asm_size_of(line);
		}
		ut_out_write(out, start, (size_t)(text.ptr - start));
	}
}

/* ---- tokens -------------------------------------------------------------------------------- */

/* "$5.dst" and the like into the bits of waits, "$5" into those of sets. */
static void add_token(struct ut_str word, uint64_t *sets, uint64_t *waits)
{
	unsigned int id = 0;
	size_t i = 1;

	word = ut_str_trim(word);
	if (word.len < 2 || word.ptr[0] != '$')
		return;
	for (; i < word.len && i < 4 && word.ptr[i] >= '0' && word.ptr[i] <= '9'; i++)
		id = id * 10 + (unsigned int)(word.ptr[i] - '0');
	if (i == 1 || id >= 32)
		return;
	if (i == word.len)
		*sets |= UINT64_C(1) << id;
	else if (ut_str_is(ut_str_from(word, word.ptr + i), ".src"))
		*waits |= UINT64_C(1) << (32 + id);
	else if (word.ptr[i] == '.')
		*waits |= UINT64_C(1) << id;
}

/* The words between the first two of these brackets that hold one of the scoreboard. */
static bool add_tokens(struct ut_str code, const char *open, char close, uint64_t *sets,
		       uint64_t *waits)
{
	const char *at;

	while (!*sets && !*waits && (at = ut_str_find(code, open))) {
		const char *end;

		code = ut_str_from(code, at + 1);
		end = code.len ? memchr(code.ptr, close, code.len) : NULL;
		while (end) {
			const char *comma = memchr(code.ptr, ',', (size_t)(end - code.ptr));
			const char *stop = comma ? comma : end;

			add_token((struct ut_str){ code.ptr, (size_t)(stop - code.ptr) }, sets,
				  waits);
			code = ut_str_from(code, stop + 1);
			if (!comma)
				break;
		}
	}
	return *sets || *waits;
}

/*
 * Out of order are loads, stores, sends, math and dpas: they take a token; so a bare one of theirs
 * is taken, and one of sync.allrd or sync.allwr is waited for.
 */
static void take_tokens(struct ut_code_ins *ins)
{
	struct ut_str code = ins->text;
	const char *remark = ut_str_find(code, "//");
	uint64_t sets = 0, waits = 0;

	code.len = remark ? (size_t)(remark - code.ptr) : code.len;
	if (!add_tokens(code, "{", '}', &sets, &waits))
		add_tokens(code, "(", ')', &sets, &waits);
	if (ut_str_find(code, "sync.")) {
		waits |= ut_str_find(code, "sync.allrd") ? sets << 32 : sets;
		sets = 0;
	}
	ins->sets = sets | sets << 32;
	ins->waits = waits;
}

/* As the original has it: by a word anywhere in the line. */
static bool is_message(struct ut_str text)
{
	return ut_str_find(text, "load") || ut_str_find(text, "store") ||
	       ut_str_find(text, "send") || ut_str_find(text, "EOT");
}

uint64_t ut_asm_wanted(const struct ut_kernel_code *c, uint32_t ins)
{
	const struct ut_code_ins *i = &c->ins[ins];

	return i->waits | (is_message(i->text) ? 0 : i->sets & UINT32_MAX);
}

/* ---- blocks -------------------------------------------------------------------------------- */

/* While reading: "B012" and which block that is; who comes before is known by name only. */
struct names {
	struct ut_hashtab table;
	struct ut_str *names; /* by block */
	size_t cap;
	struct ut_str *waiting; /* lists of predecessors, by block */
	size_t waiting_cap;
};

static uint32_t find_block(const struct names *n, struct ut_str name)
{
	uint32_t hash = (uint32_t)ut_hash_bytes(name.ptr, name.len), at = hash, number;

	while ((number = ut_hashtab_next(&n->table, hash, &at)) &&
	       !ut_str_eq(n->names[number - 1], name))
		;
	return number ? number - 1 : UT_CODE_NONE;
}

/* "// B012: Preds:{B010, B011},  Succs:{B013}" */
static bool is_block(struct ut_str line, struct ut_str *name, struct ut_str *preds)
{
	const char *list, *open, *close;

	if (!ut_str_has_start(line, "//") || !(list = ut_str_find(line, "Preds")) ||
	    !ut_str_find(line, "Succs"))
		return false;
	*name = ut_str_trim(ut_str_from(line, line.ptr + 2));
	close = name->len && name->ptr[0] == 'B' ? memchr(name->ptr, ':', name->len) : NULL;
	open = ut_str_find(ut_str_from(line, list), "{");
	if (!close || !open)
		return false;
	name->len = (size_t)(close - name->ptr);
	*preds = ut_str_from(line, open + 1);
	close = preds->len ? memchr(preds->ptr, '}', preds->len) : NULL;
	preds->len = close ? (size_t)(close - preds->ptr) : preds->len;
	return true;
}

struct reader {
	struct ut_kernel_code *code;
	struct names names;
	struct ut_str source; /* the last "Line 40:  c[i] = a[i];" */
	uint32_t file, line;
	uint64_t address;
};

static void begin_block(struct reader *r, struct ut_str name, struct ut_str preds)
{
	struct names *n = &r->names;
	uint32_t block = ut_code_add_block(r->code);

	n->names = ut_grow(n->names, (size_t)block + 1, &n->cap, sizeof(*n->names));
	n->waiting = ut_grow(n->waiting, (size_t)block + 1, &n->waiting_cap, sizeof(*n->waiting));
	n->names[block] = name;
	n->waiting[block] = preds;
	if (find_block(n, name) == UT_CODE_NONE)
		ut_hashtab_add(&n->table, (uint32_t)ut_hash_bytes(name.ptr, name.len), block + 1);
}

/* "Line 40:  c[i] = a[i];" or "File: /src/k.cl", behind "//" */
static void take_remark(struct reader *r, struct ut_str line)
{
	struct ut_str text = ut_str_trim(ut_str_from(line, line.ptr + 2));

	if (ut_str_has_start(text, "Line")) {
		struct ut_str number = ut_str_trim(ut_str_from(text, text.ptr + strlen("Line")));

		r->source = text;
		r->line = 0;
		for (size_t i = 0; i < number.len && number.ptr[i] >= '0' && number.ptr[i] <= '9' &&
				   r->line < 100000000;
		     i++)
			r->line = r->line * 10 + (uint32_t)(number.ptr[i] - '0');
	} else if (ut_str_has_start(text, "File")) {
		const char *colon = memchr(text.ptr, ':', text.len);

		r->file = ut_code_file(r->code, colon ? ut_str_trim(ut_str_from(text, colon + 1))
						      : (struct ut_str){ "", 0 });
	}
}

static void take_instruction(struct reader *r, struct ut_str line)
{
	struct ut_code_ins *ins = ut_code_add(r->code);
	char front[32];

	print_address(front, r->address);
	if (ut_str_has_start(line, front))
		line = ut_str_from(line, line.ptr + strlen(front));
	ins->address = r->address;
	ins->text = line;
	ins->source = r->source;
	ins->file = r->file;
	ins->line = r->line;
	take_tokens(ins);
	r->address += stall_asm_size_of(line);
}

/* The lists of predecessors, now that all names are known. */
static void link_blocks(struct reader *r)
{
	for (uint32_t b = 0; b < r->code->block_count && b < r->names.waiting_cap; b++) {
		struct ut_str list = r->names.waiting[b];

		while (list.len) {
			const char *comma = memchr(list.ptr, ',', list.len);
			struct ut_str name = { list.ptr,
					       comma ? (size_t)(comma - list.ptr) : list.len };

			list = ut_str_from(list, name.ptr + name.len + (comma ? 1 : 0));
			name = ut_str_trim(name);
			if (name.len && find_block(&r->names, name) != UT_CODE_NONE)
				ut_code_edge(r->code, find_block(&r->names, name), b);
		}
	}
}

int ut_asm_read(struct ut_kernel_code *c, struct ut_str text, const char *path, struct ut_err *err)
{
	struct reader r = { .code = c, .names.table.arena = c->arena };
	struct ut_str line, name, preds;

	while (ut_asm_line(&text, &line)) {
		if (is_block(line, &name, &preds))
			begin_block(&r, name, preds);
		else if (ut_str_has_start(line, "//"))
			take_remark(&r, line);
		else if (is_instruction(line))
			take_instruction(&r, line);
	}
	link_blocks(&r);
	ut_code_finish(c);
	free(r.names.names);
	free(r.names.waiting);
	if (!c->count)
		return ut_err_set(err, -EINVAL, "%s: no instructions; is it a shader dump?", path);
	return 0;
}
