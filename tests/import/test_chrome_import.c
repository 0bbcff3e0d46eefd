/*
 * test_chrome_import.c - tests the Chrome importer (src/trace/import/chrome*.c): what each shape of
 * the format becomes, shown as what our exporter writes of it, and what is repaired or refused.
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

#include "base/str.h"
#include "export/exporter.h"
#include "import/importer.h"
#include "model/nesting.h"
#include "support/unit.h"
#include "text/out.h"

/* ---- support ------------------------------------------------------------------------------- */

struct loaded {
	struct ut_store store;
	struct ut_err err;
	struct ut_buf warnings; /* one per line */
	int rc;
	char *text; /* as our exporter writes it */
};

static void collect(void *ctx, const char *path, const char *text)
{
	struct loaded *l = ctx;

	(void)path;
	ut_buf_text(&l->warnings, text);
	ut_buf_char(&l->warnings, '\n');
}

static char *export_text(struct ut_store *store)
{
	struct ut_out *out = ut_out_open_memory();
	struct ut_sink *sink = ut_export_chrome.open(out);
	const char *data;
	char *text;
	size_t len;

	ut_store_send(store, 0, sink);
	ut_export_chrome.end_trace(sink, &store->trace);
	ut_export_chrome.close(sink);
	data = ut_out_data(out, &len);
	text = strndup(data, len);
	ut_out_abandon(out);
	return text;
}

static void load_bytes(struct loaded *l, const char *data, size_t len)
{
	const struct ut_import_opts opts = { .warn = collect, .ctx = l };
	int fd = memfd_create("trace", MFD_CLOEXEC);
	char path[64];

	*l = (struct loaded){ 0 };
	ut_buf_text(&l->warnings, "");
	assert_true(fd >= 0);
	assert_int_equal(write(fd, data, len), len);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	l->rc = ut_import(path, &opts, &l->store, &l->err);
	if (!l->rc)
		l->text = export_text(&l->store);
	close(fd);
}

static void load(struct loaded *l, const char *text)
{
	load_bytes(l, text, strlen(text));
	if (l->rc)
		fail_msg("%s", l->err.text);
}

static void unload(struct loaded *l)
{
	if (!l->rc)
		ut_store_release(&l->store);
	ut_buf_release(&l->warnings);
	free(l->text);
}

/* The events of an exported file, without metadata, one per line. */
static void events_of(const char *text, struct ut_buf *b)
{
	const char *end = strstr(text, "\n],"), *line = strchr(text, '\n');

	ut_buf_text(b, "");
	for (; line && line < end; line = strchr(line + 1, '\n')) {
		size_t len = strcspn(line + 1, "\n");

		if (!strncmp(line + 1, "{\"ph\":\"M\"", 9))
			continue;
		len -= line[len] == ',';
		ut_buf_add(b, line + 1, len);
		ut_buf_char(b, '\n');
	}
}

/* in, as a list, becomes out: events, each with a newline. */
static void expect_events(const char *in, const char *out)
{
	struct ut_buf list = { 0 }, got = { 0 };
	struct loaded l;

	ut_buf_fmt(&list, "[%s]", in);
	load(&l, list.data);
	events_of(l.text, &got);
	assert_string_equal(got.data, out);
	assert_string_equal(l.warnings.data, "");
	ut_buf_release(&list);
	ut_buf_release(&got);
	unload(&l);
}

static struct ut_str string(const struct loaded *l, uint32_t id)
{
	return ut_strtab_get(&l->store.trace.strings, id);
}

/* The value of a member of the file, "" if it has none. */
static const char *file_arg(const struct loaded *l, const char *key)
{
	const struct ut_trace *t = &l->store.trace;

	for (const struct ut_arg *a = &t->args[t->file_args]; a->type != UT_ARG_END; a++) {
		if (!strcmp(string(l, a->key).ptr, key))
			return string(l, a->value.str).ptr;
	}
	return "";
}

#define AT "\"pid\":1,\"tid\":2,\"ts\":"
#define X  "{\"ph\":\"X\",\"name\":\"a\"," AT "1,\"dur\":2}"
#define Y  "{\"ph\":\"X\",\"name\":\"b\"," AT "4,\"dur\":1}"
#define XY                                                                                         \
	"{\"ph\":\"X\",\"pid\":1,\"tid\":2,\"ts\":1.000,\"dur\":2.000,\"name\":\"a\"}\n"           \
	"{\"ph\":\"X\",\"pid\":1,\"tid\":2,\"ts\":4.000,\"dur\":1.000,\"name\":\"b\"}\n"

/* ---- shapes -------------------------------------------------------------------------------- */

static void every_shape_of_a_file_is_the_same_trace(void **state)
{
	static const char *const shapes[] = {
		"[" X "," Y "]",
		"[\n" X ",\n" Y "\n]\n",
		"{\"traceEvents\":[" X "," Y "]}",
		" { \"a\" : [ {\"b\":1} ] , \"traceEvents\" : [ " X " , " Y " ] , \"c\" : null } ",
		"{\"displayTimeUnit\":\"ns\",\"otherData\":{},\"traceEvents\":[" X "," Y "]}",
		X "\n" Y "\n",
		X Y,
		"[" X "," Y ",{}]",
		"[" X "][" Y "]",
		"{\"traceEvents\":[" X "]}\n{\"traceEvents\":[" Y "]}",
		"[" Y "," X "]",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(shapes) / sizeof(*shapes); i++) {
		struct ut_buf got = { 0 };
		struct loaded l;

		load(&l, shapes[i]);
		events_of(l.text, &got);
		assert_string_equal(got.data, XY);
		assert_string_equal(l.warnings.data, "");
		ut_buf_release(&got);
		unload(&l);
	}
}

static void a_trace_without_events_is_one(void **state)
{
	struct loaded l;

	(void)state;
	load(&l, "[]");
	assert_int_equal(l.store.row_count, 0);
	unload(&l);
	load(&l, "{\"traceEvents\":[]}");
	assert_int_equal(l.store.row_count, 0);
	unload(&l);
}

static void members_of_the_file_are_kept(void **state)
{
	struct loaded l;

	(void)state;
	load(&l, "{\"displayTimeUnit\":\"ms\",\"a\": [1, {\"b\": \"\\u00e9\"}],\"traceEvents\":[" X
		 "],\"otherData\":{\"x\": 1}}");
	assert_string_equal(file_arg(&l, "displayTimeUnit"), "\"ms\"");
	assert_string_equal(file_arg(&l, "a"), "[1,{\"b\":\"\xc3\xa9\"}]");
	assert_string_equal(file_arg(&l, "otherData"), "{\"x\":1}");
	assert_non_null(strstr(l.text,
			       "],\"displayTimeUnit\":\"ms\",\"a\":[1,{\"b\":\"\xc3\xa9\"}],"
			       "\"otherData\":{\"tool\":\"unitrace\""));
	assert_non_null(
		strstr(l.text, ",\"dialect\":\"chrome\",\"input\":{\"x\":1},\"processes\""));
	unload(&l);
}

/* ---- events -------------------------------------------------------------------------------- */

static void spans_are_joined_from_begin_and_end(void **state)
{
	(void)state;
	expect_events("{\"ph\":\"B\",\"name\":\"o\",\"cat\":\"c\"," AT "1,\"args\":{\"a\":1}},"
		      "{\"ph\":\"B\",\"name\":\"i\"," AT "2},{\"ph\":\"E\"," AT "3},"
		      "{\"ph\":\"E\"," AT "5,\"args\":{\"b\":2}}",
		      "{\"ph\":\"X\",\"pid\":1,\"tid\":2,\"ts\":1.000,\"dur\":4.000,\"name\":\"o\","
		      "\"cat\":\"c\",\"args\":{\"a\":1,\"b\":2}}\n"
		      "{\"ph\":\"X\",\"pid\":1,\"tid\":2,\"ts\":2.000,\"dur\":1.000,"
		      "\"name\":\"i\"}\n");
}

static void instants_keep_their_scope(void **state)
{
	(void)state;
	expect_events("{\"ph\":\"i\",\"name\":\"a\",\"s\":\"g\"," AT "1},"
		      "{\"ph\":\"I\",\"name\":\"b\",\"s\":\"p\"," AT "2},"
		      "{\"ph\":\"R\",\"name\":\"c\"," AT "3},"
		      "{\"ph\":\"P\",\"name\":\"d\"," AT "4,\"sf\":\"7\"}",
		      "{\"ph\":\"i\",\"pid\":1,\"tid\":2,\"ts\":1.000,\"name\":\"a\",\"s\":\"g\"}\n"
		      "{\"ph\":\"i\",\"pid\":1,\"tid\":2,\"ts\":2.000,\"name\":\"b\",\"s\":\"p\"}\n"
		      "{\"ph\":\"i\",\"pid\":1,\"tid\":2,\"ts\":3.000,\"name\":\"c\",\"s\":\"t\"}\n"
		      "{\"ph\":\"i\",\"pid\":1,\"tid\":2,\"ts\":4.000,\"name\":\"d\",\"s\":\"t\","
		      "\"args\":{\"sf\":\"7\",\"ph\":\"P\"}}\n");
}

/* They are stored as numbers, which must not show. */
static void texts_that_are_numbers_stay_texts(void **state)
{
	static const char args[] = "{\"a\":\"0\",\"b\":\"4711\",\"c\":\"007\",\"d\":\"0x1f\","
				   "\"e\":\"0x0\",\"f\":\"0x01\",\"g\":\"0X1\",\"h\":\"12 \","
				   "\"i\":\"9999999999999999999\",\"j\":\"18446744073709551616\","
				   "\"k\":\"0xffffffffffffffff\",\"l\":\"0x1ffffffffffffffff\","
				   "\"m\":[\"1\",2,\"0x3\"],\"n\":\"\",\"o\":\"1.5\",\"p\":5}";
	struct ut_buf in = { 0 }, out = { 0 };

	(void)state;
	ut_buf_fmt(&in, "{\"ph\":\"X\",\"name\":\"a\"," AT "1,\"dur\":2,\"args\":%s}", args);
	ut_buf_fmt(&out,
		   "{\"ph\":\"X\",\"pid\":1,\"tid\":2,\"ts\":1.000,\"dur\":2.000,"
		   "\"name\":\"a\",\"args\":%s}\n",
		   args);
	expect_events(in.data, out.data);
	ut_buf_release(&in);
	ut_buf_release(&out);
}

static void names_may_be_numbers_in_quotes(void **state)
{
	struct loaded l;

	(void)state;
	load(&l, "[{\"ph\":\"M\",\"name\":\"process_name\"," AT "0,\"args\":{\"name\":\"4711\"}},"
		 "{\"ph\":\"M\",\"name\":\"thread_name\"," AT "0,\"args\":{\"name\":\"0x1f\"}}]");
	assert_string_equal(string(&l, l.store.trace.processes[0].name).ptr, "4711");
	assert_string_equal(string(&l, l.store.trace.tracks[0].name).ptr, "0x1f");
	unload(&l);
}

static void each_number_of_a_counter_is_a_track(void **state)
{
	struct loaded l;

	(void)state;
	expect_events("{\"ph\":\"C\",\"name\":\"c\"," AT "1,\"args\":{\"a\":1,\"b\":-2,\"c\":1.5}},"
		      "{\"ph\":\"C\",\"name\":\"c\",\"id\":\"x\"," AT "2,\"args\":{\"a\":\"7\"}},"
		      "{\"ph\":\"C\",\"name\":\"c\"," AT
		      "3,\"args\":{\"value\":\"NaN\",\"u\":\"W\"}}",
		      "{\"ph\":\"C\",\"pid\":1,\"tid\":1,\"ts\":1.000,\"name\":\"c\","
		      "\"args\":{\"a\":1}}\n"
		      "{\"ph\":\"C\",\"pid\":1,\"tid\":1,\"ts\":1.000,\"name\":\"c\","
		      "\"args\":{\"b\":-2}}\n"
		      "{\"ph\":\"C\",\"pid\":1,\"tid\":1,\"ts\":1.000,\"name\":\"c\","
		      "\"args\":{\"c\":1.5}}\n"
		      "{\"ph\":\"C\",\"pid\":1,\"tid\":1,\"ts\":2.000,\"name\":\"c\",\"id\":\"x\","
		      "\"args\":{\"a\":7}}\n"
		      "{\"ph\":\"C\",\"pid\":1,\"tid\":1,\"ts\":3.000,\"name\":\"c\","
		      "\"args\":{\"value\":\"NaN\",\"u\":\"W\"}}\n");
	load(&l, "[{\"ph\":\"C\",\"name\":\"c\"," AT "1,\"args\":{\"a\":1,\"value\":2}}]");
	assert_int_equal(l.store.trace.track_count, 2);
	assert_int_equal(l.store.trace.tracks[0].type, UT_TRACK_COUNTER);
	assert_string_equal(string(&l, l.store.trace.tracks[0].unit).ptr, "a");
	assert_int_equal(l.store.trace.tracks[1].unit, 0);
	unload(&l);
}

#define FLOW(ph, id) "{\"ph\":\"" ph "\",\"name\":\"f\",\"cat\":\"c\",\"id\":" id "," AT "1}"
#define FLOW_OUT(ph, id)                                                                           \
	"{\"ph\":\"" ph "\",\"pid\":1,\"tid\":2,\"ts\":1.000,\"name\":\"f\",\"cat\":\"c\",\"id\":" \
	"\"" id "\"}\n"

static void flows_keep_their_ids(void **state)
{
	(void)state;
	expect_events(FLOW("s", "5") "," FLOW("t", "\"0x5\"") "," FLOW("f", "\"5\""),
		      FLOW_OUT("s", "0x5") FLOW_OUT("t", "0x5") FLOW_OUT("f", "0x5"));
	expect_events(FLOW("s", "\"a b\""), FLOW_OUT("s", "a b"));
	expect_events("{\"ph\":\"f\",\"bp\":\"e\",\"name\":\"f\",\"cat\":\"c\",\"id\":1," AT "1}",
		      "{\"ph\":\"f\",\"pid\":1,\"tid\":2,\"ts\":1.000,\"name\":\"f\",\"cat\":\"c\","
		      "\"id\":\"0x1\",\"bp\":\"e\"}\n");
}

/* The values of all rows, by track, in order. */
static void values_of(const struct loaded *l, uint64_t *values)
{
	size_t n = 0;

	for (size_t t = 0; t < l->store.trace.track_count; t++) {
		for (uint64_t i = 0; i < l->store.rows[t].count; i++)
			values[n++] = l->store.rows[t].blocks[0].val[i];
	}
}

static void the_same_id_in_two_categories_is_two_things(void **state)
{
	uint64_t v[8];
	struct loaded l;

	(void)state;
	load(&l, "[{\"ph\":\"s\",\"cat\":\"b\",\"id\":5," AT "1},"
		 "{\"ph\":\"s\",\"cat\":\"a\",\"id\":5," AT "2},"
		 "{\"ph\":\"f\",\"cat\":\"a\",\"id\":5," AT "3},"
		 "{\"ph\":\"s\",\"cat\":\"a\",\"id\":\"x\"," AT "4},"
		 "{\"ph\":\"s\",\"cat\":\"b\",\"id\":\"x\"," AT "5}]");
	values_of(&l, v);
	assert_int_equal(v[1], 5); /* "a" comes first, wherever it stands */
	assert_int_equal(v[2], 5);
	assert_true(v[0] != 5 && v[0] >> 48);
	assert_true(v[3] >> 63 && v[4] >> 63 && v[3] != v[4]);
	unload(&l);
}

static void a_bound_slice_is_the_end_of_a_flow(void **state)
{
	(void)state;
	expect_events("{\"ph\":\"X\",\"name\":\"a\",\"cat\":\"p\",\"dur\":1,\"bind_id\":\"0x9\","
		      "\"flow_out\":true," AT "1},"
		      "{\"ph\":\"X\",\"name\":\"b\",\"cat\":\"q\",\"dur\":1,\"bind_id\":9,"
		      "\"flow_in\":true," AT "4}",
		      "{\"ph\":\"X\",\"pid\":1,\"tid\":2,\"ts\":1.000,\"dur\":1.000,\"name\":\"a\","
		      "\"cat\":\"p\"}\n"
		      "{\"ph\":\"s\",\"pid\":1,\"tid\":2,\"ts\":1.000,\"name\":\"\","
		      "\"cat\":\"bind_id\",\"id\":\"0x9\"}\n"
		      "{\"ph\":\"X\",\"pid\":1,\"tid\":2,\"ts\":4.000,\"dur\":1.000,\"name\":\"b\","
		      "\"cat\":\"q\"}\n"
		      "{\"ph\":\"f\",\"pid\":1,\"tid\":2,\"ts\":4.000,\"name\":\"\","
		      "\"cat\":\"bind_id\",\"id\":\"0x9\",\"bp\":\"e\"}\n");
}

static void async_pairs_meet_on_one_track(void **state)
{
	struct ut_async_end ends[4];
	struct loaded l;

	(void)state;
	load(&l,
	     "[{\"ph\":\"b\",\"cat\":\"c\",\"id\":\"0x7\",\"name\":\"n\",\"pid\":1,\"tid\":2,"
	     "\"ts\":1},{\"ph\":\"n\",\"cat\":\"c\",\"id\":7,\"name\":\"n\",\"pid\":1,\"tid\":3,"
	     "\"ts\":2},{\"ph\":\"e\",\"cat\":\"c\",\"id\":7,\"name\":\"n\",\"pid\":1,"
	     "\"tid\":\"x\",\"ts\":3}]");
	assert_int_equal(l.store.trace.track_count, 1);
	assert_int_equal(l.store.trace.tracks[0].type, UT_TRACK_ASYNC);
	ut_nesting_of_track(&l.store, 0, ends);
	assert_int_equal(ends[0].ts, 3000);
	assert_non_null(strstr(l.text,
			       "{\"ph\":\"b\",\"pid\":1,\"tid\":2,\"ts\":1.000,\"name\":\"n\","
			       "\"cat\":\"c\",\"id\":\"0x7\"}"));
	assert_non_null(strstr(l.text, "{\"ph\":\"e\",\"pid\":1,\"tid\":\"x\",\"ts\":3.000,"));
	unload(&l);
}

static void scoped_and_local_ids_are_parted_and_written_back(void **state)
{
	uint64_t v[8];
	struct loaded l;

	(void)state;
	load(&l,
	     "[{\"ph\":\"b\",\"cat\":\"c\",\"id2\":{\"local\":\"0x1\"},\"name\":\"n\",\"pid\":1,"
	     "\"tid\":1,\"ts\":1},"
	     "{\"ph\":\"b\",\"cat\":\"c\",\"id\":1,\"scope\":\"s\",\"name\":\"n\",\"pid\":1,"
	     "\"tid\":1,\"ts\":2},"
	     "{\"ph\":\"b\",\"cat\":\"c\",\"id2\":{\"global\":1},\"name\":\"n\",\"pid\":1,"
	     "\"tid\":1,\"ts\":3},"
	     "{\"ph\":\"e\",\"cat\":\"c\",\"id2\":{\"local\":\"0x1\"},\"name\":\"n\",\"pid\":1,"
	     "\"tid\":1,\"ts\":4},"
	     "{\"ph\":\"b\",\"cat\":\"c\",\"id2\":{\"local\":\"0x1\"},\"name\":\"n\",\"pid\":2,"
	     "\"tid\":2,\"ts\":5}]");
	values_of(&l, v);
	assert_true(v[0] == v[3] && v[0] != v[4] && v[0] != v[1] && v[1] != v[2]);
	assert_int_equal(v[2], 1);
	assert_non_null(strstr(l.text, "\"cat\":\"c\",\"id2\":{\"local\":\"0x1\"}}"));
	assert_non_null(strstr(l.text, "\"cat\":\"c\",\"id\":\"1\",\"scope\":\"s\"}"));
	unload(&l);
}

static void objects_and_their_states_are_kept(void **state)
{
	(void)state;
	expect_events(
		"{\"ph\":\"N\",\"name\":\"o\",\"id\":\"0x1\"," AT "1},"
		"{\"ph\":\"O\",\"name\":\"o\",\"id\":\"0x1\"," AT
		"2,\"args\":{\"snapshot\":{\"a\": [1]}}},"
		"{\"ph\":\"D\",\"name\":\"o\",\"id\":\"0x1\"," AT "3}",
		"{\"ph\":\"N\",\"pid\":1,\"tid\":2,\"ts\":1.000,\"name\":\"o\",\"id\":\"0x1\"}\n"
		"{\"ph\":\"O\",\"pid\":1,\"tid\":2,\"ts\":2.000,\"name\":\"o\",\"id\":\"0x1\","
		"\"args\":{\"snapshot\":{\"a\":[1]}}}\n"
		"{\"ph\":\"D\",\"pid\":1,\"tid\":2,\"ts\":3.000,\"name\":\"o\","
		"\"id\":\"0x1\"}\n");
}

static void arguments_of_every_type_are_kept(void **state)
{
	(void)state;
	expect_events(
		"{\"ph\":\"X\",\"name\":\"a\",\"dur\":0," AT
		"0,\"tts\":5,\"cname\":\"good\",\"args\":{\"i\":1,\"n\":-1,\"f\":0.5,\"w\":5.0,"
		"\"s\":\"t\\n\",\"b\":true,\"z\":null,\"l\":[1,\"a\",2.5],\"e\":[],"
		"\"o\":{ \"k\" : [ ] },\"m\":[[1, 2],[3]],\"big\":123456789012345678901234,"
		"\"i\":2}}",
		"{\"ph\":\"X\",\"pid\":1,\"tid\":2,\"ts\":0.000,\"dur\":0.000,\"name\":\"a\","
		"\"args\":{\"n\":-1,\"f\":0.5,\"w\":5,\"s\":\"t\\n\",\"b\":true,\"z\":null,"
		"\"l\":[1,\"a\",2.5],\"e\":[],\"o\":{\"k\":[]},\"m\":[[1,2],[3]],"
		"\"big\":123456789012345678901234,\"i\":2,\"tts\":5,\"cname\":\"good\"}}\n");
}

static void ids_of_any_kind_name_processes_and_threads(void **state)
{
	struct loaded l;

	(void)state;
	load(&l, "[{\"ph\":\"X\",\"pid\":\"gpu \\u00e9\",\"tid\":-1,\"ts\":0,\"dur\":1},"
		 "{\"ph\":\"X\",\"pid\":\"gpu \xc3\xa9\",\"tid\":-1,\"ts\":2,\"dur\":1},"
		 "{\"ph\":\"X\",\"pid\":18446744073709551615,\"tid\":1.5,\"ts\":2,\"dur\":1},"
		 "{\"ph\":\"X\",\"ts\":2,\"dur\":1}]");
	assert_int_equal(l.store.trace.process_count, 3);
	assert_int_equal(l.store.trace.track_count, 3);
	assert_string_equal(string(&l, l.store.trace.processes[0].pid_text).ptr,
			    "\"gpu \xc3\xa9\"");
	assert_string_equal(string(&l, l.store.trace.tracks[0].id_text).ptr, "-1");
	assert_int_equal(l.store.trace.processes[1].pid, UINT64_MAX);
	assert_non_null(strstr(l.text, "\"pid\":18446744073709551615,\"tid\":1.5,"));
	unload(&l);
}

static void times_are_exact(void **state)
{
	(void)state;
	expect_events(
		"{\"ph\":\"X\",\"name\":\"\",\"pid\":1,\"tid\":2,"
		"\"ts\":1794729441490426.7505,\"dur\":\"0.0014\"},"
		"{\"ph\":\"X\",\"name\":\"\",\"pid\":1,\"tid\":2,\"ts\":\"1.8e15\",\"dur\":1e3}",
		"{\"ph\":\"X\",\"pid\":1,\"tid\":2,\"ts\":1794729441490426.751,\"dur\":0.001,"
		"\"name\":\"\"}\n"
		"{\"ph\":\"X\",\"pid\":1,\"tid\":2,\"ts\":1800000000000000.000,"
		"\"dur\":1000.000,\"name\":\"\"}\n");
}

static void metadata_names_processes_and_threads(void **state)
{
	const struct ut_trace *t;
	struct loaded l;

	(void)state;
	load(&l,
	     "[{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":1,\"tid\":0,\"args\":{\"name\":"
	     "\"RANK 3 app\"}},{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":1,\"tid\":2,"
	     "\"args\":{\"name\":\"main\",\"x\":[1,2]}},{\"ph\":\"M\",\"pid\":1,\"tid\":2,"
	     "\"name\":\"thread_sort_index\",\"args\":{\"sort_index\":-7}},"
	     "{\"ph\":\"M\",\"name\":\"process_labels\",\"pid\":1,\"args\":{\"labels\":\"GPU 0\"}},"
	     "{\"ph\":\"M\",\"name\":\"uptime\",\"pid\":1,\"args\":{\"uptime\":\"39\"}},"
	     "{\"ph\":\"M\",\"name\":\"uptime\",\"pid\":1,\"args\":{\"uptime\":\"40\"}}," X "]");
	t = &l.store.trace;
	assert_int_equal(t->process_count, 1);
	assert_int_equal(t->track_count, 1);
	assert_int_equal(t->processes[0].rank, 3);
	assert_string_equal(string(&l, t->processes[0].name).ptr, "app");
	assert_string_equal(string(&l, t->tracks[0].name).ptr, "main");
	assert_int_equal(t->tracks[0].sort_index, -7);
	assert_non_null(strstr(l.text, "\"process_name\",\"args\":{\"name\":\"RANK 3 app\"}}"));
	assert_non_null(strstr(l.text, "\"process_labels\",\"args\":{\"labels\":\"GPU 0\"}}"));
	assert_non_null(strstr(l.text, "\"uptime\",\"args\":{\"uptime\":\"40\"}}"));
	assert_null(strstr(l.text, "39"));
	assert_non_null(strstr(l.text, "\"args\":{\"name\":\"main\",\"x\":[1,2]}}"));
	unload(&l);
}

/* ---- dialects ------------------------------------------------------------------------------ */

static void dialects_are_recognized_by_content(void **state)
{
	static const struct {
		const char *text, *dialect;
	} cases[] = {
		{ "[" X "]", "chrome" },
		{ "{\"schemaVersion\":1,\"deviceProperties\":[],\"traceEvents\":[" X "]}",
		  "torch" },
		{ "{\"traceEvents\":[" X "],\"viztracer_metadata\":{\"version\":\"1\"}}",
		  "viztracer" },
		{ "[{\"ph\":\"B\",\"name\":\"a\"," AT
		  "1,\"attr\":{\"TS1\":\"7\"}},{\"ph\":\"E\"," AT "2}]",
		  "flex" },
		{ "{ \"traceEvents\":[\n{\"ph\": \"M\", \"name\": \"process_name\", \"pid\": 1, "
		  "\"ts\": 5.5, \"args\": {\"name\": \"HOST<vm>\"}}]}",
		  "unitrace" },
		{ "[{\"ph\":\"X\",\"pid\":\"Device 0\",\"tid\":\"Stream 7\",\"ts\":1,\"dur\":1}]",
		  "nsight" },
		{ "{\"traceEvents\":[],\"otherData\":{\"tool\":\"unitrace\"}}", "unitrace-ours" },
		{ "{\"traceEvents\":[],\"otherData\":{\"tool\":\"unitrace\",\"dialect\":\"torch\"}"
		  "}",
		  "torch" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct loaded l;

		load(&l, cases[i].text);
		assert_string_equal(file_arg(&l, "dialect"), cases[i].dialect);
		unload(&l);
	}
}

static void torch_gives_its_rank_and_clock(void **state)
{
	struct loaded l;

	(void)state;
	load(&l, "{\"baseTimeNanoseconds\":1700000000000000000,\"distributedInfo\":{\"backend\":"
		 "\"nccl\",\"rank\":3},\"traceEvents\":[" X "]}");
	assert_int_equal(l.store.trace.realtime_offset, 1700000000000000000);
	assert_int_equal(l.store.trace.processes[0].rank, 3);
	assert_string_equal(file_arg(&l, "distributedInfo"), "{\"backend\":\"nccl\",\"rank\":3}");
	unload(&l);
}

static void flex_has_its_arguments_in_attr_and_its_rank_as_pid(void **state)
{
	struct loaded l;

	(void)state;
	load(&l, "[{\"ph\":\"B\",\"name\":\"k Cmpt Exec\",\"pid\":2,\"tid\":18446744073709551615,"
		 "\"ts\":1000000000000.5,\"attr\":{\"TS1\":\"0x10\"}},"
		 "{\"ph\":\"E\",\"name\":\"k Cmpt Exec\",\"pid\":2,\"tid\":18446744073709551615,"
		 "\"ts\":1000000000001.5}]");
	assert_int_equal(l.store.trace.processes[0].rank, 2);
	assert_non_null(strstr(l.text, "\"name\":\"k Cmpt Exec\",\"args\":{\"TS1\":\"0x10\"}}"));
	unload(&l);
}

static void our_own_file_is_read_as_it_was_written(void **state)
{
	static const char text[] =
		"{\"traceEvents\":[\n"
		"{\"ph\":\"X\",\"pid\":7,\"tid\":7,\"ts\":1.000,\"dur\":2.000,\"name\":\"a\","
		"\"cat\":\"d\",\"args\":{\"id\":[\"0x0\",11,0],\"unfinished\":true}},\n"
		"{\"ph\":\"s\",\"pid\":7,\"tid\":7,\"ts\":1.000,\"name\":\"flow\",\"cat\":\"flow\","
		"\"id\":\"0x1\",\"args\":{\"name\":\"dependent on\"}},\n"
		"{\"ph\":\"C\",\"pid\":7,\"tid\":7,\"ts\":1.000,\"name\":\"d: n\",\"cat\":\"d\","
		"\"args\":{\"%\":1.5}},\n"
		"{\"ph\":\"b\",\"pid\":7,\"tid\":7,\"ts\":1.000,\"name\":\"r\",\"cat\":\"async\","
		"\"id2\":{\"local\":\"0x1\"}},\n"
		"{\"ph\":\"X\",\"pid\":1073741825,\"tid\":8,\"ts\":2.000,\"dur\":2.000,"
		"\"name\":\"b\"},\n"
		"{\"ph\":\"M\",\"pid\":7,\"tid\":7,\"name\":\"process_name\",\"args\":{\"name\":"
		"\"RANK 1 app\"}},\n"
		"{\"ph\":\"M\",\"pid\":7,\"tid\":7,\"name\":\"process_labels\",\"args\":{"
		"\"labels\":"
		"\"vm, app x\"}},\n"
		"{\"ph\":\"M\",\"pid\":7,\"tid\":7,\"name\":\"process_sort_index\",\"args\":"
		"{\"sort_index\":1}},\n"
		"{\"ph\":\"M\",\"pid\":1073741825,\"tid\":1073741825,\"name\":\"process_name\","
		"\"args\":{\"name\":\"other\"}},\n"
		"{\"ph\":\"M\",\"pid\":1073741825,\"tid\":1073741825,\"name\":\"process_labels\","
		"\"args\":{\"labels\":\"vm2, pid 7\"}},\n"
		"{\"ph\":\"M\",\"pid\":7,\"tid\":7,\"name\":\"thread_name\",\"args\":{\"name\":"
		"\"main\"}}\n"
		"],\"displayTimeUnit\":\"ns\",\"otherData\":{\"tool\":\"unitrace\",\"version\":"
		"\"0.1.0\",\"clock\":\"CLOCK_MONOTONIC\",\"processes\":[\n"
		"{\"pid\":7,\"rank\":1,\"name\":\"app\",\"host\":\"vm\",\"command\":\"app x\","
		"\"realtime_offset_ns\":1794735985860188032,\"boottime_offset_ns\":14,"
		"\"clock_error_ns\":44,\"losses\":{\"torn\":2,\"unfinished\":1},\"args\":{\"g\":1},"
		"\"counters\":{\"d: n\":{\"unit\":\"%\",\"about\":\"it\"}}},\n"
		"{\"pid\":1073741825,\"os_pid\":7,\"name\":\"other\",\"host\":\"vm2\","
		"\"realtime_offset_ns\":1794735985860188099,\"boottime_offset_ns\":14,"
		"\"clock_error_ns\":44,\"losses\":{\"torn\":3}}]}}\n";
	struct loaded l;

	(void)state;
	load(&l, text);
	assert_string_equal(l.text, text);
	assert_string_equal(l.warnings.data, "");
	assert_int_equal(l.store.trace.losses.torn, 2);
	assert_int_equal(l.store.trace.realtime_offset, 1794735985860188032);
	unload(&l);
}

/* ---- repairs ------------------------------------------------------------------------------- */

static void what_is_broken_is_repaired_with_one_warning(void **state)
{
	static const struct {
		const char *text, *warning;
		size_t rows;
	} cases[] = {
		{ "[" X "," Y ",]", "offset 106: a comma with nothing behind it; repaired\n", 2 },
		{ "[" X Y "]", "offset 53: a missing comma; repaired\n", 2 },
		{ "[" X "," Y, "offset 106: the end is missing", 2 },
		{ "[" X ",", "offset 54: the end is missing", 1 },
		{ "{\"traceEvents\":[" X "]", "offset 69: the end is missing", 1 },
		{ "[" X ","
		  "{\"ph\":\"X\",\"na",
		  "offset 54: the file ends inside an event", 1 },
		{ "{\"traceEvents\":[" X "],\"x\":[1", "the end is missing", 1 },
		{ "\xef\xbb\xbf[" X "]", "offset 0: a byte order mark", 1 },
		{ X "," Y "]", "offset 52: events without a list around them", 2 },
		{ "[" X ",{\"ph\":\"X\",\"ts\":1,\"dur\":1,\"args\":{\"v\":NaN,\"w\":Infinity}}]",
		  "offset 91: a number that JSON does not know (NaN, Infinity, 007, .5); repaired "
		  "(2 of them in all)\n",
		  2 },
		{ "[" X ",{\"ph\":\"X\",\"name\":\"a\tb\"," AT "1,\"dur\":1}]",
		  "offset 73: a raw control byte in a string; repaired\n", 2 },
		{ "[" X ",{\"ph\":\"X\",\"name\":\"a\"b\"," AT "1,\"dur\":1}," Y "]",
		  "damage, and what it reaches to is left out: no key where one should be\n", 2 },
		{ "[" X ",@]",
		  "offset 54: damage, and what it reaches to is left out: no value where "
		  "one should be\n",
		  1 },
		{ "[" X ",12,null," Y "]",
		  "offset 54: an element of the list that is no event; left out (2 of them in "
		  "all)\n",
		  2 },
		{ "[" X ",{\"ph\":\"X\",\"name\":\"t\",\"dur\":1}]",
		  "offset 54: an event without a time (ts)", 1 },
		{ "[{\"ph\":\"X\"," AT "1,\"dur\":-5}]", "offset 1: a negative duration", 1 },
		{ "[{\"ph\":\"X\"," AT "1}]", "offset 1: a complete event (X) without a duration",
		  1 },
		{ "[{\"ph\":\"s\"," AT "1}," X "]", "offset 1: a flow, async or object event", 2 },
		{ "[{\"ph\":\"C\"," AT "1,\"args\":{\"a\":\"b\"}}," X "]",
		  "offset 1: a counter event without a number", 2 },
		{ "[{\"ph\":\"Z\"," AT "1}]", "offset 1: an event of an unknown phase", 1 },
		{ "[" X "] garbage",
		  "offset 55: damage, and what it reaches to is left out: text "
		  "that is no JSON\n",
		  1 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct loaded l;
		char *newline;

		load(&l, cases[i].text);
		if (!strstr(l.warnings.data, cases[i].warning))
			fail_msg("%s\nwarns \"%s\"", cases[i].text, l.warnings.data);
		newline = strchr(l.warnings.data, '\n');
		assert_true(newline && (!newline[1] || strstr(cases[i].text, "a\"b")));
		assert_int_equal(l.store.row_count, cases[i].rows);
		unload(&l);
	}
}

static void zeros_at_the_end_are_reported(void **state)
{
	static const char text[] = "[" X "]\0\0\0\0";
	struct loaded l;

	(void)state;
	load_bytes(&l, text, sizeof(text) - 1);
	assert_int_equal(l.rc, 0);
	assert_string_equal(l.warnings.data,
			    "offset 54: a zero byte between values; repaired (4 of them in all)\n");
	unload(&l);
}

static void times_below_zero_move_everything(void **state)
{
	struct loaded l;

	(void)state;
	load(&l, "{\"baseTimeNanoseconds\":1000000,\"traceEvents\":[" X
		 ",{\"ph\":\"X\",\"name\":\"n\",\"pid\":1,\"tid\":2,\"ts\":-3.5,\"dur\":1}]}");
	assert_string_equal(l.warnings.data, "times below zero: everything is moved by 3500 ns\n");
	assert_int_equal(l.store.trace.first, 0);
	assert_int_equal(l.store.rows[0].blocks[0].ts[1], 4500);
	assert_int_equal(l.store.trace.realtime_offset, 1000000 - 3500);
	unload(&l);
}

static void what_is_no_trace_is_refused(void **state)
{
	static const struct {
		const char *text, *error;
	} cases[] = {
		{ "{}", "JSON without \"traceEvents\"" },
		{ "{\"a\":[1,2,3]}", "JSON without \"traceEvents\"" },
		{ "{\"a\" 1}", ": offset 5: a key without a colon" },
		{ "[{\"ph\" \"X\"}]", ": offset 7: a key without a colon" },
		{ "{\"traceEvents\":{}}", "JSON without \"traceEvents\"" },
		{ "{\"a\":{\"b", "JSON without \"traceEvents\"" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct loaded l;

		load_bytes(&l, cases[i].text, strlen(cases[i].text));
		assert_int_equal(l.rc, -EPROTO);
		if (!strstr(l.err.text, cases[i].error))
			fail_msg("%s: %s", cases[i].text, l.err.text);
		unload(&l);
	}
}

static void probes_know_json_from_other_things(void **state)
{
	static const char *const yes[] = {
		"[{", "{\"traceEvents\":[", " [\n{", "\xef\xbb\xbf{\"a\"", "[]", "{ }", "["
	};
	static const char *const no[] = { "", "hello", "\n\x05", "[abc]", "{a:1}", "12" };

	(void)state;
	for (size_t i = 0; i < sizeof(yes) / sizeof(*yes); i++)
		assert_true(ut_import_chrome.probe(yes[i], strlen(yes[i])));
	for (size_t i = 0; i < sizeof(no) / sizeof(*no); i++)
		assert_false(ut_import_chrome.probe(no[i], strlen(no[i])));
}

UT_TESTS(chrome_import)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_shape_of_a_file_is_the_same_trace),
		cmocka_unit_test(a_trace_without_events_is_one),
		cmocka_unit_test(members_of_the_file_are_kept),
		cmocka_unit_test(spans_are_joined_from_begin_and_end),
		cmocka_unit_test(instants_keep_their_scope),
		cmocka_unit_test(texts_that_are_numbers_stay_texts),
		cmocka_unit_test(names_may_be_numbers_in_quotes),
		cmocka_unit_test(each_number_of_a_counter_is_a_track),
		cmocka_unit_test(flows_keep_their_ids),
		cmocka_unit_test(the_same_id_in_two_categories_is_two_things),
		cmocka_unit_test(a_bound_slice_is_the_end_of_a_flow),
		cmocka_unit_test(async_pairs_meet_on_one_track),
		cmocka_unit_test(scoped_and_local_ids_are_parted_and_written_back),
		cmocka_unit_test(objects_and_their_states_are_kept),
		cmocka_unit_test(arguments_of_every_type_are_kept),
		cmocka_unit_test(ids_of_any_kind_name_processes_and_threads),
		cmocka_unit_test(times_are_exact),
		cmocka_unit_test(metadata_names_processes_and_threads),
		cmocka_unit_test(dialects_are_recognized_by_content),
		cmocka_unit_test(torch_gives_its_rank_and_clock),
		cmocka_unit_test(flex_has_its_arguments_in_attr_and_its_rank_as_pid),
		cmocka_unit_test(our_own_file_is_read_as_it_was_written),
		cmocka_unit_test(what_is_broken_is_repaired_with_one_warning),
		cmocka_unit_test(zeros_at_the_end_are_reported),
		cmocka_unit_test(times_below_zero_move_everything),
		cmocka_unit_test(what_is_no_trace_is_refused),
		cmocka_unit_test(probes_know_json_from_other_things),
	};

	return cmocka_run_group_tests_name("import/chrome", tests, NULL, NULL);
}
