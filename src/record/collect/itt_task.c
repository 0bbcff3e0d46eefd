/* itt_task.c - tasks: the hot path of the whole program. */
#define INTEL_NO_MACRO_BODY
#include "collect/hook.h"
#include "collect/maps.h"

/*
 * The two functions below that begin and end a task do by themselves only what happens nearly
 * always and needs no other function; everything else is a jump to their slow twins, which take
 * the same arguments. So they need neither stack nor saved registers.
 */
static __attribute__((noinline)) void begin_slow(const __itt_domain *domain, __itt_id id,
						 __itt_id parent, __itt_string_handle *name)
{
	uint32_t d = ut_domain_id(domain), s;
	uint64_t words[7];

	if (d == UT_DOMAIN_UNWANTED || !ut_gate_passes(&ut_me, UT_CALL_BEGIN))
		return;
	s = ut_string_id(name);
	if (ut_id_is_null(&id) && ut_id_is_null(&parent) && d < UT_WORD_DOMAINS &&
	    s < UT_WORD_STRINGS) {
		ut_tbuf_word(&ut_me, UT_WORD_BEGIN, d | (uint64_t)s << 8);
		return;
	}
	words[0] = ut_pack(d, s);
	ut_put_id(words + 1, 2, &id);
	ut_put_id(words + 2, 2, &parent);
	ut_tbuf_words(&ut_me, UT_REC_TASK_BEGIN, words, 7);
}

/* A domain that has been met and is wanted; numbers start at 1. */
static inline bool itt_task_is_known(const __itt_domain *domain)
{
	return domain && (uint32_t)__atomic_load_n(&domain->extra1, __ATOMIC_RELAXED) - 1 <
				 UT_DOMAIN_UNWANTED - 1;
}

/* One word says it all: few domains, few names, no ids. */
static inline bool begin_word(struct ut_tbuf *t, const __itt_domain *domain,
			      const __itt_string_handle *name)
{
	uint32_t d = (uint32_t)__atomic_load_n(&domain->extra1, __ATOMIC_RELAXED);
	uint32_t s = (uint32_t)__atomic_load_n(&name->extra1, __ATOMIC_RELAXED);

	return UT_LIKELY(d - 1 < UT_WORD_DOMAINS - 1 && s - 1 < UT_WORD_STRINGS - 1) &&
	       ut_tbuf_word_fast(t, UT_WORD_BEGIN, d | (uint64_t)s << 8);
}

void __itt_task_begin(const __itt_domain *domain, __itt_id id, __itt_id parent,
		      __itt_string_handle *name)
{
	struct ut_tbuf *t = &ut_me;
	uint32_t look = ut_gate_look(t);

	if (UT_LIKELY(look == UT_LOOK_PAUSED)) {
		if (UT_UNLIKELY(!itt_task_is_known(domain)))
			goto slow;
		ut_gate_push(t, false);
		return;
	}
	if (UT_UNLIKELY(!domain || !name || !ut_gate_runs() ||
			(id.d1 | id.d2 | id.d3 | parent.d1 | parent.d2 | parent.d3)))
		goto slow;
	if (UT_LIKELY(look == UT_LOOK_OPEN)) {
		if (UT_LIKELY(begin_word(t, domain, name)))
			return;
	} else if (look == UT_LOOK_RESUMED && begin_word(t, domain, name)) {
		ut_gate_push(t, true);
		return;
	}
slow:
	begin_slow(domain, id, parent, name);
}

static __attribute__((noinline)) void end_slow(const __itt_domain *domain)
{
	uint32_t d = ut_domain_id(domain);

	if (d != UT_DOMAIN_UNWANTED && ut_gate_passes(&ut_me, UT_CALL_END))
		ut_tbuf_word(&ut_me, UT_WORD_END, d);
}

void __itt_task_end(const __itt_domain *domain)
{
	struct ut_tbuf *t = &ut_me;
	uint32_t look = ut_gate_look(t), d;

	if (UT_UNLIKELY(!itt_task_is_known(domain)))
		goto slow;
	if (UT_LIKELY(look == UT_LOOK_PAUSED)) {
		if (UT_UNLIKELY(t->history & 1))
			goto slow;
		ut_gate_pop(t);
		return;
	}
	if (UT_UNLIKELY(!ut_gate_runs()))
		goto slow;
	d = (uint32_t)__atomic_load_n(&domain->extra1, __ATOMIC_RELAXED);
	if (UT_LIKELY(look == UT_LOOK_OPEN)) {
		if (UT_LIKELY(ut_tbuf_word_fast(t, UT_WORD_END, d)))
			return;
	} else if (look == UT_LOOK_RESUMED) {
		if (!(t->history & 1) || ut_tbuf_word_fast(t, UT_WORD_END, d)) {
			ut_gate_pop(t);
			return;
		}
	}
slow:
	end_slow(domain);
}

void __itt_task_begin_fn(const __itt_domain *domain, __itt_id id, __itt_id parent, void *fn)
{
	uint32_t d = ut_domain_id(domain);
	uint64_t words[8] = { d, (uint64_t)(uintptr_t)fn };

	if (d == UT_DOMAIN_UNWANTED || !ut_gate_passes(&ut_me, UT_CALL_BEGIN))
		return;
	ut_maps_define(words[1]);
	ut_put_id(words + 2, 2, &id);
	ut_put_id(words + 3, 2, &parent);
	ut_tbuf_words(&ut_me, UT_REC_TASK_BEGIN_FN, words, 8);
}

/* ---- with a clock of the program's own ----------------------------------------------------- */

/* Without a clock domain the time is one of ours, and 0 is none: now. */
static uint64_t clock_time(const __itt_clock_domain *clock, uint64_t time)
{
	return time || clock ? time : ut_clock_ticks(ut_writer_clock);
}

/* What a task with a clock is called: by a string, or by its function. */
struct what {
	uint64_t names; /* domain and string */
	const void *function;
};

static void begin_clock(enum ut_rec type, struct what what, const __itt_clock_domain *clock,
			uint64_t time, const __itt_id ids[2])
{
	uint64_t words[10] = { what.names, ut_clock_id(clock), clock_time(clock, time) };

	ut_put_id(words + 3, 2, &ids[0]);
	ut_put_id(words + 4, 2, &ids[1]);
	words[9] = (uint64_t)(uintptr_t)what.function;
	ut_tbuf_words(&ut_me, type, words, 10);
}

void __itt_task_begin_ex(const __itt_domain *domain, __itt_clock_domain *clock,
			 unsigned long long timestamp, __itt_id id, __itt_id parent,
			 __itt_string_handle *name)
{
	uint32_t d = ut_domain_id(domain);

	if (d != UT_DOMAIN_UNWANTED && ut_gate_passes(&ut_me, UT_CALL_BEGIN))
		begin_clock(UT_REC_TASK_BEGIN_CLOCK,
			    (struct what){ ut_pack(d, ut_string_id(name)), NULL }, clock, timestamp,
			    (__itt_id[]){ id, parent });
}

void __itt_task_begin_fn_ex(const __itt_domain *domain, __itt_clock_domain *clock,
			    unsigned long long timestamp, __itt_id id, __itt_id parent, void *fn)
{
	uint32_t d = ut_domain_id(domain);

	if (d == UT_DOMAIN_UNWANTED || !ut_gate_passes(&ut_me, UT_CALL_BEGIN))
		return;
	ut_maps_define((uint64_t)(uintptr_t)fn);
	begin_clock(UT_REC_TASK_BEGIN_CLOCK, (struct what){ d, fn }, clock, timestamp,
		    (__itt_id[]){ id, parent });
}

void __itt_task_end_ex(const __itt_domain *domain, __itt_clock_domain *clock,
		       unsigned long long timestamp)
{
	uint32_t d = ut_domain_id(domain);
	uint64_t words[3] = { d, ut_clock_id(clock), clock_time(clock, timestamp) };

	if (d != UT_DOMAIN_UNWANTED && ut_gate_passes(&ut_me, UT_CALL_END))
		ut_tbuf_words(&ut_me, UT_REC_TASK_END_CLOCK, words, 3);
}

/* ---- overlapped ---------------------------------------------------------------------------- */

void __itt_task_begin_overlapped(const __itt_domain *domain, __itt_id id, __itt_id parent,
				 __itt_string_handle *name)
{
	uint32_t d;
	struct ut_tbuf *t = ut_hook_domain(domain, &d);
	uint64_t words[7];

	if (!t)
		return;
	words[0] = ut_pack(d, ut_string_id(name));
	ut_put_id(words + 1, 2, &id);
	ut_put_id(words + 2, 2, &parent);
	ut_tbuf_words(t, UT_REC_OVERLAPPED_BEGIN, words, 7);
}

void __itt_task_end_overlapped(const __itt_domain *domain, __itt_id id)
{
	uint32_t d;
	struct ut_tbuf *t = ut_hook_end(domain, &d);
	uint64_t words[4] = { d };

	if (!t)
		return;
	ut_put_id(words + 1, 1, &id);
	ut_tbuf_words(t, UT_REC_OVERLAPPED_END, words, 4);
}

void __itt_task_begin_overlapped_ex(const __itt_domain *domain, __itt_clock_domain *clock,
				    unsigned long long timestamp, __itt_id id, __itt_id parent,
				    __itt_string_handle *name)
{
	uint32_t d;

	if (ut_hook_domain(domain, &d))
		begin_clock(UT_REC_OVERLAPPED_BEGIN_CLOCK,
			    (struct what){ ut_pack(d, ut_string_id(name)), NULL }, clock, timestamp,
			    (__itt_id[]){ id, parent });
}

void __itt_task_end_overlapped_ex(const __itt_domain *domain, __itt_clock_domain *clock,
				  unsigned long long timestamp, __itt_id id)
{
	uint32_t d;
	struct ut_tbuf *t = ut_hook_end(domain, &d);
	uint64_t words[6] = { d, ut_clock_id(clock), clock_time(clock, timestamp) };

	if (!t)
		return;
	ut_put_id(words + 3, 1, &id);
	ut_tbuf_words(t, UT_REC_OVERLAPPED_END_CLOCK, words, 6);
}
