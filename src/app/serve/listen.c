/* listen.c - the socket of a server. */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "serve/serve_parts.h"

#define BACKLOG 1024 /* or what the system allows */

/* Somewhere to listen: of this machine alone, or of both kinds of addresses. */
union place {
	struct sockaddr any;
	struct sockaddr_in four;
	struct sockaddr_in6 six;
};

static socklen_t make_place(union place *at, bool anywhere, bool six, uint16_t port)
{
	memset(at, 0, sizeof(*at));
	if (six) {
		at->six.sin6_family = AF_INET6;
		at->six.sin6_port = htons(port);
		at->six.sin6_addr = in6addr_any;
		return sizeof(at->six);
	}
	at->four.sin_family = AF_INET;
	at->four.sin_port = htons(port);
	at->four.sin_addr.s_addr = htonl(anywhere ? INADDR_ANY : INADDR_LOOPBACK);
	return sizeof(at->four);
}

static uint16_t port_of(const union place *at)
{
	return ntohs(at->any.sa_family == AF_INET6 ? at->six.sin6_port : at->four.sin_port);
}

/* -errno on failure. */
static int try_place(bool anywhere, bool six, uint16_t *port)
{
	union place at;
	socklen_t len = make_place(&at, anywhere, six, *port);
	int fd = socket(at.any.sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), one = 1,
	    code;

	if (fd < 0)
		return -errno;
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (six) {
		int both = 0;

		setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &both, sizeof(both));
	}
	if (!bind(fd, &at.any, len) && !listen(fd, BACKLOG) && !getsockname(fd, &at.any, &len)) {
		*port = port_of(&at);
		return fd;
	}
	code = errno;
	close(fd);
	return -code;
}

int ut_serve_listen(const struct ut_serve_opts *opts, uint16_t *port, struct ut_err *err)
{
	const char *option = opts->port_option ? opts->port_option : "--port";
	int fd = -EAFNOSUPPORT;

	*port = opts->port;
	if (opts->listen_fd > 0) {
		*port = 0;
		return opts->listen_fd;
	}
	if (opts->anywhere)
		fd = try_place(true, true, port);
	if (fd == -EAFNOSUPPORT || fd == -EADDRNOTAVAIL) /* a machine without IPv6, too */
		fd = try_place(opts->anywhere, false, port);
	if (fd >= 0)
		return fd;
	return ut_err_set(err, fd, "port %u: %s; %s chooses another one, %s 0 a free one",
			  (unsigned int)opts->port, strerror(-fd), option, option);
}
