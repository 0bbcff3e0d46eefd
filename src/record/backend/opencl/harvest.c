/* harvest.c - see harvest.h. */
#include "backend/opencl/harvest.h"

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <time.h>

#include "backend/helper_thread.h"

#define MS       UINT64_C(1000000) /* ns */
#define A_FEW    32u               /* told before somebody else gets a chance */
#define TOO_MANY 16384u            /* waiting: then the program's thread has to help */
/* At how many commands of a queue without order to look in vain, in one go. */
#define OUR_LOOKS   1024u     /* by our thread, */
#define THEIR_LOOKS 128u      /* by one of the program's */
#define PATIENCE    (50 * MS) /* with another thread, at the end of a call that has waited */
#define LAST_WAIT   100u      /* ms, for our own thread at the end */

_Thread_local uint32_t ut_cl_inside;

static _Atomic uint64_t guessed; /* commands without times */

/* ---- telling ------------------------------------------------------------------------------- */

enum {
	QUEUED,
	SUBMITTED,
	START,
	END
};

static bool read_times(cl_event event, cl_ulong times[4])
{
	static const cl_profiling_info which[] = { CL_PROFILING_COMMAND_QUEUED,
						   CL_PROFILING_COMMAND_SUBMIT,
						   CL_PROFILING_COMMAND_START,
						   CL_PROFILING_COMMAND_END };
	UT_CL_FUNCTION(clGetEventProfilingInfo) next = UT_CL(clGetEventProfilingInfo, event);

	for (int i = 0; i < 4; i++) {
		if (next(event, which[i], sizeof(times[i]), &times[i], NULL))
			return false;
	}
	return times[END] != 0;
}

/* Is it over? Also when nobody can say any more. */
static bool harvest_is_over(const struct ut_cl_command *c, cl_int *status)
{
	*status = CL_COMPLETE;
	return UT_CL(clGetEventInfo, c->event)(c->event, CL_EVENT_COMMAND_EXECUTION_STATUS,
					       sizeof(*status), status, NULL) ||
	       *status <= CL_COMPLETE;
}

static size_t list_facts(const struct ut_cl_command *c, struct ut_fact *f)
{
	size_t n = 0;

	if (c->direction)
		f[n++] = (struct ut_fact){ ut_cl.key.direction, UT_VALUE_NAME,
					   ut_cl.directions[c->direction] };
	if (c->bytes)
		f[n++] = (struct ut_fact){ ut_cl.key.bytes, UT_VALUE_U64, c->bytes };
	if (c->shape && c->shape->global)
		f[n++] = (struct ut_fact){ ut_cl.key.global, UT_VALUE_NAME, c->shape->global };
	if (c->shape && c->shape->local)
		f[n++] = (struct ut_fact){ ut_cl.key.local, UT_VALUE_NAME, c->shape->local };
	if (!c->shape && c->items)
		f[n++] = (struct ut_fact){ ut_cl.key.items, UT_VALUE_U64, c->items };
	if (c->commands)
		f[n++] = (struct ut_fact){ ut_cl.key.commands, UT_VALUE_U64, c->commands };
	return n;
}

static uint64_t no_earlier(uint64_t time, uint64_t than)
{
	return time < than ? than : time;
}

/*
 * Times of the device's in ours. How long it took is never changed. In a queue that keeps order a
 * command does not start before the previous one has ended, also when we have just learnt that the
 * previous one stands too late.
 */
static void map_times(struct ut_cl_row *r, const cl_ulong times[4], struct ut_work *w)
{
	const struct ut_cl_clock *clock = &r->device->clock;
	uint64_t took = times[END] > times[START] ? times[END] - times[START] : 0;

	w->queued = ut_cl_clock_map(clock, times[QUEUED]);
	w->submitted = no_earlier(ut_cl_clock_map(clock, times[SUBMITTED]), w->queued);
	w->start = no_earlier(ut_cl_clock_map(clock, times[START]), w->submitted);
	if (r->ordered && times[START] >= r->last_end)
		w->start = no_earlier(w->start, r->last_mapped);
	w->end = w->start + took;
	r->last_end = times[END];
	r->last_mapped = w->end;
}

/*
 * A runtime that does not say when: the call is all that is known, and that the command is over.
 * Barriers and markers are like that for some; of others the user is told.
 */
static size_t guess_times(const struct ut_cl_command *c, struct ut_work *w, struct ut_fact *f)
{
	size_t n = 0;

	w->queued = w->submitted = c->before;
	w->start = w->end = c->after;
	f[n++] = (struct ut_fact){ ut_cl.key.times, UT_VALUE_NAME, ut_cl.no_times };
	if (c->status < 0)
		f[n++] = (struct ut_fact){ ut_cl.key.status, UT_VALUE_I64,
					   (uint64_t)(int64_t)c->status };
	if (c->kind != UT_WORK_SYNC)
		atomic_fetch_add_explicit(&guessed, 1, memory_order_relaxed);
	return n;
}

static void feed_clock(struct ut_cl_device *d, const struct ut_cl_command *c)
{
	ut_cl_device_look(d, c->after);
	ut_cl_clock_feed(&d->clock, UT_CL_CLOCK_QUEUED, c->times[QUEUED], c->before, c->after);
	if (c->blocked)
		ut_cl_clock_feed(&d->clock, UT_CL_CLOCK_QUEUED, c->times[END], c->before, c->after);
}

/* Asks when the command ran. False: it is not over after all. */
static bool harvest_learn(struct ut_cl_row *r, struct ut_cl_command *c)
{
	c->status = CL_COMPLETE;
	c->timed = read_times(c->event, c->times);
	if (c->timed)
		feed_clock(r->device, c);
	return c->timed || harvest_is_over(c, &c->status);
}

/* Records what the device did, and forgets the command. */
static void harvest_report(struct ut_cl_row *r, struct ut_cl_command *c)
{
	struct ut_fact facts[8];
	struct ut_work w = { .size = sizeof(w),
			     .queue = c->track,
			     .name = c->name,
			     .kind = c->kind,
			     .thread = c->thread,
			     .correlation = c->correlation,
			     .facts = facts,
			     .fact_count = list_facts(c, facts) };

	if (c->timed)
		map_times(r, c->times, &w);
	else
		w.fact_count += guess_times(c, &w, facts + w.fact_count);
	ut_cl.host->work(&w);
	UT_CL(clReleaseEvent, c->event)(c->event);
	ut_cl_command_free(c);
	atomic_fetch_sub(&r->waiting, 1);
}

/* ---- lists --------------------------------------------------------------------------------- */

static void harvest_push(struct ut_cl_row *r, struct ut_cl_command *c)
{
	c->next = atomic_load(&r->fresh);
	while (!atomic_compare_exchange_weak(&r->fresh, &c->next, c))
		;
}

/* What was pushed goes to the end of the list. */
static void take_fresh(struct ut_cl_row *r)
{
	struct ut_cl_command *c = NULL, *newest, *oldest = NULL;

	if (atomic_load_explicit(&r->fresh, memory_order_relaxed))
		c = atomic_exchange(&r->fresh, NULL);
	if (!c)
		return;
	newest = c;
	while (c) {
		struct ut_cl_command *next = c->next;

		c->next = oldest;
		oldest = c;
		c = next;
	}
	if (r->first)
		r->last->next = oldest;
	else
		r->first = oldest;
	r->last = newest;
}

/* Up to which command is everything over? Asking costs time, so the far ones are asked first. */
static struct ut_cl_command *last_over(struct ut_cl_row *r)
{
	struct ut_cl_command *far = r->first;
	cl_int status;

	for (uint32_t i = 1; i < A_FEW && far->next; i++)
		far = far->next;
	if (harvest_is_over(far, &status))
		return far;
	return far != r->first && harvest_is_over(r->first, &status) ? r->first : NULL;
}

/*
 * One visit to a queue that keeps order; how many commands were told. All are asked before the
 * first is told, because each narrows down where the device's clock stands. Two threads that queue
 * at the same time may have come onto our list the other way round, so each has a last word.
 */
static uint32_t send_ordered(struct ut_cl_row *r)
{
	const struct ut_cl_command *until = r->first ? last_over(r) : NULL;
	struct ut_cl_command *c = r->first;
	uint32_t count = 0;

	for (bool more = until; more && harvest_learn(r, c); c = c->next, count++)
		more = c != until;
	for (uint32_t i = 0; i < count; i++) {
		c = r->first;
		r->first = c->next;
		harvest_report(r, c);
	}
	return count;
}

/* One visit to a queue that keeps none: looks at some, and the rest comes first the next time. */
static uint32_t send_unordered(struct ut_cl_row *r, uint32_t looks)
{
	struct ut_cl_command *c, *kept = NULL, *kept_last = NULL;
	uint32_t reported = 0, vain = 0;
	cl_int status;

	while ((c = r->first) && vain < looks && reported < A_FEW) {
		r->first = c->next;
		c->next = NULL;
		if (harvest_is_over(c, &status) && harvest_learn(r, c)) {
			harvest_report(r, c);
			reported++;
			continue;
		}
		vain++;
		if (kept)
			kept_last->next = c;
		else
			kept = c;
		kept_last = c;
	}
	if (kept && r->first)
		r->last->next = kept;
	else if (kept)
		r->first = kept;
	if (kept)
		r->last = kept_last;
	return reported;
}

/* ---- our thread ---------------------------------------------------------------------------- */

static uint64_t count_waiting(void)
{
	uint64_t waiting = 0;

	for (struct ut_cl_row *r = ut_cl_row_last(); r; r = r->older)
		waiting += atomic_load(&r->waiting);
	return waiting;
}

static struct ut_helper helper = { .name = "unitrace-opencl",
				   .look = ut_cl_harvest_all,
				   .waiting = count_waiting,
				   .at_exit = ut_cl_harvest_end };

/* ---- visits -------------------------------------------------------------------------------- */

enum visit {
	BUSY, /* another thread is at it */
	IDLE, /* nothing is complete */
	DONE,
};

static bool harvest_lock(struct ut_cl_row *r)
{
	return !atomic_flag_test_and_set_explicit(&r->at_work, memory_order_acquire);
}

static void unlock(struct ut_cl_row *r)
{
	atomic_flag_clear_explicit(&r->at_work, memory_order_release);
}

/* After the end only the program's own threads come: they know that the runtime is still there. */
static enum visit visit(struct ut_cl_row *r, uint32_t looks)
{
	int saved = errno;
	uint32_t reported = 0;

	if (!harvest_lock(r))
		return BUSY;
	if (looks != OUR_LOOKS || !atomic_load(&helper.ended)) {
		ut_cl_inside++;
		take_fresh(r);
		reported = r->ordered ? send_ordered(r) : send_unordered(r, looks);
		ut_cl_inside--;
	}
	unlock(r);
	errno = saved;
	return reported ? DONE : IDLE;
}

void ut_cl_harvest_all(void)
{
	for (struct ut_cl_row *r = ut_cl_row_last(); r; r = r->older) {
		while (atomic_load(&r->waiting) && visit(r, OUR_LOOKS) == DONE)
			;
	}
}

/* Another thread has the row: false when it has had it for too long. */
static bool be_patient(uint64_t *since)
{
	uint64_t now = ut_cl.host->now();

	if (!*since)
		*since = now;
	if (now - *since > PATIENCE)
		return false;
	sched_yield();
	return true;
}

/* Everything that is complete, also what another thread is just telling. */
static void visit_waited(struct ut_cl_row *r)
{
	uint64_t since = 0;

	while (atomic_load(&r->waiting)) {
		enum visit v = visit(r, THEIR_LOOKS);

		if (v == IDLE || (v == BUSY && !be_patient(&since)))
			return;
	}
}

void ut_cl_harvest_waited(void)
{
	for (struct ut_cl_row *r = ut_cl_row_last(); r; r = r->older)
		visit_waited(r);
}

static bool harvest_holds(const struct ut_cl_row *r, cl_event event)
{
	const struct ut_cl_command *c = r->first;

	while (c && c->event != event)
		c = c->next;
	return c;
}

bool ut_cl_harvest_references(cl_event event, cl_uint *count)
{
	bool found = false;

	for (struct ut_cl_row *r = ut_cl_row_last(); r && !found; r = r->older) {
		uint64_t since = 0;

		if (!atomic_load(&r->waiting))
			continue;
		while (!harvest_lock(r)) {
			if (!be_patient(&since))
				return false;
		}
		take_fresh(r);
		/* Before somebody lets go of it. */
		found = harvest_holds(r, event) &&
			!UT_CL(clGetEventInfo, event)(event, CL_EVENT_REFERENCE_COUNT,
						      sizeof(*count), count, NULL);
		unlock(r);
	}
	*count -= found;
	return found;
}

void ut_cl_harvest_add(struct ut_cl_row *r, struct ut_cl_command *c, bool is_complete)
{
	uint32_t waiting = atomic_fetch_add(&r->waiting, 1);

	harvest_push(r, c);
	ut_helper_wake(&helper);
	if (is_complete)
		visit_waited(r);
	else if (UT_UNLIKELY(waiting > TOO_MANY))
		visit(r, A_FEW);
}

/* ---- the end ------------------------------------------------------------------------------- */

static void harvest_note(uint64_t count, const char *what)
{
	char text[200];

	if (!count)
		return;
	snprintf(text, sizeof(text), "OpenCL: %llu commands %s", (unsigned long long)count, what);
	ut_cl.host->note(text);
}

static void note_losses(uint64_t unfinished)
{
	uint64_t dropped, untimed;

	ut_cl_command_losses(&dropped, &untimed);
	harvest_note(unfinished, "had not finished when the process ended");
	harvest_note(dropped, "are missing: there was no memory for them");
	harvest_note(untimed, "are missing: their queue cannot be timed");
	harvest_note(atomic_exchange(&guessed, 0),
		     "stand at their calls: the runtime gave no times");
}

/* Our thread must be out of the runtime before that goes; it does not come back. */
static void see_helper_out(struct ut_cl_row *r)
{
	const struct timespec step = { 0, MS };
	uint32_t ms = 0;

	while (!harvest_lock(r)) {
		if (ms++ == LAST_WAIT)
			return;
		nanosleep(&step, NULL);
	}
	unlock(r);
}

static void look_alone(void)
{
	if (!ut_cl_inside)
		ut_cl_harvest_waited();
}

void ut_cl_harvest_end(void)
{
	uint64_t waiting;

	if (atomic_load(&helper.ended))
		return;
	waiting = ut_helper_end(&helper, look_alone);
	for (struct ut_cl_row *r = ut_cl_row_last(); r && !ut_cl_inside; r = r->older)
		see_helper_out(r);
	note_losses(waiting);
}

void ut_cl_harvest_forked(void)
{
	for (struct ut_cl_row *r = ut_cl_row_last(); r; r = r->older) {
		atomic_store(&r->fresh, NULL);
		r->first = r->last = NULL;
		atomic_store(&r->waiting, 0);
		atomic_flag_clear(&r->at_work);
	}
	atomic_store(&guessed, 0);
	ut_helper_forked(&helper);
	ut_cl_inside = 0;
}
