#include "session/spools.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/path.h"
#include "import/spool/reader.h"

static int spools_add(struct ut_spools *s, const struct ut_spool_info *list, size_t count)
{
	struct ut_spool_info *items;

	if (!count)
		return 0;
	items = realloc(s->items, (s->count + count) * sizeof(*items));
	if (!items)
		return -ENOMEM;
	memcpy(items + s->count, list, count * sizeof(*items));
	s->items = items;
	s->count += count;
	return 0;
}

static int add_dir(struct ut_spools *s, const char *path, struct ut_err *err)
{
	struct ut_spool_info *list = NULL;
	size_t count = 0;
	int rc = ut_spool_list(path, &list, &count, err);

	if (!rc)
		rc = spools_add(s, list, count);
	free(list);
	return rc;
}

static int spools_add_file(struct ut_spools *s, const char *path, struct ut_err *err)
{
	struct ut_spool_info *info = calloc(1, sizeof(*info));
	int rc = info ? ut_spool_info(path, info, err) : -ENOMEM;

	if (!rc)
		rc = spools_add(s, info, 1);
	free(info);
	return rc;
}

int ut_spools_open(struct ut_spools *s, int argc, const char *const *argv, struct ut_err *err)
{
	int rc = 0;

	*s = (struct ut_spools){ 0 };
	for (int i = 0; !rc && i < argc; i++)
		rc = ut_path_is_dir(argv[i]) ? add_dir(s, argv[i], err)
					     : spools_add_file(s, argv[i], err);
	if (rc == -ENOMEM)
		ut_err_set(err, rc, "out of memory");
	if (rc)
		ut_spools_close(s);
	return rc;
}

void ut_spools_close(struct ut_spools *s)
{
	free(s->items);
	*s = (struct ut_spools){ 0 };
}
