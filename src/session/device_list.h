/*
 * device_list.h - `unitrace --device-list`: the devices that backends find on this machine.
 */
#ifndef UT_SESSION_DEVICE_LIST_H
#define UT_SESSION_DEVICE_LIST_H

struct ut_arena;
struct ut_teller;

/* Who is told: of each device as "0: [label] name", and in a sentence why a backend finds none. */
struct ut_device_listener {
	void (*device)(void *ctx, const char *text);
	void *ctx;
	const struct ut_teller *teller;
};

/*
 * Asks the backends in the folder. Each is asked in a process of its own: drivers crash, hang and
 * print. Returns how many devices there are.
 */
unsigned int ut_device_list(struct ut_arena *a, const char *folder,
			    const struct ut_device_listener *listener);

#endif
