#include "acelyzer/analysis.h"

#include <stdlib.h>

#include "acelyzer/coll_flow.h"

void ut_ace_init(struct ut_ace_analysis *a, const struct ut_ace_opts *opts)
{
	*a = (struct ut_ace_analysis){ .opts = *opts };
	ut_ace_table_init(&a->table);
	a->table.threads = opts->threads;
}

void ut_ace_release(struct ut_ace_analysis *a)
{
	for (size_t i = 0; i < a->logs.count; i++)
		ut_ace_complog_release(&a->logs.items[i]);
	free(a->logs.items);
	free(a->found.stats);
	free(a->found.active);
	free(a->found.categories);
	for (size_t i = 0; i < a->found.iteration_count; i++)
		free(a->found.iterations[i].starts);
	free(a->found.iterations);
	free(a->found.comm);
	free(a->found.devices);
	if (a->flows) {
		free(a->flows->steps);
		free(a->flows->peers);
	}
#define END(name) ut_ace_end_##name(a);
	UT_ACE_STATE_LIST(END)
#undef END
	ut_ace_names_release(&a->names);
	ut_ace_messages_release(&a->messages);
	ut_ace_table_release(&a->table);
	*a = (struct ut_ace_analysis){ 0 };
}

double ut_ace_dev_us(const struct ut_ace_analysis *a, const struct ut_ace_event *e, int i)
{
	const struct ut_ace_dev *d = &a->table.devs[e->dev];
	double shift = a->shifts && e->pid < a->shift_count ? a->shifts[e->pid] : 0;

	/* A part of a split event has no time before it begins and after it ends. */
	if (d->part == 1)
		i = i > 1 ? 1 : i;
	else if (d->part == 2)
		i = i < 2 ? 2 : i > 3 ? 3 : i;
	else if (d->part == 3)
		i = i < 3 ? 3 : i;
	return (double)d->ts[i] / a->opts.soc + shift;
}

struct ut_ace_event *ut_ace_add_counter(struct ut_ace_analysis *a, uint32_t pid, double ts,
					uint32_t name, const struct ut_arg *value)
{
	struct ut_ace_table *t = &a->table;
	struct ut_ace_event *e = ut_ace_event_add(t);

	e->ph = 'C';
	e->pid = pid;
	e->ts = ts;
	e->name = name;
	e->flags = UT_ACE_HAS_ARGS;
	e->args = ut_arglists_add(&t->lists, value, 1);
	ut_ace_seq_add(t, (uint32_t)(t->event_count - 1));
	return e;
}
