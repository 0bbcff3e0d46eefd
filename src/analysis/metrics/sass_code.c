#include "metrics/sass_code.h"

#include <errno.h>
#include <stdlib.h>

#include "base/grow.h"
#include "base/hash.h"
#include "base/hashtab.h"
#include "metrics/sass_regs.h"
#include "metrics/stall_asm.h"
#include "metrics/stall_code.h"

/* Where the control bits begin in the high word, and how they follow each other. */
#define CONTROL_SHIFT 41

struct ut_sass_control ut_sass_control(const uint64_t encoding[2])
{
	uint32_t bits = (uint32_t)(encoding[1] >> CONTROL_SHIFT);

	return (struct ut_sass_control){
		.stall = bits & 15,
		.yield = !(bits >> 4 & 1), /* the bit says stay */
		.write = bits >> 5 & 7,
		.read = bits >> 8 & 7,
		.wait = bits >> 11 & 63,
		.reuse = bits >> 17 & 15,
	};
}

/* Up to one of these. */
static struct ut_str sass_code_word(struct ut_str s, const char *ends)
{
	for (size_t i = 0; i < s.len; i++) {
		if (strchr(ends, s.ptr[i])) /* a NUL ends it, too */
			s.len = i;
	}
	return s;
}

struct ut_str ut_sass_function(struct ut_str line)
{
	struct ut_str s = ut_str_trim(line);

	if (ut_str_has_start(s, ".section")) {
		s = ut_str_trim(ut_str_from(s, s.ptr + strlen(".section")));
		if (ut_str_has_start(s, ".text."))
			return sass_code_word(ut_str_from(s, s.ptr + strlen(".text.")), ", \t");
	} else if (ut_str_has_start(s, "Function :")) {
		return sass_code_word(ut_str_trim(ut_str_from(s, s.ptr + strlen("Function :"))),
				      " \t");
	}
	return (struct ut_str){ "", 0 };
}

struct ut_str ut_sass_opcode(struct ut_str text)
{
	struct ut_str s = ut_str_trim(text);

	if (s.len && s.ptr[0] == '@') {
		struct ut_str guard = sass_code_word(s, " \t");

		s = ut_str_trim(ut_str_from(s, guard.ptr + guard.len));
	}
	return sass_code_word(s, " \t;");
}

/* ---- reading ------------------------------------------------------------------------------- */

struct label {
	struct ut_str name;
	uint32_t ins; /* the next one */
};

struct reader {
	struct ut_kernel_code *code;
	struct label *labels;
	size_t label_count, label_cap;
	struct ut_hashtab by_label;
	uint32_t file, line, call_file, call_line;
	bool chain;      /* the line before was one about the source, too */
	bool wants_high; /* of the last instruction's encoding */
};

static bool hex(struct ut_str s, uint64_t *value)
{
	*value = 0;
	for (size_t i = 0; i < s.len; i++) {
		char c = s.ptr[i];
		int digit = c >= '0' && c <= '9'   ? c - '0'
			    : c >= 'a' && c <= 'f' ? c - 'a' + 10
			    : c >= 'A' && c <= 'F' ? c - 'A' + 10
						   : -1;

		if (digit < 0 || i >= 16)
			return false;
		*value = *value << 4 | (uint64_t)digit;
	}
	return s.len > 0;
}

/* What stands in the first remark of s; *rest is what follows it. */
static bool remark(struct ut_str s, struct ut_str *inside, struct ut_str *rest)
{
	const char *end;

	if (!ut_str_has_start(s, "/*"))
		return false;
	s = ut_str_from(s, s.ptr + 2);
	end = ut_str_find(s, "*/");
	if (!end)
		return false;
	*inside = ut_str_trim((struct ut_str){ s.ptr, (size_t)(end - s.ptr) });
	*rest = ut_str_trim(ut_str_from(s, end + 2));
	return true;
}

static bool word_of_code(struct ut_str s, uint64_t *value)
{
	return ut_str_has_start(s, "0x") && hex(ut_str_from(s, s.ptr + 2), value);
}

static uint32_t find_label(const struct reader *r, struct ut_str name)
{
	uint32_t hash = (uint32_t)ut_hash_bytes(name.ptr, name.len), at = hash, number;

	while ((number = ut_hashtab_next(&r->by_label, hash, &at)) &&
	       !ut_str_eq(r->labels[number - 1].name, name))
		;
	return number ? r->labels[number - 1].ins : UT_CODE_NONE;
}

static void add_label(struct reader *r, struct ut_str name)
{
	if (find_label(r, name) != UT_CODE_NONE)
		return;
	r->labels = ut_grow(r->labels, r->label_count + 1, &r->label_cap, sizeof(*r->labels));
	r->labels[r->label_count++] = (struct label){ name, r->code->count };
	ut_hashtab_add(&r->by_label, (uint32_t)ut_hash_bytes(name.ptr, name.len),
		       (uint32_t)r->label_count);
}

/* A place in the source: File "/src/k.cu", line 12; *rest is what follows it. */
static bool sass_code_place(struct reader *r, struct ut_str s, uint32_t *file, uint32_t *line,
			    struct ut_str *rest)
{
	const char *open = ut_str_find(s, "\""), *close, *number;

	close = open ? ut_str_find(ut_str_from(s, open + 1), "\"") : NULL;
	number = close ? ut_str_find(ut_str_from(s, close), "line ") : NULL;
	if (!number)
		return false;
	*file = ut_code_file(r->code, (struct ut_str){ open + 1, (size_t)(close - open - 1) });
	*line = 0;
	s = ut_str_from(s, number + strlen("line "));
	for (; s.len && s.ptr[0] >= '0' && s.ptr[0] <= '9' && *line < 100000000; s.ptr++, s.len--)
		*line = *line * 10 + (uint32_t)(s.ptr[0] - '0');
	*rest = s;
	return true;
}

/*
 * //## File "a.hpp", line 84 inlined at "b.cu", line 64
 * //## File "b.cu", line 64
 * The first names the line, the last who called whom called it.
 */
static void take_source(struct reader *r, struct ut_str line)
{
	struct ut_str rest;
	uint32_t file, number;

	if (!sass_code_place(r, line, &file, &number, &rest))
		return;
	if (!r->chain) {
		r->file = file;
		r->line = number;
		r->call_file = r->call_line = 0;
	}
	r->chain = true;
	if (ut_str_find(rest, "inlined at") && sass_code_place(r, rest, &file, &number, &rest)) {
		r->call_file = file;
		r->call_line = number;
	}
}

static void take_instruction(struct reader *r, uint64_t address, struct ut_str rest)
{
	struct ut_code_ins *ins;
	const char *end = ut_str_find(rest, ";");
	struct ut_str code, after;
	uint64_t last = r->code->count ? r->code->ins[r->code->count - 1].address : 0;

	if (!end || (r->code->count && address <= last))
		return; /* no instruction, or those of another function again */
	ins = ut_code_add(r->code);
	ins->address = address;
	ins->text = (struct ut_str){ rest.ptr, (size_t)(end - rest.ptr) + 1 };
	ins->file = r->file;
	ins->line = r->line;
	ins->call_file = r->call_file;
	ins->call_line = r->call_line;
	r->chain = false;
	r->wants_high = remark(ut_str_trim(ut_str_from(rest, end + 1)), &code, &after) &&
			word_of_code(code, &ins->encoding[0]);
}

static void sass_code_take_line(struct reader *r, struct ut_str line)
{
	struct ut_str s = ut_str_trim(line), inside, rest;
	uint64_t value;

	if (ut_str_has_start(s, "//##")) {
		take_source(r, s);
	} else if (remark(s, &inside, &rest)) {
		if (r->wants_high && word_of_code(inside, &value)) {
			r->code->ins[r->code->count - 1].encoding[1] = value;
			r->wants_high = false;
		} else if (rest.len && hex(inside, &value)) {
			take_instruction(r, value, rest);
		}
	} else if (s.len > 1 && s.ptr[s.len - 1] == ':' && line.ptr[0] != ' ') {
		add_label(r, (struct ut_str){ s.ptr, s.len - 1 });
	}
}

/* ---- blocks -------------------------------------------------------------------------------- */

static bool is_op(struct ut_str text, const char *op)
{
	struct ut_str word_ = ut_sass_opcode(text);

	return ut_str_has_start(word_, op) &&
	       (word_.len == strlen(op) || word_.ptr[strlen(op)] == '.');
}

static bool is_jump(struct ut_str text)
{
	static const char *const ops[] = { "BRA",  "BRX",   "JMP",  "JMX",  "EXIT", "RET",  "CALL",
					   "BRXU", "BREAK", "JMXU", "KILL", "BPT",  "BSYNC" };

	for (size_t i = 0; i < sizeof(ops) / sizeof(ops[0]); i++) {
		if (is_op(text, ops[i]))
			return true;
	}
	return false;
}

/* May the next instruction follow? Only where it cannot for sure, it does not. */
static bool falls_through(struct ut_str text)
{
	struct ut_str s = ut_str_trim(text);

	if (s.len && s.ptr[0] == '@')
		return true;
	if (is_op(s, "EXIT") || is_op(s, "RET") || is_op(s, "KILL") || is_op(s, "BRX"))
		return false;
	return !(is_op(s, "BRA") || is_op(s, "JMP")) || ut_str_find(s, ",");
}

/* The instruction that the next target in *s names: a label, or an address behind the opcode. */
static uint32_t next_target(const struct reader *r, struct ut_str *s)
{
	while (s->len) {
		struct ut_str name = sass_code_word(*s, " \t,;()`\"[]{}*");
		uint32_t ins = UT_CODE_NONE;
		uint64_t address;

		*s = ut_str_from(*s, name.ptr + name.len + (name.len < s->len ? 1 : 0));
		if (!name.len)
			continue;
		if (word_of_code(name, &address))
			ins = ut_code_at(r->code, address);
		else
			ins = find_label(r, name);
		if (ins < r->code->count)
			return ins;
	}
	return UT_CODE_NONE;
}

static struct ut_str operands(struct ut_str text)
{
	struct ut_str op = ut_sass_opcode(text);

	return ut_str_from(text, op.ptr + op.len);
}

/* Where blocks begin: at labels, targets and behind jumps. */
static void mark_leaders(const struct reader *r, bool *leader)
{
	const struct ut_kernel_code *c = r->code;

	for (size_t i = 0; i < r->label_count; i++) {
		if (r->labels[i].ins < c->count)
			leader[r->labels[i].ins] = true;
	}
	for (uint32_t i = 0; i < c->count; i++) {
		struct ut_str rest;
		uint32_t to;

		if (!is_jump(c->ins[i].text))
			continue;
		if (i + 1 < c->count)
			leader[i + 1] = true;
		rest = operands(c->ins[i].text);
		while ((to = next_target(r, &rest)) != UT_CODE_NONE)
			leader[to] = true;
	}
}

static void make_blocks(struct reader *r)
{
	struct ut_kernel_code *c = r->code;
	bool *leader = ut_make((size_t)c->count + 1);
	uint32_t block = 0;

	mark_leaders(r, leader);
	c->block_count = 0; /* the one that all were put into */
	for (uint32_t i = 0; i < c->count; i++) {
		if (!i || leader[i]) {
			block = ut_code_add_block(c);
			c->blocks[block].first = i;
		}
		c->ins[i].block = block;
		c->blocks[block].end = i + 1;
	}
	free(leader);
}

static void link_blocks(struct reader *r)
{
	struct ut_kernel_code *c = r->code;

	for (uint32_t b = 0; b < c->block_count; b++) {
		struct ut_str last = c->ins[c->blocks[b].end - 1].text, rest;
		uint32_t to;

		if (b + 1 < c->block_count && falls_through(last))
			ut_code_edge(c, b, b + 1);
		if (!is_jump(last) || is_op(last, "RET"))
			continue;
		rest = operands(last);
		while ((to = next_target(r, &rest)) != UT_CODE_NONE)
			ut_code_edge(c, b, c->ins[to].block);
	}
}

/* DEPBAR waits by its operand: "DEPBAR.LE SB0, 0x1" goes on with one left. */
static uint64_t wait_of_depbar(struct ut_str text)
{
	const char *at = is_op(text, "DEPBAR") ? ut_str_find(text, "SB") : NULL;
	struct ut_str rest = at ? ut_str_from(text, at) : (struct ut_str){ "", 0 };

	if (rest.len < 3 || rest.ptr[2] < '0' || rest.ptr[2] > '5')
		return 0;
	return UINT64_C(1) << (rest.ptr[2] - '0');
}

static void take_tokens(struct ut_code_ins *ins)
{
	struct ut_sass_control control = ut_sass_control(ins->encoding);
	uint64_t waits = wait_of_depbar(ins->text);

	if (ins->encoding[1]) {
		waits |= control.wait;
		if (control.write < UT_SASS_SCOREBOARDS)
			ins->sets |= UINT64_C(1) << control.write;
		if (control.read < UT_SASS_SCOREBOARDS)
			ins->sets |= UINT64_C(1) << (8 + control.read);
	}
	ins->waits = waits | waits << 8;
	ins->class = ut_sass_class(ins->text);
}

int ut_sass_read(struct ut_kernel_code *c, struct ut_str text, struct ut_str function,
		 const char *path, struct ut_err *err)
{
	struct reader r = { .code = c, .by_label.arena = c->arena };
	struct ut_str line, name;
	bool inside = false;

	while (ut_asm_line(&text, &line)) {
		name = ut_sass_function(line);
		if (name.len)
			inside = ut_str_eq(name, function);
		else if (inside && line.len)
			sass_code_take_line(&r, line);
	}
	for (uint32_t i = 0; i < c->count; i++)
		take_tokens(&c->ins[i]);
	if (c->count) {
		make_blocks(&r);
		link_blocks(&r);
	}
	ut_code_finish(c);
	free(r.labels);
	if (!c->count)
		return ut_err_set(err, -ENOENT, "%s: no instructions of %.*s", path,
				  (int)(function.len < 200 ? function.len : 200), function.ptr);
	return 0;
}
