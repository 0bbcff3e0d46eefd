#include "session/timed.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "session/session_plan.h"
#include "wire/control.h"

/* As in a process that asks for itself: set, and not to 0. */
static bool is_switched_on(void)
{
	const char *variable = getenv("PTI_ENABLE_COLLECTION");

	return variable && variable[0] && variable[0] != '0';
}

void ut_timed_begin(struct ut_timed *t, const struct ut_session_plan *plan,
		    struct ut_control *control)
{
	bool paused = plan->resume_after || (plan->start_paused && !is_switched_on());

	*t = (struct ut_timed){ .plan = plan, .control = control };
	if ((control->flags & UT_CONTROL_ONE_SWITCH) && paused)
		atomic_store(ut_control_state(control), UT_STATE_PAUSED);
}

static uint64_t due(uint64_t start, uint64_t after)
{
	return after ? start + after : 0;
}

uint64_t ut_timed_look(struct ut_timed *t, uint64_t now)
{
	if (!t->start) {
		t->start = now;
		t->resume = due(now, t->plan->resume_after);
		t->stop = due(now, t->plan->stop_after);
	}
	if (t->resume && now >= t->resume) {
		t->resume = 0;
		ut_control_switch(t->control, UT_STATE_RUNNING);
	}
	if (t->stop && now >= t->stop) {
		t->stop = 0;
		ut_control_switch(t->control, UT_STATE_STOPPED);
	}
	if (t->resume && t->stop)
		return t->resume < t->stop ? t->resume : t->stop;
	return t->resume ? t->resume : t->stop;
}
