#include "import/perfetto/inflate.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>

#if UT_HAVE_ZLIB
#define ZLIB_CONST
#include <zlib.h>
#endif
#if UT_HAVE_ZSTD
#include <zstd.h>
#endif

#include "base/grow.h"

#if UT_HAVE_ZLIB || UT_HAVE_ZSTD
/* Room for more; false when that would be too much. */
static bool inflate_widen(struct ut_pf_unpacked *to)
{
	if (to->len < to->cap)
		return true;
	if (to->cap >= UT_PF_UNPACKED_MOST)
		return false;
	to->data = ut_grow(to->data, to->cap ? 2 * to->cap : (size_t)1 << 20, &to->cap, 1);
	return true;
}
#endif

#if UT_HAVE_ZLIB
int ut_pf_inflate(struct ut_pf_unpacked *to, const unsigned char *data, size_t len)
{
	z_stream z = { .next_in = data, .avail_in = (uInt)len };
	int rc = len <= UINT32_MAX ? inflateInit(&z) : Z_DATA_ERROR;
	bool room = true;

	to->len = 0;
	while (rc == Z_OK && (room = inflate_widen(to))) {
		z.next_out = to->data + to->len;
		z.avail_out = (uInt)(to->cap - to->len);
		rc = inflate(&z, Z_NO_FLUSH);
		to->len = to->cap - z.avail_out;
	}
	inflateEnd(&z);
	if (!room)
		return -E2BIG;
	return rc == Z_STREAM_END ? 0 : -EPROTO;
}
#else
int ut_pf_inflate(struct ut_pf_unpacked *to, const unsigned char *data, size_t len)
{
	(void)to;
	(void)data;
	(void)len;
	return -ENOTSUP;
}
#endif

#if UT_HAVE_ZSTD
int ut_pf_unzstd(struct ut_pf_unpacked *to, const unsigned char *data, size_t len)
{
	ZSTD_DStream *z = ZSTD_createDStream();
	ZSTD_inBuffer in = { data, len, 0 };
	size_t left = 1;
	int rc = z ? 0 : -ENOMEM;

	to->len = 0;
	while (!rc && left) {
		ZSTD_outBuffer out;
		size_t had = in.pos;

		if (!inflate_widen(to)) {
			rc = -E2BIG;
			break;
		}
		out = (ZSTD_outBuffer){ to->data, to->cap, to->len };
		left = ZSTD_decompressStream(z, &out, &in);
		if (ZSTD_isError(left) || (left && in.pos == had && out.pos == to->len))
			rc = -EPROTO;
		to->len = out.pos;
	}
	ZSTD_freeDStream(z);
	return rc;
}
#else
int ut_pf_unzstd(struct ut_pf_unpacked *to, const unsigned char *data, size_t len)
{
	(void)to;
	(void)data;
	(void)len;
	return -ENOTSUP;
}
#endif
