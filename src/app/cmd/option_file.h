/*
 * option_file.h - options that are kept in a file, written as on a command line.
 */
#ifndef UT_CMD_OPTION_FILE_H
#define UT_CMD_OPTION_FILE_H

#include "base/err.h"

struct ut_arena;
struct ut_words;

/*
 * The words of a file, or of ComputeBasic.txt that comes with unitrace if there is no such file, as
 * a shell would split them: blanks and line breaks between words, '...' and
 * "..." around them, \ before a letter that stands for itself. Nothing is expanded. They live in
 * the arena. -EINVAL: a quote is not closed, with its line.
 */
int ut_option_file_read(struct ut_words *words, struct ut_arena *a, const char *path,
			struct ut_err *err) UT_MUST_CHECK;

#endif
