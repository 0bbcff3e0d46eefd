/*
 * profile_options.h - what `unitrace profile-this` was asked for; shared by its files.
 */
#ifndef UT_SESSION_PROFILE_OPTIONS_H
#define UT_SESSION_PROFILE_OPTIONS_H

#include <stdbool.h>

struct ut_logger;

/* Who records what devices do. */
enum ut_profile_tool {
	UT_PROFILE_AUTO,     /* tt-metal if there are signs of it, else we */
	UT_PROFILE_TT_METAL, /* the profiler in tt-metal, which leaves folders of logs */
	UT_PROFILE_UNITRACE, /* our collector: CUDA, OpenCL */
};

struct ut_profile_opts {
	const char *command, *logs, *output, *append;
	enum ut_profile_tool tool;
	bool named_logs; /* the user has said where they are */
	const struct ut_logger *logger;
	/* A report was made of what lies in from. */
	void (*reported)(void *ctx, const char *from, const char *csv);
	void *ctx;
};

#endif
