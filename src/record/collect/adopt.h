/*
 * adopt.h - objects that a static part made before it found us. The program holds pointers to
 * them, so they are numbered in place.
 */
#ifndef UT_COLLECT_ADOPT_H
#define UT_COLLECT_ADOPT_H

#include "itt/abi.h"

void ut_adopt_counter(__itt_counter_info_t *info);
void ut_adopt_counter_metadata(const __itt_counter_metadata *node);
void ut_adopt_histogram(__itt_histogram *histogram);

#endif
