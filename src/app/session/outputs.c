#include "session/outputs.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/grow.h"
#include "base/path.h"
#include "export/exporter.h"
#include "import/inputs.h"
#include "import/spool/reader.h"
#include "model/event.h"
#include "model/sink.h"
#include "model/store.h"
#include "report/table.h"
#include "session/ccl_report.h"
#include "session/kmd.h"
#include "session/losses.h"
#include "session/metrics_files.h"
#include "text/cells.h"
#include "text/csv_write.h"
#include "text/out.h"
#include "text/table_report.h"
#include "wire/clock.h"
#include "wire/disk.h"

#define PROGRESS_STEP  65536u /* events between two looks at the clock */
#define PROGRESS_AFTER UINT64_C(1000000000)

static bool reports_to_file(const struct ut_output_opts *opts)
{
	return opts->result_dir || (opts->output && !ut_output_is_timeline(opts));
}

static bool is_csv(const struct ut_outputs *o)
{
	return reports_to_file(o->opts) && o->opts->output && ut_str_ends(o->opts->output, ".csv");
}

void ut_outputs_init(struct ut_outputs *o, const struct ut_output_opts *opts, bool ccl_report,
		     const struct ut_session_client *client)
{
	*o = (struct ut_outputs){ .opts = opts, .ccl_report = ccl_report };
	if (client)
		o->client = *client;
	o->names =
		(struct ut_output_names){ .opts = opts, .arena = &o->arena, .client = &o->client };
	ut_summary_init(&o->summary);
	ut_device_report_init(&o->devices);
	o->devices.active = !opts->no_summary;
	/* The reports of a run are what people open in a spreadsheet. */
	if (is_csv(o))
		ut_csv_set_safe(true);
	if (!reports_to_file(opts)) {
		o->devices.name_columns = o->client.name_columns;
		o->devices.screen = o->client.screen;
		o->devices.colour = o->client.colour;
	}
}

void ut_outputs_release(struct ut_outputs *o)
{
	ut_device_report_release(&o->devices);
	ut_kernel_report_release(&o->kernels);
	ut_summary_release(&o->summary);
	ut_buf_release(&o->ccl);
	ut_opt_list_release(&o->written);
	ut_opt_list_release(&o->stored);
	ut_opt_list_release(&o->measured);
	for (size_t i = 0; i < o->report_count; i++) {
		ut_buf_release(&o->reports[i].text);
		ut_buf_release(&o->reports[i].ccl);
	}
	free(o->reports);
	ut_arena_release(&o->arena);
}

/* Hands each event to several sinks and shows that something is happening. */
struct tee {
	struct ut_sink sink; /* first */
	struct ut_sink *to[UT_MAX_FORMATS + 5];
	size_t count;
	struct ut_sink *metrics; /* the one that wants them */
	uint64_t events;
	const char *name; /* of the process; NULL = nobody wants to hear of progress */
	const struct ut_session_client *client;
	uint64_t next_look; /* ns */
};

static void report_progress(const struct tee *t, const char *text)
{
	ut_session_notify(t->client, (struct ut_session_event){ .kind = UT_SESSION_EVENT_PROGRESS,
								.text = text });
}

static void show_progress(struct tee *t, const struct ut_trace *trace)
{
	uint64_t now = ut_clock_ns(CLOCK_MONOTONIC);
	char text[128];

	if (!t->name || now < t->next_look)
		return;
	snprintf(text, sizeof(text), "unitrace: exporting %.60s: %u %%, %.1f M events", t->name,
		 trace->percent, (double)t->events / 1e6);
	report_progress(t, text);
	t->next_look = now + PROGRESS_AFTER / 4;
}

static void tee_event(struct ut_sink *sink, const struct ut_trace *trace,
		      const struct ut_event *event)
{
	struct tee *t = (struct tee *)sink;

	for (size_t i = 0; i < t->count; i++)
		ut_sink_event(t->to[i], trace, event);
	if (++t->events % PROGRESS_STEP == 0)
		show_progress(t, trace);
}

static void tee_measured(struct ut_sink *sink, const struct ut_trace *trace,
			 const struct ut_measured *measured)
{
	struct tee *t = (struct tee *)sink;

	t->metrics->measured(t->metrics, trace, measured);
}

static void tee_init(struct tee *t, const struct ut_outputs *o, const char *name)
{
	*t = (struct tee){ .sink.event = tee_event, .client = &o->client };
	t->next_look = ut_clock_ns(CLOCK_MONOTONIC) + PROGRESS_AFTER;
	if (!o->opts->quiet && o->client.wants_progress)
		t->name = name;
}

static void tee_add(struct tee *t, struct ut_sink *sink)
{
	t->to[t->count++] = sink;
	t->sink.wants_arrows |= sink->wants_arrows;
	if (sink->measured) {
		t->metrics = sink;
		t->sink.measured = tee_measured;
	}
}

static void tee_end(const struct tee *t)
{
	if (t->name)
		report_progress(t, NULL);
}

/* Others may make a file of that name while ours is being written. */
struct ut_out *ut_outputs_open(struct ut_outputs *o, const char *path)
{
	return o->opts->overwrite ? ut_out_open(path, UT_OUT_OVERWRITE)
				  : ut_out_open_numbered(path, ut_output_wanted(&o->names, path));
}

/* input is the file that the trace comes from; NULL = a recording. */
static int open_targets(struct ut_outputs *o, const struct ut_output_who *who, const char *input,
			struct ut_err *err)
{
	for (size_t i = 0; i < o->opts->format_count; i++) {
		struct ut_target *t = &o->targets[i];
		int rc;

		*t = (struct ut_target){ .format = o->opts->formats[i] };
		rc = input ? ut_output_converted(&o->names, who, input, t->format, &t->path, err)
			   : ut_output_timeline(&o->names, who, t->format, &t->path, err);
		if (!rc && strcmp(t->path, "-"))
			rc = ut_path_mkdirs(ut_path_dir(&o->arena, t->path), err);
		if (rc)
			return rc;
		t->out = ut_outputs_open(o, t->path);
		/* A store that is at hand is written as it is: see feed_store(). */
		if (!input || !t->format->write)
			t->sink = t->format->open(t->out);
	}
	return 0;
}

static void abandon_targets(struct ut_outputs *o)
{
	for (size_t i = 0; i < o->opts->format_count; i++) {
		struct ut_target *t = &o->targets[i];

		if (t->sink)
			t->format->close(t->sink);
		ut_out_abandon(t->out);
		*t = (struct ut_target){ 0 };
	}
}

static bool is_for_commands(const struct ut_target *t)
{
	return strcmp(t->path, "-") != 0 &&
	       (t->format == &ut_export_chrome || t->format == &ut_export_perfetto ||
		t->format == &ut_export_utr);
}

static void report_stored(struct ut_outputs *o)
{
	for (size_t i = 0; i < o->stored.count; i++)
		ut_session_notify_text(&o->client,
				       (struct ut_session_event){ .kind = UT_SESSION_EVENT_TIMELINE,
								  .level = UT_INFO,
								  .path = o->stored.items[i] },
				       "Timeline is stored in %s", o->stored.items[i]);
	ut_opt_list_release(&o->stored);
}

void ut_outputs_measured(struct ut_outputs *o, const char *path, const char *said)
{
	if (o->opts->quiet)
		return;
	ut_opt_list_add(&o->measured, said);
	ut_opt_list_add(&o->measured, path);
}

static void report_measured(struct ut_outputs *o)
{
	for (size_t i = 0; i + 1 < o->measured.count; i += 2)
		ut_session_notify_text(
			&o->client,
			(struct ut_session_event){ .kind = UT_SESSION_EVENT_REPORT,
						   .level = UT_INFO,
						   .path = o->measured.items[i + 1] },
			"%s %s", o->measured.items[i], o->measured.items[i + 1]);
	ut_opt_list_release(&o->measured);
}

/*
 * A launcher of a rank may be killed between this and the removal of its session. Whoever reads the
 * results and the session then reads no process twice.
 */
static void mark_stored(struct ut_outputs *o, const struct ut_spool_info *list, size_t count)
{
	for (size_t i = 0; o->marks && i < count; i++) {
		const char *path = ut_str_fmt(&o->arena, "%s" UT_STORED_SUFFIX, list[i].path);
		int fd = open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);

		if (fd >= 0)
			close(fd);
	}
}

/*
 * All of them are tried; the first failure is returned. The spools of the list are marked once a
 * result has its name, before anybody is told, which may take long.
 */
static int commit_targets(struct ut_outputs *o, const struct ut_spool_info *list, size_t count,
			  struct ut_err *err)
{
	bool noted = false, marked = false;
	int first_rc = 0;

	for (size_t i = 0; i < o->opts->format_count; i++) {
		struct ut_target *t = &o->targets[i];
		int rc;

		if (t->sink)
			t->format->close(t->sink);
		rc = ut_out_commit_as(t->out, &o->arena, &t->path, err);
		if (!rc && !marked) {
			mark_stored(o, list, count);
			marked = true;
		}
		if (!rc && !o->opts->quiet && strcmp(t->path, "-"))
			ut_opt_list_add(&o->stored, t->path);
		if (!reports_to_file(o->opts))
			report_stored(o);
		if (!rc && !noted && is_for_commands(t)) {
			ut_opt_list_add(&o->written, t->path);
			noted = true;
		}
		first_rc = first_rc ? first_rc : rc;
		*t = (struct ut_target){ 0 };
	}
	return first_rc;
}

/* What backends found worth saying, once each. */
static void report_notes(const struct ut_outputs *o, const struct ut_trace *t,
			 const struct ut_spool_info *info)
{
	for (size_t i = 0; i < t->note_count; i++) {
		bool said = false;

		for (size_t n = 0; n < i; n++)
			said |= t->notes[n] == t->notes[i];
		if (!said)
			ut_session_notify_text(
				&o->client,
				(struct ut_session_event){ .kind = UT_SESSION_EVENT_REMARK,
							   .level = UT_WARN,
							   .pid = info->pid },
				"%s (%" PRIu32 "): %s", info->name, info->pid,
				ut_strtab_get(&t->strings, t->notes[i]).ptr);
	}
}

static bool is_listed(const struct ut_outputs *o, const char *name)
{
	for (size_t i = 0; i < o->unwanted_count; i++) {
		if (!strcmp(o->unwanted[i], name))
			return true;
	}
	return false;
}

/* Each name once, in the order of appearance. Other processes mostly have the same. */
static void add_unwanted(struct ut_outputs *o, const struct ut_trace *t)
{
	for (size_t i = 0; i < t->unwanted_count && o->unwanted_count < UT_MOST_UNWANTED; i++) {
		struct ut_str name = ut_strtab_get(&t->strings, t->unwanted[i]);
		struct ut_buf cell = { 0 };

		ut_cell_name(&cell, name.ptr, name.len, UT_CELL_PAD);
		if (!is_listed(o, cell.data))
			o->unwanted[o->unwanted_count++] =
				ut_arena_copy(&o->arena, cell.data, cell.len);
		ut_buf_release(&cell);
	}
}

/* ---- what a process reports ---------------------------------------------------------------- */

static void print_summary(struct ut_outputs *o, struct ut_buf *to)
{
	const struct ut_report_opts report = { .limit = o->opts->summary_rows,
					       .width = UT_REPORT_WIDTH_OWN,
					       .screen = o->devices.screen,
					       .colour = o->devices.colour };
	struct ut_out *mem;
	const char *data;
	size_t len;

	ut_summary_finish(&o->summary);
	if (o->devices.log.work_count && !is_csv(o))
		ut_summary_hide_devices(&o->summary);
	if (!o->summary.count)
		return;
	mem = ut_out_open_memory();
	if (is_csv(o))
		ut_table_csv(mem, &o->summary);
	else
		ut_table_print(mem, &o->summary, &report);
	data = ut_out_data(mem, &len);
	ut_buf_add(to, data, len);
	ut_out_abandon(mem);
}

/* Does -o FILE get a table that was asked for? */
static bool asked_for_tables(const struct ut_outputs *o)
{
	bool asked = o->ccl_report;

	for (int k = 0; k < UT_TABLE_KINDS; k++)
		asked |= o->devices.wanted[k];
	return asked && o->opts->output && !o->opts->result_dir;
}

/*
 * Files get the summary even when quiet; the terminal does not. A file of tables that were asked
 * for has nothing else in it: other programs read it.
 */
static bool wants_summary(const struct ut_outputs *o)
{
	if (reports_to_file(o->opts) && asked_for_tables(o))
		return false;
	return !o->opts->no_summary && (reports_to_file(o->opts) || !o->opts->quiet);
}

static struct ut_process_report *find_report(const struct ut_outputs *o,
					     const struct ut_output_who *who)
{
	for (size_t i = 0; i < o->report_count; i++) {
		if (o->reports[i].who.pid == who->pid && o->reports[i].who.rank == who->rank)
			return &o->reports[i];
	}
	return NULL;
}

static struct ut_process_report *report_of(struct ut_outputs *o, const struct ut_output_who *who)
{
	struct ut_process_report *r = find_report(o, who);

	if (r)
		return r;
	o->reports = ut_grow(o->reports, o->report_count + 1, &o->report_cap, sizeof(*r));
	r = &o->reports[o->report_count++];
	*r = (struct ut_process_report){ .who = *who };
	r->who.app = ut_arena_copy(&o->arena, who->app, strlen(who->app));
	return r;
}

static void move_text(struct ut_buf *to, struct ut_buf *from)
{
	if (to->len && from->len)
		ut_buf_char(to, '\n');
	ut_buf_add(to, from->data, from->len);
	ut_buf_release(from);
}

/* Files hold the reports of one process each, as those of the original do. */
static void keep_report(struct ut_outputs *o, const struct ut_output_who *who)
{
	struct ut_process_report *r = report_of(o, who);
	struct ut_buf text = { 0 };

	if (wants_summary(o))
		print_summary(o, &text);
	ut_summary_release(&o->summary);
	ut_summary_init(&o->summary);
	move_text(&r->text, &text);
	move_text(&r->ccl, &o->ccl);
}

/* ---- recordings ---------------------------------------------------------------------------- */

static struct ut_output_who who_is(const struct ut_spool_info *info, bool first)
{
	return (struct ut_output_who){
		.app = info->name, .pid = info->pid, .rank = info->rank, .first = first
	};
}

/* Reads one spool into the open targets and the summaries. *events is what came. */
static int feed(struct ut_outputs *o, const struct ut_spool_info *info, uint64_t *events,
		struct ut_err *err)
{
	const struct ut_output_who who = who_is(info, false);
	struct ut_metrics_files metrics;
	struct ut_ccl_report ccl;
	struct ut_trace trace;
	struct tee tee;
	bool measured = ut_metrics_files_open(&metrics, o, info, err);
	bool evaluated = measured && wants_summary(o);
	int rc, metrics_rc;

	ut_trace_init(&trace);
	ut_ccl_report_init(&ccl);
	tee_init(&tee, o, info->name);
	for (size_t i = 0; i < o->opts->format_count; i++)
		tee_add(&tee, o->targets[i].sink);
	tee_add(&tee, &o->summary.sink);
	if (o->ccl_report)
		tee_add(&tee, &ccl.sink);
	if (o->devices.active)
		tee_add(&tee, &o->devices.log.sink);
	if (measured)
		tee_add(&tee, &metrics.write.sink);
	if (evaluated && !o->kernels.begun)
		ut_kernel_report_init(&o->kernels);
	if (evaluated)
		tee_add(&tee, &o->kernels.sink);

	rc = ut_import_spool(info->path, &trace, &tee.sink, err);
	if (!o->kmd_sent)
		o->kmd_sent = ut_kmd_send(&o->arena, ut_path_dir(&o->arena, info->path), &trace,
					  &tee.sink, &o->client);
	tee_end(&tee);
	if (tee.events) {
		for (size_t i = 0; i < o->opts->format_count; i++)
			o->targets[i].format->end_trace(o->targets[i].sink, &trace);
	}
	ut_summary_end_trace(&o->summary);
	ut_device_report_end(&o->devices, &trace, &who);
	if (evaluated)
		ut_kernel_report_end(&o->kernels, &trace);
	if (o->ccl_report)
		ut_ccl_report_print(&ccl, &o->ccl, info->pid, info->rank);
	if (reports_to_file(o->opts))
		keep_report(o, &who);
	report_notes(o, &trace, info);
	add_unwanted(o, &trace);
	ut_losses_add(&o->losses, &trace.losses);
	o->events += tee.events;
	*events = tee.events;
	metrics_rc = measured ? ut_metrics_files_close(&metrics, &trace) : 0;

	ut_ccl_report_release(&ccl);
	ut_trace_release(&trace);
	return rc ? rc : metrics_rc;
}

static void report_nothing(const struct ut_outputs *o, const struct ut_spool_info *info)
{
	if (!o->opts->quiet)
		ut_session_notify_text(
			&o->client,
			(struct ut_session_event){ .kind = UT_SESSION_EVENT_SILENT_PROCESS,
						   .level = UT_INFO,
						   .pid = info->pid },
			"No event of interest is logged for process %" PRIu32 " (%s)", info->pid,
			info->name);
}

static int export_one(struct ut_outputs *o, const struct ut_spool_info *info, bool first,
		      struct ut_err *err)
{
	const struct ut_output_who who = who_is(info, first);
	size_t names = o->names.taken_count;
	uint64_t events = 0;
	int rc = open_targets(o, &who, NULL, err);

	if (!rc)
		rc = feed(o, info, &events, err);
	/* What could be read of a damaged spool is worth keeping. */
	if (events) {
		int commit_rc = commit_targets(o, info, rc ? 0 : 1, err);

		return rc ? rc : commit_rc;
	}
	abandon_targets(o);
	o->names.taken_count = names; /* for the next process */
	if (!rc)
		report_nothing(o, info);
	return rc;
}

static int export_into_one(struct ut_outputs *o, const struct ut_spool_info *list, size_t count,
			   struct ut_err *err)
{
	const struct ut_output_who who = who_is(&list[0], true);
	int first_rc = open_targets(o, &who, NULL, err);
	uint64_t total = 0;

	for (size_t i = 0; !first_rc && i < count; i++) {
		uint64_t events = 0;
		int rc = feed(o, &list[i], &events, err);

		first_rc = first_rc ? first_rc : rc;
		total += events;
		if (!rc && !events)
			report_nothing(o, &list[i]);
	}
	if (total) {
		int rc = commit_targets(o, list, first_rc ? 0 : count, err);

		return first_rc ? first_rc : rc;
	}
	abandon_targets(o);
	return first_rc;
}

int ut_outputs_export(struct ut_outputs *o, const struct ut_spool_info *list, size_t count,
		      struct ut_err *err)
{
	uint64_t before;
	bool first = true;
	int first_rc = 0;

	if (count && ut_output_is_single(o->opts))
		return export_into_one(o, list, count, err);
	for (size_t i = 0; i < count; i++) {
		int rc;

		before = o->events;
		rc = export_one(o, &list[i], first, err);
		first = first && o->events == before;
		first_rc = first_rc ? first_rc : rc;
	}
	return first_rc;
}

/* ---- traces of any format ------------------------------------------------------------------ */

struct conversion {
	struct ut_outputs *outputs;
	const struct ut_inputs *in;
};

static void warn_of_input(void *ctx, const char *path, const char *text)
{
	const struct conversion *c = ctx;

	ut_session_notify_text(
		&c->outputs->client,
		(struct ut_session_event){ .kind = UT_SESSION_EVENT_REMARK, .level = UT_WARN },
		"%s: %s", path, text);
}

static void feed_store(struct ut_outputs *o, struct ut_store *store, const char *name)
{
	struct tee tee;

	tee_init(&tee, o, name);
	for (size_t i = 0; i < o->opts->format_count; i++) {
		struct ut_target *t = &o->targets[i];

		if (t->format->write)
			t->format->write(store, t->out);
		else
			tee_add(&tee, t->sink);
	}
	tee_add(&tee, &o->summary.sink);
	if (o->devices.active)
		tee_add(&tee, &o->devices.log.sink);
	ut_store_send(store, 0, &tee.sink);
	tee_end(&tee);
	for (size_t i = 0; i < o->opts->format_count; i++) {
		if (o->targets[i].sink)
			o->targets[i].format->end_trace(o->targets[i].sink, &store->trace);
	}
	ut_summary_end_trace(&o->summary);
	ut_device_log_end_trace(&o->devices.log, &store->trace);
	ut_losses_add(&o->losses, &store->trace.losses);
	o->events += tee.events;
}

static int convert_one(void *ctx, size_t i, struct ut_store *store, struct ut_err *err)
{
	struct conversion *c = ctx;
	const struct ut_trace *t = &store->trace;
	struct ut_output_who who = { .app = "trace", .rank = -1, .first = i == 0 };
	int rc;

	if (t->process_count) {
		who.pid = (uint32_t)t->processes[0].pid;
		who.rank = t->processes[0].rank;
	}
	rc = open_targets(c->outputs, &who, c->in->paths[i], err);
	if (rc) {
		abandon_targets(c->outputs);
		return rc;
	}
	feed_store(c->outputs, store, ut_path_base(c->in->paths[i]));
	return commit_targets(c->outputs, NULL, 0, err);
}

int ut_outputs_convert(struct ut_outputs *o, const struct ut_inputs *in, struct ut_err *err)
{
	struct conversion c = { o, in };
	const struct ut_import_opts opts = { .warn = warn_of_input, .ctx = &c, .checked = true };

	if (in->count > 1 && ut_output_is_single(o->opts))
		return ut_err_set(err, -EINVAL,
				  "-o %s would take %zu traces; 'unitrace merge' puts them on one "
				  "clock and into one file",
				  o->opts->output, in->count);
	return ut_inputs_each(in, &opts, convert_one, &c, err);
}

/* Writes text to the report file of that kind, or tells it if there is none. */
static int put_report(struct ut_outputs *o, const struct ut_output_who *root, const char *kind,
		      struct ut_buf *text, struct ut_err *err)
{
	const char *path;
	struct ut_out *out;
	int rc;

	if (!text->len)
		return 0;
	rc = ut_output_report(&o->names, root, kind, &path, err);
	if (rc)
		return rc;
	if (!path) {
		ut_session_notify(&o->client,
				  (struct ut_session_event){ .kind = UT_SESSION_EVENT_TABLE,
							     .level = UT_INFO,
							     .text = text->data });
		return 0;
	}
	rc = ut_path_mkdirs(ut_path_dir(&o->arena, path), err);
	if (rc)
		return rc;
	out = ut_outputs_open(o, path);
	ut_out_write(out, text->data, text->len);
	rc = ut_out_commit_as(out, &o->arena, &path, err);
	if (!rc && !o->opts->quiet)
		ut_session_notify_text(&o->client,
				       (struct ut_session_event){ .kind = UT_SESSION_EVENT_REPORT,
								  .level = UT_INFO,
								  .path = path },
				       "Log is stored in %s", path);
	return rc;
}

/* The tables of one process, each to a file of its own: below --result-dir. */
static int put_table_files(struct ut_outputs *o, uint32_t source, struct ut_err *err)
{
	int rc = 0;

	for (int k = 0; !rc && k < UT_TABLE_KINDS; k++) {
		enum ut_device_table_kind kind = (enum ut_device_table_kind)k;
		struct ut_buf one = { 0 };

		ut_device_report_print(&o->devices, kind, source, false, &one);
		rc = put_report(o, &o->devices.whos[source], ut_device_report_file(kind), &one,
				err);
		ut_buf_release(&one);
	}
	return rc;
}

/* All of them after one another. They may be long: a line for each kernel. */
static void add_tables(struct ut_outputs *o, uint32_t source, struct ut_buf *to)
{
	for (int k = 0; k < UT_TABLE_KINDS; k++)
		ut_device_report_print(&o->devices, (enum ut_device_table_kind)k, source, is_csv(o),
				       to);
}

static int put_table_file(struct ut_outputs *o, uint32_t source, struct ut_err *err)
{
	struct ut_process_report *r = find_report(o, &o->devices.whos[source]);
	struct ut_buf tables = { 0 };
	int rc;

	add_tables(o, source, &tables);
	if (r) {
		move_text(&r->text, &tables);
		return 0;
	}
	rc = put_report(o, &o->devices.whos[source], "", &tables, err);
	ut_buf_release(&tables);
	return rc;
}

static void outputs_put_kernels(struct ut_outputs *o, struct ut_buf *text)
{
	const struct ut_report_opts report = { .format =
						       is_csv(o) ? UT_REPORT_CSV : UT_REPORT_TABLE,
					       .limit = is_csv(o) ? 0 : o->opts->summary_rows,
					       .width = UT_REPORT_WIDTH_OWN,
					       .screen = o->devices.screen,
					       .colour = o->devices.colour };

	ut_kernel_report_print(&o->kernels, &report, text);
}

/* Each process has its own tables; those of the program itself share its file. */
static int outputs_put_devices(struct ut_outputs *o, const struct ut_output_who *root,
			       struct ut_buf *text, struct ut_err *err)
{
	bool to_file = o->opts->output && !ut_output_is_timeline(o->opts);
	int rc = 0;

	ut_device_log_finish(&o->devices.log);
	if (wants_summary(o)) {
		ut_device_report_summary(&o->devices, o->opts->summary_rows, is_csv(o), text);
		outputs_put_kernels(o, text);
	}
	for (uint32_t i = 0; !rc && i < o->devices.who_count; i++) {
		if (o->opts->result_dir)
			rc = put_table_files(o, i, err);
		else if (to_file && o->devices.whos[i].pid != root->pid)
			rc = put_table_file(o, i, err);
		else
			add_tables(o, i, text);
	}
	return rc;
}

static int put_process(struct ut_outputs *o, const struct ut_output_who *who, struct ut_buf *text,
		       struct ut_buf *ccl, struct ut_err *err)
{
	int rc = 0;

	if (o->ccl_report && o->opts->result_dir)
		rc = put_report(o, who, "ccl_summary_report", ccl, err);
	else
		move_text(text, ccl);
	return rc ? rc : put_report(o, who, "itt_summary", text, err);
}

/* ---- the end -------------------------------------------------------------------------------- */

int ut_outputs_finish(struct ut_outputs *o, const struct ut_output_who *root, struct ut_err *err)
{
	struct ut_process_report *own = find_report(o, root);
	struct ut_buf text = { 0 };
	int rc, device_rc;

	if (wants_summary(o))
		print_summary(o, &text);
	if (own) {
		move_text(&text, &own->text);
		move_text(&o->ccl, &own->ccl);
	}
	device_rc = outputs_put_devices(o, root, &text, err);
	rc = put_process(o, root, &text, &o->ccl, err);
	for (size_t i = 0; !rc && i < o->report_count; i++)
		rc = put_process(o, &o->reports[i].who, &o->reports[i].text, &o->reports[i].ccl,
				 err);
	rc = rc ? rc : device_rc;
	ut_buf_release(&text);
	report_stored(o);
	report_measured(o);
	ut_losses_report(&o->client, &o->losses);
	return rc;
}

void ut_outputs_report_results(const struct ut_outputs *o, int32_t rank)
{
	ut_session_notify(&o->client, (struct ut_session_event){ .kind = UT_SESSION_EVENT_RESULTS,
								 .level = UT_DEBUG,
								 .paths = o->written.items,
								 .count = o->written.count,
								 .rank = rank });
}
