#include "base/logger.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

void ut_logger_line(const struct ut_logger *t, enum ut_log_level level, const char *module,
		    const char *fmt, ...)
{
	int saved_errno = errno;
	char text[2048]; /* as long as a line of the log can be */
	va_list ap;

	if (!t || !t->line)
		return;
	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	t->line(t->ctx, level, module, text);
	errno = saved_errno;
}

void ut_logger_state(const struct ut_logger *t, const char *text)
{
	if (ut_logger_wants_state(t))
		t->state(t->ctx, text);
}
