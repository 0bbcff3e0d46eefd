#include "acelyzer/analyze_job.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "acelyzer/input.h"
#include "acelyzer/profile.h"
#include "acelyzer/reports.h"
#include "acelyzer/stage.h"
#include "acelyzer/verify_files.h"
#include "base/str.h"
#include "export/out_check.h"
#include "report/one_page.h"
#include "text/out.h"
#include "version.h"

/* What looks at the run while it goes on. */
struct watch {
	const struct ut_ace_setup *setup;
	struct ut_ace_extra extra; /* for reports */
	char *other;               /* what made the output, as JSON */
	bool reports, early;       /* early: while the stages run */
};

static int after_stage(void *ctx, struct ut_ace_analysis *a, unsigned int number, const char *stage,
		       struct ut_err *err)
{
	struct watch *d = ctx;
	struct ut_buf b = { 0 };
	int rc;

	if (d->early)
		ut_ace_extra_after(&d->extra, a, stage);
	if (!d->setup->intermediate)
		return 0;
	ut_buf_fmt(&b, "%s_%02u_%s", d->setup->output, number, stage);
	rc = ut_ace_write_raw(a, b.data, b.data, err);
	ut_buf_release(&b);
	return rc;
}

static void read_logs(struct ut_ace_analysis *a, const struct ut_ace_setup *s)
{
	struct ut_ace_complog_reader r = { .table = &a->table,
					   .messages = &a->messages,
					   .core = s->opts.core,
					   .release = s->opts.release };
	size_t n = 1, i = 0;

	if (!s->logs || !(s->opts.counters & UT_ACE_RCU_UTIL))
		return;
	for (const char *p = s->logs; *p; p++)
		n += *p == ',';
	if (n > 1)
		ut_ace_say(&a->messages, UT_ACE_INFO, "UTL: Multi-AIU logs provided. Entries: %zu",
			   n);
	a->logs.items = calloc(n, sizeof(*a->logs.items));
	if (!a->logs.items)
		abort();
	a->logs.count = n;
	for (const char *p = s->logs; i < n; i++) {
		size_t len = strcspn(p, ",");
		char *path = strndup(p, len);

		ut_ace_complog_read(&r, &a->logs.items[i], path ? path : "");
		free(path);
		p += len + (p[len] == ',');
	}
}

static char *command_line(const struct ut_ace_request *r)
{
	struct ut_buf line = { 0 };

	ut_buf_text(&line, "acelyzer");
	for (int i = 0; i < r->argc; i++)
		ut_buf_fmt(&line, " %s", r->argv[i]);
	return line.data;
}

/* otherData of the output: what made it. */
static char *describe_run(const struct ut_ace_analysis *a, const struct ut_ace_setup *s,
			  const char *line)
{
	static const char *const releases[] = { "1.0", "1.2", "1.3" };
	struct ut_out *o = ut_out_open_memory();
	size_t len;
	char *text;

	ut_out_text(o, "{\"Application\":\"Acelyzer: Trace Post-Processing Tool "
		       "(unitrace " UT_VERSION ")\",\"CmdLine\":");
	ut_out_json_str(o, line, strlen(line));
	ut_out_fmt(o, ",\"Settings\":{\"compat\":\"%s\",\"freq\":[%g,%g],\"input\":",
		   releases[s->opts.release], s->opts.soc, s->opts.core);
	ut_out_json_str(o, s->input, strlen(s->input));
	ut_out_text(o, ",\"output\":");
	ut_out_json_str(o, s->output, strlen(s->output));
	ut_out_text(o, ",\"profile\":");
	ut_out_json_str(o, s->profile, strlen(s->profile));
	ut_out_text(o, "},\"Jobs\":[");
	for (size_t i = 0; i < a->table.job_count; i++) {
		ut_out_text(o, i ? "," : "");
		ut_out_json_str(o, a->table.jobs[i].path, strlen(a->table.jobs[i].path));
	}
	ut_out_text(o, "]}");
	text = strndup(ut_out_data(o, &len), 1u << 24);
	ut_out_abandon(o);
	return text;
}

static int write_trace(struct ut_ace_analysis *a, const struct ut_ace_setup *s,
		       struct ut_ace_frame *f, struct ut_err *err)
{
	size_t ranks;
	int rc;

	/* however it was made, a trace in order is what every viewer likes best */
	rc = ut_ace_pass_sort_final(a);
	if (rc)
		return rc;
	if (s->tb) {
		rc = ut_ace_write_tensorboard(a, f, s->output, s->write_trace, &ranks, err);
		if (!rc && ranks == 1)
			ut_ace_say(&a->messages, UT_ACE_WARN,
				   "TB_EXPORTER: Only 1 AIU is used, no distributed view");
		return rc;
	}
	if (!s->write_trace)
		return 0;
	if (!strcmp(s->format, "pddf"))
		return ut_ace_write_frame(a, s->output, err);
	if (!strcmp(s->format, "protobuf"))
		return ut_ace_write_perfetto(a, s->output, err);
	return ut_ace_write_trace(a, f, s->output, err);
}

static int write_results(struct ut_ace_analysis *a, const struct ut_ace_setup *s,
			 struct ut_ace_frame *f, struct ut_err *err)
{
	int rc = 0;

	if (a->found.category_count)
		rc = ut_ace_write_categories(a, s->output, s->layout, err);
	if (!rc && a->found.has_stats)
		rc = ut_ace_write_stats(a, s->output, err);
	if (!rc && a->found.has_comm)
		rc = ut_ace_write_comm(a, s->output, err);
	if (!rc)
		rc = write_trace(a, s, f, err);
	return rc;
}

/* Torch files call every rank's device 0. Release 1.2 gives it the number of its rank. */
static void warn_of_devices(struct ut_ace_analysis *a, const struct ut_ace_setup *s)
{
	size_t ranks = 0;

	for (size_t i = 0; i < a->table.job_count; i++)
		ranks += a->table.jobs[i].dialect == UT_ACE_TORCH;
	if (ranks < 2 || s->opts.release >= UT_ACE_1_2)
		return;
	ut_ace_say(&a->messages, UT_ACE_WARN,
		   "COMPAT: the devices of %zu torch ranks all have process number 0, and in the "
		   "numbers of release 1.0 their events are mixed. --compat=1.2 keeps them apart.",
		   ranks);
}

/* Said before hours of work, not after. */
static int check_places(const struct ut_ace_setup *s, struct ut_err *err)
{
	const char *const names[] = { s->write_trace ? s->output : NULL, s->report.json,
				      s->report.html };
	const char *why = s->report.html ? ut_one_page_missing() : NULL;
	int rc = why ? ut_err_set(err, -ENOTSUP, "--html: %s", why) : 0;

	/* An empty name stands for one beside the trace. */
	for (size_t i = 0; !rc && i < sizeof(names) / sizeof(names[0]); i++) {
		if (names[i] && (!i || names[i][0]))
			rc = ut_out_check(names[i], NULL, UT_OUT_OVERWRITE, err);
	}
	return rc;
}

/* -V of release 1.3: *trusted is false if it finds an error. */
static int verify(const struct ut_ace_request *request, struct ut_ace_analysis *a, bool *trusted,
		  struct ut_err *err)
{
	const struct ut_ace_setup *s = request->setup;
	struct ut_ace_frame frame = { .trace_name = s->output, .time_unit = s->time_unit };
	struct ut_ace_verification v = { 0 };
	char *line = command_line(request), *other = NULL;
	int rc = check_places(s, err);

	if (!rc)
		rc = ut_ace_input(a, s, &frame, err);
	if (!rc) {
		frame.line = line;
		frame.other = other = describe_run(a, s, line);
		ut_ace_verification_make(&v, a);
		*trusted = !ut_ace_verification_fails(&v);
	}
	if (!rc && s->write_trace)
		rc = ut_ace_verification_write(&v, a, &frame, s->output, !strcmp(s->format, "text"),
					       err);
	if (!rc)
		ut_ace_say(&a->messages, *trusted ? UT_ACE_INFO : UT_ACE_ERROR,
			   "Verification: %" PRIu64 " spans overlap, %" PRIu64
			   " kernels lie outside of their call, %" PRIu64 " have none, %" PRIu64
			   " calls have no kernel",
			   v.count[UT_ACE_FOUND_OVERLAP], v.count[UT_ACE_FOUND_OUTSIDE],
			   v.count[UT_ACE_FOUND_ORPHAN_KERNELS],
			   v.count[UT_ACE_FOUND_ORPHAN_PARENTS]);
	ut_ace_verification_release(&v);
	ut_ace_frame_release(&frame);
	free(other);
	free(line);
	return rc;
}

static int analyze(const struct ut_ace_request *request, struct ut_ace_analysis *a,
		   struct watch *watch, struct ut_err *err)
{
	const struct ut_ace_setup *s = request->setup;
	struct ut_ace_profile profile;
	struct ut_ace_frame frame = { .trace_name = s->output, .time_unit = s->time_unit };
	bool look = s->intermediate || watch->early;
	struct ut_ace_profile_rules rules = { s->opts.release, &a->messages };
	char *line = command_line(request);
	int rc = ut_ace_profile_read(&profile, &rules, s->profile, err);

	if (!rc)
		rc = check_places(s, err);
	if (!rc)
		rc = ut_ace_input(a, s, &frame, err);
	if (rc)
		goto out;
	warn_of_devices(a, s);
	read_logs(a, s);
	if (watch->early)
		ut_ace_extra_init(&watch->extra, a);
	rc = ut_ace_run(a, &profile, look ? after_stage : NULL, watch, err);
	if (rc)
		goto out;
	frame.other = watch->other = describe_run(a, s, line);
	rc = write_results(a, s, &frame, err);
out:
	ut_ace_frame_release(&frame);
	free(line);
	return rc;
}

int ut_ace_analyze(const struct ut_ace_request *request, struct ut_ace_analysis *a, bool *trusted,
		   struct ut_err *err)
{
	const struct ut_ace_setup *s = request->setup;
	struct watch watch = { .setup = s, .reports = ut_ace_reports(&s->report) };
	int rc;

	*trusted = true;
	if (ut_ace_verifies(&s->opts))
		return verify(request, a, trusted, err);
	watch.early = watch.reports && s->report.verify != UT_ACE_VERIFY_ONLY;
	rc = analyze(request, a, &watch, err);
	if (!rc) {
		ut_ace_say(&a->messages, UT_ACE_INFO, "Finishing Test parser. Return code= 0");
		ut_ace_say(&a->messages, UT_ACE_INFO, "Exported events:  %zu", a->table.seq_count);
	}
	fflush(NULL); /* whoever prints messages: they come before reports, and in one piece */
	if (!rc && watch.reports)
		rc = ut_ace_report_make(a, &watch.extra, s, watch.other, trusted, err);
	fflush(NULL);
	ut_ace_extra_release(&watch.extra);
	free(watch.other);
	return rc;
}
