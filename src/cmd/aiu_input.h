/*
 * aiu_input.h - the files of `unitrace analyze`: found, read on several threads, put together.
 */
#ifndef UT_CMD_AIU_INPUT_H
#define UT_CMD_AIU_INPUT_H

#include "aiu/run.h"
#include "cmd/aiu_options.h"

/* Fills the table of the run and the frame. On failure err says why; messages tell the rest. */
int ut_aiu_input(struct ut_aiu *a, const struct ut_aiu_setup *s, struct ut_aiu_frame *frame,
		 struct ut_err *err) UT_MUST_CHECK;

#endif
