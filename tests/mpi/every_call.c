/* every_call.c - most functions of MPI, each with a line in the log (log.h). Four ranks. */
#include "log.h"

#define N 100

static int64_t out[8][N], in[8][N];
static int right, left;

/* Fills a buffer with a stamp, to be sent. */
static int64_t *mark(int i)
{
	for (int k = 0; k < N; k++)
		out[i][k] = stamp();
	return out[i];
}

/* ---- point to point ------------------------------------------------------------------------ */

static void blocking(void)
{
	MPI_Status st;

	if (me % 2 == 0) {
		mark(0);
		MPI_Send(out[0], 10, MPI_INT64_T, right, 1, MPI_COMM_WORLD);
		says("MPI_Send to=%d tag=1 bytes=80 comm=MPI_COMM_WORLD sent=%ld", right,
		     (long)out[0][0]);
		mark(1);
		MPI_Ssend(out[1], 11, MPI_INT64_T, right, 1, MPI_COMM_WORLD);
		says("MPI_Ssend to=%d tag=1 bytes=88 sent=%ld", right, (long)out[1][0]);
		MPI_Recv(in[0], N, MPI_INT64_T, MPI_ANY_SOURCE, 2, MPI_COMM_WORLD, &st);
		says("MPI_Recv from=%d tag=2 bytes=96 got=%ld", st.MPI_SOURCE, (long)in[0][0]);
	} else {
		MPI_Recv(in[0], N, MPI_INT64_T, left, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		says("MPI_Recv from=%d tag=1 bytes=80 got=%ld", left, (long)in[0][0]);
		MPI_Recv(in[0], N, MPI_INT64_T, left, 1, MPI_COMM_WORLD, &st);
		says("MPI_Recv from=%d tag=1 bytes=88 got=%ld", left, (long)in[0][0]);
		mark(0);
		MPI_Send(out[0], 12, MPI_INT64_T, left, 2, MPI_COMM_WORLD);
		says("MPI_Send to=%d tag=2 bytes=96 sent=%ld", left, (long)out[0][0]);
	}
	mark(0);
	MPI_Sendrecv(out[0], 7, MPI_INT64_T, right, 3, in[0], N, MPI_INT64_T, left, 3,
		     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	says("MPI_Sendrecv to=%d tag=3 bytes=56 from=%d from_tag=3 received=56 sent=%ld got=%ld",
	     right, left, (long)out[0][0], (long)in[0][0]);
	mark(0);
	memcpy(in[0], out[0], sizeof(in[0]));
	MPI_Sendrecv_replace(in[0], 5, MPI_INT64_T, left, 4, right, 4, MPI_COMM_WORLD, &st);
	says("MPI_Sendrecv_replace to=%d from=%d bytes=40 received=40 sent=%ld got=%ld", left,
	     right, (long)out[0][0], (long)in[0][0]);
	MPI_Send(out[0], 5, MPI_INT, MPI_PROC_NULL, 4, MPI_COMM_WORLD);
	says("MPI_Send");
	MPI_Recv(in[0], 5, MPI_INT, MPI_PROC_NULL, 4, MPI_COMM_WORLD, &st);
	says("MPI_Recv");
}

/* Posted in one order, asked for in another. */
static void out_of_order(void)
{
	MPI_Request r[4], s[4];
	MPI_Status st[4];
	int index, some[4], count, flag = 0;

	for (int i = 0; i < 4; i++) {
		MPI_Irecv(in[i], N, MPI_INT64_T, left, 5, MPI_COMM_WORLD, &r[i]);
		says("MPI_Irecv from=%d tag=5", left);
	}
	for (int i = 0; i < 4; i++) {
		mark(i);
		MPI_Isend(out[i], 3, MPI_DOUBLE, right, 5, MPI_COMM_WORLD, &s[i]);
		says("MPI_Isend to=%d tag=5 bytes=24 sent=%ld", right, (long)out[i][0]);
	}
	MPI_Wait(&r[2], MPI_STATUS_IGNORE);
	says("MPI_Wait from=%d tag=5 bytes=24 got=%ld", left, (long)in[2][0]);
	MPI_Waitany(2, r, &index, &st[0]);
	says("MPI_Waitany from=%d bytes=24 got=%ld", left, (long)in[index][0]);
	MPI_Waitsome(2, r, &count, some, MPI_STATUSES_IGNORE);
	says("MPI_Waitsome from=%d bytes=24 got=%ld", left, (long)in[some[0]][0]);
	while (!flag)
		MPI_Test(&r[3], &flag, MPI_STATUS_IGNORE);
	says("MPI_Test from=%d tag=5 bytes=24 got=%ld", left, (long)in[3][0]);
	MPI_Waitall(4, s, MPI_STATUSES_IGNORE);
	says("MPI_Waitall");
	/* Wildcards in front of receives that fit as well. */
	MPI_Irecv(in[0], N, MPI_INT64_T, MPI_ANY_SOURCE, 6, MPI_COMM_WORLD, &r[0]);
	says("MPI_Irecv tag=6");
	MPI_Irecv(in[1], N, MPI_INT64_T, left, MPI_ANY_TAG, MPI_COMM_WORLD, &r[1]);
	says("MPI_Irecv from=%d", left);
	MPI_Irecv(in[2], N, MPI_INT64_T, left, 6, MPI_COMM_WORLD, &r[2]);
	says("MPI_Irecv from=%d tag=6", left);
	for (int i = 0; i < 3; i++) {
		mark(i);
		MPI_Isend(out[i], 4 + i, MPI_INT64_T, right, 6, MPI_COMM_WORLD, &s[i]);
		says("MPI_Isend to=%d tag=6 bytes=%d sent=%ld", right, 8 * (4 + i),
		     (long)out[i][0]);
	}
	MPI_Wait(&r[2], &st[0]);
	says("MPI_Wait from=%d tag=6 bytes=48 got=%ld", left, (long)in[2][0]);
	MPI_Wait(&r[1], &st[0]);
	says("MPI_Wait from=%d tag=6 bytes=40 got=%ld", left, (long)in[1][0]);
	MPI_Wait(&r[0], &st[0]);
	says("MPI_Wait from=%d tag=6 bytes=32 got=%ld", left, (long)in[0][0]);
	MPI_Waitall(3, s, st);
	says("MPI_Waitall");
}

static void probes(void)
{
	MPI_Request r;
	MPI_Message m;
	MPI_Status st;

	mark(0);
	MPI_Isend(out[0], 9, MPI_INT64_T, right, 8, MPI_COMM_WORLD, &r);
	says("MPI_Isend to=%d tag=8 bytes=72 sent=%ld", right, (long)out[0][0]);
	MPI_Probe(MPI_ANY_SOURCE, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	says("MPI_Probe from=%d tag=8 bytes=72", left);
	MPI_Mprobe(MPI_ANY_SOURCE, 8, MPI_COMM_WORLD, &m, &st);
	says("MPI_Mprobe from=%d tag=8 bytes=72", left);
	MPI_Mrecv(in[0], N, MPI_INT64_T, &m, &st);
	says("MPI_Mrecv from=%d tag=8 bytes=72 got=%ld", left, (long)in[0][0]);
	MPI_Wait(&r, &st);
	says("MPI_Wait");
	mark(1);
	MPI_Isend(out[1], 9, MPI_INT64_T, right, 8, MPI_COMM_WORLD, &r);
	says("MPI_Isend to=%d tag=8 bytes=72 sent=%ld", right, (long)out[1][0]);
	MPI_Recv(in[0], N, MPI_INT64_T, left, 8, MPI_COMM_WORLD, &st);
	says("MPI_Recv from=%d tag=8 bytes=72 got=%ld", left, (long)in[0][0]);
	MPI_Wait(&r, MPI_STATUS_IGNORE);
	says("MPI_Wait");
}

/* A receive that is cancelled takes no number from those behind it. */
static void cancelled(void)
{
	MPI_Request r[2];
	MPI_Status st;

	MPI_Irecv(in[0], N, MPI_INT64_T, left, 12, MPI_COMM_WORLD, &r[0]);
	says("MPI_Irecv from=%d tag=12", left);
	MPI_Irecv(in[1], N, MPI_INT64_T, left, 12, MPI_COMM_WORLD, &r[1]);
	says("MPI_Irecv from=%d tag=12", left);
	MPI_Cancel(&r[0]);
	says("MPI_Cancel");
	MPI_Wait(&r[0], &st);
	says("MPI_Wait");
	MPI_Barrier(MPI_COMM_WORLD);
	says("MPI_Barrier comm=MPI_COMM_WORLD");
	mark(0);
	MPI_Send(out[0], 2, MPI_INT64_T, right, 12, MPI_COMM_WORLD);
	says("MPI_Send to=%d tag=12 bytes=16 sent=%ld", right, (long)out[0][0]);
	MPI_Wait(&r[1], &st);
	says("MPI_Wait from=%d tag=12 bytes=16 got=%ld", left, (long)in[1][0]);
}

static void persistent(void)
{
	MPI_Request r[2];

	MPI_Send_init(out[0], 6, MPI_INT64_T, right, 9, MPI_COMM_WORLD, &r[0]);
	says("MPI_Send_init to=%d tag=9", right);
	MPI_Recv_init(in[0], N, MPI_INT64_T, left, 9, MPI_COMM_WORLD, &r[1]);
	says("MPI_Recv_init from=%d tag=9", left);
	for (int i = 0; i < 3; i++) {
		mark(0);
		if (i == 1) {
			MPI_Startall(2, r);
			says("MPI_Startall requests=2");
			says("MPI_Start to=%d tag=9 bytes=48 sent=%ld", right, (long)out[0][0]);
			says("MPI_Start");
		} else {
			MPI_Start(&r[1]);
			says("MPI_Start");
			MPI_Start(&r[0]);
			says("MPI_Start to=%d tag=9 bytes=48 sent=%ld", right, (long)out[0][0]);
		}
		MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
		says("MPI_Waitall from=%d tag=9 bytes=48 got=%ld", left, (long)in[0][0]);
	}
	MPI_Request_free(&r[0]);
	says("MPI_Request_free");
	MPI_Request_free(&r[1]);
	says("MPI_Request_free");
}

/* A type with holes: 3 blocks of 2 doubles. */
static void types(void)
{
	MPI_Datatype type;
	double from[16] = { 0 }, to[16];

	MPI_Type_vector(3, 2, 4, MPI_DOUBLE, &type);
	MPI_Type_commit(&type);
	MPI_Sendrecv(from, 1, type, right, 10, to, 1, type, left, 10, MPI_COMM_WORLD,
		     MPI_STATUS_IGNORE);
	says("MPI_Sendrecv to=%d bytes=48 received=48", right);
	MPI_Type_free(&type);
	says("MPI_Type_free");
	MPI_Type_contiguous(5, MPI_CHAR, &type);
	MPI_Type_commit(&type);
	MPI_Bcast(from, 3, type, 1, MPI_COMM_WORLD);
	says("MPI_Bcast root=1 %s=15", me == 1 ? "bytes" : "received");
	MPI_Type_free(&type);
	says("MPI_Type_free");
}

/* ---- collective ---------------------------------------------------------------------------- */

static void collectives(MPI_Comm comm, const char *name)
{
	int counts[64], displs[64], rank, size, sum = 0;
	static int a[64 * 64], b[64 * 64];

	MPI_Comm_rank(comm, &rank);
	MPI_Comm_size(comm, &size);
	for (int i = 0; i < size; i++) {
		counts[i] = i + 1;
		displs[i] = sum;
		sum += i + 1;
	}
	MPI_Barrier(comm);
	says("MPI_Barrier comm=%s", name);
	MPI_Reduce(a, b, 10, MPI_DOUBLE, MPI_SUM, 0, comm);
	says("MPI_Reduce bytes=80 %s", rank ? "" : "received=80");
	MPI_Allreduce(MPI_IN_PLACE, b, 11, MPI_DOUBLE, MPI_SUM, comm);
	says("MPI_Allreduce bytes=88 received=88");
	MPI_Gather(a, 3, MPI_INT, b, 3, MPI_INT, 0, comm);
	says("MPI_Gather bytes=12 %s%d", rank ? "none=" : "received=", rank ? 0 : 12 * size);
	MPI_Gatherv(a, rank + 1, MPI_INT, b, counts, displs, MPI_INT, 0, comm);
	says("MPI_Gatherv bytes=%d", 4 * (rank + 1));
	MPI_Scatter(a, 2, MPI_INT, rank ? b : MPI_IN_PLACE, 2, MPI_INT, 0, comm);
	says("MPI_Scatter %s=%d", rank ? "received" : "bytes", rank ? 8 : 8 * size);
	MPI_Scatterv(a, counts, displs, MPI_INT, b, rank + 1, MPI_INT, 0, comm);
	says("MPI_Scatterv received=%d", 4 * (rank + 1));
	MPI_Allgather(a, 5, MPI_INT, b, 5, MPI_INT, comm);
	says("MPI_Allgather bytes=20 received=%d", 20 * size);
	MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, b, counts, displs, MPI_INT, comm);
	says("MPI_Allgatherv bytes=%d received=%d", 4 * (rank + 1), 4 * sum);
	MPI_Alltoall(a, 2, MPI_INT, b, 2, MPI_INT, comm);
	says("MPI_Alltoall bytes=%d received=%d", 8 * size, 8 * size);
	MPI_Scan(a, b, 4, MPI_INT, MPI_SUM, comm);
	says("MPI_Scan bytes=16 received=16");
	MPI_Exscan(a, b, 4, MPI_INT, MPI_SUM, comm);
	says("MPI_Exscan bytes=16 received=16");
	MPI_Reduce_scatter_block(a, b, 3, MPI_INT, MPI_SUM, comm);
	says("MPI_Reduce_scatter_block bytes=%d received=12", 12 * size);
	MPI_Reduce_scatter(a, b, counts, MPI_INT, MPI_SUM, comm);
	says("MPI_Reduce_scatter bytes=%d received=%d", 4 * sum, 4 * (rank + 1));
}

static void nonblocking(void)
{
	MPI_Request r;
	int a[4] = { 0 }, b[4];

	MPI_Iallreduce(a, b, 4, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &r);
	says("MPI_Iallreduce bytes=16 received=16 comm=MPI_COMM_WORLD");
	MPI_Wait(&r, MPI_STATUS_IGNORE);
	says("MPI_Wait collective=MPI_Iallreduce comm=MPI_COMM_WORLD");
	MPI_Ibarrier(MPI_COMM_WORLD, &r);
	says("MPI_Ibarrier comm=MPI_COMM_WORLD");
	MPI_Wait(&r, MPI_STATUS_IGNORE);
	says("MPI_Wait collective=MPI_Ibarrier");
}

static void communicators(void)
{
	MPI_Comm half, copy, none, ring, inter, merged;
	MPI_Group world, odd;
	int dims = ranks, periodic = 1, a = 0, b[2], c[2], list[2] = { 0, 1 };
	MPI_Request r;
	MPI_Status st;

	MPI_Comm_split(MPI_COMM_WORLD, me % 2, -me, &half);
	says("MPI_Comm_split comm=MPI_COMM_WORLD size=%d", (ranks + 1 - me % 2) / 2);
	collectives(half, "*");
	/* Ranks are turned round in there: 0 is the highest of the world. */
	MPI_Sendrecv(&a, 1, MPI_INT, 1 - (me < 2), 1, b, 1, MPI_INT, 1 - (me < 2), 1, half, &st);
	says("MPI_Sendrecv to=%d from=%d bytes=4", (me + 2) % 4, (me + 2) % 4);
	MPI_Comm_dup(half, &copy);
	says("MPI_Comm_dup");
	MPI_Barrier(copy);
	says("MPI_Barrier comm=*");
	MPI_Comm_split(MPI_COMM_WORLD, me ? MPI_UNDEFINED : 1, 0, &none);
	says("MPI_Comm_split comm=MPI_COMM_WORLD");
	if (none != MPI_COMM_NULL) {
		MPI_Comm_free(&none);
		says("MPI_Comm_free");
	}
	MPI_Comm_group(MPI_COMM_WORLD, &world);
	MPI_Group_incl(world, 2, list, &odd);
	if (me < 2) {
		MPI_Comm_create_group(MPI_COMM_WORLD, odd, 5, &none);
		says("MPI_Comm_create_group size=2");
		MPI_Barrier(none);
		says("MPI_Barrier comm=*");
		MPI_Comm_free(&none);
		says("MPI_Comm_free");
	}
	MPI_Group_free(&odd);
	MPI_Group_free(&world);
	MPI_Cart_create(MPI_COMM_WORLD, 1, &dims, &periodic, 0, &ring);
	says("MPI_Cart_create size=%d", ranks);
	MPI_Neighbor_allgather(&a, 1, MPI_INT, b, 1, MPI_INT, ring);
	says("MPI_Neighbor_allgather bytes=8 received=8");
	MPI_Ineighbor_alltoall(b, 1, MPI_INT, c, 1, MPI_INT, ring, &r);
	says("MPI_Ineighbor_alltoall bytes=8");
	MPI_Wait(&r, &st);
	says("MPI_Wait collective=MPI_Ineighbor_alltoall");
	MPI_Comm_free(&ring);
	says("MPI_Comm_free");
	MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, me % 2 ? ranks - 2 : ranks - 1, 77, &inter);
	says("MPI_Intercomm_create");
	MPI_Bcast(&a, 1, MPI_INT, me % 2 ? 0 : (me == ranks - 2 ? MPI_ROOT : MPI_PROC_NULL), inter);
	says("MPI_Bcast comm=*%s", me % 2 ? " received=4" : me == ranks - 2 ? " bytes=4" : "");
	MPI_Intercomm_merge(inter, me % 2, &merged);
	says("MPI_Intercomm_merge size=%d", ranks);
	MPI_Barrier(merged);
	says("MPI_Barrier comm=*");
	MPI_Comm_free(&merged);
	says("MPI_Comm_free");
	MPI_Comm_free(&inter);
	says("MPI_Comm_free");
	MPI_Comm_free(&copy);
	says("MPI_Comm_free");
	MPI_Comm_free(&half);
	says("MPI_Comm_free");
}

/* ---- one-sided, files ---------------------------------------------------------------------- */

static void windows(void)
{
	int64_t memory[8] = { 0 }, mine[8] = { 0 };
	MPI_Win win;

	MPI_Win_create(memory, sizeof(memory), 8, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
	says("MPI_Win_create comm=MPI_COMM_WORLD");
	MPI_Win_fence(0, win);
	says("MPI_Win_fence win=*");
	MPI_Put(mine, 2, MPI_INT64_T, right, 0, 2, MPI_INT64_T, win);
	says("MPI_Put target=%d bytes=16 win=*", right);
	MPI_Get(mine + 4, 3, MPI_INT64_T, left, 4, 3, MPI_INT64_T, win);
	says("MPI_Get target=%d received=24", left);
	MPI_Accumulate(mine, 1, MPI_INT64_T, right, 3, 1, MPI_INT64_T, MPI_SUM, win);
	says("MPI_Accumulate target=%d bytes=8", right);
	MPI_Win_fence(0, win);
	says("MPI_Win_fence win=*");
	MPI_Win_lock(MPI_LOCK_SHARED, right, 0, win);
	says("MPI_Win_lock target=%d", right);
	MPI_Fetch_and_op(mine, mine + 1, MPI_INT64_T, right, 7, MPI_SUM, win);
	says("MPI_Fetch_and_op target=%d bytes=8 received=8", right);
	MPI_Win_flush(right, win);
	says("MPI_Win_flush target=%d", right);
	MPI_Win_unlock(right, win);
	says("MPI_Win_unlock target=%d", right);
	MPI_Win_free(&win);
	says("MPI_Win_free");
}

static void files(const char *folder)
{
	char path[4096];
	int64_t data[16] = { 0 };
	MPI_File file;
	MPI_Status st;

	snprintf(path, sizeof(path), "%s/data", folder);
	MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file);
	says("MPI_File_open path=%s", path);
	MPI_File_write_at_all(file, me * 128, data, 16, MPI_INT64_T, &st);
	says("MPI_File_write_at_all bytes=128 offset=%d file=*", me * 128);
	MPI_File_sync(file);
	says("MPI_File_sync");
	MPI_Barrier(MPI_COMM_WORLD);
	says("MPI_Barrier");
	MPI_File_read_at(file, me * 128, data, 8, MPI_INT64_T, MPI_STATUS_IGNORE);
	says("MPI_File_read_at received=64 offset=%d", me * 128);
	MPI_File_close(&file);
	says("MPI_File_close");
}

/* ---- MPI-4 --------------------------------------------------------------------------------- */

static void newer(void)
{
#if MPI_VERSION >= 4
	MPI_Request r[2];

	mark(0);
	MPI_Sendrecv_c(out[0], 4, MPI_INT64_T, right, 13, in[0], N, MPI_INT64_T, left, 13,
		       MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	says("MPI_Sendrecv_c to=%d bytes=32 received=32 sent=%ld got=%ld", right, (long)out[0][0],
	     (long)in[0][0]);
	MPI_Psend_init(out[1], 4, 2, MPI_INT64_T, right, 14, MPI_COMM_WORLD, MPI_INFO_NULL, &r[0]);
	says("MPI_Psend_init to=%d", right);
	MPI_Precv_init(in[1], 4, 2, MPI_INT64_T, left, 14, MPI_COMM_WORLD, MPI_INFO_NULL, &r[1]);
	says("MPI_Precv_init from=%d", left);
	for (int i = 0; i < 2; i++) {
		mark(1);
		MPI_Start(&r[0]);
		says("MPI_Start to=%d bytes=64 sent=%ld", right, (long)out[1][0]);
		MPI_Start(&r[1]);
		says("MPI_Start");
		for (int p = 0; p < 4; p++) {
			MPI_Pready(p, r[0]);
			says("MPI_Pready to=%d", right);
		}
		MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
		says("MPI_Waitall from=%d bytes=64 got=%ld", left, (long)in[1][0]);
	}
	MPI_Request_free(&r[0]);
	says("MPI_Request_free");
	MPI_Request_free(&r[1]);
	says("MPI_Request_free");
#endif
}

int main(int argc, char **argv)
{
	MPI_Init(&argc, &argv);
	log_open(argv[1]);
	says("MPI_Init rank=%d size=%d", me, ranks);
	right = (me + 1) % ranks;
	left = (me + ranks - 1) % ranks;
	blocking();
	out_of_order();
	probes();
	cancelled();
	persistent();
	types();
	collectives(MPI_COMM_WORLD, "MPI_COMM_WORLD");
	nonblocking();
	communicators();
	windows();
	files(argv[1]);
	newer();
	says("MPI_Finalize");
	fclose(log_file);
	MPI_Finalize();
	return 0;
}
