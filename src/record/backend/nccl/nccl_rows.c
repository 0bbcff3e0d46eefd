/*
 * nccl_rows.c - where things are shown: one device "NCCL" of the process, with a row for the
 * operations of each communicator and, below it, rows for what its channels do. They lie beside the
 * queues of GPUs, which have NCCL's kernels as work of their own.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "backend/nccl/nccl.h"

#define MOST_COMMS 256u

static struct ut_nccl_comm comms[MOST_COMMS];
static _Atomic uint32_t comm_count;

uint32_t ut_nccl_api(void)
{
	return ut_nccl_host->name("NCCL", 4);
}

static uint32_t device(void)
{
	static _Atomic uint32_t known;
	uint32_t number = atomic_load(&known), made;

	if (number)
		return number;
	made = ut_nccl_host->device(&(struct ut_device){ .size = sizeof(struct ut_device),
							 .name = "NCCL",
							 .label = "nccl",
							 .api = ut_nccl_api() });
	/* Of two threads that come first one makes a device that stays empty. */
	return atomic_compare_exchange_strong(&known, &number, made) ? made : number;
}

struct ut_nccl_comm *ut_nccl_comm_new(void)
{
	uint32_t at = atomic_fetch_add(&comm_count, 1);

	if (at < MOST_COMMS)
		return &comms[at];
	if (at == MOST_COMMS)
		ut_nccl_host->note("NCCL has more than 256 communicators: further ones are not "
				   "recorded");
	atomic_store(&comm_count, MOST_COMMS + 1);
	return NULL;
}

/* All its ranks have the same hash; a name is for people, and may be that of several. */
void ut_nccl_comm_name(struct ut_nccl_comm *c, const char *name, uint64_t hash)
{
	char text[96];
	int len;

	if (!c || atomic_load(&c->name))
		return;
	if (name && name[0])
		len = snprintf(text, sizeof(text), "%.60s %" PRIx64, name, hash);
	else
		len = snprintf(text, sizeof(text), "%" PRIx64, hash);
	atomic_store(&c->name, ut_nccl_host->name(text, (size_t)len));
}

/* Rows of one communicator stand together, its operations first. */
static uint32_t row_number(const struct ut_nccl_comm *c, uint32_t place)
{
	return (uint32_t)(c - comms) * (1 + UT_NCCL_ROWS * UT_NCCL_CHANNELS) + place;
}

static uint32_t make_row(_Atomic uint32_t *known, const char *text, uint32_t number)
{
	uint32_t none = 0, made = ut_nccl_host->queue(device(), text, UT_SIDE_ROW + number);

	return atomic_compare_exchange_strong(known, &none, made) ? made : none;
}

uint32_t ut_nccl_row_of(struct ut_nccl_comm *c)
{
	uint32_t row = atomic_load(&c->row);
	char text[64];

	if (row)
		return row;
	if (c->ranks > 0)
		snprintf(text, sizeof(text), "Communicator %u: rank %d of %d",
			 (unsigned int)(c - comms), c->rank, c->ranks);
	else
		snprintf(text, sizeof(text), "Communicator %u", (unsigned int)(c - comms));
	return make_row(&c->row, text, row_number(c, 0));
}

uint32_t ut_nccl_channel_row(struct ut_nccl_comm *c, enum ut_nccl_row row, uint32_t channel)
{
	static const char *const words[UT_NCCL_ROWS] = { "kernel", "sends", "receives" };
	uint32_t at = channel % UT_NCCL_CHANNELS, known = atomic_load(&c->rows[row][at]);
	char text[64];

	if (known)
		return known;
	ut_nccl_row_of(c);
	snprintf(text, sizeof(text), "Communicator %u, channel %u: %s", (unsigned int)(c - comms),
		 (unsigned int)channel, words[row]);
	return make_row(&c->rows[row][at], text,
			row_number(c, 1 + at * UT_NCCL_ROWS + (uint32_t)row));
}
