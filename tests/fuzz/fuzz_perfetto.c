/*
 * fuzz_perfetto.c - libFuzzer target: any bytes as a Perfetto trace.
 *
 * What could be read must hold what a store promises, go out in every format that streams, and be
 * readable again when it comes out as Perfetto.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bytes.h"
#include "export/exporter.h"
#include "import/perfetto/shared.h"
#include "text/out.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void hear(void *ctx, const char *path, const char *text)
{
	(void)ctx;
	need(*path && *text && !strchr(text, '\n'), "a warning is one line");
}

static int load(const uint8_t *data, size_t size, size_t step, struct ut_store *store)
{
	struct bytes bytes = { data, size, step };
	const struct ut_pf_input in = { "fuzz", read_bytes, &bytes };
	const struct ut_import_opts opts = { .warn = hear };
	struct ut_err err = { 0 };
	int rc = ut_perfetto_load(&in, &opts, store, &err);

	need(!rc == !err.text[0], "an error says why");
	return rc;
}

static void check_event(const struct ut_store *s, const struct ut_event *e, uint64_t before)
{
	struct ut_arg args[8];

	need(e->kind < UT_KIND_COUNT, "nothing raw is left");
	need(e->ts >= before, "rows are in order of time");
	need(e->name <= s->trace.strings.count && e->cat <= s->trace.strings.count,
	     "strings exist");
	ut_arglists_get(&s->args, e->args, args, 8);
}

static void check(const struct ut_store *s)
{
	for (uint32_t t = 0; t < s->trace.track_count; t++) {
		uint64_t before = 0;

		need(s->trace.tracks[t].process < s->trace.process_count, "tracks have a process");
		for (size_t b = 0; b < ut_rows_blocks(&s->rows[t]); b++) {
			const struct ut_block *block = &s->rows[t].blocks[b];

			for (uint32_t i = 0; i < block->count; i++) {
				struct ut_event e = ut_block_event(s, t, block, i);

				check_event(s, &e, before);
				before = e.ts;
			}
		}
	}
}

static struct ut_out *export(struct ut_store *s, const struct ut_exporter *x)
{
	struct ut_out *out = ut_out_open_memory();
	struct ut_sink *sink = x->open(out);

	ut_store_send(s, 0, sink);
	x->end_trace(sink, &s->trace);
	x->close(sink);
	return out;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct ut_store store, again;
	struct ut_out *out;
	const char *text;
	size_t len;

	ut_import_perfetto.probe((const char *)data, size);
	if (load(data, size, size % 7 ? SIZE_MAX : 5, &store))
		return 0;
	check(&store);
	ut_out_abandon(export(&store, &ut_export_csv));
	out = export(&store, &ut_export_perfetto);
	text = ut_out_data(out, &len);
	need(!load((const uint8_t *)text, len, SIZE_MAX, &again), "what we write we can read");
	check(&again);
	ut_store_release(&again);
	ut_out_abandon(out);
	ut_store_release(&store);
	return 0;
}
