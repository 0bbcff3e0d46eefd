#include "text/tar.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/str.h"
#include "text/out.h"

#define BLOCK      512u
#define MOST_OCTAL 077777777777ull /* 8 GiB - 1 */

struct header {
	char name[100];
	char mode[8], uid[8], gid[8];
	char size[12], mtime[12];
	char checksum[8];
	char type;
	char link[100];
	char magic[8]; /* "ustar", NUL, "00" */
	char rest[247];
};

_Static_assert(sizeof(struct header) == BLOCK, "a header is a block");

/* A number that does not fit is 0: a pax header has told it. */
static void put_header(struct ut_out *out, const char *name, char type, uint64_t size, time_t mtime)
{
	struct header h = { .type = type };
	const unsigned char *bytes = (const unsigned char *)&h;
	unsigned int sum = 0;

	memcpy(h.name, name, strnlen(name, sizeof(h.name)));
	snprintf(h.mode, sizeof(h.mode), "%07o", 0644u);
	snprintf(h.uid, sizeof(h.uid), "%07o", 0u);
	snprintf(h.gid, sizeof(h.gid), "%07o", 0u);
	snprintf(h.size, sizeof(h.size), "%011llo",
		 size <= MOST_OCTAL ? (unsigned long long)size : 0);
	snprintf(h.mtime, sizeof(h.mtime), "%011llo", (unsigned long long)mtime & MOST_OCTAL);
	memcpy(h.magic, "ustar\00000", 8);
	memset(h.checksum, ' ', sizeof(h.checksum));
	for (size_t i = 0; i < BLOCK; i++)
		sum += bytes[i];
	snprintf(h.checksum, sizeof(h.checksum), "%06o", sum);
	ut_out_write(out, &h, sizeof(h));
}

void ut_tar_fill(struct ut_out *out, uint64_t size)
{
	static const char zeros[BLOCK];

	ut_out_write(out, zeros, (size_t)(-size % BLOCK));
}

/* "LENGTH KEY=VALUE" and a newline; the length counts its own digits. */
static void add_record(struct ut_buf *b, const char *key, const char *value)
{
	size_t rest = strlen(key) + strlen(value) + strlen(" =\n"), len = rest + 1;
	char digits[24];

	while (rest + (size_t)snprintf(digits, sizeof(digits), "%zu", len) != len)
		len = rest + strlen(digits);
	ut_buf_fmt(b, "%s %s=%s\n", digits, key, value);
}

static void put_pax(struct ut_out *out, const char *name, uint64_t size, time_t mtime)
{
	struct ut_buf b = { 0 };
	char text[24];

	if (strlen(name) > sizeof(((struct header *)NULL)->name))
		add_record(&b, "path", name);
	if (size > MOST_OCTAL) {
		snprintf(text, sizeof(text), "%llu", (unsigned long long)size);
		add_record(&b, "size", text);
	}
	if (b.len) {
		put_header(out, "././@PaxHeader", 'x', b.len, mtime);
		ut_out_write(out, b.data, b.len);
		ut_tar_fill(out, b.len);
	}
	ut_buf_release(&b);
}

void ut_tar_head(struct ut_out *out, const char *name, uint64_t size, time_t mtime)
{
	put_pax(out, name, size, mtime);
	put_header(out, name, '0', size, mtime);
}

/* Exactly as many bytes as the header says, also if the file changes meanwhile. */
static int tar_put_bytes(struct ut_out *out, int fd, uint64_t size)
{
	uint64_t left = size;

	while (left) {
		size_t want = left < 65536 ? (size_t)left : 65536;
		char *p = ut_out_reserve(out, want);
		ssize_t got = read(fd, p, want);

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return got ? -errno : -EIO;
		ut_out_advance(out, p + got);
		left -= (uint64_t)got;
	}
	ut_tar_fill(out, size);
	return 0;
}

int ut_tar_add(struct ut_out *out, const char *dir, const char *name, struct ut_err *err)
{
	char path[PATH_MAX], entry[PATH_MAX];
	struct stat st;
	int fd, rc;

	if (snprintf(path, sizeof(path), "%s/%s", dir, name) >= PATH_MAX ||
	    snprintf(entry, sizeof(entry), "./%s", name) >= PATH_MAX)
		return ut_err_set(err, -ENAMETOOLONG, "%s/%s: %s", dir, name,
				  strerror(ENAMETOOLONG));
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return ut_err_set(err, -errno, "%s: %s", path, strerror(errno));
	rc = fstat(fd, &st) ? -errno : 0;
	if (!rc) {
		ut_tar_head(out, entry, (uint64_t)st.st_size, st.st_mtime);
		rc = tar_put_bytes(out, fd, (uint64_t)st.st_size);
	}
	close(fd);
	if (rc)
		ut_err_set(err, rc, "%s: %s", path, strerror(-rc));
	return rc;
}

void ut_tar_end(struct ut_out *out)
{
	static const char zeros[2 * BLOCK];

	ut_out_write(out, zeros, sizeof(zeros));
}
