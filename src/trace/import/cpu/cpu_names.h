/*
 * cpu_names.h - places of a file of samples get the names that the files of the program tell.
 */
#ifndef UT_IMPORT_CPU_CPU_NAMES_H
#define UT_IMPORT_CPU_CPU_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "import/code_names.h"
#include "wire/cpu_file.h"

struct ut_place_in_code;
struct ut_trace;

struct ut_cpu_file_module {
	struct ut_cpu_module_rec rec;
	const char *path; /* points into the file of samples */
	uint32_t name;    /* string id */
	struct ut_binary *code;
	bool opened;
};

struct ut_cpu_names {
	struct ut_code_names names;         /* its trace is where all goes */
	const char *dir;                    /* of the file of samples */
	bool same_boot;                     /* the machine has not been started again since */
	struct ut_cpu_file_module *modules; /* by number */
	size_t count, cap;
};

void ut_cpu_names_add(struct ut_cpu_names *n, const struct ut_cpu_module_rec *rec,
		      const char *path);
/* The functions at a place, the innermost first: UT_BINARY_FRAMES at most, one at least. */
size_t ut_cpu_names_find(struct ut_cpu_names *n, const struct ut_cpu_place *place,
			 struct ut_place_in_code *frames);
/* enum ut_cpu_module of a module; UT_CPU_MODULE_UNKNOWN if nobody has told of it. */
uint32_t ut_cpu_names_kind(const struct ut_cpu_names *n, uint32_t module);
void ut_cpu_names_release(struct ut_cpu_names *n);

#endif
