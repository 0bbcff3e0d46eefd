/*
 * stuck.c - a job that stands still, in the way that its argument says, until it is killed. Every
 * rank writes DIR/RANK.log before it does its last thing, and is killed SECONDS after all have.
 */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ittnotify.h"

static __itt_domain *domain;
static int rank, ranks;

static void begin(const char *name)
{
	__itt_task_begin(domain, __itt_null, __itt_null, __itt_string_handle_create(name));
}

static void note(const char *dir, int of)
{
	char path[512];

	snprintf(path, sizeof(path), "%s/%d.log", dir, of);
	fclose(fopen(path, "w"));
}

static int is_noted(const char *dir, int of)
{
	struct stat st;
	char path[512];

	snprintf(path, sizeof(path), "%s/%d.log", dir, of);
	return !stat(path, &st);
}

/* In a child that knows nothing of MPI: ends the rank when all have stood still for a while. */
static void end_later(const char *dir, int seconds)
{
	pid_t parent = getpid();

	if (fork())
		return;
	for (int i = 0; i < ranks; i++) {
		while (!is_noted(dir, i))
			usleep(10000);
	}
	sleep(seconds);
	kill(parent, SIGTERM);
	_exit(0);
}

/* Rank 1 comes to nothing that the others ask for again and again. */
static void polls(const char *how)
{
	int flag = 0, one;
	MPI_Request request;
	MPI_Status status;

	if (rank == 1) {
		begin("read_input");
		sleep(1000);
	}
	if (!strcmp(how, "poll")) {
		MPI_Irecv(&one, 1, MPI_INT, 1, 7, MPI_COMM_WORLD, &request);
		while (!flag)
			MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
	}
	if (!strcmp(how, "probe")) {
		while (!flag)
			MPI_Iprobe(1, 7, MPI_COMM_WORLD, &flag, &status);
	}
	if (!strcmp(how, "poll barrier")) {
		MPI_Ibarrier(MPI_COMM_WORLD, &request);
		while (!flag)
			MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
	}
}

/* All exchange with their neighbours, but rank 1 does not send. */
static void halo(void)
{
	int next = (rank + 1) % ranks, last = (rank + ranks - 1) % ranks, in[2], out[2] = { 0 };
	MPI_Request all[4];

	MPI_Irecv(&in[0], 1, MPI_INT, last, 7, MPI_COMM_WORLD, &all[0]);
	MPI_Irecv(&in[1], 1, MPI_INT, next, 8, MPI_COMM_WORLD, &all[1]);
	if (rank == 1) {
		begin("read_input");
		sleep(1000);
	}
	MPI_Isend(&out[0], 1, MPI_INT, next, 7, MPI_COMM_WORLD, &all[2]);
	MPI_Isend(&out[1], 1, MPI_INT, last, 8, MPI_COMM_WORLD, &all[3]);
	MPI_Waitall(4, all, MPI_STATUSES_IGNORE);
}

/* Rank 0 opens a window to rank 1, which never uses it. */
static void window(void)
{
	MPI_Group world, other;
	int one = 1, *memory;
	MPI_Win w;

	MPI_Win_allocate(64, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &w);
	MPI_Comm_group(MPI_COMM_WORLD, &world);
	MPI_Group_incl(world, 1, &one, &other);
	if (rank == 0) {
		MPI_Win_post(other, 0, w);
		MPI_Win_wait(w);
	}
	if (rank == 1) {
		begin("read_input");
		sleep(1000);
	}
}

/* Rank 1 locks memory of rank 0 and does not unlock it, and the others want it, too. */
static void lock(void)
{
	int *memory, one = 1;
	MPI_Win w;

	MPI_Win_allocate(64, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &w);
	if (rank == 1) {
		MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, w);
		MPI_Put(&one, 1, MPI_INT, 0, 0, 1, MPI_INT, w);
		MPI_Win_flush(0, w);
	}
	MPI_Barrier(MPI_COMM_WORLD);
	if (rank == 1) {
		begin("read_input");
		sleep(1000);
	}
	MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, w);
	MPI_Put(&one, 1, MPI_INT, 0, 0, 1, MPI_INT, w);
	MPI_Win_unlock(0, w);
}

int main(int argc, char **argv)
{
	const char *how = argv[1], *dir = argv[2];
	double in[1 << 16] = { 0 }, out[1 << 16];
	MPI_Request request;
	MPI_Comm half;

	(void)argc;
	MPI_Init(NULL, NULL);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	domain = __itt_domain_create("app");
	MPI_Allreduce(in, out, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
	MPI_Comm_split(MPI_COMM_WORLD, rank / 2, rank, &half);
	signal(SIGTERM, SIG_DFL);
	end_later(dir, atoi(argv[3]));
	note(dir, rank);
	if (!strcmp(how, "task") && rank == 1) {
		begin("read_input");
		begin("parse");
		sleep(1000);
	}
	if (!strcmp(how, "exit") && rank == 1) {
		begin("read_input");
		_exit(3);
	}
	if (!strcmp(how, "leave") && rank == 1)
		_exit(0);
	if (!strcmp(how, "kill") && rank == 1) {
		begin("read_input");
		raise(SIGKILL);
	}
	if (!strcmp(how, "chain") && rank == 1) /* 2 is in a task, 1 waits for it, all for 1 */
		MPI_Recv(in, 1, MPI_DOUBLE, 2, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	if (!strcmp(how, "chain") && rank == 2) {
		begin("read_input");
		sleep(1000);
	}
	if (!strcmp(how, "deadlock") && rank < 2)
		MPI_Recv(in, 1, MPI_DOUBLE, 1 - rank, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	if (!strcmp(how, "send") && rank == 0)
		MPI_Ssend(in, 1 << 16, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD);
	if (!strcmp(how, "send") && rank == 1) {
		begin("read_input");
		sleep(1000);
	}
	if (!strcmp(how, "request") && rank == 0) {
		MPI_Irecv(in, 1, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD, &request);
		MPI_Wait(&request, MPI_STATUS_IGNORE);
	}
	if (!strcmp(how, "request") && rank == 1) {
		begin("read_input");
		sleep(1000);
	}
	if (strstr(how, "poll") || !strcmp(how, "probe"))
		polls(how);
	if (!strcmp(how, "several"))
		halo();
	if (!strcmp(how, "any") && !rank)
		MPI_Recv(in, 1, MPI_DOUBLE, MPI_ANY_SOURCE, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	if (!strcmp(how, "any"))
		MPI_Recv(in, 1, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	if (!strcmp(how, "window"))
		window();
	if (!strcmp(how, "lock"))
		lock();
	if (!strcmp(how, "overlapped") && rank == 1) {
		__itt_task_begin_overlapped(domain, __itt_id_make(domain, 1), __itt_null,
					    __itt_string_handle_create("read_ahead"));
		sleep(1000);
	}
	if (!strcmp(how, "later")) {
		if (rank == 1) {
			begin("read_input");
			sleep(1000);
		}
		MPI_Iallreduce(in, out, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &request);
		MPI_Wait(&request, MPI_STATUS_IGNORE);
	}
	if (!strcmp(how, "operation") && rank == 1)
		MPI_Barrier(MPI_COMM_WORLD);
	if (!strcmp(how, "half") && rank == 3) {
		begin("read_input");
		sleep(1000);
	}
	if (!strcmp(how, "half"))
		MPI_Barrier(half);
	if (strcmp(how, "finalize") || rank == 1)
		MPI_Allreduce(in, out, 1 << 16, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
	MPI_Finalize();
	return 0;
}
