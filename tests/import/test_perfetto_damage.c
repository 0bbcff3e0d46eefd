/*
 * test_perfetto_damage.c - tests src/trace/import/perfetto/perfetto.c on files that are cut off,
 * broken, compressed, or no traces at all.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#if UT_HAVE_ZLIB
#include <zlib.h>
#endif
#if UT_HAVE_ZSTD
#include <zstd.h>
#endif

#include "import/pf.h"
#include "model/perfetto_fields.h"
#include "support/unit.h"

#define THREAD 1

static int make(void **state)
{
	*state = calloc(1, sizeof(struct pf));
	return *state ? 0 : -1;
}

static int drop(void **state)
{
	pf_release(*state);
	free(*state);
	return 0;
}

static struct pf *four_instants(void **state)
{
	struct pf *f = *state;

	pf_thread(f, THREAD, 10, 11, "main");
	for (uint64_t i = 0; i < 4; i++)
		pf_instant(f, i, THREAD, "a name");
	return f;
}

/* ---- files that end too early -------------------------------------------------------------- */

static void a_file_cut_at_any_byte_keeps_what_is_complete(void **state)
{
	struct pf *f = four_instants(state);
	uint64_t before = 0;
	size_t whole = 0;

	for (size_t len = 1; len <= f->file.len; len++) {
		bool boundary;

		assert_int_equal(pf_load(f, len), 0);
		assert_true(f->store.row_count >= before);
		boundary = !f->warnings.len;
		whole += boundary;
		if (!boundary) {
			pf_expect_warning(f,
					  ": the file ends inside a packet; everything before it "
					  "was read\n");
			assert_int_equal(strchr(f->warnings.data, '\n') - f->warnings.data + 1,
					 f->warnings.len);
		}
		before = f->store.row_count;
	}
	assert_int_equal(before, 4);
	assert_int_equal(whole, 5); /* packets */
}

static void the_warning_says_where_the_last_packet_starts(void **state)
{
	struct pf *f = four_instants(state);
	size_t last = f->file.len;
	char text[64];

	pf_instant(f, 9, THREAD, "cut");
	assert_int_equal(pf_load(f, f->file.len - 1), 0);
	snprintf(text, sizeof(text), "offset %zu: the file ends inside a packet", last);
	pf_expect_warning(f, text);
}

static void crumbs_are_put_together(void **state)
{
	struct pf *f = four_instants(state);

	f->step = 1;
	pf_expect(f, "10,,11,main,instant,0,,a name,,,,,,\n"
		     "10,,11,main,instant,1,,a name,,,,,,\n"
		     "10,,11,main,instant,2,,a name,,,,,,\n"
		     "10,,11,main,instant,3,,a name,,,,,,\n");
}

static void a_packet_may_be_larger_than_the_window(void **state)
{
	struct pf *f = four_instants(state);
	char *text = malloc(3 << 20);
	struct ut_str name;

	memset(text, 'x', 3 << 20);
	text[(3 << 20) - 1] = '\0';
	pf_instant(f, 9, THREAD, text);
	pf_instant(f, 10, THREAD, "behind it");
	assert_int_equal(pf_load(f, f->file.len), 0);
	assert_int_equal(f->store.row_count, 6);
	name = ut_strtab_get(&f->store.trace.strings,
			     ut_store_type(&f->store, f->store.rows[0].blocks[0].type[4])->name);
	assert_string_equal(name.ptr, text);
	free(text);
}

static void zeros_at_the_end_were_never_written(void **state)
{
	struct pf *f = four_instants(state);
	char zeros[100] = { 0 };

	f->file.data = realloc(f->file.data, f->file.len + sizeof(zeros));
	memcpy(f->file.data + f->file.len, zeros, sizeof(zeros));
	f->file.len += sizeof(zeros);
	assert_int_equal(pf_load(f, f->file.len), 0);
	assert_int_equal(f->store.row_count, 4);
	pf_expect_warning(f, ": only zero bytes from here on; everything before them was read\n");
}

/* ---- broken bytes -------------------------------------------------------------------------- */

static void where_no_packet_starts_is_an_error(void **state)
{
	struct pf *f = four_instants(state);
	size_t at = f->file.len;
	char text[200];

	pf_instant(f, 9, THREAD, "lost");
	f->file.data[at] = 'x';
	assert_int_equal(pf_load(f, f->file.len), -EPROTO);
	snprintf(text, sizeof(text),
		 "a.pftrace: offset %zu: no packet of a Perfetto trace starts "
		 "here; the file is damaged or of another kind",
		 at);
	assert_string_equal(f->err.text, text);
	assert_null(f->store.rows);
}

static void a_length_that_no_tool_writes_is_an_error(void **state)
{
	static const unsigned char bytes[] = { 0x0a, 0xff, 0xff, 0xff, 0xff, 0x7f, 1, 2, 3,
					       4,    5,    6,    7,    8,    9,    0, 1, 2 };
	struct pf *f = *state;

	ut_pbuf_bytes(&f->file, 1, bytes, sizeof(bytes));
	memmove(f->file.data, f->file.data + 2, sizeof(bytes));
	f->file.len -= 2;
	assert_int_equal(pf_load(f, f->file.len), -EPROTO);
	assert_non_null(strstr(f->err.text, "offset 0:"));
}

static void a_packet_that_is_broken_inside_is_left_out(void **state)
{
	static const unsigned char broken[] = { PACKET_TRACK_EVENT << 3 | 2, 100, 1, 2 };
	struct pf *f = four_instants(state);
	size_t at = f->file.len;
	char text[64];

	ut_pbuf_bytes(&f->file, TRACE_PACKET, broken, sizeof(broken));
	pf_instant(f, 9, THREAD, "behind it");
	assert_int_equal(pf_load(f, f->file.len), 0);
	assert_int_equal(f->store.row_count, 5);
	snprintf(text, sizeof(text), "offset %zu: a packet is damaged inside", at);
	pf_expect_warning(f, text);
	assert_int_equal(f->store.trace.losses.unread, 1);
}

static void an_event_that_is_broken_is_left_out(void **state)
{
	struct pf *f = four_instants(state);
	size_t event = pf_event_open(f, 5, TYPE_INSTANT, THREAD);

	ut_pbuf_varint(&f->file, 127, 0);
	f->file.data[f->file.len - 1] = 0x80; /* a number without an end */
	pf_event_close(f, event);
	assert_int_equal(pf_load(f, f->file.len), 0);
	assert_int_equal(f->store.row_count, 4);
	assert_int_equal(f->store.trace.losses.unread, 1);
}

static void data_that_is_not_read_is_named(void **state)
{
	struct pf *f = four_instants(state);
	static const uint32_t fields[] = { 54, 54, 39, 33, 36, 200, 900 };

	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
		pf_open(f, 1, 0);
		ut_pbuf_bytes(&f->file, fields[i], "", 0);
		pf_close(f);
	}
	assert_int_equal(pf_load(f, f->file.len), 0);
	assert_string_equal(f->warnings.data,
			    "packets with data that is not read: 1 of other kinds, 1 of "
			    "android_log, 2 of streaming_profile_packet, 1 of field 200\n");
}

/* ---- compressed packets -------------------------------------------------------------------- */

static void put_compressed(struct pf *f, uint32_t field, const void *data, size_t len)
{
	pf_open(f, 1, 0);
	ut_pbuf_bytes(&f->file, field, data, len);
	pf_close(f);
}

static void packets_are_unpacked(void **state)
{
#if UT_HAVE_ZLIB
	struct pf *f = *state, *inside = calloc(1, sizeof(*inside));
	unsigned char packed[4096];
	uLongf len = sizeof(packed);

	four_instants((void **)&inside);
	assert_int_equal(compress(packed, &len, inside->file.data, inside->file.len), Z_OK);
	put_compressed(f, PACKET_COMPRESSED, packed, len);
	pf_instant(f, 9, THREAD, "plain");
	assert_int_equal(pf_load(f, f->file.len), 0);
	assert_int_equal(f->store.row_count, 5);
	assert_string_equal(f->warnings.data, "");
	put_compressed(f, PACKET_COMPRESSED, packed, len - 10); /* cut off */
	packed[len / 2] ^= 0x55;
	put_compressed(f, PACKET_COMPRESSED, packed, len);
	assert_int_equal(pf_load(f, f->file.len), 0);
	assert_int_equal(f->store.row_count, 5);
	pf_expect_warning(
		f, ": a compressed packet cannot be unpacked; such packets were left out: 2\n");
	pf_release(inside);
	free(inside);
#else
	(void)state;
	skip();
#endif
}

static void packets_of_zstd_are_unpacked(void **state)
{
#if UT_HAVE_ZSTD
	struct pf *f = *state, *inside = calloc(1, sizeof(*inside));
	unsigned char packed[4096];
	size_t len;

	four_instants((void **)&inside);
	len = ZSTD_compress(packed, sizeof(packed), inside->file.data, inside->file.len, 1);
	assert_false(ZSTD_isError(len));
	put_compressed(f, PACKET_ZSTD_COMPRESSED, packed, len);
	put_compressed(f, PACKET_ZSTD_COMPRESSED, packed, len - 3);
	put_compressed(f, PACKET_ZSTD_COMPRESSED, "", 0);
	assert_int_equal(pf_load(f, f->file.len), 0);
	assert_int_equal(f->store.row_count, 4);
	pf_expect_warning(
		f, ": a compressed packet cannot be unpacked; such packets were left out: 2\n");
	pf_release(inside);
	free(inside);
#else
	(void)state;
	skip();
#endif
}

static void a_bomb_does_not_go_off(void **state)
{
#if UT_HAVE_ZLIB
	struct pf *f = four_instants(state);
	size_t size = (size_t)100 << 20;
	unsigned char *zeros = calloc(1, size), *packed = malloc(size / 500);
	uLongf len = size / 500;

	assert_int_equal(compress(packed, &len, zeros, size), Z_OK);
	put_compressed(f, PACKET_COMPRESSED, packed, len);
	assert_int_equal(pf_load(f, f->file.len), 0);
	assert_int_equal(f->store.row_count, 4);
	pf_expect_warning(
		f, ": a compressed packet cannot be unpacked; such packets were left out: 1\n");
	free(zeros);
	free(packed);
#else
	(void)state;
	skip();
#endif
}

static void what_is_compressed_twice_stays_packed(void **state)
{
#if UT_HAVE_ZLIB
	struct pf *f = *state, *inside = calloc(1, sizeof(*inside));
	unsigned char packed[4096];
	uLongf len = sizeof(packed);

	four_instants((void **)&inside);
	assert_int_equal(compress(packed, &len, inside->file.data, inside->file.len), Z_OK);
	inside->file.len = 0;
	put_compressed(inside, PACKET_COMPRESSED, packed, len);
	len = sizeof(packed);
	assert_int_equal(compress(packed, &len, inside->file.data, inside->file.len), Z_OK);
	put_compressed(f, PACKET_COMPRESSED, packed, len);
	assert_int_equal(pf_load(f, f->file.len), 0);
	assert_int_equal(f->store.row_count, 0);
	pf_release(inside);
	free(inside);
#else
	(void)state;
	skip();
#endif
}

/* ---- what is a Perfetto file --------------------------------------------------------------- */

static bool looks_like(const char *bytes, size_t len)
{
	return ut_import_perfetto.probe(bytes, len);
}

static void traces_are_known_by_their_first_packet(void **state)
{
	struct pf *f = four_instants(state);
	size_t whole = f->file.len;

	assert_true(looks_like((const char *)f->file.data, whole));
	assert_true(looks_like((const char *)f->file.data, 8)); /* the packet goes on behind it */
	f->file.len = 0;
	pf_open(f, 1, 0);
	ut_pbuf_bytes(&f->file, PACKET_COMPRESSED, "some bytes", 10);
	pf_close(f);
	assert_true(looks_like((const char *)f->file.data, 6));
}

static void other_files_are_not_taken_for_traces(void **state)
{
	static const char *const texts[] = {
		"",
		"\n",
		"\n\n",
		"\n[{\"ph\":\"X\"}]",
		"{\"a\":1}",
		"[\n{}\n]",
		"\n\x05hello",
		"\n{\"traceEvents\":[]}",
		"#!/bin/sh\n",
		"\x1f\x8b\x08",
		"SQLite format 3",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		assert_false(looks_like(texts[i], strlen(texts[i])));
	assert_false(looks_like("\n\x04\x08\x01\x50", 5)); /* wire types that do not fit */
}

UT_TESTS(perfetto_damage)
{
#define CASE(f) cmocka_unit_test_setup_teardown(f, make, drop)
	const struct CMUnitTest tests[] = {
		CASE(a_file_cut_at_any_byte_keeps_what_is_complete),
		CASE(the_warning_says_where_the_last_packet_starts),
		CASE(crumbs_are_put_together),
		CASE(a_packet_may_be_larger_than_the_window),
		CASE(zeros_at_the_end_were_never_written),
		CASE(where_no_packet_starts_is_an_error),
		CASE(a_length_that_no_tool_writes_is_an_error),
		CASE(a_packet_that_is_broken_inside_is_left_out),
		CASE(an_event_that_is_broken_is_left_out),
		CASE(data_that_is_not_read_is_named),
		CASE(packets_are_unpacked),
		CASE(packets_of_zstd_are_unpacked),
		CASE(a_bomb_does_not_go_off),
		CASE(what_is_compressed_twice_stays_packed),
		CASE(traces_are_known_by_their_first_packet),
		CASE(other_files_are_not_taken_for_traces),
	};
#undef CASE

	return cmocka_run_group_tests_name("import/perfetto_damage", tests, NULL, NULL);
}
