#include "text/file_text.h"

#include <errno.h>

#include "base/str.h"
#include "text/source.h"

int ut_file_rest(struct ut_source *s, size_t most, struct ut_buf *text, struct ut_err *err)
{
	char piece[65536];
	ssize_t n;

	while ((n = ut_source_read(s, piece, sizeof(piece), err)) > 0) {
		if (text->len + (size_t)n > most)
			return ut_err_set(err, -EFBIG, "%s: more than %zu bytes", s->path, most);
		ut_buf_add(text, piece, (size_t)n);
	}
	return (int)n;
}

int ut_file_text(const char *path, size_t most, struct ut_buf *text, struct ut_err *err)
{
	struct ut_source s;
	int rc = ut_source_open(&s, path, err);

	if (rc)
		return rc;
	rc = ut_file_rest(&s, most, text, err);
	ut_source_close(&s);
	return rc;
}
