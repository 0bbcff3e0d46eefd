/*
 * place.h - what a process and a track of a trace stand for: a program or a device, of which
 * runtime; a thread, a queue, a row beside one.
 *
 * Importers say it, files keep it, analyses ask for it. Names are for people: nobody takes them
 * apart again but classify.c, which looks at traces of tools that do not say it.
 */
#ifndef UT_MODEL_PLACE_H
#define UT_MODEL_PLACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/api_list.h"
#include "model/strtab.h"

struct ut_process;
struct ut_trace;
struct ut_track;

/* The numbers of these lists are saved in .utr files: new ones are added at the end. */

/* kind, name in files */
#define UT_PROCESS_KIND_LIST(X)                                                                    \
	X(UNKNOWN, "unknown")                                                                      \
	X(PROGRAM, "program")                                                                      \
	X(DEVICE, "device") /* what a device did for a program */                                  \
	X(OTHER, "other")   /* neither: a tool's notes about itself, several things at once */

enum ut_process_kind {
#define UT_PROCESS_KIND_ENUM(kind, name) UT_PROCESS_##kind,
	UT_PROCESS_KIND_LIST(UT_PROCESS_KIND_ENUM)
#undef UT_PROCESS_KIND_ENUM
	UT_PROCESS_KINDS
};

/* What a device is, where its runtime has several sorts. type, name in files */
#define UT_DEVICE_TYPE_LIST(X)                                                                     \
	X(UNKNOWN, "unknown")                                                                      \
	X(CPU, "cpu")                                                                              \
	X(GPU, "gpu")                                                                              \
	X(ACCELERATOR, "accelerator")

enum ut_device_type {
#define UT_DEVICE_TYPE_ENUM(type, name) UT_DEVICE_TYPE_##type,
	UT_DEVICE_TYPE_LIST(UT_DEVICE_TYPE_ENUM)
#undef UT_DEVICE_TYPE_ENUM
	UT_DEVICE_TYPES
};

/*
 * What programs reach devices or each other through: one of UT_API_LIST (base/api_list.h), or OTHER
 * with a name of its own. Zeroed: none.
 */
struct ut_api_id {
	uint32_t text; /* string id of its name, if it is OTHER */
	uint8_t api;   /* enum ut_api */
	uint8_t reserved[3];
};

/* What the rows of a timeline are for. role, name in files */
#define UT_ROLE_LIST(X)                                                                            \
	X(UNKNOWN, "unknown") /* what its type says; see ut_track_role() */                        \
	X(THREAD, "thread")                                                                        \
	X(QUEUE, "queue") /* of a device: where it works through things */                         \
	X(SIDE, "side")   /* of a device: beside its queues: waiting, not work */                  \
	X(CALLS, "calls") /* calls of a thread, told of afterwards, on a row of their own */       \
	X(COUNTER, "counter")                                                                      \
	X(LANE, "lane") /* of no thread: regions, tracks that the program made */                  \
	X(ASYNC, "async")                                                                          \
	X(FRAMES, "frames")                                                                        \
	X(CONTROL, "control") /* when nothing was recorded */                                      \
	X(WAITS, "waits")     /* what a thread waited for, on a row of its own */

enum ut_track_role {
#define UT_ROLE_ENUM(role, name) UT_ROLE_##role,
	UT_ROLE_LIST(UT_ROLE_ENUM)
#undef UT_ROLE_ENUM
	UT_ROLES
};

/* Names in files. The value of one that is not known is the first of its list. */
const char *ut_process_kind_name(uint8_t kind);
const char *ut_device_type_name(uint8_t type);
const char *ut_role_name(uint8_t role);
enum ut_process_kind ut_process_kind_called(struct ut_str name);
enum ut_device_type ut_device_type_called(struct ut_str name);
enum ut_track_role ut_role_called(struct ut_str name);

/* The api of that name, in either spelling, upper or lower case; strings keep it if it is new. */
struct ut_api_id ut_api_called(struct ut_strtab *strings, struct ut_str name);

/* The api whose name a longer text starts with ("cuda:0", "CUDA driver"); NONE if there is none. */
enum ut_api ut_api_starting(struct ut_str text);

/* Its name in files; for people. Empty: none. */
struct ut_str ut_api_name(const struct ut_strtab *strings, struct ut_api_id api);
struct ut_str ut_api_title(const struct ut_strtab *strings, struct ut_api_id api);

/* What is registered of an api, enum ut_api; of one that is not in the list: of NONE. */
const struct ut_api_traits *ut_api_traits(unsigned int api);

/* The api that has this title, or NONE. */
enum ut_api ut_api_titled(struct ut_str title);

/* The role that was said, or what the track's type says of itself. */
enum ut_track_role ut_track_role(const struct ut_track *track);

/*
 * Is there more to write about a process than that it is a program, about a track than its type,
 * and was it said by somebody? What was guessed from names is guessed again.
 */
bool ut_process_is_described(const struct ut_process *process);
bool ut_track_is_described(const struct ut_track *track);

/* What people are told (string id): its name, unless a device has that from its program. */
uint32_t ut_process_shown_name(const struct ut_process *process);

bool ut_is_device(const struct ut_trace *trace, uint32_t process);

#endif
