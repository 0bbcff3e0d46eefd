/* folded.c - samples as folded stacks, see sample/folded.h. */
#include "export/exporter.h"

#include <errno.h>

#include "export/store_sink.h"
#include "model/store.h"
#include "sample/folded.h"
#include "sample/prof.h"
#include "text/out.h"

static void folded_write(struct ut_store *store, struct ut_out *out)
{
	static const struct ut_prof_opts all;
	struct ut_prof p;

	ut_prof_init(&p, &all);
	ut_prof_add(&p, store);
	ut_prof_finalize(&p);
	if (p.samples || !store->row_count)
		ut_folded_write(out, &p);
	else
		ut_out_fail(out, -ENODATA, UT_EXPORT_NO_SAMPLES);
	ut_prof_release(&p);
}

static struct ut_sink *folded_open(struct ut_out *out)
{
	return ut_store_sink_open(out, folded_write);
}

const struct ut_exporter ut_export_folded = {
	.name = "folded",
	.suffix = ".folded",
	.open = folded_open,
	.end_trace = ut_store_sink_end_trace,
	.close = ut_store_sink_close,
	.write = folded_write,
};
