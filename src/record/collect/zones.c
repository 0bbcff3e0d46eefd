/* zones.c - what the collector does for a language's runtime: unitrace/zones.h. */
#include "collect/zones.h"

#include <string.h>

#include "collect/gate.h"
#include "collect/intern.h"
#include "collect/number.h"
#include "unitrace/zones.h"
#include "wire/control.h"

/* A zone's number is the payload of its begin if that fits a word, else the pair of its numbers. */
#define IN_A_WORD (UINT64_C(1) << 28)

static uint32_t domain_of(uint64_t zone)
{
	return zone < IN_A_WORD ? (uint32_t)(zone & (UT_WORD_DOMAINS - 1)) : (uint32_t)zone;
}

static uint64_t define(const struct ut_zone *z)
{
	uint32_t domain = ut_domain_id_by_name(z->domain), name, id;
	uint64_t words[2];

	if (!domain || domain == UT_DOMAIN_UNWANTED)
		return 0;
	name = ut_intern(z->name, z->name_len);
	id = ut_intern_number();
	words[0] = ut_pack(id, name);
	words[1] = ut_pack(ut_intern(z->file, z->file_len), z->line);
	ut_number_define(UT_REC_PLACE, words, 2, NULL, 0);
	if (domain < UT_WORD_DOMAINS && id < UT_WORD_STRINGS)
		return domain | (uint64_t)id << 8;
	return ut_pack(domain, id);
}

static bool zones_is_open(const struct ut_tbuf *t)
{
	uint32_t look = ut_gate_look(t);

	return UT_LIKELY(look == UT_LOOK_OPEN || look == UT_LOOK_RESUMED) && ut_gate_runs();
}

static __attribute__((noinline)) uint64_t begin_slow(uint64_t zone)
{
	if (!zone || !ut_gate_passes(&ut_me, UT_CALL_OTHER))
		return 0;
	if (zone < IN_A_WORD)
		ut_tbuf_word(&ut_me, UT_WORD_BEGIN, zone);
	else
		ut_tbuf_words(&ut_me, UT_REC_TASK_BEGIN, &zone, 1);
	return (uintptr_t)ut_me.pos;
}

static uint64_t zones_begin(uint64_t zone)
{
	struct ut_tbuf *t = &ut_me;

	if (UT_LIKELY(zone - 1 < IN_A_WORD - 1 && zones_is_open(t)) &&
	    ut_tbuf_word_fast(t, UT_WORD_BEGIN, zone))
		return (uintptr_t)t->pos;
	return begin_slow(zone);
}

static __attribute__((noinline)) void end_slow(uint32_t domain)
{
	if (ut_gate_passes(&ut_me, UT_CALL_LATE_END))
		ut_tbuf_word(&ut_me, UT_WORD_END, domain);
}

static void zones_end(uint64_t zone)
{
	struct ut_tbuf *t = &ut_me;

	if (!zones_is_open(t) || UT_UNLIKELY(!ut_tbuf_word_fast(t, UT_WORD_END, domain_of(zone))))
		end_slow(domain_of(zone));
}

/*
 * The begin is the thread's last word: nobody has seen it but a reader of a living spool, who
 * steps over a word of 0. Its slot is taken again by the next record.
 */
static int zones_drop(uint64_t zone, uint64_t mark, uint64_t ticks)
{
	struct ut_tbuf *t = &ut_me;
	uint64_t *slot = t->pos - 1;
	uint64_t word, age;

	if (mark != (uintptr_t)t->pos || zone >= IN_A_WORD || !zones_is_open(t))
		return 0;
	word = *slot;
	age = (ut_clock_ticks(ut_writer_clock) - (word >> 4)) & UINT32_MAX;
	if (word >> 36 != zone || (word & 15) != UT_WORD_BEGIN || age >= ticks)
		return 0;
	__atomic_store_n(slot, 0, __ATOMIC_RELEASE);
	return ut_tbuf_move(&t->pos, slot + 1, slot);
}

static uint64_t ticks_of(uint64_t ns)
{
	const struct ut_control *c = ut_gate_settings();
	struct ut_clock_pair now;
	double rate = 1;

	ut_clock_pair_take(ut_writer_clock, &now);
	if (c && now.mono > c->start.mono)
		rate = (double)(now.ticks - c->start.ticks) / (double)(now.mono - c->start.mono);
	return (uint64_t)((double)ns * rate);
}

const struct ut_zones ut_zones = {
	.size = sizeof(ut_zones),
	.define = define,
	.begin = zones_begin,
	.end = zones_end,
	.drop = zones_drop,
	.ticks = ticks_of,
};
