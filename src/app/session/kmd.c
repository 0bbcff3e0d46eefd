#include "session/kmd.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/grow.h"
#include "base/path.h"
#include "base/str.h"
#include "export/exporter.h"
#include "model/event.h"
#include "model/sink.h"
#include "model/trace.h"
#include "session/outputs.h"
#include "session/session_event.h"
#include "text/out.h"
#include "wire/clock.h"

#define EVENTS     "kmd.csv"
#define SAID       "kmd.log"
#define PIPE       "kmd.pipe"
#define START_MS   30000u /* scripts are compiled, and probes put in place, for seconds */
#define END_MS     10000u
#define STEP_NS    2000000
#define SHORT_WAIT 1000000u            /* ns: between two looks at clocks */
#define MOST_NS    (UINT64_C(1) << 62) /* no time is later: begin and length can be added up */
#define MOST_EVENT 200u
#define MOST_DATA  1000u

/* ---- bpftrace ------------------------------------------------------------------------------ */

static void remark(const struct ut_session_client *client, const char *what, const char *why)
{
	ut_session_notify_text(
		client,
		(struct ut_session_event){ .kind = UT_SESSION_EVENT_REMARK, .level = UT_WARN },
		"--chrome-kmd-logging: %s%s%s", what, why && why[0] ? ": " : "", why ? why : "");
}

/* In the child. Ctrl-C is for the program; bpftrace ends when we say so. */
static _Noreturn void become(const char *const *argv, const char *said)
{
	int to = open(said, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	int from = open("/dev/null", O_RDONLY | O_CLOEXEC);
	sigset_t none;

	setsid();
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	if (from >= 0)
		dup2(from, 0);
	if (to >= 0) {
		dup2(to, 1);
		dup2(to, 2);
	}
	execvp(argv[0], (char *const *)(uintptr_t)argv);
	_exit(127);
}

/* The last error that it told, or else its last line; empty if there is none. */
static const char *kmd_reason(struct ut_arena *a, const char *dir)
{
	FILE *f = fopen(ut_path_join(a, dir, SAID), "re");
	char line[300], last[300] = "";

	while (f && fgets(line, sizeof(line), f)) {
		line[strcspn(line, "\r\n")] = '\0';
		if (line[0] && (strstr(line, "ERROR") || !strstr(last, "ERROR")))
			memcpy(last, line, sizeof(last));
	}
	if (f)
		fclose(f);
	return ut_arena_copy(a, last, strlen(last));
}

static bool kmd_has_ended(struct ut_kmd *k, int *status)
{
	return waitpid(k->pid, status, WNOHANG) == k->pid;
}

static void nap(void)
{
	const struct timespec step = { 0, STEP_NS };

	nanosleep(&step, NULL);
}

/* Its command opens the other end when all probes are in place. */
static bool wait_until_ready(struct ut_kmd *k, const char *pipe, int *status)
{
	for (uint32_t ms = 0; ms < START_MS; ms += STEP_NS / 1000000) {
		k->pipe = open(pipe, O_WRONLY | O_NONBLOCK | O_CLOEXEC);
		if (k->pipe >= 0)
			return true;
		if (kmd_has_ended(k, status)) {
			k->pid = 0;
			return false;
		}
		nap();
	}
	return false;
}

static void explain(struct ut_kmd *k, struct ut_arena *a, int status,
		    const struct ut_session_client *client)
{
	if (WIFEXITED(status) && WEXITSTATUS(status) == 127)
		remark(client, "bpftrace is not installed; nothing of the system is recorded",
		       NULL);
	else if (geteuid() != 0)
		remark(client, "bpftrace needs root; nothing of the system is recorded",
		       kmd_reason(a, k->dir));
	else
		remark(client,
		       "bpftrace does not run the script; nothing of the system is recorded",
		       kmd_reason(a, k->dir));
}

void ut_kmd_start(struct ut_kmd *k, struct ut_arena *a, const char *script, const char *dir,
		  const struct ut_session_client *client)
{
	const char *pipe = ut_path_join(a, dir, PIPE);
	const char *argv[] = { "bpftrace", "-q", "-o",   ut_path_join(a, dir, EVENTS),
			       "-c",       NULL, script, NULL };
	int status = 0;

	*k = (struct ut_kmd){ .pipe = -1, .dir = dir };
	if (!script)
		return;
	argv[5] = ut_str_fmt(a, "/bin/cat %s", pipe);
	if (strpbrk(pipe, " \t\n\"'\\") || mkfifo(pipe, 0600)) {
		remark(client, "no pipe can be made in the session's folder", dir);
		return;
	}
	k->pid = fork();
	if (k->pid == 0)
		become(argv, ut_path_join(a, dir, SAID));
	if (k->pid < 0) {
		remark(client, "bpftrace cannot be started", strerror(errno));
		k->pid = 0;
	} else if (!wait_until_ready(k, pipe, &status)) {
		if (k->pid)
			remark(client, "bpftrace was not ready in time", NULL);
		else
			explain(k, a, status, client);
		ut_kmd_stop(k, a, client);
	}
}

void ut_kmd_stop(struct ut_kmd *k, struct ut_arena *a, const struct ut_session_client *client)
{
	int status = 0;

	if (k->pipe >= 0)
		close(k->pipe);
	k->pipe = -1;
	if (!k->pid)
		return;
	for (uint32_t ms = 0; ms < END_MS && !kmd_has_ended(k, &status); ms += STEP_NS / 1000000)
		nap();
	if (waitpid(k->pid, &status, WNOHANG) == 0) {
		remark(client, "bpftrace did not end and was killed", kmd_reason(a, k->dir));
		kill(k->pid, SIGKILL);
		while (waitpid(k->pid, &status, 0) < 0 && errno == EINTR)
			;
	}
	k->pid = 0;
}

/* ---- what it wrote ------------------------------------------------------------------------- */

struct kmd_event {
	uint64_t tid, start, took;
	const char *name, *data; /* data NULL = none */
};

struct kmd_events {
	struct kmd_event *items;
	size_t count, cap;
	uint64_t odd; /* lines that are no events */
};

/* The number in front of a comma or the end; false: there is none. */
static bool kmd_number(char **p, uint64_t *value)
{
	char *end;

	if (**p < '0' || **p > '9')
		return false;
	errno = 0;
	*value = strtoull(*p, &end, 10);
	if (errno || (*end && *end != ','))
		return false;
	*p = *end ? end + 1 : end;
	return true;
}

static bool kmd_parse(char *line, struct kmd_event *e)
{
	char *name, *comma;

	line[strcspn(line, "\r\n")] = '\0';
	if (!kmd_number(&line, &e->tid))
		return false;
	name = line;
	comma = strchr(line, ',');
	if (!comma || comma == name)
		return false;
	*comma = '\0';
	line = comma + 1;
	if (!kmd_number(&line, &e->start) || !kmd_number(&line, &e->took) || e->start > MOST_NS ||
	    e->took > MOST_NS)
		return false;
	e->name = name;
	e->data = *line ? line : NULL;
	return true;
}

static int by_thread_and_time(const void *a, const void *b)
{
	const struct kmd_event *x = a, *y = b;

	if (x->tid != y->tid)
		return x->tid < y->tid ? -1 : 1;
	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return x->took > y->took ? -1 : x->took < y->took;
}

static void kmd_read_events(struct ut_arena *a, FILE *f, struct kmd_events *all)
{
	char *line = NULL;
	size_t room = 0;

	while (getline(&line, &room, f) >= 0) {
		struct kmd_event e;

		if (line[0] == '\n')
			continue;
		if (!kmd_parse(line, &e)) {
			all->odd++;
			continue;
		}
		e.name = ut_arena_copy(a, e.name, strnlen(e.name, MOST_EVENT));
		if (e.data)
			e.data = ut_arena_copy(a, e.data, strnlen(e.data, MOST_DATA));
		all->items = ut_grow(all->items, all->count + 1, &all->cap, sizeof(*all->items));
		all->items[all->count++] = e;
	}
	free(line);
	if (all->count)
		qsort(all->items, all->count, sizeof(*all->items), by_thread_and_time);
}

static uint64_t apart(uint64_t a, uint64_t b)
{
	return a > b ? a - b : b - a;
}

/*
 * bpftrace counts since boot, or, where the kernel does not say that, without the time that the
 * machine was asleep, as we do. The last event was not long ago: what is to be taken off?
 */
static uint64_t time_asleep(const struct kmd_events *all)
{
	uint64_t mono = ut_clock_ns(CLOCK_MONOTONIC), boot = ut_clock_ns(CLOCK_BOOTTIME), last = 0;

	for (size_t i = 0; i < all->count; i++)
		last = all->items[i].start > last ? all->items[i].start : last;
	return boot - mono > SHORT_WAIT && apart(boot, last) < apart(mono, last) ? boot - mono : 0;
}

static uint32_t add_process(struct ut_trace *t)
{
	uint32_t number = ut_trace_add_process(t, 0);
	char host[256] = "", text[300];

	(void)gethostname(host, sizeof(host) - 1);
	snprintf(text, sizeof(text), "HOST-OS-KMD<%s>", host);
	t->processes[number].name = ut_strtab_intern_z(&t->strings, text);
	t->processes[number].host = number ? t->processes[0].host : 0;
	t->processes[number].rank = number ? t->processes[0].rank : -1;
	return number;
}

static void kmd_send(const struct kmd_events *all, struct ut_trace *t, struct ut_sink *sink)
{
	uint32_t process = add_process(t), track = 0;
	uint32_t data = ut_strtab_intern_z(&t->strings, "data");
	uint32_t cat = ut_strtab_intern_z(&t->strings, "os_op");
	uint64_t asleep = time_asleep(all);

	for (size_t i = 0; i < all->count; i++) {
		const struct kmd_event *k = &all->items[i];
		size_t mark = t->arg_count;
		struct ut_event e = { .ts = k->start > asleep ? k->start - asleep : 0,
				      .val = k->took,
				      .cat = cat };

		if (!i || k->tid != k[-1].tid) {
			track = ut_trace_add_track(t, process, UT_TRACK_THREAD);
			t->tracks[track].id = k->tid;
		}
		e.track = track;
		e.name = ut_strtab_intern_z(&t->strings, k->name);
		if (k->data) {
			ut_trace_add_arg(t, data, UT_ARG_STR)->value.str =
				ut_strtab_intern_z(&t->strings, k->data);
			e.args = (uint32_t)mark;
			ut_trace_close_args(t);
		}
		ut_sink_event(sink, t, &e);
		ut_trace_drop_args(t, mark);
	}
}

uint64_t ut_kmd_send(struct ut_arena *a, const char *dir, struct ut_trace *trace,
		     struct ut_sink *sink, const struct ut_session_client *client)
{
	FILE *f = fopen(ut_path_join(a, dir, EVENTS), "re");
	struct kmd_events all = { 0 };
	char text[32];

	if (!f)
		return 0;
	kmd_read_events(a, f, &all);
	fclose(f);
	if (all.count)
		kmd_send(&all, trace, sink);
	if (all.odd) {
		snprintf(text, sizeof(text), "%" PRIu64, all.odd);
		remark(client, "lines of the script that are not TID,EVENT,START,DURATION[,DATA]",
		       text);
	}
	free(all.items);
	return all.count;
}

int ut_kmd_write_alone(struct ut_outputs *o, const char *dir, const struct ut_output_who *who,
		       struct ut_err *err)
{
	const char *name = who->rank < 0
				   ? ut_str_fmt(&o->arena, "oskmd.%" PRIu32 ".json", who->pid)
				   : ut_str_fmt(&o->arena, "oskmd.%" PRIu32 ".%" PRId32 ".json",
						who->pid, who->rank);
	const char *folder = o->opts->result_dir ? o->opts->result_dir : o->opts->dir;
	const char *path = folder ? ut_path_join(&o->arena, folder, name) : name;
	struct ut_trace trace;
	struct ut_sink *sink;
	struct ut_out *out;
	uint64_t count;
	int rc;

	if (!ut_path_exists(ut_path_join(&o->arena, dir, EVENTS)))
		return 0;
	rc = ut_path_mkdirs(ut_path_dir(&o->arena, path), err);
	if (rc)
		return rc;
	out = ut_outputs_open(o, path);
	sink = ut_export_chrome.open(out);
	ut_trace_init(&trace);
	count = ut_kmd_send(&o->arena, dir, &trace, sink, &o->client);
	ut_export_chrome.end_trace(sink, &trace);
	ut_export_chrome.close(sink);
	ut_trace_release(&trace);
	if (!count) {
		ut_out_abandon(out);
		return 0;
	}
	o->kmd_sent += count;
	rc = ut_out_commit_as(out, &o->arena, &path, err);
	if (!rc)
		ut_session_notify_text(&o->client,
				       (struct ut_session_event){ .kind = UT_SESSION_EVENT_REMARK,
								  .level = UT_INFO },
				       "KMD profiling data are stored in %s", path);
	return rc;
}
