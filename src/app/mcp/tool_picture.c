/*
 * tool_picture.c - a window as a PNG, in base64.
 */
#include <errno.h>
#include <string.h>

#include "draw/picture.h"
#include "draw/scene.h"
#include "mcp/mcp_tools.h"
#include "text/out.h"
#include "view/view.h"
#include "view/view_picture.h"

#define PNG_MOST (3u << 20)

static void put_base64(struct ut_buf *to, const unsigned char *from, size_t len)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	char *p = ut_buf_reserve(to, (len + 2) / 3 * 4 + 1);

	for (size_t i = 0; i < len; i += 3) {
		unsigned int bits = (unsigned int)from[i] << 16;

		bits |= i + 1 < len ? (unsigned int)from[i + 1] << 8 : 0;
		bits |= i + 2 < len ? (unsigned int)from[i + 2] : 0;
		*p++ = digits[bits >> 18 & 63];
		*p++ = digits[bits >> 12 & 63];
		*p++ = i + 1 < len ? digits[bits >> 6 & 63] : '=';
		*p++ = i + 2 < len ? digits[bits & 63] : '=';
	}
	ut_buf_advance(to, p);
}

/* Times of the command line are after the first event, as those of the view are. */
static struct ut_view_picture window_of(const struct ut_mcp_call *c)
{
	const struct ut_filter *f = &c->ask.filter;

	return (struct ut_view_picture){
		.from = c->ask.events.from ? f->from : 0,
		.to = c->ask.events.to ? f->to : 0,
		.width = (uint32_t)c->ask.width,
		.rows = (uint32_t)c->ask.rows,
	};
}

static int write_png(struct ut_mcp_call *c, const struct ut_scene *scene, struct ut_err *err)
{
	struct ut_out *png = ut_out_open_memory();
	int rc = ut_picture_write(scene, UT_PICTURE_PNG, png, err);
	size_t len;
	const char *data = ut_out_data(png, &len);

	if (!rc && len > PNG_MOST)
		rc = ut_err_set(err, -E2BIG, "the picture has %zu bytes: ask for fewer rows", len);
	if (!rc)
		put_base64(&c->image, (const unsigned char *)data, len);
	ut_out_abandon(png);
	return rc;
}

int ut_mcp_tool_picture(struct ut_mcp_call *c, struct ut_err *err)
{
	const struct ut_view_picture window = window_of(c);
	struct ut_buf about = { 0 };
	struct ut_mcp_trace *t;
	struct ut_scene *scene;
	int rc = ut_picture_check(UT_PICTURE_PNG, err);

	if (!rc)
		rc = ut_mcp_traces_get(c->traces, c->ask.trace, &t, err);
	if (!rc && (c->ask.filter.from_is_absolute || c->ask.filter.to_is_absolute))
		rc = ut_err_set(err, -EINVAL, "from and to are times after the first event here");
	if (rc)
		return rc;
	scene = ut_scene_new();
	ut_view_picture(t->view, &window, scene, &about);
	rc = write_png(c, scene, err);
	if (!rc)
		ut_out_fmt(c->text, "%s\n", about.data);
	ut_buf_text(&c->how,
		    "drawn from all slices; what shares a pixel is one mark, the paler the "
		    "less of it is covered; colours stand for names; unitrace view");
	ut_mcp_how_files(c, t);
	ut_scene_free(scene);
	ut_buf_release(&about);
	return rc;
}
