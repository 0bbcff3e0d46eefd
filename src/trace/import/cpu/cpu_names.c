#include "import/cpu/cpu_names.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "model/trace.h"
#include "symbol/elf_file.h"

#define MOST_MODULES (1u << 20)

void ut_cpu_names_add(struct ut_cpu_names *n, const struct ut_cpu_module_rec *rec, const char *path)
{
	if (!rec->id || rec->id > MOST_MODULES)
		return;
	n->modules = ut_grow(n->modules, rec->id, &n->cap, sizeof(*n->modules));
	n->count = n->count < rec->id ? rec->id : n->count;
	n->modules[rec->id - 1] = (struct ut_cpu_file_module){
		.rec = *rec,
		.path = path,
		.name = ut_strtab_intern_z(&n->names.trace->strings, path),
	};
}

/* The file may be gone: then the recording has kept a copy of it. */
static struct ut_binary *cpu_names_open_file(const struct ut_cpu_names *n,
					     const struct ut_cpu_file_module *m)
{
	struct ut_build_id id = { .len = m->rec.build_id_bytes };
	char path[4096], text[2 * UT_BUILD_ID_MOST + 1];
	struct ut_binary *code;

	if (id.len > UT_BUILD_ID_MOST)
		id.len = 0;
	memcpy(id.bytes, m->rec.build_id, sizeof(id.bytes));
	code = ut_binary_open(m->path, &id);
	if (!code && id.len &&
	    snprintf(path, sizeof(path), "%s/%s" UT_CPU_KEPT_SUFFIX, n->dir,
		     ut_build_id_text(&id, text)) < (int)sizeof(path))
		code = ut_binary_open(path, &id);
	return code;
}

/* What is the kernel's is the same as here, until it is started again. */
static void open_module(const struct ut_cpu_names *n, struct ut_cpu_file_module *m)
{
	m->opened = true;
	if (m->rec.kind == UT_CPU_MODULE_FILE)
		m->code = cpu_names_open_file(n, m);
	else if (m->rec.kind == UT_CPU_MODULE_KERNEL && n->same_boot)
		m->code = ut_binary_kernel();
	else if (m->rec.kind == UT_CPU_MODULE_VDSO && n->same_boot)
		m->code = ut_binary_vdso();
}

size_t ut_cpu_names_find(struct ut_cpu_names *n, const struct ut_cpu_place *place,
			 struct ut_place_in_code *frames)
{
	struct ut_cpu_file_module *m;

	if (place->module - 1 >= n->count) {
		frames[0] = (struct ut_place_in_code){ .address = place->at };
		return 1;
	}
	m = &n->modules[place->module - 1];
	if (!m->opened)
		open_module(n, m);
	return ut_code_names_find(&n->names, m->code, m->path, m->name, place->at, frames);
}

uint32_t ut_cpu_names_kind(const struct ut_cpu_names *n, uint32_t module)
{
	return module - 1 < n->count ? n->modules[module - 1].rec.kind : UT_CPU_MODULE_UNKNOWN;
}

void ut_cpu_names_release(struct ut_cpu_names *n)
{
	free(n->modules);
	ut_code_names_release(&n->names);
}
