/* number.c - see number.h. */
#include "collect/number.h"

#include <stdatomic.h>
#include <string.h>

#include "collect/gate.h"
#include "collect/mem.h"
#include "wire/writer.h"

struct kept {
	struct kept *next;  /* the one defined before */
	struct kept *newer; /* the one defined after; only for the replay */
	enum ut_rec type;
	size_t count;
	size_t len;
	uint64_t words[4];
	char bytes[];
};

static _Atomic(struct kept *) all;
static _Atomic uint32_t last;

uint32_t ut_number_next(void)
{
	return atomic_fetch_add(&last, 1) + 1;
}

void ut_number_define(enum ut_rec type, const uint64_t *words, size_t count, const void *bytes,
		      size_t len)
{
	struct kept *k = ut_mem_alloc(sizeof(*k) + len);

	if (ut_gate_wake()) /* else a forked child would write to its parent's spool */
		ut_writer_define(type, words, count, bytes, len);
	if (!k)
		return;
	k->type = type;
	k->count = count < 4 ? count : 4;
	k->len = len;
	memcpy(k->words, words, k->count * sizeof(*words));
	if (len)
		memcpy(k->bytes, bytes, len);
	k->next = atomic_load(&all);
	while (!atomic_compare_exchange_weak(&all, &k->next, k))
		;
}

/* In the order in which they were defined: a later one may amend or replace an earlier one. */
void ut_number_replay(void)
{
	struct kept *k = atomic_load(&all);

	if (!k)
		return;
	for (k->newer = NULL; k->next; k = k->next)
		k->next->newer = k;
	for (; k; k = k->newer)
		ut_writer_define(k->type, k->words, k->count, k->bytes, k->len);
}
