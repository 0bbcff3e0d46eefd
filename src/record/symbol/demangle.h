/*
 * demangle.h - names of C++ and Rust as people write them.
 */
#ifndef UT_SYMBOL_DEMANGLE_H
#define UT_SYMBOL_DEMANGLE_H

/* Longer names are not tried: damaged, or made to be slow. */
#define UT_DEMANGLE_MOST 16384u

/*
 * malloc'ed; NULL if it is no such name, or this machine cannot tell. Of a C++ name that the
 * demangler does not read, the parts that can be read: "c10::function_ref<...>::callback_fn<...>".
 * Any thread.
 */
char *ut_demangle(const char *name);

/* Those parts, of any C++ name (demangle_part.c). NULL if there are none. */
char *ut_demangle_part(const char *name);

#endif
