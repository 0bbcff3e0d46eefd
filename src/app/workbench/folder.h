/*
 * folder.h - folders and small files below one that is open: no name with a slash, no link and no
 * ".." ever leads elsewhere.
 *
 * A name is one component, as ut_folder_name_fits() has it. Descriptors are the caller's to close.
 */
#ifndef UT_WORKBENCH_FOLDER_H
#define UT_WORKBENCH_FOLDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"
#include "base/str.h"

struct ut_arena;
struct ut_doc;

#define UT_NAME_MOST 120 /* bytes */

/*
 * 1 to UT_NAME_MOST bytes of UTF-8 that people can see: no slash, no control character, nothing
 * that turns text around, no dot, dash or blank in front and no blank at the end.
 */
bool ut_folder_name_fits(const char *name);

/* A folder in another one; it is not followed if it is a link. make: it may be new (0700). */
int ut_folder_open(int at, const char *name, bool make, struct ut_err *err) UT_MUST_CHECK;

/* The data directory itself, which may be a link and is made (0700) if it is missing. */
int ut_folder_open_top(const char *path, struct ut_err *err) UT_MUST_CHECK;

/* All of a regular file, not through a link, added to text. -EFBIG: more than most bytes. */
int ut_folder_read(int at, const char *name, size_t most, struct ut_buf *text,
		   struct ut_err *err) UT_MUST_CHECK;

/* The same of JSON, as values in the arena; *t is NULL if it cannot be had. -EINVAL: it is none. */
int ut_folder_read_doc(int at, const char *name, size_t most, struct ut_arena *a,
		       const struct ut_doc **t, struct ut_err *err) UT_MUST_CHECK;

/* A regular file to be read, not through a link; its size unless NULL. */
int ut_folder_open_file(int at, const char *name, uint64_t *bytes,
			struct ut_err *err) UT_MUST_CHECK;

/* Whole or not at all, on disk before it gets its name; replaces what was there. mode 0600. */
int ut_folder_write(int at, const char *name, struct ut_str text, struct ut_err *err) UT_MUST_CHECK;

/* Called for what is in a folder, but for names that begin with a dot; false ends it. */
typedef bool (*ut_folder_fn)(void *ctx, int at, const char *name, unsigned char type);

/* type is DT_DIR, DT_REG, DT_LNK, ... and known. In no order. */
int ut_folder_each(int at, ut_folder_fn fn, void *ctx, struct ut_err *err) UT_MUST_CHECK;

/* Bytes of all files in it, folders in it included, down to a few levels. */
uint64_t ut_folder_bytes(int at);

/* rm -r of a name, without following links. A missing one is fine. */
int ut_folder_remove(int at, const char *name, struct ut_err *err) UT_MUST_CHECK;

/* Moves it, unless there is something of that name: -EEXIST. */
int ut_folder_move(int from, const char *name, int to, const char *as,
		   struct ut_err *err) UT_MUST_CHECK;

#endif
