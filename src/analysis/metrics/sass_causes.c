/*
 * sass_causes.c - what an instruction of NVIDIA's devices waits for, by the reason that was
 * sampled.
 *
 * A sample names the next instruction of a warp. Scoreboards are exact: all that count one up since
 * somebody last waited for it on the way here are waited for; those whose registers it needs are
 * told first. Other reasons lead to the nearest instruction of a kind: the last barrier, branch, or
 * user of the queue that is full.
 */
#include "metrics/sass_code.h"
#include "metrics/sass_regs.h"
#include "metrics/stall_parts.h"

#define MOST_SETTERS 64u
#define NEAR         4096u /* steps of a search for the nearest */

/* Their results come through L1. */
#define LONG (UT_SASS_GLOBAL | UT_SASS_TEXTURE | UT_SASS_COPY)

enum how {
	SCOREBOARD, /* classes: whose scoreboards are meant */
	REGISTERS,  /* the nearest that writes what it reads */
	NEAREST,    /* of these classes */
	SAME,       /* the nearest of its own class */
};

static const struct {
	const char *reason;
	enum how how;
	unsigned int classes;
} reasons[] = {
	{ "long_scoreboard", SCOREBOARD, LONG },
	{ "short_scoreboard", SCOREBOARD, ~LONG },
	{ "wait", REGISTERS, 0 },
	{ "math_pipe_throttle", SAME, 0 },
	{ "mio_throttle", NEAREST, UT_SASS_SHARED | UT_SASS_SPECIAL },
	{ "lg_throttle", NEAREST, UT_SASS_GLOBAL },
	{ "tex_throttle", NEAREST, UT_SASS_TEXTURE },
	{ "barrier", NEAREST, UT_SASS_BARRIER },
	{ "membar", NEAREST, UT_SASS_FENCE },
	{ "branch_resolve", NEAREST, UT_SASS_BRANCH },
	{ "branch_resolving", NEAREST, UT_SASS_BRANCH },
	{ "drain", NEAREST, UT_SASS_STORE },
	{ "gmma", NEAREST, UT_SASS_MATRIX },
	{ "warpgroup_arrive", NEAREST, UT_SASS_MATRIX },
	{ "sleeping", NEAREST, UT_SASS_SLEEP },
};

struct search {
	const struct ut_kernel_code *code;
	struct ut_stall_found *found;
	struct ut_sass_regs wants; /* of the instruction that waits */
	unsigned int classes;
	uint64_t tokens;
	uint32_t setters[MOST_SETTERS];
	size_t count;
	size_t more; /* that did not fit */
	uint32_t steps;
};

/* ---- scoreboards --------------------------------------------------------------------------- */

static bool step_scoreboard(void *ctx, uint32_t ins)
{
	struct search *s = ctx;
	const struct ut_code_ins *i = &s->code->ins[ins];

	if (i->sets & s->tokens) {
		for (size_t k = 0; k < s->count; k++) {
			if (s->setters[k] == ins)
				return !(i->waits & s->tokens);
		}
		if (s->count < MOST_SETTERS)
			s->setters[s->count++] = ins;
		else
			s->more++;
	}
	return !(i->waits & s->tokens); /* all before it has been waited for */
}

/* Which registers make the two wait for each other; false = none. */
static bool connected(const struct search *s, uint32_t ins, struct ut_sass_set *through)
{
	struct ut_sass_regs has;

	ut_sass_regs(&has, s->code->ins[ins].text);
	return ut_sass_common(&has.writes, &s->wants.reads, through) ||
	       ut_sass_common(&has.writes, &s->wants.writes, through) ||
	       ut_sass_common(&has.reads, &s->wants.writes, through);
}

static void report_setter(struct search *s, uint32_t ins, unsigned int board,
			  const struct ut_sass_set *through)
{
	struct ut_buf b = { 0 };

	ut_buf_fmt(&b, "scoreboard %u", board);
	if (through) {
		ut_buf_text(&b, ", ");
		ut_sass_set_text(&b, through);
	}
	ut_stall_add(s->found, ins, (struct ut_str){ b.data, b.len });
	ut_buf_release(&b);
}

/* How many are of the wanted kind. */
static size_t count_kind(const struct search *s)
{
	size_t count = 0;

	for (size_t i = 0; i < s->count; i++)
		count += (s->code->ins[s->setters[i]].class & s->classes) != 0;
	return count;
}

/* Who counts the scoreboard up on the ways to ins, nearest first. */
static void sass_causes_gather(struct ut_stall_code *c, uint32_t ins, unsigned int board,
			       struct search *s)
{
	s->tokens = UINT64_C(0x101) << board;
	s->count = s->more = 0;
	ut_code_back(&c->walk, &c->code, ins, s->tokens, step_scoreboard, s);
}

/* Those whose registers it needs; without any, the nearest: the others stand in the same line. */
static void report_setters(struct search *s, unsigned int board, bool of_kind)
{
	struct ut_sass_set through;
	size_t nearest = s->count, reported = 0;

	for (size_t i = 0; i < s->count; i++) {
		if (of_kind && !(s->code->ins[s->setters[i]].class & s->classes))
			continue;
		nearest = nearest == s->count ? i : nearest;
		if (!connected(s, s->setters[i], &through))
			continue;
		report_setter(s, s->setters[i], board, &through);
		reported++;
	}
	if (reported || nearest == s->count)
		return;
	report_setter(s, s->setters[nearest], board, NULL);
	s->found->others += s->count - 1 + s->more;
}

/* Scoreboards whose users are of the wanted kind have the reason; others only if there are none. */
static void through_scoreboards(struct ut_stall_code *c, uint32_t ins, struct search *s)
{
	uint64_t waits = c->code.ins[ins].waits & 63;

	for (int pass = 0; pass < 2 && !s->found->count; pass++) {
		for (unsigned int b = 0; b < UT_SASS_SCOREBOARDS; b++) {
			if (!(waits >> b & 1))
				continue;
			sass_causes_gather(c, ins, b, s);
			if ((count_kind(s) > 0) == (pass == 0))
				report_setters(s, b, pass == 0);
		}
	}
}

/* ---- registers and kinds ------------------------------------------------------------------- */

static bool step_register(void *ctx, uint32_t ins)
{
	struct search *s = ctx;
	struct ut_sass_regs has;
	struct ut_sass_set through;
	struct ut_buf b = { 0 };

	if (++s->steps > NEAR)
		return false;
	if (s->classes && !(s->code->ins[ins].class & s->classes))
		return true;
	ut_sass_regs(&has, s->code->ins[ins].text);
	if (!ut_sass_common(&has.writes, &s->wants.reads, &through))
		return true;
	ut_sass_set_text(&b, &through);
	ut_stall_add(s->found, ins, (struct ut_str){ b.data, b.len });
	ut_buf_release(&b);
	return false;
}

static bool step_class(void *ctx, uint32_t ins)
{
	struct search *s = ctx;

	if (++s->steps > NEAR)
		return false;
	if (!(s->code->ins[ins].class & s->classes))
		return true;
	ut_stall_add(s->found, ins, (struct ut_str){ "", 0 });
	return false;
}

/* A warp that has ended its work is sampled behind its EXIT. */
static uint32_t before_exit(const struct ut_kernel_code *c, uint32_t ins)
{
	return ins && ut_str_is(ut_sass_opcode(c->ins[ins - 1].text), "EXIT") ? ins - 1 : ins;
}

void ut_stall_sass_causes(struct ut_stall_code *c, uint32_t ins, struct ut_str reason,
			  struct ut_stall_found *found)
{
	struct search s = { .code = &c->code, .found = found };
	size_t i = 0, count = sizeof(reasons) / sizeof(reasons[0]);

	while (i < count && !ut_str_is(reason, reasons[i].reason))
		i++;
	if (i == count)
		return;
	s.classes = reasons[i].classes;
	ut_sass_regs(&s.wants, c->code.ins[ins].text);
	switch (reasons[i].how) {
	case SCOREBOARD:
		through_scoreboards(c, ins, &s);
		if (!found->count) /* no encoding, or nothing set it */
			ut_code_back(&c->walk, &c->code, ins, 0, step_register, &s);
		break;
	case REGISTERS:
		ut_code_back(&c->walk, &c->code, ins, 0, step_register, &s);
		break;
	case SAME:
		s.classes = c->code.ins[ins].class;
		ut_code_back(&c->walk, &c->code, ins, 0, step_class, &s);
		break;
	case NEAREST:
		ut_code_back(&c->walk, &c->code, before_exit(&c->code, ins), 0, step_class, &s);
		break;
	}
}
