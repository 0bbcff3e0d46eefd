#include "workbench/output_log.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/grow.h"
#include "base/str.h"
#include "workbench/data_dir.h"
#include "workbench/folder.h"

#define MORE_FILE "output.more.txt"
#define NEW_FILE  ".output.more.new"
#define LINE      "[unitrace: %" PRIu64 " bytes were left out here]\n"
#define LINE_MOST 80

static int open_new(int at, const char *name)
{
	return openat(at, name, O_RDWR | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);
}

int ut_output_log_open(struct ut_output_log *l, int at, struct ut_err *err)
{
	*l = (struct ut_output_log){ .at = at, .head = open_new(at, UT_OUTPUT_FILE), .tail = -1 };
	return l->head < 0 ? ut_err_set(err, -errno, UT_OUTPUT_FILE ": %s", strerror(errno)) : 0;
}

void ut_output_log_close(struct ut_output_log *l)
{
	if (l->head >= 0)
		close(l->head);
	if (l->tail >= 0)
		close(l->tail);
	l->head = l->tail = -1;
}

/* A full disk is no reason to stop the program: what cannot be kept is gone. */
static size_t output_log_put(int fd, const char *text, size_t len)
{
	size_t done = 0;

	while (done < len) {
		ssize_t n = write(fd, text + done, len - done);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		done += (size_t)n;
	}
	return done;
}

static int begin_tail(struct ut_output_log *l)
{
	char line[LINE_MOST];
	int fd = open_new(l->at, NEW_FILE);

	if (fd < 0)
		return -1;
	output_log_put(fd, line, (size_t)snprintf(line, sizeof(line), LINE, l->gap));
	return fd;
}

/* Only the end of the tail stays, in a file that takes its place: readers see one or the other. */
static void shorten(struct ut_output_log *l)
{
	char *kept = ut_make(UT_OUTPUT_TAIL);
	off_t end = lseek(l->tail, 0, SEEK_END);
	ssize_t got = pread(l->tail, kept, UT_OUTPUT_TAIL, end - (off_t)UT_OUTPUT_TAIL);
	uint64_t gap = l->gap;
	int fd;

	if (got == (ssize_t)UT_OUTPUT_TAIL) {
		l->gap += l->tail_bytes - UT_OUTPUT_TAIL;
		fd = begin_tail(l);
		if (fd >= 0 && !renameat(l->at, NEW_FILE, l->at, MORE_FILE)) {
			output_log_put(fd, kept, UT_OUTPUT_TAIL);
			close(l->tail);
			l->tail = fd;
			l->tail_bytes = UT_OUTPUT_TAIL;
		} else {
			l->gap = gap;
			if (fd >= 0)
				close(fd);
		}
	}
	free(kept);
}

void ut_output_log_add(struct ut_output_log *l, const char *text, size_t len)
{
	size_t some = UT_OUTPUT_HEAD - (size_t)l->head_bytes;

	if (some > len)
		some = len;
	if (some)
		l->head_bytes += output_log_put(l->head, text, some);
	text += some;
	len -= some;
	if (!len)
		return;
	if (l->tail < 0) {
		l->tail = begin_tail(l);
		if (l->tail < 0 || renameat(l->at, NEW_FILE, l->at, MORE_FILE))
			return;
	}
	l->tail_bytes += output_log_put(l->tail, text, len);
	if (l->tail_bytes > 4u * UT_OUTPUT_TAIL)
		shorten(l);
}

/* ---- reading -------------------------------------------------------------------------------- */

/* So many bytes of fd from a place on, behind text. */
static void output_log_take(int fd, uint64_t place, size_t most, struct ut_buf *text)
{
	char *to = ut_buf_reserve(text, most);
	ssize_t got = pread(fd, to, most, (off_t)place);

	if (got > 0)
		ut_buf_advance(text, to + got);
}

/* Where the tail begins in its file, and how much is gone before it. */
static bool look_at_tail(int fd, uint64_t *start, uint64_t *gap)
{
	char line[LINE_MOST + 1];
	ssize_t got = pread(fd, line, LINE_MOST, 0);
	const char *end;

	if (got <= 0)
		return false;
	line[got] = '\0';
	end = strchr(line, '\n');
	if (!end || sscanf(line, "[unitrace: %" SCNu64 " bytes", gap) != 1)
		return false;
	*start = (uint64_t)(end - line) + 1;
	return true;
}

int ut_output_log_read(int at, uint64_t *from, size_t most, struct ut_buf *text, uint64_t *next,
		       struct ut_err *err)
{
	uint64_t head = 0, tail = 0, start = 0, gap = 0, begin;
	int head_fd = ut_folder_open_file(at, UT_OUTPUT_FILE, &head, err), tail_fd;

	if (head_fd < 0)
		return head_fd;
	tail_fd = ut_folder_open_file(at, MORE_FILE, &tail, NULL);
	if (tail_fd >= 0 && !look_at_tail(tail_fd, &start, &gap)) {
		close(tail_fd);
		tail_fd = -1;
	}
	begin = head + gap; /* of the tail */
	*next = tail_fd < 0 ? head : begin + (tail - start);
	if (*from > *next)
		*from = *next;
	if (*from >= head && *from < begin)
		*from = begin;
	if (*from < head)
		output_log_take(head_fd, *from, head - *from < most ? (size_t)(head - *from) : most,
				text);
	else if (tail_fd >= 0 && *next - *from > most)
		*from = *next - most;
	if (tail_fd >= 0 && *from >= begin)
		output_log_take(tail_fd, start + (*from - begin), (size_t)(*next - *from), text);
	*next = *from + text->len;
	close(head_fd);
	if (tail_fd >= 0)
		close(tail_fd);
	return 0;
}
