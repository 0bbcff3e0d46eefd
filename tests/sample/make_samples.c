#include "make_samples.h"

#include <stdlib.h>
#include <string.h>

static uint32_t text(struct maker *m, const char *s)
{
	return s ? ut_strtab_intern_z(&m->build.store.trace.strings, s) : 0;
}

static uint32_t place_of(struct maker *m, char *frame)
{
	struct ut_trace *t = &m->build.store.trace;
	char *module = strchr(frame, '@'), *file = NULL, *line = NULL;
	struct ut_place_in_code code = { 0 };

	if (module)
		*module++ = '\0';
	file = module ? strchr(module, ':') : NULL;
	if (file)
		*file++ = '\0';
	line = file ? strchr(file, ':') : NULL;
	if (line)
		*line++ = '\0';
	code.function = strcmp(frame, "?") != 0 ? text(m, frame) : 0;
	code.module = text(m, module);
	code.file = text(m, file);
	code.line = line ? (uint32_t)atoi(line) : 0;
	return ut_stacks_place(&t->stacks, &t->arena, &code);
}

uint32_t make_stack(struct maker *m, const char *stack)
{
	struct ut_trace *t = &m->build.store.trace;
	char *copy = strdup(stack), *rest = copy, *frame;
	uint32_t number = 0;

	while ((frame = strsep(&rest, ";")) && frame[0])
		number = ut_stacks_site(&t->stacks, &t->arena, number, place_of(m, frame));
	free(copy);
	return number;
}

void make_sample(struct maker *m, uint32_t track, uint64_t ts, const char *stack, uint64_t weight)
{
	make_kind(m, track, UT_KIND_SAMPLE, "cpu-clock", ts,
		  ut_sample_val(make_stack(m, stack), weight));
}

void make_profile(struct ut_prof *p, const struct ut_prof_opts *opts, const char *const *lines)
{
	struct ut_store store;
	struct maker m;
	uint32_t track;

	make_start(&m);
	track = make_track(&m, UT_TRACK_THREAD, 7, "main");
	for (uint64_t ts = 1000; **lines; lines++, ts += 1000) {
		char *copy = strdup(*lines), *weight = strrchr(copy, ' ');

		*weight++ = '\0';
		make_sample(&m, track, ts, copy, strtoull(weight, NULL, 10));
		free(copy);
	}
	make_finish(&m, &store);
	ut_prof_init(p, opts);
	ut_prof_add(p, &store);
	ut_prof_finalize(p);
	ut_store_release(&store);
}

uint32_t text_in(struct ut_prof *p, const char *s)
{
	return ut_strtab_intern_z(&p->strings, s);
}
