/* test_inject.c - tests src/record/launch/inject.h */
#include "launch/inject.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/arena.h"
#include "base/path.h"
#include "base/str.h"
#include "launch/env.h"
#include "support/unit.h"

struct fixture {
	struct ut_arena arena;
	char dir[64];
	const char *cuda, *opencl;
	struct ut_inject inject;
	struct ut_env env;
};

static void write_text(const char *path, const char *text)
{
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

static const char *read_text(struct fixture *f, const char *path)
{
	char *text = ut_arena_alloc(&f->arena, 1, 4096);
	FILE *file = fopen(path, "r");

	assert_non_null(file);
	text[fread(text, 1, 4095, file)] = '\0';
	fclose(file);
	return text;
}

static int make(void **state)
{
	static struct fixture f;

	f = (struct fixture){ .dir = "/tmp/ut_inject_XXXXXX" };
	*state = &f;
	if (!mkdtemp(f.dir))
		return -1;
	f.cuda = ut_path_join(&f.arena, f.dir, "cuda.so");
	f.opencl = ut_path_join(&f.arena, f.dir, "opencl.so");
	f.inject = (struct ut_inject){
		.backends = f.dir, .session_dir = f.dir, .devices = true, .opencl = UT_OPENCL_LAYER
	};
	ut_env_init(&f.env, &f.arena, NULL);
	return 0;
}

static int release(void **state)
{
	struct fixture *f = *state;
	int rc = ut_path_remove_tree(f->dir, NULL);

	ut_arena_release(&f->arena);
	return rc;
}

static void the_folder_lies_beside_the_collector(void **state)
{
	struct fixture *f = *state;

	assert_string_equal(ut_inject_backend_dir(&f->arena, "/opt/lib/libunitrace.so"),
			    "/opt/lib/unitrace/backends");
}

static void missing_backends_are_not_injected(void **state)
{
	struct fixture *f = *state;

	ut_inject_set_env(&f->inject, &f->env);
	assert_int_equal(f->env.count, 0);
}

static void each_backend_is_named_to_its_runtime(void **state)
{
	struct fixture *f = *state;

	write_text(f->cuda, "");
	write_text(f->opencl, "");
	ut_inject_set_env(&f->inject, &f->env);
	assert_string_equal(ut_env_get(&f->env, "CUDA_INJECTION64_PATH"), f->cuda);
	assert_string_equal(ut_env_get(&f->env, "OPENCL_LAYERS"), f->opencl);
	assert_null(ut_env_get(&f->env, "OCL_ICD_VENDORS"));
}

static void what_the_user_has_set_stays(void **state)
{
	struct fixture *f = *state;

	write_text(f->cuda, "");
	write_text(f->opencl, "");
	ut_env_set(&f->env, "CUDA_INJECTION64_PATH", "/mine.so");
	ut_env_set(&f->env, "OPENCL_LAYERS", "/a.so:/b.so");
	ut_inject_set_env(&f->inject, &f->env);
	assert_string_equal(ut_env_get(&f->env, "CUDA_INJECTION64_PATH"), "/mine.so");
	assert_string_equal(ut_env_get(&f->env, "OPENCL_LAYERS"),
			    ut_str_fmt(&f->arena, "/a.so:/b.so:%s", f->opencl));
	/* once more, as for a unitrace in a unitrace */
	ut_inject_set_env(&f->inject, &f->env);
	assert_string_equal(ut_env_get(&f->env, "OPENCL_LAYERS"),
			    ut_str_fmt(&f->arena, "/a.so:/b.so:%s", f->opencl));
}

static void a_vendor_stands_for_all_others(void **state)
{
	struct fixture *f = *state;
	const char *vendors = ut_path_join(&f->arena, f->dir, "mine");

	write_text(f->opencl, "");
	assert_int_equal(mkdir(vendors, 0700), 0);
	write_text(ut_path_join(&f->arena, vendors, "one.icd"), "libone.so.1\nmore\n");
	write_text(ut_path_join(&f->arena, vendors, "other.txt"), "libnone.so\n");
	ut_env_set(&f->env, "OCL_ICD_VENDORS", vendors);
	ut_env_set(&f->env, "OCL_ICD_FILENAMES", "libfirst.so:/second.so");
	f->inject.opencl = UT_OPENCL_ICD;
	ut_inject_set_env(&f->inject, &f->env);
	assert_string_equal(ut_env_get(&f->env, "OCL_ICD_VENDORS"),
			    ut_str_fmt(&f->arena, "%s/opencl/", f->dir));
	assert_string_equal(ut_env_get(&f->env, "OCL_ICD_FILENAMES"), "");
	assert_null(ut_env_get(&f->env, "OPENCL_LAYERS"));
	assert_string_equal(read_text(f, ut_path_join(&f->arena, f->dir, "opencl/unitrace.icd")),
			    ut_str_fmt(&f->arena, "%s\n", f->opencl));
	assert_string_equal(read_text(f, ut_path_join(&f->arena, f->dir, "opencl/vendors")),
			    "libfirst.so\n/second.so\nlibone.so.1\n");
}

static void a_library_may_be_the_only_vendor(void **state)
{
	struct fixture *f = *state;

	write_text(f->opencl, "");
	ut_env_set(&f->env, "OCL_ICD_VENDORS", "libonly.so");
	f->inject.opencl = UT_OPENCL_ICD;
	ut_inject_set_env(&f->inject, &f->env);
	assert_string_equal(read_text(f, ut_path_join(&f->arena, f->dir, "opencl/vendors")),
			    "libonly.so\n");
}

static void mpi_is_opened_alone_and_in_front_of_the_users_libraries(void **state)
{
	struct fixture *f = *state;
	const char *mpi = ut_path_join(&f->arena, f->dir, "mpi.so");

	write_text(mpi, "");
	write_text(f->cuda, "");
	ut_env_set(&f->env, "LD_PRELOAD", "mine.so");
	f->inject.devices = false;
	ut_inject_set_env(&f->inject, &f->env);
	assert_string_equal(ut_env_get(&f->env, "LD_PRELOAD"), "mine.so");
	f->inject.mpi = true;
	ut_inject_set_env(&f->inject, &f->env);
	assert_string_equal(ut_env_get(&f->env, "LD_PRELOAD"),
			    ut_str_fmt(&f->arena, "%s:mine.so", mpi));
	assert_null(ut_env_get(&f->env, "CUDA_INJECTION64_PATH"));
}

static void nccl_gets_the_plugin_unless_it_has_one(void **state)
{
	struct fixture *f = *state;
	const char *nccl = ut_path_join(&f->arena, f->dir, "nccl.so");

	f->inject.devices = false;
	f->inject.ccl = true;
	ut_inject_set_env(&f->inject, &f->env);
	assert_null(ut_env_get(&f->env, "NCCL_PROFILER_PLUGIN"));
	write_text(nccl, "");
	ut_inject_set_env(&f->inject, &f->env);
	assert_string_equal(ut_env_get(&f->env, "NCCL_PROFILER_PLUGIN"), nccl);
	assert_null(ut_env_get(&f->env, "CUDA_INJECTION64_PATH"));
	ut_env_set(&f->env, "NCCL_PROFILER_PLUGIN", "mine");
	ut_inject_set_env(&f->inject, &f->env);
	assert_string_equal(ut_env_get(&f->env, "NCCL_PROFILER_PLUGIN"), "mine");
	unlink(nccl);
}

static void a_missing_backend_of_mpi_changes_nothing(void **state)
{
	struct fixture *f = *state;

	f->inject.mpi = true;
	ut_inject_set_env(&f->inject, &f->env);
	assert_null(ut_env_get(&f->env, "LD_PRELOAD"));
}

/* ---- Level Zero ---------------------------------------------------------------------------- */

static const char *levelzero(struct fixture *f, const char *drivers)
{
	const char *backend = ut_path_join(&f->arena, f->dir, "levelzero.so");

	write_text(backend, "a library");
	if (drivers)
		ut_env_set(&f->env, "ZE_ENABLE_ALT_DRIVERS", drivers);
	ut_inject_set_env(&f->inject, &f->env);
	return backend;
}

static void a_driver_that_the_user_names_is_written_down(void **state)
{
	struct fixture *f = *state;
	const char *backend = levelzero(f, "/opt/libze_mine.so");

	assert_string_equal(ut_env_get(&f->env, "ZE_ENABLE_ALT_DRIVERS"), backend);
	assert_string_equal(read_text(f, ut_path_join(&f->arena, f->dir, "levelzero/drivers")),
			    ut_str_fmt(&f->arena, "%s\t/opt/libze_mine.so\n", backend));
	assert_null(ut_env_get(&f->env, "ZET_ENABLE_METRICS"));
}

static void each_of_several_drivers_has_a_copy_of_ours(void **state)
{
	struct fixture *f = *state;
	const char *backend, *copy;

	f->inject.metrics = true;
	backend = levelzero(f, "liba.so,,/b/libb.so");
	copy = ut_str_fmt(&f->arena, "%s/levelzero/2/unitrace/backends/levelzero.so", f->dir);
	assert_string_equal(ut_env_get(&f->env, "ZE_ENABLE_ALT_DRIVERS"),
			    ut_str_fmt(&f->arena, "%s,%s", backend, copy));
	assert_string_equal(read_text(f, copy), "a library");
	assert_string_equal(read_text(f, ut_path_join(&f->arena, f->dir, "levelzero/drivers")),
			    ut_str_fmt(&f->arena, "%s\tliba.so\n%s\t/b/libb.so\n", backend, copy));
	assert_string_equal(ut_env_get(&f->env, "ZET_ENABLE_METRICS"), "1");
}

static void drivers_that_are_not_there_leave_the_choice_to_the_program(void **state)
{
	struct fixture *f = *state;
	const char *backend = levelzero(f, NULL), *list;

	list = ut_env_get(&f->env, "ZE_ENABLE_ALT_DRIVERS");
	assert_non_null(list);
	assert_int_equal(strncmp(list, backend, strlen(backend)), 0);
	assert_null(strstr(list, "libze_intel_gpu"));
}

static void a_recording_within_a_recording_keeps_the_drivers(void **state)
{
	struct fixture *f = *state;
	const char *backend = levelzero(f, "/opt/libze_mine.so");
	const char *inner = ut_path_join(&f->arena, f->dir, "inner");

	assert_int_equal(mkdir(inner, 0700), 0);
	setenv("UT_SESSION", f->dir, 1);
	f->inject.session_dir = inner;
	ut_inject_set_env(&f->inject, &f->env);
	unsetenv("UT_SESSION");
	assert_string_equal(ut_env_get(&f->env, "ZE_ENABLE_ALT_DRIVERS"), backend);
	assert_string_equal(read_text(f, ut_path_join(&f->arena, inner, "levelzero/drivers")),
			    ut_str_fmt(&f->arena, "%s\t/opt/libze_mine.so\n", backend));
}

UT_TESTS(inject)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_driver_that_the_user_names_is_written_down, make,
						release),
		cmocka_unit_test_setup_teardown(each_of_several_drivers_has_a_copy_of_ours, make,
						release),
		cmocka_unit_test_setup_teardown(
			drivers_that_are_not_there_leave_the_choice_to_the_program, make, release),
		cmocka_unit_test_setup_teardown(a_recording_within_a_recording_keeps_the_drivers,
						make, release),
		cmocka_unit_test_setup_teardown(the_folder_lies_beside_the_collector, make,
						release),
		cmocka_unit_test_setup_teardown(missing_backends_are_not_injected, make, release),
		cmocka_unit_test_setup_teardown(each_backend_is_named_to_its_runtime, make,
						release),
		cmocka_unit_test_setup_teardown(what_the_user_has_set_stays, make, release),
		cmocka_unit_test_setup_teardown(a_vendor_stands_for_all_others, make, release),
		cmocka_unit_test_setup_teardown(a_library_may_be_the_only_vendor, make, release),
		cmocka_unit_test_setup_teardown(
			mpi_is_opened_alone_and_in_front_of_the_users_libraries, make, release),
		cmocka_unit_test_setup_teardown(nccl_gets_the_plugin_unless_it_has_one, make,
						release),
		cmocka_unit_test_setup_teardown(a_missing_backend_of_mpi_changes_nothing, make,
						release),
	};

	return cmocka_run_group_tests_name("launch/inject", tests, NULL, NULL);
}
