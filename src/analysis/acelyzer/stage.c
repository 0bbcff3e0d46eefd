#include "acelyzer/stage.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "acelyzer/profile.h"

#define MOST_LINES 20 /* about broken events; the rest is counted */

const struct ut_ace_stage ut_ace_stages[] = {
#define STAGE(name, releases, asked, pass) { #name, UT_ACE_##releases, ut_ace_pass_##pass },
	UT_ACE_STAGE_LIST(STAGE)
#undef STAGE
		{ NULL, 0, NULL },
};

_Static_assert(sizeof(ut_ace_stages) / sizeof(ut_ace_stages[0]) <= UT_ACE_MOST_STAGES,
	       "a profile has a place for every stage");

#define WITH_LOGS (o->counters & UT_ACE_RCU_UTIL && a->logs.count)

/* Do the options want stage number i? */
static bool asked_for(const struct ut_ace_analysis *a, int i)
{
	const struct ut_ace_opts *o = &a->opts;
	const bool asked[] = {
#define ASKED(name, releases, asked, pass) (asked) != 0,
		UT_ACE_STAGE_LIST(ASKED)
#undef ASKED
	};

	return asked[i];
}

static bool stage_known(const struct ut_ace_analysis *a, int i)
{
	return ut_ace_stages[i].releases & 1u << a->opts.release;
}

/* An event needs a time, a process and a name. */
static void drop_broken(struct ut_ace_analysis *a)
{
	const uint32_t lacking = UT_ACE_NO_TS | UT_ACE_NO_PID | UT_ACE_NO_NAME;
	struct ut_ace_table *t = &a->table;

	for (size_t i = 0; t->any_flags & lacking && i < t->seq_count; i++) {
		struct ut_ace_event *e = ut_ace_at(t, i);
		char *text;

		if (!(e->flags & lacking))
			continue;
		e->flags |= UT_ACE_DROP;
		if (a->bad_events++ >= MOST_LINES)
			continue;
		text = ut_ace_describe(a, e);
		ut_ace_say(&a->messages, UT_ACE_ERROR, "Event failed sanityCheck:  %s is not in %s",
			   e->flags & UT_ACE_NO_TS    ? "ts"
			   : e->flags & UT_ACE_NO_PID ? "pid"
						      : "name",
			   text);
		free(text);
	}
	if (a->bad_events > MOST_LINES)
		ut_ace_say(&a->messages, UT_ACE_ERROR,
			   "Event failed sanityCheck:  %" PRIu64 " more events were dropped",
			   a->bad_events - MOST_LINES);
	if (a->bad_events)
		ut_ace_seq_sweep(t);
}

/* Is there a barrier between the two phases of normalisation? */
static bool has_barrier(const struct ut_ace_analysis *a, const struct ut_ace_profile *p)
{
	for (int i = 0; ut_ace_stages[i].name; i++) {
		if (stage_known(a, i) && !strcmp(ut_ace_stages[i].name, "pipeline_barrier"))
			return p->on[i];
	}
	return false;
}

/* Which stages run. */
struct plan {
	bool on[UT_ACE_MOST_STAGES];
};

static bool runs(const struct plan *plan, const char *name)
{
	for (int i = 0; ut_ace_stages[i].name; i++) {
		if (plan->on[i] && !strcmp(ut_ace_stages[i].name, name))
			return true;
	}
	return false;
}

/*
 * A stage that is asked for takes the next entry of its name in the profile. So of a name that
 * comes several times an entry may go to a later stage, if one before it is not asked for.
 */
static void make_plan(struct ut_ace_analysis *a, const struct ut_ace_profile *p, struct plan *plan)
{
	int next = 0;

	for (int i = 0; ut_ace_stages[i].name; i++) {
		const char *name = ut_ace_stages[i].name;
		int at = next;

		if (!stage_known(a, i) || !asked_for(a, i))
			continue;
		while (ut_ace_stages[at].name &&
		       (!stage_known(a, at) || strcmp(ut_ace_stages[at].name, name) != 0))
			at++;
		if (ut_ace_stages[at].name) {
			plan->on[i] = p->on[at];
			next = at + 1;
		}
		if (!plan->on[i] && strncmp(name, "verify", 6) != 0)
			ut_ace_say(&a->messages, UT_ACE_INFO,
				   "DAH: Skipping registration of %s : disabled in profile.", name);
	}
}

/* Does a barrier hold all events back between two stages? */
static bool held(const struct plan *plan, const char *from, const char *to)
{
	bool after = false;

	for (int i = 0; ut_ace_stages[i].name && strcmp(ut_ace_stages[i].name, to) != 0; i++) {
		if (after && plan->on[i] && !strcmp(ut_ace_stages[i].name, "pipeline_barrier"))
			return true;
		after |= !strcmp(ut_ace_stages[i].name, from);
	}
	return false;
}

/*
 * What one stage collects another one applies, once all events were seen. A profile without the
 * barrier between them lets events pass both before there is anything to apply.
 */
static bool in_vain(struct ut_ace_analysis *a, const struct plan *plan, const char *name)
{
	if (!strcmp(name, "event_categorizer_update") && !held(plan, "event_categorizer", name))
		ut_ace_end_batches(a); /* the rest of the stage needs nothing */
	if (!strcmp(name, "frequency_align_apply"))
		return !held(plan, "frequency_align_collect", name);
	return !strcmp(name, "time_align_apply") && !held(plan, "time_align_collect", name);
}

/* Without the first phase of normalisation stamps count where they stand among the arguments. */
static void take_stamps(struct ut_ace_table *t)
{
	for (size_t i = 0; i < t->seq_count; i++) {
		struct ut_ace_event *e = ut_ace_at(t, i);

		if (e->dev && e->ph == 'X' && !(e->flags & UT_ACE_IN_ATTR))
			e->flags |= UT_ACE_NORMAL;
	}
}

int ut_ace_run(struct ut_ace_analysis *a, const struct ut_ace_profile *p, ut_ace_after *after,
	       void *ctx, struct ut_err *err)
{
	struct plan plan = { 0 };
	unsigned int number = 0;
	int rc = 0;

	drop_broken(a);
	make_plan(a, p, &plan);
	a->epochs_late = !has_barrier(a, p);
	a->full_names = !runs(&plan, "tb_refinement_intrusive");
	a->is_named = !runs(&plan, "tb_refinement_lightweight");
	if (!runs(&plan, "normalize_phase1") && !a->opts.verify)
		take_stamps(&a->table);
	for (int i = 0; !rc && ut_ace_stages[i].name; i++) {
		const struct ut_ace_stage *s = &ut_ace_stages[i];

		if (!plan.on[i])
			continue;
		rc = in_vain(a, &plan, s->name) ? 0 : s->run(a);
		if (rc)
			return ut_err_set(err, rc, "%s", a->err.text);
		if (after)
			rc = after(ctx, a, number, s->name, err);
		number++;
	}
	return rc;
}

/* -V: what kinds of events there are; nothing is changed. */
int ut_ace_pass_verify(struct ut_ace_analysis *a)
{
	struct ut_ace_table *t = &a->table;
	char types[256 * 5 + 1] = "";
	bool seen[256] = { false };
	uint64_t other = 0;
	size_t len = 0;

	for (size_t i = 0; i < t->seq_count; i++) {
		struct ut_ace_event *e = ut_ace_at(t, i);

		other += !strchr("XBEbe", e->ph);
		e->flags &= ~(uint32_t)(UT_ACE_SHOW_RANK | UT_ACE_HAS_JOB);
		if (seen[(unsigned char)e->ph])
			continue;
		seen[(unsigned char)e->ph] = true;
		len += (size_t)snprintf(types + len, sizeof(types) - len, "%s'%c'", len ? ", " : "",
					e->ph);
	}
	ut_ace_say(&a->messages, UT_ACE_INFO, "VRF: found types: {%s}", types);
	if (other)
		ut_ace_say(&a->messages, UT_ACE_ERROR,
			   "VRF: %" PRIu64 " events are neither slices nor asynchronous", other);
	return 0;
}
