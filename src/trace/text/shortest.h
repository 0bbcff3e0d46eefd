/*
 * shortest.h - doubles as acelyzer (Python) prints them: the shortest decimal that reads back as
 * the same double, with a point, and powers of ten only where they get long.
 */
#ifndef UT_TEXT_SHORTEST_H
#define UT_TEXT_SHORTEST_H

#include <stddef.h>

struct ut_str;

#define UT_SHORTEST_ROOM 48

/* At p, which has UT_SHORTEST_ROOM bytes; returns the end, no NUL. NaN is null, as are
 * infinities. */
char *ut_shortest_put(char *p, double v);

/* The same, NUL-terminated, into buf[UT_SHORTEST_ROOM]; returns buf. */
const char *ut_shortest(char *buf, double v);

/* v with n decimals, ties to even as in the decimal that v really is. */
double ut_round(double v, int n);

/* Are both the same but for 1e-9 of the larger one, or 1e-9? */
int ut_is_close(double a, double b);

/* Is v zero but for 1e-9? */
static inline int ut_is_zero(double v)
{
	return v <= 1e-9 && v >= -1e-9;
}

#endif
