/*
 * data_dir.h - the data directory: projects are folders in it, results are folders in projects.
 *
 *     DATA/PROJECT/project.json           makes a folder a project
 *     DATA/PROJECT/RESULT/result.json     what was asked for (written once, before anything runs)
 *                         state.json      how it goes (written by the run's supervisor)
 *                         log.jsonl       what happened, a line each
 *                         output.txt      what the program said
 *                         notes.txt       what people say about it
 *                         verdict.json    what is worth knowing first, in a word and a sentence
 *                         uploads/        what was imported, under the names that it came with
 *                         *.utr, ...      traces, metrics, tables: whatever was recorded
 *     DATA/.unitrace/                     the server's own: secrets, machines, custom analyses,
 * trash
 *
 * A folder that somebody puts into a project by hand is a result, too. Names are what people read,
 * so they are the names of the folders. Nothing is cached: what is on disk counts. Any thread.
 */
#ifndef UT_WORKBENCH_DATA_DIR_H
#define UT_WORKBENCH_DATA_DIR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/str.h"

struct ut_arena;
struct ut_json_writer;

#define UT_PROJECT_FILE "project.json"
#define UT_RESULT_FILE  "result.json"
#define UT_STATE_FILE   "state.json"
#define UT_LOG_FILE     "log.jsonl"
#define UT_OUTPUT_FILE  "output.txt"
#define UT_NOTES_FILE   "notes.txt"
#define UT_SUMMARY_FILE "verdict.json"
#define UT_UPLOADS      "uploads"
#define UT_NOTES_MOST   (64u << 10)
#define UT_SMALL_FILE   (1u << 20) /* more than any of the above but log and output should be */

struct ut_data_dir {
	int top;          /* the data directory */
	int own;          /* .unitrace in it */
	const char *path; /* absolute */
};

/* path must outlive it. The folder is made if it is missing. */
int ut_data_dir_open(struct ut_data_dir *s, const char *path, struct ut_err *err) UT_MUST_CHECK;
void ut_data_dir_close(struct ut_data_dir *s);

/* ---- what is there -------------------------------------------------------------------------- */

/* How far a result is. The words are those of state.json and of the page. */
enum ut_result_state {
	UT_RESULT_READY,    /* nothing is under way */
	UT_RESULT_STARTING, /* the program is about to run */
	UT_RESULT_RUNNING,
	UT_RESULT_PAUSED,  /* it runs, and is not recorded: as far as we have been told */
	UT_RESULT_WRITING, /* the program has ended, and what it left becomes files */
	UT_RESULT_FAILED,  /* it could not be started, or its results could not be written */
	UT_RESULT_CUT,     /* whoever kept it was killed: what was recorded is there */
};

const char *ut_result_state_word(enum ut_result_state state);

/* A result as lists show it. In the arena. */
struct ut_data_dir_result {
	const char *name;
	enum ut_result_state state;
	int64_t made; /* s since 1970 */
	uint64_t bytes;
	double seconds;       /* that the program ran; < 0: unknown */
	int status;           /* as from waitpid(); -1: unknown */
	const char *analysis; /* title; "" = none */
	const char *program;  /* what was run; "" = nothing */
	const char *target;   /* machine; "" = this one */
	const char *verdict;  /* in one or two words; "" = not known */
	const char *tone;     /* of it: bad, warn, good or "" */
	const char *say;      /* the same in one sentence */
	const char *trouble;  /* why it failed; "" = it did not */
	bool has_notes;
};

struct ut_data_dir_project {
	const char *name;
	struct ut_data_dir_result *results; /* the newest first */
	size_t count, cap;
	int64_t changed; /* when the newest result was made, else the folder */
};

struct ut_data_dir_tree {
	struct ut_data_dir_project *projects; /* the last changed first */
	size_t count, cap;
};

int ut_data_dir_list(const struct ut_data_dir *s, struct ut_arena *a, struct ut_data_dir_tree *tree,
		     struct ut_err *err) UT_MUST_CHECK;

/* One of them. -ENOENT: there is none. */
int ut_data_dir_find_result(const struct ut_data_dir *s, struct ut_arena *a, const char *project,
			    const char *result, struct ut_data_dir_result *to,
			    struct ut_err *err) UT_MUST_CHECK;

/* Its members, without brackets around them. */
void ut_data_dir_write_result(struct ut_json_writer *w, const struct ut_data_dir_result *r);

/* Descriptors of folders, or -ENOENT and others. */
int ut_data_dir_open_project(const struct ut_data_dir *s, const char *project,
			     struct ut_err *err) UT_MUST_CHECK;
int ut_data_dir_open_result(const struct ut_data_dir *s, const char *project, const char *result,
			    struct ut_err *err) UT_MUST_CHECK;

/* -EBUSY: something of it is being recorded. Of a project (result NULL): in any of its results. */
int ut_data_dir_check_idle(const struct ut_data_dir *s, const char *project, const char *result,
			   struct ut_err *err) UT_MUST_CHECK;

/* ---- changing it ---------------------------------------------------------------------------- */

/* -EINVAL: a name that does not fit; -EEXIST: it is taken; -EBUSY: a run is under way in it. A
 * folder that is there and no project becomes one. */
int ut_data_dir_add_project(const struct ut_data_dir *s, const char *project,
			    struct ut_err *err) UT_MUST_CHECK;
int ut_data_dir_rename_project(const struct ut_data_dir *s, const char *project, const char *as,
			       struct ut_err *err) UT_MUST_CHECK;

/* Also into another project, which is there. */
int ut_data_dir_move_result(const struct ut_data_dir *s, const char *project, const char *result,
			    const char *to_project, const char *as,
			    struct ut_err *err) UT_MUST_CHECK;

/* A new folder in a project: name, or the first of name-2, name-3, ... that is free. It is open;
 * its name is in the arena. */
int ut_data_dir_add_result(const struct ut_data_dir *s, struct ut_arena *a, const char *project,
			   const char *name, const char **got, struct ut_err *err) UT_MUST_CHECK;

/* "r001", "r002", ... "-suffix": the next number of this project. In the arena. */
const char *ut_data_dir_next_name(const struct ut_data_dir *s, struct ut_arena *a,
				  const char *project, const char *suffix);

#endif
