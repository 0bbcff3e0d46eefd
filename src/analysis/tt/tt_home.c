#include "tt/tt_home.h"

#include <stdlib.h>

#include "base/arena.h"
#include "base/logger.h"
#include "base/path.h"

#define PROFILER  "tt_metal/tools/profiler"
#define ARTIFACTS "generated/profiler"

static const char *below_home(struct ut_arena *a, const char *folder)
{
	const char *home = getenv("TT_METAL_HOME");

	return home && *home ? ut_path_join(a, home, folder) : NULL;
}

const char *ut_tt_profiler(struct ut_arena *a)
{
	return below_home(a, PROFILER);
}

static const char *artifacts(struct ut_arena *a)
{
	const char *folder = getenv("TT_METAL_PROFILER_DIR");

	return folder && *folder ? folder : below_home(a, ARTIFACTS);
}

static const char *existing(struct ut_arena *a, const char *folder, const char *name,
			    const struct ut_logger *logger)
{
	const char *path = folder ? ut_path_join(a, folder, *name ? name : ".") : NULL;

	if (!path || !ut_path_exists(path))
		return NULL;
	ut_logger_log(logger, UT_INFO, "reading %s", path);
	return path;
}

struct ut_tt_files ut_tt_find(struct ut_arena *a, const struct ut_tt_files *defaults,
			      const struct ut_logger *logger)
{
	struct ut_tt_files found = { .input = defaults->input, .output = defaults->output };
	const char *profiler = ut_tt_profiler(a), *path;

	if (ut_path_exists(defaults->input))
		return found;
	path = existing(a, profiler, defaults->input, logger);
	if (path)
		return (struct ut_tt_files){ .input = path,
					     .output =
						     ut_path_join(a, profiler, defaults->output) };
	path = existing(a, artifacts(a), defaults->tracy, logger);
	if (path)
		found.input = path;
	return found;
}
