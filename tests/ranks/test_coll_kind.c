/* test_coll_kind.c - tests src/analysis/ranks/coll_kind.h */
#include "ranks/coll_kind.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "support/unit.h"

static enum ut_coll_kind called(const char *name)
{
	return ut_coll_called(ut_str_of(name));
}

static void names_of_all_libraries_mean_the_same(void **state)
{
	(void)state;
	assert_int_equal(called("MPI_Allreduce"), UT_COLL_ALLREDUCE);
	assert_int_equal(called("MPI_Iallreduce"), UT_COLL_ALLREDUCE);
	assert_int_equal(called("AllReduce_Sum_f32_RING_LL(x)"), UT_COLL_ALLREDUCE);
	assert_int_equal(called("all_reduce"), UT_COLL_ALLREDUCE);
	assert_int_equal(called("allreduce_coalesced"), UT_COLL_ALLREDUCE);
	assert_int_equal(called("_allgather_base"), UT_COLL_ALLGATHER);
	assert_int_equal(called("MPI_Allgatherv"), UT_COLL_ALLGATHER);
	assert_int_equal(called("all_to_allv"), UT_COLL_ALLTOALL);
	assert_int_equal(called("_reduce_scatter_base"), UT_COLL_REDUCE_SCATTER);
	assert_int_equal(called("MPI_Reduce_scatter_block"), UT_COLL_REDUCE_SCATTER);
	assert_int_equal(called("MPI_Ireduce"), UT_COLL_REDUCE);
	assert_int_equal(called("MPI_Ibcast"), UT_COLL_BROADCAST);
	assert_int_equal(called("Broadcast"), UT_COLL_BROADCAST);
	assert_int_equal(called("SendRecv"), UT_COLL_SEND_RECEIVE);
	assert_int_equal(called("send"), UT_COLL_SEND);
	assert_int_equal(called("MPI_Comm_dup"), UT_COLL_NONE);
	assert_int_equal(called(""), UT_COLL_NONE);
	assert_int_equal(called("MPI_"), UT_COLL_NONE);
}

static void bus_factors_are_those_of_nccl_tests(void **state)
{
	(void)state;
	assert_true(ut_coll_bus_factor(UT_COLL_ALLREDUCE, 8) == 2.0 * 7 / 8);
	assert_true(ut_coll_bus_factor(UT_COLL_ALLGATHER, 8) == 7.0 / 8);
	assert_true(ut_coll_bus_factor(UT_COLL_REDUCE_SCATTER, 4) == 3.0 / 4);
	assert_true(ut_coll_bus_factor(UT_COLL_ALLTOALL, 2) == 0.5);
	assert_true(ut_coll_bus_factor(UT_COLL_BROADCAST, 8) == 1);
	assert_true(ut_coll_bus_factor(UT_COLL_REDUCE, 8) == 1);
	assert_true(ut_coll_bus_factor(UT_COLL_BARRIER, 8) == 0);
	assert_true(ut_coll_bus_factor(UT_COLL_ALLREDUCE, 1) == 0);
	assert_true(ut_coll_bus_factor(UT_COLL_ALLREDUCE, 0) == 0);
}

static void elements_have_the_size_of_their_type(void **state)
{
	(void)state;
	assert_int_equal(ut_coll_element(ut_str_of("BFloat16")), 2);
	assert_int_equal(ut_coll_element(ut_str_of("c10::Half")), 2);
	assert_int_equal(ut_coll_element(ut_str_of("float")), 4);
	assert_int_equal(ut_coll_element(ut_str_of("Float8_e4m3fn")), 1);
	assert_int_equal(ut_coll_element(ut_str_of("long int")), 8);
	assert_int_equal(ut_coll_element(ut_str_of("Unheard")), 0);
}

static void kernels_and_ranges_give_their_library(void **state)
{
	enum ut_coll_kind coll = UT_COLL_NONE;

	(void)state;
	assert_true(
		ut_coll_is_nccl(ut_str_of("ncclKernel_AllGather_RING_LL_Sum_int8_t(x)"), &coll));
	assert_int_equal(coll, UT_COLL_ALLGATHER);
	assert_false(ut_coll_is_nccl(ut_str_of("gemm_nccl"), &coll));
	assert_string_equal(ut_coll_library(ut_str_of("gloo:all_to_all"), &coll), "gloo");
	assert_int_equal(coll, UT_COLL_ALLTOALL);
	assert_null(ut_coll_library(ut_str_of("gloo:init"), &coll));
	assert_null(ut_coll_library(ut_str_of("all_reduce"), &coll));
}

UT_TESTS(coll_kind)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_of_all_libraries_mean_the_same),
		cmocka_unit_test(bus_factors_are_those_of_nccl_tests),
		cmocka_unit_test(kernels_and_ranges_give_their_library),
		cmocka_unit_test(elements_have_the_size_of_their_type),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
