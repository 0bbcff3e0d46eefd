/*
 * view_clients.c - several clients that ask the viewer's server for windows, and how long they
 * wait.
 *
 *   view_clients PORT COOKIE CLIENTS PACE < QUESTIONS
 *   view_clients floor 0 CLIENTS PACE < QUESTIONS
 *
 * QUESTIONS has a line "BYTES JSON" for each request, dealt out to the clients, each of which asks
 * the next one when it has the answer to the last one, and PACE ms after that was asked. Prints
 * "MS BYTES" for each of them.
 *
 * The floor is what the same number of bytes takes from a bare thread that knows nothing and sends
 * BYTES of what is in memory, over the same kind of connection, to the same clients.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "base/grow.h"

#define HEAD_ROOM 4096
#define MOST      (64u << 20)

struct question {
	size_t bytes;
	char *json;
	double ms;
	size_t got;
};

static struct question *questions;
static size_t question_count, client_count;
static uint16_t port;
static const char *cookie;
static double pace;
static char *floor_bytes;

static double now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

static void die(const char *what)
{
	fprintf(stderr, "view_clients: %s: %s\n", what, strerror(errno));
	exit(1);
}

static void send_all(int fd, const char *from, size_t len)
{
	while (len) {
		ssize_t n = send(fd, from, len, MSG_NOSIGNAL);

		if (n <= 0)
			die("send");
		from += n;
		len -= (size_t)n;
	}
}

/* A head and what came with it; the number of bytes of the head, 0 if nobody is there any more. */
static size_t read_head(int fd, char *to, size_t *len)
{
	*len = 0;
	for (;;) {
		ssize_t n = recv(fd, to + *len, HEAD_ROOM - 1 - *len, 0);
		char *end;

		if (n <= 0)
			return 0;
		*len += (size_t)n;
		to[*len] = '\0';
		end = strstr(to, "\r\n\r\n");
		if (end)
			return (size_t)(end + 4 - to);
		if (*len + 1 >= HEAD_ROOM)
			die("a head that is too long");
	}
}

static size_t head_number(const char *head, const char *name)
{
	const char *at = strcasestr(head, name);

	return at ? strtoull(at + strlen(name), NULL, 10) : 0;
}

/* ---- the floor ------------------------------------------------------------------------------ */

static void *floor_talk(void *arg)
{
	int fd = (int)(intptr_t)arg;
	char head[HEAD_ROOM], reply[128];
	size_t len, end;

	while ((end = read_head(fd, head, &len)) > 0) {
		size_t left = head_number(head, "Content-Length: ") - (len - end);
		size_t bytes = head_number(head, "X-Floor: ");
		int n;

		while (left) {
			ssize_t got = recv(fd, head, left < sizeof(head) ? left : sizeof(head), 0);

			if (got <= 0)
				die("recv");
			left -= (size_t)got;
		}
		n = snprintf(reply, sizeof(reply), "HTTP/1.1 200 OK\r\nContent-Length: %zu\r\n\r\n",
			     bytes);
		send_all(fd, reply, (size_t)n);
		send_all(fd, floor_bytes, bytes);
	}
	close(fd);
	return NULL;
}

static void *floor_serve(void *arg)
{
	int fd = (int)(intptr_t)arg;

	for (;;) {
		int one = 1, link = accept(fd, NULL, NULL);
		pthread_t thread;

		if (link < 0)
			die("accept");
		setsockopt(link, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
		if (pthread_create(&thread, NULL, floor_talk, (void *)(intptr_t)link))
			die("thread");
		pthread_detach(thread);
	}
	return NULL;
}

static void start_floor(void)
{
	struct sockaddr_in at = { .sin_family = AF_INET };
	socklen_t len = sizeof(at);
	int fd = socket(AF_INET, SOCK_STREAM, 0);
	pthread_t thread;

	floor_bytes = ut_make(MOST);
	memset(floor_bytes, 1, MOST);
	at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	if (fd < 0 || bind(fd, (struct sockaddr *)&at, sizeof(at)) || listen(fd, 64) ||
	    getsockname(fd, (struct sockaddr *)&at, &len))
		die("listen");
	port = ntohs(at.sin_port);
	if (pthread_create(&thread, NULL, floor_serve, (void *)(intptr_t)fd))
		die("thread");
}

/* ---- clients -------------------------------------------------------------------------------- */

static int reach(void)
{
	struct sockaddr_in at = { .sin_family = AF_INET, .sin_port = htons(port) };
	int fd = socket(AF_INET, SOCK_STREAM, 0), one = 1;

	at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	if (fd < 0 || connect(fd, (struct sockaddr *)&at, sizeof(at)))
		die("connect");
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	return fd;
}

static void ask(int fd, struct question *q, char *room)
{
	size_t length = strlen(q->json), len, end, left;
	double began = now_ms();
	char head[HEAD_ROOM];
	int n = snprintf(head, sizeof(head),
			 "POST /api/window HTTP/1.1\r\nHost: 127.0.0.1:%u\r\nX-Unitrace: 1\r\n"
			 "Cookie: %s\r\nX-Floor: %zu\r\nContent-Length: %zu\r\n\r\n",
			 (unsigned int)port, cookie, q->bytes, length);

	send_all(fd, head, (size_t)n);
	send_all(fd, q->json, length);
	end = read_head(fd, head, &len);
	if (!end || strncmp(head, "HTTP/1.1 200", 12) != 0) {
		fprintf(stderr, "view_clients: %.60s\n", end ? head : "no answer");
		exit(1);
	}
	q->got = head_number(head, "Content-Length: ");
	left = q->got - (len - end);
	while (left) {
		ssize_t got = recv(fd, room, left < MOST ? left : MOST, 0);

		if (got <= 0)
			die("recv");
		left -= (size_t)got;
	}
	q->ms = now_ms() - began;
}

static void *be_client(void *arg)
{
	size_t number = (size_t)(uintptr_t)arg;
	char *room = ut_make(MOST);
	double next;
	int fd = reach();

	next = now_ms() + pace * (double)number / (double)client_count;
	for (size_t i = number; i < question_count; i += client_count) {
		double wait = next - now_ms();

		if (wait > 0)
			usleep((useconds_t)(wait * 1e3));
		next = now_ms() + pace;
		ask(fd, &questions[i], room);
	}
	close(fd);
	free(room);
	return NULL;
}

static void read_questions(void)
{
	char *line = NULL, *end;
	size_t room = 0, cap = 0;
	ssize_t len;

	while ((len = getline(&line, &room, stdin)) > 0) {
		struct question *q;

		line[len - (line[len - 1] == '\n')] = '\0';
		questions = ut_grow(questions, question_count + 1, &cap, sizeof(*questions));
		q = &questions[question_count++];
		*q = (struct question){ .bytes = strtoull(line, &end, 10) };
		q->bytes = q->bytes < MOST ? q->bytes : MOST;
		q->json = strdup(end + (*end == ' '));
	}
	free(line);
}

int main(int argc, char **argv)
{
	pthread_t *threads;

	if (argc < 5)
		return 2;
	cookie = argv[2];
	client_count = strtoull(argv[3], NULL, 10);
	pace = strtod(argv[4], NULL);
	read_questions();
	if (!strcmp(argv[1], "floor"))
		start_floor();
	else
		port = (uint16_t)strtoul(argv[1], NULL, 10);
	threads = ut_make((client_count + 1) * sizeof(*threads));
	for (size_t i = 0; i < client_count; i++) {
		if (pthread_create(&threads[i], NULL, be_client, (void *)(uintptr_t)i))
			die("thread");
	}
	for (size_t i = 0; i < client_count; i++)
		pthread_join(threads[i], NULL);
	for (size_t i = 0; i < question_count; i++)
		printf("%.3f %zu\n", questions[i].ms, questions[i].got);
	free(threads);
	return 0;
}
