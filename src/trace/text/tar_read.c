#include "text/tar_read.h"

#include <errno.h>
#include <inttypes.h>
#include <stdint.h>

#include "text/source.h"

#define BLOCK     512u
#define MOST_NAME 65536u /* bytes of a long name, and of a pax header */

/* Places in a header. */
enum {
	NAME = 0,
	NAME_LEN = 100,
	SIZE = 124,
	SIZE_LEN = 12,
	CHECKSUM = 148,
	CHECKSUM_LEN = 8,
	TYPE = 156,
	MAGIC = 257,
	PREFIX = 345,
	PREFIX_LEN = 155,
};

struct tarball {
	struct ut_source *source;
	struct ut_buf name; /* what a header before the file's own has said */
	struct ut_buf text; /* of the file */
	uint64_t said_size; /* likewise; UINT64_MAX = nothing */
	size_t most;
	struct ut_err *err;
};

bool ut_tar_is(const char *head, size_t len)
{
	return len >= BLOCK && !memcmp(head + MAGIC, "ustar", 5);
}

static int broken(struct tarball *t, const char *why)
{
	return ut_err_set(t->err, -EPROTO, "%s: not a whole tarball: %s", t->source->path, why);
}

/* len bytes, or 0 with *ended if the input has none at all. */
static int tar_read_read_whole(struct tarball *t, char *to, size_t len, bool *ended)
{
	size_t have = 0;

	while (have < len) {
		ssize_t n = ut_source_read(t->source, to + have, len - have, t->err);

		if (n < 0)
			return (int)n;
		if (!n && !have && ended) {
			*ended = true;
			return 0;
		}
		if (!n)
			return broken(t, "it ends in the middle of a file");
		have += (size_t)n;
	}
	return 0;
}

/* Octal digits between blanks, or GNU's form for large files: 0x80, then the bytes of the number.
 */
static bool tar_read_number_of(const char *field, size_t len, uint64_t *value)
{
	size_t i = 0;

	*value = 0;
	if ((unsigned char)field[0] == 0x80) {
		for (i = 1; i < len; i++) {
			if (*value >> 56)
				return false;
			*value = *value << 8 | (unsigned char)field[i];
		}
		return true;
	}
	while (i < len && field[i] == ' ')
		i++;
	for (; i < len && field[i] >= '0' && field[i] <= '7'; i++)
		*value = *value << 3 | (unsigned int)(field[i] - '0');
	return i == len || field[i] == '\0' || field[i] == ' ';
}

static bool checksum_fits(const char *block)
{
	uint64_t reported, sum = 0;

	for (size_t i = 0; i < BLOCK; i++) {
		bool blank = i >= CHECKSUM && i < CHECKSUM + CHECKSUM_LEN;

		sum += blank ? ' ' : (unsigned char)block[i];
	}
	return tar_read_number_of(block + CHECKSUM, CHECKSUM_LEN, &reported) && reported == sum;
}

static bool is_empty(const char *block)
{
	for (size_t i = 0; i < BLOCK; i++) {
		if (block[i])
			return false;
	}
	return true;
}

/* The bytes of a member into buf (NULL: passed over), and what fills its last block. */
static int tar_read_read_member(struct tarball *t, uint64_t size, struct ut_buf *buf)
{
	uint64_t padded = size + -size % BLOCK;
	char block[BLOCK];
	int rc = 0;

	for (uint64_t at = 0; !rc && at < padded; at += BLOCK) {
		rc = tar_read_read_whole(t, block, BLOCK, NULL);
		if (!rc && buf)
			ut_buf_add(buf, block, size - at < BLOCK ? (size_t)(size - at) : BLOCK);
	}
	return rc;
}

/* "LENGTH KEY=VALUE\n", again and again: the two that matter here. */
static void read_pax(struct tarball *t, const struct ut_buf *pax)
{
	const char *p = pax->data, *end = p + pax->len;

	while (p < end) {
		const char *line_end = memchr(p, '\n', (size_t)(end - p));
		const char *blank = memchr(p, ' ', (size_t)(end - p));
		struct ut_str line;

		if (!line_end || !blank || blank > line_end)
			return;
		line = (struct ut_str){ blank + 1, (size_t)(line_end - blank - 1) };
		if (ut_str_has_start(line, "path=")) {
			t->name.len = 0;
			ut_buf_add(&t->name, line.ptr + 5, line.len - 5);
		} else if (ut_str_has_start(line, "size=")) {
			t->said_size = 0;
			for (size_t i = 5; i < line.len && line.ptr[i] >= '0' && line.ptr[i] <= '9';
			     i++)
				t->said_size =
					t->said_size * 10 + (unsigned int)(line.ptr[i] - '0');
		}
		p = line_end + 1;
	}
}

static void name_from(struct tarball *t, const char *block)
{
	if (t->name.len)
		return;
	if (!memcmp(block + MAGIC, "ustar\0", 6) && block[PREFIX]) {
		ut_buf_add(&t->name, block + PREFIX, strnlen(block + PREFIX, PREFIX_LEN));
		ut_buf_char(&t->name, '/');
	}
	ut_buf_add(&t->name, block + NAME, strnlen(block + NAME, NAME_LEN));
}

typedef int file_fn(void *ctx, const char *name, struct ut_str text, struct ut_err *err);

/* A header that is about the next one. */
static int read_about(struct tarball *t, char type, uint64_t size)
{
	struct ut_buf said = { 0 };
	int rc;

	if (size > MOST_NAME)
		return broken(t, "a name without end");
	rc = tar_read_read_member(t, size, &said);
	if (!rc && type == 'L') {
		t->name.len = 0;
		ut_buf_add(&t->name, said.len ? said.data : "",
			   said.len ? strnlen(said.data, said.len) : 0);
	} else if (!rc && type == 'x' && said.len) {
		read_pax(t, &said);
	}
	ut_buf_release(&said);
	return rc;
}

static int tar_read_read_file(struct tarball *t, const char *block, uint64_t size, file_fn *file,
			      void *ctx)
{
	bool regular = block[TYPE] == '0' || block[TYPE] == '\0';
	int rc;

	name_from(t, block);
	t->text.len = 0;
	ut_buf_char(&t->name, '\0');
	if (regular && size > t->most)
		rc = ut_err_set(t->err, -EFBIG,
				"%s: %.200s in it has %" PRIu64 " bytes, more than %zu",
				t->source->path, t->name.data, size, t->most);
	else
		rc = tar_read_read_member(t, size, regular ? &t->text : NULL);
	if (!rc && regular)
		rc = file(ctx, t->name.data,
			  (struct ut_str){ t->text.len ? t->text.data : "", t->text.len }, t->err);
	t->name.len = 0;
	t->said_size = UINT64_MAX;
	return rc;
}

static int read_entry(struct tarball *t, const char *block, file_fn *file, void *ctx)
{
	char type = block[TYPE];
	uint64_t size;

	if (!checksum_fits(block) || !tar_read_number_of(block + SIZE, SIZE_LEN, &size))
		return broken(t, "a header with a wrong checksum");
	if (type == 'L' || type == 'K' || type == 'x' || type == 'g')
		return read_about(t, type, size);
	if (t->said_size != UINT64_MAX)
		size = t->said_size;
	if (size > INT64_MAX - BLOCK)
		return broken(t, "a file without end");
	return tar_read_read_file(t, block, size, file, ctx);
}

int ut_tar_each(struct ut_source *s, size_t most, file_fn *file, void *ctx, struct ut_err *err)
{
	struct tarball t = { .source = s, .said_size = UINT64_MAX, .most = most, .err = err };
	bool ended = false;
	char block[BLOCK];
	int rc = 0;

	while (!rc && !ended) {
		rc = tar_read_read_whole(&t, block, BLOCK, &ended);
		if (!rc && !ended && is_empty(block))
			break; /* two of them are the end; who writes one means it, too */
		if (!rc && !ended)
			rc = read_entry(&t, block, file, ctx);
	}
	ut_buf_release(&t.name);
	ut_buf_release(&t.text);
	return rc;
}
