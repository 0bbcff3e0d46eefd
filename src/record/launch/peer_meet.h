/*
 * peer_meet.h - how the launchers of a job find each other, and the packets that they exchange.
 *
 * The file in the shared folder is readable by its owner only and holds a secret: who does not send
 * that back gets no answer, and an answer is as long as the question. A file that its maker has not
 * touched for a while is a leftover.
 */
#ifndef UT_LAUNCH_PEER_MEET_H
#define UT_LAUNCH_PEER_MEET_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

#include "wire/host_clock.h"

#define UT_MEETING_SECRET    16 /* bytes */
#define UT_MEETING_ADDRESSES 16

enum ut_meeting_role {
	UT_MEETING_NOBODY,    /* nobody answers (yet) */
	UT_MEETING_REFERENCE, /* we are asked */
	UT_MEETING_GUEST,     /* we ask */
	UT_MEETING_HOME,      /* the reference is on this host: there is nothing to compare */
	UT_MEETING_NONE,      /* it cannot be done here */
};

/* As it travels, in network order; times are 0 in a question. */
struct ut_clock_packet {
	char magic[8];
	unsigned char secret[UT_MEETING_SECRET];
	uint64_t number;
	uint64_t received, sent; /* by the reference, ns of its clock */
};

struct ut_meeting {
	char path[4096]; /* of the file */
	char id[UT_CLOCK_ID], reference[UT_CLOCK_ID];
	unsigned char secret[UT_MEETING_SECRET];
	int fd;                     /* socket; -1 = none */
	struct sockaddr_storage to; /* who is asked */
	socklen_t to_len;
	bool mine; /* the file is ours */
};

void ut_meeting_init(struct ut_meeting *m, const char *folder, uint64_t job, const char *boot_id);

/* Looks for the others once; may be tried again after UT_MEETING_NOBODY. */
enum ut_meeting_role ut_meeting_join(struct ut_meeting *m);
/* Removes the file if it is ours. */
void ut_meeting_leave(struct ut_meeting *m);
/* Says that we are still there. */
void ut_meeting_touch(const struct ut_meeting *m);

/* A question goes out; an answer comes in, in the order of this machine. */
bool ut_meeting_ask(const struct ut_meeting *m, uint64_t number);
bool ut_meeting_answer(const struct ut_meeting *m, struct ut_clock_packet *packet);
/* Answers a question that has come in. */
void ut_meeting_reply(const struct ut_meeting *m, uint64_t (*now)(void));

#endif
