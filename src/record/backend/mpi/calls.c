/*
 * calls.c - the functions that the program calls instead of MPI's: made from api.def.
 *
 * Each is there as MPI_NAME and as PMPI_NAME. The next one of the same name is the library's, or
 * that of another tool which was put in front of it: that tool sees what it saw before.
 */
#include "backend/mpi/facts.h"
#include "backend/mpi/kinds.h"
#include "backend/mpi/mpi_absent.h"
#include "backend/mpi/mpi_words.h"

/* Row 0: MPI_NAME, row 1: PMPI_NAME. */
static _Atomic(ut_mpi_fn *) next[2][UT_MPI_COUNT];

static const char *const full_names[UT_MPI_COUNT] = {
#define MPI_FN(name, ...) [UT_MPI_##name] = "PMPI_" #name,
#include "backend/mpi/api.def"
};

const char *ut_mpi_name(enum ut_mpi_id id)
{
	return full_names[id] + 1;
}

/* There is none: a program that calls it all the same has not looked (mpi_absent.h). */
static int missing(void)
{
	return ut_mpi_abi.error ? ut_mpi_abi.error : 16;
}

__attribute__((noinline)) static ut_mpi_fn *find_next(unsigned int row, enum ut_mpi_id id,
						      const void *from)
{
	ut_mpi_fn *found = ut_mpi_find(full_names[id] + !row, from);

	found = found ? found : (ut_mpi_fn *)missing;
	atomic_store_explicit(&next[row][id], found, memory_order_relaxed);
	return found;
}

static inline ut_mpi_fn *next_of(unsigned int row, enum ut_mpi_id id, const void *from)
{
	ut_mpi_fn *found = atomic_load_explicit(&next[row][id], memory_order_relaxed);

	return UT_LIKELY(found != NULL) ? found : find_next(row, id, from);
}

#define HERE ((const char *)__builtin_frame_address(0))
#define FROM __builtin_return_address(0)

#define NEXT(row, name, argc)                                                                      \
	((int (*)(UT_MPI_TYPES_##argc))next_of(row, UT_MPI_##name, FROM))(UT_MPI_ARGUMENTS_##argc)

/* ---- what api.def says --------------------------------------------------------------------- */

#define WORD(i)      a[i]
#define INT(i)       ((int32_t)a[i])
#define HANDLE(i)    ut_mpi_handle(a[i])
#define WORD_AT(i)   (*(const ut_mpi_word *)a[i])
#define INT_AT(i)    ut_mpi_int_at(a[i], 0)
#define HANDLE_AT(i) ut_mpi_handle_at(a[i], 0)
#define COUNT(i)     (wide ? (int64_t)a[i] : (int64_t)(int32_t)a[i])
#define COUNTS(i)    ((struct ut_mpi_counts){ a[i], wide })
#define IN_PLACE(i)  (a[i] == ut_mpi_abi.in_place)

#define BYTES(i, j)          ut_mpi_bytes(COUNT(i), HANDLE(j))
#define SENDS(i, j)          (IN_PLACE((i)-1) ? 0 : BYTES(i, j))
#define GETS(i, j)           SENDS(i, j)
#define ARRAY_BYTES(i, n, j) ut_mpi_array_bytes(COUNTS(i), n, HANDLE(j))
#define ARRAY_OWN(i, j)      ut_mpi_own_bytes(c->group, COUNTS(i), HANDLE(j))
#define TYPES_BYTES(i, n, j) ut_mpi_types_bytes(COUNTS(i), n, WORD(j))

#define STATUS(i)            (a[i] = ut_mpi_own_status(c, a[i]))
#define STATUS_OF(i)         a[i]
#define LOOK(n, requests, i) (a[i] = ut_mpi_look(c, n, requests, a[i]))
#define P                    (c->group->peers)
#define IN                   ut_mpi_neighbours_of(c, false)
#define OUT                  ut_mpi_neighbours_of(c, true)
#define AT_ROOT(i)           ut_mpi_at_root(c->group, INT(i))
#define TO_ROOT(i)           ut_mpi_with_root(c->group, INT(i))
#define FROM_ROOT(i)         ut_mpi_with_root(c->group, INT(i))
#define ON_COMM(handle)      ut_mpi_collective(c, UT_MPI_COMM, handle)
#define ON_WIN(handle)       ut_mpi_about_win(c, handle)

/* ---- wrappers ------------------------------------------------------------------------------ */

#define HEAD(prefix, name, argc)                                                                   \
	UT_EXPORT int prefix##name(UT_MPI_PARAMETERS_##argc);                                      \
	int prefix##name(UT_MPI_PARAMETERS_##argc)

/* What the macros of api.def use; not every function uses all of it. */
#define LOCALS(argc, large)                                                                        \
	ut_mpi_word a[] = { UT_MPI_LIST_##argc };                                                  \
	struct ut_mpi_call call, *const c = &call;                                                 \
	const bool wide = large;                                                                   \
	int code;                                                                                  \
                                                                                                   \
	(void)wide

#define CALL(prefix, row, name, argc, large, before, after)                                        \
	HEAD(prefix, name, argc)                                                                   \
	{                                                                                          \
		LOCALS(argc, large);                                                               \
		if (!ut_mpi_enter(c, UT_MPI_##name, HERE, FROM))                                   \
			return NEXT(row, name, argc);                                              \
		before;                                                                            \
		if (!c->begun)                                                                     \
			ut_mpi_begin(c);                                                           \
		code = NEXT(row, name, argc);                                                      \
		if (UT_LIKELY(!code)) {                                                            \
			after;                                                                     \
		}                                                                                  \
		ut_mpi_leave(c, code);                                                             \
		return code;                                                                       \
	}

#define POLL(prefix, row, name, argc, before, hit, after)                                          \
	HEAD(prefix, name, argc)                                                                   \
	{                                                                                          \
		LOCALS(argc, false);                                                               \
		bool is_hit = false;                                                               \
                                                                                                   \
		if (!ut_mpi_enter(c, UT_MPI_##name, HERE, FROM))                                   \
			return NEXT(row, name, argc);                                              \
		ut_mpi_poll_begin(c);                                                              \
		before;                                                                            \
		code = NEXT(row, name, argc);                                                      \
		if (!code && (hit)) {                                                              \
			is_hit = true;                                                             \
			after;                                                                     \
		}                                                                                  \
		ut_mpi_poll_end(c, code, is_hit);                                                  \
		return code;                                                                       \
	}

#define MPI_FN(name, argc, before, after)                                                          \
	CALL(MPI_, 0, name, argc, false, before, after)                                            \
	CALL(PMPI_, 1, name, argc, false, before, after)
#define MPI_LARGE(name, argc, before, after)                                                       \
	MPI_FN(name, argc, before, after)                                                          \
	CALL(MPI_, 0, name##_c, argc, true, before, after)                                         \
	CALL(PMPI_, 1, name##_c, argc, true, before, after)
#define MPI_POLL(name, argc, before, hit, after)                                                   \
	POLL(MPI_, 0, name, argc, before, hit, after)                                              \
	POLL(PMPI_, 1, name, argc, before, hit, after)
#define MPI_ON(name, argc, kind, handle, after)                                                    \
	MPI_FN(name, argc, ut_mpi_collective(c, kind, handle), after)

/*
 * Blocking, with a request behind the parameters, and prepared, with an info object and a request.
 * Which parameter is the root is found by its name: api.def says AT_ROOT(i).
 */
#define COLLECTED(sent, received)                                                                  \
	do {                                                                                       \
		if (c->group)                                                                      \
			ut_mpi_collected(c, sent, received);                                       \
	} while (0)
#define PREPARED(sent, received, request)                                                          \
	do {                                                                                       \
		if (c->group)                                                                      \
			ut_mpi_collective_prepared(c, sent, received, HANDLE_AT(request));         \
	} while (0)
#define ASKED(sent, received, request)                                                             \
	do {                                                                                       \
		COLLECTED(sent, received);                                                         \
		ut_mpi_collective_asked(c, HANDLE_AT(request));                                    \
	} while (0)

#define BEFORE(comm, root)                                                                         \
	do {                                                                                       \
		ut_mpi_collective(c, UT_MPI_COMM, HANDLE(comm));                                   \
		if ((root) >= 0)                                                                   \
			ut_mpi_root(c, INT((root) >= 0 ? (root) : 0));                             \
	} while (0)

#define COLLECTIVE(name, lower, suffix, argc, large, comm, root, sent, received)                   \
	CALL(MPI_, 0, name##suffix, argc, large, BEFORE(comm, root), COLLECTED(sent, received))    \
	CALL(PMPI_, 1, name##suffix, argc, large, BEFORE(comm, root), COLLECTED(sent, received))   \
	COLLECTIVE_1(I##lower##suffix, UT_MPI_PLUS_1(argc), large, BEFORE(comm, root),             \
		     ASKED(sent, received, argc))                                                  \
	COLLECTIVE_1(name##_init##suffix, UT_MPI_PLUS_2(argc), large,                              \
		     ut_mpi_prepare_collective(c, HANDLE(comm)),                                   \
		     PREPARED(sent, received, UT_MPI_PLUS_1(argc)))
#define COLLECTIVE_1(...) COLLECTIVE_2(__VA_ARGS__)
#define COLLECTIVE_2(name, argc, large, before, after)                                             \
	CALL(MPI_, 0, name, argc, large, before, after)                                            \
	CALL(PMPI_, 1, name, argc, large, before, after)

#define MPI_COLLECTIVE(name, lower, argc, comm, root, sent, received)                              \
	COLLECTIVE(name, lower, , argc, false, comm, root, sent, received)
#define MPI_COLLECTIVE_LARGE(name, lower, argc, comm, root, sent, received)                        \
	COLLECTIVE(name, lower, , argc, false, comm, root, sent, received)                         \
	COLLECTIVE(name, lower, _c, argc, true, comm, root, sent, received)

/* ---- the beginning and the end ------------------------------------------------------------- */

#define INIT(prefix, row, name, argc)                                                              \
	HEAD(prefix, name, argc)                                                                   \
	{                                                                                          \
		ut_mpi_word a[] = { UT_MPI_LIST_##argc };                                          \
		struct ut_mpi_call call;                                                           \
		int code;                                                                          \
                                                                                                   \
		if ((ut_mpi_me.frame && HERE < ut_mpi_me.frame) || !ut_mpi_join())                 \
			return NEXT(row, name, argc);                                              \
		ut_mpi_me.frame = HERE;                                                            \
		ut_mpi_init_begin(UT_MPI_##name);                                                  \
		code = NEXT(row, name, argc);                                                      \
		ut_mpi_init_end(&call, UT_MPI_##name, code, FROM);                                 \
		return code;                                                                       \
	}

#define MPI_OWN(name, argc)   OWN_##name(argc)
#define OWN_Init(argc)        INIT(MPI_, 0, Init, 2) INIT(PMPI_, 1, Init, 2)
#define OWN_Init_thread(argc) INIT(MPI_, 0, Init_thread, 4) INIT(PMPI_, 1, Init_thread, 4)
#define OWN_Finalize(argc)    FINALIZE(MPI_, 0) FINALIZE(PMPI_, 1)

#define FINALIZE(prefix, row)                                                                      \
	UT_EXPORT int prefix##Finalize(void);                                                      \
	int prefix##Finalize(void)                                                                 \
	{                                                                                          \
		struct ut_mpi_call call, *const c = &call;                                         \
		int code;                                                                          \
                                                                                                   \
		if (!ut_mpi_enter(c, UT_MPI_Finalize, HERE, FROM))                                 \
			return ((int (*)(void))next_of(row, UT_MPI_Finalize, FROM))();             \
		ut_mpi_finalize(c);                                                                \
		code = ((int (*)(void))next_of(row, UT_MPI_Finalize, FROM))();                     \
		ut_mpi_leave(c, code);                                                             \
		return code;                                                                       \
	}

#include "backend/mpi/api.def"

/* ---- what is not there --------------------------------------------------------------------- */

bool ut_mpi_is_absent(const void *address, const void *from)
{
	static ut_mpi_fn *const ours[2][UT_MPI_COUNT] = {
		{
#define MPI_FN(name, ...) [UT_MPI_##name] = (ut_mpi_fn *)MPI_##name,
#include "backend/mpi/api.def"
		},
		{
#define MPI_FN(name, ...) [UT_MPI_##name] = (ut_mpi_fn *)PMPI_##name,
#include "backend/mpi/api.def"
		},
	};
	const union {
		const void *pointer;
		ut_mpi_fn *function;
	} at = { .pointer = address };

	for (unsigned int i = 0; i < 2u * UT_MPI_COUNT; i++) {
		unsigned int row = i / UT_MPI_COUNT, id = i % UT_MPI_COUNT;

		if (ours[row][id] == at.function)
			return next_of(row, (enum ut_mpi_id)id, from) == (ut_mpi_fn *)missing;
	}
	return false;
}
