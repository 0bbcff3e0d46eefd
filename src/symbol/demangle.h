/*
 * demangle.h - names of C++ and Rust as people write them.
 */
#ifndef UT_SYMBOL_DEMANGLE_H
#define UT_SYMBOL_DEMANGLE_H

/* Longer names are not tried: damaged, or made to be slow. */
#define UT_DEMANGLE_MOST 16384u

/* malloc'ed; NULL if it is no such name, or this machine cannot tell. Any thread. */
char *ut_demangle(const char *name);

#endif
