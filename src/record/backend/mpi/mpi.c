/*
 * mpi.c - the MPI backend: how it joins the session, learns which MPI there is, and says so.
 */
#define UT_BACKEND_IMPLEMENTATION
#include "backend/mpi/mpi.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>

#include "backend/mpi/call.h"
#include "backend/mpi/facts.h"
#include "backend/mpi/mpi_absent.h"
#include "backend/mpi/request.h"

#define MOST_VERSION 8192 /* MPI_MAX_LIBRARY_VERSION_STRING of MPICH; others have less */

struct ut_mpi_state ut_mpi;
_Atomic int ut_mpi_mood;

#define AT(variable) ((ut_mpi_word)(void *)&(variable))

/* ---- the session --------------------------------------------------------------------------- */

static uint32_t mpi_number(const char *text)
{
	return ut_mpi.host->name(text, strlen(text));
}

static bool is_option(const char *key, const char *value)
{
	const char *given = UT_HOST_HAS(ut_mpi.host, option) ? ut_mpi.host->option(key) : NULL;

	return given && !strcmp(given, value);
}

static int mpi_start(const struct ut_host *host)
{
	if (!UT_HOST_HAS(host, message)) {
		host->note("MPI is not recorded: the collector is older than the backend");
		return -ENOSYS;
	}
	ut_mpi.host = host;
	ut_mpi.api = mpi_number("MPI");
	ut_mpi.message = mpi_number("MPI message");
	ut_mpi.exclusive = mpi_number("exclusive");
	ut_mpi.shared = mpi_number("shared");
	for (int id = 0; id < UT_MPI_COUNT; id++)
		ut_mpi.names[id] = mpi_number(ut_mpi_name((enum ut_mpi_id)id));
#define UT_MPI_KEY(key_, text) ut_mpi.key.key_ = mpi_number(text);
	UT_MPI_KEY_LIST(UT_MPI_KEY)
#undef UT_MPI_KEY
	ut_mpi_groups_init();
	ut_mpi_requests_init();
	ut_mpi.each_poll = is_option("mpi.polls", "each");
	return 0;
}

/* What the user should know about a recording that is not all it could be. */
static void mpi_stop(void)
{
	char text[200];

	if (ut_mpi_channel_lost() || ut_mpi_match_lost()) {
		snprintf(text, sizeof(text),
			 "%llu messages have no arrows: more pairs of rank and tag, or more open "
			 "receives with wildcards, than there is room for",
			 (unsigned long long)(ut_mpi_channel_lost() + ut_mpi_match_lost()));
		ut_mpi.host->note(text);
	}
}

static int mpi_probe(struct ut_probe *p)
{
	(void)p; /* MPI has no devices */
	return 0;
}

UT_EXPORT const struct ut_backend unitrace_backend = {
	.version = UT_BACKEND_VERSION,
	.size = sizeof(struct ut_backend),
	.name = "mpi",
	.probe = mpi_probe,
	.start = mpi_start,
	.stop = mpi_stop,
};

static void mpi_join(void)
{
	if (!ut_backend_join(&unitrace_backend))
		atomic_store(&ut_mpi_mood, UT_MPI_NEVER);
}

bool ut_mpi_join(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, mpi_join);
	return ut_mpi.host && atomic_load(&ut_mpi_mood) != UT_MPI_NEVER;
}

/* ---- MPI ----------------------------------------------------------------------------------- */

/* Functions that came with MPI-3 may be missing; all others are there. */
static bool mpi_find_functions(const void *from)
{
	bool all = true;
	ut_mpi_fn *found;

#define UT_MPI_ASK(name, count)                                                                    \
	found = ut_mpi_find("PMPI_" #name, from);                                                  \
	ut_mpi.ask.name = (int (*)(UT_MPI_WORDS_##count))found;                                    \
	all = all && found;
	UT_MPI_ASK_LIST(UT_MPI_ASK)
#undef UT_MPI_ASK
	return all;
}

static void read_world(void)
{
	int32_t level = 0;

	ut_mpi.ask.Comm_rank(ut_mpi_abi.world, AT(ut_mpi.rank));
	ut_mpi.ask.Comm_size(ut_mpi_abi.world, AT(ut_mpi.size));
	ut_mpi.ask.Comm_group(ut_mpi_abi.world, AT(ut_mpi.world_group));
	ut_mpi.ask.Query_thread(AT(level));
	ut_mpi.threads = level >= ut_mpi_abi.threads;
}

static void read_job(void)
{
	struct ut_parallel p = { .size = sizeof(p) };

	if (!UT_HOST_HAS(ut_mpi.host, rank))
		return;
	ut_mpi.host->parallel(&p);
	ut_mpi.host->rank(ut_mpi.rank, ut_mpi.size);
	ut_mpi.job = ut_mpi_mix(p.job, (uint64_t)ut_mpi.size);
}

static void wake(const void *from)
{
	int32_t up = 0;

	if (!mpi_find_functions(from) || !ut_mpi_abi_find(from)) {
		ut_mpi.host->note("MPI is not recorded: this library is older than MPI-3");
		atomic_store(&ut_mpi_mood, UT_MPI_NEVER);
		return;
	}
	ut_mpi.ask.Initialized(AT(up));
	if (!up)
		return;
	read_world();
	read_job();
	ut_mpi_hide_absent();
	atomic_store_explicit(&ut_mpi_mood, UT_MPI_AWAKE, memory_order_release);
}

/* Only one thread may call MPI while it comes up; after that this is not called any more. */
bool ut_mpi_wake(const void *from)
{
	static atomic_flag busy = ATOMIC_FLAG_INIT;

	if (!ut_mpi_join() || atomic_flag_test_and_set(&busy))
		return false;
	if (atomic_load(&ut_mpi_mood) == UT_MPI_ASLEEP)
		wake(from);
	atomic_flag_clear(&busy);
	return atomic_load(&ut_mpi_mood) == UT_MPI_AWAKE;
}

/* ---- the beginning and the end ------------------------------------------------------------- */

void ut_mpi_init_begin(enum ut_mpi_id id)
{
	ut_mpi.host->call_begin(ut_mpi.api, ut_mpi.names[id], 0);
}

/* "MPICH Version:      4.0.2": the first line, with single blanks. */
static uint32_t library_name(void)
{
	static char text[MOST_VERSION + 1];
	int32_t len = 0;
	size_t kept = 0;

	if (ut_mpi.ask.Get_library_version((ut_mpi_word)text, AT(len)))
		return 0;
	for (const char *p = text; *p && *p != '\n' && kept < 80; p++) {
		bool blank = *p == ' ' || *p == '\t';

		if (!blank || (kept && text[kept - 1] != ' '))
			text[kept++] = blank ? ' ' : *p;
	}
	return ut_mpi.host->name(text, kept);
}

static void init_facts(struct ut_mpi_call *c)
{
	static const char *const levels[] = { "single", "funneled", "serialized", "multiple" };
	int32_t level = 0;

	ut_mpi_fact_int(c, ut_mpi.key.rank, ut_mpi.rank);
	ut_mpi_fact_int(c, ut_mpi.key.size, ut_mpi.size);
	ut_mpi_fact(c, ut_mpi.key.library, UT_VALUE_NAME, library_name());
	ut_mpi.ask.Query_thread(AT(level));
	if (ut_mpi_abi.threads > 3) /* 0, 1024, 2048, 4096 */
		level = level >= ut_mpi_abi.threads ? 3 : level / 1024;
	if (level >= 0 && level <= 3)
		ut_mpi_fact(c, ut_mpi.key.threads, UT_VALUE_NAME, mpi_number(levels[level]));
}

void ut_mpi_init_end(struct ut_mpi_call *c, enum ut_mpi_id id, int code, const void *from)
{
	c->id = (uint16_t)id;
	c->fact_count = c->begun_facts = 0;
	if (!code && ut_mpi_wake(from))
		init_facts(c);
	ut_mpi_leave(c, code);
}

/* What is asked of MPI from here on is an error. */
void ut_mpi_finalize(struct ut_mpi_call *c)
{
	ut_mpi_begin(c);
	ut_mpi.ask.Group_free(AT(ut_mpi.world_group));
	atomic_store(&ut_mpi_mood, UT_MPI_NEVER);
}
