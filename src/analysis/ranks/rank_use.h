/*
 * rank_use.h - what calls do to those who make them, by their names.
 */
#ifndef UT_RANKS_RANK_USE_H
#define UT_RANKS_RANK_USE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

/* What a call does to its caller; with the word that tables have for it. */
#define UT_RANK_USE_LIST(X)                                                                        \
	X(OTHER, "other")         /* makes or frees something, asks for something */               \
	X(POST, "post")           /* begins something and does not wait: MPI_Isend */              \
	X(SEND, "send")           /* may wait until the other one receives */                      \
	X(RECEIVE, "receive")     /* waits until the other one sends */                            \
	X(EXCHANGE, "exchange")   /* both */                                                       \
	X(WAIT, "wait")           /* for what was begun before */                                  \
	X(ALL, "all")             /* collective: everybody needs everybody */                      \
	X(FROM_ROOT, "from root") /* everybody needs the root */                                   \
	X(TO_ROOT, "to root")     /* the root needs everybody */                                   \
	X(SCAN, "scan")           /* everybody needs those below */                                \
	X(NEIGHBOURS, "neighbours")                                                                \
	X(ONE_SIDED, "one-sided")                                                                  \
	X(FILE, "file")                                                                            \
	X(WAIT_FILE, "file wait") /* for what was begun before with a file */                      \
	X(IDLE, "idle")           /* no call: what MPI says about itself inside of one */          \
	X(INIT, "init")                                                                            \
	X(FINALIZE, "finalize")

enum ut_rank_use {
#define UT_RANK_USE_ENUM(use, text) UT_RANK_##use,
	UT_RANK_USE_LIST(UT_RANK_USE_ENUM)
#undef UT_RANK_USE_ENUM
	UT_RANK_USES
};

/* Do all make a call of this name together, without data for each other: about a file, at the end?
 */
bool ut_rank_meets_loosely(struct ut_str name);
/* The same as ut_rank_meets(), of those as well. */
enum ut_rank_use ut_rank_meets_of(struct ut_str name);
/* Does a call of this name only ask? It has failed if it has no facts. */
bool ut_rank_is_poll(struct ut_str name);
/* What a call of this name does; and which collective call it is or begins, else OTHER. */
enum ut_rank_use ut_rank_use_of(struct ut_str name);
enum ut_rank_use ut_rank_meets(struct ut_str name);
/* Can nobody leave a collective call of this name, if data is moved, before the others came? */
bool ut_rank_is_firm(struct ut_str name, bool moves);

static inline bool ut_rank_is_collective(uint8_t use)
{
	return use >= UT_RANK_ALL && use <= UT_RANK_SCAN;
}

static inline bool ut_rank_completes(uint8_t use)
{
	return use == UT_RANK_WAIT || use == UT_RANK_WAIT_FILE;
}

static inline bool ut_rank_is_file(uint8_t use)
{
	return use == UT_RANK_FILE || use == UT_RANK_WAIT_FILE;
}

/* What a call does with a window that some ranks open to some others. */
enum ut_rank_epoch {
	UT_RANK_NO_EPOCH,
	UT_RANK_EPOCH_POST,     /* the target opens it */
	UT_RANK_EPOCH_START,    /* the origin waits for that */
	UT_RANK_EPOCH_COMPLETE, /* the origin has done what it wanted */
	UT_RANK_EPOCH_WAIT,     /* the target waits for that */
	UT_RANK_EPOCH_LOCK,
	UT_RANK_EPOCH_UNLOCK,
	UT_RANK_EPOCH_FLUSH, /* in between */
};

enum ut_rank_epoch ut_rank_epoch_of(struct ut_str name);

/* Does the call move data or wait for somebody? Others have neither transfer nor waiting. */
static inline bool ut_rank_communicates(uint8_t use)
{
	return use >= UT_RANK_POST && use <= UT_RANK_ONE_SIDED;
}

#endif
