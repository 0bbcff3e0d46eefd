/*
 * write_event.c - events as JSON text.
 */
#include "acelyzer/write_event.h"

#include <stdlib.h>

#include "acelyzer/coll_flow.h"
#include "acelyzer/write_value.h"
#include "base/grow.h"

static void put_lit(struct ut_ace_writer *w, const char *text, size_t len)
{
	ut_out_write(w->out, text, len);
}

#define PUT(w, text) put_lit((w), (text), sizeof(text) - 1)

static void write_event_put_number(struct ut_ace_writer *w, const char *key, double v)
{
	char text[UT_SHORTEST_ROOM];

	ut_out_fmt(w->out, ",\"%s\":%s", key, ut_shortest(text, v));
}

/* What a sample has until its counter is computed: its clock, or the times of a copy. */
static void put_sample(struct ut_ace_writer *w, const struct ut_ace_event *e)
{
	const double *all = w->a->table.devs[e->dev].all;

	if (e->flags & UT_ACE_CLOCK)
		write_event_put_number(w, "TS_cycles", e->dur);
	if (!(e->flags & UT_ACE_ENDS))
		return;
	write_event_put_number(w, "DmaI_start", all[0]);
	write_event_put_number(w, "DmaI_end", all[1]);
	write_event_put_number(w, "DmaO_start", all[3]);
	write_event_put_number(w, "DmaO_end", all[4]);
}

/* The object of arguments; what stands beside it in the event goes in as well. */
static void put_args_object(struct ut_ace_writer *w, const struct ut_ace_event *e)
{
	struct ut_ace_members m = { .w = w };

	PUT(w, ",\"args\":{");
	if (e->flags & UT_ACE_IN_ATTR) {
		PUT(w, "\"attr\":{");
		ut_ace_put_args(&m, e);
		PUT(w, "}");
		m.any = true;
	} else {
		ut_ace_put_args(&m, e);
	}
	if (m.any) /* a sample has a value */
		put_sample(w, e);
	if (e->extra)
		ut_ace_put_list(&m, e->extra, false);
	PUT(w, "}");
}

/* Which of the usual members an event has, in the order of the reference. */
enum part {
	CAT = 'c',
	PH = 'h',
	TS = 't',
	DUR = 'd',
	PID = 'p',
	TID = 'i',
};

int64_t ut_ace_tid_number(uint32_t id)
{
	return INT64_C(1000000000) + id;
}

/* name and then the parts, e.g. "chtdpi" for a span. */
static void write_event_put_parts(struct ut_ace_writer *w, const struct ut_ace_event *e,
				  const char *parts)
{
	struct ut_str name = ut_ace_text(w, e->name), cat = ut_ace_text(w, e->cat);
	char *p = ut_out_reserve(w->out, 4 * UT_ACE_PIECE + name.len + cat.len +
						 ut_ace_id_room(w, e->pid) +
						 ut_ace_id_room(w, e->tid));

	UT_ACE_LIT(p, "{\"name\":");
	p = ut_ace_copy(p, name);
	for (; *parts; parts++) {
		switch ((enum part) * parts) {
		case CAT:
			UT_ACE_LIT(p, ",\"cat\":");
			p = ut_ace_copy(p, cat);
			break;
		case PH:
			UT_ACE_LIT(p, ",\"ph\":\"X\"");
			p[-2] = e->ph;
			break;
		case TS:
			UT_ACE_LIT(p, ",\"ts\":");
			p = ut_shortest_put(p, e->ts);
			break;
		case DUR:
			UT_ACE_LIT(p, ",\"dur\":");
			p = ut_shortest_put(p, e->dur);
			break;
		case PID:
			UT_ACE_LIT(p, ",\"pid\":");
			p = ut_ace_put_id(w, p, e->pid);
			break;
		case TID:
			UT_ACE_LIT(p, ",\"tid\":");
			if (w->tid_numbers && w->a->table.ids[e->tid].kind == UT_ACE_ID_STR)
				p = ut_ace_put_int(p, ut_ace_tid_number(e->tid));
			else
				p = ut_ace_put_id(w, p, e->tid);
			break;
		}
	}
	ut_out_advance(w->out, p);
}

/* id and bp of arrows and asynchronous events. */
static void put_ids(struct ut_ace_writer *w, const struct ut_ace_event *e, bool bp)
{
	struct ut_arg arg;

	PUT(w, ",\"id\":");
	if (ut_ace_arg(&w->a->table, e->extra, UT_ACE_K_ID, &arg))
		ut_ace_put_value(w, &arg);
	else
		PUT(w, "0");
	if (bp && ut_ace_arg(&w->a->table, e->extra, UT_ACE_K_BP, &arg)) {
		PUT(w, ",\"bp\":");
		ut_ace_put_value(w, &arg);
	}
}

static void put_instant(struct ut_ace_writer *w, const struct ut_ace_event *e)
{
	struct ut_arg arg;

	write_event_put_parts(w, e, e->flags & UT_ACE_HAS_CAT ? "chtpi" : "htpi");
	if (!(e->flags & UT_ACE_HAS_CAT))
		PUT(w, ",\"cat\":null");
	PUT(w, ",\"s\":");
	if (ut_ace_arg(&w->a->table, e->extra, UT_ACE_K_S, &arg))
		ut_ace_put_value(w, &arg);
	else
		PUT(w, "\"t\"");
	put_args_object(w, e);
}

/* Phases that the reference refuses are shown with all that they have. */
static void put_other(struct ut_ace_writer *w, const struct ut_ace_event *e)
{
	struct ut_arg arg;
	bool cat = e->flags & UT_ACE_HAS_CAT, dur = e->flags & UT_ACE_HAS_DUR;

	write_event_put_parts(w, e, cat ? (dur ? "chtdpi" : "chtpi") : dur ? "htdpi" : "htpi");
	if (ut_ace_arg(&w->a->table, e->extra, UT_ACE_K_ID, &arg))
		put_ids(w, e, true);
	put_args_object(w, e);
}

static void put_meta(struct ut_ace_writer *w, const struct ut_ace_event *e)
{
	const struct ut_ace_id *tid = &w->a->table.ids[e->tid];
	bool show = tid->kind != UT_ACE_ID_NONE && (tid->kind != UT_ACE_ID_INT || tid->num);

	write_event_put_parts(w, e, show ? "htpi" : "htp");
	put_args_object(w, e);
}

void ut_ace_put_event(struct ut_ace_writer *w, const struct ut_ace_event *e)
{
	switch (e->ph) {
	case 'X':
		write_event_put_parts(w, e, "chtdpi");
		put_args_object(w, e);
		break;
	case 'C':
		write_event_put_parts(w, e, "thpc");
		put_args_object(w, e);
		break;
	case 's':
	case 'f':
		write_event_put_parts(w, e, "chtpi");
		put_ids(w, e, true);
		break;
	case 'b':
	case 'e':
		write_event_put_parts(w, e, "tpich");
		put_ids(w, e, false);
		put_args_object(w, e);
		break;
	case 'M':
		put_meta(w, e);
		break;
	case 'i':
		put_instant(w, e);
		break;
	default:
		put_other(w, e);
		break;
	}
	PUT(w, "}");
}

/* What a step of a collective operation has, and what an arrow made of it still has. */
static void write_event_put_step(struct ut_ace_writer *w, const struct ut_ace_event *e)
{
	const struct ut_ace_flows *f = w->a->flows;
	const struct ut_ace_coll_step *s = &f->steps[e->link];

	if (e->ph == 'F') {
		PUT(w, ",\"Peers\":[");
		for (uint32_t i = 0; i < s->peer_count; i++) {
			ut_out_text(w->out, i ? "," : "");
			ut_out_i64(w->out, f->peers[s->peers + i]);
		}
		ut_out_fmt(w->out, "],\"Type\":%d", s->type);
	}
	ut_out_fmt(w->out, ",\"jobhash\":%u", e->job + 1);
	if (!s->shown)
		return;
	PUT(w, ",\"sync\":");
	ut_out_text(w->out, ut_ace_text(w, s->sync).ptr);
	if (s->step >= 0)
		ut_out_fmt(w->out, ",\"step\":%d", s->step);
	if (s->io >= 0)
		ut_out_fmt(w->out, ",\"io_type\":%d", s->io);
}

void ut_ace_put_raw(struct ut_ace_writer *w, const struct ut_ace_event *e)
{
	struct ut_ace_members m = { .w = w, .any = true }, args = { .w = w };
	char parts[8] = "", *p = parts;

	if (e->flags & UT_ACE_HAS_CAT)
		*p++ = CAT;
	*p++ = PH;
	if (e->pid)
		*p++ = PID;
	if (e->tid)
		*p++ = TID;
	if (!(e->flags & UT_ACE_NO_TS))
		*p++ = TS;
	if (e->flags & UT_ACE_HAS_DUR)
		*p++ = DUR;
	write_event_put_parts(w, e, parts);
	put_sample(w, e);
	if (e->flags & UT_ACE_FLOW)
		write_event_put_step(w, e);
	if (e->extra)
		ut_ace_put_list(&m, e->extra, true);
	if (e->flags & UT_ACE_HAS_ARGS && e->ph != 'F') {
		ut_out_text(w->out, e->flags & UT_ACE_IN_ATTR ? ",\"attr\":{" : ",\"args\":{");
		ut_ace_put_args(&args, e);
		PUT(w, "}");
	}
	PUT(w, "}");
}

/* JSON as the reference prints values: single quotes, blanks behind commas and colons. */
char *ut_ace_describe(const struct ut_ace_analysis *a, const struct ut_ace_event *e)
{
	struct ut_out *o = ut_out_open_memory();
	struct ut_ace_writer w = { .a = a, .out = o }; /* remembers nothing: it is for one event */
	const char *json;
	char *text, *p;
	bool inside = false;
	size_t len;

	ut_ace_put_raw(&w, e);
	json = ut_out_data(o, &len);
	p = text = ut_make(2 * len + 1);
	for (size_t i = 0; i < len; i++) {
		if (json[i] == '\\' && i + 1 < len) {
			*p++ = json[i++];
			*p++ = json[i];
			continue;
		}
		inside ^= json[i] == '"';
		*p++ = json[i] == '"' ? '\'' : json[i];
		if (!inside && (json[i] == ',' || json[i] == ':'))
			*p++ = ' ';
	}
	*p = 0;
	ut_ace_writer_release(&w);
	ut_out_abandon(o);
	return text;
}
