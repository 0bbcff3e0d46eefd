/*
 * unit.h - one program holds all unit tests of a module; a file of them begins its list with
 * UT_TESTS(NAME) where a program of its own would have main(), NAME being that of test_NAME.c:
 *
 *	UT_TESTS(clock)
 *	{
 *		const struct CMUnitTest tests[] = { cmocka_unit_test(a_pair_maps_onto_itself) };
 *
 *		return cmocka_run_group_tests_name("wire/clock", tests, NULL, NULL);
 *	}
 *
 * "build/tests/unit_wire clock ARGUMENTS" runs it with argv[0] and ARGUMENTS; without a name all
 * files run, each in a process of its own.
 */
#ifndef UT_TESTS_SUPPORT_UNIT_H
#define UT_TESTS_SUPPORT_UNIT_H

#define UT_TESTS(name)                                                                             \
	int ut_tests_##name(int argc, char **argv);                                                \
	int ut_tests_##name(__attribute__((unused)) int argc, __attribute__((unused)) char **argv)

struct ut_unit_file {
	const char *name;
	int (*run)(int argc, char **argv); /* 0: passed, 77: skipped */
};

/* The module's files, made by cmake/tests.cmake; ends with a NULL name. */
extern const struct ut_unit_file ut_unit_files[];

#endif
