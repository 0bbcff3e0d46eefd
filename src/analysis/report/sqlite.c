/*
 * sqlite.c - a trace as an SQLite database, for tools that speak SQL; docs/formats/sqlite.md.
 *
 * Events of any order are gathered in columns first; the tables are those that `unitrace query`
 * shows, filled from the columns by SQLite itself.
 */
#include "export/exporter.h"

#include <stdlib.h>

#include "base/grow.h"
#include "model/build.h"
#include "model/pairs.h"
#include "query/save.h"
#include "text/out.h"

struct sqlite {
	struct ut_sink sink;
	struct ut_build build;
	struct ut_pairs pairs;
	struct ut_out *out;
};

static void sqlite_event(struct ut_sink *sink, const struct ut_trace *trace,
			 const struct ut_event *e)
{
	struct sqlite *s = (struct sqlite *)(void *)sink;

	ut_pairs_send(&s->pairs, &s->build.sink, trace, e);
}

static struct ut_sink *sqlite_open(struct ut_out *out)
{
	struct sqlite *s = ut_make(sizeof(*s));

	ut_build_init(&s->build);
	s->sink.event = sqlite_event;
	s->out = out;
	return &s->sink;
}

static void sqlite_end_trace(struct ut_sink *sink, const struct ut_trace *trace)
{
	struct sqlite *s = (struct sqlite *)(void *)sink;

	ut_build_end_trace(&s->build, trace);
	ut_pairs_end_trace(&s->pairs);
}

static void sqlite_write(struct ut_store *store, struct ut_out *out)
{
	const char *path = ut_out_file(out);
	struct ut_err err = { 0 };

	if (path && ut_query_save(store, path, &err))
		ut_out_fail(out, err.code, err.text);
}

static void sqlite_close(struct ut_sink *sink)
{
	struct sqlite *s = (struct sqlite *)(void *)sink;
	struct ut_store store;

	ut_build_finish(&s->build, &store);
	sqlite_write(&store, s->out);
	ut_store_release(&store);
	free(s);
}

const struct ut_exporter ut_export_sqlite = {
	.name = "sqlite",
	.suffix = ".sqlite",
	.open = sqlite_open,
	.end_trace = sqlite_end_trace,
	.close = sqlite_close,
	.write = sqlite_write,
};
