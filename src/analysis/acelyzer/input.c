#include "acelyzer/input.h"

#include <ctype.h>
#include <errno.h>
#include <glob.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "acelyzer/file_merge.h"
#include "base/grow.h"
#include "base/path.h"
#include "base/str.h"
#include "base/thread_pool.h"
#include "text/replaced.h"

struct files {
	char **paths;
	size_t count, cap;
};

static void input_add_file(struct files *f, const char *path)
{
	struct stat st;
	char *copy;

	if (stat(path, &st) || S_ISDIR(st.st_mode))
		return;
	copy = strdup(path);
	if (!copy)
		abort();
	f->paths = ut_grow(f->paths, f->count + 1, &f->cap, sizeof(*f->paths));
	f->paths[f->count++] = copy;
}

/* rank_10 comes after rank_9. */
static int input_by_number(const void *x, const void *y)
{
	const char *a = *(char *const *)x, *b = *(char *const *)y;

	return strverscmp(a, b);
}

/* One item of the list: a file, a pattern. */
static void expand(struct files *f, const char *item)
{
	size_t from = f->count;
	glob_t found = { 0 };

	if (!access(item, F_OK)) {
		input_add_file(f, item);
		return;
	}
	if (!glob(item, GLOB_NOSORT, NULL, &found)) {
		for (size_t i = 0; i < found.gl_pathc; i++)
			input_add_file(f, found.gl_pathv[i]);
		if (f->count > from)
			qsort(f->paths + from, f->count - from, sizeof(*f->paths), input_by_number);
	}
	globfree(&found);
}

/* A list that is separated by commas and blanks; a name with them in it that exists counts. */
static void find_files(struct files *f, const char *input)
{
	if (*input && !access(input, F_OK)) {
		input_add_file(f, input);
		return;
	}
	for (const char *p = input; *p;) {
		size_t len = strcspn(p, ", \t\r\n\f\v");
		char *item = strndup(p, len);

		if (!item)
			abort();
		if (len)
			expand(f, item);
		free(item);
		p += len;
		p += strspn(p, ", \t\r\n\f\v");
	}
}

static void say_files(struct ut_ace_analysis *a, const struct files *f)
{
	struct ut_buf b = { 0 };

	for (size_t i = 0; i < f->count; i++)
		ut_buf_fmt(&b, "%s'%s'", i ? ", " : "", f->paths[i]);
	ut_ace_say(&a->messages, UT_ACE_INFO, "Reading files: [%s]", b.data ? b.data : "");
	ut_ace_say(&a->messages, UT_ACE_INFO, "Ingesting %zu files.", f->count);
	ut_buf_release(&b);
}

/* What the threads share. */
struct reading {
	const struct files *files;
	struct ut_ace_part *parts;
	_Atomic bool failed;
	enum ut_ace_release release;
	bool raw;             /* ids stay what they are in the files */
	unsigned int threads; /* for each file */
};

static void read_one(void *ctx, size_t i)
{
	struct reading *r = ctx;
	struct ut_err err = { 0 };

	if (atomic_load(&r->failed))
		return;
	if (ut_ace_read(&r->parts[i], r->files->paths[i], r->release, r->threads, &err)) {
		r->parts[i].err = err;
		atomic_store(&r->failed, true);
	} else if (!r->raw) {
		ut_ace_finalize(&r->parts[i], r->release);
	}
}

static int read_files(struct reading *r, unsigned int threads, struct ut_err *err)
{
	r->threads = (unsigned int)(threads / r->files->count);
	ut_thread_pool_each(threads, r->files->count, read_one, r);
	for (size_t i = 0; i < r->files->count; i++) {
		if (r->parts[i].err.code)
			return ut_err_set(err, r->parts[i].err.code, "%s", r->parts[i].err.text);
	}
	return 0;
}

/* The last characters of a path, as messages have it. */
static const char *tail(const char *path)
{
	size_t len = strlen(path);

	return len > 15 ? path + len - 15 : path;
}

static void say_part(struct ut_ace_analysis *a, const struct ut_ace_part *p, const char *path)
{
	struct ut_ace_messages *m = &a->messages;

	if (p->is_log)
		ut_ace_say(m, UT_ACE_ERROR, "Unrecognized file type. file: %s", path);
	if (p->processed)
		ut_ace_say(m, UT_ACE_WARN,
			   "INGEST: Attempting to import a json file that had been processed by "
			   "acelyzer already.Dropping ALL Events from file %s",
			   path);
	if (p->cut_at)
		ut_ace_say(m, UT_ACE_WARN,
			   "INGEST: %s: offset %" PRIu64 ": the file ends in the middle; what is "
			   "complete was read",
			   path, p->cut_at);
	if (p->repairs)
		ut_ace_say(m, UT_ACE_WARN, "INGEST: %s: no proper JSON, read anyway: %s", path,
			   p->repairs);
	if (p->not_events)
		ut_ace_say(m, UT_ACE_WARN,
			   "INGEST: %s: %" PRIu64 " entries are no events and were left out", path,
			   p->not_events);
	if (p->stray_ends || p->open_begins)
		ut_ace_say(m, UT_ACE_WARN,
			   "INGEST: %s: %" PRIu64 " ends without begin, %" PRIu64
			   " begins without end were left out",
			   path, p->stray_ends, p->open_begins);
	if (p->no_length)
		ut_ace_say(m, UT_ACE_WARN, "INGEST: %s: %" PRIu64 " spans have no dur; 0 is used",
			   path, p->no_length);
	if (p->bad_stamps)
		ut_ace_say(m, UT_ACE_WARN,
			   "INGEST: %s: %" PRIu64 " events have TS1 but no five good stamps; they "
			   "count as host events",
			   path, p->bad_stamps);
}

static void say_lengths(struct ut_ace_analysis *a, const struct ut_ace_part *p, const char *path)
{
	if (p->zero_busy)
		ut_ace_say(&a->messages, UT_ACE_WARN,
			   "Ingestion: ..%s Detected %" PRIu64
			   " events with zero wallclock but nonzero "
			   "HW time. Indication of time calibration errors during trace capture.",
			   tail(path), p->zero_busy);
	if (p->zero)
		ut_ace_say(
			&a->messages, UT_ACE_WARN,
			"Ingestion: ..%s Detected 'CompleteEvent' type (ph=X) with zero duration. "
			"This should be an 'InstantEvent' type (ph=i). Events: %" PRIu64,
			tail(path), p->zero);
	if (p->negative)
		ut_ace_say(
			&a->messages, UT_ACE_WARN,
			"Ingestion: detected negative duration event(s). Events ignored:%" PRIu64,
			p->negative);
}

static int take_parts(struct ut_ace_analysis *a, struct reading *r, struct ut_ace_frame *frame,
		      enum ut_ace_release release, struct ut_err *err)
{
	size_t n = r->files->count, traces = 0;

	for (size_t i = 0; i < n; i++) {
		say_part(a, &r->parts[i], r->files->paths[i]);
		ut_ace_issues_read(a->issues, &r->parts[i]);
		if (release >= UT_ACE_1_2)
			say_lengths(a, &r->parts[i], r->files->paths[i]);
		traces += !r->parts[i].is_log;
	}
	if (!traces)
		return ut_err_set(err, -ENOENT, "no trace among the input files");
	ut_ace_frame_join(frame, r->parts, n, release);
	ut_ace_merge(&a->table, r->parts, n);
	return 0;
}

/* The last result, found by a pattern among others, is no input. */
static int drop_output(struct files *f, const char *output, struct ut_err *err)
{
	size_t kept = 0;

	if (f->count == 1 && ut_same_file(f->paths[0], output))
		return ut_replaced_refuse(output, err);
	for (size_t i = 0; i < f->count; i++) {
		if (ut_same_file(f->paths[i], output))
			free(f->paths[i]);
		else
			f->paths[kept++] = f->paths[i];
	}
	f->count = kept;
	return 0;
}

int ut_ace_input(struct ut_ace_analysis *a, const struct ut_ace_setup *s,
		 struct ut_ace_frame *frame, struct ut_err *err)
{
	struct files files = { 0 };
	struct reading r = { .files = &files,
			     .release = s->opts.release,
			     .raw = ut_ace_verifies(&s->opts) };
	int rc;

	find_files(&files, s->input);
	say_files(a, &files);
	if (!files.count) {
		ut_ace_say(&a->messages, UT_ACE_ERROR, "No input files found.");
		rc = ut_err_set(err, -ENOENT,
				!*s->input ? "no input file is named%s"
				: ut_path_is_dir(s->input)
					? "%s: a folder; name files in it: -i 'FOLDER/*.json'"
					: "%s: no such file, and nothing matches it",
				s->input);
		goto out;
	}
	rc = s->write_trace ? drop_output(&files, s->output, err) : 0;
	r.parts = ut_make(files.count * sizeof(*r.parts));
	if (!rc)
		rc = read_files(&r, s->opts.threads, err);
	if (!rc)
		rc = take_parts(a, &r, frame, s->opts.release, err);
	for (size_t i = 0; i < files.count; i++)
		ut_ace_part_release(&r.parts[i]);
	free(r.parts);
out:
	for (size_t i = 0; i < files.count; i++)
		free(files.paths[i]);
	free(files.paths);
	return rc;
}
