/*
 * read_input.h - one input file as a table: flex and torch traces in JSON, or whatever the
 * importers of the trace engine know.
 *
 * Files are read independently of each other, so several threads may do it at once; file_merge.h
 * puts the tables together.
 */
#ifndef UT_ACELYZER_READ_INPUT_H
#define UT_ACELYZER_READ_INPUT_H

#include "acelyzer/event_table.h"
#include "acelyzer/options.h"
#include "base/err.h"

/* A member of the file's object that the output repeats. */
struct ut_ace_meta {
	char *key, *json; /* owned; json is a value without blanks */
};

struct ut_ace_part {
	struct ut_ace_table table; /* seq is not used: rows lie in the order of the file */
	enum ut_ace_dialect dialect;
	int64_t rank;          /* of the file; -1 = unknown */
	int64_t reported_rank; /* of distributedInfo; -1 = none */
	bool processed;        /* made by this tool or its model: its events are left out */
	bool is_log;           /* no trace but a log */
	struct ut_ace_meta *meta;
	size_t meta_count, meta_cap;
	uint64_t negative, zero; /* spans of negative or no length */
	uint64_t zero_busy;      /* ... whose stamps say otherwise */
	uint64_t stray_ends;     /* E without B */
	uint64_t open_begins;    /* B without E */
	uint64_t not_events;     /* elements that are no objects or have no phase */
	uint64_t bad_stamps;     /* spans with some stamps but not five good ones */
	uint64_t no_length;      /* X without dur */
	uint64_t cut_at;         /* the text ended here in the middle; 0 = it did not */
	char *repairs;           /* one line about text that was no proper JSON; NULL = none */
	struct ut_err err;
};

/*
 * release: keep what that keeps. Several threads may share a large file; the result is the
 * same. On failure the part is empty and err says why.
 */
int ut_ace_read(struct ut_ace_part *part, const char *path, enum ut_ace_release release,
		unsigned int threads, struct ut_err *err) UT_MUST_CHECK;

/* The same from memory; path is only a name. */
int ut_ace_read_text(struct ut_ace_part *part, const char *path, const char *text, size_t len,
		     enum ut_ace_release release, struct ut_err *err) UT_MUST_CHECK;

void ut_ace_part_release(struct ut_ace_part *part);

#endif
