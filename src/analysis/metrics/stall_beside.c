#include "metrics/stall_beside.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/path.h"
#include "metrics/stall_report.h"

#define MOST_FOLDERS 64u
#define MOST_ENTRIES 20000u /* of a folder that are looked at */

struct folders {
	struct ut_arena *arena;
	const char *items[MOST_FOLDERS];
	size_t count;
};

static bool stall_beside_is_called(const char *name)
{
	return !strcmp(name, "modules") || strstr(name, ".modules") || ut_str_ends(name, ".kept");
}

/* Is a file there whose name ends so, and has this in it? */
static bool has_file(const char *folder, struct ut_str word, const char *end)
{
	DIR *d = opendir(folder);
	const struct dirent *e;
	bool found = false;

	for (size_t n = 0; d && !found && n < MOST_ENTRIES && (e = readdir(d)); n++) {
		struct ut_str name = ut_str_of(e->d_name);
		struct ut_str rest = name;

		while (ut_str_has_end(name, end) && rest.len >= word.len && !found) {
			found = !word.len || !memcmp(rest.ptr, word.ptr, word.len);
			rest = (struct ut_str){ rest.ptr + 1, rest.len - 1 };
		}
	}
	if (d)
		closedir(d);
	return found;
}

static bool has_code(const char *folder, struct ut_str module)
{
	static const struct ut_str any = { "", 0 };

	return has_file(folder, module, ".cubin") || has_file(folder, module, ".sass") ||
	       (!module.len && has_file(folder, any, ".asm"));
}

/* Those of dir that are called so, or those that are not. */
static void stall_beside_add(struct folders *f, const char *dir, struct dirent **list, int count,
			     bool called, struct ut_str module)
{
	for (int i = 0; i < count && f->count < MOST_FOLDERS; i++) {
		const char *name = list[i]->d_name, *path;

		if (name[0] == '.' || stall_beside_is_called(name) != called)
			continue;
		path = ut_path_join(f->arena, strcmp(dir, ".") != 0 ? dir : NULL, name);
		if (ut_path_is_dir(path) && has_code(path, module))
			f->items[f->count++] = path;
	}
}

static void list_folders(struct folders *f, const char *trace, struct ut_str module)
{
	const char *dir = ut_path_is_dir(trace) ? trace : ut_path_dir(f->arena, trace);
	struct dirent **list = NULL;
	int count;

	if (!ut_path_exists(trace)) /* it came from elsewhere, or has a name only */
		return;
	count = scandir(dir, &list, NULL, alphasort);
	stall_beside_add(f, dir, list, count, true, module);
	stall_beside_add(f, dir, list, count, false, module);
	if (f->count < MOST_FOLDERS && has_code(dir, module))
		f->items[f->count++] = dir;
	for (int i = 0; i < count; i++)
		free(list[i]);
	free(list);
}

static int lacks_code(const struct ut_stall_samples *s, const char *trace, struct ut_err *err)
{
	if (!ut_path_exists(trace))
		return ut_err_set(
			err, -ENOENT,
			"code lies beside the file of a trace, and this one came from none: "
			"unitrace view FILE looks there, and --save keeps it in a page");
	if (s->module.len)
		return ut_err_set(
			err, -ENOENT,
			"no folder beside %s has %.*s.cubin, the code of this kernel: put "
			"NAME.modules.PID there, which --stall-sampling leaves",
			trace, s->module.len < 64 ? (int)s->module.len : 64, s->module.ptr);
	return ut_err_set(
		err, -ENOENT,
		"no folder beside %s has code of this kernel: put NAME.modules.PID there, "
		"which --stall-sampling leaves, or the compiler's shader dumps",
		trace);
}

int ut_stall_find_beside(struct ut_stall_result *r, const struct ut_stall_samples *samples,
			 const struct ut_stall_opts *opts, const char *trace, struct ut_err *err)
{
	struct ut_arena arena = { 0 };
	struct folders f = { .arena = &arena };
	struct ut_stall_opts own = *opts;
	struct ut_err most = { 0 };
	int rc = -ENOENT;

	list_folders(&f, trace, samples->module);
	for (size_t i = 0; i < f.count && rc; i++) {
		struct ut_err why = { 0 };

		own.code = f.items[i];
		rc = ut_stall_find(r, samples, &own, &why);
		if (rc && (!i || rc != -ENOENT))
			most = why; /* what is damaged says more than what is not there */
	}
	if (!f.count)
		rc = lacks_code(samples, trace, err);
	else if (rc)
		rc = ut_err_set(err, most.code, "%s", most.text);
	ut_arena_release(&arena);
	return rc;
}
