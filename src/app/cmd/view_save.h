/*
 * view_save.h - `unitrace view --save`: the viewer and its traces as one file.
 */
#ifndef UT_CMD_VIEW_SAVE_H
#define UT_CMD_VIEW_SAVE_H

#include "cmd/view_serve.h"

int ut_view_save(const struct ut_view_opts *o, const struct ut_inputs *inputs,
		 struct ut_err *err) UT_MUST_CHECK;

#endif
