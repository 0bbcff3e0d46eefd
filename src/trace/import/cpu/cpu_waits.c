#include "import/cpu/cpu_waits.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/path.h"
#include "base/str.h"
#include "import/cpu/cpu_read.h"
#include "import/cpu/cpu_threads.h"
#include "model/event.h"
#include "model/trace.h"

#define MOST_SPANS 50000u /* of a process: shorter ones are left out if there are more */
#define NEAR_NS    UINT64_C(1000000)

const char *const ut_wait_names[UT_WAITS] = {
#define UT_WAIT_NAME(wait, name) name,
	UT_WAIT_LIST(UT_WAIT_NAME)
#undef UT_WAIT_NAME
};

/* ---- what for ------------------------------------------------------------------------------ */

/* Beginnings of names of functions, of the program and of the kernel. The first that fits. */
static const struct {
	const char *function;
	enum ut_wait wait;
} signs[] = {
	{ "pthread_mutex_lock", UT_WAIT_LOCK },
	{ "___pthread_mutex_lock", UT_WAIT_LOCK },
	{ "__pthread_mutex_lock", UT_WAIT_LOCK },
	{ "__lll_lock_wait", UT_WAIT_LOCK },
	{ "__GI___lll_lock_wait", UT_WAIT_LOCK },
	{ "pthread_rwlock", UT_WAIT_LOCK },
	{ "__pthread_rwlock", UT_WAIT_LOCK },
	{ "___pthread_rwlock", UT_WAIT_LOCK },
	{ "take_gil", UT_WAIT_LOCK },
	{ "PyThread_acquire_lock", UT_WAIT_LOCK },
	{ "pthread_barrier_wait", UT_WAIT_WORK },
	{ "__pthread_barrier_wait", UT_WAIT_WORK },
	{ "gomp_", UT_WAIT_WORK },
	{ "__kmp_", UT_WAIT_WORK },
	{ "tbb::", UT_WAIT_WORK },
	{ "pthread_cond_", UT_WAIT_CONDITION },
	{ "___pthread_cond_", UT_WAIT_CONDITION },
	{ "__pthread_cond_", UT_WAIT_CONDITION },
	{ "sem_wait", UT_WAIT_CONDITION },
	{ "__new_sem_wait", UT_WAIT_CONDITION },
	{ "pthread_join", UT_WAIT_JOIN },
	{ "__pthread_clockjoin", UT_WAIT_JOIN },
	{ "hrtimer_nanosleep", UT_WAIT_SLEEP },
	{ "do_nanosleep", UT_WAIT_SLEEP },
	{ "do_sys_poll", UT_WAIT_POLL },
	{ "poll_schedule_timeout", UT_WAIT_POLL },
	{ "do_select", UT_WAIT_POLL },
	{ "ep_poll", UT_WAIT_POLL },
	{ "do_epoll_wait", UT_WAIT_POLL },
	{ "handle_mm_fault", UT_WAIT_MEMORY },
	{ "mmap_read_lock", UT_WAIT_MEMORY },
	{ "io_schedule", UT_WAIT_DISK },
	{ "folio_wait", UT_WAIT_DISK },
	{ "jbd2_", UT_WAIT_DISK },
	{ "ext4_sync", UT_WAIT_DISK },
	{ "submit_bio_wait", UT_WAIT_DISK },
	{ "pipe_", UT_WAIT_PIPE },
	{ "anon_pipe_", UT_WAIT_PIPE },
	{ "sock_", UT_WAIT_NETWORK },
	{ "__sys_recv", UT_WAIT_NETWORK },
	{ "__skb_wait_for", UT_WAIT_NETWORK },
	{ "inet_csk_accept", UT_WAIT_NETWORK },
	{ "__sys_accept", UT_WAIT_NETWORK },
	{ "tcp_", UT_WAIT_NETWORK },
	{ "unix_stream_", UT_WAIT_NETWORK },
	{ "kernel_wait4", UT_WAIT_CHILD },
	{ "do_wait", UT_WAIT_CHILD },
	{ "do_sigtimedwait", UT_WAIT_SIGNAL },
	{ "sigsuspend", UT_WAIT_SIGNAL },
	{ "n_tty_read", UT_WAIT_TERMINAL },
	{ "futex_wait", UT_WAIT_LOCK }, /* whatever the program calls it */
};

#define SIGNS (sizeof(signs) / sizeof(signs[0]))

/* Libraries that hand out work, mostly without names: who waits in them waits for that. */
static bool hands_out_work(struct ut_str module)
{
	struct ut_str name = ut_str_of(ut_path_base(module.ptr));

	return ut_str_has_start(name, "libgomp") || ut_str_has_start(name, "libomp") ||
	       ut_str_has_start(name, "libiomp5") || ut_str_has_start(name, "libtbb");
}

/* The sign that stands first in the list, of all calls that are near the inside. */
enum ut_wait ut_wait_of(const struct ut_trace *t, uint32_t stack)
{
	size_t best = SIGNS;

	for (int depth = 0; stack && depth < 24; depth++) {
		struct ut_callsite site = ut_stacks_get(&t->stacks, stack);
		struct ut_place_in_code p = ut_stacks_get_place(&t->stacks, site.place);
		struct ut_str name = ut_strtab_get(&t->strings, p.function);

		if (hands_out_work(ut_strtab_get(&t->strings, p.module)))
			return UT_WAIT_WORK;
		for (size_t i = 0; i < best; i++) {
			if (ut_str_has_start(name, signs[i].function))
				best = i;
		}
		stack = site.caller;
	}
	return best < SIGNS ? signs[best].wait : UT_WAIT_OTHER;
}

enum ut_wait ut_wait_of_kernel(const char *function)
{
	for (size_t i = 0; i < SIGNS; i++) {
		/* locks, conditions, ends of threads: all of them are a futex */
		if (ut_str_starts(function, signs[i].function))
			return ut_str_starts(function, "futex") ? UT_WAIT_OTHER : signs[i].wait;
	}
	return UT_WAIT_OTHER;
}

/* ---- one thread ---------------------------------------------------------------------------- */

struct sending {
	struct ut_cpu_sender *s;
	const struct ut_cpu_life *life;
	uint32_t track;   /* UINT32_MAX = none yet */
	uint64_t least;   /* ns: spans that are shorter are left out */
	uint32_t next;    /* of the waits of the thread */
	uint64_t pending; /* ns of waits since the last one with a stack */
	uint32_t names[UT_WAITS], ready, cat;
};

static uint32_t cpu_waits_row(struct sending *w)
{
	struct ut_trace *t = w->s->trace;
	const struct ut_track *thread = &t->tracks[w->life->track - 1];
	int32_t order = thread->sort_index;
	char text[400];

	if (w->track != UINT32_MAX)
		return w->track;
	snprintf(text, sizeof(text), "%.320s (%" PRIu32 "): waits",
		 ut_strtab_get(&t->strings, thread->name).ptr, w->life->tid);
	w->track = ut_trace_add_track(t, w->s->c->process, UT_TRACK_LANE);
	t->tracks[w->track].id = w->track;
	t->tracks[w->track].name = ut_strtab_intern_z(&t->strings, text);
	t->tracks[w->track].sort_index = order;
	t->tracks[w->track].role = UT_ROLE_WAITS;
	return w->track;
}

static void send_span(struct sending *w, uint64_t from, uint64_t to, uint32_t name)
{
	struct ut_event e = { .ts = from,
			      .val = to - from,
			      .name = name,
			      .cat = w->cat,
			      .kind = UT_KIND_SPAN,
			      .flags = UT_EV_NOT_WORK };

	if (to - from < w->least || from >= to)
		return;
	e.track = cpu_waits_row(w);
	ut_sink_event(w->s->to, w->s->trace, &e);
}

static void send_stack(struct sending *w, uint64_t time, uint32_t stack, uint32_t name)
{
	struct ut_trace *t = w->s->trace;
	size_t mark = t->arg_count;
	struct ut_event e = { .ts = time,
			      .val = ut_sample_val(stack, w->pending),
			      .name = name,
			      .kind = UT_KIND_SAMPLE };

	e.track = cpu_waits_row(w);
	if (w->pending >= UT_SAMPLE_WEIGHT_ARG) {
		ut_trace_add_arg(t, ut_strtab_intern_z(&t->strings, UT_SAMPLE_WEIGHT), UT_ARG_U64)
			->value.u64 = w->pending;
		ut_trace_close_args(t);
		e.args = (uint32_t)mark;
	}
	ut_sink_event(w->s->to, t, &e);
	ut_trace_drop_args(t, mark);
	w->pending = 0;
}

/* The stack that was sampled when the thread gave up its CPU at this time; NULL: it was not. */
static const struct ut_cpu_timestamp *stack_at(struct sending *w, uint64_t time)
{
	const struct ut_cpu *c = w->s->c;
	const struct ut_cpu_timestamp *found = NULL;

	for (; w->next < w->life->last_wait && c->waits[w->next].time <= time; w->next++)
		found = &c->waits[w->next];
	return found && time - found->time < NEAR_NS ? found : NULL;
}

/* Waited from one time to the other, or would have run. Pauses are not waits. */
static void take_interval(struct sending *w, const struct ut_cpu_turn *t, uint64_t to)
{
	bool waits = (t->how & 0xff) == UT_CPU_WAITS;
	const struct ut_cpu_timestamp *m = stack_at(w, t->time);
	enum ut_wait what = m ? ut_wait_of(w->s->trace, m->stack) : UT_WAIT_OTHER;
	uint64_t from = t->time, end;

	for (; ut_cpu_next_on(w->s->c, &from, to, &end); from = end) {
		send_span(w, from, end, waits ? w->names[what] : w->ready);
		w->pending += waits ? end - from : 0;
	}
	if (waits && m && w->pending)
		send_stack(w, t->time, m->stack, w->names[what]);
}

static uint64_t cpu_waits_end_of(const struct ut_cpu *c, const struct ut_cpu_life *life, uint32_t i)
{
	return i + 1 < life->last_turn ? c->turns[i + 1].time : life->gone ? life->gone : c->last;
}

static void send_thread(struct sending *w)
{
	const struct ut_cpu *c = w->s->c;

	w->track = UINT32_MAX;
	w->next = w->life->first_wait;
	w->pending = 0;
	for (uint32_t i = w->life->first_turn; i < w->life->last_turn; i++) {
		if ((c->turns[i].how & 0xff) != UT_CPU_RUNS)
			take_interval(w, &c->turns[i], cpu_waits_end_of(c, w->life, i));
	}
}

/* ---- all of them --------------------------------------------------------------------------- */

/* How long an interval has to be for at most so many of them: a power of two. */
static uint64_t least_span(const struct ut_cpu *c)
{
	uint64_t counts[64] = { 0 }, sum = 0;
	int bin = 63;

	for (size_t k = 0; k < c->life_count; k++) {
		const struct ut_cpu_life *life = &c->lives[k];

		for (uint32_t i = life->first_turn; i < life->last_turn; i++) {
			uint64_t end = cpu_waits_end_of(c, life, i), from = c->turns[i].time;

			if ((c->turns[i].how & 0xff) != UT_CPU_RUNS && end > from)
				counts[63 - __builtin_clzll(end - from)]++;
		}
	}
	while (bin > 0 && sum + counts[bin] <= MOST_SPANS)
		sum += counts[bin--];
	return bin ? UINT64_C(2) << bin : 0;
}

void ut_cpu_send_waits(struct ut_cpu_sender *s)
{
	struct ut_strtab *strings = &s->trace->strings;
	struct sending w = { .s = s };

	if (!(s->c->header.flags & UT_CPU_WAITED) || !(s->c->header.flags & UT_CPU_SWITCHES))
		return;
	for (size_t i = 0; i < UT_WAITS; i++)
		w.names[i] = ut_strtab_intern_z(strings, ut_wait_names[i]);
	w.ready = ut_strtab_intern_z(strings, "ready, kept from running");
	w.cat = ut_strtab_intern_z(strings, "threads");
	w.least = least_span(s->c);
	for (size_t i = 0; i < s->c->life_count; i++) {
		w.life = &s->c->lives[i];
		if (w.life->track)
			send_thread(&w);
	}
}
