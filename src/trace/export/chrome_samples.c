/*
 * chrome_samples.c - samples in a Chrome file: the members "samples" and "stackFrames" of its
 * outermost object, behind the events. The format has no process in a sample, and no address in a
 * frame; viewers ignore that we write them.
 */
#include <inttypes.h>

#include "export/args_json.h"
#include "export/chrome_write.h"
#include "model/event.h"
#include "text/digits.h"
#include "text/out.h"

#define UNKNOWN "[unknown]"

static void chrome_samples_put_string(struct ut_out *o, const char *key, const struct ut_trace *t,
				      uint32_t string)
{
	struct ut_str s = ut_strtab_get(&t->strings, string);

	if (!string)
		return;
	ut_out_text(o, key);
	ut_out_json_str(o, s.ptr, s.len);
}

static void put_weight(struct ut_cw *c, const struct ut_trace *t, const struct ut_event *e,
		       const struct ut_arg **weight)
{
	*weight = NULL;
	if (ut_sample_weight(e->val) == UT_SAMPLE_WEIGHT_ARG)
		*weight = ut_cw_find(t, e->args, UT_SAMPLE_WEIGHT, UT_ARG_END);
	ut_out_text(c->samples, ",\"weight\":");
	if (*weight)
		ut_args_json_value(c->samples, t, *weight);
	else
		ut_out_u64(c->samples, ut_sample_weight(e->val));
}

void ut_cw_sample(struct ut_cw *c, const struct ut_trace *t, const struct ut_event *e)
{
	const struct ut_arg *but[2] = { NULL, NULL };
	struct ut_cw_members m = { .out = c->samples, .open = ",\"args\":{", .but = but };
	uint32_t stack = ut_sample_stack(e->val);
	char *p;

	ut_out_text(c->samples, c->any_sample ? ",\n{\"pid\":" : "\n{\"pid\":");
	c->any_sample = true;
	ut_cw_pid(c, c->samples, t, t->tracks[e->track].process);
	ut_out_text(c->samples, ",\"tid\":");
	ut_cw_tid(c, c->samples, t, e->track);
	ut_out_text(c->samples, ",\"ts\":");
	p = ut_out_reserve(c->samples, 64);
	ut_out_advance(c->samples, ut_digits_us(p, e->ts));
	chrome_samples_put_string(c->samples, ",\"name\":", t, e->name);
	chrome_samples_put_string(c->samples, ",\"cat\":", t, e->cat);
	if (ut_sample_has_stack(t, e))
		ut_out_fmt(c->samples, ",\"sf\":\"%" PRIu64 "\"", c->stack_base + stack);
	put_weight(c, t, e, &but[0]);
	ut_cw_args(&m, t, e->args);
	ut_cw_end_members(&m);
	ut_out_text(c->samples, "}");
}

/* A frame must have a name; who reads it again knows these from the names of functions. */
static void put_frame_name(struct ut_out *o, const struct ut_trace *t,
			   const struct ut_place_in_code *p)
{
	ut_out_text(o, "{\"name\":");
	if (p->function)
		chrome_samples_put_string(o, "", t, p->function);
	else if (p->address)
		ut_out_fmt(o, "\"0x%" PRIx64 "\"", p->address);
	else
		ut_out_text(o, "\"" UNKNOWN "\"");
}

static void chrome_samples_put_frame(struct ut_cw *c, const struct ut_trace *t, uint32_t number)
{
	struct ut_out *o = c->frames;
	struct ut_callsite site = ut_stacks_get(&t->stacks, number);
	struct ut_place_in_code p = ut_stacks_get_place(&t->stacks, site.place);

	ut_out_fmt(o, "%s\n\"%" PRIu64 "\":", c->any_frame ? "," : "", c->stack_base + number);
	c->any_frame = true;
	put_frame_name(o, t, &p);
	chrome_samples_put_string(o, ",\"category\":", t, p.module);
	if (site.caller)
		ut_out_fmt(o, ",\"parent\":\"%" PRIu64 "\"", c->stack_base + site.caller);
	if (p.address)
		ut_out_fmt(o, ",\"address\":\"0x%" PRIx64 "\"", p.address);
	chrome_samples_put_string(o, ",\"file\":", t, p.file);
	if (p.line)
		ut_out_fmt(o, ",\"line\":%" PRIu32, p.line);
	ut_out_text(o, "}");
}

void ut_cw_end_samples(struct ut_cw *c, const struct ut_trace *t)
{
	for (uint32_t i = 1; i <= t->stacks.site_count; i++)
		chrome_samples_put_frame(c, t, i);
	c->stack_base += t->stacks.site_count;
}

void ut_cw_put_samples(struct ut_cw *c)
{
	const char *text;
	size_t len;

	if (c->any_frame) {
		text = ut_out_data(c->frames, &len);
		ut_out_text(c->out, ",\"stackFrames\":{");
		ut_out_write(c->out, text, len);
		ut_out_text(c->out, "\n}");
	}
	if (c->any_sample) {
		text = ut_out_data(c->samples, &len);
		ut_out_text(c->out, ",\"samples\":[");
		ut_out_write(c->out, text, len);
		ut_out_text(c->out, "\n]");
	}
}
