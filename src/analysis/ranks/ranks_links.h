/*
 * ranks_links.h - what calls of a rank have to do with other calls, besides the messages that begin
 * and end in them: probes, receives that are posted, sends that are completed later, windows that
 * are opened to some ranks, neighbours. Each becomes a soft end (rank_call.h) as calls are read.
 *
 * Owner: whoever reads a rank. {0} is empty. One thread.
 */
#ifndef UT_RANKS_RANKS_LINKS_H
#define UT_RANKS_RANKS_LINKS_H

#include "base/idmap.h"
#include "ranks/ranks.h"

#define UT_RANK_SENDS 8192u /* that are not complete: older ones are forgotten */

struct ut_rank_send {
	uint64_t request;
	uint32_t call; /* index */
};

/* Keys of the facts about it. */
#define UT_RANK_LINK_KEY_LIST(X)                                                                   \
	X(message)                                                                                 \
	X(request)                                                                                 \
	X(last_request)                                                                            \
	X(ranks)                                                                                   \
	X(sources)                                                                                 \
	X(destinations)                                                                            \
	X(lock)

struct ut_rank_link_keys {
#define UT_RANK_LINK_KEY(key) uint32_t key;
	UT_RANK_LINK_KEY_LIST(UT_RANK_LINK_KEY)
#undef UT_RANK_LINK_KEY
};

struct ut_rank_links {
	struct ut_rank_link_keys keys;
	int32_t me;              /* our rank; -1 = not known yet */
	struct ut_idmap counts;  /* tokens so far, by what they are about */
	struct ut_idmap opened;  /* by window: to whom we have opened it last; string + 1 */
	struct ut_idmap entered; /* by window: whose we have started to use last */
	struct ut_rank_send sends[UT_RANK_SENDS];
};

struct ut_arg;

/* Before facts are taken: of the strings of a store. */
void ut_rank_links_keys(struct ut_rank_links *l, const struct ut_strtab *strings);

/* Keeps a fact of a call if it is one of these. */
bool ut_rank_links_fact(const struct ut_rank_links *l, struct ut_ranks *r,
			const struct ut_store *store, const struct ut_arg *a,
			struct ut_rank_found *c);

/* Whom a call about a window waits for: a string, "0,2"; 0 = nobody. Before it is taken. */
uint32_t ut_rank_links_peers(const struct ut_rank_links *l, const struct ut_ranks *r,
			     const struct ut_rank_found *c);

/* The call that was put last into the rank. */
void ut_rank_links_take(struct ut_rank_links *l, const struct ut_ranks *r, struct ut_rank *one,
			const struct ut_rank_found *c);
/* Keys stay: another rank of the same store may follow. */
void ut_rank_links_release(struct ut_rank_links *l);

#endif
