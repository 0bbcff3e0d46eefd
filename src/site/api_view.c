/* api_view.c - questions of the viewer, handed on to the process that shows the result. */
#include <errno.h>
#include <string.h>

#include "site/proxy.h"
#include "site/site_call.h"

/* Names of methods and nothing else: this becomes a line of a request. */
static bool is_method(const char *text)
{
	return text[0] && strlen(text) < 64 &&
	       strspn(text, "abcdefghijklmnopqrstuvwxyz/") == strlen(text);
}

static int ask_viewer(struct ut_call *c, const struct ut_viewed *what, struct ut_err *err)
{
	const char *path = ut_str_fmt(c->arena, "/api/%s", c->rest);
	int fd = ut_viewers_connect(c->site->viewers, what, err);

	return fd < 0 ? fd : ut_proxy(fd, c->request, path, c->reply, err);
}

/* A viewer may be replaced while it is asked: what was recorded has become files, or it was made
 * room for. Questions can be asked twice; if the next one dies of it as well, it is the question.
 */
static int hand_on(struct ut_call *c, const struct ut_viewed *what, struct ut_err *err)
{
	int rc;

	if (!is_method(c->rest) || (!c->request->is_post && strcmp(c->rest, "live") != 0))
		return ut_err_set(err, -ENOENT, "there is no such question");
	rc = ask_viewer(c, what, err);
	if (rc != -EPROTO && rc != -ECONNRESET && rc != -EPIPE)
		return rc;
	*err = (struct ut_err){ 0 };
	return ask_viewer(c, what, err);
}

int ut_api_view(struct ut_call *c, struct ut_err *err)
{
	return hand_on(c, &(struct ut_viewed){ .project = c->args[0], .result = c->args[1] }, err);
}

int ut_api_compare(struct ut_call *c, struct ut_err *err)
{
	return hand_on(c,
		       &(struct ut_viewed){ .project = c->args[0],
					    .result = c->args[1],
					    .before_project = c->args[2],
					    .before_result = c->args[3] },
		       err);
}
