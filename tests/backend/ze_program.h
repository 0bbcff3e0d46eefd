/*
 * ze_program.h - a program of Level Zero in this process: the backend, sanitized as the test is,
 * between a host of our own and the simulated driver. A process has one of them.
 */
#ifndef TESTS_BACKEND_ZE_PROGRAM_H
#define TESTS_BACKEND_ZE_PROGRAM_H

#include <level_zero/ze_ddi.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "backend/levelzero/levelzero.h"

#define MOST_WORKS 200000u
#define MOST_NAMES 1024u

/* What the host was told. */
struct host_notified {
	pthread_mutex_t lock;
	char *names[MOST_NAMES];
	uint32_t name_count;
	struct ut_work works[MOST_WORKS];
	uint32_t work_count, untimed;
	_Atomic uint32_t begun, ended;
	_Atomic uint32_t last_id;
	char note[200];
};

extern struct host_notified host;

/* The functions of a host that wants these; a test may replace some and add others. */
struct ut_host host_functions(uint32_t want);
uint32_t reported(void); /* works so far */

/* The driver's functions, as a program has them from a loader: behind the backend. */
struct ze_tables {
	ze_global_dditable_t global;
	ze_driver_dditable_t driver;
	ze_device_dditable_t device;
	ze_context_dditable_t context;
	ze_command_queue_dditable_t queue;
	ze_command_list_dditable_t list;
	ze_fence_dditable_t fence;
	ze_event_pool_dditable_t pool;
	ze_event_dditable_t event;
	ze_module_dditable_t module;
	ze_kernel_dditable_t kernel;
	ze_mem_dditable_t mem;
};

extern struct ze_tables ze;
extern ze_context_handle_t context;
extern ze_device_handle_t device;
extern ze_module_handle_t module;
extern ze_kernel_handle_t kernel; /* "work": 2,000 ns */
extern const ze_group_count_t groups;

/* False, with a word about it: the simulated driver is not built. Before all others. */
bool find_driver(void);
void begin_program(const struct ut_host *functions); /* which stays */
void end_program(void);

ze_command_list_handle_t new_list(void);
ze_command_queue_handle_t new_queue(uint32_t index);
void launch(ze_command_list_handle_t list, ze_event_handle_t event);
void execute(ze_command_queue_handle_t queue, ze_command_list_handle_t list);
void wait_for(ze_command_queue_handle_t queue);
ze_event_pool_handle_t new_pool(uint32_t flags);
ze_event_handle_t new_event(ze_event_pool_handle_t pool);

#endif
