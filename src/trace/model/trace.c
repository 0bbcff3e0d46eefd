#include "model/trace.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "base/str.h"

/*
 * Room for one more item. Arrays double and their old copies stay in the arena, so the waste is
 * at most what is in use. Indices are 32 bits wide: more items than that is the end of memory.
 */
static void *grown(struct ut_trace *t, void *items, size_t count, size_t *cap, size_t size)
{
	size_t wanted = *cap ? *cap * 2 : 16;
	void *bigger;

	if (count < *cap)
		return items;
	if (count >= UINT32_MAX)
		abort();
	bigger = ut_arena_alloc(&t->arena, wanted, size);
	if (count)
		memcpy(bigger, items, count * size);
	*cap = wanted;
	return bigger;
}

void ut_trace_init(struct ut_trace *t)
{
	*t = (struct ut_trace){ 0 };
	ut_strtab_init(&t->strings, &t->arena);
	ut_trace_close_args(t); /* the empty list that index 0 stands for */
}

void ut_trace_release(struct ut_trace *t)
{
	ut_arena_release(&t->arena);
	*t = (struct ut_trace){ 0 };
}

uint32_t ut_trace_add_process(struct ut_trace *t, uint64_t pid)
{
	t->processes =
		grown(t, t->processes, t->process_count, &t->process_cap, sizeof(*t->processes));
	t->processes[t->process_count] =
		(struct ut_process){ .pid = pid, .rank = -1, .device = -1, .sub_device = -1 };
	return (uint32_t)t->process_count++;
}

uint32_t ut_trace_add_program(struct ut_trace *t, const struct ut_trace_program *of)
{
	uint32_t at = ut_trace_add_process(t, of->pid);
	struct ut_process *p = &t->processes[at];

	p->name = ut_strtab_intern(&t->strings, of->name.ptr, of->name.len);
	p->host = ut_strtab_intern(&t->strings, of->host.ptr, of->host.len);
	p->cmdline = ut_strtab_intern(&t->strings, of->cmdline.ptr, of->cmdline.len);
	p->rank = of->rank;
	p->sort_index = of->rank >= 0 ? of->rank : 0;
	p->kind = UT_PROCESS_PROGRAM;
	return at;
}

uint32_t ut_trace_add_track(struct ut_trace *t, uint32_t process, enum ut_track_type type)
{
	t->tracks = grown(t, t->tracks, t->track_count, &t->track_cap, sizeof(*t->tracks));
	t->tracks[t->track_count] = (struct ut_track){ .process = process, .type = type };
	return (uint32_t)t->track_count++;
}

void ut_trace_add_unwanted(struct ut_trace *t, uint32_t domain)
{
	t->unwanted =
		grown(t, t->unwanted, t->unwanted_count, &t->unwanted_cap, sizeof(*t->unwanted));
	t->unwanted[t->unwanted_count++] = domain;
}

/* One more part of a name; text of JSON without its quotes. */
static void trace_add_part(struct ut_buf *b, const char *before, struct ut_str s, bool json)
{
	bool quoted = json && s.len > 1 && s.ptr[0] == '"' && s.ptr[s.len - 1] == '"';

	ut_buf_text(b, before);
	ut_buf_add(b, s.ptr + quoted, s.len - 2 * (size_t)quoted);
}

void ut_trace_name_counter(struct ut_trace *t, uint32_t track, uint32_t base)
{
	struct ut_track *k = &t->tracks[track];
	struct ut_buf b = { 0 };

	k->base = 0;
	k->name = base;
	if (!base || (!k->unit && !k->id_text))
		return;
	trace_add_part(&b, "", ut_strtab_get(&t->strings, base), false);
	if (k->id_text)
		trace_add_part(&b, " id: ", ut_strtab_get(&t->strings, k->id_text), true);
	if (k->unit)
		trace_add_part(&b, " ", ut_strtab_get(&t->strings, k->unit), false);
	k->base = base;
	k->name = ut_strtab_intern(&t->strings, b.data, b.len);
	ut_buf_release(&b);
}

void ut_trace_add_note(struct ut_trace *t, uint32_t text)
{
	t->notes = grown(t, t->notes, t->note_count, &t->note_cap, sizeof(*t->notes));
	t->notes[t->note_count++] = text;
}

struct ut_arg *ut_trace_add_arg(struct ut_trace *t, uint32_t key, enum ut_arg_type type)
{
	t->args = grown(t, t->args, t->arg_count, &t->arg_cap, sizeof(*t->args));
	t->args[t->arg_count] = (struct ut_arg){ .key = key, .type = (uint8_t)type };
	return &t->args[t->arg_count++];
}

void ut_trace_close_args(struct ut_trace *t)
{
	ut_trace_add_arg(t, 0, UT_ARG_END);
}

void ut_trace_drop_args(struct ut_trace *t, size_t mark)
{
	if (mark && mark < t->arg_count)
		t->arg_count = mark;
}

const char *const ut_losses_names[UT_LOSSES] = {
#define LOSS_NAME(name, text) #name,
	UT_LOSSES_LIST(LOSS_NAME)
#undef LOSS_NAME
};

void ut_losses_add(struct ut_losses *a, const struct ut_losses *b)
{
	for (size_t i = 0; i < UT_LOSSES; i++)
		a->all[i] += b->all[i];
}

uint64_t *ut_losses_called(struct ut_losses *l, const char *name, size_t len)
{
	for (size_t i = 0; i < UT_LOSSES; i++) {
		if (strlen(ut_losses_names[i]) == len && !memcmp(ut_losses_names[i], name, len))
			return &l->all[i];
	}
	return NULL;
}

/* The list of arguments is written again with the fact as its last one. */
void ut_process_add_fact(struct ut_trace *t, uint32_t process, const char *key, struct ut_str json)
{
	size_t list = t->arg_count;
	uint32_t name = ut_strtab_intern_z(&t->strings, key);
	uint32_t text = ut_strtab_intern(&t->strings, json.ptr, json.len);

	for (size_t i = t->processes[process].args; t->args[i].type != UT_ARG_END; i++) {
		struct ut_arg a = t->args[i];

		*ut_trace_add_arg(t, a.key, (enum ut_arg_type)a.type) = a;
	}
	ut_trace_add_arg(t, name, UT_ARG_JSON)->value.str = text;
	ut_trace_close_args(t);
	t->processes[process].args = (uint32_t)list;
}

struct ut_str ut_process_fact(const struct ut_trace *t, const struct ut_process *p, const char *key)
{
	for (const struct ut_arg *a = &t->args[p->args]; a->type != UT_ARG_END; a++) {
		if (a->type == UT_ARG_JSON && ut_str_is(ut_strtab_get(&t->strings, a->key), key))
			return ut_strtab_get(&t->strings, a->value.str);
	}
	return (struct ut_str){ 0 };
}

void ut_process_add_end(struct ut_trace *t, uint32_t process, int status, uint64_t after)
{
	char json[96];
	int len;

	if (ut_process_fact(t, &t->processes[process], UT_PROCESS_ENDED).len)
		return;
	len = snprintf(json, sizeof(json), WIFSIGNALED(status) ? "{\"signal\":%d" : "{\"exit\":%d",
		       WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
	if (after)
		len += snprintf(json + len, sizeof(json) - (size_t)len,
				",\"" UT_PROCESS_AFTER "\":%" PRIu64, after);
	snprintf(json + len, sizeof(json) - (size_t)len, "}");
	ut_process_add_fact(t, process, UT_PROCESS_ENDED, (struct ut_str){ json, strlen(json) });
}

bool ut_process_failure(const struct ut_trace *t, const struct ut_process *p, struct ut_buf *b)
{
	struct ut_str fact = ut_process_fact(t, p, UT_PROCESS_ENDED);
	int number;

	if (fact.len && sscanf(fact.ptr, "{\"exit\":%d", &number) == 1 && number)
		ut_buf_fmt(b, "exit status %d", number);
	else if (fact.len && sscanf(fact.ptr, "{\"signal\":%d}", &number) == 1)
		ut_buf_fmt(b, "signal %d (%s)", number, strsignal(number));
	else
		return false;
	return true;
}

bool ut_process_succeeded(const struct ut_trace *t, const struct ut_process *p)
{
	struct ut_str fact = ut_process_fact(t, p, UT_PROCESS_ENDED);
	int number;

	return fact.len && sscanf(fact.ptr, "{\"exit\":%d", &number) == 1 && !number;
}

uint64_t ut_process_after(const struct ut_trace *t, const struct ut_process *p)
{
	struct ut_str fact = ut_process_fact(t, p, UT_PROCESS_ENDED);
	const char *at = fact.len ? strstr(fact.ptr, "\"" UT_PROCESS_AFTER "\":") : NULL;

	return at ? strtoull(at + sizeof("\"" UT_PROCESS_AFTER "\":") - 1, NULL, 10) : 0;
}
