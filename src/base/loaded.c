#include "base/loaded.h"

#include <dlfcn.h>
#include <errno.h>
#include <string.h>

#include "base/str.h"

/* The name of one that is missing, or NULL. */
static const char *resolve(const struct ut_loaded *l, void *library)
{
	const char *missing = NULL;

	for (size_t i = 0; i < l->count; i++) {
		const struct ut_loaded_function *f = &l->functions[i];
		void *found = dlsym(library, f->name);

		memcpy(f->to, &found, sizeof(found));
		if (!found && !f->optional)
			missing = f->name;
	}
	return missing;
}

int ut_loaded_open(const struct ut_loaded *l, struct ut_err *err)
{
	void *library = dlopen(l->file, RTLD_NOW | RTLD_LOCAL);
	const char *why = library ? NULL : dlerror(), *missing;

	/* A file that is found is told by its path, one that it needs by another name. */
	if (why && ut_str_starts(why, l->file))
		return ut_err_set(err, -ELIBACC, "%s", l->absent);
	if (!library)
		return ut_err_set(err, -ELIBBAD, "%s cannot be loaded: %s", l->name,
				  why ? why : "nobody knows why");
	missing = resolve(l, library);
	if (missing)
		return ut_err_set(err, -ELIBBAD, "%s cannot be used: %s has no %s", l->name,
				  l->file, missing);
	return 0;
}
