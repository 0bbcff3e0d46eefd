/*
 * stress.h - what stress.c marks and stress_check.c expects: task i of a thread is called
 * STRESS_NAME of i % STRESS_NAMES; every so many carry their number as an argument, or set the
 * thread's counter to it.
 */
#ifndef TESTS_STRESS_STRESS_H
#define TESTS_STRESS_STRESS_H

#include <stdint.h>

#define STRESS_NAME     "task %u"
#define STRESS_NAMES    1021u /* prime: no pattern of chunks or threads repeats it */
#define STRESS_ARGUMENT 64u
#define STRESS_COUNTER  1000u

#endif
