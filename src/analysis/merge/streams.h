/*
 * streams.h - many streams of frames into one, in order.
 *
 * Worker threads fill frames, a few ahead; the caller's thread takes the event with the lowest key
 * over and over, from the earlier stream if two are equal. Memory: three frames per stream.
 */
#ifndef UT_MERGE_STREAMS_H
#define UT_MERGE_STREAMS_H

#include <stddef.h>

#include "base/err.h"
#include "merge/rewrite.h"

/* Where frames come from. Each stream is used by one thread at a time. */
struct ut_stream {
	/* 1 and the next frame, 0 at the end, or a negative errno. */
	int (*next)(struct ut_stream *s, struct ut_frame *frame, struct ut_err *err);
	void (*close)(struct ut_stream *s); /* frees it */
};

/* Where events go: those of a frame from index from to before index to. */
struct ut_runs {
	int (*put)(struct ut_runs *r, const struct ut_frame *f, uint32_t from, uint32_t to,
		   struct ut_err *err);
};

/* threads: how many fill frames; 0 = the caller's own. Streams are closed by their owner. */
int ut_streams_merge(struct ut_stream *const *streams, size_t count, unsigned int threads,
		     struct ut_runs *to, struct ut_err *err) UT_MUST_CHECK;

#endif
