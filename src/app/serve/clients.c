/*
 * clients.c - connections: how long they may take, and which of them go when there are too many.
 *
 * A connection is cheap for a client and a thread for us. So one that is not known to be a user's
 * makes room when a new one comes and few places are left: the oldest goes, and a user whose
 * request follows at once is answered however many others wait silently.
 */
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

#include "base/grow.h"
#include "serve/serve_parts.h"

#define SHARE   2u /* an address may hold one half of all places before it is known, ... */
#define RESERVE 8u /* ... and one eighth of them is kept for those who come */

int64_t ut_serve_now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/*
 * Where a connection comes from, as far as limits are concerned. One machine has many addresses:
 * 127.0.0.0/8, and of version 6 whatever has the same first 64 bits. 0 = through a socket of ours.
 */
static uint64_t origin_of(const struct sockaddr *at)
{
	const unsigned char *six;
	uint64_t key = 0;
	uint32_t four;

	if (at && at->sa_family == AF_INET) {
		four = ntohl(((const struct sockaddr_in *)(const void *)at)->sin_addr.s_addr);
	} else if (at && at->sa_family == AF_INET6) {
		six = ((const struct sockaddr_in6 *)(const void *)at)->sin6_addr.s6_addr;
		if (!IN6_IS_ADDR_V4MAPPED((const struct in6_addr *)(const void *)six)) {
			memcpy(&key, six, sizeof(key));
			return key ? key : 1; /* ::1 */
		}
		four = (uint32_t)six[12] << 24 | (uint32_t)six[13] << 16 | (uint32_t)six[14] << 8 |
		       six[15];
	} else {
		return 0;
	}
	return four >> 24 == 127 ? 1 : UINT64_C(1) << 32 | four;
}

static void clients_cut(struct ut_client *c)
{
	shutdown(c->fd, SHUT_RDWR);
	c->is_cut = true;
}

/* With the lock; added is the first in the list, and the oldest is the last. */
static void clients_make_room(struct ut_serve *s, const struct ut_client *added)
{
	unsigned int all = 0, same = 0;
	struct ut_client *oldest = NULL, *oldest_same = NULL, *idle = NULL;

	if (!added->origin)
		return;
	for (struct ut_client *c = s->clients; c; c = c->next) {
		if (c->is_cut)
			continue;
		all++;
		if (c == added)
			continue;
		if (c->is_known && !c->is_busy)
			idle = c;
		if (c->is_known)
			continue;
		oldest = c;
		if (c->origin != added->origin)
			continue;
		oldest_same = c;
		same++;
	}
	if (same >= s->opts.clients / SHARE)
		clients_cut(oldest_same);
	else if (all > s->opts.clients - s->opts.clients / RESERVE && (oldest || idle))
		clients_cut(oldest ? oldest : idle);
}

void ut_clients_notify(void *ctx, struct MHD_Connection *connection, void **state,
		       enum MHD_ConnectionNotificationCode what)
{
	const union MHD_ConnectionInfo *info;
	struct ut_serve *s = ctx;
	struct ut_client *c = *state;

	pthread_mutex_lock(&s->lock);
	if (what == MHD_CONNECTION_NOTIFY_STARTED) {
		c = ut_make(sizeof(*c));
		c->fd = ut_mhd.get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD)
				->connect_fd;
		info = ut_mhd.get_connection_info(connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
		c->origin = origin_of(info ? info->client_addr : NULL);
		c->deadline = ut_serve_now_ms() + UT_HEAD_MS;
		c->next = s->clients;
		c->link = &s->clients;
		if (c->next)
			c->next->link = &c->next;
		s->clients = c;
		*state = c;
		clients_make_room(s, c);
	} else if (c) {
		*c->link = c->next;
		if (c->next)
			c->next->link = c->link;
		free(c);
		*state = NULL;
	}
	pthread_mutex_unlock(&s->lock);
}

/* Who has not said what it wants by now never will. */
void ut_clients_cut_late(struct ut_serve *s)
{
	int64_t now = ut_serve_now_ms();

	pthread_mutex_lock(&s->lock);
	for (struct ut_client *c = s->clients; c; c = c->next) {
		if (c->deadline && now >= c->deadline && !c->is_cut)
			clients_cut(c);
	}
	pthread_mutex_unlock(&s->lock);
}

struct ut_client *ut_clients_of(struct MHD_Connection *connection)
{
	return *(void *const *)ut_mhd.get_connection_info(connection,
							  MHD_CONNECTION_INFO_SOCKET_CONTEXT);
}

void ut_serve_deadline(struct ut_serve *s, struct MHD_Connection *connection, int64_t ms)
{
	struct ut_client *c = ut_clients_of(connection);

	pthread_mutex_lock(&s->lock);
	c->deadline = ms ? ut_serve_now_ms() + ms : 0;
	pthread_mutex_unlock(&s->lock);
}

void ut_request_is_known(const struct ut_request *r)
{
	struct ut_client *c = r->from;

	if (c)
		c->is_known = true;
}

/* ---- whose connection it is ----------------------------------------------------------------- */

union address {
	struct sockaddr any;
	struct sockaddr_in four;
	struct sockaddr_in6 six;
};

/* IPv4 in the form of version 6 becomes IPv4. */
static void simplify(union address *a)
{
	struct sockaddr_in four = { .sin_family = AF_INET, .sin_port = a->six.sin6_port };

	if (a->any.sa_family != AF_INET6 || !IN6_IS_ADDR_V4MAPPED(&a->six.sin6_addr))
		return;
	memcpy(&four.sin_addr, a->six.sin6_addr.s6_addr + 12, sizeof(four.sin_addr));
	a->four = four;
}

/* "0100007F:1F90", as the kernel's table of connections has it, in the form of version 6 or not. */
static void write_end(const union address *a, bool six, char to[48])
{
	uint32_t words[4] = { 0, 0, htonl(0xffff), 0 };

	if (a->any.sa_family == AF_INET6)
		memcpy(words, &a->six.sin6_addr, sizeof(words));
	else
		words[3] = a->four.sin_addr.s_addr;
	if (six)
		snprintf(to, 48, "%08X%08X%08X%08X:%04X", words[0], words[1], words[2], words[3],
			 (unsigned int)ntohs(a->six.sin6_port));
	else
		snprintf(to, 48, "%08X:%04X", words[3], (unsigned int)ntohs(a->four.sin_port));
}

/* The user of the other end of a connection that stays on this machine. One that is closed has
 * none any more: the table shows 0 for it. */
static bool find_user(const union address *peer, const union address *own, unsigned int *uid)
{
	static const char *const tables[] = { "/proc/net/tcp", "/proc/net/tcp6" };
	bool found = false;

	for (int six = 0; six < 2 && !found; six++) {
		FILE *f = fopen(tables[six], "re");
		char line[256], from[48], to[48], near[48], far[48];
		unsigned int state;

		write_end(peer, six, from);
		write_end(own, six, to);
		while (f && !found && fgets(line, sizeof(line), f))
			found = sscanf(line, " %*[^:]: %47s %47s %x %*s %*s %*s %u", near, far,
				       &state, uid) == 4 &&
				!strcmp(near, from) && !strcmp(far, to) && state == 1;
		if (f)
			fclose(f);
	}
	return found;
}

static bool is_of_this_machine(const union address *peer, const union address *own)
{
	if (peer->any.sa_family != own->any.sa_family)
		return false;
	if (peer->any.sa_family == AF_INET)
		return ntohl(peer->four.sin_addr.s_addr) >> 24 == 127 ||
		       peer->four.sin_addr.s_addr == own->four.sin_addr.s_addr;
	return IN6_IS_ADDR_LOOPBACK(&peer->six.sin6_addr) ||
	       IN6_ARE_ADDR_EQUAL(&peer->six.sin6_addr, &own->six.sin6_addr);
}

void ut_request_who(const struct ut_request *r, char to[UT_WHO])
{
	const struct ut_client *c = r->from;
	union address peer = { 0 }, own = { 0 };
	socklen_t len = sizeof(peer), size = sizeof(own);
	const uint16_t *part;
	unsigned int uid;

	snprintf(to, UT_WHO, "%s", r->client ? r->client : "");
	if (!c || getpeername(c->fd, &peer.any, &len) || getsockname(c->fd, &own.any, &size))
		return;
	simplify(&peer);
	simplify(&own);
	if (peer.any.sa_family != AF_INET && peer.any.sa_family != AF_INET6)
		return;
	if (is_of_this_machine(&peer, &own)) {
		if (find_user(&peer, &own, &uid))
			snprintf(to, UT_WHO, "uid %u", uid);
		else
			snprintf(to, UT_WHO, "this machine");
	} else if (peer.any.sa_family == AF_INET6) {
		part = peer.six.sin6_addr.s6_addr16;
		snprintf(to, UT_WHO, "%x:%x:%x:%x::/64", ntohs(part[0]), ntohs(part[1]),
			 ntohs(part[2]), ntohs(part[3]));
	}
}
