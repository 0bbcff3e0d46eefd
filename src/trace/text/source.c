/*
 * source.c - plain and compressed bytes behind one read().
 *
 * Compressed files may consist of several members or frames, one after the other; what they
 * hold is one text. Compressed data that ends too early (a full disk, a killed writer) gives what
 * is there and sets cut; damaged data is an error.
 */
#include "text/source.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#if UT_HAVE_ZLIB
#include <zlib.h>
#endif
#if UT_HAVE_ZSTD
#include <zstd.h>
#endif
#if UT_HAVE_LZMA
#include <lzma.h>
#endif
#if UT_HAVE_BZIP2
#include <bzlib.h>
#endif

#include "base/grow.h"

#define RAW_BYTES (256u << 10)

/* Compressed bytes on their way. */
struct unpack {
	/* Uses raw bytes, makes plain ones: how many. 0: needs more raw ones, or finished is set.
	 */
	ssize_t (*step)(struct ut_source *s, void *to, size_t len, struct ut_err *err);
	void (*end)(struct unpack *u);
	unsigned char *raw;
	size_t at, len; /* in raw */
	bool eof;       /* the file has no more */
	bool finished;  /* between two members or frames */
#if UT_HAVE_ZLIB
	z_stream gzip;
#endif
#if UT_HAVE_ZSTD
	ZSTD_DStream *zstd;
#endif
#if UT_HAVE_LZMA
	lzma_stream lzma;
#endif
#if UT_HAVE_BZIP2
	bz_stream bzip2;
#endif
};

/* Everything that read(2) can give, also from a pipe that hands out crumbs. */
static ssize_t read_raw(struct ut_source *s, void *to, size_t len, struct ut_err *err)
{
	ssize_t n;

	if (len > s->most - s->taken)
		len = (size_t)(s->most - s->taken);
	do
		n = read(s->fd, to, len);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return ut_err_set(err, -errno, "%s: %s", s->path, strerror(errno));
	s->taken += (uint64_t)n;
	return n;
}

static uint64_t raw_offset(const struct ut_source *s)
{
	const struct unpack *u = s->unpack;

	return s->taken - (u->len - u->at);
}

#if UT_HAVE_ZLIB || UT_HAVE_ZSTD || UT_HAVE_LZMA || UT_HAVE_BZIP2
static int damaged(const struct ut_source *s, const char *format, const char *why,
		   struct ut_err *err)
{
	return ut_err_set(err, -EPROTO, "%s: offset %" PRIu64 ": damaged %s data: %s", s->path,
			  raw_offset(s), format, why);
}
#endif

#if UT_HAVE_ZLIB
static bool only_zeros(const struct unpack *u)
{
	for (size_t i = u->at; i < u->len; i++) {
		if (u->raw[i])
			return false;
	}
	return true;
}

/* Another member may follow; zero bytes are padding that tapes and some copiers leave. */
static ssize_t next_member(struct ut_source *s, struct ut_err *err)
{
	struct unpack *u = s->unpack;

	if (only_zeros(u)) {
		u->at = u->len;
		return 0;
	}
	if (u->raw[u->at] != 0x1f)
		return damaged(s, "gzip", "other bytes follow behind its end", err);
	inflateReset(&u->gzip);
	u->finished = false;
	return 0;
}

static ssize_t gzip_step(struct ut_source *s, void *to, size_t len, struct ut_err *err)
{
	struct unpack *u = s->unpack;
	z_stream *z = &u->gzip;
	size_t room = len < INT32_MAX ? len : INT32_MAX;
	ssize_t rc;

	if (u->finished && u->at < u->len) {
		rc = next_member(s, err);
		if (rc || u->finished)
			return rc;
	}
	z->next_in = u->raw + u->at;
	z->avail_in = (uInt)(u->len - u->at);
	z->next_out = to;
	z->avail_out = (uInt)room;
	rc = u->finished ? Z_BUF_ERROR : inflate(z, Z_SYNC_FLUSH);
	u->at = u->len - z->avail_in;
	if (rc == Z_STREAM_END)
		u->finished = true;
	else if (rc != Z_OK && rc != Z_BUF_ERROR)
		return damaged(s, "gzip", z->msg ? z->msg : "no reason given", err);
	return (ssize_t)(room - z->avail_out);
}

static void gzip_end(struct unpack *u)
{
	inflateEnd(&u->gzip);
}

static int gzip_start(struct ut_source *s, struct ut_err *err)
{
	struct unpack *u = s->unpack;

	if (inflateInit2(&u->gzip, 15 + 16) != Z_OK) /* 16: gzip, not raw zlib */
		return ut_err_set(err, -ENOMEM, "%s: zlib cannot be started", s->path);
	u->step = gzip_step;
	u->end = gzip_end;
	return 0;
}
#else
static int gzip_start(struct ut_source *s, struct ut_err *err)
{
	return ut_err_set(err, -ENOTSUP,
			  "%s: is compressed with gzip, and this unitrace was built without zlib; "
			  "unpack it first: gunzip -c FILE",
			  s->path);
}
#endif

#if UT_HAVE_ZSTD
static ssize_t zstd_step(struct ut_source *s, void *to, size_t len, struct ut_err *err)
{
	struct unpack *u = s->unpack;
	ZSTD_inBuffer in = { u->raw, u->len, u->at };
	ZSTD_outBuffer out = { to, len, 0 };
	size_t rc;

	if (u->finished && u->at == u->len)
		return 0;
	rc = ZSTD_decompressStream(u->zstd, &out, &in);
	u->at = in.pos;
	if (ZSTD_isError(rc))
		return damaged(s, "zstd", ZSTD_getErrorName(rc), err);
	u->finished = rc == 0;
	return (ssize_t)out.pos;
}

static void zstd_end(struct unpack *u)
{
	ZSTD_freeDStream(u->zstd);
}

static int zstd_start(struct ut_source *s, struct ut_err *err)
{
	struct unpack *u = s->unpack;

	u->zstd = ZSTD_createDStream();
	if (!u->zstd)
		return ut_err_set(err, -ENOMEM, "%s: zstd cannot be started", s->path);
	u->step = zstd_step;
	u->end = zstd_end;
	return 0;
}
#else
static int zstd_start(struct ut_source *s, struct ut_err *err)
{
	return ut_err_set(err, -ENOTSUP,
			  "%s: is compressed with zstd, and this unitrace was built without "
			  "libzstd; unpack it first: zstd -dc FILE",
			  s->path);
}
#endif

#if UT_HAVE_LZMA
#define LZMA_MEMORY (UINT64_C(256) << 20) /* of the decoder: xz -9 needs 65 MiB */

static ssize_t xz_step(struct ut_source *s, void *to, size_t len, struct ut_err *err)
{
	struct unpack *u = s->unpack;
	lzma_stream *z = &u->lzma;
	lzma_ret rc;

	if (u->finished)
		return 0;
	z->next_in = u->raw + u->at;
	z->avail_in = u->len - u->at;
	z->next_out = to;
	z->avail_out = len;
	rc = lzma_code(z, u->eof ? LZMA_FINISH : LZMA_RUN);
	u->at = u->len - z->avail_in;
	if (rc == LZMA_STREAM_END)
		u->finished = true;
	else if (rc != LZMA_OK && rc != LZMA_BUF_ERROR)
		return damaged(s, "xz",
			       rc == LZMA_MEMLIMIT_ERROR ? "it needs more than 256 MiB of memory"
							 : "its checks fail",
			       err);
	return (ssize_t)(len - z->avail_out);
}

static void xz_end(struct unpack *u)
{
	lzma_end(&u->lzma);
}

static int xz_start(struct ut_source *s, struct ut_err *err)
{
	struct unpack *u = s->unpack;

	if (lzma_stream_decoder(&u->lzma, LZMA_MEMORY, LZMA_CONCATENATED) != LZMA_OK)
		return ut_err_set(err, -ENOMEM, "%s: liblzma cannot be started", s->path);
	u->step = xz_step;
	u->end = xz_end;
	return 0;
}
#else
static int xz_start(struct ut_source *s, struct ut_err *err)
{
	return ut_err_set(err, -ENOTSUP,
			  "%s: is compressed with xz, and this unitrace was built without liblzma; "
			  "unpack it first: xz -dc FILE",
			  s->path);
}
#endif

#if UT_HAVE_BZIP2
static ssize_t bzip2_step(struct ut_source *s, void *to, size_t len, struct ut_err *err)
{
	struct unpack *u = s->unpack;
	bz_stream *z = &u->bzip2;
	size_t room = len < INT32_MAX ? len : INT32_MAX;
	int rc;

	if (u->finished) { /* another one may follow */
		if (u->at == u->len)
			return 0;
		BZ2_bzDecompressEnd(z);
		*z = (bz_stream){ 0 };
		if (BZ2_bzDecompressInit(z, 0, 0) != BZ_OK)
			return ut_err_set(err, -ENOMEM, "%s: bzip2 cannot be started", s->path);
		u->finished = false;
	}
	z->next_in = (char *)u->raw + u->at;
	z->avail_in = (unsigned int)(u->len - u->at);
	z->next_out = to;
	z->avail_out = (unsigned int)room;
	rc = BZ2_bzDecompress(z);
	u->at = u->len - z->avail_in;
	if (rc == BZ_STREAM_END)
		u->finished = true;
	else if (rc != BZ_OK)
		return damaged(s, "bzip2", "its checks fail", err);
	return (ssize_t)(room - z->avail_out);
}

static void bzip2_end(struct unpack *u)
{
	BZ2_bzDecompressEnd(&u->bzip2);
}

static int bzip2_start(struct ut_source *s, struct ut_err *err)
{
	struct unpack *u = s->unpack;

	if (BZ2_bzDecompressInit(&u->bzip2, 0, 0) != BZ_OK)
		return ut_err_set(err, -ENOMEM, "%s: bzip2 cannot be started", s->path);
	u->step = bzip2_step;
	u->end = bzip2_end;
	return 0;
}
#else
static int bzip2_start(struct ut_source *s, struct ut_err *err)
{
	return ut_err_set(err, -ENOTSUP,
			  "%s: is compressed with bzip2, and this unitrace was built without "
			  "libbz2; unpack it first: bzip2 -dc FILE",
			  s->path);
}
#endif

/* Raw bytes into the buffer when it is empty. */
static int refill(struct ut_source *s, struct ut_err *err)
{
	struct unpack *u = s->unpack;
	ssize_t n;

	if (u->at < u->len || u->eof)
		return 0;
	n = read_raw(s, u->raw, RAW_BYTES, err);
	if (n < 0)
		return (int)n;
	u->at = 0;
	u->len = (size_t)n;
	u->eof = !n;
	return 0;
}

static ssize_t read_packed(struct ut_source *s, void *to, size_t len, struct ut_err *err)
{
	struct unpack *u = s->unpack;
	ssize_t n;

	for (;;) {
		n = refill(s, err);
		if (n < 0)
			return n;
		n = u->step(s, to, len, err);
		if (n)
			return n;
		if (u->eof && u->at == u->len) {
			s->cut = !u->finished;
			return 0;
		}
	}
}

static ssize_t read_any(struct ut_source *s, void *to, size_t len, struct ut_err *err)
{
	return s->unpack ? read_packed(s, to, len, err) : read_raw(s, to, len, err);
}

static bool is_zstd(const unsigned char *m)
{
	bool skippable = (m[0] & 0xf0) == 0x50 && m[1] == 0x2a && m[2] == 0x4d && m[3] == 0x18;

	return skippable || (m[0] == 0x28 && m[1] == 0xb5 && m[2] == 0x2f && m[3] == 0xfd);
}

/* The first bytes decide; they become the decompressor's, or stay as the head. */
static int unpack_if_packed(struct ut_source *s, struct ut_err *err)
{
	const unsigned char *m = (const unsigned char *)s->head;
	int (*start)(struct ut_source * s, struct ut_err * err) = NULL;
	struct unpack *u;
	int rc;

	if (s->head_len >= 3 && m[0] == 0x1f && m[1] == 0x8b && m[2] == 8)
		start = gzip_start;
	else if (s->head_len >= 4 && is_zstd(m))
		start = zstd_start;
	else if (s->head_len >= 6 && !memcmp(m,
					     "\375"
					     "7zXZ",
					     6))
		start = xz_start;
	else if (s->head_len >= 10 && !memcmp(m, "BZh", 3) && m[3] >= '1' && m[3] <= '9' &&
		 (!memcmp(m + 4, "1AY&SY", 6) || !memcmp(m + 4, "\x17rE8P\x90", 6)))
		start = bzip2_start;
	if (!start)
		return 0;
	u = ut_make(sizeof(*u));
	u->raw = ut_make(RAW_BYTES);
	s->unpack = u;
	rc = start(s, err);
	if (rc)
		return rc;
	memcpy(u->raw, s->head, s->head_len);
	u->len = s->head_len;
	s->head_len = 0;
	return 0;
}

static int fill_head(struct ut_source *s, struct ut_err *err)
{
	while (s->head_len < sizeof(s->head)) {
		ssize_t n = read_any(s, s->head + s->head_len, sizeof(s->head) - s->head_len, err);

		if (n < 0)
			return (int)n;
		if (!n)
			break;
		s->head_len += (size_t)n;
	}
	return 0;
}

static int source_open_file(struct ut_source *s, struct ut_err *err)
{
	struct stat st;
	bool named = strcmp(s->path, "-") != 0;

	s->fd = named ? open(s->path, O_RDONLY | O_CLOEXEC) : fcntl(0, F_DUPFD_CLOEXEC, 3);
	if (s->fd < 0 || fstat(s->fd, &st) < 0)
		return ut_err_set(err, -errno, "%s: %s", s->path, strerror(errno));
	if (S_ISDIR(st.st_mode))
		return ut_err_set(err, -EISDIR, "%s: is a directory", s->path);
	s->seekable = named && S_ISREG(st.st_mode);
	s->size = S_ISREG(st.st_mode) ? (uint64_t)st.st_size : 0;
	s->size = s->size < s->most ? s->size : s->most;
	if (s->seekable)
		posix_fadvise(s->fd, 0, 0, POSIX_FADV_SEQUENTIAL);
	return 0;
}

int ut_source_open(struct ut_source *s, const char *path, struct ut_err *err)
{
	return ut_source_open_head(s, path, UINT64_MAX, err);
}

int ut_source_open_head(struct ut_source *s, const char *path, uint64_t most, struct ut_err *err)
{
	int rc;

	*s = (struct ut_source){ .path = path, .fd = -1, .most = most };
	rc = source_open_file(s, err);
	if (!rc)
		rc = fill_head(s, err);
	if (!rc)
		rc = unpack_if_packed(s, err);
	if (!rc && s->unpack) {
		s->seekable = false;
		rc = fill_head(s, err);
	}
	if (rc)
		ut_source_close(s);
	return rc;
}

void ut_source_close(struct ut_source *s)
{
	struct unpack *u = s->unpack;

	if (u) {
		if (u->end)
			u->end(u);
		free(u->raw);
		free(u);
	}
	if (s->fd >= 0)
		close(s->fd);
	s->unpack = NULL;
	s->fd = -1;
}

ssize_t ut_source_read(struct ut_source *s, void *to, size_t len, struct ut_err *err)
{
	ssize_t n;

	if (s->at < s->head_len) {
		size_t left = s->head_len - (size_t)s->at;

		n = (ssize_t)(left < len ? left : len);
		memcpy(to, s->head + s->at, (size_t)n);
	} else {
		n = read_any(s, to, len, err);
	}
	if (n > 0)
		s->at += (uint64_t)n;
	return n;
}

ssize_t ut_source_read_at(const struct ut_source *s, void *to, size_t len, uint64_t offset,
			  struct ut_err *err)
{
	size_t have = 0;

	if (len > s->most - (offset < s->most ? offset : s->most))
		len = (size_t)(s->most - (offset < s->most ? offset : s->most));
	while (have < len) {
		ssize_t n = pread(s->fd, (char *)to + have, len - have, (off_t)(offset + have));

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return ut_err_set(err, -errno, "%s: %s", s->path, strerror(errno));
		if (!n)
			break;
		have += (size_t)n;
	}
	return (ssize_t)have;
}
