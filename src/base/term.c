#include "base/term.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define USUAL_COLUMNS 80

bool ut_term_moves(int fd)
{
	const char *kind = getenv("TERM");

	return kind && *kind && strcmp(kind, "dumb") != 0 && isatty(fd);
}

bool ut_term_has_colour(int fd)
{
	const char *no = getenv("NO_COLOR");

	return (!no || !*no) && ut_term_moves(fd);
}

unsigned int ut_term_columns(int fd)
{
	struct winsize size = { 0 };

	return ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col ? size.ws_col : USUAL_COLUMNS;
}
