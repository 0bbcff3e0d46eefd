/* commands.c - which command group of SYCL's a piece of work came from. */
#include "import/spool/commands.h"

#include <stdlib.h>

#include "base/grow.h"
#include "import/spool/steps.h"

void ut_spool_command_note(struct ut_spool_import *im, uint64_t correlation, uint64_t node,
			   uint32_t name)
{
	uint32_t at = ut_idmap_get(&im->sycl.at, node);

	if (!at) {
		*UT_VEC_PUSH(&im->sycl.items) = (struct ut_spool_command){ .name = name };
		at = (uint32_t)im->sycl.items.count;
		ut_idmap_put(&im->sycl.at, node, at);
	}
	ut_idmap_put(&im->sycl.of_call, correlation, at);
}

/* Only those from which work came are of interest. */
void ut_spool_command_end(struct ut_spool_import *im, uint64_t node, const struct ut_spool_rec *r)
{
	uint32_t at = ut_idmap_get(&im->sycl.at, node);

	if (at)
		im->sycl.items.items[at - 1].end = *r;
}

static bool commands_is_wanted(struct ut_str key, bool placed)
{
	return ut_str_is(key, "node") || ut_str_is(key, "queue") ||
	       (!placed && (ut_str_is(key, "file") || ut_str_is(key, "line")));
}

void ut_spool_args_command(struct ut_spool_import *im, uint64_t correlation, bool placed)
{
	uint32_t at = ut_idmap_get(&im->sycl.of_call, correlation);
	const struct ut_spool_command *c = at ? &im->sycl.items.items[at - 1] : NULL;

	if (!c)
		return;
	ut_spool_args_text(im, "command group", c->name);
	for (size_t i = 1; i + 1 < c->end.count; i += 2) {
		struct ut_spool_rec one = c->end;
		uint32_t key = ut_spool_string(&im->tables, ut_rec_low(&one, i));

		one.count = i + 2;
		if (commands_is_wanted(ut_strtab_get(&im->trace->strings, key), placed))
			ut_spool_args_facts(im, &one, i);
	}
}
