/*
 * file_code.c - places that are told of as a file and an offset in it, by backends that walk stacks
 * themselves: the functions there, also those that were inlined, and their lines.
 */
#include <stdlib.h>

#include "base/grow.h"
#include "import/code_names.h"
#include "import/spool/steps.h"

static struct ut_binary *binary_of(struct ut_spool_import *im, uint32_t module, const char *path)
{
	struct ut_spool_backend_data *t = &im->backend_data;
	uint32_t known = ut_idmap_get(&t->file_of, module);

	if (!known) {
		/* a list of pointers, NOLINTNEXTLINE(bugprone-sizeof-expression) */
		*UT_VEC_PUSH(&t->files) = ut_binary_open(path, NULL); /* NULL = it cannot be read */
		known = (uint32_t)t->files.count;
		ut_idmap_put(&t->file_of, module, known);
	}
	return t->files.items[known - 1];
}

size_t ut_spool_file_code(struct ut_spool_import *im, const struct ut_place_in_code *p,
			  struct ut_place_in_code *frames)
{
	const char *path = ut_strtab_get(&im->trace->strings, p->module).ptr;

	frames[0] = *p;
	if (path[0] != '/')
		return 1;
	im->backend_data.names.trace = im->trace;
	return ut_code_names_find(&im->backend_data.names, binary_of(im, p->module, path), path,
				  p->module, p->address, frames);
}

void ut_spool_release_file_code(struct ut_spool_backend_data *t)
{
	free(t->files.items);
	ut_code_names_release(&t->names);
}
