/*
 * test_utr.c - tests src/trace/import/utr_read.h, src/trace/export/utr_write.h and
 * docs/formats/utr.md: what is written is what is read; damage is found and harms nobody; the rules
 * about versions hold.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "export/exporter.h"
#include "export/utr_write.h"
#include "import/importer.h"
#include "import/utr_read.h"
#include "import/utr_use.h"
#include "model/build.h"
#include "model/classify.h"
#include "model/device_records.h"
#include "model/utr.h"
#include "model/utr_crc.h"
#include "model/utr_planes.h"
#include "support/unit.h"
#include "text/out.h"

static uint64_t seed;

static uint64_t dice(uint64_t sides)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (seed >> 20) % sides;
}

/* ---- traces -------------------------------------------------------------------------------- */

static uint32_t any_string(struct ut_trace *t)
{
	char text[40];
	size_t len = (size_t)dice(sizeof(text));

	for (size_t i = 0; i < len; i++)
		text[i] = (char)(dice(20) ? 'a' + dice(3) : dice(256)); /* NULs, too */
	return ut_strtab_intern(&t->strings, text, len);
}

static struct ut_arg any_arg(struct ut_trace *t)
{
	struct ut_arg a = { .key = any_string(t), .type = (uint8_t)(1 + dice(UT_ARG_JSON)) };

	a.value.u64 = dice(2) ? seed : dice(100) - 50;
	if (a.type == UT_ARG_BOOL)
		a.value.u64 = dice(2);
	if (a.type == UT_ARG_STR || a.type == UT_ARG_JSON) {
		a.value.u64 = 0;
		a.value.str = any_string(t);
	}
	a.flags = (uint8_t)dice(4);
	return a;
}

/* A list in the trace's own array. */
static uint32_t any_list(struct ut_trace *t)
{
	size_t mark = t->arg_count;

	for (uint64_t i = dice(4); i; i--) {
		struct ut_arg a = any_arg(t);

		*ut_trace_add_arg(t, 0, UT_ARG_END) = a;
	}
	ut_trace_close_args(t);
	return (uint32_t)mark;
}

static void add_row(struct ut_build *b, uint32_t track, uint64_t ts)
{
	static const uint8_t kinds[] = { UT_KIND_SPAN, UT_KIND_SPAN, UT_RAW_BEGIN, UT_RAW_END };
	struct ut_trace *t = &b->store.trace;
	uint64_t pick = dice(UT_KIND_COUNT + 4);
	struct ut_type type = {
		.name = any_string(t),
		.cat = dice(2) ? any_string(t) : 0,
		.kind = pick < UT_KIND_COUNT ? (uint8_t)pick : kinds[pick - UT_KIND_COUNT],
		.flags = (uint8_t)dice(128),
	};
	struct ut_arg args[5];
	size_t count = dice(3) ? 0 : (size_t)dice(5);

	for (size_t i = 0; i < count; i++)
		args[i] = any_arg(t);
	ut_build_add(b, track, ts, dice(1000), ut_types_intern(&b->store.types, &type),
		     ut_arglists_add(&b->store.args, args, count));
}

/* What a device did, if its track is one's. */
static void add_work(struct ut_build *b, uint32_t track, uint64_t ts)
{
	struct ut_strtab *strings = &b->store.trace.strings;
	const struct ut_type type = {
		.name = ut_strtab_intern_z(strings, "gemm"),
		.cat = ut_strtab_intern_z(strings, dice(2) ? "kernel" : "copy"),
	};
	const struct ut_arg args[] = {
		{ .key = ut_strtab_intern_z(strings, "correlation"),
		  .type = UT_ARG_U64,
		  .value.u64 = dice(1000) },
		{ .key = ut_strtab_intern_z(strings, "grid"),
		  .type = UT_ARG_STR,
		  .value.str = ut_strtab_intern_z(strings, dice(2) ? "64x2" : "1") },
	};

	ut_build_add(b, track, ts, dice(1000), ut_types_intern(&b->store.types, &type),
		     ut_arglists_add(&b->store.args, args, (size_t)dice(3)));
}

static void any_process(struct ut_trace *t)
{
	uint32_t at = ut_trace_add_process(t, dice(100000));
	struct ut_process *p = &t->processes[at];

	p->pid_text = dice(2) ? any_string(t) : 0;
	p->name = any_string(t);
	p->host = any_string(t);
	p->cmdline = any_string(t);
	p->rank = (int32_t)dice(5) - 1;
	p->sort_index = (int32_t)dice(5) - 2;
	p->args = any_list(t);
	p->kind = (uint8_t)(1 + dice(UT_PROCESS_KINDS - 1));
	p->guessed = dice(2) && p->kind == UT_PROCESS_DEVICE; /* others may be guessed again */
	p->device_type = (uint8_t)dice(UT_DEVICE_TYPES);
	p->api = (struct ut_api_id){ .api = (uint8_t)dice(UT_APIS), .text = any_string(t) };
	p->model = any_string(t);
	p->device = (int32_t)dice(9) - 1;
	p->sub_device = (int32_t)dice(3) - 1;
	p->title = dice(2) ? any_string(t) : 0;
}

static void any_track(struct ut_trace *t)
{
	uint32_t process = (uint32_t)dice(t->process_count);
	uint32_t i = ut_trace_add_track(t, process, (enum ut_track_type)dice(4));
	uint32_t args = any_list(t);

	t->tracks[i].name = any_string(t);
	t->tracks[i].unit = any_string(t);
	t->tracks[i].id_text = dice(2) ? any_string(t) : 0;
	t->tracks[i].id = dice(UINT64_MAX);
	t->tracks[i].sort_index = (int32_t)dice(9) - 4;
	t->tracks[i].args = args;
	t->tracks[i].role = (uint8_t)(1 + dice(UT_ROLES - 1));
	t->tracks[i].guessed = (uint8_t)dice(2);
	t->tracks[i].api =
		(struct ut_api_id){ .api = (uint8_t)dice(UT_APIS), .text = any_string(t) };
	t->tracks[i].thread = (uint32_t)dice(UINT32_MAX);
}

static void make_trace(struct ut_trace *t)
{
	t->global_args = any_list(t);
	t->file_args = any_list(t);
	t->realtime_offset = (int64_t)seed;
	t->boottime_offset = -(int64_t)dice(1000);
	t->clock_error = dice(50);
	t->losses = (struct ut_losses){ .all = { dice(9), 2, 3, 4, 5, 6, 7, 8, dice(9) } };
	ut_trace_add_note(t, any_string(t));
	ut_classify_add_calls(t, any_string(t));
}

static void make_store(struct ut_store *s, uint64_t number, uint64_t tracks, uint64_t rows)
{
	struct ut_build b;

	seed = number;
	ut_build_init(&b);
	make_trace(&b.store.trace);
	for (uint64_t i = 0; i < tracks; i++) {
		if (i % 3 == 0)
			any_process(&b.store.trace);
		any_track(&b.store.trace);
	}
	for (uint64_t i = 0; i < rows; i++) {
		if (i % 5 == 4)
			add_work(&b, (uint32_t)dice(tracks), dice(1 + rows * 100));
		else
			add_row(&b, (uint32_t)dice(tracks), dice(1 + rows * 100));
	}
	ut_build_finish(&b, s);
}

/* ---- equality ------------------------------------------------------------------------------ */

static void same_strings(const struct ut_strtab *a, const struct ut_strtab *b)
{
	assert_int_equal(a->count, b->count);
	for (uint32_t id = 0; id <= a->count; id++) {
		struct ut_str x = ut_strtab_get(a, id), y = ut_strtab_get(b, id);

		assert_int_equal(x.len, y.len);
		assert_memory_equal(x.ptr, y.ptr, x.len + 1);
	}
}

static void same_trace(const struct ut_trace *a, const struct ut_trace *b)
{
	same_strings(&a->strings, &b->strings);
	assert_int_equal(a->process_count, b->process_count);
	assert_int_equal(a->track_count, b->track_count);
	assert_int_equal(a->arg_count, b->arg_count);
	assert_int_equal(a->note_count, b->note_count);
	if (a->process_count)
		assert_memory_equal(a->processes, b->processes,
				    a->process_count * sizeof(*a->processes));
	if (a->track_count)
		assert_memory_equal(a->tracks, b->tracks, a->track_count * sizeof(*a->tracks));
	assert_memory_equal(a->args, b->args, a->arg_count * sizeof(*a->args));
	if (a->note_count)
		assert_memory_equal(a->notes, b->notes, a->note_count * sizeof(*a->notes));
	assert_int_equal(a->call_count, b->call_count);
	if (a->call_count)
		assert_memory_equal(a->calls, b->calls, a->call_count * sizeof(*a->calls));
	assert_memory_equal(&a->losses, &b->losses, sizeof(a->losses));
	assert_int_equal(a->global_args, b->global_args);
	assert_int_equal(a->file_args, b->file_args);
	assert_int_equal(a->realtime_offset, b->realtime_offset);
	assert_int_equal(a->boottime_offset, b->boottime_offset);
	assert_int_equal(a->clock_error, b->clock_error);
	assert_int_equal(a->first, b->first);
	assert_int_equal(a->last, b->last);
}

static void same_args(const struct ut_arglists *a, const struct ut_arglists *b, uint32_t list)
{
	struct ut_arg x[16], y[16];
	size_t n = ut_arglists_get(a, list, x, 16);

	assert_int_equal(ut_arglists_get(b, list, y, 16), n);
	assert_memory_equal(x, y, n * sizeof(*x));
}

static void same_block(const struct ut_store *a, const struct ut_block *x, const struct ut_store *b,
		       const struct ut_block *y)
{
	assert_int_equal(x->count, y->count);
	assert_memory_equal(x->ts, y->ts, x->count * sizeof(*x->ts));
	assert_memory_equal(x->val, y->val, x->count * sizeof(*x->val));
	assert_memory_equal(x->args, y->args, x->count * sizeof(*x->args));
	for (uint32_t i = 0; i < x->count; i++) {
		const struct ut_type *p = ut_store_type(a, x->type[i]);
		const struct ut_type *q = ut_store_type(b, y->type[i]);

		assert_memory_equal(p, q, sizeof(*p));
		same_args(&a->args, &b->args, x->args[i]);
	}
}

static void same_lanes(const struct ut_store *a, const struct ut_store *b, uint32_t track)
{
	const struct ut_lanes *x = ut_pyramid_lanes(a, track), *y = ut_pyramid_lanes(b, track);

	assert_int_equal(x->count, y->count);
	for (uint32_t i = 0; i < x->count; i++) {
		const struct ut_lane *p = &x->lanes[i], *q = &y->lanes[i];
		uint64_t nodes = ut_lane_nodes(p->count);

		assert_int_equal(p->count, q->count);
		assert_int_equal(p->kind, q->kind);
		assert_memory_equal(p->nodes, q->nodes, nodes * sizeof(*p->nodes));
		assert_int_equal(p->rows != NULL, q->rows != NULL);
		assert_int_equal(p->ends != NULL, q->ends != NULL);
		if (p->rows)
			assert_memory_equal(p->rows, q->rows, p->count * sizeof(*p->rows));
		if (p->ends)
			assert_memory_equal(p->ends, q->ends, p->count * sizeof(*p->ends));
	}
}

static void same_devices(const struct ut_store *a, const struct ut_store *b)
{
	const struct ut_device_records *x = ut_store_devices(a), *y = ut_store_devices(b);

	assert_int_equal(x->count, y->count);
#define SAME_COLUMN(type, column, text)                                                            \
	if (x->count)                                                                              \
		assert_memory_equal(x->column, y->column, x->count * sizeof(type));
	UT_DEVICE_COLUMN_LIST(SAME_COLUMN)
#undef SAME_COLUMN
	assert_int_equal(x->launch_count, y->launch_count);
	assert_memory_equal(x->launches, y->launches, x->launch_count * sizeof(*x->launches));
}

static void same_store(const struct ut_store *a, const struct ut_store *b)
{
	same_devices(a, b);
	same_trace(&a->trace, &b->trace);
	assert_int_equal(a->row_count, b->row_count);
	assert_int_equal(!a->pyramid, !b->pyramid);
	for (uint32_t track = 0; track < a->trace.track_count; track++) {
		const struct ut_rows *x = &a->rows[track], *y = &b->rows[track];

		assert_int_equal(x->count, y->count);
		assert_int_equal(x->first, y->first);
		assert_int_equal(x->last, y->last);
		for (size_t i = 0; i < ut_rows_blocks(x); i++)
			same_block(a, &x->blocks[i], b, &y->blocks[i]);
		same_lanes(a, b, track);
	}
}

/* ---- files --------------------------------------------------------------------------------- */

struct bytes {
	char *data;
	size_t size;
};

static struct bytes written(const struct ut_store *s)
{
	struct ut_out *out = ut_out_open_memory();
	struct bytes b;
	const char *data;

	ut_utr_write(s, out);
	data = ut_out_data(out, &b.size);
	b.data = malloc(b.size);
	memcpy(b.data, data, b.size);
	ut_out_abandon(out);
	return b;
}

/* The path of a file that holds these bytes; one at a time. */
static const char *file_with(const void *data, size_t size)
{
	static char path[64];
	static int file = -1;

	if (file < 0) {
		file = memfd_create("utr", MFD_CLOEXEC);
		snprintf(path, sizeof(path), "/proc/self/fd/%d", file);
	}
	assert_int_equal(ftruncate(file, 0), 0);
	assert_int_equal(pwrite(file, data, size, 0), size);
	return path;
}

static void open_good(struct ut_store *s, struct bytes b)
{
	struct ut_err err = { 0 };

	if (ut_import(file_with(b.data, b.size), NULL, s, &err))
		fail_msg("%s", err.text);
}

/* Rows as a page holds them (model/utr_planes.h), and back; whatever else is no image stays as it
 * is. */
static void rows_are_split_and_joined(void **state)
{
	(void)state;
	for (uint64_t number = 0; number < 30; number++) {
		struct ut_err err = { 0 };
		struct ut_store s, back;
		struct bytes b;
		char *copy;
		void *map;

		make_store(&s, number, 1 + number % 5, number % 10 ? number * 7 : 40000);
		b = written(&s);
		map = mmap(NULL, b.size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
			   0);
		assert_true(map != MAP_FAILED);
		memcpy(map, b.data, b.size);
		assert_true(ut_utr_split_rows(map, b.size));
		if (number)
			assert_memory_not_equal(map, b.data, b.size);
		assert_true(ut_utr_join_rows(map, b.size));
		assert_memory_equal(map, b.data, b.size);
		assert_int_equal(ut_utr_open_memory("page", map, b.size, &back, &err), 0);
		same_store(&s, &back);
		copy = malloc(b.size);
		for (size_t size = 0; size < b.size; size += 1 + b.size / 50) {
			memcpy(copy, b.data, size);
			if (size && ut_utr_split_rows(copy, size))
				assert_true(ut_utr_join_rows(copy, size));
			assert_memory_equal(copy, b.data, size);
		}
		free(copy);
		free(b.data);
		ut_store_release(&s);
		ut_store_release(&back);
	}
}

/* It must not open, and the line must say this. */
static void expect_refused(const void *data, size_t size, const char *text)
{
	struct ut_err err = { 0 };
	struct ut_store s;

	assert_int_equal(ut_import(file_with(data, size), NULL, &s, &err), -EPROTO);
	if (!strstr(err.text, text) || strchr(err.text, '\n'))
		fail_msg("'%s' does not say '%s'", err.text, text);
	assert_null(s.map);
}

/* Opens a file and compares all checksums, whatever its size. */
static int verify(const char *path, struct ut_err *err)
{
	const struct ut_import_opts opts = { .checked = true };
	struct ut_store s;
	int rc = ut_import(path, &opts, &s, err);

	ut_store_release(&s);
	return rc;
}

static struct ut_utr_header *header_of(struct bytes b)
{
	return (struct ut_utr_header *)(void *)b.data;
}

static struct ut_utr_section *toc_of(struct bytes b)
{
	return (struct ut_utr_section *)(void *)(b.data + header_of(b)->toc_offset);
}

/* Of the sections that lie in the file. */
static void seal_sections(struct bytes b, struct ut_utr_section *toc, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		struct ut_utr_section *s = &toc[i];
		uint64_t end = ut_utr_aligned(s->offset + s->size);

		if (s->offset <= b.size && s->size <= b.size && end <= b.size && end >= s->offset)
			s->crc = ut_utr_crc(0, b.data + s->offset, end - s->offset);
	}
}

/* Makes all checksums right again after a change. */
static void seal(struct bytes b)
{
	struct ut_utr_header *h = header_of(b);
	struct ut_utr_end *end = (struct ut_utr_end *)(void *)(b.data + b.size - sizeof(*end));
	size_t room = b.size - sizeof(*h) - sizeof(*end), size;

	size = h->toc_count < room / sizeof(struct ut_utr_section)
		       ? h->toc_count * sizeof(struct ut_utr_section)
		       : 0;
	seal_sections(b, (void *)(b.data + b.size - sizeof(*end) - size),
		      (uint32_t)(size / sizeof(struct ut_utr_section)));
	end->crc = ut_utr_crc(0, b.data + b.size - sizeof(*end) - size, size);
	h->crc = 0;
	h->crc = ut_utr_crc(0, h, sizeof(*h));
}

/* ---- round trips --------------------------------------------------------------------------- */

static void round_trip(uint64_t number, uint64_t tracks, uint64_t rows, bool pyramid)
{
	struct ut_store a, b;
	struct ut_err err = { 0 };
	struct bytes first, second;

	make_store(&a, number, tracks, rows);
	if (pyramid)
		ut_pyramid_build(&a, 2);
	first = written(&a);
	open_good(&b, first);
	same_store(&a, &b);
	second = written(&b); /* what was opened is written as the same bytes */
	assert_int_equal(first.size, second.size);
	assert_memory_equal(first.data, second.data, first.size);
	assert_int_equal(use_store(&b), a.row_count);
	ut_store_release(&b);
	if (verify(file_with(first.data, first.size), &err))
		fail_msg("%s", err.text);
	free(first.data);
	free(second.data);
	ut_store_release(&a);
}

static void any_trace_comes_back_as_it_was(void **state)
{
	(void)state;
	for (uint64_t n = 0; n < 60; n++)
		round_trip(n, 1 + n % 7, n * n % 800, n % 3);
}

static void a_trace_with_nothing_in_it_comes_back(void **state)
{
	(void)state;
	round_trip(1, 0, 0, false);
	round_trip(1, 0, 0, true);
	round_trip(2, 5, 0, true);
}

/* Several blocks a track, several chunks of arguments, very many tracks. */
static void a_large_trace_comes_back(void **state)
{
	(void)state;
	round_trip(3, 3, 200000, true);
	round_trip(4, 3000, 6000, true);
}

static void strings_of_the_file_are_found_and_new_ones_follow(void **state)
{
	struct ut_store a, b;
	struct bytes file;
	uint32_t count;

	(void)state;
	make_store(&a, 9, 4, 500);
	file = written(&a);
	open_good(&b, file);
	count = a.trace.strings.count;
	for (uint32_t id = 1; id <= count; id++) {
		struct ut_str s = ut_strtab_get(&a.trace.strings, id);

		assert_int_equal(ut_strtab_intern(&b.trace.strings, s.ptr, s.len), id);
	}
	for (uint32_t i = 1; i <= 5000; i++) {
		char text[32];

		snprintf(text, sizeof(text), "new string %u", i);
		assert_int_equal(ut_strtab_intern_z(&b.trace.strings, text), count + i);
	}
	assert_string_equal(ut_strtab_get(&b.trace.strings, count + 7).ptr, "new string 7");
	assert_int_equal(ut_strtab_get(&b.trace.strings, 1).ptr - (const char *)b.map > 0, 1);
	same_strings(&a.trace.strings,
		     &(struct ut_strtab){ .count = count,
					  .mapped = count,
					  .starts = b.trace.strings.starts,
					  .text = b.trace.strings.text,
					  .text_size = b.trace.strings.text_size });
	ut_store_release(&a);
	ut_store_release(&b);
	free(file.data);
}

/* ---- the exporter -------------------------------------------------------------------------- */

static void several_traces_become_one_file(void **state)
{
	struct ut_out *out = ut_out_open_memory();
	const struct ut_exporter *x = ut_exporter_by_name("utr");
	struct ut_sink *sink = x->open(out);
	struct ut_store s, parts[3];
	struct bytes file;
	uint64_t rows = 0;

	(void)state;
	for (uint64_t i = 0; i < 3; i++) {
		make_store(&parts[i], 20 + i, 4, 300);
		ut_store_send(&parts[i], 0, sink);
		x->end_trace(sink, &parts[i].trace);
	}
	x->close(sink);
	file.data = (char *)(uintptr_t)ut_out_data(out, &file.size);
	open_good(&s, file);
	assert_int_equal(s.trace.track_count, 12);
	assert_int_equal(s.trace.process_count, 6);
	assert_non_null(s.pyramid);
	for (uint32_t i = 0; i < 12; i++) {
		struct ut_store *part = &parts[i / 4];
		const struct ut_track *a = &part->trace.tracks[i % 4], *b = &s.trace.tracks[i];

		assert_int_equal(s.rows[i].count, part->rows[i % 4].count);
		assert_string_equal(ut_strtab_get(&s.trace.strings, b->name).ptr,
				    ut_strtab_get(&part->trace.strings, a->name).ptr);
		assert_int_equal(b->id, a->id);
		rows += s.rows[i].count;
	}
	assert_int_equal(s.row_count, rows);
	ut_store_release(&s);
	for (int i = 0; i < 3; i++)
		ut_store_release(&parts[i]);
	ut_out_abandon(out);
}

static void names_of_files_lead_to_the_exporter(void **state)
{
	(void)state;
	assert_ptr_equal(ut_exporter_by_file("a/b.utr"), &ut_export_utr);
	assert_ptr_equal(ut_exporter_by_file("b.utr.zst"), &ut_export_utr);
}

static void a_compressed_file_is_read_into_memory(void **state)
{
	char path[] = "/tmp/test_utr_XXXXXX.utr.gz";
	struct ut_err err = { 0 };
	struct ut_store a, b;
	struct ut_out *out;
	int fd = mkstemps(path, 7);

	(void)state;
#if !UT_HAVE_ZLIB
	skip();
#endif
	close(fd);
	make_store(&a, 5, 3, 100000); /* more than one step of the buffer */
	ut_pyramid_build(&a, 1);
	out = ut_out_open(path, UT_OUT_OVERWRITE);
	ut_utr_write(&a, out);
	if (ut_out_commit(out, &err) || ut_import(path, NULL, &b, &err) || verify(path, &err))
		fail_msg("%s", err.text);
	same_store(&a, &b);
	ut_store_release(&a);
	ut_store_release(&b);
	unlink(path);
}

/* ---- damage -------------------------------------------------------------------------------- */

/* A small file with everything in it. */
static struct bytes small_file(void)
{
	struct ut_store s;
	struct bytes b;

	make_store(&s, 31, 2, 40);
	assert_true(ut_store_devices(&s)->count > 1);
	ut_pyramid_build(&s, 1);
	b = written(&s);
	ut_store_release(&s);
	return b;
}

static void use_if_it_opens(struct bytes b)
{
	struct ut_store s;

	if (!ut_import(file_with(b.data, b.size), NULL, &s, NULL)) {
		use_store(&s);
		ut_store_release(&s);
	}
}

static void damage_anywhere_is_found(void **state)
{
	struct bytes b = small_file();
	struct ut_store s;

	(void)state;
	for (size_t i = 0; i < b.size; i++) {
		char was = b.data[i];
		struct ut_err err = { 0 };

		b.data[i] = (char)(was ^ (1 << i % 8));
		assert_int_equal(verify(file_with(b.data, b.size), &err), -EPROTO);
		assert_null(strchr(err.text, '\n'));
		b.data[i] = (char)~was;
		assert_int_equal(ut_import(file_with(b.data, b.size), NULL, &s, NULL), -EPROTO);
		b.data[i] = was;
	}
	assert_int_equal(verify(file_with(b.data, b.size), NULL), 0);
	free(b.data);
}

/* Whoever damages on purpose makes the checksums right again. */
static void sealed_damage_harms_nobody(void **state)
{
	static const uint64_t values[] = { 0, 1, 0xffffffff, UINT64_MAX, (uint64_t)1 << 62, 4096 };
	struct bytes b = small_file(), copy = { malloc(b.size), b.size };

	(void)state;
	for (size_t i = 0; i + 8 <= b.size; i += 4) {
		for (size_t v = 0; v < sizeof(values) / sizeof(values[0]); v++) {
			memcpy(copy.data, b.data, b.size);
			memcpy(copy.data + i, &values[v], i % 8 ? 4 : 8);
			seal(copy);
			use_if_it_opens(copy);
		}
	}
	free(b.data);
	free(copy.data);
}

static struct ut_utr_section *section_of(struct bytes b, uint32_t id)
{
	struct ut_utr_section *s = toc_of(b);

	while (s->id != id)
		s++;
	return s;
}

/* Files of before have none: their arguments say the same. */
static void work_of_devices_is_made_of_arguments_where_a_file_has_none(void **state)
{
	struct bytes b = small_file();
	struct ut_store with, without;

	(void)state;
	open_good(&with, b);
	section_of(b, UT_UTR_DEVICE_WORK)->id = 4711;
	section_of(b, UT_UTR_LAUNCHES)->id = 4712;
	seal(b);
	open_good(&without, b);
	assert_non_null(with.saved_devices);
	assert_null(without.saved_devices);
	same_store(&with, &without);
	ut_store_release(&with);
	ut_store_release(&without);
	free(b.data);
}

static void work_of_devices_that_does_not_fit_is_refused(void **state)
{
	struct bytes b = small_file(), copy = { malloc(b.size), b.size };
	const struct ut_utr_section *s = section_of(b, UT_UTR_DEVICE_WORK);
	size_t count = (size_t)s->size / UT_DEVICE_RECORD_BYTES;
	/* where each column of numbers begins, and one that does not exist */
	const struct {
		size_t at;
		uint64_t value;
		size_t size;
	} wrong[] = {
		{ 0, UINT64_MAX, 8 },                  /* row */
		{ 6 * 8 * count, 4711, 4 },            /* track */
		{ (6 * 8 + 3 * 4) * count, 4711, 4 },  /* launch */
		{ (6 * 8 + 4 * 4) * count, 200, 1 },   /* kind */
		{ (6 * 8 + 4 * 4) * count + 1, 5, 1 }, /* kind of the second */
	};

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		memcpy(copy.data, b.data, b.size);
		memcpy(copy.data + s->offset + wrong[i].at, &wrong[i].value, wrong[i].size);
		seal(copy);
		expect_refused(copy.data, copy.size, "work of a device that fits no row");
	}
	memcpy(copy.data, b.data, b.size);
	section_of(copy, UT_UTR_LAUNCHES)->id = 4712;
	seal(copy);
	expect_refused(copy.data, copy.size, "no section 'launches of kernels'");
	memcpy(copy.data, b.data, b.size);
	section_of(copy, UT_UTR_DEVICE_WORK)->size--;
	seal(copy);
	expect_refused(copy.data, copy.size, "half an item");
	free(b.data);
	free(copy.data);
}

static void a_file_that_was_cut_short_is_refused(void **state)
{
	struct bytes b = small_file();

	(void)state;
	expect_refused(b.data, 4, "offset 4: the file ends inside the header");
	expect_refused(b.data, 63, "offset 63: the file ends inside the header");
	for (size_t size = 64; size < b.size; size++)
		expect_refused(b.data, size, "cut short");
	b.data = realloc(b.data, b.size + 1);
	expect_refused(b.data, b.size + 1, "appended");
	free(b.data);
}

static void the_line_names_the_damaged_section(void **state)
{
	struct bytes b = small_file();
	const struct ut_utr_section *toc = toc_of(b);
	struct ut_err err = { 0 };
	char expected[64];

	(void)state;
	for (uint32_t i = 0; toc[i].id != UT_UTR_ROWS; i++)
		snprintf(expected, sizeof(expected), "offset %llu: the checksum of section 'rows'",
			 (unsigned long long)toc[i + 1].offset);
	for (uint32_t i = 0;; i++) {
		if (toc[i].id == UT_UTR_ROWS) {
			b.data[toc[i].offset + 100]++;
			break;
		}
	}
	assert_int_equal(verify(file_with(b.data, b.size), &err), -EPROTO);
	if (!strstr(err.text, expected))
		fail_msg("'%s' does not say '%s'", err.text, expected);
	free(b.data);
}

/* ---- versions ------------------------------------------------------------------------------ */

static void a_newer_major_version_is_refused_in_one_line(void **state)
{
	struct bytes b = small_file();

	(void)state;
	header_of(b)->major = 3;
	header_of(b)->minor = 3;
	expect_refused(b.data, b.size, "3.3 is newer than 2.2; read it with a newer unitrace");
	free(b.data);
}

/* As a later version would write it: one more section, at the end. */
static struct bytes with_section(struct bytes b, uint32_t id, uint32_t flags)
{
	struct bytes more = { calloc(1, b.size + 128), b.size + 64 + 32 };
	struct ut_utr_header *h = header_of(more);
	uint64_t toc = header_of(b)->toc_offset;
	struct ut_utr_section added = { .id = id, .flags = flags, .offset = toc, .size = 5 };

	memcpy(more.data, b.data, toc);
	memcpy(more.data + toc, "hello", 5);
	added.crc = ut_utr_crc(0, more.data + toc, 64);
	memcpy(more.data + toc + 64, b.data + toc, b.size - toc - 8);
	memcpy(more.data + more.size - 8 - 32, &added, sizeof(added));
	memcpy(more.data + more.size - 8, b.data + b.size - 8, 8);
	h->minor = 1;
	h->toc_offset = toc + 64;
	h->toc_count++;
	h->file_size = more.size;
	seal(more);
	return more;
}

static void a_newer_minor_version_with_a_new_section_opens(void **state)
{
	struct bytes b = small_file(), more = with_section(b, 4711, 0);
	struct ut_err err = { 0 };
	struct ut_store old, new;

	(void)state;
	open_good(&new, more);
	if (verify(file_with(more.data, more.size), &err))
		fail_msg("%s", err.text);
	open_good(&old, b);
	same_store(&old, &new);
	ut_store_release(&old);
	ut_store_release(&new);
	free(more.data);
	free(b.data);
}

static void a_new_section_that_is_needed_is_not_skipped(void **state)
{
	struct bytes b = small_file(), more = with_section(b, 4711, UT_UTR_NEEDED);

	(void)state;
	expect_refused(more.data, more.size, "a section of a newer unitrace is needed");
	free(more.data);
	more = with_section(b, UT_UTR_ROWS, 0);
	expect_refused(more.data, more.size, "there twice");
	free(more.data);
	free(b.data);
}

static void other_byte_orders_and_text_transfers_are_reported(void **state)
{
	struct bytes b = small_file();

	(void)state;
	header_of(b)->order = __builtin_bswap32(UT_UTR_ORDER);
	expect_refused(b.data, b.size, "another byte order");
	header_of(b)->order = 7;
	expect_refused(b.data, b.size, "byte order mark is damaged");
	b.data[4] = '\n';
	expect_refused(b.data, b.size, "text mode");
	free(b.data);
}

/* Small files for tests/fuzz/corpus/utr, when the layout has changed. */
static int write_seeds(const char *dir)
{
	static const struct {
		const char *name;
		uint64_t tracks, rows;
	} seeds[] = {
		{ "empty", 0, 0 },  { "tracks", 4, 0 },     { "rows", 2, 12 },
		{ "lanes", 2, 40 }, { "one_track", 1, 25 },
	};

	for (size_t i = 0; i < sizeof(seeds) / sizeof(seeds[0]); i++) {
		struct ut_store s;
		struct ut_out *out;
		char path[4096];

		snprintf(path, sizeof(path), "%s/%s", dir, seeds[i].name);
		make_store(&s, i + 1, seeds[i].tracks, seeds[i].rows);
		if (seeds[i].rows != 12)
			ut_pyramid_build(&s, 1);
		out = ut_out_open(path, UT_OUT_OVERWRITE);
		ut_utr_write(&s, out);
		ut_store_release(&s);
		if (ut_out_commit(out, NULL))
			return 1;
	}
	return 0;
}

UT_TESTS(utr)
{
	const char *seeds = getenv("UTR_SEEDS");
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_are_split_and_joined),
		cmocka_unit_test(any_trace_comes_back_as_it_was),
		cmocka_unit_test(a_trace_with_nothing_in_it_comes_back),
		cmocka_unit_test(a_large_trace_comes_back),
		cmocka_unit_test(strings_of_the_file_are_found_and_new_ones_follow),
		cmocka_unit_test(several_traces_become_one_file),
		cmocka_unit_test(names_of_files_lead_to_the_exporter),
		cmocka_unit_test(a_compressed_file_is_read_into_memory),
		cmocka_unit_test(damage_anywhere_is_found),
		cmocka_unit_test(sealed_damage_harms_nobody),
		cmocka_unit_test(work_of_devices_is_made_of_arguments_where_a_file_has_none),
		cmocka_unit_test(work_of_devices_that_does_not_fit_is_refused),
		cmocka_unit_test(a_file_that_was_cut_short_is_refused),
		cmocka_unit_test(the_line_names_the_damaged_section),
		cmocka_unit_test(a_newer_major_version_is_refused_in_one_line),
		cmocka_unit_test(a_newer_minor_version_with_a_new_section_opens),
		cmocka_unit_test(a_new_section_that_is_needed_is_not_skipped),
		cmocka_unit_test(other_byte_orders_and_text_transfers_are_reported),
	};

	if (seeds)
		return write_seeds(seeds);
	return cmocka_run_group_tests_name("import/utr", tests, NULL, NULL);
}
