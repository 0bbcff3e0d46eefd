#include "acelyzer/profile.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "acelyzer/stage.h"
#include "base/grow.h"
#include "base/json.h"
#include "base/str.h"
#include "text/source.h"

#define MOST_ENTRIES 400
#define MOST_TEXT    (1u << 20)

struct entry {
	char name[64];
	int occurrence; /* NAME#2; 0 = not said */
	bool on, used;
};

struct entries {
	struct entry items[MOST_ENTRIES];
	size_t count;
	bool found; /* there is a list */
};

/* Stages that release 1.2 leaves out for torch traces that are complete already. */
static const char torch_minimal[] =
	"{\"stages\":["
	"{\"normalize_phase1\":true},{\"normalize_phase2\":true},{\"event_sanity_checks\":true},"
	"{\"sort_events\":true},{\"detect_partial_overlap_tids\":true},"
	"{\"pipeline_barrier#2\":true},{\"detect_partial_overlap_events\":true},"
	"{\"assert_ts_sequence#2\":true},{\"collect_iteration_stats\":true},"
	"{\"extract_power_event\":true},{\"compute_power\":true},"
	"{\"extract_data_transfer_event\":true},{\"compute_bandwidth\":true},"
	"{\"compute_utilization_fingerprints\":true},{\"assert_ts_sequence#3\":true},"
	"{\"communication_event_collection\":true},{\"pipeline_barrier#3\":true},"
	"{\"communication_event_apply\":true},{\"compute_utilization\":true},"
	"{\"assert_global_ts_sequence\":true},{\"launch_flow_collect\":true},"
	"{\"event_categorizer\":true},{\"pipeline_barrier#4\":true},"
	"{\"event_categorizer_update\":true},{\"launch_flow_create_missing\":true},"
	"{\"flow_prepare_event_data\":true},{\"flow_extraction\":true},{\"mp_calc_bw_v2\":true},"
	"{\"mp_calc_bw\":true},{\"calculate_stats\":true},{\"processing_filter\":true},"
	"{\"flow_data_cleanup\":true},{\"cleanup_copy_of_device_ts\":true},"
	"{\"tb_refinement_intrusive\":true},{\"tb_refinement_lightweight\":true},"
	"{\"cycle_count_conversion_cleanup\":true},{\"calculate_stats_v2\":true}]}";

static const struct {
	const char *name, *text;
} built_in[] = {
	{ "default.json", "{}" },
	{ "everything.json", "{}" },
	{ "torch_minimal.json", torch_minimal },
	{ "verification.json", "{\"stages\":[{\"verify\":true},{\"verify_cleanup\":true}]}" },
};

static bool acelyzer_profile_known(const struct ut_ace_stage *s, enum ut_ace_release release)
{
	return s->releases & 1u << release;
}

void ut_ace_profile_all(struct ut_ace_profile *p, enum ut_ace_release release)
{
	*p = (struct ut_ace_profile){ 0 };
	for (int i = 0; ut_ace_stages[i].name; i++)
		p->on[i] = acelyzer_profile_known(&ut_ace_stages[i], release) &&
			   strncmp(ut_ace_stages[i].name, "verify", 6) != 0;
}

static bool read_entry(struct ut_json *j, struct entries *list)
{
	struct ut_str key, value;

	if (ut_json_peek(j) != '{')
		return ut_json_skip(j, NULL);
	ut_json_enter(j);
	while (ut_json_member(j, &key)) {
		struct entry *e = &list->items[list->count];
		char *hash;

		if (!ut_json_skip(j, &value))
			return false;
		if (list->count == MOST_ENTRIES || key.len >= sizeof(e->name))
			continue;
		*e = (struct entry){ .on = *value.ptr == 't' };
		memcpy(e->name, key.ptr, key.len);
		hash = strchr(e->name, '#');
		if (hash) {
			*hash = 0;
			e->occurrence = atoi(hash + 1);
		}
		list->count++;
	}
	return !j->trouble;
}

static bool read_entries(struct ut_json *j, struct entries *list)
{
	struct ut_str key;

	if (ut_json_peek(j) != '{')
		return false;
	ut_json_enter(j);
	while (ut_json_member(j, &key)) {
		if (!ut_str_is(key, "stages") || *j->at != '[') {
			if (!ut_json_skip(j, NULL))
				return false;
			continue;
		}
		list->found = true;
		ut_json_enter(j);
		while (ut_json_element(j) && read_entry(j, list))
			;
		if (j->trouble)
			return false;
	}
	return !j->trouble;
}

/* How many stages of a name there are, and how many entries. */
static int occurrences(const char *name, enum ut_ace_release release)
{
	int n = 0;

	for (int i = 0; ut_ace_stages[i].name; i++)
		n += acelyzer_profile_known(&ut_ace_stages[i], release) &&
		     !strcmp(ut_ace_stages[i].name, name);
	return n;
}

static int acelyzer_profile_listed(const struct entries *list, const char *name)
{
	int n = 0;

	for (size_t i = 0; i < list->count; i++)
		n += !strcmp(list->items[i].name, name);
	return n;
}

/* Release 1.0: entries are taken in order; one that does not come hides what follows. */
static void match_old(struct ut_ace_profile *p, struct entries *list, struct ut_ace_messages *m)
{
	size_t next = 0;
	int seen = 0;

	for (int i = 0; ut_ace_stages[i].name && next < list->count; i++) {
		struct entry *e = &list->items[next];

		if (!acelyzer_profile_known(&ut_ace_stages[i], UT_ACE_1_0) ||
		    strcmp(ut_ace_stages[i].name, e->name))
			continue;
		seen = 0;
		for (int k = 0; k <= i; k++)
			seen += acelyzer_profile_known(&ut_ace_stages[k], UT_ACE_1_0) &&
				!strcmp(ut_ace_stages[k].name, e->name);
		if (e->occurrence && seen != e->occurrence)
			continue;
		p->on[i] = e->on;
		next++;
	}
	if (next < list->count)
		ut_ace_say(
			m, UT_ACE_WARN,
			"STP: profile entry '%s' is unknown or not in the order of the stages: it "
			"and all that follow are off",
			list->items[next].name);
}

/* Release 1.2: the place of an entry in the master order must not lie before that of the last. */
static int match_new(struct ut_ace_profile *p, struct entries *list, enum ut_ace_release release,
		     const char *path, struct ut_err *err)
{
	int from = 0;

	for (size_t n = 0; n < list->count; n++) {
		struct entry *e = &list->items[n];
		int total = occurrences(e->name, release), seen = 0, at = -1;
		bool all = total > 1 && !e->occurrence &&
			   acelyzer_profile_listed(list, e->name) < total;

		for (int i = 0; ut_ace_stages[i].name; i++) {
			if (!acelyzer_profile_known(&ut_ace_stages[i], release) ||
			    strcmp(ut_ace_stages[i].name, e->name))
				continue;
			seen++;
			if (all) {
				p->on[i] = e->on;
				at = at < 0 ? i : at;
			} else if (e->occurrence ? seen == e->occurrence : at < 0 && i >= from) {
				p->on[i] = e->on;
				at = i;
			}
		}
		if (at < 0 || (!all && at < from))
			return ut_err_set(
				err, -EINVAL,
				"%s: stage '%s' is unknown or not in the order of the stages", path,
				e->name);
		from = all ? from : at + 1;
	}
	return 0;
}

/* limits: a text, where it came from, what it means and who hears of it */
int ut_ace_profile_text(struct ut_ace_profile *p, const struct ut_ace_profile_rules *r,
			const char *name, const char *text, size_t len, struct ut_err *err)
{
	struct entries *list = ut_make(sizeof(*list));
	struct ut_json j;
	int rc = 0;

	*p = (struct ut_ace_profile){ 0 };
	ut_json_init_text(&j, text, len);
	if (!read_entries(&j, list)) {
		rc = j.trouble ? ut_json_error(&j, name, err)
			       : ut_err_set(err, -EPROTO, "%s: a profile is a JSON object", name);
	} else if (!list->found) {
		/* {} stands for all; anything else without a list is a mistake */
		if (memchr(text, ':', len))
			rc = ut_err_set(err, -EINVAL, "%s: no key \"stages\" in the profile", name);
		else
			ut_ace_profile_all(p, r->release);
	} else if (r->release >= UT_ACE_1_2) {
		rc = match_new(p, list, r->release, name, err);
	} else {
		match_old(p, list, r->messages);
	}
	ut_json_release(&j);
	free(list);
	return rc;
}

static const char *find_built_in(const char *path)
{
	for (size_t i = 0; i < sizeof(built_in) / sizeof(built_in[0]); i++) {
		if (!strcmp(path, built_in[i].name))
			return built_in[i].text;
	}
	return NULL;
}

int ut_ace_profile_read(struct ut_ace_profile *p, const struct ut_ace_profile_rules *r,
			const char *path, struct ut_err *err)
{
	const char *text = access(path, F_OK) ? find_built_in(path) : NULL;
	struct ut_source source;
	struct ut_buf b = { 0 };
	char chunk[4096];
	ssize_t n;
	int rc;

	if (text)
		return ut_ace_profile_text(p, r, path, text, strlen(text), err);
	rc = ut_source_open(&source, path, err);
	if (rc)
		return rc;
	while ((n = ut_source_read(&source, chunk, sizeof(chunk), err)) > 0 && b.len < MOST_TEXT)
		ut_buf_add(&b, chunk, (size_t)n);
	ut_source_close(&source);
	rc = n < 0 ? (int)n : ut_ace_profile_text(p, r, path, b.data ? b.data : "", b.len, err);
	ut_buf_release(&b);
	return rc;
}
