/*
 * proxy.h - a request handed on to a viewer, and its answer handed back while it comes.
 */
#ifndef UT_SITE_PROXY_H
#define UT_SITE_PROXY_H

#include "base/err.h"

struct ut_reply;
struct ut_request;

/*
 * fd: a connection to the viewer (viewers.h), taken over. path: what it is asked for there. Fills
 * reply; -EPROTO and others: the viewer gave no answer.
 */
int ut_proxy(int fd, const struct ut_request *request, const char *path, struct ut_reply *reply,
	     struct ut_err *err) UT_MUST_CHECK;

#endif
