#include "launch/cpu/switcher.h"

#include <stdlib.h>
#include <time.h>

#include "base/grow.h"
#include "wire/clock.h"
#include "wire/control.h"
#include "wire/sys.h"

#define LOOK_NS 50000000 /* words may be moved by those who wake nobody */

/* The word that is moved most: that of the session, or of its processes. */
static _Atomic uint32_t *switcher_word_of(const struct ut_switcher *s)
{
	return s->control->flags & UT_CONTROL_CONDITIONAL ? &s->control->resumed : s->state;
}

static bool session_runs(const struct ut_switcher *s)
{
	return atomic_load(s->state) == UT_STATE_RUNNING;
}

static bool process_is_on(const struct ut_switcher *s)
{
	return !(s->control->flags & UT_CONTROL_CONDITIONAL) || s->variable_on ||
	       (int32_t)atomic_load(&s->control->resumed) > 0;
}

void ut_switcher_init(struct ut_switcher *s, struct ut_control *control)
{
	const char *variable = getenv("PTI_ENABLE_COLLECTION");

	*s = (struct ut_switcher){ .control = control, .on = true, .running = true };
	pthread_mutex_init(&s->lock, NULL);
	if (!control)
		return;
	s->variable_on = variable && variable[0] && variable[0] != '0';
	s->state = ut_control_state(control);
	s->running = session_runs(s);
	s->on = s->running && process_is_on(s);
}

static void switcher_look(struct ut_switcher *s)
{
	bool running = session_runs(s), on = running && process_is_on(s);

	if (on != s->on)
		s->apply(s->ctx, on);
	s->on = on;
	if (running == s->running)
		return;
	s->running = running;
	pthread_mutex_lock(&s->lock);
	s->switches = ut_grow(s->switches, s->count + 1, &s->cap, sizeof(*s->switches));
	s->switches[s->count++] = (struct ut_switch){ ut_clock_ns(CLOCK_MONOTONIC), running };
	pthread_mutex_unlock(&s->lock);
}

static void *switcher_watch(void *arg)
{
	const struct timespec most = { 0, LOOK_NS };
	struct ut_switcher *s = arg;
	_Atomic uint32_t *word = switcher_word_of(s);

	while (!atomic_load(&s->stop)) {
		uint32_t value = atomic_load(word);

		switcher_look(s);
		ut_sys_wait(word, value, &most);
	}
	return NULL;
}

int ut_switcher_start(struct ut_switcher *s, void (*apply)(void *ctx, bool on), void *ctx)
{
	int rc;

	if (!s->control)
		return 0;
	s->apply = apply;
	s->ctx = ctx;
	rc = -pthread_create(&s->thread, NULL, switcher_watch, s);
	s->started = !rc;
	if (s->started)
		pthread_setname_np(s->thread, "ut-switcher");
	return rc;
}

void ut_switcher_stop(struct ut_switcher *s)
{
	if (s->started) {
		atomic_store(&s->stop, true);
		ut_sys_wake(switcher_word_of(s));
		pthread_join(s->thread, NULL);
	}
	s->started = false;
	free(s->switches);
	s->switches = NULL;
	s->count = s->cap = 0;
}

bool ut_switcher_next(struct ut_switcher *s, size_t *at, struct ut_switch *next)
{
	bool more;

	pthread_mutex_lock(&s->lock);
	more = *at < s->count;
	if (more)
		*next = s->switches[(*at)++];
	pthread_mutex_unlock(&s->lock);
	return more;
}
