/*
 * classify_store.c - devices that nobody has named: what a process holds says what it is.
 */
#include "model/classify.h"

#include <stdlib.h>

#include "base/grow.h"
#include "base/str.h"
#include "model/store.h"

/* What a span says about the process that it lies in. */
enum sign {
	SIGN_UNKNOWN,
	SIGN_NOTHING, /* also laid over a device's queues, or no span at all */
	SIGN_DEVICE,
	SIGN_PROGRAM,
};

/* What is known of a process so far. */
struct holding {
	bool work; /* of a device, and which call it belongs to */
	bool more; /* anything else: no device */
};

struct search {
	const struct ut_store *store;
	uint8_t *signs; /* enum sign, by type */
	struct holding *holdings;
};

static enum sign sign_of(struct search *s, uint32_t number)
{
	uint32_t at = number < s->store->types.count ? number : 0;
	const struct ut_type *type = ut_store_type(s->store, at);
	struct ut_category c;

	if (s->signs[at] != SIGN_UNKNOWN)
		return (enum sign)s->signs[at];
	c = ut_classify_category(&s->store->trace, type->cat);
	if (type->kind != UT_KIND_SPAN || c.over_work)
		s->signs[at] = SIGN_NOTHING;
	else
		s->signs[at] = c.use == UT_CATEGORY_WORK && c.anywhere ? SIGN_DEVICE : SIGN_PROGRAM;
	return (enum sign)s->signs[at];
}

/* Other tools may call something else "kernel"; a device's work was asked for by a call. */
static bool names_its_call(const struct ut_store *store, uint32_t list)
{
	struct ut_arg args[64];
	size_t count = ut_arglists_get(&store->args, list, args, 64);

	for (size_t i = 0; i < count && i < 64; i++) {
		struct ut_str key = ut_strtab_get(&store->trace.strings, args[i].key);

		if (ut_str_is(key, "correlation") || ut_str_is(key, "External id"))
			return true;
	}
	return false;
}

/* Ends with the first row that is of a program, as a rule with the very first. */
static void look_at_track(struct search *s, const struct ut_rows *rows, struct holding *h)
{
	for (size_t b = 0; b < ut_rows_blocks(rows); b++) {
		const struct ut_block *block = &rows->blocks[b];

		for (uint32_t i = 0; i < block->count; i++) {
			enum sign sign = sign_of(s, block->type[i]);

			if (sign == SIGN_PROGRAM) {
				h->more = true;
				return;
			}
			if (sign == SIGN_DEVICE && !h->work)
				h->work = names_its_call(s->store, block->args[i]);
		}
	}
}

static bool can_be_device(const struct ut_process *p)
{
	return p->guessed && p->kind != UT_PROCESS_DEVICE;
}

static void find_devices(struct ut_store *store)
{
	struct ut_trace *t = &store->trace;
	struct search s = { .store = store };

	s.signs = ut_make((size_t)store->types.count + 1);
	s.holdings = ut_make((t->process_count + 1) * sizeof(*s.holdings));
	for (size_t i = 0; i < t->track_count; i++) {
		uint32_t process = t->tracks[i].process;

		if (process < t->process_count && can_be_device(&t->processes[process]) &&
		    !s.holdings[process].more)
			look_at_track(&s, &store->rows[i], &s.holdings[process]);
	}
	for (size_t i = 0; i < t->process_count; i++) {
		struct ut_process *p = &t->processes[i];

		if (!s.holdings[i].work || s.holdings[i].more)
			continue;
		p->kind = UT_PROCESS_DEVICE;
		if (p->api.api == UT_API_NONE) /* torch.profiler's: no other has these categories */
			p->api.api = UT_API_CUDA;
	}
	free(s.holdings);
	free(s.signs);
}

void ut_classify_store(struct ut_store *store)
{
	ut_classify_places(&store->trace);
	find_devices(store);
	ut_classify_places(&store->trace); /* the queues of those that were found */
}
