/*
 * output_names.h - what result files are called.
 *
 * Flat: [DIR/]APP.PID[.RANK].json, and for -o either the timeline's name (if its suffix is that
 * of a timeline) or the text report's. Below --result-dir: [rank_R.]APP.PID/chrome_trace.json
 * and so on. A name that exists already, or that was given out before, gets -2, -3, ...
 */
#ifndef UT_SESSION_OUTPUT_NAMES_H
#define UT_SESSION_OUTPUT_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

struct ut_arena;
struct ut_exporter;
struct ut_session_client;

#define UT_MAX_FORMATS 8

struct ut_output_opts {
	const struct ut_exporter *formats[UT_MAX_FORMATS]; /* none = Chrome, or what -o ends in */
	size_t format_count;
	const char *output;     /* -o; NULL = none */
	const char *dir;        /* --output-dir-path; NULL = current directory */
	const char *result_dir; /* --result-dir; NULL = flat names */
	bool export_mode; /* -o is always the timeline; without a pattern it takes everything */
	bool together;    /* all processes of a run, though nobody has named a file */
	bool overwrite;
	bool quiet, no_summary;
	uint64_t summary_rows; /* 0 = all */
};

/* Whose name is being made. */
struct ut_output_who {
	const char *app;
	uint32_t pid;
	int32_t rank; /* -1 = none */
	bool first;   /* no other process of the run had its turn before */
};

/* A name, and what it was before it got a number because others had it. */
struct ut_output_name {
	const char *path, *wanted;
};

/* Names given out in one run. {0} with opts and arena set is a good start. */
struct ut_output_names {
	const struct ut_output_opts *opts;
	struct ut_arena *arena;                 /* not owned; names live there */
	const struct ut_session_client *client; /* hears of names that are taken; may be NULL */
	struct ut_output_name *taken;
	size_t taken_count, taken_cap;
};

/* Adds the formats of a comma list to opts: the work of --format. */
int ut_output_add_formats(struct ut_output_opts *opts, const char *list,
			  struct ut_err *err) UT_MUST_CHECK;

/* Their names, separated by blanks: for completion. */
const char *ut_output_format_words(struct ut_arena *a);

/* The same for --help: "chrome (the default), perfetto, ...". */
const char *ut_output_format_list(struct ut_arena *a);

/* Settles formats against the suffix of -o: -EINVAL if they contradict each other. */
int ut_output_finalize_formats(struct ut_output_opts *opts, struct ut_err *err) UT_MUST_CHECK;

/* Does -o name the timeline? Otherwise it names the text report. */
bool ut_output_is_timeline(const struct ut_output_opts *opts);

/* Does one file take all processes? */
bool ut_output_is_single(const struct ut_output_opts *opts);

bool ut_output_has_pattern(const char *text);

/* Fills %p (pid) %h (host) %r (rank, 0 if none) %q{VAR} %% in. -EINVAL for any other %. */
int ut_output_expand(struct ut_arena *a, const char *text, const struct ut_output_who *who,
		     const char **out, struct ut_err *err) UT_MUST_CHECK;

int ut_output_timeline(struct ut_output_names *n, const struct ut_output_who *who,
		       const struct ut_exporter *format, const char **path,
		       struct ut_err *err) UT_MUST_CHECK;

/* The same for what is made of a trace that lies in a file: its name with another suffix. */
int ut_output_converted(struct ut_output_names *n, const struct ut_output_who *who,
			const char *input, const struct ut_exporter *format, const char **path,
			struct ut_err *err) UT_MUST_CHECK;

/* What the name was before a number made it free; path itself if it has none. */
const char *ut_output_wanted(const struct ut_output_names *n, const char *path);

/* kind is the file's name below --result-dir, without suffix. *path NULL: it is an event, not a
 * file.
 */
int ut_output_report(struct ut_output_names *n, const struct ut_output_who *who, const char *kind,
		     const char **path, struct ut_err *err) UT_MUST_CHECK;

/* The file of a process's hardware metrics; below --result-dir, that of one device. word is what
 * stands in its name: "metrics". */
int ut_output_metrics(struct ut_output_names *n, const struct ut_output_who *who, const char *word,
		      int32_t device, const char **path, struct ut_err *err) UT_MUST_CHECK;

/* The folder for the code of kernels that belongs to such a file. */
const char *ut_output_modules(struct ut_arena *a, const struct ut_output_opts *opts,
			      const char *metrics, const char *word);

/* The directory of one process below --result-dir. */
const char *ut_output_process_dir(struct ut_arena *a, const char *result_dir,
				  const struct ut_output_who *who);

#endif
