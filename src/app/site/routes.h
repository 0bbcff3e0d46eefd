/*
 * routes.h - what can be asked of the server, as one table.
 */
#ifndef UT_SITE_ROUTES_H
#define UT_SITE_ROUTES_H

#include "serve/serve.h"
#include "site/site_call.h"

enum ut_route_flag {
	UT_ROUTE_OPEN = 1u << 0,   /* for everybody */
	UT_ROUTE_UPLOAD = 1u << 1, /* its body is a file, not JSON */
	UT_ROUTE_RUNS = 1u << 2,   /* only where programs may be started */
	UT_ROUTE_BARE = 1u << 3,   /* also before a passphrase is set, where one is needed */
	UT_ROUTE_PAGE = 1u << 4,   /* no part of the interface for programs */
};

struct ut_route {
	enum ut_method method;
	unsigned int flags;
	const char *path; /* {name} is any one part, a star at the end is all that follows */
	ut_call_fn call;
};

extern const struct ut_route ut_routes[];
extern const size_t ut_route_count;

/* The one for this path, and what its names stand for; NULL = none. *known: there are others for
 * the same path, by other methods. */
const struct ut_route *ut_route_find(enum ut_method method, const char *path, struct ut_arena *a,
				     const char *args[UT_CALL_ARGS], const char **rest,
				     bool *known);

#endif
