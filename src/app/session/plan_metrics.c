/*
 * plan_metrics.c - what a plan asks of hardware metrics, as options that any backend understands:
 * metrics.asked (the group in the user's words), metrics.group, metrics.list (base/metric_list.h),
 * metrics.interval (ns), metrics.instances, metrics.cache, metrics.clocks.
 */
#include "session/session_plan.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/str.h"
#include "launch/levelzero_inject.h"
#include "metrics/metric_groups.h"
#include "session/session_event.h"
#include "wire/backend_options.h"
#include "wire/control.h"

#define INTERVAL_US 50

/* "1-3,7,9-": numbers from 1 on */
static bool is_instance_list(const char *p)
{
	for (;; p++) {
		if (!isdigit((unsigned char)*p) || *p == '0')
			return false;
		while (isdigit((unsigned char)*p))
			p++;
		if (*p == '-')
			p++;
		while (isdigit((unsigned char)*p))
			p++;
		if (*p != ',')
			return !*p;
	}
}

static int check_word(const char *option, const char *given, const char *word, struct ut_err *err)
{
	if (given && strcmp(given, "none") && strcmp(given, word))
		return ut_err_set(err, -EINVAL, "%s takes none or %s, not '%s'", option, word,
				  given);
	return 0;
}

static bool measures(const struct ut_device_opts *d)
{
	return d->metric_query || (d->metric_sampling && !d->stall_sampling);
}

/* The groups that there are, and the one that is asked for. Drivers of Level Zero have groups of
 * their own, which only they know: then it is NULL. */
static int plan_metrics_choose(const struct ut_device_opts *d, struct ut_metric_groups *groups,
			       const struct ut_metric_group **group, struct ut_err *err)
{
	int rc = d->metric_file ? ut_metric_groups_open(groups, d->metric_file, err) : 0;

	if (rc)
		return rc;
	rc = ut_metric_groups_find(groups, d->group ? d->group : UT_METRIC_DEFAULT_GROUP,
				   d->metric_query ? UT_METRIC_QUERY : UT_METRIC_SAMPLING, group,
				   err);
	return rc == -ENOENT && ut_levelzero_inject_has_driver() ? 0 : rc;
}

int ut_session_plan_check_metrics(const struct ut_session_plan *p, struct ut_err *err)
{
	const struct ut_device_opts *d = &p->device;
	const struct ut_metric_group *group;
	struct ut_metric_groups groups;
	int rc = check_word("--cache-control", d->cache_control, "all", err);

	if (!rc)
		rc = check_word("--clock-control", d->clock_control, "base", err);
	if (!rc && d->instances && !is_instance_list(d->instances))
		rc = ut_err_set(err, -EINVAL,
				"--metric-instances takes numbers such as 1-3,7, not "
				"'%s'",
				d->instances);
	if (rc || !measures(d))
		return rc;
	ut_metric_groups_init(&groups);
	rc = plan_metrics_choose(d, &groups, &group, err);
	ut_metric_groups_release(&groups);
	return rc;
}

static int plan_metrics_add(struct ut_control *control, const char *key, const char *value,
			    struct ut_err *err)
{
	struct ut_buf text = { 0 };
	int rc;

	if (!value || !value[0])
		return 0;
	ut_buf_fmt(&text, "metrics.%s=%s", key, value);
	rc = ut_backend_option_add(control->options, text.data);
	ut_buf_release(&text);
	return rc ? ut_err_set(err, -EINVAL, "too many metrics in the group (%d bytes at most)",
			       UT_OPTION_BYTES)
		  : 0;
}

static void report_likeness(const struct ut_device_opts *d, const struct ut_metric_group *group,
			    const struct ut_session_client *client)
{
	if (d->group && strcasecmp(d->group, group->name.ptr) != 0)
		ut_session_notify_text(
			client,
			(struct ut_session_event){ .kind = UT_SESSION_EVENT_REMARK,
						   .level = UT_INFO },
			"--group %s is a group of Intel's devices; on NVIDIA's, %s is "
			"measured, which is nearest to it",
			d->group, group->name.ptr);
}

static int plan_metrics_add_group(const struct ut_device_opts *d, struct ut_control *control,
				  const struct ut_session_client *client, struct ut_err *err)
{
	const struct ut_metric_group *group;
	struct ut_metric_groups groups;
	struct ut_buf list = { 0 };
	int rc;

	ut_metric_groups_init(&groups);
	rc = plan_metrics_choose(d, &groups, &group, err);
	if (!rc && group) {
		report_likeness(d, group, client);
		ut_metric_group_list(group, &list);
		rc = plan_metrics_add(control, "group", group->name.ptr, err);
	}
	if (!rc && group)
		rc = plan_metrics_add(control, "list", list.data, err);
	ut_buf_release(&list);
	ut_metric_groups_release(&groups);
	return rc;
}

/* Beside samples of stalls one run of each kernel is measured, if nobody says otherwise. */
static const char *instances(const struct ut_device_opts *d, const struct ut_session_client *client)
{
	if (d->instances || !d->metric_query || !d->stall_sampling)
		return d->instances;
	ut_session_notify_text(
		client,
		(struct ut_session_event){ .kind = UT_SESSION_EVENT_REMARK, .level = UT_INFO },
		"-q with --stall-sampling: the first run of each kernel is measured, the "
		"others are sampled (--metric-instances)");
	return "1";
}

int ut_session_plan_apply_metrics(const struct ut_session_plan *p, struct ut_control *control,
				  const struct ut_session_client *client, struct ut_err *err)
{
	const struct ut_device_opts *d = &p->device;
	uint64_t us = d->interval_us ? d->interval_us : INTERVAL_US;
	char interval[32];
	int rc = 0;

	if (!d->metric_query && !d->metric_sampling && !d->stall_sampling)
		return 0;
	if (measures(d))
		rc = plan_metrics_add_group(d, control, client, err);
	if (!rc && measures(d))
		rc = plan_metrics_add(control, "asked", d->group, err);
	snprintf(interval, sizeof(interval), "%" PRIu64, us * 1000);
	if (!rc)
		rc = plan_metrics_add(control, "interval", interval, err);
	if (!rc)
		rc = plan_metrics_add(control, "instances", instances(d, client), err);
	if (!rc)
		rc = plan_metrics_add(control, "idle", d->idle_sampling ? "1" : NULL, err);
	if (!rc)
		rc = plan_metrics_add(control, "cache", d->cache_control, err);
	if (!rc)
		rc = plan_metrics_add(control, "clocks", d->clock_control, err);
	return rc;
}
