#include "session/growth.h"

#include <stdlib.h>

#include "base/err.h"
#include "base/size.h"
#include "import/spool/reader.h"
#include "session/session_news.h"

#define FIRST_BYTES (UINT64_C(8) << 20) /* half a million calls, some 80 MiB of JSON */
#define STEP        4u

void ut_growth_init(struct ut_growth *g, const char *session_dir, bool python,
		    const struct ut_session_client *client)
{
	*g = (struct ut_growth){
		.session_dir = session_dir, .next = FIRST_BYTES, .client = client, .python = python
	};
}

static uint64_t recorded(const struct ut_growth *g)
{
	struct ut_spool_info *list = NULL;
	struct ut_err err = { 0 };
	size_t count = 0;
	uint64_t bytes = 0;

	if (!ut_spool_list(g->session_dir, &list, &count, &err)) {
		for (size_t i = 0; i < count; i++)
			bytes += list[i].bytes;
	}
	free(list);
	return bytes;
}

void ut_growth_look(void *ctx)
{
	struct ut_growth *g = ctx;
	uint64_t bytes = g->next ? recorded(g) : 0;
	char size[32];

	if (!g->next || bytes < g->next)
		return;
	ut_session_say(
		g->client,
		(struct ut_session_news){
			.kind = UT_NEWS_GROWING, .level = UT_INFO, .count = bytes },
		"%s are recorded; JSON takes some ten times that, -o FILE.json.zst less. To record "
		"less: %s",
		ut_size_text(size, sizeof(size), bytes),
		g->python ? "--python-min-duration 10us, --python-depth N, "
			    "--python-exclude-modules NAME"
			  : "--itt-domains, --max-size, --keep-last");
	g->next = bytes * STEP;
}
