/*
 * term.h - what the terminal behind a descriptor can do, and what its user wants it to do.
 *
 * The conventions that other tools follow: TERM=dumb (or none) is a terminal that only prints,
 * NO_COLOR set to anything asks for text without colours.
 */
#ifndef UT_BASE_TERM_H
#define UT_BASE_TERM_H

#include <stdbool.h>

/* A terminal that somebody sits in front of: one that has a size. */
bool ut_term_is_screen(int fd);

/* A terminal on which a line can be wiped and written again. */
bool ut_term_moves(int fd);

/* One that may be sent colours. */
bool ut_term_has_colour(int fd);

/* Its columns; 80 if it does not tell. */
unsigned int ut_term_columns(int fd);

#endif
