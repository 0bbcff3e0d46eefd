#include "tt/logs.h"

#include <string.h>

#include "tt/read_log.h"

struct text {
	const char *at;
	size_t step;
};

static ssize_t read_text(void *ctx, void *to, size_t len, struct ut_err *err)
{
	struct text *t = ctx;
	size_t n = strnlen(t->at, len < t->step ? len : t->step);

	(void)err;
	memcpy(to, t->at, n);
	t->at += n;
	return (ssize_t)n;
}

int ut_test_read(struct ut_tt_log *log, const char *text, size_t step, struct ut_err *err)
{
	const struct ut_tt_read_opts opts = { 0 };
	struct text t = { text, step };

	ut_tt_log_init(log);
	return ut_tt_read(log, "test.csv", read_text, &t, &opts, err);
}
