/*
 * cl_text.h - numbers and devices of OpenCL's as people know them.
 */
#ifndef UT_BACKEND_OPENCL_CL_TEXT_H
#define UT_BACKEND_OPENCL_CL_TEXT_H

#include "backend/opencl/opencl.h"

/* "CL_INVALID_VALUE"; NULL for a number that OpenCL does not have. */
const char *ut_cl_error_name(cl_int code);

struct ut_cl_device_text {
	char name[256]; /* "NVIDIA H200" */
	char label[64]; /* "OpenCL GPU 0000:3a:00.0": what it is and, if it says so, where */
};

void ut_cl_device_text(ut_cl_device_info_fn info, cl_device_id device,
		       struct ut_cl_device_text *text);

#endif
