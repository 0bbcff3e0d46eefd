/*
 * thread.h - a thread while it is being read: what thread.c finds in its records and
 * send.c hands on. Nobody else looks in here.
 */
#ifndef UT_IMPORT_SPOOL_THREAD_H
#define UT_IMPORT_SPOOL_THREAD_H

#include "import/spool/steps.h"

/* Why a thread is being read. */
enum ut_spool_look {
	UT_LOOK_JOIN, /* to find the tasks that others refer to */
	UT_LOOK_PEEK, /* to find out how open spans end */
	UT_LOOK_SEND,
	UT_LOOK_LIVE, /* to go on where the last look ended: live.c */
};

enum ut_spool_what {
	UT_SPAN_TASK,
	UT_SPAN_CALL, /* of a device's runtime */
	UT_SPAN_EVENT,
	UT_SPAN_WAIT,
	UT_SPAN_SITE,
	UT_SPAN_MODEL_TASK,
	UT_SPAN_ITERATION
};

/* A record of the part that becomes an event. */
struct ut_spool_item {
	uint64_t begin, end; /* ticks; end 0 = still open */
	uint32_t name, cat;
	uint32_t args, last_arg; /* its argument records, first and last; index + 1, 0 = none */
	uint32_t carried;        /* how it ended in a later part: index + 1 */
	uint8_t what;
	uint8_t flags;           /* of the event */
	bool crossed;            /* ended out of order: cannot nest */
	uint16_t inset;          /* ns by which it is shown to end earlier: see close_span() */
	uint32_t lane;           /* string id of the user's track; 0 = the thread */
	uint32_t source;         /* number of the place that it is named after; 0 = none */
	struct ut_spool_rec rec; /* what began it, for ids */
};

struct ut_spool_argument {
	struct ut_spool_rec rec;
	uint32_t next; /* index + 1 */
};

/* The fate of a span that was open at the end of its part. */
struct ut_spool_carried {
	uint64_t end; /* 0 = never ended */
	uint8_t flags;
	bool crossed;
	uint16_t inset;
	uint32_t args, last_arg; /* in kept; index + 1 */
	/* for a look that goes on: what is to be ended */
	uint32_t open;      /* number of the span: model/growing.h; 0 = it is on a track of late */
	uint32_t next_free; /* index + 1 */
	struct ut_spool_late late;
};

/* An open span: in this part (item) or from an earlier one (carried). Each is index + 1. */
struct ut_spool_open {
	uint32_t key; /* domain, event name or lock that its end has to match */
	uint8_t what;
	uint32_t item, carried;
	uint32_t name; /* of a task, or of a command group of SYCL's: string id */
	uint64_t node; /* correlation of the latter; 0 = it is none */
	uint32_t zone; /* place, of a function of a language (end_task); 0 = it is none */
	bool lifted;   /* outlives the function that it was begun in */
	bool again;    /* its id was open already */
	uint64_t id;   /* hash; 0 = none */
	uint64_t begin;
};

/* The thread has shown nothing yet that would need a row. */
#define UT_NO_TRACK UINT32_MAX

struct ut_spool_reader {
	struct ut_spool_import *im;
	uint32_t thread;
	uint32_t track;
	enum ut_spool_look look;
	uint32_t lane; /* string id of the track that the program has set */
	UT_VEC(struct ut_spool_item) items;
	UT_VEC(struct ut_spool_argument) args;
	UT_VEC(struct ut_spool_argument) kept;
	UT_VEC(struct ut_spool_carried) carried;
	UT_VEC(struct ut_spool_open) stack;
	uint32_t open_of[256]; /* how many on the stack have a kind and key of this slot */
	struct ut_idmap ids;   /* of open spans -> place of the innermost on the stack, + 1 */
	uint64_t before, now;  /* ticks of the last record and of this one; never backwards */
	uint64_t last;         /* ticks of the thread's last record of all */
	size_t unfinished;     /* how many of its spans never ended: those around the next one */
	size_t next_carried;   /* second look: the fate to be used next */
	struct ut_spool_work *calls, *calls_end; /* told of afterwards; without a task yet */
	uint64_t entered;      /* stitch that waits for the first task of its callee; 0 = none */
	uint32_t free_carried; /* index + 1, of a look that goes on */
};

/* Are these records seen for the first and only time, or for the last? */
static inline bool ut_spool_is_sent(const struct ut_spool_reader *rd)
{
	return rd->look >= UT_LOOK_SEND;
}

/* A reader for one thread or, one after the other, for all. */
void ut_spool_reader_init(struct ut_spool_reader *rd, struct ut_spool_import *im);
void ut_spool_reader_release(struct ut_spool_reader *rd);

/* Goes on with what a thread has recorded since the last time, and hands it on. */
void ut_spool_read_on(struct ut_spool_reader *rd, const struct ut_spool_part *parts, size_t count);

/* A span of an earlier part, which has been handed on, has ended. */
void ut_spool_end_carried(struct ut_spool_reader *rd, uint32_t carried);

/* A call begins here: what is open around it is remembered for its work. */
void ut_spool_note_call(struct ut_spool_reader *rd, uint64_t correlation);

/* An allocation: what is open around it is remembered for the books (memory_books.h). */
void ut_spool_note_allocation(struct ut_spool_reader *rd);

/* Calls that were told of afterwards: those of a thread; those that began before its next record,
 * which did so in what is open now. */
void ut_spool_take_calls(struct ut_spool_reader *rd, uint32_t thread);
void ut_spool_finalize_calls(struct ut_spool_reader *rd, uint64_t ticks);

/* How far, in ns, an end at "to" can move forward without leaving behind what ended at "from". */
size_t ut_spool_slack(const struct ut_spool_reader *rd, uint64_t from, uint64_t to);

/* Hands the items of the part on, in their order. */
void ut_spool_send_part(struct ut_spool_reader *rd);

/* Order of im->flows: by thread, then by the begin of the task. */
int ut_spool_by_place(const void *a, const void *b);

#endif
