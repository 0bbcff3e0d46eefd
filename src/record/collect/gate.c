/* gate.c - see gate.h. */
#include "collect/gate.h"

#include <errno.h>
#include <pthread.h>
#include <stdalign.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/raw_syscall.h"
#include "collect/intern.h"
#include "collect/maps.h"
#include "collect/thread_start.h"
#include "wire/clock.h"
#include "wire/control.h"
#include "wire/sandbox.h"
#include "wire/signals.h"
#include "wire/spare_stack.h"
#include "wire/sys.h"

/* Keys below this number need no malloc in pthread_setspecific() (glibc). */
#define KEYS_WITHOUT_MALLOC 32
#define NOT_ATTACHED        UINT32_MAX

alignas(4096) union ut_gate_page ut_gate;
static _Atomic uint32_t no_session;
_Atomic uint32_t *ut_gate_state = &no_session;
/* A thread that is not attached fits no word: neither 0, a forked child's, nor any other. */
_Thread_local struct ut_tbuf ut_me = { .ready = NOT_ATTACHED };

static struct {
	struct ut_control *control;
	char dir[4096];
	pthread_key_t key;
	bool has_key;
	_Atomic bool is_protected; /* the gate's page is cleared in a forked child */
	_Atomic bool prepared;     /* what outlives a fork has been done */
	_Atomic bool itt_paused;   /* __itt_pause is in force */
	_Atomic bool variable_on;  /* PTI_ENABLE_COLLECTION says yes */
	_Atomic bool stopped;
} g;

/* ---- getting ready ------------------------------------------------------------------------- */

static void thread_ends(void *arg)
{
	int saved = errno;

	/* In a forked child that has recorded nothing the buffer is its parent's, in use there. */
	if (atomic_load(&ut_gate.word))
		ut_tbuf_detach(arg);
	errno = saved;
}

static bool is_switched(const struct ut_control *c)
{
	return (c->flags & UT_CONTROL_SAMPLED) && (c->flags & UT_CONTROL_CONDITIONAL);
}

/*
 * The page is cleared by the kernel, whichever way the child was forked; where it cannot do that,
 * here. A child of a session that is switched wakes at once: whether it is on is known from its
 * parent, and nobody else can tell who samples it.
 */
static void forked_child(void)
{
	int saved = errno;

	atomic_store(&ut_gate.owner, 0);
	atomic_store(&ut_gate.word, 0);
	if (atomic_load(&g.prepared) && g.control && !ut_sandbox_closed()) {
		ut_sandbox_look(); /* while its filters are those of its parent */
		if (is_switched(g.control))
			(void)ut_gate_wake();
	}
	errno = saved;
}

static void protect(void)
{
	if (atomic_load(&g.is_protected))
		return;
	ut_sys_madvise(&ut_gate, sizeof(ut_gate), MADV_WIPEONFORK);
	atomic_store(&g.is_protected, true);
}

static bool has_one_switch(const struct ut_control *c)
{
	return c && (c->flags & UT_CONTROL_ONE_SWITCH);
}

static bool variable_says_on(const char *value)
{
	return value && value[0] && value[0] != '0';
}

/*
 * Once for the process and its forked children; a child that was forked in the middle of it begins
 * again.
 */
static void gate_prepare(void)
{
	const char *dir = secure_getenv(UT_SESSION_ENV);

	if (!dir || dir[0] != '/' || strlen(dir) >= sizeof(g.dir))
		return;
	memcpy(g.dir, dir, strlen(dir) + 1);
	g.control = ut_control_map(g.dir);
	if (!g.control)
		return;
	ut_gate_state = ut_control_state(g.control);
	atomic_store(&g.variable_on, variable_says_on(getenv("PTI_ENABLE_COLLECTION")));
	/* a script has set it before it started us; once somebody has moved the switch, that counts
	 */
	if (has_one_switch(g.control) && atomic_load(&g.variable_on) &&
	    !atomic_load(&g.control->resumed))
		ut_control_switch(g.control, UT_STATE_RUNNING);
	g.has_key = pthread_key_create(&g.key, thread_ends) == 0 && g.key < KEYS_WITHOUT_MALLOC;
	pthread_atfork(NULL, NULL, forked_child);
}

static bool wanted_here(void)
{
	return g.control && !atomic_load(&g.stopped) &&
	       ((g.control->flags & UT_CONTROL_FOLLOW_CHILDREN) ||
		atomic_load(&g.control->root_pid) == (uint32_t)getpid());
}

static uint32_t current_bits(void)
{
	if (atomic_load(&g.stopped))
		return UT_GATE_STOPPED;
	if (!ut_gate_conditional())
		return UT_GATE_OPEN;
	if (atomic_load(&g.itt_paused) || !atomic_load(&g.variable_on))
		return UT_GATE_PAUSED | UT_GATE_WAS_PAUSED;
	return UT_GATE_OPEN | UT_GATE_WAS_PAUSED;
}

static void set_word(void)
{
	atomic_store(&ut_gate.word, ut_writer_generation() << 8 | current_bits());
}

/* Samples are taken while one process of the session is on, and we are or are not any more. */
static void report_sampler(bool on)
{
	if (!is_switched(g.control))
		return;
	atomic_fetch_add(&g.control->resumed, on ? 1 : UINT32_MAX);
	if (!ut_sandbox_closed())
		ut_sys_wake(&g.control->resumed);
}

static void make_ready(void *unused)
{
	int rc;

	(void)unused;
	if (!atomic_load(&g.prepared)) {
		gate_prepare();
		atomic_store(&g.prepared, true);
	}
	rc = wanted_here() ? ut_writer_open(g.dir, g.control) : 1;

	if (!rc) {
		if (!(current_bits() & UT_GATE_OPEN))
			ut_writer_begin_off();
		else
			report_sampler(true);
		if (has_one_switch(g.control))
			ut_writer_one_switch();
		ut_intern_replay();
		set_word();
		ut_intern_catch_up();
		return;
	}
	if (rc < 0) {
		atomic_store(&g.control->failure, (uint32_t)-rc);
		atomic_fetch_add(&g.control->failures, 1);
	}
	atomic_store(&ut_gate.word, UT_GATE_STOPPED);
}

/* Another thread makes us ready; it waits for nobody, but may have a lower priority. */
static void wait_for_owner(uint32_t tries)
{
	const struct timespec pause_time = { 0, 100000 };

	if (tries < 50)
		ut_raw(SYS_sched_yield, 0);
	else
		ut_raw(SYS_nanosleep, (long)&pause_time, 0);
}

/* A forked child that has locked itself in before its first call: it is counted and left alone. */
static bool is_child_locked_in(void)
{
	if (!atomic_load(&g.prepared) || !g.control || !ut_sandbox_closed())
		return false;
	if (!atomic_exchange(&ut_gate.owner, 1)) {
		atomic_store(&g.control->failure, UT_SPOOL_SANDBOX);
		atomic_fetch_add(&g.control->failures, 1);
	}
	atomic_store(&ut_gate.word, UT_GATE_STOPPED);
	return true;
}

bool ut_gate_wake(void)
{
	struct ut_signals before;

	for (uint32_t tries = 0; !atomic_load_explicit(&ut_gate.word, memory_order_acquire);) {
		int saved = errno;

		if (ut_me.busy)
			return false; /* something that we call on the way calls us */
		if (is_child_locked_in())
			return false;
		if (atomic_load(&ut_gate.owner)) {
			wait_for_owner(tries++);
			continue;
		}
		ut_signals_hold(&before);
		ut_me.busy = 1;
		protect();
		if (!atomic_exchange(&ut_gate.owner, 1)) {
			ut_spare_stack_forget();
			ut_spare_stack_run(make_ready, NULL);
		}
		ut_me.busy = 0;
		ut_signals_release(&before);
		errno = saved;
	}
	return !(atomic_load(&ut_gate.word) & UT_GATE_STOPPED);
}

/* ---- the slow path ------------------------------------------------------------------------- */

static void define_code(void *start)
{
	ut_maps_define(*(const uint64_t *)start);
}

static void gate_attach(struct ut_tbuf *t)
{
	struct ut_signals before;
	bool may = ut_writer_may_go_on();
	uint64_t start = 0;

	if (may)
		ut_signals_hold(&before);
	t->busy = 1;
	if (may)
		start = ut_thread_start();
	if (start)
		ut_spare_stack_run(define_code, &start);
	ut_tbuf_attach(t, start);
	t->ready = t->ignored ? NOT_ATTACHED : t->generation << 8 | UT_GATE_OPEN;
	if (g.has_key)
		pthread_setspecific(g.key, t);
	t->busy = 0;
	if (may)
		ut_signals_release(&before);
}

static bool gate_remember(struct ut_tbuf *t, enum ut_gate_call call, bool recorded)
{
	if (call == UT_CALL_BEGIN)
		ut_gate_push(t, recorded);
	else if (call == UT_CALL_END)
		recorded = ut_gate_pop(t);
	return recorded;
}

static bool decide(struct ut_tbuf *t, enum ut_gate_call call)
{
	uint32_t word, state = atomic_load_explicit(ut_gate_state, memory_order_relaxed);
	bool on;

	if (!atomic_load_explicit(&ut_gate.word, memory_order_acquire) && !ut_gate_wake())
		return false;
	word = atomic_load_explicit(&ut_gate.word, memory_order_relaxed);
	if (word & UT_GATE_STOPPED || state == UT_STATE_STOPPED)
		return false;
	if (t->generation != word >> 8)
		gate_attach(t);
	if (t->ignored) {
		ut_writer_count_ignored();
		return false;
	}
	if (state == UT_STATE_PAUSED && !(word & UT_GATE_WAS_PAUSED))
		word = atomic_fetch_or(&ut_gate.word, UT_GATE_WAS_PAUSED) | UT_GATE_WAS_PAUSED;
	on = call == UT_CALL_LATE_END || ((word & UT_GATE_OPEN) && state == UT_STATE_RUNNING);
	return word & UT_GATE_WAS_PAUSED ? gate_remember(t, call, on) : on;
}

bool ut_gate_slow(struct ut_tbuf *t, enum ut_gate_call call)
{
	int saved = errno;
	bool result = false;

	if (t->busy)
		ut_writer_count_dropped();
	else if (ut_gate_look(t) == UT_LOOK_PAUSED)
		result = gate_remember(t, call, call == UT_CALL_LATE_END);
	else
		result = decide(t, call);
	errno = saved;
	return result;
}

/* ---- switches ------------------------------------------------------------------------------ */

const struct ut_control *ut_gate_settings(void)
{
	return g.control;
}

bool ut_gate_conditional(void)
{
	return g.control && (g.control->flags & UT_CONTROL_CONDITIONAL);
}

/* ---- when recording was on ------------------------------------------------------------------ */

#define SWITCHES 64u /* the last so many are remembered */

/* Each switch changes it into the other, so their number and the beginning tell what it is. */
static struct {
	_Atomic uint64_t times[SWITCHES];
	_Atomic uint32_t count;
	_Atomic int first; /* 0 = not known yet, 1 = off, 2 = on */
} switches;

static bool on_after(uint32_t count)
{
	return (atomic_load(&switches.first) == 2) ^ (count & 1);
}

static void notice_switch(void)
{
	bool on = (atomic_load(&ut_gate.word) & UT_GATE_OPEN) &&
		  atomic_load_explicit(ut_gate_state, memory_order_relaxed) == UT_STATE_RUNNING;
	uint32_t count = atomic_load(&switches.count);
	int unknown = 0;

	if (atomic_compare_exchange_strong(&switches.first, &unknown, on ? 2 : 1) ||
	    on_after(count) == on)
		return;
	atomic_store(&switches.times[count % SWITCHES], ut_clock_ns(CLOCK_MONOTONIC));
	/* If this fails, another thread has noticed it, too. */
	(void)atomic_compare_exchange_strong(&switches.count, &count, count + 1);
}

bool ut_gate_was_on(uint64_t time)
{
	uint32_t count, back = 0;

	if (!ut_gate_wake())
		return false;
	notice_switch();
	count = atomic_load(&switches.count);
	while (back < count && back < SWITCHES &&
	       atomic_load(&switches.times[(count - 1 - back) % SWITCHES]) > time)
		back++;
	return on_after(count - back);
}

static void announce(enum ut_rec type)
{
	if (ut_gate_passes(&ut_me, UT_CALL_OTHER))
		ut_tbuf_words(&ut_me, type, NULL, 0);
}

/* The change is recorded while recording is on: before a pause, after a resume. */
static void switch_to(bool itt_paused, bool variable_on)
{
	bool was_on = current_bits() & UT_GATE_OPEN, on = !itt_paused && variable_on;

	notice_switch(); /* what it was before */
	if (was_on && !on)
		announce(UT_REC_PAUSE);
	atomic_store(&g.itt_paused, itt_paused);
	atomic_store(&g.variable_on, variable_on);
	set_word();
	notice_switch();
	if (!was_on && on)
		announce(UT_REC_RESUME);
	if (was_on != on)
		report_sampler(on);
}

/* The switch of all processes: what is recorded about it is what this one has done. */
static void switch_session(bool on)
{
	if (ut_gate_runs() == on || ut_sandbox_closed())
		return;
	notice_switch();
	if (!on)
		announce(UT_REC_PAUSE);
	ut_control_switch(g.control, on ? UT_STATE_RUNNING : UT_STATE_PAUSED);
	notice_switch();
	if (on)
		announce(UT_REC_RESUME);
}

void ut_gate_pause(bool paused)
{
	if (has_one_switch(g.control))
		switch_session(!paused);
	else if (ut_gate_conditional())
		switch_to(paused, paused ? atomic_load(&g.variable_on) : true);
}

/* Does the variable count before there is a mark: is CPU time sampled in this session, or does it
 * switch others, too? Asked before anything is ready. */
static bool counts_at_once(void)
{
	const char *dir = secure_getenv(UT_SESSION_ENV);
	struct ut_control *c = dir && dir[0] == '/' ? ut_control_map(dir) : NULL;
	bool counts = c && (is_switched(c) || has_one_switch(c));

	ut_control_close(c);
	return counts;
}

void ut_gate_variable(const char *value)
{
	/* Before the first ITT call there is nothing to switch but samples: gate_prepare() reads
	 * it. */
	if (!atomic_load(&ut_gate.word) && counts_at_once())
		(void)ut_gate_wake();
	if (has_one_switch(g.control))
		switch_session(variable_says_on(value));
	if (!atomic_load(&ut_gate.word) || !ut_gate_conditional())
		return;
	switch_to(atomic_load(&g.itt_paused), variable_says_on(value));
}

void ut_gate_stop(void)
{
	if (g.control && (atomic_load(&ut_gate.word) & UT_GATE_OPEN))
		report_sampler(false);
	atomic_store(&g.stopped, true);
	atomic_store(&ut_gate.word, ut_writer_generation() << 8 | UT_GATE_STOPPED);
}

void ut_gate_ignore_thread(void)
{
	ut_me.ignored = 1;
	ut_me.ready = NOT_ATTACHED;
}
