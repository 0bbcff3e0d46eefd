/*
 * log.h - what the program tells its user beside its results: stderr only, a line at a time.
 *
 * For commands. All other modules are given a logger (base/logger.h), which is this one if a
 * command line is at the other end.
 *
 * Lines start with "unitrace: " and go out in one write, so that those of many ranks do not mix.
 * errno is kept. Any thread; the settings are made once, at start. Below them there may be one
 * line of state (how far we are) that is written again and again; what is logged takes its place.
 */
#ifndef UT_BASE_LOG_H
#define UT_BASE_LOG_H

#include "base/err.h"
#include "base/logger.h"

#define ut_log(level, ...) ut_log_line((level), UT_LOG_MODULE, __VA_ARGS__)

void ut_log_line(enum ut_log_level level, const char *module, const char *fmt, ...) UT_PRINTF(3, 4);

/*
 * Lines that scripts written for Intel's unitrace look for: "[INFO] ...", "[WARNING] ...". For what
 * that program says, too, in its words; everything else is ut_log().
 */
void ut_log_classic(enum ut_log_level level, const char *fmt, ...) UT_PRINTF(2, 3);

/*
 * The line of state, cut to the width of the terminal; NULL wipes it away. Only for a stderr on
 * which ut_term_moves().
 */
void ut_log_state(const char *text);

/* Whoever is given it talks to this log. The line of state is there only where it can be shown. */
const struct ut_logger *ut_log_stderr(void);

/* Lines less urgent than level are not shown; UT_INFO at start. */
void ut_log_set_level(enum ut_log_level level);

/* Shows the debug lines of these modules ("wire,import"; "all"). The text must stay. */
void ut_log_debug(const char *modules);

#endif
