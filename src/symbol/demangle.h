/*
 * demangle.h - C++ names as people write them.
 */
#ifndef UT_SYMBOL_DEMANGLE_H
#define UT_SYMBOL_DEMANGLE_H

/* Longer names are not tried: damaged, or made to be slow. */
#define UT_DEMANGLE_MOST 16384u

/* malloc'ed; NULL if it is no C++ name, or this build cannot tell. Any thread. */
char *ut_demangle(const char *name);

#endif
