#include "launch/cpu/weave.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/path.h"
#include "launch/cpu/image.h"
#include "launch/cpu/modules.h"
#include "launch/cpu/perf.h"
#include "launch/cpu/python.h"
#include "symbol/elf_file.h"

#define MOST_PYTHON 512u

void ut_weaver_init(struct ut_weaver *w)
{
	*w = (struct ut_weaver){ .python = ut_make(MOST_PYTHON * sizeof(*w->python)) };
	ut_remote_init(&w->remote);
}

void ut_weaver_release(struct ut_weaver *w)
{
	free(w->python);
	ut_remote_release(&w->remote);
}

/* ---- where it is --------------------------------------------------------------------------- */

static struct ut_python *weave_look_into(struct ut_module *m, const struct ut_map *map,
					 uint32_t pid, uint32_t *old)
{
	struct ut_python *p = NULL;
	uint64_t address;
	struct ut_elf file;

	ut_module_open(m, pid, map);
	if (m->unwind.fd < 0 || !ut_unwind_to_address(&m->unwind, map->offset, &address) ||
	    !ut_elf_open_fd(&file, m->unwind.fd, m->path))
		return NULL;
	p = ut_python_new(&file, m->path, map->start - address);
	ut_elf_close(&file);
	if (p && p->layout.version && p->layout.version < UT_PYTHON_OLDEST) {
		*old = p->layout.version;
		ut_python_free(p);
		return NULL;
	}
	if (p)
		ut_python_find_pieces(p, &m->unwind, map->start - address);
	return p;
}

/* A library or program of that name; others that have the interpreter inside are not looked at. */
bool ut_weaver_finds(struct ut_image *image, struct ut_image_session *session)
{
	if (image->maps.count == image->maps_looked)
		return image->python != NULL;
	image->maps_looked = image->maps.count;
	for (size_t i = 0; !image->python && i < image->maps.count; i++) {
		const struct ut_map *map = &image->maps.items[i];
		struct ut_module *m = ut_module(session->modules, map->module);

		if (ut_idmap_get(&image->looked_into, map->module))
			continue;
		ut_idmap_put(&image->looked_into, map->module, 1);
		if (m->kind == UT_CPU_MODULE_FILE && strstr(ut_path_base(m->path), "python"))
			image->python = weave_look_into(m, map, image->pid, &session->old_python);
	}
	return image->python != NULL;
}

/* ---- weaving ------------------------------------------------------------------------------- */

static void weave_put(struct ut_stack *to, uint64_t frame, uint32_t place)
{
	if (to->count == UT_STACK_MOST)
		return;
	to->frames[to->count] = frame;
	to->places[to->count++] = place;
}

/* The functions of one call of the loop. Instead of an innermost one that is not known there is
 * the loop; others that are not known are left out. */
static size_t weave_put_call(struct ut_weaver *w, struct ut_image *image,
			     const struct ut_image_session *session, size_t at, size_t count,
			     uint64_t loop)
{
	for (size_t begin = at; at < count; at++) {
		const struct ut_python_frame *f = &w->python[at];
		const struct ut_python_code *c;

		if (f->code == UT_PYTHON_UNKNOWN) {
			if (at == begin)
				weave_put(&w->woven, loop, 0);
			if (f->first)
				return at + 1;
			continue;
		}
		c = &image->python->codes[f->code];
		weave_put(&w->woven, 0,
			  ut_image_script(image, session,
					  &(struct ut_image_line){ .number = f->code,
								   .line = f->line,
								   .function = c->name,
								   .file = c->file }));
		if (f->first)
			return at + 1;
	}
	return at;
}

static size_t count_loops(const struct ut_python *p, const struct ut_stack *s)
{
	size_t loops = 0;

	for (size_t i = s->kernel; i < s->count; i++)
		loops += ut_python_is_loop(p, s->frames[i]);
	return loops;
}

/* How many calls of the loop the Python stack has; the first skip of them are left out. */
static size_t skip_calls(const struct ut_weaver *w, size_t count, size_t skip)
{
	size_t at = 0;

	for (; skip && at < count; at++)
		skip -= w->python[at].first;
	return at;
}

void ut_weave(struct ut_weaver *w, struct ut_image *image, const struct ut_image_session *session,
	      const struct ut_perf_sample *sample, struct ut_stack *s)
{
	size_t loops = count_loops(image->python, s), calls = 0, count, at = 0;

	if (!loops)
		return;
	ut_remote_forget(&w->remote, image->pid);
	count = ut_python_stack(image->python, &w->remote, sample, w->python, MOST_PYTHON);
	for (size_t i = 0; i < count; i++)
		calls += w->python[i].first;
	/* What is too much is at the inside: it was called, or has returned, since the sample. */
	if (s->whole && calls > loops)
		at = skip_calls(w, count, calls - loops);
	w->woven.count = 0;
	for (size_t i = 0; i < s->count; i++) {
		bool loop = i >= s->kernel && ut_python_is_loop(image->python, s->frames[i]);

		if (loop && at < count && (!s->whole || loops <= calls))
			at = weave_put_call(w, image, session, at, count, s->frames[i]);
		else
			weave_put(&w->woven, s->frames[i], loop ? UT_PLACE_SOME : s->places[i]);
		loops -= loop;
	}
	w->woven.kernel = s->kernel;
	w->woven.whole = s->whole;
	*s = w->woven;
}
