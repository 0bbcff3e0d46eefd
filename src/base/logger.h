/*
 * logger.h - how work tells whoever asked for it what is worth knowing on the way.
 *
 * Rooms that work know neither a terminal nor a page: they hand sentences to the logger that they
 * were given. A command line gives ut_log_stderr() (base/log.h), a server or a test its own, and
 * NULL is a client that does not listen. What was requested and did not happen is not logged but is
 * an error, and comes back through struct ut_err.
 *
 * A file that tells says which module it belongs to before it includes this header:
 *
 *     #define UT_LOG_MODULE "launch"
 *
 * Any thread may tell; errno is kept.
 */
#ifndef UT_BASE_LOGGER_H
#define UT_BASE_LOGGER_H

#include <stdbool.h>

#include "base/err.h"

enum ut_log_level {
	UT_ERR,   /* what was asked for did not happen */
	UT_WARN,  /* it happened, but not quite as asked */
	UT_INFO,  /* worth knowing */
	UT_DEBUG, /* for us; see ut_log_debug() */
};

#ifndef UT_LOG_MODULE
#define UT_LOG_MODULE "cmd"
#endif

/* Not owned by those who are given one; it must outlive the work. */
struct ut_logger {
	/* One sentence, without a line break at its end. */
	void (*line)(void *ctx, enum ut_log_level level, const char *module, const char *text);
	/* How far the work is, again and again; NULL when it is over. No function: nobody looks. */
	void (*state)(void *ctx, const char *text);
	void *ctx;
};

#define ut_logger_log(logger, level, ...)                                                          \
	ut_logger_line((logger), (level), UT_LOG_MODULE, __VA_ARGS__)

void ut_logger_line(const struct ut_logger *t, enum ut_log_level level, const char *module,
		    const char *fmt, ...) UT_PRINTF(4, 5);

/* Does whoever asked for the work want to see how far it is? */
static inline bool ut_logger_wants_state(const struct ut_logger *t)
{
	return t && t->state;
}

void ut_logger_state(const struct ut_logger *t, const char *text);

#endif
