#include "import/perf/perf_unpack.h"

#include <string.h>

#include "import/perf/perf_file.h"
#if UT_HAVE_ZSTD
#include <zstd.h>
#endif

#define PIECE 65536u

static void perf_unpack_fail(struct ut_pdata_unpack *u, const char *why)
{
	u->bad = true;
	u->why = why;
}

static void take_records(struct ut_pdata_unpack *u, struct ut_buf *b, bool inside);

#if UT_HAVE_ZSTD
/* The records of all such records are one stream. */
static void perf_unpack_unpack(struct ut_pdata_unpack *u, const uint8_t *bytes, size_t size)
{
	ZSTD_inBuffer in = { bytes, size, 0 };

	if (!u->zstd)
		u->zstd = ZSTD_createDStream();
	while (u->zstd && in.pos < in.size && !u->bad) {
		ZSTD_outBuffer out = { ut_buf_reserve(&u->inner, PIECE), PIECE, 0 };
		size_t rc = ZSTD_decompressStream(u->zstd, &out, &in);

		if (ZSTD_isError(rc)) {
			perf_unpack_fail(
				u, "compressed records are damaged: what follows is left out");
			return;
		}
		ut_buf_advance(&u->inner, (char *)out.dst + out.pos);
		take_records(u, &u->inner, true);
	}
}
#else
static void unpack(struct ut_pdata_unpack *u, const uint8_t *bytes, size_t size)
{
	(void)bytes;
	(void)size;
	fail(u, "records are compressed with zstd, which this build cannot unpack");
}
#endif

static void perf_unpack_hand_on(struct ut_pdata_unpack *u, const uint8_t *bytes, bool inside)
{
	struct ut_pdata_record rec;
	uint64_t more;

	memcpy(&rec, bytes, sizeof(rec));
	if (rec.type == UT_PDATA_COMPRESSED && !inside) {
		perf_unpack_unpack(u, bytes + sizeof(rec), rec.size - sizeof(rec));
	} else if (rec.type == UT_PDATA_COMPRESSED2 && !inside && rec.size >= 16) {
		memcpy(&more, bytes + sizeof(rec), 8);
		perf_unpack_unpack(u, bytes + 16, more < rec.size - 16u ? more : rec.size - 16u);
	} else if (rec.type == UT_PDATA_AUXTRACE && !inside && rec.size >= 16) {
		memcpy(&u->skip, bytes + sizeof(rec), 8);
	} else {
		u->record(u->ctx, bytes);
	}
}

static void take_records(struct ut_pdata_unpack *u, struct ut_buf *b, bool inside)
{
	struct ut_pdata_record rec;
	size_t at = 0;

	while (!u->bad && b->len - at >= sizeof(rec)) {
		memcpy(&rec, b->data + at, sizeof(rec));
		if (rec.size < sizeof(rec)) {
			perf_unpack_fail(u, "a record has no size: what follows is left out");
			break;
		}
		if (rec.size > b->len - at)
			break;
		perf_unpack_hand_on(u, (const uint8_t *)b->data + at, inside);
		at += rec.size;
		if (u->skip && !inside) {
			uint64_t have = b->len - at;
			uint64_t gone = have < u->skip ? have : u->skip;

			at += gone;
			u->skip -= gone;
		}
	}
	if (at)
		memmove(b->data, b->data + at, b->len - at);
	b->len -= at;
}

void ut_pdata_unpack_add(struct ut_pdata_unpack *u, const uint8_t *bytes, size_t size)
{
	uint64_t gone = size < u->skip ? size : u->skip;

	u->skip -= gone;
	ut_buf_add(&u->outer, (const char *)bytes + gone, size - gone);
	take_records(u, &u->outer, false);
}

void ut_pdata_unpack_release(struct ut_pdata_unpack *u)
{
	ut_buf_release(&u->outer);
	ut_buf_release(&u->inner);
#if UT_HAVE_ZSTD
	ZSTD_freeDStream(u->zstd);
#endif
}
