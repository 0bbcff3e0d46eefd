/*
 * python_parts.h - between the files of alloc_python.h.
 */
#ifndef UT_BACKEND_MEMORY_PYTHON_PARTS_H
#define UT_BACKEND_MEMORY_PYTHON_PARTS_H

struct ut_host;

/* Finds what the interpreter's stack needs. */
void ut_python_find(const struct ut_host *host);

#endif
