#include "session/sampling.h"

#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/path.h"
#include "base/size.h"
#include "base/str.h"
#include "launch/cpu/sampler.h"
#include "launch/library.h"
#include "launch/program.h"
#include "launch/session.h"
#include "session/session_event.h"
#include "session/session_plan.h"
#include "wire/control.h"
#include "wire/cpu_file.h"
#include "wire/spool.h"

#define LITTLE_NS UINT64_C(10000000)
#define MANY_HZ   1000 /* in a second: who asks for more is told what it costs */
#define LEAST_US  3u   /* that the kernel needs for a sample */
#define MOST_US   20u  /* as of virtual machines: docs/performance.md */

static bool is_python(const struct ut_sampling *s)
{
	struct ut_arena arena = { 0 };
	struct ut_program program = { .python = false };

	if (s->plan->argc)
		ut_program_look(&program, &arena, s->plan->argv[0]);
	ut_arena_release(&arena);
	return program.python || s->plan->python.on;
}

static void remark(const struct ut_sampling *s, enum ut_log_level level, const char *text)
{
	ut_session_notify_text(
		s->client,
		(struct ut_session_event){ .kind = UT_SESSION_EVENT_REMARK, .level = level }, "%s",
		text);
}

/* Timers of CPU time are looked at by the kernel's tick. */
static uint64_t most_hz(uint64_t hz)
{
	struct timespec tick = { 0, 0 };
	uint64_t most;

	if (clock_getres(CLOCK_MONOTONIC_COARSE, &tick) || tick.tv_sec || !tick.tv_nsec)
		return hz;
	most = UINT64_C(1000000000) / (uint64_t)tick.tv_nsec;
	return hz < most ? hz : most;
}

void ut_sampling_prepare(struct ut_sampling *s, struct ut_arena *a, const char *collector,
			 const char **preload)
{
	const struct ut_sampling_opts *o = &s->plan->sampling;
	struct ut_err err = { 0 };
	bool refused;

	*preload = NULL;
	if (!o->hz || o->by == UT_SAMPLING_PERF)
		return;
	refused = ut_perf_ask(&err) != 0;
	if (!refused && o->by != UT_SAMPLING_TIMER)
		return;
	if (refused)
		remark(s, UT_WARN,
		       ut_str_fmt(a,
				  "%s. The program samples itself with timers instead: %" PRIu64
				  " times a second, and not in the kernel",
				  err.text, most_hz(o->hz)));
	if (ut_library_timer(a, collector, preload, &err)) {
		remark(s, UT_WARN, err.text);
		return;
	}
	s->timers = true;
	s->session->control->timer_period = UINT64_C(1000000000) / o->hz;
}

static int session_sampling_start(struct ut_sampling *s, pid_t pid, bool at_exec,
				  struct ut_err *err)
{
	const struct ut_sampling_opts *o = &s->plan->sampling;
	const struct ut_sampler_opts opts = { .dir = s->session->dir,
					      .name = at_exec ? ut_path_base(s->plan->argv[0]) : "",
					      .hz = o->hz,
					      .event = o->event,
					      .stacks = o->stacks,
					      .stack_bytes = (uint32_t)o->stack_bytes,
					      .waits = o->waits,
					      .children = s->plan->follow_children != 0,
					      .eager = is_python(s),
					      .timers = s->timers,
					      .control = s->session->control };

	s->sampler = ut_sampler_start(&opts, pid, at_exec, err);
	return s->sampler ? 0 : err->code;
}

void ut_sampling_start(struct ut_sampling *s, pid_t pid)
{
	struct ut_err err = { 0 };

	if (s->plan->sampling.hz && session_sampling_start(s, pid, true, &err))
		ut_session_notify_text(s->client,
				       (struct ut_session_event){ .kind = UT_SESSION_EVENT_REMARK,
								  .level = UT_WARN },
				       "no samples: %s", err.text);
}

int ut_sampling_attach(struct ut_sampling *s, pid_t pid, struct ut_err *err)
{
	return session_sampling_start(s, pid, false, err);
}

/* The program has never loaded the library, or has done next to nothing. */
static void report_no_timers(const struct ut_sampling *s, uint64_t used)
{
	struct ut_arena arena = { 0 };
	struct ut_program p = { .python = false };
	char time[32];
	const char *why = "it was too short, or it dropped LD_PRELOAD from its environment";

	ut_program_look(&p, &arena, s->plan->argv[0]);
	if (p.raised)
		why = "it runs with rights of its own (setuid, capabilities), and the system keeps "
		      "our library from such programs";
	else if (p.elf && p.is_static)
		why = "it is statically linked, so it cannot load the library that samples it";
	else if (used && used < LITTLE_NS)
		why = ut_str_fmt(&arena, "it used %s of CPU time, too little for a sample",
				 ut_time_text(time, sizeof(time), used));
	ut_session_notify_text(
		s->client,
		(struct ut_session_event){ .kind = UT_SESSION_EVENT_REMARK, .level = UT_WARN },
		"no samples of %s: %s", ut_path_base(s->plan->argv[0]), why);
	ut_arena_release(&arena);
}

/* The interrupt is the kernel's, and dearer on virtual machines: a range is all that is known. */
static void report_cost(const struct ut_sampling *s, const struct ut_sampler_result *r)
{
	const bool many = s->plan->sampling.hz > MANY_HZ && !s->plan->out.quiet;
	const struct ut_session_event event = { .kind = UT_SESSION_EVENT_REMARK,
						.level = many ? UT_INFO : UT_DEBUG };
	char reading[32], least[32], most[32];

	ut_session_notify_text(
		s->client, event,
		"%" PRIu64 " samples: reading them took %s of CPU time beside the program; "
		"in it, taking them took some %s (%u us each) to %s (%u us, on a virtual "
		"machine)",
		r->samples, ut_time_text(reading, sizeof(reading), r->reading),
		ut_time_text(least, sizeof(least), r->samples * LEAST_US * 1000), LEAST_US,
		ut_time_text(most, sizeof(most), r->samples * MOST_US * 1000), MOST_US);
}

static void session_sampling_report(const struct ut_sampling *s, const struct ut_sampler_result *r)
{
	const struct ut_session_event event = { .kind = UT_SESSION_EVENT_REMARK, .level = UT_WARN };

	if (s->timers && !r->programs && !r->off)
		report_no_timers(s, r->total);
	if (r->unarmed)
		ut_session_notify_text(s->client, event,
				       "%" PRIu64
				       " threads got no timer ('ulimit -i' is too low, or the "
				       "program forbids it) and have no samples",
				       r->unarmed);

	if (r->failure)
		ut_session_notify_text(
			s->client, event, "%" PRIu64 " samples could not be written: %s",
			r->unwritten,
			r->failure == UT_SPOOL_RESERVE
				? "the disk came down to its reserve (--disk-reserve)"
				: strerror(r->failure));
	report_cost(s, r);
	if (r->no_waits)
		ut_session_notify_text(
			s->client, event, "where threads wait is not sampled: %s",
			s->timers ? "that needs the kernel's samples"
				  : "'sysctl kernel.perf_event_paranoid=1' or CAP_PERFMON "
				    "allows it");
	if (r->no_lbr)
		ut_session_notify_text(
			s->client, event,
			"--call-graph lbr: this CPU or kernel does not remember calls for "
			"us; stacks were found from copies (dwarf)");
	if (r->old_python)
		ut_session_notify_text(
			s->client, event,
			"functions of Python %" PRIu32 ".%" PRIu32
			" are not known, only those of 3.9 and later: its time is that of the "
			"interpreter",
			r->old_python >> 8, r->old_python & 0xff);
	if (r->no_kernel && !s->plan->out.quiet)
		ut_session_notify_text(
			s->client,
			(struct ut_session_event){ .kind = UT_SESSION_EVENT_REMARK,
						   .level = UT_INFO },
			"time in the kernel is not sampled: "
			"'sysctl kernel.perf_event_paranoid=1' or CAP_PERFMON allows it");
}

/* The last one: a process that has executed another program has several. */
static int open_last(const struct ut_session *session, uint32_t pid, struct ut_cpu_header *last)
{
	struct ut_cpu_header h;
	struct dirent *e;
	DIR *d = opendir(session->dir);
	int found = -1;

	while (d && (e = readdir(d))) {
		int fd;

		if (!ut_str_ends(e->d_name, UT_CPU_SUFFIX) || strtoul(e->d_name, NULL, 10) != pid)
			continue;
		fd = openat(dirfd(d), e->d_name, O_RDWR | O_APPEND | O_CLOEXEC | O_NOFOLLOW);
		if (fd < 0)
			continue;
		if (pread(fd, &h, sizeof(h), 0) != sizeof(h) ||
		    (found >= 0 && h.start < last->start)) {
			close(fd);
			continue;
		}
		if (found >= 0)
			close(found);
		found = fd;
		*last = h;
	}
	if (d)
		closedir(d);
	return found;
}

void ut_sampling_ended(const struct ut_session *session, uint32_t pid, int status)
{
	struct {
		struct ut_cpu_rec_head head;
		struct ut_cpu_count ended;
	} rec = { { UT_CPU_ENDED, sizeof(rec) }, { 0, (uint64_t)status } };
	struct ut_cpu_header last = { 0 };
	int fd = status ? open_last(session, pid, &last) : -1;

	rec.ended.time = fd >= 0 ? last.end : 0;
	if (rec.ended.time) /* else the file is not whole: a full disk */
		(void)!write(fd, &rec, sizeof(rec));
	if (fd >= 0)
		close(fd);
}

void ut_sampling_stop(struct ut_sampling *s)
{
	struct ut_sampler_result result;

	if (!s->sampler)
		return;
	ut_sampler_stop(s->sampler, &result);
	s->sampler = NULL;
	session_sampling_report(s, &result);
}
