#include "base/log.h"

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static enum ut_log_level shown = UT_INFO;
static const char *debug_rooms = "";

void ut_log_set_level(enum ut_log_level level)
{
	shown = level;
}

void ut_log_debug(const char *rooms)
{
	debug_rooms = rooms;
}

/* Is room an element of the comma list? */
static bool debugged(const char *room)
{
	size_t len = strlen(room);

	if (!strcmp(debug_rooms, "all"))
		return true;
	for (const char *p = debug_rooms; *p; p += strcspn(p, ","), p += *p == ',') {
		if (!strncmp(p, room, len) && (!p[len] || p[len] == ','))
			return true;
	}
	return false;
}

static void write_all(const char *text, size_t len)
{
	while (len) {
		ssize_t n = write(STDERR_FILENO, text, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return; /* nobody left to tell */
		text += n;
		len -= (size_t)n;
	}
}

void ut_log_line(enum ut_log_level level, const char *room, const char *fmt, ...)
{
	static const char *const word[] = { "", "warning: ", "", "debug: " };
	int saved_errno = errno;
	char line[2048];
	size_t len;
	va_list ap;

	if (level == UT_DEBUG ? !debugged(room) : level > shown)
		return;
	len = (size_t)snprintf(line, sizeof(line), "unitrace: %s", word[level]);
	if (level == UT_DEBUG)
		len += (size_t)snprintf(line + len, sizeof(line) - len, "%s: ", room);
	va_start(ap, fmt);
	vsnprintf(line + len, sizeof(line) - len - 1, fmt, ap);
	va_end(ap);
	len = strlen(line);
	line[len++] = '\n';
	write_all(line, len);
	errno = saved_errno;
}
