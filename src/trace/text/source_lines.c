#include "text/source_lines.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/arena.h"
#include "base/grow.h"
#include "base/hash.h"
#include "text/file_text.h"

#define MOST_BYTES ((size_t)16 << 20)
#define MOST_FILES 4096u

void ut_source_lines_release(struct ut_source_lines *s)
{
	free(s->files);
	ut_hashtab_release(&s->by_path);
	*s = (struct ut_source_lines){ 0 };
}

static void source_lines_split(struct ut_source_file *f, struct ut_arena *a, struct ut_str text)
{
	size_t count = 1;

	for (size_t i = 0; i < text.len; i++)
		count += text.ptr[i] == '\n';
	f->lines = UT_NEW_N(a, struct ut_str, count);
	while (text.len) {
		const char *end = memchr(text.ptr, '\n', text.len);
		struct ut_str *line = &f->lines[f->count++];

		line->ptr = text.ptr;
		line->len = end ? (size_t)(end - text.ptr) : text.len;
		text.ptr += line->len + (end ? 1 : 0);
		text.len -= line->len + (end ? 1 : 0);
	}
}

static void source_lines_read_file(struct ut_source_file *f, struct ut_arena *a)
{
	struct ut_buf b = { 0 };
	struct stat st;
	size_t len;

	if (stat(f->path.ptr, &st) || !S_ISREG(st.st_mode) || (size_t)st.st_size > MOST_BYTES ||
	    ut_file_text(f->path.ptr, MOST_BYTES, &b, NULL)) {
		ut_buf_release(&b);
		return;
	}
	len = b.len;
	source_lines_split(f, a, (struct ut_str){ ut_buf_take(&b, a), len });
}

const struct ut_source_file *ut_source_lines_file(struct ut_source_lines *s, struct ut_str path)
{
	static const struct ut_source_file none;
	uint32_t hash = (uint32_t)ut_hash_bytes(path.ptr, path.len), at = hash, number;
	struct ut_source_file *f;

	while ((number = ut_hashtab_next(&s->by_path, hash, &at)) &&
	       !ut_str_eq(s->files[number - 1].path, path))
		;
	if (number)
		return &s->files[number - 1];
	if (!path.len || s->count >= MOST_FILES)
		return &none;
	s->files = ut_grow(s->files, s->count + 1, &s->cap, sizeof(*s->files));
	f = &s->files[s->count++];
	f->path = (struct ut_str){ ut_arena_copy(s->arena, path.ptr, path.len), path.len };
	ut_hashtab_add(&s->by_path, hash, (uint32_t)s->count);
	source_lines_read_file(f, s->arena);
	return f;
}

struct ut_str ut_source_line(struct ut_source_lines *s, struct ut_str path, uint32_t line)
{
	const struct ut_source_file *f = ut_source_lines_file(s, path);

	if (!line || line > f->count)
		return (struct ut_str){ "", 0 };
	return f->lines[line - 1];
}
