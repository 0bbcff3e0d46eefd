/*
 * late.c - rank 0 comes late, and rank 1 waits for it in a call of the kind that a word says.
 *
 *	late MS FOLDER WORD...
 *
 * What belongs to a word lies in a task of that name. Each rank writes to FOLDER/RANK.log when it
 * was late, and for how long it was in the calls that wait: "WORD late|CALL BEGIN END", in ns.
 */
#include <ittnotify.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define MUCH (4 << 20)

static int me, ranks, late_ms;
static const char *word;
static FILE *out;
static char *much, few[64];

static long long now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000LL + t.tv_nsec;
}

static void say(const char *call, long long begin)
{
	fprintf(out, "%s %.*s %lld %lld\n", word, (int)strcspn(call, "("), call, begin, now());
}

static void late(void)
{
	long long begin = now();

	usleep((useconds_t)late_ms * 1000);
	say("late", begin);
}

#define TIMED(call)                                                                                \
	do {                                                                                       \
		long long begin = now();                                                           \
		call;                                                                              \
		say(#call, begin);                                                                 \
	} while (0)

#define UNTIL(flag, call)                                                                          \
	do {                                                                                       \
		long long begin = now();                                                           \
		while (!(flag))                                                                    \
			call;                                                                      \
		say(#call, begin);                                                                 \
	} while (0)

#define WORLD MPI_COMM_WORLD
#define NONE  MPI_STATUS_IGNORE

/* ---- a late sender ------------------------------------------------------------------------- */

static void probes(const char *how)
{
	MPI_Message m;
	MPI_Status st;
	int flag = 0;

	if (me == 0) {
		late();
		MPI_Send(few, 8, MPI_CHAR, 1, 1, WORLD);
		return;
	}
	if (!strcmp(how, "probe"))
		TIMED(MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, WORLD, &st));
	if (!strcmp(how, "iprobe"))
		UNTIL(flag, MPI_Iprobe(0, 1, WORLD, &flag, &st));
	if (!strcmp(how, "mprobe"))
		TIMED(MPI_Mprobe(0, MPI_ANY_TAG, WORLD, &m, &st));
	if (!strcmp(how, "improbe"))
		UNTIL(flag, MPI_Improbe(MPI_ANY_SOURCE, 1, WORLD, &flag, &m, &st));
	if (strstr(how, "mprobe"))
		MPI_Mrecv(few, 8, MPI_CHAR, &m, NONE);
	else
		MPI_Recv(few, 8, MPI_CHAR, 0, 1, WORLD, NONE);
}

static void receives(const char *how)
{
	MPI_Request r[2] = { MPI_REQUEST_NULL, MPI_REQUEST_NULL };
	int flag = 0, index, done[2];

	if (me == 0) {
		late();
		MPI_Send(few, 8, MPI_CHAR, 1, 1, WORLD);
		return;
	}
	if (!strcmp(how, "persistent")) {
		MPI_Recv_init(few, 8, MPI_CHAR, 0, 1, WORLD, &r[0]);
		MPI_Start(&r[0]);
		TIMED(MPI_Wait(&r[0], NONE));
		MPI_Request_free(&r[0]);
		return;
	}
	MPI_Irecv(few, 8, MPI_CHAR, 0, 1, WORLD, &r[1]);
	if (!strcmp(how, "test"))
		UNTIL(flag, MPI_Test(&r[1], &flag, NONE));
	if (!strcmp(how, "testany"))
		UNTIL(flag, MPI_Testany(2, r, &index, &flag, NONE));
	if (!strcmp(how, "testall"))
		UNTIL(flag, MPI_Testall(2, r, &flag, MPI_STATUSES_IGNORE));
	if (!strcmp(how, "testsome"))
		UNTIL(flag > 0, MPI_Testsome(2, r, &flag, done, MPI_STATUSES_IGNORE));
	if (!strcmp(how, "waitany"))
		TIMED(MPI_Waitany(2, r, &index, NONE));
	if (!strcmp(how, "waitsome"))
		TIMED(MPI_Waitsome(2, r, &flag, done, MPI_STATUSES_IGNORE));
	/* for a while it only asks, between probes for what does not come; then it waits */
	if (!strcmp(how, "spin")) {
		long long begin = now();

		while (!flag && now() - begin < late_ms * 500000LL) {
			MPI_Iprobe(0, 9, WORLD, &index, NONE);
			MPI_Test(&r[1], &flag, NONE);
		}
		MPI_Wait(&r[1], NONE);
		say("MPI_Wait", begin);
	}
}

static void parts(void)
{
#if MPI_VERSION >= 4
	MPI_Request r;

	if (me == 0)
		MPI_Psend_init(few, 4, 2, MPI_CHAR, 1, 1, WORLD, MPI_INFO_NULL, &r);
	else
		MPI_Precv_init(few, 4, 2, MPI_CHAR, 0, 1, WORLD, MPI_INFO_NULL, &r);
	for (int i = 0; i < 2; i++) {
		MPI_Sendrecv(few + 8, 1, MPI_CHAR, 1 - me, 3, few + 16, 1, MPI_CHAR, 1 - me, 3,
			     WORLD, NONE);
		MPI_Start(&r);
		if (me == 0) {
			MPI_Pready_range(0, 2, r);
			late();
			MPI_Pready(3, r);
			MPI_Wait(&r, NONE);
		} else {
			TIMED(MPI_Wait(&r, NONE));
		}
	}
	MPI_Request_free(&r);
#endif
}

/* ---- a late receiver ----------------------------------------------------------------------- */

static void sends(const char *how)
{
	MPI_Request r[2];
	int flag = 0;

	if (me == 0) {
		if (!strcmp(how, "irecv"))
			MPI_Irecv(much, MUCH, MPI_CHAR, 1, 1, WORLD, &r[0]);
		late();
		if (!strcmp(how, "irecv"))
			MPI_Wait(&r[0], NONE);
		else
			MPI_Recv(much, MUCH, MPI_CHAR, 1, 1, WORLD, NONE);
		return;
	}
	if (!strcmp(how, "ssend"))
		TIMED(MPI_Ssend(much, MUCH, MPI_CHAR, 0, 1, WORLD));
	if (!strcmp(how, "start")) {
		MPI_Ssend_init(much, MUCH, MPI_CHAR, 0, 1, WORLD, &r[0]);
		MPI_Start(&r[0]);
		TIMED(MPI_Wait(&r[0], NONE));
		MPI_Request_free(&r[0]);
	}
	if (strcmp(how, "ssend") && strcmp(how, "start"))
		MPI_Issend(much, MUCH, MPI_CHAR, 0, 1, WORLD, &r[0]);
	if (!strcmp(how, "isend") || !strcmp(how, "irecv"))
		TIMED(MPI_Wait(&r[0], NONE));
	if (!strcmp(how, "itest"))
		UNTIL(flag, MPI_Test(&r[0], &flag, NONE));
	if (!strcmp(how, "iall")) { /* beside a receive that has come long ago */
		MPI_Irecv(few, 8, MPI_CHAR, 1, 2, WORLD, &r[1]);
		MPI_Send(few + 32, 8, MPI_CHAR, 1, 2, WORLD);
		TIMED(MPI_Waitall(2, r, MPI_STATUSES_IGNORE));
	}
}

/* ---- windows ------------------------------------------------------------------------------- */

static void windows(const char *how)
{
	MPI_Group world, other;
	char *memory;
	MPI_Win w;
	int peer = 1 - me;

	if (me > 1)
		peer = 0;
	MPI_Comm_group(WORLD, &world);
	MPI_Group_incl(world, 1, &peer, &other);
	memory = calloc(1, 1024);
	MPI_Win_create(memory, 1024, 1, MPI_INFO_NULL, WORLD, &w);
	for (int i = 0; i < 2; i++) {
		MPI_Barrier(WORLD);
		if (!strcmp(how, "origin") && me == 1) { /* the target waits for a late origin */
			MPI_Win_post(other, 0, w);
			TIMED(MPI_Win_wait(w));
		} else if (!strcmp(how, "origin") && me == 0) {
			MPI_Win_start(other, 0, w);
			MPI_Put(few, 8, MPI_CHAR, 1, 0, 8, MPI_CHAR, w);
			late();
			MPI_Win_complete(w);
		} else if (!strcmp(how, "target") &&
			   me == 1) { /* the origin waits for a late target */
			long long begin = now();

			MPI_Win_start(other, 0, w);
			MPI_Put(few, 8, MPI_CHAR, 0, 0, 8, MPI_CHAR, w);
			MPI_Win_complete(w);
			say("target", begin);
		} else if (!strcmp(how, "target") && me == 0) {
			late();
			MPI_Win_post(other, 0, w);
			MPI_Win_wait(w);
		} else if (!strcmp(how, "fence")) {
			if (!me)
				late();
			TIMED(MPI_Win_fence(0, w));
		} else if (!strcmp(how, "lock")) { /* rank 0 holds what rank 1 wants */
			if (me == 0) {
				MPI_Win_lock(MPI_LOCK_EXCLUSIVE, ranks - 1, 0, w);
				MPI_Put(few, 8, MPI_CHAR, ranks - 1, 0, 8, MPI_CHAR, w);
				MPI_Win_flush(ranks - 1, w);
				MPI_Send(few, 1, MPI_CHAR, 1, 0, WORLD);
				late();
				MPI_Win_unlock(ranks - 1, w);
			} else if (me == 1) {
				long long begin;

				MPI_Recv(few, 1, MPI_CHAR, 0, 0, WORLD, NONE);
				begin = now();
				MPI_Win_lock(MPI_LOCK_EXCLUSIVE, ranks - 1, 0, w);
				MPI_Put(few, 8, MPI_CHAR, ranks - 1, 0, 8, MPI_CHAR, w);
				MPI_Win_unlock(ranks - 1, w);
				say("lock", begin);
			}
			/* the target is in MPI all the time */
		} else if (!strcmp(how, "busy")) { /* the target of a lock is not in MPI */
			if (me == 0) {
				late();
			} else if (me == 1) {
				long long begin = now();

				MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, w);
				MPI_Get(few, 8, MPI_CHAR, 0, 0, 8, MPI_CHAR, w);
				MPI_Win_unlock(0, w);
				say("busy", begin);
			}
		}
	}
	MPI_Barrier(WORLD);
	MPI_Win_free(&w);
	MPI_Group_free(&other);
	MPI_Group_free(&world);
}

/* ---- files --------------------------------------------------------------------------------- */

static void files(const char *how, const char *folder)
{
	MPI_Request r;
	char path[4096];
	MPI_File f;

	snprintf(path, sizeof(path), "%s/%s", folder, how);
	if (!strcmp(how, "open")) {
		if (!me)
			late();
		TIMED(MPI_File_open(WORLD, path, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL,
				    &f));
	} else {
		MPI_File_open(WORLD, path, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &f);
	}
	if (!strcmp(how, "write_all")) {
		if (!me)
			late();
		TIMED(MPI_File_write_at_all(f, me * MUCH, much, MUCH, MPI_CHAR, NONE));
	}
	if (!strcmp(how, "io")) { /* nobody is late: each writes and reads for itself */
		TIMED(MPI_File_write_at(f, (MPI_Offset)me * MUCH, much, MUCH, MPI_CHAR, NONE));
		TIMED(MPI_File_read_at(f, (MPI_Offset)me * MUCH, much, MUCH / 2, MPI_CHAR, NONE));
		MPI_File_iwrite_at(f, (MPI_Offset)me * MUCH, much, MUCH / 4, MPI_CHAR, &r);
		TIMED(MPI_Wait(&r, NONE));
	}
	if (!strcmp(how, "view")) {
		if (!me)
			late();
		TIMED(MPI_File_set_view(f, 0, MPI_CHAR, MPI_CHAR, "native", MPI_INFO_NULL));
	}
	if (!strcmp(how, "close")) {
		if (!me)
			late();
		TIMED(MPI_File_close(&f));
	} else {
		MPI_File_close(&f);
	}
}

/* ---- collective calls ---------------------------------------------------------------------- */

static void collectives(const char *how)
{
	int one = 1, all = 0, flag = 0, dims = ranks, periods = 1, *in;
	MPI_Comm comm;
	MPI_Request r;

	in = calloc((size_t)ranks + 2, sizeof(*in));
	if (!strcmp(how, "neighbours") || !strcmp(how, "ineighbours"))
		MPI_Cart_create(WORLD, 1, &dims, &periods, 0, &comm);
	MPI_Barrier(WORLD);
	if (!me)
		late();
	if (!strcmp(how, "ibarrier")) {
		MPI_Ibarrier(WORLD, &r);
		UNTIL(flag, MPI_Test(&r, &flag, NONE));
	}
	if (!strcmp(how, "iallreduce")) {
		MPI_Iallreduce(&one, &all, 1, MPI_INT, MPI_SUM, WORLD, &r);
		TIMED(MPI_Wait(&r, NONE));
	}
	if (!strcmp(how, "split")) {
		TIMED(MPI_Comm_split(WORLD, 0, me, &comm));
		MPI_Comm_free(&comm);
	}
	if (!strcmp(how, "dup")) {
		TIMED(MPI_Comm_dup(WORLD, &comm));
		MPI_Comm_free(&comm);
	}
	if (!strcmp(how, "neighbours")) {
		TIMED(MPI_Neighbor_allgather(&me, 1, MPI_INT, in, 1, MPI_INT, comm));
		MPI_Comm_free(&comm);
	}
	if (!strcmp(how, "ineighbours")) {
		MPI_Ineighbor_allgather(&me, 1, MPI_INT, in, 1, MPI_INT, comm, &r);
		TIMED(MPI_Wait(&r, NONE));
		MPI_Comm_free(&comm);
	}
	free(in);
}

/* Is it one of these words? */
static int among(const char *words, const char *how)
{
	size_t len = strlen(how);
	const char *at = words;

	while ((at = strstr(at, how)) &&
	       ((at > words && at[-1] != ' ') || (at[len] && at[len] != ' ')))
		at++;
	return at != NULL;
}

static void run(const char *how, const char *folder)
{
	if (among("probe iprobe mprobe improbe", how) && me < 2)
		probes(how);
	if (among("persistent test testany testall testsome waitany waitsome spin", how) && me < 2)
		receives(how);
	if (among("ssend isend irecv itest iall start", how) && me < 2)
		sends(how);
	if (among("parts", how) && me < 2)
		parts();
	if (among("origin target fence lock busy", how))
		windows(how);
	if (among("open write_all io view close", how))
		files(how, folder);
	if (among("ibarrier iallreduce split dup neighbours ineighbours", how))
		collectives(how);
	if (among("exchange", how) && me < 2) {
		if (!me)
			late();
		TIMED(MPI_Sendrecv(few, 8, MPI_CHAR, 1 - me, 1, few + 32, 8, MPI_CHAR, 1 - me, 1,
				   WORLD, NONE));
	}
	if (among("finalize", how) && !me)
		late();
}

int main(int argc, char **argv)
{
	__itt_domain *d = __itt_domain_create("late");
	char path[4096];

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(WORLD, &me);
	MPI_Comm_size(WORLD, &ranks);
	late_ms = atoi(argv[1]);
	snprintf(path, sizeof(path), "%s/%d.log", argv[2], me);
	out = fopen(path, "w");
	much = calloc(1, MUCH);
	for (int i = 3; i < argc; i++) {
		word = argv[i];
		MPI_Barrier(WORLD);
		__itt_task_begin(d, __itt_null, __itt_null, __itt_string_handle_create(word));
		run(word, argv[2]);
		__itt_task_end(d);
	}
	TIMED(MPI_Finalize());
	fclose(out);
	return 0;
}
