#include "model/memory_samples.h"

const char *const ut_memory_sample_names[UT_MEMORY_SAMPLES] = {
#define UT_MEMORY_SAMPLE_NAME(which, name) name,
	UT_MEMORY_SAMPLE_LIST(UT_MEMORY_SAMPLE_NAME)
#undef UT_MEMORY_SAMPLE_NAME
};
