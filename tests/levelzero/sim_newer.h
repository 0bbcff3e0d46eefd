/*
 * sim_newer.h - what the simulated driver has that the headers of Level Zero 1.4 (Debian 12) do
 * not: parts of later versions and of Intel's own extensions, as far as they are used.
 */
#ifndef SIM_NEWER_H
#define SIM_NEWER_H

#include <level_zero/ze_api.h>
#include <stdint.h>

#define SIM_LIST_IN_ORDER    (1u << 3)
#define SIM_QUEUE_IN_ORDER   (1u << 1)
#define SIM_MAPPED_TIMESTAMP (1u << 3)
#define SIM_DDI_HANDLES      0x20027
#define SIM_COUNTER_POOL     0x20014 /* ZE_STRUCTURE_TYPE_COUNTER_BASED_EVENT_POOL_EXP_DESC */
#define SIM_REGISTER_FILE    0x30012
#define SIM_DROPPED_DATA     ((ze_result_t)0x70020001)

struct sim_size {
	uint32_t x, y, z;
};

struct sim_counted_desc {
	uint32_t stype;
	const void *next;
	uint32_t flags, signal, wait;
};

struct sim_register_file {
	uint32_t stype;
	const void *next;
	uint32_t size;
};

struct sim_base {
	uint32_t stype;
	void *next;
};

#endif
