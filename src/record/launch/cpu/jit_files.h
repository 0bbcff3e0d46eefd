/*
 * jit_files.h - what compilers in a program write about the code that they make: /tmp/perf-PID.map
 * and jit-PID.dump. They are opened as soon as such code is met, since they may be gone when the
 * program has ended, and kept beside its file of samples for whoever gives names to it.
 */
#ifndef UT_LAUNCH_CPU_JIT_FILES_H
#define UT_LAUNCH_CPU_JIT_FILES_H

#include <stdint.h>

struct ut_image;
struct ut_modules;

/* A sample was in code without a file. */
void ut_jit_files_look(struct ut_image *image, const struct ut_modules *modules, uint64_t time);

/* The program has ended: copies what was found, and lets go of it. */
void ut_jit_files_keep(struct ut_image *image);

#endif
