#include "draw/svg.h"

#include <inttypes.h>
#include <math.h>

#include "draw/scene.h"
#include "draw/typeset.h"
#include "text/html.h"
#include "text/out.h"

#define LARGEST  1e12 /* no picture is larger; llround() is exact for it */
#define SQUEEZED 8u   /* letters: of shorter texts a wider font does no harm */

struct svg {
	struct ut_out *out;
	unsigned int clips; /* so many have been defined */
};

/* Two decimals are finer than any printer; no locale has a say. */
static void svg_put_number(struct ut_out *o, double value)
{
	double bounded = value < -LARGEST ? -LARGEST : value > LARGEST ? LARGEST : value;
	long long hundredths = llround(bounded * 100);
	unsigned long long whole = (unsigned long long)(hundredths < 0 ? -hundredths : hundredths);

	if (hundredths < 0)
		ut_out_write(o, "-", 1);
	ut_out_u64(o, whole / 100);
	if (whole % 10)
		ut_out_fmt(o, ".%02llu", whole % 100);
	else if (whole % 100)
		ut_out_fmt(o, ".%llu", whole % 100 / 10);
}

static void put_attribute(struct svg *s, const char *name, double value)
{
	ut_out_fmt(s->out, " %s=\"", name);
	svg_put_number(s->out, value);
	ut_out_write(s->out, "\"", 1);
}

static void put_colour(struct svg *s, const char *name, uint32_t colour)
{
	if (!(colour & 0xff)) {
		ut_out_fmt(s->out, " %s=\"none\"", name);
		return;
	}
	ut_out_fmt(s->out, " %s=\"#%06" PRIx32 "\"", name, colour >> 8);
	if ((colour & 0xff) == 0xff)
		return;
	ut_out_fmt(s->out, " %s-opacity=\"", name);
	svg_put_number(s->out, (colour & 0xff) / 255.0);
	ut_out_write(s->out, "\"", 1);
}

static void put_paint(struct svg *s, const struct ut_paint *p)
{
	double pattern[4];
	size_t dashes = ut_dash_pattern(p->dash, p->width, pattern);

	put_colour(s, "fill", p->fill);
	if (!(p->stroke & 0xff))
		return;
	put_colour(s, "stroke", p->stroke);
	put_attribute(s, "stroke-width", p->width);
	if (!dashes)
		return;
	ut_out_text(s->out, " stroke-dasharray=\"");
	for (size_t i = 0; i < dashes; i++) {
		ut_out_text(s->out, i ? " " : "");
		svg_put_number(s->out, pattern[i]);
	}
	ut_out_write(s->out, "\"", 1);
}

/* Closes a tag, with what is told of it inside. */
static void put_end(struct svg *s, const struct ut_mark *m, const char *tag)
{
	if (!m->note.len) {
		ut_out_text(s->out, "/>\n");
		return;
	}
	ut_out_text(s->out, "><title>");
	ut_html_text(s->out, m->note.ptr, m->note.len);
	ut_out_fmt(s->out, "</title></%s>\n", tag);
}

static void put_path(struct svg *s, const struct ut_mark *m)
{
	ut_out_text(s->out, "<path d=\"");
	for (size_t i = 0; i < m->count; i++) {
		ut_out_write(s->out, i ? "L" : "M", 1);
		svg_put_number(s->out, m->points[i].x);
		ut_out_write(s->out, " ", 1);
		svg_put_number(s->out, m->points[i].y);
	}
	ut_out_text(s->out, m->kind == UT_MARK_AREA ? "Z\"" : "\"");
	put_paint(s, &m->paint);
	if (m->count > 2)
		ut_out_text(s->out, " stroke-linejoin=\"round\"");
	put_end(s, m, "path");
}

static void put_box(struct svg *s, const struct ut_box *box)
{
	put_attribute(s, "x", box->x);
	put_attribute(s, "y", box->y);
	put_attribute(s, "width", box->width);
	put_attribute(s, "height", box->height);
}

static void put_rect(struct svg *s, const struct ut_mark *m)
{
	ut_out_text(s->out, "<rect");
	put_box(s, &m->box);
	put_paint(s, &m->paint);
	put_end(s, m, "rect");
}

static void put_disc(struct svg *s, const struct ut_mark *m)
{
	ut_out_text(s->out, "<circle");
	put_attribute(s, "cx", m->box.x);
	put_attribute(s, "cy", m->box.y);
	put_attribute(s, "r", m->box.width);
	put_paint(s, &m->paint);
	put_end(s, m, "circle");
}

/* Where the viewer has a wider font, the text stays as wide as the layout takes it to be. */
static void put_width(struct svg *s, const struct ut_mark *m)
{
	if (m->type.is_bold || m->type.is_mono || m->text.len < SQUEEZED ||
	    !ut_text_is_measured(m->text))
		return;
	put_attribute(s, "textLength", ut_text_width(&m->type, m->text));
	ut_out_text(s->out, " lengthAdjust=\"spacingAndGlyphs\"");
}

static void svg_put_text(struct svg *s, const struct ut_mark *m)
{
	static const char *const anchors[] = { "", " text-anchor=\"middle\"",
					       " text-anchor=\"end\"" };

	ut_out_text(s->out, "<text");
	put_attribute(s, "x", m->box.x);
	put_attribute(s, "y", m->box.y);
	put_attribute(s, "font-size", m->type.size);
	put_colour(s, "fill", m->type.colour);
	ut_out_text(s->out, anchors[m->type.anchor]);
	put_width(s, m);
	if (m->type.is_bold)
		ut_out_text(s->out, " font-weight=\"bold\"");
	if (m->type.is_mono)
		ut_out_text(s->out, " font-family=\"'Liberation Mono', monospace\"");
	if (fpclassify(m->type.turn) != FP_ZERO) {
		ut_out_text(s->out, " transform=\"rotate(");
		svg_put_number(s->out, m->type.turn);
		ut_out_write(s->out, " ", 1);
		svg_put_number(s->out, m->box.x);
		ut_out_write(s->out, " ", 1);
		svg_put_number(s->out, m->box.y);
		ut_out_text(s->out, ")\"");
	}
	ut_out_text(s->out, ">");
	ut_html_text(s->out, m->text.ptr, m->text.len);
	if (m->note.len) {
		ut_out_text(s->out, "<title>");
		ut_html_text(s->out, m->note.ptr, m->note.len);
		ut_out_text(s->out, "</title>");
	}
	ut_out_text(s->out, "</text>\n");
}

static void put_clip(struct svg *s, const struct ut_mark *m)
{
	ut_out_fmt(s->out, "<clipPath id=\"clip%u\"><rect", s->clips);
	put_box(s, &m->box);
	ut_out_fmt(s->out, "/></clipPath>\n<g clip-path=\"url(#clip%u)\">\n", s->clips++);
}

static void put_mark(struct svg *s, const struct ut_mark *m)
{
	switch (m->kind) {
	case UT_MARK_LINE:
	case UT_MARK_AREA:
		put_path(s, m);
		break;
	case UT_MARK_RECT:
		put_rect(s, m);
		break;
	case UT_MARK_DISC:
		put_disc(s, m);
		break;
	case UT_MARK_TEXT:
		svg_put_text(s, m);
		break;
	case UT_MARK_CLIP:
		put_clip(s, m);
		break;
	case UT_MARK_UNCLIP:
		ut_out_text(s->out, "</g>\n");
		break;
	}
}

/* The size of all pages, one below the other. */
static struct ut_point svg_size_of(const struct ut_scene *scene)
{
	struct ut_point size = { 0, 0 };

	for (size_t i = 0; i < ut_scene_pages(scene); i++) {
		struct ut_scene_page page = ut_scene_page_of(scene, i);

		size.x = fmax(size.x, page.width);
		size.y += page.height;
	}
	return size;
}

static void svg_put_head(struct svg *s, const struct ut_scene *scene)
{
	struct ut_str title = ut_scene_title_of(scene);
	struct ut_point size = svg_size_of(scene);

	ut_out_text(s->out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
			    "<svg xmlns=\"http://www.w3.org/2000/svg\"");
	put_attribute(s, "width", size.x);
	put_attribute(s, "height", size.y);
	ut_out_text(s->out, " viewBox=\"0 0 ");
	svg_put_number(s->out, size.x);
	ut_out_write(s->out, " ", 1);
	svg_put_number(s->out, size.y);
	ut_out_text(s->out,
		    "\" font-family=\"" UT_TYPE_FAMILY ", Arial, 'Liberation Sans', 'DejaVu Sans "
		    "Condensed', sans-serif\" role=\"img\">\n");
	if (!title.len)
		return;
	ut_out_text(s->out, "<title>");
	ut_html_text(s->out, title.ptr, title.len);
	ut_out_text(s->out, "</title>\n");
}

void ut_svg_write(const struct ut_scene *scene, struct ut_out *out)
{
	const struct ut_paint paper = { .fill = 0xffffffff };
	struct svg s = { .out = out };
	double top = 0;

	svg_put_head(&s, scene);
	for (size_t i = 0; i < ut_scene_pages(scene); i++) {
		struct ut_scene_page page = ut_scene_page_of(scene, i);
		struct ut_mark ground = { .kind = UT_MARK_RECT,
					  .paint = paper,
					  .box = { 0, 0, page.width, page.height } };

		ut_out_text(out, "<g class=\"page\" transform=\"translate(0 ");
		svg_put_number(out, top);
		ut_out_text(out, ")\">\n");
		put_mark(&s, &ground);
		for (size_t k = 0; k < page.count; k++)
			put_mark(&s, &page.marks[k]);
		ut_out_text(out, "</g>\n");
		top += page.height;
	}
	ut_out_text(out, "</svg>\n");
}
