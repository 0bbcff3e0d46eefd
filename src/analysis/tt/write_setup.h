/*
 * write_setup.h - rules and settings as the analysis JSON has them.
 */
#ifndef UT_TT_WRITE_SETUP_H
#define UT_TT_WRITE_SETUP_H

#include "tt/setup.h"

struct ut_py_json;
struct ut_tt_about_run;

void ut_tt_put_match(struct ut_py_json *j, const struct ut_tt_match *match, bool zones);
void ut_tt_put_rule(struct ut_py_json *j, const struct ut_tt_rule *rule, bool zones);
void ut_tt_put_setup(struct ut_py_json *j, const struct ut_tt_setup *setup,
		     const struct ut_tt_about_run *run);

#endif
