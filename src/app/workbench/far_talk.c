#include "workbench/far_talk.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static void forget(struct ut_talk *one)
{
	close(one->fd);
	ut_buf_release(&one->out);
	*one = (struct ut_talk){ 0 };
}

static struct ut_talk *find(struct ut_talks *t, uint64_t number)
{
	for (size_t i = 0; i < UT_TALKS_MOST; i++) {
		if (t->items[i].number == number)
			return &t->items[i];
	}
	return NULL;
}

bool ut_talks_has(const struct ut_talks *t, uint64_t number)
{
	for (size_t i = 0; i < UT_TALKS_MOST; i++) {
		if (t->items[i].number == number)
			return true;
	}
	return false;
}

bool ut_talks_add(struct ut_talks *t, uint64_t number, int fd)
{
	struct ut_talk *one = number && !ut_talks_has(t, number) ? find(t, 0) : NULL;

	if (!one || fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK) < 0) {
		close(fd);
		return false;
	}
	*one = (struct ut_talk){ .number = number, .fd = fd };
	return true;
}

void ut_talks_release(struct ut_talks *t)
{
	for (size_t i = 0; i < UT_TALKS_MOST; i++) {
		if (t->items[i].number)
			forget(&t->items[i]);
	}
}

/* False: nobody reads it any more. */
static bool write_some(struct ut_talk *one)
{
	while (one->done < one->out.len) {
		ssize_t n = send(one->fd, one->out.data + one->done, one->out.len - one->done,
				 MSG_NOSIGNAL);

		if (n < 0 && errno != EINTR)
			return errno == EAGAIN || errno == EWOULDBLOCK;
		one->done += n > 0 ? (size_t)n : 0;
	}
	one->out.len = one->done = 0;
	return true;
}

void ut_talks_take(struct ut_talks *t, uint64_t number, struct ut_str bytes)
{
	struct ut_talk *one = number ? find(t, number) : NULL;

	if (!one)
		return;
	one->is_over |= !bytes.len;
	if (one->out.len - one->done + bytes.len > UT_TALK_WAITING) {
		shutdown(one->fd, SHUT_RDWR); /* the end is read, and told, as any other */
		return;
	}
	ut_buf_add(&one->out, bytes.ptr, bytes.len);
}

void ut_talks_poll(const struct ut_talks *t, struct pollfd to[UT_TALKS_MOST])
{
	for (size_t i = 0; i < UT_TALKS_MOST; i++) {
		const struct ut_talk *one = &t->items[i];
		bool waits = one->done < one->out.len;

		to[i] = (struct pollfd){ .fd = one->number ? one->fd : -1,
					 .events = (short)(POLLIN | (waits ? POLLOUT : 0)) };
	}
}

/* A piece of what is said here; false at its end. */
static bool read_some(struct ut_talk *one, ut_talk_fn report, void *ctx)
{
	char piece[UT_TALK_PIECE];
	ssize_t got = recv(one->fd, piece, sizeof(piece), MSG_DONTWAIT);

	if (got > 0)
		report(ctx, one->number, (struct ut_str){ piece, (size_t)got });
	return got > 0 || (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR));
}

void ut_talks_move(struct ut_talks *t, ut_talk_fn report, void *ctx)
{
	for (size_t i = 0; i < UT_TALKS_MOST; i++) {
		struct ut_talk *one = &t->items[i];
		bool goes_on;

		if (!one->number)
			continue;
		goes_on = write_some(one) && read_some(one, report, ctx);
		if (goes_on && !(one->is_over && !one->out.len))
			continue;
		if (!one->is_over)
			report(ctx, one->number, (struct ut_str){ "", 0 });
		forget(one);
	}
}
