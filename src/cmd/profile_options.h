/*
 * profile_options.h - what `unitrace profile-this` was asked for; shared by its files.
 */
#ifndef UT_CMD_PROFILE_OPTIONS_H
#define UT_CMD_PROFILE_OPTIONS_H

#include <stdbool.h>

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
	bool help;
};

#endif
