#include "draw/paper.h"

#include <errno.h>
#include <math.h>

#include "draw/cairo_load.h"
#include "draw/scene.h"
#include "draw/typeset.h"
#include "text/out.h"

#define FULL_TURN        (2 * M_PI)
#define PNG_SCALE        2.0     /* pixels a point: sharp on today's screens */
#define PNG_LARGEST      32767.0 /* pixels: cairo's own limit */
#define METADATA_TITLE   0       /* CAIRO_PDF_METADATA_TITLE, which old headers lack */
#define METADATA_CREATOR 4

struct paper {
	cairo_t *to;
	const char *family;
};

/* The family whose letters are as wide as layouts take them to be, or the one that comes closest
 * among those that are common: where Helvetica is missing, something wider may stand in for it. */
static void choose_family(struct paper *p)
{
	static const char *const families[] = { UT_TYPE_FAMILY, "Liberation Sans", "Nimbus Sans",
						"DejaVu Sans Condensed" };
	const struct ut_lettering type = { .size = 100 };
	const char *sample = "The quick brown fox jumps over 0123456789";
	double wanted = ut_text_width(&type, ut_str_of(sample)), best = INFINITY;

	ut_cairo.set_font_size(p->to, type.size);
	for (size_t i = 0; i < sizeof(families) / sizeof(families[0]); i++) {
		cairo_text_extents_t found;

		ut_cairo.select_font_face(p->to, families[i], CAIRO_FONT_SLANT_NORMAL,
					  CAIRO_FONT_WEIGHT_NORMAL);
		ut_cairo.text_extents(p->to, sample, &found);
		if (fabs(found.x_advance - wanted) < best * 0.98) {
			best = fabs(found.x_advance - wanted);
			p->family = families[i];
		}
	}
}

static void set_colour(const struct paper *p, uint32_t colour)
{
	ut_cairo.set_source_rgba(p->to, (colour >> 24) / 255.0, (colour >> 16 & 0xff) / 255.0,
				 (colour >> 8 & 0xff) / 255.0, (colour & 0xff) / 255.0);
}

/* Fills and strokes the path that was made. */
static void paint(const struct paper *p, const struct ut_paint *how)
{
	double pattern[4];
	size_t dashes = ut_dash_pattern(how->dash, how->width, pattern);

	if (how->fill & 0xff) {
		set_colour(p, how->fill);
		ut_cairo.fill_preserve(p->to);
	}
	if (how->stroke & 0xff) {
		set_colour(p, how->stroke);
		ut_cairo.set_line_width(p->to, how->width);
		ut_cairo.set_dash(p->to, pattern, (int)dashes, 0);
		ut_cairo.stroke(p->to);
	}
	ut_cairo.new_path(p->to);
}

static void draw_path(const struct paper *p, const struct ut_mark *m)
{
	for (size_t i = 0; i < m->count; i++) {
		if (i)
			ut_cairo.line_to(p->to, m->points[i].x, m->points[i].y);
		else
			ut_cairo.move_to(p->to, m->points[i].x, m->points[i].y);
	}
	if (m->kind == UT_MARK_AREA)
		ut_cairo.close_path(p->to);
	paint(p, &m->paint);
}

/* A font that is wider than the layout knows is squeezed into its place. */
static void draw_text(const struct paper *p, const struct ut_mark *m)
{
	static const double before[] = { 0, 0.5, 1 }; /* of the width, by anchor */
	const struct ut_lettering *t = &m->type;
	double wanted = ut_text_width(t, m->text), squeeze = 1;
	cairo_text_extents_t found;

	ut_cairo.select_font_face(p->to, t->is_mono ? UT_TYPE_MONO : p->family,
				  CAIRO_FONT_SLANT_NORMAL,
				  t->is_bold ? CAIRO_FONT_WEIGHT_BOLD : CAIRO_FONT_WEIGHT_NORMAL);
	ut_cairo.set_font_size(p->to, t->size);
	ut_cairo.text_extents(p->to, m->text.ptr, &found);
	if (found.x_advance > wanted && wanted > 0)
		squeeze = wanted / found.x_advance;
	ut_cairo.save(p->to);
	ut_cairo.translate(p->to, m->box.x, m->box.y);
	ut_cairo.rotate(p->to, t->turn / 360 * FULL_TURN);
	ut_cairo.scale(p->to, squeeze, 1);
	ut_cairo.move_to(p->to, -before[t->anchor] * found.x_advance, 0);
	set_colour(p, t->colour);
	ut_cairo.show_text(p->to, m->text.ptr);
	ut_cairo.restore(p->to);
	ut_cairo.new_path(p->to);
}

static void draw_mark(const struct paper *p, const struct ut_mark *m)
{
	switch (m->kind) {
	case UT_MARK_LINE:
	case UT_MARK_AREA:
		draw_path(p, m);
		break;
	case UT_MARK_RECT:
		ut_cairo.rectangle(p->to, m->box.x, m->box.y, m->box.width, m->box.height);
		paint(p, &m->paint);
		break;
	case UT_MARK_DISC:
		ut_cairo.arc(p->to, m->box.x, m->box.y, m->box.width, 0, FULL_TURN);
		paint(p, &m->paint);
		break;
	case UT_MARK_TEXT:
		draw_text(p, m);
		break;
	case UT_MARK_CLIP:
		ut_cairo.rectangle(p->to, m->box.x, m->box.y, m->box.width, m->box.height);
		ut_cairo.clip(p->to);
		break;
	case UT_MARK_UNCLIP:
		ut_cairo.reset_clip(p->to);
		break;
	}
}

static void draw_page(const struct paper *p, const struct ut_scene_page *page)
{
	const struct ut_paint ground = { .fill = 0xffffffff };

	ut_cairo.set_line_join(p->to, CAIRO_LINE_JOIN_ROUND);
	ut_cairo.rectangle(p->to, 0, 0, page->width, page->height);
	paint(p, &ground);
	for (size_t i = 0; i < page->count; i++)
		draw_mark(p, &page->marks[i]);
}

static cairo_status_t paper_take(void *out, const unsigned char *data, unsigned int len)
{
	ut_out_write(out, data, len);
	return CAIRO_STATUS_SUCCESS;
}

static int paper_evaluate(cairo_status_t status, struct ut_err *err)
{
	return status == CAIRO_STATUS_SUCCESS ? 0
					      : ut_err_set(err, -EIO, "cairo cannot draw this: %s",
							   ut_cairo.status_to_string(status));
}

int ut_paper_check(struct ut_err *err)
{
	return ut_cairo_load(err);
}

int ut_paper_pdf(const struct ut_scene *s, struct ut_out *out, struct ut_err *err)
{
	cairo_surface_t *surface;
	struct paper p;
	int rc = ut_cairo_load(err);

	if (rc)
		return rc;
	surface = ut_cairo.pdf_surface_create_for_stream(paper_take, out, 1, 1);
	if (ut_cairo.pdf_surface_set_metadata) {
		ut_cairo.pdf_surface_set_metadata(surface, METADATA_TITLE,
						  ut_scene_title_of(s).ptr);
		ut_cairo.pdf_surface_set_metadata(surface, METADATA_CREATOR, "unitrace");
	}
	p = (struct paper){ ut_cairo.create(surface), UT_TYPE_FAMILY };
	choose_family(&p);
	for (size_t i = 0; i < ut_scene_pages(s); i++) {
		struct ut_scene_page page = ut_scene_page_of(s, i);

		ut_cairo.pdf_surface_set_size(surface, page.width, page.height);
		draw_page(&p, &page);
		ut_cairo.show_page(p.to);
	}
	rc = paper_evaluate(ut_cairo.status(p.to), err);
	ut_cairo.destroy(p.to);
	ut_cairo.surface_finish(surface);
	if (!rc)
		rc = paper_evaluate(ut_cairo.surface_status(surface), err);
	ut_cairo.surface_destroy(surface);
	return rc;
}

/* Pixels a point at which all pages fit below each other; 0 = at none. */
static double png_scale(const struct ut_scene *s, struct ut_point *size)
{
	*size = (struct ut_point){ 0, 0 };
	for (size_t i = 0; i < ut_scene_pages(s); i++) {
		struct ut_scene_page page = ut_scene_page_of(s, i);

		size->x = fmax(size->x, page.width);
		size->y += page.height;
	}
	for (double scale = PNG_SCALE; scale >= 1; scale /= 2) {
		if (fmax(size->x, size->y) * scale <= PNG_LARGEST)
			return scale;
	}
	return 0;
}

int ut_paper_png(const struct ut_scene *s, struct ut_out *out, struct ut_err *err)
{
	struct ut_point size;
	double scale = png_scale(s, &size);
	cairo_surface_t *surface;
	struct paper p;
	int rc = ut_cairo_load(err);

	if (rc)
		return rc;
	if (!(scale > 0))
		return ut_err_set(err, -E2BIG,
				  "%zu pages are too tall for one PNG: PDF and SVG have room",
				  ut_scene_pages(s));
	surface = ut_cairo.image_surface_create(CAIRO_FORMAT_RGB24, (int)ceil(size.x * scale),
						(int)ceil(size.y * scale));
	p = (struct paper){ ut_cairo.create(surface), UT_TYPE_FAMILY };
	choose_family(&p);
	ut_cairo.scale(p.to, scale, scale);
	for (size_t i = 0; i < ut_scene_pages(s); i++) {
		struct ut_scene_page page = ut_scene_page_of(s, i);

		draw_page(&p, &page);
		ut_cairo.translate(p.to, 0, page.height);
	}
	rc = paper_evaluate(ut_cairo.status(p.to), err);
	ut_cairo.destroy(p.to);
	if (!rc)
		rc = paper_evaluate(ut_cairo.surface_write_to_png_stream(surface, paper_take, out),
				    err);
	ut_cairo.surface_destroy(surface);
	return rc;
}
