/*
 * message.h - what the analysis has to say, as a list: passes do not print.
 */
#ifndef UT_ACELYZER_MESSAGE_H
#define UT_ACELYZER_MESSAGE_H

#include <stddef.h>

#include "base/err.h"

enum ut_ace_level {
	UT_ACE_ERROR,
	UT_ACE_WARN,
	UT_ACE_INFO,
	UT_ACE_DEBUG,
	UT_ACE_TRACE,
};

struct ut_ace_message {
	enum ut_ace_level level;
	char *text; /* owned by the list */
};

struct ut_ace_messages {
	struct ut_ace_message *items;
	size_t count, cap;
	/* Tells each message as it comes; may be NULL. */
	void (*notify)(void *ctx, const struct ut_ace_message *m);
	void *ctx;
};

void ut_ace_say(struct ut_ace_messages *m, enum ut_ace_level level, const char *fmt, ...)
	UT_PRINTF(3, 4);
void ut_ace_messages_release(struct ut_ace_messages *m);

#endif
