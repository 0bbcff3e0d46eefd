/*
 * calls.h - wrappers written by hand: the functions whose answers depend on what we have
 * changed, or that tell us of new objects. Each does what OpenCL's function of that name does, seen
 * from the program; recording the call is done around it.
 */
#ifndef UT_BACKEND_OPENCL_CALLS_H
#define UT_BACKEND_OPENCL_CALLS_H

#include "backend/opencl/opencl.h"
#include "backend/param_map.h"

#define OCL_FN(name)
#define OCL_OWN(type, name, count, ...)                                                            \
	type CL_API_CALL ut_##name(UT_MAP_##count(UT_PARAMETER, __VA_ARGS__));
#include "backend/opencl/api.def"

#endif
