/*
 * perfetto_ours.h - the field numbers that we add to Perfetto's format, beside those of
 * perfetto_fields.h. docs/formats/perfetto.md explains them.
 */
#ifndef UT_MODEL_PERFETTO_OURS_H
#define UT_MODEL_PERFETTO_OURS_H

/*
 * What we add to a packet, for ourselves: other readers skip a field that they do not know. It is
 * about the event or the track in the same packet; without one, about the trace as a whole.
 */
enum ours {
	PACKET_OURS = 1900, /* of a packet; those below are in it */
	OURS_NAME = 1,      /* process, thread: without rank and id */
	OURS_ID = 2,        /* pid, tid, id of a counter: the number... */
	OURS_ID_TEXT = 3,   /* ... or JSON text */
	OURS_RANK = 4,      /* process */
	OURS_HOST = 5,      /* process */
	OURS_FACTS = 6,     /* process, track: what else was said about it; DebugAnnotations */
	OURS_BASE = 7,      /* counter: its name without series and id */
	OURS_UNIT = 8,      /* counter: its unit or series */
	OURS_LANE = 9,    /* track of no thread: uuid of the first that stands for the same lane */
	OURS_ASYNC = 14,  /* the same: spans may overlap on it */
	OURS_FILE = 10,   /* trace: what the file it came from said of itself; DebugAnnotations */
	OURS_ERROR = 11,  /* trace: clock_error, in ns */
	OURS_TRACK = 12,  /* event: uuid of the track that it was on */
	OURS_NUMBER = 13, /* event: number of the async span; counter: its exact value; sample: its
			   * weight */
	OURS_REASON = 15, /* sample: why it stood there; OURS_NAME is what was sampled */
	OURS_GLOBAL_FLOW = 16, /* trace: id of a flow that other files may have the other end of */

	/* what a process or track stands for: model/place.h */
	OURS_KIND = 30,        /* process: name of its kind */
	OURS_API = 31,         /* process, row of calls: name of the runtime */
	OURS_DEVICE = 32,      /* process: number of the device */
	OURS_SUB_DEVICE = 33,  /* process */
	OURS_DEVICE_TYPE = 34, /* process: its name */
	OURS_MODEL = 35,       /* process: as the device's maker calls it */
	OURS_ROLE = 36,        /* track: name of its role */
	OURS_THREAD = 37,      /* row of calls: OS id of the thread */
	OURS_CALLS = 38,       /* trace: a category of calls */

	/* of a debug annotation */
	ANNOTATION_EXACT = 1900,    /* JSON text that the other fields say only roughly */
	ANNOTATION_NAMELESS = 1901, /* its name is made up */
};

#endif
