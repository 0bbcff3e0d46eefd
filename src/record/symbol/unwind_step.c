/* unwind_step.c - one step outwards: what a row says, applied to registers and memory. */
#include "symbol/unwind.h"

#include "symbol/unwind_bytes.h"

#define MOST_STACK 32u
#define MOST_OPS   256u
#define MOST_EXPR  512u

/* ---- expressions --------------------------------------------------------------------------- */

struct evaluation {
	struct ut_bytes b;
	const uint8_t *start;
	uint64_t stack[MOST_STACK];
	size_t depth;
	const struct ut_unwind_regs *regs;
	const struct ut_unwind_memory *memory;
	bool bad;
};

static void unwind_step_push(struct evaluation *e, uint64_t value)
{
	if (e->depth < MOST_STACK)
		e->stack[e->depth++] = value;
	else
		e->bad = true;
}

static uint64_t unwind_step_pop(struct evaluation *e)
{
	if (e->depth)
		return e->stack[--e->depth];
	e->bad = true;
	return 0;
}

static void push_reg(struct evaluation *e, uint64_t reg, int64_t offset)
{
	if (reg < UT_REGS)
		unwind_step_push(e, e->regs->r[reg] + (uint64_t)offset);
	else
		e->bad = true;
}

static void deref(struct evaluation *e)
{
	uint64_t word = 0;

	if (!e->memory->read(e->memory->ctx, unwind_step_pop(e), &word))
		e->bad = true;
	unwind_step_push(e, word);
}

static bool push_constant(struct evaluation *e, uint8_t op)
{
	switch (op) {
	case 0x03: /* addr */
	case 0x0e: /* const8u */
	case 0x0f:
		unwind_step_push(e, ut_bytes_fixed(&e->b, 8));
		return true;
	case 0x08: /* const1u, 1s, 2u, 2s, 4u, 4s */
		unwind_step_push(e, ut_bytes_fixed(&e->b, 1));
		return true;
	case 0x09:
		unwind_step_push(e, (uint64_t)ut_bytes_signed(&e->b, 1));
		return true;
	case 0x0a:
		unwind_step_push(e, ut_bytes_fixed(&e->b, 2));
		return true;
	case 0x0b:
		unwind_step_push(e, (uint64_t)ut_bytes_signed(&e->b, 2));
		return true;
	case 0x0c:
		unwind_step_push(e, ut_bytes_fixed(&e->b, 4));
		return true;
	case 0x0d:
		unwind_step_push(e, (uint64_t)ut_bytes_signed(&e->b, 4));
		return true;
	case 0x10: /* constu, consts */
		unwind_step_push(e, ut_bytes_uleb(&e->b));
		return true;
	case 0x11:
		unwind_step_push(e, (uint64_t)ut_bytes_sleb(&e->b));
		return true;
	default:
		return false;
	}
}

/* Of two values; the second one is on top. */
static bool calculate(struct evaluation *e, uint8_t op)
{
	uint64_t b = e->depth ? e->stack[e->depth - 1] : 0;
	uint64_t a = e->depth > 1 ? e->stack[e->depth - 2] : 0, value;

	switch (op) {
	case 0x1a:
		value = a & b;
		break;
	case 0x1c:
		value = a - b;
		break;
	case 0x1e:
		value = a * b;
		break;
	case 0x21:
		value = a | b;
		break;
	case 0x22:
		value = a + b;
		break;
	case 0x24:
		value = b < 64 ? a << b : 0;
		break;
	case 0x25:
		value = b < 64 ? a >> b : 0;
		break;
	case 0x26:
		value = (uint64_t)((int64_t)a >> (b < 63 ? b : 63));
		break;
	case 0x27:
		value = a ^ b;
		break;
	case 0x29:
		value = a == b;
		break;
	case 0x2a:
		value = (int64_t)a >= (int64_t)b;
		break;
	case 0x2b:
		value = (int64_t)a > (int64_t)b;
		break;
	case 0x2c:
		value = (int64_t)a <= (int64_t)b;
		break;
	case 0x2d:
		value = (int64_t)a < (int64_t)b;
		break;
	case 0x2e:
		value = a != b;
		break;
	default:
		return false;
	}
	unwind_step_pop(e);
	unwind_step_pop(e);
	unwind_step_push(e, value);
	return true;
}

static void jump(struct evaluation *e, int64_t by)
{
	if (by < e->start - e->b.at || by > e->b.end - e->b.at)
		e->bad = true;
	else
		e->b.at += by;
}

static void other(struct evaluation *e, uint8_t op)
{
	uint64_t a;
	int64_t by;

	switch (op) {
	case 0x06:
		deref(e);
		break;
	case 0x12: /* dup */
		a = unwind_step_pop(e);
		unwind_step_push(e, a);
		unwind_step_push(e, a);
		break;
	case 0x13: /* drop */
		unwind_step_pop(e);
		break;
	case 0x1f: /* neg */
		unwind_step_push(e, -unwind_step_pop(e));
		break;
	case 0x20: /* not */
		unwind_step_push(e, ~unwind_step_pop(e));
		break;
	case 0x23: /* plus_uconst */
		a = unwind_step_pop(e);
		unwind_step_push(e, a + ut_bytes_uleb(&e->b));
		break;
	case 0x28: /* bra */
		by = ut_bytes_signed(&e->b, 2);
		if (unwind_step_pop(e))
			jump(e, by);
		break;
	case 0x2f: /* skip */
		jump(e, ut_bytes_signed(&e->b, 2));
		break;
	case 0x92: /* bregx */
		a = ut_bytes_uleb(&e->b);
		push_reg(e, a, ut_bytes_sleb(&e->b));
		break;
	case 0x96: /* nop */
		break;
	default:
		e->bad = true;
		break;
	}
}

static void evaluate_op(struct evaluation *e)
{
	uint8_t op = (uint8_t)ut_bytes_fixed(&e->b, 1);

	if (op >= 0x30 && op <= 0x4f)
		unwind_step_push(e, op - 0x30u);
	else if (op >= 0x70 && op <= 0x8f)
		push_reg(e, op - 0x70u, ut_bytes_sleb(&e->b));
	else if (!push_constant(e, op) && !calculate(e, op))
		other(e, op);
}

/* The expression of a rule; first is what lies on the stack when it begins. */
static bool unwind_step_evaluate(const struct ut_unwind *u, int32_t where, struct evaluation *e,
				 uint64_t *value)
{
	uint64_t address = u->hdr + (uint64_t)(int64_t)where, offset, len;
	uint8_t bytes[MOST_EXPR];

	if (!ut_unwind_to_offset(u, address, &offset))
		return false;
	e->b.at = bytes;
	e->b.end = bytes + ut_unwind_read(u, offset, bytes, sizeof(bytes));
	len = ut_bytes_uleb(&e->b);
	if (e->b.bad || len > (uint64_t)(e->b.end - e->b.at))
		return false;
	e->start = e->b.at;
	e->b.end = e->b.at + len;
	for (unsigned int n = 0; e->b.at < e->b.end && !e->bad && !e->b.bad; n++) {
		evaluate_op(e);
		e->bad |= n > MOST_OPS;
	}
	*value = unwind_step_pop(e);
	return !e->bad && !e->b.bad;
}

/* ---- a step -------------------------------------------------------------------------------- */

/* The caller's register; false = it cannot be told. */
static bool apply(const struct ut_unwind *u, int32_t rule, uint64_t cfa, uint64_t *reg,
		  const struct ut_unwind_regs *regs, const struct ut_unwind_memory *memory)
{
	struct evaluation e = { .stack = { cfa }, .depth = 1, .regs = regs, .memory = memory };
	int32_t offset = rule >> UT_RULE_BITS;
	uint64_t at;

	switch ((enum ut_unwind_rule)(rule & ((1 << UT_RULE_BITS) - 1))) {
	case UT_RULE_SAME:
		return true;
	case UT_RULE_UNDEFINED:
		*reg = 0;
		return true;
	case UT_RULE_AT:
		return memory->read(memory->ctx, cfa + (uint64_t)(int64_t)offset, reg);
	case UT_RULE_IS:
		*reg = cfa + (uint64_t)(int64_t)offset;
		return true;
	case UT_RULE_REG:
		*reg = offset < UT_REGS ? regs->r[offset] : 0;
		return offset < UT_REGS;
	case UT_RULE_AT_EXPR:
		return unwind_step_evaluate(u, offset, &e, &at) &&
		       memory->read(memory->ctx, at, reg);
	case UT_RULE_EXPR:
		return unwind_step_evaluate(u, offset, &e, reg);
	}
	return false;
}

enum ut_unwind_step ut_unwind_step(struct ut_unwind *u, const struct ut_unwind_row *row,
				   struct ut_unwind_regs *regs,
				   const struct ut_unwind_memory *memory)
{
	const struct ut_unwind_regs old = *regs;
	uint64_t cfa;

	if (!row->rules[UT_REG_IP])
		return UT_STEP_LOST;
	if ((row->rules[UT_REG_IP] & ((1 << UT_RULE_BITS) - 1)) == UT_RULE_UNDEFINED)
		return UT_STEP_END;
	if (row->cfa_reg < UT_REGS) {
		cfa = old.r[row->cfa_reg] + (uint64_t)(int64_t)row->cfa_offset;
	} else {
		struct evaluation e = { .regs = &old, .memory = memory };

		if (!unwind_step_evaluate(u, row->cfa_offset, &e, &cfa))
			return UT_STEP_LOST;
	}
	regs->r[UT_REG_RSP] = cfa;
	for (size_t i = 0; i < UT_REGS; i++) {
		/* Most are the same. A register that is lost matters only if it is needed later. */
		if (row->rules[i] && !apply(u, row->rules[i], cfa, &regs->r[i], &old, memory) &&
		    i == UT_REG_IP)
			return UT_STEP_LOST;
	}
	return regs->r[UT_REG_IP] ? UT_STEP_CALLER : UT_STEP_END;
}
