/*
 * guest.c - prints what a layer in front of MPI must not change: errno, the number of allocations,
 * codes of errors, jumps out of error handlers, calls from callbacks, attributes at the end, and
 * which functions there are.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <mpi.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern void *__libc_malloc(size_t size);
static unsigned long mallocs;
static jmp_buf out;

/* As programs ask that are made for MPIs of several ages. */
#define LATER(name)                                                                                \
	extern __attribute__((weak)) char has_##name __asm__("MPI_" #name);                        \
	extern __attribute__((weak)) char has_p_##name __asm__("PMPI_" #name)
#define SAYS(name) printf(#name " %d %d\n", &has_##name != NULL, &has_p_##name != NULL)

LATER(Send_c);
LATER(Isendrecv);
LATER(Psend_init);
LATER(Allreduce_init);
LATER(Ibarrier);

static int inside;

void *malloc(size_t size)
{
	mallocs++;
	return __libc_malloc(size);
}

static void exchange(int times)
{
	char a = 0, b;
	MPI_Request r[2];

	for (int i = 0; i < times; i++) {
		MPI_Irecv(&b, 1, MPI_CHAR, 0, i % 7, MPI_COMM_SELF, &r[0]);
		MPI_Isend(&a, 1, MPI_CHAR, 0, i % 7, MPI_COMM_SELF, &r[1]);
		MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
	}
}

static void jump(MPI_Comm *comm, int *code, ...)
{
	(void)comm;
	(void)code;
	longjmp(out, 1);
}

/* A callback that calls MPI itself. */
static void add(void *in, void *inout, int *count, MPI_Datatype *type)
{
	int size;

	(void)type;
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	exchange(1);
	inside++;
	for (int i = 0; i < *count; i++)
		((int *)inout)[i] += ((int *)in)[i];
}

static int gone(MPI_Comm comm, int key, void *value, void *extra)
{
	(void)comm;
	(void)key;
	(void)value;
	(void)extra;
	inside += 100;
	return MPI_SUCCESS;
}

int main(int argc, char **argv)
{
	MPI_Errhandler handler;
	int code, key, rank, kept, value = 1, sum = 0;
	unsigned long before;
	MPI_Status st;
	MPI_Op op;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	SAYS(Send_c);
	SAYS(Isendrecv);
	SAYS(Psend_init);
	SAYS(Allreduce_init);
	SAYS(Ibarrier);
	exchange(100);
	before = mallocs;
	exchange(1000);
	printf("%lu allocations\n", mallocs - before);
	errno = 4711;
	exchange(10);
	MPI_Barrier(MPI_COMM_SELF);
	kept = errno;
	printf("errno %d\n", kept);
	MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
	code = MPI_Send(&value, 1, MPI_INT, 99, 0, MPI_COMM_SELF);
	MPI_Error_class(code, &code);
	printf("send to nobody: %s\n", code == MPI_ERR_RANK ? "rank" : "other");
	MPI_Comm_create_errhandler(jump, &handler);
	MPI_Comm_set_errhandler(MPI_COMM_SELF, handler);
	if (!setjmp(out))
		MPI_Send(&value, 1, MPI_INT, 99, 0, MPI_COMM_SELF);
	printf("jumped\n");
	MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL);
	MPI_Errhandler_free(&handler);
	exchange(1);
	MPI_Op_create(add, 1, &op);
	MPI_Allreduce(&value, &sum, 1, MPI_INT, op, MPI_COMM_WORLD);
	printf("sum %d\n", sum);
	MPI_Op_free(&op);
	MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, gone, &key, NULL);
	MPI_Comm_set_attr(MPI_COMM_SELF, key, NULL);
	MPI_Sendrecv(&value, 1, MPI_INT, rank, 1, &sum, 1, MPI_INT, rank, 1, MPI_COMM_WORLD, &st);
	printf("from me: %d %d\n", st.MPI_SOURCE == rank, st.MPI_TAG);
	if (argc > 1 && !strcmp(argv[1], "abort"))
		MPI_Abort(MPI_COMM_WORLD, 7);
	if (argc > 1 && !strcmp(argv[1], "exit"))
		exit(3);
	MPI_Finalize();
	printf("attributes deleted: %d\n", inside >= 100);
	return 0;
}
