#include "launch/cpu/sampler.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/grow.h"
#include "launch/cpu/attach.h"
#include "launch/cpu/switcher.h"
#include "launch/cpu/taker.h"
#include "launch/cpu/timers.h"
#include "wire/clock.h"
#include "wire/control.h"
#include "wire/process.h"

#define ROUND_MS    20
#define IDLE_MS     100
#define TIMERS_MS   10                  /* slots are few */
#define ROUND_NS    UINT64_C(100000000) /* the longest */
#define FLUSH_NS    UINT64_C(100000000)
#define WAITS_HZ    5000 /* stacks of waits that are looked at in a second */
#define BLIND_NS    UINT64_C(1000000000)
#define PATIENCE_NS UINT64_C(20000000) /* where nobody tells what is mapped */

/* Where the reading of a ring is. */
struct cursor {
	uint64_t at, next; /* this record, the one behind it */
	uint64_t time;
};

struct ut_sampler {
	struct ut_sampler_opts opts;
	struct ut_perf perf;     /* the kernel's samples */
	struct ut_timers timers; /* or those of the programs themselves */
	struct ut_taker taker;
	char *dir;
	pthread_t thread;
	_Atomic bool stop;
	int wake;               /* can be read when it shall stop */
	bool busy;              /* there was something in the last round */
	int waited;             /* ms, before it */
	struct cursor *cursors; /* one for each ring of perf */
	bool python;            /* at least one process is Python: we look more often */
	struct ut_switcher switcher;
	uint64_t reading; /* ns of CPU time of the thread */
	uint64_t before;  /* ns of CPU time of children that had ended before */
	size_t switched;  /* how many of its switches have been written down */
};

/* ---- rounds -------------------------------------------------------------------------------- */

struct lost {
	struct perf_event_header header;
	uint64_t id, count;
};

static void on_lost(struct ut_sampler *s, const struct perf_event_header *h)
{
	const struct lost *l = (const void *)h;
	struct ut_perf_id id;

	if (h->size < sizeof(*l) || !ut_perf_id(h, &id))
		return;
	if (id.pid && id.pid != UINT32_MAX)
		ut_image_count(ut_images_at(&s->taker.images, id.pid, id.time), UT_CPU_LOST,
			       id.time, l->count);
}

/* Goes on to the next record of a ring that is no sample; its time is UINT64_MAX behind the last.
 */
static void sampler_go_on(struct ut_sampler *s, size_t ring)
{
	struct cursor *c = &s->cursors[ring];
	const struct perf_event_header *h;
	struct ut_perf_id id;

	do {
		c->at = c->next;
		h = ut_perf_next(&s->perf, ring, &c->next);
	} while (h && (h->type == PERF_RECORD_SAMPLE || !ut_perf_id(h, &id)));
	c->time = h ? id.time : UINT64_MAX;
}

/* A thread that moves to another CPU leaves records in two rings: they are taken by their time. */
static void take_records(struct ut_sampler *s)
{
	const struct perf_event_header *h;

	for (size_t i = 0; i < s->perf.count; i++) {
		s->cursors[i].next = s->perf.rings[i].from;
		sampler_go_on(s, i);
	}
	for (;;) {
		size_t first = 0;
		uint64_t at;

		for (size_t i = 1; i < s->perf.count; i++) {
			if (s->cursors[i].time < s->cursors[first].time)
				first = i;
		}
		if (s->cursors[first].time == UINT64_MAX)
			return;
		at = s->cursors[first].at;
		h = ut_perf_next(&s->perf, first, &at);
		if (h && h->type == PERF_RECORD_LOST)
			on_lost(s, h);
		else if (h)
			ut_images_record(&s->taker.images, h);
		sampler_go_on(s, first);
	}
}

/*
 * Rings are looked at twice: what the samples of all of them need to know, be it written by
 * another CPU, comes first.
 */
static void drain_perf(struct ut_sampler *s)
{
	const struct perf_event_header *h;
	struct ut_perf_sample p;

	ut_perf_look(&s->perf);
	s->busy = false;
	for (size_t i = 0; i < s->perf.count; i++)
		s->busy |= s->perf.rings[i].from < s->perf.rings[i].to;
	take_records(s);
	s->python = ut_taker_finds_python(&s->taker);
	for (size_t i = 0; i < s->perf.count; i++) {
		for (uint64_t at = s->perf.rings[i].from; (h = ut_perf_next(&s->perf, i, &at));) {
			if (h->type == PERF_RECORD_SAMPLE && ut_perf_sample(&s->perf, h, &p))
				ut_taker_sample(&s->taker, &p);
		}
	}
	ut_perf_forget(&s->perf);
}

static void sampler_drain(struct ut_sampler *s, uint64_t now)
{
	if (!s->opts.timers) {
		drain_perf(s);
		return;
	}
	ut_timers_drain(&s->timers, &s->taker, now);
	/* mostly its functions are told with the sample: then nobody has to hurry */
	s->python = ut_taker_finds_python(&s->taker) && now < s->timers.blind + BLIND_NS;
}

static void apply(void *ctx, bool on)
{
	struct ut_sampler *s = ctx;

	if (!s->opts.timers) /* programs look for themselves */
		ut_perf_switch(&s->perf, on);
}

/* Each program's file says when the session was paused. */
static void note_switches(struct ut_sampler *s)
{
	struct ut_switch next;

	while (ut_switcher_next(&s->switcher, &s->switched, &next))
		ut_images_switch(&s->taker.images, next.time, next.on);
}

/*
 * What a full ring does not wake us for can wait a little. While nothing happens we look less and
 * less often.
 */
static void wait_for_more(struct ut_sampler *s)
{
	bool soon = s->python && !s->opts.eager; /* otherwise each sample wakes us */
	int ms = soon ? 1 : ROUND_MS;

	if (!s->busy && !soon)
		ms = s->waited < IDLE_MS / 2 ? (s->waited ? s->waited * 2 : ROUND_MS) : IDLE_MS;
	s->waited = ms;

	if (s->opts.timers)
		ut_timers_wait(&s->timers, s->wake, s->python ? 1 : TIMERS_MS);
	else
		ut_perf_wait(&s->perf, s->wake, ms);
}

static void *sampler_work(void *arg)
{
	struct ut_sampler *s = arg;
	const struct sched_param first = { .sched_priority = 1 };
	uint64_t flushed = ut_clock_ns(CLOCK_MONOTONIC);
	bool stop;

	/*
	 * A kernel that puts switches off until a system call would let us look only while the
	 * program makes one. Few may ask for more; those who may not, look when they can.
	 */
	if (s->opts.eager)
		pthread_setschedparam(pthread_self(), SCHED_RR, &first);
	do {
		uint64_t now;

		stop = atomic_load(&s->stop);
		if (!stop)
			wait_for_more(s);
		now = ut_clock_ns(CLOCK_MONOTONIC);
		note_switches(s);
		sampler_drain(s, now);
		if (now - flushed >= FLUSH_NS) {
			ut_images_measure(&s->taker.images, now);
			ut_images_flush(&s->taker.images, now - 2 * ROUND_NS);
			flushed = now;
		}
	} while (!stop);
	if (s->opts.timers)
		ut_timers_finish(&s->timers, &s->taker, ut_clock_ns(CLOCK_MONOTONIC));
	ut_images_close(&s->taker.images, ut_clock_ns(CLOCK_MONOTONIC));
	ut_modules_keep(&s->taker.images.modules, s->dir);
	s->reading = ut_clock_ns(CLOCK_THREAD_CPUTIME_ID);
	return NULL;
}

/* ---- beginning and end --------------------------------------------------------------------- */

static uint64_t period_of(const struct ut_sampler_opts *opts)
{
	return UINT64_C(1000000000) / opts->hz;
}

/* As perf calls them: "cycles:ppp". */
static void name_event(const struct ut_sampler *s, char *name, size_t size)
{
	const struct ut_perf_choice *c = &s->perf.choice;

	if (!s->opts.timers && c->cycles)
		snprintf(name, size, "cycles%s%.*s", c->precise ? ":" : "", (int)c->precise, "ppp");
	else
		snprintf(name, size, s->opts.timers ? "cpu-timer" : "cpu-clock");
}

static void fill_header(struct ut_sampler *s)
{
	struct ut_cpu_header *h = &s->taker.images.session.header;
	struct ut_clock_pair now;

	ut_clock_pair_take(UT_CLOCK_MONOTONIC, &now);
	memcpy(h->magic, UT_CPU_MAGIC, sizeof(h->magic));
	h->version = UT_CPU_VERSION;
	h->bytes = sizeof(*h);
	h->rank = ut_process_rank();
	h->flags = s->opts.timers ? UT_CPU_TIMED
				  : (s->perf.kernel ? UT_CPU_KERNEL : 0u) |
					    (s->perf.switches ? UT_CPU_SWITCHES : 0u) |
					    (s->opts.waits ? UT_CPU_WAITED : 0u);
	h->period = period_of(&s->opts);
	h->realtime = (int64_t)(now.real - now.mono);
	h->boottime = (int64_t)(now.boot - now.mono);
	ut_process_boot_id(h->boot_id);
	name_event(s, h->event, sizeof(h->event));
	if (gethostname(h->host, sizeof(h->host) - 1))
		h->host[0] = '\0';
}

/* Of children that have ended and been waited for, and of theirs. */
static uint64_t time_of_children(void)
{
	struct rusage r = { .ru_maxrss = 0 };

	getrusage(RUSAGE_CHILDREN, &r);
	return (uint64_t)(r.ru_utime.tv_sec + r.ru_stime.tv_sec) * 1000000000u +
	       (uint64_t)(r.ru_utime.tv_usec + r.ru_stime.tv_usec) * 1000u;
}

static void sampler_release(struct ut_sampler *s)
{
	ut_switcher_stop(&s->switcher);
	ut_perf_close(&s->perf);
	ut_timers_close(&s->timers);
	ut_taker_release(&s->taker);
	if (s->wake >= 0)
		close(s->wake);
	free(s->cursors);
	free(s->dir);
	free(s);
}

/*
 * The threads that a process has already. While we open their events they may start others, which
 * are not seen if their parent was not yet: so we look again, until there is nobody new.
 */
static int add_threads(struct ut_sampler *s, pid_t pid, struct ut_err *err)
{
	struct ut_idmap known = { 0 };
	bool more = true;
	int rc = 0;

	for (int round = 0; more && !rc && round < 8; round++) {
		size_t count;
		pid_t *threads = ut_attach_threads(pid, &count);

		more = false;
		for (size_t i = 0; !rc && i < count; i++) {
			if (ut_idmap_get(&known, (uint64_t)threads[i]))
				continue;
			ut_idmap_put(&known, (uint64_t)threads[i], 1);
			rc = ut_perf_add(&s->perf, threads[i]);
			more = true;
		}
		free(threads);
	}
	ut_idmap_release(&known);
	return rc ? ut_perf_explain(rc, err) : 0;
}

static int open_perf(struct ut_sampler *s, pid_t pid, bool at_exec, struct ut_err *err)
{
	struct ut_perf_opts perf = { .pid = pid,
				     .at_exec = at_exec,
				     .paused = !s->switcher.on,
				     .inherit = s->opts.children,
				     .waits = s->opts.waits,
				     .eager = s->opts.eager,
				     .hz = s->opts.hz,
				     .event = s->opts.event,
				     .stacks = s->opts.stacks,
				     .stack_bytes = s->opts.stack_bytes };
	int rc = ut_perf_open(&s->perf, &perf, err);

	if (!rc && !at_exec && pid > 0)
		rc = add_threads(s, pid, err);
	s->cursors = ut_make((s->perf.count + 1) * sizeof(*s->cursors));
	return rc;
}

struct ut_sampler *ut_sampler_start(const struct ut_sampler_opts *opts, pid_t pid, bool at_exec,
				    struct ut_err *err)
{
	struct ut_sampler *s = ut_make(sizeof(*s));
	int rc = 0;

	s->opts = *opts;
	s->timers.watch = -1;
	s->wake = eventfd(0, EFD_CLOEXEC);
	s->before = time_of_children();
	s->dir = strdup(opts->dir);
	ut_taker_init(&s->taker, s->dir);
	ut_switcher_init(&s->switcher, opts->control);
	s->taker.waits.hz = WAITS_HZ;
	s->taker.images.session.paused = !s->switcher.running;
	s->taker.images.session.disk_reserve = opts->control ? opts->control->disk_reserve : 0;
	s->taker.images.session.root = at_exec ? (uint32_t)pid : 0;
	s->taker.images.session.conditional =
		opts->control && (opts->control->flags & UT_CONTROL_CONDITIONAL);
	if (opts->timers) {
		ut_timers_open(&s->timers, s->dir, s->taker.images.session.root);
		s->taker.images.patience = PATIENCE_NS;
	} else {
		rc = open_perf(s, pid, at_exec, err);
	}
	if (!rc) {
		fill_header(s);
		if (opts->timers && at_exec)
			ut_images_begin_root(&s->taker.images, (uint32_t)pid,
					     ut_clock_ns(CLOCK_MONOTONIC), opts->name);
		rc = ut_switcher_start(&s->switcher, apply, s);
		if (!rc)
			rc = -pthread_create(&s->thread, NULL, sampler_work, s);
		if (rc)
			ut_err_set(err, rc, "cannot start a thread: %s", strerror(-rc));
	}
	if (!rc)
		return s;
	sampler_release(s);
	return NULL;
}

void ut_sampler_stop(struct ut_sampler *s, struct ut_sampler_result *result)
{
	/* what is left out, or not looked at all the time, cannot be told from what was missed */
	if (s->taker.images.session.root && s->opts.children && s->switcher.on &&
	    !s->switcher.count && (s->opts.timers || s->perf.switches))
		s->taker.images.session.total = time_of_children() - s->before;
	atomic_store(&s->stop, true);
	if (write(s->wake, &(uint64_t){ 1 }, sizeof(uint64_t)) < 0)
		(void)0; /* it looks soon anyway */
	pthread_join(s->thread, NULL);
	ut_switcher_stop(&s->switcher); /* nobody switches any more: its state can be read */
	*result = (struct ut_sampler_result){ .samples = s->taker.samples,
					      .programs = s->timers.programs,
					      .unarmed = s->timers.unarmed,
					      .total = s->taker.images.session.total,
					      .reading = s->reading,
					      .unwritten = s->taker.images.session.lost,
					      .failure = s->taker.images.session.failure,
					      .no_waits = s->opts.waits && !s->perf.waits,
					      .no_lbr = s->opts.stacks == UT_STACKS_LBR &&
							!s->perf.choice.lbr,
					      .off = !s->switcher.on,
					      .no_kernel = !s->opts.timers && !s->perf.kernel,
					      .old_python = s->taker.images.session.old_python };
	sampler_release(s);
}
