/*
 * whose.h - whose code a frame is: that of the program, which its author can change, or that of
 * libraries, interpreters and the kernel. Told by where files lie.
 */
#ifndef UT_SAMPLE_WHOSE_H
#define UT_SAMPLE_WHOSE_H

#include <stdbool.h>

#include "base/str.h"

struct ut_prof_frame;
struct ut_prof;

/* Does it lie where libraries, headers of others and interpreters are? */
bool ut_path_is_library(struct ut_str path);

/* Is it code of what runs scripts, such as Python's interpreter? */
bool ut_prof_is_interpreter(const struct ut_prof *p, const struct ut_prof_frame *f);

/* For colours: whose code a frame is. */
enum ut_prof_owner {
	UT_OWNER_PROGRAM,
	UT_OWNER_SCRIPT, /* a library of Python */
	UT_OWNER_LIBRARY,
	UT_OWNER_KERNEL,
	UT_OWNERS,
};

enum ut_prof_owner ut_prof_owner(const struct ut_prof *p, const struct ut_prof_frame *f);

/* Is the frame one of the program itself? What is inlined from somebody's header is not. */
bool ut_prof_is_own(const struct ut_prof *p, const struct ut_prof_frame *f);

/* What imports modules: what a module does meanwhile is not the work of who imports it. */
bool ut_prof_is_import(const struct ut_prof *p, const struct ut_prof_frame *f);

/* Whom time in libraries is charged to: code of the program, and imports. */
bool ut_prof_is_own_or_import(const struct ut_prof *p, const struct ut_prof_frame *f);

#endif
