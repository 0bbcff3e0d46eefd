/* test_doors.c - tests src/launch/doors.h */
#include "launch/doors.h"

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

struct fixture {
	struct ut_arena arena;
	char dir[64];
	const char *cuda, *opencl;
	struct ut_doors doors;
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

	f = (struct fixture){ .dir = "/tmp/ut_doors_XXXXXX" };
	*state = &f;
	if (!mkdtemp(f.dir))
		return -1;
	f.cuda = ut_path_join(&f.arena, f.dir, "cuda.so");
	f.opencl = ut_path_join(&f.arena, f.dir, "opencl.so");
	f.doors = (struct ut_doors){ .backends = f.dir,
				     .session_dir = f.dir,
				     .opencl = UT_OPENCL_LAYER };
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

	assert_string_equal(ut_doors_folder(&f->arena, "/opt/lib/libunitrace.so"),
			    "/opt/lib/unitrace/backends");
}

static void backends_that_are_not_there_have_no_doors(void **state)
{
	struct fixture *f = *state;

	ut_doors_open(&f->doors, &f->env);
	assert_int_equal(f->env.count, 0);
}

static void each_backend_is_named_to_its_runtime(void **state)
{
	struct fixture *f = *state;

	write_text(f->cuda, "");
	write_text(f->opencl, "");
	ut_doors_open(&f->doors, &f->env);
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
	ut_doors_open(&f->doors, &f->env);
	assert_string_equal(ut_env_get(&f->env, "CUDA_INJECTION64_PATH"), "/mine.so");
	assert_string_equal(ut_env_get(&f->env, "OPENCL_LAYERS"),
			    ut_str_fmt(&f->arena, "/a.so:/b.so:%s", f->opencl));
	/* once more, as for a unitrace in a unitrace */
	ut_doors_open(&f->doors, &f->env);
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
	f->doors.opencl = UT_OPENCL_ICD;
	ut_doors_open(&f->doors, &f->env);
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
	f->doors.opencl = UT_OPENCL_ICD;
	ut_doors_open(&f->doors, &f->env);
	assert_string_equal(read_text(f, ut_path_join(&f->arena, f->dir, "opencl/vendors")),
			    "libonly.so\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(the_folder_lies_beside_the_collector, make,
						release),
		cmocka_unit_test_setup_teardown(backends_that_are_not_there_have_no_doors, make,
						release),
		cmocka_unit_test_setup_teardown(each_backend_is_named_to_its_runtime, make,
						release),
		cmocka_unit_test_setup_teardown(what_the_user_has_set_stays, make, release),
		cmocka_unit_test_setup_teardown(a_vendor_stands_for_all_others, make, release),
		cmocka_unit_test_setup_teardown(a_library_may_be_the_only_vendor, make, release),
	};

	return cmocka_run_group_tests_name("launch/doors", tests, NULL, NULL);
}
