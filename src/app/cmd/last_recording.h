/*
 * last_recording.h - the last recording: what commands that read a trace take when none is named.
 */
#ifndef UT_CMD_LAST_RECORDING_H
#define UT_CMD_LAST_RECORDING_H

#include <stdbool.h>

#include "base/err.h"

struct ut_arena;
struct ut_words;

/*
 * Where no trace is named, the words become the timelines of the last recording, and the user is
 * told which. False if there is none: then the user has been told what to do, and the exit status
 * is that of misuse.
 */
bool ut_last_recording_fill(struct ut_words *words, struct ut_arena *a) UT_MUST_CHECK;

#endif
