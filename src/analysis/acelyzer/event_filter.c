#include "acelyzer/event_filter.h"

#include <inttypes.h>
#include <regex.h>
#include <stdio.h>
#include <string.h>

#include "text/shortest.h"

bool ut_ace_limit_passes(const struct ut_ace_limit *l, const struct ut_ace_event *e,
			 int64_t *counted)
{
	double end = e->ts + (e->flags & UT_ACE_HAS_DUR ? e->dur : 0);
	bool inside = end >= l->ts_start && e->ts <= l->ts_end;

	if (inside)
		++*counted;
	/* the limit counts from what was skipped; a sum that does not fit is no limit */
	if (inside && *counted > l->skip && *counted - l->skip <= l->count)
		return true;
	return e->ph && strchr(l->free_types, e->ph);
}

static const char *id_text(const struct ut_ace_analysis *a, uint32_t id, char *buf, size_t size)
{
	const struct ut_ace_id *v = &a->table.ids[id];

	if (v->kind == UT_ACE_ID_STR || v->kind == UT_ACE_ID_RAW)
		return ut_ace_str(&a->table, v->str).ptr;
	if (v->kind == UT_ACE_ID_U64)
		snprintf(buf, size, "%" PRIu64, (uint64_t)v->num);
	else
		snprintf(buf, size, "%" PRId64, v->num);
	return v->kind == UT_ACE_ID_NONE ? NULL : buf;
}

static const char *arg_text(const struct ut_ace_analysis *a, const struct ut_arg *arg, char *buf,
			    size_t size)
{
	switch ((enum ut_arg_type)arg->type) {
	case UT_ARG_STR:
		return ut_ace_str(&a->table, arg->value.str).ptr;
	case UT_ARG_U64:
	case UT_ARG_PTR:
		snprintf(buf, size, "%" PRIu64, arg->value.u64);
		return buf;
	case UT_ARG_I64:
		snprintf(buf, size, "%" PRId64, arg->value.i64);
		return buf;
	case UT_ARG_F64:
		return ut_shortest(buf, arg->value.f64);
	case UT_ARG_BOOL:
		return arg->value.u64 ? "True" : "False";
	case UT_ARG_JSON:
		return ut_ace_str(&a->table, arg->value.str).ptr;
	case UT_ARG_END:
		break;
	}
	return NULL;
}

/* What stands at args.KEY, as text; NULL = nothing. */
static const char *member_of_args(struct ut_ace_analysis *a, const struct ut_ace_event *e,
				  const char *key, char *buf, size_t size)
{
	const struct ut_ace_dev *d = ut_ace_dev_of(a, e);
	struct ut_arg arg;
	uint32_t id = ut_strtab_intern_z(&a->table.strings, key);

	if (e->dev && id >= UT_ACE_K_TS1 && id <= UT_ACE_K_TS5) {
		snprintf(buf, size, "%" PRId64, d->ts[id - UT_ACE_K_TS1]);
		return buf;
	}
	if (e->dev && id == UT_ACE_K_POWER && d->flags & UT_ACE_DEV_POWER_SHOW) {
		snprintf(buf, size, "%.0f", d->power);
		return buf;
	}
	if (id == UT_ACE_K_RANK && e->flags & UT_ACE_SHOW_RANK) {
		snprintf(buf, size, "%" PRId64, a->table.jobs[e->job].rank);
		return buf;
	}
	if (!ut_ace_arg(&a->table, e->args, id, &arg))
		return NULL;
	return arg_text(a, &arg, buf, size);
}

/* What stands at the path, as text; NULL = nothing, or something with parts. */
static const char *member(struct ut_ace_analysis *a, const struct ut_ace_event *e, const char *path,
			  char *buf, size_t size)
{
	struct ut_arg arg;

	if (!strncmp(path, "args.", 5))
		return member_of_args(a, e, path + 5, buf, size);
	if (!strcmp(path, "name"))
		return ut_ace_str(&a->table, e->name).ptr;
	if (!strcmp(path, "cat"))
		return e->flags & UT_ACE_HAS_CAT ? ut_ace_str(&a->table, e->cat).ptr : NULL;
	if (!strcmp(path, "ph"))
		return "X";
	if (!strcmp(path, "ts"))
		return ut_shortest(buf, e->ts);
	if (!strcmp(path, "dur"))
		return ut_shortest(buf, e->dur);
	if (!strcmp(path, "pid"))
		return id_text(a, e->pid, buf, size);
	if (!strcmp(path, "tid"))
		return id_text(a, e->tid, buf, size);
	if (ut_ace_arg(&a->table, e->extra, ut_strtab_intern_z(&a->table.strings, path), &arg))
		return arg_text(a, &arg, buf, size);
	return NULL;
}

bool ut_ace_filter_matches(struct ut_ace_analysis *a, const struct ut_ace_event *e)
{
	for (size_t i = 0; i < a->opts.filter_count; i++) {
		const struct ut_ace_filter *f = &a->opts.filters[i];
		char buf[UT_SHORTEST_ROOM];
		const char *text = member(a, e, f->path, buf, sizeof(buf));

		if (text && !regexec(f->regex, text, 0, NULL, 0))
			return true;
	}
	return false;
}
