#include "cmd/option_file.h"

#include <stdbool.h>

#include <string.h>

#include "base/arena.h"
#include "base/path.h"
#include "base/str.h"
#include "cmd/words.h"
#include "text/embed.h"
#include "text/file_text.h"
#include "text/shell_words.h"

#define MOST ((size_t)1 << 20) /* bytes: a command line has no more */

UT_EMBED_BYTES(ut_options_compute_basic, UT_SHARE_DIR "/metrics/config/pvc/ComputeBasic.txt");

/* A file that comes with unitrace, by the name that Intel's documents have for it. */
static bool read_ready(const char *path, struct ut_buf *text)
{
	const char *base = ut_path_base(path);
	/* cppcheck-suppress comparePointers */
	size_t bytes = (size_t)(ut_options_compute_basic_end - ut_options_compute_basic);

	if (ut_path_exists(path) ||
	    (strcmp(base, "ComputeBasic") != 0 && strcmp(base, "ComputeBasic.txt") != 0))
		return false;
	ut_buf_add(text, ut_options_compute_basic, bytes);
	return true;
}

int ut_option_file_read(struct ut_words *words, struct ut_arena *a, const char *path,
			struct ut_err *err)
{
	struct ut_buf text = { 0 };
	struct ut_err why = { 0 };
	size_t line = 1, count = 0;
	int rc = read_ready(path, &text) ? 0 : ut_file_text(path, MOST, &text, err);

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
