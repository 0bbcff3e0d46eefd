/* sim_list.h - what the files about lists of the simulated driver share. */
#ifndef SIM_LIST_H
#define SIM_LIST_H

#include "sim_api.h"

/* A command for a list: kept, or, if that is immediate, begun. c is copied. */
ze_result_t sim_append(struct sim_list *l, const struct sim_command *c, ze_event_handle_t signal,
		       uint32_t wait_count, ze_event_handle_t *waits);

#endif
