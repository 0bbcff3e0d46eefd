#include "session/event_file.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/str.h"
#include "text/json_write.h"

static const char *const words[] = {
	[UT_SESSION_EVENT_REMARK] = "remark",
	[UT_SESSION_EVENT_SHARED_NAME] = "shared-name",
	[UT_SESSION_EVENT_RANK_LEFT_OUT] = "rank-left-out",
	[UT_SESSION_EVENT_STARTING] = "starting",
	[UT_SESSION_EVENT_GROWING] = "growing",
	[UT_SESSION_EVENT_SIZE] = "size",
	[UT_SESSION_EVENT_NOT_STARTED] = "not-started",
	[UT_SESSION_EVENT_ENDED] = "ended",
	[UT_SESSION_EVENT_COULD_NOT_RECORD] = "could-not-record",
	[UT_SESSION_EVENT_PROGRESS] = "progress",
	[UT_SESSION_EVENT_SILENT_PROCESS] = "silent-process",
	[UT_SESSION_EVENT_TIMELINE] = "timeline",
	[UT_SESSION_EVENT_REPORT] = "report",
	[UT_SESSION_EVENT_TABLE] = "table",
	[UT_SESSION_EVENT_LOST] = "lost",
	[UT_SESSION_EVENT_EMPTY] = "nothing",
	[UT_SESSION_EVENT_NO_DEVICE] = "no-device",
	[UT_SESSION_EVENT_RESULTS] = "results",
	[UT_SESSION_EVENT_TEST_TRACES] = "test-traces",
	[UT_SESSION_EVENT_STILL_RUNNING] = "still-running",
	[UT_SESSION_EVENT_KEPT] = "kept",
	[UT_SESSION_EVENT_FAILED] = "failed",
	[UT_SESSION_EVENT_FINISHED] = "finished",
};

#define WORDS (sizeof(words) / sizeof(words[0]))

const char *ut_session_event_name(enum ut_session_event_kind kind)
{
	return (size_t)kind < WORDS && words[kind] ? words[kind] : "remark";
}

int ut_event_file_open(struct ut_event_file *f, const char *path, struct ut_err *err)
{
	*f = (struct ut_event_file){ .fd = -1 };
	if (!path)
		return 0;
	f->fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOCTTY, 0666);
	return f->fd < 0 ? ut_err_set(err, -errno, "--event-log %s: %s", path, strerror(errno)) : 0;
}

void ut_event_file_close(struct ut_event_file *f)
{
	if (f->fd >= 0)
		close(f->fd);
	f->fd = -1;
}

static void write_values(struct ut_json_writer *w, const struct ut_session_event *n)
{
	static const char *const levels[] = { "error", "warning", "info", "debug" };

	ut_write_text(w, "kind", ut_session_event_name(n->kind));
	if (n->text)
		ut_write_text(w, "level", levels[n->level]);
	if (n->module)
		ut_write_text(w, "room", n->module);
	if (n->text)
		ut_write_text(w, "text", n->text);
	if (n->path)
		ut_write_text(w, "path", n->path);
	if (n->paths) {
		ut_write_open(w, "paths", '[');
		for (uint64_t i = 0; i < n->count; i++)
			ut_write_text(w, NULL, n->paths[i]);
		ut_write_close(w, ']');
	}
	if (n->count)
		ut_write_u64(w, "count", n->count);
	if (n->pid)
		ut_write_u64(w, "pid", n->pid);
	if (n->kind == UT_SESSION_EVENT_RESULTS || n->kind == UT_SESSION_EVENT_RANK_LEFT_OUT)
		ut_write_i64(w, "rank", n->rank);
	if (n->kind == UT_SESSION_EVENT_ENDED || n->kind == UT_SESSION_EVENT_FINISHED)
		ut_write_i64(w, "status", n->status);
	if (n->code)
		ut_write_i64(w, "code", n->code);
}

static double event_file_now_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	return (double)t.tv_sec + round((double)t.tv_nsec / 1e6) / 1e3;
}

void ut_event_file_write(struct ut_event_file *f, const struct ut_session_event *event)
{
	struct ut_buf line = { 0 };
	struct ut_json_writer w = { .to = &line };
	double now = event_file_now_s();
	ssize_t reported;

	if (f->fd < 0)
		return;
	if (event->kind == UT_SESSION_EVENT_PROGRESS && (!event->text || now - f->progress < 1))
		return;
	if (event->kind == UT_SESSION_EVENT_PROGRESS)
		f->progress = now;
	ut_write_open(&w, NULL, '{');
	ut_write_double(&w, "time", now);
	write_values(&w, event);
	ut_write_close(&w, '}');
	ut_buf_char(&line, '\n');
	reported = write(f->fd, line.data, line.len);
	(void)reported; /* a full disk: results have more to say about that */
	ut_buf_release(&line);
}
