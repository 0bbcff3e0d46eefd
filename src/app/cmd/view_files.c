/*
 * view_files.c - files that are shown while they are read: each when it is there, and of large
 * ones first what their beginning holds. A beginning is read as if the file ended there, so any
 * format can be looked at this way; beginnings grow by a factor, so all of them together cost a
 * third of the file.
 */
#include "cmd/view_show.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "base/grow.h"
#include "base/log.h"
#include "model/renumber.h"
#include "text/source.h"
#include "view/view_stage.h"

#define HEAD_FIRST  (UINT64_C(16) << 20) /* bytes of the first look */
#define HEAD_GROWTH 4u
#define SHOW_MS     300 /* not more often than that */
#define TICK_MS     250 /* how often the share that was read is told */

struct file {
	struct ut_view_store *store, *head; /* the whole, or what its beginning holds */
	uint64_t bytes;
	bool has_head; /* worth a look at it */
	bool failed;
};

struct files {
	struct ut_show *s;
	struct file *items;
	struct ut_view_store **before; /* of the run to compare with, all of them */
	int64_t shown_at;              /* ms */
	bool done;                     /* all of them have been read */
};

static int64_t view_files_now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static double view_files_share(const struct files *f)
{
	uint64_t all = f->s->inputs->bytes + (f->s->before ? f->s->before->bytes : 0);
	uint64_t done = f->s->done;

	if (f->done)
		return 1;
	return all && done < all ? (double)done / (double)all : 0.999;
}

static void keep_notes(const struct ut_show *s, struct ut_view *v)
{
	struct ut_buf path = { 0 };

	if (s->inputs->has_stdin || !s->inputs->count)
		return;
	ut_buf_fmt(&path, "%s.notes.json", s->inputs->paths[0]);
	ut_view_keep_notes(v, path.data);
	ut_buf_release(&path);
}

/* The run to compare with is whole, or is not there. */
static void add_before(const struct files *f, struct ut_view *v)
{
	struct ut_view *before;

	if (!f->before)
		return;
	before = ut_view_new();
	for (size_t i = 0; i < f->s->before->count; i++)
		ut_view_share(before, f->s->before->paths[i], f->before[i]);
	ut_view_ready(before, f->s->threads);
	ut_view_compare(v, before);
}

/* All that has been read until now. With the lock. */
static void show_files(struct files *f)
{
	const struct ut_inputs *in = f->s->inputs;
	struct ut_view *v = ut_view_new();
	size_t count = 0;

	if (in->count > 1 || f->items[0].has_head)
		ut_view_expect_more(v);
	for (size_t i = 0; i < in->count; i++) {
		struct file *file = &f->items[i];

		if (!file->store && !file->head)
			continue;
		ut_view_share(v, in->paths[i], file->store ? file->store : file->head);
		count++;
	}
	if (!count) {
		ut_view_free(v);
		return;
	}
	keep_notes(f->s, v);
	add_before(f, v);
	f->s->state.read = view_files_share(f);
	ut_show_view(f->s, v);
	f->shown_at = view_files_now_ms();
}

/* ---- beginnings ----------------------------------------------------------------------------- */

static bool wants_head(const char *path, uint64_t bytes)
{
	const struct ut_importer *importer = NULL;
	struct ut_source source;

	if (bytes < 2 * HEAD_FIRST || !strcmp(path, "-") || ut_source_open(&source, path, NULL))
		return false;
	importer = ut_importer_for(source.head, source.head_len);
	ut_source_close(&source);
	return importer == &ut_import_chrome || importer == &ut_import_perfetto;
}

static void take_head(struct files *f, size_t i, struct ut_store *store)
{
	struct file *file = &f->items[i];

	pthread_mutex_lock(&f->s->lock);
	if (file->store || file->failed || f->done || f->s->stop) {
		ut_store_release(store);
	} else {
		if (file->head)
			ut_store_renumber(store, ut_view_store_get(file->head));
		ut_view_store_drop(file->head);
		file->head = ut_view_store_new(store);
		show_files(f);
	}
	pthread_mutex_unlock(&f->s->lock);
}

static bool view_files_is_open(struct files *f, size_t i)
{
	bool open;

	pthread_mutex_lock(&f->s->lock);
	open = !f->items[i].store && !f->items[i].failed && !f->done && !f->s->stop;
	pthread_mutex_unlock(&f->s->lock);
	return open;
}

static void *read_heads(void *ctx)
{
	struct files *f = ctx;
	const struct ut_inputs *in = f->s->inputs;
	bool any = true;

	for (uint64_t most = HEAD_FIRST; any; most *= HEAD_GROWTH) {
		const struct ut_import_opts how = { .threads = 1, .most = most };

		any = false;
		for (size_t i = 0; i < in->count; i++) {
			struct ut_store store;

			if (!f->items[i].has_head || f->items[i].bytes < 2 * most ||
			    !view_files_is_open(f, i))
				continue;
			any = true;
			if (!ut_import(in->paths[i], &how, &store, NULL))
				take_head(f, i, &store);
		}
	}
	return NULL;
}

/* How far we are, until all have been read. */
static void *report_share(void *ctx)
{
	struct files *f = ctx;
	bool done = false;

	while (!done && !f->s->stop) {
		poll(NULL, 0, TICK_MS);
		pthread_mutex_lock(&f->s->lock);
		done = f->done;
		if (!done) {
			f->s->state.read = view_files_share(f);
			ut_show_state(f->s);
		}
		pthread_mutex_unlock(&f->s->lock);
	}
	return NULL;
}

/* ---- whole files ---------------------------------------------------------------------------- */

static int take_store(void *ctx, size_t i, struct ut_store *store, struct ut_err *err)
{
	struct files *f = ctx;
	struct file *file = &f->items[i];
	bool is_last = i + 1 == f->s->inputs->count;

	if (f->s->stop)
		return ut_err_set(err, -ECANCELED, "nobody looks any more");
	pthread_mutex_lock(&f->s->lock);
	if (file->head)
		ut_store_renumber(store, ut_view_store_get(file->head));
	ut_view_store_drop(file->head);
	file->head = NULL;
	file->store = ut_view_store_new(store);
	if (!is_last && !f->before && view_files_now_ms() - f->shown_at > SHOW_MS)
		show_files(f);
	pthread_mutex_unlock(&f->s->lock);
	return 0;
}

static void view_files_warn(void *ctx, const char *path, const char *text)
{
	(void)ctx;
	ut_log(UT_WARN, "%s: %s", path, text);
}

/* What a file lacks is said in the page, too. */
static void lost(void *ctx, const char *path, const char *text)
{
	struct files *f = ctx;
	struct ut_buf line = { 0 };

	view_files_warn(ctx, path, text);
	ut_buf_fmt(&line, "%s: %s", path, text);
	ut_show_trouble(f->s, line.data);
	ut_buf_release(&line);
}

/* The others are shown nevertheless. */
static bool pass(void *ctx, size_t i, const struct ut_err *err)
{
	struct files *f = ctx;

	f->items[i].failed = true;
	f->s->failed = true;
	ut_log(UT_ERR, "%s", err->text);
	ut_show_trouble(f->s, err->text);
	return true;
}

static void open_files(struct files *f)
{
	const struct ut_inputs *in = f->s->inputs;

	for (size_t i = 0; i < in->count; i++) {
		struct stat st;

		if (!strcmp(in->paths[i], "-") || stat(in->paths[i], &st))
			continue;
		f->items[i].bytes = (uint64_t)st.st_size;
		f->items[i].has_head = !f->before && wants_head(in->paths[i], f->items[i].bytes);
	}
}

static int take_before(void *ctx, size_t i, struct ut_store *store, struct ut_err *err)
{
	struct files *f = ctx;

	if (f->s->stop)
		return ut_err_set(err, -ECANCELED, "nobody looks any more");
	f->before[i] = ut_view_store_new(store);
	return 0;
}

/* Differences from half a run mean nothing: it is read first, and whole. */
static int read_before(struct files *f, struct ut_err *err)
{
	const struct ut_import_opts how = { .threads = f->s->threads,
					    .warn = view_files_warn,
					    .progress = &f->s->done };

	if (!f->s->before)
		return 0;
	f->before = ut_make((f->s->before->count + 1) * sizeof(struct ut_view_store *));
	return ut_inputs_each(f->s->before, &how, take_before, f, err);
}

static bool any_read(const struct files *f)
{
	for (size_t i = 0; i < f->s->inputs->count; i++) {
		if (f->items[i].store || f->items[i].head)
			return true;
	}
	return false;
}

static void close_files(struct files *f)
{
	for (size_t i = 0; i < f->s->inputs->count; i++) {
		ut_view_store_drop(f->items[i].store);
		ut_view_store_drop(f->items[i].head);
	}
	for (size_t i = 0; f->before && i < f->s->before->count; i++)
		ut_view_store_drop(f->before[i]);
	free(f->before);
	free(f->items);
}

int ut_show_files(struct ut_show *s, bool *shown, struct ut_err *err)
{
	struct files f = { .s = s };
	const struct ut_import_opts how = { .threads = s->threads,
					    .warn = view_files_warn,
					    .lost = lost,
					    .failed = pass,
					    .ctx = &f,
					    .progress = &s->done };
	pthread_t heads, reporter;
	bool has_heads, has_reporter;
	int rc;

	f.items = ut_make((s->inputs->count + 1) * sizeof(*f.items));
	rc = read_before(&f, err);
	if (rc) {
		close_files(&f);
		return rc;
	}
	open_files(&f);
	has_heads = !pthread_create(&heads, NULL, read_heads, &f);
	has_reporter = !pthread_create(&reporter, NULL, report_share, &f);
	rc = ut_inputs_each(s->inputs, &how, take_store, &f, err);
	pthread_mutex_lock(&s->lock);
	f.done = true;
	*shown = any_read(&f);
	show_files(&f);
	s->is_complete = true;
	pthread_mutex_unlock(&s->lock);
	if (has_heads)
		pthread_join(heads, NULL);
	if (has_reporter)
		pthread_join(reporter, NULL);
	close_files(&f);
	return rc;
}
