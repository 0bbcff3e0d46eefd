/*
 * told.h - what backends have told beyond devices and their work: samples, metrics, messages, and
 * facts that their record had no room for. samples.c and values.c make events of them.
 */
#ifndef UT_IMPORT_SPOOL_TOLD_H
#define UT_IMPORT_SPOOL_TOLD_H

#include "base/idmap.h"
#include "import/spool/records.h"
#include "import/spool/vec.h"
#include "model/trace.h"

struct ut_event;
struct ut_spool_import;

/* What a thread ran, or a queue of a device, at a moment. */
struct ut_spool_sample {
	uint64_t time;  /* ns */
	uint32_t place; /* number of the thread, or of the queue */
	bool queue;
	struct ut_spool_rec rec;
};

/* Values of a metric set, or some of them. */
struct ut_spool_values {
	uint64_t begin; /* ns */
	uint32_t set;
	struct ut_spool_rec rec;
};

/* One end of a message between processes that belongs to a call or a piece of work. */
struct ut_spool_message {
	uint64_t ticks;
	struct ut_spool_rec rec;
	uint32_t thread;
	uint32_t next; /* with the same correlation: index + 1 */
	bool sent;
};

/* Facts that their record had no room for. */
struct ut_spool_more {
	struct ut_spool_rec rec;
	uint32_t next; /* of the same number: index + 1 */
};

/* All of it, as the scan has found it. */
struct ut_spool_told {
	UT_VEC(struct ut_spool_sample) samples;
	UT_VEC(struct ut_spool_values) values;
	UT_VEC(struct ut_spool_message) messages;
	UT_VEC(struct ut_spool_more) more;
	struct ut_idmap first_more, last_more; /* number -> index + 1 in more */
	struct ut_idmap message_of;            /* correlation -> latest in messages, index + 1 */
	struct ut_idmap place_of_frame;        /* number -> place in the trace */
	struct ut_idmap site_of_stack;         /* number -> stack in the trace */
	struct ut_idmap place_of_address;      /* -> place in the trace */
	struct ut_idmap thread_of_tid;         /* -> number of the thread */
};

void ut_spool_told_init(struct ut_spool_told *t, struct ut_arena *arena);
void ut_spool_told_release(struct ut_spool_told *t);

/* The process of a device, and a track in it; UT_DEVICE_PROCESS: in our own. */
uint32_t ut_spool_device_track(struct ut_spool_import *im, uint32_t device, enum ut_track_type type,
			       uint32_t name);

/* Row number row of a queue; what overlaps goes to further rows. */
uint32_t ut_spool_queue_track(struct ut_spool_import *im, uint32_t queue, size_t row);

/* Backends: what the scan notes. */
void ut_spool_add_more(struct ut_spool_import *im, const struct ut_spool_rec *r);
void ut_spool_add_sample(struct ut_spool_import *im, uint32_t thread, const struct ut_spool_rec *r);
void ut_spool_add_values(struct ut_spool_import *im, const struct ut_spool_rec *r);
void ut_spool_add_message(struct ut_spool_import *im, uint32_t thread, uint64_t ticks,
			  const struct ut_spool_rec *r);

/* The ends of messages that a call or a piece of work has, behind its span. */
void ut_spool_send_messages(struct ut_spool_import *im, uint64_t correlation,
			    const struct ut_event *span);
/* One end; at is its time in ns. */
void ut_spool_send_message(struct ut_spool_import *im, const struct ut_spool_rec *r, uint32_t track,
			   uint64_t at);

/* The steps. */
void ut_spool_settle_code(struct ut_spool_import *im);     /* after the definitions */
void ut_spool_import_samples(struct ut_spool_import *im);  /* after the devices */
void ut_spool_import_values(struct ut_spool_import *im);   /* after the devices */
void ut_spool_import_messages(struct ut_spool_import *im); /* whose call or work is missing */

#endif
