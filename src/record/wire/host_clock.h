/*
 * host_clock.h - the file of a session that tells how the clock of its host compares with that of
 * another: what launchers write while a program runs, and importers read.
 *
 *	unitrace-host-clock 1 9f86d081884c7d65 e3b0c44298fc1c14
 *	5034212345678 -120033 8123
 *
 * The first line names the clock of this host and that of the reference ("-": this is it). Each
 * further one is a sample: at so many ns of this clock, so many had to be added for that of the
 * reference, give or take so many. Lines are written whole; the last may be cut off all the same.
 */
#ifndef UT_WIRE_HOST_CLOCK_H
#define UT_WIRE_HOST_CLOCK_H

#include <stdint.h>

#define UT_HOST_CLOCK_FILE "host_clock"
#define UT_HOST_CLOCK_HEAD "unitrace-host-clock 1 "

#define UT_CLOCK_ID 17 /* bytes of a name, with its zero */

/* A name for the clock of the host that was started with this boot id. */
void ut_host_clock_id(const char *boot_id, char id[UT_CLOCK_ID]);

#endif
