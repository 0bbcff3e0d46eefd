#include "session/growth.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/err.h"
#include "base/size.h"
#include "import/spool/reader.h"
#include "session/session_event.h"
#include "wire/clock.h"

#define FIRST_BYTES (UINT64_C(8) << 20) /* half a million calls, some 80 MiB of JSON */
#define STEP        4u
#define SECOND      UINT64_C(1000000000)

void ut_growth_init(struct ut_growth *g, const char *session_dir, bool python,
		    const struct ut_session_client *client)
{
	*g = (struct ut_growth){ .session_dir = session_dir,
				 .next = FIRST_BYTES,
				 .start = ut_clock_ns(CLOCK_MONOTONIC),
				 .client = client,
				 .python = python };
	g->last_time = g->start;
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

static void show_size(const struct ut_growth *g, uint64_t bytes)
{
	char text[128], size[32], rate[32], time[32];

	snprintf(text, sizeof(text), "unitrace: recording: %s in %s, %s/s",
		 ut_size_text(size, sizeof(size), bytes),
		 ut_time_text(time, sizeof(time), (g->last_time - g->start) / SECOND * SECOND),
		 ut_size_text(rate, sizeof(rate), g->rate));
	ut_session_notify(g->client, (struct ut_session_event){ .kind = UT_SESSION_EVENT_SIZE,
								.level = UT_INFO,
								.count = bytes,
								.text = text });
}

void ut_growth_end(struct ut_growth *g)
{
	if (g->next && g->client && g->client->wants_size)
		ut_session_notify(g->client,
				  (struct ut_session_event){ .kind = UT_SESSION_EVENT_SIZE });
}

void ut_growth_look(struct ut_growth *g)
{
	uint64_t bytes = g->next ? recorded(g) : 0;
	uint64_t now = ut_clock_ns(CLOCK_MONOTONIC);
	char size[32], rate[32], speed[48] = "";

	if (!g->next)
		return;
	if (now - g->last_time >= SECOND / 2) {
		uint64_t more = bytes > g->last_bytes ? bytes - g->last_bytes : 0;

		g->rate = (uint64_t)((double)more * (double)SECOND / (double)(now - g->last_time));
		g->last_bytes = bytes;
		g->last_time = now;
	}
	if (bytes && now - g->start >= SECOND && g->client && g->client->wants_size)
		show_size(g, bytes);
	if (bytes < g->next)
		return;
	if (g->rate)
		snprintf(speed, sizeof(speed), " (%s/s)",
			 ut_size_text(rate, sizeof(rate), g->rate));
	ut_session_notify_text(
		g->client,
		(struct ut_session_event){
			.kind = UT_SESSION_EVENT_GROWING, .level = UT_INFO, .count = bytes },
		"%s are recorded%s; JSON takes some ten times that, -o FILE.json.zst less. To "
		"record less: %s",
		ut_size_text(size, sizeof(size), bytes), speed,
		g->python ? "--python-min-duration 10us, --python-depth N, "
			    "--python-exclude-modules NAME"
			  : "--itt-domains, --max-size, --keep-last");
	g->next = bytes * STEP;
}
