/* call.c - see call.h. */
#include "backend/mpi/call.h"
#include "backend/mpi/facts.h"

#include <errno.h>
#include <time.h>

#include "backend/mpi/request.h"

/* Between tests that fail one after the other the program waits, too, unless it does work there. */
#define POLL_GAP 5000u /* ns */
/* In longer ones it may be asleep, or another program has the core: its CPU time says so. */
#define LONG_GAP  50000u  /* ns: asking costs some hundred of them */
#define LITTLE    20000u  /* ns of CPU time: who uses less in such a gap does not work */
#define WORK      200000u /* who uses more works; to fall asleep and wake takes less */
#define ASK_AFTER 16u     /* tests without a long gap */
/* Polls that go on are recorded as often as this. */
#define REPORT_AFTER 50000000u /* ns */
/* Those of CUPTI have 32 bits, those of OpenCL begin behind them. */
#define FIRST_CORRELATION (UINT64_C(1) << 60)

_Thread_local struct ut_mpi_thread ut_mpi_me;

uint64_t ut_mpi_correlation(void)
{
	static _Atomic uint64_t last;

	return FIRST_CORRELATION + atomic_fetch_add_explicit(&last, 1, memory_order_relaxed);
}

/* ---- the record ---------------------------------------------------------------------------- */

void ut_mpi_leave(struct ut_mpi_call *c, int code)
{
	if (UT_UNLIKELY(code)) {
		c->fact_count = c->begun_facts;
		ut_mpi_fact_int(c, ut_mpi.key.error, code);
	}
	ut_mpi.host->call_end(ut_mpi.api, c->facts + c->begun_facts,
			      (size_t)c->fact_count - c->begun_facts);
	ut_mpi_me.frame = NULL;
}

/* The first of them is recorded as it happens; of the others only how many, and how long. */
static void send_polls(struct ut_mpi_call *c)
{
	struct ut_mpi_thread *t = &ut_mpi_me;

	ut_mpi_fact_int(c, ut_mpi.key.polls, (int64_t)t->polls);
	ut_mpi_fact_int(c, ut_mpi.key.polling, (int64_t)t->polling);
	t->polls = t->polling = t->cpu_at = 0;
}

void ut_mpi_polls_end(void)
{
	struct ut_mpi_thread *t = &ut_mpi_me;
	struct ut_mpi_call c = { .id = t->poll_id };

	if (!t->polls || (t->polls == 1 && !t->polls_reported)) { /* it has its record */
		t->polls = t->polling = t->cpu_at = 0;
		t->polls_reported = false;
		return;
	}
	t->polls_reported = false;
	ut_mpi.host->call_begin(ut_mpi.api, ut_mpi.names[t->poll_id], 0);
	send_polls(&c);
	ut_mpi.host->call_end(ut_mpi.api, c.facts, c.fact_count);
}

static uint64_t cpu_time(void)
{
	struct timespec t;
	int saved = errno;
	bool known = !clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);

	errno = saved;
	return known ? (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec : 0;
}

/*
 * How much of the time since the last test the program did nothing: all of it, or none where it has
 * worked. Since its CPU time was asked for last, it has done nothing but test before this gap, so
 * what is more was used in the gap.
 */
static uint64_t idle_since(struct ut_mpi_thread *t, uint64_t now)
{
	uint64_t gap = now - t->poll_end, cpu, tests, used;

	if (gap < POLL_GAP)
		return gap;
	if (gap < LONG_GAP)
		return 0;
	cpu = cpu_time();
	tests = t->poll_end - t->cpu_at;
	used = cpu - t->cpu > tests ? cpu - t->cpu - tests : 0;
	used = t->cpu_at ? used : gap;
	t->cpu = cpu;
	t->cpu_at = now;
	return used < LITTLE || (used < WORK && used < gap / 8) ? gap : 0;
}

void ut_mpi_poll_begin(struct ut_mpi_call *c)
{
	struct ut_mpi_thread *t = &ut_mpi_me;

	c->poll = true;
	c->start = ut_mpi.host->now();
	if ((t->polls || t->polls_reported) && !ut_mpi.each_poll) {
		t->polling += idle_since(t, c->start);
		return;
	}
	c->begun = true;
	ut_mpi.host->call_begin(ut_mpi.api, ut_mpi.names[c->id], 0);
}

/*
 * Those until now, with what they ask for: if the process is killed while it goes on so, this is
 * what says for whom it waited.
 */
static void report_polls(struct ut_mpi_call *c)
{
	ut_mpi.host->call_begin(ut_mpi.api, ut_mpi.names[c->id], 0);
	c->fact_count = c->begun_facts = 0;
	send_polls(c);
	ut_mpi_fact_int(c, ut_mpi.key.pending, 1);
	c->group = NULL;
	ut_mpi_polled(c);
	ut_mpi.host->call_end(ut_mpi.api, c->facts, c->fact_count);
	ut_mpi_me.polls_reported = true;
}

/* A test that failed after others have, or the first one. */
static void poll_failed(struct ut_mpi_call *c)
{
	struct ut_mpi_thread *t = &ut_mpi_me;
	uint64_t now = ut_mpi.host->now();

	if (c->begun)
		ut_mpi.host->call_end(ut_mpi.api, NULL, 0);
	if (!t->polls)
		t->poll_start = c->start;
	t->polling += now - c->start;
	t->poll_end = now;
	t->poll_id = c->id;
	t->polls++;
	if (t->polls == ASK_AFTER && !t->cpu_at) {
		t->cpu = cpu_time();
		t->cpu_at = now;
	}
	if (UT_UNLIKELY(now - t->poll_start > REPORT_AFTER))
		report_polls(c);
}

void ut_mpi_poll_end(struct ut_mpi_call *c, int code, bool hit)
{
	struct ut_mpi_thread *t = &ut_mpi_me;

	t->frame = NULL;
	if (!code && !hit && !ut_mpi.each_poll) {
		poll_failed(c);
		return;
	}
	t->polls_reported = false;
	if (code) {
		c->fact_count = 0;
		ut_mpi_fact_int(c, ut_mpi.key.error, code);
	}
	if (!c->begun)
		ut_mpi.host->call_begin(ut_mpi.api, ut_mpi.names[c->id], c->correlation);
	if (t->polls) {
		t->polling += ut_mpi.host->now() - c->start;
		send_polls(c);
	}
	ut_mpi.host->call_end(ut_mpi.api, c->facts, c->fact_count);
}

/* ---- sizes --------------------------------------------------------------------------------- */

#define SIZES 16u /* a power of two */

static _Atomic uint32_t types_epoch = 1;

void ut_mpi_types_change(void)
{
	atomic_fetch_add_explicit(&types_epoch, 1, memory_order_relaxed);
}

int64_t ut_mpi_bytes(int64_t count, ut_mpi_word type)
{
	static _Thread_local struct {
		ut_mpi_word type;
		int64_t size;
		uint32_t epoch;
	} known[SIZES], *k;
	uint32_t epoch = atomic_load_explicit(&types_epoch, memory_order_relaxed);
	long long size = 0; /* MPI_Count */

	if (count <= 0)
		return 0;
	k = &known[(type >> 4 ^ type ^ type >> 8) & (SIZES - 1)];
	if (UT_UNLIKELY(k->type != type || k->epoch != epoch)) {
		if (ut_mpi.ask.Type_size_x(type, (ut_mpi_word)(void *)&size) || size < 0)
			size = 0;
		k->type = type;
		k->epoch = epoch;
		k->size = size;
	}
	return count * k->size;
}

/* As MPICH and Open MPI have laid it out for more than ten years; others are asked. */
int64_t ut_mpi_status_bytes(ut_mpi_word status)
{
	const char *at = (const char *)status;
	uint64_t wide;
	uint32_t low, high;
	long long count = 0;

	if (ut_mpi_abi.status == 24) {
		memcpy(&wide, at + 16, sizeof(wide));
		return (int64_t)wide;
	}
	if (ut_mpi_abi.status == 20) {
		memcpy(&low, at, sizeof(low));
		memcpy(&high, at + 4, sizeof(high));
		return (int64_t)((uint64_t)(high >> 1) << 32 | low);
	}
	if (ut_mpi.ask.Get_elements_x(status, ut_mpi_abi.byte, (ut_mpi_word)(void *)&count))
		return 0;
	return count > 0 ? count : 0;
}

/* ---- messages ------------------------------------------------------------------------------ */

static void message_id(const struct ut_mpi_ends *e, uint64_t id[2])
{
	id[0] = e->comm + ((uint64_t)(uint32_t)e->from << 32 | (uint32_t)e->to);
	id[1] = (uint64_t)(uint32_t)e->tag << 40 ^ e->number;
}

uint64_t ut_mpi_message_number(const struct ut_mpi_ends *e)
{
	uint64_t id[2];

	message_id(e, id);
	return ut_message_number(id);
}

void ut_mpi_message(struct ut_mpi_call *c, enum ut_message_end end, const struct ut_mpi_ends *e,
		    uint64_t correlation)
{
	struct ut_message m = {
		.size = sizeof(m),
		.end = end,
		.correlation = correlation,
		.name = ut_mpi.message,
	};

	if (e->number == UT_MPI_NO_NUMBER)
		return;
	message_id(e, m.id);
	/* As a fact of the call it costs least; there may be more of them than have room. */
	if (c && c->fact_count < UT_MPI_FACTS - UT_MPI_OTHER_FACTS)
		ut_mpi_fact(c, ut_mpi.message,
			    end == UT_MESSAGE_SENT ? UT_VALUE_SENT : UT_VALUE_RECEIVED,
			    ut_message_number(m.id));
	else
		ut_mpi.host->message(&m);
}
