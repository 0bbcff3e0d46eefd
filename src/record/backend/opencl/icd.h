/*
 * icd.h - the library as a vendor of OpenCL's: what loaders look for by name.
 */
#ifndef UT_BACKEND_OPENCL_ICD_H
#define UT_BACKEND_OPENCL_ICD_H

#include "backend/opencl/opencl.h"

cl_int CL_API_CALL clIcdGetPlatformIDsKHR(cl_uint num_entries, cl_platform_id *platforms,
					  cl_uint *num_platforms);

/* How many functions the dispatch table of a platform has that says this about its version. */
uint32_t ut_cl_icd_table_length(const char *version);

#endif
