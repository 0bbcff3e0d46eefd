/* test_job.c - tests src/trace/mpijob/job.h. */
#include "mpijob/job.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "support/unit.h"

static const char *const all[] = {
	"OMPI_COMM_WORLD_RANK",
	"OMPI_COMM_WORLD_SIZE",
	"PMI_RANK",
	"PMI_SIZE",
	"MV2_COMM_WORLD_RANK",
	"MV2_COMM_WORLD_SIZE",
	"SLURM_PROCID",
	"SLURM_STEP_NUM_TASKS",
	"SLURM_NTASKS",
	"PMIX_RANK",
	"OMPI_COMM_WORLD_LOCAL_SIZE",
	"MPI_LOCALNRANKS",
};

static int no_job(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		unsetenv(all[i]);
	return 0;
}

static void expect(int rank, int ranks, const char *first)
{
	struct ut_job job = ut_job_look();

	assert_int_equal(job.rank, rank);
	assert_int_equal(job.ranks, ranks);
	if (first)
		assert_string_equal(job.plugins[0], first);
	else
		assert_null(job.plugins[0]);
}

static void without_a_launcher_we_are_alone(void **state)
{
	(void)state;
	expect(0, 1, NULL);
}

static void each_launcher_is_known_by_its_variables(void **state)
{
	setenv("PMIX_RANK", "3", 1);
	expect(3, 0, "openmpi");
	setenv("SLURM_PROCID", "5", 1);
	setenv("SLURM_STEP_NUM_TASKS", "6", 1);
	expect(5, 6, "openmpi");
	setenv("PMI_RANK", "1", 1);
	setenv("PMI_SIZE", "2", 1);
	expect(1, 2, "mpich");
	setenv("OMPI_COMM_WORLD_RANK", "7", 1);
	setenv("OMPI_COMM_WORLD_SIZE", "8", 1);
	expect(7, 8, "openmpi");
	no_job(state);
}

static void the_ranks_of_this_machine_are_known_where_the_launcher_reports_them(void **state)
{
	assert_int_equal(ut_job_look().local, 1);
	setenv("MPI_LOCALNRANKS", "3", 1);
	assert_int_equal(ut_job_look().local, 1); /* left over from somebody else's job */
	setenv("PMI_RANK", "1", 1);
	setenv("PMI_SIZE", "6", 1);
	assert_int_equal(ut_job_look().local, 3);
	setenv("MPI_LOCALNRANKS", "0", 1);
	assert_int_equal(ut_job_look().local, 1);
	setenv("OMPI_COMM_WORLD_RANK", "7", 1);
	setenv("OMPI_COMM_WORLD_SIZE", "8", 1);
	setenv("OMPI_COMM_WORLD_LOCAL_SIZE", "4", 1);
	assert_int_equal(ut_job_look().local, 4);
	no_job(state);
}

static void a_batch_script_of_slurm_is_no_rank(void **state)
{
	setenv("SLURM_PROCID", "0", 1);
	setenv("SLURM_NTASKS", "64", 1);
	expect(0, 1, NULL);
	no_job(state);
}

static void nonsense_is_no_job(void **state)
{
	static const char *const bad[][2] = {
		{ "", "4" }, { "-1", "4" }, { "4", "4" }, { "1x", "4" }, { "1", "99999999999" },
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		setenv("PMI_RANK", bad[i][0], 1);
		setenv("PMI_SIZE", bad[i][1], 1);
		expect(0, 1, NULL);
	}
	no_job(state);
}

UT_TESTS(job)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(without_a_launcher_we_are_alone),
		cmocka_unit_test(each_launcher_is_known_by_its_variables),
		cmocka_unit_test(
			the_ranks_of_this_machine_are_known_where_the_launcher_reports_them),
		cmocka_unit_test(a_batch_script_of_slurm_is_no_rank),
		cmocka_unit_test(nonsense_is_no_job),
	};

	return cmocka_run_group_tests_name("mpijob/job", tests, no_job, no_job);
}
