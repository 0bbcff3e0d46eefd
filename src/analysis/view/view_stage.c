#include "view/view_stage.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/grow.h"
#include "view/view.h"

/* One view, and how many have it; the stage itself counts for the one that is shown. */
struct shown {
	struct shown *next;
	struct ut_view *view;
	unsigned int users;
};

struct ut_stage {
	pthread_mutex_t lock;
	struct shown *all; /* the latest first; others only as long as somebody has them */
	bool stopped;
};

struct ut_stage *ut_stage_new(void)
{
	struct ut_stage *s = ut_make(sizeof(*s));

	pthread_mutex_init(&s->lock, NULL);
	return s;
}

/* Takes those out that nobody has, for the caller to free without the lock. */
static struct shown *unused(struct ut_stage *s)
{
	struct shown *out = NULL, **link = &s->all;

	while (*link) {
		struct shown *one = *link;

		if (one->users) {
			link = &one->next;
			continue;
		}
		*link = one->next;
		one->next = out;
		out = one;
	}
	return out;
}

static void free_all(struct shown *list)
{
	while (list) {
		struct shown *next = list->next;

		ut_view_free(list->view);
		free(list);
		list = next;
	}
}

void ut_stage_free(struct ut_stage *s)
{
	if (!s)
		return;
	free_all(s->all);
	pthread_mutex_destroy(&s->lock);
	free(s);
}

void ut_stage_show(struct ut_stage *s, struct ut_view *v)
{
	struct shown *one = ut_make(sizeof(*one)), *old;

	*one = (struct shown){ .view = v, .users = 1 };
	pthread_mutex_lock(&s->lock);
	if (s->all)
		s->all->users--;
	one->next = s->all;
	s->all = one;
	old = unused(s);
	pthread_mutex_unlock(&s->lock);
	free_all(old);
}

struct ut_view *ut_stage_take(struct ut_stage *s)
{
	struct ut_view *v = NULL;

	pthread_mutex_lock(&s->lock);
	if (s->all) {
		v = s->all->view;
		s->all->users++;
		if (s->stopped)
			ut_view_interrupt(v);
	}
	pthread_mutex_unlock(&s->lock);
	return v;
}

void ut_stage_give(struct ut_stage *s, struct ut_view *v)
{
	struct shown *one, *old;

	if (!v)
		return;
	pthread_mutex_lock(&s->lock);
	for (one = s->all; one && one->view != v;)
		one = one->next;
	if (one)
		one->users--;
	old = unused(s);
	pthread_mutex_unlock(&s->lock);
	free_all(old);
}

void ut_stage_interrupt(struct ut_stage *s)
{
	pthread_mutex_lock(&s->lock);
	s->stopped = true;
	for (struct shown *one = s->all; one; one = one->next)
		ut_view_interrupt(one->view);
	pthread_mutex_unlock(&s->lock);
}
