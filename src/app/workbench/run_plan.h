/*
 * run_plan.h - what shall be run and how, as a page or a script asks for it, and the command line
 * that does it. There is one place where such a line is made: what is shown, kept and run is the
 * same.
 *
 * Programs are started with words, never through a shell: what is in a field is one word, but for
 * parameters and the MPI launcher, which are split like a shell would and not run by one.
 */
#ifndef UT_WORKBENCH_RUN_PLAN_H
#define UT_WORKBENCH_RUN_PLAN_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

struct ut_analysis;
struct ut_arena;
struct ut_buf;
struct ut_json_writer;
struct ut_data_dir;
struct ut_doc;

enum ut_run_what {
	UT_RUN_LAUNCH,
	UT_RUN_ATTACH,
	UT_RUN_MPI,
};

#define UT_RUN_PROBLEMS 16

/* Something is wrong with a field. */
struct ut_run_problem {
	const char *field, *text;
};

struct ut_run_variable {
	const char *name, *value;
};

/* In the arena that it was read with. */
struct ut_run_plan {
	enum ut_run_what what;
	const char *target; /* name of a machine; "" = this one */
	const char *application;
	const char *directory; /* absolute; "" = the home folder */
	const char **arguments, **launcher;
	size_t argument_count, launcher_count;
	struct ut_run_variable *variables;
	size_t variable_count;
	long pid;
	bool children, paused;
	const char *resume_after, *stop_after, *duration; /* times; "" = never */
	const char *max_size, *keep_last;                 /* "" = no limit */
	const char *name;                                 /* of the result; "" = the next number */
	const struct ut_analysis *analysis;
	struct ut_run_variable options[32]; /* key and value */
	size_t option_count;
	struct ut_run_problem problems[UT_RUN_PROBLEMS];
	size_t problem_count;
};

/* -EINVAL: no object at all. What is wrong with fields is in the plan's problems. */
int ut_run_plan_read(const struct ut_data_dir *s, struct ut_arena *a, const struct ut_doc *t,
		     struct ut_run_plan *p, struct ut_err *err) UT_MUST_CHECK;
void ut_run_plan_add_problem(struct ut_run_plan *p, struct ut_arena *a, const char *field,
			     const char *text);

/* The line for it: words, closed by NULL, the folder to start in and variables to set. */
struct ut_run_line {
	const char **words;
	size_t count;
	size_t own; /* index of the first option of ours: behind the launcher and our own name */
	const char *directory;
	const struct ut_run_variable *variables;
	size_t variable_count;
};

/* program: what we are called where it runs. folder: absolute, of the result there; "" leaves out
 * where results go. */
void ut_run_line_make(const struct ut_run_plan *p, struct ut_arena *a, const char *program,
		      const char *folder, struct ut_run_line *line);

/* As people would type it, to be copied into a shell. */
void ut_run_line_shell(const struct ut_run_line *line, struct ut_buf *to);

/* {"words", "directory", "variables"}, as members. */
void ut_run_line_write(const struct ut_run_line *line, struct ut_json_writer *w);

#endif
