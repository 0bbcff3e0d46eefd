/*
 * devices.h - the devices of a machine: this one's as `unitrace --device-list` finds them, and
 * those that another one has told about, which are kept beside what is known of it.
 *
 *     {"devices":[{"number":0,"name":"[CUDA] NVIDIA H200"}], "notes":["why a kind is not there"]}
 *
 * DATA/.unitrace/machines/NAME.found has the last that a machine told, when, and which one it was:
 * what another machine of that name had is not its own. Whatever is told is read, bounded and
 * written again. Any thread.
 */
#ifndef UT_WORKBENCH_DEVICES_H
#define UT_WORKBENCH_DEVICES_H

#include <stdint.h>

#include "base/err.h"

struct ut_doc;
struct ut_json_writer;
struct ut_machine;

#define UT_DEVICES_MOST      128u
#define UT_DEVICE_NOTES_MOST 16u
#define UT_DEVICE_TEXT_MOST  240u /* bytes */

/* Of this machine, as an object. They are looked for by a process of its own, because drivers are
 * not for a server to load; at: the folder it is started in. */
int ut_devices_find(const char *program, int at, struct ut_json_writer *w, const char *key,
		    struct ut_err *err) UT_MUST_CHECK;

/* What another machine has told, as an object, whatever it is; asked: s since 1970. */
void ut_devices_write(struct ut_json_writer *w, const char *key, const struct ut_doc *reported,
		      int64_t asked);

/* own is the server's folder in the data directory. What cannot be kept is asked for again. */
void ut_devices_keep(int own, const struct ut_machine *m, const struct ut_doc *reported,
		     int64_t asked);

/* A member "devices" of what it told last; none if that is not known. */
void ut_devices_write_kept(int own, const struct ut_machine *m, struct ut_json_writer *w);

int ut_devices_forget(int own, const char *name, struct ut_err *err) UT_MUST_CHECK;

#endif
