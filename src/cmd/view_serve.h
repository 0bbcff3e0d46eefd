/*
 * view_serve.h - the server of `unitrace view`: the page, what it asks, and how far the traces have
 * been read until then.
 */
#ifndef UT_CMD_VIEW_SERVE_H
#define UT_CMD_VIEW_SERVE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "import/inputs.h"

struct ut_view_opts {
	uint64_t port, threads;
	const char *save; /* one-file page; NULL = serve */
	bool no_browser, once, overwrite, help;
};

/* Serves until Ctrl-C, or until the last page is gone if that is asked for. */
int ut_view_serve(const struct ut_view_opts *o, const struct ut_inputs *inputs,
		  struct ut_err *err) UT_MUST_CHECK;

#endif
