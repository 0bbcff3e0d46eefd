/*
 * plan_device.c - what a plan asks of backends.
 */
#include "session/session_plan.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "session/device_report.h"
#include "session/session_event.h"
#include "unitrace/backend.h"
#include "wire/backend_options.h"
#include "wire/control.h"

uint32_t ut_session_plan_want(const struct ut_session_plan *p)
{
	const struct ut_device_opts *d = &p->device;
	uint32_t want = 0;

	if (d->chrome_kernel || d->opencl)
		want |= UT_WANT_WORK | UT_WANT_SUBMITS;
	if (d->chrome_device || d->device_timing)
		want |= UT_WANT_WORK;
	/* Some runtimes tell by the call alone when work was submitted, and by whom. */
	if (d->kernel_submission || d->device_timeline)
		want |= UT_WANT_WORK | UT_WANT_SUBMITS;
	if (d->chrome_call || d->host_timing)
		want |= UT_WANT_CALLS;
	if (d->cuda_pages)
		want |= UT_WANT_WORK | UT_WANT_PAGES;
	if (d->call_logging)
		want |= UT_WANT_CALLS | UT_WANT_CALL_ARGS;
	/* Metrics are of kernels: which ran, and when, has to be known. */
	if (d->metric_query)
		want |= UT_WANT_WORK | UT_WANT_QUERY;
	if (d->metric_sampling && !d->stall_sampling)
		want |= UT_WANT_WORK | UT_WANT_SAMPLING;
	if (d->stall_sampling)
		want |= UT_WANT_WORK | UT_WANT_STALLS;
	return want;
}

/* Hot kernels are the ones whose metrics matter: without a timeline the table says which. */
static bool times_for_metrics(const struct ut_device_opts *d)
{
	return (d->metric_query || d->metric_sampling || d->stall_sampling) && !d->chrome_kernel &&
	       !d->chrome_device;
}

void ut_session_plan_reports(const struct ut_session_plan *p, struct ut_device_report *report)
{
	const struct ut_device_opts *d = &p->device;
	const bool wanted[UT_TABLE_KINDS] = {
		[UT_TABLE_CALL_LOG] = d->call_logging,
		[UT_TABLE_TIMELINE] = d->device_timeline,
		[UT_TABLE_HOST] = d->host_timing,
		[UT_TABLE_DEVICE] = d->device_timing || times_for_metrics(d),
		[UT_TABLE_SUBMISSION] = d->kernel_submission,
	};

	for (int i = 0; i < UT_TABLE_KINDS; i++) {
		if (wanted[i])
			ut_device_report_want(report, (enum ut_device_table_kind)i);
	}
	report->shapes = p->shapes;
	report->pid = p->pid;
	report->tid = p->tid;
}

/* Is the number among those of "1,2"? */
static bool lists(const struct ut_opt_list *list, long number)
{
	for (size_t i = 0; i < list->count; i++) {
		for (const char *p = list->items[i]; *p; p += strcspn(p, ","), p += *p == ',') {
			if (strtol(p, NULL, 10) == number)
				return true;
		}
	}
	return false;
}

bool ut_session_plan_wants_rank(const struct ut_session_plan *p, int rank)
{
	return !p->device.ranks.count || rank < 0 || lists(&p->device.ranks, rank);
}

static uint64_t devices_wanted(const struct ut_opt_list *list)
{
	uint64_t wanted = 0;

	for (size_t i = 0; i < list->count; i++) {
		for (const char *p = list->items[i]; *p; p += strcspn(p, ","), p += *p == ',') {
			unsigned long n = strtoul(p, NULL, 10);

			wanted |= UINT64_C(1) << (n < UT_MOST_DEVICES ? n : UT_MOST_DEVICES - 1);
		}
	}
	return wanted;
}

/* ---- which kernels ------------------------------------------------------------------------- */

/* One name of a list and what closes it; double quotes protect everything. Blanks around it go. */
static const char *next_name(const char *p, const char *separators, struct ut_buf *name)
{
	bool quoted = false;
	size_t solid = 0; /* up to here no blank may be taken away */

	name->len = 0;
	for (; *p && (quoted || !strchr(separators, *p)); p++) {
		if (*p == '"') {
			quoted = !quoted;
			solid = name->len;
		} else if (quoted || !strchr(" \t\r", *p)) {
			ut_buf_char(name, *p);
			solid = name->len;
		} else if (name->len) {
			ut_buf_char(name, *p);
		}
	}
	ut_buf_char(name, '\0');
	name->data[solid] = '\0';
	return p;
}

static int add_names(char list[UT_FILTER_BYTES], const char *text, const char *separators,
		     struct ut_err *err)
{
	struct ut_buf name = { 0 };
	const char *p = text ? text : "";
	bool more = true;
	int rc = 0;

	while (more && !rc) {
		p = next_name(p, separators, &name);
		if (name.data[0])
			rc = ut_control_add_filter(list, name.data);
		more = *p != '\0';
		p += more;
	}
	ut_buf_release(&name);
	if (rc)
		return ut_err_set(err, -EINVAL, "too many kernel names (%d bytes at most)",
				  UT_FILTER_BYTES);
	return 0;
}

static int plan_device_add_file(char list[UT_FILTER_BYTES], const char *path, struct ut_err *err)
{
	char text[4 * UT_FILTER_BYTES];
	FILE *f = path ? fopen(path, "re") : NULL;
	size_t len;

	if (!path)
		return 0;
	if (!f)
		return ut_err_set(err, -EINVAL, "%s: %s", path, strerror(errno));
	len = fread(text, 1, sizeof(text) - 1, f);
	fclose(f);
	text[len] = '\0';
	if (len == sizeof(text) - 1)
		return ut_err_set(err, -EINVAL, "%s: too long for a list of kernels", path);
	return add_names(list, text, ",\n", err);
}

/* ---- options of backends ------------------------------------------------------------------- */

static int add_option(char list[UT_OPTION_BYTES], const char *text, struct ut_err *err)
{
	int rc = ut_backend_option_add(list, text);

	if (rc == -ENOSPC)
		return ut_err_set(err, -EINVAL, "too many options for backends (%d bytes at most)",
				  UT_OPTION_BYTES);
	return rc ? ut_err_set(err, rc, "--backend-option: '%s' is not NAME.KEY=VALUE", text) : 0;
}

/* Variables that are documented for users; what the command line says is stronger. */
static int add_variables(char list[UT_OPTION_BYTES], struct ut_err *err)
{
	static const struct {
		const char *variable, *key;
	} known[] = { { "UNITRACE_CUPTI", "cuda.cupti" }, { "UNITRACE_CUDA_TUNE", "cuda.tune" } };
	int rc = 0;

	for (size_t i = 0; i < sizeof(known) / sizeof(*known) && !rc; i++) {
		const char *value = getenv(known[i].variable);
		struct ut_buf text = { 0 };

		if (!value)
			continue;
		ut_buf_fmt(&text, "%s=%s", known[i].key, value);
		rc = add_option(list, text.data, err);
		ut_buf_release(&text);
	}
	return rc;
}

static int add_options(char list[UT_OPTION_BYTES], const struct ut_opt_list *given,
		       struct ut_err *err)
{
	int rc = add_variables(list, err);

	for (size_t i = 0; i < given->count && !rc; i++)
		rc = add_option(list, given->items[i], err);
	return rc;
}

int ut_session_plan_apply_device(const struct ut_session_plan *p, struct ut_control *control,
				 const struct ut_session_client *client, struct ut_err *err)
{
	const struct ut_device_opts *d = &p->device;
	int rc = add_names(control->include_kernels, d->include, ",", err);

	if (!rc)
		rc = plan_device_add_file(control->include_kernels, d->include_file, err);
	if (!rc)
		rc = add_names(control->exclude_kernels, d->exclude, ",", err);
	if (!rc)
		rc = plan_device_add_file(control->exclude_kernels, d->exclude_file, err);
	if (!rc)
		rc = ut_session_plan_apply_metrics(p, control, client, err);
	if (!rc && d->separate_tiles)
		rc = add_option(control->options, "levelzero.tiles=1", err);
	if (!rc)
		rc = add_options(control->options, &d->backend_options, err);
	if (ut_session_plan_wants_rank(p, control->rank))
		control->want = ut_session_plan_want(p);
	else if (ut_session_plan_want(p) && !p->out.quiet)
		ut_session_notify_text(
			client,
			(struct ut_session_event){ .kind = UT_SESSION_EVENT_RANK_LEFT_OUT,
						   .level = UT_INFO,
						   .rank = control->rank },
			"MPI rank %d is not enabled for tracing or profiling", control->rank);
	control->devices = devices_wanted(&d->devices);
	if (d->no_engine)
		control->flags |= UT_CONTROL_ONE_QUEUE;
	return rc;
}
