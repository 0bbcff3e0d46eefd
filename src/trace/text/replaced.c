#include "text/replaced.h"

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>

#include "base/logger.h"
#include "text/out.h"

bool ut_same_file(const char *a, const char *b)
{
	struct stat x, y;

	return !stat(a, &x) && !stat(b, &y) && x.st_dev == y.st_dev && x.st_ino == y.st_ino &&
	       S_ISREG(x.st_mode);
}

int ut_replaced_refuse(const char *output, struct ut_err *err)
{
	return ut_err_set(err, -EINVAL, "%s is one of the inputs and would be the result, too",
			  output);
}

int ut_replaced_check(const char *output, char *const *inputs, size_t count, struct ut_err *err)
{
	for (size_t i = 0; output && strcmp(output, "-") && i < count; i++) {
		if (ut_same_file(inputs[i], output))
			return ut_replaced_refuse(output, err);
	}
	return 0;
}

void ut_replaced_report(const struct ut_logger *logger)
{
	char path[PATH_MAX];
	size_t count = ut_out_replaced(path, sizeof(path));

	if (count == 1)
		ut_logger_log(logger, UT_INFO, "%s existed and was replaced", path);
	else if (count)
		ut_logger_log(logger, UT_INFO, "%s and %zu other file%s existed and were replaced",
			      path, count - 1, count == 2 ? "" : "s");
}
