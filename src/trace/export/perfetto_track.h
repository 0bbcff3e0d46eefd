/*
 * perfetto_track.h - how Perfetto is told what a track is: the body of a TrackDescriptor.
 */
#ifndef UT_EXPORT_PERFETTO_TRACK_H
#define UT_EXPORT_PERFETTO_TRACK_H

#include <stdbool.h>
#include <stdint.h>

struct ut_pbuf;
struct ut_process;
struct ut_trace;
struct ut_track;

/* Where a track stands in the file. */
struct ut_perfetto_place {
	uint64_t uuid;
	uint64_t parent; /* uuid of its process, or of the row that it overlaps */
	uint64_t first;  /* uuid of the first row of the same track */
	int32_t pid;     /* in the file; a process may have had to take another number */
	uint32_t index;  /* of the track in the trace */
	bool overlap;    /* a further row of the same track: no thread, no counter of its own */
};

/* The number that a process would like to have: its pid, or one that no system gives out if that
 * is text or does not fit. */
int32_t ut_perfetto_pid(const struct ut_trace *t, const struct ut_process *process);

/* The same for a thread; what is none gets that of its process. */
int64_t ut_perfetto_tid(const struct ut_trace *t, uint32_t track, int32_t pid);

/* The descriptor, and beside it in the packet what only we understand. */
void ut_perfetto_put_process(struct ut_pbuf *b, const struct ut_trace *t,
			     const struct ut_process *process,
			     const struct ut_perfetto_place *place);
void ut_perfetto_put_track(struct ut_pbuf *b, const struct ut_trace *t,
			   const struct ut_track *track, const struct ut_perfetto_place *place);

#endif
