#include "mpijob/rank_inputs.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/grow.h"
#include "base/str.h"
#include "model/pages.h"
#include "mpijob/job.h"
#include "mpijob/share.h"

static uint64_t rank_inputs_size_of(const char *path)
{
	struct stat st;

	return strcmp(path, "-") && !stat(path, &st) && S_ISREG(st.st_mode) ? (uint64_t)st.st_size
									    : 0;
}

/* Paths with their zeros, one behind the other. */
static void rank_inputs_unpack(struct ut_inputs *in, const char *data, size_t len)
{
	const char *end = data + len;

	while (data < end) {
		size_t bytes = strnlen(data, (size_t)(end - data)) + 1;

		in->paths = ut_grow(in->paths, in->count + 1, &in->cap, sizeof(*in->paths));
		in->paths[in->count] = ut_make(bytes);
		memcpy(in->paths[in->count++], data, bytes - 1);
		data += bytes;
	}
}

void ut_mpijob_list(struct ut_mpijob *s, struct ut_inputs *all, uint64_t **sizes)
{
	struct ut_buf paths = { 0 };
	size_t len, bytes;
	char *data;

	*sizes = ut_make((all->count + 1) * sizeof(**sizes));
	for (size_t i = 0; i < all->count; i++) {
		(*sizes)[i] = rank_inputs_size_of(all->paths[i]);
		ut_buf_add(&paths, all->paths[i], strlen(all->paths[i]) + 1);
	}
	if (s->ranks == 1) {
		ut_buf_release(&paths);
		return;
	}
	/* The ranks of a machine share its memory. */
	ut_pages_limit(ut_pages_usual() / (unsigned int)ut_job_look().local);
	len = paths.len;
	bytes = all->count * sizeof(**sizes);
	data = ut_mpijob_bcast(s, paths.data, &len);
	if (s->rank) {
		ut_inputs_release(all);
		rank_inputs_unpack(all, data, len);
	}
	free(data);
	data = ut_mpijob_bcast(s, *sizes, &bytes);
	free(*sizes);
	*sizes = (uint64_t *)(void *)data;
	all->bytes = 0;
	for (size_t i = 0; i < all->count; i++)
		all->bytes += (*sizes)[i];
	ut_buf_release(&paths);
}

int ut_rank_inputs(struct ut_mpijob *s, int argc, const char *const *argv, struct ut_inputs *all,
		   uint64_t **sizes, struct ut_err *err)
{
	const struct ut_logger *logger = all->logger;
	int rc = 0;

	*all = (struct ut_inputs){ 0 };
	*sizes = NULL;
	if (!s->rank)
		rc = ut_inputs_find(all, argc, argv, logger, err);
	rc = ut_mpijob_agree(s, rc, err);
	if (!rc)
		ut_mpijob_list(s, all, sizes);
	return rc;
}

size_t ut_mpijob_keep_share(const struct ut_mpijob *s, struct ut_inputs *all, const uint64_t *sizes)
{
	size_t first, count, kept = 0;

	ut_share(sizes, all->count, (unsigned int)s->ranks, (unsigned int)s->rank, &first, &count);
	for (size_t i = 0; i < all->count; i++) {
		if (i >= first && i < first + count)
			all->paths[kept++] = all->paths[i];
		else
			free(all->paths[i]);
	}
	all->count = kept;
	return first;
}

int ut_rank_load(struct ut_mpijob *s, int argc, const char *const *argv, const struct ut_load *how,
		 const struct ut_rank_reader *reader, struct ut_err *err)
{
	struct ut_inputs in = { .logger = how->logger };
	uint64_t *sizes = NULL;
	int rc = ut_mpijob_same(s, argc, argv, err);

	if (!rc)
		rc = ut_rank_inputs(s, argc, argv, &in, &sizes, err);
	if (!rc) {
		ut_mpijob_keep_share(s, &in, sizes);
		rc = ut_load_each(&in, how, reader->each, reader->ctx, err);
		rc = ut_mpijob_agree(s, rc, err);
	}
	free(sizes);
	ut_inputs_release(&in);
	return rc;
}
