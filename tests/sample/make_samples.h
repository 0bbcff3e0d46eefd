/*
 * make_samples.h - stores with samples, made from texts: "main;work;sort" is a stack, and a frame
 * is "function", "function@module" or "function@module:file:line".
 */
#ifndef UT_TESTS_SAMPLE_MAKE_SAMPLES_H
#define UT_TESTS_SAMPLE_MAKE_SAMPLES_H

#include "analyze/make_store.h"
#include "sample/prof.h"

uint32_t make_stack(struct maker *m, const char *text);
void make_sample(struct maker *m, uint32_t track, uint64_t ts, const char *stack, uint64_t weight);

/* A profile of lines "STACK WEIGHT", a sample for each, on one thread; "" ends them. */
void make_profile(struct ut_prof *p, const struct ut_prof_opts *opts, const char *const *lines);

/* The id of a text in the profile's strings. */
uint32_t text_in(struct ut_prof *p, const char *text);

#endif
