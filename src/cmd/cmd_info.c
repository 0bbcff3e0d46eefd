/*
 * cmd_info.c - `unitrace info`: what is in a recording.
 */
#include "cmd/cmd.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/arena.h"
#include "base/opt.h"
#include "base/size.h"
#include "cmd/outputs.h"
#include "cmd/spools.h"
#include "export/out.h"
#include "import/spool.h"
#include "model/event.h"

struct info_opts {
	bool json, help;
};

/* Counts what passes. */
struct counter {
	struct ut_sink sink; /* first */
	uint64_t by_kind[UT_KIND_COUNT];
};

static const char *const kind_names[] = {
#define KIND_NAME(kind, text, val) text,
	UT_KIND_LIST(KIND_NAME)
#undef KIND_NAME
};

/* The losses, as words and offsets, so that text and JSON list the same. */
#define LOSS_LIST(X)                                                                               \
	X(dropped)                                                                                 \
	X(overwritten)                                                                             \
	X(torn)                                                                                    \
	X(stray_ends)                                                                              \
	X(implicit_ends)                                                                           \
	X(unfinished)                                                                              \
	X(unknown)                                                                                 \
	X(ignored)

static void count_event(struct ut_sink *sink, const struct ut_trace *trace,
			const struct ut_event *event)
{
	struct counter *c = (struct counter *)sink;

	(void)trace;
	if (event->kind < UT_KIND_COUNT)
		c->by_kind[event->kind]++;
}

static uint64_t count_threads(const struct ut_trace *t)
{
	uint64_t n = 0;

	for (size_t i = 0; i < t->track_count; i++)
		n += t->tracks[i].type == UT_TRACK_THREAD;
	return n;
}

static void put_text(struct ut_out *out, const struct ut_spool_info *info, const struct ut_trace *t,
		     const struct counter *c)
{
	char bytes[32], time[32];

	ut_out_fmt(out, "%s\n  process   %s, pid %" PRIu32, info->path, info->name, info->pid);
	if (info->rank >= 0)
		ut_out_fmt(out, ", rank %" PRId32, info->rank);
	ut_out_fmt(out, "%s\n", info->alive ? ", still running" : "");
	ut_out_fmt(out, "  recorded  %s in %s\n", ut_size_text(bytes, sizeof(bytes), info->bytes),
		   ut_time_text(time, sizeof(time), t->last - t->first));
	ut_out_fmt(out, "  threads   %" PRIu64 "\n  strings   %" PRIu32 "\n", count_threads(t),
		   t->strings.count);
	for (size_t i = 0; i < UT_KIND_COUNT; i++) {
		if (c->by_kind[i])
			ut_out_fmt(out, "  %-9s %" PRIu64 "\n", kind_names[i], c->by_kind[i]);
	}
#define PUT_LOSS(name)                                                                             \
	if (t->losses.name)                                                                        \
		ut_out_fmt(out, "  %s: %" PRIu64 "\n", #name, t->losses.name);
	LOSS_LIST(PUT_LOSS)
#undef PUT_LOSS
}

static void put_str(struct ut_out *out, const char *key, const char *value)
{
	ut_out_fmt(out, "\"%s\":", key);
	ut_out_json_str(out, value, strlen(value));
	ut_out_text(out, ",");
}

static void put_json(struct ut_out *out, const struct ut_spool_info *info, const struct ut_trace *t,
		     const struct counter *c)
{
	const char *comma = "";

	ut_out_text(out, "{");
	put_str(out, "path", info->path);
	put_str(out, "name", info->name);
	ut_out_fmt(out, "\"pid\":%" PRIu32 ",\"rank\":", info->pid);
	if (info->rank >= 0)
		ut_out_fmt(out, "%" PRId32, info->rank);
	else
		ut_out_text(out, "null");
	ut_out_fmt(out, ",\"alive\":%s,\"bytes\":%" PRIu64 ",\"threads\":%" PRIu64,
		   info->alive ? "true" : "false", info->bytes, count_threads(t));
	ut_out_fmt(out, ",\"strings\":%" PRIu32 ",\"first_ns\":%" PRIu64 ",\"last_ns\":%" PRIu64,
		   t->strings.count, t->first, t->last);
	ut_out_text(out, ",\"events\":{");
	for (size_t i = 0; i < UT_KIND_COUNT; i++)
		ut_out_fmt(out, "%s\"%s\":%" PRIu64, i ? "," : "", kind_names[i], c->by_kind[i]);
	ut_out_text(out, "},\"losses\":{");
#define PUT_LOSS(name)                                                                             \
	ut_out_fmt(out, "%s\"%s\":%" PRIu64, comma, #name, t->losses.name);                        \
	comma = ",";
	LOSS_LIST(PUT_LOSS)
#undef PUT_LOSS
	ut_out_text(out, "}}");
}

static int describe(const struct info_opts *o, const struct ut_spool_info *info, struct ut_out *out,
		    struct ut_err *err)
{
	struct counter counter = { .sink.event = count_event };
	struct ut_trace trace;
	int rc;

	ut_trace_init(&trace);
	rc = ut_import_spool(info->path, &trace, &counter.sink, err);
	if (!rc)
		(o->json ? put_json : put_text)(out, info, &trace, &counter);
	ut_trace_release(&trace);
	return rc;
}

/* The work. */
static int info(const struct info_opts *o, int argc, const char *const *argv, struct ut_err *err)
{
	struct ut_out *out = ut_out_open("-", 0);
	struct ut_spools spools = { 0 };
	int rc = ut_spools_open(&spools, argc, argv, err);

	if (!rc && !spools.count)
		rc = ut_err_set(err, -ENODATA, "%s: no process has recorded anything there",
				argv[0]);
	ut_out_text(out, o->json ? "[" : "");
	for (size_t i = 0; !rc && i < spools.count; i++) {
		ut_out_text(out, i ? (o->json ? ",\n" : "\n") : "");
		rc = describe(o, &spools.items[i], out, err);
	}
	ut_out_text(out, o->json ? "]\n" : "");
	ut_spools_close(&spools);
	if (rc) {
		ut_out_abandon(out);
		return rc;
	}
	return ut_out_commit(out, err);
}

static const struct ut_opt *make_table(struct ut_arena *a, struct info_opts *o)
{
	const struct ut_opt table[] = {
		ut_opt_heading("Options"),
		ut_opt_flag('j', "json", &o->json, "print JSON instead of text"),
		ut_opt_flag('h', "help", &o->help, "show this help"),
		ut_opt_end(),
	};

	return ut_opt_copy(a, table, sizeof(table) / sizeof(table[0]));
}

static int cmd_info(int argc, const char *const *argv)
{
	struct info_opts opts = { 0 };
	struct ut_arena arena = { 0 };
	struct ut_err err = { 0 };
	int left = ut_opt_parse(make_table(&arena, &opts), argc, argv, &err);
	int status;

	if (left == argc)
		ut_err_set(&err, -EINVAL, "no session directory or spool file given");
	if (left >= 0 && opts.help)
		status = ut_cmd_help(&ut_cmd_info);
	else if (left < 0 || left == argc)
		status = ut_cmd_misuse(&ut_cmd_info, &err);
	else if (info(&opts, argc - left, argv + left, &err))
		status = ut_cmd_fail(&ut_cmd_info, &err);
	else
		status = UT_EXIT_OK;
	ut_arena_release(&arena);
	return status;
}

static const struct ut_opt *info_options(struct ut_arena *a)
{
	return make_table(a, UT_NEW(a, struct info_opts));
}

const struct ut_cmd ut_cmd_info = {
	.name = "info",
	.usage = "[--json] SESSION-DIR|SPOOL-FILE...",
	.summary = "say what is in a recording",
	.description =
		"Tells for each recorded process its name, id, rank and threads, the number of\n"
		"events of each kind, the time they span, their size on disk, and what was\n"
		"lost. A program to record that is called info: unitrace -- info",
	.examples = "  unitrace info unitrace.app.4711.session\n",
	.options = info_options,
	.run = cmd_info,
};
