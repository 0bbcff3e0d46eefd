#include "export/store_sink.h"

#include <stdlib.h>

#include "base/grow.h"
#include "model/build.h"
#include "model/pairs.h"
#include "model/store.h"

struct store_sink {
	struct ut_sink sink; /* first */
	struct ut_build build;
	struct ut_pairs pairs;
	struct ut_out *out;
	void (*write)(struct ut_store *store, struct ut_out *out);
};

/* Kinds that we do not know must not be taken for those that a build knows besides. */
static void store_sink_take_event(struct ut_sink *sink, const struct ut_trace *trace,
				  const struct ut_event *e)
{
	struct store_sink *s = (struct store_sink *)(void *)sink;

	if (e->kind < UT_KIND_COUNT)
		ut_pairs_send(&s->pairs, &s->build.sink, trace, e);
}

struct ut_sink *ut_store_sink_open(struct ut_out *out,
				   void (*write)(struct ut_store *store, struct ut_out *out))
{
	struct store_sink *s = ut_make(sizeof(*s));

	ut_build_init(&s->build);
	s->sink.event = store_sink_take_event;
	s->out = out;
	s->write = write;
	return &s->sink;
}

void ut_store_sink_end_trace(struct ut_sink *sink, const struct ut_trace *trace)
{
	struct store_sink *s = (struct store_sink *)(void *)sink;

	ut_build_end_trace(&s->build, trace);
	ut_pairs_end_trace(&s->pairs);
}

void ut_store_sink_close(struct ut_sink *sink)
{
	struct store_sink *s = (struct store_sink *)(void *)sink;
	struct ut_store store;

	ut_build_finish(&s->build, &store);
	s->write(&store, s->out);
	ut_store_release(&store);
	free(s);
}
