/*
 * device_list.h - `unitrace --device-list`: the devices that backends find on this machine.
 */
#ifndef UT_CMD_DEVICE_LIST_H
#define UT_CMD_DEVICE_LIST_H

struct ut_arena;

/*
 * Prints "Device #0: [label] name" for each device of each backend in the folder, and on stderr one
 * line for each backend that finds none, with the reason. A backend is asked in a process of its
 * own: drivers crash, hang and print. Returns how many devices there are.
 */
unsigned int ut_device_list(struct ut_arena *a, const char *folder);

#endif
