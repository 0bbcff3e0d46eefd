/*
 * ops_serve.h - shows a report on 127.0.0.1 until Ctrl-C: its page, and its files to download.
 */
#ifndef UT_CMD_OPS_SERVE_H
#define UT_CMD_OPS_SERVE_H

#include <stdint.h>

#include "base/err.h"

struct ut_ops_files;

int ut_ops_serve(const struct ut_ops_files *files, uint16_t port, struct ut_err *err) UT_MUST_CHECK;

#endif
