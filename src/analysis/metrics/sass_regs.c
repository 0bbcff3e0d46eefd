#include "metrics/sass_regs.h"

#include "metrics/sass_code.h"

/* ---- opcodes ------------------------------------------------------------------------------- */

struct opcode {
	const char *name; /* up to the first dot */
	unsigned int class;
};

/* What is not listed is arithmetic of a fixed latency. */
static const struct opcode opcodes[] = {
	{ "LDG", UT_SASS_GLOBAL },
	{ "LD", UT_SASS_GLOBAL },
	{ "LDL", UT_SASS_GLOBAL },
	{ "STG", UT_SASS_GLOBAL | UT_SASS_STORE },
	{ "ST", UT_SASS_GLOBAL | UT_SASS_STORE },
	{ "STL", UT_SASS_GLOBAL | UT_SASS_STORE },
	{ "ATOM", UT_SASS_GLOBAL },
	{ "ATOMG", UT_SASS_GLOBAL },
	{ "RED", UT_SASS_GLOBAL | UT_SASS_STORE },
	{ "REDG", UT_SASS_GLOBAL | UT_SASS_STORE },
	{ "CCTL", UT_SASS_GLOBAL },
	{ "LDGSTS", UT_SASS_GLOBAL | UT_SASS_SHARED | UT_SASS_COPY },
	{ "LDGDEPBAR", UT_SASS_COPY },
	{ "UTMALDG", UT_SASS_COPY },
	{ "UTMASTG", UT_SASS_COPY | UT_SASS_STORE },
	{ "UBLKCP", UT_SASS_COPY },
	{ "UBLKRED", UT_SASS_COPY | UT_SASS_STORE },
	{ "TEX", UT_SASS_TEXTURE },
	{ "TLD", UT_SASS_TEXTURE },
	{ "TLD4", UT_SASS_TEXTURE },
	{ "TMML", UT_SASS_TEXTURE },
	{ "TXD", UT_SASS_TEXTURE },
	{ "TXQ", UT_SASS_TEXTURE },
	{ "SULD", UT_SASS_TEXTURE },
	{ "SUST", UT_SASS_TEXTURE | UT_SASS_STORE },
	{ "SURED", UT_SASS_TEXTURE | UT_SASS_STORE },
	{ "SUATOM", UT_SASS_TEXTURE },
	{ "LDS", UT_SASS_SHARED },
	{ "LDSM", UT_SASS_SHARED },
	{ "STS", UT_SASS_SHARED | UT_SASS_STORE },
	{ "STSM", UT_SASS_SHARED | UT_SASS_STORE },
	{ "ATOMS", UT_SASS_SHARED },
	{ "STAS", UT_SASS_SHARED | UT_SASS_STORE },
	{ "REDAS", UT_SASS_SHARED | UT_SASS_STORE },
	{ "SYNCS", UT_SASS_SHARED | UT_SASS_BARRIER },
	{ "MUFU", UT_SASS_SPECIAL },
	{ "S2R", UT_SASS_SPECIAL },
	{ "S2UR", UT_SASS_SPECIAL },
	{ "SHFL", UT_SASS_SPECIAL },
	{ "I2F", UT_SASS_SPECIAL },
	{ "F2I", UT_SASS_SPECIAL },
	{ "F2F", UT_SASS_SPECIAL },
	{ "I2I", UT_SASS_SPECIAL },
	{ "FRND", UT_SASS_SPECIAL },
	{ "POPC", UT_SASS_SPECIAL },
	{ "FLO", UT_SASS_SPECIAL },
	{ "BREV", UT_SASS_SPECIAL },
	{ "MATCH", UT_SASS_SPECIAL },
	{ "REDUX", UT_SASS_SPECIAL },
	{ "FCHK", UT_SASS_SPECIAL },
	{ "MOVM", UT_SASS_SPECIAL },
	{ "B2R", UT_SASS_SPECIAL },
	{ "R2UR", UT_SASS_SPECIAL },
	{ "LDC", UT_SASS_CONSTANT },
	{ "ULDC", UT_SASS_CONSTANT },
	{ "LDCU", UT_SASS_CONSTANT },
	{ "BAR", UT_SASS_BARRIER },
	{ "UCGABAR_ARV", UT_SASS_BARRIER },
	{ "UCGABAR_WAIT", UT_SASS_BARRIER },
	{ "WARPSYNC", UT_SASS_BARRIER },
	{ "MEMBAR", UT_SASS_FENCE },
	{ "ERRBAR", UT_SASS_FENCE },
	{ "FENCE", UT_SASS_FENCE },
	{ "BRA", UT_SASS_BRANCH },
	{ "BRX", UT_SASS_BRANCH },
	{ "JMP", UT_SASS_BRANCH },
	{ "JMX", UT_SASS_BRANCH },
	{ "CALL", UT_SASS_BRANCH },
	{ "RET", UT_SASS_BRANCH },
	{ "EXIT", UT_SASS_BRANCH },
	{ "BSYNC", UT_SASS_BRANCH },
	{ "BREAK", UT_SASS_BRANCH },
	{ "HMMA", UT_SASS_MATRIX },
	{ "IMMA", UT_SASS_MATRIX },
	{ "BMMA", UT_SASS_MATRIX },
	{ "DMMA", UT_SASS_MATRIX },
	{ "QMMA", UT_SASS_MATRIX },
	{ "OMMA", UT_SASS_MATRIX },
	{ "HGMMA", UT_SASS_MATRIX },
	{ "IGMMA", UT_SASS_MATRIX },
	{ "QGMMA", UT_SASS_MATRIX },
	{ "BGMMA", UT_SASS_MATRIX },
	{ "UTCHMMA", UT_SASS_MATRIX },
	{ "UTCQMMA", UT_SASS_MATRIX },
	{ "UTCIMMA", UT_SASS_MATRIX },
	{ "DADD", UT_SASS_DOUBLE },
	{ "DMUL", UT_SASS_DOUBLE },
	{ "DFMA", UT_SASS_DOUBLE },
	{ "DSETP", UT_SASS_DOUBLE },
	{ "NANOSLEEP", UT_SASS_SLEEP },
};

static struct ut_str base_name(struct ut_str opcode)
{
	const char *dot = opcode.len ? memchr(opcode.ptr, '.', opcode.len) : NULL;

	opcode.len = dot ? (size_t)(dot - opcode.ptr) : opcode.len;
	return opcode;
}

unsigned int ut_sass_class(struct ut_str text)
{
	struct ut_str name = base_name(ut_sass_opcode(text));

	for (size_t i = 0; i < sizeof(opcodes) / sizeof(opcodes[0]); i++) {
		if (ut_str_is(name, opcodes[i].name))
			return opcodes[i].class;
	}
	return UT_SASS_ALU;
}

/* Has the opcode this word between its dots? */
static bool has_part(struct ut_str opcode, const char *part)
{
	const char *dot;

	while ((dot = opcode.len ? memchr(opcode.ptr, '.', opcode.len) : NULL)) {
		struct ut_str word;

		opcode = ut_str_from(opcode, dot + 1);
		word = base_name(opcode);
		if (ut_str_is(word, part))
			return true;
	}
	return false;
}

struct form {
	unsigned int result; /* registers of the first operand */
	unsigned int source; /* of the others that are no addresses */
	unsigned int most_p; /* predicates that may be results */
	bool only_p;         /* all results are predicates */
	bool no_result;
};

static struct form form_of(struct ut_str text)
{
	struct ut_str opcode = ut_sass_opcode(text), name = base_name(opcode);
	unsigned int class = ut_sass_class(text);
	unsigned int width = has_part(opcode, "128")                             ? 4
			     : has_part(opcode, "64") || has_part(opcode, "F64") ? 2
										 : 1;
	struct form f = { .result = width, .source = 1, .most_p = 2 };

	f.no_result = class & (UT_SASS_STORE | UT_SASS_BARRIER | UT_SASS_FENCE | UT_SASS_BRANCH |
			       UT_SASS_COPY) &&
		      !ut_str_is(name, "SYNCS");
	f.only_p = ut_str_has_end(name, "SETP") || ut_str_has_end(name, "SETP2") ||
		   ut_str_has_end(name, "PLOP3") || ut_str_is(name, "FCHK") ||
		   ut_str_is(name, "SYNCS");
	if (class & UT_SASS_STORE)
		f.source = width;
	if (class & UT_SASS_DOUBLE)
		f.result = f.source = 2;
	if (class & UT_SASS_MATRIX)
		f.result = f.source = 4;
	if (has_part(opcode, "WIDE") || (ut_str_is(name, "CS2R") && !has_part(opcode, "32")))
		f.result = 2;
	if (ut_str_is(name, "LDSM"))
		f.result = has_part(opcode, "4") ? 4 : has_part(opcode, "2") ? 2 : 1;
	if (ut_str_has_start(name, "VOTE"))
		f.most_p = 1;
	return f;
}

/* ---- operands ------------------------------------------------------------------------------ */

enum kind {
	NOTHING,
	REGISTER,
	UNIFORM,
	PREDICATE,
	UNIFORM_PREDICATE,
	FIXED
};

static bool is_letter(char c)
{
	return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_';
}

/* The register that s begins with: "UR4", "P0"; FIXED for those of a constant value. */
static enum kind register_at(struct ut_str s, unsigned int *number, size_t *used)
{
	static const struct {
		const char *name;
		enum kind kind;
		unsigned int count;
		const char *fixed;
	} files[] = { { "UR", UNIFORM, 63, "URZ" },
		      { "UP", UNIFORM_PREDICATE, 7, "UPT" },
		      { "R", REGISTER, 255, "RZ" },
		      { "P", PREDICATE, 7, "PT" } };

	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		size_t at = strlen(files[i].name), digits = at;

		if (ut_str_has_start(s, files[i].fixed)) {
			*used = strlen(files[i].fixed);
			return FIXED;
		}
		if (!ut_str_has_start(s, files[i].name))
			continue;
		*number = 0;
		for (; at < s.len && at < digits + 3 && s.ptr[at] >= '0' && s.ptr[at] <= '9'; at++)
			*number = *number * 10 + (unsigned int)(s.ptr[at] - '0');
		if (at == digits || *number >= files[i].count ||
		    (at < s.len && is_letter(s.ptr[at])))
			return NOTHING;
		*used = at;
		return files[i].kind;
	}
	return NOTHING;
}

static void sass_regs_add(struct ut_sass_set *set, enum kind kind, unsigned int number,
			  unsigned int width)
{
	for (unsigned int i = number; i < number + width && i < 255; i++) {
		if (kind == REGISTER)
			set->r[i / 64] |= UINT64_C(1) << i % 64;
		else if (kind == UNIFORM && i < 63)
			set->ur |= UINT64_C(1) << i;
		else if (kind == PREDICATE && i < 7)
			set->p |= (uint16_t)(1u << i);
		else if (kind == UNIFORM_PREDICATE && i < 7)
			set->up |= (uint16_t)(1u << i);
	}
}

static bool is_predicate(enum kind kind)
{
	return kind == PREDICATE || kind == UNIFORM_PREDICATE;
}

/* All registers that an operand names, as read. Addresses say their width: "[R6.64+0x10]". */
static void add_reads(struct ut_sass_set *set, struct ut_str operand, unsigned int width)
{
	bool inside = false; /* of brackets: an address */

	for (size_t i = 0; i < operand.len; i++) {
		struct ut_str rest = ut_str_from(operand, operand.ptr + i);
		unsigned int number = 0;
		size_t used = 1;
		enum kind kind;

		inside = operand.ptr[i] == '[' || (inside && operand.ptr[i] != ']');
		if (i && (is_letter(operand.ptr[i - 1]) ||
			  (operand.ptr[i - 1] >= '0' && operand.ptr[i - 1] <= '9') ||
			  operand.ptr[i - 1] == '.'))
			continue; /* in the middle of a word */
		kind = register_at(rest, &number, &used);
		if (kind == NOTHING || kind == FIXED)
			continue;
		rest = ut_str_from(rest, rest.ptr + used);
		sass_regs_add(set, kind, number,
			      is_predicate(kind)              ? 1
			      : ut_str_has_start(rest, ".64") ? 2
			      : inside                        ? 1
							      : width);
	}
}

/* The next operand of *s, which commas part. */
static bool next_operand(struct ut_str *s, struct ut_str *operand)
{
	const char *comma;

	*s = ut_str_trim(*s);
	if (!s->len || s->ptr[0] == ';')
		return false;
	comma = memchr(s->ptr, ',', s->len);
	operand->ptr = s->ptr;
	operand->len = comma ? (size_t)(comma - s->ptr) : s->len;
	*s = ut_str_from(*s, s->ptr + operand->len + (comma ? 1 : 0));
	if (operand->len && operand->ptr[operand->len - 1] == ';')
		operand->len--;
	*operand = ut_str_trim(*operand);
	return true;
}

/* Results stand in front: a register and predicates, in either order. */
struct results {
	struct form form;
	unsigned int registers, predicates;
	bool over;
};

static bool take_result(struct results *r, struct ut_str operand, struct ut_sass_set *writes)
{
	unsigned int number = 0;
	size_t used = 0;
	enum kind kind = register_at(operand, &number, &used);
	bool predicate =
		is_predicate(kind) || ut_str_is(operand, "PT") || ut_str_is(operand, "UPT");

	if (r->over || kind == NOTHING || (used < operand.len && operand.ptr[used] == '+'))
		return false;
	if (predicate ? r->predicates++ >= r->form.most_p : r->form.only_p || r->registers++ >= 1)
		return false;
	sass_regs_add(writes, kind, number, predicate ? 1 : r->form.result);
	return true;
}

void ut_sass_regs(struct ut_sass_regs *regs, struct ut_str text)
{
	struct ut_str s = ut_str_trim(text), opcode = ut_sass_opcode(text), operand;
	struct results results = { .form = form_of(text) };

	*regs = (struct ut_sass_regs){ 0 };
	results.over = results.form.no_result;
	if (s.len && s.ptr[0] == '@')
		add_reads(&regs->reads,
			  (struct ut_str){ s.ptr + 1, (size_t)(opcode.ptr - s.ptr) - 1 }, 1);
	s = ut_str_from(s, opcode.ptr + opcode.len);
	while (next_operand(&s, &operand)) {
		if (take_result(&results, operand, &regs->writes))
			continue;
		results.over = true;
		add_reads(&regs->reads, operand, results.form.source);
	}
}

bool ut_sass_common(const struct ut_sass_set *a, const struct ut_sass_set *b,
		    struct ut_sass_set *both)
{
	struct ut_sass_set s = { .ur = a->ur & b->ur,
				 .p = (uint16_t)(a->p & b->p),
				 .up = (uint16_t)(a->up & b->up) };
	uint64_t any = s.ur | s.p | s.up;

	for (size_t i = 0; i < 4; i++) {
		s.r[i] = a->r[i] & b->r[i];
		any |= s.r[i];
	}
	if (both)
		*both = s;
	return any != 0;
}

static bool sass_regs_has(const struct ut_sass_set *s, enum kind kind, unsigned int i)
{
	return kind == REGISTER    ? i < 255 && s->r[i / 64] >> i % 64 & 1
	       : kind == UNIFORM   ? i < 63 && s->ur >> i & 1
	       : kind == PREDICATE ? i < 7 && s->p >> i & 1
				   : i < 7 && s->up >> i & 1;
}

void ut_sass_set_text(struct ut_buf *b, const struct ut_sass_set *set)
{
	static const struct {
		enum kind kind;
		const char *name;
	} files[] = { { REGISTER, "R" },
		      { UNIFORM, "UR" },
		      { PREDICATE, "P" },
		      { UNIFORM_PREDICATE, "UP" } };
	size_t start = b->len;

	for (size_t f = 0; f < sizeof(files) / sizeof(files[0]); f++) {
		for (unsigned int i = 0; i < 255; i++) {
			unsigned int first = i;

			if (!sass_regs_has(set, files[f].kind, i))
				continue;
			while (sass_regs_has(set, files[f].kind, i + 1))
				i++;
			ut_buf_fmt(b, "%s%s%u", b->len > start ? ", " : "", files[f].name, first);
			if (i > first)
				ut_buf_fmt(b, "-%s%u", files[f].name, i);
		}
	}
}
