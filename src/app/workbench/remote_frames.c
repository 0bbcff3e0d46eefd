#include "workbench/remote_frames.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "workbench/folder.h"

#define HEAD_MOST 512u
#define LINE_MOST 1000u

static const char *const kinds[] = { "state",  "output", "log",   "file", "folder",
				     "answer", "over",   "sorry", "talk" };

#define KINDS (sizeof(kinds) / sizeof(kinds[0]))

bool ut_remote_name_fits(const char *name)
{
	const char *slash = strchr(name, '/');
	char folder[UT_NAME_MOST + 1];

	if (!slash)
		return ut_folder_name_fits(name);
	if ((size_t)(slash - name) >= sizeof(folder))
		return false;
	snprintf(folder, sizeof(folder), "%.*s", (int)(slash - name), name);
	return strstr(folder, ".modules") && !ut_str_ends(folder, ".session") &&
	       ut_folder_name_fits(folder) && ut_folder_name_fits(slash + 1);
}

void ut_remote_reader_add(struct ut_remote_reader *r, const char *bytes, size_t len)
{
	if (r->done) {
		memmove(r->bytes.data, r->bytes.data + r->done, r->bytes.len - r->done);
		r->bytes.len -= r->done;
		r->done = 0;
	}
	ut_buf_add(&r->bytes, bytes, len);
}

void ut_remote_reader_release(struct ut_remote_reader *r)
{
	ut_buf_release(&r->bytes);
	*r = (struct ut_remote_reader){ 0 };
}

static struct ut_str rest_of(const struct ut_remote_reader *r)
{
	return (struct ut_str){ r->bytes.data ? r->bytes.data + r->done : "",
				r->bytes.len - r->done };
}

bool ut_remote_reader_line(struct ut_remote_reader *r, char *to, size_t room)
{
	struct ut_str rest = rest_of(r);
	const char *end = rest.len ? memchr(rest.ptr, '\n', rest.len) : NULL;
	size_t len;

	if (!end && rest.len < LINE_MOST)
		return false;
	len = end ? (size_t)(end - rest.ptr) : rest.len;
	r->done += len + (end ? 1 : 0);
	if (len && rest.ptr[len - 1] == '\r')
		len--;
	snprintf(to, room, "%.*s", (int)(len < room ? len : room - 1), rest.ptr);
	return true;
}

/* A number of digits and a blank behind it. */
static bool remote_frames_read_number(const char **at, uint64_t *to)
{
	char *end;

	if (**at < '0' || **at > '9')
		return false;
	errno = 0;
	*to = strtoull(*at, &end, 10);
	if (errno || *end != ' ')
		return false;
	*at = end + 1;
	return true;
}

/* "KIND OFFSET LENGTH NAME" */
static bool remote_frames_read_head(const char *head, struct ut_remote_frame *f, uint64_t *length)
{
	size_t len = strcspn(head, " "), kind = 0;

	while (kind < KINDS && (strlen(kinds[kind]) != len || strncmp(kinds[kind], head, len) != 0))
		kind++;
	if (kind == KINDS || !head[len])
		return false;
	f->kind = (enum ut_remote_kind)kind;
	head += len + 1;
	if (!remote_frames_read_number(&head, &f->offset) ||
	    !remote_frames_read_number(&head, length) || *length > UT_REMOTE_FRAME_MOST ||
	    f->offset > INT64_MAX - UT_REMOTE_FRAME_MOST)
		return false;
	if (f->kind == UT_REMOTE_FILE ? !ut_remote_name_fits(head) : strcmp(head, "-") != 0)
		return false;
	snprintf(f->name, sizeof(f->name), "%s", head);
	return true;
}

int ut_remote_reader_next(struct ut_remote_reader *r, struct ut_remote_frame *f, struct ut_err *err)
{
	struct ut_str rest = rest_of(r);
	const char *end = rest.len ? memchr(rest.ptr, '\n', rest.len) : NULL;
	char head[HEAD_MOST];
	uint64_t length;
	size_t len = end ? (size_t)(end - rest.ptr) : rest.len;

	if (!end && len < HEAD_MOST)
		return 0;
	if (!end || len >= HEAD_MOST || memchr(rest.ptr, '\0', len))
		return ut_err_set(err, -EPROTO, "the other side does not speak as our agent does");
	memcpy(head, rest.ptr, len);
	head[len] = '\0';
	if (!remote_frames_read_head(head, f, &length))
		return ut_err_set(err, -EPROTO, "the other side does not speak as our agent does");
	if (rest.len - len - 1 < length)
		return 0;
	f->bytes = (struct ut_str){ end + 1, (size_t)length };
	r->done += len + 1 + (size_t)length;
	r->since = 0;
	return 1;
}

bool ut_remote_reader_is_late(struct ut_remote_reader *r, int64_t now)
{
	if (r->done == r->bytes.len)
		r->since = 0;
	else if (!r->since)
		r->since = now;
	return r->since && now - r->since > UT_REMOTE_FRAME_MS;
}

int ut_remote_write(int fd, enum ut_remote_kind kind, const char *name, uint64_t offset,
		    struct ut_str bytes)
{
	char head[HEAD_MOST];
	int len = snprintf(head, sizeof(head), "%s %" PRIu64 " %zu %s\n", kinds[kind], offset,
			   bytes.len, name);
	struct ut_str parts[2] = { { head, (size_t)len }, bytes };

	for (int i = 0; i < 2; i++) {
		while (parts[i].len) {
			ssize_t n = write(fd, parts[i].ptr, parts[i].len);

			if (n < 0 && errno != EINTR)
				return -errno;
			if (n > 0)
				parts[i] = ut_str_from(parts[i], parts[i].ptr + n);
		}
	}
	return 0;
}
