/*
 * stall_json.c - what was found about stalls, as one JSON object for programs and pages.
 */
#include "metrics/stall_parts.h"
#include "text/out.h"

static void key(struct ut_out *out, const char *name)
{
	ut_out_fmt(out, ",\"%s\":", name);
}

static void stall_json_put_str(struct ut_out *out, const char *name, struct ut_str s)
{
	key(out, name);
	ut_out_json_str(out, s.ptr, s.len);
}

static void stall_json_put_u64(struct ut_out *out, const char *name, uint64_t value)
{
	key(out, name);
	ut_out_u64(out, value);
}

static void stall_json_put_share(struct ut_out *out, double share)
{
	key(out, "share");
	ut_out_json_double(out, share);
}

static void put_source(struct ut_out *out, const struct ut_stall_place *p)
{
	if (p->file.len)
		stall_json_put_str(out, "file", p->file);
	if (p->line)
		stall_json_put_u64(out, "line", p->line);
	if (p->source.len)
		stall_json_put_str(out, "source", p->source);
	if (p->call.len)
		stall_json_put_str(out, "inlined_at", p->call);
}

static void stall_json_put_place(struct ut_out *out, const struct ut_stall_place *p)
{
	ut_out_text(out, "{\"address\":");
	ut_out_u64(out, p->address);
	stall_json_put_str(out, "text", p->text);
	if (p->control.len)
		stall_json_put_str(out, "control", p->control);
	put_source(out, p);
}

static void stall_json_put_finding(struct ut_out *out, const struct ut_stall_result *r,
				   const struct ut_stall_finding *f)
{
	ut_out_text(out, "{\"reason\":");
	ut_out_json_str(out, r->reasons[f->reason].ptr, r->reasons[f->reason].len);
	stall_json_put_u64(out, "samples", f->count);
	stall_json_put_share(out, f->share);
	key(out, "instruction");
	stall_json_put_place(out, &f->place);
	ut_out_text(out, "},\"causes\":[");
	for (size_t i = 0; i < f->cause_count; i++) {
		if (i)
			ut_out_text(out, ",");
		stall_json_put_place(out, &f->causes[i].place);
		stall_json_put_str(out, "through", f->causes[i].through);
		ut_out_text(out, "}");
	}
	ut_out_text(out, "]");
	if (f->others)
		stall_json_put_u64(out, "more_causes", f->others);
	ut_out_text(out, "}");
}

static void stall_json_put_samples(struct ut_out *out, const struct ut_stall_result *r,
				   const struct ut_stall_share *s)
{
	stall_json_put_u64(out, "samples", s->samples);
	stall_json_put_u64(out, "stalls", s->stalls);
	stall_json_put_share(out, s->share);
	if (s->reason == UT_STALL_NO_REASON)
		return;
	stall_json_put_str(out, "reason", r->reasons[s->reason]);
	stall_json_put_u64(out, "reason_samples", s->main);
}

static void put_lines(struct ut_out *out, const struct ut_stall_result *r)
{
	for (size_t i = 0; i < r->line_count; i++) {
		const struct ut_stall_share *s = &r->lines[i];

		ut_out_text(out, i ? ",\n{\"instructions\":" : "{\"instructions\":");
		ut_out_u64(out, s->instructions);
		put_source(out, &s->place);
		stall_json_put_samples(out, r, s);
		ut_out_text(out, "}");
	}
}

static void put_instructions(struct ut_out *out, const struct ut_stall_result *r)
{
	for (size_t i = 0; i < r->instruction_count; i++) {
		if (i)
			ut_out_text(out, ",\n");
		stall_json_put_place(out, &r->instructions[i].place);
		stall_json_put_samples(out, r, &r->instructions[i]);
		ut_out_text(out, "}");
	}
}

static void put_reasons(struct ut_out *out, const struct ut_stall_result *r)
{
	for (size_t i = 0; i < r->reason_count; i++) {
		const char *advice = ut_stall_advice(r->maker, r->reasons[i]);

		ut_out_text(out, i ? ",\n{\"reason\":" : "{\"reason\":");
		ut_out_json_str(out, r->reasons[i].ptr, r->reasons[i].len);
		stall_json_put_u64(out, "samples", r->totals[i]);
		if (advice)
			stall_json_put_str(out, "advice", ut_str_of(advice));
		ut_out_text(out, "}");
	}
}

void ut_stall_json(struct ut_out *out, const struct ut_stall_result *r)
{
	ut_out_text(out, "{\"kernel\":");
	ut_out_json_str(out, r->kernel.ptr, r->kernel.len);
	stall_json_put_str(out, "assembly", r->assembly);
	stall_json_put_str(out, "maker",
			   ut_str_of(r->maker == UT_STALL_INTEL ? "intel" : "nvidia"));
	stall_json_put_u64(out, "samples", r->samples);
	stall_json_put_u64(out, "stalls", r->stalls);
	stall_json_put_u64(out, "samples_without_instruction", r->lost);
	ut_out_text(out, ",\n\"reasons\":[");
	put_reasons(out, r);
	ut_out_text(out, "],\n\"findings\":[");
	for (size_t i = 0; i < r->finding_count; i++) {
		if (i)
			ut_out_text(out, ",\n");
		stall_json_put_finding(out, r, &r->findings[i]);
	}
	ut_out_text(out, "],\n\"lines\":[");
	put_lines(out, r);
	ut_out_text(out, "],\n\"instructions\":[");
	put_instructions(out, r);
	ut_out_text(out, "]}\n");
}
