#include "base/log.h"

#include <errno.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/term.h"

#define WIPE_LINE "\r\033[K"

static enum ut_log_level shown = UT_INFO;
static const char *debug_modules = "";
static _Atomic bool state_is_shown;

void ut_log_set_level(enum ut_log_level level)
{
	shown = level;
}

void ut_log_debug(const char *modules)
{
	debug_modules = modules;
}

/* Is module an element of the comma list? */
static bool debugged(const char *module)
{
	size_t len = strlen(module);

	if (!strcmp(debug_modules, "all"))
		return true;
	for (const char *p = debug_modules; *p; p += strcspn(p, ","), p += *p == ',') {
		if (!strncmp(p, module, len) && (!p[len] || p[len] == ','))
			return true;
	}
	return false;
}

static void log_write_all(const char *text, size_t len)
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

/* Names come from files of others: what would move a cursor or forge a line becomes '?'. */
static void disarm(char *text)
{
	for (unsigned char *p = (unsigned char *)text; *p; p++) {
		if (*p < ' ' || *p == 0x7f)
			*p = '?';
		else if (*p == 0xc2 && p[1] >= 0x80 && p[1] < 0xa0) /* U+0080..9F */
			p[0] = p[1] = '?';
	}
}

static void write_line(const char *prefix, const char *fmt, va_list ap) UT_PRINTF(2, 0);

static void write_line(const char *prefix, const char *fmt, va_list ap)
{
	char line[2048];
	size_t len;

	len = (size_t)snprintf(line, sizeof(line), "%s%s",
			       atomic_exchange(&state_is_shown, false) ? WIPE_LINE : "", prefix);
	vsnprintf(line + len, sizeof(line) - len - 1, fmt, ap);
	disarm(line + len);
	len = strlen(line);
	line[len++] = '\n';
	log_write_all(line, len);
}

void ut_log_line(enum ut_log_level level, const char *module, const char *fmt, ...)
{
	static const char *const word[] = { "", "warning: ", "", "debug: " };
	bool is_debug = level == UT_DEBUG;
	int saved_errno = errno;
	char prefix[64];
	va_list ap;

	if (is_debug ? !debugged(module) : level > shown)
		return;
	snprintf(prefix, sizeof(prefix), "unitrace: %s%s%s", word[level], is_debug ? module : "",
		 is_debug ? ": " : "");
	va_start(ap, fmt);
	write_line(prefix, fmt, ap);
	va_end(ap);
	errno = saved_errno;
}

void ut_log_classic(enum ut_log_level level, const char *fmt, ...)
{
	static const char *const word[] = { "[ERROR] ", "[WARNING] ", "[INFO] ", "[DEBUG] " };
	int saved_errno = errno;
	va_list ap;

	if (level > shown)
		return;
	va_start(ap, fmt);
	write_line(word[level], fmt, ap);
	va_end(ap);
	errno = saved_errno;
}

/*
 * No lock: the line and its mark are set so that whoever logs in between wipes once too often,
 * never once too little.
 */
void ut_log_state(const char *text)
{
	unsigned int columns;
	char line[512];
	int len;

	if (!text) {
		if (atomic_exchange(&state_is_shown, false))
			log_write_all(WIPE_LINE, strlen(WIPE_LINE));
		return;
	}
	columns = ut_term_columns(STDERR_FILENO);
	len = snprintf(line, sizeof(line), WIPE_LINE "%.*s", (int)columns - 1, text);
	if (len < 0)
		return;
	atomic_store(&state_is_shown, true);
	log_write_all(line, (size_t)len < sizeof(line) ? (size_t)len : sizeof(line) - 1);
	atomic_store(&state_is_shown, true);
}

static void log_take_line(void *ctx, enum ut_log_level level, const char *module, const char *text)
{
	(void)ctx;
	ut_log_line(level, module, "%s", text);
}

static void take_state(void *ctx, const char *text)
{
	(void)ctx;
	ut_log_state(text);
}

const struct ut_logger *ut_log_stderr(void)
{
	static const struct ut_logger moving = { .line = log_take_line, .state = take_state },
				      still = { .line = log_take_line };

	return ut_term_moves(STDERR_FILENO) ? &moving : &still;
}
