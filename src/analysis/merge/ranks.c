/*
 * ranks.c - the ranks of a parallel job merge Chrome JSON together.
 *
 * Each rank merges its share of the files into a temporary file that the others can read. Then
 * time is cut into as many pieces as there are ranks, with about the same number of bytes each,
 * and every rank merges one piece of all temporary files and writes it to its place in the result:
 * how many bytes lie in front of a cut is known before anything is written. Events of equal keys
 * are never cut apart, and merging is associative: the bytes are those of one process.
 *
 * A result that is compressed, or no regular file, is written by rank 0.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/grow.h"
#include "base/path.h"
#include "merge/merge_text.h"
#include "merge/parts.h"
#include "merge/spill.h"
#include "mpijob/mpijob.h"
#include "text/out.h"
#include "text/pack.h"

/* ---- what is known about the files ----------------------------------------------------------- */

/* Those of the ranks, one after the other, are in the order of files. */
int ut_merge_exchange(struct ut_merge *m, size_t first, size_t count, struct ut_err *err)
{
	struct ut_buf mine = { 0 };
	const char *at, *end;
	char *data;
	size_t len;
	int rc = 0;

	for (size_t i = first; i < first + count; i++) {
		ut_buf_char(&mine, m->files[i].left_out);
		if (!m->files[i].left_out)
			ut_facts_pack(&m->files[i].facts, &mine);
		ut_facts_release(&m->files[i].facts);
	}
	data = ut_mpijob_share(m->job, mine.data, mine.len, &len);
	ut_buf_release(&mine);
	at = data;
	end = data + len;
	for (size_t i = 0; !rc && i < m->count; i++) {
		m->files[i].left_out = at < end && *at++;
		if (!m->files[i].left_out)
			rc = ut_facts_unpack(&m->files[i].facts, &at, end);
	}
	free(data);
	if (rc)
		ut_err_set(err, rc, "the ranks of this job do not understand each other");
	return ut_mpijob_agree(m->job, rc, err);
}

/* ---- temporary files ------------------------------------------------------------------------- */

/* The temporary files of all ranks; the same names everywhere. */
struct shares {
	char **paths;
	struct ut_spill mine;
	int fd; /* of mine; -1: not open */
};

/* Names that no other merge uses. */
static void name_shares(const struct ut_merge *m, struct ut_arena *a, struct shares *s)
{
	bool plain = strcmp(m->output, "-") != 0;
	char *dir = ut_path_dir(a, plain ? m->output : "-");
	size_t len = sizeof(long);
	long *token = ut_mpijob_bcast(m->job, &(long){ getpid() }, &len);

	s->fd = -1;
	s->paths = UT_NEW_N(a, char *, (size_t)m->job->ranks);
	for (int r = 0; r < m->job->ranks; r++)
		s->paths[r] =
			ut_str_fmt(a, "%s/.%.150s.%ld.%d.tmp", dir,
				   plain ? ut_path_base(m->output) : "unitrace-merge", *token, r);
	free(token);
}

/* Where files come from a server, others see all of one from its close on. */
static int reopen(struct shares *s, const char *path, struct ut_err *err)
{
	int failed = close(s->fd) ? -errno : 0;

	s->mine.fd = s->fd = open(path, O_RDONLY | O_CLOEXEC);
	if (!failed && s->fd < 0)
		failed = -errno;
	return failed ? ut_err_set(err, failed, "%s: %s", path, strerror(-failed)) : 0;
}

/* This rank's files, merged, into a file that the others can open. */
static int merge_share(struct ut_merge *m, size_t first, size_t count, struct shares *s,
		       struct ut_err *err)
{
	const char *path = s->paths[m->job->rank];
	struct ut_streams streams = { 0 };
	int rc, finished;

	s->fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (s->fd < 0)
		return ut_err_set(err, -errno, "%s: %s", path, strerror(errno));
	ut_spill_start(&s->mine, s->fd, 0, path);
	ut_merge_open_files(m, first, count, NULL, &streams);
	rc = ut_merge_narrow(m, &streams, err);
	if (!rc)
		rc = ut_streams_merge(streams.items, streams.count, m->threads, &s->mine.runs, err);
	finished = ut_spill_finish(&s->mine, err);
	ut_streams_release(&streams);
	rc = rc ? rc : finished;
	return rc ? rc : reopen(s, path, err);
}

static void release_share(const struct ut_merge *m, struct shares *s)
{
	if (!s->mine.marks)
		return; /* there was no file */
	ut_spill_release(&s->mine);
	if (s->fd >= 0)
		close(s->fd);
	unlink(s->paths[m->job->rank]);
}

/* ---- rank 0 writes --------------------------------------------------------------------------- */

static int write_alone(struct ut_merge *m, const struct ut_merge_plan *plan,
		       const struct shares *shares, struct ut_err *err)
{
	struct ut_streams s = { 0 };
	int rc = 0;

	for (int r = 0; !rc && r < m->job->ranks; r++) {
		int fd = ut_merge_open_share(shares->paths[r], err);

		if (fd < 0) {
			rc = fd;
			continue;
		}
		ut_streams_add_fd(&s, fd);
		ut_streams_add(&s, ut_spill_open(fd, shares->paths[r]));
	}
	if (!rc)
		rc = ut_merge_write(m, plan, &s, NULL, err);
	ut_streams_release(&s);
	return rc;
}

/* ---- all write ------------------------------------------------------------------------------- */

/* Can bytes be put into the result at any place, by anybody? */
static bool merge_ranks_is_plain(const char *output)
{
	struct stat st;

	return strcmp(output, "-") && !ut_pack_by_name(output) &&
	       (stat(output, &st) || S_ISREG(st.st_mode));
}

/* The name of the file that all write to; "" where rank 0 could not make it. free() it. */
static char *open_result(struct ut_merge *m, struct ut_out **out, struct ut_err *err, int *rc)
{
	const char *path = NULL;
	size_t len;

	*out = NULL;
	*rc = 0;
	if (!m->job->rank) {
		*out = ut_out_open(m->output, m->out_flags);
		path = ut_out_file(*out);
		if (!path) {
			*rc = ut_out_commit(*out, err);
			*out = NULL;
		}
	}
	len = path ? strlen(path) : 0;
	return ut_mpijob_bcast(m->job, path, &len);
}

static int write_together(struct ut_merge *m, const struct ut_merge_plan *plan,
			  const struct shares *shares, struct ut_err *err)
{
	struct ut_merge_parts parts = { .paths = shares->paths, .mine = &shares->mine };
	struct ut_out *out;
	int rc;

	parts.result = open_result(m, &out, err, &rc);
	rc = ut_mpijob_agree(m->job, rc, err);
	if (!rc)
		rc = ut_merge_cut(m, &parts, err);
	if (!rc)
		rc = ut_merge_write_part(m, plan, &parts, err);
	rc = ut_mpijob_agree(m->job, rc, err);
	if (!rc && out)
		rc = ut_out_commit(out, err);
	else
		ut_out_abandon(out);
	free(parts.cuts);
	free(parts.result);
	return rc;
}

int ut_merge_together(struct ut_merge *m, const struct ut_merge_plan *plan, size_t first,
		      size_t count, struct ut_err *err)
{
	struct ut_arena arena = { 0 };
	struct shares shares = { 0 };
	int64_t plain;
	int rc;

	name_shares(m, &arena, &shares);
	rc = merge_share(m, first, count, &shares, err);
	rc = ut_mpijob_agree(m->job, rc, err);
	plain = ut_mpijob_max(m->job, m->job->rank ? 0 : merge_ranks_is_plain(m->output));
	if (!rc && plain)
		rc = write_together(m, plan, &shares, err);
	else if (!rc && !m->job->rank)
		rc = write_alone(m, plan, &shares, err);
	rc = ut_mpijob_agree(m->job, rc, err);
	release_share(m, &shares);
	ut_arena_release(&arena);
	return rc;
}
