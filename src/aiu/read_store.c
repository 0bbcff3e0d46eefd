#include "aiu/read_store.h"

#include <errno.h>

int ut_aiu_read_store(struct ut_aiu_part *part, const char *path, struct ut_err *err)
{
	(void)part;
	return ut_err_set(err, -EPROTO, "%s: neither JSON nor a trace that can be read", path);
}
