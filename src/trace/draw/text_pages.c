#include "draw/text_pages.h"

#include <stdio.h>
#include <string.h>

#include "base/utf8.h"
#include "draw/chart.h"
#include "draw/scene.h"

#define SIZE    7.0
#define LEADING 9.0
#define MARGIN  36.0
#define COLUMNS ((size_t)((UT_CHART_WIDTH - 2 * MARGIN) / (0.6 * SIZE))) /* of Courier's width */
#define HEIGHT  612.0
#define LINES   ((size_t)((HEIGHT - 2 * MARGIN) / LEADING))
#define INK     0x1f2328ffu

struct pages {
	struct ut_scene *scene;
	size_t lines; /* so far, on all pages */
	size_t lost;
};

static void text_pages_put(struct pages *p, struct ut_str line)
{
	static const struct ut_lettering type = { .size = SIZE, .colour = INK, .is_mono = true };
	size_t at = p->lines % LINES;

	if (p->lines == UT_TEXT_PAGES_MOST * LINES) {
		p->lost++;
		return;
	}
	if (!at)
		ut_scene_page(p->scene, UT_CHART_WIDTH, HEIGHT);
	if (line.len)
		ut_scene_text(p->scene, &type,
			      (struct ut_point){ MARGIN, MARGIN + (double)(at + 1) * LEADING },
			      line);
	p->lines++;
}

/* How many bytes the letters of one line have. */
static size_t width_of(struct ut_str line)
{
	size_t at = 0;
	bool ok;

	for (size_t n = 0; n < COLUMNS && at < line.len; n++)
		at += ut_utf8_step(line.ptr + at, line.len - at, &ok);
	return at;
}

void ut_text_pages(struct ut_scene *s, struct ut_str text)
{
	struct pages p = { .scene = s };
	char more[64];

	while (text.len) {
		const char *end = memchr(text.ptr, '\n', text.len);
		struct ut_str line = { text.ptr, end ? (size_t)(end - text.ptr) : text.len };

		text.ptr += line.len + (end != NULL);
		text.len -= line.len + (end != NULL);
		do {
			size_t width = width_of(line);

			text_pages_put(&p, (struct ut_str){ line.ptr, width });
			line.ptr += width;
			line.len -= width;
		} while (line.len);
	}
	if (!p.lost)
		return;
	snprintf(more, sizeof(more), "... and %zu lines more", p.lost);
	ut_scene_text(s, &(struct ut_lettering){ .size = SIZE, .colour = INK },
		      (struct ut_point){ MARGIN, HEIGHT - MARGIN / 2 }, ut_str_of(more));
}
