/* peer_meet.c - see peer_meet.h. */
#include "launch/peer_meet.h"

#include <arpa/inet.h>
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <inttypes.h>
#include <net/if.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#define MOST_FILE 4096
#define STALE     10 /* seconds without a sign of life */
#define FIRST_MS  100

static const char magic[8] = "utclock1";

void ut_meeting_init(struct ut_meeting *m, const char *folder, uint64_t job, const char *boot_id)
{
	*m = (struct ut_meeting){ .fd = -1 };
	ut_host_clock_id(boot_id, m->id);
	if ((size_t)snprintf(m->path, sizeof(m->path), "%s/.unitrace-clock.%016" PRIx64, folder,
			     job) >= sizeof(m->path) - 64)
		m->path[0] = '\0';
}

/* ---- the socket ---------------------------------------------------------------------------- */

/* Of both families, or of the old one where the new is switched off. */
static int open_socket(uint16_t *port)
{
	struct sockaddr_storage at = { 0 };
	socklen_t len = sizeof(at);
	int off = 0, fd = socket(AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	struct sockaddr_in6 six = { .sin6_family = AF_INET6, .sin6_addr = IN6ADDR_ANY_INIT };
	struct sockaddr_in four = { .sin_family = AF_INET };

	if (fd >= 0 && (setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof(off)) ||
			bind(fd, (struct sockaddr *)&six, sizeof(six)))) {
		close(fd);
		fd = -1;
	}
	if (fd < 0) {
		fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
		if (fd >= 0 && bind(fd, (struct sockaddr *)&four, sizeof(four))) {
			close(fd);
			return -1;
		}
	}
	if (fd < 0 || getsockname(fd, (struct sockaddr *)&at, &len))
		return fd;
	*port = at.ss_family == AF_INET6 ? ntohs(((struct sockaddr_in6 *)&at)->sin6_port)
					 : ntohs(((struct sockaddr_in *)&at)->sin_port);
	return fd;
}

static bool is_six(int fd)
{
	struct sockaddr_storage at = { 0 };
	socklen_t len = sizeof(at);

	return !getsockname(fd, (struct sockaddr *)&at, &len) && at.ss_family == AF_INET6;
}

/* "10.0.0.1" or "fe80::1" as an address of the socket's family; false if it is neither. */
static bool to_address(struct ut_meeting *m, const char *text, uint16_t port)
{
	struct sockaddr_in6 *six = (struct sockaddr_in6 *)&m->to;
	struct sockaddr_in *four = (struct sockaddr_in *)&m->to;
	char mapped[80];

	memset(&m->to, 0, sizeof(m->to));
	if (!is_six(m->fd)) {
		*four = (struct sockaddr_in){ .sin_family = AF_INET, .sin_port = htons(port) };
		m->to_len = sizeof(*four);
		return inet_pton(AF_INET, text, &four->sin_addr) == 1;
	}
	*six = (struct sockaddr_in6){ .sin6_family = AF_INET6, .sin6_port = htons(port) };
	m->to_len = sizeof(*six);
	snprintf(mapped, sizeof(mapped), "%s%.60s", strchr(text, ':') ? "" : "::ffff:", text);
	return inet_pton(AF_INET6, mapped, &six->sin6_addr) == 1;
}

/* ---- packets ------------------------------------------------------------------------------- */

static bool peer_meet_is_ours(const struct ut_meeting *m, const struct ut_clock_packet *p)
{
	return !memcmp(p->magic, magic, sizeof(magic)) &&
	       !memcmp(p->secret, m->secret, sizeof(p->secret));
}

bool ut_meeting_ask(const struct ut_meeting *m, uint64_t number)
{
	struct ut_clock_packet p = { .number = htobe64(number) };

	memcpy(p.magic, magic, sizeof(magic));
	memcpy(p.secret, m->secret, sizeof(p.secret));
	return sendto(m->fd, &p, sizeof(p), MSG_NOSIGNAL, (const struct sockaddr *)&m->to,
		      m->to_len) == (ssize_t)sizeof(p);
}

bool ut_meeting_answer(const struct ut_meeting *m, struct ut_clock_packet *p)
{
	if (recv(m->fd, p, sizeof(*p), MSG_DONTWAIT) != (ssize_t)sizeof(*p) ||
	    !peer_meet_is_ours(m, p))
		return false;
	p->number = be64toh(p->number);
	p->received = be64toh(p->received);
	p->sent = be64toh(p->sent);
	return p->received != 0;
}

void ut_meeting_reply(const struct ut_meeting *m, uint64_t (*now)(void))
{
	struct sockaddr_storage from = { 0 };
	socklen_t len = sizeof(from);
	struct ut_clock_packet p;
	ssize_t n = recvfrom(m->fd, &p, sizeof(p), MSG_DONTWAIT, (struct sockaddr *)&from, &len);
	uint64_t received = now();

	if (n != (ssize_t)sizeof(p) || !peer_meet_is_ours(m, &p))
		return;
	p.received = htobe64(received);
	p.sent = htobe64(now());
	(void)!sendto(m->fd, &p, sizeof(p), MSG_NOSIGNAL, (struct sockaddr *)&from, len);
}

/* ---- the file ------------------------------------------------------------------------------ */

static int put_addresses(char *text, size_t room)
{
	struct ifaddrs *all = NULL;
	size_t len = 0;
	int count = 0;

	if (getifaddrs(&all))
		return 0;
	/* This machine's own name for itself comes last: it is right only where hosts share it. */
	for (int loopback = 0; loopback < 2; loopback++) {
		for (struct ifaddrs *a = all; a && count < UT_MEETING_ADDRESSES; a = a->ifa_next) {
			int family = a->ifa_addr ? a->ifa_addr->sa_family : 0;
			const void *at = &((struct sockaddr_in *)a->ifa_addr)->sin_addr;
			char name[INET6_ADDRSTRLEN];

			if ((family != AF_INET && family != AF_INET6) || !(a->ifa_flags & IFF_UP) ||
			    !!(a->ifa_flags & IFF_LOOPBACK) != !!loopback)
				continue;
			if (family == AF_INET6)
				at = &((struct sockaddr_in6 *)a->ifa_addr)->sin6_addr;
			if (!inet_ntop(family, at, name, sizeof(name)) || len + 64 > room)
				continue;
			len += (size_t)snprintf(text + len, room - len, "address %s\n", name);
			count++;
		}
	}
	freeifaddrs(all);
	return (int)len;
}

static void put_hex(char *to, const unsigned char *bytes)
{
	for (size_t i = 0; i < UT_MEETING_SECRET; i++)
		snprintf(to + 2 * i, 3, "%02x", bytes[i]);
}

/* The file under a name of its own, whole; its descriptor, or -errno. */
static int peer_meet_write_file(const struct ut_meeting *m, const char *path, uint16_t port)
{
	char text[MOST_FILE], secret[2 * UT_MEETING_SECRET + 1];
	int fd, len;

	put_hex(secret, m->secret);
	len = snprintf(text, sizeof(text), "unitrace-clock 1\nid %s\nport %u\nsecret %s\n", m->id,
		       (unsigned int)port, secret);
	len += put_addresses(text + len, sizeof(text) - (size_t)len);
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return -errno;
	if (write(fd, text, (size_t)len) == len && !fsync(fd))
		return fd;
	close(fd);
	unlink(path);
	return -EIO;
}

static bool get_hex(const char *from, unsigned char *bytes)
{
	for (size_t i = 0; i < UT_MEETING_SECRET; i++) {
		char pair[3] = { from[2 * i], from[2 * i] ? from[2 * i + 1] : '\0', '\0' }, *end;

		bytes[i] = (unsigned char)strtoul(pair, &end, 16);
		if (end != pair + 2)
			return false;
	}
	return true;
}

/* Ours, a plain file of a sane size; its text. */
static bool peer_meet_read_file(const char *path, char text[MOST_FILE], struct stat *st)
{
	int fd = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
	ssize_t n = -1;

	if (fd < 0)
		return false;
	errno = 0;
	if (!fstat(fd, st) && S_ISREG(st->st_mode) && st->st_uid == geteuid() &&
	    !(st->st_mode & 077))
		n = read(fd, text, MOST_FILE - 1);
	close(fd);
	text[n > 0 ? n : 0] = '\0';
	return n > 0;
}

static bool peer_meet_line_of(const char *text, const char *key, char *value, size_t room)
{
	const char *at = strstr(text, key);
	size_t len;

	if (!at || (at != text && at[-1] != '\n'))
		return false;
	at += strlen(key);
	len = strcspn(at, "\n");
	if (len >= room)
		return false;
	memcpy(value, at, len);
	value[len] = '\0';
	return true;
}

/* ---- who is there -------------------------------------------------------------------------- */

/* Is there an answer from any of the addresses? to is set to the first. */
static bool find_way(struct ut_meeting *m, const char *text, uint16_t port)
{
	struct pollfd fd = { .fd = m->fd, .events = POLLIN };
	struct ut_clock_packet p;
	char name[80];

	for (const char *at = strstr(text, "\naddress "); at; at = strstr(at + 1, "\naddress ")) {
		if (!peer_meet_line_of(at + 1, "address ", name, sizeof(name)) ||
		    !to_address(m, name, port) || !ut_meeting_ask(m, 0))
			continue;
		if (poll(&fd, 1, FIRST_MS) > 0 && ut_meeting_answer(m, &p))
			return true;
	}
	return false;
}

/* Nobody has touched it for a while, by the clock of the file system itself. */
static bool is_stale(const struct ut_meeting *m, const struct stat *st)
{
	char path[sizeof(m->path) + 64];
	struct stat now;
	int fd;
	bool old;

	snprintf(path, sizeof(path), "%s.%ld.look", m->path, (long)getpid());
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return false;
	old = !fstat(fd, &now) && now.st_mtim.tv_sec - st->st_mtim.tv_sec > STALE;
	close(fd);
	unlink(path);
	return old;
}

/* There is a file: whose is it? */
static enum ut_meeting_role visit(struct ut_meeting *m)
{
	char text[MOST_FILE], value[80];
	struct stat st, again;
	unsigned long port;

	if (!peer_meet_read_file(m->path, text, &st))
		return errno == ENOENT ? UT_MEETING_NOBODY : UT_MEETING_NONE;
	if (strncmp(text, "unitrace-clock 1\n", 17) != 0)
		return UT_MEETING_NONE;
	if (!peer_meet_line_of(text, "id ", m->reference, sizeof(m->reference)) ||
	    !peer_meet_line_of(text, "port ", value, sizeof(value)))
		return UT_MEETING_NONE;
	port = strtoul(value, NULL, 10);
	if (!port || port > UINT16_MAX ||
	    !peer_meet_line_of(text, "secret ", value, sizeof(value)) || !get_hex(value, m->secret))
		return UT_MEETING_NONE;
	if (find_way(m, text, (uint16_t)port))
		return strcmp(m->reference, m->id) != 0 ? UT_MEETING_GUEST : UT_MEETING_HOME;
	if (is_stale(m, &st) && !stat(m->path, &again) && again.st_ino == st.st_ino &&
	    again.st_mtim.tv_sec == st.st_mtim.tv_sec)
		unlink(m->path);
	return UT_MEETING_NOBODY;
}

/* Leaves our file under the name that all look for, unless there is one. */
static bool open_up(struct ut_meeting *m, uint16_t port)
{
	char path[sizeof(m->path) + 64];
	int fd;

	snprintf(path, sizeof(path), "%s.%ld.%s.new", m->path, (long)getpid(), m->id);
	if (getrandom(m->secret, sizeof(m->secret), 0) != (ssize_t)sizeof(m->secret))
		return false;
	fd = peer_meet_write_file(m, path, port);
	if (fd < 0)
		return false;
	close(fd);
	m->mine = !link(path, m->path);
	/* not all file systems have links */
	if (!m->mine && errno != EEXIST)
		m->mine = !renameat2(AT_FDCWD, path, AT_FDCWD, m->path, RENAME_NOREPLACE);
	unlink(path);
	return m->mine;
}

enum ut_meeting_role ut_meeting_join(struct ut_meeting *m)
{
	uint16_t port = 0;

	if (!m->path[0])
		return UT_MEETING_NONE;
	if (m->fd >= 0)
		close(m->fd);
	m->fd = open_socket(&port);
	if (m->fd < 0 || !port)
		return UT_MEETING_NONE;
	if (open_up(m, port))
		return UT_MEETING_REFERENCE;
	return visit(m);
}

void ut_meeting_touch(const struct ut_meeting *m)
{
	if (m->mine)
		utimensat(AT_FDCWD, m->path, NULL, AT_SYMLINK_NOFOLLOW);
}

void ut_meeting_leave(struct ut_meeting *m)
{
	if (m->mine)
		unlink(m->path);
	if (m->fd >= 0)
		close(m->fd);
	m->fd = -1;
	m->mine = false;
}
