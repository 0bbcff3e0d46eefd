/*
 * message.h - what the analysis has to say, as a list: passes do not print.
 */
#ifndef UT_AIU_MESSAGE_H
#define UT_AIU_MESSAGE_H

#include <stddef.h>

#include "base/err.h"

enum ut_aiu_level {
	UT_AIU_ERROR,
	UT_AIU_WARN,
	UT_AIU_INFO,
	UT_AIU_DEBUG,
	UT_AIU_TRACE,
};

struct ut_aiu_message {
	enum ut_aiu_level level;
	char *text; /* owned by the list */
};

struct ut_aiu_messages {
	struct ut_aiu_message *items;
	size_t count, cap;
	/* Tells each message as it comes; may be NULL. */
	void (*tell)(void *ctx, const struct ut_aiu_message *m);
	void *ctx;
};

void ut_aiu_say(struct ut_aiu_messages *m, enum ut_aiu_level level, const char *fmt, ...)
	UT_PRINTF(3, 4);
void ut_aiu_messages_release(struct ut_aiu_messages *m);

#endif
