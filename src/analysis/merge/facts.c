/*
 * facts.c - the first look at all files, several at a time.
 */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/logger.h"
#include "merge/merge.h"

/* What there is to say about a file; said later, in the order of files. */
struct said {
	struct ut_buf lines; /* each closed by '\n' */
	int rc;
};

struct pool {
	struct ut_merge *m;
	struct said *said; /* of file first + i */
	size_t first, count;
	_Atomic size_t next;
};

static void keep_line(void *ctx, const char *path, const char *text)
{
	struct said *s = ctx;

	ut_buf_fmt(&s->lines, "%s: %s\n", path, text);
}

static void facts_look_at(struct pool *c, size_t i)
{
	struct ut_merge_file *f = &c->m->files[c->first + i];
	struct said *s = &c->said[i];
	struct ut_facts_opts opts = { .warn = keep_line, .ctx = s };
	struct ut_err err = { 0 };

	opts.progress = &c->m->progress->done;
	if (!c->m->sizes[c->first + i]) {
		f->left_out = true;
		ut_buf_fmt(&s->lines, "%s: empty, left out\n", f->name);
		return;
	}
	s->rc = ut_facts_read(&f->facts, f->path, &opts, &err);
	if (!s->rc)
		return;
	f->left_out = true;
	ut_buf_fmt(&s->lines, "%s%s\n", err.text, c->m->strict ? "" : "; left out");
}

static void *facts_look(void *arg)
{
	struct pool *c = arg;
	size_t i;

	while ((i = atomic_fetch_add(&c->next, 1)) < c->count)
		facts_look_at(c, i);
	return NULL;
}

/* One line each. If it has to be strict, the first file that cannot be used ends it all. */
static int facts_report(struct pool *c, struct ut_err *err)
{
	int rc = 0;

	for (size_t i = 0; i < c->count; i++) {
		struct said *s = &c->said[i];
		bool fatal = s->rc && c->m->strict;

		for (char *line = s->lines.data, *end; line && *line; line = end + 1) {
			end = strchr(line, '\n');
			*end = '\0';
			if (fatal && !end[1])
				rc = rc ? rc : ut_err_set(err, s->rc, "%s", line);
			else
				ut_logger_log(c->m->logger, UT_WARN, "%s", line);
		}
		ut_buf_release(&s->lines);
	}
	return rc;
}

int ut_merge_read_facts(struct ut_merge *m, size_t first, size_t count, struct ut_err *err)
{
	struct pool c = { .m = m, .first = first, .count = count };
	size_t threads = m->threads < count ? m->threads : count, started = 0;
	pthread_t *workers = ut_make((threads + 1) * sizeof(*workers));
	int rc;

	c.said = ut_make((count + 1) * sizeof(*c.said));
	while (started + 1 < threads && !pthread_create(&workers[started], NULL, facts_look, &c))
		started++;
	facts_look(&c);
	while (started)
		pthread_join(workers[--started], NULL);
	rc = facts_report(&c, err);
	free(c.said);
	free(workers);
	return rc;
}

int ut_merge_empty_result(const struct ut_merge *m, struct ut_err *err)
{
	if (m->count == 1)
		return ut_err_set(err, -ENODATA, "%s is no trace", m->files[0].name);
	return ut_err_set(err, -ENODATA, "none of the %zu files is a trace", m->count);
}
