/*
 * param_map.h - a macro for each (type, name) pair of a parameter list (api.def), with
 * commas between: UT_MAP_2(UT_ARGUMENT, (cl_event, event), (cl_int, status)) is event, status.
 */
#ifndef UT_BACKEND_PARAM_MAP_H
#define UT_BACKEND_PARAM_MAP_H

#define UT_PARAMETER(type, name)      type name
#define UT_PARAMETER_TYPE(type, name) type
#define UT_ARGUMENT(type, name)       name

#define UT_MAP_1(m, p)       m p
#define UT_MAP_2(m, p, ...)  m p, UT_MAP_1(m, __VA_ARGS__)
#define UT_MAP_3(m, p, ...)  m p, UT_MAP_2(m, __VA_ARGS__)
#define UT_MAP_4(m, p, ...)  m p, UT_MAP_3(m, __VA_ARGS__)
#define UT_MAP_5(m, p, ...)  m p, UT_MAP_4(m, __VA_ARGS__)
#define UT_MAP_6(m, p, ...)  m p, UT_MAP_5(m, __VA_ARGS__)
#define UT_MAP_7(m, p, ...)  m p, UT_MAP_6(m, __VA_ARGS__)
#define UT_MAP_8(m, p, ...)  m p, UT_MAP_7(m, __VA_ARGS__)
#define UT_MAP_9(m, p, ...)  m p, UT_MAP_8(m, __VA_ARGS__)
#define UT_MAP_10(m, p, ...) m p, UT_MAP_9(m, __VA_ARGS__)
#define UT_MAP_11(m, p, ...) m p, UT_MAP_10(m, __VA_ARGS__)
#define UT_MAP_12(m, p, ...) m p, UT_MAP_11(m, __VA_ARGS__)
#define UT_MAP_13(m, p, ...) m p, UT_MAP_12(m, __VA_ARGS__)
#define UT_MAP_14(m, p, ...) m p, UT_MAP_13(m, __VA_ARGS__)

#endif
