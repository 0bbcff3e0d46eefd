/*
 * backend_data.h - what backends have told beyond devices and their work: samples, metrics,
 * messages, and facts that their record had no room for. samples.c and values.c make events of
 * them.
 */
#ifndef UT_IMPORT_SPOOL_BACKEND_DATA_H
#define UT_IMPORT_SPOOL_BACKEND_DATA_H

#include "base/idmap.h"
#include "import/code_names.h"
#include "import/spool/records.h"
#include "import/spool/vec.h"
#include "model/trace.h"

struct ut_binary;
struct ut_event;
struct ut_place_in_code;
struct ut_spool_import;
struct ut_spool_module;
struct ut_spool_work;

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
	bool sent; /* as arguments of the work that they are about */
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
struct ut_spool_backend_data {
	UT_VEC(struct ut_spool_sample) samples;
	UT_VEC(struct ut_spool_values) values;
	UT_VEC(struct ut_spool_message) messages;
	size_t messages_done; /* have been sent, one way or another */
	UT_VEC(struct ut_spool_more) more;
	struct ut_idmap first_more, last_more; /* number -> index + 1 in more */
	struct ut_idmap message_of;            /* correlation -> latest in messages, index + 1 */
	struct ut_idmap frame_at;              /* number -> first of its places, index + 1 */
	UT_VEC(uint32_t)
	frame_places; /* of each: how many, then places of the trace, innermost first */
	struct ut_idmap site_of_stack;    /* number -> stack in the trace */
	struct ut_idmap place_of_address; /* -> place in the trace */
	struct ut_idmap thread_of_tid;    /* -> number of the thread */
	struct ut_idmap symbol_of_place;  /* of a device's code -> string id of the symbol */
	struct ut_idmap module_of;        /* string id -> index + 1 in modules */
	UT_VEC(struct ut_spool_module *) modules;
	struct ut_code_names names;
	UT_VEC(struct ut_binary *) files; /* of the program, as far as code of them was told of */
	struct ut_idmap file_of;          /* string id of a path -> index + 1 in files */
	struct ut_idmap values_of;        /* correlation -> first of its values, index + 1 */
	uint32_t asked_device;            /* + 1: the last that was asked about... */
	bool device_has_stalls;           /* ... and the answer */
};

/* So many allocations of a thread, one after the other, were made in this task. */
struct ut_spool_memory_run {
	uint32_t thread;
	uint32_t task; /* string id; 0 = in none */
	uint64_t count;
};

struct ut_spool_memory {
	bool any; /* there are records about memory */
	UT_VEC(struct ut_spool_memory_run) runs;
};

void ut_spool_backend_data_init(struct ut_spool_backend_data *t, struct ut_arena *arena);
void ut_spool_backend_data_release(struct ut_spool_backend_data *t);

/* The number of the process that stands for a device; UT_DEVICE_PROCESS: our own. */
uint32_t ut_spool_device_process(struct ut_spool_import *im, uint32_t device);

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

/* Values: sorted by set and time; which are of a piece of work, which are one of many samples. */
void ut_spool_sort_values(struct ut_spool_import *im);
uint64_t ut_spool_values_correlation(const struct ut_spool_values *v);
bool ut_spool_values_are_of_work(const struct ut_spool_values *v);
bool ut_spool_values_is_sample(const struct ut_spool_values *v);
uint64_t ut_spool_values_middle(const struct ut_spool_values *v); /* of their time, ns */
/* Those from this one on as arguments of work, in the place of a row of their own. */
void ut_spool_args_values(struct ut_spool_import *im, size_t first);

/*
 * A place in the code of a device: named and with its line, if the module is known. The string id
 * of the symbol; 0 = it is no such place.
 */
uint32_t ut_spool_finalize_device_code(struct ut_spool_import *im, struct ut_place_in_code *p);
void ut_spool_release_device_code(struct ut_spool_backend_data *t);
/* The functions at a place that is a path and an offset in that file, the innermost first: at least
 * one, UT_BINARY_FRAMES at most. */
size_t ut_spool_file_code(struct ut_spool_import *im, const struct ut_place_in_code *p,
			  struct ut_place_in_code *frames);
void ut_spool_release_file_code(struct ut_spool_backend_data *t);
/* The name of a kernel without C++'s mangling. */
uint32_t ut_spool_readable(struct ut_spool_import *im, uint32_t name);

/* Number, link and metrics of a kernel that was measured; its other arguments begin at mark. */
void ut_spool_args_measured(struct ut_spool_import *im, const struct ut_spool_work *w,
			    uint32_t name, size_t mark);

/* The ends of messages that a call or a piece of work has, behind its span. */
void ut_spool_send_messages(struct ut_spool_import *im, uint64_t correlation,
			    const struct ut_event *span);
/* Those among its facts, which begin at word first: sent as it begins, received as it ends. */
void ut_spool_send_fact_messages(struct ut_spool_import *im, const struct ut_spool_rec *r,
				 size_t first, const struct ut_event *span);
/* One end; at is its time in ns. */
void ut_spool_send_message(struct ut_spool_import *im, const struct ut_spool_rec *r, uint32_t track,
			   uint64_t at);

/* The steps. */
void ut_spool_prepare_measured(struct ut_spool_import *im); /* before the devices */
void ut_spool_finalize_code(struct ut_spool_import *im);    /* after the definitions */
void ut_spool_import_samples(struct ut_spool_import *im);   /* after the devices */
void ut_spool_import_values(struct ut_spool_import *im);    /* after the devices */
void ut_spool_import_messages(struct ut_spool_import *im);  /* whose call or work is missing */

#endif
