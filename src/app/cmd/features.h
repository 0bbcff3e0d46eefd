/*
 * features.h - what this build of unitrace can do: compiled in, or found beside the program.
 */
#ifndef UT_CMD_FEATURES_H
#define UT_CMD_FEATURES_H

#include <stdio.h>

/* A line for each kind of thing, and one for what is missing. */
void ut_features_print(FILE *to);

#endif
