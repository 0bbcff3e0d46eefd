/* test_record_options.c - tests src/app/cmd/record_options.h */
#include "cmd/record_options.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/arena.h"
#include "support/unit.h"
#include "wire/control.h"

struct fixture {
	struct ut_arena arena;
	struct ut_record_opts opts;
	const struct ut_opt *table;
	struct ut_control control;
	struct ut_err err;
};

static int make(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	if (!f)
		return -1;
	ut_record_opts_init(&f->opts);
	f->table = ut_record_table(&f->arena, &f->opts);
	unsetenv("PTI_ENABLE_COLLECTION");
	*state = f;
	return 0;
}

static int release(void **state)
{
	struct fixture *f = *state;

	ut_record_opts_release(&f->opts);
	ut_arena_release(&f->arena);
	free(f);
	return 0;
}

/* Parses a line split at blanks; 0 if it is fine. */
static int parse(struct fixture *f, const char *line)
{
	const char *argv[32];
	int argc = 0, left;
	char *words = ut_arena_copy(&f->arena, line, strlen(line)), *save = NULL;

	for (char *w = strtok_r(words, " ", &save); w; w = strtok_r(NULL, " ", &save))
		argv[argc++] = w;
	left = ut_opt_parse(f->table, argc, argv, &f->err);
	if (left < 0)
		return left;
	assert_int_equal(left, argc);
	return ut_record_check(&f->opts, &f->err);
}

/* The same with options of its own. */
static int parse_alone(const char *line)
{
	void *state = NULL;
	int rc;

	assert_int_equal(make(&state), 0);
	rc = parse(state, line);
	release(&state);
	return rc;
}

static void every_option_of_the_original_is_known(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(
		parse(f, "-c -h -d -r -s -t --call-logging --host-timing --device-timing "
			 "--ccl-summary-report --kernel-submission --device-timeline --opencl "
			 "--chrome-mpi-logging --chrome-sycl-logging --chrome-ccl-logging"),
		0);
	assert_int_equal(
		parse(f, "--chrome-dnn-logging --chrome-itt-logging --chrome-call-logging "
			 "--chrome-kernel-logging --chrome-device-logging "
			 "--chrome-no-thread-on-device --chrome-no-engine-on-device "
			 "--chrome-event-buffer-size 100 -v --verbose --demangle --separate-tiles "
			 "--tid --pid -o x.txt --output y.txt --output-dir-path d"),
		0);
	assert_int_equal(
		parse(f, "--conditional-collection --start-paused --session s --pause s "
			 "--resume s --stop s -q --metric-query -g ComputeBasic --group "
			 "ComputeBasic -i 50 "
			 "--sampling-interval 50 --device-list --metric-list --ranks-to-sample 0,1 "
			 "--devices-to-sample 0"),
		0);
	assert_int_equal(
		parse(f, "--follow-child-process 0 --teardown-on-signal 10 "
			 "--chrome-kmd-logging /dev/null --include-kernels a,b --exclude-kernels c "
			 "--include-kernels-file /dev/null --exclude-kernels-file /dev/null "
			 "--version --help --idle-sampling --system-time "
			 "--reset-event-on-device 1"),
		0);
	assert_int_equal(parse_alone("-k --metric-sampling --stall-sampling"), 0);
	assert_int_equal(parse_alone("--result-dir d"), 0);
}

static void bad_values_are_misuse(void **state)
{
	static const char *const bad[] = {
		"--follow-child-process 2",
		"--teardown-on-signal 0",
		"--teardown-on-signal TERM",
		"--chrome-event-buffer-size -2",
		"--session a/b",
		"--pause a.b",
		"--sampling-interval 0",
		"--ranks-to-sample 1,",
		"--devices-to-sample x",
		"--include-kernels-file /nowhere/file",
		"--chrome-kmd-logging /no",
		"--reset-event-on-device 2",
		"--itt-groups sync,none",
		"--format pdf",
		"--keep-last 10",
		"--keep-last 0s",
		"--max-size big",
		"--wait-children never",
		"--summary-rows -1",
		"--format=chrome -o x.pftrace",
		"--output=",
		"--result-dir=",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		if (!parse_alone(bad[i]))
			fail_msg("accepted: %s", bad[i]);
	}
}

static void exclusive_options_are_refused(void **state)
{
	(void)state;
	assert_int_not_equal(parse_alone("--result-dir a --output b"), 0);
	assert_int_not_equal(parse_alone("--result-dir a --output-dir-path b"), 0);
	assert_int_not_equal(parse_alone("-q -k"), 0);
	assert_int_not_equal(parse_alone("-q --stall-sampling"), 0);
	assert_int_equal(
		parse_alone("-q --stall-sampling -g Memory --backend-option cuda.together=off"), 0);
	assert_int_not_equal(parse_alone("--stall-sampling -g ComputeBasic"), 0);
}

static void only_options_without_backend_are_named(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(parse(f, "--chrome-itt-logging -o x.json"), 0);
	assert_string_equal(ut_record_unsupported(&f->arena, f->table), "");
	assert_int_equal(parse(f, "-d --g ComputeBasic -q --chrome-kernel-logging"), 0);
	assert_string_equal(ut_record_unsupported(&f->arena, f->table), "");
	assert_int_equal(parse(f, "--chrome-sycl-logging"), 0);
	assert_string_equal(ut_record_unsupported(&f->arena, f->table), "");
	assert_int_equal(parse(f, "--chrome-kernel-logging --system-time"), 0);
	assert_string_equal(ut_record_unsupported(&f->arena, f->table), "--system-time");
}

static bool passes(const struct fixture *f, const char *domain)
{
	return ut_control_passes(f->control.include, f->control.exclude, domain);
}

static void no_option_means_every_domain(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(parse(f, ""), 0);
	assert_int_equal(ut_session_plan_apply(&f->opts.plan, &f->control, NULL, NULL), 0);
	assert_true(passes(f, "anything"));
	assert_int_equal(f->control.flags, UT_CONTROL_FOLLOW_CHILDREN);
	assert_int_equal(f->control.groups, 0);
}

static void library_options_are_a_union(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(parse(f, "--chrome-ccl-logging --chrome-dnn-logging --itt-domains a*,b"),
			 0);
	assert_int_equal(ut_session_plan_apply(&f->opts.plan, &f->control, NULL, NULL), 0);
	assert_true(passes(f, "oneCCL::allreduce"));
	assert_true(passes(f, "dnnl::primitive::execute"));
	assert_true(passes(f, "PyTorch"));
	assert_true(passes(f, "abc"));
	assert_true(passes(f, "b"));
	assert_false(passes(f, "MPI"));
	assert_false(passes(f, "other"));
}

static void itt_logging_means_every_domain_again(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(parse(f, "--chrome-ccl-logging --chrome-itt-logging "
				  "--itt-exclude-domains noisy*"),
			 0);
	assert_int_equal(ut_session_plan_apply(&f->opts.plan, &f->control, NULL, NULL), 0);
	assert_true(passes(f, "other"));
	assert_false(passes(f, "noisy.domain"));
}

static void too_many_patterns_are_an_error(void **state)
{
	struct fixture *f = *state;
	char *list = ut_arena_alloc(&f->arena, 10000, 1);

	for (size_t i = 0; i < 9999; i++)
		list[i] = i % 2 ? ',' : 'a';
	ut_opt_list_add(&f->opts.plan.domains, list);
	assert_int_equal(ut_session_plan_apply(&f->opts.plan, &f->control, NULL, &f->err), -EINVAL);
}

static void start_paused_lets_the_program_switch(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(parse(f, "--conditional-collection --follow-child-process 0"), 0);
	assert_int_equal(ut_session_plan_apply(&f->opts.plan, &f->control, NULL, NULL), 0);
	assert_int_equal(f->control.flags, UT_CONTROL_CONDITIONAL);
}

static void own_options_reach_the_control_file(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(parse(f, "--itt-groups sync,heap --keep-last 64M --max-size 1G "
				  "--wait-children forever"),
			 0);
	assert_int_equal(ut_session_plan_apply(&f->opts.plan, &f->control, NULL, NULL), 0);
	assert_int_equal(f->control.groups, UT_GROUP_SYNC | UT_GROUP_HEAP);
	assert_int_equal(f->control.keep_bytes, 64 << 20);
	assert_int_equal(f->control.max_bytes, 1 << 30);
	assert_int_equal(f->opts.plan.wait_children, UINT64_MAX);
	assert_int_equal(parse(f, "--keep-last 10s"), 0);
	assert_int_equal(f->opts.plan.keep_bytes, 0);
	assert_int_equal(f->opts.plan.keep_ns, UINT64_C(10000000000));
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, make, release)

UT_TESTS(record_options)
{
	const struct CMUnitTest tests[] = {
		CASE(every_option_of_the_original_is_known),
		CASE(bad_values_are_misuse),
		CASE(exclusive_options_are_refused),
		CASE(only_options_without_backend_are_named),
		CASE(no_option_means_every_domain),
		CASE(library_options_are_a_union),
		CASE(itt_logging_means_every_domain_again),
		CASE(too_many_patterns_are_an_error),
		CASE(start_paused_lets_the_program_switch),
		CASE(own_options_reach_the_control_file),
	};

	return cmocka_run_group_tests_name("cmd/record_options", tests, NULL, NULL);
}
