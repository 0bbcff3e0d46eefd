/*
 * recordings.h - notes of the recordings that were made, so that the last one can be found again.
 *
 * The timelines of a session are noted in $XDG_STATE_HOME/unitrace/recordings (without that
 * variable ~/.local/state/...), and only there. They count for the directory in which the program
 * was recorded and for the one they lie in. Nothing depends on the notes: where they cannot be kept
 * (no home, a home of somebody else, a full disk) recording goes on, and nobody is told.
 *
 * The file holds texts, each closed by a NUL: for every recording, the oldest first, its job, its
 * directory, "RANK:PATH" for each timeline, and an empty text.
 */
#ifndef UT_SESSION_RECORDINGS_H
#define UT_SESSION_RECORDINGS_H

#include <stdbool.h>
#include <stddef.h>

struct ut_arena;

/*
 * These timelines are the last recording; ranks of one job add theirs. rank -1 = no job. False if
 * the notes could be neither written nor emptied.
 */
bool ut_recordings_note(const char *const *paths, size_t count, int rank);

struct ut_recording {
	const char *
		*paths; /* of its timelines that are still there; seen from here if they lie here */
	int count;
	const char *first; /* the first of all; NULL = no recording is known */
};

/* The last one that was made in this directory or lies in it. In the arena. */
struct ut_recording ut_recordings_last(struct ut_arena *a);

#endif
