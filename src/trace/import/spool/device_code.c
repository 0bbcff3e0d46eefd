/*
 * device_code.c - places in code that devices run: their names without C++'s mangling, and lines of
 * source from the modules that were kept beside the recording.
 */
#include <stdlib.h>
#include <string.h>

#include "import/spool/steps.h"
#include "symbol/cubin_lines.h"
#include "wire/disk.h"

struct ut_spool_module {
	bool open; /* it is there */
	struct ut_cubin_lines lines;
};

static struct ut_spool_module *module_of(struct ut_spool_import *im, uint32_t name)
{
	uint32_t at = ut_idmap_get(&im->backend_data.module_of, name);
	struct ut_spool_module *m;
	struct ut_buf path = { 0 };

	if (at)
		return im->backend_data.modules.items[at - 1];
	m = UT_NEW(&im->trace->arena, struct ut_spool_module);
	/* a list of pointers, NOLINTNEXTLINE(bugprone-sizeof-expression) */
	*UT_VEC_PUSH(&im->backend_data.modules) = m;
	ut_idmap_put(&im->backend_data.module_of, name, (uint32_t)im->backend_data.modules.count);
	ut_buf_fmt(&path, "%s" UT_KEPT_SUFFIX "/%s", im->path,
		   ut_strtab_get(&im->trace->strings, name).ptr);
	m->open = ut_cubin_lines_open(&m->lines, path.data);
	ut_buf_release(&path);
	return m;
}

uint32_t ut_spool_finalize_device_code(struct ut_spool_import *im, struct ut_place_in_code *p)
{
	struct ut_str module = ut_strtab_get(&im->trace->strings, p->module);
	uint32_t symbol = p->function;
	const struct ut_spool_module *m;
	const char *file;
	uint32_t line;

	if (!ut_str_has_end(module, ".cubin") || memchr(module.ptr, '/', module.len))
		return 0;
	m = module_of(im, p->module);
	if (m->open && !p->line &&
	    ut_cubin_line(&m->lines, ut_strtab_get(&im->trace->strings, symbol).ptr, p->address,
			  &file, &line)) {
		p->file = ut_strtab_intern_z(&im->trace->strings, file);
		p->line = line;
	}
	p->function = ut_spool_readable(im, symbol);
	return symbol;
}

void ut_spool_release_device_code(struct ut_spool_backend_data *t)
{
	for (size_t i = 0; i < t->modules.count; i++)
		ut_cubin_lines_close(&t->modules.items[i]->lines);
	free(t->modules.items);
}
