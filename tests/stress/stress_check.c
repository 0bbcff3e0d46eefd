/*
 * stress_check.c - SESSION THREADS PAIRS: was everything that stress.c marked recorded, whole and
 * in order? Prints the number of events, or the first thing that is wrong, and then fails.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../import/contract.h"
#include "import/spool/reader.h"
#include "stress.h"

struct check {
	struct contract contract; /* first */
	uint64_t *next;           /* by track: the number of the next task or counter value */
	size_t next_cap;
	uint32_t names[STRESS_NAMES]; /* string ids, once they have been met */
	uint64_t tasks, counters;
};

static _Noreturn void wrong(const char *what, uint64_t want, uint64_t got)
{
	printf("%s: %" PRIu64 " expected, %" PRIu64 " found\n", what, want, got);
	exit(1);
}

static void check_name(struct check *c, const struct ut_trace *t, uint32_t name, uint64_t number)
{
	uint32_t *known = &c->names[number % STRESS_NAMES];
	char text[32];

	if (!*known) {
		snprintf(text, sizeof(text), STRESS_NAME, (unsigned int)(number % STRESS_NAMES));
		if (strcmp(ut_strtab_get(&t->strings, name).ptr, text) != 0)
			wrong("name of task", number, name);
		*known = name;
	}
	if (name != *known)
		wrong("name of task", number, name);
}

static void check_task(struct check *c, const struct ut_trace *t, const struct ut_event *e,
		       uint64_t number)
{
	const struct ut_arg *a = &t->args[e->args];

	check_name(c, t, e->name, number);
	if (e->flags)
		wrong("flags", 0, e->flags);
	if ((number % STRESS_ARGUMENT == 0) != (a->type == UT_ARG_U64))
		wrong("argument of task", number, a->type);
	if (a->type == UT_ARG_U64 && a->value.u64 != number)
		wrong("argument", number, a->value.u64);
	c->tasks++;
}

static void check_event(struct ut_sink *sink, const struct ut_trace *t, const struct ut_event *e)
{
	struct check *c = (struct check *)(void *)sink;
	uint64_t *next;

	contract_event(&c->contract, t, e);
	c->next = ut_grow(c->next, e->track + 1u, &c->next_cap, sizeof(*c->next));
	next = &c->next[e->track];
	if (e->kind == UT_KIND_SPAN) {
		check_task(c, t, e, (*next)++);
	} else if (e->kind == UT_KIND_COUNTER) {
		if (e->val != *next)
			wrong("counter", *next, e->val);
		*next += STRESS_COUNTER;
		c->counters++;
	}
}

static void check_totals(const struct check *c, const struct ut_trace *t, uint64_t threads,
			 uint64_t pairs)
{
	const struct ut_losses *l = &t->losses;
	uint64_t lost = l->dropped + l->torn + l->stray_ends + l->implicit_ends + l->unfinished +
			l->unknown + l->overwritten;
	uint64_t each = (pairs + STRESS_COUNTER - 1) / STRESS_COUNTER, full = 0;

	if (lost)
		wrong("losses", 0, lost);
	if (c->tasks != threads * pairs)
		wrong("tasks", threads * pairs, c->tasks);
	if (c->counters != threads * each)
		wrong("counter values", threads * each, c->counters);
	for (size_t i = 0; i < t->track_count && i < c->next_cap; i++)
		full += t->tracks[i].type == UT_TRACK_THREAD && c->next[i] == pairs;
	if (full != threads)
		wrong("complete threads", threads, full);
}

int main(int argc, char **argv)
{
	struct check c = { .contract.sink.event = check_event };
	struct ut_spool_info *list;
	struct ut_err err = { 0 };
	struct ut_trace trace;
	size_t count;

	if (argc != 4)
		return 2;
	if (ut_spool_list(argv[1], &list, &count, &err) || count != 1) {
		printf("%s: %zu spools %s\n", argv[1], count, err.text);
		return 1;
	}
	ut_trace_init(&trace);
	if (ut_import_spool(list[0].path, &trace, &c.contract.sink, &err)) {
		printf("%s\n", err.text);
		return 1;
	}
	contract_trace(&c.contract, &trace);
	check_totals(&c, &trace, strtoull(argv[2], NULL, 10), strtoull(argv[3], NULL, 10));
	printf("%" PRIu64 " tasks, %" PRIu64 " bytes\n", c.tasks, list[0].bytes);
	contract_release(&c.contract);
	ut_trace_release(&trace);
	free(c.next);
	free(list);
	return 0;
}
