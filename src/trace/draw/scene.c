#include "draw/scene.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

#include "base/arena.h"
#include "base/grow.h"
#include "base/utf8.h"

struct page {
	double width, height;
	struct ut_mark *marks;
	size_t count, cap;
};

struct ut_scene {
	struct ut_arena arena; /* points and texts */
	struct ut_str title;
	struct page *pages;
	size_t count, cap;
};

size_t ut_dash_pattern(enum ut_dash dash, double width, double to[4])
{
	static const double patterns[UT_DASHES][4] = {
		[UT_DASH_LONG] = { 4, 2 },
		[UT_DASH_DOTS] = { 1, 1.5 },
		[UT_DASH_MIXED] = { 5, 1.5, 1, 1.5 },
	};

	for (size_t i = 0; i < 4; i++)
		to[i] = patterns[dash][i] * width;
	return dash == UT_DASH_NONE ? 0 : dash == UT_DASH_MIXED ? 4 : 2;
}

struct ut_scene *ut_scene_new(void)
{
	return ut_make(sizeof(struct ut_scene));
}

void ut_scene_free(struct ut_scene *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < s->count; i++)
		free(s->pages[i].marks);
	free(s->pages);
	ut_arena_release(&s->arena);
	free(s);
}

/* What XML and fonts have no shape for becomes a blank. */
static struct ut_str clean(struct ut_scene *s, struct ut_str text)
{
	char *to = ut_arena_alloc(&s->arena, text.len * 3 + 1, 1);
	size_t len = ut_utf8_copy(to, text.ptr, text.len);

	for (size_t i = 0; i < len; i++) {
		if ((unsigned char)to[i] < ' ' || to[i] == 0x7f)
			to[i] = ' ';
		/* U+FFFE and U+FFFF: no characters, says XML */
		if (i + 2 < len && !memcmp(to + i, "\xef\xbf", 2) &&
		    (unsigned char)to[i + 2] >= 0xbe)
			to[i + 2] = '\xbd';
	}
	return (struct ut_str){ to, len };
}

void ut_scene_title(struct ut_scene *s, struct ut_str title)
{
	s->title = clean(s, title);
}

void ut_scene_page(struct ut_scene *s, double width, double height)
{
	assert(isfinite(width) && isfinite(height) && width > 0 && height > 0);
	s->pages = ut_grow(s->pages, s->count + 1, &s->cap, sizeof(*s->pages));
	s->pages[s->count++] = (struct page){ .width = width, .height = height };
}

/* NULL if the place is none. */
static struct ut_mark *scene_add(struct ut_scene *s, enum ut_mark_kind kind, struct ut_box box)
{
	struct page *page;
	struct ut_mark *mark;

	assert(s->count);
	if (!isfinite(box.x) || !isfinite(box.y) || !isfinite(box.width) || !isfinite(box.height))
		return NULL;
	page = &s->pages[s->count - 1];
	page->marks = ut_grow(page->marks, page->count + 1, &page->cap, sizeof(*page->marks));
	mark = &page->marks[page->count++];
	*mark = (struct ut_mark){ .kind = kind, .box = box };
	return mark;
}

static void add_painted(struct ut_scene *s, enum ut_mark_kind kind, const struct ut_paint *paint,
			struct ut_box box)
{
	struct ut_mark *mark = scene_add(s, kind, box);

	if (mark)
		mark->paint = *paint;
}

static void scene_add_path(struct ut_scene *s, enum ut_mark_kind kind, const struct ut_paint *paint,
			   const struct ut_point *points, size_t count)
{
	struct ut_point *copy;
	struct ut_mark *mark;

	if (count < 2)
		return;
	for (size_t i = 0; i < count; i++) {
		if (!isfinite(points[i].x) || !isfinite(points[i].y))
			return;
	}
	copy = UT_NEW_N(&s->arena, struct ut_point, count);
	memcpy(copy, points, count * sizeof(*copy));
	mark = scene_add(s, kind, (struct ut_box){ 0 });
	mark->paint = *paint;
	mark->points = copy;
	mark->count = count;
}

void ut_scene_line(struct ut_scene *s, const struct ut_paint *paint, struct ut_point from,
		   struct ut_point to)
{
	const struct ut_point points[] = { from, to };

	scene_add_path(s, UT_MARK_LINE, paint, points, 2);
}

void ut_scene_rect(struct ut_scene *s, const struct ut_paint *paint, struct ut_box box)
{
	add_painted(s, UT_MARK_RECT, paint, box);
}

void ut_scene_disc(struct ut_scene *s, const struct ut_paint *paint, struct ut_point centre,
		   double radius)
{
	add_painted(s, UT_MARK_DISC, paint, (struct ut_box){ centre.x, centre.y, radius, 0 });
}

void ut_scene_polyline(struct ut_scene *s, const struct ut_paint *paint,
		       const struct ut_point *points, size_t count)
{
	scene_add_path(s, UT_MARK_LINE, paint, points, count);
}

void ut_scene_area(struct ut_scene *s, const struct ut_paint *paint, const struct ut_point *points,
		   size_t count)
{
	scene_add_path(s, UT_MARK_AREA, paint, points, count);
}

void ut_scene_text(struct ut_scene *s, const struct ut_lettering *type, struct ut_point at,
		   struct ut_str text)
{
	struct ut_mark *mark;

	if (!text.len)
		return;
	mark = scene_add(s, UT_MARK_TEXT, (struct ut_box){ at.x, at.y, 0, 0 });
	if (!mark)
		return;
	mark->type = *type;
	mark->text = clean(s, text);
}

void ut_scene_note(struct ut_scene *s, struct ut_str note)
{
	struct page *page = &s->pages[s->count - 1];

	if (page->count)
		page->marks[page->count - 1].note = clean(s, note);
}

void ut_scene_clip(struct ut_scene *s, struct ut_box box)
{
	assert(isfinite(box.x) && isfinite(box.y) && box.width >= 0 && box.height >= 0);
	scene_add(s, UT_MARK_CLIP, box);
}

void ut_scene_unclip(struct ut_scene *s)
{
	scene_add(s, UT_MARK_UNCLIP, (struct ut_box){ 0 });
}

struct ut_str ut_scene_title_of(const struct ut_scene *s)
{
	return s->title.ptr ? s->title : ut_str_of("");
}

size_t ut_scene_pages(const struct ut_scene *s)
{
	return s->count;
}

struct ut_scene_page ut_scene_page_of(const struct ut_scene *s, size_t page)
{
	const struct page *p = &s->pages[page];

	return (struct ut_scene_page){ p->width, p->height, p->marks, p->count };
}
