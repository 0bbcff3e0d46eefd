/* fuzz_kmd.c - libFuzzer target: any bytes as what a script of bpftrace has printed. */
#include <fcntl.h>
#include <stdint.h>
#include <unistd.h>

#include "base/arena.h"
#include "bytes.h"
#include "model/event.h"
#include "model/sink.h"
#include "model/trace.h"
#include "session/kmd.h"
#include "session/session_event.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static uint64_t seen;

static void take(struct ut_sink *sink, const struct ut_trace *t, const struct ut_event *e)
{
	(void)sink;
	need(e->track < t->track_count && e->ts <= e->ts + e->val, "a span lies on a row, in time");
	seen++;
}

static void hear(void *ctx, const struct ut_session_event *event)
{
	(void)ctx;
	(void)event;
}

/* The folder is made once; what is in it, each time. */
static const char *folder_with(const uint8_t *data, size_t size)
{
	static char dir[64] = "/dev/shm/ut_fuzz_kmd.XXXXXX";
	static int folder = -1;
	int fd;

	if (folder < 0) {
		need(mkdtemp(dir) != NULL, "a folder can be made");
		folder = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	}
	fd = openat(folder, "kmd.csv", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	need(fd >= 0 && write(fd, data, size) == (ssize_t)size, "a file can be written");
	close(fd);
	return dir;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct ut_session_client client = { .notify = hear };
	struct ut_sink sink = { .event = take };
	struct ut_arena a = { 0 };
	struct ut_trace trace;
	uint64_t lines = 1;

	ut_trace_init(&trace);
	seen = 0;
	need(ut_kmd_send(&a, folder_with(data, size), &trace, &sink, &client) == seen,
	     "what is counted was sent");
	for (size_t i = 0; i < size; i++)
		lines += data[i] == '\n';
	need(seen <= lines, "a line is one event at most");
	ut_trace_release(&trace);
	ut_arena_release(&a);
	return 0;
}
