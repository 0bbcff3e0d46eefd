/*
 * device_list.h - `unitrace --device-list`, --metric-list: the devices that backends find on this
 * machine, and what their drivers can measure.
 */
#ifndef UT_SESSION_DEVICE_LIST_H
#define UT_SESSION_DEVICE_LIST_H

struct ut_arena;
struct ut_logger;

/*
 * Who is told: of each device as "0: [label] name", of each group of metrics as "NAME (about)", and
 * behind it of its metrics as "0: NAME[unit] (about) [TYPE, KIND, GROUP]"; and in a sentence why
 * there are none, where devices were asked for.
 */
struct ut_device_listener {
	void (*device)(void *ctx, const char *text); /* NULL = devices are not asked for */
	void (*group)(void *ctx, const char *text);  /* NULL = metrics are not asked for */
	void (*metric)(void *ctx, const char *text);
	void *ctx;
	const struct ut_logger *logger;
};

/*
 * Asks the backends in the folder. Each is asked in a process of its own: drivers crash, hang and
 * print. Returns how many devices were told.
 */
unsigned int ut_device_list(struct ut_arena *a, const char *folder,
			    const struct ut_device_listener *listener);

#endif
