#include "workbench/remote_tunnel.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static void remote_tunnel_forget(struct ut_tunnel *one)
{
	close(one->fd);
	ut_buf_release(&one->out);
	*one = (struct ut_tunnel){ 0 };
}

static struct ut_tunnel *remote_tunnel_find(struct ut_tunnels *t, uint64_t number)
{
	for (size_t i = 0; i < UT_TUNNELS_MAX; i++) {
		if (t->items[i].number == number)
			return &t->items[i];
	}
	return NULL;
}

bool ut_tunnels_has(const struct ut_tunnels *t, uint64_t number)
{
	for (size_t i = 0; i < UT_TUNNELS_MAX; i++) {
		if (t->items[i].number == number)
			return true;
	}
	return false;
}

bool ut_tunnels_add(struct ut_tunnels *t, uint64_t number, int fd)
{
	struct ut_tunnel *one =
		number && !ut_tunnels_has(t, number) ? remote_tunnel_find(t, 0) : NULL;

	if (!one || fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK) < 0) {
		close(fd);
		return false;
	}
	*one = (struct ut_tunnel){ .number = number, .fd = fd };
	return true;
}

void ut_tunnels_release(struct ut_tunnels *t)
{
	for (size_t i = 0; i < UT_TUNNELS_MAX; i++) {
		if (t->items[i].number)
			remote_tunnel_forget(&t->items[i]);
	}
}

/* False: nobody reads it any more. */
static bool write_some(struct ut_tunnel *one)
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

void ut_tunnels_take(struct ut_tunnels *t, uint64_t number, struct ut_str bytes)
{
	struct ut_tunnel *one = number ? remote_tunnel_find(t, number) : NULL;

	if (!one)
		return;
	one->is_over |= !bytes.len;
	if (one->out.len - one->done + bytes.len > UT_TUNNEL_WAITING) {
		shutdown(one->fd, SHUT_RDWR); /* the end is read, and told, as any other */
		return;
	}
	ut_buf_add(&one->out, bytes.ptr, bytes.len);
}

void ut_tunnels_poll(const struct ut_tunnels *t, struct pollfd to[UT_TUNNELS_MAX])
{
	for (size_t i = 0; i < UT_TUNNELS_MAX; i++) {
		const struct ut_tunnel *one = &t->items[i];
		bool waits = one->done < one->out.len;

		to[i] = (struct pollfd){ .fd = one->number ? one->fd : -1,
					 .events = (short)(POLLIN | (waits ? POLLOUT : 0)) };
	}
}

/* A piece of what is said here; false at its end. */
static bool read_some(struct ut_tunnel *one, ut_tunnel_fn report, void *ctx)
{
	char piece[UT_TUNNEL_PIECE];
	ssize_t got = recv(one->fd, piece, sizeof(piece), MSG_DONTWAIT);

	if (got > 0)
		report(ctx, one->number, (struct ut_str){ piece, (size_t)got });
	return got > 0 || (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR));
}

void ut_tunnels_move(struct ut_tunnels *t, ut_tunnel_fn report, void *ctx)
{
	for (size_t i = 0; i < UT_TUNNELS_MAX; i++) {
		struct ut_tunnel *one = &t->items[i];
		bool goes_on;

		if (!one->number)
			continue;
		goes_on = write_some(one) && read_some(one, report, ctx);
		if (goes_on && !(one->is_over && !one->out.len))
			continue;
		if (!one->is_over)
			report(ctx, one->number, (struct ut_str){ "", 0 });
		remote_tunnel_forget(one);
	}
}
