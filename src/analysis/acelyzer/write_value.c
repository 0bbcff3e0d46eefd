#include "acelyzer/write_value.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "acelyzer/class.h"
#include "base/grow.h"

#define FEW_ARGS 32

void ut_ace_writer_init(struct ut_ace_writer *w, const struct ut_ace_analysis *a,
			struct ut_out *out)
{
	*w = (struct ut_ace_writer){ .a = a, .out = out };
	w->text_count = (size_t)a->table.strings.count + 1;
	w->texts = ut_make(w->text_count * sizeof(*w->texts));
	w->jobs = ut_make((a->table.job_count + 1) * sizeof(*w->jobs));
}

void ut_ace_writer_release(struct ut_ace_writer *w)
{
	ut_out_abandon(w->scratch);
	ut_arena_release(&w->arena);
	free(w->texts);
	free(w->jobs);
	*w = (struct ut_ace_writer){ 0 };
}

static struct ut_str json_of(struct ut_ace_writer *w, const char *s, size_t len)
{
	struct ut_str text;
	const char *all;
	size_t before;

	if (!w->scratch)
		w->scratch = ut_out_open_memory();
	ut_out_data(w->scratch, &before);
	ut_out_json_str(w->scratch, s, len);
	all = ut_out_data(w->scratch, &text.len);
	text.len -= before;
	text.ptr = ut_arena_copy(&w->arena, all + before, text.len);
	return text;
}

struct ut_str ut_ace_text(struct ut_ace_writer *w, uint32_t id)
{
	struct ut_str s;

	if (id < w->text_count && w->texts[id].ptr)
		return w->texts[id];
	s = ut_ace_str(&w->a->table, id);
	s = json_of(w, s.ptr, s.len);
	if (id < w->text_count)
		w->texts[id] = s;
	return s;
}

/* The name of a file, with its number in the output of release 1.2. */
static struct ut_str job_text(struct ut_ace_writer *w, uint32_t job)
{
	const struct ut_ace_job *j = &w->a->table.jobs[job];
	struct ut_str text;
	char *name;
	int n;

	if (w->jobs && w->jobs[job].ptr)
		return w->jobs[job];
	if (w->a->opts.release >= UT_ACE_1_2 && w->a->forgot_all) {
		n = asprintf(&name, "%s(%" PRIu32 ")", j->base, job + 1);
		if (n < 0)
			abort();
		text = json_of(w, name, (size_t)n);
		free(name);
	} else {
		text = json_of(w, j->base, j->base_len);
	}
	if (w->jobs)
		w->jobs[job] = text;
	return text;
}

size_t ut_ace_id_room(struct ut_ace_writer *w, uint32_t id)
{
	const struct ut_ace_id *v = &w->a->table.ids[id];

	if (v->kind == UT_ACE_ID_STR)
		return ut_ace_text(w, v->str).len;
	if (v->kind == UT_ACE_ID_RAW)
		return ut_ace_str(&w->a->table, v->str).len;
	return UT_DIGITS_ROOM;
}

char *ut_ace_put_id(struct ut_ace_writer *w, char *p, uint32_t id)
{
	const struct ut_ace_id *v = &w->a->table.ids[id];

	switch (v->kind) {
	case UT_ACE_ID_INT:
		return ut_ace_put_int(p, v->num);
	case UT_ACE_ID_U64:
		return ut_digits_u64(p, (uint64_t)v->num);
	case UT_ACE_ID_STR:
		return ut_ace_copy(p, ut_ace_text(w, v->str));
	case UT_ACE_ID_RAW:
		return ut_ace_copy(p, ut_ace_str(&w->a->table, v->str));
	case UT_ACE_ID_NONE:
		break;
	}
	*p++ = '0';
	return p;
}

static void write_value_put_text(struct ut_ace_writer *w, struct ut_str s)
{
	ut_out_write(w->out, s.ptr, s.len);
}

void ut_ace_put_value(struct ut_ace_writer *w, const struct ut_arg *arg)
{
	char *p;

	switch ((enum ut_arg_type)arg->type) {
	case UT_ARG_STR:
		write_value_put_text(w, ut_ace_text(w, arg->value.str));
		return;
	case UT_ARG_JSON:
		write_value_put_text(w, ut_ace_str(&w->a->table, arg->value.str));
		return;
	case UT_ARG_U64:
	case UT_ARG_PTR:
		ut_out_u64(w->out, arg->value.u64);
		return;
	case UT_ARG_I64:
		ut_out_i64(w->out, arg->value.i64);
		return;
	case UT_ARG_F64:
		p = ut_out_reserve(w->out, UT_ACE_PIECE);
		ut_out_advance(w->out, ut_shortest_put(p, arg->value.f64));
		return;
	case UT_ARG_BOOL:
		ut_out_text(w->out, arg->value.u64 ? "true" : "false");
		return;
	case UT_ARG_END:
		break;
	}
	ut_out_text(w->out, "null");
}

static void write_value_put_member(struct ut_ace_members *m, const struct ut_arg *arg)
{
	struct ut_str key = ut_ace_text(m->w, arg->key);
	char *p = ut_out_reserve(m->w->out, key.len + 2);

	*p = ',';
	p = ut_ace_copy(p + m->any, key);
	*p++ = ':';
	ut_out_advance(m->w->out, p);
	m->any = true;
	ut_ace_put_value(m->w, arg);
}

/* id and bp are members of the event itself. */
static bool is_id(const struct ut_arg *arg)
{
	return arg->key == UT_ACE_K_ID || arg->key == UT_ACE_K_BP;
}

void ut_ace_put_list(struct ut_ace_members *m, uint32_t list, bool ids)
{
	const struct ut_arglists *l = &m->w->a->table.lists;
	struct ut_arg few[FEW_ARGS], *args = few;
	size_t n = ut_arglists_get(l, list, few, FEW_ARGS);

	if (n > FEW_ARGS) {
		args = ut_make(n * sizeof(*args));
		ut_arglists_get(l, list, args, n);
	}
	for (size_t i = 0; i < n; i++) {
		if (ids || !is_id(&args[i]))
			write_value_put_member(m, &args[i]);
	}
	if (args != few)
		free(args);
}

static char *put_stamp(char *p, int64_t v, bool hex)
{
	p = hex ? ut_digits_hex(p, (uint64_t)v) : ut_ace_put_int(p, v);
	UT_ACE_LIT(p, "\",");
	return p;
}

/* Stamps and the reading as text: in decimal, or as they came while nothing has changed them. */
static void put_stamps(struct ut_ace_members *m, const struct ut_ace_event *e)
{
	const struct ut_ace_dev *d = &m->w->a->table.devs[e->dev];
	bool hex = d->flags & UT_ACE_DEV_HEX && !(e->flags & UT_ACE_NORMAL);
	char *p = ut_out_reserve(m->w->out, 7 * (UT_DIGITS_ROOM + 16));

	if (d->flags & UT_ACE_DEV_POWER_SHOW) {
		UT_ACE_LIT(p, "\"Power\":\"");
		p = put_stamp(p, (int64_t)d->power, hex);
	}
	for (int i = 0; i < UT_ACE_STAMPS; i++) {
		UT_ACE_LIT(p, "\"TS1\":\"");
		p[-4] = (char)('1' + i);
		p = put_stamp(p, d->ts[i], hex);
	}
	ut_out_advance(m->w->out, p - 1);
	m->any = true;
}

static char *put_five(char *p, const double *v)
{
	*p++ = '[';
	for (int i = 0; i < UT_ACE_STAMPS; i++) {
		p = ut_shortest_put(p, v[i]);
		*p++ = ',';
	}
	p[-1] = ']';
	return p;
}

/* Helper values; the last stages take them away, unless a profile leaves these out. */
static char *put_helpers(struct ut_ace_writer *w, const struct ut_ace_event *e, char *p)
{
	const struct ut_ace_dev *d = &w->a->table.devs[e->dev];
	double us[UT_ACE_STAMPS];

	if (d->flags & UT_ACE_DEV_US && !w->a->forgot_dev_us) {
		for (int i = 0; i < UT_ACE_STAMPS; i++)
			us[i] = ut_ace_dev_us(w->a, e, i);
		UT_ACE_LIT(p, ",\"ts_dev\":");
		p = put_five(p, us);
	}
	if (d->flags & UT_ACE_DEV_ALL && !w->a->forgot_all) {
		UT_ACE_LIT(p, ",\"ts_all\":");
		p = put_five(p, d->all);
	}
	return p;
}

/* What the passes found out about the stamps. */
static char *put_stamp_notes(struct ut_ace_writer *w, const struct ut_ace_event *e, char *p)
{
	const struct ut_ace_dev *d = &w->a->table.devs[e->dev];

	if (d->wrapped) {
		UT_ACE_LIT(p, ",\"TSxOF\":\"TS1\"");
		p[-2] = (char)('0' + d->wrapped);
	}
	if (e->flags & UT_ACE_TS_ADJ) {
		UT_ACE_LIT(p, ",\"ts_adj\":");
		p = ut_shortest_put(p, w->a->table.jobs[e->job].offset);
	}
	if (d->flags & UT_ACE_DEV_OVC) {
		UT_ACE_LIT(p, ",\"OVC\":");
		p = ut_ace_put_int(p, d->ovc);
	}
	if (d->flags & UT_ACE_DEV_ADJUST) {
		UT_ACE_LIT(p, ",\"time_adjust\":{\"ts\":");
		p = ut_shortest_put(p, d->adjust_ts);
		UT_ACE_LIT(p, ",\"dur\":");
		p = ut_shortest_put(p, d->adjust_dur);
		*p++ = '}';
	}
	return p;
}

/* Facts that every event may have; each starts with a comma. */
static char *write_value_put_facts(struct ut_ace_writer *w, const struct ut_ace_event *e, char *p)
{
	const char *cls;

	if (e->flags & UT_ACE_SHOW_CLASS) {
		cls = ut_ace_class_name(e->cls);
		UT_ACE_LIT(p, ",\"class\":\"");
		p = ut_ace_copy(p, (struct ut_str){ cls, strlen(cls) });
		*p++ = '"';
	}
	if (e->flags & UT_ACE_CORE_USED)
		UT_ACE_LIT(p, ",\"core used\":true");
	if (e->orig) {
		UT_ACE_LIT(p, ",\"orig_name\":");
		p = ut_ace_copy(p, ut_ace_text(w, e->orig));
	}
	if (e->flags & UT_ACE_SHOW_DEV) {
		UT_ACE_LIT(p, ",\"device\":");
		p = w->a->opts.release >= UT_ACE_1_2
			    ? ut_ace_put_int(p, w->a->table.jobs[e->job].rank)
			    : ut_ace_put_id(w, p, e->pid);
	}
	return p;
}

/* Arguments: those of the input, then what the passes have added. */
void ut_ace_put_args(struct ut_ace_members *m, const struct ut_ace_event *e)
{
	struct ut_ace_writer *w = m->w;
	bool stamps = e->dev && (e->ph == 'X' || e->ph == 'b' || e->ph == 'e');
	struct ut_str job = { "", 0 };
	char *p, *start;

	if (stamps)
		put_stamps(m, e);
	if (e->args)
		ut_ace_put_list(m, e->args, true);
	if (e->flags & UT_ACE_JOBNAME)
		job = job_text(w, e->job);
	p = start =
		ut_out_reserve(w->out, 32 * UT_ACE_PIECE + job.len + ut_ace_text(w, e->orig).len +
					       ut_ace_id_room(w, e->pid));
	if (e->flags & UT_ACE_HAS_JOB && e->ph != 'F' && !w->a->forgot_all) {
		UT_ACE_LIT(p, ",\"jobhash\":");
		p = ut_ace_put_int(p, (int64_t)e->job + 1);
	}
	if (e->flags & UT_ACE_SHOW_RANK) {
		UT_ACE_LIT(p, ",\"rank\":");
		p = ut_ace_put_int(p, w->a->table.jobs[e->job].rank);
	}
	if (job.len) {
		UT_ACE_LIT(p, ",\"jobname\":");
		p = ut_ace_copy(p, job);
	}
	if (stamps) {
		p = put_stamp_notes(w, e, p);
		p = put_helpers(w, e, p);
	}
	p = write_value_put_facts(w, e, p);
	if (p > start && !m->any) { /* the first member has no comma */
		memmove(start, start + 1, (size_t)(p - start - 1));
		p--;
	}
	m->any |= p > start;
	ut_out_advance(w->out, p);
}
