/*
 * handle_map.h - a macro for each (type, name) pair of a parameter list of api.def, with
 * commas between: OCL_MAP_2(OCL_TYPE, (cl_event, event), (cl_int, status)) is cl_event, cl_int.
 */
#ifndef UT_BACKEND_OPENCL_HANDLE_MAP_H
#define UT_BACKEND_OPENCL_HANDLE_MAP_H

#define OCL_PARAMETER(type, name) type name
#define OCL_TYPE(type, name)      type
#define OCL_ARGUMENT(type, name)  name

#define OCL_MAP_1(m, p)       m p
#define OCL_MAP_2(m, p, ...)  m p, OCL_MAP_1(m, __VA_ARGS__)
#define OCL_MAP_3(m, p, ...)  m p, OCL_MAP_2(m, __VA_ARGS__)
#define OCL_MAP_4(m, p, ...)  m p, OCL_MAP_3(m, __VA_ARGS__)
#define OCL_MAP_5(m, p, ...)  m p, OCL_MAP_4(m, __VA_ARGS__)
#define OCL_MAP_6(m, p, ...)  m p, OCL_MAP_5(m, __VA_ARGS__)
#define OCL_MAP_7(m, p, ...)  m p, OCL_MAP_6(m, __VA_ARGS__)
#define OCL_MAP_8(m, p, ...)  m p, OCL_MAP_7(m, __VA_ARGS__)
#define OCL_MAP_9(m, p, ...)  m p, OCL_MAP_8(m, __VA_ARGS__)
#define OCL_MAP_10(m, p, ...) m p, OCL_MAP_9(m, __VA_ARGS__)
#define OCL_MAP_11(m, p, ...) m p, OCL_MAP_10(m, __VA_ARGS__)
#define OCL_MAP_12(m, p, ...) m p, OCL_MAP_11(m, __VA_ARGS__)
#define OCL_MAP_13(m, p, ...) m p, OCL_MAP_12(m, __VA_ARGS__)
#define OCL_MAP_14(m, p, ...) m p, OCL_MAP_13(m, __VA_ARGS__)

#endif
