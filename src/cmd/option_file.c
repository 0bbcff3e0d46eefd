#include "cmd/option_file.h"

#include <stdbool.h>

#include "base/arena.h"
#include "base/str.h"
#include "cmd/words.h"
#include "text/file_text.h"
#include "text/shell_words.h"

#define MOST ((size_t)1 << 20) /* bytes: a command line has no more */

int ut_option_file_read(struct ut_words *words, struct ut_arena *a, const char *path,
			struct ut_err *err)
{
	struct ut_buf text = { 0 };
	struct ut_err why = { 0 };
	size_t line = 1, count = 0;
	int rc = ut_file_text(path, MOST, &text, err);

	*words = (struct ut_words){ 0 };
	if (rc)
		return rc;
	rc = ut_shell_words(a, (struct ut_str){ text.len ? text.data : "", text.len },
			    &words->items, &count, &line, &why);
	words->count = (int)count; /* no more than the bytes of the file */
	if (rc)
		rc = ut_err_set(err, rc, "%s:%zu: %s", path, line, why.text);
	ut_buf_release(&text);
	return rc;
}
