/*
 * last.h - the last recording: what commands that read a trace take when none is named.
 *
 * `record` notes the timelines it has written in $XDG_STATE_HOME/unitrace/recordings (without that
 * variable ~/.local/state/...), and only there. They count for the directory in which the program
 * was recorded and for the one they lie in. Nothing depends on the notes: where they cannot be kept
 * (no home, a home of somebody else, a full disk) recording goes on without a word, and commands
 * ask for a trace.
 *
 * The file holds texts, each closed by a NUL: for every recording, the oldest first, its job, its
 * directory, "RANK:PATH" for each timeline, and an empty text.
 */
#ifndef UT_CMD_LAST_H
#define UT_CMD_LAST_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

struct ut_arena;
struct ut_words;

/* These timelines are the last recording; ranks of one job add theirs. rank -1 = no job. */
void ut_last_note(const char *const *paths, size_t count, int rank);

/*
 * Where no trace is named, the words become the timelines of the last recording, and the user is
 * told which. False if there is none: then the user has been told what to do, and the exit status
 * is that of misuse.
 */
bool ut_last_fill(struct ut_words *words, struct ut_arena *a) UT_MUST_CHECK;

#endif
