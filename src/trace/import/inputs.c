#include "import/inputs.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <glob.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/grow.h"
#include "base/logger.h"
#include "base/path.h"
#include "import/cpu/cpu_read.h"
#include "text/source.h"
#include "wire/disk.h"
#include "wire/spool.h"

#define SESSION_SUFFIX ".session" /* of the folders that launchers make for their recordings */

/* ---- which files --------------------------------------------------------------------------- */

static char *copy_of(const char *text)
{
	size_t size = strlen(text) + 1;

	return memcpy(ut_make(size), text, size);
}

/* Is it a recording that is in a result, too? */
static bool is_stored(const char *path)
{
	struct ut_arena arena = { 0 };
	bool yes = ut_str_ends(path, UT_SPOOL_SUFFIX) &&
		   ut_path_exists(ut_str_fmt(&arena, "%s" UT_STORED_SUFFIX, path));

	ut_arena_release(&arena);
	return yes;
}

static bool is_session(const char *dir)
{
	size_t len = strlen(dir), suffix = strlen(SESSION_SUFFIX);

	while (len && dir[len - 1] == '/')
		len--;
	return len > suffix && !strncmp(dir + len - suffix, SESSION_SUFFIX, suffix);
}

static void inputs_add_path(struct ut_inputs *in, const char *path)
{
	in->paths = ut_grow(in->paths, in->count + 1, &in->cap, sizeof(*in->paths));
	in->paths[in->count++] = copy_of(path);
}

static void add_stored(struct ut_inputs *in, const char *path)
{
	in->stored =
		ut_grow(in->stored, in->stored_count + 1, &in->stored_cap, sizeof(*in->stored));
	in->stored[in->stored_count++] = copy_of(path);
}

/* Digits count as numbers: rank 10 comes after rank 9. */
static int natural(const char *a, const char *b)
{
	while (*a && *b) {
		if (isdigit((unsigned char)*a) && isdigit((unsigned char)*b)) {
			size_t zeros_a = strspn(a, "0"), zeros_b = strspn(b, "0");
			size_t len_a, len_b;
			int order;

			a += zeros_a;
			b += zeros_b;
			len_a = strspn(a, "0123456789");
			len_b = strspn(b, "0123456789");
			if (len_a != len_b)
				return len_a < len_b ? -1 : 1;
			order = strncmp(a, b, len_a);
			if (order)
				return order;
			if (zeros_a != zeros_b)
				return zeros_a > zeros_b ? -1 : 1;
			a += len_a;
			b += len_b;
		} else if (*a != *b) {
			break;
		} else {
			a++;
			b++;
		}
	}
	return (unsigned char)*a - (unsigned char)*b;
}

static int by_nature(const void *a, const void *b)
{
	return natural(*(char *const *)a, *(char *const *)b);
}

static void sort_from(struct ut_inputs *in, size_t first)
{
	if (in->count - first > 1)
		qsort(in->paths + first, in->count - first, sizeof(*in->paths), by_nature);
}

/* What lies in a directory and is not ours to read does not stop the others. */
static void report_unreadable(const struct ut_inputs *in, const char *path)
{
	ut_logger_log(in->logger, UT_WARN, "%s: %s; left out", path, strerror(EACCES));
}

/* A trace; also what cannot be read and might be one: who opens it will tell. */
static bool may_be_trace(const struct ut_inputs *in, const char *path)
{
	const struct ut_importer *importer;
	struct ut_source s;
	int rc = ut_source_open(&s, path, NULL);
	bool sure;

	if (rc == -EACCES)
		report_unreadable(in, path);
	if (rc) /* damaged, but who says that it was a trace */
		return rc != -EPROTO && rc != -EACCES;
	importer = ut_importer_for(s.head, s.head_len);
	sure = importer && ut_importer_sure(importer, &s) && !ut_cpu_has_spool(path);
	ut_source_close(&s);
	return sure;
}

/* The traces in a directory; those of sessions in it, too. */
static int add_dir(struct ut_inputs *in, const char *dir, int depth, struct ut_err *err)
{
	DIR *d = opendir(dir);
	struct dirent *e;
	int rc = 0;

	if (!d && depth && errno == EACCES) {
		report_unreadable(in, dir);
		return 0;
	}
	if (!d)
		return ut_err_set(err, -errno, "%s: %s", dir, strerror(errno));
	while (!rc && (e = readdir(d))) {
		struct stat st;
		char path[4096];

		if (e->d_name[0] == '.' ||
		    snprintf(path, sizeof(path), "%s/%s", dir, e->d_name) >= (int)sizeof(path) ||
		    stat(path, &st))
			continue;
		if (S_ISDIR(st.st_mode) && depth == 0)
			rc = add_dir(in, path, depth + 1, err);
		else if (S_ISREG(st.st_mode) && is_stored(path))
			add_stored(in, path);
		else if (S_ISREG(st.st_mode) && may_be_trace(in, path))
			inputs_add_path(in, path);
	}
	closedir(d);
	return rc;
}

/* A launcher that was killed may leave the folder of its session empty: others have something. */
static int add_session(struct ut_inputs *in, const char *dir, struct ut_err *err)
{
	size_t before = in->count + in->stored_count;
	int rc = add_dir(in, dir, 0, err);

	if (!rc && in->count + in->stored_count == before && !in->empty_session)
		in->empty_session = copy_of(dir);
	return rc;
}

static int add_pattern(struct ut_inputs *in, const char *pattern, struct ut_err *err)
{
	glob_t found;
	int rc = glob(pattern, GLOB_BRACE | GLOB_TILDE, NULL, &found);

	if (rc == GLOB_NOMATCH)
		return ut_err_set(err, -ENOENT, "%s: no file matches", pattern);
	if (rc)
		return ut_err_set(err, -EIO, "%s: cannot be expanded", pattern);
	for (size_t i = 0; !rc && i < found.gl_pathc; i++) {
		if (!ut_path_is_dir(found.gl_pathv[i]))
			inputs_add_path(in, found.gl_pathv[i]);
		else if (is_session(found.gl_pathv[i]))
			rc = add_session(in, found.gl_pathv[i], err);
	}
	globfree(&found);
	return rc;
}

static int inputs_add_word(struct ut_inputs *in, const char *word, struct ut_err *err)
{
	size_t first = in->count;
	int rc = 0;

	if (!strcmp(word, "-") && in->has_stdin) {
		rc = ut_err_set(err, -EINVAL, "-: standard input was named twice");
	} else if (!strcmp(word, "-")) {
		in->has_stdin = true;
		inputs_add_path(in, word);
	} else if (is_session(word) && ut_path_is_dir(word)) {
		rc = add_session(in, word, err);
		sort_from(in, first);
	} else if (ut_path_is_dir(word)) {
		rc = add_dir(in, word, 0, err);
		if (!rc && in->count == first && !in->stored_count)
			rc = ut_err_set(err, -ENODATA, "%s: no trace in this directory", word);
		sort_from(in, first);
	} else if (!ut_path_exists(word) && strpbrk(word, "*?[{")) {
		rc = add_pattern(in, word, err);
		sort_from(in, first);
	} else if (!ut_path_exists(word)) {
		rc = ut_err_set(err, -ENOENT, "%s: %s", word, strerror(ENOENT));
	} else {
		inputs_add_path(in, word);
	}
	return rc;
}

/* A shell that expands a pattern sorts by letters: such a list is sorted again by numbers. */
static bool sorted_by_letters(int argc, const char *const *argv)
{
	for (int i = 1; i < argc; i++) {
		if (strcmp(argv[i - 1], argv[i]) >= 0)
			return false;
	}
	return argc > 2;
}

struct file_id {
	dev_t dev;
	ino_t ino;
	size_t index;
};

static int by_file(const void *a, const void *b)
{
	const struct file_id *x = a, *y = b;

	if (x->dev != y->dev)
		return x->dev < y->dev ? -1 : 1;
	if (x->ino != y->ino)
		return x->ino < y->ino ? -1 : 1;
	return x->index < y->index ? -1 : 1;
}

/* A file that was named twice is read once; adds up the sizes. */
static void inputs_drop_doubles(struct ut_inputs *in)
{
	struct file_id *ids = ut_make((in->count + 1) * sizeof(*ids));
	size_t kept = 0;

	for (size_t i = 0; i < in->count; i++) {
		struct stat st = { 0 };

		ids[i].index = i;
		if (strcmp(in->paths[i], "-") && !stat(in->paths[i], &st)) {
			ids[i].dev = st.st_dev;
			ids[i].ino = st.st_ino;
			in->bytes += S_ISREG(st.st_mode) ? (uint64_t)st.st_size : 0;
		}
	}
	qsort(ids, in->count, sizeof(*ids), by_file);
	for (size_t i = 1; i < in->count; i++) {
		if (ids[i].ino && ids[i].ino == ids[i - 1].ino && ids[i].dev == ids[i - 1].dev) {
			free(in->paths[ids[i].index]);
			in->paths[ids[i].index] = NULL;
		}
	}
	for (size_t i = 0; i < in->count; i++) {
		if (in->paths[i])
			in->paths[kept++] = in->paths[i];
	}
	in->count = kept;
	free(ids);
}

/* Recordings whose results are stored are read if there is nothing else. */
static void finalize_stored(struct ut_inputs *in)
{
	bool alone = !in->count;

	for (size_t i = 0; i < in->stored_count; i++) {
		if (alone)
			inputs_add_path(in, in->stored[i]);
		else
			ut_logger_log(in->logger, UT_INFO, "%s: its result is stored; left out",
				      in->stored[i]);
		free(in->stored[i]);
	}
	free(in->stored);
	in->stored = NULL;
	in->stored_count = in->stored_cap = 0;
}

int ut_inputs_find(struct ut_inputs *in, int argc, const char *const *argv,
		   const struct ut_logger *logger, struct ut_err *err)
{
	int rc = 0;

	*in = (struct ut_inputs){ .logger = logger };
	for (int i = 0; !rc && i < argc; i++)
		rc = inputs_add_word(in, argv[i], err);
	finalize_stored(in);
	if (!rc && !in->count && in->empty_session)
		rc = ut_err_set(err, -ENODATA, "%s: no trace in this directory", in->empty_session);
	if (rc) {
		ut_inputs_release(in);
		return rc;
	}
	if (sorted_by_letters(argc, argv))
		sort_from(in, 0);
	inputs_drop_doubles(in);
	return 0;
}

void ut_inputs_release(struct ut_inputs *in)
{
	for (size_t i = 0; i < in->count; i++)
		free(in->paths[i]);
	free(in->paths);
	free(in->empty_session);
	*in = (struct ut_inputs){ 0 };
}

/* ---- all of them, in order ----------------------------------------------------------------- */

/* One input on its way. Warnings wait, so that they come in the order of the inputs. */
struct ready {
	struct ut_store store;
	struct ut_err err;
	int rc;
	bool done;
	struct warning {
		char *text;
		bool lost;
	} * warnings;
	size_t warning_count, warning_cap;
};

struct pool {
	const struct ut_inputs *in;
	struct ut_import_opts opts; /* of one input */
	struct ready *ready;        /* of input i: ready[i % window] */
	size_t window;
	size_t next, taken; /* to be loaded next; handed to the caller */
	bool stop;
	pthread_mutex_t lock;
	pthread_cond_t change;
};

static void inputs_keep(struct ready *r, const char *text, bool lost)
{
	r->warnings =
		ut_grow(r->warnings, r->warning_count + 1, &r->warning_cap, sizeof(*r->warnings));
	r->warnings[r->warning_count++] = (struct warning){ copy_of(text), lost };
}

static void keep_warning(void *ctx, const char *path, const char *text)
{
	(void)path;
	inputs_keep(ctx, text, false);
}

static void keep_lost(void *ctx, const char *path, const char *text)
{
	(void)path;
	inputs_keep(ctx, text, true);
}

/* The next input that may be loaded now; SIZE_MAX = no more. */
static size_t next_input(struct pool *c)
{
	size_t i;

	pthread_mutex_lock(&c->lock);
	while (!c->stop && c->next < c->in->count && c->next >= c->taken + c->window)
		pthread_cond_wait(&c->change, &c->lock);
	i = c->stop || c->next == c->in->count ? SIZE_MAX : c->next++;
	pthread_mutex_unlock(&c->lock);
	return i;
}

static void *load_inputs(void *arg)
{
	struct pool *c = arg;
	size_t i;

	while ((i = next_input(c)) != SIZE_MAX) {
		struct ready *r = &c->ready[i % c->window];
		struct ut_import_opts opts = c->opts;

		opts.warn = keep_warning;
		opts.lost = keep_lost;
		opts.ctx = r;
		r->rc = ut_import(c->in->paths[i], &opts, &r->store, &r->err);
		pthread_mutex_lock(&c->lock);
		r->done = true;
		pthread_cond_broadcast(&c->change);
		pthread_mutex_unlock(&c->lock);
	}
	return NULL;
}

static struct ready *wait_for(struct pool *c, size_t i)
{
	struct ready *r = &c->ready[i % c->window];

	pthread_mutex_lock(&c->lock);
	while (!r->done)
		pthread_cond_wait(&c->change, &c->lock);
	pthread_mutex_unlock(&c->lock);
	return r;
}

static void report_warnings(struct ready *r, const struct ut_import_opts *opts, const char *path)
{
	for (size_t i = 0; i < r->warning_count; i++) {
		if (r->warnings[i].lost)
			ut_import_lost(opts, path, r->warnings[i].text);
		else if (opts->warn)
			opts->warn(opts->ctx, path, r->warnings[i].text);
		free(r->warnings[i].text);
	}
	free(r->warnings);
	r->warnings = NULL;
	r->warning_count = r->warning_cap = 0;
}

static void inputs_give_back(struct pool *c, struct ready *r, bool stop)
{
	ut_store_release(&r->store);
	pthread_mutex_lock(&c->lock);
	r->done = false;
	r->rc = 0;
	r->err = (struct ut_err){ 0 };
	c->taken++;
	c->stop |= stop;
	pthread_cond_broadcast(&c->change);
	pthread_mutex_unlock(&c->lock);
}

static unsigned int cores(void)
{
	long n = sysconf(_SC_NPROCESSORS_ONLN);

	return n > 0 ? (unsigned int)n : 1;
}

/* How many threads load inputs, and how many each of those may use. */
static size_t share_out(struct pool *c, unsigned int threads)
{
	size_t loaders;

	threads = threads ? threads : cores();
	loaders = c->in->count < threads ? c->in->count : threads;
	c->opts.threads = threads / (unsigned int)(loaders ? loaders : 1);
	c->window = loaders + 1;
	return loaders;
}

int ut_inputs_each(const struct ut_inputs *in, const struct ut_import_opts *opts,
		   int (*each)(void *ctx, size_t i, struct ut_store *store, struct ut_err *err),
		   void *ctx, struct ut_err *err)
{
	struct pool c = { .in = in,
			  .opts = *opts,
			  .lock = PTHREAD_MUTEX_INITIALIZER,
			  .change = PTHREAD_COND_INITIALIZER };
	size_t loaders = share_out(&c, opts->threads), started = 0;
	pthread_t *threads = ut_make((loaders + 1) * sizeof(*threads));
	int rc = 0;

	c.ready = ut_make(c.window * sizeof(*c.ready));
	while (started < loaders && !pthread_create(&threads[started], NULL, load_inputs, &c))
		started++;
	if (in->count && !started)
		rc = ut_err_set(err, -EAGAIN, "no thread could be started");
	for (size_t i = 0; !rc && i < in->count; i++) {
		struct ready *r = wait_for(&c, i);

		report_warnings(r, opts, in->paths[i]);
		if (!r->rc)
			rc = each(ctx, i, &r->store, err);
		else if (!opts->failed || !opts->failed(opts->ctx, i, &r->err))
			rc = ut_err_set(err, r->rc, "%s", r->err.text);
		inputs_give_back(&c, r, rc != 0);
	}
	for (size_t i = 0; i < started; i++)
		pthread_join(threads[i], NULL);
	for (size_t i = 0; i < c.window; i++) {
		report_warnings(&c.ready[i], &(struct ut_import_opts){ 0 }, "");
		ut_store_release(&c.ready[i].store);
	}
	free(c.ready);
	free(threads);
	return rc;
}
