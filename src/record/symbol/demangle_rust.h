/*
 * demangle_rust.h - names of Rust as people write them: "_R..." (version 0), and "_ZN...17h...E" of
 * older compilers, which C++ would nearly understand.
 */
#ifndef UT_SYMBOL_DEMANGLE_RUST_H
#define UT_SYMBOL_DEMANGLE_RUST_H

/* malloc'ed; NULL if it is no name of Rust. Any thread. */
char *ut_demangle_rust(const char *name);

#endif
