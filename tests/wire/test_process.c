/* test_process.c - tests src/wire/process.h */
#include "wire/process.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "wire/spool.h"

/* The rank that a process started with these variables finds. */
static int rank_with(const char *const *variables)
{
	char *argv[] = { (char[]){ "test_process" }, (char[]){ "rank" }, NULL };
	char *env[8] = { 0 };
	int status, fds[2], rank = -2;
	pid_t pid;

	for (size_t i = 0; i < 7 && variables[i]; i++)
		env[i] = strdup(variables[i]);
	assert_int_equal(pipe(fds), 0);
	pid = fork();
	if (!pid) {
		dup2(fds[1], 1);
		execve("/proc/self/exe", argv, env);
		_exit(99);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	assert_int_equal(read(fds[0], &rank, sizeof(rank)), sizeof(rank));
	close(fds[0]);
	close(fds[1]);
	for (size_t i = 0; i < 7; i++)
		free(env[i]);
	return rank;
}

#define RANK(...) rank_with((const char *const[]){ __VA_ARGS__, NULL })

static void the_rank_is_that_of_the_mpi_launcher(void **state)
{
	(void)state;
	assert_int_equal(RANK("PMI_RANK=3"), 3);
	assert_int_equal(RANK("A=1", "PMIX_RANK=0"), 0);
	assert_int_equal(RANK("OMPI_COMM_WORLD_RANK=12"), 12);
	assert_int_equal(RANK("MV2_COMM_WORLD_RANK=7"), 7);
	assert_int_equal(RANK("PMIX_RANK=5", "PMI_RANK=6"), 6); /* in order of belief */
	assert_int_equal(RANK("PMI_RANKS=5", "XPMI_RANK=6", "PMI_RANK="), -1);
	assert_int_equal(RANK("PMI_RANK=-1"), -1);
	assert_int_equal(RANK("HOME=/"), -1);
}

static void slurm_numbers_every_job_step_so_it_counts_only_in_parallel_ones(void **state)
{
	(void)state;
	assert_int_equal(RANK("SLURM_PROCID=0"), -1);
	assert_int_equal(RANK("SLURM_PROCID=0", "SLURM_NTASKS=1"), -1);
	assert_int_equal(RANK("SLURM_PROCID=2", "SLURM_NTASKS=4"), 2);
}

static void long_variables_hide_nothing(void **state)
{
	static char big[70000];

	(void)state;
	memset(big, 'x', sizeof(big) - 1);
	memcpy(big, "BIG=", 4);
	assert_int_equal(RANK(big, "PMI_RANK=41", big), 41);
}

static void the_start_time_tells_a_process_apart_and_dies_with_it(void **state)
{
	uint64_t own = ut_process_start((uint32_t)getpid());
	int fds[2];
	char c;
	pid_t pid;

	(void)state;
	assert_true(own > 0);
	assert_int_equal(ut_process_start((uint32_t)getpid()), own);
	assert_int_equal(pipe(fds), 0);
	pid = fork();
	if (!pid) {
		close(fds[1]);
		(void)!read(fds[0], &c, 1);
		_exit(0);
	}
	close(fds[0]);
	assert_true(ut_process_start((uint32_t)pid) >= own);
	close(fds[1]);
	/* A zombie has ended, although it can still be found. */
	waitid(P_PID, (id_t)pid, &(siginfo_t){ 0 }, WEXITED | WNOWAIT);
	assert_int_equal(ut_process_start((uint32_t)pid), 0);
	waitpid(pid, NULL, 0);
	assert_int_equal(ut_process_start((uint32_t)pid), 0);
	assert_int_equal(ut_process_start(0), own); /* ourselves, whatever /proc calls us */
}

static void a_process_knows_its_name_host_and_words(void **state)
{
	struct ut_spool_header h = { .rank = 0 };
	char host[256] = { 0 };

	(void)state;
	ut_process_describe(&h, 9);
	assert_int_equal(h.pid, getpid());
	assert_int_equal(h.ppid, getppid());
	assert_true(h.rank == 9 || h.rank == ut_process_rank());
	assert_string_equal(h.name, "test_process");
	gethostname(host, sizeof(host) - 1);
	assert_string_equal(h.host, host);
	assert_non_null(strstr(h.cmdline, "test_process"));
}

static void the_boot_id_is_a_line_without_its_end(void **state)
{
	char id[40] = { 0 };

	(void)state;
	ut_process_boot_id(id);
	assert_true(strlen(id) == 36 || strlen(id) == 0);
	assert_null(strchr(id, '\n'));
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_rank_is_that_of_the_mpi_launcher),
		cmocka_unit_test(slurm_numbers_every_job_step_so_it_counts_only_in_parallel_ones),
		cmocka_unit_test(long_variables_hide_nothing),
		cmocka_unit_test(the_start_time_tells_a_process_apart_and_dies_with_it),
		cmocka_unit_test(a_process_knows_its_name_host_and_words),
		cmocka_unit_test(the_boot_id_is_a_line_without_its_end),
	};
	int32_t rank;

	if (argc == 2 && !strcmp(argv[1], "rank")) {
		rank = ut_process_rank();
		return write(1, &rank, sizeof(rank)) != sizeof(rank);
	}
	return cmocka_run_group_tests_name("wire/process", tests, NULL, NULL);
}
