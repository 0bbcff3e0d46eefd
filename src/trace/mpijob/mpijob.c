#include "mpijob/mpijob.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/str.h"
#include "mpijob/plugin.h"

void ut_mpijob_stop(struct ut_mpijob *s)
{
	/* A launcher that sees one rank fail may end the others: rank 0 must have had its say. */
	ut_mpijob_barrier(s);
	if (s->mpi)
		s->mpi->stop();
	*s = (struct ut_mpijob){ .ranks = 1 };
}

void ut_mpijob_barrier(struct ut_mpijob *s)
{
	if (s->mpi)
		s->mpi->barrier();
}

int64_t ut_mpijob_max(struct ut_mpijob *s, int64_t value)
{
	if (s->mpi)
		s->mpi->max(&value, 1);
	return value;
}

uint64_t ut_mpijob_before(struct ut_mpijob *s, uint64_t mine)
{
	if (!s->mpi)
		return 0;
	s->mpi->sum_before(&mine);
	return mine;
}

/* The lowest failing rank wins; it sends its text to rank 0, and that to everybody. */
int ut_mpijob_agree(struct ut_mpijob *s, int rc, struct ut_err *err)
{
	struct ut_err reported = { 0 }, none = { 0 };
	int64_t first;

	if (!s->mpi)
		return rc;
	if (!err)
		err = &none;
	first = -ut_mpijob_max(s, rc ? -(int64_t)s->rank : -INT64_MAX);
	if (first == INT64_MAX)
		return 0;
	if (s->rank == (int)first) {
		reported = *err;
		ut_err_set(&reported, rc, "%s", strerror(-rc));
		reported.code = rc;
		if (s->rank)
			s->mpi->send(0, &reported, sizeof(reported));
	} else if (!s->rank) {
		s->mpi->recv((int)first, &reported, sizeof(reported));
	}
	s->mpi->bcast(&reported, sizeof(reported));
	reported.text[sizeof(reported.text) - 1] = '\0';
	*err = reported;
	return reported.code ? reported.code : -EIO;
}

int ut_mpijob_same(struct ut_mpijob *s, int argc, const char *const *argv, struct ut_err *err)
{
	struct ut_buf mine = { 0 };
	size_t len;
	char *first;
	int rc = 0;

	if (!s->mpi)
		return 0;
	for (int i = 0; i < argc; i++)
		ut_buf_add(&mine, argv[i], strlen(argv[i]) + 1);
	len = mine.len;
	first = ut_mpijob_bcast(s, mine.data, &len);
	if (len != mine.len || (len && memcmp(first, mine.data, len)))
		rc = ut_err_set(err, -EINVAL,
				"the ranks of this job were given different arguments; for work of "
				"its own on each rank use --no-mpi");
	free(first);
	ut_buf_release(&mine);
	return ut_mpijob_agree(s, rc, err);
}

void *ut_mpijob_bcast(struct ut_mpijob *s, const void *data, size_t *len)
{
	uint64_t bytes = *len;
	char *copy;

	if (s->mpi)
		s->mpi->bcast(&bytes, sizeof(bytes));
	*len = (size_t)bytes;
	copy = ut_make(*len + 1);
	if (!s->rank && data && *len)
		memcpy(copy, data, *len);
	if (s->mpi)
		s->mpi->bcast(copy, *len);
	return copy;
}

void ut_mpijob_gather(struct ut_mpijob *s, const void *data, size_t len, struct ut_gathered *all)
{
	uint64_t *lens = NULL;
	size_t n = s->rank ? 0 : (size_t)s->ranks, cap = 0;

	*all = (struct ut_gathered){ .count = n };
	if (n) {
		lens = ut_grow(NULL, n, &cap, sizeof(*lens));
		lens[0] = len;
	}
	if (s->mpi)
		s->mpi->gather_u64(len, lens);
	if (n) {
		cap = 0;
		all->starts = ut_grow(NULL, n + 1, &cap, sizeof(*all->starts));
		for (size_t r = 0; r < n; r++)
			all->starts[r + 1] = all->starts[r] + lens[r];
		all->data = ut_make(all->starts[n] + 1);
	}
	if (s->mpi)
		s->mpi->gather(data, len, lens, all->data);
	else if (len)
		memcpy(all->data, data, len);
	free(lens);
}

void ut_gathered_release(struct ut_gathered *all)
{
	free(all->data);
	free(all->starts);
	*all = (struct ut_gathered){ 0 };
}

void *ut_mpijob_share(struct ut_mpijob *s, const void *data, size_t len, size_t *all_len)
{
	struct ut_gathered all;
	void *copy;

	ut_mpijob_gather(s, data, len, &all);
	*all_len = all.count ? (size_t)all.starts[all.count] : 0;
	copy = ut_mpijob_bcast(s, all.data, all_len);
	ut_gathered_release(&all);
	return copy;
}

static void send_result(struct ut_mpijob *s, const struct ut_fold *f, int to, int rc)
{
	char *data = NULL;
	size_t len = 0;
	uint64_t bytes;

	if (!rc) /* after a failure the others only need to be released from their wait */
		f->pack(f->ctx, &data, &len);
	bytes = len;
	s->mpi->send(to, &bytes, sizeof(bytes));
	s->mpi->send(to, data, len);
	free(data);
}

static int take_result(struct ut_mpijob *s, const struct ut_fold *f, int from, struct ut_err *err)
{
	uint64_t bytes = 0;
	char *data;
	int rc;

	s->mpi->recv(from, &bytes, sizeof(bytes));
	data = ut_make((size_t)bytes + 1);
	s->mpi->recv(from, data, (size_t)bytes);
	rc = bytes ? f->fold(f->ctx, data, (size_t)bytes, err) : 0;
	free(data);
	return rc;
}

int ut_mpijob_reduce(struct ut_mpijob *s, const struct ut_fold *f, struct ut_err *err)
{
	int rc = 0;

	for (int step = 1; s->mpi && step < s->ranks; step *= 2) {
		if (s->rank % (2 * step)) {
			send_result(s, f, s->rank - step, rc);
			break;
		}
		if (s->rank + step < s->ranks) {
			int failed = take_result(s, f, s->rank + step, err);

			rc = rc ? rc : failed;
		}
	}
	return ut_mpijob_agree(s, rc, err);
}
