#include "base/term.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define USUAL_COLUMNS 80

/* What mpirun hands its ranks calls itself a terminal, has no size, and ends in a file or a pipe.
 */
bool ut_term_is_screen(int fd)
{
	struct winsize size = { 0 };

	return isatty(fd) && ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col;
}

bool ut_term_moves(int fd)
{
	const char *kind = getenv("TERM");

	return kind && *kind && strcmp(kind, "dumb") != 0 && ut_term_is_screen(fd);
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
