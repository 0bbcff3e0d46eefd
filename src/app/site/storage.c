#include "site/storage.h"

#include <errno.h>
#include <string.h>
#include <sys/statvfs.h>
#include <time.h>

#include "base/size.h"
#include "workbench/data_dir.h"
#include "workbench/folder.h"

#define NOW     (-1)
#define NEAR_MS 500  /* near the quota, recordings are looked at that often, ... */
#define FAR_MS  5000 /* ... and otherwise */

void ut_storage_init(struct ut_storage *s, const struct ut_data_dir *data_dir, uint64_t quota)
{
	struct statvfs fs;

	*s = (struct ut_storage){ .data_dir = data_dir, .quota = quota };
	pthread_mutex_init(&s->lock, NULL);
	if (!quota)
		s->quota = fstatvfs(data_dir->top, &fs) ? UINT64_MAX
							: (uint64_t)fs.f_blocks * fs.f_frsize / 2;
}

void ut_storage_release(struct ut_storage *s)
{
	if (s->data_dir)
		pthread_mutex_destroy(&s->lock);
	s->data_dir = NULL;
}

static int64_t storage_now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

uint64_t ut_storage_used(struct ut_storage *s, int64_t age_ms)
{
	uint64_t used;

	pthread_mutex_lock(&s->lock);
	if (!s->counted || storage_now_ms() - s->counted > age_ms) {
		/* our own folder has a dot in front, so the first of the two leaves it out */
		s->used = ut_folder_bytes(s->data_dir->top) + ut_folder_bytes(s->data_dir->own);
		s->counted = storage_now_ms();
	}
	used = s->used;
	pthread_mutex_unlock(&s->lock);
	return used;
}

uint64_t ut_storage_left(struct ut_storage *s)
{
	uint64_t used = s->quota == UINT64_MAX ? 0 : ut_storage_used(s, NOW);

	return used < s->quota ? s->quota - used : 0;
}

int ut_storage_check(struct ut_storage *s, uint64_t bytes, struct ut_err *err)
{
	uint64_t left = ut_storage_left(s);
	char used[32], quota[32], more[32] = "";

	if (left && bytes <= left)
		return 0;
	if (left)
		ut_size_text(more, sizeof(more), bytes);
	return ut_err_set(err, -EDQUOT,
			  "the data directory %s%s%s: %s of its quota of %s are used; delete "
			  "results and empty the trash, or start the server with a larger "
			  "--data-quota",
			  left ? "has no room for " : "is full", more, left ? " more" : "",
			  ut_size_text(used, sizeof(used), s->quota - left),
			  ut_size_text(quota, sizeof(quota), s->quota));
}

bool ut_storage_is_full(struct ut_storage *s)
{
	uint64_t used = s->quota == UINT64_MAX ? 0 : ut_storage_used(s, FAR_MS);

	if (used > s->quota / 2) /* it may grow by a few hundred megabytes a second */
		used = ut_storage_used(s, NEAR_MS);
	return used >= s->quota;
}
