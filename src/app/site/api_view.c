/* api_view.c - questions of the viewer, handed on to the process that shows the result. */
#include <errno.h>
#include <string.h>

#include "site/evaluator.h"
#include "site/proxy.h"
#include "site/site_call.h"

#define TRIES 4 /* of viewers that end while they are asked */

/* Names of methods and nothing else: this becomes a line of a request. */
static bool is_method(const char *text)
{
	return text[0] && strlen(text) < 64 &&
	       strspn(text, "abcdefghijklmnopqrstuvwxyz/") == strlen(text);
}

/* A viewer may end while it is asked: what was recorded has become files, or it was made room for.
 * Questions can be asked again. */
static bool has_left(int rc, struct ut_reply *reply)
{
	bool broke = rc == -EPROTO || rc == -ECONNRESET || rc == -EPIPE;

	if (rc ? !broke : reply->status != 503)
		return false;
	if (!rc)
		reply->stream.close(reply->stream.ctx);
	reply->stream = (struct ut_reply_stream){ 0 };
	reply->status = 0;
	return true;
}

static int api_view_hand_on(struct ut_call *c, const struct ut_viewed *what, struct ut_err *err)
{
	const char *path;
	int rc, tries = TRIES;

	if (!is_method(c->rest) || (!c->request->is_post && strcmp(c->rest, "live") != 0))
		return ut_err_set(err, -ENOENT, "there is no such question");
	path = ut_str_fmt(c->arena, "/api/%s", c->rest);
	do {
		int fd = ut_viewers_connect(c->site->viewers, what, err);

		rc = fd < 0 ? fd : ut_proxy(fd, c->request, path, c->reply, err);
	} while (--tries && has_left(rc, c->reply) &&
		 (rc = ut_viewers_farewell(c->site->viewers, what, err)) == -EAGAIN);
	return rc;
}

int ut_api_view(struct ut_call *c, struct ut_err *err)
{
	if (!strcmp(c->rest,
		    "info")) /* what was put here by hand is evaluated when it is looked at */
		ut_evaluator_add(c->site->evaluator, c->args[0], c->args[1], false);
	return api_view_hand_on(
		c, &(struct ut_viewed){ .project = c->args[0], .result = c->args[1] }, err);
}

int ut_api_compare(struct ut_call *c, struct ut_err *err)
{
	return api_view_hand_on(c,
				&(struct ut_viewed){ .project = c->args[0],
						     .result = c->args[1],
						     .before_project = c->args[2],
						     .before_result = c->args[3] },
				err);
}
