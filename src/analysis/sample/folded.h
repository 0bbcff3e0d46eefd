/*
 * folded.h - a profile as folded stacks: "main;work;sort 4711", a line for each stack, what flame
 * graphs have always been made of. docs/formats/profiles.md.
 */
#ifndef UT_SAMPLE_FOLDED_H
#define UT_SAMPLE_FOLDED_H

struct ut_out;
struct ut_prof;

/* Weights as the profile has them: ns of time, bytes, numbers of events. */
void ut_folded_write(struct ut_out *out, const struct ut_prof *p);

#endif
