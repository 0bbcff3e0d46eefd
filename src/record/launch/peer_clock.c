/* peer_clock.c - see peer_clock.h: the thread, and what it asks. */
#include "launch/peer_clock.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/grow.h"
#include "launch/peer_meet.h"
#include "wire/clock.h"
#include "wire/host_clock.h"
#include "wire/process.h"

#define SECOND      UINT64_C(1000000000)
#define FIRST_BURST 16 /* questions, one after the other: the fastest answer counts */
#define LATER_BURST 5
#define ANSWER_MS   50  /* later ones are lost */
#define SOON        30  /* looks, one each second; from then on one in five */
#define TRIES       20  /* for somebody to be found */
#define TRY_MS      250 /* between two of them */

struct ut_peer_clock {
	struct ut_meeting meeting;
	uint64_t (*now)(void);
	uint64_t every;
	char path[4096]; /* of the samples */
	int stop_fd, host_fd, file;
	uint64_t asked; /* questions so far */
	pthread_t thread;
};

static uint64_t monotonic(void)
{
	return ut_clock_ns(CLOCK_MONOTONIC);
}

/* True when it is time to end; waits so many ms for that. */
static bool peer_clock_is_over(const struct ut_peer_clock *p, int ms)
{
	struct pollfd fd = { .fd = p->stop_fd, .events = POLLIN };

	return poll(&fd, 1, ms) > 0;
}

/* One of the launchers of a host is enough: who has this name asks. Gone with the process. */
static bool is_first_here(struct ut_peer_clock *p, uint64_t job)
{
	struct sockaddr_un name = { .sun_family = AF_UNIX };
	int len = snprintf(name.sun_path + 1, sizeof(name.sun_path) - 1,
			   "unitrace-clock-%u-%016" PRIx64 "-%s", (unsigned int)geteuid(), job,
			   p->meeting.id);

	p->host_fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	return p->host_fd >= 0 &&
	       !bind(p->host_fd, (struct sockaddr *)&name,
		     (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)len));
}

/* ---- what is kept -------------------------------------------------------------------------- */

static void peer_clock_keep(struct ut_peer_clock *p, const char *line, int len)
{
	if (p->file < 0)
		p->file = open(p->path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
	if (p->file >= 0 && write(p->file, line, (size_t)len) != len)
		(void)!ftruncate(p->file, 0); /* no room: rather nothing than half a line */
}

static void keep_head(struct ut_peer_clock *p, const char *reference)
{
	char line[128];

	peer_clock_keep(p, line,
			snprintf(line, sizeof(line), UT_HOST_CLOCK_HEAD "%s %s\n", p->meeting.id,
				 reference));
}

/* ---- asking -------------------------------------------------------------------------------- */

struct sample {
	int64_t at, add;
	uint64_t error;
};

/* One question; false if no answer came. */
static bool peer_clock_ask(struct ut_peer_clock *p, struct sample *s)
{
	struct pollfd fd = { .fd = p->meeting.fd, .events = POLLIN };
	struct ut_clock_packet packet;
	uint64_t sent = p->now(), number = ++p->asked, got, way;

	if (!ut_meeting_ask(&p->meeting, number))
		return false;
	while (poll(&fd, 1, ANSWER_MS) > 0) {
		if (!ut_meeting_answer(&p->meeting, &packet))
			continue;
		got = p->now();
		if (packet.number != number || packet.sent < packet.received || got < sent)
			continue; /* of an earlier question */
		way = got - sent;
		way -= packet.sent - packet.received < way ? packet.sent - packet.received : way;
		s->at = (int64_t)(sent + (got - sent) / 2);
		s->add = (int64_t)(packet.received + (packet.sent - packet.received) / 2) - s->at;
		s->error = way / 2 + 1;
		return true;
	}
	return false;
}

/* patience: questions without an answer, before there has been one, until it is given up. */
static bool ask_often(struct ut_peer_clock *p, int times, int patience)
{
	struct sample best = { .error = UINT64_MAX }, one;
	char line[96];

	for (int i = 0; i < times; i++) {
		if (peer_clock_ask(p, &one) && one.error < best.error)
			best = one;
		else if (best.error == UINT64_MAX && i + 1 >= patience)
			return false;
	}
	if (best.error == UINT64_MAX)
		return false;
	peer_clock_keep(p, line,
			snprintf(line, sizeof(line), "%" PRId64 " %" PRId64 " %" PRIu64 "\n",
				 best.at, best.add, best.error));
	return true;
}

/* At the start, now and then, and at the end. */
static void peer_clock_compare(struct ut_peer_clock *p)
{
	uint64_t pause = p->every ? p->every : SECOND;

	keep_head(p, p->meeting.reference);
	if (!ask_often(p, FIRST_BURST, FIRST_BURST))
		return;
	for (int i = 0; !peer_clock_is_over(p, (int)(pause / 1000000)); i++) {
		ask_often(p, LATER_BURST, 2);
		if (!p->every && i >= SOON)
			pause = 5 * SECOND;
	}
	ask_often(p, FIRST_BURST, 2);
}

/* ---- answering ----------------------------------------------------------------------------- */

static void peer_clock_answer(struct ut_peer_clock *p)
{
	struct pollfd fds[2] = { { .fd = p->meeting.fd, .events = POLLIN },
				 { .fd = p->stop_fd, .events = POLLIN } };

	keep_head(p, "-");
	for (;;) {
		int n = poll(fds, 2, 2000);

		if (n < 0 && errno != EINTR)
			return;
		if (n > 0 && fds[0].revents)
			ut_meeting_reply(&p->meeting, p->now);
		if (n > 0 && fds[1].revents)
			return;
		if (!n)
			ut_meeting_touch(&p->meeting);
	}
}

/* ---- the thread ---------------------------------------------------------------------------- */

static void *peer_clock_work(void *arg)
{
	struct ut_peer_clock *p = arg;
	enum ut_meeting_role role = UT_MEETING_NOBODY;

	for (int i = 0; i < TRIES && role == UT_MEETING_NOBODY; i++) {
		role = ut_meeting_join(&p->meeting);
		if (role == UT_MEETING_NOBODY && peer_clock_is_over(p, TRY_MS))
			return NULL;
	}
	if (role == UT_MEETING_REFERENCE)
		peer_clock_answer(p);
	else if (role == UT_MEETING_GUEST)
		peer_clock_compare(p);
	else if (role == UT_MEETING_HOME)
		keep_head(p, "-");
	ut_meeting_leave(&p->meeting);
	return NULL;
}

static void peer_clock_release(struct ut_peer_clock *p)
{
	int fds[] = { p->stop_fd, p->host_fd, p->file };

	for (size_t i = 0; i < sizeof(fds) / sizeof(*fds); i++) {
		if (fds[i] >= 0)
			close(fds[i]);
	}
	free(p);
}

/* The program's signals are no business of this thread. */
static int start_thread(struct ut_peer_clock *p)
{
	sigset_t all, old;
	int rc;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	rc = pthread_create(&p->thread, NULL, peer_clock_work, p);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	return rc;
}

struct ut_peer_clock *ut_peer_clock_start(const struct ut_peer_clock_opts *o)
{
	struct ut_peer_clock *p = ut_make(sizeof(*p));
	char boot_id[40];

	ut_process_boot_id(boot_id);
	p->now = o->now ? o->now : monotonic;
	p->every = o->every;
	p->file = p->host_fd = -1;
	p->stop_fd = eventfd(0, EFD_CLOEXEC);
	ut_meeting_init(&p->meeting, o->folder, o->job, o->boot_id ? o->boot_id : boot_id);
	if (p->stop_fd < 0 ||
	    (size_t)snprintf(p->path, sizeof(p->path), "%s/" UT_HOST_CLOCK_FILE, o->session) >=
		    sizeof(p->path) ||
	    !is_first_here(p, o->job) || start_thread(p)) {
		peer_clock_release(p);
		return NULL;
	}
	return p;
}

void ut_peer_clock_stop(struct ut_peer_clock *p)
{
	uint64_t one = 1;

	if (!p)
		return;
	if (write(p->stop_fd, &one, sizeof(one)) == (ssize_t)sizeof(one))
		pthread_join(p->thread, NULL);
	peer_clock_release(p);
}
