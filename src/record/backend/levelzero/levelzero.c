/* levelzero.c - the Level Zero backend: how it starts and ends. */
#define UT_BACKEND_IMPLEMENTATION
#include "backend/levelzero/levelzero.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>

#include "backend/levelzero/helper.h"
#include "backend/levelzero/ze_list.h"
#include "backend/levelzero/ze_measure.h"
#include "backend/levelzero/ze_memory.h"

struct ut_ze_state ut_ze;

uint32_t ut_ze_name(const char *text)
{
	return ut_ze.host->name(text, strlen(text));
}

static void name_keys(void)
{
	const struct {
		uint32_t *key;
		const char *text;
	} keys[] = {
		{ &ut_ze.key.error, "error" },
		{ &ut_ze.key.result, "result" },
		{ &ut_ze.key.bytes, "bytes" },
		{ &ut_ze.key.from, "from" },
		{ &ut_ze.key.to, "to" },
		{ &ut_ze.key.grid, "grid" },
		{ &ut_ze.key.block, "block" },
		{ &ut_ze.key.simd, "SIMD" },
		{ &ut_ze.key.compiled, "compiled" },
		{ &ut_ze.key.arguments, "arguments" },
		{ &ut_ze.key.slm, "SLM per work group" },
		{ &ut_ze.key.private_bytes, "private memory per thread" },
		{ &ut_ze.key.spill, "spill memory per thread" },
		{ &ut_ze.key.registers, "registers" },
		{ &ut_ze.key.times, "times" },
		{ &ut_ze.key.executed, "execution" },
		{ &ut_ze.key.tile, "tile" },
		{ &ut_ze.key.clock_error, "clock error (ns)" },
		{ &ut_ze.unknown, "unknown" },
		{ &ut_ze.jit, "JIT" },
		{ &ut_ze.aot, "AOT" },
	};

	for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++)
		*keys[i].key = ut_ze_name(keys[i].text);
}

static void forked(void)
{
	ut_ze_memory_forked();
	ut_ze_events_forked();
	ut_ze_lists_forked();
	ut_ze_helper_forked();
	ut_ze_streams_forked();
}

static int levelzero_start(const struct ut_host *host)
{
	if (!(host->want & (UT_WANT_CALLS | UT_WANT_SUBMITS | UT_WANT_WORK)))
		return -ECANCELED;
	ut_ze.host = host;
	ut_ze.calls = host->want & UT_WANT_CALLS;
	ut_ze.submits = host->want & UT_WANT_SUBMITS;
	ut_ze.work = host->want & UT_WANT_WORK;
	ut_ze.args = host->want & UT_WANT_CALL_ARGS;
	ut_ze.query = host->want & UT_WANT_QUERY;
	ut_ze.sampling = host->want & UT_WANT_SAMPLING;
	ut_ze.stalls = host->want & UT_WANT_STALLS;
	ut_ze.tiles = UT_HOST_HAS(host, option) && host->option("levelzero.tiles");
	ut_ze.api = ut_ze_name("Level Zero");
	name_keys();
	for (uint32_t id = 0; id < UT_ZE_COUNT; id++)
		ut_ze.names[id] = ut_ze_name(ut_ze_function(id));
	return pthread_atfork(NULL, NULL, forked) ? -ENOMEM : 0;
}

static void levelzero_flush(void)
{
	ut_ze_helper_look();
}

UT_EXPORT const struct ut_backend unitrace_backend = {
	.version = UT_BACKEND_VERSION,
	.size = sizeof(struct ut_backend),
	.name = "levelzero",
	.probe = ut_ze_probe,
	.start = levelzero_start,
	.flush = levelzero_flush,
	.stop = ut_ze_helper_end,
};

/* A test may have started us by itself. */
static void levelzero_join(void)
{
	if (!ut_ze.host && !ut_backend_join(&unitrace_backend))
		ut_ze.host = NULL;
}

bool ut_ze_join(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, levelzero_join);
	return ut_ze.host;
}
