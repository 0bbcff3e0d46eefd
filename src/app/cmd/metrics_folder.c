#include "cmd/metrics_folder.h"

#include <errno.h>
#include <glob.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/arena.h"
#include "base/path.h"
#include "base/str.h"
#include "cmd/words.h"

bool ut_metrics_is_folder(const char *path)
{
	struct stat st;

	return !stat(path, &st) && S_ISDIR(st.st_mode);
}

/* A folder's name as part of a pattern: it stands for itself. */
static void put_literally(struct ut_buf *to, const char *name)
{
	for (; *name; name++) {
		if (strchr("*?[]\\", *name))
			ut_buf_char(to, '\\');
		ut_buf_char(to, *name);
	}
}

static bool metrics_folder_number_of(const char *path, uint64_t *device)
{
	int end = 0;

	return sscanf(ut_path_base(path), "metrics_%9" SCNu64 ".csv%n", device, &end) == 1 && end &&
	       !ut_path_base(path)[end];
}

int ut_metrics_folder_list(struct ut_words *files, struct ut_arena *a, const char *folder,
			   struct ut_err *err)
{
	static const char *const below[] = { "/metrics_*.csv", "/metrics/metrics_*.csv",
					     "/*/metrics/metrics_*.csv" };
	glob_t found = { 0 };
	uint64_t device;

	for (size_t i = 0; i < sizeof(below) / sizeof(below[0]); i++) {
		struct ut_buf pattern = { 0 };

		put_literally(&pattern, folder);
		ut_buf_text(&pattern, below[i]);
		(void)glob(pattern.data, i ? GLOB_APPEND : 0, NULL, &found);
		ut_buf_release(&pattern);
	}
	*files = (struct ut_words){ .items = UT_NEW_N(a, const char *, found.gl_pathc + 1) };
	for (size_t i = 0; i < found.gl_pathc; i++) {
		const char *path = found.gl_pathv[i];

		if (metrics_folder_number_of(path, &device))
			files->items[files->count++] = ut_arena_copy(a, path, strlen(path));
	}
	globfree(&found);
	if (!files->count)
		return ut_err_set(err, -ENODATA,
				  "%s: no metrics_N.csv below this folder, as --result-dir with "
				  "-q, -k or --stall-sampling leaves it",
				  folder);
	return 0;
}

int ut_metrics_folder_pick(const char **path, struct ut_arena *a, const char *folder,
			   uint64_t device, struct ut_err *err)
{
	struct ut_words files;
	uint64_t own;
	int rc = ut_metrics_folder_list(&files, a, folder, err);

	if (rc)
		return rc;
	*path = NULL;
	for (int i = 0; i < files.count; i++) {
		if (!metrics_folder_number_of(files.items[i], &own) || own != device)
			continue;
		if (*path)
			return ut_err_set(err, -EINVAL,
					  "several processes have metrics of device %" PRIu64
					  ": name one, %s or %s",
					  device, *path, files.items[i]);
		*path = files.items[i];
	}
	if (!*path)
		return ut_err_set(err, -ENODEV, "Device %" PRIu64 " not found below %s", device,
				  folder);
	return 0;
}
