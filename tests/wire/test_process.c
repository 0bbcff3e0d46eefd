/* test_process.c - tests src/record/wire/process.h */
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

#include "support/unit.h"
#include "wire/spool.h"

/* The job that a process started with these variables finds. */
static struct ut_process_job job_with(const char *const *variables)
{
	char *argv[] = { (char[]){ "unit_wire" }, (char[]){ "process" }, (char[]){ "rank" }, NULL };
	char *env[9] = { 0 };
	struct ut_process_job job = { .rank = -2 };
	int status, fds[2];
	pid_t pid;

	for (size_t i = 0; i < 8 && variables[i]; i++)
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
	assert_int_equal(read(fds[0], &job, sizeof(job)), sizeof(job));
	close(fds[0]);
	close(fds[1]);
	for (size_t i = 0; i < 8; i++)
		free(env[i]);
	return job;
}

#define RANK(...) job_with((const char *const[]){ __VA_ARGS__, NULL }).rank

static void the_rank_is_that_of_the_mpi_launcher(void **state)
{
	(void)state;
	assert_int_equal(RANK("PMI_RANK=3"), 3);
	assert_int_equal(RANK("A=1", "PMIX_RANK=0"), 0);
	assert_int_equal(RANK("OMPI_COMM_WORLD_RANK=12"), 12);
	assert_int_equal(RANK("MV2_COMM_WORLD_RANK=7"), 7);
	assert_int_equal(RANK("PALS_RANKID=8"), 8);
	assert_int_equal(RANK("FLUX_TASK_RANK=9"), 9);
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

static void a_variable_that_may_be_anybodys_counts_where_there_are_many(void **state)
{
	(void)state;
	assert_int_equal(RANK("RANK=3"), -1);
	assert_int_equal(RANK("RANK=0", "WORLD_SIZE=1"), -1);
	assert_int_equal(RANK("RANK=3", "WORLD_SIZE=4"), 3);
}

static void workers_of_torchrun_are_not_the_task_that_started_it(void **state)
{
	struct ut_process_job job = job_with((const char *const[]){
		"SLURM_PROCID=1", "SLURM_NTASKS=2", "PMI_RANK=1", "RANK=9", "WORLD_SIZE=16",
		"LOCAL_WORLD_SIZE=8", "TORCHELASTIC_RUN_ID=none", NULL });

	(void)state;
	assert_int_equal(job.rank, 9);
	assert_int_equal(job.ranks, 16);
	assert_int_equal(job.local, 8);
	/* scripts that set RANK by themselves do so below srun, too */
	assert_int_equal(RANK("SLURM_PROCID=1", "SLURM_NTASKS=2", "RANK=9", "WORLD_SIZE=16"), 9);
	/* a job of one worker below one of two tasks says nothing about workers */
	assert_int_equal(RANK("SLURM_PROCID=1", "SLURM_NTASKS=2", "RANK=0", "WORLD_SIZE=1"), 1);
	/* a step of one task in a job of many */
	assert_int_equal(RANK("SLURM_PROCID=0", "SLURM_NTASKS=4", "SLURM_STEP_NUM_TASKS=1"), -1);
}

static void the_job_has_a_size_and_a_name(void **state)
{
	struct ut_process_job a, b;

	(void)state;
	a = job_with((const char *const[]){ "PMIX_RANK=1", "OMPI_COMM_WORLD_SIZE=4",
					    "OMPI_COMM_WORLD_LOCAL_SIZE=2", "PMIX_NAMESPACE=77",
					    NULL });
	assert_int_equal(a.rank, 1);
	assert_int_equal(a.ranks, 4);
	assert_int_equal(a.local, 2);
	assert_true(a.id != 0);
	b = job_with((const char *const[]){ "PMIX_NAMESPACE=77", "PMIX_RANK=2", NULL });
	assert_true(b.id == a.id);
	b = job_with((const char *const[]){ "PMIX_NAMESPACE=78", "PMIX_RANK=2", NULL });
	assert_true(b.id != a.id);
	b = job_with(
		(const char *const[]){ "SLURM_STEP_ID=1", "PMI_RANK=2", "SLURM_JOB_ID=5", NULL });
	a = job_with(
		(const char *const[]){ "SLURM_JOB_ID=5", "PMI_RANK=0", "SLURM_STEP_ID=1", NULL });
	assert_true(b.id == a.id);
}

static void long_variables_hide_nothing(void **state)
{
	static char big[70000];

	(void)state;
	memset(big, 'x', sizeof(big) - 1);
	memcpy(big, "BIG=", 4);
	assert_int_equal(RANK(big, "PMI_RANK=41", big), 41);
}

static void the_start_time_identifies_a_process_and_dies_with_it(void **state)
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
	assert_string_equal(h.name, "unit_wire");
	gethostname(host, sizeof(host) - 1);
	assert_string_equal(h.host, host);
	assert_non_null(strstr(h.cmdline, "unit_wire"));
}

static void the_boot_id_is_a_line_without_its_end(void **state)
{
	char id[40] = { 0 };

	(void)state;
	ut_process_boot_id(id);
	assert_true(strlen(id) == 36 || strlen(id) == 0);
	assert_null(strchr(id, '\n'));
}

UT_TESTS(process)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_rank_is_that_of_the_mpi_launcher),
		cmocka_unit_test(slurm_numbers_every_job_step_so_it_counts_only_in_parallel_ones),
		cmocka_unit_test(a_variable_that_may_be_anybodys_counts_where_there_are_many),
		cmocka_unit_test(workers_of_torchrun_are_not_the_task_that_started_it),
		cmocka_unit_test(the_job_has_a_size_and_a_name),
		cmocka_unit_test(long_variables_hide_nothing),
		cmocka_unit_test(the_start_time_identifies_a_process_and_dies_with_it),
		cmocka_unit_test(a_process_knows_its_name_host_and_words),
		cmocka_unit_test(the_boot_id_is_a_line_without_its_end),
	};
	struct ut_process_job job;

	if (argc == 2 && !strcmp(argv[1], "rank")) {
		ut_process_job(&job);
		return write(1, &job, sizeof(job)) != sizeof(job);
	}
	return cmocka_run_group_tests_name("wire/process", tests, NULL, NULL);
}
