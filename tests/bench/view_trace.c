/*
 * view_trace.c - makes the trace that bench_view.py looks at.
 *
 *   view_trace FILE.utr [ROWS]     10 million by default
 *
 * 64 threads with spans three deep, 200 names.
 */
#include <stdio.h>
#include <stdlib.h>

#include "export/utr_write.h"
#include "model/build.h"
#include "model/pyramid.h"
#include "model/store.h"
#include "span_tree.h"
#include "text/out.h"

#define NAMES  200u
#define TRACKS 64u

static uint32_t make_type(struct ut_build *b, unsigned int i)
{
	char name[32];
	int len = snprintf(name, sizeof(name), "function %u", i);
	struct ut_type type = { .name = ut_strtab_intern(&b->store.trace.strings, name,
							 (size_t)len) };

	return ut_types_intern(&b->store.types, &type);
}

int main(int argc, char **argv)
{
	uint64_t rows = argc > 2 ? strtoull(argv[2], NULL, 10) : 10000000, ts[TRACKS] = { 0 };
	uint32_t types[NAMES], tracks[TRACKS], process;
	struct ut_build build;
	struct ut_store store;
	struct ut_out *out;
	struct ut_err err = { 0 };

	if (argc < 2)
		return 2;
	ut_build_init(&build);
	process = ut_trace_add_process(&build.store.trace, 100);
	for (unsigned int i = 0; i < NAMES; i++)
		types[i] = make_type(&build, i);
	for (uint32_t i = 0; i < TRACKS; i++) {
		tracks[i] = ut_trace_add_track(&build.store.trace, process, UT_TRACK_THREAD);
		build.store.trace.tracks[tracks[i]].id = i + 1;
	}
	for (uint64_t i = 0; i < rows / 4; i++)
		add_tree(&build, tracks[i % TRACKS], types, NAMES, &ts[i % TRACKS]);
	ut_build_finish(&build, &store);
	ut_pyramid_build(&store, 0);
	out = ut_out_open(argv[1], UT_OUT_OVERWRITE);
	ut_utr_write(&store, out);
	if (ut_out_commit(out, &err)) {
		fprintf(stderr, "%s\n", err.text);
		return 1;
	}
	ut_store_release(&store);
	return 0;
}
